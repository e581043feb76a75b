//! Whose records the groups of a table are made of, where a column says so.
//!
//! Different people do not add up when groups are united: somebody whose records differ in their quasi-identifiers is in
//! several groups, and counts once in whatever unites them. So everybody is kept with the cells that their records are in.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, RecordBatch};

use crate::error::{Error, ErrorKind, Result, unknown};
use crate::table::{Cells, Domain, Missing};

/// The people of a table: for each, which cells their records are in.
///
/// A cell is a combination of quasi-identifiers and sensitive values that occurs; where there is no sensitive attribute,
/// a group.
#[derive(Clone, Debug, PartialEq)]
pub struct People {
    /// The columns that name a person together.
    pub(crate) columns: Vec<String>,
    /// By person, what these columns say, as one text.
    pub(crate) names: Domain,
    /// Where each person's cells begin; one more entry than there are people.
    pub(crate) starts: Vec<usize>,
    /// By person, increasing: the number of the cell, and how many of its records are theirs.
    pub(crate) cells: Vec<(u32, u64)>,
}

impl People {
    /// `of_cells` are (person, cell, records), each pair once, in any order; the names are those of people who have any.
    pub(crate) fn new(columns: Vec<String>, names: Domain, mut of_cells: Vec<(u32, u32, u64)>) -> People {
        of_cells.sort_unstable();
        let mut starts = vec![0; names.len() + 1];
        of_cells.iter().for_each(|(person, ..)| starts[*person as usize + 1] += 1);
        (0..names.len()).for_each(|person| starts[person + 1] += starts[person]);
        People { columns, names, starts, cells: of_cells.into_iter().map(|(_, cell, n)| (cell, n)).collect() }
    }

    /// How many people there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns that name a person together.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The cells that somebody's records are in, increasing, and how many records of each are theirs.
    pub fn cells(&self, person: usize) -> impl ExactSizeIterator<Item = (usize, u64)> {
        self.cells[self.starts[person]..self.starts[person + 1]].iter().map(|&(cell, n)| (cell as usize, n))
    }

    /// The same, by cell: who has records there.
    pub(crate) fn by_cell(&self, n_cells: usize) -> Vec<Vec<(u32, u64)>> {
        let mut by_cell = vec![Vec::new(); n_cells];
        for person in 0..self.len() {
            self.cells(person).for_each(|(cell, n)| by_cell[cell].push((person as u32, n)));
        }
        by_cell
    }
}

/// The column of a batch that says whose record each is: what the named columns say together, and nothing where one of
/// them says nothing.
pub(crate) fn person_column(batch: &RecordBatch, names: &[String], missing: &Missing) -> Result<ArrayRef> {
    let column = |name: &String| {
        batch.column_by_name(name).ok_or_else(|| {
            let schema = batch.schema();
            let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            unknown(ErrorKind::Data, "column", name, &names)
        })
    };
    if let [name] = names {
        return column(name).cloned();
    }
    let cells = names.iter().map(|name| Cells::new(name, column(name)?)).collect::<Result<Vec<Cells>>>()?;
    let mut together = StringBuilder::new();
    let (mut person, mut text) = (String::new(), String::new());
    for i in 0..batch.num_rows() {
        person.clear();
        let is_known = cells.iter().all(|cells| {
            let is_there = cells.read(i, &mut text) && !missing.is_token(&text);
            // Its length first, so that no two people have the same name.
            person.push_str(&format!("{}:{text} ", text.len()));
            is_there
        });
        together.append_option(is_known.then_some(&person));
    }
    Ok(Arc::new(together.finish()))
}

/// What the column of several is called.
pub(crate) fn person_name(names: &[String]) -> String {
    names.join(" + ")
}

/// Refuses records of which nobody knows whose they are.
pub(crate) fn check_known(names: &[String], n_unknown: usize) -> Result<()> {
    match n_unknown {
        0 => Ok(()),
        n => Err(Error::new(
            ErrorKind::Data,
            format!(
                "{n} records or more have no value of '{}', so that nobody knows whose they are",
                person_name(names)
            ),
        )
        .hint("give them one, or leave out records that lack a value")),
    }
}
