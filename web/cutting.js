// Cut points on a histogram: dragged with the mouse, moved with arrow keys, for numbers and for dates.

import { ask } from "./api.js";
import { roundTicks } from "./charts.js";
import { h, problemBox, put, svg } from "./dom.js";
import { state } from "./store.js";
import { counted, grouped } from "./words.js";

const [WIDTH, TALL, LEVEL, EDGE] = [640, 120, 26, 14];
const N_BARS = 64;
const DAY = 86_400_000;

/**
 * @param {number[][]} lists cut points per level, the finest first; days for dates
 * @param {(lists: number[][], values: Value[], isDate: boolean, hasNone: boolean) => void} set
 * @param {string} name of the attribute
 * @typedef {{at: number, text: string, n: number}} Value
 */
export function cutting(lists, set, name) {
  const box = h("div", { class: "cutting" }, h("p", { class: "note" }, "Loading values …"));
  ask("/hierarchy", { project: state.project.id, attribute: name, hierarchy: { flat: true }, rows: true }).then((seen) => {
    const texts = (seen.rows ?? []).map((row) => ({ text: row.labels[0], n: row.n_records })).filter(({ text }) => text !== "");
    const isDate = texts.length > 0 && texts.every(({ text }) => /^\d{4}-\d{2}-\d{2}$/.test(text));
    const values = texts.map(({ text, n }) => ({ text, n, at: isDate ? Date.parse(text) / DAY : Number(text) })).filter(({ at }) => Number.isFinite(at)).sort((a, b) => a.at - b.at);
    if (values.length < 2 || values.length < texts.length / 2) return put(box, h("p", { class: "note" }, "These values are no numbers and no dates: group them instead."));
    const hasNone = texts.length < (seen.rows ?? []).length;
    picture(box, lists, (next, values, isDate) => set(next, values, isDate, hasNone), values, isDate, name);
  }, (problem) => put(box, problemBox(problem)));
  return box;
}

