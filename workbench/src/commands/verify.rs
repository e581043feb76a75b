//! `incrowd verify`: the third reading; judges a published table from the file alone.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use incrowd::negotiate::{check_criteria, check_promise};
use incrowd::verify::{Finding, Original, Outside, SuppressedAs};
use incrowd::wire::{self, Certificate, Claim, Dealt, counted_words};
use incrowd::{Criteria, Distance, Error, ErrorKind, Level, Measure, Result, Scheme, Verdict, Verifier};
use serde_json::Value;

use crate::account::{Key, SourceFiles};
use crate::count::{Choice, Counted, count};
use crate::outside;
use crate::project::Project;
use crate::source::{CsvOptions, Frame, Source};
use crate::talk::{Exit, Talk, columns, go_on};
use crate::wishes::{CriteriaArgs, resolve};

/// Check from a published file alone that it keeps its promise
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Works on any CSV or Parquet file, whoever made it. Without flags it looks for FILE.certificate.json.

t, delta and beta compare with the original table. Where nobody was suppressed, that is the distribution of the \
release; where somebody was, no certificate tells it: give --project. A file without a certificate is compared with itself.

Exit status: 0 when the promise is kept, 1 when it is broken, 2 on error.

Examples:
  incrowd verify release.csv
  incrowd verify release.csv --certificate release.csv.certificate.json
  incrowd verify release.csv --project . --key 5f0c…       (as the signer, with the key from the report)
  incrowd verify other.csv --quasi-identifiers age,sex,zip --sensitive disease --k 5 --l 2
  incrowd verify other.csv --quasi-identifiers age,sex --sensitive disease,income --l disease:2 --t income:0.3
  incrowd verify arx.csv --quasi-identifiers age,zip --k 5 --suppressed-as absent")]
pub struct Args {
    /// The published file, CSV or Parquet
    pub file: PathBuf,
    /// The certificate to check the file against
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// The quasi-identifiers of the file
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// The sensitive attributes of the file
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub sensitive: Option<Vec<String>>,
    /// The project that the release was made from, for criteria that compare with the original table or a population
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// The signer's key, from the report: also checks that the release was made from the files of --project
    #[arg(long, value_name = "HEX", requires = "project")]
    pub key: Option<String>,
    #[command(flatten)]
    pub criteria: CriteriaArgs,
    /// What records are that have * in every quasi-identifier
    #[arg(long, value_enum, default_value_t = SuppressedRecords::Group)]
    pub suppressed_as: SuppressedRecords,
    /// Separator of a CSV file [default: found out from its first line]
    #[arg(long, value_name = "CHAR")]
    pub delimiter: Option<char>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SuppressedRecords {
    /// A group like any other
    Group,
    /// As if they were not in the file
    Absent,
}

/// What a file turned out to be.
pub struct Judged {
    pub verdict: Verdict,
    pub columns: Vec<String>,
    pub sha256: String,
    /// The groups of the file.
    pub file: Verifier,
}

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    if let Err(error) = std::fs::metadata(&args.file) {
        let error = crate::io_error(&args.file, error);
        return Err(match beside(&args.file) {
            Some(_) => error.hint("its certificate is there and speaks of a file that is gone: publish it again"),
            None => error,
        });
    }
    let certificate = certificate_of(args)?;
    if certificate.is_none() && args.quasi_identifiers.is_none() {
        return Err(Error::new(ErrorKind::Request, "there is no certificate beside it: nothing says what is promised")
            .at(args.file.display().to_string())
            .hint(
                "where its publishing was interrupted, publish it again with --force; any other file is judged with \
                 --quasi-identifiers A,B,… and --k, or --certificate FILE",
            ));
    }
    let checked = check(args, certificate, None, talk)?;
    let Checked { judged, sensitive, claims, is_own, dealt } = &checked;
    talk.json(&checked.document());
    say_verdict(&args.file, &judged.verdict, sensitive, claims, checked.holds(), talk);
    if let Some(dealt) = dealt.as_ref().filter(|_| checked.holds()) {
        // How combinations were dealt does not show in the file.
        let not_shown = if dealt.most_differ_together.is_some() { " (which is the certificate's word)" } else { "" };
        talk.say(format!("  {}{not_shown}", dealt.in_words()));
    }
    if *is_own {
        talk.say("  compared with the file's own distribution; the original table is not known (see --project)");
    }
    Ok(if checked.holds() { Exit::Done } else { Exit::No })
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
}

impl Checked {
    pub fn holds(&self) -> bool {
        wire::is_kept(&self.judged.verdict, &self.claims)
    }

    /// As `--json` says it.
    pub fn document(&self) -> Value {
        wire::verdict(&self.judged.verdict, &self.sensitive, &self.claims)
    }
}

