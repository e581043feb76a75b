//! The quick way for pieces of CSV as nearly all are: without quotes, every record on a line of its own, and as many fields
//! in each. First all ends of fields are found, 64 bytes at a time; then one column is read after the other.

use std::cell::RefCell;

use arrow_array::RecordBatch;

use super::{Columns, Layout, N_RECORDS_MAX, N_TEXT_BYTES_MAX};

/// Reads whole records as [`super::read_anything`] does; none where a piece is not plain, or something is wrong with it.
pub(super) fn read(bytes: &[u8], n_lines: usize, has_header: bool, layout: &Layout) -> Option<Vec<RecordBatch>> {
    thread_local! {
        /// Where fields end: the memory of the piece before serves the next.
        static ENDS: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
    }
    if bytes.last() != Some(&b'\n') || bytes.len() >= N_TEXT_BYTES_MAX || layout.n_fields == 0 {
        return None;
    }
    ENDS.with_borrow_mut(|memory| {
        let (n_ends, others) = ends(bytes, layout.delimiter, memory);
        let is_plain = !others.has_quote_or_return && (others.is_ascii || std::str::from_utf8(bytes).is_ok());
        if is_plain { columns(bytes, &memory[..n_ends], n_lines, has_header, layout) } else { None }
    })
}

/// The columns of records whose fields end there; none where not every line has as many.
fn columns(bytes: &[u8], ends: &[u32], n_lines: usize, has_header: bool, layout: &Layout) -> Option<Vec<RecordBatch>> {
    let n_fields = layout.n_fields;
    // Where every line has an end of a field for each field, the last of them is where the line ends.
    let ends_line = |record: &[u32]| bytes[record[n_fields - 1] as usize] == b'\n';
    if ends.len() != n_lines * n_fields || !ends.chunks_exact(n_fields).all(ends_line) {
        return None;
    }
    // Of one column, a line without anything is no record.
    if n_fields == 1 && (bytes[0] == b'\n' || ends.windows(2).any(|pair| pair[0] + 1 == pair[1])) {
        return None;
    }
    let mut columns = Columns::new(layout, bytes.len());
    let first = if has_header { n_fields } else { 0 };
    let mut start = if has_header { ends[n_fields - 1] as usize + 1 } else { 0 };
    let mut batches = Vec::new();
    for records in ends[first..].chunks(N_RECORDS_MAX * n_fields) {
        for (field, place) in layout.place.iter().enumerate() {
            let Some(column) = place.map(|place| &mut columns.columns[place]) else { continue };
            let mut codes = Vec::with_capacity(records.len() / n_fields);
            let records = records.chunks_exact(n_fields);
            match field {
                0 => {
                    let mut from = start;
                    codes.extend(records.map(|record| {
                        let code = column.code(bytes, from, record[0] as usize);
                        from = record[n_fields - 1] as usize + 1;
                        code
                    }));
                }
                _ => codes.extend(
                    records.map(|record| column.code(bytes, record[field - 1] as usize + 1, record[field] as usize)),
                ),
            }
            column.codes = codes;
        }
        start = records.last().map_or(start, |end| *end as usize + 1);
        columns.n_records = records.len() / n_fields;
        batches.push(columns.finish());
    }
    Some(batches)
}

/// What else there is in a piece.
struct Others {
    has_quote_or_return: bool,
    is_ascii: bool,
}

/// Where fields end: at every separator and line break. They are written to the beginning of `ends`, and how many there are
/// is returned.
fn ends(bytes: &[u8], delimiter: u8, ends: &mut Vec<u32>) -> (usize, Others) {
    let mut n = 0;
    let (mut quotes, mut high) = (0, 0);
    if ends.len() < bytes.len() / 8 + N_BLOCK {
        ends.resize(bytes.len() / 8 + N_BLOCK, 0);
    }
    let blocks = bytes.chunks_exact(N_BLOCK);
    let rest = blocks.remainder();
    for (i, block) in blocks.enumerate() {
        let block: &[u8; N_BLOCK] = block.try_into().expect("a whole block");
        let mut found = found(block, delimiter);
        let (quote, any) = others(block);
        quotes |= quote;
        high |= any;
        let n_found = found.count_ones() as usize;
        if ends.len() < n + N_BLOCK {
            ends.resize(2 * ends.len() + N_BLOCK, 0);
        }
        let next: &mut [u32; N_BLOCK] = (&mut ends[n..n + N_BLOCK]).try_into().expect("there is room");
        // Some too many, which the next block writes over, are quicker than a question after each.
        for some in next.chunks_exact_mut(8).take(n_found.div_ceil(8)) {
            for end in some {
                *end = (i * N_BLOCK) as u32 + found.trailing_zeros();
                found &= found.wrapping_sub(1);
            }
        }
        n += n_found;
    }
    let start = bytes.len() - rest.len();
    ends.resize(ends.len().max(n + rest.len()), 0);
    for (i, byte) in rest.iter().enumerate() {
        quotes |= u8::from(*byte == b'"') | u8::from(*byte == b'\r');
        high |= byte;
        if *byte == delimiter || *byte == b'\n' {
            ends[n] = (start + i) as u32;
            n += 1;
        }
    }
    (n, Others { has_quote_or_return: quotes != 0, is_ascii: high < 0x80 })
}

/// Whether a block has quotes or carriage returns, and the bits of all its bytes.
#[inline]
fn others(block: &[u8; N_BLOCK]) -> (u8, u8) {
    let (mut quotes, mut any) = (0, 0);
    for byte in block {
        quotes |= u8::from(*byte == b'"') | u8::from(*byte == b'\r');
        any |= byte;
    }
    (quotes, any)
}

/// Bytes that are looked at together.
const N_BLOCK: usize = 64;

/// Which bytes of a block end a field, as bits. The compiler makes of the first loop a few instructions for all of them.
#[inline]
fn found(block: &[u8; N_BLOCK], delimiter: u8) -> u64 {
    let mut is_end = [0; N_BLOCK];
    for (is_end, byte) in is_end.iter_mut().zip(block) {
        *is_end = u8::from(*byte == delimiter) | u8::from(*byte == b'\n');
    }
    let mut bits = 0;
    for (i, eight) in is_end.chunks_exact(8).enumerate() {
        // Eight bytes that are 0 or 1, as eight bits.
        let eight = u64::from_le_bytes(eight.try_into().expect("eight bytes"));
        bits |= (eight.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
    }
    bits
}
