//! What each column of a table looks like, seen in one reading.

use arrow_array::{ArrayRef, RecordBatch};
use incrowd::table::{Cells, Kind, days_of_date, parse_date};
use incrowd::{Error, ErrorKind, Missing, Result};
use rayon::prelude::*;

use super::shapes::{Shape, Shapes};
use super::world::continent_of_code;
use crate::input::names::{Named, has_concept, role_by_name_or_label};
use crate::input::source::{Said, Source};
use crate::input::tally::{Amount, DistinctCounter, hash_text};
use crate::work::{Unit, Work};

/// A table, seen column by column.
#[derive(Clone, Debug)]
pub struct Survey {
    pub n_records: u64,
    /// Records that lack a value in at least one column.
    pub n_incomplete: u64,
    /// What counts as "no value": as it was given, or as the table suggests.
    pub missing: Missing,
    /// In the table's order.
    pub columns: Vec<SurveyedColumn>,
}

/// What one column looks like.
#[derive(Clone, Debug)]
pub struct SurveyedColumn {
    pub name: String,
    /// What the file calls it at length; empty where it says nothing.
    pub label: String,
    /// What all values have in common; text where there is no value.
    pub kind: Kind,
    pub n_missing: u64,
    pub n_distinct: Amount,
    /// Records whose value nobody else has.
    pub n_unique: Amount,
    /// The least and the greatest number; for dates, in days since 1970-01-01.
    pub range: Option<(f64, f64)>,
    /// The length of the shortest and of the longest text, in characters.
    pub n_characters: (usize, usize),
    /// Whether texts are made of the digits 0 to 9 only.
    pub is_digits: bool,
    /// Whether texts are all of one word with a digit in it.
    pub has_numbered_words: bool,
    /// Whether most values are words without a digit.
    pub are_words: bool,
    /// What nearly all values look like, where that is known.
    pub shape: Option<Shape>,
    /// The mean number of words of a value.
    pub mean_words: f64,
    /// Whether every value can be read as a number, with an exponent as well.
    pub reads_as_number: bool,
    /// Numbers of some of the records, one in so many, sorted.
    pub sample: Vec<f64>,
    /// The values with how often each occurs, the most frequent first; none where there are too many to look at.
    pub(super) values: Option<Vec<(String, u64)>>,
}

/// Values that are kept to be grouped; of more nobody could read the groups.
const N_VALUES_KEPT: usize = 1_000;

/// Numbers that are kept to find where most of them lie.
const N_SAMPLED: usize = 4_096;

impl SurveyedColumn {
    /// The values with how often each occurs, the most frequent first, where they are few enough to be grouped.
    pub(super) fn values(&self) -> Option<&[(String, u64)]> {
        self.values.as_deref()
    }

    /// A column of which nothing is known but its name and the kind of its values.
    #[cfg(test)]
    pub(super) fn empty(name: &str, kind: Kind) -> SurveyedColumn {
        let none = Amount { n: 0, is_exact: true };
        SurveyedColumn {
            name: name.into(),
            label: String::new(),
            kind,
            n_missing: 0,
            n_distinct: none,
            n_unique: none,
            range: None,
            n_characters: (0, 0),
            is_digits: false,
            has_numbered_words: false,
            are_words: false,
            shape: None,
            mean_words: 1.0,
            reads_as_number: kind.is_numeric(),
            sample: Vec::new(),
            values: None,
        }
    }

    /// What its name says about its role, or else its label.
    pub(super) fn named(&self) -> Option<Named> {
        role_by_name_or_label(&self.name, &self.label)
    }

    /// Whether its name or its label has a word of a concept.
    pub(super) fn has_concept(&self, concept: &str) -> bool {
        has_concept(&self.name, concept) || has_concept(&self.label, concept)
    }

    /// Whether values are measured rather than given out: numbers with a fraction.
    pub fn is_measured(&self) -> bool {
        self.kind == Kind::Number || (self.kind == Kind::Text && self.reads_as_number && !self.is_digits)
    }

    /// Whether values look like those that somebody has given out, as `01-701-1015`: words of nearly one length with a
    /// digit each, and not numbers, which may be measured, also
    /// where they have more digits than a computer's own.
    pub fn is_label(&self) -> bool {
        let (shortest, longest) = self.n_characters;
        self.kind == Kind::Text
            && !self.is_measured()
            && self.has_numbered_words
            && shortest >= 5
            && longest - shortest <= 3
    }

