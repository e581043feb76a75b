//! `incrowd compare`: what each method would make of the table, side by side.

use std::path::PathBuf;

use crate::sentences;
use crate::sentences::grouped;
use incrowd::query::{Query, parse_queries};
use incrowd::recode::method::Method;
use incrowd::search::negotiate::check_criteria;
use incrowd::wire;
use incrowd::{Criteria, Criterion, Error, ErrorKind, Measure, Quality, Ranking, Result};
use serde_json::{Value, json};

use super::arguments::{CriteriaArgs, ProjectArgs};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::input::count::{Counted, count};
use crate::input::project::{Project, check_not_among};
use crate::note::Note;
use crate::orders::contenders::{Ask, Contender, N_QUERIES, Questions, Row, Weighed, measured, run as run_all, weigh};
use crate::orders::lattice::annotate;
use crate::orders::local::{Local, guaranteed, note_flat};
use crate::orders::per_record::check_memory;
use crate::orders::wishes::{Privacy, Suppression, Wishes, attribute_index};
use crate::output::chart::{Chart, Line, N_TICKS, Point, svg};
use crate::output::page::{self, escape};
use crate::output::staged::{check_picture, write_whole};
use crate::work::{Unit, Work};

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
  incrowd compare --k 2,5,10 --l 3 --methods global:ncp,top-down,bottom-up
  incrowd compare -o methods.html                     charts over k = 2, 5, 10, 25, 50, 100
  incrowd compare --k 10 --vary-weight age            what more weight of one attribute does to the others
  incrowd compare --k 10 --queries questions.txt --csv > methods.csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Records alike, one value or several [default: the project's; 2,5,10,25,50,100 with --output]
    #[arg(long, value_name = "K,…", value_delimiter = ',')]
    pub k: Vec<u64>,
    /// Distinct l-diversity, kept by every method
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub l: Vec<String>,
    /// Only these methods: global:QUALITY, top-down, bottom-up, mondrian, mondrian-relaxed, deal; or per-record:60%, which
    /// gives every record the least risk with 60 % of its utility and keeps no k
    /// [default: global:height, global:ncp and all local ones]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub methods: Option<Vec<String>>,
    /// Most records that a scheme may lose: a number, or a share [default: the project's, or 0]
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
    /// Raise the weight of this attribute from 1 to 32, with the first local method and the first k
    #[arg(long, value_name = "ATTRIBUTE")]
    pub vary_weight: Option<String>,
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

/// The values of k that charts show.
const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let project = args.project.open()?;
    if let Some(path) = &args.output {
        check_picture(path, &["html"], args.force)?;
        project.check_output(path)?;
        check_not_among(path, args.queries.as_slice())?;
    }
    with_view(args, &project, &args.project.work(terminal)?, |view| {
        if let Some(path) = &args.output {
            write_whole(path, view.page().as_bytes(), args.force)?;
        }
        if terminal.is_json {
            terminal.json(&view.document());
        } else if args.csv {
            let (header, rows) = view.all_columns();
            terminal.say(csv(&header, &rows).trim_end());
        } else {
            view.say(terminal);
        }
        Ok(Exit::Done)
    })
}

/// The comparison as `--json` says it.
pub fn document(args: &Args, project: &Project, work: &Work) -> Result<Value> {
    with_view(args, project, work, |view| Ok(view.document()))
}

