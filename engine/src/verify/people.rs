//! The check of what is promised to people, by whoever knows whose record became which.

use std::collections::{HashMap, HashSet};

use crate::criterion::{Criteria, Criterion, Measure};
use crate::verify::reference::{KnownOriginal, Original, Outside, Text};
use crate::verify::verdict::Finding;
use crate::verify::verifier::{FoundGroup, measure_plainly};

/// Judges what is promised to people: who is in which group, and with which values there.
///
/// The file itself does not say whose record is whose. Whoever makes it knows, and shows every record here on its way:
/// those of the original table, and those that are published.
#[derive(Default)]
pub struct PeopleVerifier {
    n_sensitive: usize,
    /// By person, their values of each sensitive attribute in the original table.
    table: Who,
    /// By published group, who is in it and with which values; and how many records it has.
    groups: HashMap<Vec<Text>, (Who, u64)>,
}

/// People by name.
type Who = HashMap<String, Own>;

/// The records of one person: how many, and their different values of each sensitive attribute.
struct Own {
    n_records: u64,
    values: Vec<HashSet<Text>>,
}

/// What everybody's values weigh together; see [`crate::criterion::PARTS`].
const WEIGHT: u64 = 2_520;

impl PeopleVerifier {
    /// A check of records with so many sensitive attributes, which has seen none yet.
    pub fn new(n_sensitive: usize) -> PeopleVerifier {
        PeopleVerifier { n_sensitive, ..PeopleVerifier::default() }
    }

    /// Looks at a record of the original table.
    pub fn see_original(&mut self, person: &str, values: impl Iterator<Item = Text>) {
        note_values(&mut self.table, self.n_sensitive, person, values, 1);
    }

    /// Looks at a published record: the cells that someone could be found by, and its sensitive values.
    pub fn see_published(&mut self, cells: Vec<Text>, person: &str, values: impl Iterator<Item = Text>) {
        self.see_published_times(cells, person, values, 1);
    }

    /// Looks at so many equal published records of the same person.
    pub fn see_published_times(
        &mut self,
        cells: Vec<Text>,
        person: &str,
        values: impl Iterator<Item = Text>,
        n_times: u64,
    ) {
        let (people, n_records) = self.groups.entry(cells).or_default();
        *n_records += n_times;
        note_values(people, self.n_sensitive, person, values, n_times);
    }

    /// How many people the smallest group has; none where there is no group.
    pub fn smallest_group(&self) -> Option<u64> {
        self.groups.values().map(|(people, _)| people.len() as u64).min()
    }

    /// How many people of the original table have no record among those published.
    pub fn n_lost(&self) -> u64 {
        let published: HashSet<&String> = self.groups.values().flat_map(|(people, _)| people.keys()).collect();
        self.table.keys().filter(|person| !published.contains(person)).count() as u64
    }

    /// How many people there are in the original table.
    pub fn n_people(&self) -> u64 {
        self.table.len() as u64
    }

    /// How many people are alone by all their published records together: nobody else has as many in each of the same
    /// groups. No promise about groups says anything of it.
    pub fn n_alone_by_all_records(&self) -> u64 {
        let mut sets: HashMap<&str, Vec<(&[Text], u64)>> = HashMap::new();
        for (cells, (people, _)) in &self.groups {
            people.iter().for_each(|(who, own)| sets.entry(who).or_default().push((cells, own.n_records)));
        }
        let mut n_alike: HashMap<Vec<(&[Text], u64)>, u64> = HashMap::new();
        for mut set in sets.into_values() {
            set.sort_unstable();
            *n_alike.entry(set).or_default() += 1;
        }
        n_alike.values().filter(|n| **n == 1).count() as u64
    }

    /// The published groups in the order of their cells: who is in each, and with how many records.
    pub fn groups(&self) -> Vec<(&[Text], Vec<(&str, u64)>)> {
        let mut groups: Vec<(&[Text], Vec<(&str, u64)>)> = Vec::with_capacity(self.groups.len());
        for (cells, (people, _)) in &self.groups {
            let mut who: Vec<(&str, u64)> = people.iter().map(|(who, own)| (who.as_str(), own.n_records)).collect();
            who.sort_unstable();
            groups.push((cells, who));
        }
        groups.sort_unstable();
        groups
    }

    /// What every criterion comes to, over people. The distances between values are those of `outside`, and so is the
    /// population.
    pub fn findings(&self, criteria: &Criteria, outside: &Outside) -> Vec<Finding> {
        criteria.iter().map(|criterion| self.finding(criterion, outside)).collect()
    }

