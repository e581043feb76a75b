//! What stands beside the promise: columns that are published as they are can tell what quasi-identifiers hide.
//!
//! Published records are looked at as they go by; what `incrowd::tells` finds in them is refused or becomes a note.

use incrowd::error::{Step, Wording};
use incrowd::random::Random;
use incrowd::recode::Recoding;
use incrowd::release::Origin;
use incrowd::task::Task;
use incrowd::tells::{Hidden, Kept, Relation, Told, beyond_chance, told};
use incrowd::{Criteria, Error, ErrorKind, Measure, Result};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::input::count::Counted;
use crate::input::project::Project;
use crate::note::{Beside, Note, Telling};
use crate::output::uniques::{self, NO_VALUE, Uniques};
use crate::work::Work;

/// At most so many records are looked at, in whole groups, and at most so many bytes of what is kept of them.
const N_RECORDS_MAX: u64 = 100_000;
const N_BYTES_MAX: u64 = 64 << 20;

/// Columns with more values than this are not looked at in pairs, nor are more columns than that.
const N_VALUES_OF_PAIRS: usize = 100;
const N_COLUMNS_OF_PAIRS: usize = 8;

/// So many relations are notes, the strongest; all of them are in the report.
const N_NOTES: usize = 5;

/// Published records, as far as they are looked at.
pub struct Bystanders<'a> {
    counted: &'a Counted,
    recoding: &'a Recoding,
    /// Nothing where no size is promised, or nothing is published as it is.
    k: Option<u64>,
    n_columns: usize,
    /// By published group, its number among those that readers tell apart; none where it is not looked at.
    seen_as: Vec<Option<u32>>,
    /// By number of the group, the numbers of its cells.
    rows: FxHashMap<u32, Vec<u32>>,
    /// By record, its group as it is seen and its group of the counts.
    records: Vec<(u32, u32)>,
    /// By record, the hash of its value in each column.
    hashes: Vec<u64>,
    /// By record, whose it is, where people are counted: a hash, and then a number.
    people: Vec<u64>,
    counts_people: bool,
}

/// The size that criteria promise every group to have: k, or as many records as there are different values.
fn promised_size(criteria: &Criteria) -> Option<u64> {
    let distinct = criteria.iter().filter(|criterion| matches!(criterion.measure, Measure::Distinct(_)));
    criteria.value(Measure::Size).max(distinct.map(|criterion| criterion.value).max())
}

