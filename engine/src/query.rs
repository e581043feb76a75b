//! How wrong an analyst gets it who counts records in a release instead of the table.
//!
//! A query asks how many records have a quasi-identifier in a range or among some values, for one or several of them.
//! From a release it is estimated as if the records of a group were spread evenly over the group's box.

use std::cell::OnceCell;

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::recode::{Recoding, Span};
use crate::table::{Code, Kind, days_of_date, parse_date};
use crate::task::Task;

/// Which records are to be counted: those that meet all conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// All of them must be met.
    pub conditions: Vec<Condition>,
}

/// What a record's value of one quasi-identifier must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The number of the quasi-identifier.
    pub attribute: usize,
    /// Which of its values.
    pub wanted: WantedValues,
}

/// Which values a condition asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum WantedValues {
    /// A number within these bounds, which belong to it; dates are days since 1970-01-01.
    Between(f64, f64),
    /// One of these values, increasing.
    Values(Vec<Code>),
}

/// What random queries ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// How many.
    pub n_queries: usize,
    /// How many quasi-identifiers a query is about.
    pub n_attributes: usize,
    /// The share of the records that a query is to find if the attributes do not depend on each other, above 0 and at
    /// most 1.
    pub selectivity: f64,
    /// The same seed draws the same queries.
    pub seed: u64,
}

/// Queries, and how many records each really finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    /// The queries, in order.
    pub queries: Vec<Query>,
    /// By query.
    pub exact: Vec<u64>,
}

/// How wrong the answers to some queries are.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QueryError {
    /// By query, how many the release makes one believe.
    pub estimated: Vec<f64>,
    /// By query, the difference over the exact answer, or over 1 where there is no such record.
    pub relative: Vec<f64>,
    /// Half of the relative errors are at most this.
    pub median: f64,
    /// Nine tenths of the relative errors are at most this.
    pub percentile_90: f64,
}

/// Draws random queries.
///
/// Each begins with a record of the table and some of its quasi-identifiers, all equally likely. For each of them it
/// asks for values that stand next to the record's (as numbers, or in the hierarchy), one after the other and in a
/// random direction, until as many records have them as the selectivity wants. So every query finds a record.
///
/// # Errors
/// Where hierarchies do not fit the counts, there is nothing to ask for, or the task was cancelled.
pub fn draw_queries(counts: &GroupCounts, hierarchies: &[Hierarchy], draw: &Draw, task: &Task) -> Result<Vec<Query>> {
    counts.check_hierarchies(hierarchies)?;
    let wrong = |message: &str| Err(Error::new(ErrorKind::Request, message));
    if !(draw.selectivity > 0.0 && draw.selectivity <= 1.0) {
        return wrong("the selectivity of queries must be above 0 and at most 1");
    }
    if draw.n_attributes == 0 || draw.n_attributes > hierarchies.len() {
        return wrong("queries must be about at least one quasi-identifier and at most all of them");
    }
    if counts.n_records() == 0 {
        return wrong("there are no records to ask for");
    }
    let rows: Vec<Row> = hierarchies.iter().enumerate().map(|(a, hierarchy)| Row::new(counts, a, hierarchy)).collect();
    let ends: Vec<u64> = (0..counts.n_groups())
        .scan(0, |end, base| {
            *end += counts.size(base);
            Some(*end)
        })
        .collect();
    let share = draw.selectivity.powf(1.0 / draw.n_attributes as f64);
    let n_wanted = (share * counts.n_records() as f64).ceil().max(1.0) as u64;
    let random = Random::new(draw.seed);
    let query = |i: usize| {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        let mut random = random.part(i as u64);
        let record = random.below(counts.n_records());
        let base = ends.partition_point(|&end| end <= record);
        let mut attributes: Vec<usize> = (0..hierarchies.len()).collect();
        random.shuffle(&mut attributes);
        attributes.truncate(draw.n_attributes);
        attributes.sort_unstable();
        let condition = |attribute: usize| {
            let wanted = rows[attribute].around(counts.codes(base)[attribute], n_wanted, &mut random);
            Condition { attribute, wanted }
        };
        Ok(Query { conditions: attributes.into_iter().map(condition).collect() })
    };
    (0..draw.n_queries).map(query).collect()
}

/// Queries that are drawn between two questions whether the work is still wanted.
const N_BETWEEN: usize = 64;

