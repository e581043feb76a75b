//! `incrowd profile`: what each column looks like, and how many records stand alone on the quasi-identifiers.

use std::path::{Path, PathBuf};

use crate::sentences::{grouped, hint, percent};
use incrowd::error::{Error, ErrorKind, Result};
use incrowd::table::{Kind, date_text};
use incrowd::wire::share;
use incrowd::{Missing, Role};
use serde_json::{Map, Value, json};

use super::terminal::{Exit, Terminal, columns};
use crate::input::project::{FILE_NAME, Project};
use crate::input::repeats::Repeating;
use crate::input::source::{ReadOptions, Source, parse_delimiter};
use crate::input::survey::{self, Suggestion, Survey, SurveyedColumn, Uniqueness, holds_values, rule_toml};
use crate::input::tally::Amount;
use crate::work::Work;

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  incrowd profile patients.csv          any table, before there is a project
  incrowd profile                       the project in the current folder, with its roles
  incrowd profile study/ --json         the same facts, for programs
  incrowd profile patients.csv --values also the least and greatest number or date of each column

A record is unique if no other record has the same values in all quasi-identifiers:
whoever knows these of a person finds that person's record.

Where an identifier repeats, it asks whether people are to be counted instead of records.")]
pub struct Args {
    /// A CSV file, a Parquet file, a folder of Parquet files, or a project
    #[arg(default_value = ".")]
    pub path: PathBuf,

    /// Read this file instead of the one that the project names, such as the next delivery of the data
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,

    /// Show the least and greatest number or date of each column, which are values of somebody's record
    #[arg(long)]
    pub values: bool,

    /// What separates the fields of a CSV file: one character, or "tab" [default: found out from the header]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,

    /// A text that means "no value"; may be given several times [default: looks for "", "?", "NA", "null" and the like]
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,
}

/// Everything that is printed.
pub struct Profile {
    project: Option<Project>,
    /// Where the data are, as it was given.
    data: String,
    pub survey: Survey,
    pub suggestions: Vec<Suggestion>,
    /// The project's where it names any, otherwise the suggested ones.
    quasi_identifiers: Vec<String>,
    uniqueness: Option<Uniqueness>,
    /// The column by which people should be counted, where nobody has said.
    repeating: Option<Repeating>,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let profile = profile(args, &terminal.work(0, None))?;
    terminal.say(in_words(&profile, args.values));
    terminal.json(&to_json(&profile, args.values));
    Ok(Exit::Done)
}

/// Looks at what the flags name: a table, or a project.
pub fn profile(args: &Args, work: &Work) -> Result<Profile> {
    let project = if is_project(&args.path) { Some(Project::open(&args.path)?) } else { None };
    if project.is_none() && args.data.is_some() {
        let message = "other data are read instead of a project's, and this is a table";
        return Err(Error::new(ErrorKind::Request, message).hint("name the table itself"));
    }
    let project = project.map(|project| project.with_data(args.data.as_deref())).transpose()?;
    let (source, missing) = match &project {
        Some(project) => open_project(project, args)?,
        None => {
            let missing =
                (!args.missing.is_empty()).then(|| Missing { tokens: args.missing.clone(), ..Missing::default() });
            (Source::open(&args.path, &ReadOptions::of_delimiter(args.delimiter))?, missing)
        }
    };
    let data = project.as_ref().map_or_else(|| args.path.display().to_string(), |project| project.data.clone());
    of_source(project, data, &source, missing, work)
}

/// Looks at a table, with the roles of a project where there is one; `data` is what it is called.
pub fn of_source(
    project: Option<Project>,
    data: String,
    source: &Source,
    missing: Option<Missing>,
    work: &Work,
) -> Result<Profile> {
    let survey = survey::survey(source, missing.as_ref(), work)?;
    let mut suggestions = survey::suggest(&survey);
    survey::take_back_twins(source, &survey, &mut suggestions, work)?;
    let quasi_identifiers = quasi_identifiers(project.as_ref(), &survey, &suggestions);
    let is_any_left = !survey.missing.drop_records || survey.n_incomplete < survey.n_records;
    let uniqueness = match quasi_identifiers.is_empty() || !is_any_left {
        true => None,
        false => {
            let names: Vec<&str> = quasi_identifiers.iter().map(String::as_str).collect();
            let person = project.as_ref().map_or(Vec::new(), Project::person);
            Some(survey::uniqueness(source, &survey.missing, &names, &person, work)?)
        }
    };
    let repeating = repeating(project.as_ref(), &survey);
    Ok(Profile { project, data, survey, suggestions, quasi_identifiers, uniqueness, repeating })
}

