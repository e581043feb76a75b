//! A release for programs of statistics: gathered whole, each different text once, because their files say how wide a column
//! is before its first record.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use incrowd::table::{date_text, days_of_date, parse_date};
use incrowd::{Error, ErrorKind, Result};

use crate::input::source::{Said, number_text};

/// The rows of a release by column.
pub struct Gathered {
    pub columns: Vec<GatheredColumn>,
    pub n_records: usize,
}

pub struct GatheredColumn {
    pub name: String,
    /// What the source said of the column.
    pub said: Said,
    /// Every different text of the column.
    texts: Vec<String>,
    places: HashMap<String, u32>,
    /// By record, the place of its text and one more; 0 where there is no value.
    cells: Vec<u32>,
}

/// How a column is stored, by text.
pub enum Stored {
    /// Numbers, each said as it would be read.
    Numbers(Vec<f64>),
    /// Days since 1970.
    Dates(Vec<i64>),
    /// Codes, and what those with a label are called: as in the source where it had one, and new ones for what is new.
    Codes(Vec<i32>, BTreeMap<i32, String>),
    Texts,
}

impl Gathered {
    pub fn new(columns: impl IntoIterator<Item = (String, Said)>) -> Gathered {
        let column = |(name, said): (String, Said)| GatheredColumn {
            name,
            said,
            texts: Vec::new(),
            places: HashMap::new(),
            cells: Vec::new(),
        };
        Gathered { columns: columns.into_iter().map(column).collect(), n_records: 0 }
    }

    pub fn push<'a>(&mut self, cells: impl IntoIterator<Item = Option<&'a str>>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.push(cell);
        }
        self.n_records += 1;
    }
}

impl GatheredColumn {
    fn push(&mut self, cell: Option<&str>) {
        let place = cell.map_or(0, |text| match self.places.get(text) {
            Some(place) => *place,
            None => {
                self.texts.push(text.to_string());
                let place = u32::try_from(self.texts.len()).expect("memory holds fewer texts");
                self.places.insert(text.to_string(), place);
                place
            }
        });
        self.cells.push(place);
    }

    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The place of a record's text; none where it has no value.
    pub fn place(&self, record: usize) -> Option<usize> {
        (self.cells[record] as usize).checked_sub(1)
    }

    /// How the column is stored so that reading gives the same texts.
    pub fn stored(&self) -> Stored {
        let numbers = self
            .texts
            .iter()
            .map(|text| text.parse::<f64>().ok().filter(|number| number.is_finite() && number_text(*number) == *text));
        let dates = self.texts.iter().map(|text| {
            let (year, month, day) = parse_date(text)?;
            Some(days_of_date(year, month, day)).filter(|days| date_text(*days) == *text)
        });
        if let Some((codes, labels)) = self.coded() {
            Stored::Codes(codes, labels)
        } else if let Some(numbers) = numbers.collect() {
            Stored::Numbers(numbers)
        } else if let Some(dates) = dates.collect() {
            Stored::Dates(dates)
        } else {
            Stored::Texts
        }
    }

    /// Codes for texts that were labels of codes. Only what is published gets a label: which others there were is no
    /// part of the release.
    fn coded(&self) -> Option<(Vec<i32>, BTreeMap<i32, String>)> {
        let mut by_label: HashMap<&str, i32> = HashMap::new();
        for (code, label) in &self.said.codes {
            by_label.entry(label).or_insert(*code);
        }
        if !self.texts.iter().any(|text| by_label.contains_key(text.as_str())) {
            return None;
        }
        // A code without a label stays what it is.
        let itself = |text: &String| {
            let code = text.parse::<i32>().ok().filter(|code| code.abs() < 2_000_000_000 && code.to_string() == *text);
            code.filter(|code| !self.said.codes.contains_key(code))
        };
        let known: Vec<Option<i32>> =
            self.texts.iter().map(|text| by_label.get(text.as_str()).copied().or_else(|| itself(text))).collect();
        let taken: BTreeSet<i32> = self.said.codes.keys().copied().chain(known.iter().flatten().copied()).collect();
        let mut next = taken.last().map_or(1, |last| last + 1);
        let mut new = || {
            next += 1;
            next - 1
        };
        let codes: Vec<i32> = known.into_iter().map(|code| code.unwrap_or_else(&mut new)).collect();
        let is_itself =
            |(text, code): &(&String, &i32)| by_label.get(text.as_str()) != Some(*code) && itself(text).is_some();
        let labels = self.texts.iter().zip(&codes).filter(|pair| !is_itself(pair));
        let labels = labels.map(|(text, code)| (*code, text.clone())).collect();
        Some((codes, labels))
    }

    /// The bytes of the longest text, which a program can store where every text passes.
    pub fn width(&self, path: &Path, n_max: usize, is_kept: impl Fn(&str) -> bool) -> Result<usize> {
        let width = self.texts.iter().map(String::len).max().unwrap_or(1);
        if width > n_max {
            let message = format!("column '{}' has texts of more than {n_max} bytes", self.name);
            return Err(refused(path, message));
        }
        match self.texts.iter().all(|text| is_kept(text)) {
            true => Ok(width.max(1)),
            false => Err(refused(path, format!("column '{}' has texts that such a file does not keep", self.name))),
        }
    }
}

