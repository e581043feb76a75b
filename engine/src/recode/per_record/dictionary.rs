//! How many people an attacker would find behind what is published of a record.
//!
//! The attacker's dictionary is a table with the same quasi-identifiers: by default the published one itself, which is
//! the worst case. For every label of every hierarchy we keep which rows of the dictionary fit it, so that the rows that
//! fit a whole record are an intersection, whatever the levels; the lattice is never enumerated.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
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
    sizes: Vec<u64>,
    /// Whether the rows are the table's own, and fit where they are the same.
    is_table: bool,
    /// By 64 rows, how many people they are.
    size_of_word: Vec<u64>,
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

/// Some rows, as bits; words without a row at either end are left out.
#[derive(Clone, Debug, Default)]
struct Rows {
    first: usize,
    words: Vec<u64>,
}

impl Rows {
    fn of(mut words: Vec<u64>) -> Rows {
        let end = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        let first = words.iter().position(|word| *word != 0).unwrap_or(0);
        words.truncate(end);
        Rows { first, words: words.split_off(first.min(end)) }
    }

    fn has(&self, row: usize) -> bool {
        let word = (row / 64).checked_sub(self.first).and_then(|place| self.words.get(place));
        word.is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    fn end(&self) -> usize {
        self.first + self.words.len()
    }
}

/// The most that the rows of all labels may take.
const N_BYTES_MAX: u64 = 2 << 30;

/// The most counts that are remembered, about 200 MB.
const N_KNOWN_MAX: usize = 4_000_000;

/// The most different texts of an attribute that are compared with each other.
const N_TEXTS_MAX: usize = 20_000;

/// What the rows of all labels take at most, in bytes.
pub fn n_bytes_at_most(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> u64 {
    let n_rows = counts.population().map_or(counts.n_groups(), |population| population.groups().count());
    let n_labels: usize = hierarchies.iter().flat_map(Hierarchy::levels).map(|level| level.len()).sum();
    (n_labels as u64).saturating_mul(n_rows.div_ceil(64) as u64 * 8)
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
        let n_words = sizes.len().div_ceil(64);
        if n_bytes_at_most(counts, hierarchies) > N_BYTES_MAX {
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
            of_labels.push(fitting(&rows_with, n_words, hierarchy, similar(hierarchy, fit)?.as_deref()));
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
        let size_of_word: Vec<u64> = sizes.chunks(64).map(|sizes| sizes.iter().sum()).collect();
        let size = |rows: &Rows| size_of(&[rows], &sizes, &size_of_word);
        let of_level = |of_level: &Vec<Rows>| of_level.iter().map(size).collect();
        let of_attribute = |of_attribute: &Vec<Vec<Rows>>| of_attribute.iter().map(of_level).collect();
        let sizes_alone = of_labels.iter().map(of_attribute).collect();
        let fitting = of_labels;
        let is_table = counts.population().is_none() && counts.people().is_none() && fit == Match::Exact;
        Ok(Dictionary { codes, a_row_with, sizes, is_table, size_of_word, fitting, sizes_alone, places })
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
        let n_words = self.size_of_word.len();
        let of_values = |a: usize, codes: &mut dyn Iterator<Item = usize>| {
            Cow::Owned(united(codes.map(|code| &self.fitting[a][0][code]), n_words))
        };
        let of_span = |(a, span): (usize, &&Span)| match span {
            Span::Value(code) => Cow::Borrowed(&self.fitting[a][0][code.index()]),
            Span::Label(level, code) => Cow::Borrowed(&self.fitting[a][usize::from(*level)][code.index()]),
            Span::Range(low, high) | Span::Middle(low, high) => of_values(a, &mut (low.index()..=high.index())),
            Span::Set(codes) => of_values(a, &mut codes.iter().map(|code| code.index())),
        };
        let rows: Vec<Cow<Rows>> = spans.iter().enumerate().map(of_span).collect();
        size_of(&rows.iter().map(|rows| rows.as_ref()).collect::<Vec<_>>(), &self.sizes, &self.size_of_word)
    }

    /// Whether records that are published alike under one scheme are all whom that fits.
    pub fn is_table(&self) -> bool {
        self.is_table
    }

    /// How many different people the dictionary has.
    pub fn n_rows(&self) -> usize {
        self.sizes.len()
    }

    /// The values of a row.
    pub fn codes(&self, row: usize) -> &[Code] {
        let n_attributes = self.fitting.len();
        &self.codes[row * n_attributes..][..n_attributes]
    }

    /// How many people a row is.
    pub fn size(&self, row: usize) -> u64 {
        self.sizes[row]
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
        size_of(&rows.collect::<Vec<_>>(), &self.sizes, &self.size_of_word)
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

/// How many people are in all of some rows; at least 1.
fn size_of(rows: &[&Rows], sizes: &[u64], size_of_word: &[u64]) -> u64 {
    let first = rows.iter().map(|rows| rows.first).max().unwrap_or(0);
    let end = rows.iter().map(|rows| rows.end()).min().unwrap_or(size_of_word.len());
    let mut size = 0;
    for (word, size_of_all) in size_of_word.iter().enumerate().take(end).skip(first) {
        let mut bits = rows.iter().fold(u64::MAX, |bits, rows| bits & rows.words[word - rows.first]);
        if bits == u64::MAX {
            size += size_of_all;
            continue;
        }
        while bits != 0 {
            size += sizes.get(word * 64 + bits.trailing_zeros() as usize).unwrap_or(&0);
            bits &= bits - 1;
        }
    }
    size.max(1)
}

fn united<'a>(of: impl Iterator<Item = &'a Rows>, n_words: usize) -> Rows {
    let mut words = vec![0; n_words];
    for rows in of {
        words[rows.first..rows.end()].iter_mut().zip(&rows.words).for_each(|(all, word)| *all |= word);
    }
    Rows::of(words)
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
fn fitting(
    rows_with: &[Vec<usize>],
    n_words: usize,
    hierarchy: &Hierarchy,
    similar: Option<&[Vec<usize>]>,
) -> Vec<Vec<Rows>> {
    let of_level = |level: &Values| {
        let mut below = vec![Vec::new(); level.len()];
        level.of_base().iter().enumerate().for_each(|(value, label)| below[label.index()].push(value));
        let of_label = |values: &Vec<usize>| {
            let mut words = vec![0u64; n_words];
            let mut add = |value: usize| rows_with[value].iter().for_each(|row| words[row / 64] |= 1 << (row % 64));
            for &value in values {
                match similar {
                    Some(similar) => similar[value].iter().for_each(|&value| add(value)),
                    None => add(value),
                }
            }
            Rows::of(words)
        };
        below.iter().map(of_label).collect()
    };
    hierarchy.levels().iter().map(of_level).collect()
}

#[cfg(test)]
mod tests {
    use crate::random::Random;

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
