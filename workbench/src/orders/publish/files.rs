//! The files of a release: where they go, whether they may, and how they get their names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd::{Error, ErrorKind, Result};

use crate::input::database::Database;
use crate::input::database::dialect::parts_of;
use crate::input::database::place::DatabasePlace;
use crate::input::project::Project;
use crate::output::account::{Key, Minutes};
use crate::output::naming::{Trio, give_names, is_taken};
use crate::output::sink::Format;
use crate::output::staged::Staged;
use crate::sentences::hint;

/// Refuses a place for a release before any work is done.
pub fn prepare(project: &Project, output: &Path, replace: bool) -> Result<Files> {
    let files = Files::beside(output)?;
    files.check(project, replace)?;
    Format::of(output, b',')?;
    Staged::create(output)?;
    Ok(files)
}

/// The release and what stands beside it, and the key that its report will hold.
pub struct Files {
    pub release: PathBuf,
    /// Whether the release is written as distinct rows, each with how many records say it.
    pub rows: bool,
    pub certificate: PathBuf,
    pub report: PathBuf,
    /// The table that the release becomes, where it is no file.
    pub target: Option<Target>,
    pub key: Key,
    /// How several desks have agreed, where they did.
    pub minutes: Option<Minutes>,
}

/// A table of a database that is made in one transaction, with what it is made of.
pub struct Target {
    pub database: Arc<Database>,
    pub table: String,
    /// Whether there is a release of this name, which makes room.
    pub replaces: bool,
}

/// A table that a release becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTable {
    pub name: String,
    /// The database that it is made in; the project's own where none is named.
    pub database: Option<DatabasePlace>,
}

impl NewTable {
    /// A table of the project's database, or of the one at an address.
    pub fn new(name: &str, database: Option<&str>) -> Result<NewTable> {
        let database = database.map(|address| DatabasePlace::new(address, Some(name), None, None)).transpose()?;
        Ok(NewTable { name: name.to_string(), database })
    }
}

/// Refuses a table for a release before any work is done: one without a name, one that is there and is to stay, what may be
/// the table that it is made of. Begins the transaction that makes it: the project as that sees it, and the files that will
/// stand beside it.
pub fn prepare_table(project: &Project, new: &NewTable, replace: bool) -> Result<(Project, Files)> {
    let table = new.name.as_str();
    if parts_of(table).iter().any(String::is_empty) {
        return Err(Error::new(ErrorKind::Request, "the table has no name").hint(hint("for example {into=released}")));
    }
    let own = project.database.as_ref();
    let (project, database) = match new.database.as_ref().filter(|other| own.is_none_or(|own| own.uri != other.uri)) {
        Some(other) => (project.clone(), project.transaction_in(other)?),
        None => project.in_one_transaction()?,
    };
    // An address can be written in several ways, so that a database of the same kind may be the same.
    let may_be_own = |place: &DatabasePlace| place.dialect() == database.dialect && place.asked.may_read(table);
    if project.database.as_ref().is_some_and(may_be_own) {
        return Err(Error::new(ErrorKind::Request, "would replace what it is made of")
            .at(table.to_string())
            .hint(hint("give {into} another name")));
    }
    let is_there = database.has_table(table)?;
    if !replace && is_there {
        return Err(Error::new(ErrorKind::Io, "there is such a table already")
            .at(table.to_string())
            .hint(hint("choose another name, or replace it with {force}")));
    }
    let name: String = table.chars().map(|c| if c == '/' || c == '\\' || c == '"' { '_' } else { c }).collect();
    let files = Files::beside(&project.folder.join(name))?;
    files.check(&project, replace)?;
    if is_there && !files.certificate.exists() {
        // Somebody's own data, for all that is known here.
        return Err(Error::new(
            ErrorKind::Io,
            "there is such a table already, and no certificate says that it is a release",
        )
        .at(table.to_string())
        .hint(hint("nothing was replaced; give {into} another name, or drop the table yourself")));
    }
    let files = Files {
        release: PathBuf::from(table),
        target: Some(Target { database, table: table.into(), replaces: is_there }),
        ..files
    };
    Ok((project, files))
}

impl Files {
    fn beside(release: &Path) -> Result<Files> {
        let with = |ending: &str| {
            let mut name = release.as_os_str().to_owned();
            name.push(ending);
            PathBuf::from(name)
        };
        Ok(Files {
            release: release.to_path_buf(),
            rows: false,
            certificate: with(".certificate.json"),
            report: with(".report.html"),
            target: None,
            minutes: None,
            key: Key::random()?,
        })
    }

    /// Refuses to write over something before any work is done.
    fn check(&self, project: &Project, replace: bool) -> Result<()> {
        let files = [&self.release, &self.certificate, &self.report];
        files.into_iter().try_for_each(|path| project.check_output(path))?;
        if let Some(folder) = files.into_iter().find(|path| path.is_dir()) {
            return Err(Error::new(ErrorKind::Io, "is a folder, not a file").at(folder.display().to_string()));
        }
        match files.into_iter().find(|path| !replace && path.symlink_metadata().is_ok()) {
            Some(path) => Err(is_taken(&self.release, &self.certificate, path)),
            None => Ok(()),
        }
    }
}

/// Gives the files their names: all of them, or none. Where the release is a table, it is there before its certificate is.
pub fn commit(release: Staged, files: &Files, certificate: &str, report: &str, replace: bool) -> Result<()> {
    use std::io::Write;
    let stage = |path: &Path, text: &str| {
        let staged = Staged::create(path)?;
        staged.file().write_all(text.as_bytes()).map_err(|error| crate::io_error(path, error))?;
        Ok::<Staged, Error>(staged)
    };
    let (report, certificate) = (stage(&files.report, report)?, stage(&files.certificate, certificate)?);
    // It has the key.
    report.keep_private()?;
    if let Some(target) = &files.target {
        if replace && files.certificate.exists() {
            // It speaks of the table that is replaced.
            std::fs::remove_file(&files.certificate).map_err(|error| crate::io_error(&files.certificate, error))?;
        }
        target.database.commit()?;
        report.commit(replace)?;
        return certificate.commit(replace);
    }
    give_names(Trio { release, report, certificate }, replace)
}
