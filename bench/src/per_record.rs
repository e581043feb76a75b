//! Every record generalized on its own: the time of the exact search, and how much each search looks at.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::record::Landscape;
use incrowd::recode::per_record::{Goal, Problem, Risk, Sensitivities, Strategy, UTILITY_ONE, Utility, Wish};
use incrowd::{Counter, GroupCounts, Hierarchy, Missing, Result, Rule};
use serde_json::{Value, json};

use crate::{Clock, Random, peak_mb};

/// The published searches get this many records, evenly taken: they need tens to thousands of times as long.
const N_BEST_FIRST: usize = 300;
const N_WALKED: usize = 30;

/// Best-first looks at most of the lattice, and the walk at 3^q neighbours of every frontier node: beyond this many
/// attributes they are left out.
const N_ATTRIBUTES_COMPARED: usize = 6;

/// Solves all distinct records for several shares of the greatest utility; random weights and Σ depth, as in the
/// paper.
pub fn measure(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    risk: Risk,
    shares: &[f64],
    n_records_max: usize,
) -> Result<Value> {
    let step = counts.n_groups().div_ceil(n_records_max.min(counts.n_groups()));
    let groups: Vec<usize> = (0..counts.n_groups()).step_by(step).collect();
    let problem = |risk| {
        let weights = Sensitivities::random(hierarchies, 1);
        Problem::new(counts, hierarchies, Utility::Depth, risk, weights, Match::Exact)
    };
    let mut rows = Vec::new();
    for &share in shares {
        let clock = Clock::start();
        let mut solved = problem(risk)?;
        let wish = Wish::Share(share);
        let (mut n_visited, mut risk_of_all) = (0, 0.0);
        for &group in &groups {
            let goal = wish.of(solved.utility_as_it_is(counts.codes(group)));
            let mut record = solved.record(counts.codes(group));
            let found = Strategy::Optimum.solve(&mut record, goal);
            n_visited += found.n_visited;
            risk_of_all += found.levels.map_or(0.0, |levels| record.risk(&levels));
        }
        let (cpu_s, _) = clock.stop();
        // The other two goals, asked for about the same: the mean risk, and a λ by which it weighs as much as utility.
        let risk_at_most = risk_of_all / groups.len() as f64;
        let lambda = risk_at_most.abs() / (solved.greatest_utility() as f64 / UTILITY_ONE as f64 * share);
        let mut others = Vec::new();
        for other in [Goal::MostUtility { risk_at_most }, Goal::Scalar { lambda }] {
            let clock = Clock::start();
            let mut solved = problem(risk)?;
            let mut n_visited = 0;
            for &group in &groups {
                n_visited += Strategy::Optimum.solve(&mut solved.record(counts.codes(group)), other).n_visited;
            }
            let (cpu_s, _) = clock.stop();
            let n = groups.len() as f64;
            others.push(json!({ "cpu_s": cpu_s, "us_per_record": cpu_s * 1e6 / n, "nodes": n_visited as f64 / n }));
        }
        let evenly = |n: usize| groups.iter().copied().step_by(groups.len().div_ceil(n));
        let is_compared = risk != Risk::Entropic && hierarchies.len() <= N_ATTRIBUTES_COMPARED;
        let (mut n_best_first, mut n_more) = (Mean::default(), 0);
        for group in evenly(N_BEST_FIRST).filter(|_| is_compared) {
            let goal = wish.of(solved.utility_as_it_is(counts.codes(group)));
            let mut record = solved.record(counts.codes(group));
            let theirs = Strategy::BestFirst.solve(&mut record, goal).n_visited;
            n_best_first.push(theirs);
            // Theirs takes any that has the least risk.
            let ours = Strategy::Optimum.solve(&mut record, goal);
            n_more += usize::from(ours.n_visited - ours.n_for_ties > theirs);
        }
        let (mut n_walk, mut n_without_frontier) = (Mean::default(), 0);
        for group in evenly(N_WALKED).filter(|_| is_compared) {
            let goal = wish.of(solved.utility_as_it_is(counts.codes(group)));
            let walked = Strategy::Walk.solve(&mut solved.record(counts.codes(group)), goal);
            n_walk.push(walked.n_visited);
            n_without_frontier += usize::from(walked.levels.is_none());
        }
        rows.push(json!({
            "risk": risk.name(),
            "share": share,
            "cpu_s": cpu_s,
            "us_per_record": cpu_s * 1e6 / groups.len() as f64,
            "nodes_optimum": n_visited as f64 / groups.len() as f64,
            "nodes_best_first": n_best_first.value(),
            "nodes_walk": n_walk.value(),
            "dual": others[0],
            "scalar": others[1],
            "n_records_best_first": n_best_first.n,
            "n_records_walked": n_walk.n,
            "n_records_with_more_nodes_than_best_first": n_more,
            "n_records_without_a_frontier": n_without_frontier,
        }));
    }
    Ok(json!({
        "n_attributes": hierarchies.len(),
        "n_distinct_records": counts.n_groups(),
        "n_solved": groups.len(),
        "n_schemes": hierarchies.iter().map(|hierarchy| hierarchy.n_levels() as f64).product::<f64>(),
        "peak_mb": peak_mb(),
        "rows": rows,
    }))
}

/// A mean that is built up.
#[derive(Default)]
struct Mean {
    sum: usize,
    n: usize,
}

impl Mean {
    fn push(&mut self, value: usize) {
        self.sum += value;
        self.n += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }
}

/// A table of sixteen values per attribute, five levels each, neighbours alike.
pub fn measure_generated(n_attributes: usize, n_records: usize, risk: Risk, n_solved: usize) -> Result<Value> {
    let mut random = Random(7);
    let mut columns = vec![Vec::with_capacity(n_records); n_attributes];
    for _ in 0..n_records {
        let mut value = random.below(16);
        for column in &mut columns {
            // As the attribute before, or anything.
            value = if random.below(2) == 0 { (value + random.below(3)) % 16 } else { random.below(16) };
            column.push(value as i32);
        }
    }
    let names: Vec<String> = (1..=n_attributes).map(|a| format!("a{a}")).collect();
    let arrays = columns.into_iter().map(|column| Arc::new(Int32Array::from(column)) as ArrayRef);
    let batch = RecordBatch::try_from_iter(names.iter().zip(arrays)).expect("columns of one length");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut counter = Counter::new(&names, &[], &Missing::default());
    counter.push(&batch)?;
    let counts = counter.finish();
    let rule = Rule::intervals(vec![2.0, 4.0, 8.0], 0.0)?;
    let hierarchies = counts.domains().iter().map(|domain| rule.resolve(domain)).collect::<Result<Vec<_>>>()?;
    measure(&counts, &hierarchies, risk, &[0.1, 0.3, 0.5, 0.7, 0.9], n_solved)
}
