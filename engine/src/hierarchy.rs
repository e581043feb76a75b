//! How the values of one attribute get coarser, level by level, up to the single value `*`.
//!
//! A [`Rule`] says how (five-year intervals, the first three digits, this file);
//! [`Rule::resolve`] applies it to the values that a table really has and checks it.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::number::Decimal;
use crate::table::zone::is_of_named_zone;
use crate::table::{Code, Domain, Kind, days_of_date, parse_date};

mod ranges;
mod parents;
mod tables;
pub(crate) mod steps;

pub use steps::TwoEnds;
pub use tables::{KnownValues, LabelTable};

/// What the top of every hierarchy is called: nothing is said about the value.
pub const ANY: &str = "*";

/// What stands for a text of which nothing is left: not the top, for it says that the text is short.
pub const ALL_HIDDEN: &str = "**";

/// What stands for values that a table of labels does not know, where somebody said that they are to be counted together.
pub const OTHER: &str = "other";

/// A range as cells write it: `20-24`, and `-5 to -1` or `1892-10-17 to 1904-10-28` where an end has a hyphen of its own.
pub fn range_text(low: &str, high: &str) -> String {
    match low.contains('-') || high.contains('-') {
        true => format!("{low} to {high}"),
        false => format!("{low}-{high}"),
    }
}

/// The ends of what [`range_text`] has written, or may have: each way to take it apart.
pub(crate) fn range_ends(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let in_words = text.split_once(" to ");
    // Ranges were written with a hyphen only once, also between numbers and dates that have some.
    let with_hyphen = text.match_indices('-').filter(|(i, _)| *i > 0).map(|(i, _)| (&text[..i], &text[i + 1..]));
    in_words.into_iter().chain(with_hyphen)
}

/// One attribute's values at every level; level 0 is the table's own, the last level is `*`.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    attribute: String,
    kind: Kind,
    missing: Option<Code>,
    levels: Vec<Values>,
    /// Whether several of its numbers are published as a label, not as a range.
    is_by_label: bool,
    /// By level and label, how many times its share of the values it costs, where that is not once; in order.
    node_weights: Vec<(u8, Code, f64)>,
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
    /// The same for local methods that publish several of its numbers as their closest common ancestor: what they lose is
    /// then what the label says, not how far apart they are.
    pub fn by_label(&self) -> Hierarchy {
        Hierarchy { is_by_label: true, ..self.clone() }
    }

    /// The same for methods that publish a value as it is or hide it: any two values have nothing but `*` in common.
    pub fn all_or_nothing(&self) -> Hierarchy {
        let values = Values { parents: vec![Code(0); self.levels[0].len()], ..self.levels[0].clone() };
        let levels = match self.levels.len() {
            0 | 1 => self.levels.clone(),
            n => vec![values, self.levels[n - 1].clone()],
        };
        Hierarchy { levels, is_by_label: true, node_weights: Vec::new(), ..self.clone() }
    }

    /// The same where some labels above the values cost so many times their share of the values, wherever they stand.
    ///
    /// # Errors
    /// Where there is no such label, or a weight is below 0 or infinite.
    pub fn with_node_weights(self, weights: &BTreeMap<String, f64>) -> Result<Hierarchy> {
        let key = format!("attributes.{}.node_weights", self.attribute);
        let mut node_weights = Vec::new();
        for (label, &weight) in weights {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::new(ErrorKind::Project, "weights must be numbers of at least 0").at(key));
            }
            let n_known = node_weights.len();
            for (level, values) in self.levels.iter().enumerate().skip(1) {
                let code = values.labels.iter().position(|known| known == label);
                node_weights.extend(code.map(|code| (level as u8, Code(code as u32), weight)));
            }
            if node_weights.len() == n_known {
                return Err(Error::new(ErrorKind::Project, format!("no label above the values is called '{label}'"))
                    .at(key)
                    .hint("a label of the hierarchy that some value of the table has; `hierarchy show` has them all"));
            }
        }
        node_weights.sort_unstable_by_key(|&(level, code, _)| (level, code));
        Ok(Hierarchy { node_weights, ..self })
    }

    /// By level and label, how many times its share of the values it costs, where that is not once.
    pub(crate) fn node_weights(&self) -> &[(u8, Code, f64)] {
        &self.node_weights
    }

    /// The same hierarchy with weights as [`Hierarchy::node_weights`] gives them; none where it has no such labels.
    pub(crate) fn reweighted(self, node_weights: Vec<(u8, Code, f64)>) -> Option<Hierarchy> {
        let is_there = |&(level, code, weight): &(u8, Code, f64)| {
            let labels = self.levels.get(usize::from(level)).filter(|_| level > 0);
            labels.is_some_and(|values| code.index() < values.len()) && weight.is_finite() && weight >= 0.0
        };
        let is_sound = node_weights.iter().all(is_there)
            && node_weights.windows(2).all(|two| (two[0].0, two[0].1) < (two[1].0, two[1].1));
        is_sound.then_some(Hierarchy { node_weights, ..self })
    }

    /// Whether several of its numbers are published as a label, not as a range.
    pub(crate) fn is_by_label(&self) -> bool {
        self.is_by_label
    }

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
        fits_together.then_some(Hierarchy {
            attribute,
            kind,
            missing,
            levels,
            is_by_label: false,
            node_weights: Vec::new(),
        })
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
    /// One level per number of characters that are left, and `*` above them.
    Keep {
        /// By level, how many characters.
        kept: Vec<usize>,
        /// At which end others are left out.
        side: Side,
    },
    /// Intervals with one label for all numbers below some, and one for all from some on, at every level but the finest.
    Coded {
        /// The intervals between them.
        rule: Box<Rule>,
        /// Where these begin.
        below: Option<Decimal>,
        /// Where they end.
        above: Option<Decimal>,
        /// Whether the ends have been replaced by their labels before the table was counted, so that nobody sees their
        /// values: then level 0 has these labels, and exact numbers between them.
        at_level_0: bool,
    },
    /// Another rule, with names for its levels between the values and `*`.
    Named {
        /// What makes the levels.
        rule: Box<Rule>,
        /// What they are called.
        names: Vec<String>,
    },
    /// One level per unit of the calendar.
    Dates {
        /// By level.
        units: Vec<DateUnit>,
    },
    /// Rows of labels, from the value to the coarsest; from a file or a tree.
    Table(LabelTable),
}

