//! From the groups of one scheme to those of a coarser one where people are counted, and somebody may be in several.
//!
//! Rows are those of [`crate::lattice::histograms`]. Whoever has all their records in one group of the finest scheme adds
//! up like a record does, and is in the signature of the group's row. The others have rows of their own behind those of
//! the groups that they are in, with their number in the lowest bits of the key: so that of several rows of the same
//! person in the same group one is made, and the person counts once. Where that one has taken up all of them, the person
//! is in one group from there on, and joins its row.
//!
//! A row has one word more: that of a group the signature of all who are in it, which stays as it is while nothing joins
//! the group. In fine schemes that is most of them.

use crate::counts::GroupCounts;
use crate::criterion::Yardstick;
use crate::lattice::histograms::{COUNT_BITS, Gathered, HistogramWork, Signatures, base_groups, gather, sort_rows};
use crate::lattice::profile::{N_MORE_MAX, Profile, SIZE_BITS, SIZE_MASK};
use crate::lattice::roll_up::{Key, RollUp};

/// Those who are in several groups of the finest scheme.
pub(crate) struct Drifters {
    /// In how many groups each of them is; they are numbered from 1, and 0 is the group itself.
    n_groups: Vec<u32>,
    /// By group of the counts, who is in it, with the cells of their records there; people increase.
    of_group: Vec<Vec<(u32, Vec<u32>)>>,
    /// By person of the counts, their number; 0 for those who are in one group.
    numbers: Vec<u32>,
    /// How many bits of a key the numbers take.
    pub(crate) n_bits: u32,
}

impl Drifters {
    pub(crate) fn new(counts: &GroupCounts) -> Option<Drifters> {
        let people = counts.people()?;
        let group_of_cell = counts.groups_of_cells();
        let mut of_group: Vec<Vec<(u32, Vec<u32>)>> = vec![Vec::new(); counts.n_groups()];
        let (mut n_groups, mut numbers) = (vec![0], vec![0; people.len()]);
        for (person, number) in (0..).zip(&mut numbers) {
            let mut n = 0;
            // Cells of a group follow each other.
            for (cell, _) in people.cells(person as usize) {
                match of_group[group_of_cell[cell] as usize].last_mut() {
                    Some((last, cells)) if *last == person => cells.push(cell as u32),
                    _ => {
                        of_group[group_of_cell[cell] as usize].push((person, vec![cell as u32]));
                        n += 1;
                    }
                }
            }
            if n > 1 {
                *number = n_groups.len() as u32;
                n_groups.push(n);
            }
        }
        let n_bits = usize::BITS - (n_groups.len() - 1).leading_zeros();
        Some(Drifters { n_groups, of_group, numbers, n_bits })
    }
}

/// How many words a row has behind its key.
pub(crate) const N_PEOPLE_WORDS: usize = 3;

/// Adds the group of a row, whose words behind the key are given, with all who are in it; unless nobody of the table is.
#[inline(always)]
fn gather_all(gathered: &mut Vec<Gathered>, row: &[u64]) {
    gather(gathered, &[row[0], row[2] | row[1] >> 32 << 32], 0);
}

/// By group, how many people have its records, where everybody is in one group, and has one value of the sensitive attribute
/// if there is one: none otherwise.
pub(crate) fn people_of_one_group(counts: &GroupCounts, sensitive: Option<usize>) -> Option<Vec<u64>> {
    let people = counts.people().filter(|people| counts.n_records() - people.len() as u64 <= N_MORE_MAX)?;
    let group_of_cell = counts.groups_of_cells();
    let mut n_people = vec![0; counts.n_groups()];
    let seen = |cell: usize| (group_of_cell[cell], sensitive.map(|s| counts.codes_of_cell(cell)[s]));
    for person in 0..people.len() {
        let mut all = people.cells(person).map(|(cell, _)| seen(cell));
        let first = all.next()?;
        if all.any(|other| other != first) {
            return None;
        }
        n_people[first.0 as usize] += 1;
    }
    Some(n_people)
}

impl Signatures<'_> {
    /// Adds somebody with these different values, which increase, to the signature that is being made.
    fn add_person(&mut self, values: &[u32]) {
        let (counts, used) = (&mut self.counts, &mut self.used);
        self.yardstick.person(values, |slot, n| {
            counts[slot as usize] += n;
            used[slot as usize / 64] |= 1 << (slot % 64);
        });
    }

    /// The signature of one person with the values of two signatures of theirs.
    fn same_person(&mut self, one: u32, other: u32) -> u32 {
        let n_values = self.yardstick.n_values() as u32;
        let value = |word: &u64| (word >> COUNT_BITS) as u32;
        let values_of = |signature: u32| self.words_of(signature)[2..].iter().map(value).filter(|v| *v < n_values);
        let mut values: Vec<u32> = values_of(one).chain(values_of(other)).collect();
        values.sort_unstable();
        values.dedup();
        self.add_person(&values);
        self.gather(0, 0)
    }
}

