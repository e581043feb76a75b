//! People, not records: every way to count them beside definitions written plainly.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use incrowd::attack::{self, Linkable, Linkage, Meaning};
use incrowd::criterion::formulas::{n_told_most, told_most};
use incrowd::criterion::{MILLION, NEVER};
use incrowd::judge::judge;
use incrowd::lattice::saved::{self, ReadAt};
use incrowd::lattice::update::updated;
use incrowd::lattice::{Estimator, Selection, groups_of, outcome_of};
use incrowd::recode::method::Assignment;
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::per_record::dictionary::{Dictionary, Match};
use incrowd::recode::per_record::{Problem, Risk, Sensitivities, Utility, grouped, recode as recode_one_by_one};
use incrowd::recode::{Span, deal, global};
use incrowd::release::{Column, Publisher};
use incrowd::risk::people::Members;
use incrowd::risk::{Alike, crowds, people};
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::search::partial::annotate_partially;
use incrowd::task::Task;
use incrowd::verify::{Original, Outside, PeopleVerifier};
use incrowd::*;
use proptest::prelude::*;

/// Two quasi-identifiers, a sensitive value and a person.
type Record = [i64; 4];

fn batch(records: &[Record]) -> RecordBatch {
    let column = |a: usize| -> ArrayRef { Arc::new(Int64Array::from_iter_values(records.iter().map(|r| r[a]))) };
    let columns = ["x", "y", "ill", "who"].into_iter().enumerate().map(|(a, name)| (name, column(a)));
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn counts(records: &[Record]) -> GroupCounts {
    let mut counter = Counter::of_people(&["x", "y"], &["ill"], &["who"], &Missing::default());
    counter.push(&batch(records)).expect("readable");
    counter.finish()
}

fn without_people(records: &[Record]) -> GroupCounts {
    let mut counter = Counter::new(&["x", "y"], &["ill"], &Missing::default());
    counter.push(&batch(records)).expect("readable");
    counter.finish()
}

fn hierarchies(counts: &GroupCounts) -> Vec<Hierarchy> {
    let rule = Rule::intervals(vec![2.0, 4.0], 0.0).expect("a rule");
    counts.domains().iter().map(|domain| rule.resolve(domain).expect("numbers")).collect()
}

const MEASURES: [Measure; 10] = [
    Measure::Size,
    Measure::Distinct(0),
    Measure::Share(0),
    Measure::Entropy(0),
    Measure::Recursive { sensitive: 0, l: 1 },
    Measure::Recursive { sensitive: 0, l: 2 },
    Measure::Closeness(0),
    Measure::Disclosure(0),
    Measure::Likeness(0),
    Measure::EnhancedLikeness(0),
];

fn yardstick(counts: &GroupCounts, distance: Distance) -> Yardstick {
    Yardstick::new(counts, &[(distance, None)], MEASURES).expect("a sensitive attribute")
}

/// Who has which values.
type Group = BTreeMap<i64, BTreeSet<i64>>;

fn group(records: &[Record]) -> Group {
    let mut group = Group::new();
    records.iter().for_each(|[_, _, ill, who]| {
        group.entry(*who).or_default().insert(*ill);
    });
    group
}

/// All ways to count everybody with one of their values: how many have each, from the most.
fn ways(group: &Group) -> Vec<Vec<u64>> {
    let mut ways: BTreeSet<BTreeMap<i64, u64>> = BTreeSet::from([BTreeMap::new()]);
    for values in group.values() {
        let with = |way: &BTreeMap<i64, u64>, value: &i64| {
            let mut way = way.clone();
            *way.entry(*value).or_insert(0) += 1;
            way
        };
        ways = ways.iter().flat_map(|way| values.iter().map(|value| with(way, value)).collect::<Vec<_>>()).collect();
    }
    let sorted = |way: BTreeMap<i64, u64>| {
        let mut counts: Vec<u64> = way.into_values().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        counts
    };
    ways.into_iter().map(sorted).collect()
}

fn n_having(group: &Group, value: i64) -> f64 {
    group.values().filter(|values| values.contains(&value)).count() as f64
}

/// By value, the share of everybody's weight that it has.
fn weights(group: &Group, values: &BTreeSet<i64>) -> Vec<f64> {
    let of = |value: &i64| {
        let parts = group.values().filter(|own| own.contains(value)).map(|own| 1.0 / own.len() as f64);
        parts.sum::<f64>() / group.len() as f64
    };
    values.iter().map(of).collect()
}

/// What each measure is by its definition, as a number; none where it is never reached.
fn defined(measure: Measure, of: &Group, table: &Group, distance: Distance) -> Option<f64> {
    let values: BTreeSet<i64> = table.values().flatten().copied().collect();
    let n = of.len() as f64;
    let share = |value: &i64| n_having(of, *value) / n;
    let in_table = |value: &i64| n_having(table, *value) / table.len() as f64;
    let present = || values.iter().filter(|value| n_having(of, **value) > 0.0);
    // Everybody once, with the value that most have; what is left of the people with the next.
    let told_most = || {
        let mut having: Vec<f64> = values.iter().map(|value| n_having(of, *value)).collect();
        having.sort_by(|a, b| b.total_cmp(a));
        let mut left = n;
        let taken: Vec<f64> = having
            .into_iter()
            .map(|n| {
                let taken = n.min(left);
                left -= taken;
                taken
            })
            .collect();
        taken.into_iter().filter(|n| *n > 0.0).collect::<Vec<f64>>()
    };
    Some(match measure {
        Measure::Size => n,
        Measure::Distinct(_) => told_most().len() as f64,
        Measure::Share(_) => present().map(share).fold(0.0, f64::max),
        Measure::Entropy(_) => (-told_most().iter().map(|c| c / n * (c / n).ln()).sum::<f64>()).exp(),
        Measure::Recursive { l, .. } => {
            let counts = told_most();
            let rest: f64 = counts.iter().skip(l as usize - 1).sum();
            (rest > 0.0).then(|| counts[0] / rest)?
        }
        Measure::Closeness(_) => {
            let (ours, theirs) = (weights(of, &values), weights(table, &values));
            let differences: Vec<f64> = ours.iter().zip(&theirs).map(|(p, q)| p - q).collect();
            match distance {
                Distance::Ordered if values.len() > 1 => {
                    let sums = differences.iter().scan(0.0, |sum, d| {
                        *sum += d;
                        Some(sum.abs())
                    });
                    sums.sum::<f64>() / (values.len() - 1) as f64
                }
                _ => differences.iter().map(|d| d.abs()).sum::<f64>() / 2.0,
            }
        }
        Measure::Disclosure(_) => {
            let ratio = |value: &i64| (share(value) / in_table(value)).ln().abs();
            (present().count() == values.len()).then(|| present().map(ratio).fold(0.0, f64::max))?
        }
        Measure::Likeness(_) => {
            present().map(|value| (share(value) - in_table(value)) / in_table(value)).fold(0.0, f64::max)
        }
        Measure::EnhancedLikeness(_) => {
            let gain = |value: &i64| (share(value) - in_table(value)) / in_table(value);
            let is_bounded = |value: &i64| in_table(value) == 1.0 || gain(value) <= -in_table(value).ln();
            present().all(is_bounded).then(|| present().map(gain).fold(0.0, f64::max))?
        }
        other => unreachable!("{other:?} is not asked"),
    })
}

/// Whether a measured value is the defined one, rounded towards less privacy.
fn is_near(measure: Measure, measured: u64, defined: Option<f64>) -> bool {
    match defined {
        None => measured == NEVER,
        Some(value) if measure.is_count() => measured as f64 == value,
        Some(value) => (measured as f64 / MILLION as f64 - value).abs() < 2.1e-6,
    }
}

fn generalized(record: &Record, scheme: &Scheme) -> (i64, i64) {
    let label = |value: i64, level: usize| match level {
        0 => value,
        1 => value.div_euclid(2),
        2 => value.div_euclid(4),
        _ => 0,
    };
    (label(record[0], scheme.level(0)), label(record[1], scheme.level(1)))
}

/// The groups of a scheme, and how many records each has.
fn groups(records: &[Record], scheme: &Scheme) -> BTreeMap<(i64, i64), Vec<Record>> {
    let mut groups: BTreeMap<(i64, i64), Vec<Record>> = BTreeMap::new();
    records.iter().for_each(|record| groups.entry(generalized(record, scheme)).or_default().push(*record));
    groups
}

/// Few people with several records each, most of which differ in something.
fn tables() -> impl Strategy<Value = Vec<Record>> {
    let record = |n_people: i64| (0..5i64, 0..3i64, 0..4i64, 0..n_people).prop_map(|(x, y, ill, who)| [x, y, ill, who]);
    (2..9i64)
        .prop_flat_map(move |n_people| prop::collection::vec(record(n_people), 2..24))
        .prop_filter("somebody has several records", |records| {
            records.iter().map(|record| record[3]).collect::<BTreeSet<i64>>().len() < records.len()
        })
}

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

/// What up to three records of a person can be, over two combinations and two values.
fn records_of_one() -> Vec<Vec<[i64; 3]>> {
    let records: Vec<[i64; 3]> = (0..4).map(|n| [n & 1, 0, n >> 1 & 1]).collect();
    let mut of_person: Vec<Vec<[i64; 3]>> = vec![Vec::new()];
    for n in 1..=3usize {
        let mut places = vec![0; n];
        loop {
            if places.is_sorted() {
                of_person.push(places.iter().map(|place| records[*place]).collect());
            }
            let Some(at) = (0..n).find(|at| places[*at] < 3) else { break };
            places[at] += 1;
            places[..at].fill(0);
        }
    }
    of_person
}

/// All tables of up to three people with up to three records each, over two combinations and two values, in which somebody
/// has several; with each of them only once where it does not matter who is who.
fn tiny_tables(in_order: bool) -> Vec<Vec<Record>> {
    let of_person = records_of_one();
    let n = of_person.len();
    let all = (0..n * n * n).map(|i| [i / n / n, i / n % n, i % n]).filter(|of| !in_order || of.is_sorted());
    let table = |of: [usize; 3]| -> Vec<Record> {
        let own = (0..).zip(of).flat_map(|(who, one)| of_person[one].iter().map(move |own| (who, own)));
        own.map(|(who, [x, y, ill])| [*x, *y, *ill, who]).collect()
    };
    let has_several = |records: &Vec<Record>| group(records).len() < records.len();
    all.map(table).filter(has_several).collect()
}

#[test]
fn every_tiny_table_is_counted_as_defined() {
    let tables = tiny_tables(false);
    assert!(tables.len() > 5_000, "{}", tables.len());
    tables.iter().for_each(|table| check_definitions(table, Distance::Equal));
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

fn requests(counts: &GroupCounts) -> Vec<Criteria> {
    let criterion = |measure, value| Criterion { measure, value };
    let n = counts.n_people();
    let mut all = vec![
        Criteria::of(Some(2.min(n)), None),
        Criteria::of(Some(3.min(n)), Some(2)),
        Criteria::new([criterion(Measure::Share(0), 600_000)]),
        Criteria::new([criterion(Measure::Entropy(0), 1_500_000), Criterion::k(2)]),
        Criteria::new([criterion(Measure::Closeness(0), 300_000)]),
        Criteria::new([criterion(Measure::Likeness(0), 900_000), Criterion::k(2)]),
        Criteria::new([criterion(Measure::Recursive { sensitive: 0, l: 2 }, 2_000_000)]),
        Criteria::new([Criterion::l(3)]),
    ];
    let n_values = counts.sensitive()[0].len();
    all.retain(|criteria| incrowd::search::negotiate::check_criteria(criteria, counts.crowd(), &[n_values]).is_ok());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Whole, on demand, in part and from bytes: every answer is that of all schemes tried one after the other.
    #[test]
    fn answers_are_those_of_trying_everything(
        records in tables(),
        n_max in 0..6u64,
        bound in (0..4u8, 0..4u8),
        has_all in any::<bool>(),
    ) {
        let counts = counts(&records);
        let hierarchies = hierarchies(&counts);
        // k and l alone are counted in a way of their own.
        let yardstick = match has_all {
            true => yardstick(&counts, Distance::Ordered),
            false => Yardstick::new(&counts, &[], []).expect("a sensitive attribute"),
        };
        let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
        let lattice = annotate(&counts, &hierarchies, &plan, &Task::default()).expect("small");
        let every = Selection { share: 1.0, estimator: Estimator::ALL[0] };
        let partial = annotate_partially(&counts, &hierarchies, &plan, every, &Task::default()).expect("small");
        let opened = reopened(&lattice, &counts);
        let level_max = Scheme::new(vec![Level(bound.0), Level(bound.1)]);
        let is_measured = |criteria: &Criteria| criteria.iter().all(|c| yardstick.measures().contains(&c.measure));
        for criteria in requests(&counts).into_iter().filter(is_measured) {
            let n_suppressed_max = n_max.min(counts.n_records());
            let request = Request { criteria, level_max: level_max.clone(), n_suppressed_max, best_by: Ranking::from(Quality::Height) };
            let mut best: Option<(u32, u64, Vec<u8>)> = None;
            for place in 0..lattice.schemes().len() {
                let scheme = lattice.schemes().scheme(place);
                let (_, outcome) = outcome_of(&counts, &hierarchies, &plan, &scheme, &request.criteria).expect("a scheme");
                prop_assert_eq!(&outcome, &lattice.outcome(place, &request.criteria));
                let vector = lattice.schemes().vector(place).to_vec();
                let is_within = vector[0] <= bound.0 && vector[1] <= bound.1;
                if is_within && outcome.n_suppressed <= n_suppressed_max {
                    let candidate = (vector.iter().map(|level| u32::from(*level)).sum(), outcome.n_suppressed, vector);
                    best = Some(best.map_or(candidate.clone(), |best| best.min(candidate)));
                }
            }
            let exact = |answer: Answer| match answer {
                Answer::Exact(offer) => Some(offer.scheme.levels().iter().map(|level| level.0).collect::<Vec<u8>>()),
                Answer::Offers(_) => None,
            };
            let best = best.map(|(_, _, vector)| vector);
            for lattice in [&lattice, &partial, &opened] {
                prop_assert_eq!(exact(negotiate(lattice, &request).expect("a request")), best.clone());
            }
            let found = negotiate_on_demand(&counts, &hierarchies, &plan, &request, &Task::default()).expect("a request");
            prop_assert_eq!(exact(found.answer), best);
        }
    }

    /// Records come and go, with their people: counts and lattice are those of the table that results.
    #[test]
    fn a_lattice_follows_its_people(records in tables(), n_gone in 1..4usize) {
        let n_gone = n_gone.min(records.len() - 1);
        let (gone, kept) = records.split_at(n_gone);
        let (before, less, after) = (counts(&records), counts(gone), counts(kept));
        prop_assert_eq!(&before.without_records(&less).expect("they are there"), &after);
        prop_assert_eq!(&after.with_records(&less).expect("the same attributes"), &before);
        let hierarchies = hierarchies(&before);
        if before.domains() != after.domains() || before.people().is_some() != after.people().is_some() {
            return Ok(());
        }
        fn plan(yardstick: &Yardstick) -> Plan<'_> {
            Plan { weights: &[1.0, 1.0], yardstick, with_entropy: false }
        }
        for measures in [&[][..], &[Measure::Distinct(0), Measure::Entropy(0), Measure::Share(0)]] {
        let yardstick = |counts: &GroupCounts| Yardstick::new(counts, &[], measures.iter().copied()).expect("a sensitive attribute");
        let (old, new) = (yardstick(&before), yardstick(&after));
        let lattice = annotate(&before, &hierarchies, &plan(&old), &Task::default()).expect("small");
        let followed = updated(&lattice, &before, &after, &plan(&new), &Task::default()).expect("small");
        let fresh = annotate(&after, &hierarchies, &plan(&new), &Task::default()).expect("small");
        if let Some(followed) = followed {
            prop_assert_eq!(followed.signatures(), fresh.signatures());
            for place in 0..fresh.schemes().len() {
                prop_assert_eq!(followed.profile(place), fresh.profile(place));
            }
        }
        }
    }

    /// What is published has for every group what was promised, for people.
    #[test]
    fn published_groups_keep_what_is_promised_to_people(records in tables(), levels in (0..4u8, 0..4u8)) {
        let counts = counts(&records);
        let (hierarchies, yardstick) = (hierarchies(&counts), yardstick(&counts, Distance::Ordered));
        let scheme = Scheme::new(vec![Level(levels.0), Level(levels.1)]);
        let table = group(&records);
        for criteria in requests(&counts) {
            let recoding = global::recode(&counts, &hierarchies, &scheme, &yardstick, &criteria).expect("a scheme");
            let published: u64 = recoding.sizes().iter().sum();
            let kept = groups(&records, &scheme).into_values().filter(|here| {
                criteria.iter().all(|criterion| {
                    let value = defined(criterion.measure, &group(here), &table, Distance::Ordered);
                    let value = value.map_or(f64::INFINITY, |v| if criterion.measure.is_count() { v } else { v * 1e6 });
                    let asked = criterion.value as f64;
                    match criterion.measure {
                        Measure::Recursive { .. } => value < asked - 1e-6,
                        measure if measure.is_at_least() => value >= asked - 1e-6,
                        _ => value <= asked + 1e-6,
                    }
                })
            });
            prop_assert_eq!(kept.map(|here| here.len() as u64).sum::<u64>(), published);
        }
    }
}

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

struct InMemory(Mutex<Vec<u8>>);

impl ReadAt for InMemory {
    fn read(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>> {
        Ok(self.0.lock().expect("one reader")[start as usize..][..n_bytes].to_vec())
    }
}

/// The same lattice, written and read back.
fn reopened(lattice: &Lattice, counts: &GroupCounts) -> Lattice {
    let mut bytes = Vec::new();
    let sections = saved::save(lattice, counts, 0, &mut |more| {
        bytes.extend_from_slice(more);
        Ok(())
    });
    let (sections, storage) = (sections.expect("written"), Arc::new(InMemory(Mutex::new(bytes))));
    assert_eq!(&saved::open_counts(&sections, &*storage, &Task::default()).expect("read"), counts);
    saved::open(&sections, storage, &Task::default()).expect("read")
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

/// Whom a risk is about, by name, and the groups that they are in.
type InGroups = BTreeMap<i64, BTreeSet<Vec<i64>>>;

fn in_groups(records: &[Record], attributes: &[usize]) -> InGroups {
    let mut in_groups = InGroups::new();
    for record in records {
        in_groups.entry(record[3]).or_default().insert(attributes.iter().map(|a| record[*a]).collect());
    }
    in_groups
}

/// By the definition: by person, 1 over the people of the group in which they are easiest to find.
fn prosecutor_risks(people: &InGroups) -> Vec<f64> {
    let n_people = |group: &Vec<i64>| people.values().filter(|groups| groups.contains(group)).count() as f64;
    people.values().map(|groups| groups.iter().map(|group| 1.0 / n_people(group)).fold(0.0, f64::max)).collect()
}

fn mean(risks: &[f64]) -> f64 {
    risks.iter().sum::<f64>() / risks.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_risk_of_people_is_as_defined(records in tables(), factor in 1..4u64) {
        let counts = counts(&records);
        let members = Members::of_counts(&counts).expect("somebody has several records");
        let in_all = in_groups(&records, &[0, 1]);
        let naive = prosecutor_risks(&in_all);
        let found = people::risks(&members, &vec![Alike::Unknown; counts.n_groups()], 0.4);
        prop_assert_eq!(found.n_people, Some(in_all.len() as u64));
        prop_assert_eq!(found.n_records, records.len() as u64);
        prop_assert_eq!(found.n_groups, counts.n_groups() as u64);
        prop_assert_eq!(found.prosecutor.highest, naive.iter().copied().fold(0.0, f64::max));
        prop_assert!((found.prosecutor.average - mean(&naive)).abs() < 1e-12);
        prop_assert_eq!(found.prosecutor.n_at_risk, naive.iter().filter(|risk| **risk > 0.4).count() as u64);
        prop_assert_eq!(found.n_unique, naive.iter().filter(|risk| **risk == 1.0).count() as u64);
        // So many people of the population for each of the group: everybody's risk is that much less.
        let alike: Vec<Alike> =
            people::crowds(&counts, &members).iter().map(|(size, _)| Alike::Counted(size * factor)).collect();
        let found = people::risks(&members, &alike, 0.4);
        prop_assert!((found.journalist.average - mean(&naive) / factor as f64).abs() < 1e-12);
        prop_assert_eq!(found.n_unique_in_population, Some(if factor == 1 { found.n_unique } else { 0 }));
        for (a, contribution) in people::contributions(&counts, &members).iter().enumerate() {
            let (alone, without) = (in_groups(&records, &[a]), in_groups(&records, &[1 - a]));
            let (alone, without) = (prosecutor_risks(&alone), prosecutor_risks(&without));
            let n_unique = |risks: &[f64]| risks.iter().filter(|risk| **risk == 1.0).count() as u64;
            prop_assert_eq!(contribution.n_unique_alone, n_unique(&alone));
            prop_assert_eq!(contribution.n_unique_without, n_unique(&without));
            prop_assert!((contribution.average_alone - mean(&alone)).abs() < 1e-12);
            prop_assert!((contribution.average_without - mean(&without)).abs() < 1e-12);
        }
    }

    /// A second record that says the same makes nobody harder to find, nor easier, but by how many records there are.
    #[test]
    fn equal_records_of_a_person_change_no_risk(records in tables(), which in any::<prop::sample::Index>()) {
        let doubled = [records.clone(), vec![*which.get(&records)]].concat();
        let told = |records: &[Record]| {
            let counts = counts(records);
            let members = Members::of_counts(&counts).expect("somebody has several records");
            let found = people::risks(&members, &vec![Alike::Unknown; counts.n_groups()], 0.2);
            (found.prosecutor, found.n_unique, people::contributions(&counts, &members))
        };
        prop_assert_eq!(told(&records), told(&doubled));
    }

    /// Two ways to count, and the definition: whose records nobody else has in the same groups.
    #[test]
    fn who_is_alone_by_all_their_records_is_as_defined(records in tables()) {
        let members = Members::of_counts(&counts(&records)).expect("somebody has several records");
        let mut verifier = PeopleVerifier::new(0);
        let mut of_person: BTreeMap<i64, Vec<[i64; 2]>> = BTreeMap::new();
        for [x, y, _, who] in &records {
            of_person.entry(*who).or_default().push([*x, *y]);
            verifier.see_published(vec![Some(x.to_string()), Some(y.to_string())], &who.to_string(), std::iter::empty());
        }
        of_person.values_mut().for_each(|own| own.sort_unstable());
        let is_alone = |own: &&Vec<[i64; 2]>| of_person.values().filter(|other| other == own).count() == 1;
        let n_alone = of_person.values().filter(is_alone).count() as u64;
        prop_assert_eq!(members.n_alone_by_all_records(), n_alone);
        prop_assert_eq!(verifier.n_alone_by_all_records(), n_alone);
        let n_seen: u64 = verifier.groups().iter().flat_map(|(_, who)| who).map(|(_, n)| n).sum();
        prop_assert_eq!(n_seen, records.len() as u64);
    }
}

#[test]
fn people_with_one_record_each_are_records_to_risk() {
    let records: Vec<Record> = (0..9).map(|who| [who % 4, who % 2, 0, who]).collect();
    assert!(Members::of_counts(&counts(&records)).is_none());
    // As if there were people all the same: the same numbers.
    let counts = without_people(&records);
    let group_of = |record: &Record| {
        let is_its = |group: &usize| {
            let value = |a: usize| &counts.domains()[a].values()[counts.codes(*group)[a].index()];
            (0..2).all(|a| *value(a) == record[a].to_string())
        };
        (0..counts.n_groups()).find(is_its).expect("counted") as u32
    };
    let places = records.iter().map(|record| (record[3] as u32, group_of(record), 1)).collect();
    let members = Members::new(records.len(), counts.n_groups(), places);
    let alike = vec![Alike::Unknown; counts.n_groups()];
    let of_people = people::risks(&members, &alike, 0.4);
    let of_records = incrowd::risk::risks(crowds(&counts).into_iter(), 0.4);
    assert_eq!((of_people.n_unique, of_people.n_groups), (of_records.n_unique, of_records.n_groups));
    assert_eq!(of_people.prosecutor.n_at_risk, of_records.prosecutor.n_at_risk);
    assert_eq!(of_people.prosecutor.highest, of_records.prosecutor.highest);
    assert!((of_people.prosecutor.average - of_records.prosecutor.average).abs() < 1e-12);
}

/// A release of one level, as an attacker sees it, and whose records each group has.
fn release(records: &[Record], level: u8) -> (Vec<attack::Group>, Vec<Vec<u32>>) {
    let scheme = Scheme::new(vec![Level(level), Level(0)]);
    let label = |x: i64| match level {
        0 => x.to_string(),
        _ => format!("[{}-{}]", 2 * x, 2 * x + 1),
    };
    let group = |((x, y), records): (&(i64, i64), &Vec<Record>)| {
        let mut values = BTreeMap::new();
        records.iter().for_each(|record| *values.entry(Some(record[2].to_string())).or_insert(0) += 1);
        let cells = vec![Some(label(*x)), Some(y.to_string())];
        let who: BTreeSet<u32> = records.iter().map(|record| record[3] as u32).collect();
        (attack::Group { cells, size: records.len() as u64, values: vec![values] }, who.into_iter().collect())
    };
    // Small groups are not there, as if they were suppressed.
    groups(records, &scheme).iter().filter(|(_, records)| records.len() > 1).map(group).unzip()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Linking people beside the definition: everybody by every record of theirs, against every record of the release.
    #[test]
    fn whom_a_release_finds_is_judged_by_person(records in tables(), level in 0..2u8, is_known in any::<bool>()) {
        let (groups, people) = release(&records, level);
        prop_assume!(!groups.is_empty());
        let combinations: BTreeSet<[i64; 2]> = records.iter().map(|record| [record[0], record[1]]).collect();
        let text = |value: i64| Some(value.to_string());
        let outside: Vec<(Vec<Option<String>>, u64)> =
            combinations.iter().map(|both| (both.iter().map(|value| text(*value)).collect(), 1)).collect();
        let names: BTreeSet<i64> = records.iter().map(|record| record[3]).collect();
        let own = |who: &i64| -> BTreeSet<[i64; 2]> {
            records.iter().filter(|record| record[3] == *who).map(|record| [record[0], record[1]]).collect()
        };
        let whom: Vec<Vec<usize>> = names
            .iter()
            .map(|who| own(who).iter().map(|both| combinations.iter().position(|c| c == both).expect("there")).collect())
            .collect();
        let meanings = [Meaning::default(), Meaning::default()];
        let linkable = Linkable {
            groups: &groups,
            meanings: &meanings,
            known: &[Some(0), Some(1)],
            people: is_known.then_some(&people[..]),
        };
        let found = attack::link_people(&[linkable], &outside, &whom, 1).remove(0);
        let mut naive = Linkage { n_one_person: is_known.then_some(0), ..Linkage::default() };
        for who in &names {
            let fits = |both: &[i64; 2]| -> Vec<usize> {
                let is_its = |group: &usize| {
                    (0..2).all(|a| meanings[a].allows(&groups[*group].cells[a], &text(both[a])))
                };
                (0..groups.len()).filter(is_its).collect()
            };
            let hits: Vec<Vec<usize>> = own(who).iter().map(fits).filter(|hits| !hits.is_empty()).collect();
            let any = |is_so: &dyn Fn(&Vec<usize>) -> bool| u64::from(hits.iter().any(is_so));
            let n_different = |hits: &Vec<usize>| hits.iter().flat_map(|g| &people[*g]).collect::<BTreeSet<_>>().len();
            let n_values =
                |hits: &Vec<usize>| hits.iter().flat_map(|g| groups[*g].values[0].keys()).collect::<BTreeSet<_>>().len();
            naive.n_outside += 1;
            naive.n_without += u64::from(hits.is_empty());
            naive.n_one_group += any(&|hits| hits.len() == 1);
            naive.n_several_groups += u64::from(!hits.is_empty() && hits.iter().all(|hits| hits.len() > 1));
            naive.n_one_record += any(&|hits| hits.iter().map(|g| groups[*g].size).sum::<u64>() == 1);
            if let Some(n) = &mut naive.n_one_person {
                *n += any(&|hits| n_different(hits) == 1);
            }
            naive.n_certain += any(&|hits| n_values(hits) == 1);
        }
        prop_assert_eq!(found, naive);
    }
}
