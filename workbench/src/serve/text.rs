//! Writes a changed document into the text of a project file: what did not change stays as it stands, comments and all.

use serde_json::{Map, Value as Json};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

use super::document::of_text;

/// The text with what the document says; none where it cannot be put that way.
pub fn changed(text: &str, document: &Map<String, Json>) -> Option<String> {
    let known = of_text(text).ok()?;
    let mut file: DocumentMut = text.parse().ok()?;
    change(file.as_table_mut(), known.as_object()?, document, TomlPlace::File);
    let order = names(document);
    if let Some(attributes) = file.get_mut("attributes").and_then(Item::as_table_mut)
        && !attributes.iter().map(|(name, _)| name).eq(order.iter().copied())
    {
        reorder(attributes, &order);
    }
    let text = file.to_string();
    says(&text, document).then_some(text)
}

/// The attributes in the document's order, which is that of level vectors.
fn names(document: &Map<String, Json>) -> Vec<&str> {
    let attributes = document.get("attributes").and_then(Json::as_object);
    attributes.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect()
}

fn says(text: &str, document: &Map<String, Json>) -> bool {
    let Ok(Json::Object(known)) = of_text(text) else { return false };
    names(&known) == names(document) && is_same(&Json::Object(known), &Json::Object(document.clone()))
}

/// Equal in meaning: a browser writes 2.0 as 2.
pub fn is_same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

/// Where a table stands in the file, which decides how new ones below it are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TomlPlace {
    File,
    Attributes,
    Inside,
}

fn change(table: &mut dyn TableLike, known: &Map<String, Json>, wanted: &Map<String, Json>, place: TomlPlace) {
    for key in known.keys().filter(|key| !wanted.contains_key(*key)) {
        table.remove(key);
    }
    for (key, value) in wanted {
        let below =
            if place == TomlPlace::File && key == "attributes" { TomlPlace::Attributes } else { TomlPlace::Inside };
        let Some(before) = known.get(key) else {
            table.insert(key, new_item(value, place, below));
            continue;
        };
        if is_same(before, value) {
            continue;
        }
        let item = table.get_mut(key).expect("what is known is there");
        match (before, value) {
            (Json::Object(before), Json::Object(value)) if item.is_table_like() => {
                change(item.as_table_like_mut().expect("it is one"), before, value, below);
            }
            _ => replace(table, key, value),
        }
    }
}

/// Another value in the same place, with the comment that stands beside it.
fn replace(table: &mut dyn TableLike, key: &str, value: &Json) {
    let mut value = new_value(value);
    match table.get_mut(key) {
        Some(Item::Value(old)) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        _ => {
            table.remove(key);
            table.insert(key, Item::Value(value));
        }
    }
}

/// Sections of the file and of its attributes are tables with a head of their own; the rest stands in its line.
fn new_item(value: &Json, place: TomlPlace, below: TomlPlace) -> Item {
    let Json::Object(object) = value else { return Item::Value(new_value(value)) };
    if place == TomlPlace::Inside {
        return Item::Value(new_value(value));
    }
    let mut table = Table::new();
    table.set_implicit(below == TomlPlace::Attributes);
    table.decor_mut().set_prefix("\n");
    for (key, value) in object {
        table.insert(key, new_item(value, below, TomlPlace::Inside));
    }
    Item::Table(table)
}

fn new_value(value: &Json) -> Value {
    match value {
        Json::Bool(is) => Value::from(*is),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(list) => Value::Array(list.iter().map(new_value).collect::<Array>()),
        Json::Object(object) => {
            let entries = object.iter().map(|(key, value)| (Key::new(key), new_value(value)));
            Value::InlineTable(entries.collect::<InlineTable>())
        }
        Json::Null => unreachable!("what is null is not said"),
    }
}

/// Gives tables another order: each takes a place in the file that one of them had.
fn reorder(table: &mut Table, order: &[&str]) {
    let mut places = Vec::new();
    table.iter().for_each(|(_, item)| collect_places(item, &mut places));
    places.sort_unstable();
    let mut places = places.into_iter();
    let entries: Vec<(Key, Item)> = order.iter().filter_map(|name| table.remove_entry(name)).collect();
    for (key, mut item) in entries {
        take_places(&mut item, &mut places);
        table.insert_formatted(&key, item);
    }
}

fn collect_places(item: &Item, places: &mut Vec<isize>) {
    if let Item::Table(table) = item {
        places.extend(table.position());
        table.iter().for_each(|(_, item)| collect_places(item, places));
    }
}

