// Talks to the server: requests with the user's key, problems as errors, streams as events.

import { say, told } from "./words.js";

// Seconds before each attempt to resume a broken stream; the server keeps it for 60 (docs/streaming.md).
const WAITS = [0.5, 1, 2, 4, 8];
const TRY_LATER = new Set([429, 503]);

/** The reason for no longer reading an answer that continues: the user opened another conversation. */
export const LEFT = "left";

/** A problem document of the server: what went wrong, and what to do about it. */
export class Problem extends Error {
  constructor(body, status = 0, retryAfter = 0) {
    const later = TRY_LATER.has(status) ? say("later", retryAfter || 5) : status === 403 ? say("forbidden") : "";
    const large = status === 413 && say("tooLarge");
    const detail = body.detail || `HTTP ${status}.`;
    const server = [detail, body.nextStep].filter(Boolean).join(detail.endsWith("。") ? "" : " ");
    super(body.code === "graph_not_found" ? say("noDocuments") : [large, told(body.code, server), later].filter(Boolean).join(" "));
    this.status = status;
    this.code = body.code ?? "";
    this.field = body.field ?? "";
  }
}

/** Send a request and return the response, or throw a Problem. A 401 also dispatches `signedOut` on the document. */
export async function send(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { "Accept-Language": document.documentElement.lang, ...options.headers, ...credentials() } });
  } catch (error) {
    throw error.name === "AbortError" ? error : new Problem({ detail: say("lost") });
  }
  if (response.ok) return response;
  const body = await response.json().catch(() => ({}));
  throw refused(body, response.status, Number(response.headers.get("Retry-After")));
}

/** Send a GET request and return its JSON. */
export async function get(path, asked = {}) {
  const query = new URLSearchParams(Object.entries(asked).filter(([, value]) => value != null));
  return (await send(`${path}?${query}`)).json();
}

/** Run `action`; try again a few times while the server cannot be reached or is busy. */
export async function retried(action) {
  for (let tries = 0; ; tries++) {
    try {
      return await action();
    } catch (error) {
      if (error.status && !TRY_LATER.has(error.status)) throw error;
      if (tries === WAITS.length) throw error instanceof Problem ? error : new Problem({ detail: say("lost") });
    }
    await wait(WAITS[tries]);
  }
}

/** Post JSON, or bytes of another `type`. */
export function post(path, body, { type = "", ...options } = {}) {
  return send(path, {
    ...options, method: "POST", body: type ? body : JSON.stringify(body),
    headers: { ...options.headers, "Content-Type": type || "application/json" },
  });
}

/** Send a form; `progress` is called with the share that is sent, 0 to 1, which fetch does not report. */
export function upload(path, form, progress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    for (const [name, value] of Object.entries(credentials())) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => progress(total ? loaded / total : 0);
    request.onerror = () => reject(new Problem({ detail: say("cutOff") }));
    request.onload = () => {
      if (request.status < 300) resolve(request.response);
      else reject(refused(request.response ?? {}, request.status, Number(request.getResponseHeader("Retry-After"))));
    };
    request.send(form);
  });
}

/**
 * Yield the events of an answer up to its `done` or `error`; a broken connection is resumed where it ended.
 * Aborting `signal` stops the answer on the server, too. With the reason `LEFT`, or when the page is closed, that happens only
 * outside a conversation; otherwise the answer continues. `begun` is called with the address at which it can be resumed.
 */
export async function* answered(body, signal, broken, begun = (_place) => {}, path = "api/query") {
  const response = await post(path, { ...body, stream: true, ...(path === "api/query" ? { resume: true } : {}) });
  const place = (response.headers.get("Content-Location") ?? "").replace(/^\//, "");
  begun(place);
  const end = () => ended(place);
  if (!body.threadId) addEventListener("pagehide", end);
  try {
    yield* takenUp(response, place, signal, broken);
  } finally {
    removeEventListener("pagehide", end);
    if (signal.reason === LEFT && !body.threadId) end();
  }
}

/** Yield the events of an answer that already runs: `response` has them from the first on. */
export async function* takenUp(response, place, signal, broken) {
  try {
    let last = "";
    for (let tries = 0; ;) {
      try {
        for await (const event of events(response, signal)) {
          [last, tries] = [event.id, 0];
          yield event;
          if (["done", "error", "interrupt"].includes(event.type)) return;
        }
      } catch (error) {
        if (signal.aborted || error instanceof Problem) throw error;
      }
      if (tries === WAITS.length) throw new Problem({ detail: say("broke") });
      broken();
      await wait(WAITS[tries++], signal);
      signal.throwIfAborted();
      const headers = last ? { "Last-Event-ID": last } : {};
      response = await send(place, { headers, signal }).catch((error) => {
        if (error.status || signal.aborted) throw error;
        return null; // still unreachable
      });
    }
  } finally {
    if (signal.aborted && signal.reason !== LEFT) await ended(place);
  }
}

/** Stop an answer on the server. */
export const ended = (place) => send(place.replace(/\/events$/, ""), { method: "DELETE", keepalive: true }).catch(() => {});

/** Yield the events of a stream (WHATWG HTML, 9.2.6) as they arrive: `{id, type, data}`. */
export async function* events(response, signal = new AbortController().signal) {
  if (!response) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const cancel = () => reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel);
  try {
    let waiting = "";
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      const blocks = (waiting + value).split(/\r?\n\r?\n/);
      waiting = blocks.pop();
      for (const one of blocks.map(event).filter(({ data }) => data !== undefined)) {
        yield one;
        signal.throwIfAborted(); // events that arrived in the same chunk are no longer wanted
      }
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

function event(block) {
  const fields = block.split(/\r?\n/).map((line) => line.match(/^(\w+): ?(.*)$/)).filter(Boolean);
  const value = (name) => fields.filter((field) => field[1] === name).map((field) => field[2]);
  const data = value("data").join("\n");
  return { id: value("id")[0] ?? "", type: value("event")[0] ?? "message", data: data ? JSON.parse(data) : undefined };
}

function wait(seconds, signal) {
  return new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", resolve, { once: true });
  });
}

function credentials() {
  const key = sessionStorage.getItem("key") ?? "";
  return /^[!-~]+$/.test(key) ? { Authorization: `Bearer ${key}` } : {}; // a header allows no other characters
}

function refused(body, status, retryAfter) {
  if (status !== 401) return new Problem(body, status, retryAfter);
  document.dispatchEvent(new Event("signedOut"));
  return new Problem({ ...body, detail: say("badKey"), nextStep: "" }, status);
}
