// The groups of a cut as an icicle: all records above, below them the same records in ever smaller parts, at the bottom
// the groups that are published. Width is records, colour is what they lose; what is suppressed is hatched.

import { h, put, say } from "./dom.js";
import { counted, grouped, percent } from "./words.js";

const ROW = 24;
const LAST = 46;
const HELP = "Point at a part to see its ranges; click to look into it.";

/**
 * @param {(node: number) => Promise<any>} describe asks for the ranges of a part
 * @param {(node: number) => Promise<any>} lookInto asks for the parts of a part
 */
export function icicle(describe, lookInto) {
  const canvas = /** @type {HTMLCanvasElement} */ (h("canvas", { tabindex: 0, role: "img", "aria-label": "The groups that would be published" }));
  const detail = h("div", { class: "detail", "aria-live": "polite" }, HELP);
  const back = h("div", { class: "row" });
  const table = h("details", { class: "as-table" });
  const root = h("div", { class: "icicle" }, canvas, legend(), back, detail, table);
  /** @type {any} what is shown, and all records */ let shown = null;
  /** @type {any} */ let whole = null;
  /** @type {{row: number, piece: number} | null} */ let at = null;
  /** @type {MouseEvent | null} where the pointer is, as long as it is over the picture */ let pointer = null;
  let asked = 0;

  const width = () => canvas.clientWidth || 600;
  const x = (from) => (from / shown.n_records) * width();
  const yOf = (row) => row * ROW;
  const tall = (row) => (row === shown.rows.length - 1 ? LAST : ROW);

  function draw() {
    if (!shown || !canvas.isConnected) return;
    const height = ROW * (shown.rows.length - 1) + LAST;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width() * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.setProperty("height", `${height}px`);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width(), height);
    const style = getComputedStyle(canvas);
    const colour = (name) => style.getPropertyValue(name).trim();
    const scale = [colour("--kept"), ...[1, 2, 3, 4, 5].map((i) => colour(`--lost-${i}`))];
    shown.rows.forEach((row, r) => {
      for (const [, from, n, , lost, loss] of row) {
        const [left, wide] = [x(from), x(n)];
        const gap = wide > 4 ? 1 : wide > 2 ? 0.5 : 0;
        const box = [left, yOf(r) + 0.5, Math.max(0.4, wide - gap), tall(r) - 1.5];
        pen.globalAlpha = r === shown.rows.length - 1 ? 1 : 0.85;
        pen.fillStyle = lost === n ? colour("--tint") : scale[shade((loss * n - lost) / (n - lost))];
        pen.fillRect(...box);
        pen.globalAlpha = 1;
        // As much of a part is hatched as is lost of it.
        if (lost > 0) hatch(pen, box[0] + box[2] * (1 - lost / n), box[1], Math.max(0.6, (box[2] * lost) / n), box[3], colour("--bad"));
        if (wide > 46 && r < shown.rows.length - 1) {
          pen.fillStyle = inkOn(lost === n ? colour("--tint") : scale[shade((loss * n - lost) / (n - lost))]);
          pen.font = "11px system-ui, sans-serif";
          pen.textBaseline = "middle";
          pen.textAlign = "center";
          pen.fillText(grouped(n), left + wide / 2, yOf(r) + tall(r) / 2);
        }
      }
    });
    if (at) {
      const [, from, n] = shown.rows[at.row][at.piece];
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      pen.strokeRect(x(from) + 1, yOf(at.row) + 1, Math.max(3, x(n) - 2), tall(at.row) - 3);
    }
  }

  function legend() {
    const swatch = (name, text) => h("span", {}, h("i", { class: `swatch ${name}` }), text);
    return h("p", { class: "legend" }, "Detail lost:", swatch("kept", "none"), swatch("lost-1", "up to 4 %"), swatch("lost-2", "16 %"), swatch("lost-3", "36 %"), swatch("lost-4", "64 %"), swatch("lost-5", "more"), swatch("hatched", "suppressed"));
  }

  /** Which piece is at a place of the canvas. */
  function pieceAt(event) {
    const box = canvas.getBoundingClientRect();
    const row = Math.min(shown.rows.length - 1, Math.floor((event.clientY - box.top) / ROW));
    const record = ((event.clientX - box.left) / box.width) * shown.n_records;
    const piece = shown.rows[row].findIndex(([, from, n]) => record >= from && record < from + n);
    return piece < 0 ? null : { row, piece };
  }

  /** The part itself; of several that are too small to be seen, the one above that has them. */
  function nodeAt({ row, piece }) {
    const [node, from, n] = shown.rows[row][piece];
    if (node !== null || row === 0) return node ?? shown.node;
    const above = shown.rows[row - 1].findIndex(([, start, many]) => from >= start && from + n <= start + many);
    return above < 0 ? shown.node : nodeAt({ row: row - 1, piece: above });
  }

  async function point(next) {
    if (next?.row === at?.row && next?.piece === at?.piece) return;
    at = next;
    draw();
    if (!at) return put(detail, HELP);
    const mine = ++asked;
    const [node, , n, groups, lost] = shown.rows[at.row][at.piece];
    const several = node === null ? `${counted(groups, "small group")} with ${counted(n, "record")} together${lost ? `, ${grouped(lost)} of them suppressed` : ""}; they are in: ` : "";
    try {
      const group = await describe(nodeAt(at));
      if (mine === asked) put(detail, inWords(group, several));
    } catch (problem) {
      if (mine === asked) put(detail, problem.message);
    }
  }

  async function into(node) {
    try {
      shown = node === whole.node ? whole : await lookInto(node);
      at = null;
      put(back, shown === whole ? null : h("button", { class: "plain", onclick: () => into(whole.node) }, `All ${counted(whole.n_records, "record")}`),
        shown === whole ? null : h("span", { class: "note" }, `${counted(shown.n_records, "record")} are shown`));
      put(detail, HELP);
      draw();
      fillTable();
    } catch (problem) {
      put(detail, problem.message);
    }
  }

  canvas.addEventListener("mousemove", (event) => { pointer = event; if (shown) point(pieceAt(event)); });
  canvas.addEventListener("mouseleave", () => { pointer = null; if (shown) point(null); });
  canvas.addEventListener("click", (event) => {
    const piece = shown && pieceAt(event);
    if (piece) into(nodeAt(piece));
  });
  canvas.addEventListener("keydown", (event) => {
    if (!shown) return;
    const { row, piece } = at ?? { row: 0, piece: 0 };
    const middle = () => { const [, from, n] = shown.rows[row][piece]; return from + n / 2; };
    const inRow = (r) => ({ row: r, piece: Math.max(0, shown.rows[r].findIndex(([, from, n]) => middle() >= from && middle() < from + n)) });
    const moves = {
      ArrowLeft: () => point({ row, piece: Math.max(0, piece - 1) }), ArrowRight: () => point({ row, piece: Math.min(shown.rows[row].length - 1, piece + 1) }),
      ArrowUp: () => point(inRow(Math.max(0, row - 1))), ArrowDown: () => point(inRow(Math.min(shown.rows.length - 1, row + 1))),
      Enter: () => at && into(nodeAt(at)), Escape: () => into(whole.node),
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  });
  new ResizeObserver(() => draw()).observe(canvas);

  /** The same in numbers, for whoever does not look at pictures. */
  function fillTable() {
    const rows = shown.rows[Math.min(2, shown.rows.length - 1)];
    put(table, h("summary", {}, "As a table"), h("div", { class: "scroll" }, h("table", { class: "numbers" },
      h("thead", {}, h("tr", {}, ["records", "groups", "suppressed", "detail lost"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map(([, , n, groups, lost, loss]) => h("tr", {}, [grouped(n), grouped(groups), grouped(lost), percent(loss)].map((text) => h("td", {}, text))))))));
  }

  return {
    root, draw,
    update(groups) {
      whole = groups;
      shown = groups;
      at = null;
      put(back);
      put(detail, HELP);
      draw();
      fillTable();
      // Whoever points at the picture already is told of what is there now.
      if (pointer) point(pieceAt(pointer));
      say(`${counted(groups.rows.at(-1).reduce((sum, piece) => sum + piece[3], 0), "group")} in the picture.`);
    },
  };
}

/** Shades by the square root of what is lost: 4, 16, 36, 64 and 100 %. */
const shade = (loss) => Math.min(5, Math.ceil(Math.sqrt(Math.max(0, loss)) * 5 - 1e-9));

/** Black or white, whichever can be read on a colour such as #fbe3bd. */
function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.3 * r + 0.59 * g + 0.11 * b > 140 ? "#15181b" : "#f2f4f6";
}

function hatch(pen, left, top, wide, tall, colour) {
  pen.save();
  pen.beginPath();
  pen.rect(left, top, wide, tall);
  pen.clip();
  pen.strokeStyle = colour;
  pen.lineWidth = 1.4;
  for (let x = left - tall; x < left + wide; x += 5) {
    pen.beginPath();
    pen.moveTo(x, top + tall);
    pen.lineTo(x + tall, top);
    pen.stroke();
  }
  pen.restore();
}

const STATES = { published: "Published as one group", suppressed: "Suppressed", divided: "Divided further" };

function inWords(group, before) {
  const ranges = Object.entries(group.ranges).map(([name, text]) => h("span", { class: "range" }, h("small", {}, name), " ", h("b", {}, text)));
  const divided = group.state === "divided" ? ` in ${counted(group.n_groups, "group")}${group.n_suppressed ? `, ${grouped(group.n_suppressed)} suppressed` : ""}` : "";
  return [before, h("b", {}, STATES[group.state]), `: ${counted(group.n_records, "record")}${divided}, detail lost ${percent(group.loss)}. `, h("span", { class: "box-ranges" }, ranges)];
}
