//! How the values of a column could get coarser, and how the project file writes it.

use incrowd::Rule;
use incrowd::hierarchy::{DateUnit, Side};
use incrowd::number::Decimal;
use incrowd::table::Kind;

use super::groups::{is_category, suggest_groups};
use super::look::SurveyedColumn;
use super::shapes::Shape;

/// Few enough values to look at one by one.
pub(super) const N_FEW: u64 = 40;

/// How the values of a column could get coarser.
pub(super) fn suggest_rule(column: &SurveyedColumn) -> (Rule, String) {
    let n_distinct = column.n_distinct;
    let is_postcode = column.has_concept("postcode") || column.shape == Some(Shape::Postcode);
    // Digits that are not a number, because some begin with 0: the first ones say most.
    let is_long_code = column.kind == Kind::Text && column.n_characters.0 >= 3;
    let is_category = is_category(column, column.named());
    match (column.kind, column.range) {
        _ if n_distinct.n <= 2 => (Rule::Flat, format!("{n_distinct} distinct values, shown or hidden")),
        (Kind::Integer | Kind::Text, _) if column.is_code() && (is_postcode || is_long_code) => {
            let n = column.n_characters.1;
            (mask(n), format!("{n} digits, hidden from the right"))
        }
        (Kind::Text, _) if is_postcode => (mask(column.n_characters.1), "characters hidden from the right".into()),
        (Kind::Integer | Kind::Number, Some((least, greatest)))
            if !is_category && (greatest - least > 2.0 || column.kind == Kind::Number) =>
        {
            let (rule, why) = intervals(column, least, greatest);
            quantiles(column, &rule).unwrap_or((rule, why))
        }
        (Kind::Date, Some((first, last))) => dates((last - first) / 365.2425),
        _ => suggest_groups(column).unwrap_or_else(|| flat(column, is_category)),
    }
}

/// Shown or hidden, and what would be better.
fn flat(column: &SurveyedColumn, is_category: bool) -> (Rule, String) {
    let n_distinct = column.n_distinct;
    let is_date = column.has_concept("date") || column.has_concept("birth");
    let what = if is_category && column.kind.is_numeric() { "codes" } else { "distinct values" };
    let why = match column.kind {
        Kind::Text if is_date || column.shape.is_some_and(Shape::is_date) => {
            "no dates like 2024-03-31, which could become months and years; shown or hidden".into()
        }
        _ if n_distinct.n <= N_FEW => {
            format!("{n_distinct} {what}, shown or hidden; a tree of groups would lose less")
        }
        _ => format!("{n_distinct} {what}, shown or hidden; a file of groups would lose less"),
    };
    (Rule::Flat, why)
}

/// Round numbers between which about as many records lie, where intervals of one width would put most into one.
fn quantiles(column: &SurveyedColumn, equal: &Rule) -> Option<(Rule, String)> {
    let Rule::Intervals { widths, origin } = equal else { return None };
    let sample = &column.sample;
    let (width, origin) = (widths.first()?.to_f64(), origin.to_f64());
    let place = |number: f64| ((number - origin) / width).floor();
    let fullest = sample.chunk_by(|a, b| place(*a) == place(*b)).max_by_key(|chunk| chunk.len())?;
    if sample.len() < 50 || 2 * fullest.len() <= sample.len() {
        return None;
    }
    // A number that most records have, often 0, gets no cut among its own.
    let mode = sample.chunk_by(|a, b| a == b).max_by_key(|chunk| chunk.len())?;
    let mode = (3 * mode.len() > sample.len()).then_some(mode[0]);
    let rest: Vec<f64> = sample.iter().copied().filter(|number| Some(*number) != mode).collect();
    let is_whole = column.kind == Kind::Integer;
    let cut = |i: usize| rounded(rest[i * rest.len() / 8], is_whole);
    let mut cuts: Vec<f64> = if rest.len() < 16 { return None } else { (1..8).map(cut).collect() };
    if let Some(mode) = mode {
        // What is above the number that most have begins at the next one.
        cuts.push(if is_whole { mode + 1.0 } else { rest.iter().copied().find(|number| *number > mode)? });
        cuts.push(mode);
    }
    let least = sample[0];
    cuts.retain(|cut| *cut > least);
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let every = |step: usize| -> Vec<f64> { cuts.iter().copied().skip(step - 1).step_by(step).collect() };
    let mut levels = vec![cuts.clone(), every(2), every(4)];
    levels.retain(|level| !level.is_empty());
    levels.dedup();
    let n = levels.first().map_or(0, Vec::len);
    let why = format!(
        "{} of which most lie close together: cut at {n} round numbers with about as many records between them",
        column.kind.name()
    );
    (n >= 2).then(|| Rule::cuts(levels).ok()).flatten().map(|rule| (rule, why))
}

