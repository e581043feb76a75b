//! `incrowd verify`: the third reading; judges a published table from the file alone.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use incrowd::negotiate::{check_criteria, check_promise, promises_nothing};
use incrowd::verify::{Finding, Original, Outside, Ruling, SuppressedAs, Text, Texts};
use incrowd::wire::{self, Certificate, Claim, Dealt, counted_words};
use incrowd::{Criteria, Distance, Error, ErrorKind, Level, Measure, Result, Scheme, Verdict, Verifier};
use serde_json::Value;

use crate::account::{Key, SourceFiles};
use crate::count::{Choice, Counted, count};
use crate::outside;
use crate::project::Project;
use crate::source::{CsvOptions, DELIMITERS, Frame, Source, parse_delimiter};
use crate::talk::{Exit, Talk, columns, go_on};
use crate::wishes::{CriteriaArgs, resolve};

/// Check from a published file alone that it keeps its promise
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Works on any CSV or Parquet file, whoever made it. Without flags it looks for FILE.certificate.json.

t, delta and beta compare with the original table. Where nobody was suppressed, that is the distribution of the \
release; where somebody was, no certificate tells it: give --project. A file without a certificate is compared with itself.

There are three answers: kept, broken, and not judged where nothing speaks against the promise but a part of it could not be \
looked at; then it is said what that needs.

Exit status: 0 when the promise is kept, 1 when it is broken, 2 when it is not judged and on error.

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
    /// What separates the fields of a CSV file: one character, or "tab" [default: what the certificate says, or found out
    /// from the header]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,
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
    let ruling = checked.ruling();
    talk.json(&checked.document());
    say_verdict(&args.file, &judged.verdict, sensitive, claims, ruling, talk);
    if ruling == Ruling::NotJudged {
        talk.say(format!("  {}", needed_in_words(&judged.verdict, sensitive, args.project.is_some())));
    }
    if let Some(dealt) = dealt.as_ref().filter(|_| ruling == Ruling::Kept) {
        // How combinations were dealt does not show in the file.
        let not_shown = if dealt.most_differ_together.is_some() { " (which is the certificate's word)" } else { "" };
        talk.say(format!("  {}{not_shown}", dealt.in_words()));
    }
    if *is_own {
        talk.say("  compared with the file's own distribution; the original table is not known (see --project)");
    }
    Ok(match ruling {
        Ruling::Kept => Exit::Done,
        Ruling::Broken => Exit::No,
        Ruling::NotJudged => Exit::NotKnown,
    })
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
    pub fn ruling(&self) -> Ruling {
        wire::ruling(&self.judged.verdict, &self.claims)
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
    let source = match frame {
        Some(frame) => Source::of_frame(frame)?,
        None => {
            let of_certificate = || delimiter_of(&args.file, certificate.as_ref()?);
            Source::open(&args.file, &CsvOptions { delimiter: args.delimiter.or_else(of_certificate) })?
        }
    };
    // A table with other columns is not the certificate's in any order.
    let claims_order = |certificate: &Certificate| certificate.sorted && certificate.columns == source.column_names();
    let with_order = certificate.as_ref().is_some_and(claims_order);
    let question =
        Question { quasi_identifiers: &quasi_identifiers, sensitive: &sensitive, criteria: &criteria, with_order };
    let mut origin = Vec::new();
    let known = match &args.project {
        Some(project) => {
            let project = Project::open(project)?;
            let release = Release { source: &source, certificate: certificate.as_ref() };
            let counted = release.count(&project, &question, talk)?;
            if let Some(key) = &args.key {
                origin = origin_claims(&project, &counted, certificate.as_ref(), &Key::parse(key)?)?;
            }
            Some(release.outside_of_project(&project, &counted, &question))
        }
        None => None,
    };
    let mut is_kept_alone = false;
    let outside = |verifier: &Verifier| {
        let outside = known.unwrap_or_else(|| outside_of_file(verifier, &sensitive, certificate.as_ref()));
        is_kept_alone = outside.is_kept_alone(&criteria);
        outside
    };
    let mut judged = judge_source(&source, &question, outside, suppressed_as, talk)?;
    if is_kept_alone {
        return Err(promises_nothing(&criteria));
    }
    if frame.is_none() {
        judged.sha256 = sha256_of_file(&args.file, &source)?;
    }
    let sha256 = frame.is_none().then(|| judged.sha256.clone());
    let is_own = certificate.is_none()
        && args.project.is_none()
        && criteria.iter().any(|criterion| criterion.measure.is_relative());
    let dealt = certificate.as_ref().and_then(|certificate| certificate.dealt.clone());
    let claims = certificate.map_or(Vec::new(), |certificate| {
        let claims =
            wire::check_release(&certificate, &judged.verdict, &judged.file, &judged.columns, sha256.as_deref());
        claims.into_iter().chain(origin).collect()
    });
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

/// A published table and what came with it.
struct Release<'a> {
    source: &'a Source,
    certificate: Option<&'a Certificate>,
}

