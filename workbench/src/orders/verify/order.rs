//! The order itself: which table is judged, by what, and with what else is known.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd::number::Crowd;
use incrowd::search::request::{check_criteria, check_promise, promises_nothing};
use incrowd::verify::{Labels, Ruling, SuppressedAs, Verifier};
use incrowd::wire::{self, Certificate, Claim, Dealt};
use incrowd::{Criteria, Error, ErrorKind, Result};

use super::certificate::{beside, count_as_promised, delimiter_of, labels_for, read_as_published, read_certificate};
use super::judged::{Judged, Question, judge_source, judge_table, outside_of_file, sha256_of_file};
use super::release::Release;
use crate::input::count::Counted;
use crate::input::database::place::DatabasePlace;
use crate::input::database::{Database, Purpose, Table};
use crate::input::from_level::as_certified;
use crate::input::notation::Notation;
use crate::input::project::{CriterionText, Project};
use crate::input::source::{Frame, ReadOptions, Source};
use crate::orders::request::resolve;
use crate::output::account::{Key, SourceFiles};
use crate::sentences::{counted_words, hint};
use crate::work::Work;

/// Which table is judged, by what, and with what else is known.
#[derive(Clone, Debug)]
pub struct Verify {
    /// Of a table in a database, what it is called.
    pub file: PathBuf,
    /// The database that has the table; the project's where only the table is named.
    pub database: Option<DatabasePlace>,
    pub table: Option<String>,
    /// The one beside the file where none is named, and no quasi-identifiers are.
    pub certificate: Option<PathBuf>,
    pub quasi_identifiers: Option<Vec<String>>,
    pub sensitive: Option<Vec<String>>,
    /// The project that the release was made from.
    pub project: Option<PathBuf>,
    /// The data that are read instead of the project's.
    pub data: Option<PathBuf>,
    /// Opens the certificate's marks of the project's files.
    pub key: Option<Key>,
    pub criteria: Vec<CriterionText>,
    pub suppressed_as: SuppressedAs,
    pub delimiter: Option<u8>,
    /// The column that says how many records a row of the file stands for; rows are records where there is none.
    pub counted: Option<String>,
}

impl Verify {
    /// Judges a file by its certificate, or by what the order says.
    pub fn run(&self, work: &Work) -> Result<Checked> {
        if let Some(table) = &self.table {
            return self.run_on(table, work);
        }
        if let Err(error) = std::fs::metadata(&self.file) {
            let error = crate::io_error(&self.file, error);
            return Err(match beside(&self.file) {
                Some(_) => error.hint("its certificate is there and speaks of a file that is gone: publish it again"),
                None => error,
            });
        }
        let certificate = certificate_of(self)?;
        if certificate.is_none() && self.quasi_identifiers.is_none() {
            return Err(Error::new(
                ErrorKind::Request,
                "there is no certificate beside it: nothing says what is promised",
            )
            .at(self.file.display().to_string())
            .hint(hint(
                "where its publishing was interrupted, publish it again with {force}; any other file is judged with \
                 {quasi_identifiers=A,B,…} and {k}, or {certificate=FILE}",
            )));
        }
        check(self, certificate, None, work)
    }
}

/// The folder of a project, by its folder or its file.
fn folder_of(project: &Path) -> &Path {
    match project.is_dir() {
        true => project,
        false => project.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")),
    }
}

impl Verify {
    /// Judges a table of a database.
    fn run_on(&self, table: &str, work: &Work) -> Result<Checked> {
        let place = match (&self.database, &self.project) {
            (Some(place), _) => place.with_table(table),
            (None, Some(project)) => {
                let place = Project::open(project)?.database;
                let place = place.ok_or_else(|| {
                    Error::new(ErrorKind::Request, "the project names no database, in which the table could be")
                        .hint(hint("name it with {database}"))
                })?;
                place.with_table(table)
            }
            (None, None) => {
                return Err(Error::new(ErrorKind::Request, "a table is named, and no database")
                    .hint(hint("name it with {database}, or give {project}")));
            }
        };
        let folder = self.project.as_deref().map_or(Path::new("."), folder_of);
        let order = Verify { file: PathBuf::from(table), database: Some(place), ..self.clone() };
        let beside = || beside(&folder.join(table)).filter(|_| self.quasi_identifiers.is_none());
        let certificate = self.certificate.clone().or_else(beside);
        let certificate = certificate.map(|path| read_certificate(&path)).transpose()?;
        if certificate.is_none() && self.quasi_identifiers.is_none() {
            return Err(Error::new(ErrorKind::Request, "there is no certificate: nothing says what is promised")
                .at(table.to_string())
                .hint(hint("give {certificate=FILE}, or {quasi_identifiers=A,B,…} and {k}")));
        }
        check(&order, certificate, None, work)
    }
}

