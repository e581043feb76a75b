//! Connections to databases: drivers are found when they are needed, and never speak for themselves.
//!
//! What a driver says can quote cells, so that only states and codes of its errors are told.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use adbc_core::error::{Error as DriverError, Status};
use adbc_core::options::{AdbcVersion, OptionConnection, OptionDatabase, OptionStatement, OptionValue};
use adbc_core::{Connection as _, Database as _, Driver as _, LOAD_FLAG_DEFAULT, Optionable as _, Statement as _};
use adbc_driver_manager::{ManagedConnection, ManagedDatabase, ManagedDriver, ManagedStatement};
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::SchemaRef;
use incrowd::{Error, ErrorKind, Result};

use super::dialect::Dialect;
use super::place::DatabasePlace;
use crate::sentences::hint;

/// A database that was opened.
pub struct Database {
    pub dialect: Dialect,
    /// What errors call it: where it is, without who asks.
    name: String,
    inner: Arc<Mutex<ManagedDatabase>>,
    /// The one connection of work that is done as a whole or not at all.
    session: Option<Mutex<ManagedConnection>>,
}

impl std::fmt::Debug for Database {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// What a database is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    Read,
    Write,
}

type Databases = HashMap<(String, Purpose), Weak<Mutex<ManagedDatabase>>>;

/// Those that are open: some engines open a file once per program.
static OPEN: LazyLock<Mutex<Databases>> = LazyLock::new(Mutex::default);

/// Drivers stay loaded: some do not survive to be taken out of a program.
static DRIVERS: LazyLock<Mutex<HashMap<String, ManagedDriver>>> = LazyLock::new(Mutex::default);

/// Folders of packages that whoever runs this knows of.
static PACKAGES: LazyLock<Mutex<Vec<PathBuf>>> = LazyLock::new(Mutex::default);

