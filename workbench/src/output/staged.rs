//! Files that appear under their final name whole, or not at all.

use crate::sentences::hint;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use incrowd::{Error, ErrorKind, Result};

/// A file being written that nobody else can see yet.
///
/// On Linux it has no name until it is committed, so that not even a power cut leaves something behind;
/// elsewhere it has a temporary name that is removed when it is dropped.
pub struct Staged {
    file: File,
    path: PathBuf,
    name: Option<tempfile::TempPath>,
}

impl Staged {
    /// Begins a file that will be called `path`.
    pub fn create(path: &Path) -> Result<Staged> {
        let folder = folder_of(path);
        if !folder.is_dir() {
            return Err(Error::new(ErrorKind::Io, "there is no such folder").at(folder.display().to_string()));
        }
        if let Some(file) = unnamed(folder) {
            return Ok(Staged { file, path: path.to_path_buf(), name: None });
        }
        let named = tempfile::Builder::new()
            .prefix(".incrowd-")
            .suffix(".partial")
            .tempfile_in(folder)
            .map_err(|error| crate::io_error(path, error))?;
        let (file, name) = named.into_parts();
        Ok(Staged { file, path: path.to_path_buf(), name: Some(name) })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// A path under which this process can read what has been written.
    pub fn readable_path(&self) -> PathBuf {
        match &self.name {
            Some(name) => name.to_path_buf(),
            None => path_of(&self.file),
        }
    }

    /// Lets nobody but its owner read it.
    pub fn keep_private(&self) -> Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let private = std::fs::Permissions::from_mode(0o600);
            self.file.set_permissions(private).map_err(|error| crate::io_error(&self.path, error))?;
        }
        Ok(())
    }

    /// Makes the content durable, so that giving it its name is all that is left to do.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_all().map_err(|error| crate::io_error(&self.path, error))
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the file and its name durable.
    pub fn commit(self, replace: bool) -> Result<()> {
        let path = self.path.clone();
        self.sync()?;
        self.give_name(replace)?;
        sync_folder_of(&path)
    }

    /// Gives the file its name; whether that survives a power cut is up to [`sync_folder_of`].
    pub fn give_name(self, replace: bool) -> Result<()> {
        static N_PASSING: AtomicU64 = AtomicU64::new(0);
        let number = N_PASSING.fetch_add(1, Ordering::Relaxed);
        let passing = folder_of(&self.path).join(format!(".incrowd-{}-{number}.partial", std::process::id()));
        self.give_name_through(&passing, replace)
    }

    /// The same; a name can be replaced only by renaming another one over it, which is `passing`.
    pub fn give_name_through(self, passing: &Path, replace: bool) -> Result<()> {
        let wrong = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => exists(&self.path),
            _ => crate::io_error(&self.path, error),
        };
        fault_point().map_err(wrong)?;
        if let Some(name) = self.name {
            let persisted = if replace { name.persist(&self.path) } else { name.persist_noclobber(&self.path) };
            return persisted.map_err(|error| wrong(error.error));
        }
        if !replace {
            return link(&self.file, &self.path).map_err(wrong);
        }
        link(&self.file, passing).map_err(wrong)?;
        fault_point().and_then(|()| std::fs::rename(passing, &self.path)).map_err(|error| {
            let _ = std::fs::remove_file(passing);
            wrong(error)
        })
    }
}

/// Makes durable which names a file's folder has.
pub fn sync_folder_of(path: &Path) -> Result<()> {
    // Not every system lets a folder be opened, and not every file system has something to do here.
    let Ok(folder) = File::open(folder_of(path)) else { return Ok(()) };
    use std::io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match fault_point().and_then(|()| folder.sync_all()) {
        Err(error) if !matches!(error.kind(), InvalidInput | Unsupported | PermissionDenied) => {
            Err(crate::io_error(path, error))
        }
        _ => Ok(()),
    }
}

/// Stands between two calls of the system: a test looks here at what a kill would leave, or makes the next call fail.
#[cfg(not(test))]
pub(crate) fn fault_point() -> std::io::Result<()> {
    Ok(())
}

#[cfg(test)]
pub(crate) use tests::fault_point;

/// The error for a file that is there already.
pub fn exists(path: &Path) -> Error {
    Error::new(ErrorKind::Io, "is there already").at(path.display().to_string()).hint(hint("replace it with {force}"))
}

/// Writes a small file whole or not at all.
pub fn write_whole(path: &Path, content: &[u8], replace: bool) -> Result<()> {
    let staged = Staged::create(path)?;
    staged.file().write_all(content).map_err(|error| crate::io_error(path, error))?;
    staged.commit(replace)
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

#[cfg(target_os = "linux")]
fn unnamed(folder: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> Option<File> {
    None
}

/// A path to a file without a name, for this process.
#[cfg(target_os = "linux")]
fn path_of(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
fn path_of(_: &File) -> PathBuf {
    unreachable!("only Linux has files without a name")
}

#[cfg(target_os = "linux")]
fn link(file: &File, path: &Path) -> std::io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    Ok(rustix::fs::linkat(CWD, path_of(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> std::io::Result<()> {
    unreachable!("only Linux has files without a name")
}

/// Refuses a place for a picture before any work is done; `endings` are those that a picture may have.
pub fn check_picture(path: &Path, endings: &[&str], replace: bool) -> Result<()> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
    if !endings.contains(&ending) {
        let known: Vec<String> = endings.iter().map(|ending| format!(".{ending}")).collect();
        return Err(Error::new(ErrorKind::Request, format!("a chart is written as {}", known.join(" or ")))
            .at(path.display().to_string())
            .hint(format!("for example -o chart.{}", endings[0])));
    }
    if !replace && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    Staged::create(path).map(|_| ())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::RefCell;

    type Fault = Box<dyn FnMut() -> std::io::Result<()>>;

    thread_local! {
        static FAULT: RefCell<Option<Fault>> = const { RefCell::new(None) };
    }

    /// Works, and asks `fault` between two calls of the system what comes next.
    pub(crate) fn with_faults<T>(fault: impl FnMut() -> std::io::Result<()> + 'static, work: impl FnOnce() -> T) -> T {
        FAULT.set(Some(Box::new(fault)));
        let done = work();
        FAULT.set(None);
        done
    }

    pub(crate) fn fault_point() -> std::io::Result<()> {
        // Taken out meanwhile: what it does is not disturbed itself.
        let Some(mut fault) = FAULT.take() else { return Ok(()) };
        let next = fault();
        FAULT.set(Some(fault));
        next
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("release.csv");
        let staged = Staged::create(&path).expect("staged");
        staged.file().write_all(b"half").expect("written");
        assert_eq!(std::fs::read(staged.readable_path()).expect("readable"), b"half");
        drop(staged);
        assert!(names(folder.path()).is_empty());
        write_whole(&path, b"whole", false).expect("written");
        assert!(write_whole(&path, b"other", false).is_err());
        assert_eq!(std::fs::read(&path).expect("there"), b"whole");
        write_whole(&path, b"other", true).expect("replaced");
        assert_eq!(names(folder.path()), ["release.csv"]);
        assert_eq!(std::fs::read(&path).expect("there"), b"other");
    }
}
