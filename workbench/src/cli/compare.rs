//! `incrowd compare`: what each method would make of the table, side by side.

use std::path::PathBuf;

use incrowd::utility::preview::Utility;
use incrowd::wire;
use incrowd::{Measure, Result};

use super::arguments::{BesideK, ProjectArgs, parse_time};
use super::compare_utility::{self, TextTable, change, target};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::input::project::check_not_among;
use crate::orders::compare::{Compare, Compared, Weighing};
use crate::orders::contenders::{Contender, ContenderResult, N_QUERIES, Weighed};
use crate::orders::known::Known;
use crate::orders::request::{GivenRequest, Suppression};
use crate::output::chart::{Bar, Chart, Line, N_TICKS, Point, bars, svg};
use crate::output::page::{self, escape};
use crate::output::staged::{check_picture, write_whole};
use crate::sentences::{self, grouped};
use crate::words::documents;

/// See what every method would lose, reveal and cost
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Loss is NCP, from 0 (exact) to 1 (all hidden), weighted by the attributes' weights. The query error is the relative \
error of counting records in the release instead of the table, as if the records of a group were spread evenly over its \
ranges: the median and the 90th percentile of 1,000 random queries for each selectivity (1 %, 5 %, 10 %) and number of \
attributes (1, 2, 3). CPU seconds and memory are those of the whole process while the method runs, counting left out.

--queries FILE asks the analyst's own queries too, one per line:
  age in 30..39 and sex = Female
  education in Bachelors | Masters          # values, or labels of the hierarchy
  age >= 60 and native-country = \"United-States\"

Examples:
  incrowd compare --k 10
  incrowd compare --k 10 --t 0.2                      every local method keeps every criterion; dealt groups keep k
  incrowd compare --k 2,5,10 --l 3 --methods global:ncp,top-down,bottom-up
  incrowd compare -o methods.html                     charts over k = 2, 5, 10, 25, 50, 100
  incrowd compare --k 10 --target income              how well income is predicted and explained from each release
  incrowd compare --k 10 --vary-weight age            what more weight of one attribute does to the others
  incrowd compare --k 10 --queries questions.txt --csv > methods.csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Records alike, one value or several [default: the project's; 2,5,10,25,50,100 with --output]
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub k: Vec<u64>,
    #[command(flatten)]
    pub beside: BesideK,
    /// Only these methods: global:QUALITY, top-down, bottom-up, mondrian, mondrian-relaxed, negotiated, cells, deal; or per-record:60%,
    /// which gives every record the least risk with 60 % of its utility and keeps no k
    /// [default: global:height, global:ncp and all local ones]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub methods: Option<Vec<String>>,
    /// Most records that may be lost: a number, or a share [default: the project's, or 0]
    #[arg(long, value_name = "N|P%", allow_hyphen_values = true)]
    pub max_suppressed: Option<String>,
    /// Queries of the analyst's own, one per line
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Random queries for each selectivity and number of attributes
    #[arg(long, value_name = "N", default_value_t = N_QUERIES as u32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub n_queries: u32,
    /// Where random queries, and random choices of methods, come from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// How long local methods improve their groups, each of them, such as 2s or 1m [default: not at all]
    #[arg(long, value_name = "TIME")]
    pub time: Option<String>,
    /// By how many steps local methods improve their groups at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub steps: Option<u64>,
    /// Raise the weight of this attribute from 1 to 32, with the first local method and the first k
    #[arg(long, value_name = "ATTRIBUTE")]
    pub vary_weight: Option<String>,
    /// The column that analysts want to predict or explain: any that is published
    #[arg(long, value_name = "ATTRIBUTE")]
    pub target: Option<String>,
    /// Print the rows as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Write a page with charts over k, .html
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let project = args.project.open()?;
    if let Some(path) = &args.output {
        check_picture(path, &["html"], args.force)?;
        project.check_output(path)?;
        check_not_among(path, args.queries.as_slice())?;
    }
    let max_suppressed = args.max_suppressed.as_deref().map(Suppression::parse).transpose()?;
    let order = Compare {
        about: args.project.about(),
        request: GivenRequest { max_suppressed, ..GivenRequest::of_criteria(args.beside.texts()) },
        ks: args.k.clone(),
        is_chart: args.output.is_some(),
        contenders: contenders(args)?,
        queries: args.queries.clone(),
        n_queries: args.n_queries as usize,
        seed: args.seed,
        vary_weight: args.vary_weight.clone(),
        n_steps: args.steps,
        time: args.time.as_deref().map(parse_time).transpose()?,
        target: args.target.clone(),
    };
    let compared = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    let view = ShownComparison { args, compared: &compared };
    if let Some(path) = &args.output {
        write_whole(path, view.page().as_bytes(), args.force)?;
    }
    if terminal.is_json {
        terminal.json(&documents::compared(&compared));
    } else if args.csv {
        let (header, rows) = view.all_columns();
        terminal.say(csv(&header, &rows).trim_end());
    } else {
        view.say(terminal);
    }
    Ok(Exit::Done)
}

