// What the server is working on: how far it is, and a way to end it.

import { cancel, enough, get } from "./api.js";
import { progressBar } from "./charts.js";
import { h, problemBox, put } from "./dom.js";

const KINDS = { open: "opening a table", profile: "looking at columns", count: "counting", annotate: "annotating schemes", compare: "comparing methods", publish: "publishing", order: "an order" };
const STATES = { waiting: "waits for its turn", running: "under way", done: "done", failed: "failed", cancelled: "cancelled" };

/** A dialog with all jobs, as long as it is open. */
export function showJobs() {
  const list = h("ul", { class: "plainlist jobs" });
  const dialog = /** @type {HTMLDialogElement} */ (h("dialog", { class: "card", "aria-label": "Jobs" },
    h("div", { class: "title" }, h("h2", {}, "Jobs"), h("button", { onclick: () => dialog.close() }, "Close")), list));
  document.body.append(dialog);
  const timer = setInterval(draw, 1000);
  dialog.addEventListener("close", () => { clearInterval(timer); dialog.remove(); });
  dialog.showModal();
  draw();

  async function draw() {
    try {
      const { jobs } = await get("/jobs");
      if (!dialog.open || dialog.contains(document.activeElement) && document.activeElement.closest("li")) return;
      put(list, jobs.length === 0 ? h("li", {}, "Nothing is under way.") : jobs.slice(0, 30).map((job) => h("li", {},
        h("div", { class: "row" }, h("b", {}, KINDS[job.kind] ?? job.kind), h("span", { class: "soft" }, `${STATES[job.state]}; begun ${job.n_seconds < 90 ? `${job.n_seconds} s` : `${Math.round(job.n_seconds / 60)} min`} ago`)),
        ["waiting", "running"].includes(job.state) ? progressBar(job, (id) => cancel(id).then(draw), (id) => enough(id).then(draw)) : null,
        job.problem ? h("span", { class: "note" }, job.problem.detail) : null)));
    } catch (problem) {
      put(list, problemBox(problem));
    }
  }
}
