//! Long work ends soon after somebody has stopped it: all of it asks often enough whether it is still wanted.

mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::*;
use incrowd::attack::{Group, Linkable, Meaning, link};
use incrowd::judge::judge_with;
use incrowd::lattice::saved::{self, ReadAt, Section};
use incrowd::lattice::update::updated;
use incrowd::query::{Draw, Workload, draw_queries};
use incrowd::recode::keep::{self, Demand, Wanted};
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::{Goal, Problem, Risk, Sensitivities, Utility};
use incrowd::risk::contributions;
use incrowd::search::frontier::frontier;
use incrowd::search::negotiate::negotiate_with;
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::search::partial::{Estimator, Selection, annotate_partially, prove};
use incrowd::task::Task;
use incrowd::{
    Counter, Criteria, Criterion, ErrorKind, GroupCounts, Hierarchy, Lattice, Level, Measure, Missing, Plan, Quality,
    Ranking, Request, Result, Rule, Scheme, Yardstick,
};

/// A table of many combinations, and what is made of it.
struct World {
    counts: GroupCounts,
    after: GroupCounts,
    hierarchies: Vec<Hierarchy>,
    yardstick: Yardstick,
    lattice: Lattice,
    sections: Vec<Section>,
    file: Arc<Memory>,
}

struct Memory(Vec<u8>);

impl ReadAt for Memory {
    fn read(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>> {
        Ok(self.0[start as usize..][..n_bytes].to_vec())
    }
}

const WEIGHTS: [f64; 4] = [1.0; 4];
const NAMES: [&str; 4] = ["age", "zip", "height", "weight"];
const RANGES: [usize; 4] = [80, 50, 24, 24];

fn world(n: usize) -> World {
    let mut seed = 7u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut record = |_| -> Vec<Cell> {
        let mut cells: Vec<Cell> = RANGES.iter().map(|&range| Some(below(range).to_string())).collect();
        cells.extend([Some(below(12).to_string()), Some(below(5).to_string())]);
        cells
    };
    let records: Vec<Vec<Cell>> = (0..n).map(&mut record).collect();
    let missing = Missing::default();
    let counts = counts_of(&NAMES, &["disease", "job"], &missing, &records);
    let after = counts_of(&NAMES, &["disease", "job"], &missing, &records[..n - 20]);
    let rule = Rule::intervals(vec![2.0, 4.0, 8.0, 16.0], 0.0).expect("they nest");
    let hierarchies: Vec<Hierarchy> =
        counts.domains().iter().map(|domain| rule.resolve(domain).expect("numbers")).collect();
    let yardstick = Yardstick::new(&counts, &[], []).expect("sizes and values");
    let plan = Plan { weights: &WEIGHTS, yardstick: &yardstick, with_entropy: false };
    let lattice = incrowd::annotate(&counts, &hierarchies, &plan, &Task::default()).expect("a lattice");
    let mut bytes = Vec::new();
    let mut write = |more: &[u8]| {
        bytes.extend_from_slice(more);
        Ok(())
    };
    let sections = saved::save(&lattice, &counts, 0, &mut write).expect("memory takes any bytes");
    World { counts, after, hierarchies, yardstick, lattice, sections, file: Arc::new(Memory(bytes)) }
}

fn tops(hierarchies: &[Hierarchy]) -> Scheme {
    Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect())
}

type Call<'a> = Box<dyn Fn(&Task) -> Result<()> + 'a>;

