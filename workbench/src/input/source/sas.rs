//! Data sets of SAS, `.sas7bdat`: plain, or with records compressed as characters (RLE) or as bytes (RDC).
//!
//! The format is not published; it is described by those who found it out, as in `vignette("sas7bdat")` of the R package
//! of that name.

use std::io::Read;

use incrowd::{Error, ErrorKind};

use super::held::{Cursor, Decoder, Held, ReadTable, damaged};
use super::options::ReadOptions;
use super::said::Said;
use super::sas_formats::Shown;
use super::stream::FilePlace;

const SAS: &str = "a data set of SAS";

pub(super) fn open(place: &FilePlace, options: &ReadOptions) -> ReadTable {
    let mut bytes = Vec::new();
    place.bytes()?.read_to_end(&mut bytes).map_err(|error| crate::io_error(&place.path, error))?;
    let refuse = |what: String, hint: &str| {
        Error::new(ErrorKind::Data, what).at(place.path.display().to_string()).hint(hint.to_string())
    };
    let decoder = match options.encoding {
        Some(encoding) => Decoder::said(encoding.known()),
        None => {
            let code = bytes.get(70).copied().unwrap_or_default();
            let unknown = || {
                let what = format!("is in an encoding of SAS that incrowd does not know (number {code})");
                refuse(what, "say how it is written with [data] encoding, or write the data set as CSV in UTF-8")
            };
            Decoder::said(encoding_of(code).ok_or_else(unknown)?)
        }
    };
    match read(&bytes, decoder) {
        Ok(held) => Ok(held.finish()),
        Err(Unread::Damaged) => Err(damaged(SAS, &place.path)),
        Err(Unread::Deleted) => Err(refuse(
            "has records that were deleted and are still there".to_string(),
            "copy the data set in SAS, which leaves them out: data new; set old; run;",
        )),
    }
}

/// Why a data set is not read.
enum Unread {
    Damaged,
    Deleted,
}

impl From<()> for Unread {
    fn from((): ()) -> Unread {
        Unread::Damaged
    }
}

/// The encodings that SAS numbers, as far as browsers know them.
fn encoding_of(code: u8) -> Option<&'static encoding_rs::Encoding> {
    let name: &str = match code {
        0 | 28 | 29 | 62 | 204 => "windows-1252",
        20 => "utf-8",
        30 => "iso-8859-2",
        31 => "iso-8859-3",
        32 => "iso-8859-4",
        33 => "iso-8859-5",
        34 => "iso-8859-6",
        35 => "iso-8859-7",
        36 => "iso-8859-8",
        37 | 64 => "windows-1254",
        38 => "iso-8859-10",
        39 | 51 => "windows-874",
        40 => "iso-8859-15",
        49 => "ibm866",
        60 => "windows-1250",
        61 => "windows-1251",
        63 => "windows-1253",
        65 => "windows-1255",
        66 => "windows-1256",
        67 => "windows-1257",
        68 => "windows-1258",
        69 => "macintosh",
        118 | 123 => "big5",
        125 | 205 => "gb18030",
        126 => "gbk",
        134 => "euc-jp",
        136 | 138 => "shift_jis",
        140..=142 => "euc-kr",
        242 => "iso-8859-13",
        _ => return None,
    };
    encoding_rs::Encoding::for_label(name.as_bytes())
}

/// Where a piece of text stands: in which block, from where, how long.
#[derive(Clone, Copy, Default)]
struct TextAt {
    block: usize,
    start: usize,
    n: usize,
}

/// How records are written in short.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Packing {
    Characters,
    Bytes,
}

/// What the file says before and between its records.
struct DataSet<'a> {
    bytes: &'a [u8],
    is_big: bool,
    /// Whether numbers that say where something is have eight bytes.
    is_wide: bool,
    page_size: usize,
    row_size: usize,
    n_records: usize,
    n_on_mixed_page: usize,
    texts: Vec<&'a [u8]>,
    names: Vec<TextAt>,
    formats: Vec<(TextAt, TextAt)>,
    /// Where a cell begins in a record, how long it is, and whether it is a number.
    cells: Vec<(usize, usize, bool)>,
    packing: Option<Packing>,
}

/// A part of a page that says something, or is a record.
struct Piece<'a> {
    bytes: &'a [u8],
    is_packed: bool,
    is_record: bool,
}

struct Page<'a> {
    bytes: &'a [u8],
    kind: u16,
    n_blocks: usize,
    n_pieces: usize,
}

const MIXED: u16 = 0x0200;
const DATA: u16 = 0x0100;

