//! Laws: what must be so whatever the table, the order of its records, its parts or the number of threads.

use crate::common;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, Date32Array, DictionaryArray, Int64Array, RecordBatch, StringViewArray, UInt8Array};
use common::random::{asked, chance, larger_tables, small_tables};
use common::*;
use incrowd::criterion::Measured;
use incrowd::hierarchy::{DateUnit, LabelTable, Side};
use incrowd::table::Code;
use incrowd::task::Task;
use incrowd::verify::{Outside, SuppressedAs, Texts};
use incrowd::{Counter, Criteria, Domain, GroupCounts, Hierarchy, Lattice, Missing, Rule, Verifier, annotate};
use proptest::collection::vec;
use proptest::prelude::*;

// ---- Counting ----

/// Every combination of values with its records, and how many of them have each sensitive value.
type Counted = BTreeMap<Vec<Cell>, (u64, BTreeMap<Cell, u64>)>;

fn as_texts(counts: &GroupCounts) -> Counted {
    let text =
        |domain: &Domain, code: Code| (domain.missing() != Some(code)).then(|| domain.values()[code.index()].clone());
    let group = |group: usize| {
        let texts = counts.codes(group).iter().zip(counts.domains()).map(|(&code, domain)| text(domain, code));
        let cells = counts.cells(group).map(|(codes, n)| (text(&counts.sensitive()[0], codes[0]), n));
        (texts.collect(), (counts.size(group), cells.collect()))
    };
    let counted: Counted = (0..counts.n_groups()).map(group).collect();
    assert_eq!(counted.len(), counts.n_groups(), "every group stands there once");
    counted
}

/// Counts records one by one.
fn count(records: &[Vec<Cell>], n_attributes: usize, has_sensitive: bool) -> Counted {
    let mut counted = Counted::new();
    for record in records {
        let (size, cells) = counted.entry(record[..n_attributes].to_vec()).or_default();
        *size += 1;
        if has_sensitive {
            *cells.entry(record[n_attributes].clone()).or_default() += 1;
        }
    }
    counted
}

/// The records that count, tokens read as missing.
fn kept(table: &Table) -> Vec<Vec<Cell>> {
    let read = |cell: &Cell| cell.clone().filter(|text| !table.missing.tokens.contains(text));
    let records = table.records.iter().map(|record| record.iter().map(read).collect::<Vec<Cell>>());
    records.filter(|record| table.keeps(record)).collect()
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn counts_are_those_of_the_records_one_by_one(table in small_tables()) {
        let (counts, kept) = (table.counts(), kept(&table));
        prop_assert_eq!(as_texts(&counts), count(&kept, table.quasi_identifiers.len(), !table.sensitive.is_empty()));
        prop_assert_eq!(counts.n_records(), kept.len() as u64);
        prop_assert_eq!(counts.n_dropped(), (table.records.len() - kept.len()) as u64);
        // A value that only dropped records have is none of the table's.
        for (a, domain) in counts.domains().iter().enumerate() {
            let values: std::collections::BTreeSet<&Cell> = kept.iter().map(|record| &record[a]).collect();
            prop_assert_eq!(domain.len(), values.len());
            prop_assert_eq!(domain.missing().is_some(), values.contains(&None));
        }
    }
}

/// Keys of one word to eight, each with codes that outgrow their first place.
#[test]
fn counts_are_right_for_every_width_of_key() {
    for n_attributes in [1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 50, 63] {
        for n_values in [2, 5, 300] {
            let cell = |i: usize, a: usize| Some(format!("{}", (i * (a + 7) + i / (a + 1)) % n_values));
            let record = |i: usize| (0..=n_attributes).map(|a| cell(i % 350, a)).collect();
            let records: Vec<Vec<Cell>> = (0..500).map(record).collect();
            let names: Vec<String> = (0..n_attributes).map(|a| format!("q{a}")).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let columns: Vec<&str> = names.iter().copied().chain([SENSITIVE]).collect();
            let mut counter = Counter::new(&names, &[SENSITIVE], &Missing::default());
            let pushed = records.chunks(100).try_for_each(|part| counter.push(&batch(&columns, part)));
            // 300 values take 11 bits, five to a word; there are eight words.
            if pushed.is_err() {
                assert!(n_values == 300 && n_attributes + 1 > 40, "{n_attributes} attributes fit");
                continue;
            }
            let counted = as_texts(&counter.finish());
            assert!(counted == count(&records, n_attributes, true), "{n_attributes} attributes, {n_values} values");
        }
    }
}

