//! Whether a class keeps every criterion that is asked for, whatever records come to it.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::criterion::{Criteria, Criterion, NEVER, Yardstick};
use crate::error::{Error, ErrorKind, Result};
use crate::recode::partition::Part;
use crate::table::Code;

/// What every class must keep: any criteria, about any sensitive attributes, over records or people.
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    /// Measures what the criteria are about, and has the table that groups are compared with.
    pub yardstick: &'a Yardstick,
    /// What is asked for, k included.
    pub criteria: &'a Criteria,
}

/// What the criteria see of a class.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotTally {
    pub(crate) n_records: u64,
    /// How much there is of each slot of the yardstick, in order and never nothing.
    pub(crate) slots: Vec<(u32, u64)>,
    /// Where people are counted, everybody's different values, which increase.
    people: FxHashMap<u32, Vec<u32>>,
}

/// A demand on the classes of a table.
///
/// Parts are by cell of their group. Where people are counted, the last sensitive attribute of the counts says whose
/// record it is.
pub(crate) struct Scale<'a> {
    counts: &'a GroupCounts,
    yardstick: &'a Yardstick,
    /// With the places of their measures.
    criteria: Vec<(usize, Criterion)>,
}

/// So many changes are made one by one, more of them in one go through all slots.
const N_FEW: usize = 8;

impl SlotTally {
    /// Adds to some slots and takes from others, of which none comes to less than nothing; nothing is left of `changes`.
    fn change(&mut self, changes: &mut Vec<(u32, i64)>) {
        if changes.len() <= N_FEW {
            return changes.drain(..).for_each(|(slot, by)| self.change_one(slot, by));
        }
        changes.sort_unstable_by_key(|change| change.0);
        let before = std::mem::take(&mut self.slots);
        self.slots.reserve(before.len() + changes.len());
        let mut before = before.into_iter().peekable();
        for same in changes.chunk_by(|one, other| one.0 == other.0) {
            let slot = same[0].0;
            self.slots.extend(std::iter::from_fn(|| before.next_if(|known| known.0 < slot)));
            let n = before.next_if(|known| known.0 == slot).map_or(0, |known| known.1);
            let n = changed(n, same.iter().map(|change| change.1).sum());
            self.slots.extend((n > 0).then_some((slot, n)));
        }
        self.slots.extend(before);
        changes.clear();
    }

    fn change_one(&mut self, slot: u32, by: i64) {
        match self.slots.binary_search_by_key(&slot, |known| known.0) {
            Ok(at) => match changed(self.slots[at].1, by) {
                0 => {
                    self.slots.remove(at);
                }
                n => self.slots[at].1 = n,
            },
            Err(at) => self.slots.insert(at, (slot, changed(0, by))),
        }
    }
}

fn changed(n: u64, by: i64) -> u64 {
    n.checked_add_signed(by).expect("what is taken out was put in")
}

/// Tables have at most 2^38 records.
fn more(n: u64) -> i64 {
    i64::try_from(n).expect("tables have fewer records")
}

