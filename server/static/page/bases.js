// Which knowledge base is looked at.

import { get } from "./api.js";
import { byId, element, named } from "./dom.js";
import { say } from "./words.js";

const picker = byId("base");
const NEW = "\n"; // no knowledge base is called so
let known = new Map();
let asked = 0;
let current = localStorage.getItem("base") ?? "";

/** The one that is chosen. */
export const chosen = () => current || "default";

/** How many documents it has. */
export const documents = () => known.get(chosen()) ?? 0;

/** Learn which there are; the one chosen last stays, else the first. */
export async function refresh() {
  const turn = (asked += 1);
  const { graphs } = await get("api/graphs", { limit: 1000 });
  if (turn !== asked) return; // a later answer knows better
  known = new Map(graphs.map((one) => [one.graphId, one.documents]));
  if (!known.has(current)) current = graphs[0]?.graphId ?? "default";
  offer();
}

/** Look at another one, or begin one of this name. */
export function choose(name) {
  if (name === current) return;
  current = name;
  if (!known.has(name)) known.set(name, 0);
  localStorage.setItem("base", name);
  offer();
  picker.dispatchEvent(new Event("chosen"));
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
