//! A quick hash of tables in memory: whether somebody has written to one since.
//!
//! It tells what happens by accident. Nothing is claimed by it: marks and certificates have SHA-256.

use std::hash::Hasher;

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use arrow_schema::DataType;
use incrowd::table::Cells;
use rustc_hash::FxHasher;

/// Of everything that these batches show.
pub(super) fn of<'a>(batches: impl Iterator<Item = &'a RecordBatch>) -> u64 {
    let mut hasher = FxHasher::default();
    for batch in batches {
        hasher.write_usize(batch.num_rows());
        batch.columns().iter().for_each(|column| add(column, &mut hasher));
    }
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

    use arrow_array::{BooleanArray, Float64Array, Int64Array, LargeStringArray, StringArray, StringViewArray};

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
}
