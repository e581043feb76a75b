//! Columns that would be published as they are although they find people: most records have a value of their own there.

use crate::sentences::grouped;
use incrowd::release::{Column, Row};
use incrowd::table::Kind;
use incrowd::{Error, ErrorKind, Result, Role};

use crate::input::project::Project;
use crate::input::survey::{Tally, hash_bytes};

/// What is seen of the published records, in the columns that are published as they are.
pub struct Uniques {
    columns: Vec<Watched>,
}

/// A column that nobody has said may be unique.
struct Watched {
    place: usize,
    name: String,
    is_sensitive: bool,
    tally: Tally,
    /// Records that have a value.
    n_present: u64,
    /// What the first values have in common.
    kind: Option<Kind>,
}

/// From so many values on, more than half of them had by one record each is too many.
const N_MANY: u64 = 50;

/// In smaller tables values differ by nature, and sensitive ones are meant to: that they are many is what l asks for.
/// But texts and whole numbers that are nearly all different are names and numbers of people from so many on.
const N_FEW: u64 = 5;

impl Uniques {
    /// `columns` are those of the release.
    pub fn new(project: &Project, columns: &[Column]) -> Uniques {
        let watched = |(place, column): (usize, &Column)| {
            let Column::Kept(name) = column else { return None };
            let attribute = project.attributes.iter().find(|attribute| attribute.name == *name);
            let is_sensitive = attribute.is_some_and(|attribute| attribute.role == Role::Sensitive);
            let is_watched = attribute.is_none_or(|attribute| !attribute.publishes_unique);
            is_watched.then(|| Watched {
                place,
                name: name.clone(),
                is_sensitive,
                tally: Tally::default(),
                n_present: 0,
                kind: None,
            })
        };
        Uniques { columns: columns.iter().enumerate().filter_map(watched).collect() }
    }

    /// Takes note of a published record, in memory that does not grow with their number.
    pub fn see(&mut self, row: &Row) {
        if self.columns.is_empty() {
            return;
        }
        let mut cells = row.encoded().enumerate();
        for column in &mut self.columns {
            // Columns are watched in their order.
            let cell = cells.find(|(place, _)| *place == column.place).and_then(|(_, cell)| cell);
            if let Some(cell) = cell {
                column.see(cell);
            }
        }
    }

    /// Refuses to publish columns by which most records that have a value could be told apart.
    ///
    /// # Guarantee
    /// Unless the project says `unique = "publish"` of it, no release has a column that is published as it is in which
    /// more than half of at least 50 values are had by one record each; nor, where it is not sensitive, nine of ten of at
    /// least 5 texts or whole numbers. Beyond 900,000 different values the half is an estimate, right within 0.3 %.
    pub fn check(&self) -> Result<()> {
        let found: Vec<&Watched> = self.columns.iter().filter(|column| column.finds_people()).collect();
        if found.is_empty() {
            return Ok(());
        }
        let in_words = |column: &&Watched| {
            let (n_unique, n_present) = (column.tally.n_unique().n.min(column.n_present), column.n_present);
            format!("'{}' ({} of {})", column.name, grouped(n_unique), grouped(n_present))
        };
        let names: Vec<String> = found.iter().map(in_words).collect();
        let message = match names.len() {
            1 => format!("column {} would find people: most records have a value there that no other has", names[0]),
            _ => format!(
                "columns {} would find people: most records have values there that no other has",
                names.join(", ")
            ),
        };
        Err(Error::new(ErrorKind::Project, message).hint(
            "nothing was published; make it an identifier, which is left out, or a quasi-identifier with a hierarchy; \
             or say unique = \"publish\" of the attribute where it is to be published all the same",
        ))
    }
}

impl Watched {
    fn see(&mut self, cell: &[u8]) {
        if self.n_present < N_MANY && self.kind != Some(Kind::Text) {
            let kind = std::str::from_utf8(cell).map_or(Kind::Text, Kind::of);
            self.kind = Some(self.kind.map_or(kind, |known| known.join(kind)));
        }
        self.n_present += 1;
        self.tally.add(hash_bytes(cell));
    }

    fn finds_people(&self) -> bool {
        let n_unique = self.tally.n_unique().n;
        let may_be_names = matches!(self.kind, Some(Kind::Text | Kind::Integer)) && !self.is_sensitive;
        match self.n_present {
            N_MANY.. => n_unique.saturating_mul(2) > self.n_present,
            N_FEW.. => may_be_names && n_unique * 10 >= self.n_present * 9,
            _ => false,
        }
    }
}