fn read(bytes: &[u8], decoder: Decoder) -> Result<Held, Unread> {
    let is_wide = *bytes.get(32).ok_or(())? == b'3';
    let is_big = *bytes.get(37).ok_or(())? != 1;
    let shift = if bytes[35] == b'3' { 4 } else { 0 };
    let mut cursor = Cursor { bytes, at: 196 + shift, is_big };
    let (header_size, page_size) = (cursor.size().ok_or(())?, cursor.size().ok_or(())?);
    let n_pages = cursor.unsigned(if is_wide { 8 } else { 4 }).ok_or(())?;
    if page_size < 64 || n_pages > (bytes.len() / page_size) as u64 {
        return Err(Unread::Damaged);
    }
    let mut set = DataSet {
        bytes: bytes.get(header_size..).ok_or(())?,
        is_big,
        is_wide,
        page_size,
        row_size: 0,
        n_records: 0,
        n_on_mixed_page: 0,
        texts: Vec::new(),
        names: Vec::new(),
        formats: Vec::new(),
        cells: Vec::new(),
        packing: None,
    };
    let pages: Vec<Page> = (0..n_pages as usize).map(|page| set.page(page)).collect::<Option<_>>().ok_or(())?;
    if pages.iter().any(|page| page.kind & 0x80 != 0) {
        return Err(Unread::Deleted);
    }
    for page in &pages {
        for piece in set.pieces(page).ok_or(())? {
            set.look_at(&piece).ok_or(())?;
        }
    }
    set.table(&pages, decoder).ok_or(Unread::Damaged)
}

impl<'a> DataSet<'a> {
    fn word(&self) -> usize {
        if self.is_wide { 8 } else { 4 }
    }

