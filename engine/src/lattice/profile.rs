//! What a scheme's groups look like, compressed to what requests ask about.
//!
//! The thesis annotates a scheme with one histogram per criterion: group size → groups for k-anonymity (its
//! KA-histogram), number of distinct sensitive values → groups and records for l-diversity (its SLD-histogram).
//! A profile is their joint form, for any criteria: a *signature* is everything that criteria see of a group, and a profile
//! says how many groups have each signature. Signatures are stored once for all schemes, since most groups of one scheme are
//! groups of its neighbours too.

use crate::criterion::{Measured, Test};
use crate::loss::{LOSS_ONE, Steps};

/// How many bits of a word hold a number of records.
pub(crate) const SIZE_BITS: u32 = 38;
pub(crate) const SIZE_MASK: u64 = (1 << SIZE_BITS) - 1;

/// All groups of a scheme that look the same to every criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the signature among those of the lattice, which are in the order of size.
    pub signature: u32,
    /// How many groups have it.
    pub n_groups: u32,
    /// The loss of one record, summed over the groups.
    pub loss: Steps,
}

/// The groups of one scheme; entries are distinct and increase by signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    entries: Box<[Entry]>,
    /// By entry, the entropy of one record summed over the groups, see [`crate::loss`]; empty where not asked for.
    entropies: Box<[Steps]>,
}

/// Fewer entries are sorted.
const N_SORTED: usize = 64;

/// Where entries are put in the order of their new numbers without being compared: every number has a place of its own.
pub(crate) struct Renumbering {
    /// By number, the loss and the groups of the entries that get it.
    sums: Vec<(Steps, u32)>,
    /// Which numbers are in use, a bit for each; and which words of these bits.
    used: Vec<u64>,
    words: Vec<u64>,
}

impl Renumbering {
    /// For numbers below `n`.
    pub(crate) fn new(n: usize) -> Renumbering {
        let n_words = n.div_ceil(64);
        Renumbering { sums: vec![(0, 0); n], used: vec![0; n_words], words: vec![0; n_words.div_ceil(64)] }
    }

    #[inline]
    fn add(&mut self, number: u32, entry: &Entry) {
        let at = number as usize;
        self.used[at / 64] |= 1 << (at % 64);
        self.words[at / 4096] |= 1 << (at / 64 % 64);
        let sum = &mut self.sums[at];
        *sum = (sum.0 + entry.loss, sum.1 + entry.n_groups);
    }

    /// All that was added, in order; nothing is left.
    fn take_all(&mut self, entries: &mut Vec<Entry>) {
        for (i, words) in self.words.iter_mut().enumerate() {
            while *words != 0 {
                let word = i * 64 + words.trailing_zeros() as usize;
                *words &= *words - 1;
                let mut bits = std::mem::take(&mut self.used[word]);
                while bits != 0 {
                    let at = word * 64 + bits.trailing_zeros() as usize;
                    bits &= bits - 1;
                    let (loss, n_groups) = std::mem::take(&mut self.sums[at]);
                    entries.push(Entry { signature: at as u32, n_groups, loss });
                }
            }
        }
    }
}

/// What a scheme would publish under some criteria.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How many records are lost.
    pub n_suppressed: u64,
    /// Groups that are published.
    pub n_groups: u64,
    /// By measure of the lattice, the least private value of a published group; none when all is suppressed.
    pub reached: Option<Vec<u64>>,
    /// Mean NCP over all records, from 0 to 1; a suppressed record counts 1.
    pub ncp: f64,
    /// The squares of the sizes of published groups, added up.
    pub n_squares: u128,
    /// The entropies of published records, added up; 0 where not asked for.
    pub entropy: u128,
}

impl Profile {
    /// A profile whose signatures are numbered in a way of their own, in any order.
    pub(crate) fn provisional(entries: Vec<Entry>, entropies: Vec<Steps>) -> Profile {
        Profile { entries: entries.into(), entropies: entropies.into() }
    }

