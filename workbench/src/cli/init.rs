//! `incrowd init`: a first project file from the data alone, with the reason for every guess, to be edited.

use std::path::{Path, PathBuf};

use incrowd::Role;
use incrowd::error::Result;

use super::terminal::{Exit, Terminal, columns};
use crate::input::project::FILE_NAME;
use crate::input::source::{Encoding, Found, parse_delimiter, parse_encoding};
use crate::input::survey::{self, Suggestion, SurveyedColumn, holds_values, rule_toml};
use crate::orders::init::{Init, NewProject};
use crate::output::project_text::{MAX_SUPPRESSED, comment, missing_in_words, modest_k, n_left, of_nobody_in_words};
use crate::sentences::grouped;
use crate::words::profiles::started;

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  incrowd init patients.csv                        write incrowd.toml into the current folder
  incrowd init patients.csv -o study/              write study/incrowd.toml
  incrowd init export.csv --delimiter ';' --missing 'k. A.' --missing ''
  incrowd init survey.xlsx --sheet 2024            one sheet of a workbook
  incrowd init deliveries/                         a folder of Parquet files
  incrowd init postgresql://curator@db/clinic --table public.discharges

Roles are guessed from column names, then from values; every guess says why, in the file.
Read the file before you trust it: nobody knows the data as you do.")]
pub struct Args {
    /// The table: CSV, Excel, OpenDocument, SPSS, Stata, SAS or Parquet, whatever it is called, or a folder of Parquet files
    pub data: PathBuf,

    /// Where to write the project: a folder, or a file that ends in .toml [default: ./incrowd.toml]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite the project file if it exists
    #[arg(long)]
    pub force: bool,

    /// What separates the fields of a CSV file: one character, or "tab" [default: detected from the header]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,

    /// The sheet of a workbook [default: the first that is not empty]
    #[arg(long, value_name = "NAME")]
    pub sheet: Option<String>,

    /// How the characters of a text file are written, such as iso-8859-2 [default: detected from its bytes]
    #[arg(long, value_name = "NAME", value_parser = parse_encoding)]
    pub encoding: Option<Encoding>,

    /// A text that means "no value"; may be given several times [default: looks for "", "?", "NA", "null" and the like]
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,

    /// The table of a database, whose address is given instead of a file: postgresql://, sqlite: or duckdb:
    #[arg(long, value_name = "TABLE", conflicts_with = "query")]
    pub table: Option<String>,

    /// What to ask a database instead of a whole table
    #[arg(long, value_name = "SELECT")]
    pub query: Option<String>,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let Args { data, output, force, delimiter, sheet, encoding, missing, table, query } = args.clone();
    let order = Init { data, output, replace: force, delimiter, sheet, encoding, missing, table, query };
    let made = order.run(&terminal.work(0, None))?;
    terminal.say(in_words(&made));
    terminal.json(&started(&made));
    Ok(Exit::Done)
}

/// How numbers and dates are written, where that had to be found out.
fn found_in_words(found: &Found) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((notation, columns)) = &found.notation {
        let thousands = notation.thousands.map_or(String::new(), |mark| format!(", thousands '{}'", char::from(mark)));
        let decimal = char::from(notation.decimal);
        lines.push(format!("numbers are read with decimal '{decimal}'{thousands}: {}", columns.join(", ")));
    }
    for (column, format) in &found.dates {
        lines.push(format!("dates in {column} are read as {}", format.pattern()));
    }
    lines
}