/// What values have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Whatever they are.
    Anything,
    /// Numbers that can be computed with exactly.
    Numbers,
    /// Days of the calendar, with or without a time.
    Dates,
}

impl Needs {
    /// Whether a value is such.
    pub fn are_met_by(self, value: &str) -> bool {
        match self {
            Needs::Anything => true,
            Needs::Numbers => value.parse().is_ok_and(f64::is_finite) && Decimal::parse(value).is_some(),
            Needs::Dates => parse_date(value).is_some(),
        }
    }
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

    /// The table of labels that it is, whatever its levels are called.
    pub fn table(&self) -> Option<&LabelTable> {
        match self {
            Rule::Table(table) => Some(table),
            Rule::Named { rule, .. } => rule.table(),
            _ => None,
        }
    }

    /// Which end of texts is left out, where labels are the rest.
    pub fn cut(&self) -> Option<Side> {
        match self {
            Rule::Keep { side, .. } => Some(*side),
            Rule::Named { rule, .. } => rule.cut(),
            _ => None,
        }
    }

    /// Numbers of characters that are left, decreasing.
    ///
    /// # Errors
    /// Where the numbers do not decrease.
    pub fn keep(kept: Vec<usize>, side: Side) -> Result<Rule> {
        if kept.is_empty() || kept.contains(&0) || kept.windows(2).any(|w| w[0] <= w[1]) {
            return Err(Error::new(
                ErrorKind::Hierarchy,
                "a mask keeps a decreasing number of characters, at least one",
            )
            .hint("for example 3, or 5 and then 3"));
        }
        Ok(Rule::Keep { kept, side })
    }

    /// The same intervals, with one label for everything below a number, and one for everything from another on.
    ///
    /// # Errors
    /// Where it is no rule of intervals, or nothing is left between the two.
    pub fn coded(self, below: Option<Decimal>, above: Option<Decimal>) -> Result<Rule> {
        match (&self, below, above) {
            (_, None, None) => Ok(self),
            (Rule::Intervals { .. }, Some(below), Some(above)) if below >= above => {
                Err(wrong_intervals(format!("nothing lies between below {below} and from {above} on")))
            }
            (Rule::Intervals { .. }, ..) => Ok(Rule::Coded { rule: Box::new(self), below, above, at_level_0: false }),
            _ => Err(wrong_intervals("only intervals have a lowest and a highest one".into())),
        }
    }

