//! `incrowd risk`: how likely the people of a table or release are to be found.

use std::path::PathBuf;

use incrowd::Result;
use incrowd::risk::View;

use super::terminal::{Exit, Terminal, columns};
use crate::orders::risk::{Risk, Told};
use crate::sentences::{counted_words, grouped, percent};
use crate::words::documents;

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
    let order = Risk {
        target: Some(args.target.clone()),
        quasi_identifiers: args.quasi_identifiers.clone(),
        threshold: args.threshold,
        sampled: args.sampled,
    };
    let told = order.run(None, &terminal.work(0, None))?;
    terminal.json(&documents::risk(&told));
    let Told { found, estimate, contributions, .. } = told;

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
