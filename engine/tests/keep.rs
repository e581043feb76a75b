//! Every local method keeps every criterion: judged plainly on random tables, beside all partitions where these are few.

use crate::common;

use std::collections::{BTreeMap, BTreeSet};

use common::measures::MILLION;
use common::{Cell, batch};
use incrowd::judge::{Judgement, judge};
use incrowd::recode::keep::{self, Demand, Wanted};
use incrowd::recode::method::Assignment;
use incrowd::recode::partition::{CellStyle, Least, Partition};
use incrowd::task::Task;
use incrowd::{
    Counter, Criteria, Criterion, Distance, GroupCounts, Hierarchy, Measure, Method, Missing, Result, Rule, Yardstick,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A record: two quasi-identifiers, two sensitive values, and whose it is.
pub(crate) type Record = [u8; 5];

const NAMES: [&str; 5] = ["x", "y", "ill", "paid", "who"];

fn counts(records: &[Record], of_people: bool) -> GroupCounts {
    let person: &[&str] = if of_people { &["who"] } else { &[] };
    let mut counter = Counter::of_people(&["x", "y"], &["ill", "paid"], person, &Missing::default());
    let cells: Vec<Vec<Cell>> = records.iter().map(|record| record.map(|n| Some(n.to_string())).to_vec()).collect();
    counter.push(&batch(&NAMES, &cells)).expect("numbers");
    counter.finish()
}

fn hierarchies(counts: &GroupCounts) -> Vec<Hierarchy> {
    counts.domains().iter().map(|domain| Rule::Flat.resolve(domain).expect("any values")).collect()
}

fn distances() -> [(Distance, Option<Hierarchy>); 2] {
    [(Distance::Equal, None), (Distance::Ordered, None)]
}

/// Every criterion about either attribute, none of which is void.
pub(crate) fn criteria() -> impl Strategy<Value = Criterion> {
    let share = |measure: fn(usize) -> Measure, most: u64| {
        (0..2usize, 1..most).prop_map(move |(s, value)| Criterion { measure: measure(s), value: value * MILLION / 10 })
    };
    let entropy = |(s, value): (usize, u64)| Criterion { measure: Measure::Entropy(s), value: value * MILLION / 10 };
    let recursive = |(sensitive, l, c): (usize, u32, u64)| Criterion {
        measure: Measure::Recursive { sensitive, l },
        value: c * MILLION / 4,
    };
    prop_oneof![
        (1..5u64).prop_map(Criterion::k),
        (0..2usize, 1..4u64).prop_map(|(s, value)| Criterion { measure: Measure::Distinct(s), value }),
        share(Measure::Share, 10),
        (0..2usize, 11..28u64).prop_map(entropy),
        (0..2usize, 2..4u32, 2..16u64).prop_map(recursive),
        share(Measure::Closeness, 8),
        share(Measure::Disclosure, 20),
        share(Measure::Likeness, 20),
        share(Measure::EnhancedLikeness, 20),
    ]
}

pub(crate) fn tables(most: usize) -> impl Strategy<Value = Vec<Record>> {
    let record = (0..7u8, 0..4u8, 0..3u8, 0..4u8, 0..6u8).prop_map(|(x, y, ill, paid, who)| [x, y, ill, paid, who]);
    vec(record, 1..most)
}

/// What is given to a method.
pub(crate) struct Given {
    pub(crate) counts: GroupCounts,
    /// Told apart by person where people are counted.
    pub(crate) made_of: GroupCounts,
    pub(crate) hierarchies: Vec<Hierarchy>,
    pub(crate) yardstick: Yardstick,
    pub(crate) criteria: Criteria,
}

impl Given {
    pub(crate) fn new(records: &[Record], criteria: &Criteria, of_people: bool) -> Given {
        let counts = counts(records, of_people);
        let measures = criteria.iter().map(|criterion| criterion.measure);
        let yardstick = Yardstick::new(&counts, &distances(), measures).expect("two sensitive attributes");
        let made_of = if counts.people().is_some() { counts.by_person() } else { counts.clone() };
        Given { hierarchies: hierarchies(&counts), counts, made_of, yardstick, criteria: criteria.clone() }
    }

    pub(crate) fn k(&self) -> u64 {
        self.criteria.value(Measure::Size).unwrap_or(1)
    }

    fn least(&self) -> Least {
        match self.counts.people() {
            Some(_) => Least { k: self.k(), l: Some(self.k()), sensitive: 2 },
            None => Least::of(self.k(), None),
        }
    }

    pub(crate) fn partition(&self, method: Method, style: CellStyle) -> Result<Partition> {
        self.partition_without(method, style, 0)
    }

    pub(crate) fn partition_without(
        &self,
        method: Method,
        style: CellStyle,
        n_suppressed_max: u64,
    ) -> Result<Partition> {
        keep::partition(method, &self.assignment(), &self.wanted(style, n_suppressed_max), &Task::default())
    }

    pub(crate) fn assignment(&self) -> Assignment<'_> {
        Assignment {
            counts: &self.made_of,
            hierarchies: &self.hierarchies,
            weights: &[1.0, 1.0],
            least: self.least(),
            seed: 5,
            n_exchanges: 0,
        }
    }

    pub(crate) fn wanted(&self, style: CellStyle, n_suppressed_max: u64) -> Wanted<'_> {
        let demand = Demand { yardstick: &self.yardstick, criteria: &self.criteria };
        Wanted { demand, n_suppressed_max, style }
    }

    /// What a partition is like once it is published.
    pub(crate) fn judged(&self, found: &Partition, style: CellStyle) -> Judgement {
        let recoding = found.recode(&self.made_of, &self.hierarchies, style);
        judge(&self.made_of, &self.hierarchies, &[1.0, 1.0], &self.yardstick, &recoding).expect("it fits")
    }

    /// What some records measure as a group, counted one by one.
    fn measured(&self, records: &[Record], measure: Measure) -> u64 {
        let mut slots: BTreeMap<u32, u64> = BTreeMap::new();
        let code = |s: usize, value: u8| {
            let values = self.counts.sensitive()[s].values();
            values.iter().position(|known| *known == value.to_string()).expect("a value of the table") as u32
        };
        for record in records {
            for s in 0..2 {
                *slots.entry(self.yardstick.value(s, code(s, record[2 + s]))).or_default() += 1;
            }
        }
        let slots: Vec<(u32, u64)> = slots.into_iter().collect();
        let mut measured = Vec::new();
        self.yardstick.measure(records.len() as u64, 0, &slots, &mut measured);
        measured[self.yardstick.measures().iter().position(|known| *known == measure).expect("it is measured")]
    }

    /// Whether some records keep everything as a group.
    pub(crate) fn keeps(&self, records: &[Record]) -> bool {
        self.criteria.iter().all(|criterion| criterion.holds(self.measured(records, criterion.measure)))
    }
}

