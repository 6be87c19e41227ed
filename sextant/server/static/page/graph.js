// Draws entities and their relations, and lists the same.

import { chosen } from "./bases.js";
import { button, element, fold, shape } from "./dom.js";
import { layout } from "./layout.js";
import { mutual, relation, say } from "./words.js";

// How many types have a colour (page.css); more could not be distinguished.
const COLOURS = 6;
// How many relations of the focused entity show their type; more would overlap.
const TOLD = 14;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/**
 * Create a picture of a graph with a list beside it.
 *
 * @param {{id: string, name: string, type: string}[]} all the entities; the list shows all of them, the picture those that
 *   are related or strong
 * @param {{source: string, target: string, type: string}[]} edges between these nodes
 * @param {{pick: (id: string) => void, strong: (node: any) => boolean, width: number, height?: number}} how
 *   what a click or Enter on an entity does, and which entities are drawn strongly
 */
export function draw(all, edges, { pick, strong, width, height = Math.min(420, Math.max(280, width * 0.5)) }) {
  const nodes = worthDrawing(all, edges, strong);
  const at = new Map(nodes.map(({ id }, index) => [id, index]));
  const pairs = edges.map(({ source, target }) => /** @type {[number, number]} */ ([at.get(source), at.get(target)]));
  const degrees = nodes.map(() => 0);
  for (const end of pairs.flat()) degrees[end] += 1;
  const places = layout(nodes.length, pairs, { width, height, margin: 56 });
  const coloured = types(nodes);
  const lines = pairs.map(([from, to], index) => line(places, from, to, size(degrees[to]), !mutual(edges[index].type),
    `${nodes[from].name} ${relation(edges[index].type)} ${nodes[to].name}`));
  const dots = nodes.map((node, index) => {
    const dot = shape("g", {
      role: "button", tabindex: -1, class: [strong(node) ? "strong" : "", colour(coloured, node.type)].join(" ").trim(),
      transform: `translate(${places.x[index].toFixed(1)} ${places.y[index].toFixed(1)})`,
      "aria-label": say("entityIs", node.name, node.type, degrees[index]),
    }, [
      shape("circle", { r: size(degrees[index]).toFixed(1) }),
      shape("text", { x: inside(places.x[index], wide(short(node.name)), width), y: -(size(degrees[index]) + 4), "text-anchor": "middle" }, [short(node.name)]),
      shape("title", {}, [say("entityIs", node.name, node.type, degrees[index])]),
    ]);
    dot.addEventListener("click", () => pick(node.id));
    dot.addEventListener("pointerenter", () => near(index, true));
    dot.addEventListener("pointerleave", () => near(index, false));
    dot.addEventListener("focus", () => near(index, true));
    dot.addEventListener("blur", () => near(index, false));
    return dot;
  });
  const near = (index, is) => {
    const own = pairs.flatMap((pair, at) => (pair.includes(index) ? [at] : []));
    for (const at of own) for (const part of [lines[at], ...pairs[at].map((end) => dots[end])]) part.classList.toggle("near", is);
    told.replaceChildren(...(is && own.length <= TOLD ? names(places, own.filter((at) => !mutual(edges[at].type)).map((at) => [pairs[at], edges[at].type])) : []));
  };
  const told = shape("g", { class: "told" });
  placeNames(dots, nodes, places, degrees, strong);
  const picture = shape("svg", {
    viewBox: `0 0 ${width} ${height}`, class: "graph", role: "group", "aria-label": say("picture", nodes.length, edges.length),
  }, [...lines, ...dots, told]);
  walk(picture, dots, places, (index) => pick(nodes[index].id));
  return element("figure", {}, [picture, legend(coloured), element("figcaption", { className: "note", textContent: say("pictureHint") }),
    fold(say("asList"), () => list(all, edges, pick))]);
}

function worthDrawing(nodes, edges, strong) {
  const related = new Set(edges.flatMap(({ source, target }) => [source, target]));
  const worth = nodes.filter((node) => related.has(node.id) || strong(node));
  return worth.length ? worth : nodes;
}

let [base, known] = ["", []];

/** Return the types that have a colour, which stays the same within a knowledge base; a single type needs none. */
function types(nodes) {
  if (base !== chosen()) [base, known] = [chosen(), []];
  const counts = new Map();
  for (const { type } of nodes) counts.set(type, (counts.get(type) ?? 0) + 1);
  if (counts.size < 2) return [];
  const fresh = [...counts.keys()].filter((type) => !known.includes(type)).sort((a, b) => counts.get(b) - counts.get(a));
  known = [...known, ...fresh].slice(0, COLOURS);
  return known.filter((type) => counts.has(type));
}

const colour = (coloured, type) => (coloured.includes(type) ? `type-${known.indexOf(type) + 1}` : "");

