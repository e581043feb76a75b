//! What a column that is published as it is tells about an attribute that is generalized beside it.
//!
//! Whoever knows how the two hang together reads the finer value of the attribute off the column, strikes out the records
//! of a group to which it says something else, and looks for somebody among those that are left.

use std::ops::Range;

use crate::error::Result;
use crate::random::Random;
use crate::task::Task;

/// A value of the column tells nothing where too few records share it to be a rule.
const UNTOLD: u32 = u32::MAX;

/// How often the column is shuffled to see what chance does.
const N_SHUFFLES: u64 = 39;

/// After so many it ends where the relation is within so many standard deviations of chance, half as many as it takes.
const N_SHUFFLES_LEAST: u64 = 8;
const N_DEVIATIONS_HOPELESS: f64 = 2.0;

/// How many standard deviations beyond chance a relation is.
const N_DEVIATIONS: f64 = 4.0;

/// A relation is nearly certain where it tells this share of the records that chance does not tell.
const NEARLY_ALL: f64 = 0.9;

/// Published records, group after group, and an attribute of which they publish less than is known.
pub struct Hidden<'a> {
    starts: &'a [usize],
    cells: &'a [u32],
    labels: &'a [u32],
    n_labels: usize,
    k: u64,
    /// By record, the number of the person whose it is, where people are counted; and how many people there are.
    people: Option<(&'a [u32], usize)>,
    /// Where the labels behind each cell begin in `behind`; one more entry than there are cells.
    cell_starts: Vec<usize>,
    /// The labels behind each cell, increasing.
    behind: Vec<u32>,
}

impl<'a> Hidden<'a> {
    /// `starts` are where the records of each group begin, with one more entry than there are groups; by record, `cells`
    /// are what is published of the attribute, and `labels` what it is on a finer level; `k` is promised.
    pub fn new(starts: &'a [usize], cells: &'a [u32], labels: &'a [u32], k: u64) -> Hidden<'a> {
        assert!(starts.first() == Some(&0) && starts.last() == Some(&cells.len()) && cells.len() == labels.len());
        let mut pairs: Vec<(u32, u32)> = cells.iter().copied().zip(labels.iter().copied()).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let n_cells = pairs.last().map_or(0, |(cell, _)| *cell as usize + 1);
        let cell_starts = (0..=n_cells).map(|cell| pairs.partition_point(|pair| (pair.0 as usize) < cell)).collect();
        let n_labels = labels.iter().max().map_or(0, |label| *label as usize + 1);
        let behind = pairs.into_iter().map(|(_, label)| label).collect();
        Hidden { starts, cells, labels, n_labels, k, people: None, cell_starts, behind }
    }

    /// The same where k counts people: by record, the number of the person whose it is.
    pub fn of_people(self, people: &'a [u32]) -> Hidden<'a> {
        assert_eq!(people.len(), self.cells.len(), "every record is somebody's");
        let n_people = people.iter().max().map_or(0, |person| *person as usize + 1);
        Hidden { people: Some((people, n_people)), ..self }
    }

    /// Whether every cell says all that there is to know on this level.
    pub fn is_open(&self) -> bool {
        self.cell_starts.windows(2).all(|ends| ends[1] - ends[0] <= 1)
    }

    fn labels_behind(&self, cell: u32) -> &[u32] {
        &self.behind[self.cell_starts[cell as usize]..self.cell_starts[cell as usize + 1]]
    }
}

/// A column that is published as it is.
pub struct Kept<'a> {
    /// By record, the number of its value.
    pub values: &'a [u32],
    /// By number, whether at least k records share the value; or the records of at least k people, where these are counted.
    pub is_shared: &'a [bool],
}

/// What somebody gets to know who knows which label goes with which value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Records whose value is shared.
    pub n_shared: u64,
    /// Those of them of which the value tells the right label.
    pub n_told: u64,
    /// Those of them that are left among fewer than k records of their group, or the records of fewer than k people.
    pub n_below: u64,
    /// The fewest records, or people, among which one is left; nothing where none is told.
    pub fewest: Option<u64>,
}

impl Told {
    /// Whether it may tell nearly all that can be told, whatever chance does.
    pub fn may_be_nearly_certain(&self) -> bool {
        self.n_told as f64 >= NEARLY_ALL * self.n_shared as f64
    }
}

/// A relation that is no chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
    /// What it tells.
    pub told: Told,
    /// What a column with the same values in every group would tell that has nothing to do with the attribute, on average.
    pub n_told_by_chance: f64,
    /// How many records would fall below k with such a column, on average.
    pub n_below_by_chance: f64,
}

