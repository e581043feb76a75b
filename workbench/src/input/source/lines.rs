//! Lines of CSV that come again: each different one is taken apart once, with how many records it is.
//!
//! In a table of few columns most records are written as others are. Whoever only counts need not look at their fields again:
//! to know a line costs about as much as to find where its fields end. Where lines do not come again, they are not looked for.

use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::chunks::Chunk;

/// Bytes and lines that are remembered at most, before they are given away.
const N_BYTES_MAX: usize = 16 << 20;
const N_LINES_MAX: usize = 1 << 17;

/// A power of two, so that half of them are free as a rule.
const N_SLOTS: usize = 2 * N_LINES_MAX;

/// Places at which a line is looked for.
const N_PROBES: usize = 8;

/// How many pieces are left in peace after the first time that lines did not come again; then four times as many, and so on.
const N_RESTING: usize = 64;

/// The different lines of some pieces, by one thread.
pub(super) struct Lines {
    /// One after the other, each with a line break.
    bytes: Vec<u8>,
    lines: Vec<Line>,
    /// By hash, a part of it and the number of the line, counted from 1.
    slots: Vec<(u32, u32)>,
    /// How many lines of the pieces there were.
    n_seen: u64,
    n_bytes_max: usize,
    /// Pieces that are not looked at any more, and how many it were the last time.
    n_left_resting: usize,
    n_resting: usize,
}

struct Line {
    start: u32,
    /// Without its line break.
    n_bytes: u32,
    n_times: u64,
    /// The line of the table where it came first, and in which piece.
    number: u64,
    order: usize,
}

/// What became of a piece whose lines are remembered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Remembered {
    /// Lines that are to be read in another way: where they are in the piece, and on which line of the table.
    pub others: Vec<(Range<usize>, u64)>,
    /// Whether what is remembered is to be taken before the next piece.
    pub is_full: bool,
}

/// Different lines with how often each came, to be taken apart.
pub(super) struct Different {
    pub bytes: Vec<u8>,
    lines: Vec<Line>,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::of_size(N_BYTES_MAX)
    }
}

impl Lines {
    pub fn of_size(n_bytes_max: usize) -> Lines {
        let (bytes, lines, slots) = (Vec::new(), Vec::new(), Vec::new());
        Lines { bytes, lines, slots, n_seen: 0, n_bytes_max, n_left_resting: 0, n_resting: N_RESTING }
    }

    /// Remembers the lines of a piece, the so manieth that was handed out; none where it is to be read in another way.
    pub fn push(&mut self, chunk: &Chunk, order: usize) -> Option<Remembered> {
        if self.n_left_resting > 0 {
            self.n_left_resting -= 1;
            return None;
        }
        // The first piece names the columns; and a record that goes on in the next line is more than its lines.
        if chunk.index == 0 || chunk.has_open_lines || chunk.bytes.len() >= self.n_bytes_max {
            return None;
        }
        if self.slots.is_empty() {
            self.slots = vec![(0, 0); N_SLOTS];
        }
        let (mut start, mut number, mut others) = (0, chunk.line, Vec::new());
        for end in memchr_iter(b'\n', &chunk.bytes).chain([chunk.bytes.len()]) {
            let line = &chunk.bytes[start..end];
            // A line without anything is no record.
            if !matches!(line, [] | [b'\r']) && !self.knows(line, number, order) {
                others.push((start..end, number));
            }
            (start, number) = (end + 1, number + 1);
            if start >= chunk.bytes.len() {
                break;
            }
        }
        let is_full = self.bytes.len() + chunk.bytes.len() > self.n_bytes_max || self.lines.len() > N_LINES_MAX;
        Some(Remembered { others, is_full })
    }

    /// Counts a line; not one with several records.
    #[inline]
    fn knows(&mut self, line: &[u8], number: u64, order: usize) -> bool {
        let hash = hash(line);
        let (tag, first) = ((hash >> 32) as u32, hash as usize);
        for probe in 0..N_PROBES {
            let slot = self.slots[(first + probe) & (N_SLOTS - 1)];
            if slot.1 == 0 {
                return self.learns(line, number, order, Some(((first + probe) & (N_SLOTS - 1), tag)));
            }
            if slot.0 == tag {
                let known = &mut self.lines[slot.1 as usize - 1];
                let start = known.start as usize;
                if known.n_bytes as usize == line.len() && &self.bytes[start..start + line.len()] == line {
                    known.n_times += 1;
                    self.n_seen += 1;
                    return true;
                }
            }
        }
        // One that finds no place is another one when it comes again, which is as right.
        self.learns(line, number, order, None)
    }

    fn learns(&mut self, line: &[u8], number: u64, order: usize, slot: Option<(usize, u32)>) -> bool {
        // A carriage return without a line break ends a record.
        if memchr(b'\r', line).is_some_and(|at| at + 1 < line.len()) {
            return false;
        }
        if let Some((slot, tag)) = slot {
            self.slots[slot] = (tag, self.lines.len() as u32 + 1);
        }
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(line);
        self.bytes.push(b'\n');
        self.lines.push(Line { start, n_bytes: line.len() as u32, n_times: 1, number, order });
        self.n_seen += 1;
        true
    }

    /// What is remembered, and nothing is any more; none where there is nothing.
    pub fn take(&mut self) -> Option<Different> {
        if self.lines.is_empty() {
            return None;
        }
        if self.n_seen < 2 * self.lines.len() as u64 {
            self.n_left_resting = self.n_resting;
            self.n_resting *= 4;
        }
        self.n_seen = 0;
        self.slots.fill((0, 0));
        Some(Different { bytes: std::mem::take(&mut self.bytes), lines: std::mem::take(&mut self.lines) })
    }
}

impl Different {
    pub fn n_lines(&self) -> usize {
        self.lines.len()
    }

    /// How often each came.
    pub fn n_times(&self) -> impl Iterator<Item = u64> {
        self.lines.iter().map(|line| line.n_times)
    }

    /// The line of the table that stands there, where it came first, and in which piece.
    pub fn place(&self, at: usize) -> (u64, usize) {
        let line = &self.lines[self.lines.partition_point(|line| line.start as usize <= at) - 1];
        (line.number, line.order)
    }
}

/// A hash of a line, sixteen bytes at a time, and at the end those that are left with some before them.
#[inline]
fn hash(line: &[u8]) -> u64 {
    const MIX: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let word = |at: usize| u64::from_le_bytes(line[at..at + 8].try_into().expect("eight bytes"));
    let folded = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let n = line.len();
    let (mut first, mut second) = (MIX[0] ^ n as u64, MIX[1]);
    let mut at = 0;
    while at + 32 <= n {
        first = folded(word(at) ^ first, word(at + 8) ^ MIX[1]);
        second = folded(word(at + 16) ^ second, word(at + 24) ^ MIX[0]);
        at += 32;
    }
    if n >= 16 {
        if at + 16 < n {
            first = folded(word(at) ^ first, word(at + 8) ^ MIX[1]);
        }
        second = folded(word(n - 16) ^ second, word(n - 8) ^ MIX[0]);
    } else {
        let mut last = [0; 16];
        last[..n].copy_from_slice(line);
        let half = |at: usize| u64::from_le_bytes(last[at..at + 8].try_into().expect("eight bytes"));
        first = folded(half(0) ^ first, half(8) ^ MIX[1]);
    }
    folded(first ^ second.rotate_left(32), MIX[0])
}
