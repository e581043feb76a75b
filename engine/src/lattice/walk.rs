//! All schemes, one after the other: a walk through the lattice that changes one level of one attribute at a time.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::counts::{GroupCounts, number};
use crate::criterion::{Measure, Measured, Yardstick};
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::hierarchy::Hierarchy;
use crate::lattice::histograms::{HistogramWork, N_VALUES_MAX, hash_words};
use crate::lattice::people::{self, PeopleCount, fits_tallies, people_of_one_group};
use crate::lattice::people_histograms::PeopleHistograms;
use crate::lattice::profile::{Entry, Profile, SIZE_MASK, Scratch, Tally};
use crate::lattice::regroup::Step;
use crate::lattice::roll_up::{Key, RollUp, Work};
use crate::lattice::rows::Rows;
use crate::lattice::wide::Wide;
use crate::loss::{Entropies, Penalties};
use crate::scheme::Schemes;
use crate::table::Code;
use crate::task::Task;

/// What annotation is to find out about the groups of every scheme.
pub(crate) struct Wanted<'a> {
    pub(crate) yardstick: &'a Yardstick,
    pub(crate) penalties: &'a Penalties,
    pub(crate) entropies: Option<&'a Entropies>,
}

impl Wanted<'_> {
    /// The sensitive attribute whose distinct values are all that is asked beside sizes; none where there is more.
    fn only_distinct(&self) -> Option<Option<usize>> {
        match *self.yardstick.measures() {
            _ if self.entropies.is_some() => None,
            [Measure::Size] => Some(None),
            [Measure::Size, Measure::Distinct(s)] => Some(Some(s)),
            _ => None,
        }
    }
}

/// The profile of every scheme, by its place, the signatures that they are made of, and how many groups were read.
pub(crate) struct RolledUp {
    pub(crate) signatures: Measured,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) n_source_groups: u64,
}

/// Makes the profiles of all schemes.
pub(crate) fn all_profiles(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Wanted,
    schemes: &Schemes,
    task: &Task,
) -> Result<RolledUp> {
    with_roller(counts, hierarchies, wanted, None, AllProfiles { schemes, task, changed: None })
}

/// Makes the profiles of all schemes, leaving out groups that no changed combination is near.
///
/// A group is left out of a scheme only where it holds none of them, and whether it is depends on `changed`, on the scheme
/// and on `order` alone: so that the profiles of two tables that differ in nothing else have the same groups too many.
pub(crate) fn changed_profiles(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Wanted,
    schemes: &Schemes,
    changed: &Changed,
    order: &[usize],
    task: &Task,
) -> Result<RolledUp> {
    with_roller(counts, hierarchies, wanted, Some(order), AllProfiles { schemes, task, changed: Some(changed) })
}

/// Work that is the same for every way to roll up.
pub(crate) trait WithRoller {
    type Done;
    fn work<K: Key, R: Roller>(self, roller: &R, order: &[usize]) -> Result<Self::Done>;
}

