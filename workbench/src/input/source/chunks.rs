//! CSV in pieces that end where a record ends, so that every piece can be read on its own.
//!
//! Whether a line break ends a record depends on all quotes before it, so that somebody has to look at the bytes in their
//! order. That is quick: where there is no quote, the last line break is the border, and only quotes are looked at.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use memchr::{memchr, memchr_iter, memrchr, memrchr2};

/// Bytes per piece, about: as many records as what is done once per batch does not show for.
const N_CHUNK_BYTES: usize = 4 << 20;

/// Some whole records of a CSV file.
pub(super) struct Chunk {
    /// How many pieces came before.
    pub index: usize,
    pub bytes: Vec<u8>,
    /// The line on which it begins, and how many line breaks it has.
    pub line: u64,
    pub n_lines: usize,
    /// Whether a record may go on after a line break.
    pub has_open_lines: bool,
    spare: Spare,
}

/// Memory of pieces that nobody needs any more, for the next ones: new memory is filled with zeros first.
type Spare = Arc<Mutex<Vec<Vec<u8>>>>;

impl Drop for Chunk {
    fn drop(&mut self) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.bytes));
    }
}

/// Why there is no next piece.
#[derive(Debug)]
pub(super) enum Broken {
    /// A quote is not closed where its field ends; the line is where it was opened.
    Quote {
        line: u64,
    },
    Io(std::io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuoteState {
    FieldStart,
    Bare,
    Quoted,
    /// After a quote within quotes: the end of the field, or the first half of a doubled quote.
    Closing,
}

/// Cuts a stream of CSV into pieces.
///
/// A quote that is not closed where its field ends is refused: a reader that forgives it would take the records that
/// follow for a part of the field, and a release would show them whole.
pub(super) struct Chunks<R> {
    inner: R,
    delimiter: u8,
    n_chunk_bytes: usize,
    /// What has been read and not been given away is the first part of it; it begins where a record does.
    buffer: Vec<u8>,
    n_read: usize,
    spare: Spare,
    /// How much of it has been looked at, and the last border in that.
    n_seen: usize,
    border: usize,
    state: QuoteState,
    opened_at: usize,
    /// Where the last line break in quotes is, of what has not been given away.
    open_line: Option<usize>,
    line: u64,
    index: usize,
    is_end: bool,
    broken: Option<Broken>,
}

impl<R: Read> Chunks<R> {
    pub fn new(inner: R, delimiter: u8) -> Chunks<R> {
        Chunks::of_size(inner, delimiter, N_CHUNK_BYTES)
    }

    pub fn of_size(inner: R, delimiter: u8, n_chunk_bytes: usize) -> Chunks<R> {
        Chunks {
            inner,
            delimiter,
            n_chunk_bytes,
            buffer: Vec::new(),
            n_read: 0,
            spare: Spare::default(),
            n_seen: 0,
            border: 0,
            state: QuoteState::FieldStart,
            opened_at: 0,
            open_line: None,
            line: 1,
            index: 0,
            is_end: false,
            broken: None,
        }
    }

    pub fn inner(&self) -> &R {
        &self.inner
    }

    /// The next whole records; none at the end.
    pub fn next(&mut self) -> Result<Option<Chunk>, Broken> {
        loop {
            if let Some(broken) = self.broken.take() {
                return Err(broken);
            }
            if self.is_end {
                return Ok(None);
            }
            self.fill().map_err(Broken::Io)?;
            let seen = self.look();
            if let Err(line) = seen {
                // What stands before it may be wrong in another way, which comes first.
                (self.broken, self.is_end) = (Some(Broken::Quote { line }), true);
            }
            let end = if self.is_end && seen.is_ok() { self.n_read } else { self.border };
            if end > 0 {
                return Ok(Some(self.cut(end)));
            }
        }
    }

    /// Reads on until there is enough for a piece.
    fn fill(&mut self) -> std::io::Result<()> {
        // A record may be longer than a piece.
        let n_wanted = self.n_chunk_bytes.max(self.n_read + self.n_read / 2 + 1);
        self.buffer.resize(n_wanted, 0);
        while self.n_read < n_wanted {
            match self.inner.read(&mut self.buffer[self.n_read..]) {
                Ok(0) => {
                    self.is_end = true;
                    break;
                }
                Ok(more) => self.n_read += more,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Follows the quotes through what was read; where one is not closed, the line on which it was opened.
    fn look(&mut self) -> Result<(), u64> {
        let bytes = &self.buffer[..self.n_read];
        let after = |byte: u8| match byte == self.delimiter || byte == b'\n' || byte == b'\r' {
            true => QuoteState::FieldStart,
            false => QuoteState::Bare,
        };
        let mut at = self.n_seen;
        while at < bytes.len() {
            match self.state {
                QuoteState::FieldStart | QuoteState::Bare => {
                    let n = memchr(b'"', &bytes[at..]).unwrap_or(bytes.len() - at);
                    let before = &bytes[at..at + n];
                    if let Some(last) = memrchr2(b'\n', b'\r', before) {
                        self.border = at + last + 1;
                    }
                    self.state = before.last().map_or(self.state, |&last| after(last));
                    at += n;
                    if at < bytes.len() {
                        if self.state == QuoteState::FieldStart {
                            (self.state, self.opened_at) = (QuoteState::Quoted, at);
                        }
                        at += 1;
                    }
                }
                QuoteState::Quoted => {
                    let n = memchr(b'"', &bytes[at..]);
                    let quoted = &bytes[at..n.map_or(bytes.len(), |n| at + n)];
                    if let Some(last) = memrchr(b'\n', quoted) {
                        self.open_line = Some(at + last);
                    }
                    match n {
                        Some(n) => (self.state, at) = (QuoteState::Closing, at + n + 1),
                        None => at = bytes.len(),
                    }
                }
                QuoteState::Closing => {
                    let byte = bytes[at];
                    self.state = match after(byte) {
                        _ if byte == b'"' => QuoteState::Quoted,
                        QuoteState::FieldStart => QuoteState::FieldStart,
                        _ => return Err(self.line_of(self.opened_at)),
                    };
                    at += 1;
                    if self.state == QuoteState::FieldStart && byte != self.delimiter {
                        self.border = at;
                    }
                }
            }
        }
        self.n_seen = at;
        match self.is_end && self.state == QuoteState::Quoted {
            true => Err(self.line_of(self.opened_at)),
            false => Ok(()),
        }
    }

    fn line_of(&self, at: usize) -> u64 {
        self.line + memchr_iter(b'\n', &self.buffer[..at]).count() as u64
    }

    fn cut(&mut self, end: usize) -> Chunk {
        let rest = &self.buffer[end..self.n_read];
        let mut next = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        if next.len() < rest.len() {
            next.resize(rest.len(), 0);
        }
        next[..rest.len()].copy_from_slice(rest);
        self.n_read = rest.len();
        let mut bytes = std::mem::replace(&mut self.buffer, next);
        bytes.truncate(end);
        let n_lines = memchr_iter(b'\n', &bytes).count();
        let (index, line, has_open_lines) = (self.index, self.line, self.open_line.is_some());
        let chunk = Chunk { index, line, n_lines, has_open_lines, bytes, spare: self.spare.clone() };
        self.line += n_lines as u64;
        self.index += 1;
        self.n_seen = self.n_seen.saturating_sub(end);
        self.opened_at = self.opened_at.saturating_sub(end);
        // What has not been given away may have one too.
        self.open_line = self.open_line.and_then(|last| last.checked_sub(end));
        self.border = 0;
        chunk
    }
}
