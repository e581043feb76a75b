//! A first project file as its text, with the reason for every guess, to be edited.

use incrowd::{Role, Rule};

use crate::input::source::{Found, ReadOptions};
use crate::input::survey::{Suggestion, Survey, SurveyedColumn, quoted, rule_toml};
use crate::sentences::{grouped, percent};

/// The project file, in the order of the table's columns.
pub fn project_text(
    data: &str,
    reading: &ReadOptions,
    found: &Found,
    survey: &Survey,
    suggestions: &[Suggestion],
) -> String {
    let mut text = String::from(
        "# What incrowd guessed from names and values. Correct what is wrong: nobody knows the data as you do.\n\
         #\n\
         # identifier        names the person; never published\n\
         # person            says whose record it is, so that people are counted; never published\n\
         # quasi-identifier  others may know it; generalized until enough records look alike\n\
         # sensitive         must not be linked to the person; published as it is\n\
         # other             published as it is\n\
         #\n\
         # What is not named, or commented out, is left out of a release unless [data] other = \"keep\".\n\n",
    );
    text.push_str(&data_section(data, reading, found, survey, suggestions));
    let is_tree =
        |suggestion: &&Suggestion| suggestion.role == Role::QuasiIdentifier && suggestion.rule.table().is_some();
    if suggestions.iter().any(|suggestion| is_tree(&suggestion)) {
        text.push_str(
            "# what a later delivery has and a tree below does not know; \"error\" refuses it, with its line\n\
             unknown = \"other\"\n",
        );
    }
    for (column, suggestion) in survey.columns.iter().zip(suggestions) {
        text.push('\n');
        text.push_str(&attribute_section(column, suggestion, found, survey.n_records));
    }
    text.push('\n');
    text.push_str(&request_section(survey, suggestions));
    text
}

fn data_section(
    data: &str,
    reading: &ReadOptions,
    found: &Found,
    survey: &Survey,
    suggestions: &[Suggestion],
) -> String {
    let mut text = format!("[data]\npath = {}\n", quoted(data));
    if let Some(delimiter) = reading.delimiter {
        text.push_str(&format!("delimiter = {}\n", quoted(&char::from(delimiter).to_string())));
    }
    if let Some(encoding) = reading.encoding {
        text.push_str(&format!("encoding = {}\n", quoted(&encoding.name())));
    }
    if let Some(sheet) = &reading.sheet {
        text.push_str(&format!("sheet = {}\n", quoted(sheet)));
    }
    if let Some((notation, columns)) = &found.notation {
        let mark = |mark: u8| quoted(&char::from(mark).to_string());
        text.push_str(&format!("# why: numbers in {}\n", comment(&columns.join(", "))));
        text.push_str(&format!("decimal = {}\n", mark(notation.decimal)));
        notation.thousands.iter().for_each(|byte| text.push_str(&format!("thousands = {}\n", mark(*byte))));
    }
    let tokens: Vec<String> = match survey.missing.tokens.is_empty() {
        // Nothing was missing; should an empty cell come with the next delivery, it is no value.
        true => vec![quoted("")],
        false => survey.missing.tokens.iter().map(|token| quoted(token)).collect(),
    };
    text.push_str(&format!("# what means \"no value\"\nmissing = [{}]\n", tokens.join(", ")));
    text.push_str(&format!("# {}\n", missing_in_words(survey).replace("; ", ";\n# ")));
    if let Some(why) = of_nobody_in_words(survey, suggestions) {
        text.push_str(&format!("# why: {}\n", comment(&why)));
    }
    text.push_str(&format!("missing_records = {}\n", quoted(missing_records(survey, suggestions))));
    text.push_str("# other = \"keep\"\n");
    text
}

/// Whether records that lack a value are left out: as was said, or where some have no number of a person and hardly any other
/// record would be lost.
pub fn missing_records(survey: &Survey, suggestions: &[Suggestion]) -> &'static str {
    let are_few = 20 * survey.n_incomplete <= survey.n_records;
    let drops = survey.missing.drop_records || (are_few && of_nobody(survey, suggestions).is_some());
    if drops { "drop" } else { "keep" }
}

