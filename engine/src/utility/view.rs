//! A table as somebody sees it who has the source, or the release: weighted rows of beliefs.

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::random::Random;
use crate::recode::{Recoding, Span};
use crate::table::Code;
use crate::task::Task;
use crate::utility::attribute::{Attribute, Belief};

/// Into how many parts records are divided, of which each is predicted from the others.
pub const N_FOLDS: usize = 5;

/// How many records of each part are alike; not a whole number where it is not known which of equal records are meant.
pub type Weight = [f64; N_FOLDS];

/// What is believed of all records.
#[derive(Clone, Debug)]
pub struct View {
    /// By attribute: quasi-identifiers first, sensitive ones behind them.
    beliefs: Vec<Vec<Belief>>,
    /// For every row one belief per attribute.
    rows: Vec<u32>,
    weights: Vec<Weight>,
}

/// The source: combinations of values, with how many records of each part have them.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    counts: &'a GroupCounts,
    /// Where the rows of each group of the counts begin; one more entry than there are groups.
    starts: Vec<usize>,
    /// What is believed of it, which is what is.
    pub view: View,
}

impl View {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// How many attributes there are.
    pub fn n_attributes(&self) -> usize {
        self.beliefs.len()
    }

    /// What is believed of the records of a row.
    pub fn belief(&self, row: usize, attribute: usize) -> &Belief {
        &self.beliefs[attribute][self.place(row, attribute) as usize]
    }

    pub(crate) fn place(&self, row: usize, attribute: usize) -> u32 {
        self.rows[row * self.beliefs.len() + attribute]
    }

    pub(crate) fn beliefs(&self, attribute: usize) -> &[Belief] {
        &self.beliefs[attribute]
    }

    /// How many records a row stands for, by part.
    pub fn parts(&self, row: usize) -> &Weight {
        &self.weights[row]
    }

    /// How many records a row stands for.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights[row].iter().sum()
    }
}

impl<'a> Source<'a> {
    /// The table that the counts are of; every record goes to a part by the seed and its place among all.
    pub fn new(counts: &'a GroupCounts, attributes: &[Attribute], seed: u64) -> Source<'a> {
        let exact = |attribute: &Attribute| {
            (0..attribute.n_values() as u32).map(|code| attribute.belief(&Span::Value(Code(code)))).collect()
        };
        let beliefs: Vec<Vec<Belief>> = attributes.iter().map(exact).collect();
        let (mut rows, mut weights, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        let mut random = Random::new(seed);
        let mut parted = |n: u64| {
            let mut weight = [0.0; N_FOLDS];
            (0..n).for_each(|_| weight[random.below(N_FOLDS as u64) as usize] += 1.0);
            weight
        };
        for base in 0..counts.n_groups() {
            let codes = || counts.codes(base).iter().map(|code| code.0);
            if counts.sensitive().is_empty() {
                rows.extend(codes());
                weights.push(parted(counts.size(base)));
            }
            for (sensitive, n) in counts.cells(base) {
                rows.extend(codes().chain(sensitive.iter().map(|code| code.0)));
                weights.push(parted(n));
            }
            starts.push(weights.len());
        }
        Source { counts, starts, view: View { beliefs, rows, weights } }
    }

    /// What a release makes one believe. `made_of` are the counts that it was made of, with the same quasi-identifiers;
    /// sensitive attributes of the source that they lack are shared out in proportion.
    ///
    /// # Errors
    /// Where somebody has stopped it.
    pub fn released(
        &self,
        attributes: &[Attribute],
        made_of: &GroupCounts,
        recoding: &Recoding,
        task: &Task,
    ) -> Result<View> {
        let n_quasi = recoding.n_attributes();
        let mut beliefs: Vec<Vec<Belief>> = (0..n_quasi)
            .map(|a| recoding.cells(a).iter().map(|cell| attributes[a].belief(&cell.span)).collect())
            .collect();
        beliefs.extend(self.view.beliefs[n_quasi..].iter().cloned());
        // By row of the release, its group and what stands in the sensitive columns.
        let mut places: FxHashMap<(u32, &[u32]), usize> = FxHashMap::default();
        let (mut rows, mut weights): (Vec<u32>, Vec<Weight>) = (Vec::new(), Vec::new());
        let shared = self.shared_with(made_of);
        for base in 0..self.counts.n_groups() {
            task.go_on_now_and_then(base, N_BETWEEN)?;
            for share in recoding.shares(base) {
                let Some(group) = share.group else { continue };
                let codes = share.cell.and_then(|cell| made_of.cell(base, cell as usize)).map(|(codes, _)| codes);
                let of_base = self.starts[base]..self.starts[base + 1];
                let meant: Vec<usize> = of_base.filter(|&row| self.is_meant(row, codes, &shared)).collect();
                let n_all: f64 = meant.iter().map(|&row| self.view.weight(row)).sum();
                for row in meant {
                    let part = share.n_records as f64 / n_all;
                    let sensitive =
                        &self.view.rows[row * self.view.n_attributes() + n_quasi..][..beliefs.len() - n_quasi];
                    let place = *places.entry((group, sensitive)).or_insert_with(|| {
                        rows.extend(recoding.row(group as usize).iter().chain(sensitive));
                        weights.push([0.0; N_FOLDS]);
                        weights.len() - 1
                    });
                    let of_row = weights[place].iter_mut().zip(&self.view.weights[row]);
                    of_row.for_each(|(sum, n)| *sum += part * n);
                }
            }
        }
        Ok(View { beliefs, rows, weights })
    }

    /// By sensitive attribute of ours, its number among those of other counts.
    fn shared_with(&self, made_of: &GroupCounts) -> Vec<Option<usize>> {
        let place = |name: &str| made_of.sensitive().iter().position(|domain| domain.name() == name);
        self.counts.sensitive().iter().map(|domain| place(domain.name())).collect()
    }

    /// Whether the records of a row may be those with some sensitive values.
    fn is_meant(&self, row: usize, codes: Option<&[Code]>, shared: &[Option<usize>]) -> bool {
        let n_quasi = self.view.n_attributes() - shared.len();
        let Some(codes) = codes else { return true };
        let is_same = |(s, place): (usize, &Option<usize>)| {
            place.is_none_or(|place| codes[place].0 == self.view.place(row, n_quasi + s))
        };
        shared.iter().enumerate().all(is_same)
    }
}

/// Groups between two questions whether the work is still wanted.
const N_BETWEEN: usize = 256;
