//! Which combinations of quasi-identifier values occur, how many records share each, and with which sensitive values.
//!
//! This is the only place where the records of a table are counted. Whatever is asked later is answered from
//! [`GroupCounts`], whose size depends on the number of distinct combinations, not on the number of records.

pub mod people;

use arrow_array::RecordBatch;
use hashbrown::HashTable;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::counts::people::{People, check_known, person_column, person_name};
use crate::error::{Error, ErrorKind, Result, Wording, unknown};
use crate::hierarchy::Hierarchy;
use crate::number::Crowd;
use crate::table::{Code, Domain, Encoder, Missing};

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

    /// The same counts, with whose record it is as one more sensitive attribute, the last one: for whoever has to know of
    /// every record whose it is. As they are where nobody says so.
    ///
    /// Every cell then has one person's records.
    pub fn by_person(&self) -> GroupCounts {
        let Some(people) = &self.people else { return self.clone() };
        let sensitive = self.sensitive.iter().chain([&people.names]).cloned().collect();
        let names = (people.columns.clone(), people.names.clone());
        let mut collected =
            Collected::new(self.domains.clone(), sensitive, Some(names), self.n_records, self.n_dropped);
        let attributes: Vec<&Domain> = self.attributes().collect();
        let mut codes = Vec::new();
        self.each_cell(&attributes, |of_cell, n| {
            codes.clear();
            codes.extend_from_slice(of_cell);
            codes.extend(of_cell.last());
            collected.add(&codes, n);
        });
        GroupCounts { population: self.population.clone(), ..collected.finish() }
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
    /// The domains become those of both tables together.
    pub fn with_population(mut self, population: &GroupCounts) -> GroupCounts {
        let united: Vec<Domain> =
            self.domains.iter().zip(&population.domains).map(|(ours, theirs)| ours.united(theirs)).collect();
        let translations = |counts: &GroupCounts| -> Vec<Vec<Code>> {
            united.iter().zip(&counts.domains).map(|(united, domain)| united.translation(domain)).collect()
        };
        let translated = |counts: &GroupCounts| -> Vec<Code> {
            let translations = translations(counts);
            let code = |(i, code): (usize, &Code)| translations[i % united.len()][code.index()];
            counts.codes.iter().enumerate().map(code).collect()
        };
        let population =
            Population { n_attributes: united.len(), codes: translated(population), sizes: population.sizes.clone() };
        self.codes = translated(&self);
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

/// Updates: records that come, and records that go.
impl GroupCounts {
    /// The counts of this table and another one of the same attributes together.
    ///
    /// # Guarantee
    /// They are those of one table that has the records of both.
    ///
    /// # Errors
    /// Where the attributes are others, or there are more combinations than can be numbered.
    pub fn with_records(&self, more: &GroupCounts) -> Result<GroupCounts> {
        self.changed(more, |here, there| Some(here + there))
    }

    /// The counts of this table without the records of another one, each of which must be here as often as there.
    ///
    /// # Guarantee
    /// They are those of a table that never had these records: values that nobody has any more are gone too.
    ///
    /// # Errors
    /// Where the attributes are others, a record is not there, or none would be left.
    pub fn without_records(&self, less: &GroupCounts) -> Result<GroupCounts> {
        self.changed(less, u64::checked_sub)
    }

    fn changed(&self, other: &GroupCounts, change: impl Fn(u64, u64) -> Option<u64>) -> Result<GroupCounts> {
        let names = |counts: &GroupCounts| -> Vec<String> {
            counts.attributes().map(|domain| domain.name().to_string()).collect()
        };
        if names(self) != names(other) {
            return Err(Error::new(ErrorKind::Data, "the records have other attributes"));
        }
        let united = |ours: &[Domain], theirs: &[Domain]| -> Vec<Domain> {
            ours.iter().zip(theirs).map(|(ours, theirs)| ours.united(theirs)).collect()
        };
        let domains = united(&self.domains, &other.domains);
        let sensitive = united(&self.sensitive, &other.sensitive);
        let people = self.people.as_ref().zip(other.people.as_ref());
        let people = people.map(|(ours, theirs)| (ours.columns.clone(), ours.names.united(&theirs.names)));
        // By combination of all attributes, how many records there are here, and there.
        let mut cells: FxHashMap<Box<[u32]>, (u64, u64)> = FxHashMap::default();
        let all: Vec<&Domain> =
            domains.iter().chain(&sensitive).chain(people.as_ref().map(|(_, names)| names)).collect();
        self.each_cell(&all, |codes, n| cells.entry(codes.into()).or_default().0 += n);
        other.each_cell(&all, |codes, n| cells.entry(codes.into()).or_default().1 += n);
        let mut changed: Vec<(Box<[u32]>, u64)> = Vec::with_capacity(cells.len());
        let mut n_absent = 0;
        for (codes, (here, there)) in cells {
            match change(here, there) {
                Some(0) => {}
                Some(n) => changed.push((codes, n)),
                None => n_absent += there - here,
            }
        }
        let n_records = change(self.n_records, other.n_records);
        let (0, Some(n_records)) = (n_absent, n_records) else {
            return Err(Error::new(
                ErrorKind::Data,
                match other.n_records {
                    1 => "the record is not among those that were counted".to_string(),
                    n => format!("{n_absent} of the {n} records are not among those that were counted"),
                },
            )
            .hint(
                "only records that are there can be removed, with the same values in all attributes that are counted",
            ));
        };
        if n_records == 0 {
            return Err(Error::new(ErrorKind::Data, "no record would be left"));
        }
        check_numbers(changed.len(), N_CELLS_MAX)?;
        changed.sort_unstable();
        let n_dropped = change(self.n_dropped, other.n_dropped).unwrap_or(0);
        let mut collected = Collected::new(domains, sensitive, people, n_records, n_dropped);
        changed.iter().for_each(|(codes, n)| collected.add(codes, *n));
        let mut counts = collected.finish().compact();
        if let Some(population) = self.population_counts() {
            counts = counts.with_population(&population);
        }
        Ok(counts)
    }

    /// All attributes that are counted: quasi-identifiers, sensitive ones, and whose records they are.
    fn attributes(&self) -> impl Iterator<Item = &Domain> {
        self.domains.iter().chain(&self.sensitive).chain(self.people.as_ref().map(|people| &people.names))
    }

    /// Calls `add` with each combination of codes in these domains, and how many records have it.
    fn each_cell(&self, domains: &[&Domain], mut add: impl FnMut(&[u32], u64)) {
        let translations: Vec<Vec<Code>> =
            domains.iter().zip(self.attributes()).map(|(to, from)| to.translation(from)).collect();
        let by_cell = self.people.as_ref().map(|people| people.by_cell(self.n_cells().max(self.n_groups())));
        let names = translations.last().filter(|_| by_cell.is_some());
        let mut add = |codes: &mut [u32], cell: usize, n_records: u64| match (&by_cell, names) {
            (Some(by_cell), Some(names)) => {
                for (person, n) in &by_cell[cell] {
                    *codes.last_mut().expect("people are the last attribute") = names[*person as usize].0;
                    add(codes, *n);
                }
            }
            _ => add(codes, n_records),
        };
        let n = self.domains.len();
        let mut codes = vec![0; domains.len()];
        let translate = |codes: &mut [u32], first: usize, own: &[Code]| {
            for (a, (code, own)) in codes[first..].iter_mut().zip(own).enumerate() {
                *code = translations[first + a][own.index()].0;
            }
        };
        for group in 0..self.n_groups() {
            translate(&mut codes, 0, self.codes(group));
            if self.sensitive.is_empty() {
                add(&mut codes, group, self.sizes[group]);
            }
            for (place, (cell, n_records)) in self.cells(group).enumerate() {
                translate(&mut codes, n, cell);
                add(&mut codes, self.starts[group] + place, n_records);
            }
        }
    }

    /// The same groups over the values that occur. The order of what is left stays, unless its kind changes.
    fn compact(mut self) -> GroupCounts {
        let kept = |domain: &Domain, used: &[bool]| {
            let present: Vec<String> =
                domain.present().filter(|(code, _)| used[code.index()]).map(|(_, value)| value.to_string()).collect();
            let missing = domain.missing().filter(|code| used[code.index()]);
            Domain::new(domain.name(), present, missing.map(|code| domain.values()[code.index()].as_str()))
        };
        let used = |n: usize, domains: &[Domain], codes: &[Code]| -> Vec<Vec<bool>> {
            let mut used: Vec<Vec<bool>> = domains.iter().map(|domain| vec![false; domain.len()]).collect();
            codes.iter().enumerate().for_each(|(i, code)| used[i % n][code.index()] = true);
            used
        };
        let used_here = used(self.domains.len(), &self.domains, &self.codes);
        let used_in_cells = used(self.sensitive.len().max(1), &self.sensitive, &self.cell_codes);
        let used_people: Option<Vec<bool>> =
            self.people.as_ref().map(|people| people.starts.windows(2).map(|ends| ends[0] < ends[1]).collect());
        if used_here.iter().chain(&used_in_cells).chain(&used_people).flatten().all(|used| *used) {
            return self;
        }
        let domains: Vec<Domain> = self.domains.iter().zip(&used_here).map(|(d, used)| kept(d, used)).collect();
        let sensitive: Vec<Domain> = self.sensitive.iter().zip(&used_in_cells).map(|(d, used)| kept(d, used)).collect();
        let code_of = |to: &Domain, from: &Domain, code: Code| match from.missing() == Some(code) {
            true => to.missing().expect("it is used"),
            false => to.code(&from.values()[code.index()]).expect("it is used"),
        };
        let mut cells: Vec<(Vec<u32>, u64)> = Vec::with_capacity(self.n_cells().max(self.n_groups()));
        let people = self.people.as_ref().zip(used_people);
        let people = people.map(|(people, used)| (people.columns.clone(), kept(&people.names, &used)));
        let from: Vec<&Domain> = self.attributes().collect();
        let to: Vec<&Domain> =
            domains.iter().chain(&sensitive).chain(people.as_ref().map(|(_, names)| names)).collect();
        self.each_cell(&from, |codes, n| {
            let codes = codes.iter().enumerate().map(|(a, code)| code_of(to[a], from[a], Code(*code)).0).collect();
            cells.push((codes, n));
        });
        cells.sort_unstable();
        let mut collected = Collected::new(domains, sensitive, people, self.n_records, self.n_dropped);
        cells.iter().for_each(|(codes, n)| collected.add(codes, *n));
        let population = self.population.take();
        GroupCounts { population, ..collected.finish() }
    }

    /// The population as counts of its own.
    fn population_counts(&self) -> Option<GroupCounts> {
        let population = self.population.as_ref()?;
        let mut groups: Vec<(Vec<u32>, u64)> =
            population.groups().map(|(codes, n)| (codes.iter().map(|code| code.0).collect(), n)).collect();
        groups.sort_unstable();
        let mut collected = Collected::new(self.domains.clone(), Vec::new(), None, population.sizes.iter().sum(), 0);
        groups.iter().for_each(|(codes, n)| collected.add(codes, *n));
        Some(collected.finish().compact())
    }
}

/// Cells in order, being cut into groups.
struct Collected {
    counts: GroupCounts,
    /// The columns that say whose records they are, and what they say; with (person, cell, records).
    people: Option<(Vec<String>, Domain)>,
    of_cells: Vec<(u32, u32, u64)>,
    last: Vec<u32>,
}

impl Collected {
    fn new(
        domains: Vec<Domain>,
        sensitive: Vec<Domain>,
        people: Option<(Vec<String>, Domain)>,
        n_records: u64,
        n_dropped: u64,
    ) -> Collected {
        let counts = GroupCounts {
            domains,
            sensitive,
            n_records,
            n_dropped,
            codes: Vec::new(),
            sizes: Vec::new(),
            starts: Vec::new(),
            cell_codes: Vec::new(),
            cell_sizes: Vec::new(),
            population: None,
            people: None,
        };
        Collected { counts, people, of_cells: Vec::new(), last: Vec::new() }
    }

    /// Adds a combination: the codes of its group, its sensitive values and whose it is, and how many records have them.
    fn add(&mut self, codes: &[u32], n_records: u64) {
        let Collected { counts, people, of_cells, last } = self;
        let (group, cell) = codes.split_at(counts.domains.len());
        let (cell, person) = cell.split_at(counts.sensitive.len());
        let is_new = counts.sizes.is_empty() || last[..group.len()] != *group;
        if is_new {
            counts.starts.push(counts.cell_sizes.len());
            counts.codes.extend(group.iter().map(|&code| Code(code)));
            counts.sizes.push(0);
        }
        *counts.sizes.last_mut().expect("a group was begun") += n_records;
        if !cell.is_empty() {
            match counts.cell_sizes.last_mut() {
                Some(n) if !is_new && last[group.len()..][..cell.len()] == *cell => *n += n_records,
                _ => {
                    counts.cell_codes.extend(cell.iter().map(|&code| Code(code)));
                    counts.cell_sizes.push(n_records);
                }
            }
        }
        if people.is_some() {
            let cell = counts.cell_sizes.len().max(counts.sizes.len() * usize::from(cell.is_empty()));
            let cell = number(cell - 1);
            match of_cells.last_mut() {
                Some((last_person, last_cell, n)) if (*last_person, *last_cell) == (person[0], cell) => *n += n_records,
                _ => of_cells.push((person[0], cell, n_records)),
            }
        }
        last.clear();
        last.extend_from_slice(codes);
    }

    fn finish(mut self) -> GroupCounts {
        self.counts.starts.push(self.counts.cell_sizes.len());
        self.counts.people = self.people.map(|(columns, names)| People::new(columns, names, self.of_cells));
        self.counts
    }
}

/// The most combinations of values that a table may have: groups, classes and what unites them have numbers of 32 bits.
pub(crate) const N_CELLS_MAX: usize = (u32::MAX / 2) as usize;

fn check_numbers(n_cells: usize, n_max: usize) -> Result<()> {
    match n_cells > n_max {
        true => {
            let message = format!("there are more than {n_max} different combinations of values");
            Err(Error::new(ErrorKind::TooLarge, message).hint("choose fewer attributes, or count a part of the table"))
        }
        false => Ok(()),
    }
}

/// The number of a group, a class or one of its values. Counts never have more of them than such numbers can tell
/// apart: [`Counter`] refuses them.
pub(crate) fn number(n: usize) -> u32 {
    u32::try_from(n).expect("counts have at most 2^31 combinations of values")
}

/// A hash of one code per attribute.
#[inline]
pub(crate) fn hash_codes(codes: impl Iterator<Item = Code>) -> u64 {
    codes.fold(0, |hash, code| hash_key(&[hash ^ u64::from(code.0)]))
}

/// Counts records as they stream by, in memory that grows with the distinct combinations only.
pub struct Counter {
    missing: Missing,
    n_sensitive: usize,
    /// The columns that say whose record it is; none where nobody does.
    person: Vec<String>,
    /// One per quasi-identifier, then one per sensitive attribute, then one for the person.
    encoders: Vec<Encoder>,
    /// Per attribute, whether a counted record lacks its value.
    has_missing: Vec<bool>,
    layout: Layout,
    cells: Cells,
    n_records: u64,
    n_dropped: u64,
    codes: Vec<Vec<u32>>,
}

impl Counter {
    /// A counter for these attributes, by name, which has seen no record yet.
    pub fn new(quasi_identifiers: &[&str], sensitive: &[&str], missing: &Missing) -> Counter {
        Counter::of_people(quasi_identifiers, sensitive, &[], missing)
    }

    /// The same, for a table with columns that say together whose record it is.
    pub fn of_people(quasi_identifiers: &[&str], sensitive: &[&str], person: &[&str], missing: &Missing) -> Counter {
        let person: Vec<String> = person.iter().map(|name| name.to_string()).collect();
        let together = (!person.is_empty()).then(|| person_name(&person));
        let names = quasi_identifiers.iter().chain(sensitive).copied().chain(together.as_deref());
        let encoders: Vec<Encoder> = names.map(|name| Encoder::new(name, missing)).collect();
        // A byte each to begin with, or less where there are very many.
        let width = (N_WORDS_MAX * 64 / encoders.len().max(1)).clamp(1, 8) as u32;
        let layout = Layout::new(vec![width; encoders.len()]);
        Counter {
            missing: missing.clone(),
            n_sensitive: sensitive.len(),
            person,
            codes: vec![Vec::new(); encoders.len()],
            cells: Cells::new(&layout),
            has_missing: vec![false; encoders.len()],
            layout,
            encoders,
            n_records: 0,
            n_dropped: 0,
        }
    }

    /// Counts the records of one batch.
    ///
    /// The batch holds the attributes of this counter by name. Its other columns matter only
    /// where records that lack a value of theirs are dropped: then they are looked at too.
    ///
    /// # Errors
    /// Where a column is missing or cannot be read, or there are more combinations than can be numbered.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        let schema = batch.schema();
        let n_people = usize::from(!self.person.is_empty());
        let n_others = self.encoders.len() - n_people;
        for (encoder, codes) in self.encoders.iter_mut().zip(&mut self.codes).take(n_others) {
            let column = batch.column_by_name(encoder.name()).ok_or_else(|| {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                unknown(ErrorKind::Data, "column", encoder.name(), &names)
            })?;
            encoder.encode(column, codes)?;
        }
        if n_people > 0 {
            let column = person_column(batch, &self.person, &self.missing)?;
            self.encoders[n_others].encode(&column, &mut self.codes[n_others])?;
        }
        if self.missing.drop_records {
            self.drop_incomplete(batch)?;
        }
        if n_people > 0 {
            check_known(&self.person, self.codes[n_others].iter().filter(|code| **code == 0).count())?;
        }
        for (has_missing, codes) in self.has_missing.iter_mut().zip(&self.codes) {
            *has_missing |= codes.contains(&0);
        }
        self.widen()?;
        self.cells.add(&self.layout, &self.codes);
        self.n_records += self.codes.first().map_or(0, |codes| codes.len() as u64);
        check_numbers(self.cells.n_keys(), N_CELLS_MAX)
    }

    fn drop_incomplete(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut keep = vec![true; batch.num_rows()];
        let n_others = self.encoders.len() - usize::from(!self.person.is_empty());
        for (place, (encoder, codes)) in self.encoders.iter().zip(&self.codes).enumerate() {
            // Whose record it is has to be known in any case.
            if place == n_others || self.missing.drops(encoder.name()) {
                keep.iter_mut().zip(codes).for_each(|(keep, &code)| *keep &= code != 0);
            }
        }
        let schema = batch.schema();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            if self.encoders.iter().all(|encoder| encoder.name() != field.name()) {
                self.missing.mark_dropped(field.name(), column, &mut keep)?;
            }
        }
        let n_kept = keep.iter().filter(|&&keep| keep).count();
        if n_kept < keep.len() {
            for codes in &mut self.codes {
                let mut kept = keep.iter();
                codes.retain(|_| *kept.next().expect("one flag per record"));
            }
            self.n_dropped += (keep.len() - n_kept) as u64;
        }
        Ok(())
    }

    /// Makes room in the keys for codes that have outgrown it.
    fn widen(&mut self) -> Result<()> {
        self.layout.check()?;
        let needed = |encoder: &Encoder| usize::BITS - (encoder.n_codes() - 1).leading_zeros();
        let fits = |(encoder, &width): (&Encoder, &u32)| needed(encoder) <= width;
        if self.encoders.iter().zip(&self.layout.widths).all(fits) {
            return Ok(());
        }
        // Two bits to spare, so that this happens rarely.
        let widths = self.encoders.iter().zip(&self.layout.widths);
        let widths = widths.map(|(encoder, &width)| if needed(encoder) <= width { width } else { needed(encoder) + 2 });
        let layout = Layout::new(widths.collect());
        layout.check()?;
        self.cells = self.cells.repacked(&self.layout, &layout);
        self.layout = layout;
        Ok(())
    }

    /// Adds what another counter of the same attributes has counted: parts of a table give the whole.
    ///
    /// # Errors
    /// Where there are more values or combinations than can be numbered.
    pub fn merge(&mut self, other: Counter) -> Result<()> {
        self.n_records += other.n_records;
        self.n_dropped += other.n_dropped;
        self.has_missing.iter_mut().zip(&other.has_missing).for_each(|(ours, theirs)| *ours |= theirs);
        let translations: Vec<Vec<u32>> = self
            .encoders
            .iter_mut()
            .zip(&other.encoders)
            .map(|(ours, theirs)| ours.adopt(theirs))
            .collect::<Result<_>>()?;
        self.widen()?;
        let mut codes = vec![0; self.encoders.len()];
        other.cells.for_each(&other.layout, |theirs, count| {
            for (code, (translation, &their)) in codes.iter_mut().zip(translations.iter().zip(theirs)) {
                *code = translation[their as usize];
            }
            self.cells.add_one(&self.layout, &codes, count);
        });
        check_numbers(self.cells.n_keys(), N_CELLS_MAX)
    }

    /// Which codes occur in counted records: values of dropped records are none of the table's.
    fn used_codes(&self) -> Vec<Vec<bool>> {
        let mut used: Vec<Vec<bool>> = self.encoders.iter().map(|encoder| vec![false; encoder.n_codes()]).collect();
        if self.n_dropped == 0 {
            for (used, &has_missing) in used.iter_mut().zip(&self.has_missing) {
                used.fill(true);
                used[0] = has_missing;
            }
        } else {
            self.cells.for_each(&self.layout, |codes, _| {
                used.iter_mut().zip(codes).for_each(|(used, &code)| used[code as usize] = true);
            });
        }
        used
    }

    /// The counts in canonical form: equal tables give equal counts, whatever the order of their records.
    pub fn finish(mut self) -> GroupCounts {
        let n_attributes = self.encoders.len();
        let used = self.used_codes();
        let mut domains = Vec::with_capacity(n_attributes);
        let mut canonical: Vec<Vec<u32>> = Vec::with_capacity(n_attributes);
        for (encoder, used) in self.encoders.iter().zip(&used) {
            let (domain, of_provisional) = canonical_domain(encoder, used, self.missing.label());
            domains.push(domain);
            canonical.push(of_provisional);
        }

        // Sorted by a key whose order is the order of the code vectors.
        let widths = domains.iter().map(|domain| bits_for(domain.len()));
        let layout = Layout::new(widths.collect());
        self.cells.translate(&self.layout, &layout, &canonical);
        self.layout = layout;
        self.collect(domains)
    }
}

