// The list of knowledge bases, and the chosen one.

import { get, send } from "./api.js";
import { byId, element, named } from "./dom.js";
import { say } from "./words.js";

const picker = byId("base");
const NEW = "\n"; // no knowledge base has this name
const BEGUN = "begun"; // storage key of a new knowledge base, which the server knows from its first document on
let known = new Map();
let stored = new Set(); // those that the server knows
let asked = 0;
let newest;
let current = localStorage.getItem("base") ?? "";

/** Return the chosen knowledge base. */
export const chosen = () => current || "default";

/** Return how many documents it has. */
export const documents = () => known.get(chosen()) ?? 0;

/** Return how many of its documents cannot be searched yet; none if the server does not say. */
export const underWay = (name) => get("api/graphs", { limit: 1000 })
  .then(({ graphs }) => graphs.find((one) => one.graphId === name)?.underWay ?? 0, () => 0);

/** Return a link that leads to adding its first documents. */
export const addSome = () => element("a", { href: "#documents", className: "button main", textContent: say("addSome") });

/** Load the list. The last choice stays if it still exists or is new; otherwise the first is chosen. */
export const refresh = () => (newest = load());

async function load() {
  const turn = (asked += 1);
  const { graphs } = await get("api/graphs", { limit: 1000 });
  if (turn !== asked) return newest; // the list that a later request gets
  stored = new Set(graphs.map((one) => one.graphId));
  known = new Map(graphs.map((one) => [one.graphId, one.documents]));
  const before = current;
  if (known.has(sessionStorage.getItem(BEGUN))) sessionStorage.removeItem(BEGUN);
  if (!known.has(current) && current !== sessionStorage.getItem(BEGUN)) current = graphs[0]?.graphId ?? "default";
  offer();
  if (before && before !== current) picker.dispatchEvent(new Event("chosen"));
}

/** Return whether the server knows the chosen one yet. */
export async function exists() {
  if (!stored.has(chosen())) await refresh();
  return stored.has(chosen());
}

/** Choose a knowledge base, or begin one with this name. */
export function choose(name) {
  if (name === current) return;
  current = name;
  if (!known.has(name)) sessionStorage.setItem(BEGUN, name);
  localStorage.setItem("base", name);
  offer();
  picker.dispatchEvent(new Event("chosen"));
}

/** Delete a knowledge base and its content. */
export async function remove(name) {
  await send(`api/graphs/${encodeURIComponent(name)}`, { method: "DELETE" });
  if (sessionStorage.getItem(BEGUN) === name) sessionStorage.removeItem(BEGUN);
  await refresh();
}

/** Call `then` whenever another knowledge base is chosen. */
export const onChange = (then) => picker.addEventListener("chosen", then);

function offer() {
  if (!known.has(current)) known.set(current, 0);
  picker.replaceChildren(
    ...[...known].map(([name, count]) => element("option", { value: name, textContent: say("baseIs", name, count), selected: name === current })),
    element("option", { value: NEW, textContent: say("newBase") }),
  );
}

picker.addEventListener("change", async () => {
  if (picker.value !== NEW) return choose(picker.value);
  picker.value = current;
  const name = await named(say("naming"), say("create"));
  if (!name) return;
  choose(name);
  location.hash = "#documents";
});
