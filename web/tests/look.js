// What a designer's eye looks for, in code: text that is cut off or falls out of the window, and what axe-core finds.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe-core finds on what is shown, in words. @param {import("playwright-core").Page} page */
export async function findings(page) {
  await page.evaluate(`window.axe ?? (() => {${AXE}})()`);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, nodes }) => nodes.slice(0, 4).map((node) => `${id}: ${node.target.join(" ")} (${(node.any[0] ?? node.all[0] ?? node.none[0])?.message ?? ""})`));
  });
}

/** Texts that stand outside of the window or of their box, without a way to get at them. */
export const cutOff = (page) => page.evaluate(() => {
  const found = [];
  const scrolls = (element) => {
    for (let at = element; at && at !== document.body; at = at.parentElement) if (["auto", "scroll"].includes(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  const says = (element) => { for (let at = element; at; at = at.parentElement) if (at.title) return true; return false; };
  const named = (element) => `${element.tagName.toLowerCase()}${element.className && typeof element.className === "string" ? `.${element.className.trim().replaceAll(/\s+/g, ".")}` : ""} “${(element.textContent ?? "").trim().slice(0, 40)}”`;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || !element.checkVisibility({ checkVisibilityCSS: true }) || element.closest(".unseen, .skip, option, script, noscript")) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width === 0 || box.height === 0) continue;
      if ((box.right > innerWidth + 1 || box.left < -1) && !scrolls(element)) { found.push(`outside: ${named(element)}`); break; }
      let isHidden = false;
      for (let at = element; at && at !== document.body; at = at.parentElement) {
        const style = getComputedStyle(at);
        if (style.clipPath !== "none") { isHidden = false; break; }
        if (!["hidden", "clip"].includes(style.overflowX)) continue;
        const edge = at.getBoundingClientRect();
        if (box.right > edge.right + 1 && !says(element)) isHidden = true;
      }
      if (isHidden) { found.push(`cut: ${named(element)}`); break; }
      const card = element.closest(".card, dialog");
      const edge = card?.getBoundingClientRect();
      if (edge && (box.right > edge.right + 1 || box.left < edge.left - 1) && !scrolls(element)) { found.push(`outside of its card: ${named(element)}`); break; }
    }
  }
  const pen = document.createElement("canvas").getContext("2d");
  for (const select of document.querySelectorAll("select, input[type=text], input:not([type])")) {
    if (!select.checkVisibility() || (select.title && select.tagName !== "SELECT")) continue;
    const style = getComputedStyle(select);
    // The short form is empty where something of it cannot be said in short.
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const text = select.tagName === "SELECT" ? select.selectedOptions[0]?.textContent ?? "" : select.value;
    const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - (select.tagName === "SELECT" ? 14 : 0);
    if (pen.measureText(text).width > room + 2) found.push(`too narrow: ${named(select).slice(0, 20)} “${text}”`);
    const box = select.getBoundingClientRect();
    const edge = select.closest(".card, dialog")?.getBoundingClientRect();
    if (edge && box.right > edge.right - 4 && !scrolls(select)) found.push(`outside of its card: ${named(select).slice(0, 30)}`);
    if ((box.right > innerWidth + 1 || box.left < -1) && !scrolls(select)) found.push(`outside: ${named(select).slice(0, 30)}`);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  return [...new Set(found)];
});
