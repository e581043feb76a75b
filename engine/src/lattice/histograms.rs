//! From the groups of one scheme to those of a coarser one, with all of their sensitive values: for criteria that ask
//! how often each value occurs, not only which ones do.
//!
//! Rows are those of [`crate::lattice::roll_up`], except that the last word holds the number of the group's *signature*: its size,
//! population and histogram of sensitive values. Every signature is stored and measured once, however many schemes have a
//! group like it: most groups of a scheme are those of its neighbours, so that there is little to add up and less to
//! measure.

use std::sync::Arc;

use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use crate::counts::number;
use crate::criterion::Yardstick;
use crate::lattice::profile::{Entry, Profile, SIZE_BITS, SIZE_MASK};
use crate::lattice::roll_up::{Key, RollUp};
use crate::loss::Steps;

/// How a cell of a histogram is stored: the value in the upper bits, the number of records in the lower ones.
pub(crate) const COUNT_BITS: u32 = 40;
pub(crate) const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;
/// The most values that fit beside a count.
pub(crate) const N_VALUES_MAX: usize = 1 << (64 - COUNT_BITS);

/// Distinct signatures, by number.
#[derive(Default)]
struct Interned {
    /// Where each signature begins; one more entry than there are signatures.
    starts: Vec<usize>,
    /// Per signature its size, its population and the cells of its histogram, by value.
    words: Vec<u64>,
    /// Per signature what it measures.
    measured: Vec<u64>,
    /// The signatures by hash, which is kept: most of those that are looked for are found, or told apart, without a visit.
    table: HashTable<(u64, u32)>,
}

impl Interned {
    fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    fn signature(&self, signature: usize) -> &[u64] {
        &self.words[self.starts[signature]..self.starts[signature + 1]]
    }

    fn find(&self, hash: u64, words: &[u64]) -> Option<u32> {
        self.table
            .find(hash, |&(known, signature)| known == hash && self.signature(signature as usize).iter().eq(words))
            .map(|(_, signature)| *signature)
    }

    fn n_bytes(&self) -> usize {
        8 * (self.starts.len() + self.words.len() + self.measured.len()) + 17 * self.table.capacity()
    }
}

pub(crate) fn hash_words(words: &[u64]) -> u64 {
    words.iter().fold(0, |hash: u64, word| {
        let product = u128::from(hash ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03;
        (product as u64) ^ (product >> 64) as u64
    })
}

/// Which signature several signatures have together, for those that were united before: in scheme after scheme it is the same
/// groups that become one.
#[derive(Default)]
struct Unions {
    /// The last pairs, each in a place of its own, which fits the processor's cache: most unions are of two groups, and
    /// were made a moment ago.
    recent: Vec<(u64, u32)>,
    /// All pairs, with the signature that they have together.
    pairs: HashTable<(u64, u32)>,
    /// Longer lists, by hash.
    lists: HashTable<UnitedList>,
    /// The signatures of each list, its length first.
    members: Vec<u32>,
}

struct UnitedList {
    hash: u64,
    /// Where it begins among the members.
    start: u32,
    /// What it has together.
    signature: u32,
}

const N_RECENT: usize = 1 << 15;
const UNKNOWN: u32 = u32::MAX;
/// Longer lists are hardly ever seen twice.
const N_UNITED_MAX: usize = 12;

impl Unions {
    fn list(&self, list: &UnitedList) -> &[u32] {
        let start = list.start as usize;
        &self.members[start + 1..][..self.members[start] as usize]
    }

    fn find_list(&self, hash: u64, signatures: &[u32]) -> Option<u32> {
        // A few numbers are sooner compared one by one than by a call.
        let is_same = |known: &UnitedList| self.list(known).iter().eq(signatures);
        self.lists.find(hash, |known| known.hash == hash && is_same(known)).map(|known| known.signature)
    }

    fn add_list(&mut self, hash: u64, signatures: &[u32], signature: u32) {
        let start = number(self.members.len());
        self.members.push(number(signatures.len()));
        self.members.extend_from_slice(signatures);
        self.lists.insert_unique(hash, UnitedList { hash, start, signature }, |known| known.hash);
    }

    fn n_bytes(&self) -> usize {
        17 * (self.pairs.capacity() + self.lists.capacity()) + size_of_val(&self.members[..])
    }
}

/// The signatures that one thread has met: those that all threads know, and its own.
pub(crate) struct Signatures<'a> {
    pub(crate) yardstick: &'a Yardstick,
    shared: Arc<Interned>,
    own: Interned,
    unions: Unions,
    /// By value, how many records; and which values have any: where the cells of united groups are added up.
    counts: Vec<u64>,
    used: Vec<u64>,
    /// The signature that is being made.
    words: Vec<u64>,
    histogram: Vec<(u32, u64)>,
}

