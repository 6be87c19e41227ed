// The stored conversations: list, open, rename, save, delete.

import { ended, get, send } from "./api.js";
import { forget as forgetQuestion, leftIn, underWay } from "./asked.js";
import { button, byId, element, named, save, sure, tell } from "./dom.js";
import { placeOf } from "./passage.js";
import { say } from "./words.js";

const list = byId("threads");
let cursor = null;
let open = "";
let shown = 0;

/** List the conversations, latest first; `name` is the one on the page. */
export async function show(name) {
  [open, cursor] = [name, null];
  shown += 1;
  list.replaceChildren();
  await page();
}

/** Mark the one that is on the page. */
export function mark(name) {
  open = name;
  for (const item of list.children) item.firstElementChild?.setAttribute("aria-current", item.dataset.name === name ? "page" : "false");
}

async function page() {
  const turn = shown;
  const answer = await get("api/threads", { cursor, limit: 30 }).catch(() => null); // other parts of the page show why
  if (turn !== shown) return;
  const kept = answer?.threads ?? [];
  const listed = new Set(Array.from(list.children, (row) => row.dataset.name));
  if (!cursor) list.append(...begun(kept));
  list.append(...kept.filter(({ threadId }) => !listed.has(threadId)).map(item));
  cursor = answer?.nextCursor ?? null;
  byId("more-threads").hidden = !cursor;
  if (answer && !list.childElementCount) list.replaceChildren(element("li", { className: "note", textContent: say("noThreads") }));
  mark(open);
}

/** Return rows for conversations whose first question is being answered; the server lists them only afterwards. */
const begun = (kept) => underWay().filter(({ thread }) => !kept.some(({ threadId }) => threadId === thread))
  .map(({ thread, text, at }) => item({ threadId: thread, title: text, updatedAt: at }));

function item({ threadId, title, updatedAt }) {
  const name = title || threadId;
  const row = element("li", { className: "thread" }, [
    element("a", { href: `#ask/${encodeURIComponent(threadId)}`, textContent: name, title: new Date(updatedAt).toLocaleString(document.documentElement.lang) }),
    button("✎", () => rename(threadId, name), { label: `${say("rename")}: ${name}`, className: "here" }),
    button("↓", () => download(threadId, name), { label: `${say("download")}: ${name}`, className: "here" }),
    button("×", () => forget(threadId, name), { label: `${say("forget")}: ${name}` }),
  ]);
  row.dataset.name = threadId;
  return row;
}

async function rename(threadId, before) {
  const title = await named(say("title"), say("rename"), before);
  if (!title) return;
  try {
    await send(addressOf(threadId), { method: "PATCH", body: JSON.stringify({ title: title.slice(0, 160) }), headers: { "Content-Type": "application/json" } });
    await show(open);
  } catch (error) {
    tell(byId("status"), error.message, true);
  }
}

/** Save a conversation as Markdown, with the sources of its answers. */
async function download(threadId, title) {
  try {
    const { turns } = await get(addressOf(threadId));
    const parts = turns.map(({ role, text, sources }) => (role === "user" ? `## ${plain(text)}`
      : [text, "", ...sources.map((source) => `- [${source.label || source.marker}] ${plain(placeOf(source))}`)].join("\n")));
    save(`${title}.md`, new Blob([[`# ${plain(title)}`, ...parts].join("\n\n")], { type: "text/markdown" }));
  } catch (error) {
    tell(byId("status"), error.message, true);
  }
}

/** Return text as one line of Markdown in which nothing is markup; answers are made harmless by the server. */
const plain = (text) => text.replace(/\s+/g, " ").replace(/[\\`*[\]<&]/g, "\\$&");

const addressOf = (threadId) => `api/threads/${encodeURIComponent(threadId)}`;

async function forget(threadId, title) {
  if (!await sure(say("sureThread", title))) return;
  const left = leftIn(threadId);
  if (left?.place) await ended(left.place); // otherwise its answer would recreate the conversation
  forgetQuestion(threadId);
  try {
    await send(addressOf(threadId), { method: "DELETE" });
  } catch (error) {
    if (error.status !== 404) return tell(byId("status"), error.message, true); // it has no answer, so the server does not know it
  }
  if (threadId === open) location.hash = "#ask";
  await show(threadId === open ? "" : open);
}

byId("more-threads").addEventListener("click", page);
