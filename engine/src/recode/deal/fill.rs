//! Hands filled one after the other, each with the records that widen its box least.
//!
//! A hand begins with its rarest kind of record, of which there is least to choose from, and of these with the one nearest
//! to where the last hand began; so neighbours are near, which exchanges make use of. Then come the other kinds, the rarer
//! first: those that are frequent find a box that is as wide as it will be, and many records that lie in it. (To begin with
//! the frequent ones loses a third more on 2,000 records of Adult, to take whichever widens the box least a tenth more;
//! where a hand begins hardly matters.)

use rustc_hash::FxHashMap;

use crate::counts::number;
use crate::error::Result;
use crate::recode::deal::stack::Card;
use crate::recode::space::{Side, Space};
use crate::task::Task;

/// Fills hands with cards, which are, by kind, what the hands ask for.
///
/// # Guarantee
/// Every class has the kinds of its hand, in its order, and every card is in one class.
pub(super) fn fill<'a>(
    space: &Space,
    hands: impl Iterator<Item = &'a [u32]>,
    cards: &[Card],
    task: &Task,
) -> Result<Vec<Vec<Card>>> {
    let mut waiting = Waiting::new(cards);
    let mut last = cards[0].base;
    let mut classes = Vec::new();
    for hand in hands {
        let mut rarest_first = hand.to_vec();
        rarest_first.sort_by_key(|kind| (waiting.n_of_kind[kind], *kind));
        let mut class: Vec<Card> = Vec::with_capacity(hand.len());
        let mut sides: Vec<Side> = space.point(last);
        for kind in rarest_first {
            task.go_on()?;
            let card = waiting.take(kind, |base| space.cost_with(&sides, space.places(base)));
            if class.is_empty() {
                last = card.base;
                sides = space.point(last);
            } else {
                space.widen(&mut sides, card.base);
            }
            class.push(card);
        }
        class.sort_unstable_by_key(|card| card.kind);
        classes.push(class);
    }
    Ok(classes)
}

/// The records that no hand has yet.
struct Waiting {
    /// By kind, how many there were.
    n_of_kind: FxHashMap<u32, usize>,
    /// By kind, the different ones with how many there are of each.
    left: FxHashMap<u32, Vec<(Card, u32)>>,
}

impl Waiting {
    fn new(cards: &[Card]) -> Waiting {
        let mut waiting = Waiting { n_of_kind: FxHashMap::default(), left: FxHashMap::default() };
        for same_kind in cards.chunk_by(|a, b| a.kind == b.kind) {
            let mut sorted = same_kind.to_vec();
            sorted.sort_unstable_by_key(|card| (card.base, card.cell));
            let different = sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], number(equal.len())));
            waiting.left.insert(same_kind[0].kind, different.collect());
            waiting.n_of_kind.insert(same_kind[0].kind, same_kind.len());
        }
        waiting
    }

    /// Takes the record of a kind whose group of the counts costs least; of several, the first.
    fn take(&mut self, kind: u32, cost: impl Fn(u32) -> u64) -> Card {
        let left = self.left.get_mut(&kind).expect("there are as many as hands ask for");
        let key = |&at: &usize| (cost(left[at].0.base), left[at].0.base, left[at].0.cell);
        let at = (0..left.len()).min_by_key(key).expect("there are as many as hands ask for");
        let card = left[at].0;
        left[at].1 -= 1;
        if left[at].1 == 0 {
            left.swap_remove(at);
        }
        card
    }
}
