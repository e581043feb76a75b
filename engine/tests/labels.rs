//! The law of labels: the label of a value contains the value, levels nest, and no range ends before it begins; for
//! every way to make a hierarchy, and for numbers of every size.

use crate::common;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampNanosecondArray, TimestampSecondArray,
};
use common::random::chance;
use incrowd::attack::Meaning;
use incrowd::hierarchy::{ALL_HIDDEN, ANY, DateUnit, LabelTable, Side};
use incrowd::number::Decimal;
use incrowd::table::{Cells, date_text, days_of_date, parse_date};
use incrowd::{Domain, ErrorKind, Hierarchy, Rule};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

// ---- Numbers compared as texts, which shares nothing with what made the labels ----

/// Sign, digits before the point, digits behind it.
fn taken_apart(text: &str) -> (bool, String, String) {
    let (is_negative, rest) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (before, after) = rest.split_once('.').unwrap_or((rest, ""));
    assert!(!rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit() || b == b'.'), "{text} is a plain number");
    let (before, after) = (before.trim_start_matches('0').to_string(), after.trim_end_matches('0').to_string());
    (is_negative && !(before.is_empty() && after.is_empty()), before, after)
}

fn compare(a: &str, b: &str) -> Ordering {
    let ((a_negative, a_before, a_after), (b_negative, b_before, b_after)) = (taken_apart(a), taken_apart(b));
    let by_size = (a_before.len(), &a_before, &a_after).cmp(&(b_before.len(), &b_before, &b_after));
    match (a_negative, b_negative) {
        (true, true) => by_size.reverse(),
        (false, false) => by_size,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// Where a range of numbers begins and ends, and whether it has its end; open where there is no text.
fn ends(label: &str) -> (&str, &str, bool) {
    if let Some(high) = label.strip_prefix('<') {
        return ("", high, false);
    }
    if let Some(low) = label.strip_prefix(">=") {
        return (low, "", false);
    }
    if let Some((low, high)) = label.strip_prefix('[').and_then(|rest| rest.strip_suffix(')')?.split_once(", ")) {
        return (low, high, false);
    }
    // Where a number has a sign, the range is written in words; and a hyphen is never a sign then.
    if let Some((low, high)) = label.split_once(" to ") {
        assert!(low.starts_with('-'), "{label}");
        return (low, high, true);
    }
    match label.strip_prefix('-').is_none().then(|| label.split_once('-')).flatten() {
        Some((low, high)) => (low, high, true),
        None => (label, label, true),
    }
}

fn assert_contains(label: &str, value: &str) {
    if label == ANY {
        return;
    }
    let (low, high, has_high) = ends(label);
    let plain = plain(value);
    assert!(low.is_empty() || compare(low, &plain).is_le(), "{value} is published as {label}");
    let is_below = || compare(&plain, high).is_lt() || (has_high && compare(&plain, high).is_eq());
    assert!(high.is_empty() || is_below(), "{value} is published as {label}");
    assert!(low.is_empty() || high.is_empty() || compare(low, high).is_le(), "{label} ends before it begins");
}

/// A number without exponent.
fn plain(text: &str) -> String {
    let Some((digits, exponent)) = text.split_once(['e', 'E']) else { return text.trim_start_matches('+').to_string() };
    let exponent: i32 = exponent.parse().expect("an exponent");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    let point = before.len() as i32 + exponent;
    let all = format!("{before}{after}");
    match point {
        p if p <= 0 => format!("{sign}0.{}{all}", "0".repeat(p.unsigned_abs() as usize)),
        p if p as usize >= all.len() => format!("{sign}{all}{}", "0".repeat(p as usize - all.len())),
        p => format!("{sign}{}.{}", &all[..p as usize], &all[p as usize..]),
    }
}

/// Values that share a label share all labels above it.
fn assert_nests(hierarchy: &Hierarchy) {
    for level in 1..hierarchy.n_levels() {
        let (below, above) = (hierarchy.level(level - 1), hierarchy.level(level));
        let mut parent_of: HashMap<&str, &str> = HashMap::new();
        for base in 0..hierarchy.level(0).len() {
            let parent = parent_of.entry(below.label_of(base)).or_insert(above.label_of(base));
            assert_eq!(*parent, above.label_of(base), "labels at level {} are one tree", level - 1);
        }
    }
}

fn check_numbers(rule: &Rule, values: &[String], missing: Option<&str>) -> Result<(), incrowd::Error> {
    let domain = Domain::new("n", values.to_vec(), missing);
    let hierarchy = rule.resolve(&domain)?;
    assert_nests(&hierarchy);
    let meaning = Meaning::plain();
    for (code, value) in domain.present() {
        for level in &hierarchy.levels()[1..] {
            let label = level.label_of(code.index());
            assert_contains(label, value);
            let (cell, value) = (Some(label.to_string()), Some(value.to_string()));
            assert!(meaning.allows(&cell, &value), "an attacker reads {label:?} for {value:?}");
        }
    }
    Ok(())
}

// ---- Numbers of every size ----

/// Numbers where computers' numbers end, and some on either side.
fn whole_numbers() -> impl Strategy<Value = String> {
    let near = prop_oneof![
        Just(0i128),
        Just(5_551_234_566),
        Just(1 << 53),
        Just(9_000_000_000_000_000),
        Just(1_000_000_000_000_000_000),
        Just(i128::from(i64::MAX)),
        Just(i128::from(u64::MAX)),
        Just(123_456_789_012_345_678_901_234_567_890),
    ];
    (near, -12..12i128, any::<bool>()).prop_map(|(near, more, is_negative)| {
        let number = near + more;
        if is_negative { (-number).to_string() } else { number.to_string() }
    })
}

fn decimals() -> impl Strategy<Value = String> {
    let fraction = prop_oneof!["[0-9]{1,4}", "9{15,17}", "0{10,14}[1-9]", "29999999999999998", "30000000000000004"];
    let written = (whole_numbers().prop_filter("38 digits in all", |text| n_before(text) <= 20), fraction)
        .prop_map(|(whole, fraction)| format!("{whole}.{fraction}"));
    let short = (-300..300i32).prop_map(|tenths| (f64::from(tenths) / 10.0).to_string());
    let tiny = (-99..99i32, -310..-1i32).prop_map(|(digits, exponent)| format!("{digits}e{exponent}"));
    prop_oneof![2 => written, 3 => short, 1 => tiny, 1 => Just("0.30000000000000004".to_string())]
}

fn numbers() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        vec(whole_numbers().prop_filter("fits 64 bits", |text| text.parse::<i64>().is_ok()), 1..30),
        vec(whole_numbers(), 1..30),
        vec(decimals(), 1..30),
        vec(prop_oneof![whole_numbers(), decimals()], 1..30),
    ]
}

