// The last screen: what will be promised, in words; the release; and the verdict on it.

import { ask, cancel, download, work } from "./api.js";
import { progressBar } from "./charts.js";
import { h, noteList, problemBox, put, say, term } from "./dom.js";
import { needLattice } from "./session.js";
import { verifyCard } from "./verify.js";
import { go, state } from "./store.js";
import { OF_SIZES, counted, criteriaOf, grouped, levelsWish, percent, rangesWish, valued } from "./words.js";

/** @type {HTMLElement} */ let root;
/** Where releases are checked. @type {ReturnType<typeof verifyCard>} */ let checker = null;

export function mount(element) {
  root = element;
  begin();
}

async function begin() {
  const isHere = () => state.screen === "publish";
  if (!state.project) return go("negotiate");
  try {
    await needLattice((job) => isHere() && put(root, h("div", { class: "card narrow" }, progressBar(job))));
    state.chosen ??= { choice: "exact", ...(state.wish.local ? { local: true } : {}) };
    const request = state.chosen.local ? rangesWish(state.wish) : levelsWish(state.wish);
    const question = { project: state.project.id, request, ...state.chosen };
    const review = await ask("/review", question);
    if (isHere()) show(review, question);
  } catch (problem) {
    if (!isHere()) return;
    put(root, h("div", { class: "card narrow" }, h("h1", {}, "Nothing is agreed yet"),
      h("p", {}, "The wishes cannot all be met. Take an offer, or wish for less."), problemBox(problem),
      h("button", { class: "primary", onclick: () => { state.chosen = null; go("negotiate"); } }, "Back to the table")), verifyCard()?.root);
  }
}

function show(review, question) {
  const result = h("div", { "aria-live": "polite" });
  const name = h("input", { type: "text", id: "output", value: "release.csv", spellcheck: "false", autocomplete: "off" });
  const button = h("button", { class: "primary" }, "Publish");
  // A table of a database may become a table beside it.
  const where = review.beside ? h("select", { id: "where", "aria-label": "What the release becomes" },
    h("option", { value: "output" }, "a file"), h("option", { value: "into" }, "a table of the database")) : null;
  const names = { output: "release.csv", into: review.beside === "query" ? "released" : `${review.beside}_released` };
  where?.addEventListener("change", () => { name.value = names[where.value]; });
  const run = async (event, replace = false) => {
    event?.preventDefault();
    button.disabled = true;
    try {
      const done = await work("/publish", { ...question, [where?.value ?? "output"]: name.value.trim(), replace },
        (job) => put(result, h("div", { class: "card" }, progressBar(job, (id) => cancel(id)))));
      verdict(result, done);
    } catch (problem) {
      put(result, h("div", { class: "card" }, problemBox(problem),
        problem.status === 409 ? h("button", { onclick: () => run(null, true) }, `Replace ${name.value.trim()}`) : null));
    }
    button.disabled = false;
  };
  const list = (names) => names.map((one, i) => [i > 0 ? ", " : "", h("b", {}, one)]);
  const coarser = review.coarser.map((one) => one.attribute);
  const kept = [...review.sensitive, ...review.unchanged].filter((name) => !coarser.includes(name));
  checker = verifyCard();
  put(root,
    h("div", { class: "title" }, h("div", {}, h("h1", {}, "Publish"), h("p", { class: "lead" }, "Read what will be promised, then publish."))),
    h("div", { class: "two even" },
      h("section", { class: "card promise" },
        h("h2", {}, "The promise"),
        state.chosen?.shared ? h("p", { class: "note" }, "Curator, analyst and officer have agreed to this at their desks; the report will say who moved what.") : null,
        h("p", {}, "Every published record is in a group with ", review.promises.map((one, i) => [i > 0 ? " and " : "", h("b", {}, one)]), "."),
        h("ul", { class: "plainlist" },
          h("li", {}, h("b", {}, counted(review.n_published, "record")), review.offer ? ` will be published in ${counted(review.offer.n_groups, "group")}.` : review.cut ? ` will be published in about ${counted(review.cut.n_groups, "group")}, each with ranges of its own.` : " will be published, none is lost."),
          review.method && !review.cut ? null : h("li", {}, h("b", {}, counted(review.n_suppressed, "record")), ` (${review.share_suppressed}) will be lost, because their groups do not keep the promise.`),
          review.n_dropped > 0 ? h("li", {}, `${counted(review.n_dropped, "record")} lack a value and were left out before.`) : null,
          review.removed.length ? h("li", {}, "Removed: ", list(review.removed), ".") : null,
          review.person.length ? h("li", {}, "It is about people, who are counted by ", list(review.person), ", however many records they have.") : null,
          review.coarser.map((one) => h("li", {}, "Published coarser: ", h("b", {}, one.attribute), `, ${one.in_words}.`)),
          kept.length ? h("li", {}, "Published as they are: ", list(kept), review.keeps_unnamed ? ", and every column without a role." : ".") : null),
        h("h3", {}, "It does not promise"),
        h("ul", { class: "plainlist soft" },
          criteriaOf(review.offer ?? state.wish).some((key) => !OF_SIZES.includes(key)) ? null : h("li", {}, "that a group does not share one sensitive value: ask for l as well;"),
          h("li", {}, "anything against someone who knows more than the quasi-identifiers;"),
          h("li", {}, "safety together with other releases of the same table."))),
      h("section", { class: "card" },
        h("h2", {}, "What is published of each attribute"),
        review.method ? h("p", {}, "Method ", h("b", {}, review.method.name), `: ${review.method.in_words}.`) : null,
        h("ul", { class: "scheme" }, review.attributes.map((one) => {
          if (review.method) return h("li", {}, h("span", { class: "name" }, one.attribute), h("span", {}), h("span", { class: "phrase" }, one.phrase));
          const levels = state.lattice.attributes.find((known) => known.attribute === one.attribute).levels.length;
          return h("li", {}, h("span", { class: "name" }, one.attribute),
            h("span", { class: "meter", "aria-hidden": true }, h("i", { style: { width: `${levels > 1 ? (100 * one.level) / (levels - 1) : 0}%` } })),
            h("span", { class: "phrase" }, one.phrase, one.n_values > 1 ? h("small", {}, ` ${counted(one.n_values, "value")}`) : null));
        })),
        h("p", { class: "note" }, review.offer || review.cut ? [term("Detail lost", "NCP, the normalized certainty penalty"), ` ${review.cut ? "at most " : ""}${percent(review.offer ? review.offer.loss.ncp : review.cut.loss)}; records`] : "Records", ` are sorted by what is published, so that their order says nothing.`),
        h("form", { class: "row publish-form", onsubmit: run },
          h("label", { for: "output" }, "Write to", where, name), button,
          h("button", { type: "button", class: "plain", onclick: () => { state.chosen = null; go("negotiate"); } }, "Back to negotiating")))),
    noteList(review.notes),
    result, checker?.root);
}

