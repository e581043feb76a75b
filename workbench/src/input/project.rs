//! The project file: a folder with an `incrowd.toml` that says what the data are and what is wished for.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use incrowd::error::{Step, Wording, unknown};
use incrowd::hierarchy::{DateUnit, LabelTable, Needs, Side};
use incrowd::number::Decimal;
use incrowd::table::Needed;
use incrowd::{Distance, Error, ErrorKind, Missing, Result, Role, Rule};
use toml::{Table, Value};

use crate::input::level::LevelSaid;
use crate::input::per_person::PerPerson;
use crate::input::source::{
    DateFormat, Encoding, Frame, Labels, Notation, PublishAs, ReadOptions, Replacement, Source, Unknown, Unreadable,
    parse_delimiter,
};
use crate::sentences::hint;

/// The name of the project file within its folder.
pub const FILE_NAME: &str = "incrowd.toml";

/// A project as its file says it, with paths resolved.
#[derive(Clone, Debug)]
pub struct Project {
    /// The folder of the project file.
    pub folder: PathBuf,
    /// The project file itself, as the user would write its path.
    pub file: PathBuf,
    /// What the file says, word by word.
    pub text: String,
    /// Where the data are, as the file says it.
    pub data: String,
    /// A table of the population that the data are a sample of, for k-map.
    pub population: Option<String>,
    /// The data and the population, where they are in memory and not in files.
    pub frame: Option<Frame>,
    pub population_frame: Option<Frame>,
    /// How the data are written, as far as the file says it.
    pub reading: ReadOptions,
    pub missing: Missing,
    /// Columns that a record has to have a value in though they are neither counted nor published.
    pub complete: Vec<String>,
    pub keep_other: bool,
    /// The column that says for how many people of the population a record stands.
    pub weight_of: Option<String>,
    /// The columns that together name a household; none where there are no households.
    pub household: Vec<String>,
    /// Whether records are what is meant, though an identifier repeats.
    pub records_are_independent: bool,
    /// How many records of a person are kept; all of them where nothing is said.
    pub max_records_per_person: Option<u64>,
    /// The column that says how many records a row stands for; rows are records where there is none.
    pub counted: Option<String>,
    /// What decides which records of a person those are.
    pub records_seed: u64,
    /// In the file's order, which is the order of level vectors.
    pub attributes: Vec<Attribute>,
    pub request: StandingRequest,
    pub guard: Guard,
    /// What tells it from other projects where several are kept; empty where nobody keeps any.
    pub content: String,
}

/// What the file says about one attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    pub name: String,
    pub role: Role,
    pub rule: Rule,
    /// The file that the hierarchy was read from, relative to the project, and its content.
    pub hierarchy_file: Option<(String, String)>,
    /// The hierarchy as the project file writes it.
    pub hierarchy_text: String,
    /// How its dates are written, where they are not written as `2019-12-31`.
    pub date_format: Option<DateFormat>,
    pub weight: f64,
    /// How many times its share of the values a label of the hierarchy costs, where that is not once.
    pub node_weights: BTreeMap<String, f64>,
    /// How far apart sensitive values are, for t-closeness; by the kind of its values where the file does not say.
    pub distance: Option<Distance>,
    /// The level of its hierarchy by whose labels criteria count its values; as they are where nothing is said.
    pub count_at: Option<LevelSaid>,
    /// What becomes of cells that are no numbers or no dates, where the hierarchy needs such.
    pub unreadable: Unreadable,
    /// What becomes of values that the hierarchy does not know.
    pub unknown: Unknown,
    /// What is published of it, where that is coarser than what was read.
    pub publish_as: Option<PublishAs>,
    /// Whether it is published as it is even where most records have a value of their own.
    pub publishes_unique: bool,
    /// Whether it is published as it is even where it tells what another attribute hides.
    pub accepts_telling: bool,
}

/// The standing wish; flags override it.
#[derive(Clone, Debug, Default)]
pub struct StandingRequest {
    pub criteria: Vec<CriterionText>,
    pub max_suppressed: Option<String>,
    /// By attribute, the number or the name of a level.
    pub max_level: Vec<(String, String)>,
    pub best_by: Option<String>,
}

/// What ends a run that would publish nonsense, such as the next delivery of the data where half of it is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// The fewest records that a release is made of.
    pub min_records: Option<u64>,
    /// The most that may be dropped for missing values: a number of records, or a percentage.
    pub max_dropped: Option<String>,
    /// The most that may be suppressed, whatever is wished for.
    pub max_suppressed: Option<String>,
}

/// A criterion as someone wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionText {
    /// One of [`CRITERIA`].
    pub name: &'static str,
    /// The sensitive attribute that it is about, where that is said.
    pub attribute: Option<String>,
    pub value: String,
}

/// The criteria that can be asked for.
pub const CRITERIA: [&str; 10] =
    ["k", "k_map", "l", "alpha", "entropy_l", "recursive", "t", "delta", "beta", "enhanced_beta"];

