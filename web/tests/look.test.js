// Every screen at four widths and in both themes: nothing is cut off, and axe-core finds nothing.

import assert from "node:assert/strict";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cutOff, findings } from "./look.js";
import { BROWSER, SHOTS, folder, open, serve, settled, shot } from "./support.js";

const skip = BROWSER ? false : "no browser: install chromium, or name one in CHROMIUM";
const WIDTHS = (process.env.WIDTHS ?? "390,768,1024,1440").split(",").map(Number);
const THEMES = ["light", "dark"];

/** Goes through what a screen shows. @param {(page: any) => Promise<void>} settled */
async function everywhere(t, url, name, ready) {
  const { page, complaints } = await open(t, url);
  const wrong = [];
  await ready(page);
  for (const theme of THEMES) {
    await page.evaluate((theme) => { document.documentElement.dataset.theme = theme; }, theme);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(() => window.scrollTo(0, 0));
      await settled(page);
      await shot(page, `look/${name}-${width}-${theme}`);
      wrong.push(...(await cutOff(page)).map((what) => `${name} at ${width}: ${what}`));
      // What axe-core looks at differs between themes, and between the narrow and the wide layout.
      if (width === WIDTHS[0] || width === WIDTHS.at(-1)) wrong.push(...(await findings(page)).map((what) => `${name} at ${width} ${theme}: ${what}`));
    }
  }
  return { wrong: [...new Set(wrong)], complaints };
}

const to = (screen, until) => async (page) => {
  await page.locator("#top nav a", { hasText: screen }).click();
  await until(page);
};

const SCREENS = {
  data: to("Data", async (page) => {
    await page.locator(".columns").waitFor();
    await page.locator(".reading > summary").click();
  }),
  hierarchies: to("Hierarchies", (page) => page.locator(".levels").first().waitFor()),
  grouping: to("Hierarchies", async (page) => {
    await page.locator(".levels").first().waitFor();
    await page.locator(".side button").nth(1).click();
    await page.getByText("Group values").click();
    await page.locator(".marks .item").first().waitFor();
  }),
  negotiate: to("Negotiate", async (page) => {
    await page.locator(".verdict, .offer").first().waitFor();
    await page.locator(".sample").waitFor();
    await page.locator(".chart-box").first().waitFor();
  }),
  ranges: to("Negotiate", async (page) => {
    await page.locator(".modes label").nth(1).click();
    await page.locator(".icicle canvas").waitFor();
    await page.locator(".sample").waitFor();
  }),
  compare: to("Compare", async (page) => {
    await page.locator("table.methods").waitFor();
    await page.locator(".map").waitFor();
  }),
  publish: to("Publish", (page) => page.locator("main h1").first().waitFor()),
  study: to("Study", async (page) => {
    await page.locator("img.study").first().waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll("img.study")].every((image) => image.complete && image.naturalWidth > 0));
  }),
  offers: async (page) => {
    await threeOffers(page);
    await page.locator(".sample tr.lost").first().waitFor();
  },
  jobs: to("Data", async (page) => {
    await page.locator(".columns").waitFor();
    await page.locator("#tool-jobs").click();
    await page.locator("dialog").waitFor();
  }),
};

/** What the demo's second request asks for, which cannot all be had. */
const WISH = { k: 10, max_suppressed: 1194, max_level: { age: 2, sex: 0, postcode: 3, marital_status: 1, occupation: 1, admission_date: 2 } };

/** Asks for that, and waits for the three offers. */
async function threeOffers(page) {
  await page.locator(".verdict").waitFor();
  await page.evaluate((wish) => {
    const project = location.hash.match(/project=(\w+)/)[1];
    location.hash = `negotiate&project=${project}&request=${encodeURIComponent(JSON.stringify(wish))}`;
  }, WISH);
  await page.locator(".offer").nth(2).waitFor();
}

for (const [name, ready] of Object.entries(SCREENS)) {
  if (process.env.SCREENS && !process.env.SCREENS.split(",").includes(name)) continue;
  test(`${name}: nothing is cut off at any width, and axe-core finds nothing`, { skip }, async (t) => {
    const server = await serve(t, [], folder(t));
    const { wrong, complaints } = await everywhere(t, server.url, name, async (page) => {
      await page.locator("#top nav").waitFor();
      await ready(page);
    });
    assert.deepEqual(wrong, []);
    assert.deepEqual(complaints, []);
  });
}

