//! Quasi-identifiers as axes: how far apart values are, and what it costs to publish a box of them.
//!
//! The values of an attribute stand in a row: numbers and dates by size, a missing one last; categories as they stand
//! in their hierarchy, so that the values below any label follow each other. Records that become one group are then
//! published as a box, with a lowest and a highest place on every axis, and uniting two groups is a minimum and a
//! maximum. The closest common ancestor of a box of categories is that of its two ends.
//! Numbers that are published as labels are categories here.

use crate::counts::{GroupCounts, number};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::loss::{LOSS_ONE, Penalties, Steps, balanced};
use crate::table::Code;

/// The lowest and the highest place on one axis.
pub(crate) type Side = (u32, u32);

/// All quasi-identifiers of a table, and where its groups stand.
pub(crate) struct Space {
    pub(crate) axes: Vec<Axis>,
    /// The place of every group of the counts on every axis, group by group.
    places: Vec<u32>,
    /// Where all axes have few places.
    tables: Option<Tables>,
}

/// One quasi-identifier.
pub(crate) struct Axis {
    pub(crate) is_numeric: bool,
    measure: Measure,
    /// What it costs a record to be suppressed.
    whole: u32,
}

/// What a side costs one record, in steps of the loss, weight included.
enum Measure {
    /// By lowest and highest place: few values.
    Table { n: usize, steps: Vec<u32> },
    /// Numbers: the difference, or the whole axis where it is not even known whether there is a value.
    Line { at: Vec<u32>, missing: u32, whole: u32 },
    /// Categories: by level, the label above each place and what it costs.
    Tree { levels: Vec<Vec<(u32, u32)>> },
    /// The same of many categories, told by their ways.
    Ways(Ways),
}

/// The ways from the top of a tree to its places, from which it is seen where two of them part: to compare labels level
/// by level is, where there are many places, a visit to main memory for each.
struct Ways {
    /// By place, which of its siblings each label above it is: the levels side by side in bits, the highest first.
    of_place: Vec<u32>,
    /// By the number of leading zeros of what differs between two ways, the level of the label that they share.
    level_shared: [u8; 33],
    /// By level, what its labels cost.
    costs: Vec<Costs>,
}

/// The tables of all axes, one after the other: nothing has to be asked about an axis but where its table begins.
struct Tables {
    /// By axis, where its table begins, and how many places it has.
    of_axis: Vec<(u32, u32)>,
    steps: Vec<u32>,
}

impl Tables {
    fn of(axes: &[Axis]) -> Option<Tables> {
        let mut tables = Tables { of_axis: Vec::with_capacity(axes.len()), steps: Vec::new() };
        for axis in axes {
            let Measure::Table { n, steps } = &axis.measure else { return None };
            tables.of_axis.push((number(tables.steps.len()), number(*n)));
            tables.steps.extend_from_slice(steps);
        }
        Some(tables)
    }

    #[inline(always)]
    fn cost_of(&self, sides: impl Iterator<Item = Side>) -> Steps {
        let cost = |(&(start, n), (low, high)): (&(u32, u32), Side)| self.steps[(start + low * n + high) as usize];
        // All axes together cost about one.
        u64::from(self.of_axis.iter().zip(sides).map(cost).sum::<u32>())
    }
}

/// Up to this many values, penalties of all pairs are looked up: 64 kB, which stay in the processor's cache.
const N_TABLE_MAX: usize = 128;

impl Space {
    /// Hierarchies and weights belong to the quasi-identifiers of the counts in order.
    pub(crate) fn new(counts: &GroupCounts, hierarchies: &[Hierarchy], weights: &[f64]) -> Result<Space> {
        let penalties = Penalties::new(hierarchies, weights)?;
        let weights = balanced(hierarchies, weights)?;
        let total: f64 = weights.iter().sum();
        let (axes, place_of): (Vec<Axis>, Vec<Vec<u32>>) = hierarchies
            .iter()
            .zip(&weights)
            .enumerate()
            .map(|(a, (hierarchy, weight))| axis(hierarchy, &penalties, a, weight / total))
            .unzip();
        let place = |(a, code): (usize, &Code)| place_of[a][code.index()];
        let places = (0..counts.n_groups()).flat_map(|base| counts.codes(base).iter().enumerate().map(place)).collect();
        let tables = Tables::of(&axes);
        Ok(Space { axes, places, tables })
    }

