//! A published table, read and judged.

use std::collections::HashMap;
use std::path::Path;

use arrow_array::RecordBatch;
use incrowd::verify::{Labels, Original, Outside, SuppressedAs, Texts, Verdict, Verifier};
use incrowd::wire::Certificate;
use incrowd::{Criteria, Distance, Error, ErrorKind, Result};

use crate::input::database::Presence;
use crate::input::digest::TableHash;
use crate::input::notation::Notation;
use crate::input::reference;
use crate::input::source::{ReadOptions, Source};
use crate::work::{Unit, Work};

/// What a file turned out to be.
pub struct Judged {
    pub verdict: Verdict,
    pub columns: Vec<String>,
    pub sha256: String,
    /// The groups of the file.
    pub file: Verifier,
    /// Why a promise to people is not judged, although the project is there.
    pub why_not_judged: Option<&'static str>,
}

/// What a file is asked.
pub struct Question<'a> {
    pub quasi_identifiers: &'a [String],
    pub sensitive: &'a [String],
    pub criteria: &'a Criteria,
    /// Whether its records are in the order of what they say.
    pub with_order: bool,
    /// By sensitive attribute, the labels that its values are counted as; none, or fewer, where they are counted as they
    /// are.
    pub labels: Vec<Option<Labels>>,
}

/// Reads the groups of a published file.
pub fn read(
    source: &Source,
    quasi_identifiers: &[String],
    sensitive: &[String],
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Verifier> {
    let needed: Vec<String> = quasi_identifiers.iter().chain(sensitive).cloned().collect();
    needed.iter().try_for_each(|name| source.check_column(name))?;
    read_with(Verifier::new(quasi_identifiers, sensitive, suppressed_as), source, &needed, |_| Ok(()), work)
}

/// Reads the groups of a published file, and the order of its records.
fn read_in_order(
    source: &Source,
    question: &Question,
    suppressed_as: SuppressedAs,
    look: impl FnMut(&RecordBatch) -> Result<()>,
    work: &Work,
) -> Result<Verifier> {
    let columns = source.column_names();
    let needed = question.quasi_identifiers.iter().chain(question.sensitive);
    needed.into_iter().try_for_each(|name| source.check_column(name))?;
    let texts = if source.is_frame() || source.is_database() { Texts::AsRemembered } else { Texts::AsWritten };
    let verifier = Verifier::new(question.quasi_identifiers, question.sensitive, suppressed_as);
    let verifier = verifier.with_labels(question.labels.clone());
    read_with(verifier.with_order(&columns, texts), source, &columns, look, work)
}

fn read_with(
    mut verifier: Verifier,
    source: &Source,
    needed: &[String],
    mut look: impl FnMut(&RecordBatch) -> Result<()>,
    work: &Work,
) -> Result<Verifier> {
    work.stage("reading", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each_numbered(needed, |batch, n_times, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            look(&batch)?;
            match n_times {
                Some(n_times) => verifier.push_counted(&batch, &n_times),
                None => verifier.push(&batch),
            }
        })
    })?;
    Ok(verifier)
}

