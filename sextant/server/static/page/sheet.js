// Shows pages of the original with a quote boxed.

import { get, send } from "./api.js";
import { element } from "./dom.js";
import { say } from "./words.js";

const MOST = 4; // pages shown for one quote

/** Return where a span of text is on the pages: `[[page, boxes], …]`; empty where that is unknown. */
export async function boxed(documentId, { start, end }) {
  try {
    const { boxes } = await get(`documents/${documentId}/boxes`, { start, end });
    return [...Map.groupBy(boxes, ({ page }) => page)].slice(0, MOST);
  } catch {
    return []; // the text is shown anyway
  }
}

/** Return the pages as pictures with boxes, once they are loaded. */
export function sheets(documentId, filename, pages) {
  return Promise.all(pages.map(async ([page, boxes]) => {
    const url = URL.createObjectURL(await (await send(`documents/${documentId}/pages/${page}`)).blob());
    const picture = element("img", { src: url, alt: say("pageOf", page, filename) });
    await picture.decode().finally(() => URL.revokeObjectURL(url));
    return element("div", { className: "sheet" }, [picture, ...boxes.map(frame)]);
  }));
}

/** Draw a box on a page; it is hidden from screen readers, which read the quote in the text. */
function frame({ x0, y0, x1, y1 }) {
  const made = element("span", { ariaHidden: "true" });
  const percent = (share) => `${share * 100}%`;
  Object.assign(made.style, { left: percent(x0), top: percent(y0), width: percent(x1 - x0), height: percent(y1 - y0) });
  return made;
}
