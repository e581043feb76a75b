// Negotiating over ranges of their own for every group: the answer, what more privacy would cost, and the groups.

import { ask } from "./api.js";
import { lineChart } from "./charts.js";
import { h, noteList, problemBox, put, say, term } from "./dom.js";
import { icicle } from "./icicle.js";
import { beforeAndAfter } from "./sample.js";
import { go, isGuest, setWish, state } from "./store.js";
import { counted, criteriaOf, decimal, grouped, percent, rangesWish, valued } from "./words.js";

const question = (wish, more = {}) => ({ project: state.project.id, request: rangesWish(wish), ...more });

/** Everything that the screen shows in this mode. @param {HTMLElement} modes the switch */
export function ranges(modes) {
  const picture = state.about.allows_preview ? icicle(
    (node) => ask("/group", question(state.wish, { node })),
    async (node) => (await ask("/explore-local", question(state.wish, { node }))).groups) : null;
  const parts = {
    isLocal: true, picture,
    knobs: h("div", { class: "knobs" }), answer: h("section", { class: "answer", "aria-label": "Answer", "aria-live": "polite" }),
    brief: h("a", { class: "brief", hidden: true, href: "#answer", onclick: (event) => { event.preventDefault(); parts.answer.scrollIntoView({ block: "start" }); } }),
    curves: h("div", { class: "curves" }), sample: h("div", {}), content: [],
    ask: (wish, onProgress) => ask("/negotiate-local", question(wish), onProgress),
    show: (answer) => showAnswer(parts, answer),
    lookAround: (wish) => lookAround(parts, wish),
  };
  parts.content = [
    h("h1", { class: "unseen" }, "Negotiate"), modes, parts.brief,
    h("div", { class: "table" },
      h("aside", { "aria-label": "Wishes" }, parts.knobs),
      h("div", { class: "outcome" },
        parts.answer,
        picture ? h("section", { class: "card" }, h("h2", {}, "The ", term("groups", "a cut of the tree of groups: every group is published, divided further, or suppressed")), picture.root) : null,
        h("section", { class: "card" }, h("h2", {}, "What more privacy would cost"), parts.curves),
        picture ? h("section", { class: "card" }, h("h2", {}, "Before and after"), parts.sample) : null))];
  return parts;
}

async function lookAround(parts, wish) {
  try {
    const around = await ask("/explore-local", question(wish));
    if (!parts.answer.isConnected || wish !== state.wish) return;
    showCurves(parts, around);
    if (around.groups) parts.picture?.update(around.groups);
    if (around.sample) put(parts.sample, beforeAndAfter(around.sample));
  } catch (problem) {
    // Of a wish that cannot be asked, the answer has said so.
    if (problem.status >= 500) put(parts.curves, problemBox(problem));
  }
}

// ── The answer ──

function showAnswer(parts, answer) {
  const isExact = answer.outcome === "exact";
  parts.brief.hidden = false;
  parts.brief.className = `brief ${isExact ? "good" : "offers-brief"}`;
  put(parts.brief, h("b", {}, isExact ? "✓ Yes, all of it" : "Not all of it: three offers"),
    h("span", {}, isExact ? `${grouped(answer.exact.n_suppressed)} lost${answer.exact.loss === null ? "" : `, detail lost ${percent(answer.exact.loss)}`}` : "see them ↓"));
  if (isExact) {
    const offer = answer.exact;
    const publish = () => { state.chosen = { choice: "exact", local: true }; go("publish"); };
    put(parts.answer, h("div", { class: "card verdict good" },
      h("div", { class: "verdict-head" }, h("span", { class: "mark", "aria-hidden": true }, "✓"),
        h("div", {}, h("h2", {}, "Yes, all of it"), h("p", { class: "words" }, `${counted(offer.n_groups, "group")}, each with ranges of its own.`))),
      losses(offer), facts(offer, answer), proof(offer),
      isGuest() ? null : h("button", { class: "primary", onclick: publish }, "Review and publish")), noteList(answer.notes));
    return say("Yes, all of it.");
  }
  const { suppression, loss, privacy, privacy_alternatives: more = [] } = answer.offers;
  put(parts.answer,
    h("div", { class: "verdict-line" }, h("h2", {}, "Not all of it"), h("p", {}, "Each of these gives up one wish, as little of it as possible.")),
    h("div", { class: "offers" },
      card(answer, "curator", "1", "Lose more records", suppression, "suppression", "However many records are lost, the others lose more than you allow."),
      card(answer, "analyst", "2", "Lose more detail", loss, "loss", limits().length ? "Whatever is lost of the values, too many records do not keep the promise." : "No limit on the detail is in the way."),
      card(answer, "officer", "3", "Settle for less", privacy, "privacy", "No weaker value of one criterion alone would do.", more.slice(1))), noteList(answer.notes));
  say("Not all of it; there are offers.");
}

