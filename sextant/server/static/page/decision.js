// The form for a decision in the middle of an answer (docs/studio.md#decisions-of-a-person).

import { button, element } from "./dom.js";
import { say } from "./words.js";

/** Show the form in `place` and return the decision as the server expects it. Aborting `signal` removes the form. */
export function decided({ action_requests: [{ name, args, description }], review_configs: [{ allowed_decisions: allowed }] }, place, signal) {
  const options = texts(args.options ?? [], description);
  const single = name === "choose_meaning";
  const inputs = options.map((_, index) => element("input", { type: single ? "radio" : "checkbox", name: "choice", value: String(index + 1), checked: !single }));
  const labels = inputs.map((input, index) => element("label", {}, [input, options[index]]));
  if (name === "approve_sources") labels.unshift(element("label", {}, [ofAll(inputs), element("strong", { textContent: say("allPassages") })]));
  if (single) labels.push(element("label", {}, [element("input", { type: "radio", name: "choice", value: "", checked: true }), say("allMeanings")]));
  const { promise, resolve, reject } = Promise.withResolvers();
  const form = element("form", { className: "decision" }, [
    element("fieldset", {}, [element("legend", { textContent: question(name, args, description) }), ...labels]),
    element("div", { className: "row" }, [
      element("button", { className: "main", textContent: say("proceed") }),
      ...(allowed.includes("reject") ? [button(say(name === "approve_sources" ? "noneOfThem" : "withoutModel"), () => resolve({ type: "reject" }))] : []),
    ]),
  ]);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = inputs.filter(({ checked }) => checked).map(({ value }) => value);
    const all = single ? !chosen.length : chosen.length === inputs.length;
    if (all) resolve({ type: "approve" });
    else if (chosen.length) resolve({ type: "edit", edited_action: { name, args: { choice: chosen.join(", ") } } });
    else if (allowed.includes("reject")) resolve({ type: "reject" });
  });
  signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")), { once: true });
  place.replaceChildren(...place.querySelectorAll("p.note"), form); // the cost of a report stays visible
  form.querySelector("input:checked, button").focus();
  return promise.finally(() => form.remove());
}

/** Create a box that checks all others, or none. */
function ofAll(inputs) {
  const all = element("input", { type: "checkbox", checked: true });
  all.addEventListener("change", () => { for (const one of inputs) one.checked = all.checked; });
  for (const one of inputs) one.addEventListener("change", () => { all.checked = inputs.every(({ checked }) => checked); });
  return all;
}

/** Return the text of each option: the lines of the description that begin with its number. */
function texts(options, description) {
  const lines = new Map(description.split("\n").map((line) => line.match(/^(\d+)\. (.*)$/)).filter(Boolean).map(([, number, text]) => [Number(number), text]));
  return options.map((option, index) => lines.get(index + 1) ?? option);
}

function question(name, args, description) {
  if (name === "choose_meaning") return say("whichMeaning", args.name);
  if (name === "approve_cost") return say("answerCost", args.tokens.toLocaleString(document.documentElement.lang));
  if (name === "approve_plan") return say("reportPlan", args.tokens.toLocaleString(document.documentElement.lang));
  return name === "approve_sources" ? say("fromPassages") : description;
}
