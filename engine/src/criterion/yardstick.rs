//! Measures groups by all criteria of a run at once, and tells which groups satisfy a request.

use crate::counts::GroupCounts;
use crate::counts::people::People;
use crate::criterion::formulas::{
    Histogram, Reference, add, distance_to_table, effective_values, greatest_bounded_gain, greatest_disclosure,
    greatest_gain, greatest_share, n_distinct, recursive_ratio, told_most,
};
use crate::criterion::{Criteria, Criterion, Distance, Measure, PARTS};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::hierarchy::Hierarchy;

/// What groups are measured with: the measures that are asked for, and what they need to know about the table.
#[derive(Clone, Debug)]
pub struct Yardstick {
    measures: Vec<Measure>,
    /// By sensitive attribute.
    references: Vec<Reference>,
    /// By sensitive attribute, everybody's parts; empty where records are counted, or nothing needs them.
    parts: Vec<Reference>,
    /// Where each sensitive attribute's values begin among those of all; one more entry than there are attributes.
    offsets: Vec<u32>,
    is_over_people: bool,
}

impl Yardstick {
    /// Measures sizes, the distinct values of the first sensitive attribute if there is one, and what else is asked for.
    ///
    /// `distances` are by sensitive attribute of the counts, with the hierarchy where the distance needs one.
    ///
    /// # Errors
    /// Where a measure needs a sensitive attribute or a population, and the counts have none.
    pub fn new(
        counts: &GroupCounts,
        distances: &[(Distance, Option<Hierarchy>)],
        measures: impl IntoIterator<Item = Measure>,
    ) -> Result<Yardstick> {
        Yardstick::over(counts, counts.people(), distances, measures)
    }

    /// The same over records, whosever they are.
    pub(crate) fn of_records(counts: &GroupCounts, measures: impl IntoIterator<Item = Measure>) -> Result<Yardstick> {
        Yardstick::over(counts, None, &[], measures)
    }

    fn over(
        counts: &GroupCounts,
        people: Option<&People>,
        distances: &[(Distance, Option<Hierarchy>)],
        measures: impl IntoIterator<Item = Measure>,
    ) -> Result<Yardstick> {
        let n_sensitive = counts.sensitive().len();
        let mut all: Vec<Measure> = measures.into_iter().chain([Measure::Size]).collect();
        if n_sensitive > 0 {
            all.push(Measure::Distinct(0));
        }
        all.sort_unstable();
        all.dedup();
        if let Some(measure) = all.iter().find(|measure| measure.sensitive().is_some_and(|s| s >= n_sensitive)) {
            return Err(Error::new(
                ErrorKind::Request,
                format!("{} needs a sensitive attribute, and the project names none", measure.name()),
            )
            .hint(Step::NameSensitive));
        }
        if all.contains(&Measure::Population) && counts.population().is_none() {
            return Err(Error::new(ErrorKind::Request, "k_map needs a population to hide in, and none is given")
                .hint(Step::NamePopulation));
        }
        let lengths = counts.sensitive().iter().map(|domain| domain.len() as u32);
        let needs_parts = all.iter().any(|measure| matches!(measure, Measure::Closeness(_)));
        let mut yardstick = Yardstick {
            measures: all,
            references: Vec::new(),
            parts: Vec::new(),
            offsets: std::iter::once(0).chain(lengths.scan(0, |sum, n| Some(add(sum, n)))).collect(),
            is_over_people: people.is_some(),
        };
        let distance = |s: usize| distances.get(s).cloned().unwrap_or_default();
        let Some(people) = people else {
            let reference = |s: usize| {
                let (distance, hierarchy) = distance(s);
                Reference::new(counts.distribution(s), distance, hierarchy.as_ref())
            };
            yardstick.references = (0..n_sensitive).map(reference).collect();
            return Ok(yardstick);
        };
        // The table as one group.
        let n_values = yardstick.n_values();
        let (mut of_people, mut parts) = (vec![0; n_values], vec![0; n_values]);
        let mut values = Vec::new();
        for person in 0..people.len() {
            values.clear();
            for (cell, _) in people.cells(person) {
                values
                    .extend(counts.codes_of_cell(cell).iter().enumerate().map(|(s, code)| yardstick.value(s, code.0)));
            }
            values.sort_unstable();
            values.dedup();
            values.iter().for_each(|value| of_people[*value as usize] += 1);
            yardstick.share_out(&values, |value, n| parts[value as usize] += n);
        }
        let own =
            |all: &[u64], s: usize| all[yardstick.offsets[s] as usize..yardstick.offsets[s + 1] as usize].to_vec();
        let reference = |n: u64, all: &[u64], s: usize| {
            let (distance, hierarchy) = distance(s);
            Reference::among(n, own(all, s), distance, hierarchy.as_ref())
        };
        let n_people = people.len() as u64;
        let references = (0..n_sensitive).map(|s| reference(n_people, &of_people, s)).collect();
        let n_parts = if needs_parts { n_sensitive } else { 0 };
        let parts = (0..n_parts).map(|s| reference(n_people * PARTS, &parts, s)).collect();
        Ok(Yardstick { references, parts, ..yardstick })
    }