/// The column that says whose record it is, where some records do not say it: people cannot be counted then.
fn of_nobody<'a>(survey: &'a Survey, suggestions: &[Suggestion]) -> Option<&'a SurveyedColumn> {
    let columns = survey.columns.iter().zip(suggestions);
    columns
        .filter(|(_, suggestion)| suggestion.role == Role::Person)
        .map(|(column, _)| column)
        .find(|c| c.n_missing > 0)
}

/// The same, for people.
pub fn of_nobody_in_words(survey: &Survey, suggestions: &[Suggestion]) -> Option<String> {
    let column = of_nobody(survey, suggestions)?;
    let so = match missing_records(survey, suggestions) {
        "drop" => "they are left out",
        _ => {
            "give them one, or leave out what lacks a value with missing_records = \"drop\", before anybody is counted"
        }
    };
    let n = grouped(column.n_missing);
    Some(format!("{n} records have no {}, and nobody knows whose they are: {so}", column.name))
}

/// How many records lack a value, and what becomes of them, for people.
pub fn missing_in_words(survey: &Survey) -> String {
    let (n, of) = (survey.n_incomplete, survey.n_records);
    let lost = match n {
        0 => return "no record lacks a value; if one does, \"drop\" leaves it out and \"keep\" makes missing a value of its own".into(),
        _ => format!("{} of {} records ({})", grouped(n), grouped(of), percent(n, of)),
    };
    format!(
        "\"keep\" makes missing a value of its own; \"drop\" leaves out records that lack one in a column that is counted \
         or published: {lost} lack one in some column"
    )
}

fn attribute_section(column: &SurveyedColumn, suggestion: &Suggestion, found: &Found, n_records: u64) -> String {
    if suggestion.role == Role::Other {
        return left_out_section(column, suggestion, found, n_records);
    }
    let mut text = format!("[attributes.{}]\n{}", key(&column.name), label_line(column));
    text.push_str(&format!("# why: {}\nrole = {}\n", comment(&suggestion.why), quoted(suggestion.role.name())));
    let why_rule = comment(&suggestion.why_rule);
    match (suggestion.role, rule_text(column, suggestion, found)) {
        (Role::QuasiIdentifier, Some(rule)) if rule.len() >= N_CHARACTERS_OF_A_LINE => {
            match tree_section(column, &suggestion.rule) {
                Some(section) => text.push_str(&format!("# why: {why_rule}\n{section}")),
                None => text.push_str(&format!("# why: {why_rule}\nhierarchy = {rule}\n")),
            }
        }
        (Role::QuasiIdentifier, Some(rule)) => text.push_str(&format!("# why: {why_rule}\nhierarchy = {rule}\n")),
        (Role::QuasiIdentifier, None) => {
            text.push_str(&format!("# why no hierarchy: {why_rule}\n"));
            if column.n_distinct.n > 2 {
                text.push_str(&better_hierarchy(column));
            }
        }
        _ => {}
    }
    text
}

/// What programs of statistics call the column, for who reads names such as `RIAGENDR`.
fn label_line(column: &SurveyedColumn) -> String {
    match column.label.as_str() {
        "" => String::new(),
        label => format!("# label: {}\n", comment(label)),
    }
}

/// A hierarchy as the project file says it; of dates, how they are written.
fn rule_text(column: &SurveyedColumn, suggestion: &Suggestion, found: &Found) -> Option<String> {
    let rule = rule_toml(&suggestion.rule)?;
    let format = found.dates.iter().find(|(name, _)| *name == column.name).map(|(_, format)| format.pattern());
    match (format, rule.strip_suffix(" }")) {
        (Some(format), Some(start)) if start.contains("dates = ") => {
            Some(format!("{start}, format = {} }}", quoted(format)))
        }
        _ => Some(rule),
    }
}

/// A longer line is hard to read.
const N_CHARACTERS_OF_A_LINE: usize = 120;