/// What was decided and what to do next, for people.
fn in_words(made: &NewProject) -> String {
    let mut lines = vec![decisions(made), String::new()];
    if made.suggested.survey.n_incomplete > 0 {
        lines.push(missing_in_words(&made.suggested.survey));
    }
    lines.extend(of_nobody_in_words(&made.suggested.survey, &made.suggested.suggestions));
    lines.extend(found_in_words(&made.suggested.found));
    let has = |role: Role| made.suggested.suggestions.iter().any(|suggestion| suggestion.role == role);
    let n_schemes = survey::n_schemes(&made.suggested.suggestions);
    lines.push(match n_schemes {
        _ if !has(Role::QuasiIdentifier) => "no column looks like a quasi-identifier: name those that others can know".into(),
        n if n > N_SCHEMES_EASY => format!(
            "the quasi-identifiers span {} schemes, which takes time and memory: leave some out, or give them fewer levels",
            grouped(n)
        ),
        n => format!("the quasi-identifiers span {} schemes", grouped(n)),
    });
    if has(Role::Other) {
        lines.push(
            "columns suggested as other are commented out, and so left out of a release: name those that you need, \
             and make those quasi-identifiers that others can know"
                .into(),
        );
    }
    if !has(Role::Sensitive) {
        lines.push("no name suggests a sensitive attribute: name one if you want l-diversity".into());
    }
    let path = path_for_commands(&made.file);
    let next = if has(Role::QuasiIdentifier) { "read it, correct it" } else { "read it, give roles" };
    lines.push(format!("\nwrote {}: {next}, then try", made.file.display()));
    lines.push(format!("  incrowd profile{path}"));
    lines.push(format!("  incrowd annotate{path}"));
    lines.push(format!(
        "  incrowd negotiate{path} --k {} --max-suppressed {MAX_SUPPRESSED}",
        modest_k(n_left(&made.suggested.survey))
    ));
    lines.join("\n")
}

/// More schemes than this are worth a word of warning.
const N_SCHEMES_EASY: u64 = 1_000_000;

fn decisions(made: &NewProject) -> String {
    let row = |(column, suggestion): (&SurveyedColumn, &Suggestion)| {
        let hierarchy = match suggestion.role {
            Role::QuasiIdentifier => rule_words(suggestion),
            _ => String::new(),
        };
        let name = match column.label.as_str() {
            "" => comment(&column.name),
            label => comment(&format!("{}: {label}", column.name)),
        };
        vec![shortened(&name), suggestion.role.name().into(), hierarchy, comment(&suggestion.why)]
    };
    let rows: Vec<Vec<String>> =
        made.suggested.survey.columns.iter().zip(&made.suggested.suggestions).map(row).collect();
    columns(&["column", "role", "hierarchy", "why"], &rows, &[0, 1, 2, 3])
}

/// The beginning of a name that is a question of a survey, so that what is said of it can be seen.
fn shortened(name: &str) -> String {
    const N_LETTERS_MAX: usize = 48;
    match name.char_indices().nth(N_LETTERS_MAX) {
        Some((end, _)) => format!("{}…", name[..end].trim_end()),
        None => name.to_string(),
    }
}

/// How the other commands are told which project; nothing where it is the current folder's.
fn path_for_commands(file: &Path) -> String {
    match file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        _ if file.file_name().is_some_and(|name| name != FILE_NAME) => format!(" {}", file.display()),
        Some(folder) => format!(" {}", folder.display()),
        None => String::new(),
    }
}

/// A hierarchy in a few words.
fn rule_words(suggestion: &Suggestion) -> String {
    match rule_toml(&suggestion.rule) {
        Some(_) if holds_values(&suggestion.rule) => "tree".to_string(),
        Some(rule) => rule.trim_matches(['{', '}', ' ']).to_string(),
        None => "flat".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    #[test]
    fn what_was_decided_is_said_and_what_to_do_next() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("patients.csv");
        let lines: String = (0..60).map(|i| format!("P{i},{},{}\n", 18 + i % 40, ["f", "m"][i % 2])).collect();
        std::fs::write(&data, format!("Patient ID,age,sex\n{lines}")).expect("a writable folder");
        let order = Init { data, output: Some(folder.path().into()), ..Init::default() };
        let made = order.run(&Work::default()).expect("a project is written");
        let said = in_words(&made);
        let n_schemes = grouped(survey::n_schemes(&made.suggested.suggestions));
        assert!(said.contains(&format!("the quasi-identifiers span {n_schemes} schemes")), "{said}");
        assert!(said.contains("incrowd negotiate"), "{said}");
        assert_eq!(started(&made)["columns"][0]["suggested_role"], "identifier");
    }
}
