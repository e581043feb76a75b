//! From the groups of one scheme to those of a coarser one: the inner loop of annotation.
//!
//! Groups are rows of 64-bit words: the key, the size with the loss of one record, the set of sensitive values. One row
//! per group, so that a group is one visit to memory; rows in the order of their keys, so that groups which become one
//! stand side by side and nothing has to be searched.
//!
//! The size takes the lower bits of its word ([`SIZE_BITS`]), and the loss has the rest.
//!
//! This is the fast way, for sizes and distinct values; [`crate::lattice::histograms`] does the same for all other criteria.

use crate::counts::{GroupCounts, hash_codes};
use crate::hierarchy::{Hierarchy, Values};
use crate::lattice::profile::{SIZE_BITS, SIZE_MASK, Scratch};
use crate::loss::{Entropies, Penalties};
use crate::table::Code;

/// What rolling up needs to know about the table.
pub(crate) struct RollUp<'a> {
    pub(crate) counts: &'a GroupCounts,
    penalties: &'a Penalties,
    /// The sensitive attribute whose values are gathered in sets, if any.
    sensitive: Option<usize>,
    n_set_words: usize,
    /// By group, how many people have its records, where people are counted and each of them is in one group.
    people: Option<Vec<u64>>,
    /// The attributes from the highest bits of a key to the lowest.
    pub(crate) order: Vec<usize>,
    pub(crate) trees: Vec<TreeCodes>,
    #[cfg(target_arch = "x86_64")]
    has_fast_bits: bool,
}
/// One attribute's codes renumbered along its tree, so that the values below one label follow each other.
pub(crate) struct TreeCodes {
    /// From the code of the domain to the code along the tree.
    pub(crate) of_base: Vec<u32>,
    /// By level, for every code: the code of the label above, and what that step adds to the loss, as it stands in a row.
    pub(crate) steps: Vec<Vec<(u64, u64)>>,
    /// By level, for every code of level 0: the code of the label above it, and what going there adds to the loss.
    pub(crate) above: Vec<Vec<u32>>,
    pub(crate) loss_above: Vec<Vec<u64>>,
    /// By level, for every code: the entropy of a record with that code; empty where not asked for.
    pub(crate) entropies: Vec<Vec<u64>>,
    /// By level, how many bits the codes take.
    pub(crate) widths: Vec<u32>,
}

