// Starts the page: the bar at the top, the six screens, and what they share.

import { get, setKey, takeKey } from "./api.js";
import { h, problemBox, put, say } from "./dom.js";
import { address, canRedo, canUndo, on, readAddress, redo, startWish, state, tell, undo, writeAddress } from "./store.js";
import { grouped } from "./words.js";
import * as data from "./data.js";
import * as hierarchies from "./hierarchies.js";
import * as negotiate from "./negotiate.js";
import * as compare from "./compare.js";
import * as publish from "./publish.js";
import * as study from "./study.js";

const SCREENS = { data, hierarchies, negotiate, compare, publish, study };
const TITLES = { data: "Data", hierarchies: "Hierarchies", negotiate: "Negotiate", compare: "Compare", publish: "Publish", study: "Study" };

const top = document.getElementById("top");
const main = document.getElementById("main");

start();

async function start() {
  setTheme(localStorage.getItem("incrowd-theme"));
  const asked = readAddress();
  if (!takeKey()) return askForKey();
  try {
    state.about = await get("/about");
  } catch (problem) {
    if (problem.status === 401) return askForKey(problem);
    return put(main, problemBox(problem));
  }
  const named = asked.project && (await get("/projects/" + encodeURIComponent(asked.project)).catch(() => null));
  state.project = named ?? state.about.project;
  // A link's wish is about its own project; where that is gone, it is tried on the one that is served.
  if (asked.wish) state.wish = asked.wish;
  const isKnown = asked.screen !== null && asked.screen in SCREENS;
  show(isKnown ? asked.screen : state.project ? "negotiate" : "data");
}

/** Shows one of the screens. */
function show(screen) {
  state.screen = screen;
  document.title = `${TITLES[screen]} · incrowd`;
  writeAddress();
  bar();
  put(main);
  main.dataset.screen = screen;
  SCREENS[screen].mount(main);
  window.scrollTo(0, 0);
}

// The address belongs to the request: what the link does is done without it.
document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); main.focus(); });

addEventListener("hashchange", () => {
  const asked = readAddress();
  if (asked.screen && asked.screen in SCREENS && state.about) {
    if (asked.wish && state.lattice) startWish(asked.wish);
    show(asked.screen);
    main.focus({ preventScroll: true });
  }
});

on("wish", bar);
on("project", () => {
  bar();
  // A role or a hierarchy may have been given on a screen that was left at once: what is shown is about what was before.
  if (!["data", "hierarchies"].includes(state.screen)) show(state.screen);
});
on("screen", () => show(state.screen));

addEventListener("keydown", (event) => {
  const isText = event.target instanceof HTMLInputElement && ["text", "search"].includes(event.target.type);
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isText || state.screen !== "negotiate") return;
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
  const focused = document.activeElement?.id;
  put(top,
    h("a", { class: "brand", href: "#negotiate", "aria-label": "incrowd, to the negotiation", onclick: (event) => { event.preventDefault(); show("negotiate"); } },
      h("img", { src: "icon.svg", alt: "", width: 26, height: 26 }), "incrowd"),
    h("nav", { "aria-label": "Steps" }, h("ol", {}, Object.keys(SCREENS).map(link))),
    h("div", { class: "tools" },
      state.project && h("span", { class: "source", title: "the table that is open" },
        state.project.document.data?.path ?? "", n ? h("small", {}, ` ${grouped(n)} records`) : null),
      tool("undo", "Undo the last wish (Ctrl+Z)", "M9 7 4 12l5 5M4 12h10a6 6 0 0 1 6 6", undo, !canUndo()),
      tool("redo", "Redo (Ctrl+Shift+Z)", "m15 7 5 5-5 5M20 12H10a6 6 0 0 0-6 6", redo, !canRedo()),
      tool("link", "Copy a link to this request; whoever opens it needs the key too", "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7L12 7M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7L12 17", copyLink),
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
