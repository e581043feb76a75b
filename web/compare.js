// What the methods that exist make of the same wishes: in a table, and on a map of risk and loss.

import { cancel, work } from "./api.js";
import { progressBar, scatter } from "./charts.js";
import { h, noteList, problemBox, put, svg, term } from "./dom.js";
import { takeAlong } from "./taking.js";
import { needLattice } from "./session.js";
import { go, isGuest, setWish, state } from "./store.js";
import { QUALITY_TERMS, counted, criteriaOf, decimal, grouped, percent, valued, levelsWish } from "./words.js";

/** @type {HTMLElement} */ let root;
/** Whether methods that take longer are run too. */ let withSlow = false;
/** The column that analysts want to predict, or none. */ let target = "";
/** The last result, and what it is about. @type {{key: string, result: any} | null} */ let last = null;

export function mount(element) {
  root = element;
  begin();
}

async function begin() {
  const isHere = () => state.screen === "compare";
  if (!state.project) return go("negotiate");
  try {
    await needLattice((job) => isHere() && put(root, h("div", { class: "card narrow" }, progressBar(job))));
  } catch {
    return go("negotiate");
  }
  if (!isHere()) return;
  const methods = state.about.methods.filter((method) => withSlow || !method.is_slow).map((method) => method.name);
  // Every record on its own: whoever sees values may see what that is worth.
  if (withSlow && state.about.allows_preview) methods.push("per-record:60%");
  if (target && !targets().includes(target)) target = "";
  const key = JSON.stringify([state.project.id, state.wish, methods, target]);
  const body = h("div", {});
  put(root, h("div", { class: "title" }, h("div", {}, h("h1", {}, "Compare"), h("p", { class: "lead" }, inWords(state.wish)))), body);
  if (last?.key === key) return show(body, last.result);
  try {
    const { result } = await work("/compare", { project: state.project.id, request: levelsWish(state.wish), methods, target: target || null },
      (job) => isHere() && put(body, h("div", { class: "card" }, progressBar(job, (id) => cancel(id)))));
    last = { key, result };
    if (isHere()) show(body, result);
  } catch (problem) {
    if (isHere()) put(body, h("div", { class: "card" }, problemBox(problem), h("button", { onclick: begin }, "Try again")));
  }
}

/** Whether every record is generalized on its own. */
const isOneByOne = (row) => row.method.startsWith("per-record");

/** The columns that are published, by their roles. */
function targets() {
  const attributes = Object.entries(state.project?.document?.attributes ?? {});
  return attributes.filter(([, attribute]) => ["quasi-identifier", "sensitive", "other"].includes(attribute.role)).map(([name]) => name);
}

const chooseTarget = () => h("label", { class: "target" }, "What analysts want to predict ",
  h("select", { "aria-label": "Target", onchange: (event) => { target = event.target.value; begin(); } },
    h("option", { value: "" }, "nothing"), targets().map((name) => h("option", { value: name, selected: name === target ? true : null }, name))));

const inWords = (wish) => `All at ${criteriaOf(wish).map((key) => `${key} = ${valued(wish[key])}`).join(", ")}, with at most ${counted(wish.max_suppressed, "record")} lost, within the wished levels.`;

