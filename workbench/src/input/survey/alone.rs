//! How many records, or people, stand alone on a set of quasi-identifiers, and which of them make it so.

use std::collections::hash_map::Entry;

use arrow_array::ArrayRef;
use incrowd::table::Cells;
use incrowd::{Missing, Result};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use super::look::column;
use crate::input::count::needed_columns;
use crate::input::source::Source;
use crate::input::tally::{Amount, DistinctCounter, N_HASHES_MAX, hash_text, mixed};
use crate::work::{Unit, Work};

/// How many records stand alone on a set of quasi-identifiers; or how many people, where somebody has several records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uniqueness {
    /// Records looked at; those that are dropped for a missing value are not among them.
    pub n_records: u64,
    /// How many people there are, where they are counted: whoever stands alone does so in one of their groups at least.
    pub n_people: Option<Amount>,
    pub n_groups: Amount,
    pub n_unique: Amount,
    /// For each quasi-identifier, how many would stand alone without it.
    pub n_unique_without: Vec<Amount>,
}

impl Uniqueness {
    /// How many there are of what is counted.
    pub fn n_all(&self) -> u64 {
        self.n_people.map_or(self.n_records, |people| people.n)
    }
}

/// Counts groups and records that stand alone, on all quasi-identifiers and on all but each one of them; people, where
/// columns say whose record it is and somebody has several.
pub fn uniqueness(
    source: &Source,
    missing: &Missing,
    quasi_identifiers: &[&str],
    person: &[&str],
    work: &Work,
) -> Result<Uniqueness> {
    let n = quasi_identifiers.len();
    let all_but = |left_out: usize| (0..n).filter(|a| *a != left_out).collect();
    // The last set leaves out nothing.
    let sets: Vec<Vec<usize>> = (0..=n).map(all_but).collect();
    let (n_records, n_people, n_groups, mut n_unique): (u64, Option<Amount>, Amount, Vec<Amount>) = match person {
        [] => {
            let (n_records, tallies) = tally_sets(source, missing, quasi_identifiers, &sets, work)?;
            (n_records, None, tallies[n].n_distinct(), tallies.iter().map(DistinctCounter::n_unique).collect())
        }
        _ => {
            let (n_records, n_people, alone) = tally_people(source, missing, quasi_identifiers, person, &sets, work)?;
            let n_people = Some(n_people).filter(|people| people.n < n_records);
            (n_records, n_people, alone[n].n_groups(), alone.iter().map(Alone::n_alone).collect())
        }
    };
    let all = n_unique.pop().expect("there is a set more than there are quasi-identifiers");
    Ok(Uniqueness { n_records, n_people, n_groups, n_unique: all, n_unique_without: n_unique })
}

/// Counts the combinations of values in several sets of columns, in one reading.
pub(super) fn tally_sets(
    source: &Source,
    missing: &Missing,
    names: &[&str],
    sets: &[Vec<usize>],
    work: &Work,
) -> Result<(u64, Vec<DistinctCounter>)> {
    let mut tallies: Vec<DistinctCounter> = sets.iter().map(|_| DistinctCounter::default()).collect();
    let mut n_records = 0;
    read_hashes(source, missing, names, work, |keep, hashes| {
        n_records += keep.iter().filter(|keep| **keep).count() as u64;
        sets.par_iter().zip(&mut tallies).for_each(|(set, tally)| {
            for record in (0..keep.len()).filter(|record| keep[*record]) {
                tally.add(combined(set, hashes, record));
            }
        });
    })?;
    Ok((n_records, tallies))
}

/// Who is alone with which combinations of values in several sets of columns, in one reading; with how many records and
/// people there are.
fn tally_people(
    source: &Source,
    missing: &Missing,
    names: &[&str],
    person: &[&str],
    sets: &[Vec<usize>],
    work: &Work,
) -> Result<(u64, Amount, Vec<Alone>)> {
    let all: Vec<&str> = names.iter().chain(person).copied().collect();
    let whose: Vec<usize> = (names.len()..all.len()).collect();
    let mut alone: Vec<Alone> = sets.iter().map(|_| Alone::default()).collect();
    let (mut n_records, mut people) = (0, DistinctCounter::default());
    read_hashes(source, missing, &all, work, |keep, hashes| {
        let kept: Vec<(usize, u64)> = (0..keep.len())
            .filter(|record| keep[*record])
            .map(|record| (record, combined(&whose, hashes, record)))
            .collect();
        n_records += kept.len() as u64;
        kept.iter().for_each(|(_, person)| {
            people.add(*person);
        });
        sets.par_iter().zip(&mut alone).for_each(|(set, alone)| {
            kept.iter().for_each(|(record, person)| alone.add(combined(set, hashes, *record), *person));
        });
    })?;
    Ok((n_records, people.n_distinct(), alone))
}

