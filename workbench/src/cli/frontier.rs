//! `incrowd frontier`: every bargain that makes sense, so that people see what can be had for what.

use std::path::{Path, PathBuf};

use incrowd::criterion::MILLION;
use incrowd::search::frontier::Bargain;
use incrowd::wire;
use incrowd::{Criterion, Lattice, Measure, Ranking, Result};

use super::arguments::{CriteriaArgs, ExtentArgs, ProjectArgs, levels};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::orders::extent::Otherwise;
use crate::orders::frontier::{Bargains, Frontier};
use crate::orders::known::Known;
use crate::orders::request::Suppression;
use crate::output::chart::{Chart, Line, N_TICKS, Point, svg};
use crate::output::page::{self, escape};
use crate::output::staged::{check_picture, write_whole};
use crate::sentences::{self, counted_words, grouped, percent};
use crate::words::documents;

/// See every bargain that no other beats on privacy, records lost and loss together
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
One criterion is varied, k unless --over names another; the others hold throughout. A value given for the varied one is \
the least that is looked at. The table says the least loss that can be had for a value and a share of records lost.

Examples:
  incrowd frontier                                    k against records lost and NCP
  incrowd frontier --l 3 --list                       every bargain with at least 3 sensitive values
  incrowd frontier --over t --k 10 -o frontier.html   t against records lost, with at least 10 records alike
  incrowd frontier --local                            the same with ranges of their own for every group
  incrowd frontier --best-by group-size --max-suppressed 5% --csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub criteria: CriteriaArgs,
    /// The criterion that is varied, by its name in JSON: k, l, t, entropy_l, income:t …
    #[arg(long, value_name = "CRITERION", default_value = "k")]
    pub over: String,
    /// What loss means: height, ncp, discernibility, group-size, precision, entropy, or a mix such as ncp=2,precision=1
    #[arg(long, value_name = "QUALITY", default_value = "ncp")]
    pub best_by: String,
    /// Most records that may be lost: a number, or a share [default: 10%; with --local 0]
    #[arg(long, value_name = "N|P%")]
    pub max_suppressed: Option<String>,
    /// Coarsest level of each attribute, by number or name
    #[arg(long, value_name = "A=LEVEL,…", value_delimiter = ',')]
    pub max_level: Option<Vec<String>>,
    /// Over ranges of their own for every group, instead of one level for all: cuts of one tree of groups
    #[arg(long, conflicts_with_all = ["output", "full", "partial", "on_demand"])]
    pub local: bool,
    /// With --local, the most that records may lose on average: 10% in all, age=5% of an attribute; may be given several times
    #[arg(long, value_name = "P%|A=P%", value_delimiter = ',', requires = "local")]
    pub max_loss: Vec<String>,
    /// Answer from a lattice that annotate -o has written, without counting
    #[arg(long, value_name = "FILE", conflicts_with_all = ["full", "partial", "on_demand"])]
    pub lattice: Option<PathBuf>,
    /// List every bargain
    #[arg(long)]
    pub list: bool,
    /// Print the list as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Write a chart: .html with the table, or .svg alone
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub extent: ExtentArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let max_suppressed = args.max_suppressed.as_deref().unwrap_or("10%");
    let project = args.project.open()?;
    if let Some(path) = &args.output {
        check_picture(path, &["html", "svg"], args.force)?;
        project.check_output(path)?;
    }
    args.extent.check(Otherwise::Partial)?;
    let order = Frontier {
        about: args.project.about(),
        criteria: args.criteria.texts(),
        over: args.over.clone(),
        ranking: Ranking::parse(&args.best_by)?,
        max_suppressed: Suppression::parse(max_suppressed)?,
        max_level: levels(args.max_level.as_deref().unwrap_or_default())?,
        lattice: args.lattice.clone(),
        extent: args.extent.wish()?,
    };
    let found = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    let Bargains { lattice, measure, ranking, bargains, .. } = &found;
    let view = ShownBargains { lattice, measure: *measure, ranking, bargains };
    if let Some(path) = &args.output {
        view.write(path, args.force)?;
    }
    if terminal.is_json {
        terminal.json(&documents::frontier(&found));
        return Ok(Exit::Done);
    }
    if args.csv {
        terminal.say(view.csv().trim_end());
        return Ok(Exit::Done);
    }
    view.say(args.list, max_suppressed, terminal);
    if let Some(path) = &args.output {
        terminal.say(format!("\n  chart  {}", path.display()));
    }
    Ok(Exit::Done)
}