function picture(box, lists, set, values, isDate, name) {
  const [low, high] = [values[0].at, values[values.length - 1].at];
  const given = JSON.stringify(lists);
  lists = lists.filter((list) => list.length > 0).map((list) => [...list].sort((a, b) => a - b));
  // Cut points of dates are kept as a file of labels: what comes here is about numbers.
  if (lists.length === 0 || isDate) lists = [quantiles(values, 4), quantiles(values, 2)].filter((list, i, all) => list.length > 0 && list.length !== all[i - 1]?.length);
  const isWhole = values.every(({ at }) => Number.isInteger(at));
  const step = isWhole ? Math.max(1, 1) : (high - low) / 100;
  const x = (at) => EDGE + ((WIDTH - 2 * EDGE) * (at - low)) / (high - low || 1);
  const at = (px) => { const raw = low + ((px - EDGE) * (high - low)) / (WIDTH - 2 * EDGE); return isWhole ? Math.round(raw) : Number(raw.toPrecision(4)); };
  const told = (cut) => (isDate ? new Date(cut * DAY).toISOString().slice(0, 10) : String(cut));
  const status = h("p", { class: "note", role: "status" });
  const place = h("div", { class: "scroll" });
  const wide = (high - low || 1) / N_BARS;
  const bars = Array.from({ length: N_BARS }, () => 0);
  for (const value of values) bars[Math.min(N_BARS - 1, Math.floor((value.at - low) / wide))] += value.n;
  const most = Math.max(...bars);

  /** Cuts of a coarser level are cuts of all finer ones, so that every level is a part of the next. */
  function change(next, focus) {
    lists = next.map((list) => [...new Set(list)].filter((cut) => cut > low && cut <= high).sort((a, b) => a - b));
    for (let i = lists.length - 2; i >= 0; i--) lists[i] = [...new Set([...lists[i], ...lists[i + 1]])].sort((a, b) => a - b);
    draw();
    if (focus) place.querySelector(`[data-cut="${focus}"]`)?.focus();
    set(lists, values, isDate);
  }
  /** Moves a cut on every level that has it: a coarser level that kept it would bring it back. */
  const moved = (from, to) => lists.map((list) => list.map((cut) => (cut === from ? to : cut)));
  const without = (level, cut) => lists.map((list, i) => (i >= level ? list.filter((one) => one !== cut) : list));

  function draw() {
    const height = TALL + LEVEL * lists.length + 22;
    const counts = lists.map((list) => [...list, Infinity].map((cut, i) => values.filter((value) => value.at < cut && value.at >= (list[i - 1] ?? -Infinity)).reduce((sum, value) => sum + value.n, 0)));
    const handle = (level, cut) => {
      const y = TALL + LEVEL * level;
      const key = `${level}:${cut}`;
      return svg("g", {
        class: "handle", tabindex: 0, role: "slider", data: { cut: key }, "aria-label": `Level ${level + 1} of ${name}, cut point`, "aria-valuenow": String(cut), "aria-valuetext": told(cut), "aria-valuemin": String(low), "aria-valuemax": String(high),
        onkeydown: (event) => {
          const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[event.key];
          if (by !== undefined) { const to = Number((cut + by * step).toPrecision(10)); event.preventDefault(); if (to > low && to <= high) change(moved(cut, to), `${level}:${to}`); }
          if (event.key === "Delete" || event.key === "Backspace") { event.preventDefault(); change(without(level, cut)); }
        },
        onpointerdown: (event) => drag(event, level, cut),
      }, svg("line", { x1: x(cut), x2: x(cut), y1: level === 0 ? 4 : TALL, y2: y + LEVEL - 4 }), svg("circle", { cx: x(cut), cy: y + LEVEL / 2, r: 7 }), svg("title", {}, `${told(cut)}: drag, or arrow keys; Delete takes it away`));
    };
    put(place, svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, class: "chart cuts", role: "group", "aria-label": `How values of ${name} are spread, and where they are cut` },
      bars.map((n, i) => svg("rect", { class: "bar", x: x(low + i * wide), width: Math.max(1, (WIDTH - 2 * EDGE) / N_BARS - 1), y: TALL - (TALL - 8) * (n / most), height: (TALL - 8) * (n / most) })),
      lists.map((list, level) => [
        svg("rect", { class: "lane", x: EDGE, y: TALL + LEVEL * level + 2, width: WIDTH - 2 * EDGE, height: LEVEL - 4, onclick: (event) => add(event, level) }, svg("title", {}, "click to cut here")),
        counts[level].map((n, i) => { const [from, to] = [x(list[i - 1] ?? low), x(list[i] ?? high)]; return to - from > 52 ? svg("text", { class: "tick", x: (from + to) / 2, y: TALL + LEVEL * level + LEVEL / 2 + 4 }, grouped(n)) : null; }),
      ]),
      lists.map((list, level) => list.map((cut) => handle(level, cut))),
      (isDate ? [low, (low + high) / 2, high].map(Math.round) : roundTicks(low, high, 7)).map((tick) => svg("text", { class: "tick", x: Math.min(WIDTH - 34, Math.max(30, x(tick))), y: height - 4 }, told(tick)))));
    put(status, lists.map((list, i) => `Level ${i + 1}: ${counted(list.length + 1, "range")}, the smallest with ${counted(Math.min(...counts[i]), "record")}`).join(". "), ".");
  }

  function pointer(event) {
    const box = place.querySelector("svg").getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * WIDTH;
  }
  function add(event, level) {
    const cut = at(pointer(event));
    change(lists.map((list, i) => (i <= level ? [...list, cut] : list)), `${level}:${cut}`);
  }
  function drag(event, level, from) {
    event.preventDefault();
    let cut = from;
    const move = (event) => {
      const to = at(pointer(event));
      if (to === cut || to <= low || to > high) return;
      lists = moved(cut, to);
      cut = to;
      draw();
    };
    const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); change(lists, `${level}:${cut}`); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  const start = h("select", { "aria-label": "Start from", onchange: () => { const n = Number(start.value); start.value = ""; if (n) change([quantiles(values, n)]); } },
    h("option", { value: "" }, "Start from …"), [2, 4, 8, 16].map((n) => h("option", { value: n }, `${n} ranges of equally many records`)));
  put(box, h("p", { class: "note" }, "Drag a point, or move it with arrow keys; click a lane to cut there, Delete takes a cut away. Numbers are records."),
    h("div", { class: "row tight" }, start,
      h("button", { type: "button", class: "plain", onclick: () => change([...lists, lists[lists.length - 1].filter((_, i) => i % 2 === 1)]) }, "New level"),
      lists.length > 0 ? h("button", { type: "button", class: "plain", onclick: () => lists.length > 1 && change(lists.slice(0, -1)) }, "Remove the coarsest") : null),
    place, status);
  draw();
  if (isDate || JSON.stringify(lists) !== given) set(lists, values, isDate);
}

/** Cut points that make parts of about equally many records. */
function quantiles(values, n) {
  const all = values.reduce((sum, value) => sum + value.n, 0);
  const cuts = [];
  let sum = 0;
  for (const value of values) {
    if (sum >= (all * (cuts.length + 1)) / n && cuts.length < n - 1 && sum > 0) cuts.push(value.at);
    sum += value.n;
  }
  return cuts;
}

/** Ranges of days as a file of labels, since the project file's cut points are numbers. @param {Value[]} values */
export function datesAsText(lists, values, hasNone) {
  const label = (list, value) => {
    const i = list.findIndex((cut) => value.at < cut);
    const [from, to] = [i < 0 ? list[list.length - 1] : list[i - 1] ?? values[0].at, i < 0 ? values[values.length - 1].at : list[i] - 1];
    const day = (at) => new Date(at * DAY).toISOString().slice(0, 10);
    return `[${day(from)} to ${day(to)}]`;
  };
  const none = hasNone ? `"";${lists.map(() => '""').join(";")};*\n` : "";
  return none + values.map((value) => [value.text, ...lists.map((list) => label(list, value)), "*"].join(";")).join("\n") + "\n";
}