impl Workload {
    /// Queries with their true answers.
    ///
    /// # Errors
    /// Where hierarchies do not fit the counts, or the task was cancelled.
    pub fn new(counts: &GroupCounts, hierarchies: &[Hierarchy], queries: Vec<Query>, task: &Task) -> Result<Workload> {
        counts.check_hierarchies(hierarchies)?;
        let answer = |query: &Query| {
            task.go_on()?;
            Ok(exact_answer(counts, hierarchies, query))
        };
        let exact = queries.par_iter().map(answer).collect::<Result<_>>()?;
        Ok(Workload { queries, exact })
    }

    /// Answers the queries from a recoding of the table.
    ///
    /// # Errors
    /// Where the task was cancelled.
    pub fn error(&self, hierarchies: &[Hierarchy], recoding: &Recoding, task: &Task) -> Result<QueryError> {
        let sizes = recoding.sizes();
        let answer = |query: &Query| {
            task.go_on()?;
            Ok(estimate_of(hierarchies, recoding, &sizes, query))
        };
        let estimated: Vec<f64> = self.queries.par_iter().map(answer).collect::<Result<_>>()?;
        let error = |(&exact, &estimated): (&u64, &f64)| (estimated - exact as f64).abs() / exact.max(1) as f64;
        let relative: Vec<f64> = self.exact.iter().zip(&estimated).map(error).collect();
        let (median, percentile_90) = median_and_90(relative.clone());
        Ok(QueryError { estimated, relative, median, percentile_90 })
    }
}

/// The smallest number that half, and that nine tenths, of some numbers do not exceed; 0 where there is none.
pub fn median_and_90(mut numbers: Vec<f64>) -> (f64, f64) {
    numbers.sort_by(f64::total_cmp);
    let percentile = |share: f64| match numbers.len() {
        0 => 0.0,
        n => numbers[((share * n as f64).ceil() as usize).clamp(1, n) - 1],
    };
    (percentile(0.5), percentile(0.9))
}

/// How many records a query finds in the table.
pub fn exact_answer(counts: &GroupCounts, hierarchies: &[Hierarchy], query: &Query) -> u64 {
    let meets: Vec<(usize, Vec<bool>)> = query
        .conditions
        .iter()
        .map(|condition| {
            let hierarchy = &hierarchies[condition.attribute];
            let codes = (0..hierarchy.level(0).len() as u32).map(Code);
            (condition.attribute, codes.map(|code| condition.wanted.meets(hierarchy, code)).collect())
        })
        .collect();
    let is_found = |base: &usize| {
        let codes = counts.codes(*base);
        meets.iter().all(|(attribute, meets)| meets[codes[*attribute].index()])
    };
    (0..counts.n_groups()).filter(is_found).map(|base| counts.size(base)).sum()
}

/// How many records a query finds in a release, if those of a group are spread evenly over the values that may be
/// behind its cells: whole numbers and days one by one, other numbers by length, categories value by value.
pub fn estimate(hierarchies: &[Hierarchy], recoding: &Recoding, query: &Query) -> f64 {
    estimate_of(hierarchies, recoding, &recoding.sizes(), query)
}

fn estimate_of(hierarchies: &[Hierarchy], recoding: &Recoding, sizes: &[u64], query: &Query) -> f64 {
    let shares: Vec<(usize, Vec<f64>)> = query
        .conditions
        .iter()
        .map(|condition| {
            let evenly = Evenly::new(&hierarchies[condition.attribute], &condition.wanted);
            let cells = recoding.cells(condition.attribute).iter();
            (condition.attribute, cells.map(|cell| evenly.share(&cell.span)).collect())
        })
        .collect();
    let of_group = |(group, &size): (usize, &u64)| {
        let row = recoding.row(group);
        shares.iter().fold(size as f64, |n, (attribute, shares)| n * shares[row[*attribute] as usize])
    };
    sizes.iter().enumerate().map(of_group).sum()
}

impl WantedValues {
    fn meets(&self, hierarchy: &Hierarchy, code: Code) -> bool {
        match self {
            WantedValues::Values(codes) => codes.binary_search(&code).is_ok(),
            WantedValues::Between(low, high) => {
                let at = position(hierarchy, code);
                at.is_some_and(|at| *low <= at && at <= *high)
            }
        }
    }
}

/// The number behind one value; none where it is missing or not a number.
fn position(hierarchy: &Hierarchy, code: Code) -> Option<f64> {
    let text = &hierarchy.level(0).labels()[code.index()];
    match hierarchy.kind() {
        Kind::Integer | Kind::Number => text.parse().ok(),
        Kind::Date => parse_date(text).map(|(year, month, day)| days_of_date(year, month, day) as f64),
        Kind::Boolean | Kind::Text => None,
    }
}

