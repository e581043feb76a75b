// Small charts: lines with a mark at what is asked for, bars, and a map of points. Each says in words what it shows.

import { h, svg } from "./dom.js";

/**
 * @typedef {{x: number, y: number | null, label: string}} Point
 * @typedef {{name: string, kind: string, points: Point[]}} Line
 *
 * A chart of lines over steps that are equally far apart, so that 2, 5, 10 and 100 all have room.
 * @param {{title: string, lines: Line[], ticks: string[], yName: (y: number) => string, yMax: number, at?: number, limit?: number | null, xName: string, onPick?: (i: number) => void}} chart
 */
export function lineChart({ title, lines, ticks, yName, yMax, at = -1, limit = null, xName, onPick }) {
  const [width, height, left, right, above, below] = [360, 176, 46, 14, 12, 34];
  const n = Math.max(1, ticks.length - 1);
  const x = (i) => left + ((width - left - right) * i) / n;
  const y = (value) => above + (height - above - below) * (1 - Math.min(1, value / (yMax || 1)));
  const grid = roundTicks(0, yMax, 4).map((value) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
    svg("text", { class: "scale", x: left - 6, y: y(value) + 4 }, yName(value)),
  ]);
  const every = Math.ceil(ticks.length / 9);
  const marks = ticks.map((tick, i) => (i % every === 0 && Math.abs(i - at) >= every) || i === at
    ? svg("text", { class: i === at ? "tick at" : "tick", x: x(i), y: height - below + 16 }, tick) : null);
  const drawn = lines.map(({ kind, points }) => {
    const path = points.filter((point) => point.y !== null)
      .map((point, i) => `${i === 0 ? "M" : "L"}${x(point.x).toFixed(1)} ${y(point.y).toFixed(1)}`).join("");
    return [
      svg("path", { class: "line " + kind, d: path }),
      points.filter((point) => point.y !== null).map((point) =>
        svg("circle", { class: "dot " + kind + (point.x === at ? " at" : ""), cx: x(point.x), cy: y(point.y), r: point.x === at ? 4.5 : 2.2 },
          svg("title", {}, point.label))),
    ];
  });
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart", "aria-label": title },
    grid, marks,
    svg("text", { class: "axis", x: (left + width - right) / 2, y: height - 2 }, xName),
    at >= 0 ? svg("line", { class: "asked", x1: x(at), x2: x(at), y1: above, y2: height - below }) : null,
    limit !== null && limit <= yMax ? [
      svg("line", { class: "limit", x1: left, x2: width - right, y1: y(limit), y2: y(limit) }),
      svg("text", { class: "limit-name", x: width - right, y: y(limit) - 4 }, "allowed"),
    ] : null,
    drawn);
  if (onPick) {
    picture.classList.add("pickable");
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      onPick(Math.max(0, Math.min(ticks.length - 1, Math.round(((at - left) / (width - left - right)) * n))));
    });
  }
  const names = lines.length > 1 ? h("p", { class: "legend" }, lines.map(({ name, kind }) =>
    h("span", {}, h("i", { class: "swatch line " + kind }), name))) : null;
  return h("figure", { class: "chart-box" }, h("figcaption", {}, title), picture, names);
}

/** A tiny bar chart of how often values occur. @param {{value?: string, n_records: number}[]} bars */
export function sparkBars(bars, label) {
  if (!bars || bars.length === 0) return h("span", { class: "soft" }, "–");
  const most = Math.max(...bars.map((bar) => bar.n_records), 1);
  const wide = 100 / bars.length;
  return svg("svg", { class: "spark", viewBox: "0 0 100 28", preserveAspectRatio: "none", role: "img", "aria-label": label },
    bars.map((bar, i) => {
      const tall = Math.max(bar.n_records > 0 ? 1 : 0, (26 * bar.n_records) / most);
      return svg("rect", { x: i * wide + wide * 0.08, width: wide * 0.84, y: 28 - tall, height: tall },
        svg("title", {}, (bar.value !== undefined ? bar.value + ": " : "") + bar.n_records.toLocaleString("en") + " records"));
    }));
}

/**
 * Points on a plane, some of them named: marks that would lie on each other are moved apart, with a line to where they are;
 * what no other point beats is joined by a line.
 * @param {{title: string, xName: string, yName: string, points: {x: number, y: number, kind: string, label: string, mark?: string}[], xText: (x: number) => string, yText: (y: number) => string, take?: (picture: SVGElement) => any}} map
 */
