//! Every method, every criterion and every pair of criteria, on every tiny table: no group is published that fails, and
//! what can be kept is never refused.

use crate::common;
use crate::keep::{Given, Record};

use std::collections::BTreeMap;

use common::measures::{Counts, MILLION, NaiveReference, Seen, satisfies};
use incrowd::recode::Recoding;
use incrowd::recode::keep;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::{Problem, Risk, Sensitivities, Utility, Wish, grouped, recode};
use incrowd::task::Task;
use incrowd::{Criteria, Criterion, Distance, Measure, Method};

/// Every record that a tiny table may have: three places, two illnesses, and pay that depends on both.
const KINDS: [Record; 6] =
    [[0, 0, 0, 0, 0], [0, 0, 1, 1, 0], [1, 2, 0, 1, 0], [1, 2, 1, 2, 0], [4, 1, 0, 2, 0], [4, 1, 1, 0, 0]];

/// One of every criterion, some of them about the second attribute, at values that some tables keep and others miss.
fn criteria() -> Vec<Criterion> {
    let tenths = |measure: Measure, value: u64| Criterion { measure, value: value * MILLION / 10 };
    vec![
        Criterion::k(2),
        Criterion::k(3),
        Criterion { measure: Measure::Distinct(0), value: 2 },
        Criterion { measure: Measure::Distinct(1), value: 2 },
        tenths(Measure::Share(0), 6),
        tenths(Measure::Entropy(1), 18),
        tenths(Measure::Recursive { sensitive: 0, l: 2 }, 15),
        tenths(Measure::Closeness(0), 2),
        tenths(Measure::Closeness(1), 2),
        tenths(Measure::Disclosure(0), 7),
        tenths(Measure::Likeness(0), 5),
        tenths(Measure::EnhancedLikeness(1), 6),
    ]
}

/// Every criterion alone, and every pair.
fn asked() -> Vec<Criteria> {
    let all = criteria();
    let pairs = (0..all.len()).flat_map(|i| (i + 1..all.len()).map(move |j| (i, j)));
    let pairs = pairs.filter(|&(i, j)| all[i].measure != all[j].measure).map(|(i, j)| Criteria::new([all[i], all[j]]));
    all.iter().map(|criterion| Criteria::new([*criterion])).chain(pairs).collect()
}

