//! `incrowd profile`: what each column looks like, and how many records stand alone on the quasi-identifiers.

use std::path::PathBuf;

use incrowd::Role;
use incrowd::error::Result;

use super::terminal::{Exit, Terminal, columns};
use crate::input::source::parse_delimiter;
use crate::input::survey::Uniqueness;
use crate::input::tally::Amount;
use crate::orders::profile::{Profile, Profiled, role_in_project, tells_who};
use crate::sentences::{grouped, percent};
use crate::words::profiles::{profiled, range_texts};

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  incrowd profile patients.csv          any table, before there is a project
  incrowd profile                       the project in the current folder, with its roles
  incrowd profile study/ --json         the same facts, for programs
  incrowd profile patients.csv --values   also the least and greatest number or date of each column

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

    /// What separates the fields of a CSV file: one character, or "tab" [default: detected from the header]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,

    /// A text that means "no value"; may be given several times [default: looks for "", "?", "NA", "null" and the like]
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let found = order(args).run(&terminal.work(0, None))?;
    terminal.say(in_words(&found, args.values));
    terminal.json(&profiled(&found, args.values));
    Ok(Exit::Done)
}

fn order(args: &Args) -> Profile {
    let Args { path, data, delimiter, missing, .. } = args.clone();
    Profile { path, data, delimiter, missing }
}

fn in_words(profile: &Profiled, with_values: bool) -> String {
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

fn columns_table(profile: &Profiled, with_values: bool) -> String {
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
                let is_shown = !tells_who(profile.project.as_ref(), column, suggestion);
                let (least, greatest) = range_texts(column).filter(|_| is_shown).unwrap_or_default();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::project::FILE_NAME;
    use crate::work::Work;
    use serde_json::{Value, json};
    use std::path::Path;

    fn look(args: &Args, work: &Work) -> Result<Profiled> {
        order(args).run(work)
    }

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
        let found = look(&args, &Work::default()).expect("a readable table");
        let said = in_words(&found, false);
        assert!(said.contains("1 of 4 records (25.0 %) lack a value and are kept"), "{said}");
        assert!(said.contains("2 of 4 records (50.0 %) are unique on age, sex"), "{said}");
        let json = profiled(&found, args.values);
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
        let found = look(&args, &Work::default()).expect("a readable table");
        let said = in_words(&found, true);
        assert!(["83701", "83702", "2093-03-07", "2093-03-08"].iter().all(|value| said.contains(value)), "{said}");
        assert_eq!(profiled(&found, args.values)["columns"][0]["least"], "83701");
    }

    #[test]
    fn a_project_has_the_last_word() {
        let (folder, _) = folder_with_table();
        let file = folder.path().join(FILE_NAME);
        let text = "[data]\npath = \"a.csv\"\nmissing = [\"?\"]\nmissing_records = \"keep\"\n[attributes.disease]\nrole = \"quasi-identifier\"\n";
        std::fs::write(&file, text).expect("a writable folder");
        for path in [folder.path(), &file] {
            let found = look(&args(path), &Work::default()).expect("a readable project");
            assert_eq!(found.quasi_identifiers, ["disease"]);
            let json = profiled(&found, false);
            assert_eq!(
                (&json["columns"][3]["role"], &json["columns"][0]["role"]),
                (&json!("quasi-identifier"), &Value::Null)
            );
            assert_eq!((&json["uniqueness"]["n_records"], &json["uniqueness"]["n_unique"]), (&json!(4), &json!(1)));
        }
        let asked = Args { missing: vec!["x".into()], ..args(folder.path()) };
        assert!(look(&asked, &Work::default()).is_err_and(|error| error.hint_given().is_some()));
    }

    #[test]
    fn a_folder_without_project_says_how_to_make_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = look(&args(folder.path()), &Work::default()).err().expect("there is no project");
        let hint = error.hint_given().map(crate::sentences::for_command_line);
        assert_eq!(hint.as_deref(), Some("make one with: incrowd init DATA.csv"));
    }
}
