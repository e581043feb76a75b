//! `incrowd init`: a first project file from the data alone, with the reason for every guess, to be edited.

use std::path::{Component, Path, PathBuf};

use crate::sentences::{grouped, hint, percent};
use incrowd::error::{Error, ErrorKind, Result};
use incrowd::{Missing, Role, Rule};
use serde_json::{Value, json};

use super::profile::column_json;
use super::terminal::{Exit, Terminal, columns};
use crate::input::project::{FILE_NAME, check_not_among};
use crate::input::source::{Found, ReadOptions, Source, parse_delimiter};
use crate::input::survey::{self, Suggestion, Survey, SurveyedColumn, holds_values, quoted, rule_toml};
use crate::io_error;
use crate::output::staged::write_whole;
use crate::work::Work;

#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  incrowd init patients.csv                        write incrowd.toml into the current folder
  incrowd init patients.csv -o study/              write study/incrowd.toml
  incrowd init export.csv --delimiter ';' --missing 'k. A.' --missing ''
  incrowd init deliveries/                         a folder of Parquet files

Roles are guessed from column names, then from values; every guess says why, in the file.
Read the file before you trust it: nobody knows the data as you do.")]
pub struct Args {
    /// The table: a CSV file, a Parquet file, or a folder of Parquet files
    pub data: PathBuf,

    /// Where to write the project: a folder, or a file that ends in .toml [default: ./incrowd.toml]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Overwrite the project file if it exists
    #[arg(long)]
    pub force: bool,

    /// What separates the fields of a CSV file: one character, or "tab" [default: found out from the header]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub delimiter: Option<u8>,

    /// A text that means "no value"; may be given several times [default: looks for "", "?", "NA", "null" and the like]
    #[arg(long, value_name = "TEXT")]
    pub missing: Vec<String>,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let made = make(args, &terminal.work(0, None))?;
    terminal.say(in_words(&made));
    terminal.json(&to_json(&made));
    Ok(Exit::Done)
}

/// A project file that has been written, and what is in it.
#[derive(Debug)]
pub struct NewProject {
    pub file: PathBuf,
    /// The path of the data as the file says it.
    data: String,
    /// How numbers and dates are written.
    found: Found,
    survey: Survey,
    suggestions: Vec<Suggestion>,
}

/// Writes a project file for the table that the flags name.
pub fn make(args: &Args, work: &Work) -> Result<NewProject> {
    let file = project_file(args.output.as_deref());
    // A project file may lie in the folder of the data, and not in their place.
    if args.data.is_file() {
        check_not_among(&file, std::slice::from_ref(&args.data))?;
    }
    if file.exists() && !args.force {
        return Err(already_there(&file));
    }
    let source = Source::open(&args.data, &ReadOptions::of_delimiter(args.delimiter))?;
    let (source, found) = source.finding_out()?;
    source.notes().into_iter().for_each(|note| work.note(note));
    let asked = (!args.missing.is_empty()).then(|| Missing { tokens: args.missing.clone(), ..Missing::default() });
    let survey = survey::survey(&source, asked.as_ref(), work)?;
    let mut suggestions = survey::suggest(&survey);
    survey::take_back_twins(&source, &survey, &mut suggestions, work)?;

    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| io_error(folder, error))?;
    let data = path_from(folder, &args.data)?;
    let text = project_text(&data, args.delimiter, &found, &survey, &suggestions);
    write_whole(&file, text.as_bytes(), args.force)?;
    Ok(NewProject { file, data, found, survey, suggestions })
}

fn already_there(file: &Path) -> Error {
    Error::new(ErrorKind::Project, "there is a project file already")
        .at(file.display().to_string())
        .hint(hint("write another one with {output}, or overwrite it with {force}"))
}

/// A name that ends in `.toml` is a file, everything else a folder.
fn project_file(output: Option<&Path>) -> PathBuf {
    match output {
        None => PathBuf::from(FILE_NAME),
        Some(path) if path.extension().is_some_and(|extension| extension == "toml") && !path.is_dir() => {
            path.to_path_buf()
        }
        Some(path) => path.join(FILE_NAME),
    }
}

