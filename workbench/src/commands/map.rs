//! `incrowd map`: every scheme and every method's release as a point of risk and utility.

use std::path::PathBuf;

use incrowd::recode::global;
use incrowd::recode::method::Method;
use incrowd::recode::per_record::{Goal, Point, Problem, Risk, Wish, recode};
use incrowd::scheme::{Schemes, n_schemes};
use incrowd::task::Task;
use incrowd::wire::rounded;
use incrowd::{
    Answer, Criteria, Error, ErrorKind, Lattice, Level, Quality, Ranking, Request, Result, Scheme, negotiate,
};
use indicatif::ProgressBar;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::chart::{self, Chart, Line, svg};
use crate::count::Counted;
use crate::local::Local;
use crate::page::{self, escape};
use crate::per_record::{PER_RECORD, PerRecordArgs, as_number, check_memory};
use crate::sentences::{counted_words, grouped};
use crate::staged::write_whole;
use crate::talk::{Exit, Talk, columns, go_on};
use crate::wishes::ProjectArgs;

/// Draw every scheme and every method's release as a point of risk and utility
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
One chart per risk model: small dots are the schemes of the lattice, nothing suppressed; lines are the records
generalized one by one for 10 to 90 % of the greatest utility, each chart by its own risk model, and the releases of
each method for several k. Risk and utility are means over the records. --utility-at-least and --risk-at-most draw a line
each. Model III is negative, and publishing less can have more risk by it.

Examples:
  incrowd map -o map.html
  incrowd map --ks 1,5,10,50,100 --methods mondrian,top-down --utility-at-least 50% -o map.html --json")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub per_record: PerRecordArgs,
    /// The k of releases to compare with
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_values_t = [1, 2, 5, 10, 20, 50, 100])]
    pub ks: Vec<u64>,
    /// The local methods to compare with
    #[arg(long, value_name = "METHOD,…", value_delimiter = ',', default_values_t = ["mondrian".to_string(), "top-down".into()])]
    pub methods: Vec<String>,
    /// Page or picture to write, .html or .svg (the first chart)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

/// The most schemes that are drawn.
const N_SCHEMES_MAX: u64 = 20_000;

/// Of the greatest utility, how many tenths records keep that are generalized one by one.
const SHARES: [i64; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/// A release on the map, by its means over the records under every risk model.
struct Place {
    series: String,
    name: String,
    /// The risk model that it was made to have little of, where it was; it is on that chart only.
    made_for: Option<Risk>,
    /// Of a scheme.
    levels: Option<Vec<u8>>,
    utility: f64,
    risks: [f64; 3],
}

/// What is on the chart of a risk model.
fn shown(places: &[Place], risk: Risk) -> impl Iterator<Item = &Place> {
    places.iter().filter(move |place| place.made_for.is_none_or(|model| model == risk))
}

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    let PerRecordArgs { risk, lambda, also_k, .. } = &args.per_record;
    let without_effect = [("--risk", risk.is_some()), ("--lambda", lambda.is_some()), ("--also-k", also_k.is_some())];
    if let Some((flag, _)) = without_effect.iter().find(|(_, is_given)| *is_given) {
        return Err(Error::new(ErrorKind::Request, format!("{flag} has no effect on a map"))
            .hint("there is one chart for each risk model; --utility-at-least and --risk-at-most draw a line"));
    }
    let project = args.project.open()?;
    let methods = args.methods.iter().map(|name| Method::parse(name)).collect::<Result<Vec<_>>>()?;
    args.output.iter().try_for_each(|path| project.check_output(path))?;
    if let Some(path) = args.output.as_ref().filter(|path| path.exists() && !args.force) {
        return Err(crate::staged::exists(path));
    }
    if let Some(path) = &args.output
        && !path.extension().is_some_and(|ending| ending == "html" || ending == "svg")
    {
        return Err(Error::new(ErrorKind::Request, "a map is a page or a picture")
            .at(path.display().to_string())
            .hint("name a file that ends in .html or .svg"));
    }
    let privacy = args.project.no_privacy(&project)?;
    let counted = args.per_record.count(&project, args.project.choice(&privacy), talk)?;
    check_memory(&counted, args.project.n_bytes_max()?)?;
    let lines = constraint_lines(args, &counted)?;
    // Before the long part: it may not fit.
    let best_by = Ranking::from(Quality::Ncp);
    let lattice = args.project.annotate(&counted, &Criteria::default(), &best_by, talk)?;
    let places = args.project.on_threads(|| places(args, &methods, &counted, &lattice, talk))??;
    let of_place = |place: &Place| -> Value {
        let risks = Risk::ALL.iter().zip(place.risks).map(|(risk, of)| (risk.name().to_string(), json!(rounded(of))));
        json!({ "series": place.series, "name": place.name, "levels": place.levels,
                "made_for": place.made_for.map(Risk::name),
                "utility": rounded(place.utility), "risk": Value::Object(risks.collect()) })
    };
    let (utility, _) = args.per_record.models()?;
    talk.json(&json!({
        "utility_model": utility.name(),
        "utility_at_least": lines.0.map(rounded),
        "risk_at_most": lines.1,
        "points": places.iter().map(of_place).collect::<Vec<_>>(),
        "frontier": Risk::ALL.iter().enumerate().map(|(r, risk)| {
            let frontier: Vec<Value> = frontier(shown(&places, *risk), r).into_iter().map(of_place).collect();
            (risk.name().to_string(), json!(frontier))
        }).collect::<serde_json::Map<_, _>>(),
    }));
    let releases = places.iter().filter(|place| place.series != SCHEMES);
    let row = |place: &Place| {
        // What was made for one model says nothing about the others.
        let is_meant = |risk: Risk| place.made_for.is_none_or(|model| model == risk);
        let risk = |(of, risk): (&f64, Risk)| if is_meant(risk) { format!("{of:.6}") } else { "–".to_string() };
        let risks = place.risks.iter().zip(Risk::ALL).map(risk);
        [place.series.clone(), place.name.clone(), format!("{:.3}", place.utility)].into_iter().chain(risks).collect()
    };
    let rows: Vec<Vec<String>> = releases.map(row).collect();
    let header = ["series", "release", "utility", "sensitivity", "identity", "entropic"];
    talk.say(columns(&header, &rows, &[0, 1]));
    if let Some(path) = &args.output {
        let charts: Vec<String> =
            (0..Risk::ALL.len()).map(|r| svg(&chart(&places, r, utility.name(), lines))).collect();
        let text = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => charts[0].clone(),
            _ => html(&charts, &header.map(String::from), &rows),
        };
        write_whole(path, text.as_bytes(), args.force)?;
        talk.say(format!("\n  map  {}", path.display()));
    }
    Ok(Exit::Done)
}

