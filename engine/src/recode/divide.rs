//! Dividing a class into smaller ones that are still large and diverse enough.

use crate::counts::GroupCounts;
use crate::recode::partition::{Least, Part};
use crate::recode::space::{Side, Space};

/// What dividing needs to know, and room to count in.
pub(crate) struct Divider<'a> {
    pub(crate) space: &'a Space,
    pub(crate) least: Least,
    /// By sensitive value, when it was last seen.
    seen: Vec<u32>,
    now: u32,
}

impl<'a> Divider<'a> {
    pub(crate) fn new(space: &'a Space, counts: &'a GroupCounts, least: Least) -> Divider<'a> {
        let n_values = least.l.map_or(0, |_| counts.sensitive()[least.sensitive].len());
        Divider { space, least, seen: vec![0; n_values], now: 0 }
    }

    /// Whether a class may be published.
    pub(crate) fn is_enough(&mut self, n_records: u64, parts: &[Part]) -> bool {
        n_records >= self.least.k && self.is_diverse(parts)
    }

    fn is_diverse(&mut self, parts: &[Part]) -> bool {
        let Some(l) = self.least.l else { return true };
        let mut n_distinct = 0;
        self.forget();
        for part in parts {
            n_distinct += u64::from(self.is_new(part));
            if n_distinct >= l {
                return true;
            }
        }
        false
    }

    fn forget(&mut self) {
        self.now = self.now.wrapping_add(1);
        if self.now == 0 {
            self.seen.fill(0);
            self.now = 1;
        }
    }

    /// Whether a part's sensitive value was not seen since everything was forgotten; never where it does not matter.
    fn is_new(&mut self, part: &Part) -> bool {
        let Some(value) = part.value else { return false };
        let is_new = self.seen[value.index()] != self.now;
        self.seen[value.index()] = self.now;
        is_new
    }

    /// Divides records with the same quasi-identifiers into as many classes as can be, of sizes that differ by one at
    /// most.
    ///
    /// They are dealt like cards, one sensitive value after the other and rare ones first, so that every class gets as
    /// many different ones as any way of dealing can give to all of them.
    pub(crate) fn deal(&self, mut parts: Vec<Part>) -> Vec<Vec<Part>> {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let l = self.least.l.unwrap_or(1);
        // With fewer classes every one gets more, so that the greatest number can be found by halving.
        let is_possible =
            |n_classes: u64| parts.iter().map(|part| part.n_records.min(n_classes)).sum::<u64>() >= n_classes * l;
        let (mut n_classes, mut too_many) = (1, n_records / self.least.k + 1);
        while n_classes + 1 < too_many {
            let middle = (n_classes + too_many) / 2;
            match is_possible(middle) {
                true => n_classes = middle,
                false => too_many = middle,
            }
        }
        parts.sort_unstable_by_key(|part| (part.n_records, part.value));
        let mut classes = vec![Vec::new(); n_classes as usize];
        let mut next = 0;
        for part in parts {
            let (n_each, n_more) = (part.n_records / n_classes, part.n_records % n_classes);
            for i in 0..n_classes {
                let is_one_more = (i + n_classes - next) % n_classes < n_more;
                let n_records = n_each + u64::from(is_one_more);
                if n_records > 0 {
                    classes[i as usize].push(Part { n_records, ..part });
                }
            }
            next = (next + n_more) % n_classes;
        }
        classes
    }

    /// Divides a class again and again, as long as every piece is enough; it comes back whole where that cannot be.
    ///
    /// Without diversity, pieces have at least k records and at most 2k − 1.
    pub(crate) fn pieces(&mut self, parts: Vec<Part>) -> Vec<Vec<Part>> {
        let mut pieces = Vec::new();
        let mut whole = vec![parts];
        while let Some(parts) = whole.pop() {
            match self.cut(&parts) {
                Some((low, high)) => whole.extend([high, low]),
                None => pieces.push(parts),
            }
        }
        pieces
    }

    /// Divides a class in two that are both enough, with the least loss along the line between two of its parts that
    /// are far apart; equal records may go both ways. None where that cannot be.
    fn cut(&mut self, parts: &[Part]) -> Option<(Vec<Part>, Vec<Part>)> {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let k = self.least.k;
        if n_records < 2 * k {
            return None;
        }
        let space = self.space;
        let farthest = |from: u32| {
            let distances = parts.iter().map(|part| space.distance(from, part.base));
            // The first of several, whatever their order: the lowest group.
            let far = distances.zip(parts).max_by_key(|(distance, part)| (*distance, std::cmp::Reverse(part.base)));
            far.expect("a class is not empty").1.base
        };
        let first = parts.iter().map(|part| part.base).min().expect("a class is not empty");
        let one = farthest(first);
        let other = farthest(one);
        let along = |part: &Part| space.distance(one, part.base) as i64 - space.distance(other, part.base) as i64;
        let mut line = parts.to_vec();
        line.sort_by_cached_key(|part| (along(part), *part));

        // What lies before each place of the line, and what lies from there on.
        let before = self.walk(line.iter());
        let mut after = self.walk(line.iter().rev());
        after.reverse();
        let n_distinct_least = self.least.l.unwrap_or(0);
        let mut best: Option<(u64, usize, u64)> = None;
        // The first `n_low` records, where the part at `i` is cut in two or ends the lower piece.
        let mut consider = |i: usize, n_low: u64, low: &Walked, high: &Walked| {
            let is_enough = n_low >= k
                && n_records - n_low >= k
                && low.n_distinct >= n_distinct_least
                && high.n_distinct >= n_distinct_least;
            let loss = n_low * low.cost + (n_records - n_low) * high.cost;
            if is_enough && best.is_none_or(|(least, ..)| loss < least) {
                best = Some((loss, i, n_low));
            }
        };
        for i in 0..line.len() {
            let n_until = before[i].n_records;
            let n_before = n_until - line[i].n_records;
            for n_low in [k, n_records - k] {
                if n_before < n_low && n_low < n_until {
                    consider(i, n_low, &before[i], &after[i]);
                }
            }
            if i + 1 < line.len() {
                consider(i, n_until, &before[i], &after[i + 1]);
            }
        }
        let (_, i, n_low) = best?;
        let n_here = n_low - (before[i].n_records - line[i].n_records);
        let mut high = line.split_off(i);
        line.push(Part { n_records: n_here, ..high[0] });
        high[0].n_records -= n_here;
        if high[0].n_records == 0 {
            high.remove(0);
        }
        Some((line, high))
    }

    /// A class that is not enough with the records that it lacks, those of another that widen it least, and what is left of
    /// that one; none where one of the two would not be enough.
    pub(crate) fn taken(&mut self, ours: &[Part], theirs: &[Part]) -> Option<[Vec<Part>; 2]> {
        let n_of = |parts: &[Part]| parts.iter().map(|part| part.n_records).sum::<u64>();
        let (n_ours, n_theirs) = (n_of(ours), n_of(theirs));
        let mut n_lacking = self.least.k.checked_sub(n_ours).filter(|&n| n > 0 && n_theirs >= self.least.k + n)?;
        let sides = self.space.around(ours.iter().map(|part| part.base));
        let mut line = theirs.to_vec();
        line.sort_by_cached_key(|part| (self.space.cost_with(&sides, self.space.places(part.base)), *part));
        let (mut taken, mut rest) = (ours.to_vec(), Vec::new());
        for part in line {
            let n = part.n_records.min(n_lacking);
            n_lacking -= n;
            taken.extend((n > 0).then_some(Part { n_records: n, ..part }));
            rest.extend((n < part.n_records).then_some(Part { n_records: part.n_records - n, ..part }));
        }
        (self.is_diverse(&taken) && self.is_diverse(&rest)).then_some([taken, rest])
    }

    /// Divides a class in two that are both enough, at the place of one axis that is nearest to its middle record; the
    /// parts beyond it are returned. None where that cannot be.
    ///
    /// Categories are cut between two values below their closest common ancestor.
    /// Where records at the place may go both ways, numbers are cut at the middle record itself, and categories where
    /// no cut between two of them will do: it would leave both sides with the label of the whole as often as not.
    pub(crate) fn halves(&mut self, parts: &mut Vec<Part>, axis: usize, both_ways: bool) -> Option<Vec<Part>> {
        let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
        let k = self.least.k;
        if n_records < 2 * k {
            return None;
        }
        let space = self.space;
        let place = |part: &Part| space.places(part.base)[axis];
        parts.sort_unstable_by_key(|part| (place(part), *part));
        let (lowest, highest) = (place(&parts[0]), place(&parts[parts.len() - 1]));
        let whole = space.axes[axis].cost(lowest, highest);
        // Where to cut: before the part at this place, of which so many records are left below; last resorts come last.
        let mut cuts: Vec<(bool, u64, usize, u64)> = Vec::new();
        let mut n_below = 0;
        for i in 0..parts.len() {
            if i > 0 && place(&parts[i - 1]) < place(&parts[i]) {
                let (low, high) = (place(&parts[i - 1]), place(&parts[i]));
                // A cut within a label changes nothing about what is published of either side.
                let is_between = space.axes[axis].is_numeric || space.axes[axis].cost(low, high) == whole;
                if is_between && n_below >= k && n_records - n_below >= k {
                    cuts.push((false, n_below.abs_diff(n_records - n_below), i, 0));
                }
            }
            let n_half = n_records / 2;
            if both_ways && n_below <= n_half && n_half < n_below + parts[i].n_records {
                let is_last_resort = !space.axes[axis].is_numeric;
                cuts.push((is_last_resort, n_half.abs_diff(n_records - n_half), i, n_half - n_below));
            }
            n_below += parts[i].n_records;
        }
        cuts.sort_unstable();
        let cut = cuts.into_iter().find(|&(_, _, i, n_low)| {
            let last = i + usize::from(n_low > 0);
            self.is_diverse(&parts[..last]) && self.is_diverse(&parts[i..])
        });
        let (_, _, i, n_low) = cut?;
        let mut high = parts.split_off(i);
        if n_low > 0 {
            parts.push(Part { n_records: n_low, ..high[0] });
            high[0].n_records -= n_low;
        }
        Some(high)
    }

    /// For every part on the way, what it and those before it are together.
    fn walk<'p>(&mut self, parts: impl Iterator<Item = &'p Part>) -> Vec<Walked> {
        self.forget();
        let mut sides: Vec<Side> = Vec::new();
        let mut walked = Walked { n_records: 0, n_distinct: 0, cost: 0 };
        parts
            .map(|part| {
                match sides.is_empty() {
                    true => sides = self.space.point(part.base),
                    false => self.space.widen(&mut sides, part.base),
                }
                walked.n_records += part.n_records;
                walked.n_distinct += u64::from(self.is_new(part));
                walked.cost = self.space.cost(&sides);
                walked
            })
            .collect()
    }
}

#[derive(Clone, Copy)]
struct Walked {
    n_records: u64,
    n_distinct: u64,
    /// Of one record.
    cost: u64,
}
