//! CSV read the plain way, by one thread and a library, to hold the quick way against.

use std::io::Read;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use incrowd::table::Cells;
use proptest::prelude::*;

use super::chunks::{Broken, Chunk, Chunks};
use super::csv::text_type;
use super::lines::Lines;
use super::records::{Bad, BadRecord, Layout, read};

/// What comes of a table: its cells by record, or the line of the first error and what it is.
type Read_ = Result<Vec<Vec<String>>, (u64, String)>;

/// Quotes that are not closed where their field ends, byte by byte: the line on which the first was opened, and where its
/// record begins.
fn unclosed(bytes: &[u8], delimiter: u8) -> Option<(u64, usize)> {
    let (mut state, mut line, mut opened, mut record) = (0, 1, 1, 0);
    for (at, &byte) in bytes.iter().enumerate() {
        let ends_field = byte == delimiter || byte == b'\n' || byte == b'\r';
        state = match (state, byte) {
            (0 | 1, _) if ends_field => 0,
            (0, b'"') => {
                opened = line;
                2
            }
            (0 | 1, _) => 1,
            (2, b'"') => 3,
            (2, _) => 2,
            (_, b'"') => 2,
            _ if ends_field => 0,
            _ => return Some((opened, record)),
        };
        if state == 0 && byte != delimiter {
            record = at + 1;
        }
        line += u64::from(byte == b'\n');
    }
    (state == 2).then_some((opened, record))
}

/// The line on which a record really begins: after the line breaks that the library has not passed yet.
fn line_of(bytes: &[u8], start: usize) -> u64 {
    let is_break = |at: usize| at < bytes.len() && matches!(bytes[at], b'\n' | b'\r');
    let begin = (start..).find(|at| !is_break(*at)).expect("the text ends");
    1 + bytes[..begin.min(bytes.len())].iter().filter(|byte| **byte == b'\n').count() as u64
}

fn plainly(bytes: &[u8], delimiter: u8, columns: &[usize]) -> Read_ {
    // What stands before a bad quote is read first, up to the record that it is in.
    let broken = unclosed(bytes, delimiter);
    let bytes = &bytes[..broken.map_or(bytes.len(), |(_, record)| record)];
    let mut reader = ::csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(bytes);
    let n_fields = reader.byte_headers().expect("a header").len();
    let (mut rows, mut record) = (Vec::new(), ::csv::ByteRecord::new());
    while reader.read_byte_record(&mut record).expect("bytes in memory") {
        let line = line_of(bytes, record.position().expect("a place").byte() as usize);
        if record.len() != n_fields {
            return Err((line, format!("{} fields", record.len())));
        }
        if let Some(bad) = (0..n_fields).find(|field| std::str::from_utf8(&record[*field]).is_err()) {
            return Err((line, format!("field {bad} is not UTF-8")));
        }
        rows.push(columns.iter().map(|field| String::from_utf8(record[*field].to_vec()).expect("UTF-8")).collect());
    }
    broken.map_or(Ok(rows), |(line, _)| Err((line, "quote".into())))
}

fn cells_of(batches: &[RecordBatch], rows: &mut Vec<Vec<String>>) {
    for batch in batches {
        let cells: Vec<Cells> = batch.columns().iter().map(|column| Cells::new("x", column).expect("texts")).collect();
        for record in 0..batch.num_rows() {
            let mut text = String::new();
            rows.push(
                cells
                    .iter()
                    .map(|cells| {
                        cells.read(record, &mut text);
                        text.clone()
                    })
                    .collect(),
            );
        }
    }
}

/// Where fields are, and which columns are wanted.
fn layout(bytes: &[u8], delimiter: u8, columns: &[usize]) -> Layout {
    let n_fields =
        ::csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes).byte_headers().expect("a header").len();
    let field = |column: &usize| Field::new(column.to_string(), text_type(), true);
    let schema = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
    let place = (0..n_fields).map(|field| columns.iter().position(|column| *column == field)).collect();
    Layout { delimiter, n_fields, place, schema }
}

fn what_is_bad(what: &BadRecord) -> String {
    match what {
        BadRecord::Fields(n) => format!("{n} fields"),
        BadRecord::Encoding(field) => format!("field {field} is not UTF-8"),
    }
}

fn line_in(chunk: &Chunk, bad: &Bad) -> u64 {
    chunk.line + chunk.bytes[..bad.at].iter().filter(|b| **b == b'\n').count() as u64
}

