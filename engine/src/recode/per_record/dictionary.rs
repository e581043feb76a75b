//! How many people an attacker would find behind what is published of a record.
//!
//! The attacker's dictionary is a table with the same quasi-identifiers: by default the published one itself, which is
//! the worst case. For every label of every hierarchy we keep which rows of the dictionary fit it, so that the rows that
//! fit a whole record are an intersection, whatever the levels; the lattice is never enumerated.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::hierarchy::{Hierarchy, Values};
use crate::recode::Span;
use crate::table::{Code, Kind};

/// Which values of a dictionary fit a value of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Match {
    /// The same.
    Exact,
    /// Texts whose similarity by Jaro (1989), from 0 to 1, is at least this; numbers and dates must be the same.
    Similar(f64),
}

/// The rows of an attacker's table, ready to be asked.
#[derive(Debug)]
pub struct Dictionary {
    /// Row by row.
    codes: Vec<Code>,
    /// By attribute and value, one of the rows that have it.
    a_row_with: Vec<Vec<Option<usize>>>,
    sizes: Sizes,
    /// Whether the rows are the table's own, and fit where they are the same.
    is_table: bool,
    /// By attribute, level and label.
    fitting: Vec<Vec<Vec<Rows>>>,
    /// How many people these are, at least 1.
    sizes_alone: Vec<Vec<Vec<u64>>>,
    /// By attribute, how many bits name a label of any level, and the number of each level's first; none where a
    /// record's labels do not fit one key.
    places: Option<Vec<(u32, Vec<u128>)>>,
}

/// What was asked before.
#[derive(Debug, Default)]
pub struct AskedBefore(FxHashMap<u128, u64>);

/// Some rows, as words of 64 bits each: all words from the first with a row to the last, or, where hardly any of those
/// between has one, only those that do.
#[derive(Clone, Debug, Default)]
struct Rows {
    /// How many there are.
    n: usize,
    first: usize,
    /// Of each word that is there, which one it is; empty where all are.
    places: Vec<u32>,
    words: Vec<u64>,
}

/// Where fewer than one word in so many has a row, only those are kept.
const N_WORDS_APART: usize = 4;

impl Rows {
    /// Rows in any order, several times or once.
    fn of(mut rows: Vec<usize>) -> Rows {
        rows.sort_unstable();
        let (mut places, mut words) = (Vec::new(), Vec::new());
        rows.dedup();
        let n = rows.len();
        for row in rows {
            let place = number(row / 64);
            if places.last() != Some(&place) {
                places.push(place);
                words.push(0);
            }
            *words.last_mut().expect("it was put there") |= 1u64 << (row % 64);
        }
        let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return Rows::default() };
        let (first, n_between) = (first as usize, (last - first) as usize + 1);
        if words.len() * N_WORDS_APART < n_between {
            places.shrink_to_fit();
            words.shrink_to_fit();
            return Rows { n, first, places, words };
        }
        let mut all = vec![0; n_between];
        places.iter().zip(words).for_each(|(&place, word)| all[place as usize - first] = word);
        Rows { n, first, places: Vec::new(), words: all }
    }

    /// The rows of one word; none where it is not there.
    #[inline]
    fn word(&self, place: usize) -> u64 {
        let at = match self.places.is_empty() {
            true => place.checked_sub(self.first),
            false => self.places.binary_search(&number(place)).ok(),
        };
        at.and_then(|at| self.words.get(at)).copied().unwrap_or(0)
    }

    fn has(&self, row: usize) -> bool {
        self.word(row / 64) >> (row % 64) & 1 == 1
    }

    fn end(&self) -> usize {
        self.places.last().map_or(self.first + self.words.len(), |last| *last as usize + 1)
    }

    fn is_apart(&self) -> bool {
        !self.places.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let word = |(i, &word): (usize, &u64)| {
            let place = self.places.get(i).map_or(self.first + i, |place| *place as usize);
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| place * 64 + bit)
        };
        self.words.iter().enumerate().flat_map(word)
    }
}

/// The most that the rows of all labels may take.
const N_BYTES_MAX: u64 = 2 << 30;

/// The most counts that are remembered, about 200 MB.
const N_KNOWN_MAX: usize = 4_000_000;

/// The most different texts of an attribute that are compared with each other.
const N_TEXTS_MAX: usize = 20_000;

