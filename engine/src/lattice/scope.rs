//! What answers are about: a table, its quasi-identifiers and what is measured; and which schemes a partial lattice has.

use crate::counts::GroupCounts;
use crate::criterion::{Measure, Yardstick};
use crate::error::{ErrorKind, Result, unknown};
use crate::hierarchy::Hierarchy;
use crate::number::Crowd;
use crate::scheme::n_schemes;

/// What answers are about: the table, its quasi-identifiers and what is measured of its groups.
///
/// A lattice is about one, and can be given wherever one is asked for; answers on demand have it without a lattice.
#[derive(Clone, Debug)]
pub struct Scope {
    pub(crate) hierarchies: Vec<Hierarchy>,
    pub(crate) measures: Vec<Measure>,
    pub(crate) n_records: u64,
    pub(crate) n_dropped: u64,
    /// By sensitive attribute, its name and how many different values the table has.
    pub(crate) sensitive: Vec<(String, usize)>,
    /// How many people there are, where they are counted and not records.
    pub(crate) n_people: Option<u64>,
}

impl Scope {
    /// What answers over these counts, hierarchies and measures are about.
    pub fn new(counts: &GroupCounts, hierarchies: &[Hierarchy], yardstick: &Yardstick) -> Scope {
        Scope {
            hierarchies: hierarchies.to_vec(),
            measures: yardstick.measures().to_vec(),
            n_records: counts.n_records(),
            n_dropped: counts.n_dropped(),
            sensitive: counts.sensitive().iter().map(|domain| (domain.name().to_string(), domain.len())).collect(),
            n_people: counts.people().map(|people| people.len() as u64),
        }
    }

    /// The hierarchies of the quasi-identifiers, in order.
    pub fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }

    /// What is measured of groups; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// How many records were counted.
    pub fn n_records(&self) -> u64 {
        self.n_records
    }

    /// How many people there are, where they are counted and not records.
    pub fn n_people(&self) -> Option<u64> {
        self.n_people
    }

    /// How many there are of what is counted.
    pub fn crowd(&self) -> Crowd {
        self.n_people.map_or(Crowd::Records(self.n_records), Crowd::People)
    }

    /// How many records were left out before, because a value was missing.
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// The sensitive attributes, and how many different values each has.
    pub fn sensitive(&self) -> &[(String, usize)] {
        &self.sensitive
    }

    /// How many schemes there are; none where the number is beyond counting.
    pub fn n_schemes(&self) -> Option<u64> {
        n_schemes(&self.hierarchies)
    }
}

/// How the schemes of a partial lattice are selected (thesis, chapter 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Of the schemes of every height, this share is annotated, and two at least. None but the finest and the coarsest
    /// where it is 0: then all else is evaluated on demand.
    pub share: f64,
    /// What tells promising schemes from others.
    pub estimator: Estimator,
}

/// What tells promising schemes from others: a sum over the levels of a scheme, of how well each groups records.
///
/// γ is the average size of the groups when one attribute alone is generalized, to this level; μ is how many times that
/// of the level below it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Estimator {
    /// Γ = Σ γ.
    Gamma,
    /// M = Σ μ.
    Mu,
    /// ΓM = Σ γ·μ.
    GammaMu,
    /// Λ = Σ log₂(γ)·μ: the thesis finds it the best.
    Lambda,
}

impl Estimator {
    /// Every estimator there is.
    pub const ALL: [Estimator; 4] = [Estimator::Gamma, Estimator::Mu, Estimator::GammaMu, Estimator::Lambda];

    /// The word that flags and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Estimator::Gamma => "gamma",
            Estimator::Mu => "mu",
            Estimator::GammaMu => "gamma-mu",
            Estimator::Lambda => "lambda",
        }
    }

    /// The estimator of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse(name: &str) -> Result<Estimator> {
        let known = Estimator::ALL.map(Estimator::name);
        let named = Estimator::ALL.into_iter().find(|estimator| estimator.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "estimator", name, &known))
    }
}