impl TreeCodes {
    fn new(hierarchy: &Hierarchy, attribute: usize, penalties: &Penalties, entropies: Option<&Entropies>) -> TreeCodes {
        let codes_at = |level: usize| hierarchy.level(level).of_base();
        let mut along: Vec<usize> = (0..hierarchy.level(0).len()).collect();
        along.sort_by_cached_key(|&base| {
            (0..hierarchy.n_levels()).rev().map(|level| codes_at(level)[base]).collect::<Vec<Code>>()
        });
        // By level: the new code of each old one, in order of appearance along the tree.
        let renumbered: Vec<Vec<u32>> = (0..hierarchy.n_levels())
            .map(|level| {
                let mut new = vec![u32::MAX; hierarchy.level(level).len()];
                let mut next = 0;
                for &base in &along {
                    let code = &mut new[codes_at(level)[base].index()];
                    if *code == u32::MAX {
                        *code = next;
                        next += 1;
                    }
                }
                new
            })
            .collect();
        let steps_of = |level: usize| {
            let (here, above) = (penalties.of(attribute, level), penalties.of(attribute, level + 1));
            let mut steps = vec![(0, 0); hierarchy.level(level).len()];
            for (code, parent) in hierarchy.level(level).parents().iter().enumerate() {
                let loss = u64::from(above[parent.index()]).wrapping_sub(u64::from(here[code]));
                let parent = renumbered[level + 1][parent.index()];
                steps[renumbered[level][code] as usize] = (u64::from(parent), loss << SIZE_BITS);
            }
            steps
        };
        let above_of = |level: usize| {
            let codes = along.iter().map(|&base| renumbered[level][codes_at(level)[base].index()]);
            codes.collect()
        };
        let loss_of = |level: usize| {
            let penalty =
                |level: usize, base: usize| u64::from(penalties.of(attribute, level)[codes_at(level)[base].index()]);
            along.iter().map(|&base| penalty(level, base).wrapping_sub(penalty(0, base))).collect()
        };
        let entropies_of = |level: usize| {
            let mut steps = vec![0; hierarchy.level(level).len()];
            let entropies = entropies.into_iter().flat_map(|entropies| entropies.of(attribute, level));
            for (code, &entropy) in entropies.enumerate() {
                steps[renumbered[level][code] as usize] = u64::from(entropy);
            }
            steps
        };
        let width = |values: &Values| usize::BITS - values.len().saturating_sub(1).leading_zeros();
        TreeCodes {
            above: (0..hierarchy.n_levels()).map(above_of).collect(),
            loss_above: (0..hierarchy.n_levels()).map(loss_of).collect(),
            steps: (0..hierarchy.top()).map(steps_of).collect(),
            entropies: (0..hierarchy.n_levels()).map(entropies_of).collect(),
            widths: hierarchy.levels().iter().map(width).collect(),
            of_base: renumbered.into_iter().next().expect("level 0 is there"),
        }
    }
}
/// The attributes by how many groups are left when one of them alone is hidden, fewest first.
///
/// Only an order that is good for speed is wanted, so large tables are sampled: of all groups that are left,
/// those whose hash ends in enough zeros.
pub(crate) fn most_merging_first(counts: &GroupCounts) -> Vec<usize> {
    let n_zeros = (counts.n_groups() / N_SAMPLED).checked_ilog2().map_or(0, |n| n + 1);
    let n_groups_without = |&attribute: &usize| {
        let rest = |group: usize| {
            let codes = counts.codes(group).iter().enumerate().filter(|(a, _)| *a != attribute);
            hash_codes(codes.map(|(_, code)| *code))
        };
        let is_sampled = |hash: &u64| hash.trailing_zeros() >= n_zeros;
        (0..counts.n_groups()).map(rest).filter(is_sampled).collect::<rustc_hash::FxHashSet<u64>>().len()
    };
    let mut order: Vec<usize> = (0..counts.domains().len()).collect();
    order.sort_by_cached_key(n_groups_without);
    order
}

/// About how many groups are looked at to find the order of attributes.
const N_SAMPLED: usize = 1 << 16;

/// A key that holds one code per attribute, side by side.
pub(crate) trait Key: Copy + Ord {
    const N_WORDS: usize;
    fn read(words: &[u64]) -> Self;
    fn write(self, words: &mut [u64]);
    fn low(self) -> u64;
    fn shifted_right(self, n: u32) -> Self;
    fn shifted_left(self, n: u32) -> Self;
    fn below(self, n: u32) -> Self;
    fn or(self, other: Self) -> Self;
    fn of_code(code: u64) -> Self;
}

