//! One tree of groups for all k: how long it takes, how quick its answers are, and what its cuts lose.

use incrowd::loss::LOSS_ONE;
use incrowd::recode::keep::{self, Demand, Wanted};
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::tree::Tree;
use incrowd::task::{SearchProgress, Task};
use incrowd::{Criteria, GroupCounts, Hierarchy, Result, Yardstick};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

use crate::Clock;

const KS: [u64; 9] = [2, 3, 5, 7, 10, 20, 25, 50, 100];

/// What the cuts of one tree lose, beside dedicated runs; `refined` is how long cuts are improved.
pub fn measure(counts: &GroupCounts, hierarchies: &[Hierarchy], weights: &[f64], refined: Duration, dedicated: bool) -> Result<Value> {
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
        let assignment = Assignment { counts, hierarchies, weights, least: Least::of(k, None), seed: 0, n_exchanges: 0 };
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
            let start = Instant::now();
            let is_enough = |_: &SearchProgress| start.elapsed() >= refined;
            let task = Task { is_enough: &is_enough, ..Task::default() };
            let (better, _) = keep::improved(found, &assignment, &wanted, u64::MAX, &task)?;
            row["refined"] = json!(keep::loss(&better, &assignment)? as f64 / all);
            if dedicated {
                row["refined_ratio"] = json!(row["refined"].as_f64().unwrap_or(0.0) / row["bottom-up"].as_f64().unwrap_or(1.0));
            }
        }
        rows.push(row);
    }
    Ok(json!({
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