/// How many digits stand before the point.
fn n_before(text: &str) -> usize {
    taken_apart(&plain(text)).1.len()
}

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).expect("a number")
}

fn missing() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![Just(None), Just(Some("?")), Just(Some(""))]
}

proptest! {
    #![proptest_config(chance(400))]

    #[test]
    fn a_number_lies_within_its_interval(
        values in numbers(),
        width in prop_oneof![Just("1"), Just("10"), Just("0.1"), Just("0.3"), Just("2.5"), Just("0.00000000007"),
            Just("7"), Just("1000000007"), Just("4000000000000000001")],
        factors in vec(2..12i64, 0..3),
        origin in prop_oneof![Just("0"), Just("17"), Just("-0.25"), Just("9007199254740993"), Just("0.1")],
        missing in missing(),
    ) {
        let mut widths = vec![decimal(width)];
        for factor in factors {
            let last = widths[widths.len() - 1];
            widths.push((1..factor).fold(last, |sum, _| sum.plus(last).expect("few digits")));
        }
        let n_behind = [width, origin].map(|text| text.split_once('.').map_or(0, |(_, after)| after.len()));
        let rule = Rule::exact_intervals(widths, decimal(origin)).expect("they nest");
        let is_long = values.iter().any(|value| n_before(value) + n_behind[0].max(n_behind[1]) > 37);
        let checked = check_numbers(&rule, &values, missing);
        prop_assert!(checked.is_ok() || is_long, "so many digits are exact: {:?}", checked);
    }

    #[test]
    fn a_number_lies_between_its_cut_points(
        values in numbers(),
        cuts in btree_set(prop_oneof![whole_numbers(), decimals()].prop_map(|text| decimal(&text)), 1..8),
        keep in vec(any::<bool>(), 8),
        missing in missing(),
    ) {
        let fine: Vec<Decimal> = cuts.into_iter().collect();
        let kept = fine.iter().enumerate().filter(|(i, _)| *i == 0 || keep[*i]).map(|(_, &cut)| cut);
        let coarse: Vec<Decimal> = kept.collect();
        check_numbers(&Rule::exact_cuts(vec![fine, coarse]).expect("they nest"), &values, missing).expect("numbers");
    }

    #[test]
    fn a_masked_text_differs_in_what_is_hidden(
        values in vec(prop_oneof![whole_numbers(), "[aé*0 ]{1,6}".prop_map(String::from)], 1..30),
        hidden in btree_set(1..9usize, 1..4),
        is_left in any::<bool>(),
        missing in missing(),
    ) {
        let side = if is_left { Side::Left } else { Side::Right };
        let domain = Domain::new("m", values, missing);
        let rule = Rule::mask(hidden.into_iter().collect(), side).expect("increasing");
        let Ok(hierarchy) = rule.resolve(&domain) else { return Ok(()) };
        assert_nests(&hierarchy);
        for (code, value) in domain.present() {
            for label in hierarchy.levels()[1..hierarchy.top()].iter().map(|level| level.label_of(code.index())) {
                prop_assert!(label != ANY, "{} looks like the top", value);
                let is_same = || label.chars().count() == value.chars().count()
                    && label.chars().zip(value.chars()).all(|(shown, is)| shown == '*' || shown == is);
                prop_assert!(label == ALL_HIDDEN || is_same(), "{} is published as {}", value, label);
                let (cell, value) = (Some(label.to_string()), Some(value.to_string()));
                prop_assert!(Meaning::plain().allows(&cell, &value), "an attacker reads {:?} for {:?}", cell, value);
            }
        }
    }

    #[test]
    fn what_is_kept_of_a_text_is_its_beginning_or_its_end(
        values in vec(prop_oneof![whole_numbers(), "[aé*0 ]{0,6}".prop_map(String::from)], 1..30),
        kept in btree_set(1..9usize, 1..4),
        is_left in any::<bool>(),
        missing in missing(),
    ) {
        let side = if is_left { Side::Left } else { Side::Right };
        let domain = Domain::new("m", values, missing);
        let kept: Vec<usize> = kept.into_iter().rev().collect();
        let rule = Rule::keep(kept.clone(), side).expect("decreasing");
        let Ok(hierarchy) = rule.resolve(&domain) else { return Ok(()) };
        assert_nests(&hierarchy);
        let meaning = Meaning::plain().with_cut(rule.cut());
        for (code, value) in domain.present() {
            for (level, n_kept) in kept.iter().enumerate() {
                let label = hierarchy.level(level + 1).label_of(code.index());
                let is_part = if is_left { value.ends_with(label) } else { value.starts_with(label) };
                let n_chars = value.chars().count();
                prop_assert!(label != ANY && (label == ALL_HIDDEN || is_part), "{} is published as {}", value, label);
                prop_assert!(label == ALL_HIDDEN || label.chars().count() == n_chars.min(*n_kept));
                let (cell, value) = (Some(label.to_string()), Some(value.to_string()));
                prop_assert!(meaning.allows(&cell, &value), "an attacker reads {:?} for {:?}", cell, value);
            }
        }
    }

    #[test]
    fn a_number_lies_within_its_interval_also_where_the_ends_are_coded(
        values in numbers(),
        width in prop_oneof![Just("1"), Just("5"), Just("0.5"), Just("7")],
        ends in btree_set(prop_oneof![whole_numbers(), decimals()].prop_map(|text| decimal(&text)), 1..3),
        missing in missing(),
    ) {
        let widths = vec![decimal(width), decimal(width).plus(decimal(width)).expect("few digits")];
        let ends: Vec<Decimal> = ends.into_iter().collect();
        for (below, above) in [(Some(ends[0]), None), (None, Some(ends[0])), (Some(ends[0]), ends.get(1).copied())] {
            let rule = Rule::exact_intervals(widths.clone(), Decimal::ZERO).and_then(|rule| rule.coded(below, above));
            // Where numbers are too long to be exact there is an error.
            let _ = check_numbers(&rule.expect("below is below above"), &values, missing);
        }
    }

    #[test]
    fn a_date_lies_within_its_part_of_the_calendar(
        days in vec(-719_000..2_932_000i64, 1..40),
        clock in prop_oneof![Just(""), Just("T00:30:00"), Just(" 23:59:59.999"), Just("T00:30:00+14:00"), Just("T23:30Z")],
        missing in missing(),
    ) {
        let values = days.iter().map(|&day| format!("{}{clock}", date_text(day))).collect();
        let domain = Domain::new("d", values, missing);
        let hierarchy = Rule::dates(DateUnit::ALL.to_vec()).expect("fine to coarse").resolve(&domain).expect("dates");
        assert_nests(&hierarchy);
        for (code, value) in domain.present() {
            let (year, month, _) = parse_date(value).expect("a date");
            let labels = hierarchy.path(code.index());
            prop_assert_eq!(&labels[1], &value[..7]);
            let first = (labels[2][6..].parse::<u32>().expect("a quarter") - 1) * 3 + 1;
            prop_assert!(labels[2][..4] == value[..4] && (first..first + 3).contains(&month));
            prop_assert_eq!(&labels[3], &value[..4]);
            let decade: i32 = labels[4].strip_suffix('s').expect("a decade").parse().expect("a year");
            prop_assert!((decade..decade + 10).contains(&year));
            for label in &labels[1..] {
                prop_assert!(Meaning::plain().allows(&Some(label.clone()), &Some(value.to_string())), "{}", label);
            }
        }
    }

    #[test]
    fn a_value_of_a_table_has_the_labels_of_its_line(values in btree_set(whole_numbers(), 1..20), by in 2..5usize) {
        let line = |value: &String| {
            let n = value.len();
            vec![value.clone(), format!("{} of {}", n % (by * by), by * by), format!("{} of {by}", n % by)]
        };
        let rows = (1..).zip(values.iter().map(line)).collect();
        let table = LabelTable::new("t", rows).expect("equally long");
        let domain = Domain::new("t", values.into_iter().collect(), None);
        let hierarchy = Rule::Table(table).resolve(&domain).expect("a tree");
        assert_nests(&hierarchy);
        for (code, value) in domain.present() {
            let line = line(&value.to_string());
            let labels = [0, 1].map(|level| hierarchy.level(level).label_of(code.index()));
            prop_assert_eq!(&labels, &[line[0].as_str(), line[1].as_str()]);
        }
    }

    #[test]
    fn values_of_a_domain_stand_in_the_order_of_their_size(
        values in prop_oneof![
            vec(whole_numbers().prop_filter("fits 64 bits", |text| text.parse::<i64>().is_ok()), 1..30),
            vec((-999_999_999_999_999..999_999_999_999_999i64, 0..15u32), 1..30)
                .prop_map(|all| all.iter().map(|(n, scale)| format!("{n}e-{scale}")).collect()),
            // A single fraction among whole numbers that a computer's decimals do not tell apart.
            vec(-40..40i64, 2..30).prop_map(|all| {
                let large = all.iter().map(|n| (n.signum() * 9_007_199_254_740_992 + n).to_string());
                large.chain(["0.5".to_string()]).collect()
            }),
        ],
    ) {
        let domain = Domain::new("n", values, None);
        prop_assume!(domain.kind().is_numeric());
        for pair in domain.values().windows(2) {
            prop_assert!(compare(&plain(&pair[0]), &plain(&pair[1])).is_le(), "{} before {}", pair[0], pair[1]);
        }
        // Two that differ are apart, also where a computer's numbers are not.
        let hierarchy = Rule::Flat.resolve(&domain).expect("flat");
        let offsets: Vec<f64> = hierarchy.offsets().expect("numbers").into_iter().flatten().collect();
        for (pair, at) in domain.values().windows(2).zip(offsets.windows(2)) {
            let is_apart = compare(&plain(&pair[0]), &plain(&pair[1])).is_lt();
            prop_assert!(at[0] <= at[1] && (!is_apart || at[0] < at[1] || at[1] > 1e15), "{:?} at {:?}", pair, at);
        }
    }
}

