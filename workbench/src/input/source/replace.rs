//! Cells that are replaced while a table is read: what cannot be read, what a hierarchy does not know, the ends of numbers
//! that are coded, and what is published coarser than it is.
//!
//! Whoever counts, publishes and judges sees what the replacement says, and nothing of what it replaces.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int64Array, RecordBatch, RecordBatchOptions, make_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use incrowd::hierarchy::{KnownValues, Needs, OTHER};
use incrowd::number::Decimal;
use incrowd::table::Cells;
use incrowd::wire::Coarser;
use incrowd::{Domain, Error, ErrorKind, Result, Rule};

use super::csv::text_type;
use crate::input::level::LevelSaid;
use crate::sentences::counted_words;

/// What becomes of a cell that is no number or no date where such is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unreadable {
    /// It ends the run, with its place.
    #[default]
    Error,
    /// It is read as no value.
    Missing,
}

/// What becomes of a value that a hierarchy does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It ends the run, with its place.
    #[default]
    Error,
    /// It is read as [`OTHER`], and the hierarchy has a row for that.
    Other,
    /// It is read as no value.
    Missing,
}

impl Unreadable {
    pub const NAMES: [&str; 2] = ["error", "missing"];

    pub fn parse(name: &str) -> Option<Unreadable> {
        [Unreadable::Error, Unreadable::Missing].into_iter().find(|known| known.name() == name)
    }

    pub fn name(self) -> &'static str {
        Unreadable::NAMES[self as usize]
    }
}

impl Unknown {
    pub const NAMES: [&str; 3] = ["error", "other", "missing"];

    pub fn parse(name: &str) -> Option<Unknown> {
        [Unknown::Error, Unknown::Other, Unknown::Missing].into_iter().find(|known| known.name() == name)
    }

    pub fn name(self) -> &'static str {
        Unknown::NAMES[self as usize]
    }
}

/// What is published of an attribute that is not generalized, where that is coarser than what was read.
#[derive(Clone, Debug, PartialEq)]
pub enum PublishAs {
    /// The nearest multiple of a number.
    Round(Decimal),
    /// Numbers as they are, but one label for the highest: the share of those below it.
    Top(Decimal),
    /// Labels of a level of the attribute's hierarchy.
    Level(LevelSaid),
}

impl PublishAs {
    /// As a certificate says it.
    pub fn said(&self) -> Coarser {
        match self {
            PublishAs::Round(step) => Coarser::Round(*step),
            PublishAs::Top(share) => Coarser::Top(*share),
            PublishAs::Level(LevelSaid::Number(level)) => Coarser::Level(*level as u64),
            PublishAs::Level(LevelSaid::Name(name)) => Coarser::LevelNamed(name.clone()),
        }
    }

    /// What becomes of values, in words.
    pub fn in_words(&self) -> String {
        match self {
            PublishAs::Round(step) => format!("rounded to multiples of {step}"),
            PublishAs::Top(share) => format!("with one label for the highest, above a share of {share}"),
            PublishAs::Level(LevelSaid::Number(level)) => format!("by level {level} of its hierarchy"),
            PublishAs::Level(LevelSaid::Name(name)) => format!("by level {name} of its hierarchy"),
        }
    }

    /// What a certificate says; none where this version does not know it.
    pub fn of_said(said: Coarser) -> Option<PublishAs> {
        match said {
            Coarser::Round(step) => Some(PublishAs::Round(step)),
            Coarser::Top(share) => Some(PublishAs::Top(share)),
            Coarser::Level(level) => Some(PublishAs::Level(LevelSaid::Number(usize::try_from(level).ok()?))),
            Coarser::LevelNamed(name) => Some(PublishAs::Level(LevelSaid::Name(name))),
            _ => None,
        }
    }
}

/// What is replaced in one column.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub column: String,
    /// Texts that mean "no value", which nothing is asked of.
    pub tokens: Vec<String>,
    pub rule: Rule,
    pub unreadable: Unreadable,
    pub unknown: Unknown,
    /// The values that the hierarchy knows, where others are replaced.
    pub known: Option<Arc<KnownValues>>,
    pub publish_as: Option<PublishAs>,
}

/// What is published of a column, once all of its values have been looked at.
#[derive(Clone, Debug)]
pub(super) enum Coarse {
    Round(Decimal),
    Top(Top),
    Labels(HashMap<String, String>),
}

