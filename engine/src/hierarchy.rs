//! How the values of one attribute get coarser, level by level, up to the single value `*`.
//!
//! A [`Rule`] says how (five-year intervals, the first three digits, this file);
//! [`Rule::resolve`] applies it to the values that a table really has and checks it.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::number::Decimal;
use crate::table::zone::is_of_named_zone;
use crate::table::{Code, Domain, Kind, days_of_date, parse_date};

mod ranges;
pub(crate) mod steps;

/// What the top of every hierarchy is called: nothing is said about the value.
pub const ANY: &str = "*";

/// One attribute's values at every level; level 0 is the table's own, the last level is `*`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    attribute: String,
    kind: Kind,
    missing: Option<Code>,
    levels: Vec<Values>,
}

/// The values of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    name: String,
    phrase: String,
    labels: Vec<String>,
    /// For every value of the table, the value that stands for it at this level.
    of_base: Vec<Code>,
    /// For every value of this level, the value above it; empty at the top.
    parents: Vec<Code>,
}

impl Hierarchy {
    /// The attribute that it is of.
    pub fn attribute(&self) -> &str {
        &self.attribute
    }

    /// What the table's own values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The code of records without a value, where there are any.
    pub(crate) fn missing(&self) -> Option<Code> {
        self.missing
    }

    /// A hierarchy from what one consists of; none where that does not fit together.
    pub(crate) fn of_parts(
        attribute: String,
        kind: Kind,
        missing: Option<Code>,
        levels: Vec<Values>,
    ) -> Option<Hierarchy> {
        let n_values = levels.first()?.len();
        let fits = |codes: &[Code], n: usize, below: usize| codes.len() == n && codes.iter().all(|c| c.index() < below);
        let is_level = |(i, level): (usize, &Values)| {
            levels.get(i + 1).map_or(level.parents.is_empty(), |above| {
                fits(&level.parents, level.len(), above.len())
                    && (0..n_values).all(|v| level.parents[level.of_base[v].index()] == above.of_base[v])
            })
        };
        let fits_together = levels.iter().all(|level| fits(&level.of_base, n_values, level.len()))
            && levels.iter().enumerate().all(is_level)
            && missing.is_none_or(|code| code.index() < n_values);
        fits_together.then_some(Hierarchy { attribute, kind, missing, levels })
    }

    /// How many levels there are, from the values themselves to `*`.
    pub fn n_levels(&self) -> usize {
        self.levels.len()
    }

    /// The greatest level: everything is `*`.
    pub fn top(&self) -> usize {
        self.levels.len() - 1
    }

    /// One level; 0 is that of the values themselves.
    pub fn level(&self, level: usize) -> &Values {
        &self.levels[level]
    }

    /// All levels, from the values themselves to `*`.
    pub fn levels(&self) -> &[Values] {
        &self.levels
    }

    /// Whether a label says that there is no value, and nothing else: then a release has no value there either.
    ///
    /// Not so where "no value" has been generalized to `*`, or was given a name of its own.
    pub fn is_missing(&self, level: usize, label: Code) -> bool {
        let (values, own) = (&self.levels[level], &self.levels[0].labels);
        self.missing.is_some_and(|missing| {
            level < self.top()
                && values.of_base[missing.index()] == label
                && values.labels[label.index()] == own[missing.index()]
                && values.of_base.iter().filter(|code| **code == label).count() == 1
        })
    }

    /// How many of the table's values each value of a level stands for.
    pub fn n_leaves(&self, level: usize) -> Vec<u32> {
        let mut n_leaves = vec![0; self.levels[level].len()];
        for code in &self.levels[level].of_base {
            n_leaves[code.index()] += 1;
        }
        n_leaves
    }