/// Looks for drivers in these folders of packages too, as Python installs them.
pub fn look_in(folders: impl IntoIterator<Item = PathBuf>) {
    let mut known = locked(&PACKAGES);
    for folder in folders {
        if !known.contains(&folder) {
            known.push(folder);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Database {
    /// Opens the database of a place; files are the project's.
    pub fn open(place: &DatabasePlace, folder: &Path, purpose: Purpose) -> Result<Database> {
        let dialect = place.dialect();
        let (address, options) = match place.file(folder) {
            None => (place.uri.clone(), vec![(OptionDatabase::Uri, place.uri.clone())]),
            Some(file) => {
                // An engine would make one that is not there.
                std::fs::metadata(&file).map_err(|error| crate::io_error(&file, error))?;
                let path = file.display().to_string();
                let options = match dialect {
                    Dialect::Duckdb => vec![
                        (OptionDatabase::Other("path".into()), path.clone()),
                        (
                            OptionDatabase::Other("access_mode".into()),
                            if purpose == Purpose::Read { "READ_ONLY" } else { "READ_WRITE" }.to_string(),
                        ),
                    ],
                    _ => vec![(OptionDatabase::Uri, path.clone())],
                };
                (path, options)
            }
        };
        let name = shown(&address);
        let key = (format!("{} {address}", dialect.driver()), purpose);
        let mut open = locked(&OPEN);
        let inner = match open.get(&key).and_then(Weak::upgrade) {
            Some(inner) => inner,
            None => {
                let mut driver = driver(dialect, place.driver.as_deref())?;
                let options = options.into_iter().map(|(option, value)| (option, OptionValue::String(value)));
                let database = driver.new_database_with_opts(options);
                let inner = Arc::new(Mutex::new(database.map_err(|error| failed(&name, "cannot be opened", &error))?));
                open.insert(key, Arc::downgrade(&inner));
                inner
            }
        };
        Ok(Database { dialect, name, inner, session: None })
    }

    /// Whether work can be done as a whole or not at all.
    pub fn has_transactions(&self) -> bool {
        self.dialect != Dialect::Spark
    }

    /// The same with one connection and in one transaction, which sees one state of the database; where there are none, as
    /// it is.
    pub fn begin(mut self) -> Result<Database> {
        if !self.has_transactions() {
            return Ok(self);
        }
        let mut connection = self.connected()?;
        let failed = |error: DriverError| self.failed("does not begin a transaction", &error);
        connection.set_option(OptionConnection::AutoCommit, OptionValue::String("false".into())).map_err(failed)?;
        self.session = Some(Mutex::new(connection));
        if self.dialect == Dialect::Postgresql {
            self.run("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")?;
            // A table is read from its beginning, so that its order shows.
            self.run("SET LOCAL synchronize_seqscans = off")?;
        }
        Ok(self)
    }

    /// From here on, the records of a table come in the order in which they lie there, where a transaction can see to that:
    /// not from several processes at once.
    pub fn in_its_order(&self) -> Result<()> {
        match self.session.is_some() && self.dialect == Dialect::Postgresql {
            true => self.run("SET LOCAL max_parallel_workers_per_gather = 0"),
            false => Ok(()),
        }
    }

    /// What was done in the transaction becomes seen, all of it.
    pub fn commit(&self) -> Result<()> {
        let session = self.session.as_ref().expect("a transaction was begun");
        locked(session).commit().map_err(|error| self.failed("does not take what was written", &error))
    }

    fn connected(&self) -> Result<ManagedConnection> {
        locked(&self.inner).new_connection().map_err(|error| self.failed("cannot be connected to", &error))
    }

    /// Asks for record batches, one after the other; with their columns, which are there before any record is.
    pub fn query(&self, sql: &str, mut visit: impl FnMut(&SchemaRef, Option<RecordBatch>) -> Result<()>) -> Result<()> {
        let (_statement, reader) = self.execute(sql)?;
        let schema = reader.schema();
        visit(&schema, None)?;
        for batch in reader {
            // What Arrow says of it may quote a cell.
            let batch = batch.map_err(|_| self.lost())?;
            visit(&schema, Some(batch))?;
        }
        Ok(())
    }

    fn execute(&self, sql: &str) -> Result<(ManagedStatement, Box<dyn RecordBatchReader + Send>)> {
        let mut statement = self.statement()?;
        statement.set_sql_query(sql).map_err(|error| self.failed("refuses a statement", &error))?;
        let reader = statement.execute().map_err(|error| self.failed("refuses a statement", &error))?;
        Ok((statement, reader))
    }

    fn statement(&self) -> Result<ManagedStatement> {
        let statement = match &self.session {
            Some(session) => locked(session).new_statement(),
            None => self.connected()?.new_statement(),
        };
        statement.map_err(|error| self.failed("refuses a statement", &error))
    }

    /// Does something that has no answer.
    pub fn run(&self, sql: &str) -> Result<()> {
        let mut statement = self.statement()?;
        let mut run = || statement.set_sql_query(sql).and_then(|()| statement.execute_update());
        run().map(drop).map_err(|error| self.failed("refuses a statement", &error))
    }

    /// Puts record batches into a table of this session alone.
    pub fn ingest(&self, table: &str, reader: Box<dyn RecordBatchReader + Send>) -> Result<()> {
        let mut statement = self.statement()?;
        let ingest = || {
            statement.set_option(OptionStatement::TargetTable, OptionValue::String(table.into()))?;
            statement.set_option(OptionStatement::Temporary, OptionValue::String("true".into()))?;
            statement.bind_stream(reader)?;
            statement.execute_update()
        };
        ingest().map(drop).map_err(|error| self.failed("does not take what was written", &error))
    }

    fn failed(&self, what: &str, error: &DriverError) -> Error {
        failed(&self.name, what, error)
    }

    fn lost(&self) -> Error {
        Error::new(ErrorKind::Io, "does not go on in the middle of a table")
            .at(self.name.clone())
            .hint("nothing was written; the connection is lost, or a query meets a cell that it cannot convert")
    }
}

/// An address as others may see it: without who asks, and without settings.
fn shown(address: &str) -> String {
    let address = address.split('?').next().unwrap_or(address);
    match address.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host)),
        None => address.to_string(),
    }
}