/// Eight words of 64 bits hold 64 codes of 8 bits; one attribute more must not fall on top of another, nor be refused.
#[test]
fn more_attributes_than_fit_into_a_short_key_are_counted_right() {
    let n_attributes = 66;
    // Bit by bit, so that no attribute is like another.
    let record = |i: usize| (0..n_attributes).map(|a| Some(format!("{}", i >> (a % 5) & 1))).collect();
    let records: Vec<Vec<Cell>> = (0..32).map(record).collect();
    let names: Vec<String> = (0..n_attributes).map(|a| format!("q{a}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut counter = Counter::new(&names, &[], &Missing::default());
    counter.push(&batch(&names, &records)).expect("any number will do");
    assert_eq!(as_texts(&counter.finish()), count(&records, n_attributes, false));
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn parts_counted_apart_and_merged_in_any_order_are_the_whole(
        table in small_tables(),
        part_of in vec(0..5usize, 60),
        order in Just([0, 1, 2, 3, 4]).prop_shuffle(),
    ) {
        let mut parts: Vec<Counter> = (0..5).map(|_| table.counter()).collect();
        for (record, &part) in table.records.iter().zip(&part_of) {
            parts[part].push(&batch(&table.names(), std::slice::from_ref(record))).expect("columns of texts");
        }
        let mut parts: Vec<Option<Counter>> = parts.into_iter().map(Some).collect();
        let mut taken = order.map(|part| parts[part].take().expect("every part once")).into_iter();
        let mut merged = taken.next().expect("there are five");
        // The last two join before they are joined, as parts of parts would.
        let (second, third) = (taken.next().expect("five"), taken.next().expect("five"));
        let (mut fourth, fifth) = (taken.next().expect("five"), taken.next().expect("five"));
        fourth.merge(fifth).expect("the same attributes");
        for part in [second, third, fourth] {
            merged.merge(part).expect("the same attributes");
        }
        prop_assert_eq!(merged.finish(), table.counts());
    }
}

/// One part has so many values that its keys are wider than those of the other.
#[test]
fn parts_with_keys_of_different_width_merge() {
    let record = |i: usize| vec![Some(format!("{}", i % 3)), Some(format!("{i}")), Some(format!("{}", i % 700))];
    let (narrow, wide): (Vec<_>, Vec<_>) = ((0..100).map(record).collect(), (50..2_000).map(record).collect());
    let names = ["a", "b", SENSITIVE];
    let counter_of = |records: &[Vec<Cell>]| {
        let mut counter = Counter::new(&names[..2], &[SENSITIVE], &Missing::default());
        counter.push(&batch(&names, records)).expect("columns of texts");
        counter
    };
    let whole = counter_of(&[narrow.clone(), wide.clone()].concat()).finish();
    for (first, second) in [(&narrow, &wide), (&wide, &narrow)] {
        let mut merged = counter_of(first);
        merged.merge(counter_of(second)).expect("the same attributes");
        assert_eq!(merged.finish(), whole);
    }
}

proptest! {
    #![proptest_config(chance(150))]
    #[test]
    fn the_order_of_records_changes_nothing((table, wishes) in asked(small_tables()), dice in any::<u64>()) {
        let mut other = table.clone();
        // Any order will do: by a number that has nothing to do with the records.
        let mut numbered: Vec<(u64, Vec<Cell>)> = other.records.drain(..).zip(1..).map(|(record, i): (_, u64)| {
            ((i ^ dice).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) % 1009, record)
        }).collect();
        numbered.sort_by_key(|(number, _)| *number);
        other.records = numbered.into_iter().map(|(_, record)| record).collect();

        let (made, made_other) = (table.make(), other.make());
        prop_assert_eq!(&made.counts, &made_other.counts);
        let naive = Naive::new(&table);
        for wish in wishes.iter().filter(|_| naive.n_records() > 0 && !table.missing.drop_records) {
            let (levels, criteria) = (wish.levels(&naive), wish.criteria(&naive));
            prop_assert_eq!(
                publish(&table, &made, &levels, &criteria),
                publish(&other, &made_other, &levels, &criteria)
            );
        }
    }
}

/// Counts `n_distinct` combinations, each `n_times` in a row, in batches, and compares with a plain map.
#[track_caller]
fn check_many(n_distinct: u64, n_times: u64, n_per_batch: usize) {
    // The first tenth comes again at the end, long after it was set aside.
    let n_once = n_distinct * n_times;
    let keys = (0..n_once).chain(0..n_once / 10).map(|i| (i / n_times * 7919 % n_distinct) as i64);
    let records: Vec<[i64; 3]> = keys.map(|key| [key % 640, key / 640 % 100, key / 64_000]).collect();
    let mut expected: HashMap<[i64; 3], u64> = HashMap::new();
    let mut counter = Counter::new(&["a", "b"], &["c"], &Missing::default());
    for part in records.chunks(n_per_batch) {
        part.iter().for_each(|record| *expected.entry(*record).or_default() += 1);
        let column =
            |i: usize| -> ArrayRef { Arc::new(part.iter().map(|record| Some(record[i])).collect::<Int64Array>()) };
        let columns = [("a", column(0)), ("b", column(1)), ("c", column(2))];
        counter.push(&RecordBatch::try_from_iter(columns).expect("three columns")).expect("integers");
    }
    let counts = counter.finish();
    assert_eq!(counts.n_records(), records.len() as u64);
    assert_eq!(counts.n_cells(), expected.len());
    let value = |domain: &Domain, code: Code| domain.values()[code.index()].parse::<i64>().expect("an integer");
    for group in 0..counts.n_groups() {
        let [a, b] = [0, 1].map(|i| value(&counts.domains()[i], counts.codes(group)[i]));
        for (codes, n) in counts.cells(group) {
            let c = value(&counts.sensitive()[0], codes[0]);
            assert_eq!(n, expected[&[a, b, c]], "{a} {b} {c}");
        }
        assert_eq!(counts.size(group), counts.cells(group).map(|(_, n)| n).sum::<u64>());
    }
    let codes = (0..counts.n_groups()).map(|group| counts.codes(group));
    assert!(codes.is_sorted(), "groups are in the order of their codes");
}

/// A table of more than 2^15 keys is set aside in a list where keys hardly repeat, and grows where they do.
#[test]
fn many_combinations_are_counted_right_whether_they_repeat_or_not() {
    for (n_distinct, n_times, n_per_batch) in [
        (32_768, 1, 1_000),  // exactly full
        (32_769, 1, 1_000),  // one too many
        (50_000, 1, 50_000), // set aside in the middle of a batch, then listed
        (50_000, 1, 997),
        (120_000, 3, 4_096),  // set aside, but looked at again
        (150_000, 5, 10_000), // grown twice and more
    ] {
        check_many(n_distinct, n_times, n_per_batch);
    }
}

/// A list of more than 2^23 keys is shortened on the way.
#[test]
fn a_list_that_became_long_is_shortened_without_losing_a_record() {
    let n_all = 1u32 << 24;
    let mut expected = vec![0u8; n_all as usize];
    let mut counter = Counter::new(&["a", "b", "c"], &[], &Missing::default());
    // Nine million different keys, a part of them twice: some before the list is shortened, some after.
    let numbers = (0..4_000_000u32).chain(0..400_000).chain(4_000_000..9_000_000).chain(0..400_000);
    let mut keys = numbers.map(|i| i.wrapping_mul(0x9E37_79B1) % n_all);
    loop {
        let part: Vec<u32> = keys.by_ref().take(100_000).collect();
        if part.is_empty() {
            break;
        }
        part.iter().for_each(|&key| expected[key as usize] += 1);
        let column = |shift: u32| -> ArrayRef {
            Arc::new(part.iter().map(|key| Some((key >> shift) as u8)).collect::<UInt8Array>())
        };
        let columns = [("a", column(16)), ("b", column(8)), ("c", column(0))];
        counter.push(&RecordBatch::try_from_iter(columns).expect("three columns")).expect("integers");
    }
    let counts = counter.finish();
    assert_eq!(counts.n_records(), 9_800_000);
    assert_eq!(counts.n_groups(), expected.iter().filter(|&&n| n > 0).count());
    // All values from 0 to 255 occur, so codes are values.
    for group in 0..counts.n_groups() {
        let key = counts.codes(group).iter().fold(0, |key, code| key << 8 | code.index());
        assert_eq!(counts.size(group), u64::from(expected[key]));
    }
}

/// Whatever a column is stored as, it counts like the texts that it stands for.
#[test]
fn columns_of_numbers_dates_and_dictionaries_count_like_texts() {
    let ages = [Some(40), None, Some(40), Some(-3), Some(70_000), Some(40)];
    let days = [Some(0), Some(19_813), None, Some(19_813), Some(-1), Some(0)];
    let dates =
        [Some("1970-01-01"), Some("2024-03-31"), None, Some("2024-03-31"), Some("1969-12-31"), Some("1970-01-01")];
    let names = [Some("é"), Some(""), Some("é"), None, Some("x"), Some("é")];
    let columns: [(&str, ArrayRef); 3] = [
        ("age", Arc::new(Int64Array::from(ages.to_vec()))),
        ("born", Arc::new(Date32Array::from(days.to_vec()))),
        ("name", Arc::new(names.into_iter().collect::<DictionaryArray<Int32Type>>())),
    ];
    let typed = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)));
    let texts: Vec<Vec<Cell>> = (0..6)
        .map(|i| vec![ages[i].map(|age: i64| age.to_string()), dates[i].map(String::from), names[i].map(String::from)])
        .collect();
    let views =
        |i: usize| -> ArrayRef { Arc::new(texts.iter().map(|row| row[i].as_deref()).collect::<StringViewArray>()) };
    let views = RecordBatch::try_from_iter_with_nullable([
        ("age", views(0), true),
        ("born", views(1), true),
        ("name", views(2), true),
    ]);
    for drop_records in [false, true] {
        let missing = Missing { tokens: vec![], drop_records, ..Missing::default() };
        let count = |batch: &RecordBatch| {
            let mut counter = Counter::new(&["age", "born"], &["name"], &missing);
            counter.push(batch).expect("columns that can be read");
            counter.finish()
        };
        let expected = count(&batch(&["age", "born", "name"], &texts));
        assert_eq!(count(typed.as_ref().expect("three columns")), expected);
        assert_eq!(count(views.as_ref().expect("three columns")), expected);
    }
}

