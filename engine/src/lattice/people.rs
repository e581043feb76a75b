//! From the groups of one scheme to those of a coarser one where people are counted, by their number and how many different
//! values they have: what most requests are about.
//!
//! Rows are those of [`crate::lattice::roll_up`] with how many people there are and, in place of the set of values, where to
//! find how many people have each. The number of different values, everybody counted once by the value that tells most, is
//! found out where groups become one, and stays with the row.

use crate::counts::GroupCounts;
use crate::criterion::Measured;
use crate::criterion::formulas::n_told_most;
use crate::error::Result;
use crate::lattice::by_set::{profiles_of_tallies, seen_in_tallies};
use crate::lattice::drifters::{Members, ValueSets, follow};
use crate::lattice::histograms::{COUNT_BITS, COUNT_MASK, N_WORDS_PER_CELL, add_up_cells};
use crate::lattice::profile::{N_MORE_MAX, Profile, SIZE_BITS, SIZE_MASK, Scratch, Tally};
use crate::lattice::regroup::{Corrections, LevelStep, Regrouping};
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::roller::{Ground, Roller};
use crate::lattice::rows::Rows;
use crate::task::Task;

/// By group, how many people have its records, where everybody is in one group, and has one value of the sensitive attribute
/// if there is one: none otherwise.
pub(crate) fn people_of_one_group(counts: &GroupCounts, sensitive: Option<usize>) -> Option<Vec<u64>> {
    let people = counts.people()?;
    let group_of_cell = counts.groups_of_cells();
    let mut n_people = vec![0; counts.n_groups()];
    let seen = |cell: usize| (group_of_cell[cell], sensitive.map(|s| counts.codes_of_cell(cell)[s]));
    for person in 0..people.len() {
        let mut all = people.cells(person).map(|(cell, _)| seen(cell));
        let first = all.next()?;
        if all.any(|other| other != first) {
            return None;
        }
        n_people[first.0 as usize] += 1;
    }
    Some(n_people)
}

/// Whether tallies have room for as many records and people as there are.
pub(crate) fn fits_tallies(counts: &GroupCounts) -> bool {
    counts.people().is_none_or(|people| counts.n_records() - people.len() as u64 <= N_MORE_MAX)
}

/// How many words a row has behind its key: size and loss; people in the lower half, different values in the upper; where the
/// cells are.
const N_WORDS: usize = 3;

/// Cells that follow each other, as a word.
fn packed(start: usize, n: usize) -> u64 {
    start as u64 | (n as u64) << SIZE_BITS
}

fn unpacked(word: u64) -> std::ops::Range<usize> {
    let start = (word & SIZE_MASK) as usize;
    start..start + (word >> SIZE_BITS) as usize
}

/// What one thread works with.
pub(crate) struct PeopleCount {
    /// The sensitive attribute whose values are counted, if any.
    sensitive: Option<usize>,
    sets: ValueSets,
    sums: Sums,
    regrouping: Regrouping,
    corrections: Corrections,
    /// By place among united groups, how many of their people are counted once too often.
    n_met: Vec<u32>,
    scratch: Scratch,
    spare: [Rows; 2],
}

impl PeopleCount {
    fn new(counts: &GroupCounts, sensitive: Option<usize>) -> PeopleCount {
        let n_values = sensitive.map_or(0, |s| counts.sensitive()[s].len());
        PeopleCount {
            sensitive,
            sets: ValueSets::new(n_values),
            sums: Sums::new(n_values),
            regrouping: Regrouping::default(),
            corrections: Corrections::default(),
            n_met: Vec::new(),
            scratch: Scratch::default(),
            spare: Default::default(),
        }
    }

