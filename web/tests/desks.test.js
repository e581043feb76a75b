// One negotiation at three desks, in three browsers: each moves their own knobs, all see it, and the report says how it went.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BROWSER, folder, open, serve, shot } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

function home(t) {
  const path = folder(t);
  const lines = ["age,city,disease"];
  for (let i = 0; i < 900; i++) lines.push(`${20 + ((i * 13) % 60)},${["Xoslo", "Xumea", "Xrome"][i % 3]},${["Xflu", "Xcold", "Xgout"][(i >> 2) % 3]}`);
  writeFileSync(join(path, "people.csv"), lines.join("\n") + "\n");
  writeFileSync(join(path, "incrowd.toml"), `[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.disease]\nrole = "sensitive"\n[request]\nk = 5\nmax_suppressed = "2%"\n[policy]\nmin_k = 4\n`);
  return path;
}

const sit = (page, name) => page.getByRole("button", { name: `Sit down as ${name}` }).click();
const knob = (page) => page.locator(".officer .knob input.value").first();

test("three people at three desks agree, and the report says who moved what", { skip }, async (t) => {
  const path = home(t);
  const server = await serve(t, [path]);
  const desks = [await open(t, server.url), await open(t, server.guest_url), await open(t, server.guest_url)];
  const [curator, officer, analyst] = desks.map(({ page }) => page);
  for (const { page } of desks) await page.locator(".verdict, .offer").first().waitFor();
  assert.equal(await officer.getByRole("button", { name: "Negotiate at three desks" }).isVisible(), false);
  await curator.getByRole("button", { name: "Negotiate at three desks" }).click();
  await curator.getByText("You sit at the desk of the data curator").waitFor();
  await sit(officer, "privacy officer");
  await sit(analyst, "analyst");
  assert.equal(await officer.getByRole("button", { name: "Sit down as data curator" }).count(), 0);
  // Everybody's own knobs move, and no others.
  assert.ok(await curator.locator(".officer input").first().isDisabled());
  assert.ok(await analyst.locator(".officer input").first().isDisabled());
  assert.ok(await officer.locator(".analyst input").first().isDisabled());
  await knob(officer).fill("7");
  await knob(officer).press("Enter");
  for (const page of [curator, analyst]) {
    await page.waitForFunction(() => document.querySelector(".officer .knob input.value").value === "7");
    await page.locator(".moves").getByText("privacy officer k: 5 → 7").waitFor();
  }
  // Below the floor the officer's knob does not go.
  await knob(officer).fill("2");
  await knob(officer).press("Enter");
  await curator.waitForFunction(() => document.querySelector(".officer .knob input.value").value === "4");
  await analyst.locator(".analyst .level input[type=range]").first().fill("2");
  await curator.locator(".moves").getByText(/analyst coarsest level of age/).waitFor();
  await shot(curator, "desks");
  for (const page of [curator, officer, analyst]) await page.getByRole("button", { name: "I agree to this" }).click();
  await curator.getByRole("button", { name: "All agree: review and publish" }).waitFor();
  // Who moves takes everybody's agreement away.
  await knob(officer).fill("6");
  await knob(officer).press("Enter");
  await curator.getByRole("button", { name: "All agree: review and publish" }).waitFor({ state: "detached" });
  for (const page of [curator, officer, analyst]) await page.getByRole("button", { name: "I agree to this" }).click();
  assert.equal(await officer.getByRole("button", { name: "All agree: review and publish" }).count(), 0);
  await curator.locator(".verdict, .offer").first().waitFor();
  await curator.getByRole("button", { name: "All agree: review and publish" }).click();
  await curator.getByText("have agreed to this at their desks").waitFor();
  await curator.getByRole("button", { name: "Publish", exact: true }).click();
  await curator.getByText("Published, and verified from the file alone").waitFor();
  const report = readFileSync(join(path, "release.csv.report.html"), "utf8");
  assert.match(report, /How it was agreed on/);
  assert.match(report, /officer<\/th><td>k<\/td>/);
  for (const page of [officer, analyst]) assert.doesNotMatch(await page.locator("body").innerText(), /X(oslo|umea|rome|flu|cold|gout)/);
  for (const { complaints } of desks) assert.deepEqual(complaints, []);
});