/// Which people are alone with a combination of values, by their hashes. Beyond [`N_HASHES_MAX`] combinations a fair
/// sample of them is kept, as a [`DistinctCounter`] does; what is estimated from it is rather too much, where people are alone with
/// several.
#[derive(Default)]
struct Alone {
    /// By combination, whose it is; none where it is several people's.
    whose: FxHashMap<u64, Option<u64>>,
    n_zero_bits: u32,
}

impl Alone {
    fn add(&mut self, combination: u64, person: u64) {
        if combination.leading_zeros() < self.n_zero_bits {
            return;
        }
        match self.whose.entry(combination) {
            Entry::Occupied(mut known) => *known.get_mut() = known.get().filter(|whose| *whose == person),
            Entry::Vacant(new) => {
                new.insert(Some(person));
            }
        }
        while self.whose.len() > N_HASHES_MAX {
            self.n_zero_bits += 1;
            self.whose.retain(|combination, _| combination.leading_zeros() >= self.n_zero_bits);
        }
    }

    fn n_groups(&self) -> Amount {
        self.amount(self.whose.len())
    }

    /// How many people are alone with one combination at least.
    fn n_alone(&self) -> Amount {
        self.amount(self.whose.values().flatten().collect::<FxHashSet<_>>().len())
    }

    fn amount(&self, n: usize) -> Amount {
        Amount { n: (n as u64) << self.n_zero_bits, is_exact: self.n_zero_bits == 0 }
    }
}

/// The hash of what a record says in a set of columns.
fn combined(set: &[usize], hashes: &[Vec<u64>], record: usize) -> u64 {
    set.iter().fold(0, |combined, &a| mixed(combined ^ hashes[a][record]))
}

/// Hands on, batch by batch, which records are kept, and the hashes of the cells of each column.
fn read_hashes(
    source: &Source,
    missing: &Missing,
    names: &[&str],
    work: &Work,
    mut see: impl FnMut(&[bool], &[Vec<u64>]),
) -> Result<()> {
    let columns = needed_columns(source, names.iter().copied(), missing);
    let read = work.stage("comparing", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&columns, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            let mut keep = vec![true; batch.num_rows()];
            if missing.drop_records {
                columns.iter().try_for_each(|name| missing.mark_dropped(name, column(&batch, name), &mut keep))?;
            }
            let hashes: Vec<Vec<u64>> =
                names.par_iter().map(|name| hash_cells(name, column(&batch, name), missing)).collect::<Result<_>>()?;
            see(&keep, &hashes);
            Ok(())
        })
    });
    read.map_err(|error| error.or_at(source.files()[0].display().to_string()))
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
                let found =
                    uniqueness(&source, &missing, &["a", "b"], &[], &Work::default()).expect("a readable table");
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

    #[test]
    fn people_who_stand_alone_are_counted_as_a_naive_reader_would() {
        use std::collections::{BTreeMap, BTreeSet};
        for seed in 0..40 {
            // The third column says whose record it is, in some tables with the second.
            let text = random_table(seed, 1 + seed as usize * 3);
            let missing = tokens(&["?", ""], true);
            let (_folder, source) = table(&text);
            let person: &[&str] = if seed % 2 == 0 { &["c"] } else { &["c", "b"] };
            let found = uniqueness(&source, &missing, &["a", "b"], person, &Work::default()).expect("a readable table");
            let mut records = records(&text);
            records.retain(|record| !record[..3].iter().any(|text| missing.is_token(text)));
            let who = |record: &[String]| match person.len() {
                1 => vec![record[2].clone()],
                _ => vec![record[2].clone(), record[1].clone()],
            };
            let n_alone = |columns: &[usize]| {
                let mut groups: BTreeMap<Vec<String>, BTreeSet<Vec<String>>> = BTreeMap::new();
                for record in &records {
                    let cells = columns.iter().map(|&a| record[a].clone()).collect();
                    groups.entry(cells).or_default().insert(who(record));
                }
                groups.values().filter(|who| who.len() == 1).flatten().collect::<BTreeSet<_>>().len() as u64
            };
            assert_eq!(found.n_unique.n, n_alone(&[0, 1]));
            let without: Vec<u64> = found.n_unique_without.iter().map(|amount| amount.n).collect();
            assert_eq!(without, [n_alone(&[1]), n_alone(&[0])]);
            let n_people = records.iter().map(|record| who(record)).collect::<BTreeSet<_>>().len() as u64;
            assert_eq!((found.n_all(), found.n_records), (n_people, records.len() as u64));
        }
    }
}
