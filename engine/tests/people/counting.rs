//! Groups, measures and lattices of people, beside the definitions.

use super::*;

fn check_definitions(records: &[Record], distance: Distance) {
    let counts = counts(records);
    check_measures(records, distance, &counts, &yardstick(&counts, distance));
    // k and l alone are counted in a way of their own.
    let yardstick = Yardstick::new(&counts, &[], []).expect("a sensitive attribute");
    check_measures(records, distance, &counts, &yardstick);
}

fn check_measures(records: &[Record], distance: Distance, counts: &GroupCounts, yardstick: &Yardstick) {
    let hierarchies = hierarchies(counts);
    let plan = Plan { weights: &[1.0, 1.0], yardstick, with_entropy: false };
    let lattice = annotate(counts, &hierarchies, &plan, &Task::default()).expect("small");
    let table = group(records);
    for place in 0..lattice.schemes().len() {
        let scheme = lattice.schemes().scheme(place);
        let (group_of_base, measured) = groups_of(counts, &hierarchies, &scheme, yardstick).expect("a scheme");
        let naive = groups(records, &scheme);
        assert_eq!(measured.len(), naive.len());
        // By what is seen, how many groups: of the plain way and of the lattice.
        let mut seen: BTreeMap<(Vec<u64>, u64), u32> = BTreeMap::new();
        for (base, &at) in group_of_base.iter().enumerate() {
            let value =
                |a: usize| counts.domains()[a].values()[counts.codes(base)[a].index()].parse().expect("a number");
            let here = &naive[&generalized(&[value(0), value(1), 0, 0], &scheme)];
            let at = at as usize;
            assert_eq!(measured.n_records(at), here.len() as u64);
            for (measure, value) in measured.measures().iter().zip(measured.of(at)) {
                let defined = defined(*measure, &group(here), &table, distance);
                assert!(
                    is_near(*measure, *value, defined),
                    "{measure:?}: {value} where {defined:?} is right, {here:?}"
                );
            }
        }
        for at in 0..measured.len() {
            *seen.entry((measured.of(at).to_vec(), measured.n_records(at))).or_insert(0) += 1;
        }
        let signatures = lattice.signatures();
        let of_entry = |entry: &incrowd::lattice::profile::Entry| {
            let signature = entry.signature as usize;
            ((signatures.of(signature).to_vec(), signatures.n_records(signature)), entry.n_groups)
        };
        let profile: BTreeMap<_, u32> = lattice.profile(place).entries().iter().map(of_entry).collect();
        assert_eq!(profile, seen, "at {:?}", scheme);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_measure_of_every_group_is_as_defined(records in tables(), is_ordered in any::<bool>()) {
        check_definitions(&records, if is_ordered { Distance::Ordered } else { Distance::Equal });
    }
}

/// Two people in many groups, some others, and so many values that they are not kept as bits.
fn wide_tables() -> impl Strategy<Value = Vec<Record>> {
    let record = |n_people: i64| (0..40i64, 0..3i64, 0..90i64, 0..n_people);
    let of_two = (0..40i64, 0..2i64, 0..90i64, 0..2i64);
    let others = prop::collection::vec(record(30), 10..80);
    (prop::collection::vec(of_two, 30..90), others, 1..80i64).prop_map(|(of_two, others, n_alone)| {
        let alone = (0..n_alone).map(|i| (i % 7, i % 2, i, 100 + i));
        of_two.into_iter().chain(others).chain(alone).map(|(x, y, ill, who)| [x, y, ill, who]).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Every way to count people gives what counting them straight from the table gives, on one thread or two, with few values
    /// or many.
    #[test]
    fn people_in_many_groups_with_many_values_are_counted_as_in_the_table(
        records in wide_tables(),
        has_sensitive in any::<bool>(),
        n_threads in 1..3usize,
    ) {
        let sensitive: &[&str] = if has_sensitive { &["ill"] } else { &[] };
        let mut counter = Counter::of_people(&["x", "y"], sensitive, &["who"], &Missing::default());
        counter.push(&batch(&records)).expect("readable");
        let counts = counter.finish();
        // So many levels that two threads share the work; two, three or four groups become one.
        let rules = [vec![2.0, 8.0, 24.0, 48.0], vec![3.0, 6.0, 12.0, 24.0, 48.0]];
        let rules = rules.map(|widths| Rule::intervals(widths, 0.0).expect("a rule"));
        let hierarchies: Vec<Hierarchy> =
            counts.domains().iter().zip(&rules).map(|(domain, rule)| rule.resolve(domain).expect("numbers")).collect();
        let measures = if has_sensitive { &MEASURES[..] } else { &[] };
        for measures in [&[][..], measures] {
            let yardstick = Yardstick::new(&counts, &[], measures.iter().copied()).expect("a sensitive attribute");
            let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
            let threads = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
            let lattice =
                threads.install(|| annotate(&counts, &hierarchies, &plan, &Task::default())).expect("small");
            for place in 0..lattice.schemes().len() {
                let scheme = lattice.schemes().scheme(place);
                let (_, measured) = groups_of(&counts, &hierarchies, &scheme, &yardstick).expect("a scheme");
                let mut plainly: BTreeMap<(Vec<u64>, u64), u32> = BTreeMap::new();
                for at in 0..measured.len() {
                    *plainly.entry((measured.of(at).to_vec(), measured.n_records(at))).or_default() += 1;
                }
                let signatures = lattice.signatures();
                let seen = lattice.profile(place).entries().iter().map(|entry| {
                    let at = entry.signature as usize;
                    ((signatures.of(at).to_vec(), signatures.n_records(at)), entry.n_groups)
                });
                prop_assert_eq!(seen.collect::<BTreeMap<_, u32>>(), plainly, "at {:?}", scheme);
            }
        }
    }

    #[test]
    fn the_number_of_values_that_tell_most_is_theirs(
        few in prop::collection::vec(1..6u64, 0..12),
        many in prop::collection::vec(1..300u64, 0..12),
        share in 0..=100u64,
    ) {
        for counts in [few.clone(), many.clone(), [few, many].concat()] {
            let histogram: Vec<(u32, u64)> = (0..).zip(counts.iter().copied()).collect();
            let n_people = counts.iter().sum::<u64>() * share / 100;
            let n_values = told_most(&histogram, n_people).len() as u64;
            prop_assert_eq!(n_told_most(counts.iter().copied(), n_people), n_values);
        }
    }
}

#[test]
fn every_tiny_table_is_counted_as_defined() {
    let tables = tiny_tables(false);
    assert!(tables.len() > 5_000, "{}", tables.len());
    tables.iter().for_each(|table| check_definitions(table, Distance::Equal));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whoever counts everybody once, with whichever of their values, finds no fewer different ones, no less uncertainty
    /// and no greater ratio than was promised; and no set of fewer than l values has one of everybody's.
    #[test]
    fn nobody_can_count_people_so_that_less_is_kept(
        sets in prop::collection::vec(prop::collection::btree_set(0..5i64, 1..4), 1..7)
    ) {
        let group: Group = (0..).zip(sets).collect();
        let having: Vec<(u32, u64)> =
            (0..5).map(|value| (value as u32, n_having(&group, value) as u64)).filter(|(_, n)| *n > 0).collect();
        let most = told_most(&having, group.len() as u64);
        prop_assert_eq!(most.iter().map(|(_, n)| n).sum::<u64>(), group.len() as u64);
        let entropy = |counts: &[u64]| {
            let n: u64 = counts.iter().sum();
            -counts.iter().map(|c| *c as f64 / n as f64 * (*c as f64 / n as f64).ln()).sum::<f64>()
        };
        let mut counts: Vec<u64> = most.iter().map(|(_, n)| *n).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for way in ways(&group) {
            prop_assert!(way.len() >= most.len());
            prop_assert!(entropy(&way) >= entropy(&counts) - 1e-12);
            for l in 1..4 {
                let rest = |counts: &[u64]| counts.iter().skip(l - 1).sum::<u64>();
                // way[0] / rest(way) ≤ counts[0] / rest(counts)
                prop_assert!(way[0] * rest(&counts) <= counts[0] * rest(&way));
            }
        }
        // An attacker who names values, one of which everybody has, needs at least l.
        for named in 0u32..32 {
            let is_named = |value: &i64| named >> value & 1 == 1;
            if group.values().all(|values| values.iter().any(is_named)) {
                prop_assert!(named.count_ones() as usize >= most.len());
            }
        }
    }

    /// People with one record each are records: nothing says otherwise.
    #[test]
    fn people_with_one_record_each_are_records(records in tables()) {
        let records: Vec<Record> = (0..).zip(records).map(|(who, [x, y, ill, _])| [x, y, ill, 900 - who]).collect();
        let (people, plain) = (counts(&records), without_people(&records));
        prop_assert!(people.people().is_none());
        let hierarchies = hierarchies(&plain);
        let made = |counts: &GroupCounts| {
            let yardstick = yardstick(counts, Distance::Equal);
            let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
            let lattice = annotate(counts, &hierarchies, &plan, &Task::default()).expect("small");
            let profiles: Vec<_> = (0..lattice.schemes().len()).map(|place| lattice.profile(place).clone()).collect();
            (lattice.signatures().clone(), profiles)
        };
        prop_assert_eq!(made(&people), made(&plain));
    }

    /// A record that is written twice changes no number of people and no verdict.
    #[test]
    fn a_record_written_twice_changes_nothing_of_people(records in tables(), at in any::<prop::sample::Index>()) {
        let mut more = records.clone();
        more.push(records[at.index(records.len())]);
        let seen = |records: &[Record]| {
            let counts = counts(records);
            let (hierarchies, yardstick) = (hierarchies(&counts), yardstick(&counts, Distance::Ordered));
            let schemes = [[0, 0], [1, 0], [2, 1], [3, 3]].map(|levels| Scheme::new(levels.map(Level).to_vec()));
            schemes.map(|scheme| {
                let (groups, measured) = groups_of(&counts, &hierarchies, &scheme, &yardstick).expect("a scheme");
                (groups, (0..measured.len()).map(|at| measured.of(at).to_vec()).collect::<Vec<_>>())
            })
        };
        prop_assert_eq!(seen(&records), seen(&more));
    }

    /// On the way up, people under k never grow.
    #[test]
    fn k_over_people_is_monotone(records in tables(), k in 1..5u64) {
        let counts = counts(&records);
        let (hierarchies, yardstick) = (hierarchies(&counts), yardstick(&counts, Distance::Equal));
        let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
        let lattice = annotate(&counts, &hierarchies, &plan, &Task::default()).expect("small");
        let schemes = lattice.schemes();
        let criteria = Criteria::of(Some(k), None);
        for place in 0..schemes.len() {
            for other in 0..schemes.len() {
                let is_finer = schemes.vector(place).iter().zip(schemes.vector(other)).all(|(a, b)| a <= b);
                prop_assert!(!is_finer || lattice.n_suppressed(place, &criteria) >= lattice.n_suppressed(other, &criteria));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Where people are in one group with one value each they add up, which is quick: the same lattices as by the way that
    /// holds for everybody.
    #[test]
    fn people_who_add_up_are_counted_as_all_others(records in tables(), n_more in 1..30usize, is_drifting in any::<bool>()) {
        // Everybody's records are like their first one, and some have more of them.
        let mut first: BTreeMap<i64, Record> = BTreeMap::new();
        records.iter().for_each(|record| {
            first.entry(record[3]).or_insert(*record);
        });
        let mut records: Vec<Record> = records.iter().map(|record| first[&record[3]]).collect();
        let more: Vec<Record> = (0..n_more).map(|i| records[i * 7 % records.len()]).collect();
        records.extend(more);
        if is_drifting {
            records[0][0] = 4 - records[0][0];
        }
        let counts = counts(&records);
        let hierarchies = hierarchies(&counts);
        let made = |measures: &[Measure]| {
            let yardstick = Yardstick::new(&counts, &[], measures.iter().copied()).expect("a sensitive attribute");
            let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
            annotate(&counts, &hierarchies, &plan, &Task::default()).expect("small")
        };
        let (quick, other) = (made(&[]), made(&[Measure::Share(0)]));
        for place in 0..quick.schemes().len() {
            let seen = |lattice: &Lattice| {
                let mut seen: BTreeMap<(u64, u64, u64), (u32, u64)> = BTreeMap::new();
                for entry in lattice.profile(place).entries() {
                    let (of, signatures) = (entry.signature as usize, lattice.signatures());
                    let key = (signatures.size(of), signatures.of(of)[1], signatures.n_records(of));
                    let (n_groups, loss) = seen.entry(key).or_default();
                    (*n_groups, *loss) = (*n_groups + entry.n_groups, *loss + entry.loss);
                }
                seen
            };
            prop_assert_eq!(seen(&quick), seen(&other));
            let entries = quick.profile(place).entries();
            prop_assert!(entries.windows(2).all(|w| w[0].signature < w[1].signature));
        }
    }
}

#[test]
fn somebody_in_two_groups_counts_once_in_their_union() {
    // People {1,2} and {2,3}, of whom 1 and 3 have the value: 1/2, 1/2, then 2/3.
    let records = [[0, 0, 1, 1], [0, 0, 0, 2], [1, 0, 0, 2], [1, 0, 1, 3]];
    let counts = counts(&records);
    let (hierarchies, yardstick) = (hierarchies(&counts), yardstick(&counts, Distance::Equal));
    let measured = |x: u8| {
        groups_of(&counts, &hierarchies, &Scheme::new(vec![Level(x), Level(0)]), &yardstick).expect("a scheme").1
    };
    let share = |measured: &incrowd::criterion::Measured, at: usize| {
        measured.of(at)[measured.column(Measure::Share(0)).expect("measured")]
    };
    let (apart, together) = (measured(0), measured(1));
    assert_eq!((apart.size(0), apart.size(1), together.size(0), together.n_records(0)), (2, 2, 3, 4));
    assert_eq!((share(&apart, 0), share(&apart, 1), share(&together, 0)), (500_000, 500_000, 666_667));
}

#[test]
fn several_columns_name_one_person() {
    let column = |values: [&str; 4]| -> ArrayRef { Arc::new(arrow_array::StringArray::from_iter_values(values)) };
    let columns = [
        ("x", column(["1", "1", "1", "1"])),
        ("hospital", column(["a", "a", "b", "1:1 b"])),
        ("patient", column(["1", "1", "1", "1"])),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut counter = Counter::of_people(&["x"], &[], &["hospital", "patient"], &Missing::default());
    counter.push(&batch).expect("readable");
    let counts = counter.finish();
    assert_eq!((counts.n_people(), counts.n_records()), (3, 4));
    assert_eq!(counts.people().expect("somebody has two").columns(), ["hospital", "patient"]);
}

#[test]
fn a_record_of_nobody_is_refused() {
    let column = |values: [Option<&str>; 2]| -> ArrayRef { Arc::new(arrow_array::StringArray::from_iter(values)) };
    let columns = [("x", column([Some("1"), Some("1")])), ("who", column([Some("a"), None]))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut counter = Counter::of_people(&["x"], &[], &["who"], &Missing::default());
    let error = counter.push(&batch).expect_err("whose is it?");
    assert_eq!(error.kind(), ErrorKind::Data);
    let mut counter = Counter::of_people(&["x"], &[], &["who"], &Missing { drop_records: true, ..Missing::default() });
    counter.push(&batch).expect("dropped");
    assert_eq!((counter.finish().n_records()), 1);
}