    /// The groups of the finest scheme.
    fn base<K: Key>(&mut self, roll_up: &RollUp) -> (Rows, Box<[Tally]>) {
        let counts = roll_up.counts;
        let mut groups: Vec<(K, u32)> =
            (0..counts.n_groups() as u32).map(|group| (roll_up.key_of(counts.codes(group as usize)), group)).collect();
        groups.sort_unstable();
        let mut row_of_group = vec![0; groups.len()];
        groups.iter().zip(0..).for_each(|((_, group), row)| row_of_group[*group as usize] = row);
        let sensitive = self.sensitive;
        let members = Members::new(counts, &row_of_group, &mut self.sets, |cell, values| {
            values.extend(sensitive.map(|s| counts.codes_of_cell(cell)[s].0));
        });
        let stride = K::N_WORDS + N_WORDS;
        let mut rows = Rows { words: vec![0; groups.len() * stride], cells: Vec::new(), drifters: members.drifters };
        let mut rest = &members.of_rows[..];
        for ((row, &(key, group)), number) in rows.words.chunks_exact_mut(stride).zip(&groups).zip(0..) {
            let (here, others) = rest.split_at(rest.iter().take_while(|(row, _)| *row == number).count());
            rest = others;
            for (_, set) in here {
                self.sets.for_each(*set, |value| self.sums.add(value, 1));
            }
            let start = rows.cells.len();
            self.sums.take(&mut rows.cells);
            let n_values = n_different(&rows.cells[start..], here.len() as u64);
            let codes = counts.codes(group as usize);
            key.write(row);
            row[K::N_WORDS] = counts.size(group as usize) | roll_up.loss_of(codes) << SIZE_BITS;
            row[K::N_WORDS + 1] = here.len() as u64 | n_values << 32;
            row[K::N_WORDS + 2] = packed(start, rows.cells.len() - start);
            tally::<K>(&mut self.scratch, row);
        }
        (rows, self.scratch.tallies::<1>())
    }

    /// Replaces `into` by the rows of the scheme that the step leads to; where nothing goes on from there, cells are not kept.
    fn step_on<K: Key, const GOES_ON: bool>(
        &mut self,
        roll_up: &RollUp,
        source: &Rows,
        step: LevelStep,
        into: &mut Rows,
    ) -> Box<[Tally]> {
        let stride = K::N_WORDS + N_WORDS;
        self.regrouping.step::<K, N_WORDS>(roll_up, &source.words, step, &mut into.words);
        self.follow(&source.drifters, &mut into.drifters);
        into.cells.clear();
        into.cells.reserve(source.cells.len());
        let PeopleCount { regrouping, corrections, n_met, sums, scratch, .. } = self;
        let mut united = regrouping.united().enumerate().peekable();
        // Cells of groups that stay as they are mostly follow each other: they are copied together.
        let mut unchanged = 0..0;
        for (number, row) in into.words.chunks_exact_mut(stride).enumerate() {
            if let Some((place, (_, parts))) = united.next_if(|(_, (group, _))| *group == number) {
                into.cells.extend_from_slice(&source.cells[std::mem::take(&mut unchanged)]);
                let start = into.cells.len();
                let part = |part: &u32| &source.words[*part as usize * stride + K::N_WORDS..][..N_WORDS];
                let n_people = parts.iter().map(|p| part(p)[1] & HALF).sum::<u64>() - u64::from(n_met[place]);
                let cells = parts.iter().map(|p| &source.cells[unpacked(part(p)[2])]);
                match corrections.has_any(place) {
                    true => sums.unite_corrected(cells, corrections.of(place), &mut into.cells),
                    false => sums.unite(cells, &mut into.cells),
                }
                row[K::N_WORDS + 1] = n_people | n_different(&into.cells[start..], n_people) << 32;
                row[K::N_WORDS + 2] = packed(start, into.cells.len() - start);
                if !GOES_ON {
                    into.cells.clear();
                }
            } else if GOES_ON {
                let cells = unpacked(row[K::N_WORDS + 2]);
                if cells.start != unchanged.end {
                    into.cells
                        .extend_from_slice(&source.cells[std::mem::replace(&mut unchanged, cells.start..cells.start)]);
                }
                row[K::N_WORDS + 2] = packed(into.cells.len() + unchanged.len(), cells.len());
                unchanged.end = cells.end;
            }
            tally::<K>(scratch, row);
        }
        into.cells.extend_from_slice(&source.cells[unchanged]);
        self.scratch.tallies::<1>()
    }