/// The path of the data as seen from the project's folder, so that both can move together.
fn path_from(folder: &Path, data: &Path) -> Result<String> {
    let real = |path: &Path| path.canonicalize().map_err(|error| io_error(path, error));
    let folder = real(folder)?;
    // The name stays as it was given: it may be a link that is meant to be followed anew each time.
    let data = match (data.parent(), data.file_name()) {
        (Some(parent), Some(name)) if parent.as_os_str().is_empty() => real(Path::new("."))?.join(name),
        (Some(parent), Some(name)) => real(parent)?.join(name),
        _ => real(data)?,
    };
    let n_common = folder.components().zip(data.components()).take_while(|(a, b)| a == b).count();
    let has_common_folder = folder.components().take(n_common).any(|part| matches!(part, Component::Normal(_)));
    let path: PathBuf = match has_common_folder {
        true => {
            let up = folder.components().skip(n_common).map(|_| Component::ParentDir);
            up.chain(data.components().skip(n_common)).collect()
        }
        false => data,
    };
    let path = if path.as_os_str().is_empty() { PathBuf::from(".") } else { path };
    path.to_str().map(str::to_string).ok_or_else(|| {
        Error::new(ErrorKind::Data, "the path is not UTF-8, and a project file is")
            .hint("rename the file or its folder")
    })
}

