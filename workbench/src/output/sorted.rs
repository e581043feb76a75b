//! Puts published records in order, on disk where they do not fit into memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use incrowd::Result;
use incrowd::release::Row;
use rayon::prelude::*;

/// Collects rows, each with how many records say it, and gives them back in increasing order.
///
/// # Guarantee
/// What comes out depends on which rows came in, not on the order in which they came. Every row comes out once.
pub struct Sorter {
    folder: PathBuf,
    n_bytes_max: usize,
    n_bytes: usize,
    rows: Vec<(Row, u64)>,
    /// Sorted files without a name: they vanish with the process.
    runs: Vec<File>,
}

/// What a row takes beside its bytes.
const N_BYTES_PER_ROW: usize = 48;

impl Sorter {
    /// Keeps at most about `n_bytes_max` in memory and spills to files in `folder`.
    pub fn new(folder: &Path, n_bytes_max: usize) -> Sorter {
        Sorter { folder: folder.to_path_buf(), n_bytes_max, n_bytes: 0, rows: Vec::new(), runs: Vec::new() }
    }

    pub fn push(&mut self, row: Row, n_records: u64) -> Result<()> {
        self.n_bytes += row.as_bytes().len() + N_BYTES_PER_ROW;
        self.rows.push((row, n_records));
        if self.n_bytes > self.n_bytes_max { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> Result<()> {
        self.rows.par_sort_unstable();
        let wrong = |error| crate::io_error(&self.folder, error);
        let mut writer = BufWriter::with_capacity(1 << 18, tempfile::tempfile_in(&self.folder).map_err(wrong)?);
        for (row, n_records) in self.rows.drain(..) {
            let bytes = row.as_bytes();
            let length = (bytes.len() as u32).to_le_bytes();
            let mut write = |bytes: &[u8]| writer.write_all(bytes).map_err(wrong);
            write(&length)?;
            write(&n_records.to_le_bytes())?;
            write(bytes)?;
        }
        let mut file = writer.into_inner().map_err(|error| wrong(error.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(wrong)?;
        self.runs.push(file);
        self.n_bytes = 0;
        Ok(())
    }

    /// Visits all rows in order, equal ones at once.
    pub fn for_each(self, mut visit: impl FnMut(Row, u64) -> Result<()>) -> Result<()> {
        let mut last: Option<(Row, u64)> = None;
        self.for_each_pushed(|row, n_records| match &mut last {
            Some((known, n)) if *known == row => {
                *n += n_records;
                Ok(())
            }
            _ => last.replace((row, n_records)).map_or(Ok(()), |(row, n)| visit(row, n)),
        })?;
        last.map_or(Ok(()), |(row, n)| visit(row, n))
    }

    fn for_each_pushed(mut self, mut visit: impl FnMut(Row, u64) -> Result<()>) -> Result<()> {
        self.rows.par_sort_unstable();
        if self.runs.is_empty() {
            return self.rows.into_iter().try_for_each(|(row, n)| visit(row, n));
        }
        if !self.rows.is_empty() {
            self.spill()?;
        }
        let wrong = |error| crate::io_error(&self.folder, error);
        let mut readers: Vec<_> = self.runs.drain(..).map(|file| BufReader::with_capacity(1 << 18, file)).collect();
        let mut heads = BinaryHeap::new();
        for (run, reader) in readers.iter_mut().enumerate() {
            heads.extend(next_row(reader).map_err(wrong)?.map(|row| Reverse((row, run))));
        }
        while let Some(Reverse(((row, n), run))) = heads.pop() {
            visit(row, n)?;
            heads.extend(next_row(&mut readers[run]).map_err(wrong)?.map(|row| Reverse((row, run))));
        }
        Ok(())
    }
}

fn next_row(reader: &mut impl Read) -> std::io::Result<Option<(Row, u64)>> {
    let mut length = [0; 4];
    match reader.read_exact(&mut length) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut n_records = [0; 8];
    reader.read_exact(&mut n_records)?;
    let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
    reader.read_exact(&mut bytes)?;
    Ok(Some((Row::from_bytes(bytes), u64::from_le_bytes(n_records))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spilled_and_kept_rows_come_out_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        // Some of them are the same.
        let rows: Vec<Vec<u8>> = (0u32..5000)
            .map(|i| (i % 3000).wrapping_mul(2_654_435_761).to_be_bytes()[..2 + i as usize % 2].to_vec())
            .collect();
        let sorted = |n_bytes_max: usize, rows: &mut dyn Iterator<Item = &Vec<u8>>| {
            let mut sorter = Sorter::new(folder.path(), n_bytes_max);
            rows.for_each(|row| sorter.push(Row::from_bytes(row.clone()), 3).expect("room"));
            let mut out = Vec::new();
            sorter.for_each(|row, n| Ok(out.push((row, n)))).expect("read back");
            out
        };
        let in_memory = sorted(usize::MAX, &mut rows.iter());
        assert_eq!(in_memory.iter().map(|(_, n)| n).sum::<u64>(), 3 * rows.len() as u64);
        assert!(in_memory.len() < rows.len() && in_memory.iter().any(|(_, n)| *n > 3));
        assert!(in_memory.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(in_memory, sorted(7_000, &mut rows.iter().rev()));
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
    }
}
