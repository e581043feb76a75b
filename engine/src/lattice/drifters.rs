//! Whoever is in several groups of a scheme: where these become one, somebody meets themselves, and counts once from there
//! on.
//!
//! The people of a united group are those of its parts added up, less those who meet. So all who are in one group are in
//! its sums, and nobody has to know who they are; only those who may still meet are kept by themselves.
//!
//! They are kept one after the other: in how many groups somebody is, and for each the number of the group and the set of
//! values that they have there. Nothing but the sets and the groups tells one from the other.

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};

/// Sets of sensitive values, each as one number: as bits where all values have room, by the number of the set otherwise.
#[derive(Clone, Default)]
pub(crate) struct ValueSets {
    has_bits: bool,
    /// Where each set begins among the values; one more entry than there are sets.
    starts: Vec<usize>,
    values: Vec<u32>,
    known: HashTable<u32>,
    /// By two sets, the lesser number first: both together.
    unions: FxHashMap<(u32, u32), u32>,
}

fn hash(values: &[u32]) -> u64 {
    use std::hash::BuildHasher;
    rustc_hash::FxBuildHasher.hash_one(values)
}

impl ValueSets {
    pub(crate) fn new(n_values: usize) -> ValueSets {
        ValueSets { has_bits: n_values <= u64::BITS as usize, starts: vec![0], ..ValueSets::default() }
    }

    /// The set of these values, which increase.
    pub(crate) fn set(&mut self, values: &[u32]) -> u64 {
        if self.has_bits {
            return values.iter().fold(0, |bits, value| bits | 1 << value);
        }
        let ValueSets { starts, values: all, known, .. } = self;
        let of = |set: u32| &all[starts[set as usize]..starts[set as usize + 1]];
        if let Some(set) = known.find(hash(values), |set| of(*set) == values) {
            return u64::from(*set);
        }
        let new = number(starts.len() - 1);
        known.insert_unique(hash(values), new, |set| hash(of(*set)));
        all.extend_from_slice(values);
        starts.push(all.len());
        u64::from(new)
    }

    /// The values of two sets.
    pub(crate) fn union(&mut self, one: u64, other: u64) -> u64 {
        if self.has_bits {
            return one | other;
        }
        if one == other {
            return one;
        }
        let key = (one.min(other) as u32, one.max(other) as u32);
        if let Some(set) = self.unions.get(&key) {
            return u64::from(*set);
        }
        let mut values = [self.listed(one), self.listed(other)].concat();
        values.sort_unstable();
        values.dedup();
        let set = self.set(&values);
        self.unions.insert(key, set as u32);
        set
    }

    fn listed(&self, set: u64) -> &[u32] {
        &self.values[self.starts[set as usize]..self.starts[set as usize + 1]]
    }

    /// Calls `each` with the values of a set, which increase.
    pub(crate) fn for_each(&self, set: u64, mut each: impl FnMut(u32)) {
        if !self.has_bits {
            return self.listed(set).iter().copied().for_each(each);
        }
        let mut bits = set;
        while bits != 0 {
            each(bits.trailing_zeros());
            bits &= bits - 1;
        }
    }

    /// Calls `each` with the values that two sets have in common.
    pub(crate) fn for_each_common(&self, one: u64, other: u64, mut each: impl FnMut(u32)) {
        if self.has_bits {
            return self.for_each(one & other, each);
        }
        let others = self.listed(other);
        self.listed(one).iter().filter(|value| others.binary_search(value).is_ok()).for_each(|value| each(*value));
    }

    pub(crate) fn n_bytes(&self) -> usize {
        8 * self.starts.len() + 4 * self.values.len() + 5 * self.known.capacity() + 13 * self.unions.capacity()
    }
}

/// Who is in which groups of the finest scheme.
pub(crate) struct Members {
    /// For everybody and each of their groups: the row of the group, and the set of their values there. Rows increase.
    pub(crate) of_rows: Vec<(u32, u64)>,
    /// Those who are in several.
    pub(crate) drifters: Vec<u64>,
}

impl Members {
    /// `rows` are by group of the counts; `add_values` adds the values of a cell to some.
    pub(crate) fn new(
        counts: &GroupCounts,
        rows: &[u32],
        sets: &mut ValueSets,
        add_values: impl Fn(usize, &mut Vec<u32>),
    ) -> Members {
        let mut members = Members { of_rows: Vec::new(), drifters: Vec::new() };
        let Some(people) = counts.people() else { return members };
        let group_of_cell = counts.groups_of_cells();
        let mut values = Vec::new();
        for person in 0..people.len() {
            let first = members.of_rows.len();
            // Cells of a group follow each other.
            let mut cells = people.cells(person).map(|(cell, _)| cell).peekable();
            while let Some(cell) = cells.next() {
                let group = group_of_cell[cell];
                values.clear();
                add_values(cell, &mut values);
                while let Some(cell) = cells.next_if(|cell| group_of_cell[*cell] == group) {
                    add_values(cell, &mut values);
                }
                values.sort_unstable();
                values.dedup();
                members.of_rows.push((rows[group as usize], sets.set(&values)));
            }
            let own = &members.of_rows[first..];
            if own.len() > 1 {
                members.drifters.push(own.len() as u64);
                members.drifters.extend(own.iter().flat_map(|(row, set)| [u64::from(*row), *set]));
            }
        }
        members.of_rows.sort_unstable();
        members
    }
}

/// Up to so many groups of one person are looked through for a group; more are sorted.
const N_FEW: usize = 16;

/// Replaces `into` by those who are still in several groups when each group has become `new_of` it. Calls `met` for everybody
/// who was in two groups that are one now, with that group and the sets of values that they had in the one and in the other.
pub(crate) fn follow(
    source: &[u64],
    new_of: &[u32],
    sets: &mut ValueSets,
    into: &mut Vec<u64>,
    mut met: impl FnMut(&mut ValueSets, u32, u64, u64),
) {
    into.clear();
    into.reserve(source.len());
    let mut many: Vec<(u32, u64)> = Vec::new();
    let mut rest = source;
    while let [n, others @ ..] = rest {
        let (places, others) = others.split_at(2 * *n as usize);
        rest = others;
        let new = |place: &[u64]| new_of[place[0] as usize];
        if let [one, of_one, other, of_other] = *places {
            // As most people.
            let (one, other) = (new_of[one as usize], new_of[other as usize]);
            match one == other {
                true => met(sets, one, of_one, of_other),
                false => into.extend([2, u64::from(one), of_one, u64::from(other), of_other]),
            }
            continue;
        }
        let first = into.len();
        into.push(0);
        if places.len() <= 2 * N_FEW {
            for place in places.chunks_exact(2) {
                let group = new(place);
                match into[first + 1..].chunks_exact_mut(2).find(|known| known[0] == u64::from(group)) {
                    None => into.extend([u64::from(group), place[1]]),
                    Some(known) => {
                        met(sets, group, known[1], place[1]);
                        known[1] = sets.union(known[1], place[1]);
                    }
                }
            }
        } else {
            many.clear();
            many.extend(places.chunks_exact(2).map(|place| (new(place), place[1])));
            many.sort_unstable();
            for &(group, set) in &many {
                match &mut into[first + 1..] {
                    [.., last, known] if *last == u64::from(group) => {
                        met(sets, group, *known, set);
                        *known = sets.union(*known, set);
                    }
                    _ => into.extend([u64::from(group), set]),
                }
            }
        }
        match (into.len() - first) / 2 {
            1 => into.truncate(first),
            n => into[first] = n as u64,
        }
    }
}