impl Counter {
    /// Cuts sorted cells into groups.
    fn collect(self, mut domains: Vec<Domain>) -> GroupCounts {
        let names = if self.person.is_empty() { None } else { domains.pop() };
        let people = names.map(|names| (self.person.clone(), names));
        let sensitive = domains.split_off(domains.len() - self.n_sensitive);
        let mut collected = Collected::new(domains, sensitive, people, self.n_records, self.n_dropped);
        self.cells.for_each(&self.layout, |codes, count| collected.add(codes, count));
        collected.finish()
    }
}

fn bits_for(n_codes: usize) -> u32 {
    usize::BITS - n_codes.saturating_sub(1).leading_zeros()
}

/// The domain of the values that occur, and the code that each provisional code becomes.
fn canonical_domain(encoder: &Encoder, used: &[bool], missing_label: &str) -> (Domain, Vec<u32>) {
    let occurring = || encoder.values().iter().zip(used).enumerate().skip(1).filter(|(_, (_, used))| **used);
    let values = occurring().map(|(_, (value, _))| value.clone()).collect();
    let domain = Domain::new(encoder.name(), values, used[0].then_some(missing_label));
    let mut of_provisional = vec![0; encoder.n_codes()];
    if let Some(missing) = domain.missing() {
        of_provisional[0] = missing.0;
    }
    for (provisional, (value, _)) in occurring() {
        of_provisional[provisional] = domain.code(value).expect("the domain was made of these values").0;
    }
    (domain, of_provisional)
}

