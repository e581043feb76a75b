//! What the `[data]` section says beside a path: how the data are written, what is missing, whose records they are.

use incrowd::table::Needed;
use incrowd::{Result, Role};
use toml::Table;

use crate::input::database::place::DatabasePlace;
use crate::input::project::Attribute;
use crate::input::project::keys::{choice, text_at, wrong};
use crate::input::source::{Encoding, Labels, Notation, ReadOptions, parse_delimiter};
use crate::sentences::hint;

/// The keys of the section.
pub(super) const DATA_KEYS: [&str; 24] = [
    "path",
    "database",
    "table",
    "query",
    "driver",
    "population",
    "delimiter",
    "encoding",
    "decimal",
    "thousands",
    "sheet",
    "labels",
    "missing",
    "missing_records",
    "complete",
    "unreadable",
    "unknown",
    "other",
    "weight_of",
    "household",
    "records",
    "max_records_per_person",
    "records_seed",
    "counted",
];

/// In which columns a record has to have a value, where those that lack one are left out: in those that the project counts
/// or publishes, and in those that it names for this. What else a file holds is nobody's loss.
pub(super) fn needed(attributes: &[Attribute], keep_other: bool, complete: &[String]) -> Needed {
    let names = |is_hidden: bool| {
        let hidden = attributes.iter().filter(move |attribute| (attribute.role == Role::Identifier) == is_hidden);
        hidden.map(|attribute| attribute.name.clone())
    };
    match keep_other {
        true => Needed::AllBut(names(true).filter(|name| !complete.contains(name)).collect()),
        false => Needed::Only(names(false).chain(complete.iter().cloned()).collect()),
    }
}

/// The keys that are about a database.
const DATABASE_KEYS: [&str; 3] = ["table", "query", "driver"];

/// Where the data are: the path of a file, or a table of a database, with what it is called.
pub(super) fn place(data: &Table) -> Result<(String, Option<DatabasePlace>)> {
    let text = |key: &str| text_at(data, &format!("data.{key}"), key);
    let (path, database) = (text("path")?, text("database")?);
    match (path, database) {
        (Some(_), Some(_)) => Err(wrong("[data] has a path and a database").hint("leave one of them out")),
        (None, None) => Err(wrong("[data] has no path").hint("add path = \"data.csv\", or database and table")),
        (Some(path), None) => match DATABASE_KEYS.into_iter().find(|key| data.contains_key(*key)) {
            Some(key) => Err(wrong(format!("data.{key} is about a database, and [data] names none"))
                .hint(hint("add {data.database}, or leave it out"))),
            None => Ok((path, None)),
        },
        (None, Some(uri)) => {
            let (table, query, driver) = (text("table")?, text("query")?, text("driver")?);
            let place = DatabasePlace::new(&uri, table.as_deref(), query.as_deref(), driver.as_deref())?;
            Ok((place.asked.name().to_string(), Some(place)))
        }
    }
}

/// How the data are written.
pub(super) fn reading(data: &Table) -> Result<ReadOptions> {
    let unfit = |what: String| wrong(format!("data.delimiter {what}")).hint(hint("for example {data.delimiter=;}"));
    let delimiter = text_at(data, "data.delimiter", "delimiter")?;
    let delimiter = delimiter.map(|text| parse_delimiter(&text).map_err(unfit)).transpose()?;
    let unknown_encoding = || {
        wrong("data.encoding is none that is known")
            .hint(hint("for example {data.encoding=windows-1252}, \"utf-16le\" or \"iso-8859-2\""))
    };
    let encoding = text_at(data, "data.encoding", "encoding")?;
    let encoding = encoding.map(|name| Encoding::parse(&name).ok_or_else(unknown_encoding)).transpose()?;
    let labels = match choice(data, "data.", "labels", &["labels", "codes"])? {
        "codes" => Labels::Codes,
        _ => Labels::Labels,
    };
    let sheet = text_at(data, "data.sheet", "sheet")?;
    Ok(ReadOptions { delimiter, encoding, notation: notation(data)?, sheet, labels })
}

/// What stands in numbers beside their digits.
fn notation(data: &Table) -> Result<Notation> {
    let mark = |key: &str, marks: &[&str]| -> Result<Option<u8>> {
        let Some(text) = text_at(data, &format!("data.{key}"), key)? else { return Ok(None) };
        match marks.contains(&text.as_str()) {
            true => Ok(text.bytes().next()),
            false => Err(wrong(format!("data.{key} is no mark that numbers have"))
                .hint(format!("one of \"{}\"", marks.join("\", \"")))),
        }
    };
    let decimal = mark("decimal", &[".", ","])?.unwrap_or(b'.');
    let thousands = mark("thousands", &[".", ",", " ", "'"])?;
    match thousands == Some(decimal) {
        true => Err(wrong("data.decimal and data.thousands are the same mark")
            .hint(hint("for example {data.decimal=,} and {data.thousands=.}"))),
        false => Ok(Notation { decimal, thousands }),
    }
}

/// The first attribute of a role.
pub(super) fn of_role(attributes: &[Attribute], role: Role) -> Option<&str> {
    attributes.iter().find(|attribute| attribute.role == role).map(|attribute| attribute.name.as_str())
}

/// How many records of a person are kept, and the seed that decides which.
pub(super) fn per_person(data: &Table, attributes: &[Attribute]) -> Result<(Option<u64>, u64)> {
    let whole = |key: &str, name: &'static str, least: u64| match data.get(key) {
        None => Ok(None),
        Some(value) => value
            .as_integer()
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| *n >= least)
            .map(Some)
            .ok_or_else(|| wrong(hint(name).and(format!(" must be a whole number of at least {least}")))),
    };
    let n_max = whole("max_records_per_person", "{data.max_records_per_person}", 1)?;
    let seed = whole("records_seed", "{data.records_seed}", 0)?;
    match (n_max, seed) {
        (Some(_), _) if of_role(attributes, Role::Person).is_none() => {
            Err(wrong(hint("{data.max_records_per_person} needs to know whose record it is"))
                .hint(hint("give the column that says so {role=person}")))
        }
        (None, Some(_)) => {
            Err(wrong(hint("{data.records_seed} decides which records of a person are kept, and all are"))
                .hint(hint("add {data.max_records_per_person}, or leave it out")))
        }
        _ => Ok((n_max, seed.unwrap_or(0))),
    }
}

/// Refuses sampling weights that would be generalized, or that criteria would be about.
pub(super) fn check_weight(name: &str, attributes: &[Attribute]) -> Result<()> {
    let role = attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.role);
    match role {
        Some(role) if !matches!(role, Role::Other | Role::Identifier) => {
            Err(wrong(format!("data.weight_of names '{name}', which is {}", role.name()))
                .hint(hint("leave the column out of the attributes, or give it {role=other} or {role=identifier}")))
        }
        _ => Ok(()),
    }
}

/// Refuses weights and households that would be published coarser than they are, for they are read as they are.
pub(super) fn check_unchanged<'a>(names: impl IntoIterator<Item = &'a String>, attributes: &[Attribute]) -> Result<()> {
    let is_changed = |name: &&String| attributes.iter().any(|known| known.name == **name && known.publish_as.is_some());
    match names.into_iter().find(is_changed) {
        Some(name) => Err(wrong(format!("attributes.{name}.publish_as would change weights or households"))
            .hint("leave it out, or give the weights or households another column")),
        None => Ok(()),
    }
}
