//! `study records`: what the searches for the best generalization of single records look at, and what that is worth beside
//! k-anonymous schemes.
//!
//! Figures 7 and 9 of the ARUBA paper on any project; Figure 2 is `map`.

use std::time::Instant;

use incrowd::recode::per_record::record::Landscape;
use incrowd::recode::per_record::{Goal, Point, Problem, Risk, Strategy, Utility, Wish, recode};
use incrowd::scheme::Schemes;
use incrowd::table::Code;
use incrowd::{Error, ErrorKind, Hierarchy, Result};
use rayon::prelude::*;

use super::known::Known;
use super::per_record::{PerRecordWish, as_number, check_memory};
use super::request::About;
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::work::{Unit, Work};

/// Which records are solved in which ways.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRecords {
    pub about: About,
    /// How many different records are solved, evenly taken from all.
    pub n_sampled: usize,
    /// Shares of the utility that a record keeps at least, in percent.
    pub thresholds: Vec<u8>,
    /// How many of the quasi-identifiers each set has, from the first on; from two to all where none are given.
    pub sets: Vec<usize>,
    /// The k of the schemes to compare with.
    pub ks: Vec<u64>,
    /// Where random sensitivities come from, as in the paper.
    pub seed: u64,
}

pub const THRESHOLDS: [u8; 9] = [10, 20, 30, 40, 50, 60, 70, 80, 90];
pub const KS: [u64; 5] = [1, 2, 10, 50, 100];
pub const N_SAMPLED: usize = 50;

/// What came of it.
pub struct StudiedRecords {
    pub attributes: Vec<String>,
    pub n_records: u64,
    pub n_sampled: usize,
    /// For every risk model and threshold, every search (Figure 7 a and b).
    pub by_threshold: Vec<SearchRow>,
    /// For every risk model and set, every search, halfway (Figure 7 c and d).
    pub by_set: Vec<SearchRow>,
    /// For every risk model and k, k-anonymous schemes and records one by one (Figure 9); empty where there are too many
    /// schemes.
    pub beside: Vec<BesideRow>,
}

/// What one search took, on average over the records.
pub struct SearchRow {
    pub risk: Risk,
    pub search: Strategy,
    pub n_attributes: usize,
    pub threshold: u8,
    pub mean_visited: f64,
    /// Of all generalizations of a record, those that will do and have one that is more general by a step and will not.
    pub frontier_share: f64,
    pub mean_risk: f64,
    /// Whether the search finds the least risk by this model.
    pub is_exact: bool,
    pub seconds: f64,
}

/// k-anonymous schemes, up to ten, and records one by one that each keep their mean utility.
pub struct BesideRow {
    pub risk: Risk,
    pub k: u64,
    pub n_schemes: usize,
    pub utility: f64,
    pub risk_of_schemes: f64,
    pub utility_of_records: f64,
    pub risk_of_records: f64,
}

/// The most generalizations of a record that are looked at one by one, and the most schemes.
const N_MAX: u64 = 20_000;

impl StudyRecords {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<StudiedRecords> {
        if let Some(threshold) = self.thresholds.iter().find(|&&threshold| threshold > 100) {
            return Err(Error::new(ErrorKind::Request, format!("no record keeps {threshold} % of its utility")));
        }
        let counted = count(&self.about, project, known, work)?;
        let names: Vec<String> =
            counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
        let sets = match self.sets.is_empty() {
            true => (2.min(names.len())..=names.len()).collect(),
            false => self.sets.clone(),
        };
        if let Some(size) = sets.iter().find(|&&size| size == 0 || size > names.len()) {
            let message = format!("there is no set of {size} quasi-identifiers, there are {}", names.len());
            return Err(Error::new(ErrorKind::Request, message).hint(format!("give numbers from 1 to {}", names.len())));
        }
        let mut by_threshold = Vec::new();
        for &threshold in &self.thresholds {
            by_threshold.extend(self.searched(&counted, threshold, work)?);
        }
        let mut by_set = Vec::new();
        for size in sets {
            let about = About { quasi_identifiers: Some(names[..size].to_vec()), ..self.about.clone() };
            let counted = count(&about, project, known, work)?;
            by_set.extend(self.searched(&counted, 50, work)?);
        }
        let beside = match incrowd::scheme::n_schemes(&counted.hierarchies) {
            Some(n) if n <= N_MAX => self.beside(&counted, work)?,
            _ => Vec::new(),
        };
        let n_groups = counted.counts.n_groups();
        Ok(StudiedRecords {
            attributes: names,
            n_records: counted.counts.n_records(),
            n_sampled: self.n_sampled.min(n_groups),
            by_threshold,
            by_set,
            beside,
        })
    }

