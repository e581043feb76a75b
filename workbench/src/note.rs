//! What is worth knowing beside a result: what, how many and where, without a front's words.

use crate::sentences::grouped;

/// Something that whoever gave an order should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// A text file is not UTF-8, and how it is written was found out.
    Encoding { encoding: String },
    /// A workbook has several sheets, and nobody says which is meant: the first that is not empty is read.
    Sheet { sheet: String, n_sheets: u64 },
    /// Columns are not read because of their types.
    UnreadableColumns { columns: Vec<String> },
    /// Cells that are no numbers or no dates are read as no value.
    Unreadable { attribute: String, n_cells: u64 },
    /// Values that a hierarchy does not know are read as one value for all of them, or as no value.
    UnknownValues { attribute: String, n_cells: u64, is_other: bool },
    /// Records that lack a value are left out.
    Dropped { n_records: u64, n_all: u64 },
    /// An identifier that several records have in common, and nobody says whether people are meant.
    Repeating { column: String, n_records: u64, n_different: u64, is_exact: bool },
    /// Records are left out because their people have more than so many.
    BeyondPerPerson { n_records: u64, n_max: u64 },
    /// Values of the people to hide among that a hierarchy has no place for.
    Strangers { attribute: String, n_values: u64 },
    /// A local method can say everything or nothing of an attribute; some of its values are no numbers where others are.
    NoHierarchy { attribute: String, n_values: u64, n_not_numbers: Option<u64> },
    /// There is nothing to round an attribute's ranges to.
    NoSteps { attribute: String },
    /// The whole lattice is too much: a part of it is made (share, estimator), or none.
    NotWhole { part: Option<(f64, &'static str)>, n_schemes: Option<u64>, why: TooMuch },
    /// The whole lattice turned out to be too much.
    OnDemandAfterAll { why: String },
    /// Whether a saved lattice still fits cannot be known.
    DataNotHere,
    /// A saved lattice is about the data and files that came and went since.
    Updated { n_appended: u64, n_removed: u64 },
    /// The project's standing criteria are not promised by a method.
    NotPromised { method: &'static str },
    /// The project's standing levels say nothing to a method.
    LevelsIgnored { method: &'static str },
    /// Values of k that the table cannot have.
    KsLeftOut { ks: Vec<u64>, n_records: u64 },
    /// No release has such a k.
    KsBeyond { ks: Vec<u64> },
    /// Too many schemes for a picture.
    SchemesNotDrawn { n_max: u64 },
    /// What columns that are published as they are tell beside the promise.
    Beside(Box<Beside>),
    /// One level per attribute loses more than half of the detail; a local method, where one was tried, loses so much.
    MuchLost { ncp: f64, instead: Option<(&'static str, f64)> },
    /// There are more of them than are noted, all in the report.
    MoreBeside { n: u64 },
    /// A sensitive attribute has nearly as many values as there are records, so that any l records have l values; the
    /// levels of its hierarchy have so many labels.
    TriviallyDiverse { attribute: String, n_values: u64, n_records: u64, levels: Vec<(String, u64)> },
}

/// What columns that are published as they are tell, which no criterion promises anything about.
#[derive(Clone, Debug, PartialEq)]
pub enum Beside {
    /// They tell what a quasi-identifier hides.
    Tells(Telling),
    /// Many records have a value that fewer than k share.
    RareValues { column: String, n_records: u64, n_all: u64, k: u64 },
}

/// What columns tell about a quasi-identifier to whoever knows how they hang together.
#[derive(Clone, Debug, PartialEq)]
pub struct Telling {
    /// One column, or two that tell it together.
    pub columns: Vec<String>,
    pub attribute: String,
    /// The level of the attribute that is told, which is finer than what is published, and its name.
    pub level: usize,
    pub level_name: String,
    /// What is promised.
    pub k: u64,
    /// The fewest records among which somebody is left.
    pub effective_k: u64,
    /// Records left among fewer than k; and how many it would be, on average, if the columns had nothing to do with it.
    pub n_below: u64,
    pub n_below_by_chance: u64,
    /// Records of which it is told, of those whose values at least k share, of those that were looked at.
    pub n_told: u64,
    pub n_shared: u64,
    pub n_records: u64,
    /// Whether k, and the fewest, are people.
    pub counts_people: bool,
    /// Whether it is told of nearly all: such a relation is refused unless it is accepted.
    pub is_nearly_certain: bool,
}

impl Beside {
    pub fn code(&self) -> &'static str {
        match self {
            Beside::Tells(_) => "tells",
            Beside::RareValues { .. } => "rare_values",
        }
    }

    /// One sentence without its full stop.
    pub fn in_words(&self) -> String {
        match self {
            Beside::Tells(telling) => telling.in_words(),
            Beside::RareValues { column, n_records, n_all, k } => format!(
                "column '{column}' has nearly unique values: {} of {} records have one that fewer than {k} share, and \
                 whoever knows it finds them",
                grouped(*n_records),
                grouped(*n_all)
            ),
        }
    }
}

impl Telling {
    /// The relation in one sentence without its full stop, for notes, for the report and where it is refused.
    pub fn in_words(&self) -> String {
        let (columns, tell) = match &self.columns[..] {
            [column] => (format!("column '{column}'"), "tells"),
            columns => (format!("columns '{}' together", columns.join("' and '")), "tell"),
        };
        let what = match self.level {
            0 => format!("'{}'", self.attribute),
            _ => format!("'{}' ({})", self.attribute, self.level_name),
        };
        format!(
            "{columns} {tell} the hidden {what} of {} of {} records: whoever knows how they hang together finds {} of them \
             among fewer than k = {}{}, the fewest {}, and by chance it would be {}",
            grouped(self.n_told),
            grouped(self.n_records),
            grouped(self.n_below),
            self.k,
            if self.counts_people { " people" } else { "" },
            self.effective_k,
            grouped(self.n_below_by_chance),
        )
    }
}

/// Why a lattice is too much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// None: more than any machine has.
    Memory {
        n_bytes: Option<u64>,
        n_bytes_max: u64,
    },
    Minutes {
        n_groups: u64,
    },
    /// It was begun, and refused to go on.
    Refused(String),
}

impl Note {
    /// Whether it tells how many values there are of something, or what is lost of them, which is for those who may see
    /// them.
    pub fn is_about_values(&self) -> bool {
        matches!(
            self,
            Note::Strangers { .. }
                | Note::NoHierarchy { .. }
                | Note::MuchLost { .. }
                | Note::Unreadable { .. }
                | Note::UnknownValues { .. }
        )
    }

    /// What programs know it by.
    pub fn code(&self) -> &'static str {
        match self {
            Note::Encoding { .. } => "encoding",
            Note::Sheet { .. } => "sheet",
            Note::UnreadableColumns { .. } => "unreadable_columns",
            Note::Unreadable { .. } => "unreadable",
            Note::UnknownValues { .. } => "unknown_values",
            Note::Dropped { .. } => "dropped",
            Note::Repeating { .. } => "repeating",
            Note::BeyondPerPerson { .. } => "beyond_per_person",
            Note::Strangers { .. } => "strangers",
            Note::NoHierarchy { .. } => "no_hierarchy",
            Note::NoSteps { .. } => "no_steps",
            Note::NotWhole { .. } => "not_whole",
            Note::OnDemandAfterAll { .. } => "on_demand_after_all",
            Note::DataNotHere => "data_not_here",
            Note::Updated { .. } => "updated",
            Note::NotPromised { .. } => "not_promised",
            Note::LevelsIgnored { .. } => "levels_ignored",
            Note::KsLeftOut { .. } => "ks_left_out",
            Note::KsBeyond { .. } => "ks_beyond",
            Note::SchemesNotDrawn { .. } => "schemes_not_drawn",
            Note::Beside(beside) => beside.code(),
            Note::MuchLost { .. } => "much_lost",
            Note::MoreBeside { .. } => "more_beside",
            Note::TriviallyDiverse { .. } => "trivially_diverse",
        }
    }
}
