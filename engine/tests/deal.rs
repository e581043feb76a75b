//! Stack & Deal: its laws on any table, the paper's example, and what an attacker finds on the paper's tables.

use crate::common;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use common::random::{chance, larger_tables};
use common::{Cell, Table, batch, counts_of, records};
use incrowd::attack::{self, Group, Linkable, Linkage, Meaning, homogeneity, link, similarity, skewness};
use incrowd::judge::judge;
use incrowd::recode::deal::{self, Arrange};
use incrowd::recode::partition::{CellStyle, Partition};
use incrowd::task::Task;
use incrowd::verify::{SuppressedAs, Verifier};
use incrowd::{Distance, ErrorKind, GroupCounts, Hierarchy, Missing, Rule, Yardstick};
use proptest::prelude::*;

const NEAR: Arrange = Arrange::Near { n_tries: 20 };

fn deal(counts: &GroupCounts, k: u64, arrange: Arrange, seed: u64) -> Partition {
    let hierarchies = flat(counts);
    let weights = vec![1.0; hierarchies.len()];
    deal::partition(counts, &hierarchies, &weights, k, arrange, seed, &Task::default()).expect("it can be dealt")
}

fn flat(counts: &GroupCounts) -> Vec<Hierarchy> {
    counts.domains().iter().map(|domain| Rule::Flat.resolve(domain).expect("any values")).collect()
}

fn loss(counts: &GroupCounts, partition: &Partition) -> f64 {
    let hierarchies = flat(counts);
    let yardstick =
        Yardstick::new(counts, &vec![(Distance::Equal, None); counts.sensitive().len()], []).expect("sizes");
    let recoding = partition.recode(counts, &hierarchies, CellStyle::Ranges);
    judge(counts, &hierarchies, &vec![1.0; hierarchies.len()], &yardstick, &recoding).expect("weights").ncp
}

/// For every class, how many records it has of each value of a sensitive attribute: the definition, record by record.
fn hands(counts: &GroupCounts, partition: &Partition, sensitive: usize) -> Vec<BTreeMap<u32, u64>> {
    let hand = |parts: &[incrowd::recode::partition::Part]| {
        let mut hand = BTreeMap::new();
        for part in parts {
            let cell = part.value.expect("dealt by cell").index();
            let (codes, _) = counts.cells(part.base as usize).nth(cell).expect("a cell of the group");
            *hand.entry(codes[sensitive].0).or_default() += part.n_records;
        }
        hand
    };
    partition.classes().map(hand).collect()
}

/// The laws of the dealing.
fn assert_dealt(counts: &GroupCounts, partition: &Partition, k: u64) {
    let n_classes = counts.n_records() / k;
    assert_eq!(partition.n_classes() as u64, n_classes);
    let sizes: Vec<u64> = partition.sizes().collect();
    let (least, most) = (sizes.iter().min().expect("a class"), sizes.iter().max().expect("a class"));
    assert!(*least >= k && most - least <= 1, "sizes {sizes:?} for k = {k}");
    let hands = hands(counts, partition, 0);
    for value in 0..counts.sensitive()[0].len() as u32 {
        let of_class: Vec<u64> = hands.iter().map(|hand| hand.get(&value).copied().unwrap_or(0)).collect();
        let (least, most) = (of_class.iter().min().expect("a class"), of_class.iter().max().expect("a class"));
        assert!(most - least <= 1, "value {value}: {of_class:?}");
    }
    assert_eq!(deal::differences(counts, partition).0[0].max(1), 1);
    // Every record is in exactly one class.
    let mut there: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for part in partition.classes().flatten() {
        *there.entry((part.base, part.value.expect("dealt by cell").0)).or_default() += part.n_records;
    }
    for base in 0..counts.n_groups() {
        for (cell, (_, n)) in (0..).zip(counts.cells(base)) {
            assert_eq!(there.remove(&(base as u32, cell)), Some(n));
        }
    }
    assert!(there.is_empty());
}

fn has_records(table: &Table) -> bool {
    table.counts().n_records() >= 2 && !table.sensitive.is_empty()
}