/// Lets all contenders try, and shows what came of it.
fn with_view<T>(args: &Args, project: &Project, work: &Work, show: impl FnOnce(&View) -> Result<T>) -> Result<T> {
    let mut contenders = contenders(args)?;
    let (privacy, mut ks) = privacy(args, project)?;
    if args.methods.is_none() {
        contenders.retain(|contender| contender.is_possible(!privacy.sensitive.is_empty()));
    }
    let counted = count(project, &args.project.about().choice(&privacy), work)?;
    let n_records = counted.counts.n_records();
    if args.k.is_empty() && args.output.is_some() {
        ks = leave_out_too_large(ks, n_records, work);
    }
    for &k in &ks {
        check_criteria(&privacy.criteria.with(Criterion::k(k)), n_records, &counted.n_sensitive_values())?;
    }
    note_flat(&counted, work);
    let attribute = args.vary_weight.as_ref().map(|name| attribute_index(name, &counted.hierarchies)).transpose()?;
    let own = own_queries(args, &counted)?;
    let questions = Questions::new(&counted, args.n_queries as usize, args.seed, own)?;

    let max_suppressed = args.max_suppressed.as_deref().map(Suppression::parse).transpose()?;
    let wish = Wishes { max_suppressed, ..Wishes::default() };
    let request = wish.request(project, &privacy, &counted.hierarchies, n_records)?;
    if contenders.iter().any(|contender| matches!(contender, Contender::PerRecord(_))) {
        check_memory(&counted, work.n_bytes_max())?;
    }
    let lattice = lattice(&counted, &privacy.criteria, &contenders, work)?;
    let weights = counted.weights();
    let ask = Ask {
        counted: &counted,
        weights: &weights,
        level_max: &request.level_max,
        n_suppressed_max: request.n_suppressed_max,
        seed: args.seed,
        questions: &questions,
        lattice: lattice.as_ref().map(|(lattice, cost)| (lattice, *cost)),
    };
    let n_all = n_records * (contenders.len() * ks.len()) as u64;
    let rows = work.stage("comparing", n_all, Unit::Records, |task| {
        work.on_threads(|| run_all(&ask, &contenders, &privacy.criteria, &ks, task))?
    })?;
    let weighed = match attribute {
        Some(attribute) => Some(weighing(args, &counted, &privacy, &contenders, ks[0], attribute, work)?),
        None => None,
    };
    show(&View {
        args,
        counted: &counted,
        privacy: &privacy,
        n_suppressed_max: request.n_suppressed_max,
        rows: &rows,
        weighed,
    })
}

/// Of values of k that nobody has asked for, those that the table is large enough for; says which are left out. The first
/// always stays.
pub fn leave_out_too_large(ks: Vec<u64>, n_records: u64, work: &Work) -> Vec<u64> {
    let (mut fitting, too_large): (Vec<u64>, Vec<u64>) = ks.iter().partition(|&&k| k <= n_records);
    if !too_large.is_empty() {
        work.note(Note::KsLeftOut { ks: too_large, n_records });
    }
    if fitting.is_empty() {
        fitting.extend(ks.first());
    }
    fitting
}

fn contenders(args: &Args) -> Result<Vec<Contender>> {
    let Some(names) = &args.methods else {
        let global = [Quality::Height, Quality::Ncp].map(Contender::Global);
        return Ok(global.into_iter().chain(Method::ALL.map(Contender::Local)).collect());
    };
    let mut contenders = Vec::new();
    for name in names {
        let contender = Contender::parse(name.trim())?;
        if !contenders.contains(&contender) {
            contenders.push(contender);
        }
    }
    Ok(contenders)
}

/// The criteria beside k, and the values of k.
fn privacy(args: &Args, project: &Project) -> Result<(Privacy, Vec<u64>)> {
    let flags = CriteriaArgs { l: args.l.clone(), ..CriteriaArgs::default() };
    let privacy = flags.wishes().privacy(project, &args.project.about())?;
    let mut ks = match (&args.k[..], privacy.criteria.value(Measure::Size)) {
        ([], _) if args.output.is_some() => KS.to_vec(),
        ([], Some(k)) => vec![k],
        ([], None) => {
            return Err(Error::new(ErrorKind::Request, "k is not given, and the project has no standing wish for it")
                .hint("for example --k 10, or --k 2,5,10"));
        }
        (ks, _) => ks.to_vec(),
    };
    ks.sort_unstable();
    ks.dedup();
    guaranteed(&privacy.criteria.with(Criterion::k(ks[0])))?;
    let criteria = privacy.criteria.without(Measure::Size);
    Ok((Privacy { criteria, ..privacy }, ks))
}