test("the picture of the README: three parties, three offers, and all schemes", { skip: skip || (process.env.SCREENS && process.env.SCREENS !== "picture" ? "some screens only" : false) }, async (t) => {
  const server = await serve(t, [], folder(t));
  const { page, complaints } = await open(t, server.url, { viewport: { width: 1440, height: 1400 } });
  await threeOffers(page);
  await page.locator(".beside p").waitFor();
  assert.equal(await page.locator(".offer:not(.none)").count(), 3);
  await page.mouse.move(0, 0);
  await settled(page);
  await page.screenshot({ path: join(SHOTS, "picture.png") });
  assert.deepEqual(complaints, []);
});

test("start and key: nothing is cut off at any width, and axe-core finds nothing", { skip: skip || (process.env.SCREENS ? "some screens only" : false) }, async (t) => {
  const server = await serve(t, [folder(t)]);
  const start = await everywhere(t, server.url, "start", (page) => page.getByRole("heading", { name: "Open a table" }).waitFor());
  const key = await everywhere(t, new URL(server.url).origin, "key", (page) => page.getByText("Paste that address, or the key").waitFor());
  assert.deepEqual([...start.wrong, ...key.wrong], []);
  assert.deepEqual([...start.complaints, ...key.complaints].filter((text) => !/401/.test(text)), []);
});

test("published and verified: nothing is cut off at any width, and axe-core finds nothing", { skip: skip || (process.env.SCREENS && !process.env.SCREENS.includes("verify") ? "some screens only" : false) }, async (t) => {
  const [home, elsewhere] = [folder(t), folder(t)];
  const lines = ["age,city,disease"];
  for (let i = 0; i < 900; i++) lines.push(`${18 + ((i * 13) % 70)},${["Oslo", "Umea", "Rome", "Pisa"][i % 4]},${["flu", "cold", "gout"][(i >> 3) % 3]}`);
  writeFileSync(join(home, "people.csv"), lines.join("\n") + "\n");
  writeFileSync(join(home, "incrowd.toml"), "[data]\npath = \"people.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = \"quasi-identifier\"\n[attributes.disease]\nrole = \"sensitive\"\n[request]\nk = 5\nmax_suppressed = \"5%\"\n");
  const server = await serve(t, [home]);
  const { wrong, complaints } = await everywhere(t, server.url, "verify", async (page) => {
    await page.locator(".verdict, .offer").first().waitFor();
    await page.locator("#top nav a", { hasText: "Publish" }).click();
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Published, and verified from the file alone").waitFor();
    for (const name of ["release.csv", "release.csv.certificate.json"]) copyFileSync(join(home, name), join(elsewhere, name.replace("release", "mine")));
    await page.setInputFiles("#release", ["mine.csv", "mine.csv.certificate.json"].map((name) => join(elsewhere, name)));
    await page.locator(".verify .risk .bars").nth(1).waitFor();
  });
  assert.deepEqual(wrong, []);
  assert.deepEqual(complaints, []);
});

/** A table of one's own: 900 people, some of them with an age that nobody else has. @param {string} request of the project file */
function people(t, request = "k = 5\nmax_suppressed = \"5%\"\n") {
  const home = folder(t);
  const lines = ["patient,age,city,admitted,pay,disease"];
  for (let i = 0; i < 900; i++) lines.push(`P${1000 + (i % 450)},${18 + ((i * 13) % 70)},${["Oslo", "Umea", "Rome", "Pisa"][i % 4]},2024-${String(1 + (i % 12)).padStart(2, "0")}-${String(1 + (i % 28)).padStart(2, "0")},${20000 + ((i * 137) % 30000)},${["flu", "cold", "gout"][(i >> 3) % 3]}`);
  lines.push("P9999,99,Oslo,2024-05-05,70000,flu");
  writeFileSync(join(home, "people.csv"), lines.join("\n") + "\n");
  writeFileSync(join(home, "incrowd.toml"), `[data]\npath = "people.csv"\nrecords = "independent"\n[attributes.patient]\nrole = "identifier"\n[attributes.age]\nrole = "quasi-identifier"\nhierarchy = { intervals = [5, 10, 20] }\n[attributes.city]\nrole = "quasi-identifier"\n[attributes.admitted]\nrole = "quasi-identifier"\nhierarchy = { dates = ["month", "quarter", "year"] }\n[attributes.pay]\nrole = "other"\npublish_as = { round = 1000 }\n[attributes.disease]\nrole = "sensitive"\n[request]\n${request}`);
  return home;
}

