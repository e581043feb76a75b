//! The pictures of the studies, each with its name, and pages that hold them: the same on every front.

use incrowd::{Criterion, Measure};
use serde_json::{Value, json};

use crate::orders::histogram::{Bar, Histogrammed};
use crate::orders::study_suppression::{LossRange, StudiedSet, StudiedSuppression, is_on_axis};
use crate::output::bars::{self, Bars};
use crate::output::chart::{self, Chart, Line, N_TICKS, Point, round_above};
use crate::output::lattice_picture::{self, N_NODES_MAX, Node};
use crate::output::page::{self, escape};
use crate::sentences::{self, criterion_in_words, grouped, percent};

/// A picture.
pub struct Figure {
    /// What a file of it is called, without its ending.
    pub name: String,
    pub title: String,
    /// What it shows, in a sentence.
    pub caption: String,
    pub svg: String,
}

/// Numbers as a table: what a file of it is called, its title, header and rows.
pub struct Sheet {
    pub name: &'static str,
    pub title: &'static str,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    pub fn new(name: &'static str, title: &'static str, header: &[&str], rows: Vec<Vec<String>>) -> Sheet {
        Sheet { name, title, header: header.iter().map(|name| name.to_string()).collect(), rows }
    }
}

/// Tables as a document.
pub fn tables(tables: &[Sheet]) -> Value {
    let table =
        |table: &Sheet| json!({ "name": table.name, "title": table.title, "header": table.header, "rows": table.rows });
    tables.iter().map(table).collect()
}

/// Pictures as a document.
pub fn document(figures: &[Figure]) -> Value {
    let figure = |figure: &Figure| json!({ "name": figure.name, "title": figure.title, "caption": figure.caption, "svg": figure.svg });
    figures.iter().map(figure).collect()
}

/// Of a longer table, whoever wants to see the rows says so.
const N_ROWS_SHOWN: usize = 60;

/// A page that stands alone: what it is about, the pictures, and a table of all numbers.
pub fn page(
    title: &str,
    about: &str,
    figures: &[Figure],
    tables: &[(String, Vec<String>, Vec<Vec<String>>)],
) -> String {
    let section = |figure: &Figure| {
        format!(
            "<section{}>\n<h2>{}</h2>\n<figure>\n<figcaption>{}</figcaption>\n<div style=\"overflow-x: auto\">\n{}</div>\n\
             </figure>\n</section>\n",
            // Lattices may be wider than what is read.
            match figure.name.starts_with("lattice") {
                true => " style=\"width: 96vw; margin-left: calc(50% - 48vw)\"",
                false => "",
            },
            escape(&figure.title),
            escape(&figure.caption),
            figure.svg
        )
    };
    let table = |(title, header, rows): &(String, Vec<String>, Vec<Vec<String>>)| {
        let table =
            page::table(header, rows).replacen("<table>", "<table class=\"numeric\" style=\"max-width: none\">", 1);
        let table = format!("<div style=\"overflow-x: auto\">\n{table}</div>\n");
        // Of thousands of rows nobody scrolls past to what comes after.
        let table = match rows.len() > N_ROWS_SHOWN {
            true => format!(
                "<details>\n<summary>{}</summary>\n{table}</details>\n",
                sentences::counted_words(rows.len() as u64, "row")
            ),
            false => table,
        };
        format!("<section>\n<h2>{}</h2>\n{table}</section>\n", escape(title))
    };
    let figures: String = figures.iter().map(section).collect();
    let tables: String = tables.iter().map(table).collect();
    page::document(
        &escape(title),
        &format!("<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n{figures}{tables}", escape(title), escape(about)),
    )
}

/// A chart of lines over whole numbers, from 0 on.
pub fn over_whole(
    title: &str,
    x_name: &str,
    y_name: &str,
    x_max: usize,
    y_label: fn(f64) -> String,
    lines: Vec<Line>,
) -> String {
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.y).fold(0.0, f64::max);
    // Marks at whole numbers, and not too many of them.
    let step = x_max.div_ceil(16).max(1);
    let n_x_ticks = x_max.div_ceil(step).max(1);
    chart::svg(&Chart {
        title: title.into(),
        x_name: x_name.into(),
        y_name: y_name.into(),
        x_max: (n_x_ticks * step) as f64,
        y_max: round_above(most.max(1e-3)),
        x_label: Box::new(|x| format!("{x:.0}")),
        y_label,
        n_x_ticks,
        is_stepped: false,
        dots: Vec::new(),
        lines,
    })
}

