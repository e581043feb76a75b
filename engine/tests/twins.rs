//! Two implementations: everything fast against the definition, on random tables.

use crate::common;

use common::random::{Wish, asked, chance, larger_tables, small_tables, wide_tables, with_policy};
use common::*;
use incrowd::lattice::{groups_of, outcome_of};
use incrowd::search::explain::{Contribution, SizeShare, explain};
use incrowd::search::negotiate::offer_of;
use incrowd::verify::{Outside, SuppressedAs};
use incrowd::{Criteria, Level, Missing, Request, Verifier};
use proptest::collection::vec;
use proptest::prelude::*;

// ---- Annotation ----

#[track_caller]
fn check_annotation(table: &Table) {
    let (made, naive) = (table.make(), Naive::new(table));
    let lattice = &made.lattice;
    assert_eq!(lattice.n_records(), naive.n_records());
    assert_eq!(lattice.n_dropped(), naive.n_dropped);
    assert!(lattice.sensitive().iter().map(|(_, n)| *n).eq(naive.n_values()));
    assert_eq!(lattice.schemes().len(), naive.schemes.len());
    for naive_scheme in &naive.schemes {
        let scheme = scheme(&naive_scheme.levels);
        assert_same_profile(lattice, naive_scheme, table);
        let place = lattice.schemes().place(&scheme);
        let signatures = lattice.profile(place).entries().iter().flat_map(|entry| {
            let signature = lattice.signatures().of(entry.signature as usize);
            std::iter::repeat_n(signature.to_vec(), entry.n_groups as usize)
        });
        let mut signatures: Vec<Vec<u64>> = signatures.collect();
        signatures.sort();
        let (_, groups) =
            groups_of(&made.counts, &made.hierarchies, &scheme, &made.yardstick).expect("one of the schemes");
        let mut straight: Vec<Vec<u64>> = (0..groups.len()).map(|group| groups.of(group).to_vec()).collect();
        straight.sort();
        assert_eq!(signatures, straight, "rolled up and straight from the counts at {scheme} of {table:#?}");
        for criteria in [k(1), k(2), k(5)] {
            let outcome = outcome_of(&made.counts, &made.hierarchies, &made.plan(), &scheme, &criteria);
            let (_, straight) = outcome.expect("weights are fine");
            assert_eq!(lattice.outcome(place, &criteria), straight, "{criteria:?} at {scheme} of {table:#?}");
        }
    }
}

proptest! {
    #![proptest_config(chance(250))]
    #[test]
    fn every_scheme_has_the_profile_of_its_groups(table in small_tables()) {
        check_annotation(&table);
    }
}

proptest! {
    #![proptest_config(chance(60))]
    #[test]
    fn every_scheme_has_the_profile_of_its_groups_also_with_large_groups_and_sets(table in larger_tables()) {
        check_annotation(&table);
    }
}

proptest! {
    #![proptest_config(chance(4))]
    #[test]
    fn every_scheme_has_the_profile_of_its_groups_also_with_wide_keys(table in wide_tables()) {
        let n_bits_of = |n_values: usize| (n_values - 1).checked_ilog2().map_or(0, |n| n + 1);
        let n_bits: u32 = table.counts().domains().iter().map(|domain| n_bits_of(domain.len())).sum();
        prop_assert!(n_bits >= 64, "{n_bits} bits fit into one word");
        check_annotation(&table);
    }
}

/// Sets of sensitive values that take no word, exactly one, one more bit, exactly two, and more.
#[test]
fn sets_of_sensitive_values_of_every_size_are_united() {
    for n_sensitive in [0, 1, 2, 63, 64, 65, 127, 128, 129, 192, 193, 260] {
        let n_records: usize = 2 * n_sensitive.max(40);
        let record = |i: usize| {
            let mut record = vec![Some(format!("{}", i % 7)), Some(format!("{}", i / 20))];
            if n_sensitive > 0 {
                record.push(Some(format!("s{}", i * 37 % n_sensitive)));
            }
            record
        };
        let sevens: Vec<Vec<String>> =
            (0..7).map(|i: usize| vec![i.to_string(), format!("{}", i / 2), format!("{}", i / 4)]).collect();
        let twenties: Vec<Vec<String>> = (0..n_records.div_ceil(20))
            .map(|i: usize| vec![i.to_string(), format!("of {}", i / 3), format!("of {}", i / 9)])
            .collect();
        check_annotation(&Table {
            quasi_identifiers: vec![
                Attribute { name: "sevens".into(), rows: sevens, weight: 1.0 },
                Attribute { name: "twenties".into(), rows: twenties, weight: 0.5 },
            ],
            sensitive: if n_sensitive > 0 { one_sensitive() } else { vec![] },
            has_note: false,
            wanted: Wanted::default(),
            missing: Missing::default(),
            records: (0..n_records).map(record).collect(),
        });
    }
}