/// Judges the file that the flags name, or a table in memory in its stead, which has no hash to be claimed.
pub fn check(args: &Args, certificate: Option<Certificate>, frame: Option<&Frame>, talk: &Talk) -> Result<Checked> {
    let quasi_identifiers = match (&args.quasi_identifiers, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
        (None, None) => {
            return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                .hint("give --quasi-identifiers A,B,… and --k, or --certificate FILE"));
        }
    };
    let sensitive = match (&args.sensitive, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.sensitive.clone(),
        (None, None) => Vec::new(),
    };
    check_roles(&quasi_identifiers, &sensitive)?;
    let criteria = criteria_of(args, certificate.as_ref(), &sensitive)?;
    let suppressed_as = match args.suppressed_as {
        SuppressedRecords::Group => SuppressedAs::Group,
        SuppressedRecords::Absent => SuppressedAs::Absent,
    };
    let delimiter = match args.delimiter {
        None => certificate.as_ref().and_then(|certificate| delimiter_of(&args.file, certificate)),
        Some(c) if c.is_ascii() => Some(c as u8),
        Some(_) => return Err(Error::new(ErrorKind::Request, "a separator is one ASCII character")),
    };
    let mut origin = Vec::new();
    let known = match &args.project {
        Some(project) => {
            let project = Project::open(project)?;
            let release = Release { file: &args.file, certificate: certificate.as_ref() };
            let counted = release.count(&project, &quasi_identifiers, &sensitive, &criteria, talk)?;
            if let Some(key) = &args.key {
                origin = origin_claims(&project, &counted, certificate.as_ref(), &Key::parse(key)?)?;
            }
            Some(release.outside_of_project(&project, &counted))
        }
        None => None,
    };
    let outside = |verifier: &Verifier| match known {
        Some(outside) => outside,
        None => outside_of_file(verifier, &sensitive, certificate.as_ref()),
    };
    let question = Question { quasi_identifiers: &quasi_identifiers, sensitive: &sensitive, criteria: &criteria };
    let judged = match frame {
        Some(frame) => judge_source(&Source::of_frame(frame)?, &question, outside, suppressed_as, talk)?,
        None => judge(&args.file, delimiter, &question, outside, suppressed_as, talk)?,
    };
    let is_own = certificate.is_none()
        && args.project.is_none()
        && criteria.iter().any(|criterion| criterion.measure.is_relative());
    let dealt = certificate.as_ref().and_then(|certificate| certificate.dealt.clone());
    let claims = certificate.map_or(Vec::new(), |certificate| {
        let claims = wire::check_claims(&certificate, &judged.verdict, &judged.columns, &judged.sha256);
        let of_method = wire::check_dealt(&certificate, &judged.file).into_iter();
        claims.into_iter().chain(of_method).chain(wire::check_per_record(&certificate)).chain(origin).collect()
    });
    let claims = claims.into_iter().filter(|claim| frame.is_none() || claim.claim != "file").collect();
    Ok(Checked { judged, sensitive, claims, is_own, dealt })
}

/// Refuses an attribute that is to be two things.
pub fn check_roles(quasi_identifiers: &[String], sensitive: &[String]) -> Result<()> {
    match sensitive.iter().find(|name| quasi_identifiers.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' cannot be a quasi-identifier and sensitive at once"),
        )
        .hint("name it in --quasi-identifiers or in --sensitive")),
    }
}

/// A published file and what came with it.
struct Release<'a> {
    file: &'a Path,
    certificate: Option<&'a Certificate>,
}

impl Release<'_> {
    /// Counts the project as it was counted for the release.
    fn count(
        &self,
        project: &Project,
        quasi_identifiers: &[String],
        sensitive: &[String],
        criteria: &Criteria,
        talk: &Talk,
    ) -> Result<Counted> {
        let choice = Choice {
            quasi_identifiers: Some(quasi_identifiers.to_vec()),
            sensitive: Some(sensitive.to_vec()),
            with_population: criteria.value(Measure::Population).is_some(),
            n_threads: 0,
        };
        count(project, &choice, talk)
    }

    /// What the project knows about the original table and the population.
    fn outside_of_project(&self, project: &Project, counted: &Counted) -> Outside {
        let level = |hierarchy: &incrowd::Hierarchy| {
            let level = self.certificate.and_then(|c| c.levels.get(hierarchy.attribute())?.as_u64()).unwrap_or(0);
            Level(level.min(hierarchy.top() as u64) as u8)
        };
        let scheme = Scheme::new(counted.hierarchies.iter().map(level).collect());
        let is_parquet = self.file.is_dir() || self.file.extension().is_some_and(|extension| extension == "parquet");
        let missing = (!is_parquet).then(|| project.missing.label().to_string());
        outside::outside(counted, Some(&scheme), &missing)
    }
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
            .hint("name it with --certificate FILE")),
    }
}