/// A table that has been judged, and how it compares with its certificate.
pub struct Checked {
    pub judged: Judged,
    pub sensitive: Vec<String>,
    pub claims: Vec<Claim>,
    /// Whether criteria that compare with the original table were judged by the file's own distribution.
    pub is_own: bool,
    /// What the certificate says about dealing.
    pub dealt: Option<Dealt>,
    /// The sensitive attributes that are counted by their labels on a level, and what the level is called.
    pub count_at: Vec<(String, String)>,
}

impl Checked {
    pub fn ruling(&self) -> Ruling {
        wire::ruling(&self.judged.verdict, &self.claims)
    }
}

/// Which sensitive attributes a certificate counts by their labels, and on which levels.
pub fn counted_at(certificate: &Certificate) -> Vec<(String, String)> {
    certificate.count_at.iter().map(|(name, at)| (name.clone(), at.level_name.clone())).collect()
}

/// Refuses an attribute that is to be two things.
pub fn check_roles(quasi_identifiers: &[String], sensitive: &[String]) -> Result<()> {
    match sensitive.iter().find(|name| quasi_identifiers.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' cannot be a quasi-identifier and sensitive at once"),
        )
        .hint(hint("name it in {quasi_identifiers} or in {sensitive}"))),
    }
}

/// Judges the file that the flags name, or a table in memory in its stead, which has no hash to be claimed.
pub fn check(order: &Verify, certificate: Option<Certificate>, frame: Option<&Frame>, work: &Work) -> Result<Checked> {
    let quasi_identifiers = match (&order.quasi_identifiers, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
        (None, None) => {
            return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                .hint(hint("give {quasi_identifiers=A,B,…} and {k}, or {certificate=FILE}")));
        }
    };
    let sensitive = match (&order.sensitive, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.sensitive.clone(),
        (None, None) => Vec::new(),
    };
    check_roles(&quasi_identifiers, &sensitive)?;
    let criteria = criteria_of(order, certificate.as_ref(), &sensitive)?;
    let suppressed_as = order.suppressed_as;
    let source = match (frame, &order.database) {
        (Some(frame), _) => Source::of_frame(frame)?,
        (None, Some(place)) => {
            let folder = order.project.as_deref().map_or(Path::new("."), folder_of);
            // One state of the table, whatever is asked of it.
            let database = Arc::new(Database::open(place, folder, Purpose::Read)?.begin()?);
            Source::of_table(Table::open(database, &place.asked)?)?
        }
        (None, None) => {
            let of_certificate = || delimiter_of(&order.file, certificate.as_ref()?);
            Source::open(&order.file, &ReadOptions::of_release(order.delimiter.or_else(of_certificate)))?
        }
    };
    let source = match order.counted.as_ref().or(certificate.as_ref().and_then(|known| known.counted.as_ref())) {
        Some(column) => source.counted_by(column)?,
        None => source,
    };
    // A table with other columns is not the certificate's in any order.
    let claims_order = |certificate: &Certificate| certificate.sorted && certificate.columns == source.column_names();
    let with_order = certificate.as_ref().is_some_and(claims_order);
    // A table in memory may have numbers where the file had texts.
    let notation = Notation::of_schema(None, source.schema());
    let labels = certificate.as_ref().map_or(Vec::new(), |certificate| labels_for(certificate, &sensitive, &notation));
    let mut question = Question {
        quasi_identifiers: &quasi_identifiers,
        sensitive: &sensitive,
        criteria: &criteria,
        with_order,
        labels,
    };
    let mut origin = Vec::new();
    let mut of_project = None;
    let known = match &order.project {
        Some(project) => {
            let mut project = Project::open(project)?.with_data(order.data.as_deref())?;
            if let Some(certificate) = &certificate {
                project = as_certified(project, &certificate.from_level, work)?;
                count_as_promised(&mut project, certificate, &sensitive);
                read_as_published(&mut project, certificate)?;
            }
            let release = Release { source: &source, certificate: certificate.as_ref() };
            let counted = release.count(&project, &question, work)?;
            let known = release.labels_of_project(&project, &counted, &question);
            origin.extend(
                certificate.iter().flat_map(|certificate| label_claims(certificate, &sensitive, &known, &notation)),
            );
            question.labels = known;
            if let Some(key) = &order.key {
                origin.extend(origin_claims(&project, &counted, certificate.as_ref(), key)?);
            }
            let outside = release.outside_of_project(&project, &counted, &question);
            of_project = Some((project, counted, outside.clone()));
            Some(outside)
        }
        None => None,
    };
    let mut is_kept_alone = false;
    let outside = |verifier: &Verifier| {
        let outside = known.unwrap_or_else(|| outside_of_file(verifier, &sensitive, certificate.as_ref(), &notation));
        is_kept_alone = outside.is_kept_alone(&criteria);
        outside
    };
    let mut judged = match source.is_database() && order.counted.is_none() {
        true => judge_table(&source, &question, outside, suppressed_as, work)?,
        false => judge_source(&source, &question, outside, suppressed_as, work)?,
    };
    if is_kept_alone {
        return Err(promises_nothing(&criteria));
    }
    // A certificate that speaks of records makes claims about records, whoever they are of.
    let of_records = certificate.as_ref().filter(|known| known.person.is_empty()).map(|_| judged.verdict.clone());
    let known = of_project.as_ref().map(|(project, counted, outside)| (project, counted, outside));
    judged = judged.over_people(&source, certificate.as_ref(), &question, known, work)?;
    let is_file = frame.is_none() && !source.is_database();
    if is_file {
        judged.sha256 = sha256_of_file(&order.file, &source)?;
    }
    // Of a table in a database it was taken where every record was read; earlier certificates of tables have none.
    let claims_hash = |certificate: &Certificate| !certificate.output.sha256.is_empty();
    let is_hashed = source.is_database() && with_order && certificate.as_ref().is_some_and(claims_hash);
    let sha256 = (is_file || is_hashed).then(|| judged.sha256.clone());
    let is_own = certificate.is_none()
        && order.project.is_none()
        && criteria.iter().any(|criterion| criterion.measure.is_relative());
    let dealt = certificate.as_ref().and_then(|certificate| certificate.dealt.clone());
    let count_at = certificate.as_ref().map_or(Vec::new(), counted_at);
    let claims = certificate.map_or(Vec::new(), |certificate| {
        let verdict = of_records.as_ref().unwrap_or(&judged.verdict);
        let claims = wire::check_release(&certificate, verdict, &judged.file, &judged.columns, sha256.as_deref());
        claims.into_iter().chain(origin).collect()
    });
    Ok(Checked { judged, sensitive, claims, is_own, dealt, count_at })
}

