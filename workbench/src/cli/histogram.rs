//! `incrowd histogram`: how large the groups of a scheme are, and how many different sensitive values they have.

use incrowd::Result;

use super::arguments::{ProjectArgs, ShownArgs};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::orders::histogram::{Bar, GivenScheme, Histogram, Histogrammed};
use crate::orders::known::Known;
use crate::sentences::{grouped, percent};
use crate::words::{figures, studies};

/// How large the groups of a scheme are, and how many sensitive values they have
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd histogram 1,0,2                      levels in the order of the quasi-identifiers
  incrowd histogram age=1,race=2 adult         by name; attributes that are not named stay as they are
  incrowd histogram 101 --quasi-identifiers age,workclass,race
  incrowd histogram 1,0,2 -o groups.html       charts, with their cumulative forms")]
pub struct Args {
    /// The scheme: a level per quasi-identifier, or A=LEVEL,…
    pub scheme: String,
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub shown: ShownArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = Histogram { about: args.project.about(), scheme: GivenScheme::parse(&args.scheme)? };
    let project = args.project.open()?;
    args.shown.page.check(Some(&project))?;
    let of = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    args.shown.page.write(|| {
        let tables: Vec<_> = tables(&of).into_iter().map(|(title, rows)| (title, header(), rows)).collect();
        figures::page("Groups of a scheme", &figures::in_words(&of), &figures::histograms(&of), &tables)
    })?;
    if terminal.is_json {
        terminal.json(&studies::histogram(&of));
        return Ok(Exit::Done);
    }
    if args.shown.csv {
        terminal.say(
            csv(&["of", "value", "n_groups", "n_records", "n_records_below"].map(String::from), &all(&of)).trim_end(),
        );
        return Ok(Exit::Done);
    }
    terminal.say(format!("{}\n", figures::in_words(&of)));
    for (title, rows) in tables(&of) {
        terminal.say(format!("{title}:\n"));
        let header = header();
        terminal.say(columns(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows, &[]));
        terminal.say("");
    }
    args.shown.page.say(terminal);
    Ok(Exit::Done)
}

fn header() -> Vec<String> {
    ["value", "groups", "records", "records below", "share"].map(String::from).to_vec()
}

/// What each histogram is called, and its bars.
fn histograms(of: &Histogrammed) -> Vec<(String, &[Bar])> {
    let size = if of.is_over_people { "people" } else { "records" };
    let sizes = (format!("groups by their number of {size}"), &of.sizes[..]);
    let distinct = of
        .distinct
        .iter()
        .map(|(name, bars)| (format!("groups by their number of different values of {name}"), &bars[..]));
    std::iter::once(sizes).chain(distinct).collect()
}

fn tables(of: &Histogrammed) -> Vec<(String, Vec<Vec<String>>)> {
    let row = |bar: &Bar| {
        let below = percent(bar.n_records_below, of.n_records);
        vec![grouped(bar.value), grouped(bar.n_groups), grouped(bar.n_records), grouped(bar.n_records_below), below]
    };
    histograms(of).into_iter().map(|(title, bars)| (title, bars.iter().map(row).collect())).collect()
}

/// All bars, with what they are about.
fn all(of: &Histogrammed) -> Vec<Vec<String>> {
    let names = std::iter::once("size".to_string()).chain(of.distinct.iter().map(|(name, _)| name.clone()));
    let row = |name: &str, bar: &Bar| {
        let numbers = [bar.value, bar.n_groups, bar.n_records, bar.n_records_below].map(|n| n.to_string());
        std::iter::once(name.to_string()).chain(numbers).collect()
    };
    let of_one =
        |(name, (_, bars)): (String, (String, &[Bar]))| bars.iter().map(|bar| row(&name, bar)).collect::<Vec<_>>();
    names.zip(histograms(of)).flat_map(of_one).collect()
}
