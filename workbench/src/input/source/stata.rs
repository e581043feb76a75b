//! Files of Stata, from version 6 on (formats 108 to 119): codes as their labels, dates as such, and `.` to `.z` as missing.
//!
//! The formats are described at <https://www.stata.com/help.cgi?dta> and, the older ones, in `help dta_114` and `dta_113`.

use std::collections::HashMap;
use std::io::Read;

use incrowd::table::{date_text, days_of_date};
use incrowd::{Error, ErrorKind};

use super::held::{Cursor, Decoder, Held, ReadTable, damaged, moment_text, number_text, until_zero};
use super::options::{Labels, ReadOptions};
use super::said::Said;
use super::stream::FilePlace;

const STATA: &str = "Stata";

pub(super) fn open(place: &FilePlace, options: &ReadOptions) -> ReadTable {
    let mut bytes = Vec::new();
    place.bytes()?.read_to_end(&mut bytes).map_err(|error| crate::io_error(&place.path, error))?;
    let is_tagged = bytes.starts_with(b"<");
    if let Some(release) = bytes.first().filter(|release| !is_tagged && **release < 108) {
        return Err(Error::new(ErrorKind::Data, format!("is of a Stata before version 6 (format {release})"))
            .at(place.path.display().to_string())
            .hint("open it in Stata and save it again"));
    }
    let dictionary = if is_tagged { tagged(&bytes, options) } else { untagged(&bytes, options) };
    let table = dictionary.and_then(|dictionary| dictionary.table(&bytes, options));
    table.map(Held::finish).ok_or_else(|| damaged(STATA, &place.path))
}

/// What a variable's cells hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Byte,
    Int,
    Long,
    Float,
    Double,
    /// A text of so many bytes.
    Text(usize),
    /// A text of any length, which stands elsewhere in the file.
    LongText,
}

impl Kind {
    /// As files say it since version 13.
    fn of_number(number: u64) -> Option<Kind> {
        Some(match number {
            1..=2045 => Kind::Text(number as usize),
            32768 => Kind::LongText,
            65526 => Kind::Double,
            65527 => Kind::Float,
            65528 => Kind::Long,
            65529 => Kind::Int,
            65530 => Kind::Byte,
            _ => return None,
        })
    }

    /// As files said it with one byte, and before that with a letter.
    fn of_byte(byte: u8, release: u8) -> Option<Kind> {
        Some(match (byte, release) {
            (b'b', ..=110) | (251, 111..) => Kind::Byte,
            (b'i', ..=110) | (252, 111..) => Kind::Int,
            (b'l', ..=110) | (253, 111..) => Kind::Long,
            (b'f', ..=110) | (254, 111..) => Kind::Float,
            (b'd', ..=110) | (255, 111..) => Kind::Double,
            (128..=207, ..=110) => Kind::Text(usize::from(byte - 127)),
            (1..=244, 111..) => Kind::Text(usize::from(byte)),
            _ => return None,
        })
    }

    fn n_bytes(self) -> usize {
        match self {
            Kind::Byte => 1,
            Kind::Int => 2,
            Kind::Long | Kind::Float => 4,
            Kind::Double | Kind::LongText => 8,
            Kind::Text(n) => n,
        }
    }
}

struct Variable {
    name: String,
    label: String,
    kind: Kind,
    shown_as: Shown,
    /// The name of the labels of its values.
    labels: String,
}

/// What a number means: a count of something since 1960, or itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Number,
    Days,
    Milliseconds,
    /// With the seconds that were put in to keep up with the earth.
    MillisecondsAndLeaps,
    Weeks,
    Months,
    Quarters,
    HalfYears,
}

