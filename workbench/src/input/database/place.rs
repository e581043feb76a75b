//! Where a table of a database is: what the project file says of it, and what it must not say.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd::{Error, ErrorKind, Result};

use super::dialect::{Dialect, parts_of};
use crate::sentences::hint;

/// A table of a database, or what a query gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabasePlace {
    /// `postgresql://curator@db/clinic`, `sqlite:clinic.sqlite`, `duckdb:clinic.duckdb` or `grpc://sail:32010`.
    pub uri: String,
    pub asked: TableOrQuery,
    /// The library that speaks to the database, by its path or name; looked for where nothing is said.
    pub driver: Option<String>,
    /// Columns that are read as labels of their values.
    pub labels: Vec<ColumnLabels>,
}

/// What the database gives in place of the values of a column: value by value, a label. Other values stay what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnLabels {
    pub column: String,
    /// No value stands here twice.
    pub labels: Arc<Vec<(String, String)>>,
}

/// What is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableOrQuery {
    Table(String),
    Query(String),
}

impl TableOrQuery {
    /// What errors and certificates call it.
    pub fn name(&self) -> &str {
        match self {
            TableOrQuery::Table(name) => name,
            TableOrQuery::Query(_) => "query",
        }
    }
}

impl TableOrQuery {
    /// Whether a table of this name may be what is read: under another schema's or catalog's name, in other letters, or
    /// as a word of the query.
    pub fn may_read(&self, table: &str) -> bool {
        let parts = |name: &str| parts_of(name).into_iter().rev().map(|part| part.to_lowercase()).collect::<Vec<_>>();
        let named = parts(table);
        match self {
            TableOrQuery::Table(name) => parts(name).iter().zip(&named).all(|(own, other)| own == other),
            TableOrQuery::Query(query) => {
                let query = query.to_lowercase();
                let is_word = |c: char| c.is_alphanumeric() || c == '_';
                let last = &named[0];
                query.match_indices(last.as_str()).any(|(at, _)| {
                    let after = query[at + last.len()..].chars().next();
                    !query[..at].chars().next_back().is_some_and(is_word) && !after.is_some_and(is_word)
                })
            }
        }
    }
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorKind::Project, message.to_string())
}

impl DatabasePlace {
    /// Refuses what is no place, and one that holds a password.
    ///
    /// # Guarantee
    /// No password of a project file is used, so that nobody gets used to writing one there.
    pub fn new(uri: &str, table: Option<&str>, query: Option<&str>, driver: Option<&str>) -> Result<DatabasePlace> {
        engine(uri)?;
        if has_password(uri) {
            return Err(wrong("the address of the database holds a password").hint(hint(
                "leave it out of {data.database}: give it by the environment (PGPASSWORD), by ~/.pgpass, or by a profile of \
                 the driver",
            )));
        }
        let asked = match (table, query) {
            (Some(table), None) => TableOrQuery::Table(table.to_string()),
            (None, Some(query)) => TableOrQuery::Query(query.trim().trim_end_matches(';').to_string()),
            (None, None) => {
                return Err(wrong("a database is named, and no table").hint(hint("add {data.table} or {data.query}")));
            }
            (Some(_), Some(_)) => {
                return Err(wrong("a table and a query are named").hint(hint("leave {data.table} or {data.query} out")));
            }
        };
        let driver = driver.map(str::to_string);
        Ok(DatabasePlace { uri: uri.to_string(), asked, driver, labels: Vec::new() })
    }

    /// The same database, and a table of it.
    pub fn with_table(&self, table: &str) -> DatabasePlace {
        DatabasePlace { asked: TableOrQuery::Table(table.to_string()), labels: Vec::new(), ..self.clone() }
    }

    pub fn dialect(&self) -> Dialect {
        engine(&self.uri).expect("it was looked at when the place was made")
    }

    /// The file of a database that is one; a name without a folder is one of the project's.
    pub fn file(&self, folder: &Path) -> Option<PathBuf> {
        let is_file = matches!(self.dialect(), Dialect::Sqlite | Dialect::Duckdb);
        let (_, path) = self.uri.split_once(':').filter(|_| is_file)?;
        Some(folder.join(path.strip_prefix("//").unwrap_or(path)))
    }
}

