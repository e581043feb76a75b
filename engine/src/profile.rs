//! What a scheme's groups look like, compressed to what requests ask about.
//!
//! The thesis annotates a scheme with one histogram per criterion: group size → groups for k-anonymity (its
//! KA-histogram), number of distinct sensitive values → groups and records for l-diversity (its SLD-histogram).
//! A profile is their joint form: (size, distinct) → groups, so that requests for both at once are exact too.

use crate::criterion::{Criteria, Group};
use crate::loss::{ONE, Steps};

/// All groups of a scheme that look the same to every criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub size: u64,
    pub n_distinct: u32,
    pub n_groups: u32,
    /// The loss of one record, summed over the groups.
    pub loss: Steps,
}

impl Entry {
    pub fn group(&self) -> Group {
        Group { size: self.size, n_distinct: self.n_distinct }
    }

    pub fn n_records(&self) -> u64 {
        self.size * u64::from(self.n_groups)
    }
}

/// The groups of one scheme; entries are distinct and increase by (size, distinct).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    entries: Box<[Entry]>,
}

/// What a scheme would publish under some criteria.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    pub n_suppressed: u64,
    /// Groups that are published.
    pub n_groups: u64,
    /// The size of the smallest published group; none when all is suppressed.
    pub smallest_group: Option<u64>,
    /// The fewest distinct sensitive values of a published group.
    pub fewest_distinct: Option<u32>,
    /// Mean NCP over all records, from 0 to 1; a suppressed record counts 1.
    pub ncp: f64,
}

impl Profile {
    /// Makes a profile of groups in any order, each with the loss of one of its records.
    pub fn of_groups(groups: impl Iterator<Item = (Group, Steps)>) -> Profile {
        let mut scratch = Scratch::default();
        groups.for_each(|(group, loss)| scratch.add(group, loss));
        scratch.profile()
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn n_groups(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.n_groups)).sum()
    }

    pub fn smallest_group(&self) -> Option<u64> {
        self.entries.first().map(|entry| entry.size)
    }

    /// How many records are in groups that fail the criteria.
    pub fn n_suppressed(&self, criteria: Criteria) -> u64 {
        match (criteria.k, criteria.l) {
            (None, None) => 0,
            (Some(k), None) => {
                let n_failing = self.entries.partition_point(|entry| entry.size < k);
                self.entries[..n_failing].iter().map(Entry::n_records).sum()
            }
            (k, Some(l)) => {
                let k = k.unwrap_or(0);
                let fails = |entry: &&Entry| entry.size < k || u64::from(entry.n_distinct) < l;
                self.entries.iter().filter(fails).map(Entry::n_records).sum()
            }
        }
    }

    /// What would be published under the criteria.
    pub fn outcome(&self, criteria: Criteria) -> Outcome {
        let mut outcome =
            Outcome { n_suppressed: 0, n_groups: 0, smallest_group: None, fewest_distinct: None, ncp: 0.0 };
        let (mut n_records, mut loss) = (0u64, 0u128);
        for entry in &self.entries {
            n_records += entry.n_records();
            if !criteria.holds(entry.group()) {
                outcome.n_suppressed += entry.n_records();
                loss += u128::from(entry.n_records()) * u128::from(ONE);
                continue;
            }
            outcome.n_groups += u64::from(entry.n_groups);
            outcome.smallest_group.get_or_insert(entry.size);
            let fewest = outcome.fewest_distinct.get_or_insert(entry.n_distinct);
            *fewest = (*fewest).min(entry.n_distinct);
            loss += u128::from(entry.loss) * u128::from(entry.size);
        }
        if n_records > 0 {
            outcome.ncp = (loss as f64 / (n_records as f64 * ONE as f64)).min(1.0);
        }
        outcome
    }

    /// The bytes that the profile takes.
    pub fn n_bytes(&self) -> usize {
        std::mem::size_of_val(&*self.entries)
    }
}

/// Gathers groups into entries; small groups, which are the many, are counted in arrays that fit the nearest cache.
pub struct Scratch {
    /// By size and number of distinct values, which is no greater than the size: a triangle.
    n_groups: Vec<u32>,
    loss: Vec<Steps>,
    /// Which places of the triangle are in use.
    used: Vec<u64>,
    large: Vec<Entry>,
}