impl Shown {
    /// By the format that the variable is shown with: `%td`, `%-tcCCYY`, or the old `%d`.
    fn of(format: &str) -> Shown {
        let format = format.trim_start_matches('%').trim_start_matches('-');
        match format.strip_prefix('t').unwrap_or(format).chars().next() {
            Some('d') => Shown::Days,
            _ if !format.starts_with('t') => Shown::Number,
            Some('c') => Shown::Milliseconds,
            Some('C') => Shown::MillisecondsAndLeaps,
            Some('w') => Shown::Weeks,
            Some('m') => Shown::Months,
            Some('q') => Shown::Quarters,
            Some('h') => Shown::HalfYears,
            // A year is its own number; days of business need their calendar.
            _ => Shown::Number,
        }
    }

    /// What a number says that is shown so; where that is no date with a year of four digits, it is the number.
    fn text(self, number: f64) -> String {
        let first_day = days_of_date(1960, 1, 1);
        let (is_moment, n_leaps) = match self {
            Shown::Milliseconds => (true, 0.0),
            Shown::MillisecondsAndLeaps => (true, n_leaps_before(number / 1000.0)),
            _ => (false, 0.0),
        };
        if self == Shown::Number || number.abs() > if is_moment { 3e14 } else { 3e6 } {
            return number_text(number);
        }
        let (whole, seconds) = (number.floor() as i64, number / 1000.0 - n_leaps);
        let in_year = |n_per_year: i64| (1960 + whole.div_euclid(n_per_year) as i32, whole.rem_euclid(n_per_year));
        let day = match self {
            // A year has 52 weeks, and its last one is longer.
            Shown::Weeks => days_of_date(in_year(52).0, 1, 1) + 7 * in_year(52).1,
            Shown::Months => days_of_date(in_year(12).0, in_year(12).1 as u32 + 1, 1),
            Shown::Quarters => days_of_date(in_year(4).0, in_year(4).1 as u32 * 3 + 1, 1),
            Shown::HalfYears => days_of_date(in_year(2).0, in_year(2).1 as u32 * 6 + 1, 1),
            _ if is_moment => first_day + (seconds / 86_400.0).floor() as i64,
            _ => first_day + whole,
        };
        match (days_of_date(0, 1, 1)..=days_of_date(9999, 12, 31)).contains(&day) {
            true if is_moment => moment_text(first_day, seconds),
            true => date_text(day),
            false => number_text(number),
        }
    }
}

/// How many seconds were put in before so many seconds since 1960, which have them in.
fn n_leaps_before(seconds: f64) -> f64 {
    /// The years in which one was put in at the end of June, and of December.
    const JUNE: [i32; 11] = [1972, 1981, 1982, 1983, 1985, 1992, 1993, 1994, 1997, 2012, 2015];
    const DECEMBER: [i32; 16] =
        [1972, 1973, 1974, 1975, 1976, 1977, 1978, 1979, 1987, 1989, 1990, 1995, 1998, 2005, 2008, 2016];
    let days = JUNE.map(|year| days_of_date(year, 7, 1)).into_iter();
    let mut days: Vec<i64> = days.chain(DECEMBER.map(|year| days_of_date(year + 1, 1, 1))).collect();
    days.sort_unstable();
    let first_day = days_of_date(1960, 1, 1);
    let is_past = |(i, day): &(usize, i64)| (86_400 * (day - first_day)) as f64 + *i as f64 + 1.0 <= seconds;
    days.into_iter().enumerate().take_while(is_past).count() as f64
}

struct Dictionary {
    release: u8,
    is_big: bool,
    n_records: usize,
    variables: Vec<Variable>,
    decoder: Decoder,
    /// Where the records begin.
    data_at: usize,
}

/// How long names, formats and labels are in a file of some version.
struct Lengths {
    name: usize,
    format: usize,
    label: usize,
}

/// What variables are called and look like, each list as long as there are variables.
struct Lists<'a> {
    kinds: Vec<Kind>,
    names: Vec<&'a [u8]>,
    formats: Vec<&'a [u8]>,
    label_names: Vec<&'a [u8]>,
    labels: Vec<&'a [u8]>,
}

