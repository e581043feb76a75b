//! Cells replaced one after the other and found line by line, by what is known of each value beforehand: to hold the quick
//! ways against.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use incrowd::Rule;
use incrowd::hierarchy::{DateUnit, LabelTable, OTHER};
use incrowd::number::Decimal;
use incrowd::table::Cells;

use super::replace::{PublishAs, Replacement, Unknown, Unreadable};
use super::{At, CellCheck, ReadOptions, Source};

/// What may stand in a cell: whether it is a number, whether it is a date, whether the hierarchy knows it.
const VALUES: [(&str, bool, bool, bool); 15] = [
    ("12", true, false, false),
    ("17", true, false, false),
    ("42", true, false, false),
    ("63", true, false, false),
    ("88", true, false, false),
    ("<18", false, false, false),
    ("2020-01-31", false, true, false),
    ("2021-12-01", false, true, false),
    ("31.01.2020", false, false, false),
    ("Oslo", false, false, true),
    ("Rome", false, false, true),
    ("Xanadu", false, false, false),
    ("a \"quoted\" one", false, false, false),
    ("", false, false, false),
    ("NA", false, false, false),
];

const TOKENS: [&str; 2] = ["", "NA"];

/// Which value each record has: a few after each other that follow no simple rule.
fn drawn(n_records: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % VALUES.len()
    };
    (0..n_records).map(next).collect()
}

/// The same intervals with ends that are coded at every level.
fn coded() -> Rule {
    intervals().coded(Some(Decimal::from(18)), Some(Decimal::from(80))).expect("between").exact_between()
}

/// A file with a text of one or two lines before each value, and an empty line here and there; with the line on which each
/// record begins.
fn written(records: &[usize]) -> (tempfile::TempDir, Source, Vec<u64>) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut text, mut line, mut lines) = (String::from("name,value\n"), 2, Vec::new());
    for (i, &value) in records.iter().enumerate() {
        if i % 7 == 3 {
            text.push('\n');
            line += 1;
        }
        lines.push(line);
        let name = if i % 5 == 1 { "\"two\nlines\"" } else { "one" };
        let value = VALUES[value].0;
        let value = if value.contains('"') { format!("\"{}\"", value.replace('"', "\"\"")) } else { value.to_string() };
        text.push_str(&format!("{name},{value}\n"));
        line += if i % 5 == 1 { 2 } else { 1 };
    }
    let path = folder.path().join("table.csv");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(text.as_bytes())).expect("a file");
    let source = Source::open(&path, &ReadOptions::default()).expect("a table");
    (folder, source, lines)
}

fn cities() -> Rule {
    Rule::Table(LabelTable::parse("cities", "Oslo;North\nRome;South\n").expect("labels"))
}

fn intervals() -> Rule {
    Rule::intervals(vec![5.0, 10.0], 0.0).expect("widths")
}

fn replacement(rule: Rule) -> Replacement {
    Replacement {
        column: "value".into(),
        tokens: TOKENS.map(String::from).to_vec(),
        rule,
        unreadable: Unreadable::Error,
        unknown: Unknown::Error,
        known: None,
        publish_as: None,
    }
}

fn of_cities(unknown: Unknown) -> Replacement {
    let rule = if unknown == Unknown::Other { cities().with_other() } else { cities() };
    let known = rule.table().map(|table| Arc::new(table.known()));
    Replacement { unknown, known, ..replacement(rule) }
}

/// What a cell becomes, and whether that counts as a cell that was replaced because it does not fit.
type Expected = Box<dyn Fn(&str, bool, bool, bool) -> (Option<String>, bool)>;

/// Replacements of every kind, each with what it means in plain words.
fn kinds(records: &[usize]) -> Vec<(Replacement, Expected)> {
    let itself = |text: &str| (Some(text.to_string()), false);
    let missing = Unreadable::Missing;
    let days = Rule::dates(vec![DateUnit::Month]).expect("a unit");
    // The number that no more than half of all numbers are below; numbers of two digits are not rounded.
    let mut numbers: Vec<u32> = records.iter().filter_map(|value| VALUES[*value].0.parse().ok()).collect();
    numbers.sort_unstable();
    let top = numbers.get(numbers.len() / 2).copied().unwrap_or(0);
    let round = PublishAs::Round(Decimal::from(10));
    let half = PublishAs::Top(Decimal::parse("0.5").expect("a half"));
    vec![
        (
            Replacement { unreadable: missing, ..replacement(intervals()) },
            Box::new(move |text, is_number, _, _| if is_number { itself(text) } else { (None, true) }),
        ),
        (
            Replacement { unreadable: missing, ..replacement(days) },
            Box::new(move |text, _, is_date, _| if is_date { itself(text) } else { (None, true) }),
        ),
        (
            of_cities(Unknown::Missing),
            Box::new(move |text, _, _, is_known| if is_known { itself(text) } else { (None, true) }),
        ),
        (
            of_cities(Unknown::Other),
            Box::new(move |text, _, _, is_known| if is_known { itself(text) } else { (Some(OTHER.into()), true) }),
        ),
        (
            Replacement { unreadable: missing, ..replacement(coded()) },
            Box::new(move |text, is_number, _, _| match text {
                "12" | "17" | "<18" => (Some("<18".into()), false),
                "88" => (Some(">=80".into()), false),
                _ if is_number => itself(text),
                _ => (None, true),
            }),
        ),
        (
            Replacement { unreadable: missing, publish_as: Some(round), ..replacement(Rule::Flat) },
            Box::new(move |text, is_number, _, _| match text.parse::<f64>() {
                Ok(number) if is_number => (Some(format!("{}", (number / 10.0).round() * 10.0)), false),
                _ => (None, true),
            }),
        ),
        (
            Replacement { unreadable: missing, publish_as: Some(half), ..replacement(Rule::Flat) },
            Box::new(move |text, is_number, _, _| match text.parse::<u32>() {
                Ok(number) if is_number && number >= top => (Some(format!(">={top}")), false),
                Ok(_) if is_number => itself(text),
                _ => (None, true),
            }),
        ),
    ]
}

