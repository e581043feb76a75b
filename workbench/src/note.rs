//! What is worth knowing beside a result: what, how many and where, without a front's words.

/// Something that whoever gave an order should know.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Records that lack a value are left out.
    Dropped { n_records: u64, n_all: u64 },
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
    /// What programs know it by.
    pub fn code(&self) -> &'static str {
        match self {
            Note::Dropped { .. } => "dropped",
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
        }
    }
}
