//! Any scheme, one at a time and whatever the number of attributes: its groups are those of a scheme nearby, divided or
//! put together.
//!
//! The finest scheme of a table with many attributes has nearly as many groups as records, and a key that no machine
//! word holds. Whoever searches from the coarsest scheme down never needs either: to generalize one attribute less is to
//! divide every group by that attribute's finer labels, one pass over the distinct combinations; to generalize more is
//! to put groups together, a look at each of them.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as HashEntry;
use rayon::prelude::*;

use crate::counts::{GroupCounts, hash_codes};
use crate::criterion::Measured;
use crate::hierarchy::Hierarchy;
use crate::lattice::evaluate::Seen;
use crate::lattice::one_scheme::{put_together, slots_of_people};
use crate::lattice::profile::{Entry, Profile};
use crate::lattice::roller::Annotation;
use crate::loss::Steps;
use crate::table::Code;

/// In no group that has records.
const NOWHERE: u32 = u32::MAX;

/// Which group of a scheme every distinct combination is in.
struct Division {
    levels: Box<[u8]>,
    /// The groups of the counts first, then those of the population.
    group_of: Vec<u32>,
    n_groups: usize,
    /// One combination of each group.
    first: Vec<u32>,
    last_used: u64,
}

impl Division {
    fn n_bytes(&self) -> u64 {
        (size_of_val(&self.group_of[..]) + size_of_val(&self.first[..])) as u64
    }
}

/// Makes the groups of any scheme from those of the nearest one at hand.
pub(crate) struct Divider<'a> {
    counts: &'a GroupCounts,
    hierarchies: &'a [Hierarchy],
    wanted: &'a Annotation<'a>,
    /// By attribute, the code of every distinct combination; those of the population come last.
    columns: Vec<Vec<Code>>,
    /// How many people each combination of the population stands for.
    population: Vec<u64>,
    /// The coarsest scheme first.
    at_hand: Vec<Division>,
    n_bytes: u64,
    n_bytes_max: u64,
    n_asked: u64,
}

/// More schemes at hand take longer to look through than they save.
const N_AT_HAND: usize = 400;

