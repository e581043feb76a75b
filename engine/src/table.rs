//! A table's columns, and how their cells become small numbers that can be counted.
//!
//! Tables come in as Arrow record batches, whatever they came from.
//! Every attribute that matters gets a [`Domain`]: its distinct values in a canonical order,
//! so that the same table gives the same codes however its records were ordered or split.

use std::cmp::Ordering;
use std::hash::{BuildHasher, Hasher};

use arrow_array::cast::AsArray;
use arrow_array::temporal_conversions::as_datetime;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, LargeStringArray, StringArray, StringViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use chrono::{Datelike, NaiveDate};
use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::error::{Error, ErrorKind, Result};
use crate::number::Decimal;

pub mod zone;

use zone::Zone;

/// The number of a value within its attribute's domain, or within one level of its hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u32);

impl Code {
    /// The code as a place in a list.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What an attribute is to the person behind the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Names the person: never published.
    Identifier,
    /// Could be known to an attacker and narrows down who it is: generalized.
    QuasiIdentifier,
    /// What must not be linked to the person: published as it is, within a crowd.
    Sensitive,
    /// None of these: published as it is, if the project says so.
    Other,
    /// Says whose record it is, alone or with others of this role: people are counted by it, and it is never published.
    Person,
}

impl Role {
    /// Every role there is.
    pub const ALL: [Role; 5] = [Role::Identifier, Role::QuasiIdentifier, Role::Sensitive, Role::Other, Role::Person];

    /// The word that project files use.
    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::QuasiIdentifier => "quasi-identifier",
            Role::Sensitive => "sensitive",
            Role::Other => "other",
            Role::Person => "person",
        }
    }

    /// The role of a name.
    pub fn parse(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether its values say who somebody is: they are neither published nor shown.
    pub fn tells_who(self) -> bool {
        matches!(self, Role::Identifier | Role::Person)
    }
}

/// What the values of an attribute are, as far as all of them agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Numbers with or without decimals.
    Number,
    /// Days, with or without a time.
    Date,
    /// `true` and `false`.
    Boolean,
    /// Anything else.
    Text,
}

impl Kind {
    /// The word that files and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Date => "date",
            Kind::Boolean => "boolean",
            Kind::Text => "text",
        }
    }

    /// Whether values have a place on a line: numbers, not dates.
    pub fn is_numeric(self) -> bool {
        matches!(self, Kind::Integer | Kind::Number)
    }

    /// The narrowest kind that one text fits.
    ///
    /// An integer must be written the way we would write it: `007` is a text, as postcodes are.
    pub fn of(text: &str) -> Kind {
        match text.as_bytes().first() {
            None => return Kind::Text,
            Some(first) if first.is_ascii_digit() || b"-.".contains(first) => {}
            _ => {
                return match text {
                    "true" | "false" => Kind::Boolean,
                    _ => Kind::Text,
                };
            }
        }
        if text.parse::<i64>().is_ok_and(|n| n.to_string() == text) {
            Kind::Integer
        } else if parse_date(text).is_some() {
            Kind::Date
        } else if is_plain_decimal(text) {
            Kind::Number
        } else {
            Kind::Text
        }
    }

    /// The kind that values of both kinds have in common.
    pub fn join(self, other: Kind) -> Kind {
        match (self, other) {
            _ if self == other => self,
            (Kind::Integer, Kind::Number) | (Kind::Number, Kind::Integer) => Kind::Number,
            _ => Kind::Text,
        }
    }
}

/// A decimal with at most one leading zero before the point, so that codes like `00.12` stay texts.
fn is_plain_decimal(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading_zeros = digits.len() - digits.trim_start_matches('0').len();
    let after_zeros = digits.as_bytes().get(leading_zeros);
    let plain_start = leading_zeros == 0 || (leading_zeros == 1 && matches!(after_zeros, None | Some(b'.')));
    // A computer's decimals hold about 15 digits; what is longer would come back changed.
    let n_digits = digits.bytes().take_while(|b| !b"eE".contains(b)).filter(u8::is_ascii_digit).count();
    plain_start
        && n_digits <= 15
        && digits.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b))
        && text.parse::<f64>().is_ok_and(f64::is_finite)
        && Decimal::parse(text).is_some()
}

