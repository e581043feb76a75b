//! Three ways to look for the best generalization of one record, with one interface.
//!
//! `best_first` and `walk` are the published ones (BTDA and ARUBA). They are right where risk sinks with every
//! generalization, and the walk only where something is out of reach. `optimum` is ours: right everywhere.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::recode::per_record::{Goal, Near, Record, Risk, UTILITY_ONE};

/// The generalizations of a record and what each is worth, however that is known.
pub trait Landscape {
    /// The greatest level of each attribute.
    fn tops(&self) -> Vec<u8>;
    /// In steps of 1 / [`UTILITY_ONE`].
    fn utility(&self, levels: &[u8]) -> i64;
    fn risk(&mut self, levels: &[u8]) -> f64;
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// One level per attribute; none where nothing that was looked at will do.
    pub levels: Option<Vec<u8>>,
    /// How many generalizations were looked at: by `walk` for their utility, by the others for their risk.
    pub n_visited: usize,
}

impl Goal {
    /// What is to be least, of a generalization that will do; none of one that will not.
    pub fn cost(self, risk: f64, utility: i64) -> Option<f64> {
        match self {
            Goal::LeastRisk { utility_at_least } => (utility >= utility_at_least).then_some(risk),
            Goal::MostUtility { risk_at_most } => (risk <= risk_at_most).then_some(-(utility as f64)),
            Goal::Scalar { lambda } => Some(risk - lambda * (utility as f64 / UTILITY_ONE as f64)),
        }
    }
}

/// Numbers in order; none of ours is not a number.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ordered(f64);

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
pub fn best_first(landscape: &mut impl Landscape, goal: Goal) -> Found {
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
    Found { levels: best.map(|(_, levels)| levels), n_visited }
}

