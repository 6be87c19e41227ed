// One question with its answer: written as it streams, then with all that it rests on.

import { choose } from "./bases.js";
import { button, byId, element, fold, renew } from "./dom.js";
import { draw } from "./graph.js";
import { openPassage, placeOf } from "./passage.js";
import { prose } from "./prose.js";
import { bars, strip } from "./trace.js";
import { kind, nameOf, say } from "./words.js";

const NODES = ["analyze", "route", "retrieve", "grade", "refine", "generate"];
const REPORT = [...NODES.slice(0, -1), "plan", "search", "outline", "write"];
// Lanes that find; `mix` and other modes fuse what these found.
const FINDING = ["keyword", "vector", "walk", "reports"];
// As the server ends sentences (docs/streaming.md): what is read out loud comes by whole ones.
const SENTENCE = /^[^]*(?:[。！？!?]|\.(?=\s)|\n)(?:\[[^\]]*\])*/;

/** A question and its answer on the page; `show` takes the events of the stream. */
export class Turn {
  constructor(question, { attached = [], mode = "", graphId = "", effort = "medium" } = {}) {
    this.began = performance.now();
    this.graphId = graphId;
    this.text = "";
    this.spoken = 0;
    this.citations = [];
    this.sources = [];
    this.drawing = 0;
    this.planned = false; // a report that can be resumed where it is stopped
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

  /** Light up the node at work, searching with its round from the second on; those that have worked stay tinted. */
  step(node, attempt = 0) {
    this.steps.hidden = node === null;
    for (const item of this.steps.children) {
      if (item.ariaCurrent === "step") item.classList.add("done");
      item.ariaCurrent = item.dataset.node === node ? "step" : null;
      if (item.ariaCurrent && attempt && node === "retrieve") item.textContent = `${say(node)} #${attempt + 1}`;
    }
  }

  /** What the search at work has found. */
  found(count) {
    const item = /** @type {HTMLElement} */ (this.steps.querySelector("[data-node=retrieve]"));
    item.textContent = say("stepFound", item.textContent.split(/[:：]/)[0], say("passages", count));
  }

  /** What a report will be about, and what it will cost. */
  plan({ questions, calls, promptTokens, completionTokens, seconds }) {
    this.planned = true;
    const cost = calls ? say("cost", calls, promptTokens + completionTokens, seconds) : say("noCost");
    this.rest.replaceChildren(element("p", { className: "note", textContent: `${say("planIs")} ${cost}` }),
      element("ol", { className: "note" }, questions.map((textContent) => element("li", { textContent }))));
  }

  /** Which section of a report is written. */
  progress({ step, done, total }) {
    const item = /** @type {HTMLElement} */ (this.steps.querySelector("[data-node=write]"));
    if (item && step === "section") item.textContent = `${nameOf("write")} ${done}/${total}`;
  }

  /** The answer is whole: what it rests on, and how it came about. */
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

  /** The answer with its sources as text, for a letter or a note. */
  async copy(pressed) {
    const sources = this.sources.map((source) => `[${source.marker || source.label}] ${placeOf(source)}`);
    await navigator.clipboard.writeText([this.text, sources.join("\n")].filter(Boolean).join("\n\n"));
    pressed.textContent = say("copied");
    setTimeout(() => { pressed.textContent = say("copy"); }, 2000);
  }

  /** Beside an answer in another mode that is the same, this one is folded. */
  sameAs(mode) {
    this.body.replaceWith(fold(say("sameAs", mode), () => this.body));
  }

  /** Something to know about the answer, above all else that is said of it. */
  note(text) {
    this.rest.prepend(element("p", { className: "note", textContent: text }));
  }

  /** The answer did not come: why, and the way on. */
  fail(message, way) {
    this.step(null);
    this.rest.replaceChildren(element("p", { className: "bad", textContent: message }), way);
  }

  list() {
    return element("ul", { className: "plain sources" }, this.sources.map((source) => element("li", {}, [
      element("span", { textContent: `[${source.marker || source.label}]` }),
      element("div", {}, [button(placeOf(source) || source.label, () => this.open(source, 0), { className: "link" }), ...ranks(source)]),
    ])));
  }

  /** The entities that came with the answer; those that it names are drawn strongly. */
  picture({ entities, relationships }) {
    return draw(entities.map((one) => ({ ...one, type: kind(one.type) })), relationships, {
      pick: (id) => {
        if (this.graphId) choose(this.graphId); // another one may be looked at by now
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
      this.focus(place); // it may have been drawn anew meanwhile
    }, { label: say("cite", marker), className: "cite" });
    cite.dataset.place = place;
    cite.disabled = !this.source(marker, nth);
    return cite;
  }

  focus(place) {
    this.body.querySelector(`[data-place="${CSS.escape(place)}"]`)?.focus();
  }

  /** What a marker stands for. The sources come last; until then it is what its nth citation quotes. */
  source(marker, nth) {
    const known = this.sources.find((one) => String(one.marker) === marker || (one.label && one.label === marker.split(":")[0]));
    if (known) return known;
    const uses = this.citations.filter((one) => (one.cell || String(one.marker)) === marker);
    const used = uses[Math.min(nth, uses.length - 1)];
    return used && { kind: "quote", filename: used.source, sectionPath: [], text: used.quote };
  }

  /** Open what the nth use of a marker rests on, until it is closed. */
  open(source, nth, marker = "") {
    const uses = this.citations.filter((one) => (source.marker ? one.marker === source.marker : one.cell === marker));
    return openPassage(source, source.kind === "quote" ? undefined : uses[Math.min(nth, uses.length - 1)]);
  }
}

/** By which lanes a source was found, and at which place of each. */
function ranks({ lanes = {} }) {
  const found = FINDING.filter((lane) => lanes[lane]?.rank);
  return found.map((lane) => element("span", { className: "rank", textContent: say("rank", say("lanes")[lane], lanes[lane].rank), title: say("rankHint") }));
}
