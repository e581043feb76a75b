//! What searches for single records look at, as a document, as rows and as pictures.

use incrowd::recode::per_record::{Risk, Strategy};
use incrowd::wire;
use serde_json::{Value, json};

use super::figures::{Figure, capital, over_whole, whole};
use crate::orders::study_records::{BesideRow, SearchRow, StudiedRecords};
use crate::output::chart::{self, Chart, Line, N_TICKS, Point, round_above};

/// A number, or nothing where it was not counted.
fn number(value: f64) -> Value {
    if value.is_finite() { json!(wire::rounded(value)) } else { Value::Null }
}

pub fn document(study: &StudiedRecords) -> Value {
    let search = |row: &SearchRow| {
        json!({
            "risk": row.risk.name(),
            "search": name(row.search),
            "n_attributes": row.n_attributes,
            "threshold": row.threshold,
            "mean_n_visited": number(row.mean_visited),
            "frontier_share": number(row.frontier_share),
            "mean_risk": number(row.mean_risk),
            "is_exact": row.is_exact,
            "seconds": number(row.seconds),
        })
    };
    let beside = |row: &BesideRow| {
        json!({
            "risk": row.risk.name(),
            "k": row.k,
            "n_schemes": row.n_schemes,
            "schemes": { "utility": number(row.utility), "risk": number(row.risk_of_schemes) },
            "records": { "utility": number(row.utility_of_records), "risk": number(row.risk_of_records) },
        })
    };
    json!({
        "quasi_identifiers": study.attributes,
        "n_records": study.n_records,
        "n_sampled": study.n_sampled,
        "by_threshold": study.by_threshold.iter().map(search).collect::<Vec<Value>>(),
        "by_set": study.by_set.iter().map(search).collect::<Vec<Value>>(),
        "beside_schemes": study.beside.iter().map(beside).collect::<Vec<Value>>(),
    })
}

/// What a search is called: the papers' by their names.
pub fn name(search: Strategy) -> &'static str {
    match search {
        Strategy::BestFirst => "BTDA",
        Strategy::Walk => "walk",
        Strategy::Optimum => "ours",
    }
}

pub const HEADER: [&str; 8] =
    ["risk", "search", "n_attributes", "threshold", "mean_n_visited", "frontier_share", "mean_risk", "microseconds"];

pub fn rows(study: &StudiedRecords) -> Vec<Vec<String>> {
    let row = |row: &SearchRow| {
        vec![
            row.risk.name().to_string(),
            name(row.search).to_string(),
            row.n_attributes.to_string(),
            format!("{} %", row.threshold),
            format!("{:.1}", row.mean_visited),
            format!("{:.4}", row.frontier_share),
            format!("{:.6}", row.mean_risk),
            format!("{:.1}", row.seconds * 1e6),
        ]
    };
    study.by_threshold.iter().chain(&study.by_set).map(row).collect()
}

pub const BESIDE_HEADER: [&str; 7] =
    ["risk", "k", "schemes", "utility of schemes", "risk of schemes", "utility of records", "risk of records"];

pub fn beside_rows(study: &StudiedRecords) -> Vec<Vec<String>> {
    let row = |row: &BesideRow| {
        vec![
            row.risk.name().to_string(),
            row.k.to_string(),
            row.n_schemes.to_string(),
            format!("{:.2}", row.utility),
            format!("{:.6}", row.risk_of_schemes),
            format!("{:.2}", row.utility_of_records),
            format!("{:.6}", row.risk_of_records),
        ]
    };
    study.beside.iter().map(row).collect()
}

type Value64 = fn(&SearchRow) -> f64;

