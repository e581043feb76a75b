//! The people whom some generalization of a record may fit, as bits that are counted sixteen at a time.

use std::ops::Range;

use crate::recode::per_record::models::Rung;

/// How many of some people fit up to each level of each attribute.
#[derive(Default)]
pub(super) struct NAtLevels {
    n_levels: usize,
    /// By attribute and level; no limit where all of them do.
    n: Vec<u64>,
    /// Those with a limit, the most people first, each as their number, level and attribute.
    pub(super) in_order: Vec<(u64, u8, u16)>,
}

impl NAtLevels {
    /// At least 1: the person is there.
    pub(super) fn up_to(&self, attribute: usize, level: u8) -> u64 {
        self.n[attribute * self.n_levels + usize::from(level)].max(1)
    }
}

/// The rows of a dictionary that matter for a record.
pub(super) struct Near {
    /// By attribute, the greatest level, and the bit of its level 0.
    tops: Vec<u8>,
    bits: Vec<usize>,
    n_words: usize,
    /// Row by row, one bit per attribute and level below the top: whether it fits there.
    masks: Vec<u64>,
    /// By attribute and row, the utility of the lowest level at which the row fits there, and of those of all attributes
    /// after it.
    utilities: Vec<Vec<i64>>,
    /// By row.
    sizes: Vec<u64>,
}

impl Near {
    pub(super) fn new(tops: Vec<u8>) -> Near {
        let mut n_bits = 0;
        let first_bit = |top: &u8| {
            n_bits += usize::from(*top);
            n_bits - usize::from(*top)
        };
        let bits = tops.iter().map(first_bit).collect();
        let utilities = vec![Vec::new(); tops.len()];
        Near { tops, bits, n_words: n_bits.div_ceil(64).max(1), masks: Vec::new(), utilities, sizes: Vec::new() }
    }

    pub(super) fn push(&mut self, levels: &[u8], chains: &[Vec<Rung>], utility: i64, size: u64) {
        let mut rest = utility;
        let begin = self.masks.len();
        self.masks.resize(begin + self.n_words, 0);
        for (attribute, &level) in levels.iter().enumerate() {
            self.utilities[attribute].push(rest);
            rest -= chains[attribute][usize::from(level)].utility;
            for bit in usize::from(level)..usize::from(self.tops[attribute]) {
                let bit = self.bits[attribute] + bit;
                self.masks[begin + bit / 64] |= 1 << (bit % 64);
            }
        }
        self.sizes.push(size);
    }

    pub(super) fn n_rows(&self) -> usize {
        self.sizes.len()
    }

    pub(super) fn size(&self, row: u32) -> u64 {
        self.sizes[row as usize]
    }

    /// The utility of what a row fits, of the attributes from `first` on.
    pub(super) fn utility_from(&self, row: u32, first: usize) -> i64 {
        self.utilities[first][row as usize]
    }

    /// The bits that a row must have to fit a generalization.
    pub(super) fn mask(&self, levels: &[u8]) -> Vec<u64> {
        let mut mask = vec![0; self.n_words];
        for ((&level, &top), &bit) in levels.iter().zip(&self.tops).zip(&self.bits) {
            if level < top {
                let bit = bit + usize::from(level);
                mask[bit / 64] |= 1 << (bit % 64);
            }
        }
        mask
    }

    pub(super) fn fits(&self, row: u32, mask: &[u64]) -> bool {
        let of_row = &self.masks[row as usize * self.n_words..][..self.n_words];
        of_row.iter().zip(mask).fold(0, |missing, (of_row, mask)| missing | (mask & !of_row)) == 0
    }

    /// Adds those of some rows that fit a corner, and something with so much utility below it from attribute `first` on.
    /// Says how many people they are.
    pub(super) fn fitting(
        &self,
        rows: &mut Vec<u32>,
        some: Range<usize>,
        corner: &[u8],
        first: usize,
        needed: i64,
    ) -> u64 {
        let mask = self.mask(corner);
        let (begin, utilities) = (rows.len(), &self.utilities[first][..]);
        rows.resize(begin + some.len(), 0);
        let (old, new) = rows.split_at_mut(begin);
        let (mut n_rows, mut n_people) = (0, 0);
        // Half of the rows fit, and nobody can guess which: every row is written, and the next one over it if it did not.
        for &row in &old[some] {
            let fits = self.fits(row, &mask) & (utilities[row as usize] >= needed);
            new[n_rows] = row;
            n_rows += usize::from(fits);
            n_people += self.size(row) * u64::from(fits);
        }
        rows.truncate(begin + n_rows);
        n_people
    }