// ---- Negotiation ----

#[track_caller]
fn check_negotiation(table: &Table, requests: impl Fn(&Naive) -> Vec<Request>) {
    let (made, naive) = (table.make(), Naive::new(table));
    if naive.n_records() == 0 {
        return;
    }
    for request in requests(&naive) {
        assert_same_negotiation(&made.lattice, &naive, &request, table);
        // What search relies on: bounds that enclose the truth, floors that no scheme is below.
        let suppression = made.lattice.suppression(&request.criteria);
        for naive_scheme in &naive.schemes {
            let place = made.lattice.schemes().place(&scheme(&naive_scheme.levels));
            let n_suppressed = naive_scheme.n_suppressed(&request.criteria);
            let (least, most) = suppression.bounds(place);
            assert_eq!(suppression.exact(place), n_suppressed);
            assert!(least <= n_suppressed && n_suppressed <= most, "{least} to {most} for {n_suppressed}");
            assert!(suppression.floor(naive_scheme.height() as usize) <= n_suppressed);
        }
    }
}

proptest! {
    #![proptest_config(chance(250))]
    #[test]
    fn answers_are_those_of_the_definition((table, wishes) in asked(small_tables())) {
        check_negotiation(&table, |naive| wishes.iter().map(|wish| wish.request(naive)).collect());
    }
}

proptest! {
    #![proptest_config(chance(60))]
    #[test]
    fn answers_are_those_of_the_definition_also_for_large_values((table, wishes) in asked(larger_tables())) {
        check_negotiation(&table, |naive| wishes.iter().map(|wish| wish.request(naive)).collect());
    }
}

/// A lattice of more than 20,000 schemes keeps fewer bounds, so that more schemes have to be looked at closely.
#[test]
fn answers_are_those_of_the_definition_also_in_a_large_lattice() {
    let digits = |a: usize| {
        let row = |i: usize| (0..5).map(|level| format!("{}", i >> level)).collect();
        Attribute { name: format!("q{a}"), rows: (0..32).map(row).collect(), weight: 1.0 }
    };
    let table = Table {
        quasi_identifiers: (0..6).map(digits).collect(),
        sensitive: one_sensitive(),
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: (0..24usize)
            .map(|i| {
                let digit = |a: usize| Some(((i * (a + 3) + (i * i) / (a + 2)) % 32).to_string());
                (0..6).map(digit).chain([Some(format!("s{}", i * i % 11))]).collect()
            })
            .collect(),
    };
    let n_schemes = 6usize.pow(6);
    assert!(n_schemes > 20_000);
    check_negotiation(&table, |naive| {
        assert_eq!(naive.schemes.len(), n_schemes);
        vec![
            request(k(3), 0, &[5, 5, 5, 5, 5, 5]),
            request(k(5), 4, &[2, 3, 4, 3, 2, 4]),
            request(k(7), 2, &[4, 3, 3, 2, 3, 4]),
            request(k(11), 1, &[1, 1, 1, 1, 1, 1]),
            request(k(13), 20, &[5, 0, 5, 0, 5, 0]),
            request(l(3), 3, &[4, 4, 4, 4, 4, 4]),
            request(l(5), 0, &[3, 3, 3, 3, 3, 3]),
            request(k_and_l(6, 3), 0, &[3, 4, 3, 4, 3, 4]),
            request(k_and_l(9, 6), 2, &[2, 2, 2, 2, 2, 2]),
        ]
    });
}

