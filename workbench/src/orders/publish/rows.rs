//! A release as distinct rows becomes records where it is loaded: the statement for that.

use incrowd::wire::Certificate;
use incrowd::{Error, ErrorKind, Result};

use super::files::{Files, NewTable};
use crate::input::database::dialect::{Dialect, parts_of};
use crate::sentences::hint;

/// Where the rows of a release become records again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    pub dialect: Dialect,
    /// The table that is made; `release` where nothing is said.
    pub into: Option<String>,
}

/// What a release is written as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Whether it is distinct rows, each with how many records say it.
    pub rows: bool,
    /// The statement that is wanted with them.
    pub expansion: Option<Expansion>,
    /// The table that it becomes, where it is no file.
    pub table: Option<NewTable>,
}

impl Form {
    /// Refuses what does not go together.
    pub fn new(
        rows: bool,
        dialect: Option<Dialect>,
        into: Option<String>,
        database: Option<&str>,
        has_output: bool,
    ) -> Result<Form> {
        if database.is_some() && (into.is_none() || dialect.is_some()) {
            return Err(Error::new(ErrorKind::Request, "a database is named, and no table that is made in it")
                .hint(hint("name it with {into=released}, without {sql}")));
        }
        let (expansion, table) = match dialect {
            Some(dialect) => (Some(Expansion { dialect, into }), None),
            None => (None, into.map(|name| NewTable::new(&name, database)).transpose()?),
        };
        Expansion::check(expansion.as_ref(), rows)?;
        if table.is_some() && (rows || has_output) {
            return Err(Error::new(ErrorKind::Request, "a release is written into a table, or as a file")
                .hint(hint("leave out {into}, or {rows} and {output}")));
        }
        Ok(Form { rows, expansion, table })
    }
}

impl Expansion {
    /// Refuses what has no rows to expand.
    pub fn check(expansion: Option<&Expansion>, rows: bool) -> Result<()> {
        match (expansion, rows) {
            (Some(_), false) => Err(Error::new(
                ErrorKind::Request,
                "a statement expands distinct rows, and the release has its records",
            )
            .hint(hint("give {rows} too"))),
            _ => Ok(()),
        }
    }

    /// The statement that makes the table of records out of the one that the file of rows was loaded into, which is called
    /// as the file is, in the schema of the new one.
    pub fn statement(&self, files: &Files, certificate: &Certificate) -> String {
        let rows = files.release.file_stem().unwrap_or_default().to_string_lossy();
        let number = certificate.counted.as_deref().expect("the release was written as rows");
        let into = self.into.as_deref().unwrap_or("release");
        let mut parts = parts_of(into);
        // The name of a file may have dots; that of the table is one name.
        *parts.last_mut().expect("a name has a part") = rows.replace('"', "");
        let rows: Vec<String> = parts.iter().map(|part| format!("\"{part}\"")).collect();
        let query = self.dialect.expanded(&rows.join("."), &certificate.columns, number);
        format!("CREATE TABLE {} AS\n{query}", self.dialect.table(into))
    }
}
