// The conversation on the page: questions go out, answers come back; the server keeps it (docs/conversations.md).

import { answered, get, LEFT, Problem, send, takenUp } from "./api.js";
import { forget, leftIn, remember } from "./asked.js";
import * as attachments from "./attachments.js";
import * as bases from "./bases.js";
import { button, byId, element, tell } from "./dom.js";
import { decided } from "./decision.js";
import { underWay } from "./documents.js";
import { show as showThreads } from "./threads.js";
import { Turn } from "./turn.js";
import { say } from "./words.js";

const COMPARED = ["naive", "local", "global", "hybrid", "mix"];
const [form, question, mode, effort, approve, turns, status] = ["ask", "question", "mode", "effort", "approve", "turns", "status"].map(byId);
let thread = "";
let running = null; // what ends the answer that is on the page
let only = null; // the document that questions are about

/** Questions are about this document from now on; about all of them again without one. */
export function askOnlyOf(document) {
  only = document;
  byId("only").replaceChildren(...(only ? [element("li", {}, [bound(), button("×", () => {
    askOnlyOf(null);
    question.focus();
  }, { label: say("everywhere") })])] : []));
}

const bound = () => element("span", { textContent: say("onlyIn", only.filename) });

/** Show a conversation; without a name a new one begins. */
export async function open(name) {
  if (name === thread && turns.childElementCount) return;
  clear(name);
  const left = leftIn(name);
  const last = name && await recall(name).catch((error) => {
    if (error.status !== 404) tell(status, error.message, true);
    else if (!left) tell(status, say("threadGone"), true);
  });
  if (name !== thread) return; // another one was opened meanwhile
  if (left && last === left.text) forget(name); // its answer has come meanwhile
  else if (left) goOn(left);
  welcome();
}

/** Go on with a question that had no answer yet when it was left: with its answer, or where it is to be asked again. */
async function goOn(left) {
  const { thread: begun, text, graphId, place: where, at } = left;
  const response = where && !running ? await send(where).catch(() => null) : null;
  if (begun !== thread || running) return void response?.body.cancel(); // somebody went on without it
  if (!response) {
    remember({ ...left, place: "" });
    return void (question.value ||= text);
  }
  running = new AbortController();
  busy(true);
  const turn = place(new Turn(text, { graphId }));
  turn.began -= Date.now() - at;
  const { signal } = running;
  settle({ ...left, place: "" }, await one(turn, { query: text, graphId }, takenUp(response, where, signal, broken)), signal);
}

/** Another conversation is shown. An answer that is under way goes on for its own, where it can be taken up. */
function clear(name) {
  if (running) {
    running.abort(LEFT);
    busy(false);
    showThreads(name); // where it can be gone back to
  }
  call(name);
  turns.replaceChildren();
  tell(status, "");
}

/** The conversation is called so; the way back to it leads there. */
function call(name) {
  thread = name;
  byId("to-ask").hash = name ? `#ask/${encodeURIComponent(name)}` : "#ask";
}

/** Show what was said in a conversation; returns its last question. */
async function recall(name) {
  const kept = (await get(`api/threads/${encodeURIComponent(name)}`)).turns;
  if (name !== thread) return "";
  let turn, last = "";
  for (const said of kept) {
    if (said.role === "user") turn = place(new Turn(last = said.text));
    else if (said.role === "assistant") (turn ??= place(new Turn(""))).finish(said);
  }
  turn?.element.scrollIntoView({ block: "start", behavior: "instant" });
  const document = kept.flatMap(({ sources = [] }) => sources).find(({ documentId }) => documentId)?.documentId;
  if (document) await get(`documents/${document}`).then(({ graphId }) => bases.choose(graphId), () => {});
  return last;
}

/** What there is to see before the first question. */
export function welcome() {
  const size = bases.documents();
  const examples = element("div", { className: "examples" });
  byId("welcome").hidden = Boolean(turns.childElementCount);
  byId("welcome").replaceChildren(element("h2", { textContent: say("welcome") }),
    element("p", { textContent: size === 0 ? say("noDocuments") : say("welcomeText") }),
    size === 0 ? bases.addSome() : examples);
  if (size && !byId("welcome").hidden && !byId("ask-view").hidden) offer(examples);
}

/** Questions that the documents can answer, below what is there already; one click asks. */
async function offer(place) {
  const path = `api/graphs/${encodeURIComponent(bases.chosen())}/questions`;
  const { questions } = await get(path, { language: document.documentElement.lang }).catch(() => ({ questions: [] }));
  if (!questions.length) return; // there may be none yet, and the page does without
  place.append(element("p", { textContent: say("examples") }), ...questions.map(({ question: text, filename }) => {
    const example = button(text, () => {
      question.value = text;
      byId("send").focus(); // whence the focus goes on as if it had been typed
      form.requestSubmit();
    });
    example.title = filename;
    return example;
  }));
}

async function ask(text) {
  const content = attachments.parts();
  const compare = mode.value === "compare";
  if (!compare && !thread) name();
  const begun = thread;
  const attached = [...(only ? [element("li", {}, [bound()])] : []), ...attachments.shown()];
  const filters = only && { documentIds: [only.documentId] };
  const asked = { query: text, graphId: bases.chosen(), multimodalContent: content, filters, debug: true };
  running = new AbortController();
  const { signal } = running;
  busy(true);
  question.value = "";
  const left = { thread: begun, text, graphId: asked.graphId, at: Date.now() };
  remember(left);
  const body = { ...asked, mode: mode.value, effort: effort.value, threadId: begun, interrupts: true, approveSources: approve.checked };
  const good = compare ? await side(text, asked, attached, signal)
    : await one(place(new Turn(text, { attached, graphId: asked.graphId, effort: effort.value })), body,
      answered(body, signal, broken, (place) => {
        remember({ ...left, place });
        if (signal.reason === LEFT) showThreads(thread); // where it can be gone back to
      }));
  if (good) attachments.clear();
  settle(left, good, signal);
}

