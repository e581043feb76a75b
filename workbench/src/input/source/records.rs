//! Records of CSV as columns of codes: of each piece the wanted cells, each different text once, as far as that is quick.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StringArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::SchemaRef;

mod plain;

/// Records of a batch at most, of however few bytes they are.
const N_RECORDS_MAX: usize = 128 * 1024;

/// Bytes of a column's texts at most, so that their places fit into 32 bits.
const N_TEXT_BYTES_MAX: usize = 1 << 30;

/// What separates fields, how many there are, and which of them are wanted.
pub(super) struct Layout {
    pub delimiter: u8,
    pub n_fields: usize,
    /// By field, its place among the wanted ones.
    pub place: Vec<Option<usize>>,
    /// The wanted columns.
    pub schema: SchemaRef,
}

/// What is wrong with a record.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bad {
    /// Where the record begins.
    pub at: usize,
    pub what: BadRecord,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum BadRecord {
    Fields(usize),
    /// The field that is not UTF-8.
    Encoding(usize),
}

/// Reads whole records with so many line breaks; `has_header` says whether the first one names the columns.
pub(super) fn read(bytes: &[u8], n_lines: usize, has_header: bool, layout: &Layout) -> Result<Vec<RecordBatch>, Bad> {
    match plain::read(bytes, n_lines, has_header, layout) {
        Some(batches) => Ok(batches),
        None => read_anything(bytes, has_header, layout),
    }
}

/// The same field after field, whatever stands in them; and what is wrong where something is.
pub(super) fn read_anything(bytes: &[u8], has_header: bool, layout: &Layout) -> Result<Vec<RecordBatch>, Bad> {
    let bad_byte = std::str::from_utf8(bytes).err().map(|error| error.valid_up_to());
    let mut reader = Reader { bytes, layout, ends: ends(layout.delimiter), at: 0, bad_byte, scratch: Vec::new() };
    let mut columns = Columns::new(layout, bytes.len());
    let mut batches = Vec::new();
    let mut is_header = has_header;
    while reader.skip_empty_lines() {
        reader.record(&mut columns, is_header)?;
        columns.n_records += usize::from(!is_header);
        is_header = false;
        if columns.is_full() {
            batches.push(columns.finish());
        }
    }
    if columns.n_records > 0 {
        batches.push(columns.finish());
    }
    Ok(batches)
}

/// By byte, whether it ends a field that is not in quotes.
fn ends(delimiter: u8) -> [bool; 256] {
    std::array::from_fn(|byte| byte as u8 == delimiter || byte as u8 == b'\n' || byte as u8 == b'\r')
}

struct Reader<'a> {
    bytes: &'a [u8],
    layout: &'a Layout,
    ends: [bool; 256],
    at: usize,
    /// The first byte that is no part of a character.
    bad_byte: Option<usize>,
    scratch: Vec<u8>,
}