/// Every table with so many records.
fn tables(n_records: usize) -> Vec<Vec<Record>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..n_records {
        let longer = |chosen: Vec<usize>| {
            let least = chosen.last().copied().unwrap_or(0);
            (least..KINDS.len()).map(move |next| [&chosen[..], &[next]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all.into_iter().map(|chosen| chosen.into_iter().map(|kind| KINDS[kind]).collect()).collect()
}

fn text(value: u8) -> Option<String> {
    Some(value.to_string())
}

fn seen(records: &[Record]) -> Seen {
    let counts = |s: usize| {
        let mut counts = Counts::new();
        records.iter().for_each(|record| *counts.entry(text(record[2 + s])).or_default() += 1);
        counts
    };
    Seen { size: records.len() as u64, population: 0, values: vec![counts(0), counts(1)] }
}

/// By the definitions, which share no code with the engine.
fn keep(seen: &Seen, criteria: &Criteria, table: &[Record]) -> bool {
    let all = self::seen(table);
    let references: Vec<NaiveReference> = [Distance::Equal, Distance::Ordered]
        .into_iter()
        .enumerate()
        .map(|(s, distance)| NaiveReference::new(&all.values[s], distance, |value| vec![value.clone()]))
        .collect();
    criteria.iter().all(|criterion| satisfies(seen, criterion, &references))
}

/// The groups of a release as its texts tell them apart, with the values of their records.
fn groups(given: &Given, recoding: &Recoding) -> Vec<Seen> {
    let mut groups: BTreeMap<Vec<String>, Seen> = BTreeMap::new();
    let value = |s: usize, code: usize| Some(given.made_of.sensitive()[s].values()[code].clone());
    for base in 0..given.made_of.n_groups() {
        let cells: Vec<_> = given.made_of.cells(base).collect();
        for share in recoding.shares(base) {
            let Some(group) = share.group else { continue };
            let texts = (0..2).map(|a| recoding.cell(group as usize, a).text.clone()).collect();
            let group = groups.entry(texts).or_insert_with(|| seen(&[]));
            group.size += share.n_records;
            let of_share = match share.cell {
                Some(cell) => vec![(cells[cell as usize].0, share.n_records)],
                None => cells.clone(),
            };
            for (codes, n) in of_share {
                for (s, (counted, code)) in group.values.iter_mut().zip(codes).enumerate() {
                    *counted.entry(value(s, code.index())).or_default() += n;
                }
            }
        }
    }
    groups.into_values().collect()
}

/// What is published of a table, as orders do it: nothing where the judgement says that a group fails.
fn check(records: &[Record], criteria: &Criteria, method: Method, n_out: u64, n_steps: u64) {
    let given = Given::new(records, criteria, false);
    let style = if method == Method::Cells { CellStyle::Stars } else { CellStyle::Ranges };
    let hierarchies = style.meant(&given.hierarchies);
    let assignment = incrowd::recode::method::Assignment { hierarchies: &hierarchies, ..given.assignment() };
    let wanted = given.wanted(style, n_out);
    let task = Task::default();
    let mut found = keep::partition(method, &assignment, &wanted, &task).expect("there are k records");
    if n_steps > 0 && !method.is_dealing() {
        found = keep::improved(found, &assignment, &wanted, n_steps, &task).expect("nobody stops it").0;
    }
    let is_published = given.judged(&found, style).holds(criteria);
    let groups = groups(&given, &found.recode(&given.made_of, &given.hierarchies, style));
    let holds = groups.iter().all(|group| keep(group, criteria, records));
    let what = || format!("{method:?} {criteria:?} {records:?}: {groups:?}");
    assert_eq!(is_published, holds, "{}", what());
    let n_published: u64 = groups.iter().map(|group| group.size).sum();
    assert!(n_published + n_out >= records.len() as u64, "{}", what());
    let is_possible = keep(&seen(records), criteria, records);
    if !method.is_dealing() {
        assert!(is_published || !is_possible, "refused although all records as one group keep it: {}", what());
    }
    if n_out == 0 && !is_possible {
        assert!(!is_published, "by convexity nothing can keep what the table as a whole misses: {}", what());
    }
    if method.is_dealing() {
        assert!(groups.iter().all(|group| group.size >= given.k()), "{}", what());
    }
}

fn is_enough(records: &[Record], criteria: &Criteria) -> bool {
    criteria.value(Measure::Size).unwrap_or(1) <= records.len() as u64
}

#[test]
fn every_criterion_alone_on_every_table() {
    let alone: Vec<Criteria> = criteria().into_iter().map(|criterion| Criteria::new([criterion])).collect();
    let mut n_checked = 0;
    for records in (1..=5).flat_map(tables) {
        for criteria in alone.iter().filter(|criteria| is_enough(&records, criteria)) {
            for method in Method::ALL {
                check(&records, criteria, method, 0, 0);
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 30_000, "{n_checked}");
}

#[test]
fn every_pair_of_criteria_on_every_table_of_four() {
    for records in tables(4) {
        for criteria in asked().iter().filter(|criteria| is_enough(&records, criteria)) {
            Method::ALL.into_iter().for_each(|method| check(&records, criteria, method, 0, 0));
        }
    }
}

#[test]
fn every_pair_of_criteria_on_larger_tables_with_records_left_out_and_groups_improved() {
    let (asked, larger) = (asked(), tables(7));
    for (i, records) in larger.iter().enumerate().step_by(3) {
        // Every table with some pairs, every pair with some tables.
        for criteria in asked.iter().skip(i % 7).step_by(7).filter(|criteria| is_enough(records, criteria)) {
            for method in Method::ALL {
                check(records, criteria, method, (i % 3) as u64, if i % 2 == 0 { 5 } else { 0 });
            }
        }
    }
}

/// Records one by one promise no criterion; those that are put together keep k, the only one that can be asked of them.
#[test]
fn records_one_by_one_that_are_put_together_keep_k() {
    for records in (2..=5).flat_map(tables) {
        for k in 2..=records.len().min(3) as u64 {
            let given = Given::new(&records, &Criteria::new([Criterion::k(k)]), false);
            let weights = Sensitivities::random(&given.hierarchies, 1);
            let (utility, risk) = (Utility::LogLeaves, Risk::Sensitivity);
            let problem = Problem::new(&given.counts, &given.hierarchies, utility, risk, weights, Match::Exact);
            let problem = problem.expect("a good problem");
            let solved =
                problem.solve_all(&given.counts, Wish::Share(0.5), &Task::default()).expect("it is not stopped");
            let levels: Vec<Vec<u8>> = solved.into_iter().map(|levels| levels.expect("within reach")).collect();
            let levels = grouped(&problem, &given.counts, levels, k).expect("enough records");
            let recoding = recode(&given.counts, &given.hierarchies, &levels);
            for group in groups(&given, &recoding) {
                assert!(keep(&group, &given.criteria, &records), "k = {k} {records:?}: {group:?}");
            }
        }
    }
}