    /// Whether people are counted, not records.
    pub fn is_over_people(&self) -> bool {
        self.is_over_people
    }

    /// Calls `add` with each of somebody's different values, which increase, and the parts that it gets of their weight.
    fn share_out(&self, values: &[u32], mut add: impl FnMut(u32, u64)) {
        let mut rest = values;
        for s in 0..self.offsets.len() - 1 {
            let n = rest.partition_point(|value| *value < self.offsets[s + 1]) as u64;
            let (own, others) = rest.split_at(n as usize);
            for (i, value) in (0..).zip(own) {
                add(*value, PARTS / n + u64::from(i < PARTS % n));
            }
            rest = others;
        }
    }

    /// How many slots the histogram of a group has: one per value of all sensitive attributes; over people also one per
    /// value for everybody's parts, where these are needed, and the last one for how many people there are.
    pub(crate) fn n_slots(&self) -> usize {
        let n_parts = if self.parts.is_empty() { 0 } else { self.n_values() };
        self.n_values() + n_parts + usize::from(self.is_over_people)
    }

    /// The slot that counts people.
    fn people_slot(&self) -> u32 {
        self.n_slots() as u32 - 1
    }

    /// Calls `add` with what somebody with these different values, which increase, adds to each slot of a group.
    pub(crate) fn person(&self, values: &[u32], mut add: impl FnMut(u32, u64)) {
        values.iter().for_each(|value| add(*value, 1));
        if !self.parts.is_empty() {
            let n_values = self.n_values() as u32;
            self.share_out(values, |value, n| add(n_values + value, n));
        }
        add(self.people_slot(), 1);
    }

    /// In increasing order; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// How many numbers are found out about a group: one per measure, and over people how many records it has.
    pub(crate) fn n_measured(&self) -> usize {
        self.measures.len() + usize::from(self.is_over_people)
    }

    /// By sensitive attribute, what groups are compared with.
    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// How many values all sensitive attributes have together.
    pub fn n_values(&self) -> usize {
        self.offsets.last().map_or(0, |n| *n as usize)
    }

    /// The number that a value of a sensitive attribute has among those of all.
    pub fn value(&self, sensitive: usize, code: u32) -> u32 {
        self.offsets[sensitive] + code
    }

