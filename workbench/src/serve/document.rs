//! The project file as a JSON document: what the page edits, and what becomes `incrowd.toml` when it is saved.

use incrowd::Rule;
use incrowd::error::{Error, ErrorKind, Result, Wording};
use incrowd::hierarchy::LabelTable;
use serde_json::{Map, Value, json};

use super::safety::Folder;
use super::text;
use crate::input::project::{FILE_NAME, Project, parse};

/// The document of a project file's text; the same sections and keys.
pub fn of_text(text: &str) -> Result<Value> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.message()))?;
    serde_json::to_value(table).map_err(|error| wrong(error.to_string()))
}

/// The text of the project file that a document stands for; where there is one already, with what it says besides.
pub fn to_text(document: &Value, known: Option<&str>) -> Result<String> {
    let said = without_nulls(document);
    if let (Some(known), Some(said)) = (known, said.as_object())
        && let Some(text) = text::changed(known, said)
    {
        return Ok(text);
    }
    let table = toml::Table::try_from(said).map_err(|error| wrong(error.to_string()))?;
    let text = toml::to_string(&table).map_err(|error| wrong(error.to_string()))?;
    Ok(format!("# Written by incrowd serve. \"incrowd negotiate\" and the other commands read it too.\n\n{text}"))
}

/// Reads a document as a project of the served folder, and refuses paths that lead out of it.
///
/// `known` is the text that was edited.
pub fn to_project(document: &Value, known: Option<&str>, folder: &Folder) -> Result<Project> {
    for path in paths(document) {
        folder.to_read(&path).map_err(|error| error.or_at(path))?;
    }
    check_database(document, folder)?;
    let imported = imported(document)?;
    let file = folder.root().join(FILE_NAME);
    let text = to_text(&saved(document, &imported), known)?;
    let read = |text: &str| parse(text, folder.root(), &file).map_err(|error| error.or_at(FILE_NAME));
    if imported.is_empty() {
        return read(&text);
    }
    // Their files are not there yet: read without them, and as if they were.
    let mut flat = document.clone();
    imported.iter().for_each(|one| flat["attributes"][&one.attribute]["hierarchy"] = json!({ "flat": true }));
    let mut project = Project { text, ..read(&to_text(&flat, None)?)? };
    for one in imported {
        let name = folder.root().join(&one.path).display().to_string();
        let table = LabelTable::parse(&name, &one.text)?.with_header_of(&one.attribute)?;
        let attribute = project.attributes.iter_mut().find(|attribute| attribute.name == one.attribute);
        let attribute = attribute.expect("it was read");
        attribute.rule = Rule::Table(table);
        attribute.hierarchy_text = toml::Value::from(one.path.as_str()).to_string();
        attribute.hierarchy_file = Some((one.path, one.text));
    }
    Ok(project)
}

/// Refuses a database, and a driver above all, that the project file of the served folder does not name: whoever starts a
/// server decides what it loads and whom it asks.
fn check_database(document: &Value, folder: &Folder) -> Result<()> {
    let keys = ["database", "table", "query", "driver"];
    let named = |document: &Value| keys.map(|key| document["data"].get(key).filter(|value| !value.is_null()).cloned());
    let wanted = named(document);
    if wanted.iter().all(Option::is_none) {
        return Ok(());
    }
    let served = std::fs::read_to_string(folder.root().join(FILE_NAME)).ok().and_then(|text| of_text(&text).ok());
    match served.is_some_and(|served| named(&served) == wanted) {
        true => Ok(()),
        false => Err(wrong("a database is read only where the served project names it")
            .hint("name it in the project file, and serve that again")),
    }
}

/// A hierarchy that was imported and lives in the document until the project is saved.
pub struct Imported {
    attribute: String,
    /// The file that it will be, within the served folder.
    pub path: String,
    pub text: String,
}

/// The folder that imported hierarchies are saved in.
pub const HIERARCHIES: &str = "hierarchies";

