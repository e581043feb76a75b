//! A table whose records are generalized one by one: what values are worth, how sensitive they are, whom an attacker knows.

use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Hierarchy, Values};
use crate::recode::partition::closest_common_ancestor;
use crate::recode::per_record::dictionary::{AskedBefore, Dictionary, Match};
use crate::recode::per_record::models::{Goal, Risk, Rung, Sensitivities, UTILITY_ONE, Utility, Wish, in_steps};
use crate::recode::per_record::record::Record;
use crate::recode::per_record::search::{self, Strategy};
use crate::recode::{Recoding, Span};
use crate::scheme::Scheme;
use crate::table::Code;
use crate::task::Task;

/// A table, what its values are worth and how sensitive they are, and whom an attacker knows.
pub struct Problem<'a> {
    pub(super) hierarchies: &'a [Hierarchy],
    /// How much a generalization is worth.
    pub utility_model: Utility,
    /// How much a published record tells.
    pub risk_model: Risk,
    sensitivities: Sensitivities,
    /// By attribute, level and label.
    depths: Vec<Vec<Vec<usize>>>,
    pub(super) utility: Vec<Vec<Vec<i64>>>,
    sensitivity: Vec<Vec<Vec<u64>>>,
    /// The same before it was rounded to steps.
    unrounded: Vec<Vec<Vec<f64>>>,
    /// Shared by problems that differ in their risk model.
    dictionary: Arc<Dictionary>,
    /// One per thread.
    known: Vec<Mutex<AskedBefore>>,
}

/// Of more generalizations of a record, the published searches would look at too many.
const N_PUBLISHED_MAX: u64 = 200_000;

/// What each thread has asked a dictionary so far.
fn nothing_known() -> Vec<Mutex<AskedBefore>> {
    (0..rayon::current_num_threads().max(1)).map(|_| Mutex::default()).collect()
}

