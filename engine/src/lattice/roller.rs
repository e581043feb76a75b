//! What all ways to get from the groups of one scheme to those of a coarser one have in common.

use crate::criterion::{Measure, Measured, Yardstick};
use crate::error::Result;
use crate::lattice::profile::{Profile, Tally};
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::rows::Rows;
use crate::loss::{Entropies, Penalties};
use crate::task::Task;

/// What annotation is to find out about the groups of every scheme.
pub(crate) struct Annotation<'a> {
    pub(crate) yardstick: &'a Yardstick,
    pub(crate) penalties: &'a Penalties,
    pub(crate) entropies: Option<&'a Entropies>,
}

impl Annotation<'_> {
    /// The sensitive attribute whose distinct values are all that is asked beside sizes; none where there is more.
    pub(crate) fn only_distinct(&self) -> Option<Option<usize>> {
        match *self.yardstick.measures() {
            _ if self.entropies.is_some() => None,
            [Measure::Size] => Some(None),
            [Measure::Size, Measure::Distinct(s)] => Some(Some(s)),
            _ => None,
        }
    }
}

/// A table that is rolled up, and what is wanted of it.
#[derive(Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub(crate) roll_up: &'a RollUp<'a>,
    pub(crate) wanted: &'a Annotation<'a>,
}

/// What one thread works with: a way to get from the groups of one scheme to those of a coarser one.
pub(crate) trait Roller<'a>: Send + Sized {
    /// The groups of one scheme.
    type Groups: Groups;

    /// How many words a row has.
    fn stride<K: Key>(_: Ground<'a>) -> usize {
        K::N_WORDS + 2
    }
    /// The work that begins, with the rows of the finest scheme and its groups.
    fn begin<K: Key>(ground: Ground<'a>) -> (Self, Rows, Self::Groups);
    /// The rows of some groups, which increase.
    fn only<K: Key>(ground: Ground<'a>, rows: &Rows, groups: &[u32]) -> Rows {
        rows.only(Self::stride::<K>(ground), groups)
    }
    /// A place to work for each of several threads, once the first few schemes are made.
    fn share(self, ground: Ground<'a>, n_threads: usize) -> Vec<Self>;
    /// Replaces `into` by the rows of the scheme `levels`, made from those of the scheme whose `attribute` is one level
    /// finer.
    fn step<K: Key>(
        &mut self,
        ground: Ground<'a>,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Self::Groups;
    /// The groups of every level above the lowest of the attribute with the lowest bits: nothing is generalized further
    /// from there, so that no rows need to be kept.
    fn all_levels<K: Key>(&mut self, ground: Ground<'a>, source: &Rows, attribute: usize) -> Vec<Self::Groups>;
    /// The bytes that the work has come to take.
    fn n_bytes(&self) -> usize {
        0
    }
    /// What criteria see of one scheme's groups, and the profile by that alone.
    fn seen(&self, ground: Ground<'a>, groups: Self::Groups) -> (Measured, Profile);
    /// The profiles by place, from the groups of each scheme and the number of the thread that made them.
    fn finish(
        works: Vec<Self>,
        ground: Ground<'a>,
        made: Vec<(usize, Self::Groups)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)>;
}

/// What is kept of a scheme's groups on the way.
pub(crate) trait Groups: Send {
    fn n_bytes(&self) -> usize;
}

impl Groups for Box<[Tally]> {
    fn n_bytes(&self) -> usize {
        size_of_val(&**self)
    }
}

impl Groups for Profile {
    fn n_bytes(&self) -> usize {
        self.n_bytes()
    }
}
