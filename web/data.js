// The first screen: what the columns look like, which roles they have, and how many records stand alone.

import { ask, upload, work } from "./api.js";
import { progressBar, sparkBars } from "./charts.js";
import { h, problemBox, put, say, term, visible } from "./dom.js";
import { readingCard } from "./reading.js";
import { riskCard } from "./risk.js";
import { decide, guide, guideBy } from "./guide.js";
import { openProject } from "./session.js";
import { go, isMadeUp, on, state, writeAddress } from "./store.js";
import { ROLES, bytes, counted, grouped, percent } from "./words.js";
import { get } from "./api.js";

/** @type {HTMLElement} */ let root;
let panel = null;
/** A table that was dropped onto the page and is not opened yet. @type {File | null} */ let dropped = null;

/** Opens a table that was dropped somewhere on the page. @param {File} file */
export function bring(file) {
  dropped = file;
  if (state.screen !== "data") return go("data");
  // Where the screen is not there yet, it opens the table when it is.
  if (!panel?.isConnected) return;
  put(panel);
  opener(!state.project);
}

export function mount(element) {
  root = element;
  panel = h("div", {});
  if (state.project) look(); else opener(true);
}

on("project", () => state.screen === "data" && root && state.project && look());

async function look() {
  const project = state.project;
  const isHere = () => state.screen === "data" && state.project === project;
  try {
    const profile = await ask("/profile", { project: project.id },
      (job) => isHere() && put(root, h("div", { class: "card narrow" }, h("h1", {}, "Looking at the table"), progressBar(job))));
    if (isHere()) show(profile);
  } catch (problem) {
    if (isHere()) put(root, h("div", { class: "card narrow" }, h("h1", {}, "This table cannot be read"), problemBox(problem)), readingCard(edit, true), panel), opener(true);
  }
}

