//! Tables of labels: a line per value with its labels, or a line per label with the one above it.
//!
//! Files may know a million values where a table has seventy: lines are looked at one by one, and what is kept are those of
//! values that occur.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{Error, ErrorKind, Result, Step};
use crate::hierarchy::parents::Parents;
use crate::hierarchy::{NamedLabels, OTHER, check_names, count, phrase_of_name, position};
use crate::table::{Code, Domain};

/// Rows of labels with the place where each stands, to be able to point at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTable {
    /// The file, or what else the rows came from.
    source: String,
    /// What the levels above the values are called, where a header says so.
    names: Vec<String>,
    /// How many labels a row has, the value itself included.
    n_labels: usize,
    ends_in_one_label: bool,
    /// Whether there is a row for what it does not know.
    has_other: bool,
    body: Body,
}

/// The values that a table of labels knows, by hashes of 64 bits.
#[derive(Clone, Debug)]
pub struct KnownValues(FxHashSet<u64>);

impl KnownValues {
    /// Whether a value is among them.
    pub fn contains(&self, value: &str) -> bool {
        self.0.contains(&hash(value))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Body {
    /// The line of each row, and its labels from the value upwards.
    Held(Vec<(u64, Vec<String>)>),
    /// CSV that is read again when it is known which values occur; how many rows are its header.
    Text { text: Arc<str>, separator: u8, n_header: usize },
    /// Labels with the one above each.
    Parents(Parents),
}

/// A row as it is looked at: its line, and its labels by number.
type Look<'a> = dyn FnMut(u64, &dyn Fn(usize) -> String, &dyn Fn(usize) -> u64) -> Result<()> + 'a;

impl LabelTable {
    /// Reads `;`- or `,`-separated text as ARX writes it: a row per value, from the value to the coarsest label. Or, where a
    /// header says `child` and `parent`, a row per label with the one above it.
    ///
    /// # Errors
    /// Where it is no CSV, or its rows differ in length, or labels are above themselves or below several others.
    pub fn parse(source: &str, text: &str) -> Result<LabelTable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first_line = text.lines().next().unwrap_or("");
        let separator = separator_of(first_line);
        let words: Vec<String> =
            first_line.split(char::from(separator)).map(|word| word.trim_matches(['"', ' ']).to_lowercase()).collect();
        let is_header = |pair: &[&str; 2]| words.iter().map(String::as_str).eq(pair.iter().copied());
        if [["child", "parent"], ["narrower", "broader"], ["concept", "broader"]].iter().any(is_header) {
            return LabelTable::of_parents(source, text);
        }
        let mut shape: Option<(usize, String)> = None;
        let (mut is_one, mut n_rows) = (true, 0);
        each_row(source, text, separator, &mut |line, record| {
            n_rows += 1;
            let last = record.get(record.len() - 1).unwrap_or_default();
            match &shape {
                None => shape = Some((record.len(), last.to_string())),
                Some((n_labels, _)) if *n_labels != record.len() => {
                    return Err(uneven(source, line, record.len(), *n_labels));
                }
                Some((_, first)) => is_one &= first == last,
            }
            Ok(())
        })?;
        let Some((n_labels, _)) = shape else { return Err(empty(source)) };
        let body = Body::Text { text: text.into(), separator, n_header: 0 };
        let ends_in_one_label = n_labels > 1 && is_one;
        Ok(LabelTable {
            source: source.to_string(),
            names: Vec::new(),
            n_labels,
            ends_in_one_label,
            has_other: false,
            body,
        })
    }

    /// Reads a list of labels with the one above each, with or without a header.
    ///
    /// # Errors
    /// Where it is no CSV of two columns, or labels are above themselves or below several others.
    pub fn of_parents(source: &str, text: &str) -> Result<LabelTable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let separator = separator_of(text.lines().next().unwrap_or(""));
        let mut pairs: Vec<(u64, String, String)> = Vec::new();
        each_row(source, text, separator, &mut |line, record| {
            if record.len() != 2 {
                return Err(Error::new(
                    ErrorKind::Hierarchy,
                    format!("has {} cells, not a label and its parent", record.len()),
                )
                .at(position(source, line))
                .hint("write child,parent on every line; leave the parent of the uppermost labels empty"));
            }
            pairs.push((line, record[0].trim().to_string(), record[1].trim().to_string()));
            Ok(())
        })?;
        const HEADERS: [[&str; 2]; 3] = [["child", "parent"], ["narrower", "broader"], ["concept", "broader"]];
        if pairs.first().is_some_and(|(_, a, b)| HEADERS.contains(&[&a.to_lowercase()[..], &b.to_lowercase()[..]])) {
            pairs.remove(0);
        }
        let parents = Parents::new(source, &pairs)?;
        let (n_labels, ends_in_one_label) = (parents.n_labels(), parents.has_one_root());
        let (source, body) = (source.to_string(), Body::Parents(parents));
        Ok(LabelTable { source, names: Vec::new(), n_labels, ends_in_one_label, has_other: false, body })
    }

