//! One tree of groups for all k: how long it takes, how quick its answers are, and what its cuts lose.

use incrowd::loss::LOSS_ONE;
use incrowd::random::Random;
use incrowd::recode::keep::{self, Demand, Wanted};
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::tree::Tree;
use incrowd::recode::tree::negotiate::{Answer, Request};
use incrowd::task::{SearchProgress, Task};
use incrowd::{Criteria, Criterion, GroupCounts, Hierarchy, Measure, Result, Yardstick};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::Clock;

const KS: [u64; 9] = [2, 3, 5, 7, 10, 20, 25, 50, 100];

/// What the cuts of one tree lose, beside dedicated runs; `refined` is how long cuts are improved.
pub fn measure(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    refined: Duration,
    dedicated: bool,
    n_requests: usize,
) -> Result<Value> {
    let yardstick = Yardstick::new(counts, &[], [])?;
    let clock = Clock::start();
    let tree = Tree::grow(counts, hierarchies, weights, &yardstick, &Task::default())?;
    let (cpu_s, wall_s) = clock.stop();
    let all = (counts.n_records() * LOSS_ONE) as f64;
    let mut rows = Vec::new();
    for k in KS {
        let criteria = Criteria::of(Some(k), None);
        let start = Instant::now();
        let cut = tree.cut(&criteria, 0, &Task::default())?.expect("there are k records");
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let mut row = json!({ "k": k, "cut": cut.loss as f64 / all, "ms": ms });
        let assignment =
            Assignment { counts, hierarchies, weights, least: Least::of(k, None), seed: 0, n_exchanges: 0 };
        if dedicated {
            for method in [Method::BottomUp, Method::TopDown, Method::Mondrian] {
                let found = method.partition(&assignment, &Task::default())?;
                row[method.name()] = json!(keep::loss(&found, &assignment)? as f64 / all);
            }
            row["ratio"] = json!(row["cut"].as_f64().unwrap_or(0.0) / row["bottom-up"].as_f64().unwrap_or(1.0));
        }
        if !refined.is_zero() {
            let demand = Demand { yardstick: &yardstick, criteria: &criteria };
            let wanted = Wanted { demand, n_suppressed_max: 0, style: CellStyle::Ranges };
            let found = keep::published(&tree, &cut, &assignment, &wanted, &Task::default())?;
            // By processor time: a second is a second, whatever else the machine does.
            let start = crate::cpu_seconds();
            let is_enough = |_: &SearchProgress| crate::cpu_seconds() - start >= refined.as_secs_f64();
            let task = Task { is_enough: &is_enough, ..Task::default() };
            let (better, _) = keep::improved(found, &assignment, &wanted, u64::MAX, &task)?;
            row["refined"] = json!(keep::loss(&better, &assignment)? as f64 / all);
            if dedicated {
                row["refined_ratio"] =
                    json!(row["refined"].as_f64().unwrap_or(0.0) / row["bottom-up"].as_f64().unwrap_or(1.0));
            }
        }
        rows.push(row);
    }
    let of_k_and_l = answers(&tree, counts, false, n_requests)?;
    let measures = [Measure::Entropy(0), Measure::Closeness(0)];
    let of_t = match counts.sensitive().is_empty() {
        true => None,
        false => {
            let yardstick = Yardstick::new(counts, &[], measures)?;
            let measured = Tree::of(tree.shape().clone(), counts, &yardstick, &Task::default())?;
            Some(answers(&measured, counts, true, n_requests)?)
        }
    };
    Ok(json!({
        "answers_k_l": of_k_and_l,
        "answers_t_entropy": of_t,
        "name": "incrowd",
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "combinations": counts.n_groups(),
        "nodes": tree.shape().n_nodes(),
        "mb": tree.n_bytes() as f64 / 1e6,
        "peak_mb": crate::peak_mb(),
        "by_k": rows,
    }))
}

/// How long answers to random requests take, in milliseconds, offers included.
fn answers(tree: &Tree, counts: &GroupCounts, with_t: bool, n_requests: usize) -> Result<Value> {
    let mut random = Random::new(3);
    let (mut times, mut cpu_times) = (Vec::new(), Vec::new());
    let mut n_exact = 0;
    for _ in 0..n_requests {
        let mut criteria = Criteria::of(Some(2 + random.below(99)), None);
        if !counts.sensitive().is_empty() && random.below(2) == 0 {
            criteria = criteria.with(Criterion::l(2 + random.below(4)));
        }
        if with_t {
            let value = 100_000 + random.below(400_000);
            criteria = match random.below(2) {
                0 => criteria.with(Criterion { measure: Measure::Closeness(0), value }),
                _ => criteria.with(Criterion { measure: Measure::Entropy(0), value: 2_000_000 + 10 * value }),
            };
        }
        let n_suppressed_max = if random.below(2) == 0 { 0 } else { random.below(counts.n_records() / 50 + 1) };
        let loss_max = (random.below(2) == 0).then(|| random.below(40) as f64 / 100.0);
        let request = Request { criteria, n_suppressed_max, loss_max, loss_max_of: Vec::new() };
        let clock = Clock::start();
        let answer = tree.negotiate(&request, &Task::default())?;
        let (cpu_s, wall_s) = clock.stop();
        cpu_times.push(cpu_s * 1e3);
        times.push(wall_s * 1e3);
        n_exact += usize::from(matches!(answer, Answer::Exact(_)));
    }
    times.sort_by(f64::total_cmp);
    cpu_times.sort_by(f64::total_cmp);
    let at = |times: &[f64], share: f64| times[((times.len() - 1) as f64 * share) as usize];
    Ok(json!({
        "p50_ms": at(&times, 0.5), "p99_ms": at(&times, 0.99), "most_ms": at(&times, 1.0),
        "p50_cpu_ms": at(&cpu_times, 0.5), "p99_cpu_ms": at(&cpu_times, 0.99), "most_cpu_ms": at(&cpu_times, 1.0),
        "n": times.len(), "n_exact": n_exact,
    }))
}