/// Where the highest values of a column begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Top {
    pub column: String,
    pub from: Decimal,
    /// How many cells have one label therefore.
    pub n_cells: u64,
}

/// How many cells of a column were replaced, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    pub column: String,
    pub n_unreadable: u64,
    pub n_unknown: u64,
    /// What stands for unknown values now.
    pub unknown: Unknown,
}

/// How many cells were replaced so far in a reading, by replacement: unreadable ones, unknown ones.
#[derive(Default)]
pub(super) struct ReplacedCells(Vec<[AtomicU64; 2]>);

impl ReplacedCells {
    pub fn new(replacements: &[Replacement]) -> ReplacedCells {
        ReplacedCells(replacements.iter().map(|_| Default::default()).collect())
    }

    /// What a whole reading of these columns has come to.
    pub fn finish(&self, replacements: &[Replacement], columns: &[String]) -> Vec<Option<Replaced>> {
        let of = |(replacement, [unreadable, unknown]): (&Replacement, &[AtomicU64; 2])| {
            columns.contains(&replacement.column).then(|| Replaced {
                column: replacement.column.clone(),
                n_unreadable: unreadable.load(Ordering::Relaxed),
                n_unknown: unknown.load(Ordering::Relaxed),
                unknown: replacement.unknown,
            })
        };
        replacements.iter().zip(&self.0).map(of).collect()
    }
}

