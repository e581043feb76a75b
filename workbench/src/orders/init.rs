//! A first project file from the data alone, with the reason for every guess, to be edited.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use incrowd::Missing;
use incrowd::error::{Error, ErrorKind, Result};

use super::profile::{said_missing, surveyed};
use crate::input::database::place::{DatabasePlace, TableOrQuery};
use crate::input::database::{Database, Purpose, Table};
use crate::input::project::{FILE_NAME, check_not_among};
use crate::input::source::{Encoding, Found, ReadOptions, Source};
use crate::input::survey::{Suggestion, Survey};
use crate::io_error;
use crate::output::project_text::project_text;
use crate::output::staged::write_whole;
use crate::sentences::hint;
use crate::work::Work;

/// Writes a project file for a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Init {
    pub data: PathBuf,
    /// A folder, or a file that ends in `.toml`; the current folder where nothing is said.
    pub output: Option<PathBuf>,
    /// Whether a project file that is there is overwritten.
    pub replace: bool,
    /// What separates the fields of a CSV file; found out where it is not said.
    pub delimiter: Option<u8>,
    /// The sheet of a workbook; the first that is not empty where none is named.
    pub sheet: Option<String>,
    /// How the characters of a text file are written; found out where it is not said.
    pub encoding: Option<Encoding>,
    /// What means "no value"; found out where nothing is said.
    pub missing: Vec<String>,
    /// The table, or the query, of a database, whose address `data` is then.
    pub table: Option<String>,
    pub query: Option<String>,
}

/// What a table suggests for a project.
#[derive(Debug)]
pub struct Suggested {
    /// How numbers and dates are written.
    pub found: Found,
    pub survey: Survey,
    /// One per column.
    pub suggestions: Vec<Suggestion>,
}

/// A project file that has been written, and what is in it.
#[derive(Debug)]
pub struct NewProject {
    pub file: PathBuf,
    /// What the file says, word by word.
    pub text: String,
    /// The path of the data as the file says it.
    pub data: String,
    pub suggested: Suggested,
}

impl Init {
    pub fn run(&self, work: &Work) -> Result<NewProject> {
        let file = project_file(self.output.as_deref());
        // A project file may lie in the folder of the data, and not in their place.
        if self.data.is_file() {
            check_not_among(&file, std::slice::from_ref(&self.data))?;
        }
        if file.exists() && !self.replace {
            return Err(already_there(&file));
        }
        if self.table.is_some() || self.query.is_some() {
            return self.run_on_database(file, work);
        }
        let reading = self.reading();
        let source = Source::open(&self.data, &reading)?;
        let suggested = suggest(source, said_missing(&self.missing).as_ref(), work)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| io_error(folder, error))?;
        let data = path_from(folder, &self.data)?;
        let text = suggested.text(&data, &reading);
        write_whole(&file, text.as_bytes(), self.replace)?;
        Ok(NewProject { file, text, data, suggested })
    }
}

impl Init {
    /// How the file is read, as far as somebody said it.
    fn reading(&self) -> ReadOptions {
        let (delimiter, encoding, sheet) = (self.delimiter, self.encoding, self.sheet.clone());
        ReadOptions { delimiter, encoding, sheet, ..ReadOptions::default() }
    }

