// The page: the open view, signing in, and the language.

import * as bases from "./bases.js";
import * as conversation from "./conversation.js";
import { byId, element, tell } from "./dom.js";
import * as documents from "./documents.js";
import * as explore from "./explore.js";
import * as reading from "./reading.js";
import * as threads from "./threads.js";
import { say, speak, switchLanguage } from "./words.js";

const VIEWS = ["ask", "documents", "reading", "graph"];

/** Open what the address names: `#ask/<conversation>`, `#documents`, `#documents/<document>/<place>`, `#graph/<entity>`. */
async function route() {
  const [name, rest] = location.hash.slice(1).split(/\/(.*)/s);
  if (name && !["ask", "documents", "graph"].includes(name)) return; // an anchor of the page
  const place = name || "ask";
  const asked = decoded(rest ?? "");
  const view = place === "documents" && asked ? "reading" : place;
  for (const one of VIEWS) byId(`${one}-view`).hidden = one !== view;
  for (const link of document.querySelectorAll("header nav a")) {
    link.setAttribute("aria-current", link.hash.split("/")[0] === `#${place}` ? "page" : "false");
  }
  if (view === "reading") await reading.show(asked);
  else if (view === "documents") await documents.show();
  else if (view === "graph") await explore.show(asked);
  else {
    threads.mark(asked);
    await conversation.open(asked);
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // typed by hand
  }
}

async function begin() {
  byId("leave").hidden = !sessionStorage.getItem("key");
  try {
    await bases.refresh();
    byId("login").close();
    tell(byId("status"), "");
    threads.show("");
    await route();
  } catch (error) {
    if (error.status !== 401) tell(byId("status"), error.message, true);
  }
}

document.addEventListener("signedOut", () => {
  const tried = sessionStorage.getItem("key");
  if (!byId("login").open) byId("login").showModal();
  tell(byId("login-status"), tried ? say("badKey") : "", true);
});
byId("login-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("key", byId("key").value.trim());
  byId("key").value = "";
  begin();
});
byId("leave").addEventListener("click", () => { sessionStorage.clear(); location.reload(); });
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address decides what is open
  document.querySelector("main > :not([hidden]) :is(textarea, input, [tabindex])").focus();
});
byId("language").addEventListener("click", switchLanguage);
byId("open-help").addEventListener("click", () => {
  byId("help-text").replaceChildren(...say("helpTexts").flatMap(([title, entries]) => [
    element("h3", { textContent: title }),
    element("dl", {}, entries.flatMap(([term, text]) => [element("dt", { textContent: term }), element("dd", { textContent: text })])),
  ]));
  byId("help").showModal();
});
bases.onChange(() => {
  conversation.welcome();
  const [view, opened] = location.hash.split("/");
  if (opened && view === "#documents" && reading.graph() === bases.chosen()) return; // the document chose its knowledge base
  if (opened && view !== "#ask") location.hash = view; // what was open belongs to the other knowledge base
  else if (/^#(documents|graph)/.test(location.hash)) route();
});
addEventListener("hashchange", route);
byId("past").open = matchMedia("(min-width: 56rem)").matches;
speak();
begin();
