// The lattice as a pyramid: a row per height, on the left the schemes within the wished levels, on the right those
// beyond; in each half from the fewest records lost, at the middle, outwards. Thousands of schemes stay readable.

import { h, say } from "./dom.js";
import { counted, grouped, percent } from "./words.js";

const GUTTER = 34;
/** Room on the left for what up and down mean. */
const AXIS = 22;
const HELP = "Point at a cell to see what that scheme does to the table; click to pick it.";

/**
 * @param {(place: number) => Promise<any>} describe asks for the details of a scheme
 * @param {(scheme: any) => void} onPick a scheme was clicked
 */
export function pyramid(describe, onPick) {
  const near = h("div", { class: "steps-from", role: "group", "aria-label": "One step away" });
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { tabindex: 0, role: "img", "aria-label": "The lattice of schemes" }));
  const detail = h("p", { class: "detail", "aria-live": "polite" });
  const table = h("details", { class: "as-table" });
  const root = h("div", { class: "pyramid" }, canvas, legend(), detail, near, table);
  /** @type {any} */ let around = null;
  /** @type {any} */ let wish = null;
  /** @type {any[]} */ let named = [];
  /** @type {{row: number, side: "within" | "beyond", cell: number} | null} */ let at = null;
  let asked = 0;
  /** @type {any} the scheme that was picked */ let pick = null;

  const size = () => {
    const width = canvas.clientWidth || 600;
    const n = around?.heights.length ?? 1;
    const row = Math.max(9, Math.min(20, Math.floor(340 / n)));
    return { width, row, height: row * n + 38 };
  };
  const widest = (side) => Math.max(1, ...around.heights.map((row) => row[side].cells.length));
  // Both halves have cells of one width, so the middle stands where there is room for the wider one.
  const cellWidth = () => Math.max(0.5, Math.min(14, (size().width - AXIS - GUTTER - 190) / (widest("within") + widest("beyond"))));
  const half = () => {
    const [left, right] = [widest("within") * cellWidth(), widest("beyond") * cellWidth()];
    const spare = size().width - AXIS - GUTTER - left - right;
    return AXIS + left + Math.max(Math.min(110, spare), spare / 2);
  };
  // Height 0 is at the bottom: up means coarser.
  const yOf = (row) => (around.heights.length - 1 - row) * size().row;
  const xOf = (side, cell) => (side === "within"
    ? half() - (cell + 1) * cellWidth()
    : half() + GUTTER + cell * cellWidth());

  function draw() {
    if (!around || !canvas.isConnected) return;
    const { width, row, height } = size();
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.setProperty("height", `${height}px`);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    const wide = cellWidth();
    const gap = wide > 3 ? 1 : 0;
    const scale = [1, 2, 3, 4, 5].map((i) => colour(`--lost-${i}`));
    const good = colour("--kept");
    around.heights.forEach((height, i) => {
      for (const side of ["within", "beyond"]) {
        pen.globalAlpha = side === "within" ? 1 : 0.5;
        height[side].cells.forEach(([, n], cell) => {
          pen.fillStyle = n <= wish.max_suppressed ? good : scale[shade(n)];
          pen.fillRect(xOf(side, cell), yOf(i) + 0.5, wide - gap + (gap ? 0 : 0.3), row - 1.5);
        });
      }
    });
    pen.globalAlpha = 1;
    pen.fillStyle = colour("--soft");
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    const every = row < 13 ? 2 : 1;
    around.heights.forEach((height, i) => {
      if (i % every === 0) pen.fillText(String(height.height), half() + GUTTER / 2, yOf(i) + row / 2);
    });
    pen.textBaseline = "alphabetic";
    // Where the middle stands near the edge, the words begin there.
    const within = Math.max(half() - 2, pen.measureText("within your levels").width);
    pen.textAlign = "right";
    pen.fillText("within your levels", within, height - 22);
    pen.textAlign = "left";
    pen.fillText("beyond them", Math.max(half() + GUTTER + 2, within + 10), height - 22);
    // What the directions mean, as far as there is room.
    if (width > 520) {
      pen.textAlign = "right";
      pen.fillText("← more records lost", half() - 2, height - 6);
      pen.textAlign = "left";
      if (width - half() - GUTTER > 130) pen.fillText("more records lost →", half() + GUTTER + 2, height - 6);
    }
    pen.save();
    pen.translate(10, (height - 38) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = "center";
    pen.fillText("height: coarser →", 0, 0);
    pen.restore();
    for (const mark of marks()) ring(pen, mark, colour);
    if (at) {
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      pen.strokeRect(xOf(at.side, at.cell) - 1, yOf(at.row), Math.max(wide, 3) + 1, row);
    }
  }

  const shade = (n) => Math.min(4, Math.floor(Math.sqrt(n / Math.max(1, around.n_records)) * 5));

  /** Where the answer and the offers stand, as far as they have a cell of their own. */
  function marks() {
    const found = [];
    for (const { place, name, kind } of named) {
      around.heights.forEach((height, row) => {
        for (const side of ["within", "beyond"]) {
          const cell = height[side].cells.findIndex(([known]) => known === place);
          if (cell >= 0) found.push({ row, side, cell, name, kind, shift: found.filter((f) => f.row === row && f.side === side && Math.abs(f.cell - cell) * cellWidth() < 16).length });
        }
      });
    }
    return found;
  }

  function ring(pen, { row, side, cell, name, kind, shift }, colour) {
    const x = xOf(side, cell) + cellWidth() / 2 + (side === "within" ? -1 : 1) * shift * 18;
    const y = Math.max(10, yOf(row) + size().row / 2);
    pen.beginPath();
    pen.arc(x, y, 9, 0, 2 * Math.PI);
    pen.fillStyle = colour("--paper");
    pen.fill();
    pen.lineWidth = 2.5;
    pen.strokeStyle = colour(`--${kind}`);
    pen.stroke();
    pen.fillStyle = colour("--ink");
    pen.font = "600 11px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(name, x, y + 0.5);
    pen.textBaseline = "alphabetic";
  }

  function cellAt(event) {
    const box = canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = around ? around.heights.length - 1 - Math.floor(y / size().row) : -1;
    const height = around?.heights[row];
    if (!height) return null;
    const side = x < half() ? "within" : x > half() + GUTTER ? "beyond" : null;
    if (!side) return null;
    const cell = Math.floor((side === "within" ? half() - x : x - half() - GUTTER) / cellWidth());
    return height[side].cells[cell] ? { row, side, cell } : null;
  }

  async function tellAbout(where) {
    at = where;
    draw();
    if (!where) return void (detail.textContent = HELP);
    pick = null;
    const [place, n] = around.heights[where.row][where.side].cells[where.cell];
    const mine = ++asked;
    detail.textContent = `${counted(n, "record")} lost (${percent(n / around.n_records)})`;
    const scheme = await describe(place).catch(() => null);
    if (mine === asked && scheme) {
      detail.textContent = scheme.in_words.charAt(0).toUpperCase() + scheme.in_words.slice(1) + ".";
    }
    return scheme;
  }

  canvas.addEventListener("pointermove", (event) => {
    const where = cellAt(event);
    if (JSON.stringify(where) !== JSON.stringify(at)) tellAbout(where);
  });
  canvas.addEventListener("pointerleave", () => { if (!pick) tellAbout(null); });
  canvas.addEventListener("click", async (event) => {
    const scheme = await tellAbout(cellAt(event));
    if (scheme) choose(scheme);
  });
  canvas.addEventListener("keydown", async (event) => {
    if (!around) return;
    if (event.key === "Enter" && at) {
      const [place] = around.heights[at.row][at.side].cells[at.cell];
      return choose(await describe(place));
    }
    const moves = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    tellAbout(step(at ?? { row: 0, side: "within", cell: 0 }, move));
  });

  /** A scheme was picked: it is shown, and so are those one step away. */
  function choose(scheme, isFocused = false) {
    pick = scheme;
    at = cellOf(scheme.place) ?? at;
    draw();
    detail.textContent = scheme.in_words.charAt(0).toUpperCase() + scheme.in_words.slice(1) + ".";
    const change = ({ attribute, is_coarser: isCoarser, n_suppressed: n }) => {
      const saved = scheme.n_suppressed - n;
      return `one step ${isCoarser ? "coarser" : "finer"} in ${attribute} ${saved > 0 ? `saves ${counted(saved, "record")}` : saved < 0 ? `loses ${counted(-saved, "record")} more` : "loses as many"}`;
    };
    const steps = [...(scheme.steps ?? [])].sort((a, b) => a.n_suppressed - b.n_suppressed);
    const move = (step) => async () => { const next = await describe(step.place).catch(() => null); if (next) { choose(next, true); say(next.in_words); } };
    near.replaceChildren(...steps.map((step) => h("button", { class: "plain", onclick: move(step) }, change(step))));
    if (isFocused) near.querySelector("button")?.focus();
    onPick(scheme);
  }

  const cellOf = (place) => {
    for (let row = 0; row < around.heights.length; row++) {
      for (const side of ["within", "beyond"]) {
        const cell = around.heights[row][side].cells.findIndex(([known]) => known === place);
        if (cell >= 0) return { row, side, cell };
      }
    }
    return null;
  };

  /** The cell next to one, in reading order of the picture. */
  function step(from, [up, right]) {
    const row = Math.max(0, Math.min(around.heights.length - 1, from.row + up));
    let { side, cell } = from;
    if (right !== 0) {
      const outwards = side === "within" ? -right : right;
      if (outwards < 0 && cell === 0) side = side === "within" ? "beyond" : "within";
      else cell += outwards;
    }
    const has = (side) => around.heights[row][side].cells.length;
    if (has(side) === 0) side = side === "within" ? "beyond" : "within";
    return { row, side, cell: Math.max(0, Math.min(has(side) - 1, cell)) };
  }

  new ResizeObserver(draw).observe(canvas);

  return {
    root,
    draw,
    /** @param {any} next what explore says @param {any} nextWish @param {{place: number, name: string, kind: string}[]} nextNamed */
    update(next, nextWish, nextNamed) {
      around = next;
      wish = nextWish;
      named = nextNamed;
      // Who is looking at a cell goes on looking at it.
      if (!at || !around.heights[at.row]?.[at.side].cells[at.cell]) {
        at = null;
        detail.textContent = HELP;
      }
      pick = null;
      near.replaceChildren();
      const n = around.heights.reduce((sum, row) => sum + row.within.cells.filter(([, lost]) => lost <= wish.max_suppressed).length, 0);
      canvas.setAttribute("aria-label",
        `${grouped(around.n_schemes)} schemes by height; ${n === 0 ? "none" : grouped(n)} within the wished levels loses few enough records. Arrow keys move, Enter chooses.`);
      asTable();
      draw();
    },
  };

  function asTable() {
    const rows = around.heights.map((row) => h("tr", {},
      h("th", { scope: "row" }, String(row.height)), h("td", {}, grouped(row.n_schemes)), h("td", {}, grouped(row.within.n_schemes)),
      h("td", {}, row.within.cells.length ? grouped(row.within.cells[0][1]) : "–"), h("td", {}, grouped(row.n_suppressed.min))));
    table.replaceChildren(h("summary", {}, "The same as a table"),
      h("table", { class: "numbers" },
        h("thead", {}, h("tr", {}, ["height", "schemes", "within your levels", "fewest lost within", "fewest lost anywhere"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows)));
  }

  function legend() {
    return h("p", { class: "legend" },
      h("span", {}, h("i", { class: "swatch kept" }), "loses no more than allowed"),
      h("span", {}, [1, 2, 3, 4, 5].map((i) => h("i", { class: `swatch lost-${i}` })), "loses more, up to all"),
      h("span", { class: "soft" }, "up: coarser"));
  }
}