impl<'a> Signatures<'a> {
    fn new(yardstick: &'a Yardstick, shared: Arc<Interned>) -> Signatures<'a> {
        let n_values = yardstick.n_slots();
        Signatures {
            yardstick,
            shared,
            own: Interned { starts: vec![0], ..Interned::default() },
            unions: Unions { recent: vec![(u64::MAX, UNKNOWN); N_RECENT], ..Unions::default() },
            counts: vec![0; n_values],
            used: vec![0; n_values.div_ceil(64)],
            words: Vec::new(),
            histogram: Vec::new(),
        }
    }

    /// The number of the signature that is in `self.words`; measures it if it is new.
    fn intern(&mut self) -> u32 {
        let hash = hash_words(&self.words);
        if let Some(signature) = self.shared.find(hash, &self.words) {
            return signature;
        }
        let n_shared = self.shared.len();
        if let Some(signature) = self.own.find(hash, &self.words) {
            return number(n_shared + signature as usize);
        }
        let signature = number(self.own.len());
        self.own.words.extend_from_slice(&self.words);
        self.own.starts.push(self.own.words.len());
        self.own.table.insert_unique(hash, (hash, signature), |(hash, _)| *hash);
        self.histogram.clear();
        let cells = self.words[2..].iter().map(|cell| ((cell >> COUNT_BITS) as u32, cell & COUNT_MASK));
        self.histogram.extend(cells);
        self.yardstick.measure(self.words[0], self.words[1], &self.histogram, &mut self.own.measured);
        number(n_shared + signature as usize)
    }

    /// The signature of several groups taken together.
    pub(crate) fn unite(&mut self, signatures: impl ExactSizeIterator<Item = u32> + Clone) -> u32 {
        match signatures.len() {
            2 => self.unite_pair(signatures),
            n if n > N_UNITED_MAX => self.add_up(signatures),
            n => {
                let mut list = [0; N_UNITED_MAX];
                list.iter_mut().zip(signatures).for_each(|(known, signature)| *known = signature);
                self.unite_list(&list[..n])
            }
        }
    }

    fn unite_pair(&mut self, signatures: impl Iterator<Item = u32> + Clone) -> u32 {
        let key = signatures.clone().fold(0, |key, signature| key << 32 | u64::from(signature));
        let hash = hash_words(&[key]);
        let at = hash as usize % N_RECENT;
        if self.unions.recent[at].0 == key {
            return self.unions.recent[at].1;
        }
        let signature = match self.unions.pairs.find(hash, |(known, _)| *known == key) {
            Some((_, signature)) => *signature,
            None => {
                let signature = self.add_up(signatures);
                self.unions.pairs.insert_unique(hash, (key, signature), |(key, _)| hash_words(&[*key]));
                signature
            }
        };
        self.unions.recent[at] = (key, signature);
        signature
    }

    fn unite_list(&mut self, list: &[u32]) -> u32 {
        let hash = list.iter().fold(0, |hash, signature| hash_words(&[hash ^ u64::from(*signature)]));
        self.unions.find_list(hash, list).unwrap_or_else(|| {
            let signature = self.add_up(list.iter().copied());
            self.unions.add_list(hash, list, signature);
            signature
        })
    }

    /// The signature of several groups taken together, that hardly ever come together again.
    pub(crate) fn add_up(&mut self, signatures: impl Iterator<Item = u32> + Clone) -> u32 {
        let (mut size, mut population) = (0, 0);
        let Signatures { shared, own, counts, used, words: sum, .. } = self;
        let words_of = |signature: u32| match (signature as usize).checked_sub(shared.len()) {
            None => shared.signature(signature as usize),
            Some(signature) => own.signature(signature),
        };
        let n_cells: usize = signatures.clone().map(|signature| words_of(signature).len() - 2).sum();
        if n_cells * N_WORDS_PER_CELL < used.len() {
            // A few of many values: to put them in order is quicker than to look through all that there are.
            sum.clear();
            sum.extend([0, 0]);
            for words in signatures.map(words_of) {
                sum[0] += words[0];
                sum[1] += words[1];
                sum.extend_from_slice(&words[2..]);
            }
            sum[2..].sort_unstable();
            add_up_cells(sum, 2);
            return self.intern();
        }
        for words in signatures.map(words_of) {
            size += words[0];
            population += words[1];
            for cell in &words[2..] {
                let value = (cell >> COUNT_BITS) as usize;
                counts[value] += cell & COUNT_MASK;
                used[value / 64] |= 1 << (value % 64);
            }
        }
        self.gather(size, population)
    }

    /// The same, with so much more or, where it wraps around, less in some slots.
    pub(crate) fn add_up_corrected(
        &mut self,
        signatures: impl Iterator<Item = u32>,
        corrections: impl Iterator<Item = (u32, u64)>,
    ) -> u32 {
        let (mut size, mut population) = (0, 0);
        let Signatures { shared, own, counts, used, .. } = self;
        for signature in signatures {
            let words = match (signature as usize).checked_sub(shared.len()) {
                None => shared.signature(signature as usize),
                Some(signature) => own.signature(signature),
            };
            size += words[0];
            population += words[1];
            for cell in &words[2..] {
                let value = (cell >> COUNT_BITS) as usize;
                counts[value] += cell & COUNT_MASK;
                used[value / 64] |= 1 << (value % 64);
            }
        }
        for (slot, n) in corrections {
            let count = &mut counts[slot as usize];
            *count = count.wrapping_add(n);
            used[slot as usize / 64] |= 1 << (slot % 64);
        }
        self.gather(size, population)
    }

    /// Adds somebody with these different values, which increase, to the signature that is being made.
    pub(crate) fn add_person(&mut self, values: &[u32]) {
        let (counts, used) = (&mut self.counts, &mut self.used);
        self.yardstick.person(values, |slot, n| {
            counts[slot as usize] += n;
            used[slot as usize / 64] |= 1 << (slot % 64);
        });
    }

    /// The signature with what was added up in `counts`, which is left empty.
    pub(crate) fn gather(&mut self, size: u64, population: u64) -> u32 {
        self.words.clear();
        self.words.extend([size, population]);
        for (i, word) in self.used.iter_mut().enumerate() {
            while *word != 0 {
                let value = i * 64 + word.trailing_zeros() as usize;
                *word &= *word - 1;
                self.words.push((value as u64) << COUNT_BITS | std::mem::take(&mut self.counts[value]));
            }
        }
        self.intern()
    }

    fn n_bytes(&self) -> usize {
        self.own.n_bytes() + self.unions.n_bytes()
    }
}

/// About how many words of sixty-four values each are looked through in the time that one cell takes to be sorted in.
pub(crate) const N_WORDS_PER_CELL: usize = 8;

/// Adds up the cells from `first` on that have the same value, which follow each other.
pub(crate) fn add_up_cells(words: &mut Vec<u64>, first: usize) {
    let mut n = first;
    for i in first..words.len() {
        let cell = words[i];
        if n > first && words[n - 1] >> COUNT_BITS == cell >> COUNT_BITS {
            words[n - 1] += cell & COUNT_MASK;
        } else {
            words[n] = cell;
            n += 1;
        }
    }
    words.truncate(n);
}

/// One group of a scheme that is being gathered: its signature, and the loss and the entropy of a record, which fit.
type Gathered = (u32, u32, u32);

/// The entries of the scheme whose groups are being gathered.
#[derive(Default)]
struct Gathering {
    entries: Vec<Entry>,
    entropies: Vec<Steps>,
    /// By signature, its place among the entries of the scheme that had it last.
    seen: Vec<u32>,
    has_entropies: bool,
}

impl Gathering {
    #[inline(always)]
    fn add(&mut self, (signature, loss, entropy): Gathered) {
        let at = signature as usize;
        if at >= self.seen.len() {
            self.seen.resize((at + 1).max(2 * self.seen.len()), 0);
        }
        // What an earlier scheme has left there leads to an entry of another signature, or to none.
        let seen = &mut self.seen[at];
        match self.entries.get_mut(*seen as usize) {
            Some(entry) if entry.signature == signature => {
                entry.n_groups += 1;
                entry.loss += Steps::from(loss);
                if self.has_entropies {
                    self.entropies[*seen as usize] += Steps::from(entropy);
                }
            }
            _ => {
                *seen = number(self.entries.len());
                self.entries.push(Entry { signature, n_groups: 1, loss: Steps::from(loss) });
                if self.has_entropies {
                    self.entropies.push(Steps::from(entropy));
                }
            }
        }
    }