    /// The same profile with signatures numbered by `number`, in order, and one entry per signature.
    pub(crate) fn renumbered(self, number: impl Fn(u32) -> u32) -> Profile {
        // Signature and place in one number, which is quick to sort.
        let key = |(place, entry): (usize, &Entry)| u64::from(number(entry.signature)) << 32 | place as u64;
        let mut order: Vec<u64> = self.entries.iter().enumerate().map(key).collect();
        order.sort_unstable();
        let mut entries: Vec<Entry> = Vec::with_capacity(order.len());
        let mut entropies: Vec<Steps> = Vec::with_capacity(self.entropies.len());
        for key in order {
            let (signature, place) = ((key >> 32) as u32, key as u32 as usize);
            let Entry { n_groups, loss, .. } = self.entries[place];
            match entries.last_mut() {
                Some(last) if last.signature == signature => {
                    last.n_groups += n_groups;
                    last.loss += loss;
                    entropies.iter_mut().last().into_iter().for_each(|entropy| *entropy += self.entropies[place]);
                }
                _ => {
                    entries.push(Entry { signature, n_groups, loss });
                    entropies.extend(self.entropies.get(place));
                }
            }
        }
        Profile { entries: entries.into(), entropies: entropies.into() }
    }

    /// The same with room to work in, which makes it quicker where many profiles are numbered.
    pub(crate) fn renumbered_in(self, room: &mut Renumbering, number: impl Fn(u32) -> u32) -> Profile {
        if !self.entropies.is_empty() || self.entries.len() < N_SORTED {
            return self.renumbered(number);
        }
        let mut entries = self.entries.into_vec();
        for entry in &entries {
            room.add(number(entry.signature), entry);
        }
        entries.clear();
        room.take_all(&mut entries);
        Profile { entries: entries.into(), entropies: Box::default() }
    }

    /// The entries, increasing by signature.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entropy of one record, summed over the groups of an entry; 0 where not asked for.
    pub fn entropy(&self, entry: usize) -> Steps {
        self.entropies.get(entry).copied().unwrap_or(0)
    }

    /// How many groups there are.
    pub fn n_groups(&self) -> u64 {
        self.entries.iter().map(|entry| u64::from(entry.n_groups)).sum()
    }

    /// How many records are in groups that fail the test.
    pub fn n_suppressed(&self, signatures: &Measured, test: &Test) -> u64 {
        let n_records = |entry: &Entry| signatures.n_records(entry.signature as usize) * u64::from(entry.n_groups);
        if let Some(k) = test.only_size() {
            let n_failing = self.entries.partition_point(|entry| signatures.size(entry.signature as usize) < k);
            return self.entries[..n_failing].iter().map(n_records).sum();
        }
        self.entries.iter().filter(|entry| !test.holds(entry.signature as usize)).map(n_records).sum()
    }

    /// The same, none where it is more than `n_max`. Small groups come first, and fail most: mostly a few are enough.
    pub(crate) fn n_suppressed_up_to(&self, signatures: &Measured, test: &Test, n_max: u64) -> Option<u64> {
        if test.only_size().is_some() {
            return Some(self.n_suppressed(signatures, test)).filter(|n| *n <= n_max);
        }
        let mut n_suppressed = 0;
        for entry in &*self.entries {
            if !test.holds(entry.signature as usize) {
                n_suppressed += signatures.n_records(entry.signature as usize) * u64::from(entry.n_groups);
                if n_suppressed > n_max {
                    return None;
                }
            }
        }
        Some(n_suppressed)
    }

    /// What would be published under a test.
    pub fn outcome(&self, signatures: &Measured, test: &Test) -> Outcome {
        let mut outcome = Outcome { n_suppressed: 0, n_groups: 0, reached: None, ncp: 0.0, n_squares: 0, entropy: 0 };
        let (mut n_records, mut loss) = (0u64, 0u128);
        for (i, entry) in self.entries.iter().enumerate() {
            let signature = signatures.of(entry.signature as usize);
            let size = signatures.n_records(entry.signature as usize);
            let of_entry = size * u64::from(entry.n_groups);
            n_records += of_entry;
            if !test.holds(entry.signature as usize) {
                outcome.n_suppressed += of_entry;
                loss += u128::from(of_entry) * u128::from(LOSS_ONE);
                continue;
            }
            outcome.n_groups += u64::from(entry.n_groups);
            outcome.n_squares += u128::from(size) * u128::from(of_entry);
            loss += u128::from(entry.loss) * u128::from(size);
            outcome.entropy += u128::from(self.entropy(i)) * u128::from(size);
            let reached = outcome.reached.get_or_insert_with(|| signature.to_vec());
            for ((reached, value), measure) in reached.iter_mut().zip(signature).zip(signatures.measures()) {
                *reached = if measure.is_at_least() { (*reached).min(*value) } else { (*reached).max(*value) };
            }
        }
        if n_records > 0 {
            outcome.ncp = (loss as f64 / (n_records as f64 * LOSS_ONE as f64)).min(1.0);
        }
        outcome
    }

