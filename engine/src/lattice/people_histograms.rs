//! From the groups of one scheme to those of a coarser one, with all that criteria over people ask of the sensitive values.
//!
//! Rows are those of [`crate::lattice::histograms`]: the signature of a group is that of all who are in it. Where groups
//! become one, their signatures are added up, and corrected for everybody who was in several of them.

use crate::counts::GroupCounts;
use crate::criterion::Measured;
use crate::error::Result;
use crate::lattice::drifters::{Members, ValueSets, follow};
use crate::lattice::histograms::{HistogramWork, base_groups};
use crate::lattice::profile::{Profile, SIZE_BITS};
use crate::lattice::regroup::{Corrections, LevelStep, Regrouping};
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::roller::{Ground, Roller};
use crate::lattice::rows::Rows;
use crate::lattice::signatures::without_unused;
use crate::task::Task;

/// What one thread works with.
pub(crate) struct PeopleHistograms<'a> {
    histograms: HistogramWork<'a>,
    sets: ValueSets,
    regrouping: Regrouping,
    corrections: Corrections,
    /// What somebody has in one group, in the other, and in both.
    values: [Vec<u32>; 3],
    /// The rows of two schemes, one made from the other.
    spare: [Rows; 2],
}

impl<'a> PeopleHistograms<'a> {
    fn new(histograms: HistogramWork<'a>, sets: ValueSets) -> PeopleHistograms<'a> {
        PeopleHistograms {
            histograms,
            sets,
            regrouping: Regrouping::default(),
            corrections: Corrections::default(),
            values: Default::default(),
            spare: Default::default(),
        }
    }

    /// Follows those who are in several groups, and notes what the sums of united groups have too much for them.
    fn follow(&mut self, source: &[u64], into: &mut Vec<u64>) {
        let yardstick = self.histograms.signatures.yardstick;
        let PeopleHistograms { sets, regrouping, corrections, values: [of_one, of_other, of_both], .. } = self;
        corrections.clear(regrouping.n_united());
        follow(source, &regrouping.new_of, sets, into, |sets, group, one, other| {
            let place = regrouping.place(group);
            let both = sets.union(one, other);
            for (set, values) in [(one, &mut *of_one), (other, &mut *of_other), (both, &mut *of_both)] {
                values.clear();
                sets.for_each(set, |value| values.push(value));
            }
            yardstick.person(of_one, |slot, n| corrections.push(place, slot, n.wrapping_neg()));
            yardstick.person(of_other, |slot, n| corrections.push(place, slot, n.wrapping_neg()));
            yardstick.person(of_both, |slot, n| corrections.push(place, slot, n));
        });
    }

    /// The groups of the finest scheme, and of the population.
    fn base<K: Key>(&mut self, roll_up: &RollUp) -> (Rows, Profile) {
        let counts = roll_up.counts;
        let yardstick = self.histograms.signatures.yardstick;
        let groups = base_groups::<K>(roll_up);
        let mut row_of_group = vec![0; counts.n_groups()];
        for (&(_, group, _), row) in groups.iter().zip(0..) {
            if let Some(known) = row_of_group.get_mut(group) {
                *known = row;
            }
        }
        let add_values = |cell: usize, values: &mut Vec<u32>| {
            let codes = counts.codes_of_cell(cell).iter().enumerate();
            values.extend(codes.map(|(s, code)| yardstick.value(s, code.0)));
        };
        let members = Members::new(counts, &row_of_group, &mut self.sets, add_values);
        let mut rest = &members.of_rows[..];
        let stride = K::N_WORDS + 2;
        let mut words = vec![0; groups.len() * stride];
        let mut values = Vec::new();
        for ((row, &(key, group, population)), number) in words.chunks_exact_mut(stride).zip(&groups).zip(0..) {
            let (here, others) = rest.split_at(rest.iter().take_while(|(row, _)| *row == number).count());
            rest = others;
            for (_, set) in here {
                values.clear();
                self.sets.for_each(*set, |value| values.push(value));
                self.histograms.signatures.add_person(&values);
            }
            let (size, loss, entropy) = of_group(counts, roll_up, group);
            let signature = self.histograms.signatures.gather(size, population);
            key.write(row);
            row[K::N_WORDS] = size | loss << SIZE_BITS;
            row[K::N_WORDS + 1] = u64::from(signature) | entropy << 32;
        }
        let profile = self.histograms.gather_rows::<K>(&words);
        (Rows { words, cells: Vec::new(), drifters: members.drifters }, profile)
    }

    /// Replaces `into` by the rows of the scheme that the step leads to, and gathers its groups.
    fn step_to<K: Key>(&mut self, roll_up: &RollUp, source: &Rows, step: LevelStep, into: &mut Rows) -> Profile {
        let stride = K::N_WORDS + 2;
        self.regrouping.step::<K, 2>(roll_up, &source.words, step, &mut into.words);
        self.follow(&source.drifters, &mut into.drifters);
        for (place, (group, parts)) in self.regrouping.united().enumerate() {
            let signatures = parts.iter().map(|part| source.words[*part as usize * stride + K::N_WORDS + 1] as u32);
            let signature = match self.corrections.has_any(place) {
                false => self.histograms.signatures.unite(signatures),
                true => self.histograms.signatures.add_up_corrected(signatures, self.corrections.of(place)),
            };
            let word = &mut into.words[group * stride + K::N_WORDS + 1];
            *word = u64::from(signature) | *word >> 32 << 32;
        }
        self.histograms.gather_rows::<K>(&into.words)
    }
}

impl<'a> Roller<'a> for PeopleHistograms<'a> {
    type Groups = Profile;

