//! Documents about one attribute's hierarchy.

use incrowd::Hierarchy;
use serde_json::{Value, json};

use crate::input::source::{At, CellPlace, Places};
use crate::orders::hierarchy::Exported;

/// As `hierarchy show --json` says it.
pub fn shown(hierarchy: &Hierarchy) -> Value {
    let levels = hierarchy.levels().iter().enumerate();
    let levels = levels.map(|(i, level)| json!({ "level": i, "name": level.name(), "n_values": level.len() }));
    json!({
        "attribute": hierarchy.attribute(),
        "levels": levels.collect::<Vec<_>>(),
        "tree": tree(hierarchy, hierarchy.top(), 0),
    })
}

/// As `hierarchy show --absent --json` says it; values only where they may be shown.
pub fn absent(name: &str, places: &Places, with_values: bool) -> Value {
    let place = |place: &CellPlace| match place.at {
        At::Line(line) => json!({ "file": place.file, "line": line }),
        At::Record(record) => json!({ "file": place.file, "record": record }),
    };
    let all = |places: &[CellPlace]| places.iter().map(place).collect::<Value>();
    let mut document = json!({
        "attribute": name,
        "n_absent": places.values.len(),
        "n_cells": places.n_cells,
        "first": all(&places.first),
        "absent": if places.values.is_empty() { json!([]) } else { Value::Null },
    });
    if with_values {
        let value = |(value, n_cells, first): &(String, u64, Vec<CellPlace>)| json!({ "value": value, "n_cells": n_cells, "first": all(first) });
        document["absent"] = places.values.iter().map(|(value, ..)| json!(value)).collect();
        document["values"] = places.values.iter().map(value).collect();
    }
    document
}

/// The same of one attribute that was named, or of all.
pub fn all_absent(is_one: bool, found: &[(String, Places)], with_values: bool) -> Value {
    let mut documents: Vec<Value> = found.iter().map(|(name, places)| absent(name, places, with_values)).collect();
    match is_one && documents.len() == 1 {
        true => documents.remove(0),
        false => json!({ "attributes": documents }),
    }
}

/// As `hierarchy export --json` says it.
pub fn exported(exported: &Exported) -> Value {
    let rows = exported.hierarchy.rows().map(|row| json!(row)).collect::<Vec<_>>();
    json!({ "attribute": exported.hierarchy.attribute(), "rows": rows })
}

/// The codes one level below a value.
pub fn children(hierarchy: &Hierarchy, level: usize, code: usize) -> Vec<usize> {
    let parents = hierarchy.level(level - 1).parents();
    (0..parents.len()).filter(|&child| parents[child].index() == code).collect()
}

fn tree(hierarchy: &Hierarchy, level: usize, code: usize) -> Value {
    let label = &hierarchy.level(level).labels()[code];
    if level == 0 {
        return json!(label);
    }
    let below: Vec<Value> =
        children(hierarchy, level, code).into_iter().map(|child| tree(hierarchy, level - 1, child)).collect();
    json!({ "label": label, "below": below })
}