/// Reads a published file and judges it, with what lies outside of it.
pub fn judge(
    path: &Path,
    delimiter: Option<u8>,
    counted: Option<&str>,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Judged> {
    let source = open_release(path, delimiter, counted)?;
    let mut judged = judge_source(&source, question, outside, suppressed_as, work)?;
    judged.sha256 = sha256_of_file(path, &source)?;
    Ok(judged)
}

/// Opens a published file, of which each row may stand for several records.
pub fn open_release(path: &Path, delimiter: Option<u8>, counted: Option<&str>) -> Result<Source> {
    let source = Source::open(path, &ReadOptions::of_release(delimiter))?;
    match counted {
        Some(column) => source.counted_by(column),
        None => Ok(source),
    }
}

/// Of a file that was read; a folder has none.
pub(super) fn sha256_of_file(path: &Path, source: &Source) -> Result<String> {
    if path.is_dir() { Ok(String::new()) } else { Ok(source.sha256()?.concat()) }
}

/// The same of a table that a database holds: by a GROUP BY of its own, whose numbers have to be those of a COUNT(*); where
/// the order of records is claimed, by every record as well, and both have to find the same.
pub fn judge_table(
    source: &Source,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Judged> {
    let table = source.table().expect("a table of a database");
    let disagree = |what: &str| {
        Error::new(ErrorKind::Data, format!("the database contradicts itself: {what}"))
            .at(table.name.clone())
            .hint("somebody writes to the table, or the database does not do what it says; nothing was judged")
    };
    let Question { quasi_identifiers, sensitive, labels, .. } = question;
    let needed: Vec<String> = quasi_identifiers.iter().chain(*sensitive).cloned().collect();
    needed.iter().try_for_each(|name| source.check_column(name))?;
    let start = || Verifier::new(quasi_identifiers, sensitive, suppressed_as).with_labels(labels.clone());
    let groups = work.stage("reading", 0, Unit::Bytes, |task| {
        source.for_each_counted(&needed, Presence::default(), 1, start, |verifier, batch, n_times, _| {
            task.go_on()?;
            verifier.push_counted(&batch, &n_times.expect("a database counts"))
        })
    });
    let groups = groups?.pop().expect("one thread reads");
    let verdict_of = |verifier: &Verifier, outside: &Outside| verifier.verdict(question.criteria, outside);
    let outside = outside(&groups);
    let verdict = verdict_of(&groups, &outside);
    if verdict.n_records + verdict.n_absent != table.n_records()? {
        return Err(disagree("its groups have other sizes than it has records"));
    }
    if verdict.n_records + verdict.n_absent == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(table.name.clone())
            .hint("there is nothing to judge"));
    }
    let columns = source.column_names();
    let (file, sha256) = match question.with_order {
        true => {
            let mut hash = TableHash::new(&columns);
            let in_order = read_in_order(source, question, suppressed_as, |batch| hash.add(batch), work)?;
            if verdict_of(&in_order, &outside) != verdict {
                return Err(disagree("its groups are not those of its records"));
            }
            (in_order, hash.finish())
        }
        false => (groups, String::new()),
    };
    Ok(Judged { verdict, columns, sha256, file, why_not_judged: None })
}

/// Reads a published table, which has no hash, and judges it, with what lies outside of it.
pub fn judge_source(
    source: &Source,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Judged> {
    let verifier = match question.with_order {
        true => read_in_order(source, question, suppressed_as, |_| Ok(()), work)?,
        false => {
            let Question { quasi_identifiers, sensitive, labels, .. } = question;
            let needed: Vec<String> = quasi_identifiers.iter().chain(*sensitive).cloned().collect();
            needed.iter().try_for_each(|name| source.check_column(name))?;
            let verifier = Verifier::new(quasi_identifiers, sensitive, suppressed_as).with_labels(labels.clone());
            read_with(verifier, source, &needed, |_| Ok(()), work)?
        }
    };
    let verdict = verifier.verdict(question.criteria, &outside(&verifier));
    if verdict.n_records + verdict.n_absent == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(source.files()[0].display().to_string())
            .hint("there is nothing to judge"));
    }
    let columns = source.column_names();
    Ok(Judged { verdict, columns, sha256: String::new(), file: verifier, why_not_judged: None })
}

/// What a file alone can be compared with: what its certificate tells, or itself where that is the same.
pub(super) fn outside_of_file(
    verifier: &Verifier,
    sensitive: &[String],
    certificate: Option<&Certificate>,
    notation: &Notation,
) -> Outside {
    let itself = |s: usize, distance: Option<Distance>| {
        let counts = verifier.distribution(s);
        let is_text = |value: &String| incrowd::table::Kind::of(value) == incrowd::table::Kind::Text;
        let by_kind = match counts.keys().flatten().any(is_text) {
            true => Distance::Equal,
            false => Distance::Ordered,
        };
        Original::new(&sensitive[s], counts, distance.unwrap_or(by_kind), &HashMap::new())
    };
    let original = |s: usize| {
        let Some(certificate) = certificate else { return Some(itself(s, None)) };
        reference::from_certificate(certificate, &sensitive[s], verifier.distribution(s), notation)
    };
    Outside { originals: (0..sensitive.len()).map(original).collect(), population: None }
}