const SCHEMES: &str = "scheme";

/// Everything that is on the map.
fn places(args: &Args, methods: &[Method], counted: &Counted, lattice: &Lattice, talk: &Talk) -> Result<Vec<Place>> {
    let (utility, risk) = args.per_record.models()?;
    let problem = args.per_record.problem(counted, utility, risk)?;
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let mut places = Vec::new();
    let yardstick = counted.yardstick([])?;
    match n_schemes(hierarchies) {
        Some(n) if n <= N_SCHEMES_MAX => {
            let schemes = Schemes::new(hierarchies)?;
            let bar = talk.things("schemes", n, "schemes");
            let place = |place: usize| {
                go_on(&bar)?;
                let scheme = schemes.scheme(place);
                bar.inc(1);
                let levels = Some((0..hierarchies.len()).map(|a| scheme.level(a) as u8).collect());
                Ok(Place { levels, ..mean(SCHEMES, scheme.to_string(), &problem.points_of_scheme(counts, &scheme)) })
            };
            places = (0..schemes.len()).into_par_iter().map(place).collect::<Result<Vec<_>>>()?;
            bar.finish_and_clear();
        }
        _ => talk.note(format!("more than {} schemes are not drawn", grouped(N_SCHEMES_MAX))),
    }
    let n_steps = (Risk::ALL.len() * SHARES.len()) as u64;
    let bar = talk.things("one by one", n_steps * counts.n_records(), "records");
    let one_by_one = Risk::ALL.into_par_iter().map(|risk| one_by_one(&problem.with_risk(risk), counted, &bar));
    places.extend(one_by_one.collect::<Result<Vec<_>>>()?.into_iter().flatten());
    bar.finish_and_clear();
    let weights = counted.weights();
    let (ks, beyond): (Vec<u64>, Vec<u64>) = args.ks.iter().partition(|k| (1..=counts.n_records()).contains(*k));
    if !beyond.is_empty() {
        let beyond: Vec<String> = beyond.iter().map(u64::to_string).collect();
        talk.note(format!("no release with k = {}: k is from 1 to the number of records", beyond.join(", ")));
    }
    for k in ks {
        let criteria = Criteria::of(Some(k), None);
        let level_max = Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect());
        let best_by = Ranking::from(Quality::Ncp);
        let request = Request { criteria: criteria.clone(), level_max, n_suppressed_max: 0, best_by };
        if let Answer::Exact(offer) = negotiate(lattice, &request)? {
            let recoding = global::recode(counts, hierarchies, &offer.scheme, &yardstick, &criteria)?;
            places.push(mean("global", format!("k = {k}"), &problem.points(&recoding)));
        }
        for &method in methods {
            let bar = talk.things(method.name(), counts.n_records(), "records");
            let recoding = Local::new(method).recode(counted, &weights, &criteria, &bar)?;
            bar.finish_and_clear();
            places.push(mean(method.name(), format!("k = {k}"), &problem.points(&recoding)));
        }
    }
    Ok(places)
}

