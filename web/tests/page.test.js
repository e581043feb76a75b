// The page in a real browser: what people do on it, from a table to a release, and that it never complains.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BROWSER, PROGRAM, ROOT, folder, open, serve, settled, shot } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

/** What the demo's second request asks for, which cannot all be had. */
const WISH = { k: 10, max_suppressed: 1194, max_level: { age: 2, sex: 0, postcode: 3, marital_status: 1, occupation: 1, admission_date: 2 } };

const toWish = (page, wish) => page.evaluate((wish) => {
  const project = location.hash.match(/project=(\w+)/)[1];
  location.hash = `negotiate&project=${project}&request=${encodeURIComponent(JSON.stringify(wish))}`;
}, wish);

const wishOf = (page) => page.evaluate(() => JSON.parse(decodeURIComponent(location.hash.match(/request=([^&]+)/)[1])));

/** A table of made-up people, some of whom stand out. */
function people() {
  const lines = ["name,age,city,job,disease"];
  for (let i = 0; i < 900; i++) {
    lines.push(`person ${i},${18 + ((i * 13) % 70)},${["Oslo", "Umea", "Rome", "Pisa"][i % 4]},${["cook", "clerk", "smith"][(i >> 2) % 3]},${["flu", "cold", "gout"][(i >> 3) % 3]}`);
  }
  return lines.join("\n") + "\n";
}

