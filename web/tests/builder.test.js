// Grouping values by hand in a real browser: five thousand of them, with mouse and keyboard, and nothing is lost.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BROWSER, folder, open, serve, shot } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

function home(t) {
  const path = folder(t);
  const lines = ["age,place,disease"];
  for (let i = 0; i < 15000; i++) {
    const place = i % 5000;
    lines.push(`${20 + (i % 50)},${["north", "south", "west"][place % 3]} ${String(place).padStart(4, "0")},${["flu", "cold"][i % 2]}`);
  }
  writeFileSync(join(path, "people.csv"), lines.join("\n") + "\n");
  writeFileSync(join(path, "incrowd.toml"), `[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [10, 50] }\n[attributes.place]\nrole = "quasi-identifier"\n[attributes.disease]\nrole = "sensitive"\n[request]\nk = 5\n`);
  return path;
}

const group = (page, name) => page.locator(`.lanes li[data-group="${name}"]`);

test("five thousand values are found, marked, grouped, renamed, merged, split and grouped again", { skip }, async (t) => {
  const path = home(t);
  const server = await serve(t, [path]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator("#top nav a", { hasText: "Hierarchies" }).click();
  await page.getByRole("button", { name: /^place/ }).click();
  await page.getByText("Group values").click();
  await page.locator(".marks .item").first().waitFor();
  // Only what is seen is drawn, and all of it can be reached.
  assert.ok(await page.locator(".marks .item").count() < 60);
  assert.match(await page.locator(".marks").getAttribute("aria-label"), /^5,000 values of place/);
  await page.locator(".marks").press("End");
  await page.locator(".marks .item", { hasText: "west 4997" }).waitFor();
  for (const side of ["north", "south", "west"]) {
    const started = Date.now();
    await page.getByLabel("Find values").fill(side);
    await page.getByRole("button", { name: "Mark all found" }).click();
    await page.locator("#group-name").fill(side.toUpperCase());
    await page.getByRole("button", { name: "Group them" }).click();
    await group(page, side.toUpperCase()).waitFor();
    assert.ok(Date.now() - started < 15_000, `${Date.now() - started} ms`);
  }
  assert.match(await group(page, "NORTH").innerText(), /1,667 values, 5,001 records/);
  assert.match(await page.locator(".lanes").innerText(), /nothing is on its own/);
  // Rename, and merge by the name of another.
  await group(page, "WEST").locator("input").fill("OCCIDENT");
  await group(page, "WEST").locator("input").press("Enter");
  await group(page, "OCCIDENT").waitFor();
  await group(page, "OCCIDENT").locator("input").fill("SOUTH");
  await group(page, "OCCIDENT").locator("input").press("Enter");
  await page.getByText("OCCIDENT and SOUTH are one group now.").waitFor();
  assert.match(await group(page, "SOUTH").innerText(), /3,333 values, 9,999 records/);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await group(page, "OCCIDENT").waitFor();
  // Split: what is marked goes to a group of its own, by the keyboard alone.
  await page.getByLabel("Find values").fill("south 000");
  await page.locator(".marks").focus();
  for (const key of ["Home", " ", "ArrowDown", " ", "Enter"]) await page.keyboard.press(key);
  await page.keyboard.type("CAPITALS");
  await page.keyboard.press("Enter");
  assert.match(await group(page, "CAPITALS").innerText(), /2 values, 6 records/);
  // The groups are grouped again on a new level.
  await page.getByLabel("Find values").fill("");
  await page.getByRole("button", { name: "New level" }).click();
  for (const name of ["SOUTH", "CAPITALS"]) await page.locator(".marks .item", { hasText: name }).click();
  await page.locator("#group-name").fill("Down there");
  await page.getByRole("button", { name: "Group them" }).click();
  assert.match(await group(page, "Down there").innerText(), /2 groups, 5,001 records/);
  await page.locator(".levels tbody tr").nth(3).waitFor();
  await page.getByText(/detail lost .* → .*, records lost .* → /).waitFor();
  await shot(page, "builder");
  // As a table: every value with its labels, and a cell can be typed into.
  await page.getByRole("button", { name: "As a table" }).click();
  await page.getByLabel("Level 1 of north 0000", { exact: true }).fill("CAPITALS");
  await page.getByLabel("Level 1 of north 0000", { exact: true }).press("Enter");
  await page.getByRole("button", { name: "As groups" }).click();
  await page.getByLabel("Level 1", { exact: true }).check({ force: true });
  await group(page, "CAPITALS").getByText("3 values, 9 records").waitFor();
  // Looking at another attribute loses nothing.
  await page.getByRole("button", { name: /^age/ }).click();
  await page.getByRole("heading", { name: "age", exact: true }).waitFor();
  await page.getByRole("button", { name: /^place/ }).click();
  await group(page, "CAPITALS").getByText("3 values, 9 records").waitFor();
  await page.getByText("not used yet").waitFor();
  await page.getByRole("button", { name: "Use this hierarchy" }).click();
  await page.waitForFunction(() => !document.body.innerText.includes("not used yet"));
  await page.getByRole("button", { name: "Save project" }).click();
  await page.getByRole("button", { name: "Replace and save" }).click();
  await page.getByText("saved as incrowd.toml").waitFor();
  const text = readFileSync(join(path, "hierarchies/place.csv"), "utf8").trim().split("\n");
  assert.equal(text.length, 5000);
  assert.ok(text.includes("north 0000;CAPITALS;Down there;*") && text.includes("north 0003;NORTH;NORTH;*"), text.slice(0, 4).join("\n"));
  assert.deepEqual(complaints.filter((text) => !/409/.test(text)), []);
});

test("grouping starts from whatever the hierarchy is now", { skip }, async (t) => {
  const server = await serve(t, [home(t)]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator("#top nav a", { hasText: "Hierarchies" }).click();
  await page.getByRole("button", { name: /^age/ }).click();
  await page.getByText("Group values").click();
  // Intervals of 10 years, and of 50.
  await page.getByLabel("Level 2", { exact: true }).waitFor({ state: "attached" });
  assert.equal(await page.locator(".lanes li[data-group]").count(), 5);
  await page.getByLabel("Start from").selectOption("order");
  await page.waitForFunction(() => document.querySelectorAll(".lanes li[data-group]").length === 8);
  await page.getByLabel("Start from").selectOption("flat");
  await page.getByText("50 on their own").waitFor();
  assert.deepEqual(complaints, []);
});

test("grouping starts from known lists of codes, where values are such", { skip }, async (t) => {
  const path = folder(t);
  const countries = ["Germany", "France", "Italy", "Spain", "Norway", "Japan", "China", "India", "Kenya", "Egypt", "Brazil", "Chile", "Canada"];
  const lines = ["age,country,disease", ...Array.from({ length: 1300 }, (_, i) => `${20 + (i % 50)},${countries[i % 13]},${["flu", "cold"][i % 2]}`)];
  writeFileSync(join(path, "people.csv"), lines.join("\n") + "\n");
  writeFileSync(join(path, "incrowd.toml"), "[data]\npath = \"people.csv\"\n[attributes.country]\nrole = \"quasi-identifier\"\n[attributes.disease]\nrole = \"sensitive\"\n[request]\nk = 5\n");
  const server = await serve(t, [path]);
  const { page, complaints } = await open(t, server.url);
  await page.locator(".verdict, .offer").first().waitFor();
  await page.locator("#top nav a", { hasText: "Hierarchies" }).click();
  await page.getByText("Group values").click();
  await page.getByText("13 on their own").waitFor();
  await page.locator("option[value=suggested]").waitFor({ state: "attached" });
  await page.getByLabel("Start from").selectOption("suggested");
  await page.locator(".lanes li[data-group] .n", { hasText: "5 values, 500 records" }).waitFor();
  assert.deepEqual(await page.locator(".lanes li[data-group] input").evaluateAll((all) => all.map((one) => one.value).sort()), ["Africa", "Asia", "Europe", "North America", "South America"]);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await page.getByText("13 on their own").waitFor();
  assert.deepEqual(complaints, []);
});
