//! Everything that analysts are shown of a release before they get it.

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Hierarchy, Rule};
use crate::recode::{Recoding, Span};
use crate::table::Code;
use crate::task::Task;
use crate::utility::Target;
use crate::utility::association::{Association, Kind, association, kind};
use crate::utility::attribute::{Attribute, Belief, N_CATEGORIES_MAX, N_INTERVALS_MAX};
use crate::utility::classifier::{Accuracy, Problem, accuracy};
use crate::utility::distribution::{Distribution, shares, total_variation};
use crate::utility::regression::{Design, Estimate, Regression};
use crate::utility::view::{Source, View};

/// Associations are looked at among so many attributes, the first ones.
pub const N_ASSOCIATED_MAX: usize = 30;

/// A target is told in so many classes at most: of a number four, with about as many records each.
const N_TARGET_INTERVALS: usize = 4;
const N_TARGET_CATEGORIES: usize = 32;

/// What a release does to what analysts look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Utility {
    /// By attribute: quasi-identifiers, then sensitive ones.
    pub distributions: Vec<Distribution>,
    /// By pair of attributes.
    pub associations: Vec<Association>,
    /// What becomes of the target, where one is named.
    pub target: Option<TargetUtility>,
}

/// What a release does to what is said about one attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetUtility {
    /// The attribute.
    pub attribute: String,
    /// Its regression on the quasi-identifiers.
    pub regression: Regression,
    /// How well it is told from the quasi-identifiers.
    pub accuracy: Accuracy,
}

impl Utility {
    /// The mean over attributes of the distances of their distributions.
    pub fn mean_distance(&self) -> f64 {
        let sum: f64 = self.distributions.iter().map(|distribution| distribution.distance).sum();
        sum / self.distributions.len().max(1) as f64
    }

    /// The association that changes most; the first of several.
    pub fn most_changed(&self) -> Option<&Association> {
        let least_first = |a: &&Association, b: &&Association| a.change().total_cmp(&b.change());
        self.associations.iter().rev().max_by(least_first)
    }
}

/// The hierarchies of all attributes of some counts: those of the quasi-identifiers, and for sensitive attributes ones
/// that only know their values.
///
/// # Errors
/// Where hierarchies do not fit the counts.
pub fn hierarchies_of(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Result<Vec<Hierarchy>> {
    counts.check_hierarchies(hierarchies)?;
    let of_sensitive = counts.sensitive().iter().map(|domain| Rule::Flat.resolve(domain));
    hierarchies.iter().cloned().map(Ok).chain(of_sensitive).collect()
}

/// The source as analysts look at it, to set releases beside.
pub struct Preview<'a> {
    attributes: Vec<Attribute<'a>>,
    n_quasi: usize,
    source: Source<'a>,
    /// By attribute.
    shares: Vec<Vec<f64>>,
    pairs: Vec<((usize, usize), Kind)>,
    associations: Vec<f64>,
    target: Option<Aim<'a>>,
}

/// What is known of the target before any release.
struct Aim<'a> {
    place: usize,
    /// In as few classes as are told apart.
    classes: Attribute<'a>,
    design: Design,
    estimates: Vec<Option<Estimate>>,
    problem: Problem,
    accuracy: f64,
    baseline: f64,
}