/// The quick way, in pieces of some size.
fn quickly(bytes: &[u8], delimiter: u8, columns: &[usize], n_chunk_bytes: usize) -> Read_ {
    let layout = layout(bytes, delimiter, columns);
    let mut chunks = Chunks::of_size(bytes, delimiter, n_chunk_bytes);
    let mut rows = Vec::new();
    loop {
        match chunks.next() {
            Ok(Some(chunk)) => match read(&chunk.bytes, chunk.n_lines, chunk.index == 0, &layout) {
                Ok(batches) => cells_of(&batches, &mut rows),
                Err(bad) => return Err((line_in(&chunk, &bad), what_is_bad(&bad.what))),
            },
            Ok(None) => return Ok(rows),
            Err(Broken::Quote { line }) => return Err((line, "quote".into())),
            Err(Broken::Io(error)) => panic!("{error}"),
        }
    }
}

/// Each different line once, as often as it came; the records in no order, and of several errors the first.
fn line_by_line(bytes: &[u8], columns: &[usize], n_chunk_bytes: usize, n_bytes_max: usize) -> Read_ {
    let layout = layout(bytes, b',', columns);
    let mut chunks = Chunks::of_size(bytes, b',', n_chunk_bytes);
    let (mut lines, mut rows, mut errors, mut order) = (Lines::of_size(n_bytes_max), Vec::new(), Vec::new(), 0);
    let finish = |lines: &mut Lines, rows: &mut Vec<Vec<String>>, errors: &mut Vec<(usize, u64, String)>| {
        let Some(different) = lines.take() else { return };
        match read(&different.bytes, different.n_lines(), false, &layout) {
            Ok(batches) => {
                let mut once = Vec::new();
                cells_of(&batches, &mut once);
                assert_eq!(once.len(), different.n_lines());
                for (row, n_times) in once.into_iter().zip(different.n_times()) {
                    rows.extend(std::iter::repeat_n(row, n_times as usize));
                }
            }
            Err(bad) => {
                let (line, order) = different.place(bad.at);
                errors.push((order, line, what_is_bad(&bad.what)));
            }
        }
    };
    while errors.is_empty() {
        let chunk = match chunks.next() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            Err(Broken::Quote { line }) => {
                errors.push((order, line, "quote".into()));
                break;
            }
            Err(Broken::Io(error)) => panic!("{error}"),
        };
        match lines.push(&chunk, order) {
            Some(remembered) => {
                for (range, line) in remembered.others {
                    match read(&chunk.bytes[range], 0, false, &layout) {
                        Ok(batches) => cells_of(&batches, &mut rows),
                        Err(bad) => errors.push((order, line, what_is_bad(&bad.what))),
                    }
                }
                if remembered.is_full {
                    finish(&mut lines, &mut rows, &mut errors);
                }
            }
            None => match read(&chunk.bytes, chunk.n_lines, chunk.index == 0, &layout) {
                Ok(batches) => cells_of(&batches, &mut rows),
                Err(bad) => errors.push((order, line_in(&chunk, &bad), what_is_bad(&bad.what))),
            },
        }
        order += 1;
    }
    finish(&mut lines, &mut rows, &mut errors);
    match errors.into_iter().min() {
        Some((_, line, what)) => Err((line, what)),
        None => Ok(rows),
    }
}

fn in_some_order(read: Read_) -> Read_ {
    read.map(|mut rows| {
        rows.sort();
        rows
    })
}

