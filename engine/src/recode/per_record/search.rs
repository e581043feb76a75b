//! Three ways to look for the best generalization of one record, with one interface.
//!
//! `best_first` and `walk` are the published ones (BTDA and ARUBA). They are right where risk sinks with every
//! generalization, and the walk only where something is out of reach. `optimum` is ours: right everywhere.

use crate::error::{ErrorKind, Result, unknown};
use crate::recode::per_record::models::{Goal, Risk};
use crate::recode::per_record::record::Record;

pub(crate) use crate::recode::per_record::optimum::optimum_unless;
pub use crate::recode::per_record::optimum::{optimum, optimum_by};
pub use crate::recode::per_record::published::{FoundLevels, best_first, walk};

/// The ways to search, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// [`best_first`].
    BestFirst,
    /// [`walk`].
    Walk,
    /// [`optimum`].
    Optimum,
}

impl Strategy {
    /// Every way there is.
    pub const ALL: [Strategy; 3] = [Strategy::BestFirst, Strategy::Walk, Strategy::Optimum];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::BestFirst => "best-first",
            Strategy::Walk => "walk",
            Strategy::Optimum => "optimum",
        }
    }

    /// The published search of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse_published(name: &str) -> Result<Strategy> {
        let published = [Strategy::BestFirst, Strategy::Walk];
        let named = published.into_iter().find(|strategy| strategy.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "search", name, &published.map(Strategy::name)))
    }

    /// Looks for the best generalization of a record.
    pub fn solve(self, record: &mut Record, goal: Goal) -> FoundLevels {
        match self {
            Strategy::BestFirst => best_first(record, goal),
            Strategy::Walk => walk(record, goal),
            Strategy::Optimum => optimum(record, goal),
        }
    }

    /// Whether it finds the best, provided that, for the walk, not everything will do.
    pub fn is_exact(self, risk: Risk, goal: Goal) -> bool {
        let is_monotone = risk != Risk::Entropic;
        match (self, goal) {
            (Strategy::Optimum, _) | (Strategy::BestFirst, Goal::MostUtility { .. }) => true,
            (Strategy::Walk, Goal::Scalar { .. }) => false,
            _ => is_monotone,
        }
    }
}
