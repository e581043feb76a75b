//! Rounded cells: they say nothing of single records, contain their values, and end where steps do.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};

use super::*;
use crate::counts::Counter;
use crate::hierarchy::{DateUnit, Rule, TwoEnds};
use crate::random::Random;
use crate::table::Missing;

// A reader of what is published stands below what publishes it.
#[cfg(test)]
use crate::attack::Meaning;

type Text = Option<String>;

/// What is published of every class of some records, which are told apart by a number that comes first.
fn published(values: &[Text], class_of: &[usize], rule: &Rule) -> Vec<Cell> {
    let missing = Missing::default();
    let mut counter = Counter::new(&["id", "x"], &[], &missing);
    let ids = StringArray::from_iter_values((0..values.len()).map(|i| format!("{:04}", 1000 + i)));
    let columns: Vec<(&str, ArrayRef)> =
        vec![("id", Arc::new(ids)), ("x", Arc::new(StringArray::from(values.to_vec())))];
    counter.push(&RecordBatch::try_from_iter(columns).expect("a batch")).expect("texts");
    let counts = counter.finish();
    let hierarchies = [
        Rule::Flat.resolve(&counts.domains()[0]).expect("flat"),
        rule.resolve(&counts.domains()[1]).expect("numbers or dates"),
    ];
    let n_classes = class_of.iter().max().expect("records") + 1;
    let part = |base: usize| Part { base: base as u32, value: None, n_records: 1 };
    let parts = |class: usize| (0..values.len()).filter(|&i| class_of[i] == class).map(part).collect();
    let partition = Partition::new((0..n_classes).map(parts).collect(), Least::of(1, None));
    let recoding = partition.recode(&counts, &hierarchies, CellStyle::Rounded);
    let group = |class: usize| {
        let first = class_of.iter().position(|of| *of == class).expect("no class is empty");
        recoding.shares(first)[0].group.expect("nobody is suppressed") as usize
    };
    (0..n_classes).map(|class| recoding.cell(group(class), 1).clone()).collect()
}

/// Ways to generalize, with values to draw from.
fn rules() -> Vec<(Rule, Box<dyn Fn(&mut Random) -> String>)> {
    let whole = |random: &mut Random| (random.below(120) as i64 - 40).to_string();
    let decimal = |random: &mut Random| format!("{}.{:02}5", random.below(12), random.below(100));
    let large = |random: &mut Random| (9_007_199_254_740_960 + random.below(120)).to_string();
    let date = |random: &mut Random| date_text(18_000 + random.below(900) as i64);
    let time = move |random: &mut Random| format!("{}T{:02}:30:00+01:00", date(random), random.below(24));
    let intervals = |widths: &[f64], origin| Rule::intervals(widths.to_vec(), origin).expect("they nest");
    let cuts = |cuts: &[f64]| Rule::cuts(vec![cuts.to_vec(), vec![cuts[1]]]).expect("they nest");
    vec![
        (intervals(&[5.0, 10.0], 2.0), Box::new(whole)),
        (intervals(&[1.0, 7.0, 21.0], 0.0), Box::new(whole)),
        (intervals(&[2.5, 10.0], 0.25), Box::new(whole)),
        (intervals(&[10.0], 0.0), Box::new(large)),
        (intervals(&[0.5, 2.0], 0.0), Box::new(decimal)),
        (cuts(&[-20.0, 0.0, 18.0, 30.0, 65.0]), Box::new(whole)),
        (cuts(&[0.5, 1.5, 4.0, 9.5]), Box::new(decimal)),
        (Rule::dates(vec![DateUnit::Month, DateUnit::Year]).expect("units"), Box::new(date)),
        (Rule::dates(vec![DateUnit::Quarter]).expect("units"), Box::new(time)),
    ]
}

/// The label of the steps that a value is in.
fn step(rule: &Rule, value: &str, like: &[Text]) -> String {
    let values = like.iter().flatten().cloned().chain([value.to_string()]).collect();
    let hierarchy = rule.resolve(&crate::table::Domain::new("x", values, None)).expect("numbers or dates");
    let code = hierarchy.level(0).labels().iter().position(|known| known == value).expect("it is there");
    let is_single = |level: usize| hierarchy.level(level).labels().iter().all(|label| label.parse::<i64>().is_ok());
    let is_trivial = |level: &usize| hierarchy.kind() != Kind::Date && is_single(*level);
    let level = (1..hierarchy.top()).find(|level| !is_trivial(level)).expect("a level of ranges");
    hierarchy.level(level).label_of(code).to_string()
}