// ---- Explanation ----

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn explanations_are_differences_between_schemes((table, wishes) in asked(small_tables())) {
        let (made, naive) = (table.make(), Naive::new(&table));
        for wish in wishes.iter().filter(|_| naive.n_records() > 0) {
            let (levels, criteria) = (wish.levels(&naive), wish.criteria(&naive));
            let explanation = explain(&made.lattice, &scheme(&levels), &criteria).expect("one of the schemes");
            let naive_scheme = naive.scheme(&levels);
            let n_suppressed = naive_scheme.n_suppressed(&criteria);
            prop_assert_eq!(explanation.n_suppressed, n_suppressed);
            prop_assert_eq!(explanation.scheme, scheme(&levels));

            let mut by_size = std::collections::BTreeMap::new();
            for group in &naive_scheme.groups {
                let (n_records, n_lost) = by_size.entry(group.size()).or_insert((0, 0));
                *n_records += group.size();
                *n_lost += if group.holds(&criteria) { 0 } else { group.size() };
            }
            let by_size: Vec<SizeShare> = by_size
                .into_iter()
                .map(|(size, (n_records, n_suppressed))| SizeShare { size, n_records, n_suppressed })
                .collect();
            prop_assert_eq!(explanation.by_size, by_size);

            let suppressed_with = |a: usize, level: u8| {
                let mut changed = levels.clone();
                changed[a] = level;
                naive.scheme(&changed).n_suppressed(&criteria)
            };
            let contribution = |a: usize| Contribution {
                attribute: a,
                level: Level(levels[a]),
                n_caused: n_suppressed - suppressed_with(a, naive.tops[a]),
                n_saved_by_next: (levels[a] < naive.tops[a]).then(|| n_suppressed - suppressed_with(a, levels[a] + 1)),
            };
            let by_attribute: Vec<Contribution> = (0..levels.len()).map(contribution).collect();
            prop_assert_eq!(explanation.by_attribute, by_attribute);
            assert_same_offer(
                &offer_of(&made.lattice, &scheme(&levels), &criteria).expect("one of the schemes"),
                &naive.offer(naive_scheme, &criteria),
            );
        }
    }
}

// ---- Publishing and verifying ----

/// Publishes what some wishes agree on; the rows, the numbers and the verdict must be those of the definition.
#[track_caller]
fn check_publishing(table: &Table, wishes: &[Wish]) {
    let (made, naive) = (table.make(), Naive::new(table));
    for wish in wishes.iter().filter(|_| naive.n_records() > 0) {
        let (levels, criteria) = (wish.levels(&naive), wish.criteria(&naive));
        let (rows, n_suppressed, n_dropped) = publish(table, &made, &levels, &criteria);
        let expected = naive.published(&levels, &criteria);
        assert!(rows == expected, "{rows:#?}\nis not {expected:#?}\nat {levels:?} under {criteria:?} of {table:#?}");
        assert_eq!(n_suppressed, naive.scheme(&levels).n_suppressed(&criteria));
        assert_eq!(n_dropped, naive.n_dropped);

        let (of_base, groups) =
            groups_of(&made.counts, &made.hierarchies, &scheme(&levels), &made.yardstick).expect("one of the schemes");
        assert_eq!(groups.len(), naive.scheme(&levels).groups.len());
        assert_eq!(of_base.len(), made.counts.n_groups());

        let offer = naive.offer(naive.scheme(&levels), &criteria);
        let verdict = judge(table, &rows, &criteria, SuppressedAs::Group);
        assert!(verdict.holds(), "{verdict:?}");
        assert_eq!(verdict.n_groups, offer.n_groups);
        assert_eq!(verdict.smallest_group, offer.reached.first().map(|(_, size)| *size));
        assert_eq!(verdict.n_records + n_suppressed, naive.n_records());
    }
}

fn judge(table: &Table, rows: &[Vec<Cell>], criteria: &Criteria, suppressed_as: SuppressedAs) -> incrowd::Verdict {
    let names: Vec<String> = table.quasi_identifier_names().into_iter().map(String::from).collect();
    let sensitive: Vec<String> = table.sensitive_names().into_iter().map(String::from).collect();
    let mut verifier = Verifier::new(&names, &sensitive, suppressed_as);
    verifier.push(&batch(&table.names(), rows)).expect("columns of texts");
    verifier.verdict(criteria, &Outside::default())
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn a_release_is_the_generalized_table_without_the_groups_that_fail(
        (table, wishes) in asked(with_policy(small_tables(), false))
    ) {
        check_publishing(&table, &wishes);
    }
}

