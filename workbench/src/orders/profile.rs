//! What each column of a table looks like, which roles that suggests, and how many records stand alone.

use std::path::{Path, PathBuf};

use incrowd::error::{Error, ErrorKind, Result};
use incrowd::{Missing, Role, Rule};

use crate::input::project::{FILE_NAME, Project};
use crate::input::repeats::Repeating;
use crate::input::source::{Found, ReadOptions, Source};
use crate::input::survey::{self, Suggestion, Survey, SurveyedColumn, Uniqueness};
use crate::output::project_text::project_text;
use crate::sentences::hint;
use crate::work::Work;

/// Looks at a table, or at a project's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// A table, or a project by its folder or its file.
    pub path: PathBuf,
    /// What is read instead of the data that the project names.
    pub data: Option<PathBuf>,
    /// What separates the fields of a CSV file; found out where it is not said.
    pub delimiter: Option<u8>,
    /// What means "no value"; found out where nothing is said.
    pub missing: Vec<String>,
}

/// What was seen.
pub struct Profiled {
    pub project: Option<Project>,
    /// Where the data are, as it was given.
    pub data: String,
    pub survey: Survey,
    /// One per column.
    pub suggestions: Vec<Suggestion>,
    /// The project's where it names any, otherwise the suggested ones.
    pub quasi_identifiers: Vec<String>,
    pub uniqueness: Option<Uniqueness>,
    /// The column by which people should be counted, where nobody has said.
    pub repeating: Option<Repeating>,
}

impl Profile {
    pub fn run(&self, work: &Work) -> Result<Profiled> {
        if is_project(&self.path) {
            let project = Project::open(&self.path)?.with_data(self.data.as_deref())?;
            if self.delimiter.is_some() || !self.missing.is_empty() {
                return Err(settled_by(&project));
            }
            return of_project(&project, work);
        }
        if self.data.is_some() {
            let message = "other data are read instead of a project's, and this is a table";
            return Err(Error::new(ErrorKind::Request, message).hint("name the table itself"));
        }
        let source = Source::open(&self.path, &ReadOptions::of_delimiter(self.delimiter))?;
        of_source(None, self.path.display().to_string(), &source, said_missing(&self.missing), work)
    }
}

impl Profiled {
    /// A first project file, for data whose numbers and dates are as they are.
    pub fn project_text(&self) -> String {
        project_text(&self.data, &ReadOptions::default(), &Found::default(), &self.survey, &self.suggestions)
    }
}

/// What means "no value", where somebody said it.
pub fn said_missing(tokens: &[String]) -> Option<Missing> {
    (!tokens.is_empty()).then(|| Missing { tokens: tokens.to_vec(), ..Missing::default() })
}

/// Looks at the data of a project.
pub fn of_project(project: &Project, work: &Work) -> Result<Profiled> {
    let source = project.source_as_written()?;
    project.attributes.iter().try_for_each(|attribute| source.check_column(&attribute.name))?;
    of_source(Some(project.clone()), project.data_named(), &source, Some(project.missing.clone()), work)
}

/// Looks at a table, with the roles of a project where there is one; `data` is what it is called.
pub fn of_source(
    project: Option<Project>,
    data: String,
    source: &Source,
    missing: Option<Missing>,
    work: &Work,
) -> Result<Profiled> {
    let (survey, suggestions) = surveyed(source, missing.as_ref(), work)?;
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
    Ok(Profiled { project, data, survey, suggestions, quasi_identifiers, uniqueness, repeating })
}

/// What columns look like, and what that suggests for each.
pub fn surveyed(source: &Source, missing: Option<&Missing>, work: &Work) -> Result<(Survey, Vec<Suggestion>)> {
    let survey = survey::survey(source, missing, work)?;
    let mut suggestions = survey::suggest(&survey);
    survey::take_back_twins(source, &survey, &mut suggestions, work)?;
    Ok((survey, suggestions))
}

/// Whether a column tells who it is, by the project or by what it looks like: its values are shown to nobody.
pub fn tells_who(project: Option<&Project>, column: &SurveyedColumn, suggestion: &Suggestion) -> bool {
    let role = project.and_then(|project| role_in_project(project, &column.name));
    role.is_some_and(Role::tells_who) || suggestion.role.tells_who()
}

/// The hierarchy that is suggested for a column; none where it is made of values, and those are not shown.
pub fn shown_rule<'a>(
    project: Option<&Project>,
    column: &SurveyedColumn,
    suggestion: &'a Suggestion,
    with_values: bool,
) -> Option<&'a Rule> {
    let shows_values = with_values && !tells_who(project, column, suggestion);
    Some(&suggestion.rule).filter(|rule| shows_values || !survey::holds_values(rule))
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

fn settled_by(project: &Project) -> Error {
    Error::new(ErrorKind::Request, hint("{delimiter} and {missing} are for a data file, and this is a project"))
        .at(project.file.display().to_string())
        .hint(hint("change {data.delimiter} and {data.missing} there"))
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

/// The role that a project gives to a column, if any.
pub fn role_in_project(project: &Project, name: &str) -> Option<Role> {
    project.attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.role)
}
