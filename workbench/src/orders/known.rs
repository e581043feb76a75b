//! What was found out about tables before, so that it is not made again: counts and lattices, by what they are about.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd::recode::tree::Tree;
use incrowd::search::partial::Selection;
use incrowd::{ErrorKind, Lattice, Measure, Ranking, Request, Result};

use super::extent::{Extent, ExtentWish, Otherwise};
use super::lattice::{annotate_some, grow, measure_again};
use super::request::Privacy;
use crate::input::count::{Choice, Counted, count};
use crate::input::project::Project;
use crate::note::Note;
use crate::work::Work;

/// What a front keeps between orders; a command keeps nothing.
///
/// A lattice measures what was asked for and k and l, nothing else, so that an answer does not depend on what was asked
/// before.
#[derive(Default)]
pub struct Known {
    limits: Option<Limits>,
    counted: Mutex<Vec<(String, Arc<Counted>)>>,
    lattices: Mutex<Vec<(LatticeKey, Arc<Lattice>)>>,
    trees: Mutex<Vec<(LatticeKey, Arc<Tree>)>>,
}

/// How much is kept.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub n_counted: usize,
    pub n_lattices: usize,
    /// Of all lattices together.
    pub n_bytes: u64,
    /// Whether what is worth knowing about counts is told whenever they are used, or once, when they are made.
    pub tells_again: bool,
}

/// The counts that a lattice is over, what it measures, whether with entropy.
#[derive(Clone, Debug, PartialEq)]
struct LatticeKey {
    counts: usize,
    measures: Vec<Measure>,
    with_entropy: bool,
    /// The part that it is, where it is not whole.
    selection: Option<Selection>,
}

impl Known {
    pub fn keeping(limits: Limits) -> Known {
        Known { limits: Some(limits), ..Known::default() }
    }

    /// The counts of a project, if they are at hand.
    pub fn counted(&self, project: &Project, choice: &Choice) -> Option<Arc<Counted>> {
        let key = self.limits.map(|_| content(project, choice))?;
        let mut all = locked(&self.counted);
        let place = all.iter().position(|(known, _)| *known == key)?;
        let entry = all.remove(place);
        all.push(entry.clone());
        Some(entry.1)
    }

    /// Counts a project, unless that was done.
    pub fn count(&self, project: &Project, choice: &Choice, work: &Work) -> Result<Arc<Counted>> {
        if let Some(counted) = self.counted(project, choice) {
            if self.limits.is_some_and(|limits| limits.tells_again) {
                counted.tell_again(work);
            }
            return Ok(counted);
        }
        let counted = Arc::new(count(project, choice, work)?);
        if let Some(limits) = self.limits {
            let mut all = locked(&self.counted);
            all.push((content(project, choice), counted.clone()));
            while all.len() > limits.n_counted {
                let (_, forgotten) = all.remove(0);
                let key = address(&forgotten);
                locked(&self.lattices).retain(|(known, _)| known.counts != key);
                locked(&self.trees).retain(|(known, _)| known.counts != key);
            }
        }
        Ok(counted)
    }

    /// A lattice, whole or a part of it, with what the criteria and the ranking look at, if it is at hand.
    pub fn lattice(
        &self,
        counted: &Arc<Counted>,
        privacy: &Privacy,
        ranking: &Ranking,
        selection: Option<Selection>,
    ) -> Option<Arc<Lattice>> {
        let measures = privacy.criteria.iter().map(|criterion| criterion.measure);
        let key = lattice_key(counted, measures, ranking.needs_entropy(), selection);
        let mut all = locked(&self.lattices);
        let place = all.iter().position(|(known, _)| *known == key)?;
        let entry = all.remove(place);
        all.push(entry.clone());
        Some(entry.1)
    }

    /// Annotates the whole lattice with some measures, unless that was done.
    pub fn annotate(
        &self,
        counted: &Arc<Counted>,
        measures: impl IntoIterator<Item = Measure>,
        with_entropy: bool,
        work: &Work,
    ) -> Result<Arc<Lattice>> {
        self.annotate_some(counted, measures, with_entropy, None, work)
    }

    /// Annotates the lattice, or a part of it, unless that was done.
    pub fn annotate_some(
        &self,
        counted: &Arc<Counted>,
        measures: impl IntoIterator<Item = Measure>,
        with_entropy: bool,
        selection: Option<Selection>,
        work: &Work,
    ) -> Result<Arc<Lattice>> {
        let measures: Vec<Measure> = measures.into_iter().collect();
        let key = lattice_key(counted, measures.iter().copied(), with_entropy, selection);
        let known = locked(&self.lattices).iter().find(|(known, _)| *known == key).map(|(_, lattice)| lattice.clone());
        if let Some(lattice) = known {
            return Ok(lattice);
        }
        let lattice = Arc::new(annotate_some(counted, measures, with_entropy, selection, work)?);
        self.keep_as(key, lattice.clone());
        Ok(lattice)
    }

