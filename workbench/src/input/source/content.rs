//! What a file is, by what it begins with: endings lie, and files come without one.

use std::io::Read;
use std::path::Path;

use incrowd::{Error, ErrorKind, Result};

use super::options::Encoding;

/// As many bytes of a file as are looked at to know what it is.
pub(super) const N_LOOKED_AT: usize = 1 << 20;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    Parquet,
    Gzip,
    Zstd,
    /// Excel's and OpenDocument's sheets.
    Workbook,
    Spss,
    Stata,
    Sas,
    SasTransport,
    Text,
}

impl Content {
    /// What people call such a file.
    pub fn in_words(self) -> &'static str {
        match self {
            Content::Parquet => "a Parquet file",
            Content::Gzip | Content::Zstd => "a compressed file",
            Content::Workbook => "a workbook of Excel or OpenDocument",
            Content::Spss => "a file of SPSS",
            Content::Stata => "a file of Stata",
            Content::Sas => "a data set of SAS",
            Content::SasTransport => "a transport file of SAS",
            Content::Text => "a text",
        }
    }
}

const SAS: &[u8] = b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11";
const TRANSPORT: [&[u8]; 2] =
    [b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!", b"HEADER RECORD*******LIBV8   HEADER RECORD!!!!!!!"];

/// Refuses a file of a kind that cannot be read, by the name that people know it by, and with what to do.
const REFUSED: [(&[u8], &str, &str); 12] = [
    (b"%PDF", "is a PDF", "ask for the table behind it, as CSV or Excel"),
    (b"BZh", "is compressed with bzip2", "unpack it first: bunzip2"),
    (b"\xfd7zXZ", "is compressed with xz", "unpack it first: unxz"),
    (b"7z\xbc\xaf\x27\x1c", "is a 7z archive", "unpack it first, and name the table in it"),
    (b"Rar!", "is a RAR archive", "unpack it first, and name the table in it"),
    (b"ARROW1", "is an Arrow file", "write the table as Parquet"),
    (b"FEA1", "is a Feather file", "write the table as Parquet"),
    (b"ORC", "is an ORC file", "write the table as Parquet"),
    (b"Obj\x01", "is an Avro file", "write the table as Parquet"),
    (b"SQLite format 3\0", "is an SQLite database", "export the table as CSV: sqlite3 -csv -header"),
    (b"RDX", "is a workspace of R", "write the table as Parquet or CSV"),
    (b"\x89HDF", "is an HDF5 file", "write the table as Parquet or CSV"),
];

/// What a file is that begins with these bytes; whatever is nothing else is text.
pub(super) fn of_bytes(start: &[u8], path: &Path) -> Result<Content> {
    let refuse = |what: &str, hint: &str| {
        Err(Error::new(ErrorKind::Data, what).at(path.display().to_string()).hint(hint.to_string()))
    };
    if let Some((_, what, hint)) = REFUSED.iter().find(|(magic, ..)| start.starts_with(magic)) {
        // A text may begin with three letters that mean something else elsewhere.
        if !is_text(start) {
            return refuse(what, hint);
        }
    }
    Ok(match start {
        _ if start.starts_with(b"PAR1") => Content::Parquet,
        _ if start.starts_with(b"PARE") && !is_text(start) => {
            return refuse("is an encrypted Parquet file", "write it without encryption");
        }
        _ if start.starts_with(b"\x1f\x8b") => Content::Gzip,
        _ if start.starts_with(b"\x28\xb5\x2f\xfd") => Content::Zstd,
        _ if start.starts_with(b"PK\x03\x04") && is_workbook(start) => Content::Workbook,
        _ if start.starts_with(b"PK\x03\x04") && start.len() < N_LOOKED_AT && !has_directory(start) => {
            return refuse(
                "is a workbook or a zip archive that is cut off",
                "get it again: copying it was ended early",
            );
        }
        _ if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") => {
            return refuse("is a zip archive", "unpack it first, and name the table in it");
        }
        _ if start.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") => Content::Workbook,
        _ if start.starts_with(b"$FL2") || start.starts_with(b"$FL3") => Content::Spss,
        _ if is_stata(start) => Content::Stata,
        _ if start.get(12..).is_some_and(|rest| rest.starts_with(SAS)) => Content::Sas,
        _ if TRANSPORT.iter().any(|magic| start.starts_with(magic)) => Content::SasTransport,
        _ if start.starts_with(b"{\\rtf") => {
            return refuse("is a text document", "save the table in it as CSV or Excel");
        }
        // What comes before says the same in other alphabets.
        _ if memchr::memmem::find(&start[..start.len().min(512)], b"ASCII SPSS PORT FILE").is_some() => {
            return refuse("is a portable file of SPSS", "open it in SPSS or PSPP and save it as .sav");
        }
        _ if is_html(start) => {
            return refuse(
                "is a web page, whatever its name says",
                "open it in a spreadsheet and save it as .xlsx or CSV; a download may have failed",
            );
        }
        _ => Content::Text,
    })
}