impl<'a> Bystanders<'a> {
    pub fn new(counted: &'a Counted, recoding: &'a Recoding, criteria: &Criteria, uniques: &Uniques) -> Bystanders<'a> {
        let n_columns = uniques.names().count();
        let hides = (0..recoding.n_attributes()).any(|a| !recoding.is_exact(a));
        let k = promised_size(criteria).filter(|_| n_columns > 0 && hides);
        let mut all = Bystanders {
            counted,
            recoding,
            k,
            n_columns,
            seen_as: vec![None; recoding.n_groups()],
            rows: FxHashMap::default(),
            records: Vec::new(),
            hashes: Vec::new(),
            people: Vec::new(),
            counts_people: counted.counts.people().is_some(),
        };
        if k.is_some() {
            all.choose_groups(N_RECORDS_MAX.min(N_BYTES_MAX / (8 * (n_columns as u64 + 1))));
        }
        all
    }

    /// Chooses groups to look at, all records of each, until there are enough; by lot, with a seed that is always the same.
    fn choose_groups(&mut self, n_records_max: u64) {
        let (seen_as, n_seen) = self.recoding.as_seen();
        let sizes = self.recoding.sizes_as_seen();
        let mut order: Vec<usize> = (0..n_seen).collect();
        Random::new(0).shuffle(&mut order);
        let mut is_chosen = vec![false; n_seen];
        let mut n_left = n_records_max;
        for group in order {
            is_chosen[group] = sizes[group] <= n_left;
            n_left -= if is_chosen[group] { sizes[group] } else { 0 };
        }
        for ((group, seen_as), row) in seen_as.into_iter().enumerate().zip(self.recoding.rows_as_seen()) {
            if is_chosen[seen_as as usize] {
                self.seen_as[group] = Some(seen_as);
                self.rows.insert(seen_as, row);
            }
        }
    }

    /// Takes note of so many equal published records, by where they come from, the hashes of what is kept of them, and that
    /// of whose they are where somebody says so.
    pub fn see(&mut self, origin: Origin, hashes: &[u64], n_records: u64, person: impl FnOnce() -> Option<u64>) {
        let Some(group) = self.seen_as[origin.group as usize] else { return };
        let person = self.counts_people.then(person);
        for _ in 0..n_records {
            self.records.push((group, origin.base));
            self.hashes.extend_from_slice(hashes);
            let known = |person: Option<u64>| person.expect("where people are counted, every record is somebody's");
            self.people.extend(person.map(known));
        }
    }

    /// What the columns tell; what is told of nearly all records, so that some fall below what is promised, is refused.
    ///
    /// # Guarantee
    /// Unless the project says `tells = "accepted"` of every column in it, nothing is published with a column, or a pair
    /// of columns with few values, that tells nearly all of what a quasi-identifier hides, and leaves somebody among fewer
    /// than k records of a group that is looked at; nor, silently, with one that tells a part of it.
    pub fn check(mut self, project: &Project, uniques: &Uniques, work: &Work) -> Result<Vec<Beside>> {
        let Some(k) = self.k else { return Ok(Vec::new()) };
        self.sort();
        let columns = self.columns(uniques, k);
        let of_people = |rare: &dyn Fn(&KeptColumn) -> u64| -> Vec<(String, u64, u64)> {
            let open = columns.iter().filter(|column| !uniques.may_be_unique(&column.names[0]));
            open.map(|column| (column.names[0].clone(), rare(column), column.n_present())).collect()
        };
        if self.counts_people {
            uniques.check_people(of_people(&|column| column.n_of_one_person(self.numbers_of_people().as_deref())))?;
        }
        let look = |task: &Task| self.look(&columns, k, task);
        let found: Vec<Telling> = work.quietly(|task| work.on_threads(|| look(task))?)?;
        let is_accepted = |name: &String| {
            let attribute = project.attributes.iter().find(|attribute| attribute.name == *name);
            // Of a pair with a quasi-identifier, the other column is what can be left out.
            attribute.is_some_and(|known| known.accepts_telling)
                || self.counted.quasi_identifiers.iter().any(|known| known.name == *name)
        };
        let is_refused = |telling: &&Telling| telling.is_nearly_certain && !telling.columns.iter().all(is_accepted);
        let refused: Vec<&Telling> = found.iter().filter(is_refused).collect();
        if !refused.is_empty() {
            return Err(refusal(&refused));
        }
        let rare: Vec<(String, u64, u64)> = match self.counts_people {
            true => uniques::rare_of(of_people(&KeptColumn::n_rare)),
            false => uniques.rare(k).map(|(column, n, of)| (column.to_string(), n, of)).collect(),
        };
        let rare =
            rare.into_iter().map(|(column, n_records, n_all)| Beside::RareValues { column, n_records, n_all, k });
        let all: Vec<Beside> = found.into_iter().map(Beside::Tells).chain(rare).collect();
        all.iter().take(N_NOTES).for_each(|beside| work.note(Note::Beside(Box::new(beside.clone()))));
        if all.len() > N_NOTES {
            work.note(Note::MoreBeside { n: (all.len() - N_NOTES) as u64 });
        }
        Ok(all)
    }

    /// Puts records into an order that depends on nothing but what they are.
    fn sort(&mut self) {
        let n = self.n_columns;
        let hashes = |i: usize| &self.hashes[i * n..(i + 1) * n];
        let mut order: Vec<usize> = (0..self.records.len()).collect();
        let person = |i: usize| self.people.get(i);
        order.sort_unstable_by(|&a, &b| {
            (self.records[a], hashes(a), person(a)).cmp(&(self.records[b], hashes(b), person(b)))
        });
        self.people = order.iter().filter_map(|&i| self.people.get(i).copied()).collect();
        self.hashes = order.iter().flat_map(|&i| hashes(i).iter().copied()).collect();
        self.records = order.iter().map(|&i| self.records[i]).collect();
    }

    /// The columns that are published as they are, with their values numbered.
    fn columns(&self, uniques: &Uniques, k: u64) -> Vec<KeptColumn> {
        let people = self.numbers_of_people();
        let column = |(place, name): (usize, &str)| {
            let hashes: Vec<u64> = self.hashes.iter().skip(place).step_by(self.n_columns).copied().collect();
            let (values, distinct) = numbered(&hashes);
            let n_seen = n_having_of(&values, distinct.len(), people.as_deref());
            // Among all that are published, where that is known; whose records these are is known of those looked at.
            let n_having = |(hash, n): (&u64, u64)| match people {
                Some(_) => n,
                None => uniques.n_having(place, *hash).unwrap_or(n).max(n),
            };
            let is_shared = distinct.iter().zip(n_seen).map(n_having).map(|n| n >= k).collect();
            let missing = distinct.binary_search(&NO_VALUE).ok().map(|value| value as u32);
            KeptColumn { names: vec![name.to_string()], values, is_shared, missing }
        };
        uniques.names().enumerate().map(column).collect()
    }

    /// By record, the number of the person whose it is; nothing where records are counted.
    fn numbers_of_people(&self) -> Option<Vec<u32>> {
        self.counts_people.then(|| numbered(&self.people).0)
    }

    /// Everything that is told about every quasi-identifier.
    fn look(&self, columns: &[KeptColumn], k: u64, task: &Task) -> Result<Vec<Telling>> {
        let starts = self.starts();
        let cells: Vec<Vec<u32>> = (0..self.recoding.n_attributes())
            .map(|a| self.records.iter().map(|(group, _)| self.rows[group][a]).collect())
            .collect();
        let (partners, people) = (self.partners(&cells), self.numbers_of_people());
        let mut all = Vec::new();
        for a in (0..cells.len()).filter(|a| !self.recoding.is_exact(*a)) {
            let behind = self.labels(a);
            let hidden: Vec<(usize, Hidden)> = behind
                .iter()
                .enumerate()
                .map(|(level, labels)| {
                    let hidden = Hidden::new(&starts, &cells[a], labels, k);
                    let hidden = if let Some(people) = &people { hidden.of_people(people) } else { hidden };
                    (level, hidden)
                })
                .filter(|(_, hidden)| !hidden.is_open())
                .collect();
            let of = |column: &KeptColumn, only_certain: bool| self.worst(a, &hidden, column, only_certain, k, task);
            let singly = columns.par_iter().map(|column| of(column, false)).collect::<Result<Vec<_>>>()?;
            let others = partners.iter().filter(|(b, _)| *b != a).map(|(_, column)| column);
            let pairs = pairs(columns, &singly, others).into_par_iter();
            // Where a column tells something alone, it is told again only of pairs that tell nearly everything.
            let is_told = |column: &KeptColumn| {
                singly.iter().flatten().any(|telling| column.names.iter().any(|name| telling.columns.contains(name)))
            };
            let in_pairs =
                pairs.map(|(one, other)| of(&one.with(other, k, people.as_deref()), is_told(one) || is_told(other)));
            let in_pairs = in_pairs.collect::<Result<Vec<_>>>()?;
            let singly: Vec<Telling> = singly.into_iter().flatten().collect();
            all.extend(worth_telling(in_pairs, &singly));
            all.extend(singly);
        }
        all.sort_by_key(|telling| (!telling.is_nearly_certain, std::cmp::Reverse(telling.n_below)));
        Ok(all)
    }

    fn starts(&self) -> Vec<usize> {
        let is_start = |&i: &usize| i == 0 || self.records[i].0 != self.records[i - 1].0;
        (0..self.records.len()).filter(is_start).chain([self.records.len()]).collect()
    }

    /// By level below the top, what a quasi-identifier of every record is.
    fn labels(&self, a: usize) -> Vec<Vec<u32>> {
        let (counts, hierarchy) = (&self.counted.counts, &self.counted.hierarchies[a]);
        let label =
            |level: usize, base: u32| hierarchy.level(level).of_base()[counts.codes(base as usize)[a].index()].0;
        (0..hierarchy.top()).map(|level| self.records.iter().map(|(_, base)| label(level, *base)).collect()).collect()
    }

    /// Quasi-identifiers as they are published, which may tell another one together with a column.
    fn partners(&self, cells: &[Vec<u32>]) -> Vec<(usize, KeptColumn)> {
        let column = |(a, cells): (usize, &Vec<u32>)| {
            let numbers: Vec<u64> = cells.iter().map(|cell| u64::from(*cell)).collect();
            let (values, distinct) = numbered(&numbers);
            let names = vec![self.counted.quasi_identifiers[a].name.clone()];
            (a, KeptColumn { names, values, is_shared: vec![true; distinct.len()], missing: None })
        };
        cells.iter().enumerate().map(column).filter(|(_, column)| column.has_few_values()).collect()
    }

    /// What a column tells about a quasi-identifier, on the level on which it tells most; only where that is nearly
    /// everything, if nobody asks about less. To compare with chance takes the time: levels that cannot be the worst are not
    /// compared.
    fn worst(
        &self,
        a: usize,
        hidden: &[(usize, Hidden)],
        column: &KeptColumn,
        only_certain: bool,
        k: u64,
        task: &Task,
    ) -> Result<Option<Telling>> {
        let kept = Kept { values: &column.values, is_shared: &column.is_shared };
        let mut levels: Vec<(&(usize, Hidden), Told)> = hidden.iter().map(|of| (of, told(&of.1, &kept))).collect();
        levels.retain(|(_, told)| told.n_below > 0 && (told.may_be_nearly_certain() || !only_certain));
        let at_most = |told: &Told| (told.may_be_nearly_certain(), told.n_below);
        levels.sort_by_key(|(_, told)| std::cmp::Reverse(at_most(told)));
        let mut worst: Option<(usize, Relation)> = None;
        for ((level, hidden), told) in levels {
            // Of several that tell as much, the finest.
            let weight = |level: usize, relation: &Relation| {
                ((relation.is_nearly_certain(), relation.told.n_below), std::cmp::Reverse(level))
            };
            let is_beaten = |(known, relation): &(usize, Relation)| {
                weight(*known, relation) > (at_most(&told), std::cmp::Reverse(*level))
            };
            if worst.as_ref().is_some_and(is_beaten) {
                continue;
            }
            let Some(found) = beyond_chance(hidden, &kept, told, task)? else { continue };
            if worst.as_ref().is_none_or(|(known, relation)| weight(*level, &found) > weight(*known, relation)) {
                worst = Some((*level, found));
            }
        }
        Ok(worst.map(|(level, found)| Telling {
            columns: column.names.clone(),
            attribute: self.counted.quasi_identifiers[a].name.clone(),
            level,
            level_name: self.counted.hierarchies[a].level(level).name().to_string(),
            k,
            effective_k: found.told.fewest.expect("somebody is below k"),
            n_below: found.told.n_below,
            n_below_by_chance: found.n_below_by_chance.round() as u64,
            n_told: found.told.n_told,
            n_shared: found.told.n_shared,
            n_records: self.records.len() as u64,
            counts_people: self.counts_people,
            is_nearly_certain: found.is_nearly_certain(),
        }))
    }
}