    /// Whether all texts are digits of one length, as postcodes are.
    pub fn is_code(&self) -> bool {
        self.is_digits && self.n_characters.0 == self.n_characters.1 && self.n_distinct.n > 0
    }

    /// Whether so many values occur once that a release might be refused, were it published as it is.
    ///
    /// A quarter, where publishing draws the line at half: a release has fewer records, and more of them stand alone.
    pub fn finds_people(&self, n_records: u64) -> bool {
        let n_present = n_records - self.n_missing;
        n_present >= 50 && self.n_unique.n.saturating_mul(4) > n_present
    }
}

/// Looks at every cell of a table once, in memory that does not grow with the number of records.
///
/// Where nothing is said about missing values, the usual words for them are looked for.
pub fn survey(source: &Source, missing: Option<&Missing>, work: &Work) -> Result<Survey> {
    let names = source.column_names();
    let tokens = Tokens::new(missing);
    let mut views: Vec<SeenColumn> = names.iter().map(|_| SeenColumn::new(&tokens)).collect();
    // Where records are left out, what they lack elsewhere matters to nobody.
    let dropping = missing.filter(|missing| missing.drop_records);
    let is_needed: Vec<bool> = names.iter().map(|name| dropping.is_none_or(|missing| missing.drops(name))).collect();
    let mut n_by_lacks = vec![0; tokens.all_lacks() as usize + 1];
    let mut n_records = 0;
    let read = work.stage("surveying", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&names, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            n_records += batch.num_rows() as u64;
            look_at_batch(&batch, &names, &is_needed, &tokens, &mut views, &mut n_by_lacks)
        })
    });
    let position = || source.files()[0].display().to_string();
    read.map_err(|error| error.or_at(position()))?;
    if n_records == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(position())
            .hint("the first line names the columns; records follow it"));
    }
    let taken = tokens.taken(&views);
    let n_incomplete =
        n_by_lacks.iter().enumerate().filter(|(lacks, _)| *lacks as u16 & taken != 0).map(|(_, n)| n).sum();
    let missing = missing.cloned().unwrap_or_else(|| Missing { tokens: tokens.texts_of(taken), ..Missing::default() });
    let labels = source.schema().fields().iter().map(|field| Said::of(field).label);
    let columns = names.into_iter().zip(labels).zip(views);
    let columns = columns.map(|((name, label), view)| view.finish(name, label, &tokens, taken));
    Ok(Survey { n_records, n_incomplete, missing, columns: columns.collect() })
}

/// Columns are looked at side by side: each has a view of its own, so that nothing depends on the number of threads.
fn look_at_batch(
    batch: &RecordBatch,
    names: &[String],
    is_needed: &[bool],
    tokens: &Tokens,
    views: &mut [SeenColumn],
    n_by_lacks: &mut [u64],
) -> Result<()> {
    let lacks_by_column: Vec<Vec<u16>> = names
        .par_iter()
        .zip(views.par_iter_mut())
        .map(|(name, view)| view.look_at_cells(&Cells::new(name, column(batch, name))?, tokens))
        .collect::<Result<_>>()?;
    for record in 0..batch.num_rows() {
        let needed = lacks_by_column.iter().zip(is_needed).filter(|(_, is_needed)| **is_needed);
        let lacks = needed.fold(0, |lacks, (column, _)| lacks | column[record]);
        n_by_lacks[lacks as usize] += 1;
    }
    Ok(())
}

pub(super) fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).expect("a batch has the columns that were asked for")
}

/// The words that are usually written where there is no value.
const USUAL_TOKENS: [&str; 9] = ["", "?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan"];

/// The words that may mean "no value", and in which way a record lacks one: bit 0 for sure, bit i + 1 if word i counts.
struct Tokens {
    texts: Vec<String>,
    is_guess: bool,
}

impl Tokens {
    fn new(missing: Option<&Missing>) -> Tokens {
        match missing {
            Some(missing) => Tokens { texts: missing.tokens.clone(), is_guess: false },
            None => Tokens { texts: USUAL_TOKENS.map(String::from).to_vec(), is_guess: true },
        }
    }

