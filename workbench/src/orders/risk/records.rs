//! What risk needs to know of the records beside their counts: their weights, their groups, their households, whose they
//! are.

use std::path::Path;

use arrow_array::{ArrayRef, RecordBatch};
use incrowd::number::grouped;
use incrowd::table::{Cells, Code, Encoder};
use incrowd::{Error, ErrorKind, GroupCounts, Missing, Result};
use rustc_hash::FxHashMap;

use crate::input::count::needed_columns;
use crate::input::digest::changed;
use crate::input::source::Source;
use crate::work::{Unit, Work};

/// What is read of the records once more.
pub struct ToRead<'a> {
    pub weight_of: Option<&'a str>,
    /// The columns that together name a household; none where nobody asks.
    pub household: &'a [String],
    /// The columns that together name a person; none where records are counted.
    pub person: &'a [String],
    /// Whether the group of every record is kept.
    pub each: bool,
}

/// What was read.
#[derive(Default)]
pub struct Records {
    /// By group of the counts, the sum of its weights. Where people are counted, everybody's weight once: the least of
    /// their records in the group.
    pub weights: Option<Vec<f64>>,
    /// Where people are counted, the sum of everybody's least weight.
    pub weight_of_people: Option<f64>,
    /// In the order of the table; none where a record lacks a value and is left out. Empty where nobody asked.
    pub places: Vec<Option<PlaceOfRecord>>,
    pub n_households: usize,
}

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceOfRecord {
    pub group: u32,
    /// Numbered as they appear; a record without one is a household of its own.
    pub household: u32,
    /// Whose it is, numbered as they appear; 0 where records are counted.
    pub person: u32,
}

impl Records {
    /// By person, numbered as they appear, the highest of what the groups of their records have.
    pub fn highest_of_people(&self, of_group: &[f64]) -> Vec<f64> {
        let mut highest = Vec::new();
        for place in self.places.iter().flatten() {
            highest.resize(highest.len().max(place.person as usize + 1), 0.0);
            let known: &mut f64 = &mut highest[place.person as usize];
            *known = known.max(of_group[place.group as usize]);
        }
        highest
    }

    /// The members of households with the risk of each. A person is one member, with the highest risk of their records
    /// there; where records are counted, each of them is.
    pub fn in_households(&self, of_group: &[f64], counts_people: bool) -> Vec<(u32, f64)> {
        let member = |place: &PlaceOfRecord| (place.household, place.person, of_group[place.group as usize]);
        let mut members: Vec<(u32, u32, f64)> = self.places.iter().flatten().map(member).collect();
        if counts_people {
            members.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
            members.dedup_by(|next, first| (next.0, next.1) == (first.0, first.1));
        }
        members.into_iter().map(|(household, _, risk)| (household, risk)).collect()
    }
}

/// Sums are whole numbers of steps, so that they do not depend on the order of the records.
const STEPS: f64 = (1_u64 << 40) as f64;

/// A weight is at most this, so that the sum of very many is exact.
const WEIGHT_MAX: f64 = 1e15;

/// Reads the records of a source that was counted.
///
/// # Errors
/// Where a weight is missing or no number above 0, or the records are not those that were counted.
pub fn read(source: &Source, counts: &GroupCounts, missing: &Missing, wanted: &ToRead, work: &Work) -> Result<Records> {
    let mut reading = Reading::new(source, counts, missing, wanted);
    let encoders = reading.encoders.iter().chain(&reading.household).chain(&reading.person);
    let names = encoders.map(Encoder::name).chain(wanted.weight_of);
    let columns = needed_columns(source, names, missing);
    wanted
        .household
        .iter()
        .map(String::as_str)
        .chain(wanted.weight_of)
        .try_for_each(|name| source.check_column(name))?;
    work.stage("looking at records", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each(&columns, |batch, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            reading.push(&batch)
        })
    })?;
    Ok(reading.finish())
}

struct Reading<'a> {
    source: &'a Source,
    missing: &'a Missing,
    wanted: &'a ToRead<'a>,
    encoders: Vec<Encoder>,
    /// By attribute, the code of the domain for "no value".
    absent: Vec<Option<Code>>,
    groups: FxHashMap<&'a [Code], u32>,
    household: Vec<Encoder>,
    households: FxHashMap<Vec<u32>, u32>,
    n_households: u32,
    person: Vec<Encoder>,
    people: FxHashMap<Vec<u32>, u32>,
    steps: Vec<u128>,
    /// By group and person, the least weight, where people are counted.
    least_steps: FxHashMap<(u32, u32), u128>,
    places: Vec<Option<PlaceOfRecord>>,
    n_read: u64,
}

impl<'a> Reading<'a> {
    fn new(source: &'a Source, counts: &'a GroupCounts, missing: &'a Missing, wanted: &'a ToRead<'a>) -> Reading<'a> {
        Reading {
            source,
            missing,
            wanted,
            encoders: counts.domains().iter().map(|domain| Encoder::of_domain(domain, missing)).collect(),
            absent: counts.domains().iter().map(|domain| domain.missing()).collect(),
            groups: (0..counts.n_groups()).map(|group| (counts.codes(group), group as u32)).collect(),
            household: wanted.household.iter().map(|name| Encoder::new(name, missing)).collect(),
            households: FxHashMap::default(),
            n_households: 0,
            person: wanted.person.iter().map(|name| Encoder::new(name, missing)).collect(),
            people: FxHashMap::default(),
            least_steps: FxHashMap::default(),
            steps: vec![0; counts.n_groups()],
            places: Vec::new(),
            n_read: 0,
        }
    }

    fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let weights = self.wanted.weight_of.map(|name| self.weights(name, column(batch, name))).transpose()?;
        let codes = codes_of(&mut self.encoders, batch)?;
        let household = codes_of(&mut self.household, batch)?;
        let person = codes_of(&mut self.person, batch)?;
        let keeps = self.keeps(batch, &codes)?;
        let mut key = Vec::new();
        for (record, &keep) in keeps.iter().enumerate() {
            let place = match keep {
                true => Some(self.place(record, [&codes, &household, &person], &mut key)?),
                false => None,
            };
            if let (Some(place), Some(weights)) = (place, &weights) {
                self.add_weight(place, (weights[record] * STEPS).round() as u128);
            }
            if self.wanted.each || !self.household.is_empty() {
                self.places.push(place);
            }
        }
        self.n_read += batch.num_rows() as u64;
        Ok(())
    }