test("from a CSV file to a release that verify accepts", { skip }, async (t) => {
  const home = folder(t);
  const elsewhere = folder(t);
  writeFileSync(join(elsewhere, "people.csv"), people());
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  assert.doesNotMatch(page.url(), /key=/, "the key does not stay in the address");
  await page.getByRole("heading", { name: "Open a table" }).waitFor();
  await page.setInputFiles("#file", join(elsewhere, "people.csv"));
  await page.getByRole("heading", { name: "people.csv" }).waitFor();
  await page.getByText("stand alone on").waitFor();

  await page.getByLabel("Role of job").selectOption("quasi-identifier");
  await page.waitForFunction(() => /on 3 attributes/.test(document.body.innerText));
  await page.getByRole("button", { name: "Next: hierarchies" }).click();

  // Cities are grouped by hand.
  await page.getByRole("button", { name: /^city/ }).click();
  await page.getByText("Group values").click();
  await page.locator(".marks .item", { hasText: "Oslo" }).click();
  await page.locator(".marks .item", { hasText: "Umea" }).click();
  await page.locator("#group-name").fill("North");
  await page.getByRole("button", { name: "Group them" }).click();
  await page.locator(".levels").getByText("North").first().waitFor();
  await page.getByRole("button", { name: "Use this hierarchy" }).click();
  await page.waitForFunction(() => document.querySelector(".side [aria-current]")?.textContent.includes("tree"));
  await page.getByRole("button", { name: "Next: negotiate" }).click();

  await page.locator(".verdict, .offer").first().waitFor();
  if (await page.locator(".offer").count()) await page.locator("[data-offer=suppression] .take").click();
  await page.locator(".verdict.good").waitFor();
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByText("Every published record is in a group with").waitFor();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published, and verified from the file alone").waitFor();
  const saved = {};
  for (const which of ["release", "certificate", "report"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Download ${which}` }).click()]);
    saved[which] = join(elsewhere, download.suggestedFilename());
    await download.saveAs(saved[which]);
  }
  assert.match(saved.certificate, /release\.csv\.certificate\.json$/);
  execFileSync(PROGRAM, ["verify", saved.release]);
  assert.match(readFileSync(saved.release, "utf8"), /^age,city,job,disease\n/);
  assert.doesNotMatch(readFileSync(saved.release, "utf8"), /person/);

  // A second one under the same name is asked about.
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByRole("button", { name: "Replace release.csv" }).waitFor();
  assert.deepEqual(complaints.filter((text) => !/409/.test(text)), []);
});

test("where people have several records, the page counts people and shows nobody", { skip }, async (t) => {
  const home = folder(t);
  // Everybody is there three times.
  const [head, ...records] = people().trimEnd().split("\n");
  const of = (i, line) => line.replace(/^person \d+/, `person ${i % 300}`);
  writeFileSync(join(home, "visits.csv"), [head, ...records.map((line, i) => of(i, line))].join("\n") + "\n");
  writeFileSync(join(home, "incrowd.toml"), `[data]
path = "visits.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
[request]
k = 4
max_suppressed = "5%"
`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator("nav").getByText("Data", { exact: false }).first().click();
  const role = page.getByLabel("Role of name");
  await role.waitFor();
  assert.ok((await role.locator("option").allTextContents()).includes("person: whose record it is"));
  await role.selectOption("person");
  await page.waitForFunction(() => document.querySelector("#talk").textContent === "name is now person");
  await page.locator("nav").getByText("Negotiate", { exact: false }).first().click();
  await page.locator(".verdict, .offer").first().waitFor();
  if (await page.locator(".offer").count()) await page.locator("[data-offer=suppression] .take").click();
  await page.locator(".verdict.good").waitFor();
  await page.locator(".sample").waitFor();
  const sample = await page.locator(".sample").innerText();
  assert.match(sample, /\(removed\)/);
  assert.doesNotMatch(sample, /person \d/);
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByText("It is about people, who are counted by").waitFor();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published, and verified").waitFor();
  assert.doesNotMatch(await page.locator("body").innerText(), /person \d/);
  assert.doesNotMatch(readFileSync(join(home, "release.csv"), "utf8"), /person/);
  assert.deepEqual(complaints, []);
});

test("an identifier that repeats is asked about, and who stands alone is told of people", { skip }, async (t) => {
  const home = folder(t);
  // 1,200 adverse events of 240 subjects, and one of another; some of whom are a year older in some.
  const lines = ["USUBJID,age,site,event"];
  for (let i = 0; i < 1200; i++) {
    const who = i % 240;
    lines.push(`01-701-${1000 + who},${30 + ((who * 7) % 50) + (i % 9 === 0 ? 1 : 0)},S${who % 6},${["rash", "fever", "cough"][i % 3]}`);
  }
  // One is found by age alone.
  lines.push("01-701-1999,95,S1,rash");
  writeFileSync(join(home, "events.csv"), lines.join("\n") + "\n");
  writeFileSync(join(home, "incrowd.toml"), `[data]
path = "events.csv"
[attributes.USUBJID]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.site]
role = "quasi-identifier"
[attributes.event]
role = "sensitive"
[request]
k = 4
max_suppressed = "5%"
`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator("nav").getByText("Data", { exact: false }).first().click();
  await page.getByText("1,201 records of 241 different USUBJID: count people?").waitFor();
  await page.getByText("unique records").waitFor();

  // What is measured is what the command line says of the same project.
  const told = (...more) => JSON.parse(execFileSync(PROGRAM, ["risk", home, "--special-uniques", "--json", "--quiet", ...more], { encoding: "utf8" }));
  const look = async () => {
    await page.getByRole("button", { name: "Look for special uniques" }).click();
    await page.locator(".risk .contributions").waitFor();
    // What an attacker would find in the table as it is, too.
    await page.locator(".risk").getByText("event: best guess is right").waitFor();
    return page.locator(".risk").innerText();
  };
  const check = (said, risk, who) => {
    const n = risk.n_people ?? risk.n_records;
    assert.match(said, new RegExp(`${risk.n_unique.toLocaleString("en")} of ${n.toLocaleString("en")} ${who} stand alone`));
    assert.match(said, new RegExp(`${risk.special_uniques.n_special.toLocaleString("en")} records? stands? alone already`));
    for (const { attribute, percent } of risk.special_uniques.attributes) assert.match(said, new RegExp(`${attribute}\\s+${percent.toFixed(1)} %`));
  };
  // What each value contributes, the most first, and all of them when asked.
  const checkValues = async (risk) => {
    for (const { attribute, values } of risk.special_uniques.attributes.filter((of) => of.values.length > 0)) {
      const part = page.locator(".risk .of-values", { hasText: ` of ${attribute} ` });
      assert.equal(await part.locator("summary").innerText(), `What the ${values.length} value${values.length === 1 ? "" : "s"} of ${attribute} ${values.length === 1 ? "does" : "do"}`);
      await part.locator("summary").click();
      const shown = async () => (await part.locator("li").allInnerTexts()).map((line) => line.split(/\s*\n\s*/).filter((text) => text !== ""));
      const expected = values.map(({ value, percent }) => [value, `${percent.toFixed(1)} %`]);
      assert.deepEqual(await shown(), expected.slice(0, 10));
      if (values.length > 10) await part.getByRole("button", { name: `Show ${values.length - 10} more value` }).click();
      assert.deepEqual(await shown(), expected);
    }
  };
  check(await look(), told(), "records");
  await checkValues(told("--show-values"));
  await page.getByRole("button", { name: "Count people by USUBJID" }).click();
  await page.waitForFunction(() => document.querySelector("#talk").textContent === "USUBJID is now person");
  await page.getByText("unique people").waitFor();
  assert.equal(await page.getByText("count people?").count(), 0, "it is asked once");
  const of = readFileSync(join(home, "incrowd.toml"), "utf8");
  writeFileSync(join(home, "incrowd.toml"), of.replace('role = "identifier"', 'role = "person"'));
  const said = await look();
  check(said, told(), "people");
  const named = told("--show-values");
  assert.ok(named.special_uniques.attributes.some((of) => of.values.length > 10), "some values are behind a button");
  await checkValues(named);
  assert.match(said, /by all their records together/);
  assert.doesNotMatch(said, /01-701/);
  const tile = JSON.parse(execFileSync(PROGRAM, ["profile", home, "--json", "--quiet"], { encoding: "utf8" })).uniqueness;
  await page.getByText(`${tile.n_unique} of 241 people stand alone on 2 attributes`).waitFor();
  assert.equal(tile.n_unique, told().n_unique);
  await shot(page, "risk");
  // It is not looked for again when one comes back.
  await page.locator("nav").getByText("Negotiate", { exact: false }).first().click();
  await page.locator(".verdict, .offer").first().waitFor();
  await page.getByText("people lost").first().waitFor();
  await page.locator("nav").getByText("Data", { exact: false }).first().click();
  await page.locator(".risk .contributions").waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it fits on a phone");
  await shot(page, "risk-phone");
  assert.deepEqual(complaints, []);
});

test("what a column tells beside the promise is refused, or said where it is accepted", { skip }, async (t) => {
  const home = folder(t);
  // A weight that was computed by region: whoever knows how finds the hidden region.
  const lines = ["age,region,weight,ill"];
  for (let i = 0; i < 600; i++) lines.push(`${20 + ((i * 7) % 60)},R${i % 8},${100 + (i % 8) * 10},${["flu", "cold"][(i >> 3) % 2]}`);
  writeFileSync(join(home, "survey.csv"), lines.join("\n") + "\n");
  const project = (more) => `[data]
path = "survey.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20] }
[attributes.region]
role = "quasi-identifier"
[attributes.weight]
role = "other"
${more}[attributes.ill]
role = "sensitive"
[request]
k = 60
max_suppressed = 0
max_level = { age = 2 }
`;
  const publish = async (more) => {
    writeFileSync(join(home, "incrowd.toml"), project(more));
    const server = await serve(t, [home]);
    const { page, complaints } = await open(t, server.url);
    await page.locator(".verdict.good").waitFor();
    await page.getByRole("button", { name: "Review and publish" }).click();
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    return { page, complaints };
  };
  const refused = await publish("");
  const problem = refused.page.locator(".problem");
  await problem.waitFor();
  assert.match(await problem.innerText(), /Column 'weight' tells the hidden 'region' of 600 of 600 records.*among fewer than k = 60, the fewest \d+/s);
  await shot(refused.page, "beside-refused");
  const accepted = await publish('tells = "accepted"\n');
  await accepted.page.getByText("Published, and verified from the file alone").waitFor();
  const note = accepted.page.locator(".notes [data-code=tells]").first();
  await note.waitFor();
  assert.match(await note.innerText(), /weight.*region.*fewer than k = 60, the fewest \d+/s);
  await shot(accepted.page, "beside-accepted");
  assert.match(readFileSync(join(home, "release.csv.report.html"), "utf8"), /What stands beside the promise/);
  assert.deepEqual(accepted.complaints, []);
});

test("how a table is read, and what is published coarser, can be said and is saved", { skip }, async (t) => {
  const home = folder(t);
  const rows = Array.from({ length: 80 }, (_, i) => `${i === 9 ? "unknown" : 20 + (i % 12)};${["Oslo", "Rome"][i % 2]};${1000 + 37 * (i % 15)},5`);
  writeFileSync(join(home, "people.csv"), `age;city;income\n${rows.join("\n")}\n`);
  writeFileSync(join(home, "incrowd.toml"), `# ours\n[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.income]\nrole = "sensitive"\ntells = "accepted"\n[request]\nk = 2\nmax_suppressed = "50%"\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator("nav").getByText("Data").click();
  await page.getByText("How the table is read").click();
  const change = async (work) => {
    const before = await page.evaluate(() => location.hash);
    await work();
    await page.waitForFunction((old) => location.hash !== old, before);
    await page.locator(".reading .settings").waitFor();
  };
  await change(() => page.getByLabel("Cells that are no numbers").selectOption("missing"));
  await change(() => page.getByLabel("Decimal sign").selectOption(","));
  await change(() => page.getByLabel("Records that lack a value").selectOption("drop"));
  await change(() => page.getByLabel("Texts that mean").fill("?, NA").then(() => page.keyboard.press("Tab")));
  await change(() => page.getByLabel("How income is published").selectOption("round"));
  await change(() => page.getByLabel("rounded to multiples of, for income").fill("50").then(() => page.keyboard.press("Tab")));
  await shot(page, "reading");
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByRole("button", { name: "Replace and save" }).click();
  await page.getByText("saved as incrowd.toml").waitFor();
  const text = readFileSync(join(home, "incrowd.toml"), "utf8");
  for (const line of ['# ours', 'unreadable = "missing"', 'decimal = ","', 'missing_records = "drop"', 'missing = ["?", "NA"]', "publish_as = { round = 50 }"]) assert.ok(text.includes(line), `${line}\n${text}`);
  // An answer follows what was said.
  await change(() => page.getByLabel("Records that lack a value").selectOption("keep"));
  await page.locator("nav").getByText("Negotiate").click();
  await page.locator(".verdict, .offer").first().waitFor();
  assert.deepEqual(complaints.filter((complaint) => !/409/.test(complaint)), []);
});

test("who leaves a screen at once sees what was changed there, as soon as it is", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".sample").waitFor();
  // The server takes its time to answer a change.
  await page.route("**/api/v1/projects", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await route.continue();
  });
  const knobs = page.locator(".analyst .knob.level");
  const n = await knobs.count();
  await page.locator("nav").getByText("Data").click();
  await page.getByLabel("Role of education").selectOption("identifier");
  await page.locator("nav").getByText("Negotiate").click();
  await page.locator(".sample").waitFor();
  assert.equal(await knobs.count(), n, "not changed yet");
  await page.waitForFunction((n) => document.querySelectorAll(".analyst .knob.level").length === n - 1, n);
  await page.locator(".sample").waitFor();

  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByLabel("Widths, from fine to coarse").fill("4, 8");
  await page.locator(".levels").getByText("in steps of 8").waitFor();
  const project = await page.evaluate(() => location.hash.match(/project=(\w+)/)[1]);
  await page.getByRole("button", { name: "Use this hierarchy" }).click();
  await page.locator("nav").getByText("Negotiate").click();
  await page.waitForFunction((old) => location.hash.match(/project=(\w+)/)[1] !== old, project);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator(".sample").waitFor();
  assert.deepEqual(complaints, []);
});

