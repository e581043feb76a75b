//! Parquet of runs: a column in which few cells differ from the one before them costs what its runs cost, not its records.
//!
//! The library looks every cell up in the dictionary of its column, and a release is in order: of twenty million cells all but
//! some thousands say what the cell above them says. What does not repeat itself is left to the library.

use std::collections::HashMap;
use std::iter::repeat_n;

use arrow_schema::DataType;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, Type, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriteSpec, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::columns::whole;

/// More runs in a chunk, or more bytes of different texts, and the library does as well.
const N_RUNS_MAX: usize = 1 << 15;
const N_BYTES_MAX: usize = 1 << 20;

/// A run has this many cells on average, and what has less after so many runs is not waited for.
const N_CELLS_PER_RUN: usize = 4;
const N_RUNS_FIRST: usize = 1 << 10;

/// Records per page.
const N_PAGE: usize = 1 << 16;

/// Longer texts are no bounds for anybody.
const N_BOUND_MAX: usize = 64;

pub const ZSTD_LEVEL: i32 = 3;

/// The cells of a column, equal ones that follow each other at once.
#[derive(Default)]
pub struct Runs {
    /// Every different text, in the order of appearance.
    texts: Vec<String>,
    places: HashMap<String, u32>,
    n_bytes: usize,
    /// By run the place of its text and one more, 0 where there is no value; and how many cells it has.
    runs: Vec<(u32, usize)>,
    n_cells: usize,
}

impl Runs {
    /// Whether a column of this type can be written from runs.
    pub fn are_for(physical: Type) -> bool {
        matches!(physical, Type::INT32 | Type::INT64 | Type::DOUBLE | Type::BYTE_ARRAY)
    }

    pub fn push(&mut self, cell: Option<&str>, n: usize) {
        self.n_cells += n;
        let code = match cell {
            None => 0,
            Some(text) => match self.runs.last() {
                Some(&(code @ 1.., _)) if self.texts[code as usize - 1] == text => code,
                _ => self.code_of(text),
            },
        };
        match self.runs.last_mut() {
            Some((known, n_known)) if *known == code => *n_known += n,
            _ => self.runs.push((code, n)),
        }
    }

    fn code_of(&mut self, text: &str) -> u32 {
        if let Some(code) = self.places.get(text) {
            return *code;
        }
        self.texts.push(text.to_string());
        self.n_bytes += text.len() + 4;
        let code = u32::try_from(self.texts.len()).expect("there are fewer texts than runs");
        self.places.insert(text.to_string(), code);
        code
    }

    /// Whether there are more than are kept.
    pub fn are_too_many(&self) -> bool {
        let is_hopeless = self.runs.len() > N_RUNS_FIRST && !self.are_long();
        self.runs.len() > N_RUNS_MAX || self.n_bytes > N_BYTES_MAX || is_hopeless
    }

    fn are_long(&self) -> bool {
        N_CELLS_PER_RUN * self.runs.len() <= self.n_cells
    }

    /// Whether they are few for so many cells, and one of them has a value.
    pub fn are_worth_it(&self) -> bool {
        !self.are_too_many() && self.are_long() && !self.texts.is_empty()
    }

