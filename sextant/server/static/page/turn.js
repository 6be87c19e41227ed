// One question with its answer: shown while it streams, then with its sources.

import { choose } from "./bases.js";
import { button, byId, element, fold, renew } from "./dom.js";
import { draw } from "./graph.js";
import { openPassage, placeOf } from "./passage.js";
import { prose } from "./prose.js";
import { bars, strip } from "./trace.js";
import { kind, nameOf, say } from "./words.js";

const NODES = ["analyze", "route", "retrieve", "grade", "refine", "generate"];
const REPORT = [...NODES.slice(0, -1), "plan", "search", "outline", "write"];
// Lanes that find passages; `mix` and other modes fuse their results.
const FINDING = ["keyword", "vector", "walk", "reports"];
// Ends sentences as the server does (docs/streaming.md): screen readers get whole sentences.
const SENTENCE = /^[^]*(?:[。！？!?]|\.(?=\s)|\n)(?:\[[^\]]*\])*/;

/** A question and its answer on the page; `show` is called with the events of the stream. */
export class Turn {
  constructor(question, { attached = [], mode = "", graphId = "", effort = "medium" } = {}) {
    this.began = performance.now();
    this.graphId = graphId;
    this.text = "";
    this.spoken = 0;
    this.citations = [];
    this.sources = [];
    this.drawing = 0;
    this.planned = false; // a report, which can be resumed after a stop
    this.element = element("article");
    if (mode) this.element.append(element("h3", { textContent: mode }));
    else this.element.append(element("h3", { className: "question", textContent: question }));
    if (attached.length) this.element.append(element("ul", { className: "chips" }, attached));
    this.steps = element("ol", { className: "steps" }, (effort === "high" ? REPORT : NODES).map((node) => {
      const item = element("li", { textContent: nameOf(node) });
      item.dataset.node = node;
      return item;
    }));
    this.steps.setAttribute("aria-label", say("steps"));
    this.steps.hidden = true;
    this.body = element("div", { className: "answer" });
    this.rest = element("div", { className: "rest" });
    this.element.append(this.steps, this.body, this.rest);
  }

  show({ type, data }) {
    if (type === "status") this.step(data.node, data.attempt);
    else if (type === "retrieval") this.found(data.count);
    else if (type === "plan") this.plan(data);
    else if (type === "progress") this.progress(data);
    else if (type === "token") this.text += data.text;
    else if (type === "citation") this.citations.push(data.citation);
    else if (type === "reset") [this.text, this.citations, this.spoken] = ["", [], 0];
    else if (type === "sources") this.sources = data.sources;
    else if (type === "done") this.finish(data);
    // A fast model sends many tokens between two frames; one drawing shows them all.
    this.drawing ||= requestAnimationFrame(() => { this.drawing = 0; this.draw(); });
  }

  /** Highlight the running node, with the round of a search from the second on; finished nodes stay tinted. */
  step(node, attempt = 0) {
    this.steps.hidden = node === null;
    for (const item of this.steps.children) {
      if (item.ariaCurrent === "step") item.classList.add("done");
      item.ariaCurrent = item.dataset.node === node ? "step" : null;
      if (item.ariaCurrent && attempt && node === "retrieve") item.textContent = `${say(node)} #${attempt + 1}`;
    }
  }

  /** Show what the running search has found. */
  found(count) {
    const item = /** @type {HTMLElement} */ (this.steps.querySelector("[data-node=retrieve]"));
    item.textContent = say("stepFound", item.textContent.split(/[:：]/)[0], say("passages", count));
  }

  /** Show the plan of a report and its cost. */
  plan({ questions, calls, promptTokens, completionTokens, seconds }) {
    this.planned = true;
    const cost = calls ? say("cost", calls, (promptTokens + completionTokens).toLocaleString(document.documentElement.lang), seconds) : say("noCost");
    this.rest.replaceChildren(element("p", { className: "note", textContent: `${say("planIs")} ${cost}` }),
      element("ol", { className: "note" }, questions.map((textContent) => element("li", { textContent }))));
  }

  /** Show which section of a report is being written. */
  progress({ step, done, total }) {
    const item = /** @type {HTMLElement} */ (this.steps.querySelector("[data-node=write]"));
    if (item && step === "section") item.textContent = `${nameOf("write")} ${done}/${total}`;
  }