/// The certificate that was named, or the one that stands beside the file where nothing else is said.
pub fn certificate_of(order: &Verify) -> Result<Option<Certificate>> {
    let beside = || beside(&order.file).filter(|_| order.quasi_identifiers.is_none());
    order.certificate.clone().or_else(beside).map(|path| read_certificate(&path)).transpose()
}

fn criteria_of(order: &Verify, certificate: Option<&Certificate>, sensitive: &[String]) -> Result<Criteria> {
    let known: Vec<&str> = sensitive.iter().map(String::as_str).collect();
    let texts = &order.criteria;
    let criteria = match (texts.is_empty(), certificate) {
        (true, Some(certificate)) => certificate.promised().unwrap_or_default(),
        _ => {
            let needs = |error: Error| if known.is_empty() { error.hint(hint("give {sensitive=NAME}")) } else { error };
            // By the numbers of all sensitive attributes of the file, not only of those that are named.
            resolve(texts, &known, None).map_err(needs)?.about(sensitive).criteria
        }
    };
    let promises_no_k = texts.is_empty() && certificate.is_some_and(|certificate| certificate.per_record.is_some());
    if criteria.is_empty() && promises_no_k {
        return Ok(criteria);
    }
    if criteria.is_empty() {
        return Err(Error::new(ErrorKind::Request, "nothing says what is promised")
            .hint(hint("give {k}, {l}, {t} or another criterion, or {certificate=FILE}")));
    }
    check_criteria(&criteria, Crowd::Records(u64::MAX), &vec![usize::MAX; sensitive.len()])?;
    check_promise(&criteria)?;
    Ok(criteria)
}

/// Whether the labels of a certificate are those that the project's hierarchies give. No value of the data is named.
fn label_claims(
    certificate: &Certificate,
    sensitive: &[String],
    known: &[Option<Labels>],
    notation: &Notation,
) -> Vec<Claim> {
    let said = labels_for(certificate, sensitive, notation);
    let claim = |((name, said), known): ((&String, &Option<Labels>), &Option<Labels>)| {
        let (said, known) = (said.as_ref()?, known.as_ref()?);
        let n_other = said.iter().filter(|(value, label)| known.get(*value) != Some(*label)).count() as u64;
        let claimed = "those of the project".to_string();
        let found = match n_other {
            0 => claimed.clone(),
            n => format!("others of {}", counted_words(n, "value")),
        };
        Some(Claim { claim: format!("labels of {name}"), holds: n_other == 0, claimed, found })
    };
    sensitive.iter().zip(&said).zip(known).filter_map(claim).collect()
}

/// Whether the marks of files in a certificate are those of the project's files.
fn origin_claims(
    project: &Project,
    counted: &Counted,
    certificate: Option<&Certificate>,
    key: &Key,
) -> Result<Vec<Claim>> {
    match certificate {
        Some(certificate) if certificate.format_version >= 2 => {
            Ok(SourceFiles::of(project, counted)?.check(certificate, key))
        }
        Some(_) => Err(Error::new(ErrorKind::Request, "the certificate is of an older version and needs no key")
            .hint("it has the SHA-256 of each file: compare them with sha256sum")),
        None => Err(Error::new(ErrorKind::Request, "a key opens the marks of a certificate, and there is none")
            .hint(hint("name it with {certificate=FILE}"))),
    }
}
