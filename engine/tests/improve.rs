//! Improving classes keeps everything and never loses more, whatever the number of threads; and how near the best it comes.

use std::collections::BTreeMap;

use incrowd::recode::keep;
use incrowd::recode::partition::{CellStyle, Partition};
use incrowd::task::Task;
use incrowd::{Criteria, Criterion, Method};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::keep::{Given, Record, all_partitions, criteria, loss, tables};

fn improved(given: &Given, found: &Partition, style: CellStyle, n_steps: u64, task: &Task) -> (Partition, u64) {
    let wanted = given.wanted(style, 0);
    keep::improved(found.clone(), &given.assignment(), &wanted, n_steps, task).expect("nobody stops it")
}

/// How many records of each group of the counts are in classes, and left out.
fn records_of(given: &Given, found: &Partition) -> Vec<(u64, u64)> {
    let mut n = vec![(0, 0); given.made_of.n_groups()];
    found.classes().flatten().for_each(|part| n[part.base as usize].0 += part.n_records);
    found.suppressed().iter().for_each(|part| n[part.base as usize].1 += part.n_records);
    n
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn everything_is_kept_and_no_more_is_lost(
        records in tables(40), asked in vec(criteria(), 0..3), k in 1..5u64, n_out in 0..3u64, of_people: bool,
        style in prop::sample::select(vec![CellStyle::Ranges, CellStyle::Sets]), n_steps in 1..200u64,
    ) {
        let given = Given::new(&records, &Criteria::new(asked).with(Criterion::k(k)), of_people);
        let crowd = if of_people { given.counts.n_people() } else { given.counts.n_records() };
        prop_assume!(k <= crowd);
        for method in Method::KEEPING_L {
            let found = given.partition_without(method, style, n_out).expect("there are k records");
            let (better, n_done) = improved(&given, &found, style, n_steps, &Task::default());
            prop_assert!(n_done <= n_steps);
            prop_assert_eq!(records_of(&given, &better), records_of(&given, &found));
            let (before, after) = (given.judged(&found, style), given.judged(&better, style));
            prop_assert!(after.holds(&given.criteria) || after.n_groups == 1, "{method:?} {:?}", given.criteria);
            prop_assert!(after.holds(&given.criteria) || !before.holds(&given.criteria));
            prop_assert!(after.ncp <= before.ncp + 1e-6, "{method:?} {} {}", after.ncp, before.ncp);
        }
    }

    /// The number of steps decides, not the number of threads nor what ended it.
    #[test]
    fn steps_decide_and_nothing_else(records in tables(60), k in 2..4u64, n_asked in 1..20u64) {
        let given = Given::new(&records, &Criteria::new([Criterion::k(k)]), false);
        prop_assume!(k <= records.len() as u64);
        let found = given.partition(Method::Mondrian, CellStyle::Ranges).expect("there are k records");
        let on_threads = |n_threads: usize, n_steps: u64, task: &Task| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
            pool.install(|| improved(&given, &found, CellStyle::Ranges, n_steps, task))
        };
        let is_enough = |progress: &incrowd::task::SearchProgress| progress.n_evaluated >= n_asked;
        let (ended, n_done) = on_threads(3, u64::MAX, &Task { is_enough: &is_enough, ..Task::default() });
        prop_assert_eq!(on_threads(1, n_done, &Task::default()), (ended, n_done));
    }
}

/// Nine records, k from 2 to 4: the least that any partition loses beside what methods lose, before and after.
#[test]
fn how_far_from_the_best() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let partitions = all_partitions(9);
    let mut sums: BTreeMap<&str, [f64; 3]> = BTreeMap::new();
    for i in 0..60u64 {
        let record = (0..30u8, 0..30u8).prop_map(|(x, y)| [x, y, 0, 0, 0]);
        let records: Vec<Record> = vec(record, 9).new_tree(&mut runner).expect("a table").current();
        let k = 2 + i % 3;
        let given = Given::new(&records, &Criteria::new([Criterion::k(k)]), false);
        // What every set of records loses, by the bits of their numbers.
        let of_set: Vec<f64> = (0..512usize)
            .map(|set| {
                let of_set: Vec<Record> = (0..9).filter(|i| (set >> i) & 1 == 1).map(|i| records[i]).collect();
                if (of_set.len() as u64) < k { f64::INFINITY } else { loss(&of_set, &records) }
            })
            .collect();
        let lost = |groups: &Vec<usize>| {
            let mut sets = [0; 9];
            groups.iter().enumerate().for_each(|(i, &group)| sets[group] |= 1 << i);
            sets.into_iter().filter(|&set| set > 0).map(|set| of_set[set]).sum::<f64>()
        };
        let best = partitions.iter().map(lost).min_by(f64::total_cmp).expect("all records together");
        for method in Method::KEEPING_L {
            let found = given.partition(method, CellStyle::Ranges).expect("k records");
            let (better, _) = improved(&given, &found, CellStyle::Ranges, u64::MAX, &Task::default());
            let [before, after] = [&found, &better].map(|found| given.judged(found, CellStyle::Ranges).ncp * 9.0);
            assert!(best - 1e-6 <= after && after <= before + 1e-6, "{method:?} {best} {after} {before}");
            let sum = sums.entry(method.name()).or_default();
            [best, before, after].into_iter().enumerate().for_each(|(i, n)| sum[i] += n);
        }
    }
    for (method, [best, before, after]) in sums {
        println!("{method}: {:.3} times the least loss, and {:.3} times improved", before / best, after / best);
        assert!(after / best < 1.01, "{method}");
    }
}
