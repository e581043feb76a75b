//! The published table: every record recoded, and ordered so that nothing about the input's order is left.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use arrow_array::RecordBatch;
use hashbrown::HashTable;

use crate::counts::people::person_column;
use crate::counts::{GroupCounts, hash_codes, number};
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::recode::{Recoding, Share};
use crate::table::encoder::UNSEEN;
use crate::table::{Cells, Code, Domain, Encoder, Missing};

mod counted;

pub use counted::{Alike, are_counted};

/// One published record: for every column its text, or none for "no value".
///
/// Texts are stored so that comparing the bytes of two rows gives an order of records that depends on
/// what is published and on nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row(Vec<u8>);

impl Row {
    /// A record with these cells, in the order of columns.
    pub fn new(cells: impl IntoIterator<Item = Option<String>>) -> Row {
        let mut row = Row::default();
        cells.into_iter().for_each(|cell| row.push(cell.as_deref()));
        row
    }

    /// A record from what [`Row::as_bytes`] gave.
    pub fn from_bytes(bytes: Vec<u8>) -> Row {
        Row(bytes)
    }

    /// The bytes that records are ordered by.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn push(&mut self, cell: Option<&str>) {
        // 0 ends a cell, so a 0 within a text is followed by 1; a cell without a value is 0 0.
        let Some(text) = cell else {
            return self.0.extend_from_slice(&[0, 0]);
        };
        let text = text.as_bytes();
        self.0.reserve(text.len() + 3);
        self.0.push(2);
        match text.contains(&0) {
            false => self.0.extend_from_slice(text),
            true => text.iter().for_each(|byte| match byte {
                0 => self.0.extend_from_slice(&[0, 1]),
                _ => self.0.push(*byte),
            }),
        }
        self.0.extend_from_slice(&[0, 0]);
    }

    /// The cells as they are stored, which are equal where their texts are; those without a 0 are their texts.
    pub fn encoded(&self) -> impl Iterator<Item = Option<&[u8]>> {
        let mut rest = &self.0[..];
        std::iter::from_fn(move || {
            let (&first, behind) = rest.split_first()?;
            if first == 0 {
                rest = &behind[1..];
                return Some(None);
            }
            let mut end = 0;
            // 0 0 ends a text, and 0 1 is a 0 within it.
            while behind[end] != 0 || behind[end + 1] != 0 {
                end += if behind[end] == 0 { 2 } else { 1 };
            }
            rest = &behind[end + 2..];
            Some(Some(&behind[..end]))
        })
    }

    /// The cells, one per column.
    pub fn cells(&self) -> Vec<Option<String>> {
        let text = |stored: &[u8]| {
            let text = match stored.contains(&0) {
                false => stored.to_vec(),
                // Behind a 0 within a text stands a 1, which is none of it.
                true => {
                    let is_text = |i: &usize| *i == 0 || stored[i - 1] != 0;
                    (0..stored.len()).filter(is_text).map(|i| stored[i]).collect()
                }
            };
            String::from_utf8(text).expect("cells are made of texts")
        };
        self.encoded().map(|cell| cell.map(text)).collect()
    }
}

/// A column of the release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The quasi-identifier with this number, recoded.
    Recoded(usize, String),
    /// The lowest number that the quasi-identifier with this number may be; no value where that is not known.
    Low(usize, String),
    /// The highest.
    High(usize, String),
    /// A column published as it is.
    Kept(String),
    /// Whose record it is, as these columns say together: for whoever checks the rows, and never for the release.
    Person(Vec<String>),
}

impl Column {
    /// What the column is called in the release.
    pub fn name(&self) -> &str {
        match self {
            Column::Recoded(_, name) | Column::Low(_, name) | Column::High(_, name) | Column::Kept(name) => name,
            Column::Person(names) => &names[0],
        }
    }
}

