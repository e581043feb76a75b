//! The groups of the finest scheme, and whatever can be asked about them.

use crate::counts::counted_as::CountedAs;
use crate::counts::number;
use crate::counts::people::People;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::number::Crowd;
use crate::table::{Code, Domain};

/// A table reduced to its distinct combinations: the groups of the finest scheme.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupCounts {
    pub(crate) domains: Vec<Domain>,
    pub(crate) sensitive: Vec<Domain>,
    pub(crate) n_records: u64,
    pub(crate) n_dropped: u64,
    /// One row of codes per group, in increasing order.
    pub(crate) codes: Vec<Code>,
    pub(crate) sizes: Vec<u64>,
    /// Where each group's cells begin; one more entry than there are groups.
    pub(crate) starts: Vec<usize>,
    /// By cell, one code per sensitive attribute; increasing within a group.
    pub(crate) cell_codes: Vec<Code>,
    pub(crate) cell_sizes: Vec<u64>,
    pub(crate) population: Option<Population>,
    /// Whose records they are, where that is known.
    pub(crate) people: Option<People>,
    /// By sensitive attribute, how its values became those that are counted; none where they are counted as they are.
    pub(crate) counted_as: Vec<Option<CountedAs>>,
}

/// The people among whom those of a table hide: the combinations of quasi-identifier values that occur in a population.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    pub(crate) n_attributes: usize,
    pub(crate) codes: Vec<Code>,
    pub(crate) sizes: Vec<u64>,
}

impl Population {
    /// Each combination, with the codes of the counts' domains, and how many people have it.
    pub fn groups(&self) -> impl Iterator<Item = (&[Code], u64)> {
        self.codes.chunks_exact(self.n_attributes).zip(self.sizes.iter().copied())
    }
}

impl GroupCounts {
    /// The values of each quasi-identifier.
    pub fn domains(&self) -> &[Domain] {
        &self.domains
    }

    /// The values of each sensitive attribute.
    pub fn sensitive(&self) -> &[Domain] {
        &self.sensitive
    }

    /// How the values of a sensitive attribute became those that are counted; none where they are counted as they are.
    pub fn counted_as(&self, sensitive: usize) -> Option<&CountedAs> {
        self.counted_as.get(sensitive)?.as_ref()
    }

    /// How many records were counted.
    pub fn n_records(&self) -> u64 {
        self.n_records
    }

