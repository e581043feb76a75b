//! The files of a release: where they go, whether they may, and how they get their names.

use std::path::{Path, PathBuf};

use incrowd::{Error, ErrorKind, Result};

use crate::input::project::Project;
use crate::output::account::Key;
use crate::output::naming::{Trio, give_names, is_taken};
use crate::output::sink::Format;
use crate::output::staged::Staged;

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
    pub certificate: PathBuf,
    pub report: PathBuf,
    pub key: Key,
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
            certificate: with(".certificate.json"),
            report: with(".report.html"),
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

/// Gives the files their names: all of them, or none.
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
    give_names(Trio { release, report, certificate }, replace)
}