/// Everything that may take long, by name.
fn long_calls(world: &World) -> Vec<(String, Call<'_>)> {
    let World { counts, after, hierarchies, yardstick, lattice, sections, file } = world;
    let plan = move || Plan { weights: &WEIGHTS, yardstick, with_entropy: false };
    let close = Yardstick::new(counts, &[], [Measure::Closeness(0), Measure::Entropy(0)]).expect("two attributes");
    let request = |criteria: Criteria, best_by: Ranking| Request {
        criteria,
        n_suppressed_max: 0,
        level_max: tops(hierarchies),
        best_by,
    };
    let (wide, hard) = (
        Request {
            n_suppressed_max: counts.n_records(),
            ..request(Criteria::default(), Ranking::from(Quality::Height))
        },
        request(Criteria::of(Some(3), None), Ranking::from(Quality::Discernibility)),
    );
    let mut calls: Vec<(String, Call)> = vec![
        ("annotate".into(), Box::new(move |task| incrowd::annotate(counts, hierarchies, &plan(), task).map(drop))),
        (
            "annotate, histograms".into(),
            Box::new(move |task| {
                let plan = Plan { weights: &WEIGHTS, yardstick: &close, with_entropy: true };
                incrowd::annotate(counts, hierarchies, &plan, task).map(drop)
            }),
        ),
        (
            "a part of the lattice".into(),
            Box::new(move |task| {
                let selection = Selection { share: 0.2, estimator: Estimator::Lambda };
                annotate_partially(counts, hierarchies, &plan(), selection, task).map(drop)
            }),
        ),
        ("update".into(), Box::new(move |task| updated(lattice, counts, after, &plan(), task).map(drop))),
        (
            "on demand".into(),
            Box::new(move |task| negotiate_on_demand(counts, hierarchies, &plan(), &hard, task).map(drop)),
        ),
        (
            "frontier".into(),
            Box::new(move |task| frontier(lattice, &wide, Measure::Size, &Ranking::from(Quality::Ncp), task).map(drop)),
        ),
        ("opening".into(), Box::new(move |task| saved::open(sections, file.clone(), task).map(drop))),
        (
            "queries".into(),
            Box::new(move |task| {
                let draw = Draw { n_queries: 300, n_attributes: 2, selectivity: 0.05, seed: 1 };
                let queries = draw_queries(counts, hierarchies, &draw, task)?;
                let workload = Workload::new(counts, hierarchies, queries, task)?;
                let assignment = assignment(world);
                let recoding = Method::Mondrian.recode(&assignment, CellStyle::Ranges, &Task::default())?;
                task.go_on()?;
                workload.error(hierarchies, &recoding, task).map(drop)
            }),
        ),
        (
            "single records".into(),
            Box::new(move |task| {
                let sensitivities = Sensitivities::random(hierarchies, 3);
                let (utility, risk) = (Utility::LogLeaves, Risk::Sensitivity);
                let problem = Problem::new(counts, hierarchies, utility, risk, sensitivities, Match::Exact)?;
                problem.solve_all(counts, Goal::Scalar { lambda: 0.001 }, task).map(drop)
            }),
        ),
    ];
    // A lattice that answers no wish has every scheme looked at, for every offer.
    let asked = request(Criteria::of(Some(9), None), Ranking::from(Quality::Discernibility));
    let asked = Request { level_max: Scheme::new(vec![Level(1); hierarchies.len()]), ..asked };
    let again = asked.clone();
    calls.push(("negotiate".into(), Box::new(move |task| negotiate_with(lattice, &again, task).map(drop))));
    let selection = Selection { share: 0.2, estimator: Estimator::Lambda };
    let part = annotate_partially(counts, hierarchies, &plan(), selection, &Task::default()).expect("a part");
    let answer = incrowd::negotiate(&part, &asked).expect("a sound request");
    calls.push((
        "a proof".into(),
        Box::new(move |task| prove(&part, counts, &plan(), &asked, answer.clone(), task).map(drop)),
    ));
    let classes = Method::Mondrian.partition(&assignment(world), &Task::default()).expect("split");
    let recoding = classes.recode(counts, hierarchies, CellStyle::Ranges);
    calls.push((
        "recoding".into(),
        Box::new(move |task| classes.recode_with(counts, hierarchies, CellStyle::Sets, task).map(drop)),
    ));
    calls.push((
        "judging".into(),
        Box::new(move |task| judge_with(counts, hierarchies, &WEIGHTS, yardstick, &recoding, task).map(drop)),
    ));
    let likeness = Yardstick::new(counts, &[], [Measure::Likeness(0)]).expect("an attribute");
    let asked = [(Measure::Size, 10), (Measure::Likeness(0), 1_500_000)];
    let criteria = Criteria::new(asked.map(|(measure, value)| Criterion { measure, value }));
    calls.push((
        "every criterion".into(),
        Box::new(move |task| {
            let demand = Demand { yardstick: &likeness, criteria: &criteria };
            let wanted = Wanted { demand, n_suppressed_max: 0, style: CellStyle::Ranges };
            keep::partition(Method::Mondrian, &assignment(world), &wanted, task).map(drop)
        }),
    ));
    // Ages that overlap, and everybody by their age.
    let groups: Vec<Group> = (0..200u64)
        .map(|i| Group {
            cells: vec![Some(format!("[{}-{}]", i % 60, 20 + i % 60))],
            size: 12,
            values: vec![(0..12).map(|value| (Some(format!("{value}")), 1)).collect()],
        })
        .collect();
    let age = |group: usize| vec![Some(counts.codes(group)[0].0.to_string())];
    let outside: Vec<_> = (0..counts.n_groups()).map(|group| (age(group), counts.size(group))).collect();
    calls.push((
        "linking".into(),
        Box::new(move |task| {
            let linkable =
                Linkable { groups: &groups, meanings: &[Meaning::default()], known: &[Some(0)], people: None };
            link(&[linkable], &outside, 1, task).map(drop)
        }),
    ));
    calls.push(("contributions".into(), Box::new(move |task| contributions(counts, task).map(drop))));
    for method in Method::ALL {
        let call = move |task: &Task| method.recode(&assignment(world), CellStyle::Ranges, task).map(drop);
        calls.push((method.name().to_string(), Box::new(call)));
    }
    calls
}