    /// The number behind each of the table's values, where the attribute is numeric or a date.
    ///
    /// A missing value has none. Different values with many digits may have the same: see [`Hierarchy::offsets`].
    pub fn positions(&self) -> Option<Vec<Option<f64>>> {
        let position = |text: &String| match self.kind {
            Kind::Integer | Kind::Number => text.parse().ok(),
            Kind::Date => parse_date(text).map(|(y, m, d)| days_of_date(y, m, d) as f64),
            Kind::Boolean | Kind::Text => None,
        };
        match self.kind {
            Kind::Boolean | Kind::Text => None,
            _ => {
                let mut positions: Vec<Option<f64>> = self.levels[0].labels.iter().map(position).collect();
                if let Some(missing) = self.missing {
                    positions[missing.index()] = None;
                }
                Some(positions)
            }
        }
    }

    /// How far each of the table's values lies above the lowest, where the attribute is numeric or a date.
    ///
    /// Differences are exact before they become a computer's number: large numbers that are close together stay apart.
    /// They never shrink from one value to the next. Only their proportions mean something.
    pub fn offsets(&self) -> Option<Vec<Option<f64>>> {
        let positions = self.positions()?;
        let labels = &self.levels[0].labels;
        let first = positions.iter().position(Option::is_some);
        let exact = |text: &str| match self.kind {
            Kind::Date => parse_date(text).map(|(y, m, d)| Decimal::from(days_of_date(y, m, d))),
            _ => Decimal::parse(text),
        };
        let lowest = first.and_then(|first| exact(&labels[first]));
        let offset = |(text, at): (&String, &Option<f64>)| match at {
            Some(_) => {
                let offset = exact(text)?.minus(lowest?)?.to_f64();
                offset.is_finite().then_some(Some(offset))
            }
            None => Some(None),
        };
        let offsets: Option<Vec<Option<f64>>> = labels.iter().zip(&positions).map(offset).collect();
        Some(offsets.unwrap_or_else(|| {
            // Of numbers so far apart, halves can be subtracted, and what is rounded does not matter.
            let lowest = first.and_then(|first| positions[first]).unwrap_or(0.0);
            positions.iter().map(|at| at.map(|at| at / 2.0 - lowest / 2.0)).collect()
        }))
    }

    /// The hierarchy as rows of labels, one per value of the table, finest first: ARX's file format.
    pub fn rows(&self) -> impl Iterator<Item = Vec<&str>> {
        (0..self.levels[0].len()).map(|base| self.levels.iter().map(|level| level.label_of(base)).collect())
    }

    /// The labels of one of the table's values, from itself to below the top.
    pub fn path(&self, base: usize) -> Vec<String> {
        self.levels[..self.top()].iter().map(|level| level.label_of(base).to_string()).collect()
    }
}

impl Values {
    /// The values of a level from what they consist of, to be checked by [`Hierarchy::of_parts`].
    pub(crate) fn of_parts(
        name: String,
        phrase: String,
        labels: Vec<String>,
        of_base: Vec<Code>,
        parents: Vec<Code>,
    ) -> Values {
        Values { name, phrase, labels, of_base, parents }
    }

    /// What flags and files call this level: `exact`, `width 5`, `month`, `level 1`, `*`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How a sentence says it: `in steps of 5`, `by month`, `in 4 groups`, `hidden`.
    pub fn phrase(&self) -> &str {
        &self.phrase
    }

    /// How many labels there are.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The labels, by code.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// By value of the table, the label that stands for it here.
    pub fn of_base(&self) -> &[Code] {
        &self.of_base
    }

    /// What one of the table's values is called at this level.
    pub fn label_of(&self, base: usize) -> &str {
        &self.labels[self.of_base[base].index()]
    }

    /// By label, the one above it on the next level.
    pub fn parents(&self) -> &[Code] {
        &self.parents
    }
}

/// How to make a hierarchy from an attribute's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Rule {
    /// Two levels: the value, and `*`.
    Flat,
    /// One level per width; each width is a multiple of the one before.
    Intervals {
        /// How wide intervals are, by level.
        widths: Vec<Decimal>,
        /// Where one of them begins.
        origin: Decimal,
    },
    /// One level per list of cut points; each list is a subset of the one before.
    Cuts {
        /// By level, where intervals begin.
        levels: Vec<Vec<Decimal>>,
    },
    /// One level per number of characters hidden, and `*` above them.
    Mask {
        /// By level, how many characters.
        hidden: Vec<usize>,
        /// At which end.
        side: Side,
    },
    /// One level per unit of the calendar.
    Dates {
        /// By level.
        units: Vec<DateUnit>,
    },
    /// Rows of labels, from the value to the coarsest; from a file or a tree.
    Table(LabelTable),
}