/// A text that begins with a capital letter.
pub fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// A whole number on an axis.
pub fn whole(y: f64) -> String {
    grouped(y.round() as u64)
}

fn share(y: f64) -> String {
    match y {
        y if y == 0.0 || y >= 5.0 => format!("{y:.0} %"),
        y => format!("{y:.1} %"),
    }
}

/// All pictures of a study of suppression.
pub fn suppression(study: &StudiedSuppression) -> Vec<Figure> {
    let mut figures = Vec::new();
    let measures = measures(study);
    for set in &study.sets {
        for &measure in &measures {
            figures.extend(by_height(study, set, measure));
        }
    }
    for &measure in &measures {
        figures.extend(by_value(study, study.sets.last().expect("a set"), measure));
    }
    if study.sets.len() > 1 {
        for criterion in weakest_of_each(study) {
            figures.extend(by_set(study, criterion));
        }
    }
    for &measure in measures.iter().filter(|_| study.sets.len() > 1) {
        figures.push(big_picture(study, measure));
    }
    figures.extend(histograms(&study.histograms));
    for (i, set) in study.sets.iter().enumerate().filter(|(_, set)| set.n_schemes() < N_NODES_MAX) {
        for criterion in weakest_of_each(study) {
            figures.push(lattice(study, i, set, criterion));
        }
    }
    figures
}

/// What was measured, once each, in the order of the criteria.
fn measures(study: &StudiedSuppression) -> Vec<Measure> {
    let mut measures: Vec<Measure> = study.criteria.iter().map(|criterion| criterion.measure).collect();
    measures.dedup();
    measures
}

/// Of every measure the place of the weakest criterion.
fn weakest_of_each(study: &StudiedSuppression) -> Vec<usize> {
    (0..study.criteria.len()).filter(|&criterion| study.weaker(criterion).is_none()).collect()
}

fn words(study: &StudiedSuppression, criterion: usize) -> String {
    criterion_in_words(study.criteria[criterion], &study.sensitive)
}

fn criteria_of(study: &StudiedSuppression, measure: Measure) -> Vec<usize> {
    (0..study.criteria.len()).filter(|&criterion| study.criteria[criterion].measure == measure).collect()
}

fn key(study: &StudiedSuppression, measure: Measure) -> String {
    incrowd::wire::key(measure, &study.sensitive)
}

/// A part of the name of a file.
fn plain(text: &str) -> String {
    let kept = |c: char| if c.is_alphanumeric() || c == '.' { c } else { '-' };
    text.replace(" = ", "").chars().map(kept).collect()
}

const LEAST_AND_MEAN: [(&str, &str, fn(&LossRange) -> f64); 2] =
    [("least", "At best", |spread| spread.least as f64), ("mean", "On average", |spread| spread.mean())];

/// By height, a line per value of a measure: Figures 3.8, 3.12 to 3.15 and 3.27 to 3.30.
fn by_height(study: &StudiedSuppression, set: &StudiedSet, measure: Measure) -> Vec<Figure> {
    let of = |(name, title, value): (&str, &str, fn(&LossRange) -> f64)| {
        let line = |criterion: usize| Line {
            name: words(study, criterion),
            points: points(&set.suppressed[criterion], value, &words(study, criterion)),
        };
        let lines = criteria_of(study, measure).into_iter().map(line).collect();
        let n = set.attributes.len();
        let title = format!("{title}, by height, for each {}: {}", key(study, measure), attributes(set));
        let svg = over_whole(&title, "height", "records suppressed", set.places.len() - 1, whole, lines);
        Figure {
            name: plain(&format!("by-height-{}-{name}-{n}", key(study, measure))),
            caption: format!("Records suppressed by the schemes of every height, over {}.", set_in_words(set)),
            title,
            svg,
        }
    };
    LEAST_AND_MEAN.map(of).into()
}