/// A column that is published as it is, or two.
struct KeptColumn {
    names: Vec<String>,
    /// By record, the number of its value.
    values: Vec<u32>,
    is_shared: Vec<bool>,
    /// The number of "no value" among the values.
    missing: Option<u32>,
}

impl KeptColumn {
    fn has_few_values(&self) -> bool {
        (2..=N_VALUES_OF_PAIRS).contains(&self.is_shared.len())
    }

    fn n_present(&self) -> u64 {
        self.values.iter().filter(|value| Some(**value) != self.missing).count() as u64
    }

    /// How many records have a value that fewer than k share.
    fn n_rare(&self) -> u64 {
        let is_rare = |value: &&u32| Some(**value) != self.missing && !self.is_shared[**value as usize];
        self.values.iter().filter(is_rare).count() as u64
    }

    /// How many records have a value that nobody else has.
    fn n_of_one_person(&self, people: Option<&[u32]>) -> u64 {
        let n_having = n_having_of(&self.values, self.is_shared.len(), people);
        let is_own = |value: &&u32| Some(**value) != self.missing && n_having[**value as usize] == 1;
        self.values.iter().filter(is_own).count() as u64
    }

    fn with(&self, other: &KeptColumn, k: u64, people: Option<&[u32]>) -> KeptColumn {
        let n_other = other.is_shared.len() as u32;
        let values: Vec<u32> = self.values.iter().zip(&other.values).map(|(a, b)| a * n_other + b).collect();
        let n_values = self.is_shared.len() * other.is_shared.len();
        let is_shared = n_having_of(&values, n_values, people).into_iter().map(|n| n >= k).collect();
        let names = self.names.iter().chain(&other.names).cloned().collect();
        KeptColumn { names, values, is_shared, missing: None }
    }
}

