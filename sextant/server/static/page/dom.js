// Small things that every part of the page needs. Text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** The element of the page with this id. @returns {any} */
export const byId = (id) => document.getElementById(id);

/** An element with properties and children. @returns {any} */
export function element(tag, properties = {}, children = []) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** An element of a picture with attributes and children. */
export function shape(tag, attributes = {}, children = []) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  made.append(...children);
  return made;
}

/** A button that does something; `label` names it where its text alone would not say enough. */
export function button(text, action, { label = "", className = "" } = {}) {
  const made = element("button", { type: "button", textContent: text, className });
  if (label) made.setAttribute("aria-label", label);
  made.addEventListener("click", action);
  return made;
}

/** Something to fold out; `fill` makes its content when it is first opened. `beside` its title something may stand. */
export function fold(title, fill, { open = false, beside = [] } = {}) {
  const inside = element("div");
  const made = element("details", {}, [element("summary", {}, [title, ...beside]), inside]);
  made.addEventListener("toggle", () => {
    if (made.open && !inside.childElementCount) inside.append(fill());
  });
  made.open = open;
  return made;
}

/** Make these the children; those that are the same already stay, and with them focus and what is selected. */
export function renew(parent, children) {
  children.forEach((child, index) => {
    const old = parent.children[index];
    if (!old) parent.append(child);
    else if (!old.isEqualNode(child)) old.replaceWith(child);
  });
  while (parent.childElementCount > children.length) parent.lastElementChild.remove();
}

/** Say something in a place for it. */
export function tell(place, text, bad = false) {
  place.textContent = text;
  place.classList.toggle("bad", bad);
}

/** Ask before something that cannot be undone. @returns {Promise<boolean>} */
export function sure(text) {
  byId("sure-text").textContent = text;
  return agreed(byId("sure"));
}

/** Ask for a name; null when there shall be none. @returns {Promise<string | null>} */
export async function named() {
  byId("naming-name").value = "";
  return (await agreed(byId("naming"))) ? byId("naming-name").value.trim() || null : null;
}

// It does not submit: the first button that does is the one that Enter presses.
byId("naming-cancel").addEventListener("click", () => byId("naming").close());

function agreed(dialog) {
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