/// What a file alone can be compared with: what its certificate tells, or itself where that is the same.
fn outside_of_file(verifier: &Verifier, sensitive: &[String], certificate: Option<&Certificate>) -> Outside {
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
        outside::from_certificate(certificate, &sensitive[s], verifier.distribution(s))
    };
    Outside { originals: (0..sensitive.len()).map(original).collect(), population: None }
}

/// The certificate that was named, or the one that stands beside the file where nothing else is said.
pub fn certificate_of(args: &Args) -> Result<Option<Certificate>> {
    let beside = || beside(&args.file).filter(|_| args.quasi_identifiers.is_none());
    args.certificate.clone().or_else(beside).map(|path| read_certificate(&path)).transpose()
}

/// The certificate that stands beside a release, if one does.
pub fn beside(file: &Path) -> Option<PathBuf> {
    let mut name = file.as_os_str().to_owned();
    name.push(".certificate.json");
    Some(PathBuf::from(name)).filter(|path| path.exists())
}

pub fn read_certificate(path: &Path) -> Result<Certificate> {
    let text = std::fs::read_to_string(path).map_err(|error| crate::io_error(path, error))?;
    parse_certificate(&text, &path.display().to_string())
}

/// Reads a certificate, which stands at a position that errors name.
pub fn parse_certificate(text: &str, position: &str) -> Result<Certificate> {
    let wrong = |message: String| Error::new(ErrorKind::Data, message).at(position);
    let certificate: Certificate =
        serde_json::from_str(text).map_err(|error| wrong(format!("is not a certificate: {error}")))?;
    if certificate.format != Certificate::FORMAT {
        return Err(wrong("is not a certificate of incrowd".into()));
    }
    if certificate.format_version > Certificate::FORMAT_VERSION {
        return Err(wrong(format!("is of version {}, newer than this incrowd", certificate.format_version))
            .hint("check it with a newer version of incrowd"));
    }
    if certificate.quasi_identifiers.is_empty() || certificate.criteria.values().any(|c| c.get("promised").is_none()) {
        return Err(wrong("does not say what is promised about which quasi-identifiers".into()));
    }
    if certificate.promised().is_none() {
        let names: Vec<&str> = certificate.criteria.keys().map(String::as_str).collect();
        return Err(wrong(format!("promises something that this incrowd cannot check: {}", names.join(", "))));
    }
    Ok(certificate)
}

/// The separator with which a CSV file has the columns of its certificate, where a name contains another one.
pub fn delimiter_of(file: &Path, certificate: &Certificate) -> Option<u8> {
    let fits = |delimiter: &u8| {
        let source = Source::open(file, &CsvOptions { delimiter: Some(*delimiter) });
        source.is_ok_and(|source| source.column_names() == certificate.columns)
    };
    // Whatever stands behind the first name is likely to be it.
    let name = certificate.columns.first()?;
    let mut start = vec![0; name.len() + 1];
    let is_read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let behind = start.last().copied().filter(|_| is_read);
    [b',', b';', b'\t', b'|'].into_iter().chain(behind).find(fits)
}

fn criteria_of(args: &Args, certificate: Option<&Certificate>, sensitive: &[String]) -> Result<Criteria> {
    let known: Vec<&str> = sensitive.iter().map(String::as_str).collect();
    let texts = args.criteria.texts();
    let criteria = match (texts.is_empty(), certificate) {
        (true, Some(certificate)) => certificate.promised().unwrap_or_default(),
        _ => {
            let needs = |error: Error| if known.is_empty() { error.hint("give --sensitive NAME") } else { error };
            // By the numbers of all sensitive attributes of the file, not only of those that are named.
            resolve(&texts, &known, None).map_err(needs)?.about(sensitive).criteria
        }
    };
    let promises_no_k = texts.is_empty() && certificate.is_some_and(|certificate| certificate.per_record.is_some());
    if criteria.is_empty() && promises_no_k {
        return Ok(criteria);
    }
    if criteria.is_empty() {
        return Err(Error::new(ErrorKind::Request, "nothing says what is promised")
            .hint("give --k, --l, --t or another criterion, or --certificate FILE"));
    }
    check_criteria(&criteria, u64::MAX, &vec![usize::MAX; sensitive.len()])?;
    check_promise(&criteria)?;
    Ok(criteria)
}

/// What a file is asked.
pub struct Question<'a> {
    pub quasi_identifiers: &'a [String],
    pub sensitive: &'a [String],
    pub criteria: &'a Criteria,
}