/// Recodes the records of a table, batch after batch.
pub struct Publisher<'a> {
    counts: &'a GroupCounts,
    recoding: &'a Recoding,
    missing: Missing,
    encoders: Vec<Encoder>,
    /// The sensitive attributes, where a record's values decide which group it joins.
    sensitive: Vec<Encoder>,
    /// The groups of the counts, to be found by their codes; filled when the first batch comes.
    groups: HashTable<u32>,
    columns: Vec<Column>,
    /// How the release writes "no value", where that is a text, as in CSV.
    missing_text: Option<String>,
    codes: Vec<Vec<u32>>,
    sensitive_codes: Vec<Vec<u32>>,
    /// By share of the recoding, how many records have been handed out.
    n_used: Vec<u64>,
    /// The shares that waiting records are being handed out to.
    open: Option<Open>,
    n_suppressed: u64,
    n_dropped: u64,
}

/// The values that a sensitive attribute has in the table, whatever they are counted as.
fn values_of(counts: &GroupCounts, sensitive: usize) -> &Domain {
    counts.counted_as(sensitive).map_or(&counts.sensitive()[sensitive], |at| at.values())
}

impl<'a> Publisher<'a> {
    /// `columns` are those of the release in order; the counts are those that the recoding was made of. Where it matters
    /// whose record it is, the last column says so.
    pub fn new(
        counts: &'a GroupCounts,
        recoding: &'a Recoding,
        missing: &Missing,
        columns: Vec<Column>,
    ) -> Publisher<'a> {
        let sensitive = if recoding.is_by_cell() { counts.sensitive() } else { &[] };
        let n_shares = recoding.all_shares().len();
        Publisher {
            counts,
            recoding,
            missing: missing.clone(),
            encoders: counts.domains().iter().map(|domain| Encoder::of_domain(domain, missing)).collect(),
            sensitive: (0..sensitive.len()).map(|s| Encoder::of_domain(values_of(counts, s), missing)).collect(),
            groups: HashTable::new(),
            columns,
            missing_text: None,
            codes: vec![Vec::new(); counts.domains().len()],
            sensitive_codes: vec![Vec::new(); sensitive.len()],
            n_used: vec![0; n_shares],
            open: None,
            n_suppressed: 0,
            n_dropped: 0,
        }
    }

    /// The same for a release that writes "no value" as this text: records are then ordered by it.
    pub fn writing_missing_as(self, text: &str) -> Publisher<'a> {
        Publisher { missing_text: Some(text.to_string()), ..self }
    }

    /// The group of the counts that record `i` of the batch at hand is of, and the shares that it may go to, as their
    /// places among all; none where it is suppressed because its combination was never counted, which is as unsafe as one that failed.
    fn shares_of(&self, i: usize) -> Result<Option<(u32, Range<usize>)>> {
        let code_in = |code: u32, domain: &Domain| match code {
            // An encoder's code is one more than the domain's, and 0 is missing.
            0 => domain.missing().unwrap_or(Code(u32::MAX)),
            code => Code(code - 1),
        };
        let codes =
            || self.codes.iter().zip(self.counts.domains()).map(move |(codes, domain)| code_in(codes[i], domain));
        let is_same = |&group: &u32| self.counts.codes(group as usize).iter().copied().eq(codes());
        let Some(&base) = self.groups.find(hash_codes(codes()), is_same) else { return Ok(None) };
        let value = move |(s, codes): (usize, &Vec<u32>)| code_in(codes[i], values_of(self.counts, s));
        let values = self.sensitive_codes.iter().enumerate().map(value);
        self.shares_in(base, values).map(|shares| Some((base, shares)))
    }

    /// The shares that records of a group of the counts may go to, by their sensitive values as the table has them.
    fn shares_in(&self, base: u32, values: impl Iterator<Item = Code> + Clone) -> Result<Range<usize>> {
        let shares = self.recoding.shares(base as usize);
        let mut cell = shares[0].cell;
        if cell.is_some() {
            let counted = |(s, code): (usize, Code)| match self.counts.counted_as(s) {
                Some(at) => at.label(code).unwrap_or(Code(u32::MAX)),
                None => code,
            };
            let place = self.counts.find_cell(base as usize, values.enumerate().map(counted));
            cell = Some(place.and_then(|place| u32::try_from(place).ok()).ok_or_else(changed)?);
        }
        let first = shares.partition_point(|share| share.cell < cell);
        let n_meant = shares[first..].partition_point(|share| share.cell == cell);
        let start = self.recoding.start(base as usize) + first;
        if n_meant == 0 { Err(changed()) } else { Ok(start..start + n_meant) }
    }

    /// The group of the counts that has a share.
    fn base_of(&self, share: usize) -> u32 {
        let (mut base, mut end) = (0, self.counts.n_groups());
        while end - base > 1 {
            let middle = base.midpoint(end);
            *(if self.recoding.start(middle) <= share { &mut base } else { &mut end }) = middle;
        }
        number(base)
    }

    /// Takes so many records off a share, and says which group they join; none where they are suppressed.
    fn take(&mut self, share: usize, n_taken: u64) -> Result<Option<u32>> {
        let Share { n_records, group, .. } = self.recoding.all_shares()[share];
        self.n_used[share] += n_taken;
        self.n_suppressed += if group.is_none() { n_taken } else { 0 };
        if self.n_used[share] > n_records { Err(changed()) } else { Ok(group) }
    }

    /// The published record of a waiting one; the waiting records of all batches come in increasing order.
    ///
    /// # Guarantee
    /// Which records go where depends on what is published of them and not on the order of the table; and every group gets
    /// its part of them evenly, from the first to the last.
    ///
    /// # Errors
    /// Where the table is not the one that was counted.
    pub fn settle(&mut self, waiting: &Row) -> Result<Option<(Row, Origin)>> {
        let (shares, kept) = waiting.without_shares();
        if self.open.as_ref().is_none_or(|open| open.shares != shares) {
            self.open = Some(Open::new(shares, self.recoding.all_shares()));
        }
        let share = self.open.as_mut().and_then(Open::next).ok_or_else(changed)?;
        let Some(group) = self.take(share, 1)? else { return Ok(None) };
        let mut kept = kept.cells().into_iter();
        let row = self.row(group, |_| kept.next().expect("one cell per kept column"));
        Ok(Some((row, Origin { base: self.base_of(share), group })))
    }

    /// The published record of a group, with these cells in the columns that are kept, of which the places are asked for.
    fn row(&self, group: u32, mut kept: impl FnMut(usize) -> Option<String>) -> Row {
        let mut row = Row::default();
        for (place, column) in self.columns.iter().enumerate() {
            let of = |a: &usize| self.recoding.cell(group as usize, *a);
            let kept_text;
            let cell = match column {
                Column::Recoded(a, _) => Some(of(a)).filter(|cell| !cell.is_missing).map(|cell| cell.text.as_str()),
                Column::Low(a, _) => of(a).ends.0.as_deref(),
                Column::High(a, _) => of(a).ends.1.as_deref(),
                Column::Kept(_) | Column::Person(_) => {
                    kept_text = kept(place);
                    kept_text.as_deref()
                }
            };
            row.push(cell.or(self.missing_text.as_deref()));
        }
        row
    }

    /// Checks, after the last batch, that every record that was counted has come by.
    ///
    /// # Errors
    /// Where one has not, or the table is not the one that was counted.
    pub fn finish(&self) -> Result<()> {
        let shares = self.recoding.all_shares().iter().zip(&self.n_used);
        match shares.into_iter().all(|(share, n_used)| share.n_records == *n_used) {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    /// How many records were suppressed up to now.
    pub fn n_suppressed(&self) -> u64 {
        self.n_suppressed
    }

    /// How many records were dropped up to now, because a value was missing.
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// The published records of a batch, and those of which it is not settled yet which group they join.
    ///
    /// # Errors
    /// Where a column is missing or cannot be read, or the table is not the one that was counted.
    pub fn recode(&mut self, batch: &RecordBatch) -> Result<Recoded> {
        self.recode_times(batch, |_| 1)
    }

    /// The same of rows that stand for so many records each, as [`crate::Counter::push_counted`] takes them.
    ///
    /// # Errors
    /// As of [`Publisher::recode`].
    pub fn recode_counted(&mut self, batch: &RecordBatch, numbers: &[u64]) -> Result<Recoded> {
        assert_eq!(batch.num_rows(), numbers.len(), "one number per row");
        self.recode_times(batch, |i| numbers[i])
    }

    fn recode_times(&mut self, batch: &RecordBatch, n_times: impl Fn(usize) -> u64) -> Result<Recoded> {
        if self.groups.is_empty() {
            let hash_of = |&group: &u32| hash_codes(self.counts.codes(group as usize).iter().copied());
            self.groups.reserve(self.counts.n_groups(), hash_of);
            for group in 0..number(self.counts.n_groups()) {
                self.groups.insert_unique(hash_of(&group), group, hash_of);
            }
        }
        let schema = batch.schema();
        let column = |name: &str| {
            batch.column_by_name(name).ok_or_else(|| {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                unknown(ErrorKind::Data, "column", name, &names)
            })
        };
        for (encoder, codes) in self.encoders.iter_mut().zip(&mut self.codes) {
            encoder.encode(column(encoder.name())?, codes)?;
        }
        // What several columns say together is in none of them.
        let person = match self.columns.last() {
            Some(Column::Person(names)) => Some(person_column(batch, names, &self.missing)?),
            _ => None,
        };
        let of_person = self.counts.known_people().map(|people| people.names.name());
        for (encoder, codes) in self.sensitive.iter_mut().zip(&mut self.sensitive_codes) {
            match &person {
                Some(person) if Some(encoder.name()) == of_person => encoder.encode(person, codes)?,
                _ => encoder.encode(column(encoder.name())?, codes)?,
            }
        }
        let mut keep = vec![true; batch.num_rows()];
        if self.missing.drop_records {
            for (field, column) in schema.fields().iter().zip(batch.columns()) {
                self.missing.mark_dropped(field.name(), column, &mut keep)?;
            }
        }
        let kept: Vec<Option<Cells>> = self
            .columns
            .iter()
            .map(|kept| match kept {
                Column::Recoded(..) | Column::Low(..) | Column::High(..) => Ok(None),
                Column::Kept(name) => Cells::new(name, column(name)?).map(Some),
                Column::Person(names) => {
                    Cells::new(&names[0], person.as_ref().expect("the person is the last column")).map(Some)
                }
            })
            .collect::<Result<_>>()?;
        let mut recoded = Recoded::default();
        let mut text = String::new();
        for (i, &keep) in keep.iter().enumerate() {
            let n_records = n_times(i);
            if !keep {
                self.n_dropped += n_records;
                continue;
            }
            self.check_seen(i)?;
            let Some((base, shares)) = self.shares_of(i)? else {
                self.n_suppressed += n_records;
                continue;
            };
            let group = match shares.len() {
                1 => self.take(shares.start, n_records)?,
                _ => None,
            };
            let mut read = |cells: &Cells| {
                let is_there = cells.read(i, &mut text) && !self.missing.is_token(&text);
                is_there.then(|| text.clone())
            };
            match group {
                _ if shares.len() > 1 => {
                    recoded.waiting.push(Row::waiting(shares, kept.iter().flatten().map(read)));
                    recoded.n_waiting.push(n_records);
                }
                Some(group) => {
                    let kept = |place: usize| read(kept[place].as_ref().expect("kept columns were looked up above"));
                    recoded.rows.push(self.row(group, kept));
                    recoded.origins.push(Origin { base, group });
                    recoded.n_records.push(n_records);
                }
                None => {}
            }
        }
        Ok(recoded)
    }

    /// Refuses a record with a value that was not counted.
    fn check_seen(&self, i: usize) -> Result<()> {
        let sensitive = self.sensitive.iter().zip(&self.sensitive_codes);
        let mut encoded = self.encoders.iter().zip(&self.codes).chain(sensitive);
        let Some((encoder, _)) = encoded.find(|(_, codes)| codes[i] == UNSEEN) else { return Ok(()) };
        let name = encoder.name();
        let message = format!("column '{name}' holds a value that was not there when the records were counted");
        Err(Error::new(ErrorKind::Data, message).hint(CHANGED))
    }
}

/// Where a published record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The group of the counts that it is of.
    pub base: u32,
    /// The published group that it joins.
    pub group: u32,
}

