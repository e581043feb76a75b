//! Groups that stay together while others are made of them: what one stage of growing joins and divides.

use crate::recode::partition::Part;
use crate::recode::settle::Join;
use crate::recode::space::{Side, Space};
use crate::recode::tree::shape::unite;

/// The groups of the stage before, each of which is one part; and how many records make a group of this stage.
pub(crate) struct Atoms<'a> {
    pub(crate) space: &'a Space,
    /// By atom, one box after the other.
    pub(crate) sides: Vec<Side>,
    pub(crate) k: u64,
}

/// Up to so many atoms, all ways to divide them in two are tried; of more, those along lines.
const N_ALL_WAYS: usize = 7;

impl Atoms<'_> {
    pub(crate) fn box_of(&self, atom: u32) -> &[Side] {
        let n = self.space.n_axes();
        &self.sides[atom as usize * n..(atom as usize + 1) * n]
    }

    /// The best division in two that both have k records; none where there is none.
    fn cut(&self, parts: &[Part]) -> Option<[Vec<Part>; 2]> {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        if n_records < 2 * self.k || parts.len() < 2 {
            return None;
        }
        match parts.len() <= N_ALL_WAYS {
            true => self.best_of_all(parts),
            false => self.best_along_lines(parts),
        }
    }

    fn best_of_all(&self, parts: &[Part]) -> Option<[Vec<Part>; 2]> {
        let mut best: Option<(u64, u32)> = None;
        // The first part is always on the first side.
        for others in 0..(1u32 << (parts.len() - 1)) - 1 {
            let first = others << 1 | 1;
            let of_side = |is_first: bool| {
                let is_meant = move |i: usize| (first >> i & 1 == 1) == is_first;
                (0..parts.len()).filter(move |&i| is_meant(i))
            };
            let n_of = |is_first: bool| of_side(is_first).map(|i| parts[i].n_records).sum::<u64>();
            let n = [n_of(true), n_of(false)];
            if n[0] < self.k || n[1] < self.k {
                continue;
            }
            let cost = |is_first: bool| self.cost_of(of_side(is_first).map(|i| parts[i].base));
            let loss = n[0] * cost(true) + n[1] * cost(false);
            if best.is_none_or(|(least, _)| loss < least) {
                best = Some((loss, first));
            }
        }
        let (_, first) = best?;
        let side = |is_first: bool| {
            let is_meant = |i: &usize| (first >> i & 1 == 1) == is_first;
            (0..parts.len()).filter(is_meant).map(|i| parts[i]).collect()
        };
        Some([side(true), side(false)])
    }

    fn cost_of(&self, mut atoms: impl Iterator<Item = u32>) -> u64 {
        let mut sides = self.box_of(atoms.next().expect("a side has atoms")).to_vec();
        atoms.for_each(|atom| unite(&mut sides, self.box_of(atom)));
        self.space.cost(&sides)
    }

    /// Along the line between two atoms that are far apart, and along every axis.
    fn best_along_lines(&self, parts: &[Part]) -> Option<[Vec<Part>; 2]> {
        let apart = |one: u32, other: u32| self.space.cost_of_union(self.box_of(one), self.box_of(other));
        let farthest = |from: u32| {
            let far = parts.iter().map(|part| (apart(from, part.base), std::cmp::Reverse(part.base))).max();
            far.expect("a class is not empty").1.0
        };
        let first = parts.iter().map(|part| part.base).min().expect("a class is not empty");
        let one = farthest(first);
        let other = farthest(one);
        let along = |part: &Part| apart(one, part.base) as i64 - apart(other, part.base) as i64;
        let mut best: Option<(u64, Vec<Part>, usize)> = None;
        let mut consider = |key: &dyn Fn(&Part) -> i64| {
            let mut line = parts.to_vec();
            line.sort_by_cached_key(|part| (key(part), *part));
            if let Some((loss, at)) = self.best_of_line(&line)
                && best.as_ref().is_none_or(|(least, ..)| loss < *least)
            {
                best = Some((loss, line, at));
            }
        };
        consider(&along);
        for axis in 0..self.space.n_axes() {
            consider(&|part: &Part| {
                let (low, high) = self.box_of(part.base)[axis];
                i64::from(low) + i64::from(high)
            });
        }
        let (_, mut line, at) = best?;
        let high = line.split_off(at);
        Some([line, high])
    }

    /// The least loss where a line is cut, and the place.
    fn best_of_line(&self, line: &[Part]) -> Option<(u64, usize)> {
        let after: Vec<(u64, u64)> = self.walk(line.iter().rev());
        let before = self.walk(line.iter());
        let cuts = (1..line.len()).filter_map(|at| {
            let ((n_low, low), (n_high, high)) = (before[at - 1], after[line.len() - 1 - at]);
            (n_low >= self.k && n_high >= self.k).then(|| (n_low * low + n_high * high, at))
        });
        cuts.min()
    }

    /// For every atom on the way, how many records it and those before it have, and what that costs each.
    fn walk<'p>(&self, line: impl Iterator<Item = &'p Part>) -> Vec<(u64, u64)> {
        let (mut n_records, mut sides) = (0, Vec::new());
        line.map(|part| {
            n_records += part.n_records;
            match sides.is_empty() {
                true => sides = self.box_of(part.base).to_vec(),
                false => unite(&mut sides, self.box_of(part.base)),
            }
            (n_records, self.space.cost(&sides))
        })
        .collect()
    }
}

impl<'a> Join<'a> for Atoms<'a> {
    fn space(&self) -> &'a Space {
        self.space
    }

    fn around(&self, parts: &[Part]) -> Vec<Side> {
        let mut sides = self.box_of(parts[0].base).to_vec();
        parts[1..].iter().for_each(|part| unite(&mut sides, self.box_of(part.base)));
        sides
    }

    fn is_enough(&mut self, n_records: u64, _: &[Part]) -> bool {
        n_records >= self.k
    }

    fn pieces(&mut self, parts: Vec<Part>) -> Vec<Vec<Part>> {
        let mut pieces = Vec::new();
        let mut whole = vec![parts];
        while let Some(parts) = whole.pop() {
            match self.cut(&parts) {
                Some([low, high]) => whole.extend([high, low]),
                None => pieces.push(parts),
            }
        }
        pieces
    }
}