#[test]
fn large_numbers_get_true_labels() {
    for (value, expected) in [
        ("5551234566", "5551234560-5551234569"),
        ("9007199254740993", "9007199254740990-9007199254740999"),
        ("9000000000000007", "9000000000000000-9000000000000009"),
        ("-9223372036854775808", "-9223372036854775810 to -9223372036854775801"),
        ("9223372036854775807", "9223372036854775800-9223372036854775809"),
    ] {
        let domain = Domain::new("n", vec![value.into()], None);
        let hierarchy = Rule::intervals(vec![10.0], 0.0).expect("one width").resolve(&domain).expect("numbers");
        assert_eq!(hierarchy.level(1).labels(), [expected]);
    }
}

#[test]
fn numbers_with_too_many_digits_are_refused_and_not_shown() {
    let long = ["9".repeat(50), format!("0.{}7", "1".repeat(45)), "1e40".to_string()];
    let rules = [Rule::intervals(vec![10.0], 0.5).expect("a width"), Rule::cuts(vec![vec![1.0, 2.0]]).expect("cuts")];
    for (value, rule) in long.iter().flat_map(|value| rules.iter().map(move |rule| (value, rule))) {
        let values = ["3".to_string(), value.clone()];
        match check_numbers(rule, &values, None) {
            Ok(()) => assert!(matches!(rule, Rule::Cuts { .. }) && value == "1e40"),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Hierarchy);
                assert!(error.message().to_string().contains("attribute 'n': 1 of 2 values"), "{error}");
                assert!(error.hint_given().is_some() && !error.to_string().contains(value.as_str()), "{error}");
            }
        }
    }
}

