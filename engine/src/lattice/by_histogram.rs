//! Whole histograms of sensitive values, for all other criteria.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::lattice::histograms::HistogramWork;
use crate::lattice::profile::{Profile, Renumbering};
use crate::lattice::roll_up::Key;
use crate::lattice::roller::{Ground, Roller};
use crate::lattice::rows::Rows;
use crate::lattice::signatures::canonical;
use crate::task::Task;

impl<'a> Roller<'a> for HistogramWork<'a> {
    type Groups = Profile;

    fn begin<K: Key>(ground: Ground<'a>) -> (HistogramWork<'a>, Rows, Profile) {
        let mut work = HistogramWork::first(ground.wanted.yardstick, ground.wanted.entropies.is_some());
        let rows = work.base::<K>(ground.roll_up);
        let groups = work.gather_rows::<K>(&rows);
        (work, Rows::of_words(rows), groups)
    }

    fn share(self, _: Ground<'a>, n_threads: usize) -> Vec<HistogramWork<'a>> {
        self.shared(n_threads)
    }

    fn step<K: Key>(
        &mut self,
        ground: Ground<'a>,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Profile {
        self.step::<K>(ground.roll_up, &source.words, levels, attribute, &mut into.words)
    }

    fn all_levels<K: Key>(&mut self, ground: Ground<'a>, source: &Rows, attribute: usize) -> Vec<Profile> {
        self.all_levels::<K>(ground.roll_up, &source.words, attribute);
        (1..ground.roll_up.n_levels(attribute)).map(|level| self.profile_of_level(level)).collect()
    }

    fn n_bytes(&self) -> usize {
        HistogramWork::n_bytes(self)
    }

    fn seen(&self, ground: Ground<'a>, profile: Profile) -> (Measured, Profile) {
        seen_in_histograms(ground.wanted.yardstick, self, profile)
    }

    fn finish(
        works: Vec<HistogramWork<'a>>,
        ground: Ground<'a>,
        made: Vec<(usize, Profile)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        profiles_of_histograms(ground.wanted.yardstick, works, made, task)
    }
}

/// The profiles by place, from those by the signatures of each thread.
pub(crate) fn profiles_of_histograms(
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
pub(crate) fn seen_in_histograms(yardstick: &Yardstick, work: &HistogramWork, profile: Profile) -> (Measured, Profile) {
    let numbers: FxHashMap<u32, usize> =
        profile.entries().iter().enumerate().map(|(at, entry)| (entry.signature, at)).collect();
    let values: Vec<u64> =
        profile.entries().iter().flat_map(|entry| work.measured_of(entry.signature).iter().copied()).collect();
    let (signatures, canonical) = canonical(yardstick, &[&values], &Task::default()).expect("nobody stops it");
    (signatures, profile.renumbered(|signature| canonical[0][numbers[&signature]]))
}
