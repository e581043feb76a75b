//! What the values of a column look like: e-mail addresses, national numbers, dates, diagnoses, countries and the like.

use super::people_numbers::{fits, is_national_number, luhn};
use super::scales::{is_sex_word, is_yes_no_word, month_of};
use super::world::{continent_of_code, continent_of_name};
use crate::input::names::plain;
use incrowd::table::parse_date;

/// What a value can look like, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    Email,
    WebAddress,
    NetworkAddress,
    BankAccount,
    CardNumber,
    NationalNumber,
    Uuid,
    Coordinates,
    Phone,
    Street,
    /// `2013-08-13 06:03:42`.
    Moment,
    /// Day first, as `31.12.2019`.
    DayFirst,
    /// Month first, as `12/31/2019`.
    MonthFirst,
    /// Year first, as `2019/12/31` or `20191231`.
    YearFirst,
    /// With the name of the month, as `12-Mar-2020` or `Monday, January 3, 1791`.
    MonthInWords,
    /// `18-29`, `[60-70)`, `65+`.
    Range,
    Sex,
    YesNo,
    Postcode,
    Country,
    CountryCode,
    Icd10,
    /// `AT12`, `DE-BY`: a country and what is within it.
    RegionCode,
}

pub(super) const N_SHAPES: usize = Shape::RegionCode as usize + 1;

impl Shape {
    const ALL: [Shape; N_SHAPES] = [
        Shape::Email,
        Shape::WebAddress,
        Shape::NetworkAddress,
        Shape::BankAccount,
        Shape::CardNumber,
        Shape::NationalNumber,
        Shape::Uuid,
        Shape::Coordinates,
        Shape::Phone,
        Shape::Street,
        Shape::Moment,
        Shape::DayFirst,
        Shape::MonthFirst,
        Shape::YearFirst,
        Shape::MonthInWords,
        Shape::Range,
        Shape::Sex,
        Shape::YesNo,
        Shape::Postcode,
        Shape::Country,
        Shape::CountryCode,
        Shape::Icd10,
        Shape::RegionCode,
    ];

    /// What names a person, or leads to one, whoever has it.
    pub fn names_people(self) -> bool {
        self <= Shape::Street
    }

    pub fn is_date(self) -> bool {
        (Shape::Moment..=Shape::MonthInWords).contains(&self)
    }

    /// In the plural, for a reason.
    pub fn in_words(self) -> &'static str {
        match self {
            Shape::Email => "e-mail addresses",
            Shape::WebAddress => "web addresses",
            Shape::NetworkAddress => "network addresses",
            Shape::BankAccount => "bank accounts",
            Shape::CardNumber => "card numbers",
            Shape::NationalNumber => "national numbers of people",
            Shape::Uuid => "universal identifiers",
            Shape::Coordinates => "coordinates",
            Shape::Phone => "phone numbers",
            Shape::Street => "street addresses",
            Shape::Moment => "points in time",
            Shape::DayFirst => "dates, day first",
            Shape::MonthFirst => "dates, month first",
            Shape::YearFirst => "dates, year first",
            Shape::MonthInWords => "dates in words",
            Shape::Range => "ranges",
            Shape::Sex => "words for sex",
            Shape::YesNo => "yes and no",
            Shape::Postcode => "postcodes",
            Shape::Country => "countries",
            Shape::CountryCode => "codes of countries",
            Shape::Icd10 => "diagnoses of ICD-10",
            Shape::RegionCode => "codes of regions",
        }
    }
}

/// Distinct values that are looked at; more would say the same.
const N_LOOKED_AT: u32 = 2_000;

/// How many distinct values have each shape.
#[derive(Default)]
pub(super) struct Shapes {
    n_looked_at: u32,
    n_words: u32,
    n_by_shape: [u32; N_SHAPES],
    /// By first letter, the ICD-10 codes: those of one letter are rather numbers of something else.
    icd_letters: u32,
}

impl Shapes {
    pub(super) fn look_at(&mut self, text: &str) {
        if self.n_looked_at >= N_LOOKED_AT {
            return;
        }
        let text = text.trim();
        self.n_looked_at += 1;
        self.n_words += text.split_whitespace().count() as u32;
        for shape in Shape::ALL {
            self.n_by_shape[shape as usize] += u32::from(has_shape(text, shape));
        }
        if let Some(letter) = text.bytes().next().filter(u8::is_ascii_uppercase) {
            self.icd_letters |= 1 << (letter - b'A');
        }
    }