/// Refuses a file that would replace one of these, or join one that is a folder.
pub fn check_not_among(path: &Path, sources: &[PathBuf]) -> Result<()> {
    let is_same = |a: &Path, b: &Path| a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_touched = |source: &PathBuf| is_same(path, source) || source.is_dir() && is_same(folder, source);
    match sources.iter().any(is_touched) {
        true => Err(Error::new(ErrorKind::Request, "would replace or join what it is made of")
            .at(path.display().to_string())
            .hint(hint("give {output} another name, in another folder than the data's"))),
        false => Ok(()),
    }
}

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
            self.frame = None;
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

    /// Opens the data that the project names, with as many records of a person as it says; an index of pandas takes part
    /// where it is one of the attributes. Cells are those that are counted and published.
    pub fn source(&self) -> Result<Source> {
        Ok(self.source_as_written()?.replacing(self.replacements()))
    }

    /// The same with the exact values of what is published coarser, to look at.
    pub fn source_as_counted(&self) -> Result<Source> {
        let as_it_is = self.replacements().into_iter().map(Replacement::as_it_is);
        Ok(self.source_as_written()?.replacing(as_it_is.collect()))
    }

    /// The same with cells as the data have them, whatever is to become of those that do not fit.
    pub fn source_as_written(&self) -> Result<Source> {
        let source = match &self.frame {
            Some(frame) => Source::of_frame(frame),
            None => Source::open(&self.folder.join(&self.data), &self.reading),
        };
        let source = source?.without_index(|name| self.attributes.iter().any(|attribute| attribute.name == name));
        let mut source = source.with_dates(self.dates());
        if let Some(column) = &self.counted {
            source = source.counted_by(column)?;
        }
        Ok(match self.per_person() {
            Some(per_person) => source.with_at_most(per_person),
            None => source,
        })
    }

    /// What becomes of cells while they are read, by attribute.
    pub fn replacements(&self) -> Vec<Replacement> {
        let treated = self.attributes.iter().filter(|known| known.treatment().is_some() || known.rule.codes_ends());
        treated.map(|attribute| attribute.replacement(&self.missing)).collect()
    }

    /// Data beside the project's, with cells counted as the project's are: a population, records that come and go.
    pub fn source_beside(&self, source: Source) -> Source {
        source.with_dates(self.dates()).replacing(self.replacements())
    }

    /// How many records of a person are kept, and which; nothing where all are.
    pub fn per_person(&self) -> Option<PerPerson> {
        self.max_records_per_person.map(|n_max| PerPerson {
            person: self.person().into_iter().map(str::to_string).collect(),
            n_max,
            seed: self.records_seed,
            missing: self.missing.clone(),
        })
    }

    /// Opens the population that the data are a sample of, if there is one.
    pub fn population_source(&self) -> Result<Option<Source>> {
        match (&self.population_frame, &self.population) {
            (Some(frame), _) => Source::of_frame(frame).map(|source| Some(self.population_of(source))),
            (None, Some(path)) => {
                let source = Source::open(&self.folder.join(path), &self.reading)?;
                Ok(Some(self.population_of(source)))
            }
            (None, None) => Ok(None),
        }
    }

    /// Nothing of a population is published.
    fn population_of(&self, source: Source) -> Source {
        let as_it_is = self.replacements().into_iter().map(Replacement::as_it_is);
        source.with_dates(self.dates()).replacing(as_it_is.collect())
    }

    /// By column, how its dates are written, where that is said.
    pub fn dates(&self) -> Vec<(String, DateFormat)> {
        let format = |attribute: &Attribute| Some((attribute.name.clone(), attribute.date_format.clone()?));
        self.attributes.iter().filter_map(format).collect()
    }

    /// Refuses to write over what the project is made of: its data, its population, its hierarchies and its own file.
    ///
    /// Nobody means that, so that no flag allows it.
    pub fn check_output(&self, path: &Path) -> Result<()> {
        let files = self.attributes.iter().filter_map(|attribute| attribute.hierarchy_file.as_ref());
        let named = files.map(|(name, _)| name).chain([&self.data]).chain(&self.population);
        let sources: Vec<PathBuf> = named.map(|name| self.folder.join(name)).chain([self.file.clone()]).collect();
        check_not_among(path, &sources)
    }

    /// The columns that [data] names: sampling weights, households, and what a record has to have.
    pub fn beside_attributes(&self) -> impl Iterator<Item = &str> {
        self.weight_of.iter().chain(&self.household).chain(&self.complete).map(String::as_str)
    }

    pub fn with_role(&self, role: Role) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(move |attribute| attribute.role == role)
    }

    /// The columns that say together whose record it is; none where nobody does.
    pub fn person(&self) -> Vec<&str> {
        self.with_role(Role::Person).map(|attribute| attribute.name.as_str()).collect()
    }

    /// The identifiers that would tell whose record it is, where nobody has said whether that matters.
    pub fn unasked_identifiers(&self) -> Vec<&str> {
        match self.records_are_independent || self.with_role(Role::Person).next().is_some() {
            true => Vec::new(),
            false => self.with_role(Role::Identifier).map(|attribute| attribute.name.as_str()).collect(),
        }
    }

    pub fn attribute(&self, name: &str) -> Result<&Attribute> {
        self.attributes.iter().find(|attribute| attribute.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
            unknown(ErrorKind::Request, "attribute", name, &names)
        })
    }
}

impl Attribute {
    /// An attribute of which nothing is said but its role.
    pub fn plain(name: &str, role: Role) -> Attribute {
        Attribute {
            name: name.to_string(),
            role,
            rule: Rule::Flat,
            hierarchy_file: None,
            hierarchy_text: String::new(),
            date_format: None,
            weight: 1.0,
            node_weights: BTreeMap::new(),
            distance: None,
            count_at: None,
            unreadable: Unreadable::Error,
            unknown: Unknown::Error,
            publish_as: None,
            publishes_unique: false,
            accepts_telling: false,
        }
    }

    /// The same with another hierarchy.
    pub fn with_rule(mut self, rule: Rule) -> Attribute {
        self.rule = if self.unknown == Unknown::Other { rule.with_other() } else { rule };
        self
    }