/// All records are somewhere, once; every group that a reader sees keeps everything, or there is one group.
fn check(given: &Given, method: Method, style: CellStyle) -> std::result::Result<(), TestCaseError> {
    let found = given.partition(method, style).expect("there are k records");
    let mut left: BTreeMap<u32, u64> =
        (0..given.made_of.n_groups()).map(|base| (base as u32, given.made_of.size(base))).collect();
    for part in found.classes().flatten() {
        *left.get_mut(&part.base).expect("a group of the counts") -= part.n_records;
    }
    prop_assert!(left.values().all(|n| *n == 0));
    let recoding = found.recode(&given.made_of, &given.hierarchies, style);
    let judged = judge(&given.made_of, &given.hierarchies, &[1.0, 1.0], &given.yardstick, &recoding).expect("it fits");
    prop_assert!(judged.holds(&given.criteria) || judged.n_groups == 1, "{method:?} {:?}", given.criteria);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_method_keeps_every_mix_of_criteria(
        records in tables(40), asked in vec(criteria(), 1..4), style in 0..CellStyle::ALL.len(),
    ) {
        let given = Given::new(&records, &Criteria::new(asked), false);
        prop_assume!(given.k() <= records.len() as u64);
        for method in Method::KEEPING_L {
            check(&given, method, CellStyle::ALL[style])?;
        }
    }

    #[test]
    fn every_method_keeps_every_mix_of_criteria_over_people(
        records in tables(30), asked in vec(criteria(), 1..4), style in 0..CellStyle::ALL.len(),
    ) {
        let given = Given::new(&records, &Criteria::new(asked), true);
        prop_assume!(given.k() <= given.counts.n_people());
        for method in Method::KEEPING_L {
            check(&given, method, CellStyle::ALL[style])?;
        }
    }

    /// With records left out: no more of them than may be, everything is kept, and no more is lost, them included.
    #[test]
    fn leaving_records_out_never_loses_more(
        records in tables(40), asked in vec(criteria(), 0..3), k in 1..5u64, n_max in 1..6u64, of_people: bool,
        style in prop::sample::select(vec![CellStyle::Ranges, CellStyle::Sets]),
    ) {
        let given = Given::new(&records, &Criteria::new(asked).with(Criterion::k(k)), of_people);
        let crowd = if of_people { given.counts.n_people() } else { given.counts.n_records() };
        prop_assume!(k <= crowd);
        for method in Method::KEEPING_L {
            let judged = |n_max: u64| {
                let found = given.partition_without(method, style, n_max).expect("there are k records");
                let recoding = found.recode(&given.made_of, &given.hierarchies, style);
                let n_out: u64 = found.suppressed().iter().map(|part| part.n_records).sum();
                assert_eq!(n_out, recoding.n_suppressed());
                let n_all: u64 = (0..given.made_of.n_groups()).flat_map(|base| recoding.shares(base)).map(|share| share.n_records).sum();
                assert_eq!(n_all, records.len() as u64, "every record is somewhere");
                judge(&given.made_of, &given.hierarchies, &[1.0, 1.0], &given.yardstick, &recoding).expect("it fits")
            };
            let (all, less) = (judged(0), judged(n_max));
            prop_assert!(less.n_suppressed <= n_max);
            prop_assert!(less.holds(&given.criteria) || less.n_groups == 1, "{method:?} {:?}", given.criteria);
            prop_assert!(less.ncp <= all.ncp + 1e-6, "{method:?} {} {}", less.ncp, all.ncp);
            prop_assert_eq!(all.n_suppressed, 0);
        }
    }

    /// Two groups that keep a criterion keep it together: the measure of the union is no worse than that of the worse.
    #[test]
    fn what_two_groups_keep_they_keep_together(
        table in tables(40), cut in 0..40usize, end in 0..40usize, criterion in criteria(),
    ) {
        let (cut, end) = (cut.min(table.len()), end.min(table.len()));
        prop_assume!(0 < cut && cut < end);
        let given = Given::new(&table, &Criteria::new([criterion]), false);
        let (one, other, both) = (&table[..cut], &table[cut..end], &table[..end]);
        let value = |records: &[Record]| given.measured(records, criterion.measure);
        match criterion.measure.is_at_least() {
            true => prop_assert!(value(both) >= value(one).min(value(other)), "{criterion:?}"),
            false => prop_assert!(value(both) <= value(one).max(value(other)), "{criterion:?}"),
        }
        prop_assert!(given.keeps(both) || !given.keeps(one) || !given.keeps(other));
    }
}

