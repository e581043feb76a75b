//! Numbers and dates as other countries write them, made into those that everything here reads: `1234.5`, `2019-12-31`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd::Result;
use incrowd::table::Cells;

use super::csv::text_type;
use super::dates::DateFormat;
use super::options::Notation;

/// What is rewritten while a table is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewriting {
    /// How numbers in texts are written.
    pub notation: Notation,
    /// By column, how its dates are written.
    pub dates: Vec<(String, DateFormat)>,
}

impl Rewriting {
    pub fn is_nothing(&self) -> bool {
        self.notation.is_plain() && self.dates.is_empty()
    }

    fn date_of(&self, name: &str) -> Option<&DateFormat> {
        self.dates.iter().find(|(known, _)| known == name).map(|(_, format)| format)
    }

    /// Whether a column's texts are rewritten.
    fn rewrites(&self, name: &str, kind: &DataType) -> bool {
        match self.date_of(name) {
            Some(_) => !is_day(kind),
            None => !self.notation.is_plain() && is_text(kind),
        }
    }

    /// The columns as they come out: what is rewritten is text then, whatever it was.
    pub(super) fn schema(&self, schema: &SchemaRef) -> SchemaRef {
        let field = |field: &Arc<Field>| match self.rewrites(field.name(), field.data_type()) {
            true => Arc::new(field.as_ref().clone().with_data_type(type_of_texts(field.data_type()))),
            false => field.clone(),
        };
        let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
        Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
    }

    /// A batch with its numbers and dates rewritten. What is not written as was said stays as it is.
    pub(super) fn apply(&self, batch: RecordBatch) -> Result<RecordBatch> {
        if self.is_nothing() {
            return Ok(batch);
        }
        let schema = self.schema(&batch.schema());
        let columns = batch.schema_ref().fields().iter().zip(batch.columns());
        let arrays = columns.map(|(field, column)| self.column(field.name(), column)).collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(schema, arrays, &options).expect("the columns are as long as before"))
    }

    fn column(&self, name: &str, column: &ArrayRef) -> Result<ArrayRef> {
        match self.date_of(name) {
            _ if !self.rewrites(name, column.data_type()) => Ok(column.clone()),
            Some(format) => rewritten(name, column, |text| format.iso(text)),
            None => rewritten(name, column, |text| plain_number(text, self.notation)),
        }
    }
}

/// The type of rewritten texts: those of a frame stay of the type that the frame has.
fn type_of_texts(kind: &DataType) -> DataType {
    if *kind == DataType::Utf8 { DataType::Utf8 } else { text_type() }
}

