//! Every criterion against its definition: examples by hand, random groups, ties, and what verification makes of them.

use crate::common;

use std::collections::BTreeMap;

use common::measures::{Counts, MILLION, NaiveReference, Seen, measured, satisfies};
use common::random::{Dice, all_measures, any_mixed_tables, chance, mixes};
use common::*;
use incrowd::criterion::NEVER;
use incrowd::criterion::formulas::{
    Reference, distance_to_table, effective_values, greatest_bounded_gain, greatest_disclosure, greatest_gain,
    greatest_share, n_distinct, recursive_ratio,
};
use incrowd::search::negotiate::offer_of;
use incrowd::search::request::{check_promise, check_promise_on, depends_on_table};
use incrowd::verify::SuppressedAs;
use incrowd::wire::{criteria as criteria_as_json, criterion_of};
use incrowd::{Criteria, Criterion, Distance, Domain, Hierarchy, Measure, Verifier, Yardstick};
use proptest::collection::vec;
use proptest::prelude::*;

// ---- By hand ----

/// Counts by value, those that are 0 left out.
fn histogram(counts: &[u64]) -> Vec<(u32, u64)> {
    (0..).zip(counts.iter().copied()).filter(|(_, count)| *count > 0).collect()
}

fn ordered(counts: &[u64]) -> Reference {
    Reference::new(counts.to_vec(), Distance::Ordered, None)
}

/// A share among all records of a group.
fn of_all(measure: fn(&[(u32, u64)], u64) -> u64, group: &[(u32, u64)]) -> u64 {
    measure(group, group.iter().map(|(_, c)| c).sum())
}

/// What a group of records measures against the table.
fn against(measure: fn(&[(u32, u64)], u64, &Reference) -> u64, group: &[(u32, u64)], table: &Reference) -> u64 {
    measure(group, group.iter().map(|(_, c)| c).sum(), table)
}

fn equal(counts: &[u64]) -> Reference {
    Reference::new(counts.to_vec(), Distance::Equal, None)
}

/// P = (0.2, 0.1, 0.7), Q = (0.3, 0, 0.7), R = (0.1, 0, 0.9): the numbers of the paper on stacking and dealing.
#[test]
fn ordered_distance_of_three_distributions() {
    let (p, q, r) = ([2, 1, 7], [3, 0, 7], [1, 0, 9]);
    let distance = |from: &[u64], to: &[u64]| distance_to_table(&histogram(from), &ordered(to));
    assert_eq!(distance(&q, &p), 50_000);
    assert_eq!(distance(&q, &r), 200_000);
    assert_eq!(distance(&r, &p), 150_000);
    assert_eq!(distance(&p, &p), 0);
    // However many records there are.
    assert_eq!(distance_to_table(&histogram(&[3_000_000, 0, 7_000_000]), &ordered(&[200, 100, 700])), 50_000);
}

/// Li, Li and Venkatasubramanian (ICDE 2007), section 4.2: salaries from 3k to 11k.
#[test]
fn the_salaries_of_li_et_al() {
    let table = ordered(&[1; 9]);
    let of = |salaries: [usize; 3]| {
        let mut counts = [0; 9];
        salaries.iter().for_each(|salary| counts[salary - 3] = 1);
        distance_to_table(&histogram(&counts), &table)
    };
    assert_eq!(of([3, 4, 5]), 375_000);
    assert_eq!(of([6, 8, 11]), 166_667); // 1/6
    assert_eq!(of([7, 9, 10]), 236_112); // 17/72
}

fn diseases() -> (Domain, Hierarchy) {
    let rows: [&[&str]; 9] = [
        &["flu", "respiratory infection", "respiratory"],
        &["pneumonia", "respiratory infection", "respiratory"],
        &["bronchitis", "respiratory infection", "respiratory"],
        &["pulmonary edema", "vascular lung disease", "respiratory"],
        &["pulmonary embolism", "vascular lung disease", "respiratory"],
        &["gastric ulcer", "stomach disease", "digestive"],
        &["stomach cancer", "stomach disease", "digestive"],
        &["gastritis", "stomach disease", "digestive"],
        &["colitis", "colon disease", "digestive"],
    ];
    let values = rows.iter().map(|row| row[0].to_string()).collect();
    let domain = Domain::new("disease", values, None);
    let hierarchy = Attribute::new("disease", &rows).rule().resolve(&domain).expect("a tree");
    (domain, hierarchy)
}

