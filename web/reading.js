// How the table is read, and what is published of columns that are not generalized: settings that most tables can do without.

import { h } from "./dom.js";
import { state } from "./store.js";

/**
 * Settings of the data section: name, label, kind of file, and choices with their words; the first is what holds where
 * nothing is said, and is not written. Without choices, a text.
 */
const SETTINGS = [
  ["missing", "Texts that mean “no value”", null, null, "for example ?, NA, unknown"],
  ["missing_records", "Records that lack a value", null, [["keep", "are kept"], ["drop", "are left out"]]],
  ["unreadable", "Cells that are no numbers or dates where such are needed", null, [["error", "stop with an error"], ["missing", "count as no value"]]],
  ["unknown", "Values that a hierarchy does not know", null, [["error", "stop with an error"], ["other", "count together as “other”"], ["missing", "count as no value"]]],
  ["encoding", "Encoding", "text", null, "found out where it is empty"],
  ["delimiter", "Separator", "text", [["", "found out"], [",", "comma"], [";", "semicolon"], ["tab", "tab"], ["|", "bar"]]],
  ["decimal", "Decimal sign", "text", [[".", "point: 1.5"], [",", "comma: 1,5"]]],
  ["thousands", "Thousands are separated by", "text", [["", "nothing"], [".", "points: 1.000"], [",", "commas: 1,000"], [" ", "blanks: 1 000"], ["'", "1'000"]]],
  ["sheet", "Sheet", "workbook", null, "the first that is not empty"],
  ["labels", "Codes with labels are read as", "labelled", [["labels", "their labels"], ["codes", "codes"]]],
];

const KINDS = { workbook: /\.(xlsx|xlsm|xlsb|xls|ods)$/i, labelled: /\.(sav|zsav|dta)$/i, none: /\.(parquet|sas7bdat|xpt)$/i };

function kindOf(path) {
  const kind = Object.entries(KINDS).find(([, ending]) => ending.test(path ?? ""));
  return kind ? kind[0] : "text";
}

// Whoever changes one of them may want to change another.
let isOpen = false;

/** @param {(change: (document: any) => void, said: string) => void} edit opens the project as it is after a change */
export function readingCard(edit, isNeeded = false) {
  const data = state.project?.document?.data;
  if (!data || !state.about.allows_preview) return null;
  const kind = kindOf(data.path);
  const fields = SETTINGS.filter(([, , only]) => only === null || only === kind).map((setting) => field(setting, data, edit));
  const said = SETTINGS.filter(([name, , , choices]) => ![choices?.[0][0] ?? "", undefined].includes(Array.isArray(data[name]) ? data[name].join() : data[name])).length;
  const card = h("details", { class: "card reading", open: isOpen || isNeeded, ontoggle: () => { isOpen = card.open; } },
    h("summary", {}, `How the table is read${said > 0 ? ` (${said} set)` : ""}`),
    h("div", { class: "settings" }, fields), coarser(edit));
  return card;
}

function field([name, label, , choices, hint], data, edit) {
  const now = Array.isArray(data[name]) ? data[name].join(", ") : data[name] ?? choices?.[0][0] ?? "";
  const set = (value) => edit((document) => {
    if (value === "" || value === choices?.[0][0]) delete document.data[name];
    else document.data[name] = name === "missing" ? value.split(",").map((text) => text.trim()) : value;
  }, `${label}: ${value || "not said"}`);
  if (!choices) {
    const input = h("input", { type: "text", value: now, placeholder: hint, autocomplete: "off", onchange: () => set(input.value.trim()) });
    return h("label", {}, label, input);
  }
  const select = h("select", { onchange: () => set(select.value) }, choices.map(([value, word]) => h("option", { value, selected: value === now }, word)));
  select.value = now;
  return h("label", {}, label, select);
}

const COARSER = { "": ["as they are", ""], round: ["rounded to multiples of", "100"], top: ["with one label for the highest, above a share of", "0.99"], level: ["by a level of the hierarchy", "1"] };

/** What is published of sensitive and other attributes. */
function coarser(edit) {
  const attributes = Object.entries(state.project.document.attributes ?? {}).filter(([, about]) => about.role === "sensitive" || about.role === "other");
  if (attributes.length === 0) return null;
  const row = ([name, about]) => {
    const [now, value] = Object.entries(about.publish_as ?? {})[0] ?? ["", ""];
    const set = (kind, text) => edit((document) => {
      if (kind === "") delete document.attributes[name].publish_as;
      else document.attributes[name].publish_as = { [kind]: text !== "" && Number.isFinite(Number(text)) ? Number(text) : text };
    }, `${name} is published ${COARSER[kind][0]} ${text}`);
    const how = h("select", { "aria-label": `How ${name} is published`, onchange: () => set(how.value, COARSER[how.value][1]) },
      Object.entries(COARSER).map(([kind, [word]]) => h("option", { value: kind, selected: kind === now }, word)));
    how.value = now;
    const much = now === "" ? null : h("input", { type: "text", class: "value", value: String(value), "aria-label": `${COARSER[now][0]}, for ${name}`, onchange: () => set(now, much.value.trim()) });
    return h("div", { class: "row" }, h("span", { class: "name" }, name), how, much);
  };
  return h("div", { class: "coarser" }, h("h2", {}, "How sensitive and other columns are published"), attributes.map(row));
}