/// What was imported; two of one name become two files, and none takes the place of one that another attribute has.
pub fn imported(document: &Value) -> Result<Vec<Imported>> {
    let mut taken: Vec<(String, Option<String>)> = paths(document).into_iter().map(|path| (path, None)).collect();
    let mut all = Vec::new();
    for (attribute, about) in document["attributes"].as_object().into_iter().flatten() {
        let hierarchy = &about["hierarchy"];
        let Some(text) = hierarchy.get("text") else { continue };
        let wrong = |what: &str| wrong(what).at(format!("attributes.{attribute}.hierarchy"));
        let text = text.as_str().ok_or_else(|| wrong("the lines of a hierarchy are a text"))?.to_string();
        let name = match hierarchy.get("name") {
            None => attribute.as_str(),
            Some(name) => name.as_str().ok_or_else(|| wrong("the name of a hierarchy's file is a text"))?,
        };
        let is_free = |path: &String| {
            let by = taken.iter().find(|(known, _)| known == path);
            by.is_none_or(|(_, known)| known.as_ref() == Some(&text))
        };
        let path = (1..).map(|i| file_name(name, i)).find(is_free).expect("there are more numbers than attributes");
        taken.push((path.clone(), Some(text.clone())));
        all.push(Imported { attribute: attribute.clone(), path, text });
    }
    Ok(all)
}

/// A plain name for an imported file; the `i`-th of that name.
fn file_name(name: &str, i: usize) -> String {
    const N_CHARS_MAX: usize = 80;
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if ["csv", "tsv", "txt"].contains(&ending) => (stem, ending),
        _ => (name, "csv"),
    };
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let stem: String = stem.chars().take(N_CHARS_MAX).map(plain).collect();
    let stem = match stem.trim_start_matches('.') {
        "" => "hierarchy",
        stem => stem,
    };
    match i {
        1 => format!("{HIERARCHIES}/{stem}.{ending}"),
        i => format!("{HIERARCHIES}/{stem}-{i}.{ending}"),
    }
}

/// The document as it is saved: it names the files of what was imported.
fn saved(document: &Value, imported: &[Imported]) -> Value {
    let mut document = document.clone();
    imported.iter().for_each(|one| document["attributes"][&one.attribute]["hierarchy"] = json!(one.path));
    document
}

/// The text to save over what is there, and the files that go with it.
pub fn to_files(document: &Value, known: &str) -> Result<(String, Vec<Imported>)> {
    let imported = imported(document)?;
    Ok((to_text(&saved(document, &imported), Some(known))?, imported))
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
        push(&attribute["hierarchy"]["parents"]);
    }
    paths
}

/// The document without values of the data: a tree that is spelled out, or was imported, is named, not shown.
pub fn without_values(document: &Value) -> Value {
    let mut document = document.clone();
    for attribute in document["attributes"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        if ["tree", "text"].iter().any(|kind| attribute["hierarchy"].get(kind).is_some()) {
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
pub fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let said = object.iter().filter(|(_, value)| !value.is_null());
            Value::Object(said.map(|(key, value)| (key.clone(), without_nulls(value))).collect())
        }
        Value::Array(list) => list.iter().filter(|value| !value.is_null()).map(without_nulls).collect(),
        other => other.clone(),
    }
}

fn wrong(message: impl Into<Wording>) -> Error {
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
        let again = of_text(&to_text(&document, None).expect("it can be written")).expect("well-formed");
        assert_eq!(document, again);
        assert_eq!(paths(&document), ["a.csv"]);
        let hidden = without_values(&document);
        assert!(!hidden.to_string().contains("\"x\""), "{hidden}");
        assert_eq!(with_kept(hidden, &document), document);
        for name in ["../../etc/passwd", ".hidden", "", "a/b.csv", "x\0.txt", "C:\\x", &"y".repeat(5000)] {
            let path = file_name(name, 1);
            assert!(path.strip_prefix("hierarchies/").is_some_and(|rest| !rest.starts_with('.')), "{path}");
            assert!(path.len() < 120 && !path["hierarchies/".len()..].contains(['/', '\\', '\0']), "{path}");
        }
        for odd in [json!(3), json!("x"), json!([1]), json!({ "attributes": 3 }), json!({ "attributes": { "b": 3 } })] {
            assert_eq!(with_kept(odd.clone(), &document), odd);
        }
    }
}