/// What became of the records of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recoded {
    /// In the batch's order.
    pub rows: Vec<Row>,
    /// By row, where it comes from.
    pub origins: Vec<Origin>,
    /// By row, how many records it is.
    pub n_records: Vec<u64>,
    /// Those of equal records that are shared out to several groups. Which joins which is settled by what is kept of
    /// them, once all are known and in order: see [`Publisher::settle`].
    pub waiting: Vec<Row>,
    /// By waiting row, how many records it is.
    pub n_waiting: Vec<u64>,
}

impl Row {
    /// A record that waits: the shares that it may go to, in front of the cells that are kept.
    fn waiting(shares: Range<usize>, kept: impl Iterator<Item = Option<String>>) -> Row {
        let mut row = Row::default();
        for place in [shares.start, shares.end] {
            row.0.extend_from_slice(&(place as u64).to_be_bytes());
        }
        kept.for_each(|cell| row.push(cell.as_deref()));
        row
    }

    fn without_shares(&self) -> (Range<usize>, Row) {
        let place = |at: usize| u64::from_be_bytes(self.0[at..at + 8].try_into().expect("eight bytes")) as usize;
        (place(0)..place(8), Row(self.0[16..].to_vec()))
    }
}

/// Shares that records are being handed out to, one after the other.
struct Open {
    shares: Range<usize>,
    /// By share, how many it got.
    n_given: Vec<u64>,
    turns: BinaryHeap<Reverse<Turn>>,
}

