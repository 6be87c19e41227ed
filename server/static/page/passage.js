// The passage behind a citation, opened at its quote.

import { get } from "./api.js";
import { byId, element } from "./dom.js";
import { say } from "./words.js";

// Characters shown on each side of a quote.
const AROUND = 600;

/** Where a source stands: file, section, page. */
export const placeOf = ({ filename, sectionPath = [], page }) =>
  [filename, ...sectionPath.slice(-1), page && say("page", page)].filter(Boolean).join(" › ");

let opened = 0;

/** Open the passage of a source, with the citation's quote marked in what surrounds it, until it is closed. */
export async function openPassage(source, citation) {
  byId("passage-title").textContent = source.filename || source.label;
  byId("passage-place").textContent = [...source.sectionPath, source.page && say("page", source.page)].filter(Boolean).join(" › ");
  const [dialog, text, turn] = [byId("passage"), byId("passage-text"), (opened += 1)];
  text.replaceChildren(source.text ?? say("opening"));
  dialog.showModal();
  const closed = new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  const marked = !citation ? [...text.childNodes]
    : source.kind !== "document" && source.text ? cut(source.text, 0, citation) : await around(source, citation);
  if (turn === opened) text.replaceChildren(...marked); // another one may be open by now
  text.querySelector("mark")?.scrollIntoView({ block: "center" });
  await closed;
}

/** The document's own text around a citation. */
async function around(source, citation) {
  const from = Math.max(0, citation.start - AROUND);
  try {
    const slice = await get(`documents/${source.documentId}/text`, { start: from, end: citation.end + AROUND });
    return cut(slice.text, slice.start, citation);
  } catch (error) {
    if (error.status === 404) byId("passage-place").textContent = say("noText");
    return [source.text ?? (error.status === 404 ? "" : error.message)];
  }
}

/** Text with its part from `start` to `end` marked, its tables drawn; offsets count characters, not UTF-16. */
function cut(text, from, { start, end }) {
  const characters = Array.from(text);
  const part = (first, last) => characters.slice(first - from, last - from).join("");
  /** What lies between two offsets, with what of it is marked. */
  const pieces = (first, last) => {
    const [open, close] = [start, end].map((place) => Math.min(Math.max(place, first), last));
    const marked = open < close ? [element("mark", { textContent: part(open, close) })] : [];
    return [part(first, open), ...marked, part(close, last)].filter(Boolean);
  };
  return blocks(characters, from).flatMap(({ rows, first, last }) => (rows ? [table(rows, pieces)] : pieces(first, last)));
}

/** The text as runs of lines, from offset to offset; those of a table with its cells. */
function blocks(characters, from) {
  const found = [];
  let at = from;
  for (const line of characters.join("").split(/(?<=\n)/)) {
    const [first, last] = [at, at += Array.from(line).length];
    const cells = cellsOf(line, first);
    const before = found.at(-1);
    if (before && Boolean(before.rows) === Boolean(cells)) {
      before.last = last;
      before.rows?.push(cells);
    } else found.push({ first, last, rows: cells && [cells] });
  }
  return found;
}

/** The cells of a table's whole row as offsets, or null; none for the rule below its head. */
function cellsOf(line, at) {
  if (!/^\|.*\|\s*$/.test(line)) return null;
  if (/^\|(?:\s*:?-+:?\s*\|)+\s*$/.test(line)) return [];
  const characters = Array.from(line.trimEnd());
  const bars = characters.flatMap((one, index) => (one === "|" && characters[index - 1] !== "\\" ? [index] : []));
  return bars.length > 1 ? bars.slice(0, -1).map((bar, index) => [at + bar + 1, at + bars[index + 1]]) : null;
}

/** A table; its first row is a head where a rule follows. */
function table(rows, pieces) {
  const drawn = rows.filter((cells) => cells.length).map((cells, index) => element("tr", {}, cells.map(([first, last]) =>
    element(index === 0 && rows[1]?.length === 0 ? "th" : "td", {}, pieces(first, last)))));
  return element("table", {}, drawn);
}