fn own_queries(args: &Args, counted: &Counted) -> Result<Option<Vec<Query>>> {
    let Some(path) = &args.queries else { return Ok(None) };
    let text = std::fs::read_to_string(path).map_err(|error| crate::io_error(path, error))?;
    let queries = parse_queries(&path.display().to_string(), &text, &counted.hierarchies)?;
    if queries.is_empty() {
        return Err(Error::new(ErrorKind::Request, "holds no query")
            .at(path.display().to_string())
            .hint("one per line, for example: age in 30..39 and sex = Female"));
    }
    Ok(Some(queries))
}

type WithCost = (incrowd::Lattice, crate::orders::contenders::Cost);

/// The lattice, where a contender needs it.
fn lattice(counted: &Counted, criteria: &Criteria, contenders: &[Contender], work: &Work) -> Result<Option<WithCost>> {
    if !contenders.iter().any(|contender| matches!(contender, Contender::Global(_))) {
        return Ok(None);
    }
    let needs_entropy = contenders.iter().any(|contender| contender.needs_entropy());
    let ranking = if needs_entropy { Ranking::from(Quality::Entropy) } else { Ranking::default() };
    let (lattice, cost) = measured(|| annotate(counted, criteria, &ranking, work));
    Ok(Some((lattice?, cost)))
}

/// What raising one attribute's weight did.
struct Weighing {
    attribute: usize,
    method: Method,
    k: u64,
    steps: Vec<Weighed>,
}

fn weighing(
    args: &Args,
    counted: &Counted,
    privacy: &Privacy,
    contenders: &[Contender],
    k: u64,
    attribute: usize,
    work: &Work,
) -> Result<Weighing> {
    let local = contenders.iter().find_map(|contender| match contender {
        Contender::Local(method) => Some(*method),
        Contender::Global(_) | Contender::PerRecord(_) => None,
    });
    let method = local.unwrap_or(Method::TopDown);
    let local = Local { seed: args.seed, ..Local::new(method) };
    let n_all = counted.counts.n_records() * crate::orders::contenders::WEIGHTS.len() as u64;
    let criteria = privacy.criteria.with(Criterion::k(k));
    let steps = work.stage("weighing", n_all, Unit::Records, |task| {
        work.on_threads(|| weigh(counted, &local, &criteria, attribute, task))?
    })?;
    Ok(Weighing { attribute, method, k, steps })
}

/// The rows, to be shown in one way or another.
struct View<'a> {
    args: &'a Args,
    counted: &'a Counted,
    privacy: &'a Privacy,
    n_suppressed_max: u64,
    rows: &'a [Row],
    weighed: Option<Weighing>,
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