proptest! {
    #![proptest_config(chance(200))]
    #[test]
    fn a_release_is_the_same_where_records_without_a_value_are_dropped(
        (table, wishes) in asked(with_policy(small_tables(), true))
    ) {
        check_publishing(&table, &wishes);
    }
}

proptest! {
    #![proptest_config(chance(4))]
    #[test]
    fn a_release_is_the_generalized_table_also_with_wide_keys((table, wishes) in asked(wide_tables())) {
        check_publishing(&table, &wishes);
    }
}

/// Rows of a few texts, `*` among them.
fn rows_to_judge() -> impl Strategy<Value = (Vec<Vec<Cell>>, usize)> {
    let cell =
        prop_oneof![Just(Some("*".to_string())), Just(Some("a".to_string())), Just(Some(String::new())), Just(None),];
    (vec(vec(cell, 4), 0..=30), 1..=3usize)
}

proptest! {
    #![proptest_config(chance(400))]
    #[test]
    fn verdicts_are_those_of_the_definition(
        (rows, n_attributes) in rows_to_judge(),
        has_sensitive in any::<bool>(),
        is_absent in any::<bool>(),
        k in proptest::option::of(1..=8u64),
        l in proptest::option::of(1..=4u64),
        n_first in 0..=30usize,
    ) {
        let names: Vec<String> = (0..4).map(|i| format!("q{i}")).collect();
        let columns: Vec<&str> = names.iter().map(String::as_str).collect();
        let suppressed_as = if is_absent { SuppressedAs::Absent } else { SuppressedAs::Group };
        let n_sensitive = usize::from(has_sensitive);
        let criteria = Criteria::of(k, l.filter(|_| has_sensitive));
        let mut verifier = Verifier::new(&names[..n_attributes], &names[n_attributes..][..n_sensitive], suppressed_as);
        let (first, second) = rows.split_at(n_first.min(rows.len()));
        verifier.push(&batch(&columns, first)).expect("columns of texts");
        verifier.push(&batch(&columns, second)).expect("columns of texts");
        let verdict = verifier.verdict(&criteria, &Outside::default());
        let expected = verify(&rows, n_attributes, n_sensitive, &criteria, suppressed_as, &NaiveOutside::default());
        prop_assert_eq!(&verdict, &expected);
        let holds = expected.findings.iter().all(|finding| finding.n_groups_failing == 0);
        prop_assert_eq!(verdict.holds(), holds && !criteria.is_empty());
    }
}

// ---- Found by the above ----

/// A record that is dropped has a value that no other record has; the others can be published all the same.
#[test]
fn a_dropped_record_with_a_value_of_its_own_does_not_stop_publishing() {
    let table = Table {
        quasi_identifiers: vec![Attribute::flat("age", &["20", "30"]), Attribute::flat("sex", &["f"])],
        sensitive: vec![],
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing { tokens: vec![], drop_records: true, ..Missing::default() },
        records: records(&[&[Some("20"), Some("f")], &[Some("20"), Some("f")], &[Some("30"), None]]),
    };
    let (rows, n_suppressed, n_dropped) = publish(&table, &table.make(), &[0, 0], &k(2));
    assert_eq!(rows, records(&[&[Some("20"), Some("f")], &[Some("20"), Some("f")]]));
    assert_eq!((n_suppressed, n_dropped), (0, 1));
}

/// A table of one record, whose attributes have one value each.
#[test]
fn a_single_record_can_be_counted_and_answered() {
    let table = Table {
        quasi_identifiers: vec![Attribute::flat("age", &["20"]), Attribute::flat("sex", &["f"])],
        sensitive: one_sensitive(),
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: records(&[&[Some("20"), Some("f"), Some("flu")]]),
    };
    check_annotation(&table);
    check_negotiation(&table, |_| vec![request(k_and_l(1, 1), 0, &[0, 0])]);
}

/// A table without records has no groups, and nothing can be asked of it.
#[test]
fn a_table_without_records_can_be_annotated() {
    let table = Table {
        quasi_identifiers: vec![Attribute::flat("age", &["20"]), Attribute::flat("sex", &["f"])],
        sensitive: one_sensitive(),
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: vec![],
    };
    check_annotation(&table);
    assert!(incrowd::negotiate(&table.make().lattice, &request(k(1), 0, &[0, 0])).is_err());
}