/// Whether a zip archive is one that a spreadsheet program wrote: its parts have names that no other has.
fn is_workbook(start: &[u8]) -> bool {
    let has = |name: &[u8]| memchr::memmem::find(start, name).is_some();
    has(b"xl/") || has(b"[Content_Types].xml") && !has(b"word/") && !has(b"ppt/") || has(b"opendocument.spreadsheet")
}

/// Whether a zip archive has the list of its parts, with which it ends.
fn has_directory(archive: &[u8]) -> bool {
    memchr::memmem::find(archive, b"PK\x05\x06").is_some()
}

/// Stata writes a tag since version 13; before, the version, the order of bytes, and 1.
fn is_stata(start: &[u8]) -> bool {
    start.starts_with(b"<stata_dta>") || matches!(start, [102..=115, 0..=2, 1, 0, ..])
}

fn is_html(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let begins = |tag: &str| start.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag.as_bytes()));
    begins("<!doctype html") || begins("<html")
}

/// Whether bytes can be a text of one byte per character or UTF-8: none of them is zero.
fn is_text(start: &[u8]) -> bool {
    memchr::memchr(0, start).is_none() && !start.iter().take(512).any(|byte| *byte < 9)
}

/// How the characters of a text are written, as its first bytes tell it; and whether that had to be found out.
pub(super) fn encoding_of(start: &[u8], path: &Path) -> Result<(Encoding, bool)> {
    if let Some((known, _)) = encoding_rs::Encoding::for_bom(start) {
        let known = Encoding::parse(known.name()).expect("an encoding has a name");
        return Ok((known, known != Encoding::Utf8));
    }
    // Texts of two bytes per character have every other byte zero, as long as they are in Latin letters.
    let zeros = |from: usize| start.iter().take(4096).skip(from).step_by(2).filter(|byte| **byte == 0).count();
    let n_pairs = start.len().min(4096) / 2;
    if n_pairs > 0 && zeros(1) * 10 >= n_pairs * 7 && zeros(0) * 10 < n_pairs {
        return Ok((Encoding::Utf16Le, true));
    }
    if n_pairs > 0 && zeros(0) * 10 >= n_pairs * 7 && zeros(1) * 10 < n_pairs {
        return Ok((Encoding::Utf16Be, true));
    }
    if memchr::memchr(0, start).is_some() {
        return Err(Error::new(ErrorKind::Data, "is no table that incrowd reads")
            .at(path.display().to_string())
            .hint("it reads CSV, Parquet, Excel, OpenDocument, SPSS, Stata and SAS"));
    }
    match std::str::from_utf8(start) {
        Ok(_) => Ok((Encoding::Utf8, false)),
        // What was looked at may end within a character.
        Err(error) if error.error_len().is_none() => Ok((Encoding::Utf8, false)),
        // Where letters of UTF-8 come first, the text is UTF-8 with an error in it.
        Err(error) if !start[..error.valid_up_to()].is_ascii() => Ok((Encoding::Utf8, false)),
        Err(_) => Ok((Encoding::Windows1252, true)),
    }
}

/// The first bytes of something.
pub(super) fn start_of(reader: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::new();
    reader.take(N_LOOKED_AT as u64).read_to_end(&mut start)?;
    Ok(start)
}
