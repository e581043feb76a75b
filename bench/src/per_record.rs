//! Every record generalized on its own: the time of the exact search, and how much each search looks at.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::{Goal, Problem, Risk, Search, Sensitivities, Utility};
use incrowd::{Counter, GroupCounts, Hierarchy, Missing, Result, Rule};
use serde_json::{Value, json};

use crate::{Clock, Random, peak_mb};

/// The published searches get this many records, evenly taken: they can need thousands of times as long.
const N_COMPARED: usize = 50;

/// Best-first looks at most of the lattice, and the walk at 3^q neighbours of every frontier node: beyond this many
/// attributes they are left out.
const N_ATTRIBUTES_COMPARED: usize = 6;

/// Solves all distinct records for several shares of the greatest utility; random weights, model I, Σ depth, as in the
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
        let goal = Goal::LeastRisk { utility_at_least: (solved.greatest_utility() as f64 * share).ceil() as i64 };
        let mut n_visited = 0;
        for &group in &groups {
            n_visited += Search::Optimum.solve(&mut solved.record(counts.codes(group)), goal).n_visited;
        }
        let (cpu_s, _) = clock.stop();
        let compared: Vec<usize> = groups.iter().copied().step_by(groups.len().div_ceil(N_COMPARED)).collect();
        let is_compared = risk != Risk::Entropic && hierarchies.len() <= N_ATTRIBUTES_COMPARED;
        let (mut n_best_first, mut n_walk, mut n_more, mut n_short) = (0, 0, 0, 0);
        for &group in compared.iter().filter(|_| is_compared) {
            let mut record = solved.record(counts.codes(group));
            let [best_first, walk, ours] = Search::ALL.map(|search| search.solve(&mut record, goal));
            n_best_first += best_first.n_visited;
            n_walk += walk.n_visited;
            n_more += usize::from(ours.n_visited > best_first.n_visited);
            n_short += usize::from(walk.levels.is_none());
        }
        let mean = |n: usize| (n > 0).then(|| n as f64 / compared.len() as f64);
        rows.push(json!({
            "risk": risk.name(),
            "share": share,
            "cpu_s": cpu_s,
            "us_per_record": cpu_s * 1e6 / groups.len() as f64,
            "nodes_optimum": n_visited as f64 / groups.len() as f64,
            "nodes_best_first": mean(n_best_first),
            "nodes_walk": mean(n_walk),
            "n_records_with_more_nodes_than_best_first": n_more,
            "n_records_without_a_frontier": n_short,
        }));
    }
    Ok(json!({
        "n_attributes": hierarchies.len(),
        "n_distinct_records": groups.len(),
        "n_schemes": hierarchies.iter().map(|hierarchy| hierarchy.n_levels() as f64).product::<f64>(),
        "peak_mb": peak_mb(),
        "rows": rows,
    }))
}

/// A table of sixteen values per attribute, five levels each, neighbours alike.
pub fn measure_generated(n_attributes: usize, n_records: usize, risk: Risk) -> Result<Value> {
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
    measure(&counts, &hierarchies, risk, &[0.5], 100)
}
