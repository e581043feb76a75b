// Several desks, one negotiation: everybody moves their own knobs, all see who moved what, and all have to agree.

import { ask, listen } from "./api.js";
import { h, problemBox, put, say } from "./dom.js";
import { deskOf, go, isGuest, on, startWish, state, tell } from "./store.js";
import { criteriaOf, levelsWish, valued } from "./words.js";

const NAMES = { curator: "data curator", analyst: "analyst", officer: "privacy officer" };
/** What everybody at the desks sees. @type {any} */ let shared = null;
/** @type {AbortController | null} */ let hearing = null;
const box = h("section", { class: "card desks", "aria-label": "Several desks" });

/** A card that says who is at which desk; hears of every move as long as the page is open. */
export function desks() {
  if (!hearing) {
    hearing = new AbortController();
    listen("/desks/events", heard, hearing.signal);
  }
  draw();
  return box;
}

function heard(next) {
  const isNew = JSON.stringify(next) !== JSON.stringify(shared);
  shared = next;
  if (!isNew) return;
  leaveIfGone();
  if (state.desk && JSON.stringify(levelsWish(state.wish)) !== JSON.stringify(shared.request)) startWish(structuredClone(shared.request), false);
  const last = shared?.moves.at(-1);
  if (state.desk && last && last.desk !== state.desk) say(`The ${NAMES[last.desk]} moved ${last.what} to ${told(last.to)}.`);
  draw();
}

function leaveIfGone() {
  if (!state.desk || (shared && shared.project === state.project?.id)) return;
  state.desk = null;
  tell("desk");
}

const told = (value) => (value === null || value === undefined ? "nothing" : valued(value));

function draw(problem = null) {
  const isHere = shared && shared.project === state.project?.id;
  box.hidden = !state.lattice || state.wish.local || (!isHere && isGuest());
  if (box.hidden) return;
  if (!isHere) {
    box.className = "desks quiet";
    return put(box, h("button", {
      title: "curator, analyst and officer at three desks: each moves their own knobs, all see it; give the guest’s address to two of them",
      onclick: () => doing("/desks/begin", { request: levelsWish(state.wish) }, "curator"),
    }, "Negotiate at three desks"), problem && problemBox(problem));
  }
  box.className = "card desks";
  const seats = Object.keys(NAMES).filter((desk) => !(desk === "curator" && isGuest()));
  const agreed = (desk) => shared.agreed.includes(desk);
  put(box,
    h("div", { class: "row" },
      h("h2", {}, state.desk ? `You sit at the desk of the ${NAMES[state.desk]}` : "A negotiation at several desks is under way"),
      state.desk ? h("button", { class: "plain", onclick: () => sit(null) }, "Leave it") : seats.map((desk) => h("button", { class: desk, onclick: () => sit(desk) }, `Sit down as ${NAMES[desk]}`))),
    h("ol", { class: "moves", "aria-label": "Who moved what" }, shared.moves.length === 0 ? h("li", {}, "Nobody has moved yet.") : shared.moves.slice(-6).map((one) =>
      h("li", {}, h("b", { class: one.desk }, NAMES[one.desk]), ` ${one.what}: ${told(one.from)} → `, h("b", {}, told(one.to))))),
    h("div", { class: "row agreed" }, Object.keys(NAMES).map((desk) => h("span", { class: agreed(desk) ? `chip on ${desk}` : `chip ${desk}` }, `${agreed(desk) ? "✓ " : ""}${NAMES[desk]}${agreed(desk) ? " agrees" : ""}`)),
      state.desk && !agreed(state.desk) ? h("button", { class: "primary", onclick: () => doing("/desks/agree", { desk: state.desk, version: shared.version }) }, "I agree to this") : null,
      shared.is_agreed && !isGuest() ? h("button", { class: "primary", onclick: publish }, "All agree: review and publish") : null),
    problem && problemBox(problem));
}

function sit(desk) {
  state.desk = desk;
  tell("desk");
  if (desk) startWish(structuredClone(shared.request), false);
  else startWish(structuredClone(state.wish), false);
  draw();
}

function publish() {
  const choice = state.answer?.outcome === "exact" ? "exact" : "suppression";
  state.wish = structuredClone(shared.request);
  state.chosen = { choice, shared: true };
  go("publish");
}

async function doing(path, question, desk = state.desk) {
  try {
    const { desks: next } = await ask(path, { project: state.project.id, ...question });
    shared = next;
    if (state.desk !== desk) {
      state.desk = desk;
      tell("desk");
    }
    draw();
    return true;
  } catch (problem) {
    draw(problem);
    return false;
  }
}

/** What of a wish is this desk's and is not yet known to the others. */
export function changeOf(desk, before, after) {
  const change = {};
  for (const key of new Set([...criteriaOf(before), ...criteriaOf(after), "max_suppressed", "best_by"])) {
    if (deskOf(key) === desk && JSON.stringify(before[key]) !== JSON.stringify(after[key])) change[key] = after[key] ?? null;
  }
  if (desk === "analyst") {
    const levels = Object.entries(after.max_level ?? {}).filter(([name, level]) => before.max_level?.[name] !== level);
    if (levels.length > 0) change.max_level = Object.fromEntries(levels);
  }
  return change;
}

on("settled", async () => {
  if (!state.desk || !shared) return;
  const change = changeOf(state.desk, shared.request, levelsWish(state.wish));
  if (Object.keys(change).length > 0) await doing("/desks/move", { desk: state.desk, change });
  // What is somebody else's wish stays as it is; so does one's own where it was refused.
  if (state.desk && JSON.stringify(levelsWish(state.wish)) !== JSON.stringify(shared.request)) startWish(structuredClone(shared.request), false);
});
on("project", () => { leaveIfGone(); draw(); });
