//! People, not records: every way to count them beside definitions written plainly.
//!
//! The definitions stand here; what is held to them in the parts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use incrowd::attack::{self, Linkable, Linkage, Meaning};
use incrowd::criterion::formulas::{n_told_most, told_most};
use incrowd::criterion::{MILLION, NEVER};
use incrowd::judge::judge;
use incrowd::lattice::saved::{self, ReadAt};
use incrowd::lattice::update::updated;
use incrowd::lattice::{Estimator, Selection, groups_of, outcome_of};
use incrowd::recode::method::Assignment;
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::per_record::dictionary::{Dictionary, Match};
use incrowd::recode::per_record::{Problem, Risk, Sensitivities, Utility, grouped, recode as recode_one_by_one};
use incrowd::recode::{Span, deal, global};
use incrowd::release::{Column, Publisher};
use incrowd::risk::people::Members;
use incrowd::risk::{Alike, Contribution, crowds, people};
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::search::partial::annotate_partially;
use incrowd::task::Task;
use incrowd::verify::{Original, Outside, PeopleVerifier};
use incrowd::*;
use proptest::prelude::*;

mod answering;
mod counting;
mod methods;
mod risk;

/// Two quasi-identifiers, a sensitive value and a person.
type Record = [i64; 4];

fn batch(records: &[Record]) -> RecordBatch {
    let column = |a: usize| -> ArrayRef { Arc::new(Int64Array::from_iter_values(records.iter().map(|r| r[a]))) };
    let columns = ["x", "y", "ill", "who"].into_iter().enumerate().map(|(a, name)| (name, column(a)));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn counts(records: &[Record]) -> GroupCounts {
    let mut counter = Counter::of_people(&["x", "y"], &["ill"], &["who"], &Missing::default());
    counter.push(&batch(records)).expect("readable");
    counter.finish()
}

fn without_people(records: &[Record]) -> GroupCounts {
    let mut counter = Counter::new(&["x", "y"], &["ill"], &Missing::default());
    counter.push(&batch(records)).expect("readable");
    counter.finish()
}

fn hierarchies(counts: &GroupCounts) -> Vec<Hierarchy> {
    let rule = Rule::intervals(vec![2.0, 4.0], 0.0).expect("a rule");
    counts.domains().iter().map(|domain| rule.resolve(domain).expect("numbers")).collect()
}

const MEASURES: [Measure; 10] = [
    Measure::Size,
    Measure::Distinct(0),
    Measure::Share(0),
    Measure::Entropy(0),
    Measure::Recursive { sensitive: 0, l: 1 },
    Measure::Recursive { sensitive: 0, l: 2 },
    Measure::Closeness(0),
    Measure::Disclosure(0),
    Measure::Likeness(0),
    Measure::EnhancedLikeness(0),
];

fn yardstick(counts: &GroupCounts, distance: Distance) -> Yardstick {
    Yardstick::new(counts, &[(distance, None)], MEASURES).expect("a sensitive attribute")
}

/// Who has which values.
type Group = BTreeMap<i64, BTreeSet<i64>>;

fn group(records: &[Record]) -> Group {
    let mut group = Group::new();
    records.iter().for_each(|[_, _, ill, who]| {
        group.entry(*who).or_default().insert(*ill);
    });
    group
}

/// All ways to count everybody with one of their values: how many have each, from the most.
fn ways(group: &Group) -> Vec<Vec<u64>> {
    let mut ways: BTreeSet<BTreeMap<i64, u64>> = BTreeSet::from([BTreeMap::new()]);
    for values in group.values() {
        let with = |way: &BTreeMap<i64, u64>, value: &i64| {
            let mut way = way.clone();
            *way.entry(*value).or_insert(0) += 1;
            way
        };
        ways = ways.iter().flat_map(|way| values.iter().map(|value| with(way, value)).collect::<Vec<_>>()).collect();
    }
    let sorted = |way: BTreeMap<i64, u64>| {
        let mut counts: Vec<u64> = way.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    };
    ways.into_iter().map(sorted).collect()
}

fn n_having(group: &Group, value: i64) -> f64 {
    group.values().filter(|values| values.contains(&value)).count() as f64
}

/// By value, the share of everybody's weight that it has.
fn weights(group: &Group, values: &BTreeSet<i64>) -> Vec<f64> {
    let of = |value: &i64| {
        let parts = group.values().filter(|own| own.contains(value)).map(|own| 1.0 / own.len() as f64);
        parts.sum::<f64>() / group.len() as f64
    };
    values.iter().map(of).collect()
}

/// What each measure is by its definition, as a number; none where it is never reached.
fn defined(measure: Measure, of: &Group, table: &Group, distance: Distance) -> Option<f64> {
    let values: BTreeSet<i64> = table.values().flatten().copied().collect();
    let n = of.len() as f64;
    let share = |value: &i64| n_having(of, *value) / n;
    let in_table = |value: &i64| n_having(table, *value) / table.len() as f64;
    let present = || values.iter().filter(|value| n_having(of, **value) > 0.0);
    // Everybody once, with the value that most have; what is left of the people with the next.
    let told_most = || {
        let mut having: Vec<f64> = values.iter().map(|value| n_having(of, *value)).collect();
        having.sort_by(|a, b| b.total_cmp(a));
        let mut left = n;
        let taken: Vec<f64> = having
            .into_iter()
            .map(|n| {
                let taken = n.min(left);
                left -= taken;
                taken
            })
            .collect();
        taken.into_iter().filter(|n| *n > 0.0).collect::<Vec<f64>>()
    };
    Some(match measure {
        Measure::Size => n,
        Measure::Distinct(_) => told_most().len() as f64,
        Measure::Share(_) => present().map(share).fold(0.0, f64::max),
        Measure::Entropy(_) => (-told_most().iter().map(|c| c / n * (c / n).ln()).sum::<f64>()).exp(),
        Measure::Recursive { l, .. } => {
            let counts = told_most();
            let rest: f64 = counts.iter().skip(l as usize - 1).sum();
            (rest > 0.0).then(|| counts[0] / rest)?
        }
        Measure::Closeness(_) => {
            let (ours, theirs) = (weights(of, &values), weights(table, &values));
            let differences: Vec<f64> = ours.iter().zip(&theirs).map(|(p, q)| p - q).collect();
            match distance {
                Distance::Ordered if values.len() > 1 => {
                    let sums = differences.iter().scan(0.0, |sum, d| {
                        *sum += d;
                        Some(sum.abs())
                    });
                    sums.sum::<f64>() / (values.len() - 1) as f64
                }
                _ => differences.iter().map(|d| d.abs()).sum::<f64>() / 2.0,
            }
        }
        Measure::Disclosure(_) => {
            let ratio = |value: &i64| (share(value) / in_table(value)).ln().abs();
            (present().count() == values.len()).then(|| present().map(ratio).fold(0.0, f64::max))?
        }
        Measure::Likeness(_) => {
            present().map(|value| (share(value) - in_table(value)) / in_table(value)).fold(0.0, f64::max)
        }
        Measure::EnhancedLikeness(_) => {
            let gain = |value: &i64| (share(value) - in_table(value)) / in_table(value);
            let is_bounded = |value: &i64| in_table(value) == 1.0 || gain(value) <= -in_table(value).ln();
            present().all(is_bounded).then(|| present().map(gain).fold(0.0, f64::max))?
        }
        other => unreachable!("{other:?} is not asked"),
    })
}

/// Whether a measured value is the defined one, rounded towards less privacy.
fn is_near(measure: Measure, measured: u64, defined: Option<f64>) -> bool {
    match defined {
        None => measured == NEVER,
        Some(value) if measure.is_count() => measured as f64 == value,
        Some(value) => (measured as f64 / MILLION as f64 - value).abs() < 2.1e-6,
    }
}

fn generalized(record: &Record, scheme: &Scheme) -> (i64, i64) {
    let label = |value: i64, level: usize| match level {
        0 => value,
        1 => value.div_euclid(2),
        2 => value.div_euclid(4),
        _ => 0,
    };
    (label(record[0], scheme.level(0)), label(record[1], scheme.level(1)))
}

/// The groups of a scheme, and how many records each has.
fn groups(records: &[Record], scheme: &Scheme) -> BTreeMap<(i64, i64), Vec<Record>> {
    let mut groups: BTreeMap<(i64, i64), Vec<Record>> = BTreeMap::new();
    records.iter().for_each(|record| groups.entry(generalized(record, scheme)).or_default().push(*record));
    groups
}

/// Few people with several records each, most of which differ in something.
fn tables() -> impl Strategy<Value = Vec<Record>> {
    let record = |n_people: i64| (0..5i64, 0..3i64, 0..4i64, 0..n_people).prop_map(|(x, y, ill, who)| [x, y, ill, who]);
    (2..9i64)
        .prop_flat_map(move |n_people| prop::collection::vec(record(n_people), 2..24))
        .prop_filter("somebody has several records", |records| {
            records.iter().map(|record| record[3]).collect::<BTreeSet<i64>>().len() < records.len()
        })
}

/// What up to three records of a person can be, over two combinations and two values.
fn records_of_one() -> Vec<Vec<[i64; 3]>> {
    let records: Vec<[i64; 3]> = (0..4).map(|n| [n & 1, 0, n >> 1 & 1]).collect();
    let mut of_person: Vec<Vec<[i64; 3]>> = vec![Vec::new()];
    for n in 1..=3usize {
        let mut places = vec![0; n];
        loop {
            if places.is_sorted() {
                of_person.push(places.iter().map(|place| records[*place]).collect());
            }
            let Some(at) = (0..n).find(|at| places[*at] < 3) else { break };
            places[at] += 1;
            places[..at].fill(0);
        }
    }
    of_person
}

/// All tables of up to three people with up to three records each, over two combinations and two values, in which somebody
/// has several; with each of them only once where it does not matter who is who.
fn tiny_tables(in_order: bool) -> Vec<Vec<Record>> {
    let of_person = records_of_one();
    let n = of_person.len();
    let all = (0..n * n * n).map(|i| [i / n / n, i / n % n, i % n]).filter(|of| !in_order || of.is_sorted());
    let table = |of: [usize; 3]| -> Vec<Record> {
        let own = (0..).zip(of).flat_map(|(who, one)| of_person[one].iter().map(move |own| (who, own)));
        own.map(|(who, [x, y, ill])| [*x, *y, *ill, who]).collect()
    };
    let has_several = |records: &Vec<Record>| group(records).len() < records.len();
    all.map(table).filter(has_several).collect()
}