function show(profile) {
  const unique = profile.uniqueness;
  // Then only what is counted or published has to be there.
  const drops = profile.missing_records === "drop";
  const attributes = state.project.document.attributes ?? {};
  const nQuasi = Object.values(attributes).filter((about) => about.role === "quasi-identifier").length;
  guideBy(profile);
  const leftOut = drops && profile.n_incomplete > 0 ? `; ${grouped(profile.n_incomplete)} that lack a value are left out of every answer` : "";
  put(root,
    h("div", { class: "title" }, h("div", {}, h("h1", { title: profile.data }, visible(profile.data)),
      h("p", { class: "lead" }, `${counted(profile.n_records, "record")}, ${counted(profile.columns.length, "column")}${leftOut}${isMadeUp() ? "; made up, nobody is in it" : ""}`)),
      state.about.allows_preview ? h("div", { class: "row" },
        h("button", { onclick: () => opener(false), "aria-expanded": panel.childElementCount > 0 }, "Open another table"),
        saver()) : null),
    panel, guide(),
    h("div", { class: "tiles" },
      tile(`unique ${unique?.n_people ? "people" : "records"}`, unique?.n_people ? "people who alone have one of their combinations of the chosen quasi-identifiers, in however many records" : "records that nobody else has the like of, on the chosen quasi-identifiers",
        unique ? percent(unique.share_unique) : "–",
        unique ? `${unique.is_exact ? "" : "about "}${grouped(unique.n_unique)} of ${unique.n_people ? `${grouped(unique.n_people)} people` : grouped(unique.n_records)} stand alone on ${counted(nQuasi, "attribute")}` : "no attribute is one that others may know",
        unique && unique.share_unique > 0.05 ? "bad" : null),
      tile("incomplete records", drops ? "records that lack a value in a column that is counted or published" : "records that lack a value in some column",
        percent(profile.n_incomplete / Math.max(1, profile.n_records)),
        profile.n_incomplete > 0 ? `${grouped(profile.n_incomplete)} ${drops ? "are left out" : "are kept, missing is a value of its own"}`
          : profile.columns.some((column) => column.n_missing > 0) ? "none is left out" : "no value is missing"),
      without(unique)),
    people(profile),
    readingCard(edit),
    // A server without preview takes no orders.
    nQuasi > 0 && state.about.allows_preview ? riskCard() : null,
    h("section", { class: "card" }, h("h2", {}, "What is each column?"),
      h("p", { class: "note" }, state.about.allows_preview
        ? "Say what others may know about a person, and what must not be linked to one. Suggestions come from names and values: nobody knows the data as you do."
        : "This server shows no values of the data, so roles and hierarchies are those of the project that it serves."),
      h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Columns" }, columns(profile))),
    h("div", { class: "row end" }, h("button", { class: "primary", onclick: () => go(nQuasi > 0 ? "hierarchies" : "data"), disabled: nQuasi === 0 }, "Next: hierarchies")));
  if (dropped) opener(false);
}

const tile = (name, meaning, value, note, kind = null) => h("div", { class: `card tile ${kind ?? ""}` },
  h("span", { class: "tile-name" }, term(name, meaning)), h("strong", {}, value), h("small", {}, note));

/** Which attribute makes people stand out most. */
function without(unique) {
  const entries = Object.entries(unique?.n_unique_without ?? {});
  if (entries.length < 2) return null;
  const rows = entries.map(([name, n]) => [name, Math.max(0, unique.n_unique - n)]).sort((a, b) => b[1] - a[1]).slice(0, 5);
  const most = Math.max(1, rows[0][1]);
  return h("div", { class: "card tile grow" }, h("span", { class: "tile-name" }, "who would not stand alone without …"),
    h("ul", { class: "bars" }, rows.map(([name, n]) => h("li", {}, h("span", { class: "name" }, name),
      h("span", { class: "meter" }, h("i", { style: { width: `${(100 * n) / most}%` } })), h("span", { class: "n" }, grouped(n))))));
}

/** An identifier that repeats: whether people or records are meant must be said before anything is published. */
function people(profile) {
  const found = profile.repeating;
  if (!found) return null;
  const column = profile.columns.find((known) => known.name === found.column);
  return h("section", { class: "card people", role: "note" }, h("p", {}, found.in_words),
    state.about.allows_preview ? h("div", { class: "row" },
      h("button", { onclick: () => { decide("person"); setRole(column, "person"); } }, `Count people by ${found.column}`),
      h("button", { class: "plain", onclick: () => { decide("person"); edit((document) => { document.data.records = "independent"; }, "records are counted"); } }, "Records are meant")) : null);
}

function columns(profile) {
  const attributes = state.project.document.attributes ?? {};
  const row = (column) => {
    const role = attributes[column.name]?.role ?? "none";
    const choice = h("select", { class: `role ${role}`, title: `${role}: ${ROLES[role]?.[0] ?? ""}`, "aria-label": `Role of ${column.name}`, disabled: !state.about.allows_preview, onchange: () => setRole(column, choice.value) },
      Object.entries(ROLES).map(([name, [word]]) => h("option", { value: name, selected: name === role }, `${name}: ${word}`)),
      h("option", { value: "none", selected: role === "none" }, state.project.document.data?.other === "keep" ? "not named: published as it is" : "not named: left out"));
    choice.value = role;
    const isSame = column.suggested_role === role || (role === "none" && column.suggested_role === "other");
    return h("tr", {},
      h("th", { scope: "row", title: visible(column.name) }, h("span", { class: "label" }, visible(column.name)), h("small", {}, column.type)),
      h("td", { class: "chart-cell", data: { label: "spread" } }, sparkBars(column.chart, `How often values of ${column.name} occur`),
        column.least !== undefined ? h("small", {}, h("span", {}, `${column.least} –`), " ", h("span", {}, column.greatest)) : null),
      h("td", { class: "n", data: { label: "distinct" } }, `${column.is_exact ? "" : "~"}${grouped(column.n_distinct)}`),
      h("td", { class: "n", data: { label: "missing" } }, column.n_missing === 0 ? "–" : grouped(column.n_missing)),
      h("td", { class: "n", data: { label: "unique" } }, column.n_unique === 0 ? "–" : percent(column.share_unique)),
      h("td", { data: { label: "role" } }, choice),
      h("td", { class: "why", data: { label: "why" } }, isSame || !state.about.allows_preview ? h("span", { class: "soft" }, isSame ? column.why : "")
        : h("button", { class: "plain", title: column.why, onclick: () => setRole(column, column.suggested_role) }, `suggested: ${column.suggested_role}`)));
  };
  const head = [["column", ""], ["how values are spread", ""], ["distinct", "how many different values"], ["missing", "records without a value"], ["unique", "records whose value nobody else has"], ["role", ""], ["why", "the reason of the suggestion"]];
  return h("table", { class: "columns stack" },
    h("thead", {}, h("tr", {}, head.map(([name, meaning], i) => h("th", { scope: "col", class: i > 1 && i < 5 ? "n" : null }, meaning ? term(name, meaning) : name)))),
    h("tbody", {}, profile.columns.map(row)));
}

/** Opens the project as it is after a change, and says what that is. */
async function edit(change, said) {
  const document = structuredClone(state.project.document);
  change(document);
  try {
    const project = await ask("/projects", { document, base: state.project.id });
    await openProject(project, { isSameTable: true });
    say(said);
  } catch (problem) {
    put(panel, problemBox(problem));
  }
}

const setRole = (column, role) => edit((document) => giveRole(document, column, role), `${column.name} is now ${role}`);

function giveRole(document, column, role) {
  document.attributes ??= {};
  const known = document.attributes[column.name];
  // What is said of columns that are published as they are means nothing of others.
  if (known && role !== "other" && role !== "sensitive") {
    delete known.unique;
    delete known.tells;
  }
  if (role === "none") delete document.attributes[column.name];
  else document.attributes[column.name] = { ...known, role };
  if (role === "quasi-identifier" && !known?.hierarchy && column.suggested_rule) document.attributes[column.name].hierarchy = column.suggested_rule;
  // A standing wish about an attribute that is gone would be an error.
  if (document.request?.max_level) delete document.request.max_level[column.name];
  // Who says whose record it is does not mean records.
  if (role === "person") delete document.data.records;
}

/** Writes incrowd.toml and what was imported; asks before a file is replaced. */
export function saver() {
  const note = h("span", { class: "note", role: "status" });
  const save = async (replace) => {
    try {
      state.project = await ask("/save", { project: state.project.id, replace });
      writeAddress();
      put(box, h("span", { class: "note good", role: "status" }, "saved as incrowd.toml"));
    } catch (problem) {
      if (problem.status !== 409) return put(box, button, put(note, problem.message));
      const keep = h("button", { class: "plain", onclick: () => put(box, button, note) }, "Do not save");
      put(box, h("span", { class: "note", role: "alert" }, `${problem.message}.${/incrowd\.toml/.test(problem.message) ? " Comments in incrowd.toml stay." : ""}`),
        h("button", { onclick: () => save(true) }, "Replace and save"), keep);
      keep.focus();
    }
  };
  const button = h("button", { onclick: () => save(false), disabled: state.project?.is_saved }, state.project?.is_saved ? "Saved" : "Save project");
  const box = h("div", { class: "row saver" }, button, note);
  return box;
}

// ── Opening ──

async function opener(isAlone) {
  if (!isAlone && panel.childElementCount > 0) return put(panel);
  const list = h("ul", { class: "files" });
  const note = h("div", {});
  const picker = h("input", { type: "file", id: "file", accept: ".csv,.tsv,.txt,.gz,.zst,.parquet,.xlsx,.xlsm,.xlsb,.xls,.ods,.sav,.zsav,.dta,.sas7bdat,.xpt", onchange: () => send(picker.files[0]) });
  const drop = h("label", {
    class: "drop", for: "file",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
    ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); send(event.dataTransfer.files[0]); },
  }, h("strong", {}, "Drop a table here: CSV, Excel, SPSS, Stata, SAS or Parquet"), h("span", {}, `or choose one, up to ${bytes(state.about.n_upload_max)}; it stays on this machine`), picker);
  put(panel, h("section", { class: "card opener" },
    h("div", {}, h("h2", {}, "Upload a table"), drop, note),
    h("div", {}, h("h2", {}, "Or open one of the served folder"), list)));
  if (isAlone && !state.project) put(root, h("h1", {}, "Open a table"), panel);

  async function send(file, replace = false, name = file?.name) {
    if (!file) return;
    try {
      const sent = (nDone, nAll) => put(note, progressBar({ progress: { what: `uploading ${name}`, n_done: nDone, n_all: nAll } }));
      sent(0, file.size);
      await upload(name, file, replace, sent);
      await open(name);
    } catch (problem) {
      put(note, problemBox(problem), problem.status === 409 ? h("button", { onclick: () => send(file, true, name) }, `Replace ${name}`) : null);
    }
  }
  async function open(path) {
    try {
      const { result } = await work("/open", { path }, (job) => put(note, progressBar(job)));
      put(panel);
      await openProject(result);
      if (isAlone) look();
    } catch (problem) {
      put(note, problemBox(problem));
    }
  }
  if (dropped) {
    send(dropped);
    dropped = null;
  }
  const { files } = await get("/files");
  put(list, files.length === 0 ? h("li", { class: "soft" }, "There is none in it yet.") : files.map((file) => h("li", {},
    h("button", { class: "plain", onclick: () => open(file.path) }, file.path), h("small", {}, file.kind === "project" ? "project" : bytes(file.n_bytes)))));
}
