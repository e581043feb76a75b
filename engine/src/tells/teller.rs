//! What is told of whom, and among how many they are left.

use std::cmp::Reverse;
use std::ops::Range;

use crate::tells::{Hidden, Kept, Rows, Told, UNTOLD};

/// What a column tells about an attribute.
///
/// A value that is shared tells, of the labels behind the cell that is published, the one that most records with this
/// value have (of several, the first). A record is told where that is its own label. It is then left among the records of
/// its group to which the same label is told, and those whose value nobody shares and that tell nothing; where people are
/// counted, among the different people whose records these are.
pub fn told(hidden: &Hidden, kept: &Kept) -> Told {
    Teller::new(hidden).tell(hidden.rows(kept.values), kept.is_shared)
}

/// Tells again and again, in time and memory that are linear in the rows.
pub struct Teller<'a> {
    hidden: &'a Hidden<'a>,
    /// Rows by value, and by row its group.
    order: Vec<u32>,
    group_of: Vec<u32>,
    /// By row, the label that is told.
    told: Vec<u32>,
    /// By label, how many records; all zero in between.
    n_of_label: Vec<u64>,
    /// By cell, for which value the best label was looked up last, and what it is.
    best: Vec<(u32, u32)>,
    /// By value and label, how many; by value and cell, the best label: where there are few of them.
    n_of_pair: Vec<u64>,
    best_of_pair: Vec<u32>,
    /// By person, the group in which one of their records tells nothing, and was counted last.
    untold_in: Vec<u32>,
    /// Label and person of what is told in a group.
    of_people: Vec<(u32, u32)>,
}

