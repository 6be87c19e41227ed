// Renders a document's text: headings, paragraphs and tables, with a span marked.

import { element } from "./dom.js";

/**
 * Return text that begins at offset `from` as elements, with the span from `start` to `end` marked.
 *
 * @param {string} text the text
 * @param {number} from where it begins; offsets count characters, not UTF-16 units
 * @param {{start: number, end: number}} marked the span to mark; empty for none
 * @param {Map<number, number>} [headings] the level of each heading, by the offset of its line
 */
export function drawn(text, from, { start, end }, headings = new Map()) {
  const characters = Array.from(text);
  const part = (first, last) => characters.slice(first - from, last - from).join("");
  /** Return the text between two offsets, with its marked part. */
  const pieces = (first, last) => {
    const [open, close] = [start, end].map((place) => Math.min(Math.max(place, first), last));
    const marked = open < close ? [element("mark", { textContent: part(open, close) })] : [];
    return [part(first, open), ...marked, part(close, last)].filter(Boolean);
  };
  return blocks(characters, from, headings).map((block) => {
    if (block.rows) return table(block.rows, pieces);
    const made = element(block.level ? `h${Math.min(block.level, 3) + 2}` : "p", {}, pieces(block.first, block.last));
    if (block.level) made.dataset.at = String(block.first);
    return made;
  });
}

/** Divide the text into runs of lines, by offsets: headings, tables with their cells, paragraphs. */
function blocks(characters, from, headings) {
  const found = [];
  let at = from;
  let joined = false; // whether the next line may continue this one
  for (const line of characters.join("").split(/(?<=\n)/)) {
    const first = at;
    at += Array.from(line).length;
    const last = first + Array.from(line.trimEnd()).length;
    const [level, cells, before] = [headings.get(first), cellsOf(line, first), found.at(-1)];
    if (last === first) joined = false;
    else if (joined && !level && Boolean(before.rows) === Boolean(cells)) {
      before.last = last;
      before.rows?.push(cells);
    } else {
      found.push({ first, last, level, rows: cells && !level && [cells] });
      joined = !level;
    }
  }
  return found;
}

/** Return the cells of a table row as offsets: null for another line, empty for the rule below the head. */
function cellsOf(line, at) {
  if (!/^\|.*\|\s*$/.test(line)) return null;
  if (/^\|(?:\s*:?-+:?\s*\|)+\s*$/.test(line)) return [];
  const characters = Array.from(line.trimEnd());
  const bars = characters.flatMap((one, index) => (one === "|" && characters[index - 1] !== "\\" ? [index] : []));
  return bars.length > 1 ? bars.slice(0, -1).map((bar, index) => [at + bar + 1, at + bars[index + 1]]) : null;
}

/** Render a table; its first row is a head if a rule follows. */
function table(rows, pieces) {
  const drawn = rows.filter((cells) => cells.length).map((cells, index) => element("tr", {}, cells.map(([first, last]) =>
    element(index === 0 && rows[1]?.length === 0 ? "th" : "td", {}, pieces(first, last)))));
  return element("div", { className: "wide", tabIndex: 0 }, [element("table", {}, drawn)]);
}