// ---- Time zones ----

/// What a column of timestamps is read as.
fn texts_of(column: ArrayRef) -> Vec<String> {
    let cells = Cells::new("at", &column).expect("a readable column");
    let mut text = String::new();
    (0..cells.len()).map(|i| (cells.read(i, &mut text), text.clone()).1).collect()
}

#[test]
fn dates_are_those_of_the_clock_that_showed_them() {
    // An hour and a half around the ends of months, quarters, years and decades.
    let ends = ["2024-02-01", "2024-03-01", "2024-04-01", "2025-01-01", "2020-01-01", "1970-01-01", "1960-01-01"];
    let days = ends.map(|date| {
        let (year, month, day) = parse_date(date).expect("a date");
        days_of_date(year, month, day)
    });
    let instants: Vec<i64> =
        days.iter().flat_map(|day| [-5_400, -1_800, -1, 0, 1_800, 5_400].map(|more| day * 86_400 + more)).collect();
    for quarters in -56..=56i64 {
        let ahead = quarters * 900;
        let sign = if ahead < 0 { '-' } else { '+' };
        let name = format!("{sign}{:02}:{:02}", ahead.abs() / 3_600, ahead.abs() / 60 % 60);
        let zone = Some(name.as_str());
        let scaled = |n: i64| instants.iter().map(|instant| instant * n).collect::<Vec<i64>>();
        let columns: [ArrayRef; 4] = [
            Arc::new(TimestampSecondArray::from(scaled(1)).with_timezone_opt(zone)),
            Arc::new(TimestampMillisecondArray::from(scaled(1_000)).with_timezone_opt(zone)),
            Arc::new(TimestampMicrosecondArray::from(scaled(1_000_000)).with_timezone_opt(zone)),
            Arc::new(TimestampNanosecondArray::from(scaled(1_000_000_000)).with_timezone_opt(zone)),
        ];
        // As a file of texts would have it.
        let written = instants.iter().map(|instant| {
            let shown = instant + ahead;
            let minute = shown.rem_euclid(86_400) / 60;
            format!("{} {:02}:{:02}{name}", date_text(shown.div_euclid(86_400)), minute / 60, minute % 60)
        });
        let all = columns.into_iter().map(texts_of).chain([written.collect()]);
        for texts in all {
            let domain = Domain::new("at", texts.clone(), None);
            let rule = Rule::dates(DateUnit::ALL.to_vec()).expect("fine to coarse");
            let hierarchy = rule.resolve(&domain).expect("dates");
            for (text, instant) in texts.iter().zip(&instants) {
                let date = date_text((instant + ahead).div_euclid(86_400));
                let month: u32 = date[5..7].parse().expect("a month");
                let expected = [
                    date[..7].into(),
                    format!("{}-Q{}", &date[..4], month.div_ceil(3)),
                    date[..4].into(),
                    format!("{}0s", &date[..3]),
                ];
                let code = domain.code(text).expect("it is there");
                assert_eq!(hierarchy.path(code.index())[1..], expected, "{text}");
            }
        }
    }
}