/// The tree of diseases of the same paper: flu and bronchitis are 1/3 apart, flu and pulmonary embolism 2/3, flu and
/// stomach cancer 1; and the classes of its last table, each moved by hand, in 27ths.
#[test]
fn the_diseases_of_li_et_al() {
    let (domain, hierarchy) = diseases();
    let counts = |names: &[&str]| {
        let mut counts = vec![0; domain.len()];
        names.iter().for_each(|name| counts[domain.code(name).expect("a disease").index()] += 1);
        counts
    };
    let distance = |from: &[&str], to: &[&str]| {
        let table = Reference::new(counts(to), Distance::Hierarchical, Some(&hierarchy));
        distance_to_table(&histogram(&counts(from)), &table)
    };
    assert_eq!(distance(&["flu"], &["bronchitis"]), 333_334);
    assert_eq!(distance(&["flu"], &["pulmonary embolism"]), 666_667);
    assert_eq!(distance(&["flu"], &["stomach cancer"]), MILLION);
    assert_eq!(distance(&["flu"], &["flu"]), 0);
    let table = [
        "gastric ulcer",
        "gastritis",
        "stomach cancer",
        "gastritis",
        "flu",
        "bronchitis",
        "bronchitis",
        "pneumonia",
        "stomach cancer",
    ];
    // Two ninths within the stomach, two within the lungs, one from one to the other: 2/3 + 2/3 + 1 = 7/3.
    assert_eq!(distance(&["gastric ulcer", "stomach cancer", "pneumonia"], &table), 259_260); // 7/27
    // One within each, two across: 1/3 + 1/3 + 2.
    assert_eq!(distance(&["gastritis", "flu", "bronchitis"], &table), 296_297); // 8/27
    assert_eq!(distance(&["gastritis", "bronchitis", "stomach cancer"], &table), 185_186); // 5/27
}

#[test]
fn equal_distance_is_the_share_that_must_change() {
    let distance = |from: &[u64], to: &[u64]| distance_to_table(&histogram(from), &equal(to));
    assert_eq!(distance(&[7, 3], &[5, 5]), 200_000);
    assert_eq!(distance(&[1, 0, 0], &[1, 1, 1]), 666_667);
    assert_eq!(distance(&[0, 1], &[1_000_000, 0]), MILLION);
    assert_eq!(distance(&[1, 1], &[999_999, 1_000_001]), 1, "a half of a millionth is a millionth too many for 0");
}

/// As many equally frequent values are worth their number, exactly; and some uneven ones a whole number too.
#[test]
fn the_entropy_of_even_values_is_their_number() {
    for n_values in 1..=300 {
        for each in [1, 2, 3, 7, 1000, 123_456_789] {
            assert_eq!(effective_values(&histogram(&vec![each; n_values])), n_values as u64 * MILLION);
        }
    }
    // One half and four eighths: 2 bits.
    for each in [1, 2, 3, 5, 1_000_000] {
        assert_eq!(effective_values(&histogram(&[4 * each, each, each, each, each])), 4 * MILLION);
    }
    // A half and eight sixteenths: 2.5 bits are no fraction. Half, and two quarters: 1.5 bits neither.
    assert_eq!(effective_values(&histogram(&[8, 1, 1, 1, 1, 1, 1, 1, 1])), 5_656_854);
    assert_eq!(effective_values(&histogram(&[2, 1, 1])), 2_828_427);
    // Next to two equally frequent values, and not two.
    assert_eq!(effective_values(&histogram(&[1_000_001, 1_000_000])), 1_999_999);
    assert_eq!(effective_values(&histogram(&[3, 1])), 1_754_765);
}

