//! At most so many records of a person: which ones is decided by a seed and by what they say, and by nothing else.
//!
//! A person's records are ranked by a hash of the seed, the person and everything that the record says, and the lowest are
//! kept. So neither the order of records nor that of columns matters, and somebody who has the release and the seed cannot
//! say which records were left out: the hash takes columns that are not published.

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Missing, Result};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

/// How many records of a person are kept, and what decides which.
#[derive(Clone, Debug, PartialEq)]
pub struct PerPerson {
    /// The columns that say whose record it is.
    pub person: Vec<String>,
    pub n_max: u64,
    pub seed: u64,
    /// Records that are left out anyway, because a value is missing, are nobody's choice.
    pub missing: Missing,
}

/// The first 16 bytes of a hash of the person, which no two people have in common but by a rare accident.
type Who = u128;

/// What has been seen of everybody's records so far.
pub(super) struct Ranking {
    about: PerPerson,
    people: FxHashMap<Who, Ranked>,
}

#[derive(Default)]
struct Ranked {
    n_records: u64,
    /// The ranks of the records that are kept, the greatest on top.
    lowest: BinaryHeap<u64>,
}

impl Ranking {
    pub(super) fn new(about: PerPerson) -> Ranking {
        Ranking { about, people: FxHashMap::default() }
    }

    /// Takes note of the records of a batch, which has all columns.
    pub(super) fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let records = Records::new(&self.about, batch)?;
        for record in 0..batch.num_rows() {
            let Some((who, hasher)) = records.who(record) else { continue };
            let ranked = self.people.entry(who).or_default();
            ranked.n_records += 1;
            let rank = records.rank(record, hasher);
            if (ranked.lowest.len() as u64) < self.about.n_max {
                ranked.lowest.push(rank);
            } else if let Some(mut greatest) = ranked.lowest.peek_mut()
                && rank < *greatest
            {
                *greatest = rank;
            }
        }
        Ok(())
    }

    /// What is kept of those who have too many.
    pub(super) fn finish(self) -> KeptRecords {
        let Ranking { about, people } = self;
        let (mut limits, mut n_left_out) = (FxHashMap::default(), 0);
        for (who, ranked) in people {
            let n_beyond = ranked.n_records - ranked.lowest.len() as u64;
            if let (Some(&rank), 1..) = (ranked.lowest.peek(), n_beyond) {
                let n_at = ranked.lowest.iter().filter(|known| **known == rank).count() as u64;
                limits.insert(who, Limit { rank, n_at, place: limits.len() });
                n_left_out += n_beyond;
            }
        }
        KeptRecords { about, limits, n_left_out }
    }
}

/// Which records are kept, in memory that grows with the people who have too many.
pub(super) struct KeptRecords {
    about: PerPerson,
    limits: FxHashMap<Who, Limit>,
    pub(super) n_left_out: u64,
}

/// The greatest rank that is kept of somebody's records.
struct Limit {
    rank: u64,
    /// How many records of this rank are kept. Records of one rank say the same, so that it does not matter which.
    n_at: u64,
    place: usize,
}

impl KeptRecords {
    /// How often each person's greatest rank may still be kept, at the beginning of a reading.
    pub(super) fn left(&self) -> Vec<AtomicU64> {
        let mut left: Vec<AtomicU64> = self.limits.iter().map(|_| AtomicU64::new(0)).collect();
        self.limits.values().for_each(|limit| *left[limit.place].get_mut() = limit.n_at);
        left
    }

    /// The named columns of those records of a batch that are kept; the batch has all columns.
    pub(super) fn of(&self, batch: &RecordBatch, left: &[AtomicU64], columns: &[String]) -> Result<RecordBatch> {
        let wanted = |index: &usize| columns.contains(batch.schema_ref().field(*index).name());
        let indices: Vec<usize> = (0..batch.num_columns()).filter(wanted).collect();
        let projected = batch.project(&indices).expect("the indices are those of its columns");
        if self.limits.is_empty() {
            return Ok(projected);
        }
        let records = Records::new(&self.about, batch)?;
        let keeps: Vec<bool> = (0..batch.num_rows()).map(|record| self.keeps(&records, record, left)).collect();
        match keeps.iter().all(|keep| *keep) {
            true => Ok(projected),
            false => filter_record_batch(&projected, &BooleanArray::from(keeps))
                .map_err(|error| Error::new(ErrorKind::Data, format!("records cannot be left out: {error}"))),
        }
    }

    fn keeps(&self, records: &Records, record: usize, left: &[AtomicU64]) -> bool {
        let Some((who, hasher)) = records.who(record) else { return true };
        let Some(limit) = self.limits.get(&who) else { return true };
        let rank = records.rank(record, hasher);
        let take_one = |n: u64| n.checked_sub(1);
        rank < limit.rank
            || rank == limit.rank
                && left[limit.place].fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one).is_ok()
    }
}

/// The records of a batch, as they are ranked.
struct Records<'a> {
    about: &'a PerPerson,
    person: Vec<Cells<'a>>,
    /// In the order of their names; what cannot be read says nothing.
    columns: Vec<Cells<'a>>,
    /// Whether a record has every value that it needs to have.
    is_whole: Vec<bool>,
}

impl<'a> Records<'a> {
    fn new(about: &'a PerPerson, batch: &'a RecordBatch) -> Result<Records<'a>> {
        let schema = batch.schema_ref();
        let column = |name: &String| batch.column_by_name(name).expect("a batch has all columns");
        let person = about.person.iter().map(|name| Cells::new(name, column(name))).collect::<Result<_>>()?;
        let mut names: Vec<&String> = schema.fields().iter().map(|field| field.name()).collect();
        names.sort_unstable();
        let mut is_whole = vec![true; batch.num_rows()];
        about.person.iter().try_for_each(|name| about.missing.mark(name, column(name), &mut is_whole))?;
        names.iter().try_for_each(|name| about.missing.mark_dropped(name, column(name), &mut is_whole))?;
        let columns = names.into_iter().filter_map(|name| Cells::new(name, column(name)).ok()).collect();
        Ok(Records { about, person, columns, is_whole })
    }

    /// Whose record it is, and what goes on to be its rank; nothing where that does not matter or is not known.
    fn who(&self, record: usize) -> Option<(Who, Sha256)> {
        if !self.is_whole[record] {
            return None;
        }
        let mut hasher = Sha256::new_with_prefix(self.about.seed.to_le_bytes());
        add(&mut hasher, &self.person, record);
        let hash = hasher.clone().finalize();
        Some((u128::from_le_bytes(hash[..16].try_into().expect("a hash has 32 bytes")), hasher))
    }

    fn rank(&self, record: usize, mut hasher: Sha256) -> u64 {
        add(&mut hasher, &self.columns, record);
        u64::from_le_bytes(hasher.finalize()[..8].try_into().expect("a hash has 32 bytes"))
    }
}

/// Adds what a record says to a hash: of every cell whether it has a value, how long it is, and its text.
fn add(hasher: &mut Sha256, columns: &[Cells], record: usize) {
    let mut text = String::new();
    for cells in columns {
        let n = if cells.read(record, &mut text) { text.len() as u64 + 1 } else { 0 };
        hasher.update(n.to_le_bytes());
        if n > 0 {
            hasher.update(text.as_bytes());
        }
    }
}