impl<'a> Problem<'a> {
    /// Whom the attacker knows is the population that the counts carry, or else the table.
    ///
    /// # Errors
    /// Where hierarchies or sensitivities do not fit the counts, or texts are to be compared and there are too many.
    pub fn new(
        counts: &GroupCounts,
        hierarchies: &'a [Hierarchy],
        utility_model: Utility,
        risk_model: Risk,
        sensitivities: Sensitivities,
        fit: Match,
    ) -> Result<Problem<'a>> {
        if hierarchies.is_empty() {
            return Err(Error::new(ErrorKind::Request, "there is no quasi-identifier to generalize")
                .hint("name at least one in the project"));
        }
        counts.check_hierarchies(hierarchies)?;
        if !sensitivities.fit(hierarchies) {
            return Err(Error::new(ErrorKind::Request, "the sensitivities are those of other attributes"));
        }
        let depths: Vec<Vec<Vec<usize>>> = hierarchies.iter().map(depths).collect();
        let utility = hierarchies
            .iter()
            .zip(&depths)
            .map(|(hierarchy, depths)| {
                let m = hierarchy.level(0).len() as u32;
                let of_level = |(level, depths): (usize, &Vec<usize>)| {
                    let of_label = |(n, depth): (u32, &usize)| utility_model.of(n, m, *depth);
                    hierarchy.n_leaves(level).into_iter().zip(depths).map(of_label).collect()
                };
                depths.iter().enumerate().map(of_level).collect()
            })
            .collect();
        let rolled_up = |(a, hierarchy)| sensitivities.rolled_up(a, hierarchy);
        let unrounded: Vec<Vec<Vec<f64>>> = hierarchies.iter().enumerate().map(rolled_up).collect();
        let of_level = |of_level: &Vec<f64>| of_level.iter().copied().map(in_steps).collect();
        let sensitivity = unrounded.iter().map(|levels| levels.iter().map(of_level).collect()).collect();
        let dictionary = Arc::new(Dictionary::new(counts, hierarchies, fit)?);
        let known = nothing_known();
        Ok(Problem {
            hierarchies,
            utility_model,
            risk_model,
            sensitivities,
            depths,
            utility,
            sensitivity,
            unrounded,
            dictionary,
            known,
        })
    }

    /// The same with another risk model.
    pub fn with_risk(&self, risk_model: Risk) -> Problem<'a> {
        Problem {
            hierarchies: self.hierarchies,
            utility_model: self.utility_model,
            risk_model,
            sensitivities: self.sensitivities.clone(),
            depths: self.depths.clone(),
            utility: self.utility.clone(),
            sensitivity: self.sensitivity.clone(),
            unrounded: self.unrounded.clone(),
            dictionary: self.dictionary.clone(),
            known: nothing_known(),
        }
    }

    /// The most utility that a record can have as it is. Where hierarchies are not equally deep everywhere, others have less
    /// by depth.
    pub fn greatest_utility(&self) -> i64 {
        self.utility.iter().map(|of_attribute| of_attribute[0].iter().max().copied().unwrap_or(0)).sum()
    }

    /// The utility of a record with these values that is published at these levels.
    pub fn utility(&self, codes: &[Code], levels: &[u8]) -> i64 {
        let of_attribute = |(a, (code, &level)): (usize, (&Code, &u8))| {
            let label = self.hierarchies[a].level(usize::from(level)).of_base()[code.index()];
            self.utility[a][usize::from(level)][label.index()]
        };
        codes.iter().zip(levels).enumerate().map(of_attribute).sum()
    }

    /// The utility of a record with these values as it is.
    pub fn utility_as_it_is(&self, codes: &[Code]) -> i64 {
        self.utility(codes, &vec![0; codes.len()])
    }

    /// A utility as whole steps: a hair less than asked for, so that what can be reached can be asked for.
    pub fn steps(&self, utility: f64) -> i64 {
        (utility * UTILITY_ONE as f64).floor() as i64 - self.hierarchies.len() as i64
    }

    /// The generalizations of a record.
    pub fn record(&mut self, codes: &[Code]) -> Record<'_> {
        let chains = self.chains(codes);
        let known = self.known[0].get_mut().unwrap_or_else(PoisonError::into_inner);
        Record::new(chains, self.risk_model, &self.dictionary, known)
    }

    fn chains(&self, codes: &[Code]) -> Vec<Vec<Rung>> {
        let chains = codes.iter().enumerate().map(|(a, code)| {
            let label = |level: usize| self.hierarchies[a].level(level).of_base()[code.index()].0;
            let rung = |level: usize| Rung {
                label: label(level),
                utility: self.utility[a][level][label(level) as usize],
                sensitivity: self.sensitivity[a][level][label(level) as usize],
                unrounded: self.unrounded[a][level][label(level) as usize],
                n_fitting: self.dictionary.n_fitting_alone(a, level, label(level)),
                price: f64::INFINITY,
            };
            let mut chain: Vec<Rung> = (0..self.hierarchies[a].n_levels()).map(rung).collect();
            for level in 1..chain.len() {
                let here = chain[level];
                let price = |below: &Rung| match below.utility - here.utility {
                    0 => f64::INFINITY,
                    gained => (below.sensitivity - here.sensitivity) as f64 / gained as f64,
                };
                chain[level].price = chain[..level].iter().map(price).fold(f64::INFINITY, f64::min);
            }
            chain
        });
        chains.collect()
    }

    /// Solves every group of equal records; none where nothing will do.
    ///
    /// # Errors
    /// Where the task was cancelled.
    pub fn solve_all(&self, counts: &GroupCounts, wish: impl Into<Wish>, task: &Task) -> Result<Vec<Option<Vec<u8>>>> {
        self.solve_after(counts, wish, &[], task)
    }

    /// The same by one of the published searches, which may miss the best.
    ///
    /// Where everything will do, the walk has nowhere to begin: then `*`, or for the most utility the record as it is, is
    /// taken.
    ///
    /// # Errors
    /// Where a record has too many generalizations to be looked at one by one, the walk is to weigh risk against utility,
    /// or the task was cancelled.
    pub fn solve_all_as_published(
        &self,
        counts: &GroupCounts,
        wish: impl Into<Wish>,
        strategy: Strategy,
        task: &Task,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let (n_threads, wish) = (self.known.len(), wish.into());
        let n_levels = |hierarchy: &Hierarchy| hierarchy.n_levels() as u64;
        if self.hierarchies.iter().map(n_levels).fold(1, u64::saturating_mul) > N_PUBLISHED_MAX {
            let message =
                format!("the published searches are for at most {N_PUBLISHED_MAX} generalizations of a record");
            return Err(Error::new(ErrorKind::TooLarge, message).hint("choose fewer quasi-identifiers"));
        }
        if matches!((strategy, wish), (Strategy::Walk, Wish::Same(Goal::Scalar { .. }))) {
            return Err(Error::new(ErrorKind::Request, "there is no walk that weighs risk against utility")
                .hint("take the search best-first"));
        }
        let solve = |group: usize| {
            task.go_on()?;
            let goal = wish.of(self.utility_as_it_is(counts.codes(group)));
            let thread = rayon::current_thread_index().unwrap_or(0) % n_threads;
            let mut known = self.known[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let mut record =
                Record::new(self.chains(counts.codes(group)), self.risk_model, &self.dictionary, &mut known);
            let end = match goal {
                Goal::MostUtility { .. } => vec![0; self.hierarchies.len()],
                _ => self.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect(),
            };
            let found = strategy.solve(&mut record, goal).levels;
            (task.progress)(counts.size(group));
            Ok(found.or_else(|| record.will_do(&end, goal).then_some(end)))
        };
        (0..counts.n_groups()).into_par_iter().with_min_len(16).map(solve).collect()
    }

    /// The same after a wish of the same kind that allowed all that this one does: what was best then and is allowed
    /// still, is best now.
    ///
    /// # Errors
    /// Where the task was cancelled.
    pub fn solve_after(
        &self,
        counts: &GroupCounts,
        wish: impl Into<Wish>,
        before: &[Option<Vec<u8>>],
        task: &Task,
    ) -> Result<Vec<Option<Vec<u8>>>> {
        let (n_threads, wish) = (self.known.len(), wish.into());
        let solve = |group: usize| {
            task.go_on()?;
            let goal = wish.of(self.utility_as_it_is(counts.codes(group)));
            let thread = rayon::current_thread_index().unwrap_or(0) % n_threads;
            let mut known = self.known[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let mut record =
                Record::new(self.chains(counts.codes(group)), self.risk_model, &self.dictionary, &mut known);
            let before = before.get(group).cloned().flatten().filter(|levels| record.will_do(levels, goal));
            let solved = match before {
                Some(levels) => Some(levels),
                None => search::optimum_unless(&mut record, goal, task)?.levels,
            };
            (task.progress)(counts.size(group));
            Ok(solved)
        };
        (0..counts.n_groups()).into_par_iter().with_min_len(16).map(solve).collect()
    }

    /// The risk and utility of every published group of a recoding, with its number of records. Suppressed records
    /// are as if they were published as `*` everywhere.
    ///
    /// Cells that are no labels count as all of their values; their depth is that of the closest label above.
    pub fn points(&self, recoding: &Recoding) -> Vec<Point> {
        let of_cells: Vec<Vec<(i64, u64)>> = (0..self.hierarchies.len())
            .map(|a| recoding.cells(a).iter().map(|cell| self.of_cell(a, &cell.span)).collect())
            .collect();
        let mut points = Vec::with_capacity(recoding.n_groups() + 1);
        for (group, n_records) in recoding.sizes().into_iter().enumerate() {
            let spans: Vec<&Span> = (0..self.hierarchies.len()).map(|a| &recoding.cell(group, a).span).collect();
            let of_cell = |a: usize| of_cells[a][recoding.row(group)[a] as usize];
            let (utility, sensitivity) = (0..spans.len()).map(of_cell).fold((0, 0), |(u, s), (v, t)| (u + v, s + t));
            let n_fitting = self.dictionary.n_fitting_spans(&spans);
            let risk = self.risk_model.of(sensitivity, n_fitting);
            points.push(Point { risk, utility, n_records, sensitivity, n_fitting });
        }
        if recoding.n_suppressed() > 0 {
            let tops: Vec<Span> = self.hierarchies.iter().map(|h| Span::Label(h.top() as u8, Code(0))).collect();
            let n_fitting = self.dictionary.n_fitting_spans(&tops.iter().collect::<Vec<_>>());
            let utility = self.utility.iter().map(|of_attribute| of_attribute[of_attribute.len() - 1][0]).sum();
            let n_records = recoding.n_suppressed();
            let risk = self.risk_model.of(0, n_fitting);
            points.push(Point { risk, utility, n_records, sensitivity: 0, n_fitting });
        }
        points
    }

    /// The same for a scheme of the lattice, nothing suppressed.
    ///
    /// # Panics
    /// Where the scheme does not fit the hierarchies.
    pub fn points_of_scheme(&self, counts: &GroupCounts, scheme: &Scheme) -> Vec<Point> {
        let levels: Vec<&Values> = self.hierarchies.iter().enumerate().map(|(a, h)| h.level(scheme.level(a))).collect();
        let label = |base: usize, a: usize| levels[a].of_base()[counts.codes(base)[a].index()];
        let key = |base: usize| (0..levels.len()).map(|a| label(base, a)).collect::<Box<[Code]>>();
        let mut groups: FxHashMap<Box<[Code]>, (usize, u64)> = FxHashMap::default();
        for base in 0..counts.n_groups() {
            groups.entry(key(base)).or_insert((base, 0)).1 += counts.size(base);
        }
        let mut groups: Vec<(usize, u64)> = groups.into_values().collect();
        // The order of a hash table is nobody's business.
        groups.sort_unstable();
        let point = |(base, n_records): (usize, u64)| {
            let of_label = |a: usize| (scheme.level(a), label(base, a));
            let labels = (0..levels.len()).map(of_label);
            let utility =
                labels.clone().enumerate().map(|(a, (level, code))| self.utility[a][level][code.index()]).sum();
            let of_sensitivity = |(a, (level, code)): (usize, (usize, Code))| self.sensitivity[a][level][code.index()];
            let sensitivity = labels.clone().enumerate().map(of_sensitivity).sum();
            let n_fitting = match self.dictionary.is_table() {
                true => n_records,
                false => {
                    let spans: Vec<Span> = labels.map(|(level, code)| Span::Label(level as u8, code)).collect();
                    self.dictionary.n_fitting_spans(&spans.iter().collect::<Vec<_>>())
                }
            };
            Point { risk: self.risk_model.of(sensitivity, n_fitting), utility, n_records, sensitivity, n_fitting }
        };
        groups.into_iter().map(point).collect()
    }

    /// The utility and the sensitivity of a cell.
    fn of_cell(&self, a: usize, span: &Span) -> (i64, u64) {
        let hierarchy = &self.hierarchies[a];
        let of_label =
            |level: usize, code: Code| (self.utility[a][level][code.index()], self.sensitivity[a][level][code.index()]);
        let codes: Vec<Code> = match span {
            Span::Value(code) => return of_label(0, *code),
            Span::Label(level, code) => return of_label(usize::from(*level), *code),
            Span::Range(low, high) | Span::Middle(low, high) => (low.0..=high.0).map(Code).collect(),
            Span::Set(codes) => codes.clone(),
        };
        let m = hierarchy.level(0).len() as u32;
        let (level, label) = closest_common_ancestor(hierarchy, &codes);
        let depth = self.depths[a][level][label.index()];
        let sensitivity = match codes.len() as u32 == m {
            true => 0,
            false => self.sensitivities.of_any(a, &mut codes.iter().map(|code| code.index())),
        };
        (self.utility_model.of(codes.len() as u32, m, depth), sensitivity)
    }
}

/// By level and label, how many different labels stand above it (Definition 1 of the paper: the distance from the root).
fn depths(hierarchy: &Hierarchy) -> Vec<Vec<usize>> {
    let mut depths = vec![vec![0; hierarchy.level(hierarchy.top()).len()]];
    for level in (0..hierarchy.top()).rev() {
        let (here, above) = (hierarchy.level(level), hierarchy.level(level + 1));
        let of_label = |(label, parent): (&String, &Code)| {
            let is_step = *label != above.labels()[parent.index()];
            depths[depths.len() - 1][parent.index()] + usize::from(is_step)
        };
        let of_level = here.labels().iter().zip(here.parents()).map(of_label).collect();
        depths.push(of_level);
    }
    depths.reverse();
    depths
}

/// What is published of some records, as a point of the risk–utility map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// By the risk model.
    pub risk: f64,
    /// In steps.
    pub utility: i64,
    /// How many records they are.
    pub n_records: u64,
    /// In steps.
    pub sensitivity: u64,
    /// The people of the dictionary whom the cells fit.
    pub n_fitting: u64,
}
