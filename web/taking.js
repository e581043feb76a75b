// Pictures to take along: SVG and PNG as they are on the page, and the numbers as CSV.

import { saveAs } from "./api.js";
import { h } from "./dom.js";

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-weight", "font-family", "text-anchor"];

/** A picture with its looks written into it, so that it needs no sheet; on paper as the page is. @param {SVGElement} picture */
function standing(picture) {
  const copy = /** @type {SVGElement} */ (picture.cloneNode(true));
  const [from, to] = [[picture, ...picture.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  from.forEach((element, i) => {
    const style = getComputedStyle(element);
    for (const name of LOOKS) if (!(name === "fill" && element === picture)) to[i].setAttribute(name, style.getPropertyValue(name));
    to[i].removeAttribute("class");
  });
  const [, , width, height] = picture.getAttribute("viewBox").split(" ").map(Number);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  paper.setAttribute("width", "100%");
  paper.setAttribute("height", "100%");
  paper.setAttribute("fill", getComputedStyle(document.body).getPropertyValue("--paper"));
  copy.insertBefore(paper, copy.firstChild);
  copy.setAttribute("width", String(width));
  copy.setAttribute("height", String(height));
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

async function toPng(picture) {
  const { text, width, height } = standing(picture);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  URL.revokeObjectURL(image.src);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

/** Rows as CSV. @param {(string | number | null)[][]} rows */
export const toCsv = (rows) => rows.map((row) => row.map((cell) => (/[",\n\r]/.test(String(cell ?? "")) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell ?? ""))).join(",")).join("\n") + "\n";

/** Buttons to take a picture along, and what it was drawn from. @param {string} name @param {() => (string | number | null)[][]} rows */
export const takeAlong = (name, rows) => (picture) => h("div", { class: "row end take-along" },
  h("button", { onclick: () => saveAs(new Blob([standing(picture).text], { type: "image/svg+xml" }), `${name}.svg`) }, "SVG"),
  h("button", { onclick: async () => saveAs(await toPng(picture), `${name}.png`) }, "PNG"),
  h("button", { onclick: () => saveAs(new Blob([toCsv(rows())], { type: "text/csv" }), `${name}.csv`) }, "CSV"));