test("knobs answer while they are moved, offers can be taken, wishes taken back", { skip }, async (t) => {
  const server = await serve(t);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict").waitFor();
  await toWish(page, WISH);
  await page.locator(".offer").nth(2).waitFor();
  await page.getByText("Lose 3,549 records instead of at most 1,194").waitFor();
  await page.getByText("k = 5 instead of 10").waitFor();

  // Dragging passes many values; the answer is to the last of them.
  const slider = page.locator(".officer input[type=range]").first();
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width * 0.37, box.y + box.height / 2);
  await page.mouse.down();
  for (let i = 37; i > 2; i--) await page.mouse.move(box.x + (box.width * i) / 100, box.y + box.height / 2);
  await page.mouse.up();
  await page.locator(".verdict.good").waitFor();
  const k = (await wishOf(page)).k;
  assert.ok(k < 5, `k is ${k}`);
  await page.locator("#tool-undo").click();
  await page.locator(".offer").first().waitFor();
  assert.equal((await wishOf(page)).k, 10, "a drag is one step back");

  for (const [offer, check] of [
    ["suppression", (wish) => wish.max_suppressed === 3549 && wish.k === 10],
    ["height", (wish) => wish.max_level.admission_date === 3 && wish.max_suppressed === 1194],
    ["privacy", (wish) => wish.k === 5 && wish.max_suppressed === 1194],
  ]) {
    await page.locator(`[data-offer=${offer}] .take`).click();
    await page.locator(".verdict.good").waitFor();
    assert.ok(check(await wishOf(page)), `${offer}: ${JSON.stringify(await wishOf(page))}`);
    await page.keyboard.press("Control+z");
    await page.locator(".offer").first().waitFor();
  }
  await page.keyboard.press("Control+Shift+z");
  await page.locator(".verdict.good").waitFor();
  await page.keyboard.press("Control+z");
  await page.locator(".offer").first().waitFor();

  // Beside the offers: what ranges per group would lose, and which attributes could be hidden instead.
  await page.locator(".beside").getByText(/ranges per group: [\d.]+ % instead of at least [\d.]+ %/).waitFor();
  const without = page.locator(".without button").first();
  const hidden = (await without.innerText()).replace("without ", "");
  await without.click();
  await page.locator(".verdict.good").waitFor();
  assert.equal((await wishOf(page)).max_suppressed, 1194);
  assert.ok((await wishOf(page)).max_level[hidden] > WISH.max_level[hidden], hidden);
  await page.keyboard.press("Control+z");
  await page.locator(".offer").first().waitFor();

  // The link holds the whole request; another browser asks for the key.
  const link = page.url();
  const { page: second } = await open(t, link);
  await second.getByText("Paste that address, or the key").waitFor();
  await second.fill("#key", server.url);
  await second.getByRole("button", { name: "Open" }).click();
  await second.getByText("Lose 3,549 records instead of at most 1,194").waitFor();
  await second.close();

  // More can be promised; what was not annotated becomes a job.
  await page.getByLabel("Promise more").selectOption("l");
  await page.waitForFunction(() => document.querySelectorAll(".officer .knob").length === 2);
  await page.locator(".sample tr.lost").first().waitFor();
  await page.locator(".causes li").first().waitFor();
  await page.locator(".pyramid canvas").hover({ position: { x: 400, y: 120 } });
  await page.waitForFunction(() => /Publish with/.test(document.querySelector(".detail").textContent));
  assert.deepEqual(complaints, []);
});