    /// The bytes that the profile takes.
    pub fn n_bytes(&self) -> usize {
        size_of_val(&*self.entries) + size_of_val(&*self.entropies)
    }
}

/// All groups of a scheme of the same size, of as many people and with as many distinct sensitive values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many records, in the lower bits; above them, how many more than people where these are counted.
    sizes: u64,
    pub(crate) n_distinct: u32,
    pub(crate) n_groups: u32,
    pub(crate) loss: Steps,
}

/// How many more records than people the tallies of one table can tell.
pub(crate) const N_MORE_MAX: u64 = u64::MAX >> SIZE_BITS;

impl Tally {
    pub(crate) fn size(&self) -> u64 {
        self.sizes & SIZE_MASK
    }

    /// As many as records where people are not counted.
    pub(crate) fn n_people(&self) -> u64 {
        self.size() - (self.sizes >> SIZE_BITS)
    }
}

/// Gathers groups into tallies; small groups, which are the many, are counted in arrays that fit the nearest cache.
pub(crate) struct Scratch {
    /// By size and number of distinct values, which is no greater than the size: a triangle.
    n_groups: Vec<u32>,
    loss: Vec<Steps>,
    /// Which places of the triangle are in use.
    used: Vec<u64>,
    large: Vec<Tally>,
}

/// Groups smaller than this are small.
const N_SMALL: usize = 32;
const N_TRIANGLE: usize = N_SMALL * (N_SMALL + 1) / 2;
/// The same where people are counted: with one number more, fewer sizes fit the same room.
const N_SMALL_OF_PEOPLE: usize = 13;

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
    /// Adds a group of so many records and people; `P` is 1 where people are counted.
    #[inline(always)]
    pub(crate) fn add<const P: usize>(&mut self, [size, n_people]: [u64; 2], n_distinct: u32, loss: Steps) {
        debug_assert!(u64::from(n_distinct) <= n_people && n_people <= size, "no more values than people and records");
        let (at, n_small) = match P {
            0 => ((size as usize).wrapping_mul(size as usize + 1) / 2 + n_distinct as usize, N_SMALL),
            _ => (place_of_people(size as usize, n_people as usize) + n_distinct as usize, N_SMALL_OF_PEOPLE),
        };
        if size < n_small as u64 && at < N_TRIANGLE {
            self.n_groups[at] += 1;
            self.loss[at] += loss;
            self.used[at / 64] |= 1 << (at % 64);
        } else {
            let sizes = size | (size - n_people) << SIZE_BITS;
            self.large.push(Tally { sizes, n_distinct, n_groups: 1, loss });
        }
    }

    /// The groups that were added, one tally of each sort, where records are counted by size and number of distinct values;
    /// leaves the scratch empty.
    pub(crate) fn tallies<const P: usize>(&mut self) -> Box<[Tally]> {
        let n_used: u32 = self.used.iter().map(|word| word.count_ones()).sum();
        self.large.sort_unstable_by_key(|tally| (tally.sizes, tally.n_distinct));
        let mut tallies: Vec<Tally> = Vec::with_capacity(n_used as usize + self.large.len());
        // The row of the triangle that a place is in: a size, or a size and so many people.
        let (mut size, mut n_people, mut row) = (0, 0, 0);
        for (i, word) in self.used.iter_mut().enumerate() {
            while *word != 0 {
                let at = i * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                while at > row + n_people {
                    row += n_people + 1;
                    match P > 0 && n_people < size {
                        true => n_people += 1,
                        false => (size, n_people) = (size + 1, if P > 0 { 0 } else { size + 1 }),
                    }
                }
                tallies.push(Tally {
                    sizes: size as u64 | ((size - n_people) as u64) << SIZE_BITS,
                    n_distinct: (at - row) as u32,
                    n_groups: std::mem::take(&mut self.n_groups[at]),
                    loss: std::mem::take(&mut self.loss[at]),
                });
            }
        }
        let sizes = |tally: &Tally| (tally.sizes, tally.n_distinct);
        for tally in self.large.drain(..) {
            match tallies.last_mut() {
                Some(last) if sizes(last) == sizes(&tally) => {
                    last.n_groups += 1;
                    last.loss += tally.loss;
                }
                _ => tallies.push(tally),
            }
        }
        tallies.into()
    }
}

