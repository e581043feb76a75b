//! Hashes of files: taken of what is read, while it is read, so that nothing else can be meant.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use incrowd::table::Cells;
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

/// The SHA-256 of a table that is no file: of the names of its columns and of all cells, record by record, as they are read.
///
/// # Guarantee
/// Two tables have the same one where they have the same columns and records in the same order, and, as far as SHA-256
/// can be trusted, only there.
pub struct TableHash {
    hasher: Sha256,
    text: String,
}

impl TableHash {
    pub fn new(columns: &[String]) -> TableHash {
        let mut hash = TableHash { hasher: Sha256::new(), text: String::new() };
        hash.hasher.update((columns.len() as u64).to_le_bytes());
        columns.iter().for_each(|name| hash.cell(Some(name)));
        hash
    }

    /// Adds records, with all columns in their order.
    pub fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let schema = batch.schema();
        let columns = schema.fields().iter().zip(batch.columns());
        let cells = columns.map(|(field, column)| Cells::new(field.name(), column)).collect::<Result<Vec<_>>>()?;
        let mut text = std::mem::take(&mut self.text);
        for record in 0..batch.num_rows() {
            for cells in &cells {
                text.clear();
                let is_there = cells.read(record, &mut text);
                self.cell(is_there.then_some(text.as_str()));
            }
        }
        self.text = text;
        Ok(())
    }

    /// With its length before it, so that no two rows of cells are written alike.
    fn cell(&mut self, text: Option<&str>) {
        match text {
            Some(text) => {
                self.hasher.update([1]);
                self.hasher.update((text.len() as u64).to_le_bytes());
                self.hasher.update(text);
            }
            None => self.hasher.update([0]),
        }
    }

    pub fn finish(self) -> String {
        hex(&self.hasher.finalize())
    }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, StringArray};

    use super::*;

    fn hash(names: [&str; 2], first: &[Option<&str>], second: &[i64]) -> String {
        let columns: [ArrayRef; 2] =
            [Arc::new(StringArray::from(first.to_vec())), Arc::new(Int64Array::from(second.to_vec()))];
        let batch = RecordBatch::try_from_iter(names.into_iter().zip(columns)).expect("columns of one length");
        let names = names.map(String::from);
        let [mut whole, mut parts] = [TableHash::new(&names), TableHash::new(&names)];
        whole.add(&batch).expect("it can be read");
        (0..batch.num_rows()).try_for_each(|i| parts.add(&batch.slice(i, 1))).expect("it can be read");
        let hash = whole.finish();
        assert_eq!(hash, parts.finish(), "whatever the batches");
        hash
    }

    #[test]
    fn tables_that_differ_have_other_hashes() {
        let plain = hash(["a", "b"], &[Some("x"), Some("y")], &[11, 2]);
        let others = [
            hash(["a", "c"], &[Some("x"), Some("y")], &[11, 2]),
            hash(["a", "b"], &[Some("y"), Some("x")], &[2, 11]),
            hash(["a", "b"], &[Some("x1"), Some("y")], &[1, 2]),
            hash(["a", "b"], &[Some("x"), None], &[11, 2]),
            hash(["a", "b"], &[Some("x"), Some("")], &[11, 2]),
            hash(["a", "b"], &[Some("x")], &[11]),
        ];
        assert_eq!(plain, hash(["a", "b"], &[Some("x"), Some("y")], &[11, 2]));
        for (i, other) in others.iter().enumerate() {
            assert!(*other != plain && !others[..i].contains(other), "{i}");
        }
    }
}