/// To two digits, so that a cut says nothing of a single record.
fn rounded(number: f64, is_whole: bool) -> f64 {
    if number == 0.0 {
        return 0.0;
    }
    let exponent = number.abs().log10().floor() as i32 - 1;
    let exponent = if is_whole { exponent.max(0) } else { exponent };
    scaled(scaled(number, -exponent).round(), exponent)
}

/// One character more per level; two or more for long texts, so that there are not too many levels.
fn mask(n_characters: usize) -> Rule {
    let step = n_characters.div_ceil(8).max(1);
    let hidden: Vec<usize> = (1..n_characters).filter(|n| n % step == 0).collect();
    Rule::mask(hidden, Side::Right).unwrap_or(Rule::Flat)
}

fn dates(n_years: f64) -> (Rule, String) {
    let mut units = vec![DateUnit::Month, DateUnit::Quarter, DateUnit::Year];
    if n_years > 20.0 {
        units.push(DateUnit::Decade);
    }
    let names: Vec<&str> = units.iter().map(|unit| unit.name()).collect();
    let why = format!("dates by {}", names.join(", "));
    (Rule::dates(units).expect("the units go from fine to coarse"), why)
}

/// About fifteen intervals at first, then half as many, three times: 1, 2 or 5 times a power of ten, doubled and doubled.
fn intervals(column: &SurveyedColumn, least: f64, greatest: f64) -> (Rule, String) {
    let range = (greatest - least).max(f64::MIN_POSITIVE);
    let exponent = (range / 15.0).log10().floor() as i32;
    let mantissa = nice_mantissa(range / 15.0 / 10f64.powi(exponent));
    let (mantissa, exponent) = match column.kind {
        // Intervals of one whole number are the numbers themselves.
        Kind::Integer if exponent < 0 || (exponent == 0 && mantissa < 2.0) => (2.0, 0),
        _ => (mantissa, exponent),
    };
    let width = |doublings: i32| scaled(mantissa * 2f64.powi(doublings), exponent);
    let widths: Vec<f64> = (0..4)
        .map(width)
        .enumerate()
        .filter(|(i, width)| *i == 0 || *width <= range / 1.5)
        .map(|(_, width)| width)
        .collect();
    let widest = mantissa * 2f64.powi(widths.len() as i32 - 1);
    // Intervals begin at multiples of the widest: 20-39 reads better than 17-36.
    let origin = scaled((least / scaled(widest, exponent)).floor() * widest, exponent);
    let list: Vec<String> = widths.iter().map(f64::to_string).collect();
    let why = format!(
        "{} with {} distinct values: intervals of {} from {origin}",
        column.kind.name(),
        column.n_distinct,
        list.join(", ")
    );
    match Rule::intervals(widths, origin) {
        Ok(rule) => (rule, why),
        // Numbers too large or too small to be told apart.
        Err(_) => (Rule::Flat, format!("{} distinct values, shown or hidden", column.n_distinct)),
    }
}

/// The nearest of 1, 2, 5 and 10 by ratio.
fn nice_mantissa(mantissa: f64) -> f64 {
    match mantissa {
        m if m < 2f64.sqrt() => 1.0,
        m if m < 10f64.sqrt() => 2.0,
        m if m < 50f64.sqrt() => 5.0,
        _ => 10.0,
    }
}

/// A number times a power of ten, rounded once, so that it prints as it was meant.
fn scaled(number: f64, exponent: i32) -> f64 {
    match exponent {
        e if e < 0 => number / 10f64.powi(-e),
        e => number * 10f64.powi(e),
    }
}

/// A rule as the project file writes it; none for a flat one, which needs no words.
pub fn rule_toml(rule: &Rule) -> Option<String> {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match rule {
        Rule::Intervals { widths, origin } => {
            let widths = list(widths.iter().copied().map(number_toml).collect());
            Some(format!("{{ intervals = {widths}, origin = {} }}", number_toml(*origin)))
        }
        Rule::Mask { hidden, .. } if hidden.iter().copied().eq(1..=hidden.len()) => {
            Some(format!("{{ mask = {} }}", hidden.len() + 1))
        }
        Rule::Mask { hidden, .. } => {
            Some(format!("{{ mask = {} }}", list(hidden.iter().map(usize::to_string).collect())))
        }
        Rule::Dates { units } => {
            Some(format!("{{ dates = {} }}", list(units.iter().map(|unit| format!("\"{}\"", unit.name())).collect())))
        }
        Rule::Cuts { levels } => {
            let level = |cuts: &Vec<Decimal>| list(cuts.iter().copied().map(number_toml).collect());
            Some(format!("{{ cuts = {} }}", list(levels.iter().map(level).collect())))
        }
        Rule::Table(table) => {
            let rows: Vec<&[String]> = table.rows().collect();
            let depth = rows.first().map_or(0, |row| row.len());
            Some(format!("{{ tree = {} }}", branch_toml(&rows, depth)))
        }
        Rule::Flat => None,
        _ => unreachable!("no other is ever suggested"),
    }
}

