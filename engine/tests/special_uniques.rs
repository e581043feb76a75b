//! Special uniques: the search beside the definition, on random tables.

use incrowd::risk::special_uniques::{ShownGroup, special_uniques};
use incrowd::task::Task;
use incrowd::{ErrorKind, Result};
use proptest::collection::vec;
use proptest::prelude::*;

fn grouped(table: &[Vec<u32>]) -> Vec<ShownGroup> {
    let mut cells: Vec<Vec<u32>> = table.to_vec();
    cells.sort();
    cells.dedup();
    let size = |wanted: &Vec<u32>| table.iter().filter(|record| *record == wanted).count() as u64;
    cells.into_iter().map(|cells| (cells.clone(), size(&cells))).collect()
}

/// How many records look like this one on a set of attributes.
fn n_alike(table: &[Vec<u32>], record: &[u32], set: u64) -> usize {
    let is_alike = |other: &&Vec<u32>| (0..record.len()).all(|a| set >> a & 1 == 0 || other[a] == record[a]);
    table.iter().filter(is_alike).count()
}

/// The definition: every set on which the record is alone, and on no non-empty part of which it is.
fn minimal_sets(table: &[Vec<u32>], record: &[u32], size_max: usize) -> Vec<u64> {
    let is_alone = |set: &u64| n_alike(table, record, *set) == 1;
    let alone: Vec<u64> = (1..1_u64 << record.len()).filter(is_alone).collect();
    let is_minimal = |set: &u64| !alone.iter().any(|part| part != set && part & set == *part);
    alone.iter().copied().filter(is_minimal).filter(|set| set.count_ones() as usize <= size_max).collect()
}

fn check(table: &[Vec<u32>], size_max: usize) -> std::result::Result<(), TestCaseError> {
    let n_attributes = table[0].len();
    let rows = grouped(table);
    let found = special_uniques(&rows, n_attributes, Some(size_max), 0.1, &Task::default()).expect("found");
    let size_max = size_max.min(n_attributes);
    let weight =
        |set: &u64| -> f64 { (set.count_ones() as usize..size_max).map(|j| (n_attributes - j) as f64).product() };
    let mut all = 0.0;
    let mut of_attributes = vec![0.0; n_attributes];
    for ((cells, _), unique) in rows.iter().zip(&found.uniques) {
        let mut wanted = minimal_sets(table, cells, size_max);
        let mut sets = unique.as_ref().map_or_else(Vec::new, |unique| unique.minimal_sets.clone());
        sets.sort_unstable();
        wanted.sort_unstable();
        prop_assert_eq!(&sets, &wanted, "{:?}", cells);
        let score: f64 = wanted.iter().map(weight).sum();
        prop_assert_eq!(unique.as_ref().map_or(0.0, |unique| unique.score), score);
        all += score;
        for (a, sum) in of_attributes.iter_mut().enumerate() {
            *sum += wanted.iter().filter(|set| *set >> a & 1 == 1).map(weight).sum::<f64>();
        }
    }
    for (share, sum) in found.shares.iter().zip(of_attributes) {
        let percent = if all > 0.0 { 100.0 * sum / all } else { 0.0 };
        prop_assert!((share.percent - percent).abs() < 1e-9);
        let of_values: f64 = share.of_values.iter().map(|(_, percent)| percent).sum();
        prop_assert!(share.of_values.is_empty() || (of_values - 100.0).abs() < 1e-9);
    }
    Ok(())
}

fn tables() -> impl Strategy<Value = Vec<Vec<u32>>> {
    (1..7_usize, 1..6_u32).prop_flat_map(|(n_attributes, n_values)| vec(vec(0..n_values, n_attributes), 1..40))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn all_minimal_sets_and_no_others(table in tables(), size_max in 1..8_usize) {
        check(&table, size_max)?;
    }

    /// Neither the order of attributes nor that of rows changes what is found.
    #[test]
    fn the_order_of_attributes_is_nothing(table in tables()) {
        let turned: Vec<Vec<u32>> = table.iter().map(|record| record.iter().rev().copied().collect()).collect();
        let n = table[0].len();
        let scores = |table: &[Vec<u32>]| {
            let found = special_uniques(&grouped(table), n, None, 0.1, &Task::default()).expect("found");
            let mut scores: Vec<u64> = found.uniques.iter().flatten().map(|unique| unique.score as u64).collect();
            scores.sort_unstable();
            scores
        };
        prop_assert_eq!(scores(&table), scores(&turned));
    }
}

/// Every table of up to four records with three attributes of two values.
#[test]
fn every_tiny_table() {
    let record = |number: u32| (0..3).map(|a| number >> a & 1).collect::<Vec<u32>>();
    for n_records in 1..=4_u32 {
        for number in 0..8_u32.pow(n_records) {
            let table: Vec<Vec<u32>> = (0..n_records).map(|i| record(number / 8_u32.pow(i) % 8)).collect();
            check(&table, 3).expect("as defined");
        }
    }
}

#[test]
fn it_ends_where_nobody_wants_it() {
    let rows: Vec<ShownGroup> = (0..2000_u32).map(|i| ((0..24).map(|a| (i * (a + 7) / 3) % 5).collect(), 1)).collect();
    let n_asked = std::sync::atomic::AtomicU64::new(0);
    let is_cancelled = || n_asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 20;
    let task = Task { is_cancelled: &is_cancelled, ..Task::default() };
    let ended: Result<_> = special_uniques(&rows, 24, None, 0.1, &task);
    assert_eq!(ended.expect_err("stopped").kind(), ErrorKind::Cancelled);
}
