//! Dividing a class in two that both keep every criterion.

use std::cmp::Reverse;

use crate::error::Result;
use crate::recode::enough::{Scale, SlotTally};
use crate::recode::partition::{Part, put_together};
use crate::recode::space::{Side, Space};
use crate::task::Task;

/// What dividing needs to know.
pub(crate) struct Cutter<'a> {
    pub(crate) space: &'a Space,
    pub(crate) scale: &'a Scale<'a>,
    /// Records that every class has at least.
    pub(crate) k: u64,
    pub(crate) task: &'a Task<'a>,
}

/// A part of a class is cut into so many pieces at most, and so many places of a line are looked at.
const N_PLACES: usize = 256;

impl Cutter<'_> {
    /// What the records of a class lose together.
    pub(crate) fn loss(&self, parts: &[Part]) -> u64 {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        n_records * self.space.cost(&self.space.around(parts.iter().map(|part| part.base)))
    }

    /// Divides a class again and again, as long as every piece keeps everything; it comes back whole where that cannot
    /// be, or saves nothing.
    pub(crate) fn pieces(&self, parts: Vec<Part>) -> Result<Vec<Vec<Part>>> {
        let mut pieces = Vec::new();
        let mut whole = vec![parts];
        while let Some(parts) = whole.pop() {
            match self.cut(&parts)? {
                Some([low, high]) => whole.extend([high, low]),
                None => pieces.push(parts),
            }
        }
        Ok(pieces)
    }

    /// Divides a class in two that both keep everything, with the least loss along one of some lines: the one between
    /// two parts that are far apart, and every axis. Equal records may go both ways. None where that cannot be, or saves
    /// nothing.
    pub(crate) fn cut(&self, parts: &[Part]) -> Result<Option<[Vec<Part>; 2]>> {
        self.task.go_on()?;
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let sides = self.space.around(parts.iter().map(|part| part.base));
        let loss = n_records * self.space.cost(&sides);
        if n_records < 2 * self.k || loss == 0 {
            return Ok(None);
        }
        let atoms = atoms(parts, n_records);
        let mut lines = vec![self.in_order(&atoms, &self.between_far(parts))];
        for axis in (0..sides.len()).filter(|&axis| sides[axis].0 < sides[axis].1) {
            lines.push(self.in_order(&atoms, &|base| i64::from(self.space.places(base)[axis])));
        }
        let mut cuts: Vec<(u64, usize, usize)> = Vec::new();
        for (number, line) in lines.iter().enumerate() {
            let first = cuts.len();
            self.cuts_along(line, &atoms, |loss_of_cut, at| {
                if loss_of_cut < loss {
                    cuts.push((loss_of_cut, number, at));
                }
            });
            // Where there are many records, both sides of all places at once.
            if line.len() > N_PLACES {
                let places: Vec<usize> = cuts[first..].iter().map(|&(_, _, at)| at).collect();
                let mut keeps = self.keeping(line, &atoms, &places)?.into_iter();
                let mut i = 0;
                cuts.retain(|_| {
                    i += 1;
                    i <= first || keeps.next().expect("one for every place")
                });
            }
        }
        cuts.sort_unstable();
        let part = |atom: &u32| &atoms[*atom as usize].0;
        let holds = |line: &[u32]| self.scale.holds(&self.scale.tally(line.iter().map(part)));
        let cut = cuts.into_iter().find(|&(_, number, at)| {
            let (low, high) = lines[number].split_at(at);
            lines[number].len() > N_PLACES || holds(low) && holds(high)
        });
        let Some((_, number, at)) = cut else { return Ok(None) };
        let (low, high) = lines[number].split_at(at);
        Ok(Some([low, high].map(|line| put_together(line.iter().map(part).copied().collect()))))
    }

    /// Whether both sides keep everything where a line is cut before each of some places, which increase.
    pub(crate) fn keeping(&self, line: &[u32], atoms: &[(Part, u64)], places: &[usize]) -> Result<Vec<bool>> {
        let part = |atom: &u32| &atoms[*atom as usize].0;
        let (mut low, mut high) = (SlotTally::default(), SlotTally::default());
        let mut keeps = vec![true; places.len()];
        let mut at = 0;
        for (keeps, &place) in keeps.iter_mut().zip(places) {
            self.task.go_on()?;
            self.scale.add(&mut low, line[at..place].iter().map(part));
            at = place;
            *keeps = self.scale.holds(&low);
        }
        let mut at = line.len();
        for (keeps, &place) in keeps.iter_mut().zip(places).rev() {
            self.task.go_on()?;
            self.scale.add(&mut high, line[place..at].iter().map(part));
            at = place;
            *keeps = *keeps && self.scale.holds(&high);
        }
        Ok(keeps)
    }

    /// Calls `consider` with what is lost where a line is cut before a place, and with the place.
    fn cuts_along(&self, line: &[u32], atoms: &[(Part, u64)], mut consider: impl FnMut(u64, usize)) {
        let after = self.walk(line.iter().rev(), atoms);
        let before = self.walk(line.iter(), atoms);
        let n_between = line.len().div_ceil(N_PLACES);
        for at in (1..line.len()).filter(|at| at % n_between == 0) {
            let ((n_low, cost_low), (n_high, cost_high)) = (before[at - 1], after[line.len() - 1 - at]);
            if n_low >= self.k && n_high >= self.k {
                consider(n_low * cost_low + n_high * cost_high, at);
            }
        }
    }

    /// For every atom on the way, how many records it and those before it have, and what that costs each.
    fn walk<'l>(&self, line: impl Iterator<Item = &'l u32>, atoms: &[(Part, u64)]) -> Vec<(u64, u64)> {
        let mut sides: Vec<Side> = Vec::new();
        let (mut n_records, mut cost, mut last) = (0, 0, None);
        line.map(|&atom| {
            let part = &atoms[atom as usize].0;
            n_records += part.n_records;
            if last != Some(part.base) {
                match sides.is_empty() {
                    true => sides = self.space.point(part.base),
                    false => self.space.widen(&mut sides, part.base),
                }
                cost = self.space.cost(&sides);
                last = Some(part.base);
            }
            (n_records, cost)
        })
        .collect()
    }

    /// Where groups stand along the line between two that are far apart.
    fn between_far<'s>(&'s self, parts: &[Part]) -> impl Fn(u32) -> i64 + use<'s> {
        let space = self.space;
        let farthest = |from: u32| {
            let distances = parts.iter().map(|part| (space.distance(from, part.base), Reverse(part.base)));
            distances.max().expect("a class is not empty").1.0
        };
        let first = parts.iter().map(|part| part.base).min().expect("a class is not empty");
        let one = farthest(first);
        let other = farthest(one);
        move |base| space.distance(one, base) as i64 - space.distance(other, base) as i64
    }

    /// Atoms along a line; equal records take turns by their sensitive values.
    pub(crate) fn in_order(&self, atoms: &[(Part, u64)], along: &dyn Fn(u32) -> i64) -> Vec<u32> {
        let mut keys: Vec<(i64, u32, u64, u32)> =
            (0..).zip(atoms).map(|(i, (part, turn))| (along(part.base), part.base, *turn, i)).collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, _, _, i)| i).collect()
    }
}

/// Parts as small as it makes sense to move them, each with its turn among equal records: so that the first half of
/// these has half of each sensitive value.
pub(crate) fn atoms(parts: &[Part], n_records: u64) -> Vec<(Part, u64)> {
    let n_each = n_records.div_ceil(N_PLACES as u64).max(1);
    let mut sorted = parts.to_vec();
    sorted.sort_unstable();
    let mut atoms = Vec::with_capacity(parts.len());
    for part in sorted {
        let n_atoms = part.n_records.div_ceil(n_each);
        for i in 0..n_atoms {
            let n_before = part.n_records * i / n_atoms;
            let n_records = part.n_records * (i + 1) / n_atoms - n_before;
            atoms.push((Part { n_records, ..part }, (2 * i + 1) * (u64::from(u32::MAX) / (2 * n_atoms))));
        }
    }
    atoms
}