/// Machanavajjhala et al. 2006: r₁ < c (r_l + … ), and not ≤.
#[test]
fn recursive_diversity_is_strict() {
    let ratio = |counts: &[u64], l: u32| recursive_ratio(&histogram(counts), l);
    let c = |l: u32, value: u64| criterion(Measure::Recursive { sensitive: 0, l }, value);
    // 3 < c (2 + 1) holds from just above 1.
    assert_eq!(ratio(&[3, 2, 1], 2), MILLION + 1);
    assert!(!c(2, MILLION).holds(ratio(&[3, 2, 1], 2)) && c(2, MILLION + 1).holds(ratio(&[3, 2, 1], 2)));
    // 3 < c · 1 holds from just above 3, and with the most frequent value among the rest from just above a half.
    assert_eq!(ratio(&[1, 3, 2], 3), 3 * MILLION + 1);
    assert_eq!(ratio(&[2, 1, 3], 1), MILLION / 2 + 1);
    // A third is no number of millionths: the next one does.
    assert_eq!(ratio(&[1, 1, 1, 1], 2), 333_334);
    // Fewer than l values never do.
    assert_eq!(ratio(&[5, 5], 3), NEVER);
    assert!(!c(3, NEVER - 1).holds(NEVER));
}

#[test]
fn shares_and_gains_and_disclosures() {
    // A third cannot be written with six decimals: 0.333333 is less, 0.333334 is more.
    let share = of_all(greatest_share, &histogram(&[1, 1, 1]));
    let alpha = |value: u64| criterion(Measure::Share(0), value);
    assert_eq!(share, 333_334);
    assert!(!alpha(333_333).holds(share) && alpha(333_334).holds(share));
    assert_eq!(of_all(greatest_share, &histogram(&[1, 3])), 750_000);
    assert_eq!(of_all(greatest_share, &histogram(&[7])), MILLION);

    // From 1/4 to 1/2 a value gains all of its share, from 1/4 to 3/4 twice of it.
    let table = equal(&[1, 3]);
    assert_eq!(against(greatest_gain, &histogram(&[1, 1]), &table), MILLION);
    assert_eq!(against(greatest_gain, &histogram(&[3, 1]), &table), 2 * MILLION);
    assert_eq!(against(greatest_gain, &histogram(&[1, 3]), &table), 0);
    assert_eq!(against(greatest_gain, &histogram(&[0, 5]), &table), 333_334);
    // ln 4 = 1.386: a gain of 1 is within, one of 2 is not; ln 4/3 = 0.288 is less than 1/3.
    assert_eq!(against(greatest_bounded_gain, &histogram(&[1, 1]), &table), MILLION);
    assert_eq!(against(greatest_bounded_gain, &histogram(&[3, 1]), &table), NEVER);
    assert_eq!(against(greatest_bounded_gain, &histogram(&[0, 5]), &table), NEVER);

    // ln 2 = 0.693147…, and ln (1/2 : 3/4) = −0.405…; less than δ is asked for.
    assert_eq!(against(greatest_disclosure, &histogram(&[1, 1]), &table), 693_148);
    assert_eq!(against(greatest_disclosure, &histogram(&[2, 6]), &table), 1, "any δ above 0");
    assert_eq!(against(greatest_disclosure, &histogram(&[0, 6]), &table), NEVER, "a value is missing");
}

/// One group, one value, all alike: nothing to divide by, and nothing to tell apart.
#[test]
fn one_value_is_never_diverse_and_always_close() {
    let (group, table) = (histogram(&[5]), equal(&[9]));
    assert_eq!((n_distinct(&group), of_all(greatest_share, &group), effective_values(&group)), (1, MILLION, MILLION));
    assert_eq!((recursive_ratio(&group, 1), recursive_ratio(&group, 2)), (MILLION + 1, NEVER));
    assert_eq!((distance_to_table(&group, &table), distance_to_table(&group, &ordered(&[9]))), (0, 0));
    assert_eq!(against(greatest_disclosure, &group, &table), 1);
    assert_eq!((against(greatest_gain, &group, &table), against(greatest_bounded_gain, &group, &table)), (0, 0));
    // The whole table is like itself, in every distance.
    for distance in [Distance::Equal, Distance::Ordered] {
        let table = Reference::new(vec![3, 1, 4, 1, 5], distance, None);
        assert_eq!(distance_to_table(&histogram(&[3, 1, 4, 1, 5]), &table), 0);
        assert_eq!(distance_to_table(&histogram(&[6, 2, 8, 2, 10]), &table), 0);
    }
}

