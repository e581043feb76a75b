//! Notes in words, as each front says them.

use crate::sentences::{counted_words, grouped, quoted_unless_number};

use crate::input::repeats;
use crate::input::tally::Amount;
use crate::note::{Note, TooMuch};

/// Who speaks: what a wish is called differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    CommandLine,
    /// The page, and programs that speak HTTP.
    Http,
    Python,
}

impl Front {
    /// A wish that is given: `--cells sets`, `cells="sets"`, `"cells": "sets"`; without a value where it has none.
    pub fn wish(self, name: &str, value: Option<&str>) -> String {
        match (self, value) {
            (Front::CommandLine, None) => format!("--{}", name.replace('_', "-")),
            (Front::CommandLine, Some(value)) => format!("--{} {value}", name.replace('_', "-")),
            (Front::Http, None) => format!("\"{name}\": true"),
            (Front::Http, Some(value)) => format!("\"{name}\": {}", quoted_unless_number(value)),
            (Front::Python, None) => format!("{name}=True"),
            (Front::Python, Some(value)) => format!("{name}={}", quoted_unless_number(value)),
        }
    }
}

impl Front {
    /// More of something, of which the front has a name.
    pub fn more(self, name: &str) -> String {
        match self {
            Front::CommandLine => format!("more --{name}"),
            Front::Http | Front::Python => format!("more {name}"),
        }
    }
}