/// What the rows of all labels take at most, in bytes: where only the same value fits, every row has one label of each
/// level, and is never more than a few words.
pub fn n_bytes_at_most(counts: &GroupCounts, hierarchies: &[Hierarchy], fit: Match) -> u64 {
    let n_rows = counts.population().map_or(counts.n_groups(), |population| population.groups().count()) as u64;
    let of_level = |level: &Values| {
        let as_bits = (level.len() as u64).saturating_mul(n_rows.div_ceil(64) * 8);
        match fit {
            Match::Exact => as_bits.min(n_rows * N_WORDS_APART as u64 * 8),
            Match::Similar(_) => as_bits,
        }
    };
    hierarchies.iter().flat_map(Hierarchy::levels).map(of_level).fold(0, u64::saturating_add)
}

impl Dictionary {
    /// The population that the counts carry, or else the table itself.
    ///
    /// Where people are counted, whoever is in several groups of the table counts in the first of them alone: never more
    /// people are found than there are, so that no risk is told too low.
    ///
    /// # Errors
    /// Where texts are to be compared and there are too many.
    pub fn new(counts: &GroupCounts, hierarchies: &[Hierarchy], fit: Match) -> Result<Dictionary> {
        if let Match::Similar(least) = fit
            && !(least > 0.0 && least <= 1.0)
        {
            return Err(Error::new(ErrorKind::Request, format!("a similarity of {least} is not between 0 and 1"))
                .hint("the paper takes 0.8; 1 means the same text"));
        }
        let (mut codes, mut sizes): (Vec<Code>, Vec<u64>) = (Vec::new(), Vec::new());
        let mut push = |of_row: &[Code], size| {
            codes.extend_from_slice(of_row);
            sizes.push(size);
        };
        match counts.population() {
            Some(population) => population.groups().for_each(|(codes, size)| push(codes, size)),
            None => {
                let sizes = counts.people_at_least();
                (0..counts.n_groups()).for_each(|group| push(counts.codes(group), sizes[group]));
            }
        }
        if n_bytes_at_most(counts, hierarchies, fit) > N_BYTES_MAX {
            let n_labels: usize = hierarchies.iter().flat_map(Hierarchy::levels).map(|level| level.len()).sum();
            let message = format!("{n_labels} labels over {} different records are too many to look up", sizes.len());
            return Err(Error::new(ErrorKind::TooLarge, message)
                .hint("leave out the quasi-identifier with the most values, or give its values as wider intervals"));
        }
        let (mut a_row_with, mut of_labels) = (Vec::new(), Vec::new());
        for (a, hierarchy) in hierarchies.iter().enumerate() {
            let mut rows_with = vec![Vec::new(); hierarchy.level(0).len()];
            for (row, code) in codes.iter().skip(a).step_by(hierarchies.len()).enumerate() {
                rows_with[code.index()].push(row);
            }
            of_labels.push(fitting(&rows_with, hierarchy, similar(hierarchy, fit)?.as_deref()));
            a_row_with.push(rows_with.iter().map(|rows| rows.first().copied()).collect());
        }
        let place = |hierarchy: &Hierarchy| {
            let mut n = 0u128;
            let firsts = hierarchy.levels().iter().map(|level| {
                n += level.len() as u128;
                n - level.len() as u128
            });
            let firsts = firsts.collect();
            (u128::BITS - n.leading_zeros(), firsts)
        };
        let places: Vec<(u32, Vec<u128>)> = hierarchies.iter().map(place).collect();
        let fits_key = places.iter().map(|(width, _)| width).sum::<u32>() <= u128::BITS;
        let places = fits_key.then_some(places);
        let sizes = Sizes::new(sizes);
        let size = |rows: &Rows| size_of([rows], &sizes);
        let of_level = |of_level: &Vec<Rows>| of_level.iter().map(size).collect();
        let of_attribute = |of_attribute: &Vec<Vec<Rows>>| of_attribute.iter().map(of_level).collect();
        let sizes_alone = of_labels.iter().map(of_attribute).collect();
        let fitting = of_labels;
        let is_table = counts.population().is_none() && counts.people().is_none() && fit == Match::Exact;
        Ok(Dictionary { codes, a_row_with, sizes, is_table, fitting, sizes_alone, places })
    }