impl Relation {
    /// Whether it tells nearly all that can be told: nine of ten records with a shared value that chance does not tell.
    pub fn is_nearly_certain(&self) -> bool {
        let (told, shared) = (self.told.n_told as f64, self.told.n_shared as f64);
        told - self.n_told_by_chance >= NEARLY_ALL * (shared - self.n_told_by_chance)
    }
}

/// What a column tells about an attribute.
///
/// A value that is shared tells, of the labels behind the cell that is published, the one that most records with this
/// value have (of several, the first). A record is told where that is its own label. It is then left among the records of
/// its group to which the same label is told, and those whose value nobody shares and that tell nothing; where people are
/// counted, among the different people whose records these are.
pub fn told(hidden: &Hidden, kept: &Kept) -> Told {
    Teller::new(hidden).tell(kept.values, kept.is_shared)
}

/// The relation between a column and an attribute, where it leaves records among fewer than k and is no chance: when the
/// column's values are shuffled within every group, which changes nothing else that is published, fewer records fall
/// below k, every one of 39 times and by four standard deviations. Where people are counted, what somebody's records say
/// is moved together: five records of a person with the same value are one coincidence and not five.
///
/// # Errors
/// Where the task is cancelled.
pub fn relation(hidden: &Hidden, kept: &Kept, task: &Task) -> Result<Option<Relation>> {
    beyond_chance(hidden, kept, told(hidden, kept), task)
}

/// The same where it is known what the column tells.
///
/// # Errors
/// Where the task is cancelled.
pub fn beyond_chance(hidden: &Hidden, kept: &Kept, told: Told, task: &Task) -> Result<Option<Relation>> {
    if told.n_below == 0 {
        return Ok(None);
    }
    let mut teller = Teller::new(hidden);
    let mut shuffler = Shuffler::new(hidden, kept.values);
    let (mut n_told, mut n_below, mut squares) = (0.0, 0.0, 0.0);
    for n in 1..=N_SHUFFLES {
        task.go_on()?;
        let by_chance = teller.tell(shuffler.shuffle(), kept.is_shared);
        if by_chance.n_below >= told.n_below {
            return Ok(None);
        }
        n_told += by_chance.n_told as f64;
        n_below += by_chance.n_below as f64;
        squares += (by_chance.n_below as f64).powi(2);
        let mean = n_below / n as f64;
        let deviation = (squares / n as f64 - mean.powi(2)).max(0.0).sqrt();
        let within = |n_deviations: f64| told.n_below as f64 <= mean + n_deviations * deviation;
        if n >= N_SHUFFLES_LEAST && within(N_DEVIATIONS_HOPELESS) || n == N_SHUFFLES && within(N_DEVIATIONS) {
            return Ok(None);
        }
    }
    let n = N_SHUFFLES as f64;
    Ok(Some(Relation { told, n_told_by_chance: n_told / n, n_below_by_chance: n_below / n }))
}

/// Shuffles the values of a column within every group, again and again.
struct Shuffler<'a> {
    starts: &'a [usize],
    original: &'a [u32],
    random: Random,
    /// By record.
    shuffled: Vec<u32>,
    /// Where people are counted, whose records are moved together.
    crowds: Option<Crowds>,
}

/// The records of every group, person after person.
struct Crowds {
    /// Records, group after group and in these person after person.
    order: Vec<usize>,
    /// By group, where each of its people begins and ends in `order`.
    of_groups: Vec<Vec<Range<usize>>>,
    /// The people with several records in a group; and those of them who have the same value in all of these.
    n_several: u64,
    n_same: u64,
}

impl Crowds {
    fn new(starts: &[usize], people: &[u32], values: &[u32]) -> Crowds {
        let mut order: Vec<usize> = (0..people.len()).collect();
        let mut of_group = |ends: &[usize]| {
            let group = &mut order[ends[0]..ends[1]];
            group.sort_by_key(|&i| people[i]);
            let mut start = ends[0];
            let records = group.chunk_by(|&a, &b| people[a] == people[b]).map(|records| {
                let first = start;
                start += records.len();
                first..start
            });
            records.collect::<Vec<Range<usize>>>()
        };
        let of_groups: Vec<Vec<Range<usize>>> = starts.windows(2).map(&mut of_group).collect();
        let several = of_groups.iter().flatten().filter(|records| records.len() > 1);
        let is_same = |records: &&Range<usize>| {
            order[(*records).clone()].windows(2).all(|pair| values[pair[0]] == values[pair[1]])
        };
        let (n_several, n_same) = (several.clone().count() as u64, several.filter(is_same).count() as u64);
        Crowds { order, of_groups, n_several, n_same }
    }
}

