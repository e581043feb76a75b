//! Distinct values and those that occur once: counted while that fits, estimated beyond.

use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasher, Hasher};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::sentences::grouped;

/// How many there are: counted, or estimated where counting would take too much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount {
    pub n: u64,
    pub is_exact: bool,
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_exact {
            true => f.write_str(&grouped(self.n)),
            false => {
                // Three digits are as much as an estimate deserves.
                let unit = 10u64.pow(self.n.max(1).ilog10().saturating_sub(2));
                write!(f, "about {}", grouped((self.n + unit / 2) / unit * unit))
            }
        }
    }
}

/// Distinct values and those that occur once, by their hashes.
///
/// Beyond [`N_HASHES_MAX`] only those hashes are kept that begin with one, two, … zero bits:
/// a fair sample of the distinct values, with exact counts (M. Wegman's adaptive sampling).
#[derive(Default)]
pub(crate) struct DistinctCounter {
    /// For each hash, how often it came.
    n_came: FxHashMap<u64, u32>,
    n_zero_bits: u32,
}

/// What fits into a hash map of 2²⁰ places, 18 MB; an estimate from half as many is right within 0.3 %.
pub(crate) const N_HASHES_MAX: usize = 900_000;

impl DistinctCounter {
    /// Adds one value; false if it is known not to be new.
    pub(crate) fn add(&mut self, hash: u64) -> bool {
        self.add_many(hash, 1)
    }

    /// The same for a value that came so many times.
    pub(crate) fn add_many(&mut self, hash: u64, n_times: u64) -> bool {
        let n_times = u32::try_from(n_times).unwrap_or(u32::MAX);
        if hash.leading_zeros() < self.n_zero_bits {
            return true;
        }
        match self.n_came.entry(hash) {
            Entry::Occupied(mut entry) => {
                let n = entry.get_mut();
                *n = n.saturating_add(n_times);
                return false;
            }
            Entry::Vacant(entry) => entry.insert(n_times),
        };
        self.shrink(0);
        true
    }

    /// Keeps as many as fit, and none with fewer zero bits than these.
    fn shrink(&mut self, n_zero_bits: u32) {
        while self.n_zero_bits < n_zero_bits || self.n_came.len() > N_HASHES_MAX {
            self.n_zero_bits += 1;
            self.n_came.retain(|hash, _| hash.leading_zeros() >= self.n_zero_bits);
        }
    }

    /// Adds what another has counted.
    pub(crate) fn merge(&mut self, other: DistinctCounter) {
        self.shrink(other.n_zero_bits);
        for (hash, n) in other.n_came {
            if hash.leading_zeros() >= self.n_zero_bits {
                let ours = self.n_came.entry(hash).or_default();
                *ours = ours.saturating_add(n);
                self.shrink(0);
            }
        }
    }

    /// How often a value came; nothing where that is not known.
    pub(crate) fn n_came(&self, hash: u64) -> Option<u64> {
        self.n_came.get(&hash).map(|n| u64::from(*n))
    }

    /// How many records have a value that came fewer than `k` times.
    pub(crate) fn n_rare(&self, k: u64) -> Amount {
        let n = self.n_came.values().map(|n| u64::from(*n)).filter(|n| *n < k).sum::<u64>();
        self.amount(n as usize)
    }

    pub(crate) fn n_distinct(&self) -> Amount {
        self.amount(self.n_came.len())
    }

    pub(crate) fn n_unique(&self) -> Amount {
        self.amount(self.n_came.values().filter(|n| **n == 1).count())
    }

    fn amount(&self, n: usize) -> Amount {
        Amount { n: (n as u64) << self.n_zero_bits, is_exact: self.n_zero_bits == 0 }
    }
}

pub(crate) fn hash_text(text: &str) -> u64 {
    hash_bytes(text.as_bytes())
}

/// As a tally takes it.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(bytes);
    mixed(hasher.finish())
}

/// Spreads every bit over all others (the finalizer of MurmurHash3), as sampling by leading bits needs.
pub(crate) fn mixed(mut hash: u64) -> u64 {
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_what_fits_counts_become_good_estimates() {
        let n = 3 * N_HASHES_MAX as u64;
        let counted = |numbers: std::ops::Range<u64>| {
            let mut tally = DistinctCounter::default();
            for i in numbers {
                tally.add(mixed(i));
                if i % 4 == 0 {
                    tally.add(mixed(i));
                }
            }
            tally
        };
        // One of a part that still fits and one that does not, added up.
        let mut tally = counted(0..n / 4);
        assert!(tally.n_distinct() == Amount { n: n / 4, is_exact: true });
        tally.merge(counted(n / 4..n));
        assert!(tally.n_came.len() <= N_HASHES_MAX);
        let is_near = |amount: Amount, n: u64| !amount.is_exact && amount.n.abs_diff(n) * 100 < n;
        assert!(is_near(tally.n_distinct(), n), "{:?} of {n}", tally.n_distinct());
        assert!(is_near(tally.n_unique(), n / 4 * 3), "{:?} of {}", tally.n_unique(), n / 4 * 3);
        assert_eq!(Amount { n: 5_312_345, is_exact: false }.to_string(), "about 5,310,000");
    }
}
