// An answer's text as paragraphs, lists and marks: what models write of Markdown, and nothing that loads or leads away.

import { element } from "./dom.js";

const INLINE = /\*\*([^*\n]+)\*\*|`([^`\n]+)`|\[(\d{1,4}|[IT]\d{1,3}(?::[rc\d]+)?)\]/g;
const LINES = [
  [/^\s*[-*•]\s+(.*)$/, "ul", "li"],
  [/^\s*(?:\d+)[.)、]\s+(.*)$/, "ol", "li"],
  [/^#{1,6}\s+(.*)$/, "", "h4"],
];

/** The nodes of `text`; `mark` makes those of a citation's marker. */
export function prose(text, mark) {
  const blocks = [];
  for (const line of text.split("\n")) {
    const found = LINES.map(([pattern, list, tag]) => ({ inside: line.match(/** @type {RegExp} */ (pattern))?.[1], list, tag })).find(({ inside }) => inside !== undefined);
    const last = blocks.at(-1);
    if (!line.trim()) blocks.push(null);
    else if (found?.list) {
      const item = element("li", {}, inline(found.inside, mark));
      if (last?.localName === found.list) last.append(item);
      else blocks.push(element(found.list, found.list === "ol" ? { start: parseInt(line, 10) || 1 } : {}, [item]));
    } else if (found) blocks.push(element("h4", {}, inline(found.inside, mark)));
    else if (last?.localName === "p") last.append("\n", ...inline(line, mark));
    else blocks.push(element("p", {}, inline(line, mark)));
  }
  return blocks.filter(Boolean);
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