    /// The cells again, with how many there are of each.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&str>, usize)> {
        self.runs.iter().map(|&(code, n)| ((code as usize).checked_sub(1).map(|place| self.texts[place].as_str()), n))
    }

    /// The bytes of the column, a dictionary and pages of places in it, and what the file says of them. No bytes where a text is
    /// no value of the type.
    pub fn written(&self, data_type: &DataType, column: &ColumnDescPtr) -> Result<Option<(Bytes, ColumnCloseResult)>> {
        let n_nulls: usize = self.runs.iter().filter(|(code, _)| *code == 0).map(|(_, n)| n).sum();
        let Some((dictionary, bounds)) = plain(&self.texts, data_type, column.physical_type(), n_nulls as u64) else {
            return Ok(None);
        };
        let mut out = TrackedWrite::new(Vec::new());
        let mut pages =
            Pages { writer: SerializedPageWriter::new(&mut out), zstd: compressor()?, n_stored: 0, n_plain: 0 };
        let n_values = self.texts.len() as u32;
        let of_dictionary =
            |buf| Page::DictionaryPage { buf, num_values: n_values, encoding: Encoding::PLAIN, is_sorted: false };
        pages.write(&dictionary, of_dictionary)?;
        let width = (u32::BITS - (n_values - 1).leading_zeros()).max(1);
        let (mut first, mut n_pages) = (None, 0);
        for runs in self.pages() {
            let has_nulls = column.max_def_level() > 0;
            let page = page_of(&runs, width, has_nulls);
            let of_page = |buf| Page::DataPage {
                buf,
                num_values: runs.iter().map(|(_, n)| *n as u32).sum(),
                encoding: Encoding::RLE_DICTIONARY,
                def_level_encoding: Encoding::RLE,
                rep_level_encoding: Encoding::RLE,
                statistics: None,
            };
            let written = pages.write(&page, of_page)?;
            first.get_or_insert(written.offset);
            n_pages += 1;
        }
        let Pages { n_stored, n_plain, .. } = pages;
        let level = ZstdLevel::try_new(ZSTD_LEVEL).expect("it is a level of zstd");
        let stats = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
        let metadata = ColumnChunkMetaData::builder(column.clone())
            .set_compression(Compression::ZSTD(level))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
                stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, n_pages),
            ])
            .set_num_values(self.n_cells as i64)
            .set_total_compressed_size(n_stored)
            .set_total_uncompressed_size(n_plain)
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(first.unwrap_or_default() as i64)
            .set_statistics(bounds)
            .build()?;
        let bytes = out.into_inner()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.n_cells as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok(Some((bytes.into(), close)))
    }

    /// The runs of every page.
    fn pages(&self) -> Vec<Vec<(u32, usize)>> {
        let mut pages: Vec<Vec<(u32, usize)>> = Vec::new();
        let mut n_free = 0;
        for &(code, n) in &self.runs {
            let mut n_left = n;
            while n_left > 0 {
                if n_free == 0 {
                    pages.push(Vec::new());
                    n_free = N_PAGE;
                }
                let n = n_left.min(n_free);
                pages.last_mut().expect("one was begun").push((code, n));
                n_left -= n;
                n_free -= n;
            }
        }
        pages
    }
}

fn compressor() -> Result<zstd::bulk::Compressor<'static>> {
    Ok(zstd::bulk::Compressor::new(ZSTD_LEVEL)?)
}

/// The pages of a column as they are written, with their bytes so far, stored and unpacked.
struct Pages<'a> {
    writer: SerializedPageWriter<'a, Vec<u8>>,
    zstd: zstd::bulk::Compressor<'static>,
    n_stored: i64,
    n_plain: i64,
}

impl Pages<'_> {
    fn write(&mut self, plain: &[u8], page: impl FnOnce(Bytes) -> Page) -> Result<PageWriteSpec> {
        let stored = self.zstd.compress(plain)?;
        let written = self.writer.write_page(CompressedPage::new(page(stored.into()), plain.len()))?;
        self.n_stored += written.compressed_size as i64;
        self.n_plain += written.uncompressed_size as i64;
        Ok(written)
    }
}

/// A page before it is compressed: which cells have a value, and the places of those in the dictionary.
fn page_of(runs: &[(u32, usize)], width: u32, has_nulls: bool) -> Vec<u8> {
    let mut page = Vec::new();
    if has_nulls {
        page.extend([0; 4]);
        pack(&mut page, 1, runs.iter().map(|(code, n)| (u32::from(*code > 0), *n)));
        let n_bytes = (page.len() - 4) as u32;
        page[..4].copy_from_slice(&n_bytes.to_le_bytes());
    }
    page.push(width as u8);
    pack(&mut page, width, runs.iter().filter(|(code, _)| *code > 0).map(|(code, n)| (code - 1, *n)));
    page
}