/// The records generalized one by one to the least risk by a model, for several shares of the utility.
fn one_by_one(problem: &Problem, counted: &Counted, bar: &ProgressBar) -> Result<Vec<Place>> {
    let task = Task { progress: &|n| bar.inc(n), is_cancelled: &|| bar.is_finished(), ..Task::default() };
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let mut solved = Vec::new();
    let place = |tenth: i64| {
        solved = problem.solve_after(counts, Wish::Share(tenth as f64 / 10.0), &solved, &task)?;
        let levels: Vec<Vec<u8>> = solved.iter().map(|levels| levels.clone().expect("within reach")).collect();
        let points = problem.points(&recode(counts, hierarchies, &levels));
        Ok(Place { made_for: Some(problem.risk_model), ..mean(PER_RECORD, format!("{tenth}0 %"), &points) })
    };
    SHARES.into_iter().map(place).collect()
}

/// Points of records as one point per risk model.
fn mean(series: &str, name: String, points: &[Point]) -> Place {
    let n: u64 = points.iter().map(|point| point.n_records).sum();
    let mean = |of: &dyn Fn(&Point) -> f64| {
        points.iter().map(|point| of(point) * point.n_records as f64).sum::<f64>() / n.max(1) as f64
    };
    Place {
        series: series.to_string(),
        name,
        made_for: None,
        levels: None,
        utility: mean(&|point| as_number(point.utility)),
        risks: Risk::ALL.map(|risk| mean(&|point| risk.of(point.sensitivity, point.n_fitting))),
    }
}

/// What no other point beats on risk and utility together, by increasing risk.
fn frontier<'a>(places: impl Iterator<Item = &'a Place>, r: usize) -> Vec<&'a Place> {
    let mut order: Vec<&Place> = places.collect();
    order.sort_by(|a, b| a.risks[r].total_cmp(&b.risks[r]).then(b.utility.total_cmp(&a.utility)));
    let mut most = f64::NEG_INFINITY;
    order.retain(|place| {
        let is_better = place.utility > most;
        most = most.max(place.utility);
        is_better
    });
    order
}

/// The utility that is wanted at least, and the risk at most.
fn constraint_lines(args: &Args, counted: &Counted) -> Result<(Option<f64>, Option<f64>)> {
    let at_least = match args.per_record.utility_at_least {
        Some(_) => {
            let (utility, risk) = args.per_record.models()?;
            let problem = args.per_record.problem(counted, utility, risk)?;
            let only = PerRecordArgs { risk_at_most: None, ..args.per_record.clone() };
            match only.wish(&problem)?.of(problem.greatest_utility()) {
                Goal::LeastRisk { utility_at_least } => Some(as_number(utility_at_least)),
                _ => None,
            }
        }
        None => None,
    };
    if args.per_record.risk_at_most.is_some_and(|risk| !risk.is_finite()) {
        return Err(Error::new(ErrorKind::Request, "--risk-at-most is a number").hint("for example 0.05"));
    }
    Ok((at_least, args.per_record.risk_at_most))
}

/// Where a risk is on the chart. Models I and II span many powers of ten; model III is negative.
#[derive(Clone, Copy)]
struct Axis {
    is_log: bool,
    least: f64,
    x_max: f64,
}

impl Axis {
    fn of(risk: Risk, risks: impl Iterator<Item = f64> + Clone) -> Axis {
        let greatest = risks.clone().fold(f64::NEG_INFINITY, f64::max);
        let is_log = risk != Risk::Entropic;
        // What has no risk at all stands where the axis begins.
        let shown = risks.filter(|risk| !is_log || *risk > 0.0);
        let least = shown.fold(greatest, f64::min);
        match is_log && least > 0.0 {
            true => {
                let (first, last) = (least.log10().floor(), greatest.log10().ceil());
                Axis { is_log, least: 10f64.powf(first), x_max: (last - first).max(1.0) }
            }
            false => Axis { is_log: false, least, x_max: (greatest - least).max(1e-9) },
        }
    }

