//! `incrowd map`: every scheme and every method's release as a point of risk and utility.

use std::path::PathBuf;

use incrowd::recode::method::Method;
use incrowd::recode::per_record::Risk;
use incrowd::{Error, ErrorKind, Result};

use super::arguments::{PerRecordArgs, ProjectArgs};
use super::terminal::{Exit, Terminal, columns};
use crate::orders::known::Known;
use crate::orders::map::{KS, METHODS, Map, MapPoint, Mapped, SCHEMES, frontier, shown};
use crate::output::chart::{self, Chart, Line, svg};
use crate::output::page::{self, escape};
use crate::output::staged::write_whole;
use crate::sentences::counted_words;
use crate::words::documents;

/// Draw every scheme and every method's release as a point of risk and utility
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
One chart per risk model: small dots are the schemes of the lattice, nothing suppressed; lines are the records \
generalized one by one for 10 to 90 % of the greatest utility, each chart by its own risk model, and the releases of \
each method for several k. Risk and utility are means over the records. --utility-at-least and --risk-at-most draw a line \
each. Model III is negative, and publishing less can have more risk by it.

Examples:
  incrowd map -o map.html
  incrowd map hospital --risk-at-most 0.1 -o map.svg      of the project in another folder, the first chart
  incrowd map --ks 1,5,10,50,100 --methods mondrian,top-down --utility-at-least 50% -o map.html --json")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub per_record: PerRecordArgs,
    /// The k of releases to compare with
    #[arg(long, value_name = "K,…", value_delimiter = ',', default_values_t = KS)]
    pub ks: Vec<u64>,
    /// The local methods to compare with
    #[arg(long, value_name = "METHOD,…", value_delimiter = ',', default_values_t = METHODS.map(|method| method.name().to_string()))]
    pub methods: Vec<String>,
    /// Page or picture to write, .html or .svg (the first chart)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = Map {
        about: args.project.about(),
        wish: args.per_record.wish()?,
        ks: args.ks.clone(),
        methods: args.methods.iter().map(|name| Method::parse(name)).collect::<Result<_>>()?,
    };
    order.check()?;
    let project = args.project.open()?;
    args.output.iter().try_for_each(|path| project.check_output(path))?;
    if let Some(path) = args.output.as_ref().filter(|path| path.exists() && !args.force) {
        return Err(crate::output::staged::exists(path));
    }
    if let Some(path) = &args.output
        && !path.extension().is_some_and(|ending| ending == "html" || ending == "svg")
    {
        return Err(Error::new(ErrorKind::Request, "a map is a page or a picture")
            .at(path.display().to_string())
            .hint("name a file that ends in .html or .svg"));
    }
    let mapped = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    terminal.json(&documents::mapped(&mapped));
    let Mapped { places, lines, utility } = &mapped;
    let releases = places.iter().filter(|place| place.series != SCHEMES);
    let row = |place: &MapPoint| {
        // What was made for one model says nothing about the others.
        let is_meant = |risk: Risk| place.made_for.is_none_or(|model| model == risk);
        let risk = |(of, risk): (&f64, Risk)| if is_meant(risk) { format!("{of:.6}") } else { "–".to_string() };
        let risks = place.risks.iter().zip(Risk::ALL).map(risk);
        [place.series.clone(), place.name.clone(), format!("{:.3}", place.utility)].into_iter().chain(risks).collect()
    };
    let rows: Vec<Vec<String>> = releases.map(row).collect();
    let header = ["series", "release", "utility", "sensitivity", "identity", "entropic"];
    terminal.say(columns(&header, &rows, &[0, 1]));
    if let Some(path) = &args.output {
        let charts: Vec<String> =
            (0..Risk::ALL.len()).map(|r| svg(&chart(places, r, utility.name(), *lines))).collect();
        let text = match path.extension().and_then(|ending| ending.to_str()) {
            Some("svg") => charts[0].clone(),
            _ => html(&charts, &header.map(String::from), &rows),
        };
        write_whole(path, text.as_bytes(), args.force)?;
        terminal.say(format!("\n  map  {}", path.display()));
    }
    Ok(Exit::Done)
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

fn chart(all: &[MapPoint], r: usize, utility: &str, (at_least, at_most): (Option<f64>, Option<f64>)) -> Chart {
    let places: Vec<&MapPoint> = shown(all, Risk::ALL[r]).collect();
    let axis = Axis::of(Risk::ALL[r], places.iter().map(|place| place.risks[r]));
    let point = |place: &MapPoint| chart::Point {
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