    /// Rows from anywhere; all must have as many labels as the first.
    ///
    /// # Errors
    /// Where there is no row, or rows differ in length.
    pub fn new(source: &str, rows: Vec<(u64, Vec<String>)>) -> Result<LabelTable> {
        let Some((_, first)) = rows.first() else { return Err(empty(source)) };
        let n_labels = first.len();
        if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != n_labels) {
            return Err(uneven(source, *line, row.len(), n_labels));
        }
        let ends_in_one_label = n_labels > 1 && rows.iter().all(|(_, row)| row.last() == first.last());
        let (source, body) = (source.to_string(), Body::Held(rows));
        Ok(LabelTable { source, names: Vec::new(), n_labels, ends_in_one_label, has_other: false, body })
    }

    /// The same for an attribute of this name: where the first row is about a value that is called like the attribute, it is
    /// a header, and says what levels are called.
    ///
    /// # Errors
    /// Where these are no names for levels.
    pub fn with_header_of(self, attribute: &str) -> Result<LabelTable> {
        let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
        let (mut n_rows, mut last, mut is_one): (usize, Option<String>, bool) = (0, None, true);
        if matches!(self.body, Body::Parents(_)) {
            return Ok(self);
        }
        let last_place = self.n_labels - 1;
        self.each(&mut |line, label, _| {
            n_rows += 1;
            if n_rows == 1 {
                if label(0) == attribute {
                    rows.push((line, (0..=last_place).map(label).collect()));
                }
                return Ok(());
            }
            if rows.is_empty() {
                return Ok(());
            }
            match &last {
                None => last = Some(label(last_place)),
                Some(last) => is_one &= *last == label(last_place),
            }
            Ok(())
        })?;
        let Some((line, header)) = rows.pop().filter(|_| n_rows > 1) else { return Ok(self) };
        let names = header[1..].to_vec();
        check_names(&names).map_err(|error| error.at(position(&self.source, line)))?;
        let body = match self.body {
            Body::Held(mut rows) => {
                rows.remove(0);
                Body::Held(rows)
            }
            Body::Text { text, separator, .. } => Body::Text { text, separator, n_header: 1 },
            Body::Parents(parents) => Body::Parents(parents),
        };
        Ok(LabelTable { names, ends_in_one_label: self.n_labels > 1 && is_one, body, ..self })
    }

    /// Looks at every row that is written out.
    fn each(&self, look: &mut Look) -> Result<()> {
        match &self.body {
            Body::Held(rows) => {
                rows.iter().try_for_each(|(line, row)| look(*line, &|i| row[i].clone(), &|i| hash(&row[i])))
            }
            Body::Text { text, separator, n_header } => {
                let mut n_rows = 0;
                each_row(&self.source, text, *separator, &mut |line, record| {
                    n_rows += 1;
                    if n_rows <= *n_header {
                        return Ok(());
                    }
                    look(line, &|i| record[i].to_string(), &|i| hash(&record[i]))
                })
            }
            Body::Parents(_) => Ok(()),
        }
    }

    /// The same with a row for [`OTHER`], which stands for all values that it does not know.
    ///
    /// It is its own label up to the lowest level where another value has the label `other`, and shares that one's labels
    /// from there on; where none has, it is alone below the top.
    pub fn with_other(self) -> LabelTable {
        LabelTable { has_other: true, ..self }
    }

    /// The values that it has rows for, without the one for all others.
    pub fn known(&self) -> KnownValues {
        let mut known = FxHashSet::default();
        if let Body::Parents(parents) = &self.body {
            known.extend(parents.rows_of(|_| true).iter().map(|(_, row)| hash(&row[0])));
        }
        let read = self.each(&mut |_, _, hash| {
            known.insert(hash(0));
            Ok(())
        });
        read.expect("it was read before");
        KnownValues(known)
    }

    /// The row of what it does not know.
    fn other_row(&self) -> Vec<String> {
        let mut row = vec![OTHER.to_string(); self.n_labels];
        let mut lowest = self.n_labels;
        let mut last = None;
        let mut look = |label: &dyn Fn(usize) -> String| {
            if let Some(level) = (1..lowest).find(|level| label(*level) == OTHER) {
                lowest = level;
                (level..self.n_labels).for_each(|above| row[above] = label(above));
            }
            last.get_or_insert_with(|| label(self.n_labels - 1));
        };
        match &self.body {
            Body::Parents(parents) => {
                parents.rows_of(|_| true).iter().for_each(|(_, labels)| look(&|i| labels[i].clone()))
            }
            _ => {
                let read = self.each(&mut |_, label, _| {
                    look(label);
                    Ok(())
                });
                read.expect("it was read before");
            }
        }
        if let (true, Some(last)) = (self.ends_in_one_label, last) {
            row[self.n_labels - 1] = last;
        }
        row
    }

    /// The rows of some values, in the order of the table.
    fn rows_of(&self, is_wanted: impl Fn(&str) -> bool) -> Vec<(u64, Vec<String>)> {
        let mut rows = self.own_rows_of(&is_wanted);
        if self.has_other && is_wanted(OTHER) && rows.iter().all(|(_, row)| row[0] != OTHER) {
            rows.push((0, self.other_row()));
        }
        rows
    }

    fn own_rows_of(&self, is_wanted: &impl Fn(&str) -> bool) -> Vec<(u64, Vec<String>)> {
        if let Body::Parents(parents) = &self.body {
            return parents.rows_of(is_wanted);
        }
        let mut rows = Vec::new();
        let n_labels = self.n_labels;
        let kept = self.each(&mut |line, label, _| {
            let value = label(0);
            if is_wanted(&value) {
                rows.push((line, std::iter::once(value).chain((1..n_labels).map(label)).collect()));
            }
            Ok(())
        });
        kept.expect("it was read before");
        rows
    }

    /// The values that it has labels for.
    pub fn values(&self) -> Vec<String> {
        self.rows_of(|_| true).into_iter().map(|(_, mut row)| row.swap_remove(0)).collect()
    }

    /// The rows that were given one by one, from the value to the coarsest label; none where they are in a file.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        let held = if let Body::Held(rows) = &self.body { &rows[..] } else { &[] };
        held.iter().map(|(_, row)| row.as_slice())
    }

    /// What errors call the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// How many levels there are between the values and the top.
    pub(super) fn n_levels_between(&self) -> usize {
        self.n_labels - 1 - usize::from(self.ends_in_one_label)
    }

    pub(super) fn ends_in_one_label(&self) -> bool {
        self.ends_in_one_label
    }

    /// Those of some values that it has no labels for.
    pub(super) fn absent<'a>(&self, values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let asked: Vec<&str> = values.collect();
        let wanted: HashSet<&str> = asked.iter().copied().collect();
        let known: HashSet<String> =
            self.rows_of(|value| wanted.contains(value)).into_iter().map(|(_, mut row)| row.swap_remove(0)).collect();
        asked.into_iter().filter(|value| !known.contains(*value)).collect()
    }

    /// Looks up every value's labels and checks that they are a tree; `strangers` may lack them.
    pub(super) fn labels(&self, domain: &Domain, strangers: &[&str]) -> Result<NamedLabels> {
        let attribute = domain.name();
        let wrong = |line: u64, message: String| {
            Error::new(ErrorKind::Hierarchy, format!("attribute '{attribute}': {message}"))
                .at(position(&self.source, line))
        };
        self.check_tree(&wrong)?;
        let wanted: HashSet<&str> = domain.values().iter().map(String::as_str).collect();
        let mut rows = self.rows_of(|value| wanted.contains(value));
        let known: HashSet<String> = rows.iter().map(|(_, row)| row[0].clone()).collect();
        let alone = self.alone(&rows, strangers.iter().copied().filter(|value| !known.contains(*value)));
        rows.extend(alone);
        let row_of_value: HashMap<&str, &Vec<String>> = rows.iter().map(|(_, row)| (row[0].as_str(), row)).collect();
        let is_missing = |code: Code| domain.missing() == Some(code);
        let mut rows_of_domain = Vec::with_capacity(domain.len());
        let mut n_absent = 0;
        for (code, value) in domain.values().iter().enumerate() {
            match row_of_value.get(value.as_str()) {
                Some(row) => rows_of_domain.push(*row),
                None if is_missing(Code(code as u32)) => {}
                None => n_absent += 1,
            }
        }
        if n_absent > 0 {
            let message = format!("the hierarchy misses {} that the data hold", count(n_absent, "value", "values"));
            return Err(wrong(0, message).hint(Step::ShowAbsent(attribute.to_string())));
        }
        let level = |level: usize| {
            let labels = rows_of_domain.iter().map(|row| row[level].clone()).collect();
            let name = self.names.get(level - 1).cloned();
            let phrase = name.as_deref().map_or(String::new(), phrase_of_name);
            (name.unwrap_or_else(|| format!("level {level}")), phrase, labels)
        };
        Ok((1..self.n_labels).map(level).collect())
    }

    /// Rows for values that the table does not know, whose labels no other value has.
    fn alone<'a>(
        &self,
        rows: &[(u64, Vec<String>)],
        strangers: impl Iterator<Item = &'a str>,
    ) -> Vec<(u64, Vec<String>)> {
        let labels: HashSet<&str> = rows.iter().flat_map(|(_, row)| row).map(String::as_str).collect();
        let last = rows.first().filter(|_| self.ends_in_one_label).and_then(|(_, row)| row.last());
        let row = |value: &str| {
            let mut label = format!("{value} (of nobody in the table)");
            while labels.contains(label.as_str()) {
                label.push('*');
            }
            let mut row = vec![label; self.n_labels];
            if let Some(last) = last {
                row[self.n_labels - 1] = last.clone();
            }
            row[0] = value.to_string();
            (0, row)
        };
        strangers.map(row).collect()
    }

    /// Refuses values with two rows, and labels with two different ones above them, in any line of the table.
    ///
    /// Texts are told apart by a hash of 64 bits: keeping those of a million values would cost more than all the rest.
    fn check_tree(&self, wrong: &dyn Fn(u64, String) -> Error) -> Result<()> {
        let n_inner = self.n_labels.saturating_sub(1);
        let mut line_of_value: FxHashMap<u64, u64> = FxHashMap::default();
        let mut twice: Option<(u64, u64)> = None;
        let mut n_twice = 0;
        let mut parent_of: Vec<FxHashMap<u64, (u64, u64)>> = vec![FxHashMap::default(); n_inner];
        let mut disagreements: Vec<(usize, Option<(u64, u64)>)> = vec![(0, None); n_inner];
        self.each(&mut |line, _, hash| {
            if let Some(first) = line_of_value.insert(hash(0), line) {
                n_twice += 1;
                twice.get_or_insert((first, line));
            }
            for level in 1..n_inner {
                let above = hash(level + 1);
                let (parent, first_line) = *parent_of[level].entry(hash(level)).or_insert((above, line));
                if parent != above {
                    disagreements[level].0 += 1;
                    disagreements[level].1.get_or_insert((first_line, line));
                }
            }
            Ok(())
        })?;
        if let Some((first, second)) = twice {
            let how_many = count(n_twice, "value is", "values are");
            let message = format!("{how_many} mapped twice: this line repeats the value of line {first}");
            return Err(wrong(second, message).hint("keep one line per value"));
        }
        for (level, (n, place)) in disagreements.into_iter().enumerate() {
            let Some((first, second)) = place else { continue };
            let message = format!(
                "is not a tree: {} the label of line {first} at level {level} and another one at level {}",
                count(n, "value has", "values have"),
                level + 1
            );
            return Err(wrong(second, message).hint("values that share a label must share every label to its right"));
        }
        Ok(())
    }
}