    /// The most telling shape that nearly all values have.
    pub(super) fn finish(&self) -> Option<Shape> {
        Shape::ALL.into_iter().find(|shape| {
            let (n, of) = (self.n_by_shape[*shape as usize], self.n_looked_at);
            let is_enough = match shape {
                Shape::Sex | Shape::YesNo => n == of,
                // Lists of countries have a few words more: "Other", "Unknown".
                Shape::Country => 10 * n >= 7 * of,
                Shape::CountryCode => 20 * n >= 19 * of,
                _ => 10 * n >= 9 * of,
            };
            let n_least = match shape {
                Shape::Sex | Shape::YesNo | Shape::Range => 2,
                Shape::Email | Shape::WebAddress | Shape::Uuid | Shape::BankAccount => 1,
                Shape::CardNumber | Shape::NationalNumber => 5,
                Shape::Icd10 if self.icd_letters.count_ones() < 3 => u32::MAX,
                _ => 3,
            };
            is_enough && n >= n_least
        })
    }

    /// The mean number of words of a value.
    pub(super) fn mean_words(&self) -> f64 {
        f64::from(self.n_words) / f64::from(self.n_looked_at.max(1))
    }
}

fn has_shape(text: &str, shape: Shape) -> bool {
    match shape {
        Shape::Email => is_email(text),
        Shape::WebAddress => ["http://", "https://", "www."].iter().any(|start| starts_with(text, start)),
        Shape::NetworkAddress => text.contains(['.', ':']) && text.parse::<std::net::IpAddr>().is_ok(),
        Shape::BankAccount => is_iban(text),
        Shape::CardNumber => is_card_number(text),
        Shape::NationalNumber => is_national_number(text),
        Shape::Uuid => fits(text, "hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh"),
        Shape::Coordinates => is_pair_of_coordinates(text),
        Shape::Phone => is_phone(text),
        Shape::Street => is_street(text),
        Shape::Moment => date_of(text).is_some_and(|date| date.has_time),
        Shape::DayFirst => date_of(text).is_some_and(|date| !date.has_time && date.can_be_day_first),
        Shape::MonthFirst => date_of(text).is_some_and(|date| !date.has_time && date.can_be_month_first),
        Shape::YearFirst => date_of(text).is_some_and(|date| !date.has_time && date.is_year_first),
        Shape::MonthInWords => month_in_words(text).is_some(),
        Shape::Range => range_of(text).is_some(),
        Shape::Sex => is_sex_word(text),
        Shape::YesNo => is_yes_no_word(text),
        Shape::Postcode => POSTCODES.iter().any(|pattern| fits(text, pattern)),
        Shape::Country => continent_of_name(text).is_some(),
        Shape::CountryCode => continent_of_code(text).is_some(),
        Shape::Icd10 => is_icd10(text),
        Shape::RegionCode => is_region_code(text),
    }
}