    fn cursor<'b>(&self, bytes: &'b [u8], at: usize) -> Cursor<'b> {
        Cursor { bytes, at, is_big: self.is_big }
    }

    /// A number of so many bytes at some place.
    fn number(&self, bytes: &[u8], at: usize, n: usize) -> Option<usize> {
        usize::try_from(self.cursor(bytes, at).unsigned(n)?).ok()
    }

    fn page(&self, page: usize) -> Option<Page<'a>> {
        let bytes = self.bytes.get(page.checked_mul(self.page_size)?..)?.get(..self.page_size)?;
        let at = self.page_header();
        let number = |at: usize| self.number(bytes, at, 2);
        Some(Page { bytes, kind: number(at)? as u16, n_blocks: number(at + 2)?, n_pieces: number(at + 4)? })
    }

    /// Where a page says what it is.
    fn page_header(&self) -> usize {
        if self.is_wide { 32 } else { 16 }
    }

    /// Where the list of its pieces ends, behind which the records of a mixed page stand.
    fn pieces_end(&self, page: &Page) -> usize {
        self.page_header() + 8 + page.n_pieces * 3 * self.word()
    }

    fn pieces(&self, page: &Page<'a>) -> Option<Vec<Piece<'a>>> {
        let is_data = page.kind & 0x0f00 == DATA;
        // Pages of kind 0x9000 list what was compressed away.
        if is_data || page.kind & 0x9000 == 0x9000 {
            return Some(Vec::new());
        }
        let mut pieces = Vec::new();
        for i in 0..page.n_pieces {
            let mut cursor = self.cursor(page.bytes, self.page_header() + 8 + i * 3 * self.word());
            let start = usize::try_from(cursor.unsigned(self.word())?).ok()?;
            let n = usize::try_from(cursor.unsigned(self.word())?).ok()?;
            let (packing, kind) = (cursor.unsigned(1)?, cursor.unsigned(1)?);
            // One that is cut off goes on elsewhere, and says nothing.
            if n == 0 || packing == 1 {
                continue;
            }
            let bytes = page.bytes.get(start..start.checked_add(n)?)?;
            pieces.push(Piece { bytes, is_packed: packing == 4, is_record: kind == 1 });
        }
        Some(pieces)
    }

    /// What a piece is: the four bytes that it begins with.
    fn signature(&self, piece: &Piece) -> Option<u32> {
        let first = self.number(piece.bytes, 0, 4)? as u32;
        Some(match self.is_big && self.is_wide && matches!(first, 0 | u32::MAX) {
            true => self.number(piece.bytes, 4, 4)? as u32,
            false => first,
        })
    }

    /// Whether a piece is a record and nothing that is said of the table.
    fn is_record(&self, piece: &Piece) -> bool {
        let is_known = self.signature(piece).is_some_and(|signature| {
            matches!(signature, 0xf7f7_f7f7 | 0xf6f6_f6f6 | 0xffff_fc00 | 0xffff_fbfe | 0xffff_fff8..)
        });
        self.packing.is_some() && piece.is_record && (piece.is_packed || !is_known)
    }

    fn look_at(&mut self, piece: &Piece<'a>) -> Option<()> {
        if self.is_record(piece) {
            return Some(());
        }
        let (bytes, word) = (piece.bytes, self.word());
        match self.signature(piece)? {
            0xf7f7_f7f7 => {
                self.row_size = self.number(bytes, 5 * word, word)?;
                self.n_records = self.number(bytes, 6 * word, word)?;
                self.n_on_mixed_page = self.number(bytes, 15 * word, word)?;
            }
            0xffff_fffd => {
                // What the block says of its length is sometimes too little.
                let text = bytes.get(word..)?;
                let says = |name: &[u8]| memchr::memmem::find(text, name).is_some();
                if self.texts.is_empty() && says(b"SASYZCRL") {
                    self.packing = Some(Packing::Characters);
                } else if self.texts.is_empty() && says(b"SASYZCR2") {
                    self.packing = Some(Packing::Bytes);
                }
                self.texts.push(text);
            }
            0xffff_ffff => {
                for i in 0..(bytes.len().checked_sub(2 * word + 12)?) / 8 {
                    self.names.push(self.text_at(bytes, word + 8 * (i + 1))?);
                }
            }
            0xffff_fffc => {
                let size = word + 8;
                for i in 0..(bytes.len().checked_sub(2 * word + 12)?) / size {
                    let at = word + 8 + i * size;
                    let (start, n) = (self.number(bytes, at, word)?, self.number(bytes, at + word, 4)?);
                    self.cells.push((start, n, *bytes.get(at + word + 6)? == 1));
                }
            }
            0xffff_fbfe => {
                let at = 3 * word + 22;
                self.formats.push((self.text_at(bytes, at)?, self.text_at(bytes, at + 6)?));
            }
            _ => {}
        }
        Some(())
    }

    fn text_at(&self, bytes: &[u8], at: usize) -> Option<TextAt> {
        let number = |at: usize| self.number(bytes, at, 2);
        Some(TextAt { block: number(at)?, start: number(at + 2)?, n: number(at + 4)? })
    }

    fn text(&self, at: TextAt) -> Option<&'a [u8]> {
        if at.n == 0 {
            return Some(&[]);
        }
        let block = self.texts.get(at.block.min(self.texts.len().checked_sub(1)?))?;
        block.get(at.start..at.start.checked_add(at.n)?)
    }

    fn table(&self, pages: &[Page<'a>], decoder: Decoder) -> Option<Held> {
        let n_columns = self.cells.len();
        let fits = |(start, n, is_number): &(usize, usize, bool)| {
            start.checked_add(*n).is_some_and(|end| end <= self.row_size) && (!is_number || (1..=8).contains(n))
        };
        if n_columns == 0 || self.names.len() < n_columns || !self.cells.iter().all(fits) || self.row_size == 0 {
            return None;
        }
        let (mut described, mut shown) = (Vec::new(), Vec::new());
        for (column, name) in self.names[..n_columns].iter().enumerate() {
            let (format, label) = self.formats.get(column).copied().unwrap_or_default();
            shown.push(Shown::of(&decoder.text(self.text(format)?)));
            let label = decoder.text(self.text(label)?).trim_end().to_string();
            let name = decoder.text(self.text(*name)?).trim_end().to_string();
            described.push((name, Said { label, ..Said::default() }));
        }
        let mut reading = Reading { set: self, held: Held::new(described), shown, decoder, n_read: 0 };
        for page in pages {
            self.records(page, &mut reading)?;
        }
        let Reading { held, n_read, .. } = reading;
        (n_read == self.n_records).then_some(held)
    }

    /// Reads the records of a page.
    fn records(&self, page: &Page<'a>, reading: &mut Reading) -> Option<()> {
        for piece in self.pieces(page)?.iter().filter(|piece| self.is_record(piece)) {
            match (self.packing, piece.bytes.len() < self.row_size) {
                (Some(Packing::Characters), true) => {
                    reading.record(&unpacked_characters(piece.bytes, self.row_size)?)?
                }
                (Some(Packing::Bytes), true) => reading.record(&unpacked_bytes(piece.bytes, self.row_size)?)?,
                _ => reading.record(piece.bytes.get(..self.row_size)?)?,
            }
        }
        let (start, n) = match page.kind & 0x0f00 {
            DATA => (self.page_header() + 8, page.n_blocks),
            MIXED => (self.pieces_end(page).next_multiple_of(8), self.n_on_mixed_page),
            _ => return Some(()),
        };
        let n = n.min(self.n_records - reading.n_read);
        let records = page.bytes.get(start..start.checked_add(n.checked_mul(self.row_size)?)?)?;
        records.chunks_exact(self.row_size).try_for_each(|record| reading.record(record))
    }
}

/// Records that are being read.
struct Reading<'a> {
    set: &'a DataSet<'a>,
    held: Held,
    shown: Vec<Shown>,
    decoder: Decoder,
    n_read: usize,
}