proptest! {
    #![proptest_config(chance(60))]

    #[test]
    fn every_dealing_keeps_the_laws(table in larger_tables().prop_filter("records", has_records), k in 1u64..9, seed in 0u64..4) {
        let counts = table.counts();
        let k = k.min(counts.n_records());
        for arrange in [Arrange::Plain, Arrange::Near { n_tries: 0 }, NEAR] {
            let partition = deal(&counts, k, arrange, seed);
            assert_dealt(&counts, &partition, k);
            prop_assert_eq!(&partition, &deal(&counts, k, arrange, seed), "the same seed gives the same");
        }
        // Which records a class gets changes nothing about how many of each value it gets.
        let mut plain = hands(&counts, &deal(&counts, k, Arrange::Plain, seed), 0);
        let mut near = hands(&counts, &deal(&counts, k, NEAR, seed), 0);
        plain.sort();
        near.sort();
        prop_assert_eq!(plain, near);
    }

    #[test]
    fn exchanges_never_lose_more(table in larger_tables().prop_filter("records", has_records), k in 1u64..9) {
        let counts = table.counts();
        let k = k.min(counts.n_records());
        let losses: Vec<f64> = [0, 1, 5, 40]
            .map(|n_tries| loss(&counts, &deal(&counts, k, Arrange::Near { n_tries }, 1)))
            .to_vec();
        prop_assert!(losses.windows(2).all(|pair| pair[1] <= pair[0] + 1e-6), "{losses:?}");
    }

    #[test]
    fn two_attributes_and_their_pairs_are_dealt_evenly(
        values in prop::collection::vec((0u8..30, 0u8..4, 0u8..5, 0u8..6), 2..150),
        k in 1u64..12,
        is_skewed: bool,
    ) {
        // Skewed values are often the first.
        let value = |n: u8| if is_skewed { n.saturating_sub(2) } else { n };
        let rows: Vec<[u8; 4]> = values.iter().map(|&(a, b, s, t)| [a, b, value(s), value(t)]).collect();
        let counts = counts_of(&["a", "b"], &["s", "t"], &Missing::default(), &texts(&rows));
        let k = k.min(counts.n_records());
        for arrange in [Arrange::Plain, Arrange::Near { n_tries: 0 }, NEAR] {
            let partition = deal(&counts, k, arrange, 3);
            assert_dealt(&counts, &partition, k);
            assert_even_in_two(&counts, &partition);
        }
    }

    /// Of three, the first two and their pairs are even.
    #[test]
    fn of_three_attributes_two_and_their_pairs_are_dealt_evenly(
        values in prop::collection::vec((0u8..9, 0u8..3, 0u8..3, 0u8..3), 2..90),
        k in 1u64..7,
    ) {
        let rows: Vec<[u8; 4]> = values.iter().map(|&(a, s, t, u)| [a, s, t, u]).collect();
        let counts = counts_of(&["a"], &["s", "t", "u"], &Missing::default(), &texts(&rows));
        let k = k.min(counts.n_records());
        let partition = deal(&counts, k, NEAR, 3);
        assert_dealt(&counts, &partition, k);
        assert_even_in_two(&counts, &partition);
        let of_third = naive_difference(&counts, &partition, |codes| codes[2..].to_vec());
        prop_assert_eq!(deal::differences(&counts, &partition).0[2], of_third);
    }
}

fn texts<const N: usize>(rows: &[[u8; N]]) -> Vec<Vec<Cell>> {
    rows.iter().map(|row| row.iter().map(|value| Some(value.to_string())).collect()).collect()
}

/// By how much classes differ at most in how often they have what is looked at of a record's sensitive values: record by
/// record.
fn naive_difference<K: Ord>(
    counts: &GroupCounts,
    partition: &Partition,
    look: impl Fn(&[incrowd::table::Code]) -> K,
) -> u64 {
    let mut found: BTreeMap<K, Vec<u64>> = BTreeMap::new();
    for (class, parts) in partition.classes().enumerate() {
        for part in parts {
            let cell = part.value.expect("dealt by cell").index();
            let (codes, _) = counts.cells(part.base as usize).nth(cell).expect("a cell of the group");
            found.entry(look(codes)).or_insert_with(|| vec![0; partition.n_classes()])[class] += part.n_records;
        }
    }
    let difference =
        |of_class: &Vec<u64>| of_class.iter().max().expect("a class") - of_class.iter().min().expect("a class");
    found.values().map(difference).max().unwrap_or(0)
}

