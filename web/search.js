// One answer from among all schemes, where there are too many to annotate: the best so far, what is proved, and a way to stop.

import { cancel, enough, work } from "./api.js";
import { progressBar } from "./charts.js";
import { h, noteList, problemBox, put, say } from "./dom.js";
import { state } from "./store.js";
import { counted, levelsWish, percent } from "./words.js";

const TIMES = { "30s": "30 seconds", "1m": "1 minute", "5m": "5 minutes", "30m": "30 minutes" };

/**
 * A card that searches on demand for the wishes as they are.
 * @param {string} why @param {(offer: any) => any} show an answer as the screen shows it
 */
export function searchCard(why, show) {
  const body = h("div", { "aria-live": "polite" });
  const time = h("select", { "aria-label": "How long to search" }, Object.entries(TIMES).map(([value, name]) => h("option", { value }, `at most ${name}`)));
  time.value = "1m";
  const button = h("button", { onclick: search }, "Search among all schemes");
  async function search() {
    button.disabled = true;
    const request = Object.keys(state.wish).length > 0 ? levelsWish(state.wish) : {};
    try {
      const { result } = await work("/orders/negotiate", { project: state.project.id, order: { ...request, on_demand: true, time: time.value } },
        (job) => put(body, progressBar(job, (id) => cancel(id), (id) => enough(id))));
      const found = result.result;
      const offers = found.exact ? [["All wishes are met", found.exact]] : Object.entries({ "Lose more records": found.offers?.suppression, "Generalize otherwise": found.offers?.height, "Settle for less": found.offers?.privacy }).filter(([, offer]) => offer);
      put(body, offers.map(([title, offer]) => h("div", { class: "pin found" }, h("h3", {}, title), show(offer))), proved(found), noteList(result.notes));
      say("The search has ended.");
    } catch (problem) {
      put(body, problemBox(problem));
    }
    button.disabled = false;
  }
  return h("section", { class: "card search" }, h("h2", {}, "Search among all schemes"), h("p", { class: "note" }, why), h("div", { class: "row" }, button, time), body);
}

/** What is proved of the answer, and of how many schemes it was made. */
function proved({ on_demand: search }) {
  if (!search) return null;
  const first = Object.values(search.proofs)[0];
  const bound = search.is_proved ? "Proved: no scheme is better" : first?.loss_at_least > 0.0005 ? `Not all is proved: perhaps there is a better one, but none below ${percent(first.loss_at_least)}` : "Nothing is proved yet: a longer search may find a better one";
  return h("p", { class: "note" }, `${bound}; ${counted(search.n_evaluated, "scheme")} looked at.`);
}
