//! Hierarchies as a project file writes them: a file's path, or a table that says one way to generalize.

use std::path::Path;

use incrowd::error::unknown;
use incrowd::hierarchy::{DateUnit, LabelTable, Side};
use incrowd::number::Decimal;
use incrowd::{Error, ErrorKind, Result, Rule};
use toml::{Table, Value};

use crate::input::project::files::read_text;
use crate::input::project::keys::{choice, decimal, decimals, known_keys, texts, wrong};
use crate::input::source::DateFormat;
use crate::sentences::hint;

/// The hierarchy that a certificate names as the project file wrote it; none where it names a file instead.
pub fn rule_of_text(text: &str) -> Option<Rule> {
    if text == "flat" {
        return Some(Rule::Flat);
    }
    let table: Table = format!("hierarchy = {text}").parse().ok()?;
    let value = table
        .get("hierarchy")
        .filter(|value| ["file", "parents"].iter().all(|file| value.get(file).is_none()) && value.is_table())?;
    rule(value, "hierarchy", Path::new("")).ok().map(|(rule, _)| rule)
}

type RuleAndFile = (Rule, Option<(String, String)>);

/// A hierarchy as the project file writes it: a file's path, or a table with one of the builders.
pub(super) fn rule(value: &Value, key: &str, folder: &Path) -> Result<RuleAndFile> {
    const EXAMPLES: &str = "a file such as \"hierarchies/age.csv\", { intervals = [5, 10], origin = 0 }, \
        { cuts = [[18, 65]] }, { mask = 5 }, { mask = { keep = 3 } }, { parents = \"codes.csv\" }, { dates = [\"month\", \"year\"] }, { tree = { … } } or { flat = true }";
    let builder = match value {
        Value::String(path) => return file_rule(path, folder),
        Value::Table(table) => table,
        _ => return Err(wrong(format!("{key} is not a hierarchy")).hint(EXAMPLES)),
    };
    known_keys(
        builder,
        &format!("{key}."),
        &[
            "file",
            "parents",
            "flat",
            "intervals",
            "origin",
            "below",
            "above",
            "exact",
            "cuts",
            "mask",
            "from",
            "dates",
            "format",
            "tree",
            "names",
        ],
    )?;
    if let Some(names) = builder.get("names") {
        let names = texts(names, &format!("{key}.names"))?;
        let unnamed: Table =
            builder.iter().filter(|(of, _)| *of != "names").map(|(of, v)| (of.clone(), v.clone())).collect();
        let (unnamed, file) = rule(&Value::Table(unnamed), key, folder)?;
        return Ok((unnamed.named(names).map_err(|error| error.or_at(format!("{key}.names")))?, file));
    }
    let kinds: Vec<&str> = ["file", "parents", "flat", "intervals", "cuts", "mask", "dates", "tree"]
        .into_iter()
        .filter(|kind| builder.contains_key(*kind))
        .collect();
    let [kind] = kinds[..] else {
        return Err(wrong(format!("{key} must say exactly one way to generalize")).hint(EXAMPLES));
    };
    const EXTRAS: [(&str, &str); 6] = [
        ("exact", "intervals"),
        ("origin", "intervals"),
        ("below", "intervals"),
        ("above", "intervals"),
        ("from", "mask"),
        ("format", "dates"),
    ];
    for (extra, of) in EXTRAS {
        if builder.contains_key(extra) && kind != of {
            return Err(wrong(format!("{key}.{extra} belongs to {of}, not to {kind}")));
        }
    }
    let value = &builder[kind];
    let rule = match (kind, value) {
        ("file", Value::String(path)) => return file_rule(path, folder),
        ("parents", Value::String(path)) => return parents_rule(path, folder),
        ("file" | "parents", _) => return Err(wrong(format!("{key}.{kind} must be a path"))),
        ("flat", _) => Rule::Flat,
        ("intervals", _) => intervals(value, builder, key)?,
        ("cuts", _) => cuts(value, key)?,
        ("mask", _) => mask(value, builder, key)?,
        ("dates", _) => dates(value, key)?,
        _ => tree(value, key)?,
    };
    Ok((rule, None))
}

/// What the rule itself refuses is at the key that says it.
fn at(key: &str) -> impl Fn(Error) -> Error {
    move |error| error.or_at(key.to_string())
}

/// Intervals of these widths, whose ends may be coded.
fn intervals(value: &Value, builder: &Table, key: &str) -> Result<Rule> {
    let origin = builder.get("origin").map_or(Some(Decimal::ZERO), decimal);
    let origin = origin.ok_or_else(|| wrong(format!("{key}.origin must be a number")))?;
    let end = |name: &str| match builder.get(name) {
        None => Ok(None),
        Some(end) => decimal(end).map(Some).ok_or_else(|| wrong(format!("{key}.{name} must be a number"))),
    };
    let rule = Rule::exact_intervals(decimals(value, &format!("{key}.intervals"))?, origin)
        .and_then(|rule| rule.coded(end("below")?, end("above")?))
        .map_err(at(key))?;
    let is_between = choice(builder, &format!("{key}."), "exact", &["everywhere", "between"])? == "between";
    if is_between && !matches!(rule, Rule::Coded { .. }) {
        return Err(wrong(format!("{key}.exact is \"between\", and nothing says between what"))
            .hint("add below = …, above = …, or both"));
    }
    Ok(if is_between { rule.exact_between() } else { rule })
}

