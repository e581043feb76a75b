// What the page knows, and who wants to hear about it. A wish can be taken back, and stands in the address.

/**
 * @typedef {Record<string, any>} Wish criteria by name, max_suppressed, max_level, best_by
 * @typedef {{id: string, document: any, file_exists: boolean, is_saved: boolean}} Project
 */

export const state = {
  /** @type {any} */ about: null,
  /** @type {Project | null} */ project: null,
  /** @type {any} what the lattice looks like; null until it is annotated */ lattice: null,
  /** @type {Wish} */ wish: {},
  /** @type {any} */ answer: null,
  /** @type {any} */ around: null,
  /** @type {{choice: string, levels?: any} | null} what will be published */ chosen: null,
  screen: "data",
};

const listeners = new Map();

/** Calls back whenever something of this name has changed. */
export function on(name, listener) {
  listeners.set(name, [...(listeners.get(name) ?? []), listener]);
}

export function tell(name) {
  for (const listener of listeners.get(name) ?? []) listener();
}

/** Shows another screen. */
export function go(screen) {
  state.screen = screen;
  tell("screen");
}

// ── Wishes, and taking them back ──

const past = [];
const future = [];

/**
 * Wishes for something else.
 * @param {Wish} wish
 * @param {boolean} isPassing while a knob is being moved; only where it comes to rest can be returned to
 */
export function setWish(wish, isPassing = false) {
  if (!isPassing) {
    const before = settled;
    if (JSON.stringify(before) !== JSON.stringify(wish)) {
      if (before) past.push(before);
      if (past.length > 200) past.shift();
      future.length = 0;
    }
    settled = structuredClone(wish);
  }
  state.wish = wish;
  if (!isPassing) writeAddress();
  tell("wish");
}

/** @type {Wish | null} */
let settled = null;

/** Forgets what was wished for another table. */
export function startWish(wish) {
  past.length = 0;
  future.length = 0;
  settled = structuredClone(wish);
  state.wish = wish;
  writeAddress();
  tell("wish");
}

export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

export const undo = () => move(past, future);
export const redo = () => move(future, past);

function move(from, to) {
  const wish = from.pop();
  if (!wish) return;
  if (settled) to.push(settled);
  settled = structuredClone(wish);
  state.wish = wish;
  writeAddress();
  tell("wish");
}

// ── The address ──

/** Everything that a link needs to show the same thing: the screen, the project, the request. */
export function writeAddress() {
  history.replaceState(null, "", address());
}

export function address() {
  const parts = [state.screen];
  if (state.project) parts.push("project=" + state.project.id);
  if (Object.keys(state.wish).length > 0) parts.push("request=" + encodeURIComponent(JSON.stringify(state.wish)));
  return "#" + parts.join("&");
}

/** @returns {{screen: string | null, project: string | null, wish: Wish | null}} */
export function readAddress() {
  const [screen, ...parts] = location.hash.replace(/^#/, "").split("&");
  const named = new Map(parts.map((part) => [part.split("=")[0], part.slice(part.indexOf("=") + 1)]));
  let wish = null;
  try {
    const read = JSON.parse(decodeURIComponent(named.get("request") ?? "null"));
    if (read && typeof read === "object" && !Array.isArray(read)) wish = read;
  } catch { /* a link that was cut off asks for nothing */ }
  return { screen: screen || null, project: named.get("project") ?? null, wish };
}
