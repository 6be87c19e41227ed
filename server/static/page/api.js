// Talking to the server: requests with the caller's key, problems as errors, streams as events.

import { say } from "./words.js";

const login = document.getElementById("login");

/** What the server says went wrong, in its own words. */
export class Problem extends Error {
  constructor(body, status) {
    super([body.detail, body.nextStep].filter(Boolean).join(" ") || `HTTP ${status}`);
    this.status = status;
  }
}

/** Send a request; returns the response, or throws a Problem. */
export async function send(path, options = {}) {
  const key = sessionStorage.getItem("key");
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Problem({ detail: say("lost") }, 0);
  }
  login.hidden = response.status !== 401;
  if (!response.ok) throw new Problem(await response.json().catch(() => ({})), response.status);
  return response;
}

/** Send JSON. */
export function post(path, body, options = {}) {
  return send(path, {
    ...options, method: "POST", body: JSON.stringify(body),
    headers: { ...options.headers, "Content-Type": "application/json" },
  });
}

/** The events of a stream (WHATWG HTML, 9.2.6), as they come: `{type, data}`. */
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (waiting + value).split(/\r?\n\r?\n/);
    waiting = blocks.pop();
    for (const block of blocks) {
      const fields = block.split(/\r?\n/).map((line) => line.match(/^(\w+): ?(.*)$/)).filter(Boolean);
      const data = fields.filter(([, name]) => name === "data").map(([, , text]) => text).join("\n");
      const type = fields.find(([, name]) => name === "event")?.[2] ?? "message";
      if (data) yield { type, data: JSON.parse(data) };
    }
  }
}