/// A note as a line without its full stop.
pub fn in_words(note: &Note, front: Front) -> String {
    match note {
        Note::Encoding { encoding } => {
            let insists = match front {
                Front::CommandLine => "[data] encoding".to_string(),
                Front::Http | Front::Python => "encoding".to_string(),
            };
            format!("the data are not UTF-8 and are read as {encoding} ({insists} says otherwise)")
        }
        Note::Sheet { sheet, n_sheets } => {
            let insists = match front {
                Front::CommandLine => "[data] sheet",
                Front::Http | Front::Python => "sheet",
            };
            format!("of {n_sheets} sheets, '{sheet}' is read ({insists} names another)")
        }
        Note::UnreadableColumns { columns } => format!(
            "not read because of {}: {}",
            if columns.len() == 1 { "its type" } else { "their types" },
            columns.join(", ")
        ),
        Note::Unreadable { attribute, n_cells } => format!(
            "attribute '{attribute}': {} cannot be read and {} as no value (unreadable{}\"missing\")",
            counted_words(*n_cells, "cell"),
            if *n_cells == 1 { "counts" } else { "count" },
            if front == Front::Python { "=" } else { " = " }
        ),
        Note::UnknownValues { attribute, n_cells, is_other } => {
            let (as_what, said) = match is_other {
                true => ("'other'", "other"),
                false => ("no value", "missing"),
            };
            format!(
                "attribute '{attribute}': the hierarchy does not know {}, which {} as {as_what} (unknown{}\"{said}\")",
                counted_words(*n_cells, "cell"),
                if *n_cells == 1 { "counts" } else { "count" },
                if front == Front::Python { "=" } else { " = " }
            )
        }
        Note::Dropped { n_records, n_all } => format!(
            "{} of {} records lack a value and are left out (missing_records{}\"drop\")",
            grouped(*n_records),
            grouped(*n_all),
            if front == Front::Python { "=" } else { " = " }
        ),
        Note::Repeating { column, n_records, n_different, is_exact } => {
            let n_different = Amount { n: *n_different, is_exact: *is_exact };
            let repeating = repeats::in_words(column, *n_records, n_different);
            let (person, records) = match front {
                Front::CommandLine => ("role = \"person\"", "records = \"independent\""),
                Front::Http => ("the role \"person\"", "\"records\": \"independent\""),
                Front::Python => ("person=", "records=\"independent\""),
            };
            format!("{repeating}: count people? ({person} does; {records} says that records are meant)")
        }
        Note::BeyondPerPerson { n_records, n_max } => format!(
            "{} beyond max_records_per_person{}{n_max} {} left out",
            counted_words(*n_records, "record"),
            if front == Front::Python { "=" } else { " = " },
            if *n_records == 1 { "is" } else { "are" }
        ),
        Note::Strangers { attribute, n_values } => format!(
            "attribute '{attribute}': the hierarchy does not know {} of the people to hide among: they fit nobody's group \
             but that of *",
            counted_words(*n_values, "value")
        ),
        Note::NoHierarchy { attribute, n_values, n_not_numbers } => {
            let numbers = match n_not_numbers {
                Some(n) => format!(", and {n} of its {n_values} values are not numbers"),
                None => String::new(),
            };
            let sets = match front {
                Front::CommandLine => "publish --cells sets".to_string(),
                front => front.wish("cells", Some("sets")),
            };
            format!(
                "attribute '{attribute}' has no hierarchy{numbers}: a group with several of its values says * ({sets} names \
                 them)"
            )
        }
        Note::NoSteps { attribute } => format!(
            "attribute '{attribute}' has no intervals to be rounded to: a group with several of its values says *"
        ),
        Note::NotWhole { part, n_schemes, why } => {
            let what = match part {
                Some((share, estimator)) => {
                    format!("partial, the best {} % of the schemes of every height by {estimator}", share * 100.0)
                }
                None => "on demand".to_string(),
            };
            let n_schemes = n_schemes.map_or("over 10^19".to_string(), grouped);
            format!(
                "{what}: the whole lattice of {n_schemes} schemes {} ({} insists)",
                too_much(why),
                front.wish("full", None)
            )
        }
        Note::OnDemandAfterAll { why } => format!("on demand, since {why}"),
        Note::DataNotHere => "the data are not here: that they are still the same is taken for granted".to_string(),
        Note::Updated { n_appended, n_removed } => {
            let appended = counted_words(*n_appended, "file");
            format!("about the data with {appended} appended and {n_removed} removed since")
        }
        Note::NotPromised { method } => {
            let criteria = match front {
                Front::CommandLine => "the criteria in [request] of the project",
                Front::Http | Front::Python => "the criteria of the project's standing request",
            };
            format!("{criteria} are not promised by {method}")
        }
        Note::LevelsIgnored { method } => {
            format!("max_level of the project is about levels; {method} does not look at it")
        }
        Note::KsLeftOut { ks, n_records } => {
            format!("k = {} left out: the table has {}", listed(ks), counted_words(*n_records, "record"))
        }
        Note::KsBeyond { ks } => {
            format!("no release with k = {}: k is from 1 to the number of records", listed(ks))
        }
        Note::SchemesNotDrawn { n_max } => format!("more than {} schemes are not drawn", grouped(*n_max)),
        Note::MuchLost { ncp, instead } => {
            let lost = format!("more than half of the detail is lost (NCP {ncp:.3})");
            match instead {
                Some((method, ncp)) => format!(
                    "{lost}: one level per attribute suits these data badly; {} would lose {ncp:.3}, with ranges of its own \
                     for every group",
                    front.wish("method", Some(method))
                ),
                None => {
                    let compare = match front {
                        Front::CommandLine => "incrowd compare",
                        Front::Http => "the order compare",
                        Front::Python => "Table.compare",
                    };
                    format!("{lost}: a local method may lose less, {compare} shows how much")
                }
            }
        }
        Note::Beside(beside) => beside.in_words(),
        Note::MoreBeside { n } => {
            format!(
                "{} more of columns that are published as they are: all are in the report",
                counted_words(*n, "relation")
            )
        }
        Note::TriviallyDiverse { attribute, n_values, n_records, levels } => {
            let level = |(name, n): &(String, u64)| format!("{} at {name}", grouped(*n));
            // Enough that a group can have several, and few enough that they mean something.
            let first = levels.iter().find(|(_, n)| n * 10 <= *n_records).or(levels.last());
            let levels: Vec<String> = levels.iter().map(level).collect();
            let levels = match first {
                None => "; with a hierarchy, count_at would count its labels".to_string(),
                Some((level, _)) => {
                    let counted = match front {
                        Front::CommandLine => format!("count_at = \"{level}\" on the attribute counts"),
                        Front::Http => format!("\"count_at\": \"{level}\" on the attribute counts"),
                        Front::Python => format!("count_at={{\"{attribute}\": \"{level}\"}} counts"),
                    };
                    format!("; its hierarchy has {}, and {counted} these in their place", levels.join(", "))
                }
            };
            format!(
                "attribute '{attribute}' is nearly unique, with {} different values in {} records: any l of them have l \
                 values, and l says little about it{levels}",
                grouped(*n_values),
                grouped(*n_records)
            )
        }
    }
}

fn listed(ks: &[u64]) -> String {
    ks.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

fn too_much(why: &TooMuch) -> String {
    match why {
        TooMuch::Memory { n_bytes, n_bytes_max } => {
            let needed = match n_bytes {
                Some(n_bytes) => format!("about {}", size(*n_bytes)),
                None => "more memory than any machine has".to_string(),
            };
            format!("would take {needed}, and {} are allowed", size(*n_bytes_max))
        }
        TooMuch::Minutes { n_groups } => format!("over {} groups would take minutes", grouped(*n_groups)),
        TooMuch::Refused(why) => why.clone(),
    }
}

fn size(n_bytes: u64) -> String {
    match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{} MB", grouped(n_bytes.div_ceil(1_000_000))),
    }
}
