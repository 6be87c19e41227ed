// The passage behind a citation, opened at its quote.

import { get } from "./api.js";
import { byId, element } from "./dom.js";
import { drawn } from "./text.js";
import { say } from "./words.js";

// Characters shown on each side of a quote.
const AROUND = 600;
const NOTHING = { start: 0, end: 0 };

/** Where a source stands: file, section, page, and whether OCR read it. */
export const placeOf = ({ filename, sectionPath = [], page, ocr }) =>
  [filename, ...sectionPath.slice(-1), page && say("page", page), ocr && say("ocr")].filter(Boolean).join(" › ");

/** The address of a document on the page, and of a place in it where there is one. */
export const addressOf = (documentId, { start = 0, end = 0 } = {}) => `#documents/${documentId}${end ? `/${start}-${end}` : ""}`;

let opened = 0;

/** Open the passage of a source, with the citation's quote marked in what surrounds it, until it is closed. */
export async function openPassage(source, citation) {
  byId("passage-title").textContent = source.filename || source.label;
  byId("passage-place").textContent = [...source.sectionPath, source.page && say("page", source.page), source.ocr && say("ocr")].filter(Boolean).join(" › ");
  const [dialog, text, turn] = [byId("passage"), byId("passage-text"), (opened += 1)];
  byId("passage-whole").hidden = !source.documentId;
  if (source.documentId) byId("passage-whole").hash = addressOf(source.documentId, citation ?? source);
  text.replaceChildren(...(source.text ? drawn(source.text, 0, NOTHING) : [say("opening")]));
  dialog.showModal();
  const closed = new Promise((resolve) => { dialog.addEventListener("close", resolve, { once: true }); });
  const marked = !citation ? [...text.childNodes]
    : source.kind !== "document" && source.text ? drawn(source.text, 0, citation) : await around(source, citation);
  if (turn === opened) text.replaceChildren(...marked); // another one may be open by now
  text.querySelector("mark")?.scrollIntoView({ block: "center" });
  await closed;
}

/** The document's own text around a citation. */
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
