//! Identifiers that repeat: several records have the same, so that records are not people.

use std::fmt;

use arrow_array::RecordBatch;
use incrowd::table::{Cells, Kind};
use incrowd::{Missing, Result};

use super::names::person_standing;
use super::project::SeenElsewhere;
use super::tally::{Amount, DistinctCounter, hash_bytes};
use crate::sentences::grouped;

/// An identifier that several records have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeating {
    pub column: String,
    /// Records that have a value there.
    pub n_records: u64,
    pub n_different: Amount,
    /// Of the different values, how many several records have.
    pub n_several: u64,
}

impl fmt::Display for Repeating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_words(&self.column, self.n_records, self.n_different))
    }
}

/// `1,191 records of 225 different USUBJID`
pub fn in_words(column: &str, n_records: u64, n_different: Amount) -> String {
    format!("{} records of {n_different} different {column}", grouped(n_records))
}

/// Fewer are too few to be people, and fewer that several records have are rather words for "unknown".
const N_PEOPLE_MIN: u64 = 5;

/// From so many different values on they may be people, however many records each has.
const N_PEOPLE: u64 = 20;

impl Repeating {
    /// Whether the numbers are those of people with several records: different values are fewer than 95 % of
    /// the records, at least 5 of them are had by several records, and there are at least 20 of them, or more than a tenth
    /// of the records. Fewer are rather places or kinds.
    pub fn is_of_people(&self) -> bool {
        let n = self.n_different.n;
        let are_enough = n >= N_PEOPLE || n.saturating_mul(10) > self.n_records;
        self.is_shared() && self.n_several >= N_PEOPLE_MIN && are_enough
    }

    fn is_shared(&self) -> bool {
        self.n_different.n.saturating_mul(100) < self.n_records.saturating_mul(95)
    }

    /// Of several columns, each with how well people can be counted by it as its name says, the one by which they would be
    /// counted: by its name, then with the most values, then the first. None where a name says more than theirs, and nearly
    /// every record has a value of its own there: then records are people, and what repeats is a doctor's number.
    pub fn best(columns: Vec<(u8, Repeating)>) -> Option<Repeating> {
        let own = columns.iter().filter(|(_, column)| !column.is_shared() && column.n_records > 0);
        let best_own = own.map(|(standing, _)| *standing).min().unwrap_or(u8::MAX);
        let rank = |(standing, column): &(u8, Repeating)| (*standing, std::cmp::Reverse(column.n_different.n));
        let found = columns.into_iter().filter(|(standing, column)| *standing <= best_own && column.is_of_people());
        found.min_by_key(rank).map(|(_, column)| column)
    }
}

impl Repeating {
    /// The identifier by which people would be counted, of those that somebody else counted.
    pub fn elsewhere(columns: &[SeenElsewhere]) -> Option<Repeating> {
        let column = |seen: &SeenElsewhere| {
            let n_different = Amount { n: seen.n_different, is_exact: true };
            let (column, n_records, n_several) = (seen.column.clone(), seen.n_records, seen.n_several);
            Some((person_standing(&seen.column, true)?, Repeating { column, n_records, n_different, n_several }))
        };
        Repeating::best(columns.iter().filter_map(column).collect())
    }
}

/// What is seen of the columns that a project calls identifiers, in memory that does not grow with the records.
#[derive(Default)]
pub struct Repeats {
    columns: Vec<Seen>,
}

struct Seen {
    name: String,
    standing: u8,
    tally: DistinctCounter,
    n_records: u64,
    /// What all values are.
    kind: Option<Kind>,
}

impl Repeats {
    /// Looks at those identifiers that different people do not share, as their names say.
    pub fn new(identifiers: &[&str]) -> Repeats {
        let seen = |name: &&str| {
            let standing = person_standing(name, true)?;
            Some(Seen { name: name.to_string(), standing, tally: DistinctCounter::default(), n_records: 0, kind: None })
        };
        Repeats { columns: identifiers.iter().filter_map(seen).collect() }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|seen| seen.name.as_str())
    }

    /// Looks at the records of a batch, of which each row is so many; one, where nobody says it.
    pub fn push(&mut self, batch: &RecordBatch, n_times: Option<&[u64]>, missing: &Missing) -> Result<()> {
        let mut text = String::new();
        for seen in &mut self.columns {
            // Each may be looked at on its own.
            let Some(column) = batch.column_by_name(&seen.name) else { continue };
            let cells = Cells::new(&seen.name, column)?;
            for record in 0..cells.len() {
                if cells.read(record, &mut text) && !missing.is_token(&text) {
                    let n = n_times.map_or(1, |n_times| n_times[record]);
                    seen.n_records = seen.n_records.saturating_add(n);
                    seen.kind = joined(seen.kind, Some(Kind::of(&text)));
                    seen.tally.add_many(hash_bytes(text.as_bytes()), n);
                }
            }
        }
        Ok(())
    }

    /// Adds what another has seen of the same columns.
    pub fn merge(&mut self, other: Repeats) {
        for (ours, theirs) in self.columns.iter_mut().zip(other.columns) {
            ours.tally.merge(theirs.tally);
            ours.n_records += theirs.n_records;
            ours.kind = joined(ours.kind, theirs.kind);
        }
    }

    /// The identifier by which people would be counted, if one repeats.
    pub fn finish(self) -> Option<Repeating> {
        let column = |seen: Seen| {
            let n_different = seen.tally.n_distinct();
            let n_several = n_different.n.saturating_sub(seen.tally.n_unique().n);
            (seen.standing, Repeating { column: seen.name, n_records: seen.n_records, n_different, n_several })
        };
        // Nobody is called by a date or a measurement.
        let names_people = |seen: &Seen| matches!(seen.kind, Some(Kind::Text | Kind::Integer));
        Repeating::best(self.columns.into_iter().filter(names_people).map(column).collect())
    }
}

