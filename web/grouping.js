// Grouping values by hand, thousands of them: what is at one level is put into the groups of the next.

import { ask } from "./api.js";
import { h, problemBox, put, say, visible } from "./dom.js";
import { state } from "./store.js";
import { counted, grouped } from "./words.js";

/** How high a line is, and how many are drawn around what is seen. */
const LINE = 30;
const SEEN = 14;
/** So many values a table shows at once. */
const N_ROWS = 300;

/** Trees of so few values stand in the project file; larger ones become a file of their own. */
const N_IN_PROJECT = 200;

/**
 * One line per value: its label at every level, from itself to below the top; and how often it is met.
 * @typedef {{labels: string[], n: number}} Line
 */

/**
 * @param {any} rule what the hierarchy is now: whatever it came from is where one starts
 * @param {(rule: any) => void} set
 * @param {string} name of the attribute
 */
export function grouping(rule, set, name) {
  const box = h("div", { class: "grouping" }, h("p", { class: "note" }, "Loading values …"));
  const asked = rule === undefined || rule?.tree === null ? { flat: true } : rule;
  ask("/hierarchy", { project: state.project.id, attribute: name, hierarchy: asked, rows: true }).then((seen) => {
    if (!seen.rows) return put(box, h("p", { class: "note" }, `There are ${grouped(seen.n_values)} values, too many to group by hand: import a file.`));
    editor(box, seen.rows.map((row) => ({ labels: row.labels, n: row.n_records })), set, name);
  }, (problem) => put(box, problemBox(problem)));
  return box;
}