impl HistogramWork<'_> {
    /// The groups of the finest scheme, and of the population, in the order of their keys; behind each, those who are also
    /// in others.
    pub(crate) fn base_of_people<K: Key>(&mut self, roll_up: &RollUp, drifters: &Drifters) -> Vec<u64> {
        let counts = roll_up.counts;
        let mut words = Vec::new();
        let mut values = Vec::new();
        let mut values_in = |cells: &[u32], yardstick: &Yardstick| -> Vec<u32> {
            values.clear();
            for cell in cells {
                let codes = counts.codes_of_cell(*cell as usize).iter().enumerate();
                values.extend(codes.map(|(s, code)| yardstick.value(s, code.0)));
            }
            values.sort_unstable();
            values.dedup();
            values.clone()
        };
        for (key, group, population) in base_groups::<K>(roll_up) {
            let here: &[(u32, Vec<u32>)] = drifters.of_group.get(group).map_or(&[], Vec::as_slice);
            let number = |person: u32| drifters.numbers[person as usize];
            for (_, cells) in here.iter().filter(|(person, _)| number(*person) == 0) {
                let values = values_in(cells, self.signatures.yardstick);
                self.signatures.add_person(&values);
            }
            let (size, loss, entropy) = match group {
                usize::MAX => (0, 0, 0),
                group => {
                    let codes = counts.codes(group);
                    (counts.size(group), roll_up.loss_of(codes), roll_up.entropy_of(codes))
                }
            };
            let signature = self.signatures.gather(size, population);
            let mut push = |number: u32, first: u64, second: u64| {
                let at = words.len();
                words.resize(at + N_PEOPLE_WORDS + K::N_WORDS, 0);
                key.shifted_left(drifters.n_bits).or(K::of_code(u64::from(number))).write(&mut words[at..]);
                (words[at + K::N_WORDS], words[at + K::N_WORDS + 1]) = (first, second);
                at
            };
            let of_group = push(0, size | loss << SIZE_BITS, u64::from(signature) | entropy << 32);
            self.present.clear();
            self.present.push(signature);
            for (person, cells) in here.iter().filter(|(person, _)| number(*person) > 0) {
                let values = values_in(cells, self.signatures.yardstick);
                self.signatures.add_person(&values);
                let signature = self.signatures.gather(0, 0);
                self.present.push(signature);
                push(number(*person), 1, u64::from(signature));
            }
            let all =
                if self.present.len() > 1 { self.signatures.add_up(self.present.iter().copied()) } else { signature };
            words[of_group + K::N_WORDS + 2] = u64::from(all);
        }
        words
    }

    /// Gathers the groups of some rows.
    pub(crate) fn gather_people<K: Key>(&mut self, rows: &[u64], drifters: &Drifters) -> Profile {
        let number_mask = (1u64 << drifters.n_bits) - 1;
        for row in rows.chunks_exact(K::N_WORDS + N_PEOPLE_WORDS) {
            if K::read(row).low() & number_mask == 0 {
                gather_all(&mut self.gathered, &row[K::N_WORDS..]);
            }
        }
        self.profile()
    }

    /// Replaces `words` by the rows of the scheme whose `attribute` is at `level`, made from those of the one where it is
    /// a level finer, and gathers its groups; `n_lower` bits of a key are those of attributes behind it.
    pub(crate) fn step_of_people<K: Key>(
        &mut self,
        roll_up: &RollUp,
        drifters: &Drifters,
        source: &[u64],
        (attribute, level, n_lower): (usize, usize, u32),
        words: &mut Vec<u64>,
    ) -> Profile {
        let stride = K::N_WORDS + N_PEOPLE_WORDS;
        let tree = &roll_up.trees[attribute];
        let steps = &tree.steps[level - 1][..];
        let (before, after) = (&tree.entropies[level - 1][..], &tree.entropies[level][..]);
        let (width_before, width_after) = (tree.widths[level - 1], tree.widths[level]);
        let shift = n_lower + drifters.n_bits;
        let (code_mask, number_mask) = ((1u64 << width_before) - 1, (1u64 << drifters.n_bits) - 1);
        words.clear();
        words.reserve(source.len());
        let (mut start, mut is_sorted) = (0, true);
        let (mut high_of_block, mut last) = (None, K::of_code(0));
        for row in source.chunks_exact(stride) {
            let key = K::read(row);
            let is_group = key.low() & number_mask == 0;
            let upper = key.shifted_right(shift);
            let code = (upper.low() & code_mask) as usize;
            let (parent, loss) = steps[code];
            let high = upper.shifted_right(width_before).shifted_left(width_after).or(K::of_code(parent));
            let key = high.shifted_left(shift).or(key.below(shift));
            if high_of_block != Some(high) {
                self.sort_and_finish::<K>(words, start, is_sorted, drifters);
                (start, is_sorted, high_of_block) = (words.len(), true, Some(high));
            } else {
                is_sorted &= last <= key;
            }
            last = key;
            let at = words.len();
            words.extend_from_slice(row);
            key.write(&mut words[at..]);
            if is_group {
                words[at + K::N_WORDS] = row[K::N_WORDS].wrapping_add(loss);
                let entropy = after[parent as usize].wrapping_sub(before[code]);
                words[at + K::N_WORDS + 1] = row[K::N_WORDS + 1].wrapping_add(entropy << 32);
            }
        }
        self.sort_and_finish::<K>(words, start, is_sorted, drifters);
        self.profile()
    }

    /// The groups of every level above the lowest of the attribute with the lowest bits.
    pub(crate) fn all_levels_of_people<K: Key>(
        &mut self,
        roll_up: &RollUp,
        drifters: &Drifters,
        source: &[u64],
        attribute: usize,
    ) -> Vec<Profile> {
        let (mut now, mut next) = (Vec::new(), Vec::new());
        let mut profiles = Vec::new();
        for level in 1..roll_up.trees[attribute].above.len() {
            let source = if level == 1 { source } else { &now };
            profiles.push(self.step_of_people::<K>(roll_up, drifters, source, (attribute, level, 0), &mut next));
            std::mem::swap(&mut now, &mut next);
        }
        profiles
    }

    fn sort_and_finish<K: Key>(&mut self, words: &mut Vec<u64>, start: usize, is_sorted: bool, drifters: &Drifters) {
        if !is_sorted {
            sort_rows::<K>(words, start, K::N_WORDS + N_PEOPLE_WORDS);
        }
        self.finish_people::<K>(words, start, drifters);
    }

    /// Makes one row of each group among the rows from `start` on, which are in order, and one of each person who is also
    /// in others; and gathers the groups.
    fn finish_people<K: Key>(&mut self, words: &mut Vec<u64>, start: usize, drifters: &Drifters) {
        let stride = K::N_WORDS + N_PEOPLE_WORDS;
        let (first, second, third) = (K::N_WORDS, K::N_WORDS + 1, K::N_WORDS + 2);
        let (mut from, mut to) = (start, start);
        while from < words.len() {
            let key = K::read(&words[from..]);
            let group_key = key.shifted_right(drifters.n_bits);
            let mut end = from;
            while end < words.len() && K::read(&words[end..]) == key {
                end += stride;
            }
            let (of_group, start_of_group) = (to, from);
            words.copy_within(from..from + stride, to);
            self.joined.clear();
            let rows = || words[from..end].chunks_exact(stride);
            self.joined.extend(rows().map(|row| row[second] as u32));
            if end > from + stride {
                let size: u64 = rows().map(|row| row[first] & SIZE_MASK).sum();
                // Of rows that only the population has, the loss is unknown.
                let (loss, entropy) = rows()
                    .find(|row| row[first] & SIZE_MASK > 0)
                    .map_or((0, 0), |row| (row[first] >> SIZE_BITS, row[second] >> 32));
                words[of_group + first] = size | loss << SIZE_BITS;
                words[of_group + second] = entropy << 32;
            }
            (from, to) = (end, to + stride);
            self.present.clear();
            while from < words.len() && K::read(&words[from..]).shifted_right(drifters.n_bits) == group_key {
                let key = K::read(&words[from..]);
                let number = key.below(drifters.n_bits).low() as usize;
                let (mut n_groups, mut signature) = (words[from + first], words[from + second] as u32);
                from += stride;
                while from < words.len() && K::read(&words[from..]) == key {
                    n_groups += words[from + first];
                    signature = self.unified(signature, words[from + second] as u32);
                    from += stride;
                }
                if n_groups == u64::from(drifters.n_groups[number]) {
                    self.joined.push(signature);
                    continue;
                }
                self.present.push(signature);
                key.write(&mut words[to..]);
                (words[to + first], words[to + second], words[to + third]) = (n_groups, u64::from(signature), 0);
                to += stride;
            }
            let HistogramWork { signatures, joined, present, gathered, .. } = self;
            // As many rows as before: nothing has joined anything.
            if to - of_group < from - start_of_group {
                let settled = if joined.len() > 1 { signatures.add_up(joined.iter().copied()) } else { joined[0] };
                words[of_group + second] = u64::from(settled) | words[of_group + second] >> 32 << 32;
                present.push(settled);
                let all = if present.len() > 1 { signatures.add_up(present.iter().copied()) } else { settled };
                words[of_group + third] = u64::from(all);
            }
            gather_all(gathered, &words[of_group + first..]);
        }
        words.truncate(to);
    }

    /// The signature of one person with the values of two signatures of theirs.
    fn unified(&mut self, one: u32, other: u32) -> u32 {
        if one == other {
            return one;
        }
        let key = (one.min(other), one.max(other));
        if let Some(known) = self.unified.get(&key) {
            return *known;
        }
        let signature = self.signatures.same_person(one, other);
        self.unified.insert(key, signature);
        signature
    }
}
