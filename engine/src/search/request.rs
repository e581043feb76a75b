//! What is asked for, and what has no meaning: values that no table of this size can be asked for, and promises that promise nothing.

use crate::criterion::{Criteria, Criterion, MILLION, Measure, Yardstick};
use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::hierarchy::Hierarchy;
use crate::lattice::Lattice;
use crate::number::Crowd;
use crate::quality::Ranking;
use crate::scheme::Scheme;

/// What someone wishes for: at least this much privacy, at most this many records lost, at most these levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What every published group must keep.
    pub criteria: Criteria,
    /// The most records that may be lost.
    pub n_suppressed_max: u64,
    /// The coarsest scheme that is still acceptable (the papers' v_max).
    pub level_max: Scheme,
    /// Which of several satisfying schemes is best.
    pub best_by: Ranking,
}

impl Request {
    /// Refuses what has no meaning on this table; an impossible wish is not refused, it gets offers.
    ///
    /// # Errors
    /// Where levels, criteria or the number of records have no meaning on this lattice.
    pub fn check(&self, lattice: &Lattice) -> Result<()> {
        let n_values: Vec<usize> = lattice.sensitive().iter().map(|(_, n)| *n).collect();
        check_criteria(&self.criteria, lattice.crowd(), &n_values)?;
        lattice.check_measured(&self.criteria)?;
        if self.best_by.needs_entropy() && lattice.entropies().is_none() {
            return Err(wrong("the lattice was annotated without entropy").hint("annotate it again with entropy"));
        }
        check_levels(self, lattice.hierarchies(), lattice.n_records())
    }
}

/// Refuses levels that the hierarchies do not have, and more records to lose than there are.
pub(crate) fn check_levels(request: &Request, hierarchies: &[Hierarchy], n_records: u64) -> Result<()> {
    if request.n_suppressed_max > n_records {
        return Err(wrong(format!("at most {n_records} records can be suppressed, there are no more")).hint(
            Wording::text("give ")
                .setting("max_suppressed")
                .and(" as a number of records or as a percentage, such as 1%"),
        ));
    }
    request.level_max.check(hierarchies)
}

/// Refuses values of criteria that no table of this size can be asked for; `n_values` are by sensitive attribute.
///
/// # Errors
/// Where nothing is asked for, or a value has no meaning.
pub fn check_criteria(criteria: &Criteria, crowd: Crowd, n_values: &[usize]) -> Result<()> {
    if criteria.is_empty() {
        return Err(wrong("no privacy is asked for").hint(
            Wording::text("give ")
                .setting("k")
                .and(", ")
                .setting("l")
                .and(", ")
                .setting("t")
                .and(" or another criterion")
                .step(Step::SetForAll),
        ));
    }
    criteria.iter().try_for_each(|criterion| check_criterion(criterion, crowd, n_values))
}

/// Refuses criteria that promise nothing to anyone, such as k = 1 alone. Beside another one, k = 1 takes back a standing k.
///
/// What a scheme would lose at k = 1 may be asked; what is published or judged is a promise.
///
/// # Errors
/// Where all of them together promise nothing.
pub fn check_promise(criteria: &Criteria) -> Result<()> {
    match criteria.is_empty() || criteria.iter().any(|criterion| !criterion.is_void()) {
        true => Ok(()),
        false => Err(promises_nothing(criteria)),
    }
}

/// Refuses criteria that promise nothing on this table, because every record keeps them on its own: k = 1 on any, t = 0.95
/// where no sensitive value is rarer than one in twenty.
///
/// # Errors
/// Where every record keeps all of them alone.
pub fn check_promise_on(criteria: &Criteria, yardstick: &Yardstick) -> Result<()> {
    match criteria.is_empty() || criteria.iter().any(|criterion| !yardstick.is_kept_alone(criterion)) {
        true => Ok(()),
        false => Err(promises_nothing(criteria)),
    }
}

/// Whether it depends on the table if criteria promise anything: all that they ask for is a comparison with it.
pub fn depends_on_table(criteria: &Criteria) -> bool {
    !criteria.is_empty() && criteria.iter().all(|criterion| criterion.is_void() || criterion.measure.is_relative())
}

