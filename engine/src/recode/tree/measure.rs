//! What criteria see of every node, measured once: nodes whose measures are the same share a signature.

use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};
use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::recode::enough::{Scale, SlotTally};
use crate::recode::partition::Part;
use crate::recode::tree::shape::Shape;
use crate::table::Code;
use crate::task::Task;

/// Nodes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1_024;

/// The signatures of all nodes, and which one each node has.
///
/// A node's histogram is that of its children together. People do not add up: whoever is in several children counts once,
/// so that of every node it is known who is in it, as long as it waits for its parent.
pub(crate) fn measure(
    shape: &Shape,
    counts: &GroupCounts,
    yardstick: &Yardstick,
    task: &Task,
) -> Result<(Measured, Vec<u32>)> {
    let scale = Scale::measuring(counts, yardstick);
    let mut signatures = Signatures {
        yardstick,
        of_histogram: FxHashMap::default(),
        of_values: FxHashMap::default(),
        values: Vec::new(),
    };
    let mut waiting: Vec<SlotTally> = Vec::new();
    let mut signature_of = Vec::with_capacity(shape.n_nodes());
    for node in 0..shape.n_nodes() {
        task.go_on_now_and_then(node, N_BETWEEN)?;
        let tally = match shape.base(node) {
            Some(base) => scale.tally(&parts_of(counts, base)),
            None => {
                let n_children = shape.children(node).count();
                let children = waiting.split_off(waiting.len() - n_children);
                children.into_iter().reduce(|one, other| scale.joined(one, other)).expect("a union has children")
            }
        };
        signature_of.push(signatures.of(&tally));
        waiting.push(tally);
    }
    Ok((Measured::by(yardstick, signatures.values), signature_of))
}

/// All records of a group of the counts, by cell.
pub(crate) fn parts_of(counts: &GroupCounts, base: u32) -> Vec<Part> {
    if counts.sensitive().is_empty() {
        return vec![Part { base, value: None, n_records: counts.size(base as usize) }];
    }
    let part = |(cell, (_, n_records))| Part { base, value: Some(Code(cell)), n_records };
    (0..).zip(counts.cells(base as usize)).map(part).collect()
}

struct Signatures<'a> {
    yardstick: &'a Yardstick,
    /// By the number of records and the slots.
    of_histogram: FxHashMap<Vec<u64>, u32>,
    of_values: FxHashMap<Vec<u64>, u32>,
    values: Vec<u64>,
}

impl Signatures<'_> {
    fn of(&mut self, tally: &SlotTally) -> u32 {
        let slots = tally.slots.iter().flat_map(|&(slot, n)| [u64::from(slot), n]);
        let histogram: Vec<u64> = std::iter::once(tally.n_records).chain(slots).collect();
        if let Some(&known) = self.of_histogram.get(&histogram) {
            return known;
        }
        let mut values = Vec::with_capacity(self.yardstick.n_measured());
        self.yardstick.measure(tally.n_records, 0, &tally.slots, &mut values);
        let next = number(self.of_values.len());
        let signature = *self.of_values.entry(values).or_insert_with_key(|values| {
            self.values.extend_from_slice(values);
            next
        });
        self.of_histogram.insert(histogram, signature);
        signature
    }
}