    /// Follows those who are in several groups, and notes what the sums of united groups have too much for them.
    fn follow(&mut self, source: &[u64], into: &mut Vec<u64>) {
        let PeopleCount { sets, regrouping, corrections, n_met, .. } = self;
        corrections.clear(regrouping.n_united());
        n_met.clear();
        n_met.resize(regrouping.n_united(), 0);
        follow(source, &regrouping.new_of, sets, into, |sets, group, one, other| {
            let place = regrouping.place(group);
            n_met[place] += 1;
            sets.for_each_common(one, other, |value| corrections.push(place, value, 1u64.wrapping_neg()));
        });
    }
}

impl<'a> Roller<'a> for PeopleCount {
    type Groups = Box<[Tally]>;

    fn stride<K: Key>(_: Ground<'a>) -> usize {
        K::N_WORDS + N_WORDS
    }

    fn begin<K: Key>(ground: Ground<'a>) -> (PeopleCount, Rows, Box<[Tally]>) {
        let mut work = PeopleCount::new(ground.roll_up.counts, ground.wanted.only_distinct().flatten());
        let (rows, groups) = work.base::<K>(ground.roll_up);
        (work, rows, groups)
    }

    /// The rows with their own cells alone.
    fn only<K: Key>(ground: Ground<'a>, rows: &Rows, groups: &[u32]) -> Rows {
        let stride = Self::stride::<K>(ground);
        let mut kept = rows.only(stride, groups);
        kept.cells.clear();
        for row in kept.words.chunks_exact_mut(stride) {
            let cells = &rows.cells[unpacked(row[K::N_WORDS + 2])];
            row[K::N_WORDS + 2] = packed(kept.cells.len(), cells.len());
            kept.cells.extend_from_slice(cells);
        }
        kept
    }

    /// All threads know the same sets of values.
    fn share(self, ground: Ground<'a>, n_threads: usize) -> Vec<PeopleCount> {
        let with_same_sets =
            || PeopleCount { sets: self.sets.clone(), ..PeopleCount::new(ground.roll_up.counts, self.sensitive) };
        (0..n_threads).map(|_| with_same_sets()).collect()
    }

    fn step<K: Key>(
        &mut self,
        ground: Ground<'a>,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Box<[Tally]> {
        self.step_on::<K, true>(ground.roll_up, source, LevelStep::to(ground.roll_up, levels, attribute), into)
    }

    fn all_levels<K: Key>(&mut self, ground: Ground<'a>, source: &Rows, attribute: usize) -> Vec<Box<[Tally]>> {
        let [mut now, mut next] = std::mem::take(&mut self.spare);
        let mut tallies = Vec::new();
        let top = ground.roll_up.n_levels(attribute) - 1;
        for level in 1..=top {
            let source = if level == 1 { source } else { &now };
            let step = LevelStep { attribute, level, n_lower: 0 };
            tallies.push(match level < top {
                true => self.step_on::<K, true>(ground.roll_up, source, step, &mut next),
                false => self.step_on::<K, false>(ground.roll_up, source, step, &mut next),
            });
            std::mem::swap(&mut now, &mut next);
        }
        self.spare = [now, next];
        tallies
    }

    fn n_bytes(&self) -> usize {
        self.sets.n_bytes()
    }

    fn seen(&self, ground: Ground<'a>, tallies: Box<[Tally]>) -> (Measured, Profile) {
        seen_in_tallies(ground.wanted.yardstick, tallies)
    }

