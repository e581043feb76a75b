//! The ways to make a release: each says what becomes of every group of equal records.

pub mod global;

/// What becomes of the records: which published group each takes part in, and what its cells say.
#[derive(Clone, Debug, PartialEq)]
pub struct Recoding {
    /// For every group of the counts, the published group that its records join; none where they are suppressed.
    pub of_base: Vec<Option<u32>>,
    /// By quasi-identifier, the texts that occur in published cells.
    pub labels: Vec<Vec<String>>,
    /// For every published group, one label per quasi-identifier.
    pub cells: Vec<Vec<u32>>,
    /// By quasi-identifier, whether published values are the table's own, so that they keep their type.
    pub is_exact: Vec<bool>,
}

impl Recoding {
    pub fn n_groups(&self) -> usize {
        self.cells.len()
    }
}