/// The error for a release that a format cannot hold.
pub fn refused(path: &Path, message: String) -> Error {
    Error::new(ErrorKind::Data, message).at(path.display().to_string()).hint("write .csv or .parquet instead")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::source::{Labels, ReadOptions, Source};
    use crate::output::{spss, stata};
    use incrowd::table::Cells;
    use proptest::prelude::*;

    type Texts = Vec<Option<String>>;

    /// What is read of a file into which these columns were written; none where it is refused.
    fn read_back(ending: &str, columns: &[(Said, Texts)], labels: Labels) -> Option<(Vec<Said>, Vec<Texts>)> {
        let named = columns.iter().enumerate().map(|(i, (said, _))| (format!("c{i}"), said.clone()));
        let mut gathered = Gathered::new(named);
        for record in 0..columns[0].1.len() {
            gathered.push(columns.iter().map(|(_, cells)| cells[record].as_deref()));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("release").with_extension(ending);
        let file = std::fs::File::create(&path).expect("a file");
        let write = if ending == "sav" { spss::write } else { stata::write };
        write(&gathered, &file, &path).ok()?;
        let options = ReadOptions { labels, ..ReadOptions::of_release(None) };
        let source = Source::open(&path, &options).expect("it is read");
        let mut read: Vec<Texts> = vec![Vec::new(); columns.len()];
        let collected = source.for_each(&source.column_names(), |batch, _| {
            for (texts, array) in read.iter_mut().zip(batch.columns()) {
                let (cells, mut text) = (Cells::new("x", array)?, String::new());
                texts.extend((0..batch.num_rows()).map(|i| cells.read(i, &mut text).then(|| text.clone())));
            }
            Ok(())
        });
        collected.expect("it is read");
        Some((source.schema().fields().iter().map(|field| Said::of(field)).collect(), read))
    }

    fn said(label: &str, codes: &[(i32, &str)]) -> Said {
        Said { label: label.into(), codes: codes.iter().map(|(code, label)| (*code, label.to_string())).collect() }
    }

    fn texts(texts: &[&str]) -> Texts {
        texts.iter().map(|text| Some(text.to_string()).filter(|text| !text.is_empty())).collect()
    }

    #[test]
    fn codes_come_back_as_they_were_and_only_what_is_published_has_a_label() {
        let sex = said("sex of the person", &[(1, "male"), (2, "female"), (3, "other")]);
        let columns = [(sex, texts(&["female", "", "male", "*", "7", "3"]))];
        for ending in ["sav", "dta"] {
            let (said, read) = read_back(ending, &columns, Labels::Labels).expect("it is written");
            assert_eq!(read[0], columns[0].1, "{ending}");
            assert_eq!(said[0].label, "sex of the person");
            let known: Vec<&str> = said[0].codes.values().map(String::as_str).collect();
            assert_eq!(known, ["male", "female", "*", "3"], "{ending}: nobody published is 'other'");
            let (_, read) = read_back(ending, &columns, Labels::Codes).expect("it is written");
            assert_eq!(read[0], texts(&["2", "", "1", "8", "7", "9"]), "{ending}");
        }
    }

    #[test]
    fn what_a_file_cannot_keep_is_refused() {
        let long = "x".repeat(3000);
        for (text, is_kept) in
            [("a", [true, true]), ("a ", [false, true]), ("\0", [false, false]), (&long, [false, false])]
        {
            let cells = vec![Some(text.to_string()), Some("b".to_string())];
            let written =
                ["sav", "dta"].map(|ending| read_back(ending, &[(Said::default(), cells.clone())], Labels::Labels));
            assert_eq!(written.each_ref().map(Option::is_some), is_kept, "{text:?}");
            assert!(written.into_iter().flatten().all(|(_, read)| read[0] == cells), "{text:?}");
        }
        let nothing = vec![Some(String::new())];
        assert!(
            ["sav", "dta"]
                .iter()
                .all(|e| read_back(e, &[(Said::default(), nothing.clone())], Labels::Labels).is_none())
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever is written is read as it was: numbers, dates, texts, codes, and what looks like one of them.
        #[test]
        fn what_is_written_is_read(
            columns in proptest::collection::vec(
                proptest::collection::vec(
                    proptest::option::of(prop_oneof![
                        "[ab]{1,3}", "-?[0-9]{1,4}", "-?[0-9]{1,3}\\.[0-9]{1,2}", "(19|20)[0-9]{2}-[01][0-9]-[0-3][0-9]",
                        "[0-9]{10,22}", "é{1,130}", Just("male".to_string()), Just("-0".to_string()), Just("NaN".to_string()),
                        Just("1e5".to_string()), Just("[20, 25)".to_string()),
                    ]),
                    5,
                ),
                1..5,
            ),
            with_codes in any::<bool>(),
        ) {
            let codes: &[(i32, &str)] = if with_codes { &[(1, "male"), (-5, "a"), (7, "12")] } else { &[] };
            let columns: Vec<(Said, Texts)> = columns.into_iter().map(|cells| (said("é", codes), cells)).collect();
            for ending in ["sav", "dta"] {
                if let Some((_, read)) = read_back(ending, &columns, Labels::Labels) {
                    let expected: Vec<Texts> = columns.iter().map(|(_, cells)| cells.clone()).collect();
                    prop_assert_eq!(read, expected, "{}", ending);
                }
            }
        }
    }
}
