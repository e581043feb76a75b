// The report as it is printed: A4, the summary and the place to sign on a page of their own, nothing cut off.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inflateSync } from "node:zlib";
import { chromium } from "playwright-core";
import { BROWSER, PROGRAM, ROOT, SHOTS, folder } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

// A4 in pixels of the browser, without the margins of the style.
const [WIDTH, HEIGHT] = [((210 - 36) / 25.4) * 96, ((297 - 36) / 25.4) * 96];

const SAID = `
[report]
recipient = "the stroke registry of the region"
purpose = "a study of lengths of stay"
agreed = ["A. Curator", "B. Officer, data protection", "C. Analyst"]
`;

/** Releases that make short and long reports. @returns {Record<string, string>} the pages by name */
function reports(home) {
  const run = (...words) => execFileSync(PROGRAM, ["--quiet", ...words], { cwd: home });
  copyFileSync(join(ROOT, "examples/patients/patients.xlsx"), join(home, "patients.xlsx"));
  run("init", "patients.xlsx");
  run("publish", "--k", "5", "--l", "2", "-o", "plain.csv");
  appendFileSync(join(home, "incrowd.toml"), SAID);
  run("publish", "--k", "5", "--l", "2", "--t", "0.9", "--method", "top-down", "-o", "said.csv");
  run("demo", "hospital", "--records", "3000");
  return { plain: "plain.csv", said: "said.csv", people: "hospital/release.csv" };
}

/** What a PDF of Chromium says of its pages: their size, what is drawn outside of the text, and where headings lead. */
function read(pdf) {
  const text = pdf.toString("latin1");
  const object = (id) => new RegExp(`(?:^|\\n)${id} 0 obj\\n([^]*?)endobj`).exec(text)[1];
  const ids = (list) => [...list.matchAll(/(\d+) 0 R/g)].map((found) => found[1]);
  const leaves = (id) => {
    const kids = /\/Type \/Pages[^]*?\/Kids \[([^\]]*)\]|\/Kids \[([^\]]*)\][^]*?\/Type \/Pages/.exec(object(id));
    return kids ? ids(kids[1] ?? kids[2]).flatMap(leaves) : [id];
  };
  const pages = leaves(/\/Type \/Catalog[^]*?\/Pages (\d+) 0 R/.exec(text)[1]);
  const footer = (id) => {
    const stream = object(/\/Contents (\d+) 0 R/.exec(object(id))[1]);
    const start = stream.indexOf("stream\n") + "stream\n".length;
    const drawn = inflateSync(Buffer.from(stream.slice(start, stream.lastIndexOf("endstream")), "latin1")).toString("latin1");
    // The margins are drawn before anything is clipped to what lies within them.
    return [...drawn.slice(0, drawn.indexOf("W* n")).matchAll(/<([0-9A-F]+)> Tj/g)].map((found) => found[1]).join("");
  };
  const headings = [...text.matchAll(/\/Title \(([^)]*)\)\n\/Dest \[(\d+) 0 R/g)].map(([, title, page]) => ({ title, page: pages.indexOf(page) + 1 }));
  const size = (id) => /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(object(id)).slice(1).map((points) => Math.round(points / 72 * 25.4));
  return { pages: pages.map((id) => ({ size: size(id), footer: footer(id) })), headings };
}

test("the report prints on A4, its summary on the first page", { skip }, async (t) => {
  const home = folder(t);
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  t.after(() => browser.close());
  for (const [name, release] of Object.entries(reports(home))) {
    const page = await browser.newPage({ viewport: { width: Math.round(WIDTH), height: Math.round(HEIGHT) } });
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(pathToFileURL(join(home, `${release}.report.html`)).href);
    await page.emulateMedia({ media: "print" });
    const first = await page.locator(".first").boundingBox();
    assert.ok(first && first.height <= HEIGHT, `${name}: the first page is ${first?.height} of ${HEIGHT} pixels high`);
    for (const label of ["What", "For whom", "For what", "Promise", "Risk that is left", "What was lost", "What was agreed", "Who agreed", "How to check it"]) {
      assert.equal(await page.locator(".first dt", { hasText: new RegExp(`^${label}$`) }).count(), 1, `${name}: ${label}`);
    }
    assert.ok(await page.locator(".first .signature").isVisible(), `${name}: a place to sign`);
    if (name === "said") assert.match(await page.locator(".first").innerText(), /stroke registry[\s\S]*lengths of stay[\s\S]*B\. Officer/);
    // Nothing is wider than the paper.
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `${name} is too wide`);
    const pdf = await page.pdf({ preferCSSPageSize: true, tagged: true, outline: true });
    writeFileSync(join(SHOTS, `report-${name}.pdf`), pdf);
    const { pages, headings } = read(pdf);
    assert.ok(pages.length >= 3, `${name} has ${pages.length} pages`);
    for (const { size } of pages) assert.deepEqual(size, [210, 297], name);
    // "Page 1 of 7": the same on all pages but for one figure, which is another one on each.
    const [one, ...others] = pages.map(({ footer }) => footer.match(/..../g) ?? []);
    assert.ok(one.length >= "Page1of7".length, `${name}: ${one.length} letters below the first page`);
    for (const other of pages.length < 10 ? others : []) assert.equal(other.filter((letter, at) => letter !== one[at]).length, 1, `${name}: a page's number`);
    assert.equal(new Set(pages.map(({ footer }) => footer)).size, pages.length, `${name}: every page has its own number`);
    const on = (number) => headings.filter((heading) => heading.page === number).map((heading) => heading.title);
    assert.ok(on(1).length === 2 && on(1).includes("Summary"), `${name}: ${on(1)} on the first page`);
    assert.ok(on(2).includes("What is promised, and what is not"), `${name}: the summary takes one page`);
    assert.equal(asked.length, 1, `${name} asks for ${asked}`);
    await page.close();
  }
});