/// The engine of an address.
fn engine(uri: &str) -> Result<Dialect> {
    match uri.split_once(':').map(|(scheme, rest)| (scheme, rest.is_empty())) {
        Some(("postgresql" | "postgres", false)) => Ok(Dialect::Postgresql),
        Some(("sqlite", false)) => Ok(Dialect::Sqlite),
        Some(("duckdb", false)) => Ok(Dialect::Duckdb),
        // Sail, whose SQL is Spark's.
        Some(("grpc" | "grpc+tls", false)) => Ok(Dialect::Spark),
        _ => Err(wrong("the address is of no database that is read here").hint(hint(
            "{data.database} is postgresql://user@host/database, sqlite:FILE, duckdb:FILE or grpc://host:port (Flight SQL \
             of Sail); any other engine counts by the statement of count with {sql}",
        ))),
    }
}

/// Whether an address tells a password, between user and host or among its settings.
fn has_password(uri: &str) -> bool {
    let (before, settings) = uri.split_once('?').unwrap_or((uri, ""));
    let authority = before.split_once("://").map_or("", |(_, rest)| rest.split('/').next().unwrap_or(""));
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let is_password = |setting: &str| {
        let name = setting.split('=').next().unwrap_or("").trim().to_ascii_lowercase();
        name == "password" || name == "sslpassword"
    };
    user.contains(':') || settings.split('&').any(is_password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_refused_wherever_they_stand() {
        let place = |uri: &str| DatabasePlace::new(uri, Some("t"), None, None);
        for uri in [
            "postgresql://curator:secret@db/clinic",
            "postgresql://curator:@db/clinic",
            "postgres://curator@db/clinic?password=secret",
            "postgresql://db/clinic?sslmode=require&PASSWORD=secret",
            "postgresql://a:b@c@db/clinic",
        ] {
            let error = place(uri).expect_err(uri);
            assert!(error.message().to_string().contains("password"), "{error}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        for uri in ["postgresql://curator@db:5432/clinic", "postgresql://db/clinic?sslmode=require", "sqlite:a.sqlite"]
        {
            place(uri).expect(uri);
        }
    }

    #[test]
    fn one_of_table_and_query_is_named() {
        let place = |table, query| DatabasePlace::new("sqlite:a.sqlite", table, query, None);
        assert!(place(None, None).is_err() && place(Some("t"), Some("q")).is_err());
        assert_eq!(place(None, Some("SELECT 1; ")).expect("a query").asked, TableOrQuery::Query("SELECT 1".into()));
        for uri in ["mysql://db/clinic", "postgresql", "data.csv", "sqlite:"] {
            assert!(DatabasePlace::new(uri, Some("t"), None, None).is_err(), "{uri}");
        }
    }

    #[test]
    fn what_is_read_is_known_under_its_other_names() {
        let table = |name: &str| TableOrQuery::Table(name.to_string());
        let query = |text: &str| TableOrQuery::Query(text.to_string());
        for name in ["clinic", "public.clinic", "PUBLIC.Clinic", "\"clinic\"", "db.public.clinic"] {
            assert!(table("clinic").may_read(name) && table("public.clinic").may_read(name), "{name}");
            assert!(query("SELECT * FROM public.clinic WHERE age > 3").may_read(name), "{name}");
        }
        assert!(!table("public.clinic").may_read("other.clinic") && !table("clinic").may_read("clinic_k5"));
        assert!(!query("SELECT * FROM clinic_2024").may_read("clinic"));
    }

    #[test]
    fn files_are_the_project_s() {
        let file =
            |uri: &str| DatabasePlace::new(uri, Some("t"), None, None).expect("a place").file(Path::new("study"));
        assert_eq!(file("sqlite:a.sqlite"), Some("study/a.sqlite".into()));
        assert_eq!(file("duckdb:///data/a.duckdb"), Some("/data/a.duckdb".into()));
        assert_eq!(file("postgresql://db/clinic"), None);
    }
}