/// What share of a cell's records meets a condition.
struct Evenly<'a> {
    hierarchy: &'a Hierarchy,
    wanted: &'a WantedValues,
    positions: Option<Vec<Option<f64>>>,
    meets: Vec<bool>,
    /// By level and label, the values below; made when first asked for.
    below: Vec<OnceCell<Vec<Vec<Code>>>>,
}

impl<'a> Evenly<'a> {
    fn new(hierarchy: &'a Hierarchy, wanted: &'a WantedValues) -> Evenly<'a> {
        let positions = hierarchy.positions();
        let meets = (0..hierarchy.level(0).len()).map(|code| match (wanted, &positions) {
            (WantedValues::Between(low, high), Some(positions)) => {
                positions[code].is_some_and(|at| *low <= at && at <= *high)
            }
            (wanted, _) => wanted.meets(hierarchy, Code(code as u32)),
        });
        let below = vec![OnceCell::new(); hierarchy.n_levels()];
        Evenly { hierarchy, wanted, meets: meets.collect(), positions, below }
    }

    fn share(&self, span: &Span) -> f64 {
        match span {
            Span::Value(code) => f64::from(self.meets[code.index()]),
            Span::Set(codes) => self.share_of_values(codes.iter().copied()),
            Span::Middle(low, high) => match (self.at(*low), self.at(*high), self.wanted) {
                (Some(low), Some(high), WantedValues::Between(from, to)) => {
                    let middle = (low + high) / 2.0;
                    f64::from(*from <= middle && middle <= *to)
                }
                _ => self.share_of_values((low.0..=high.0).map(Code)),
            },
            Span::Range(low, high) => self.share_of_range(*low, *high),
            Span::Label(level, label) => {
                let below = || self.below(usize::from(*level), *label).iter().copied();
                match (&self.positions, self.wanted) {
                    (Some(_), WantedValues::Between(..)) => {
                        // Codes are in the order of numbers; a missing value has no place among them.
                        let known = || below().filter(|&code| self.at(code).is_some());
                        match (known().next(), known().next_back()) {
                            (Some(low), Some(high)) => self.share_of_range(low, high),
                            _ => 0.0,
                        }
                    }
                    _ => self.share_of_values(below()),
                }
            }
        }
    }

    /// The values below a label, increasing.
    fn below(&self, level: usize, label: Code) -> &[Code] {
        let of_level = self.below[level].get_or_init(|| {
            let values = self.hierarchy.level(level);
            let mut below = vec![Vec::new(); values.len()];
            (0..).zip(values.of_base()).for_each(|(code, label)| below[label.index()].push(Code(code)));
            below
        });
        &of_level[label.index()]
    }

    fn at(&self, code: Code) -> Option<f64> {
        self.positions.as_ref().and_then(|positions| positions[code.index()])
    }

    fn share_of_values(&self, codes: impl Iterator<Item = Code>) -> f64 {
        let (n_meeting, n) =
            codes.fold((0u32, 0u32), |(n_meeting, n), code| (n_meeting + u32::from(self.meets[code.index()]), n + 1));
        f64::from(n_meeting) / f64::from(n.max(1))
    }

    fn share_of_range(&self, low: Code, high: Code) -> f64 {
        let (WantedValues::Between(from, to), Some(low_at), Some(high_at)) = (self.wanted, self.at(low), self.at(high))
        else {
            return self.share_of_values((low.0..=high.0).map(Code));
        };
        let is_whole = matches!(self.hierarchy.kind(), Kind::Integer | Kind::Date);
        let (from, to) = if is_whole { (from.ceil(), to.floor()) } else { (*from, *to) };
        let (from, to) = (from.max(low_at), to.min(high_at));
        match (is_whole, from <= to) {
            (_, false) => 0.0,
            (true, true) => (to - from + 1.0) / (high_at - low_at + 1.0),
            (false, true) if high_at > low_at => (to - from) / (high_at - low_at),
            (false, true) => 1.0,
        }
    }
}

/// The values of a quasi-identifier in a row, with how many records have each.
struct Row<'a> {
    hierarchy: &'a Hierarchy,
    is_numeric: bool,
    /// By place; for categories neighbours share as many labels as can be.
    codes: Vec<Code>,
    n_records: Vec<u64>,
}