/// Which end of a text a mask hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first characters.
    Left,
    /// The last characters.
    Right,
}

/// A unit of the calendar, from fine to coarse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DateUnit {
    /// `2024-03`.
    Month,
    /// `2024-Q1`.
    Quarter,
    /// `2024`.
    Year,
    /// `2020s`.
    Decade,
}

impl DateUnit {
    /// Every unit there is, from the finest on.
    pub const ALL: [DateUnit; 4] = [DateUnit::Month, DateUnit::Quarter, DateUnit::Year, DateUnit::Decade];

    /// The word that project files use.
    pub fn name(self) -> &'static str {
        match self {
            DateUnit::Month => "month",
            DateUnit::Quarter => "quarter",
            DateUnit::Year => "year",
            DateUnit::Decade => "decade",
        }
    }

    /// The unit of a name.
    pub fn parse(name: &str) -> Option<DateUnit> {
        DateUnit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    fn label(self, year: i32, month: u32) -> String {
        match self {
            DateUnit::Month => format!("{year:04}-{month:02}"),
            DateUnit::Quarter => format!("{year:04}-Q{}", (month - 1) / 3 + 1),
            DateUnit::Year => format!("{year:04}"),
            DateUnit::Decade => format!("{:04}s", year.div_euclid(10) * 10),
        }
    }
}

/// Rows of labels with the place where each stands, to be able to point at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelTable {
    /// The file, or what else the rows came from.
    source: String,
    /// The line of each row, and its labels from the value upwards.
    rows: Vec<(u64, Vec<String>)>,
}

impl LabelTable {
    /// The same with a row for each of some values that it does not know, whose labels no other value has.
    fn with(&self, strangers: &[&str]) -> LabelTable {
        let labels: HashSet<&str> = self.rows.iter().flat_map(|(_, row)| row).map(String::as_str).collect();
        let last = self.ends_in_one_label().then(|| self.rows[0].1.last().cloned()).flatten();
        let alone = |value: &&str| {
            let mut label = format!("{value} (of nobody in the table)");
            while labels.contains(label.as_str()) {
                label.push('*');
            }
            let mut row = vec![label; self.rows[0].1.len()];
            if let Some(last) = &last {
                row.pop();
                row.push(last.clone());
            }
            row[0] = value.to_string();
            (0, row)
        };
        let values: HashSet<&str> = self.values().collect();
        let is_unknown = |value: &&&str| !values.contains(**value);
        let rows = self.rows.iter().cloned().chain(strangers.iter().filter(is_unknown).map(alone)).collect();
        LabelTable { source: self.source.clone(), rows }
    }