/// Groups smaller than this are small.
const N_SMALL: usize = 32;
const N_TRIANGLE: usize = N_SMALL * (N_SMALL + 1) / 2;

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            n_groups: vec![0; N_TRIANGLE],
            loss: vec![0; N_TRIANGLE],
            used: vec![0; N_TRIANGLE.div_ceil(64)],
            large: Vec::new(),
        }
    }
}

impl Scratch {
    #[inline(always)]
    pub(crate) fn add(&mut self, group: Group, loss: Steps) {
        let (size, n_distinct) = (group.size as usize, group.n_distinct as usize);
        debug_assert!(n_distinct <= size, "a group has no more values than records");
        let at = size * (size + 1) / 2 + n_distinct;
        if size < N_SMALL && at < N_TRIANGLE {
            self.n_groups[at] += 1;
            self.loss[at] += loss;
            self.used[at / 64] |= 1 << (at % 64);
        } else {
            self.large.push(Entry { size: group.size, n_distinct: group.n_distinct, n_groups: 1, loss });
        }
    }

    /// The profile of the groups that were added; leaves the scratch empty.
    pub(crate) fn profile(&mut self) -> Profile {
        let n_used: u32 = self.used.iter().map(|word| word.count_ones()).sum();
        self.large.sort_unstable_by_key(|entry| (entry.size, entry.n_distinct));
        let mut entries: Vec<Entry> = Vec::with_capacity(n_used as usize + self.large.len());
        let (mut size, mut row) = (0, 0);
        for (i, word) in self.used.iter_mut().enumerate() {
            while *word != 0 {
                let at = i * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                while at > row + size {
                    row += size + 1;
                    size += 1;
                }
                entries.push(Entry {
                    size: size as u64,
                    n_distinct: (at - row) as u32,
                    n_groups: std::mem::take(&mut self.n_groups[at]),
                    loss: std::mem::take(&mut self.loss[at]),
                });
            }
        }
        for entry in self.large.drain(..) {
            match entries.last_mut() {
                Some(last) if last.group() == entry.group() => {
                    last.n_groups += 1;
                    last.loss += entry.loss;
                }
                _ => entries.push(entry),
            }
        }
        Profile { entries: entries.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The histograms of the thesis, Figures 2.6 and 2.7, and what they say about suppression.
    #[test]
    fn the_histograms_of_the_ten_records() {
        let group = |size, n_distinct| (Group { size, n_distinct }, 0);
        let at_113 = Profile::of_groups([group(4, 3), group(3, 3), group(3, 3)].into_iter());
        let sizes: Vec<_> = at_113.entries().iter().map(|e| (e.size, e.n_groups)).collect();
        assert_eq!(sizes, [(3, 2), (4, 1)]);
        let k = |k| Criteria { k: Some(k), l: None };
        assert_eq!([3, 4, 5].map(|value| at_113.n_suppressed(k(value))), [0, 6, 10]);

        let at_223 = Profile::of_groups([group(6, 5), group(4, 3)].into_iter());
        let distinct: Vec<_> = at_223.entries().iter().map(|e| (e.n_distinct, e.n_groups, e.n_records())).collect();
        assert_eq!(distinct, [(3, 1, 4), (5, 1, 6)]);
        let l = |l| Criteria { k: None, l: Some(l) };
        assert_eq!([3, 4, 6].map(|value| at_223.n_suppressed(l(value))), [0, 4, 10]);
    }

    #[test]
    fn small_and_large_groups_meet_in_one_order() {
        let mut scratch = Scratch::default();
        for size in [1, 31, 32, 33, 31, 5000, 32] {
            for n_distinct in [1, 20, 32, 33] {
                let n_distinct = n_distinct.min(size as u32);
                scratch.add(Group { size, n_distinct }, 7);
            }
        }
        let entries = scratch.profile().entries;
        assert!(entries.windows(2).all(|w| (w[0].size, w[0].n_distinct) < (w[1].size, w[1].n_distinct)));
        let n_groups: u32 = entries.iter().map(|entry| entry.n_groups).sum();
        assert_eq!(n_groups, 28);
        assert_eq!(entries.iter().map(|entry| entry.loss).sum::<u64>(), 28 * 7);
        assert!(scratch.profile().entries.is_empty());
    }
}