impl Encoder {
    /// The code here of each of another encoder's codes; values that are new here are added.
    fn adopt(&mut self, other: &Encoder) -> Result<Vec<u32>> {
        let texts = other.values()[1..].iter().map(|value| self.code_of_text(value));
        std::iter::once(Ok(0)).chain(texts).collect()
    }
}

/// Where each attribute's code sits in a key of 64-bit words, the first attribute in the highest bits.
#[derive(Clone, Debug)]
struct Layout {
    widths: Vec<u32>,
    places: Vec<(usize, u32)>,
    n_words: usize,
}

const N_WORDS_MAX: usize = 8;

impl Layout {
    fn new(mut widths: Vec<u32>) -> Layout {
        // A lone value needs no bit, but a shift by all 64 is none.
        widths.iter_mut().for_each(|width| *width = (*width).max(1));
        let (mut word, mut n_free) = (0, u64::BITS);
        let places = widths
            .iter()
            .map(|&width| {
                if width > n_free {
                    (word, n_free) = (word + 1, u64::BITS);
                }
                n_free -= width;
                (word, n_free)
            })
            .collect();
        Layout { widths, places, n_words: word + 1 }
    }

    fn check(&self) -> Result<()> {
        if self.n_words <= N_WORDS_MAX {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::TooLarge,
            format!("{} quasi-identifiers with this many distinct values do not fit into one key", self.widths.len()),
        )
        .hint(Wording::text("choose fewer with ").setting("quasi_identifiers")))
    }

    #[inline]
    fn pack<const N: usize>(&self, codes: impl Iterator<Item = u32>) -> [u64; N] {
        let mut key = [0; N];
        for (code, &(word, shift)) in codes.zip(&self.places) {
            key[word.min(N - 1)] |= u64::from(code) << shift;
        }
        key
    }

    #[inline]
    fn unpack<const N: usize>(&self, key: &[u64; N], codes: &mut [u32]) {
        for (code, (&(word, shift), &width)) in codes.iter_mut().zip(self.places.iter().zip(&self.widths)) {
            *code = ((key[word.min(N - 1)] >> shift) & ((1u64 << width) - 1)) as u32;
        }
    }

    /// One key per record, from one column of codes per attribute.
    fn keys<const N: usize>(&self, columns: &[Vec<u32>]) -> Vec<[u64; N]> {
        let n_records = columns.first().map_or(0, Vec::len);
        let mut keys = vec![[0; N]; n_records];
        for (column, &(word, shift)) in columns.iter().zip(&self.places) {
            let word = word.min(N - 1);
            for (key, &code) in keys.iter_mut().zip(column) {
                key[word] |= u64::from(code) << shift;
            }
        }
        keys
    }
}

