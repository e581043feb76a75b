// Some records of the table, before and after.

import { h } from "./dom.js";
import { state } from "./store.js";
import { counted, grouped } from "./words.js";

/** What becomes of some records. @param {{columns: string[], records: any[]}} sample */
export function beforeAndAfter(sample) {
  const shown = sample.columns.filter((name) => sample.records.some((record) => name in record.after || name in record.before));
  const role = (name) => state.project.document.attributes?.[name]?.role ?? "none";
  const cell = (record, name) => {
    const before = record.before[name] ?? "–";
    if (!(name in record.after)) return h("td", { class: "gone" }, h("s", {}, before));
    const after = record.after[name] ?? "–";
    if (!record.published) return h("td", {}, before);
    return before === after ? h("td", {}, before) : h("td", { class: "changed" }, h("s", {}, before), " ", h("b", {}, after));
  };
  const n = sample.records.filter((record) => !record.published).length;
  return [
    h("p", { class: "note" }, `${counted(sample.records.length, "record")} of the table`, n > 0 ? `; ${grouped(n)} of them would be lost.` : ", all of which would be published."),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Records before and after" },
      h("table", { class: "sample" },
        h("thead", {}, h("tr", {}, shown.map((name) => h("th", { scope: "col", class: role(name) }, name)), h("th", { scope: "col" }, "alike"))),
        h("tbody", {}, sample.records.map((record) => h("tr", { class: record.published ? null : "lost" },
          shown.map((name) => cell(record, name)), h("td", { class: "n" }, record.published ? grouped(record.n_alike ?? 0) : "lost"))))))];
}