/// Reads the groups of a published file.
pub fn read(
    source: &Source,
    quasi_identifiers: &[String],
    sensitive: &[String],
    suppressed_as: SuppressedAs,
    talk: &Talk,
) -> Result<Verifier> {
    let needed: Vec<String> = quasi_identifiers.iter().chain(sensitive).cloned().collect();
    needed.iter().try_for_each(|name| source.check_column(name))?;
    let mut verifier = Verifier::new(quasi_identifiers, sensitive, suppressed_as);
    let bar = talk.bytes("reading", source.n_bytes());
    source.for_each(&needed, |batch, n_bytes| {
        go_on(&bar)?;
        bar.inc(n_bytes);
        verifier.push(&batch)
    })?;
    bar.finish_and_clear();
    Ok(verifier)
}

/// Reads a published file and judges it, with what lies outside of it.
pub fn judge(
    path: &Path,
    delimiter: Option<u8>,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    talk: &Talk,
) -> Result<Judged> {
    let source = Source::open(path, &CsvOptions { delimiter })?;
    let mut judged = judge_source(&source, question, outside, suppressed_as, talk)?;
    if !path.is_dir() {
        judged.sha256 = source.sha256()?.concat();
    }
    Ok(judged)
}

/// Reads a published table, which has no hash, and judges it, with what lies outside of it.
pub fn judge_source(
    source: &Source,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    talk: &Talk,
) -> Result<Judged> {
    let verifier = read(source, question.quasi_identifiers, question.sensitive, suppressed_as, talk)?;
    let verdict = verifier.verdict(question.criteria, &outside(&verifier));
    if verdict.n_records + verdict.n_absent == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(source.files()[0].display().to_string())
            .hint("there is nothing to judge"));
    }
    Ok(Judged { verdict, columns: source.column_names(), sha256: String::new(), file: verifier })
}

/// Says how many records were taken for suppressed.
pub fn left_out_in_words(n_absent: u64) -> String {
    let were = if n_absent == 1 { "was" } else { "were" };
    format!("{} marked as suppressed {were} left out", counted_words(n_absent, "record"))
}

fn say_verdict(file: &Path, verdict: &Verdict, sensitive: &[String], claims: &[Claim], holds: bool, talk: &Talk) {
    let answer = match (holds, verdict.holds()) {
        (true, _) if verdict.findings.is_empty() => "it is what its certificate says, which promises NO k",
        (true, _) => "yes, the promise is kept",
        (false, true) => "NO, the file is not what its certificate says",
        (false, false) if verdict.findings.is_empty() => "NO, the file is not what its certificate says",
        (false, false) => "NO, the promise is broken",
    };
    talk.say(format!("{}: {answer}\n", file.display()));
    let row = |finding: &Finding| {
        let measure = finding.criterion.measure;
        let key = wire::key(measure, sensitive);
        let name = match measure {
            Measure::Size => format!("{key} (records alike)"),
            Measure::Distinct(_) => format!("{key} (distinct values)"),
            Measure::Recursive { l, .. } => format!("{key} (c, with l = {l})"),
            _ => key,
        };
        let reached = finding.reached.map_or("–".to_string(), |reached| wire::number_in_words(measure, reached));
        let failing = match (finding.is_judged, finding.holds()) {
            (false, _) if measure == Measure::Population => "not judged: needs the population (--project)".to_string(),
            (false, _) => "not judged: needs the original table (--project)".to_string(),
            (true, true) => "none".to_string(),
            (true, false) => format!(
                "{}, {}",
                counted_words(finding.n_groups_failing, "group"),
                counted_words(finding.n_records_failing, "record")
            ),
        };
        vec![format!("  {name}"), wire::number_in_words(measure, finding.criterion.value), reached, failing]
    };
    let rows: Vec<Vec<String>> = verdict.findings.iter().map(row).collect();
    if !rows.is_empty() {
        talk.say(columns(&["  criterion", "asked", "reached", "failing"], &rows, &[0, 3]));
    }
    talk.say(format!(
        "\n  {} in {}",
        counted_words(verdict.n_records, "record"),
        counted_words(verdict.n_groups, "group")
    ));
    if verdict.n_absent > 0 {
        talk.say(format!("  {}", left_out_in_words(verdict.n_absent)));
    }
    if claims.is_empty() {
        return;
    }
    let n_kept = claims.iter().filter(|claim| claim.holds).count();
    talk.say(format!("  {n_kept} of {} claims of the certificate agree with the file", claims.len()));
    for claim in claims.iter().filter(|claim| !claim.holds) {
        talk.say(format!("  ✗ {}: claimed {}, found {}", claim.claim, claim.claimed, claim.found));
    }
}