    /// How many records were left out because they lack a value.
    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// Refuses hierarchies that are not those of the quasi-identifiers, in order.
    pub(crate) fn check_hierarchies(&self, hierarchies: &[Hierarchy]) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Request, message));
        if hierarchies.len() != self.domains.len() {
            let (n, n_hierarchies) = (self.domains.len(), hierarchies.len());
            return wrong(format!("{n_hierarchies} hierarchies are given for {n} quasi-identifiers"));
        }
        // Those of a population may know values that the table has not.
        let fits = |(domain, hierarchy): (&Domain, &Hierarchy)| {
            domain.name() == hierarchy.attribute() && domain.len() <= hierarchy.level(0).len()
        };
        match self.domains.iter().zip(hierarchies).find(|both| !fits(*both)) {
            None => Ok(()),
            Some((domain, _)) => wrong(format!("the hierarchy of attribute '{}' was made for others", domain.name())),
        }
    }

    /// How many different combinations of quasi-identifier values there are.
    pub fn n_groups(&self) -> usize {
        self.sizes.len()
    }

    /// Whose records they are, where a column says so and somebody has several: then people are counted, not records.
    ///
    /// Where everybody has one record, people and records are the same.
    pub fn people(&self) -> Option<&People> {
        self.people.as_ref().filter(|people| (people.len() as u64) < self.n_records)
    }

    /// Whose records they are, where a column says so.
    pub fn known_people(&self) -> Option<&People> {
        self.people.as_ref()
    }

    /// Every combination of values and person, with how many records have it: the codes of its quasi-identifiers and of its
    /// sensitive attributes, and whose they are. None where nobody says that.
    pub fn records_of_people(&self) -> Option<impl Iterator<Item = (&[Code], &[Code], &str, u64)>> {
        let people = self.people.as_ref()?;
        let group_of_cell = self.groups_of_cells();
        let of_person = move |person: usize| {
            let name = people.names.values()[person].as_str();
            let of_cell =
                |(cell, n): (usize, u64)| (self.codes(group_of_cell[cell] as usize), self.codes_of_cell(cell), name, n);
            people.cells(person).map(of_cell).collect::<Vec<_>>()
        };
        Some((0..people.len()).flat_map(of_person))
    }

    /// How many there are of what is counted.
    pub fn crowd(&self) -> Crowd {
        match self.people() {
            Some(people) => Crowd::People(people.len() as u64),
            None => Crowd::Records(self.n_records),
        }
    }

    /// How many different people there are; as many as records where nobody says whose they are.
    pub fn n_people(&self) -> u64 {
        self.people.as_ref().map_or(self.n_records, |people| people.len() as u64)
    }

    /// The sensitive values of a cell, by its number among those of all groups; none without a sensitive attribute.
    pub(crate) fn codes_of_cell(&self, cell: usize) -> &[Code] {
        let n = self.sensitive.len();
        if n == 0 { &[] } else { &self.cell_codes[cell * n..(cell + 1) * n] }
    }

    /// By group, how many people there are at least who have one of its records and are counted nowhere else: those whose
    /// records are all there, and of the others those who are there first. Over any groups they add up to no more people
    /// than there are. As many as records where these are counted.
    pub(crate) fn people_at_least(&self) -> Vec<u64> {
        let Some(people) = self.people() else { return self.sizes.clone() };
        let group_of_cell = self.groups_of_cells();
        let mut n_people = vec![0; self.n_groups()];
        for person in 0..people.len() {
            let first = people.cells(person).next().expect("whoever is known has a record");
            n_people[group_of_cell[first.0] as usize] += 1;
        }
        n_people
    }

    /// By group, who has records there; none where records are counted.
    pub(crate) fn people_in_groups(&self) -> Option<Vec<Vec<u32>>> {
        let people = self.people()?;
        let group_of_cell = self.groups_of_cells();
        let mut who: Vec<Vec<u32>> = vec![Vec::new(); self.n_groups()];
        for person in 0..number(people.len()) {
            for (cell, _) in people.cells(person as usize) {
                let here = &mut who[group_of_cell[cell] as usize];
                if here.last() != Some(&person) {
                    here.push(person);
                }
            }
        }
        Some(who)
    }

    /// By group, how many there are of what is counted: records, or different people who have one there.
    pub fn crowds(&self) -> Vec<u64> {
        match self.people_in_groups() {
            Some(who) => who.iter().map(|who| who.len() as u64).collect(),
            None => self.sizes.clone(),
        }
    }

    /// The place of a cell that people are kept with among those of its group.
    pub(crate) fn place_of_cell(&self, group: usize, cell: usize) -> usize {
        if self.sensitive.is_empty() { 0 } else { cell - self.starts[group] }
    }

    /// By group, who has records there and in which of its cells, where people are counted.
    pub(crate) fn people_of_groups(&self) -> Option<Vec<Vec<(&str, u32)>>> {
        let people = self.people()?;
        let group_of_cell = self.groups_of_cells();
        let mut who = vec![Vec::new(); self.n_groups()];
        for person in 0..people.len() {
            for (cell, _) in people.cells(person) {
                let group = group_of_cell[cell] as usize;
                let place = number(self.place_of_cell(group, cell));
                who[group].push((people.names.values()[person].as_str(), place));
            }
        }
        who.iter_mut().for_each(|who| who.sort_unstable());
        Some(who)
    }

    /// By cell that people are kept with, the group that it is of.
    pub(crate) fn groups_of_cells(&self) -> Vec<u32> {
        match self.sensitive.is_empty() {
            true => (0..number(self.n_groups())).collect(),
            false => (0..self.n_groups())
                .flat_map(|group| std::iter::repeat_n(number(group), self.starts[group + 1] - self.starts[group]))
                .collect(),
        }
    }

    /// How many combinations of group and sensitive values occur; 0 without a sensitive attribute.
    pub fn n_cells(&self) -> usize {
        self.cell_sizes.len()
    }

    /// How many records a group has.
    pub fn size(&self, group: usize) -> u64 {
        self.sizes[group]
    }

    /// The quasi-identifier values of a group, one code per domain.
    pub fn codes(&self, group: usize) -> &[Code] {
        let n = self.domains.len();
        &self.codes[group * n..(group + 1) * n]
    }

    /// The combinations of sensitive values in a group, one code per sensitive attribute, and how many of its records
    /// have each; none without a sensitive attribute.
    pub fn cells(&self, group: usize) -> impl Iterator<Item = (&[Code], u64)> {
        let n = self.sensitive.len();
        let range = if n == 0 { 0..0 } else { self.starts[group]..self.starts[group + 1] };
        range.map(move |cell| (&self.cell_codes[cell * n..(cell + 1) * n], self.cell_sizes[cell]))
    }

    /// One of the combinations of sensitive values in a group, by its place among them.
    pub fn cell(&self, group: usize, place: usize) -> Option<(&[Code], u64)> {
        let (n, cell) = (self.sensitive.len(), self.starts[group] + place);
        let is_there = n > 0 && cell < self.starts[group + 1];
        is_there.then(|| (&self.cell_codes[cell * n..(cell + 1) * n], self.cell_sizes[cell]))
    }

    /// The place of a combination of sensitive values among those of a group.
    pub fn find_cell(&self, group: usize, codes: impl Iterator<Item = Code> + Clone) -> Option<usize> {
        let n = self.sensitive.len();
        let range = if n == 0 { 0..0 } else { self.starts[group]..self.starts[group + 1] };
        let all = &self.cell_codes[range.start * n..range.end * n];
        // Combinations increase.
        let (mut low, mut high) = (0, range.len());
        while low < high {
            let middle = (low + high) / 2;
            match all[middle * n..(middle + 1) * n].iter().copied().cmp(codes.clone()) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The values of one sensitive attribute in a group, increasing, and how many of its records have each.
    pub fn values(&self, group: usize, sensitive: usize) -> Vec<(Code, u64)> {
        let mut values: Vec<(Code, u64)> = self.cells(group).map(|(codes, n)| (codes[sensitive], n)).collect();
        // Combinations increase by their first attribute, which is the only one as a rule.
        values.sort_unstable();
        values.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1 += next.1;
            }
            is_same
        });
        values
    }

    /// How many records of the whole table have each value of a sensitive attribute.
    pub fn distribution(&self, sensitive: usize) -> Vec<u64> {
        let mut n_records = vec![0; self.sensitive[sensitive].len()];
        for (codes, &size) in self.cell_codes.chunks_exact(self.sensitive.len()).zip(&self.cell_sizes) {
            n_records[codes[sensitive].index()] += size;
        }
        n_records
    }
}