#[track_caller]
fn assert_even_in_two(counts: &GroupCounts, partition: &Partition) {
    let of_attribute = |s: usize| naive_difference(counts, partition, move |codes| codes[s]);
    let of_pairs = naive_difference(counts, partition, |codes| codes[..2].to_vec());
    let found = [of_attribute(0), of_attribute(1), of_pairs];
    assert!(found.iter().all(|differ| *differ <= 1), "first, second, pairs: {found:?}");
    if counts.sensitive().len() == 2 {
        assert_eq!(deal::differences(counts, partition), (vec![found[0], found[1]], found[2]));
    }
}

/// Every table of two sensitive attributes with up to three and two values, and every k.
#[test]
fn every_small_table_of_two_attributes_is_dealt_evenly() {
    let mut n_tables = 0;
    for code in 0..3u32.pow(6) {
        // How often each of six pairs of values occurs: never, once or three times.
        let times = |pair: u32| [0, 1, 3][(code / 3u32.pow(pair) % 3) as usize];
        let pairs = (0..6).flat_map(|pair| (0..times(pair)).map(move |i| [i, (pair / 2) as u8, (pair % 2) as u8]));
        let rows: Vec<[u8; 3]> = pairs.collect();
        if rows.len() < 2 {
            continue;
        }
        let counts = counts_of(&["a"], &["s", "t"], &Missing::default(), &texts(&rows));
        for k in 1..=counts.n_records() {
            let partition = deal(&counts, k, Arrange::Plain, 1);
            assert_dealt(&counts, &partition, k);
            assert_even_in_two(&counts, &partition);
            n_tables += 1;
        }
    }
    assert!(n_tables > 4_000, "{n_tables}");
}

/// With three attributes an even dealing need not exist: of these four records, any two agree in one attribute.
#[test]
fn three_attributes_cannot_always_be_dealt_evenly() {
    let records: [[u8; 3]; 4] = [[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]];
    for pairs in [[[0, 1], [2, 3]], [[0, 2], [1, 3]], [[0, 3], [1, 2]]] {
        let agree = |[i, j]: [usize; 2]| (0..3).any(|s| records[i][s] == records[j][s]);
        assert!(pairs.into_iter().all(agree), "two of the same value in one class, none in the other");
    }
    let rows: Vec<[u8; 4]> = (0..).zip(records).map(|(i, [s, t, u])| [i, s, t, u]).collect();
    let counts = counts_of(&["a"], &["s", "t", "u"], &Missing::default(), &texts(&rows));
    let partition = deal(&counts, 2, Arrange::Plain, 1);
    assert_even_in_two(&counts, &partition);
    assert_eq!(deal::differences(&counts, &partition).0, [0, 0, 2]);
}

/// As many records of each of six values as in the paper, with one quasi-identifier that says nothing.
fn of_the_paper() -> GroupCounts {
    let frequencies = [167, 153, 127, 103, 91, 89];
    let record = |value: usize, i: usize| vec![Some((i % 50).to_string()), Some(format!("S{value}"))];
    let rows: Vec<Vec<Cell>> =
        frequencies.iter().enumerate().flat_map(|(value, &n)| (0..n).map(move |i| record(value, i))).collect();
    counts_of(&["age"], &["disease"], &Missing::default(), &rows)
}

#[test]
fn the_paper_s_example_reaches_all_six_values_at_nine() {
    let counts = of_the_paper();
    assert_eq!(counts.n_records(), 730);
    let diversity = |k: u64| hands(&counts, &deal(&counts, k, Arrange::Plain, 1), 0).iter().map(BTreeMap::len).min();
    assert_eq!(diversity(9), Some(6));
    assert!((2..9).all(|k| diversity(k) < Some(6)), "nine is the first");
    let all: Vec<Option<usize>> = (2..22).map(diversity).collect();
    assert!(all.windows(2).all(|pair| pair[0] <= pair[1]), "{all:?}");
}

#[test]
fn a_value_of_more_than_half_is_dealt_like_any_other() {
    let rows: Vec<Vec<Cell>> =
        (0..20).map(|i| vec![Some(i.to_string()), Some(if i < 15 { "flu" } else { "gout" }.to_string())]).collect();
    let counts = counts_of(&["age"], &["disease"], &Missing::default(), &rows);
    let partition = deal(&counts, 3, NEAR, 1);
    assert_dealt(&counts, &partition, 3);
    assert!(hands(&counts, &partition, 0).iter().any(|hand| hand.len() == 1), "some class cannot be diverse");
}

