//! `incrowd study`: the papers' experiments, on any table.

use std::path::{Path, PathBuf};

use crate::sentences;
use crate::sentences::grouped;
use clap::Subcommand;
use incrowd::random::Random;
use incrowd::wire;
use incrowd::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use super::arguments::ProjectArgs;
use super::study_lattice;
use super::terminal::{Exit, Terminal, columns, csv};
use crate::input::count::count;
use crate::orders::compare::leave_out_too_large;
use crate::orders::wishes::Privacy;
use crate::output::chart::{Chart, Line, N_TICKS, Point, svg};
use crate::output::page;
use crate::output::staged::{check_picture, write_whole};
use crate::work::Work;

/// Repeat the papers' experiments on a table
#[derive(Clone, Debug, Subcommand)]
pub enum Args {
    Deal(DealArgs),
    Lattice(study_lattice::Args),
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
    /// Print as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Write a page with charts, .html
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    match args {
        Args::Deal(args) => deal(args, terminal),
        Args::Lattice(args) => study_lattice::run(args, terminal),
    }
}

fn deal(args: &DealArgs, terminal: &Terminal) -> Result<Exit> {
    if let Some(path) = &args.output {
        check_page(args, path)?;
    }
    let work = args.project.work(terminal)?;
    let (frequencies, name) = frequencies(args, &work)?;
    let n_records: u64 = frequencies.iter().sum();
    let ks = match &args.k {
        Some(text) => ks_of(text, n_records)?,
        None => leave_out_too_large((2..=21).collect(), n_records, &work),
    };
    let rows: Vec<Row> = ks.iter().flat_map(|&k| rows(&frequencies, k, args.seed)).collect();
    if let Some(path) = &args.output {
        write_whole(path, page_of(&rows, &name, &frequencies).as_bytes(), args.force)?;
    }
    if terminal.is_json {
        terminal.json(&document(&name, &frequencies, args.seed, &rows));
        return Ok(Exit::Done);
    }
    let header =
        ["k", "classes", "made", "fewest values", "greatest EMD", "mean EMD", "greatest ordered", "mean ordered"];
    if args.csv {
        let header = header.map(|name| name.replace(' ', "_"));
        terminal.say(csv(&header, &rows.iter().map(Row::texts).collect::<Vec<_>>()).trim_end());
        return Ok(Exit::Done);
    }
    terminal.say(format!(
        "{} of {name}, {} values: the most frequent in {} records, the rarest in {}\n",
        sentences::counted_words(n_records, "record"),
        grouped(frequencies.len() as u64),
        grouped(frequencies[0]),
        grouped(frequencies[frequencies.len() - 1]),
    ));
    terminal.say(columns(&header, &rows.iter().map(Row::texts).collect::<Vec<_>>(), &[2]));
    let full =
        ks.iter().find(|&&k| rows.iter().any(|row| row.k == k && row.is_dealt() && row.diversity == frequencies.len()));
    terminal.say(match full {
        Some(k) => format!("\n  From k = {k} on, every dealt class has all {} values.", frequencies.len()),
        None => format!("\n  At none of these k every dealt class has all {} values.", frequencies.len()),
    });
    if let Some(path) = &args.output {
        terminal.say(format!("  charts  {}", path.display()));
    }
    Ok(Exit::Done)
}

/// Refuses a place for the page before any work is done.
fn check_page(args: &DealArgs, path: &Path) -> Result<()> {
    if args.frequencies.is_none() {
        args.project.open()?.check_output(path)?;
    }
    check_picture(path, &["html"], args.force)
}

fn document(name: &str, frequencies: &[u64], seed: u64, rows: &[Row]) -> Value {
    json!({
        "attribute": name,
        "frequencies": frequencies,
        "n_records": frequencies.iter().sum::<u64>(),
        "seed": seed,
        "rows": rows.iter().map(Row::to_json).collect::<Vec<Value>>(),
    })
}