impl GroupCounts {
    /// The people among whom k-map hides records, where they are known.
    pub fn population(&self) -> Option<&Population> {
        self.population.as_ref()
    }

    /// The same groups, with the population that they are a sample of: a table with the same quasi-identifiers.
    ///
    /// The domains become those of both tables together. Where it is known whose the records of the population are, people
    /// are counted, everybody once: in the first of their groups.
    ///
    /// # Guarantee
    /// Whatever groups are united, there are at least as many people as counted.
    pub fn with_population(self, population: &GroupCounts) -> GroupCounts {
        self.with_population_as(population, |_, _| None)
    }

    /// The same where the population may write a value in another way: `written_here` gives, for a value of the population
    /// in the quasi-identifier of this number, how this table writes it.
    pub fn with_population_as(
        mut self,
        population: &GroupCounts,
        written_here: impl Fn(usize, &str) -> Option<String>,
    ) -> GroupCounts {
        let renamed = |(attribute, domain): (usize, &Domain)| -> Vec<String> {
            let name = |value: &str| written_here(attribute, value).unwrap_or_else(|| value.to_string());
            domain.present().map(|(_, value)| name(value)).collect()
        };
        let theirs: Vec<Vec<String>> = population.domains.iter().enumerate().map(renamed).collect();
        let united: Vec<Domain> = (self.domains.iter().zip(&population.domains).zip(&theirs))
            .map(|((ours, domain), values)| ours.united(&domain.with_values(values.clone())))
            .collect();
        let translation = |(united, domain): (&Domain, &Domain)| united.translation(domain);
        let of_ours: Vec<Vec<Code>> = united.iter().zip(&self.domains).map(translation).collect();
        let of_theirs: Vec<Vec<Code>> = (united.iter().zip(&population.domains).zip(&theirs))
            .map(|((united, domain), values)| {
                let codes = values.iter().map(|value| united.code(value).expect("the value is here"));
                codes.chain(domain.missing().map(|_| united.missing().expect("missing is here"))).collect()
            })
            .collect();
        let translated = |codes: &[Code], translations: &[Vec<Code>]| -> Vec<Code> {
            let code = |(i, code): (usize, &Code)| translations[i % united.len()][code.index()];
            codes.iter().enumerate().map(code).collect()
        };
        let population = Population {
            n_attributes: united.len(),
            codes: translated(&population.codes, &of_theirs),
            sizes: population.people_at_least(),
        };
        self.codes = translated(&self.codes, &of_ours);
        self.domains = united;
        self.population = Some(population);
        self.sort();
        self
    }

