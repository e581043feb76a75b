//! Records generalized one by one: the paper's example, every search against brute force, models against their formulas.

use crate::common;

use std::collections::HashSet;

use common::random::{chance, small_tables};
use common::{Made, all_level_vectors, counts_of};
use incrowd::hierarchy::LabelTable;
use incrowd::recode::Span;
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::record::Landscape;
use incrowd::recode::per_record::search::{best_first, optimum, optimum_by, walk};
use incrowd::recode::per_record::{
    Goal, Problem, Record, Risk, SENSITIVITY_ONE, Sensitivities, Strategy, UTILITY_ONE, Utility, Wish, grouped, recode,
};
use incrowd::task::Task;
use incrowd::{ErrorKind, GroupCounts, Hierarchy, Level, Missing, Rule, Scheme};
use proptest::prelude::*;

fn problem<'a>(made: &'a Made, utility: Utility, risk: Risk, seed: u64) -> Problem<'a> {
    let weights = Sensitivities::random(&made.hierarchies, seed);
    Problem::new(&made.counts, &made.hierarchies, utility, risk, weights, Match::Exact).expect("a good problem")
}

/// The least cost of any generalization, each of them looked at.
fn least_cost(landscape: &mut impl Landscape, goal: Goal) -> Option<f64> {
    let all = all_level_vectors(&landscape.tops());
    all.iter().filter_map(|levels| cost(landscape, levels, goal)).min_by(f64::total_cmp)
}

/// The best rank of any generalization that will do: cost first, and what is better of two with the same cost.
fn best_rank(record: &mut Record, goal: Goal) -> Option<[f64; 3]> {
    let all = all_level_vectors(&record.tops());
    all.iter().filter_map(|levels| rank(record, levels, goal)).min_by(|a, b| a.partial_cmp(b).expect("numbers"))
}

fn rank(record: &mut Record, levels: &[u8], goal: Goal) -> Option<[f64; 3]> {
    let (risk, utility) = (record.risk(levels), record.utility(levels));
    record.will_do(levels, goal).then(|| goal.rank(risk, utility))
}

fn cost(landscape: &mut impl Landscape, levels: &[u8], goal: Goal) -> Option<f64> {
    let (risk, utility) = (landscape.risk(levels), landscape.utility(levels));
    goal.cost(risk, utility)
}

/// Goals of every kind, from what is easy to what is out of reach.
fn goals(record: &mut Record, share: f64) -> Vec<Goal> {
    let greatest = record.utility(&vec![0; record.tops().len()]);
    let risks: Vec<f64> = all_level_vectors(&record.tops()).iter().map(|levels| record.risk(levels)).collect();
    let (low, high) = (risks.iter().copied().fold(f64::MAX, f64::min), risks.iter().copied().fold(f64::MIN, f64::max));
    vec![
        Goal::LeastRisk { utility_at_least: (greatest as f64 * share) as i64 },
        Goal::LeastRisk { utility_at_least: greatest },
        Goal::LeastRisk { utility_at_least: greatest + 1 },
        Goal::LeastRisk { utility_at_least: i64::MIN / 2 },
        Goal::MostUtility { risk_at_most: low + (high - low) * share },
        Goal::MostUtility { risk_at_most: low - 1.0 },
        Goal::Scalar { lambda: share },
        Goal::Scalar { lambda: share / 10.0 },
    ]
}

// ---- The paper's example ----

/// Figure 5: two attributes with four and five levels, named from `t` at the top to `a` at the bottom. The paper gives
/// the risk and utility of twelve; the others are ours, in the order that its Figure 6 implies.
struct Figure5;

impl Figure5 {
    /// By steps down from the top.
    const NODES: [[(char, f64, i64); 5]; 4] = [
        [('t', 0.0, 0), ('s', 10.0, 4), ('q', 21.0, 9), ('n', 25.0, 13), ('j', 55.0, 17)],
        [('r', 12.0, 2), ('p', 15.0, 7), ('m', 24.0, 12), ('i', 40.0, 16), ('f', 62.0, 18)],
        [('o', 14.0, 5), ('l', 22.0, 11), ('h', 30.0, 14), ('e', 60.0, 21), ('c', 70.0, 25)],
        [('k', 16.0, 8), ('g', 23.0, 12), ('d', 45.0, 17), ('b', 63.0, 23), ('a', 80.0, 30)],
    ];

