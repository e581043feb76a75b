//! Halving: near records for near hands, half of the hands at a time.

use rustc_hash::FxHashMap;

use crate::counts::number;
use crate::error::Result;
use crate::recode::deal::fill::fill;
use crate::recode::deal::hands::Hands;
use crate::recode::deal::stack::Card;
use crate::recode::space::Space;
use crate::task::Task;

/// Where hands are filled with near records.
pub(super) struct CardTable<'a> {
    pub(super) space: &'a Space,
    pub(super) hands: &'a Hands,
    pub(super) task: &'a Task<'a>,
}

/// Sets of so many records are halved no more: their hands are filled one after the other. Larger sets lose less, and take
/// longer in proportion.
const N_BLOCK: usize = 8_192;

/// So many records of a half are compared with each other to see how near they are.
const N_SAMPLE: usize = 40;

impl CardTable<'_> {
    /// The classes in an order in which neighbours are near.
    pub(super) fn fill(&self, mut stack: Vec<Card>) -> Result<Vec<Vec<Card>>> {
        let mut classes: Vec<u32> = (0..number(self.hands.kinds.len())).collect();
        self.halve(&mut classes, &mut stack)
    }

    /// `cards` are, by kind, what the hands of the classes ask for.
    fn halve(&self, classes: &mut [u32], cards: &mut [Card]) -> Result<Vec<Vec<Card>>> {
        self.task.go_on()?;
        if classes.len() == 1 {
            return Ok(vec![cards.to_vec()]);
        }
        if cards.len() <= N_BLOCK {
            let hands = classes.iter().map(|&class| self.hands.kinds[class as usize].as_slice());
            return fill(self.space, hands, cards, self.task);
        }
        let axis = self.best_axis(classes, cards)?;
        let n_first = self.split(axis, classes, cards);
        let (first_classes, second_classes) = classes.split_at_mut(n_classes_of_half(classes.len()));
        let (first_cards, second_cards) = cards.split_at_mut(n_first);
        let first = || self.halve(first_classes, first_cards);
        let second = || self.halve(second_classes, second_cards);
        let (first, second) = rayon::join(first, second);
        let mut found = first?;
        found.extend(second?);
        Ok(found)
    }

    /// The axis along which halves have the nearest records.
    fn best_axis(&self, classes: &[u32], cards: &[Card]) -> Result<usize> {
        let sides = self.space.around(cards.iter().map(|card| card.base));
        let wide = (0..sides.len()).filter(|&a| sides[a].0 < sides[a].1);
        let (mut classes, mut sorted) = (classes.to_vec(), cards.to_vec());
        let mut spread = |axis: usize| {
            sorted.copy_from_slice(cards);
            let n_first = self.split(axis, &mut classes, &mut sorted);
            self.task.go_on()?;
            Ok((self.spread(&sorted[..n_first]) + self.spread(&sorted[n_first..]), axis))
        };
        let spreads = wide.map(&mut spread).collect::<Result<Vec<(u64, usize)>>>()?;
        // The first of several that are as good.
        Ok(spreads.into_iter().min().map_or(0, |(_, axis)| axis))
    }

    /// Halves the classes, and gives the first half those records of each kind that come first along an axis; how many
    /// these are. Cards stay sorted by kind within both halves.
    fn split(&self, axis: usize, classes: &mut [u32], cards: &mut [Card]) -> usize {
        let place = |card: &Card| self.space.places(card.base)[axis];
        // A class goes where the records that it may get are.
        let mut mean = FxHashMap::default();
        for same in cards.chunk_by(|a, b| a.kind == b.kind) {
            let sum: u64 = same.iter().map(|card| u64::from(place(card))).sum();
            mean.insert(same[0].kind, sum * 1_000 / same.len() as u64);
        }
        let hand = |class: u32| self.hands.kinds[class as usize].as_slice();
        let score = |class: u32| hand(class).iter().map(|kind| mean[kind]).sum::<u64>() / hand(class).len() as u64;
        classes.sort_by_cached_key(|&class| (score(class), class));
        let mut wanted: FxHashMap<u32, usize> = FxHashMap::default();
        for &class in &classes[..n_classes_of_half(classes.len())] {
            hand(class).iter().for_each(|&kind| *wanted.entry(kind).or_default() += 1);
        }
        let mut halves = (Vec::new(), Vec::new());
        for same in cards.chunk_by_mut(|a, b| a.kind == b.kind) {
            let n = wanted.get(&same[0].kind).copied().unwrap_or(0);
            if 0 < n && n < same.len() {
                same.select_nth_unstable_by_key(n, |card| (place(card), card.base, card.cell));
            }
            halves.0.extend_from_slice(&same[..n]);
            halves.1.extend_from_slice(&same[n..]);
        }
        cards[..halves.0.len()].copy_from_slice(&halves.0);
        cards[halves.0.len()..].copy_from_slice(&halves.1);
        halves.0.len()
    }

    /// How far apart records are: the mean distance of two of them, times how many there are.
    fn spread(&self, cards: &[Card]) -> u64 {
        let n = cards.len().min(N_SAMPLE);
        let sample: Vec<&[u32]> = (0..n).map(|i| self.space.places(cards[i * cards.len() / n].base)).collect();
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let sum: u64 = pairs.map(|(i, j)| self.space.distance_between(sample[i], sample[j])).sum();
        sum / (n * (n - 1) / 2).max(1) as u64 * cards.len() as u64
    }
}

fn n_classes_of_half(n_classes: usize) -> usize {
    n_classes / 2
}