/// The project file, in the order of the table's columns.
pub fn project_text(
    data: &str,
    delimiter: Option<u8>,
    found: &Found,
    survey: &Survey,
    suggestions: &[Suggestion],
) -> String {
    let mut text = String::from(
        "# What incrowd guessed from names and values. Correct what is wrong: nobody knows the data as you do.\n\
         #\n\
         # identifier        names the person; never published\n\
         # person            says whose record it is, so that people are counted; never published\n\
         # quasi-identifier  others may know it; generalized until every record has company\n\
         # sensitive         must not be linked to the person; published as it is\n\
         # other             published as it is\n\
         #\n\
         # What is not named, or commented out, is left out of a release unless [data] other = \"keep\".\n\n",
    );
    text.push_str(&data_section(data, delimiter, found, survey, suggestions));
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
    delimiter: Option<u8>,
    found: &Found,
    survey: &Survey,
    suggestions: &[Suggestion],
) -> String {
    let mut text = format!("[data]\npath = {}\n", quoted(data));
    if let Some(delimiter) = delimiter {
        text.push_str(&format!("delimiter = {}\n", quoted(&char::from(delimiter).to_string())));
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
fn missing_records(survey: &Survey, suggestions: &[Suggestion]) -> &'static str {
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

fn of_nobody_in_words(survey: &Survey, suggestions: &[Suggestion]) -> Option<String> {
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

fn missing_in_words(survey: &Survey) -> String {
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
    let mut text = format!("[attributes.{}]\n", key(&column.name));
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

/// A column of which nobody can say that it is harmless is left out until someone says so.
fn left_out_section(column: &SurveyedColumn, suggestion: &Suggestion, found: &Found, n_records: u64) -> String {
    let why = comment(&suggestion.why);
    let mut text = format!("# [attributes.{}]\n# why left out: {why}\n# role = \"other\"\n", key(&column.name));
    if column.finds_people(n_records) {
        text.push_str("# unique = \"publish\"  # many values occur once: only if it is to be published all the same\n");
    }
    if let Some(rule) = rule_text(column, suggestion, found).filter(|rule| rule.len() < N_CHARACTERS_OF_A_LINE) {
        let why_rule = comment(&suggestion.why_rule);
        text.push_str(&format!("# as a quasi-identifier: {why_rule}\n# hierarchy = {rule}\n"));
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
    let mut text = String::from("# the standing wish; flags override it\n[request]\n");
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
fn n_left(survey: &Survey) -> u64 {
    match survey.missing.drop_records {
        true => survey.n_records - survey.n_incomplete,
        false => survey.n_records,
    }
}

/// On seven real tables the best release lost a fifth to two fifths less detail than with one in a hundred.
const MAX_SUPPRESSED: &str = "5%";

/// Five is customary; small tables cannot afford it.
fn modest_k(n_records: u64) -> u64 {
    match n_records {
        n if n < 20 => n.clamp(1, 2),
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
fn comment(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
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
    if made.survey.n_incomplete > 0 {
        lines.push(missing_in_words(&made.survey));
    }
    lines.extend(of_nobody_in_words(&made.survey, &made.suggestions));
    lines.extend(found_in_words(&made.found));
    let has = |role: Role| made.suggestions.iter().any(|suggestion| suggestion.role == role);
    let n_schemes = survey::n_schemes(&made.suggestions);
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
    lines.push(format!("\nwrote {}: read it, correct it, then try", made.file.display()));
    lines.push(format!("  incrowd profile{path}"));
    lines.push(format!("  incrowd annotate{path}"));
    lines.push(format!(
        "  incrowd negotiate{path} --k {} --max-suppressed {MAX_SUPPRESSED}",
        modest_k(n_left(&made.survey))
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
        vec![shortened(&comment(&column.name)), suggestion.role.name().into(), hierarchy, comment(&suggestion.why)]
    };
    let rows: Vec<Vec<String>> = made.survey.columns.iter().zip(&made.suggestions).map(row).collect();
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

/// As `--json` says it.
pub fn to_json(made: &NewProject) -> Value {
    let survey = &made.survey;
    let column =
        |(column, suggestion): (&SurveyedColumn, &Suggestion)| column_json(survey, column, suggestion, None, false);
    json!({
        "project": made.file.display().to_string(),
        "data": made.data,
        "n_records": survey.n_records,
        "n_incomplete": survey.n_incomplete,
        "missing": survey.missing.tokens,
        "missing_records": missing_records(survey, &made.suggestions),
        "n_schemes": survey::n_schemes(&made.suggestions),
        "columns": survey.columns.iter().zip(&made.suggestions).map(column).collect::<Vec<_>>(),
    })
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
    use crate::input::count::{Choice, count};
    use crate::input::project::{CriterionText, Project};

    fn args(data: &Path, output: &Path) -> Args {
        Args { data: data.into(), output: Some(output.into()), force: false, delimiter: None, missing: Vec::new() }
    }

    fn write(path: &Path, text: &str) {
        std::fs::write(path, text).expect("a writable folder");
    }

    const HEADER: &str = "Patient ID,age,\"seen \"\"on\"\"\",zip,sex,job.title,naïve,disease,score";

    fn patients(n: usize) -> String {
        let mut text = format!("{HEADER}\n");
        for i in 0..n {
            let age = if i % 17 == 0 { "NA".to_string() } else { (i % 70 + 18).to_string() };
            let day = i % 28 + 1;
            text.push_str(&format!(
                "P{i},{age},19{:02}-05-{day:02},{:05},{},job {},{}.25,d{},{}\n",
                30 + i % 60,
                i * 7 % 900,
                ["f", "m"][i % 2],
                i % 45,
                i * i,
                i % 6,
                i % 11
            ));
        }
        text
    }

    #[test]
    fn the_project_opens_and_its_hierarchies_fit_the_data() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("patients.csv");
        write(&data, &patients(500));
        let made = make(&args(&data, folder.path()), &Work::default()).expect("a project is written");
        let project = Project::open(folder.path()).expect("the project can be opened");
        assert_eq!(project.data, "patients.csv");
        assert_eq!(project.missing, Missing { tokens: vec!["NA".into()], ..Missing::default() });
        let attributes: Vec<(&str, &str)> =
            project.attributes.iter().map(|a| (a.name.as_str(), a.role.name())).collect();
        assert_eq!(
            attributes,
            [
                ("Patient ID", "identifier"),
                ("age", "quasi-identifier"),
                ("seen \"on\"", "quasi-identifier"),
                ("zip", "quasi-identifier"),
                ("sex", "quasi-identifier"),
                ("job.title", "quasi-identifier"),
                ("disease", "sensitive"),
            ]
        );
        let k = CriterionText { name: "k", attribute: None, value: "5".into() };
        assert_eq!((&project.request.criteria[..], project.request.max_suppressed.as_deref()), (&[k][..], Some("5%")));
        let counted = count(&project, &Choice::default(), &Work::default()).expect("the hierarchies fit");
        let n_levels: Vec<usize> = counted.hierarchies.iter().map(|hierarchy| hierarchy.n_levels()).collect();
        assert_eq!(n_levels, [6, 6, 6, 2, 5]);
        assert_eq!(survey::n_schemes(&made.suggestions), n_levels.iter().product::<usize>() as u64);
        assert_eq!((counted.counts.n_dropped(), made.survey.n_incomplete > 0), (0, true));
        let said = in_words(&made);
        assert!(
            said.contains("the quasi-identifiers span 2,160 schemes") && said.contains("incrowd negotiate"),
            "{said}"
        );
        assert_eq!(to_json(&made)["columns"][0]["suggested_role"], "identifier");
    }

    #[test]
    fn a_project_is_overwritten_only_by_force() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("a.csv");
        write(&data, "age,sex\n1,f\n2,m\n");
        let mut args = args(&data, &folder.path().join("new/mine.toml"));
        make(&args, &Work::default()).expect("a project is written");
        let file = folder.path().join("new/mine.toml");
        assert_eq!(Project::open(&file).expect("a project").data, "../a.csv");
        write(&file, "mine");
        let error = make(&args, &Work::default()).expect_err("the file is there");
        assert_eq!(error.message(), "there is a project file already");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
        args.force = true;
        make(&args, &Work::default()).expect("a project is written");
        assert_eq!(Project::open(&file).expect("a project").request.criteria[0].value, "2");
        let n_files = std::fs::read_dir(folder.path().join("new")).expect("a folder").count();
        assert_eq!(n_files, 1, "nothing else is left behind");
    }

    #[test]
    fn bad_data_leave_nothing_behind() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("a.csv");
        for text in ["", "a,b\n", "a,b\n1\n", "a,a\n1,2\n"] {
            write(&data, text);
            make(&args(&data, &folder.path().join("new")), &Work::default()).expect_err("not a table");
        }
        assert!(!folder.path().join("new").exists());
    }

    #[test]
    fn separators_and_words_for_no_value_are_taken_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("a.csv");
        write(&data, "age\tsex\n1\tf\n-9\tm\n3\tm\n");
        let args =
            Args { delimiter: Some(b'\t'), missing: vec!["-9".into(), "a \"b\\".into()], ..args(&data, folder.path()) };
        make(&args, &Work::default()).expect("a project is written");
        let project = Project::open(folder.path()).expect("a project");
        assert_eq!(project.reading.delimiter, Some(b'\t'));
        assert_eq!(project.missing.tokens, ["-9", "a \"b\\"]);
    }

    #[test]
    fn keys_and_texts_survive_toml() {
        for name in ["age", "a b", "a.b", "\"", "\\", "é", "a\nb", "\u{1}", "[x]", "'", "#"] {
            let text = format!("[{}]\n# why: {}\nx = {}\n", key(name), comment(name), quoted(name));
            let table: toml::Table = text.parse().expect("well-formed TOML");
            assert_eq!(table[name]["x"].as_str(), Some(name), "{name:?}");
        }
    }

    #[test]
    fn delimiters() {
        assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
        assert_eq!(parse_delimiter(";"), Ok(b';'));
        assert!(["", "::", "é", "\""].into_iter().all(|text| parse_delimiter(text).is_err()));
    }

    #[test]
    fn adult_gets_a_project_that_can_be_counted() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/adult/adult.csv");
        if !data.exists() {
            eprintln!("skipped: {} is absent", data.display());
            return;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        make(&args(&data, folder.path()), &Work::default()).expect("a project is written");
        let project = Project::open(folder.path()).expect("the project can be opened");
        let counted = count(&project, &Choice::default(), &Work::default()).expect("the hierarchies fit");
        assert_eq!(counted.counts.n_records(), 32_561);
        assert_eq!(counted.sensitive_names(), ["income-per-year"]);
    }
}