    /// How many people fit a record that is published with these labels, one per attribute as level and label; at least 1:
    /// the person is there, even where the dictionary lacks them.
    pub fn n_fitting(&self, labels: &[(u8, u32)], known: &mut AskedBefore) -> u64 {
        let Some(key) = self.key(labels) else { return self.count(labels) };
        if let Some(&n) = known.0.get(&key) {
            return n;
        }
        let n = self.count(labels);
        if known.0.len() < N_KNOWN_MAX / rayon::current_num_threads() {
            known.0.insert(key, n);
        }
        n
    }

    /// How many people fit one label, at least 1.
    pub fn n_fitting_alone(&self, attribute: usize, level: usize, label: u32) -> u64 {
        self.sizes_alone[attribute][level][label as usize]
    }

    /// The same for cells that need not be labels, one span per attribute.
    pub fn n_fitting_spans(&self, spans: &[&Span]) -> u64 {
        let of_values = |a: usize, codes: &mut dyn Iterator<Item = usize>| {
            Cow::Owned(Rows::of(codes.flat_map(|code| self.fitting[a][0][code].iter()).collect()))
        };
        let of_span = |(a, span): (usize, &&Span)| match span {
            Span::Value(code) => Cow::Borrowed(&self.fitting[a][0][code.index()]),
            Span::Label(level, code) => Cow::Borrowed(&self.fitting[a][usize::from(*level)][code.index()]),
            Span::Range(low, high) | Span::Middle(low, high) => of_values(a, &mut (low.index()..=high.index())),
            Span::Set(codes) => of_values(a, &mut codes.iter().map(|code| code.index())),
        };
        let rows: Vec<Cow<Rows>> = spans.iter().enumerate().map(of_span).collect();
        size_of(rows.iter().map(|rows| rows.as_ref()), &self.sizes)
    }

    /// Whether records that are published alike under one scheme are all whom that fits.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// How many different people the dictionary has.
    pub fn n_rows(&self) -> usize {
        self.sizes.of_row.len()
    }

    /// The values of a row.
    pub fn codes(&self, row: usize) -> &[Code] {
        let n_attributes = self.fitting.len();
        &self.codes[row * n_attributes..][..n_attributes]
    }

    /// How many people a row is.
    pub fn size(&self, row: usize) -> u64 {
        self.sizes.of_row[row]
    }

    /// By value of the dictionary, the lowest level at which it fits the labels of an attribute, one per level; of values
    /// that no row has, the top.
    pub fn lowest_levels(&self, attribute: usize, labels: impl ExactSizeIterator<Item = u32>) -> Vec<u8> {
        let top = labels.len() as u8 - 1;
        let labels: Vec<u32> = labels.collect();
        let fits = |level: u8, row: usize| {
            let level = usize::from(level);
            self.fitting[attribute][level][labels[level] as usize].has(row)
        };
        let lowest = |row: &Option<usize>| row.and_then(|row| (0..top).find(|&level| fits(level, row)));
        self.a_row_with[attribute].iter().map(|row| lowest(row).unwrap_or(top)).collect()
    }

    fn count(&self, labels: &[(u8, u32)]) -> u64 {
        let rows = labels
            .iter()
            .zip(&self.fitting)
            .map(|(&(level, label), of_attribute)| &of_attribute[usize::from(level)][label as usize]);
        size_of(rows, &self.sizes)
    }

    /// The labels side by side, each as its number among those of all levels.
    fn key(&self, labels: &[(u8, u32)]) -> Option<u128> {
        let places = self.places.as_ref()?.iter().zip(labels);
        let place = |key, ((width, firsts), &(level, label)): (&(u32, Vec<u128>), &(u8, u32))| {
            key << width | (firsts[usize::from(level)] + u128::from(label))
        };
        Some(places.fold(0, place))
    }
}

/// How many people rows are.
#[derive(Debug)]
struct Sizes {
    of_row: Vec<u64>,
    /// By 64 rows, how many people they are together.
    of_word: Vec<u64>,
    /// By 64 rows, those that are not one person.
    not_one: Vec<u64>,
    of_all: u64,
}

impl Sizes {
    fn new(of_row: Vec<u64>) -> Sizes {
        let of_word: Vec<u64> = of_row.chunks(64).map(|sizes| sizes.iter().sum()).collect();
        let not_one = |sizes: &[u64]| (0..).zip(sizes).map(|(bit, size)| u64::from(*size != 1) << bit).sum::<u64>();
        let not_one = of_row.chunks(64).map(not_one).collect();
        Sizes { of_all: of_word.iter().sum(), of_word, not_one, of_row }
    }