type Key<const N: usize> = [u64; N];

/// Counts by key, for the number of words that the key needs.
enum Cells {
    One(Map<1>),
    Two(Map<2>),
    Four(Map<4>),
    Eight(Map<8>),
}

/// Calls the same method on whichever map it is.
macro_rules! with_map {
    ($cells:expr, $map:ident => $body:expr) => {
        match $cells {
            Cells::One($map) => $body,
            Cells::Two($map) => $body,
            Cells::Four($map) => $body,
            Cells::Eight($map) => $body,
        }
    };
}

impl Cells {
    /// How many keys are held, some of which may be the same: at most twice as many as are different, or a few million.
    fn n_keys(&self) -> usize {
        with_map!(self, map => map.table.len() + map.list.len())
    }

    fn new(layout: &Layout) -> Cells {
        match layout.n_words {
            1 => Cells::One(Map::default()),
            2 => Cells::Two(Map::default()),
            3 | 4 => Cells::Four(Map::default()),
            _ => Cells::Eight(Map::default()),
        }
    }

    fn add(&mut self, layout: &Layout, columns: &[Vec<u32>]) {
        with_map!(self, map => map.add_all(&layout.keys(columns)))
    }

    fn add_one(&mut self, layout: &Layout, codes: &[u32], count: u64) {
        with_map!(self, map => map.add(layout.pack(codes.iter().copied()), count))
    }