// ---- The lattice ----

proptest! {
    #![proptest_config(chance(100))]
    #[test]
    fn rolling_up_is_generalizing_and_counting_again((table, wishes) in asked(small_tables())) {
        let (made, naive) = (table.make(), Naive::new(&table));
        for levels in wishes.iter().map(|wish| wish.levels(&naive)) {
            // What a missing value is called may also be what a value is called; this one is called by nothing else.
            let unlike_any = |cell: &Cell| Some(cell.clone().unwrap_or("\u{1}".to_string()));
            let generalized: Vec<Vec<Cell>> = naive
                .records
                .iter()
                .map(|record| {
                    let labels = levels.iter().enumerate().map(|(a, &level)| unlike_any(&record.labels[a][level as usize]));
                    labels.chain(record.sensitive.clone()).collect()
                })
                .collect();
            let keep = Missing::default();
            let recounted = counts_of(&table.quasi_identifier_names(), &table.sensitive_names(), &keep, &generalized);
            let mut sizes = BTreeMap::new();
            for group in 0..recounted.n_groups() {
                let distinct = (!table.sensitive.is_empty()).then(|| recounted.cells(group).count() as u64);
                let signature: Vec<u64> = std::iter::once(recounted.size(group)).chain(distinct).collect();
                *sizes.entry(signature).or_insert(0) += 1;
            }
            let profile = made.lattice.profile(made.lattice.schemes().place(&scheme(&levels)));
            let signature = |signature: u32| made.lattice.signatures().of(signature as usize).to_vec();
            let rolled_up: BTreeMap<Vec<u64>, u32> =
                profile.entries().iter().map(|entry| (signature(entry.signature), entry.n_groups)).collect();
            prop_assert_eq!(rolled_up, sizes);
        }
    }
}

