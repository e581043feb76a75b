//! Whole histograms of sensitive values, for all other criteria.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::lattice::histograms::HistogramWork;
use crate::lattice::people_histograms::PeopleHistograms;
use crate::lattice::profile::{Profile, Renumbering};
use crate::lattice::regroup::Step;
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::roller::{Roller, Wanted};
use crate::lattice::rows::Rows;
use crate::lattice::signatures::{canonical, without_unused};
use crate::task::Task;

/// Whole histograms of sensitive values.
pub(crate) struct Histograms<'a> {
    pub(crate) roll_up: &'a RollUp<'a>,
    pub(crate) wanted: &'a Wanted<'a>,
}

impl<'a> Roller for Histograms<'a> {
    type Work = HistogramWork<'a>;
    type Groups = Profile;

    fn roll_up(&self) -> &RollUp<'_> {
        self.roll_up
    }

    fn stride<K: Key>(&self) -> usize {
        K::N_WORDS + 2
    }

    fn begin<K: Key>(&self) -> (Self::Work, Rows, Self::Groups) {
        let mut work = HistogramWork::first(self.wanted.yardstick, self.wanted.entropies.is_some());
        let rows = work.base::<K>(self.roll_up);
        let groups = work.gather_rows::<K>(&rows);
        (work, Rows::of_words(rows), groups)
    }

    fn share(&self, work: Self::Work, n_threads: usize) -> Vec<Self::Work> {
        work.shared(n_threads)
    }

    fn step<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Self::Groups {
        work.step::<K>(self.roll_up, &source.words, levels, attribute, &mut into.words)
    }

    fn all_levels<K: Key>(&self, work: &mut Self::Work, source: &Rows, attribute: usize) -> Vec<Self::Groups> {
        work.all_levels::<K>(self.roll_up, &source.words, attribute);
        (1..self.roll_up.n_levels(attribute)).map(|level| work.profile_of_level(level)).collect()
    }

    fn n_bytes_of_work(&self, work: &Self::Work) -> usize {
        work.n_bytes()
    }

    fn finish(
        &self,
        works: Vec<Self::Work>,
        made: Vec<(usize, Self::Groups)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        profiles_of_histograms(self.wanted.yardstick, works, made, task)
    }

    fn seen(&self, work: &Self::Work, profile: Self::Groups) -> (Measured, Profile) {
        seen_in_histograms(self.wanted.yardstick, work, profile)
    }
}

/// Whole histograms of the sensitive values that people have.
pub(crate) struct HistogramsOfPeople<'a> {
    pub(crate) roll_up: &'a RollUp<'a>,
    pub(crate) wanted: &'a Wanted<'a>,
}

impl<'a> Roller for HistogramsOfPeople<'a> {
    type Work = PeopleHistograms<'a>;
    type Groups = Profile;

    fn roll_up(&self) -> &RollUp<'_> {
        self.roll_up
    }

    fn stride<K: Key>(&self) -> usize {
        K::N_WORDS + 2
    }

    fn begin<K: Key>(&self) -> (Self::Work, Rows, Self::Groups) {
        let mut work = PeopleHistograms::first(self.wanted.yardstick, self.wanted.entropies.is_some());
        let (rows, groups) = work.base::<K>(self.roll_up);
        (work, rows, groups)
    }

    fn share(&self, work: Self::Work, n_threads: usize) -> Vec<Self::Work> {
        work.shared(n_threads)
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
        works: Vec<Self::Work>,
        made: Vec<(usize, Self::Groups)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        let works = works.into_iter().map(|work| work.histograms).collect();
        let (signatures, profiles) = profiles_of_histograms(self.wanted.yardstick, works, made, task)?;
        // Groups on the way to a chosen scheme have signatures too.
        Ok(without_unused(signatures, profiles))
    }

    fn seen(&self, work: &Self::Work, profile: Self::Groups) -> (Measured, Profile) {
        seen_in_histograms(self.wanted.yardstick, &work.histograms, profile)
    }
}

/// The profiles by place, from those by the signatures of each thread.
fn profiles_of_histograms(
    yardstick: &Yardstick,
    works: Vec<HistogramWork>,
    made: Vec<(usize, Profile)>,
    task: &Task,
) -> Result<(Measured, Vec<Profile>)> {
    let measured: Vec<_> = works.into_iter().map(HistogramWork::measured).collect();
    let shared = &measured.first().expect("at least one thread worked").0;
    let n_shared = shared.len();
    let parts: Vec<&[u64]> =
        std::iter::once(shared.measured()).chain(measured.iter().map(|(_, own)| &own[..])).collect();
    let (signatures, numbers) = canonical(yardstick, &parts, task)?;
    let rooms: Vec<Mutex<Renumbering>> =
        (0..rayon::current_num_threads()).map(|_| Mutex::new(Renumbering::new(signatures.len()))).collect();
    let renumbered = |(thread, profile): (usize, Profile)| {
        task.go_on()?;
        let room = &rooms[rayon::current_thread_index().unwrap_or(0) % rooms.len()];
        let mut room = room.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(profile.renumbered_in(&mut room, |signature| match (signature as usize).checked_sub(n_shared) {
            None => numbers[0][signature as usize],
            Some(own) => numbers[1 + thread][own],
        }))
    };
    let profiles = made.into_par_iter().map(renumbered).collect::<Result<_>>()?;
    Ok((signatures, profiles))
}

/// What criteria see of one scheme's groups, and the profile by that alone.
fn seen_in_histograms(yardstick: &Yardstick, work: &HistogramWork, profile: Profile) -> (Measured, Profile) {
    let numbers: FxHashMap<u32, usize> =
        profile.entries().iter().enumerate().map(|(at, entry)| (entry.signature, at)).collect();
    let values: Vec<u64> =
        profile.entries().iter().flat_map(|entry| work.measured_of(entry.signature).iter().copied()).collect();
    let (signatures, canonical) = canonical(yardstick, &[&values], &Task::default()).expect("nobody stops it");
    (signatures, profile.renumbered(|signature| canonical[0][numbers[&signature]]))
}
