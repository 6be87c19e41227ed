// One question with its answer, written as it streams, and the passages behind its citations.

import { send } from "./api.js";
import { say } from "./words.js";

const MARKER = /\[(\d{1,4})\]/g;
// Characters shown on each side of a quote.
const AROUND = 600;

/** A question and its answer on the page; `show` takes the events of the stream. */
export class Turn {
  constructor(question) {
    this.text = "";
    this.citations = [];
    this.sources = [];
    this.drawing = 0;
    this.element = element("article", {}, [element("h3", { textContent: question })]);
    this.body = this.element.appendChild(element("div", { className: "answer" }));
    this.rest = this.element.appendChild(element("div"));
  }

  show({ type, data }) {
    if (type === "token") this.text += data.text;
    else if (type === "citation") this.citations.push(data.citation);
    else if (type === "reset") [this.text, this.citations] = ["", []];
    else if (type === "sources") this.sources = data.sources;
    else if (type === "done") this.finish(data);
    else return;
    // A fast model sends many tokens between two frames; one drawing shows them all.
    this.drawing ||= requestAnimationFrame(() => { this.drawing = 0; this.draw(); });
  }

  finish(answer) {
    this.text = answer.answer;
    this.citations = answer.citations;
    this.sources = answer.sources;
    const notes = answer.warnings.map((text) => element("p", { className: "note", textContent: text }));
    if (answer.citations.length) {
      notes.unshift(element("p", { className: "note", textContent: say(answer.grounded ? "grounded" : "ungrounded") }));
    }
    const list = answer.sources.map((source) => {
      const open = element("button", { type: "button", textContent: named(source) });
      open.addEventListener("click", () => this.open(source.marker, 0));
      return element("li", { value: source.marker }, [open]);
    });
    this.rest.replaceChildren(...notes);
    if (list.length) this.rest.append(element("h3", { textContent: say("sources") }), element("ol", { className: "sources" }, list));
  }

  draw() {
    const seen = new Map();
    let at = 0;
    const parts = [];
    for (const match of this.text.matchAll(MARKER)) {
      const marker = Number(match[1]);
      const nth = seen.get(marker) ?? 0;
      seen.set(marker, nth + 1);
      parts.push(this.text.slice(at, match.index), this.button(marker, nth));
      at = match.index + match[0].length;
    }
    const focused = document.activeElement?.dataset.place;
    this.body.replaceChildren(...parts, this.text.slice(at));
    if (focused) this.body.querySelector(`[data-place="${CSS.escape(focused)}"]`)?.focus();
  }

  button(marker, nth) {
    const cite = element("button", { type: "button", className: "cite", textContent: marker });
    cite.dataset.place = `${marker}-${nth}`;
    cite.setAttribute("aria-label", say("cite", marker));
    cite.addEventListener("click", () => this.open(marker, nth));
    return cite;
  }

  /** Open the passage of the nth use of a marker, with the quote marked in what surrounds it. */
  async open(marker, nth) {
    const source = this.sources.find((one) => one.marker === marker);
    if (!source) return;
    const uses = this.citations.filter((one) => one.marker === marker);
    const citation = uses[Math.min(nth, uses.length - 1)];
    const [title, place, text] = ["title", "place", "text"].map((part) => document.getElementById(`passage-${part}`));
    title.textContent = source.filename;
    place.textContent = [...source.sectionPath, source.page && say("page", source.page)].filter(Boolean).join(" › ");
    text.replaceChildren(source.text);
    document.getElementById("passage").showModal();
    if (citation) {
      const surroundings = await around(source.documentId, citation).catch(() => null);
      if (surroundings) text.replaceChildren(...surroundings);
    }
    text.querySelector("mark")?.scrollIntoView({ block: "center" });
  }
}

/** The document's own text around a citation, its quote marked; offsets count characters, not UTF-16. */
async function around(documentId, { start, end }) {
  const from = Math.max(0, start - AROUND);
  const response = await send(`documents/${documentId}/text?start=${from}&end=${end + AROUND}`);
  const slice = await response.json();
  const characters = Array.from(slice.text);
  const cut = (first, last) => characters.slice(first - slice.start, last - slice.start).join("");
  return [cut(slice.start, start), element("mark", { textContent: cut(start, end) }), cut(end, slice.end)];
}

function named(source) {
  const section = source.sectionPath.at(-1);
  return [source.filename, section, source.page && say("page", source.page)].filter(Boolean).join(" › ");
}

/** An element with properties and children. Text goes in as text, never as markup. */
export function element(tag, properties = {}, children = []) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
