// How each attribute gets coarser: built from a rule or by grouping values, with a live view of what each level does.

import { ask, saveAs } from "./api.js";
import { progressBar } from "./charts.js";
import { h, later, problemBox, put, term } from "./dom.js";
import { saver } from "./data.js";
import { guide } from "./guide.js";
import { grouping } from "./grouping.js";
import { cutting, datesAsText } from "./cutting.js";
import { effect } from "./effect.js";
import { openProject } from "./session.js";
import { go, on, state } from "./store.js";
import { counted, grouped, percent } from "./words.js";

/** @type {HTMLElement} */ let root;
/** @type {string | null} */ let current = null;

const quasi = () => Object.entries(state.project.document.attributes ?? {}).filter(([, about]) => about.role === "quasi-identifier").map(([name]) => name);

on("project", () => state.screen === "hierarchies" && root && mount(root));

export function mount(element) {
  root = element;
  if (!state.project || quasi().length === 0) {
    return put(root, h("div", { class: "card narrow" }, h("h1", {}, "No attribute to generalize yet"),
      h("p", {}, "Say first which columns others may know about a person."), h("button", { class: "primary", onclick: () => go("data") }, "To the data")));
  }
  if (!quasi().includes(current)) current = quasi()[0];
  show();
}

function show() {
  const names = quasi();
  const tabs = h("ul", { class: "side", "aria-label": "Attributes" }, names.map((name) => h("li", {},
    h("button", { "aria-current": name === current ? "true" : null, onclick: () => { current = name; show(); } }, name,
      h("small", {}, kindOf(state.project.document.attributes[name].hierarchy))))));
  const panel = h("div", { class: "builder" });
  put(root,
    h("div", { class: "title" }, h("div", {}, h("h1", {}, "Hierarchies"), h("p", { class: "lead" }, "How each attribute gets coarser, from the value itself to “nothing said”.")), state.about.allows_preview ? saver() : null),
    guide(),
    h("div", { class: "two" }, h("nav", { class: "card", "aria-label": "Attributes" }, tabs), panel),
    h("div", { class: "row end" }, h("button", { class: "primary", onclick: () => go("negotiate") }, "Next: negotiate")));
  if (state.about.allows_preview) builder(panel, current); else viewer(panel, current);
}

/** The project's own hierarchy, where values are not shown: nothing can be made without seeing them. */
async function viewer(panel, name) {
  const about = h("section", { class: "card" }, h("h2", {}, name), h("p", { class: "note" }, "This server shows no values of the data, so hierarchies are those of the project that it serves."));
  put(panel, about);
  try {
    const seen = await ask("/hierarchy", { project: state.project.id, attribute: name }, (job) => put(panel, about, progressBar(job)));
    put(panel, about, levels(seen, name));
  } catch (problem) {
    put(panel, about, h("section", { class: "card" }, problemBox(problem)));
  }
}

const KINDS = {
  flat: ["Shown or hidden", "two levels: the value, and *"],
  intervals: ["Intervals", "steps of equal width; each width a multiple of the one before"],
  cuts: ["Cut points", "ranges between points of your choice; each level a part of the one before"],
  mask: ["Hide characters", "a mask: one more character hidden at each level"],
  dates: ["Calendar", "month, quarter, year, decade"],
  tree: ["Group values", "a tree made by hand"],
  file: ["From a file", "ARX's format: a line per value, labels from fine to coarse, separated by ;, or a line per label with the one above it after a first line child,parent"],
};

function kindOf(rule) {
  if (rule === undefined || rule === null) return "flat";
  if (typeof rule === "string" || rule.text !== undefined) return "file";
  if (rule.kept) return "tree";
  if (rule.parents !== undefined) return "file";
  return Object.keys(KINDS).find((kind) => kind in rule) ?? "flat";
}

/** What is being made and not used yet, so that looking at another attribute loses nothing. @type {Map<string, {kind: string, rule: any}>} */
const drafts = new Map();
const draftKey = (name) => `${state.project.document.data?.path} ${name}`;

