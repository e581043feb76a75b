//! A project is read from its file, whole or not at all.

use std::path::Path;

use incrowd::error::{Step, Wording};
use incrowd::table::Needed;
use incrowd::{Error, ErrorKind, Missing, Result, Role};
use toml::Table;

use crate::input::project::attribute::attribute;
use crate::input::project::data::{
    DATA_KEYS, check_unchanged, check_weight, needed, of_role, per_person, place, reading,
};
use crate::input::project::files::read_text;
use crate::input::project::keys::{choice, known_keys, section, text_at, texts, wrong};
use crate::input::project::request::{guard, policy, report_words, standing_request};
use crate::input::project::{FILE_NAME, Guard, Policy, Project, ReportWords, StandingRequest};
use crate::sentences::hint;

impl Project {
    /// Opens a project by its folder or by its file.
    pub fn open(path: &Path) -> Result<Project> {
        let file = if path.is_dir() { path.join(FILE_NAME) } else { path.to_path_buf() };
        if !file.exists() {
            return Err(Error::new(ErrorKind::Project, "there is no project file")
                .at(file.display().to_string())
                .hint(Wording::text("make one with: ").step(Step::MakeProject)));
        }
        let text = read_text(&file, ErrorKind::Project)?;
        let folder = file.parent().map(Path::to_path_buf).unwrap_or_default();
        parse(&text, &folder, &file).map_err(|error| error.or_at(file.display().to_string()))
    }

    /// The same project with other data: the next delivery, by its path from here.
    pub fn with_data(mut self, path: Option<&Path>) -> Result<Project> {
        if let Some(path) = path {
            let full = std::path::absolute(path).map_err(|error| crate::io_error(path, error))?;
            self.data = full.display().to_string();
            self.delivery = Some(path.to_path_buf());
            (self.frame, self.database, self.session) = (None, None, None);
            // Counts that are kept are those of other data.
            let metadata = path.metadata().ok();
            let changed = metadata.map(|metadata| (metadata.len(), metadata.modified().ok()));
            self.content = format!("{} with {} {changed:?}", self.content, self.data);
        }
        Ok(self)
    }

    /// The same, and what the file says names these data too: what is made of its text reads them.
    pub fn with_data_in_text(self, path: Option<&Path>) -> Result<Project> {
        let Some(path) = path else { return Ok(self) };
        let full = std::path::absolute(path).map_err(|error| crate::io_error(path, error))?;
        let mut text: toml_edit::DocumentMut =
            self.text.parse().map_err(|_| wrong("is not TOML").at(self.file.display().to_string()))?;
        text["data"]["path"] = toml_edit::value(full.display().to_string());
        parse(&text.to_string(), &self.folder, &self.file)
    }
}

/// Reads a project from the text of its file; `folder` is what its paths are relative to.
pub fn parse(text: &str, folder: &Path, file: &Path) -> Result<Project> {
    let table: Table = text.parse().map_err(|error| not_toml(&error, text, file))?;
    known_keys(&table, "", &["data", "attributes", "request", "guard", "policy", "report"])?;
    let data = section(&table, "data")?
        .ok_or_else(|| wrong("there is no [data] section").hint("add [data] with path = \"data.csv\""))?;
    known_keys(data, "data.", &DATA_KEYS)?;
    let (path, database) = place(data)?;
    let tokens = match data.get("missing") {
        None => vec![String::new()],
        Some(value) => texts(value, "data.missing")?,
    };
    let drop_records = choice(data, "data.", "missing_records", &["keep", "drop"])? == "drop";
    let keep_other = choice(data, "data.", "other", &["drop", "keep"])? == "keep";
    let mut attributes = Vec::new();
    for (name, value) in section(&table, "attributes")?.into_iter().flatten() {
        let key = format!("attributes.{name}");
        let table = value.as_table().ok_or_else(|| wrong(format!("{key} must be a section")))?;
        attributes.push(attribute(name, &key, table, data, folder)?);
    }
    let complete = data.get("complete").map_or(Ok(Vec::new()), |value| texts(value, "data.complete"))?;
    if !complete.is_empty() && !drop_records {
        return Err(wrong("data.complete names columns that a record is left out for, and none is left out")
            .hint(hint("leave it out, or add {data.missing_records=drop}")));
    }
    let needed = if drop_records { needed(&attributes, keep_other, &complete) } else { Needed::All };
    let weight_of = text_at(data, "data.weight_of", "weight_of")?;
    if let Some(name) = &weight_of {
        check_weight(name, &attributes)?;
    }
    let household = data.get("household").map_or(Ok(Vec::new()), |value| texts(value, "data.household"))?;
    check_unchanged(weight_of.iter().chain(&household), &attributes)?;
    let records_are_independent = choice(data, "data.", "records", &["ask", "independent"])? == "independent";
    if let (true, Some(person)) = (records_are_independent, of_role(&attributes, Role::Person)) {
        return Err(wrong(
            hint("{data.records=independent}").and(format!(", and '{person}' says whose records they are")),
        )
        .hint("leave one of them out"));
    }
    let (max_records_per_person, records_seed) = per_person(data, &attributes)?;
    let counted = text_at(data, "data.counted", "counted")?;
    if let Some(name) = counted.as_ref().filter(|name| attributes.iter().any(|known| known.name == **name)) {
        return Err(wrong(format!("data.counted is '{name}', which is an attribute too"))
            .hint("the column that says how many records a row stands for has no role: leave its section out"));
    }
    let request = match section(&table, "request")? {
        Some(request) => standing_request(request)?,
        None => StandingRequest::default(),
    };
    let guard = section(&table, "guard")?.map_or(Ok(Guard::default()), guard)?;
    let policy = section(&table, "policy")?.map_or(Ok(Policy::default()), |table| policy(table, &attributes))?;
    let report = section(&table, "report")?.map_or(Ok(ReportWords::default()), report_words)?;
    Ok(Project {
        folder: folder.to_path_buf(),
        file: file.to_path_buf(),
        text: text.to_string(),
        data: path,
        delivery: None,
        database,
        session: None,
        population: text_at(data, "data.population", "population")?,
        frame: None,
        population_frame: None,
        reading: reading(data)?,
        missing: Missing { tokens, drop_records, needed },
        complete,
        keep_other,
        weight_of,
        household,
        records_are_independent,
        max_records_per_person,
        records_seed,
        identifiers_elsewhere: Vec::new(),
        counted,
        attributes,
        request,
        guard,
        policy,
        report,
        content: String::new(),
    })
}

/// Where a text stops to be TOML, with what stands there.
fn not_toml(error: &toml::de::Error, text: &str, file: &Path) -> Error {
    let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    let what = error.span().and_then(|span| text.get(span)).map(str::trim).filter(|what| what.len() <= 60);
    let what = what.filter(|what| !what.is_empty()).map_or(String::new(), |what| format!(": {what}"));
    wrong(format!("{}{what}", error.message().trim()))
        .at(format!("{}:{line}", file.display()))
        .hint("the file is written in TOML: name each section and key once, and put texts in quotes")
}
