//! Records come and go: the counts are those of the table that results.

use crate::common;

use common::random::{Dice, any_mixed_tables, chance, larger_tables, small_tables};
use common::*;
use incrowd::lattice::update::updated;
use incrowd::task::Task;
use incrowd::{GroupCounts, Lattice, Missing, annotate};
use proptest::prelude::*;

/// A part of a table, none where it has no record.
fn part(table: &Table, records: Vec<Vec<Cell>>) -> Option<GroupCounts> {
    let counts = Table { records, ..table.clone() }.counts();
    (counts.n_records() > 0).then_some(counts)
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn counts_follow_the_records(table in any_mixed_tables(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let (some, others): (Vec<_>, Vec<_>) = table.records.iter().cloned().partition(|_| dice.roll(3) > 0);
        let whole = table.counts();
        if let (Some(some), Some(others)) = (part(&table, some), part(&table, others)) {
            prop_assert_eq!(&some.with_records(&others).expect("the same attributes"), &whole);
            prop_assert_eq!(&others.with_records(&some).expect("the same attributes"), &whole);
            prop_assert_eq!(&whole.without_records(&others).expect("they are there"), &some);
            prop_assert_eq!(&whole.without_records(&some).expect("they are there"), &others);
            let twice = others.with_records(&others).expect("the same attributes");
            prop_assert!(others.without_records(&twice).is_err(), "what is not there cannot go");
        }
        prop_assert!(whole.without_records(&whole).is_err(), "nobody would be left");
    }
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn a_sample_has_records_of_the_table(table in any_mixed_tables(), seed in any::<u64>()) {
        let whole = table.counts();
        for n in 1..whole.n_records() {
            let sample = whole.sampled(n, seed);
            prop_assert_eq!(sample.n_records(), n);
            prop_assert_eq!(&sample, &whole.sampled(n, seed));
            let rest = whole.without_records(&sample).expect("they are there");
            prop_assert_eq!(&rest.with_records(&sample).expect("the same attributes"), &whole);
        }
        prop_assert_eq!(&whole.sampled(whole.n_records(), seed), &whole);
    }
}

/// Each record is as likely in a sample as any other.
#[test]
fn a_sample_prefers_nobody() {
    let records: Vec<Vec<Cell>> = ["1", "2", "3", "4", "5", "5"].map(|value| vec![Some(value.to_string())]).to_vec();
    let whole = counts_of(&["a"], &[], &Missing::default(), &records);
    let mut n_by_value = [0; 5];
    for seed in 0..6_000 {
        let sample = whole.sampled(2, seed);
        for group in 0..sample.n_groups() {
            let value = &sample.domains()[0].values()[sample.codes(group)[0].index()];
            n_by_value[value.parse::<usize>().expect("a number") - 1] += sample.size(group);
        }
    }
    // Each is in a third of the samples; five standard deviations are 183.
    for (n, expected) in n_by_value.into_iter().zip([2_000_u64, 2_000, 2_000, 2_000, 4_000]) {
        assert!(n.abs_diff(expected) < 260, "{n_by_value:?}");
    }
}

/// Everything that a lattice says, whatever the way it was made.
fn said(lattice: &Lattice) -> impl PartialEq + std::fmt::Debug {
    let profiles: Vec<_> = (0..lattice.schemes().len()).map(|place| lattice.profile(place).clone()).collect();
    let known = |&measure| lattice.known_suppression(measure).map(|(v, n)| (v, n.to_vec())).collect::<Vec<_>>();
    let grids: Vec<Vec<(u64, Vec<u64>)>> = lattice.measures().iter().map(known).collect();
    (lattice.signatures().clone(), profiles, grids, (lattice.n_records(), lattice.n_dropped()))
}

/// Changes some records of a table; says whether the lattice could follow.
fn check_following(table: &Table, dice: &mut Dice) -> bool {
    let made = table.make();
    let mut changed = table.clone();
    for _ in 0..1 + dice.roll(3) {
        let record = changed.records[dice.roll(changed.records.len())].clone();
        match dice.roll(3) {
            0 if changed.records.len() > 1 => {
                let at = dice.roll(changed.records.len());
                changed.records.remove(at);
            }
            1 => {
                // A combination that was not there, of values that were.
                let mut record = record;
                let other = &changed.records[dice.roll(changed.records.len())];
                let a = dice.roll(record.len());
                record[a] = other[a].clone();
                changed.records.push(record);
            }
            _ => changed.records.push(record),
        }
    }
    let counts = changed.counts();
    if counts.n_records() == 0 || counts.domains() != made.counts.domains() {
        return false;
    }
    let yardstick = changed.yardstick(&counts);
    let plan = incrowd::Plan { yardstick: &yardstick, ..made.plan() };
    let fresh = annotate(&counts, &made.hierarchies, &plan, &Task::default()).expect("it is small");
    let followed = updated(&made.lattice, &made.counts, &counts, &plan, &Task::default()).expect("it is small");
    if let Some(followed) = &followed {
        assert_eq!(said(followed), said(&fresh));
    }
    followed.is_some()
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn a_small_lattice_follows_its_records(table in small_tables(), seed in any::<u64>()) {
        check_following(&table, &mut Dice(seed));
    }

    #[test]
    fn a_small_lattice_with_any_measures_follows_its_records(table in any_mixed_tables(), seed in any::<u64>()) {
        check_following(&table, &mut Dice(seed));
    }
}

/// Small tables change too much to be followed as a rule; larger ones are followed.
#[test]
fn larger_lattices_follow_their_records() {
    use proptest::strategy::{Strategy, ValueTree};
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut n_followed = 0;
    for seed in 0..40 {
        let table = larger_tables().new_tree(&mut runner).expect("a table").current();
        n_followed += usize::from(check_following(&table, &mut Dice(seed)));
    }
    assert!(n_followed >= 10, "only {n_followed} of 40 were followed");
}
