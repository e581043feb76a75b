// The groups of a scheme: which are small, why they are lost, what they contain, and what would save them.

import { ask } from "./api.js";
import { h, later, problemBox, put, visible } from "./dom.js";
import { setWish, state } from "./store.js";
import { counted, grouped, levelsWish, percent } from "./words.js";

/** A card about the groups of a scheme; `of(levels)` looks at another one. */
export function groupsCard() {
  const body = h("div", { "aria-live": "polite" });
  const find = h("input", { type: "search", "aria-label": "Find groups by a label", placeholder: "find a label", autocomplete: "off" });
  const lost = h("input", { type: "checkbox", checked: true });
  const root = h("section", { class: "card groups", id: "groups" }, h("h2", {}, "Groups"),
    h("div", { class: "row tight" }, find, h("label", { class: "check" }, lost, "only those that would be lost")), body);
  /** @type {any} */ let levels = null;
  /** @type {number | null} */ let size = null;
  let asked = 0;

  async function look() {
    const mine = ++asked;
    const wish = state.wish;
    try {
      const seen = await ask("/groups", { project: state.project.id, request: levelsWish(wish), levels, find: find.value.trim(), only_lost: lost.checked, size });
      if (mine === asked) show(seen);
    } catch (problem) {
      if (mine === asked) put(body, problemBox(problem));
    }
  }
  find.addEventListener("input", later(200, look));
  lost.addEventListener("change", look);

  function show(seen) {
    const bars = seen.by_size.filter((one) => one.n_lost + one.n_kept > 0).slice(0, 24);
    const most = Math.max(1, ...bars.map((one) => one.n_lost + one.n_kept));
    const bar = (one) => h("button", {
      class: one.size === size ? "size on" : "size", "aria-pressed": String(one.size === size), title: `${counted(one.n_lost + one.n_kept, "group")} of ${grouped(one.size)}; ${grouped(one.n_lost)} lost`,
      "aria-label": `${counted(one.n_lost + one.n_kept, "group")} of size ${one.size}, ${grouped(one.n_lost)} lost`,
      onclick: () => { size = size === one.size ? null : one.size; if (one.n_lost === 0) lost.checked = false; look(); },
    }, h("i", { class: "kept", style: { height: `${(60 * one.n_kept) / most}px` } }), h("i", { class: "lost", style: { height: `${Math.max(one.n_lost > 0 ? 2 : 0, (60 * one.n_lost) / most)}px` } }), h("span", {}, grouped(one.size)));
    const words = seen.n_found === 0 ? `None of the ${counted(seen.n_groups, "group")} ${lost.checked ? "would be lost" : "is like this"}.`
      : `${grouped(seen.n_found)} of ${counted(seen.n_groups, "group")}${seen.n_found > seen.groups.length ? `; the ${grouped(seen.groups.length)} smallest are shown` : ""}.`;
    const why = (group) => (group.missed.length === 0 ? h("span", { class: "soft" }, "kept") : group.missed.map((key) => h("span", { class: "chip bad" }, key)));
    const contents = ({ values, n_others: nOthers }) => {
      const words = [...values.map(([value, n]) => `${value === "" ? "(no value)" : visible(value)}${n > 1 ? ` × ${grouped(n)}` : ""}`), ...(nOthers > 0 ? [`others × ${grouped(nOthers)}`] : [])].join(", ");
      return h("td", { class: "contents", title: words }, words);
    };
    const best = (group) => {
      const sizes = group.size_by_next.map((n, i) => ({ n, name: seen.attributes[i] })).filter((one) => one.n !== null && one.n > group.size).sort((a, b) => b.n - a.n);
      if (sizes.length === 0) return h("span", { class: "soft" }, "–");
      const { name, n } = sizes[0];
      return h("button", { class: "plain", title: "Wish for one level more", onclick: () => setWish({ ...state.wish, max_level: { ...state.wish.max_level, [name]: Math.min(topOf(name), ((levels ?? state.wish.max_level)[name] ?? 0) + 1) } }) }, `${name}: ${grouped(n)} alike`);
    };
    put(body,
      h("div", { class: "sizes", role: "group", "aria-label": "Groups by size" }, bars.map(bar)),
      seen.risk ? h("div", {}, h("p", {}, "Of what would be published, somebody who looks for a person is right with probability ", h("b", {}, percent(seen.risk.highest)), " at most, ", h("b", {}, percent(seen.risk.average)), " on average."),
        h("ul", { class: "bars said", "aria-hidden": true }, [["found, at most", seen.risk.highest], ["found, on average", seen.risk.average]].map(([name, share]) =>
          h("li", {}, h("span", { class: "name" }, name), h("span", { class: "meter" }, h("i", { style: { width: `${100 * share}%` } })), h("span", { class: "n" }, percent(share)))))) : null,
      h("p", { class: "note" }, "Groups by size; click one to see them. ", words),
      seen.groups.length === 0 ? null : h("div", { class: "scroll list", tabindex: 0, role: "region", "aria-label": "Groups of this scheme" }, h("table", {},
        h("thead", {}, h("tr", {}, seen.attributes.map((name) => h("th", { scope: "col", title: visible(name) }, visible(name))), h("th", { scope: "col", class: "n" }, "alike"), (seen.sensitive ?? []).map((name) => h("th", { scope: "col", title: visible(name) }, visible(name))), h("th", { scope: "col" }, "misses"), h("th", { scope: "col" }, "one level more"))),
        h("tbody", {}, seen.groups.map((group) => h("tr", { class: group.missed.length ? "lost" : null },
          group.labels.map((label) => h("td", {}, label === "" ? h("span", { class: "soft" }, "(no value)") : visible(label))), h("td", { class: "n" }, grouped(group.size)), (group.contains ?? []).map(contents), h("td", {}, why(group)), h("td", {}, best(group))))))));
  }
  const topOf = (name) => (state.lattice.attributes.find((one) => one.attribute === name)?.levels.length ?? 1) - 1;

  return {
    root,
    /** @param {any} next levels by attribute @param {number | null} nextSize */
    of(next, nextSize = null) { levels = next; size = nextSize; return look(); },
    /** Shows the groups that are lost, where somebody has clicked on that. */
    go(next, nextSize = null) { lost.checked = true; find.value = ""; levels = next; size = nextSize; look(); root.scrollIntoView({ block: "start", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" }); },
  };
}