/// Refuses tables that no scheme can be looked at of.
pub(crate) fn check_table(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Result<()> {
    if counts.n_records() > SIZE_MASK {
        return Err(Error::new(ErrorKind::TooLarge, format!("more than {SIZE_MASK} records")));
    }
    if hierarchies.is_empty() {
        return Err(Error::new(ErrorKind::Request, "there is no quasi-identifier to generalize"));
    }
    Ok(())
}

/// Does some work with the way to roll up that fits the table and what is wanted; in an order of attributes, if one is
/// given.
pub(crate) fn with_roller<W: WithRoller>(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Wanted,
    order: Option<&[usize]>,
    work: W,
) -> Result<W::Done> {
    check_table(counts, hierarchies)?;
    let is_over_people = wanted.yardstick.is_over_people();
    let only_distinct = wanted.only_distinct().filter(|_| fits_tallies(counts));
    // People who are in one group with one value add up as records do.
    let people = only_distinct.filter(|_| is_over_people).and_then(|s| people_of_one_group(counts, s));
    let are_added_up = !is_over_people || people.is_some();
    let sensitive = only_distinct.flatten();
    let of_sets = sensitive.filter(|_| are_added_up);
    let mut roll_up = RollUp::new(counts, hierarchies, wanted.penalties, wanted.entropies, of_sets, people);
    roll_up.order = order.map_or(roll_up.order, <[usize]>::to_vec);
    let roll_up = &roll_up;
    let yardstick = wanted.yardstick;
    match (only_distinct.is_some(), are_added_up) {
        (true, true) => with_key(roll_up, &Sets { roll_up, yardstick }, work),
        // Wide keys take so long that nothing else matters.
        (true, false) if roll_up.n_bits() <= N_BITS_NARROW => {
            with_narrow_key(roll_up, &SetsOfPeople { roll_up, yardstick, sensitive }, work)
        }
        _ if yardstick.n_slots() > N_VALUES_MAX => {
            Err(Error::new(ErrorKind::TooLarge, format!("more than {N_VALUES_MAX} sensitive values")))
        }
        _ if is_over_people => with_key(roll_up, &HistogramsOfPeople { roll_up, wanted }, work),
        _ => with_key(roll_up, &Histograms { roll_up, wanted }, work),
    }
}

/// Does some work with keys as wide as they have to be.
fn with_key<W: WithRoller, R: Roller>(roll_up: &RollUp, roller: &R, work: W) -> Result<W::Done> {
    let order = &roll_up.order[..];
    match roll_up.n_bits() {
        0..=N_BITS_NARROW => with_narrow_key(roll_up, roller, work),
        128..=255 => work.work::<Wide<4>, R>(roller, order),
        256..=1_023 => work.work::<Wide<16>, R>(roller, order),
        1_024..=N_BITS_MAX => work.work::<Wide<256>, R>(roller, order),
        n_bits => Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "the values of {} quasi-identifiers take {n_bits} bits, and at most {N_BITS_MAX} can be told apart",
                order.len()
            ),
        )
        .hint(Wording::text("choose fewer with ").setting("quasi_identifiers"))),
    }
}

/// The same with keys of one word or two.
fn with_narrow_key<W: WithRoller, R: Roller>(roll_up: &RollUp, roller: &R, work: W) -> Result<W::Done> {
    // One bit less than there is, so that every shift is smaller than the width.
    match roll_up.n_bits() {
        0..=63 => work.work::<u64, R>(roller, &roll_up.order),
        _ => work.work::<u128, R>(roller, &roll_up.order),
    }
}

const N_BITS_NARROW: u32 = 127;
/// The widest keys: thousands of attributes.
const N_BITS_MAX: u32 = 256 * 64 - 1;

struct AllProfiles<'a> {
    schemes: &'a Schemes,
    task: &'a Task<'a>,
    changed: Option<&'a Changed<'a>>,
}

/// What changed in a table.
pub(crate) struct Changed<'a> {
    /// Combinations of the finest scheme, by the codes of the counts.
    pub(crate) combinations: Vec<&'a [Code]>,
    /// By place, about how many groups a scheme has: where they are few, nothing is left out.
    pub(crate) n_groups: Vec<u32>,
}

/// A scheme with fewer groups than this for each change is rolled up as it is: looking for groups that may be left out
/// would take longer.
const N_GROUPS_PER_CHANGE: usize = 4;

impl WithRoller for AllProfiles<'_> {
    type Done = RolledUp;

    fn work<K: Key, R: Roller>(self, roller: &R, order: &[usize]) -> Result<RolledUp> {
        let AllProfiles { schemes, task, changed } = self;
        let chosen = (!schemes.is_complete()).then(|| Chosen::new(schemes, order));
        Walk { roller, schemes, chosen, changed, order, task, n_bytes: AtomicU64::new(0) }.all::<K>()
    }
}

/// The schemes that a walk is for, where that is not all of them; it leaves out the ways that lead to none.
struct Chosen {
    n_attributes: usize,
    /// The level vectors with the attributes in the order of the walk, in order, one after the other.
    vectors: Vec<u8>,
}

impl Chosen {
    fn new(schemes: &Schemes, order: &[usize]) -> Chosen {
        let vector = |place: usize| order.iter().map(|&a| schemes.vector(place)[a]).collect::<Vec<u8>>();
        let mut vectors: Vec<Vec<u8>> = (0..schemes.len()).map(vector).collect();
        vectors.sort_unstable();
        Chosen { n_attributes: order.len(), vectors: vectors.concat() }
    }

