//! The two published ways to look for the best generalization of one record: BTDA and ARUBA.
//!
//! They are right where risk sinks with every generalization, and the walk only where something is out of reach.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::recode::per_record::models::Goal;
use crate::recode::per_record::record::Landscape;

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLevels {
    /// One level per attribute; none where nothing that was looked at will do.
    pub levels: Option<Vec<u8>>,
    /// How many generalizations were looked at: by `walk` for their utility, by the others for their risk.
    pub n_visited: usize,
    /// How many of these were looked at to choose between those that are equally good: by `optimum` only, as the published
    /// searches take any of them.
    pub n_for_ties: usize,
}

/// Numbers in order; none of ours is not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ordered(pub(super) f64);

impl Eq for Ordered {}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// One step of one attribute up (more general) or down; none at the end.
fn step(levels: &[u8], attribute: usize, is_up: bool, tops: &[u8]) -> Option<Vec<u8>> {
    let level = levels[attribute];
    let next = if is_up { (level < tops[attribute]).then(|| level + 1) } else { level.checked_sub(1) }?;
    let mut stepped = levels.to_vec();
    stepped[attribute] = next;
    Some(stepped)
}

/// BTDA (Fouad, Lebanon, Bertino 2008, Algorithm 1): from all-`*` downwards, least risk first. The dual goes from the
/// record itself upwards, greatest utility first; the scalar form goes down until no risk can be made up for by utility.
///
/// Right where no generalization has a greater risk than what it generalizes; the dual is right always.
pub fn best_first(landscape: &mut impl Landscape, goal: Goal) -> FoundLevels {
    let tops = landscape.tops();
    let bottom = vec![0; tops.len()];
    let most_utility = landscape.utility(&bottom);
    let is_up = matches!(goal, Goal::MostUtility { .. });
    let start = if is_up { bottom } else { tops.clone() };
    let mut n_visited = 0;
    let mut seen = FxHashSet::from_iter([start.clone()]);
    let mut queue = BinaryHeap::new();
    let mut push = |queue: &mut BinaryHeap<_>, landscape: &mut _, levels: Vec<u8>| {
        let (risk, utility) = (Landscape::risk(landscape, &levels), Landscape::utility(landscape, &levels));
        n_visited += 1;
        let key = if is_up { -(utility as f64) } else { risk };
        queue.push(Reverse((Ordered(key), levels, Ordered(risk), utility)));
    };
    push(&mut queue, landscape, start);
    let mut best: Option<(f64, Vec<u8>)> = None;
    while let Some(Reverse((_, levels, Ordered(risk), utility))) = queue.pop() {
        if let Some(cost) = goal.cost(risk, utility)
            && best.as_ref().is_none_or(|(least, _)| cost < *least)
        {
            best = Some((cost, levels.clone()));
        }
        let is_done = match goal {
            Goal::LeastRisk { .. } | Goal::MostUtility { .. } => best.is_some(),
            Goal::Scalar { .. } => {
                let bound = goal.cost(risk, most_utility);
                best.as_ref().is_some_and(|(least, _)| bound.is_some_and(|bound| bound >= *least))
            }
        };
        if is_done {
            break;
        }
        for attribute in 0..tops.len() {
            if let Some(next) = step(&levels, attribute, is_up, &tops)
                && seen.insert(next.clone())
            {
                push(&mut queue, landscape, next);
            }
        }
    }
    FoundLevels { levels: best.map(|(_, levels)| levels), n_visited, n_for_ties: 0 }
}

/// ARUBA (Algorithm 2), as published: from one frontier node to the next through their adjacency cubes. A frontier node
/// will do, and has an immediate generalization (for the dual: specialization) that will not.
///
/// Right where no generalization has a greater risk than what it generalizes, and something is out of reach: where
/// everything will do there is no frontier, and the walk ends before it begins. There is no walk for the scalar form.
pub fn walk(landscape: &mut impl Landscape, goal: Goal) -> FoundLevels {
    let tops = landscape.tops();
    let is_up = match goal {
        Goal::LeastRisk { .. } => true,
        Goal::MostUtility { .. } => false,
        Goal::Scalar { .. } => return FoundLevels { levels: None, n_visited: 0, n_for_ties: 0 },
    };
    let mut seen: FxHashMap<Vec<u8>, bool> = FxHashMap::default();
    let will_do = |landscape: &mut _, levels: &[u8], seen: &mut FxHashMap<Vec<u8>, bool>| {
        *seen.entry(levels.to_vec()).or_insert_with(|| match goal {
            Goal::LeastRisk { utility_at_least } => Landscape::utility(landscape, levels) >= utility_at_least,
            _ => goal.cost(Landscape::risk(landscape, levels), 0).is_some(),
        })
    };
    // From the end where everything will do, if anything does, straight on until a step is one too many.
    let mut at = if is_up { vec![0; tops.len()] } else { tops.clone() };
    let mut frontier = None;
    if will_do(landscape, &at, &mut seen) {
        'path: for attribute in 0..tops.len() {
            while let Some(next) = step(&at, attribute, is_up, &tops) {
                if !will_do(landscape, &next, &mut seen) {
                    frontier = Some(at);
                    break 'path;
                }
                at = next;
            }
        }
    }
    let Some(first) = frontier else { return FoundLevels { levels: None, n_visited: seen.len(), n_for_ties: 0 } };
    let mut found = FxHashSet::from_iter([first.clone()]);
    let mut open = vec![first];
    let mut best: Option<(f64, Vec<u8>)> = None;
    while let Some(levels) = open.pop() {
        let (risk, utility) = (landscape.risk(&levels), landscape.utility(&levels));
        if let Some(cost) = goal.cost(risk, utility)
            && best.as_ref().is_none_or(|(least, _)| cost <= *least)
        {
            best = Some((cost, levels.clone()));
        }
        let cube = cube(&levels, &tops);
        for near in &cube {
            will_do(landscape, near, &mut seen);
        }
        for near in cube {
            let beyond = |attribute| step(&near, attribute, is_up, &tops);
            let is_frontier =
                seen[&near] && (0..tops.len()).filter_map(beyond).any(|beyond| !will_do(landscape, &beyond, &mut seen));
            if is_frontier && found.insert(near.clone()) {
                open.push(near);
            }
        }
    }
    FoundLevels { levels: best.map(|(_, levels)| levels), n_visited: seen.len(), n_for_ties: 0 }
}

/// All that differ by at most one level in each attribute.
fn cube(levels: &[u8], tops: &[u8]) -> Vec<Vec<u8>> {
    let mut cube = vec![Vec::new()];
    for (&level, &top) in levels.iter().zip(tops) {
        let near = level.saturating_sub(1)..=top.min(level + 1);
        cube = cube.iter().flat_map(|begun| near.clone().map(|level| [&begun[..], &[level]].concat())).collect();
    }
    cube.retain(|near| near != levels);
    cube
}