    /// Moves a corner down to where it still fits all of some rows that it fits: that says more.
    pub(super) fn lower_to_all(&self, rows: &[u32], corner: &mut [u8], first: usize) {
        // The higher levels of an attribute that is in two words are in the second.
        for word in (self.bits[first] / 64..self.n_words).rev() {
            let of_row = |row: &u32| self.masks[*row as usize * self.n_words + word];
            let common = rows.iter().map(of_row).fold(u64::MAX, |common, mask| common & mask);
            for (level, &bit) in corner.iter_mut().zip(&self.bits).skip(first) {
                let has = |level: u8| {
                    let bit = bit + usize::from(level);
                    bit / 64 == word && common >> (bit % 64) & 1 == 1
                };
                while *level > 0 && has(*level - 1) {
                    *level -= 1;
                }
            }
        }
    }

    /// How many people of some rows fit, by attribute from `first` on and by level below a corner that all of them fit.
    pub(super) fn count_levels(&self, rows: &[u32], corner: &[u8], first: usize, counted: &mut NAtLevels) {
        let n_levels = usize::from(self.tops.iter().max().copied().unwrap_or(0)) + 1;
        counted.n_levels = n_levels;
        counted.n.clear();
        counted.n.resize(n_levels * self.tops.len(), u64::MAX);
        let mut n_of_bits = [0u64; 64];
        for word in self.bits[first] / 64..self.n_words {
            n_of_bits.fill(0);
            self.count_bits(rows, word, &mut n_of_bits);
            for ((corner, &bit), n) in
                corner.iter().zip(&self.bits).zip(counted.n.chunks_exact_mut(n_levels)).skip(first)
            {
                let of_levels = n.iter_mut().enumerate().take(usize::from(*corner));
                for (level, n) in of_levels.filter(|(level, _)| (bit + level) / 64 == word) {
                    *n = n_of_bits[(bit + level) % 64];
                }
            }
        }
        counted.in_order.clear();
        for (attribute, (corner, n)) in corner.iter().zip(counted.n.chunks_exact(n_levels)).enumerate().skip(first) {
            let of_levels = n.iter().enumerate().take(usize::from(*corner));
            counted.in_order.extend(of_levels.map(|(level, n)| ((*n).max(1), level as u8, attribute as u16)));
        }
        counted.in_order.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// How many people have each bit of one word of the masks. Sixteen rows at a time are added as a whole, bit by bit side
    /// by side (Harley and Seal's adders); those who are several people are added one by one.
    pub(super) fn count_bits(&self, rows: &[u32], word: usize, n_of_bits: &mut [u64; 64]) {
        fn sum(a: u64, b: u64, c: u64) -> (u64, u64) {
            let half = a ^ b;
            ((a & b) | (half & c), half ^ c)
        }
        const BYTES: u64 = 0x0101_0101_0101_0101;
        let mask = |row: u32| self.masks[row as usize * self.n_words + word];
        let (mut ones, mut twos, mut fours, mut eights) = (0u64, 0u64, 0u64, 0u64);
        // Bit j + 8 i is counted in byte i of the j-th, in sixteens.
        let mut sixteens = [0u64; 8];
        let mut n_chunks = 0;
        let mut pour = |sixteens: &mut [u64; 8]| {
            for (j, bytes) in sixteens.iter_mut().enumerate() {
                bytes.to_le_bytes().iter().enumerate().for_each(|(i, n)| n_of_bits[j + 8 * i] += 16 * u64::from(*n));
                *bytes = 0;
            }
        };
        for chunk in rows.chunks(16) {
            let mut of_rows = [0u64; 16];
            for (of_row, &row) in of_rows.iter_mut().zip(chunk) {
                *of_row = if self.sizes[row as usize] == 1 { mask(row) } else { 0 };
            }
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = of_rows;
            let (two_a, one) = sum(ones, a, b);
            let (two_b, one) = sum(one, c, d);
            let (four_a, two) = sum(twos, two_a, two_b);
            let (two_a, one) = sum(one, e, f);
            let (two_b, one) = sum(one, g, h);
            let (four_b, two) = sum(two, two_a, two_b);
            let (eight_a, four) = sum(fours, four_a, four_b);
            let (two_a, one) = sum(one, i, j);
            let (two_b, one) = sum(one, k, l);
            let (four_a, two) = sum(two, two_a, two_b);
            let (two_a, one) = sum(one, m, n);
            let (two_b, one) = sum(one, o, p);
            let (four_b, two) = sum(two, two_a, two_b);
            let (eight_b, four) = sum(four, four_a, four_b);
            let (sixteen, eight) = sum(eights, eight_a, eight_b);
            (ones, twos, fours, eights) = (one, two, four, eight);
            sixteens.iter_mut().enumerate().for_each(|(j, bytes)| *bytes += (sixteen >> j) & BYTES);
            n_chunks += 1;
            if n_chunks % 255 == 0 {
                pour(&mut sixteens);
            }
        }
        pour(&mut sixteens);
        for (bit, n) in n_of_bits.iter_mut().enumerate() {
            let of = |plane: u64| plane >> bit & 1;
            *n += of(ones) + 2 * of(twos) + 4 * of(fours) + 8 * of(eights);
        }
        for &row in rows.iter().filter(|&&row| self.sizes[row as usize] != 1) {
            let (mut bits, size) = (mask(row), self.size(row));
            while bits != 0 {
                n_of_bits[bits.trailing_zeros() as usize] += size;
                bits &= bits - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Rows with random levels, of more bits than one word has, some of several people.
    fn near(random: &mut Random, tops: &[u8], n_rows: usize) -> (Near, Vec<Vec<u8>>) {
        let chain = |top: &u8| {
            let rung = |level: u8| Rung {
                label: 0,
                utility: 10 - i64::from(level),
                sensitivity: 0,
                unrounded: 0.0,
                n_fitting: 0,
                price: 0.0,
            };
            (0..=*top).map(rung).collect()
        };
        let chains: Vec<Vec<Rung>> = tops.iter().map(chain).collect();
        let mut near = Near::new(tops.to_vec());
        let mut rows = Vec::new();
        for _ in 0..n_rows {
            let row: Vec<u8> = tops.iter().map(|top| random.below(u64::from(*top) + 1) as u8).collect();
            let utility = row.iter().map(|level| 10 - i64::from(*level)).sum();
            let size = if random.below(4) == 0 { 1 + random.below(5) } else { 1 };
            near.push(&row, &chains, utility, size);
            rows.push(row);
        }
        (near, rows)
    }

    #[test]
    fn rows_are_counted_as_one_by_one() {
        let mut random = Random::new(3);
        for (tops, n_rows) in [(vec![4; 20], 5_000), (vec![1, 7, 0, 3], 700), (vec![9; 8], 40), (vec![2; 32], 3)] {
            let (near, rows) = near(&mut random, &tops, n_rows);
            for first in 0..tops.len() {
                // Mostly high: a row has to fit all attributes at once.
                let level = |top: &u8| *top - (random.below(8) / 7).min(u64::from(*top)) as u8;
                let corner: Vec<u8> = tops.iter().map(level).collect();
                let needed = (0..tops.len() - first).map(|_| 6 + random.below(3) as i64).sum();
                let fits = |row: &[u8], corner: &[u8]| row.iter().zip(corner).all(|(level, corner)| level <= corner);
                let enough =
                    |row: &[u8]| row[first..].iter().map(|level| 10 - i64::from(*level)).sum::<i64>() >= needed;
                let by_hand: Vec<u32> = (0..n_rows)
                    .filter(|&row| fits(&rows[row], &corner) && enough(&rows[row]))
                    .map(|row| row as u32)
                    .collect();
                let mut kept: Vec<u32> = (0..n_rows as u32).collect();
                let n_people = near.fitting(&mut kept, 0..n_rows, &corner, first, needed);
                assert_eq!(kept[n_rows..], by_hand);
                assert_eq!(n_people, by_hand.iter().map(|&row| near.size(row)).sum::<u64>());

                let mut counted = NAtLevels::default();
                near.count_levels(&by_hand, &corner, first, &mut counted);
                let mut n_limits = 0;
                for a in first..tops.len() {
                    for level in 0..corner[a] {
                        let up_to = by_hand.iter().filter(|&&row| rows[row as usize][a] <= level);
                        let n = up_to.map(|&row| near.size(row)).sum::<u64>().max(1);
                        assert_eq!(counted.up_to(a, level), n);
                        assert!(counted.in_order.contains(&(n, level, a as u16)));
                        n_limits += 1;
                    }
                    assert_eq!(counted.up_to(a, corner[a]), u64::MAX);
                }
                assert_eq!(counted.in_order.len(), n_limits);
                assert!(counted.in_order.is_sorted_by(|a, b| a >= b));

                let mut lowered = corner.clone();
                near.lower_to_all(&by_hand, &mut lowered, first);
                for a in 0..tops.len() {
                    let highest = by_hand.iter().map(|&row| rows[row as usize][a]).max().unwrap_or(0);
                    assert_eq!(lowered[a], if a < first { corner[a] } else { highest });
                }
            }
        }
    }
}
