// The papers' studies of the open project: charts that can be taken along as pictures, and their numbers as tables.

import { cancel, saveAs, work } from "./api.js";
import { progressBar } from "./charts.js";
import { h, noteList, problemBox, put, say } from "./dom.js";
import { needLattice } from "./session.js";
import { go, state } from "./store.js";
import { criteriaOf } from "./words.js";

/** What can be studied, in words. */
const STUDIES = {
  suppression: ["Suppression", "How many records are lost at every height, for several criteria and sets of attributes"],
  requests: ["Requests", "What requests get from the whole lattice, from parts of it and on demand"],
  lattice: ["Partial lattices", "Which part of the lattice is worth making"],
  local: ["Local recoding", "What local methods lose, against k, attributes and weights; takes minutes on large tables"],
  records: ["Single records", "What searches for single records look at, and risk beside k-anonymous schemes"],
};

/** @type {HTMLElement} */ let root;
let chosen = "suppression";
/** What was found, by what it is about. @type {Map<string, any>} */ const known = new Map();

export function mount(element) {
  root = element;
  begin();
}

const isHere = () => state.screen === "study";

async function begin() {
  if (!state.project) return go("negotiate");
  if (!state.about.allows_preview) {
    return put(root, h("div", { class: "card narrow" }, h("h1", {}, "Study"), h("p", {}, "This server answers requests within what the project promises, and no studies.")));
  }
  try {
    await needLattice((job) => isHere() && put(root, h("div", { class: "card narrow" }, progressBar(job))));
  } catch {
    return go("negotiate");
  }
  if (!isHere()) return;
  const body = h("div", { "aria-live": "polite" });
  const choice = ([name, [title, meaning]]) => h("option", { value: name, selected: name === chosen ? true : null, title: meaning }, title);
  const pick = h("select", { "aria-label": "Study", onchange: (event) => { chosen = event.target.value; begin(); } }, Object.entries(STUDIES).map(choice));
  put(root, h("div", { class: "title" }, h("div", {}, h("h1", {}, "Study"), h("p", { class: "lead" }, `${STUDIES[chosen][1]}.`))),
    h("div", { class: "row" }, h("label", {}, "What is studied ", pick)), body);
  const order = orderOf();
  const key = JSON.stringify([state.project.id, order]);
  if (known.has(key)) return show(body, known.get(key));
  if (chosen === "suppression") return run(body, key, order);
  put(body, h("button", { class: "primary", onclick: () => run(body, key, order) }, "Study"));
}

/** The study of the current request: its values stand beside the usual ones, and its scheme is marked. */
function orderOf() {
  const order = { study: chosen, charts: true };
  if (chosen === "suppression") {
    const { k, max_level: most } = state.wish;
    for (const key of criteriaOf(state.wish)) order[key] = [state.wish[key]];
    if (Number.isInteger(k)) order.k = [...new Set([3, 10, 25, k])].filter((value) => value <= (state.lattice?.n_records ?? value)).sort((a, b) => a - b);
    if (most) Object.assign(order, { mark: most, scheme: most });
  }
  return order;
}

async function run(body, key, order) {
  try {
    const { result } = await work("/orders/study", { project: state.project.id, order },
      (job) => isHere() && put(body, h("div", { class: "card" }, progressBar(job, (id) => cancel(id)))));
    known.set(key, result);
    if (isHere()) show(body, result);
    say("The study is done.");
  } catch (problem) {
    if (isHere()) put(body, h("div", { class: "card" }, problemBox(problem), h("button", { onclick: begin }, "Try again")));
  }
}

function show(body, { result, notes }) {
  put(body, noteList(notes),
    h("div", { class: "row" }, (result.tables ?? []).map((table) =>
      h("button", { onclick: () => saveAs(new Blob([csv(table)], { type: "text/csv" }), `${table.name}.csv`) }, `${table.title} (CSV)`))),
    h("div", { class: "studies" }, result.charts.map(figure)));
}

/** What is wider than this has a line of its own. */
const WIDE = 760;

/** A chart as a picture: nothing in it runs, and it looks the same wherever it is taken. */
function figure(chart) {
  const text = standalone(chart.svg);
  const picture = new Blob([text], { type: "image/svg+xml" });
  const address = URL.createObjectURL(picture);
  const image = h("img", { src: address, alt: chart.title, class: "study" });
  const isWide = Number(/<svg[^>]* width="([\d.]+)/.exec(text)?.[1]) > WIDE;
  return h("section", { class: isWide ? "card wide" : "card" }, h("h2", {}, chart.title), h("p", { class: "note" }, chart.caption),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": chart.title }, image),
    h("div", { class: "row end" },
      h("button", { onclick: () => saveAs(picture, `${chart.name}.svg`) }, "SVG"),
      h("button", { onclick: () => png(image, chart.name) }, "PNG")));
}

/** With a size of its own, which pictures in a page do not need. */
function standalone(text) {
  if (/<svg[^>]* width=/.test(text)) return text;
  const [, width, height] = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(text) ?? [null, "720", "420"];
  return text.replace("<svg ", `<svg width="${width}" height="${height}" `);
}

function png(image, name) {
  const scale = 2;
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  const paper = canvas.getContext("2d");
  paper.fillStyle = "#fff";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => blob && saveAs(blob, `${name}.png`), "image/png");
}

/** Cells with commas, quotes or line breaks are quoted. */
function csv({ header, rows }) {
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return [header, ...rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
