//! One attribute's hierarchy as the page shows it: levels, the tree with numbers, and what each level does to values.

use incrowd::hierarchy::{LabelTable, absent_values};
use incrowd::{Domain, Error, ErrorKind, Hierarchy, Result, Rule};
use serde_json::{Map, Value, json};

use super::document;
use super::tables::{Opened, Tables};
use crate::orders::hierarchy::arx;
use crate::words::hierarchies::children;
use crate::work::Work;

/// Children of one node that are shown, and nodes in all.
const N_CHILDREN_MAX: usize = 60;
const N_NODES_MAX: usize = 800;

/// Values that are sent one by one, to be grouped by hand.
const N_ROWS_MAX: usize = 20_000;

/// What is told of a hierarchy: numbers only, a tree and examples too, or every value with its labels besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownLevels {
    Numbers,
    Tree,
    Rows,
}

/// What a hierarchy, the project's or one that is being made, does to an attribute.
pub fn tree(tables: &Tables, opened: &Opened, name: &str, edited: Option<&Value>, shown: ShownLevels) -> Result<Value> {
    let with_values = shown != ShownLevels::Numbers;
    let columns = opened.columns(&Work::default())?;
    let column = columns.get(name).ok_or_else(|| {
        let names: Vec<&str> = columns.all.iter().map(|column| column.name.as_str()).collect();
        incrowd::error::unknown(ErrorKind::Request, "column", name, &names)
    })?;
    let (domain, counts) = column.seen.as_ref().ok_or_else(|| {
        Error::new(ErrorKind::TooLarge, format!("'{name}' has too many values to draw a tree of"))
            .hint("build its hierarchy from a rule: intervals, a mask or dates")
    })?;
    let rule = rule(tables, opened, name, edited)?;
    let hierarchy = rule.resolve(domain).map_err(|error| with_absent(error, &rule, domain, with_values))?;
    let levels = hierarchy.levels().iter().enumerate().map(
        |(i, level)| json!({ "level": i, "name": level.name(), "phrase": level.phrase(), "n_values": level.len() }),
    );
    let mut object = Map::new();
    object.insert("attribute".into(), json!(name));
    object.insert("type".into(), json!(domain.kind().name()));
    object.insert("n_values".into(), json!(domain.len()));
    object.insert("n_records".into(), json!(counts.iter().sum::<u64>()));
    object.insert("levels".into(), levels.collect());
    if with_values {
        let numbers: Vec<Numbers> =
            (0..hierarchy.n_levels()).map(|level| Numbers::new(&hierarchy, level, counts)).collect();
        let mut n_left = N_NODES_MAX;
        object.insert("tree".into(), node(&hierarchy, &numbers, hierarchy.top(), 0, &mut n_left));
        object.insert("examples".into(), examples(&hierarchy, counts));
        if shown == ShownLevels::Rows && domain.len() <= N_ROWS_MAX {
            object.insert("rows".into(), rows(&hierarchy, counts));
        }
        object.insert("arx".into(), if domain.len() <= 5_000 { json!(arx(&hierarchy)) } else { Value::Null });
    }
    Ok(Value::Object(object))
}

/// The rule to apply: the one that is being edited, or the project's.
fn rule(tables: &Tables, opened: &Opened, name: &str, edited: Option<&Value>) -> Result<Rule> {
    let known = opened.project.attributes.iter().find(|attribute| attribute.name == name);
    let own = || known.map_or(Rule::Flat, |attribute| attribute.rule.clone());
    match edited {
        None => Ok(own()),
        Some(edited) if edited.get("kept").is_some() => Ok(own()),
        Some(edited) if edited.get("text").is_some() => {
            let text = edited["text"].as_str().unwrap_or_default();
            let source = edited["name"].as_str().unwrap_or("the file");
            LabelTable::parse(source, text)?.with_header_of(name).map(Rule::Table)
        }
        Some(edited) => {
            let only = json!({ "data": { "path": opened.document["data"]["path"] },
                "attributes": { name: { "role": "quasi-identifier", "hierarchy": edited } } });
            let project = document::to_project(&only, None, &tables.folder)?;
            Ok(project.attributes[0].rule.clone())
        }
    }
}

