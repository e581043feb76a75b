//! The project file as a JSON document: what the page edits, and what becomes `incrowd.toml` when it is saved.

use incrowd::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value, json};

use super::safety::Folder;
use crate::project::{FILE_NAME, Project, parse};

/// The document of a project file's text; the same sections and keys.
pub fn of_text(text: &str) -> Result<Value> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.message()))?;
    serde_json::to_value(table).map_err(|error| wrong(error.to_string()))
}

/// The text of the project file that a document stands for.
pub fn to_text(document: &Value) -> Result<String> {
    let table = toml::Table::try_from(without_nulls(document)).map_err(|error| wrong(error.to_string()))?;
    let text = toml::to_string(&table).map_err(|error| wrong(error.to_string()))?;
    Ok(format!("# Written by incrowd serve. \"incrowd negotiate\" and the other commands read it too.\n\n{text}"))
}

/// Reads a document as a project of the served folder, and refuses paths that lead out of it.
pub fn to_project(document: &Value, folder: &Folder) -> Result<Project> {
    for path in paths(document) {
        folder.to_read(&path).map_err(|error| error.or_at(path))?;
    }
    let text = to_text(document)?;
    let file = folder.root().join(FILE_NAME);
    parse(&text, folder.root(), &file).map_err(|error| error.or_at(FILE_NAME))
}

/// Every path that a document names.
pub fn paths(document: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    let mut push = |value: &Value| paths.extend(value.as_str().map(str::to_string));
    push(&document["data"]["path"]);
    push(&document["data"]["population"]);
    for attribute in document["attributes"].as_object().into_iter().flat_map(Map::values) {
        push(&attribute["hierarchy"]);
        push(&attribute["hierarchy"]["file"]);
    }
    paths
}

/// The document without values of the data: a tree that the project file spells out is named, not shown.
pub fn without_values(document: &Value) -> Value {
    let mut document = document.clone();
    for attribute in document["attributes"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        if attribute["hierarchy"].get("tree").is_some() {
            attribute["hierarchy"] = json!({ "kept": true });
        }
        if attribute["hierarchy"].is_null() {
            attribute.as_object_mut().map(|attribute| attribute.shift_remove("hierarchy"));
        }
    }
    document
}

/// Puts back what [`without_values`] took out.
pub fn with_kept(mut document: Value, base: &Value) -> Value {
    let attributes = document.get_mut("attributes").and_then(Value::as_object_mut);
    for (name, attribute) in attributes.into_iter().flatten() {
        if attribute.get("hierarchy").is_some_and(|hierarchy| hierarchy.get("kept").is_some()) {
            attribute["hierarchy"] = base["attributes"][name]["hierarchy"].clone();
        }
    }
    document
}

/// TOML has no null: what is null is not said.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let said = object.iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(list) => list.iter().filter(|value| !value.is_null()).map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Project, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_comes_back_as_it_was() {
        let text = "[data]\npath = \"a.csv\"\nmissing = [\"?\"]\n\n[attributes.b]\nrole = \"quasi-identifier\"\nhierarchy = { tree = { N = [\"x\"] } }\n\n[attributes.a]\nrole = \"sensitive\"\n\n[request]\nk = 3\nmax_level = { b = 1 }\n";
        let document = of_text(text).expect("well-formed");
        let keys: Vec<&String> = document["attributes"].as_object().expect("a section").keys().collect();
        assert_eq!(keys, ["b", "a"], "the order of attributes has a meaning");
        let again = of_text(&to_text(&document).expect("it can be written")).expect("well-formed");
        assert_eq!(document, again);
        assert_eq!(paths(&document), ["a.csv"]);
        let hidden = without_values(&document);
        assert!(!hidden.to_string().contains("\"x\""), "{hidden}");
        assert_eq!(with_kept(hidden, &document), document);
        for odd in [json!(3), json!("x"), json!([1]), json!({ "attributes": 3 }), json!({ "attributes": { "b": 3 } })] {
            assert_eq!(with_kept(odd.clone(), &document), odd);
        }
    }
}