fn take_places(item: &mut Item, places: &mut impl Iterator<Item = isize>) {
    if let Item::Table(table) = item {
        if table.position().is_some() {
            table.set_position(places.next());
        }
        table.iter_mut().for_each(|(_, item)| take_places(item, places));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "\
# Patients of one year.   Ask Ann before changing anything.

[data]   # where it comes from
path = 'a.csv'          # single quotes, on purpose
missing = [ \"?\",  # unknown
            \"\" ]

# Ages are asked at admission.
[attributes.age]
role      = \"quasi-identifier\"
hierarchy = { intervals = [5, 10], origin = 0 } # as in last year's release
weight = 1.50

[attributes.\"home town\"]
role = \"quasi-identifier\"   # spaces are fine
[attributes.\"home town\".hierarchy.tree]
North = [\"Oslo\", \"Umea\"]  # by Bob
South = [\"Rome\"]

# What must not be linked.
[attributes.disease]
role = \"sensitive\"

[request]
k = 5 # agreed on in May
max_suppressed = \"1%\"
# the end
";

    fn document(text: &str) -> Map<String, Json> {
        of_text(text).expect("well-formed").as_object().expect("a table").clone()
    }

    /// The lines that are in one text and not in the other.
    fn difference(before: &str, after: &str) -> (Vec<String>, Vec<String>) {
        let only =
            |a: &str, b: &str| a.lines().filter(|line| !b.lines().any(|l| l == *line)).map(String::from).collect();
        (only(before, after), only(after, before))
    }

    #[track_caller]
    fn check(edit: impl Fn(&mut Json), gone: &[&str], come: &[&str]) -> String {
        let mut wanted = Json::Object(document(TEXT));
        edit(&mut wanted);
        let wanted = wanted.as_object().expect("a table").clone();
        let text = changed(TEXT, &wanted).expect("it can be written");
        assert_eq!(document(&text), wanted, "{text}");
        assert_eq!(names(&document(&text)), names(&wanted), "{text}");
        let (left, new) = difference(TEXT, &text);
        assert_eq!(
            (left, new),
            (gone.iter().map(|s| s.to_string()).collect(), come.iter().map(|s| s.to_string()).collect()),
            "{text}"
        );
        text
    }

    #[test]
    fn only_lines_that_say_something_else_change() {
        assert_eq!(check(|_| {}, &[], &[]), TEXT);
        // As a browser sends it back.
        assert_eq!(check(|all| all["attributes"]["age"]["hierarchy"]["origin"] = json!(0), &[], &[]), TEXT);
        check(|all| all["request"]["k"] = json!(7), &["k = 5 # agreed on in May"], &["k = 7 # agreed on in May"]);
        check(
            |all| all["attributes"]["age"]["hierarchy"] = json!({ "intervals": [5, 10, 20], "origin": 0 }),
            &["hierarchy = { intervals = [5, 10], origin = 0 } # as in last year's release"],
            &["hierarchy = { intervals = [5, 10, 20], origin = 0 } # as in last year's release"],
        );
        check(
            |all| all["attributes"]["age"]["hierarchy"] = json!("hierarchies/age.csv"),
            &["hierarchy = { intervals = [5, 10], origin = 0 } # as in last year's release"],
            &["hierarchy = \"hierarchies/age.csv\" # as in last year's release"],
        );
        check(
            |all| all["attributes"]["disease"]["role"] = json!("other"),
            &["role = \"sensitive\""],
            &["role = \"other\""],
        );
        check(
            |all| all["attributes"]["home town"]["hierarchy"]["tree"]["South"] = json!(["Rome", "Pisa"]),
            &["South = [\"Rome\"]"],
            &["South = [\"Rome\", \"Pisa\"]"],
        );
        check(
            |all| all["attributes"]["job"] = json!({ "role": "quasi-identifier", "hierarchy": { "mask": 2 } }),
            &[],
            &["[attributes.job]", "role = \"quasi-identifier\"", "hierarchy = { mask = 2 }"],
        );
        check(
            |all| drop(all["attributes"].as_object_mut().and_then(|all| all.shift_remove("disease"))),
            &["# What must not be linked.", "[attributes.disease]", "role = \"sensitive\""],
            &[],
        );
        check(|all| all["request"]["max_level"] = json!({ "age": 1 }), &[], &["max_level = { age = 1 }"]);
    }

    #[test]
    fn another_order_of_attributes_moves_them_with_what_is_said_about_them() {
        let text = check(
            |all| {
                let attributes = all["attributes"].as_object_mut().expect("a section");
                let town = attributes.shift_remove("home town").expect("it is there");
                attributes.insert("home town".into(), town);
            },
            &[],
            &[],
        );
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} in {text}"));
        assert!(place("# What must not be linked.") < place("[attributes.disease]"));
        assert!(place("[attributes.disease]") < place("[attributes.\"home town\"]"));
        assert!(place("[attributes.\"home town\"]") < place("# by Bob") && place("# by Bob") < place("[request]"));
    }

    #[test]
    fn what_replaces_a_section_and_what_cannot_be_put() {
        let mut wanted = document(TEXT);
        wanted["attributes"]["home town"]["hierarchy"] = json!("hierarchies/town.csv");
        let text = changed(TEXT, &wanted).expect("it can be written");
        assert_eq!(document(&text), wanted, "{text}");
        assert!(text.contains("# Ages are asked at admission.\n[attributes.age]"), "{text}");
        wanted.shift_remove("request");
        assert_eq!(document(&changed(TEXT, &wanted).expect("it can be written")), wanted);
        assert_eq!(changed("not TOML", &wanted), None);
        let fresh = changed("", &wanted).expect("it can be written");
        assert_eq!(document(&fresh), wanted, "{fresh}");
    }
}
