// The first minutes with a table of one's own: what was guessed, what must be decided, and that nothing is lost on the way.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { BROWSER, ROOT, folder, open, serve } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

/** Visits of 200 subjects, six of each. */
function visits() {
  const lines = ["subject,age,city,job,disease"];
  for (let i = 0; i < 1200; i++) {
    const who = i % 200;
    lines.push(`P${1000 + who},${20 + ((who * 13) % 60)},${["Oslo", "Umea", "Rome", "Pisa"][who % 4]},${["cook", "clerk", "smith"][(who >> 2) % 3]},${["flu", "cold", "gout"][i % 3]}`);
  }
  return lines.join("\n") + "\n";
}

const wishOf = (page) => page.evaluate(() => JSON.parse(decodeURIComponent(location.hash.match(/request=([^&]+)/)[1])));
const to = (page, screen) => page.locator("#top nav a", { hasText: screen }).click();

test("without a project file the data come first, and what must be decided is counted", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "visits.csv"), visits());
  const server = await serve(t, [join(home, "visits.csv")]);
  const { page, complaints } = await open(t, server.url);
  await page.getByText("0 of 5 decided").or(page.getByText("0 of 4 decided")).waitFor();
  assert.match(page.url(), /#data/);
  assert.match(await page.locator("[data-question=person]").innerText(), /Is subject a person: 200 values, 6\.0 records each\?/);
  const n = await page.locator(".questions li").count();
  await page.locator("[data-question=person]").getByRole("button").click();
  await page.locator("[data-question=known]").getByRole("button").click();
  await page.getByText(`2 of ${n} decided`).waitFor();
  // Changing a role asks nothing twice.
  await page.getByLabel("Role of job").selectOption("other");
  await page.waitForFunction(() => document.querySelector("#talk").textContent === "job is now other");
  await page.getByText(`2 of ${n} decided`).waitFor();
  await page.getByLabel("Role of job").selectOption("quasi-identifier");
  await page.waitForFunction(() => document.querySelector("#talk").textContent === "job is now quasi-identifier");
  await page.getByRole("button", { name: "Next: hierarchies" }).click();
  await page.locator("[data-question=hierarchies]").getByRole("button", { name: /That is right/ }).click();
  await page.getByText(`3 of ${n} decided`).waitFor();
  await page.getByRole("button", { name: "Next: negotiate" }).click();
  // The first request shows the idea.
  await page.locator(".offer").first().waitFor();
  assert.equal(await page.locator(".offer").count(), 3);
  await page.getByText(`3 of ${n} decided`).waitFor();
  assert.match(await page.locator(".source").innerText(), /1,200 records/);
  assert.deepEqual(complaints, []);
});

test("the demo says that it is made up, and opens on its answer", { skip }, async (t) => {
  const server = await serve(t);
  const { page } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  assert.match(await page.locator(".source").innerText(), /made up/);
  assert.equal(await page.locator(".guide").count(), 0);
  await to(page, "Data");
  await page.getByText("made up, nobody is in it").waitFor();
  // A table of one's own that is opened there is not made up, and what was guessed of it must be decided.
  await page.getByRole("button", { name: "Open another table" }).click();
  await page.setInputFiles("#file", { name: "visits.csv", mimeType: "text/csv", buffer: Buffer.from(visits()) });
  await page.locator(".guide").waitFor();
  assert.doesNotMatch(await page.locator("body").innerText(), /made up/);
});