    /// Reads `;`- or `,`-separated text as ARX writes it: a row per value, from the value to the coarsest label.
    ///
    /// # Errors
    /// Where it is no CSV, or its rows differ in length.
    pub fn parse(source: &str, text: &str) -> Result<LabelTable> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first_line = text.lines().next().unwrap_or("");
        let separator = match first_line {
            line if line.contains(';') => b';',
            line if line.contains('\t') => b'\t',
            _ => b',',
        };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(separator)
            .from_reader(text.as_bytes());
        let mut rows: Vec<(u64, Vec<String>)> = Vec::new();
        let mut lines = Lines { text: text.as_bytes(), at: 0, line: 1 };
        for record in reader.records() {
            let record = record.map_err(|error| {
                let message = format!("is not a table of labels: {error}");
                Error::new(ErrorKind::Hierarchy, message).at(source).because(error)
            })?;
            let line = record.position().map_or(0, |position| lines.of_record(position.byte() as usize));
            rows.push((line, record.iter().map(str::to_string).collect()));
        }
        LabelTable::new(source, rows)
    }

    /// Rows from anywhere; all must have as many labels as the first.
    ///
    /// # Errors
    /// Where there is no row, or rows differ in length.
    pub fn new(source: &str, rows: Vec<(u64, Vec<String>)>) -> Result<LabelTable> {
        let Some((_, first)) = rows.first() else {
            return Err(Error::new(ErrorKind::Hierarchy, "is empty")
                .at(source)
                .hint("write one line per value: the value, then its label at each level, separated by ';'"));
        };
        let n_labels = first.len();
        if let Some((line, row)) = rows.iter().find(|(_, row)| row.len() != n_labels) {
            return Err(Error::new(
                ErrorKind::Hierarchy,
                format!("has {} labels where the lines above have {n_labels}", row.len()),
            )
            .at(position(source, *line))
            .hint("give every value a label at every level; repeat the label where nothing changes"));
        }
        Ok(LabelTable { source: source.to_string(), rows })
    }

    /// The values of the rows.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|(_, row)| row[0].as_str())
    }

    /// The rows, from the value to the coarsest label.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(|(_, row)| row.as_slice())
    }

    /// What errors call the file.
    pub fn source(&self) -> &str {
        &self.source
    }

    fn ends_in_one_label(&self) -> bool {
        let last = |row: &'_ (u64, Vec<String>)| row.1.last().cloned();
        let first = last(&self.rows[0]);
        self.rows[0].1.len() > 1 && self.rows.iter().all(|row| last(row) == first)
    }
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

fn position(source: &str, line: u64) -> String {
    match line {
        0 => source.to_string(),
        _ => format!("{source}:{line}"),
    }
}

const NOT_POSITIVE: &str = "interval widths must be positive numbers";

fn wrong_intervals(what: String) -> Error {
    Error::new(ErrorKind::Hierarchy, what).hint(Wording::text("for example ").step(Step::Intervals))
}

fn wrong_cuts(what: String) -> Error {
    Error::new(ErrorKind::Hierarchy, what).hint(Wording::text("for example ").step(Step::Cuts))
}

fn not_increasing(level: usize) -> Error {
    wrong_cuts(format!("the cut points of level {} must be increasing numbers", level + 1))
}

impl Rule {
    /// Widths that nest: positive, each a multiple of the one before.
    ///
    /// # Errors
    /// Where widths are not above 0, or one is no multiple of the one before.
    pub fn intervals(widths: Vec<f64>, origin: f64) -> Result<Rule> {
        let exact = |number: f64| Decimal::of(number).ok_or_else(|| wrong_intervals(NOT_POSITIVE.into()));
        Rule::exact_intervals(widths.into_iter().map(exact).collect::<Result<_>>()?, exact(origin)?)
    }

    /// The same from numbers as they are written, which may have more digits than a computer's numbers.
    ///
    /// # Errors
    /// Where widths are not above 0, or one is no multiple of the one before.
    pub fn exact_intervals(widths: Vec<Decimal>, origin: Decimal) -> Result<Rule> {
        if widths.is_empty() {
            return Err(wrong_intervals("intervals need at least one width".into()));
        }
        if widths.iter().any(|width| !width.is_positive()) {
            return Err(wrong_intervals(NOT_POSITIVE.into()));
        }
        for pair in widths.windows(2) {
            if pair[1].multiple_of(pair[0]).is_none_or(|times| times <= 1) {
                return Err(wrong_intervals(format!(
                    "width {} is not a multiple of width {} below it, so intervals would be cut in two",
                    pair[1], pair[0]
                )));
            }
        }
        Ok(Rule::Intervals { widths, origin })
    }

    /// Cut points that nest: each list increasing and contained in the one before.
    ///
    /// # Errors
    /// Where cut points do not increase, or a list is no subset of the one before.
    pub fn cuts(levels: Vec<Vec<f64>>) -> Result<Rule> {
        let exact = |(i, cuts): (usize, Vec<f64>)| {
            let exact: Option<Vec<Decimal>> = cuts.into_iter().map(Decimal::of).collect();
            exact.ok_or_else(|| not_increasing(i))
        };
        Rule::exact_cuts(levels.into_iter().enumerate().map(exact).collect::<Result<_>>()?)
    }

