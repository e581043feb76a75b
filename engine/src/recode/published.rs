//! The two methods of Xu et al., "Utility-based anonymization using local recoding" (KDD 2006), as they are printed.
//!
//! They are here to be compared with ours ([`crate::recode::bottom_up`], [`crate::recode::top_down`]), which are
//! quicker: here every search looks at everything there is. (Where a table is small, ours look at these classes too, from above
//! also where it has few classes.) What the paper leaves open is done plainly: tables are in the
//! order of their values, equal records are one group from the start, the first of several that are as good is taken, and
//! a group that is too large is split in the order in which its records joined it.
//!
//! What it costs: from below, the square of the distinct records; from above, the groups that are too small times the
//! distinct records.

use std::cmp::Reverse;

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::recode::partition::{Least, Part, Partition};
use crate::recode::space::{Side, Space};
use crate::task::Task;

/// From below (Figure 4): every group that is too small is united with the one with which the union loses least.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for. The classes depend
/// on the table, the weights, k and l alone.
///
/// # Errors
/// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
pub fn bottom_up(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    task: &Task,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let groups = from_below(&space, counts, least, task)?;
    (task.progress)(counts.n_records());
    Ok(Partition::new(groups, least))
}

/// The classes that [`bottom_up`] makes.
pub(crate) fn from_below(space: &Space, counts: &GroupCounts, least: Least, task: &Task) -> Result<Vec<Vec<Part>>> {
    let parts = least.parts(counts);
    let mut groups: Vec<Group> =
        parts.chunk_by(|a, b| a.base == b.base).map(|parts| Group::new(space, parts.to_vec())).collect();
    loop {
        let small: Vec<usize> = (0..groups.len()).filter(|&i| !least.is_enough(&groups[i].parts)).collect();
        if small.is_empty() {
            return Ok(groups.into_iter().map(|group| group.parts).collect());
        }
        // What is united stands at the end, and has its turn in the next round.
        let mut there: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
        for place in small {
            task.go_on()?;
            let Some(group) = there[place].take() else { continue };
            let nearest = nearest(space, &group, &there).expect("all records together are enough");
            let mut united = there[nearest].take().expect("it was found there");
            united.join(space, group.parts);
            there.push(Some(united));
        }
        groups = there.into_iter().flatten().flat_map(|group| split(space, group, least)).collect();
    }
}

/// From above (Figure 5): sets are divided around two records that are far apart, all others coming in random order; in the
/// end a group that is too small takes from another what it lacks, or joins one, whichever loses less.
///
/// # Guarantee
/// Every class has at least k records, and at least l different sensitive values where l is asked for. The classes depend
/// on the table, the weights, k, l and the seed alone.
///
/// # Errors
/// Where no such partition of this table exists, arguments do not fit the counts, or the task was cancelled.
pub fn top_down(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    least: Least,
    seed: u64,
    task: &Task,
) -> Result<Partition> {
    least.check(counts, hierarchies)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let groups = from_above(&space, counts, least, seed, task)?;
    (task.progress)(counts.n_records());
    Ok(Partition::new(groups, least))
}

/// The classes that [`top_down`] makes.
pub(crate) fn from_above(
    space: &Space,
    counts: &GroupCounts,
    least: Least,
    seed: u64,
    task: &Task,
) -> Result<Vec<Vec<Part>>> {
    let mut random = Random::new(seed);
    let mut groups = Vec::new();
    let mut to_divide = vec![least.parts(counts)];
    while let Some(parts) = to_divide.pop() {
        task.go_on()?;
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        match seeds(space, &parts, &mut random).filter(|_| n_records > least.k) {
            Some(seeds) => to_divide.extend(divided(space, parts, seeds, &mut random).into_iter().rev()),
            None => groups.push(parts),
        }
    }
    adjusted(space, groups, least, task)
}

/// Classes that are all enough: one that is not takes from another what it lacks, or joins one, whichever loses less.
pub(crate) fn adjusted(space: &Space, parts: Vec<Vec<Part>>, least: Least, task: &Task) -> Result<Vec<Vec<Part>>> {
    let mut groups: Vec<Group> = parts.into_iter().map(|parts| Group::new(space, parts)).collect();
    // Before this place all are enough, and stay so: what changes there has enough left, or is gone.
    let mut first = 0;
    while let Some(more) = groups[first..].iter().position(|group| !least.is_enough(&group.parts)) {
        task.go_on()?;
        let group = groups.remove(first + more);
        adjust(space, group, &mut groups, least);
        first = (first + more).saturating_sub(1);
    }
    Ok(groups.into_iter().map(|group| group.parts).collect())
}

/// Some records and the box around them.
#[derive(Clone)]
struct Group {
    parts: Vec<Part>,
    n_records: u64,
    sides: Vec<Side>,
}

impl Group {
    fn new(space: &Space, parts: Vec<Part>) -> Group {
        let n_records = parts.iter().map(|part| part.n_records).sum();
        Group { n_records, sides: space.around(parts.iter().map(|part| part.base)), parts }
    }

    fn join(&mut self, space: &Space, parts: Vec<Part>) {
        self.n_records += parts.iter().map(|part| part.n_records).sum::<u64>();
        parts.iter().for_each(|part| space.widen(&mut self.sides, part.base));
        self.parts.extend(parts);
    }

    /// What its records lose together.
    fn loss(&self, space: &Space) -> u64 {
        self.n_records * space.cost(&self.sides)
    }