/// One list of cut points, or one per level.
fn cuts(value: &Value, key: &str) -> Result<Rule> {
    let lists = value.as_array().map(Vec::as_slice).unwrap_or_default();
    let levels: Result<Vec<Vec<Decimal>>> = match lists.first() {
        Some(Value::Array(_)) => lists.iter().map(|list| decimals(list, &format!("{key}.cuts"))).collect(),
        _ => decimals(value, &format!("{key}.cuts")).map(|cuts| vec![cuts]),
    };
    Rule::exact_cuts(levels?).map_err(at(key))
}

/// How many characters are hidden at each level, or kept.
fn mask(value: &Value, builder: &Table, key: &str) -> Result<Rule> {
    let side = match builder.get("from").map(|from| from.as_str().unwrap_or("")) {
        None | Some("right") => Side::Right,
        Some("left") => Side::Left,
        Some(_) => return Err(wrong(format!("{key}.from must be \"right\" or \"left\""))),
    };
    let wrong_mask = || wrong(format!("{key}.mask must be a number of characters or a list of numbers"));
    let count = |value: &Value| value.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 200);
    if let Value::Table(how) = value {
        known_keys(how, &format!("{key}.mask."), &["keep"])?;
        let kept = match how.get("keep") {
            Some(Value::Array(list)) => list.iter().map(count).collect::<Option<Vec<_>>>(),
            Some(one) => count(one).map(|n| vec![n]),
            None => None,
        };
        let kept = kept.ok_or_else(|| {
            wrong(format!("{key}.mask.keep must be a number of characters or a list of numbers"))
                .hint("for example { mask = { keep = 3 } }")
        })?;
        return Rule::keep(kept, side).map_err(at(key));
    }
    let hidden = match value {
        Value::Array(list) => list.iter().map(count).collect::<Option<Vec<_>>>().ok_or_else(wrong_mask)?,
        // A number counts the levels: one more character each, and everything at the last.
        _ => (1..count(value).filter(|&n| n > 0).ok_or_else(wrong_mask)?).collect(),
    };
    match hidden.is_empty() && value.is_integer() {
        true => Ok(Rule::Flat),
        false => Rule::mask(hidden, side).map_err(at(key)),
    }
}

fn dates(value: &Value, key: &str) -> Result<Rule> {
    let units = match value {
        Value::Boolean(true) => DateUnit::ALL.to_vec(),
        _ => texts(value, &format!("{key}.dates"))?
            .iter()
            .map(|name| {
                DateUnit::parse(name).ok_or_else(|| {
                    unknown(ErrorKind::Project, &format!("unit in {key}"), name, &DateUnit::ALL.map(DateUnit::name))
                })
            })
            .collect::<Result<_>>()?,
    };
    Rule::dates(units).map_err(at(key))
}

fn tree(value: &Value, key: &str) -> Result<Rule> {
    let mut rows = Vec::new();
    leaves(value, key, &mut Vec::new(), &mut rows)?;
    let n_labels = rows.iter().map(|(_, row): &(u64, Vec<String>)| row.len()).max().unwrap_or(0);
    for (_, row) in &mut rows {
        // A branch that ends early keeps its finest label on the levels below it.
        while row.len() < n_labels {
            row.insert(1, row[if row.len() > 1 { 1 } else { 0 }].clone());
        }
    }
    LabelTable::new(key, rows).map(Rule::Table)
}

/// Walks a tree of labels down to its values: tables are branches, lists are the values below them.
fn leaves(value: &Value, key: &str, path: &mut Vec<String>, rows: &mut Vec<(u64, Vec<String>)>) -> Result<()> {
    match value {
        Value::Table(branches) => {
            for (label, below) in branches {
                path.push(label.clone());
                leaves(below, key, path, rows)?;
                path.pop();
            }
        }
        Value::Array(values) => {
            for value in values {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => value.to_string(),
                    _ => return Err(wrong(format!("{key}: a list in a tree holds values, not tables"))),
                };
                let labels = std::iter::once(text).chain(path.iter().rev().cloned());
                rows.push((0, labels.collect()));
            }
        }
        _ => {
            return Err(wrong(format!("{key}: a tree is made of tables and, at its ends, lists of values"))
                .hint("for example { tree = { North = [\"Oslo\", \"Umea\"], South = [\"Rome\"] } }"));
        }
    }
    Ok(())
}

fn file_rule(path: &str, folder: &Path) -> Result<RuleAndFile> {
    let full = folder.join(path);
    let text = read_text(&full, ErrorKind::Hierarchy)?;
    let table = LabelTable::parse(&full.display().to_string(), &text)?;
    Ok((Rule::Table(table), Some((path.to_string(), text))))
}

fn parents_rule(path: &str, folder: &Path) -> Result<RuleAndFile> {
    let full = folder.join(path);
    let text = read_text(&full, ErrorKind::Hierarchy)?;
    let table = LabelTable::of_parents(&full.display().to_string(), &text)?;
    Ok((Rule::Table(table), Some((path.to_string(), text))))
}

/// How dates are written, as a hierarchy says it: by an example or by a pattern.
pub(super) fn date_format(hierarchy: Option<&Value>, key: &str) -> Result<Option<DateFormat>> {
    let Some(format) = hierarchy.and_then(|hierarchy| hierarchy.get("format")) else { return Ok(None) };
    let text = format.as_str().ok_or_else(|| wrong(format!("{key}.format must be a text in quotes")))?;
    let format = DateFormat::parse(text).map_err(|what| {
        wrong(format!("{key}.format {what}")).hint(hint("for example {dates.format=31/12/2019} or \"%d/%m/%Y\""))
    })?;
    Ok(Some(format))
}