    pub(crate) fn n_axes(&self) -> usize {
        self.axes.len()
    }

    /// Where a group of the counts stands on every axis.
    #[inline]
    pub(crate) fn places(&self, base: u32) -> &[u32] {
        let n = self.axes.len();
        &self.places[base as usize * n..(base as usize + 1) * n]
    }

    /// The box of one group of the counts.
    pub(crate) fn point(&self, base: u32) -> Vec<Side> {
        self.places(base).iter().map(|&place| (place, place)).collect()
    }

    /// What a box costs each of its records.
    pub(crate) fn cost(&self, sides: &[Side]) -> Steps {
        self.cost_of(sides.iter().copied())
    }

    /// What these sides, by axis, cost each record together.
    #[inline(always)]
    fn cost_of(&self, sides: impl Iterator<Item = Side>) -> Steps {
        match &self.tables {
            Some(tables) => tables.cost_of(sides),
            None => self.axes.iter().zip(sides).map(|(axis, (low, high))| u64::from(axis.cost(low, high))).sum(),
        }
    }

    /// What the box around two boxes costs each record.
    #[inline]
    pub(crate) fn cost_of_union(&self, ours: &[Side], theirs: &[Side]) -> Steps {
        self.cost_of_union_up_to(Steps::MAX, ours, theirs)
    }

    /// The same where it is at most so much; else anything that is more, and no more than it costs.
    #[inline(always)]
    pub(crate) fn cost_of_union_up_to(&self, most: Steps, ours: &[Side], theirs: &[Side]) -> Steps {
        let sides = ours.iter().zip(theirs).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        // To look into a few more tables takes no longer than to guess wrongly where it could be stopped.
        if let Some(tables) = &self.tables {
            return tables.cost_of(sides);
        }
        let mut cost = 0;
        for (axis, (low, high)) in self.axes.iter().zip(sides) {
            cost += u64::from(axis.cost(low, high));
            if cost > most {
                break;
            }
        }
        cost
    }

    /// What a box costs each record when a group of the counts that stands at these places is added.
    #[inline]
    pub(crate) fn cost_with(&self, sides: &[Side], places: &[u32]) -> Steps {
        self.cost_of(sides.iter().zip(places).map(|(side, &place)| (side.0.min(place), side.1.max(place))))
    }

    /// What the box around two groups of the counts costs each record: how far apart they are.
    #[inline]
    pub(crate) fn distance(&self, one: u32, other: u32) -> Steps {
        self.distance_between(self.places(one), self.places(other))
    }

    /// The same for groups that stand at these places.
    #[inline]
    pub(crate) fn distance_between(&self, one: &[u32], other: &[u32]) -> Steps {
        self.cost_of(one.iter().zip(other).map(|(&a, &b)| (a.min(b), a.max(b))))
    }

    /// Widens a box to hold a group of the counts.
    #[inline]
    pub(crate) fn widen(&self, sides: &mut [Side], base: u32) {
        widen(sides, self.places(base));
    }

    /// The box around some groups of the counts, of which there is at least one.
    pub(crate) fn around(&self, bases: impl IntoIterator<Item = u32>) -> Vec<Side> {
        let mut bases = bases.into_iter();
        let mut sides = self.point(bases.next().expect("a box holds something"));
        bases.for_each(|base| self.widen(&mut sides, base));
        sides
    }
}

/// Widens a box to hold these places.
#[inline]
pub(crate) fn widen(sides: &mut [Side], places: &[u32]) {
    for (side, &place) in sides.iter_mut().zip(places) {
        *side = (side.0.min(place), side.1.max(place));
    }
}

impl Axis {
    /// What it costs one record where nothing is said of it.
    pub(crate) fn whole(&self) -> u32 {
        self.whole
    }

