//! How values get coarser, as a project says it, applied to the values that a table has.

use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::hierarchy::dates::{DateUnit, dates};
use crate::hierarchy::levels::{Hierarchy, build};
use crate::hierarchy::masks::{Side, keep, mask};
use crate::hierarchy::ranges;
use crate::hierarchy::tables::LabelTable;
use crate::hierarchy::{ANY, NamedLabels, check_names, count, phrase_of_name};
use crate::number::Decimal;
use crate::table::{Domain, parse_date};

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

    /// The same with [`OTHER`](crate::hierarchy::OTHER) for what a table of labels does not know; nothing changes where it is no table.
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
    pub fn is_end(&self, value: &str) -> bool {
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
