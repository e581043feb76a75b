//! The records of a table, stacked by sensitive value: the most frequent first.

use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};
use crate::recode::partition::Part;
use crate::table::Code;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Card {
    /// The number of its combination of sensitive values, in the order of the stack.
    pub(super) kind: u32,
    /// Its group of the counts, and the place of its sensitive values among the cells of the group.
    pub(super) base: u32,
    pub(super) cell: u32,
}

impl Card {
    pub(super) fn part(&self) -> Part {
        Part { base: self.base, value: Some(Code(self.cell)), n_records: 1 }
    }
}

/// All records, by sensitive values: of the first attribute, then of the second …, the most frequent first. And for
/// every kind of record the ranks of its values.
pub(super) fn stack(counts: &GroupCounts) -> (Vec<Card>, Vec<Vec<u32>>) {
    let rank: Vec<Vec<u32>> = (0..counts.sensitive().len())
        .map(|s| {
            let frequencies = counts.distribution(s);
            let mut by_frequency: Vec<usize> = (0..frequencies.len()).collect();
            by_frequency.sort_by_key(|&value| std::cmp::Reverse(frequencies[value]));
            let mut rank = vec![0; frequencies.len()];
            (0..).zip(by_frequency).for_each(|(i, value)| rank[value] = i);
            rank
        })
        .collect();
    let ranks = |codes: &[Code]| codes.iter().zip(&rank).map(|(code, rank)| rank[code.index()]).collect::<Vec<u32>>();
    let all = || (0..counts.n_groups()).flat_map(|base| (0u32..).zip(counts.cells(base)).map(move |cell| (base, cell)));
    let mut kinds: Vec<Vec<u32>> = all().map(|(_, (_, (codes, _)))| ranks(codes)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kind_of: FxHashMap<&[u32], u32> = kinds.iter().map(Vec::as_slice).zip(0..).collect();
    let cards = all().flat_map(|(base, (cell, (codes, n_records)))| {
        let card = Card { kind: kind_of[ranks(codes).as_slice()], base: number(base), cell };
        std::iter::repeat_n(card, n_records as usize)
    });
    let mut cards: Vec<Card> = cards.collect();
    cards.sort_by_key(|card| card.kind);
    (cards, kinds)
}

/// Deals one record after the other to one class after the other.
pub(super) fn in_turns(stack: &[Card], n_classes: usize) -> Vec<Vec<Card>> {
    let mut classes = vec![Vec::with_capacity(stack.len() / n_classes + 1); n_classes];
    for (i, card) in stack.iter().enumerate() {
        classes[i % n_classes].push(*card);
    }
    classes
}
