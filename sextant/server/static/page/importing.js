// Imports a graph or an export from the page (docs/import.md): recognises it, sends it, shows its report.

import { events, post, Problem } from "./api.js";
import { button, element, fold } from "./dom.js";
import { say } from "./words.js";

const LINES = "application/x-ndjson";
const KINDS = new Set(["document", "chunk", "entity", "relation", "decision"]);
// Characters of the first line that are read to recognise an import.
const HEAD = 65_536;

/** Return the unpacked content of an import file; null if the file is a document. @returns {Promise<Blob | null>} */
export async function imported(file) {
  if (!/\.(jsonl|ndjson)(\.gz)?$/i.test(file.name)) return null;
  try {
    const lines = file.name.endsWith(".gz") ? await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob() : file;
    return KINDS.has(kindOf(await lines.slice(0, HEAD).text())) ? lines : null;
  } catch {
    return null; // the server reports what is wrong with it
  }
}

/** Return the `type` of the first line. */
function kindOf(head) {
  const line = head.split("\n").find((one) => one.trim()) ?? "";
  try {
    return JSON.parse(line).type;
  } catch {
    return line.match(/^\s*\{\s*"type"\s*:\s*"(\w+)"/)?.[1]; // its end lies beyond the part that was read
  }
}

/**
 * Import lines into a knowledge base; `row` shows the progress, then the result.
 * With `facts`, the graph's facts become passages; `again` offers that for a graph without passages.
 */
export async function bring(graphId, name, lines, row, { facts, again }) {
  const told = element("p", { className: "note", textContent: say("importing") });
  const bar = element("progress");
  bar.setAttribute("aria-label", name);
  row.replaceChildren(element("strong", { textContent: name }), told, bar);
  const response = await post(`api/graphs/${encodeURIComponent(graphId)}/import${facts ? "?factsAsPassages=true" : ""}`, lines, { headers: { Accept: "text/event-stream" }, type: LINES });
  for await (const { type, data } of events(response)) {
    if (type === "error") throw new Problem({ ...data, detail: data.message });
    if (type === "done") return report(row, name, data, again);
    const stage = say("importStages")[data.stage] ?? data.stage;
    told.textContent = data.total ? say("counted", stage, data.done, data.total) : stage;
    if (data.total) Object.assign(bar, { max: data.total, value: data.done });
    else bar.removeAttribute("value");
  }
  throw new Problem({ detail: say("lost") });
}

/** Show what was imported, and which lines could not be used. */
function report(row, name, { documents, chunks, entities, relations, problemCount, problems, warnings, pending, graphAlone }, again) {
  const notes = [say("brought", documents, chunks, entities, relations), ...(pending ? [say("follows")] : []), ...warnings];
  row.replaceChildren(
    element("div", { className: "row" }, [element("strong", { textContent: name }), element("span", { className: "gap" }),
      button(say("close"), () => row.remove(), { label: `${say("close")}: ${name}`, className: "small" })]),
    ...notes.map((textContent) => element("p", { className: "note", textContent })),
    ...(problemCount ? [fold(say("badLines", problemCount), () => element("ul", {}, problems.map(({ line, reason }) =>
      element("li", { textContent: say("badLine", line, reason) }))))] : []),
    ...(graphAlone ? [element("p", { className: "note", textContent: say("graphAlone") }), button(say("factsAsPassages"), again, { className: "small" })] : []),
    element("p", {}, [element("a", { href: "#graph", textContent: say("seeGraph") })]),
  );
}
