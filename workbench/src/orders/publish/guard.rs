//! What ends a run that would publish nonsense: too few records, too many dropped, too many suppressed.
//!
//! The standing wish says what is good enough; the guard says what cannot be right. A delivery of the data that came broken
//! is an error and not an answer, so that nobody takes it for one.

use incrowd::{Error, ErrorKind, GroupCounts, Result};

use super::Decided;
use crate::input::project::Project;
use crate::orders::request::Suppression;
use crate::sentences::{grouped, percent};

/// Refuses data of which too little is left.
pub fn check_counted(project: &Project, counts: &GroupCounts) -> Result<()> {
    let (n_records, n_dropped) = (counts.n_records(), counts.n_dropped());
    if let Some(least) = project.guard.min_records.filter(|least| n_records < *least) {
        let message =
            format!("{} records are left to publish, at least {} are expected", grouped(n_records), grouped(least));
        return Err(refused(project, "min_records", message));
    }
    check(
        project,
        "max_dropped",
        project.guard.max_dropped.as_deref(),
        n_dropped,
        n_records + n_dropped,
        "dropped for missing values",
    )
}

/// Refuses a release that loses too many records.
pub fn check_decided(project: &Project, counts: &GroupCounts, decided: &Decided) -> Result<()> {
    let n_suppressed = match decided {
        Decided::Agreed(agreed) => agreed.offer.n_suppressed,
        Decided::Made(made) => made.judgement.n_suppressed,
        // Every record is published, or none is.
        Decided::OneByOne(_) | Decided::No(_) => 0,
    };
    check(
        project,
        "max_suppressed",
        project.guard.max_suppressed.as_deref(),
        n_suppressed,
        counts.n_records(),
        "suppressed",
    )
}

fn check(project: &Project, key: &str, most: Option<&str>, n: u64, n_all: u64, what: &str) -> Result<()> {
    let Some(text) = most else { return Ok(()) };
    let at = |error: Error| error.or_at(format!("{}: guard.{key}", project.file.display()));
    let most = match Suppression::parse(text).map_err(at)? {
        Suppression::Records(n) => n,
        share => share.of(n_all).map_err(at)?,
    };
    if n <= most {
        return Ok(());
    }
    let message = format!(
        "{} of {} records ({}) would be {what}, at most {text} may be",
        grouped(n),
        grouped(n_all),
        percent(n, n_all)
    );
    Err(refused(project, key, message))
}

fn refused(project: &Project, key: &str, message: String) -> Error {
    Error::new(ErrorKind::Data, message)
        .at(format!("{}: guard.{key}", project.file.display()))
        .hint("nothing was published; see what came with this delivery of the data, or change the guard")
}