/// Lines of fields, most of them right: quotes, doubled quotes, line breaks in quotes, empty lines, letters of all lengths.
fn nasty() -> impl Strategy<Value = Vec<u8>> {
    let bare =
        prop::sample::select(vec!["", "a", "bc", " x ", "7", "é", "日本", "a\"b", "long text that goes on and on"]);
    let quoted = prop::sample::select(vec![
        "\"\"",
        "\"a,b\"",
        "\"a\"\"b\"",
        "\"\"\"\"",
        "\"line\nbreak\"",
        "\"cr\r\nlf\"",
        "\"é;\"",
    ]);
    let bad = prop::sample::select(vec![&b"\"open"[..], b"\"a\"b", b"\xff", b"a\xc3"]);
    let field = prop_oneof![
        60 => bare.prop_map(|text| text.as_bytes().to_vec()),
        38 => quoted.prop_map(|text| text.as_bytes().to_vec()),
        1 => bad.prop_map(<[u8]>::to_vec),
    ];
    let fields =
        prop_oneof![40 => prop::collection::vec(field.clone(), 3..=3), 1 => prop::collection::vec(field, 1..5)];
    let end = prop::sample::select(vec!["\n", "\r\n", "\n\n", "\r"]);
    let line = (fields, end).prop_map(|(fields, end)| [fields.join(&b","[..]), end.as_bytes().to_vec()].concat());
    (prop::collection::vec(line, 0..30), any::<bool>()).prop_map(|(lines, has_end)| {
        let mut bytes = [&b"first,\"se\ncond\",third\n"[..], &lines.concat()].concat();
        if !has_end {
            bytes.pop();
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn pieces_on_many_threads_are_the_table_read_plainly(bytes in nasty(), n_chunk_bytes in 1usize..200) {
        for columns in [vec![0, 1, 2], vec![1], vec![]] {
            prop_assert_eq!(quickly(&bytes, b',', &columns, n_chunk_bytes), plainly(&bytes, b',', &columns));
        }
    }

    #[test]
    fn lines_that_come_again_are_as_many_records(bytes in nasty(), n_chunk_bytes in 1usize..200, n_bytes_max in 1usize..400) {
        for columns in [vec![0, 1, 2], vec![1]] {
            let counted = line_by_line(&bytes, &columns, n_chunk_bytes, n_bytes_max);
            prop_assert_eq!(in_some_order(counted), in_some_order(plainly(&bytes, b',', &columns)));
        }
    }
}

/// Lines without quotes, most of them with three fields, of lengths around those at which texts are compared otherwise.
fn plain() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        30 => "[ab]{0,3}", 10 => "[ab]{7,9}", 10 => "[ab]{15,18}", 5 => "é{0,9}", 2 => "[ab]{60,70}",
    ];
    let line = |n: prop::collection::SizeRange| {
        prop::collection::vec(field.clone(), n).prop_map(|fields| fields.join(",") + "\n")
    };
    let line = prop_oneof![400 => line((3..=3).into()), 1 => line((1..5).into()), 1 => Just("\n".to_string()), 1 => Just("\r\n".to_string())];
    (prop::collection::vec(line, 0..60), any::<bool>()).prop_map(|(lines, has_end)| {
        let mut bytes = format!("first,second,third\n{}", lines.concat()).into_bytes();
        bytes.truncate(bytes.len() - usize::from(!has_end));
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn plain_pieces_are_read_as_any_others(bytes in plain(), n_chunk_bytes in 1usize..2_000) {
        for columns in [vec![0, 1, 2], vec![2], vec![0], vec![]] {
            let quickly = quickly(&bytes, b',', &columns, n_chunk_bytes);
            prop_assert_eq!(&quickly, &plainly(&bytes, b',', &columns));
            let counted = line_by_line(&bytes, &columns, n_chunk_bytes, 8 * n_chunk_bytes);
            prop_assert_eq!(in_some_order(counted), in_some_order(quickly));
        }
        // Of one column, where nothing has to be separated.
        let lines = String::from_utf8(bytes).expect("letters").replace(',', "x");
        prop_assert_eq!(quickly(lines.as_bytes(), b',', &[0], n_chunk_bytes), plainly(lines.as_bytes(), b',', &[0]));
    }
}

#[test]
fn a_field_too_few_is_not_made_good_by_one_too_many() {
    let bytes = b"a,b,c\n1,2,3\n1,2\n1,2,3,4\n1,2,3\n";
    assert_eq!(quickly(bytes, b',', &[0, 2], 1 << 16), Err((3, "2 fields".to_string())));
    assert_eq!(plainly(bytes, b',', &[0, 2]), Err((3, "2 fields".to_string())));
}

#[test]
fn a_text_that_is_forgotten_and_comes_again_is_the_same_text() {
    let n = 30_000;
    let text = |i: usize| format!("value {}", i * 7 % 20_011);
    let bytes: String = std::iter::once("a\n".to_string()).chain((0..n).map(|i| text(i) + "\n")).collect();
    let rows = quickly(bytes.as_bytes(), b',', &[0], 1 << 16).expect("a table");
    assert!(rows.iter().enumerate().all(|(i, row)| row[0] == text(i)) && rows.len() == n);
}

#[test]
fn one_byte_at_a_time_is_enough() {
    struct Slow<'a>(&'a [u8]);
    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = self.0.len().min(1).min(buffer.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }
    let bytes = b"a,b\n1,\"2\n3\"\n4,5";
    let mut chunks = Chunks::of_size(Slow(bytes), b',', 3);
    let mut all = Vec::new();
    while let Some(chunk) = chunks.next().expect("whole records") {
        all.push(String::from_utf8(chunk.bytes.clone()).expect("a text"));
    }
    assert_eq!(all, ["a,b\n", "1,\"2\n3\"\n", "4,5"]);
}