/// What values are that are this or that; whoever reads a part may meet none.
fn joined(a: Option<Kind>, b: Option<Kind>) -> Option<Kind> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.join(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, StringArray};

    use super::*;

    #[test]
    fn what_somebody_else_counted_is_judged_alike() {
        let seen = |column: &str, n_different: u64, n_several: u64| SeenElsewhere {
            column: column.to_string(),
            n_records: 1_000,
            n_different,
            n_several,
        };
        let found = Repeating::elsewhere(&[seen("patient", 400, 300), seen("doctor", 20, 20)]).expect("they repeat");
        assert_eq!((found.column.as_str(), found.n_different.n), ("patient", 400));
        assert_eq!(Repeating::elsewhere(&[seen("patient", 1_000, 0)]), None);
        assert_eq!(Repeating::elsewhere(&[seen("country_code", 400, 300)]), None);
    }

    fn column(n_records: u64, n_different: u64) -> Repeating {
        let n_several = if n_different < n_records { n_different } else { 0 };
        let n_different = Amount { n: n_different, is_exact: true };
        Repeating { column: "id".into(), n_records, n_different, n_several }
    }

    fn repeats(n_records: u64, n_different: u64) -> bool {
        Repeating::best(vec![(1, column(n_records, n_different))]).is_some()
    }

    #[test]
    fn people_have_several_records_and_places_have_many() {
        assert!(repeats(1_191, 225) && repeats(30_000, 20) && repeats(12, 6) && repeats(100, 94));
        assert!(!repeats(100, 95), "nearly every record has an identifier of its own");
        assert!(!repeats(30_000, 19) && !repeats(1_000, 4) && !repeats(8, 4), "too few to be people");
        assert!(!repeats(0, 0));
        let with_unknown = Repeating { n_several: 4, ..column(120, 73) };
        assert!(!with_unknown.is_of_people(), "what several have is a few words");
    }

    #[test]
    fn where_every_record_is_another_patient_s_the_doctor_s_number_says_nothing() {
        let best = |own, shared| Repeating::best(vec![(shared, column(1_000, 50)), (own, column(1_000, 990))]);
        assert!(best(0, 1).is_none());
        assert_eq!(best(1, 0), Some(column(1_000, 50)), "a number of the record beside that of the patient");
        assert_eq!(best(1, 1), Some(column(1_000, 50)));
    }

    #[test]
    fn parts_give_the_whole_and_names_decide() {
        let batch = |from: u64| {
            let column = |each: u64, n: u64| {
                let cell = |i: u64| if i % 50 == 7 { "?".to_string() } else { format!("v{}", i / each % n) };
                Arc::new(StringArray::from_iter_values((from..from + 100).map(cell))) as ArrayRef
            };
            let columns =
                [("visit", column(2, 1_000)), ("patient_no", column(4, 1_000)), ("country", column(3, 1_000))];
            RecordBatch::try_from_iter(columns).expect("columns of one length")
        };
        let missing = Missing { tokens: vec!["?".into()], drop_records: false, ..Missing::default() };
        let seen = |starts: &[u64]| {
            let mut repeats = Repeats::new(&["visit", "patient_no", "country"]);
            starts.iter().for_each(|start| repeats.push(&batch(*start), None, &missing).expect("readable"));
            repeats
        };
        let mut parts = seen(&[100]);
        parts.merge(seen(&[0]));
        let whole = seen(&[0, 100]).finish().expect("both repeat");
        assert_eq!(parts.finish().as_ref(), Some(&whole));
        // Some thread may have read nothing.
        let mut parts = seen(&[]);
        parts.merge(seen(&[0, 100]));
        assert_eq!(parts.finish().as_ref(), Some(&whole));
        assert_eq!(whole.to_string(), "196 records of 50 different patient_no");
        assert_eq!(Repeats::new(&["country", "surname", "zip"]).names().count(), 0, "people share these");
        let days = (0..100).map(|i| format!("2020-01-{:02}", 1 + i % 28));
        let days = Arc::new(StringArray::from_iter_values(days)) as ArrayRef;
        let mut repeats = Repeats::new(&["seen"]);
        let batch = RecordBatch::try_from_iter([("seen", days)]).expect("a column");
        repeats.push(&batch, None, &missing).expect("readable");
        assert_eq!(repeats.finish(), None, "nobody is called by a day");
    }
}