/// What became of it, by the state that the SQL standard has a code for, or by the driver's own.
fn failed(name: &str, what: &str, error: &DriverError) -> Error {
    let state: String = error.sqlstate.iter().map(|byte| char::from(*byte as u8)).collect();
    let is_state = state.bytes().all(|byte| byte.is_ascii_alphanumeric()) && state != "00000";
    let state = if is_state { state } else { String::new() };
    let (message, advice) = match (&state[..], error.status) {
        ("42P01", _) => ("there is no such table".to_string(), Some("check the table's name and its schema")),
        ("3F000", _) => ("there is no such schema".to_string(), Some("check the table's name and its schema")),
        ("42703", _) => ("there is no such column".to_string(), None),
        ("42601", _) => ("does not understand the query".to_string(), Some("try it in the engine's own program")),
        ("42P07", _) => ("there is such a table already".to_string(), Some("choose another name, or drop the table")),
        ("42501", _) => ("this user has no right to do that".to_string(), Some("ask whoever runs the database")),
        ("28P01" | "28000", _) | (_, Status::Unauthenticated) => (
            "does not know this user or password".to_string(),
            Some("give the password by the environment (PGPASSWORD) or by ~/.pgpass"),
        ),
        ("40001" | "40P01", _) => ("others wrote to the table under way".to_string(), Some("run the command again")),
        ("42809", _) => ("that is no table".to_string(), Some("choose another name")),
        ("2BP01", _) => (
            "something depends on that table, such as a view".to_string(),
            Some("choose another name, or drop what does"),
        ),
        _ if state.starts_with("08") || state.is_empty() && error.status == Status::IO => {
            let advice = "see whether it is there, whether its address is right, and whether it knows this user";
            (what.to_string(), Some(advice))
        }
        // Of files engines tell nothing but that.
        _ if state.is_empty() && !name.contains("://") => {
            (what.to_string(), Some("another program may have it open, or it is no database of that engine"))
        }
        _ => (what.to_string(), None),
    };
    let code = match (is_state, error.vendor_code) {
        (true, _) => format!(" (state {state})"),
        (false, 0 | i32::MIN) => format!(" ({:?})", error.status),
        (false, code) => format!(" ({:?}, code {code})", error.status),
    };
    let error = Error::new(ErrorKind::Io, format!("{message}{code}")).at(name.to_string());
    match advice {
        Some(advice) => error.hint(advice),
        None => error,
    }
}

/// The driver of an engine: the one that is named, that of the environment, one that is installed as ADBC's are, or as
/// packages of Python are.
fn driver(dialect: Dialect, named: Option<&str>) -> Result<ManagedDriver> {
    let entrypoint: Option<&[u8]> = (dialect == Dialect::Duckdb).then_some(b"duckdb_adbc_init");
    let by_name =
        |name: &str| ManagedDriver::load_from_name(name, entrypoint, AdbcVersion::V110, LOAD_FLAG_DEFAULT, None).ok();
    let by_file = |file: &Path| match file.exists() {
        true => ManagedDriver::load_dynamic_from_filename(file, entrypoint, AdbcVersion::V110).ok(),
        false => None,
    };
    let mut drivers = locked(&DRIVERS);
    let key = format!("{} {}", dialect.driver(), named.unwrap_or_default());
    if let Some(driver) = drivers.get(&key) {
        return Ok(driver.clone());
    }
    let variable = format!("INCROWD_{}_DRIVER", dialect.driver().to_uppercase());
    let said = named.map(str::to_string).or_else(|| std::env::var(&variable).ok().filter(|said| !said.is_empty()));
    let found = match &said {
        Some(said) => by_file(Path::new(said)).or_else(|| by_name(said)),
        None => {
            let (library, package) = match dialect {
                Dialect::Duckdb => ("duckdb".to_string(), None),
                dialect => {
                    let name = format!("adbc_driver_{}", dialect.driver());
                    (name.clone(), Some(name))
                }
            };
            let in_packages = || {
                let package = package.as_ref()?;
                let file = |folder: PathBuf| folder.join(package).join(format!("lib{package}.so"));
                packages().into_iter().map(file).find_map(|file| by_file(&file))
            };
            by_name(dialect.driver()).or_else(|| by_name(&library)).or_else(in_packages)
        }
    };
    let driver = found.ok_or_else(|| no_driver(dialect, said.as_deref()))?;
    drivers.insert(key, driver.clone());
    Ok(driver)
}