/// Says which values a table misses, where values may be shown.
fn with_absent(error: Error, rule: &Rule, domain: &Domain, with_values: bool) -> Error {
    let absent = absent_values(rule, domain);
    if absent.is_empty()
        || error.position().is_some_and(|position| position.to_string().ends_with(|c: char| c.is_ascii_digit()))
    {
        return error;
    }
    match with_values {
        false => error.hint("every value of the column needs a line"),
        true => {
            let shown: Vec<&str> = absent.iter().take(8).copied().collect();
            let more = if absent.len() > shown.len() { ", …" } else { "" };
            error.hint(format!("add a line for: {}{more}", shown.join(", ")))
        }
    }
}

/// By label of a level: how many values and records stand below it.
struct Numbers {
    n_values: Vec<u32>,
    n_records: Vec<u64>,
}

impl Numbers {
    fn new(hierarchy: &Hierarchy, level: usize, counts: &[u64]) -> Numbers {
        let mut n_records = vec![0; hierarchy.level(level).len()];
        hierarchy.level(level).of_base().iter().zip(counts).for_each(|(code, n)| n_records[code.index()] += n);
        Numbers { n_values: hierarchy.n_leaves(level), n_records }
    }
}

fn node(hierarchy: &Hierarchy, numbers: &[Numbers], level: usize, code: usize, n_left: &mut usize) -> Value {
    let mut object = Map::new();
    object.insert("label".into(), json!(hierarchy.level(level).labels()[code]));
    object.insert("level".into(), json!(level));
    object.insert("n_values".into(), json!(numbers[level].n_values[code]));
    object.insert("n_records".into(), json!(numbers[level].n_records[code]));
    if level > 0 {
        let all = children(hierarchy, level, code);
        let mut below = Vec::new();
        for &child in all.iter().take(N_CHILDREN_MAX) {
            if *n_left == 0 {
                break;
            }
            *n_left -= 1;
            below.push(node(hierarchy, numbers, level - 1, child, n_left));
        }
        object.insert("n_more".into(), json!(all.len() - below.len()));
        object.insert("below".into(), json!(below));
    }
    Value::Object(object)
}

/// Every value: its labels from itself to below the top, and how many records have it.
fn rows(hierarchy: &Hierarchy, counts: &[u64]) -> Value {
    let row = |(base, &n_records): (usize, &u64)| json!({ "labels": hierarchy.path(base), "n_records": n_records });
    counts.iter().enumerate().map(row).collect()
}

/// Some values, from all over the column, at every level.
fn examples(hierarchy: &Hierarchy, counts: &[u64]) -> Value {
    const N_SHOWN: usize = 6;
    let n = counts.len();
    let mut shown: Vec<usize> = (0..n.min(N_SHOWN)).map(|i| (2 * i + 1) * n / (2 * n.min(N_SHOWN))).collect();
    shown.dedup();
    let labels = |base: usize| -> Vec<&str> {
        hierarchy.levels().iter().map(|level| level.labels()[level.of_base()[base].index()].as_str()).collect()
    };
    shown.into_iter().map(|base| json!({ "labels": labels(base), "n_records": counts[base] })).collect()
}

/// A frequent value at every level, so that a knob can say what it does.
pub fn example(opened: &Opened, hierarchy: &Hierarchy) -> Option<Vec<String>> {
    let (domain, counts) = opened.columns(&Work::default()).ok()?.get(hierarchy.attribute())?.seen.as_ref()?;
    let most = (0..counts.len()).max_by_key(|&code| (counts[code], std::cmp::Reverse(code)))?;
    let base = hierarchy.level(0).labels().iter().position(|label| *label == domain.values()[most])?;
    let label = |level: &incrowd::hierarchy::Values| level.labels()[level.of_base()[base].index()].clone();
    Some(hierarchy.levels().iter().map(label).collect())
}