/// When a share gets its next record: of n, the first stands at 1 / 2n of the way, the next at 3 / 2n, and so on.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Turn {
    halves: u64,
    n_records: u64,
    share: usize,
}

impl Open {
    fn new(shares: Range<usize>, all: &[Share]) -> Open {
        let turn = |share: usize| Reverse(Turn { halves: 1, n_records: all[share].n_records, share });
        Open { turns: shares.clone().map(turn).collect(), n_given: vec![0; shares.len()], shares }
    }

    fn next(&mut self) -> Option<usize> {
        let Reverse(turn) = self.turns.pop()?;
        let next = Turn { halves: turn.halves + 2, ..turn };
        self.n_given[turn.share - self.shares.start] += 1;
        if next.halves < 2 * next.n_records {
            self.turns.push(Reverse(next));
        }
        Some(turn.share)
    }
}

impl Ord for Turn {
    fn cmp(&self, other: &Turn) -> Ordering {
        let at = |turn: &Turn, other: &Turn| u128::from(turn.halves) * u128::from(other.n_records);
        at(self, other).cmp(&at(other, self)).then(self.share.cmp(&other.share))
    }
}

impl PartialOrd for Turn {
    fn partial_cmp(&self, other: &Turn) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

const CHANGED: &str = "the data changed in between: run the command again";

fn changed() -> Error {
    Error::new(ErrorKind::Data, "the records are not those that were counted").hint(CHANGED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_give_back_their_cells_and_order_them() {
        let row = |cells: &[Option<&str>]| {
            let mut row = Row::default();
            cells.iter().for_each(|cell| row.push(*cell));
            row
        };
        let samples = [
            row(&[None, Some("b")]),
            row(&[Some(""), Some("b")]),
            row(&[Some("a"), None]),
            row(&[Some("a"), Some("\0")]),
            row(&[Some("a\0"), Some("")]),
            row(&[Some("ab"), Some("é\n")]),
        ];
        for pair in samples.windows(2) {
            assert!(pair[0] < pair[1]);
        }
        assert_eq!(samples[4].cells(), [Some("a\0".to_string()), Some(String::new())]);
        assert_eq!(samples[0].cells(), [None, Some("b".to_string())]);
        let encoded = |row: &Row| row.encoded().map(|cell| cell.map(<[u8]>::to_vec)).collect::<Vec<_>>();
        assert_eq!(encoded(&samples[5]), [Some("ab".into()), Some("é\n".into())]);
        assert_eq!(encoded(&samples[4]), [Some(vec![b'a', 0, 1]), Some(vec![])]);
        assert_eq!(encoded(&samples[0]), [None, Some("b".into())]);
        assert_eq!(encoded(&samples[2]), [Some("a".into()), None]);
    }
}