    /// Keeps a lattice that was made elsewhere from the same counts: it answers for these criteria and this ranking.
    pub fn keep(
        &self,
        counted: &Arc<Counted>,
        privacy: &Privacy,
        ranking: &Ranking,
        selection: Option<Selection>,
        lattice: Arc<Lattice>,
    ) {
        let measures = privacy.criteria.iter().map(|criterion| criterion.measure);
        self.keep_as(lattice_key(counted, measures, ranking.needs_entropy(), selection), lattice);
    }

    fn keep_as(&self, key: LatticeKey, lattice: Arc<Lattice>) {
        let Some(limits) = self.limits else { return };
        let mut all = locked(&self.lattices);
        all.push((key, lattice));
        let n_bytes = |all: &[(LatticeKey, Arc<Lattice>)]| all.iter().map(|(_, l)| l.n_bytes() as u64).sum::<u64>();
        while all.len() > 1 && (all.len() > limits.n_lattices || n_bytes(&all) > limits.n_bytes) {
            all.remove(0);
        }
    }

    /// The tree of groups with some measures, where it was made.
    pub fn known_tree(&self, counted: &Arc<Counted>, measures: impl IntoIterator<Item = Measure>) -> Option<Arc<Tree>> {
        let key = lattice_key(counted, measures, false, None);
        locked(&self.trees).iter().find(|(known, _)| *known == key).map(|(_, tree)| tree.clone())
    }

    /// The tree of groups with some measures, unless it was made.
    pub fn tree(
        &self,
        counted: &Arc<Counted>,
        measures: impl IntoIterator<Item = Measure>,
        work: &Work,
    ) -> Result<Arc<Tree>> {
        let measures: Vec<Measure> = measures.into_iter().collect();
        let key = lattice_key(counted, measures.iter().copied(), false, None);
        if let Some(tree) = self.known_tree(counted, measures.iter().copied()) {
            return Ok(tree);
        }
        let other =
            locked(&self.trees).iter().find(|(known, _)| known.counts == key.counts).map(|(_, tree)| tree.clone());
        // Its shape is the same whatever is measured.
        let tree = Arc::new(match other {
            Some(other) => measure_again(&other, counted, measures, work)?,
            None => grow(counted, measures, work)?,
        });
        if let Some(limits) = self.limits {
            let mut all = locked(&self.trees);
            all.push((key, tree.clone()));
            let n_bytes = |all: &[(LatticeKey, Arc<Tree>)]| all.iter().map(|(_, t)| t.n_bytes() as u64).sum::<u64>();
            while all.len() > 1 && (all.len() > limits.n_lattices || n_bytes(&all) > limits.n_bytes) {
                all.remove(0);
            }
        }
        Ok(tree)
    }

    /// The lattice for one request, as much of it as the wish or its size say; none where schemes are evaluated on
    /// demand.
    pub fn for_request(
        &self,
        extent: &ExtentWish,
        counted: &Arc<Counted>,
        request: &Request,
        work: &Work,
    ) -> Result<Option<Arc<Lattice>>> {
        let measures = || request.criteria.iter().map(|criterion| criterion.measure);
        let with_entropy = request.best_by.needs_entropy();
        match extent.choose(counted, Otherwise::OnDemand, work)? {
            Extent::OnDemand => Ok(None),
            Extent::Partial(selection) => {
                self.annotate_some(counted, measures(), with_entropy, Some(selection), work).map(Some)
            }
            // What turns out to be too large after all is answered on demand, unless someone wants it whole.
            Extent::Full => match self.annotate(counted, measures(), with_entropy, work) {
                Err(error) if error.kind() == ErrorKind::TooLarge && extent.forced.is_none() => {
                    work.note(Note::OnDemandAfterAll { why: error.message().to_string() });
                    Ok(None)
                }
                lattice => lattice.map(Some),
            },
        }
    }
}

/// What counts depend on.
fn content(project: &Project, choice: &Choice) -> String {
    format!("{} {:?} {:?} {}", project.content, choice.quasi_identifiers, choice.sensitive, choice.with_population)
}

/// Counts are the same where they are the same in memory: they never change.
fn address(counted: &Arc<Counted>) -> usize {
    Arc::as_ptr(counted) as usize
}

/// A yardstick measures k and l beside what is asked for.
fn lattice_key(
    counted: &Arc<Counted>,
    measures: impl IntoIterator<Item = Measure>,
    with_entropy: bool,
    selection: Option<Selection>,
) -> LatticeKey {
    let always = [Measure::Size].into_iter().chain((!counted.sensitive.is_empty()).then_some(Measure::Distinct(0)));
    let mut measures: Vec<Measure> = measures.into_iter().chain(always).collect();
    measures.sort_unstable();
    measures.dedup();
    LatticeKey { counts: address(counted), measures, with_entropy, selection }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
