//! How good the answer of a search is after some time, beside a plain greedy search, a plain genetic algorithm and, where
//! the lattice is small enough, the true optimum.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use incrowd::loss::ncp_of_level;
use incrowd::random::Random;
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::task::{SearchProgress, Task};
use incrowd::{
    Answer, Counter, Criteria, GroupCounts, Hierarchy, Level, Missing, Plan, Quality, Request, Result, Rule, Scheme,
    Yardstick, annotate, negotiate,
};
use serde_json::{Value, json};

/// k, and the share of records that may be lost, as one in so many.
const K: u64 = 5;
const ONE_IN: u64 = 10;

/// A table in which nearly every record is alone: attributes that partly follow from a few hidden ones.
pub fn generated(n_attributes: usize, n_records: usize) -> Result<(GroupCounts, Vec<Hierarchy>)> {
    let mut random = Random::new(11);
    let sizes: Vec<u64> = (0..n_attributes).map(|a| [60, 5, 12, 2, 30, 4, 8, 3][a % 8]).collect();
    let mut columns: Vec<Vec<i64>> = vec![Vec::with_capacity(n_records); n_attributes];
    for _ in 0..n_records {
        let hidden: Vec<u64> = (0..3).map(|_| random.below(1_000)).collect();
        for (a, column) in columns.iter_mut().enumerate() {
            let n = sizes[a];
            // Half follow from what is hidden, and small values are more frequent.
            let follows = hidden[a % 3] * n / 1_000;
            let value = if random.below(2) == 0 { follows } else { random.below(n) * random.below(n) / n };
            column.push(value as i64);
        }
    }
    let names: Vec<String> = (0..n_attributes).map(|a| format!("q{a}")).collect();
    let arrays = columns.into_iter().map(|column| Arc::new(Int64Array::from(column)) as ArrayRef);
    let table = RecordBatch::try_from_iter(names.iter().map(String::as_str).zip(arrays)).expect("of one length");
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut counter = Counter::new(&names, &[], &Missing::default());
    counter.push(&table)?;
    let counts = counter.finish();
    let rule = |n: u64| match n {
        0..6 => Ok(Rule::Flat),
        6..20 => Rule::intervals(vec![3.0], 0.0),
        _ => Rule::intervals(vec![5.0, 15.0], 0.0),
    };
    let domains = counts.domains().iter().zip(&sizes);
    let hierarchies = domains.map(|(domain, n)| rule(*n)?.resolve(domain)).collect::<Result<_>>()?;
    Ok((counts, hierarchies))
}

/// The least loss of each search after each of these times.
pub fn measure(counts: &GroupCounts, hierarchies: &[Hierarchy], seconds: &[u64], is_small: bool) -> Result<Value> {
    let weights = vec![1.0; hierarchies.len()];
    let yardstick = Yardstick::new(counts, &[], [])?;
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let request = Request {
        criteria: Criteria::of(Some(K), None),
        level_max: Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect()),
        n_suppressed_max: counts.n_records() / ONE_IN,
        best_by: Quality::Ncp.into(),
    };
    let optimum = match is_small {
        true => match negotiate(&annotate(counts, hierarchies, &plan, &Task::default())?, &request)? {
            Answer::Exact(offer) => Some(offer.losses.ncp),
            Answer::Offers(_) => None,
        },
        false => None,
    };
    let start = Instant::now();
    let last = Duration::from_secs(*seconds.last().expect("at least one time"));
    // What was best, and proved, when each time was over.
    let at: Mutex<Vec<Option<(Option<f64>, f64)>>> = Mutex::new(vec![None; seconds.len()]);
    let is_enough = |progress: &SearchProgress| {
        let mut at = at.lock().expect("nobody panics");
        for (known, s) in at.iter_mut().zip(seconds) {
            if start.elapsed() < Duration::from_secs(*s) {
                *known = Some((progress.best, progress.loss_at_least));
            }
        }
        start.elapsed() >= last
    };
    let task = Task { n_bytes_max: 1 << 30, is_enough: &is_enough, ..Task::default() };
    let found = negotiate_on_demand(counts, hierarchies, &plan, &request, &task)?;
    let at = at.into_inner().expect("nobody panics");
    let ours: Vec<Option<f64>> = at.iter().map(|known| known.and_then(|(best, _)| best)).collect();
    let bounds: Vec<Option<f64>> = at.iter().map(|known| known.map(|(_, bound)| bound)).collect();
    let naive = Naive::new(counts, hierarchies, request.n_suppressed_max);
    Ok(json!({
        "n_records": counts.n_records(),
        "n_combinations": counts.n_groups(),
        "n_schemes": incrowd::scheme::n_schemes(hierarchies),
        "seconds": seconds,
        "incrowd": ours,
        "nothing_below": bounds,
        "n_evaluated": found.n_evaluated,
        "is_proved": found.is_proved(),
        "greedy": naive.greedy(),
        "genetic": naive.genetic(seconds),
        "optimum": optimum,
    }))
}

