//! The published table from the counts alone: where all that is published was counted, no record is read again.

use std::cmp::Reverse;

use crate::counts::GroupCounts;
use crate::error::Result;
use crate::recode::Share;
use crate::release::{Column, Open, Origin, Publisher, Row, Turn, changed};
use crate::table::{Code, Domain};

/// Published records that say the same and come from the same group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// What each of them says.
    pub row: Row,
    /// Where they come from.
    pub origin: Origin,
    /// How many they are.
    pub n_records: u64,
}

/// Records of the table that are equal in all that was counted.
struct Equal<'a> {
    base: u32,
    /// By sensitive attribute, as the table has them.
    values: &'a [Code],
    /// Whose they are, where that matters.
    person: Option<Code>,
    n_records: u64,
}

/// Whether all that these columns show was counted, so that they can be published from the counts.
pub fn are_counted(columns: &[Column], as_read: &GroupCounts) -> bool {
    let is_counted = |name: &str| as_read.sensitive().iter().any(|domain| domain.name() == name);
    columns.iter().all(|column| match column {
        Column::Recoded(..) | Column::Low(..) | Column::High(..) => true,
        Column::Kept(name) => is_counted(name),
        Column::Person(names) => as_read.known_people().is_some_and(|people| people.columns() == names),
    })
}

impl Publisher<'_> {
    /// The published records of the whole table, in no order. `as_read` are the counts of the table with its values as it
    /// has them, of which those of this publisher were made; all columns have to be counted ([`are_counted`]).
    ///
    /// # Guarantee
    /// They are those that [`Publisher::recode`] and [`Publisher::settle`] give for the records that were counted.
    ///
    /// # Errors
    /// Where `visit` gives one, or the counts are not those that the recoding was made of.
    pub fn recode_counts(&mut self, as_read: &GroupCounts, mut visit: impl FnMut(Alike) -> Result<()>) -> Result<()> {
        assert!(are_counted(&self.columns, as_read), "only what was counted can be published from counts");
        if as_read.n_groups() != self.counts.n_groups() || as_read.n_records() != self.counts.n_records() {
            return Err(changed());
        }
        let knows_person = matches!(self.columns.last(), Some(Column::Person(_)))
            || self.counts.sensitive().len() > as_read.sensitive().len();
        let mut waiting: Vec<(Row, u64)> = Vec::new();
        let mut last_base = None;
        for_each_equal(as_read, knows_person, |equal| {
            if last_base.replace(equal.base) != Some(equal.base) {
                // Which of them join which group is settled by what is kept of all that wait for the same shares.
                self.settle_all(&mut waiting, &mut visit)?;
            }
            let codes = equal.values.iter().copied().chain(equal.person);
            let shares = self.shares_in(equal.base, codes)?;
            if shares.len() > 1 {
                let kept = self.columns.iter().filter_map(|column| kept_cell(column, &equal, as_read));
                waiting.push((Row::waiting(shares, kept.map(|text| text.map(str::to_string))), equal.n_records));
                return Ok(());
            }
            let Some(group) = self.take(shares.start, equal.n_records)? else { return Ok(()) };
            let kept = |place: usize| {
                let text = kept_cell(&self.columns[place], &equal, as_read).expect("a column that is kept");
                text.map(str::to_string)
            };
            let (row, origin) = (self.row(group, kept), Origin { base: equal.base, group });
            visit(Alike { row, origin, n_records: equal.n_records })
        })?;
        self.settle_all(&mut waiting, &mut visit)
    }

    /// Hands out the waiting records of a group of the counts, as [`Publisher::settle`] does one by one.
    fn settle_all(&mut self, waiting: &mut Vec<(Row, u64)>, visit: &mut impl FnMut(Alike) -> Result<()>) -> Result<()> {
        waiting.sort_unstable();
        waiting.drain(..).try_for_each(|(row, n_records)| self.settle_many(&row, n_records, &mut *visit))
    }

    /// The published records of so many equal waiting ones: what [`Publisher::settle`] says of them one by one.
    ///
    /// # Errors
    /// As of [`Publisher::settle`], and where `visit` gives one.
    pub fn settle_many(
        &mut self,
        waiting: &Row,
        n_records: u64,
        mut visit: impl FnMut(Alike) -> Result<()>,
    ) -> Result<()> {
        let (shares, kept) = waiting.without_shares();
        if self.open.as_ref().is_none_or(|open| open.shares != shares) {
            self.open = Some(Open::new(shares, self.recoding.all_shares()));
        }
        let all = self.recoding.all_shares();
        let taken = self.open.as_mut().and_then(|open| open.next_many(n_records, all)).ok_or_else(changed)?;
        let kept = kept.cells();
        for (share, n_records) in taken {
            let Some(group) = self.take(share, n_records)? else { continue };
            let mut kept = kept.iter().cloned();
            let row = self.row(group, |_| kept.next().expect("one cell per kept column"));
            visit(Alike { row, origin: Origin { base: self.base_of(share), group }, n_records })?;
        }
        Ok(())
    }
}

