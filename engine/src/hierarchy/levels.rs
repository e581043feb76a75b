//! The values of an attribute on every level.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{ANY, NamedLabels};
use crate::number::Decimal;
use crate::table::{Code, Domain, Kind, days_of_date, parse_date};

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

    /// The same where the table's values are labels already: what their level is called, and how a sentence says it.
    pub fn beginning_with(mut self, name: &str, phrase: &str) -> Hierarchy {
        (self.levels[0].name, self.levels[0].phrase) = (name.to_string(), phrase.to_string());
        self
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

/// Makes levels of labels; the caller has seen to it that they are a tree.
pub(super) fn build(domain: &Domain, mut named_labels: NamedLabels, last_is_top: bool) -> Result<Hierarchy> {
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