/// A folder of Parquet files is a table, any other folder ought to be a project.
fn is_project(path: &Path) -> bool {
    let is_parquet =
        |entry: std::fs::DirEntry| entry.path().extension().is_some_and(|extension| extension == "parquet");
    match path.is_dir() {
        true if path.join(FILE_NAME).exists() => true,
        true => !std::fs::read_dir(path).is_ok_and(|mut entries| entries.any(|entry| entry.is_ok_and(is_parquet))),
        false => path.extension().is_some_and(|extension| extension == "toml"),
    }
}

fn open_project(project: &Project, args: &Args) -> Result<(Source, Option<Missing>)> {
    if args.delimiter.is_some() || !args.missing.is_empty() {
        return Err(Error::new(
            ErrorKind::Request,
            hint("{delimiter} and {missing} are for a data file, and this is a project"),
        )
        .at(project.file.display().to_string())
        .hint("change delimiter and missing in its [data] section"));
    }
    let source = project.source_as_written()?;
    for attribute in &project.attributes {
        source.check_column(&attribute.name)?;
    }
    Ok((source, Some(project.missing.clone())))
}

fn quasi_identifiers(project: Option<&Project>, survey: &Survey, suggestions: &[Suggestion]) -> Vec<String> {
    let of_project = project.into_iter().flat_map(|project| project.with_role(Role::QuasiIdentifier));
    let of_project: Vec<String> = of_project.map(|attribute| attribute.name.clone()).collect();
    if !of_project.is_empty() {
        return of_project;
    }
    let is_suggested = |(_, suggestion): &(&SurveyedColumn, &Suggestion)| suggestion.role == Role::QuasiIdentifier;
    survey.columns.iter().zip(suggestions).filter(is_suggested).map(|(column, _)| column.name.clone()).collect()
}

/// The column by which people should be counted, where a project does not say whether they are.
pub fn repeating(project: Option<&Project>, survey: &Survey) -> Option<Repeating> {
    if project.is_some_and(|project| project.records_are_independent) {
        return None;
    }
    let role = |column: &SurveyedColumn| project.and_then(|project| role_in_project(project, &column.name));
    survey::repeating(survey, &survey.columns.iter().map(role).collect::<Vec<_>>())
}

/// The same, for programs.
pub fn repeating_json(repeating: &Repeating) -> Value {
    json!({
        "column": repeating.column,
        "n_records": repeating.n_records,
        "n_different": repeating.n_different.n,
        "is_exact": repeating.n_different.is_exact,
        "in_words": format!("{repeating}: count people?"),
    })
}

fn role_in_project(project: &Project, name: &str) -> Option<Role> {
    project.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.role)
}

fn in_words(profile: &Profile, with_values: bool) -> String {
    let survey = &profile.survey;
    let mut lines = vec![columns_table(profile, with_values), String::new()];
    if survey.n_incomplete > 0 {
        let then = if survey.missing.drop_records {
            "and are left out below"
        } else {
            "and are kept: missing is a value of its own"
        };
        let (n, of) = (survey.n_incomplete, survey.n_records);
        lines.push(format!("{} of {} records ({}) lack a value {then}", grouped(n), grouped(of), percent(n, of)));
    }
    let is_exact = survey.columns.iter().all(|column| column.n_distinct.is_exact);
    if !is_exact || profile.uniqueness.as_ref().is_some_and(|found| !found.n_unique.is_exact) {
        lines.push("\"about\" marks estimates: there are too many values to count in memory".into());
    }
    lines.extend(profile.repeating.as_ref().map(|repeating| format!("{repeating}: count people?")));
    lines.push(match &profile.uniqueness {
        None if profile.quasi_identifiers.is_empty() => {
            "no quasi-identifier is named or suggested, so nobody can be called unique".into()
        }
        None => "every record lacks a value, none is left to compare".into(),
        Some(uniqueness) => uniqueness_in_words(&profile.quasi_identifiers, uniqueness),
    });
    lines.join("\n")
}

fn columns_table(profile: &Profile, with_values: bool) -> String {
    let survey = &profile.survey;
    let mut header = vec!["column", "type", "distinct", "missing", "unique"];
    if with_values {
        header.extend(["least", "greatest"]);
    }
    header.extend(["role", "why"]);
    if profile.project.is_some() {
        header.insert(header.len() - 1, "suggested");
    }
    let rows: Vec<Vec<String>> = survey
        .columns
        .iter()
        .zip(&profile.suggestions)
        .map(|(column, suggestion)| {
            let mut row = vec![
                column.name.clone(),
                column.kind.name().to_string(),
                column.n_distinct.to_string(),
                grouped(column.n_missing),
                unique_percent(column.n_unique, survey.n_records),
            ];
            if with_values {
                let (least, greatest) = range_texts(column).unwrap_or_default();
                row.extend([least, greatest]);
            }
            let named = profile.project.as_ref().map(|project| role_in_project(project, &column.name));
            if let Some(role) = named {
                row.push(role.map_or("not named", Role::name).to_string());
            }
            let suggested = if named == Some(Some(suggestion.role)) { "same" } else { suggestion.role.name() };
            row.extend([suggested.to_string(), suggestion.why.clone()]);
            row
        })
        .collect();
    let n_left = if profile.project.is_some() { 3 } else { 2 };
    let left: Vec<usize> = [0, 1].into_iter().chain(header.len() - n_left..header.len()).collect();
    columns(&header, &rows, &left)
}