#[test]
fn progress_adds_up_to_all_records() {
    let counts = of_the_paper();
    let hierarchies = flat(&counts);
    for arrange in [Arrange::Plain, Arrange::Near { n_tries: 0 }, NEAR] {
        let done = std::sync::atomic::AtomicU64::new(0);
        let progress = |n: u64| {
            done.fetch_add(n, std::sync::atomic::Ordering::Relaxed);
        };
        let task = Task { progress: &progress, ..Task::default() };
        deal::partition(&counts, &hierarchies, &[1.0], 365, arrange, 1, &task).expect("two classes");
        assert_eq!(done.into_inner(), 730);
    }
}

#[test]
fn what_cannot_be_dealt_is_refused() {
    let counts = of_the_paper();
    let without = counts_of(&["age"], &[], &Missing::default(), &records(&[&[Some("1")], &[Some("2")]]));
    let error = |counts: &GroupCounts, k: u64| {
        let hierarchies = flat(counts);
        deal::partition(counts, &hierarchies, &[1.0], k, NEAR, 1, &Task::default()).expect_err("it cannot be dealt")
    };
    assert_eq!(error(&counts, 731).kind(), ErrorKind::Request);
    assert!(error(&counts, 731).to_string().contains("731"));
    assert!(error(&without, 2).to_string().contains("sensitive"));
    let stopped = Task { is_cancelled: &|| true, ..Task::default() };
    let hierarchies = flat(&counts);
    let cancelled = deal::partition(&counts, &hierarchies, &[1.0], 5, NEAR, 1, &stopped).expect_err("it was stopped");
    assert_eq!(cancelled.kind(), ErrorKind::Cancelled);
}

// ---- Attacks ----

fn groups_of(rows: &[[&str; 3]]) -> Vec<Group> {
    let cells: Vec<Vec<Cell>> =
        rows.iter().map(|row| row.iter().map(|cell| Some(cell.to_string())).collect()).collect();
    let names = ["zip", "age"].map(String::from);
    let mut verifier = Verifier::new(&names, &["disease".to_string()], SuppressedAs::Group);
    verifier.push(&batch(&["zip", "age", "disease"], &cells)).expect("three columns");
    attack::groups(&verifier)
}

/// Table 2 of the paper: 3-anonymous.
fn table_2() -> Vec<Group> {
    groups_of(&[
        ["476**", "2*", "Flu"],
        ["476**", "2*", "Flu"],
        ["476**", "2*", "Flu"],
        ["479**", "4*", "Cancer"],
        ["479**", "4*", "Ulcer"],
        ["479**", "4*", "Cold"],
        ["477**", "3*", "Cancer"],
        ["477**", "3*", "Pneumonia"],
        ["477**", "3*", "Bronchitis"],
    ])
}

/// Table 4 of the paper: 3-diverse.
fn table_4() -> Vec<Group> {
    groups_of(&[
        ["672**", "3*", "Gastric ulcer"],
        ["672**", "3*", "Gastritis"],
        ["672**", "3*", "Stomach cancer"],
        ["674**", "5*", "Gastritis"],
        ["674**", "5*", "Flu"],
        ["674**", "5*", "Bronchitis"],
        ["673**", "4*", "Bronchitis"],
        ["673**", "4*", "Pneumonia"],
        ["673**", "4*", "Stomach cancer"],
    ])
}

fn diseases() -> HashMap<Option<String>, Vec<String>> {
    let stomach = ["Gastric ulcer", "Gastritis", "Stomach cancer"];
    let lungs = ["Flu", "Bronchitis", "Pneumonia"];
    let label = |part: &str, name: &str| (Some(name.to_string()), vec![name.to_string(), part.to_string()]);
    stomach.iter().map(|name| label("stomach", name)).chain(lungs.iter().map(|name| label("lungs", name))).collect()
}

#[test]
fn homogeneity_is_found_in_table_2_and_nowhere_in_table_4() {
    let groups = table_2();
    let hit = homogeneity(&groups, 0);
    assert_eq!((hit.n_groups, hit.n_records), (1, 3));
    assert_eq!(groups[hit.groups[0]].cells[1].as_deref(), Some("2*"));
    assert_eq!(homogeneity(&table_4(), 0), attack::Hit::default());
}