/// Where packages of Python are: as whoever runs this knows, and in the environment at hand.
fn packages() -> Vec<PathBuf> {
    let mut folders = locked(&PACKAGES).clone();
    for root in ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(std::env::var_os) {
        let versions = std::fs::read_dir(Path::new(&root).join("lib")).into_iter().flatten().flatten();
        folders.extend(versions.map(|version| version.path().join("site-packages")));
    }
    folders
}

fn no_driver(dialect: Dialect, said: Option<&str>) -> Error {
    let name = dialect.driver();
    let error = match said {
        Some(said) => Error::new(ErrorKind::Io, format!("the driver for {name} cannot be loaded")).at(said.to_string()),
        None => Error::new(ErrorKind::Io, format!("there is no driver for {name}")),
    };
    match dialect {
        Dialect::Duckdb => error.hint(hint(
            "it is in DuckDB's own library: name libduckdb.so with {data.driver} or INCROWD_DUCKDB_DRIVER; DuckDB's releases \
             have it as libduckdb-linux-amd64.zip",
        )),
        Dialect::Sqlite => error.hint(hint(
            "pip install adbc-driver-sqlite, then name libadbc_driver_sqlite.so of that package with {data.driver} or \
             INCROWD_SQLITE_DRIVER; within a virtual environment, and from Python, it is found",
        )),
        Dialect::Spark => error.hint(hint(
            "pip install adbc-driver-flightsql, then name libadbc_driver_flightsql.so of that package with {data.driver} or \
             INCROWD_FLIGHTSQL_DRIVER; within a virtual environment, and from Python, it is found",
        )),
        _ => error.hint(hint(
            "pip install adbc-driver-postgresql, then name libadbc_driver_postgresql.so of that package with {data.driver} or \
             INCROWD_POSTGRESQL_DRIVER; within a virtual environment, and from Python, it is found",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_tells_states_and_codes_and_no_text() {
        let error = |state: &[u8; 5], status: Status, code: i32| DriverError {
            message: "invalid input: \"Smith, 47\"".into(),
            status,
            vendor_code: code,
            sqlstate: state.map(|byte| byte as std::ffi::c_char),
            details: None,
        };
        let told = |error: &DriverError| failed("postgresql://db/clinic", "refuses a statement", error).to_string();
        for (error, words) in [
            (error(b"22P02", Status::InvalidData, 0), "refuses a statement (state 22P02)"),
            (error(b"42P01", Status::NotFound, 0), "there is no such table (state 42P01)"),
            (error(b"42501", Status::Unauthorized, 0), "no right to do that (state 42501)"),
            (error(&[0; 5], Status::Internal, 19), "refuses a statement (Internal, code 19)"),
            (error(&[0; 5], Status::IO, 0), "refuses a statement (IO)"),
        ] {
            assert!(told(&error).contains(words), "{}", told(&error));
            assert!(!told(&error).contains("Smith"), "{}", told(&error));
        }
        assert_eq!(shown("postgresql://curator@db:5432/clinic?sslmode=require"), "postgresql://db:5432/clinic");
    }
}
