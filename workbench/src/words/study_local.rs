//! What local recoding loses beside other methods, as a document, as rows and as pictures.

use incrowd::wire;
use serde_json::{Value, json};

use super::documents::compared;
use super::figures::{Figure, capital, over_whole, whole};
use crate::orders::compare::Compared;
use crate::orders::contenders::ContenderResult;
use crate::orders::study_local::StudiedLocal;
use crate::output::chart::{self, Chart, Line, N_TICKS, Point, round_above};
use crate::sentences::grouped;

/// Everything, in the form that `compare` has.
pub fn document(study: &StudiedLocal) -> Value {
    let n = |compared: &Compared| compared.counted.hierarchies.len();
    let n_records = |compared: &Compared| compared.counted.counts.n_records();
    json!({
        "k": study.k,
        "by_k": compared(&study.by_k),
        "by_set": study.by_set.iter().map(|of| json!({ "n_quasi_identifiers": n(of), "compared": compared(of) })).collect::<Vec<Value>>(),
        "by_records": study.by_records.iter().map(|of| json!({ "n_records": n_records(of), "compared": compared(of) })).collect::<Vec<Value>>(),
    })
}

/// The columns of the rows.
pub const HEADER: [&str; 12] = [
    "n_records",
    "n_quasi_identifiers",
    "k",
    "method",
    "ncp",
    "c_dm",
    "c_avg",
    "c_avg_over_k",
    "query_error",
    "query_error_90",
    "lost",
    "seconds",
];

/// A row per number of records, set, k and method.
pub fn rows(study: &StudiedLocal) -> Vec<Vec<String>> {
    let of = |compared: &Compared| {
        let n = compared.counted.hierarchies.len();
        compared.rows.iter().map(|row| texts(compared.counted.counts.n_records(), n, row)).collect::<Vec<_>>()
    };
    let mut rows = of(&study.by_k);
    rows.extend(study.by_set.iter().chain(&study.by_records).flat_map(of));
    rows
}

fn texts(n_records: u64, n: usize, row: &ContenderResult) -> Vec<String> {
    let number = |value: f64| wire::rounded(value).to_string();
    let judgement = &row.judgement;
    vec![
        n_records.to_string(),
        n.to_string(),
        row.k().to_string(),
        row.contender.name(),
        number(judgement.ncp),
        judgement.discernibility.to_string(),
        number(judgement.mean_group_size),
        number(judgement.mean_group_size / row.k().max(1) as f64),
        number(row.error.0),
        number(row.error.1),
        judgement.n_suppressed.to_string(),
        format!("{:.3}", row.cost.seconds),
    ]
}

type Measured = (&'static str, &'static str, fn(&ContenderResult) -> f64, fn(f64) -> String);

const MEASURES: [Measured; 5] = [
    ("ncp", "loss (NCP), in percent", |row| row.judgement.ncp * 100.0, |y| format!("{y:.1}")),
    ("c_dm", "C_DM", |row| row.judgement.discernibility as f64, |y| grouped(y.round() as u64)),
    ("c_avg", "C_AVG", |row| row.judgement.mean_group_size, |y| format!("{y:.1}")),
    ("c_avg_over_k", "C_AVG / k", |row| row.judgement.mean_group_size / row.k().max(1) as f64, |y| format!("{y:.1}")),
    ("query_error", "median error of queries, in percent", |row| row.error.0 * 100.0, |y| format!("{y:.1}")),
];

/// The pictures: every measure against k, the number of attributes and that of records, and what weights do.
pub fn figures(study: &StudiedLocal) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (name, y_name, of, label) in MEASURES {
        let points = study.by_k.rows.iter().map(|row| (row.contender.name(), row.k() as f64, of(row)));
        let title = format!("{} against k", capital(&y_name.replace(", in percent", "")));
        let caption = format!("{} quasi-identifiers.", study.by_k.counted.hierarchies.len());
        figures.push(figure(&format!("{name}-k"), &title, caption, "k", y_name, label, points));
    }
    for (name, y_name, of, label) in MEASURES.into_iter().filter(|_| study.by_set.len() > 1) {
        let points = study.by_set.iter().flat_map(|compared| {
            let n = compared.counted.hierarchies.len() as f64;
            compared.rows.iter().map(move |row| (row.contender.name(), n, of(row)))
        });
        let title = format!("{} against the number of attributes", capital(&y_name.replace(", in percent", "")));
        let caption = format!("k = {}.", study.k);
        figures.push(figure(
            &format!("{name}-attributes"),
            &title,
            caption,
            "quasi-identifiers",
            y_name,
            label,
            points,
        ));
    }
    for (name, y_name, of, label) in MEASURES.into_iter().filter(|_| !study.by_records.is_empty()) {
        let points = study.by_records.iter().chain(all_at(study)).flat_map(|compared| {
            let n = compared.counted.counts.n_records() as f64;
            let rows = compared.rows.iter().filter(|row| row.k() == study.k);
            rows.map(move |row| (row.contender.name(), n, of(row)))
        });
        let title = format!("{} against the number of records", capital(&y_name.replace(", in percent", "")));
        let caption = format!("k = {}; samples that chance chose, and all records.", study.k);
        figures.push(figure(&format!("{name}-records"), &title, caption, "records", y_name, label, points));
    }
    figures.extend(study.by_set.iter().filter_map(weights));
    figures
}

