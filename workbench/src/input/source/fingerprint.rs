//! A quick hash of tables in memory: whether somebody has written to one since.
//!
//! It tells what happens by accident. Nothing is claimed by it: marks and certificates have SHA-256.

use std::hash::Hasher;

use arrow_array::{Array, ArrayRef, RecordBatch, StringViewArray, cast::AsArray};
use arrow_schema::DataType;
use incrowd::table::Cells;
use rayon::prelude::*;
use rustc_hash::FxHasher;

/// Of everything that these batches show, on all threads.
pub(super) fn of<'a>(batches: impl Iterator<Item = &'a RecordBatch>) -> u64 {
    let columns: Vec<(usize, &ArrayRef)> =
        batches.flat_map(|batch| batch.columns().iter().map(|column| (batch.num_rows(), column))).collect();
    let one = |(n_rows, column): &(usize, &ArrayRef)| {
        let mut hasher = FxHasher::default();
        hasher.write_usize(*n_rows);
        add(column, &mut hasher);
        hasher.finish()
    };
    let hashes: Vec<u64> = columns.par_iter().map(one).collect();
    let mut hasher = FxHasher::default();
    hashes.into_iter().for_each(|hash| hasher.write_u64(hash));
    hasher.finish()
}

fn add(column: &ArrayRef, hasher: &mut FxHasher) {
    if let Some(nulls) = column.nulls() {
        hasher.write(&nulls.inner().sliced());
    }
    let (data, n) = (column.to_data(), column.len());
    let bytes = |buffer: usize, width: usize, n: usize| {
        &data.buffers()[buffer].as_slice()[data.offset() * width..(data.offset() + n) * width]
    };
    match column.data_type() {
        DataType::Utf8 => {
            let array = column.as_string::<i32>();
            hasher.write(bytes(0, 4, n + 1));
            hasher.write(&array.value_data()[array.value_offsets()[0] as usize..array.value_offsets()[n] as usize]);
        }
        DataType::LargeUtf8 => {
            let array = column.as_string::<i64>();
            hasher.write(bytes(0, 8, n + 1));
            hasher.write(&array.value_data()[array.value_offsets()[0] as usize..array.value_offsets()[n] as usize]);
        }
        DataType::Utf8View => add_views(column.as_string_view(), hasher),
        DataType::Dictionary(..) => {
            let dictionary = column.as_any_dictionary();
            dictionary.normalized_keys().into_iter().for_each(|key| hasher.write_usize(key));
            add(dictionary.values(), hasher);
        }
        kind => match kind.primitive_width() {
            Some(width) => hasher.write(bytes(0, width, n)),
            None => add_texts(column, hasher),
        },
    }
}

/// Texts of up to 12 bytes stand in their view, with their length; of others the view says where they are.
fn add_views(array: &StringViewArray, hasher: &mut FxHasher) {
    let views = array.views();
    if array.null_count() == 0 && views.iter().all(|view| *view as u32 <= 12) {
        return add_numbers(views, hasher);
    }
    for (i, view) in views.iter().enumerate() {
        match *view as u32 {
            _ if array.is_null(i) => hasher.write_u8(0),
            0..=12 => {
                hasher.write_u64(*view as u64);
                hasher.write_u64((*view >> 64) as u64);
            }
            n_bytes => {
                hasher.write_u32(n_bytes);
                hasher.write(array.value(i).as_bytes());
            }
        }
    }
}

/// Four at a time, so that none waits for the one before it.
fn add_numbers(numbers: &[u128], hasher: &mut FxHasher) {
    let mut lanes: [FxHasher; 4] = Default::default();
    let mut rounds = numbers.chunks_exact(4);
    for round in &mut rounds {
        for (lane, number) in lanes.iter_mut().zip(round) {
            lane.write_u64(*number as u64);
            lane.write_u64((*number >> 64) as u64);
        }
    }
    rounds.remainder().iter().for_each(|number| hasher.write_u128(*number));
    lanes.iter().for_each(|lane| hasher.write_u64(lane.finish()));
}

/// Cell by cell; what cannot be read is not counted either.
fn add_texts(column: &ArrayRef, hasher: &mut FxHasher) {
    let Ok(cells) = Cells::new("", column) else { return };
    let mut text = String::new();
    for i in 0..cells.len() {
        hasher.write_u8(u8::from(cells.read(i, &mut text)));
        hasher.write(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float64Array, Int64Array, LargeStringArray, StringArray};

    use super::*;

    #[test]
    fn whatever_cell_is_written_to_shows() {
        let texts = |first: &'static str| vec![Some(first), None, Some("b"), Some("c")];
        let columns = |n: i64, text: &'static str| -> Vec<ArrayRef> {
            vec![
                Arc::new(Int64Array::from(vec![Some(n), None, Some(3), Some(4)])),
                Arc::new(Float64Array::from(vec![n as f64, 2.0, 3.0, 4.0])),
                Arc::new(BooleanArray::from(vec![n > 1, true, false, true])),
                Arc::new(StringArray::from(texts(text))),
                Arc::new(LargeStringArray::from(texts(text))),
                Arc::new(StringViewArray::from(texts(text))),
                Arc::new(
                    texts(text).into_iter().collect::<arrow_array::DictionaryArray<arrow_array::types::Int32Type>>(),
                ),
            ]
        };
        for (before, after) in columns(1, "a").into_iter().zip(columns(2, "x")) {
            let of = |column: &ArrayRef| {
                let batch = RecordBatch::try_from_iter_with_nullable([("x", column.clone(), true)]).expect("a batch");
                (super::of([batch.clone()].iter()), super::of([batch.slice(1, 2)].iter()))
            };
            assert_eq!(of(&before), of(&before));
            assert_ne!(of(&before).0, of(&after).0, "{}", before.data_type());
            // What is not shown does not matter, but for lists of values.
            if !matches!(before.data_type(), DataType::Dictionary(..)) {
                assert_eq!(of(&before).1, of(&after).1, "{}", before.data_type());
            }
        }
    }

    #[test]
    fn a_long_text_shows_wherever_it_lies() {
        let long = |last: char| format!("a text of more than twelve bytes {last}");
        let of = |texts: Vec<Option<String>>| {
            let column: ArrayRef = Arc::new(StringViewArray::from_iter(texts));
            super::of([RecordBatch::try_from_iter_with_nullable([("x", column, true)]).expect("a batch")].iter())
        };
        let texts = |last: char| vec![Some("short".to_string()), Some(long(last)), None, Some(String::new())];
        assert_eq!(of(texts('a')), of(texts('a')));
        assert_ne!(of(texts('a')), of(texts('b')));
        // A gap is no empty text, and neither is a text in another place.
        assert_ne!(of(vec![None, Some(String::new())]), of(vec![Some(String::new()), None]));
        assert_ne!(of(vec![Some(long('a')), Some(long('b'))]), of(vec![Some(long('b')), Some(long('a'))]));
    }
}