/// What is said of criteria that every record keeps on its own.
pub fn promises_nothing(criteria: &Criteria) -> Error {
    let in_words = |Criterion { measure, value }: Criterion| match measure.is_count() {
        true => format!("{} = {value}", measure.name()),
        false => format!("{} = {}", measure.name(), decimal(value)),
    };
    let all: Vec<String> = criteria.iter().map(in_words).collect();
    wrong(format!("{} promises nothing: every record may stand alone", all.join(", ")))
        .hint("k = 2 is the least that hides anyone; or ask for another criterion beside it")
}

fn check_criterion(criterion: Criterion, crowd: Crowd, n_values: &[usize]) -> Result<()> {
    let Criterion { measure, value } = criterion;
    let name = measure.name();
    let n_values = match measure.sensitive() {
        None => 0,
        Some(s) => match n_values.get(s) {
            Some(&n) => n as u64,
            None => {
                return Err(wrong(format!("{name} needs a sensitive attribute, and the project names none"))
                    .hint(Step::NameSensitive));
            }
        },
    };
    let too_many = |wanted: String| {
        Err(wrong(format!(
            "{name} = {wanted} is larger than the {n_values} distinct values of the sensitive attribute"
        ))
        .hint("no group can have more distinct values than the table"))
    };
    match measure {
        Measure::Size | Measure::Population if value == 0 => {
            Err(wrong(format!("{name} must be at least 1")).hint(format!("{name} = 2 is the least that hides anyone")))
        }
        Measure::Size if value > crowd.n() => {
            let (n, word) = (crowd.n(), crowd.word());
            let one = match crowd {
                Crowd::Records(_) => "record",
                Crowd::People(_) => "person",
            };
            let counted = if n == 1 { one } else { word };
            Err(wrong(format!("k = {value} is larger than the table, which has {n} {counted}"))
                .hint(format!("no group can have more {word} than there are")))
        }
        Measure::Distinct(_) if value == 0 => {
            Err(wrong("l must be at least 1").hint("l = 2 is the least that hides a sensitive value"))
        }
        Measure::Distinct(_) if value > n_values => too_many(value.to_string()),
        Measure::Entropy(_) if value < MILLION => {
            Err(wrong("entropy_l must be at least 1").hint("entropy_l = 2 is as good as two equally frequent values"))
        }
        Measure::Entropy(_) if value > n_values.saturating_mul(MILLION) => too_many(decimal(value)),
        Measure::Recursive { l: 0, .. } => Err(wrong("l of (c,l)-diversity must be at least 1")
            .hint(Wording::text("for example ").example("recursive", "2,3"))),
        Measure::Recursive { l, .. } if u64::from(l) > n_values => too_many(l.to_string()),
        Measure::Recursive { .. } if value == 0 => Err(wrong("c of (c,l)-diversity must be above 0")
            .hint(Wording::text("for example ").example("recursive", "2,3"))),
        Measure::Share(_) if value == 0 || value > MILLION => {
            Err(wrong("alpha must be above 0 and at most 1").hint("alpha = 0.5: no value in more than half of a group"))
        }
        Measure::Share(_) if value.saturating_mul(n_values) < MILLION => {
            Err(wrong(format!("alpha = {} is less than an even share of {n_values} values", decimal(value)))
                .hint("no group can be more even than that"))
        }
        Measure::Closeness(_) if value > MILLION => {
            Err(wrong("t must be from 0 to 1").hint("t = 0 asks for groups just like the table, t = 1 for nothing"))
        }
        Measure::Disclosure(_) if value == 0 => {
            Err(wrong("delta must be above 0").hint("delta = 0.7: no value becomes twice as likely"))
        }
        _ => Ok(()),
    }
}

/// A value in millionths as people write it.
pub fn decimal(millionths: u64) -> String {
    let (whole, rest) = (millionths / MILLION, millionths % MILLION);
    match rest {
        0 => whole.to_string(),
        _ => format!("{whole}.{rest:06}").trim_end_matches('0').to_string(),
    }
}

pub(crate) fn wrong(message: impl Into<Wording>) -> Error {
    Error::new(ErrorKind::Request, message)
}
