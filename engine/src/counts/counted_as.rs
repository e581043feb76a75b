//! Sensitive values that criteria count by their labels on a level of a hierarchy.
//!
//! Where nearly every record has a value of its own, any l records have l values. Three different decades are worth more
//! than three different days.

use crate::counts::{Collected, GroupCounts};
use crate::hierarchy::Hierarchy;
use crate::table::{Code, Domain};

/// How the values of a sensitive attribute, as the table has them, are counted.
#[derive(Clone, Debug, PartialEq)]
pub struct CountedAs {
    /// As the table has them.
    pub(crate) values: Domain,
    /// By value, the code of its label among those that are counted.
    pub(crate) labels: Vec<Code>,
}

impl CountedAs {
    /// The labels of a level as a domain of their own, and which of them each value has.
    fn new(values: &Domain, hierarchy: &Hierarchy, level: usize) -> (CountedAs, Domain) {
        let of_level = hierarchy.level(level);
        let is_missing = |code: usize| hierarchy.is_missing(level, of_level.of_base()[code]);
        let (absent, present): (Vec<usize>, Vec<usize>) = (0..values.len()).partition(|code| is_missing(*code));
        let texts = present.iter().map(|code| of_level.label_of(*code).to_string()).collect();
        let domain = Domain::new(values.name(), texts, absent.first().map(|code| of_level.label_of(*code)));
        let label = |code: usize| match is_missing(code) {
            true => domain.missing().expect("it was seen above"),
            false => domain.code(of_level.label_of(code)).expect("the domain was made of these"),
        };
        let labels = (0..values.len()).map(label).collect();
        (CountedAs { values: values.clone(), labels }, domain)
    }

    /// The values as the table has them.
    pub fn values(&self) -> &Domain {
        &self.values
    }

    /// The label that a value is counted as, by code.
    pub fn label(&self, value: Code) -> Option<Code> {
        self.labels.get(value.index()).copied()
    }
}

impl GroupCounts {
    /// How the values of a sensitive attribute became those that are counted; none where they are counted as they are.
    pub fn counted_as(&self, sensitive: usize) -> Option<&CountedAs> {
        self.counted_as.get(sensitive)?.as_ref()
    }

    /// The same records, where the values of some sensitive attributes are their labels on a level: by attribute, the
    /// hierarchy of its values and the level, or nothing.
    ///
    /// # Guarantee
    /// They are the counts of a table that has the labels in the place of the values.
    pub fn with_labels(&self, levels: &[Option<(&Hierarchy, usize)>]) -> GroupCounts {
        let mut sensitive = self.sensitive.clone();
        let mut counted_as = vec![None; sensitive.len()];
        for (s, (hierarchy, level)) in levels.iter().enumerate().filter_map(|(s, at)| Some((s, (*at)?))) {
            let (translation, labels) = CountedAs::new(&self.sensitive[s], hierarchy, level);
            (counted_as[s], sensitive[s]) = (Some(translation), labels);
        }
        let first = self.domains.len();
        let mut cells: Vec<(Box<[u32]>, u64)> = Vec::with_capacity(self.n_cells());
        let attributes: Vec<&Domain> = self.attributes().collect();
        self.each_cell(&attributes, |codes, n| {
            let mut codes: Box<[u32]> = codes.into();
            for (code, at) in codes[first..].iter_mut().zip(&counted_as) {
                *code = at.as_ref().map_or(*code, |at: &CountedAs| at.labels[*code as usize].0);
            }
            cells.push((codes, n));
        });
        cells.sort_unstable();
        let people = self.people.as_ref().map(|people| (people.columns.clone(), people.names.clone()));
        let mut collected = Collected::new(self.domains.clone(), sensitive, people, self.n_records, self.n_dropped);
        cells.iter().for_each(|(codes, n)| collected.add(codes, *n));
        GroupCounts { population: self.population.clone(), counted_as, ..collected.finish() }
    }
}
