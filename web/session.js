// Which project is open, and the lattice that answers for it.

import { ask } from "./api.js";
import { changeProject, on, startWish, state, tell, writeAddress } from "./store.js";
import { OF_SIZES, criteriaOf, criterionOf } from "./words.js";

/**
 * Opens a project that the server knows.
 * @param {import("./store.js").Project} project
 * @param {{isSameTable?: boolean}} how with other roles or hierarchies, what was wished for stays
 */
export async function openProject(project, { isSameTable = false } = {}) {
  isKept = isSameTable;
  if (isSameTable) changeProject(project);
  else {
    state.project = project;
    state.wish = {};
  }
  forget();
  writeAddress();
  tell("project");
}

/** Whether the next lattice is one of the same table. */
let isKept = false;

function forget() {
  state.lattice = null;
  state.answer = null;
  state.around = null;
  state.chosen = null;
}

// Undo went to other roles, or another hierarchy.
on("returned", () => {
  isKept = true;
  forget();
  tell("project");
});

/** Annotates the lattice if that has not been done, and begins with the project's standing wish. */
export async function needLattice(onProgress) {
  if (state.lattice) return state.lattice;
  const project = state.project;
  const lattice = await ask("/annotate", { project: project.id }, onProgress);
  if (state.project !== project) return null;
  state.lattice = lattice;
  const hasWish = Object.keys(state.wish).length > 0;
  const wish = fitting(hasWish ? state.wish : standingWish(project.document.request ?? {}), lattice);
  const first = hasWish || project.is_saved ? wish : await showingTheIdea(wish, lattice);
  if (state.project !== project) return null;
  startWish(first, !isKept);
  isKept = true;
  return lattice;
}

/**
 * A first wish of a table that nobody has wished anything about: one that cannot all be had, so that there are three
 * offers to choose from. The levels are halved until that is so; where nothing shows it, the wish stays as it is.
 */
async function showingTheIdea(wish, lattice) {
  let second = null;
  for (const share of [0.5, 0.34, 0.2, 0]) {
    const levels = lattice.attributes.map(({ attribute, levels }) => [attribute, Math.floor((levels.length - 1) * share)]);
    const tried = { ...wish, max_level: Object.fromEntries(levels) };
    const answer = await ask("/negotiate", { project: state.project.id, request: tried }).catch(() => null);
    if (answer?.outcome !== "offers") continue;
    if (answer.offers.height && answer.offers.privacy) return tried;
    second ??= tried;
  }
  return second ?? wish;
}

/** The wish that the project file names, in the words of a request. */
function standingWish(request) {
  const wish = {};
  for (const [key, value] of Object.entries(request)) {
    if (["max_suppressed", "max_level", "best_by"].includes(key)) wish[key] = value;
    else if (key === "recursive" && Array.isArray(value)) wish[key] = { c: value[0], l: value[1] };
    else if (value && typeof value === "object" && key !== "recursive") {
      for (const [attribute, of] of Object.entries(value)) wish[`${attribute}:${key}`] = of;
    } else wish[key] = value;
  }
  return wish;
}

/** A wish in whole numbers that this lattice can be asked for. */
function fitting(wish, lattice) {
  const fitted = { ...wish };
  const lost = fitted.max_suppressed ?? "1%";
  const share = typeof lost === "string" && lost.trim().endsWith("%") ? parseFloat(lost) / 100 : null;
  const n = share === null ? Number(lost) : Math.floor(share * lattice.n_records * (1 + 1e-12) + 1e-9);
  fitted.max_suppressed = Math.min(Math.max(0, Math.trunc(n) || 0), lattice.n_records);
  const wished = fitted.max_level ?? {};
  fitted.max_level = Object.fromEntries(lattice.attributes.map(({ attribute, levels }) => {
    const level = Number(wished[attribute] ?? levels.length - 1);
    return [attribute, Math.min(Math.max(0, level || 0), levels.length - 1)];
  }));
  // What was promised of an attribute that is no longer sensitive cannot be.
  const sensitive = Object.entries(state.project.document.attributes ?? {}).filter(([, about]) => about.role === "sensitive").map(([name]) => name);
  for (const key of criteriaOf(fitted)) {
    const [attribute, name] = criterionOf(key);
    if (!OF_SIZES.includes(name) && (attribute ? !sensitive.includes(attribute) : sensitive.length === 0)) delete fitted[key];
  }
  if (fitted.max_loss) fitted.max_loss = Object.fromEntries(Object.entries(fitted.max_loss).filter(([name]) => name === "*" || name in fitted.max_level));
  if (criteriaOf(fitted).length === 0) fitted.k = 5;
  return fitted;
}
