// Starts the page: the bar at the top, the six screens, and what they share.

import { showJobs } from "./jobs.js";
import { askTabs, get, setKey, takeKey } from "./api.js";
import { h, problemBox, put, say, visible } from "./dom.js";
import { address, canRedo, canUndo, isGuest, isMadeUp, on, readAddress, redo, startWish, state, tell, undo, writeAddress } from "./store.js";
import { grouped } from "./words.js";
import { openProject } from "./session.js";
import * as data from "./data.js";
import * as hierarchies from "./hierarchies.js";
import * as negotiate from "./negotiate.js";
import * as compare from "./compare.js";
import * as publish from "./publish.js";
import * as study from "./study.js";

const SCREENS = { data, hierarchies, negotiate, compare, publish, study };
const TITLES = { data: "Data", hierarchies: "Hierarchies", negotiate: "Negotiate", compare: "Compare", publish: "Publish", study: "Study" };

/** What a guest gets to. */
const screens = () => Object.keys(SCREENS).filter((screen) => !(isGuest() && ["publish", "study"].includes(screen)));

const top = document.getElementById("top");
const main = document.getElementById("main");

start();

async function start() {
  setTheme(localStorage.getItem("incrowd-theme"));
  const asked = readAddress();
  if (!takeKey() && !(await askTabs())) return askForKey();
  try {
    state.about = await get("/about");
  } catch (problem) {
    if (problem.status === 401) return askForKey(problem);
    return put(main, problemBox(problem));
  }
  const named = asked.project && (await get("/projects/" + encodeURIComponent(asked.project)).catch(() => null));
  state.project = named ?? state.about.project;
  state.missing = asked.project && !named ? "The link is about a project that this server does not know: it was changed and not saved, or the server was started again." : null;
  // A link's wish is about its own project; where that is gone, it is tried on the one that is served.
  if (asked.wish) state.wish = asked.wish;
  const isKnown = asked.screen !== null && screens().includes(asked.screen);
  // Whoever wrote a project file has said what the columns are; what was guessed is looked at first.
  const isDecided = state.project && (state.project.is_saved || !state.about.allows_preview);
  show(isKnown ? asked.screen : isDecided ? "negotiate" : "data", false);
}

/** Shows one of the screens. @param {boolean} isStep whether the browser's way back leads to the one before */
function show(screen, isStep = true) {
  state.screen = screen;
  document.title = `${TITLES[screen]} · incrowd`;
  writeAddress(isStep);
  bar();
  // The screen fills what is its own; what concerns all stands above it.
  const place = h("div", {});
  put(main, missing(), place);
  main.dataset.screen = screen;
  SCREENS[screen].mount(place);
  window.scrollTo(0, 0);
}

// The address belongs to the request: what the link does is done without it.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

function missing() {
  if (!state.missing) return null;
  const box = h("div", { class: "notes missing", role: "status" }, h("p", {}, `${state.missing} ${state.project ? `What it asks for is tried on ${state.project.document.data?.path ?? "what is open"}.` : ""}`),
    h("button", { class: "plain", onclick: () => { state.missing = null; box.remove(); } }, "Close"));
  return box;
}

// Back and forward, and links that are pasted into the address.
addEventListener("hashchange", async () => {
  if (!state.about) return;
  const asked = readAddress();
  if (!asked.screen || !screens().includes(asked.screen)) return;
  if (asked.project && asked.project !== state.project?.id) {
    const project = await get("/projects/" + encodeURIComponent(asked.project)).catch(() => null);
    if (project) {
      state.wish = asked.wish ?? state.wish;
      await openProject(project, { isSameTable: project.document.data?.path === state.project?.document.data?.path });
      state.wish = asked.wish ?? state.wish;
    } else state.missing = "The address is about a project that this server does not know.";
  } else if (asked.wish && state.lattice) startWish(asked.wish, false);
  show(asked.screen, false);
  main.focus({ preventScroll: true });
});

on("wish", bar);
on("project", () => {
  bar();
  // A role or a hierarchy may have been given on a screen that was left at once: what is shown is about what was before.
  if (!["data", "hierarchies"].includes(state.screen)) show(state.screen, false);
});
on("screen", () => show(state.screen));
on("guide", bar);