impl<'a> Divider<'a> {
    /// The divisions at hand take at most so many bytes, beside the coarsest.
    pub(crate) fn new(
        counts: &'a GroupCounts,
        hierarchies: &'a [Hierarchy],
        wanted: &'a Annotation<'a>,
        n_bytes_max: u64,
    ) -> Divider<'a> {
        let population: Vec<(&[Code], u64)> =
            counts.population().into_iter().flat_map(|population| population.groups()).collect();
        let column = |a: usize| {
            let own = (0..counts.n_groups()).map(|group| counts.codes(group)[a]);
            own.chain(population.iter().map(|(codes, _)| codes[a])).collect()
        };
        let columns: Vec<Vec<Code>> = (0..hierarchies.len()).map(column).collect();
        let group_of = vec![0; counts.n_groups() + population.len()];
        let population = population.into_iter().map(|(_, n)| n).collect();
        let at_hand = Vec::new();
        let mut divider =
            Divider { counts, hierarchies, wanted, columns, population, at_hand, n_bytes: 0, n_bytes_max, n_asked: 0 };
        // Above the coarsest levels, everything is one group.
        let beyond = vec![u8::MAX; hierarchies.len()];
        let first = vec![0; 1];
        let all = Division { levels: beyond.into(), group_of, n_groups: 1, first, last_used: 0 };
        let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
        divider.at_hand = vec![divider.divide(&all, &tops, &mut Scratch::default())];
        divider
    }

    /// The scheme at hand from which the wanted one is made with the fewest passes over the combinations.
    fn nearest(&self, levels: &[u8]) -> usize {
        let n_rows = self.columns.first().map_or(0, Vec::len).max(1);
        let cost = |division: &Division| {
            let pairs = || division.levels.iter().zip(levels);
            let n_finer = pairs().filter(|(known, wanted)| known > wanted).count();
            let is_coarser = pairs().any(|(known, wanted)| known < wanted);
            // Who of the population is alike to nobody here may be alike to somebody there: that is not known any more.
            if is_coarser && !self.population.is_empty() {
                return None;
            }
            let n_looks = if is_coarser { division.n_groups * levels.len() + n_rows } else { 0 };
            Some(n_finer * n_rows + n_looks)
        };
        let costs = self.at_hand.iter().enumerate().filter_map(|(i, division)| Some((cost(division)?, i)));
        costs.min().expect("the coarsest scheme is at hand").1
    }

    /// Puts a scheme's groups together until they are those of coarser levels, where these are coarser.
    fn unite(&self, source: &Division, levels: &[u8]) -> Division {
        let levels: Box<[u8]> = source.levels.iter().zip(levels).map(|(known, wanted)| *known.max(wanted)).collect();
        let label_of: Vec<&[Code]> = levels
            .iter()
            .zip(self.hierarchies)
            .map(|(level, hierarchy)| hierarchy.level(*level as usize).of_base())
            .collect();
        let labels =
            |row: u32| self.columns.iter().zip(&label_of).map(move |(codes, to)| to[codes[row as usize].index()]);
        let mut table: HashTable<u32> = HashTable::with_capacity(source.n_groups);
        let mut first: Vec<u32> = Vec::new();
        let mut united = Vec::with_capacity(source.n_groups);
        for &row in &source.first {
            let is_same = |&group: &u32| labels(first[group as usize]).eq(labels(row));
            let place =
                table.entry(hash_codes(labels(row)), is_same, |&group| hash_codes(labels(first[group as usize])));
            united.push(match place {
                HashEntry::Occupied(place) => *place.get(),
                HashEntry::Vacant(place) => {
                    let group = first.len() as u32;
                    place.insert(group);
                    first.push(row);
                    group
                }
            });
        }
        let group_of = source.group_of.iter().map(|&group| united[group as usize]).collect();
        Division { levels, group_of, n_groups: first.len(), first, last_used: self.n_asked }
    }

    /// Divides a scheme's groups until they are those of finer levels.
    fn divide(&self, source: &Division, levels: &[u8], scratch: &mut Scratch) -> Division {
        // What divides least comes first: numbers of groups stay small, and the table of pairs in the nearest cache.
        let labels = |a: usize| self.hierarchies[a].level(levels[a] as usize).len();
        let mut attributes: Vec<usize> = (0..levels.len()).filter(|&a| levels[a] < source.levels[a]).collect();
        attributes.sort_by_key(|&a| labels(a));
        let mut now: Option<(Vec<u32>, usize)> = None;
        for a in attributes {
            let (group_of, n_groups) = match &now {
                Some((group_of, n_groups)) => (&group_of[..], *n_groups),
                None => (&source.group_of[..], source.n_groups),
            };
            let label_of = self.hierarchies[a].level(levels[a] as usize).of_base();
            let divided =
                scratch.pairs(group_of, n_groups, &self.columns[a], label_of, labels(a), self.counts.n_groups());
            now = Some(divided);
        }
        let (group_of, n_groups) = now.unwrap_or_else(|| (source.group_of.clone(), source.n_groups));
        let mut first = vec![0; n_groups];
        let own = group_of[..self.counts.n_groups()].iter();
        (0..).zip(own).for_each(|(row, &group)| first[group as usize] = row);
        Division { levels: levels.into(), group_of, n_groups, first, last_used: self.n_asked }
    }

    /// The groups of a scheme, from those of another.
    fn made_of(&self, source: &Division, levels: &[u8], scratch: &mut Scratch) -> Division {
        match source.levels.iter().zip(levels).any(|(known, wanted)| known < wanted) {
            true => self.divide(&self.unite(source, levels), levels, scratch),
            false => self.divide(source, levels, scratch),
        }
    }

    /// What criteria see of the groups, and what they lose.
    fn look_at(&self, division: &Division) -> Seen {
        let Annotation { yardstick, penalties, entropies } = self.wanted;
        let (counts, n) = (self.counts, division.n_groups);
        let (own, others) = division.group_of.split_at(counts.n_groups());
        let (mut sizes, mut populations) = (vec![0u64; n], vec![0u64; n]);
        own.iter().enumerate().for_each(|(base, &group)| sizes[group as usize] += counts.size(base));
        for (&group, n) in others.iter().zip(&self.population).filter(|(group, _)| **group != NOWHERE) {
            populations[group as usize] += n;
        }
        let slots = self.slots(own, n);
        let mut values = Vec::with_capacity(n * yardstick.n_measured());
        let mut next = 0;
        let mut histogram: Vec<(u32, u64)> = Vec::new();
        for group in 0..n {
            let n_slots = slots[next..].iter().take_while(|slot| slot.0 as usize == group).count();
            histogram.clear();
            histogram.extend(slots[next..next + n_slots].iter().map(|slot| (slot.1, slot.2)));
            yardstick.measure(sizes[group], populations[group], &histogram, &mut values);
            next += n_slots;
        }
        let labels = |group: usize| {
            let row = division.first[group] as usize;
            division.levels.iter().enumerate().map(move |(a, &level)| {
                let level = level as usize;
                (a, level, self.hierarchies[a].level(level).of_base()[self.columns[a][row].index()].index())
            })
        };
        let loss = |group: usize| labels(group).map(|(a, level, code)| u64::from(penalties.of(a, level)[code])).sum();
        let entropy = |group: usize| {
            let entropies = (*entropies)?;
            Some(labels(group).map(|(a, level, code)| u64::from(entropies.of(a, level)[code])).sum())
        };
        signatures(Measured::by(yardstick, values), (0..n).map(|group| (loss(group), entropy(group))))
    }

    /// How much each group has of each slot, in order; nothing where criteria ask for sizes alone.
    fn slots(&self, group_of: &[u32], n_groups: usize) -> Vec<(u32, u32, u64)> {
        let (counts, yardstick) = (self.counts, self.wanted.yardstick);
        if let Some(people) = counts.people().filter(|_| yardstick.is_over_people()) {
            let group_of_cell = counts.groups_of_cells();
            return slots_of_people(counts, people, yardstick, |cell| [group_of[group_of_cell[cell] as usize]]);
        }
        if yardstick.measures().iter().all(|measure| measure.sensitive().is_none()) {
            return Vec::new();
        }
        // First those of the first group, and so on; each group's own are then few to sort.
        let mut starts = vec![0usize; n_groups + 1];
        let n_sensitive = yardstick.references().len();
        for (base, &group) in group_of.iter().enumerate() {
            starts[group as usize + 1] += counts.cells(base).count() * n_sensitive;
        }
        (0..n_groups).for_each(|group| starts[group + 1] += starts[group]);
        let mut slots = vec![(0u32, 0u32, 0u64); starts[n_groups]];
        let mut next = starts.clone();
        for (base, &group) in group_of.iter().enumerate() {
            for (codes, n) in counts.cells(base) {
                for (s, code) in codes[..n_sensitive].iter().enumerate() {
                    slots[next[group as usize]] = (group, yardstick.value(s, code.0), n);
                    next[group as usize] += 1;
                }
            }
        }
        starts.windows(2).for_each(|range| slots[range[0]..range[1]].sort_unstable_by_key(|slot| slot.1));
        put_together(slots)
    }

    /// Keeps a division at hand, in place of those that were of no use for the longest time.
    fn keep(&mut self, division: Division) {
        if division.n_bytes() > self.n_bytes_max || self.at_hand.iter().any(|known| known.levels == division.levels) {
            return;
        }
        self.n_bytes += division.n_bytes();
        self.at_hand.push(division);
        while self.n_bytes > self.n_bytes_max || self.at_hand.len() > N_AT_HAND {
            let others = self.at_hand.iter().enumerate().skip(1);
            let (oldest, _) = others.min_by_key(|(_, known)| known.last_used).expect("something is too much");
            self.n_bytes -= self.at_hand.swap_remove(oldest).n_bytes();
        }
    }

    /// What the groups of a scheme look like.
    pub(crate) fn seen(&mut self, levels: &[u8]) -> Seen {
        self.all_seen(&[levels.to_vec()]).pop().expect("one for one")
    }

    /// Those of several schemes, on all threads.
    pub(crate) fn all_seen(&mut self, many: &[Vec<u8>]) -> Vec<Seen> {
        self.n_asked += 1;
        let sources: Vec<usize> = many.iter().map(|levels| self.nearest(levels)).collect();
        sources.iter().for_each(|&source| self.at_hand[source].last_used = self.n_asked);
        let this = &*self;
        let one = |scratch: &mut Scratch, (levels, &source): (&Vec<u8>, &usize)| {
            let division = this.made_of(&this.at_hand[source], levels, scratch);
            let seen = this.look_at(&division);
            (division, seen)
        };
        let made: Vec<(Division, Seen)> = match many {
            // One alone needs no other thread.
            [levels] => vec![one(&mut Scratch::default(), (levels, &sources[0]))],
            _ => many.par_iter().zip(&sources).map_init(Scratch::default, one).collect(),
        };
        let keep = |(division, seen)| {
            self.keep(division);
            seen
        };
        made.into_iter().map(keep).collect()
    }
}