impl Reading<'_> {
    fn record(&mut self, record: &[u8]) -> Option<()> {
        if self.n_read == self.set.n_records {
            return Some(());
        }
        for (column, &(start, n, is_number)) in self.set.cells.iter().enumerate() {
            let cell = record.get(start..start + n)?;
            let text = match is_number {
                true => number_of(cell, self.set.is_big).map(|number| self.shown[column].text(number)),
                false => Some(self.decoder.text(trimmed(cell))),
            };
            self.held.push(column, text.as_deref().filter(|text| !text.is_empty()));
        }
        self.held.end_record();
        self.n_read += 1;
        Some(())
    }
}

/// A text without the blanks that fill its place.
pub(super) fn trimmed(bytes: &[u8]) -> &[u8] {
    let n = bytes.iter().rposition(|byte| *byte != b' ' && *byte != 0).map_or(0, |last| last + 1);
    &bytes[..n]
}

/// A number of which the last bytes may be left out; none where it is one of those that mean "no value".
fn number_of(bytes: &[u8], is_big: bool) -> Option<f64> {
    let mut whole = [0; 8];
    match is_big {
        true => whole[..bytes.len()].copy_from_slice(bytes),
        false => whole[8 - bytes.len()..].copy_from_slice(bytes),
    }
    let number = if is_big { f64::from_be_bytes(whole) } else { f64::from_le_bytes(whole) };
    (!number.is_nan()).then_some(number)
}

/// A record whose runs of the same byte were written in short.
fn unpacked_characters(bytes: &[u8], n_record: usize) -> Option<Vec<u8>> {
    let mut unpacked = Vec::with_capacity(n_record);
    let mut cursor = Cursor { bytes, at: 0, is_big: false };
    while cursor.at < bytes.len() {
        let control = cursor.unsigned(1)? as usize;
        let low = control & 0x0f;
        let mut more = |least: usize| Some(cursor.unsigned(1)? as usize + least + low * 256);
        let (n, repeated) = match control >> 4 {
            0x0 => (more(64)?, None),
            0x1 => (more(64 + 4096)?, None),
            0x2 => (low + 96, None),
            0x4 => (more(18)?, Some(cursor.unsigned(1)? as u8)),
            0x5 => (more(17)?, Some(b'@')),
            0x6 => (more(17)?, Some(b' ')),
            0x7 => (more(17)?, Some(0)),
            0x8 => (low + 1, None),
            0x9 => (low + 17, None),
            0xa => (low + 33, None),
            0xb => (low + 49, None),
            0xc => (low + 3, Some(cursor.unsigned(1)? as u8)),
            0xd => (low + 2, Some(b'@')),
            0xe => (low + 2, Some(b' ')),
            0xf => (low + 2, Some(0)),
            _ => return None,
        };
        match repeated {
            Some(byte) => unpacked.resize(unpacked.len() + n, byte),
            None => unpacked.extend_from_slice(cursor.take(n)?),
        }
        if unpacked.len() > n_record {
            return None;
        }
    }
    (unpacked.len() == n_record).then_some(unpacked)
}

/// A record in which what was there before is only pointed to (Ross's data compression).
fn unpacked_bytes(bytes: &[u8], n_record: usize) -> Option<Vec<u8>> {
    let mut unpacked = Vec::with_capacity(n_record);
    let mut cursor = Cursor { bytes, at: 0, is_big: true };
    let (mut bits, mut n_bits) = (0, 0);
    while cursor.at < bytes.len() {
        if n_bits == 0 {
            (bits, n_bits) = (cursor.unsigned(2)?, 16);
            if cursor.at == bytes.len() {
                break;
            }
        }
        n_bits -= 1;
        if bits >> n_bits & 1 == 0 {
            unpacked.push(cursor.unsigned(1)? as u8);
            continue;
        }
        let control = cursor.unsigned(1)? as usize;
        let (command, low) = (control >> 4, control & 0x0f);
        let mut next = || cursor.unsigned(1).map(|byte| byte as usize);
        match command {
            0 => unpacked.resize(unpacked.len() + low + 3, next()? as u8),
            1 => {
                let n = low + (next()? << 4) + 19;
                unpacked.resize(unpacked.len() + n, next()? as u8);
            }
            _ => {
                let back = low + 3 + (next()? << 4);
                let n = if command == 2 { next()? + 16 } else { command };
                let start = unpacked.len().checked_sub(back)?;
                // What is repeated may reach into what it makes.
                (start..start + n).for_each(|i| unpacked.push(unpacked[i]));
            }
        }
        if unpacked.len() > n_record {
            return None;
        }
    }
    (unpacked.len() == n_record).then_some(unpacked)
}