const limits = () => Object.entries(state.wish.max_loss ?? {}).filter(([, share]) => share < 1);

function card(answer, kind, number, title, offer, choice, otherwise, alternatives = []) {
  const head = h("header", {}, h("span", { class: "number", "aria-hidden": true }, number), h("h3", {}, title));
  if (!offer) return h("article", { class: `card offer none ${kind}` }, head, h("p", {}, otherwise));
  return h("article", { class: `card offer ${kind}`, data: { offer: choice } }, head,
    h("ul", { class: "concession" }, concessions(offer).map((part) => h("li", {}, part))),
    losses(offer), facts(offer, answer),
    h("button", { class: "take", onclick: () => take(offer) }, "Take this offer"),
    alternatives.map((other) => h("button", { class: "plain", onclick: () => take(other) }, `or ${concessions(other).join(", ")}`)));
}

/** What an offer gives up, in words. */
function concessions(offer) {
  const wish = state.wish;
  const given = [];
  if (offer.n_suppressed > wish.max_suppressed) given.push(`Lose ${counted(offer.n_suppressed, "record")} instead of ${grouped(wish.max_suppressed)}`);
  for (const [name, most] of limits()) {
    const lost = name === "*" ? offer.loss : offer.loss_of[name];
    // With as many digits as it takes to see the difference.
    const share = (value) => (percent(lost) === percent(most) ? `${(value * 100).toFixed(4).replace(/0+$/, "").replace(/\.$/, "")} %` : percent(value));
    if (lost > most + 1e-9) given.push(`Lose ${share(lost)} of ${name === "*" ? "the detail" : name} instead of ${share(most)}`);
  }
  for (const key of criteriaOf(wish)) {
    if (key in offer.criteria && JSON.stringify(offer.criteria[key]) !== JSON.stringify(wish[key])) given.push(`${key} = ${valued(offer.criteria[key])} instead of ${valued(wish[key])}`);
  }
  return given;
}

/** Agrees: the wish becomes what the offer gives, so that all of it can be had. */
function take(offer) {
  const wish = structuredClone(state.wish);
  for (const key of criteriaOf(wish)) if (key in offer.criteria) wish[key] = offer.criteria[key];
  wish.max_suppressed = Math.max(wish.max_suppressed, offer.n_suppressed);
  for (const [name, most] of limits()) {
    const lost = name === "*" ? offer.loss : offer.loss_of[name];
    // Rounded up, so that what is offered is within what is asked for.
    if (lost > most) wish.max_loss[name] = Math.min(1, Math.ceil(lost * 10_000 + 1e-6) / 10_000);
  }
  setWish(wish);
}

/** What each attribute loses; what is more than allowed stands out. */
function losses(offer) {
  // Without preview, losses are not told.
  if (offer.loss === null) return null;
  const most = state.wish.max_loss ?? {};
  return h("ul", { class: "scheme" }, Object.entries(offer.loss_of).map(([name, lost]) =>
    h("li", { class: lost > (most[name] ?? 1) + 1e-9 ? "beyond" : null },
      h("span", { class: "name" }, name), h("span", { class: "meter", "aria-hidden": true }, h("i", { style: { width: `${lost * 100}%` } })),
      h("span", { class: "phrase" }, `loses ${percent(lost)}`))));
}

