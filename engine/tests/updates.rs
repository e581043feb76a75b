//! Records come and go: the counts are those of the table that results.

mod common;

use common::random::{Dice, any_mixed_tables, chance};
use common::*;
use incrowd::GroupCounts;
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