    fn x(&self, risk: f64) -> f64 {
        match self.is_log {
            true => (risk.max(self.least) / self.least).log10(),
            false => risk - self.least,
        }
    }

    fn n_ticks(&self) -> usize {
        if self.is_log { self.x_max as usize } else { chart::N_TICKS }
    }

    fn label(&self, x: f64) -> String {
        match self.is_log {
            true => {
                let power = (self.least.log10() + x).round() as i32;
                format!("{:.*}", (-power).max(0) as usize, 10f64.powi(power))
            }
            false => format!("{:.1}", self.least + x),
        }
    }

    fn words(&self) -> &'static str {
        if self.is_log { " (logarithmic)" } else { "" }
    }
}

fn chart(all: &[Place], r: usize, utility: &str, (at_least, at_most): (Option<f64>, Option<f64>)) -> Chart {
    let places: Vec<&Place> = shown(all, Risk::ALL[r]).collect();
    let axis = Axis::of(Risk::ALL[r], places.iter().map(|place| place.risks[r]));
    let point = |place: &Place| chart::Point {
        x: axis.x(place.risks[r]),
        y: place.utility,
        title: format!("{} {}: risk {:.6}, utility {:.3}", place.series, place.name, place.risks[r], place.utility),
    };
    let mut series: Vec<&str> = Vec::new();
    for place in places.iter().filter(|place| place.series != SCHEMES) {
        if !series.contains(&place.series.as_str()) {
            series.push(&place.series);
        }
    }
    let x_max = axis.x_max;
    let y_max = places.iter().map(|place| place.utility).fold(1e-9, f64::max);
    let straight = |name: &str, ends: [(f64, f64); 2]| Line {
        name: name.to_string(),
        points: ends.map(|(x, y)| chart::Point { x, y, title: name.to_string() }).into(),
    };
    let of_series = |series: &&str| {
        let of_series = places.iter().filter(|place| place.series == *series);
        let mut points: Vec<chart::Point> = of_series.map(|place| point(place)).collect();
        // By utility: under model III risk can fall and rise again on the way.
        points.sort_by(|a, b| a.y.total_cmp(&b.y));
        Line { name: series.to_string(), points }
    };
    let mut lines: Vec<Line> = series.iter().map(of_series).collect();
    lines.push(Line {
        name: "frontier".to_string(),
        points: frontier(places.iter().copied(), r).into_iter().map(point).collect(),
    });
    lines.extend(at_least.map(|y| straight("utility wanted", [(0.0, y), (x_max, y)])));
    lines.extend(at_most.map(|x| straight("risk allowed", [(axis.x(x), 0.0), (axis.x(x), y_max)])));
    Chart {
        title: format!("Risk ({}) and utility ({utility})", Risk::ALL[r].name()),
        x_name: format!("risk: {}{}", Risk::ALL[r].words(), axis.words()),
        y_name: format!("utility ({utility})"),
        x_max,
        y_max,
        n_x_ticks: axis.n_ticks(),
        x_label: Box::new(move |x| axis.label(x)),
        y_label: |y| format!("{y:.1}"),
        is_stepped: false,
        dots: places.iter().filter(|place| place.series == SCHEMES).map(|place| point(place)).collect(),
        lines,
    }
}

const NOT_MONOTONE: &str = "<p class=\"note\">By this model all-<code>*</code> has a risk of 0, the greatest there is: \
     what says nothing has no sensitivity to spread over the crowd. On the way to less utility risk falls at first, because \
     the crowd grows, and then rises, because there is less to spread; lines that turn back are no mistake. </p>\n";

fn html(charts: &[String], header: &[String], rows: &[Vec<String>]) -> String {
    let title = "Risk and utility";
    let sections: String = charts
        .iter()
        .zip(Risk::ALL)
        .map(|(chart, risk)| {
            let note = match risk {
                Risk::Entropic => NOT_MONOTONE,
                _ => "",
            };
            format!(
                "<section>\n<h2>{}</h2>\n{note}<figure style=\"margin: 0\">\n{chart}</figure>\n</section>\n",
                escape(risk.words())
            )
        })
        .collect();
    page::document(
        title,
        &format!(
            "<header>\n<p class=\"eyebrow\">Every release is a bargain</p>\n<h1>{title}</h1>\n<p>Small dots are the schemes \
             of the lattice; up and to the left is better. Records that are generalized one by one are not k-anonymous.</p>\n\
             </header>\n{sections}<section>\n<h2>The releases</h2>\n<p class=\"note\">{}, each as its means over the records.</p>\n{}</section>\n",
            counted_words(rows.len() as u64, "release"),
            page::table(header, rows),
        ),
    )
}