fn hash(text: &str) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    let mut hasher = rustc_hash::FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    // Once more with its length, so that what is alike in one way is not in the other.
    let first = hasher.finish();
    hasher.write_usize(text.len());
    first.rotate_left(23) ^ hasher.finish()
}

fn separator_of(first_line: &str) -> u8 {
    match first_line {
        line if line.contains(';') => b';',
        line if line.contains('\t') => b'\t',
        _ => b',',
    }
}

/// Calls `look` with the line and the cells of every row of a CSV.
fn each_row(
    source: &str,
    text: &str,
    separator: u8,
    look: &mut dyn FnMut(u64, &csv::StringRecord) -> Result<()>,
) -> Result<()> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(separator).from_reader(text.as_bytes());
    let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
    let mut record = csv::StringRecord::new();
    loop {
        let is_there = reader.read_record(&mut record).map_err(|error| {
            let message = format!("is not a table of labels: {error}");
            Error::new(ErrorKind::Hierarchy, message).at(source).because(error)
        })?;
        if !is_there {
            return Ok(());
        }
        let line = record.position().map_or(0, |position| lines.of_record(position.byte() as usize));
        look(line, &record)?;
    }
}

fn empty(source: &str) -> Error {
    Error::new(ErrorKind::Hierarchy, "is empty")
        .at(source)
        .hint("write one line per value: the value, then its label at each level, separated by ';'")
}

fn uneven(source: &str, line: u64, n: usize, n_above: usize) -> Error {
    Error::new(ErrorKind::Hierarchy, format!("has {n} labels where the lines above have {n_above}"))
        .at(position(source, line))
        .hint("give every value a label at every level; repeat the label where nothing changes")
}

/// Counts lines up to where a record really begins: after the line breaks that the reader has not passed yet.
struct Lines<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl Lines<'_> {
    fn of_record(&mut self, start: usize) -> u64 {
        while let Some(&byte) = self.text.get(self.at) {
            if self.at >= start && byte != b'\n' && byte != b'\r' {
                break;
            }
            self.line += u64::from(byte == b'\n');
            self.at += 1;
        }
        self.line
    }
}