function editor(box, /** @type {Line[]} */ lines, set, name) {
  // Level 1 is there from the start: every value is a group of its own.
  const withLevel = (all) => (all[0].labels.length > 1 ? all : all.map((line) => ({ ...line, labels: [...line.labels, line.labels[0]] })));
  lines = withLevel(lines);
  let level = 1;
  let sortBy = "value";
  let looksFor = "";
  /** How many values the table shows. */ let nRows = N_ROWS;
  /** The group whose items are shown, or all. @type {string | null} */ let within = null;
  const marked = new Set();
  let last = -1;
  /** What is found of the items, in order. */ let found = [];
  /** What can be taken back here. @type {Line[][]} */ const past = [];
  /** @type {any} a rule that was guessed */ let suggestion = null;

  // ── What is drawn ──

  const tabs = h("div", { class: "kinds", role: "radiogroup", "aria-label": "Level" });
  const finder = h("input", { type: "search", placeholder: "Find", "aria-label": "Find values", autocomplete: "off", oninput: () => { looksFor = finder.value.toLowerCase(); list.scrollTop = 0; nRows = N_ROWS; drawItems(); drawSheet(); } });
  const sorter = h("select", { "aria-label": "Order", onchange: () => { sortBy = sorter.value; drawItems(); drawSheet(); } },
    h("option", { value: "value" }, "by value"), h("option", { value: "frequency" }, "most frequent first"), h("option", { value: "group" }, "by group"));
  const list = h("div", { class: "marks", role: "listbox", "aria-multiselectable": "true", tabindex: 0, "aria-label": `Values of ${name}`, onscroll: () => paint(), onkeydown: keys });
  const lanes = h("ul", { class: "lanes", "aria-label": "Groups" });
  const label = h("input", { type: "text", id: "group-name", placeholder: "Name of the group", autocomplete: "off", list: "groups-known" });
  const known = h("datalist", { id: "groups-known" });
  const status = h("p", { class: "note", role: "status" });
  const sheet = h("div", { class: "sheet", hidden: true });
  const views = h("button", { type: "button", class: "plain", onclick: () => { sheet.hidden = !sheet.hidden; columns.hidden = !sheet.hidden; views.textContent = sheet.hidden ? "As a table" : "As groups"; byMark.hidden = naming.hidden = !sheet.hidden; drawSheet(); } }, "As a table");
  const byMark = h("button", { type: "button", class: "plain", onclick: markAll }, "Mark all found");
  const naming = h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); group(label.value); } },
    h("label", { for: "group-name", class: "unseen" }, "Name of the group"), label, h("button", {}, "Group them"),
    h("button", { type: "button", onclick: () => group(null), title: "every marked one is a group of its own" }, "Ungroup"));
  const starts = h("select", { "aria-label": "Start from", onchange: () => { const start = starts.value; starts.value = ""; if (start) begin(start); } },
    h("option", { value: "" }, "Start from …"), h("option", { value: "flat" }, "nothing: every value on its own"), h("option", { value: "prefix" }, "first characters"),
    h("option", { value: "order" }, "order: groups of equally many records"), h("option", { value: "frequency" }, "frequency: rare values together"));
  const back = h("button", { type: "button", class: "plain", onclick: undo, title: "Ctrl+Z" }, "Undo");
  const columns = h("div", { class: "group-columns" },
    h("div", {}, list),
    h("div", {}, lanes));
  put(box,
    h("p", { class: "note" }, "Mark what belongs together and give it a name: click, Shift and Ctrl, or arrows and space. Drag onto a group, or Ctrl+X here and Ctrl+V there. Groups can be grouped again, on the next level."),
    h("div", { class: "row tight" }, tabs, starts, views, back),
    h("div", { class: "row tight" }, finder, sorter, byMark),
    columns, sheet, known, naming, status);
  drawAll();
  // What names and values suggest, known lists of codes among it, where that is more than nothing.
  ask("/profile", { project: state.project.id }).then(({ columns }) => {
    const suggested = columns.find((column) => column.name === name)?.suggested_rule;
    if (!suggested) return;
    starts.append(h("option", { value: "suggested" }, "what names and values suggest"));
    suggestion = suggested;
  }, () => {});

  // ── Items and groups ──

  /** What is at the level below: label, records, values, and the group that it is in. */
  function items() {
    const all = new Map();
    for (const { labels, n } of lines) {
      const item = all.get(labels[level - 1]);
      if (item) { item.n += n; item.nValues++; } else all.set(labels[level - 1], { label: labels[level - 1], group: labels[level], n, nValues: 1 });
    }
    return [...all.values()];
  }

  function groups() {
    const all = new Map();
    for (const item of items()) {
      const known = all.get(item.group) ?? { label: item.group, n: 0, nItems: 0 };
      known.n += item.n;
      known.nItems++;
      known.isOwn = known.nItems === 1 && item.label === item.group;
      all.set(item.group, known);
    }
    return [...all.values()];
  }

  function drawItems() {
    const order = {
      value: () => 0,
      frequency: (a, b) => b.n - a.n,
      group: (a, b) => a.group.localeCompare(b.group),
    }[sortBy];
    found = items().filter((item) => (!looksFor || item.label.toLowerCase().includes(looksFor) || item.group.toLowerCase().includes(looksFor)) && (within === null || item.group === within)).sort(order);
    paint();
  }

  /** Only what can be seen is there: thousands of lines would make everything slow. */
  function paint() {
    const from = Math.max(0, Math.floor(list.scrollTop / LINE) - 4);
    const shown = found.slice(from, from + SEEN + 8);
    const spacer = (n) => h("div", { style: { height: `${n * LINE}px` }, role: "presentation" });
    put(list, spacer(from), shown.map((item, i) => h("div", {
      class: `item${marked.has(item.label) ? " on" : ""}${from + i === last ? " at" : ""}`, role: "option", "aria-selected": String(marked.has(item.label)),
      "aria-posinset": from + i + 1, "aria-setsize": found.length, draggable: "true",
      onclick: (event) => pick(from + i, event), ondragstart: (event) => { if (!marked.has(item.label)) { marked.add(item.label); } event.dataTransfer.setData("text/plain", "marked"); },
    },
    h("span", { class: "check" }, h("i", { class: "box" }), h("span", { class: "label", title: item.label }, visible(item.label) || "(no value)")),
    h("span", { class: "soft" }, item.group === item.label ? "" : visible(item.group)), h("span", { class: "n" }, grouped(item.n)))),
    spacer(Math.max(0, found.length - from - shown.length)), found.length === 0 ? h("p", { class: "note", role: "presentation" }, "Nothing is found.") : null);
    list.setAttribute("aria-label", `${counted(found.length, level === 1 ? "value" : "group")} of ${name}, ${marked.size} marked`);
  }

  function drawGroups() {
    const all = groups();
    const made = all.filter((one) => !one.isOwn).sort((a, b) => b.n - a.n);
    const own = all.length - made.length;
    put(known, made.slice(0, 500).map((one) => h("option", { value: one.label })));
    const lane = (one) => {
      const field = h("input", { type: "text", value: one.label, "aria-label": `Name of group ${one.label}`, spellcheck: "false", autocomplete: "off", onchange: () => rename(one.label, field.value) });
      const drop = (event) => { event.preventDefault(); if (marked.size) group(one.label); };
      return h("li", {
        class: within === one.label ? "on" : null, data: { group: one.label }, tabindex: 0, ondragover: (event) => event.preventDefault(), ondrop: drop,
        onkeydown: (event) => { if (event.target === event.currentTarget && (event.key === "Enter" || ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "v"))) drop(event); },
      }, field, h("span", { class: "n" }, `${counted(one.nItems, level === 1 ? "value" : "group")}, ${counted(one.n, "record")}`),
      h("button", { type: "button", class: "plain", title: "Put what is marked here", onclick: () => group(one.label) }, "Put here"),
      h("button", { type: "button", class: "plain", onclick: () => { within = within === one.label ? null : one.label; list.scrollTop = 0; drawItems(); drawGroups(); } }, within === one.label ? "Show all" : "Show"));
    };
    put(lanes, made.slice(0, 200).map(lane), made.length > 200 ? h("li", { class: "soft" }, `… ${grouped(made.length - 200)} more`) : null,
      h("li", { class: "soft" }, own > 0 ? `${grouped(own)} on their own` : "nothing is on its own"));
  }

  function drawTabs() {
    const n = lines[0].labels.length - 1;
    const tab = (at) => h("label", { class: at === level ? "on" : null }, h("input", { type: "radio", name: "level", checked: at === level, onchange: () => { level = at; clear(); drawAll(); } }), `Level ${at}`);
    put(tabs, Array.from({ length: n }, (_, i) => tab(i + 1)),
      h("button", { type: "button", class: "plain", onclick: addLevel }, "New level"),
      n > 1 ? h("button", { type: "button", class: "plain", onclick: removeLevel }, "Remove it") : null);
    back.disabled = past.length === 0;
  }

  function drawAll() {
    drawTabs();
    drawItems();
    drawGroups();
    drawSheet();
  }

  /** One row per value, one column per level; every cell can be typed into. */
  function drawSheet() {
    if (sheet.hidden) return;
    const focused = sheet.contains(document.activeElement) ? document.activeElement.dataset.cell : null;
    const n = lines[0].labels.length;
    const order = { value: () => 0, frequency: ([a], [b]) => b.n - a.n, group: ([a], [b]) => a.labels[level].localeCompare(b.labels[level]) }[sortBy];
    const all = lines.map((line, i) => [line, i]).filter(([line]) => !looksFor || line.labels.some((text) => text.toLowerCase().includes(looksFor))).sort(order);
    const shown = all.slice(0, nRows);
    put(sheet, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Every value with its labels" }, h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, name), Array.from({ length: n - 1 }, (_, i) => h("th", { scope: "col" }, `level ${i + 1}`)), h("th", { scope: "col", class: "n" }, "records"))),
      h("tbody", {}, shown.map(([line, i]) => h("tr", {}, h("th", { scope: "row", title: line.labels[0] }, visible(line.labels[0]) || "(no value)"),
        line.labels.slice(1).map((text, at) => h("td", {}, h("input", { type: "text", value: text, "aria-label": `Level ${at + 1} of ${line.labels[0]}`, spellcheck: "false", data: { cell: `${i}:${at}` },
          // What Tab leads to is reached first, and has the focus again afterwards.
          onchange: (event) => { const { value } = event.target; setTimeout(() => write(i, at + 1, value)); } }))),
        h("td", { class: "n" }, grouped(line.n))))))),
    all.length > shown.length ? h("div", { class: "row" }, h("p", { class: "note" }, `${grouped(shown.length)} of ${counted(all.length, "value")} are shown; find others above.`),
      h("button", { type: "button", class: "plain", onclick: () => { nRows += N_ROWS; drawSheet(); } }, `Show ${grouped(Math.min(N_ROWS, all.length - shown.length))} more`)) : null);
    if (focused) sheet.querySelector(`[data-cell="${focused}"]`)?.focus();
  }

  // ── Marking ──

  function pick(i, event) {
    const item = found[i];
    if (!item) return;
    if (event.shiftKey && last >= 0) for (const one of found.slice(Math.min(last, i), Math.max(last, i) + 1)) marked.add(one.label);
    else if (marked.has(item.label)) marked.delete(item.label);
    else marked.add(item.label);
    last = i;
    paint();
  }

  function keys(event) {
    const isCommand = event.ctrlKey || event.metaKey;
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: SEEN, PageUp: -SEEN, Home: -1e9, End: 1e9 }[event.key];
    if (move !== undefined) {
      const next = Math.min(found.length - 1, Math.max(0, last + move));
      if (event.shiftKey && found[next]) { marked.add(found[next].label); if (found[last]) marked.add(found[last].label); }
      last = next;
      if (last * LINE < list.scrollTop) list.scrollTop = last * LINE;
      if ((last + 1) * LINE > list.scrollTop + list.clientHeight) list.scrollTop = (last + 1) * LINE - list.clientHeight;
      paint();
    } else if (event.key === " ") pick(last < 0 ? 0 : last, event);
    else if (isCommand && event.key.toLowerCase() === "a") markAll();
    else if (isCommand && event.key.toLowerCase() === "x") say(`${marked.size} marked: go to a group and paste`);
    else if (isCommand && event.key.toLowerCase() === "z") undo();
    else if (event.key === "Escape") { clear(); paint(); } else if (event.key === "Enter") label.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function markAll() {
    for (const item of found) marked.add(item.label);
    paint();
  }

  function clear() {
    marked.clear();
    last = -1;
    within = null;
  }

  // ── Changing ──

  /** Puts what is marked into a group; into one of its own each where no name is given. */
  function group(to) {
    const text = to === null ? null : to.trim();
    if (marked.size === 0) return put(status, "Nothing is marked.");
    if (text === "") return label.focus();
    change((line) => (marked.has(line.labels[level - 1]) ? text ?? line.labels[level - 1] : line.labels[level]));
    say(text === null ? `${marked.size} ungrouped` : `${marked.size} put into ${text}`);
    clear();
    label.value = "";
    drawAll();
  }

  /** Another name; where a group has it already, the two become one. */
  function rename(from, to) {
    const text = to.trim();
    if (text === "" || text === from) return drawGroups();
    const isMerge = groups().some((one) => one.label === text);
    change((line) => (line.labels[level] === from ? text : line.labels[level]));
    if (within === from) within = text;
    put(status, isMerge ? `${from} and ${text} are one group now.` : "");
    drawAll();
  }

  function write(i, at, text) {
    const before = level;
    level = at;
    const item = lines[i].labels[at - 1];
    change((line) => (line.labels[at - 1] === item ? text.trim() || item : line.labels[at]));
    level = before;
    drawAll();
  }

  /**
   * Gives every line its label at this level. What is above follows: a group stands where it stood, or where most of its
   * records did, so that every level stays a part of the next.
   */
  function change(labelOf) {
    remember();
    const next = lines.map((line) => ({ ...line, labels: line.labels.map((text, i) => (i === level ? labelOf(line) : text)) }));
    for (let at = level + 1; at < next[0].labels.length; at++) {
      const votes = new Map();
      for (const { labels, n } of next) {
        const of = votes.get(labels[at - 1]) ?? new Map();
        // A group that was its own stays its own under its new name.
        const above = labels[at];
        of.set(above, (of.get(above) ?? 0) + n);
        votes.set(labels[at - 1], of);
      }
      const chosen = new Map([...votes].map(([label, of]) => [label, [...of].sort((a, b) => b[1] - a[1])[0][0]]));
      for (const line of next) line.labels[at] = chosen.get(line.labels[at - 1]);
    }
    lines = next;
    tellRule();
  }

  function remember() {
    put(status);
    past.push(lines);
    if (past.length > 100) past.shift();
  }

  function undo() {
    const before = past.pop();
    if (!before) return;
    put(status);
    lines = before;
    level = Math.min(level, lines[0].labels.length - 1);
    clear();
    drawAll();
    tellRule();
  }

  function addLevel() {
    remember();
    lines = lines.map((line) => ({ ...line, labels: [...line.labels.slice(0, level + 1), line.labels[level], ...line.labels.slice(level + 1)] }));
    level += 1;
    clear();
    drawAll();
  }

  function removeLevel() {
    remember();
    lines = lines.map((line) => ({ ...line, labels: line.labels.filter((_, i) => i !== level) }));
    level = Math.min(level, lines[0].labels.length - 1);
    clear();
    drawAll();
    tellRule();
  }

  async function begin(start) {
    if (start === "suggested") {
      try {
        const { rows } = await ask("/hierarchy", { project: state.project.id, attribute: name, hierarchy: suggestion, rows: true });
        remember();
        lines = withLevel(rows.map((row) => ({ labels: row.labels, n: row.n_records })));
      } catch (problem) {
        return put(status, problem.message);
      }
      level = 1;
      clear();
      drawAll();
      return tellRule();
    }
    remember();
    const all = lines.reduce((sum, line) => sum + line.n, 0);
    let sum = 0;
    let first = "";
    let part = -1;
    const labelOf = {
      flat: (line) => line.labels[0],
      prefix: (line) => `${[...line.labels[0]].slice(0, prefixLength()).join("")}…`,
      frequency: (line) => (line.n * 100 < all ? "rare" : line.labels[0]),
      order: (line) => {
        const here = Math.min(7, Math.floor((8 * sum) / Math.max(1, all)));
        if (here !== part) { part = here; first = line.labels[0]; }
        sum += line.n;
        return `from ${first}`;
      },
    }[start];
    lines = lines.map((line) => ({ ...line, labels: [line.labels[0], labelOf(line)] }));
    level = 1;
    clear();
    drawAll();
    tellRule();
  }

  /** As few characters as make at least four groups. */
  function prefixLength() {
    for (let n = 1; n < 12; n++) if (new Set(lines.map((line) => [...line.labels[0]].slice(0, n).join(""))).size >= Math.min(4, lines.length)) return n;
    return 1;
  }

  // ── The rule ──

  function tellRule() {
    // Levels that do nothing are left out, so that what is new and empty harms nothing.
    const n = lines[0].labels.length;
    const useful = Array.from({ length: n - 1 }, (_, i) => i + 1).filter((at) => lines.some((line) => line.labels[at] !== line.labels[at - 1]));
    if (useful.length === 0) return set({ tree: null });
    const paths = lines.map((line) => [line.labels[0], ...useful.map((at) => line.labels[at])]);
    set(lines.length <= N_IN_PROJECT && isTree(paths) ? { tree: toTree(paths) } : { text: toText(paths), name: `${name}.csv` });
  }
}

/** Whether a tree can say it: no value is empty, and none is called as a group that it is not in. */
function isTree(paths) {
  const groups = new Set(paths.flatMap((path) => path.slice(1).filter((label, i) => label !== path[i])));
  return paths.every((path) => path[0] !== "" && !groups.has(path[0]));
}

/** Paths from value to group as the project file writes them; a value that is in no group is one of its own. */
function toTree(paths) {
  const table = {};
  const tops = new Map();
  for (const path of paths) {
    const top = path[path.length - 1];
    tops.set(top, [...(tops.get(top) ?? []), path]);
  }
  for (const [top, below] of tops) {
    const depth = below[0].length;
    const isList = depth === 2 || below.every((path) => path.slice(1).every((label) => label === top));
    table[top] = isList ? below.map((path) => path[0]) : toTree(below.map((path) => path.slice(0, -1)));
  }
  return table;
}

/** A line per value, as ARX's files have it. */
function toText(paths) {
  const cell = (text) => (/[;"\n\r]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return paths.map((path) => [...path, "*"].map(cell).join(";")).join("\n") + "\n";
}
