// The main screen: three parties, three knobs. Every move is answered while it is being made.

import { ask, cancel } from "./api.js";
import { lineChart, progressBar } from "./charts.js";
import { h, later, noteList, problemBox, put, say, term } from "./dom.js";
import { desks } from "./desks.js";
import { groupsCard } from "./groups.js";
import { guide } from "./guide.js";
import { fillKnobs, refreshKnobs } from "./knobs.js";
import { pyramid } from "./pyramid.js";
import { ranges } from "./ranges.js";
import { beforeAndAfter } from "./sample.js";
import { searchCard } from "./search.js";
import { needLattice } from "./session.js";
import { spreadCard } from "./spread.js";
import { go, isGuest, on, setWish, state } from "./store.js";
import { counted, criteriaOf, decimal, grouped, levelsWish, percent, rangesWish, valued } from "./words.js";

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
    await needLattice((job) => isHere() && moment(job));
    if (isHere()) build();
  } catch (problem) {
    if (!isHere()) return;
    const where = problem.kind === "hierarchy" || /hierarch/.test(problem.message + problem.position) ? "hierarchies" : "data";
    put(root, h("div", { class: "card narrow" }, h("h1", {}, "This cannot be negotiated yet"), problemBox(problem),
      h("button", { class: "primary", onclick: () => go(where) }, where === "data" ? "Look at the data" : "Look at the hierarchies")));
  }
}

/** While the lattice is made: how far it is, a way to end it, and an answer that does not wait for it. */
function moment(job) {
  const known = root.querySelector(".moment .progress");
  const bar = progressBar(job, (id) => cancel(id));
  if (known) return known.replaceWith(bar);
  put(root, h("div", { class: "card narrow moment" }, h("h1", {}, "One moment"),
    h("p", {}, "Every way to generalize this table is being annotated. After that, answers take no time."), bar),
  state.about.allows_preview ? searchCard("An answer to the standing wishes of the project that does not wait for the others: the best so far, and what is proved of it.", told) : null);
}

/** An answer with its words and facts, where there may be no lattice yet. */
const told = (offer) => [h("p", { class: "words" }, capital(offer.in_words) + "."), facts(offer)];

function build() {
  if (state.wish.local) {
    parts = ranges(modes());
    put(root, parts.content);
    fillKnobs(parts.knobs);
    return wished();
  }
  const picture = pyramid(
    (place) => ask("/scheme", { project: state.project.id, request: levelsWish(state.wish), place, explain: true }),
    (scheme) => pinned(scheme));
  parts = {
    knobs: h("div", { class: "knobs" }), answer: h("section", { class: "answer", "aria-label": "Answer", "aria-live": "polite" }),
    brief: h("a", { class: "brief", hidden: true, href: "#answer", onclick: (event) => { event.preventDefault(); parts.answer.scrollIntoView({ block: "start" }); } }),
    beside: h("div", { "aria-live": "polite" }),
    picture, curves: h("div", { class: "curves" }), why: h("div", {}), sample: h("div", {}), pin: h("div", {}),
    groups: state.about.allows_preview ? groupsCard() : null, spread: state.about.allows_preview ? spreadCard() : null, search: h("div", {}),
  };
  put(root,
    h("h1", { class: "unseen" }, "Negotiate"), guide(), h("div", { class: "row above" }, modes(), desks()), parts.brief,
    h("div", { class: "table" },
      h("aside", { "aria-label": "Wishes" }, parts.knobs),
      h("div", { class: "outcome" },
        parts.answer, parts.beside,
        h("section", { class: "card" },
          h("h2", {}, `All ${grouped(state.lattice.n_schemes)} `, term("ways to generalize", "the lattice of schemes; a row per height, the sum of levels")),
          picture.root, parts.pin),
        parts.search,
        h("section", { class: "card" }, h("h2", {}, "What more privacy would cost"), parts.curves),
        h("section", { class: "card" }, h("h2", {}, "Why records are lost"), parts.why),
        parts.groups?.root,
        state.about.allows_preview ? h("section", { class: "card" }, h("h2", {}, "Before and after"), parts.spread.root, h("h3", {}, "Some records"), parts.sample) : null)));
  fillKnobs(parts.knobs);
  wished();
}

/** One level for all, or ranges of its own for every group. */
function modes() {
  const mode = (isLocal, title, words) => h("label", { class: Boolean(state.wish.local) === isLocal ? "on" : null, title: words },
    h("input", { type: "radio", name: "mode", checked: Boolean(state.wish.local) === isLocal, onchange: () => setWish({ ...state.wish, local: isLocal }) }), title);
  return h("div", { class: "kinds modes", role: "radiogroup", "aria-label": "How records are generalized" },
    mode(false, "One level for all", "every attribute has one level, the same for all records"),
    mode(true, "Ranges per group", "every group has ranges of its own, which loses less"));
}