/// A group of nobody, as a population has them where the table has none.
#[test]
fn a_group_of_nobody_can_be_measured() {
    let rows = records(&[&[Some("a"), Some("flu")], &[Some("b"), Some("gout")]]);
    let counts = counts_of(&["q"], &["s"], &Default::default(), &rows);
    let people = counts_of(&["q"], &[], &Default::default(), &records(&[&[Some("c")]]));
    let counts = counts.with_population(&people);
    let yardstick = Yardstick::new(&counts, &[], all_measures(1, true)).expect("a population is there");
    let mut values = Vec::new();
    yardstick.measure(0, 1, &[], &mut values);
    assert_eq!(values.len(), yardstick.measures().len());
}

/// One text among the numbers of a population makes texts of all, and texts have another order.
#[test]
fn a_population_of_another_kind_leaves_the_groups_in_order() {
    let numbers = records(&[&[Some("9"), Some("flu")], &[Some("10"), Some("gout")], &[Some("10"), Some("flu")]]);
    let counts = counts_of(&["q"], &["s"], &Default::default(), &numbers);
    let people = counts_of(&["q"], &[], &Default::default(), &records(&[&[Some("x")], &[Some("9")]]));
    let counts = counts.with_population(&people);
    assert_eq!(counts.domains()[0].values(), ["10", "9", "x"]);
    assert!((0..counts.n_groups()).map(|group| counts.codes(group)).is_sorted());
    assert_eq!((counts.size(0), counts.size(1)), (2, 1));
    assert_eq!(counts.cells(0).map(|(_, n)| n).collect::<Vec<u64>>(), [1, 1]);
}

#[test]
fn criteria_keep_the_stricter_of_two_values() {
    let t = |value| criterion(Measure::Closeness(0), value);
    let both = Criteria::new([t(3), Criterion::k(2), t(2), t(4), Criterion::k(5), Criterion::k(3)]);
    assert_eq!(both, Criteria::new([Criterion::k(5), t(2)]));
    assert_eq!(both.with(t(9)).value(Measure::Closeness(0)), Some(9));
    assert_eq!(both.without(Measure::Size), Criteria::new([t(2)]));
}

// ---- Random groups ----

/// How many records of a table have each value, and how many of them are in a group; labels on two levels.
#[derive(Clone, Debug)]
struct RandomGroup {
    table: Vec<u64>,
    group: Vec<u64>,
    labels: Vec<u8>,
}

fn random_groups(n_values: usize, n_each_max: u64) -> impl Strategy<Value = RandomGroup> {
    let one = (1..=n_each_max, any::<u64>(), any::<u8>(), 0..4u8);
    vec(one, 1..=n_values).prop_map(|values| {
        let table: Vec<u64> = values.iter().map(|(n, ..)| *n).collect();
        // Some values are absent, some groups are like the table in part.
        let share = |&(n, dice, _, kind): &(u64, u64, u8, u8)| match kind {
            0 => 0,
            1 => n,
            _ => dice % (n + 1),
        };
        let mut group: Vec<u64> = values.iter().map(share).collect();
        if group.iter().all(|&n| n == 0) {
            group[0] = 1;
        }
        RandomGroup { table, group, labels: values.iter().map(|value| value.2).collect() }
    })
}

