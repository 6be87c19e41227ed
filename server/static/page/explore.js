// Walking through the knowledge graph: entities found, drawn with what is around them, and what they are.

import { get, post } from "./api.js";
import * as bases from "./bases.js";
import { button, byId, element, tell } from "./dom.js";
import { draw } from "./graph.js";
import { openPassage, placeOf } from "./passage.js";
import { kind, relation, say } from "./words.js";

const MOST = 60;
let shown = 0;
const [picture, about, found, status] = ["picture", "about", "found", "graph-status"].map(byId);

/** Show an entity with what is around it; without one those with most relations. */
export async function show(id) {
  const graphId = bases.chosen();
  const turn = (shown += 1);
  about.replaceChildren();
  tell(status, "");
  try {
    const [part, entity] = await Promise.all([
      get("api/knowledge/graph", { graphId, limit: MOST, ...(id ? { seed: id } : {}) }),
      id ? get(`api/knowledge/entities/${encodeURIComponent(id)}`, { graphId }) : null,
    ]);
    if (turn !== shown) return;
    if (entity) about.replaceChildren(...describe(entity)); // before the picture: it leaves that its width
    paint(part, id);
    if (!part.nodes.length) empty();
    else if (part.truncated && id) tell(status, say("cut"));
  } catch (error) {
    if (turn !== shown) return;
    if (error.status === 404 && !id) return empty();
    picture.replaceChildren();
    tell(status, error.message, true);
  }
}

/** There is nothing to draw: entities come with documents. */
function empty() {
  tell(status, say("noGraph"));
  picture.replaceChildren(...(bases.documents() ? [] : [bases.addSome()]));
}

function paint({ nodes, edges }, id) {
  picture.replaceChildren(nodes.length ? draw(
    nodes.map((one) => ({ ...one, type: kind(one.entityType) })),
    edges.map((one) => ({ ...one, type: one.relationType })),
    { pick: go, strong: (one) => one.id === id, width: Math.max(300, picture.clientWidth) },
  ) : "");
}

function describe(entity) {
  const other = (one) => (one.sourceId === entity.id ? [one.targetId, one.target] : [one.sourceId, one.source]);
  return [
    element("h3", { textContent: entity.name, tabIndex: -1 }),
    element("p", { className: "note", textContent: [kind(entity.entityType), entity.aliases.length && say("aliases", entity.aliases.join(", "))].filter(Boolean).join(" · ") }),
    ...(entity.description ? [element("p", { className: "answer", textContent: entity.description })] : []),
    ...section("relations", alike(entity.relations).map(([type, ones]) => [`${relation(type)} `, ...ones.flatMap((one, index) => {
      const [otherId, name] = other(one);
      return [element("span", { className: "whole" }, [button(name, () => go(otherId), { className: "link" }), index < ones.length - 1 ? "," : ""]), " "];
    })])),
    ...section("mentions", entity.mentions.map((one) => [
      element("q", { textContent: plain(one.sentence) }), " ",
      button(placeOf(one), () => openPassage({ ...one, kind: "mention", text: one.sentence }), { className: "link note" }),
    ])),
  ];
}

/** A sentence as it is read: the row of a table without its bars; in prose a bar may mean something. */
const plain = (sentence) => (/^\|.*\|/.test(sentence)
  ? sentence.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")).filter(Boolean).join(" · ") : sentence);

/** Relations of one type together, in the order in which they come. */
function alike(relations) {
  const types = new Map();
  for (const one of relations) types.set(one.relationType, [...(types.get(one.relationType) ?? []), one]);
  return [...types];
}

function section(title, items) {
  return items.length ? [element("h4", { textContent: say(title) }), element("ul", {}, items.map((parts) => element("li", {}, parts)))] : [];
}

async function find(query) {
  try {
    const { results } = await (await post("api/knowledge/entities/search", { query, graphId: bases.chosen(), topK: 12 })).json();
    found.replaceChildren(...results.map(({ entity }) => element("li", {}, [button(entity.name, () => go(entity.id), { className: "link" })])));
    const named = results.find(({ scores }) => scores.fts > 0);
    tell(status, named ? "" : say(results.length ? "nearEntities" : "noEntity"));
    if (named) go(results[0].entity.id);
  } catch (error) {
    tell(status, error.message, true);
  }
}

function go(id) {
  location.hash = `#graph/${id}`;
}

byId("find").addEventListener("submit", (event) => { event.preventDefault(); find(byId("entity").value.trim()); });
bases.onChange(() => found.replaceChildren());
