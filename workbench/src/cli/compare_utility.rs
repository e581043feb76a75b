//! What `compare` shows of distributions, associations, a regression and a classifier.

use incrowd::utility::association::Association;
use incrowd::utility::preview::{TargetUtility, Utility};
use incrowd::utility::regression::{Coefficient, Estimate, Model};

use crate::orders::compare::Compared;
use crate::orders::contenders::ContenderResult;

/// Columns of texts with their header.
pub type TextTable = (Vec<String>, Vec<Vec<String>>);

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| word.to_string()).collect()
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// What became of the target of a row, where one is named.
pub fn target(row: &ContenderResult) -> Option<&TargetUtility> {
    row.utility.as_ref()?.target.as_ref()
}

/// By how much the association changes that changes most.
pub fn change(utility: &Utility) -> f64 {
    utility.most_changed().map_or(0.0, Association::change)
}

/// A line per method; none where nothing was looked at.
pub fn columns<'a>(rows: impl Iterator<Item = &'a ContenderResult> + Clone) -> Option<TextTable> {
    let first = rows.clone().find_map(|row| row.utility.as_ref())?;
    let mut header = texts(&["changes of", "distributions", "associations", "most changed"]);
    if let Some(target) = &first.target {
        header.push("intervals".to_string());
        header.push(format!("tells {}", target.attribute));
    }
    let line = |row: &ContenderResult| {
        let utility = row.utility.as_ref()?;
        let pair = utility.most_changed().map_or("–".to_string(), |pair| {
            let (one, other) = &pair.attributes;
            format!("{one}, {other}: {:.2} to {:.2}", pair.before, pair.after)
        });
        let mut cells = vec![row.contender.name(), format!("{:.4}", utility.mean_distance())];
        cells.extend([format!("{:.4}", change(utility)), pair]);
        if let Some(target) = &utility.target {
            cells.extend([percent(target.regression.overlap), percent(target.accuracy.after)]);
        }
        Some(cells)
    };
    let mut lines: Vec<Vec<String>> = rows.filter_map(line).collect();
    if let Some(TargetUtility { accuracy, .. }) = &first.target {
        let fixed = |name: &str, overlap: &str, accuracy: f64| {
            vec![name.to_string(), "–".into(), "–".into(), "–".into(), overlap.to_string(), percent(accuracy)]
        };
        lines.push(fixed("the source itself", "100.0 %", accuracy.before));
        lines.push(fixed("always the most frequent", "–", accuracy.baseline));
    }
    Some((header, lines))
}

/// The distance of every attribute's distribution, a line per method.
pub fn distances<'a>(rows: impl Iterator<Item = &'a ContenderResult> + Clone) -> Option<TextTable> {
    let first = rows.clone().find_map(|row| row.utility.as_ref())?;
    let names = first.distributions.iter().map(|distribution| distribution.attribute.clone());
    let header = std::iter::once("distribution of".to_string()).chain(names).collect();
    let line = |row: &ContenderResult| {
        let distances = row.utility.as_ref()?.distributions.iter().map(|one| format!("{:.4}", one.distance));
        Some(std::iter::once(row.contender.name()).chain(distances).collect())
    };
    Some((header, rows.filter_map(line).collect()))
}

/// Every coefficient before and after, a line per coefficient and two columns per method.
pub fn coefficients<'a>(rows: impl Iterator<Item = &'a ContenderResult> + Clone) -> Option<TextTable> {
    let first = target(rows.clone().next()?)?;
    let mut header = texts(&["coefficient", "source"]);
    header.extend(rows.clone().map(|row| row.contender.name()));
    let interval = |one: &Estimate| format!("{:.3} [{:.3}, {:.3}]", one.value, one.low, one.high);
    let line = |(i, coefficient): (usize, &Coefficient)| {
        let name = match &coefficient.category {
            Some(category) => format!("{} = {category}", coefficient.attribute),
            None => coefficient.attribute.clone(),
        };
        let of_row = |row: &ContenderResult| {
            let found = target(row).and_then(|target| target.regression.coefficients.get(i))?.after;
            found.as_ref().map(interval)
        };
        let after = rows.clone().map(|row| of_row(row).unwrap_or("–".to_string()));
        [name, interval(&coefficient.before)].into_iter().chain(after).collect()
    };
    Some((header, first.regression.coefficients.iter().enumerate().map(line).collect()))
}

/// What is fitted, in words.
pub fn model_in_words(target: &TargetUtility) -> String {
    match &target.regression.model {
        Model::LeastSquares => format!("least squares of {} on the quasi-identifiers", target.attribute),
        Model::Logistic(category) => {
            format!("logistic regression of {} = {category} on the quasi-identifiers", target.attribute)
        }
    }
}

/// The names of the columns for machines.
pub fn machine_header(compared: &Compared) -> Vec<String> {
    let Some(first) = compared.rows.iter().find_map(|row| row.utility.as_ref()) else { return Vec::new() };
    let mut header = texts(&["distribution_distance", "association_change"]);
    if first.target.is_some() {
        header.extend(texts(&["interval_overlap", "accuracy", "accuracy_of_source", "accuracy_baseline"]));
    }
    header
}

/// The same columns of one row.
pub fn machine_cells(row: &ContenderResult) -> Vec<String> {
    let Some(utility) = &row.utility else { return Vec::new() };
    let mut cells = vec![utility.mean_distance(), change(utility)];
    if let Some(TargetUtility { regression, accuracy, .. }) = &utility.target {
        cells.extend([regression.overlap, accuracy.after, accuracy.before, accuracy.baseline]);
    }
    cells.into_iter().map(|value| format!("{value:.6}")).collect()
}