test("the page shows an answer within one frame of it", { skip }, async (t) => {
  const server = await serve(t);
  const { page } = await open(t, server.url);
  await page.locator(".sample").waitFor();
  // What ranges would lose is being found out meanwhile, on the same processor: it has ended then.
  await page.locator(".beside p").waitFor({ timeout: 30_000 }).catch(() => {});
  const { waits, frames, beats } = await page.evaluate(async () => {
    // How long a frame takes here and now: a machine that has much to do draws fewer of them.
    const beats = [];
    const beat = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (let i = 0, last = await beat(); i < 15; i++) {
      const next = await beat();
      beats.push(next - last);
      last = next;
    }
    const slider = document.querySelector(".curator input[type=range]");
    const answer = document.querySelector(".answer");
    const waits = [];
    const frames = [];
    for (let i = 0; i < 15; i++) {
      const changed = new Promise((resolve) => new MutationObserver((_, observer) => { observer.disconnect(); resolve(); }).observe(answer, { childList: true }));
      const started = performance.now();
      slider.value = String(i);
      slider.dispatchEvent(new Event("input"));
      await changed;
      const ended = performance.now();
      waits.push(ended - started);
      await new Promise((resolve) => setTimeout(resolve, 50));
      const came = performance.getEntriesByType("resource").filter((entry) => entry.name.endsWith("/negotiate") && entry.responseEnd <= ended).at(-1);
      frames.push(ended - came.responseEnd);
      performance.clearResourceTimings();
    }
    const sorted = (list) => list.sort((a, b) => a - b);
    return { waits: sorted(waits), frames: sorted(frames), beats: sorted(beats) };
  });
  const median = waits[Math.floor(waits.length / 2)];
  const frame = frames[Math.floor(frames.length / 2)];
  t.diagnostic(`median ${frame.toFixed(1)} ms, slowest ${frames.at(-1).toFixed(1)} ms from the last byte of an answer to the answer on the page`);
  t.diagnostic(`median ${median.toFixed(1)} ms, slowest ${waits.at(-1).toFixed(1)} ms from the move of a knob to the answer on the page`);
  assert.ok(median < 150, `median ${median} ms`);
  // What comes just after a frame waits for the next one; beside that, there is half a frame for the page's own work.
  const beat = Math.max(1000 / 60, beats[Math.floor(beats.length / 2)]);
  assert.ok(frame < 1.5 * beat, `the page needs ${frame} ms, where a frame takes ${beat} ms`);
});

