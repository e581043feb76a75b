// Somebody's release: whether it keeps what its certificate promises, or what one would ask of it; and what an attacker finds.

import { cancel, upload, work } from "./api.js";
import { progressBar } from "./charts.js";
import { h, problemBox, put, say, visible } from "./dom.js";
import { state } from "./store.js";
import { counted, percent, valued } from "./words.js";

/**
 * A card onto which a release is dropped, with its certificate or without; nothing where no file may be brought.
 * `look(file, certificate)` checks one that is there.
 */
export function verifyCard() {
  if (!state.about.allows_preview) return null;
  const result = h("div", { "aria-live": "polite" });
  const known = Object.entries(state.project?.document?.attributes ?? {}).filter(([, about]) => about.role === "quasi-identifier").map(([name]) => name);
  const field = (label, value, kind = null) => { const input = h("input", { type: "text", value, title: value || null, autocomplete: "off", spellcheck: "false" }); return [h("label", { class: kind }, label, input), input]; };
  const [kLabel, k] = field("k", String(state.wish.k ?? 5), "few");
  const [namesLabel, names] = field("quasi-identifiers, with commas", known.join(", "));
  const [secretLabel, secret] = field("sensitive (optional)", "");
  const picker = h("input", { type: "file", id: "release", multiple: true, onchange: () => bring([...picker.files]) });
  const drop = h("label", {
    class: "drop", for: "release",
    ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); }, ondragleave: () => drop.classList.remove("over"),
    ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); bring([...event.dataTransfer.files]); },
  }, h("strong", {}, "Drop a release here, with its certificate if there is one"), h("span", {}, "it is kept in the served folder, under its name"), picker);

  async function bring(files, replace = false) {
    const release = files.find((file) => !file.name.endsWith(".json"));
    const certificate = files.find((file) => file.name.endsWith(".json"));
    if (!release) return put(result, problemBox(new Error("there is no release among these files")));
    try {
      const sent = (file) => (nDone, nAll) => put(result, progressBar({ progress: { what: `uploading ${file.name}`, n_done: nDone, n_all: nAll } }));
      await upload(release.name, release, replace, sent(release));
      if (certificate) await upload(certificate.name, certificate, replace, sent(certificate));
      await judge(release.name, certificate?.name ?? null);
    } catch (problem) {
      put(result, problemBox(problem), problem.status === 409 ? h("div", { class: "row" },
        h("button", { onclick: () => bring(files, true) }, "Replace it"),
        h("button", { onclick: () => judge(release.name, certificate?.name ?? null) }, "Check the one that is there")) : null);
    }
  }

  async function judge(file, certificate) {
    const list = (input) => input.value.split(",").map((name) => name.trim()).filter(Boolean);
    const byHand = { quasi_identifiers: list(names), ...(list(secret).length ? { sensitive: list(secret) } : {}), k: Number(k.value) || 2 };
    try {
      const onProgress = (job) => put(result, progressBar(job, (id) => cancel(id)));
      const { result: { result: verdict } } = await work("/orders/verify", { project: state.project.id, order: { file, ...(certificate ? { certificate } : byHand) } }, onProgress);
      show(verdict, file, certificate);
      const box = h("div", {});
      result.append(box);
      const { result: { result: attack } } = await work("/orders/attack", { project: state.project.id, order: { files: [file], ...(certificate ? {} : { quasi_identifiers: byHand.quasi_identifiers, sensitive: byHand.sensitive ?? null }) } }, (job) => put(box, progressBar(job))).catch((problem) => { put(box, h("p", { class: "note" }, `What an attacker finds was not looked for: ${problem.message}.`)); return { result: { result: null } }; });
      if (attack) put(box, attacked(attack));
      const risks = h("div", {});
      result.append(risks);
      // Of a release by hand one says what others may know; a certificate says it itself.
      await work("/orders/risk", { project: state.project.id, order: { target: file, ...(certificate ? {} : { quasi_identifiers: byHand.quasi_identifiers }) } }, (job) => put(risks, progressBar(job)))
        .then(({ result: { result: risk } }) => put(risks, found(risk)), (problem) => put(risks, h("p", { class: "note" }, `How easily someone is found was not looked at: ${problem.message}.`)));
    } catch (problem) {
      put(result, problemBox(problem));
    }
  }

  function show(verdict, file, certificate) {
    const kind = verdict.answer;
    const [look, mark, title] = { kept: ["good", "✓", "Kept"], broken: ["bad", "✗", "Broken"] }[kind] ?? ["unknown", "?", "Not judged"];
    const criteria = Object.entries(verdict.criteria ?? {});
    say(title);
    put(result, h("section", { class: `card verdict ${look}`, "aria-label": "Verdict" },
      h("div", { class: "verdict-head" }, h("span", { class: "mark", "aria-hidden": true }, mark), h("div", {},
        h("h2", {}, `${title}: ${visible(file)}`),
        h("p", { class: "words" }, certificate ? "Judged by its certificate. " : "Judged by what was asked by hand. ",
          verdict.n_records !== undefined && verdict.n_records !== null ? `${counted(verdict.n_records, "record")} in ${counted(verdict.n_groups ?? 0, "group")}. ` : "",
          criteria.map(([key, found]) => `${key} = ${found.judged ? valued(found.reached) : `not judged: it needs ${found.needs}`} (asked ${valued(found.asked)})`).join(", ")))),
      verdict.why_not_judged ? h("p", {}, `Why: ${verdict.why_not_judged}.`) : null,
      verdict.claims?.length ? h("details", { open: kind !== "kept" }, h("summary", {}, `${verdict.claims.filter((claim) => claim.holds).length} of ${verdict.claims.length} claims agree with the file`),
        h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Claims" }, h("table", { class: "claims" }, h("thead", {}, h("tr", {}, ["claim", "claimed", "found", ""].map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, verdict.claims.map((claim) => h("tr", {}, h("th", { scope: "row" }, claim.claim), h("td", {}, visible(claim.claimed)), h("td", {}, visible(claim.found)), h("td", {}, claim.holds ? "✓" : claim.holds === false ? "✗" : "?"))))))) : null));
  }

  const root = h("section", { class: "card verify", "aria-label": "Check a release" }, h("h2", {}, "Check a release"),
    h("p", { class: "note" }, "Kept, broken or not judged: from the file and its certificate alone. Without a certificate, say what is asked of it."),
    h("div", { class: "rule" }, kLabel, namesLabel, secretLabel), drop, result);
  /** Checks a file that is in the served folder. */
  const look = async (file, certificate) => {
    await judge(file, certificate);
    result.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth", block: "start" });
  };
  return { root, look };
}

/** How easily someone is found in a release, as bars. */
function found(risk) {
  const bar = (name, share) => h("li", {}, h("span", { class: "name" }, name), h("span", { class: "meter" }, h("i", { style: { width: `${Math.min(100, 100 * share)}%` } })), h("span", { class: "n" }, percent(share)));
  return h("section", { class: "card risk" }, h("h2", {}, "How easily is someone found?"), h("ul", { class: "bars said" },
    bar("prosecutor, at most", risk.prosecutor.highest), bar("prosecutor, on average", risk.prosecutor.average), bar("journalist, at most", risk.journalist.highest)));
}

/** What an attacker finds, as bars: a card, or a part of one. */
export function attacked(found, isPart = false) {
  const releases = found.releases ?? [];
  const bar = (name, share, text) => h("li", {}, h("span", { class: "name" }, name), h("span", { class: "meter" }, h("i", { style: { width: `${Math.min(100, 100 * share)}%` } })), h("span", { class: "n" }, text));
  const rows = releases.flatMap((release) => (release.sensitive ?? []).flatMap((one) => [
    one.homogeneity ? bar(`${visible(one.attribute)}: all alike in a group`, one.homogeneity.n_records / Math.max(1, release.n_records), counted(one.homogeneity.n_records, "record")) : null,
    one.skewness ? bar(`${visible(one.attribute)}: best guess is right`, one.skewness.best_guess, `${percent(one.skewness.best_guess)} (${percent(one.skewness.best_guess_before)} without the release)`) : null,
  ]));
  return h("section", { class: isPart ? null : "card risk" }, h(isPart ? "h3" : "h2", {}, "What an attacker finds"), rows.filter(Boolean).length ? h("ul", { class: "bars said" }, rows) : h("p", { class: "note" }, "Without a sensitive attribute there is nothing to guess."));
}