const answered = (page) => page.locator(".verdict, .offer").first().waitFor();
const attribute = (page, name) => page.locator(".side button", { hasText: name }).click();
const kind = (page, name) => page.locator(".kinds label", { hasText: name }).first().click();

/** Screens that a table of one's own leads to; each begins where the project is negotiated. */
const CLOSER = {
  settings: async (page) => {
    await to("Data", (page) => page.locator(".columns").waitFor())(page);
    await page.locator(".reading > summary").click();
    await page.getByLabel("How pay is published").waitFor();
  },
  risk: async (page) => {
    await to("Data", (page) => page.locator(".columns").waitFor())(page);
    await page.getByRole("button", { name: "Look for special uniques" }).click();
    await page.locator(".of-values summary").first().click();
  },
  cuts: async (page) => {
    await to("Hierarchies", (page) => page.locator(".levels").first().waitFor())(page);
    await kind(page, "Cut points");
    await page.locator(".cuts .handle").first().waitFor();
    await page.locator(".levels").first().waitFor();
  },
  "cuts-of-dates": async (page) => {
    await to("Hierarchies", (page) => page.locator(".levels").first().waitFor())(page);
    await attribute(page, "admitted");
    await kind(page, "Cut points");
    await page.locator(".cuts .handle").first().waitFor();
    await page.locator(".levels").first().waitFor();
  },
  sheet: async (page) => {
    await to("Hierarchies", (page) => page.locator(".levels").first().waitFor())(page);
    await kind(page, "Group values");
    await page.locator(".marks .item").first().waitFor();
    await page.getByRole("button", { name: "As a table" }).click();
    await page.locator(".sheet tbody tr").first().waitFor();
  },
  mask: async (page) => {
    await to("Hierarchies", (page) => page.locator(".levels").first().waitFor())(page);
    await attribute(page, "city");
    await kind(page, "Hide characters");
    await page.locator(".levels").first().waitFor();
  },
  import: async (page) => {
    await to("Hierarchies", (page) => page.locator(".levels").first().waitFor())(page);
    await attribute(page, "city");
    await kind(page, "From a file");
    await page.setInputFiles(".rule input[type=file]", { name: "cities.csv", mimeType: "text/csv", buffer: Buffer.from("Oslo;North;*\nUmea;North;*\nRome;South;*\n") });
    await page.locator(".builder .problem").waitFor();
  },
  scheme: async (page) => {
    await page.locator(".pyramid canvas[aria-label*='Arrow keys move']").focus();
    for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
    await page.locator(".steps-from button").first().waitFor();
    await page.getByRole("button", { name: "See its groups" }).click();
    await page.locator(".groups tbody tr").first().waitFor();
  },
  desks: async (page) => {
    await page.getByRole("button", { name: "Negotiate at three desks" }).click();
    await page.getByText("You sit at the desk of the data curator").waitFor();
  },
  method: async (page) => {
    await to("Compare", (page) => page.locator("table.methods").waitFor())(page);
    await page.locator("table.methods tr", { hasText: "top-down" }).getByRole("button", { name: "Publish" }).click();
    await page.getByText("Method").first().waitFor();
  },
  target: async (page) => {
    await to("Compare", (page) => page.locator("table.methods").waitFor())(page);
    await page.getByLabel("Target").selectOption("disease");
    await page.getByText(/is told right/).waitFor();
  },
  broken: async (page) => {
    await to("Publish", (page) => page.locator(".drop").waitFor())(page);
    await page.setInputFiles("#release", { name: "others.csv", mimeType: "text/csv", buffer: Buffer.from("age,city,admitted\n31,Oslo,2024\n32,Oslo,2024\n") });
    await page.getByText("Broken: others.csv").waitFor();
    await page.locator(".verify .bars").first().waitFor();
  },
};