impl Lists<'_> {
    fn variables(self, decoder: &Decoder) -> Vec<Variable> {
        let text = |bytes: &[u8]| decoder.text(until_zero(bytes));
        let variable = |(i, kind): (usize, Kind)| Variable {
            name: text(self.names[i]),
            label: text(self.labels[i]),
            kind,
            shown_as: Shown::of(&text(self.formats[i])),
            labels: text(self.label_names[i]),
        };
        self.kinds.into_iter().enumerate().map(variable).collect()
    }
}

/// Reads everything before the records of a file with tags, as Stata writes them since version 13.
fn tagged(bytes: &[u8], options: &ReadOptions) -> Option<Dictionary> {
    let mut cursor = Cursor { bytes, at: 0, is_big: false };
    cursor.expect(b"<stata_dta><header><release>")?;
    let release = std::str::from_utf8(cursor.take(3)?).ok()?.parse::<u8>().ok().filter(|n| (117..=119).contains(n))?;
    cursor.expect(b"</release><byteorder>")?;
    cursor.is_big = match cursor.take(3)? {
        b"MSF" => true,
        b"LSF" => false,
        _ => return None,
    };
    cursor.expect(b"</byteorder><K>")?;
    let n = usize::try_from(cursor.unsigned(if release >= 119 { 4 } else { 2 })?).ok()?;
    cursor.expect(b"</K><N>")?;
    let n_records = usize::try_from(cursor.unsigned(if release >= 118 { 8 } else { 4 })?).ok()?;
    cursor.expect(b"</N><label>")?;
    let n_label = cursor.unsigned(if release >= 118 { 2 } else { 1 })?;
    cursor.take(n_label as usize)?;
    cursor.expect(b"</label><timestamp>")?;
    let n_time = cursor.unsigned(1)?;
    cursor.take(n_time as usize)?;
    cursor.expect(b"</timestamp></header><map>")?;
    cursor.take(14 * 8)?;
    cursor.expect(b"</map><variable_types>")?;
    let kinds = (0..n).map(|_| cursor.unsigned(2).and_then(Kind::of_number)).collect::<Option<_>>()?;
    let lengths = match release {
        117 => Lengths { name: 33, format: 49, label: 81 },
        _ => Lengths { name: 129, format: 57, label: 321 },
    };
    cursor.expect(b"</variable_types><varnames>")?;
    let names = cursor.list(n, lengths.name)?;
    cursor.expect(b"</varnames><sortlist>")?;
    cursor.take((n + 1).checked_mul(if release >= 119 { 4 } else { 2 })?)?;
    cursor.expect(b"</sortlist><formats>")?;
    let formats = cursor.list(n, lengths.format)?;
    cursor.expect(b"</formats><value_label_names>")?;
    let label_names = cursor.list(n, lengths.name)?;
    cursor.expect(b"</value_label_names><variable_labels>")?;
    let labels = cursor.list(n, lengths.label)?;
    cursor.expect(b"</variable_labels><characteristics>")?;
    while cursor.expect(b"<ch>").is_some() {
        let n = cursor.size()?;
        cursor.take(n)?;
        cursor.expect(b"</ch>")?;
    }
    cursor.expect(b"</characteristics><data>")?;
    let decoder = decoder_of(release, options);
    let variables = Lists { kinds, names, formats, label_names, labels }.variables(&decoder);
    Some(Dictionary { release, is_big: cursor.is_big, n_records, variables, decoder, data_at: cursor.at })
}

