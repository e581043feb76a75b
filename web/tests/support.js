// What these tests share: a server of its own for each test, and a browser that must not complain.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
export const PROGRAM = process.env.INCROWD ?? join(ROOT, "target/debug/incrowd");
export const SHOTS = join(ROOT, "target/screenshots");
mkdirSync(SHOTS, { recursive: true });

const BROWSERS = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
export const BROWSER = BROWSERS.find((path) => path && existsSync(path));

/** A folder that is gone when the test is over. @param {import("node:test").TestContext} t */
export function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "incrowd-page-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Starts `incrowd serve`. @returns {Promise<{url: string, token: string, folder: string}>} */
export function serve(t, args = [], cwd = undefined) {
  const child = spawn(PROGRAM, ["serve", "--json", "--quiet", ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill());
  return new Promise((resolve, reject) => {
    let text = "";
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`incrowd serve ended with ${code}: ${text}`)));
    child.stdout.on("data", (part) => {
      text += part;
      try { resolve(JSON.parse(text)); } catch { /* not all of it yet */ }
    });
  });
}

/** A window; what the page complains about fails the test. */
export async function open(t, url, options = {}) {
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  t.after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1440, height: 960 }, acceptDownloads: true, ...options });
  // While the page is being worked on: its files as they are now, without building the program again.
  if (process.env.PAGE_FROM_SOURCE) {
    await context.route((asked) => !asked.pathname.startsWith("/api/"), (route) => {
      const path = new URL(route.request().url()).pathname;
      return route.fulfill({ path: join(ROOT, "web", path === "/" ? "index.html" : path) });
    });
  }
  const page = await context.newPage();
  const complaints = [];
  const own = new URL(url).origin;
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("request", (request) => { if (!request.url().startsWith(own) && !/^(blob|data):/.test(request.url())) complaints.push(`asked elsewhere: ${request.url()}`); });
  // What is waited for is what the page shows, however long a busy machine takes; where it never comes, the test ends with this.
  page.setDefaultTimeout(Number(process.env.PAGE_TIMEOUT ?? 180_000));
  await page.goto(url);
  return { page, context, complaints };
}

/** When everything that a change of size or looks begins has been drawn. */
export const settled = (page) => page.evaluate(async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await document.fonts.ready;
  for (let i = 0; i < 3; i++) await frame();
  await Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {})));
  await frame();
});

export const shot = (page, name) => page.screenshot({ path: join(SHOTS, `${name}.png`), fullPage: true });
