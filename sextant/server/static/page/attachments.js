// Images and tables attached to a question (docs/multimodal.md): chosen, dropped or pasted.

import { button, byId, element, tell } from "./dom.js";
import { say } from "./words.js";

const IMAGE = /^image\/(png|jpeg|webp|gif)$/;
const TABLE = /\.(csv|tsv|md|html?|txt)$/i;
// The server's limit for a question with its images (`http.question_bytes`), less some room for the question.
const MOST_BYTES = 19_000_000;

let kept = [];

/** Return the attachments as `multimodalContent`. */
export const parts = () => kept.map(({ part }) => part);

/** Return the elements that show the attachments beside their question. */
export const shown = () => kept.map(({ name, part }) => element("li", {}, face(name, part)));

/** Remove the attachments once they were sent: each belongs to one question. */
export function clear() {
  kept = [];
  show();
}

/** Mark the attachment that a problem's `field` names, such as `multimodal_content[0].table_data`. */
export function blame(field) {
  const at = Number(field.match(/multimodal_?content\W(\d+)/i)?.[1] ?? NaN);
  byId("attached").children[at]?.classList.add("bad");
}

async function add(files) {
  for (const file of files) {
    if (IMAGE.test(file.type)) keep(file.name, { type: "image", data: await dataOf(file) });
    else if (TABLE.test(file.name)) keep(file.name, table(await file.text(), file.name));
    else tell(byId("status"), say("notAttached", file.name), true);
  }
}

const table = (text, caption) => ({ type: "table", table_data: text, table_caption: caption });

function keep(name, part) {
  const size = [...kept, { part }].reduce((sum, one) => sum + JSON.stringify(one.part).length, 0);
  if (size > MOST_BYTES) return tell(byId("status"), say("tooMuch", MOST_BYTES / 1e6), true);
  kept.push({ name, part });
  show();
}

function show() {
  byId("attached").replaceChildren(...kept.map((one) => element("li", {}, [
    ...face(one.name, one.part),
    button("×", () => { kept = kept.filter((other) => other !== one); show(); byId("question").focus(); }, { label: say("detach", one.name) }),
  ])));
}

function face(name, part) {
  return part.type === "image" ? [element("img", { src: part.data, alt: say("image") }), name] : [element("b", { textContent: say("table") }), name];
}

function dataOf(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** Read a table from the clipboard: spreadsheets put it there as HTML, and as text with tabs. */
function pasted(event) {
  const data = event.clipboardData;
  const text = data.getData("text/plain");
  if (data.files.length) add(data.files);
  else if (/<table/i.test(data.getData("text/html")) && text.includes("\t")) keep(say("pasted"), table(text, say("pasted")));
  else return;
  event.preventDefault();
}

/** Let files be dropped on an element; `take` is called with them. */
export function droppable(target, take) {
  const over = (is) => (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    target.classList.toggle("over", is);
  };
  target.addEventListener("dragover", over(true));
  target.addEventListener("dragleave", over(false));
  target.addEventListener("drop", (event) => { over(false)(event); dropped(event.dataTransfer).then(take); });
}

/** Return the dropped files, and those inside dropped folders. */
async function dropped({ items, files }) {
  const entries = [...items].map((item) => item.webkitGetAsEntry()).filter(Boolean); // to be read before the event ends
  if (!entries.some((entry) => entry.isDirectory)) return [...files];
  return (await Promise.all(entries.map(inside))).flat();
}

async function inside(entry) {
  if (!isMeant(entry.name)) return [];
  if (entry.isFile) return [await new Promise((resolve) => { entry.file(resolve, () => resolve(new File([], entry.name))); })]; // an unreadable one is refused as empty
  const [reader, found] = [entry.createReader(), []];
  for (let some; !some || some.length; found.push(...some)) {
    some = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); }); // a hundred at a time
  }
  return (await Promise.all(found.map(inside))).flat();
}

/** Return whether a path inside a folder is neither hidden nor a file that Office or a system keeps there for itself. */
export const isMeant = (path) => !/(^|\/)(\.|~\$|(thumbs\.db|desktop\.ini)$)/i.test(path);

byId("attach").addEventListener("click", () => byId("attachments").click());
byId("attachments").addEventListener("change", async ({ target }) => { await add([...target.files]); target.value = ""; });
byId("question").addEventListener("paste", pasted);
droppable(byId("ask"), add);