// A table that is dropped anywhere is opened; a browser would leave the page for it.
addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
addEventListener("drop", (event) => {
  const file = event.dataTransfer?.files[0];
  // Places for files have taken what is theirs.
  if (event.defaultPrevented || !file) return;
  event.preventDefault();
  if (state.about?.allows_preview && !isGuest()) data.bring(file);
});

addEventListener("keydown", (event) => {
  const isText = event.target instanceof HTMLInputElement && ["text", "search"].includes(event.target.type);
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isText || !["negotiate", "data", "hierarchies"].includes(state.screen)) return;
  event.preventDefault();
  if (event.shiftKey) redo(); else undo();
});

function bar() {
  if (!state.about) return;
  const link = (screen, i) => h("li", {},
    h("a", {
      href: "#" + screen, "aria-current": state.screen === screen ? "page" : null,
      onclick: (event) => { event.preventDefault(); show(screen); main.focus({ preventScroll: true }); },
    }, h("span", { class: "step", "aria-hidden": true }, String(i + 1)), TITLES[screen]));
  const n = state.lattice?.n_records;
  const nDropped = state.lattice?.n_dropped ?? 0;
  const focused = document.activeElement?.id;
  put(top,
    h("a", { class: "brand", href: "#negotiate", "aria-label": "incrowd, to the negotiation", onclick: (event) => { event.preventDefault(); show("negotiate"); } },
      h("img", { src: "icon.svg", alt: "", width: 26, height: 26 }), "incrowd"),
    h("nav", { "aria-label": "Steps" }, h("ol", {}, screens().map(link))),
    h("div", { class: "tools" },
      state.project && h("span", { class: "source", title: "the table that is open" },
        visible(state.project.document.data?.path ?? ""), isMadeUp() ? h("small", {}, " made up") : null,
        isGuest() ? h("small", { class: "guest", title: "you negotiate and compare; values, roles and publishing are the curator's" }, " guest") : null,
        n ? h("small", { title: nDropped > 0 ? `${grouped(nDropped)} more lack a value and are left out` : null }, ` ${grouped(n)}${nDropped > 0 ? ` of ${grouped(n + nDropped)}` : ""} records`) : null),
      tool("undo", "Undo the last wish (Ctrl+Z)", "M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6", undo, !canUndo()),
      tool("redo", "Redo (Ctrl+Shift+Z)", "m15 7 5 5-5 5M20 12H10a6 6 0 0 0-6 6", redo, !canRedo()),
      tool("link", "Copy a link to this request; whoever opens it needs the key too", "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17", copyLink),
      isGuest() ? null : tool("jobs", "What the server is working on", "M4 6h10M4 12h16M4 18h7", showJobs),
      tool("theme", "Light or dark", "M12 3v2m0 14v2M3 12h2m14 0h2M5.6 5.6l1.4 1.4m10 10 1.4 1.4M5.6 18.4 7 17m10-10 1.4-1.4M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8", nextTheme)));
  if (focused) document.getElementById(focused)?.focus();
}

function tool(name, title, path, onclick, disabled = false) {
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", "0 0 24 24");
  picture.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  picture.append(line);
  return h("button", { class: "tool", id: "tool-" + name, title, "aria-label": title, onclick, disabled }, picture);
}

async function copyLink() {
  const url = location.origin + location.pathname + address();
  await navigator.clipboard?.writeText(url).catch(() => {});
  history.replaceState(null, "", address());
  say("The link was copied.");
  const button = document.getElementById("tool-link");
  button?.classList.add("done");
  setTimeout(() => button?.classList.remove("done"), 1200);
}

function setTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function nextTheme() {
  const isDark = (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  localStorage.setItem("incrowd-theme", isDark ? "light" : "dark");
  setTheme(isDark ? "light" : "dark");
  tell("theme");
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => tell("theme"));

function askForKey(problem = null) {
  const field = h("input", { type: "text", id: "key", autocomplete: "off", spellcheck: "false" });
  const use = (event) => { event.preventDefault(); setKey(field.value); put(main); start(); };
  put(main, h("form", { class: "card narrow", onsubmit: use },
    h("h1", {}, "Who is there?"),
    h("p", {}, "This page opens with the key in the address that ", h("code", {}, "incrowd serve"), " printed."),
    problem && problemBox(problem),
    h("label", { for: "key" }, "Paste that address, or the key"), field,
    h("button", { class: "primary" }, "Open")));
  field.focus();
}