    /// Measures a group of `size` records and `population` people to hide among, by its slots in order: how many records
    /// have each sensitive value; over people how many people have each, everybody's parts where they are needed, and last how many people there are.
    pub fn measure(&self, size: u64, population: u64, slots: Histogram, into: &mut Vec<u64>) {
        let (mut slots, mut n_people) = (slots, size);
        if self.is_over_people {
            n_people = 0;
            if let [others @ .., (slot, n)] = slots
                && *slot == self.people_slot()
            {
                (slots, n_people) = (others, *n);
            }
        }
        let n_values = self.n_values() as u32;
        let (values, parts) = slots.split_at(slots.partition_point(|(slot, _)| *slot < n_values));
        let mut of_attribute: Vec<(u32, u64)> = Vec::new();
        let mut prepared = None;
        for &measure in &self.measures {
            let histogram = match measure.sensitive() {
                None => &[][..],
                Some(_) if self.references.len() == 1 && !self.is_over_people => values,
                Some(s) => {
                    let is_of_parts = self.is_over_people && matches!(measure, Measure::Closeness(_));
                    let is_told_most = self.is_over_people && is_counted_once(measure);
                    if prepared != Some((s, is_of_parts, is_told_most)) {
                        let (all, first) = if is_of_parts { (parts, n_values) } else { (values, 0) };
                        let own = first + self.offsets[s]..first + self.offsets[s + 1];
                        of_attribute.clear();
                        let (start, end) = (place_of(all, own.start), place_of(all, own.end));
                        of_attribute.extend(all[start..end].iter().map(|(slot, c)| (slot - own.start, *c)));
                        if is_told_most && of_attribute.iter().map(|(_, c)| c).sum::<u64>() > n_people {
                            of_attribute = told_most(&of_attribute, n_people);
                        }
                        prepared = Some((s, is_of_parts, is_told_most));
                    }
                    &of_attribute
                }
            };
            into.push(self.value_of(measure, n_people, population, histogram));
        }
        if self.is_over_people {
            into.push(size);
        }
    }

    /// Measures a group of `n` records or people, of which the histogram is that of the measure's own sensitive attribute.
    fn value_of(&self, measure: Measure, n: u64, population: u64, histogram: Histogram) -> u64 {
        match measure {
            Measure::Size => n,
            Measure::Population => population,
            Measure::Distinct(_) => n_distinct(histogram),
            Measure::Share(_) => greatest_share(histogram, n),
            Measure::Entropy(_) => effective_values(histogram),
            Measure::Recursive { l, .. } => recursive_ratio(histogram, l),
            Measure::Closeness(s) => distance_to_table(histogram, self.parts.get(s).unwrap_or(&self.references[s])),
            Measure::Disclosure(s) => greatest_disclosure(histogram, n, &self.references[s]),
            Measure::Likeness(s) => greatest_gain(histogram, n, &self.references[s]),
            Measure::EnhancedLikeness(s) => greatest_bounded_gain(histogram, n, &self.references[s]),
        }
    }

    /// Whether every record of the table keeps a criterion on its own, as a group of one: then it hides nobody.
    ///
    /// Of the population nothing is taken for granted: whoever stands alone may stand alone there too.
    pub fn is_kept_alone(&self, criterion: Criterion) -> bool {
        let keeps = |histogram: Histogram| criterion.holds(self.value_of(criterion.measure, 1, 1, histogram));
        match criterion.measure.sensitive() {
            None => keeps(&[]),
            Some(s) => {
                let counts = (0..).zip(self.references[s].counts());
                counts.filter(|(_, count)| **count > 0).all(|(value, _)| keeps(&[(value, 1)]))
            }
        }
    }
}

/// Whether a criterion over people counts everybody once, by the value that tells most.
fn is_counted_once(measure: Measure) -> bool {
    matches!(measure, Measure::Distinct(_) | Measure::Entropy(_) | Measure::Recursive { .. })
}

fn place_of(slots: Histogram, slot: u32) -> usize {
    slots.partition_point(|(known, _)| *known < slot)
}

/// What criteria see of some groups: for each, one value per measure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    measures: Vec<Measure>,
    /// Where the size counts people, records stand behind the measures.
    is_over_people: bool,
    /// By group, then by measure.
    values: Vec<u64>,
}

impl Measured {
    /// `measures` begin with the size; `values` are by group, then by measure; where the size counts people, how many
    /// records the group has stands behind them.
    ///
    /// # Panics
    /// Where the first measure is not the size.
    pub fn new(measures: &[Measure], is_over_people: bool, values: Vec<u64>) -> Measured {
        assert_eq!(measures.first(), Some(&Measure::Size), "every group is counted");
        Measured { measures: measures.to_vec(), is_over_people, values }
    }

