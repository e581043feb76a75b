//! `study suppression`: how suppression, generalization and privacy interact.
//!
//! Chapter 3 of the thesis on any project (Tables 3.2 to 3.18, Figures 3.6 to 3.32): for several values of criteria and
//! nested sets of quasi-identifiers, how many records the schemes of every height suppress.

use std::sync::Arc;

use incrowd::search::partial::Selection;
use incrowd::search::request::check_criteria;
use incrowd::{Criteria, Criterion, Error, ErrorKind, Hierarchy, Lattice, Level, Measure, Plan, Result, Scheme};

use super::histogram::{GivenScheme, Histogrammed, histograms};
use super::known::Known;
use super::lattice::annotate_some;
use super::request::{About, GivenRequest, Privacy, each_alone, parse_level, with_levels};
use crate::input::count::Counted;
use crate::input::project::{CriterionText, Project};
use crate::work::Work;

/// What is asked of which schemes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StudySuppression {
    pub about: About,
    /// Each is asked for alone. Where there are none: k = 3, 10, 25 and l = 3, 6, 9, as far as the table goes.
    pub criteria: Vec<CriterionText>,
    /// How many of the quasi-identifiers each set has, from the first on; where none are given, up to four sets that end
    /// with all.
    pub sets: Vec<usize>,
    /// Whether quasi-identifiers come in the order of their grouping power instead of their own: first the one that makes
    /// the smallest group alone.
    pub by_power: bool,
    /// The coarsest level, of all attributes or by name: a part of the lattice, from the finest scheme on.
    pub max_level: Option<MaxLevel>,
    /// The scheme whose histograms are shown.
    pub scheme: GivenScheme,
    /// The scheme that is marked: the coarsest acceptable one of the project's standing request where none is given.
    pub mark: Option<GivenScheme>,
}

/// How far a part of the lattice goes.
#[derive(Clone, Debug, PartialEq)]
pub enum MaxLevel {
    /// The thesis' diamond is `All(1)`.
    All(u8),
    Named(Vec<(String, String)>),
}

/// What came of it.
pub struct StudiedSuppression {
    pub lattice: Arc<Lattice>,
    /// Each alone.
    pub criteria: Vec<Criterion>,
    pub sensitive: Vec<String>,
    pub sets: Vec<StudiedSet>,
    /// Whether only part of each lattice was looked at.
    pub is_part: bool,
    pub histograms: Histogrammed,
    /// The scheme that is marked.
    pub marked: Option<Scheme>,
}

/// A set of quasi-identifiers, all others hidden.
pub struct StudiedSet {
    pub attributes: Vec<String>,
    /// The schemes of the set among those of the lattice, by height.
    pub places: Vec<Vec<usize>>,
    /// By criterion, then by height.
    pub suppressed: Vec<Vec<LossRange>>,
}

/// Records suppressed by the schemes of one height.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRange {
    pub n_schemes: u64,
    pub least: u64,
    pub sum: u64,
    pub most: u64,
}

impl LossRange {
    fn of(values: &[u64]) -> LossRange {
        LossRange {
            n_schemes: values.len() as u64,
            least: values.iter().copied().min().unwrap_or(0),
            sum: values.iter().sum(),
            most: values.iter().copied().max().unwrap_or(0),
        }
    }

    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.n_schemes.max(1) as f64
    }

    /// How many times the least the mean is (Tables 3.14 and 3.15); none where that is 0.
    pub fn mean_over_least(&self) -> Option<f64> {
        ratio(self.mean(), self.least as f64)
    }
}

/// `a / b`, where that has a meaning.
pub fn ratio(a: f64, b: f64) -> Option<f64> {
    (b > 0.0).then(|| a / b)
}

impl StudiedSet {
    /// By how much less the mean of a height is than that of the height below, relative to that one.
    pub fn change(&self, criterion: usize, height: usize) -> Option<f64> {
        let of = &self.suppressed[criterion];
        let before = of[height.checked_sub(1)?].mean();
        ratio(before - of[height].mean(), before)
    }

    pub fn n_schemes(&self) -> usize {
        self.places.iter().map(Vec::len).sum()
    }
}