/// Whether a rule is made of values of the table, which are nobody's business where values are not shown.
pub fn holds_values(rule: &Rule) -> bool {
    matches!(rule, Rule::Table(_))
}

/// The branches below a label, or the values where there is no label left.
fn branch_toml(rows: &[&[String]], depth: usize) -> String {
    if depth <= 1 {
        let values: Vec<String> = rows.iter().map(|row| quoted(&row[0])).collect();
        return format!("[{}]", values.join(", "));
    }
    let mut labels: Vec<&String> = Vec::new();
    for row in rows {
        if !labels.contains(&&row[depth - 1]) {
            labels.push(&row[depth - 1]);
        }
    }
    let branch = |label: &&String| {
        let below: Vec<&[String]> = rows.iter().copied().filter(|row| row[depth - 1] == **label).collect();
        format!("{} = {}", quoted(label), branch_toml(&below, depth - 1))
    };
    format!("{{ {} }}", labels.iter().map(branch).collect::<Vec<_>>().join(", "))
}

/// A text of TOML in double quotes.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\t' => quoted.push_str("\\t"),
            control if control.is_control() => quoted.push_str(&format!("\\u{:04X}", control as u32)),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn number_toml(number: Decimal) -> String {
    let text = number.to_string();
    match text.parse::<i64>().is_ok() {
        true => text,
        false => format!("{:?}", number.to_f64()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::tally::Amount;

    #[test]
    fn hierarchies_fit_what_they_are_for() {
        let column = |name: &str, kind: Kind, n_distinct: u64, range: Option<(f64, f64)>, n: usize, is_digits: bool| {
            let n_distinct = Amount { n: n_distinct, is_exact: true };
            SurveyedColumn { n_distinct, range, n_characters: (n, n), is_digits, ..SurveyedColumn::empty(name, kind) }
        };
        let number = |least: f64, greatest: f64| column("x", Kind::Number, 100, Some((least, greatest)), 3, false);
        let integer = |least: f64, greatest: f64| column("x", Kind::Integer, 100, Some((least, greatest)), 3, false);
        for (column, expected) in [
            (integer(17.0, 90.0), "{ intervals = [5, 10, 20, 40], origin = 0 }"),
            (integer(1923.0, 2007.0), "{ intervals = [5, 10, 20, 40], origin = 1920 }"),
            (integer(1.0, 16.0), "{ intervals = [2, 4, 8], origin = 0 }"),
            (integer(0.0, 4.0), "{ intervals = [2], origin = 0 }"),
            (integer(-7.0, 90_000.0), "{ intervals = [5000, 10000, 20000, 40000], origin = -40000 }"),
            (number(0.13, 0.97), "{ intervals = [0.05, 0.1, 0.2, 0.4], origin = 0 }"),
            (number(36.1, 41.9), "{ intervals = [0.5, 1, 2], origin = 36 }"),
            (
                column("day", Kind::Date, 100, Some((0.0, 400.0)), 10, false),
                "{ dates = [\"month\", \"quarter\", \"year\"] }",
            ),
            (
                column("day", Kind::Date, 100, Some((0.0, 9000.0)), 10, false),
                "{ dates = [\"month\", \"quarter\", \"year\", \"decade\"] }",
            ),
            (column("plz", Kind::Text, 100, None, 5, true), "{ mask = 5 }"),
            (column("zip", Kind::Integer, 100, Some((10000.0, 99999.0)), 5, true), "{ mask = 5 }"),
            (column("postcode", Kind::Text, 100, None, 16, false), "{ mask = [2, 4, 6, 8, 10, 12, 14] }"),
        ] {
            assert_eq!(rule_toml(&suggest_rule(&column).0).as_deref(), Some(expected));
        }
        for column in [
            column("sex", Kind::Text, 2, None, 1, false),
            column("job", Kind::Text, 12, None, 1, false),
            column("city", Kind::Text, 900, None, 1, false),
            column("flag", Kind::Integer, 3, Some((0.0, 2.0)), 1, true),
        ] {
            assert_eq!(suggest_rule(&column).0, Rule::Flat);
        }
    }
}
