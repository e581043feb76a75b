//! What is said about a promise, criterion by criterion.

use crate::criterion::{Criterion, Measure};

/// Whether a table keeps its promise, with the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// How many records the file has, without those that are marked as suppressed.
    pub n_records: u64,
    /// Records that were treated as suppressed.
    pub n_absent: u64,
    /// How many groups they form.
    pub n_groups: u64,
    /// The size of the smallest one; none where there is no group.
    pub smallest_group: Option<u64>,
    /// The sum of the squares of group sizes: every record counts the records that it cannot be told from.
    pub n_squares: u128,
    /// The fewest distinct values of the first sensitive attribute.
    pub fewest_distinct: Option<u64>,
    /// One for every criterion.
    pub findings: Vec<Finding>,
}

/// One criterion: what was asked, what the table reaches, and how much of it falls short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is claimed.
    pub criterion: Criterion,
    /// Whether the file, and what came with it, was enough to judge.
    pub is_judged: bool,
    /// The strictest value that every group satisfies; none when there is no group.
    pub reached: Option<u64>,
    /// How many groups do not keep it.
    pub n_groups_failing: u64,
    /// How many records are in these groups.
    pub n_records_failing: u64,
    /// Where the claim is about people, whether it holds of records; none where it is about records.
    pub holds_for_records: Option<bool>,
}

impl Finding {
    pub(super) fn new(criterion: Criterion, is_judged: bool) -> Finding {
        Finding {
            criterion,
            is_judged,
            reached: None,
            n_groups_failing: 0,
            n_records_failing: 0,
            holds_for_records: None,
        }
    }

    /// Takes note of what a group of so many records measures.
    pub(super) fn see(&mut self, measured: u64, n_records: u64) {
        if !self.criterion.holds(measured) {
            self.n_groups_failing += 1;
            self.n_records_failing += n_records;
        }
        let worse = if self.criterion.measure.is_at_least() { u64::min } else { u64::max };
        self.reached = Some(self.reached.map_or(measured, |reached| worse(reached, measured)));
    }

    /// Nothing that could be judged speaks against it.
    pub fn holds(&self) -> bool {
        self.n_groups_failing == 0
    }
}

/// What is to be said about a promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// All of it was judged, and all of it is so.
    Kept,
    /// Something that was judged is not so.
    Broken,
    /// Nothing that was judged speaks against it, but not all of it could be judged.
    NotJudged,
}

impl Ruling {
    /// The word that JSON uses.
    pub fn name(self) -> &'static str {
        match self {
            Ruling::Kept => "kept",
            Ruling::Broken => "broken",
            Ruling::NotJudged => "not judged",
        }
    }
}

impl Verdict {
    /// # Guarantee
    /// Kept only where at least one criterion was asked for and every one was judged and holds; broken if and only if
    /// one that was judged fails.
    pub fn ruling(&self) -> Ruling {
        match &self.findings[..] {
            findings if findings.iter().any(|finding| !finding.holds()) => Ruling::Broken,
            findings if findings.is_empty() || findings.iter().any(|finding| !finding.is_judged) => Ruling::NotJudged,
            _ => Ruling::Kept,
        }
    }

    /// The verdict on a promise to people, of whom the file says nothing: by what somebody found who knows whose record
    /// is whose, and without that as far as the records go.
    ///
    /// # Guarantee
    /// Without knowing whose records they are nothing is ever kept. It is broken where the file shows it, whatever is known:
    /// as many people, and as many values of people, need as many records.
    pub fn over_people(self, known: Option<Vec<Finding>>) -> Verdict {
        let of_people = |finding: Finding| {
            let of_records = finding.is_judged.then(|| finding.holds());
            let is_implied = matches!(finding.criterion.measure, Measure::Size | Measure::Distinct(_));
            let is_known = |known: &&Finding| known.criterion == finding.criterion && known.is_judged;
            let known = known.as_ref().and_then(|known| known.iter().find(is_known));
            let finding = match known {
                // Whoever says that they know better is shown the file.
                _ if is_implied && !finding.holds() => finding,
                Some(known) => *known,
                None => {
                    Finding { is_judged: false, reached: None, n_groups_failing: 0, n_records_failing: 0, ..finding }
                }
            };
            Finding { holds_for_records: of_records.or(Some(false)), ..finding }
        };
        Verdict { findings: self.findings.into_iter().map(of_people).collect(), ..self }
    }

    /// A table of which nothing was asked, or of which something could not be judged, has kept no promise.
    pub fn holds(&self) -> bool {
        self.ruling() == Ruling::Kept
    }
}