fn points(spreads: &[LossRange], value: fn(&LossRange) -> f64, what: &str) -> Vec<Point> {
    let point = |(height, spread): (usize, &LossRange)| Point {
        x: height as f64,
        y: value(spread),
        title: format!("height {height}, {what}: {}", whole(value(spread))),
    };
    spreads.iter().enumerate().map(point).collect()
}

/// By the value of a measure, a line per height.
fn by_value(study: &StudiedSuppression, set: &StudiedSet, measure: Measure) -> Option<Figure> {
    let criteria = criteria_of(study, measure);
    if criteria.len() < 2 || !is_on_axis(measure) {
        return None;
    }
    let scale = if measure.is_count() { 1.0 } else { 1e6 };
    let value = |criterion: usize| study.criteria[criterion].value as f64 / scale;
    let most = criteria.iter().map(|&criterion| value(criterion)).fold(0.0, f64::max);
    // The heights at which something is lost, and not more than can be told apart.
    let is_shown = |height: &usize| criteria.iter().any(|&criterion| set.suppressed[criterion][*height].least > 0);
    let heights = (0..set.places.len()).filter(is_shown).take(8);
    let line = |height: usize| Line {
        name: format!("height {height}"),
        points: criteria
            .iter()
            .map(|&criterion| {
                let least = set.suppressed[criterion][height].least;
                let title = format!("{}, height {height}: {}", words(study, criterion), grouped(least));
                Point { x: value(criterion), y: least as f64, title }
            })
            .collect(),
    };
    let lines: Vec<Line> = heights.map(line).collect();
    let y_most = lines.iter().flat_map(|line| &line.points).map(|point| point.y).fold(1.0, f64::max);
    let name = key(study, measure);
    let title = format!("At best, by {name}, for each height");
    let svg = chart::svg(&Chart {
        title: title.clone(),
        x_name: name.clone(),
        y_name: "records suppressed".into(),
        x_max: round_above(most),
        y_max: round_above(y_most),
        x_label: Box::new(|x| match x.fract() == 0.0 {
            true => format!("{x:.0}"),
            false => format!("{x:.2}"),
        }),
        y_label: whole,
        n_x_ticks: N_TICKS,
        is_stepped: false,
        dots: Vec::new(),
        lines,
    });
    let caption = format!("The fewest records that a scheme of the height suppresses, over {}.", set_in_words(set));
    Some(Figure { name: plain(&format!("by-value-{name}")), title, caption, svg })
}

/// By height, a line per set: Figures 3.11, 3.16 to 3.19, 3.31 and 3.32; and by the size of the set.
fn by_set(study: &StudiedSuppression, criterion: usize) -> Vec<Figure> {
    let (n_records, what) = (study.lattice.n_records() as f64, words(study, criterion));
    let x_max = study.sets.iter().map(|set| set.places.len()).max().unwrap_or(1) - 1;
    let of = |(name, title, value): (&str, &str, fn(&LossRange) -> f64)| {
        let line = |set: &StudiedSet| {
            let points = points(&set.suppressed[criterion], value, &attributes(set));
            let points = points.into_iter().map(|point| Point { y: 100.0 * point.y / n_records.max(1.0), ..point });
            Line { name: attributes(set), points: points.collect() }
        };
        let title = format!("{title} at {what}, by height, for each set");
        let lines = study.sets.iter().map(line).collect();
        Figure {
            name: plain(&format!("by-set-{what}-{name}")),
            svg: over_whole(&title, "height", "share of the records suppressed", x_max, share, lines),
            caption: format!("Sets of quasi-identifiers: {}.", sets_in_words(study)),
            title,
        }
    };
    LEAST_AND_MEAN.map(of).into_iter().chain([by_size(study, criterion)]).collect()
}

/// By the number of attributes, a line per height.
fn by_size(study: &StudiedSuppression, criterion: usize) -> Figure {
    let what = words(study, criterion);
    let n_heights = study.sets.last().map_or(0, |set| set.places.len()).min(8);
    let line = |height: usize| Line {
        name: format!("height {height}"),
        points: study
            .sets
            .iter()
            .filter_map(|set| {
                let (n, least) = (set.attributes.len(), set.suppressed[criterion].get(height)?.least);
                Some(Point {
                    x: n as f64,
                    y: least as f64,
                    title: format!("{n} attributes, height {height}: {}", grouped(least)),
                })
            })
            .collect(),
    };
    let title = format!("At best at {what}, by the number of quasi-identifiers, for each height");
    let x_max = study.sets.last().map_or(1, |set| set.attributes.len());
    let lines = (0..n_heights).map(line).collect();
    Figure {
        name: plain(&format!("by-size-{what}")),
        svg: over_whole(&title, "quasi-identifiers", "records suppressed", x_max, whole, lines),
        caption: format!("Sets of quasi-identifiers: {}.", sets_in_words(study)),
        title,
    }
}

