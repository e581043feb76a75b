// The guests' key in a real browser: wishes and offers, and nothing of the curator's.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { BROWSER, folder, open, serve, shot } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";

test("a guest negotiates within the policy, compares, and finds nothing to publish", { skip }, async (t) => {
  const home = folder(t);
  const lines = ["age,city,disease"];
  for (let i = 0; i < 600; i++) lines.push(`${20 + ((i * 13) % 60)},${["Xoslo", "Xumea", "Xrome"][i % 3]},${["Xflu", "Xcold", "Xgout"][(i >> 2) % 3]}`);
  writeFileSync(join(home, "people.csv"), lines.join("\n") + "\n");
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.disease]\nrole = "sensitive"\n[request]\nk = 10\nmax_suppressed = "2%"\n[policy]\nmin_k = 4\nlocked = ["max_suppressed", "city"]\n`);
  const server = await serve(t, [home]);
  const { page, complaints } = await open(t, server.guest_url);
  await page.locator(".verdict, .offer").first().waitFor();
  assert.match(await page.locator(".source").innerText(), /guest/);
  assert.deepEqual(await page.locator("#top nav a").allInnerTexts().then((all) => all.map((text) => text.replace(/\W*\d\W*/, ""))), ["Data", "Hierarchies", "Negotiate", "Compare"]);
  assert.equal(await page.getByRole("button", { name: "Review and publish" }).count(), 0);
  // Below the floor the knob does not go; what is locked does not move.
  const k = page.locator(".officer .knob input.value").first();
  await k.fill("2");
  await k.press("Enter");
  await page.waitForFunction(() => location.hash.includes("%22k%22%3A4"));
  assert.equal(await k.inputValue(), "4");
  assert.equal(await page.locator(".officer input[type=range]").first().getAttribute("min"), "0");
  await page.locator(".officer input[type=range]").first().fill("0");
  assert.equal(await k.inputValue(), "4");
  assert.ok(await page.locator(".curator input.value").isDisabled());
  assert.deepEqual(await page.locator(".analyst .level input[type=range]").evaluateAll((all) => all.map((one) => one.disabled)), [false, true]);
  await page.locator(".verdict, .offer").first().waitFor();
  await shot(page, "guest");
  await page.locator("#top nav a", { hasText: "Data" }).click();
  await page.locator(".columns").waitFor();
  assert.ok(await page.getByLabel("Role of age").isDisabled());
  await page.locator("#top nav a", { hasText: "Compare" }).click();
  await page.locator("table").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Publish" }).count(), 0);
  assert.doesNotMatch(await page.locator("body").innerText(), /X(oslo|umea|rome|flu|cold|gout)/);
  assert.deepEqual(complaints, []);
});
