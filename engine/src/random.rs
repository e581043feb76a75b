//! Numbers that look random and are the same for the same seed, on every machine.

/// A source of numbers: SplitMix64 (Steele, Lea, Flood 2014), which any two seeds start far apart.
///
/// Fifteen lines of our own rather than a crate: releases must be repeatable for years, and crates change their streams.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Numbers that depend on the seed alone.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Another source, for part `i` of the work: parts can be done in any order and on any thread.
    pub fn part(&self, i: u64) -> Random {
        let mut random = Random(self.0 ^ i.wrapping_mul(0xD1B5_4A32_D192_ED03).rotate_left(17));
        Random(random.bits())
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A whole number below `n`, which is at least 1; all are equally likely but for less than one in 2⁶⁴ / n.
    ///
    /// # Panics
    /// Where n is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }

    /// Puts things in random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for i in (1..things.len()).rev() {
            things.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        // The first numbers of the reference implementation for seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.bits(), random.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn numbers_stay_below_and_reach_everything() {
        let mut random = Random::new(7).part(3);
        let mut seen = [0; 6];
        (0..6_000).for_each(|_| seen[random.below(6) as usize] += 1);
        assert!(seen.iter().all(|&n| (800..1_200).contains(&n)), "{seen:?}");
    }
}