function builder(panel, name) {
  const saved = state.project.document.attributes[name].hierarchy;
  const draft = drafts.get(draftKey(name));
  /** The rule that is being made. @type {any} */ let rule = structuredClone(draft ? draft.rule : saved);
  let shown = draft?.kind ?? kindOf(rule);
  let isGood = false;
  const form = h("div", { class: "rule" });
  const view = h("div", {});
  const apply = h("button", { class: "primary", onclick: keep, disabled: true }, "Use this hierarchy");
  const status = h("span", { class: "note", role: "status" });
  const effects = h("p", { class: "note effect", role: "status" });
  const kinds = h("div", { class: "kinds", role: "radiogroup", "aria-label": "Kind of hierarchy" });
  put(panel,
    h("section", { class: "card" }, h("h2", {}, name), kinds, form, h("div", { class: "row" }, apply, status), effects),
    view);
  const preview = later(120, look);
  const showEffect = later(500, async () => {
    const words = await effect(name, rule).catch(() => null);
    if (effects.isConnected) put(effects, words);
  });
  choose(shown, false);

  function choose(kind, isNew = true) {
    if (isNew) rule = kind === "tree" ? startOf(kind) : kind === kindOf(saved) ? structuredClone(saved) : startOf(kind);
    shown = kind;
    put(kinds, Object.entries(KINDS).map(([key, [word, meaning]]) => h("label", { title: meaning, class: key === kind ? "on" : null },
      h("input", { type: "radio", name: "kind", value: key, checked: key === kind, onchange: () => choose(key) }), word)));
    put(form, fields(kind));
    preview();
  }

  function startOf(kind) {
    switch (kind) {
      case "intervals": return { intervals: [5, 10, 20], origin: 0 };
      // Where they are is found out from the values.
      case "cuts": return { cuts: null };
      case "mask": return { mask: 5 };
      case "dates": return { dates: ["month", "quarter", "year"] };
      // Whatever it is now is where grouping starts.
      case "tree": return rule === undefined || rule.text === "" || !isGood ? saved ?? { tree: null } : rule;
      case "file": return { text: "", name: `${name}.csv` };
      default: return undefined;
    }
  }

  function fields(kind) {
    const set = (next) => { rule = next; preview(); };
    // Names of levels stay as long as there are as many.
    const named = (n) => (rule.names?.length === n ? { names: rule.names } : {});
    switch (kind) {
      case "intervals": {
        const widths = text("Widths, from fine to coarse", (rule.intervals ?? []).join(", "));
        const origin = text("Counted from", String(rule.origin ?? 0));
        const below = text("One label below (optional)", String(rule.below ?? ""));
        const above = text("One label from … on (optional)", String(rule.above ?? ""));
        const end = (key, field) => (field.input.value.trim() === "" ? {} : { [key]: Number(field.input.value) });
        const change = () => set({
          intervals: numbers(widths.input.value), origin: Number(origin.input.value), ...end("below", below), ...end("above", above), ...named(numbers(widths.input.value).length),
        });
        [widths, origin, below, above].forEach((field) => { field.input.oninput = change; });
        return [widths.label, origin.label, below.label, above.label];
      }
      case "cuts": {
        const lists = Array.isArray(rule.cuts?.[0]) ? rule.cuts : [rule.cuts ?? []];
        const area = h("textarea", { rows: 3, id: "cuts", spellcheck: "false" });
        area.value = lists.map((list) => list.join(", ")).join("\n");
        area.oninput = () => set({ cuts: area.value.split("\n").filter((line) => line.trim()).map(numbers) });
        const drawn = cutting(lists.filter((list) => list.every(Number.isFinite)), (next, values, isDate, hasNone) => {
          inNumbers.hidden = isDate;
          if (isDate) return set({ text: datesAsText(next, values, hasNone), name: `${name}.csv` });
          area.value = next.map((list) => list.join(", ")).join("\n");
          set({ cuts: next });
        }, name);
        const inNumbers = h("label", { class: "wide" }, "The same in numbers: one level per line, finest first", area);
        return [drawn, inNumbers];
      }
      case "mask": {
        const given = rule.mask?.keep ?? rule.mask;
        const hidden = text("Characters, level by level (or how many levels)", Array.isArray(given) ? given.join(", ") : String(given));
        const way = h("select", {}, ["hidden", "kept"].map((word) => h("option", { value: word, selected: (rule.mask?.keep === undefined) === (word === "hidden") }, word)));
        const side = h("select", {}, ["right", "left"].map((from) => h("option", { value: from, selected: (rule.from ?? "right") === from }, `from the ${from}`)));
        const change = () => {
          const list = numbers(hidden.input.value);
          const mask = list.length === 1 ? list[0] : list;
          set({ mask: way.value === "kept" ? { keep: mask } : mask, ...(side.value === "left" ? { from: "left" } : {}), ...named(list.length) });
        };
        hidden.input.oninput = way.onchange = side.onchange = change;
        return [hidden.label, h("label", {}, "Are", way), h("label", {}, "Hidden", side)];
      }
      case "dates": {
        const units = ["month", "quarter", "year", "decade"];
        const known = rule.dates === true ? units : rule.dates;
        const boxes = units.map((unit) => h("input", { type: "checkbox", value: unit, checked: known.includes(unit) }));
        boxes.forEach((box) => { box.onchange = () => set({ dates: boxes.filter((one) => one.checked).map((one) => one.value) }); });
        return [h("fieldset", {}, h("legend", {}, "Levels"), boxes.map((box, i) => h("label", { class: "check" }, box, units[i])))];
      }
      case "tree": return [grouping(rule, set, name)];
      case "file": {
        const picker = h("input", { type: "file", accept: ".csv,.txt", onchange: async () => {
          const file = picker.files[0];
          if (!file) return;
          set({ text: await file.text(), name: file.name });
          put(form, fields("file"));
        } });
        const path = typeof rule === "string" ? rule : rule.file ?? rule.parents;
        const source = path ? ["Read from ", h("code", {}, path)]
          : rule.text ? ["Imported from ", h("code", {}, rule.name), "; it is written when you save the project"] : null;
        return [source ? h("p", { class: "note" }, source) : null, h("label", {}, source ? "Take another file" : "Take a file", picker)];
      }
      default: return [h("p", { class: "note" }, "The value as it is, or nothing at all.")];
    }
  }

  async function look() {
    isGood = false;
    apply.disabled = true;
    put(status);
    const isSame = JSON.stringify(rule ?? null) === JSON.stringify(saved ?? null);
    if (isSame) drafts.delete(draftKey(name));
    else drafts.set(draftKey(name), { kind: shown, rule: structuredClone(rule) });
    if (rule?.tree === null || rule?.cuts === null || rule?.text === "") return put(view);
    try {
      const seen = await ask("/hierarchy", { project: state.project.id, attribute: name, hierarchy: rule ?? { flat: true } },
        (job) => put(view, progressBar(job)));
      isGood = true;
      apply.disabled = isSame;
      put(effects);
      if (!isSame) {
        put(status, "not used yet");
        showEffect();
      }
      put(view, levels(seen, name), seen.tree ? tree(seen, name) : null);
    } catch (problem) {
      put(view, h("section", { class: "card" }, problemBox(problem)));
    }
  }

  async function keep() {
    if (!isGood) return;
    try {
      // What was imported lives in the document: its file is written when the project is saved.
      const document = structuredClone(state.project.document);
      if (rule === undefined) delete document.attributes[name].hierarchy;
      else document.attributes[name].hierarchy = rule;
      if (document.request?.max_level) delete document.request.max_level[name];
      const project = await ask("/projects", { document, base: state.project.id });
      drafts.delete(draftKey(name));
      await openProject(project, { isSameTable: true });
    } catch (problem) {
      put(view, h("section", { class: "card" }, problemBox(problem)));
    }
  }
}