    /// The same from numbers as they are written.
    ///
    /// # Errors
    /// Where cut points do not increase, or a list is no subset of the one before.
    pub fn exact_cuts(levels: Vec<Vec<Decimal>>) -> Result<Rule> {
        if levels.is_empty() {
            return Err(wrong_cuts("cuts need at least one list of cut points".into()));
        }
        for (i, cuts) in levels.iter().enumerate() {
            if cuts.is_empty() || cuts.windows(2).any(|w| w[0] >= w[1]) {
                return Err(not_increasing(i));
            }
            if i > 0 && cuts.iter().any(|cut| !levels[i - 1].contains(cut)) {
                return Err(wrong_cuts(format!(
                    "level {} cuts where level {i} does not, so it is not coarser everywhere",
                    i + 1
                )));
            }
        }
        Ok(Rule::Cuts { levels })
    }

    /// Numbers of hidden characters, increasing.
    ///
    /// # Errors
    /// Where the numbers do not increase.
    pub fn mask(hidden: Vec<usize>, side: Side) -> Result<Rule> {
        if hidden.is_empty() || hidden[0] == 0 || hidden.windows(2).any(|w| w[0] >= w[1]) {
            return Err(Error::new(
                ErrorKind::Hierarchy,
                "a mask hides an increasing number of characters, at least one",
            )
            .hint(Wording::text("for example ").step(Step::Mask)));
        }
        Ok(Rule::Mask { hidden, side })
    }

    /// Units of the calendar, from fine to coarse.
    ///
    /// # Errors
    /// Where the units do not get coarser.
    pub fn dates(units: Vec<DateUnit>) -> Result<Rule> {
        if units.is_empty() || units.windows(2).any(|w| w[0] >= w[1]) {
            return Err(Error::new(ErrorKind::Hierarchy, "dates go from fine to coarse")
                .hint(Wording::text("for example ").step(Step::Dates)));
        }
        Ok(Rule::Dates { units })
    }

    /// Applies the rule to the values of a table.
    ///
    /// # Guarantee
    /// The result is a tree over exactly the table's values: every value has one label at every level,
    /// two values that share a label share all labels above it, and the top level is a single label.
    ///
    /// The label of a value contains the value: a number lies within its interval, however large or small it is, a date
    /// within its part of the calendar as its own clock tells it, and a masked text differs in nothing but what is hidden.
    /// Where that cannot be so, because a number has too many digits to compute with exactly, there is an error.
    ///
    /// # Errors
    /// Where values are not of the kind that the rule is for, or lack labels, or labels form no tree.
    pub fn resolve(&self, domain: &Domain) -> Result<Hierarchy> {
        self.resolve_with(domain, &[])
    }

    /// The same for a domain with values of people who are not in the table. Those that a table of labels does not know
    /// have nobody beside them below the top.
    ///
    /// # Errors
    /// As for [`Rule::resolve`].
    pub fn resolve_with(&self, domain: &Domain, strangers: &[&str]) -> Result<Hierarchy> {
        // How many levels there are depends on the rule, not on which values the data happen to have,
        // so that a level's number means the same from one delivery of the data to the next.
        let (named_labels, last_is_top) = match self {
            Rule::Flat => (Vec::new(), false),
            Rule::Intervals { widths, origin } => (ranges::intervals(domain, widths, *origin)?, false),
            Rule::Cuts { levels } => (ranges::cuts(domain, levels)?, false),
            Rule::Mask { hidden, side } => (mask(domain, hidden, *side), false),
            Rule::Dates { units } => (dates(domain, units)?, false),
            Rule::Table(table) if strangers.is_empty() => (table_labels(domain, table)?, table.ends_in_one_label()),
            Rule::Table(table) => (table_labels(domain, &table.with(strangers))?, table.ends_in_one_label()),
        };
        build(domain, named_labels, last_is_top)
    }
}

