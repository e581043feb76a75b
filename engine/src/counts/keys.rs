//! Codes side by side in a key, and how many records have each key.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::counts::{hash_key, number};

/// Where each attribute's code sits in a key of 64-bit words, the first attribute in the highest bits.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) widths: Vec<u32>,
    places: Vec<(usize, u32)>,
    n_words: usize,
}

/// Keys of more words are kept one after the other instead of side by side with their counts, which is slower.
const N_WORDS_FAST: usize = 8;

impl Layout {
    pub(super) fn new(mut widths: Vec<u32>) -> Layout {
        // A lone value needs no bit, but a shift by all 64 is none.
        widths.iter_mut().for_each(|width| *width = (*width).max(1));
        let (mut word, mut n_free) = (0, u64::BITS);
        let places = widths
            .iter()
            .map(|&width| {
                if width > n_free {
                    (word, n_free) = (word + 1, u64::BITS);
                }
                n_free -= width;
                (word, n_free)
            })
            .collect();
        Layout { widths, places, n_words: word + 1 }
    }

    /// Whether its keys are of those that are counted fastest.
    pub(super) fn is_fast(&self) -> bool {
        self.n_words <= N_WORDS_FAST
    }

    #[inline]
    fn pack<const N: usize>(&self, codes: impl Iterator<Item = u32>) -> [u64; N] {
        let mut key = [0; N];
        self.pack_into(codes, &mut key);
        key
    }

    /// Packs codes into a key that has at least as many words as the layout, all of them 0.
    #[inline]
    fn pack_into(&self, codes: impl Iterator<Item = u32>, key: &mut [u64]) {
        let last = key.len() - 1;
        for (code, &(word, shift)) in codes.zip(&self.places) {
            key[word.min(last)] |= u64::from(code) << shift;
        }
    }

    #[inline]
    fn unpack(&self, key: &[u64], codes: &mut [u32]) {
        let last = key.len() - 1;
        for (code, (&(word, shift), &width)) in codes.iter_mut().zip(self.places.iter().zip(&self.widths)) {
            *code = ((key[word.min(last)] >> shift) & ((1u64 << width) - 1)) as u32;
        }
    }

    /// One key per record, from one column of codes per attribute.
    fn keys<const N: usize>(&self, columns: &[Vec<u32>]) -> Vec<[u64; N]> {
        let n_records = columns.first().map_or(0, Vec::len);
        let mut keys = vec![[0; N]; n_records];
        for (column, &(word, shift)) in columns.iter().zip(&self.places) {
            let word = word.min(N - 1);
            for (key, &code) in keys.iter_mut().zip(column) {
                key[word] |= u64::from(code) << shift;
            }
        }
        keys
    }
}

type Key<const N: usize> = [u64; N];

/// Counts by key, for the number of words that the key needs.
pub(super) enum Cells {
    One(Map<1>),
    Two(Map<2>),
    Four(Map<4>),
    Eight(Map<8>),
    /// However many it needs.
    Any(LongKeys),
}

/// Calls the same method on whichever map it is.
macro_rules! with_map {
    ($cells:expr, $map:ident => $body:expr) => {
        match $cells {
            Cells::One($map) => $body,
            Cells::Two($map) => $body,
            Cells::Four($map) => $body,
            Cells::Eight($map) => $body,
            Cells::Any($map) => $body,
        }
    };
}

impl Cells {
    /// How many keys are held, some of which may be the same: at most twice as many as are different, or a few million.
    pub(super) fn n_keys(&self) -> usize {
        with_map!(self, map => map.len())
    }

    pub(super) fn new(layout: &Layout) -> Cells {
        match layout.n_words {
            1 => Cells::One(Map::default()),
            2 => Cells::Two(Map::default()),
            3 | 4 => Cells::Four(Map::default()),
            5..=N_WORDS_FAST => Cells::Eight(Map::default()),
            n_words => Cells::Any(LongKeys::new(n_words)),
        }
    }

    pub(super) fn add(&mut self, layout: &Layout, columns: &[Vec<u32>]) {
        with_map!(self, map => map.add_columns(layout, columns))
    }