/// The bargains, to be shown in one way or another.
struct ShownBargains<'a> {
    pub lattice: &'a Lattice,
    pub measure: Measure,
    pub ranking: &'a Ranking,
    /// The most private first.
    bargains: &'a [Bargain],
}

/// Shares of records lost that the table shows.
const SHARES: [f64; 7] = [0.0, 0.001, 0.005, 0.01, 0.02, 0.05, 0.1];

impl ShownBargains<'_> {
    fn name(&self) -> String {
        wire::key(self.measure, &wire::sensitive_names(self.lattice))
    }

    /// Round values of the varied criterion, from little privacy to much, as far as there are bargains.
    fn values(&self) -> Vec<u64> {
        let rounds: Vec<u64> = match self.measure {
            measure if measure.is_count() => vec![2, 3, 5, 10, 20, 50, 100, 200, 500, 1000],
            Measure::Entropy(_) => [1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0].map(millionths).to_vec(),
            Measure::Closeness(_) | Measure::Share(_) => {
                [0.9, 0.7, 0.5, 0.4, 0.3, 0.25, 0.2, 0.15, 0.1, 0.05].map(millionths).to_vec()
            }
            _ => [100.0, 50.0, 20.0, 10.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.2].map(millionths).to_vec(),
        };
        let is_reached = |value: &u64| self.bargains.iter().any(|bargain| self.is_as_private(bargain, *value));
        let is_looked_at = |value: &u64| {
            let weakest = self.bargains.last().map(|bargain| bargain.value);
            weakest.is_some_and(|weakest| {
                Criterion { measure: self.measure, value: weakest }.holds(*value) || self.measure.is_count()
            })
        };
        rounds.into_iter().filter(is_reached).filter(is_looked_at).collect()
    }

    fn is_as_private(&self, bargain: &Bargain, value: u64) -> bool {
        Criterion { measure: self.measure, value }.holds(bargain.value)
    }

    /// The bargains at a value that lose more records only where they lose less otherwise, by records lost.
    fn at(&self, value: u64) -> Vec<&Bargain> {
        let mut private: Vec<&Bargain> =
            self.bargains.iter().filter(|bargain| self.is_as_private(bargain, value)).collect();
        private.sort_by(|a, b| a.n_suppressed.cmp(&b.n_suppressed).then(a.loss.total_cmp(&b.loss)));
        let mut least = f64::INFINITY;
        private.retain(|bargain| {
            let is_less = bargain.loss < least;
            least = least.min(bargain.loss);
            is_less
        });
        private
    }

    fn say(&self, is_list: bool, max_suppressed: &str, terminal: &Terminal) {
        let (lattice, name, quality) = (self.lattice, self.name(), self.ranking.name());
        terminal.say(format!(
            "{} that no other beats on {name}, records lost (at most {max_suppressed}) and {quality}, \
             of {}\n",
            counted_words(self.bargains.len() as u64, "bargain"),
            sentences::schemes_in_words(lattice)
        ));
        if self.bargains.is_empty() {
            return terminal.say("  Nothing can be published within this request.");
        }
        if is_list {
            let (header, rows) = self.rows();
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            return terminal.say(columns(&header, &rows, &[]));
        }
        let shown: Vec<f64> = SHARES.into_iter().filter(|share| self.n_lost(*share) <= self.n_lost_most()).collect();
        let header: Vec<String> = std::iter::once(name.clone())
            .chain(shown.iter().map(|share| format!("≤ {} lost", percent_of(*share))))
            .collect();
        let row = |value: &u64| {
            let at = self.at(*value);
            let least = |share: &f64| {
                let fitting = at.iter().rev().find(|bargain| bargain.n_suppressed <= self.n_lost(*share));
                fitting.map_or("–".to_string(), |bargain| format!("{:.3}", bargain.loss))
            };
            let value = sentences::number_in_words(self.measure, *value);
            std::iter::once(value).chain(shown.iter().map(least)).collect::<Vec<String>>()
        };
        let rows: Vec<Vec<String>> = self.values().iter().map(row).collect();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        terminal.say(columns(&header, &rows, &[]));
        terminal
            .say(format!("\n  The least {quality} loss, from 0 (exact) to 1 (all hidden). --list shows the schemes."));
    }

    fn n_lost(&self, share: f64) -> u64 {
        (self.lattice.n_records() as f64 * share + 1e-9) as u64
    }

    fn n_lost_most(&self) -> u64 {
        let most = self.bargains.iter().map(|bargain| bargain.n_suppressed).max().unwrap_or(0);
        // Up to the first share that covers all.
        SHARES.into_iter().map(|share| self.n_lost(share)).find(|n| *n >= most).unwrap_or(most)
    }

    fn rows(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let mut header = vec![self.name(), "suppressed".to_string(), "loss".to_string(), "groups".to_string()];
        header.extend(self.lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()));
        let row = |bargain: &Bargain| {
            let mut row = vec![
                sentences::number_in_words(self.measure, bargain.value).replace(',', ""),
                bargain.n_suppressed.to_string(),
                format!("{:.6}", bargain.loss),
                bargain.n_groups.to_string(),
            ];
            row.extend(self.lattice.schemes().vector(bargain.place).iter().map(u8::to_string));
            row
        };
        (header, self.bargains.iter().map(row).collect())
    }

    fn csv(&self) -> String {
        let (header, rows) = self.rows();
        csv(&header, &rows)
    }

    fn chart(&self) -> Chart {
        let n_records = self.lattice.n_records();
        let point = |bargain: &&Bargain| Point {
            x: bargain.n_suppressed as f64 / n_records.max(1) as f64,
            y: bargain.loss,
            title: format!(
                "{} = {}: {} lost, loss {:.3}, levels {}",
                self.name(),
                sentences::number_in_words(self.measure, bargain.value),
                percent(bargain.n_suppressed, n_records),
                bargain.loss,
                self.lattice.schemes().scheme(bargain.place)
            ),
        };
        let line = |value: &u64| Line {
            name: format!("{} = {}", self.name(), sentences::number_in_words(self.measure, *value)),
            points: self.at(*value).iter().map(point).collect(),
        };
        // More lines than colours would be no picture.
        let mut values = self.values();
        while values.len() > 8 {
            values.remove(values.len() / 2);
        }
        let lines: Vec<Line> = values.iter().map(line).collect();
        let points = || lines.iter().flat_map(|line| &line.points);
        let x_max = points().map(|point| point.x).fold(0.0, f64::max);
        let y_max = points().map(|point| point.y).fold(0.0, f64::max);
        Chart {
            title: format!("What {} costs in records lost and loss", self.name()),
            x_name: "records lost".to_string(),
            y_name: format!("loss ({})", self.ranking.name()),
            // The next round share, so that the marks are round too.
            x_max: [0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|x| *x >= x_max).unwrap_or(1.0),
            y_max: ((y_max * 10.0).ceil() / 10.0).clamp(0.1, 1.0),
            x_label: Box::new(percent_of),
            n_x_ticks: N_TICKS,
            y_label: |y| format!("{y:.2}"),
            is_stepped: true,
            dots: Vec::new(),
            lines,
        }
    }

    fn write(&self, path: &Path, replace: bool) -> Result<()> {
        let chart = svg(&self.chart());
        let text = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => chart,
            _ => self.page(&chart),
        };
        write_whole(path, text.as_bytes(), replace)
    }

    fn page(&self, chart: &str) -> String {
        let (header, rows) = self.rows();
        let title = "Every bargain that makes sense";
        page::document(
            title,
            &format!(
                "<header>\n<p class=\"eyebrow\">Privacy, records and detail</p>\n<h1>{title}</h1>\n\
                 <p>{} schemes of {} records; {} that no other beats on {}, records lost and {} together. Each line \
                 shows the least loss that can be had at a value, for a share of records lost; point at a dot for its \
                 scheme.</p>\n</header>\n<figure style=\"margin: 0\">\n{chart}</figure>\n<section>\n<h2>The \
                 bargains</h2>\n<p class=\"note\">Loss from 0 (exact) to 1 (all hidden), suppressed records counting as \
                 hidden; the level of each attribute from 0 (exact) on.</p>\n{}</section>\n",
                grouped(self.lattice.schemes().len() as u64),
                grouped(self.lattice.n_records()),
                counted_words(self.bargains.len() as u64, "bargain"),
                escape(&self.name()),
                escape(&self.ranking.name()),
                page::table(&header, &rows),
            ),
        )
    }
}

fn millionths(value: f64) -> u64 {
    (value * MILLION as f64).round() as u64
}

fn percent_of(share: f64) -> String {
    let percent = format!("{:.2}", share * 100.0);
    format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
}