/// What looks the same to every criterion put together, in the order of signatures.
fn signatures(groups: Measured, costs: impl Iterator<Item = (Steps, Option<Steps>)>) -> Seen {
    let mut table: HashTable<u32> = HashTable::new();
    // The first group of each signature, how many there are, and what they cost.
    let mut found: Vec<(usize, u32, Steps, Option<Steps>)> = Vec::new();
    let hash = |group: usize| {
        hash_codes(groups.all_of(group).iter().flat_map(|value| [Code(*value as u32), Code((value >> 32) as u32)]))
    };
    for (group, (loss, entropy)) in costs.enumerate() {
        let is_same = |&known: &u32| groups.all_of(found[known as usize].0) == groups.all_of(group);
        let hash_again = |&known: &u32| hash(found[known as usize].0);
        match table.entry(hash(group), is_same, hash_again) {
            HashEntry::Occupied(place) => {
                let known = &mut found[*place.get() as usize];
                known.1 += 1;
                known.2 += loss;
                known.3 = known.3.zip(entropy).map(|(a, b)| a + b);
            }
            HashEntry::Vacant(place) => {
                place.insert(found.len() as u32);
                found.push((group, 1, loss, entropy));
            }
        }
    }
    found.sort_unstable_by(|a, b| groups.all_of(a.0).cmp(groups.all_of(b.0)));
    let values = found.iter().flat_map(|one| groups.all_of(one.0)).copied().collect();
    let entries = (0..).zip(&found).map(|(signature, one)| Entry { signature, n_groups: one.1, loss: one.2 }).collect();
    let entropies = found.iter().filter_map(|one| one.3).collect();
    let signatures = Measured::new(groups.measures(), groups.is_over_people(), values);
    Seen { signatures, profile: Profile::provisional(entries, entropies) }
}