/// What a cell becomes.
#[derive(Clone, Debug, PartialEq)]
enum Becomes {
    Itself,
    NoValue(Why),
    Text(String, Option<Why>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Why {
    Unreadable = 0,
    Unknown = 1,
}

impl Replacement {
    /// Whether anything can be replaced at all.
    pub fn does_something(&self) -> bool {
        let is_mended = self.unreadable == Unreadable::Missing && self.needs() != Needs::Anything;
        is_mended || self.known.is_some() || self.rule.codes_ends() || self.publish_as.is_some()
    }

    /// The same, published as it is.
    pub fn as_it_is(self) -> Replacement {
        Replacement { publish_as: None, ..self }
    }

    /// What cells have to be.
    pub(super) fn needs(&self) -> Needs {
        match self.publish_as {
            Some(PublishAs::Round(_) | PublishAs::Top(_)) => Needs::Numbers,
            _ => self.rule.needs(),
        }
    }

    /// The type of the column afterwards: where texts may stand in it that are no values of it, texts.
    fn type_of(&self, stored: &DataType) -> DataType {
        match &self.publish_as {
            Some(PublishAs::Round(step)) if is_number(stored) => match step.is_whole() && stored.is_integer() {
                true => DataType::Int64,
                false => DataType::Float64,
            },
            Some(_) => text_type(),
            None if self.unknown == Unknown::Other || self.rule.codes_ends() => text_type(),
            None => stored.clone(),
        }
    }

    /// What is published of values of a column that has these, each with how many cells have it; none where that is the
    /// value itself.
    pub fn published(&self, values: HashMap<String, u64>) -> Result<impl Fn(&str) -> Option<String> + use<>> {
        let coarse = Coarse::new(self, values)?;
        Ok(move |text: &str| coarse.as_ref().and_then(|coarse| coarse.of(text)))
    }

    fn becomes(&self, text: &str, coarse: Option<&Coarse>) -> Becomes {
        if self.tokens.iter().any(|token| token == text) {
            return Becomes::Itself;
        }
        if !self.needs().are_met_by(text) && !self.rule.is_end(text) {
            return match self.unreadable {
                Unreadable::Missing => Becomes::NoValue(Why::Unreadable),
                Unreadable::Error => Becomes::Itself,
            };
        }
        let is_known = self.known.as_ref().is_none_or(|known| known.contains(text));
        let (text, why) = match (is_known, self.unknown) {
            (false, Unknown::Missing) => return Becomes::NoValue(Why::Unknown),
            (false, Unknown::Other) => (OTHER.to_string(), Some(Why::Unknown)),
            _ => (text.to_string(), None),
        };
        if let Some(end) = self.rule.end_of(&text) {
            return Becomes::Text(end, why);
        }
        match (coarse.and_then(|coarse| coarse.of(&text)), why) {
            (Some(coarser), why) => Becomes::Text(coarser, why),
            (None, Some(why)) => Becomes::Text(text, Some(why)),
            (None, None) => Becomes::Itself,
        }
    }

    /// `numbers` are how many records each row stands for, where rows are not records.
    fn column(
        &self,
        column: &ArrayRef,
        coarse: Option<&Coarse>,
        tally: &[AtomicU64; 2],
        numbers: Option<&[u64]>,
    ) -> Result<ArrayRef> {
        let texts = Texts::of(&self.column, column)?;
        let becomes: Vec<Becomes> = texts.different.iter().map(|text| self.becomes(text, coarse)).collect();
        let wanted = self.type_of(column.data_type());
        if wanted == *column.data_type() && becomes.iter().all(|becomes| *becomes == Becomes::Itself) {
            return Ok(column.clone());
        }
        let mut n_replaced = [0; 2];
        for (row, cell) in texts.cells.iter().enumerate().filter_map(|(row, cell)| Some((row, (*cell)?))) {
            if let Becomes::NoValue(why) | Becomes::Text(_, Some(why)) = &becomes[cell] {
                n_replaced[*why as usize] += numbers.map_or(1, |numbers| numbers[row]);
            }
        }
        tally.iter().zip(n_replaced).for_each(|(all, n)| _ = all.fetch_add(n, Ordering::Relaxed));
        let text_of = |cell: usize| match &becomes[cell] {
            Becomes::Itself => Some(texts.different[cell].as_str()),
            Becomes::NoValue(_) => None,
            Becomes::Text(text, _) => Some(text.as_str()),
        };
        let all = texts.cells.iter().map(|cell| cell.and_then(text_of));
        // Where nothing says anything else, cells stay as they are stored, but for those that have no value any more.
        let is_written = becomes.iter().any(|becomes| matches!(becomes, Becomes::Text(..)));
        Ok(match wanted {
            wanted if wanted == *column.data_type() && wanted != text_type() && !is_written => {
                let is_there: Vec<bool> = all.map(|text| text.is_some()).collect();
                let data = column.to_data().into_builder().nulls(Some(NullBuffer::from(is_there)));
                make_array(data.build().expect("as many cells as before"))
            }
            DataType::Int64 => Arc::new(all.map(|text| text?.parse().ok()).collect::<Int64Array>()),
            DataType::Float64 => Arc::new(all.map(|text| text?.parse().ok()).collect::<Float64Array>()),
            _ => Arc::new(all.collect::<DictionaryArray<Int32Type>>()),
        })
    }
}

fn is_number(stored: &DataType) -> bool {
    stored.is_integer() && *stored != DataType::UInt64 || matches!(stored, DataType::Float32 | DataType::Float64)
}

/// The different texts of a column, and by cell which of them it is.
struct Texts {
    cells: Vec<Option<usize>>,
    different: Vec<String>,
}

impl Texts {
    fn of(name: &str, column: &ArrayRef) -> Result<Texts> {
        let cells = Cells::new(name, column)?;
        let mut text = String::new();
        if let Cells::Dictionary { keys, nulls, values } = &cells {
            let is_there: Vec<Option<String>> =
                (0..values.len()).map(|i| values.read(i, &mut text).then(|| text.clone())).collect();
            let cell = |(i, key): (usize, &usize)| {
                let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(i));
                (!is_null && is_there[*key].is_some()).then_some(*key)
            };
            let cells = keys.iter().enumerate().map(cell).collect();
            return Ok(Texts { cells, different: is_there.into_iter().map(Option::unwrap_or_default).collect() });
        }
        let (mut different, mut numbers) = (Vec::new(), HashMap::new());
        let mut cell = |i: usize| {
            cells.read(i, &mut text).then(|| match numbers.get(&text) {
                Some(number) => *number,
                None => {
                    numbers.insert(text.clone(), different.len());
                    different.push(text.clone());
                    different.len() - 1
                }
            })
        };
        let cells = (0..column.len()).map(&mut cell).collect();
        Ok(Texts { cells, different })
    }
}

/// The columns as they come out.
pub(super) fn schema(replacements: &[Replacement], schema: &SchemaRef) -> SchemaRef {
    let field = |field: &Arc<Field>| match replacements.iter().find(|known| known.column == *field.name()) {
        Some(replacement) => {
            Arc::new(field.as_ref().clone().with_data_type(replacement.type_of(field.data_type())).with_nullable(true))
        }
        None => field.clone(),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// A batch with its cells replaced; `coarse` is what is published, by replacement, where that is known, and `numbers` how many
/// records each row stands for, where rows are not records.
pub(super) fn apply(
    replacements: &[Replacement],
    coarse: &[Option<Coarse>],
    batch: RecordBatch,
    numbers: Option<&[u64]>,
    tally: &ReplacedCells,
) -> Result<RecordBatch> {
    if replacements.is_empty() {
        return Ok(batch);
    }
    let columns = batch.schema_ref().fields().iter().zip(batch.columns());
    let replaced = |(field, column): (&Arc<Field>, &ArrayRef)| match replacements
        .iter()
        .position(|known| known.column == *field.name())
    {
        Some(i) => replacements[i].column(column, coarse.get(i).and_then(Option::as_ref), &tally.0[i], numbers),
        None => Ok(column.clone()),
    };
    let arrays = columns.map(replaced).collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let schema = schema(replacements, &batch.schema());
    Ok(RecordBatch::try_new_with_options(schema, arrays, &options).expect("the columns are as long as before"))
}

impl Coarse {
    /// What is published of a value; nothing where that is the value itself.
    fn of(&self, text: &str) -> Option<String> {
        match self {
            Coarse::Round(step) => Some(Decimal::parse(text)?.rounded_to(*step)?.to_string()),
            Coarse::Top(top) => (Decimal::parse(text)? >= top.from).then(|| format!(">={}", top.from)),
            Coarse::Labels(labels) => labels.get(text).cloned(),
        }
    }

    /// What is published of a column with these values, each with how many cells have it.
    ///
    /// Refused where some cannot be made coarser.
    pub fn new(replacement: &Replacement, values: HashMap<String, u64>) -> Result<Option<Coarse>> {
        let column = &replacement.column;
        let is_value = |text: &String| !replacement.tokens.contains(text);
        let is_unfit = |text: &String| is_value(text) && !replacement.needs().are_met_by(text);
        let n_unfit = values.keys().filter(|text| is_unfit(text)).count();
        if n_unfit > 0 && !matches!(replacement.publish_as, Some(PublishAs::Level(_))) {
            let n = counted_words(n_unfit as u64, "value");
            let are = if n_unfit == 1 { "is none" } else { "are none" };
            let message = format!("attribute '{column}': only numbers are rounded or coded, and {n} {are}");
            return Err(Error::new(ErrorKind::Data, message));
        }
        Ok(match &replacement.publish_as {
            None => None,
            Some(PublishAs::Round(step)) => Some(Coarse::Round(*step)),
            Some(PublishAs::Top(share)) => {
                let values = values.into_iter().filter(|(text, _)| is_value(text));
                let numbers = values.filter_map(|(text, n)| Some((Decimal::parse(&text)?, n))).collect();
                top(column, numbers, *share).map(Coarse::Top)
            }
            Some(PublishAs::Level(said)) => {
                let domain = Domain::new(column, values.into_keys().filter(is_value).collect(), None);
                let hierarchy = replacement.rule.resolve(&domain)?;
                let level = hierarchy.level(said.of(&hierarchy, "publish_as.level")?);
                let label = |(base, value): (usize, &String)| (value.clone(), level.label_of(base).to_string());
                Some(Coarse::Labels(domain.values().iter().enumerate().map(label).collect()))
            }
        })
    }
}

/// Where the highest numbers begin: at a number of two digits, so that the number of a single record does not show, and so
/// low that at least the rest of the share is among them.
fn top(column: &str, mut numbers: Vec<(Decimal, u64)>, share: Decimal) -> Option<Top> {
    numbers.sort_unstable();
    let n_all: u64 = numbers.iter().map(|(_, n)| n).sum();
    // So many are below, at most.
    let n_below = (share.to_f64() * n_all as f64).floor() as u64;
    let mut n_seen = 0;
    let (first, _) = numbers.iter().find(|(_, n)| {
        n_seen += n;
        n_seen > n_below
    })?;
    let from = first.with_digits(2)?;
    let n_cells = numbers.iter().filter(|(number, _)| *number >= from).map(|(_, n)| n).sum();
    Some(Top { column: column.to_string(), from, n_cells })
}