/// Everything that annotation makes, in a pool of so many threads.
fn annotated_with(
    n_threads: usize,
    table: &Table,
) -> (GroupCounts, Measured, Vec<incrowd::lattice::profile::Profile>, u64) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
    pool.install(|| {
        let made = table.make();
        let profiles = (0..made.lattice.schemes().len()).map(|place| made.lattice.profile(place).clone()).collect();
        (made.counts, made.lattice.signatures().clone(), profiles, made.lattice.n_source_groups())
    })
}

proptest! {
    #![proptest_config(chance(60))]
    #[test]
    fn the_number_of_threads_changes_nothing(table in prop_oneof![small_tables(), larger_tables()]) {
        let alone = annotated_with(1, &table);
        for n_threads in [2, 5, 16] {
            prop_assert_eq!(&annotated_with(n_threads, &table), &alone, "{} threads", n_threads);
        }
    }
}

proptest! {
    #![proptest_config(chance(100))]
    #[test]
    fn every_scheme_is_made_once_and_told(table in small_tables(), n_threads in 1..=4usize) {
        let made = table.make();
        let n_told = AtomicUsize::new(0);
        let progress = |n: u64| { n_told.fetch_add(n as usize, Ordering::Relaxed); };
        let task = Task { progress: &progress, ..Task::default() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        pool.install(|| annotate(&made.counts, &made.hierarchies, &made.plan(), &task)).expect("a small lattice");
        prop_assert_eq!(n_told.into_inner(), made.lattice.schemes().len());
    }
}

/// Small values are asked for most: their suppression is looked up, not computed.
#[test]
fn the_suppression_of_small_values_is_looked_up() {
    let ages: Vec<String> = (0..50).map(|age: u32| age.to_string()).collect();
    let ages: Vec<&str> = ages.iter().map(String::as_str).collect();
    let table = Table {
        quasi_identifiers: vec![Attribute::flat("age", &ages), Attribute::flat("sex", &["f", "m"])],
        sensitive: one_sensitive(),
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: (0..300usize)
            .map(|i| {
                let cells = [(i * i % 50).to_string(), if i % 3 == 0 { "f" } else { "m" }.to_string()];
                cells.into_iter().chain([format!("s{}", i % 40)]).map(Some).collect()
            })
            .collect(),
    };
    let lattice = table.make().lattice;
    for criteria in (1..=32).flat_map(|value| [k(value), l(value)]) {
        let suppression = lattice.suppression(&criteria);
        for place in 0..lattice.schemes().len() {
            let exact = lattice.n_suppressed(place, &criteria);
            assert_eq!(suppression.bounds(place), (exact, exact), "{criteria:?}");
        }
    }
}

/// How many values the sensitive attribute has; 0 without one.
fn n_values(lattice: &Lattice) -> u64 {
    lattice.sensitive().first().map_or(0, |(_, n)| *n as u64)
}

/// The criteria whose suppression is promised to be monotone.
fn some_criteria(n_records: u64, n_sensitive: u64) -> Vec<Criteria> {
    let values = |greatest: u64| [1, 2, 3, 5, 8, 13, 34].into_iter().filter(move |&value| value <= greatest);
    let alone = values(n_records).map(k).chain(values(n_sensitive).map(l));
    let both = values(n_records).flat_map(|k| values(n_sensitive).map(move |l| k_and_l(k, l)));
    alone.chain(both).collect()
}

proptest! {
    #![proptest_config(chance(80))]
    #[test]
    fn suppression_never_grows_on_the_way_up(table in small_tables()) {
        let lattice = table.make().lattice;
        let schemes = lattice.schemes();
        for criteria in some_criteria(lattice.n_records(), n_values(&lattice)) {
            prop_assert!(criteria.is_monotone(false));
            for place in 0..schemes.len() {
                let n_suppressed = lattice.n_suppressed(place, &criteria);
                for (_, finer) in schemes.finer(place) {
                    prop_assert!(n_suppressed <= lattice.n_suppressed(finer, &criteria));
                }
            }
        }
    }

    #[test]
    fn suppression_grows_with_what_is_asked_for(table in small_tables()) {
        let lattice = table.make().lattice;
        let (n_records, n_sensitive) = (lattice.n_records(), n_values(&lattice));
        for place in 0..lattice.schemes().len() {
            let of_k = |value| lattice.n_suppressed(place, &k(value));
            let of_l = |value| lattice.n_suppressed(place, &l(value));
            let of_both = |(k, l)| lattice.n_suppressed(place, &k_and_l(k, l));
            prop_assert!((0..=n_records + 1).map(of_k).is_sorted());
            prop_assert_eq!(of_k(n_records + 1), n_records);
            prop_assert_eq!(of_k(1), 0);
            if n_sensitive > 0 {
                prop_assert!((0..=n_sensitive + 1).map(of_l).is_sorted());
                prop_assert_eq!(of_l(n_sensitive + 1), n_records);
            }
            for value in 1..=n_sensitive.min(5) {
                prop_assert!((1..=n_records).map(|k| (k, value)).map(of_both).is_sorted());
                prop_assert!(of_both((3, value)) >= of_k(3).max(of_l(value)));
                prop_assert!(of_both((3, value)) <= of_k(3) + of_l(value));
            }
        }
    }
}

// ---- Hierarchies ----

/// Every value has one label at every level, labels nest, and the top is `*`.
#[track_caller]
fn assert_tree(hierarchy: &Hierarchy, domain: &Domain) {
    assert_eq!(hierarchy.attribute(), domain.name());
    assert_eq!(hierarchy.level(0).labels(), domain.values());
    let rows: Vec<Vec<&str>> = hierarchy.rows().collect();
    assert_eq!(rows.len(), domain.len());
    for (level, values) in hierarchy.levels().iter().enumerate() {
        assert_eq!(values.of_base().len(), domain.len(), "every value has a label at level {level}");
        for (base, code) in values.of_base().iter().enumerate() {
            assert_eq!(rows[base][level], values.labels()[code.index()]);
        }
        let n_leaves: u32 = hierarchy.n_leaves(level).iter().sum();
        assert_eq!(n_leaves as usize, domain.len());
        assert!(hierarchy.n_leaves(level).iter().all(|&n| n > 0), "every label stands for a value");
    }
    for level in 0..hierarchy.top() {
        let (here, above) = (hierarchy.level(level), hierarchy.level(level + 1));
        for (base, code) in here.of_base().iter().enumerate() {
            let parent = here.parents()[code.index()];
            assert_eq!(parent, above.of_base()[base], "labels of level {level} nest in those of level {}", level + 1);
        }
    }
    if !domain.is_empty() {
        assert_eq!(hierarchy.level(hierarchy.top()).labels(), ["*"]);
    }
}

/// The rule's labels between value and `*` are those of a function on texts; a missing value stays itself.
#[track_caller]
fn check_rule(
    rule: &Rule,
    values: Vec<String>,
    missing: Option<&str>,
    n_levels: usize,
    label: impl Fn(&str, usize) -> String,
) {
    let domain = Domain::new("x", values, missing);
    let hierarchy = rule.resolve(&domain).expect("values that suit the rule");
    assert_tree(&hierarchy, &domain);
    assert_eq!(hierarchy.top(), n_levels + 1, "the rule decides how many levels there are");
    for (row, value) in hierarchy.rows().zip(domain.values()) {
        let is_missing = domain.missing().is_some() && Some(value.as_str()) == missing;
        for (level, found) in row.iter().enumerate().take(n_levels + 1).skip(1) {
            let expected = if is_missing { value.clone() } else { label(value, level) };
            assert_eq!(*found, expected, "of {value} at level {level}");
        }
    }
}

fn maybe_missing() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![Just(None), Just(Some("?")), Just(Some(""))]
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn whole_intervals_begin_at_multiples_of_their_width(
        values in vec(-300..300i64, 1..40),
        width in 1..9i64,
        factors in vec(2..4i64, 0..3),
        origin in -20..20i64,
        missing in maybe_missing(),
    ) {
        let factors = std::iter::once(width).chain(factors);
        let widths: Vec<i64> = factors.scan(1, |width, factor| { *width *= factor; Some(*width) }).collect();
        let rule = Rule::intervals(widths.iter().map(|&width| width as f64).collect(), origin as f64).expect("they nest");
        let label = |value: &str, level: usize| {
            let (value, width): (i64, i64) = (value.parse().expect("an integer"), widths[level - 1]);
            let mut low = origin;
            while low > value { low -= width; }
            while low + width <= value { low += width; }
            let between = if low < 0 { " to " } else { "-" };
            if width == 1 { format!("{low}") } else { format!("{low}{between}{}", low + width - 1) }
        };
        check_rule(&rule, values.iter().map(i64::to_string).collect(), missing, widths.len(), label);
    }

    #[test]
    fn intervals_of_decimals_are_half_open(quarters in vec(-100..100i32, 1..40), missing in maybe_missing()) {
        let widths = [0.5, 1.0, 4.0];
        let rule = Rule::intervals(widths.to_vec(), 0.25).expect("they nest");
        let label = |value: &str, level: usize| {
            let (value, width): (f64, f64) = (value.parse().expect("a number"), widths[level - 1]);
            let mut low = 0.25;
            while low > value { low -= width; }
            while low + width <= value { low += width; }
            format!("[{low}, {})", low + width)
        };
        // One that is no integer, so that none is treated as one.
        let values = quarters.iter().map(|&n| f64::from(n) / 4.0).chain([0.25]).map(|n| n.to_string()).collect();
        check_rule(&rule, values, missing, widths.len(), label);
    }

    #[test]
    fn a_value_lies_within_the_interval_that_stands_for_it(
        tenths in vec(-300..300i32, 1..40),
        width in prop_oneof![Just(0.1), Just(0.2), Just(0.3), Just(0.7), Just(1.0), Just(2.5)],
        origin in prop_oneof![Just(0.0), Just(0.1), Just(-1.3)],
    ) {
        let rule = Rule::intervals(vec![width, 10.0 * width], origin).expect("they nest");
        let values = tenths.iter().map(|&n| f64::from(n) / 10.0).chain([0.5]).map(|n| n.to_string()).collect();
        let domain = Domain::new("x", values, None);
        let hierarchy = rule.resolve(&domain).expect("numbers");
        assert_tree(&hierarchy, &domain);
        for row in hierarchy.rows() {
            let value: f64 = row[0].parse().expect("a number");
            for label in &row[1..3] {
                let ends = label.strip_prefix('[').and_then(|rest| rest.strip_suffix(')')).expect("half open");
                let (low, high) = ends.split_once(", ").expect("two ends");
                let (low, high): (f64, f64) = (low.parse().expect("a number"), high.parse().expect("a number"));
                prop_assert!(low <= value && value < high, "{} is published as {}", value, label);
            }
        }
    }

    #[test]
    fn cuts_say_between_which_cut_points_a_value_lies(
        values in vec(-50..50i64, 1..40),
        cuts in proptest::collection::btree_set(-40..40i64, 1..8),
        keep in vec(any::<bool>(), 8),
        missing in maybe_missing(),
    ) {
        let fine: Vec<i64> = cuts.into_iter().collect();
        let coarse: Vec<i64> =
            fine.iter().enumerate().filter(|(i, _)| *i == 0 || keep[*i]).map(|(_, &cut)| cut).collect();
        let levels = [fine, coarse];
        let rule = Rule::cuts(levels.iter().map(|cuts| cuts.iter().map(|&cut| cut as f64).collect()).collect());
        let label = |value: &str, level: usize| {
            let (value, cuts): (i64, &Vec<i64>) = (value.parse().expect("an integer"), &levels[level - 1]);
            let below = cuts.iter().filter(|&&cut| cut <= value).max();
            let above = cuts.iter().filter(|&&cut| cut > value).min();
            match (below, above) {
                (None, Some(above)) => format!("<{above}"),
                (Some(below), None) => format!(">={below}"),
                (Some(below), Some(above)) if above - below == 1 => below.to_string(),
                (Some(below), Some(above)) if *below < 0 => format!("{below} to {}", above - 1),
                (Some(below), Some(above)) => format!("{below}-{}", above - 1),
                (None, None) => unreachable!("there is a cut"),
            }
        };
        check_rule(&rule.expect("they nest"), values.iter().map(i64::to_string).collect(), missing, 2, label);
    }

    #[test]
    fn masks_hide_characters_from_one_end(
        values in vec("[aé*0 ]{0,6}", 1..30),
        hidden in proptest::collection::btree_set(1..5usize, 1..4),
        is_left in any::<bool>(),
    ) {
        let hidden: Vec<usize> = hidden.into_iter().collect();
        let side = if is_left { Side::Left } else { Side::Right };
        let rule = Rule::mask(hidden.clone(), side).expect("increasing");
        let label = |value: &str, level: usize| {
            let mut characters: Vec<char> = value.chars().collect();
            let (n, n_hidden) = (characters.len(), hidden[level - 1]);
            if n <= n_hidden {
                // Not the top: it says that the text is short.
                return "**".to_string();
            }
            let range = if is_left { 0..n_hidden } else { n - n_hidden..n };
            characters[range].fill('*');
            characters.into_iter().collect()
        };
        check_rule(&rule, values, None, hidden.len(), label);
    }

    #[test]
    fn dates_get_coarser_along_the_calendar(
        dates in vec((1900..2100u32, 1..=12u32, 1..=28u32, any::<bool>()), 1..30),
        missing in maybe_missing(),
    ) {
        let rule = Rule::dates(DateUnit::ALL.to_vec()).expect("from fine to coarse");
        let text = |&(year, month, day, has_time): &(u32, u32, u32, bool)| {
            format!("{year}-{month:02}-{day:02}{}", if has_time { "T12:30:00" } else { "" })
        };
        let label = |value: &str, level: usize| {
            let (year, month): (u32, u32) = (value[..4].parse().expect("a year"), value[5..7].parse().expect("a month"));
            let quarter = match month { 1..=3 => 1, 4..=6 => 2, 7..=9 => 3, _ => 4 };
            match level {
                1 => value[..7].to_string(),
                2 => format!("{year}-Q{quarter}"),
                3 => year.to_string(),
                _ => format!("{}0s", &value[..3]),
            }
        };
        check_rule(&rule, dates.iter().map(text).collect(), missing, 4, label);
    }

    #[test]
    fn tables_of_labels_resolve_to_trees(table in small_tables()) {
        let made = table.make();
        for (a, hierarchy) in made.hierarchies.iter().enumerate() {
            let domain = &made.counts.domains()[a];
            assert_tree(hierarchy, domain);
            for (row, value) in hierarchy.rows().zip(domain.values()) {
                let is_missing = domain.missing().is_some_and(|code| domain.values()[code.index()] == *value);
                let value = (!is_missing).then(|| value.clone());
                let expected = table.quasi_identifiers[a].labels(&value, &table.missing);
                prop_assert_eq!(&row[1..], expected[1..].iter().flatten().collect::<Vec<_>>());
            }
        }
    }
}

