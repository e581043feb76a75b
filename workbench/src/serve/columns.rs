//! How often each value of each column occurs, from one reading: for small charts, trees with numbers, and samples.

use arrow_array::{ArrayRef, RecordBatch};
use incrowd::table::{Cells, Code, Encoder, Kind, date_text, days_of_date, parse_date};
use incrowd::{Domain, Missing, Result};
use serde_json::{Value, json};

use crate::input::source::Source;
use crate::work::{Unit, Work};

/// More different values than this are not kept: nobody draws a tree of them.
const N_VALUES_MAX: usize = 200_000;

/// Records that samples are taken from: the first ones that are not dropped.
const N_SAMPLE: usize = 400;

/// What was seen of a table.
pub struct CountedColumns {
    /// In the table's order.
    pub all: Vec<ColumnValues>,
    /// Whole records, by column; none where a value is missing.
    pub records: Vec<Vec<Option<String>>>,
}

/// One column's values and how many records have each, of the records that are not dropped.
pub struct ColumnValues {
    pub name: String,
    /// None where there are too many values.
    pub seen: Option<(Domain, Vec<u64>)>,
}

/// Reads a table once.
pub fn look(source: &Source, missing: &Missing, work: &Work) -> Result<CountedColumns> {
    let names = source.column_names();
    let mut tallies: Vec<Option<(Encoder, Vec<u64>)>> =
        names.iter().map(|name| Some((Encoder::new(name, missing), vec![0]))).collect();
    let mut records = Vec::new();
    let mut codes = Vec::new();
    work.stage("looking", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&names, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            let mut keep = vec![true; batch.num_rows()];
            if missing.drop_records {
                names.iter().try_for_each(|name| missing.mark_dropped(name, column(&batch, name), &mut keep))?;
            }
            for (name, tally) in names.iter().zip(&mut tallies) {
                let Some((encoder, counts)) = tally else { continue };
                encoder.encode(column(&batch, name), &mut codes)?;
                counts.resize(encoder.n_codes(), 0);
                codes.iter().zip(&keep).filter(|(_, keep)| **keep).for_each(|(code, _)| counts[*code as usize] += 1);
                if encoder.n_codes() > N_VALUES_MAX {
                    *tally = None;
                }
            }
            if records.len() < N_SAMPLE {
                let n_wanted = N_SAMPLE - records.len();
                records.extend(some_records(&batch, &names, missing, &keep, n_wanted)?);
            }
            Ok(())
        })
    })?;
    let finished = |(name, tally): (String, Option<(Encoder, Vec<u64>)>)| {
        let seen = tally.map(|(encoder, counts)| finish(&name, &encoder, &counts, missing));
        ColumnValues { name, seen }
    };
    Ok(CountedColumns { all: names.into_iter().zip(tallies).map(finished).collect(), records })
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).expect("the columns asked for are read")
}

/// From provisional codes to a domain in order.
fn finish(name: &str, encoder: &Encoder, counts: &[u64], missing: &Missing) -> (Domain, Vec<u64>) {
    let present = || encoder.values().iter().zip(counts).skip(1).filter(|(_, n)| **n > 0);
    let values = present().map(|(value, _)| value.clone()).collect();
    let domain = Domain::new(name, values, (counts[0] > 0).then(|| missing.label()));
    let mut by_code = vec![0; domain.len()];
    present().for_each(|(value, n)| by_code[domain.code(value).expect("it is there").index()] = *n);
    if let Some(Code(code)) = domain.missing() {
        by_code[code as usize] = counts[0];
    }
    (domain, by_code)
}

fn some_records(
    batch: &RecordBatch,
    names: &[String],
    missing: &Missing,
    keep: &[bool],
    n_wanted: usize,
) -> Result<Vec<Vec<Option<String>>>> {
    let cells = names.iter().map(|name| Cells::new(name, column(batch, name))).collect::<Result<Vec<_>>>()?;
    let record = |i: usize| {
        let read = |cells: &Cells| {
            let mut text = String::new();
            (cells.read(i, &mut text) && !missing.is_token(&text)).then_some(text)
        };
        cells.iter().map(read).collect()
    };
    Ok((0..keep.len()).filter(|i| keep[*i]).take(n_wanted).map(record).collect())
}

impl CountedColumns {
    pub fn get(&self, name: &str) -> Option<&ColumnValues> {
        self.all.iter().find(|column| column.name == name)
    }
}

impl ColumnValues {
    /// Bars of a small chart.
    pub fn chart(&self) -> Value {
        let Some((domain, counts)) = &self.seen else { return Value::Null };
        let position = |value: &str| match domain.kind() {
            Kind::Date => parse_date(value).map(|(year, month, day)| days_of_date(year, month, day) as f64),
            Kind::Integer | Kind::Number => value.parse().ok(),
            Kind::Boolean | Kind::Text => None,
        };
        let positions: Option<Vec<f64>> = domain.present().map(|(_, value)| position(value)).collect();
        let bars = match positions.filter(|positions| positions.len() > 12) {
            Some(positions) => intervals(&positions, counts, domain.kind()),
            None => most_frequent(domain, counts),
        };
        let bar = |(name, n): (String, u64)| json!({ "value": name, "n_records": n });
        bars.into_iter().map(bar).collect()
    }
}

/// As many intervals as can be told apart in a small chart; of whole numbers and days, with whole bounds.
fn intervals(numbers: &[f64], counts: &[u64], kind: Kind) -> Vec<(String, u64)> {
    const N_BARS: usize = 24;
    let is_whole = kind != Kind::Number;
    let (least, greatest) = (numbers[0], numbers[numbers.len() - 1]);
    let width = match is_whole {
        true => ((greatest - least + 1.0) / N_BARS as f64).ceil(),
        false => (greatest - least) / N_BARS as f64,
    };
    let mut bars = vec![0; N_BARS];
    for (number, n) in numbers.iter().zip(counts) {
        bars[(((number - least) / width) as usize).min(N_BARS - 1)] += n;
    }
    let short = |number: f64| match kind {
        Kind::Date => date_text(number as i64),
        _ => format!("{}", (number * 100.0).round() / 100.0),
    };
    let name = |i: usize| {
        let low = least + width * i as f64;
        let high = if is_whole { low + width - 1.0 } else { low + width };
        if low == high { short(low) } else { format!("{} to {}", short(low), short(high)) }
    };
    let n_used = if is_whole { (((greatest - least) / width) as usize + 1).min(N_BARS) } else { N_BARS };
    bars.into_iter().take(n_used).enumerate().map(|(i, n)| (name(i), n)).collect()
}

fn most_frequent(domain: &Domain, counts: &[u64]) -> Vec<(String, u64)> {
    const N_BARS: usize = 24;
    let mut all: Vec<(String, u64)> = domain.values().iter().cloned().zip(counts.iter().copied()).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(N_BARS);
    all
}
