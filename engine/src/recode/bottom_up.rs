//! Local recoding from below: every class that is too small joins the one with which it loses least, until none is.
//!
//! The bottom-up method of Xu et al., "Utility-based anonymization using local recoding" (KDD 2006), on groups of equal
//! records, which are nearest to each other anyway.
//!
//! It goes in rounds. Every class that is not large and diverse enough looks for the nearest of all others: that whose
//! union adds least to the loss, summed over the records; among equals the class that came to be first. Those whose
//! nearest is nearest come first, and join what is nearest when it is their turn. A class that others have joined has
//! had its turn; one that has reached 2k records is divided.
//!
//! In the end neighbours share their records anew: each class is put together with one of its nearest and divided again,
//! if that loses less.
//!
//! (The paper takes the least loss of the union, whatever the two classes lose already, and the order of the table. On
//! Adult with k = 100 that loses half as much again. It does not share anew, which on Adult saves 1 to 9 percent more.)
//!
//! What it costs: for every class a search for the nearest per round, about log₂ k rounds over ever fewer classes. The
//! search is what limits it. Bounds spare it classes as long as boxes are small beside the table, and the less the more
//! attributes there are. On made-up records of eight attributes, all of them different, twice as many take two to three
//! times as long (0.7 s for 12,500, 12 s for 100,000; k = 10), and k hardly matters (1.2 s for 25,000 with k = 2, 2.1 s
//! with 10, 1.3 s with 50). Threads search ahead; one thread unites and divides.

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::recode::divide::Divider;
use crate::recode::nearest::{Classes, NOTHING, Near, nearest_of_each, nearest_of_each_again};
use crate::recode::partition::{Least, Part, Partition};
use crate::recode::space::Space;
use crate::task::Task;

/// Puts all records into classes, from below.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for.
/// Without l, no class has more than 2k − 1 records.
/// The classes depend on the table, the weights, k and l alone: not on the order of records or the number of threads.
///
/// # Errors
/// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
pub fn partition(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    task: &Task,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let mut classes = Vec::with_capacity(counts.n_groups());
    let mut divider = Divider::new(&space, counts, least);
    for parts in least.parts(counts).chunk_by(|a, b| a.base == b.base) {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let is_enough = divider.is_enough(n_records, parts);
        if is_enough {
            (task.progress)(n_records);
        }
        match is_enough && n_records >= 2 * least.k {
            true => classes.extend(divider.deal(parts.to_vec())),
            false => classes.push(parts.to_vec()),
        }
    }
    let mut classes = settle(&mut divider, classes, task)?;
    share_anew(&mut classes, &mut divider, task)?;
    Ok(Partition::new(classes.into_parts(), least))
}

/// How many classes look for their nearest at the same time.
const N_AHEAD: usize = 128;

/// How many of the nearest classes are looked up ahead, because some will be gone when it comes to it.
const N_NEAR: usize = 3;

/// Unites classes that are not enough with their nearest until all are; tells of the records for which this is new.
pub(crate) fn settle<'a>(divider: &mut Divider<'a>, parts: Vec<Vec<Part>>, task: &Task) -> Result<Classes<'a>> {
    let mut classes = Classes::new(divider.space);
    let mut waiting = Vec::new();
    for parts in parts {
        let id = classes.push(parts);
        if !divider.is_enough(classes.size(id), classes.parts(id)) {
            waiting.push(id);
        }
    }
    while !waiting.is_empty() {
        task.go_on()?;
        classes.lay_out();
        let near = nearest_of_each::<N_NEAR>(&classes, &waiting, task)?;
        let mut in_order: Vec<(u32, &[Near; N_NEAR])> = waiting.drain(..).zip(&near).collect();
        in_order.sort_unstable_by_key(|&(id, near)| (near[0].0, id));
        for ahead in in_order.chunks(N_AHEAD) {
            task.go_on()?;
            classes.lay_out_loose();
            let ahead: Vec<_> = ahead.iter().copied().filter(|&(id, _)| classes.is_there(id)).collect();
            // All threads look ahead. What has gone or come when it is a class's turn is seen to below, so that they
            // find what one thread would.
            for (&(id, _), near) in ahead.iter().zip(nearest_of_each_again(&classes, &ahead)) {
                if !classes.is_there(id) {
                    continue;
                }
                let known = near.into_iter().find(|near| *near == NOTHING || classes.is_there(near.1));
                let in_trees = known.unwrap_or_else(|| classes.nearest::<1>(id)[0]);
                let (_, nearest) = classes.nearest_loose(id).min(in_trees);
                assert!(nearest != NOTHING.1, "all records together are enough");
                unite(&mut classes, [id, nearest], divider, &mut waiting, task);
            }
        }
        waiting.retain(|&id| classes.is_there(id));
    }
    Ok(classes)
}

/// Makes one class of two, or several where there are enough records.
fn unite(classes: &mut Classes, ids: [u32; 2], divider: &mut Divider, waiting: &mut Vec<u32>, task: &Task) {
    let n_not_enough = |&id: &u32| match divider.is_enough(classes.size(id), classes.parts(id)) {
        true => 0,
        false => classes.size(id),
    };
    let n_new: u64 = ids.iter().map(n_not_enough).sum();
    let [mut parts, more] = ids.map(|id| classes.take(id));
    parts.extend(more);
    let pieces = divider.pieces(parts);
    let is_divided = pieces.len() > 1;
    for piece in pieces {
        let id = classes.push(piece);
        if !divider.is_enough(classes.size(id), classes.parts(id)) {
            assert!(!is_divided, "only what is enough is divided, into what is enough");
            return waiting.push(id);
        }
    }
    (task.progress)(n_new);
}

/// How many times neighbours share their records anew, and with how many neighbours each class tries.
const N_TIMES: usize = 2;
const N_NEIGHBOURS: usize = 6;

/// Puts each class together with one of its nearest and divides the two again, where that loses less.
fn share_anew(classes: &mut Classes, divider: &mut Divider, task: &Task) -> Result<()> {
    let mut to_try = classes.ids();
    for _ in 0..N_TIMES {
        classes.lay_out();
        let mut changed = Vec::new();
        let neighbours = nearest_of_each::<N_NEIGHBOURS>(classes, &to_try, task)?;
        for (&id, near) in to_try.iter().zip(&neighbours) {
            task.go_on()?;
            for &(_, other) in near.iter().filter(|near| **near != NOTHING) {
                if !classes.is_there(id) || !classes.is_there(other) {
                    continue;
                }
                let pieces = divider.pieces([classes.parts(id), classes.parts(other)].concat());
                let loss: u64 = pieces.iter().map(|parts| divider.loss(parts)).sum();
                if loss < classes.loss(id) + classes.loss(other) {
                    [id, other].iter().for_each(|&id| drop(classes.take(id)));
                    changed.extend(pieces.into_iter().map(|parts| classes.push(parts)));
                }
            }
        }
        to_try = changed;
        to_try.retain(|&id| classes.is_there(id));
    }
    Ok(())
}