#[test]
fn times_of_a_named_zone_are_not_taken_for_dates() {
    let column = TimestampSecondArray::from(vec![0, 1_706_743_800]).with_timezone("Europe/Paris");
    let texts = texts_of(Arc::new(column));
    assert_eq!(texts[1], "2024-01-31T23:30:00Z[Europe/Paris]");
    let domain = Domain::new("at", texts, None);
    let error = Rule::dates(vec![DateUnit::Month]).expect("a unit").resolve(&domain).expect_err("not known");
    assert!(
        error.message().to_string().starts_with("attribute 'at': 2 of 2 values are times of a named zone"),
        "{error}"
    );
    assert!(error.hint_given().is_some_and(|hint| hint.to_string().contains("+01:00")), "{error}");
    // Without dates it is a value like any other.
    assert!(Rule::Flat.resolve(&domain).is_ok());
}

/// The labels of some values, from each to below the top.
fn paths(rule: &Rule, values: &[&str]) -> Vec<Vec<String>> {
    let domain = Domain::new("x", values.iter().map(|value| value.to_string()).collect(), None);
    let hierarchy = rule.resolve(&domain).expect("it fits");
    let path = |value: &&str| hierarchy.path(domain.code(value).expect("one of them").index());
    values.iter().map(path).collect()
}

