// Shows a document as it was read: its text in parts, its sections, and the quote that a citation leads to.

import { get, send } from "./api.js";
import * as bases from "./bases.js";
import * as conversation from "./conversation.js";
import { byId, element, save, tell } from "./dom.js";
import { drawn } from "./text.js";
import { coverage, facts, say } from "./words.js";

const MOST = 20_000; // characters that the server returns at a time
const BEFORE = 1_000; // characters shown before a span that lies far below its heading

const [title, about, status, outline, text, earlier, later] =
  ["reading-title", "reading-facts", "reading-status", "outline", "text", "earlier", "later"].map(byId);
const NOTHING = { document: null, sections: [], headings: new Map(), length: 0, from: 0, to: 0, marked: { start: 0, end: 0 } };
let open = NOTHING;
let shown = 0;

/** Return the knowledge base of the open document. */
export const graph = () => open.document?.graphId;

/** Open what an address names: `<document>`, `<document>/<start>` or, to be marked, `<document>/<start>-<end>`. */
export async function show(address) {
  const [documentId, place = ""] = address.split("/");
  const [start = 0, end = 0] = place.split("-").map((one) => Number(one) || 0);
  const turn = (shown += 1);
  tell(status, "");
  try {
    if (documentId !== open.document?.documentId) {
      clear();
      const [document, { sections }] = await Promise.all([get(`documents/${documentId}`), get(`documents/${documentId}/structure`)]);
      if (turn !== shown) return;
      begin(document, sections);
    }
    const heading = !end && text.querySelector(`[data-at="${start}"]`);
    if (heading) return heading.scrollIntoView({ block: "start" });
    open.marked = start < end ? { start, end } : NOTHING.marked;
    await turnTo(start, turn);
    const there = text.querySelector("mark") ?? (place && text.querySelector(`[data-at="${start}"]`)) ?? null;
    if (there) there.scrollIntoView({ block: there.localName === "mark" ? "center" : "start", behavior: "instant" });
    else scrollTo({ top: 0, behavior: "instant" });
    title.focus({ preventScroll: true });
  } catch (error) {
    if (turn !== shown) return;
    clear();
    tell(status, error.status === 404 || error.status === 422 ? say("noText") : error.message, true);
  }
}

function clear() {
  open = NOTHING;
  for (const place of [title, about, outline, text]) place.replaceChildren();
  for (const one of ["earlier", "later", "ask-of", "original"]) byId(one).hidden = true;
}

function begin(document, [whole, ...sections]) {
  open = { ...NOTHING, document, sections, length: whole?.end ?? 0, headings: new Map(sections.map(({ start, level }) => [start, level])) };
  bases.choose(document.graphId);
  title.textContent = document.filename;
  about.replaceChildren(facts(document), ...wasRead(document));
  byId("ask-of").hidden = byId("original").hidden = false;
  if (sections.length > 1) {
    outline.append(element("details", { open: matchMedia("(min-width: 56rem)").matches }, [
      element("summary", { textContent: say("outline") }),
      element("ul", { className: "plain" }, sections.map(({ start, level, title: name }) => {
        const link = element("a", { href: `#documents/${document.documentId}/${start}`, textContent: name });
        link.style.paddingInlineStart = `${Math.min(level, 5) - 1}em`;
        return element("li", {}, [link]);
      })),
    ]));
  }
}

/** Show how much of the file was read, and the server's warnings. */
function wasRead(document) {
  const read = coverage(document);
  const counts = read?.counts.map(([name, count]) => element("li", { textContent: `${name}: ${count.toLocaleString()}` })) ?? [];
  return [
    ...(read ? [element("details", { className: "read" }, [element("summary", { textContent: read.title }), element("ul", { className: "plain" }, counts)])] : []),
    ...(document.job?.warnings ?? []).map((warning) => element("div", { textContent: warning })),
  ];
}

/** Show the text around an offset, from the heading above it. */
async function turnTo(place, turn) {
  const above = open.sections.findLast(({ start }) => start <= place)?.start ?? 0;
  const from = place - above < MOST / 2 ? above : place - BEFORE;
  const slice = await part(from);
  if (turn !== shown) return;
  [open.from, open.to] = [from, slice.to];
  text.replaceChildren(...slice.drawn);
  ends();
}

/** Return the text from an offset to `end`, or else to the last heading that is not too near, or the last whole paragraph. */
async function part(from, end) {
  const { documentId } = open.document;
  const most = end ?? from + MOST;
  const slice = await get(`documents/${documentId}/text`, { start: from, end: most });
  const characters = Array.from(slice.text);
  let to = from + characters.length;
  if (!end && most < open.length) {
    const heading = open.sections.findLast(({ start }) => start > from + MOST / 2 && start < to);
    const paragraph = slice.text.lastIndexOf("\n\n");
    to = heading?.start ?? (paragraph > 0 ? from + Array.from(slice.text.slice(0, paragraph + 2)).length : to);
  }
  return { to, drawn: drawn(characters.slice(0, to - from).join(""), from, open.marked, open.headings) };
}

function ends() {
  earlier.hidden = open.from === 0;
  later.hidden = open.to >= open.length;
}

async function go(back) {
  const turn = shown;
  const from = back ? Math.max(0, open.from - MOST) : open.to;
  try {
    const slice = await part(from, back ? open.from : undefined);
    if (turn !== shown) return;
    if (back) open.from = from;
    else open.to = slice.to;
    text[back ? "prepend" : "append"](...slice.drawn);
    ends();
  } catch (error) {
    tell(status, error.message, true);
  }
}

/** Save the uploaded file; a plain link would lack the user's key. */
async function download() {
  const { documentId, filename } = open.document;
  try {
    save(filename, await (await send(`documents/${documentId}/file`)).blob());
  } catch (error) {
    tell(status, error.message, true);
  }
}

earlier.addEventListener("click", () => go(true));
later.addEventListener("click", () => go(false));
byId("original").addEventListener("click", download);
byId("ask-of").addEventListener("click", () => {
  conversation.askOnlyOf(open.document);
  location.hash = byId("to-ask").hash;
});
