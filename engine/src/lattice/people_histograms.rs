//! From the groups of one scheme to those of a coarser one, with all that criteria over people ask of the sensitive values.
//!
//! Rows are those of [`crate::lattice::histograms`]: the signature of a group is that of all who are in it. Where groups
//! become one, their signatures are added up, and corrected for everybody who was in several of them.

use crate::counts::GroupCounts;
use crate::criterion::Yardstick;
use crate::lattice::drifters::{Members, ValueSets, follow};
use crate::lattice::histograms::{HistogramWork, base_groups};
use crate::lattice::profile::{Profile, SIZE_BITS};
use crate::lattice::regroup::{Corrections, Regrouping, Step};
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::rows::Rows;

/// What one thread works with.
pub(crate) struct PeopleHistograms<'a> {
    pub(crate) histograms: HistogramWork<'a>,
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

    pub(crate) fn first(yardstick: &'a Yardstick, has_entropies: bool) -> PeopleHistograms<'a> {
        PeopleHistograms::new(HistogramWork::first(yardstick, has_entropies), ValueSets::new(yardstick.n_values()))
    }

    /// For each of several threads, a place to work that knows all signatures and sets of values so far.
    pub(crate) fn shared(self, n_threads: usize) -> Vec<PeopleHistograms<'a>> {
        let sets = self.sets;
        let works = self.histograms.shared(n_threads).into_iter();
        works.map(|histograms| PeopleHistograms::new(histograms, sets.clone())).collect()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.histograms.n_bytes() + self.sets.n_bytes()
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
    pub(crate) fn base<K: Key>(&mut self, roll_up: &RollUp) -> (Rows, Profile) {
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
    pub(crate) fn step<K: Key>(&mut self, roll_up: &RollUp, source: &Rows, step: Step, into: &mut Rows) -> Profile {
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

    /// The groups of every level above the lowest of the attribute with the lowest bits.
    pub(crate) fn all_levels<K: Key>(&mut self, roll_up: &RollUp, source: &Rows, attribute: usize) -> Vec<Profile> {
        let [mut now, mut next] = std::mem::take(&mut self.spare);
        let mut profiles = Vec::new();
        for level in 1..roll_up.trees[attribute].above.len() {
            let source = if level == 1 { source } else { &now };
            profiles.push(self.step::<K>(roll_up, source, Step { attribute, level, n_lower: 0 }, &mut next));
            std::mem::swap(&mut now, &mut next);
        }
        self.spare = [now, next];
        profiles
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