/// What counts as "no value", and what happens to the records that lack one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Texts that mean "no value", beside Arrow's nulls.
    pub tokens: Vec<String>,
    /// Whether a record that lacks a value that it needs is left out of everything.
    pub drop_records: bool,
    /// The columns in which it needs one.
    pub needed: Needed,
}

/// In which columns a record has to have a value, where those that lack one are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Needed {
    /// In every column that is read.
    #[default]
    All,
    /// In these.
    Only(Vec<String>),
    /// In every column that is read, but for these.
    AllBut(Vec<String>),
}

impl Missing {
    /// Whether a text stands for "no value".
    pub fn is_token(&self, text: &str) -> bool {
        self.tokens.iter().any(|token| token == text)
    }

    /// Whether a record that lacks its value in this column is left out.
    pub fn drops(&self, name: &str) -> bool {
        let is_named = |names: &[String]| names.iter().any(|known| known == name);
        self.drop_records
            && match &self.needed {
                Needed::All => true,
                Needed::Only(names) => is_named(names),
                Needed::AllBut(names) => !is_named(names),
            }
    }

    /// How a missing value is written in a release.
    pub fn label(&self) -> &str {
        self.tokens.first().map_or("", String::as_str)
    }

    /// Clears `keep[i]` for every record `i` that is left out because it lacks its value in this column.
    ///
    /// # Errors
    /// Where the column's type cannot be read.
    pub fn mark_dropped(&self, name: &str, column: &ArrayRef, keep: &mut [bool]) -> Result<()> {
        match self.drops(name) {
            true => self.mark(name, column, keep),
            false => Ok(()),
        }
    }

    /// Clears `keep[i]` for every record `i` that lacks its value in this column.
    ///
    /// # Errors
    /// Where the column's type cannot be read.
    pub fn mark(&self, name: &str, column: &ArrayRef, keep: &mut [bool]) -> Result<()> {
        // What cannot be read as text, such as a list, is no token.
        let cells = (!self.tokens.is_empty()).then(|| Cells::new(name, column).ok()).flatten();
        let Some(cells) = cells else {
            if let Some(nulls) = column.logical_nulls() {
                keep.iter_mut().zip(nulls.iter()).for_each(|(keep, valid)| *keep &= valid);
            }
            return Ok(());
        };
        let mut text = String::new();
        for (i, keep) in keep.iter_mut().enumerate() {
            *keep = *keep && cells.read(i, &mut text) && !self.is_token(&text);
        }
        Ok(())
    }
}

/// The distinct values of one attribute, in canonical order; a missing value, if there is one, comes last.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    name: String,
    kind: Kind,
    values: Vec<String>,
    has_missing: bool,
}

impl Domain {
    /// Orders values canonically and drops duplicates: numbers by size, everything else by its bytes.
    pub fn new(name: &str, mut values: Vec<String>, missing: Option<&str>) -> Domain {
        let kind = values.iter().map(|value| Kind::of(value)).reduce(Kind::join).unwrap_or(Kind::Text);
        values.sort_unstable_by(|a, b| compare(kind, a, b));
        values.dedup();
        let has_missing = missing.is_some();
        values.extend(missing.map(str::to_string));
        Domain { name: name.to_string(), kind, values, has_missing }
    }

    /// The attribute's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the values are.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How many distinct values there are, a missing one included.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Every value as it is written, by code.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The code that stands for "no value".
    pub fn missing(&self) -> Option<Code> {
        self.has_missing.then(|| Code(self.values.len() as u32 - 1))
    }

    /// Every value that is not missing, with its code.
    pub fn present(&self) -> impl Iterator<Item = (Code, &str)> {
        let n_present = self.values.len() - usize::from(self.has_missing);
        self.values[..n_present].iter().enumerate().map(|(code, value)| (Code(code as u32), value.as_str()))
    }

    /// The code of a value as it is written.
    pub fn code(&self, value: &str) -> Option<Code> {
        let n_present = self.values.len() - usize::from(self.has_missing);
        self.values[..n_present]
            .binary_search_by(|known| compare(self.kind, known, value))
            .ok()
            .map(|code| Code(code as u32))
    }

