// How easily someone is found in the table as it is: who looks, and on how few attributes records stand alone.

import { cancel, work } from "./api.js";
import { progressBar } from "./charts.js";
import { h, noteList, problemBox, put, say, term } from "./dom.js";
import { state } from "./store.js";
import { attacked } from "./verify.js";
import { counted, decimal, grouped, percent } from "./words.js";

/** What was found, by project: looking again takes as long as the first time. @type {Map<string, any>} */
const known = new Map();

/** A card that looks when it is asked to: the search for special uniques can take a while. */
export function riskCard() {
  const body = h("div", { "aria-live": "polite" });
  const { id } = state.project;
  const button = h("button", { onclick: look }, "Look for special uniques");
  async function look() {
    button.disabled = true;
    try {
      const { result } = await work("/orders/risk", { project: id, order: { special_uniques: true, show_values: true } },
        (job) => put(body, progressBar(job, (job) => cancel(job))));
      known.set(id, { ...result, attack: await attackOfSource(state.project) });
      show(body, known.get(id));
      say("Risk was measured.");
    } catch (problem) {
      put(body, problemBox(problem), button);
    }
    button.disabled = false;
  }
  if (known.has(id)) show(body, known.get(id));
  else put(body, h("p", { class: "note" }, "Who stands alone, how likely an attacker finds someone, and on how few attributes that is enough."), button);
  return h("section", { class: "card risk", "aria-label": "How easily is someone found?" }, h("h2", {}, "How easily is someone found?"), body);
}

/** What an attacker would find in the table as it is; nothing where nothing is sensitive, or where it is no file. */
async function attackOfSource({ id, document }) {
  const of = (role) => Object.entries(document.attributes ?? {}).filter(([, about]) => about.role === role).map(([name]) => name);
  const sensitive = of("sensitive");
  if (!document.data?.path || sensitive.length === 0) return null;
  const order = { files: [document.data.path], quasi_identifiers: of("quasi-identifier"), sensitive };
  return work("/orders/attack", { project: id, order }, () => {}).then(({ result: { result } }) => result, () => null);
}

function show(body, { result: risk, notes, attack }) {
  const who = risk.n_people ? "people" : "records";
  const n = risk.n_people ?? risk.n_records;
  const finds = (name, meaning, found) => h("tr", {}, h("th", { scope: "row" }, term(name, meaning)),
    h("td", { class: "n" }, decimal(found.highest)), h("td", { class: "n" }, decimal(found.average)), h("td", { class: "n" }, `${grouped(found.n_at_risk)} (${percent(found.n_at_risk / Math.max(1, n))})`));
  put(body,
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Who looks" }, h("table", { class: "risks" },
      h("thead", {}, h("tr", {}, ["who looks", "highest risk", "average", `${who} above ${risk.threshold}`].map((name, i) => h("th", { scope: "col", class: i > 0 ? "n" : null }, name)))),
      h("tbody", {},
        finds("prosecutor", "knows that someone is in the table: 1 over those who look the same there", risk.prosecutor),
        finds("journalist", "knows that someone is in the population: 1 over those who look the same there", risk.journalist)))),
    h("p", {}, h("b", {}, `${grouped(risk.n_unique)} of ${grouped(n)} ${who}`), ` stand alone (${percent(risk.n_unique / Math.max(1, n))})`,
      risk.n_alone_by_all_records === null ? "." : `; ${grouped(risk.n_alone_by_all_records)} do by all their records together.`),
    h("ul", { class: "bars said", "aria-hidden": true }, [["prosecutor, at most", risk.prosecutor.highest], ["prosecutor, on average", risk.prosecutor.average], ["journalist, at most", risk.journalist.highest], ["journalist, on average", risk.journalist.average]].map(([name, share]) =>
      h("li", {}, h("span", { class: "name" }, name), h("span", { class: "meter" }, h("i", { style: { width: `${Math.min(100, 100 * share)}%` } })), h("span", { class: "n" }, percent(share))))),
    uniques(risk.special_uniques, risk.attributes.length), attack ? attacked(attack, true) : null, noteList(notes));
}

/** So many values of an attribute are shown at once, those that contribute most. */
const N_VALUES_SHOWN = 10;

/** The minimal sets on which records stand alone, by size, and what each attribute and each of its values contributes to them. */
function uniques(found, nAttributes) {
  const nSets = found.n_sets_of_size.reduce((sum, n) => sum + n, 0);
  if (nSets === 0) return h("p", { class: "note" }, "No record stands alone, so there are no special uniques.");
  const rows = [...found.attributes].sort((a, b) => b.percent - a.percent);
  const bar = (name, share, text) => h("li", {}, h("span", { class: "name" }, name), h("span", { class: "meter" }, h("i", { style: { width: `${share}%` } })), h("span", { class: "n" }, text));
  return h("div", {},
    h("h3", {}, term("Special uniques", "SUDA2: the smallest sets of quasi-identifiers on which a record stands alone")),
    h("p", {}, h("b", {}, counted(found.n_special, "record")), ` ${found.n_special === 1 ? "stands" : "stand"} alone already on fewer than all ${grouped(nAttributes)} attributes.`),
    h("div", { class: "two even" },
      h("div", {}, h("h4", {}, "Smallest sets that find them"),
        h("ul", { class: "bars sets" }, found.n_sets_of_size.map((n, i) => bar(counted(i + 1, "attribute"), (100 * n) / Math.max(...found.n_sets_of_size), grouped(n))))),
      h("div", {}, h("h4", {}, term("What each attribute does", "the share of all scores that comes from sets with it; a set counts for each of its attributes")),
        h("ul", { class: "bars contributions" }, rows.map(({ attribute, percent: share }) => bar(attribute, Math.min(100, share), `${share.toFixed(1)} %`))),
        rows.filter(({ values }) => values?.length > 0).map((row) => ofValues(row, bar)))),
    h("p", { class: "note" }, `A match with one of them is right with probability ${decimal(found.dis)}, if ${percent(found.fraction)} of the population is in the table`, " (", term("DIS", "the data intrusion simulation of Skinner and Elliot 2002"), "); the highest score of a record is ", decimal(found.highest_score), ". ",
      "Every record's own: ", h("code", {}, "incrowd risk --special-uniques --per-record -o risk.csv"), "."));
}

/** What the values of an attribute contribute, of what the attribute does: the most first, all of them when asked. */
function ofValues({ attribute, values }, bar) {
  const line = ({ value, percent: share }) => bar(value === "" ? "(empty)" : value, share, `${share.toFixed(1)} %`);
  const list = h("ul", { class: "bars values" }, values.slice(0, N_VALUES_SHOWN).map(line));
  const nMore = values.length - N_VALUES_SHOWN;
  const more = nMore > 0 ? h("button", { class: "link", onclick: () => { put(list, ...values.map(line)); more.remove(); } }, `Show ${counted(nMore, "more value")}`) : null;
  return h("details", { class: "of-values" }, h("summary", {}, `What the ${counted(values.length, "value")} of ${attribute} ${values.length === 1 ? "does" : "do"}`), list, more);
}
