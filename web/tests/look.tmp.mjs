import { test } from "node:test";
import { open, serve, shot, ROOT } from "./support.js";
test("look", async (t) => {
  const server = await serve(t, process.env.PROJECT ? [process.env.PROJECT] : []);
  for (const theme of ["light", "dark"]) {
    const { page, complaints } = await open(t, server.url, { colorScheme: theme });
    page.on("console",m=>console.log(m.text())); page.on("pageerror",e=>console.log(String(e.stack))); await page.waitForTimeout(2500); console.log(complaints, await page.evaluate(()=>document.body.innerText.slice(0,500))); await shot(page,"debug"); const wish = { k: 10, max_suppressed: "2%", max_level: { age: 2, sex: 0, postcode: 3, marital_status: 1, occupation: 1, admission_date: 2 } };
    await page.waitForSelector(".offer, .verdict");
    await page.waitForTimeout(800);
    await shot(page, `negotiate-exact-${theme}`);
    const id = await page.evaluate(() => location.hash.match(/project=(\w+)/)[1]);
    await page.evaluate(([id, wish]) => { location.hash = `negotiate&project=${id}&request=${encodeURIComponent(JSON.stringify(wish))}`; }, [id, { ...wish, max_suppressed: 1194 }]);
    await page.waitForSelector(".offer");
    await page.waitForTimeout(800);
    await shot(page, `negotiate-offers-${theme}`);
    for (const screen of ["Data", "Hierarchies", "Compare"]) {
      await page.click(`nav >> text=${screen}`);
      await page.waitForTimeout(1500);
      await shot(page, `${screen.toLowerCase()}-${theme}`);
    }
    await page.click("nav >> text=Negotiate");
    await page.click("[data-offer=height] .take");
    await page.waitForSelector(".verdict.good");
    await page.click("text=Review and publish");
    await page.waitForSelector(".promise");
    await page.fill("#output", `r-${theme}.csv`);
    await page.click("button:has-text('Publish')");
    await page.waitForSelector("text=verified from the file alone");
    await shot(page, `publish-${theme}`);
    console.log(theme, complaints);
  }
  const { page, complaints } = await open(t, server.url, { viewport: { width: 390, height: 800 } });
  await page.waitForSelector(".offer, .verdict"); await page.waitForTimeout(600);
  await shot(page, "negotiate-phone"); console.log(complaints);
});
