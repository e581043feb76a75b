//! How many records stand alone on a set of quasi-identifiers, and which of them make it so.

use arrow_array::ArrayRef;
use incrowd::table::Cells;
use incrowd::{Missing, Result};
use rayon::prelude::*;

use super::look::column;
use crate::input::count::needed_columns;
use crate::input::source::Source;
use crate::input::tally::{Amount, Tally, hash_text, mixed};
use crate::work::{Unit, Work};

/// How many records stand alone on a set of quasi-identifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniqueness {
    /// Records looked at; those that are dropped for a missing value are not among them.
    pub n_records: u64,
    pub n_groups: Amount,
    pub n_unique: Amount,
    /// For each quasi-identifier, how many records would stand alone without it.
    pub n_unique_without: Vec<Amount>,
}

/// Counts groups and records that stand alone, on all quasi-identifiers and on all but each one of them.
pub fn uniqueness(source: &Source, missing: &Missing, quasi_identifiers: &[&str], work: &Work) -> Result<Uniqueness> {
    let n = quasi_identifiers.len();
    let all_but = |left_out: usize| (0..n).filter(|a| *a != left_out).collect();
    // The last set leaves out nothing.
    let sets: Vec<Vec<usize>> = (0..=n).map(all_but).collect();
    let (n_records, mut tallies) = tally_sets(source, missing, quasi_identifiers, &sets, work)?;
    let all = tallies.pop().expect("there is a set more than there are quasi-identifiers");
    let n_unique_without = tallies.iter().map(Tally::n_unique).collect();
    Ok(Uniqueness { n_records, n_groups: all.n_distinct(), n_unique: all.n_unique(), n_unique_without })
}

/// Counts the combinations of values in several sets of columns, in one reading.
pub(super) fn tally_sets(
    source: &Source,
    missing: &Missing,
    names: &[&str],
    sets: &[Vec<usize>],
    work: &Work,
) -> Result<(u64, Vec<Tally>)> {
    let columns = needed_columns(source, names.iter().copied(), missing);
    let mut tallies: Vec<Tally> = sets.iter().map(|_| Tally::default()).collect();
    let mut n_records = 0;
    let read = work.stage("comparing", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&columns, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            let mut keep = vec![true; batch.num_rows()];
            if missing.drop_records {
                columns.iter().try_for_each(|name| missing.mark_dropped(name, column(&batch, name), &mut keep))?;
            }
            n_records += keep.iter().filter(|keep| **keep).count() as u64;
            let hashes: Vec<Vec<u64>> =
                names.par_iter().map(|name| hash_cells(name, column(&batch, name), missing)).collect::<Result<_>>()?;
            sets.par_iter().zip(&mut tallies).for_each(|(set, tally)| {
                for record in (0..keep.len()).filter(|record| keep[*record]) {
                    let combined = set.iter().fold(0, |combined, &a| mixed(combined ^ hashes[a][record]));
                    tally.add(combined);
                }
            });
            Ok(())
        })
    });
    read.map_err(|error| error.or_at(source.files()[0].display().to_string()))?;
    Ok((n_records, tallies))
}

fn hash_cells(name: &str, column: &ArrayRef, missing: &Missing) -> Result<Vec<u64>> {
    let cells = Cells::new(name, column)?;
    let mut text = String::new();
    let hash = |i| match cells.read(i, &mut text) && !missing.is_token(&text) {
        true => hash_text(&text),
        // No text has this hash but by a rare accident.
        false => mixed(u64::MAX),
    };
    Ok((0..cells.len()).map(hash).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::survey::sample::*;

    #[test]
    fn records_that_stand_alone_are_counted_as_a_naive_reader_would() {
        for seed in 0..40 {
            let text = random_table(seed, 1 + seed as usize * 3);
            for drop_records in [true, false] {
                let missing = tokens(&["?", ""], drop_records);
                let (_folder, source) = table(&text);
                let found = uniqueness(&source, &missing, &["a", "b"], &Work::default()).expect("a readable table");
                let mut records = records(&text);
                records.retain(|record| !drop_records || !record.iter().any(|text| missing.is_token(text)));
                // Where they are kept, all ways to lack a value are one value.
                let value = |text: &str| if missing.is_token(text) { "?".to_string() } else { text.to_string() };
                let both = counts(records.iter().map(|record| (value(&record[0]), value(&record[1]))));
                assert_eq!(found.n_records, records.len() as u64);
                assert_eq!((found.n_groups.n, found.n_unique.n), (both.len() as u64, n_once(&both)));
                let without: Vec<u64> = found.n_unique_without.iter().map(|amount| amount.n).collect();
                let only = |i: usize| n_once(&counts(records.iter().map(|record| value(&record[i]))));
                assert_eq!(without, [only(1), only(0)]);
            }
        }
    }
}
