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
//! Adult with k = 100 that loses half as much again. It does not share anew, which on Adult saves 1 to 9 percent more. On
//! a table of some tens of records it may be the other way round, so that on small tables what the paper prints is tried
//! too, neighbours share those records anew, and the better of the two is taken.)
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
use crate::recode::nearest::Classes;
use crate::recode::partition::{Least, Partition};
use crate::recode::published;
use crate::recode::settle::{Choose, N_NEAR, settle, share_anew};
use crate::recode::space::Space;
use crate::task::Task;

/// Tables of at most so many parts are small: what the paper prints takes the square of that.
const N_SMALL: usize = 2_048;

/// Puts all records into classes, from below.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for.
/// Without l, no class has more than 2k − 1 records.
/// The classes depend on the table, the weights, k and l alone: not on the order of records or the number of threads.
/// Where the table has at most 2,048 parts (distinct records, by sensitive value where l is asked for), they lose no more
/// than those of [`published::bottom_up`].
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
    let all = least.parts(counts);
    for parts in all.chunk_by(|a, b| a.base == b.base) {
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
    let mut classes = settle::<N_NEAR, _>(&mut divider, classes, Choose::Nearest, task)?;
    share_anew(&mut classes, &mut divider, task)?;
    if all.len() <= N_SMALL {
        // The bar has shown all records.
        let silent = Task { progress: &|_| (), ..*task };
        let mut printed = Classes::of(&space, published::from_below(&space, counts, least, &silent)?);
        share_anew(&mut printed, &mut divider, &silent)?;
        if printed.loss_of_all() < classes.loss_of_all() {
            classes = printed;
        }
    }
    Ok(Partition::new(classes.into_parts(), least))
}