impl<'a> Scale<'a> {
    /// # Errors
    /// Where a criterion is not measured.
    pub(crate) fn new(counts: &'a GroupCounts, demand: &Demand<'a>) -> Result<Scale<'a>> {
        let measures = demand.yardstick.measures();
        let place = |criterion: Criterion| {
            let place = measures.iter().position(|measure| *measure == criterion.measure);
            let message = || Error::new(ErrorKind::Request, format!("{} was not measured", criterion.measure.name()));
            Ok((place.ok_or_else(message)?, criterion))
        };
        let criteria = demand.criteria.iter().map(place).collect::<Result<_>>()?;
        Ok(Scale { counts, yardstick: demand.yardstick, criteria })
    }

    /// Only to measure, not to ask for anything.
    pub(crate) fn measuring(counts: &'a GroupCounts, yardstick: &'a Yardstick) -> Scale<'a> {
        Scale { counts, yardstick, criteria: Vec::new() }
    }

    /// Whether people are counted, not records.
    pub(crate) fn is_over_people(&self) -> bool {
        self.yardstick.is_over_people()
    }

    /// What the criteria see of some parts together.
    pub(crate) fn tally<'p>(&self, parts: impl IntoIterator<Item = &'p Part>) -> SlotTally {
        let mut tally = SlotTally::default();
        self.add(&mut tally, parts);
        tally
    }

    /// Adds some parts.
    pub(crate) fn add<'p>(&self, tally: &mut SlotTally, parts: impl IntoIterator<Item = &'p Part>) {
        let n_sensitive = self.yardstick.references().len();
        let mut changes = Vec::new();
        for part in parts {
            tally.n_records += part.n_records;
            let codes = codes_of(self.counts, part);
            let values = (0..n_sensitive).map(|s| self.yardstick.value(s, codes[s].0));
            match self.yardstick.is_over_people() {
                true => self.add_person(&mut tally.people, codes[n_sensitive].0, values, &mut changes),
                false => changes.extend(values.map(|value| (value, more(part.n_records)))),
            }
        }
        tally.change(&mut changes);
    }

    /// What the criteria see of two classes together.
    pub(crate) fn together(&self, one: &SlotTally, other: &SlotTally) -> SlotTally {
        let (small, large) = if one.slots.len() < other.slots.len() { (one, other) } else { (other, one) };
        let mut tally = large.clone();
        self.join(&mut tally, small);
        tally
    }

    /// Adds what the criteria see of one class to that of another, of which the larger is kept.
    pub(crate) fn joined(&self, one: SlotTally, other: SlotTally) -> SlotTally {
        let is_larger = (one.people.len(), one.slots.len()) >= (other.people.len(), other.slots.len());
        let (mut tally, small) = if is_larger { (one, other) } else { (other, one) };
        self.join(&mut tally, &small);
        tally
    }

    fn join(&self, tally: &mut SlotTally, small: &SlotTally) {
        tally.n_records += small.n_records;
        let mut changes = Vec::new();
        match self.yardstick.is_over_people() {
            true => small.people.iter().for_each(|(&person, values)| {
                self.add_person(&mut tally.people, person, values.iter().copied(), &mut changes);
            }),
            false => changes.extend(small.slots.iter().map(|&(slot, n)| (slot, more(n)))),
        }
        tally.change(&mut changes);
    }

    /// Adds values of somebody, who may be there already; what that does to the slots comes to `changes`.
    fn add_person(
        &self,
        people: &mut FxHashMap<u32, Vec<u32>>,
        person: u32,
        values: impl Iterator<Item = u32>,
        changes: &mut Vec<(u32, i64)>,
    ) {
        let before = people.remove(&person);
        let mut after = before.clone().unwrap_or_default();
        after.extend(values);
        after.sort_unstable();
        after.dedup();
        if before.as_ref() != Some(&after) {
            if let Some(before) = before {
                self.yardstick.person(&before, |slot, n| changes.push((slot, -more(n))));
            }
            self.yardstick.person(&after, |slot, n| changes.push((slot, more(n))));
        }
        people.insert(person, after);
    }

    /// Whether it may be published.
    pub(crate) fn holds(&self, tally: &SlotTally) -> bool {
        let mut measured = Vec::with_capacity(self.yardstick.n_measured());
        self.yardstick.measure(tally.n_records, 0, &tally.slots, &mut measured);
        self.criteria.iter().all(|&(place, criterion)| criterion.holds(measured[place]))
    }

    /// How far it is from that: 0 where it may be published.
    pub(crate) fn missing(&self, tally: &SlotTally) -> f64 {
        let mut measured = Vec::with_capacity(self.yardstick.n_measured());
        self.yardstick.measure(tally.n_records, 0, &tally.slots, &mut measured);
        let missing = |&(place, criterion): &(usize, Criterion)| match measured[place] {
            measured if criterion.holds(measured) => 0.0,
            NEVER => 2.0,
            measured => {
                let (measured, asked) = (measured as f64, criterion.value as f64);
                let share = if criterion.measure.is_at_least() { measured / asked } else { asked / measured };
                1.0 - share.min(1.0)
            }
        };
        self.criteria.iter().map(missing).sum()
    }
}

/// The sensitive values of a part's records.
fn codes_of<'a>(counts: &'a GroupCounts, part: &Part) -> &'a [Code] {
    if counts.sensitive().is_empty() {
        return &[];
    }
    let cell = part.value.and_then(|place| counts.cell(part.base as usize, place.index()));
    cell.expect("parts are by cell of their group").0
}

/// Whether a class may be published.
///
/// Written without what the methods use to be quick, so that a slip in one is not repeated in the other.
pub(crate) fn is_enough(counts: &GroupCounts, demand: &Demand, parts: &[Part]) -> bool {
    let yardstick = demand.yardstick;
    let n_sensitive = yardstick.references().len();
    let mut slots: BTreeMap<u32, u64> = BTreeMap::new();
    let mut people: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for part in parts {
        let codes = codes_of(counts, part);
        let values = (0..n_sensitive).map(|s| yardstick.value(s, codes[s].0));
        match yardstick.is_over_people() {
            true => people.entry(codes[n_sensitive].0).or_default().extend(values),
            false => values.for_each(|value| *slots.entry(value).or_default() += part.n_records),
        }
    }
    for values in people.into_values() {
        let values: Vec<u32> = values.into_iter().collect();
        yardstick.person(&values, |slot, n| *slots.entry(slot).or_default() += n);
    }
    let slots: Vec<(u32, u64)> = slots.into_iter().collect();
    let mut measured = Vec::new();
    yardstick.measure(parts.iter().map(|part| part.n_records).sum(), 0, &slots, &mut measured);
    let value_of = |criterion: Criterion| yardstick.measures().iter().position(|known| *known == criterion.measure);
    demand.criteria.iter().all(|criterion| value_of(criterion).is_some_and(|at| criterion.holds(measured[at])))
}