on("wish", () => {
  if (state.screen !== "negotiate" || !parts) return;
  // Undoing may change the mode, too.
  if (Boolean(parts.isLocal) !== Boolean(state.wish.local)) {
    state.answer = null;
    return build();
  }
  refreshKnobs();
  wished();
});
on("theme", () => parts?.picture?.draw());
// Whoever sits down at a desk has the knobs of that desk.
on("desk", () => { if (parts?.knobs) fillKnobs(parts.knobs); });

// ── Asking ──

let isAsking = false;
let isBehind = false;

/** Asks for the latest wish; those that were passed over while an answer was on its way are never asked. */
async function wished() {
  if (parts.pin) put(parts.pin);
  parts.beside?.classList.add("stale");
  if (isAsking) { isBehind = true; return; }
  isAsking = true;
  do {
    isBehind = false;
    const wish = state.wish;
    const asked = parts;
    try {
      const waiting = (job) => parts === asked && put(parts.answer, h("div", { class: "card" }, progressBar(job)));
      const answer = wish.local ? await asked.ask(wish, waiting)
        : await ask("/negotiate", { project: state.project.id, request: levelsWish(wish) }, waiting);
      // Another mode may have been chosen meanwhile.
      if (parts !== asked) continue;
      state.answer = answer;
      if (state.screen !== "negotiate") continue;
      if (wish.local) parts.show(answer); else showAnswer();
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
  if (wish.local) return parts.lookAround(wish);
  try {
    const around = await ask("/explore", { project: state.project.id, request: levelsWish(wish) });
    if (!parts || wish !== state.wish) return;
    state.around = around;
    parts.picture.update(around, wish, named(around.marks));
    showCurves();
    showWhy();
    showSample(around.scheme);
    parts.groups?.of(around.scheme.levels);
    parts.spread?.of(around.scheme.levels);
    offerSearch();
    await showBeside(wish);
  } catch (problem) {
    // What the server refuses, the answer has said; a mistake of the page is not to be hidden.
    if (problem instanceof TypeError) throw problem;
  }
});

/** What ranges per group would lose at the same promise, with one click there. */
async function showBeside(wish) {
  const shown = parts;
  const local = await ask("/negotiate-local", { project: state.project.id, request: rangesWish({ ...wish, max_loss: {} }) });
  if (parts !== shown || wish !== state.wish || !state.answer) return;
  const { answer } = state;
  const other = local.exact ?? local.offers?.suppression;
  const own = answer.outcome === "exact" ? [answer.exact] : [answer.offers.suppression, answer.offers.height, answer.offers.privacy].filter(Boolean);
  const least = own.reduce((best, offer) => (offer.loss.ncp < best.loss.ncp ? offer : best));
  // Where nothing is told of losses, or there is nothing to gain, nothing is said.
  const gains = other && other.loss !== null && (least.loss.ncp ?? null) !== null && other.loss < least.loss.ncp - 0.0005;
  parts.beside.classList.remove("stale");
  if (!gains) return put(parts.beside);
  const lost = other.n_suppressed === 0 ? "nobody suppressed" : `${counted(other.n_suppressed, "record")} suppressed`;
  put(parts.beside, h("div", { class: "beside" },
    h("p", {}, h("b", {}, `With ranges per group: ${percent(other.loss)} instead of ${answer.outcome === "exact" ? "" : "at least "}${percent(least.loss.ncp)} of the detail lost, ${lost}.`),
      ` The same promise${answer.outcome === "exact" ? "" : " as wished"}; every group has ranges of its own in place of one level for all.`),
    h("button", { onclick: () => setWish({ ...state.wish, local: true }) }, "See it")));
}

const named = (marks) => [["exact", "✓", "good"], ["suppression", "1", "curator"], ["height", "2", "analyst"], ["privacy", "3", "officer"]]
  .filter(([name]) => marks[name] !== null && marks[name] !== undefined)
  .map(([name, text, kind]) => ({ place: marks[name], name: text, kind }));

// ── The answer ──

function showAnswer() {
  const { answer } = state;
  const isExact = answer.outcome === "exact";
  parts.brief.hidden = false;
  parts.brief.className = `brief ${isExact ? "good" : "offers-brief"}`;
  put(parts.brief, h("b", {}, isExact ? "✓ Yes, all of it" : "Not all of it: three offers"),
    h("span", {}, isExact ? `${grouped(answer.exact.n_suppressed)} lost${isTold(answer.exact.loss.ncp) ? `, detail lost ${percent(answer.exact.loss.ncp)}` : ""}` : "see them ↓"));
  if (isExact) {
    const offer = answer.exact;
    put(parts.answer, h("div", { class: "card verdict good" },
      h("div", { class: "verdict-head" }, h("span", { class: "mark", "aria-hidden": true }, "✓"),
        h("div", {}, h("h2", {}, "Yes, all of it"), h("p", { class: "words" }, capital(offer.in_words) + "."))),
      scheme(offer, state.wish), facts(offer), ofPart(answer),
      isGuest() ? null : h("button", { class: "primary", onclick: () => { state.chosen = { choice: "exact" }; go("publish"); } }, "Review and publish")), noteList(answer.notes));
    return say("Yes, all of it.");
  }
  const { suppression, height, privacy, privacy_alternatives: more = [], without = [] } = answer.offers;
  put(parts.answer,
    h("div", { class: "verdict-line" }, h("h2", {}, "Not all of it"), h("p", {}, "Each of these gives up one wish, as little of it as possible.")),
    ofPart(answer),
    h("div", { class: "offers" },
      card("curator", "1", "Lose more records", suppression, "suppression"),
      height ? card("analyst", "2", "Generalize otherwise", height, "height")
        : none("analyst", "2", "Generalize otherwise", "No way to generalize meets the other two wishes."),
      privacy ? card("officer", "3", "Settle for less", privacy, "privacy", more.slice(1))
        : none("officer", "3", "Settle for less", state.about.allows_preview ? "Even the least privacy would lose too many records at these levels." : "Whatever the project allows would lose too many records at these levels.")), withoutOne(without), noteList(answer.notes));
  say("Not all of it; there are offers.");
}

/** What is proved, where the lattice is too large to be looked at as a whole. */
const ofPart = (answer) => (answer.partial ? h("p", { class: "note" }, `${answer.partial.in_words}.`) : null);

/** Attributes that could be left out, so that all other wishes are met; nothing where none is enough. */
function withoutOne(offers) {
  if (offers.length === 0) return null;
  return h("section", { class: "card without" }, h("h3", {}, "Or hide one attribute, and all else is as wished"),
    h("ul", { class: "plainlist" }, offers.map((offer) => h("li", {}, h("button", { class: "plain", onclick: () => take(offer) }, `without ${offer.attribute}`),
      `: ${counted(offer.n_suppressed, "record")} lost${isTold(offer.loss.ncp) ? `, detail lost ${percent(offer.loss.ncp)}` : ""}`))));
}

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

/** Without preview nothing is told that is measured with the table. */
const isTold = (loss) => loss !== null && loss !== undefined;

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
      isGuest() ? null : h("button", { onclick: place }, isMore ? `Lose ${counted(n, "record")} and publish these levels` : "Publish these levels"),
      parts.groups ? h("button", { onclick: () => parts.groups.go(offer.levels) }, "See its groups") : null,
      h("button", { class: "plain", onclick: () => put(parts.pin) }, "Close"))));
  showSample(offer);
  parts.groups?.of(offer.levels);
  parts.spread?.of(offer.levels);
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
    !against.points.some((point) => isTold(point.loss) || isTold(point.best?.loss)) ? null : lineChart({
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
    h("p", { class: "note" }, "Shares overlap: a record can stand out by several attributes together."),
    parts.groups ? h("button", { onclick: () => parts.groups.go(current.levels) }, "See these groups") : null);
}

/** Where only a part of the lattice is annotated, all of it can be searched. */
function offerSearch() {
  if (!state.answer?.partial || !state.about.allows_preview || parts.search.childElementCount > 0) return;
  const show = (offer) => [scheme(offer, state.wish), facts(offer), h("div", { class: "row" },
    h("button", { onclick: () => setWish({ ...state.wish, max_level: { ...offer.levels } }) }, "Wish for these levels"),
    h("button", { onclick: () => { state.chosen = { choice: "levels", levels: offer.levels }; go("publish"); } }, "Publish these levels"))];
  put(parts.search, searchCard("The answers above are the best of the most promising schemes. This looks at all of them, from the best to the worst, and proves what it can.", show));
}

async function showSample(offer) {
  if (!state.about.allows_preview) return;
  const wish = state.wish;
  try {
    const sample = await ask("/sample", { project: state.project.id, request: levelsWish(wish), levels: offer.levels });
    if (parts && wish === state.wish) put(parts.sample, beforeAndAfter(sample));
  } catch (problem) {
    put(parts.sample, problemBox(problem));
  }
}