macro_rules! key {
    ($type:ty, $n_words:literal, $read:expr, $write:expr) => {
        impl Key for $type {
            const N_WORDS: usize = $n_words;
            #[inline(always)]
            fn read(words: &[u64]) -> Self {
                $read(words)
            }
            #[inline(always)]
            fn write(self, words: &mut [u64]) {
                $write(self, words)
            }
            #[inline(always)]
            fn low(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn shifted_right(self, n: u32) -> Self {
                self >> n
            }
            #[inline(always)]
            fn shifted_left(self, n: u32) -> Self {
                self << n
            }
            #[inline(always)]
            fn below(self, n: u32) -> Self {
                self & (((1 as $type) << n) - 1)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn of_code(code: u64) -> Self {
                code as $type
            }
        }
    };
}

key!(u64, 1, |words: &[u64]| words[0], |key: u64, words: &mut [u64]| words[0] = key);
key!(u128, 2, |words: &[u64]| u128::from(words[0]) | u128::from(words[1]) << 64, |key: u128, words: &mut [u64]| {
    words[0] = key as u64;
    words[1] = (key >> 64) as u64;
});
/// What is done with a scheme's rows.
pub(crate) enum Pass<'a> {
    /// Replace `words` by the rows of the scheme `levels`, made from those of the scheme whose `attribute` is one level
    /// finer, and gather its groups.
    Step { source: &'a [u64], levels: &'a [u8], attribute: usize, words: &'a mut Vec<u64>, scratch: &'a mut Scratch },
    /// Gather the groups of every level of the attribute with the lowest bits; nothing is generalized further from
    /// there, so that no rows need to be kept.
    AllLevels { source: &'a [u64], attribute: usize, of_level: &'a mut [Scratch] },
}

impl<'a> RollUp<'a> {
    /// `sensitive` is the attribute whose values are gathered in sets; `people` are by group.
    pub(crate) fn new(
        counts: &'a GroupCounts,
        hierarchies: &'a [Hierarchy],
        penalties: &'a Penalties,
        entropies: Option<&Entropies>,
        sensitive: Option<usize>,
        people: Option<Vec<u64>>,
    ) -> RollUp<'a> {
        let tree = |(attribute, hierarchy)| TreeCodes::new(hierarchy, attribute, penalties, entropies);
        let trees: Vec<TreeCodes> = hierarchies.iter().enumerate().map(tree).collect();
        RollUp {
            counts,
            penalties,
            sensitive,
            n_set_words: sensitive.map_or(0, |s| counts.sensitive()[s].len()).div_ceil(64),
            people,
            order: most_merging_first(counts),
            trees,
            #[cfg(target_arch = "x86_64")]
            has_fast_bits: is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt"),
        }
    }

    /// How many words a row takes.
    pub(crate) fn stride<K: Key>(&self) -> usize {
        K::N_WORDS + 1 + usize::from(self.people.is_some()) + self.n_set_words
    }

    /// How many levels an attribute has.
    pub(crate) fn n_levels(&self, attribute: usize) -> usize {
        self.trees[attribute].widths.len()
    }

    /// How many bits the keys take at most.
    pub(crate) fn n_bits(&self) -> u32 {
        // Coarser levels have fewer values, so the finest scheme has the widest keys.
        self.trees.iter().map(|tree| tree.widths[0]).sum()
    }

    /// Gathers the groups of some rows as they are.
    pub(crate) fn gather<K: Key>(&self, rows: &[u64], scratch: &mut Scratch) {
        let rows = rows.chunks_exact(self.stride::<K>());
        match self.people.is_some() {
            true => rows.for_each(|row| scratch.add_row::<K, 1>(row)),
            false => rows.for_each(|row| scratch.add_row::<K, 0>(row)),
        }
    }

    /// Does a piece of work, with the instructions that this machine has.
    pub(crate) fn run<K: Key>(&self, work: Pass) {
        #[cfg(target_arch = "x86_64")]
        if self.has_fast_bits {
            // SAFETY: the features were found on this machine.
            return unsafe { self.run_with_fast_bits::<K>(work) };
        }
        self.run_plain::<K>(work);
    }

    /// The same code compiled for machines that count bits and move 256 of them at once: most of the last decade's.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn run_with_fast_bits<K: Key>(&self, work: Pass) {
        self.run_plain::<K>(work);
    }

    #[inline(always)]
    fn run_plain<K: Key>(&self, work: Pass) {
        // Wide keys take so long that nothing else matters.
        if const { K::N_WORDS > 2 } {
            return match self.people.is_some() {
                false => self.run_sized::<K, 0>(work, self.n_set_words),
                true => self.run_sized::<K, 1>(work, self.n_set_words),
            };
        }
        // The number of words decides the shape of the inner loops: let the compiler see the common ones.
        match (self.n_set_words, self.people.is_some()) {
            (0, false) => self.run_sized::<K, 0>(work, 0),
            (1, false) => self.run_sized::<K, 0>(work, 1),
            (2, false) => self.run_sized::<K, 0>(work, 2),
            (n, false) => self.run_sized::<K, 0>(work, n),
            (0, true) => self.run_sized::<K, 1>(work, 0),
            (1, true) => self.run_sized::<K, 1>(work, 1),
            (n, true) => self.run_sized::<K, 1>(work, n),
        }
    }

    /// `P` is how many words of a row count people: one where they are counted.
    #[inline(always)]
    fn run_sized<K: Key, const P: usize>(&self, work: Pass, n_set_words: usize) {
        match work {
            Pass::Step { source, levels, attribute, words, scratch } => {
                self.step::<K, P>(source, levels, attribute, words, scratch, n_set_words);
            }
            Pass::AllLevels { source, attribute, of_level } => {
                self.all_levels::<K, P>(source, attribute, of_level, n_set_words);
            }
        }
    }

    /// The key of a group of the finest scheme.
    pub(crate) fn key_of<K: Key>(&self, codes: &[Code]) -> K {
        self.order.iter().fold(K::of_code(0), |key, &a| {
            let code = self.trees[a].of_base[codes[a].index()];
            key.shifted_left(self.trees[a].widths[0]).or(K::of_code(u64::from(code)))
        })
    }

    /// The loss of a record of the finest scheme.
    pub(crate) fn loss_of(&self, codes: &[Code]) -> u64 {
        codes.iter().enumerate().map(|(a, code)| u64::from(self.penalties.of(a, 0)[code.index()])).sum()
    }

    /// The entropy of a record of the finest scheme.
    pub(crate) fn entropy_of(&self, codes: &[Code]) -> u64 {
        let along =
            |(a, code): (usize, &Code)| self.trees[a].entropies[0][self.trees[a].of_base[code.index()] as usize];
        codes.iter().enumerate().map(along).sum()
    }

    /// The groups of the finest scheme, in the order of their keys.
    pub(crate) fn base<K: Key>(&self) -> Vec<u64> {
        let stride = self.stride::<K>();
        let groups = 0..self.counts.n_groups();
        let mut groups: Vec<(K, usize)> = groups.map(|group| (self.key_of(self.counts.codes(group)), group)).collect();
        groups.sort_unstable();
        let mut words = vec![0; groups.len() * stride];
        for (row, &(key, group)) in words.chunks_exact_mut(stride).zip(&groups) {
            key.write(row);
            row[K::N_WORDS] = self.counts.size(group) | self.loss_of(self.counts.codes(group)) << SIZE_BITS;
            let mut sets = K::N_WORDS + 1;
            if let Some(people) = &self.people {
                row[sets] = people[group];
                sets += 1;
            }
            let Some(s) = self.sensitive else { continue };
            for (codes, _) in self.counts.cells(group) {
                row[sets + codes[s].index() / 64] |= 1 << (codes[s].index() % 64);
            }
        }
        words
    }

    /// Rows that agree in all higher bits stand side by side, and so do the values under one label.
    #[inline(always)]
    fn all_levels<K: Key, const P: usize>(
        &self,
        source: &[u64],
        attribute: usize,
        of_level: &mut [Scratch],
        n_set_words: usize,
    ) {
        let stride = K::N_WORDS + 1 + P + n_set_words;
        let tree = &self.trees[attribute];
        let code_mask = (1u64 << tree.widths[0]) - 1;
        let code_at = |at: usize| (K::read(&source[at..]).low() & code_mask) as usize;
        let rest_at = |at: usize| K::read(&source[at..]).shifted_right(tree.widths[0]);
        let levels = 1..tree.above.len();
        let mut start = 0;
        while start < source.len() {
            let rest = rest_at(start);
            let mut end = start + stride;
            while end < source.len() && rest_at(end) == rest {
                end += stride;
            }
            if end == start + stride {
                // Alone at every level.
                let (sizes, n_distinct, loss) = united::<K, P>(&source[start..end], stride);
                let code = code_at(start);
                for level in levels.clone() {
                    of_level[level].add::<P>(sizes, n_distinct, loss.wrapping_add(tree.loss_above[level][code]));
                }
            } else {
                for level in levels.clone() {
                    let (scratch, above) = (&mut of_level[level], &tree.above[level][..]);
                    let mut first = start;
                    while first < end {
                        let code = code_at(first);
                        let mut next = first + stride;
                        while next < end && above[code_at(next)] == above[code] {
                            next += stride;
                        }
                        let (sizes, n_distinct, loss) = united::<K, P>(&source[first..next], stride);
                        scratch.add::<P>(sizes, n_distinct, loss.wrapping_add(tree.loss_above[level][code]));
                        first = next;
                    }
                }
            }
            start = end;
        }
    }

    /// Rows are in the order of their keys, and stay so: groups that become one are found beside each other.
    ///
    /// Values under one label follow each other, so rows that agree in all higher bits and in the new label form a
    /// block. A row of a block differs from the others in lower bits only; most come in order, the rest are put in place.
    #[inline(always)]
    fn step<K: Key, const P: usize>(
        &self,
        source: &[u64],
        levels: &[u8],
        attribute: usize,
        words: &mut Vec<u64>,
        scratch: &mut Scratch,
        n_set_words: usize,
    ) {
        let stride = K::N_WORDS + 1 + P + n_set_words;
        let level = levels[attribute] as usize;
        let tree = &self.trees[attribute];
        let steps = &tree.steps[level - 1][..];
        let (width_before, width_after) = (tree.widths[level - 1], tree.widths[level]);
        let lower = self.order.iter().rev().take_while(|&&a| a != attribute);
        let shift: u32 = lower.map(|&a| self.trees[a].widths[levels[a] as usize]).sum();
        let code_mask = (1u64 << width_before) - 1;
        words.clear();
        words.reserve(source.len());
        let mut block = Block { start: 0, is_sorted: true };
        let mut high_of_block = None;
        for row in source.chunks_exact(stride) {
            let key = K::read(row);
            let upper = key.shifted_right(shift);
            let (parent, loss) = steps[(upper.low() & code_mask) as usize];
            let high = upper.shifted_right(width_before).shifted_left(width_after).or(K::of_code(parent));
            let key = high.shifted_left(shift).or(key.below(shift));
            if high_of_block != Some(high) {
                block.finish::<K, P>(words, stride, scratch);
                block = Block { start: words.len(), is_sorted: true };
                high_of_block = Some(high);
                append::<K>(words, row, key, loss);
            } else {
                block.add::<K, P>(words, stride, row, key, loss);
            }
        }
        block.finish::<K, P>(words, stride, scratch);
    }
}

