// The knobs of the three parties: what the officer, the curator and the analyst wish for.

import { h, put, term, unique } from "./dom.js";
import { floorOf, isLocked, setWish, state } from "./store.js";
import { CRITERIA, OF_SIZES, QUALITIES, QUALITY_TERMS, counted, criteriaOf, criterionOf, grouped, percent } from "./words.js";

/** What to do when a wish was changed from elsewhere. @type {(() => void)[]} */
let setters = [];

/** Puts the knobs of all three parties into an element. */
export function fillKnobs(element) {
  setters = [];
  put(element, officer(), curator(), state.wish.local ? analystOfRanges() : analyst());
}

/** Shows wishes that were changed elsewhere. */
export function refreshKnobs() {
  for (const setter of setters) setter();
}

function officer() {
  const list = h("div", {});
  const keys = () => criteriaOf(state.wish);
  let shown = "";
  const draw = () => {
    if (shown === keys().join()) return;
    shown = keys().join();
    put(list, keys().map(criterionKnob), adder());
  };
  setters.push(draw);
  draw();
  return party("officer", "Privacy officer", "hide everyone in a crowd", list);
}

function criterionKnob(key) {
  const [attribute, name] = criterionOf(key);
  const about = CRITERIA[name];
  const most = name === "k" ? state.lattice.n_records
    : name === "l" ? (state.lattice.sensitive.find((one) => one.attribute === attribute) ?? state.lattice.sensitive[0])?.n_values ?? about.max : about.max;
  // Below the floor nothing is asked.
  const least = Math.max(about.min, (about.atLeast && floorOf(key)) || 0);
  const disabled = isLocked(name);
  const steps = about.steps.filter((value) => value <= most && value >= least);
  if (!steps.includes(least) && least > about.min) steps.unshift(least);
  const of = attribute ? ` of ${attribute}` : "";
  const id = unique("knob");
  const nearest = (value) => steps.reduce((best, step, i) => (Math.abs(step - value) < Math.abs(steps[best] - value) ? i : best), 0);
  // A recursive one has two numbers: the ratio, which is haggled over, and the l that it is about.
  const isPair = name === "recursive";
  const now = () => (isPair ? state.wish[key]?.c : state.wish[key]);
  const set = (value, isPassing) => Number.isFinite(value) && setWish({ ...state.wish, [key]: isPair ? { ...state.wish[key], c: value } : value }, isPassing);
  const slider = h("input", {
    type: "range", id, min: 0, max: steps.length - 1, step: 1, disabled,
    oninput: () => set(steps[slider.value], true), onchange: () => set(steps[slider.value], false),
  });
  const read = (value) => Math.min(most, Math.max(least, about.step === 1 ? Math.round(value) : value));
  const field = numberField(`${name}, ${about.word}${of}`, (value) => set(read(value), false), disabled);
  const show = () => {
    const value = now();
    if (value === undefined) return;
    slider.value = nearest(value);
    slider.setAttribute("aria-valuetext", `${value} ${about.word}${of}`);
    field.value = grouped(value);
    if (second) second.value = grouped(state.wish[key].l);
  };
  const second = isPair ? numberField(`l of ${name}${of}`, (value) => setWish({ ...state.wish, [key]: { ...state.wish[key], l: Math.max(2, Math.round(value)) } })) : null;
  setters.push(show);
  show();
  const remove = keysCount() > 1 && !disabled && floorOf(key) === null ? h("button", {
    class: "remove", title: "Do not ask for this", "aria-label": `Do not ask for ${name}`,
    onclick: () => { const { [key]: _, ...rest } = state.wish; setWish(rest); },
  }, "×") : null;
  return h("div", { class: "knob" },
    h("div", { class: "knob-head" }, h("label", { for: id }, h("b", {}, attribute ? `${attribute}: ${name}` : name), " ", term(about.word, about.term)), field, remove),
    slider, second && h("label", { class: "second" }, term("from the l-th most frequent on, l", "the l of recursive (c,l)-diversity"), " ", second));
}