    /// The same of rows that stand for so many records each.
    pub(super) fn add_times(&mut self, layout: &Layout, columns: &[Vec<u32>], n_times: &[u64]) {
        let mut codes = vec![0; columns.len()];
        for (row, n) in n_times.iter().enumerate() {
            codes.iter_mut().zip(columns).for_each(|(code, column)| *code = column[row]);
            self.add_one(layout, &codes, *n);
        }
    }

    pub(super) fn add_one(&mut self, layout: &Layout, codes: &[u32], count: u64) {
        with_map!(self, map => map.add_codes(layout, codes, count))
    }

    /// Visits all counts; a key may come more than once, and its counts add up.
    pub(super) fn for_each(&self, layout: &Layout, mut visit: impl FnMut(&[u32], u64)) {
        let mut codes = vec![0; layout.widths.len()];
        with_map!(self, map => {
            for (key, count) in map.iter() {
                layout.unpack(key, &mut codes);
                visit(&codes, count);
            }
        })
    }

    pub(super) fn repacked(&self, old: &Layout, new: &Layout) -> Cells {
        let mut cells = Cells::new(new);
        self.for_each(old, |codes, count| cells.add_one(new, codes, count));
        cells
    }

    /// Gives all cells other codes, which need no more room, and puts them in the order of their keys.
    pub(super) fn translate(&mut self, old: &Layout, new: &Layout, translation: &[Vec<u32>]) {
        with_map!(self, map => map.translate(old, new, translation))
    }
}

/// Counts by key: a hash table that stays in the processor's cache, and a list of what did not fit.
///
/// Where keys repeat, the table grows and holds them all. Where hardly any key comes twice, a table would cost a visit
/// to main memory per record; then keys are listed, and equal ones are found by sorting.
pub(super) struct Map<const N: usize> {
    table: HashTable<(Key<N>, u64)>,
    /// How many keys the table may hold before it is emptied into the list, and records counted since it was empty.
    n_table_max: usize,
    n_in_table: u64,
    /// Keys with counts, in any order, some of them more than once.
    list: Vec<(Key<N>, u64)>,
    /// Keys are listed without looking at the table until this many have been.
    n_to_list: usize,
    n_list_max: usize,
}

const N_TABLE_LEAST: usize = 1 << 15;
const N_TABLE_MOST: usize = 1 << 21;
const N_LIST_LEAST: usize = 1 << 23;

impl<const N: usize> Default for Map<N> {
    fn default() -> Self {
        Map {
            table: HashTable::new(),
            n_table_max: N_TABLE_LEAST,
            n_in_table: 0,
            list: Vec::new(),
            n_to_list: 0,
            n_list_max: N_LIST_LEAST,
        }
    }
}

impl<const N: usize> Map<N> {
    fn len(&self) -> usize {
        self.table.len() + self.list.len()
    }

    fn add_columns(&mut self, layout: &Layout, columns: &[Vec<u32>]) {
        self.add_all(&layout.keys(columns));
    }

    fn add_codes(&mut self, layout: &Layout, codes: &[u32], count: u64) {
        self.add(layout.pack(codes.iter().copied()), count);
    }

    fn translate(&mut self, old: &Layout, new: &Layout, translation: &[Vec<u32>]) {
        self.list.extend(self.table.drain());
        self.table = HashTable::new();
        self.list.par_iter_mut().for_each_init(
            || vec![0; old.widths.len()],
            |codes, (key, _)| {
                old.unpack(key, codes);
                *key = new.pack(translated(codes, translation));
            },
        );
        self.list.par_sort_unstable();
    }

    fn add_all(&mut self, keys: &[Key<N>]) {
        if self.n_to_list > 0 {
            self.n_to_list = self.n_to_list.saturating_sub(keys.len());
            self.list.extend(keys.iter().map(|&key| (key, 1)));
            return self.shorten();
        }
        for &key in keys {
            self.add(key, 1);
        }
    }

    #[inline]
    fn add(&mut self, key: Key<N>, count: u64) {
        let entry = self.table.entry(hash_key(&key), |(known, _)| *known == key, |(known, _)| hash_key(known));
        entry.or_insert((key, 0)).into_mut().1 += count;
        self.n_in_table += 1;
        if self.table.len() > self.n_table_max {
            self.make_room();
        }
    }

