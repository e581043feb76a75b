//! The published table: every record recoded, and ordered so that nothing about the input's order is left.

use arrow_array::RecordBatch;
use hashbrown::HashTable;

use crate::counts::{GroupCounts, hash_codes};
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::recode::Recoding;
use crate::table::{Cells, Code, Domain, Encoder, Missing, UNSEEN};

/// One published record: for every column its text, or none for "no value".
///
/// Texts are stored so that comparing the bytes of two rows gives an order of records that depends on
/// what is published and on nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row(Vec<u8>);

impl Row {
    pub fn from_bytes(bytes: Vec<u8>) -> Row {
        Row(bytes)
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn push(&mut self, cell: Option<&str>) {
        // 0 ends a cell, so a 0 within a text is followed by 1; a cell without a value is 0 0.
        let Some(text) = cell else {
            return self.0.extend_from_slice(&[0, 0]);
        };
        self.0.push(2);
        for &byte in text.as_bytes() {
            match byte {
                0 => self.0.extend_from_slice(&[0, 1]),
                _ => self.0.push(byte),
            }
        }
        self.0.push(0);
        self.0.push(0);
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
        let mut cells = Vec::new();
        let mut bytes = self.0.iter().copied().peekable();
        while let Some(first) = bytes.next() {
            if first == 0 {
                bytes.next();
                cells.push(None);
                continue;
            }
            let mut text = Vec::new();
            while let Some(byte) = bytes.next() {
                match byte {
                    0 if bytes.next() == Some(1) => text.push(0),
                    0 => break,
                    _ => text.push(byte),
                }
            }
            cells.push(Some(String::from_utf8(text).expect("cells are made of texts")));
        }
        cells
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
}

impl Column {
    pub fn name(&self) -> &str {
        match self {
            Column::Recoded(_, name) | Column::Low(_, name) | Column::High(_, name) | Column::Kept(name) => name,
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
    /// The groups of the counts, to be found by their codes.
    groups: HashTable<u32>,
    columns: Vec<Column>,
    codes: Vec<Vec<u32>>,
    sensitive_codes: Vec<Vec<u32>>,
    /// By share of the recoding, how many records have been handed out.
    n_used: Vec<u64>,
    /// By first share of those that a record may go to, how many of them are used up.
    n_full: Vec<u32>,
    n_suppressed: u64,
    n_dropped: u64,
}

impl<'a> Publisher<'a> {
    /// `columns` are those of the release in order; the counts are those that the recoding was made of.
    pub fn new(
        counts: &'a GroupCounts,
        recoding: &'a Recoding,
        missing: &Missing,
        columns: Vec<Column>,
    ) -> Publisher<'a> {
        let hash_of = |&group: &u32| hash_codes(counts.codes(group as usize).iter().copied());
        let mut groups = HashTable::with_capacity(counts.n_groups());
        for group in 0..counts.n_groups() as u32 {
            groups.insert_unique(hash_of(&group), group, hash_of);
        }
        let sensitive = if recoding.is_by_cell() { counts.sensitive() } else { &[] };
        let n_shares = recoding.all_shares().len();
        Publisher {
            counts,
            recoding,
            missing: missing.clone(),
            encoders: counts.domains().iter().map(|domain| Encoder::of_domain(domain, missing)).collect(),
            sensitive: sensitive.iter().map(|domain| Encoder::of_domain(domain, missing)).collect(),
            groups,
            columns,
            codes: vec![Vec::new(); counts.domains().len()],
            sensitive_codes: vec![Vec::new(); sensitive.len()],
            n_used: vec![0; n_shares],
            n_full: vec![0; n_shares],
            n_suppressed: 0,
            n_dropped: 0,
        }
    }

    /// The published group of record `i` of the batch at hand; none where it is suppressed.
    ///
    /// Where equal records are shared out to several groups, the first records go to the first share.
    /// A combination that was never counted is as unsafe as one that failed.
    fn group_of(&mut self, i: usize) -> Result<Option<u32>> {
        let code_in = |code: u32, domain: &Domain| match code {
            // An encoder's code is one more than the domain's, and 0 is missing.
            0 => domain.missing().unwrap_or(Code(u32::MAX)),
            code => Code(code - 1),
        };
        let codes =
            || self.codes.iter().zip(self.counts.domains()).map(move |(codes, domain)| code_in(codes[i], domain));
        let is_same = |&group: &u32| self.counts.codes(group as usize).iter().copied().eq(codes());
        let Some(&base) = self.groups.find(hash_codes(codes()), is_same) else { return Ok(None) };
        let shares = self.recoding.shares(base as usize);
        let mut cell = shares[0].cell;
        if cell.is_some() {
            let domains = self.counts.sensitive();
            let values =
                || self.sensitive_codes.iter().zip(domains).map(move |(codes, domain)| code_in(codes[i], domain));
            let place = self.counts.cells(base as usize).position(|(codes, _)| codes.iter().copied().eq(values()));
            cell = Some(place.ok_or_else(changed)? as u32);
        }
        let first = shares.partition_point(|share| share.cell < cell);
        let start = self.recoding.start(base as usize);
        let n_full = self.n_full.get(start + first).copied().unwrap_or(0);
        let at = first + n_full as usize;
        let share = shares.get(at).filter(|share| share.cell == cell).ok_or_else(changed)?;
        self.n_used[start + at] += 1;
        if self.n_used[start + at] == share.n_records {
            self.n_full[start + first] += 1;
        }
        Ok(share.group)
    }

    /// Checks, after the last batch, that every record that was counted has come by.
    pub fn finish(&self) -> Result<()> {
        let shares = self.recoding.all_shares().iter().zip(&self.n_used);
        match shares.into_iter().all(|(share, n_used)| share.n_records == *n_used) {
            true => Ok(()),
            false => Err(changed()),
        }
    }

    pub fn n_suppressed(&self) -> u64 {
        self.n_suppressed
    }

    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// The published records of a batch, in the batch's order.
    pub fn recode(&mut self, batch: &RecordBatch) -> Result<Vec<Row>> {
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
        for (encoder, codes) in self.sensitive.iter_mut().zip(&mut self.sensitive_codes) {
            encoder.encode(column(encoder.name())?, codes)?;
        }
        let mut keep = vec![true; batch.num_rows()];
        if self.missing.drop_records {
            for (field, column) in schema.fields().iter().zip(batch.columns()) {
                self.missing.mark(field.name(), column, &mut keep)?;
            }
        }
        let kept: Vec<Option<Cells>> = self
            .columns
            .iter()
            .map(|kept| match kept {
                Column::Recoded(..) | Column::Low(..) | Column::High(..) => Ok(None),
                Column::Kept(name) => Cells::new(name, column(name)?).map(Some),
            })
            .collect::<Result<_>>()?;
        let mut rows = Vec::with_capacity(batch.num_rows());
        let mut text = String::new();
        for (i, &keep) in keep.iter().enumerate() {
            if !keep {
                self.n_dropped += 1;
                continue;
            }
            let sensitive = self.sensitive.iter().zip(&self.sensitive_codes);
            let mut encoded = self.encoders.iter().zip(&self.codes).chain(sensitive);
            if let Some((encoder, _)) = encoded.find(|(_, codes)| codes[i] == UNSEEN) {
                let name = encoder.name();
                return Err(Error::new(
                    ErrorKind::Data,
                    format!("column '{name}' holds a value that was not there when the records were counted"),
                )
                .hint(CHANGED));
            }
            let Some(group) = self.group_of(i)? else {
                self.n_suppressed += 1;
                continue;
            };
            let mut row = Row::default();
            for (column, cells) in self.columns.iter().zip(&kept) {
                match (column, cells) {
                    (Column::Recoded(a, _), _) => {
                        let cell = self.recoding.cell(group as usize, *a);
                        row.push((!cell.is_missing).then_some(cell.text.as_str()));
                    }
                    (Column::Low(a, _), _) => {
                        let ends = self.recoding.cell(group as usize, *a).ends.as_ref();
                        row.push(ends.map(|(low, _)| low.as_str()));
                    }
                    (Column::High(a, _), _) => {
                        let ends = self.recoding.cell(group as usize, *a).ends.as_ref();
                        row.push(ends.map(|(_, high)| high.as_str()));
                    }
                    (Column::Kept(_), Some(cells)) => {
                        let present = cells.read(i, &mut text) && !self.missing.is_token(&text);
                        row.push(present.then_some(text.as_str()));
                    }
                    (Column::Kept(_), None) => unreachable!("kept columns were looked up above"),
                }
            }
            rows.push(row);
        }
        Ok(rows)
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
