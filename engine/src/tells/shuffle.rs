//! The values of a column in another order within every group, again and again.

use std::ops::Range;

use crate::random::Random;
use crate::tells::{Hidden, Rows};

/// Shuffles the values of a column within every group.
pub struct Shuffler<'a> {
    random: Random,
    way: Shuffled<'a>,
}

enum Shuffled<'a> {
    /// Records are dealt to labels.
    Records(Box<Deal>),
    /// All records of a person are moved together.
    People { hidden: &'a Hidden<'a>, original: &'a [u32], shuffled: Vec<u32>, crowds: Crowds },
}

impl<'a> Shuffler<'a> {
    pub fn new(hidden: &'a Hidden<'a>, original: &'a [u32]) -> Shuffler<'a> {
        let way = match hidden.people {
            Some((people, _)) => {
                let crowds = Crowds::new(hidden.starts, people, original);
                Shuffled::People { hidden, original, shuffled: original.to_vec(), crowds }
            }
            None => Shuffled::Records(Box::new(Deal::new(hidden, original))),
        };
        Shuffler { random: Random::new(0), way }
    }

    /// The records, each with the value of any of its group.
    pub fn shuffle(&mut self) -> Rows<'_> {
        match &mut self.way {
            Shuffled::Records(deal) => deal.shuffle(&mut self.random),
            Shuffled::People { hidden, original, shuffled, crowds } => {
                crowds.shuffle(original, shuffled, &mut self.random);
                hidden.rows(shuffled)
            }
        }
    }
}

/// What is to be dealt in every group: its values, to as many records of each label as there are.
struct Deal {
    /// By record, group after group.
    values: Vec<u32>,
    /// By group, where its labels end, and each label with how many records have it, the most frequent last: what the others
    /// leave is dealt without drawing.
    ends: Vec<usize>,
    labels: Vec<(u32, usize)>,
    /// By value, how many have been dealt to a label; all zero in between.
    n_of_value: Vec<u64>,
    dealt: Dealt,
}

/// Rows of labels and values.
#[derive(Default)]
struct Dealt {
    starts: Vec<usize>,
    labels: Vec<u32>,
    values: Vec<u32>,
    n_alike: Vec<u64>,
}

impl Deal {
    fn new(hidden: &Hidden, original: &[u32]) -> Deal {
        let n_values = original.iter().max().map_or(0, |value| *value as usize + 1);
        let (mut values, mut ends, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_of_label = vec![0; hidden.n_labels];
        for group in hidden.starts.windows(2) {
            let first = labels.len();
            let rows = group[0]..group[1];
            let labelled = hidden.labels[rows.clone()].iter().zip(&hidden.n_alike[rows.clone()]);
            for (value, (&label, &n)) in original[rows].iter().zip(labelled) {
                let n = n as usize;
                values.extend(std::iter::repeat_n(*value, n));
                if n_of_label[label as usize] == 0 {
                    labels.push((label, 0));
                }
                n_of_label[label as usize] += n;
            }
            for (label, n) in &mut labels[first..] {
                *n = std::mem::take(&mut n_of_label[*label as usize]);
            }
            labels[first..].sort_unstable_by_key(|(label, n)| (*n, *label));
            ends.push(labels.len());
        }
        Deal { values, ends, labels, n_of_value: vec![0; n_values], dealt: Dealt::default() }
    }

    fn shuffle(&mut self, random: &mut Random) -> Rows<'_> {
        let Deal { values, ends, labels, n_of_value, dealt } = self;
        dealt.clear();
        let (mut first_label, mut first) = (0, 0);
        for &end in ends.iter() {
            dealt.starts.push(dealt.labels.len());
            let labels = &labels[first_label..end];
            let n_records: usize = labels.iter().map(|(_, n)| n).sum();
            let mut left = &mut values[first..first + n_records];
            for (i, &(label, n)) in labels.iter().enumerate() {
                if i + 1 < labels.len() {
                    draw(left, n, random);
                }
                let (drawn, others) = left.split_at_mut(n);
                dealt.add(label, drawn, n_of_value);
                left = others;
            }
            (first_label, first) = (end, first + n_records);
        }
        dealt.starts.push(dealt.labels.len());
        dealt.rows()
    }
}

/// Draws so many by lot, and puts them first.
fn draw(values: &mut [u32], n: usize, random: &mut Random) {
    for i in 0..n {
        values.swap(i, i + random.below((values.len() - i) as u64) as usize);
    }
}

impl Dealt {
    fn clear(&mut self) {
        self.starts.clear();
        self.labels.clear();
        self.values.clear();
        self.n_alike.clear();
    }

    /// A row for every different value that is dealt to a label.
    fn add(&mut self, label: u32, values: &[u32], n_of_value: &mut [u64]) {
        let first = self.values.len();
        for &value in values {
            let n = &mut n_of_value[value as usize];
            if *n == 0 {
                self.values.push(value);
            }
            *n += 1;
        }
        self.labels.resize(self.values.len(), label);
        self.n_alike.extend(self.values[first..].iter().map(|value| std::mem::take(&mut n_of_value[*value as usize])));
    }

    fn rows(&self) -> Rows<'_> {
        Rows { starts: &self.starts, labels: &self.labels, values: &self.values, n_alike: &self.n_alike }
    }
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

    /// The values by record, in another order: everybody gets what somebody else of the group has. Where that are fewer
    /// values than they have records, it is repeated as often as people have the same value in all of their records, and
    /// otherwise goes on with what a third has: a blood group stays one per person, and an event one per record.
    fn shuffle(&self, original: &[u32], shuffled: &mut [u32], random: &mut Random) {
        let Crowds { order, of_groups, n_several, n_same } = self;
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the values 0, 1, 2, 2 for the labels 0, 0, 1, 2, each label has each value as often as it should.
    #[test]
    fn every_label_gets_its_share_of_every_value() {
        let (starts, labels, values, n_alike) = ([0, 3], [0, 1, 2], [0, 1, 2], [2, 1, 1]);
        let hidden = Hidden::new(&starts, &[0], &labels, &n_alike, 2);
        let mut shuffler = Shuffler::new(&hidden, &values);
        let mut n_of = [[0; 3]; 3];
        for _ in 0..24_000 {
            let rows = shuffler.shuffle();
            assert_eq!(rows.starts, [0, rows.labels.len()]);
            for ((&label, &value), &n) in rows.labels.iter().zip(rows.values).zip(rows.n_alike) {
                n_of[label as usize][value as usize] += n;
            }
        }
        // Labels have two, one and one record; values two, one and one: a pair comes n · m / 4 times per shuffle.
        for (label, n) in [2, 1, 1].into_iter().enumerate() {
            for (value, m) in [2, 1, 1].into_iter().enumerate() {
                let expected = 6_000 * n * m;
                let found: u64 = n_of[label][value];
                assert!(found.abs_diff(expected) < 400, "label {label}, value {value}: {found}, about {expected}");
            }
        }
    }
}