    /// Solves the sampled records by every model in every way.
    fn searched(&self, counted: &Counted, threshold: u8, work: &Work) -> Result<Vec<SearchRow>> {
        let counts = &counted.counts;
        let step = (counts.n_groups() / self.n_sampled.max(1)).max(1);
        let groups: Vec<usize> = (0..counts.n_groups()).step_by(step).take(self.n_sampled).collect();
        let n = groups.len().max(1) as f64;
        let mut rows = Vec::new();
        for risk in Risk::ALL {
            let mut problem = self.problem(counted, risk)?;
            let goals: Vec<Goal> = groups
                .iter()
                .map(|&group| {
                    Wish::Share(f64::from(threshold) / 100.0).of(problem.utility_as_it_is(counts.codes(group)))
                })
                .collect();
            let mut frontier_share = 0.0;
            for (&group, &goal) in groups.iter().zip(&goals) {
                work.check()?;
                frontier_share += frontier(&problem, counts.codes(group), &counted.hierarchies, goal) / n;
            }
            for search in Strategy::ALL {
                let (mut n_visited, mut risks, start) = (0, 0.0, Instant::now());
                for (&group, &goal) in groups.iter().zip(&goals) {
                    work.check()?;
                    let mut record = problem.record(counts.codes(group));
                    let found = search.solve(&mut record, goal);
                    n_visited += found.n_visited;
                    // Where everything will do the walk has nowhere to begin, and all is hidden.
                    risks += found.levels.map_or(0.0, |levels| record.risk(&levels));
                }
                rows.push(SearchRow {
                    risk,
                    search,
                    n_attributes: counted.hierarchies.len(),
                    threshold,
                    mean_visited: n_visited as f64 / n,
                    frontier_share,
                    mean_risk: risks / n,
                    is_exact: goals.first().is_none_or(|&goal| search.is_exact(risk, goal)),
                    seconds: start.elapsed().as_secs_f64() / n,
                });
            }
        }
        Ok(rows)
    }

    fn problem<'a>(&self, counted: &'a Counted, risk: Risk) -> Result<Problem<'a>> {
        let wish = PerRecordWish { weights_seed: Some(self.seed), ..PerRecordWish::default() };
        wish.problem(counted, Utility::Depth, risk)
    }

    fn beside(&self, counted: &Counted, work: &Work) -> Result<Vec<BesideRow>> {
        let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
        let any = self.problem(counted, Risk::Identity)?;
        let schemes = Schemes::new(hierarchies)?;
        let tables: Vec<PointTable> = work.stage("schemes", schemes.len() as u64, Unit::Schemes, |task| {
            work.on_threads(|| {
                let table = |place: usize| {
                    task.go_on()?;
                    (task.progress)(1);
                    Ok(PointTable::of(&any.points_of_scheme(counts, &schemes.scheme(place))))
                };
                (0..schemes.len()).into_par_iter().map(table).collect::<Result<Vec<PointTable>>>()
            })?
        })?;
        let mut averages: Vec<(u64, usize, PointTable)> = self.ks.iter().filter_map(|&k| average(k, &tables)).collect();
        // Whoever keeps less is solved first, which tells where to begin.
        averages.sort_by(|(.., a), (.., b)| a.utility.total_cmp(&b.utility));
        let n_all = (Risk::ALL.len() * averages.len()) as u64 * counts.n_records();
        work.stage("one by one", n_all, Unit::Records, |task| {
            let of_risk = |(r, risk): (usize, Risk)| {
                let (problem, mut solved) = (self.problem(counted, risk)?, Vec::new());
                let mut rows = Vec::new();
                for (k, n_schemes, theirs) in &averages {
                    let goal = Goal::LeastRisk { utility_at_least: theirs.utility.floor() as i64 };
                    solved = problem.solve_after(counts, goal, &solved, task)?;
                    let levels: Option<Vec<Vec<u8>>> = solved.iter().cloned().collect();
                    let Some(levels) = levels else { continue };
                    let ours = PointTable::of(&problem.points(&recode(counts, hierarchies, &levels)));
                    rows.push(BesideRow {
                        risk,
                        k: *k,
                        n_schemes: *n_schemes,
                        utility: as_number(theirs.utility.round() as i64),
                        risk_of_schemes: theirs.risks[r],
                        utility_of_records: as_number(ours.utility.round() as i64),
                        risk_of_records: ours.risks[r],
                    });
                }
                rows.sort_by_key(|row| row.k);
                Ok(rows)
            };
            let all = Risk::ALL.into_iter().enumerate().map(of_risk).collect::<Result<Vec<_>>>()?;
            Ok(all.into_iter().flatten().collect())
        })
    }
}