impl View<'_> {
    fn ks(&self) -> Vec<u64> {
        let mut ks: Vec<u64> = self.rows.iter().map(Row::k).collect();
        ks.dedup();
        ks
    }

    fn at(&self, k: u64) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.k() == k)
    }

    fn attribute_names(&self) -> Vec<String> {
        self.counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect()
    }

    /// What is reached, by name.
    fn reached(&self, row: &Row) -> Vec<(String, String)> {
        let text = |(measure, value): (Measure, Option<u64>)| {
            let name = wire::key(measure, &self.privacy.sensitive);
            (name, value.map_or("–".to_string(), |value| sentences::number_in_words(measure, value)))
        };
        row.reached(self.counted).into_iter().map(text).collect()
    }

    /// The columns that people look at first.
    fn main_columns(&self, k: u64) -> (Vec<String>, Vec<Vec<String>>) {
        let mut header = texts(&["method", "NCP", "query error", "90 %"]);
        if self.args.queries.is_some() {
            header.extend(texts(&["own queries", "90 %"]));
        }
        header.extend(texts(&["discernibility", "group size", "suppressed"]));
        let reached = self.rows.first().map_or(Vec::new(), |row| self.reached(row));
        header.extend(reached.into_iter().map(|(name, _)| name));
        header.extend(texts(&["CPU s", "peak MB"]));
        let percent = |error: f64| format!("{:.1} %", error * 100.0);
        let row = |row: &Row| {
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
            cells.push(format!("{:.2}", row.cost.cpu_seconds));
            cells.push(row.cost.peak_bytes.map_or("–".to_string(), |bytes| grouped(bytes / 1_000_000)));
            cells
        };
        (header, self.at(k).map(row).collect())
    }

    fn attribute_columns(&self, k: u64) -> (Vec<String>, Vec<Vec<String>>) {
        let header = [texts(&["NCP of"]), self.attribute_names()].concat();
        let row = |row: &Row| {
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
        }
        if let Some(weighing) = &self.weighed {
            terminal.say(format!(
                "{} at k = {}, every other attribute weighing 1\n",
                weighing.method.name(),
                weighing.k
            ));
            terminal.say(laid_out(self.weight_columns(weighing)));
            terminal.say("");
        }
        if self.rows.iter().any(|row| row.choice != "exact") {
            terminal.say("  Where no scheme meets all wishes, the one that loses the fewest records is shown.");
        }
        if self.rows.iter().any(|row| !row.contender.promises_k()) {
            terminal
                .say("  Records one by one keep no k, whatever is asked for; `incrowd map` compares risk and utility.");
        }
        if self.rows.iter().any(|row| !row.holds && row.contender.promises_k()) {
            terminal.say("  (broken): a criterion that the method does not keep by construction does not hold; it would not be published.");
        }
        if let Some(path) = &self.args.output {
            terminal.say(format!("  charts  {}", path.display()));
        }
    }

    fn others_in_words(&self) -> String {
        let others = self.privacy.criteria.iter();
        others
            .map(|criterion| format!(", {}", sentences::criterion_in_words(criterion, &self.privacy.sensitive)))
            .collect()
    }

    /// Everything, for machines: one row per k and method.
    fn all_columns(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let names = self.attribute_names();
        let mut header = texts(&["k", "method", "holds", "ncp"]);
        header.extend(names.iter().map(|name| format!("ncp:{name}")));
        header.extend(texts(&["query_error_median", "query_error_p90"]));
        if self.args.queries.is_some() {
            header.extend(texts(&["own_query_error_median", "own_query_error_p90"]));
        }
        header.extend(texts(&["discernibility", "group_size", "n_groups", "n_suppressed"]));
        let reached = self.rows.first().map_or(Vec::new(), |row| self.reached(row));
        header.extend(reached.into_iter().map(|(name, _)| format!("reached:{name}")));
        header.extend(texts(&["risk_highest", "risk_average", "cpu_seconds", "seconds", "peak_bytes", "levels"]));
        let row = |row: &Row| {
            let judgement = &row.judgement;
            let decimals = |value: f64| format!("{value:.6}");
            let mut cells = vec![row.k().to_string(), row.contender.name(), row.holds.to_string()];
            cells.push(decimals(judgement.ncp));
            cells.extend(judgement.ncp_of_attribute.iter().map(|ncp| decimals(*ncp)));
            cells.extend([decimals(row.error.0), decimals(row.error.1)]);
            if let Some((median, percentile_90, _)) = &row.own_error {
                cells.extend([decimals(*median), decimals(*percentile_90)]);
            }
            cells.extend([judgement.discernibility.to_string(), decimals(judgement.mean_group_size)]);
            cells.extend([judgement.n_groups.to_string(), judgement.n_suppressed.to_string()]);
            cells.extend(self.reached(row).into_iter().map(|(_, value)| value.replace([',', '–'], "")));
            let (highest, average) = row.risk(self.counted).unzip();
            cells.extend([highest, average].map(|risk| risk.map_or(String::new(), decimals)));
            cells.extend([decimals(row.cost.cpu_seconds), decimals(row.cost.seconds)]);
            cells.push(row.cost.peak_bytes.map_or(String::new(), |bytes| bytes.to_string()));
            cells.push(row.scheme.as_ref().map_or(String::new(), |(scheme, _)| scheme.to_string()));
            cells
        };
        (header, self.rows.iter().map(row).collect())
    }

    fn document(&self) -> Value {
        let weighed = self.weighed.as_ref().map(|weighing| {
            let step = |step: &Weighed| {
                json!({
                    "weight": step.weight,
                    "ncp": wire::rounded(step.ncp),
                    "ncp_of_others": wire::rounded(step.ncp_of_others),
                    "query_error": wire::rounded(step.error),
                    "query_error_of_others": wire::rounded(step.error_of_others),
                })
            };
            json!({
                "attribute": self.attribute_names()[weighing.attribute],
                "method": weighing.method.name(),
                "k": weighing.k,
                "steps": weighing.steps.iter().map(step).collect::<Vec<_>>(),
            })
        });
        json!({
            "n_records": self.counted.counts.n_records(),
            "criteria": wire::criteria(&self.privacy.criteria, &self.privacy.sensitive),
            "max_suppressed": self.n_suppressed_max,
            "weights": Value::Object(
                self.attribute_names().into_iter().zip(self.counted.weights()).map(|(name, w)| (name, json!(w))).collect()
            ),
            "seed": self.args.seed,
            "rows": self.rows.iter().map(|row| row.to_json(self.counted)).collect::<Vec<_>>(),
            "varied_weight": weighed,
        })
    }

    /// A line per method over k.
    fn chart(&self, title: &str, y_name: &str, y_label: fn(f64) -> String, y: impl Fn(&Row) -> f64) -> String {
        let mut contenders: Vec<Contender> = Vec::new();
        for row in self.rows {
            if !contenders.contains(&row.contender) {
                contenders.push(row.contender);
            }
        }
        let point = |row: &Row| Point {
            x: row.k() as f64,
            y: y(row),
            title: format!("{}, k = {}: {}", row.contender.name(), row.k(), y_label(y(row))),
        };
        let line = |contender: &Contender| Line {
            name: contender.name(),
            points: self.rows.iter().filter(|row| row.contender == *contender).map(point).collect(),
        };
        let y_max = self.rows.iter().map(&y).fold(0.0, f64::max);
        svg(&Chart {
            title: title.to_string(),
            x_name: "k: records alike".to_string(),
            y_name: y_name.to_string(),
            x_max: self.rows.iter().map(Row::k).max().unwrap_or(1) as f64,
            y_max: round_up(y_max),
            x_label: Box::new(|x| format!("{x:.0}")),
            n_x_ticks: N_TICKS,
            y_label,
            is_stepped: false,
            dots: Vec::new(),
            lines: contenders.iter().map(line).collect(),
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

    fn page(&self) -> String {
        let figure = |title: &str, note: &str, chart: String| {
            format!(
                "<section>\n<h2>{title}</h2>\n<p class=\"note\">{note}</p>\n<figure style=\"margin: 0\">\n{chart}</figure>\n</section>\n"
            )
        };
        let mut body = format!(
            "<header>\n<p class=\"eyebrow\">Methods, side by side</p>\n<h1>What each method makes of the table</h1>\n\
             <p>{} records, {} quasi-identifiers{}. A scheme may suppress {} records; local methods suppress none. \
             Point at a dot for its number.</p>\n</header>\n",
            grouped(self.counted.counts.n_records()),
            self.counted.hierarchies.len(),
            escape(&self.others_in_words()),
            grouped(self.n_suppressed_max),
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
        body += &figure(
            "Size of groups",
            "Records per group.",
            self.chart("Records per group by k", "records per group", whole, |row| row.judgement.mean_group_size),
        );
        body += &figure(
            "Processor time",
            "Of all processors, counting left out; of a scheme with what it takes to annotate the lattice.",
            self.chart("Processor seconds by k", "seconds", two_decimals, |row| row.cost.cpu_seconds),
        );
        if let Some(weighing) = &self.weighed {
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
            body += &format!("{}</div>\n</section>\n", page::table(&header, &rows));
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
