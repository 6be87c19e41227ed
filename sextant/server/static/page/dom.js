// Helpers that every part of the page uses. Text is inserted as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return the page's element with this id. @returns {any} */
export const byId = (id) => document.getElementById(id);

/** Create an element with properties and children. @returns {any} */
export function element(tag, properties = {}, children = []) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Create an SVG element with attributes and children. */
export function shape(tag, attributes = {}, children = []) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** Create a button; `label` names it for screen readers where its text does not say enough. */
export function button(text, action, { label = "", className = "" } = {}) {
  const made = element("button", { type: "button", textContent: text, className });
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", action);
  return made;
}

/** Create a section that unfolds; `fill` creates its content when first opened, `beside` stands next to its title. */
export function fold(title, fill, { open = false, beside = [] } = {}) {
  const inside = element("div");
  const made = element("details", {}, [element("summary", {}, [title, ...beside]), inside]);
  made.addEventListener("toggle", () => {
    if (made.open && !inside.childElementCount) inside.append(fill());
  });
  made.open = open;
  return made;
}

/** Replace the children, but keep equal ones, and with them the focus and the selection. */
export function renew(parent, children) {
  children.forEach((child, index) => {
    const old = parent.children[index];
    if (!old) parent.append(child);
    else if (!old.isEqualNode(child)) old.replaceWith(child);
  });
  while (parent.childElementCount > children.length) parent.lastElementChild.remove();
}

/** Show a message in an element. */
export function tell(place, text, bad = false) {
  place.textContent = text;
  place.classList.toggle("bad", bad);
}

/** Ask for confirmation before something that cannot be undone. @returns {Promise<boolean>} */
export function sure(text) {
  byId("sure-text").textContent = text;
  return agreed(byId("sure"));
}

/** Ask for a name; null if the user cancels. @returns {Promise<string | null>} */
export async function named(label, action, before = "") {
  byId("naming-label").textContent = label;
  byId("naming-done").textContent = byId("naming").ariaLabel = action;
  byId("naming-name").value = before;
  return (await agreed(byId("naming"))) ? byId("naming-name").value.trim() || null : null;
}

// Not a submit button, since Enter presses the first submit button.
byId("naming-cancel").addEventListener("click", () => byId("naming").close());

/** Save content as a file. */
export function save(name, content) {
  const url = URL.createObjectURL(content);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

function agreed(dialog) {
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
