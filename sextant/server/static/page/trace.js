// Shows when each step ran, as bars: one line for all steps, and a row for each.

import { element } from "./dom.js";
import { nameOf, say } from "./words.js";

// Keys of a retrieval's `timings` that are not lanes.
const NO_LANES = ["total", "fusion", "texts"];
// Lanes over the index; within them, vector, keyword and graph search run one after the other.
const OVER_INDEX = ["mix", "local", "global", "reports"];
const WITHIN = ["vector", "keyword", "walk"];

/** Show the steps of `trace` (`debug` of POST /api/query) up to the answer's end at `total` ms; a search shows its lanes. */
function steps(trace, total) {
  const begun = trace.filter(({ event }) => event === "status");
  return begun.map((step, index) => {
    const end = begun[index + 1]?.ms ?? total;
    const told = trace.find(({ event, ms }) => event === "retrieval" && ms >= step.ms && ms <= end);
    const name = [nameOf(step.node), step.attempt ? `#${step.attempt + 1}` : "", step.detail].filter(Boolean).join(" ");
    return { node: step.node, name, from: step.ms, end, found: told?.count, lanes: lanes(told) };
  });
}

/** Return when each lane of a retrieval ran: lanes begin together, parts of a lane follow each other, the reranker is last. */
function lanes(told) {
  const timings = told?.timings ?? {};
  const parts = OVER_INDEX.some((lane) => lane in timings) ? WITHIN : [];
  let done = told?.ms - timings.total; // the parts so far
  return Object.entries(timings).filter(([lane]) => !NO_LANES.includes(lane)).map(([lane, took]) => {
    const from = parts.includes(lane) ? done : told.ms - (lane === "rerank" ? took : timings.total);
    if (parts.includes(lane)) done += took;
    return { name: say("lanes")[lane] ?? lane, from, end: from + took };
  });
}

/** Draw all steps in one line, each as wide as it took; the rows say the same in words. */
export function strip(trace, total) {
  const parts = steps(trace, total).map(({ node, name, from, end }) => {
    const part = element("span", { title: `${name}: ${took(from, end)}` });
    part.dataset.node = node;
    part.style.flexGrow = String(Math.max(end - from, total / 100));
    return part;
  });
  return element("span", { className: "strip", ariaHidden: "true" }, parts);
}

/** Add a row for each step, and below a search one for each lane. */
export function bars(trace, total) {
  return element("ol", { className: "trace plain" }, steps(trace, total).map(({ node, name, from, end, found, lanes }) => {
    const told = found === undefined ? name : say("stepFound", name, say("passages", found));
    return element("li", {}, [row(told, from, end, total, node), ...lanes.map((lane) => row(lane.name, lane.from, lane.end, total, "lane"))]);
  }));
}

function row(name, from, end, total, node) {
  const bar = element("span", { className: "bar" });
  bar.dataset.node = node;
  bar.style.marginInlineStart = `${Math.min(99.5, Math.max(0, (100 * from) / total))}%`;
  bar.style.width = `${(100 * (end - from)) / total}%`;
  return element("div", { className: node === "lane" ? "lane" : "" }, [
    element("span", { textContent: name }), element("span", { className: "rail", ariaHidden: "true" }, [bar]),
    element("span", { className: "number", textContent: took(from, end) }),
  ]);
}

const took = (from, end) => say("milliseconds", Math.round(end - from));
