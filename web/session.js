// Which project is open, and the lattice that answers for it.

import { ask } from "./api.js";
import { startWish, state, tell, writeAddress } from "./store.js";
import { criteriaOf } from "./words.js";

/** Opens a project that the server knows. @param {import("./store.js").Project} project */
export async function openProject(project, { keepsWish = false } = {}) {
  state.project = project;
  state.lattice = null;
  state.answer = null;
  state.around = null;
  state.chosen = null;
  if (!keepsWish) state.wish = {};
  writeAddress();
  tell("project");
}

/** Annotates the lattice if that has not been done, and begins with the project's standing wish. */
export async function needLattice(onProgress) {
  if (state.lattice) return state.lattice;
  const project = state.project;
  const lattice = await ask("/annotate", { project: project.id }, onProgress);
  if (state.project !== project) return null;
  state.lattice = lattice;
  const hasWish = Object.keys(state.wish).length > 0;
  startWish(fitting(hasWish ? state.wish : standingWish(project.document.request ?? {}), lattice));
  return lattice;
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
  if (criteriaOf(fitted).length === 0) fitted.k = 5;
  return fitted;
}