/// Numbers pairs of a group and a label, in the order in which they come.
#[derive(Default)]
struct Scratch {
    /// By group and label, the stamp of the pass that has met the pair and its number.
    dense: Vec<u64>,
    stamp: u64,
    sparse: HashTable<(u64, u32)>,
}

/// Tables of pairs up to this size stay in a processor's own cache.
const N_DENSE: usize = 1 << 17;

impl Scratch {
    /// The first `n_own` rows make groups; the others are in one of theirs, or nowhere.
    fn pairs(
        &mut self,
        group_of: &[u32],
        n_groups: usize,
        codes: &[Code],
        label_of: &[Code],
        n_labels: usize,
        n_own: usize,
    ) -> (Vec<u32>, usize) {
        let mut pairs = Vec::with_capacity(group_of.len());
        let key = |row: usize| u64::from(group_of[row]) * n_labels as u64 + u64::from(label_of[codes[row].index()].0);
        let mut n = 0u32;
        let is_elsewhere = |row: usize| group_of[row] == NOWHERE;
        if n_groups.saturating_mul(n_labels) <= N_DENSE {
            self.stamp += 1 << 32;
            self.dense.resize(self.dense.len().max(n_groups * n_labels), 0);
            for row in 0..n_own {
                let place = &mut self.dense[key(row) as usize];
                if *place < self.stamp {
                    *place = self.stamp | u64::from(n);
                    n += 1;
                }
                pairs.push(*place as u32);
            }
            for row in n_own..group_of.len() {
                let place = if is_elsewhere(row) { 0 } else { self.dense[key(row) as usize] };
                pairs.push(if place < self.stamp { NOWHERE } else { place as u32 });
            }
            return (pairs, n as usize);
        }
        self.sparse.clear();
        let hash = |key: u64| hash_codes([Code(key as u32), Code((key >> 32) as u32)].into_iter());
        for row in 0..n_own {
            let key = key(row);
            let place = self.sparse.entry(hash(key), |known| known.0 == key, |known| hash(known.0));
            let number = *place
                .or_insert_with(|| {
                    n += 1;
                    (key, n - 1)
                })
                .get();
            pairs.push(number.1);
        }
        for row in n_own..group_of.len() {
            let known = (!is_elsewhere(row))
                .then(|| key(row))
                .and_then(|key| self.sparse.find(hash(key), |known| known.0 == key));
            pairs.push(known.map_or(NOWHERE, |known| known.1));
        }
        (pairs, n as usize)
    }
}