fn is_day(kind: &DataType) -> bool {
    matches!(kind, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// A column as texts, some of them rewritten; of a dictionary, every text once.
fn rewritten(name: &str, column: &ArrayRef, rewrite: impl Fn(&str) -> Option<String>) -> Result<ArrayRef> {
    let texts_of = |column: &ArrayRef| -> Result<StringArray> {
        let cells = Cells::new(name, column)?;
        let mut text = String::new();
        let cell = |i: usize| cells.read(i, &mut text).then(|| rewrite(&text).unwrap_or_else(|| text.clone()));
        Ok((0..column.len()).map(cell).collect())
    };
    if *column.data_type() == text_type() {
        let dictionary = column.as_dictionary::<Int32Type>();
        let texts = texts_of(dictionary.values())?;
        let keys = dictionary.keys().clone();
        return Ok(Arc::new(DictionaryArray::try_new(keys, Arc::new(texts)).expect("as many texts as before")));
    }
    let texts = texts_of(column)?;
    match type_of_texts(column.data_type()) {
        DataType::Utf8 => Ok(Arc::new(texts)),
        _ => Ok(Arc::new(texts.iter().collect::<DictionaryArray<Int32Type>>())),
    }
}

/// A number that is written with other marks, as `-1234.5`; none where it is none, or has no other mark.
pub(super) fn plain_number(text: &str, notation: Notation) -> Option<String> {
    let digits = text.strip_prefix(['-', '−']).unwrap_or(text);
    let (whole, decimals) = match digits.split_once(char::from(notation.decimal)) {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (digits, None),
    };
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if decimals.is_some_and(|decimals| !are_digits(decimals)) {
        return None;
    }
    let groups = groups(whole, notation.thousands)?;
    let is_same =
        groups.len() == 1 && (decimals.is_none() || notation.decimal == b'.') && digits.len() + 1 >= text.len();
    if is_same {
        return None;
    }
    let sign = if digits.len() < text.len() { "-" } else { "" };
    let decimals = decimals.map_or(String::new(), |decimals| format!(".{decimals}"));
    Some(format!("{sign}{}{decimals}", groups.concat()))
}

/// The digits before the decimals, without what stands between groups of three.
fn groups(whole: &str, mark: Option<u8>) -> Option<Vec<&str>> {
    let is_space = |c: char| matches!(c, ' ' | '\u{a0}' | '\u{202f}');
    let groups: Vec<&str> = match mark {
        None => vec![whole],
        Some(b' ') => whole.split(is_space).collect(),
        Some(b'\'') => whole.split(['\'', '\u{2019}']).collect(),
        Some(mark) => whole.split(char::from(mark)).collect(),
    };
    let are_digits = groups.iter().all(|group| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit()));
    let are_groups = groups.len() == 1 || groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    (are_digits && are_groups).then_some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::types::UInt8Type;
    use arrow_array::{Int64Array, LargeStringArray, StringViewArray};

    /// Frames and Parquet files have texts of many types.
    #[test]
    fn texts_of_every_type_are_rewritten() {
        let german = Notation { decimal: b',', thousands: Some(b'.') };
        let format = DateFormat::parse("%d-%m-%Y").expect("a format");
        let rewriting = Rewriting { notation: german, dates: vec![("day".into(), format)] };
        let (days, pays) = (["05-03-2020", "31-12-2019"], ["1.234,5", "7"]);
        let kinds = |texts: [&str; 2]| -> Vec<ArrayRef> {
            vec![
                Arc::new(StringArray::from(texts.to_vec())),
                Arc::new(LargeStringArray::from(texts.to_vec())),
                Arc::new(StringViewArray::from(texts.to_vec())),
                Arc::new(texts.iter().copied().collect::<DictionaryArray<Int32Type>>()),
                Arc::new(texts.iter().copied().collect::<DictionaryArray<UInt8Type>>()),
            ]
        };
        for (day, pay) in kinds(days).into_iter().zip(kinds(pays)) {
            let n: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
            let batch = RecordBatch::try_from_iter([("day", day), ("pay", pay), ("n", n)]).expect("a batch");
            let schema = rewriting.schema(&batch.schema());
            let made = rewriting.apply(batch).expect("it is rewritten");
            assert_eq!(made.schema(), schema);
            for (column, texts) in [(0, ["2020-03-05", "2019-12-31"]), (1, ["1234.5", "7"])] {
                let cells = Cells::new("x", made.column(column)).expect("cells");
                let mut text = String::new();
                for (i, wanted) in texts.iter().enumerate() {
                    assert!(cells.read(i, &mut text) && text == *wanted, "{text} for {wanted}");
                }
            }
        }
    }

    #[test]
    fn numbers_of_other_countries() {
        let german = Notation { decimal: b',', thousands: Some(b'.') };
        let french = Notation { decimal: b',', thousands: Some(b' ') };
        let english = Notation { decimal: b'.', thousands: Some(b',') };
        for (text, notation, plain) in [
            ("1.234,5", german, Some("1234.5")),
            ("-1.234.567", german, Some("-1234567")),
            ("0,5", german, Some("0.5")),
            ("12", german, None),
            ("12.34,5", german, None),
            ("1.5", german, None),
            ("1,2,3", german, None),
            (",5", german, None),
            ("5,", german, None),
            ("1\u{202f}234,50", french, Some("1234.50")),
            ("1,234.5", english, Some("1234.5")),
            ("1234.5", english, None),
            ("−3", english, Some("-3")),
            ("31.12.2019", german, None),
        ] {
            assert_eq!(plain_number(text, notation).as_deref(), plain, "{text}");
        }
    }
}
