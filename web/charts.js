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
  const grid = [0, 0.5, 1].map((share) => [
    svg("line", { class: "grid", x1: left, x2: width - right, y1: y(share * yMax), y2: y(share * yMax) }),
    svg("text", { class: "scale", x: left - 6, y: y(share * yMax) + 4 }, yName(share * yMax)),
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
 * Points on a plane, some of them named.
 * @param {{title: string, xName: string, yName: string, points: {x: number, y: number, kind: string, name?: string, label: string, mark?: string}[], yText: (y: number) => string, note?: string}} map
 */
export function scatter({ title, xName, yName, points, yText }) {
  const [width, height, left, right, above, below] = [640, 320, 72, 18, 18, 44];
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [xLow, xHigh] = [Math.max(0, Math.min(...xs) - 0.03), Math.min(1, Math.max(...xs) + 0.03)];
  const yHigh = Math.max(...ys) * 1.12 || 1;
  const x = (value) => left + ((width - left - right) * (value - xLow)) / (xHigh - xLow || 1);
  const y = (value) => above + (height - above - below) * (1 - value / yHigh);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return h("figure", { class: "chart-box wide" }, h("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart map", "aria-label": title },
      ticks.map((share) => [
        svg("line", { class: "grid", x1: left, x2: width - right, y1: y(share * yHigh), y2: y(share * yHigh) }),
        svg("text", { class: "scale", x: left - 8, y: y(share * yHigh) + 4 }, yText(share * yHigh)),
        svg("text", { class: "tick", x: x(xLow + share * (xHigh - xLow)), y: height - below + 18 },
          (xLow + share * (xHigh - xLow)).toFixed(2)),
      ]),
      svg("text", { class: "axis", x: (left + width - right) / 2, y: height - 4 }, xName),
      svg("text", { class: "axis", x: 0, y: 0, transform: `translate(13 ${(above + height - below) / 2}) rotate(-90)` }, yName),
      points.map((point) => [
        svg("circle", { class: "dot " + point.kind, cx: x(point.x), cy: y(point.y), r: point.kind === "method" ? 9 : 3 },
          svg("title", {}, point.label)),
        point.mark ? svg("text", { class: "mark", x: x(point.x), y: y(point.y) + 4 }, point.mark) : null,
      ])));
}

/** How far something is. @param {any} job */
export function progressBar(job, onCancel) {
  const { what = "starting", n_done = 0, n_all = 0 } = job?.progress ?? {};
  return h("div", { class: "progress" },
    h("span", {}, `${what.charAt(0).toUpperCase()}${what.slice(1)}…`),
    h("progress", n_all > 0 ? { max: n_all, value: n_done, "aria-label": what } : { "aria-label": what }),
    onCancel && job?.id ? h("button", { onclick: () => onCancel(job.id) }, "Cancel") : null);
}