impl Reader<'_> {
    /// Goes to where the next record begins; false at the end.
    fn skip_empty_lines(&mut self) -> bool {
        while matches!(self.bytes.get(self.at), Some(b'\n' | b'\r')) {
            self.at += 1;
        }
        self.at < self.bytes.len()
    }

    fn record(&mut self, columns: &mut Columns, is_header: bool) -> Result<(), Bad> {
        let (start, mut field, mut bad_field) = (self.at, 0, None);
        loop {
            let from = self.at;
            let place = self.layout.place.get(field).copied().flatten().filter(|_| !is_header);
            self.field(place.map(|place| &mut columns.columns[place]));
            if self.bad_byte.is_some_and(|bad| (from..self.at).contains(&bad)) {
                bad_field = Some(field);
            }
            field += 1;
            match self.bytes.get(self.at) {
                Some(&byte) => {
                    self.at += 1;
                    if byte != self.layout.delimiter {
                        break;
                    }
                }
                None => break,
            }
        }
        match bad_field {
            _ if field != self.layout.n_fields => Err(Bad { at: start, what: BadRecord::Fields(field) }),
            Some(bad) => Err(Bad { at: start, what: BadRecord::Encoding(bad) }),
            None => Ok(()),
        }
    }

    /// Goes to the end of a field, and gives its text to the column that wants it.
    #[inline]
    fn field(&mut self, column: Option<&mut TextColumn>) {
        if self.bytes.get(self.at) == Some(&b'"') {
            return self.quoted_field(column);
        }
        let rest = &self.bytes[self.at..];
        let n = rest.iter().position(|byte| self.ends[usize::from(*byte)]).unwrap_or(rest.len());
        self.at += n;
        if let Some(column) = column {
            column.push(self.bytes, self.at - n, self.at);
        }
    }

    /// Whoever cut the pieces has seen to it that quotes are closed where their field ends.
    fn quoted_field(&mut self, column: Option<&mut TextColumn>) {
        self.at += 1;
        let mut from = self.at;
        self.scratch.clear();
        loop {
            let n = memchr::memchr(b'"', &self.bytes[self.at..]).unwrap_or(self.bytes.len() - self.at);
            self.at += n;
            let is_doubled = self.bytes.get(self.at + 1) == Some(&b'"') && self.at < self.bytes.len();
            if !is_doubled {
                break;
            }
            self.scratch.extend_from_slice(&self.bytes[from..=self.at]);
            self.at += 2;
            from = self.at;
        }
        if let Some(column) = column {
            match self.scratch.is_empty() {
                true => column.push(self.bytes, from, self.at),
                false => {
                    self.scratch.extend_from_slice(&self.bytes[from..self.at]);
                    column.push(&self.scratch, 0, self.scratch.len());
                }
            }
        }
        self.at = self.bytes.len().min(self.at + 1);
    }
}

/// The wanted columns of the records so far.
struct Columns<'a> {
    layout: &'a Layout,
    columns: Vec<TextColumn>,
    n_records: usize,
}

impl<'a> Columns<'a> {
    fn new(layout: &'a Layout, n_bytes: usize) -> Columns<'a> {
        // Little to read is not worth much memory.
        let n_slots = (n_bytes / 64).next_power_of_two().clamp(2, N_SLOTS);
        let columns = layout.schema.fields().iter().map(|_| TextColumn::new(n_slots)).collect();
        Columns { layout, columns, n_records: 0 }
    }

    fn is_full(&self) -> bool {
        self.n_records >= N_RECORDS_MAX || self.columns.iter().any(|column| column.texts.len() >= N_TEXT_BYTES_MAX)
    }

    fn finish(&mut self) -> RecordBatch {
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(TextColumn::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(std::mem::take(&mut self.n_records)));
        RecordBatch::try_new_with_options(self.layout.schema.clone(), arrays, &options)
            .expect("every column got one cell per record")
    }
}

/// How many texts a column remembers at most, to know them when they come again.
const N_SLOTS: usize = 1 << 12;

/// One column as codes and their texts. A text that was forgotten gets another code when it comes again: a column of
/// which every cell is different costs no more than its texts.
struct TextColumn {
    codes: Vec<i32>,
    texts: Vec<u8>,
    ends: Vec<i32>,
    /// By the first bits of its hash, the last text that had them.
    slots: Vec<Slot>,
}

/// A text that is known when it comes again.
#[derive(Clone, Copy)]
struct Slot {
    /// The whole text where it is short, otherwise its hash.
    words: (u64, u64),
    n_bytes: u32,
    code: i32,
}

const NO_TEXT: Slot = Slot { words: (0, 0), n_bytes: u32::MAX, code: -1 };

impl TextColumn {
    fn new(n_slots: usize) -> TextColumn {
        TextColumn { codes: Vec::new(), texts: Vec::new(), ends: vec![0], slots: vec![NO_TEXT; n_slots] }
    }

    /// The next cell is the text that stands there.
    #[inline]
    fn push(&mut self, bytes: &[u8], from: usize, to: usize) {
        let code = self.code(bytes, from, to);
        self.codes.push(code);
    }