/** What becomes of what analysts look at; nothing where the server does not tell. */
function analyses(rows) {
  const told = rows.filter((row) => row.analyses);
  if (told.length === 0) return null;
  const first = told[0].analyses.target;
  const bar = (before, after) => svg("svg", { class: "before-after", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", width: 100, height: 8 }),
    before === null ? null : svg("rect", { class: "before", width: 100 * before, height: 8 }),
    svg("rect", { class: "after", y: 2, width: 100 * after, height: 4 }));
  const line = (row) => {
    const { mean_distance: distance, most_changed: pair, target: of } = row.analyses;
    return h("tr", {}, h("th", { scope: "row" }, row.best_by ? row.title : row.method),
      h("td", { class: "n", data: { label: "distributions" } }, percent(distance), bar(null, distance)),
      h("td", { data: { label: "association" } }, pair ? h("span", {}, `${decimal(Math.round(100 * pair.before) / 100)} to ${decimal(Math.round(100 * pair.after) / 100)}`, h("small", {}, pair.attributes.join(", "))) : "–"),
      of ? h("td", { class: "n", data: { label: "regression" } }, percent(of.regression.overlap), bar(null, of.regression.overlap)) : null,
      of ? h("td", { class: "n", data: { label: `tells ${first.attribute}` } }, percent(of.accuracy.after), bar(of.accuracy.before, of.accuracy.after)) : null);
  };
  const heads = [["method", null], ["distributions", "total variation distance to the source, the mean over attributes: 0 where nothing changes"],
    ["association that changes most", "correlation of numbers, Cramér’s V of categories, correlation ratio of both"],
    ...(first ? [["regression", "mean overlap of the coefficients’ confidence intervals with the source’s"],
      [`tells ${first.attribute}`, "how often naive Bayes, learnt from the release, is right about records of the source"]] : [])];
  return h("section", { class: "card", id: "analyses" }, h("h2", {}, "What analysts will find"), chooseTarget(),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Analyses" }, h("table", { class: "analyses stack" },
      h("thead", {}, h("tr", {}, heads.map(([name, meaning], i) => h("th", { scope: "col", class: i === 0 || i === 2 ? null : "n" }, meaning ? term(name, meaning) : name)))),
      h("tbody", {}, told.map(line)))),
    first ? h("p", { class: "note" }, `Learnt from the source, ${first.attribute} is told right ${percent(first.accuracy.before)} of the time; saying always what is most frequent, ${percent(first.accuracy.baseline)}.`) : null);
}