    /// What becomes of its cells while they are read.
    pub fn replacement(&self, missing: &Missing) -> Replacement {
        let is_asked = self.unknown != Unknown::Error;
        let known = self.rule.table().filter(|_| is_asked).map(|table| Arc::new(table.known()));
        Replacement {
            column: self.name.clone(),
            tokens: missing.tokens.clone(),
            rule: self.rule.clone(),
            unreadable: self.unreadable,
            unknown: if known.is_some() { self.unknown } else { Unknown::Error },
            known,
            publish_as: self.publish_as.clone(),
        }
    }

    /// What of its treatment annotations depend on, where something is said.
    pub fn treatment(&self) -> Option<String> {
        let Attribute { unreadable, unknown, publish_as, .. } = self;
        let is_plain = *unreadable == Unreadable::Error && *unknown == Unknown::Error && publish_as.is_none();
        (!is_plain).then(|| format!("{unreadable:?} {unknown:?} {publish_as:?}"))
    }
}

/// What others are told of a file that a project names: where it is within the project's folder, or its bare name, for a
/// path tells about the machine.
pub fn shown_name(folder: &Path, name: &str) -> String {
    let path = Path::new(name);
    let within = if path.is_absolute() { path.strip_prefix(folder).unwrap_or(path) } else { path };
    match within.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        true => within.display().to_string(),
        false => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

fn wrong(message: impl Into<Wording>) -> Error {
    Error::new(ErrorKind::Project, message)
}

/// Reads a project from the text of its file; `folder` is what its paths are relative to.
pub fn parse(text: &str, folder: &Path, file: &Path) -> Result<Project> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let line = error.span().map_or(1, |span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let what = error.span().and_then(|span| text.get(span)).map(str::trim).filter(|what| what.len() <= 60);
        let what = what.filter(|what| !what.is_empty()).map_or(String::new(), |what| format!(": {what}"));
        wrong(format!("{}{what}", error.message().trim()))
            .at(format!("{}:{line}", file.display()))
            .hint("the file is written in TOML: name each section and key once, and put texts in quotes")
    })?;
    known_keys(&table, "", &["data", "attributes", "request", "guard"])?;
    let data = section(&table, "data")?
        .ok_or_else(|| wrong("there is no [data] section").hint("add [data] with path = \"data.csv\""))?;
    const DATA: [&str; 20] = [
        "path",
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
    known_keys(data, "data.", &DATA)?;
    let path = text_at(data, "data.path", "path")?
        .ok_or_else(|| wrong("[data] has no path").hint("add path = \"data.csv\""))?;
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
    if let Some(name) = weight_of
        .iter()
        .chain(&household)
        .find(|name| attributes.iter().any(|attribute| attribute.name == **name && attribute.publish_as.is_some()))
    {
        return Err(wrong(format!("attributes.{name}.publish_as would change weights or households"))
            .hint("leave it out, or give the weights or households another column"));
    }
    let records_are_independent = choice(data, "data.", "records", &["ask", "independent"])? == "independent";
    if let (true, Some(person)) = (records_are_independent, of_role(&attributes, Role::Person)) {
        return Err(wrong(format!("data.records is \"independent\", and '{person}' says whose records they are"))
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
    Ok(Project {
        folder: folder.to_path_buf(),
        file: file.to_path_buf(),
        text: text.to_string(),
        data: path,
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
        counted,
        attributes,
        request,
        guard,
        content: String::new(),
    })
}

/// In which columns a record has to have a value, where those that lack one are left out: in those that the project counts
/// or publishes, and in those that it names for this. What else a file holds is nobody's loss.
fn needed(attributes: &[Attribute], keep_other: bool, complete: &[String]) -> Needed {
    let names = |is_hidden: bool| {
        let hidden = attributes.iter().filter(move |attribute| (attribute.role == Role::Identifier) == is_hidden);
        hidden.map(|attribute| attribute.name.clone())
    };
    match keep_other {
        true => Needed::AllBut(names(true).filter(|name| !complete.contains(name)).collect()),
        false => Needed::Only(names(false).chain(complete.iter().cloned()).collect()),
    }
}

/// How the data are written.
fn reading(data: &Table) -> Result<ReadOptions> {
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

/// How dates are written, as a hierarchy says it: by an example or by a pattern.
fn date_format(hierarchy: Option<&Value>, key: &str) -> Result<Option<DateFormat>> {
    let Some(format) = hierarchy.and_then(|hierarchy| hierarchy.get("format")) else { return Ok(None) };
    let text = format.as_str().ok_or_else(|| wrong(format!("{key}.format must be a text in quotes")))?;
    let format = DateFormat::parse(text).map_err(|what| {
        wrong(format!("{key}.format {what}")).hint(hint("for example {dates.format=31/12/2019} or \"%d/%m/%Y\""))
    })?;
    Ok(Some(format))
}

/// The first attribute of a role.
fn of_role(attributes: &[Attribute], role: Role) -> Option<&str> {
    attributes.iter().find(|attribute| attribute.role == role).map(|attribute| attribute.name.as_str())
}

/// How many records of a person are kept, and the seed that decides which.
fn per_person(data: &Table, attributes: &[Attribute]) -> Result<(Option<u64>, u64)> {
    let whole = |key: &str, least: u64| match data.get(key) {
        None => Ok(None),
        Some(value) => value
            .as_integer()
            .and_then(|n| u64::try_from(n).ok())
            .filter(|n| *n >= least)
            .map(Some)
            .ok_or_else(|| wrong(format!("data.{key} must be a whole number of at least {least}"))),
    };
    let (n_max, seed) = (whole("max_records_per_person", 1)?, whole("records_seed", 0)?);
    match (n_max, seed) {
        (Some(_), _) if of_role(attributes, Role::Person).is_none() => {
            Err(wrong("data.max_records_per_person needs to know whose record it is")
                .hint(hint("give the column that says so {role=person}")))
        }
        (None, Some(_)) => Err(wrong("data.records_seed decides which records of a person are kept, and all are")
            .hint(hint("add {data.max_records_per_person}, or leave it out"))),
        _ => Ok((n_max, seed.unwrap_or(0))),
    }
}

/// Refuses sampling weights that would be generalized, or that criteria would be about.
fn check_weight(name: &str, attributes: &[Attribute]) -> Result<()> {
    let role = attributes.iter().find(|attribute| attribute.name == name).map(|attribute| attribute.role);
    match role {
        Some(role) if !matches!(role, Role::Other | Role::Identifier) => {
            Err(wrong(format!("data.weight_of names '{name}', which is {}", role.name()))
                .hint(hint("leave the column out of the attributes, or give it {role=other} or {role=identifier}")))
        }
        _ => Ok(()),
    }
}

fn attribute(name: &str, key: &str, table: &Table, data: &Table, folder: &Path) -> Result<Attribute> {
    const KEYS: [&str; 11] = [
        "role",
        "hierarchy",
        "weight",
        "node_weights",
        "distance",
        "count_at",
        "unreadable",
        "unknown",
        "publish_as",
        "unique",
        "tells",
    ];
    known_keys(table, &format!("{key}."), &KEYS)?;
    let role = text_at(table, &format!("{key}.role"), "role")?.ok_or_else(|| {
        wrong(format!("{key} has no role")).hint("one of identifier, quasi-identifier, sensitive, other, person")
    })?;
    let role = Role::parse(&role)
        .ok_or_else(|| unknown(ErrorKind::Project, &format!("role in {key}"), &role, &Role::ALL.map(Role::name)))?;
    let weight = match table.get("weight") {
        None => 1.0,
        Some(value) => number(value).filter(|weight| weight.is_finite() && *weight >= 0.0).ok_or_else(|| {
            wrong(format!("{key}.weight must be a number of at least 0"))
                .hint("1 is what an attribute weighs where nothing is said; a greater weight keeps it more exact")
        })?,
    };
    let node_weights = node_weights(table, key, role)?;
    let distance = match text_at(table, &format!("{key}.distance"), "distance")? {
        None => None,
        Some(text) => Some(Distance::parse(&text).ok_or_else(|| {
            let known = Distance::ALL.map(Distance::name);
            unknown(ErrorKind::Project, &format!("value of {key}.distance"), &text, &known)
        })?),
    };
    let publishes_unique = choice(table, &format!("{key}."), "unique", &["refuse", "publish"])? == "publish";
    // Whoever publishes what finds a person by itself has accepted that it tells what others hide.
    let accepts_telling =
        choice(table, &format!("{key}."), "tells", &["refuse", "accepted"])? == "accepted" || publishes_unique;
    let about_kept = ["unique", "tells"].into_iter().find(|about| table.contains_key(*about));
    if let (Some(about), false) = (about_kept, matches!(role, Role::Other | Role::Sensitive)) {
        return Err(wrong(format!(
            "{key}.{about} is about attributes that are published as they are, and this is {}",
            role.name()
        ))
        .hint(hint("leave it out, or give the attribute {role=other} or {role=sensitive}")));
    }
    let (rule, hierarchy_file) = match table.get("hierarchy") {
        None => (Rule::Flat, None),
        Some(value) => rule(value, &format!("{key}.hierarchy"), folder)?,
    };
    // A file may say in its first line what levels are called.
    let rule = match rule {
        Rule::Table(labels) => Rule::Table(labels.with_header_of(name)?),
        rule => rule,
    };
    let count_at = table.get("count_at").map(|level| count_at(level, key, role, distance, &rule)).transpose()?;
    let publish_as = table.get("publish_as").map(|value| publish_as(value, key, role, distance, &rule)).transpose()?;
    if publish_as.is_some() && count_at.is_some() {
        return Err(wrong(format!("{key}.count_at counts labels, and publish_as publishes something else"))
            .hint("criteria count what is published: leave count_at out"));
    }
    let unreadable = unreadable(table, data, key, &rule, publish_as.as_ref())?;
    let unknown = unknown_values(table, data, key, &rule)?;
    let rule = if unknown == Unknown::Other { rule.with_other() } else { rule };
    let date_format = date_format(table.get("hierarchy"), &format!("{key}.hierarchy"))?;
    let hierarchy_text = table.get("hierarchy").map_or("flat".to_string(), Value::to_string);
    let name = name.to_string();
    Ok(Attribute {
        name,
        role,
        rule,
        hierarchy_file,
        hierarchy_text,
        date_format,
        weight,
        node_weights,
        distance,
        count_at,
        unreadable,
        unknown,
        publish_as,
        publishes_unique,
        accepts_telling,
    })
}

/// What labels of an attribute's hierarchy cost, in shares of the values below them.
fn node_weights(table: &Table, key: &str, role: Role) -> Result<BTreeMap<String, f64>> {
    let Some(value) = table.get("node_weights") else { return Ok(BTreeMap::new()) };
    if role != Role::QuasiIdentifier {
        return Err(wrong(format!("{key}.node_weights is about what is generalized, and this is {}", role.name()))
            .hint(hint("leave it out, or give the attribute {role=quasi-identifier}")));
    }
    let weights = value.as_table().and_then(|weights| {
        let of_label = |(label, value): (&String, &Value)| {
            number(value).filter(|weight| weight.is_finite() && *weight >= 0.0).map(|weight| (label.clone(), weight))
        };
        weights.iter().map(of_label).collect()
    });
    weights.ok_or_else(|| {
        wrong(format!("{key}.node_weights must give labels numbers of at least 0"))
            .hint("for example { Married = 2.0 }: it costs twice its share of the values")
    })
}

/// A choice that an attribute makes, or else the data section; where it is the attribute's, whether it `applies` matters.
fn own_or_of_data<'a>(
    (table, data): (&Table, &Table),
    key: &str,
    name: &str,
    choices: &[&'a str],
    applies: bool,
    else_hint: &'static str,
) -> Result<&'a str> {
    let of_data = choice(data, "data.", name, choices)?;
    match (table.contains_key(name), applies) {
        (true, false) => Err(wrong(format!("{key}.{name} says nothing here")).hint(else_hint)),
        (true, true) => choice(table, &format!("{key}."), name, choices),
        (false, true) => Ok(of_data),
        (false, false) => Ok(choices[0]),
    }
}

/// What becomes of cells that are no numbers or no dates.
fn unreadable(
    table: &Table,
    data: &Table,
    key: &str,
    rule: &Rule,
    publish_as: Option<&PublishAs>,
) -> Result<Unreadable> {
    let needs_numbers = matches!(publish_as, Some(PublishAs::Round(_) | PublishAs::Top(_)));
    let applies = needs_numbers || rule.needs() != Needs::Anything;
    let otherwise = "it is about numbers and dates: intervals, cuts and dates need them; what a file or a tree does not \
                     know is unknown = \"missing\"";
    let said = own_or_of_data((table, data), key, "unreadable", &Unreadable::NAMES, applies, otherwise)?;
    Ok(Unreadable::parse(said).expect("one of its names"))
}

/// What becomes of values that the hierarchy does not know.
fn unknown_values(table: &Table, data: &Table, key: &str, rule: &Rule) -> Result<Unknown> {
    let otherwise = "it is about hierarchies of files and trees, which know some values; where numbers or dates cannot be \
                     read, say unreadable = \"missing\"";
    let said = own_or_of_data((table, data), key, "unknown", &Unknown::NAMES, rule.table().is_some(), otherwise)?;
    Ok(Unknown::parse(said).expect("one of its names"))
}

/// What is published of an attribute that is not generalized.
fn publish_as(value: &Value, key: &str, role: Role, distance: Option<Distance>, rule: &Rule) -> Result<PublishAs> {
    const EXAMPLES: &str = "one of { round = 100 }, { top = 0.99 } and { level = 1 }";
    let key = format!("{key}.publish_as");
    if !matches!(role, Role::Sensitive | Role::Other) {
        return Err(wrong(format!(
            "{key} is about attributes that are published as they are, and this is {}",
            role.name()
        ))
        .hint("leave it out, or give the attribute role = \"other\" or \"sensitive\""));
    }
    let table = value.as_table().ok_or_else(|| wrong(format!("{key} must say how")).hint(EXAMPLES))?;
    known_keys(table, &format!("{key}."), &["round", "top", "level"])?;
    let mut ways = table.iter();
    let (Some((way, value)), None) = (ways.next(), ways.next()) else {
        return Err(wrong(format!("{key} must say exactly one way")).hint(EXAMPLES));
    };
    let published = match way.as_str() {
        "round" => {
            let step = decimal(value).filter(|step| step.is_positive());
            PublishAs::Round(step.ok_or_else(|| wrong(format!("{key}.round must be a number above 0")).hint(EXAMPLES))?)
        }
        "top" => {
            let one = Decimal::from(1);
            let share = decimal(value).filter(|share| share.is_positive() && *share < one);
            let share = share.ok_or_else(|| {
                wrong(format!("{key}.top must be a share between 0 and 1"))
                    .hint("{ top = 0.99 } gives one label to the highest hundredth of the values")
            })?;
            PublishAs::Top(share)
        }
        _ => {
            let level = level_said(value).ok_or_else(|| {
                wrong(format!("{key}.level must be a level, by its number from 1 on or by its name")).hint(EXAMPLES)
            })?;
            if matches!(rule, Rule::Flat) {
                return Err(wrong(format!("{key}.level names a level of a hierarchy, and the attribute has none"))
                    .hint("add hierarchy = …, or leave publish_as out"));
            }
            PublishAs::Level(level)
        }
    };
    if !matches!(published, PublishAs::Level(_)) && rule.needs() == Needs::Dates {
        return Err(
            wrong(format!("{key}.{way} is about numbers, and the attribute has dates")).hint("{ level = \"month\" }")
        );
    }
    match (distance, &published) {
        (None | Some(Distance::Equal), _) | (Some(Distance::Ordered), PublishAs::Round(_)) => Ok(published),
        (Some(distance), _) => Err(wrong(format!(
            "{key} publishes labels or numbers that distance = \"{}\" does not know",
            distance.name()
        ))
        .hint("criteria judge what is published: leave one of them out")),
    }
}

fn level_said(value: &Value) -> Option<LevelSaid> {
    match value {
        Value::Integer(n) if *n > 0 => Some(LevelSaid::Number(usize::try_from(*n).unwrap_or(usize::MAX))),
        Value::String(name) => Some(LevelSaid::Name(name.clone())),
        _ => None,
    }
}

/// The level by whose labels the values of a sensitive attribute are counted.
fn count_at(value: &Value, key: &str, role: Role, distance: Option<Distance>, rule: &Rule) -> Result<LevelSaid> {
    let level = level_said(value).ok_or_else(|| {
        wrong(format!("{key}.count_at must be a level, by its number from 1 on or by its name"))
            .hint("level 0 is the value itself, which is counted where nothing is said")
    })?;
    if role != Role::Sensitive {
        return Err(wrong(format!("{key}.count_at is about sensitive attributes, and this is {}", role.name()))
            .hint(hint("leave it out, or give the attribute {role=sensitive}")));
    }
    if matches!(rule, Rule::Flat) {
        return Err(wrong(format!("{key}.count_at names a level of a hierarchy, and the attribute has none"))
            .hint("add hierarchy = …, or leave count_at out"));
    }
    match distance {
        None | Some(Distance::Equal) => Ok(level),
        Some(distance) => Err(wrong(format!(
            "{key}.count_at counts labels, and distance = \"{}\" is between values",
            distance.name()
        ))
        .hint("leave one of them out")),
    }
}

/// The hierarchy that a certificate names as the project file wrote it; none where it names a file instead.
pub fn rule_of_text(text: &str) -> Option<Rule> {
    if text == "flat" {
        return Some(Rule::Flat);
    }
    let table: Table = format!("hierarchy = {text}").parse().ok()?;
    let value = table
        .get("hierarchy")
        .filter(|value| ["file", "parents"].iter().all(|file| value.get(file).is_none()) && value.is_table())?;
    rule(value, "hierarchy", Path::new("")).ok().map(|(rule, _)| rule)
}

type RuleAndFile = (Rule, Option<(String, String)>);

/// A hierarchy as the project file writes it: a file's path, or a table with one of the builders.
fn rule(value: &Value, key: &str, folder: &Path) -> Result<RuleAndFile> {
    const EXAMPLES: &str = "a file such as \"hierarchies/age.csv\", { intervals = [5, 10], origin = 0 }, \
        { cuts = [[18, 65]] }, { mask = 5 }, { mask = { keep = 3 } }, { parents = \"codes.csv\" }, { dates = [\"month\", \"year\"] }, { tree = { … } } or { flat = true }";
    let builder = match value {
        Value::String(path) => return file_rule(path, folder),
        Value::Table(table) => table,
        _ => return Err(wrong(format!("{key} is not a hierarchy")).hint(EXAMPLES)),
    };
    known_keys(
        builder,
        &format!("{key}."),
        &[
            "file",
            "parents",
            "flat",
            "intervals",
            "origin",
            "below",
            "above",
            "exact",
            "cuts",
            "mask",
            "from",
            "dates",
            "format",
            "tree",
            "names",
        ],
    )?;
    if let Some(names) = builder.get("names") {
        let names = texts(names, &format!("{key}.names"))?;
        let unnamed: Table =
            builder.iter().filter(|(of, _)| *of != "names").map(|(of, v)| (of.clone(), v.clone())).collect();
        let (unnamed, file) = rule(&Value::Table(unnamed), key, folder)?;
        return Ok((unnamed.named(names).map_err(|error| error.or_at(format!("{key}.names")))?, file));
    }
    let kinds: Vec<&str> = ["file", "parents", "flat", "intervals", "cuts", "mask", "dates", "tree"]
        .into_iter()
        .filter(|kind| builder.contains_key(*kind))
        .collect();
    let [kind] = kinds[..] else {
        return Err(wrong(format!("{key} must say exactly one way to generalize")).hint(EXAMPLES));
    };
    const EXTRAS: [(&str, &str); 6] = [
        ("exact", "intervals"),
        ("origin", "intervals"),
        ("below", "intervals"),
        ("above", "intervals"),
        ("from", "mask"),
        ("format", "dates"),
    ];
    for (extra, of) in EXTRAS {
        if builder.contains_key(extra) && kind != of {
            return Err(wrong(format!("{key}.{extra} belongs to {of}, not to {kind}")));
        }
    }
    let value = &builder[kind];
    let at_key = |error: Error| error.or_at(key.to_string());
    let rule = match kind {
        "file" => match value {
            Value::String(path) => return file_rule(path, folder),
            _ => return Err(wrong(format!("{key}.file must be a path"))),
        },
        "parents" => match value {
            Value::String(path) => return parents_rule(path, folder),
            _ => return Err(wrong(format!("{key}.parents must be a path"))),
        },
        "flat" => Rule::Flat,
        "intervals" => {
            let origin = builder.get("origin").map_or(Some(Decimal::ZERO), decimal);
            let origin = origin.ok_or_else(|| wrong(format!("{key}.origin must be a number")))?;
            let end = |name: &str| match builder.get(name) {
                None => Ok(None),
                Some(end) => decimal(end).map(Some).ok_or_else(|| wrong(format!("{key}.{name} must be a number"))),
            };
            let rule = Rule::exact_intervals(decimals(value, &format!("{key}.intervals"))?, origin)
                .and_then(|rule| rule.coded(end("below")?, end("above")?))
                .map_err(at_key)?;
            let is_between = choice(builder, &format!("{key}."), "exact", &["everywhere", "between"])? == "between";
            if is_between && !matches!(rule, Rule::Coded { .. }) {
                return Err(wrong(format!("{key}.exact is \"between\", and nothing says between what"))
                    .hint("add below = …, above = …, or both"));
            }
            if is_between { rule.exact_between() } else { rule }
        }
        "cuts" => {
            let lists = value.as_array().map(Vec::as_slice).unwrap_or_default();
            let levels: Result<Vec<Vec<Decimal>>> = match lists.first() {
                Some(Value::Array(_)) => lists.iter().map(|list| decimals(list, &format!("{key}.cuts"))).collect(),
                _ => decimals(value, &format!("{key}.cuts")).map(|cuts| vec![cuts]),
            };
            Rule::exact_cuts(levels?).map_err(at_key)?
        }
        "mask" => {
            let side = match builder.get("from").map(|from| from.as_str().unwrap_or("")) {
                None | Some("right") => Side::Right,
                Some("left") => Side::Left,
                Some(_) => return Err(wrong(format!("{key}.from must be \"right\" or \"left\""))),
            };
            let wrong_mask = || wrong(format!("{key}.mask must be a number of characters or a list of numbers"));
            let count = |value: &Value| value.as_integer().and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= 200);
            if let Value::Table(how) = value {
                known_keys(how, &format!("{key}.mask."), &["keep"])?;
                let kept = match how.get("keep") {
                    Some(Value::Array(list)) => list.iter().map(count).collect::<Option<Vec<_>>>(),
                    Some(one) => count(one).map(|n| vec![n]),
                    None => None,
                };
                let kept = kept.ok_or_else(|| {
                    wrong(format!("{key}.mask.keep must be a number of characters or a list of numbers"))
                        .hint("for example { mask = { keep = 3 } }")
                })?;
                return Ok((Rule::keep(kept, side).map_err(at_key)?, None));
            }
            let hidden = match value {
                Value::Array(list) => list.iter().map(count).collect::<Option<Vec<_>>>().ok_or_else(wrong_mask)?,
                // A number counts the levels: one more character each, and everything at the last.
                _ => (1..count(value).filter(|&n| n > 0).ok_or_else(wrong_mask)?).collect(),
            };
            match hidden.is_empty() && value.is_integer() {
                true => Rule::Flat,
                false => Rule::mask(hidden, side).map_err(at_key)?,
            }
        }
        "dates" => {
            let units = match value {
                Value::Boolean(true) => DateUnit::ALL.to_vec(),
                _ => texts(value, &format!("{key}.dates"))?
                    .iter()
                    .map(|name| {
                        DateUnit::parse(name).ok_or_else(|| {
                            unknown(
                                ErrorKind::Project,
                                &format!("unit in {key}"),
                                name,
                                &DateUnit::ALL.map(DateUnit::name),
                            )
                        })
                    })
                    .collect::<Result<_>>()?,
            };
            Rule::dates(units).map_err(at_key)?
        }
        _ => {
            let mut rows = Vec::new();
            leaves(value, key, &mut Vec::new(), &mut rows)?;
            let n_labels = rows.iter().map(|(_, row): &(u64, Vec<String>)| row.len()).max().unwrap_or(0);
            for (_, row) in &mut rows {
                // A branch that ends early keeps its finest label on the levels below it.
                while row.len() < n_labels {
                    row.insert(1, row[if row.len() > 1 { 1 } else { 0 }].clone());
                }
            }
            Rule::Table(LabelTable::new(key, rows)?)
        }
    };
    Ok((rule, None))
}

/// Walks a tree of labels down to its values: tables are branches, lists are the values below them.
fn leaves(value: &Value, key: &str, path: &mut Vec<String>, rows: &mut Vec<(u64, Vec<String>)>) -> Result<()> {
    match value {
        Value::Table(branches) => {
            for (label, below) in branches {
                path.push(label.clone());
                leaves(below, key, path, rows)?;
                path.pop();
            }
        }
        Value::Array(values) => {
            for value in values {
                let text = match value {
                    Value::String(text) => text.clone(),
                    Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => value.to_string(),
                    _ => return Err(wrong(format!("{key}: a list in a tree holds values, not tables"))),
                };
                let labels = std::iter::once(text).chain(path.iter().rev().cloned());
                rows.push((0, labels.collect()));
            }
        }
        _ => {
            return Err(wrong(format!("{key}: a tree is made of tables and, at its ends, lists of values"))
                .hint("for example { tree = { North = [\"Oslo\", \"Umea\"], South = [\"Rome\"] } }"));
        }
    }
    Ok(())
}

fn read_text(path: &Path, kind: ErrorKind) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| crate::io_error(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        Error::new(kind, "is not UTF-8").at(format!("{}:{line}", path.display())).hint("save the file as UTF-8")
    })
}

