//! `incrowd count`: reads the records once and says how many combinations there are.

use crate::sentences::{counted_words, grouped, percent};
use incrowd::Result;
use incrowd::scheme::n_schemes;
use serde_json::{Value, json};

use super::arguments::ProjectArgs;
use crate::cli::terminal::{Exit, Terminal, columns};
use crate::input::count::Counted;
use crate::input::count::count;

/// Read the records once and say how many distinct combinations there are
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd count
  incrowd count hospital --quasi-identifiers age,sex,postcode --json")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    args.project.check_no_lattice("count")?;
    let project = args.project.open()?;
    let about = args.project.about();
    let choice = about.choice(&about.no_privacy(&project)?);
    let counted = count(&project, &choice, &args.project.work(terminal)?)?;
    let counts = &counted.counts;
    let n_schemes = n_schemes(&counted.hierarchies);
    let n_unique = n_unique(&counted);
    terminal.json(&document(&counted));
    let rows: Vec<Vec<String>> = counted
        .hierarchies
        .iter()
        .map(|hierarchy| {
            let n_values: Vec<String> = hierarchy.levels().iter().map(|level| grouped(level.len() as u64)).collect();
            vec![hierarchy.attribute().to_string(), hierarchy.kind().name().to_string(), n_values.join(" → ")]
        })
        .collect();
    terminal.say(columns(&["quasi-identifier", "type", "values per level"], &rows, &[0, 1, 2]));
    terminal.say(format!(
        "\n{} in {}; {} ({}) {} unique; the lattice has {} schemes",
        counted_words(counts.n_records(), "record"),
        counted_words(counts.n_groups() as u64, "group"),
        grouped(n_unique),
        percent(n_unique, counts.n_records()),
        if n_unique == 1 { "is" } else { "are" },
        n_schemes.map_or("more than 10^19".to_string(), grouped)
    ));
    Ok(Exit::Done)
}

/// How many records are alone with their quasi-identifiers.
fn n_unique(counted: &Counted) -> u64 {
    let counts = &counted.counts;
    (0..counts.n_groups()).filter(|&group| counts.size(group) == 1).count() as u64
}

/// As `--json` says it.
pub fn document(counted: &Counted) -> Value {
    let counts = &counted.counts;
    let attributes = counted.hierarchies.iter().map(|hierarchy| {
        let n_values: Vec<usize> = hierarchy.levels().iter().map(|level| level.len()).collect();
        json!({ "attribute": hierarchy.attribute(), "kind": hierarchy.kind().name(), "n_values_per_level": n_values })
    });
    json!({
        "n_records": counts.n_records(),
        "n_dropped": counts.n_dropped(),
        "n_groups": counts.n_groups(),
        "n_cells": counts.n_cells(),
        "n_unique": n_unique(counted),
        "n_schemes": n_schemes(&counted.hierarchies),
        "sensitive": counted.sensitive.first().map(|attribute| &attribute.name),
        "n_sensitive": counts.sensitive().first().map(|domain| domain.len()),
        "attributes": attributes.collect::<Vec<_>>(),
    })
}