    /// What its records and those of another would lose as one group.
    fn loss_with(&self, space: &Space, other: &Group) -> u64 {
        (self.n_records + other.n_records) * space.cost_of_union(&self.sides, &other.sides)
    }
}

/// Fewer groups are looked at by one thread.
const N_PARALLEL: usize = 4_096;

/// The place of the group with which a group loses least as one; the first of several.
fn nearest(space: &Space, group: &Group, groups: &[Option<Group>]) -> Option<usize> {
    let of_place = |place: usize| groups[place].as_ref().map(|other| (group.loss_with(space, other), place));
    let found = match groups.len() < N_PARALLEL {
        true => (0..groups.len()).filter_map(of_place).min(),
        false => (0..groups.len()).into_par_iter().filter_map(of_place).min(),
    };
    found.map(|(_, place)| place)
}

/// A group of 2k records or more as several of k or a little more; whole where one of these would not be enough.
fn split(space: &Space, group: Group, least: Least) -> Vec<Group> {
    let n_groups = group.n_records / least.k;
    if n_groups < 2 {
        return vec![group];
    }
    let mut rest = group.parts.clone();
    let mut pieces: Vec<Vec<Part>> = (1..n_groups).map(|_| take_first(&mut rest, least.k)).collect();
    pieces.push(rest);
    match pieces.iter().all(|parts| least.is_enough(parts)) {
        true => pieces.into_iter().map(|parts| Group::new(space, parts)).collect(),
        false => vec![group],
    }
}

/// Takes the first so many records; equal ones may be parted.
fn take_first(parts: &mut Vec<Part>, n_records: u64) -> Vec<Part> {
    let mut taken = Vec::new();
    let mut n_left = n_records;
    parts.retain_mut(|part| {
        let n = part.n_records.min(n_left);
        if n > 0 {
            taken.push(Part { n_records: n, ..*part });
        }
        part.n_records -= n;
        n_left -= n;
        part.n_records > 0
    });
    taken
}

/// Two groups of the counts that are far apart; none where there is one only.
fn seeds(space: &Space, parts: &[Part], random: &mut Random) -> Option<[u32; 2]> {
    let farthest = |from: u32| {
        let far = parts.iter().max_by_key(|part| (space.distance(from, part.base), Reverse(part.base)));
        far.expect("a set is not empty").base
    };
    let mut one = parts[random.below(parts.len() as u64) as usize].base;
    for _ in 0..2 {
        one = farthest(one);
    }
    let other = farthest(one);
    (one != other).then_some([one, other])
}

/// Two sets around two groups of the counts: each of the others, in random order, joins the one that then loses less in addition.
fn divided(space: &Space, mut parts: Vec<Part>, seeds: [u32; 2], random: &mut Random) -> [Vec<Part>; 2] {
    random.shuffle(&mut parts);
    let mut groups = seeds.map(|seed| {
        let of_seed = parts.iter().filter(|part| part.base == seed).copied().collect();
        Group::new(space, of_seed)
    });
    for part in parts.into_iter().filter(|part| !seeds.contains(&part.base)) {
        let one = Group::new(space, vec![part]);
        let [first, second] = [0, 1].map(|side: usize| groups[side].loss_with(space, &one) - groups[side].loss(space));
        groups[usize::from(second < first)].join(space, vec![part]);
    }
    groups.map(|group| group.parts)
}

/// Brings a group that is too small to be enough: with records of another that has enough of them, or with all of another.
fn adjust(space: &Space, group: Group, groups: &mut Vec<Group>, least: Least) {
    let n_lacking = least.k.saturating_sub(group.n_records);
    let more = |loss: u64, other: &Group| loss as i64 - other.loss(space) as i64;
    let taking = |place: usize| {
        let (ours, rest) = taken_from(space, &group, &groups[place], n_lacking, least)?;
        Some((more(ours.loss(space) + rest.loss(space), &groups[place]), place))
    };
    let joining = |place: usize| (more(group.loss_with(space, &groups[place]), &groups[place]), place);
    let by_taking = (0..groups.len()).into_par_iter().filter_map(taking).min();
    let by_joining = (0..groups.len()).into_par_iter().map(joining).min();
    let by_joining = by_joining.expect("all records together are enough");
    match by_taking.filter(|taking| taking.0 < by_joining.0) {
        Some((_, place)) => {
            let (ours, rest) = taken_from(space, &group, &groups[place], n_lacking, least).expect("it was possible");
            groups[place] = rest;
            groups.push(ours);
        }
        None => {
            let mut united = groups.remove(by_joining.1);
            united.join(space, group.parts);
            groups.push(united);
        }
    }
}

/// A group with the records that it lacks, the nearest of another's, and what is left of that one; none where one of the
/// two would not be enough.
fn taken_from(space: &Space, group: &Group, other: &Group, n_lacking: u64, least: Least) -> Option<(Group, Group)> {
    if n_lacking == 0 || other.n_records < least.k + n_lacking {
        return None;
    }
    let mut rest = other.parts.clone();
    rest.sort_by_key(|part| (space.cost_with(&group.sides, space.places(part.base)), part.base, part.value));
    let taken = take_first(&mut rest, n_lacking);
    let mut ours = group.clone();
    ours.join(space, taken);
    let is_enough = least.is_enough(&ours.parts) && least.is_enough(&rest);
    is_enough.then(|| (ours, Group::new(space, rest)))
}
