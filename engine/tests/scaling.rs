//! Eight times the table takes about eight times as long: no step compares everything with everything.
//!
//! Every case is timed with n records and with 8n. Work in proportion takes about 8 times as long, and some more where it no
//! longer fits into the cache; work that grows with the square 64 times. A machine that is busy with other things may slow one run down: the quickest of several counts,
//! and a case that seems slow is tried again.

mod common;

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use arrow_array::RecordBatch;
use common::*;
use incrowd::judge::judge;
use incrowd::query::{Query, estimate, parse_queries};
use incrowd::recode::deal::{self, Arrange, differences};
use incrowd::recode::mondrian::{self, Cut};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::{Problem, Risk, Sensitivities, Utility};
use incrowd::recode::{Recoding, global};
use incrowd::release::{Column, Publisher};
use incrowd::task::Task;
use incrowd::verify::{Original, Outside, SuppressedAs, Verifier};
use incrowd::{Criteria, Distance, GroupCounts, Hierarchy, Measure, Missing, Plan, Rule, Yardstick};

/// What more than proportional work would exceed, with 8 as the aim and 64 for the square.
const RATIO_MAX: f64 = 28.0;

fn quickest(work: &mut dyn FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..3).map(time).fold(f64::INFINITY, f64::min)
}

/// Two that are timed at once would slow each other down.
static ALONE: Mutex<()> = Mutex::new(());

/// Sets the time for n beside that for 8n, and says where that is too much; `prepare` makes the work, which alone is
/// timed.
fn slow<W: FnMut()>(what: &str, n: usize, prepare: impl Fn(usize) -> W) -> Option<String> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut small, mut large) = (prepare(n), prepare(8 * n));
    let times = || (quickest(&mut small), quickest(&mut large));
    let tries: Vec<(f64, f64)> = std::iter::repeat_with(times).take(3).collect();
    // What takes a few milliseconds says little: it may have been in the cache.
    let ratio = |(first, second): &(f64, f64)| second / first.max(0.01);
    let (first, second) = tries.into_iter().min_by(|a, b| ratio(a).total_cmp(&ratio(b))).expect("tried");
    let times = format!("{what}: {n} records take {first:.4} s, eight times as many {second:.4} s");
    (ratio(&(first, second)) > RATIO_MAX).then_some(times)
}

