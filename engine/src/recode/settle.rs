//! Classes that are not enough join their nearest; then neighbours share their records anew.
//!
//! What a class consists of and how it is divided is a [`Join`]'s business: records of groups of the counts, or whole groups
//! that must stay together.

use crate::error::Result;
use crate::recode::divide::Divider;
use crate::recode::nearest::{Classes, NOTHING, Near, nearest_of_each, nearest_of_each_again};
use crate::recode::partition::Part;
use crate::recode::space::{Side, Space};
use crate::task::Task;

/// What classes are made of, and when they are enough.
pub(crate) trait Join<'a> {
    /// The axes of all boxes.
    fn space(&self) -> &'a Space;

    /// The box around some parts.
    fn around(&self, parts: &[Part]) -> Vec<Side>;

    /// Whether a class may stay as it is.
    fn is_enough(&mut self, n_records: u64, parts: &[Part]) -> bool;

    /// Divides a class into several that are enough, as far as it can be.
    fn pieces(&mut self, parts: Vec<Part>) -> Vec<Vec<Part>>;

    /// Makes classes of one that is not enough and another; at best each of them is enough.
    fn shared(&mut self, ours: &[Part], theirs: &[Part]) -> Vec<Vec<Part>> {
        self.pieces([ours, theirs].concat())
    }

    /// What the records of a class lose together.
    fn loss(&self, parts: &[Part]) -> u64 {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        n_records * self.space().cost(&self.around(parts))
    }
}

impl<'a> Join<'a> for Divider<'a> {
    fn space(&self) -> &'a Space {
        self.space
    }

    fn around(&self, parts: &[Part]) -> Vec<Side> {
        self.space.around(parts.iter().map(|part| part.base))
    }

    fn is_enough(&mut self, n_records: u64, parts: &[Part]) -> bool {
        Divider::is_enough(self, n_records, parts)
    }

    fn pieces(&mut self, parts: Vec<Part>) -> Vec<Vec<Part>> {
        Divider::pieces(self, parts)
    }

    fn shared(&mut self, ours: &[Part], theirs: &[Part]) -> Vec<Vec<Part>> {
        let pieces = Divider::pieces(self, [ours, theirs].concat());
        let Some(taken) = self.taken(ours, theirs) else { return pieces };
        let loss = |pieces: &[Vec<Part>]| pieces.iter().map(|parts| self.loss(parts)).sum::<u64>();
        if loss(&taken) < loss(&pieces) { taken.to_vec() } else { pieces }
    }
}

fn push<'a>(classes: &mut Classes<'a>, join: &impl Join<'a>, parts: Vec<Part>) -> u32 {
    let sides = join.around(&parts);
    classes.push_box(parts, sides)
}

/// How many classes look for their nearest at the same time.
const N_AHEAD: usize = 128;

/// How many of the nearest classes are looked up ahead where the nearest is taken.
pub(crate) const N_NEAR: usize = 3;

/// With which class one that is not enough is united.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choose {
    /// The one with which less is lost as one class than with any other.
    Nearest,
    /// Among some of the nearest, the one with which least is lost after both have shared their records. A class that can
    /// spare records is far as a whole, because all of its records would lose; what it gives away costs less.
    Shared,
}

/// Unites classes that are not enough with near ones until all are; tells of the records for which this is new.
///
/// `N` of the nearest are looked up ahead, because some will be gone when it comes to it.
pub(crate) fn settle<'a, const N: usize, J: Join<'a>>(
    join: &mut J,
    parts: Vec<Vec<Part>>,
    choose: Choose,
    task: &Task,
) -> Result<Classes<'a>> {
    let mut classes = Classes::new(join.space());
    let mut waiting = Vec::new();
    for parts in parts {
        let id = push(&mut classes, join, parts);
        if !join.is_enough(classes.size(id), classes.parts(id)) {
            waiting.push(id);
        }
    }
    while !waiting.is_empty() {
        task.go_on()?;
        classes.lay_out();
        let near = nearest_of_each::<N>(&classes, &waiting, task)?;
        let mut in_order: Vec<(u32, &[Near; N])> = waiting.drain(..).zip(&near).collect();
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
                let mut left = near.into_iter().filter(|near| *near == NOTHING || classes.is_there(near.1)).peekable();
                let in_trees = left.peek().copied().unwrap_or_else(|| classes.nearest::<1>(id)[0]);
                let nearest = classes.nearest_loose(id).min(in_trees);
                assert!(nearest != NOTHING, "all records together are enough");
                let (other, pieces) = match choose {
                    Choose::Nearest => (nearest.1, join.pieces([classes.parts(id), classes.parts(nearest.1)].concat())),
                    Choose::Shared => least_shared(&classes, id, [nearest].into_iter().chain(left), join),
                };
                unite(&mut classes, [id, other], pieces, join, &mut waiting, task);
            }
        }
        waiting.retain(|&id| classes.is_there(id));
    }
    Ok(classes)
}

/// Of some near classes the one with which another loses least when both share their records, and what they make of them.
fn least_shared<'a, J: Join<'a>>(
    classes: &Classes<'a>,
    id: u32,
    near: impl Iterator<Item = Near>,
    join: &mut J,
) -> (u32, Vec<Vec<Part>>) {
    let shared = near.filter(|near| *near != NOTHING).map(|(_, other)| {
        let pieces = join.shared(classes.parts(id), classes.parts(other));
        let loss: u64 = pieces.iter().map(|parts| join.loss(parts)).sum();
        // What the other class has lost before is no reason to leave it alone.
        (loss as i64 - classes.loss(other) as i64, other, pieces)
    });
    let (_, other, pieces) = shared.min_by_key(|(more, other, _)| (*more, *other)).expect("there is a nearest class");
    (other, pieces)
}

/// Puts the pieces of two classes in their place.
fn unite<'a, J: Join<'a>>(
    classes: &mut Classes<'a>,
    ids: [u32; 2],
    pieces: Vec<Vec<Part>>,
    join: &mut J,
    waiting: &mut Vec<u32>,
    task: &Task,
) {
    let n_not_enough = |&id: &u32| match join.is_enough(classes.size(id), classes.parts(id)) {
        true => 0,
        false => classes.size(id),
    };
    let n_new: u64 = ids.iter().map(n_not_enough).sum();
    ids.iter().for_each(|&id| drop(classes.take(id)));
    let is_divided = pieces.len() > 1;
    for piece in pieces {
        let id = push(classes, join, piece);
        if !join.is_enough(classes.size(id), classes.parts(id)) {
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
pub(crate) fn share_anew<'a, J: Join<'a>>(classes: &mut Classes<'a>, join: &mut J, task: &Task) -> Result<()> {
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
                let pieces = join.pieces([classes.parts(id), classes.parts(other)].concat());
                let loss: u64 = pieces.iter().map(|parts| join.loss(parts)).sum();
                if loss < classes.loss(id) + classes.loss(other) {
                    [id, other].iter().for_each(|&id| drop(classes.take(id)));
                    changed.extend(pieces.into_iter().map(|parts| push(classes, join, parts)));
                }
            }
        }
        to_try = changed;
        to_try.retain(|&id| classes.is_there(id));
    }
    Ok(())
}
