//! Where cells stand that something is wrong with: which file, which line, how many there are.

use std::collections::HashMap;

use incrowd::error::{Step, Wording};
use incrowd::hierarchy::{KnownValues, Needs};
use incrowd::table::Cells;
use incrowd::{Error, Result, Rule};

use super::Source;
use super::chunks::Chunk;
use super::reading::Feed;
use crate::sentences::{counted_words, grouped, hint};

/// Places of a value that are told, at most.
const N_PLACES_MAX: usize = 5;

/// Cells of one column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub n_cells: u64,
    /// The first of them, in the order of the table.
    pub first: Vec<CellPlace>,
    /// By value, in the order of the table, how many of them there are and the first ones.
    pub values: Vec<(String, u64, Vec<CellPlace>)>,
}

/// Where a cell stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellPlace {
    pub file: String,
    pub at: At,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    Line(u64),
    /// The number of the record, from 1 on, in files that have no lines.
    Record(u64),
}

impl CellPlace {
    /// `table.csv:17`, or `table.parquet, record 17`.
    pub fn in_words(&self) -> String {
        match self.at {
            At::Line(line) => format!("{}:{line}", self.file),
            At::Record(record) => format!("{}, record {}", self.file, grouped(record)),
        }
    }
}

impl Places {
    fn push(&mut self, place: &CellPlace, text: &str, number_of: &mut HashMap<String, usize>) {
        self.n_cells += 1;
        if self.first.len() < N_PLACES_MAX {
            self.first.push(place.clone());
        }
        let number = match number_of.get(text) {
            Some(number) => *number,
            None => {
                number_of.insert(text.to_string(), self.values.len());
                self.values.push((text.to_string(), 0, Vec::new()));
                self.values.len() - 1
            }
        };
        let (_, n_cells, first) = &mut self.values[number];
        *n_cells += 1;
        if first.len() < N_PLACES_MAX {
            first.push(place.clone());
        }
    }

    /// `lines 17, 20 and 3 more`; nothing where there is one place only, which is said already.
    pub fn others_in_words(&self) -> String {
        let number = |place: &CellPlace| match place.at {
            At::Line(n) | At::Record(n) => grouped(n),
        };
        let (Some(first), others) = (self.first.first(), self.first.get(1..).unwrap_or(&[])) else {
            return String::new();
        };
        let n_more = self.n_cells - self.first.len() as u64;
        let same_file: Vec<String> = others.iter().filter(|place| place.file == first.file).map(number).collect();
        let n_more = n_more + (others.len() - same_file.len()) as u64;
        let what = match (first.at, same_file.len()) {
            (At::Line(_), 1) => "line",
            (At::Line(_), _) => "lines",
            (At::Record(_), 1) => "record",
            (At::Record(_), _) => "records",
        };
        match (same_file.is_empty(), n_more) {
            (true, 0) => String::new(),
            (true, n) => format!(", and {} more", grouped(n)),
            (false, 0) => format!(", others on {what} {}", same_file.join(", ")),
            (false, n) => format!(", others on {what} {} and {} more", same_file.join(", "), grouped(n)),
        }
    }
}

/// What is asked of the cells of a column.
pub struct CellCheck<'a> {
    rule: &'a Rule,
    needs: Needs,
    tokens: &'a [String],
    known: Option<KnownValues>,
}

impl<'a> CellCheck<'a> {
    /// What a rule asks of them; `needs` is what else they have to be.
    pub fn of(rule: &'a Rule, needs: Needs, tokens: &'a [String]) -> CellCheck<'a> {
        CellCheck { rule, needs, tokens, known: rule.table().map(|table| table.known()) }
    }

    /// Whether a cell is one that the rule cannot be applied to.
    fn refuses(&self, text: &str) -> bool {
        let is_fit = match &self.known {
            Some(known) => known.contains(text),
            None => self.rule.takes(text),
        };
        let is_missing = self.tokens.iter().any(|token| token == text);
        // An end that was coded while the table was read is no number any more.
        let is_readable = self.needs.are_met_by(text) || self.rule.is_end(text);
        !(is_missing || is_fit && is_readable)
    }
}

impl Source {
    /// The cells of a column that a rule cannot be applied to.
    pub fn unfit(&self, column: &str, asked: &CellCheck) -> Result<Places> {
        self.places(column, |text| asked.refuses(text))
    }

