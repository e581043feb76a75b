// The main screen: three parties, three knobs. Every move is answered while it is being made.

import { ask } from "./api.js";
import { lineChart, progressBar } from "./charts.js";
import { h, later, noteList, problemBox, put, say, term, unique } from "./dom.js";
import { pyramid } from "./pyramid.js";
import { needLattice } from "./session.js";
import { go, on, setWish, state } from "./store.js";
import { CRITERIA, OF_SIZES, QUALITIES, QUALITY_TERMS, counted, criteriaOf, criterionOf, decimal, grouped, percent, valued } from "./words.js";

/** @type {HTMLElement} */ let root;
/** @type {any} */ let parts = null;

export function mount(element) {
  root = element;
  parts = null;
  if (!state.project) return put(root, h("div", { class: "card narrow" }, h("h1", {}, "Nothing to negotiate yet"),
    h("p", {}, "Open a table first."), h("button", { class: "primary", onclick: () => go("data") }, "Open a table")));
  begin();
}

async function begin() {
  const project = state.project;
  const isHere = () => state.screen === "negotiate" && state.project === project;
  try {
    await needLattice((job) => isHere() && put(root, h("div", { class: "card narrow" }, h("h1", {}, "One moment"),
      h("p", {}, "Every way to generalize this table is being annotated. After that, answers take no time."), progressBar(job))));
    if (isHere()) build();
  } catch (problem) {
    if (!isHere()) return;
    const where = problem.kind === "hierarchy" || /hierarch/.test(problem.message + problem.position) ? "hierarchies" : "data";
    put(root, h("div", { class: "card narrow" }, h("h1", {}, "This cannot be negotiated yet"), problemBox(problem),
      h("button", { class: "primary", onclick: () => go(where) }, where === "data" ? "Look at the data" : "Look at the hierarchies")));
  }
}

function build() {
  const picture = pyramid(
    (place) => ask("/scheme", { project: state.project.id, request: state.wish, place }),
    (scheme) => pinned(scheme));
  parts = {
    knobs: h("div", { class: "knobs" }), answer: h("section", { class: "answer", "aria-label": "Answer", "aria-live": "polite" }),
    brief: h("a", { class: "brief", href: "#answer", onclick: (event) => { event.preventDefault(); parts.answer.scrollIntoView({ block: "start" }); } }),
    picture, curves: h("div", { class: "curves" }), why: h("div", {}), sample: h("div", {}), pin: h("div", {}),
  };
  put(root,
    h("h1", { class: "unseen" }, "Negotiate"), parts.brief,
    h("div", { class: "table" },
      h("aside", { "aria-label": "Wishes" }, parts.knobs),
      h("div", { class: "outcome" },
        parts.answer,
        h("section", { class: "card" },
          h("h2", {}, `All ${grouped(state.lattice.n_schemes)} `, term("ways to generalize", "the lattice of schemes; a row per height, the sum of levels")),
          picture.root, parts.pin),
        h("section", { class: "card" }, h("h2", {}, "What more privacy would cost"), parts.curves),
        h("section", { class: "card" }, h("h2", {}, "Why records are lost"), parts.why),
        state.about.allows_preview ? h("section", { class: "card" }, h("h2", {}, "Before and after"), parts.sample) : null)));
  knobs();
  wished();
}

on("wish", () => {
  if (state.screen !== "negotiate" || !parts) return;
  for (const setter of setters) setter();
  wished();
});
on("theme", () => parts?.picture.draw());

// ── Asking ──

let isAsking = false;
let isBehind = false;

/** Asks for the latest wish; those that were passed over while an answer was on its way are never asked. */
async function wished() {
  put(parts.pin);
  if (isAsking) { isBehind = true; return; }
  isAsking = true;
  do {
    isBehind = false;
    const wish = state.wish;
    try {
      const answer = await ask("/negotiate", { project: state.project.id, request: wish },
        (job) => parts && put(parts.answer, h("div", { class: "card" }, progressBar(job))));
      state.answer = answer;
      if (parts && state.screen === "negotiate") showAnswer();
    } catch (problem) {
      state.answer = null;
      if (parts) put(parts.answer, h("div", { class: "card" }, problemBox(problem)));
    }
  } while (isBehind);
  isAsking = false;
  lookAround();
}

