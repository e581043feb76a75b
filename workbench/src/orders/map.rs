//! `map`: every scheme and every method's release as a point of risk and utility.

use incrowd::error::Wording;
use incrowd::recode::global;
use incrowd::recode::method::Method;
use incrowd::recode::per_record::{Goal, Point, Problem, Risk, Utility, Wish, recode};
use incrowd::scheme::{Schemes, n_schemes};
use incrowd::search::negotiate::negotiate_with;
use incrowd::task::Task;
use incrowd::{Answer, Criteria, Error, ErrorKind, Lattice, Level, Quality, Ranking, Request, Result, Scheme};
use rayon::prelude::*;

use super::known::Known;
use super::local::Local;
use super::per_record::{PER_RECORD, PerRecordWish, as_number, check_memory};
use super::request::About;
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::note::Note;
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// What is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Map {
    pub about: About,
    /// The models, and the lines of what is wanted at least and at most.
    pub wish: PerRecordWish,
    /// The k of releases to compare with.
    pub ks: Vec<u64>,
    /// The local methods to compare with.
    pub methods: Vec<Method>,
}

/// The releases to compare with where nobody says.
pub const KS: [u64; 7] = [1, 2, 5, 10, 20, 50, 100];
pub const METHODS: [Method; 2] = [Method::Mondrian, Method::TopDown];

/// Everything that is on the map.
pub struct Mapped {
    pub places: Vec<MapPoint>,
    /// The utility that is wanted at least, and the risk at most.
    pub lines: (Option<f64>, Option<f64>),
    pub utility: Utility,
}

/// The most schemes that are drawn.
const N_SCHEMES_MAX: u64 = 20_000;

/// Of the greatest utility, how many tenths records keep that are generalized one by one.
const SHARES: [i64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// A release on the map, by its means over the records under every risk model.
pub struct MapPoint {
    pub series: String,
    pub name: String,
    /// The risk model that it was made to have little of, where it was; it is on that chart only.
    pub made_for: Option<Risk>,
    /// Of a scheme.
    pub levels: Option<Vec<u8>>,
    pub utility: f64,
    pub risks: [f64; 3],
}

/// What is on the chart of a risk model.
pub fn shown(places: &[MapPoint], risk: Risk) -> impl Iterator<Item = &MapPoint> {
    places.iter().filter(move |place| place.made_for.is_none_or(|model| model == risk))
}

impl Map {
    /// Refuses wishes that would do nothing.
    pub fn check(&self) -> Result<()> {
        let PerRecordWish { risk, lambda, also_k, as_published, .. } = &self.wish;
        let without_effect = [
            ("risk", risk.is_some()),
            ("lambda", lambda.is_some()),
            ("also_k", also_k.is_some()),
            ("as_published", as_published.is_some()),
        ];
        match without_effect.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                let message = Wording::text("").setting(name).and(" has no effect on a map");
                Err(Error::new(ErrorKind::Request, message).hint(hint(
                    "there is one chart for each risk model; {utility_at_least} and {risk_at_most} draw a line",
                )))
            }
            None => Ok(()),
        }
    }

    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<Mapped> {
        self.check()?;
        let privacy = self.about.no_privacy(project)?;
        let counted = self.wish.count(project, self.about.choice(&privacy), known, work)?;
        check_memory(&counted, self.wish.fit(), work.n_bytes_max())?;
        let lines = constraint_lines(&self.wish, &counted)?;
        // Before the long part: it may not fit.
        let with_entropy = Ranking::from(Quality::Ncp).needs_entropy();
        let lattice = known.annotate(&counted, [], with_entropy, work)?;
        let places = work.on_threads(|| places(self, &counted, &lattice, work))??;
        Ok(Mapped { places, lines, utility: self.wish.models().0 })
    }
}

pub const SCHEMES: &str = "scheme";