fn file_rule(path: &str, folder: &Path) -> Result<RuleAndFile> {
    let full = folder.join(path);
    let text = read_text(&full, ErrorKind::Hierarchy)?;
    let table = LabelTable::parse(&full.display().to_string(), &text)?;
    Ok((Rule::Table(table), Some((path.to_string(), text))))
}

fn parents_rule(path: &str, folder: &Path) -> Result<RuleAndFile> {
    let full = folder.join(path);
    let text = read_text(&full, ErrorKind::Hierarchy)?;
    let table = LabelTable::of_parents(&full.display().to_string(), &text)?;
    Ok((Rule::Table(table), Some((path.to_string(), text))))
}

fn standing_request(table: &Table) -> Result<StandingRequest> {
    let known: Vec<&str> = CRITERIA.into_iter().chain(["max_suppressed", "max_level", "best_by"]).collect();
    known_keys(table, "request.", &known)?;
    let mut criteria = Vec::new();
    for name in CRITERIA {
        let criterion = |attribute: Option<&String>, value: &Value| {
            Ok(CriterionText { name, attribute: attribute.cloned(), value: criterion_value(name, value)? })
        };
        match table.get(name) {
            None => {}
            Some(Value::Table(of_attributes)) => {
                for (attribute, value) in of_attributes {
                    criteria.push(criterion(Some(attribute), value)?);
                }
            }
            Some(value) => criteria.push(criterion(None, value)?),
        }
    }
    let max_suppressed = amount(table, "request.", "max_suppressed")?;
    let mut max_level = Vec::new();
    for (name, value) in section(table, "max_level")?.into_iter().flatten() {
        let level = match value {
            Value::Integer(n) => u64::try_from(*n).ok().map(|n| n.to_string()),
            Value::String(level) => Some(level.clone()),
            _ => None,
        };
        max_level.push((
            name.clone(),
            level.ok_or_else(|| wrong(format!("request.max_level.{name} must be a level, by number or name")))?,
        ));
    }
    let best_by = text_at(table, "request.best_by", "best_by")?;
    Ok(StandingRequest { criteria, max_suppressed, max_level, best_by })
}

