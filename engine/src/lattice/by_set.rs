//! Sizes and sets of sensitive values: all that k and distinct l need.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::lattice::people::{self, PeopleCount};
use crate::lattice::profile::{Entry, Profile, Scratch, Tally};
use crate::lattice::regroup::Step;
use crate::lattice::roll_up::{Key, Pass, RollUp};
use crate::lattice::roller::Roller;
use crate::lattice::rows::Rows;
use crate::task::Task;

/// Sizes and sets of sensitive values.
pub(crate) struct Sets<'a> {
    pub(crate) roll_up: &'a RollUp<'a>,
    pub(crate) yardstick: &'a Yardstick,
}

impl Sets<'_> {
    fn tallies(&self, scratch: &mut Scratch) -> Box<[Tally]> {
        match self.yardstick.is_over_people() {
            true => scratch.tallies::<1>(),
            false => scratch.tallies::<0>(),
        }
    }
}

impl Roller for Sets<'_> {
    type Work = (Scratch, Vec<Scratch>);
    type Groups = Box<[Tally]>;

    fn roll_up(&self) -> &RollUp<'_> {
        self.roll_up
    }

    fn stride<K: Key>(&self) -> usize {
        self.roll_up.stride::<K>()
    }

    fn begin<K: Key>(&self) -> (Self::Work, Rows, Self::Groups) {
        let mut scratch = Scratch::default();
        let rows = self.roll_up.base::<K>();
        self.roll_up.gather::<K>(&rows, &mut scratch);
        let groups = self.tallies(&mut scratch);
        ((scratch, Vec::new()), Rows::of_words(rows), groups)
    }

    fn share(&self, _: Self::Work, n_threads: usize) -> Vec<Self::Work> {
        (0..n_threads).map(|_| Default::default()).collect()
    }

    fn step<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Self::Groups {
        let (source, words) = (&source.words[..], &mut into.words);
        self.roll_up.run::<K>(Pass::Step { source, levels, attribute, words, scratch: &mut work.0 });
        self.tallies(&mut work.0)
    }

    fn all_levels<K: Key>(&self, work: &mut Self::Work, source: &Rows, attribute: usize) -> Vec<Self::Groups> {
        work.1.resize_with(self.roll_up.n_levels(attribute), Scratch::default);
        self.roll_up.run::<K>(Pass::AllLevels { source: &source.words, attribute, of_level: &mut work.1 });
        work.1[1..].iter_mut().map(|scratch| self.tallies(scratch)).collect()
    }

    fn n_bytes_of_work(&self, _: &Self::Work) -> usize {
        0
    }

    fn finish(
        &self,
        _: Vec<Self::Work>,
        made: Vec<(usize, Self::Groups)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        profiles_of_tallies(self.yardstick, made, task)
    }

    fn seen(&self, _: &Self::Work, tallies: Self::Groups) -> (Measured, Profile) {
        seen_in_tallies(self.yardstick, tallies)
    }
}

/// The same of people who are in several groups, or have several values.
pub(crate) struct SetsOfPeople<'a> {
    pub(crate) roll_up: &'a RollUp<'a>,
    pub(crate) yardstick: &'a Yardstick,
    pub(crate) sensitive: Option<usize>,
}

impl Roller for SetsOfPeople<'_> {
    type Work = PeopleCount;
    type Groups = Box<[Tally]>;

    fn roll_up(&self) -> &RollUp<'_> {
        self.roll_up
    }

    fn stride<K: Key>(&self) -> usize {
        K::N_WORDS + people::N_WORDS
    }

    fn begin<K: Key>(&self) -> (Self::Work, Rows, Self::Groups) {
        let mut work = PeopleCount::new(self.roll_up.counts, self.sensitive);
        let (rows, groups) = work.base::<K>(self.roll_up);
        (work, rows, groups)
    }

    fn only<K: Key>(&self, rows: &Rows, groups: &[u32]) -> Rows {
        people::only::<K>(rows, groups)
    }

    fn share(&self, work: Self::Work, n_threads: usize) -> Vec<Self::Work> {
        (0..n_threads).map(|_| work.with_same_sets(self.roll_up.counts)).collect()
    }

    fn step<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Self::Groups {
        work.step::<K>(self.roll_up, source, Step::to(self.roll_up, levels, attribute), into)
    }

    fn all_levels<K: Key>(&self, work: &mut Self::Work, source: &Rows, attribute: usize) -> Vec<Self::Groups> {
        work.all_levels::<K>(self.roll_up, source, attribute)
    }

    fn n_bytes_of_work(&self, work: &Self::Work) -> usize {
        work.n_bytes()
    }

    fn finish(
        &self,
        _: Vec<Self::Work>,
        made: Vec<(usize, Self::Groups)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        profiles_of_tallies(self.yardstick, made, task)
    }

    fn seen(&self, _: &Self::Work, tallies: Self::Groups) -> (Measured, Profile) {
        seen_in_tallies(self.yardstick, tallies)
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
fn profiles_of_tallies(
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
fn seen_in_tallies(yardstick: &Yardstick, mut tallies: Box<[Tally]>) -> (Measured, Profile) {
    tallies.sort_unstable_by_key(signature_of);
    let values = tallies.iter().flat_map(|tally| measured_of(yardstick, signature_of(tally))).collect();
    // Without a sensitive attribute a signature is a size, and there is one tally of each.
    let entries =
        (0..).zip(&tallies).map(|(signature, tally)| Entry { signature, n_groups: tally.n_groups, loss: tally.loss });
    (Measured::by(yardstick, values), Profile::provisional(entries.collect(), Vec::new()))
}

/// Schemes between two questions whether the work is still wanted.
const N_SCHEMES_BETWEEN: usize = 256;
