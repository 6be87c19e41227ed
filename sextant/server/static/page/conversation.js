// The conversation on the page: sends questions and shows answers; the server stores it (docs/conversations.md).

import { answered, get, LEFT, Problem, retried, send, takenUp } from "./api.js";
import { forget, leftIn, remember } from "./asked.js";
import * as attachments from "./attachments.js";
import * as bases from "./bases.js";
import { button, byId, element, tell } from "./dom.js";
import { decided } from "./decision.js";
import { show as showThreads } from "./threads.js";
import { Turn } from "./turn.js";
import { say } from "./words.js";

const COMPARED = ["naive", "local", "global", "hybrid", "mix"];
const [form, question, mode, effort, approve, turns, status] = ["ask", "question", "mode", "effort", "approve", "turns", "status"].map(byId);
let thread = "";
let running = null; // stops the answer on the page
let only = null; // the document that questions are limited to

/** Limit further questions to a document; to none without one. */
export function askOnlyOf(document) {
  only = document;
  byId("only").replaceChildren(...(only ? [element("li", {}, [bound(), button("×", () => {
    askOnlyOf(null);
    question.focus();
  }, { label: say("everywhere") })])] : []));
}

const bound = () => element("span", { textContent: say("onlyIn", only.filename) });

/** Show a conversation, or begin one without a name. */
export async function open(name) {
  if (name === thread && turns.childElementCount) return;
  clear(name);
  const opening = element("p", { className: "note", textContent: say("opening") });
  if (name) turns.append(opening);
  const left = leftIn(name);
  const last = name && await recall(name, opening).catch((error) => {
    if (error.status !== 404) tell(status, error.message, true);
    else if (!left) tell(status, say("threadGone"), true);
  });
  opening.remove();
  if (name !== thread) return; // another one was opened meanwhile
  if (left && last === left.text) forget(name); // its answer has arrived meanwhile
  else if (left) goOn(left);
  welcome();
}

/** Continue with a question that was left unanswered: resume its answer, or offer to ask it again. */
async function goOn(left) {
  const { thread: begun, text, graphId, place: where, at } = left;
  const response = where && !running ? await send(where).catch(() => null) : null;
  if (begun !== thread || running) return void response?.body.cancel(); // the user has moved on
  if (!response) {
    remember({ ...left, place: "" });
    question.value ||= text;
    if (begun && where === undefined) comeBack(left).catch(() => {});
    return;
  }
  running = new AbortController();
  busy(true);
  const turn = place(new Turn(text, { graphId }));
  turn.began -= Date.now() - at;
  const { signal } = running;
  settle({ ...left, place: "" }, await one(turn, { query: text, graphId }, takenUp(response, where, signal, broken)), signal);
}

/** Show the answer of a question that was left before its address was known, if the conversation has it soon. */
async function comeBack({ thread: begun, text }) {
  await retried(async () => {
    const { turns: kept } = await get(`api/threads/${encodeURIComponent(begun)}`).catch(() => ({ turns: [] }));
    if (kept.findLast(({ role }) => role === "user")?.text !== text) throw new Error("no answer yet");
  });
  if (begun !== thread || running) return;
  if (question.value === text) question.value = "";
  turns.replaceChildren();
  await open(begun);
}

/** Leave the conversation. A running answer continues on the server if it can be resumed. */
function clear(name) {
  if (running) {
    running.abort(LEFT);
    busy(false);
    showThreads(name); // the list leads back to it
  }
  call(name);
  turns.replaceChildren();
  tell(status, "");
}

/** Set the name of the conversation, in the page's address, too. */
function call(name) {
  thread = name;
  byId("to-ask").hash = name ? `#ask/${encodeURIComponent(name)}` : "#ask";
}