/// What a missing value is called is also the label of a value that goes another way further up.
#[test]
fn a_missing_value_named_like_a_label_still_gives_a_tree() {
    let rows = [["a", "unknown", "low"], ["b", "b", "high"]];
    let rows = rows.into_iter().zip(1..).map(|(row, line)| (line, row.map(String::from).to_vec())).collect();
    let rule = Rule::Table(LabelTable::new("labels.csv", rows).expect("rows of equal length"));
    let domain = Domain::new("x", vec!["a".into(), "b".into()], Some("unknown"));
    // Refusing it would be fine too.
    if let Ok(hierarchy) = rule.resolve(&domain) {
        assert_tree(&hierarchy, &domain);
    }
}

#[test]
fn a_domain_with_no_values_and_one_with_nothing_but_missing_resolve() {
    let rules = [
        Rule::Flat,
        Rule::intervals(vec![5.0, 10.0], 0.0).expect("they nest"),
        Rule::cuts(vec![vec![1.0]]).expect("they nest"),
        Rule::mask(vec![1, 2], Side::Right).expect("increasing"),
        Rule::dates(vec![DateUnit::Year]).expect("one unit"),
        Attribute::new("x", &[&["a", "b", "c"], &["d", "e", "f"]]).rule(),
    ];
    for rule in rules {
        for missing in [None, Some("?")] {
            let domain = Domain::new("x", vec![], missing);
            assert_tree(&rule.resolve(&domain).expect("no value is wrong"), &domain);
        }
    }
}