/// The pictures: what each search looks at and takes, against the threshold and the number of attributes; risk and utility
/// beside k-anonymous schemes.
pub fn figures(study: &StudiedRecords) -> Vec<Figure> {
    let mut figures = Vec::new();
    // Searches see the same generalizations by the first two models; one of them is shown.
    let risk = Risk::ALL[0];
    let frontier = over(&study.by_threshold, risk, false, |row| row.frontier_share * 100.0, &[Strategy::Optimum]);
    let frontier = frontier.into_iter().map(|line| Line { name: String::new(), ..line }).collect();
    figures.push(Figure {
        name: "frontier".into(),
        title: "Generalizations on the frontier, against the threshold (Figure 7 a)".into(),
        caption: format!("Percent of all generalizations of a record, on average over {}.", study.n_sampled),
        svg: percent_chart("Frontier", "percent of the generalizations", |y| format!("{y:.1}"), frontier),
    });
    let looks: [(&str, &str, Value64, fn(f64) -> String); 2] = [
        ("visited", "generalizations looked at", |row| row.mean_visited, whole),
        ("time", "time per record, in µs", |row| row.seconds * 1e6, whole),
    ];
    for (file, y_name, of, label) in looks {
        let lines = over(&study.by_threshold, risk, false, of, &Strategy::ALL);
        figures.push(Figure {
            name: format!("{file}-threshold"),
            title: format!("{} against the threshold (Figure 7 b)", capital(y_name.trim_end_matches(", in µs"))),
            caption: format!(
                "{} records, {} attributes, risk by {}.",
                study.n_sampled,
                study.attributes.len(),
                risk.name()
            ),
            svg: percent_chart(file, y_name, label, lines),
        });
        let lines = over(&study.by_set, risk, true, of, &Strategy::ALL);
        let x_max = study.by_set.iter().map(|row| row.n_attributes).max().unwrap_or(1);
        figures.push(Figure {
            name: format!("{file}-attributes"),
            title: format!(
                "{} against the number of attributes (Figure 7 c and d)",
                capital(y_name.trim_end_matches(", in µs"))
            ),
            caption: format!("{} records that keep half of their utility, risk by {}.", study.n_sampled, risk.name()),
            svg: over_whole(file, "quasi-identifiers", y_name, x_max, label, lines),
        });
    }
    figures.extend(Risk::ALL.into_iter().filter_map(|risk| beside(study, risk)));
    figures
}

fn over(rows: &[SearchRow], risk: Risk, by_set: bool, of: Value64, searches: &[Strategy]) -> Vec<Line> {
    let line = |&search: &Strategy| Line {
        name: name(search).to_string(),
        points: rows
            .iter()
            .filter(|row| row.risk == risk && row.search == search && of(row).is_finite())
            .map(|row| {
                let x = if by_set { row.n_attributes as f64 } else { f64::from(row.threshold) };
                Point { x, y: of(row), title: format!("{}: {:.2}", name(search), of(row)) }
            })
            .collect(),
    };
    searches.iter().map(line).collect()
}

fn percent_chart(title: &str, y_name: &str, y_label: fn(f64) -> String, lines: Vec<Line>) -> String {
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.y).fold(1e-3, f64::max);
    chart::svg(&Chart {
        title: title.into(),
        x_name: "utility that a record keeps at least".into(),
        y_name: y_name.into(),
        x_max: 100.0,
        y_max: round_above(most),
        x_label: Box::new(|x| format!("{x:.0} %")),
        y_label,
        n_x_ticks: N_TICKS,
        is_stepped: false,
        dots: Vec::new(),
        lines,
    })
}

/// Figure 9: less risk for the same utility.
fn beside(study: &StudiedRecords, risk: Risk) -> Option<Figure> {
    let rows: Vec<&BesideRow> = study.beside.iter().filter(|row| row.risk == risk).collect();
    if rows.is_empty() {
        return None;
    }
    // The third model is below 0: the further, the better.
    let sign = if rows.iter().any(|row| row.risk_of_schemes < 0.0 || row.risk_of_records < 0.0) { -1.0 } else { 1.0 };
    let line = |name: &str, of: fn(&BesideRow) -> (f64, f64)| {
        let mut points: Vec<Point> = rows
            .iter()
            .map(|row| {
                let (utility, risk) = of(row);
                Point {
                    x: utility,
                    y: risk * sign,
                    title: format!("k = {}: utility {utility:.2}, risk {risk:.4}", row.k),
                }
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Line { name: name.into(), points }
    };
    let lines = vec![
        line("k-anonymous", |row| (row.utility, row.risk_of_schemes)),
        line("one by one", |row| (row.utility_of_records, row.risk_of_records)),
    ];
    let most = |of: fn(&Point) -> f64| lines.iter().flat_map(|line| &line.points).map(of).fold(1e-6, f64::max);
    let y_name = if sign < 0.0 { "−risk: more is better" } else { "mean risk" };
    Some(Figure {
        name: format!("beside-{}", risk.name()),
        title: format!("Risk against utility, by {} (Figure 9)", risk.name()),
        caption: "Up to ten k-anonymous schemes for each k, and records one by one that keep the same utility.".into(),
        svg: chart::svg(&Chart {
            title: "Risk against utility".into(),
            x_name: "mean utility (depth)".into(),
            y_name: y_name.into(),
            x_max: round_above(most(|point| point.x)),
            y_max: round_above(most(|point| point.y)),
            x_label: Box::new(|x| format!("{x:.0}")),
            y_label: |y| if y >= 10.0 { format!("{y:.0}") } else { format!("{y:.3}") },
            n_x_ticks: N_TICKS,
            is_stepped: false,
            dots: Vec::new(),
            lines,
        }),
    })
}