    /// What a side costs one record; never less than a side within it.
    ///
    /// It is what local recoding does most: a call for every side would take as long as the answer.
    #[inline(always)]
    pub(crate) fn cost(&self, low: u32, high: u32) -> u32 {
        match &self.measure {
            Measure::Table { n, steps } => steps[low as usize * n + high as usize],
            Measure::Line { missing, whole, .. } if high == *missing => whole * u32::from(low < high),
            Measure::Line { at, .. } => at[high as usize] - at[low as usize],
            Measure::Tree { .. } | Measure::Ways(_) => self.cost_of_labels(low, high),
        }
    }

    fn cost_of_labels(&self, low: u32, high: u32) -> u32 {
        match &self.measure {
            Measure::Table { .. } | Measure::Line { .. } => unreachable!("they need no labels"),
            Measure::Tree { .. } | Measure::Ways(_) if low == high => 0,
            Measure::Tree { levels } => {
                let shared = levels.iter().find(|level| level[low as usize].0 == level[high as usize].0);
                shared.expect("all values share the top")[low as usize].1
            }
            Measure::Ways(ways) => ways.cost(low, high),
        }
    }
}

/// What the labels of one level cost.
enum Costs {
    /// By what is left of a way without so many bits.
    ByWay(u32, Vec<u32>),
    /// By place, where most ways would lead nowhere.
    ByPlace(Vec<u32>),
}

impl Ways {
    /// By level, the label above each place and what it costs; the top is last, and places below one label follow each
    /// other. None where ways are too long.
    fn new(levels: &[Vec<(u32, u32)>]) -> Option<Ways> {
        let (top, below) = levels.split_last()?;
        let n_places = top.len();
        let mut of_place = vec![0u64; n_places];
        // By level, from the highest below the top.
        let mut widths = Vec::new();
        for (level, above) in below.iter().rev().zip(levels.iter().rev()) {
            let siblings = siblings(level, above);
            let width = siblings.iter().max().map_or(0, |most| 32 - most.leading_zeros());
            widths.push(width);
            if widths.iter().sum::<u32>() > N_BITS_MAX {
                return None;
            }
            of_place.iter_mut().zip(siblings).for_each(|(way, sibling)| *way = *way << width | u64::from(sibling));
        }
        widths.reverse();
        let n_bits: u32 = widths.iter().sum();
        let bits_below: Vec<u32> = (0..levels.len()).map(|level| widths[..level].iter().sum()).collect();
        let costs = |(level, &bits): (&Vec<(u32, u32)>, &u32)| {
            if 1 << (n_bits - bits) > n_places {
                return Costs::ByPlace(level.iter().map(|(_, cost)| *cost).collect());
            }
            let mut costs = vec![0; 1 << (n_bits - bits)];
            level.iter().zip(&of_place).for_each(|((_, cost), way)| costs[(way >> bits) as usize] = *cost);
            Costs::ByWay(bits, costs)
        };
        // The level above that in which the highest bit lies that differs.
        let level_shared = |n_zeros: usize| bits_below.iter().filter(|bits| **bits as usize + n_zeros < 32).count();
        Some(Ways {
            level_shared: std::array::from_fn(|n_zeros| level_shared(n_zeros).min(levels.len() - 1) as u8),
            costs: levels.iter().zip(&bits_below).map(costs).collect(),
            of_place: of_place.into_iter().map(|way| way as u32).collect(),
        })
    }

    #[inline]
    fn cost(&self, low: u32, high: u32) -> u32 {
        let way = self.of_place[low as usize];
        let differs = way ^ self.of_place[high as usize];
        match &self.costs[usize::from(self.level_shared[differs.leading_zeros() as usize])] {
            Costs::ByWay(bits, costs) => costs[(way >> bits) as usize],
            Costs::ByPlace(costs) => costs[low as usize],
        }
    }
}

/// The longest ways, in bits.
const N_BITS_MAX: u32 = 30;

/// By place, how many labels of a level stand before its own below the same label of the level above.
fn siblings(level: &[(u32, u32)], above: &[(u32, u32)]) -> Vec<u32> {
    let (mut before, mut sibling) = (None, 0);
    let number = |(&(label, _), &(parent, _)): (&(u32, u32), &(u32, u32))| {
        match before.replace((label, parent)) {
            Some((_, known)) if known != parent => sibling = 0,
            Some((known, _)) if known != label => sibling += 1,
            _ => {}
        }
        sibling
    };
    level.iter().zip(above).map(number).collect()
}

