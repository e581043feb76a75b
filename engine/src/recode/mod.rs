//! The ways to make a release: each says what becomes of every group of equal records.
//!
//! Global recoding sends all records of a group of the counts the same way. Local recoding may share them out: so many
//! of them to this published group, so many to that one. Both are a [`Recoding`].

pub mod global;
pub mod sets;
pub(crate) mod space;
pub mod partition;
pub(crate) mod enough;
pub(crate) mod divide;
pub(crate) mod nearest;
pub(crate) mod improve;
pub(crate) mod settle;
pub mod published;
pub mod bottom_up;
pub mod top_down;
pub mod mondrian;
pub mod deal;
pub mod per_record;
pub mod tree;
pub mod method;
pub mod keep;

use std::cell::OnceCell;
use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::counts::number;
use crate::hierarchy::{Hierarchy, TwoEnds};
use crate::table::Code;

/// What becomes of the records: which published group each takes part in, and what its cells say.
#[derive(Clone, Debug, PartialEq)]
pub struct Recoding {
    /// Where the shares of each group of the counts begin; one more entry than there are groups.
    starts: Vec<usize>,
    /// By group of the counts, then by sensitive cell.
    shares: Vec<Share>,
    /// By quasi-identifier, the cells that may be published.
    cells: Vec<Vec<Cell>>,
    /// For every published group one cell per quasi-identifier; no two groups have the same.
    rows: Vec<u32>,
    n_groups: usize,
    /// By quasi-identifier, whether published values are the table's own, so that they keep their type.
    is_exact: Vec<bool>,
}

/// Some of the equal records of a group of the counts, and what becomes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The place of their sensitive values among the cells of the group; none where they do not matter: where all
    /// records of the group go the same way and diversity was not asked for, or there is no sensitive attribute.
    pub cell: Option<u32>,
    /// The published group that they join; none where they are suppressed.
    pub group: Option<u32>,
    /// How many records they are.
    pub n_records: u64,
}

/// What a published cell says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// What is written.
    pub text: String,
    /// Whether it says that there is no value.
    pub is_missing: bool,
    /// The lowest and the highest number or date that may be behind it, for releases that give each a column.
    /// None for categories, where there may be no value, and where a label has no such end.
    pub ends: TwoEnds,
    /// Which of the table's values may be behind it.
    pub span: Span,
}

impl Cell {
    /// `ends` are those of the attribute that the cell is of.
    pub(crate) fn new(text: String, is_missing: bool, span: Span, ends: &Ends) -> Cell {
        Cell { text, is_missing, ends: ends.of(&span), span }
    }
}

/// The lowest and the highest value behind the cells of an attribute.
pub(crate) struct Ends<'a> {
    hierarchy: &'a Hierarchy,
    /// Of numbers and dates.
    pub(crate) positions: Option<Vec<Option<f64>>>,
    /// By level, the first and the last value below each label; made when first asked for.
    of_level: Vec<OnceCell<Vec<(usize, usize)>>>,
}

impl<'a> Ends<'a> {
    pub(crate) fn new(hierarchy: &'a Hierarchy) -> Ends<'a> {
        let of_level = vec![OnceCell::new(); hierarchy.n_levels()];
        Ends { hierarchy, positions: hierarchy.positions(), of_level }
    }

    /// None for categories, and where there may be no value.
    fn of(&self, span: &Span) -> TwoEnds {
        let Some(positions) = &self.positions else { return (None, None) };
        let (low, high) = match span {
            Span::Value(code) => (code.index(), code.index()),
            Span::Range(low, high) | Span::Middle(low, high) => (low.index(), high.index()),
            Span::Set(codes) => (codes[0].index(), codes[codes.len() - 1].index()),
            Span::Label(level, label) => self.of_label(usize::from(*level), *label),
        };
        let text = |code: usize| self.hierarchy.level(0).labels()[code].clone();
        match positions[low].is_some() && positions[high].is_some() {
            true => (Some(text(low)), Some(text(high))),
            false => (None, None),
        }
    }

    fn of_label(&self, level: usize, label: Code) -> (usize, usize) {
        let of_level = self.of_level[level].get_or_init(|| {
            let values = self.hierarchy.level(level);
            let mut ends = vec![(usize::MAX, 0); values.len()];
            // Codes are in the order of numbers, and a missing value is last.
            for (code, label) in values.of_base().iter().enumerate() {
                let (low, high) = &mut ends[label.index()];
                (*low, *high) = (code.min(*low), code);
            }
            ends
        });
        of_level[label.index()]
    }
}

/// Which of the table's values may be behind a published cell.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Span {
    /// This one.
    Value(Code),
    /// Numbers or dates from one to another, in the order of their codes.
    Range(Code, Code),
    /// The same, but the cell only names the middle.
    Middle(Code, Code),
    /// All values below this one of this level of the hierarchy.
    Label(u8, Code),
    /// Some of these, increasing.
    Set(Vec<Code>),
}