/// The share of records that stand alone; a dash where none does, to let the others stand out.
fn unique_percent(n_unique: Amount, n_records: u64) -> String {
    match n_unique.n {
        0 => "–".to_string(),
        n => percent(n.min(n_records), n_records),
    }
}

/// The least and the greatest value of a column of numbers or dates.
fn range_texts(column: &SurveyedColumn) -> Option<(String, String)> {
    let text = |position: f64| match column.kind {
        Kind::Date => date_text(position as i64),
        _ => position.to_string(),
    };
    column.range.map(|(least, greatest)| (text(least), text(greatest)))
}

fn uniqueness_in_words(quasi_identifiers: &[String], uniqueness: &Uniqueness) -> String {
    let of = uniqueness.n_all();
    let n_unique = uniqueness.n_unique.n.min(of);
    let sentence = format!(
        "{} of {} {} ({}) are unique on {}",
        uniqueness.n_unique,
        uniqueness.n_people.map_or(grouped(of), |people| people.to_string()),
        if uniqueness.n_people.is_some() { "people" } else { "records" },
        percent(n_unique, of),
        quasi_identifiers.join(", ")
    );
    if quasi_identifiers.len() < 2 || n_unique == 0 {
        return sentence;
    }
    let mut without: Vec<(&String, Amount)> =
        quasi_identifiers.iter().zip(uniqueness.n_unique_without.iter().copied()).collect();
    without.sort_by_key(|(_, left)| left.n);
    let row = |(name, left): (&String, Amount)| {
        vec![name.clone(), left.to_string(), grouped(n_unique.saturating_sub(left.n))]
    };
    let rows: Vec<Vec<String>> = without.into_iter().map(row).collect();
    format!("{sentence}\n\n{}", columns(&["without", "unique", "fewer"], &rows, &[0]))
}

/// As `--json` says it.
pub fn to_json(profile: &Profile, with_values: bool) -> Value {
    let survey = &profile.survey;
    let column = |(column, suggestion): (&SurveyedColumn, &Suggestion)| {
        column_json(survey, column, suggestion, profile.project.as_ref(), with_values)
    };
    let mut object = Map::new();
    let project = profile.project.as_ref().map(|project| project.file.display().to_string());
    object.insert("project".into(), json!(project));
    object.insert("data".into(), json!(profile.data));
    object.insert("n_records".into(), json!(survey.n_records));
    object.insert("n_incomplete".into(), json!(survey.n_incomplete));
    object.insert("missing".into(), json!(survey.missing.tokens));
    object.insert("missing_records".into(), json!(if survey.missing.drop_records { "drop" } else { "keep" }));
    object.insert("columns".into(), survey.columns.iter().zip(&profile.suggestions).map(column).collect());
    object.insert("quasi_identifiers".into(), json!(profile.quasi_identifiers));
    let uniqueness = profile.uniqueness.as_ref();
    object.insert(
        "uniqueness".into(),
        uniqueness.map_or(Value::Null, |found| uniqueness_json(&profile.quasi_identifiers, found)),
    );
    object.insert("repeating".into(), profile.repeating.as_ref().map_or(Value::Null, repeating_json));
    Value::Object(object)
}

pub fn uniqueness_json(quasi_identifiers: &[String], uniqueness: &Uniqueness) -> Value {
    let without = quasi_identifiers.iter().zip(&uniqueness.n_unique_without);
    let without: Map<String, Value> = without.map(|(name, n_unique)| (name.clone(), json!(n_unique.n))).collect();
    json!({
        "n_records": uniqueness.n_records,
        "n_people": uniqueness.n_people.map(|people| people.n),
        "n_groups": uniqueness.n_groups.n,
        "n_unique": uniqueness.n_unique.n,
        "share_unique": share(uniqueness.n_unique.n.min(uniqueness.n_all()), uniqueness.n_all()),
        "is_exact": uniqueness.n_unique.is_exact,
        "n_unique_without": without,
    })
}

