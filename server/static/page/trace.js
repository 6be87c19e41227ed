// What was done when, as bars.

import { element } from "./dom.js";
import { say } from "./words.js";

/** A bar for each step of `trace` (`debug` of POST /api/query), to the answer's end at `total` ms. */
export function bars(trace, total) {
  const steps = trace.filter(({ event }) => event === "status");
  return element("ol", { className: "trace plain" }, steps.map((step, index) => {
    const end = steps[index + 1]?.ms ?? total;
    const bar = element("span", { className: "bar" });
    bar.style.marginInlineStart = `${(100 * step.ms) / total}%`;
    bar.style.width = `${(100 * (end - step.ms)) / total}%`;
    const name = [say(step.node) ?? step.node, step.attempt ? `${step.attempt + 1}.` : "", step.detail].filter(Boolean).join(" ");
    return element("li", {}, [
      element("span", { textContent: name }), element("span", { className: "rail", ariaHidden: "true" }, [bar]),
      element("span", { className: "number", textContent: say("milliseconds", Math.round(end - step.ms)) }),
    ]);
  }));
}
