//! The project file: a folder with an `incrowd.toml` that says what the data are and what is wished for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use incrowd::error::unknown;
use incrowd::wire::FromLevel;
use incrowd::{Distance, ErrorKind, Missing, Result, Role, Rule};

use crate::input::database::Database;
use crate::input::database::place::DatabasePlace;
use crate::input::level::LevelSaid;
use crate::input::source::{DateFormat, Frame, PublishAs, ReadOptions, Unknown, Unreadable};

mod files;
mod keys;
mod hierarchy;
mod attribute;
mod data;
mod request;
mod read;
mod sources;

pub use files::{check_not_among, shown_name};
pub use hierarchy::rule_of_text;
pub use read::parse;

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
    /// Where the data are, as the file says it: a path, or the name of a table in a database.
    pub data: String,
    /// Where other data are that somebody gave instead, as they gave it: a path from here, not from the project.
    pub delivery: Option<PathBuf>,
    /// The database that has them, where one does.
    pub database: Option<DatabasePlace>,
    /// That database, opened for work that is done as a whole or not at all.
    pub session: Option<Arc<Database>>,
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
    /// Where somebody else counted the table: what they saw of its identifiers, which combinations do not have.
    pub identifiers_elsewhere: Vec<SeenElsewhere>,
    /// In the file's order, which is the order of level vectors.
    pub attributes: Vec<Attribute>,
    pub request: StandingRequest,
    pub guard: Guard,
    pub policy: Policy,
    pub report: ReportWords,
    /// What tells it from other projects where several are kept; empty where nobody keeps any.
    pub content: String,
}

/// An identifier of a table that somebody else counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenElsewhere {
    pub column: String,
    /// Records that have a value there, how many different values there are, and how many of these several records have.
    pub n_records: u64,
    pub n_different: u64,
    pub n_several: u64,
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
    /// The level whose labels a database counts in place of its values, where that was ordered.
    pub from_level: Option<FirstLevel>,
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

/// The level that an attribute is counted from: level 0 of all that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstLevel {
    /// Its number in the hierarchy of the project.
    pub level: usize,
    /// What it is called, and how a sentence says it.
    pub name: String,
    pub phrase: String,
}

impl FirstLevel {
    /// What a certificate says of it.
    pub fn said(&self) -> FromLevel {
        FromLevel { level: self.level as u64, name: self.name.clone() }
    }
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

/// What guests of the page, who see no values, may not ask below.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The least k and l; where there are none, the standing request is the floor.
    pub floors: Vec<CriterionText>,
    /// Wishes that stay as the standing request has them: criteria, `max_suppressed`, `best_by`, or an attribute's level.
    pub locked: Vec<String>,
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

/// What the report says of a release beyond what can be counted; none of it stands in the certificate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportWords {
    /// Who gets the release.
    pub recipient: Option<String>,
    /// What it is for.
    pub purpose: Option<String>,
    /// Who agreed to it.
    pub agreed: Vec<String>,
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

impl Project {
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
