// What a hierarchy that is being made would do to the answer, before it is used.

import { ask } from "./api.js";
import { state } from "./store.js";
import { criteriaOf, grouped, levelsWish, percent } from "./words.js";

/** The answer before, by the project and the wish that it is about. @type {{key: string, answer: any} | null} */ let before = null;

/**
 * "With the wishes as they are: detail lost 56 % → 41 %, records lost 31 → 12"; nothing where nothing has been wished for.
 * @param {string} name of the attribute @param {any} rule
 */
export async function effect(name, rule) {
  if (!state.lattice || criteriaOf(state.wish).length === 0) return null;
  const project = state.project;
  // Levels of another hierarchy mean something else: this attribute may be as coarse as need be, in both.
  const { max_level: { [name]: _, ...levels } = {}, ...wish } = levelsWish(state.wish);
  const request = { ...wish, max_level: levels };
  const key = JSON.stringify([project.id, request]);
  if (before?.key !== key) before = { key, answer: await ask("/negotiate", { project: project.id, request }) };
  const document = structuredClone(project.document);
  if (rule === undefined) delete document.attributes[name].hierarchy;
  else document.attributes[name].hierarchy = rule;
  const edited = await ask("/projects", { document, base: project.id });
  const after = await ask("/negotiate", { project: edited.id, request });
  const [old, now] = [best(before.answer), best(after)];
  if (state.project !== project || !old || !now) return null;
  return `With the wishes as they are, ${name} as coarse as need be: detail lost ${percent(old.loss.ncp)} → ${percent(now.loss.ncp)}, records lost ${grouped(old.n_suppressed)} → ${grouped(now.n_suppressed)}.`;
}

const best = (answer) => answer.exact ?? answer.offers?.suppression;
