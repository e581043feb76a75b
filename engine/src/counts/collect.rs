//! Cells in order, cut into groups.

use crate::counts::groups::GroupCounts;
use crate::counts::number;
use crate::counts::people::People;
use crate::error::{Error, ErrorKind, Result};
use crate::table::{Code, Domain};

/// Cells in order, being cut into groups.
pub(super) struct Collected {
    counts: GroupCounts,
    /// The columns that say whose records they are, and what they say; with (person, cell, records).
    people: Option<(Vec<String>, Domain)>,
    of_cells: Vec<(u32, u32, u64)>,
    last: Vec<u32>,
}

impl Collected {
    pub(super) fn new(
        domains: Vec<Domain>,
        sensitive: Vec<Domain>,
        people: Option<(Vec<String>, Domain)>,
        n_records: u64,
        n_dropped: u64,
    ) -> Collected {
        let counts = GroupCounts {
            domains,
            sensitive,
            n_records,
            n_dropped,
            codes: Vec::new(),
            sizes: Vec::new(),
            starts: Vec::new(),
            cell_codes: Vec::new(),
            cell_sizes: Vec::new(),
            population: None,
            people: None,
            counted_as: Vec::new(),
        };
        Collected { counts, people, of_cells: Vec::new(), last: Vec::new() }
    }

    /// Adds a combination: the codes of its group, its sensitive values and whose it is, and how many records have them.
    pub(super) fn add(&mut self, codes: &[u32], n_records: u64) {
        let Collected { counts, people, of_cells, last } = self;
        let (group, cell) = codes.split_at(counts.domains.len());
        let (cell, person) = cell.split_at(counts.sensitive.len());
        let is_new = counts.sizes.is_empty() || last[..group.len()] != *group;
        if is_new {
            counts.starts.push(counts.cell_sizes.len());
            counts.codes.extend(group.iter().map(|&code| Code(code)));
            counts.sizes.push(0);
        }
        *counts.sizes.last_mut().expect("a group was begun") += n_records;
        if !cell.is_empty() {
            match counts.cell_sizes.last_mut() {
                Some(n) if !is_new && last[group.len()..][..cell.len()] == *cell => *n += n_records,
                _ => {
                    counts.cell_codes.extend(cell.iter().map(|&code| Code(code)));
                    counts.cell_sizes.push(n_records);
                }
            }
        }
        if people.is_some() {
            let cell = counts.cell_sizes.len().max(counts.sizes.len() * usize::from(cell.is_empty()));
            let cell = number(cell - 1);
            match of_cells.last_mut() {
                Some((last_person, last_cell, n)) if (*last_person, *last_cell) == (person[0], cell) => *n += n_records,
                _ => of_cells.push((person[0], cell, n_records)),
            }
        }
        last.clear();
        last.extend_from_slice(codes);
    }

    pub(super) fn finish(mut self) -> GroupCounts {
        self.counts.starts.push(self.counts.cell_sizes.len());
        self.counts.people = self.people.map(|(columns, names)| People::new(columns, names, self.of_cells));
        self.counts
    }
}

pub(super) fn check_numbers(n_cells: usize, n_max: usize) -> Result<()> {
    match n_cells > n_max {
        true => {
            let message = format!("there are more than {n_max} different combinations of values");
            Err(Error::new(ErrorKind::TooLarge, message).hint("choose fewer attributes, or count a part of the table"))
        }
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::N_CELLS_MAX;

    #[test]
    fn more_combinations_than_numbers_are_refused() {
        assert!(check_numbers(4, 4).is_ok());
        let error = check_numbers(5, 4).expect_err("too many");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(N_CELLS_MAX < u32::MAX as usize, "what unites all of them has a number too");
    }
}
