//! `incrowd verify`: the third reading; judges a published table from the file alone.

use std::io::Read;
use std::path::{Path, PathBuf};

use incrowd::verify::{Finding, SuppressedAs};
use incrowd::wire::{self, Certificate, Claim, counted_words, grouped};
use incrowd::{Criteria, Criterion, Error, ErrorKind, Result, Verdict, Verifier};

use crate::source::{CsvOptions, Source};
use crate::staged::sha256;
use crate::talk::{Exit, Talk, columns};
use crate::wishes::CriteriaArgs;

/// Check from a published file alone that it keeps its promise
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Works on any CSV or Parquet file, whoever made it. Without flags it looks for FILE.certificate.json.

Exit status: 0 when the promise is kept, 1 when it is broken, 2 on error.

Examples:
  incrowd verify release.csv
  incrowd verify release.csv --certificate release.csv.certificate.json
  incrowd verify other.csv --quasi-identifiers age,sex,zip --sensitive disease --k 5 --l 2
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
    /// The sensitive attribute of the file
    #[arg(long, value_name = "NAME")]
    pub sensitive: Option<String>,
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
}

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    if let Err(error) = std::fs::metadata(&args.file) {
        return Err(crate::io_error(&args.file, error));
    }
    let certificate = certificate_of(args)?;
    let quasi_identifiers = match (&args.quasi_identifiers, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
        (None, None) => {
            return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                .hint("give --quasi-identifiers A,B,… and --k, or --certificate FILE"));
        }
    };
    let sensitive = args.sensitive.clone().or_else(|| certificate.as_ref()?.sensitive.clone());
    if let Some(name) = sensitive.as_ref().filter(|name| quasi_identifiers.contains(name)) {
        return Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' cannot be a quasi-identifier and sensitive at once"),
        )
        .hint("name it in --quasi-identifiers or in --sensitive"));
    }
    let criteria = criteria_of(args, certificate.as_ref(), sensitive.is_some())?;
    let suppressed_as = match args.suppressed_as {
        SuppressedRecords::Group => SuppressedAs::Group,
        SuppressedRecords::Absent => SuppressedAs::Absent,
    };
    let delimiter = match args.delimiter {
        None => certificate.as_ref().and_then(|certificate| delimiter_of(&args.file, certificate)),
        Some(c) if c.is_ascii() => Some(c as u8),
        Some(_) => return Err(Error::new(ErrorKind::Request, "a separator is one ASCII character")),
    };
    let judged = judge(&args.file, delimiter, &quasi_identifiers, sensitive.as_deref(), criteria, suppressed_as, talk)?;
    let claims = certificate.map_or(Vec::new(), |certificate| {
        wire::check_claims(&certificate, &judged.verdict, &judged.columns, &judged.sha256)
    });
    let holds = judged.verdict.holds() && claims.iter().all(|claim| claim.holds);
    talk.json(&wire::verdict(&judged.verdict, &claims));
    say_verdict(&args.file, &judged.verdict, &claims, holds, talk);
    Ok(if holds { Exit::Done } else { Exit::No })
}

/// The certificate that was named, or the one that stands beside the file where nothing else is said.
fn certificate_of(args: &Args) -> Result<Option<Certificate>> {
    let beside = || {
        let mut name = args.file.as_os_str().to_owned();
        name.push(".certificate.json");
        Some(PathBuf::from(name)).filter(|path| args.quasi_identifiers.is_none() && path.exists())
    };
    let Some(path) = args.certificate.clone().or_else(beside) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(&path).map_err(|error| crate::io_error(&path, error))?;
    let wrong = |message: String| Error::new(ErrorKind::Data, message).at(path.display().to_string());
    let certificate: Certificate =
        serde_json::from_str(&text).map_err(|error| wrong(format!("is not a certificate: {error}")))?;
    if certificate.format != Certificate::FORMAT {
        return Err(wrong("is not a certificate of incrowd".into()));
    }
    if certificate.format_version > Certificate::FORMAT_VERSION {
        return Err(wrong(format!("is of version {}, newer than this incrowd", certificate.format_version))
            .hint("check it with a newer version of incrowd"));
    }
    let is_promise = |entry: &serde_json::Value| entry.get("promised").is_some_and(serde_json::Value::is_u64);
    if certificate.quasi_identifiers.is_empty() || !certificate.criteria.values().all(is_promise) {
        return Err(wrong("does not say what is promised about which quasi-identifiers".into()));
    }
    if let Some(name) = certificate.criteria.keys().find(|name| !["k", "l"].contains(&name.as_str())) {
        return Err(wrong(format!("promises '{name}', which this incrowd cannot check")));
    }
    Ok(Some(certificate))
}