fn starts_with(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Postcodes that are more than digits: Polish, Portuguese, Brazilian, Dutch, Swedish, British, Canadian, of the United States.
const POSTCODES: [&str; 14] = [
    "99-999",
    "9999-999",
    "99999-999",
    "9999 AA",
    "9999AA",
    "999 99",
    "A9 9AA",
    "A99 9AA",
    "AA9 9AA",
    "AA99 9AA",
    "A9A 9AA",
    "AA9A 9AA",
    "A9A 9A9",
    "99999-9999",
];

fn is_email(text: &str) -> bool {
    let Some((name, domain)) = text.split_once('@') else { return false };
    !name.is_empty() && !text.contains(char::is_whitespace) && domain.contains('.') && !domain.starts_with('.')
}

/// The check of ISO 13616: letters are numbers from 10 on, and the remainder by 97 is 1.
fn is_iban(text: &str) -> bool {
    let compact: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let is_formed = (15..=34).contains(&compact.len())
        && compact[..2].iter().all(u8::is_ascii_uppercase)
        && compact[2..4].iter().all(u8::is_ascii_digit)
        && compact.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let digit = |remainder: u32, byte: &u8| match byte.is_ascii_digit() {
        true => (remainder * 10 + u32::from(byte - b'0')) % 97,
        false => (remainder * 100 + u32::from(byte - b'A') + 10) % 97,
    };
    is_formed && compact[4..].iter().chain(&compact[..4]).fold(0, digit) == 1
}

/// Four groups of four, or 13 to 19 digits with Luhn's check; a plain number needs more than that to be a card.
fn is_card_number(text: &str) -> bool {
    let digits: Vec<u32> = text.chars().filter_map(|character| character.to_digit(10)).collect();
    let is_formed = text.bytes().all(|byte| byte.is_ascii_digit() || b" -".contains(&byte));
    is_formed && (13..=19).contains(&digits.len()) && luhn(&digits)
}

/// `48.2082, 16.3738`.
fn is_pair_of_coordinates(text: &str) -> bool {
    let text = text.trim_matches(['(', ')', '[', ']']);
    let Some((latitude, longitude)) = text.split_once([',', ';']) else { return false };
    let within = |text: &str, most: f64| {
        let text = text.trim();
        text.contains('.') && text.parse().is_ok_and(|degrees: f64| degrees.abs() <= most)
    };
    within(latitude, 90.0) && within(longitude, 180.0)
}

/// Seven to fifteen digits that begin as phone numbers do, in groups.
fn is_phone(text: &str) -> bool {
    let n_digits = text.bytes().filter(u8::is_ascii_digit).count();
    let is_formed = text.bytes().all(|byte| byte.is_ascii_digit() || b" +-()/.".contains(&byte));
    let begins = text.starts_with(['+', '(']) || (text.starts_with('0') && text.contains([' ', '/', '-']));
    let is_american = ["999-999-9999", "999.999.9999", "999 999 9999", "1-999-999-9999"].iter().any(|p| fits(text, p));
    is_formed
        && (7..=15).contains(&n_digits)
        && (begins || is_american)
        && text.parse::<f64>().is_err()
        && date_of(text).is_none()
}

/// A house number at one end, and a word for a street.
fn is_street(text: &str) -> bool {
    const STREETS: &str = "street st str. straße strasse weg platz gasse allee road rd avenue ave lane ln drive dr \
        highway hwy boulevard blvd court ct way place terrace circle parkway pkwy square close crescent ridge \
        rue calle avenida via piazza rua ulica ul. straat gatan";
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let has_number = words.len() >= 2 && words.iter().any(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let is_street = |word: &&str| {
        let mut streets = STREETS.split_whitespace();
        streets.any(|street| *word == street || (street.len() >= 4 && word.len() > 5 && word.ends_with(street)))
    };
    has_number && words.iter().any(is_street)
}

/// A letter, a digit, a digit or letter, and one more, or up to four after a point: longer ones without a point may be numbers
/// of people.
fn is_icd10(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_rest = |rest: &[u8]| {
        let n_most = if rest.starts_with(b".") { 5 } else { 1 };
        let rest_of_point = rest.strip_prefix(b".").unwrap_or(rest);
        rest.len() <= n_most && rest_of_point.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
    };
    bytes.len() >= 3
        && bytes[0].is_ascii_uppercase()
        && bytes[1].is_ascii_digit()
        && (bytes[2].is_ascii_digit() || bytes[2].is_ascii_uppercase())
        && is_rest(&bytes[3..])
}

/// NUTS (`AT12`) and ISO 3166-2 (`DE-BY`).
fn is_region_code(text: &str) -> bool {
    let Some((country, rest)) = text.split_at_checked(2) else { return false };
    let rest = rest.strip_prefix('-').unwrap_or(rest);
    let is_rest =
        (1..=3).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    let has_mark = text.contains('-') || rest.bytes().any(|byte| byte.is_ascii_digit());
    is_rest && has_mark && (continent_of_code(country).is_some() || ["EL", "UK"].contains(&country))
}

/// A date as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrittenDate {
    /// Its three numbers, in the order in which they stand.
    pub parts: [u32; 3],
    pub is_year_first: bool,
    pub can_be_day_first: bool,
    pub can_be_month_first: bool,
    pub has_time: bool,
}

impl WrittenDate {
    /// Year and month.
    pub(super) fn month(&self, shape: Shape) -> (u32, u32) {
        let [a, b, c] = self.parts;
        let full = |year: u32| if year < 100 { year + if year < 30 { 2000 } else { 1900 } } else { year };
        match shape {
            Shape::MonthFirst => (full(c), a),
            Shape::DayFirst => (full(c), b),
            _ => (a, b),
        }
    }
}

/// A date of numbers with one separator, with a time behind it or not; none of those that the table has as dates already.
pub(super) fn date_of(text: &str) -> Option<WrittenDate> {
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    if time.is_none() && parse_date(text).is_some() {
        return None;
    }
    let is_time = |time: &str| time.len() >= 4 && time.starts_with(|c: char| c.is_ascii_digit()) && time.contains(':');
    let parts: Vec<&str> = match date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) {
        true => vec![&date[..4], &date[4..6], &date[6..]],
        false => {
            let separator = date.chars().find(|character| ['.', '/', '-'].contains(character))?;
            date.split(separator).collect()
        }
    };
    let [a, b, c] = parts[..] else { return None };
    let number = |text: &str| {
        let is_digits = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_digits { text.parse::<u32>().ok() } else { None }
    };
    let numbers = [number(a)?, number(b)?, number(c)?];
    let (is_day, is_month) = (|n: u32| (1..=31).contains(&n), |n: u32| (1..=12).contains(&n));
    let is_year = |text: &str, n: u32| (text.len() == 4 && (1800..2100).contains(&n)) || text.len() == 2;
    let is_year_first = a.len() == 4 && is_year(a, numbers[0]) && is_month(numbers[1]) && is_day(numbers[2]);
    let is_year_last = is_year(c, numbers[2]) && a.len() <= 2 && b.len() <= 2;
    let can_be_day_first = is_year_last && is_day(numbers[0]) && is_month(numbers[1]);
    let can_be_month_first = is_year_last && is_month(numbers[0]) && is_day(numbers[1]);
    let has_time = time.is_some();
    let is_formed = time.is_none_or(is_time) && (is_year_first || can_be_day_first || can_be_month_first);
    is_formed.then_some(WrittenDate { parts: numbers, is_year_first, can_be_day_first, can_be_month_first, has_time })
}

