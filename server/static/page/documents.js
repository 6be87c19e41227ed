// The documents of a knowledge base: listed, added, watched while they are taken in, removed.

import { element } from "./answer.js";
import { events, send } from "./api.js";
import { say } from "./words.js";

const list = document.getElementById("list");
const more = document.getElementById("more");
const status = document.getElementById("upload-status");
const rows = new Map();
let cursor = null;
let base = "default";

/** Show the documents of a knowledge base from the first on. */
export async function show(graphId) {
  base = graphId;
  cursor = null;
  rows.clear();
  list.replaceChildren();
  await page();
}

async function page() {
  const asked = new URLSearchParams({ graphId: base, ...(cursor ? { cursor } : {}) });
  try {
    const answer = await (await send(`documents?${asked}`)).json();
    for (const document of answer.documents) draw(document);
    cursor = answer.nextCursor;
  } catch (error) {
    if (error.status !== 404) tell(error.message, true); // there is none of this name yet
  }
  more.hidden = !cursor;
  if (!rows.size) list.replaceChildren(element("li", { textContent: say("empty") }));
}

/** Upload files, then follow each until it can be searched. */
export async function upload(graphId, files) {
  base = graphId;
  tell(say("uploading"));
  const form = new FormData();
  form.append("graphId", graphId);
  for (const file of files) form.append("files", file);
  try {
    const answer = await (await send("documents", { method: "POST", body: form })).json();
    tell("");
    if (!rows.size) list.replaceChildren();
    for (const one of answer.documents) accept(one);
  } catch (error) {
    tell(error.message, true);
  }
}

function accept({ filename, documentId, jobId, unchanged, problem }) {
  if (problem) tell(`${filename}: ${problem.detail} ${problem.nextStep ?? ""}`, true);
  else if (unchanged) tell(`${filename} ${say("unchanged")}`);
  if (documentId && jobId) draw({ documentId, filename, status: "pending", job: { stage: "queued", done: 0, total: 0 } });
}

function draw(document) {
  const { documentId, filename } = document;
  const row = rows.get(documentId) ?? list.appendChild(element("li"));
  rows.set(documentId, row);
  const { job } = document;
  const running = document.status === "pending" || document.status === "ingesting" || (job && !["done", "failed"].includes(job.stage));
  const parts = [element("div", { className: "row" }, [element("strong", { textContent: filename }), ...controls(document, running)])];
  if (running) {
    const bar = element("progress", job?.total ? { max: job.total, value: job.done } : {});
    bar.setAttribute("aria-label", filename);
    parts.push(element("div", { className: "note", textContent: say("stage", job?.stage ?? document.status, job?.done, job?.total) }), bar);
  } else if (document.status === "failed") {
    parts.push(element("p", { className: "bad", textContent: job?.error ?? document.status }));
  } else {
    parts.push(element("div", { className: "note", textContent: say("chunks", document.chunkCount) }));
  }
  row.replaceChildren(...parts);
  if (running && !row.dataset.watched) watch(documentId, row);
}

async function watch(documentId, row) {
  row.dataset.watched = "yes";
  try {
    for await (const { data } of events(await send(`documents/${documentId}/events`))) {
      if (!row.isConnected) return;
      if (data.documentId) draw(data);
    }
  } catch (error) {
    tell(error.message, true);
  } finally {
    delete row.dataset.watched;
  }
}

function controls({ documentId, filename, status: state }, running) {
  const act = async (path, method) => {
    try {
      await send(`documents/${documentId}${path}`, { method });
      if (method === "DELETE") await show(base);
      else draw(await (await send(`documents/${documentId}`)).json());
    } catch (error) {
      tell(error.message, true);
    }
  };
  const button = (name, action) => {
    const made = element("button", { type: "button", textContent: say(name) });
    made.setAttribute("aria-label", `${say(name)}: ${filename}`);
    made.addEventListener("click", action);
    return made;
  };
  const remove = button("remove", () => { if (confirm(say("sure", filename))) act("", "DELETE"); });
  const others = running ? [button("cancel", () => act("/cancel", "POST"))]
    : state === "failed" ? [button("retry", () => act("/retry", "POST"))] : [];
  return [element("span", {}, [...others, " ", remove])];
}

function tell(text, bad = false) {
  status.textContent = text;
  status.classList.toggle("bad", bad);
}

more.addEventListener("click", page);
