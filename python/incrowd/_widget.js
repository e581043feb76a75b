// Three parties negotiate in a notebook: privacy, records, detail. Python answers; this shows knobs and what it said.

function knob(label, { min, max, step, value, shown }, changed) {
  const row = document.createElement("label");
  row.className = "incrowd-knob";
  const name = document.createElement("span");
  name.textContent = label;
  const input = document.createElement("input");
  Object.assign(input, { type: "range", min, max, step, value });
  const said = document.createElement("output");
  said.textContent = shown(value);
  input.addEventListener("input", () => {
    said.textContent = shown(Number(input.value));
    changed(Number(input.value));
  });
  row.append(name, input, said);
  return { row, set: (to) => { input.value = to; said.textContent = shown(Number(to)); } };
}

function render({ model, el }) {
  el.classList.add("incrowd-widget");
  const knobs = document.createElement("div");
  knobs.className = "incrowd-knobs";
  const answer = document.createElement("div");
  answer.setAttribute("aria-live", "polite");
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };

  // Each k costs more than the one before, so that the knob turns by powers.
  const kMax = Math.max(2, model.get("k_max"));
  const toK = (turn) => Math.max(2, Math.round(2 * (kMax / 2) ** turn));
  const ofK = (k) => (kMax > 2 ? Math.log(k / 2) / Math.log(kMax / 2) : 0);
  const privacy = knob(
    "privacy",
    { min: 0, max: 1, step: 0.005, value: ofK(model.get("k")), shown: (turn) => `k = ${toK(turn)}` },
    (turn) => set("k", toK(turn)),
  );
  const records = knob(
    "records lost",
    { min: 0, max: 20, step: 0.1, value: model.get("max_suppressed") * 100, shown: (percent) => `at most ${percent} %` },
    (percent) => set("max_suppressed", percent / 100),
  );
  knobs.append(privacy.row, records.row);
  const levels = model.get("attributes").map(({ name, levels: names }) =>
    [name, knob(
      name,
      { min: 0, max: names.length - 1, step: 1, value: model.get("max_level")[name], shown: (level) => `up to ${names[level]}` },
      (level) => set("max_level", { ...model.get("max_level"), [name]: level }),
    )]);
  for (const [, { row }] of levels) knobs.append(row);

  // What Python says is escaped there.
  const show = () => { answer.innerHTML = model.get("answer_html"); };
  const turned = {
    k: () => privacy.set(ofK(model.get("k"))),
    max_suppressed: () => records.set(model.get("max_suppressed") * 100),
    max_level: () => levels.forEach(([name, { set: to }]) => to(model.get("max_level")[name])),
    answer_html: show,
  };
  for (const [name, act] of Object.entries(turned)) model.on(`change:${name}`, act);
  show();
  el.append(knobs, answer);
  return () => { for (const [name, act] of Object.entries(turned)) model.off(`change:${name}`, act); };
}

export default { render };
