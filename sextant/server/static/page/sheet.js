// The pages of a document as its file shows them, with a quote boxed.

import { get, send } from "./api.js";
import { element } from "./dom.js";
import { say } from "./words.js";

const MOST = 4; // pages that one quote is shown on

/** Where a part of a document's text stands on its pages: `[[page, boxes], …]`; nothing where that is not known. */
export async function boxed(documentId, { start, end }) {
  try {
    const { boxes } = await get(`documents/${documentId}/boxes`, { start, end });
    return [...Map.groupBy(boxes, ({ page }) => page)].slice(0, MOST);
  } catch {
    return []; // the text is shown all the same
  }
}

/** The pages as pictures with boxes on them, once they can be looked at. */
export function sheets(documentId, filename, pages) {
  return Promise.all(pages.map(async ([page, boxes]) => {
    const url = URL.createObjectURL(await (await send(`documents/${documentId}/pages/${page}`)).blob());
    const picture = element("img", { src: url, alt: say("pageOf", page, filename) });
    await picture.decode().finally(() => URL.revokeObjectURL(url));
    return element("div", { className: "sheet" }, [picture, ...boxes.map(frame)]);
  }));
}

/** A box on a page; whoever cannot see it reads the quote in the text. */
function frame({ x0, y0, x1, y1 }) {
  const made = element("span", { ariaHidden: "true" });
  const percent = (share) => `${share * 100}%`;
  Object.assign(made.style, { left: percent(x0), top: percent(y0), width: percent(x1 - x0), height: percent(y1 - y0) });
  return made;
}