test("a bad hierarchy is shown where it is, and not used", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByLabel("Widths, from fine to coarse").fill("5, 7");
  await page.getByText("Width 7 is not a multiple of width 5 below it").waitFor();
  assert.ok(await page.getByRole("button", { name: "Use this hierarchy" }).isDisabled());
  await page.getByLabel("Widths, from fine to coarse").fill("5, 15");
  await page.locator(".levels").getByText("in steps of 15").waitFor();

  await page.getByText("From a file").click();
  await page.setInputFiles(".rule input[type=file]", { name: "age.csv", mimeType: "text/csv", buffer: Buffer.from("28;young;*\n31;young\n") });
  await page.getByText("age.csv:2").waitFor();
  await page.getByText("Hint: give every value a label at every level").waitFor();
  await shot(page, "hierarchies-problem");
  assert.deepEqual(complaints.filter((text) => !/422/.test(text)), []);
});

test("what is imported is written when the project is saved, and asks before it replaces a file", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  mkdirSync(join(home, "hierarchies"));
  writeFileSync(join(home, "hierarchies/age.csv"), "mine;*\n");
  const project = readFileSync(join(home, "incrowd.toml"), "utf8");
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByText("From a file").click();
  const ages = readFileSync(join(home, "philosophers.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(",")[1]);
  const lines = [...new Set(ages)].map((age) => `${age};${age < 36 ? "young" : "old"};*`).join("\n") + "\n";
  await page.setInputFiles(".rule input[type=file]", { name: "age.csv", mimeType: "text/csv", buffer: Buffer.from(lines) });
  await page.locator(".levels").getByText("young").first().waitFor();
  await page.getByRole("button", { name: "Use this hierarchy" }).click();
  await page.waitForFunction(() => document.querySelector(".side [aria-current]")?.textContent.includes("file"));
  await page.getByText("it is written when you save the project").waitFor();
  await shot(page, "hierarchies-imported");
  const isUntouched = () => readFileSync(join(home, "hierarchies/age.csv"), "utf8") === "mine;*\n" && readFileSync(join(home, "incrowd.toml"), "utf8") === project;
  assert.ok(isUntouched(), "nothing is written before it is saved");

  // It is negotiated with meanwhile.
  await page.getByRole("button", { name: "Next: negotiate" }).click();
  await page.locator(".verdict, .offer").first().waitFor();
  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByText("hierarchies/age.csv and incrowd.toml are there already").waitFor();
  await shot(page, "save-asks");
  await page.getByRole("button", { name: "Do not save" }).click();
  assert.ok(isUntouched(), "a question writes nothing");
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByRole("button", { name: "Replace and save" }).click();
  await page.getByText("saved as incrowd.toml").waitFor();
  await shot(page, "saved");
  assert.equal(readFileSync(join(home, "hierarchies/age.csv"), "utf8"), lines);
  const saved = readFileSync(join(home, "incrowd.toml"), "utf8");
  assert.match(saved, /hierarchy = "hierarchies\/age\.csv"/);
  for (const line of project.split("\n").filter((line) => line.startsWith("#"))) assert.ok(saved.includes(line), `a comment is lost: ${line}`);
  execFileSync(PROGRAM, ["count", home]);
  assert.deepEqual(complaints.filter((text) => !/409/.test(text)), []);
});

/** Everything below a folder, by its path. */
const content = (home) => Object.fromEntries(readdirSync(home, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => [join(entry.parentPath ?? entry.path, entry.name), readFileSync(join(entry.parentPath ?? entry.path, entry.name), "utf8")]));

/** The ten records, open on the screen of hierarchies, with two labels for ages imported from a file and used. */
async function importAges(t, prepare = () => {}) {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  prepare(home);
  const before = content(home);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByText("From a file").click();
  const ages = readFileSync(join(home, "philosophers.csv"), "utf8").trim().split("\n").slice(1).map((line) => line.split(",")[1]);
  const lines = [...new Set(ages)].map((age) => `${age};${age < 36 ? "young" : "old"};*`).join("\n") + "\n";
  await page.setInputFiles(".rule input[type=file]", { name: "age.csv", mimeType: "text/csv", buffer: Buffer.from(lines) });
  await page.locator(".levels").getByText("young").first().waitFor();
  await page.getByRole("button", { name: "Use this hierarchy" }).click();
  await page.waitForFunction(() => document.querySelector(".side [aria-current]")?.textContent.includes("file"));
  return { home, before, page, complaints, lines };
}

test("an imported hierarchy is used, and nothing is written before it is saved", { skip }, async (t) => {
  const { home, before, page, complaints } = await importAges(t);
  await page.getByRole("button", { name: "Next: negotiate" }).click();
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator("nav").getByText("Data").click();
  await page.locator(".columns").waitFor();
  assert.deepEqual(content(home), before);
  assert.deepEqual(complaints, []);
});

test("a file that is there is not replaced without asking", { skip }, async (t) => {
  const { home, before, page, complaints, lines } = await importAges(t, (home) => {
    mkdirSync(join(home, "hierarchies"));
    writeFileSync(join(home, "hierarchies/age.csv"), "mine;*\n");
  });
  assert.deepEqual(content(home), before, "not when it is imported");
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByText(/there already|saved as/).first().waitFor();
  assert.deepEqual(content(home), before, "not when it is saved");
  await page.getByText("hierarchies/age.csv and incrowd.toml are there already").waitFor();
  await page.getByRole("button", { name: "Do not save" }).click();
  assert.deepEqual(content(home), before, "not after a no");
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByRole("button", { name: "Replace and save" }).click();
  await page.getByText("saved as incrowd.toml").waitFor();
  assert.equal(content(home)[join(home, "hierarchies/age.csv")], lines);
  assert.deepEqual(complaints.filter((text) => !/409/.test(text)), []);
});

test("saving keeps every comment, and what did not change as it was written", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  const path = join(home, "incrowd.toml");
  const commented = readFileSync(path, "utf8").replace("[attributes.age]", "# Ages are of last birthdays.\n[attributes.age]   # asked at the desk");
  writeFileSync(path, `# Ours, do not touch.\n\n${commented}`);
  const before = readFileSync(path, "utf8");
  assert.match(before, /# asked at the desk/);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByLabel("Widths, from fine to coarse").fill("4, 8");
  await page.locator(".levels").getByText("in steps of 8").waitFor();
  await page.getByRole("button", { name: "Use this hierarchy" }).click();
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByRole("button", { name: /^Replace/ }).click();
  await page.getByText("saved as incrowd.toml").waitFor();
  const after = readFileSync(path, "utf8");
  assert.match(after, /4, 8/);
  // What is said of ages is something else, other levels among it, and all other lines are what they were.
  const others = (text) => text.replace("max_level = { age = 1, ", "max_level = { ").split("\n").filter((line) => !/intervals/.test(line));
  assert.deepEqual(others(after), others(before));
  assert.match(after, /# 37 → 37-41/, "nor is the comment behind them lost");
  assert.deepEqual(complaints.filter((text) => !/409/.test(text)), []);
});

test("levels that lose more than was wished for are published only by saying so", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".pyramid canvas[aria-label*='Arrow keys move']").focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByText("The scheme you picked").waitFor();
  await shot(page, "negotiate-pinned");
  await page.getByRole("button", { name: /^Lose \d+ records and publish these levels$/ }).click();
  await page.getByText("Every published record is in a group with").waitFor();
  assert.ok((await wishOf(page)).max_suppressed > 0, "the curator's knob has moved");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published, and verified from the file alone").waitFor();
  assert.deepEqual(complaints, []);
});