    /// The greatest level of the walk's attribute `depth` among chosen schemes that have these levels in those before;
    /// none where there is no such scheme.
    fn greatest(&self, order: &[usize], depth: usize, levels: &[u8]) -> Option<u8> {
        let is_beyond = |vector: &[u8]| {
            let before = order[..depth].iter().map(|&a| levels[a]);
            vector[..depth].iter().copied().cmp(before).is_gt()
        };
        let vector = |i: usize| &self.vectors[i * self.n_attributes..][..self.n_attributes];
        let (mut low, mut high) = (0, self.vectors.len() / self.n_attributes);
        while low < high {
            let middle = low.midpoint(high);
            if is_beyond(vector(middle)) { high = middle } else { low = middle + 1 }
        }
        let last = vector(low.checked_sub(1)?);
        let is_same = order[..depth].iter().zip(last).all(|(&a, level)| levels[a] == *level);
        is_same.then_some(last[depth])
    }
}

/// A way to get from the groups of one scheme to those of a coarser one.
pub(crate) trait Roller: Sync {
    /// What a thread works with.
    type Work: Send;
    /// The groups of one scheme.
    type Groups: Send;

    fn roll_up(&self) -> &RollUp<'_>;
    fn stride<K: Key>(&self) -> usize;
    /// The work that begins, with the rows of the finest scheme and its groups.
    fn begin<K: Key>(&self) -> (Self::Work, Rows, Self::Groups);
    /// The rows of some groups, which increase.
    fn only<K: Key>(&self, rows: &Rows, groups: &[u32]) -> Rows {
        rows.only(self.stride::<K>(), groups)
    }
    /// A place to work for each of several threads, once the first few schemes are made.
    fn share(&self, work: Self::Work, n_threads: usize) -> Vec<Self::Work>;
    /// Replaces `into` by the rows of the scheme `levels`, made from those of the scheme whose `attribute` is one level
    /// finer.
    fn step<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        into: &mut Rows,
    ) -> Self::Groups;
    /// The groups of every level above the lowest of the attribute with the lowest bits: nothing is generalized further
    /// from there, so that no rows need to be kept.
    fn all_levels<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        attribute: usize,
        n_levels: usize,
    ) -> Vec<Self::Groups>;
    /// What criteria see of one scheme's groups, and the profile by that alone.
    fn seen(&self, work: &Self::Work, groups: Self::Groups) -> (Measured, Profile);
    /// The bytes that a scheme's groups take, and those that the work has come to take.
    fn n_bytes(&self, groups: &Self::Groups) -> usize;
    fn n_bytes_of_work(&self, work: &Self::Work) -> usize;
    /// The profiles by place, from the groups of each scheme and the number of the thread that made them.
    fn finish(
        &self,
        works: Vec<Self::Work>,
        made: Vec<(usize, Self::Groups)>,
        task: &Task,
    ) -> Result<(Measured, Vec<Profile>)>;
}

/// Sizes and sets of sensitive values.
struct Sets<'a> {
    roll_up: &'a RollUp<'a>,
    yardstick: &'a Yardstick,
}