/** A number that can be typed, with or without commas; what is no number changes nothing. */
function numberField(label, onValue, disabled = false) {
  const field = h("input", { type: "text", inputmode: "decimal", class: "value", autocomplete: "off", "aria-label": label, disabled });
  field.addEventListener("change", () => {
    const value = Number(field.value.replaceAll(/[,\s]/g, ""));
    if (field.value.trim() && Number.isFinite(value)) onValue(value);
    else for (const setter of setters) setter();
  });
  return field;
}

const keysCount = () => criteriaOf(state.wish).length;

/** Asks for one more kind of privacy. */
function adder() {
  const sensitive = state.lattice.sensitive.length > 0
    ? [null]
    : Object.entries(state.project.document.attributes ?? {}).filter(([, about]) => about.role === "sensitive").map(([name]) => name);
  const options = [];
  // Whom of the population a group's ranges fit is not counted.
  const ofSizes = state.project.document.data?.population && !state.wish.local ? OF_SIZES : ["k"];
  for (const name of ofSizes) if (!(name in state.wish)) options.push([name, name]);
  for (const attribute of sensitive) {
    for (const name of Object.keys(CRITERIA).filter((name) => !OF_SIZES.includes(name))) {
      const key = attribute ? `${attribute}:${name}` : name;
      if (!(key in state.wish)) options.push([key, attribute ? `${attribute}: ${name}` : name]);
    }
  }
  if (state.desk !== null && state.desk !== "officer") return null;
  if (options.length === 0) return h("p", { class: "note" }, "With a sensitive attribute, more can be promised.");
  return h("select", {
    class: "adder", "aria-label": "Promise more",
    onchange: (event) => {
      const key = event.target.value;
      if (key) setWish({ ...state.wish, [key]: CRITERIA[criterionOf(key)[1]].start });
    },
  }, h("option", { value: "" }, "Promise more …"), options.map(([key, name]) => h("option", { value: key }, `${name}: ${CRITERIA[criterionOf(key)[1]].word}`)));
}

const SHARES = [0, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1];

function curator() {
  const n = state.lattice.n_records;
  const steps = [...new Set(SHARES.map((share) => Math.floor(share * n)))];
  const id = unique("knob");
  const set = (value, isPassing) => Number.isFinite(value) && setWish({ ...state.wish, max_suppressed: value }, isPassing);
  const disabled = isLocked("max_suppressed");
  const slider = h("input", {
    type: "range", id, min: 0, max: steps.length - 1, step: 1, disabled,
    oninput: () => set(steps[slider.value], true), onchange: () => set(steps[slider.value], false),
  });
  const field = numberField("records that may be lost, at most", (value) => set(Math.min(n, Math.max(0, Math.trunc(value))), false), disabled);
  const share = h("span", { class: "share" });
  const show = () => {
    const value = state.wish.max_suppressed;
    slider.value = steps.reduce((best, step, i) => (Math.abs(step - value) < Math.abs(steps[best] - value) ? i : best), 0);
    slider.setAttribute("aria-valuetext", `${counted(value, "record")}, ${percent(value / n)}`);
    share.textContent = percent(value / n);
    field.value = grouped(value);
  };
  setters.push(show);
  show();
  return party("curator", "Data curator", "lose few records", h("div", { class: "knob" },
    h("div", { class: "knob-head" }, h("label", { for: id }, term("records lost, at most", "suppressed: records whose group does not keep the promise are not published")), field, share),
    slider));
}

