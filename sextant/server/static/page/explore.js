// Explores the knowledge graph: finds entities, draws their neighbourhood and describes them.

import { get, post } from "./api.js";
import * as bases from "./bases.js";
import { button, byId, element, tell } from "./dom.js";
import { draw } from "./graph.js";
import { openPassage, placeOf } from "./passage.js";
import { kind, mutual, relation, say } from "./words.js";

// Relations and passages of an entity that are shown at first, and at most. One more is requested, to know whether there
// are more: the entity's degree also counts relations to entities that are not shown.
const [FEW, MANY] = [20, 99];
let shown = 0;
const [picture, about, found, status, steps, most] = ["picture", "about", "found", "graph-status", "steps-around", "drawn"].map(byId);

/** Show an entity and its neighbourhood; without one, the entities with most relations. */
export async function show(id, limit = FEW) {
  const graphId = bases.chosen();
  const turn = (shown += 1);
  about.replaceChildren();
  tell(status, "");
  try {
    if (!id && !await bases.exists()) return void (turn === shown && await empty());
    const [part, entity] = await Promise.all([
      get("api/knowledge/graph", { graphId, limit: most.value, ...(id ? { seed: id, depth: steps.value } : {}) }),
      id ? get(`api/knowledge/entities/${encodeURIComponent(id)}`, { graphId, limit: limit + 1 }) : null,
    ]);
    if (turn !== shown) return;
    if (entity) about.replaceChildren(...describe(entity, limit)); // before the picture, whose width depends on it
    paint(part, id);
    if (!part.nodes.length) await empty();
    else if (part.truncated && id) tell(status, say("cut"));
  } catch (error) {
    if (turn !== shown) return;
    if (error.status === 404 && !id) return empty();
    picture.replaceChildren();
    tell(status, error.message, true);
  }
}

/** Say that there is nothing to draw yet: entities come with documents, a little later. */
async function empty() {
  const turn = shown;
  const { graphs } = await get("api/graphs", { limit: 1000 });
  if (turn !== shown) return;
  const { pending = false, unattended = false } = graphs.find(({ graphId }) => graphId === bases.chosen()) ?? {};
  tell(status, say(unattended ? "unattended" : pending ? "graphFollows" : "noGraph"));
  picture.replaceChildren(...(bases.documents() ? [] : [bases.addSome()]));
}

function paint({ nodes, edges }, id) {
  picture.replaceChildren(nodes.length ? draw(
    nodes.map((one) => ({ ...one, type: kind(one.entityType) })),
    edges.map((one) => ({ ...one, type: one.relationType })),
    { pick: go, strong: (one) => one.id === id, width: Math.max(300, picture.clientWidth), height: Math.min(640, Math.max(320, innerHeight * 0.62)) },
  ) : "");
}

/** Describe an entity, with at most `limit` of its relations and passages. */
function describe(entity, limit) {
  const [relations, mentions] = [entity.relations, entity.mentions].map((all) => all.slice(0, limit));
  const isCut = entity.relations.length > limit || entity.mentions.length > limit;
  const section = (title, all, items) => list(all.length > limit ? say("first", say(title), limit) : say(title), items);
  const related = section("relations", entity.relations, alike(entity.id, relations).map(({ type, leads, ones }) =>
    [element("span", { className: "note", textContent: [leads === false && "←", relation(type), leads && "→"].filter(Boolean).join(" ") }), " ",
      ...ones.flatMap((one, index) => [other(entity, one, index < ones.length - 1), " "])]));
  const mentioned = section("mentions", entity.mentions, mentions.map((one) => [
    element("q", { textContent: plain(one.sentence) }), " ",
    button(placeOf(one), () => openQuote(one), { className: "link note" }),
  ]));
  return [
    element("h3", { textContent: entity.name, tabIndex: -1 }),
    element("p", { className: "note", textContent: [kind(entity.entityType), entity.aliases.length && say("aliases", entity.aliases.join(", "))].filter(Boolean).join(" · ") }),
    ...(entity.description ? [element("p", { className: "answer", textContent: entity.description })] : []),
    ...related, ...mentioned,
    ...(limit < MANY && isCut ? [button(say("more"), () => tellMore(entity.id))] : []),
  ];
}

/** Show the entity at the other end, the relation's description, and its passages. */
function other(entity, one, comma) {
  const [id, name] = one.sourceId === entity.id ? [one.targetId, one.target] : [one.sourceId, one.source];
  const passages = one.evidence.map((quote, index) =>
    button(String(index + 1), () => openQuote(quote), { className: "cite", label: say("stated", index + 1, name) }));
  return element("span", { className: "whole" }, [button(name, () => go(id), { className: "link" }), ...passages,
    ...(one.description ? [element("span", { className: "note", textContent: ` ${one.description}` })] : []), comma ? "," : ""]);
}

/** Open the passage that holds the sentence, with the sentence marked. */
const openQuote = (quote) => openPassage({ ...quote, kind: "document", text: quote.sentence }, quote);

async function tellMore(id) {
  await show(id, MANY);
  about.querySelector("h3")?.focus();
}

/** Return a sentence for display: a table's row without its bars, which prose keeps. */
const plain = (sentence) => (/^\|.*\|/.test(sentence)
  ? sentence.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|")).filter(Boolean).join(" · ") : sentence);

/** Group relations by type and direction, in their order. */
function alike(id, relations) {
  const groups = new Map();
  for (const one of relations) {
    const leads = mutual(one.relationType) ? null : one.sourceId === id;
    const key = `${leads} ${one.relationType}`;
    if (!groups.has(key)) groups.set(key, { type: one.relationType, leads, ones: [] });
    groups.get(key).ones.push(one);
  }
  return [...groups.values()];
}

function list(heading, items) {
  return items.length ? [element("h4", { textContent: heading }), element("ul", {}, items.map((parts) => element("li", {}, parts)))] : [];
}

async function find(query) {
  try {
    const { results } = await (await post("api/knowledge/entities/search", { query, graphId: bases.chosen(), topK: 12 })).json();
    const named = results.filter(({ scores }) => scores.fts > 0);
    found.replaceChildren(...(named.length ? named : results).map(({ entity }) => element("li", {}, [button(entity.name, () => go(entity.id), { className: "link" })])));
    tell(status, named.length ? "" : say(results.length ? "nearEntities" : "noEntity"));
    if (named.length) go(named[0].entity.id);
  } catch (error) {
    tell(status, error.message, true);
  }
}

function go(id) {
  location.hash = `#graph/${id}`;
}

byId("find").addEventListener("submit", (event) => { event.preventDefault(); find(byId("entity").value.trim()); });
for (const one of [steps, most]) one.addEventListener("change", () => show(location.hash.split("/")[1]));
bases.onChange(() => found.replaceChildren());