    /// The same with the ends coded at level 0 too, where numbers between them are exact. Whoever counts the table has
    /// replaced the numbers at the ends by [`Rule::end_of`].
    pub fn exact_between(self) -> Rule {
        match self {
            Rule::Coded { rule, below, above, .. } => Rule::Coded { rule, below, above, at_level_0: true },
            Rule::Named { rule, names } => Rule::Named { rule: Box::new(rule.exact_between()), names },
            rule => rule,
        }
    }

    /// The label of the end that a number belongs to, where ends are coded at level 0.
    pub fn end_of(&self, value: &str) -> Option<String> {
        match self {
            Rule::Coded { below, above, at_level_0: true, .. } => ranges::end(Decimal::parse(value)?, (*below, *above)),
            Rule::Named { rule, .. } => rule.end_of(value),
            _ => None,
        }
    }

    /// The same with [`OTHER`] for what a table of labels does not know; nothing changes where it is no table.
    pub fn with_other(self) -> Rule {
        match self {
            Rule::Table(table) => Rule::Table(table.with_other()),
            Rule::Named { rule, names } => Rule::Named { rule: Box::new(rule.with_other()), names },
            rule => rule,
        }
    }

    /// What the values of an attribute have to be for it.
    pub fn needs(&self) -> Needs {
        match self {
            Rule::Intervals { .. } | Rule::Coded { .. } | Rule::Cuts { .. } => Needs::Numbers,
            Rule::Dates { .. } => Needs::Dates,
            Rule::Named { rule, .. } => rule.needs(),
            Rule::Flat | Rule::Mask { .. } | Rule::Keep { .. } | Rule::Table(_) => Needs::Anything,
        }
    }

    /// Whether its labels are ranges with a lowest and a highest value, at every level between the values and `*`, whatever
    /// the table has: intervals, cut points, and units of the calendar. Not where level 0 has labels too.
    pub fn makes_ranges(&self) -> bool {
        self.needs() != Needs::Anything && !self.codes_ends()
    }

    /// Whether ends are coded at level 0.
    pub fn codes_ends(&self) -> bool {
        match self {
            Rule::Coded { at_level_0, .. } => *at_level_0,
            Rule::Named { rule, .. } => rule.codes_ends(),
            _ => false,
        }
    }

    /// Whether a value is what the rule needs; tables of labels may still not know it.
    pub fn takes(&self, value: &str) -> bool {
        self.needs().are_met_by(value) || self.is_end(value)
    }

    /// Whether a value is one of the ends that are coded at level 0.
    fn is_end(&self, value: &str) -> bool {
        match self {
            Rule::Coded { below, above, at_level_0: true, .. } => ranges::is_end(value, (*below, *above)),
            Rule::Named { rule, .. } => rule.is_end(value),
            _ => false,
        }
    }

    /// The same rule, with names for its levels between the values and `*`.
    ///
    /// # Errors
    /// Where names are no names, or not as many as levels.
    pub fn named(self, names: Vec<String>) -> Result<Rule> {
        check_names(&names)?;
        let n_levels = match &self {
            Rule::Intervals { widths, .. } => Some(widths.len()),
            Rule::Coded { rule, .. } => match &**rule {
                Rule::Intervals { widths, .. } => Some(widths.len()),
                _ => None,
            },
            Rule::Cuts { levels } => Some(levels.len()),
            Rule::Mask { hidden, .. } => Some(hidden.len()),
            Rule::Keep { kept, .. } => Some(kept.len()),
            Rule::Dates { units } => Some(units.len()),
            Rule::Flat => Some(0),
            Rule::Table(table) => Some(table.n_levels_between()),
            Rule::Named { .. } => None,
        };
        match n_levels {
            Some(n) if n == names.len() => Ok(Rule::Named { rule: Box::new(self), names }),
            _ => {
                let n = n_levels.unwrap_or(0);
                let (names, levels) = (count(names.len(), "name", "names"), count(n, "level", "levels"));
                Err(Error::new(ErrorKind::Hierarchy, format!("{names} for {levels} between the values and '{ANY}'"))
                    .hint("give every level between the values and '*' a name, from fine to coarse"))
            }
        }
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
        let (named_labels, last_is_top) = self.labels(domain, strangers)?;
        build(domain, named_labels, last_is_top)
    }

