// The report as it is printed: A4, the summary and the place to sign on a page of their own, nothing cut off.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { appendFileSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
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
    const pdf = await page.pdf({ preferCSSPageSize: true });
    writeFileSync(join(SHOTS, `report-${name}.pdf`), pdf);
    const text = pdf.toString("latin1");
    const boxes = [...text.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map((found) => [Number(found[1]), Number(found[2])]);
    assert.ok(boxes.length >= 3, `${name} has ${boxes.length} pages`);
    for (const [width, height] of boxes) assert.ok(Math.abs(width - 595) < 2 && Math.abs(height - 842) < 2, `${name}: ${width} by ${height}`);
    assert.equal(asked.length, 1, `${name} asks for ${asked}`);
    await page.close();
  }
  assert.ok(readFileSync(join(home, "said.csv.report.html"), "utf8").includes("counter(page)"), "pages are numbered");
});