test("without preview the page shows no value and nothing can be changed but the request", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  const server = await serve(t, [home, "--allow-preview=false"]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  const isSilent = async () => assert.doesNotMatch(await page.locator("main").innerText(), /Thales|HS-grad|State-gov/);
  await isSilent();
  await page.getByRole("link", { name: /Data/ }).click();
  await page.locator(".columns").waitFor();
  assert.ok(await page.getByLabel("Role of age").isDisabled());
  assert.equal(await page.getByRole("button", { name: /Save|Open another/ }).count(), 0);
  await isSilent();
  await shot(page, "closed-data");
  await page.getByRole("link", { name: /Hierarchies/ }).click();
  await page.getByRole("button", { name: /^education/ }).click();
  await page.locator(".levels").waitFor();
  await isSilent();
  await shot(page, "closed-hierarchies");
  // Less than the project promises is refused, in words.
  await page.getByRole("link", { name: /Negotiate/ }).click();
  await page.locator(".officer .knob input.value").fill("2");
  await page.locator(".officer .knob input.value").press("Enter");
  await page.getByText("This promises less than the project does").waitFor();
  await shot(page, "closed-refused");
  assert.deepEqual(complaints.filter((text) => !/403/.test(text)), []);
});

test("without preview a release can be made, and what is measured with the data is not told", { skip }, async (t) => {
  const home = folder(t);
  cpSync(join(ROOT, "examples/ten_records"), home, { recursive: true });
  const server = await serve(t, [home, "--allow-preview=false"]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  const isSilent = async () => {
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /Thales|HS-grad|State-gov|NaN|undefined|null/);
    return text;
  };
  assert.match(await isSilent(), /not told/);
  assert.equal(await page.locator(".sample").count(), 0, "no records before and after");
  await page.locator("nav").getByText("Compare").click();
  await page.locator(".methods").waitFor();
  assert.doesNotMatch(await isSilent(), /query error|bits lost|not told/);
  await shot(page, "closed-compare");
  await page.locator("nav").getByText("Negotiate").click();
  await page.locator(".verdict, .offer").first().waitFor();
  if (await page.locator(".offer").count()) await page.locator("[data-offer=suppression] .take").click();
  await page.locator(".verdict.good").waitFor();
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByText("Every published record is in a group with").waitFor();
  await isSilent();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published, and verified from the file alone").waitFor();
  await isSilent();
  await shot(page, "closed-published");
  // The report has the key and the numbers of the source: it is not offered to whoever may not have it.
  assert.equal(await page.getByRole("button", { name: "Download report" }).count(), 0);
  for (const which of ["release", "certificate"]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Download ${which}` }).click()]);
    await download.saveAs(join(home, "taken", download.suggestedFilename()));
  }
  execFileSync(PROGRAM, ["verify", join(home, "taken", "release.csv")]);
  assert.deepEqual(complaints, []);
});

test("everything can be done with the keyboard", { skip }, async (t) => {
  const server = await serve(t);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".sample").waitFor();
  await page.locator("body").focus();
  const focused = () => page.evaluate(() => {
    const one = document.activeElement;
    return one.getAttribute("aria-label") ?? one.textContent.trim() ?? one.id;
  });
  const tabTo = async (pattern, most = 60) => {
    for (let i = 0; i < most; i++) {
      await page.keyboard.press("Tab");
      if (pattern.test(await focused())) return;
    }
    assert.fail(`Tab does not lead to ${pattern}`);
  };
  await page.keyboard.press("Tab");
  assert.match(await focused(), /Skip to the content/);
  await page.keyboard.press("Enter");
  // The knob of k, by its arrow keys: until there are offers.
  await page.locator(".officer input[type=range]").first().focus();
  for (let i = 0; i < 22; i++) await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => document.querySelector(".officer input.value").value === "1,000");
  const slider = page.locator(".analyst input[type=range]").first();
  await slider.focus();
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowLeft");
  await page.locator(".offer").first().waitFor();
  assert.match(await slider.getAttribute("aria-valuetext"), /exact/);
  await tabTo(/^Take this offer$/);
  await page.keyboard.press("Enter");
  await page.locator(".verdict.good").waitFor();
  // The picture, too.
  await page.locator(".pyramid canvas").focus();
  for (const key of ["ArrowUp", "ArrowUp", "ArrowRight", "ArrowLeft", "ArrowDown"]) await page.keyboard.press(key);
  await page.waitForFunction(() => /ublish/.test(document.querySelector(".detail").textContent));
  await page.keyboard.press("Enter");
  await page.getByText("The scheme you picked").waitFor();
  await page.locator("nav a").nth(4).focus();
  await page.keyboard.press("Enter");
  await page.locator("#output").waitFor();
  await page.locator("#output").focus();
  await page.keyboard.press("Enter");
  await page.getByText("Published, and verified by whose record is whose").waitFor();
  assert.deepEqual(complaints, []);
});

test("every control has a name, every screen one heading", { skip }, async (t) => {
  const server = await serve(t);
  const { page } = await open(t, server.url);
  await page.locator(".sample").waitFor();
  for (const screen of ["Data", "Hierarchies", "Negotiate", "Compare", "Publish", "Study"]) {
    await page.locator("nav").getByText(screen).click();
    await page.locator(".card").nth(1).waitFor();
    await settled(page);
    const wrong = await page.evaluate(() => {
      const nameless = [...document.querySelectorAll("button, input, select, textarea, a, canvas, svg[role=img]")].filter((one) => {
        if (!one.checkVisibility()) return false;
        const name = one.getAttribute("aria-label") || one.getAttribute("title") || one.labels?.[0]?.textContent || one.textContent;
        return !name?.trim();
      });
      return { nameless: nameless.map((one) => one.outerHTML.slice(0, 120)), n: document.querySelectorAll("h1").length };
    });
    assert.deepEqual(wrong, { nameless: [], n: 1 }, screen);
  }
});

for (const theme of ["light", "dark"]) {
  test(`every screen, ${theme}`, { skip }, async (t) => {
    const server = await serve(t);
    const { page, complaints } = await open(t, server.url, { colorScheme: theme });
    await page.locator(".sample").waitFor();
    await shot(page, `negotiate-exact-${theme}`);
    await toWish(page, WISH);
    await page.locator(".sample tr.lost").first().waitFor();
    await shot(page, `negotiate-offers-${theme}`);
    await page.screenshot({ path: join(ROOT, `target/screenshots/negotiate-window-${theme}.png`) });
    await page.locator("nav").getByText("Data").click();
    await page.locator(".columns").waitFor();
    await shot(page, `data-${theme}`);
    await page.locator("nav").getByText("Hierarchies").click();
    await page.locator(".tree").waitFor();
    await shot(page, `hierarchies-${theme}`);
    await page.locator("nav").getByText("Compare").click();
    // All methods on 60,000 records, by a program that is built for tests: a busy machine needs more than a minute.
    await page.locator(".methods").waitFor({ timeout: 180_000 });
    await shot(page, `compare-${theme}`);
    await page.locator("tr", { hasText: "top-down" }).getByRole("button", { name: "Publish" }).click();
    await page.locator("#output").fill("local.csv");
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Published, and verified").waitFor();
    await shot(page, `publish-method-${theme}`);
    await page.locator("nav").getByText("Negotiate").click();
    await page.locator("[data-offer=height] .take").click();
    await page.getByRole("button", { name: "Review and publish" }).click();
    await page.locator("#output").waitFor();
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Published, and verified").waitFor();
    await shot(page, `publish-${theme}`);
    assert.deepEqual(complaints, []);
  });
}

test("a phone-wide window still works", { skip }, async (t) => {
  const server = await serve(t);
  const { page, complaints } = await open(t, server.url, { viewport: { width: 390, height: 844 }, hasTouch: true });
  await page.locator(".sample").waitFor();
  for (const screen of ["Negotiate", "Data", "Hierarchies", "Compare", "Publish"]) {
    await page.locator("nav").getByText(screen).click();
    await page.locator(".card").first().waitFor();
    await settled(page);
    const { wide, seen } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, seen: innerWidth }));
    assert.ok(wide <= seen, `${screen} is ${wide} wide in a window of ${seen}`);
    await shot(page, `phone-${screen.toLowerCase()}`);
  }
  assert.deepEqual(complaints, []);
});

test("what is worth knowing stands beside every result, as text", { skip }, async (t) => {
  const home = folder(t);
  // An attribute without a hierarchy whose name looks like markup, and two records that lack a value.
  const table = people().replaceAll("job", "<b>job</b>").replace("cook", "").replace("clerk", "");
  writeFileSync(join(home, "people.csv"), table);
  const role = (name, role, more = "") => `[attributes.${name}]\nrole = "${role}"\n${more}`;
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "people.csv"\nmissing_records = "drop"\n${role("name", "identifier")}${role("age", "quasi-identifier", "hierarchy = { intervals = [10, 20, 40] }\n")}${role("'<b>job</b>'", "quasi-identifier")}${role("disease", "sensitive")}[request]\nk = 5\nmax_suppressed = "1%"\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  const notes = page.locator(".notes[role=status]");
  const dropped = "2 of 900 records lack a value and are left out";
  await page.locator(".verdict, .offer").first().waitFor();
  await notes.getByText(dropped).waitFor();
  await shot(page, "notes-negotiate");
  // They stay while the knobs are moved: every answer brings its own.
  await page.evaluate(() => document.querySelector(".notes").setAttribute("data-old", ""));
  await toWish(page, { k: 40, max_suppressed: 0, max_level: { age: 0, "<b>job</b>": 0 } });
  await page.locator(".offer").first().waitFor();
  await notes.getByText(dropped).waitFor();
  assert.equal(await page.locator(".notes[data-old]").count(), 0);

  await page.locator("nav").getByText("Compare").click();
  await page.locator(".methods").waitFor();
  await notes.getByText("Attribute '<b>job</b>' has no hierarchy").waitFor();
  assert.equal(await page.locator(".notes b").count(), 0, "a note is text, never markup");
  assert.match(await notes.getByText(dropped).innerText(), /\.$/);
  await shot(page, "notes-compare");

  await toWish(page, { k: 5, max_suppressed: 898, max_level: { age: 4, "<b>job</b>": 1 } });
  await page.locator(".verdict.good").waitFor();
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByText("Every published record is in a group with").waitFor();
  await notes.getByText(dropped).waitFor();
  await shot(page, "notes-review");
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published, and verified from the file alone").waitFor();
  await page.locator(".verdict .notes").getByText(dropped).waitFor();
  await shot(page, "notes-publish");
  assert.deepEqual(complaints, []);
});

test("where nothing else is said, records that lack a value are kept, and the best loses least", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "people.csv"), people().replace("cook", "").replace("clerk", ""));
  const role = (name, role, more = "") => `[attributes.${name}]\nrole = "${role}"\n${more}`;
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "people.csv"\n${role("name", "identifier")}${role("age", "quasi-identifier", "hierarchy = { intervals = [10, 20, 40] }\n")}${role("job", "quasi-identifier")}${role("disease", "sensitive")}[request]\nk = 5\nmax_suppressed = 0\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict.good").waitFor();
  assert.equal(await page.getByLabel("What the best release is").inputValue(), "ncp");
  assert.doesNotMatch(await page.locator("main").innerText(), /left out/);
  await page.locator("nav").getByText("Data").click();
  await page.getByText("2 are kept, missing is a value of its own").waitFor();
  await page.locator("nav").getByText("Negotiate").click();
  await page.locator(".verdict.good").waitFor();
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published, and verified from the file alone").waitFor();
  assert.equal(readFileSync(join(home, "release.csv"), "utf8").trimEnd().split("\n").length, 901, "nobody is left out");
  assert.deepEqual(complaints, []);
});

test("the studies of a table are drawn, and taken along as pictures and tables", { skip }, async (t) => {
  const home = folder(t);
  writeFileSync(join(home, "people.csv"), people());
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "people.csv"\n[attributes.name]\nrole = "identifier"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.disease]\nrole = "sensitive"\n[request]\nk = 7\nmax_suppressed = 0\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".sample").waitFor();
  await page.locator("nav").getByText("Study").click();
  const first = page.locator("img.study").first();
  await first.waitFor();
  await page.waitForFunction(() => [...document.querySelectorAll("img.study")].every((image) => image.complete && image.naturalWidth > 0));
  // The current request stands among the values.
  const svg = page.waitForEvent("download");
  await page.getByRole("button", { name: "SVG" }).first().click();
  assert.match(readFileSync(await (await svg).path(), "utf8"), /k = 7/);
  const png = page.waitForEvent("download");
  await page.getByRole("button", { name: "PNG" }).first().click();
  assert.equal(readFileSync(await (await png).path()).subarray(1, 4).toString(), "PNG");
  const csv = page.waitForEvent("download");
  await page.getByRole("button", { name: "All numbers (CSV)" }).click();
  assert.match(readFileSync(await (await csv).path(), "utf8"), /^n_quasi_identifiers,quasi_identifiers,criterion,value,height/);
  await shot(page, "study");
  await page.getByLabel("Study", { exact: true }).selectOption("requests");
  await page.getByRole("button", { name: "Study", exact: true }).click();
  await page.getByRole("heading", { name: "Schemes looked at" }).waitFor();
  assert.deepEqual(complaints, []);
});