/// Everything that is on the map.
fn places(order: &Map, counted: &Counted, lattice: &Lattice, work: &Work) -> Result<Vec<MapPoint>> {
    let wish = &order.wish;
    let (utility, risk) = wish.models();
    let problem = wish.problem(counted, utility, risk)?;
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let mut places = Vec::new();
    let yardstick = counted.yardstick([])?;
    match n_schemes(hierarchies) {
        Some(n) if n <= N_SCHEMES_MAX => {
            let schemes = Schemes::new(hierarchies)?;
            let place = |place: usize, task: &Task| {
                task.go_on()?;
                let scheme = schemes.scheme(place);
                (task.progress)(1);
                let levels = Some((0..hierarchies.len()).map(|a| scheme.level(a) as u8).collect());
                Ok(MapPoint { levels, ..mean(SCHEMES, scheme.to_string(), &problem.points_of_scheme(counts, &scheme)) })
            };
            places = work.stage("schemes", n, Unit::Schemes, |task| {
                (0..schemes.len()).into_par_iter().map(|at| place(at, task)).collect::<Result<Vec<_>>>()
            })?;
        }
        _ => work.note(Note::SchemesNotDrawn { n_max: N_SCHEMES_MAX }),
    }
    let n_steps = (Risk::ALL.len() * SHARES.len()) as u64;
    let found = work.stage("one by one", n_steps * counts.n_records(), Unit::Records, |task| {
        let one_by_one = Risk::ALL.into_par_iter().map(|risk| one_by_one(&problem.with_risk(risk), counted, task));
        one_by_one.collect::<Result<Vec<_>>>()
    })?;
    places.extend(found.into_iter().flatten());
    let weights = counted.weights();
    let (ks, beyond): (Vec<u64>, Vec<u64>) = order.ks.iter().partition(|k| (1..=counts.n_records()).contains(*k));
    if !beyond.is_empty() {
        work.note(Note::KsBeyond { ks: beyond });
    }
    for k in ks {
        let criteria = Criteria::of(Some(k), None);
        let level_max = Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect());
        let best_by = Ranking::from(Quality::Ncp);
        let request = Request { criteria: criteria.clone(), level_max, n_suppressed_max: 0, best_by };
        if let Answer::Exact(offer) = work.quietly(|task| negotiate_with(lattice, &request, task))? {
            let recoding = global::recode(counts, hierarchies, &offer.scheme, &yardstick, &criteria)?;
            places.push(mean("global", format!("k = {k}"), &problem.points(&recoding)));
        }
        for &method in &order.methods {
            let recoding = work.stage(method.name(), counts.n_records(), Unit::Records, |task| {
                Local::new(method).recode(counted, &weights, &criteria, task)
            })?;
            places.push(mean(method.name(), format!("k = {k}"), &problem.points(&recoding)));
        }
    }
    Ok(places)
}

/// The records generalized one by one to the least risk by a model, for several shares of the utility.
fn one_by_one(problem: &Problem, counted: &Counted, task: &Task) -> Result<Vec<MapPoint>> {
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let mut solved = Vec::new();
    let place = |tenth: i64| {
        solved = problem.solve_after(counts, Wish::Share(tenth as f64 / 10.0), &solved, task)?;
        let levels: Vec<Vec<u8>> = solved.iter().map(|levels| levels.clone().expect("within reach")).collect();
        let points = problem.points(&recode(counts, hierarchies, &levels));
        Ok(MapPoint { made_for: Some(problem.risk_model), ..mean(PER_RECORD, format!("{tenth}0 %"), &points) })
    };
    SHARES.into_iter().map(place).collect()
}

/// Points of records as one point per risk model.
fn mean(series: &str, name: String, points: &[Point]) -> MapPoint {
    let n: u64 = points.iter().map(|point| point.n_records).sum();
    let mean = |of: &dyn Fn(&Point) -> f64| {
        points.iter().map(|point| of(point) * point.n_records as f64).sum::<f64>() / n.max(1) as f64
    };
    MapPoint {
        series: series.to_string(),
        name,
        made_for: None,
        levels: None,
        utility: mean(&|point| as_number(point.utility)),
        risks: Risk::ALL.map(|risk| mean(&|point| risk.of(point.sensitivity, point.n_fitting))),
    }
}

/// What no other point beats on risk and utility together, by increasing risk.
pub fn frontier<'a>(places: impl Iterator<Item = &'a MapPoint>, r: usize) -> Vec<&'a MapPoint> {
    let mut order: Vec<&MapPoint> = places.collect();
    order.sort_by(|a, b| a.risks[r].total_cmp(&b.risks[r]).then(b.utility.total_cmp(&a.utility)));
    let mut most = f64::NEG_INFINITY;
    order.retain(|place| {
        let is_better = place.utility > most;
        most = most.max(place.utility);
        is_better
    });
    order
}

/// The utility that is wanted at least, and the risk at most.
fn constraint_lines(wish: &PerRecordWish, counted: &Counted) -> Result<(Option<f64>, Option<f64>)> {
    let at_least = match wish.utility_at_least {
        Some(_) => {
            let (utility, risk) = wish.models();
            let problem = wish.problem(counted, utility, risk)?;
            let only = PerRecordWish { risk_at_most: None, ..wish.clone() };
            match only.wish(&problem)?.of(problem.greatest_utility()) {
                Goal::LeastRisk { utility_at_least } => Some(as_number(utility_at_least)),
                _ => None,
            }
        }
        None => None,
    };
    if wish.risk_at_most.is_some_and(|risk| !risk.is_finite()) {
        return Err(Error::new(ErrorKind::Request, hint("{risk_at_most} is a number")).hint("for example 0.05"));
    }
    Ok((at_least, wish.risk_at_most))
}
