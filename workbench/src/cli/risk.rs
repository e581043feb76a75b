//! `incrowd risk`: how likely the people of a table or release are to be found.

use std::path::PathBuf;

use incrowd::Result;
use incrowd::number::Crowd;
use incrowd::risk::weighted::Expected;
use incrowd::risk::{AttackerView, Contribution};

use super::arguments::parse_number;
use super::terminal::{Exit, Terminal, columns};
use crate::orders::risk::{NamedUniques, Population, Risk, THRESHOLD, Told, share};
use crate::sentences::{counted_words, grouped, people_in_words, percent};
use crate::words::documents;

/// See how likely people are to be found in a table, a release or a project's data
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Prosecutor: knows that someone is in the table; 1 over the records that look the same. Journalist: knows only that they \
are in the population; 1 over the people who look the same. Marketer: links every record; the share that is right. \
Without a population the table counts as one, which is the worst case. With [data] population in the project the people \
who look the same are counted; else they are estimated, from sampling weights ([data] weight_of, --weight-of) or from the \
share of the population that is in the table (--sampled). Then the individual risk is the mean of 1 over their number \
(Benedetti and Franconi 1998), and its sum the records that are expected to be found. docs/risk.md has the formulas.

Where the project says whose record it is (role = \"person\") and somebody has several, people are counted instead of \
records: each has the highest risk of their records. Who is alone by all their records together is told too.

Examples:
  incrowd risk
  incrowd risk release.csv
  incrowd risk other.csv --quasi-identifiers age,sex,zip --threshold 0.05 --sampled 0.1
  incrowd risk --weight-of rb050 --household db030 --per-record -o risk.csv
  incrowd risk --special-uniques=3 --show-values")]
pub struct Args {
    /// A file (CSV, Parquet, Excel, SPSS, Stata or SAS), or a project
    #[arg(default_value = ".")]
    pub target: PathBuf,
    /// Read this file instead of the one that the project names, such as the next delivery of the data
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// The quasi-identifiers [default: those of the project, or of the certificate beside the file]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// A record is at risk where someone finds it with a greater probability than this
    #[arg(long, value_name = "P", default_value_t = THRESHOLD, value_parser = parse_number)]
    pub threshold: f64,
    /// The share of the population that is in the table: 0.1, or 10%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub sampled: Option<f64>,
    /// The column that says for how many people of the population a record stands [default: [data] weight_of]
    #[arg(long, value_name = "NAME")]
    pub weight_of: Option<String>,
    /// The columns that together name a household, which is found with any of its members [default: [data] household]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub household: Option<Vec<String>>,
    /// Look for the smallest sets of quasi-identifiers on which records stand alone, with at most SIZE of them
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true)]
    pub special_uniques: Option<Option<u64>>,
    /// Show values of the data, where they make records stand alone
    #[arg(long)]
    pub show_values: bool,
    /// Write the risk of every record, in the order of the table
    #[arg(long)]
    pub per_record: bool,
    /// Where that goes: a CSV file that only its owner can read
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = Risk {
        target: Some(args.target.clone()),
        data: args.data.clone(),
        quasi_identifiers: args.quasi_identifiers.clone(),
        threshold: args.threshold,
        sampled: args.sampled,
        weight_of: args.weight_of.clone(),
        household: args.household.clone(),
        special_uniques: args.special_uniques,
        show_values: args.show_values,
        per_record: args.per_record,
        output: args.output.clone(),
        replace: args.force,
    };
    let told = order.run(None, &terminal.work(0, None))?;
    terminal.json(&documents::risk(&told));
    let found = &told.found;
    let of_people = found.n_people.map_or(String::new(), |n| format!(" of {}", people_in_words(n)));
    terminal.say(format!(
        "{}{of_people} in {}\n",
        counted_words(found.n_records, "record"),
        counted_words(found.n_groups, "group")
    ));
    terminal.say(views(&told));
    say_population(&told, terminal);
    say_alone(&told, terminal);
    terminal.say(format!("\n{}", attributes(&told.contributions)));
    if let Some(uniques) = &told.special_uniques {
        say_special_uniques(uniques, found.n_unique, told.show_values, terminal);
        if found.n_people.is_some() {
            terminal.say("  equal records of one person count as one of them");
        }
    }
    if let Some(path) = &told.written {
        terminal.note(format!("wrote the risk of every record to {}", path.display()));
    }
    Ok(Exit::Done)
}

fn probability(p: f64) -> String {
    format!("{p:.4}")
}

/// A line per kind of attacker, and per way to judge records where something is known beside the table.
fn views(told: &Told) -> String {
    let found = &told.found;
    let line = |name: &str, highest: f64, average: f64, n_at_risk: u64| {
        let at_risk = format!("{} ({})", grouped(n_at_risk), percent(n_at_risk, found.crowd().n()));
        vec![format!("  {name}"), probability(highest), probability(average), at_risk]
    };
    let row = |name: &str, view: &AttackerView| line(name, view.highest, view.average, view.n_at_risk);
    let own = |name: &str, of: &Expected| line(name, of.highest, of.average, of.n_at_risk);
    let marketer = vec!["  marketer".to_string(), "–".into(), probability(found.marketer), "–".into()];
    let mut rows = vec![row("prosecutor", &found.prosecutor), row("journalist", &found.journalist), marketer];
    if told.n_people.is_some() {
        rows.push(own("individual", &told.individual));
    }
    if let Some(households) = &told.households {
        rows.push(own("household", &households.found));
    }
    let above = format!("{} above {}", found.crowd().word(), told.threshold);
    columns(&["  risk", "highest", "average", above.as_str()], &rows, &[0])
}