/// ARUBA (Algorithm 2), as published: from one frontier node to the next through their adjacency cubes. A frontier node
/// will do, and has an immediate generalization (for the dual: specialization) that will not.
///
/// Right where no generalization has a greater risk than what it generalizes, and something is out of reach: where
/// everything will do there is no frontier, and the walk ends before it begins. There is no walk for the scalar form.
pub fn walk(landscape: &mut impl Landscape, goal: Goal) -> Found {
    let tops = landscape.tops();
    let is_up = match goal {
        Goal::LeastRisk { .. } => true,
        Goal::MostUtility { .. } => false,
        Goal::Scalar { .. } => return Found { levels: None, n_visited: 0 },
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
    let Some(first) = frontier else { return Found { levels: None, n_visited: seen.len() } };
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
    Found { levels: best.map(|(_, levels)| levels), n_visited: seen.len() }
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

/// Ours: branch and bound over boxes of generalizations, the most promising first.
///
/// A box is a most general corner together with everything below it, some first attributes fixed. Before a corner is
/// looked at, it is moved down to where enough utility can be had at all. Of everything in a box, the risk is at least
/// that of the people whom its corner fits and of the least sensitivity with which the missing utility can be had.
///
/// # Guarantee
/// No generalization of the record has a lower cost, whatever the models, at the border of the lattice or not.
///
/// For the least risk under a model that sinks with every generalization, no more is looked at than by `best_first`,
/// which looks at everything of less than the least risk and one step below. (Boxes are opened where their bound, and so
/// the risk of their corner, is less; what is looked at then is one step below in as many different directions.) Where
/// several have exactly the least risk, that holds for a `best_first` that comes to the best of them last.
pub fn optimum(record: &mut Record, goal: Goal) -> Found {
    let by_rows = record.n_generalizations() > N_GENERALIZATIONS_BY_LABEL;
    optimum_by(record, goal, by_rows)
}

/// In larger lattices than this, looking at all rows of the dictionary once per record pays. In smaller ones, other records
/// have asked for most counts before: Adult with eight quasi-identifiers (21,600) is ten times faster by label, a generated
/// table with 390,625 eight times faster by row.
const N_GENERALIZATIONS_BY_LABEL: f64 = 100_000.0;

/// The same, counting by label or by row: for the least risk, only rows count that are near enough to the record to fit
/// something with enough utility. Those are few, and whatever is too specific for them to fit has no crowd to hope for.
pub fn optimum_by(record: &mut Record, goal: Goal, by_rows: bool) -> Found {
    record.arrange_by_sensitivity();
    let near = match goal {
        Goal::LeastRisk { utility_at_least } if by_rows => Some(record.near(utility_at_least)),
        _ => None,
    };
    let rows: Vec<u32> = near.iter().flat_map(|near| 0..near.n_rows() as u32).collect();
    let whole = Crowd { rows: 0..rows.len(), n_at_most: u64::MAX };
    let mut search = Boxes {
        goal,
        near,
        rows,
        best: None,
        n_visited: 0,
        corners: Vec::new(),
        crowds: Vec::new(),
        queue: BinaryHeap::new(),
    };
    let n = record.n_attributes();
    let mut corner: Vec<u8> = (0..n).map(|attribute| record.top(attribute)).collect();
    search.look(record, &mut corner, 0, &whole);
    while let Some(Reverse((Ordered(bound), _, place, first))) = search.queue.pop() {
        if search.is_hopeless(bound) {
            break;
        }
        let place = place as usize;
        let crowd = search.crowds[place].clone();
        for attribute in usize::from(first)..n {
            // No other box can be better than this one's bound.
            if search.is_hopeless(bound) {
                break;
            }
            corner.copy_from_slice(&search.corners[place * n..][..n]);
            if corner[attribute] > 0 {
                corner[attribute] -= 1;
                search.look(record, &mut corner, attribute, &crowd);
            }
        }
    }
    let levels = search.best.map(|(_, levels)| record.in_order_of_table(&levels));
    record.restore();
    Found { levels, n_visited: search.n_visited }
}

/// Whom something in a box may fit.
#[derive(Clone)]
struct Crowd {
    /// Of the rows that the search keeps.
    rows: Range<usize>,
    n_at_most: u64,
}

struct Boxes {
    goal: Goal,
    near: Option<Near>,
    /// Rows of `near`, those of each box one after the other.
    rows: Vec<u32>,
    best: Option<(f64, Vec<u8>)>,
    n_visited: usize,
    /// Level by level, one corner after the other.
    corners: Vec<u8>,
    /// One per corner.
    crowds: Vec<Crowd>,
    /// What a box can cost at least, how much utility its corner lacks, where that is, and its first attribute that is
    /// not fixed.
    queue: BinaryHeap<Reverse<(Ordered, i64, u32, u16)>>,
}

/// Sums of rounded products may be off by this share; a bound stays below what it bounds.
const ROUNDING: f64 = 1e-12;

impl Boxes {
    /// Whether nothing can come of boxes with this bound.
    fn is_hopeless(&self, bound: f64) -> bool {
        match self.goal {
            // Boxes are ordered by their risk, and what counts is whether that is allowed.
            Goal::MostUtility { risk_at_most } => bound > risk_at_most,
            _ => self.best.as_ref().is_some_and(|(least, _)| bound >= *least),
        }
    }

    /// The utility that a generalization must have to be better than the best so far.
    fn utility_needed(&self) -> i64 {
        match (self.goal, &self.best) {
            (Goal::LeastRisk { utility_at_least }, _) => utility_at_least,
            (Goal::MostUtility { .. }, Some((cost, _))) => -cost as i64 + 1,
            _ => i64::MIN,
        }
    }

    /// Looks at the corner of a box, of which the attributes before `first` are fixed, and keeps the box if there may be
    /// something better inside. The box is part of one that may fit `whom`.
    fn look(&mut self, record: &mut Record, corner: &mut [u8], first: usize, whom: &Crowd) {
        let needed = self.utility_needed();
        if !record.lower_to(corner, first, needed) {
            return;
        }
        // What the crowd is at most may be enough to know.
        let sensitivity = self.sensitivity_at_best(record, corner, first);
        let n_at_most = whom.n_at_most.min(record.n_fitting_alone(first, corner[first]));
        if self.is_hopeless(self.bound(record, corner, first, sensitivity, n_at_most)) {
            return;
        }
        self.n_visited += 1;
        let begin = self.rows.len();
        let n_fitting = match &self.near {
            Some(near) => {
                let fixed = record.utility_before(corner, first);
                let mut n_fitting = 0;
                for place in whom.rows.clone() {
                    let row = self.rows[place];
                    if near.fits(row, corner, first, needed - fixed) {
                        self.rows.push(row);
                        n_fitting += near.size(row);
                    }
                }
                if record.risk_model() != Risk::Sensitivity {
                    near.lower_to_all(&self.rows[begin..], corner, first);
                }
                n_fitting.max(1)
            }
            None => record.n_fitting(corner),
        };
        let utility = record.utility(corner);
        let risk = record.risk_model().of(record.sensitivity(corner), n_fitting);
        if let Some(cost) = self.goal.cost(risk, utility)
            && self.best.as_ref().is_none_or(|(least, _)| cost < *least)
        {
            self.best = Some((cost, corner.to_vec()));
        }
        let is_monotone = record.risk_model() != Risk::Entropic;
        let is_settled = is_monotone && matches!(self.goal, Goal::LeastRisk { .. }) && utility >= needed;
        let bound = self.bound(record, corner, first, sensitivity, n_fitting);
        if is_settled || self.is_hopeless(bound) {
            self.rows.truncate(begin);
            return;
        }
        let missing = self.utility_needed().saturating_sub(utility).max(0);
        self.queue.push(Reverse((Ordered(bound), missing, self.crowds.len() as u32, first as u16)));
        self.corners.extend_from_slice(corner);
        self.crowds.push(Crowd { rows: begin..self.rows.len(), n_at_most: n_fitting });
    }

    /// The sensitivity that is best for the risk of anything in a box that has enough utility.
    fn sensitivity_at_best(&self, record: &Record, corner: &[u8], first: usize) -> u64 {
        match record.risk_model() {
            Risk::Identity => 0,
            Risk::Sensitivity => {
                let missing = self.utility_needed().saturating_sub(record.utility(corner)).max(0);
                record.sensitivity(corner) + record.sensitivity_for(corner, first, missing)
            }
            // The only way down is more sensitivity in a crowd that does not grow.
            Risk::Entropic => record.sensitivity_below(corner, first),
        }
    }

    /// What everything in a box costs at least, with a sensitivity at best and people at most.
    fn bound(&self, record: &Record, corner: &[u8], first: usize, sensitivity: u64, n_at_most: u64) -> f64 {
        let risk = record.risk_model().of(sensitivity, n_at_most);
        let rounded_down = |bound: f64| bound - bound.abs() * ROUNDING;
        match (self.goal, record.risk_model()) {
            (Goal::Scalar { .. }, _) => {
                let cost = self.goal.cost(risk, record.utility_below(corner, first));
                rounded_down(cost.expect("everything will do"))
            }
            (_, Risk::Entropic) => rounded_down(risk),
            // One division of whole numbers: no rounding turns their order, and ties stay ties.
            _ => risk,
        }
    }
}