impl Sets<'_> {
    fn tallies(&self, scratch: &mut Scratch) -> Box<[Tally]> {
        match self.yardstick.is_over_people() {
            true => scratch.tallies::<1>(),
            false => scratch.tallies::<0>(),
        }
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
        self.roll_up.run::<K>(Work::Step { source, levels, attribute, words, scratch: &mut work.0 });
        self.tallies(&mut work.0)
    }

    fn all_levels<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        attribute: usize,
        n_levels: usize,
    ) -> Vec<Self::Groups> {
        work.1.resize_with(n_levels, Scratch::default);
        self.roll_up.run::<K>(Work::AllLevels { source: &source.words, attribute, of_level: &mut work.1 });
        work.1[1..].iter_mut().map(|scratch| self.tallies(scratch)).collect()
    }

    fn n_bytes(&self, groups: &Self::Groups) -> usize {
        size_of_val(&**groups)
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

/// The same of people who are in several groups, or have several values.
struct SetsOfPeople<'a> {
    roll_up: &'a RollUp<'a>,
    yardstick: &'a Yardstick,
    sensitive: Option<usize>,
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

    fn all_levels<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        attribute: usize,
        _: usize,
    ) -> Vec<Self::Groups> {
        work.all_levels::<K>(self.roll_up, source, attribute)
    }

    fn n_bytes(&self, groups: &Self::Groups) -> usize {
        size_of_val(&**groups)
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

/// Whole histograms of sensitive values.
struct Histograms<'a> {
    roll_up: &'a RollUp<'a>,
    wanted: &'a Wanted<'a>,
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

    fn all_levels<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        attribute: usize,
        n_levels: usize,
    ) -> Vec<Self::Groups> {
        work.all_levels::<K>(self.roll_up, &source.words, attribute);
        (1..n_levels).map(|level| work.profile_of_level(level)).collect()
    }

    fn n_bytes(&self, groups: &Self::Groups) -> usize {
        groups.n_bytes()
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
    let renumbered = |(thread, profile): (usize, Profile)| {
        task.go_on()?;
        Ok(profile.renumbered(|signature| match (signature as usize).checked_sub(n_shared) {
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

/// Whole histograms of the sensitive values that people have.
struct HistogramsOfPeople<'a> {
    roll_up: &'a RollUp<'a>,
    wanted: &'a Wanted<'a>,
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

    fn all_levels<K: Key>(
        &self,
        work: &mut Self::Work,
        source: &Rows,
        attribute: usize,
        _: usize,
    ) -> Vec<Self::Groups> {
        work.all_levels::<K>(self.roll_up, source, attribute)
    }

    fn n_bytes(&self, groups: &Self::Groups) -> usize {
        groups.n_bytes()
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

/// Numbers signatures in an order that depends on nothing but what they measure, by size first; equal ones get one number.
///
/// Returns the signatures by number, and for each part the number of each of its signatures.
pub(crate) fn canonical(yardstick: &Yardstick, parts: &[&[u64]], task: &Task) -> Result<(Measured, Vec<Vec<u32>>)> {
    let n = yardstick.n_measured();
    let is_plain = yardstick.measures().len() <= 2;
    let values = |&(_, _, part, signature): &(u64, u64, u32, u32)| &parts[part as usize][signature as usize * n..][..n];
    let mut order: Vec<(u64, u64, u32, u32)> = Vec::with_capacity(parts.iter().map(|part| part.len() / n).sum());
    for (part, all) in parts.iter().enumerate() {
        for (signature, values) in all.chunks_exact(n).enumerate() {
            // In plain order where there are two measures at most, as sizes and sets have it; else in one that is quick.
            let second = if is_plain { values[n.min(2) - 1] } else { hash_words(values) };
            order.push((values[0], second, number(part), number(signature)));
            task.go_on_now_and_then(order.len(), N_BETWEEN)?;
        }
    }
    order.par_sort_unstable_by(|a, b| {
        (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| values(a).cmp(values(b))).then_with(|| (a.2, a.3).cmp(&(b.2, b.3)))
    });
    let mut numbers: Vec<Vec<u32>> = parts.iter().map(|part| vec![0; part.len() / n]).collect();
    let mut signatures: Vec<u64> = Vec::with_capacity(order.len() * n);
    for (i, signature) in order.iter().enumerate() {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        let values = values(signature);
        if signatures.is_empty() || signatures[signatures.len() - n..] != *values {
            signatures.extend_from_slice(values);
        }
        numbers[signature.2 as usize][signature.3 as usize] = number(signatures.len() / n) - 1;
    }
    signatures.shrink_to_fit();
    Ok((Measured::by(yardstick, signatures), numbers))
}

/// Signatures that some group has, and the profiles by their new numbers.
pub(crate) fn without_unused(signatures: Measured, profiles: Vec<Profile>) -> (Measured, Vec<Profile>) {
    let mut is_used = vec![false; signatures.len()];
    profiles.iter().flat_map(Profile::entries).for_each(|entry| is_used[entry.signature as usize] = true);
    if is_used.iter().all(|is_used| *is_used) {
        return (signatures, profiles);
    }
    let mut numbers = Vec::with_capacity(signatures.len());
    let mut values = Vec::new();
    let mut n_used = 0;
    for (signature, is_used) in is_used.iter().enumerate() {
        numbers.push(n_used);
        if *is_used {
            values.extend_from_slice(signatures.all_of(signature));
            n_used += 1;
        }
    }
    let renumbered = |profile: Profile| profile.renumbered(|signature| numbers[signature as usize]);
    let measured = Measured::new(signatures.measures(), signatures.is_over_people(), values);
    (measured, profiles.into_par_iter().map(renumbered).collect())
}

/// Signatures, and schemes, between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1 << 16;
const N_SCHEMES_BETWEEN: usize = 256;

/// Reused from scheme to scheme by one thread.
struct Workspace<R: Roller> {
    work: R::Work,
    /// The number of the thread.
    thread: usize,
    n_bytes: usize,
    /// Per depth of the walk, the rows of the scheme that it is at and of the one before.
    buffers: Vec<(Rows, Rows)>,
}

impl<R: Roller> Workspace<R> {
    fn new(work: R::Work, thread: usize, depth: usize) -> Workspace<R> {
        Workspace { work, thread, n_bytes: 0, buffers: (0..depth).map(|_| Default::default()).collect() }
    }
}

/// A scheme's groups, who made them, and how many groups were read for it.
struct MadeScheme<R: Roller> {
    place: usize,
    thread: usize,
    groups: R::Groups,
    n_source_groups: u64,
}

/// A walk through all schemes that changes one level of one attribute at a time.
struct Walk<'a, R> {
    roller: &'a R,
    schemes: &'a Schemes,
    /// None where all schemes are wanted.
    chosen: Option<Chosen>,
    /// None where all groups are wanted; otherwise those that may meet one of these combinations.
    changed: Option<&'a Changed<'a>>,
    /// The attributes from the outermost loop to the innermost.
    order: &'a [usize],
    task: &'a Task<'a>,
    /// What rows and the profiles made so far take.
    n_bytes: AtomicU64,
}

/// What is done at a scheme on the way: its levels and its rows are given. An error ends the walk at once.
type Visit<'v, R> = dyn FnMut(&mut [u8], &Rows, &mut Workspace<R>, &mut Vec<MadeScheme<R>>) -> Result<()> + 'v;

impl<R: Roller> Walk<'_, R> {
    /// All profiles, depth first: every scheme from the one whose last generalized attribute is one level finer.
    ///
    /// That is nearly always among the smallest finer schemes, because the attributes that merge least come last;
    /// and only the groups of one path are in memory, most of them in the processor's cache.
    fn all<K: Key>(&self) -> Result<RolledUp> {
        let &Walk { roller, schemes, order, .. } = self;
        // The first attributes are walked alone, until there is enough to do for every thread.
        let n_threads = rayon::current_num_threads();
        let n_tasks_of =
            |depth: usize| order[..depth].iter().map(|&a| schemes.tops()[a] as usize + 1).product::<usize>();
        let n_tasks_wanted = if n_threads == 1 { 1 } else { 4 * n_threads };
        let depth = (0..order.len()).find(|&depth| n_tasks_of(depth) >= n_tasks_wanted).unwrap_or(0);
        let (work, base, groups) = roller.begin::<K>();
        let mut first = Workspace::<R>::new(work, 0, order.len());
        self.reserve(N_ROW_BUFFERS * base.n_bytes())?;
        let finest = vec![0; order.len()];
        let mut made = Vec::new();
        self.record(&finest, groups, 0, &mut first, &mut made)?;
        let mut tasks: Vec<(Vec<u8>, Rows)> = vec![(finest, base)];
        for done in 0..depth {
            for (mut levels, rows) in std::mem::take(&mut tasks) {
                let rows = self.near_changes::<K>(done, &levels, &rows).into_owned();
                self.along::<K>(done, &mut levels, &rows, &mut first, &mut made, &mut |levels, rows, _, _| {
                    tasks.push((levels.to_vec(), rows.clone()));
                    Ok(())
                })?;
                tasks.push((levels, rows));
            }
            self.reserve(tasks.iter().map(|(_, rows)| rows.n_bytes()).sum())?;
        }
        let works = roller.share(first.work, n_threads).into_iter().enumerate();
        let workspaces: Vec<Mutex<Workspace<R>>> =
            works.map(|(thread, work)| Mutex::new(Workspace::new(work, thread, order.len()))).collect();
        let of_tasks: Vec<Vec<MadeScheme<R>>> = tasks
            .into_par_iter()
            .map(|(mut levels, rows)| {
                // Each thread has a workspace of its own, and does one task at a time.
                let thread = rayon::current_thread_index().unwrap_or(0) % n_threads;
                let mut workspace = workspaces[thread].lock().unwrap_or_else(PoisonError::into_inner);
                let mut made = Vec::new();
                self.descend::<K>(depth, &mut levels, &rows, &mut workspace, &mut made)?;
                Ok(made)
            })
            .collect::<Result<_>>()?;

        let mut by_place: Vec<Option<(usize, R::Groups)>> = (0..schemes.len()).map(|_| None).collect();
        let mut n_source_groups = 0;
        for made in made.into_iter().chain(of_tasks.into_iter().flatten()) {
            by_place[made.place] = Some((made.thread, made.groups));
            n_source_groups += made.n_source_groups;
        }
        let by_place = by_place.into_iter().map(|made| made.expect("every scheme was visited")).collect();
        let work_of =
            |workspace: Mutex<Workspace<R>>| workspace.into_inner().unwrap_or_else(PoisonError::into_inner).work;
        let works = workspaces.into_iter().map(work_of);
        let (signatures, profiles) = roller.finish(works.collect(), by_place, self.task)?;
        Ok(RolledUp { signatures, profiles, n_source_groups })
    }

    /// Makes all schemes that generalize further from here by attributes from `depth` on.
    fn descend<K: Key>(
        &self,
        depth: usize,
        levels: &mut [u8],
        rows: &Rows,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R>>,
    ) -> Result<()> {
        let last = self.order.len() - 1;
        if self.greatest(depth, levels).is_none() {
            return Ok(());
        }
        let rows = &*self.near_changes::<K>(depth, levels, rows);
        for deeper in depth..last {
            self.along::<K>(deeper, levels, rows, workspace, made, &mut |levels, rows, workspace, made| {
                self.descend::<K>(deeper + 1, levels, rows, workspace, made)
            })?;
        }
        self.innermost::<K>(levels, rows, workspace, made)
    }

    /// Makes all levels of the last attribute in one pass.
    fn innermost<K: Key>(
        &self,
        levels: &mut [u8],
        rows: &Rows,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R>>,
    ) -> Result<()> {
        let attribute = *self.order.last().expect("there is at least one attribute");
        if self.greatest(self.order.len() - 1, levels).unwrap_or(0) == 0 {
            return Ok(());
        }
        let n_rows = (rows.words.len() / self.roller.stride::<K>()) as u64;
        let n_levels = self.schemes.tops()[attribute] as usize + 1;
        let of_levels = self.roller.all_levels::<K>(&mut workspace.work, rows, attribute, n_levels);
        for (level, groups) in (1..).zip(of_levels) {
            levels[attribute] = level;
            // The rows are read once for all levels.
            self.record(levels, groups, if level == 1 { n_rows } else { 0 }, workspace, made)?;
        }
        levels[attribute] = 0;
        Ok(())
    }

    /// Generalizes one attribute level by level, and calls `visit` with the groups of each scheme on the way.
    ///
    /// After an error the levels are those of the scheme that it came from: nobody may go on from there.
    fn along<K: Key>(
        &self,
        depth: usize,
        levels: &mut [u8],
        rows: &Rows,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R>>,
        visit: &mut Visit<R>,
    ) -> Result<()> {
        let attribute = self.order[depth];
        let (mut now, mut next) = std::mem::take(&mut workspace.buffers[depth]);
        for level in 1..=self.greatest(depth, levels).unwrap_or(0) {
            levels[attribute] = level;
            let source = if level == 1 { rows } else { &now };
            let n_source_groups = (source.words.len() / self.roller.stride::<K>()) as u64;
            let groups = self.roller.step::<K>(&mut workspace.work, source, levels, attribute, &mut next);
            self.record(levels, groups, n_source_groups, workspace, made)?;
            std::mem::swap(&mut now, &mut next);
            visit(levels, &now, workspace, made)?;
        }
        levels[attribute] = 0;
        workspace.buffers[depth] = (now, next);
        Ok(())
    }

    /// The rows that may still meet a changed combination when the walk's attributes from `depth` on are generalized: those
    /// that agree with one in all attributes before, whose levels are settled.
    fn near_changes<'r, K: Key>(&self, depth: usize, levels: &[u8], rows: &'r Rows) -> Cow<'r, Rows> {
        let has_many = |changed: &&Changed| {
            let n_groups = self.schemes.find_levels(levels).map_or(0, |place| changed.n_groups[place] as usize);
            n_groups > changed.combinations.len() * N_GROUPS_PER_CHANGE
        };
        let Some(changed) = self.changed.filter(|_| depth > 0).filter(has_many) else { return Cow::Borrowed(rows) };
        let trees = &self.roller.roll_up().trees;
        let (settled, open) = self.order.split_at(depth);
        let label = |a: usize, code: Code| {
            let tree = &trees[a];
            u64::from(tree.above[levels[a] as usize][tree.of_base[code.index()] as usize])
        };
        let prefix = |codes: &&[Code]| {
            settled.iter().fold(K::of_code(0), |key, &a| {
                key.shifted_left(trees[a].widths[levels[a] as usize]).or(K::of_code(label(a, codes[a])))
            })
        };
        let mut prefixes: Vec<K> = changed.combinations.iter().map(prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let n_open_bits: u32 = open.iter().map(|&a| trees[a].widths[levels[a] as usize]).sum();
        let mut kept = Vec::new();
        let mut next = 0;
        for (row, group) in rows.words.chunks_exact(self.roller.stride::<K>()).zip(0..) {
            let prefix = K::read(row).shifted_right(n_open_bits);
            while next < prefixes.len() && prefixes[next] < prefix {
                next += 1;
            }
            match prefixes.get(next) {
                Some(found) if *found == prefix => kept.push(group),
                Some(_) => {}
                None => break,
            }
        }
        Cow::Owned(self.roller.only::<K>(rows, &kept))
    }

    /// The greatest level of an attribute that is wanted with the levels of those before.
    fn greatest(&self, depth: usize, levels: &[u8]) -> Option<u8> {
        match &self.chosen {
            Some(chosen) => chosen.greatest(self.order, depth, levels),
            None => Some(self.schemes.tops()[self.order[depth]]),
        }
    }

    /// Takes note of a scheme that is made; an error where the work is to end there.
    fn record(
        &self,
        levels: &[u8],
        groups: R::Groups,
        n_source_groups: u64,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R>>,
    ) -> Result<()> {
        let Some(place) = self.schemes.find_levels(levels) else { return Ok(()) };
        let n_bytes_of_work = self.roller.n_bytes_of_work(&workspace.work);
        let n_new = self.roller.n_bytes(&groups) + n_bytes_of_work.saturating_sub(workspace.n_bytes);
        workspace.n_bytes = workspace.n_bytes.max(n_bytes_of_work);
        self.reserve(n_new as u64)?;
        made.push(MadeScheme { place, thread: workspace.thread, groups, n_source_groups });
        (self.task.progress)(1);
        self.task.go_on()
    }

    /// Takes note of memory that is needed from now on, and refuses what is too much.
    fn reserve(&self, n_new: u64) -> Result<()> {
        let n_bytes = self.n_bytes.fetch_add(n_new, Ordering::Relaxed) + n_new;
        match n_bytes > self.task.n_bytes_max {
            true => Err(too_large(self.order.len(), self.schemes.len() as u64, n_bytes, self.task)),
            false => Ok(()),
        }
    }
}

/// How many times the finest rows are in memory at once, in one form or another, beside what has shrunk already.
const N_ROW_BUFFERS: u64 = 4;

/// Beyond this, a number of bytes tells nobody anything.
pub const N_BYTES_OF_ANY_MACHINE: u64 = 1_000_000_000_000_000;

/// Refuses a lattice of so many schemes that it cannot fit, before anything is made.
pub(crate) fn check_size(n_attributes: usize, n_schemes: u64, task: &Task) -> Result<()> {
    // A profile has at least one entry, the grids have a few dozen columns, and places are 32-bit numbers.
    let n_bytes_least = n_schemes.saturating_mul(256);
    match n_bytes_least > task.n_bytes_max || n_schemes > u64::from(u32::MAX) {
        true => Err(too_large(n_attributes, n_schemes, n_bytes_least, task)),
        false => Ok(()),
    }
}

fn too_large(n_attributes: usize, n_schemes: u64, n_bytes: u64, task: &Task) -> Error {
    let size = |n_bytes: u64| match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{} MB", n_bytes.div_ceil(1_000_000)),
    };
    let needed = match n_bytes < N_BYTES_OF_ANY_MACHINE {
        true => format!("more than {}", size(n_bytes)),
        false => "more memory than any machine has".to_string(),
    };
    let how_many = if n_schemes == u64::MAX { "over 10^19".to_string() } else { n_schemes.to_string() };
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "the lattice of {n_attributes} quasi-identifiers has {how_many} schemes and needs {needed}, \
             where {} are allowed",
            size(task.n_bytes_max)
        ),
    )
    .hint(
        Wording::text("choose fewer with ")
            .setting("quasi_identifiers")
            .and(", give the hierarchies fewer levels, or allow more with ")
            .setting("memory"),
    )
}
