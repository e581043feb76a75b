//! What means "no value", and what becomes of it.

use arrow_array::ArrayRef;

use crate::error::Result;
use crate::table::cells::Cells;

/// What counts as "no value", and what happens to the records that lack one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Texts that mean "no value", beside Arrow's nulls.
    pub tokens: Vec<String>,
    /// Whether a record that lacks a value that it needs is left out of everything.
    pub drop_records: bool,
    /// The columns in which it needs one.
    pub needed: Needed,
}

/// In which columns a record has to have a value, where those that lack one are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Needed {
    /// In every column that is read.
    #[default]
    All,
    /// In these.
    Only(Vec<String>),
    /// In every column that is read, but for these.
    AllBut(Vec<String>),
}

impl Missing {
    /// Whether a text stands for "no value".
    pub fn is_token(&self, text: &str) -> bool {
        self.tokens.iter().any(|token| token == text)
    }

    /// Whether a record that lacks its value in this column is left out.
    pub fn drops(&self, name: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|known| known == name);
        self.drop_records
            && match &self.needed {
                Needed::All => true,
                Needed::Only(names) => is_named(names),
                Needed::AllBut(names) => !is_named(names),
            }
    }

    /// How a missing value is written in a release.
    pub fn label(&self) -> &str {
        self.tokens.first().map_or("", String::as_str)
    }

    /// Clears `keep[i]` for every record `i` that is left out because it lacks its value in this column.
    ///
    /// # Errors
    /// Where the column's type cannot be read.
    pub fn mark_dropped(&self, name: &str, column: &ArrayRef, keep: &mut [bool]) -> Result<()> {
        match self.drops(name) {
            true => self.mark(name, column, keep),
            false => Ok(()),
        }
    }

    /// Clears `keep[i]` for every record `i` that lacks its value in this column.
    ///
    /// # Errors
    /// Where the column's type cannot be read.
    pub fn mark(&self, name: &str, column: &ArrayRef, keep: &mut [bool]) -> Result<()> {
        // What cannot be read as text, such as a list, is no token.
        let cells = (!self.tokens.is_empty()).then(|| Cells::new(name, column).ok()).flatten();
        let Some(cells) = cells else {
            if let Some(nulls) = column.logical_nulls() {
                keep.iter_mut().zip(nulls.iter()).for_each(|(keep, valid)| *keep &= valid);
            }
            return Ok(());
        };
        let mut text = String::new();
        for (i, keep) in keep.iter_mut().enumerate() {
            *keep = *keep && cells.read(i, &mut text) && !self.is_token(&text);
        }
        Ok(())
    }
}