// ---- Rows that stand for several records ----

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn rows_with_numbers_are_as_many_records(table in small_tables(), numbers in vec(1..5u64, 60)) {
        let records: Vec<Vec<Cell>> = table.records.iter().zip(&numbers)
            .flat_map(|(record, &n)| std::iter::repeat_n(record.clone(), n as usize))
            .collect();
        let names = table.names();
        let (rows, expanded) = (batch(&names, &table.records), batch(&names, &records));
        let mut singly = table.counter();
        singly.push(&expanded).expect("columns of texts");
        let mut at_once = table.counter();
        at_once.push_counted(&rows, &numbers[..table.records.len()]).expect("columns of texts");
        prop_assert_eq!(at_once.finish(), singly.finish());
        // The check of a release has code of its own for both, and sees runs of equal rows.
        let texts: Vec<String> = names.iter().map(|name| name.to_string()).collect();
        let (identifying, sensitive) = texts.split_at(table.quasi_identifiers.len());
        for suppressed_as in [SuppressedAs::Group, SuppressedAs::Absent] {
            let verifier = || Verifier::new(identifying, sensitive, suppressed_as).with_order(&texts, Texts::AsWritten);
            let [mut singly, mut at_once, mut in_runs] = [verifier(), verifier(), verifier()];
            for record in &records {
                singly.push(&batch(&names, std::slice::from_ref(record))).expect("columns of texts");
            }
            in_runs.push(&expanded).expect("columns of texts");
            at_once.push_counted(&rows, &numbers[..table.records.len()]).expect("columns of texts");
            for other in [&at_once, &in_runs] {
                prop_assert_eq!(other.groups(), singly.groups());
                prop_assert_eq!(other.n_absent(), singly.n_absent());
                prop_assert_eq!(other.n_out_of_order(), singly.n_out_of_order());
                let verdict = |verifier: &Verifier| verifier.verdict(&k(2), &Outside::default());
                prop_assert_eq!(verdict(other), verdict(&singly));
            }
        }
    }
}

#[test]
fn rows_that_stand_for_no_record_or_for_too_many_are_refused() {
    let mut counter = Counter::new(&["x"], &[], &Missing::default());
    let rows = batch(&["x"], &[vec![Some("a".into())], vec![Some("b".into())]]);
    let most = (1u64 << 38) - 1;
    for numbers in [[0, 1], [1, 0], [most, 1], [u64::MAX, 1]] {
        assert!(counter.push_counted(&rows, &numbers).is_err(), "{numbers:?}");
    }
    let mut counter = Counter::new(&["x"], &[], &Missing::default());
    counter.push_counted(&rows, &[most - 1, 1]).expect("as many as there may be");
    assert!(counter.push_counted(&rows, &[1, 1]).is_err());
    let other = || {
        let mut other = Counter::new(&["x"], &[], &Missing::default());
        other.push_counted(&rows, &[most - 1, 1]).expect("as many as there may be");
        other
    };
    assert!(other().merge(other()).is_err());
    assert_eq!(other().finish().n_records(), most);
}