impl Release<'_> {
    /// Counts the project as it was counted for the release.
    fn count(&self, project: &Project, question: &Question, talk: &Talk) -> Result<Counted> {
        let attributes = attributes_of(question.quasi_identifiers, project);
        let choice = Choice {
            quasi_identifiers: Some(attributes.clone()),
            sensitive: Some(question.sensitive.to_vec()),
            with_population: question.criteria.value(Measure::Population).is_some(),
            n_threads: 0,
        };
        count(project, &choice, talk)
    }

    /// What the project knows about the original table and the population.
    fn outside_of_project(&self, project: &Project, counted: &Counted, question: &Question) -> Outside {
        let attributes = attributes_of(question.quasi_identifiers, project);
        // Whom of the population a cell fits is known where all cells of an attribute are of one level.
        let levels = self.certificate.map(|certificate| &certificate.levels).filter(|levels| levels.is_object());
        let level = |levels: &Value, hierarchy: &incrowd::Hierarchy| {
            let level = levels.get(hierarchy.attribute()).and_then(Value::as_u64).unwrap_or(0);
            Level(level.min(hierarchy.top() as u64) as u8)
        };
        let scheme = levels.map(|levels| Scheme::new(counted.hierarchies.iter().map(|h| level(levels, h)).collect()));
        let missing = self.writes_missing_as_text().then(|| project.missing.label().to_string());
        let Outside { mut originals, population } = outside::outside(counted, scheme.as_ref(), &missing);
        // The project has its own order of attributes.
        let place = |names: Vec<&str>, name: &String| names.iter().position(|known| *known == name.as_str());
        let sensitive = || counted.sensitive.iter().map(|attribute| attribute.name.as_str()).collect();
        let originals = question.sensitive.iter().map(|name| originals[place(sensitive(), name)?].take()).collect();
        let hierarchies = || counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
        let places: Option<Vec<usize>> = attributes.iter().map(|name| place(hierarchies(), name)).collect();
        let in_order = |cells: Vec<Text>, places: &[usize]| places.iter().map(|&a| cells[a].clone()).collect();
        let population = population
            .zip(places)
            .map(|(people, places)| people.into_iter().map(|(cells, n)| (in_order(cells, &places), n)).collect());
        Outside { originals, population }
    }

    /// Whether "no value" is a text of the table. Of one in memory, the file that it was says it.
    fn writes_missing_as_text(&self) -> bool {
        let is_named_parquet =
            || self.certificate.is_some_and(|certificate| certificate.output.name.ends_with(".parquet"));
        self.source.is_text() || (self.source.is_frame() && !is_named_parquet())
    }
}

