//! Columns of a release with the types that they had in the data frame.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, StringBuilder, StringViewBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{
    Array, ArrayRef, Date64Array, DictionaryArray, PrimitiveArray, UInt32Array, UInt64Array, make_array,
};
use arrow_schema::{DataType, Field, SchemaRef};
use arrow_select::dictionary::garbage_collect_any_dictionary;
use arrow_select::take::take;
use incrowd::table::Cells;
use incrowd::{Error, ErrorKind, Result};
use incrowd_workbench::input::source::Frame;
use rayon::prelude::*;

/// The batches of a release, with columns typed as in `original` where `is_exact` says that they were not generalized.
///
/// # Guarantee
/// A dictionary lists the values that published records have, and no others: what only suppressed records had does not
/// survive as a category. The order of categories is that of the original.
pub fn restored(release: Frame, original: Option<&Frame>, is_exact: impl Fn(&str) -> bool) -> Result<Frame> {
    let mut fields = Vec::new();
    let mut columns: Vec<Vec<ArrayRef>> = vec![Vec::new(); release.batches.len()];
    for (i, field) in release.schema.fields().iter().enumerate() {
        let arrays = || release.batches.iter().map(|batch| batch.column(i)).collect::<Vec<_>>();
        let known = original.filter(|_| is_exact(field.name()));
        let known = known.and_then(|frame| Some((frame, frame.schema.column_with_name(field.name())?)));
        let (kind, made) = match known {
            Some((frame, (place, original))) => {
                let arrays = match original.data_type() {
                    DataType::Dictionary(key, _) => {
                        let values: Vec<&ArrayRef> = frame
                            .batches
                            .iter()
                            .map(|batch| batch.column(place).as_any_dictionary().values())
                            .collect();
                        dictionaries(field.name(), &arrays(), key, &values)?
                    }
                    wanted => plain(field.name(), &arrays(), wanted)?,
                };
                (original.data_type().clone(), arrays)
            }
            None => {
                let wanted = match field.data_type() {
                    DataType::Dictionary(..) => DataType::Utf8,
                    other => other.clone(),
                };
                let made = plain(field.name(), &arrays(), &wanted)?;
                (wanted, made)
            }
        };
        let is_ordered = known.is_some_and(|(_, (_, original))| original.dict_is_ordered() == Some(true));
        fields.push(Field::new(field.name(), kind, true).with_dict_is_ordered(is_ordered));
        columns.iter_mut().zip(made).for_each(|(batch, array)| batch.push(array));
    }
    let schema: SchemaRef = Arc::new(arrow_schema::Schema::new(fields));
    let batch = |columns: Vec<ArrayRef>| arrow_array::RecordBatch::try_new(schema.clone(), columns).map_err(wrong);
    let batches = columns.into_iter().map(batch).collect::<Result<Vec<_>>>()?;
    Ok(Frame { name: release.name, schema, batches: batches.into() })
}

/// An array that holds nothing but its values: texts that no view shows and categories that no record has are gone,
/// also within lists and structs, and so are notes to fields, where polars lists all categories.
pub fn compact(array: &ArrayRef) -> std::result::Result<ArrayRef, arrow_schema::ArrowError> {
    Ok(match array.data_type() {
        DataType::Utf8View => Arc::new(array.as_string_view().gc()),
        DataType::BinaryView => Arc::new(array.as_binary_view().gc()),
        DataType::Dictionary(..) => {
            let used = garbage_collect_any_dictionary(array.as_any_dictionary())?;
            let dictionary = used.as_any_dictionary();
            dictionary.with_values(compact(dictionary.values())?)
        }
        kind if kind.is_nested() => {
            let data = array.to_data();
            let child = |data: &_| compact(&make_array(Clone::clone(data))).map(|child| child.to_data());
            let children = data.child_data().iter().map(child).collect::<std::result::Result<_, _>>()?;
            make_array(data.into_builder().data_type(without_notes(kind)).child_data(children).build()?)
        }
        _ => Arc::clone(array),
    })
}

/// The values of the records that are shown, each in its place; the other places are empty.
///
/// In two steps, so that not even a place that is empty holds what a hidden record had.
pub fn only_shown(array: &ArrayRef, shown: &[bool]) -> std::result::Result<ArrayRef, arrow_schema::ArrowError> {
    let those: UInt64Array =
        (0..shown.len()).filter(|&record| shown[record]).map(|record| Some(record as u64)).collect();
    let mut n_before = 0;
    let place = |&is_shown: &bool| {
        n_before += u64::from(is_shown);
        is_shown.then(|| n_before - 1)
    };
    let places: UInt64Array = shown.iter().map(place).collect();
    take(&compact(&take(array, &those, None)?)?, &places, None)
}

/// A nested type whose fields have names and types, and nothing else.
fn without_notes(kind: &DataType) -> DataType {
    let field = |field: &Field| {
        let plain = Field::new(field.name(), without_notes(field.data_type()), field.is_nullable());
        Arc::new(plain.with_dict_is_ordered(field.dict_is_ordered() == Some(true)))
    };
    match kind {
        DataType::List(inner) => DataType::List(field(inner)),
        DataType::LargeList(inner) => DataType::LargeList(field(inner)),
        DataType::ListView(inner) => DataType::ListView(field(inner)),
        DataType::LargeListView(inner) => DataType::LargeListView(field(inner)),
        DataType::FixedSizeList(inner, length) => DataType::FixedSizeList(field(inner), *length),
        DataType::Map(inner, is_sorted) => DataType::Map(field(inner), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|inner| field(inner)).collect()),
        other => other.clone(),
    }
}

fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::new(ErrorKind::Data, format!("the release could not be given its types: {error}"))
}

/// Arrays of one type, read as texts where it is a type of texts.
fn plain(name: &str, arrays: &[&ArrayRef], wanted: &DataType) -> Result<Vec<ArrayRef>> {
    let array = |array: &&ArrayRef| -> Result<ArrayRef> {
        if array.data_type() == wanted {
            return Ok(Arc::clone(array));
        }
        macro_rules! texts {
            ($builder:expr) => {{
                let texts = |array: &ArrayRef| -> Result<ArrayRef> {
                    let mut builder = $builder;
                    let cells = Cells::new(name, array)?;
                    let mut text = String::new();
                    for record in 0..cells.len() {
                        let is_there = cells.read(record, &mut text);
                        builder.append_option(is_there.then_some(text.as_str()));
                    }
                    Ok(Arc::new(builder.finish()))
                };
                match array.as_any_dictionary_opt() {
                    // Each different text is made once.
                    Some(dictionary) => take(&texts(dictionary.values())?, dictionary.keys(), None).map_err(wrong)?,
                    None => texts(array)?,
                }
            }};
        }
        Ok(match wanted {
            DataType::Utf8 => texts!(StringBuilder::new()),
            DataType::LargeUtf8 => texts!(LargeStringBuilder::new()),
            DataType::Utf8View => texts!(StringViewBuilder::new()),
            DataType::Date64 => {
                let days = array.as_primitive::<Date32Type>().iter();
                Arc::new(days.map(|day| day.map(|day| i64::from(day) * 86_400_000)).collect::<Date64Array>())
            }
            other => {
                let message = format!("column '{name}' of type {} cannot become {other}", array.data_type());
                return Err(Error::new(ErrorKind::Data, message));
            }
        })
    };
    arrays.par_iter().map(array).collect()
}

/// Arrays as dictionaries over those of the original's values that occur, in the original's order.
fn dictionaries(name: &str, arrays: &[&ArrayRef], key: &DataType, originals: &[&ArrayRef]) -> Result<Vec<ArrayRef>> {
    let mut occurs: HashMap<String, Option<u32>> = HashMap::new();
    let mut text = String::new();
    for array in arrays {
        let cells = Cells::new(name, array)?;
        for record in 0..cells.len() {
            if cells.read(record, &mut text) && !occurs.contains_key(&text) {
                occurs.insert(text.clone(), None);
            }
        }
    }
    // The batches of a frame usually share one dictionary; where they do not, the first that has a value counts.
    let mut n_values = 0;
    let mut parts: Vec<ArrayRef> = Vec::new();
    for values in originals {
        let cells = Cells::new(name, values)?;
        let mut wanted = Vec::new();
        for i in 0..cells.len() {
            if cells.read(i, &mut text)
                && let Some(code @ None) = occurs.get_mut(&text)
            {
                *code = Some(n_values);
                n_values += 1;
                wanted.push(i as u32);
            }
        }
        if !wanted.is_empty() || parts.is_empty() {
            parts.push(take(values, &UInt32Array::from(wanted), None).map_err(wrong)?);
        }
    }
    let parts: Vec<&dyn Array> = parts.iter().map(|part| part.as_ref()).collect();
    let values = match parts.is_empty() {
        true => return Ok(Vec::new()),
        false => compact(&arrow_select::concat::concat(&parts).map_err(wrong)?).map_err(wrong)?,
    };
    let array = |array: &&ArrayRef| {
        let cells = Cells::new(name, array)?;
        let mut text = String::new();
        let mut codes: Vec<Option<u32>> = Vec::with_capacity(cells.len());
        for record in 0..cells.len() {
            let is_there = cells.read(record, &mut text);
            let code = if is_there { occurs.get(&text).copied().flatten() } else { None };
            debug_assert!(code.is_some() || !is_there, "a published value is one of the original's");
            codes.push(code);
        }
        macro_rules! dictionary {
            ($type:ty) => {{
                // As many keys as the original had are enough for a part of its values.
                let keys: PrimitiveArray<$type> = codes.iter().map(|code| code.map(|code| code as _)).collect();
                Arc::new(DictionaryArray::<$type>::try_new(keys, values.clone()).map_err(wrong)?) as ArrayRef
            }};
        }
        Ok(match key {
            DataType::Int8 => dictionary!(Int8Type),
            DataType::Int16 => dictionary!(Int16Type),
            DataType::Int32 => dictionary!(Int32Type),
            DataType::Int64 => dictionary!(Int64Type),
            DataType::UInt8 => dictionary!(UInt8Type),
            DataType::UInt16 => dictionary!(UInt16Type),
            DataType::UInt32 => dictionary!(UInt32Type),
            _ => dictionary!(UInt64Type),
        })
    };
    arrays.iter().map(array).collect()
}