/// The study of these frequencies as `--json` says it, for a range of k such as `2..21`.
pub fn of_frequencies(frequencies: Vec<u64>, k: &str, seed: u64) -> Result<Value> {
    let (frequencies, name) = checked(frequencies, "the given frequencies".to_string())?;
    let ks = ks_of(k, frequencies.iter().sum())?;
    let rows: Vec<Row> = ks.iter().flat_map(|&k| rows(&frequencies, k, seed)).collect();
    Ok(document(&name, &frequencies, seed, &rows))
}

/// How often each value occurs, the most frequent first, and of which attribute.
fn frequencies(args: &DealArgs, work: &Work) -> Result<(Vec<u64>, String)> {
    match &args.frequencies {
        Some(given) => checked(given.clone(), "the given frequencies".to_string()),
        None => {
            args.project.check_no_lattice("study deal")?;
            let project = args.project.open()?;
            let known: Vec<&str> =
                project.with_role(incrowd::Role::Sensitive).map(|known| known.name.as_str()).collect();
            let named = args.project.sensitive.as_deref().or(known.first().copied());
            let named = named.ok_or_else(|| {
                Error::new(ErrorKind::Project, "the project has no sensitive attribute to deal by")
                    .hint("give an attribute the role sensitive, or use --frequencies")
            })?;
            let privacy = Privacy { criteria: Default::default(), sensitive: vec![named.to_string()] };
            let counted = count(&project, &args.project.about().choice(&privacy), work)?;
            checked(counted.counts.distribution(0), named.to_string())
        }
    }
}

fn checked(mut frequencies: Vec<u64>, name: String) -> Result<(Vec<u64>, String)> {
    frequencies.retain(|&n| n > 0);
    frequencies.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
    match frequencies.iter().try_fold(0u64, |sum, &n| sum.checked_add(n)) {
        Some(n) if (2..=100_000_000).contains(&n) => Ok((frequencies, name)),
        _ => Err(Error::new(ErrorKind::Request, "there must be from 2 to 100,000,000 records")),
    }
}

/// `2..21` as 2, 3, … 21.
fn ks_of(text: &str, n_records: u64) -> Result<Vec<u64>> {
    let wrong = || {
        Error::new(ErrorKind::Request, format!("'{text}' is not a range of k from 2 to the {n_records} records"))
            .hint(format!("for example --k 2..{}", n_records.clamp(2, 21)))
    };
    let (from, to) = text.split_once("..").unwrap_or((text, text));
    let (from, to): (u64, u64) = (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
    let is_fine = (2..=to).contains(&from) && to <= n_records && to - from < 1_000;
    is_fine.then(|| (from..=to).collect()).ok_or_else(wrong)
}

/// A way to make classes of the same sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    Dealt,
    ByChance,
    /// Dealt, then disturbed as long as counts of a value differ by no more than this.
    Differing(u64),
}

impl Made {
    const ALL: [Made; 4] = [Made::Dealt, Made::ByChance, Made::Differing(2), Made::Differing(3)];

    fn name(self) -> String {
        match self {
            Made::Dealt => "dealt".to_string(),
            Made::ByChance => "by chance".to_string(),
            Made::Differing(n) => format!("differing by {n}"),
        }
    }
}

/// What one way gives for one k.
struct Row {
    k: u64,
    n_classes: usize,
    made: Made,
    /// The fewest different values in a class.
    diversity: usize,
    /// Greatest and mean, all values equally far apart; then in the order of frequency.
    equal: (f64, f64),
    ordered: (f64, f64),
}

