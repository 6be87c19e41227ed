// The page: a question goes out, its events come back; documents beside it.

import { element, Turn } from "./answer.js";
import { events, post, send } from "./api.js";
import * as documents from "./documents.js";
import { say, speak, switchLanguage } from "./words.js";

const NODES = ["analyze", "route", "retrieve", "grade", "refine", "generate"];
const MOST_TURNS = 20;
const [base, bases, form, question, mode, sendButton, stop, forget, steps, status, turns] = [
  "base", "bases", "ask", "question", "mode", "send", "stop", "forget", "steps", "status", "turns",
].map((id) => document.getElementById(id));
let history = [];
let running = null;

async function ask(text) {
  const turn = new Turn(text);
  turns.prepend(turn.element);
  running = new AbortController();
  busy(true);
  const began = performance.now();
  const body = { query: text, graphId: base.value, mode: mode.value, history: history.slice(-MOST_TURNS), stream: true };
  let answer = null;
  try {
    const response = await post("api/query", body, { signal: running.signal, headers: { Accept: "text/event-stream" } });
    for await (const event of events(response)) {
      turn.show(event);
      if (event.type === "status") step(event.data.node);
      else if (event.type === "retrieval") tell(say("found", event.data.count));
      else if (event.type === "done") answer = event.data;
      else if (event.type === "error") throw new Error([event.data.message, event.data.detail?.next_step].filter(Boolean).join(" "));
    }
    if (!answer) throw new Error(say("broke"));
    history.push({ role: "user", content: text }, { role: "assistant", content: answer.answer });
    tell(say("answered", ((performance.now() - began) / 1000).toFixed(1), answer.mode));
  } catch (error) {
    tell(error.name === "AbortError" ? say("stopped") : error.message, error.name !== "AbortError");
  } finally {
    step(null);
    busy(false);
  }
}

function busy(is) {
  sendButton.hidden = is;
  stop.hidden = !is;
  forget.hidden = is || !history.length;
  if (is) {
    tell(say("working"));
    for (const item of steps.children) item.classList.remove("done");
  }
}

/** Light up the node at work; those that have worked stay tinted. */
function step(name) {
  for (const item of steps.children) {
    if (item.ariaCurrent === "step") item.classList.add("done");
    if (item.dataset.say === name) item.ariaCurrent = "step";
    else item.removeAttribute("aria-current");
  }
}

function tell(text, bad = false) {
  status.textContent = text;
  status.classList.toggle("bad", bad);
}

async function refresh() {
  try {
    const { graphs } = await (await send("api/graphs")).json();
    bases.replaceChildren(...graphs.map(({ graphId }) => element("option", { value: graphId })));
    if (graphs.length && !graphs.some(({ graphId }) => graphId === base.value)) base.value = graphs[0].graphId;
    await documents.show(base.value);
  } catch (error) {
    tell(error.message, error.status !== 401);
  }
}

steps.replaceChildren(...NODES.map((node) => {
  const item = element("li");
  item.dataset.say = node;
  return item;
}));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!running || sendButton.hidden === false) ask(question.value.trim());
});
question.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});
stop.addEventListener("click", () => running.abort());
forget.addEventListener("click", () => { history = []; turns.replaceChildren(); busy(false); tell(""); question.focus(); });
base.addEventListener("change", () => documents.show(base.value));
document.getElementById("language").addEventListener("click", () => { switchLanguage(); documents.show(base.value); });
document.getElementById("login").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", document.getElementById("key").value.trim());
  refresh();
});
document.getElementById("upload").addEventListener("submit", async (event) => {
  event.preventDefault();
  const files = document.getElementById("files");
  await documents.upload(base.value, files.files);
  event.target.reset();
});
speak();
refresh();