impl StudiedSuppression {
    /// The criterion that one is compared with: that of the same measure before it.
    pub fn weaker(&self, criterion: usize) -> Option<usize> {
        let before = criterion.checked_sub(1)?;
        (self.criteria[before].measure == self.criteria[criterion].measure).then_some(before)
    }

    /// How many times as many records as under the weaker criterion are lost at best (Table 3.5).
    pub fn ratio_to_weaker(&self, set: usize, criterion: usize, height: usize) -> Option<f64> {
        let of = |criterion: usize| self.sets[set].suppressed[criterion][height].least as f64;
        ratio(of(criterion), of(self.weaker(criterion)?))
    }

    /// How many times as many records as with the smaller set are lost at best at the same height.
    pub fn ratio_to_smaller(&self, set: usize, criterion: usize, height: usize) -> Option<f64> {
        let of = |set: usize| Some(self.sets[set].suppressed[criterion].get(height)?.least as f64);
        ratio(of(set)?, of(set.checked_sub(1)?)?)
    }

    /// The levels of a scheme of a set, without the attributes that are hidden.
    pub fn levels(&self, set: usize, place: usize) -> Vec<u8> {
        self.lattice.schemes().vector(place)[..self.sets[set].attributes.len()].to_vec()
    }

    pub fn n_suppressed(&self, place: usize, criterion: usize) -> u64 {
        self.lattice.n_suppressed(place, &Criteria::new([self.criteria[criterion]]))
    }
}

impl StudySuppression {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<StudiedSuppression> {
        let (criteria, privacy) = each_alone(&self.criteria, project, &self.about)?;
        let counted = self.count(project, &privacy, known, work)?;
        let criteria = match self.criteria.is_empty() {
            true => usual(&counted),
            false => criteria,
        };
        for &criterion in &criteria {
            check_criteria(&Criteria::new([criterion]), counted.counts.crowd(), &counted.n_sensitive_values())?;
        }
        let sizes = self.sizes(counted.hierarchies.len())?;
        let level_max = self.level_max(&counted.hierarchies)?;
        let scheme = self.scheme.on(&counted.hierarchies)?;
        let lattice = known.annotate(&counted, criteria.iter().map(|criterion| criterion.measure), false, work)?;
        let sets = sizes.iter().map(|&n| work.check().map(|()| studied(&lattice, &criteria, n, level_max.as_ref())));
        let sets = sets.collect::<Result<Vec<_>>>()?;
        let histograms = histograms(&counted, &scheme, work)?;
        let marked = match &self.mark {
            // Attributes that are not named may go to their top.
            Some(GivenScheme::Named(levels)) => {
                Some(with_levels(&tops(&counted.hierarchies), levels, &counted.hierarchies)?)
            }
            Some(scheme) => Some(scheme.on(&counted.hierarchies)?),
            None => {
                let standing =
                    GivenRequest::default().checked(project, &privacy, &counted.hierarchies, lattice.n_records());
                standing.ok().filter(|_| !project.request.max_level.is_empty()).map(|request| request.level_max)
            }
        };
        Ok(StudiedSuppression {
            lattice,
            criteria,
            sensitive: counted.sensitive_names(),
            sets,
            is_part: level_max.is_some(),
            histograms,
            marked,
        })
    }

    /// The counts, with quasi-identifiers in the order in which sets take them.
    fn count(&self, project: &Project, privacy: &Privacy, known: &Known, work: &Work) -> Result<Arc<Counted>> {
        let counted = known.count(project, &self.about.choice(privacy), work)?;
        if !self.by_power {
            return Ok(counted);
        }
        let smallest = smallest_alone(&counted, work)?;
        let mut order: Vec<usize> = (0..smallest.len()).collect();
        order.sort_by_key(|&a| smallest[a]);
        let names = order.into_iter().map(|a| counted.hierarchies[a].attribute().to_string()).collect();
        let about = About { quasi_identifiers: Some(names), ..self.about.clone() };
        known.count(project, &about.choice(privacy), work)
    }