    /// The values of a quasi-identifier that people of the population have and nobody of the table does.
    pub fn strangers(&self, attribute: usize) -> Vec<&str> {
        if self.population.is_none() {
            return Vec::new();
        }
        let domain = &self.domains[attribute];
        let mut is_stranger = vec![true; domain.len()];
        (0..self.n_groups()).for_each(|group| is_stranger[self.codes(group)[attribute].index()] = false);
        domain.present().filter(|(code, _)| is_stranger[code.index()]).map(|(_, value)| value).collect()
    }

    /// Puts the groups in the order of their codes.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.n_groups()).collect();
        order.sort_by(|&a, &b| self.codes(a).cmp(self.codes(b)));
        let mut sorted = GroupCounts {
            codes: Vec::with_capacity(self.codes.len()),
            sizes: order.iter().map(|&group| self.sizes[group]).collect(),
            starts: vec![0],
            cell_codes: Vec::with_capacity(self.cell_codes.len()),
            cell_sizes: Vec::with_capacity(self.cell_sizes.len()),
            domains: std::mem::take(&mut self.domains),
            sensitive: Vec::new(),
            population: self.population.take(),
            people: self.people.take(),
            counted_as: std::mem::take(&mut self.counted_as),
            ..*self
        };
        let n_quasi_identifiers = sorted.domains.len();
        // The number that each cell gets.
        let mut moved: Vec<u32> = vec![0; self.n_cells().max(self.n_groups())];
        for (place, &group) in order.iter().enumerate() {
            let first = sorted.cell_sizes.len();
            match self.sensitive.is_empty() {
                true => moved[group] = number(place),
                false => (first..).zip(self.starts[group]..self.starts[group + 1]).for_each(|(to, from)| {
                    moved[from] = number(to);
                }),
            }
            sorted.codes.extend_from_slice(&self.codes[group * n_quasi_identifiers..][..n_quasi_identifiers]);
            for (codes, size) in self.cells(group) {
                sorted.cell_codes.extend_from_slice(codes);
                sorted.cell_sizes.push(size);
            }
            sorted.starts.push(sorted.cell_sizes.len());
        }
        sorted.sensitive = std::mem::take(&mut self.sensitive);
        if let Some(people) = &mut sorted.people {
            people.cells.iter_mut().for_each(|(cell, _)| *cell = moved[*cell as usize]);
            (0..people.len()).for_each(|i| people.cells[people.starts[i]..people.starts[i + 1]].sort_unstable());
        }
        *self = sorted;
    }
}