/// A level's name, how a sentence says it, and the label of every value that is not missing.
type NamedLabels = Vec<(String, String, Vec<String>)>;

/// Makes levels of labels; the caller has seen to it that they are a tree.
fn build(domain: &Domain, mut named_labels: NamedLabels, last_is_top: bool) -> Result<Hierarchy> {
    if last_is_top {
        named_labels.pop();
    }
    let mut levels = vec![Values {
        name: "exact".into(),
        phrase: "exact".into(),
        labels: domain.values().to_vec(),
        of_base: (0..domain.len() as u32).map(Code).collect(),
        parents: Vec::new(),
    }];
    for (name, phrase, mut labels) in named_labels {
        if let Some(missing) = domain.missing()
            && labels.len() == missing.index()
        {
            // Where a rule says nothing about "no value", that stays a value of its own below the top.
            let label = &domain.values()[missing.index()];
            if labels.contains(label) {
                return Err(Error::new(
                    ErrorKind::Hierarchy,
                    format!("attribute '{}': a label is the same as what means \"no value\"", domain.name()),
                )
                .hint("give the label another name, or a line of its own to what means \"no value\""));
            }
            labels.push(label.clone());
        }
        levels.push(values_of_labels(name, phrase, labels));
    }
    levels.push(values_of_labels(ANY.into(), "hidden".into(), vec![ANY.into(); domain.len()]));
    for level in 0..levels.len() - 1 {
        let mut parents = vec![Code(0); levels[level].len()];
        for (base, &code) in levels[level].of_base.iter().enumerate() {
            parents[code.index()] = levels[level + 1].of_base[base];
        }
        levels[level].parents = parents;
    }
    if levels.len() > usize::from(u8::MAX) {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!("attribute '{}' has more than 255 levels", domain.name()),
        ));
    }
    let (attribute, kind) = (domain.name().to_string(), domain.kind());
    Ok(Hierarchy { attribute, kind, missing: domain.missing(), levels })
}

/// Numbers labels in the order in which the table's values first have them.
fn values_of_labels(name: String, phrase: String, labels: Vec<String>) -> Values {
    let mut codes: HashMap<&str, Code> = HashMap::new();
    let mut of_base = Vec::with_capacity(labels.len());
    for label in &labels {
        let next = Code(codes.len() as u32);
        of_base.push(*codes.entry(label).or_insert(next));
    }
    let mut distinct = vec![String::new(); codes.len()];
    for (label, code) in codes {
        distinct[code.index()] = label.to_string();
    }
    let phrase = match (phrase.is_empty(), distinct.len()) {
        (false, _) => phrase,
        (true, 1) => "in one group".to_string(),
        (true, n) => format!("in {n} groups"),
    };
    Values { name, phrase, labels: distinct, of_base, parents: Vec::new() }
}

fn mask(domain: &Domain, hidden: &[usize], side: Side) -> NamedLabels {
    hidden
        .iter()
        .map(|&n_hidden| {
            let label = |(_, value): (Code, &str)| {
                let n_chars = value.chars().count();
                let n_stars = n_hidden.min(n_chars);
                let stars = "*".repeat(n_stars);
                match side {
                    _ if n_stars == n_chars => ANY.to_string(),
                    Side::Right => value.chars().take(n_chars - n_stars).chain(stars.chars()).collect(),
                    Side::Left => stars.chars().chain(value.chars().skip(n_stars)).collect(),
                }
            };
            let end = match side {
                Side::Right => "last",
                Side::Left => "first",
            };
            let phrase = match n_hidden {
                1 => format!("without the {end} character"),
                n => format!("without the {end} {n} characters"),
            };
            (format!("{n_hidden} hidden"), phrase, domain.present().map(label).collect())
        })
        .collect()
}

