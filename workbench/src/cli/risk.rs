//! `incrowd risk`: how likely the people of a table or release are to be found.

use std::path::{Path, PathBuf};

use crate::sentences::{counted_words, grouped, percent};
use incrowd::risk::{Contribution, Risks, View, contributions, crowds, estimated_unique_in_population, risks};
use incrowd::wire::rounded;
use incrowd::{Error, ErrorKind, GroupCounts, Missing, Result};
use serde_json::{Value, json};

use super::terminal::{Exit, Terminal, columns};
use crate::input::count::{Choice, count, count_source};
use crate::input::project::Project;
use crate::input::source::{CsvOptions, Source};
use crate::orders::verify::{beside, delimiter_of, read_certificate};
use crate::work::Work;

/// See how likely people are to be found in a table, a release or a project's data
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Prosecutor: knows that someone is in the table; 1 over the records that look the same. Journalist: knows only that they
are in the population; 1 over the people who look the same. Marketer: links every record; the share that is right.
Without a population the table counts as one, which is the worst case. With --sampled, how many records that stand alone
also stand alone in the population is estimated (Zayatz 1991); with [data] population in the project it is counted.

Examples:
  incrowd risk
  incrowd risk release.csv
  incrowd risk other.csv --quasi-identifiers age,sex,zip --threshold 0.05 --sampled 0.1")]
pub struct Args {
    /// A CSV or Parquet file, or a project
    #[arg(default_value = ".")]
    pub target: PathBuf,
    /// The quasi-identifiers [default: those of the project, or of the certificate beside the file]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// A record is at risk where someone finds it with a greater probability than this
    #[arg(long, value_name = "P", default_value_t = 0.2)]
    pub threshold: f64,
    /// The share of the population that is in the table: 0.1, or 10%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub sampled: Option<f64>,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    check(args.threshold, args.sampled)?;
    let counts = counts(args, &terminal.work(0, None))?;
    let told = Found::of(&counts, args.threshold, args.sampled);
    terminal.json(&told.to_json(&counts, args.threshold));
    let Found { found, estimate, contributions } = told;

    let probability = |p: f64| format!("{:.4}", p);
    terminal.say(format!(
        "{} in {}\n",
        counted_words(found.n_records, "record"),
        counted_words(found.n_groups, "group")
    ));
    let row = |name: &str, view: &View| {
        let at_risk = format!("{} ({})", grouped(view.n_at_risk), percent(view.n_at_risk, found.n_records));
        vec![format!("  {name}"), probability(view.highest), probability(view.average), at_risk]
    };
    let marketer = vec!["  marketer".to_string(), "–".into(), probability(found.marketer), "–".into()];
    let rows = [row("prosecutor", &found.prosecutor), row("journalist", &found.journalist), marketer];
    let above = format!("records above {}", args.threshold);
    terminal.say(columns(&["  risk", "highest", "average", above.as_str()], &rows, &[0]));
    terminal.say(format!(
        "\n  {} alone in the table ({})",
        counted_words(found.n_unique, "record"),
        percent(found.n_unique, found.n_records)
    ));
    if let Some(n) = found.n_unique_in_population {
        terminal.say(format!("  {} of them alone in the population", grouped(n)));
    }
    if let Some(estimate) = estimate {
        terminal
            .say(format!("  about {} of them alone in the population (estimated)", grouped(estimate.round() as u64)));
    }
    let rows: Vec<Vec<String>> = contributions
        .iter()
        .map(|c| {
            let alone = (grouped(c.n_unique_alone), probability(c.average_alone));
            let without = (grouped(c.n_unique_without), probability(c.average_without));
            vec![format!("  {}", c.attribute), alone.0, alone.1, without.0, without.1]
        })
        .collect();
    let header = ["  attribute", "alone by it", "average", "alone without it", "average"];
    terminal.say(format!("\n{}", columns(&header, &rows, &[0])));
    Ok(Exit::Done)
}

/// `0.1` or `10%`.
fn share(text: &str) -> std::result::Result<f64, std::num::ParseFloatError> {
    match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.trim().parse(),
    }
}