    /// Which records were counted.
    fn keeps(&self, batch: &RecordBatch, codes: &[Vec<u32>]) -> Result<Vec<bool>> {
        let mut keeps = vec![true; batch.num_rows()];
        if !self.missing.drop_records {
            return Ok(keeps);
        }
        for (encoder, codes) in self.encoders.iter().zip(codes) {
            if self.missing.drops(encoder.name()) {
                keeps.iter_mut().zip(codes).for_each(|(keep, &code)| *keep &= code != 0);
            }
        }
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            if self.encoders.iter().all(|encoder| encoder.name() != field.name()) {
                self.missing.mark_dropped(field.name(), column, &mut keeps)?;
            }
        }
        Ok(keeps)
    }

    fn add_weight(&mut self, place: PlaceOfRecord, steps: u128) {
        match self.person.is_empty() {
            true => self.steps[place.group as usize] += steps,
            false => {
                let least = self.least_steps.entry((place.group, place.person)).or_insert(steps);
                *least = steps.min(*least);
            }
        }
    }

    fn place(
        &mut self,
        record: usize,
        [codes, household, person]: [&[Vec<u32>]; 3],
        key: &mut Vec<Code>,
    ) -> Result<PlaceOfRecord> {
        key.clear();
        for (codes, absent) in codes.iter().zip(&self.absent) {
            // Code 0 is "no value"; a value that was not counted gets one that no group has.
            key.push(match codes[record] {
                0 => absent.unwrap_or(Code(u32::MAX)),
                code => Code(code - 1),
            });
        }
        let group = self.groups.get(key.as_slice()).copied().ok_or_else(|| changed(self.source.files()[0]))?;
        let named = |columns: &[Vec<u32>]| columns.iter().map(|codes| codes[record]).collect::<Vec<u32>>();
        let household = match household {
            [] => 0,
            household => self.household_of(named(household)),
        };
        let next = self.people.len() as u32;
        let person = match person {
            [] => 0,
            person => *self.people.entry(named(person)).or_insert(next),
        };
        Ok(PlaceOfRecord { group, household, person })
    }

    fn household_of(&mut self, named: Vec<u32>) -> u32 {
        let next = self.n_households;
        // Who has no household, or only a part of a name, shares it with nobody.
        let household = match named.contains(&0) {
            true => next,
            false => *self.households.entry(named).or_insert(next),
        };
        self.n_households += u32::from(household == next);
        household
    }

    fn weights(&self, name: &str, column: &ArrayRef) -> Result<Vec<f64>> {
        let cells = Cells::new(name, column)?;
        let mut text = String::new();
        let weight = |record: usize| {
            let is_there = cells.read(record, &mut text) && !self.missing.is_token(&text);
            let weight = text.trim().parse::<f64>().ok().filter(|weight| *weight > 0.0 && *weight <= WEIGHT_MAX);
            match (is_there, weight) {
                (true, Some(weight)) => Ok(weight),
                (true, None) => Err(self.unfit(name, record, "is no number above 0")),
                (false, _) => Err(self.unfit(name, record, "has no weight")),
            }
        };
        (0..cells.len()).map(weight).collect()
    }

    /// The error for a weight that is none.
    fn unfit(&self, name: &str, record: usize, what: &str) -> Error {
        let files = self.source.files();
        // Records of several files are numbered through.
        let file = if files.len() == 1 { files[0] } else { files[0].parent().unwrap_or(Path::new(".")) };
        let record = grouped(self.n_read + record as u64 + 1);
        Error::new(ErrorKind::Data, format!("record {record}, column '{name}': {what}"))
            .at(file.display().to_string())
            .hint("a sampling weight says for how many people of the population a record stands, for example 215.4")
    }

    fn finish(mut self) -> Records {
        let mut of_people = vec![u128::MAX; self.people.len()];
        for ((group, person), steps) in &self.least_steps {
            self.steps[*group as usize] += steps;
            of_people[*person as usize] = of_people[*person as usize].min(*steps);
        }
        let sums = |steps: Vec<u128>| steps.into_iter().map(|steps| steps as f64 / STEPS).collect();
        Records {
            weights: self.wanted.weight_of.map(|_| sums(self.steps)),
            weight_of_people: (!self.least_steps.is_empty()).then(|| of_people.iter().sum::<u128>() as f64 / STEPS),
            places: self.places,
            n_households: self.n_households as usize,
        }
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).expect("it was asked for, and is there")
}

fn codes_of(encoders: &mut [Encoder], batch: &RecordBatch) -> Result<Vec<Vec<u32>>> {
    let encode = |encoder: &mut Encoder| {
        let mut codes = Vec::new();
        let name = encoder.name().to_string();
        encoder.encode(column(batch, &name), &mut codes)?;
        Ok(codes)
    };
    encoders.iter_mut().map(encode).collect()
}