fn guard(table: &Table) -> Result<Guard> {
    known_keys(table, "guard.", &["min_records", "max_dropped", "max_suppressed"])?;
    let min_records = match table.get("min_records") {
        None => None,
        Some(value) => Some(
            value
                .as_integer()
                .and_then(|n| u64::try_from(n).ok())
                .ok_or_else(|| wrong("guard.min_records must be a whole number of at least 0"))?,
        ),
    };
    let (max_dropped, max_suppressed) =
        (amount(table, "guard.", "max_dropped")?, amount(table, "guard.", "max_suppressed")?);
    Ok(Guard { min_records, max_dropped, max_suppressed })
}

/// A number of records or a percentage, as a flag would write it.
fn amount(table: &Table, prefix: &str, key: &str) -> Result<Option<String>> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Integer(n)) => Ok(Some(n.to_string())),
        Some(_) => Err(wrong(format!("{prefix}{key} must be a number of records or a percentage"))
            .hint(format!("for example {key} = \"1%\""))),
    }
}

/// A criterion's value as a flag would write it: `10`, `0.2`, or `2,3` for a list.
fn criterion_value(name: &str, value: &Value) -> Result<String> {
    let is_whole = ["k", "k_map", "l"].contains(&name);
    match value {
        Value::Integer(n) if *n >= 0 => Ok(n.to_string()),
        Value::Float(number) if !is_whole => Ok(number.to_string()),
        Value::String(text) if !is_whole => Ok(text.clone()),
        Value::Array(list) if name == "recursive" => {
            let parts: Option<Vec<f64>> = list.iter().map(number).collect();
            let parts = parts.ok_or_else(|| wrong("request.recursive must be a list of two numbers"))?;
            Ok(parts.iter().map(f64::to_string).collect::<Vec<_>>().join(","))
        }
        _ if is_whole => Err(wrong(format!("request.{name} must be a whole number"))),
        _ => Err(wrong(format!("request.{name} must be a number"))),
    }
}

