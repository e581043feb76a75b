//! Counts from other counts: with records that come, without records that go, told apart by person, or by labels.

use rustc_hash::FxHashMap;

use crate::counts::N_CELLS_MAX;
use crate::counts::collect::{Collected, check_numbers};
use crate::counts::counted_as::CountedAs;
use crate::counts::groups::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::table::{Code, Domain};

impl GroupCounts {
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
        GroupCounts { population: self.population.clone(), counted_as: self.counted_as.clone(), ..collected.finish() }
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

    /// The counts of `n` records of this table that chance chooses, each as likely as any other; of all where there are no
    /// more. The population stays as it is.
    ///
    /// # Guarantee
    /// They are those of a table that has these records alone, the same for the same seed.
    pub fn sampled(&self, n: u64, seed: u64) -> GroupCounts {
        if n >= self.n_records {
            return self.clone();
        }
        let all: Vec<&Domain> = self.attributes().collect();
        let (mut random, mut n_left, mut n_wanted) = (Random::new(seed), self.n_records, n);
        let mut cells: Vec<(Vec<u32>, u64)> = Vec::new();
        self.each_cell(&all, |codes, n_records| {
            let mut n_taken = 0;
            for _ in 0..n_records {
                // Of those that are left, as many are wanted: each is one of them with the same chance.
                let is_taken = random.below(n_left) < n_wanted;
                (n_left, n_wanted) = (n_left - 1, n_wanted - u64::from(is_taken));
                n_taken += u64::from(is_taken);
            }
            if n_taken > 0 {
                cells.push((codes.to_vec(), n_taken));
            }
        });
        cells.sort_unstable();
        let people = self.people.as_ref().map(|people| (people.columns.clone(), people.names.clone()));
        let mut collected = Collected::new(self.domains.clone(), self.sensitive.clone(), people, n, 0);
        cells.iter().for_each(|(codes, n)| collected.add(codes, *n));
        let counts = collected.finish().compact();
        match self.population_counts() {
            Some(population) => counts.with_population(&population),
            None => counts,
        }
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