/// The rows at the end of the new ones that agree in all bits but the lowest.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    is_sorted: bool,
}

/// Up to this many rows, a row that comes out of order is put in place at once.
const N_ROWS_SHIFTED: usize = 16;

impl Block {
    #[inline(always)]
    fn add<K: Key, const P: usize>(&mut self, words: &mut Vec<u64>, stride: usize, row: &[u64], key: K, loss: u64) {
        let last = words.len() - stride;
        match key.cmp(&K::read(&words[last..])) {
            std::cmp::Ordering::Equal => unite::<K, P>(&mut words[last..][..stride], row),
            std::cmp::Ordering::Greater => append::<K>(words, row, key, loss),
            std::cmp::Ordering::Less if words.len() - self.start <= N_ROWS_SHIFTED * stride => {
                self.insert::<K, P>(words, stride, row, key, loss);
            }
            std::cmp::Ordering::Less => {
                append::<K>(words, row, key, loss);
                self.is_sorted = false;
            }
        }
    }

    /// Puts a row where it belongs among the few that are there.
    fn insert<K: Key, const P: usize>(&self, words: &mut Vec<u64>, stride: usize, row: &[u64], key: K, loss: u64) {
        let mut at = words.len();
        while at > self.start && K::read(&words[at - stride..]) > key {
            at -= stride;
        }
        if at > self.start && K::read(&words[at - stride..]) == key {
            return unite::<K, P>(&mut words[at - stride..][..stride], row);
        }
        append::<K>(words, row, key, loss);
        words[at..].rotate_right(stride);
    }

