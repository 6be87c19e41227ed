// Shows an answer's text as paragraphs, lists, tables, code and markers: the Markdown that models write, without links or images.

import { element } from "./dom.js";

const FENCE = /^\s*(?:```|~~~)([^`]*)$/;
const ROW = /^\s*\|.*\|/;
const RULE = /^\s*\|(?:\s*:?-+:?\s*\|)+\s*$/;
// A table's row as an answer without a model quotes it: "Article: SC-110; Price: 12400". A list item is none,
// nor are times (12:30; 13:30) and links.
const FIELDS = /[;；]\s*/;
const FIELD = /^(?!\s*[-*•]\s)\s*([^:：\[\]]{1,60})(?::\s|：)\s*(.+)$/;
const MANY = 4; // fields that are easier to read below each other than in a line
const INLINE = /\*\*([^*\n]+)\*\*|`([^`\n]+)`|\[(\d{1,4}|[IT]\d{1,3}(?::[rc\d]+)?)\]/g;
const LINES = [
  [/^\s*[-*•]\s+(.*)$/, "ul", "li"],
  [/^\s*(?:\d+)[.)、]\s+(.*)$/, "ol", "li"],
  [/^#{1,6}\s+(.*)$/, "", "h4"],
];

/** Return the nodes of `text`; `mark` creates those of a citation's marker. */
export function prose(text, mark) {
  const blocks = [];
  let code = null; // the block that no fence has closed yet
  text.split("\n").forEach((line, index, lines) => {
    const fence = line.match(FENCE);
    if (code && !fence) return code.append(`${line}\n`);
    if (code) code = null;
    else if (fence) return blocks.push(code = element("pre", { tabIndex: 0 }));
    const keys = keysOf(line);
    if (keys && [index - 1, index + 1].some((at) => keys === keysOf(lines[at]))) record(blocks, line, keys, mark);
    else if (keys && keys.split("\n").length >= MANY) blocks.push(card(line, keys, mark));
    else if (ROW.test(line) && RULE.test(lines[index + 1])) blocks.push(table(line, mark));
    else add(blocks, fence ? fence[1] : line, mark); // a marker may follow a fence
  });
  return blocks.filter(Boolean);
}

function add(blocks, line, mark) {
  const found = LINES.map(([pattern, list, tag]) => ({ inside: line.match(/** @type {RegExp} */ (pattern))?.[1], list, tag })).find(({ inside }) => inside !== undefined);
  const last = blocks.at(-1);
  if (!line.trim()) blocks.push(null);
  else if (last?.className === "wide" && !last.dataset.keys && ROW.test(line)) grow(last.firstChild, line, mark);
  else if (found?.list) {
    const item = element("li", {}, inline(found.inside, mark));
    if (last?.localName === found.list) last.append(item);
    else blocks.push(element(found.list, found.list === "ol" ? { start: parseInt(line, 10) || 1 } : {}, [item]));
  } else if (found) blocks.push(element("h4", {}, inline(found.inside, mark)));
  else if (last?.localName === "p") last.append("\n", ...inline(line, mark));
  else blocks.push(element("p", {}, inline(line, mark)));
}

/** Return the keys and values of a row written as "key: value; key: value"; nothing for other lines. */
function keysOf(line = "") {
  const fields = line.split(FIELDS).map((field) => field.match(FIELD)?.[1]);
  return fields.length > 1 && fields.every(Boolean) ? fields.join("\n") : "";
}

/** Add a row to a table, a new one unless the keys are those of the row above. */
function record(blocks, line, keys, mark) {
  if (blocks.at(-1)?.dataset.keys !== keys) {
    blocks.push(tabular(keys.split("\n").map((key) => element("th", { scope: "col", textContent: key }))));
    blocks.at(-1).dataset.keys = keys;
  }
  blocks.at(-1).firstChild.append(element("tr", {}, valuesOf(line).map((value) => element("td", {}, inline(value, mark)))));
}

const valuesOf = (line) => line.split(FIELDS).map((field) => field.match(FIELD)[2]);

/** Return a row that stands alone, a field a line. */
function card(line, keys, mark) {
  const values = valuesOf(line);
  return element("div", { className: "wide", tabIndex: 0 }, [element("table", {}, keys.split("\n").map((key, at) => element("tr", {}, [
    element("th", { scope: "row", textContent: key }), element("td", {}, inline(values[at], mark)),
  ])))]);
}

/** Begin a table, which may be wider than the page. */
function table(line, mark) {
  return tabular(cells(line).map((text) => element("th", { scope: "col" }, inline(text, mark))));
}

function tabular(head) {
  return element("div", { className: "wide", tabIndex: 0 }, [element("table", {}, [element("tr", {}, head)])]);
}

function grow(table, line, mark) {
  if (RULE.test(line)) return;
  const row = cells(line, table.rows[0].cells.length);
  table.append(element("tr", {}, row.map((text) => element("td", {}, inline(text, mark)))));
}

/** Return the cells of a row; more than `most`, such as a marker behind the last bar, belong to the last cell. */
function cells(line, most = Infinity) {
  const found = line.split(/(?<!\\)\|/).slice(1).map((text) => text.trim().replaceAll("\\|", "|"));
  if (!found.at(-1)) found.pop();
  return found.length > most ? [...found.slice(0, most - 1), found.slice(most - 1).join(" ")] : found;
}

function inline(text, mark) {
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, bold, code, marker] = match;
    parts.push(text.slice(at, match.index));
    parts.push(bold ? element("strong", {}, inline(bold, mark)) : code ? element("code", { textContent: code }) : mark(marker));
    at = match.index + whole.length;
  }
  return [...parts, text.slice(at)];
}
