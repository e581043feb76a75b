//! The papers' own algorithms: they keep their promise, and lose no less than ours.

use crate::common;

use common::random::{chance, larger_tables, small_tables};
use incrowd::judge::judge;
use incrowd::random::Random;
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::{Goal, Problem, Risk, Sensitivities, Strategy, Utility, Wish, recode};
use incrowd::task::Task;
use incrowd::{Distance, GroupCounts, Hierarchy, Measure, Missing, Rule, Yardstick};
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

fn hierarchies(counts: &GroupCounts) -> Vec<Hierarchy> {
    // Numbers have a place of their own on their axis; the rest is the same or not.
    let numbers = || Rule::intervals(vec![5.0], 0.0).expect("a width");
    let resolve = |domain| numbers().resolve(domain).or_else(|_| Rule::Flat.resolve(domain)).expect("any values");
    counts.domains().iter().map(resolve).collect()
}

/// What a method loses, and the size of its smallest group.
fn made(method: Method, counts: &GroupCounts, least: Least) -> (f64, u64) {
    let hierarchies = hierarchies(counts);
    let weights = vec![1.0; hierarchies.len()];
    let assignment =
        Assignment { counts, hierarchies: &hierarchies, weights: &weights, least, seed: 1, n_exchanges: 20 };
    let recoding = method.recode(&assignment, CellStyle::Ranges, &Task::default()).expect("it can be made");
    let distances = vec![(Distance::Equal, None); counts.sensitive().len()];
    let yardstick = Yardstick::new(counts, &distances, [Measure::Size]).expect("sizes");
    let judged = judge(counts, &hierarchies, &weights, &yardstick, &recoding).expect("weights");
    assert_eq!(judged.n_suppressed, 0);
    (judged.ncp, judged.reached(Measure::Size).expect("a group"))
}

proptest! {
    #![proptest_config(chance(60))]

    #[test]
    fn every_group_has_k(table in larger_tables().prop_filter("records", |table| table.counts().n_records() >= 2), k in 1u64..9) {
        let counts = table.counts();
        let k = k.min(counts.n_records());
        for method in Method::AS_PUBLISHED {
            if method.is_dealing() && counts.sensitive().is_empty() {
                continue;
            }
            let (_, smallest) = made(method, &counts, Least::of(k, None));
            prop_assert!(smallest >= k, "{} of {k} by {}", smallest, method.name());
        }
    }

    /// Ours lose no more on any small table, whatever k and l: it is guaranteed, not a matter of dice.
    #[test]
    fn ours_never_lose_more(
        table in prop_oneof![small_tables(), larger_tables()].prop_filter("records", |table| table.counts().n_records() >= 2),
        k in 1u64..40,
        l in 0u64..3,
    ) {
        let counts = table.counts();
        let k = k.min(counts.n_records());
        let l = counts.sensitive().first().map(|domain| l.min(domain.len() as u64)).filter(|&l| l > 0);
        for ours in [Method::TopDown, Method::BottomUp, Method::Deal] {
            // Dealing keeps k; as published it knows one sensitive attribute.
            if ours.is_dealing() && counts.sensitive().len() != 1 {
                continue;
            }
            let least = Least::of(k, l.filter(|_| !ours.is_dealing()));
            let published = ours.published().expect("a paper prints it");
            let [lost, printed] = [ours, published].map(|method| made(method, &counts, least).0);
            prop_assert!(lost <= printed + 1e-9, "{}: {lost} and {printed} as published, k = {k}", ours.name());
        }
    }

    /// The risk of single records is no less by a published search, and never less utility is kept than was asked for.
    #[test]
    fn no_published_search_finds_less_risk(
        table in larger_tables().prop_filter("records", |table| table.counts().n_records() >= 2),
        percent in 0u32..10,
    ) {
        let counts = table.counts();
        let hierarchies = hierarchies(&counts);
        for risk in Risk::ALL {
            let sensitivities = Sensitivities::random(&hierarchies, 7);
            let problem = Problem::new(&counts, &hierarchies, Utility::Depth, risk, sensitivities, Match::Exact);
            let problem = problem.expect("a problem");
            let wish = Wish::Share(f64::from(percent) / 10.0);
            let all_risk = |solved: Vec<Option<Vec<u8>>>| {
                let levels: Vec<Vec<u8>> = solved.into_iter().map(|levels| levels.expect("a share can be had")).collect();
                for (group, levels) in levels.iter().enumerate() {
                    let codes = counts.codes(group);
                    let Goal::LeastRisk { utility_at_least } = wish.of(problem.utility_as_it_is(codes)) else { panic!() };
                    assert!(problem.utility(codes, levels) >= utility_at_least);
                }
                let points = problem.points(&recode(&counts, &hierarchies, &levels));
                points.iter().map(|point| point.risk * point.n_records as f64).sum::<f64>()
            };
            let ours = all_risk(problem.solve_all(&counts, wish, &Task::default()).expect("nobody stops it"));
            for strategy in [Strategy::BestFirst, Strategy::Walk] {
                let found = problem.solve_all_as_published(&counts, wish, strategy, &Task::default());
                let theirs = all_risk(found.expect("few generalizations"));
                prop_assert!(ours <= theirs + 1e-9, "{} by {}: {ours} and {theirs}", risk.name(), strategy.name());
            }
        }
    }
}

/// A table of numbers by chance.
fn table_of_numbers(n_records: usize, random: &mut Random) -> GroupCounts {
    let mut row = || [60, 40, 20, 4].map(|n_values| Some((10 + random.below(n_values)).to_string())).to_vec();
    let rows: Vec<Vec<common::Cell>> = (0..n_records).map(|_| row()).collect();
    common::counts_of(&["a", "b", "c"], &["s"], &Missing::default(), &rows)
}

/// Ours lose less on larger tables too, where it is not guaranteed.
#[test]
fn over_many_records_ours_lose_less() {
    for (ours, n_records, k) in [
        (Method::BottomUp, 500, 8),
        (Method::BottomUp, 6_000, 5),
        (Method::Deal, 500, 8),
        (Method::TopDown, 500, 8),
        (Method::TopDown, 500, 25),
        (Method::TopDown, 6_000, 5),
        (Method::TopDown, 6_000, 40),
    ] {
        let published = ours.published().expect("a paper prints it");
        assert!(published.is_published());
        let mut random = Random::new(11);
        let mut lost = [0.0; 2];
        for _ in 0..if n_records > 1_000 { 1 } else { 4 } {
            let counts = table_of_numbers(n_records, &mut random);
            for (lost, method) in lost.iter_mut().zip([ours, published]) {
                *lost += made(method, &counts, Least::of(k, None)).0;
            }
        }
        println!("{}, {n_records} records, k = {k}: {lost:?}", ours.name());
        assert!(lost[0] <= lost[1], "{} loses {:?} as published", ours.name(), lost);
    }
}
