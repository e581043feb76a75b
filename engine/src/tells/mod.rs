//! What a column that is published as it is tells about an attribute that is generalized beside it.
//!
//! Whoever knows how the two hang together reads the finer value of the attribute off the column, strikes out the records
//! of a group to which it says something else, and looks for somebody among those that are left.

mod teller;
mod shuffle;
mod chance;

pub use chance::{Relation, beyond_chance, relation};
pub use teller::told;

/// A value of the column tells nothing where too few records share it to be a rule.
const UNTOLD: u32 = u32::MAX;

/// A relation is nearly certain where it tells this share of the records that chance does not tell.
const NEARLY_ALL: f64 = 0.9;

/// Published records, group after group, and an attribute of which they publish less than is known.
///
/// Records that are equal may be one row with their number, so that what is done takes the time of different ones.
pub struct Hidden<'a> {
    starts: &'a [usize],
    cells: &'a [u32],
    labels: &'a [u32],
    n_alike: &'a [u64],
    n_labels: usize,
    k: u64,
    /// By row, the number of the person whose it is, where people are counted; and how many people there are.
    people: Option<(&'a [u32], usize)>,
    /// Where the labels behind each cell begin in `behind`; one more entry than there are cells.
    cell_starts: Vec<usize>,
    /// The labels behind each cell, increasing.
    behind: Vec<u32>,
}

impl<'a> Hidden<'a> {
    /// `starts` are where the rows of each group begin, with one more entry than there are groups; by group, `cells` are
    /// what is published of the attribute; by row, `labels` what it is on a finer level, and `n_alike` how many records
    /// the row is; `k` is promised.
    pub fn new(starts: &'a [usize], cells: &'a [u32], labels: &'a [u32], n_alike: &'a [u64], k: u64) -> Hidden<'a> {
        assert!(starts.first() == Some(&0) && starts.last() == Some(&labels.len()), "all rows are in groups");
        assert!(starts.len() == cells.len() + 1 && labels.len() == n_alike.len(), "every group and row has its number");
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (&cell, ends) in cells.iter().zip(starts.windows(2)) {
            // Rows of a group are often sorted by what they are: most that come twice follow each other.
            for &label in &labels[ends[0]..ends[1]] {
                if pairs.last() != Some(&(cell, label)) {
                    pairs.push((cell, label));
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let n_cells = pairs.last().map_or(0, |(cell, _)| *cell as usize + 1);
        let cell_starts = (0..=n_cells).map(|cell| pairs.partition_point(|pair| (pair.0 as usize) < cell)).collect();
        let n_labels = labels.iter().max().map_or(0, |label| *label as usize + 1);
        let behind = pairs.into_iter().map(|(_, label)| label).collect();
        Hidden { starts, cells, labels, n_alike, n_labels, k, people: None, cell_starts, behind }
    }

    /// The same where k counts people: by row, the number of the person whose it is. Every row is one record.
    pub fn of_people(self, people: &'a [u32]) -> Hidden<'a> {
        assert_eq!(people.len(), self.labels.len(), "every record is somebody's");
        assert!(self.n_alike.iter().all(|n| *n == 1), "records are moved one by one");
        let n_people = people.iter().max().map_or(0, |person| *person as usize + 1);
        Hidden { people: Some((people, n_people)), ..self }
    }

    /// Whether every cell says all that there is to know on this level.
    pub fn is_open(&self) -> bool {
        self.cell_starts.windows(2).all(|ends| ends[1] - ends[0] <= 1)
    }

    fn labels_behind(&self, cell: u32) -> &[u32] {
        &self.behind[self.cell_starts[cell as usize]..self.cell_starts[cell as usize + 1]]
    }

    /// The rows with the values of a column.
    fn rows<'r>(&'r self, values: &'r [u32]) -> Rows<'r> {
        assert_eq!(values.len(), self.labels.len(), "every row has a value");
        Rows { starts: self.starts, labels: self.labels, values, n_alike: self.n_alike }
    }
}

/// Labels and values of records, group after group.
#[derive(Clone, Copy)]
struct Rows<'a> {
    starts: &'a [usize],
    labels: &'a [u32],
    values: &'a [u32],
    n_alike: &'a [u64],
}

/// A column that is published as it is.
pub struct Kept<'a> {
    /// By row, the number of its value.
    pub values: &'a [u32],
    /// By number, whether at least k records share the value; or the records of at least k people, where these are counted.
    pub is_shared: &'a [bool],
}

/// What somebody gets to know who knows which label goes with which value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Records whose value is shared.
    pub n_shared: u64,
    /// Those of them of which the value tells the right label.
    pub n_told: u64,
    /// Those of them that are left among fewer than k records of their group, or the records of fewer than k people.
    pub n_below: u64,
    /// The fewest records, or people, among which one is left; nothing where none is told.
    pub fewest: Option<u64>,
}

impl Told {
    /// Whether it may tell nearly all that can be told, whatever chance does.
    pub fn may_be_nearly_certain(&self) -> bool {
        self.n_told as f64 >= NEARLY_ALL * self.n_shared as f64
    }
}
