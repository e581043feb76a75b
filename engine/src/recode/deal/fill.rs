//! Hands filled one after the other, each with the records that widen its box least.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::recode::deal::stack::Card;
use crate::recode::space::{Side, Space};
use crate::task::Task;

fn var(name: &str, default: u64) -> u64 { std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default) }

/// Equal records that no hand has yet.
#[derive(Clone, Copy)]
struct Left {
    base: u32,
    cell: u32,
    n_records: u32,
}

/// Fills hands with cards, which are, by kind, what they ask for. The classes are in an order in which neighbours are near.
pub(super) fn fill<'a>(
    space: &Space,
    hands: impl Iterator<Item = &'a [u32]>,
    cards: &[Card],
    task: &Task,
) -> Result<Vec<Vec<Card>>> {
    let mut left: FxHashMap<u32, Vec<Left>> = FxHashMap::default();
    let mut n_of_kind: FxHashMap<u32, usize> = FxHashMap::default();
    for same in cards.chunk_by(|a, b| a.kind == b.kind) {
        let mut sorted = same.to_vec();
        sorted.sort_unstable_by_key(|card| (card.base, card.cell));
        let equal = sorted.chunk_by(|a, b| a == b);
        let waiting = equal.map(|equal| Left { base: equal[0].base, cell: equal[0].cell, n_records: equal.len() as u32 });
        left.insert(same[0].kind, waiting.collect());
        n_of_kind.insert(same[0].kind, same.len());
    }
    let mut hands: Vec<&[u32]> = hands.collect();
    let mode = var("FILL_ORDER", 0);
    match mode {
        0 => {}
        1 => hands.sort_by_key(|hand| hand.iter().map(|kind| n_of_kind[kind]).min()),
        _ => hands.sort_by_key(|hand| std::cmp::Reverse(hand.iter().map(|kind| n_of_kind[kind]).min())),
    }
    let centre: Vec<u32> = {
        let n_axes = space.n_axes();
        (0..n_axes).map(|a| {
            let mut at: Vec<u32> = cards.iter().map(|card| space.places(card.base)[a]).collect();
            at.sort_unstable();
            at[at.len() / 2]
        }).collect()
    };
    let mut last: Vec<u32> = centre.clone();
    let mut classes = Vec::with_capacity(hands.len());
    let seedmode = var("FILL_SEED", 0);
    let pick = var("FILL_PICK", 0);
    for hand in hands {
        task.go_on()?;
        let mut order = hand.to_vec();
        match pick {
            0 => order.sort_by_key(|kind| (n_of_kind[kind], *kind)),
            _ => order.sort_by_key(|kind| (std::cmp::Reverse(n_of_kind[kind]), *kind)),
        }
        let mut class: Vec<Card> = Vec::with_capacity(hand.len());
        let mut sides: Vec<Side> = Vec::new();
        if pick < 2 {
        for kind in order {
            let waiting = left.get_mut(&kind).expect("as many as hands ask for");
            let best = if sides.is_empty() {
                let away = |at: &Left| space.distance_between(if seedmode == 0 || seedmode == 3 { &centre } else { &last }, space.places(at.base));
                if seedmode == 2 || seedmode == 3 { (0..waiting.len()).min_by_key(|&i| (away(&waiting[i]), waiting[i].base)) }
                else { (0..waiting.len()).max_by_key(|&i| (away(&waiting[i]), waiting[i].base)) }
            } else {
                (0..waiting.len()).min_by_key(|&i| (space.cost_with(&sides, space.places(waiting[i].base)), waiting[i].base, waiting[i].cell))
            }.expect("as many as hands ask for");
            let Left { base, cell, .. } = waiting[best];
            waiting[best].n_records -= 1;
            if waiting[best].n_records == 0 { waiting.swap_remove(best); }
            if sides.is_empty() { sides = space.point(base); last = space.places(base).to_vec(); } else { space.widen(&mut sides, base); }
            class.push(Card { kind, base, cell });
        }
        } else {
            // cheapest of all kinds first
            while !order.is_empty() {
                let mut found: Option<(u64, usize, usize)> = None;
                for (o, kind) in order.iter().enumerate() {
                    if o > 0 && order[o-1] == *kind { continue; }
                    let waiting = &left[kind];
                    for (i, at) in waiting.iter().enumerate() {
                        let cost = if sides.is_empty() { u64::MAX / 2 - space.distance_between(&centre, space.places(at.base)) } else { space.cost_with(&sides, space.places(at.base)) };
                        if found.is_none_or(|f| cost < f.0) { found = Some((cost, o, i)); }
                    }
                    if sides.is_empty() && pick == 3 { break; }
                }
                let (_, o, best) = found.expect("some");
                let kind = order.remove(o);
                let waiting = left.get_mut(&kind).expect("as many as hands ask for");
                let Left { base, cell, .. } = waiting[best];
                waiting[best].n_records -= 1;
                if waiting[best].n_records == 0 { waiting.swap_remove(best); }
                if sides.is_empty() { sides = space.point(base); } else { space.widen(&mut sides, base); }
                class.push(Card { kind, base, cell });
            }
        }
        class.sort_unstable_by_key(|card| card.kind);
        classes.push(class);
    }
    Ok(classes)
}
