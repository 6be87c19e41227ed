// Which knowledge base is looked at.

import { get, send } from "./api.js";
import { byId, element, named } from "./dom.js";
import { say } from "./words.js";

const picker = byId("base");
const NEW = "\n"; // no knowledge base is called so
const BEGUN = "begun"; // the key of the one that was begun here; the server knows it from its first document on
let known = new Map();
let asked = 0;
let current = localStorage.getItem("base") ?? "";

/** The one that is chosen. */
export const chosen = () => current || "default";

/** How many documents it has. */
export const documents = () => known.get(chosen()) ?? 0;

/** The way to its first documents. */
export const addSome = () => element("a", { href: "#documents", className: "button main", textContent: say("addSome") });

/** Learn which there are; the one chosen last stays if it is there or was begun here, else the first is chosen. */
export async function refresh() {
  const turn = (asked += 1);
  const { graphs } = await get("api/graphs", { limit: 1000 });
  if (turn !== asked) return; // a later answer knows better
  known = new Map(graphs.map((one) => [one.graphId, one.documents]));
  const before = current;
  if (known.has(sessionStorage.getItem(BEGUN))) sessionStorage.removeItem(BEGUN);
  if (!known.has(current) && current !== sessionStorage.getItem(BEGUN)) current = graphs[0]?.graphId ?? "default";
  offer();
  if (before && before !== current) picker.dispatchEvent(new Event("chosen"));
}

/** Look at another one, or begin one of this name. */
export function choose(name) {
  if (name === current) return;
  current = name;
  if (!known.has(name)) sessionStorage.setItem(BEGUN, name);
  localStorage.setItem("base", name);
  offer();
  picker.dispatchEvent(new Event("chosen"));
}

/** Delete one with all that is in it. */
export async function remove(name) {
  await send(`api/graphs/${encodeURIComponent(name)}`, { method: "DELETE" });
  if (sessionStorage.getItem(BEGUN) === name) sessionStorage.removeItem(BEGUN);
  await refresh();
}

/** Have `then` called whenever another one is chosen. */
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
  const name = await named();
  if (!name) return;
  choose(name);
  location.hash = "#documents";
});