#[test]
fn codes_keep_their_first_characters() {
    let rule = Rule::keep(vec![3], Side::Right).expect("one level");
    let codes = paths(&rule, &["250.83", "428", "V45"]);
    assert_eq!(codes, [["250.83", "250"], ["428", "428"], ["V45", "V45"]]);
}

#[test]
fn the_lowest_and_the_highest_numbers_share_a_label() {
    let widths = vec![decimal("1"), decimal("5"), decimal("10")];
    let rule = Rule::exact_intervals(widths, Decimal::ZERO).and_then(|rule| {
        rule.coded(Some(decimal("18")), Some(decimal("80")))
            .and_then(|rule| rule.named(vec!["coded".into(), "in steps of 5".into(), "decade".into()]))
    });
    let rule = rule.expect("three levels");
    let ages = paths(&rule, &["3", "17", "18", "19", "20", "79", "80", "101"]);
    let expected = [
        ["3", "<18", "<18", "<18"],
        ["17", "<18", "<18", "<18"],
        ["18", "18", "18-19", "18-19"],
        ["19", "19", "18-19", "18-19"],
        ["20", "20", "20-24", "20-29"],
        ["79", "79", "75-79", "70-79"],
        ["80", ">=80", ">=80", ">=80"],
        ["101", ">=80", ">=80", ">=80"],
    ];
    assert_eq!(ages, expected);
    let hierarchy = rule.resolve(&Domain::new("age", vec!["3".into()], None)).expect("numbers");
    let names: Vec<&str> = hierarchy.levels().iter().map(|level| level.name()).collect();
    assert_eq!(names, ["exact", "coded", "in steps of 5", "decade", "*"]);
}