fn assignment(world: &World) -> Assignment<'_> {
    Assignment {
        counts: &world.counts,
        hierarchies: &world.hierarchies,
        weights: &WEIGHTS,
        least: Least::of(10, None),
        seed: 1,
        n_exchanges: 300,
    }
}

/// What is timed has the machine for itself.
static ALONE: Mutex<()> = Mutex::new(());

/// Wherever work is stopped, it ends there: with the one error, and after a few more questions at most.
#[test]
fn work_that_is_stopped_ends() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let world = world(3_000);
    for (name, call) in long_calls(&world) {
        let n_asked = AtomicU64::new(0);
        let ask = || {
            n_asked.fetch_add(1, Ordering::SeqCst);
            false
        };
        call(&Task { is_cancelled: &ask, ..Task::default() }).unwrap_or_else(|error| panic!("{name}: {error}"));
        let n_all = n_asked.load(Ordering::SeqCst);
        assert!(n_all >= 5, "{name} asks {n_all} times");
        for n_before in [0, 1, n_all / 3, 2 * n_all / 3] {
            n_asked.store(0, Ordering::SeqCst);
            let ask = || n_asked.fetch_add(1, Ordering::SeqCst) >= n_before;
            let ended = call(&Task { is_cancelled: &ask, ..Task::default() });
            let error = ended.expect_err(&format!("{name} was stopped at question {n_before} of {n_all}"));
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{name}");
            let n_more = n_asked.load(Ordering::SeqCst) - n_before;
            // Every thread hears it by itself, in the piece of work at hand.
            assert!(n_more <= 200, "{name} asked {n_more} times more");
        }
    }
}

/// The longest time that a call works without asking; the quickest of several runs counts, as machines have other work.
fn longest_gap(call: &Call) -> Duration {
    let run = |_| {
        let last = Mutex::new((Instant::now(), Duration::ZERO));
        let ask = || {
            let mut last = last.lock().expect("nobody panics here");
            *last = (Instant::now(), last.1.max(last.0.elapsed()));
            false
        };
        call(&Task { is_cancelled: &ask, ..Task::default() }).expect("nobody stops it");
        ask();
        last.into_inner().expect("nobody panics here").1
    };
    (0..3).map(run).min().expect("three runs")
}

/// Half a second where the tests are built for speed of building; a tenth where they are built as the program is.
const GAP_MAX: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 100 });

#[test]
fn no_work_goes_on_for_long_without_asking() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let world = world(12_000);
    let gaps: Vec<(String, Duration)> =
        long_calls(&world).iter().map(|(name, call)| (name.clone(), longest_gap(call))).collect();
    let long: Vec<_> = gaps.iter().filter(|(_, gap)| *gap > GAP_MAX).collect();
    assert!(long.is_empty(), "{long:?} of {gaps:?}");
}

/// Millions of combinations take a while to be put together and in order.
#[test]
fn counts_are_not_finished_for_nobody() {
    let counter = || {
        let mut counter = Counter::new(&["age"], &[], &Missing::default());
        counter.push(&batch(&["age"], &[vec![Some("31".into())]])).expect("texts");
        counter
    };
    let is_cancelled = || true;
    let stopped = Task { is_cancelled: &is_cancelled, ..Task::default() };
    let merged = counter().merge_unless(counter(), &stopped).expect_err("nobody wants it");
    let finished = counter().finish_unless(&stopped).expect_err("nobody wants it");
    assert_eq!([merged.kind(), finished.kind()], [ErrorKind::Cancelled; 2]);
}