    /// The values of two domains of the same attribute.
    pub fn united(&self, other: &Domain) -> Domain {
        let values = self.present().chain(other.present()).map(|(_, value)| value.to_string()).collect();
        let label = |domain: &Domain| domain.missing().map(|code| domain.values[code.index()].clone());
        Domain::new(&self.name, values, label(self).or_else(|| label(other)).as_deref())
    }

    /// The code here of each code of a domain whose values are all here.
    pub fn translation(&self, other: &Domain) -> Vec<Code> {
        let present = other.present().map(|(_, value)| self.code(value).expect("the value is here"));
        present.chain(other.missing().map(|_| self.missing().expect("missing is here"))).collect()
    }
}

fn compare(kind: Kind, a: &str, b: &str) -> Ordering {
    let by_value = match kind {
        Kind::Integer => match (a.parse::<i64>(), b.parse::<i64>()) {
            (Ok(a), Ok(b)) => Some(a.cmp(&b)),
            _ => None,
        },
        Kind::Number => match (Decimal::parse(a), Decimal::parse(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => None,
        },
        _ => None,
    };
    by_value.unwrap_or(Ordering::Equal).then_with(|| a.cmp(b))
}

/// Turns the cells of one column into provisional codes, batch after batch.
///
/// Code 0 always means "no value"; the others are given in order of appearance
/// and become canonical when the [`Domain`] is made.
pub struct Encoder {
    name: String,
    tokens: Vec<String>,
    /// A closed encoder gives no code to values that it does not know.
    closed: bool,
    values: Vec<String>,
    by_text: HashTable<u32>,
    by_integer: IntegerIndex,
    by_day: IntegerIndex,
}

/// What a closed encoder says of a value that it does not know.
pub(crate) const UNSEEN: u32 = u32::MAX;

impl Encoder {
    /// An encoder for the column of a name, which knows no value yet.
    pub fn new(name: &str, missing: &Missing) -> Encoder {
        Encoder {
            name: name.to_string(),
            tokens: missing.tokens.clone(),
            closed: false,
            values: vec![String::new()],
            by_text: HashTable::new(),
            by_integer: IntegerIndex::default(),
            by_day: IntegerIndex::default(),
        }
    }

    /// An encoder whose code minus one is the domain's code; 0 is missing, and the greatest code is any other value.
    pub fn of_domain(domain: &Domain, missing: &Missing) -> Encoder {
        let mut encoder = Encoder::new(domain.name(), missing);
        for (_, value) in domain.present() {
            encoder.code_of_text(value).expect("an open encoder takes any value");
        }
        encoder.closed = true;
        encoder
    }

    /// The name of the column.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many codes have been given, the one for "no value" included.
    pub fn n_codes(&self) -> usize {
        self.values.len()
    }

    /// The value behind each provisional code; the first is "no value".
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// Replaces `codes` by the codes of a column's cells.
    ///
    /// # Errors
    /// Where the column's type cannot be read, or has more values than can be numbered.
    pub fn encode(&mut self, column: &ArrayRef, codes: &mut Vec<u32>) -> Result<()> {
        codes.clear();
        codes.reserve(column.len());
        let cells = Cells::new(&self.name, column)?;
        self.encode_cells(&cells, codes)
    }

    fn encode_cells(&mut self, cells: &Cells, codes: &mut Vec<u32>) -> Result<()> {
        match cells {
            Cells::Integers(values, nulls) => {
                self.encode_integers(values, nulls.as_ref(), codes, |e| &mut e.by_integer, |value| value.to_string())
            }
            Cells::Days(values, nulls) => {
                self.encode_integers(values, nulls.as_ref(), codes, |e| &mut e.by_day, date_text)
            }
            Cells::Dictionary { keys, nulls, values } => {
                // A dictionary may list values that no record has; only those that occur get a code.
                let mut code_of_key = vec![UNSEEN; values.len()];
                let mut text = String::new();
                for (i, &key) in keys.iter().enumerate() {
                    if nulls.as_ref().is_some_and(|nulls| nulls.is_null(i)) {
                        codes.push(0);
                        continue;
                    }
                    let mut code = code_of_key[key];
                    if code == UNSEEN {
                        code = match values.read(key, &mut text) {
                            true => self.code_of_text(&text)?,
                            false => 0,
                        };
                        code_of_key[key] = code;
                    }
                    codes.push(code);
                }
                Ok(())
            }
            _ => {
                for i in 0..cells.len() {
                    codes.push(match cells.str_at(i) {
                        Some(text) => self.code_of_text(text)?,
                        None => 0,
                    });
                }
                Ok(())
            }
        }
    }

    fn encode_integers(
        &mut self,
        values: &[i64],
        nulls: Option<&NullBuffer>,
        codes: &mut Vec<u32>,
        index: impl Fn(&mut Encoder) -> &mut IntegerIndex,
        text: impl Fn(i64) -> String,
    ) -> Result<()> {
        for (i, &value) in values.iter().enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(i)) {
                codes.push(0);
                continue;
            }
            let mut code = index(self).get(value);
            if code == UNSEEN {
                code = self.code_of_text(&text(value))?;
                index(self).insert(value, code);
            }
            codes.push(code);
        }
        Ok(())
    }

    /// The code of a text, which gets one if it is new.
    ///
    /// # Errors
    /// Where there are more values than can be numbered.
    pub fn code_of_text(&mut self, text: &str) -> Result<u32> {
        let hash = hash_text(text);
        if let Some(&code) = self.by_text.find(hash, |&code| self.values[code as usize] == text) {
            return Ok(code);
        }
        if self.tokens.iter().any(|token| token == text) {
            return Ok(0);
        }
        if self.closed {
            return Ok(UNSEEN);
        }
        let code = u32::try_from(self.values.len()).ok().filter(|&code| code != UNSEEN).ok_or_else(|| {
            Error::new(ErrorKind::TooLarge, format!("column '{}' has too many distinct values", self.name))
        })?;
        self.values.push(text.to_string());
        let values = &self.values;
        self.by_text.insert_unique(hash, code, |&code| hash_text(&values[code as usize]));
        Ok(code)
    }
}