impl<'a> Row<'a> {
    fn new(counts: &GroupCounts, attribute: usize, hierarchy: &'a Hierarchy) -> Row<'a> {
        let is_numeric = hierarchy.positions().is_some();
        let mut codes: Vec<Code> = (0..hierarchy.level(0).len() as u32).map(Code).collect();
        if !is_numeric {
            codes.sort_by_cached_key(|code| -> Vec<Code> {
                hierarchy.levels().iter().rev().map(|level| level.of_base()[code.index()]).collect()
            });
        }
        let mut of_code = vec![0; codes.len()];
        for base in 0..counts.n_groups() {
            of_code[counts.codes(base)[attribute].index()] += counts.size(base);
        }
        let n_records = codes.iter().map(|code| of_code[code.index()]).collect();
        Row { hierarchy, is_numeric, codes, n_records }
    }

    /// Values around one of them that so many records have, or all.
    fn around(&self, code: Code, n_wanted: u64, random: &mut Random) -> WantedValues {
        let at = self.codes.iter().position(|&known| known == code).expect("every value has a place");
        let number = |place: usize| position(self.hierarchy, self.codes[place]);
        // A missing value is no number: it can be asked for alone, and is no neighbour of any.
        let is_apart = |place: usize| self.is_numeric && number(place).is_none();
        if is_apart(at) {
            return WantedValues::Values(vec![code]);
        }
        let (mut low, mut high) = (at, at);
        let mut n_found = self.n_records[at];
        while n_found < n_wanted {
            let can_fall = low > 0;
            let can_rise = high + 1 < self.codes.len() && !is_apart(high + 1);
            let rises = match (can_fall, can_rise) {
                (false, false) => break,
                (true, true) => random.below(2) == 1,
                (_, can_rise) => can_rise,
            };
            if rises {
                high += 1;
                n_found += self.n_records[high];
            } else {
                low -= 1;
                n_found += self.n_records[low];
            }
        }
        if let (Some(from), Some(to)) = (number(low), number(high)) {
            return WantedValues::Between(from, to);
        }
        let mut codes = self.codes[low..=high].to_vec();
        codes.sort_unstable();
        WantedValues::Values(codes)
    }
}

/// Reads an analyst's queries: one per line, conditions joined by `and`, comments from `#` on.
///
/// ```text
/// age in 30..39 and sex = Female
/// education in Bachelors | Masters     # values, or labels of the hierarchy
/// age >= 60 and native-country = "United-States"
/// ```
///
/// `source` is what errors call the text. Values with spaces, `|`, `#` or quotation marks stand in quotation marks.
///
/// # Errors
/// Where a line is no query, with its place.
pub fn parse_queries(source: &str, text: &str, hierarchies: &[Hierarchy]) -> Result<Vec<Query>> {
    let mut queries = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let words = words_of(content).map_err(|(column, message)| {
            Error::new(ErrorKind::Request, message).at(format!("{source}:{line}:{column}"))
        })?;
        if words.is_empty() {
            continue;
        }
        let mut reader = Reader { words: &words, next: 0, n_columns: content.chars().count() + 1, hierarchies };
        let query = reader.query().map_err(|(column, error)| {
            let error = error.at(format!("{source}:{line}:{column}"));
            if error.hint_given().is_some() { error } else { error.hint(HINT) }
        })?;
        queries.push(query);
    }
    Ok(queries)
}

const HINT: &str = "for example: age in 30..39 and sex = Female and education in Bachelors | Masters";

/// A word with the column where it begins, and whether it stood in quotation marks.
struct Word {
    column: usize,
    text: String,
    is_quoted: bool,
}

fn words_of(line: &str) -> std::result::Result<Vec<Word>, (usize, &'static str)> {
    let mut words: Vec<Word> = Vec::new();
    let mut chars = line.chars().enumerate().peekable();
    while let Some(&(i, c)) = chars.peek() {
        let column = i + 1;
        match c {
            '#' => break,
            _ if c.is_whitespace() => {
                chars.next();
            }
            '"' => {
                chars.next();
                let mut text = String::new();
                loop {
                    match chars.next() {
                        Some((_, '"')) if chars.peek().is_some_and(|&(_, c)| c == '"') => {
                            text.push('"');
                            chars.next();
                        }
                        Some((_, '"')) => break,
                        Some((_, c)) => text.push(c),
                        None => return Err((column, "a quotation mark is not closed")),
                    }
                }
                words.push(Word { column, text, is_quoted: true });
            }
            '|' => {
                chars.next();
                words.push(Word { column, text: "|".into(), is_quoted: false });
            }
            _ => {
                let mut text = String::new();
                while let Some((_, c)) = chars.next_if(|&(_, c)| !c.is_whitespace() && !"|#\"".contains(c)) {
                    text.push(c);
                }
                words.push(Word { column, text, is_quoted: false });
            }
        }
    }
    Ok(words)
}