const lookAround = later(60, async () => {
  // While a knob moves, the machine belongs to the answer; whoever is asking looks around afterwards.
  if (!parts || !state.answer || isAsking) return;
  const wish = state.wish;
  try {
    const around = await ask("/explore", { project: state.project.id, request: wish });
    if (!parts || wish !== state.wish) return;
    state.around = around;
    parts.picture.update(around, wish, named(around.marks));
    showCurves();
    showWhy();
    showSample(around.scheme);
  } catch { /* the answer has said what is wrong */ }
});

const named = (marks) => [["exact", "✓", "good"], ["suppression", "1", "curator"], ["height", "2", "analyst"], ["privacy", "3", "officer"]]
  .filter(([name]) => marks[name] !== null && marks[name] !== undefined)
  .map(([name, text, kind]) => ({ place: marks[name], name: text, kind }));

// ── Knobs ──

/** What to do when a wish was changed from elsewhere. @type {(() => void)[]} */
let setters = [];

function knobs() {
  setters = [];
  put(parts.knobs, officer(), curator(), analyst());
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
  const steps = about.steps.filter((value) => value <= most);
  const of = attribute ? ` of ${attribute}` : "";
  const id = unique("knob");
  const nearest = (value) => steps.reduce((best, step, i) => (Math.abs(step - value) < Math.abs(steps[best] - value) ? i : best), 0);
  // A recursive one has two numbers: the ratio, which is haggled over, and the l that it is about.
  const isPair = name === "recursive";
  const now = () => (isPair ? state.wish[key]?.c : state.wish[key]);
  const set = (value, isPassing) => Number.isFinite(value) && setWish({ ...state.wish, [key]: isPair ? { ...state.wish[key], c: value } : value }, isPassing);
  const slider = h("input", {
    type: "range", id, min: 0, max: steps.length - 1, step: 1,
    oninput: () => set(steps[slider.value], true), onchange: () => set(steps[slider.value], false),
  });
  const read = (value) => Math.min(most, Math.max(about.min, about.step === 1 ? Math.round(value) : value));
  const field = numberField(`${name}, ${about.word}${of}`, (value) => set(read(value), false));
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
  const remove = keysCount() > 1 ? h("button", {
    class: "remove", title: "Do not ask for this", "aria-label": `Do not ask for ${name}`,
    onclick: () => { const { [key]: _, ...rest } = state.wish; setWish(rest); },
  }, "×") : null;
  return h("div", { class: "knob" },
    h("div", { class: "knob-head" }, h("label", { for: id }, h("b", {}, attribute ? `${attribute}: ${name}` : name), " ", term(about.word, about.term)), field, remove),
    slider, second && h("label", { class: "second" }, term("from the l-th most frequent on, l", "the l of recursive (c,l)-diversity"), " ", second));
}

