//! Hands: how many records of each combination of sensitive values a class gets.
//!
//! With one sensitive attribute the stack is dealt in turns, with two it is shared out (`even`). What a third and further
//! ones have is evened out by exchanges between hands, as far as that goes.

use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};
use crate::error::Result;
use crate::random::Random;
use crate::recode::deal::even::{Lot, share_out};
use crate::recode::deal::stack::{Card, in_turns};
use crate::task::Task;

/// Rounds over all hands, and hands that each is tried with, to even them out.
const N_ROUNDS: u32 = 8;
const N_PARTNERS: u64 = 64;

/// For every class the kinds of its records, increasing.
pub(super) struct Hands {
    n_kinds: usize,
    pub(super) kinds: Vec<Vec<u32>>,
}

impl Hands {
    /// Deals a stack whose kinds have these values.
    ///
    /// # Guarantee
    /// Between two hands, the numbers of records, of every value of the first sensitive attribute and, where there are
    /// several, of every value of the second and of every pair of these differ by at most one.
    pub(super) fn deal(
        counts: &GroupCounts,
        stack: &[Card],
        kinds: Vec<Vec<u32>>,
        n_classes: usize,
        task: &Task,
    ) -> Result<Hands> {
        if counts.sensitive().len() == 1 {
            let of_class = |cards: Vec<Card>| cards.iter().map(|card| card.kind).collect();
            let dealt = in_turns(stack, n_classes).into_iter().map(of_class).collect();
            return Ok(Hands { n_kinds: kinds.len(), kinds: dealt });
        }
        let lots: Vec<Lot> =
            stack.chunk_by(|a, b| a.kind == b.kind).map(|same| (same[0].kind, number(same.len()))).collect();
        let mut hands = Hands { n_kinds: kinds.len(), kinds: share_out(&kinds, lots, n_classes, task)? };
        if counts.sensitive().len() > 2 {
            hands.even_out(&Bounds::new(counts, kinds, n_classes as u64), task)?;
        }
        Ok(hands)
    }

    /// Exchanges kinds between hands until the values of every sensitive attribute are as even as those of the first two,
    /// or no exchange helps. What the hands have of these two stays as it is.
    fn even_out(&mut self, bounds: &Bounds, task: &Task) -> Result<()> {
        let mut random = Random::new(0);
        let n = self.kinds.len() as u64;
        for _ in 0..N_ROUNDS {
            let mut n_wrong = 0;
            for first in 0..self.kinds.len() {
                task.go_on()?;
                for _ in 0..N_PARTNERS {
                    let wrong = bounds.n_wrong(&self.kinds[first]);
                    if wrong == 0 {
                        break;
                    }
                    let second = random.below(n) as usize;
                    self.exchange(bounds, first, second);
                }
                n_wrong += bounds.n_wrong(&self.kinds[first]);
            }
            if n_wrong == 0 {
                break;
            }
        }
        self.kinds.iter_mut().for_each(|hand| hand.sort_unstable());
        Ok(())
    }

    /// Makes the exchange between two hands, of records with the same values of the first two
    /// attributes, that helps most.
    fn exchange(&mut self, bounds: &Bounds, first: usize, second: usize) {
        if first == second {
            return;
        }
        let (ours, theirs) =
            (HandValues::new(bounds, &self.kinds[first]), HandValues::new(bounds, &self.kinds[second]));
        // Kinds that both may exchange, by their values of the first two attributes.
        let pair = |kind: u32| &bounds.kinds[kind as usize][..2];
        let mut partners: FxHashMap<&[u32], Vec<(usize, u32)>> = FxHashMap::default();
        for (j, b) in first_of_each(&self.kinds[second]) {
            partners.entry(pair(b)).or_default().push((j, b));
        }
        let mut best = (0, None);
        for (i, a) in first_of_each(&self.kinds[first]) {
            let of_value = partners.get(pair(a));
            for &(j, b) in of_value.into_iter().flatten().filter(|(_, b)| *b != a) {
                let change = ours.change(bounds, a, b) + theirs.change(bounds, b, a);
                if change < best.0 {
                    best = (change, Some((i, j)));
                }
            }
        }
        if let (_, Some((i, j))) = best {
            let card = self.kinds[first][i];
            self.kinds[first][i] = std::mem::replace(&mut self.kinds[second][j], card);
        }
    }