/// Reads everything before the records of an older file.
fn untagged(bytes: &[u8], options: &ReadOptions) -> Option<Dictionary> {
    let [release @ 108..=115, order, _, _, ..] = *bytes else { return None };
    let mut cursor = Cursor { bytes, at: 4, is_big: order == 1 };
    let n = usize::try_from(cursor.unsigned(2)?).ok()?;
    let n_records = cursor.size()?;
    cursor.take(81 + 18)?;
    let lengths =
        Lengths { name: if release >= 110 { 33 } else { 9 }, format: if release >= 114 { 49 } else { 12 }, label: 81 };
    let kinds = cursor.take(n)?.iter().map(|byte| Kind::of_byte(*byte, release)).collect::<Option<_>>()?;
    let names = cursor.list(n, lengths.name)?;
    cursor.take(2 * (n + 1))?;
    let formats = cursor.list(n, lengths.format)?;
    let label_names = cursor.list(n, lengths.name)?;
    let labels = cursor.list(n, lengths.label)?;
    // What Stata keeps for itself.
    loop {
        let kind = cursor.unsigned(1)?;
        let n = cursor.unsigned(if release >= 110 { 4 } else { 2 })?;
        cursor.take(usize::try_from(n).ok()?)?;
        if kind == 0 && n == 0 {
            break;
        }
    }
    let decoder = decoder_of(release, options);
    let variables = Lists { kinds, names, formats, label_names, labels }.variables(&decoder);
    Some(Dictionary { release, is_big: cursor.is_big, n_records, variables, decoder, data_at: cursor.at })
}

/// Stata writes UTF-8 since version 14, and some programs do not; before, it wrote what the computer did, and did not say
/// what that was.
fn decoder_of(release: u8, options: &ReadOptions) -> Decoder {
    Decoder::guessing(options.encoding.filter(|_| release < 118))
}

/// The labels of values, by the name that variables call them by.
type ValueLabels = HashMap<String, HashMap<i32, String>>;

impl Dictionary {
    fn table(&self, bytes: &[u8], options: &ReadOptions) -> Option<Held> {
        let n_record_bytes: usize = self.variables.iter().map(|variable| variable.kind.n_bytes()).sum();
        let n_bytes = n_record_bytes.checked_mul(self.n_records).filter(|_| n_record_bytes > 0)?;
        let mut cursor = Cursor { bytes, at: self.data_at, is_big: self.is_big };
        let data = cursor.take(n_bytes)?;
        let long_texts = self.long_texts(&mut cursor)?;
        let value_labels = self.value_labels(&mut cursor)?;
        let none = HashMap::new();
        let labels_of = |variable: &Variable| match options.labels {
            Labels::Labels => value_labels.get(&variable.labels).unwrap_or(&none),
            Labels::Codes => &none,
        };
        let said = |variable: &Variable| Said {
            label: variable.label.clone(),
            codes: labels_of(variable).iter().map(|(code, label)| (*code, label.clone())).collect(),
        };
        let mut held = Held::new(self.variables.iter().map(|variable| (variable.name.clone(), said(variable))));
        for record in data.chunks_exact(n_record_bytes) {
            let mut cell = Cursor { bytes: record, at: 0, is_big: self.is_big };
            for (column, variable) in self.variables.iter().enumerate() {
                let text = match variable.kind {
                    Kind::Text(n) => Some(self.decoder.text(until_zero(cell.take(n)?))),
                    Kind::LongText => match self.place_of_long_text(&mut cell)? {
                        (0, 0) => None,
                        place => Some(long_texts.get(&place)?.clone()),
                    },
                    kind => self.number(kind, &mut cell)?.map(|number| number.text(variable, labels_of(variable))),
                };
                held.push(column, text.as_deref().filter(|text| !text.is_empty()));
            }
            held.end_record();
        }
        held.guessed(&self.decoder);
        Some(held)
    }

    /// The next number of a record; none within where it is one of those that mean "no value".
    fn number(&self, kind: Kind, cell: &mut Cursor) -> Option<Option<Number>> {
        let bits = cell.unsigned(kind.n_bytes())?;
        // Before version 8 there was one such number, the largest; since then there are 27.
        let whole = |number: i32, largest: i32| {
            let is_missing = if self.release < 113 { number == largest } else { number > largest - 27 };
            (!is_missing).then_some(Number::Whole(number))
        };
        Some(match kind {
            Kind::Byte => whole(i32::from(bits as u8 as i8), 127),
            Kind::Int => whole(i32::from(bits as u16 as i16), 32_767),
            Kind::Long => whole(bits as u32 as i32, i32::MAX),
            Kind::Float => {
                let number = f32::from_bits(bits as u32);
                (number.is_finite() && number < 2f32.powi(127)).then_some(Number::Short(number))
            }
            _ => {
                let number = f64::from_bits(bits);
                (number.is_finite() && number < 2f64.powi(1023)).then_some(Number::Long(number))
            }
        })
    }