/** Show the turns of a conversation in place of `opening`; return its last question. */
async function recall(name, opening) {
  const kept = (await get(`api/threads/${encodeURIComponent(name)}`)).turns;
  if (name !== thread) return "";
  opening.remove();
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

/** Show the start screen, before the first question. */
export function welcome() {
  const size = bases.documents();
  const examples = element("div", { className: "examples" });
  byId("welcome").hidden = Boolean(turns.childElementCount);
  byId("welcome").replaceChildren(element("h2", { textContent: say("welcome") }),
    element("p", { textContent: size === 0 ? say("noDocuments") : say("welcomeText") }),
    size === 0 ? bases.addSome() : examples);
  if (size && !byId("welcome").hidden && !byId("ask-view").hidden) offer(examples);
}

/** Add example questions that the documents can answer; a click asks one. */
async function offer(place) {
  const path = `api/graphs/${encodeURIComponent(bases.chosen())}/questions`;
  const { questions } = await get(path, { language: document.documentElement.lang }).catch(() => ({ questions: [] }));
  if (!questions.length) return; // there may be none yet
  place.append(element("p", { textContent: say("examples") }), ...questions.map(({ question: text, filename }) => {
    const example = button(text, () => {
      question.value = text;
      byId("send").focus(); // the focus goes where it would be after typing
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
        if (signal.reason === LEFT) showThreads(thread); // the list leads back to it
      }));
  if (good) attachments.clear();
  settle(left, good, signal);
}

/** Resume a stopped report: its written sections are sent again, then the rest. */
async function goOnWith(text, graphId) {
  const left = { thread, text, graphId, at: Date.now() };
  running = new AbortController();
  const { signal } = running;
  busy(true);
  const events = answered({ threadId: left.thread, debug: true }, signal, broken, () => {}, "api/query/resume");
  settle(left, await one(place(new Turn(text, { graphId, effort: "high" })), { query: text, graphId }, events), signal);
}

/** Tidy up after a question: it has its answer, can be asked again, or was left and is resumed later. */
function settle(left, good, signal) {
  if (signal.reason === LEFT) return;
  if (good) forget(left.thread);
  else {
    remember({ ...left, place: "" });
    if (left.thread === thread) question.value ||= left.text;
  }
  busy(false);
  if (good && thread) showThreads(thread);
}

const broken = () => tell(status, say("again"));

/** Ask the question in every mode and show the answers side by side; no conversation stores them. */
async function side(text, asked, attached, signal) {
  const grid = element("div", { className: "compared" });
  const whole = new Turn(text, { attached });
  whole.rest.append(grid);
  place(whole);
  const each = COMPARED.map((mode) => ({ mode, turn: new Turn(text, { mode, graphId: asked.graphId }) }));
  grid.append(...each.map(({ turn }) => turn.element));
  const good = await Promise.all(each.map(({ mode, turn }) => one(turn, asked, answered({ ...asked, mode }, signal, broken), () => {})));
  const first = new Map(); // the first mode that gave each answer
  for (const { mode, turn } of each.filter((_, index) => good[index])) {
    if (first.has(turn.text)) turn.sameAs(first.get(turn.text));
    else first.set(turn.text, mode);
  }
  const told = say("compared", good.filter(Boolean).length, first.size);
  if (first.size) {
    whole.note(told);
    tell(status, told); // for screen readers
  }
  return good.some(Boolean);
}

/** Show the events of an answer as they arrive and return whether it succeeded. `told` is called with its progress in words. */
async function one(turn, { query, graphId }, events, told = (text) => tell(status, text)) {
  const [missing, begun, { signal }] = [bases.underWay(graphId), thread, running];
  try {
    for (let request = await shown(turn, events, told); request;) {
      told(say("yourDecision"));
      const decisions = [await decided(request, turn.rest, signal)];
      told(say("working"));
      request = await shown(turn, answered({ threadId: begun, decisions, debug: true }, signal, broken, () => {}, "api/query/resume"), told);
    }
    const missed = await missing;
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
    turn.fail(message, error.code === "graph_not_found" ? bases.addSome() : again, stopped ? "note" : "bad");
    tell(status, message); // for screen readers; others see it in place of the answer
    attachments.blame(error.field ?? "");
    return false;
  }
}

/** Show events until the answer is complete, or until the user must decide; then return the decision's request. */
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

/** Name a conversation at its first question; from then on the address holds the name. */
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