impl<'a> Teller<'a> {
    pub fn new(hidden: &'a Hidden<'a>) -> Teller<'a> {
        Teller {
            hidden,
            order: Vec::new(),
            group_of: Vec::new(),
            told: Vec::new(),
            n_of_label: vec![0; hidden.n_labels],
            best: vec![(UNTOLD, UNTOLD); hidden.cell_starts.len() - 1],
            n_of_pair: Vec::new(),
            best_of_pair: Vec::new(),
            untold_in: Vec::new(),
            of_people: Vec::new(),
        }
    }

    /// What the rows tell, which are those of the attribute or have its labels and values in every group.
    pub fn tell(&mut self, rows: Rows, is_shared: &[bool]) -> Told {
        let hidden = self.hidden;
        self.told.resize(rows.values.len(), UNTOLD);
        let n_widest = hidden.n_labels.max(hidden.behind.len()).max(self.best.len());
        match is_shared.len().saturating_mul(n_widest) <= rows.values.len() {
            true => self.tell_by_table(rows, is_shared),
            false => self.tell_by_order(rows, is_shared),
        }
        self.count(rows)
    }

    /// Notes for every row the label that its value tells, from a table of values by labels: quicker than putting rows
    /// together by value, where the table is no larger than the rows are many.
    fn tell_by_table(&mut self, rows: Rows, is_shared: &[bool]) {
        let Teller { hidden, told, n_of_pair, best_of_pair, .. } = self;
        let (n_labels, n_cells) = (hidden.n_labels, hidden.cell_starts.len() - 1);
        n_of_pair.clear();
        n_of_pair.resize(is_shared.len() * n_labels, 0);
        best_of_pair.clear();
        best_of_pair.resize(is_shared.len() * n_cells, UNTOLD);
        for ((&value, &label), &n) in rows.values.iter().zip(rows.labels).zip(rows.n_alike) {
            n_of_pair[value as usize * n_labels + label as usize] += n;
        }
        for (&cell, ends) in hidden.cells.iter().zip(rows.starts.windows(2)) {
            for (told, &value) in told[ends[0]..ends[1]].iter_mut().zip(&rows.values[ends[0]..ends[1]]) {
                let best = &mut best_of_pair[value as usize * n_cells + cell as usize];
                if *best == UNTOLD && is_shared[value as usize] {
                    let n_of_label = &n_of_pair[value as usize * n_labels..][..n_labels];
                    let n_of = |label: &&u32| (n_of_label[**label as usize], Reverse(**label));
                    *best =
                        *hidden.labels_behind(cell).iter().max_by_key(n_of).expect("its own label is behind a cell");
                }
                *told = *best;
            }
        }
    }

    /// The same where values or labels are many: value after value.
    fn tell_by_order(&mut self, rows: Rows, is_shared: &[bool]) {
        self.best.fill((UNTOLD, UNTOLD));
        self.group_of.clear();
        for (group, ends) in (0..).zip(rows.starts.windows(2)) {
            self.group_of.resize(ends[1], group);
        }
        let mut start = 0;
        let ends = self.sort_by_value(rows.values, is_shared.len());
        for ((value, &is_shared), end) in (0..).zip(is_shared).zip(ends) {
            match is_shared {
                true => self.tell_by(value, rows, start..end),
                false => self.order[start..end].iter().for_each(|&i| self.told[i as usize] = UNTOLD),
            }
            start = end;
        }
    }

    /// Puts rows with the same value together, and says where each value ends.
    fn sort_by_value(&mut self, values: &[u32], n_values: usize) -> Vec<usize> {
        let mut ends = vec![0; n_values];
        values.iter().for_each(|&value| ends[value as usize] += 1);
        let mut n = 0;
        for end in &mut ends {
            // For now, where the value begins; it moves to the end as its rows are put down.
            n += std::mem::replace(end, n);
        }
        self.order.resize(values.len(), 0);
        for (i, &value) in (0..).zip(values) {
            let place = &mut ends[value as usize];
            self.order[*place] = i;
            *place += 1;
        }
        ends
    }

    /// Notes for every row with a value the label that the value tells.
    fn tell_by(&mut self, value: u32, rows: Rows, of_value: Range<usize>) {
        let Teller { hidden, order, group_of, told, n_of_label, best, .. } = self;
        let mut labels = Vec::new();
        for &i in &order[of_value.clone()] {
            let label = rows.labels[i as usize];
            if n_of_label[label as usize] == 0 {
                labels.push(label);
            }
            n_of_label[label as usize] += rows.n_alike[i as usize];
        }
        labels.sort_unstable();
        for &i in &order[of_value] {
            let cell = hidden.cells[group_of[i as usize] as usize];
            let (known, best) = &mut best[cell as usize];
            if *known != value {
                let behind = hidden.labels_behind(cell);
                // Most records, and of several the first label; whichever list is shorter has all that matter.
                let n_of = |label: &&u32| (n_of_label[**label as usize], Reverse(**label));
                let most = match behind.len() <= labels.len() {
                    true => behind.iter().max_by_key(n_of),
                    false => labels.iter().filter(|label| behind.binary_search(label).is_ok()).max_by_key(n_of),
                };
                (*known, *best) = (value, *most.expect("the record's own label is behind its cell"));
            }
            told[i as usize] = *best;
        }
        labels.iter().for_each(|&label| n_of_label[label as usize] = 0);
    }

    /// Who is left among whom.
    fn count(&mut self, rows: Rows) -> Told {
        let mut all = Told { n_shared: 0, n_told: 0, n_below: 0, fewest: None };
        self.untold_in.clear();
        self.untold_in.resize(self.hidden.people.map_or(0, |(_, n)| n), UNTOLD);
        for (group, ends) in (0..).zip(rows.starts.windows(2)) {
            let (told, n_alike) = (ends[0]..ends[1], &rows.n_alike[ends[0]..ends[1]]);
            let n_untold = match self.hidden.people {
                Some((people, _)) => self.count_people(group, &people[told.clone()], ends[0]),
                None => self.count_records(told.clone(), n_alike),
            };
            let told = &self.told[told];
            for ((&told, &label), &n) in told.iter().zip(&rows.labels[ends[0]..ends[1]]).zip(n_alike) {
                if told == label {
                    let n_left = self.n_of_label[label as usize] + n_untold;
                    all.n_told += n;
                    all.n_below += if n_left < self.hidden.k { n } else { 0 };
                    all.fewest = Some(all.fewest.map_or(n_left, |fewest| fewest.min(n_left)));
                }
                all.n_shared += if told == UNTOLD { 0 } else { n };
            }
            told.iter().filter(|label| **label != UNTOLD).for_each(|&label| self.n_of_label[label as usize] = 0);
        }
        all
    }

    /// Counts the records of a group by the label that is told, and says how many tell nothing.
    fn count_records(&mut self, rows: Range<usize>, n_alike: &[u64]) -> u64 {
        let mut n_untold = 0;
        for (&label, &n) in self.told[rows].iter().zip(n_alike) {
            match label {
                UNTOLD => n_untold += n,
                label => self.n_of_label[label as usize] += n,
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