export function scatter({ title, xName, yName, points, xText, yText, take }) {
  const [width, height, left, right, above, below] = [640, 340, 72, 26, 18, 44];
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [xLow, xHigh] = [Math.max(0, Math.min(...xs) - 0.02), Math.min(1, Math.max(...xs) + 0.03)];
  const yHigh = Math.max(...ys) * 1.12 || 1;
  const x = (value) => left + ((width - left - right) * (value - xLow)) / (xHigh - xLow || 1);
  const y = (value) => above + (height - above - below) * (1 - value / yHigh);
  const front = frontier(points.map((point) => [point.x, point.y]));
  const marked = apart(points.filter((point) => point.mark).map((point) => ({ point, x: x(point.x), y: y(point.y) })), [left, width - right], [above, height - below]);
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart map", "aria-label": title, xmlns: "http://www.w3.org/2000/svg" },
    roundTicks(0, yHigh, 5).map((value) => [
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { class: "scale", x: left - 8, y: y(value) + 4 }, yText(value)),
    ]),
    roundTicks(xLow, xHigh, 6).map((value) => [
      svg("line", { class: "grid", x1: x(value), x2: x(value), y1: height - below, y2: height - below + 4 }),
      svg("text", { class: "tick", x: x(value), y: height - below + 18 }, xText(value)),
    ]),
    svg("text", { class: "axis", x: (left + width - right) / 2, y: height - 4 }, xName),
    svg("text", { class: "axis", x: 0, y: 0, transform: `translate(13 ${(above + height - below) / 2}) rotate(-90)` }, yName),
    svg("path", { class: "frontier", d: front.map(([px, py], i) => `${i === 0 ? "M" : "L"}${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join("") }),
    points.filter((point) => !point.mark).map((point) => svg("circle", { class: "dot " + point.kind, cx: x(point.x), cy: y(point.y), r: 3 }, svg("title", {}, point.label))),
    // What leads to marks lies below all of them.
    marked.map(({ point, x: at, y: up, ownX, ownY }) => (Math.hypot(at - ownX, up - ownY) > 1
      ? [svg("line", { class: "leader", x1: ownX, y1: ownY, x2: at, y2: up }), svg("circle", { class: "dot " + point.kind, cx: ownX, cy: ownY, r: 3 })] : null)),
    marked.map(({ point, x: at, y: up }) => [
      svg("circle", { class: "dot named " + point.kind, cx: at, cy: up, r: 9.5 }, svg("title", {}, point.label)),
      svg("text", { class: "mark", x: at, y: up + 4 }, point.mark),
    ]));
  return h("figure", { class: "chart-box wide" }, h("figcaption", {}, title), h("div", { class: "map-box", tabindex: 0, role: "region", "aria-label": title }, picture), take ? take(picture) : null);
}

/** The points that no other beats in both directions, from left to right. @param {number[][]} points */
export function frontier(points) {
  const front = [];
  let lowest = Infinity;
  for (const point of [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (point[1] >= lowest) continue;
    lowest = point[1];
    front.push(point);
  }
  return front;
}

/** Moves marks apart that lie on each other, as little as it takes. */
export function apart(marks, [xMin, xMax], [yMin, yMax]) {
  const placed = [];
  for (const mark of marks) {
    let best = null;
    for (let ring = 0; ring < 14 && !best; ring++) {
      for (let turn = 0; turn < (ring === 0 ? 1 : 12) && !best; turn++) {
        const [px, py] = [mark.x + ring * 9 * Math.cos((turn * Math.PI) / 6), mark.y + ring * 9 * Math.sin((turn * Math.PI) / 6)];
        const isFree = px >= xMin && px <= xMax && py >= yMin && py <= yMax && placed.every((other) => Math.hypot(other.x - px, other.y - py) >= 19);
        if (isFree || ring === 13) best = { ...mark, x: px, y: py, ownX: mark.x, ownY: mark.y };
      }
    }
    placed.push(best);
  }
  return placed;
}

/** Round numbers between two, about so many: 0, 2,000, 4,000. */
export function roundTicks(low, high, about) {
  const rough = (high - low) / about || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough * 0.999) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high * (1 + 1e-9); i++) ticks.push(Number((i * step).toPrecision(12)));
  return ticks;
}

/** When a part of a job was first seen, and how far it was. @type {Map<string, {at: number, nDone: number}>} */
const begun = new Map();

/** About how long something takes yet; nothing where that cannot be told. @param {any} job */
function timeLeft(job) {
  const { what, n_done: nDone = 0, n_all: nAll = 0 } = job?.progress ?? {};
  if (!job?.id || nAll === 0) return null;
  const key = `${job.id} ${what}`;
  const first = begun.get(key);
  if (!first) {
    if (begun.size > 100) begun.clear();
    begun.set(key, { at: Date.now(), nDone });
    return null;
  }
  const seconds = (Date.now() - first.at) / 1000;
  const share = (nDone - first.nDone) / Math.max(1, nAll - first.nDone);
  return seconds < 2 || share < 0.01 ? null : seconds / share - seconds;
}

/** 95 as "2 minutes". */
const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`);

/** What a search has found up to now. */
function found({ search, n_done: nDone, n_all: nAll }) {
  const best = search.best ? `best so far: ${search.best.quality === "height" ? `height ${search.best.value}` : `${search.best.quality} ${(100 * search.best.value).toFixed(1)} %`}` : "nothing found yet";
  const bound = search.loss_at_least > 0.0005 && search.best?.quality !== "height" ? `, none is below ${(100 * search.loss_at_least).toFixed(1)} %` : "";
  return `${best}${bound}; ${search.n_looked_at.toLocaleString("en")} schemes looked at; at most ${duration(nAll - nDone)} more`;
}

/** How far something is. @param {any} job */
export function progressBar(job, onCancel, onEnough) {
  const { what = "starting", n_done = 0, n_all = 0 } = job?.progress ?? {};
  return h("div", { class: "progress" },
    h("span", {}, `${what.charAt(0).toUpperCase()}${what.slice(1)}…`),
    h("progress", n_all > 0 ? { max: n_all, value: n_done, "aria-label": what } : { "aria-label": what }),
    job?.progress?.search ? h("small", { class: "found" }, found(job.progress)) : n_all > 0 && /annotat/.test(what) ? h("small", {}, `${n_done.toLocaleString("en")} of ${n_all.toLocaleString("en")} schemes`) : null,
    !job?.progress?.search && timeLeft(job) !== null ? h("small", {}, `about ${duration(timeLeft(job))} left`) : null,
    onEnough && job?.progress?.search ? h("button", { onclick: () => onEnough(job.id) }, "Stop here") : null,
    onCancel && job?.id ? h("button", { onclick: () => onCancel(job.id) }, "Cancel") : null);
}