/// The place of the first group of so many records and people among small ones.
#[inline(always)]
fn place_of_people(size: usize, n_people: usize) -> usize {
    let tetrahedron = size.wrapping_mul(size.wrapping_add(1)).wrapping_mul(size.wrapping_add(2)) / 6;
    tetrahedron.wrapping_add(n_people.wrapping_mul(n_people.wrapping_add(1)) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::{Criteria, Measure};

    #[test]
    fn numbers_with_places_of_their_own_and_numbers_that_are_sorted_give_the_same_profile() {
        let mut room = Renumbering::new(9_000);
        let mut random = crate::random::Random::new(1);
        for n in [0, 1, 63, 64, 65, 200, 3_000] {
            let mut entry =
                |signature: u32| Entry { signature, n_groups: 1 + random.below(5) as u32, loss: random.below(1_000) };
            let entries: Vec<Entry> = (0..n).map(&mut entry).collect();
            let profile = Profile::provisional(entries, Vec::new());
            // Several signatures get the same number.
            let number = |signature: u32| (signature * 7_919 % 9_000) / 2 * 2;
            assert_eq!(profile.clone().renumbered_in(&mut room, number), profile.renumbered(number), "{n} entries");
        }
    }

    /// The histograms of the thesis, Figures 2.6 and 2.7, and what they say about suppression.
    #[test]
    fn the_histograms_of_the_ten_records() {
        let signatures = Measured::new(&[Measure::Size, Measure::Distinct(0)], false, vec![3, 3, 4, 3, 6, 5]);
        let profile = |signatures: &[u32]| {
            let entry = |&signature: &u32| Entry { signature, n_groups: 1, loss: 0 };
            Profile::provisional(signatures.iter().map(entry).collect(), Vec::new()).renumbered(|signature| signature)
        };
        let n_suppressed =
            |profile: &Profile, k, l| profile.n_suppressed(&signatures, &signatures.test(&Criteria::of(k, l)));
        let at_113 = profile(&[1, 0, 0]);
        let groups: Vec<_> = at_113.entries().iter().map(|entry| (entry.signature, entry.n_groups)).collect();
        assert_eq!(groups, [(0, 2), (1, 1)]);
        assert_eq!([3, 4, 5].map(|k| n_suppressed(&at_113, Some(k), None)), [0, 6, 10]);
        let at_223 = profile(&[2, 1]);
        assert_eq!([3, 4, 6].map(|l| n_suppressed(&at_223, None, Some(l))), [0, 4, 10]);
        assert_eq!(n_suppressed(&at_223, Some(5), Some(3)), 4);
    }

    #[test]
    fn small_and_large_groups_meet_in_one_order() {
        let mut scratch = Scratch::default();
        for size in [1, 31, 32, 33, 31, 5000, 32] {
            for n_distinct in [1, 20, 32, 33] {
                scratch.add::<0>([size, size], n_distinct.min(size as u32), 7);
            }
        }
        let tallies = scratch.tallies::<0>();
        assert!(tallies.windows(2).all(|w| (w[0].size(), w[0].n_distinct) < (w[1].size(), w[1].n_distinct)));
        assert_eq!(tallies.iter().map(|tally| tally.n_groups).sum::<u32>(), 28);
        assert_eq!(tallies.iter().map(|tally| tally.loss).sum::<u64>(), 28 * 7);
        assert!(scratch.tallies::<0>().is_empty());
    }

    #[test]
    fn small_and_large_groups_of_people_meet_in_one_order() {
        let mut scratch = Scratch::default();
        let mut added = std::collections::BTreeMap::new();
        for size in [1, 2, 5, 12, 13, 14, 40, 5000, 12] {
            for n_people in [1, 2, 7, 12, 13, 30].map(|n: u64| n.min(size)) {
                for n_distinct in [1, 2, 12, 40].map(|n: u64| n.min(n_people)) {
                    scratch.add::<1>([size, n_people], n_distinct as u32, 3);
                    *added.entry((size, n_people, n_distinct as u32)).or_insert(0) += 1;
                }
            }
        }
        let tallies = scratch.tallies::<1>();
        let of = |tally: &Tally| ((tally.size(), tally.n_people(), tally.n_distinct), tally.n_groups);
        assert_eq!(tallies.len(), added.len());
        assert_eq!(tallies.iter().map(of).collect::<std::collections::BTreeMap<_, _>>(), added);
        assert!(tallies.iter().all(|tally| tally.loss == u64::from(tally.n_groups) * 3));
    }
}