fn hash_text(text: &str) -> u64 {
    let mut hasher = FxBuildHasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Integer to code: an array for the small numbers that ages, counts and dates are, a map for the rest.
#[derive(Default)]
struct IntegerIndex {
    small: Vec<u32>,
    large: FxHashMap<i64, u32>,
}

const N_SMALL: usize = 1 << 16;

impl IntegerIndex {
    #[inline]
    fn get(&self, value: i64) -> u32 {
        match self.small.get(value as usize) {
            Some(&code) => code,
            None => self.large.get(&value).copied().unwrap_or(UNSEEN),
        }
    }

    fn insert(&mut self, value: i64, code: u32) {
        match usize::try_from(value) {
            Ok(value) if value < N_SMALL => {
                if self.small.len() <= value {
                    self.small.resize(value + 1, UNSEEN);
                }
                self.small[value] = code;
            }
            _ => {
                self.large.insert(value, code);
            }
        }
    }
}

/// The cells of one column, read as texts whatever their Arrow type.
pub enum Cells<'a> {
    /// Texts.
    Utf8(&'a StringArray),
    /// Long texts.
    LargeUtf8(&'a LargeStringArray),
    /// Texts by reference.
    Utf8View(&'a StringViewArray),
    /// Whole numbers, and which of them are there.
    Integers(Vec<i64>, Option<NullBuffer>),
    /// Days since 1970-01-01.
    Days(Vec<i64>, Option<NullBuffer>),
    /// Values by their numbers.
    Dictionary {
        /// By cell, the number of its value.
        keys: Vec<usize>,
        /// Which cells have a value.
        nulls: Option<NullBuffer>,
        /// The values.
        values: Box<Cells<'a>>,
    },
    /// Types that are rarely counted, written out once.
    Rendered(StringArray),
}

impl<'a> Cells<'a> {
    /// The cells of a column, whatever its type.
    ///
    /// # Errors
    /// Where the type is none that cells can be written from.
    pub fn new(name: &str, column: &'a ArrayRef) -> Result<Cells<'a>> {
        macro_rules! integers {
            ($type:ty) => {{
                let array = column.as_primitive::<$type>();
                let values = array.values().iter().map(|&value| value as i64).collect();
                Cells::Integers(values, array.nulls().cloned())
            }};
        }
        macro_rules! rendered {
            ($array:expr, |$a:ident, $i:ident| $text:expr) => {{
                let $a = $array;
                Cells::Rendered((0..$a.len()).map(|$i| $a.is_valid($i).then(|| $text)).collect())
            }};
        }
        macro_rules! timestamps {
            ($type:ty, $zone:expr, $n_per_second:expr) => {{
                // As a clock of the column's own zone showed it, which is when it was for those who wrote it down.
                let zone = Zone::of($zone.as_deref());
                let (suffix, ahead) = (zone.suffix(), zone.seconds() * $n_per_second);
                let shown = |value: i64| value.checked_add(ahead).and_then(as_datetime::<$type>);
                rendered!(column.as_primitive::<$type>(), |a, i| match shown(a.value(i)) {
                    Some(time) => format!("{}{suffix}", time.format("%Y-%m-%dT%H:%M:%S%.f")),
                    None => a.value(i).to_string(),
                })
            }};
        }
        Ok(match column.data_type() {
            DataType::Utf8 => Cells::Utf8(column.as_string()),
            DataType::LargeUtf8 => Cells::LargeUtf8(column.as_string()),
            DataType::Utf8View => Cells::Utf8View(column.as_string_view()),
            DataType::Int8 => integers!(Int8Type),
            DataType::Int16 => integers!(Int16Type),
            DataType::Int32 => integers!(Int32Type),
            DataType::Int64 => integers!(Int64Type),
            DataType::UInt8 => integers!(UInt8Type),
            DataType::UInt16 => integers!(UInt16Type),
            DataType::UInt32 => integers!(UInt32Type),
            DataType::UInt64 => rendered!(column.as_primitive::<UInt64Type>(), |a, i| a.value(i).to_string()),
            DataType::Float32 => rendered!(column.as_primitive::<Float32Type>(), |a, i| a.value(i).to_string()),
            DataType::Float64 => rendered!(column.as_primitive::<Float64Type>(), |a, i| a.value(i).to_string()),
            DataType::Boolean => rendered!(column.as_boolean(), |a, i| a.value(i).to_string()),
            DataType::Decimal128(..) => {
                rendered!(column.as_primitive::<Decimal128Type>(), |a, i| a.value_as_string(i))
            }
            DataType::Date32 => {
                let array = column.as_primitive::<Date32Type>();
                let days = array.values().iter().map(|&day| i64::from(day)).collect();
                Cells::Days(days, array.nulls().cloned())
            }
            DataType::Date64 => {
                let array = column.as_primitive::<Date64Type>();
                let days = array.values().iter().map(|&ms| ms.div_euclid(86_400_000)).collect();
                Cells::Days(days, array.nulls().cloned())
            }
            DataType::Timestamp(TimeUnit::Second, zone) => timestamps!(TimestampSecondType, zone, 1),
            DataType::Timestamp(TimeUnit::Millisecond, zone) => timestamps!(TimestampMillisecondType, zone, 1_000),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => timestamps!(TimestampMicrosecondType, zone, 1_000_000),
            DataType::Timestamp(TimeUnit::Nanosecond, zone) => {
                timestamps!(TimestampNanosecondType, zone, 1_000_000_000)
            }
            DataType::Null => Cells::Rendered(StringArray::new_null(column.len())),
            DataType::Dictionary(..) => {
                let dictionary = column.as_any_dictionary();
                let keys = match dictionary.values().is_empty() {
                    true => vec![0; dictionary.len()],
                    false => dictionary.normalized_keys(),
                };
                Cells::Dictionary {
                    keys,
                    nulls: dictionary.nulls().cloned(),
                    values: Box::new(Cells::new(name, dictionary.values())?),
                }
            }
            other => {
                return Err(Error::new(
                    ErrorKind::Data,
                    format!("column '{name}' has type {other}, which incrowd does not read"),
                )
                .hint("write the column as text, number or date, or leave it out of the file"));
            }
        })
    }

    /// How many cells there are.
    pub fn len(&self) -> usize {
        match self {
            Cells::Utf8(array) => array.len(),
            Cells::LargeUtf8(array) => array.len(),
            Cells::Utf8View(array) => array.len(),
            Cells::Rendered(array) => array.len(),
            Cells::Integers(values, _) | Cells::Days(values, _) => values.len(),
            Cells::Dictionary { keys, .. } => keys.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes cell `i` over `text`; false when there is no value.
    pub fn read(&self, i: usize, text: &mut String) -> bool {
        text.clear();
        match self {
            Cells::Integers(values, nulls) => {
                let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
                if valid {
                    use std::fmt::Write;
                    write!(text, "{}", values[i]).expect("writing to a string cannot fail");
                }
                valid
            }
            Cells::Days(values, nulls) => {
                let valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i));
                if valid {
                    text.push_str(&date_text(values[i]));
                }
                valid
            }
            Cells::Dictionary { keys, nulls, values } => {
                nulls.as_ref().is_none_or(|nulls| nulls.is_valid(i)) && values.read(keys[i], text)
            }
            _ => match self.str_at(i) {
                Some(cell) => {
                    text.push_str(cell);
                    true
                }
                None => false,
            },
        }
    }

    #[inline]
    fn str_at(&self, i: usize) -> Option<&str> {
        match self {
            Cells::Utf8(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::LargeUtf8(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::Utf8View(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::Rendered(array) => array.is_valid(i).then(|| array.value(i)),
            Cells::Integers(..) | Cells::Days(..) | Cells::Dictionary { .. } => {
                unreachable!("these are not stored as texts")
            }
        }
    }
}

/// The year, month and day that a text begins with, written as `2024-03-31`; a time of day may follow, and a zone: the
/// date is the one that its own clock showed. None where that is not known, as of `2024-01-31T23:30:00Z[Europe/Paris]`.
pub fn parse_date(text: &str) -> Option<(i32, u32, u32)> {
    let date = text.get(..10)?;
    if zone::is_of_named_zone(text) || !matches!(text.as_bytes().get(10), None | Some(b'T' | b' ')) {
        return None;
    }
    let (year, rest) = (date.get(..4)?, date.get(4..)?);
    let bytes = rest.as_bytes();
    if bytes[0] != b'-' || bytes[3] != b'-' {
        return None;
    }
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    let (year, month, day) = (number(year)?, number(rest.get(1..3)?)?, number(rest.get(4..6)?)?);
    let year = i32::try_from(year).ok()?;
    NaiveDate::from_ymd_opt(year, month, day).map(|_| (year, month, day))
}

/// The calendar repeats itself after 400 years, which are so many days. Columns can hold days that are farther away than
/// a calendar of any library goes.
const N_DAYS_OF_400_YEARS: i64 = 146_097;

/// The date that is `days` days after 1970-01-01, as `2024-03-31`.
pub fn date_text(days: i64) -> String {
    let within = i32::try_from(days.rem_euclid(N_DAYS_OF_400_YEARS)).ok().and_then(NaiveDate::from_epoch_days);
    let date = within.expect("a day of the 400 years from 1970 on");
    let year = i64::from(date.year()) + 400 * days.div_euclid(N_DAYS_OF_400_YEARS);
    format!("{year:04}-{:02}-{:02}", date.month(), date.day())
}

/// The number of days from 1970-01-01 to a date; the inverse of [`date_text`].
///
/// Days and months beyond the last lead on into the months and years that follow.
pub fn days_of_date(year: i32, month: u32, day: u32) -> i64 {
    let months = 12 * i64::from(year) + i64::from(month) - 1;
    let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
    let within = NaiveDate::from_ymd_opt(2000 + year.rem_euclid(400) as i32, month as u32 + 1, 1);
    let first = within.expect("the first day of a month");
    let n_years_of_400 = year.div_euclid(400) - 5;
    i64::from(first.to_epoch_days()) + n_years_of_400 * N_DAYS_OF_400_YEARS + i64::from(day) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn kinds() {
        for (text, kind) in [
            ("0", Kind::Integer),
            ("-12", Kind::Integer),
            ("007", Kind::Text),
            ("+1", Kind::Text),
            ("0.5", Kind::Number),
            ("1e3", Kind::Number),
            ("00.5", Kind::Text),
            ("nan", Kind::Text),
            ("2024-02-29", Kind::Date),
            ("2023-02-29", Kind::Text),
            ("2024-02-29T10:00:00", Kind::Date),
            ("2024-02-29T10:00:00+01:00", Kind::Date),
            ("2024-02-29T10:00:00Z[Europe/Paris]", Kind::Text),
            ("", Kind::Text),
            ("true", Kind::Boolean),
            ("17-21", Kind::Text),
        ] {
            assert_eq!(Kind::of(text), kind, "{text}");
        }
    }

    #[test]
    fn dates_and_days_are_inverse() {
        for days in (-800_000..800_000).step_by(97) {
            let text = date_text(days);
            if let Some((year, month, day)) = parse_date(&text) {
                assert_eq!(days_of_date(year, month, day), days);
            } else {
                assert!(days < -719_000, "{text} must parse");
            }
        }
        for (days, text) in [
            (0, "1970-01-01"),
            (-1, "1969-12-31"),
            (-719_468, "0000-03-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "10000-01-01"),
            (106_751_991_167, "292278994-08-17"),
            (-106_751_991_168, "-292275055-05-16"),
        ] {
            assert_eq!(date_text(days), text);
        }
        let leap_days = [(2000, true), (1900, false), (2024, true), (2023, false), (0, true)];
        for (year, is_there) in leap_days {
            assert_eq!(parse_date(&format!("{year:04}-02-29")).is_some(), is_there, "{year}");
        }
        assert_eq!(days_of_date(2024, 13, 32), days_of_date(2025, 2, 1));
    }

    #[test]
    fn a_domain_orders_numbers_by_size_and_puts_missing_last() {
        let values = ["10", "9", "100", "9"].map(String::from).to_vec();
        let domain = Domain::new("age", values, Some("?"));
        assert_eq!(domain.values(), ["9", "10", "100", "?"]);
        assert_eq!(domain.code("100"), Some(Code(2)));
        assert_eq!(domain.code("?"), None);
        assert_eq!(domain.missing(), Some(Code(3)));
    }

    #[test]
    fn what_cannot_be_read_is_missing_only_where_it_is_null() {
        use arrow_array::builder::{Int64Builder, ListBuilder};
        let missing = Missing { tokens: vec!["".into(), "1".into()], drop_records: true, ..Missing::default() };
        let mut lists = ListBuilder::new(Int64Builder::new());
        lists.append_value([Some(1)]);
        lists.append_null();
        let column: ArrayRef = Arc::new(lists.finish());
        assert!(Cells::new("x", &column).is_err());
        let mut keep = [true, true];
        missing.mark("x", &column, &mut keep).expect("any column can be marked");
        assert_eq!(keep, [true, false]);
    }

    #[test]
    fn every_way_to_store_a_column_gives_the_same_codes() {
        let missing = Missing { tokens: vec!["7".into()], drop_records: false, ..Missing::default() };
        let texts = [Some("3"), None, Some("70000"), Some("7"), Some("3")];
        let strings: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        let views: ArrayRef = Arc::new(StringViewArray::from(texts.to_vec()));
        let large: ArrayRef = Arc::new(LargeStringArray::from(texts.to_vec()));
        let numbers = texts.map(|t| t.map(|t| t.parse::<i64>().expect("a number")));
        let integers: ArrayRef = Arc::new(arrow_array::Int64Array::from(numbers.to_vec()));
        let floats: ArrayRef = Arc::new(arrow_array::Float64Array::from(numbers.map(|n| n.map(|n| n as f64)).to_vec()));
        let dictionary: ArrayRef = Arc::new(texts.into_iter().collect::<arrow_array::DictionaryArray<Int32Type>>());
        for column in [strings, views, large, integers, floats, dictionary] {
            let mut encoder = Encoder::new("x", &missing);
            let mut codes = Vec::new();
            encoder.encode(&column, &mut codes).expect("a readable column");
            assert_eq!(codes, [1, 0, 2, 0, 1], "{}", column.data_type());
            assert_eq!(encoder.values()[1..], ["3", "70000"]);
        }
    }
}