/// Where classes come to the same cells, their group has the very records that were looked at, although equal records of
/// one person with different values are in several classes.
#[test]
fn groups_have_the_records_that_were_looked_at() {
    let records: [Record; 9] = [
        [0, 1, 0, 0, 0],
        [5, 0, 0, 3, 0],
        [3, 3, 0, 2, 1],
        [0, 3, 0, 0, 0],
        [5, 1, 0, 0, 2],
        [6, 1, 0, 0, 3],
        [3, 1, 0, 1, 1],
        [0, 2, 0, 1, 0],
        [5, 1, 0, 3, 2],
    ];
    let entropy = Criterion { measure: Measure::Entropy(1), value: 1_100_000 };
    let given = Given::new(&records, &Criteria::new([Criterion::k(2), entropy]), true);
    for method in Method::KEEPING_L {
        check(&given, method, CellStyle::Rounded).expect("every group keeps everything");
    }
}

// ---- Beside all partitions ----

/// All ways to put the first n records into groups, each as the number of every record's group.
pub(crate) fn all_partitions(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|groups: Vec<usize>| {
                let n_groups = groups.iter().max().map_or(0, |most| most + 1);
                (0..=n_groups).map(move |group| [&groups[..], &[group]].concat())
            })
            .collect();
    }
    all
}

