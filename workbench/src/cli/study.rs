//! `incrowd study`: the papers' experiments, on any table.

use clap::Subcommand;
use incrowd::Result;

use super::arguments::{ProjectArgs, ShownArgs};
use super::terminal::{Exit, Terminal, columns, csv};
use super::{study_lattice, study_local, study_records, study_requests, study_suppression};
use crate::orders::known::Known;
use crate::orders::study_deal::{DealRow, Making, StudiedDeal, StudyDeal};
use crate::output::chart::{Chart, Line, N_TICKS, Point, svg};
use crate::output::page;
use crate::sentences::{self, grouped};
use crate::words::studies;

/// Repeat the papers' experiments on a table
#[derive(Clone, Debug, Subcommand)]
#[command(after_help = "\
Examples:
  incrowd study suppression --k 3,10,25 --sets 3,4,5      how many records are lost at every height
  incrowd study requests -o study.html                    the whole lattice, parts of it and on demand
  incrowd study deal --frequencies 167,153,127,103,91,89  how evenly sensitive values are dealt")]
pub enum Args {
    Deal(DealArgs),
    Lattice(study_lattice::Args),
    Suppression(study_suppression::Args),
    Requests(study_requests::Args),
    Local(study_local::Args),
    Records(study_records::Args),
}

/// How diverse dealt classes are, and how near to the table, beside classes made by chance
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Four ways to make classes of k records: dealt (Stack & Deal), by chance, and dealt classes that then exchange records by \
chance as long as their counts of any value differ by at most 2, or 3. For each: the fewest different values in a class, \
and the distance of the classes to the table (EMD, greatest and mean), with all values equally far apart and in the order \
of their frequency as in the paper.

Only how often each sensitive value occurs matters here.

Examples:
  incrowd study deal                                      the project in this folder
  incrowd study deal --frequencies 167,153,127,103,91,89  the paper's example
  incrowd study deal --k 2..21 -o study.html --csv")]
pub struct DealArgs {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// How often each sensitive value occurs, instead of a project
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub frequencies: Option<Vec<u64>>,
    /// From which k to which [default: 2..21, as far as there are records]
    #[arg(long, value_name = "FROM..TO")]
    pub k: Option<String>,
    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub shown: ShownArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    match args {
        Args::Deal(args) => deal(args, terminal),
        Args::Lattice(args) => study_lattice::run(args, terminal),
        Args::Suppression(args) => study_suppression::run(args, terminal),
        Args::Requests(args) => study_requests::run(args, terminal),
        Args::Local(args) => study_local::run(args, terminal),
        Args::Records(args) => study_records::run(args, terminal),
    }
}

fn deal(args: &DealArgs, terminal: &Terminal) -> Result<Exit> {
    let work = args.project.work(terminal)?;
    let project = match args.frequencies {
        Some(_) => None,
        None => {
            args.project.check_no_lattice("study deal")?;
            Some(args.project.open()?)
        }
    };
    args.shown.page.check(project.as_ref())?;
    let order = StudyDeal {
        about: args.project.about(),
        frequencies: args.frequencies.clone(),
        ks: args.k.clone(),
        seed: args.seed,
    };
    let studied = order.run(project.as_ref(), &Known::default(), &work)?;
    args.shown.page.write(|| page_of(&studied))?;
    if terminal.is_json {
        terminal.json(&studies::deal(&studied));
        return Ok(Exit::Done);
    }
    let texts: Vec<Vec<String>> = studied.rows.iter().map(texts).collect();
    if args.shown.csv {
        terminal.say(csv(&HEADER.map(|name| name.replace(' ', "_")), &texts).trim_end());
        return Ok(Exit::Done);
    }
    let StudiedDeal { frequencies, .. } = &studied;
    terminal.say(format!(
        "{} of {}, {} values: the most frequent in {} records, the rarest in {}\n",
        sentences::counted_words(studied.n_records(), "record"),
        studies::whose(&studied),
        grouped(frequencies.len() as u64),
        grouped(frequencies[0]),
        grouped(frequencies[frequencies.len() - 1]),
    ));
    terminal.say(columns(&HEADER, &texts, &[2]));
    terminal.say(match studied.k_of_all_values() {
        Some(k) => format!("\n  From k = {k} on, every dealt class has all {} values.", frequencies.len()),
        None => format!("\n  At none of these k every dealt class has all {} values.", frequencies.len()),
    });
    args.shown.page.say(terminal);
    Ok(Exit::Done)
}