/// The cells of a column, as texts; none where there is no value.
fn cells_of(batch: &RecordBatch) -> Vec<Option<String>> {
    let cells = Cells::new("value", batch.column(0)).expect("texts");
    let mut text = String::new();
    (0..batch.num_rows()).map(|i| cells.read(i, &mut text).then(|| text.clone())).collect()
}

#[test]
fn cells_are_replaced_as_one_by_one() {
    // The last are several pieces of a file.
    for (n_records, seed) in [(0, 1), (1, 2), (40, 3), (41, 4), (500, 5), (500_000, 6)] {
        let records = drawn(n_records, seed);
        for (number, (replacement, expected)) in kinds(&records).into_iter().enumerate() {
            let (_folder, source, _) = written(&records);
            let source = source.replacing(vec![replacement]);
            let mut found = Vec::new();
            let columns = ["value".to_string()];
            source.for_each(&columns, |batch, _| Ok(found.extend(cells_of(&batch)))).expect("it can be read");
            let mut n_replaced = 0;
            let one_by_one: Vec<Option<String>> = records
                .iter()
                .map(|&value| {
                    let (text, is_number, is_date, is_known) = VALUES[value];
                    let (text, is_replaced) = match TOKENS.contains(&text) {
                        true => (Some(text.to_string()), false),
                        false => expected(text, is_number, is_date, is_known),
                    };
                    n_replaced += u64::from(is_replaced);
                    text
                })
                .collect();
            assert!(found == one_by_one, "kind {number} of {n_records} records");
            let counted: u64 = source.replaced().iter().map(|known| known.n_unreadable + known.n_unknown).sum();
            assert_eq!(counted, n_replaced, "kind {number} of {n_records} records");
        }
    }
}

#[test]
fn cells_are_found_on_the_lines_that_they_stand_on() {
    let tokens = TOKENS.map(String::from);
    let is_fit = |(text, ..): &(&str, bool, bool, bool)| TOKENS.contains(text);
    for (n_records, seed) in [(0, 1), (1, 2), (40, 3), (500, 5), (500_000, 6)] {
        let records = drawn(n_records, seed);
        let (_folder, source, lines) = written(&records);
        for (rule, number) in [(intervals(), 0), (cities(), 1), (coded(), 2)] {
            let places = source.unfit("value", &CellCheck::of(&rule, rule.needs(), &tokens)).expect("it can be read");
            let is_unfit = |value: &usize| {
                let known = &VALUES[*value];
                let is_known = [known.1, known.3, known.1 || known.0 == "<18"][number];
                !is_fit(known) && !is_known
            };
            let unfit: Vec<(u64, &str)> = records
                .iter()
                .zip(&lines)
                .filter(|(v, _)| is_unfit(v))
                .map(|(v, line)| (*line, VALUES[*v].0))
                .collect();
            assert_eq!(places.n_cells, unfit.len() as u64);
            let first: Vec<At> = unfit.iter().take(5).map(|(line, _)| At::Line(*line)).collect();
            assert_eq!(places.first.iter().map(|place| place.at).collect::<Vec<_>>(), first);
            for (text, n_cells, first) in &places.values {
                let of_value: Vec<u64> =
                    unfit.iter().filter(|(_, known)| known == text).map(|(line, _)| *line).collect();
                assert_eq!(*n_cells, of_value.len() as u64, "{text}");
                let expected: Vec<At> = of_value.into_iter().take(5).map(At::Line).collect();
                assert_eq!(first.iter().map(|place| place.at).collect::<Vec<_>>(), expected, "{text}");
            }
            let n_in_values: u64 = places.values.iter().map(|(_, n, _)| n).sum();
            assert_eq!(n_in_values, places.n_cells);
        }
    }
}