impl<'a> Preview<'a> {
    /// Looks at the source. `hierarchies` are those of [`hierarchies_of`]; the seed decides which records a classifier
    /// does not learn from.
    ///
    /// # Errors
    /// Where there is no such target, or somebody has stopped it.
    pub fn new(
        counts: &'a GroupCounts,
        hierarchies: &'a [Hierarchy],
        target: Option<Target>,
        seed: u64,
        task: &Task,
    ) -> Result<Preview<'a>> {
        let n_quasi = counts.domains().len();
        let n_records = n_records_of_values(counts, hierarchies);
        let place = target.map(|target| target.place(n_quasi));
        if hierarchies.len() != n_records.len() || place.is_some_and(|place| place >= hierarchies.len()) {
            return Err(Error::new(ErrorKind::Request, "there is no such attribute to look at"));
        }
        let attributes: Vec<Attribute> = hierarchies
            .iter()
            .zip(&n_records)
            .map(|(hierarchy, n)| Attribute::new(hierarchy, n, N_INTERVALS_MAX, N_CATEGORIES_MAX))
            .collect();
        let source = Source::new(counts, &attributes, seed);
        let all = 0..attributes.len();
        let shares = all.clone().map(|a| shares(&source.view, a, attributes[a].classes().len())).collect();
        let associated = attributes.len().min(N_ASSOCIATED_MAX);
        let is_number = |a: usize| attributes[a].is_number();
        let pairs = (0..associated).flat_map(|a| (a + 1..associated).map(move |b| (a, b)));
        let pairs: Vec<_> = pairs.map(|(a, b)| ((a, b), kind((is_number(a), is_number(b))))).collect();
        let associations = associations(&source.view, &attributes, &pairs, task)?;
        let mut preview = Preview { attributes, n_quasi, source, shares, pairs, associations, target: None };
        if let Some(place) = place {
            let classes =
                Attribute::new(&hierarchies[place], &n_records[place], N_TARGET_INTERVALS, N_TARGET_CATEGORIES);
            preview.target = Some(preview.aim(place, classes, task)?);
        }
        Ok(preview)
    }

    fn aim(&self, place: usize, classes: Attribute<'a>, task: &Task) -> Result<Aim<'a>> {
        let view = &self.source.view;
        let features = (0..self.n_quasi).filter(|&a| a != place);
        let problem = Problem {
            features: features.map(|a| (a, self.attributes[a].classes().len())).collect(),
            n_classes: classes.classes().len(),
        };
        let values = (0..classes.n_values() as u32).map(|code| classes.belief(&Span::Value(Code(code)))).collect();
        let exact = targets(view, place, values);
        let mut sizes = vec![0.0; problem.n_classes];
        for row in 0..view.len() {
            exact(row).iter().for_each(|(class, share)| sizes[*class as usize] += share * view.weight(row));
        }
        let design = Design::new(view, &self.attributes, self.n_quasi, place);
        Ok(Aim {
            place,
            estimates: design.fit(view),
            design,
            accuracy: accuracy(&problem, view, &exact, view, &exact, task)?,
            baseline: sizes.iter().copied().fold(0.0, f64::max) / sizes.iter().sum::<f64>().max(1.0),
            classes,
            problem,
        })
    }

    /// What a release does to all of it. `made_of` are the counts that the recoding was made of: those of the source, or
    /// counts of the same records by the same quasi-identifiers.
    ///
    /// # Errors
    /// Where the recoding is one of another table, or somebody has stopped it.
    pub fn utility(&self, made_of: &GroupCounts, recoding: &Recoding, task: &Task) -> Result<Utility> {
        if recoding.n_attributes() != self.n_quasi {
            return Err(Error::new(ErrorKind::Request, "the recoding is one of another table"));
        }
        let view = self.source.released(&self.attributes, made_of, recoding, task)?;
        let distribution = |(a, before): (usize, &Vec<f64>)| {
            let after = shares(&view, a, before.len());
            Distribution {
                attribute: self.attributes[a].name().to_string(),
                classes: self.attributes[a].classes().to_vec(),
                distance: total_variation(before, &after),
                before: before.clone(),
                after,
            }
        };
        let distributions = self.shares.iter().enumerate().map(distribution).collect();
        let after = associations(&view, &self.attributes, &self.pairs, task)?;
        let name = |a: usize| self.attributes[a].name().to_string();
        let both = self.pairs.iter().zip(self.associations.iter().zip(after));
        let associations = both.map(|(&((a, b), kind), (&before, after))| Association {
            attributes: (name(a), name(b)),
            kind,
            before,
            after,
        });
        let associations = associations.collect();
        let target = self.target.as_ref().map(|aim| self.of_target(aim, &view, recoding, task)).transpose()?;
        Ok(Utility { distributions, associations, target })
    }

    fn of_target(&self, aim: &Aim, view: &View, recoding: &Recoding, task: &Task) -> Result<TargetUtility> {
        let values = || (0..aim.classes.n_values() as u32).map(|code| aim.classes.belief(&Span::Value(Code(code))));
        let published: Vec<Belief> = match aim.place < self.n_quasi {
            true => recoding.cells(aim.place).iter().map(|cell| aim.classes.belief(&cell.span)).collect(),
            false => values().collect(),
        };
        let learnt = targets(view, aim.place, published);
        let source = &self.source.view;
        let exact = targets(source, aim.place, values().collect());
        let after = aim.design.fit(view);
        Ok(TargetUtility {
            attribute: self.attributes[aim.place].name().to_string(),
            regression: aim.design.compared(&self.attributes, &aim.estimates, &after),
            accuracy: Accuracy {
                after: accuracy(&aim.problem, view, &learnt, source, &exact, task)?,
                before: aim.accuracy,
                baseline: aim.baseline,
                n_classes: aim.problem.n_classes,
            },
        })
    }
}

/// By row of a view, what is believed of the target's class.
fn targets(view: &View, place: usize, beliefs: Vec<Belief>) -> impl Fn(usize) -> Vec<(u32, f64)> + Sync + '_ {
    move |row| beliefs[view.place(row, place) as usize].shares.clone()
}

fn associations(
    view: &View,
    attributes: &[Attribute],
    pairs: &[((usize, usize), Kind)],
    task: &Task,
) -> Result<Vec<f64>> {
    let n_classes = |a: usize| attributes[a].classes().len();
    let of_pair = |&((a, b), kind): &((usize, usize), Kind)| {
        task.go_on()?;
        Ok(association(view, (a, b), (n_classes(a), n_classes(b)), kind))
    };
    pairs.par_iter().map(of_pair).collect()
}

/// By attribute and value, how many records have it.
fn n_records_of_values(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Vec<Vec<u64>> {
    let n_quasi = counts.domains().len();
    let mut all: Vec<Vec<u64>> = hierarchies.iter().map(|hierarchy| vec![0; hierarchy.level(0).len()]).collect();
    for base in 0..counts.n_groups() {
        for (codes, n_records) in counts.codes(base).iter().zip(&mut all) {
            n_records[codes.index()] += counts.size(base);
        }
    }
    for (sensitive, n_records) in all.iter_mut().skip(n_quasi).enumerate() {
        *n_records = counts.distribution(sensitive);
    }
    all
}