fn rows(frequencies: &[u64], k: u64, seed: u64) -> Vec<Row> {
    let made = |made: Made| {
        let classes = classes(frequencies, k, made, &mut Random::new(seed).part(k));
        let distances: Vec<(f64, f64)> = classes.iter().map(|class| distances(class, frequencies)).collect();
        let greatest_and_mean = |of: &dyn Fn(&(f64, f64)) -> f64| {
            let all = distances.iter().map(of);
            (all.clone().fold(0.0, f64::max), all.sum::<f64>() / distances.len() as f64)
        };
        let diversity = classes.iter().map(|class| class.iter().filter(|&&n| n > 0).count()).min().unwrap_or(0);
        Row {
            k,
            n_classes: classes.len(),
            made,
            diversity,
            equal: greatest_and_mean(&|distance| distance.0),
            ordered: greatest_and_mean(&|distance| distance.1),
        }
    };
    Made::ALL.map(made).into_iter().collect()
}

/// For every class, how many records it has of each value.
fn classes(frequencies: &[u64], k: u64, made: Made, random: &mut Random) -> Vec<Vec<u64>> {
    let n_classes = (frequencies.iter().sum::<u64>() / k) as usize;
    let mut stack: Vec<usize> =
        frequencies.iter().enumerate().flat_map(|(value, &n)| vec![value; n as usize]).collect();
    if made == Made::ByChance {
        random.shuffle(&mut stack);
    }
    let mut classes = vec![vec![0; frequencies.len()]; n_classes];
    for (i, &value) in stack.iter().enumerate() {
        classes[i % n_classes][value] += 1;
    }
    if let Made::Differing(most) = made {
        disturb(&mut classes, most, stack.len() * 4, random);
    }
    classes
}

/// Lets classes exchange records by chance, as long as their counts of every value differ by at most `most`.
fn disturb(classes: &mut [Vec<u64>], most: u64, n_tries: usize, random: &mut Random) {
    let (n_classes, n_values) = (classes.len() as u64, classes[0].len() as u64);
    let mean: Vec<u64> =
        (0..n_values as usize).map(|v| classes.iter().map(|class| class[v]).sum::<u64>() / n_classes).collect();
    // Half of the play below the mean, half above.
    let is_fine = |n: u64, value: usize| {
        let low = mean[value].saturating_sub(most / 2);
        (low..=low + most).contains(&n)
    };
    for _ in 0..n_tries {
        let [a, b] = [0, 1].map(|_| random.below(n_classes) as usize);
        let [v, w] = [0, 1].map(|_| random.below(n_values) as usize);
        if a == b || v == w || classes[a][v] == 0 || classes[b][w] == 0 {
            continue;
        }
        let changed = [(classes[a][v] - 1, v), (classes[b][v] + 1, v), (classes[b][w] - 1, w), (classes[a][w] + 1, w)];
        if changed.iter().all(|&(n, value)| is_fine(n, value)) {
            classes[a][v] -= 1;
            classes[b][v] += 1;
            classes[b][w] -= 1;
            classes[a][w] += 1;
        }
    }
}

/// The distance of a class to the table: all values equally far apart, and in the order in which they stand.
fn distances(class: &[u64], table: &[u64]) -> (f64, f64) {
    let (n, of_table) = (class.iter().sum::<u64>() as f64, table.iter().sum::<u64>() as f64);
    let differences: Vec<f64> = class.iter().zip(table).map(|(&c, &t)| c as f64 / n - t as f64 / of_table).collect();
    let equal = differences.iter().map(|d| d.abs()).sum::<f64>() / 2.0;
    let mut before = 0.0;
    let moved: f64 = differences
        .iter()
        .map(|d| {
            before += d;
            f64::abs(before)
        })
        .sum();
    (equal, moved / (table.len().max(2) - 1) as f64)
}

impl Row {
    fn is_dealt(&self) -> bool {
        self.made == Made::Dealt
    }

    fn texts(&self) -> Vec<String> {
        let number = |value: f64| format!("{value:.4}");
        vec![
            self.k.to_string(),
            self.n_classes.to_string(),
            self.made.name(),
            self.diversity.to_string(),
            number(self.equal.0),
            number(self.equal.1),
            number(self.ordered.0),
            number(self.ordered.1),
        ]
    }