/// A tree as a section of its own, with a line for each of its finest groups.
fn tree_section(column: &SurveyedColumn, rule: &Rule) -> Option<String> {
    let Rule::Table(table) = rule else { return None };
    let mut lines: Vec<(Vec<&String>, Vec<String>)> = Vec::new();
    for row in table.rows() {
        let path: Vec<&String> = row[1..].iter().rev().collect();
        match lines.iter_mut().find(|(known, _)| *known == path) {
            Some((_, values)) => values.push(quoted(&row[0])),
            None => lines.push((path, vec![quoted(&row[0])])),
        }
    }
    let mut text = format!("[attributes.{}.hierarchy.tree]\n", key(&column.name));
    for (path, values) in lines {
        let keys: Vec<String> = path.into_iter().map(|label| key(label)).collect();
        text.push_str(&format!("{} = [", keys.join(".")));
        let mut n = 0;
        for (i, value) in values.iter().enumerate() {
            let is_too_long = n > 0 && n + value.len() > N_CHARACTERS_OF_A_LINE - 20;
            let separator = if i == 0 {
                ""
            } else if is_too_long {
                ",\n    "
            } else {
                ", "
            };
            n = if is_too_long { value.len() } else { n + value.len() + 2 };
            text.push_str(separator);
            text.push_str(value);
        }
        text.push_str("]\n");
    }
    Some(text)
}

/// A column of which nobody can say that it is harmless is left out until someone says so: an editor that takes the first
/// `# ` of its lines away makes it an attribute that is published as it is.
fn left_out_section(column: &SurveyedColumn, suggestion: &Suggestion, found: &Found, n_records: u64) -> String {
    let why = comment(&suggestion.why);
    let (name, label) = (key(&column.name), label_line(column));
    let label = if label.is_empty() { label } else { format!("# {label}") };
    let mut text = format!("# [attributes.{name}]\n{label}# # why left out: {why}\n# role = \"other\"\n");
    if column.finds_people(n_records) {
        text.push_str("# # unique = \"publish\"  # many values occur once: only to publish it anyway\n");
    }
    if let Some(rule) = rule_text(column, suggestion, found).filter(|rule| rule.len() < N_CHARACTERS_OF_A_LINE) {
        let why_rule = comment(&suggestion.why_rule);
        text.push_str(&format!("# # as a quasi-identifier: {why_rule}\n# # hierarchy = {rule}\n"));
    }
    text
}

/// What to write where the values themselves do not say how they belong together.
fn better_hierarchy(column: &SurveyedColumn) -> String {
    match column.n_distinct.n <= 40 {
        true => "# hierarchy = { tree = { \"A\" = [\"value\", \"value\"], \"B\" = [\"value\"] } }\n".into(),
        false => {
            let name: String =
                column.name.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' }).collect();
            format!(
                "# hierarchy = {}  # one line per value: value;group;larger group\n",
                quoted(&format!("hierarchies/{name}.csv"))
            )
        }
    }
}

fn request_section(survey: &Survey, suggestions: &[Suggestion]) -> String {
    let mut text = String::from("# the standing request; flags override it\n[request]\n");
    text.push_str(&format!(
        "k = {}  # every published record has at least this many alike, itself included\n",
        modest_k(n_left(survey))
    ));
    let sensitive = survey.columns.iter().zip(suggestions).find(|(_, suggestion)| suggestion.role == Role::Sensitive);
    if let Some((column, _)) = sensitive {
        text.push_str(&format!("# l = 2  # and among them at least this many values of {}\n", comment(&column.name)));
    }
    text.push_str(&format!(
        "max_suppressed = \"{MAX_SUPPRESSED}\"  # records that may be lost: a few that are unlike all others cost everybody detail\n"
    ));
    text
}

/// How many records there are to publish.
pub fn n_left(survey: &Survey) -> u64 {
    match survey.missing.drop_records {
        true => survey.n_records - survey.n_incomplete,
        false => survey.n_records,
    }
}

/// On seven real tables the best release lost a fifth to two fifths less detail than with one in a hundred.
pub const MAX_SUPPRESSED: &str = "5%";

/// Five is customary; small tables cannot afford it.
pub fn modest_k(n_records: u64) -> u64 {
    match n_records {
        n if n < 20 => 2,
        n if n < 100 => 3,
        _ => 5,
    }
}

/// A name as a key of TOML, in quotes where it needs them.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    if is_bare { name.to_string() } else { quoted(name) }
}

/// A text that stays on its line: a column's name may hold a line break.
pub fn comment(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_texts_survive_toml() {
        for name in ["age", "a b", "a.b", "\"", "\\", "é", "a\nb", "\u{1}", "[x]", "'", "#"] {
            let text = format!("[{}]\n# why: {}\nx = {}\n", key(name), comment(name), quoted(name));
            let table: toml::Table = text.parse().expect("well-formed TOML");
            assert_eq!(table[name]["x"].as_str(), Some(name), "{name:?}");
        }
    }
}