/// The separator with which a CSV file has the columns of its certificate, where a name contains another one.
fn delimiter_of(file: &Path, certificate: &Certificate) -> Option<u8> {
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

fn criteria_of(args: &Args, certificate: Option<&Certificate>, has_sensitive: bool) -> Result<Criteria> {
    let given = Criteria { k: args.criteria.k, l: args.criteria.l };
    let criteria = match (given.is_empty(), certificate) {
        (true, Some(certificate)) => certificate.promised(),
        _ => given,
    };
    let wrong = |message: &str, hint: &str| Err(Error::new(ErrorKind::Request, message).hint(hint));
    match criteria {
        criteria if criteria.is_empty() => {
            wrong("nothing says what is promised", "give --k or --l, or --certificate FILE")
        }
        Criteria { k: Some(0), .. } => wrong("k must be at least 1", "k = 2 is the least that hides anyone"),
        Criteria { l: Some(0), .. } => wrong("l must be at least 1", "l = 2 is the least that hides a sensitive value"),
        Criteria { l: Some(_), .. } if !has_sensitive => {
            wrong("l needs a sensitive attribute", "give --sensitive NAME")
        }
        criteria => Ok(criteria),
    }
}

/// Reads a published file and judges it.
pub fn judge(
    path: &Path,
    delimiter: Option<u8>,
    quasi_identifiers: &[String],
    sensitive: Option<&str>,
    criteria: Criteria,
    suppressed_as: SuppressedAs,
    talk: &Talk,
) -> Result<Judged> {
    let source = Source::open(path, &CsvOptions { delimiter })?;
    let needed: Vec<String> = quasi_identifiers.iter().cloned().chain(sensitive.map(str::to_string)).collect();
    needed.iter().try_for_each(|name| source.check_column(name))?;
    let mut verifier = Verifier::new(quasi_identifiers, sensitive, suppressed_as);
    let bar = talk.bytes("verifying", source.n_bytes());
    source.for_each(&needed, |batch, n_bytes| {
        bar.inc(n_bytes);
        verifier.push(&batch)
    })?;
    bar.finish_and_clear();
    let verdict = verifier.verdict(criteria);
    if verdict.n_records + verdict.n_absent == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(path.display().to_string())
            .hint("there is nothing to judge"));
    }
    let sha256 = if path.is_dir() { String::new() } else { sha256(path)? };
    Ok(Judged { verdict, columns: source.column_names(), sha256 })
}

fn say_verdict(file: &Path, verdict: &Verdict, claims: &[Claim], holds: bool, talk: &Talk) {
    let answer = match (holds, verdict.holds()) {
        (true, _) => "yes, the promise is kept",
        (false, true) => "NO, the file is not what its certificate says",
        (false, false) => "NO, the promise is broken",
    };
    talk.say(format!("{}: {answer}\n", file.display()));
    let row = |finding: &Finding| {
        let name = match finding.criterion {
            Criterion::KAnonymity(_) => "k (records alike)",
            Criterion::DistinctDiversity(_) => "l (distinct values)",
        };
        let reached = finding.reached.map_or("–".to_string(), grouped);
        let failing = match finding.holds() {
            true => "none".to_string(),
            false => format!(
                "{}, {}",
                counted_words(finding.n_groups_failing, "group"),
                counted_words(finding.n_records_failing, "record")
            ),
        };
        vec![format!("  {name}"), grouped(finding.criterion.value()), reached, failing]
    };
    let rows: Vec<Vec<String>> = verdict.findings.iter().map(row).collect();
    talk.say(columns(&["  criterion", "asked", "reached", "failing"], &rows, &[0, 3]));
    talk.say(format!(
        "\n  {} in {}",
        counted_words(verdict.n_records, "record"),
        counted_words(verdict.n_groups, "group")
    ));
    if verdict.n_absent > 0 {
        talk.say(format!("  {} records marked as suppressed were left out", grouped(verdict.n_absent)));
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