    /// The table is full: let it grow if its keys repeat, else empty it.
    #[cold]
    fn make_room(&mut self) {
        let n_keys = self.table.len() as u64;
        if self.n_in_table >= 4 * n_keys && self.n_table_max < N_TABLE_MOST {
            self.n_table_max *= 2;
            return;
        }
        if self.n_in_table < 2 * n_keys {
            self.n_to_list = 64 * self.n_table_max;
        }
        self.list.extend(self.table.drain());
        self.n_in_table = 0;
        self.shorten();
    }

    /// Adds up equal keys of a list that has become long, so that its length stays within twice the distinct keys.
    fn shorten(&mut self) {
        if self.list.len() < self.n_list_max {
            return;
        }
        self.list.par_sort_unstable();
        self.list.dedup_by(|next, first| {
            let is_equal = next.0 == first.0;
            if is_equal {
                first.1 += next.1;
            }
            is_equal
        });
        self.n_list_max = (2 * self.list.len()).max(N_LIST_LEAST);
    }

    fn iter(&self) -> impl Iterator<Item = (&[u64], u64)> {
        self.table.iter().chain(&self.list).map(|(key, count)| (&key[..], *count))
    }
}

fn translated(codes: &[u32], translation: &[Vec<u32>]) -> impl Iterator<Item = u32> {
    codes.iter().zip(translation).map(|(&code, to)| to[code as usize])
}

/// Counts by keys of any number of words: hundreds of attributes, or dozens with very many values.
///
/// A key is kept once, at its place among the words of all keys, and found by its number.
pub(super) struct LongKeys {
    n_words: usize,
    /// Key after key.
    words: Vec<u64>,
    counts: Vec<u64>,
    /// The numbers of keys, to be found by what these are.
    numbers: HashTable<u32>,
}

impl LongKeys {
    fn new(n_words: usize) -> LongKeys {
        LongKeys { n_words, words: Vec::new(), counts: Vec::new(), numbers: HashTable::new() }
    }

    fn len(&self) -> usize {
        self.counts.len()
    }

    fn add_columns(&mut self, layout: &Layout, columns: &[Vec<u32>]) {
        let mut codes = vec![0; columns.len()];
        for record in 0..columns.first().map_or(0, Vec::len) {
            codes.iter_mut().zip(columns).for_each(|(code, column)| *code = column[record]);
            self.add_codes(layout, &codes, 1);
        }
    }

    fn add_codes(&mut self, layout: &Layout, codes: &[u32], count: u64) {
        let (n_words, number) = (self.n_words, number(self.len()));
        let at = self.words.len();
        self.words.resize(at + n_words, 0);
        layout.pack_into(codes.iter().copied(), &mut self.words[at..]);
        let words = &self.words;
        let key_of = |number: &u32| &words[*number as usize * n_words..][..n_words];
        let key = &words[at..];
        let entry = self.numbers.entry(hash_key(key), |known| key_of(known) == key, |known| hash_key(key_of(known)));
        let found = *entry.or_insert(number).get();
        match found == number {
            true => self.counts.push(count),
            // It is there already.
            false => {
                self.words.truncate(at);
                self.counts[found as usize] += count;
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&[u64], u64)> {
        self.words.chunks_exact(self.n_words).zip(self.counts.iter().copied())
    }

    /// Afterwards nothing can be found any more, as nothing is added then.
    fn translate(&mut self, old: &Layout, new: &Layout, translation: &[Vec<u32>]) {
        self.numbers = HashTable::new();
        self.words.par_chunks_exact_mut(self.n_words).for_each_init(
            || vec![0; old.widths.len()],
            |codes, key| {
                old.unpack(key, codes);
                key.fill(0);
                new.pack_into(translated(codes, translation), key);
            },
        );
        let key = |number: &u32| &self.words[*number as usize * self.n_words..][..self.n_words];
        let mut order: Vec<u32> = (0..number(self.len())).collect();
        order.par_sort_unstable_by(|one, other| key(one).cmp(key(other)));
        self.words = order.iter().flat_map(key).copied().collect();
        self.counts = order.iter().map(|number| self.counts[*number as usize]).collect();
    }
}
