//! Hashes of files: taken of what is read, while it is read, so that nothing else can be meant.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::SystemTime;

use incrowd::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};

/// The SHA-256 of a text.
pub fn sha256_of(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// The SHA-256 of a file's content.
pub fn sha256(path: &Path) -> Result<String> {
    let mut file = File::open(path).map_err(|error| crate::io_error(path, error))?;
    let mut hasher = Sha256::new();
    std::io::copy(&mut file, &mut hasher).map_err(|error| crate::io_error(path, error))?;
    Ok(hex(&hasher.finalize()))
}

/// Bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The error for a file that is not what it was when it was read before.
pub fn changed(path: &Path) -> Error {
    Error::new(ErrorKind::Data, "changed while it was being worked with")
        .at(path.display().to_string())
        .hint("nothing was written; run the command again when nobody writes to the data")
}

/// By what a file that was written to differs from before without being read: which file it is, its size and its times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    n_bytes: u64,
    modified: Option<SystemTime>,
    identity: [i64; 4],
}

impl Stamp {
    pub fn of(path: &Path) -> Result<Stamp> {
        let metadata = std::fs::metadata(path).map_err(|error| crate::io_error(path, error))?;
        Ok(Stamp { n_bytes: metadata.len(), modified: metadata.modified().ok(), identity: identity(&metadata) })
    }

    pub fn n_bytes(&self) -> u64 {
        self.n_bytes
    }
}

/// The time of the last change, which nobody can set back, and where the file is.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    [metadata.ctime(), metadata.ctime_nsec(), metadata.ino() as i64, metadata.dev() as i64]
}

/// When the file was made, which another one in its place has later, and when it was written to.
#[cfg(windows)]
fn identity(metadata: &Metadata) -> [i64; 4] {
    use std::os::windows::fs::MetadataExt;
    [metadata.creation_time() as i64, metadata.last_write_time() as i64, i64::from(metadata.file_attributes()), 0]
}

#[cfg(not(any(unix, windows)))]
fn identity(_: &Metadata) -> [i64; 4] {
    [0; 4]
}