    fn finding(&self, criterion: Criterion, outside: &Outside) -> Finding {
        let measure = criterion.measure;
        let original = measure.sensitive().and_then(|s| outside.originals.get(s)?.as_ref());
        let is_judged = match measure {
            Measure::Population => outside.population.is_some(),
            measure => !measure.is_relative() || original.is_some(),
        };
        let mut finding = Finding::new(criterion, is_judged);
        let is_weighed = matches!(measure, Measure::Closeness(_));
        let order: Option<HashMap<&Text, usize>> = original
            .filter(|_| is_weighed)
            .map(|original| original.counts.iter().map(|(value, _)| value).zip(0..).collect());
        // The same values in the same order, and how many people of the table have each.
        let of_table = original.filter(|_| measure.is_relative()).map(|original| {
            let counts = values_of(&self.table, measure.sensitive().expect("relative to values"), order.as_ref());
            let count = |value: &Text| counts.get(value).copied().unwrap_or(0);
            let counts = original.counts.iter().map(|(value, _)| (value.clone(), count(value)));
            Original { counts: counts.collect(), ..original.clone() }
        });
        let n_table = self.table.len() as u64 * if is_weighed { WEIGHT } else { 1 };
        let known = of_table
            .as_ref()
            .map(|original| KnownOriginal { n_records: i128::from(n_table), ..KnownOriginal::new(original) });
        for (cells, (people, n_records)) in self.groups.iter().filter(|_| is_judged) {
            let n = people.len() as u64;
            let measured = match measure.sensitive() {
                None if measure == Measure::Size => n,
                None => outside.population.as_ref().and_then(|known| known.get(cells)).copied().unwrap_or(0),
                Some(s) => {
                    let mut values = values_of(people, s, order.as_ref());
                    if matches!(measure, Measure::Distinct(_) | Measure::Entropy(_) | Measure::Recursive { .. }) {
                        values = everybody_once(values, n);
                    }
                    let size = n * if is_weighed { WEIGHT } else { 1 };
                    let mut all = vec![HashMap::new(); s];
                    all.push(values);
                    measure_plainly(measure, &FoundGroup { size, values: all }, known.as_ref())
                }
            };
            finding.see(measured, *n_records);
        }
        finding
    }
}

fn note_values(people: &mut Who, n_sensitive: usize, person: &str, values: impl Iterator<Item = Text>, n_records: u64) {
    if !people.contains_key(person) {
        people.insert(person.to_string(), Own { n_records: 0, values: vec![HashSet::new(); n_sensitive] });
    }
    let own = people.get_mut(person).expect("they were just noted");
    own.n_records += n_records;
    own.values.iter_mut().zip(values).for_each(|(known, value)| {
        known.insert(value);
    });
}

/// How many people have each value; or what it weighs, where everybody's weight is shared out evenly among their values,
/// and of what is left over the first ones in order get one part each.
fn values_of(people: &Who, sensitive: usize, places: Option<&HashMap<&Text, usize>>) -> HashMap<Text, u64> {
    let mut all: HashMap<Text, u64> = HashMap::new();
    for own in people.values() {
        let mut own: Vec<&Text> = own.values[sensitive].iter().collect();
        let n = own.len() as u64;
        let (each, n_more) = places.map_or((1, 0), |_| (WEIGHT / n, WEIGHT % n));
        if let Some(places) = places.filter(|_| n_more > 0) {
            own.sort_by_key(|value| places.get(value));
        }
        for (i, value) in (0..).zip(own) {
            let n = each + u64::from(i < n_more);
            match all.get_mut(value) {
                Some(known) => *known += n,
                None => drop(all.insert(value.clone(), n)),
            }
        }
    }
    all
}

/// Everybody counted once: with the value that most have, those who are left with the next, and so on.
fn everybody_once(values: HashMap<Text, u64>, n_people: u64) -> HashMap<Text, u64> {
    let mut most: Vec<(u64, Text)> = values.into_iter().map(|(value, n)| (n, value)).collect();
    most.sort_by(|a, b| b.cmp(a));
    let mut n_left = n_people;
    let mut once = HashMap::new();
    for (n, value) in most {
        let taken = n.min(n_left);
        n_left -= taken;
        if taken > 0 {
            once.insert(value, taken);
        }
    }
    once
}