    /// Adds a finished group, unless nobody of the table is in it.
    #[inline(always)]
    fn add_row(&mut self, row: &[u64], n_key_words: usize) {
        let (size, signature) = (row[n_key_words] & SIZE_MASK, row[n_key_words + 1]);
        if size > 0 {
            self.add((signature as u32, (row[n_key_words] >> SIZE_BITS) as u32, (signature >> 32) as u32));
        }
    }

    /// The profile of what was gathered, by signatures as this thread numbers them; nothing is left.
    fn profile(&mut self) -> Profile {
        let profile = Profile::provisional(self.entries.to_vec(), self.entropies.to_vec());
        self.entries.clear();
        self.entropies.clear();
        profile
    }
}

/// What one thread works with.
pub(crate) struct HistogramWork<'a> {
    pub(crate) signatures: Signatures<'a>,
    gathering: Gathering,
    of_level: Vec<Vec<Gathered>>,
}

impl<'a> HistogramWork<'a> {
    fn new(yardstick: &'a Yardstick, shared: Arc<Interned>, has_entropies: bool) -> HistogramWork<'a> {
        HistogramWork {
            signatures: Signatures::new(yardstick, shared),
            gathering: Gathering { has_entropies, ..Gathering::default() },
            of_level: Vec::new(),
        }
    }

    pub(crate) fn first(yardstick: &'a Yardstick, has_entropies: bool) -> HistogramWork<'a> {
        HistogramWork::new(yardstick, Arc::new(Interned { starts: vec![0], ..Interned::default() }), has_entropies)
    }

    /// For each of several threads, a place to work that knows all signatures so far.
    pub(crate) fn shared(self, n_threads: usize) -> Vec<HistogramWork<'a>> {
        if n_threads == 1 {
            return vec![self];
        }
        let (yardstick, shared) = (self.signatures.yardstick, Arc::new(self.signatures.own));
        let has_entropies = self.gathering.has_entropies;
        (0..n_threads).map(|_| HistogramWork::new(yardstick, Arc::clone(&shared), has_entropies)).collect()
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.signatures.n_bytes() + size_of_val(&self.gathering.seen[..])
    }

    /// What one signature measures.
    pub(crate) fn measured_of(&self, signature: u32) -> &[u64] {
        let n = self.signatures.yardstick.n_measured();
        let Signatures { shared, own, .. } = &self.signatures;
        let (measured, signature) = match (signature as usize).checked_sub(shared.len()) {
            None => (&shared.measured, signature as usize),
            Some(signature) => (&own.measured, signature),
        };
        &measured[signature * n..][..n]
    }

    /// What the signatures measure: those that all threads know, then the thread's own.
    pub(crate) fn measured(self) -> (Arc<SharedSignatures>, Vec<u64>) {
        (Arc::new(SharedSignatures(self.signatures.shared)), self.signatures.own.measured)
    }

    /// The groups of the finest scheme, and of the population, in the order of their keys.
    pub(crate) fn base<K: Key>(&mut self, roll_up: &RollUp) -> Vec<u64> {
        let counts = roll_up.counts;
        let groups = base_groups::<K>(roll_up);
        let stride = K::N_WORDS + 2;
        let mut words = vec![0; groups.len() * stride];
        for (row, &(key, group, population)) in words.chunks_exact_mut(stride).zip(&groups) {
            key.write(row);
            let (size, loss, entropy) = match group {
                usize::MAX => (0, 0, 0),
                group => {
                    let codes = counts.codes(group);
                    (counts.size(group), roll_up.loss_of(codes), roll_up.entropy_of(codes))
                }
            };
            if size > 0 {
                for (codes, n) in counts.cells(group) {
                    for (s, code) in codes.iter().enumerate() {
                        let value = self.signatures.yardstick.value(s, code.0) as usize;
                        self.signatures.counts[value] += n;
                        self.signatures.used[value / 64] |= 1 << (value % 64);
                    }
                }
            }
            let signature = self.signatures.gather(size, population);
            row[K::N_WORDS] = size | loss << SIZE_BITS;
            row[K::N_WORDS + 1] = u64::from(signature) | entropy << 32;
        }
        words
    }

    pub(crate) fn gather_rows<K: Key>(&mut self, rows: &[u64]) -> Profile {
        rows.chunks_exact(K::N_WORDS + 2).for_each(|row| self.gathering.add_row(row, K::N_WORDS));
        self.gathering.profile()
    }

    pub(crate) fn profile_of_level(&mut self, level: usize) -> Profile {
        self.of_level[level].drain(..).for_each(|group| self.gathering.add(group));
        self.gathering.profile()
    }

    /// Replaces `words` by the rows of the scheme `levels`, made from those of the scheme whose `attribute` is one
    /// level finer, and gathers its groups.
    pub(crate) fn step<K: Key>(
        &mut self,
        roll_up: &RollUp,
        source: &[u64],
        levels: &[u8],
        attribute: usize,
        words: &mut Vec<u64>,
    ) -> Profile {
        let stride = K::N_WORDS + 2;
        let level = levels[attribute] as usize;
        let tree = &roll_up.trees[attribute];
        let steps = &tree.steps[level - 1][..];
        let (before, after) = (&tree.entropies[level - 1][..], &tree.entropies[level][..]);
        let (width_before, width_after) = (tree.widths[level - 1], tree.widths[level]);
        let lower = roll_up.order.iter().rev().take_while(|&&a| a != attribute);
        let shift: u32 = lower.map(|&a| roll_up.trees[a].widths[levels[a] as usize]).sum();
        let code_mask = (1u64 << width_before) - 1;
        let has_entropies = self.gathering.has_entropies;
        words.clear();
        words.reserve(source.len());
        let (mut start, mut is_sorted) = (0, true);
        let (mut high_of_block, mut last) = (None, K::of_code(0));
        for row in source.chunks_exact(stride) {
            let key = K::read(row);
            let upper = key.shifted_right(shift);
            let code = (upper.low() & code_mask) as usize;
            let (parent, loss) = steps[code];
            let high = upper.shifted_right(width_before).shifted_left(width_after).or(K::of_code(parent));
            let key = high.shifted_left(shift).or(key.below(shift));
            if high_of_block != Some(high) {
                self.finish_block::<K>(words, start, is_sorted);
                (start, is_sorted, high_of_block) = (words.len(), true, Some(high));
            } else {
                is_sorted &= last <= key;
            }
            last = key;
            let at = words.len();
            words.extend_from_slice(row);
            key.write(&mut words[at..]);
            words[at + K::N_WORDS] = row[K::N_WORDS].wrapping_add(loss);
            if has_entropies {
                let entropy = after[parent as usize].wrapping_sub(before[code]);
                words[at + K::N_WORDS + 1] = row[K::N_WORDS + 1].wrapping_add(entropy << 32);
            }
        }
        self.finish_block::<K>(words, start, is_sorted);
        self.gathering.profile()
    }

    /// Makes one row of those with the same key, in order, among the rows from `start` on; and gathers them.
    #[inline(always)]
    fn finish_block<K: Key>(&mut self, words: &mut Vec<u64>, start: usize, is_sorted: bool) {
        // Most rows are the only one of their block.
        match words.len() - start <= K::N_WORDS + 2 {
            true if start == words.len() => {}
            true => self.gathering.add_row(&words[start..], K::N_WORDS),
            false => self.finish_rows::<K>(words, start, is_sorted),
        }
    }

    fn finish_rows<K: Key>(&mut self, words: &mut Vec<u64>, start: usize, is_sorted: bool) {
        let stride = K::N_WORDS + 2;
        if !is_sorted {
            sort_rows::<K>(words, start, stride);
        }
        let (mut from, mut to) = (start, start);
        while from < words.len() {
            let key = K::read(&words[from..]);
            let mut end = from + stride;
            while end < words.len() && K::read(&words[end..]) == key {
                end += stride;
            }
            if from != to {
                words.copy_within(from..from + stride, to);
            }
            if end > from + stride {
                unite_rows::<K>(&mut self.signatures, words, from, end, to);
            }
            self.gathering.add_row(&words[to..to + stride], K::N_WORDS);
            from = end;
            to += stride;
        }
        words.truncate(to);
    }

    /// Gathers the groups of every level of the attribute with the lowest bits, each level from the one below.
    pub(crate) fn all_levels<K: Key>(&mut self, roll_up: &RollUp, source: &[u64], attribute: usize) {
        let stride = K::N_WORDS + 2;
        let tree = &roll_up.trees[attribute];
        let code_mask = (1u64 << tree.widths[0]) - 1;
        let code_at = |at: usize| (K::read(&source[at..]).low() & code_mask) as usize;
        let rest_at = |at: usize| K::read(&source[at..]).shifted_right(tree.widths[0]);
        let size_at = |at: usize| source[at + K::N_WORDS] & SIZE_MASK;
        self.of_level.resize_with(tree.above.len(), Vec::new);
        let has_entropies = self.gathering.has_entropies;
        // The groups of the level at hand: a row of each, and the signature of all of its rows.
        let mut groups: Vec<(usize, u32)> = Vec::new();
        let mut start = 0;
        let gather = |work: &mut Vec<Gathered>, level: usize, row: usize, signature: u32| {
            if size_at(row) > 0 {
                let code = code_at(row);
                let of_row = &source[row + K::N_WORDS..];
                let loss = (of_row[0] >> SIZE_BITS).wrapping_add(tree.loss_above[level][code]);
                let entropy = || {
                    let label = tree.above[level][code] as usize;
                    let more = tree.entropies[level][label].wrapping_sub(tree.entropies[0][code]);
                    (of_row[1] >> 32).wrapping_add(more) as u32
                };
                work.push((signature, loss as u32, if has_entropies { entropy() } else { 0 }));
            }
        };
        while start < source.len() {
            let rest = rest_at(start);
            if start + stride == source.len() || rest_at(start + stride) != rest {
                // Alone at every level.
                let signature = source[start + K::N_WORDS + 1] as u32;
                (1..tree.above.len()).for_each(|level| gather(&mut self.of_level[level], level, start, signature));
                start += stride;
                continue;
            }
            groups.clear();
            let mut end = start;
            while end < source.len() && rest_at(end) == rest {
                groups.push((end, source[end + K::N_WORDS + 1] as u32));
                end += stride;
            }
            for level in 1..tree.above.len() {
                let above = &tree.above[level][..];
                let (mut from, mut to) = (0, 0);
                while from < groups.len() {
                    let (mut row, mut signature) = groups[from];
                    let code = code_at(row);
                    let is_same = |(row, _): &&(usize, u32)| above[code_at(*row)] == above[code];
                    let next = from + groups[from..].iter().take_while(is_same).count();
                    if next > from + 1 {
                        signature = self.signatures.unite(groups[from..next].iter().map(|(_, signature)| *signature));
                        // Of rows that only the population has, the loss is unknown.
                        row =
                            groups[from..next].iter().map(|(row, _)| *row).find(|row| size_at(*row) > 0).unwrap_or(row);
                    }
                    groups[to] = (row, signature);
                    (from, to) = (next, to + 1);
                    gather(&mut self.of_level[level], level, row, signature);
                }
                groups.truncate(to);
            }
            start = end;
        }
    }
}

/// Puts the rows from `start` on in the order of their keys.
fn sort_rows<K: Key>(words: &mut Vec<u64>, start: usize, stride: usize) {
    let unsorted = words.split_off(start);
    let mut keys: Vec<(K, usize)> = unsorted.chunks_exact(stride).map(K::read).zip((0..).step_by(stride)).collect();
    // Sorted runs side by side: the stable sort merges them.
    keys.sort_by_key(|(key, _)| *key);
    keys.iter().for_each(|(_, at)| words.extend_from_slice(&unsorted[*at..][..stride]));
}

/// The signatures that all threads know.
pub(crate) struct SharedSignatures(Arc<Interned>);

impl SharedSignatures {
    pub(crate) fn measured(&self) -> &[u64] {
        &self.0.measured
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// Makes the row at `to`, which is like that at `from`, the group of all rows from `from` to `end`.
///
/// Of rows that only the population has, the loss is unknown: that of the first row with records counts.
fn unite_rows<K: Key>(signatures: &mut Signatures, words: &mut [u64], from: usize, end: usize, to: usize) {
    let stride = K::N_WORDS + 2;
    let rows = || words[from..end].chunks_exact(stride);
    let size: u64 = rows().map(|row| row[K::N_WORDS] & SIZE_MASK).sum();
    let signature = signatures.unite(rows().map(|row| row[K::N_WORDS + 1] as u32));
    let with_records = rows().find(|row| row[K::N_WORDS] & SIZE_MASK > 0);
    let (loss, entropy) = with_records.map_or((0, 0), |row| (row[K::N_WORDS] >> SIZE_BITS, row[K::N_WORDS + 1] >> 32));
    words[to + K::N_WORDS] = size | loss << SIZE_BITS;
    words[to + K::N_WORDS + 1] = u64::from(signature) | entropy << 32;
}

/// The groups of the finest scheme and of the population, in the order of their keys: the number of the group, or none,
/// and how many people of the population look the same.
pub(crate) fn base_groups<K: Key>(roll_up: &RollUp) -> Vec<(K, usize, u64)> {
    let counts = roll_up.counts;
    let mut groups: Vec<(K, usize, u64)> =
        (0..counts.n_groups()).map(|group| (roll_up.key_of(counts.codes(group)), group, 0)).collect();
    if let Some(population) = counts.population() {
        let places: FxHashMap<_, usize> = (0..counts.n_groups()).map(|group| (counts.codes(group), group)).collect();
        for (codes, n) in population.groups() {
            match places.get(codes) {
                Some(&group) => groups[group].2 = n,
                // Nobody in the table looks like these people yet.
                None => groups.push((roll_up.key_of(codes), usize::MAX, n)),
            }
        }
    }
    groups.sort_unstable();
    groups
}