/// What the population was taken for, and how many records are expected to be found.
fn say_population(told: &Told, terminal: &Terminal) {
    if let Some(n_people) = told.n_people {
        let from = match told.population {
            Population::Weighted => "the sampling weights",
            _ => "the share sampled",
        };
        terminal.say(format!(
            "\n  about {} people in the population, estimated from {from}: journalist, marketer and individual risk are estimates",
            grouped(n_people.round() as u64)
        ));
    }
    let expected = |found: &Expected, who: &str| {
        terminal.say(format!(
            "  {} {} expected to be found{who} ({:.2} %)",
            in_hundredths(found.n_found),
            told.found.crowd().word(),
            100.0 * found.average
        ));
    };
    if told.n_people.is_some() {
        expected(&told.individual, "");
    }
    if let Some(households) = &told.households {
        let who = format!(" with any member of their {}", counted_words(households.n_households, "household"));
        expected(&households.found, &who);
    }
}

fn say_alone(told: &Told, terminal: &Terminal) {
    let found = &told.found;
    let (who, whose) = match found.crowd() {
        Crowd::Records(_) => (counted_words(found.n_unique, "record"), ""),
        Crowd::People(_) => (people_in_words(found.n_unique), ", in one of their groups at least"),
    };
    terminal.say(format!("\n  {who} alone in the table ({}){whose}", percent(found.n_unique, found.crowd().n())));
    if let Some(n) = found.n_unique_in_population {
        terminal.say(format!("  {} of them alone in the population", grouped(n)));
    }
    if let Some(estimate) = told.estimate {
        terminal
            .say(format!("  about {} of them alone in the population (estimated)", grouped(estimate.round() as u64)));
    }
    if let Some(n) = told.n_alone_by_all_records {
        let (who, share) = (people_in_words(n), percent(n, found.crowd().n()));
        terminal.say(format!("  {who} alone by all their records together ({share})"));
    }
}

fn attributes(contributions: &[Contribution]) -> String {
    let row = |c: &Contribution| {
        let alone = (grouped(c.n_unique_alone), probability(c.average_alone));
        let without = (grouped(c.n_unique_without), probability(c.average_without));
        vec![format!("  {}", c.attribute), alone.0, alone.1, without.0, without.1]
    };
    let rows: Vec<Vec<String>> = contributions.iter().map(row).collect();
    columns(&["  attribute", "alone by it", "average", "alone without it", "average"], &rows, &[0])
}

/// How many values of an attribute are shown at most.
const N_VALUES: usize = 5;

fn say_special_uniques(uniques: &NamedUniques, n_unique: u64, show_values: bool, terminal: &Terminal) {
    let found = &uniques.found;
    terminal.say(format!(
        "\n  {} of the records that stand alone do so on fewer than all {} quasi-identifiers (special uniques)",
        grouped(found.n_special()),
        found.shares.len()
    ));
    let of_size = |(i, n): (usize, &u64)| (*n > 0).then(|| format!("{} of {}", grouped(*n), i + 1));
    let sizes: Vec<String> = found.n_sets_of_size.iter().enumerate().filter_map(of_size).collect();
    if n_unique > 0 && !sizes.is_empty() {
        terminal.say(format!("  smallest sets of attributes that find them: {}", sizes.join(", ")));
        terminal.say(format!(
            "  a match with one of them is right with probability {} if {} of the population is in the table (DIS)",
            probability(found.dis),
            share_in_words(found.fraction)
        ));
    }
    let rows = found.shares.iter().zip(&uniques.attributes).enumerate().map(|(a, (share, name))| {
        let value = |(code, percent): &(u32, f64)| format!("{} {percent:.1} %", uniques.values[a][*code as usize]);
        let values: Vec<String> = share.of_values.iter().take(N_VALUES).map(value).collect();
        let shown = if show_values { values.join(", ") } else { grouped(share.of_values.len() as u64) };
        vec![format!("  {name}"), format!("{:.1} %", share.percent), shown]
    });
    let header = ["  attribute", "of all scores", if show_values { "most by values" } else { "values" }];
    terminal
        .say(format!("\n{}", columns(&header, &rows.collect::<Vec<_>>(), if show_values { &[0, 2] } else { &[0] })));
}

fn share_in_words(share: f64) -> String {
    format!("{} %", (share * 1e6).round() / 1e4)
}

/// `2,530.26`
fn in_hundredths(n: f64) -> String {
    let hundredths = (n * 100.0).round() as u64;
    format!("{}.{:02}", grouped(hundredths / 100), hundredths % 100)
}