/** A number that can be typed, with or without commas; what is no number changes nothing. */
function numberField(label, onValue) {
  const field = h("input", { type: "text", inputmode: "decimal", class: "value", autocomplete: "off", "aria-label": label });
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
  const ofSizes = state.project.document.data?.population ? OF_SIZES : ["k"];
  for (const name of ofSizes) if (!(name in state.wish)) options.push([name, name]);
  for (const attribute of sensitive) {
    for (const name of Object.keys(CRITERIA).filter((name) => !OF_SIZES.includes(name))) {
      const key = attribute ? `${attribute}:${name}` : name;
      if (!(key in state.wish)) options.push([key, attribute ? `${attribute}: ${name}` : name]);
    }
  }
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
  const slider = h("input", {
    type: "range", id, min: 0, max: steps.length - 1, step: 1,
    oninput: () => set(steps[slider.value], true), onchange: () => set(steps[slider.value], false),
  });
  const field = numberField("records that may be lost, at most", (value) => set(Math.min(n, Math.max(0, Math.trunc(value))), false));
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
      type: "range", id, min: 0, max: levels.length - 1, step: 1,
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
  const best = h("select", { "aria-label": "What the best release is", onchange: () => setWish({ ...state.wish, best_by: best.value }) },
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

const party = (kind, title, wish, content) => h("section", { class: `card party ${kind}`, "aria-label": title },
  h("header", {}, h("h2", {}, title), h("p", {}, wish)), content);

// ── The answer ──

function showAnswer() {
  const { answer } = state;
  const isExact = answer.outcome === "exact";
  parts.brief.className = `brief ${isExact ? "good" : "offers-brief"}`;
  put(parts.brief, h("b", {}, isExact ? "✓ Yes, all of it" : "Not all of it: three offers"),
    h("span", {}, isExact ? `${grouped(answer.exact.n_suppressed)} lost, detail lost ${percent(answer.exact.loss.ncp)}` : "see them ↓"));
  if (isExact) {
    const offer = answer.exact;
    put(parts.answer, h("div", { class: "card verdict good" },
      h("div", { class: "verdict-head" }, h("span", { class: "mark", "aria-hidden": true }, "✓"),
        h("div", {}, h("h2", {}, "Yes, all of it"), h("p", { class: "words" }, capital(offer.in_words) + "."))),
      scheme(offer, state.wish), facts(offer), ofPart(answer),
      h("button", { class: "primary", onclick: () => { state.chosen = { choice: "exact" }; go("publish"); } }, "Review and publish")), noteList(answer.notes));
    return say("Yes, all of it.");
  }
  const { suppression, height, privacy, privacy_alternatives: more = [] } = answer.offers;
  put(parts.answer,
    h("div", { class: "verdict-line" }, h("h2", {}, "Not all of it"), h("p", {}, "Each of these gives up one wish, as little of it as possible.")),
    ofPart(answer),
    h("div", { class: "offers" },
      card("curator", "1", "Lose more records", suppression, "suppression"),
      height ? card("analyst", "2", "Generalize otherwise", height, "height")
        : none("analyst", "2", "Generalize otherwise", "No way to generalize meets the other two wishes."),
      privacy ? card("officer", "3", "Settle for less", privacy, "privacy", more.slice(1))
        : none("officer", "3", "Settle for less", state.about.allows_preview ? "Even the least privacy would lose too many records at these levels." : "Whatever the project allows would lose too many records at these levels.")), noteList(answer.notes));
  say("Not all of it; there are offers.");
}

/** What is proved, where the lattice is too large to be looked at as a whole. */
const ofPart = (answer) => (answer.partial ? h("p", { class: "note" }, `${answer.partial.in_words}.`) : null);

function card(kind, number, title, offer, choice, alternatives = []) {
  const worse = offer.concession.split(", ");
  return h("article", { class: `card offer ${kind}`, data: { offer: choice } },
    h("header", {}, h("span", { class: "number", "aria-hidden": true }, number), h("h3", {}, title)),
    h("ul", { class: "concession" }, worse.map((part) => h("li", {}, part.startsWith("lose") ? capital(part) : part))),
    scheme(offer, state.wish), facts(offer),
    h("button", { class: "take", onclick: () => take(offer) }, "Take this offer"),
    alternatives.map((other) => h("button", { class: "plain", onclick: () => take(other) }, `or ${other.concession}`)));
}

const none = (kind, number, title, why) => h("article", { class: `card offer none ${kind}` },
  h("header", {}, h("span", { class: "number", "aria-hidden": true }, number), h("h3", {}, title)), h("p", {}, why));

/** Agrees: the wish becomes what the offer gives, so that all of it can be had. */
function take(offer) {
  const wish = structuredClone(state.wish);
  for (const key of criteriaOf(wish)) if (key in offer) wish[key] = offer[key];
  wish.max_suppressed = Math.max(wish.max_suppressed, offer.n_suppressed);
  for (const [attribute, level] of Object.entries(offer.levels)) {
    wish.max_level[attribute] = Math.max(wish.max_level[attribute], level);
  }
  setWish(wish);
}

/** What becomes of each attribute; what is coarser than wished stands out. */
function scheme(offer, wish) {
  return h("ul", { class: "scheme" }, state.lattice.attributes.map(({ attribute, levels }) => {
    const level = levels[offer.levels[attribute]];
    const isBeyond = level.level > (wish.max_level[attribute] ?? levels.length - 1);
    const share = levels.length > 1 ? level.level / (levels.length - 1) : 0;
    return h("li", { class: isBeyond ? "beyond" : null },
      h("span", { class: "name" }, attribute), h("span", { class: "meter", "aria-hidden": true }, h("i", { style: { width: `${share * 100}%` } })),
      h("span", { class: "phrase" }, level.phrase));
  }));
}

function facts(offer) {
  const promised = criteriaOf(offer).map((key) => `${key} = ${valued(offer[key])}`).join(", ");
  const fact = (name, meaning, value, small) => h("div", {}, h("dt", {}, term(name, meaning)), h("dd", {}, value, small && h("small", {}, small)));
  return h("dl", { class: "facts" },
    fact("records lost", "suppressed records", grouped(offer.n_suppressed), percent(offer.share_suppressed)),
    (offer.n_people_lost ?? null) !== null ? fact("people lost", "people none of whose records is published", grouped(offer.n_people_lost)) : null,
    offer.n_dropped > 0 ? fact("dropped", "records that lack a value and are left out before anything else", grouped(offer.n_dropped), "for missing values") : null,
    fact("promised", "the criteria that every published group satisfies", promised),
    fact("groups", "published groups of records that look alike", grouped(offer.n_groups), offer.smallest_group ? `smallest ${grouped(offer.smallest_group)}${(offer.n_people_lost ?? null) !== null ? " people" : ""}` : null),
    fact("detail lost", "NCP, the normalized certainty penalty: 0 is exact, 1 is nothing left", percent(offer.loss.ncp)));
}

const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// ── Around the answer ──

function pinned(offer) {
  // Who publishes more losses than were wished for says so first.
  const n = offer.n_suppressed;
  const isMore = n > (state.wish.max_suppressed ?? 0);
  const place = () => {
    if (isMore) setWish({ ...state.wish, max_suppressed: n });
    state.chosen = { choice: "levels", levels: offer.levels };
    go("publish");
  };
  put(parts.pin, h("div", { class: "pin" },
    h("h3", {}, "The scheme you picked"), scheme(offer, state.wish), facts(offer),
    h("div", { class: "row" },
      h("button", { onclick: () => setWish({ ...state.wish, max_level: { ...offer.levels } }) }, "Wish for these levels"),
      h("button", { onclick: place }, isMore ? `Lose ${counted(n, "record")} and publish these levels` : "Publish these levels"),
      h("button", { class: "plain", onclick: () => put(parts.pin) }, "Close"))));
  showSample(offer);
}

function showCurves() {
  const { against_privacy: against, heights, n_records: n } = state.around;
  const wish = state.wish;
  if (!against) return put(parts.curves);
  const key = against.criterion;
  const ticks = against.points.map((point) => String(point.value));
  const at = against.points.findIndex((point) => point.value === (wish[key]?.c ?? wish[key]));
  const lost = (value, word) => `${key} = ${value}: ${counted(word, "record")} lost`;
  const most = Math.max(...against.points.map((point) => point.n_suppressed), wish.max_suppressed, 1);
  const pick = (i) => setWish({ ...state.wish, [key]: wish[key]?.c === undefined ? against.points[i].value : { ...wish[key], c: against.points[i].value } });
  const lowest = heights.map((row, i) => ({ x: i, y: row.n_suppressed.min, label: `height ${row.height}: at least ${counted(row.n_suppressed.min, "record")} lost` }));
  const within = heights.map((row, i) => ({ x: i, y: row.within.cells.length ? row.within.cells[0][1] : null, label: `height ${row.height}, within your levels: at least ${counted(row.within.cells[0]?.[1] ?? 0, "record")} lost` }));
  const height = state.answer.outcome === "exact" ? state.answer.exact.height : -1;
  put(parts.curves,
    lineChart({
      title: `Records lost, by ${key}`, ticks, at, xName: key, yMax: most, yName: short, limit: wish.max_suppressed, onPick: pick,
      lines: [
        { name: "these levels", kind: "curator", points: against.points.map((point, x) => ({ x, y: point.n_suppressed, label: lost(point.value, point.n_suppressed) })) },
        { name: "best scheme for each", kind: "good", points: against.points.map((point, x) => ({ x, y: point.best?.n_suppressed ?? null, label: point.best ? lost(point.value, point.best.n_suppressed) : "" })) },
      ],
    }),
    lineChart({
      title: `Detail lost, by ${key}`, ticks, at, xName: key, yMax: 1, yName: (y) => percent(y), onPick: pick,
      lines: [
        { name: "these levels", kind: "curator", points: against.points.map((point, x) => ({ x, y: point.loss, label: `${key} = ${point.value}: loss ${decimal(point.loss)}` })) },
        { name: "best scheme for each", kind: "good", points: against.points.map((point, x) => ({ x, y: point.best?.loss ?? null, label: point.best ? `${key} = ${point.value}: loss ${decimal(point.best.loss)}` : "" })) },
      ],
    }),
    lineChart({
      title: "Fewest records lost, by height", ticks: heights.map((row) => String(row.height)), at: height, xName: "height (coarser →)", yMax: n, yName: short, limit: wish.max_suppressed,
      lines: [{ name: "within your levels", kind: "analyst", points: within }, { name: "anywhere", kind: "soft", points: lowest }],
    }),
    h("p", { class: "note full" }, `Where “best scheme for each” ends, no scheme within your levels meets the other wishes. Click a chart to wish for that ${key}.`));
}

const short = (n) => (n >= 10_000 ? `${grouped(Math.round(n / 1000))} k` : grouped(Math.round(n)));

function showWhy() {
  const { explanation, n_records: n, scheme: current } = state.around;
  const lost = explanation.n_suppressed;
  if (lost === 0) return put(parts.why, h("p", {}, "No record is lost: every group keeps the promise."));
  const causes = [...explanation.by_attribute].sort((a, b) => b.n_caused - a.n_caused);
  const small = explanation.by_size.filter((share) => share.n_suppressed > 0);
  const alone = small.find((share) => share.size === 1)?.n_suppressed ?? 0;
  const isExact = state.answer.outcome === "exact";
  const more = (cause) => () => setWish({ ...state.wish, max_level: { ...state.wish.max_level, [cause.attribute]: current.levels[cause.attribute] + 1 } });
  put(parts.why,
    h("p", {}, isExact ? "In this answer, " : "At the levels you wish for, ", h("b", {}, `${counted(lost, "record")} (${percent(lost / n)})`),
      ` ${lost === 1 ? "is" : "are"} lost because their groups do not keep the promise`,
      alone > 0 ? `; ${grouped(alone)} of them stand${alone === 1 ? "s" : ""} alone` : "", ". What makes them stand out:"),
    h("ul", { class: "causes" }, causes.map((cause) => h("li", {},
      h("span", { class: "name" }, cause.attribute), h("span", { class: "meter" }, h("i", { style: { width: `${(100 * cause.n_caused) / lost}%` } })),
      h("span", { class: "n" }, `${grouped(cause.n_caused)} would stay without it`),
      cause.n_saved_by_next ? h("button", { class: "plain", title: "Wish for one level more", onclick: more(cause) }, `one level more saves ${grouped(cause.n_saved_by_next)}`) : h("span", { class: "soft" }, cause.n_saved_by_next === null ? "hidden already" : "one level more saves none")))),
    h("p", { class: "note" }, "Shares overlap: a record can stand out by several attributes together."));
}

async function showSample(offer) {
  if (!state.about.allows_preview) return;
  const wish = state.wish;
  let sample;
  try {
    sample = await ask("/sample", { project: state.project.id, request: wish, levels: offer.levels });
  } catch (problem) {
    return put(parts.sample, problemBox(problem));
  }
  if (!parts || wish !== state.wish) return;
  const shown = sample.columns.filter((name) => sample.records.some((record) => name in record.after || name in record.before));
  const role = (name) => state.project.document.attributes?.[name]?.role ?? "none";
  const cell = (record, name) => {
    const before = record.before[name] ?? "–";
    if (!(name in record.after)) return h("td", { class: "gone" }, h("s", {}, before));
    const after = record.after[name] ?? "–";
    if (!record.published) return h("td", {}, before);
    return before === after ? h("td", {}, before) : h("td", { class: "changed" }, h("s", {}, before), " ", h("b", {}, after));
  };
  const n = sample.records.filter((record) => !record.published).length;
  put(parts.sample,
    h("p", { class: "note" }, `${counted(sample.records.length, "record")} of the table`, n > 0 ? `; ${grouped(n)} of them would be lost.` : ", all of which would be published."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Records before and after" },
      h("table", { class: "sample" },
        h("thead", {}, h("tr", {}, shown.map((name) => h("th", { scope: "col", class: role(name) }, name)), h("th", { scope: "col" }, "alike"))),
        h("tbody", {}, sample.records.map((record) => h("tr", { class: record.published ? null : "lost" },
          shown.map((name) => cell(record, name)), h("td", { class: "n" }, record.published ? grouped(record.n_alike ?? 0) : "lost")))))));
}
