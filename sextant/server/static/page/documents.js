// The documents of a knowledge base: list, add, follow during ingestion, delete.

import { events, get, Problem, retried, send, upload } from "./api.js";
import { droppable, isMeant } from "./attachments.js";
import * as bases from "./bases.js";
import { button, byId, element, renew, sure, tell } from "./dom.js";
import { bring, imported } from "./importing.js";
import { addressOf } from "./passage.js";
import { facts, say } from "./words.js";

// A browser opens six connections to a server; two follow documents, which leaves some for questions and lists.
const WATCHERS = 2;
const UPLOADS = 2;
const MANY = 10; // documents, among which one is looked for by its name
const ENDED = new Set(["done", "failed"]);
const MAILS = new Set(["message/rfc822", "application/vnd.ms-outlook"]); // their attachments become documents, too
const GIVEN_UP = new Set(["cancelled", "superseded"]); // ended on somebody's request

const [list, sent, more, status, left, named, dropFound, dropBase] =
  ["list", "sent", "more", "upload-status", "under-way", "named", "drop-found", "drop-base"].map(byId);
const rows = new Map();
const found = new Set(); // what the list was asked for; uploads have rows below it, whatever their names
const waiting = [];
let watching = 0;
let cursor = null;
let shown = 0;

/** Show the first documents of the chosen knowledge base. */
export async function show() {
  cursor = null;
  shown += 1;
  rows.clear();
  found.clear();
  list.replaceChildren();
  count();
  await page();
}

async function page() {
  const turn = shown;
  try {
    const answer = await bases.exists() ? await get("documents", { graphId: bases.chosen(), cursor, name: named.value.trim() || null }) : { documents: [] };
    if (turn !== shown) return;
    for (const document of answer.documents) {
      arrived(document.filename);
      found.add(document.documentId);
      draw(document);
    }
    cursor = answer.nextCursor;
  } catch (error) {
    if (turn !== shown) return;
    if (error.status !== 404) return tell(status, error.message, true); // otherwise it does not exist yet
  }
  more.hidden = !cursor;
  empty();
}

function empty() {
  if (!list.childElementCount) list.append(element("li", { className: "note", textContent: say(named.value ? "noneNamed" : "empty") }));
  else if (list.childElementCount > 1) list.querySelector("li.note")?.remove();
  dropBase.hidden = !rows.size;
  named.hidden = !named.value && rows.size < MANY;
  dropFound.hidden = !named.value || !found.size;
  dropFound.textContent = say("dropFound", found.size);
}

/** Upload files, a few at a time, each with a row in the list. */
async function add(files) {
  tell(status, "");
  const graphId = bases.chosen();
  const left = [...files].map((file) => ({ file, row: sent.appendChild(element("li")) }));
  for (const { file, row } of left) sending(row, file.name, 0);
  await Promise.all(Array.from({ length: UPLOADS }, async () => {
    for (let next = left.shift(); next; next = left.shift()) await put(graphId, next.file, next.row);
  }));
  await bases.refresh().catch(() => {});
}

async function put(graphId, file, row) {
  try {
    const lines = await imported(file);
    if (lines) return await take(graphId, file.name, lines, row);
    const form = new FormData();
    form.append("graphId", graphId);
    form.append("files", file);
    const answer = await upload("documents", form, (share) => sending(row, file.name, share));
    accept(graphId, answer.documents[0], row);
  } catch (error) {
    refuse(row, file.name, error.message);
  }
}

/** Import a file of lines; a graph without passages can have its facts made into passages afterwards. */
async function take(graphId, name, lines, row, facts = false) {
  try {
    await bring(graphId, name, lines, row, { facts, again: () => take(graphId, name, lines, row, true) });
    if (graphId === bases.chosen()) await show();
    if (facts) await bases.refresh().catch(() => {});
  } catch (error) {
    refuse(row, name, error.message);
  }
}

/** Drop the upload's row of a document that the list now shows; the list may have it before the upload returns. */
function arrived(name) {
  for (const row of [...sent.children]) if (row.dataset.sent === name) row.remove();
}

function sending(row, name, share) {
  if (share === 1) row.dataset.sent = name;
  row.replaceChildren(element("strong", { textContent: name }),
    element("div", { className: "note", textContent: say("uploading", Math.round(100 * share)) }), bar(name, share, 1));
}

function accept(graphId, { filename, documentId, jobId, unchanged, sameAs, sameNameAs, problem }, row) {
  if (problem) return refuse(row, filename, new Problem(problem, problem.status).message);
  row.remove();
  if (sameNameAs) tell(status, say("sameName", filename));
  if (unchanged) tell(status, say("unchanged", filename, sameAs));
  else if (graphId === bases.chosen()) draw({ documentId, filename, status: "pending", job: jobId && { stage: "queued", done: 0, total: 0 } });
  empty();
}

function refuse(row, name, why) {
  delete row.dataset.sent;
  if (!row.isConnected) sent.append(row);
  row.replaceChildren(
    element("div", { className: "row" }, [element("strong", { textContent: name }), element("span", { className: "gap" }),
      button(say("close"), () => row.remove(), { label: `${say("close")}: ${name}` })]),
    element("p", { className: "bad", role: "alert", textContent: why }),
  );
}