impl<'a> Shuffler<'a> {
    fn new(hidden: &Hidden<'a>, original: &'a [u32]) -> Shuffler<'a> {
        let crowds = hidden.people.map(|(people, _)| Crowds::new(hidden.starts, people, original));
        Shuffler { starts: hidden.starts, original, random: Random::new(0), shuffled: original.to_vec(), crowds }
    }

    /// The values by record, in another order. Of people, everybody gets what somebody else of the group has. Where that are
    /// fewer values than they have records, it is repeated as often as people have the same value in all of their records,
    /// and otherwise goes on with what a third has: a blood group stays one per person, and an event one per record.
    fn shuffle(&mut self) -> &[u32] {
        let Shuffler { starts, original, random, shuffled, crowds } = self;
        let Some(Crowds { order, of_groups, n_several, n_same }) = crowds else {
            starts.windows(2).for_each(|ends| random.shuffle(&mut shuffled[ends[0]..ends[1]]));
            return &self.shuffled;
        };
        for people in of_groups {
            let mut others = people.clone();
            random.shuffle(&mut others);
            for (i, records) in people.iter().enumerate() {
                let (mut giver, mut n_given) = (i, 0);
                let mut start = random.below(others[giver].len() as u64) as usize;
                for &record in &order[records.clone()] {
                    if n_given == others[giver].len() && random.below(*n_several) >= *n_same {
                        (giver, n_given) = ((giver + 1) % others.len(), 0);
                        start = random.below(others[giver].len() as u64) as usize;
                    }
                    n_given = if n_given == others[giver].len() { 1 } else { n_given + 1 };
                    let from = &others[giver];
                    shuffled[record] = original[order[from.start + (start + n_given - 1) % from.len()]];
                }
            }
        }
        &self.shuffled
    }
}

/// Tells again and again, in time and memory that are linear in the records.
struct Teller<'a> {
    hidden: &'a Hidden<'a>,
    /// Records by value.
    order: Vec<u32>,
    /// By record, the label that is told.
    told: Vec<u32>,
    /// By label, how many; all zero in between.
    n_of_label: Vec<u64>,
    /// By cell, for which value the best label was looked up last, and what it is.
    best: Vec<(u32, u32)>,
    /// By value and label, how many; by value and cell, the best label: where there are few of them.
    n_of_pair: Vec<u32>,
    best_of_pair: Vec<u32>,
    /// By person, the group in which one of their records tells nothing, and was counted last.
    untold_in: Vec<u32>,
    /// Label and person of what is told in a group.
    of_people: Vec<(u32, u32)>,
}