/// Year and month of a date with the name of its month, in the languages of the months that are scales.
pub(super) fn month_in_words(text: &str) -> Option<(u32, u32)> {
    // Most values are none, which is seen quickly: a day, a year and the letters of a month.
    let n_digits = text.bytes().filter(u8::is_ascii_digit).count();
    let n_letters = text.bytes().filter(|byte| byte.is_ascii_alphabetic()).count();
    if n_digits < 5 || n_letters < 2 || text.len() > 60 {
        return None;
    }
    let plain = plain(text);
    let is_turn = |a: char, b: char| a.is_alphabetic() == b.is_alphabetic() && a.is_numeric() == b.is_numeric();
    let characters: Vec<char> = plain.chars().collect();
    let words: Vec<String> = characters.chunk_by(|a, b| is_turn(*a, *b)).map(|word| word.iter().collect()).collect();
    let mut months = words.iter().filter_map(|word| month_of(word));
    let mut numbers = words.iter().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let (month, None) = (months.next()?, months.next()) else { return None };
    let year = numbers.find(|word| word.len() == 4).and_then(|word| word.parse().ok());
    let has_day =
        words.iter().any(|word| word.len() <= 2 && word.parse().is_ok_and(|day: u32| (1..=31).contains(&day)));
    year.filter(|year| has_day && (1500..2100).contains(year)).map(|year| (year, month))
}

