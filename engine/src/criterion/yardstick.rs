//! Measures groups by all criteria of a run at once, and tells which groups satisfy a request.

use crate::counts::GroupCounts;
use crate::criterion::formulas::{
    Histogram, Reference, add, distance_to_table, effective_values, greatest_bounded_gain, greatest_disclosure,
    greatest_gain, greatest_share, n_distinct, recursive_ratio,
};
use crate::criterion::{Criteria, Criterion, Distance, Measure};
use crate::error::{Error, ErrorKind, Result, Step};
use crate::hierarchy::Hierarchy;

/// What groups are measured with: the measures that are asked for, and what they need to know about the table.
#[derive(Clone, Debug)]
pub struct Yardstick {
    measures: Vec<Measure>,
    /// By sensitive attribute.
    references: Vec<Reference>,
    /// Where each sensitive attribute's values begin among those of all; one more entry than there are attributes.
    offsets: Vec<u32>,
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
        let reference = |s: usize| {
            let (distance, hierarchy) = distances.get(s).cloned().unwrap_or_default();
            Reference::new(counts.distribution(s), distance, hierarchy.as_ref())
        };
        let lengths = counts.sensitive().iter().map(|domain| domain.len() as u32);
        Ok(Yardstick {
            measures: all,
            references: (0..n_sensitive).map(reference).collect(),
            offsets: std::iter::once(0).chain(lengths.scan(0, |sum, n| Some(add(sum, n)))).collect(),
        })
    }

    /// In increasing order; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
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

    /// Measures a group of `size` records, `population` people, and the sensitive values of all attributes in order.
    pub fn measure(&self, size: u64, population: u64, histogram: Histogram, into: &mut Vec<u64>) {
        let mut of_attribute: Vec<(u32, u64)> = Vec::new();
        let mut prepared = usize::MAX;
        for &measure in &self.measures {
            let histogram = match measure.sensitive() {
                None => &[][..],
                Some(_) if self.references.len() == 1 => histogram,
                Some(s) => {
                    if prepared != s {
                        let values = self.offsets[s]..self.offsets[s + 1];
                        let own = histogram.iter().filter(|(value, _)| values.contains(value));
                        of_attribute.clear();
                        of_attribute.extend(own.map(|(value, c)| (value - values.start, *c)));
                        prepared = s;
                    }
                    &of_attribute
                }
            };
            into.push(self.value_of(measure, size, population, histogram));
        }
    }

    /// Measures a group, of which the histogram is that of the measure's own sensitive attribute.
    fn value_of(&self, measure: Measure, size: u64, population: u64, histogram: Histogram) -> u64 {
        match measure {
            Measure::Size => size,
            Measure::Population => population,
            Measure::Distinct(_) => n_distinct(histogram),
            Measure::Share(_) => greatest_share(histogram),
            Measure::Entropy(_) => effective_values(histogram),
            Measure::Recursive { l, .. } => recursive_ratio(histogram, l),
            Measure::Closeness(s) => distance_to_table(histogram, &self.references[s]),
            Measure::Disclosure(s) => greatest_disclosure(histogram, &self.references[s]),
            Measure::Likeness(s) => greatest_gain(histogram, &self.references[s]),
            Measure::EnhancedLikeness(s) => greatest_bounded_gain(histogram, &self.references[s]),
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

/// What criteria see of some groups: for each, one value per measure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    measures: Vec<Measure>,
    /// By group, then by measure.
    values: Vec<u64>,
}

impl Measured {
    /// `measures` begin with the size; `values` are by group, then by measure.
    ///
    /// # Panics
    /// Where the first measure is not the size.
    pub fn new(measures: &[Measure], values: Vec<u64>) -> Measured {
        assert_eq!(measures.first(), Some(&Measure::Size), "every group is counted");
        Measured { measures: measures.to_vec(), values }
    }

    /// What was measured; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// How many groups were measured.
    pub fn len(&self) -> usize {
        self.values.len() / self.measures.len().max(1)
    }

    /// Whether no group was measured.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What is known of a group, by measure.
    #[inline]
    pub fn of(&self, group: usize) -> &[u64] {
        let n = self.measures.len();
        &self.values[group * n..][..n]
    }

    /// How many records a group has.
    #[inline]
    pub fn size(&self, group: usize) -> u64 {
        self.values[group * self.measures.len()]
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