    fn finish(
        _: Vec<PeopleCount>,
        ground: Ground<'a>,
        made: Vec<(usize, Box<[Tally]>)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        profiles_of_tallies(ground.wanted.yardstick, made, task)
    }
}

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// Adds a group, whose row is given.
#[inline(always)]
fn tally<K: Key>(scratch: &mut Scratch, row: &[u64]) {
    let (size, people) = (row[K::N_WORDS], row[K::N_WORDS + 1]);
    scratch.add::<1>([size & SIZE_MASK, people & HALF], (people >> 32) as u32, size >> SIZE_BITS);
}

/// The number of different values among these cells, everybody counted once by the value that tells most.
fn n_different(cells: &[u64], n_people: u64) -> u64 {
    n_told_most(cells.iter().map(|cell| cell & COUNT_MASK), n_people)
}

/// Adds up how many people have each value.
struct Sums {
    counts: Vec<u64>,
    /// Which values have any.
    used: Vec<u64>,
    /// Cells that are being put in order.
    sorted: Vec<u64>,
}

impl Sums {
    fn new(n_values: usize) -> Sums {
        let n_words = n_values.div_ceil(64).max(1);
        Sums { counts: vec![0; n_words * 64], used: vec![0; n_words], sorted: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, value: u32, n: u64) {
        let count = &mut self.counts[value as usize];
        *count = count.wrapping_add(n);
        self.used[value as usize / 64] |= 1 << (value % 64);
    }

    #[inline(always)]
    fn add_cells(&mut self, cells: &[u64]) {
        cells.iter().for_each(|cell| self.add((cell >> COUNT_BITS) as u32, cell & COUNT_MASK));
    }

    /// Adds the sums as cells to some, and begins anew.
    #[inline(always)]
    fn take(&mut self, into: &mut Vec<u64>) {
        for (i, word) in self.used.iter_mut().enumerate() {
            while *word != 0 {
                let value = i * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                into.push((value as u64) << COUNT_BITS | std::mem::take(&mut self.counts[value]));
            }
        }
    }

    /// Adds up the cells of several groups.
    #[inline(always)]
    fn unite<'c>(&mut self, groups: impl Iterator<Item = &'c [u64]> + Clone, into: &mut Vec<u64>) {
        if let Ok(counts) = <&mut [u64; 64]>::try_from(&mut self.counts[..]) {
            return unite_few(counts, groups, into);
        }
        let n_cells: usize = groups.clone().map(<[u64]>::len).sum();
        if n_cells * N_WORDS_PER_CELL < self.used.len() {
            // A few of many values: to put them in order is quicker than to look through all that there are.
            self.sorted.clear();
            groups.for_each(|cells| self.sorted.extend_from_slice(cells));
            self.sorted.sort_unstable();
            add_up_cells(&mut self.sorted, 0);
            return into.extend_from_slice(&self.sorted);
        }
        groups.for_each(|cells| self.add_cells(cells));
        self.take(into);
    }

    /// The same, with corrections.
    fn unite_corrected<'c>(
        &mut self,
        groups: impl Iterator<Item = &'c [u64]>,
        corrections: impl Iterator<Item = (u32, u64)>,
        into: &mut Vec<u64>,
    ) {
        groups.for_each(|cells| self.add_cells(cells));
        corrections.for_each(|(value, n)| self.add(value, n));
        self.take(into);
    }
}

/// The same where there are so few values that one word says which ones there are.
#[inline(always)]
fn unite_few<'c>(counts: &mut [u64; 64], groups: impl Iterator<Item = &'c [u64]>, into: &mut Vec<u64>) {
    let mut used = 0u64;
    for cells in groups {
        for cell in cells {
            let value = (cell >> COUNT_BITS) as usize % 64;
            counts[value] += cell & COUNT_MASK;
            used |= 1 << value;
        }
    }
    into.reserve(64);
    while used != 0 {
        let value = used.trailing_zeros() as usize % 64;
        used &= used - 1;
        into.push((value as u64) << COUNT_BITS | std::mem::take(&mut counts[value]));
    }
}
