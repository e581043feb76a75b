//! What methods and the check of releases make of people.

use super::*;

fn text(n: i64) -> incrowd::verify::Text {
    Some(n.to_string())
}

/// What the independent check finds for every measure is what the definitions say.
fn check_verifier(records: &[Record], scheme: &Scheme, distance: Distance) {
    let mut verifier = PeopleVerifier::new(1);
    let mut table_values: std::collections::HashMap<_, u64> = Default::default();
    for record in records {
        verifier.see_original(&record[3].to_string(), [text(record[2])].into_iter());
        *table_values.entry(text(record[2])).or_default() += 1;
        let (x, y) = generalized(record, scheme);
        verifier.see_published(vec![text(x), text(y)], &record[3].to_string(), [text(record[2])].into_iter());
    }
    let original = Original::new("ill", table_values, distance, &Default::default());
    let outside = Outside { originals: vec![Some(original)], population: None };
    let table = group(records);
    for measure in MEASURES {
        let asked = Criteria::new([Criterion { measure, value: if measure.is_at_least() { 1 } else { MILLION } }]);
        let finding = verifier.findings(&asked, &outside)[0];
        let of_groups = groups(records, scheme).into_values();
        let values = of_groups.map(|here| defined(measure, &group(&here), &table, distance).unwrap_or(f64::INFINITY));
        let worst = match measure.is_at_least() {
            true => values.fold(f64::INFINITY, f64::min),
            false => values.fold(0.0, f64::max),
        };
        let worst = Some(worst).filter(|value| value.is_finite());
        assert!(is_near(measure, finding.reached.expect("there are groups"), worst), "{:?}", measure);
    }
}