/// Pairs of columns with few values, and of such a column and a published quasi-identifier; without columns that tell
/// nearly everything by themselves.
fn pairs<'a>(
    columns: &'a [KeptColumn],
    singly: &[Option<Telling>],
    partners: impl Iterator<Item = &'a KeptColumn> + Clone,
) -> Vec<(&'a KeptColumn, &'a KeptColumn)> {
    let is_certain = |telling: &Option<Telling>| telling.as_ref().is_some_and(|telling| telling.is_nearly_certain);
    let few = columns.iter().zip(singly).filter(|(column, telling)| column.has_few_values() && !is_certain(telling));
    let mut few: Vec<&KeptColumn> = few.map(|(column, _)| column).collect();
    few.sort_by_key(|column| column.is_shared.len());
    few.truncate(N_COLUMNS_OF_PAIRS);
    let of = |(i, column): (usize, &&'a KeptColumn)| {
        let others = few[i + 1..].iter().copied().chain(partners.clone());
        others.map(|other| (*column, other)).collect::<Vec<_>>()
    };
    few.iter().enumerate().flat_map(of).collect()
}

/// The pairs that tell nearly everything, or something where neither column alone does; each column in its worst pair.
fn worth_telling(in_pairs: Vec<Option<Telling>>, singly: &[Telling]) -> Vec<Telling> {
    let mut in_pairs: Vec<Telling> = in_pairs.into_iter().flatten().collect();
    in_pairs.sort_by_key(|telling| (!telling.is_nearly_certain, std::cmp::Reverse(telling.n_below)));
    let mut told: Vec<Telling> = Vec::new();
    for pair in in_pairs {
        let names_one = |other: &Telling| other.columns.iter().any(|name| pair.columns.contains(name));
        if !told.iter().any(names_one) && (pair.is_nearly_certain || !singly.iter().any(names_one)) {
            told.push(pair);
        }
    }
    told
}