/// Every measure of a group by the engine and by the definition.
#[track_caller]
fn check_group(random: &RandomGroup, has_entropy: bool) {
    let name = |i: usize| format!("{}", i + 10);
    let rows: Vec<Vec<String>> = (0..random.table.len())
        .map(|i| vec![name(i), format!("a{}", random.labels[i] % 4), format!("b{}", random.labels[i] % 4 % 2)])
        .collect();
    let attribute = Attribute { name: "s".into(), rows, weight: 1.0 };
    let domain = Domain::new("s", (0..random.table.len()).map(name).collect(), None);
    let hierarchy = attribute.rule().resolve(&domain).expect("a tree");
    let by_name = |counts: &[u64]| -> Counts {
        (0..).zip(counts).filter(|(_, n)| **n > 0).map(|(i, n)| (Some(name(i)), *n)).collect()
    };
    let seen = Seen { size: random.group.iter().sum(), population: 0, values: vec![by_name(&random.group)] };
    let group = histogram(&random.group);
    for distance in Distance::ALL {
        let labels = |value: &Cell| attribute.labels(value, &Default::default());
        let naive = [NaiveReference::new(&by_name(&random.table), distance, labels)];
        let reference = Reference::new(random.table.clone(), distance, Some(&hierarchy));
        for measure in all_measures(1, false) {
            let found = match measure {
                Measure::Size | Measure::Population => continue,
                Measure::Entropy(_) if !has_entropy => continue,
                Measure::Distinct(_) => n_distinct(&group),
                Measure::Share(_) => of_all(greatest_share, &group),
                Measure::Entropy(_) => effective_values(&group),
                Measure::Recursive { l, .. } => recursive_ratio(&group, l),
                Measure::Closeness(_) => distance_to_table(&group, &reference),
                Measure::Disclosure(_) => against(greatest_disclosure, &group, &reference),
                Measure::Likeness(_) => against(greatest_gain, &group, &reference),
                Measure::EnhancedLikeness(_) => against(greatest_bounded_gain, &group, &reference),
            };
            assert_eq!(found, measured(&seen, measure, &naive), "{measure:?}, {distance:?} of {random:?}");
            // What is measured decides as the definition does, at the value and next to it.
            let around =
                [found.saturating_sub(1), found, found.saturating_add(1), 1, MILLION / 5, MILLION, 2 * MILLION];
            for value in around.into_iter().filter(|&value| value > 0 && value < 1 << 50) {
                let criterion = criterion(measure, value);
                assert_eq!(criterion.holds(found), satisfies(&seen, criterion, &naive), "{criterion:?} of {random:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(chance(600))]
    #[test]
    fn every_measure_is_that_of_its_definition(random in random_groups(7, 12)) {
        check_group(&random, true);
    }

    #[test]
    fn every_measure_is_that_of_its_definition_with_many_values(random in random_groups(25, 3)) {
        check_group(&random, true);
    }

    #[test]
    fn every_measure_is_that_of_its_definition_with_many_records(random in random_groups(6, 3_000_000_000)) {
        check_group(&random, false);
    }
}

/// Every group of up to four records of every table of three values with up to three records each.
#[test]
fn every_measure_of_every_small_group() {
    let each = |n_max: u64| (0..=n_max).collect::<Vec<u64>>();
    let mut n_groups = 0;
    for a in 1..=3 {
        for b in 1..=3 {
            for c in 1..=3 {
                for group in each(a).iter().flat_map(|&x| each(b).into_iter().map(move |y| [x, y])) {
                    for z in each(c) {
                        let group = vec![group[0], group[1], z];
                        if group.iter().sum::<u64>() == 0 {
                            continue;
                        }
                        check_group(&RandomGroup { table: vec![a, b, c], group, labels: vec![0, 2, 1] }, true);
                        n_groups += 1;
                    }
                }
            }
        }
    }
    assert_eq!(n_groups, 9 * 9 * 9 - 27);
}

// ---- Verification ----

proptest! {
    #![proptest_config(chance(150))]
    #[test]
    fn a_release_is_verified_to_reach_what_the_engine_says(table in any_mixed_tables(), dice in vec(any::<u8>(), 3)) {
        let (made, naive) = (table.make(), Naive::new(&table));
        let levels: Vec<u8> = naive.tops.iter().zip(&dice).map(|(top, dice)| dice % (top + 1)).collect();
        let (rows, n_suppressed, _) = publish(&table, &made, &levels, &k(1));
        prop_assert_eq!(n_suppressed, 0);
        // The population in the words of the release.
        let people = table.wanted.population.as_ref().map(|people| {
            let read = |cell: &Cell| cell.clone().filter(|text| !table.missing.tokens.contains(text));
            let mut n_people: BTreeMap<Vec<Cell>, u64> = BTreeMap::new();
            for person in people.iter().map(|person| person.iter().map(read).collect::<Vec<Cell>>()) {
                if table.missing.drop_records && person.contains(&None) {
                    continue;
                }
                let attributes = table.quasi_identifiers.iter().zip(&levels).zip(&person);
                let label = |((attribute, &level), value): ((&Attribute, &u8), &Cell)| {
                    let labels = attribute.labels(value, &table.missing);
                    // Between the value and the top, what has no label of its own stays no value.
                    let is_between = level > 0 && usize::from(level) + 1 < labels.len();
                    let is_unlabelled = labels[level as usize].as_deref() == Some(table.missing.label());
                    if value.is_none() && is_between && is_unlabelled { None } else { labels[level as usize].clone() }
                };
                *n_people.entry(attributes.map(label).collect()).or_default() += 1;
            }
            n_people
        });
        let known = NaiveOutside { references: Some(naive.references.clone()), population: people };
        let naive_scheme = naive.scheme(&levels);
        let offer = offer_of(&made.lattice, &scheme(&levels), &k(1)).expect("one of the schemes");
        for known in [known, NaiveOutside::default()] {
            for &measure in made.lattice.signatures().measures() {
                let reached = naive_scheme.groups.iter().map(|group| group.value(measure));
                let reached = if measures::is_at_least(measure) { reached.min() } else { reached.max() };
                prop_assert_eq!(offer.reached(measure), reached);
                for value in [reached.unwrap_or(1), reached.unwrap_or(1).saturating_add(1), 1] {
                    let criteria = Criteria::new([criterion(measure, value)]);
                    let verdict = judge(&table, &rows, &criteria, &known);
                    let n_sensitive = table.sensitive.len();
                    let expected =
                        verify(&rows, levels.len(), n_sensitive, &criteria, SuppressedAs::Group, &known);
                    prop_assert_eq!(&verdict, &expected, "{:?} of {:?}", criteria, rows);
                    if verdict.findings[0].is_judged {
                        prop_assert_eq!(verdict.findings[0].reached, reached);
                    } else {
                        prop_assert!(!verdict.holds(), "what cannot be judged is no promise kept");
                    }
                }
            }
        }
    }
}

fn judge(table: &Table, rows: &[Vec<Cell>], criteria: &Criteria, known: &NaiveOutside) -> incrowd::Verdict {
    let texts = |names: Vec<&str>| names.into_iter().map(String::from).collect::<Vec<String>>();
    let mut verifier =
        Verifier::new(&texts(table.quasi_identifier_names()), &texts(table.sensitive_names()), SuppressedAs::Group);
    verifier.push(&batch(&table.names(), rows)).expect("columns of texts");
    verifier.verdict(criteria, &known.outside(&table.sensitive))
}

// ---- As JSON ----

fn any_criterion(n_sensitive: usize) -> impl Strategy<Value = Criterion> {
    let measure = (any::<proptest::sample::Index>(), 1..=9u32).prop_map(move |(index, l)| {
        match *index.get(&all_measures(n_sensitive, true)) {
            Measure::Recursive { sensitive, .. } => Measure::Recursive { sensitive, l },
            measure => measure,
        }
    });
    let value = prop_oneof![0..=20u64, (0..=3000u64).prop_map(|n| n * 1000), 0..=5 * MILLION, 0..=1_000 * MILLION];
    (measure, value).prop_map(|(measure, value)| Criterion { measure, value })
}

proptest! {
    #![proptest_config(chance(2_000))]
    #[test]
    fn criteria_come_back_from_json_as_they_were(
        (n_sensitive, all) in (1..=3usize).prop_flat_map(|n| (Just(n), vec(any_criterion(n), 0..6)))
    ) {
        // An attribute may be called anything, also by a name with a colon.
        let names = ["income", "a:b", "k"][..n_sensitive].iter().map(|name| name.to_string()).collect::<Vec<_>>();
        let mut all = all;
        // One (c,l) per attribute is all that a name can say.
        let mut seen = std::collections::HashSet::new();
        all.retain(|criterion| match criterion.measure {
            Measure::Recursive { sensitive, .. } => seen.insert(sensitive),
            _ => true,
        });
        let criteria = Criteria::new(all);
        let text = serde_json::to_string(&criteria_as_json(&criteria, &names)).expect("JSON");
        let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).expect("JSON");
        let back: Option<Vec<Criterion>> =
            object.iter().map(|(key, value)| criterion_of(key, value, &names)).collect();
        prop_assert_eq!(back.map(Criteria::new), Some(criteria));
    }
}

#[test]
fn what_is_no_criterion_is_not_read_as_one() {
    use serde_json::json;
    let names = ["disease".to_string()];
    for (key, value) in [
        ("m", json!(2)),
        ("k", json!(2.5)),
        ("k", json!(-1)),
        ("k", json!("2")),
        ("l", json!(null)),
        ("t", json!("0.2")),
        ("t", json!(-0.2)),
        ("t", json!(null)),
        ("recursive", json!(2)),
        ("recursive", json!({ "c": 2 })),
        ("recursive", json!({ "c": 2, "l": 0 })),
        ("recursive", json!({ "c": 2, "l": -1 })),
        ("recursive", json!({ "c": 2, "l": 4294967296u64 })),
        ("income:t", json!(0.2)),
        ("", json!(1)),
    ] {
        assert_eq!(criterion_of(key, &value, &names), None, "{key}: {value}");
    }
    assert_eq!(criterion_of("t", &json!(0.2), &[]), None, "there is no sensitive attribute");
    assert_eq!(criterion_of("t", &json!(0.2), &names), Some(criterion(Measure::Closeness(0), 200_000)));
    assert_eq!(criterion_of("disease:t", &json!(1), &names), Some(criterion(Measure::Closeness(0), MILLION)));
}

// ---- What every record keeps on its own ----

/// The table with a number for everybody as its only quasi-identifier, so that all stand alone at level 0.
fn everybody_alone(table: Table) -> Table {
    let n_attributes = table.quasi_identifiers.len();
    let ids: Vec<String> = (0..table.records.len()).map(|i| format!("p{i}")).collect();
    let with_id = |(id, record): (&String, &Vec<Cell>)| [&[Some(id.clone())], &record[n_attributes..]].concat();
    Table {
        records: ids.iter().zip(&table.records).map(with_id).collect(),
        quasi_identifiers: vec![Attribute::flat("id", &ids.iter().map(String::as_str).collect::<Vec<_>>())],
        wanted: Wanted { measures: all_measures(table.sensitive.len(), false), population: None, ..table.wanted },
        ..table
    }
}

proptest! {
    #![proptest_config(chance(150))]

    /// Criteria promise nothing exactly where nobody is suppressed though all stand alone: as the engine measures, and as
    /// verification does.
    #[test]
    fn criteria_promise_nothing_where_everybody_keeps_them_alone(table in any_mixed_tables(), seed in any::<u64>()) {
        let table = everybody_alone(table);
        let naive = Naive::new(&table);
        prop_assume!(naive.n_records() > 0);
        let made = table.make();
        let known = NaiveOutside { references: Some(naive.references.clone()), population: None };
        let outside = known.outside(&table.sensitive);
        let mut dice = Dice(seed);
        for mix in mixes(&table.wanted.measures, 30) {
            let Some(request) = dice.request(&naive, &mix) else { continue };
            let criteria = &request.criteria;
            let is_empty = naive.scheme(&[0]).n_suppressed(criteria) == 0;
            prop_assert_eq!(check_promise_on(criteria, &made.yardstick).is_err(), is_empty, "{:?}", criteria);
            prop_assert_eq!(outside.is_kept_alone(criteria), is_empty, "{:?}", criteria);
            // What needs no table to be known is the same on all.
            prop_assert!(is_empty || check_promise(criteria).is_ok(), "{:?}", criteria);
            prop_assert!(depends_on_table(criteria) || check_promise(criteria).is_err() == is_empty, "{:?}", criteria);
        }
    }
}
