//! Which groups of a scheme become one in the next coarser one: for whoever has to follow them.

use crate::counts::number;
use crate::lattice::profile::SIZE_MASK;
use crate::lattice::roll_up::{Key, RollUp};

/// One attribute goes up to a level; `n_lower` bits of a key are those of attributes behind it.
#[derive(Clone, Copy)]
pub(crate) struct LevelStep {
    pub(crate) attribute: usize,
    pub(crate) level: usize,
    pub(crate) n_lower: u32,
}

impl LevelStep {
    /// The step that leads to a scheme along an attribute.
    pub(crate) fn to(roll_up: &RollUp, levels: &[u8], attribute: usize) -> LevelStep {
        let lower = roll_up.order.iter().rev().take_while(|&&a| a != attribute);
        let n_lower = lower.map(|&a| roll_up.trees[a].widths[levels[a] as usize]).sum();
        LevelStep { attribute, level: levels[attribute] as usize, n_lower }
    }
}

/// What became of the groups in one step.
#[derive(Default)]
pub(crate) struct Regrouping {
    /// By group before, its number now.
    pub(crate) new_of: Vec<u32>,
    /// Groups that are made of several: the number, and where its parts end.
    united: Vec<(u32, u32)>,
    /// By group now, its place among those that are made of several, if it is.
    place: Vec<u32>,
    /// The parts of united groups, one after the other, by their numbers before.
    parts: Vec<u32>,
}

/// The rows that agree in all bits but the lowest, by their new keys.
struct Block<K> {
    rows: Vec<(K, u32)>,
    is_sorted: bool,
}

impl Regrouping {
    /// How many groups are made of several.
    pub(crate) fn n_united(&self) -> usize {
        self.united.len()
    }

    /// The place of a group among those that are made of several, which it is.
    #[inline(always)]
    pub(crate) fn place(&self, group: u32) -> usize {
        self.place[group as usize] as usize
    }

    /// The groups that are made of several, in order, each with its parts.
    pub(crate) fn united(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let starts = std::iter::once(0).chain(self.united.iter().map(|(_, end)| *end as usize));
        starts.zip(&self.united).map(|(start, (group, end))| (*group as usize, &self.parts[start..*end as usize]))
    }

    /// Replaces `words` by the rows of the coarser scheme, in order. Sizes are added up, losses and entropies (the upper half of
    /// the word behind the size) are those of the new scheme; all else is as in the first part that has records. A row has
    /// `N` words behind its key.
    pub(crate) fn step<K: Key, const N: usize>(
        &mut self,
        roll_up: &RollUp,
        source: &[u64],
        step: LevelStep,
        words: &mut Vec<u64>,
    ) {
        let stride = K::N_WORDS + N;
        let tree = &roll_up.trees[step.attribute];
        let steps = &tree.steps[step.level - 1][..];
        let (width_before, width_after) = (tree.widths[step.level - 1], tree.widths[step.level]);
        let code_mask = (1u64 << width_before) - 1;
        self.new_of.clear();
        self.new_of.resize(source.len() / stride, 0);
        self.united.clear();
        self.place.clear();
        self.parts.clear();
        words.clear();
        words.reserve(source.len());
        let mut block = Block { rows: Vec::new(), is_sorted: true };
        let mut high_of_block = None;
        for (row, number) in source.chunks_exact(stride).zip(0..) {
            let key = K::read(row);
            let upper = key.shifted_right(step.n_lower);
            let (parent, _) = steps[(upper.low() & code_mask) as usize];
            let high = upper.shifted_right(width_before).shifted_left(width_after).or(K::of_code(parent));
            let key = high.shifted_left(step.n_lower).or(key.below(step.n_lower));
            if high_of_block != Some(high) {
                self.finish::<K, N>(roll_up, source, step, &mut block, words);
                high_of_block = Some(high);
            } else {
                block.is_sorted &= block.rows.last().is_none_or(|(last, _)| *last <= key);
            }
            block.rows.push((key, number));
        }
        self.finish::<K, N>(roll_up, source, step, &mut block, words);
    }

    /// Adds the groups of a block, and leaves it empty.
    #[inline(always)]
    fn finish<K: Key, const N: usize>(
        &mut self,
        roll_up: &RollUp,
        source: &[u64],
        step: LevelStep,
        block: &mut Block<K>,
        words: &mut Vec<u64>,
    ) {
        let stride = K::N_WORDS + N;
        if !block.is_sorted {
            // Sorted runs side by side: the stable sort merges them.
            block.rows.sort_by_key(|(key, _)| *key);
        }
        let tree = &roll_up.trees[step.attribute];
        let code_mask = (1u64 << tree.widths[step.level - 1]) - 1;
        let (before, after) = (&tree.entropies[step.level - 1][..], &tree.entropies[step.level][..]);
        let size_of = |row: u32| source[row as usize * stride + K::N_WORDS] & SIZE_MASK;
        let mut rest = &block.rows[..];
        while let [(key, first), ..] = *rest {
            let n = 1 + rest[1..].iter().take_while(|(other, _)| *other == key).count();
            let (parts, others) = rest.split_at(n);
            rest = others;
            let group = self.place.len() as u32;
            self.place.push(self.united.len() as u32);
            let (mut like, mut size) = (first, size_of(first));
            parts.iter().for_each(|(_, part)| self.new_of[*part as usize] = group);
            if n > 1 {
                self.parts.extend(parts.iter().map(|(_, part)| *part));
                self.united.push((group, self.parts.len() as u32));
                // Of rows that only the population has, the loss is unknown.
                like = parts.iter().map(|(_, part)| *part).find(|part| size_of(*part) > 0).unwrap_or(first);
                size = parts.iter().map(|(_, part)| size_of(*part)).sum();
            }
            let row = &source[like as usize * stride..][..stride];
            let code = (K::read(row).shifted_right(step.n_lower).low() & code_mask) as usize;
            let (parent, loss) = tree.steps[step.level - 1][code];
            let start = words.len();
            words.extend_from_slice(row);
            let new = &mut words[start..][..stride];
            key.write(new);
            new[K::N_WORDS] = (row[K::N_WORDS] & !SIZE_MASK | size).wrapping_add(loss);
            let entropy = after[parent as usize].wrapping_sub(before[code]);
            new[K::N_WORDS + 1] = row[K::N_WORDS + 1].wrapping_add(entropy << 32);
        }
        block.rows.clear();
        block.is_sorted = true;
    }
}

/// What is to be added to the sums of united groups, slot by slot: a list for each.
#[derive(Default)]
pub(crate) struct Corrections {
    /// By place of the group, the first one.
    first: Vec<u32>,
    /// The next of the same group, the slot, and how much; less where it wraps around.
    all: Vec<(u32, u32, u64)>,
}

const NONE: u32 = u32::MAX;

impl Corrections {
    pub(crate) fn clear(&mut self, n_united: usize) {
        self.first.clear();
        self.first.resize(n_united, NONE);
        self.all.clear();
    }

    pub(crate) fn push(&mut self, place: usize, slot: u32, n: u64) {
        let next = std::mem::replace(&mut self.first[place], number(self.all.len()));
        self.all.push((next, slot, n));
    }

    pub(crate) fn of(&self, place: usize) -> impl Iterator<Item = (u32, u64)> {
        let at = |next: u32| (next != NONE).then(|| self.all[next as usize]);
        std::iter::successors(at(self.first[place]), move |(next, ..)| at(*next)).map(|(_, slot, n)| (slot, n))
    }

    pub(crate) fn has_any(&self, place: usize) -> bool {
        self.first[place] != NONE
    }
}