/// Every set, value and height at once: Figures 3.20 to 3.23.
fn big_picture(study: &StudiedSuppression, measure: Measure) -> Figure {
    let criteria = criteria_of(study, measure);
    let n_heights = study.sets.iter().map(|set| set.places.len()).max().unwrap_or(0).min(7);
    let places = (0..n_heights)
        .flat_map(|height| criteria.iter().map(move |&criterion| (height, criterion)))
        .collect::<Vec<(usize, usize)>>();
    let value = |criterion: usize| sentences::number_in_words(measure, study.criteria[criterion].value);
    let kind = |set: &StudiedSet| {
        let of = |&(height, criterion): &(usize, usize)| Some(set.suppressed[criterion].get(height)?.least as f64);
        (attributes(set), places.iter().map(of).collect())
    };
    let name = key(study, measure);
    let title = format!("At best, by height, {name} and set");
    let svg = bars::svg(&Bars {
        title: title.clone(),
        x_name: format!("{name}, and height"),
        y_name: "records suppressed".into(),
        places: places.iter().map(|&(_, criterion)| value(criterion)).collect(),
        groups: (0..n_heights).map(|height| (format!("H{height}"), criteria.len())).collect(),
        kinds: study.sets.iter().map(kind).collect(),
        y_label: whole,
    });
    let caption =
        "The fewest records that a scheme of the height suppresses, for every set of quasi-identifiers.".into();
    Figure { name: plain(&format!("all-{name}")), title, caption, svg }
}

/// The lattice of a set with a number at every scheme: Figures 3.9, 3.10, 3.25 and 3.26.
fn lattice(study: &StudiedSuppression, i: usize, set: &StudiedSet, criterion: usize) -> Figure {
    let most = set.suppressed[criterion].iter().map(|spread| spread.most).max().unwrap_or(0).max(1) as f64;
    let node = |&place: &usize| {
        let (levels, n) = (study.levels(i, place), study.n_suppressed(place, criterion));
        let is_marked = study.marked.as_ref().is_some_and(|most| {
            set.attributes.len() == most.levels().len() && most.levels().iter().zip(&levels).all(|(a, b)| a.0 == *b)
        });
        Node { levels, number: n.to_string(), darkness: (n as f64 / most).sqrt(), is_marked }
    };
    let heights: Vec<Vec<Node>> = set.places.iter().map(|places| places.iter().map(node).collect()).collect();
    let what = words(study, criterion);
    let title = format!("The lattice of {} at {what}", attributes(set));
    Figure {
        name: plain(&format!("lattice-{}-{what}", set.attributes.len())),
        svg: lattice_picture::svg(&title, &heights),
        caption: format!(
            "Every scheme with its levels ({}) and the records that it suppresses.",
            set.attributes.join(", ")
        ),
        title,
    }
}

/// `3 attributes`
fn attributes(set: &StudiedSet) -> String {
    sentences::counted_words(set.attributes.len() as u64, "attribute")
}

fn set_in_words(set: &StudiedSet) -> String {
    set.attributes.join(", ")
}

/// `age, race | + sex`
pub fn sets_in_words(study: &StudiedSuppression) -> String {
    let mut before = 0;
    let mut words = Vec::new();
    for set in &study.sets {
        let more = set.attributes[before..].join(", ");
        words.push(if before == 0 { more } else { format!("+ {more}") });
        before = set.attributes.len();
    }
    words.join(" | ")
}

/// How many bars are drawn one by one.
const N_BARS: usize = 40;

