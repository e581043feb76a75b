// The whole way to a release from other places than a CSV file: a workbook, a table of a database, and 24 attributes.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BROWSER, PROGRAM, ROOT, folder, open, serve, shot } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

/** From the table that stands open to a published release. */
async function publish(page, complaints, home) {
  await page.locator(".verdict, .offer").first().waitFor();
  if (await page.locator(".offer").count()) await page.locator("[data-offer=suppression] .take").click();
  await page.locator(".verdict.good").waitFor();
  await page.getByRole("button", { name: "Review and publish" }).click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText(/^Published, and verified/).waitFor();
  execFileSync(PROGRAM, ["verify", join(home, "release.csv")]);
  assert.deepEqual(complaints, []);
}

test("from an Excel file to a release", { skip }, async (t) => {
  const [home, elsewhere] = [folder(t), folder(t)];
  copyFileSync(join(ROOT, "examples/patients/patients.xlsx"), join(elsewhere, "patients.xlsx"));
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await page.getByRole("heading", { name: "Open a table" }).waitFor();
  await page.setInputFiles("#file", join(elsewhere, "patients.xlsx"));
  await page.locator(".columns tbody tr").first().waitFor();
  // What was guessed, as on the command line; one role is decided otherwise.
  const role = (name) => page.getByLabel(`Role of ${name}`, { exact: true });
  const guessed = { patient_no: "identifier", name: "identifier", sex: "quasi-identifier", age: "quasi-identifier", postcode: "quasi-identifier", diagnosis: "sensitive" };
  for (const [name, of] of Object.entries(guessed)) assert.equal(await role(name).inputValue(), of, name);
  await role("nights").selectOption("other");
  await page.waitForFunction(() => document.querySelector("#talk").textContent === "nights is now other");
  await page.locator("#top nav a", { hasText: "Negotiate" }).click();
  await publish(page, complaints, home);
  assert.match(readFileSync(join(home, "release.csv"), "utf8"), /^sex,age,postcode,admitted,diagnosis,nights\n/);
});

/** Where the library is that speaks SQLite, if it is on this machine. */
function driver() {
  if (process.env.INCROWD_SQLITE_DRIVER) return process.env.INCROWD_SQLITE_DRIVER;
  const libraries = join(ROOT, "target/venv-database/lib");
  for (const python of existsSync(libraries) ? readdirSync(libraries) : []) {
    const path = join(libraries, python, "site-packages/adbc_driver_sqlite/libadbc_driver_sqlite.so");
    if (existsSync(path)) return path;
  }
  return null;
}

/** A file with a table in it, by whatever can write one here. */
function database(path, rows) {
  const script = `import sqlite3, sys, json\nd = sqlite3.connect(sys.argv[1])\nd.execute("CREATE TABLE people (age TEXT, city TEXT, disease TEXT)")\nd.executemany("INSERT INTO people VALUES (?, ?, ?)", json.load(sys.stdin))\nd.commit()\n`;
  execFileSync("python3", ["-c", script, path], { input: JSON.stringify(rows) });
}

const noDatabase = driver() ? false : "no driver for SQLite: make test-database brings one, or name it in INCROWD_SQLITE_DRIVER";

test("from a table of a database to a release", { skip: skip || noDatabase }, async (t) => {
  const home = folder(t);
  database(join(home, "clinic.sqlite"), Array.from({ length: 600 }, (_, i) => [String(20 + ((i * 13) % 60)), ["Oslo", "Umea", "Rome"][i % 3], ["flu", "cold"][i % 2]]));
  writeFileSync(join(home, "incrowd.toml"), `[data]\ndatabase = "sqlite:clinic.sqlite"\ntable = "people"\n[attributes.age]\nrole = "quasi-identifier"\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.disease]\nrole = "sensitive"\n[request]\nk = 5\n`);
  process.env.INCROWD_SQLITE_DRIVER = driver();
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.url);
  await publish(page, complaints, home);
});

test("24 attributes: the most promising schemes at once, and all of them by a search that can be stopped", { skip }, async (t) => {
  const home = folder(t);
  const names = Array.from({ length: 24 }, (_, i) => `q${i + 1}`);
  const lines = [[...names, "disease"].join(",")];
  // People without any pattern: the search has much to look at.
  let x = 1;
  const toss = () => "ab"[((x = (x * 16807) % 2147483647) >> 8) & 1];
  for (let i = 0; i < 1000; i++) lines.push([...names.map(toss), ["flu", "cold"][i % 2]].join(","));
  writeFileSync(join(home, "people.csv"), lines.join("\n") + "\n");
  const attributes = names.map((name) => `[attributes.${name}]\nrole = "quasi-identifier"\n`).join("");
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "people.csv"\n${attributes}[attributes.disease]\nrole = "sensitive"\n[request]\nk = 5\nmax_suppressed = "5%"\n`);
  // Of 16 million schemes, with so little memory, only a part is annotated, whatever the machine has.
  const server = await serve(t, [home, "--memory", "1GB"]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor({ timeout: 180_000 });
  await page.getByRole("button", { name: "Search among all schemes" }).click();
  // The best so far, what is proved, and how long it goes on; then it is enough.
  await page.getByText(/schemes looked at; at most .* more/).waitFor();
  await shot(page, "search");
  await page.locator(".search").getByRole("button", { name: "Stop here" }).click();
  await page.locator(".search .pin").first().waitFor();
  assert.match(await page.locator(".search").innerText(), /proved|Proved/);
  // What the server works on is listed.
  await page.getByRole("button", { name: "What the server is working on" }).click();
  await page.locator("dialog").getByText("an order").first().waitFor();
  await page.locator("dialog").getByRole("button", { name: "Close" }).click();
  // One that nobody wants any more is cancelled.
  await page.getByRole("button", { name: "Search among all schemes" }).click();
  await page.locator(".search").getByRole("button", { name: "Cancel" }).click();
  await page.locator(".search").getByText("It was cancelled").waitFor();
  await publish(page, complaints, home);
});