/// The attributes of a project that columns of a release were made of: `age` of `age_low` and `age_high` too.
fn attributes_of(columns: &[String], project: &Project) -> Vec<String> {
    let is_known = |name: &str| project.attributes.iter().any(|attribute| attribute.name == name);
    let of_pair = |column: &String| {
        let name = ["_low", "_high"].into_iter().find_map(|end| column.strip_suffix(end))?;
        let has_both = ["_low", "_high"].into_iter().all(|end| columns.contains(&format!("{name}{end}")));
        (has_both && is_known(name) && !is_known(column)).then(|| name.to_string())
    };
    let mut attributes: Vec<String> =
        columns.iter().map(|column| of_pair(column).unwrap_or_else(|| column.clone())).collect();
    // Two columns of an attribute follow each other.
    attributes.dedup();
    attributes
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
    if certificate.format_version == 0 || certificate.format_version >= 2 && !certificate.sorted {
        return Err(wrong("is not a certificate of incrowd: its version and what it says do not go together".into()));
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

/// What separates the fields of a CSV file, by its certificate: as that says, or where it is of version 1, the separator
/// with which the file has the columns of the certificate.
pub fn delimiter_of(file: &Path, certificate: &Certificate) -> Option<u8> {
    if let Some(delimiter) = certificate.delimiter {
        return u8::try_from(delimiter).ok().filter(u8::is_ascii);
    }
    let fits = |delimiter: &u8| {
        let source = Source::open(file, &CsvOptions { delimiter: Some(*delimiter) });
        source.is_ok_and(|source| source.column_names() == certificate.columns)
    };
    // Whatever stands behind the first name is likely to be it.
    let name = certificate.columns.first()?;
    let mut start = vec![0; name.len() + 1];
    let is_read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let behind = start.last().copied().filter(|_| is_read);
    DELIMITERS.into_iter().chain(behind).find(fits)
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
    /// Whether its records are in the order of what they say.
    pub with_order: bool,
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
    read_with(Verifier::new(quasi_identifiers, sensitive, suppressed_as), source, &needed, talk)
}

/// Reads the groups of a published file, and the order of its records.
fn read_in_order(source: &Source, question: &Question, suppressed_as: SuppressedAs, talk: &Talk) -> Result<Verifier> {
    let columns = source.column_names();
    let needed = question.quasi_identifiers.iter().chain(question.sensitive);
    needed.into_iter().try_for_each(|name| source.check_column(name))?;
    let texts = if source.is_frame() { Texts::AsRemembered } else { Texts::AsWritten };
    let verifier = Verifier::new(question.quasi_identifiers, question.sensitive, suppressed_as);
    read_with(verifier.with_order(&columns, texts), source, &columns, talk)
}

fn read_with(mut verifier: Verifier, source: &Source, needed: &[String], talk: &Talk) -> Result<Verifier> {
    let bar = talk.bytes("reading", source.n_bytes());
    source.for_each(needed, |batch, n_bytes| {
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
    judged.sha256 = sha256_of_file(path, &source)?;
    Ok(judged)
}

/// Of a file that was read; a folder has none.
fn sha256_of_file(path: &Path, source: &Source) -> Result<String> {
    if path.is_dir() { Ok(String::new()) } else { Ok(source.sha256()?.concat()) }
}

/// Reads a published table, which has no hash, and judges it, with what lies outside of it.
pub fn judge_source(
    source: &Source,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    talk: &Talk,
) -> Result<Judged> {
    let verifier = match question.with_order {
        true => read_in_order(source, question, suppressed_as, talk)?,
        false => read(source, question.quasi_identifiers, question.sensitive, suppressed_as, talk)?,
    };
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

/// Which criteria are kept, which are not judged, and what that would need.
fn needed_in_words(verdict: &Verdict, sensitive: &[String], has_project: bool) -> String {
    let names = |is_meant: &dyn Fn(&Finding) -> bool| {
        let meant = verdict.findings.iter().filter(|finding| is_meant(finding));
        meant.map(|finding| wire::key(finding.criterion.measure, sensitive)).collect::<Vec<_>>().join(", ")
    };
    let kept = Some(names(&|finding| finding.is_judged)).filter(|names| !names.is_empty());
    let open = verdict.findings.iter().filter(|finding| !finding.is_judged).map(|finding| {
        let measure = finding.criterion.measure;
        format!("{}: not judged, that needs {}", wire::key(measure, sensitive), wire::needed_to_judge(measure))
    });
    let said = kept.map(|names| format!("{names}: kept")).into_iter().chain(open).collect::<Vec<_>>().join("; ");
    match has_project {
        false => format!("{said}\n  hint: give --project PROJECT, the project that the release was made from"),
        true => said,
    }
}

fn say_verdict(file: &Path, verdict: &Verdict, sensitive: &[String], claims: &[Claim], ruling: Ruling, talk: &Talk) {
    let answer = match (ruling, verdict.ruling()) {
        (Ruling::Kept, _) if verdict.findings.is_empty() => "it is what its certificate says, which promises NO k",
        (Ruling::Kept, _) => "yes, the promise is kept",
        (Ruling::Broken, Ruling::Broken) => "NO, the promise is broken",
        (Ruling::Broken, _) => "NO, the file is not what its certificate says",
        (Ruling::NotJudged, _) => "NOT JUDGED, a part of the promise cannot be looked at",
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
            (false, _) => "not judged".to_string(),
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