    fn to_json(&self) -> Value {
        let rounded =
            |(greatest, mean): (f64, f64)| json!({ "greatest": wire::rounded(greatest), "mean": wire::rounded(mean) });
        json!({
            "k": self.k,
            "n_classes": self.n_classes,
            "made": self.made.name(),
            "fewest_distinct": self.diversity,
            "emd": { "equal": rounded(self.equal), "ordered": rounded(self.ordered) },
        })
    }
}

/// The next multiple of five, so that the five marks of an axis are whole.
fn to_fives(n: u64) -> f64 {
    n.next_multiple_of(5).max(5) as f64
}

fn page_of(rows: &[Row], name: &str, frequencies: &[u64]) -> String {
    let chart = |title: &str, y_name: &str, y_max: f64, y_label: fn(f64) -> String, of: &dyn Fn(&Row) -> f64| {
        let line = |made: Made| Line {
            name: made.name(),
            points: rows
                .iter()
                .filter(|row| row.made == made)
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
            lines: Made::ALL.map(line).into_iter().collect(),
        })
    };
    let most = |of: &dyn Fn(&Row) -> f64| ((rows.iter().map(of).fold(0.0, f64::max) * 10.0).ceil() / 10.0).max(0.1);
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
    let header =
        ["k", "classes", "made", "fewest values", "greatest EMD", "mean EMD", "greatest ordered", "mean ordered"]
            .map(String::from);
    let title = "Dealing, and chance";
    page::document(
        title,
        &format!(
            "<header>\n<p class=\"eyebrow\">Stack &amp; Deal</p>\n<h1>{title}</h1>\n<p>Classes of k records made in four \
             ways from {} records with {} values of {}.</p>\n</header>\n{charts}<section>\n<h2>All numbers</h2>\n{}</section>\n",
            grouped(frequencies.iter().sum()),
            grouped(frequencies.len() as u64),
            page::escape(name),
            page::table(&header, &rows.iter().map(Row::texts).collect::<Vec<_>>()),
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_distances() {
        // P, Q and R of the paper, in tenths.
        let (p, q, r) = ([2, 1, 7], [3, 0, 7], [1, 0, 9]);
        let ordered = |a: &[u64], b: &[u64]| (distances(a, b).1 * 1e6).round() / 1e6;
        assert_eq!((ordered(&q, &p), ordered(&q, &r), ordered(&p, &r)), (0.05, 0.2, 0.15));
    }

    #[test]
    fn dealing_is_never_worse_than_chance() {
        for frequencies in [vec![167, 153, 127, 103, 91, 89], vec![500, 30, 20, 3, 1], vec![60; 10]] {
            for seed in 0..5 {
                for k in 2..22 {
                    let rows = rows(&frequencies, k, seed);
                    for other in &rows[1..] {
                        let what = format!("k = {k}, {}, {frequencies:?}", other.made.name());
                        assert!(rows[0].equal.1 <= other.equal.1 + 1e-3, "mean, {what}");
                        assert!(rows[0].ordered.1 <= other.ordered.1 + 1e-3, "mean in order, {what}");
                        assert!(rows[0].diversity >= other.diversity, "diversity, {what}");
                    }
                }
            }
        }
    }

    #[test]
    fn disturbed_classes_differ_by_as_much_as_they_may() {
        let frequencies = [167, 153, 127, 103, 91, 89];
        for most in [2, 3] {
            let classes = classes(&frequencies, 9, Made::Differing(most), &mut Random::new(1));
            let differ = (0..6).map(|v| {
                let of_class = || classes.iter().map(|class| class[v]);
                of_class().max().expect("a class") - of_class().min().expect("a class")
            });
            assert_eq!(differ.max(), Some(most));
            assert_eq!((0..6).map(|v| classes.iter().map(|class| class[v]).sum()).collect::<Vec<u64>>(), frequencies);
        }
    }
}