/** Resume a report that was stopped: what is written of it comes again, then the rest. */
async function goOnWith(text, graphId) {
  const left = { thread, text, graphId, at: Date.now() };
  running = new AbortController();
  const { signal } = running;
  busy(true);
  const events = answered({ threadId: left.thread, debug: true }, signal, broken, () => {}, "api/query/resume");
  settle(left, await one(place(new Turn(text, { graphId, effort: "high" })), { query: text, graphId }, events), signal);
}

/** A question has its answer, or stands where it can be asked again; one that was left is taken up later. */
function settle(left, good, signal) {
  if (signal.reason === LEFT) return;
  if (good) forget(left.thread);
  else {
    remember(left);
    if (left.thread === thread) question.value ||= left.text;
  }
  busy(false);
  if (good && thread) showThreads(thread);
}

const broken = () => tell(status, say("again"));

/** The question in each mode beside the others; no conversation keeps them. */
async function side(text, asked, attached, signal) {
  const grid = element("div", { className: "compared" });
  const whole = new Turn(text, { attached });
  whole.rest.append(grid);
  place(whole);
  const each = COMPARED.map((mode) => ({ mode, turn: new Turn(text, { mode, graphId: asked.graphId }) }));
  grid.append(...each.map(({ turn }) => turn.element));
  const good = await Promise.all(each.map(({ mode, turn }) => one(turn, asked, answered({ ...asked, mode }, signal, broken), () => {})));
  const first = new Map(); // which mode gave an answer first
  for (const { mode, turn } of each.filter((_, index) => good[index])) {
    if (first.has(turn.text)) turn.sameAs(first.get(turn.text));
    else first.set(turn.text, mode);
  }
  const told = say("compared", good.filter(Boolean).length, first.size);
  if (first.size) {
    whole.note(told);
    tell(status, told); // for the ear
  }
  return good.some(Boolean);
}

/** Show the events of an answer as they come; says whether it went well. `told` hears in words how it goes. */
async function one(turn, { query, graphId }, events, told = (text) => tell(status, text)) {
  const [missed, begun, { signal }] = [underWay(graphId), thread, running];
  try {
    for (let request = await shown(turn, events, told); request;) {
      told(say("yourDecision"));
      const decisions = [await decided(request, turn.rest, signal)];
      told(say("working"));
      request = await shown(turn, answered({ threadId: begun, decisions, debug: true }, signal, broken, () => {}, "api/query/resume"), told);
    }
    if (missed) turn.note(say("missed", missed));
    return true;
  } catch (error) {
    if (!turn.element.isConnected) return false; // another conversation was opened
    const stopped = error.name === "AbortError";
    const message = stopped ? say("stopped") : error.message;
    const resumable = turn.planned && thread;
    const again = button(say(resumable ? "goOn" : "retry"), () => {
      if (running) return;
      turn.element.remove();
      if (resumable) return void goOnWith(query, graphId);
      question.value = query;
      form.requestSubmit();
      byId("stop").focus();
    });
    turn.fail(message, error.code === "graph_not_found" ? bases.addSome() : again);
    tell(status, message); // for the ear: the eye has it in the answer's place
    attachments.blame(error.field ?? "");
    return false;
  }
}

/** Show events until the answer is whole, or until a person must decide: then what. */
async function shown(turn, events, told) {
  for await (const event of events) {
    turn.show(event);
    if (event.type === "retrieval") told(say("found", event.data.count));
    else if (event.type === "progress" && event.data.step === "section") told(say("section", event.data.done, event.data.total, event.data.title));
    else if (event.type === "error") throw new Problem({ ...event.data, detail: event.data.message, nextStep: event.data.detail?.next_step });
    else if (event.type === "done") told(say("answered", ((performance.now() - turn.began) / 1000).toFixed(1), event.data.mode));
    else if (event.type === "interrupt") return event.data.request;
  }
  return null;
}

function place(turn) {
  turns.append(turn.element);
  byId("welcome").hidden = true;
  turn.element.scrollIntoView({ block: "start" });
  return turn;
}

/** A conversation gets its name with its first question; the address says it from then on. */
function name() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  call(`page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
  history.replaceState(null, "", `#ask/${thread}`);
}

function busy(is) {
  const [stop, send] = [byId("stop"), byId("send")];
  const here = document.activeElement;
  stop.hidden = !is;
  send.hidden = is;
  if (is && here === send) stop.focus();
  else if (!is && here === stop) question.focus();
  form.ariaBusy = String(is);
  if (is) tell(status, say("working"));
  else running = null;
}

mode.replaceChildren(...Object.entries(say("modes")).map(([value, textContent]) => element("option", { value, textContent })));
effort.replaceChildren(...Object.entries(say("efforts")).map(([value, textContent]) => element("option", { value, textContent })));
effort.value = "medium";
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!running && question.value.trim()) ask(question.value.trim());
});
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});
byId("fresh").addEventListener("click", () => { clear(""); welcome(); location.hash = "#ask"; question.focus(); });
byId("stop").addEventListener("click", () => running?.abort());
bases.onChange(() => { if (only && only.graphId !== bases.chosen()) askOnlyOf(null); });
