// What a newcomer decides before the first answer means something: a short list, and how much of it is done.

import { h, visible } from "./dom.js";
import { go, isMadeUp, on, state, tell } from "./store.js";
import { counted } from "./words.js";

/** @type {any} what the columns look like; null until that is known */ let profile = null;

/** Decisions hold for a table, whatever becomes of its roles meanwhile. */
const key = () => `incrowd-decided ${state.project?.document?.data?.path}`;
const decided = () => new Set(JSON.parse(sessionStorage.getItem(key()) ?? "[]"));

/** @param {string} name */
export function decide(name) {
  sessionStorage.setItem(key(), JSON.stringify([...decided().add(name)]));
  tell("guide");
}

/** Whoever wrote a project file has decided; without preview nothing is to be decided here. */
const isGuided = () => Boolean(state.project && state.about?.allows_preview && !isMadeUp() && !state.project.is_saved);

/** @param {any} seen what /profile says of the project that is open */
export function guideBy(seen) {
  profile = seen;
}

on("project", () => { if (profile && profile.data !== state.project?.document?.data?.path) profile = null; });

const withRole = (role) => Object.entries(state.project.document.attributes ?? {}).filter(([, about]) => about.role === role).map(([name]) => name);

/** Every decision: its name, the question, and where it is answered. */
function questions() {
  const [known, secret] = [withRole("quasi-identifier"), withRole("sensitive")];
  const named = Object.keys(state.project.document.attributes ?? {});
  const others = (profile?.columns ?? []).map((column) => column.name).filter((name) => !named.includes(name));
  const flat = known.filter((name) => !state.project.document.attributes[name].hierarchy);
  const list = (names, none) => (names.length > 0 ? names.map(visible).join(", ") : none);
  const repeats = (name) => {
    const column = profile?.columns.find((column) => column.name === name);
    const each = column ? profile.n_records / Math.max(1, column.n_distinct) : 1;
    return column ? `: ${counted(column.n_distinct, "value")}, ${each.toFixed(1)} records each` : "";
  };
  const who = profile?.repeating?.column ?? withRole("person")[0];
  return [
    who ? { name: "person", text: `Is ${who} a person${repeats(who)}?`, now: withRole("person").includes(who) ? "people are counted by it" : "records are counted", where: "data" } : null,
    { name: "known", text: "What may others know about a person?", now: list(known, "nothing yet"), where: "data" },
    { name: "private", text: "What must nobody learn?", now: list(secret, "nothing: only who is who is protected"), where: "data" },
    others.length > 0 ? { name: "others", text: "What is not published?", now: list(others, ""), where: "data" } : null,
    { name: "hierarchies", text: "How does each attribute get coarser?", now: flat.length === 0 ? `${counted(known.length, "hierarchy").replace(/ys$/, "ies")} proposed` : `proposed, but ${flat.map(visible).join(", ")} can only be shown or hidden`, where: "hierarchies" },
  ].filter(Boolean);
}

/** "2 of 5 decided", with what is open; nothing where there is nothing to decide. */
export function guide() {
  if (!isGuided()) return null;
  const box = h("section", { class: "card guide", "aria-label": "What must be decided" });
  fillIn(box);
  return box;
}

function fillIn(box) {
  const done = decided();
  const all = questions();
  const n = all.filter((question) => done.has(question.name)).length;
  const isOver = n === all.length;
  const row = (question) => {
    const isDone = done.has(question.name);
    return h("li", { class: isDone ? "done" : null, data: { question: question.name } },
      h("span", { class: "tick", "aria-hidden": true }, isDone ? "✓" : ""),
      h("span", {}, h("b", {}, question.text), " ", h("span", { class: "now" }, question.now)),
      isDone ? h("span", { class: "soft" }, "decided") : h("span", { class: "row" },
        question.where !== state.screen ? h("button", { class: "plain", onclick: () => go(question.where) }, "Look") : null,
        h("button", { onclick: () => decide(question.name), "aria-label": `That is right: ${question.text}` }, "That is right")));
  };
  const head = h("span", {}, h("b", {}, `${n} of ${all.length} decided`), isOver ? ": the answers are about your table as you know it." : ": what follows was guessed from names and values.");
  box.replaceChildren(h("div", { class: "guide-head" }, head, h("progress", { max: all.length, value: n, "aria-label": "decided" })),
    ...(state.screen === "data" || (state.screen === "hierarchies" && !isOver) ? [h("ul", { class: "questions" }, ...all.filter((question) => state.screen === "data" || question.where === state.screen).map(row))]
      : isOver ? [] : [h("button", { class: "plain", onclick: () => go("data") }, "See what is open")]));
}

on("guide", () => { const box = document.querySelector(".guide"); if (box) fillIn(box); });
