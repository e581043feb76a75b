// What the page knows, and who wants to hear about it. A wish can be taken back, and stands in the address.

import { CRITERIA, criterionOf } from "./words.js";

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
  /** @type {string | null} where one sits, while several desks negotiate */ desk: null,
  screen: "data",
  /** @type {string | null} what a link named and this server does not know */ missing: null,
};

/** Whose key opened the page: guests negotiate and compare, and nothing else. */
/** Whether the table that is open is the made-up one; a table of one's own can be opened beside it. */
export const isMadeUp = () => Boolean(state.about?.is_demo && state.project?.document?.data?.path === state.about.project?.document?.data?.path);

export const isGuest = () => state.about?.role === "guest";

/** What a guest may not ask below, by criterion; nothing for the curator. @param {string} key */
export function floorOf(key) {
  if (!isGuest()) return null;
  const { policy = {}, request = {} } = state.project?.document ?? {};
  const has = policy.min_k !== undefined || policy.min_l !== undefined;
  const [attribute, name] = key.includes(":") ? [key.slice(0, key.lastIndexOf(":")), key.slice(key.lastIndexOf(":") + 1)] : [null, key];
  const said = has ? { k: policy.min_k, l: policy.min_l }[name] : ["k", "l"].includes(name) ? request[name] : undefined;
  const least = said && typeof said === "object" ? said[attribute] ?? Object.values(said)[0] : said;
  return Number.isFinite(Number(least)) && least !== undefined ? Number(least) : null;
}

/** Whether a guest finds a wish locked: a criterion, max_suppressed, best_by, or an attribute whose level it is. */
export const isLocked = (name) => (isGuest() && Boolean(state.project?.document?.policy?.locked?.includes(name)))
  || (state.desk !== null && deskOf(name) !== state.desk);

/** Whose wish it is: a criterion, max_suppressed, best_by, or an attribute whose level it is. */
export function deskOf(name) {
  if (name === "max_suppressed") return "curator";
  return criterionOf(name)[1] in CRITERIA ? "officer" : "analyst";
}

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
    if (settled && JSON.stringify(settled.wish) !== JSON.stringify(wish)) remember();
    settled = { project: state.project, wish: structuredClone(wish) };
  }
  state.wish = wish;
  if (!isPassing) writeAddress();
  tell("wish");
  if (!isPassing) tell("settled");
}

/** Where one is: what can be returned to. @type {{project: Project | null, wish: Wish} | null} */
let settled = null;

function remember() {
  if (settled) past.push(settled);
  if (past.length > 200) past.shift();
  future.length = 0;
}

/** Goes on with other roles or another hierarchy of the same table, which can be taken back as a wish can. */
export function changeProject(project) {
  settled ??= { project: state.project, wish: structuredClone(state.wish) };
  remember();
  settled = { project, wish: structuredClone(state.wish) };
  state.project = project;
}

/** Begins a wish: nothing is remembered of another table. @param {boolean} isNew */
export function startWish(wish, isNew = true) {
  if (isNew) {
    past.length = 0;
    future.length = 0;
  }
  settled = { project: state.project, wish: structuredClone(wish) };
  state.wish = wish;
  writeAddress();
  tell("wish");
}

export const canUndo = () => past.length > 0;
export const canRedo = () => future.length > 0;

export const undo = () => move(past, future);
export const redo = () => move(future, past);

function move(from, to) {
  const place = from.pop();
  if (!place) return;
  if (settled) to.push(settled);
  settled = structuredClone(place);
  state.wish = place.wish;
  const isOther = place.project?.id !== state.project?.id;
  if (isOther) state.project = place.project;
  writeAddress();
  tell(isOther ? "returned" : "wish");
}

// ── The address ──

/** Everything that a link needs to show the same thing: the screen, the project, the request. */
export function writeAddress(isStep = false) {
  const next = address();
  // A step that leads where one is would only have to be taken back twice.
  if (isStep && location.hash !== next) history.pushState(null, "", next);
  else history.replaceState(null, "", next);
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
