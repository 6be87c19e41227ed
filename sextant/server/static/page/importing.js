// A graph of one's own, or an export, brought in from the page (docs/import.md): recognised, sent, followed to its report.

import { events, post, Problem } from "./api.js";
import { button, element, fold } from "./dom.js";
import { say } from "./words.js";

const LINES = "application/x-ndjson";
const KINDS = new Set(["document", "chunk", "entity", "relation", "decision"]);
// Of a line that is longer only the beginning is looked at.
const HEAD = 65_536;

/** What a file says if it is an import, unpacked; null if it is a document. @returns {Promise<Blob | null>} */
export async function imported(file) {
  if (!/\.(jsonl|ndjson)(\.gz)?$/i.test(file.name)) return null;
  try {
    const lines = file.name.endsWith(".gz") ? await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob() : file;
    return KINDS.has(kindOf(await lines.slice(0, HEAD).text())) ? lines : null;
  } catch {
    return null; // the server says what is wrong with it
  }
}

/** The `type` of the first line. */
function kindOf(head) {
  const line = head.split("\n").find((one) => one.trim()) ?? "";
  try {
    return JSON.parse(line).type;
  } catch {
    return line.match(/^\s*\{\s*"type"\s*:\s*"(\w+)"/)?.[1]; // its end lies behind the head
  }
}

/**
 * Bring lines into a knowledge base; `row` says how far they are, and at last what they brought.
 * `facts`: make passages of what a graph says; `again` does so with a graph alone, where it is offered.
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

/** What an import brought, and which lines could not be used. */
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
