// Shows the passage behind a citation, opened at its quote.

import { get } from "./api.js";
import { byId, element } from "./dom.js";
import { boxed, sheets } from "./sheet.js";
import { drawn } from "./text.js";
import { say } from "./words.js";

// Characters shown on each side of a quote.
const AROUND = 600;
const NOTHING = { start: 0, end: 0 };

/** Return where a source is: file, section, page, and whether OCR read it. */
export const placeOf = ({ filename, sectionPath = [], page, ocr }) =>
  [filename, ...sectionPath.slice(-1), page && say("page", page), ocr && say("ocr")].filter(Boolean).join(" › ");

/** Return the address of a document on the page, or of a span in it. */
export const addressOf = (documentId, { start = 0, end = 0 } = {}) => `#documents/${documentId}${end ? `/${start}-${end}` : ""}`;

let opened = 0;

/** Open the passage of a source with the citation's quote marked, until it is closed. */
export async function openPassage(source, citation) {
  byId("passage-title").textContent = source.filename || source.label;
  byId("passage-place").textContent = [...source.sectionPath, source.page && say("page", source.page), source.ocr && say("ocr")].filter(Boolean).join(" › ");
  const [dialog, text, turn] = [byId("passage"), byId("passage-text"), (opened += 1)];
  byId("passage-whole").hidden = !source.documentId;
  if (source.documentId) byId("passage-whole").hash = addressOf(source.documentId, citation ?? source);
  text.replaceChildren(...(source.text ? drawn(source.text, 0, NOTHING) : [say("opening")]));
  choose("text", false);
  dialog.showModal();
  const closed = new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  const marked = !citation ? [...text.childNodes]
    : source.kind !== "document" && source.text ? drawn(source.text, 0, citation) : await around(source, citation);
  if (turn === opened) text.replaceChildren(...marked); // another one may be open by now
  text.querySelector("mark")?.scrollIntoView({ block: "center" });
  if (turn === opened && source.documentId) await openPages(source, citation ?? source, () => turn === opened && dialog.open);
  await closed;
}

/** Show the original's pages that hold a quote, where there are any and while they are `wanted`. */
async function openPages(source, quote, wanted) {
  const pages = quote.end ? await boxed(source.documentId, quote) : [];
  if (!pages.length || !wanted()) return;
  const shown = await sheets(source.documentId, source.filename, pages).catch(() => []); // the text is shown anyway
  if (!shown.length || !wanted()) return;
  byId("passage-page").replaceChildren(...shown);
  choose("page", true);
}

const VIEWS = ["page", "text"];

/** Show one view of a passage; with pages, text and pages each have a tab, and a wide window shows both. */
function choose(view, hasPages) {
  byId("passage-tabs").hidden = !hasPages;
  byId("passage").classList.toggle("paged", hasPages);
  if (!hasPages) byId("passage-page").replaceChildren();
  for (const one of VIEWS) {
    const tab = byId(`tab-${one}`);
    tab.ariaSelected = String(one === view);
    tab.tabIndex = one === view ? 0 : -1;
    byId(`passage-${one}`).classList.toggle("other", one !== view);
  }
  for (const one of VIEWS) byId(`passage-${one}`).querySelector("mark, .sheet span")?.scrollIntoView({ block: "center" });
}

for (const [index, view] of VIEWS.entries()) {
  byId(`tab-${view}`).addEventListener("click", () => choose(view, true));
  byId(`tab-${view}`).addEventListener("keydown", (event) => {
    const step = { ArrowLeft: 1, ArrowRight: 1, Home: -index, End: VIEWS.length - 1 - index }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = VIEWS[(index + step) % VIEWS.length];
    choose(next, true);
    byId(`tab-${next}`).focus();
  });
}

/** Return the document's text around a citation. */
async function around(source, citation) {
  const from = Math.max(0, citation.start - AROUND);
  try {
    const slice = await get(`documents/${source.documentId}/text`, { start: from, end: citation.end + AROUND });
    return drawn(slice.text, slice.start, citation);
  } catch (error) {
    if (error.status === 404) byId("passage-place").textContent = say("noText");
    return [source.text ?? (error.status === 404 ? "" : error.message)];
  }
}

byId("passage-whole").addEventListener("click", () => byId("passage").close());