/// Numbers values by their size, and the values by number.
fn numbered(values: &[u64]) -> (Vec<u32>, Vec<u64>) {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let numbers: FxHashMap<u64, u32> = distinct.iter().copied().zip(0..).collect();
    (values.iter().map(|value| numbers[value]).collect(), distinct)
}

/// By value, how many records have it; or how many people, where it is known whose each record is.
fn n_having_of(values: &[u32], n_values: usize, people: Option<&[u32]>) -> Vec<u64> {
    let mut n_having = vec![0; n_values];
    match people {
        None => values.iter().for_each(|&value| n_having[value as usize] += 1),
        Some(people) => {
            let mut pairs: Vec<(u32, u32)> = values.iter().copied().zip(people.iter().copied()).collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs.iter().for_each(|(value, _)| n_having[*value as usize] += 1);
        }
    }
    n_having
}

fn refusal(refused: &[&Telling]) -> Error {
    const N_SHOWN: usize = 3;
    let mut all: Vec<String> = refused.iter().take(N_SHOWN).map(|telling| telling.in_words()).collect();
    if refused.len() > N_SHOWN {
        all.push(format!("and {} more relations of this kind", refused.len() - N_SHOWN));
    }
    let others = "nothing was published; make the column an identifier, which is left out, or a quasi-identifier with a \
                  hierarchy; or ";
    let hint = Wording::text(others).step(Step::PublishTelling);
    Error::new(ErrorKind::Project, all.join("; ")).hint(hint.and(" where it is to be published all the same"))
}
