// Before and after: how often labels occur, and how often two of them occur together.

import { ask } from "./api.js";
import { h, problemBox, put, svg, visible } from "./dom.js";
import { state } from "./store.js";
import { counted, grouped, levelsWish, percent } from "./words.js";

/** So many labels of an attribute are shown at once, those that are most frequent. */
const N_LABELS = 8;
/** Rows and columns of the map of two attributes. */
const N_CELLS = 24;

/** What becomes of the distributions under a scheme. */
export function spreadCard() {
  const spreads = h("div", { class: "spreads" });
  const map = h("div", {});
  /** @type {string[]} */ const pair = ["", ""];
  const down = h("select", { "aria-label": "Rows of the map", onchange: () => { pair[0] = down.value; look(); } });
  const across = h("select", { "aria-label": "Columns of the map", onchange: () => { pair[1] = across.value; look(); } });
  const two = h("div", {}, h("div", { class: "row tight" }, h("h3", {}, "Two together:"), down, "and", across), map);
  const root = h("div", { class: "spread-box" }, spreads, two);
  /** @type {any} */ let levels = null;
  let asked = 0;

  async function look() {
    const mine = ++asked;
    const names = state.lattice.attributes.map(({ attribute }) => attribute);
    if (!names.includes(pair[0])) pair[0] = names[0] ?? "";
    if (!names.includes(pair[1])) pair[1] = names.find((name) => name !== pair[0]) ?? "";
    two.hidden = names.length < 2;
    [down, across].forEach((select, i) => { put(select, names.map((name) => h("option", { value: name }, visible(name)))); select.value = pair[i]; });
    try {
      const seen = await ask("/spread", { project: state.project.id, request: levelsWish(state.wish), levels, ...(names.length > 1 ? { down: pair[0], across: pair[1] } : {}) });
      if (mine !== asked) return;
      put(spreads, seen.spreads.map((one) => spread(one, seen)));
      put(map, seen.pair ? heat(seen) : null);
    } catch (problem) {
      if (mine === asked) put(spreads, problemBox(problem));
    }
  }

  return { root, of(next) { levels = next; return look(); } };
}

const named = (label) => (label === "" ? "(no value)" : visible(label));

/** Shares of the table and of the release, side by side. */
function spread({ attribute, labels }, { n_records: n, n_published: m }) {
  const shown = labels.length <= N_LABELS ? labels : [...labels].sort((a, b) => b[1] - a[1]).slice(0, N_LABELS);
  const most = Math.max(...shown.map(([, before, after]) => Math.max(before / n, after / Math.max(1, m))), 1e-9);
  const rest = labels.length - shown.length;
  const line = ([label, before, after]) => h("li", { title: `${named(label)}: ${grouped(before)} in the table, ${grouped(after)} in the release` },
    h("span", { class: "name" }, named(label)),
    h("span", { class: "pair", "aria-hidden": true }, h("i", { class: "before", style: { width: `${(100 * before) / n / most}%` } }), h("i", { class: "after", style: { width: `${(100 * after) / Math.max(1, m) / most}%` } })),
    h("span", { class: "n" }, `${percent(before / n)} → ${percent(after / Math.max(1, m))}`));
  return h("figure", {}, h("figcaption", {}, visible(attribute)), h("ul", { class: "bars both" }, shown.map(line)), rest > 0 ? h("p", { class: "note" }, `and ${counted(rest, "rarer label")}`) : null);
}

/** Two attributes: how often each pair occurs, before, after, and what has changed. */
function heat({ pair, spreads, n_records: n, n_published: m }) {
  const of = (select) => spreads.find((one) => one.attribute === select).labels;
  const [downName, acrossName] = [...document.querySelectorAll(".spread-box select")].map((select) => select.value);
  const frequent = (labels) => labels.map((one, i) => [one[1], i]).filter(([count]) => count > 0).sort((a, b) => b[0] - a[0]).slice(0, N_CELLS).map(([, i]) => i).sort((a, b) => a - b);
  const [rows, columns] = [of(downName), of(acrossName)];
  const [shownRows, shownColumns] = [frequent(rows), frequent(columns)];
  const share = (i, j, k) => pair[i][j][k] / Math.max(1, k === 0 ? n : m);
  const most = Math.max(...shownRows.flatMap((i) => shownColumns.map((j) => Math.max(share(i, j, 0), share(i, j, 1)))), 1e-9);
  const [cell, left, above] = [Math.max(9, Math.min(22, 260 / Math.max(shownRows.length, shownColumns.length))), 92, 14];
  const [width, height] = [left + cell * shownColumns.length + 6, above + cell * shownRows.length + 72];
  const short = (label, most) => { const text = named(label); return text.length > most ? `${text.slice(0, most - 1)}…` : text; };
  const picture = (title, k) => h("figure", { class: "heat" }, h("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart", "aria-label": `${title}: ${visible(downName)} and ${visible(acrossName)}`, style: { "max-width": `${width * 1.25}px` } },
      shownRows.map((i, r) => svg("text", { class: "scale", x: left - 4, y: above + (r + 0.5) * cell + 4 }, short(rows[i][0], 14))),
      shownColumns.map((j, c) => svg("text", { class: "slant", x: 0, y: 0, transform: `translate(${left + (c + 0.7) * cell} ${above + cell * shownRows.length + 6}) rotate(60)` }, short(columns[j][0], 10))),
      shownRows.map((i, r) => shownColumns.map((j, c) => {
        const value = k === 2 ? share(i, j, 1) - share(i, j, 0) : share(i, j, k);
        return svg("rect", { class: k === 2 ? (value < 0 ? "heat-less" : "heat-more") : "heat-cell", x: left + c * cell, y: above + r * cell, width: cell - 1, height: cell - 1, "fill-opacity": Math.min(1, Math.sqrt(Math.abs(value) / most)).toFixed(3) },
          svg("title", {}, `${named(rows[i][0])}, ${named(columns[j][0])}: ${grouped(pair[i][j][0])} → ${grouped(pair[i][j][1])}`));
      }))));
  return h("div", {}, h("div", { class: "heats" }, picture("Before", 0), picture("After", 1), picture("What has changed", 2)),
    h("p", { class: "note" }, "The darker, the more records have both; the third shows pairs that are rarer (red) or more frequent (green) in the release, as shares of what is published.",
      rows.length > shownRows.length || columns.length > shownColumns.length ? ` The ${N_CELLS} most frequent labels of each are shown.` : ""));
}
