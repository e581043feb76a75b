//! Keys of any number of words, for tables with so many quasi-identifiers that two words do not hold their codes.

use std::cmp::Ordering;

use crate::lattice::roll_up::Key;

/// A whole number of `N` words, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wide<const N: usize>([u64; N]);

impl<const N: usize> Ord for Wide<N> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl<const N: usize> PartialOrd for Wide<N> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize> Key for Wide<N> {
    const N_WORDS: usize = N;

    fn read(words: &[u64]) -> Self {
        let mut key = [0; N];
        key.copy_from_slice(&words[..N]);
        Wide(key)
    }

    fn write(self, words: &mut [u64]) {
        words[..N].copy_from_slice(&self.0);
    }

    fn low(self) -> u64 {
        self.0[0]
    }

    fn shifted_right(self, n: u32) -> Self {
        let (n_words, n_bits) = ((n / 64) as usize, n % 64);
        let word = |i: usize| self.0.get(i + n_words).copied().unwrap_or(0);
        // In two steps, because a shift by all 64 bits is none.
        Wide(std::array::from_fn(|i| word(i) >> n_bits | word(i + 1) << 1 << (63 - n_bits)))
    }

    fn shifted_left(self, n: u32) -> Self {
        let (n_words, n_bits) = ((n / 64) as usize, n % 64);
        let word = |i: usize| i.checked_sub(n_words).map_or(0, |i| self.0[i]);
        let below = |i: usize| i.checked_sub(n_words + 1).map_or(0, |i| self.0[i]);
        Wide(std::array::from_fn(|i| word(i) << n_bits | below(i) >> 1 >> (63 - n_bits)))
    }

    fn below(self, n: u32) -> Self {
        let (n_words, n_bits) = ((n / 64) as usize, n % 64);
        let mask = |i: usize| match i.cmp(&n_words) {
            Ordering::Less => u64::MAX,
            Ordering::Equal => (1 << n_bits) - 1,
            Ordering::Greater => 0,
        };
        Wide(std::array::from_fn(|i| self.0[i] & mask(i)))
    }

    fn or(self, other: Self) -> Self {
        Wide(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    fn of_code(code: u64) -> Self {
        let mut key = [0; N];
        key[0] = code;
        Wide(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two words do what a number of 128 bits does, which is what keys of two words are.
    #[test]
    fn wide_keys_are_whole_numbers() {
        let mut random = 1u64;
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            random ^ random >> 29
        };
        let words = |key: u128| [key as u64, (key >> 64) as u64];
        let wide = |key: u128| Wide(words(key));
        for _ in 0..2_000 {
            let (one, other) = ([next(), next()], [next() >> 40, next() >> 60]);
            let (a, b) = (<u128 as Key>::read(&one), <u128 as Key>::read(&other));
            assert!(wide(a) == Wide(one) && wide(a).low() == a.low());
            assert_eq!(wide(a).cmp(&wide(b)), a.cmp(&b));
            assert!(wide(a).or(wide(b)) == wide(a | b));
            assert!(Wide::<2>::of_code(one[0]) == wide(u128::of_code(one[0])));
            for n in [0, 1, 5, 63, 64, 65, 100, 127] {
                assert!(wide(a).shifted_right(n) == wide(a >> n), "{n}");
                assert!(wide(a).shifted_left(n) == wide(a << n), "{n}");
                assert!(wide(a).below(n) == wide(a.below(n)), "{n}");
            }
            let mut written = [0; 3];
            wide(a).write(&mut written);
            assert_eq!(written, [one[0], one[1], 0]);
        }
    }
}
