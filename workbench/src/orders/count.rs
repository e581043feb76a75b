//! `count`: the combinations of a table; or the statement that counts them on whatever engine holds the table.
//!
//! What has to be counted is a value: a database answers it by SQL, and whoever has no driver by any means of their own.

use std::sync::Arc;

use incrowd::{Error, ErrorKind, Result, Role};

use super::known::Known;
use super::request::About;
use crate::input::count::Counted;
use crate::input::database::dialect::Dialect;
use crate::input::project::Project;
use crate::sentences::hint;
use crate::work::Work;

/// What somebody wants counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Count {
    /// Here and now.
    Here(About),
    /// By a statement that somebody runs elsewhere; `columns` are those of the table, where the project does not name all
    /// that it publishes.
    Elsewhere { dialect: Dialect, table: Option<String>, columns: Vec<String> },
}

/// What came of it.
pub enum Counts {
    Counted(Arc<Counted>),
    Statement(Statement),
}

/// The combinations that a project needs, for whoever counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combinations {
    /// One row for each combination of these, in the project's order.
    pub columns: Vec<Combined>,
    /// The column that says how many records each is.
    pub number: String,
    /// What means "no value" in any column, beside what the engine itself knows as none.
    pub missing: Vec<String>,
}

/// A column of such rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combined {
    pub name: String,
    /// Whose record it is, or published as it is, where one of them makes more combinations than are generalized.
    pub role: Option<Role>,
    /// Whether it only matters that there is a value, because records without one are left out.
    pub only_presence: bool,
}

/// The statement that counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub combinations: Combinations,
    pub dialect: Dialect,
    pub table: String,
    pub sql: String,
}

impl Count {
    /// Refuses what would say nothing.
    pub fn new(about: About, dialect: Option<Dialect>, table: Option<String>, columns: Vec<String>) -> Result<Count> {
        let Some(dialect) = dialect else {
            let named = [(table.is_some(), "a table is"), (!columns.is_empty(), "columns are")];
            return match named.into_iter().find(|(is_named, _)| *is_named) {
                Some((_, what)) => {
                    Err(Error::new(ErrorKind::Request, format!("{what} named, and no statement is wanted"))
                        .hint(hint("give {sql} too")))
                }
                None => Ok(Count::Here(about)),
            };
        };
        match about == About::default() {
            true => Ok(Count::Elsewhere { dialect, table, columns }),
            false => Err(Error::new(
                ErrorKind::Request,
                "a statement counts what the project names, so that every answer can be had from it",
            )
            .hint(hint("leave out {quasi_identifiers} and {sensitive}"))),
        }
    }

    /// Counts, or says how.
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<Counts> {
        match self {
            Count::Here(about) => {
                let choice = about.choice(&about.no_privacy(project)?);
                known.count(project, &choice, work).map(Counts::Counted)
            }
            Count::Elsewhere { dialect, table, columns } => {
                let table = table.as_ref().ok_or_else(|| {
                    Error::new(ErrorKind::Request, "nothing says which table is to be counted")
                        .hint(hint("name it with {table=clinic.discharges}"))
                })?;
                let combinations = Combinations::of(project, columns)?;
                Ok(Counts::Statement(combinations.statement(*dialect, table)))
            }
        }
    }
}

impl Combinations {
    /// What a project counts or publishes, all of it: what is counted elsewhere is the whole table to whoever reads it here.
    /// `others` are the columns of the table, of which it publishes those that it does not name.
    ///
    /// # Errors
    /// Where that depends on columns that nobody names, or on every single record.
    pub fn of(project: &Project, others: &[String]) -> Result<Combinations> {
        let refuse = |what: &str, hint| {
            Err(Error::new(ErrorKind::Project, what.to_string()).at(project.file.display().to_string()).hint(hint))
        };
        if project.attributes.iter().any(|attribute| attribute.from_level.is_some()) {
            return refuse(
                "a statement counts values, and labels are asked for",
                hint("leave out {from_level}; a view of the engine's can have labels"),
            );
        }
        match (project.keep_other, others.is_empty()) {
            (true, true) => {
                return refuse(
                    "the project publishes columns that it does not name, so that nothing says what is to be counted",
                    hint(
                        "name the columns of the table with {columns=A,B,…}; or leave out {data.other=keep}, and name what is \
                         published with {role=other}",
                    ),
                );
            }
            (false, false) => {
                return refuse(
                    "columns are named, and the project says which ones are counted",
                    hint("leave out {columns}; it is for {data.other=keep}"),
                );
            }
            (true, false) | (false, true) => (),
        }
        if project.max_records_per_person.is_some() {
            return refuse(
                "which records of a person are kept depends on every record, and combinations are not records",
                hint("leave out {data.max_records_per_person}, or count the table here"),
            );
        }
        let mut columns: Vec<Combined> = Vec::new();
        let mut add = |name: &str, role: Option<Role>, only_presence: bool| {
            if columns.iter().all(|known| known.name != name) {
                columns.push(Combined { name: name.to_string(), role, only_presence });
            }
        };
        let is_identifier =
            |name: &str| project.attributes.iter().any(|known| known.name == name && known.role == Role::Identifier);
        project
            .attributes
            .iter()
            .filter(|known| known.role != Role::Identifier)
            .for_each(|known| add(&known.name, Some(known.role), false));
        let is_named = |name: &String| project.attributes.iter().any(|known| known.name == *name);
        for name in others {
            if !is_named(name) {
                add(name, Some(Role::Other), false);
            }
        }
        project.weight_of.iter().chain(&project.household).for_each(|name| add(name, None, false));
        project.complete.iter().for_each(|name| add(name, None, true));
        let number = project.counted.clone().unwrap_or_else(|| "n".to_string());
        if columns.iter().any(|column| column.name == number) || is_identifier(&number) {
            return refuse(
                "the number of records would have the name of another column",
                hint("say what it is to be called with {data.counted}"),
            );
        }
        Ok(Combinations { columns, number, missing: project.missing.tokens.clone() })
    }

    /// What makes more rows than one might expect, as comments.
    fn said(&self) -> String {
        let of = |role: Role, what: &str| {
            let names = self.columns.iter().filter(|column| column.role == Some(role));
            let names = names.map(|column| column.name.escape_debug().to_string()).collect::<Vec<_>>().join(", ");
            if names.is_empty() { names } else { format!("-- {names}: {what}\n") }
        };
        let people = of(Role::Person, "whose records they are, so that there is a row for each person and combination");
        people + &of(Role::Other, "published as it is, so that it is a part of every combination")
    }

    /// Asks a table for them, in an engine's words.
    pub fn statement(self, dialect: Dialect, table: &str) -> Statement {
        let cell = |column: &Combined| {
            let exact = dialect.exact(&dialect.column(&column.name));
            let value = dialect.without_missing(&exact, &self.missing);
            let value = match column.only_presence {
                true => format!("CASE WHEN {value} IS NOT NULL THEN '1' END"),
                false => value,
            };
            format!("  {value} AS {},\n", dialect.quoted(&column.name))
        };
        let said = self.said();
        let cells: String = self.columns.iter().map(cell).collect();
        let places: Vec<String> = (1..=self.columns.len()).map(|place| place.to_string()).collect();
        let sql = format!(
            "{said}SELECT\n{cells}  COUNT(*) AS {}\nFROM {}\nGROUP BY {}",
            dialect.quoted(&self.number),
            dialect.table(table),
            places.join(", ")
        );
        Statement { combinations: self, dialect, table: table.to_string(), sql }
    }
}