    fn position(&self, text: &str) -> Option<usize> {
        self.texts.iter().position(|token| token == text)
    }

    fn lack(&self, token: usize) -> u16 {
        if self.is_guess { 2 << token } else { 1 }
    }

    fn all_lacks(&self) -> u16 {
        (0..self.texts.len()).fold(1, |lacks, token| lacks | self.lack(token))
    }

    /// Of the words that occur, those that no column uses as a value of its own.
    fn taken(&self, views: &[SeenColumn]) -> u16 {
        let is_taken = |token: &usize| {
            let text = &self.texts[*token];
            let occurs = |view: &&SeenColumn| view.n_by_token[*token] > 0;
            !self.is_guess
                || (views.iter().any(|view| occurs(&view))
                    && !views.iter().filter(occurs).any(|view| view.is_value(text)))
        };
        (0..self.texts.len()).filter(is_taken).fold(1, |lacks, token| lacks | self.lack(token))
    }

    fn texts_of(&self, lacks: u16) -> Vec<String> {
        let texts = self.texts.iter().enumerate().filter(|(token, _)| lacks & self.lack(*token) != 0);
        texts.map(|(_, text)| text.clone()).collect()
    }
}

/// What has been seen of one column so far.
struct SeenColumn {
    kind: Option<Kind>,
    n_null: u64,
    n_by_token: Vec<u64>,
    tally: DistinctCounter,
    range: Option<(f64, f64)>,
    n_characters: Option<(usize, usize)>,
    is_digits: bool,
    has_numbered_words: bool,
    n_without_digit: u64,
    reads_as_number: bool,
    shapes: Shapes,
    /// The first values and their hashes, while there are few.
    texts: Option<Vec<(u64, String)>>,
    sample: Sample,
}

/// Numbers of every so many records: every second is dropped where they become too many.
#[derive(Default)]
struct Sample {
    numbers: Vec<f64>,
    n_seen: u64,
    n_doublings: u32,
}

impl Sample {
    fn see(&mut self, text: &str) {
        let is_due = self.n_seen.is_multiple_of(1 << self.n_doublings);
        self.n_seen += 1;
        if !is_due {
            return;
        }
        self.numbers.extend(text.parse::<f64>().ok().filter(|number| number.is_finite()));
        if self.numbers.len() > N_SAMPLED {
            let mut is_kept = false;
            self.numbers.retain(|_| {
                is_kept = !is_kept;
                is_kept
            });
            self.n_doublings += 1;
        }
    }
}

impl SeenColumn {
    fn new(tokens: &Tokens) -> SeenColumn {
        SeenColumn {
            reads_as_number: true,
            shapes: Shapes::default(),
            texts: Some(Vec::new()),
            sample: Sample::default(),
            kind: None,
            n_null: 0,
            n_by_token: vec![0; tokens.texts.len()],
            tally: DistinctCounter::default(),
            range: None,
            n_characters: None,
            is_digits: true,
            has_numbered_words: true,
            n_without_digit: 0,
        }
    }

    /// Takes note of all cells; returns how each record lacks its value here, if it does.
    fn look_at_cells(&mut self, cells: &Cells, tokens: &Tokens) -> Result<Vec<u16>> {
        let mut text = String::new();
        let mut lacks = vec![0; cells.len()];
        for (i, lack) in lacks.iter_mut().enumerate() {
            if !cells.read(i, &mut text) {
                self.n_null += 1;
                *lack = 1;
                continue;
            } else if let Some(token) = tokens.position(&text) {
                self.n_by_token[token] += 1;
                *lack = tokens.lack(token);
                continue;
            } else {
                let hash = hash_text(&text);
                if self.tally.add(hash) {
                    self.look_at_value(&text, hash);
                }
            }
            if self.reads_as_number {
                self.sample.see(&text);
            }
        }
        Ok(lacks)
    }