/// Numbers of so many bits: runs of eight or more as one number, others packed side by side by eights.
fn pack(out: &mut Vec<u8>, width: u32, runs: impl Iterator<Item = (u32, usize)>) {
    let mut single = Vec::new();
    for (number, n) in runs {
        let n_before = n.min(single.len().next_multiple_of(8) - single.len());
        single.extend(repeat_n(number, n_before));
        match n - n_before {
            n @ 8.. => {
                pack_single(out, width, &mut single);
                push_number(out, (n as u64) << 1);
                out.extend(&number.to_le_bytes()[..width.div_ceil(8) as usize]);
            }
            n => single.extend(repeat_n(number, n)),
        }
    }
    pack_single(out, width, &mut single);
}

fn pack_single(out: &mut Vec<u8>, width: u32, single: &mut Vec<u32>) {
    if single.is_empty() {
        return;
    }
    single.resize(single.len().next_multiple_of(8), 0);
    push_number(out, ((single.len() / 8) as u64) << 1 | 1);
    let (mut bits, mut n_bits) = (0_u64, 0);
    for number in single.drain(..) {
        bits |= u64::from(number) << n_bits;
        n_bits += width;
        while n_bits >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            n_bits -= 8;
        }
    }
}

/// Seven bits in a byte, the lowest first; the eighth says that more follow.
fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// The texts as a dictionary stores them, with the least and the greatest; nothing where one of them is no value of the type.
fn plain(texts: &[String], data_type: &DataType, physical: Type, n_nulls: u64) -> Option<(Vec<u8>, Statistics)> {
    let nulls = Some(n_nulls);
    let wholes = || texts.iter().map(|text| whole(data_type, text)).collect::<Option<Vec<i128>>>();
    Some(match physical {
        Type::INT32 => {
            let numbers = wholes()?;
            let bound = |number: Option<&i128>| number.map(|number| *number as i32);
            let bounds = (bound(numbers.iter().min()), bound(numbers.iter().max()));
            let bytes = numbers.iter().flat_map(|number| (*number as i32).to_le_bytes()).collect();
            (bytes, Statistics::int32(bounds.0, bounds.1, None, nulls, false))
        }
        Type::INT64 => {
            let numbers = wholes()?;
            let bound = |number: Option<&i128>| number.map(|number| *number as i64);
            let bounds = (bound(numbers.iter().min()), bound(numbers.iter().max()));
            let bytes = numbers.iter().flat_map(|number| (*number as i64).to_le_bytes()).collect();
            (bytes, Statistics::int64(bounds.0, bounds.1, None, nulls, false))
        }
        Type::DOUBLE => {
            let numbers = texts.iter().map(|text| text.parse().ok()).collect::<Option<Vec<f64>>>()?;
            // What is no number has no place among them, and 0 is there with either sign.
            let is_ordered = numbers.iter().all(|number| !number.is_nan());
            let least = numbers.iter().copied().reduce(f64::min).filter(|_| is_ordered);
            let greatest = numbers.iter().copied().reduce(f64::max).filter(|_| is_ordered);
            let signed = |bound: Option<f64>, zero: f64| bound.map(|bound| if bound == 0.0 { zero } else { bound });
            let bytes = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            (bytes, Statistics::double(signed(least, -0.0), signed(greatest, 0.0), None, nulls, false))
        }
        Type::BYTE_ARRAY => {
            let mut bytes = Vec::new();
            for text in texts {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text.as_bytes());
            }
            let are_short = texts.iter().all(|text| text.len() <= N_BOUND_MAX);
            let bound = |text: Option<&String>| text.filter(|_| are_short).map(|text| ByteArray::from(text.as_str()));
            (bytes, Statistics::byte_array(bound(texts.iter().min()), bound(texts.iter().max()), None, nulls, false))
        }
        _ => return None,
    })
}