struct Reader<'a> {
    words: &'a [Word],
    next: usize,
    n_columns: usize,
    hierarchies: &'a [Hierarchy],
}

type Read<T> = std::result::Result<T, (usize, Error)>;

impl<'a> Reader<'a> {
    fn query(&mut self) -> Read<Query> {
        let mut conditions: Vec<Condition> = Vec::new();
        loop {
            let column = self.column();
            let condition = self.condition()?;
            if conditions.iter().any(|known| known.attribute == condition.attribute) {
                return Err((column, wrong("an attribute has two conditions")));
            }
            conditions.push(condition);
            if self.next == self.words.len() {
                return Ok(Query { conditions });
            }
            match self.is_next("and") {
                true => self.next += 1,
                false => return Err((self.column(), wrong("expected 'and' or the end of the line"))),
            }
        }
    }

    fn condition(&mut self) -> Read<Condition> {
        let (column, name) = self.word("the name of a quasi-identifier")?;
        let names: Vec<&str> = self.hierarchies.iter().map(Hierarchy::attribute).collect();
        let attribute = names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| (column, unknown(ErrorKind::Request, "quasi-identifier", name, &names)))?;
        let hierarchy = &self.hierarchies[attribute];
        let (column, sign) = self.word("=, >=, <= or in")?;
        let wanted = match sign {
            ">=" | "<=" => {
                let (column, text) = self.word("a number or a date")?;
                let at = self.number(hierarchy, column, text)?;
                match sign {
                    ">=" => WantedValues::Between(at, f64::INFINITY),
                    _ => WantedValues::Between(f64::NEG_INFINITY, at),
                }
            }
            "in" if self.words.get(self.next).is_some_and(|word| !word.is_quoted && word.text.contains("..")) => {
                let (column, text) = self.word("a range")?;
                let (low, high) = text.split_once("..").expect("it was looked for");
                let (low, high) = (self.number(hierarchy, column, low)?, self.number(hierarchy, column, high)?);
                if low > high {
                    return Err((column, wrong("a range goes from the lower bound to the higher")));
                }
                WantedValues::Between(low, high)
            }
            "=" | "in" => {
                let mut codes = self.values(hierarchy)?;
                while sign == "in" && self.is_next("|") {
                    self.next += 1;
                    codes.extend(self.values(hierarchy)?);
                }
                codes.sort_unstable();
                codes.dedup();
                WantedValues::Values(codes)
            }
            _ => return Err((column, wrong("expected =, >=, <= or in"))),
        };
        Ok(Condition { attribute, wanted })
    }

    /// The table's values that a word stands for: itself, or those below a label.
    fn values(&mut self, hierarchy: &Hierarchy) -> Read<Vec<Code>> {
        let (column, text) = self.word("a value")?;
        let labelled = hierarchy.levels().iter().find_map(|level| {
            let label = level.labels().iter().position(|label| label == text)?;
            let codes = (0..).zip(level.of_base()).filter(|(_, of)| of.index() == label).map(|(code, _)| Code(code));
            Some(codes.collect())
        });
        labelled.ok_or_else(|| {
            let message = format!("attribute '{}' has no such value or label", hierarchy.attribute());
            (column, wrong(&message))
        })
    }

    fn number(&self, hierarchy: &Hierarchy, column: usize, text: &str) -> Read<f64> {
        let number = match hierarchy.kind() {
            Kind::Integer | Kind::Number => text.parse().ok().filter(|number: &f64| number.is_finite()),
            Kind::Date => parse_date(text).map(|(year, month, day)| days_of_date(year, month, day) as f64),
            Kind::Boolean | Kind::Text => {
                let message = format!("attribute '{}' has no numbers to compare with", hierarchy.attribute());
                return Err((column, wrong(&message)));
            }
        };
        number.ok_or_else(|| {
            (column, wrong(&format!("expected a {}", if hierarchy.kind() == Kind::Date { "date" } else { "number" })))
        })
    }

    fn word(&mut self, expected: &str) -> Read<(usize, &'a str)> {
        let word = self.words.get(self.next).ok_or_else(|| (self.column(), wrong(&format!("expected {expected}"))))?;
        self.next += 1;
        Ok((word.column, &word.text))
    }

    fn is_next(&self, text: &str) -> bool {
        self.words.get(self.next).is_some_and(|word| !word.is_quoted && word.text == text)
    }

    fn column(&self) -> usize {
        self.words.get(self.next).map_or(self.n_columns, |word| word.column)
    }
}

fn wrong(message: &str) -> Error {
    Error::new(ErrorKind::Request, message)
}