    /// Takes note of a value that may not have been seen before.
    fn look_at_value(&mut self, text: &str, hash: u64) {
        self.shapes.look_at(text);
        match &mut self.texts {
            Some(texts) if texts.len() < N_VALUES_KEPT => texts.push((hash, text.to_string())),
            texts => *texts = None,
        }
        self.reads_as_number = self.reads_as_number && text.parse::<f64>().is_ok_and(f64::is_finite);
        let n = text.chars().count();
        let (shortest, longest) = self.n_characters.unwrap_or((n, n));
        self.n_characters = Some((shortest.min(n), longest.max(n)));
        self.is_digits &= !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
        self.n_without_digit += u64::from(!has_digits);
        self.has_numbered_words &= has_digits && !text.contains(char::is_whitespace);
        if self.kind == Some(Kind::Text) {
            return;
        }
        let kind = Kind::of(text);
        self.kind = Some(self.kind.map_or(kind, |known| known.join(kind)));
        let position = match kind {
            Kind::Integer | Kind::Number => text.parse().ok(),
            Kind::Date => parse_date(text).map(|(year, month, day)| days_of_date(year, month, day) as f64),
            Kind::Boolean | Kind::Text => None,
        };
        if let Some(position) = position {
            let (least, greatest) = self.range.unwrap_or((position, position));
            self.range = Some((least.min(position), greatest.max(position)));
        }
    }

    /// Whether a usual word for "no value" rather seems to be a value here: `NA` is Namibia among codes of countries, and
    /// nothing among those of the states of America.
    fn is_value(&self, token: &str) -> bool {
        let are_countries = || {
            self.texts.as_ref().is_some_and(|texts| {
                let n_countries = texts.iter().filter(|(_, text)| continent_of_code(text).is_some()).count();
                10 * n_countries >= 9 * texts.len()
            })
        };
        token == "NA" && self.kind == Some(Kind::Text) && self.n_characters == Some((2, 2)) && are_countries()
    }