const HEADER: [&str; 8] =
    ["k", "classes", "made", "fewest values", "greatest EMD", "mean EMD", "greatest ordered", "mean ordered"];

fn texts(row: &DealRow) -> Vec<String> {
    let number = |value: f64| format!("{value:.4}");
    vec![
        row.k.to_string(),
        row.n_classes.to_string(),
        row.making.name(),
        row.diversity.to_string(),
        number(row.equal.0),
        number(row.equal.1),
        number(row.ordered.0),
        number(row.ordered.1),
    ]
}

/// The next multiple of five, so that the five marks of an axis are whole.
fn to_fives(n: u64) -> f64 {
    n.next_multiple_of(5).max(5) as f64
}

fn page_of(studied: &StudiedDeal) -> String {
    let StudiedDeal { frequencies, rows, .. } = studied;
    let chart = |title: &str, y_name: &str, y_max: f64, y_label: fn(f64) -> String, of: &dyn Fn(&DealRow) -> f64| {
        let line = |making: Making| Line {
            name: making.name(),
            points: rows
                .iter()
                .filter(|row| row.making == making)
                .map(|row| Point { x: row.k as f64, y: of(row), title: format!("k = {}: {}", row.k, y_label(of(row))) })
                .collect(),
        };
        svg(&Chart {
            title: title.to_string(),
            x_name: "k".to_string(),
            y_name: y_name.to_string(),
            x_max: to_fives(rows.iter().map(|row| row.k).max().unwrap_or(1)),
            y_max,
            x_label: Box::new(|x| format!("{x:.0}")),
            n_x_ticks: N_TICKS,
            y_label,
            is_stepped: false,
            dots: Vec::new(),
            lines: Making::ALL.map(line).into_iter().collect(),
        })
    };
    let most = |of: &dyn Fn(&DealRow) -> f64| ((rows.iter().map(of).fold(0.0, f64::max) * 10.0).ceil() / 10.0).max(0.1);
    let decimals: fn(f64) -> String = |y| format!("{y:.2}");
    let charts = [
        (
            "Fewest different values in a class",
            chart(
                "Diversity",
                "values",
                to_fives(rows.iter().map(|row| row.diversity as u64).max().unwrap_or(1)),
                |y| format!("{y:.0}"),
                &|row| row.diversity as f64,
            ),
        ),
        (
            "Mean distance to the table, in the order of frequency",
            chart("Ordered EMD", "EMD", most(&|row| row.ordered.1), decimals, &|row| row.ordered.1),
        ),
        (
            "Mean distance to the table, all values equally far apart",
            chart("EMD", "EMD", most(&|row| row.equal.1), decimals, &|row| row.equal.1),
        ),
    ];
    let charts: String = charts
        .iter()
        .map(|(title, chart)| {
            format!("<section>\n<h2>{title}</h2>\n<figure style=\"margin: 0\">\n{chart}</figure>\n</section>\n")
        })
        .collect();
    let title = "Dealing, and chance";
    page::document(
        title,
        &format!(
            "<header>\n<p class=\"eyebrow\">Stack &amp; Deal</p>\n<h1>{title}</h1>\n<p>Classes of k records made in four \
             ways from {} records with {} values of {}.</p>\n</header>\n{charts}<section>\n<h2>All numbers</h2>\n{}</section>\n",
            grouped(studied.n_records()),
            grouped(frequencies.len() as u64),
            page::escape(studies::whose(studied)),
            page::table(&HEADER.map(String::from), &rows.iter().map(texts).collect::<Vec<_>>()),
        ),
    )
}