    /// Puts the rows in order if they are not, and adds them to the profile.
    #[inline(always)]
    fn finish<K: Key, const P: usize>(self, words: &mut Vec<u64>, stride: usize, scratch: &mut Scratch) {
        if !self.is_sorted {
            self.sort::<K, P>(words, stride);
        }
        for row in words[self.start..].chunks_exact(stride) {
            scratch.add_row::<K, P>(row);
        }
    }

    fn sort<K: Key, const P: usize>(self, words: &mut Vec<u64>, stride: usize) {
        let unsorted = words.split_off(self.start);
        let mut keys: Vec<(K, usize)> = unsorted.chunks_exact(stride).map(K::read).zip((0..).step_by(stride)).collect();
        // Sorted runs side by side: the stable sort merges them.
        keys.sort_by_key(|(key, _)| *key);
        let mut last = None;
        for (key, at) in keys {
            let row = &unsorted[at..][..stride];
            if last == Some(key) {
                let start = words.len() - stride;
                unite::<K, P>(&mut words[start..], row);
            } else {
                words.extend_from_slice(row);
                last = Some(key);
            }
        }
    }
}

/// The records and people, and the number of distinct values, of some rows taken together, and the loss of a record of the
/// first. Where people are not counted, there are as many as records.
#[inline(always)]
fn united<K: Key, const P: usize>(rows: &[u64], stride: usize) -> ([u64; 2], u32, u64) {
    let size = rows.chunks_exact(stride).map(|row| row[K::N_WORDS] & SIZE_MASK).sum();
    let n_people = if P > 0 { rows.chunks_exact(stride).map(|row| row[K::N_WORDS + 1]).sum() } else { size };
    let of_word = |word: usize| rows.chunks_exact(stride).fold(0, |set, row| set | row[word]).count_ones();
    let n_distinct = (K::N_WORDS + 1 + P..stride).map(of_word).sum();
    ([size, n_people], n_distinct, rows[K::N_WORDS] >> SIZE_BITS)
}

/// Adds a row with another key and a greater loss.
#[inline(always)]
fn append<K: Key>(words: &mut Vec<u64>, row: &[u64], key: K, loss: u64) {
    let start = words.len();
    words.extend_from_slice(row);
    let new = &mut words[start..][..row.len()];
    key.write(new);
    new[K::N_WORDS] = row[K::N_WORDS].wrapping_add(loss);
}

/// Adds the records of a row to another row of the same group.
#[inline(always)]
fn unite<K: Key, const P: usize>(into: &mut [u64], row: &[u64]) {
    into[K::N_WORDS] += row[K::N_WORDS] & SIZE_MASK;
    if P > 0 {
        into[K::N_WORDS + 1] += row[K::N_WORDS + 1];
    }
    for (into, word) in into[K::N_WORDS + 1 + P..].iter_mut().zip(&row[K::N_WORDS + 1 + P..]) {
        *into |= word;
    }
}

impl Scratch {
    /// Adds a finished group.
    #[inline(always)]
    pub(crate) fn add_row<K: Key, const P: usize>(&mut self, row: &[u64]) {
        let (sizes, n_distinct, loss) = united::<K, P>(row, row.len());
        self.add::<P>(sizes, n_distinct, loss);
    }
}