function verdict(result, { id, result: done }) {
  const { verdict, certificate, files, table } = done;
  if (!done.published) {
    return put(result, h("div", { class: "card verdict bad" }, h("h2", {}, "The release does not keep its promise; nothing was written")));
  }
  // A file does not show people: whose record is whose was known while it was written, and is to the project.
  const ofPeople = (certificate.person ?? []).length > 0;
  const save = (which, path) => h("button", { onclick: () => download(`/jobs/${id}/files/${which}`, path.split("/").pop()) }, `Download ${which}`);
  say("Published and verified.");
  put(result, h("section", { class: "card verdict good" },
    h("div", { class: "verdict-head" }, h("span", { class: "mark", "aria-hidden": true }, "✓"),
      h("div", {}, h("h2", {}, ofPeople ? "Published, and verified by whose record is whose" : table ? "Published, and verified as the table lies there" : "Published, and verified from the file alone"),
        h("p", { class: "words" }, `${counted(verdict.n_records, "record")} in ${counted(verdict.n_groups, "group")}; `,
          done.people ? `${grouped(done.people.n_lost)} of ${grouped(done.people.n)} people lost, ${grouped(done.people.n_alone_by_all_records)} alone by all their records together; ` : null,
          Object.entries(verdict.criteria).map(([key, found]) => `${key} = ${valued(found.reached)} (promised ${valued(found.asked)})`).join(", "), "."))),
    h("div", { class: "row" }, table ? null : save("release", files.release), save("certificate", files.certificate),
      // It has the key, and what is measured with the data.
      state.about.allows_preview ? save("report", files.report) : h("span", { class: "note" }, "The report is for the signer: it stays on the server."),
      checker && !table ? h("button", { onclick: () => checker.look(files.release, files.certificate) }, "See its risk, and what an attacker finds") : null),
    h("details", {}, h("summary", {}, `${verdict.claims.filter((claim) => claim.holds).length} of ${verdict.claims.length} claims of the certificate agree with the file`),
      h("table", { class: "claims" },
        h("thead", {}, h("tr", {}, ["claim", "claimed", "found"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, verdict.claims.map((claim) => h("tr", {}, h("th", { scope: "row" }, claim.claim), h("td", {}, claim.claimed), h("td", {}, claim.found)))))),
    h("p", { class: "note" }, "SHA-256 of the release: ", h("code", { class: "hash" }, certificate.output.sha256)),
    h("p", { class: "note" }, ofPeople ? "The file does not show people. Whoever has the table can repeat the check: " : "Anyone can repeat the check: ",
      h("code", {}, table ? `incrowd verify --table ${table} --project PROJECT` : `incrowd verify ${files.release}${ofPeople ? " --project PROJECT" : ""}`)),
    noteList(done.notes)));
  result.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" });
}