    /// Where a long text stands: two numbers that it is known by.
    fn place_of_long_text(&self, cell: &mut Cursor) -> Option<(u64, u64)> {
        let n = match self.release {
            117 => 4,
            118 => 2,
            _ => 3,
        };
        Some((cell.unsigned(n)?, cell.unsigned(8 - n)?))
    }

    fn long_texts(&self, cursor: &mut Cursor) -> Option<HashMap<(u64, u64), String>> {
        let mut texts = HashMap::new();
        if self.release < 117 {
            return Some(texts);
        }
        cursor.expect(b"</data><strls>")?;
        while cursor.expect(b"GSO").is_some() {
            let place = (cursor.unsigned(4)?, cursor.unsigned(if self.release >= 118 { 8 } else { 4 })?);
            let _is_text = cursor.unsigned(1)?;
            let n = cursor.size()?;
            texts.insert(place, self.decoder.text(until_zero(cursor.take(n)?)));
        }
        cursor.expect(b"</strls>")?;
        Some(texts)
    }

    fn value_labels(&self, cursor: &mut Cursor) -> Option<ValueLabels> {
        let is_tagged = self.release >= 117;
        let n_name = match self.release {
            118.. => 129,
            110.. => 33,
            _ => 9,
        };
        let mut all = HashMap::new();
        if is_tagged {
            cursor.expect(b"<value_labels>")?;
        }
        let is_next = |cursor: &mut Cursor| match is_tagged {
            true => cursor.expect(b"<lbl>").is_some(),
            false => cursor.at < cursor.bytes.len(),
        };
        while is_next(cursor) {
            let n_bytes = cursor.size()?;
            let name = self.decoder.text(until_zero(cursor.take(n_name)?));
            cursor.take(3)?;
            let mut table = Cursor { bytes: cursor.take(n_bytes)?, at: 0, is_big: self.is_big };
            let (n, n_texts) = (table.size()?, table.size()?);
            let mut starts = Cursor { bytes: table.take(n.checked_mul(4)?)?, at: 0, is_big: self.is_big };
            let mut codes = Cursor { bytes: table.take(n.checked_mul(4)?)?, at: 0, is_big: self.is_big };
            let texts = table.take(n_texts)?;
            let mut labels = HashMap::new();
            for _ in 0..n {
                let label = self.decoder.text(until_zero(texts.get(starts.size()?..)?));
                labels.insert(codes.i32()?, label);
            }
            all.insert(name, labels);
            if is_tagged {
                cursor.expect(b"</lbl>")?;
            }
        }
        if is_tagged {
            cursor.expect(b"</value_labels></stata_dta>")?;
        }
        Some(all)
    }
}

/// A number as it is stored: what is short is written in short, 0.1 and not 0.10000000149011612.
enum Number {
    Whole(i32),
    Short(f32),
    Long(f64),
}

impl Number {
    /// What a cell with this number says.
    fn text(&self, variable: &Variable, labels: &HashMap<i32, String>) -> String {
        let (number, short) = match *self {
            Number::Whole(number) => (f64::from(number), None),
            Number::Short(number) => (f64::from(number), Some(number)),
            Number::Long(number) => (number, None),
        };
        let code = (number.fract() == 0.0 && number.abs() < 2e9).then_some(number as i32);
        match (code.and_then(|code| labels.get(&code)), short) {
            (Some(label), _) if !label.is_empty() => label.clone(),
            (_, Some(short)) if variable.shown_as == Shown::Number && short.fract() != 0.0 => format!("{short}"),
            _ => variable.shown_as.text(number),
        }
    }
}
