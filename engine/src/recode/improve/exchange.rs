//! Records that move to another class, or change places with others, as long as the classes lose less together.

use crate::recode::improve::Rules;
use crate::recode::partition::{Part, put_together};
use crate::recode::space::{Side, Space};

/// A class, and what is known of its box.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    pub(crate) parts: Vec<Part>,
    n_records: u64,
    sides: Vec<Side>,
    ends: Vec<Ends>,
    /// By part, whether the box is narrower without it: it stands alone at an end of it. Most do not.
    stands_out: Vec<bool>,
    /// Of one record.
    cost: u64,
}

/// The next lower and the next higher place on an axis, and how many parts stand at its ends.
#[derive(Clone, Copy, Debug)]
struct Ends {
    n_low: u32,
    next_low: u32,
    n_high: u32,
    next_high: u32,
}

/// Records that leave a class, and those that come for them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    gain: u64,
    from: usize,
    to: usize,
    moving: Vec<Part>,
    back: Option<Part>,
}

impl Sharing {
    pub(crate) fn new(space: &Space, parts: Vec<Part>) -> Sharing {
        let sides = space.around(parts.iter().map(|part| part.base));
        let ends: Vec<Ends> = (0..sides.len()).map(|axis| Ends::of(space, &parts, axis, sides[axis])).collect();
        let n_records = parts.iter().map(|part| part.n_records).sum();
        let stands_out = |part: &Part| {
            let mut at = sides.iter().zip(&ends).zip(space.places(part.base));
            at.any(|((side, ends), &place)| ends.is_alone_low(*side, place) || ends.is_alone_high(*side, place))
        };
        let stands_out = parts.iter().map(stands_out).collect();
        Sharing { cost: space.cost(&sides), parts, n_records, sides, ends, stands_out }
    }

    /// What its records lose together.
    pub(crate) fn loss(&self) -> u64 {
        self.n_records * self.cost
    }

    /// What a record costs when another part is there too.
    fn cost_with(&self, space: &Space, base: u32) -> u64 {
        space.cost_with(&self.sides, space.places(base))
    }

    /// What is left of its box without one part, of several.
    fn without(&self, space: &Space, base: u32, sides: &mut Vec<Side>) {
        sides.clear();
        for ((&side, ends), &place) in self.sides.iter().zip(&self.ends).zip(space.places(base)) {
            let low = if ends.is_alone_low(side, place) { ends.next_low } else { side.0 };
            let high = if ends.is_alone_high(side, place) { ends.next_high } else { side.1 };
            sides.push((low, high));
        }
    }
}

impl Ends {
    fn of(space: &Space, parts: &[Part], axis: usize, (low, high): Side) -> Ends {
        let mut ends = Ends { n_low: 0, next_low: high, n_high: 0, next_high: low };
        for part in parts {
            let place = space.places(part.base)[axis];
            match place == low {
                true => ends.n_low += 1,
                false => ends.next_low = ends.next_low.min(place),
            }
            match place == high {
                true => ends.n_high += 1,
                false => ends.next_high = ends.next_high.max(place),
            }
        }
        ends
    }

    /// Whether what stands at a place is all that holds the lower side where it is.
    fn is_alone_low(&self, side: Side, place: u32) -> bool {
        place == side.0 && self.n_low == 1
    }

    fn is_alone_high(&self, side: Side, place: u32) -> bool {
        place == side.1 && self.n_high == 1
    }
}

/// How many changes are made at most, and how many are tried before it is enough that none keeps what it must.
const N_CHANGES: usize = 256;
const N_REFUSED: usize = 24;

/// Lets records move and change places until nothing is won by it any more.
pub(crate) fn exchange(space: &Space, rules: &dyn Rules, groups: &mut [Sharing]) {
    // Pairs of which one has changed since they were looked at.
    let mut is_new = vec![true; groups.len()];
    let mut known: Vec<Change> = Vec::new();
    for _ in 0..N_CHANGES {
        known.retain(|change| !is_new[change.from] && !is_new[change.to]);
        for from in 0..groups.len() {
            for to in (0..groups.len()).filter(|&to| to != from && (is_new[from] || is_new[to])) {
                moves(space, rules, groups, from, to, &mut known);
                swaps(space, rules, groups, from, to, &mut known);
            }
        }
        is_new.fill(false);
        known.sort_unstable_by(|a, b| b.cmp(a));
        let made = known.iter().take(N_REFUSED).find_map(|change| {
            let [from, to] = changed(groups, change);
            (rules.keeps(&from) && rules.keeps(&to)).then_some((change.from, from, change.to, to))
        });
        let Some((from, of_from, to, of_to)) = made else { return };
        groups[from] = Sharing::new(space, of_from);
        groups[to] = Sharing::new(space, of_to);
        (is_new[from], is_new[to]) = (true, true);
    }
}