/// The axis of a quasi-identifier, and the place of each of its values by code.
fn axis(hierarchy: &Hierarchy, penalties: &Penalties, attribute: usize, weight: f64) -> (Axis, Vec<u32>) {
    let n_values = hierarchy.level(0).len();
    let mut code_at: Vec<Code> = (0..n_values as u32).map(Code).collect();
    let positions = hierarchy.offsets().filter(|_| !hierarchy.is_by_label());
    let measure = match &positions {
        // Codes are in the order of numbers already, and a missing value is last.
        Some(positions) => {
            let known = || positions.iter().flatten().copied();
            let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
            let whole = weight * LOSS_ONE as f64;
            let step = |at: f64| ((at - low) / (high - low) * whole).round() as u32;
            let missing = positions.iter().position(Option::is_none).map_or(u32::MAX, |place| place as u32);
            match high > low {
                true => Measure::Line {
                    at: positions.iter().map(|at| at.map_or(0, step)).collect(),
                    missing,
                    whole: whole.round() as u32,
                },
                // Several ways to write one number: not to say which is to say nothing.
                false => Measure::Tree { levels: vec![vec![(0, whole.round() as u32); n_values]] },
            }
        }
        None => {
            let labels = |code: &Code| -> Vec<Code> {
                hierarchy.levels().iter().rev().map(|level| level.of_base()[code.index()]).collect()
            };
            code_at.sort_by_cached_key(labels);
            let level = |level: usize| {
                let label = |code: &Code| hierarchy.level(level).of_base()[code.index()];
                let steps = penalties.of(attribute, level);
                code_at.iter().map(|code| (label(code).0, steps[label(code).index()])).collect()
            };
            Measure::Tree { levels: (1..hierarchy.n_levels()).map(level).collect() }
        }
    };
    let mut place_of = vec![0; n_values];
    (0..).zip(&code_at).for_each(|(place, code)| place_of[code.index()] = place);
    let whole = (weight * LOSS_ONE as f64).round() as u32;
    let mut axis = Axis { is_numeric: positions.is_some(), measure, whole };
    if n_values <= N_TABLE_MAX {
        let pairs = (0..n_values * n_values).map(|i| (i / n_values, i % n_values));
        let cost = |(low, high)| if low <= high { axis.cost(low as u32, high as u32) } else { 0 };
        axis.measure = Measure::Table { n: n_values, steps: pairs.map(cost).collect() };
    } else if let Measure::Tree { levels } = &axis.measure
        && let Some(ways) = Ways::new(levels)
    {
        axis.measure = Measure::Ways(ways);
    }
    (axis, place_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// What two places have in common is what comparing their labels level by level finds, in trees of any shape.
    #[test]
    fn ways_part_where_labels_differ() {
        let mut random = Random::new(5);
        let mut n_with_ways = 0;
        for _ in 0..200 {
            let (n_places, n_levels) = (1 + random.below(60) as usize, 1 + random.below(5) as usize);
            // From the top, each level cuts what is below a label at some more places; names are in no order.
            let mut is_cut = vec![false; n_places];
            let mut levels = Vec::new();
            for level in (0..n_levels).rev() {
                let share = random.below(4);
                let cut = |is_cut: &mut bool| *is_cut |= level < n_levels - 1 && random.below(4) < share;
                is_cut.iter_mut().skip(1).for_each(cut);
                let mut label = 0;
                let labels = is_cut.iter().map(|is_cut| {
                    label += u32::from(*is_cut);
                    (label ^ 0b101, 1_000 * level as u32 + label)
                });
                levels.insert(0, labels.collect::<Vec<_>>());
            }
            let Some(ways) = Ways::new(&levels) else { continue };
            n_with_ways += 1;
            let compared = Axis { is_numeric: false, whole: 0, measure: Measure::Tree { levels } };
            for (low, high) in
                (0..n_places as u32).flat_map(|low| (low + 1..n_places as u32).map(move |high| (low, high)))
            {
                assert_eq!(ways.cost(low, high), compared.cost(low, high));
            }
        }
        assert!(n_with_ways > 100, "{n_with_ways} trees");
    }
}