fn section<'a>(table: &'a Table, key: &str) -> Result<Option<&'a Table>> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::Table(section)) => Ok(Some(section)),
        Some(_) => Err(wrong(format!("{key} must be a section"))),
    }
}

fn known_keys(table: &Table, prefix: &str, known: &[&str]) -> Result<()> {
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(unknown(
            ErrorKind::Project,
            "key",
            &format!("{prefix}{key}"),
            &known
                .iter()
                .map(|k| format!("{prefix}{k}"))
                .collect::<Vec<_>>()
                .iter()
                .map(String::as_str)
                .collect::<Vec<_>>(),
        )),
        None => Ok(()),
    }
}

fn choice<'a>(table: &Table, prefix: &str, key: &str, choices: &[&'a str]) -> Result<&'a str> {
    match text_at(table, &format!("{prefix}{key}"), key)? {
        None => Ok(choices[0]),
        Some(text) => choices
            .iter()
            .copied()
            .find(|choice| *choice == text)
            .ok_or_else(|| unknown(ErrorKind::Project, &format!("value of {prefix}{key}"), &text, choices)),
    }
}

fn text_at(table: &Table, key: &str, name: &str) -> Result<Option<String>> {
    match table.get(name) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(format!("{key} must be a text in quotes"))),
    }
}