/// The independent check, on every tiny table, as it is and all in one group.
#[test]
fn the_check_of_people_agrees_with_the_definitions_on_every_tiny_table() {
    for records in tiny_tables(true) {
        for levels in [0, 3] {
            check_verifier(&records, &Scheme::new(vec![Level(levels), Level(levels)]), Distance::Equal);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// The independent check finds for every group what the definitions say.
    #[test]
    fn the_check_of_people_agrees_with_the_definitions(
        records in tables(), levels in (0..4u8, 0..4u8), is_ordered in any::<bool>()
    ) {
        let distance = if is_ordered { Distance::Ordered } else { Distance::Equal };
        check_verifier(&records, &Scheme::new(vec![Level(levels.0), Level(levels.1)]), distance);
    }

    /// Local methods, told whose records are whose: every class has k people, and what is judged is what is there.
    #[test]
    fn local_methods_keep_k_for_people(records in tables(), k in 1..4u64, which in 0..4usize) {
        let counts = counts(&records);
        let k = k.min(counts.n_people());
        let by_person = counts.by_person();
        prop_assert_eq!(by_person.n_records(), counts.n_records());
        let hierarchies = hierarchies(&counts);
        let least = Least { k, l: Some(k), sensitive: 1 };
        let assignment = Assignment {
            counts: &by_person, hierarchies: &hierarchies, weights: &[1.0, 1.0], least, seed: 0, n_exchanges: 0,
        };
        let recoding = Method::KEEPING_L[which].recode(&assignment, CellStyle::Ranges, &Task::default()).expect("small");
        let yardstick = Yardstick::new(&counts, &[], MEASURES).expect("a sensitive attribute");
        let judged = judge(&by_person, &hierarchies, &[1.0, 1.0], &yardstick, &recoding).expect("its recoding");
        prop_assert!(judged.reached(Measure::Size).expect("groups") >= k);
        // Published with whose record it is, and counted plainly.
        let columns = vec![
            Column::Recoded(0, "x".into()), Column::Recoded(1, "y".into()), Column::Kept("ill".into()),
            Column::Person(vec!["who".into()]),
        ];
        let missing = Missing::default();
        let mut publisher = Publisher::new(&by_person, &recoding, &missing, columns);
        let recoded = publisher.recode(&batch(&records)).expect("readable");
        let mut waiting = recoded.waiting;
        waiting.sort();
        let mut rows = recoded.rows;
        for row in &waiting {
            rows.extend(publisher.settle(row).expect("the same table").map(|(row, _)| row));
        }
        publisher.finish().expect("all came by");
        let mut verifier = PeopleVerifier::new(1);
        for row in &rows {
            let cells = row.cells();
            let person = cells[3].clone().expect("somebody");
            verifier.see_published(cells[..2].to_vec(), &person, [cells[2].clone()].into_iter());
        }
        prop_assert_eq!(verifier.smallest_group(), judged.reached(Measure::Size));
        let unrelated = [Measure::Size, Measure::Distinct(0), Measure::Share(0), Measure::Entropy(0)];
        for measure in unrelated {
            let asked = Criteria::new([Criterion { measure, value: if measure.is_at_least() { 1 } else { MILLION } }]);
            let reached = verifier.findings(&asked, &Outside::default())[0].reached;
            prop_assert_eq!(reached, judged.reached(measure), "{:?}", measure);
        }
    }
}

/// Who is in each group that readers see.
fn people_as_seen(counts: &GroupCounts, recoding: &incrowd::recode::Recoding) -> BTreeMap<Vec<String>, BTreeSet<u32>> {
    let mut groups: BTreeMap<Vec<String>, BTreeSet<u32>> = BTreeMap::new();
    for base in 0..counts.n_groups() {
        for share in recoding.shares(base) {
            let Some(at) = share.group.map(|group| group as usize) else { continue };
            let cells = (0..recoding.n_attributes()).map(|a| recoding.cell(at, a).text.clone()).collect();
            let mut of = |codes: &[incrowd::table::Code]| {
                let who = codes[codes.len() - 1].0;
                groups.entry(Vec::clone(&cells)).or_default().insert(who);
            };
            match share.cell {
                Some(cell) => of(counts.cell(base, cell as usize).expect("a cell of the group").0),
                None => counts.cells(base).for_each(|(codes, _)| of(codes)),
            }
        }
    }
    groups
}

/// Every method that keeps k by construction, on every tiny table, for every k: no group has fewer people.
#[test]
fn every_method_keeps_k_for_people_on_every_tiny_table() {
    let (tables, mut n_tried) = (tiny_tables(true), 0);
    for records in &tables {
        let counts = counts(records);
        let (by_person, hierarchies) = (counts.by_person(), hierarchies(&counts));
        for k in 2..=counts.n_people() {
            let least = Least { k, l: Some(k), sensitive: 1 };
            let assignment = Assignment {
                counts: &by_person,
                hierarchies: &hierarchies,
                weights: &[1.0, 1.0],
                least,
                seed: 0,
                n_exchanges: 0,
            };
            let local = Method::KEEPING_L.map(|method| {
                method.recode(&assignment, CellStyle::Ranges, &Task::default()).expect("there are k people")
            });
            let sensitivities = Sensitivities::equal(&hierarchies);
            let problem =
                Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Identity, sensitivities, Match::Exact);
            let levels = grouped(&problem.expect("small"), &counts, vec![vec![0, 0]; counts.n_groups()], k);
            let one_by_one = recode_one_by_one(&counts, &hierarchies, &levels.expect("there are k people"));
            for recoding in local.iter().chain([&one_by_one]) {
                let seen = people_as_seen(&by_person, recoding);
                assert!(
                    !seen.is_empty() && seen.values().all(|who| who.len() as u64 >= k),
                    "{records:?}, k = {k}: {seen:?}"
                );
                n_tried += 1;
            }
        }
    }
    assert!(n_tried > 20_000, "{n_tried}");
}

/// Dealing, on every tiny table, for every k: everybody's records are dealt once, no hand has fewer than k people, hands
/// have as many of each value as the others or one more, and where k are not there it is refused.
#[test]
fn dealt_hands_have_k_people_on_every_tiny_table() {
    let mut n_several_hands = 0;
    for records in tiny_tables(true) {
        let counts = counts(&records);
        let (by_person, hierarchies) = (counts.by_person(), hierarchies(&counts));
        let n_people = group(&records).len() as u64;
        for (method, k) in [Method::Deal, Method::DealPlain].into_iter().flat_map(|m| (1..=4).map(move |k| (m, k))) {
            let assignment = Assignment {
                counts: &counts,
                hierarchies: &hierarchies,
                weights: &[1.0, 1.0],
                least: Least::of(k, None),
                seed: 7,
                n_exchanges: 5,
            };
            let dealt = method.deal_to_people(&assignment, &by_person, &Task::default());
            if k > n_people {
                assert!(dealt.is_err_and(|error| error.kind() == ErrorKind::Request), "{records:?}, k = {k}");
                continue;
            }
            let (hands, whose) = dealt.expect("there are k people");
            // Hand by hand, whose records with which values they are.
            let mut left: BTreeMap<Record, i64> = BTreeMap::new();
            records.iter().for_each(|record| *left.entry(*record).or_default() += 1);
            let mut n_of_value: Vec<BTreeMap<i64, u64>> = Vec::new();
            for parts in whose.classes() {
                let (mut people, mut values) = (BTreeSet::new(), BTreeMap::from([(0, 0), (1, 0)]));
                for part in parts {
                    let base = part.base as usize;
                    let number = |domain: &incrowd::table::Domain, code: incrowd::table::Code| -> i64 {
                        domain.values()[code.index()].parse().expect("a number")
                    };
                    let xy: Vec<i64> =
                        (0..2).map(|a| number(&by_person.domains()[a], by_person.codes(base)[a])).collect();
                    let (codes, _) = by_person.cell(base, part.value.expect("by cell").index()).expect("a cell");
                    let of = |s: usize| number(&by_person.sensitive()[s], codes[s]);
                    people.insert(of(1));
                    *values.entry(of(0)).or_default() += part.n_records;
                    *left.entry([xy[0], xy[1], of(0), of(1)]).or_default() -= part.n_records as i64;
                }
                assert!(people.len() as u64 >= k, "{records:?}, {method:?}, k = {k}: {people:?}");
                n_of_value.push(values);
            }
            assert!(left.values().all(|n| *n == 0), "{records:?}: {left:?}");
            for value in [0, 1] {
                let n: Vec<u64> = n_of_value.iter().map(|of_hand| of_hand[&value]).collect();
                assert!(n.iter().max().expect("a hand") - n.iter().min().expect("a hand") <= 1, "{records:?}: {n:?}");
            }
            assert_eq!(hands.n_classes(), whose.n_classes());
            n_several_hands += u64::from(k > 1 && hands.n_classes() > 1);
            let recoding = whose.recode(&by_person, &hierarchies, CellStyle::Ranges);
            let seen = people_as_seen(&by_person, &recoding);
            assert!(seen.values().all(|who| who.len() as u64 >= k), "{records:?}, {method:?}, k = {k}: {seen:?}");
        }
    }
    assert!(n_several_hands > 500, "{n_several_hands}: this tries too little");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Dealt hands, told whose records are whose: the same hands, every record once, and as many people as are said.
    #[test]
    fn dealt_records_are_somebodys(records in tables(), k in 1..5u64) {
        let counts = counts(&records);
        let by_person = counts.by_person();
        let hierarchies = hierarchies(&counts);
        let k = k.min(counts.n_records());
        let assignment = Assignment {
            counts: &counts, hierarchies: &hierarchies, weights: &[1.0, 1.0], least: Least::of(k, None), seed: 3,
            n_exchanges: 5,
        };
        let partition = Method::Deal.partition(&assignment, &Task::default()).expect("small");
        let whose = deal::by_person(&counts, &by_person, &partition);
        let mut sizes = [partition.sizes().collect::<Vec<u64>>(), whose.sizes().collect()];
        sizes.iter_mut().for_each(|sizes| sizes.sort_unstable());
        prop_assert_eq!(&sizes[0], &sizes[1]);
        let mut left: BTreeMap<(u32, usize), u64> = BTreeMap::new();
        for base in 0..by_person.n_groups() {
            by_person.cells(base).enumerate().for_each(|(place, (_, n))| {
                left.insert((base as u32, place), n);
            });
        }
        for part in whose.classes().flatten() {
            *left.get_mut(&(part.base, part.value.expect("a cell").index())).expect("a cell of the group") -= part.n_records;
        }
        prop_assert!(left.values().all(|n| *n == 0));
        let recoding = whose.recode(&by_person, &hierarchies, CellStyle::Ranges);
        let yardstick = Yardstick::new(&counts, &[], MEASURES).expect("a sensitive attribute");
        let judged = judge(&by_person, &hierarchies, &[1.0, 1.0], &yardstick, &recoding).expect("its recoding");
        prop_assert!(judged.reached(Measure::Size).expect("groups") >= deal::fewest_people(&by_person, &whose));
    }

    /// Whom an attacker finds is never said to be more people than there are; nor fewer than those who are in one group.
    #[test]
    fn a_dictionary_never_has_more_people_than_there_are(records in tables(), levels in (0..4u8, 0..4u8)) {
        let counts = counts(&records);
        let hierarchies = hierarchies(&counts);
        let dictionary = Dictionary::new(&counts, &hierarchies, Match::Exact).expect("small");
        let scheme = Scheme::new(vec![Level(levels.0), Level(levels.1)]);
        for base in 0..counts.n_groups() {
            let label = |a: usize| {
                let level = hierarchies[a].level(scheme.level(a));
                Span::Label(scheme.level(a) as u8, level.of_base()[counts.codes(base)[a].index()])
            };
            let spans = [label(0), label(1)];
            let found = dictionary.n_fitting_spans(&spans.iter().collect::<Vec<_>>());
            let value = |a: usize| counts.domains()[a].values()[counts.codes(base)[a].index()].parse().expect("a number");
            let place = generalized(&[value(0), value(1), 0, 0], &scheme);
            let here = group(&groups(&records, &scheme)[&place]);
            let everywhere = |who: &i64| {
                records.iter().filter(|record| record[3] == *who).all(|record| generalized(record, &scheme) == place)
            };
            prop_assert!(found <= here.len() as u64);
            prop_assert!(found >= here.keys().filter(|who| everywhere(who)).count() as u64);
        }
    }

    /// Records one by one, and then groups of k people.
    #[test]
    fn groups_made_afterwards_have_k_people(records in tables(), k in 1..4u64) {
        let counts = counts(&records);
        let k = k.min(counts.n_people());
        let hierarchies = hierarchies(&counts);
        let sensitivities = Sensitivities::equal(&hierarchies);
        let problem =
            Problem::new(&counts, &hierarchies, Utility::LogLeaves, Risk::Sensitivity, sensitivities, Match::Exact).expect("small");
        let levels = grouped(&problem, &counts, vec![vec![0, 0]; counts.n_groups()], k).expect("enough people");
        let recoding = recode_one_by_one(&counts, &hierarchies, &levels);
        let yardstick = Yardstick::new(&counts, &[], []).expect("sizes");
        let judged = judge(&counts, &hierarchies, &[1.0, 1.0], &yardstick, &recoding).expect("its recoding");
        prop_assert!(judged.reached(Measure::Size).expect("groups") >= k);
    }
}
