//! `incrowd verify`: the third reading; judges a published table from the file alone.

use std::path::{Path, PathBuf};

use crate::sentences;
use crate::sentences::counted_words;
use incrowd::verify::{Finding, Ruling, SuppressedAs};
use incrowd::wire::{self, Claim};
use incrowd::{Measure, Result, Verdict};

use super::arguments::CriteriaArgs;
use super::terminal::{Exit, Terminal, columns};
use crate::input::database::place::DatabasePlace;
use crate::input::source::parse_delimiter;
use crate::orders::verify::{Checked, Judged, Verify};
use crate::output::account::Key;
use crate::words::releases;

/// Check from a published file alone that it keeps its promise
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Works on any file that incrowd reads (CSV, Parquet, Excel, SPSS, Stata, SAS), whoever made it. Without flags it looks for FILE.certificate.json.

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
  incrowd verify --table public.discharges_k10 --project .
  incrowd verify arx.csv --quasi-identifiers age,zip --k 5 --suppressed-as absent")]
pub struct Args {
    /// The published file: CSV, Parquet, Excel, SPSS, Stata or SAS
    #[arg(required_unless_present = "table", conflicts_with = "table")]
    pub file: Option<PathBuf>,
    /// The published table of a database, instead of a file
    #[arg(long, value_name = "TABLE")]
    pub table: Option<String>,
    /// The database that has the table [default: the one of --project]
    #[arg(long, value_name = "ADDRESS", requires = "table")]
    pub database: Option<String>,
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
    /// Read this file instead of the one that the project names, such as the next delivery of the data
    #[arg(long, value_name = "FILE", requires = "project")]
    pub data: Option<PathBuf>,
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
    /// The column that says how many records a row of the file stands for [default: a row is a record]
    #[arg(long, value_name = "COLUMN")]
    pub counted: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SuppressedRecords {
    /// A group like any other
    Group,
    /// As if they were not in the file
    Absent,
}

/// What is judged, as people call it.
fn named(args: &Args) -> PathBuf {
    args.file.clone().or(args.table.as_ref().map(PathBuf::from)).expect("one of them is given")
}

/// What the flags order.
pub fn order(args: &Args) -> Result<Verify> {
    let place = |uri: &String| DatabasePlace::new(uri, args.table.as_deref(), None, None);
    Ok(Verify {
        file: named(args),
        database: args.database.as_ref().map(place).transpose()?,
        table: args.table.clone(),
        certificate: args.certificate.clone(),
        quasi_identifiers: args.quasi_identifiers.clone(),
        sensitive: args.sensitive.clone(),
        project: args.project.clone(),
        data: args.data.clone(),
        key: args.key.as_deref().map(Key::parse).transpose()?,
        criteria: args.criteria.texts(),
        suppressed_as: args.suppressed_as.into(),
        delimiter: args.delimiter,
        counted: args.counted.clone(),
    })
}

impl From<SuppressedRecords> for SuppressedAs {
    fn from(given: SuppressedRecords) -> SuppressedAs {
        match given {
            SuppressedRecords::Group => SuppressedAs::Group,
            SuppressedRecords::Absent => SuppressedAs::Absent,
        }
    }
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let checked = order(args)?.run(&terminal.work(0, None))?;
    let Checked { judged, sensitive, claims, is_own, dealt, count_at } = &checked;
    let ruling = checked.ruling();
    terminal.json(&releases::checked(&checked));
    say_verdict(&named(args), &judged.verdict, sensitive, claims, ruling, terminal);
    for (attribute, level) in count_at {
        let whose = if args.project.is_some() { "project" } else { "certificate" };
        terminal.say(format!("  {attribute} is counted at {level}, by the labels of the {whose}"));
    }
    if ruling == Ruling::NotJudged {
        terminal.say(format!("  {}", needed_in_words(judged, sensitive, args.project.is_some())));
    }
    if let Some(dealt) = dealt.as_ref().filter(|_| ruling == Ruling::Kept) {
        // How combinations were dealt does not show in the file.
        let not_shown = if dealt.most_differ_together.is_some() { " (which is the certificate's word)" } else { "" };
        terminal.say(format!("  {}{not_shown}", sentences::dealt_in_words(dealt)));
    }
    if *is_own {
        terminal.say("  compared with the file's own distribution; the original table is not known (see --project)");
    }
    Ok(match ruling {
        Ruling::Kept => Exit::Done,
        Ruling::Broken => Exit::No,
        Ruling::NotJudged => Exit::NotKnown,
    })
}

/// Says how many records were taken for suppressed.
pub fn left_out_in_words(n_absent: u64) -> String {
    let were = if n_absent == 1 { "was" } else { "were" };
    format!("{} marked as suppressed {were} left out", counted_words(n_absent, "record"))
}

/// Which criteria are kept, which are not judged, and what that would need.
fn needed_in_words(judged: &Judged, sensitive: &[String], has_project: bool) -> String {
    let Judged { verdict, why_not_judged, .. } = judged;
    let names = |is_meant: &dyn Fn(&Finding) -> bool| {
        let meant = verdict.findings.iter().filter(|finding| is_meant(finding));
        meant.map(|finding| wire::key(finding.criterion.measure, sensitive)).collect::<Vec<_>>().join(", ")
    };
    let kept = Some(names(&|finding| finding.is_judged)).filter(|names| !names.is_empty());
    let open = verdict.findings.iter().filter(|finding| !finding.is_judged).map(|finding| {
        let measure = finding.criterion.measure;
        let (not_judged, needed) = match finding.holds_for_records {
            Some(true) => ("kept for records, not judged for people", wire::NEEDS_PEOPLE),
            Some(false) => ("not judged for people", wire::NEEDS_PEOPLE),
            None => ("not judged", wire::needed_to_judge(measure)),
        };
        let why = match why_not_judged.filter(|_| finding.holds_for_records.is_some()) {
            Some(why) => format!("because {why}"),
            None => format!("that needs {needed}"),
        };
        (wire::key(measure, sensitive), format!("{not_judged}, {why}"))
    });
    // What lacks the same is said once.
    let mut open_because: Vec<(Vec<String>, String)> = Vec::new();
    for (name, why) in open {
        match open_because.iter_mut().find(|(_, known)| *known == why) {
            Some((names, _)) => names.push(name),
            None => open_because.push((vec![name], why)),
        }
    }
    let open = open_because.into_iter().map(|(names, why)| format!("{}: {why}", names.join(", ")));
    let said = kept.map(|names| format!("{names}: kept")).into_iter().chain(open).collect::<Vec<_>>().join("; ");
    match has_project {
        false => format!("{said}\n  hint: give --project PROJECT, the project that the release was made from"),
        true => said,
    }
}

fn say_verdict(
    file: &Path,
    verdict: &Verdict,
    sensitive: &[String],
    claims: &[Claim],
    ruling: Ruling,
    terminal: &Terminal,
) {
    let answer = match (ruling, verdict.ruling()) {
        (Ruling::Kept, _) if verdict.findings.is_empty() => "it is what its certificate says, which promises NO k",
        (Ruling::Kept, _) => "yes, the promise is kept",
        (Ruling::Broken, Ruling::Broken) => "NO, the promise is broken",
        (Ruling::Broken, _) => "NO, the file is not what its certificate says",
        (Ruling::NotJudged, _) => "NOT JUDGED, a part of the promise cannot be looked at",
    };
    terminal.say(format!("{}: {answer}\n", file.display()));
    let row = |finding: &Finding| {
        let measure = finding.criterion.measure;
        let key = wire::key(measure, sensitive);
        let name = match measure {
            Measure::Size if finding.holds_for_records.is_some() => format!("{key} (people alike)"),
            Measure::Size => format!("{key} (records alike)"),
            Measure::Distinct(_) => format!("{key} (distinct values)"),
            Measure::Recursive { l, .. } => format!("{key} (c, with l = {l})"),
            _ => key,
        };
        let reached = finding.reached.map_or("–".to_string(), |reached| sentences::number_in_words(measure, reached));
        let failing = match (finding.is_judged, finding.holds()) {
            (false, _) if finding.holds_for_records == Some(true) => {
                "kept for records, not judged for people".to_string()
            }
            (false, _) => "not judged".to_string(),
            (true, true) => "none".to_string(),
            (true, false) => format!(
                "{}, {}",
                counted_words(finding.n_groups_failing, "group"),
                counted_words(finding.n_records_failing, "record")
            ),
        };
        vec![format!("  {name}"), sentences::number_in_words(measure, finding.criterion.value), reached, failing]
    };
    let rows: Vec<Vec<String>> = verdict.findings.iter().map(row).collect();
    if !rows.is_empty() {
        terminal.say(columns(&["  criterion", "asked", "reached", "failing"], &rows, &[0, 3]));
    }
    terminal.say(format!(
        "\n  {} in {}",
        counted_words(verdict.n_records, "record"),
        counted_words(verdict.n_groups, "group")
    ));
    if verdict.n_absent > 0 {
        terminal.say(format!("  {}", left_out_in_words(verdict.n_absent)));
    }
    if claims.is_empty() {
        return;
    }
    let n_kept = claims.iter().filter(|claim| claim.holds).count();
    terminal.say(format!("  {n_kept} of {} claims of the certificate agree with the file", claims.len()));
    for claim in claims.iter().filter(|claim| !claim.holds) {
        terminal.say(format!("  ✗ {}: claimed {}, found {}", claim.claim, claim.claimed, claim.found));
    }
}
