//! Columns that would be published as they are although they find people: most records have a value of their own there.

use crate::sentences::grouped;
use incrowd::error::{Step, Wording};
use incrowd::release::{Column, Row};
use incrowd::table::Kind;
use incrowd::{Error, ErrorKind, Result, Role};

use crate::input::project::Project;
use crate::input::tally::{DistinctCounter, hash_bytes};

/// What is seen of the published records, in the columns that are published as they are.
pub struct Uniques {
    columns: Vec<Watched>,
    /// By column, the hash of the value that the record seen last has there.
    hashes: Vec<u64>,
}

/// A column that is published as it is.
struct Watched {
    place: usize,
    name: String,
    is_sensitive: bool,
    /// Whether somebody has said that it may be unique.
    may_be_unique: bool,
    tally: DistinctCounter,
    /// Records that have a value.
    n_present: u64,
    n_missing: u64,
    /// What the first values have in common; asked where these are all.
    kind: Option<Kind>,
}

/// From so many values on, more than half of them had by one record each is too many.
const N_MANY: u64 = 50;

/// In smaller tables values differ by nature, and sensitive ones are meant to: that they are many is what l asks for.
/// But texts and whole numbers that are nearly all different are names and numbers of people from so many on.
const N_FEW: u64 = 5;

/// Stands for the hash of no value.
pub const NO_VALUE: u64 = u64::MAX;

impl Uniques {
    /// `columns` are those of the release.
    pub fn new(project: &Project, columns: &[Column]) -> Uniques {
        let watched = |(place, column): (usize, &Column)| {
            let Column::Kept(name) = column else { return None };
            let attribute = project.attributes.iter().find(|attribute| attribute.name == *name);
            let is_sensitive = attribute.is_some_and(|attribute| attribute.role == Role::Sensitive);
            Some(Watched {
                place,
                name: name.clone(),
                is_sensitive,
                may_be_unique: attribute.is_some_and(|attribute| attribute.publishes_unique),
                tally: DistinctCounter::default(),
                n_present: 0,
                n_missing: 0,
                kind: None,
            })
        };
        let columns: Vec<Watched> = columns.iter().enumerate().filter_map(watched).collect();
        Uniques { hashes: vec![0; columns.len()], columns }
    }

    /// Takes note of so many published records that say this, in memory that does not grow with their number; and hashes of
    /// their values, by column.
    pub fn see(&mut self, row: &Row, n_records: u64) -> &[u64] {
        if self.columns.is_empty() {
            return &[];
        }
        let mut cells = row.encoded().enumerate();
        for (column, hash) in self.columns.iter_mut().zip(&mut self.hashes) {
            // Columns are watched in their order.
            let cell = cells.find(|(place, _)| *place == column.place).and_then(|(_, cell)| cell);
            *hash = cell.map_or(NO_VALUE, hash_bytes);
            match cell {
                Some(cell) => column.see(cell, *hash, n_records),
                None => column.n_missing += n_records,
            }
        }
        &self.hashes
    }

    /// The columns that are published as they are.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// How many published records have a value of a column; nothing where that is not known.
    pub fn n_having(&self, column: usize, hash: u64) -> Option<u64> {
        let column = &self.columns[column];
        if hash == NO_VALUE { Some(column.n_missing) } else { column.tally.n_came(hash) }
    }

    /// The columns in which many records have values that fewer than `k` share, and how many of how many that are.
    pub fn rare(&self, k: u64) -> impl Iterator<Item = (&str, u64, u64)> {
        let rare = move |column: &Watched| (column.tally.n_rare(k).n.min(column.n_present), column.n_present);
        let columns = self.columns.iter().filter(|column| !column.may_be_unique && column.n_present >= N_MANY);
        let columns = columns.map(move |column| (column.name.as_str(), rare(column)));
        columns.filter(|(_, (n, of))| n.saturating_mul(10) > *of).map(|(name, (n, of))| (name, n, of))
    }

    /// Whether somebody has said that a column may be unique.
    pub fn may_be_unique(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.name == name && column.may_be_unique)
    }

    /// Refuses to publish columns in which most records have a value that only one person has, however many records they
    /// have: by column, how many records that is, of how many that have a value.
    pub fn check_people(&self, all: Vec<(String, u64, u64)>) -> Result<()> {
        let found: Vec<(String, u64, u64)> =
            all.into_iter().filter(|(_, n, of)| *of >= N_MANY && n.saturating_mul(2) > *of).collect();
        if found.is_empty() {
            Ok(())
        } else {
            Err(refusal(&found, "most records have a value there that nobody else has"))
        }
    }

    /// Refuses to publish columns by which most records that have a value could be told apart.
    ///
    /// # Guarantee
    /// Unless the project says `unique = "publish"` of it, no release has a column that is published as it is in which
    /// more than half of at least 50 values are had by one record each; nor, where it is not sensitive, nine of ten of at
    /// least 5 texts or whole numbers. Beyond 900,000 different values the half is an estimate, right within 0.3 %.
    pub fn check(&self) -> Result<()> {
        let found: Vec<&Watched> =
            self.columns.iter().filter(|column| !column.may_be_unique && column.finds_people()).collect();
        if found.is_empty() {
            return Ok(());
        }
        let facts = |column: &&Watched| {
            (column.name.clone(), column.tally.n_unique().n.min(column.n_present), column.n_present)
        };
        let found: Vec<(String, u64, u64)> = found.iter().map(facts).collect();
        Err(refusal(
            &found,
            match found.len() {
                1 => "most records have a value there that no other has",
                _ => "most records have values there that no other has",
            },
        ))
    }
}

/// Columns with how many records have a value that too few share, of how many: those where these are more than a tenth.
pub fn rare_of(all: Vec<(String, u64, u64)>) -> Vec<(String, u64, u64)> {
    all.into_iter().filter(|(_, n, of)| *of >= N_MANY && n.saturating_mul(10) > *of).collect()
}

/// Why columns are not published: by name, how many of how many records stand alone.
fn refusal(found: &[(String, u64, u64)], why: &str) -> Error {
    let in_words = |(name, n, of): &(String, u64, u64)| format!("'{name}' ({} of {})", grouped(*n), grouped(*of));
    let names: Vec<String> = found.iter().map(in_words).collect();
    let columns = if names.len() == 1 { "column" } else { "columns" };
    let hint = Wording::text(
        "nothing was published; make it an identifier, which is left out, or a quasi-identifier with a hierarchy; or ",
    );
    Error::new(ErrorKind::Project, format!("{columns} {} would find people: {why}", names.join(", ")))
        .hint(hint.step(Step::PublishUnique).and(" to publish it anyway"))
}

impl Watched {
    fn see(&mut self, cell: &[u8], hash: u64, n_records: u64) {
        if self.n_present < N_MANY && self.kind != Some(Kind::Text) {
            let kind = std::str::from_utf8(cell).map_or(Kind::Text, Kind::of);
            self.kind = Some(self.kind.map_or(kind, |known| known.join(kind)));
        }
        self.n_present += n_records;
        self.tally.add_many(hash, n_records);
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