fn contenders(args: &Args) -> Result<Option<Vec<Contender>>> {
    let Some(names) = &args.methods else {
        return Ok(None);
    };
    let mut contenders = Vec::new();
    for name in names {
        let contender = Contender::parse(name.trim())?;
        if !contenders.contains(&contender) {
            contenders.push(contender);
        }
    }
    Ok(Some(contenders))
}

/// The rows, to be shown in one way or another.
struct ShownComparison<'a> {
    args: &'a Args,
    compared: &'a Compared,
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

impl ShownComparison<'_> {
    fn ks(&self) -> Vec<u64> {
        let mut ks: Vec<u64> = self.compared.rows.iter().map(ContenderResult::k).collect();
        ks.dedup();
        ks
    }

    fn at(&self, k: u64) -> impl Iterator<Item = &ContenderResult> + Clone {
        self.compared.rows.iter().filter(move |row| row.k() == k)
    }

    fn attribute_names(&self) -> Vec<String> {
        self.compared.counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect()
    }

    /// What is reached, by name.
    fn reached(&self, row: &ContenderResult) -> Vec<(String, String)> {
        let text = |(measure, value): (Measure, Option<u64>)| {
            let name = wire::key(measure, &self.compared.privacy.sensitive);
            (name, value.map_or("–".to_string(), |value| sentences::number_in_words(measure, value)))
        };
        row.reached(&self.compared.counted).into_iter().map(text).collect()
    }

    /// The columns that people look at first.
    fn main_columns(&self, k: u64) -> (Vec<String>, Vec<Vec<String>>) {
        let mut header = texts(&["method", "NCP", "query error", "90 %"]);
        if self.compared.has_own_queries {
            header.extend(texts(&["own queries", "90 %"]));
        }
        header.extend(texts(&["discernibility", "group size", "suppressed"]));
        let reached = self.compared.rows.first().map_or(Vec::new(), |row| self.reached(row));
        header.extend(reached.into_iter().map(|(name, _)| name));
        header.extend(texts(&["CPU s", "peak MB"]));
        let percent = |error: f64| format!("{:.1} %", error * 100.0);
        let row = |row: &ContenderResult| {
            let judgement = &row.judgement;
            let mark = match (row.holds, row.contender.promises_k()) {
                (true, _) => "",
                (false, true) => " (broken)",
                (false, false) => " (not k-anonymous)",
            };
            let mut cells = vec![format!("{}{mark}", row.contender.name()), format!("{:.4}", judgement.ncp)];
            cells.extend([percent(row.error.0), percent(row.error.1)]);
            if let Some((median, percentile_90, _)) = &row.own_error {
                cells.extend([percent(*median), percent(*percentile_90)]);
            }
            cells.push(grouped(u64::try_from(judgement.discernibility).unwrap_or(u64::MAX)));
            cells.push(format!("{:.1}", judgement.mean_group_size));
            cells.push(grouped(judgement.n_suppressed));
            cells.extend(self.reached(row).into_iter().map(|(_, value)| value));
            cells.push(row.cost.cpu_seconds.map_or("–".to_string(), |seconds| format!("{seconds:.2}")));
            cells.push(row.cost.peak_bytes.map_or("–".to_string(), |bytes| grouped(bytes / 1_000_000)));
            cells
        };
        (header, self.at(k).map(row).collect())
    }

    fn attribute_columns(&self, k: u64) -> (Vec<String>, Vec<Vec<String>>) {
        let header = [texts(&["NCP of"]), self.attribute_names()].concat();
        let row = |row: &ContenderResult| {
            let ncp = row.judgement.ncp_of_attribute.iter().map(|ncp| format!("{ncp:.4}"));
            std::iter::once(row.contender.name()).chain(ncp).collect()
        };
        (header, self.at(k).map(row).collect())
    }

    fn weight_columns(&self, weighing: &Weighing) -> (Vec<String>, Vec<Vec<String>>) {
        let name = &self.attribute_names()[weighing.attribute];
        let header = vec![
            format!("weight of {name}"),
            format!("NCP of {name}"),
            "NCP of others".to_string(),
            format!("query error of {name}"),
            "of others".to_string(),
        ];
        let row = |step: &Weighed| {
            vec![
                step.weight.to_string(),
                format!("{:.4}", step.ncp),
                format!("{:.4}", step.ncp_of_others),
                format!("{:.1} %", step.error * 100.0),
                format!("{:.1} %", step.error_of_others * 100.0),
            ]
        };
        (header, weighing.steps.iter().map(row).collect())
    }

    fn say(&self, terminal: &Terminal) {
        let laid_out = |(header, rows): (Vec<String>, Vec<Vec<String>>)| {
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            columns(&header, &rows, &[0])
        };
        for k in self.ks() {
            terminal.say(format!("k = {k}{}\n", self.others_in_words()));
            terminal.say(laid_out(self.main_columns(k)));
            terminal.say("");
            terminal.say(laid_out(self.attribute_columns(k)));
            terminal.say("");
            if let Some(columns) = compare_utility::columns(self.at(k)) {
                terminal.say(laid_out(columns));
                terminal.say("");
            }
        }
        if let Some(weighing) = &self.compared.weighed {
            terminal.say(format!(
                "{} at k = {}, every other attribute weighing 1\n",
                weighing.method.name(),
                weighing.k
            ));
            terminal.say(laid_out(self.weight_columns(weighing)));
            terminal.say("");
        }
        if self.compared.rows.iter().any(|row| row.choice != "exact") {
            terminal.say("  Where no scheme meets the request, the one that loses the fewest records is shown.");
        }
        if self.compared.rows.iter().any(|row| !row.contender.promises_k()) {
            terminal
                .say("  Records one by one keep no k, whatever is asked for; `incrowd map` compares risk and utility.");
        }
        if self.compared.rows.iter().any(|row| !row.holds && row.contender.promises_k()) {
            terminal.say("  (broken): a criterion that the method does not keep by construction does not hold; it would not be published.");
        }
        if let Some(path) = &self.args.output {
            terminal.say(format!("  charts  {}", path.display()));
        }
    }

    fn others_in_words(&self) -> String {
        let others = self.compared.privacy.criteria.iter();
        others
            .map(|criterion| {
                format!(", {}", sentences::criterion_in_words(criterion, &self.compared.privacy.sensitive))
            })
            .collect()
    }

    /// Everything, for machines: one row per k and method.
    fn all_columns(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let names = self.attribute_names();
        let mut header = texts(&["k", "method", "holds", "ncp"]);
        header.extend(names.iter().map(|name| format!("ncp:{name}")));
        header.extend(texts(&["query_error_median", "query_error_p90"]));
        if self.compared.has_own_queries {
            header.extend(texts(&["own_query_error_median", "own_query_error_p90"]));
        }
        header.extend(compare_utility::machine_header(self.compared));
        header.extend(texts(&["discernibility", "group_size", "n_groups", "n_suppressed"]));
        let reached = self.compared.rows.first().map_or(Vec::new(), |row| self.reached(row));
        header.extend(reached.into_iter().map(|(name, _)| format!("reached:{name}")));
        header.extend(texts(&["risk_highest", "risk_average", "cpu_seconds", "seconds", "peak_bytes", "levels"]));
        let row = |row: &ContenderResult| {
            let judgement = &row.judgement;
            let decimals = |value: f64| format!("{value:.6}");
            let mut cells = vec![row.k().to_string(), row.contender.name(), row.holds.to_string()];
            cells.push(decimals(judgement.ncp));
            cells.extend(judgement.ncp_of_attribute.iter().map(|ncp| decimals(*ncp)));
            cells.extend([decimals(row.error.0), decimals(row.error.1)]);
            if let Some((median, percentile_90, _)) = &row.own_error {
                cells.extend([decimals(*median), decimals(*percentile_90)]);
            }
            cells.extend(compare_utility::machine_cells(row));
            cells.extend([judgement.discernibility.to_string(), decimals(judgement.mean_group_size)]);
            cells.extend([judgement.n_groups.to_string(), judgement.n_suppressed.to_string()]);
            cells.extend(self.reached(row).into_iter().map(|(_, value)| value.replace([',', '–'], "")));
            let (highest, average) = row.risk(&self.compared.counted).unzip();
            cells.extend([highest, average].map(|risk| risk.map_or(String::new(), decimals)));
            cells.extend([row.cost.cpu_seconds.map_or(String::new(), decimals), decimals(row.cost.seconds)]);
            cells.push(row.cost.peak_bytes.map_or(String::new(), |bytes| bytes.to_string()));
            cells.push(row.scheme.as_ref().map_or(String::new(), |(scheme, _)| scheme.to_string()));
            cells
        };
        (header, self.compared.rows.iter().map(row).collect())
    }

    /// A line per method over k.
    fn chart(
        &self,
        title: &str,
        y_name: &str,
        y_label: fn(f64) -> String,
        y: impl Fn(&ContenderResult) -> f64,
    ) -> String {
        self.chart_with(title, y_name, y_label, y, &[])
    }

    /// The same with lines that are as high everywhere.
    fn chart_with(
        &self,
        title: &str,
        y_name: &str,
        y_label: fn(f64) -> String,
        y: impl Fn(&ContenderResult) -> f64,
        fixed: &[(&str, f64)],
    ) -> String {
        let mut contenders: Vec<Contender> = Vec::new();
        for row in &self.compared.rows {
            if !contenders.contains(&row.contender) {
                contenders.push(row.contender);
            }
        }
        let point = |row: &ContenderResult| Point {
            x: row.k() as f64,
            y: y(row),
            title: format!("{}, k = {}: {}", row.contender.name(), row.k(), precise(y_label, y(row))),
        };
        let line = |contender: &Contender| Line {
            name: contender.name(),
            points: self.compared.rows.iter().filter(|row| row.contender == *contender).map(point).collect(),
        };
        let ks = self.ks();
        let fixed_line = |&(name, y): &(&str, f64)| Line {
            name: name.to_string(),
            points: ks.iter().map(|&k| Point { x: k as f64, y, title: format!("{name}: {}", y_label(y)) }).collect(),
        };
        let y_max = self.compared.rows.iter().map(&y).chain(fixed.iter().map(|(_, y)| *y)).fold(0.0, f64::max);
        // Lines need two points.
        if ks.len() == 1 {
            let bar = |name: String, y: f64| Bar { name, value: y, label: precise(y_label, y) };
            let of_rows = self.compared.rows.iter().map(|row| bar(row.contender.name(), y(row)));
            let fixed = fixed.iter().map(|&(name, y)| bar(name.to_string(), y));
            return bars(title, round_up(y_max), &of_rows.chain(fixed).collect::<Vec<_>>());
        }
        svg(&Chart {
            title: title.to_string(),
            x_name: "k: records alike".to_string(),
            y_name: y_name.to_string(),
            x_max: self.compared.rows.iter().map(ContenderResult::k).max().unwrap_or(1) as f64,
            y_max: round_up(y_max),
            x_label: Box::new(|x| format!("{x:.0}")),
            n_x_ticks: N_TICKS,
            y_label,
            is_stepped: false,
            dots: Vec::new(),
            lines: contenders.iter().map(line).chain(fixed.iter().map(fixed_line)).collect(),
        })
    }

    fn weight_chart(&self, weighing: &Weighing) -> String {
        let name = &self.attribute_names()[weighing.attribute];
        let line = |what: String, y: &dyn Fn(&Weighed) -> f64| Line {
            points: weighing
                .steps
                .iter()
                .map(|step| Point {
                    // Weights double from step to step.
                    x: step.weight.log2(),
                    y: y(step),
                    title: format!("weight {}: {what} {:.4}", step.weight, y(step)),
                })
                .collect(),
            name: what,
        };
        let lines = vec![
            line(format!("NCP of {name}"), &|step| step.ncp),
            line("NCP of others".to_string(), &|step| step.ncp_of_others),
            line(format!("error of {name}"), &|step| step.error),
            line("error of others".to_string(), &|step| step.error_of_others),
        ];
        let points = || lines.iter().flat_map(|line| &line.points);
        svg(&Chart {
            title: format!("What more weight of {name} does"),
            x_name: format!("weight of {name}"),
            y_name: "NCP, median query error".to_string(),
            x_max: points().map(|point| point.x).fold(1.0, f64::max),
            y_max: round_up(points().map(|point| point.y).fold(0.0, f64::max)),
            x_label: Box::new(|x| format!("{:.0}", x.exp2())),
            n_x_ticks: N_TICKS,
            y_label: two_decimals,
            is_stepped: false,
            dots: Vec::new(),
            lines,
        })
    }

    /// Charts of what analysts look at.
    fn utility_figures(&self, figure: &dyn Fn(&str, &str, String) -> String) -> String {
        if self.compared.rows.iter().any(|row| row.utility.is_none()) {
            return String::new();
        }
        let of = |row: &ContenderResult, y: fn(&Utility) -> f64| row.utility.as_ref().map_or(0.0, y);
        let mut body = figure(
            "Distributions",
            "Total variation distance of each attribute’s distribution to the source’s, the mean over attributes: 0 where \
             nothing changes. Cells are read as their records spread evenly over the values that may be behind them.",
            self.chart("Distributions by k", "mean distance", two_decimals, |row| of(row, Utility::mean_distance)),
        );
        body += &figure(
            "Associations",
            "The largest change of any pair’s association: correlation of numbers, Cramér’s V of categories, correlation \
             ratio of both.",
            self.chart("Associations by k", "largest change", two_decimals, |row| of(row, change)),
        );
        let Some(first) = self.compared.rows.first().and_then(target) else { return body };
        let overlap = |row: &ContenderResult| target(row).map_or(0.0, |target| target.regression.overlap);
        body += &figure(
            "A regression",
            &format!(
                "Overlap of the confidence intervals of coefficients with the source’s, the mean over coefficients: {}.",
                escape(&compare_utility::model_in_words(first))
            ),
            self.chart("Overlap of intervals by k", "mean overlap", whole_percent, overlap),
        );
        let accuracy = |row: &ContenderResult| target(row).map_or(0.0, |target| target.accuracy.after);
        let fixed = [("source", first.accuracy.before), ("most frequent", first.accuracy.baseline)];
        body += &figure(
            "A classifier",
            &format!(
                "How often naive Bayes, learnt from the release, tells which of {} classes of {} a record of the source has \
                 that it has not learnt from; beside it, learnt from the source, and saying always what is most frequent.",
                first.accuracy.n_classes,
                escape(&first.attribute)
            ),
            self.chart_with("Accuracy by k", "accuracy", whole_percent, accuracy, &fixed),
        );
        body
    }

    fn page(&self) -> String {
        let figure = |title: &str, note: &str, chart: String| {
            format!(
                "<section>\n<h2>{title}</h2>\n<p class=\"note\">{note}</p>\n<figure style=\"margin: 0\">\n{chart}</figure>\n</section>\n"
            )
        };
        let mut body = format!(
            "<header>\n<p class=\"eyebrow\">Methods, side by side</p>\n<h1>What each method makes of the table</h1>\n\
             <p>{} records, {} quasi-identifiers{}. Schemes and local methods may suppress {} records, dealing none. \
             {}</p>\n</header>\n",
            grouped(self.compared.counted.counts.n_records()),
            self.compared.counted.hierarchies.len(),
            escape(&self.others_in_words()),
            grouped(self.compared.n_suppressed_max),
            match self.ks()[..] {
                [k] => format!("k = {k}."),
                _ => "Point at a dot for its number.".to_string(),
            },
        );
        body += &figure(
            "Loss",
            "NCP, from 0 (exact) to 1 (all hidden), weighted by the attributes’ weights.",
            self.chart("Loss by k", "NCP", two_decimals, |row| row.judgement.ncp),
        );
        body += &figure(
            "Query error",
            "Median relative error of random count queries about one to three attributes that find about 1, 5 and 10 % \
             of the records, answered from the release as if the records of a group were spread evenly over its ranges.",
            self.chart("Query error by k", "median relative error", whole_percent, |row| row.error.0),
        );
        body += &self.utility_figures(&figure);
        body += &figure(
            "Size of groups",
            "Records per group.",
            self.chart("Records per group by k", "records per group", whole, |row| row.judgement.mean_group_size),
        );
        // Not every system tells.
        if self.compared.rows.iter().all(|row| row.cost.cpu_seconds.is_some()) {
            body += &figure(
                "Processor time",
                "Of all processors, counting left out; of a scheme with what it takes to annotate the lattice.",
                self.chart("Processor seconds by k", "seconds", two_decimals, |row| {
                    row.cost.cpu_seconds.unwrap_or(0.0)
                }),
            );
        }
        if let Some(weighing) = &self.compared.weighed {
            let name = &self.attribute_names()[weighing.attribute];
            let note = format!(
                "{} at k = {}: the loss moves from the attribute that matters to those that do not. Errors are those of \
                 queries about a single attribute.",
                weighing.method.name(),
                weighing.k
            );
            let (header, rows) = self.weight_columns(weighing);
            let chart = self.weight_chart(weighing) + &page::table(&header, &rows);
            body += &figure(&format!("More weight for {}", escape(name)), &note, chart);
        }
        for k in self.ks() {
            let (header, rows) = self.main_columns(k);
            body += &format!(
                "<section class=\"wide\">\n<h2>k = {k}</h2>\n<div style=\"overflow-x: auto\">\n{}",
                page::table(&header, &rows)
            );
            let (header, rows) = self.attribute_columns(k);
            body += &page::table(&header, &rows);
            let tables = [
                compare_utility::columns(self.at(k)),
                compare_utility::distances(self.at(k)),
                compare_utility::coefficients(self.at(k)),
            ];
            tables.iter().flatten().for_each(|(header, rows): &TextTable| body += &page::table(header, rows));
            body += "</div>\n</section>\n";
        }
        page::document("What each method makes of the table", &body)
    }
}

fn whole(y: f64) -> String {
    format!("{y:.0}")
}

fn two_decimals(y: f64) -> String {
    format!("{y:.2}")
}

fn whole_percent(y: f64) -> String {
    format!("{:.0} %", y * 100.0)
}

/// A value as it is written beside its point, with two digits more than along the axis.
fn precise(axis_label: fn(f64) -> String, y: f64) -> String {
    match axis_label(1.0).as_str() {
        "1" => format!("{y:.1}"),
        "1.00" => format!("{y:.4}"),
        _ => format!("{:.1} %", y * 100.0),
    }
}

/// The next number of one digit and zeros, so that the marks of an axis are short.
fn round_up(y: f64) -> f64 {
    if y <= 0.0 {
        return 1.0;
    }
    let ten = 10f64.powf(y.log10().floor());
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0]
        .into_iter()
        .map(|step| step * ten)
        .find(|round| *round >= y)
        .unwrap_or(10.0 * ten)
}