    /// Visits all counts; a key may come more than once, and its counts add up.
    fn for_each(&self, layout: &Layout, mut visit: impl FnMut(&[u32], u64)) {
        let mut codes = vec![0; layout.widths.len()];
        with_map!(self, map => {
            for (key, count) in map.iter() {
                layout.unpack(key, &mut codes);
                visit(&codes, *count);
            }
        })
    }

    fn repacked(&self, old: &Layout, new: &Layout) -> Cells {
        let mut cells = Cells::new(new);
        self.for_each(old, |codes, count| cells.add_one(new, codes, count));
        cells
    }

    /// Gives all cells other codes, which need no more room, and puts them in the order of their keys.
    fn translate(&mut self, old: &Layout, new: &Layout, translation: &[Vec<u32>]) {
        with_map!(self, map => {
            map.list.extend(map.table.drain());
            map.table = HashTable::new();
            map.list.par_iter_mut().for_each_init(
                || vec![0; old.widths.len()],
                |codes, (key, _)| {
                    old.unpack(key, codes);
                    *key = new.pack(codes.iter().zip(translation).map(|(&code, to)| to[code as usize]));
                },
            );
            map.list.par_sort_unstable();
        })
    }
}

/// Counts by key: a hash table that stays in the processor's cache, and a list of what did not fit.
///
/// Where keys repeat, the table grows and holds them all. Where hardly any key comes twice, a table would cost a visit
/// to main memory per record; then keys are listed, and equal ones are found by sorting.
struct Map<const N: usize> {
    table: HashTable<(Key<N>, u64)>,
    /// How many keys the table may hold before it is emptied into the list, and records counted since it was empty.
    n_table_max: usize,
    n_in_table: u64,
    /// Keys with counts, in any order, some of them more than once.
    list: Vec<(Key<N>, u64)>,
    /// Keys are listed without looking at the table until this many have been.
    n_to_list: usize,
    n_list_max: usize,
}