const numbers = (text) => text.split(/[\s,;]+/).filter(Boolean).map(Number);

function text(name, value) {
  const input = h("input", { type: "text", value, spellcheck: "false", autocomplete: "off" });
  return { input, label: h("label", {}, name, input) };
}

/** What each level does to some values. */
function levels(seen, name) {
  const examples = seen.examples ?? [];
  const arx = () => saveAs(new Blob([seen.arx], { type: "text/csv" }), `${name}.csv`);
  return h("section", { class: "card" }, h("h2", {}, "What each level does"),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Levels" }, h("table", { class: "levels" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "level"), h("th", { scope: "col", class: "n" }, term("values", "different values at this level")),
        examples.length ? h("th", { scope: "col", colspan: examples.length }, "for example") : null)),
      h("tbody", {}, seen.levels.map((level) => h("tr", {},
        h("th", { scope: "row" }, h("span", { class: "level-number" }, String(level.level)), level.phrase), h("td", { class: "n" }, grouped(level.n_values)),
        examples.map((example) => h("td", {}, example.labels[level.level] || "(none)"))))))),
    seen.arx ? h("div", { class: "row" }, h("button", { onclick: arx, title: "as ARX reads it" }, "Export as CSV")) : null);
}

/** The tree, with values and records under each node. */
function tree(seen, name) {
  const all = Math.max(1, seen.tree.n_records);
  const node = (one, depth) => {
    const line = [h("span", { class: "label" }, one.label === "*" && depth === 0 ? `all of ${name}` : one.label || "(no value)"),
      h("span", { class: "meter", "aria-hidden": true }, h("i", { style: { width: `${(100 * one.n_records) / all}%` } })),
      h("span", { class: "n" }, counted(one.n_records, "record"), one.below ? `, ${counted(one.n_values, "value")}` : "")];
    if (!one.below?.length) return h("li", { class: "leaf" }, line);
    return h("li", {}, h("details", { open: depth < 1 }, h("summary", {}, line),
      h("ul", {}, one.below.map((child) => node(child, depth + 1)), one.n_more > 0 ? h("li", { class: "soft" }, `… ${grouped(one.n_more)} more`) : null)));
  };
  return h("section", { class: "card" }, h("h2", {}, "The tree"), h("ul", { class: "tree" }, node(seen.tree, 0)));
}