    fn begin<K: Key>(ground: Ground<'a>) -> (PeopleHistograms<'a>, Rows, Profile) {
        let yardstick = ground.wanted.yardstick;
        let histograms = HistogramWork::first(yardstick, ground.wanted.entropies.is_some());
        let mut work = PeopleHistograms::new(histograms, ValueSets::new(yardstick.n_values()));
        let (rows, groups) = work.base::<K>(ground.roll_up);
        (work, rows, groups)
    }

    /// All threads know the signatures and sets of values so far.
    fn share(self, _: Ground<'a>, n_threads: usize) -> Vec<PeopleHistograms<'a>> {
        let sets = self.sets;
        let works = self.histograms.shared(n_threads).into_iter();
        works.map(|histograms| PeopleHistograms::new(histograms, sets.clone())).collect()
    }

    fn step<K: Key>(
        &mut self,
        ground: Ground<'a>,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Profile {
        self.step_to::<K>(ground.roll_up, source, LevelStep::to(ground.roll_up, levels, attribute), into)
    }

    fn all_levels<K: Key>(&mut self, ground: Ground<'a>, source: &Rows, attribute: usize) -> Vec<Profile> {
        let [mut now, mut next] = std::mem::take(&mut self.spare);
        let mut profiles = Vec::new();
        for level in 1..ground.roll_up.n_levels(attribute) {
            let source = if level == 1 { source } else { &now };
            profiles.push(self.step_to::<K>(
                ground.roll_up,
                source,
                LevelStep { attribute, level, n_lower: 0 },
                &mut next,
            ));
            std::mem::swap(&mut now, &mut next);
        }
        self.spare = [now, next];
        profiles
    }

    fn n_bytes(&self) -> usize {
        self.histograms.n_bytes() + self.sets.n_bytes()
    }

    fn seen(&self, ground: Ground<'a>, profile: Profile) -> (Measured, Profile) {
        self.histograms.seen(ground, profile)
    }

    fn finish(
        works: Vec<PeopleHistograms<'a>>,
        ground: Ground<'a>,
        made: Vec<(usize, Profile)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)> {
        let works = works.into_iter().map(|work| work.histograms).collect();
        let (signatures, profiles) = HistogramWork::finish(works, ground, made, task)?;
        // Groups on the way to a chosen scheme have signatures too.
        Ok(without_unused(signatures, profiles))
    }
}

/// The records of a group of the finest scheme, and the loss and entropy of each; nothing where only the population has it.
fn of_group(counts: &GroupCounts, roll_up: &RollUp, group: usize) -> (u64, u64, u64) {
    match group {
        usize::MAX => (0, 0, 0),
        group => {
            let codes = counts.codes(group);
            (counts.size(group), roll_up.loss_of(codes), roll_up.entropy_of(codes))
        }
    }
}