    /// The cells of a column that are wanted, whosever records they are in: a reading of its own.
    pub(super) fn places(&self, column: &str, is_wanted: impl Fn(&str) -> bool) -> Result<Places> {
        let columns = [column.to_string()];
        let feed = Feed::new(self, &columns);
        let (mut places, mut number_of) = (Places::default(), HashMap::new());
        let (mut part, mut n_records_before) = (0, 0);
        while let Some(job) = feed.next().map_err(|(_, error)| error)? {
            if part != job.part {
                (part, n_records_before) = (job.part, 0);
            }
            let mut found: Vec<(usize, String)> = Vec::new();
            let mut n_records = 0;
            feed.read(&job, &mut |batch, _| {
                let cells = Cells::new(column, batch.column(0))?;
                let mut text = String::new();
                for i in 0..batch.num_rows() {
                    if cells.read(i, &mut text) && is_wanted(&text) {
                        found.push((n_records + i, text.clone()));
                    }
                }
                n_records += batch.num_rows();
                Ok(())
            })?;
            let lines = job.chunk().filter(|_| !found.is_empty()).map(|chunk| lines_of(chunk, self.delimiter()));
            let file = self.files()[part].display().to_string();
            for (record, text) in found {
                let at = match &lines {
                    Some(lines) => At::Line(lines[record]),
                    None => At::Record((n_records_before + record + 1) as u64),
                };
                places.push(&CellPlace { file: file.clone(), at }, &text, &mut number_of);
            }
            n_records_before += n_records;
        }
        Ok(places)
    }

    /// The error of a rule that could not be applied to a column, with the places of the cells that it is about, and how to
    /// go on without them.
    pub fn located(&self, error: Error, column: &str, asked: &CellCheck) -> Error {
        let is_of_table = asked.known.is_some();
        let has_line = |position: String| position.ends_with(|c: char| c.is_ascii_digit());
        // What is wrong with the table of labels itself has its own line.
        if is_of_table && error.position().is_some_and(|position| has_line(position.to_string())) {
            return error;
        }
        let Ok(places) = self.unfit(column, asked) else { return error };
        let Some(first) = places.first.first() else { return error };
        let (n_cells, others) = (counted_words(places.n_cells, "cell"), places.others_in_words());
        let is_one = places.n_cells == 1;
        let (message, position) = match is_of_table {
            true => {
                let at = first.in_words();
                let first = if is_one { format!("at {at}") } else { format!("the first at {at}{others}") };
                (format!(", in {n_cells}, {first}"), error.position().cloned().unwrap_or_else(|| at.into()))
            }
            false => {
                let first = if is_one { "here".to_string() } else { format!("the first here{others}") };
                (format!(", in {n_cells} of column '{column}', {first}"), first_position(&places))
            }
        };
        let show = Wording::from(Step::ShowAbsent(column.to_string()));
        let hint = match (is_of_table, error.hint_given()) {
            (true, _) => show.and(hint(", or count them as one value with {attribute.unknown=other}")),
            (false, said) => {
                let said = said.map_or(Wording::text(""), |said| said.clone().and("; "));
                said.and(show).and(hint(", or read them as no value with {attribute.unreadable=missing}"))
            }
        };
        Error::new(error.kind(), error.message().clone().and(message)).at(position).hint(hint)
    }
}

fn first_position(places: &Places) -> Wording {
    places.first[0].in_words().into()
}

/// By record of a piece of CSV, the line on which it begins; without the header.
fn lines_of(chunk: &Chunk, delimiter: u8) -> Vec<u64> {
    let mut reader = ::csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(chunk.index == 0)
        .flexible(true)
        .from_reader(chunk.bytes.as_slice());
    let mut lines = Vec::new();
    let (mut at, mut line) = (0, chunk.line);
    let mut record = ::csv::ByteRecord::new();
    if chunk.index == 0 {
        // The header is a record, too, for whoever counts lines.
        _ = reader.byte_headers();
    }
    while reader.read_byte_record(&mut record).unwrap_or(false) {
        let start = record.position().map_or(0, |position| position.byte() as usize);
        while let Some(&byte) = chunk.bytes.get(at) {
            if at >= start && byte != b'\n' && byte != b'\r' {
                break;
            }
            line += u64::from(byte == b'\n');
            at += 1;
        }
        lines.push(line);
    }
    lines
}