const N_TABLE_LEAST: usize = 1 << 15;
const N_TABLE_MOST: usize = 1 << 21;
const N_LIST_LEAST: usize = 1 << 23;

impl<const N: usize> Default for Map<N> {
    fn default() -> Self {
        Map {
            table: HashTable::new(),
            n_table_max: N_TABLE_LEAST,
            n_in_table: 0,
            list: Vec::new(),
            n_to_list: 0,
            n_list_max: N_LIST_LEAST,
        }
    }
}

#[inline]
fn hash_key<const N: usize>(key: &Key<N>) -> u64 {
    let mut hash = 0u64;
    for word in key {
        // Multiply and fold, so that the high bits, where small codes differ little, count too.
        let product = u128::from(hash ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03;
        hash = (product as u64) ^ (product >> 64) as u64;
    }
    hash
}

impl<const N: usize> Map<N> {
    fn add_all(&mut self, keys: &[Key<N>]) {
        if self.n_to_list > 0 {
            self.n_to_list = self.n_to_list.saturating_sub(keys.len());
            self.list.extend(keys.iter().map(|&key| (key, 1)));
            return self.shorten();
        }
        for &key in keys {
            self.add(key, 1);
        }
    }

    #[inline]
    fn add(&mut self, key: Key<N>, count: u64) {
        let entry = self.table.entry(hash_key(&key), |(known, _)| *known == key, |(known, _)| hash_key(known));
        entry.or_insert((key, 0)).into_mut().1 += count;
        self.n_in_table += 1;
        if self.table.len() > self.n_table_max {
            self.make_room();
        }
    }

    /// The table is full: let it grow if its keys repeat, else empty it.
    #[cold]
    fn make_room(&mut self) {
        let n_keys = self.table.len() as u64;
        if self.n_in_table >= 4 * n_keys && self.n_table_max < N_TABLE_MOST {
            self.n_table_max *= 2;
            return;
        }
        if self.n_in_table < 2 * n_keys {
            self.n_to_list = 64 * self.n_table_max;
        }
        self.list.extend(self.table.drain());
        self.n_in_table = 0;
        self.shorten();
    }

    /// Adds up equal keys of a list that has become long, so that its length stays within twice the distinct keys.
    fn shorten(&mut self) {
        if self.list.len() < self.n_list_max {
            return;
        }
        self.list.par_sort_unstable();
        self.list.dedup_by(|next, first| {
            let is_equal = next.0 == first.0;
            if is_equal {
                first.1 += next.1;
            }
            is_equal
        });
        self.n_list_max = (2 * self.list.len()).max(N_LIST_LEAST);
    }

    fn iter(&self) -> impl Iterator<Item = &(Key<N>, u64)> {
        self.table.iter().chain(&self.list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_combinations_than_numbers_are_refused() {
        assert!(check_numbers(4, 4).is_ok());
        let error = check_numbers(5, 4).expect_err("too many");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(N_CELLS_MAX < u32::MAX as usize, "what unites all of them has a number too");
    }
}