#[test]
fn negative_ranges_are_written_in_words() {
    let rule = Rule::intervals(vec![5.0], 0.0).expect("one width");
    let labels = paths(&rule, &["-5", "-1", "0", "4", "7"]);
    assert_eq!(labels, [["-5", "-5 to -1"], ["-1", "-5 to -1"], ["0", "0-4"], ["4", "0-4"], ["7", "5-9"]]);
}

const CODES: &str = "child,parent\n250.1,250\n250.2,250\n250,E00-E90\nE66,E00-E90\nI10,I\nE00-E90,\n";

#[test]
fn a_list_of_parents_is_a_hierarchy() {
    let rule = Rule::Table(LabelTable::parse("icd.csv", CODES).expect("a forest"));
    let codes = paths(&rule, &["250.1", "250", "E66", "I10"]);
    // Whatever has fewer labels above it keeps its finest one on the levels below; a label is below itself.
    let expected =
        [["250.1", "250", "E00-E90"], ["250", "250", "E00-E90"], ["E66", "E00-E90", "E00-E90"], ["I10", "I", "I"]];
    assert_eq!(codes, expected);
    // One label above all is the top.
    let rule = Rule::Table(LabelTable::of_parents("t.csv", "a,ab\nb,ab\nc,all\nab,all\n").expect("a tree"));
    assert_eq!(paths(&rule, &["a", "b", "c"]), [["a", "ab"], ["b", "ab"], ["c", "all"]]);
}

#[test]
fn a_list_of_parents_that_is_no_tree_says_where() {
    for (text, place, what) in [
        ("child,parent\na,b\nb,c\nc,a\n", "t.csv:", "above itself"),
        ("child,parent\na,a\n", "t.csv:2", "above itself"),
        ("child,parent\na,b\na,c\n", "t.csv:3", "line 2 another parent"),
        ("child,parent\na,b,c\n", "t.csv:2", "3 cells"),
        ("child,parent\n,b\n", "t.csv:2", "no label"),
        ("child,parent\n", "t.csv", "empty"),
    ] {
        let error = LabelTable::parse("t.csv", text).expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Hierarchy);
        assert!(error.position().is_some_and(|at| at.to_string().starts_with(place)), "{text}: {error:?}");
        assert!(error.to_string().contains(what), "{text}: {error}");
    }
}

#[test]
fn a_header_names_the_levels() {
    let table = LabelTable::parse("t.csv", "town;county;country\nOslo;Oslo;NO\nBergen;Vestland;NO\n").expect("labels");
    let rule = Rule::Table(table.clone().with_header_of("town").expect("names"));
    let domain = Domain::new("town", vec!["Oslo".into(), "Bergen".into()], None);
    let hierarchy = rule.resolve(&domain).expect("both are known");
    let names: Vec<&str> = hierarchy.levels().iter().map(|level| level.name()).collect();
    // What all have in common at the last level is the top.
    assert_eq!(names, ["exact", "county", "*"]);
    // Of another attribute it is a line like any other.
    assert_eq!(table.clone().with_header_of("place").expect("no header"), table);
    let numbered = LabelTable::parse("t.csv", "town;1\nOslo;NO\n").expect("labels").with_header_of("town");
    assert_eq!(numbered.expect_err("a number is no name").kind(), ErrorKind::Hierarchy);
}