/// The histograms of one scheme, with their cumulative forms: Figures 2.6 to 2.9, 3.6, 3.7 and 3.24.
pub fn histograms(of: &Histogrammed) -> Vec<Figure> {
    let who = if of.is_over_people { "people" } else { "records" };
    let sizes = [
        Figure {
            name: format!("groups-{}", of.scheme),
            title: format!("Groups by their size, at {}", of.scheme),
            caption: format!("{}{}", in_words(of), first_of(&of.sizes)),
            svg: bars_of("Group sizes", &format!("{who} of a group"), &of.sizes, |bar| bar.n_groups),
        },
        Figure {
            name: format!("below-{}", of.scheme),
            title: format!("Records in groups smaller than k, at {}", of.scheme),
            caption: format!("As many are lost where k is asked for. {}", in_words(of)),
            svg: cumulative("Records below k", "k", of.n_records, &of.sizes),
        },
    ];
    let distinct = of.distinct.iter().flat_map(|(name, bars)| {
        [
            Figure {
                name: plain(&format!("values-{name}-{}", of.scheme)),
                title: format!("Groups by their number of different values of {name}, at {}", of.scheme),
                caption: format!("{}{}", in_words(of), first_of(bars)),
                svg: bars_of("Different values", &format!("different values of {name}"), bars, |bar| bar.n_groups),
            },
            Figure {
                name: plain(&format!("below-{name}-{}", of.scheme)),
                title: format!("Records in groups with fewer than l values of {name}, at {}", of.scheme),
                caption: format!("As many are lost where l is asked for. {}", in_words(of)),
                svg: cumulative("Records below l", "l", of.n_records, bars),
            },
        ]
    });
    sizes.into_iter().chain(distinct).collect()
}

/// What the histograms are about.
pub fn in_words(of: &Histogrammed) -> String {
    let levels = of.attributes.iter().zip(of.scheme.levels()).map(|(name, level)| format!("{name} {}", level.0));
    format!(
        "{} in {}; levels: {}.",
        sentences::counted_words(of.n_records, "record"),
        sentences::counted_words(of.n_groups, "group"),
        levels.collect::<Vec<_>>().join(", ")
    )
}

fn first_of(bars: &[Bar]) -> String {
    match bars.len() > N_BARS {
        true => format!(" The first {N_BARS} of {} bars.", bars.len()),
        false => String::new(),
    }
}

fn bars_of(title: &str, x_name: &str, all: &[Bar], value: fn(&Bar) -> u64) -> String {
    let shown = &all[..all.len().min(N_BARS)];
    bars::svg(&Bars {
        title: title.into(),
        x_name: x_name.into(),
        y_name: "groups".into(),
        places: shown.iter().map(|bar| bar.value.to_string()).collect(),
        groups: Vec::new(),
        kinds: vec![("groups".into(), shown.iter().map(|bar| Some(value(bar) as f64)).collect())],
        y_label: whole,
    })
}

/// How many records are in groups below each value, on an axis of powers of ten where values go far.
fn cumulative(title: &str, x_name: &str, n_records: u64, bars: &[Bar]) -> String {
    let most = bars.last().map_or(1, |bar| bar.value + 1);
    let is_far = most > 100;
    let x = |value: u64| if is_far { (value.max(1) as f64).log10() } else { value as f64 };
    let end = (most, n_records);
    let below = bars.iter().map(|bar| (bar.value, bar.n_records_below)).chain([end]);
    let point = |(value, n): (u64, u64)| Point {
        x: x(value),
        y: n as f64,
        title: format!("{x_name} = {}: {} ({})", grouped(value), grouped(n), percent(n, n_records)),
    };
    let (x_max, n_x_ticks) = match is_far {
        true => (x(most).ceil(), x(most).ceil() as usize),
        false => (round_above(most as f64), N_TICKS),
    };
    chart::svg(&Chart {
        title: title.into(),
        x_name: x_name.into(),
        y_name: "records".into(),
        x_max,
        y_max: round_above(n_records.max(1) as f64),
        x_label: Box::new(move |x| match is_far {
            true => grouped(10f64.powf(x).round() as u64),
            false => format!("{x:.0}"),
        }),
        y_label: whole,
        n_x_ticks,
        is_stepped: true,
        dots: Vec::new(),
        lines: vec![Line { name: String::new(), points: below.map(point).collect() }],
    })
}

/// A criterion's value, for tables.
pub fn value_of(criterion: Criterion) -> String {
    sentences::number_in_words(criterion.measure, criterion.value).replace(',', "")
}
