//! What stands beside the promise: columns that are published as they are can tell what quasi-identifiers hide.
//!
//! Published records are looked at as they go by; what `incrowd::tells` finds in them is refused or becomes a note.

mod columns;
mod pairs;

use std::cmp::Reverse;

use incrowd::error::{Step, Wording};
use incrowd::random::Random;
use incrowd::recode::Recoding;
use incrowd::release::Origin;
use incrowd::task::Task;
use incrowd::tells::{Hidden, Kept, Relation, Told, beyond_chance, told};
use incrowd::{Criteria, Error, ErrorKind, Measure, Result};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use columns::{KeptColumn, Whose, numbered};
use pairs::{Bound, pairs, worth_telling};

use crate::input::count::Counted;
use crate::input::project::Project;
use crate::note::{Beside, Note, Telling};
use crate::output::uniques::{self, NO_VALUE, Uniques};
use crate::work::Work;

/// At most so many records are looked at, in whole groups, and at most so many bytes of what is kept of them.
const N_RECORDS_MAX: u64 = 100_000;
const N_BYTES_MAX: u64 = 64 << 20;

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
    cells: FxHashMap<u32, Vec<u32>>,
    /// By row, its group as it is seen and its group of the counts.
    rows: Vec<(u32, u32)>,
    /// By row, how many records are equal in all of this; one where people are counted.
    n_alike: Vec<u64>,
    /// By row, the hash of its value in each column.
    hashes: Vec<u64>,
    /// By row, whose it is, where people are counted: a hash.
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
            cells: FxHashMap::default(),
            rows: Vec::new(),
            n_alike: Vec::new(),
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
                self.cells.insert(seen_as, row);
            }
        }
    }

    /// Takes note of so many equal published records, by where they come from, the hashes of what is kept of them, and that
    /// of whose they are where somebody says so.
    pub fn see(&mut self, origin: Origin, hashes: &[u64], n_records: u64, person: impl FnOnce() -> Option<u64>) {
        let Some(group) = self.seen_as[origin.group as usize] else { return };
        let person = self.counts_people.then(person);
        let known = |person: Option<u64>| person.expect("where people are counted, every record is somebody's");
        let person = person.map(known);
        // Records of people are moved one by one.
        let (n_rows, n_alike) = if person.is_some() { (n_records, 1) } else { (1, n_records) };
        for _ in 0..n_rows {
            self.rows.push((group, origin.base));
            self.n_alike.push(n_alike);
            self.hashes.extend_from_slice(hashes);
            self.people.extend(person);
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
        let people = self.numbers_of_people();
        let whose = Whose { n_alike: &self.n_alike, people: people.as_deref() };
        let columns = self.columns(uniques, &whose, k);
        let of_people = |rare: &dyn Fn(&KeptColumn) -> u64| -> Vec<(String, u64, u64)> {
            let open = columns.iter().filter(|column| !uniques.may_be_unique(&column.names[0]));
            open.map(|column| (column.names[0].clone(), rare(column), column.n_present(&whose))).collect()
        };
        if self.counts_people {
            uniques.check_people(of_people(&|column| column.n_of_one_person(&whose)))?;
        }
        let look = |task: &Task| self.look(&columns, &whose, k, task);
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
            true => uniques::rare_of(of_people(&|column| column.n_rare(&whose))),
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

    /// Puts rows into an order that depends on nothing but what they are, equal ones together.
    fn sort(&mut self) {
        let n = self.n_columns;
        let hashes = |i: usize| &self.hashes[i * n..(i + 1) * n];
        let row = |i: usize| (self.rows[i], hashes(i), self.people.get(i));
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_unstable_by(|&a, &b| row(a).cmp(&row(b)));
        let is_same = |a: &usize, b: &usize| !self.counts_people && row(*a) == row(*b);
        let (n_alike, order): (Vec<u64>, Vec<usize>) = order
            .chunk_by(is_same)
            .map(|alike| (alike.iter().map(|i| self.n_alike[*i]).sum::<u64>(), alike[0]))
            .unzip();
        self.people = order.iter().filter_map(|&i| self.people.get(i).copied()).collect();
        self.hashes = order.iter().flat_map(|&i| hashes(i).iter().copied()).collect();
        self.rows = order.iter().map(|&i| self.rows[i]).collect();
        self.n_alike = n_alike;
    }

    /// The columns that are published as they are, with their values numbered.
    fn columns(&self, uniques: &Uniques, whose: &Whose, k: u64) -> Vec<KeptColumn> {
        let column = |(place, name): (usize, &str)| {
            let hashes: Vec<u64> = self.hashes.iter().skip(place).step_by(self.n_columns).copied().collect();
            let (values, distinct) = numbered(&hashes);
            let n_seen = whose.n_having(&values, distinct.len());
            // Among all that are published, where that is known; whose records these are is known of those looked at.
            let n_having = |(hash, n): (&u64, u64)| match whose.people {
                Some(_) => n,
                None => uniques.n_having(place, *hash).unwrap_or(n).max(n),
            };
            let is_shared = distinct.iter().zip(n_seen).map(n_having).map(|n| n >= k).collect();
            let missing = distinct.binary_search(&NO_VALUE).ok().map(|value| value as u32);
            KeptColumn { names: vec![name.to_string()], values, is_shared, missing }
        };
        uniques.names().enumerate().map(column).collect()
    }

    /// By row, the number of the person whose it is; nothing where records are counted.
    fn numbers_of_people(&self) -> Option<Vec<u32>> {
        self.counts_people.then(|| numbered(&self.people).0)
    }

    /// Everything that is told about every quasi-identifier.
    fn look(&self, columns: &[KeptColumn], whose: &Whose, k: u64, task: &Task) -> Result<Vec<Telling>> {
        let starts = self.starts();
        let groups: Vec<&[u32]> =
            starts[..starts.len() - 1].iter().map(|start| self.cells[&self.rows[*start].0].as_slice()).collect();
        let cells: Vec<Vec<u32>> =
            (0..self.recoding.n_attributes()).map(|a| groups.iter().map(|cells| cells[a]).collect()).collect();
        let partners = self.partners(&starts, &cells);
        let hidden: Vec<usize> = (0..cells.len()).filter(|a| !self.recoding.is_exact(*a)).collect();
        let told_of = |&a: &usize| {
            let others = partners.iter().filter(|(b, _)| *b != a).map(|(_, column)| column);
            self.look_at(a, &starts, &cells[a], columns, others, whose, k, task)
        };
        let all: Vec<Vec<Telling>> = hidden.par_iter().map(told_of).collect::<Result<_>>()?;
        let mut all: Vec<Telling> = all.into_iter().flatten().collect();
        all.sort_by_key(|telling| (!telling.is_nearly_certain, Reverse(telling.n_below)));
        Ok(all)
    }

    /// Everything that is told about a quasi-identifier, by a column or by two.
    fn look_at<'c>(
        &self,
        a: usize,
        starts: &[usize],
        cells: &[u32],
        columns: &'c [KeptColumn],
        partners: impl Iterator<Item = &'c KeptColumn> + Clone,
        whose: &Whose,
        k: u64,
        task: &Task,
    ) -> Result<Vec<Telling>> {
        let labels = self.labels(a);
        let hidden = labels.iter().map(|labels| {
            let hidden = Hidden::new(starts, cells, labels, &self.n_alike, k);
            if let Some(people) = whose.people { hidden.of_people(people) } else { hidden }
        });
        let hidden: Vec<(usize, Hidden)> = hidden.enumerate().filter(|(_, hidden)| !hidden.is_open()).collect();
        let worst = |column: &KeptColumn| self.worst(a, &hidden, column, suspects(&hidden, column, false), k, task);
        let singly = columns.par_iter().map(worst).collect::<Result<Vec<_>>>()?;
        let pairs = pairs(columns, &singly, partners);
        let singly: Vec<Telling> = singly.into_iter().flatten().collect();
        // Where a column tells something alone, it is told again only of pairs that tell nearly everything.
        let is_told = |column: &KeptColumn| {
            singly.iter().any(|telling| column.names.iter().any(|name| telling.columns.contains(name)))
        };
        let suspected = |&(one, other): &(&KeptColumn, &KeptColumn)| {
            suspects(&hidden, &one.with(other, k, whose), is_told(one) || is_told(other))
        };
        let suspected: Vec<Vec<Suspect>> = pairs.par_iter().map(suspected).collect();
        let bounds: Vec<Option<Bound>> = suspected.iter().map(|levels| levels.first().map(Suspect::at_most)).collect();
        let in_pairs = worth_telling(&pairs, &bounds, &singly, |i| {
            let (one, other) = pairs[i];
            self.worst(a, &hidden, &one.with(other, k, whose), suspected[i].clone(), k, task)
        })?;
        Ok(in_pairs.into_iter().chain(singly).collect())
    }

    fn starts(&self) -> Vec<usize> {
        let is_start = |&i: &usize| i == 0 || self.rows[i].0 != self.rows[i - 1].0;
        (0..self.rows.len()).filter(is_start).chain([self.rows.len()]).collect()
    }

    /// By level below the top, what a quasi-identifier of every row is.
    fn labels(&self, a: usize) -> Vec<Vec<u32>> {
        let (counts, hierarchy) = (&self.counted.counts, &self.counted.hierarchies[a]);
        let label =
            |level: usize, base: u32| hierarchy.level(level).of_base()[counts.codes(base as usize)[a].index()].0;
        (0..hierarchy.top()).map(|level| self.rows.iter().map(|(_, base)| label(level, *base)).collect()).collect()
    }

    /// Quasi-identifiers as they are published, which may tell another one together with a column.
    fn partners(&self, starts: &[usize], cells: &[Vec<u32>]) -> Vec<(usize, KeptColumn)> {
        let column = |(a, cells): (usize, &Vec<u32>)| {
            let numbers: Vec<u64> = cells.iter().map(|cell| u64::from(*cell)).collect();
            let (of_groups, distinct) = numbered(&numbers);
            let sizes = starts.windows(2).map(|ends| ends[1] - ends[0]);
            let values =
                of_groups.into_iter().zip(sizes).flat_map(|(value, n)| std::iter::repeat_n(value, n)).collect();
            let names = vec![self.counted.quasi_identifiers[a].name.clone()];
            (a, KeptColumn { names, values, is_shared: vec![true; distinct.len()], missing: None })
        };
        cells.iter().enumerate().map(column).filter(|(_, column)| column.has_few_values()).collect()
    }

    /// What a column tells about a quasi-identifier, on the level on which it tells most. To compare with chance takes the
    /// time: levels that cannot be the worst are not compared.
    fn worst(
        &self,
        a: usize,
        hidden: &[(usize, Hidden)],
        column: &KeptColumn,
        suspects: Vec<Suspect>,
        k: u64,
        task: &Task,
    ) -> Result<Option<Telling>> {
        let kept = Kept { values: &column.values, is_shared: &column.is_shared };
        let mut worst: Option<(usize, Relation)> = None;
        for suspect in suspects {
            let (level, hidden) = &hidden[suspect.place];
            // Of several that tell as much, the finest.
            let weight = |level: usize, relation: &Relation| {
                ((relation.is_nearly_certain(), relation.told.n_below), Reverse(level))
            };
            let is_beaten =
                |(known, relation): &(usize, Relation)| weight(*known, relation) > (suspect.at_most(), Reverse(*level));
            if worst.as_ref().is_some_and(is_beaten) {
                continue;
            }
            let Some(found) = beyond_chance(hidden, &kept, suspect.told, task)? else { continue };
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
            n_records: self.n_alike.iter().sum(),
            counts_people: self.counts_people,
            is_nearly_certain: found.is_nearly_certain(),
        }))
    }
}

/// What a column may tell about a level of a quasi-identifier, if it is no chance.
#[derive(Clone, Copy)]
struct Suspect {
    /// The place of the level among those that hide something.
    place: usize,
    told: Told,
}

impl Suspect {
    /// No relation is worse than this.
    fn at_most(&self) -> Bound {
        (self.told.may_be_nearly_certain(), self.told.n_below)
    }
}

/// The levels on which a column leaves records among fewer than k, the worst first; only those of which it may tell nearly
/// everything, if nobody asks about less.
fn suspects(hidden: &[(usize, Hidden)], column: &KeptColumn, only_certain: bool) -> Vec<Suspect> {
    let kept = Kept { values: &column.values, is_shared: &column.is_shared };
    let all = hidden.iter().enumerate().map(|(place, (_, hidden))| Suspect { place, told: told(hidden, &kept) });
    let may_tell =
        |suspect: &Suspect| suspect.told.n_below > 0 && (suspect.told.may_be_nearly_certain() || !only_certain);
    let mut all: Vec<Suspect> = all.filter(may_tell).collect();
    all.sort_by_key(|suspect| Reverse(suspect.at_most()));
    all
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
    Error::new(ErrorKind::Project, all.join("; ")).hint(hint.and(" to publish it anyway"))
}