  /** Complete the answer: show its sources and how it was made. */
  finish(answer) {
    this.step(null);
    const total = performance.now() - this.began;
    [this.text, this.citations, this.sources] = [answer.answer ?? answer.text, answer.citations, answer.sources];
    const said = [
      answer.timings && say("answered", (total / 1000).toFixed(1), answer.mode),
      answer.citations.length && say(answer.declined ? "declined" : answer.trust),
    ].filter(Boolean).join(" ");
    const notes = [...answer.warnings, said].filter(Boolean);
    this.rest.replaceChildren(...notes.map((text) => element("p", { className: "note", textContent: text })));
    if (navigator.clipboard) this.rest.append(button(say("copy"), ({ target }) => this.copy(target), { className: "small" }));
    if (answer.sources.length) this.rest.append(fold(say("sources", answer.sources.length), () => this.list(), { open: true }));
    if (answer.trace) this.rest.append(fold(say("trace"), () => bars(answer.trace, total), { beside: [strip(answer.trace, total)] }));
    const graph = answer.graphContext;
    if (graph?.entities?.length) this.rest.append(fold(say("around", graph.entities.length), () => this.picture(graph)));
    this.draw();
  }

  /** Return the answer with its sources as text, for copying. */
  async copy(pressed) {
    const sources = this.sources.map((source) => `[${source.marker || source.label}] ${placeOf(source)}`);
    await navigator.clipboard.writeText([this.text, sources.join("\n")].filter(Boolean).join("\n\n"));
    pressed.textContent = say("copied");
    setTimeout(() => { pressed.textContent = say("copy"); }, 2000);
  }

  /** Fold this answer, since another mode gave the same. */
  sameAs(mode) {
    this.body.replaceWith(fold(say("sameAs", mode), () => this.body));
  }

  /** Show a notice at the top of the answer's notes. */
  note(text) {
    this.rest.prepend(element("p", { className: "note", textContent: text }));
  }

  /** Show why there is no answer, and what to do. */
  fail(message, way, className) {
    this.step(null);
    this.rest.replaceChildren(element("p", { className, textContent: message }), way);
  }

  list() {
    return element("ul", { className: "plain sources" }, this.sources.map((source) => element("li", {}, [
      element("span", { textContent: `[${source.marker || source.label}]` }),
      element("div", {}, [button(placeOf(source) || source.label, () => this.open(source, 0), { className: "link" }), ...ranks(source)]),
    ])));
  }

  /** Show the entities that came with the answer; those that it names are drawn strongly. */
  picture({ entities, relationships }) {
    return draw(entities.map((one) => ({ ...one, type: kind(one.type) })), relationships, {
      pick: (id) => {
        if (this.graphId) choose(this.graphId); // another one may be chosen by now
        location.hash = `#graph/${id}`;
      },
      strong: ({ name }) => this.text.includes(name),
      width: Math.max(300, this.rest.clientWidth),
    });
  }

  draw() {
    const uses = new Map();
    const focused = /** @type {any} */ (document.activeElement)?.dataset.place;
    renew(this.body, prose(this.text, (marker) => {
      const nth = uses.get(marker) ?? 0;
      uses.set(marker, nth + 1);
      return this.mark(marker, nth);
    }));
    if (focused) this.focus(focused);
    const whole = this.text.slice(this.spoken).match(SENTENCE)?.[0];
    if (whole && this.element.isConnected) {
      this.spoken += whole.length;
      byId("spoken").textContent = whole;
    }
  }

  mark(marker, nth) {
    const place = `${marker}-${nth}`;
    const cite = button(marker, async () => {
      await this.open(this.source(marker, nth), nth, marker);
      this.focus(place); // it may have been redrawn meanwhile
    }, { label: say("cite", marker), className: "cite" });
    cite.dataset.place = place;
    cite.disabled = !this.source(marker, nth);
    return cite;
  }

  focus(place) {
    this.body.querySelector(`[data-place="${CSS.escape(place)}"]`)?.focus();
  }

  /** Return the source of a marker; before the sources arrive, that is the quote of its nth citation. */
  source(marker, nth) {
    const known = this.sources.find((one) => String(one.marker) === marker || (one.label && one.label === marker.split(":")[0]));
    if (known) return known;
    const uses = this.citations.filter((one) => (one.cell || String(one.marker)) === marker);
    const used = uses[Math.min(nth, uses.length - 1)];
    return used && { kind: "quote", filename: used.source, sectionPath: [], text: used.quote };
  }

  /** Open the source of the nth use of a marker, until it is closed. */
  open(source, nth, marker = "") {
    const uses = this.citations.filter((one) => (source.marker ? one.marker === source.marker : one.cell === marker));
    return openPassage(source, source.kind === "quote" ? undefined : uses[Math.min(nth, uses.length - 1)]);
  }
}

/** Return the lanes that found a source, and its rank in each. */
function ranks({ lanes = {} }) {
  const found = FINDING.filter((lane) => lanes[lane]?.rank);
  return found.map((lane) => element("span", { className: "rank", textContent: say("rank", say("lanes")[lane], lanes[lane].rank), title: say("rankHint") }));
}
