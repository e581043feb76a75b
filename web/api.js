// How the page talks to the server: every question carries its whole request, long work is waited for as a job.

/** What went wrong, with where and what to do. */
export class Problem extends Error {
  /** @param {{detail?: string, title?: string, status?: number, position?: string | null, hint?: string | null}} document */
  constructor(document) {
    super(document.detail ?? document.title ?? "the server did not answer");
    this.status = document.status ?? 0;
    this.position = document.position ?? null;
    this.hint = document.hint ?? null;
  }
}

const KEY = "incrowd-key";

// A tab that has the key gives it to others of the same browser; nothing of it is written down.
const tabs = typeof BroadcastChannel === "undefined" ? null : new BroadcastChannel("incrowd-key");
tabs?.addEventListener("message", ({ data }) => {
  const key = sessionStorage.getItem(KEY);
  if (data === "who has the key?" && key !== null) tabs.postMessage({ key });
});

/** Asks the other tabs for the key; whether one had it. */
export function askTabs() {
  return new Promise((resolve) => {
    if (!tabs) return resolve(false);
    const done = (found) => { clearTimeout(timer); tabs.removeEventListener("message", hear); resolve(found); };
    const hear = ({ data }) => { if (typeof data?.key === "string") { sessionStorage.setItem(KEY, data.key); done(true); } };
    const timer = setTimeout(() => done(false), 400);
    tabs.addEventListener("message", hear);
    tabs.postMessage("who has the key?");
  });
}

/** Takes the key out of the address, so that it is not copied along with it. @returns {boolean} whether there is one */
export function takeKey() {
  const found = location.hash.match(/(?:^#|&)key=([^&]+)/);
  if (found) {
    sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
    const rest = location.hash.replace(/&?key=[^&]+/, "").replace(/^#&/, "#");
    history.replaceState(null, "", location.pathname + (rest === "#" ? "" : rest));
  }
  return sessionStorage.getItem(KEY) !== null;
}

/** @param {string} text a key, or the address that holds it */
export function setKey(text) {
  sessionStorage.setItem(KEY, text.trim().replace(/^.*key=/, ""));
}

async function send(method, path, body, headers = {}, signal = undefined) {
  let response;
  try {
    const key = sessionStorage.getItem(KEY) ?? "";
    response = await fetch("/api/v1" + path, {
      method, body, signal, headers: { "Authorization": `Bearer ${key}`, ...headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ detail: "the server cannot be reached", hint: "is incrowd serve still running?" });
  }
  if (response.ok) return response;
  throw new Problem(await response.json().catch(() => ({ title: response.statusText, status: response.status })));
}

export const get = async (path) => (await send("GET", path)).json();

/** One question, one answer; 202 means that a job has to end first. */
async function post(path, body, signal) {
  const response = await send("POST", path, JSON.stringify(body), { "Content-Type": "application/json" }, signal);
  return { isWaiting: response.status === 202, body: await response.json() };
}

/**
 * Asks, waits for the job that has to end first if there is one, and asks again.
 * @param {(job: any) => void} [onProgress]
 */
export async function ask(path, body, onProgress = () => {}, signal = undefined) {
  for (;;) {
    const answer = await post(path, body, signal);
    if (!answer.isWaiting) return answer.body;
    await wait(answer.body.job.id, onProgress);
  }
}

/** Starts work and waits for its result. */
export async function work(path, body, onProgress = () => {}) {
  for (;;) {
    const answer = await post(path, body);
    const job = answer.body.job;
    onProgress(job);
    const result = await wait(job.id, onProgress);
    // Publishing may have to count or annotate first; then it asks to be asked again.
    if (!["count", "annotate"].includes(job.kind)) return { id: job.id, result };
  }
}

/** Follows a job's events until it is over. */
async function wait(id, onProgress) {
  const response = await send("GET", `/jobs/${id}/events`);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = event.split("\n").find((line) => line.startsWith("data: "));
      if (!data) continue;
      const job = JSON.parse(data.slice(6));
      onProgress(job);
      if (job.state === "done") return job.result;
      if (job.state === "failed") throw new Problem(job.problem);
      if (job.state === "cancelled") throw new Problem({ detail: "it was cancelled" });
    }
  }
  throw new Problem({ detail: "the server went away", hint: "is incrowd serve still running?" });
}

/**
 * Hears events until it is told to stop; a connection that ends is made again.
 * @param {(data: any) => void} onEvent @param {AbortSignal} signal
 */
export async function listen(path, onEvent, signal) {
  while (!signal.aborted) {
    try {
      const response = await send("GET", path, undefined, { "Accept": "text/event-stream" }, signal);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        const events = (text + value).split("\n\n");
        text = events.pop() ?? "";
        for (const event of events) {
          const data = event.split("\n").find((line) => line.startsWith("data: "));
          if (data) onEvent(JSON.parse(data.slice(6)));
        }
      }
    } catch (problem) {
      // Who is refused is refused for good.
      if (signal.aborted || problem.status >= 400 && problem.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Ends a search with the best that it has found. */
export const enough = (id) => send("POST", `/jobs/${id}/enough`);

export const cancel = (id) => send("DELETE", `/jobs/${id}`);

/**
 * @param {string} path @param {Blob} file
 * @param {(nDone: number, nAll: number) => void} onProgress
 */
export function upload(path, file, replace, onProgress) {
  // Only the older way says how much has gone out.
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `/api/v1/files?path=${encodeURIComponent(path)}&replace=${replace}`);
    request.setRequestHeader("Authorization", `Bearer ${sessionStorage.getItem(KEY) ?? ""}`);
    request.upload.onprogress = (event) => onProgress(event.loaded, event.total);
    request.onerror = () => reject(new Problem({ detail: "the upload was cut off", hint: "the file may be larger than this server takes" }));
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { /* then its status says it */ }
      if (request.status < 300) resolve(answer);
      else reject(new Problem({ title: request.statusText, status: request.status, ...answer }));
    };
    request.send(file);
  });
}

/** Saves a published file through the browser. */
export async function download(path, name) {
  saveAs(await (await send("GET", path)).blob(), name);
}

/** Hands something to the browser to keep. */
export function saveAs(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