fn count(about: &About, project: &Project, known: &Known, work: &Work) -> Result<std::sync::Arc<Counted>> {
    let counted = known.count(project, &about.choice(&about.no_privacy(project)?), work)?;
    check_memory(&counted, PerRecordWish::default().fit(), work.n_bytes_max())?;
    Ok(counted)
}

/// Of all generalizations of a record the share that is on the frontier; not counted where there are too many.
fn frontier(problem: &Problem, codes: &[Code], hierarchies: &[Hierarchy], goal: Goal) -> f64 {
    let Goal::LeastRisk { utility_at_least } = goal else { return 0.0 };
    let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let n: u64 = tops.iter().map(|&top| u64::from(top) + 1).product();
    if n > N_MAX {
        return f64::NAN;
    }
    let will_do = |levels: &[u8]| problem.utility(codes, levels) >= utility_at_least;
    let (mut levels, mut n_frontier) = (vec![0; tops.len()], 0);
    loop {
        let is_edge = |a: usize| {
            levels[a] < tops[a] && {
                let mut coarser = levels.clone();
                coarser[a] += 1;
                !will_do(&coarser)
            }
        };
        n_frontier += u64::from(will_do(&levels) && (0..tops.len()).any(is_edge));
        let Some(a) = (0..tops.len()).find(|&a| levels[a] < tops[a]) else { break };
        levels[..a].fill(0);
        levels[a] += 1;
    }
    n_frontier as f64 / n as f64
}

/// Of the schemes that have groups of k records ten, evenly taken, and their means.
fn average(k: u64, tables: &[PointTable]) -> Option<(u64, usize, PointTable)> {
    let anonymous: Vec<&PointTable> = tables.iter().filter(|table| table.smallest >= k).collect();
    let step = (anonymous.len() / 10).max(1);
    let ten: Vec<&PointTable> = anonymous.iter().step_by(step).take(10).copied().collect();
    let mean = |of: &dyn Fn(&PointTable) -> f64| ten.iter().map(|table| of(table)).sum::<f64>() / ten.len() as f64;
    (!ten.is_empty()).then(|| {
        let risks = [0, 1, 2].map(|r| mean(&|table| table.risks[r]));
        (k, ten.len(), PointTable { smallest: k, utility: mean(&|table| table.utility), risks })
    })
}

/// A release: its smallest group, and the mean utility (in steps) and risks of its records.
struct PointTable {
    smallest: u64,
    utility: f64,
    risks: [f64; 3],
}

impl PointTable {
    fn of(points: &[Point]) -> PointTable {
        let n_records = points.iter().map(|point| point.n_records).sum::<u64>().max(1) as f64;
        let mean = |of: &dyn Fn(&Point) -> f64| {
            points.iter().map(|point| of(point) * point.n_records as f64).sum::<f64>() / n_records
        };
        PointTable {
            smallest: points.iter().map(|point| point.n_records).min().unwrap_or(0),
            utility: mean(&|point| point.utility as f64),
            risks: Risk::ALL.map(|risk| mean(&|point| risk.of(point.sensitivity, point.n_fitting))),
        }
    }
}