/// One column and what is suggested for it, for programs.
pub fn column_json(
    survey: &Survey,
    column: &SurveyedColumn,
    suggestion: &Suggestion,
    project: Option<&Project>,
    with_values: bool,
) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(column.name));
    object.insert("type".into(), json!(column.kind.name()));
    object.insert("n_distinct".into(), json!(column.n_distinct.n));
    object.insert("n_missing".into(), json!(column.n_missing));
    object.insert("n_unique".into(), json!(column.n_unique.n));
    object.insert("share_unique".into(), json!(share(column.n_unique.n.min(survey.n_records), survey.n_records)));
    object.insert("is_exact".into(), json!(column.n_distinct.is_exact));
    if let (true, Some((least, greatest))) = (with_values, range_texts(column)) {
        object.insert("least".into(), json!(least));
        object.insert("greatest".into(), json!(greatest));
    }
    if let Some(project) = project {
        object.insert("role".into(), json!(role_in_project(project, &column.name).map(Role::name)));
    }
    object.insert("suggested_role".into(), json!(suggestion.role.name()));
    object.insert("why".into(), json!(suggestion.why));
    // Values of columns that tell who it is are shown to nobody.
    let role = project.and_then(|project| role_in_project(project, &column.name));
    let tells_who = role.is_some_and(Role::tells_who) || suggestion.role.tells_who();
    let shows_values = with_values && !tells_who;
    object.insert(
        "suggested_hierarchy".into(),
        json!(rule_toml(&suggestion.rule).filter(|_| shows_values || !holds_values(&suggestion.rule))),
    );
    object.insert("why_hierarchy".into(), json!(suggestion.why_rule));
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(path: &Path) -> Args {
        Args { path: path.into(), data: None, values: false, delimiter: None, missing: Vec::new() }
    }

    /// A table whose every value can be recognized in a text.
    fn folder_with_table() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("a.csv");
        let text = "age,sex,seen,disease\n83701,xf,2093-03-07,xflu\n83702,xm,2093-03-07,xcold\n83702,xm,2093-03-07,xflu\n?,xf,2093-03-08,xflu\n";
        std::fs::write(&data, text).expect("a writable folder");
        (folder, data)
    }

    #[test]
    fn a_table_is_profiled_without_showing_values() {
        let (_folder, data) = folder_with_table();
        let args = args(&data);
        let found = profile(&args, &Work::default()).expect("a readable table");
        let said = in_words(&found, false);
        assert!(said.contains("1 of 4 records (25.0 %) lack a value and are kept"), "{said}");
        assert!(said.contains("2 of 4 records (50.0 %) are unique on age, sex"), "{said}");
        let json = to_json(&found, args.values);
        assert_eq!(json["uniqueness"]["n_unique"], 2);
        assert_eq!(json["uniqueness"]["n_unique_without"]["age"], 2);
        assert_eq!(json["columns"][3]["suggested_role"], "sensitive");
        for value in ["8370", "2093", "xf", "xm", "xcold"] {
            assert!(!said.contains(value) && !json.to_string().contains(value), "{value} in {said} {json}");
        }
    }

    #[test]
    fn values_are_shown_when_asked_for() {
        let (_folder, data) = folder_with_table();
        let args = Args { values: true, ..args(&data) };
        let found = profile(&args, &Work::default()).expect("a readable table");
        let said = in_words(&found, true);
        assert!(["83701", "83702", "2093-03-07", "2093-03-08"].iter().all(|value| said.contains(value)), "{said}");
        assert_eq!(to_json(&found, args.values)["columns"][0]["least"], "83701");
    }

    #[test]
    fn a_project_has_the_last_word() {
        let (folder, _) = folder_with_table();
        let file = folder.path().join(FILE_NAME);
        let text = "[data]\npath = \"a.csv\"\nmissing = [\"?\"]\nmissing_records = \"keep\"\n[attributes.disease]\nrole = \"quasi-identifier\"\n";
        std::fs::write(&file, text).expect("a writable folder");
        for path in [folder.path(), &file] {
            let found = profile(&args(path), &Work::default()).expect("a readable project");
            assert_eq!(found.quasi_identifiers, ["disease"]);
            let json = to_json(&found, false);
            assert_eq!(
                (&json["columns"][3]["role"], &json["columns"][0]["role"]),
                (&json!("quasi-identifier"), &Value::Null)
            );
            assert_eq!((&json["uniqueness"]["n_records"], &json["uniqueness"]["n_unique"]), (&json!(4), &json!(1)));
        }
        let asked = Args { missing: vec!["x".into()], ..args(folder.path()) };
        assert!(profile(&asked, &Work::default()).is_err_and(|error| error.hint_given().is_some()));
    }

    #[test]
    fn a_folder_without_project_says_how_to_make_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = profile(&args(folder.path()), &Work::default()).err().expect("there is no project");
        let hint = error.hint_given().map(crate::sentences::for_command_line);
        assert_eq!(hint.as_deref(), Some("make one with: incrowd init DATA.csv"));
    }
}