    /// Any records for every hand.
    pub(super) fn fill_by_chance(&self, mut stack: Vec<Card>, random: &mut Random) -> Vec<Vec<Card>> {
        for same in stack.chunk_by_mut(|a, b| a.kind == b.kind) {
            random.shuffle(same);
        }
        let mut next: Vec<usize> = vec![0; self.n_kinds];
        (0..stack.len()).rev().for_each(|i| next[stack[i].kind as usize] = i);
        let mut take = |kind: &u32| {
            let card = stack[next[*kind as usize]];
            next[*kind as usize] += 1;
            card
        };
        self.kinds.iter().map(|hand| hand.iter().map(&mut take).collect()).collect()
    }
}

/// How many records of each value a class should have.
struct Bounds {
    /// By kind, the rank of its value of each sensitive attribute.
    kinds: Vec<Vec<u32>>,
    /// By sensitive attribute and rank: records of the table, shared out to the classes and rounded down and up.
    of_value: Vec<Vec<(u64, u64)>>,
}

impl Bounds {
    fn new(counts: &GroupCounts, kinds: Vec<Vec<u32>>, n_classes: u64) -> Bounds {
        let of_attribute = |s: usize| {
            let mut frequencies = counts.distribution(s);
            frequencies.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
            frequencies.into_iter().map(|n| (n / n_classes, n.div_ceil(n_classes))).collect()
        };
        Bounds { kinds, of_value: (0..counts.sensitive().len()).map(of_attribute).collect() }
    }

    /// How many records a hand has too many or too few.
    fn n_wrong(&self, hand: &[u32]) -> u64 {
        let mut n_wrong = 0;
        let mut values: Vec<u32> = Vec::with_capacity(hand.len());
        for (s, bounds) in self.of_value.iter().enumerate() {
            values.clear();
            values.extend(hand.iter().map(|&kind| self.kinds[kind as usize][s]));
            values.sort_unstable();
            let mut n_needed = 0;
            for same in values.chunk_by(|a, b| a == b) {
                let (n, (least, most)) = (same.len() as u64, bounds[same[0] as usize]);
                n_wrong += n.saturating_sub(most) + least.saturating_sub(n);
                n_needed += least;
            }
            // Values that the hand lacks: they are the most frequent, so that they come first.
            n_wrong +=
                bounds.iter().take_while(|(least, _)| *least > 0).map(|(least, _)| least).sum::<u64>() - n_needed;
        }
        n_wrong
    }
}

/// How many records of each value a hand has, by sensitive attribute and rank.
struct HandValues(FxHashMap<(usize, u32), u64>);

impl HandValues {
    fn new(bounds: &Bounds, hand: &[u32]) -> HandValues {
        let mut n_of_value = FxHashMap::default();
        for &kind in hand {
            for (s, &value) in bounds.kinds[kind as usize].iter().enumerate() {
                *n_of_value.entry((s, value)).or_default() += 1;
            }
        }
        HandValues(n_of_value)
    }

    /// By how much the hand gets worse when it gives one kind away and takes another.
    fn change(&self, bounds: &Bounds, given: u32, taken: u32) -> i64 {
        let values = bounds.kinds[given as usize].iter().zip(&bounds.kinds[taken as usize]);
        let of_attribute = |(s, (&given, &taken)): (usize, (&u32, &u32))| {
            let n_wrong = |value: u32, by: i64| {
                let n = self.0.get(&(s, value)).copied().unwrap_or(0) as i64 + by;
                let (least, most) = bounds.of_value[s][value as usize];
                (n - most as i64).max(0) + (least as i64 - n).max(0)
            };
            n_wrong(given, -1) - n_wrong(given, 0) + n_wrong(taken, 1) - n_wrong(taken, 0)
        };
        values.enumerate().filter(|(_, (given, taken))| given != taken).map(of_attribute).sum()
    }
}

/// The kinds of a hand, each with the first place where it is, in the order of places.
fn first_of_each(hand: &[u32]) -> Vec<(usize, u32)> {
    let mut places: Vec<(u32, usize)> = hand.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places.dedup_by_key(|(kind, _)| *kind);
    let mut places: Vec<(usize, u32)> = places.into_iter().map(|(kind, place)| (place, kind)).collect();
    places.sort_unstable();
    places
}