    /// How many people the rows of one word are.
    #[inline]
    fn of_bits(&self, bits: u64, word: usize) -> u64 {
        if bits == u64::MAX {
            return self.of_word[word];
        }
        let mut several = bits & self.not_one[word];
        let mut size = u64::from((bits & !several).count_ones());
        while several != 0 {
            size += self.of_row[word * 64 + several.trailing_zeros() as usize];
            several &= several - 1;
        }
        size
    }
}

/// So many words of rows are compared at a time.
const N_WORDS_AT_ONCE: usize = 32;

/// How many people are in all of some rows; at least 1.
fn size_of<'r>(rows: impl IntoIterator<Item = &'r Rows>, sizes: &Sizes) -> u64 {
    // What everybody fits, as `*` is, says nothing.
    let mut rows: Vec<&Rows> = rows.into_iter().filter(|rows| rows.n < sizes.of_row.len()).collect();
    rows.sort_unstable_by_key(|rows| rows.n);
    let Some((fewest, others)) = rows.split_first() else { return sizes.of_all.max(1) };
    let first = rows.iter().map(|rows| rows.first).max().unwrap_or(0);
    let end = rows.iter().map(|rows| rows.end()).min().unwrap_or(0);
    // Those that are far apart say where to look at all.
    if let Some(few) = rows.iter().filter(|rows| rows.is_apart()).min_by_key(|rows| rows.places.len()) {
        let from = few.places.partition_point(|place| (*place as usize) < first);
        let places =
            few.places[from..].iter().zip(&few.words[from..]).take_while(|(place, _)| (**place as usize) < end);
        let size = |(&place, &word): (&u32, &u64)| {
            let others = rows.iter().filter(|others| !std::ptr::eq(**others, *few));
            let bits = others.fold(word, |bits, others| if bits == 0 { 0 } else { bits & others.word(place as usize) });
            sizes.of_bits(bits, place as usize)
        };
        return places.map(size).sum::<u64>().max(1);
    }
    let mut size = 0;
    let mut together = [0; N_WORDS_AT_ONCE];
    for start in (first..end).step_by(N_WORDS_AT_ONCE) {
        let words = start..end.min(start + N_WORDS_AT_ONCE);
        let together = &mut together[..words.len()];
        let of = |rows: &'r Rows| &rows.words[words.start - rows.first..words.end - rows.first];
        together.copy_from_slice(of(fewest));
        for rows in others {
            together.iter_mut().zip(of(rows)).for_each(|(together, word)| *together &= word);
        }
        for (bits, word) in together.iter().zip(words).filter(|(bits, _)| **bits != 0) {
            size += sizes.of_bits(*bits, word);
        }
    }
    size.max(1)
}

/// By value of an attribute, which values of a dictionary fit it; none where only the same one does.
fn similar(hierarchy: &Hierarchy, fit: Match) -> Result<Option<Vec<Vec<usize>>>> {
    let Match::Similar(least) = fit else { return Ok(None) };
    if hierarchy.kind() != Kind::Text {
        return Ok(None);
    }
    let texts = hierarchy.level(0).labels();
    if texts.len() > N_TEXTS_MAX {
        let name = hierarchy.attribute();
        return Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' has {} different texts, too many to compare them all", texts.len()),
        )
        .hint(Wording::text("leave out ").setting("similarity").and(", or the attribute")));
    }
    // Letters, so that no text is taken apart for every other one.
    let texts: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
    let is_similar = |a: usize, b: usize| a == b || strsim::generic_jaro(&texts[a], &texts[b]) >= least;
    let of = |a: usize| (0..texts.len()).filter(|&b| is_similar(a, b)).collect();
    Ok(Some((0..texts.len()).map(of).collect()))
}