    /// The labels of a domain's values by level, and whether the last of these levels is the top already.
    fn labels(&self, domain: &Domain, strangers: &[&str]) -> Result<(NamedLabels, bool)> {
        Ok(match self {
            Rule::Flat => (Vec::new(), false),
            Rule::Intervals { widths, origin } => (ranges::intervals(domain, widths, *origin, (None, None))?, false),
            Rule::Coded { rule, below, above, .. } => match &**rule {
                Rule::Intervals { widths, origin } => {
                    (ranges::intervals(domain, widths, *origin, (*below, *above))?, false)
                }
                rule => rule.labels(domain, strangers)?,
            },
            Rule::Cuts { levels } => (ranges::cuts(domain, levels)?, false),
            Rule::Mask { hidden, side } => (mask(domain, hidden, *side), false),
            Rule::Keep { kept, side } => (keep(domain, kept, *side), false),
            Rule::Dates { units } => (dates(domain, units)?, false),
            Rule::Table(table) => (table.labels(domain, strangers)?, table.ends_in_one_label()),
            Rule::Named { rule, names } => {
                let (mut labels, last_is_top) = rule.labels(domain, strangers)?;
                for ((name, phrase, _), given) in labels.iter_mut().zip(names) {
                    (*name, *phrase) = (given.clone(), phrase_of_name(given));
                }
                (labels, last_is_top)
            }
        })
    }
}

/// Refuses what cannot tell levels apart.
fn check_names(names: &[String]) -> Result<()> {
    let is_name =
        |name: &String| !name.trim().is_empty() && name.parse::<u64>().is_err() && !["exact", ANY].contains(&&name[..]);
    let is_wrong = |(i, name): (usize, &String)| !is_name(name) || names[..i].contains(name);
    match names.iter().enumerate().any(is_wrong) {
        true => Err(Error::new(ErrorKind::Hierarchy, "levels need different names, which are no numbers")
            .hint("for example street, town and county; 'exact' and '*' are taken")),
        false => Ok(()),
    }
}

/// How a sentence says a level that somebody has named.
fn phrase_of_name(name: &str) -> String {
    match ["in ", "by ", "without "].iter().any(|before| name.starts_with(before)) {
        true => name.to_string(),
        false => format!("by {name}"),
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
    let node_weights = Vec::new();
    Ok(Hierarchy { attribute, kind, missing: domain.missing(), levels, is_by_label: false, node_weights })
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
                    _ if n_stars == n_chars => ALL_HIDDEN.to_string(),
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

fn keep(domain: &Domain, kept: &[usize], side: Side) -> NamedLabels {
    let of_level = |&n_kept: &usize| {
        let label = |(_, value): (Code, &str)| {
            let n_more = value.chars().count().saturating_sub(n_kept);
            let kept: String = match side {
                Side::Right => value.chars().take(n_kept).collect(),
                Side::Left => value.chars().skip(n_more).collect(),
            };
            if kept == ANY { ALL_HIDDEN.to_string() } else { kept }
        };
        let end = if side == Side::Right { "first" } else { "last" };
        let phrase = match n_kept {
            1 => format!("by the {end} character"),
            n => format!("by the {end} {n} characters"),
        };
        (format!("{n_kept} kept"), phrase, domain.present().map(label).collect())
    };
    kept.iter().map(of_level).collect()
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

/// The values of a domain that a rule's table does not know.
pub fn absent_values<'a>(rule: &Rule, domain: &'a Domain) -> Vec<&'a str> {
    rule.table().map_or(Vec::new(), |table| table.absent(domain.present().map(|(_, value)| value)))
}

/// The values of a domain that a rule cannot be applied to: those that its table does not know, those that are no numbers
/// or no dates where it needs such.
pub fn unfit_values<'a>(rule: &Rule, domain: &'a Domain) -> Vec<&'a str> {
    let present = domain.present().map(|(_, value)| value);
    match rule.needs() {
        Needs::Anything => absent_values(rule, domain),
        _ => present.filter(|value| !rule.takes(value)).collect(),
    }
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