test("the numbers of the data and of the bar agree, or say why not", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "visits.csv"), visits().replace("Oslo", "").replace("Umea", ""));
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "visits.csv"\nmissing_records = "drop"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[request]\nk = 5\n`);
  const server = await serve(t, [home]);
  const { page } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  assert.match(await page.locator(".source").innerText(), /1,198 of 1,200 records/);
  await to(page, "Data");
  await page.getByText("1,200 records, 5 columns; 2 that lack a value are left out of every answer").waitFor();
});

test("any readable file can be uploaded, and what is refused leaves nothing", { skip }, async (t) => {
  const home = folder(t);
  const elsewhere = folder(t);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.getByRole("heading", { name: "Open a table" }).waitFor();
  // A file that only looks like one.
  writeFileSync(join(elsewhere, "broken.xlsx"), Buffer.concat([Buffer.from("PK\u0003\u0004"), Buffer.alloc(200, 7)]));
  await page.setInputFiles("#file", join(elsewhere, "broken.xlsx"));
  await page.locator(".problem").waitFor();
  assert.match(await page.locator(".problem").innerText(), /broken\.xlsx/);
  assert.doesNotMatch(await page.locator(".problem").innerText(), /\/proc\//);
  assert.deepEqual(readdirSync(home), []);
  for (const [name, bytes] of [["DATA.CSV", Buffer.from(visits())], ["annual_report_2024.csv", Buffer.from(visits())], ["visits.csv.gz", gzipSync(visits())]]) {
    writeFileSync(join(elsewhere, name), bytes);
    if (await page.locator("#file").count() === 0) await page.getByRole("button", { name: "Open another table" }).click();
    await page.setInputFiles("#file", join(elsewhere, name));
    await page.getByRole("heading", { name, exact: true }).waitFor();
    await page.locator(".columns").waitFor();
    assert.ok(existsSync(join(home, name)));
  }
  await page.getByRole("button", { name: "Open another table" }).click();
  for (const name of ["DATA.CSV", "annual_report_2024.csv"]) await page.locator(".files").getByText(name).waitFor();
  assert.deepEqual(complaints.filter((text) => !/422/.test(text)), []);
});

test("a file that is dropped anywhere on the page is opened, with its labels", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "visits.csv"), visits());
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "visits.csv"\nrecords = "independent"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[request]\nk = 5\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  const drop = async (name) => {
    const bytes = [...readFileSync(join(ROOT, "workbench/tests/fixtures", name))];
    const carried = await page.evaluateHandle(({ name, bytes }) => {
      const carried = new DataTransfer();
      carried.items.add(new File([new Uint8Array(bytes)], name));
      return carried;
    }, { name, bytes });
    await page.dispatchEvent("main", "drop", { dataTransfer: carried });
    await page.getByRole("heading", { name, exact: true }).waitFor();
    await page.locator(".columns").waitFor();
  };
  // From another screen, and from this one: SPSS with labels, Excel, OpenDocument, Stata.
  for (const name of ["people.sav", "people.xlsx", "people.ods", "people.dta"]) {
    await drop(name);
    assert.ok(existsSync(join(home, name)));
  }
  await page.getByText("How the table is read").click();
  assert.equal(await page.getByLabel("Codes with labels are read as").inputValue(), "labels");
  assert.deepEqual(complaints, []);
});

test("a role changes, the wishes stay, and undo, back and forward lead across it", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "visits.csv"), visits());
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "visits.csv"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.disease]\nrole = "sensitive"\n[request]\nk = 5\nmax_suppressed = "2%"\n`);
  const server = await serve(t, [home]);
  const { page, context, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  const k = page.locator(".officer .knob input.value").first();
  await k.fill("17");
  await k.press("Enter");
  await page.waitForFunction(() => location.hash.includes("%22k%22%3A17"));
  const first = await page.evaluate(() => location.hash.match(/project=(\w+)/)[1]);
  await to(page, "Data");
  await page.getByLabel("Role of job").selectOption("quasi-identifier");
  await page.waitForFunction(() => document.querySelector("#talk").textContent === "job is now quasi-identifier");
  await to(page, "Negotiate");
  await page.locator(".analyst").getByText("job").waitFor();
  assert.equal((await wishOf(page)).k, 17);
  assert.deepEqual(Object.keys((await wishOf(page)).max_level).sort(), ["age", "city", "job"]);
  // Undo: first the role, then the wish.
  await page.locator("#tool-undo").click();
  await page.waitForFunction((id) => location.hash.includes(id), first);
  await page.waitForFunction(() => document.querySelector(".analyst") && !document.querySelector(".analyst").textContent.includes("job"));
  assert.equal((await wishOf(page)).k, 17);
  await page.locator("#tool-undo").click();
  await page.waitForFunction(() => location.hash.includes("%22k%22%3A5"));
  await page.locator("#tool-redo").click();
  await page.locator("#tool-redo").click();
  await page.locator(".analyst").getByText("job").waitFor();
  assert.equal((await wishOf(page)).k, 17);
  // Back and forward.
  await page.goBack();
  await page.locator(".columns").waitFor();
  assert.match(page.url(), /#data/);
  await page.goForward();
  await page.locator(".verdict, .offer").first().waitFor();
  assert.match(page.url(), /#negotiate/);
  // A link opens the same in another tab of this browser, without the key in it.
  await page.locator(".analyst").getByText("job").waitFor();
  const link = page.url();
  assert.doesNotMatch(link, /key=/);
  const second = await context.newPage();
  await second.goto(link);
  await second.locator(".analyst").getByText("job").waitFor();
  assert.equal((await wishOf(second)).k, 17);
  // What is missing is said.
  await second.goto("about:blank");
  await second.goto(link.replace(/project=\w+/, "project=0123456789abcdef"));
  await second.getByText("The link is about a project that this server does not know").waitFor();
  assert.deepEqual(complaints, []);
});

test("beside an answer stands what ranges per group would lose, with one click there", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "visits.csv"), visits());
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "visits.csv"\nrecords = "independent"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.job]\nrole = "quasi-identifier"\n[request]\nk = 20\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  const beside = page.locator(".beside");
  await beside.waitFor();
  const [, local, global] = (await beside.innerText()).match(/ranges per group: ([\d.]+) % instead of ([\d.]+) % .*nobody suppressed/);
  assert.ok(parseFloat(local) < parseFloat(global), `${local} ${global}`);
  const own = await page.locator(".verdict .facts div", { hasText: "detail lost" }).locator("dd").innerText();
  assert.equal(parseFloat(own), parseFloat(global));
  await beside.getByRole("button", { name: "See it" }).click();
  await page.getByText("each with ranges of its own").first().waitFor();
  const there = await page.locator(".verdict .facts div", { hasText: "detail lost" }).locator("dd").innerText();
  assert.equal(parseFloat(there), parseFloat(local));
  assert.equal(await page.getByLabel("Ranges per group").isChecked(), true);
  await page.locator("#tool-undo").click();
  await page.locator(".beside").waitFor();
  assert.deepEqual(complaints, []);
});
