//! What the report tells: the certificate, what was found in the file, and what only the source knows.

use incrowd::risk::special_uniques::SpecialUniques;
use incrowd::risk::{Contribution, Risks};
use incrowd::utility::preview::Utility;
use incrowd::verify::Verdict;
use incrowd::wire::{Certificate, Claim};

use crate::input::project::ReportWords;
use crate::output::account::{Account, Minutes};
use crate::sentences::{counted_words, people_in_words};

/// What the page tells.
pub struct Facts<'a> {
    /// The name of the release's file.
    pub release: &'a str,
    /// The name of the certificate's file.
    pub certificate_name: &'a str,
    pub certificate: &'a Certificate,
    /// What the project file says of the release beyond what can be counted.
    pub said: &'a ReportWords,
    /// What comes from the source and not from the release.
    pub account: &'a Account,
    pub verdict: &'a Verdict,
    pub claims: &'a [Claim],
    pub attributes: Vec<AttributeFacts>,
    /// Published groups by size, in people where it is known whose record it is: (size, number of groups), increasing.
    pub group_sizes: Vec<(u64, u64)>,
    /// How likely people are to be found; none where nobody is published.
    pub risk: Option<RiskFacts>,
    /// What the schemes of each height would suppress under the certificate's criteria, by increasing height;
    /// empty when no lattice was made.
    pub by_height: Vec<HeightFacts>,
    /// What becomes of what analysts look at; none where nobody has asked and it would take long.
    pub utility: Option<Utility>,
    /// How several desks have agreed, where they did.
    pub minutes: Option<&'a Minutes>,
}

impl Facts<'_> {
    /// Whether what is promised is promised to people.
    pub(super) fn is_of_people(&self) -> bool {
        !self.certificate.person.is_empty()
    }

    /// So many of what is counted: people where it is known whose record it is, else records.
    pub(super) fn crowd(&self, n: u64) -> String {
        if self.is_of_people() { people_in_words(n) } else { counted_words(n, "record") }
    }
}

/// How likely people are to be found in the file.
pub struct RiskFacts {
    /// A record is at risk where someone finds it with a greater probability.
    pub threshold: f64,
    pub found: Risks,
    /// Of the records that stand alone, about how many stand alone in the population, if the file is this share of it.
    pub unique_in_population: Vec<(f64, f64)>,
    pub contributions: Vec<Contribution>,
    /// None where there are too many attributes to look.
    pub special_uniques: Option<UniquesFacts>,
}

/// Records that stand alone on few attributes, in the source and in the file.
pub struct UniquesFacts {
    pub source: SpecialUniques,
    pub file: SpecialUniques,
}

/// How one quasi-identifier is published.
pub struct AttributeFacts {
    pub name: String,
    pub published_as: PublishedAs,
    /// How many distinct labels are published.
    pub n_labels: usize,
    /// A few published labels.
    pub samples: Vec<String>,
    /// The attribute's own loss, from 0 to 1.
    pub ncp: f64,
}

/// What stands in the cells of a quasi-identifier.
pub enum PublishedAs {
    /// Labels of one level of its hierarchy, the same for all records.
    Level {
        level: usize,
        /// All levels, the exact one and the top included.
        n_levels: usize,
        name: String,
    },
    /// Something of each group's own, in words.
    Own(&'static str),
}

/// Least, mean and most records that schemes of one height suppress.
#[derive(Clone, Copy)]
pub struct HeightFacts {
    pub height: usize,
    pub n_suppressed_min: u64,
    pub n_suppressed_mean: f64,
    pub n_suppressed_max: u64,
}