function facts(offer, answer) {
  const promised = criteriaOf(offer.criteria).map((key) => `${key} = ${valued(offer.criteria[key])}`).join(", ");
  const fact = (name, meaning, value, small) => h("div", {}, h("dt", {}, term(name, meaning)), h("dd", {}, value, small && h("small", {}, small)));
  return h("dl", { class: "facts" },
    fact("records lost", "suppressed records", grouped(offer.n_suppressed), percent(offer.n_suppressed / answer.n_records)),
    answer.n_dropped > 0 ? fact("dropped", "records that lack a value and are left out before anything else", grouped(answer.n_dropped), "for missing values") : null,
    fact("promised", "the criteria that every published group satisfies", promised),
    fact("groups", "published groups, each with ranges of its own", grouped(offer.n_groups), offer.reached.k ? `smallest ${grouped(offer.reached.k)}` : null),
    fact("detail lost", "NCP, the normalized certainty penalty: 0 is exact, 1 is nothing left", percent(offer.loss)));
}

/** How far from the best the answer can be. */
function proof(offer) {
  if (offer.loss === null) return null;
  const best = offer.loss_at_least < offer.loss ? `Of all cuts of the tree none loses less than ${percent(offer.loss_at_least)}.` : "No cut of the tree loses less.";
  return h("p", { class: "note" }, `${best} Publishing improves the groups further.`);
}

// ── Around the answer ──

function showCurves(parts, { against_privacy: against, n_records: n }) {
  const wish = state.wish;
  if (!against || against.points.length === 0) return put(parts.curves);
  const key = against.criterion;
  const ticks = against.points.map((point) => String(point.value));
  const at = against.points.findIndex((point) => point.value === (wish[key]?.c ?? wish[key]));
  const pick = (i) => setWish({ ...state.wish, [key]: wish[key]?.c === undefined ? against.points[i].value : { ...wish[key], c: against.points[i].value } });
  const points = (of, says) => against.points.map((point, x) => ({ x, y: point.best?.[of] ?? null, label: point.best ? `${key} = ${point.value}: ${says(point.best[of])}` : "" }));
  const most = Math.max(...against.points.map((point) => point.best?.n_suppressed ?? 0), wish.max_suppressed, 1);
  const lossMost = Math.max(...against.points.map((point) => point.best?.loss ?? 0), 0);
  const isTold = against.points.some((point) => (point.best?.loss ?? null) !== null);
  const groups = against.points.map((point) => point.best?.n_groups ?? 0);
  const limit = wish.max_loss?.["*"] ?? 1;
  put(parts.curves,
    isTold ? lineChart({
      title: `Detail lost, by ${key}`, ticks, at, xName: key, yMax: Math.min(1, Math.ceil((Math.max(lossMost, limit < 1 ? limit : 0) + 0.001) * 20) / 20), yName: (y) => percent(y), onPick: pick,
      limit: limit < 1 ? limit : null,
      lines: [{ name: "best groups for each", kind: "good", points: points("loss", (loss) => `loss ${decimal(loss)}`) }],
    }) : null,
    lineChart({
      title: `Records lost, by ${key}`, ticks, at, xName: key, yMax: Math.min(n, most), yName: (y) => grouped(Math.round(y)), limit: wish.max_suppressed, onPick: pick,
      lines: [{ name: "best groups for each", kind: "curator", points: points("n_suppressed", (lost) => `${counted(lost, "record")} lost`) }],
    }),
    lineChart({
      title: `Groups, by ${key}`, ticks, at, xName: key, yMax: Math.max(...groups, 1), yName: (y) => grouped(Math.round(y)), onPick: pick,
      lines: [{ name: "best groups for each", kind: "analyst", points: points("n_groups", (groups) => counted(groups, "group")) }],
    }),
    h("p", { class: "note full" }, `What the groups that lose least would cost at every ${key}, with the other criteria and the records that may be lost as wished. Click a chart to wish for that ${key}.`));
}