/// The ends of a range in words: `18-29`, `[60-70)`, `(39,49]`, `65+`, `> 60`, `under 18`; infinite where there is none.
pub(super) fn range_of(text: &str) -> Option<(f64, f64)> {
    let text: String = text.chars().filter(|character| !character.is_whitespace() && *character != '$').collect();
    let lower = text.to_lowercase();
    // Numbers of people are written with zeros in front, ends of ranges are not: 01-0002.
    let is_padded = |text: &str| text.len() > 1 && text.starts_with('0') && !text.starts_with("0.");
    let number = |text: &str| text.replace(',', "").parse::<f64>().ok().filter(|_| !is_padded(text));
    for start in [">=", ">", "≥", "over", "above", "greaterthan", "morethan", "ab", "über"] {
        if let Some(least) = lower.strip_prefix(start).and_then(number) {
            return Some((least, f64::INFINITY));
        }
    }
    for start in ["<=", "<", "≤", "under", "below", "lessthan", "unter", "bis"] {
        if let Some(most) = lower.strip_prefix(start).and_then(number) {
            return Some((f64::NEG_INFINITY, most));
        }
    }
    for end in ["+", "andover", "undälter", "yomás", "orolder", "ormore"] {
        if let Some(least) = lower.strip_suffix(end).and_then(number) {
            return Some((least, f64::INFINITY));
        }
    }
    let inner = lower.trim_start_matches(['[', '(', ']']).trim_end_matches([']', ')', '[']);
    let has_brackets = inner.len() < lower.len();
    // The first separator after a digit: a number may begin with a minus.
    let is_separator = |(i, c): &(usize, char)| {
        let is_mark = ['-', '–', '_'].contains(c) || (has_brackets && [',', ';'].contains(c));
        *i > 0 && is_mark && inner[..*i].ends_with(|before: char| before.is_ascii_digit())
    };
    let at = |(i, c): (usize, char)| (inner[..i].to_string(), inner[i + c.len_utf8()..].to_string());
    let (least, most) = inner.char_indices().find(is_separator).map(at).or_else(|| {
        let (least, most) = inner.split_once("to")?;
        Some((least.to_string(), most.to_string()))
    })?;
    let (least, most) = (number(&least)?, number(&most)?);
    (least < most).then_some((least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(values: &[&str]) -> Option<Shape> {
        let mut shapes = Shapes::default();
        values.iter().for_each(|value| shapes.look_at(value));
        shapes.finish()
    }

    #[test]
    fn values_are_recognized_by_what_they_look_like() {
        for (values, expected) in [
            (&["a@b.org", "c.d@e.co.uk", "x@y.de"][..], Some(Shape::Email)),
            (&["https://a.org/x", "www.b.de", "http://c"], Some(Shape::WebAddress)),
            (&["10.0.0.1", "192.168.1.77", "8.8.8.8"], Some(Shape::NetworkAddress)),
            (&["fe80::1", "2001:db8::7", "::1"], Some(Shape::NetworkAddress)),
            (&["DE89 3704 0044 0532 0130 00", "GB82WEST12345698765432"], Some(Shape::BankAccount)),
            (&["DE89 3704 0044 0532 0130 01", "GB82WEST12345698765431"], None),
            (&["48.2082, 16.3738", "(52.52,13.405)", "-33.86;151.2"], Some(Shape::Coordinates)),
            (&["+49 30 901820", "(212) 555-0123", "0171/1234567", "212-555-0199"], Some(Shape::Phone)),
            (&["Main Street 5", "12 High Road", "Hauptstraße 7", "Calle Mayor 3"], Some(Shape::Street)),
            (&["9935 4th Drive", "6608 MLK Hwy", "1416 Oak Ridge", "12 Washington St"], Some(Shape::Street)),
            (&["2013-08-13 06:03:42", "2014-01-26T03:45", "1999-12-31 23:59"], Some(Shape::Moment)),
            (&["31.12.2019", "01.02.2020", "15.07.1988"], Some(Shape::DayFirst)),
            (&["12/31/2019", "02/01/2020", "07/15/1988"], Some(Shape::MonthFirst)),
            (&["20191231", "20200201", "19880715"], Some(Shape::YearFirst)),
            (&["12-Mar-2020", "03JAN2015", "Monday, May 3, 1791", "1. Dezember 1999"], Some(Shape::MonthInWords)),
            (&["May 2020", "the 5 of March", "March 3 and April 4 2020"], None),
            (&["2019-12-31", "2020-02-01", "1988-07-15"], None),
            (&["[60-70)", "[70-80)", "[80-90)"], Some(Shape::Range)),
            (&["18-29", "30-44", "> 60", "Less than 18"], Some(Shape::Range)),
            (&["(-1,0]", "(0,5]", "(19,29]"], Some(Shape::Range)),
            (&["M", "F"], Some(Shape::Sex)),
            (&["männlich", "weiblich"], Some(Shape::Sex)),
            (&["yes", "no"], Some(Shape::YesNo)),
            (&["SW1A 1AA", "M1 1AE", "EC1A 1BB"], Some(Shape::Postcode)),
            (&["00-950", "30-001", "80-180"], Some(Shape::Postcode)),
            (&["Germany", "United-States", "España", "Other"], Some(Shape::Country)),
            (&["DEU", "FRA", "USA"], Some(Shape::CountryCode)),
            (&["I10", "E11.9", "J45.0", "Z00"], Some(Shape::Icd10)),
            (&["E05", "E06", "E07", "E04"], None),
            (&["D000355", "B001210", "I000025", "T000254"], None),
            (&["AT1", "AT12", "DE21"], Some(Shape::RegionCode)),
            (&["DE-BY", "FR-75", "ES-M"], Some(Shape::RegionCode)),
            (&["12", "15", "99"], None),
            (&["alpha", "beta", "gamma"], None),
        ] {
            assert_eq!(shape_of(values), expected, "{values:?}");
        }
    }

    #[test]
    fn ranges_have_ends() {
        assert_eq!(range_of("18-29"), Some((18.0, 29.0)));
        assert_eq!(range_of("(-1,0]"), Some((-1.0, 0.0)));
        assert_eq!(range_of("$25,000 - $49,999"), Some((25_000.0, 49_999.0)));
        assert_eq!(range_of("65+"), Some((65.0, f64::INFINITY)));
        for text in ["18", "-5", "a-b", "2019-12-31", "+", "E10_49", "29-18", "01-0002", "1-0020"] {
            assert_eq!(range_of(text), None, "{text}");
        }
    }
}
