//! Sizes and sets of sensitive values: all that k and distinct l need.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::lattice::profile::{Entry, Profile, Scratch, Tally};
use crate::lattice::roll_up::{Key, Pass};
use crate::lattice::roller::{Ground, Roller};
use crate::lattice::rows::Rows;
use crate::task::Task;

/// What one thread works with: the tallies of the scheme at hand, and of every level of the last attribute.
#[derive(Default)]
pub(crate) struct SetWork {
    scratch: Scratch,
    of_level: Vec<Scratch>,
}

impl<'a> Roller<'a> for SetWork {
    type Groups = Box<[Tally]>;

    fn stride<K: Key>(ground: Ground<'a>) -> usize {
        ground.roll_up.stride::<K>()
    }

    fn begin<K: Key>(ground: Ground<'a>) -> (SetWork, Rows, Box<[Tally]>) {
        let mut work = SetWork::default();
        let rows = ground.roll_up.base::<K>();
        ground.roll_up.gather::<K>(&rows, &mut work.scratch);
        let groups = tallies(ground, &mut work.scratch);
        (work, Rows::of_words(rows), groups)
    }

    fn share(self, _: Ground<'a>, n_threads: usize) -> Vec<SetWork> {
        (0..n_threads).map(|_| SetWork::default()).collect()
    }

    fn step<K: Key>(
        &mut self,
        ground: Ground<'a>,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Box<[Tally]> {
        let (source, words) = (&source.words[..], &mut into.words);
        ground.roll_up.run::<K>(Pass::Step { source, levels, attribute, words, scratch: &mut self.scratch });
        tallies(ground, &mut self.scratch)
    }

    fn all_levels<K: Key>(&mut self, ground: Ground<'a>, source: &Rows, attribute: usize) -> Vec<Box<[Tally]>> {
        self.of_level.resize_with(ground.roll_up.n_levels(attribute), Scratch::default);
        ground.roll_up.run::<K>(Pass::AllLevels { source: &source.words, attribute, of_level: &mut self.of_level });
        self.of_level[1..].iter_mut().map(|scratch| tallies(ground, scratch)).collect()
    }

    fn seen(&self, ground: Ground<'a>, tallies: Box<[Tally]>) -> (Measured, Profile) {
        seen_in_tallies(ground.wanted.yardstick, tallies)
    }

    fn finish(
        _: Vec<SetWork>,
        ground: Ground<'a>,
        made: Vec<(usize, Box<[Tally]>)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        profiles_of_tallies(ground.wanted.yardstick, made, task)
    }
}

fn tallies(ground: Ground, scratch: &mut Scratch) -> Box<[Tally]> {
    match ground.wanted.yardstick.is_over_people() {
        true => scratch.tallies::<1>(),
        false => scratch.tallies::<0>(),
    }
}

/// What criteria see of the groups of a tally, and their records where people are counted.
fn measured_of(
    yardstick: &Yardstick,
    (n_people, n_distinct, size): (u64, u32, u64),
) -> impl Iterator<Item = u64> + use<> {
    // Without a sensitive attribute a signature is a size.
    let measured = [n_people, u64::from(n_distinct)].into_iter().take(yardstick.measures().len());
    measured.chain(yardstick.is_over_people().then_some(size))
}

/// What tells the groups of one tally from those of others.
fn signature_of(tally: &Tally) -> (u64, u32, u64) {
    (tally.n_people(), tally.n_distinct, tally.size())
}

/// The profiles by place, from the tallies of each scheme.
pub(crate) fn profiles_of_tallies(
    yardstick: &Yardstick,
    made: Vec<(usize, Box<[Tally]>)>,
    task: &Task,
) -> Result<(Measured, Vec<Profile>)> {
    let mut seen: FxHashSet<(u64, u32, u64)> = FxHashSet::default();
    for (i, (_, tallies)) in made.iter().enumerate() {
        task.go_on_now_and_then(i, N_SCHEMES_BETWEEN)?;
        seen.extend(tallies.iter().map(signature_of));
    }
    let mut signatures: Vec<(u64, u32, u64)> = seen.into_iter().collect();
    signatures.sort_unstable();
    let numbers: FxHashMap<(u64, u32, u64), u32> = signatures.iter().copied().zip(0..).collect();
    let is_over_people = yardstick.is_over_people();
    let entry =
        |tally: &Tally| Entry { signature: numbers[&signature_of(tally)], n_groups: tally.n_groups, loss: tally.loss };
    let profile = |(i, (_, tallies)): (usize, (usize, Box<[Tally]>))| {
        task.go_on_now_and_then(i, N_SCHEMES_BETWEEN)?;
        let mut entries: Vec<Entry> = tallies.iter().map(entry).collect();
        // Tallies are by records first, which is the order of signatures where these are counted.
        if is_over_people {
            entries.sort_unstable_by_key(|entry| entry.signature);
        }
        Ok(Profile::provisional(entries, Vec::new()))
    };
    let profiles = made.into_par_iter().enumerate().map(profile).collect::<Result<_>>()?;
    let values = signatures.iter().flat_map(|signature| measured_of(yardstick, *signature)).collect();
    Ok((Measured::by(yardstick, values), profiles))
}

/// What criteria see of one scheme's groups, and the profile by that alone.
pub(crate) fn seen_in_tallies(yardstick: &Yardstick, mut tallies: Box<[Tally]>) -> (Measured, Profile) {
    tallies.sort_unstable_by_key(signature_of);
    let values = tallies.iter().flat_map(|tally| measured_of(yardstick, signature_of(tally))).collect();
    // Without a sensitive attribute a signature is a size, and there is one tally of each.
    let entries =
        (0..).zip(&tallies).map(|(signature, tally)| Entry { signature, n_groups: tally.n_groups, loss: tally.loss });
    (Measured::by(yardstick, values), Profile::provisional(entries.collect(), Vec::new()))
}

/// Schemes between two questions whether the work is still wanted.
const N_SCHEMES_BETWEEN: usize = 256;
