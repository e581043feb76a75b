//! What it costs to count people instead of records.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use incrowd::random::Random;
use incrowd::task::Task;
use incrowd::{Counter, GroupCounts, Hierarchy, Missing, Plan, Result, Rule, Yardstick, annotate};
use serde_json::{Value, json};

use super::Clock;

const NAMES: [&str; 6] = ["age", "place", "education", "marital", "origin", "sex"];
const N_VALUES: [u64; 6] = [70, 400, 16, 7, 5, 2];

/// People with five records each. Where they drift, a record is a year or two older, some have moved, and every one has an
/// illness of its own; otherwise all five are the same.
fn table(n_people: usize, is_drifting: bool) -> RecordBatch {
    let mut random = Random::new(7);
    let mut columns: Vec<Vec<i64>> = vec![Vec::new(); NAMES.len() + 2];
    for person in 0..n_people {
        let mut values: Vec<i64> = N_VALUES.iter().map(|n| random.below(*n) as i64).collect();
        let mut ill = random.below(30) as i64;
        for _ in 0..5 {
            if is_drifting {
                values[0] += i64::from(random.below(3) == 0);
                if random.below(20) == 0 {
                    values[1] = random.below(N_VALUES[1]) as i64;
                }
                ill = random.below(30) as i64;
            }
            columns.iter_mut().zip(values.iter().chain([&ill, &(person as i64)])).for_each(|(c, v)| c.push(*v));
        }
    }
    let names = NAMES.into_iter().chain(["ill", "person"]);
    let arrays = columns.into_iter().map(|column| Arc::new(Int64Array::from(column)) as ArrayRef);
    RecordBatch::try_from_iter(names.zip(arrays)).expect("columns of one length")
}

fn counts(table: &RecordBatch, person: &[&str]) -> Result<GroupCounts> {
    let mut counter = Counter::of_people(&NAMES, &["ill"], person, &Missing::default());
    counter.push(table)?;
    Ok(counter.finish())
}

fn hierarchies(counts: &GroupCounts) -> Result<Vec<Hierarchy>> {
    let widths: [&[f64]; 6] = [&[5.0, 10.0, 20.0], &[10.0, 50.0, 100.0], &[4.0], &[], &[], &[]];
    let rule = |widths: &[f64]| match widths {
        [] => Ok(Rule::Flat),
        widths => Rule::intervals(widths.to_vec(), 0.0),
    };
    counts.domains().iter().zip(widths).map(|(domain, widths)| rule(widths)?.resolve(domain)).collect()
}

/// The median of some times, in seconds of the processor.
fn annotating(counts: &GroupCounts, n_times: usize) -> Result<f64> {
    let hierarchies = hierarchies(counts)?;
    let yardstick = Yardstick::new(counts, &[], [])?;
    let plan = Plan { weights: &[1.0; 6], yardstick: &yardstick, with_entropy: false };
    let mut times = Vec::new();
    for _ in 0..n_times {
        let clock = Clock::start();
        std::hint::black_box(annotate(counts, &hierarchies, &plan, &Task::default())?);
        times.push(clock.stop().0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

/// Annotates the same records with and without whose they are.
pub fn measure(n_people: usize, is_drifting: bool, n_times: usize) -> Result<Value> {
    let table = table(n_people, is_drifting);
    let (of_records, of_people) = (counts(&table, &[])?, counts(&table, &["person"])?);
    let (records_s, people_s) = (annotating(&of_records, n_times)?, annotating(&of_people, n_times)?);
    Ok(json!({
        "people": n_people,
        "records": table.num_rows(),
        "combinations": of_records.n_groups(),
        "drifting": is_drifting,
        "records_cpu_s": records_s,
        "people_cpu_s": people_s,
        "ratio": people_s / records_s,
    }))
}