/// What the records of a group lose together: the ranges of both attributes.
pub(crate) fn loss(records: &[Record], table: &[Record]) -> f64 {
    let range = |records: &[Record], a: usize| {
        let values: BTreeSet<u8> = records.iter().map(|record| record[a]).collect();
        f64::from(values.last().expect("a record") - values.first().expect("a record"))
    };
    let of_attribute = |a: usize| match range(table, a) {
        0.0 => 0.0,
        whole => range(records, a) / whole,
    };
    records.len() as f64 * (of_attribute(0) + of_attribute(1)) / 2.0
}

/// That no partition keeps the criteria is said where that is so, and nowhere else; and how far from the best one is.
#[test]
fn beside_all_partitions() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let (mut n_possible, mut n_impossible) = (0, 0);
    let partitions: Vec<Vec<Vec<usize>>> = (0..8).map(all_partitions).collect();
    for _ in 0..300 {
        let records = tables(8).new_tree(&mut runner).expect("a table").current();
        let asked = vec(criteria(), 1..3).new_tree(&mut runner).expect("criteria").current();
        let given = Given::new(&records, &Criteria::new(asked), false);
        if given.k() > records.len() as u64 {
            continue;
        }
        let loss_of = |groups: &Vec<usize>| {
            let n_groups = groups.iter().max().map_or(0, |most| most + 1);
            let mut total = 0.0;
            for group in 0..n_groups {
                let of_group: Vec<Record> =
                    records.iter().zip(groups).filter(|(_, of)| **of == group).map(|(record, _)| *record).collect();
                if !given.keeps(&of_group) {
                    return None;
                }
                total += loss(&of_group, &records);
            }
            Some(total)
        };
        let best = partitions[records.len()].iter().filter_map(loss_of).min_by(f64::total_cmp);
        for method in Method::KEEPING_L {
            let found = given.partition(method, CellStyle::Ranges).expect("k records");
            let recoding = found.recode(&given.made_of, &given.hierarchies, CellStyle::Ranges);
            let judged =
                judge(&given.made_of, &given.hierarchies, &[1.0, 1.0], &given.yardstick, &recoding).expect("it fits");
            assert_eq!(judged.holds(&given.criteria), best.is_some(), "{method:?} {:?} {records:?}", given.criteria);
            let Some(best) = best else { continue };
            let lost = judged.ncp * records.len() as f64;
            assert!(lost >= best - 1e-6, "{method:?}: nothing is better than the best, {lost} {best}");
            let sum = sums.entry(method.name()).or_default();
            *sum = (sum.0 + lost, sum.1 + best);
        }
        if best.is_some() { n_possible += 1 } else { n_impossible += 1 }
    }
    assert!(n_possible > 50 && n_impossible > 20, "{n_possible} {n_impossible}");
    for (method, (lost, best)) in sums {
        println!("{method}: {:.3} times the least loss", lost / best);
    }
}