impl Recoding {
    /// Puts together what was decided: `shares` by group of the counts, increasing by cell; the cells by
    /// quasi-identifier; and one row of places of cells per published group.
    pub(crate) fn new(
        shares: impl Iterator<Item = Vec<Share>>,
        cells: Vec<Vec<Cell>>,
        rows: Vec<Vec<u32>>,
        is_exact: Vec<bool>,
    ) -> Recoding {
        let mut recoding = Recoding {
            starts: vec![0],
            shares: Vec::new(),
            cells,
            n_groups: rows.len(),
            rows: rows.concat(),
            is_exact,
        };
        for of_base in shares {
            recoding.shares.extend(of_base);
            recoding.starts.push(recoding.shares.len());
        }
        recoding
    }

    /// How many groups are published, whose cells are not all the same.
    pub fn n_groups(&self) -> usize {
        self.n_groups
    }

    /// How many quasi-identifiers there are.
    pub fn n_attributes(&self) -> usize {
        self.cells.len()
    }

    /// What becomes of the records of a group of the counts; the shares add up to all of them.
    pub fn shares(&self, base: usize) -> &[Share] {
        &self.shares[self.starts[base]..self.starts[base + 1]]
    }

    /// The place of the first share of a group of the counts among all shares.
    pub(crate) fn start(&self, base: usize) -> usize {
        self.starts[base]
    }

    pub(crate) fn all_shares(&self) -> &[Share] {
        &self.shares
    }

    /// The cells that may be published for a quasi-identifier.
    pub fn cells(&self, attribute: usize) -> &[Cell] {
        &self.cells[attribute]
    }

    /// For every quasi-identifier, which of its cells a published group has.
    pub fn row(&self, group: usize) -> &[u32] {
        let n = self.cells.len();
        &self.rows[group * n..(group + 1) * n]
    }

    /// What a published group's cell says.
    pub fn cell(&self, group: usize, attribute: usize) -> &Cell {
        &self.cells[attribute][self.row(group)[attribute] as usize]
    }

    /// Whether all published values of a quasi-identifier are the table's own, so that they keep their type.
    pub fn is_exact(&self, attribute: usize) -> bool {
        self.is_exact[attribute]
    }

    /// Whether it matters which sensitive values a record has.
    pub fn is_by_cell(&self) -> bool {
        self.shares.iter().any(|share| share.cell.is_some())
    }

    /// The same, for a release that gives the lowest and the highest number of some quasi-identifiers a column each.
    ///
    /// Where a cell leaves open whether there is a value, both columns have none.
    pub fn in_two_columns(mut self, is_meant: impl Fn(usize) -> bool) -> Recoding {
        for (_, cells) in self.cells.iter_mut().enumerate().filter(|(a, _)| is_meant(*a)) {
            for cell in cells {
                cell.text = match &cell.ends {
                    (Some(low), Some(high)) => format!("{low} to {high}"),
                    (Some(low), None) => format!("from {low}"),
                    (None, Some(high)) => format!("to {high}"),
                    (None, None) => {
                        cell.is_missing = true;
                        String::new()
                    }
                };
            }
        }
        self
    }

    /// How many records each published group has.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.n_groups];
        for share in &self.shares {
            if let Some(group) = share.group {
                sizes[group as usize] += share.n_records;
            }
        }
        sizes
    }

    /// How many records are not published.
    pub fn n_suppressed(&self) -> u64 {
        self.shares.iter().filter(|share| share.group.is_none()).map(|share| share.n_records).sum()
    }

    /// How many records each group has that a reader of the release can tell apart.
    pub fn sizes_as_seen(&self) -> Vec<u64> {
        let (seen, n_groups) = self.as_seen();
        let mut sizes = vec![0; n_groups];
        seen.iter().zip(self.sizes()).for_each(|(&group, size)| sizes[group as usize] += size);
        sizes
    }

    /// The groups as a reader of the release sees them: for every group a number that groups with the same texts share,
    /// and how many numbers there are.
    ///
    /// Different ranges have different texts, but two ranges can have the same middle.
    pub fn as_seen(&self) -> (Vec<u32>, usize) {
        numbered(self.rows_as_seen())
    }

    /// For every group, one number per quasi-identifier that cells with the same text share.
    pub fn rows_as_seen(&self) -> impl Iterator<Item = Vec<u32>> {
        let texts: Vec<Vec<u32>> = self
            .cells
            .iter()
            .map(|cells| numbered(cells.iter().map(|cell| (cell.is_missing, cell.text.as_str()))).0)
            .collect();
        (0..self.n_groups)
            .map(move |group| self.row(group).iter().zip(&texts).map(|(&cell, texts)| texts[cell as usize]).collect())
    }
}

/// Numbers things in order of appearance, equal ones alike; and how many numbers there are.
pub(crate) fn numbered<T: Hash + Eq>(things: impl Iterator<Item = T>) -> (Vec<u32>, usize) {
    let mut numbers = FxHashMap::default();
    let numbered = things
        .map(|thing| {
            let next = number(numbers.len());
            *numbers.entry(thing).or_insert(next)
        })
        .collect();
    (numbered, numbers.len())
}