    fn sizes(&self, n: usize) -> Result<Vec<usize>> {
        if self.sets.is_empty() {
            return Ok((n.saturating_sub(3).max(1)..=n).collect());
        }
        if let Some(size) = self.sets.iter().find(|&&size| size == 0 || size > n) {
            let message = format!("there is no set of {size} quasi-identifiers, there are {n}");
            return Err(Error::new(ErrorKind::Request, message).hint(format!("give numbers from 1 to {n}")));
        }
        let mut sizes = self.sets.clone();
        sizes.sort_unstable();
        sizes.dedup();
        Ok(sizes)
    }

    fn level_max(&self, hierarchies: &[Hierarchy]) -> Result<Option<Scheme>> {
        match &self.max_level {
            None => Ok(None),
            Some(MaxLevel::Named(levels)) => with_levels(&tops(hierarchies), levels, hierarchies).map(Some),
            Some(MaxLevel::All(level)) => {
                let least = |hierarchy: &Hierarchy| {
                    parse_level(&usize::from(*level).min(hierarchy.top()).to_string(), hierarchy)
                };
                Ok(Some(Scheme::new(hierarchies.iter().map(least).collect::<Result<_>>()?)))
            }
        }
    }
}

fn tops(hierarchies: &[Hierarchy]) -> Scheme {
    Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect())
}

/// Of every attribute the smallest group that it makes alone, all others hidden: the thesis' grouping power (section 3.1),
/// by which the one that isolates records most comes first.
fn smallest_alone(counted: &Counted, work: &Work) -> Result<Vec<u64>> {
    let none = Selection { share: 0.0, ..Selection::default() };
    let mut lattice = annotate_some(counted, Vec::new(), false, Some(none), work)?;
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let hidden = Scheme::new(lattice.schemes().tops().iter().map(|&top| Level(top)).collect());
    let mut of = |a: usize| {
        let alone = hidden.with(a, Level(0));
        lattice.extend(&counted.counts, &plan, &alone)?;
        Ok(lattice.smallest_group(lattice.schemes().place(&alone)).unwrap_or(0))
    };
    (0..counted.hierarchies.len()).map(&mut of).collect()
}

/// The thesis' own values, as far as the table goes.
fn usual(counted: &Counted) -> Vec<Criterion> {
    let n = counted.counts.crowd().n();
    let ks = [3, 10, 25].into_iter().filter(|&k| k <= n).map(Criterion::k);
    let n_values = counted.n_sensitive_values().first().copied().unwrap_or(0) as u64;
    let ls = [3, 6, 9].into_iter().filter(|&l| l <= n_values).map(Criterion::l);
    ks.chain(ls).collect()
}

/// What the schemes over the first `n` attributes suppress, all others hidden.
fn studied(lattice: &Lattice, criteria: &[Criterion], n: usize, level_max: Option<&Scheme>) -> StudiedSet {
    let schemes = lattice.schemes();
    let (_, hidden) = schemes.tops().split_at(n);
    let below: usize = hidden.iter().map(|&top| usize::from(top)).sum();
    let most: Option<Vec<u8>> = level_max.map(|scheme| scheme.levels()[..n].iter().map(|level| level.0).collect());
    let is_in = |&place: &usize| {
        let (levels, others) = schemes.vector(place).split_at(n);
        others == hidden && most.as_ref().is_none_or(|most| levels.iter().zip(most).all(|(level, most)| level <= most))
    };
    let heights = below..schemes.n_heights();
    let places = heights.map(|height| schemes.at_height(height).filter(is_in).collect::<Vec<usize>>());
    let places: Vec<Vec<usize>> = places.take_while(|places| !places.is_empty()).collect();
    let of = |criterion: &Criterion| {
        let criteria = Criteria::new([*criterion]);
        let lost = |place: &usize| lattice.n_suppressed(*place, &criteria);
        let spread = |places: &Vec<usize>| LossRange::of(&places.iter().map(lost).collect::<Vec<u64>>());
        places.iter().map(spread).collect()
    };
    let suppressed = criteria.iter().map(of).collect();
    let name = |hierarchy: &Hierarchy| hierarchy.attribute().to_string();
    StudiedSet { attributes: lattice.hierarchies()[..n].iter().map(name).collect(), places, suppressed }
}

/// Whether criteria are counts, whose values can stand on an axis as they are.
pub fn is_on_axis(measure: Measure) -> bool {
    !matches!(measure, Measure::Recursive { .. })
}