/// By level and label of an attribute, the rows that fit.
///
/// A value fits a label where it fits one of the values below it, so that more fit a label than any below it.
fn fitting(rows_with: &[Vec<usize>], hierarchy: &Hierarchy, similar: Option<&[Vec<usize>]>) -> Vec<Vec<Rows>> {
    let of_level = |level: &Values| {
        let mut below = vec![Vec::new(); level.len()];
        level.of_base().iter().enumerate().for_each(|(value, label)| below[label.index()].push(value));
        let of_label = |values: &Vec<usize>| {
            let mut rows = Vec::new();
            for value in values {
                let fitting = similar.map_or(std::slice::from_ref(value), |similar| &similar[*value]);
                fitting.iter().for_each(|value| rows.extend_from_slice(&rows_with[*value]));
            }
            Rows::of(rows)
        };
        below.iter().map(of_label).collect()
    };
    hierarchy.levels().iter().map(of_level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Whether all words are kept or only those with a row, the people in all of some rows are those that looking at every
    /// row finds.
    #[test]
    fn rows_close_together_and_far_apart_meet_alike() {
        let mut random = Random::new(11);
        let n_rows = 64 * 40 + 7;
        // Where people are counted, a row can have none of its own.
        let of_row: Vec<u64> = (0..n_rows).map(|_| random.below(4)).collect();
        let sizes = Sizes::new(of_row.clone());
        let (mut n_apart, mut n_met) = (0, 0);
        for _ in 0..300 {
            let n_lists = 1 + random.below(3);
            let mut list = || -> Vec<usize> {
                let n = [0, 1, 3, 8, 400, 4_000, 40_000][random.below(7) as usize];
                (0..n).map(|_| random.below(n_rows as u64) as usize).collect()
            };
            let lists: Vec<Vec<usize>> = (0..n_lists).map(|_| list()).collect();
            let rows: Vec<Rows> = lists.iter().cloned().map(Rows::of).collect();
            let mut is_in = vec![vec![false; n_rows + 200]; lists.len()];
            lists.iter().zip(&mut is_in).for_each(|(list, is_in)| list.iter().for_each(|&row| is_in[row] = true));
            n_apart += rows.iter().filter(|rows| rows.is_apart()).count();
            for (is_in, rows) in is_in.iter().zip(&rows) {
                assert!((0..n_rows + 200).all(|row| rows.has(row) == is_in[row]));
                assert!(rows.iter().eq((0..n_rows).filter(|&row| is_in[row])));
            }
            let met = (0..n_rows).filter(|&row| is_in.iter().all(|is_in| is_in[row]));
            let size: u64 = met.map(|row| of_row[row]).sum();
            n_met += usize::from(size > 0 && n_lists > 1);
            assert_eq!(size_of(&rows, &sizes), size.max(1));
        }
        assert!(n_apart > 100 && n_met > 20, "{n_apart} lists far apart, {n_met} that meet");
    }

    /// Jaro's definition: the mean of three shares, of the characters of one text that are found in the other not too far
    /// away, the same the other way round, and of these the ones that stand in the same order.
    fn by_definition(a: &[char], b: &[char]) -> f64 {
        if a.is_empty() || b.is_empty() {
            return if a.len() == b.len() { 1.0 } else { 0.0 };
        }
        let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
        let mut is_taken = vec![false; b.len()];
        let mut of_a = Vec::new();
        for (i, letter) in a.iter().enumerate() {
            let mut near = i.saturating_sub(reach)..b.len().min(i + reach + 1);
            if let Some(j) = near.find(|&j| !is_taken[j] && b[j] == *letter) {
                is_taken[j] = true;
                of_a.push(letter);
            }
        }
        if of_a.is_empty() {
            return 0.0;
        }
        let of_b = b.iter().zip(&is_taken).filter(|(_, is_taken)| **is_taken).map(|(letter, _)| letter);
        let n_moved = of_a.iter().zip(of_b).filter(|(a, b)| **a != *b).count() / 2;
        let n = of_a.len() as f64;
        (n / a.len() as f64 + n / b.len() as f64 + (n - n_moved as f64) / n) / 3.0
    }

    #[test]
    fn similarity_is_that_of_the_definition_and_of_the_literature() {
        // Winkler's own examples, to three digits.
        let known = [("MARTHA", "MARHTA", 0.944), ("DWAYNE", "DUANE", 0.822), ("DIXON", "DICKSONX", 0.767)];
        for (a, b, expected) in known {
            assert!((strsim::jaro(a, b) - expected).abs() < 5e-4, "{a} {b}: {}", strsim::jaro(a, b));
        }
        let mut random = Random::new(5);
        let mut text =
            || -> Vec<char> { (0..random.below(9)).map(|_| ['a', 'b', 'é', ' '][random.below(4) as usize]).collect() };
        for _ in 0..20_000 {
            let (a, b) = (text(), text());
            assert_eq!(strsim::generic_jaro(&a, &b), by_definition(&a, &b), "{a:?} {b:?}");
        }
    }
}
