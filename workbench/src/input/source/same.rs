//! Whether a table is still the one that was read: hashes of files, fingerprints of what somebody else holds.

use ::csv as csv_crate;
use arrow_array::RecordBatch;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};
use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::stream::{FilePlace, Packing, Stream};
use super::{Part, Source, csv, fingerprint, names, parquet};
use crate::input::digest::{changed, hex};

impl Source {
    /// The SHA-256 of each file that was read; of a table in memory, that of the CSV file that it would make.
    ///
    /// # Guarantee
    /// It is that of the content that every reading of this source has seen: a CSV file is hashed whenever it is read, and
    /// a reading that meets another content than the first is an error, as is a file of another kind, or of a source that
    /// is not hashed while it is read, that was written to.
    pub fn sha256(&self) -> Result<Vec<String>> {
        (0..self.parts.len()).map(|part| self.sha256_of_part(part)).collect()
    }

    fn sha256_of_part(&self, part: usize) -> Result<String> {
        let known = self.hashes[part].get();
        match &self.parts[part] {
            // Whoever holds a frame may have written to it; files are looked at whenever they are read.
            Part::Held { file: None, .. } if known.is_some() && self.fingerprint.get().is_some() => {
                self.check_same()?
            }
            Part::Held { file: None, .. } => {
                self.remember(part, self.sha256_of_frame()?)?;
                self.check_same()?;
            }
            // No file; what was counted there is known by its counts.
            Part::Database(_) => return Ok(String::new()),
            _ if known.is_some() => {}
            Part::Csv(csv::CsvFile { place, .. }) if self.is_hashed => self.remember(part, sha256_of_place(place)?)?,
            Part::Csv(csv::CsvFile { place, .. })
            | Part::Parquet(parquet::ParquetFile { place, .. })
            | Part::Held { file: Some(place), .. } => {
                let hash = sha256_of_place(place)?;
                place.check()?;
                self.remember(part, hash)?;
            }
        }
        Ok(self.hashes[part].get().expect("it was just remembered").clone())
    }

    /// Keeps the hash of the first reading, and refuses another content later.
    pub(super) fn remember(&self, part: usize, hash: String) -> Result<()> {
        match *self.hashes[part].get_or_init(|| hash.clone()) == hash {
            true => Ok(()),
            false => Err(changed(self.files()[part])),
        }
    }

    /// Takes the fingerprint of a table in memory, so that [`Source::check_same`] knows it again; before it is read.
    pub fn pin(&self) {
        if self.is_frame() {
            self.fingerprint.get_or_init(|| fingerprint::of(self.held()));
        }
    }

    fn held(&self) -> impl Iterator<Item = &RecordBatch> {
        self.parts.iter().flat_map(|part| match part {
            Part::Held { pieces, .. } => pieces.as_slice(),
            _ => &[],
        })
    }

    /// Refuses a table that is not the one that was read, for those who do not read it again.
    ///
    /// # Guarantee
    /// What it passes has the content of the reading before, as far as sizes and times of a file tell, or else its hash; and
    /// of a table in memory the fingerprint that was taken of it ([`Source::pin`]).
    pub fn check_same(&self) -> Result<()> {
        for (part, known) in self.parts.iter().zip(&self.hashes) {
            match part {
                Part::Parquet(file) => file.place.check()?,
                Part::Held { file: Some(place), .. } => place.check()?,
                Part::Held { file: None, name, .. } => match self.fingerprint.get() {
                    Some(known) if fingerprint::of(self.held()) != *known => return Err(changed(name)),
                    _ => {}
                },
                // Somebody may have written the same once more.
                Part::Csv(file) => match (file.place.check(), known.get()) {
                    (Err(_), Some(known)) if sha256_of_place(&file.place)? == *known => {}
                    (checked, _) => checked?,
                },
                // What was counted is one state of it, and a release of that state.
                Part::Database(_) => {}
            }
        }
        Ok(())
    }

    /// The texts of the file are made on all threads; a hash is made of them in their order.
    fn sha256_of_frame(&self) -> Result<String> {
        let names = names(&self.stored);
        let mut hasher = Sha256::new();
        hasher.update(in_csv(|writer| writer.write_record(&names))?);
        let pieces: Vec<&RecordBatch> = self.held().collect();
        for at_once in pieces.chunks(2 * rayon::current_num_threads()) {
            let texts: Result<Vec<Vec<u8>>> = at_once.par_iter().map(|batch| csv_of(&names, batch)).collect();
            texts?.iter().for_each(|text| hasher.update(text));
        }
        Ok(hex(&hasher.finalize()))
    }
}

/// The lines that a batch would be in a CSV file.
fn csv_of(names: &[String], batch: &RecordBatch) -> Result<Vec<u8>> {
    let mut texts = vec![String::new(); names.len()];
    // A column of a type that cannot be read cannot be published either: it is hashed as empty.
    let cells = names.iter().zip(batch.columns()).map(|(name, column)| Cells::new(name, column).ok());
    let cells: Vec<Option<Cells>> = cells.collect();
    in_csv(|writer| {
        (0..batch.num_rows()).try_for_each(|record| {
            for (cells, text) in cells.iter().zip(&mut texts) {
                text.clear();
                if let Some(cells) = cells {
                    cells.read(record, text);
                }
            }
            writer.write_record(&texts)
        })
    })
}

fn in_csv(write: impl FnOnce(&mut csv_crate::Writer<Vec<u8>>) -> csv_crate::Result<()>) -> Result<Vec<u8>> {
    let mut writer = csv_crate::Writer::from_writer(Vec::new());
    write(&mut writer).expect("memory takes any record");
    writer.into_inner().map_err(|_| Error::new(ErrorKind::Io, "could not be hashed"))
}

fn sha256_of_place(place: &FilePlace) -> Result<String> {
    let stream = Stream::unpacked(place, Packing::Plain)?.hashed();
    let hash = stream.sha256().map_err(|error| crate::io_error(&place.path, error))?;
    Ok(hash.expect("it was asked for"))
}