#[test]
fn ends_that_are_coded_at_level_0_keep_their_labels() {
    let rule = Rule::exact_intervals(vec![decimal("5"), decimal("10")], Decimal::ZERO).expect("intervals");
    let rule = rule.coded(Some(decimal("18")), Some(decimal("80"))).expect("coded").exact_between();
    assert_eq!(
        ["17", "18", "79", "80", "104"].map(|age| rule.end_of(age)),
        [Some("<18".to_string()), None, None, Some(">=80".to_string()), Some(">=80".to_string())]
    );
    // Without it, level 0 is exact.
    let exact = Rule::exact_intervals(vec![decimal("5")], Decimal::ZERO).expect("intervals");
    assert_eq!(exact.coded(None, Some(decimal("80"))).expect("coded").end_of("104"), None);
    let expected =
        [["18", "18-19", "18-19"], ["79", "75-79", "70-79"], ["<18", "<18", "<18"], [">=80", ">=80", ">=80"]];
    assert_eq!(paths(&rule, &["18", "79", "<18", ">=80"]), expected.map(|path| path.map(String::from).to_vec()));
    assert!(rule.takes(">=80") && !rule.takes(">=81") && !rule.takes("old"));
}

/// What stands for unknown values, in rows, in a file, and in a list of parents.
#[test]
fn other_is_alone_below_the_top_or_joins_its_name() {
    let file = |text: &str| Rule::Table(LabelTable::parse("f", text).expect("a table")).with_other();
    let path = |rule: &Rule| paths(rule, &["Oslo", "other"])[1].clone();
    let own = |labels: &[&str]| labels.iter().map(|label| label.to_string()).collect::<Vec<_>>();
    assert_eq!(path(&file("Oslo;North;Europe;*\n")), own(&["other", "other", "other"]));
    assert_eq!(path(&file("Oslo;North;Europe\nRome;other;Europe\nLima;other;Europe\n")), own(&["other", "other"]));
    assert_eq!(path(&file("Oslo;North;A\nRome;other;B\n")), own(&["other", "other", "B"]));
    assert_eq!(path(&file("Oslo;North;A\nother;South;B\n")), own(&["other", "South", "B"]));
    assert_eq!(
        path(&file("child,parent\nOslo,North\nNorth,Europe\nRome,South\nSouth,Europe\n")),
        own(&["other", "other"])
    );
    let Rule::Table(table) = file("Oslo;North\nRome;South\n") else { panic!("a table") };
    let known = table.known();
    assert!(known.contains("Oslo") && !known.contains("other") && !known.contains("North"));
    // Nothing changes for those that are known, and without it there is no such row.
    let plain = Rule::Table(LabelTable::parse("f", "Oslo;North\nRome;South\n").expect("a table"));
    let domain = Domain::new("city", vec!["Oslo".into(), "other".into()], None);
    assert_eq!(plain.resolve(&domain).expect_err("it is not known").kind(), ErrorKind::Hierarchy);
}

proptest! {
    /// The nearest multiple, and the greatest number of some digits below, compared with arithmetic of whole numbers.
    #[test]
    fn rounding_is_exact(number in -1_000_000i64..1_000_000, step in 1i64..5_000, n_digits in 1u32..4) {
        let exact = |n: i64| Decimal::from(n);
        let below = number.div_euclid(step) * step;
        let (to_low, to_high) = (number - below, below + step - number);
        let expected = match to_low.cmp(&to_high) {
            Ordering::Less => below,
            Ordering::Greater => below + step,
            Ordering::Equal if number < 0 => below,
            Ordering::Equal => below + step,
        };
        prop_assert_eq!(exact(number).rounded_to(exact(step)), Some(exact(expected)));
        let n_all = number.unsigned_abs().checked_ilog10().map_or(1, |n| n + 1);
        let unit = 10i64.pow(n_all.saturating_sub(n_digits));
        prop_assert_eq!(exact(number).with_digits(n_digits), Some(exact(number.div_euclid(unit) * unit)));
    }
}