#[track_caller]
fn check(slow: impl IntoIterator<Item = Option<String>>) {
    let slow: Vec<String> = slow.into_iter().flatten().collect();
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

/// Records of so many combinations of two quasi-identifiers, and sensitive values by record.
struct Data {
    batch: RecordBatch,
    counts: GroupCounts,
    hierarchies: Vec<Hierarchy>,
}

fn data(n: usize, age: &dyn Fn(usize) -> usize, sensitive: &[&dyn Fn(usize) -> usize]) -> Data {
    let text = |i: usize| Some(i.to_string());
    let names: Vec<String> = (0..sensitive.len()).map(|s| format!("s{s}")).collect();
    let mut columns = vec!["age", "town"];
    columns.extend(names.iter().map(String::as_str));
    let record = |i: usize| {
        let quasi_identifiers = [text(age(i)), text(i % 2)];
        quasi_identifiers.into_iter().chain(sensitive.iter().map(|value| text(value(i)))).collect()
    };
    let records: Vec<Vec<Cell>> = (0..n).map(record).collect();
    let missing = Missing::default();
    let counts = counts_of(&columns[..2], &columns[2..], &missing, &records);
    let rules = [Rule::intervals(vec![2.0, 8.0], 0.0).expect("they nest"), Rule::Flat];
    let resolved = rules.iter().zip(counts.domains()).map(|(rule, domain)| rule.resolve(domain).expect("numbers"));
    Data { batch: batch(&columns, &records), hierarchies: resolved.collect(), counts }
}

/// A number that hops about between 0 and n.
fn mixed(i: usize, n: usize) -> usize {
    i * 7_919 % n
}

fn yardstick(data: &Data, distance: Distance, measures: &[Measure]) -> Yardstick {
    let hierarchy = (distance == Distance::Hierarchical).then(|| {
        let rule = Rule::intervals(vec![4.0, 64.0], 0.0).expect("they nest");
        rule.resolve(&data.counts.sensitive()[0]).expect("numbers")
    });
    Yardstick::new(&data.counts, &[(distance, hierarchy)], measures.iter().copied()).expect("there is what it needs")
}

const RELATIVE: [Measure; 5] = [
    Measure::Closeness(0),
    Measure::Disclosure(0),
    Measure::Likeness(0),
    Measure::EnhancedLikeness(0),
    Measure::Entropy(0),
];

/// Every criterion, where every record has a sensitive value of its own, in few groups and in many.
#[test]
fn measuring_groups_of_many_sensitive_values() {
    let mut found = Vec::new();
    for distance in Distance::ALL {
        for measure in RELATIVE {
            for (groups, is_few) in [("few", true), ("many", false)] {
                found.push(slow(&format!("{measure:?}, {distance:?}, {groups} groups"), 4_000, |n| {
                    let data = data(n, &|i| i % if is_few { 4 } else { n / 4 }, &[&|i| mixed(i, n)]);
                    let yardstick = yardstick(&data, distance, &[measure]);
                    let criteria = Criteria::of(Some(1), None);
                    move || {
                        let scheme = scheme(&[1, 0]);
                        let hierarchies = &data.hierarchies;
                        let recoding = global::recode(&data.counts, hierarchies, &scheme, &yardstick, &criteria)
                            .expect("one of the schemes");
                        black_box(judge(&data.counts, hierarchies, &[1.0; 2], &yardstick, &recoding)).expect("judged");
                    }
                }));
            }
        }
    }
    check(found);
}

/// The lattice, where small groups have sensitive values of their own.
#[test]
fn annotating_many_sensitive_values() {
    check([Measure::Distinct(0), Measure::Closeness(0), Measure::Disclosure(0), Measure::Entropy(0)].map(|measure| {
        // What is quick is only slow where there is much of it.
        let n = if measure == Measure::Distinct(0) { 12_000 } else { 4_000 };
        slow(&format!("{measure:?}"), n, |n| {
            let data = data(n, &|i| i % (n / 4), &[&|i| mixed(i, n)]);
            let yardstick = yardstick(&data, Distance::Equal, &[measure]);
            move || {
                let plan = Plan { weights: &[1.0; 2], yardstick: &yardstick, with_entropy: false };
                black_box(incrowd::annotate(&data.counts, &data.hierarchies, &plan, &Task::default())).expect("small");
            }
        })
    }));
}

fn publish_all(data: &Data, recoding: &Recoding) {
    let columns = vec![Column::Recoded(0, "age".into()), Column::Recoded(1, "town".into()), Column::Kept("s0".into())];
    let mut publisher = Publisher::new(&data.counts, recoding, &Missing::default(), columns);
    black_box(recode_all(&mut publisher, std::slice::from_ref(&data.batch))).expect("the table did not change");
    publisher.finish().expect("all came by");
}

/// Records that are alike but for their sensitive values, published by a method that shares them out by value.
#[test]
fn publishing_records_that_are_alike() {
    let case_0 = slow("many values", 16_000, |n| {
        let data = data(n, &|i| i % 4, &[&|i| mixed(i, n)]);
        let deal = deal::partition(&data.counts, &data.hierarchies, &[1.0; 2], 8, Arrange::Plain, 1, &Task::default());
        let recoding = deal.expect("dealt").recode(&data.counts, &data.hierarchies, CellStyle::Ranges);
        move || publish_all(&data, &recoding)
    });
    let case_1 = slow("one value", 4_000, |n| {
        let data = data(n, &|i| if i % 2 == 0 { 0 } else { i }, &[&|_| 1]);
        let deal = deal::partition(&data.counts, &data.hierarchies, &[1.0; 2], 4, Arrange::Plain, 1, &Task::default());
        let recoding = deal.expect("dealt").recode(&data.counts, &data.hierarchies, CellStyle::Ranges);
        move || publish_all(&data, &recoding)
    });
    check([case_0, case_1]);
}

#[test]
fn dealing_records_that_are_alike() {
    let case_0 = slow("making cells of hands", 16_000, |n| {
        let data = data(n, &|i| i % 4, &[&|i| mixed(i, n)]);
        let deal = deal::partition(&data.counts, &data.hierarchies, &[1.0; 2], 8, Arrange::Plain, 1, &Task::default());
        let partition = deal.expect("dealt");
        move || {
            black_box(partition.recode(&data.counts, &data.hierarchies, CellStyle::Ranges));
            black_box(differences(&data.counts, &partition));
        }
    });
    let case_1 = slow("by value", 4_000, |n| {
        let data = data(n, &|i| i % 4, &[&|i| mixed(i, n)]);
        let least = Least::of(8, Some(2));
        let made =
            mondrian::partition(&data.counts, &data.hierarchies, &[1.0; 2], least, Cut::Relaxed, &Task::default());
        let partition = made.expect("split");
        move || {
            black_box(partition.recode(&data.counts, &data.hierarchies, CellStyle::Ranges));
        }
    });
    check([case_0, case_1]);
}

/// Hands of many cards and two sensitive attributes, of which the second is evened out by exchanges.
#[test]
fn dealing_large_hands_of_two_attributes() {
    let case_0 = slow("evening out", 300, |n| {
        let data = data(n, &|i| i % 10, &[&|i| i % 5, &|i| mixed(i, n) % 7]);
        move || {
            let task = Task::default();
            let k = data.counts.n_records() / 10;
            black_box(deal::partition(&data.counts, &data.hierarchies, &[1.0; 2], k, Arrange::Plain, 1, &task))
                .expect("dealt");
        }
    });
    check([case_0]);
}

/// Attributes of many values: cells, and what queries find behind them.
#[test]
fn cells_of_attributes_of_many_values() {
    let case_0 = slow("cells of a scheme", 4_000, |n| {
        let data = data(n, &|i| i % n, &[&|i| i % 3]);
        let yardstick = yardstick(&data, Distance::Equal, &[]);
        move || {
            let criteria = Criteria::of(Some(1), None);
            for levels in [[0, 0], [1, 0]] {
                black_box(
                    global::recode(&data.counts, &data.hierarchies, &scheme(&levels), &yardstick, &criteria)
                        .expect("one of the schemes"),
                );
            }
        }
    });
    let case_1 = slow("queries", 4_000, |n| {
        let data = data(n, &|i| i % n, &[&|i| i % 3]);
        let yardstick = yardstick(&data, Distance::Equal, &[]);
        let criteria = Criteria::of(Some(1), None);
        let recoding = global::recode(&data.counts, &data.hierarchies, &scheme(&[1, 0]), &yardstick, &criteria)
            .expect("one of the schemes");
        let queries: Vec<Query> =
            parse_queries("test", "age in 10..90 and town = 1", &data.hierarchies).expect("a query");
        move || {
            black_box(estimate(&data.hierarchies, &recoding, &queries[0]));
        }
    });
    let case_2 = slow("risk and utility", 2_000, |n| {
        let data = data(n, &|i| i % n, &[&|i| i % 3]);
        let least = Least::of(4, None);
        let made =
            mondrian::partition(&data.counts, &data.hierarchies, &[1.0; 2], least, Cut::Relaxed, &Task::default());
        let recoding = made.expect("split").recode(&data.counts, &data.hierarchies, CellStyle::Ranges);
        move || {
            let sensitivities = Sensitivities::equal(&data.hierarchies);
            let models = (Utility::Depth, Risk::Identity);
            let problem =
                Problem::new(&data.counts, &data.hierarchies, models.0, models.1, sensitivities, Match::Exact);
            let problem = problem.expect("it fits");
            black_box(problem.points(&recoding));
        }
    });
    check([case_0, case_1, case_2]);
}

/// The independent check, where small groups have sensitive values of their own.
#[test]
fn verifying_many_sensitive_values() {
    let verifier = |n: usize| {
        let data = data(n, &|i| i % (n / 4), &[&|i| mixed(i, n)]);
        let names = ["age".to_string(), "town".to_string()];
        let mut verifier = Verifier::new(&names, &["s0".to_string()], SuppressedAs::Group);
        verifier.push(&data.batch).expect("columns of texts");
        verifier
    };
    let judged = [Measure::Closeness(0), Measure::Disclosure(0), Measure::Likeness(0)].map(|measure| {
        slow(&format!("{measure:?}"), 4_000, |n| {
            let verifier = verifier(n);
            let original = Original::new("s0", verifier.distribution(0), Distance::Equal, &Default::default());
            let outside = Outside { originals: vec![Some(original)], population: None };
            let criteria = Criteria::new([criterion(measure, 1)]);
            move || {
                black_box(verifier.verdict(&criteria, &outside));
            }
        })
    });
    let dealt = slow("dealt", 4_000, |n| {
        let verifier = verifier(n);
        move || {
            black_box(verifier.n_not_dealt(0, n as u64 / 4, 1));
        }
    });
    check(judged.into_iter().chain([dealt]));
}