#[test]
fn a_value_may_be_replaced_by_another_of_its_step_and_nobody_sees_it() {
    let mut random = Random::new(5);
    let mut n_replaced = 0;
    for (rule, draw) in rules() {
        for _ in 0..60 {
            let n = 6 + random.below(20) as usize;
            let n_classes = 1 + random.below(5) as usize;
            let class_of: Vec<usize> = (0..n).map(|i| i % n_classes).collect();
            let mut values: Vec<Text> = (0..n).map(|_| (random.below(12) > 0).then(|| draw(&mut random))).collect();
            values[0] = Some(draw(&mut random));
            let before = published(&values, &class_of, &rule);
            let place = random.below(n as u64) as usize;
            let Some(own) = values[place].clone() else { continue };
            let meant = step(&rule, &own, &values);
            let others: Vec<String> = (0..40).map(|_| draw(&mut random)).collect();
            let same: Vec<&String> = others.iter().filter(|other| step(&rule, other, &values) == meant).collect();
            for other in same {
                values[place] = Some(other.clone());
                let after = published(&values, &class_of, &rule);
                let seen = |cells: &[Cell]| -> Vec<(String, bool, TwoEnds)> {
                    cells.iter().map(|cell| (cell.text.clone(), cell.is_missing, cell.ends.clone())).collect()
                };
                assert_eq!(seen(&after), seen(&before), "{rule:?}: {own} became {other}");
                n_replaced += 1;
            }
        }
    }
    assert!(n_replaced > 200, "{n_replaced}");
}

#[test]
fn rounded_cells_contain_their_values_and_end_where_steps_do() {
    let mut random = Random::new(6);
    for (rule, draw) in rules() {
        for _ in 0..60 {
            let n_classes = 1 + random.below(5) as usize;
            let class_of: Vec<usize> = (0..20).map(|i| i % n_classes).collect();
            let values: Vec<Text> = class_of.iter().map(|_| Some(draw(&mut random))).collect();
            for (class, cell) in published(&values, &class_of, &rule).iter().enumerate() {
                let of_class = values.iter().zip(&class_of).filter(|(_, of)| **of == class).map(|(value, _)| value);
                for value in of_class {
                    assert!(Meaning::plain().allows(&Some(cell.text.clone()), value), "{value:?} in {}", cell.text);
                    let range = match &cell.ends {
                        (Some(low), Some(high)) => Some(format!("[{}]", range_text(low, high))),
                        (Some(low), None) => Some(format!(">={low}")),
                        (None, Some(high)) => Some(format!("<={high}")),
                        (None, None) => None,
                    };
                    if range.is_some() {
                        assert!(Meaning::plain().allows(&range, value), "{value:?} in {range:?}");
                    }
                }
                assert!(!cell.is_missing && ends_are_bounds(&rule, &cell.text), "{rule:?}: {}", cell.text);
            }
        }
    }
}

/// Whether a cell begins and ends where steps of a rule do.
fn ends_are_bounds(rule: &Rule, cell: &str) -> bool {
    let number = |text: &str| Decimal::parse(text).expect("a number");
    let is_bound = |text: &str, more: i64| {
        let at = number(text).plus(Decimal::from(more)).expect("few digits");
        match rule {
            Rule::Intervals { widths, origin } => {
                // Steps of one whole number are no steps.
                let width = widths.iter().find(|width| **width != Decimal::from(1)).expect("a wider one");
                at.interval(*width, *origin).expect("few digits").0 == at
            }
            Rule::Cuts { levels } => levels[0].contains(&at),
            _ => unreachable!("these are of numbers"),
        }
    };
    if cell == ANY {
        return matches!(rule, Rule::Cuts { .. });
    }
    if let Some(high) = cell.strip_prefix('<') {
        return is_bound(high, 0);
    }
    if let Some(low) = cell.strip_prefix(">=") {
        return is_bound(low, 0);
    }
    let inner = &cell[1..cell.len() - 1];
    if let Rule::Dates { .. } = rule {
        let next = parse_date(&inner[14..]).map(|(year, month, day)| date_text(days_of_date(year, month, day) + 1));
        return inner[..10].ends_with("-01") && next.is_some_and(|next| next.ends_with("-01"));
    }
    if let Some((low, high)) = inner.split_once(", ") {
        return cell.ends_with(')') && is_bound(low, 0) && is_bound(high, 0);
    }
    let (low, high) = inner.split_once(" to ").or_else(|| inner.split_once('-')).expect("two ends");
    is_bound(low, 0) && is_bound(high, 1)
}

#[test]
fn what_has_no_steps_is_a_label() {
    let table = |text: &str| Rule::Table(crate::hierarchy::LabelTable::parse("t", text).expect("labels"));
    let values: Vec<Text> = ["1", "2", "7", "9"].map(|text| Some(text.to_string())).to_vec();
    for (rule, expected) in [
        (Rule::Flat, ["*", "*"]),
        (table("1;few\n2;few\n7;many\n9;many"), ["few", "many"]),
        // Labels that look like ranges and do not contain their values.
        (table("1;3-4\n2;3-4\n7;5-6\n9;5-6"), ["3-4", "5-6"]),
        (table("1;0-4\n2;0-4\n7;5-9\n9;5-9"), ["[0-4]", "[5-9]"]),
    ] {
        let cells = published(&values, &[0, 0, 1, 1], &rule);
        assert_eq!([cells[0].text.as_str(), cells[1].text.as_str()], expected);
    }
    // Where some have no value, nothing is said.
    let values = [Some("1".to_string()), None, None, None];
    let cells = published(&values, &[0, 0, 1, 1], &Rule::intervals(vec![5.0], 0.0).expect("a width"));
    assert_eq!((cells[0].text.as_str(), cells[0].is_missing, cells[1].is_missing), ("*", false, true));
}