    #[inline(always)]
    fn code(&mut self, bytes: &[u8], from: usize, to: usize) -> i32 {
        let n = to - from;
        if n > N_SHORT {
            return self.code_of_long(&bytes[from..to]);
        }
        let words = words(bytes, from, n);
        let hash = (words.1 ^ words.0.wrapping_mul(MIX).rotate_left(32) ^ n as u64).wrapping_mul(MIX);
        let slot = self.slot(hash);
        let known = self.slots[slot];
        match known.words == words && known.n_bytes == n as u32 {
            true => known.code,
            false => self.new_text(&bytes[from..to], slot, words),
        }
    }

    #[inline(never)]
    fn code_of_long(&mut self, text: &[u8]) -> i32 {
        let hash = hash(text);
        let slot = self.slot(hash);
        let known = self.slots[slot];
        if known.words == (hash, 0) && known.n_bytes as usize == text.len() {
            let code = known.code as usize;
            if &self.texts[self.ends[code] as usize..self.ends[code + 1] as usize] == text {
                return known.code;
            }
        }
        self.new_text(text, slot, (hash, 0))
    }

    #[inline]
    fn slot(&self, hash: u64) -> usize {
        (hash >> (64 - self.slots.len().trailing_zeros())) as usize
    }

    fn new_text(&mut self, text: &[u8], slot: usize, words: (u64, u64)) -> i32 {
        let code = self.ends.len() as i32 - 1;
        self.texts.extend_from_slice(text);
        self.ends.push(self.texts.len() as i32);
        self.slots[slot] = Slot { words, n_bytes: text.len() as u32, code };
        code
    }

    fn finish(&mut self) -> ArrayRef {
        let n_slots = self.slots.len();
        let TextColumn { codes, texts, ends, .. } = std::mem::replace(self, TextColumn::new(n_slots));
        let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
        let texts = StringArray::try_new(offsets, Buffer::from_vec(texts), None).expect("the bytes were checked");
        let codes = Int32Array::from(codes);
        Arc::new(DictionaryArray::<Int32Type>::try_new(codes, Arc::new(texts)).expect("every code has a text"))
    }
}

/// How long a text is at most that is compared as two numbers.
const N_SHORT: usize = 16;

const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// By how many bytes a short text has, which bits of two numbers are its own.
const OWN_BITS: [(u64, u64); N_SHORT + 1] = {
    let mut bits = [(0, 0); N_SHORT + 1];
    let mut n = 1;
    while n <= N_SHORT {
        bits[n] = match n {
            1..=8 => (u64::MAX >> (64 - 8 * n), 0),
            _ => (u64::MAX, u64::MAX >> (128 - 8 * n)),
        };
        n += 1;
    }
    bits
};

/// A short text as two numbers, which differ where texts of one length do.
#[inline]
fn words(bytes: &[u8], from: usize, n: usize) -> (u64, u64) {
    // Near the end there are no sixteen bytes to load.
    let mut padded = [0; N_SHORT];
    let loaded: &[u8; N_SHORT] = match bytes.get(from..from + N_SHORT) {
        Some(loaded) => loaded.try_into().expect("sixteen bytes"),
        None => {
            padded[..n].copy_from_slice(&bytes[from..from + n]);
            &padded
        }
    };
    let [first, second] = [&loaded[..8], &loaded[8..]].map(|half| u64::from_le_bytes(half.try_into().expect("eight")));
    (first & OWN_BITS[n].0, second & OWN_BITS[n].1)
}

/// A hash of a text, eight bytes at a time.
fn hash(text: &[u8]) -> u64 {
    let mut hash = text.len() as u64;
    let mut words = text.chunks_exact(8);
    for word in &mut words {
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(word.try_into().expect("eight bytes"))).wrapping_mul(MIX);
    }
    let mut last = 0;
    for &byte in words.remainder() {
        last = last << 8 | u64::from(byte);
    }
    (hash.rotate_left(5) ^ last).wrapping_mul(MIX)
}