    fn node(levels: &[u8]) -> (char, f64, i64) {
        Figure5::NODES[3 - usize::from(levels[0])][4 - usize::from(levels[1])]
    }
}

impl Landscape for Figure5 {
    fn tops(&self) -> Vec<u8> {
        vec![3, 4]
    }

    fn utility(&self, levels: &[u8]) -> i64 {
        Figure5::node(levels).2
    }

    fn risk(&mut self, levels: &[u8]) -> f64 {
        Figure5::node(levels).1
    }
}

#[test]
fn figures_5_and_6() {
    let goal = Goal::LeastRisk { utility_at_least: 18 };
    let name = |levels: Option<Vec<u8>>| Figure5::node(&levels.expect("found")).0;
    let best = best_first(&mut Figure5, goal);
    assert_eq!(best.n_visited, 18);
    // The text names f; its own numbers, and Figure 5, say e.
    assert_eq!(name(best.levels), 'e');
    let walked = walk(&mut Figure5, goal);
    assert_eq!(walked.n_visited, 11);
    assert_eq!(name(walked.levels), 'e');
    assert_eq!(least_cost(&mut Figure5, goal), Some(60.0));
}

// ---- Every search against brute force ----

proptest! {
    #![proptest_config(chance(48))]

    #[test]
    fn searches_find_the_least_cost(table in small_tables(), share in 0.0..1.0f64, seed in 0..9u64) {
        let made = table.make();
        for (utility, risk) in Utility::ALL.into_iter().flat_map(|u| Risk::ALL.map(|r| (u, r))) {
            let mut problem = problem(&made, utility, risk, seed);
            for group in 0..made.counts.n_groups().min(6) {
                let mut record = problem.record(made.counts.codes(group));
                for goal in goals(&mut record, share) {
                    let (least, best) = (least_cost(&mut record, goal), best_rank(&mut record, goal));
                    for by_rows in [None, Some(0), Some(3), Some(usize::MAX)] {
                        let found = optimum_by(&mut record, goal, by_rows).levels;
                        let found = found.and_then(|levels| rank(&mut record, &levels, goal));
                        prop_assert_eq!(found, best, "by rows {:?} {:?} {:?} {:?}", by_rows, utility, risk, goal);
                    }
                    for search in Strategy::ALL.into_iter().filter(|search| search.is_exact(risk, goal)) {
                        let found = search.solve(&mut record, goal);
                        let found = found.levels.and_then(|levels| cost(&mut record, &levels, goal));
                        // Where everything will do, the walk has no frontier to walk along.
                        let ends = [vec![0; record.tops().len()], record.tops()];
                        let all_will_do = ends.iter().all(|levels| cost(&mut record, levels, goal).is_some());
                        if search == Strategy::Walk && all_will_do {
                            prop_assert_eq!(found, None);
                        } else {
                            prop_assert_eq!(found, least, "{} {:?} {:?} {:?}", search.name(), utility, risk, goal);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ours_looks_at_no_more_than_best_first(table in small_tables(), share in 0.0..1.0f64, seed in 0..9u64) {
        let made = table.make();
        let monotone = [Risk::Sensitivity, Risk::Identity];
        for (utility, risk) in Utility::ALL.into_iter().flat_map(|u| monotone.map(|r| (u, r))) {
            let mut problem = problem(&made, utility, risk, seed);
            let goal = Goal::LeastRisk { utility_at_least: (problem.greatest_utility() as f64 * share) as i64 };
            for group in 0..made.counts.n_groups() {
                let mut record = problem.record(made.counts.codes(group));
                let theirs = best_first(&mut record, goal).n_visited;
                let (n_least, with_ties) = up_to_least_risk(&mut record, goal);
                prop_assert!(theirs <= with_ties);
                let theirs = if n_least > 1 { with_ties } else { theirs };
                for by_rows in [None, Some(0), Some(3), Some(usize::MAX)] {
                    let found = optimum_by(&mut record, goal, by_rows);
                    let ours = found.n_visited - found.n_for_ties;
                    prop_assert!(ours <= theirs, "{} > {} for {:?} {:?} {:?}", ours, theirs, utility, risk, goal);
                }
            }
        }
    }

    #[test]
    fn models_are_their_formulas(table in small_tables(), seed in 0..9u64) {
        let made = table.make();
        let (counts, hierarchies) = (&made.counts, &made.hierarchies);
        for (utility, risk) in Utility::ALL.into_iter().flat_map(|u| Risk::ALL.map(|r| (u, r))) {
            let mut problem = problem(&made, utility, risk, seed);
            let greatest = problem.greatest_utility();
            for group in 0..counts.n_groups().min(4) {
                let codes = counts.codes(group);
                let as_it_is = problem.utility_as_it_is(codes);
                let mut record = problem.record(codes);
                prop_assert_eq!(record.utility(&vec![0; codes.len()]), as_it_is);
                prop_assert!(as_it_is == greatest || (utility == Utility::Depth && as_it_is < greatest));
                for levels in all_level_vectors(&record.tops()) {
                    let (u, r) = plain(counts, hierarchies, codes, &levels, utility, risk, seed);
                    prop_assert!((record.utility(&levels) as f64 / UTILITY_ONE as f64 - u).abs() < 1e-6);
                    prop_assert!((record.risk(&levels) - r).abs() < 1e-5 * counts.n_records() as f64);
                }
            }
        }
    }

    #[test]
    fn a_scheme_is_as_its_release(table in small_tables(), seed in 0..9u64) {
        let made = table.make();
        let (counts, hierarchies) = (&made.counts, &made.hierarchies);
        let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
        let with_population = counts.clone().with_population(counts);
        for counts in [counts, &with_population] {
            let weights = Sensitivities::random(hierarchies, seed);
            let problem = Problem::new(counts, hierarchies, Utility::LogLeaves, Risk::Sensitivity, weights, Match::Exact);
            let problem = problem.expect("a good problem");
            for levels in all_level_vectors(&tops) {
                let scheme = Scheme::new(levels.iter().map(|&level| Level(level)).collect());
                let recoding = recode(counts, hierarchies, &vec![levels.clone(); counts.n_groups()]);
                prop_assert_eq!(problem.points_of_scheme(counts, &scheme), problem.points(&recoding));
            }
        }
    }

    #[test]
    fn solving_again_for_more_is_as_solving_anew(table in small_tables(), share in 0.0..1.0f64, seed in 0..9u64) {
        let made = table.make();
        for risk in Risk::ALL {
            let mut problem = problem(&made, Utility::Depth, risk, seed);
            let half = Wish::Share(share / 2.0);
            let before = problem.solve_all(&made.counts, half, &Task::default()).expect("nobody stops it");
            let wish = Wish::Share(share);
            let again = problem.solve_after(&made.counts, wish, &before, &Task::default()).expect("solved");
            for (group, levels) in again.iter().enumerate() {
                let goal = wish.of(problem.utility_as_it_is(made.counts.codes(group)));
                let mut record = problem.record(made.counts.codes(group));
                let best = best_rank(&mut record, goal);
                prop_assert_eq!(rank(&mut record, levels.as_ref().expect("within reach"), goal), best);
            }
        }
    }

    #[test]
    fn grouped_records_have_k_and_only_rise(table in small_tables(), k in 1..9u64, share in 0.0..1.0f64) {
        let made = table.make();
        prop_assume!(k <= made.counts.n_records());
        let problem = problem(&made, Utility::LogLeaves, Risk::Sensitivity, 1);
        let solved = problem.solve_all(&made.counts, Wish::Share(share), &Task::default()).expect("nobody stops it");
        let before: Vec<Vec<u8>> = solved.into_iter().map(|levels| levels.expect("within reach")).collect();
        let after = grouped(&problem, &made.counts, before.clone(), k).expect("enough records");
        let recoding = recode(&made.counts, &made.hierarchies, &after);
        prop_assert!(recoding.sizes_as_seen().iter().all(|size| *size >= k));
        prop_assert_eq!(recoding.sizes().iter().sum::<u64>(), made.counts.n_records());
        for (before, after) in before.iter().zip(&after) {
            prop_assert!(before.iter().zip(after).all(|(before, after)| before <= after));
        }
    }

    #[test]
    fn a_recoding_says_what_the_search_found(table in small_tables(), share in 0.0..1.0f64) {
        let made = table.make();
        let mut problem = problem(&made, Utility::ShareKept, Risk::Sensitivity, 3);
        let solved = problem.solve_all(&made.counts, Wish::Share(share), &Task::default()).expect("nobody stops it");
        let levels: Vec<Vec<u8>> = solved.into_iter().map(|levels| levels.expect("within reach")).collect();
        let recoding = recode(&made.counts, &made.hierarchies, &levels);
        let points = problem.points(&recoding);
        for group in 0..made.counts.n_groups() {
            let published = recoding.shares(group)[0].group.expect("everything is published") as usize;
            for a in 0..made.hierarchies.len() {
                let of_base = made.hierarchies[a].level(usize::from(levels[group][a])).of_base();
                let expected = Span::Label(levels[group][a], of_base[made.counts.codes(group)[a].index()]);
                prop_assert_eq!(&recoding.cell(published, a).span, &expected);
            }
            let mut record = problem.record(made.counts.codes(group));
            prop_assert_eq!(points[published].risk, record.risk(&levels[group]));
            prop_assert_eq!(points[published].utility, record.utility(&levels[group]));
        }
    }
}

/// How many generalizations have exactly the least risk that will do, and how many best-first looks at if it is unlucky
/// with these ties: all up to that risk, and one step below.
fn up_to_least_risk(record: &mut Record, goal: Goal) -> (usize, usize) {
    let least = least_cost(record, goal).unwrap_or(f64::MAX);
    let all = all_level_vectors(&record.tops());
    let risks: Vec<f64> = all.iter().map(|levels| record.risk(levels)).collect();
    let mut visited = HashSet::from([record.tops()]);
    for (levels, _) in all.iter().zip(&risks).filter(|(_, risk)| **risk <= least) {
        visited.extend((0..levels.len()).filter(|&a| levels[a] > 0).map(|a| {
            let mut below = levels.clone();
            below[a] -= 1;
            below
        }));
    }
    (risks.iter().filter(|risk| **risk == least).count(), visited.len())
}

/// Utility and risk straight from the paper's formulas.
fn plain(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    codes: &[incrowd::table::Code],
    levels: &[u8],
    utility: Utility,
    risk: Risk,
    seed: u64,
) -> (f64, f64) {
    let label = |a: usize, code: usize| hierarchies[a].level(usize::from(levels[a])).of_base()[code];
    let fits = |group: &usize| {
        (0..codes.len()).all(|a| label(a, counts.codes(*group)[a].index()) == label(a, codes[a].index()))
    };
    let n_fitting: u64 = (0..counts.n_groups()).filter(fits).map(|group| counts.size(group)).sum();
    let (mut u, mut phi) = (0.0, 0.0);
    for a in 0..codes.len() {
        let hierarchy = &hierarchies[a];
        let m = hierarchy.level(0).len() as f64;
        let here = label(a, codes[a].index());
        let n = (0..hierarchy.level(0).len()).filter(|&value| label(a, value) == here).count() as f64;
        let labels = |level: usize| hierarchy.level(level).label_of(codes[a].index());
        let steps = (usize::from(levels[a])..hierarchy.top()).filter(|&level| labels(level) != labels(level + 1));
        u += match utility {
            Utility::InverseLeaves => 1.0 / n,
            Utility::LogLeaves => (m / n).ln(),
            Utility::Depth => steps.count() as f64,
            Utility::ShareKept => (m - 1.0) / m - (n - 1.0) / m,
            Utility::LmKept if m == 1.0 => 0.0,
            Utility::LmKept => 1.0 - (n - 1.0) / (m - 1.0),
        };
        if usize::from(levels[a]) < hierarchy.top() {
            phi += rolled_up(
                hierarchy,
                &Sensitivities::random(hierarchies, seed),
                a,
                usize::from(levels[a]),
                here.index(),
            );
        }
    }
    let n_fitting = n_fitting as f64;
    let risk = match risk {
        Risk::Sensitivity => phi / n_fitting,
        Risk::Identity => 1.0 / n_fitting,
        Risk::Entropic => phi * (1.0 / n_fitting).ln(),
    };
    (u, risk)
}

/// The paper's rule, child by child.
fn rolled_up(hierarchy: &Hierarchy, weights: &Sensitivities, a: usize, level: usize, label: usize) -> f64 {
    if level == 0 {
        return weights.of_value(a, label);
    }
    let below = hierarchy.level(level - 1).parents();
    let children = (0..below.len()).filter(|&child| below[child].index() == label);
    1.0 / children.map(|child| 1.0 / rolled_up(hierarchy, weights, a, level - 1, child)).sum::<f64>()
}

// ---- Where the published searches stop short ----

/// Two numbers in intervals: 1 and 2 are twice there, 3 and 4 once.
fn four_records() -> (GroupCounts, Vec<Hierarchy>) {
    let rows: Vec<Vec<Option<String>>> = [[1, 1], [1, 2], [2, 1], [2, 2], [3, 4], [4, 3]]
        .iter()
        .map(|row| row.iter().map(|n| Some(n.to_string())).collect())
        .collect();
    let counts = counts_of(&["x", "y"], &[], &Missing::default(), &rows);
    let rule = Rule::intervals(vec![2.0], 1.0).expect("a good rule");
    let hierarchies = counts.domains().iter().map(|domain| rule.resolve(domain).expect("numbers")).collect();
    (counts, hierarchies)
}

#[test]
fn the_published_walk_stops_short_where_there_is_no_frontier() {
    let (counts, hierarchies) = four_records();
    let weights = Sensitivities::equal(&hierarchies);
    let mut problem =
        Problem::new(&counts, &hierarchies, Utility::InverseLeaves, Risk::Sensitivity, weights, Match::Exact)
            .expect("good");
    let mut record = problem.record(counts.codes(0));
    // Even all-`*` has 1/4 + 1/4: everything will do, no node has an infeasible generalization.
    let goal = Goal::LeastRisk { utility_at_least: UTILITY_ONE / 2 };
    assert_eq!(walk(&mut record, goal).levels, None);
    assert_eq!(best_first(&mut record, goal).levels, Some(vec![2, 2]));
    assert_eq!(optimum(&mut record, goal).levels, Some(vec![2, 2]));
}

#[test]
fn the_published_searches_stop_short_where_risk_is_not_monotone() {
    let (counts, hierarchies) = four_records();
    let weights = Sensitivities::equal(&hierarchies);
    let mut problem =
        Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Entropic, weights, Match::Exact).expect("good");
    let mut record = problem.record(counts.codes(0));
    // One step kept is enough, but two of them say more to a crowd that is as large: less risk by model III.
    let goal = Goal::LeastRisk { utility_at_least: UTILITY_ONE };
    let least = least_cost(&mut record, goal).expect("something will do");
    let cost_of = |levels: Option<Vec<u8>>, record: &mut Record| cost(record, &levels.expect("found"), goal);
    let found = optimum(&mut record, goal).levels;
    assert_eq!(cost_of(found, &mut record), Some(least));
    let found = best_first(&mut record, goal).levels;
    assert!(cost_of(found, &mut record) > Some(least));
    let found = walk(&mut record, goal).levels;
    assert!(cost_of(found, &mut record) > Some(least));
}

// ---- Depth, ties and exact bounds ----

/// A table of labels as a hierarchy of one attribute, and one record per line.
fn labelled(lines: &[&str]) -> (GroupCounts, Vec<Hierarchy>) {
    let text = lines.join("\n");
    let table = LabelTable::parse("t.csv", &text).expect("a table");
    let values: Vec<Vec<Option<String>>> = table.values().into_iter().map(|value| vec![Some(value)]).collect();
    let counts = counts_of(&["x"], &[], &Missing::default(), &values);
    let hierarchy = Rule::Table(table).resolve(&counts.domains()[0]).expect("a tree");
    (counts, vec![hierarchy])
}

#[test]
fn a_level_that_repeats_a_label_is_no_step() {
    let (counts, hierarchies) =
        labelled(&["White;White;White;*", "Black;Black;Other;*", "Asian;Pacific;Other;*", "Amer;Amer;Amer;*"]);
    let weights = Sensitivities::equal(&hierarchies);
    let mut problem =
        Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Sensitivity, weights, Match::Exact).expect("good");
    assert_eq!(problem.greatest_utility(), 3 * UTILITY_ONE);
    let code = |value: &str| counts.domains()[0].code(value).expect("it is there");
    for (value, depths) in
        [("White", [1, 1, 1, 0]), ("Black", [2, 2, 1, 0]), ("Asian", [3, 2, 1, 0]), ("Amer", [1, 1, 1, 0])]
    {
        let mut record = problem.record(&[code(value)]);
        let found = [0, 1, 2, 3].map(|level| record.utility(&[level]));
        assert_eq!(found, depths.map(|depth| depth * UTILITY_ONE), "{value}");
        // Nobody is below a share of what they have, and more than that is out of reach.
        let goal = Wish::Share(1.0).of(found[0]);
        let levels = optimum(&mut record, goal).levels.expect("within reach");
        assert_eq!(record.utility(&levels), found[0], "{value}");
        let more = Goal::LeastRisk { utility_at_least: found[0] + 1 };
        assert_eq!(optimum(&mut record, more).levels, None, "{value}");
    }
    let all = problem.solve_all(&counts, Wish::Share(1.0), &Task::default()).expect("nobody stops it");
    let levels: Vec<Vec<u8>> = all.into_iter().map(|levels| levels.expect("within reach")).collect();
    for point in problem.points(&recode(&counts, &hierarchies, &levels)) {
        assert!(point.utility >= UTILITY_ONE && point.n_records == 1);
    }
}

/// Five values of one label, four records each: Φ of the label is 1/n, and 1 over its people is 1/n too.
#[test]
fn a_risk_of_exactly_one_nth_is_at_most_that() {
    for n in 2..=200u64 {
        let lines: Vec<String> = (0..2 * n).map(|i| format!("v{i};{};*", i / n)).collect();
        let (counts, hierarchies) = labelled(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        for (risk, at_most) in
            [(Risk::Identity, format!("{}", 1.0 / n as f64)), (Risk::Sensitivity, format!("{}", 1.0 / (n * n) as f64))]
        {
            let weights = Sensitivities::equal(&hierarchies);
            let problem = Problem::new(&counts, &hierarchies, Utility::Depth, risk, weights, Match::Exact);
            let problem = problem.expect("good");
            let at_most: f64 = at_most.parse().expect("a number");
            let level = |risk_at_most: f64| {
                let goal = Goal::MostUtility { risk_at_most };
                let solved = problem.solve_all(&counts, goal, &Task::default()).expect("nobody stops it");
                assert!(solved.windows(2).all(|pair| pair[0] == pair[1]), "all records are alike");
                solved[0].as_ref().map(|levels| levels[0])
            };
            assert_eq!(level(at_most), Some(1), "{} of 1/{n}", risk.name());
            assert_eq!(level(at_most * (1.0 - 1e-9)), Some(2), "{} below 1/{n}", risk.name());
        }
    }
}

/// Two attributes of labels with a and b values: Φ is 1/a + 1/b.
#[test]
fn sums_of_fractions_are_compared_exactly() {
    for (a, b, at_most) in [(2, 5, 0.07), (4, 5, 0.0225), (10, 10, 0.002), (20, 5, 0.0025), (3, 6, 1.0 / 36.0)] {
        let rows: Vec<Vec<Option<String>>> = (0..a)
            .flat_map(|x| (0..b).map(move |y| [format!("{x}"), format!("{y}")]))
            .map(|row| row.map(Some).to_vec())
            .collect();
        let far = [vec![Some("1000".to_string()), Some("1000".to_string())]];
        let counts = counts_of(&["x", "y"], &[], &Missing::default(), &[&rows[..], &far].concat());
        let rule = Rule::cuts(vec![vec![1000.0]]).expect("a cut");
        let hierarchies: Vec<Hierarchy> =
            counts.domains().iter().map(|domain| rule.resolve(domain).expect("numbers")).collect();
        let weights = Sensitivities::equal(&hierarchies);
        let mut problem = Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Sensitivity, weights, Match::Exact)
            .expect("good");
        let phi = 1.0 / f64::from(a) + 1.0 / f64::from(b);
        assert!((phi / f64::from(a * b) - at_most).abs() < 1e-12, "{a} and {b}");
        let mut record = problem.record(counts.codes(0));
        let found = optimum(&mut record, Goal::MostUtility { risk_at_most: at_most }).levels;
        assert_eq!(found, Some(vec![1, 1]), "{a} and {b}");
        let found = optimum(&mut record, Goal::MostUtility { risk_at_most: at_most * (1.0 - 1e-9) }).levels;
        assert_ne!(found, Some(vec![1, 1]), "{a} and {b}");
    }
}

#[test]
fn of_equal_risks_the_most_useful_is_taken() {
    // By model II, whoever is alone is as much at risk as the record is.
    let (counts, hierarchies) = labelled(&["a;A;*", "b;B;*", "c;C;*"]);
    let weights = Sensitivities::equal(&hierarchies);
    let mut problem =
        Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Identity, weights, Match::Exact).expect("good");
    let mut record = problem.record(counts.codes(0));
    for by_rows in [None, Some(0)] {
        let goal = Goal::LeastRisk { utility_at_least: UTILITY_ONE };
        assert_eq!(optimum_by(&mut record, goal, by_rows).levels, Some(vec![0]));
    }
}

// ---- Dictionaries, weights and bad input ----

#[test]
fn a_dictionary_of_others_and_alike_names() {
    let row = |texts: &[&str]| texts.iter().map(|text| Some(text.to_string())).collect::<Vec<_>>();
    let table = counts_of(&["name"], &[], &Missing::default(), &[row(&["martha"]), row(&["dixon"])]);
    let others = [row(&["marhta"]), row(&["martha"]), row(&["martha"]), row(&["dwayne"])];
    let others = counts_of(&["name"], &[], &Missing::default(), &others);
    let counts = table.with_population(&others);
    let hierarchies: Vec<Hierarchy> =
        counts.domains().iter().map(|domain| Rule::Flat.resolve(domain).expect("any")).collect();
    let n_fitting = |fit: Match| {
        let weights = Sensitivities::equal(&hierarchies);
        let mut problem =
            Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Identity, weights, fit).expect("good");
        let mut of = |group: usize, level: u8| problem.record(counts.codes(group)).n_fitting(&[level]);
        // In the order of the alphabet; whom the dictionary lacks is there all the same.
        [of(0, 0), of(1, 0), of(0, 1)]
    };
    assert_eq!(n_fitting(Match::Exact), [1, 2, 4]);
    assert_eq!(n_fitting(Match::Similar(0.8)), [1, 3, 4]);
}

#[test]
fn bad_weights_and_similarities_are_refused() {
    let (counts, hierarchies) = four_records();
    for weights in [vec![vec![1.0; 4], vec![1.0, -1.0, 1.0, 1.0]], vec![vec![1.0; 4], vec![1.0; 3]]] {
        let error = Sensitivities::given(&hierarchies, weights).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Project);
        assert!(error.message().to_string().contains("'y'"), "{error}");
    }
    let given = Sensitivities::given(&hierarchies, vec![vec![0.0; 4], vec![2.0; 4]]).expect("good");
    let mut problem =
        Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Sensitivity, given, Match::Exact).expect("good");
    // Two values of weight 2 weigh 1 together; one of six records is 1, 2.
    assert_eq!(problem.record(counts.codes(0)).risk(&[2, 1]), 1.0 / 4.0);
    assert_eq!(problem.record(counts.codes(0)).risk(&[0, 0]), 2.0);
    assert_eq!(Risk::Sensitivity.of(SENSITIVITY_ONE, 4), 0.25);
    for fit in [Match::Similar(0.0), Match::Similar(1.5), Match::Similar(f64::NAN)] {
        let weights = Sensitivities::equal(&hierarchies);
        assert!(Problem::new(&counts, &hierarchies, Utility::Depth, Risk::Identity, weights, fit).is_err());
    }
}