/// What equal records have in a column that is kept; nothing for other columns, and no text for "no value".
fn kept_cell<'a>(column: &Column, equal: &Equal, as_read: &'a GroupCounts) -> Option<Option<&'a str>> {
    let text = |domain: &'a Domain, code: Code| {
        (domain.missing() != Some(code)).then(|| domain.values()[code.index()].as_str())
    };
    match column {
        Column::Recoded(..) | Column::Low(..) | Column::High(..) => None,
        Column::Kept(name) => {
            let s = as_read.sensitive().iter().position(|domain| domain.name() == name).expect("it was counted");
            Some(text(&as_read.sensitive()[s], equal.values[s]))
        }
        Column::Person(_) => {
            let people = as_read.known_people().expect("it is known whose the records are");
            Some(text(&people.names, equal.person.expect("somebody's")))
        }
    }
}

/// Visits all records that were counted, equal ones at once, group after group.
fn for_each_equal(counts: &GroupCounts, knows_person: bool, mut visit: impl FnMut(Equal) -> Result<()>) -> Result<()> {
    let n_cells = if counts.sensitive().is_empty() { counts.n_groups() } else { counts.n_cells() };
    let people = counts.known_people().filter(|_| knows_person).map(|people| people.by_cell(n_cells));
    let mut cell = 0;
    for base in 0..counts.n_groups() {
        let mut visit_cell = |values: &[Code], n_records: u64| {
            let equal = |person: Option<Code>, n_records: u64| Equal { base: base as u32, values, person, n_records };
            cell += 1;
            match &people {
                Some(people) => {
                    people[cell - 1].iter().try_for_each(|&(person, n)| visit(equal(Some(Code(person)), n)))
                }
                None => visit(equal(None, n_records)),
            }
        };
        match counts.sensitive().is_empty() {
            true => visit_cell(&[], counts.size(base))?,
            false => counts.cells(base).try_for_each(|(values, n)| visit_cell(values, n))?,
        }
    }
    Ok(())
}

impl Open {
    /// The shares that the next so many records go to, with how many of them each gets: what asking one by one would say.
    /// None where there are fewer left.
    fn next_many(&mut self, n_records: u64, all: &[Share]) -> Option<Vec<(usize, u64)>> {
        let n_shares = self.shares.len() as u64;
        if n_records <= n_shares {
            let mut taken: Vec<usize> = (0..n_records).map(|_| self.next()).collect::<Option<_>>()?;
            taken.sort_unstable();
            return Some(taken.chunk_by(|one, other| one == other).map(|same| (same[0], same.len() as u64)).collect());
        }
        let before = self.n_given.clone();
        let (n_all, n_then) = (n_in(&all[self.shares.clone()]), before.iter().sum::<u64>() + n_records);
        if n_then > n_all {
            return None;
        }
        // All turns up to a point of the way that at most `n_then` turns stand before: of a share of n records, those up
        // to the part x of the way are n · x, rounded.
        let (n_before, n_all) = (u128::from(n_then - n_shares.min(n_then)), u128::from(n_all));
        let up_to = |share: &Share| (2 * u128::from(share.n_records) * n_before + n_all) / (2 * n_all);
        for (n_given, share) in self.n_given.iter_mut().zip(&all[self.shares.clone()]) {
            *n_given = (*n_given).max(up_to(share) as u64);
        }
        let places = self.shares.clone().zip(&all[self.shares.clone()]).zip(&self.n_given);
        let turn = |((share, of), n_given): ((usize, &Share), &u64)| {
            let turn = Turn { halves: 2 * n_given + 1, n_records: of.n_records, share };
            (*n_given < of.n_records).then_some(Reverse(turn))
        };
        self.turns = places.filter_map(turn).collect();
        while self.n_given.iter().sum::<u64>() < n_then {
            self.next()?;
        }
        let taken = self.shares.clone().zip(self.n_given.iter().zip(before));
        Some(taken.map(|(share, (after, before))| (share, after - before)).filter(|(_, n)| *n > 0).collect())
    }
}

fn n_in(shares: &[Share]) -> u64 {
    shares.iter().map(|share| share.n_records).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn many_at_once_go_where_they_would_go_one_by_one() {
        let mut random = Random::new(7);
        for _ in 0..500 {
            let n_shares = 2 + random.below(5) as usize;
            let share = |n_records: u64| Share { cell: None, group: None, n_records };
            let all: Vec<Share> = (0..n_shares).map(|_| share(1 + random.below(40) * random.below(9))).collect();
            let (mut at_once, mut singly) = (Open::new(0..n_shares, &all), Open::new(0..n_shares, &all));
            let mut n_left = n_in(&all);
            while n_left > 0 {
                let n = 1 + random.below(n_left);
                n_left -= n;
                let mut expected = vec![0; n_shares];
                (0..n).for_each(|_| expected[singly.next().expect("one is left")] += 1);
                let mut found = vec![0; n_shares];
                at_once.next_many(n, &all).expect("as many are left").iter().for_each(|(s, n)| found[*s] += n);
                assert_eq!(found, expected);
            }
            assert!(at_once.next_many(1, &all).is_none() && at_once.next_many(99, &all).is_none());
        }
    }
}