/// The two classes after a change.
fn changed(groups: &[Sharing], change: &Change) -> [Vec<Part>; 2] {
    let less = |parts: &[Part], gone: &[Part]| -> Vec<Part> {
        let left = |part: &Part| {
            let n_gone: u64 = gone
                .iter()
                .filter(|gone| (gone.base, gone.value) == (part.base, part.value))
                .map(|gone| gone.n_records)
                .sum();
            Some(Part { n_records: part.n_records - n_gone, ..*part }).filter(|left| left.n_records > 0)
        };
        parts.iter().filter_map(left).collect()
    };
    let back: &[Part] = change.back.as_slice();
    let mut from = less(&groups[change.from].parts, &change.moving);
    from.extend(back);
    let mut to = less(&groups[change.to].parts, back);
    to.extend(&change.moving);
    [from, to].map(put_together)
}

/// Adds the moves from one class to another by which less is lost.
fn moves(space: &Space, rules: &dyn Rules, groups: &[Sharing], from: usize, to: usize, found: &mut Vec<Change>) {
    let (ours, theirs) = (&groups[from], &groups[to]);
    let n_spare = ours.n_records.saturating_sub(rules.k());
    if n_spare == 0 {
        return;
    }
    let before = ours.loss() + theirs.loss();
    let mut consider = |moving: &[Part], cost_left: u64, cost_there: u64| {
        let n: u64 = moving.iter().map(|part| part.n_records).sum();
        let after = (ours.n_records - n) * cost_left + (theirs.n_records + n) * cost_there;
        if after < before {
            found.push(Change { gain: before - after, from, to, moving: moving.to_vec(), back: None });
        }
    };
    let mut sides = Vec::new();
    for (part, &stands_out) in ours.parts.iter().zip(&ours.stands_out) {
        let cost_there = theirs.cost_with(space, part.base);
        match part.n_records <= n_spare {
            true if stands_out => {
                ours.without(space, part.base, &mut sides);
                consider(&[*part], space.cost(&sides), cost_there);
            }
            true => consider(&[*part], ours.cost, cost_there),
            false => consider(&[Part { n_records: n_spare, ..*part }], ours.cost, cost_there),
        }
    }
    // All that stands at an end.
    for (axis, ends) in ours.ends.iter().enumerate() {
        let (low, high) = ours.sides[axis];
        for (end, n_there) in [(low, ends.n_low), (high, ends.n_high)] {
            if n_there < 2 || low == high {
                continue;
            }
            let is_there = |part: &&Part| space.places(part.base)[axis] == end;
            let (moving, left): (Vec<&Part>, Vec<&Part>) = ours.parts.iter().partition(is_there);
            if moving.iter().map(|part| part.n_records).sum::<u64>() > n_spare {
                continue;
            }
            let moving: Vec<Part> = moving.into_iter().copied().collect();
            let cost_left = space.cost(&space.around(left.iter().map(|part| part.base)));
            let mut there = theirs.sides.clone();
            moving.iter().for_each(|part| space.widen(&mut there, part.base));
            consider(&moving, cost_left, space.cost(&there));
        }
    }
}

/// Adds the changes of places by which less is lost and the first class becomes narrower: one of its parts, for as many
/// records of the other class or fewer.
fn swaps(space: &Space, rules: &dyn Rules, groups: &[Sharing], from: usize, to: usize, found: &mut Vec<Change>) {
    let (ours, theirs) = (&groups[from], &groups[to]);
    if ours.parts.len() < 2 {
        return;
    }
    let before = ours.loss() + theirs.loss();
    let (mut left, mut there) = (Vec::new(), Vec::new());
    for (part, _) in ours.parts.iter().zip(&ours.stands_out).filter(|(_, stands_out)| **stands_out) {
        ours.without(space, part.base, &mut left);
        // What is won at most.
        let cost_left = space.cost(&left);
        if cost_left == ours.cost {
            continue;
        }
        // What theirs costs with the part, where nothing goes that holds their box open.
        let cost_beside = theirs.cost_with(space, part.base);
        for (back, &stands_out) in theirs.parts.iter().zip(&theirs.stands_out) {
            let n_back = back.n_records.min(part.n_records);
            let (n_ours, n_theirs) =
                (ours.n_records - part.n_records + n_back, theirs.n_records + part.n_records - n_back);
            if n_ours < rules.k() || (back.base, back.value) == (part.base, part.value) {
                continue;
            }
            let cost_there = match n_back == back.n_records && stands_out {
                false => cost_beside,
                true if theirs.parts.len() == 1 => space.distance(part.base, part.base),
                true => {
                    theirs.without(space, back.base, &mut there);
                    space.cost_with(&there, space.places(part.base))
                }
            };
            // Where nothing is won even if what comes costs nothing, it need not be looked at: so it is with most.
            if n_ours * cost_left + n_theirs * cost_there >= before {
                continue;
            }
            let cost_ours = space.cost_with(&left, space.places(back.base));
            let after = n_ours * cost_ours + n_theirs * cost_there;
            if cost_ours < ours.cost && after < before {
                let back = Some(Part { n_records: n_back, ..*back });
                found.push(Change { gain: before - after, from, to, moving: vec![*part], back });
            }
        }
    }
}