#[test]
fn similarity_is_found_in_table_4_for_the_stomach_alone() {
    let groups = table_4();
    let hits = similarity(&groups, 0, &diseases());
    assert_eq!(hits.len(), 1);
    assert_eq!((hits[0].n_groups, hits[0].n_records), (1, 3));
    assert_eq!(groups[hits[0].groups[0]].cells[0].as_deref(), Some("672**"));
}

#[test]
fn skewness_says_how_much_likelier_a_value_became() {
    let found = skewness(&table_2(), 0);
    let most = found.most.expect("something became likelier");
    assert_eq!((most.value.as_deref(), most.prior, most.posterior), (Some("Flu"), 3.0 / 9.0, 1.0));
    assert_eq!(found.best_guess, 5.0 / 9.0);
    assert_eq!(found.best_guess_before, 3.0 / 9.0);
    assert_eq!(found.steepest.map(|gain| gain.posterior / gain.prior), Some(3.0));
}

fn linked(tables: &[&[Group]], people: &[[&str; 2]]) -> Linkage {
    let meanings = vec![Meaning::default(); 2];
    let known = [Some(0), Some(1)];
    let releases: Vec<Linkable> =
        tables.iter().map(|groups| Linkable { groups, meanings: &meanings, known: &known, people: None }).collect();
    let outside: Vec<(Vec<Option<String>>, u64)> =
        people.iter().map(|person| (person.iter().map(|cell| Some(cell.to_string())).collect(), 1)).collect();
    link(&releases, &outside, 1, &Task::default()).expect("nobody stops it").remove(0)
}

#[test]
fn bob_is_linked_to_the_flu() {
    let found = linked(&[&table_2()], &[["47677", "29"], ["47905", "43"], ["10115", "50"]]);
    let expected = Linkage { n_outside: 3, n_without: 1, n_one_group: 2, n_certain: 1, ..Linkage::default() };
    assert_eq!(found, expected);
}

/// Each release hides Bob among three; together they leave one disease.
#[test]
fn two_releases_together_tell_what_neither_does() {
    let first = groups_of(&[["476**", "2*", "Flu"], ["476**", "2*", "Cold"], ["476**", "2*", "Gout"]]);
    let second = groups_of(&[["47***", "2*", "Flu"], ["47***", "2*", "Ulcer"], ["47***", "2*", "Cancer"]]);
    let found = linked(&[&first, &second], &[["47677", "29"]]);
    assert_eq!((found.n_certain, found.n_certain_together, found.n_one_group), (1, 1, 1));
    assert_eq!(linked(&[&first], &[["47677", "29"]]).n_certain, 0);
}

/// The quick linking beside the definition: every person against every group.
#[test]
fn linking_is_what_comparing_everyone_with_every_group_gives() {
    let groups = table_4();
    let people: Vec<[String; 2]> =
        (0..60).map(|i| [format!("67{}{:02}", 2 + i % 4, i), (30 + (i * 7) % 40).to_string()]).collect();
    let people: Vec<[&str; 2]> = people.iter().map(|[zip, age]| [zip.as_str(), age.as_str()]).collect();
    let found = linked(&[&groups], &people);
    let meaning = Meaning::default();
    let mut naive = Linkage::default();
    for person in &people {
        let allows = |group: &&Group| {
            group.cells.iter().zip(person).all(|(cell, value)| meaning.allows(cell, &Some(value.to_string())))
        };
        let hits: Vec<&Group> = groups.iter().filter(allows).collect();
        let values: BTreeSet<_> = hits.iter().flat_map(|group| group.values[0].keys()).collect();
        naive.n_outside += 1;
        naive.n_without += u64::from(hits.is_empty());
        naive.n_one_group += u64::from(hits.len() == 1);
        naive.n_several_groups += u64::from(hits.len() > 1);
        naive.n_one_record += u64::from(hits.iter().map(|group| group.size).sum::<u64>() == 1);
        naive.n_certain += u64::from(values.len() == 1);
    }
    assert_eq!(found, naive);
    assert!(naive.n_without > 0 && naive.n_one_group > 0);
}