function show(body, { rows, frontier, notes, n_records: n }) {
  // Without preview nothing is told that is measured with the table.
  const isTold = (value) => rows.some((row) => (value(row) ?? null) !== null);
  const [hasLoss, hasError] = [isTold((row) => row.loss.ncp), isTold((row) => row.query_error?.median)];
  const hasBits = rows.some((row) => row.loss.entropy !== undefined);
  const best = (value) => Math.min(...rows.map((row) => value(row) ?? Infinity));
  const number = (row, label, value, text) => h("td", { data: { label }, class: value(row) === best(value) && rows.some((one) => value(one) > best(value)) ? "n best" : "n" },
    value(row) === undefined ? "–" : text(value(row)));
  const seen = new Map();
  const line = (row, i) => {
    const levels = JSON.stringify(row.levels ?? row.method);
    const twin = seen.get(levels);
    if (twin === undefined) seen.set(levels, i);
    return h("tr", {},
      h("th", { scope: "row" }, h("span", { class: "named" }, h("span", { class: "number" }, String(i + 1)), row.best_by
        ? h("span", {}, row.title, h("small", { title: QUALITY_TERMS[row.best_by] }, QUALITY_TERMS[row.best_by] ?? row.method))
        : h("span", {}, row.method, row.holds ? null : isOneByOne(row) ? h("small", {}, "promises no k") : " (broken)", h("small", {}, row.title)))),
      number(row, "records lost", (one) => one.n_suppressed, grouped),
      hasLoss ? number(row, "uncertainty", (one) => one.loss.ncp, (value) => percent(value)) : null,
      hasError ? number(row, "query error", (one) => one.query_error.median, (value) => percent(value)) : null,
      hasBits ? number(row, "bits lost", (one) => one.loss.entropy, (value) => percent(value)) : null,
      number(row, "group size", (one) => one.loss.group_size, (value) => decimal(Math.round(value * 10) / 10)),
      number(row, "highest risk", (one) => one.risk?.highest ?? 1, (value) => percent(value)),
      number(row, "average risk", (one) => one.risk?.average ?? 1, (value) => percent(value)),
      h("td", {}, twin !== undefined ? h("span", { class: "soft" }, `same as ${twin + 1}`)
        : row.best_by ? h("button", { onclick: () => { setWish({ ...state.wish, best_by: row.best_by }); go("negotiate"); } }, "Use")
          : row.holds && !isGuest() && !isOneByOne(row) ? h("button", { onclick: () => { state.chosen = { choice: "method", method: row.method }; go("publish"); } }, "Publish") : null));
  };
  const isOffers = rows.some((row) => row.choice !== "exact");
  const heads = [
    ["method", null], ["records lost", "suppressed records"], ...(hasLoss ? [["uncertainty", "NCP, the normalized certainty penalty: 0 is exact"]] : []),
    ...(hasError ? [["query error", "median relative error of counting in the release, over random queries about one to three attributes"]] : []),
    ...(hasBits ? [["bits lost", "non-uniform entropy"]] : []), ["group size", "C_AVG: records per group"],
    ["highest risk", "prosecutor risk: one over the smallest group"], ["average risk", "groups over published records"], ["", null]];
  const points = frontier.bargains.map((one) => ({
    x: one.loss, y: one.average_risk, kind: "bargain",
    label: `${frontier.over} = ${one.value}: loss ${decimal(one.loss)}, average risk ${percent(one.average_risk)}, ${counted(one.n_suppressed, "record")} lost`,
  }));
  const named = new Map();
  rows.forEach((row, i) => {
    const place = `${row.loss.ncp}/${row.risk?.average}`;
    named.set(place, [...(named.get(place) ?? []), i]);
  });
  for (const indexes of named.values()) {
    const row = rows[indexes[0]];
    points.push({ x: row.loss.ncp, y: row.risk?.average ?? 0, kind: "method", mark: String(indexes[0] + 1),
      label: `${indexes.map((i) => `${i + 1} ${rows[i].best_by ? rows[i].title : rows[i].method}`).join("; ")}: loss ${decimal(row.loss.ncp)}, average risk ${percent(row.risk?.average ?? 0)}` });
  }
  // Without preview the loss is not told: then there is no place for a point, and no picture.
  const placed = points.filter((point) => point.x !== null && point.x !== undefined);
  put(body,
    noteList(notes),
    isOffers ? h("p", { class: "note" }, "Not all wishes can be met, so the schemes lose as few more records as they can; ", h("button", { class: "plain", onclick: () => go("negotiate") }, "see the offers"), ".") : null,
    h("section", { class: "card" }, h("h2", {}, "The methods that exist"),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Methods" }, h("table", { class: "methods stack" },
        h("thead", {}, h("tr", {}, heads.map(([name, meaning], i) => (name ? h("th", { scope: "col", class: i > 0 ? "n" : null }, meaning ? term(name, meaning) : name) : h("td", {}))))),
        h("tbody", {}, rows.map(line)))),
      h("p", { class: "note" }, "The first give every record the same levels and differ in what they call best; those with a name of their own give every group ranges of its own. Less is better in every column, the best of each is bold."),
      !withSlow && (state.about.allows_preview || state.about.methods.some((method) => method.is_slow))
        ? h("button", { onclick: () => { withSlow = true; begin(); } }, "Also those that take longer") : null),
    analyses(rows),
    placed.length === 0 ? null : h("section", { class: "card" }, h("h2", {}, "Risk and loss"),
      scatter({
        title: `${grouped(frontier.n_bargains)} bargains, at any levels, that no other beats on ${frontier.over}, records lost and loss together`,
        xName: "detail lost (NCP) →", yName: "average risk →", points: placed, xText: (x) => percent(x), yText: (y) => percent(y),
        take: takeAlong("risk-and-loss", () => [["name", "loss", "average_risk"], ...placed.map((point) => [point.label.split(":")[0], point.x, point.y])]),
      }),
      h("p", { class: "legend" }, h("span", {}, h("i", { class: "swatch bargain" }), "a bargain"), h("span", {}, h("i", { class: "swatch method" }), "a method at your wishes"),
        h("span", {}, h("i", { class: "swatch line soft" }), "nothing is better in both"),
        h("span", { class: "soft" }, "lower left is better for everyone"))));
}
