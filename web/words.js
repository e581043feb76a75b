// Numbers and words as people read them.

const whole = new Intl.NumberFormat("en");

/** 1234567 as 1,234,567. */
export const grouped = (n) => whole.format(n);

/** "1 record", "12,000 records". */
export const counted = (n, thing) => `${grouped(n)} ${thing}${n === 1 ? "" : "s"}`;

/** A share as a percentage; never rounds something to nothing. */
export function percent(share) {
  // A server without preview does not tell what is measured with the data.
  if (share === null || share === undefined) return "not told";
  const p = share * 100;
  if (share > 0 && p < 0.01) return "under 0.01 %";
  if (share > 0 && p < 1) return `${p.toFixed(2)} %`;
  return `${p.toFixed(1).replace(/\.0$/, "")} %`;
}

/** A loss or a distance, with as many digits as are worth reading. */
export const decimal = (value) => (value === null || value === undefined ? "–" : String(Math.round(value * 1000) / 1000));

/** 12,345,678 bytes as 12 MB. */
export function bytes(n) {
  const units = ["bytes", "kB", "MB", "GB"];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) { n /= 1000; i++; }
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

/**
 * The criteria that can be asked for: how a knob is called, the technical term, and where it goes.
 * @type {Record<string, {word: string, term: string, start: number, min: number, max: number, step: number, steps?: number[], atLeast: boolean}>}
 */
export const CRITERIA = {
  k: { word: "records alike, at least", term: "k-anonymity: every published record looks like at least k − 1 others on what others may know", start: 5, min: 2, max: 1e9, step: 1, steps: [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000], atLeast: true },
  l: { word: "different sensitive values, at least", term: "distinct l-diversity: the records that look alike hold at least l different sensitive values", start: 2, min: 2, max: 1e9, step: 1, steps: [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 30, 50], atLeast: true },
  t: { word: "distance from the whole table, at most", term: "t-closeness: the sensitive values of every group are distributed as in the table, up to t", start: 0.3, min: 0, max: 1, step: 0.01, steps: range(0.02, 1, 0.02), atLeast: false },
  entropy_l: { word: "evenly frequent sensitive values, at least", term: "entropy l-diversity: as uncertain as l equally frequent values", start: 2, min: 1, max: 1e6, step: 0.1, steps: [1.1, 1.2, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10, 15, 20], atLeast: true },
  alpha: { word: "share of one sensitive value, at most", term: "(α,k)-anonymity: no sensitive value in more than the share α of a group", start: 0.5, min: 0, max: 1, step: 0.01, steps: range(0.05, 1, 0.05), atLeast: false },
  beta: { word: "times more likely than in the table, at most", term: "β-likeness: no sensitive value gains more than β times its share in the table", start: 2, min: 0, max: 1000, step: 0.1, steps: [0.2, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 50], atLeast: false },
  enhanced_beta: { word: "times more likely than in the table, at most, rare or not", term: "enhanced β-likeness: gains are bounded by β and by how rare the value is in the table", start: 2, min: 0, max: 1000, step: 0.1, steps: [0.2, 0.5, 1, 1.5, 2, 3, 5, 10, 20, 50], atLeast: false },
  recursive: { word: "times the rarer values, below", term: "recursive (c,l)-diversity: the most frequent sensitive value comes less than c times as often as the l-th most frequent and all rarer ones together", start: { c: 3, l: 2 }, min: 0, max: 1e6, step: 0.1, steps: [0.5, 1, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50], atLeast: false },
  k_map: { word: "people alike in the population, at least", term: "k-map: every published record looks like at least k people of the population file", start: 5, min: 2, max: 1e9, step: 1, steps: [2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300, 500, 1000], atLeast: true },
  delta: { word: "log-factor of change, below", term: "δ-disclosure privacy: no sensitive value becomes e^δ times as likely or unlikely", start: 2, min: 0, max: 100, step: 0.1, steps: [0.5, 1, 1.5, 2, 2.5, 3, 4, 5], atLeast: false },
};

function range(from, to, step) {
  const all = [];
  for (let value = from; value <= to + 1e-9; value += step) all.push(Math.round(value * 1000) / 1000);
  return all;
}

/** The sensitive attribute and the name of a criterion: "income:t" as ["income", "t"]. */
export function criterionOf(key) {
  const at = key.lastIndexOf(":");
  return at < 0 ? [null, key] : [key.slice(0, at), key.slice(at + 1)];
}

/** The criteria that say nothing of sensitive values. */
export const OF_SIZES = ["k", "k_map"];

/** A criterion's value as people read it. */
export const valued = (value) => (typeof value === "object" && value ? `${valued(value.c)} (l = ${valued(value.l)})` : typeof value === "number" ? grouped(value) : String(value));

/** Which keys of a wish are criteria. */
export const criteriaOf = (wish) => Object.keys(wish).filter((key) => criterionOf(key)[1] in CRITERIA);

/** A wish for one level for all: what is about ranges is left out. */
export function levelsWish({ local: _, max_loss: __, ...wish }) {
  return wish;
}

/** A wish for ranges of their own for every group: what is about levels is left out, and limits that limit nothing. */
export function rangesWish({ local: _, max_level: __, best_by: ___, max_loss = {}, ...wish }) {
  const limits = Object.entries(max_loss).filter(([, share]) => share < 1);
  return limits.length > 0 ? { ...wish, max_loss: Object.fromEntries(limits) } : wish;
}

export const ROLES = {
  "identifier": ["names the person", "identifier: never published"],
  "person": ["whose record it is", "person: people are counted by it, and it is never published"],
  "quasi-identifier": ["may be known", "quasi-identifier: published coarser, if need be"],
  "sensitive": ["must stay private", "sensitive attribute: published as it is, but only within a crowd"],
  "other": ["harmless", "other: published as it is"],
};

/** What "best" may mean. */
export const QUALITIES = {
  "height": "fewest steps of generalization",
  "ncp": "least uncertainty per value",
  "precision": "lowest in the hierarchies",
  "entropy": "fewest bits lost",
  "group-size": "smallest groups",
  "discernibility": "fewest records alike",
};

export const QUALITY_TERMS = {
  "height": "height: the sum of levels (Samarati 2001)",
  "ncp": "NCP: normalized certainty penalty (Xu et al. 2006)",
  "precision": "Prec (Sweeney 2002)",
  "entropy": "non-uniform entropy (Gionis, Tassa 2009)",
  "group-size": "C_AVG: average group size",
  "discernibility": "C_DM: discernibility (Bayardo, Agrawal 2005)",
};