fn dates(domain: &Domain, units: &[DateUnit]) -> Result<NamedLabels> {
    let parsed: Vec<_> = domain.present().map(|(_, value)| parse_date(value)).collect();
    let n_named = domain.present().filter(|(_, value)| is_of_named_zone(value)).count();
    if n_named > 0 {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!(
                "attribute '{}': {n_named} of {} values are times of a named zone, and which day it was there is not known",
                domain.name(),
                domain.len()
            ),
        )
        .hint("convert the column to the local time without a zone, or to a zone like +01:00 that never changes"));
    }
    let n_wrong = parsed.iter().filter(|date| date.is_none()).count();
    if n_wrong > 0 {
        return Err(Error::new(
            ErrorKind::Hierarchy,
            format!(
                "attribute '{}': {n_wrong} of {} values are not dates like 2024-03-31",
                domain.name(),
                domain.len()
            ),
        )
        .hint(Wording::from(Step::NameMissing).and(", or choose another hierarchy")));
    }
    Ok(units
        .iter()
        .map(|unit| {
            let labels = parsed.iter().flatten().map(|&(year, month, _)| unit.label(year, month));
            (unit.name().to_string(), format!("by {}", unit.name()), labels.collect())
        })
        .collect())
}

/// Looks up every value's labels and checks that they are a tree.
fn table_labels(domain: &Domain, table: &LabelTable) -> Result<NamedLabels> {
    let attribute = domain.name();
    let wrong = |line: u64, message: String| {
        Error::new(ErrorKind::Hierarchy, format!("attribute '{attribute}': {message}"))
            .at(position(&table.source, line))
    };
    let mut row_of_value: HashMap<&str, usize> = HashMap::new();
    let mut twice: Vec<(u64, u64)> = Vec::new();
    for (i, (line, row)) in table.rows.iter().enumerate() {
        if let Some(first) = row_of_value.insert(&row[0], i) {
            twice.push((table.rows[first].0, *line));
        }
    }
    if let Some((first, second)) = twice.first() {
        return Err(wrong(
            *second,
            format!(
                "{} mapped twice: this line repeats the value of line {first}",
                count(twice.len(), "value is", "values are")
            ),
        )
        .hint("keep one line per value"));
    }

    let n_labels = table.rows[0].1.len();
    for level in 1..n_labels.saturating_sub(1) {
        let mut parent_of: HashMap<&str, (&str, u64)> = HashMap::new();
        let mut disagreements: Vec<(u64, u64)> = Vec::new();
        for (line, row) in &table.rows {
            let (parent, first_line) = *parent_of.entry(&row[level]).or_insert((&row[level + 1], *line));
            if parent != row[level + 1] {
                disagreements.push((first_line, *line));
            }
        }
        if let Some((first, second)) = disagreements.first() {
            return Err(wrong(
                *second,
                format!(
                    "is not a tree: {} the label of line {first} at level {level} and another one at level {}",
                    count(disagreements.len(), "value has", "values have"),
                    level + 1
                ),
            )
            .hint("values that share a label must share every label to its right"));
        }
    }

    let is_missing = |code: Code| domain.missing() == Some(code);
    let mut rows = Vec::with_capacity(domain.len());
    let mut n_absent = 0;
    for (code, value) in domain.values().iter().enumerate() {
        match row_of_value.get(value.as_str()) {
            Some(&row) => rows.push(&table.rows[row].1),
            None if is_missing(Code(code as u32)) => {}
            None => n_absent += 1,
        }
    }
    if n_absent > 0 {
        return Err(wrong(
            0,
            format!("the hierarchy misses {} that the data hold", count(n_absent, "value", "values")),
        )
        .hint(Step::ShowAbsent(attribute.to_string())));
    }
    Ok((1..n_labels)
        .map(|level| {
            let labels = rows.iter().map(|row| row[level].clone()).collect();
            (format!("level {level}"), String::new(), labels)
        })
        .collect())
}

/// The values of a domain that a rule's table does not know.
pub fn absent_values<'a>(rule: &Rule, domain: &'a Domain) -> Vec<&'a str> {
    match rule {
        Rule::Table(table) => {
            let known: HashSet<&str> = table.values().collect();
            domain.present().map(|(_, value)| value).filter(|value| !known.contains(value)).collect()
        }
        _ => Vec::new(),
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