/// Where all records are compared at the k of the samples.
fn all_at(study: &StudiedLocal) -> Option<&Compared> {
    let n = study.by_k.counted.hierarchies.len();
    let with_all = study.by_set.iter().filter(|compared| compared.counted.hierarchies.len() == n);
    std::iter::once(&study.by_k).chain(with_all).find(|compared| compared.rows.iter().any(|row| row.k() == study.k))
}

fn figure(
    name: &str,
    title: &str,
    caption: String,
    x_name: &str,
    y_name: &str,
    y_label: fn(f64) -> String,
    points: impl Iterator<Item = (String, f64, f64)>,
) -> Figure {
    let mut lines: Vec<Line> = Vec::new();
    for (method, x, y) in points {
        let method = method.replace(":published", " (pub.)");
        let point = Point { x, y, title: format!("{method}, {x_name} = {x:.0}: {}", y_label(y)) };
        match lines.iter_mut().find(|line| line.name == method) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name: method, points: vec![point] }),
        }
    }
    let x_max = lines.iter().flat_map(|line| &line.points).map(|point| point.x).fold(1.0, f64::max);
    let svg = match x_max <= 16.0 {
        true => over_whole(title, x_name, y_name, x_max as usize, y_label, lines),
        false => {
            let most = lines.iter().flat_map(|line| &line.points).map(|point| point.y).fold(1e-3, f64::max);
            chart::svg(&Chart {
                title: title.into(),
                x_name: x_name.into(),
                y_name: y_name.into(),
                x_max: round_above(x_max),
                y_max: round_above(most),
                x_label: Box::new(whole),
                y_label,
                n_x_ticks: N_TICKS,
                is_stepped: false,
                dots: Vec::new(),
                lines,
            })
        }
    };
    Figure { name: name.into(), title: title.into(), caption, svg }
}

/// What raising the weight of one attribute does.
fn weights(compared: &Compared) -> Option<Figure> {
    let weighing = compared.weighed.as_ref()?;
    let name = compared.counted.hierarchies[weighing.attribute].attribute();
    let line = |title: &str, of: fn(&crate::orders::contenders::Weighed) -> f64| Line {
        name: title.to_string(),
        points: weighing
            .steps
            .iter()
            .map(|step| {
                let y = of(step) * 100.0;
                Point { x: step.weight.log2(), y, title: format!("weight {}: {y:.1} %", step.weight) }
            })
            .collect(),
    };
    let lines = vec![
        line(&format!("loss of {name}"), |step| step.ncp),
        line("loss of others", |step| step.ncp_of_others),
        line(&format!("error, {name}"), |step| step.error),
        line("error, others", |step| step.error_of_others),
    ];
    let most = lines.iter().flat_map(|line| &line.points).map(|point| point.y).fold(1.0, f64::max);
    let n_steps = weighing.steps.len().saturating_sub(1).max(1);
    let title = format!("What the weight of {name} does");
    let svg = chart::svg(&Chart {
        title: title.clone(),
        x_name: format!("weight of {name}"),
        y_name: "percent".into(),
        x_max: n_steps as f64,
        y_max: round_above(most),
        x_label: Box::new(|x| format!("{:.0}", 2f64.powf(x))),
        y_label: |y| format!("{y:.0}"),
        n_x_ticks: n_steps,
        is_stepped: false,
        dots: Vec::new(),
        lines,
    });
    let caption = format!(
        "{}, k = {}: loss (NCP), and the median error of queries about one attribute.",
        weighing.method.name(),
        weighing.k
    );
    Some(Figure { name: "weights".into(), title, caption, svg })
}