fn check(threshold: f64, sampled: Option<f64>) -> Result<()> {
    let wrong = |message: String, hint: &str| Err(Error::new(ErrorKind::Request, message).hint(hint));
    if !(0.0..=1.0).contains(&threshold) {
        return wrong(format!("a threshold of {threshold} is no probability"), "for example --threshold 0.05");
    }
    if sampled.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        return wrong("a share of the population is above 0 and at most 1".into(), "for example --sampled 0.1");
    }
    Ok(())
}

/// What is told of a table.
struct Found {
    found: Risks,
    estimate: Option<f64>,
    contributions: Vec<Contribution>,
}

impl Found {
    fn of(counts: &GroupCounts, threshold: f64, sampled: Option<f64>) -> Found {
        let crowds = crowds(counts);
        let sizes: Vec<u64> = crowds.iter().map(|(size, _)| *size).collect();
        Found {
            found: risks(crowds.iter().copied(), threshold),
            estimate: sampled.map(|sampled| estimated_unique_in_population(&sizes, sampled)),
            contributions: contributions(counts),
        }
    }

    fn to_json(&self, counts: &GroupCounts, threshold: f64) -> Value {
        let Found { found, estimate, contributions } = self;
        let view = |view: &View| -> Value {
            json!({ "highest": rounded(view.highest), "average": rounded(view.average), "n_at_risk": view.n_at_risk })
        };
        let of_attribute = |c: &Contribution| {
            json!({
                "attribute": c.attribute,
                "n_unique_alone": c.n_unique_alone,
                "average_alone": rounded(c.average_alone),
                "n_unique_without": c.n_unique_without,
                "average_without": rounded(c.average_without),
            })
        };
        json!({
            "n_records": found.n_records,
            "n_dropped": counts.n_dropped(),
            "n_groups": found.n_groups,
            "threshold": threshold,
            "prosecutor": view(&found.prosecutor),
            "journalist": view(&found.journalist),
            "marketer": rounded(found.marketer),
            "population": if counts.population().is_some() { "counted" } else { "the table itself" },
            "n_unique": found.n_unique,
            "n_unique_in_population": found.n_unique_in_population,
            "n_unique_in_population_estimated": estimate.map(rounded),
            "attributes": contributions.iter().map(of_attribute).collect::<Vec<_>>(),
        })
    }
}

/// The risk of a table as `--json` says it.
pub fn document(counts: &GroupCounts, threshold: f64, sampled: Option<f64>) -> Result<Value> {
    check(threshold, sampled)?;
    Ok(Found::of(counts, threshold, sampled).to_json(counts, threshold))
}

/// The records of a file or of a project's data, counted.
fn counts(args: &Args, work: &Work) -> Result<GroupCounts> {
    let is_project = args.target.is_dir() && args.target.join("incrowd.toml").exists()
        || args.target.extension().is_some_and(|extension| extension == "toml");
    if is_project {
        let project = Project::open(&args.target)?;
        let with_population = project.population.is_some();
        let choice = Choice { quasi_identifiers: args.quasi_identifiers.clone(), with_population, ..Choice::default() };
        return Ok(count(&project, &choice, work)?.material.counts);
    }
    std::fs::metadata(&args.target).map_err(|error| crate::io_error(&args.target, error))?;
    let certificate = beside(&args.target).map(|path| read_certificate(&path)).transpose()?;
    let names = match (&args.quasi_identifiers, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
        (None, None) => {
            return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                .hint("give --quasi-identifiers A,B,…, or a project"));
        }
    };
    let delimiter = certificate.as_ref().and_then(|certificate| delimiter_of(&args.target, certificate));
    count_file(&args.target, &names, delimiter, work)
}

fn count_file(path: &Path, names: &[String], delimiter: Option<u8>, work: &Work) -> Result<GroupCounts> {
    let source = Source::open(path, &CsvOptions { delimiter })?;
    names.iter().try_for_each(|name| source.check_column(name))?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    count_source(&source, &names, &[], &Missing::default(), work)
}