for (const [name, ready] of Object.entries(CLOSER)) {
  if (process.env.SCREENS && !process.env.SCREENS.split(",").includes(name)) continue;
  test(`${name}: nothing is cut off at any width, and axe-core finds nothing`, { skip }, async (t) => {
    const server = await serve(t, [people(t, name === "scheme" ? "k = 5\nmax_level = { age = 1, city = 0, admitted = 2 }\n" : undefined)]);
    const { wrong, complaints } = await everywhere(t, server.url, name, async (page) => {
      await answered(page);
      await ready(page);
    });
    assert.deepEqual(wrong, []);
    // A file that does not fit is refused, which the browser notes down.
    assert.deepEqual(complaints.filter((text) => !(name === "import" && /422/.test(text))), []);
  });
}

/** What is seen without preview, and by a guest. */
const CLOSED = {
  data: to("Data", (page) => page.locator(".columns").waitFor()),
  hierarchies: to("Hierarchies", (page) => page.locator(".levels").first().waitFor()),
  negotiate: to("Negotiate", async (page) => {
    await answered(page);
    await page.locator(".causes").first().waitFor();
  }),
  ranges: to("Negotiate", async (page) => {
    await page.locator(".modes label").nth(1).click();
    await answered(page);
    await page.locator(".chart-box").first().waitFor();
  }),
  compare: to("Compare", (page) => page.locator("table.methods").waitFor()),
  publish: to("Publish", async (page) => {
    await page.getByRole("button", { name: "Publish", exact: true }).click();
    await page.getByText("Published, and verified from the file alone").waitFor();
  }),
};

for (const who of ["closed", "guest"]) {
  for (const [name, ready] of Object.entries(CLOSED)) {
    if (who === "guest" && name === "publish") continue;
    if (process.env.SCREENS && !process.env.SCREENS.split(",").includes(`${who}-${name}`)) continue;
    test(`${who}, ${name}: nothing is cut off at any width, and axe-core finds nothing`, { skip }, async (t) => {
      const server = await serve(t, [people(t), ...(who === "closed" ? ["--allow-preview=false"] : [])]);
      const { wrong, complaints } = await everywhere(t, who === "guest" ? server.guest_url : server.url, `${who}-${name}`, async (page) => {
        await answered(page);
        await ready(page);
      });
      assert.deepEqual(wrong, []);
      assert.deepEqual(complaints, []);
    });
  }
}

test("guide: nothing is cut off at any width, and axe-core finds nothing", { skip: skip || (process.env.SCREENS && !process.env.SCREENS.split(",").includes("guide") ? "some screens only" : false) }, async (t) => {
  const server = await serve(t, [join(people(t), "people.csv")]);
  const { wrong, complaints } = await everywhere(t, server.url, "guide", async (page) => {
    await page.locator("[data-question=known]").getByRole("button").click();
    await page.getByText(/^1 of \d decided/).waitFor();
  });
  assert.deepEqual(wrong, []);
  assert.deepEqual(complaints, []);
});

test("long names, names that turn around and many columns stay within the page", { skip: skip || (process.env.SCREENS ? "some screens only" : false) }, async (t) => {
  const home = folder(t);
  const names = ["age", "the_number_of_the_municipality_in_which_the_household_was_registered_first", "na\u202eme", "sex", ...Array.from({ length: 20 }, (_, i) => `question_${i + 1}`), "diagnosis"];
  const lines = [names.join(",")];
  for (let i = 0; i < 400; i++) lines.push(names.map((_, c) => (c === 0 ? 20 + ((i * 7) % 60) : `${"abcdefgh"[(i * (c + 3) + (i >> c % 5)) % (c === 1 ? 8 : 4)]}${c === 1 ? "_of_a_rather_long_name_for_a_value" : ""}`)).join(","));
  writeFileSync(join(home, "people.csv"), lines.join("\n") + "\n");
  const server = await serve(t, ["people.csv"], home);
  const { wrong, complaints } = await everywhere(t, server.url, "long-names", (page) => page.locator(".columns").waitFor());
  assert.deepEqual(wrong, []);
  assert.deepEqual(complaints, []);
});