function draw(document) {
  const { documentId, filename, job, parentId, source } = document;
  const row = rows.get(documentId) ?? list.appendChild(element("li"));
  rows.set(documentId, row);
  if (parentId) row.dataset.parent = parentId;
  const running = document.status === "pending" || document.status === "ingesting" || (job && !ENDED.has(job.stage));
  const parts = [element("div", { className: "row" }, [element("strong", {}, [running || document.status === "failed" ? filename : element("a", { href: addressOf(documentId), textContent: filename })]),
    element("span", { className: "gap" }), ...controls(document, running)])];
  if (running) {
    const stage = job?.stage ?? document.status;
    const name = say("stages")[stage] ?? stage;
    parts.push(element("div", { className: "note", textContent: job?.unattended ? say("unattended") : job?.total ? say("counted", name, job.done, job.total) : name }));
    if (stage !== "queued" && stage !== "pending") parts.push(bar(filename, job?.done, job?.total)); // no progress bar while it waits
  } else if (document.status === "failed") {
    parts.push(element("p", { className: "bad", textContent: why(document) }));
  } else {
    parts.push(element("div", { className: "note", textContent: facts(document) }));
    for (const warning of job?.warnings ?? []) parts.push(element("p", { className: "note", textContent: warning }));
    if (job?.stage === "failed" && !GIVEN_UP.has(job.errorCode)) parts.push(element("p", { className: "bad", textContent: say("older", why(document)) }));
  }
  if (parentId) parts.push(element("p", { className: "note", textContent: say("attachedTo", source.slice(0, -filename.length - 1).split("/").at(-1)) }));
  const here = row.contains(window.document.activeElement);
  renew(row, parts);
  if (here && !row.contains(window.document.activeElement)) row.querySelector("button").focus(); // its button was removed
  if (running) watch(documentId, row);
}

function why({ error, job }) {
  const detail = error ?? job?.error;
  return detail ? new Problem({ detail, code: job?.errorCode }).message : say("stages").failed;
}

/** Remove the row of a deleted document; the focus moves to the next row. */
function gone(documentId) {
  const row = rows.get(documentId);
  const next = row?.nextElementSibling ?? row?.previousElementSibling;
  const left = row?.contains(document.activeElement);
  rows.delete(documentId);
  found.delete(documentId);
  row?.remove();
  for (const [id, { dataset }] of [...rows]) if (dataset.parent === documentId) gone(id); // its attachments
  if (left) (next?.querySelector("button:last-of-type") ?? byId("files")).focus();
  count();
  empty();
}

function bar(name, done, total) {
  const made = element("progress", total ? { max: total, value: done } : {});
  made.setAttribute("aria-label", name);
  return made;
}

/** Follow a document until it can be searched; it waits its turn behind others. */
function watch(documentId, row) {
  if (row.dataset.watched) return;
  row.dataset.watched = "yes";
  waiting.push({ documentId, row });
  next();
}

function count() {
  const running = [...rows.values()].filter((row) => row.dataset.watched).length;
  left.textContent = running ? say("left", running) : "";
}

async function next() {
  count();
  if (watching >= WATCHERS || !waiting.length) return;
  const { documentId, row } = waiting.shift();
  watching += 1;
  try {
    await retried(() => follow(documentId, row));
  } catch (error) {
    if (error.status === 404) gone(documentId);
    else tell(status, error.message, true);
  } finally {
    watching -= 1;
    delete row.dataset.watched;
    next();
  }
}

async function follow(documentId, row) {
  if (!row.isConnected) return;
  for await (const { type, data } of events(await send(`documents/${documentId}/events`))) {
    if (!row.isConnected) return;
    if (!data.documentId) throw new Problem(data, data.status);
    if (type === "progress") draw(data);
    else {
      const document = await get(`documents/${documentId}`);
      draw(document);
      return void (MAILS.has(document.mediaType) && await show());
    }
  }
  throw new Problem({ detail: say("lost") }); // the server stopped
}

function controls({ documentId, filename, status: state }, running) {
  const act = async (path, method) => {
    try {
      const { status: said } = await send(`documents/${documentId}${path}`, { method });
      if (said !== 204) return void draw(await get(`documents/${documentId}`)); // a copy may remain under another name
      gone(documentId);
      await bases.refresh();
    } catch (error) {
      tell(status, error.message, true);
    }
  };
  const control = (name, action) => button(say(name), action, { label: `${say(name)}: ${filename}`, className: "small" });
  const remove = control("remove", async () => { if (await sure(say("sure", filename))) await act("", "DELETE"); });
  if (running) return [control("cancel", () => act("/cancel", "POST")), remove];
  return state === "failed" ? [control("retry", () => act("/retry", "POST")), remove] : [remove];
}

/** Delete the documents that the search by name lists; their attachments go with them. */
async function forgetFound() {
  const documents = [...found];
  if (!await sure(say("sure", say("foundDocuments", documents.length)))) return;
  try {
    for (const documentId of documents) {
      await retried(() => send(`documents/${documentId}`, { method: "DELETE" })).catch((error) => {
        if (error.status !== 404) throw error;
      });
    }
  } catch (error) {
    tell(status, error.message, true);
  }
  await show();
  await bases.refresh().catch(() => {});
}

async function forgetBase() {
  const name = bases.chosen();
  if (!await sure(say("sure", name))) return;
  try {
    await bases.remove(name);
    await show();
  } catch (error) {
    tell(status, error.message, true);
  }
}

more.addEventListener("click", page);
dropFound.addEventListener("click", forgetFound);
dropBase.addEventListener("click", forgetBase);
byId("files").addEventListener("change", ({ target }) => { const files = [...target.files]; target.value = ""; add(files); });
byId("choose-folder").addEventListener("click", () => byId("folder").click());
byId("folder").addEventListener("change", ({ target }) => { const files = [...target.files].filter((file) => isMeant(file.webkitRelativePath)); target.value = ""; add(files); });
named.addEventListener("input", show);
bases.onChange(() => { named.value = ""; });
byId("upload").addEventListener("submit", (event) => event.preventDefault());
droppable(byId("documents-view"), add);