/// The peers: plain, and on plain tables.
struct Naive<'a> {
    counts: &'a GroupCounts,
    hierarchies: &'a [Hierarchy],
    n_suppressed_max: u64,
    /// By attribute, level and label.
    costs: Vec<Vec<Vec<f64>>>,
}

impl<'a> Naive<'a> {
    fn new(counts: &'a GroupCounts, hierarchies: &'a [Hierarchy], n_suppressed_max: u64) -> Naive<'a> {
        let of_attribute =
            |hierarchy: &Hierarchy| (0..hierarchy.n_levels()).map(|level| ncp_of_level(hierarchy, level)).collect();
        Naive { counts, hierarchies, n_suppressed_max, costs: hierarchies.iter().map(of_attribute).collect() }
    }

    /// The loss of a scheme; none where it loses too many records.
    fn loss(&self, levels: &[usize]) -> Option<f64> {
        let mut group_of = vec![0u32; self.counts.n_groups()];
        let mut cost_of = vec![0f64; self.counts.n_groups()];
        for (a, &level) in levels.iter().enumerate() {
            let labels = self.hierarchies[a].level(level).of_base();
            let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
            for base in 0..group_of.len() {
                let label = labels[self.counts.codes(base)[a].index()];
                let next = numbers.len() as u32;
                group_of[base] = *numbers.entry((group_of[base], label.0)).or_insert(next);
                cost_of[base] += self.costs[a][level][label.index()] / levels.len() as f64;
            }
        }
        let mut sizes: HashMap<u32, u64> = HashMap::new();
        (0..group_of.len()).for_each(|base| *sizes.entry(group_of[base]).or_default() += self.counts.size(base));
        let (mut loss, mut n_suppressed) = (0.0, 0);
        for base in 0..group_of.len() {
            let n = self.counts.size(base);
            let is_published = sizes[&group_of[base]] >= K;
            n_suppressed += if is_published { 0 } else { n };
            loss += n as f64 * if is_published { cost_of[base] } else { 1.0 };
        }
        (n_suppressed <= self.n_suppressed_max).then(|| loss / self.counts.n_records() as f64)
    }

    fn tops(&self) -> Vec<usize> {
        self.hierarchies.iter().map(Hierarchy::top).collect()
    }

    /// From the top, the step down that leaves the least loss, until none helps; with the seconds it took.
    fn greedy(&self) -> Value {
        let start = Instant::now();
        let mut levels = self.tops();
        let mut loss = self.loss(&levels);
        loop {
            let steps = (0..levels.len()).filter(|&a| levels[a] > 0).filter_map(|a| {
                let mut next = levels.clone();
                next[a] -= 1;
                Some((self.loss(&next)?, next))
            });
            let best =
                steps.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|(next, _)| loss.is_none_or(|loss| *next < loss));
            match best {
                Some((next, vector)) => (loss, levels) = (Some(next), vector),
                None => return json!({"loss": loss, "seconds": start.elapsed().as_secs_f64()}),
            }
        }
    }

    /// Two dozen schemes, crossed and changed at random; the better half lives on.
    fn genetic(&self, seconds: &[u64]) -> Vec<Option<f64>> {
        let (start, tops) = (Instant::now(), self.tops());
        let mut random = Random::new(3);
        let mut best = vec![None; seconds.len()];
        let mut crowd: Vec<(f64, Vec<usize>)> = vec![(self.loss(&tops).unwrap_or(f64::INFINITY), tops.clone())];
        while start.elapsed() < Duration::from_secs(*seconds.last().expect("at least one time")) {
            let parent = |random: &mut Random| random.below(crowd.len() as u64) as usize;
            let (one, other) = (parent(&mut random), parent(&mut random));
            let mut child: Vec<usize> = (0..tops.len())
                .map(|a| if random.below(2) == 0 { crowd[one].1[a] } else { crowd[other].1[a] })
                .collect();
            for _ in 0..1 + random.below(2) {
                let a = random.below(tops.len() as u64) as usize;
                child[a] = random.below(tops[a] as u64 + 1) as usize;
            }
            if let Some(loss) = self.loss(&child).filter(|_| crowd.iter().all(|(_, known)| *known != child)) {
                crowd.push((loss, child));
                crowd.sort_by(|a, b| a.0.total_cmp(&b.0));
                crowd.truncate(24);
            }
            for (best, s) in best.iter_mut().zip(seconds) {
                if start.elapsed() < Duration::from_secs(*s) {
                    *best = Some(crowd[0].0).filter(|loss| loss.is_finite());
                }
            }
        }
        best
    }
}