    fn finish(mut self, name: String, label: String, tokens: &Tokens, taken: u16) -> SurveyedColumn {
        let mut n_missing = self.n_null;
        for token in 0..tokens.texts.len() {
            let n = self.n_by_token[token];
            if taken & tokens.lack(token) != 0 {
                n_missing += n;
                continue;
            }
            let text = &tokens.texts[token];
            for i in 0..n.min(2) {
                let hash = hash_text(text);
                self.tally.add(hash);
                if i == 0 {
                    self.look_at_value(text, hash);
                }
            }
        }
        let kind = self.kind.unwrap_or(Kind::Text);
        let values = self.texts.take().filter(|_| self.tally.n_distinct().is_exact).map(|texts| {
            let n_came = |hash: u64| self.tally.n_came(hash).unwrap_or(0);
            let mut values: Vec<(String, u64)> = texts.into_iter().map(|(hash, text)| (text, n_came(hash))).collect();
            values.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
            values
        });
        let mut sample = if self.reads_as_number { self.sample.numbers } else { Vec::new() };
        sample.sort_by(f64::total_cmp);
        SurveyedColumn {
            shape: self.shapes.finish(),
            mean_words: self.shapes.mean_words(),
            reads_as_number: self.reads_as_number && self.tally.n_distinct().n > 0,
            sample,
            values,
            name,
            label,
            kind,
            n_missing,
            n_distinct: self.tally.n_distinct(),
            n_unique: self.tally.n_unique(),
            range: self.range.filter(|_| kind.is_numeric() || kind == Kind::Date),
            n_characters: self.n_characters.unwrap_or((0, 0)),
            is_digits: self.is_digits,
            are_words: 2 * self.n_without_digit > self.tally.n_distinct().n,
            has_numbered_words: self.has_numbered_words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::source::ReadOptions;
    use crate::input::survey::sample::*;

    #[test]
    fn columns_are_counted_as_a_naive_reader_would() {
        for seed in 0..40 {
            let text = random_table(seed, 1 + seed as usize * 3);
            let missing = tokens(&["?", ""], true);
            let survey = look(&text, Some(&missing));
            let records = records(&text);
            assert_eq!(survey.n_records, records.len() as u64);
            let is_missing = |text: &String| missing.is_token(text);
            let n_incomplete = records.iter().filter(|record| record.iter().any(is_missing)).count();
            assert_eq!(survey.n_incomplete, n_incomplete as u64);
            for (i, column) in survey.columns.iter().enumerate() {
                let values = counts(records.iter().map(|record| &record[i]).filter(|text| !is_missing(text)));
                assert_eq!(column.n_distinct, Amount { n: values.len() as u64, is_exact: true });
                assert_eq!(column.n_unique.n, n_once(&values));
                assert_eq!(column.n_missing, records.iter().filter(|record| is_missing(&record[i])).count() as u64);
            }
        }
    }

    #[test]
    fn kinds_ranges_and_lengths() {
        let survey = look(
            "i,n,d,b,t,z\n7,1.5,2020-01-02,true,ab,01234\n-3,2,1999-12-31,false,?,99999\n7,0.25,2020-01-02,true,é,00000\n",
            None,
        );
        let kinds: Vec<&str> = survey.columns.iter().map(|column| column.kind.name()).collect();
        assert_eq!(kinds, ["integer", "number", "date", "boolean", "text", "text"]);
        assert_eq!(survey.columns[0].range, Some((-3.0, 7.0)));
        assert_eq!(survey.columns[1].range, Some((0.25, 2.0)));
        assert_eq!(survey.columns[2].range, Some((days_of_date(1999, 12, 31) as f64, days_of_date(2020, 1, 2) as f64)));
        assert_eq!(survey.columns[4].n_characters, (1, 2));
        assert_eq!(survey.columns[4].range, None);
        let is_code: Vec<bool> = survey.columns.iter().map(SurveyedColumn::is_code).collect();
        assert_eq!(is_code, [false, false, false, false, false, true]);
    }

    #[test]
    fn parquet_is_seen_by_its_values() {
        use arrow_array::{Date32Array, Float64Array, Int64Array, RecordBatch, StringArray};
        use std::sync::Arc;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("table.parquet");
        let batch = RecordBatch::try_from_iter([
            ("age", Arc::new(Int64Array::from(vec![Some(30), None, Some(30), Some(31)])) as ArrayRef),
            ("weight", Arc::new(Float64Array::from(vec![70.5, 80.0, 90.0, 70.5]))),
            ("city", Arc::new(StringArray::from(vec![Some("Oslo"), Some("Rome"), None, Some("Oslo")]))),
            ("born", Arc::new(Date32Array::from(vec![0, 1, 2, 2]))),
        ])
        .expect("columns of one length");
        let file = std::fs::File::create(&path).expect("a writable folder");
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
        writer.write(&batch).expect("a written batch");
        writer.close().expect("a closed file");
        let source = Source::open(&path, &ReadOptions::default()).expect("a readable table");
        let survey = survey(&source, None, &Work::default()).expect("a table that can be surveyed");
        let seen: Vec<_> =
            survey.columns.iter().map(|c| (c.kind.name(), c.n_distinct.n, c.n_unique.n, c.n_missing)).collect();
        assert_eq!(seen, [("integer", 2, 1, 1), ("number", 3, 2, 0), ("text", 2, 1, 1), ("date", 3, 2, 0)]);
        assert_eq!((survey.n_records, survey.n_incomplete), (4, 2));
    }

    #[test]
    fn usual_words_for_no_value_are_found_but_namibia_is_a_country() {
        let survey = look("age,job\n30,clerk\n?,NA\n31,\n32,cook\n", None);
        assert_eq!(survey.missing, tokens(&["", "?", "NA"], false));
        assert_eq!((survey.n_incomplete, survey.columns[0].kind), (2, Kind::Integer));

        let survey = look("age,land\n30,NO\n?,NA\n31,DE\n32,NA\n", None);
        assert_eq!(survey.missing, tokens(&["?"], false));
        assert_eq!(
            (survey.columns[1].n_distinct.n, survey.columns[1].n_unique.n, survey.columns[1].n_missing),
            (3, 2, 0)
        );

        assert_eq!(look("a\n1\n", None).missing, tokens(&[], false));
    }

    #[test]
    fn what_is_not_given_as_missing_is_a_value() {
        let survey = look("a\n1\n?\n-9\n", Some(&tokens(&["-9"], true)));
        assert_eq!((survey.columns[0].n_missing, survey.columns[0].n_distinct.n), (1, 2));
        assert_eq!(survey.columns[0].kind, Kind::Text);
    }

    #[test]
    fn a_table_without_records_is_an_error() {
        let (_folder, source) = table("a,b\n");
        let error = survey(&source, None, &Work::default()).expect_err("there is nothing to survey");
        assert_eq!(error.message(), "has column names and no records");
        assert!(error.position().is_some());
    }
}