    /// The same of a table that a database holds.
    fn run_on_database(&self, file: PathBuf, work: &Work) -> Result<NewProject> {
        let uri = self.data.display().to_string();
        let place = DatabasePlace::new(&uri, self.table.as_deref(), self.query.as_deref(), None)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // A file is named from here, as one of records is, and from its folder by the project.
        let database = Arc::new(Database::open(&place, Path::new("."), Purpose::Read)?);
        let source = Source::of_table(Table::open(database, &place.asked)?)?;
        let suggested = suggest(source, said_missing(&self.missing).as_ref(), work)?;
        std::fs::create_dir_all(folder).map_err(|error| io_error(folder, error))?;
        let uri = match (uri.split_once(':'), place.file(Path::new(""))) {
            (Some((engine, _)), Some(path)) if path.is_relative() => format!("{engine}:{}", path_from(folder, &path)?),
            _ => uri.clone(),
        };
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let asked = match &place.asked {
            TableOrQuery::Table(table) => format!("table = {}", quoted(table)),
            TableOrQuery::Query(query) => format!("query = {}", quoted(query)),
        };
        let text = suggested.text("", &ReadOptions::default());
        let text = text.replacen("path = \"\"", &format!("database = {}\n{asked}", quoted(&uri)), 1);
        write_whole(&file, text.as_bytes(), self.replace)?;
        Ok(NewProject { file, text, data: place.asked.name().to_string(), suggested })
    }
}

/// What a table suggests, and how its numbers and dates are written.
pub fn suggest(source: Source, missing: Option<&Missing>, work: &Work) -> Result<Suggested> {
    let (source, found) = source.finding_out()?;
    source.notes().into_iter().for_each(|note| work.note(note));
    let (survey, suggestions) = surveyed(&source, missing, work)?;
    Ok(Suggested { found, survey, suggestions })
}

impl Suggested {
    /// The project file; `data` is what it calls the table.
    pub fn text(&self, data: &str, reading: &ReadOptions) -> String {
        project_text(data, reading, &self.found, &self.survey, &self.suggestions)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::count::{Choice, count};
    use crate::input::project::{CriterionText, Project};
    use crate::input::source::parse_delimiter;
    use crate::input::survey;
    use incrowd::Missing;

    fn order(data: &Path, output: &Path) -> Init {
        Init { data: data.into(), output: Some(output.into()), ..Init::default() }
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
        let made = order(&data, folder.path()).run(&Work::default()).expect("a project is written");
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
        assert_eq!(survey::n_schemes(&made.suggested.suggestions), n_levels.iter().product::<usize>() as u64);
        assert_eq!((counted.counts.n_dropped(), made.suggested.survey.n_incomplete > 0), (0, true));
    }

    #[test]
    fn a_project_is_overwritten_only_by_force() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("a.csv");
        write(&data, "age,sex\n1,f\n2,m\n");
        let mut order = order(&data, &folder.path().join("new/mine.toml"));
        order.run(&Work::default()).expect("a project is written");
        let file = folder.path().join("new/mine.toml");
        assert_eq!(Project::open(&file).expect("a project").data, "../a.csv");
        write(&file, "mine");
        let error = order.run(&Work::default()).expect_err("the file is there");
        assert_eq!(error.message(), "there is a project file already");
        assert_eq!(std::fs::read_to_string(&file).expect("a file"), "mine");
        order.replace = true;
        order.run(&Work::default()).expect("a project is written");
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
            order(&data, &folder.path().join("new")).run(&Work::default()).expect_err("not a table");
        }
        assert!(!folder.path().join("new").exists());
    }

    #[test]
    fn separators_and_words_for_no_value_are_taken_over() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = folder.path().join("a.csv");
        write(&data, "age\tsex\n1\tf\n-9\tm\n3\tm\n");
        let missing = vec!["-9".into(), "a \"b\\".into()];
        let order = Init { delimiter: Some(b'\t'), missing, ..order(&data, folder.path()) };
        order.run(&Work::default()).expect("a project is written");
        let project = Project::open(folder.path()).expect("a project");
        assert_eq!(project.reading.delimiter, Some(b'\t'));
        assert_eq!(project.missing.tokens, ["-9", "a \"b\\"]);
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
        order(&data, folder.path()).run(&Work::default()).expect("a project is written");
        let project = Project::open(folder.path()).expect("the project can be opened");
        let counted = count(&project, &Choice::default(), &Work::default()).expect("the hierarchies fit");
        assert_eq!(counted.counts.n_records(), 32_561);
        assert_eq!(counted.sensitive_names(), ["income-per-year"]);
    }
}