function analyst() {
  const attributes = state.lattice.attributes.map(({ attribute, levels, weight }) => {
    const id = unique("knob");
    const set = (level, isPassing) =>
      setWish({ ...state.wish, max_level: { ...state.wish.max_level, [attribute]: Number(level) } }, isPassing);
    const slider = h("input", {
      type: "range", id, min: 0, max: levels.length - 1, step: 1, disabled: isLocked(attribute),
      oninput: () => set(slider.value, true), onchange: () => set(slider.value, false),
    });
    const says = h("span", { class: "says" });
    const example = h("span", { class: "example" });
    const show = () => {
      const level = levels[state.wish.max_level?.[attribute] ?? levels.length - 1] ?? levels[levels.length - 1];
      slider.value = level.level;
      slider.setAttribute("aria-valuetext", `${level.phrase}${level.example ? `, for example ${level.example}` : ""}`);
      says.textContent = level.phrase;
      says.title = `level ${level.level} of ${levels.length - 1}: ${counted(level.n_values, "value")}`;
      example.textContent = level.example !== undefined && level.level < levels.length - 1 ? level.example : "";
    };
    setters.push(show);
    show();
    return h("div", { class: "knob level" },
      h("div", { class: "knob-head" }, h("label", { for: id }, h("b", {}, attribute), weight !== 1 ? h("small", { title: "how much the analyst cares: its weight in the loss" }, ` × ${weight}`) : null), says),
      h("div", { class: "slide" }, slider, h("span", { class: "ticks", "aria-hidden": true }, levels.map(() => h("i", {})))), example);
  });
  const best = h("select", { "aria-label": "What the best release is", disabled: isLocked("best_by"), onchange: () => setWish({ ...state.wish, best_by: best.value }) },
    state.about.best_by.map((name) => h("option", { value: name, title: QUALITY_TERMS[name] }, QUALITIES[name] ?? name)));
  const show = () => {
    const value = state.wish.best_by ?? "ncp";
    if (![...best.options].some((option) => option.value === value)) best.append(h("option", { value }, value));
    best.value = value;
  };
  setters.push(show);
  show();
  return party("analyst", "Analyst", "keep the detail", [
    h("p", { class: "note" }, term("Nothing coarser than", "the greatest level of each quasi-identifier")), attributes,
    h("label", { class: "best" }, term("Of several, the one with", "the quality function that ranks satisfying schemes"), best)]);
}

const LOSSES = [0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 1];

/** What may be lost of the values: in all, and of single attributes. */
function analystOfRanges() {
  if (!state.about.allows_preview) return party("analyst", "Analyst", "keep the detail", h("p", { class: "note" }, "What is lost is not told here, so that it cannot be limited either; of all answers the one that loses least is taken."));
  const limited = Object.keys(state.wish.max_loss ?? {}).some((name) => name !== "*" && state.wish.max_loss[name] < 1);
  return party("analyst", "Analyst", "keep the detail", [
    lossKnob("*", "detail lost, at most", "NCP, the normalized certainty penalty, on average over all records: 0 is exact, 1 is nothing left; a lost record loses everything"),
    h("details", { class: "of-attributes", open: limited }, h("summary", {}, "of single attributes"),
      state.lattice.attributes.map(({ attribute }) => lossKnob(attribute, attribute, `what ${attribute} loses on average`)))]);
}

function lossKnob(key, name, meaning) {
  const id = unique("knob");
  const now = () => state.wish.max_loss?.[key] ?? 1;
  const set = (share, isPassing) => Number.isFinite(share) && setWish({ ...state.wish, max_loss: { ...state.wish.max_loss, [key]: share } }, isPassing);
  const slider = h("input", {
    type: "range", id, min: 0, max: LOSSES.length - 1, step: 1,
    oninput: () => set(LOSSES[slider.value], true), onchange: () => set(LOSSES[slider.value], false),
  });
  const field = numberField(key === "*" ? "detail lost, at most, in percent" : `detail lost of ${key}, at most, in percent`, (value) => set(Math.min(100, Math.max(0, value)) / 100, false));
  const says = h("span", { class: "share" });
  const show = () => {
    const share = now();
    slider.value = LOSSES.reduce((best, step, i) => (Math.abs(step - share) < Math.abs(LOSSES[best] - share) ? i : best), 0);
    field.value = String(Math.round(share * 10_000) / 100);
    says.textContent = share < 1 ? "%" : "no limit";
    slider.setAttribute("aria-valuetext", share < 1 ? percent(share) : "no limit");
  };
  setters.push(show);
  show();
  return h("div", { class: "knob" },
    h("div", { class: "knob-head" }, h("label", { for: id }, key === "*" ? term(name, meaning) : h("b", { title: meaning }, name)), field, says), slider);
}

const party = (kind, title, wish, content) => h("section", { class: `card party ${kind}`, "aria-label": title },
  h("header", {}, h("h2", {}, title), h("p", {}, wish)), content);