    /// What a yardstick measured, group after group.
    pub(crate) fn by(yardstick: &Yardstick, values: Vec<u64>) -> Measured {
        Measured::new(yardstick.measures(), yardstick.is_over_people(), values)
    }

    /// Whether sizes count people, not records.
    pub fn is_over_people(&self) -> bool {
        self.is_over_people
    }

    /// How many values there are of each group.
    pub(crate) fn stride(&self) -> usize {
        self.measures.len() + usize::from(self.is_over_people)
    }

    /// What was measured; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// How many groups were measured.
    pub fn len(&self) -> usize {
        self.values.len() / self.stride().max(1)
    }

    /// Whether no group was measured.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What is known of a group, by measure.
    #[inline]
    pub fn of(&self, group: usize) -> &[u64] {
        &self.values[group * self.stride()..][..self.measures.len()]
    }

    /// The same with the records behind it.
    pub(crate) fn all_of(&self, group: usize) -> &[u64] {
        &self.values[group * self.stride()..][..self.stride()]
    }

    /// How large a group is: how many records it has, or people where these are counted.
    #[inline]
    pub fn size(&self, group: usize) -> u64 {
        self.values[group * self.stride()]
    }

    /// How many records a group has.
    #[inline]
    pub fn n_records(&self, group: usize) -> u64 {
        match self.is_over_people {
            true => self.values[(group + 1) * self.stride() - 1],
            false => self.size(group),
        }
    }

    /// Where a measure stands among those of a group.
    pub fn column(&self, measure: Measure) -> Option<usize> {
        self.measures.iter().position(|known| *known == measure)
    }

    /// Refuses criteria that were not measured.
    pub(crate) fn check_measured(&self, criteria: &Criteria) -> Result<()> {
        match criteria.iter().find(|criterion| self.column(criterion.measure).is_none()) {
            None => Ok(()),
            Some(criterion) => {
                Err(Error::new(ErrorKind::Request, format!("{} was not measured", criterion.measure.name())))
            }
        }
    }

    /// Prepares to ask many groups about the same criteria, all of which were measured.
    ///
    /// # Panics
    /// Where one of them was not.
    pub fn test(&self, criteria: &Criteria) -> Test<'_> {
        let column = |criterion: Criterion| {
            let column = self.column(criterion.measure);
            (column.expect("the criterion was measured"), criterion)
        };
        Test { measured: self, criteria: criteria.iter().map(column).collect() }
    }

    /// Adds groups that the same was measured of.
    pub(crate) fn extend(&mut self, more: &Measured) {
        debug_assert_eq!(self.measures, more.measures);
        self.values.extend_from_slice(&more.values);
    }

    /// What is known of all groups, one after the other.
    pub(crate) fn values(&self) -> &[u64] {
        &self.values
    }

    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }
}

/// Which groups satisfy all criteria of a request.
#[derive(Clone, Debug)]
pub struct Test<'a> {
    measured: &'a Measured,
    criteria: Vec<(usize, Criterion)>,
}

impl Test<'_> {
    /// The size asked for, where nothing else is.
    #[inline]
    pub fn only_size(&self) -> Option<u64> {
        match self.criteria[..] {
            [(_, criterion)] if criterion.measure == Measure::Size => Some(criterion.value),
            _ => None,
        }
    }

    /// The same test asking for another value of one measure.
    pub(crate) fn set(&mut self, measure: Measure, value: u64) {
        let asked = self.criteria.iter_mut().find(|(_, criterion)| criterion.measure == measure);
        asked.expect("the measure is asked about").1.value = value;
    }

    /// Whether a group satisfies all criteria.
    #[inline]
    pub fn holds(&self, group: usize) -> bool {
        let values = self.measured.of(group);
        self.criteria.iter().all(|&(column, criterion)| criterion.holds(values[column]))
    }
}