impl<'a> Teller<'a> {
    fn new(hidden: &'a Hidden<'a>) -> Teller<'a> {
        Teller {
            hidden,
            order: vec![0; hidden.cells.len()],
            told: vec![UNTOLD; hidden.cells.len()],
            n_of_label: vec![0; hidden.n_labels],
            best: vec![(UNTOLD, UNTOLD); hidden.cell_starts.len() - 1],
            n_of_pair: Vec::new(),
            best_of_pair: Vec::new(),
            untold_in: Vec::new(),
            of_people: Vec::new(),
        }
    }

    fn tell(&mut self, values: &[u32], is_shared: &[bool]) -> Told {
        let hidden = self.hidden;
        let n_widest = hidden.n_labels.max(hidden.behind.len()).max(self.best.len());
        if is_shared.len().saturating_mul(n_widest) <= hidden.cells.len() {
            self.tell_by_table(values, is_shared);
            return self.count();
        }
        self.best.fill((UNTOLD, UNTOLD));
        let mut start = 0;
        let ends = self.sort_by_value(values, is_shared.len());
        for ((value, &is_shared), end) in (0..).zip(is_shared).zip(ends) {
            match is_shared {
                true => self.tell_by(value, start..end),
                false => self.order[start..end].iter().for_each(|&i| self.told[i as usize] = UNTOLD),
            }
            start = end;
        }
        self.count()
    }

    /// Notes for every record the label that its value tells, from a table of values by labels: quicker than putting records
    /// together by value, where the table is no larger than the records are many.
    fn tell_by_table(&mut self, values: &[u32], is_shared: &[bool]) {
        let Teller { hidden, told, n_of_pair, best_of_pair, .. } = self;
        let (n_labels, n_cells) = (hidden.n_labels, hidden.cell_starts.len() - 1);
        n_of_pair.clear();
        n_of_pair.resize(is_shared.len() * n_labels, 0);
        best_of_pair.clear();
        best_of_pair.resize(is_shared.len() * n_cells, UNTOLD);
        for (&value, &label) in values.iter().zip(hidden.labels) {
            n_of_pair[value as usize * n_labels + label as usize] += 1;
        }
        for ((told, &value), &cell) in told.iter_mut().zip(values).zip(hidden.cells) {
            let best = &mut best_of_pair[value as usize * n_cells + cell as usize];
            if *best == UNTOLD && is_shared[value as usize] {
                let n_of_label = &n_of_pair[value as usize * n_labels..][..n_labels];
                let n_of = |label: &&u32| (n_of_label[**label as usize], std::cmp::Reverse(**label));
                *best = *hidden.labels_behind(cell).iter().max_by_key(n_of).expect("its own label is behind a cell");
            }
            *told = *best;
        }
    }

    /// Puts records with the same value together, and says where each value ends.
    fn sort_by_value(&mut self, values: &[u32], n_values: usize) -> Vec<usize> {
        let mut ends = vec![0; n_values];
        values.iter().for_each(|&value| ends[value as usize] += 1);
        let mut n = 0;
        for end in &mut ends {
            // For now, where the value begins; it moves to the end as its records are put down.
            n += std::mem::replace(end, n);
        }
        for (i, &value) in (0..).zip(values) {
            let place = &mut ends[value as usize];
            self.order[*place] = i;
            *place += 1;
        }
        ends
    }

    /// Notes for every record with a value the label that the value tells.
    fn tell_by(&mut self, value: u32, records: Range<usize>) {
        let Teller { hidden, order, told, n_of_label, best, .. } = self;
        let mut labels = Vec::new();
        for &i in &order[records.clone()] {
            let label = hidden.labels[i as usize];
            if n_of_label[label as usize] == 0 {
                labels.push(label);
            }
            n_of_label[label as usize] += 1;
        }
        labels.sort_unstable();
        for &i in &order[records] {
            let cell = hidden.cells[i as usize];
            let (of_value, best) = &mut best[cell as usize];
            if *of_value != value {
                let behind = hidden.labels_behind(cell);
                // Most records, and of several the first label; whichever list is shorter has all that matter.
                let n_of = |label: &&u32| (n_of_label[**label as usize], std::cmp::Reverse(**label));
                let most = match behind.len() <= labels.len() {
                    true => behind.iter().max_by_key(n_of),
                    false => labels.iter().filter(|label| behind.binary_search(label).is_ok()).max_by_key(n_of),
                };
                (*of_value, *best) = (value, *most.expect("the record's own label is behind its cell"));
            }
            told[i as usize] = *best;
        }
        labels.iter().for_each(|&label| n_of_label[label as usize] = 0);
    }

    /// Who is left among whom.
    fn count(&mut self) -> Told {
        let mut all = Told { n_shared: 0, n_told: 0, n_below: 0, fewest: None };
        self.untold_in.clear();
        self.untold_in.resize(self.hidden.people.map_or(0, |(_, n)| n), UNTOLD);
        for (group, ends) in (0..).zip(self.hidden.starts.windows(2)) {
            let n_untold = match self.hidden.people {
                Some((people, _)) => self.count_people(group, &people[ends[0]..ends[1]], ends[0]),
                None => self.count_records(ends[0]..ends[1]),
            };
            let (told, labels) = (&self.told[ends[0]..ends[1]], &self.hidden.labels[ends[0]..ends[1]]);
            for (label, _) in told.iter().zip(labels).filter(|(told, label)| told == label) {
                let n_left = self.n_of_label[*label as usize] + n_untold;
                all.n_told += 1;
                all.n_below += u64::from(n_left < self.hidden.k);
                all.fewest = Some(all.fewest.map_or(n_left, |fewest| fewest.min(n_left)));
            }
            all.n_shared += told.iter().filter(|label| **label != UNTOLD).count() as u64;
            told.iter().filter(|label| **label != UNTOLD).for_each(|&label| self.n_of_label[label as usize] = 0);
        }
        all
    }

    /// Counts the records of a group by the label that is told, and says how many tell nothing.
    fn count_records(&mut self, records: Range<usize>) -> u64 {
        let mut n_untold = 0;
        for &label in &self.told[records] {
            match label {
                UNTOLD => n_untold += 1,
                label => self.n_of_label[label as usize] += 1,
            }
        }
        n_untold
    }

    /// Counts the people of a group by the label that is told of them, but for those who have a record that tells nothing:
    /// these could be anybody, and are as many as it says.
    fn count_people(&mut self, group: u32, people: &[u32], first: usize) -> u64 {
        let Teller { told, n_of_label, untold_in, of_people, .. } = self;
        let told = &told[first..first + people.len()];
        let mut n_untold = 0;
        for (_, &person) in told.iter().zip(people).filter(|(label, _)| **label == UNTOLD) {
            n_untold += u64::from(std::mem::replace(&mut untold_in[person as usize], group) != group);
        }
        of_people.clear();
        let is_told = |(label, person): &(&u32, &u32)| **label != UNTOLD && untold_in[**person as usize] != group;
        of_people.extend(told.iter().zip(people).filter(is_told).map(|(label, person)| (*label, *person)));
        of_people.sort_unstable();
        of_people.dedup();
        of_people.iter().for_each(|(label, _)| n_of_label[*label as usize] += 1);
        n_untold
    }
}