fn texts(value: &Value, key: &str) -> Result<Vec<String>> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        Value::String(_) => std::slice::from_ref(value),
        _ => &[],
    };
    let texts: Option<Vec<String>> = list.iter().map(|value| value.as_str().map(str::to_string)).collect();
    texts
        .filter(|texts| !texts.is_empty() || value.as_array().is_some())
        .ok_or_else(|| wrong(format!("{key} must be a list of texts in quotes")))
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

/// A number as it is written: whole ones with all of their digits.
fn decimal(value: &Value) -> Option<Decimal> {
    value.as_integer().map(Decimal::from).or_else(|| Decimal::of(value.as_float()?))
}

fn decimals(value: &Value, key: &str) -> Result<Vec<Decimal>> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    let numbers: Option<Vec<Decimal>> = list.iter().map(decimal).collect();
    numbers.ok_or_else(|| wrong(format!("{key} must be a list of numbers")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_told_no_path_that_leads_to_the_project() {
        let cases = [
            ("age.csv", "age.csv"),
            ("hierarchies/age.csv", "hierarchies/age.csv"),
            ("./hierarchies/age.csv", "./hierarchies/age.csv"),
            ("../age.csv", "age.csv"),
            ("hierarchies/../../secret/age.csv", "age.csv"),
            ("/home/me/study/age.csv", "age.csv"),
            ("/home/me/study/hierarchies/age.csv", "hierarchies/age.csv"),
            ("/home/me/study/../other/age.csv", "age.csv"),
            ("/elsewhere/age.csv", "age.csv"),
            ("hierarchy of 'age'", "hierarchy of 'age'"),
        ];
        for (name, shown) in cases {
            assert_eq!(shown_name(Path::new("/home/me/study"), name), shown);
        }
        for folder in ["", ".", "/"] {
            assert!(!shown_name(Path::new(folder), "/home/me/age.csv").starts_with('/'), "{folder}");
        }
        assert_eq!(shown_name(Path::new(""), "/home/me/age.csv"), "age.csv");
    }
}