function legend(coloured) {
  return element("ul", { className: "legend note" }, coloured.map((type) =>
    element("li", {}, [element("span", { className: colour(coloured, type), ariaHidden: "true" }), type])));
}

/** Draw a relation from rim to rim; a directed one ends in an arrow. */
function line({ x, y }, from, to, rim, leads, title) {
  const [dx, dy] = [x[to] - x[from], y[to] - y[from]];
  const long = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / long, dy / long];
  const [endX, endY] = [x[to] - ux * (rim + 1), y[to] - uy * (rim + 1)];
  const wing = (side) => `${(endX - 6 * ux - side * 3 * uy).toFixed(1)} ${(endY - 6 * uy + side * 3 * ux).toFixed(1)}`;
  const path = `M${x[from].toFixed(1)} ${y[from].toFixed(1)}L${endX.toFixed(1)} ${endY.toFixed(1)}`;
  return shape("path", { d: leads ? `${path}M${wing(1)}L${endX.toFixed(1)} ${endY.toFixed(1)}L${wing(-1)}` : path }, [shape("title", {}, [title])]);
}

/** Label relations at their middle; those between the same two entities share a line. */
function names({ x, y }, relations) {
  const between = new Map();
  for (const [pair, type] of relations) {
    const key = [...pair].sort().join();
    between.set(key, { pair, types: [...(between.get(key)?.types ?? []), relation(type)] });
  }
  return [...between.values()].map(({ pair: [from, to], types }) =>
    shape("text", { x: (x[from] + x[to]) / 2, y: (y[from] + y[to]) / 2 - 3, "text-anchor": "middle" }, [types.join(", ")]));
}

/** Make the picture one tab stop: arrow keys move to the nearest node in that direction, Enter opens it. */
function walk(picture, dots, { x, y }, open) {
  dots[0]?.setAttribute("tabindex", "0");
  picture.addEventListener("keydown", (event) => {
    const here = dots.indexOf(event.target);
    if (here < 0) return;
    if (event.key === "Enter" || event.key === " ") open(here);
    else if (!(event.key in ARROWS)) return;
    else {
      const [ax, ay] = ARROWS[event.key];
      const cost = (to) => {
        const [along, across] = [(x[to] - x[here]) * ax + (y[to] - y[here]) * ay, (x[to] - x[here]) * ay + (y[to] - y[here]) * ax];
        return along > 1 ? along + 2 * Math.abs(across) : Infinity;
      };
      const next = dots.map((_, to) => to).sort((a, b) => cost(a) - cost(b))[0];
      if (cost(next) === Infinity) return event.preventDefault();
      dots[here].setAttribute("tabindex", "-1");
      dots[next].setAttribute("tabindex", "0");
      dots[next].focus();
    }
    event.preventDefault();
  });
}

/** Place names above or below their nodes, the strongest first; a name that would overlap is shown only on focus. */
function placeNames(dots, nodes, { x, y }, degrees, strong) {
  const taken = nodes.map((_, index) => [x[index] - 7, x[index] + 7, y[index] - 7, y[index] + 7]);
  const order = nodes.map((_, index) => index)
    .sort((a, b) => Number(strong(nodes[b])) - Number(strong(nodes[a])) || degrees[b] - degrees[a]);
  for (const index of order) {
    const half = wide(short(nodes[index].name)) / 2;
    const [above, below] = [-4 - size(degrees[index]), 11 + size(degrees[index])];
    const boxes = [[above - 12, above + 3], [below - 10, below + 5]].map(([top, bottom]) => [x[index] - half, x[index] + half, y[index] + top, y[index] + bottom]);
    const free = boxes.findIndex((box) => taken.every((other, of) => of === index || box[1] < other[0] || box[0] > other[1] || box[3] < other[2] || box[2] > other[3]));
    if (free < 0) dots[index].classList.add("crowded");
    else taken.push(boxes[free]);
    if (free === 1) dots[index].querySelector("text").setAttribute("y", below.toFixed(1));
  }
}

function list(nodes, edges, pick) {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  return element("div", { className: "as-list" }, [
    element("ul", {}, nodes.map((node) => element("li", {}, [button(node.name, () => pick(node.id), { className: "link" }), ` ${node.type}`]))),
    element("ul", {}, edges.map(({ source, target, type }) => element("li", { textContent: `${names.get(source)} — ${relation(type)} — ${names.get(target)}` }))),
  ]);
}

// How far a name must move to lie inside the picture.
const inside = (x, long, width) => Math.max(0, long / 2 - x) - Math.max(0, x + long / 2 - width);
const size = (degree) => 4 + Math.min(7, 1.6 * Math.sqrt(degree));
const short = (name) => (name.length > 22 ? `${name.slice(0, 20)}…` : name);
// The approximate width of 12 px letters; Chinese ones are square.
const wide = (text) => Array.from(text).reduce((sum, letter) => sum + (letter > "⺀" ? 12 : 6.6), 6);
