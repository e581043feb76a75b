//! Three ways to look for the best generalization of one record, with one interface.
//!
//! `best_first` and `walk` are the published ones (BTDA and ARUBA). They are right where risk sinks with every
//! generalization, and the walk only where something is out of reach. `optimum` is ours: right everywhere.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::{ErrorKind, Result, unknown};
use crate::recode::per_record::models::{Goal, Risk, UTILITY_ONE};
use crate::recode::per_record::near::{NAtLevels, Near};
use crate::recode::per_record::record::{Landscape, Record};
use crate::task::Task;

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

/// Ours: branch and bound over boxes of generalizations, the most promising first.
///
/// A box is a most general corner together with everything below it, some first attributes fixed. Before a corner is
/// looked at, it is moved down to where enough utility can be had at all. Of everything in a box, the risk is at least
/// that of the people whom its corner fits and of the least sensitivity with which the missing utility can be had.
///
/// # Guarantee
/// No generalization of the record has a lower cost, whatever the models, at the border of the lattice or not. None has as
/// much risk and more utility, or as much utility and less risk.
///
/// To choose between those of equal cost, a second search begins with what the first has found: for the most utility with
/// the least risk, or for the least risk with the most utility.
///
/// For the least risk under a model that sinks with every generalization, no more is looked at than by `best_first`,
/// which looks at everything of less than the least risk and one step below. (Boxes are opened where their bound, and so
/// the risk of their corner, is less; what is looked at then is one step below in as many different directions.) Where
/// several have exactly the least risk, that holds for a `best_first` that comes to the best of them last. The second
/// search comes on top.
pub fn optimum(record: &mut Record, goal: Goal) -> FoundLevels {
    optimum_unless(record, goal, &Task::default()).expect("nobody stops it")
}

/// The same; ends with an error once somebody has stopped it.
pub(crate) fn optimum_unless(record: &mut Record, goal: Goal, task: &Task) -> Result<FoundLevels> {
    let by_rows = record.n_generalizations() > N_GENERALIZATIONS_BY_LABEL;
    let n_small = if matches!(goal, Goal::Scalar { .. }) { 0 } else { N_ROWS_SMALL };
    optimum_by_unless(record, goal, by_rows.then_some(n_small), task)
}

/// In larger lattices than this, looking at all rows of the dictionary once per record pays. In smaller ones, other records
/// have asked for most counts before: Adult with eight quasi-identifiers (21,600) is ten times faster by label, a generated
/// table with 390,625 eight times faster by row.
const N_GENERALIZATIONS_BY_LABEL: f64 = 100_000.0;

/// Beyond this many rows of a box it pays to count how many of them each level of each attribute leaves; for the scalar
/// form it pays always.
const N_ROWS_SMALL: usize = 8;

/// The same, counting by label or by row: only rows count that are near enough to the record to fit something with enough
/// utility. Those are few, and whatever is too specific for them to fit has no crowd to hope for. Boxes with at most so
/// many rows as given are looked at without counting levels.
pub fn optimum_by(record: &mut Record, goal: Goal, by_rows: Option<usize>) -> FoundLevels {
    optimum_by_unless(record, goal, by_rows, &Task::default()).expect("nobody stops it")
}

fn optimum_by_unless(record: &mut Record, goal: Goal, by_rows: Option<usize>, task: &Task) -> Result<FoundLevels> {
    record.arrange_by_sensitivity();
    let mut search = Boxes::new(record, goal);
    if let Some(n_small) = by_rows {
        search.n_small = n_small;
        search.near = Some(record.near(search.needed));
        search.dive(record);
        if matches!(goal, Goal::Scalar { .. }) && record.risk_model() != Risk::Entropic {
            search.steps = Some(Steps::new(record));
        }
    }
    search.run(record, task)?;
    let n_for_ties = search.run_for_ties(record, task)?;
    let levels = search.best.map(|best| record.in_order_of_table(&best.levels));
    record.restore();
    Ok(FoundLevels { levels, n_visited: search.n_visited, n_for_ties })
}

/// A most general corner and everything below it, the attributes before `first` fixed.
#[derive(Clone)]
struct OneBox {
    first: usize,
    /// The rows that may fit something in it, of those that the search keeps: its own once it is counted, and till then
    /// those of the box that it is part of.
    rows: Range<usize>,
    n_at_most: u64,
    is_counted: bool,
}

/// A generalization that will do.
struct Candidate {
    levels: Vec<u8>,
    risk: f64,
    utility: i64,
    rank: [f64; 3],
}

struct Boxes {
    n_attributes: usize,
    goal: Goal,
    /// The risk that was allowed, which is compared with risks before they were rounded.
    limit: Option<f64>,
    /// How much of a risk can be due to rounding.
    rounding: f64,
    /// The least risk that there can be.
    risk_at_least: f64,
    /// The utility that a generalization must have to be better than the best so far.
    needed: i64,
    near: Option<Near>,
    n_small: usize,
    /// Rows of `near`, those of each box one after the other.
    rows: Vec<u32>,
    best: Option<Candidate>,
    n_visited: usize,
    boxes: Vec<OneBox>,
    /// Level by level, one corner after the other.
    corners: Vec<u8>,
    /// What a box can cost at least, how much utility its corner lacks, and which it is.
    queue: BinaryHeap<Reverse<(Ordered, i64, u32)>>,
    /// How many people of the box at hand fit up to each level of each attribute.
    n_at_levels: NAtLevels,
    /// For the scalar form, how many of them fit something in the box with at least the utility of each step.
    steps: Option<Steps>,
    n_by_utility: Vec<u64>,
}

/// Utility from that of `*` everywhere to that of the record, in at most [`Steps::N_MAX`] parts of one width.
#[derive(Clone, Copy)]
struct Steps {
    least: i64,
    width: i64,
    /// All utilities differ by multiples of this.
    unit: i64,
    n: usize,
}

impl Steps {
    const N_MAX: i64 = 128;

    fn new(record: &Record) -> Steps {
        let (tops, bottom) = (record.tops(), vec![0; record.n_attributes()]);
        let (least, most) = (record.utility(&tops), record.utility(&bottom));
        let gained = (0..tops.len()).flat_map(|a| (1..=tops[a]).map(move |level| record.gained(a, level)));
        let unit = gained.fold(0, greatest_common_divisor).max(1);
        let width = ((most - least) / Steps::N_MAX / unit + 1) * unit;
        Steps { least, width, unit, n: ((most - least) / width) as usize + 1 }
    }

    /// The part that a utility is in.
    fn of(&self, utility: i64) -> usize {
        ((utility - self.least) / self.width) as usize
    }

    /// The least utility of a part, and the most.
    fn ends(&self, part: usize) -> (i64, i64) {
        let least = self.least + part as i64 * self.width;
        (least, least + self.width - self.unit)
    }
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Boxes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 64;

/// Sums of rounded products may be off by this share; a bound stays below what it bounds.
const ROUNDING: f64 = 1e-12;

impl Boxes {
    fn new(record: &mut Record, goal: Goal) -> Boxes {
        let (tops, bottom) = (record.tops(), vec![0; record.n_attributes()]);
        let risk_at_least = match record.risk_model() {
            Risk::Entropic => Risk::Entropic.of(record.sensitivity(&bottom), record.n_fitting(&tops)),
            _ => 0.0,
        };
        let needed = match goal {
            Goal::LeastRisk { utility_at_least } => utility_at_least,
            _ => record.utility(&tops),
        };
        let (limit, rounding) = match goal {
            Goal::MostUtility { risk_at_most } => {
                let n_people = record.n_fitting(&tops);
                (Some(risk_at_most), record.rounding(1).max(record.rounding(n_people)))
            }
            _ => (None, 0.0),
        };
        Boxes {
            n_attributes: tops.len(),
            goal,
            limit,
            rounding,
            risk_at_least,
            needed,
            near: None,
            n_small: 0,
            rows: Vec::new(),
            best: None,
            n_visited: 0,
            boxes: Vec::new(),
            corners: Vec::new(),
            queue: BinaryHeap::new(),
            n_at_levels: NAtLevels::default(),
            steps: None,
            n_by_utility: Vec::new(),
        }
    }

    /// Looks for the best, box by box.
    fn run(&mut self, record: &mut Record, task: &Task) -> Result<()> {
        let mut corner = record.tops();
        let rows = self.all_rows(record);
        self.open(record, &mut corner, OneBox { first: 0, rows, n_at_most: u64::MAX, is_counted: false });
        let mut n_looked_at = 0;
        while let Some(Reverse((Ordered(bound), _, place))) = self.queue.pop() {
            if self.is_hopeless(bound) {
                break;
            }
            n_looked_at += 1;
            task.go_on_now_and_then(n_looked_at, N_BETWEEN)?;
            let place = place as usize;
            let is_counted = self.boxes[place].is_counted;
            if !is_counted {
                let Some(bound) = self.count_in_turn(record, place, &mut corner) else { continue };
                if self.queue.peek().is_some_and(|Reverse((next, ..))| *next < Ordered(bound)) {
                    self.push(record, place, bound);
                    continue;
                }
            }
            self.split(record, place, !is_counted, &mut corner);
        }
        Ok(())
    }

    /// Looks for the most utility with the least risk that was found, or for the least risk with the most utility. The
    /// scalar form has compared both already. Says how many it looked at.
    fn run_for_ties(&mut self, record: &mut Record, task: &Task) -> Result<usize> {
        let Some(best) = &self.best else { return Ok(0) };
        // Bounds of model III are a hair lower than what they bound, so that whatever has the least risk was looked at, unless
        // that is 0.
        let is_seen = record.risk_model() == Risk::Entropic && best.risk < 0.0;
        (self.goal, self.needed) = match self.goal {
            Goal::LeastRisk { .. } if is_seen => return Ok(0),
            Goal::LeastRisk { .. } => (Goal::MostUtility { risk_at_most: best.risk }, best.utility + 1),
            Goal::MostUtility { .. } => (Goal::LeastRisk { utility_at_least: best.utility }, best.utility),
            Goal::Scalar { .. } => return Ok(0),
        };
        let (risk, utility, n_before) = (best.risk, best.utility, self.n_visited);
        let rank = self.goal.rank(risk, utility);
        self.best = self.best.take().map(|best| Candidate { rank, ..best });
        self.boxes.clear();
        self.corners.clear();
        self.queue.clear();
        self.rows.clear();
        self.run(record, task)?;
        Ok(self.n_visited - n_before)
    }

    /// The rows that are near enough for what is needed now.
    fn all_rows(&mut self, record: &Record) -> Range<usize> {
        if let Some(near) = &self.near {
            self.rows = (0..near.n_rows() as u32).filter(|&row| near.utility_from(row, 0) >= self.needed).collect();
            self.count_parts(record, &record.tops(), 0, 0..self.rows.len());
        }
        0..self.rows.len()
    }

    /// Counts the people of a box by how low they fit each attribute, and how much utility they fit.
    fn count_parts(&mut self, record: &Record, corner: &[u8], first: usize, rows: Range<usize>) {
        let Some(near) = &self.near else { return };
        near.count_levels(&self.rows[rows.clone()], corner, first, &mut self.n_at_levels);
        if let Some(steps) = &self.steps {
            let above = record.utility_before(corner, first) - steps.least;
            let per_width = 1.0 / steps.width as f64;
            self.n_by_utility.clear();
            self.n_by_utility.resize(steps.n, 0);
            for &row in &self.rows[rows] {
                // A hair more, so that rounding never puts anybody too low.
                let part = (above + near.utility_from(row, first)) as f64 * per_width + 1e-6;
                self.n_by_utility[(part as usize).min(steps.n - 1)] += near.size(row);
            }
            for part in (1..steps.n).rev() {
                self.n_by_utility[part - 1] += self.n_by_utility[part];
            }
        }
    }

    /// Whether nothing can come of boxes with this bound.
    fn is_hopeless(&self, bound: f64) -> bool {
        match (self.goal, &self.best) {
            // Boxes are ordered by their risk, and what counts is whether that is allowed.
            (Goal::MostUtility { risk_at_most }, _) => match self.limit {
                Some(limit) => bound - self.rounding > limit + limit.abs() * ROUNDING,
                // As much as was found: that is a risk as it is.
                None => bound > risk_at_most,
            },
            (_, None) => false,
            (Goal::LeastRisk { .. }, Some(best)) => bound >= best.risk,
            // Where the cost is the same, there may be less risk.
            (Goal::Scalar { .. }, Some(best)) => bound > best.rank[0],
        }
    }

    /// Keeps what is better than the best so far, and with it what is needed to be better still.
    fn consider(&mut self, record: &Record, levels: &[u8], n_fitting: u64) {
        let (risk, utility) = (record.risk_model().of(record.sensitivity(levels), n_fitting), record.utility(levels));
        let will_do = match (self.goal, self.limit) {
            (Goal::MostUtility { .. }, Some(limit)) => record.is_at_most(levels, n_fitting, limit),
            (goal, limit) => {
                let is_allowed = || limit.is_none_or(|limit| record.is_at_most(levels, n_fitting, limit));
                goal.cost(risk, utility).is_some() && is_allowed()
            }
        };
        let rank = self.goal.rank(risk, utility);
        if !will_do || self.best.as_ref().is_some_and(|best| rank >= best.rank) {
            return;
        }
        self.best = Some(Candidate { levels: levels.to_vec(), risk, utility, rank });
        match self.goal {
            Goal::LeastRisk { .. } => {}
            Goal::MostUtility { .. } => self.needed = utility + 1,
            Goal::Scalar { lambda } => {
                // Less utility than this cannot be made up for by less risk. (The cast has its ends where floats have not.)
                let cost = rank[0];
                let needed = (self.risk_at_least - cost) / lambda * UTILITY_ONE as f64;
                let rounding = (self.risk_at_least.abs() + cost.abs()) / lambda * UTILITY_ONE as f64 * 1e-9;
                if needed.is_finite() && rounding.is_finite() {
                    self.needed = self.needed.max((needed - rounding).floor() as i64 - 1);
                }
            }
        }
    }

    /// A good one to begin with: from `*` everywhere down, each time where the crowd shrinks the least for the utility
    /// gained. The least risk needs none, as boxes are taken in the order of their risk.
    fn dive(&mut self, record: &Record) {
        if matches!(self.goal, Goal::LeastRisk { .. }) {
            return;
        }
        let near = self.near.take().expect("rows to count");
        let mut rows: Vec<u32> = (0..near.n_rows() as u32).collect();
        let mut levels = record.tops();
        loop {
            let n: u64 = rows.iter().map(|&row| near.size(row)).sum::<u64>().max(1);
            self.n_visited += 1;
            self.consider(record, &levels, n);
            near.count_levels(&rows, &levels, 0, &mut self.n_at_levels);
            let price = |attribute: &usize| {
                let level = levels[*attribute] - 1;
                let n_left = self.n_at_levels.up_to(*attribute, level);
                let lost = (n as f64).ln() - (n_left as f64).ln();
                match record.gained(*attribute, level + 1) {
                    0 if n_left == n => Ordered(0.0),
                    0 => Ordered(f64::INFINITY),
                    gained => Ordered(lost / gained as f64),
                }
            };
            let free = (0..levels.len()).filter(|&attribute| levels[attribute] > 0);
            let Some(attribute) = free.min_by_key(price) else { break };
            levels[attribute] -= 1;
            let mask = near.mask(&levels);
            rows.retain(|&row| near.fits(row, &mask));
        }
        self.near = Some(near);
    }

    fn corner(&self, place: usize) -> &[u8] {
        &self.corners[place * self.n_attributes..][..self.n_attributes]
    }

    /// Whether a box has so many rows that it pays to count how many of them each level of each attribute leaves. Parts of
    /// such a box are counted when their turn comes; those of others at once.
    fn is_large(&self, rows: &Range<usize>) -> bool {
        self.near.is_some() && rows.len() > self.n_small
    }

    /// Keeps a part of the box at hand if there may be something better inside.
    fn open(&mut self, record: &mut Record, corner: &mut [u8], mut part: OneBox) {
        let first = part.first;
        if !record.lower_to(corner, first, self.needed) {
            return;
        }
        if self.is_large(&part.rows) {
            let n_left = |attribute: usize| self.n_at_levels.up_to(attribute, corner[attribute]);
            part.n_at_most = (first..corner.len()).map(n_left).fold(part.n_at_most, u64::min);
            let bound = self.bound_by_levels(record, corner, first, part.n_at_most);
            if !self.is_hopeless(bound) {
                self.keep(record, corner, part, bound);
            }
            return;
        }
        // What the crowd is at most may be enough to know.
        let sensitivity = self.sensitivity_at_best(record, corner, first);
        let n_at_most = part.n_at_most.min(record.n_fitting_alone(first, corner[first]));
        if self.is_hopeless(self.bound(record, corner, first, sensitivity, n_at_most)) {
            return;
        }
        if let Some(bound) = self.count(record, corner, &mut part, Some(sensitivity)) {
            self.keep(record, corner, part, bound);
        }
    }

    fn keep(&mut self, record: &Record, corner: &[u8], part: OneBox, bound: f64) {
        self.boxes.push(part);
        self.corners.extend_from_slice(corner);
        self.push(record, self.boxes.len() - 1, bound);
    }

    fn push(&mut self, record: &Record, place: usize, bound: f64) {
        let missing = self.needed.saturating_sub(record.utility(self.corner(place))).max(0);
        self.queue.push(Reverse((Ordered(bound), missing, place as u32)));
    }

    /// Counts a box that was kept without.
    fn count_in_turn(&mut self, record: &mut Record, place: usize, corner: &mut [u8]) -> Option<f64> {
        corner.copy_from_slice(self.corner(place));
        let mut counted = self.boxes[place].clone();
        if !record.lower_to(corner, counted.first, self.needed) {
            return None;
        }
        let bound = self.count(record, corner, &mut counted, None)?;
        self.corners[place * corner.len()..][..corner.len()].copy_from_slice(corner);
        self.boxes[place] = counted;
        Some(bound)
    }

    /// Counts whom the corner of a box fits and looks at that. Returns what the rest of the box can cost at least; none
    /// where there is nothing better in it. The sensitivity at best may be known.
    fn count(
        &mut self,
        record: &mut Record,
        corner: &mut [u8],
        counted: &mut OneBox,
        sensitivity: Option<u64>,
    ) -> Option<f64> {
        let (first, needed) = (counted.first, self.needed);
        self.n_visited += 1;
        let begin = self.rows.len();
        let n_fitting = match &self.near {
            Some(near) => {
                let needed = needed - record.utility_before(corner, first);
                let n_fitting = near.fitting(&mut self.rows, counted.rows.clone(), corner, first, needed).max(1);
                if record.risk_model() != Risk::Sensitivity {
                    near.lower_to_all(&self.rows[begin..], corner, first);
                }
                n_fitting
            }
            None => record.n_fitting(corner),
        };
        let utility = record.utility(corner);
        self.consider(record, corner, n_fitting);
        let is_monotone = record.risk_model() != Risk::Entropic;
        let is_settled = is_monotone && matches!(self.goal, Goal::LeastRisk { .. }) && utility >= needed;
        if is_settled {
            self.rows.truncate(begin);
            return None;
        }
        let rows = begin..self.rows.len();
        let bound = match self.is_large(&rows) {
            true => {
                self.count_parts(record, corner, first, rows);
                self.bound_by_levels(record, corner, first, n_fitting)
            }
            false => {
                let sensitivity = sensitivity.unwrap_or_else(|| self.sensitivity_at_best(record, corner, first));
                self.bound(record, corner, first, sensitivity, n_fitting)
            }
        };
        if self.is_hopeless(bound) {
            self.rows.truncate(begin);
            return None;
        }
        *counted = OneBox { first, rows: begin..self.rows.len(), n_at_most: n_fitting, is_counted: true };
        Some(bound)
    }

    /// Divides a box: one attribute after the other goes down a level, and those before it stay. It may have been counted
    /// just now.
    fn split(&mut self, record: &mut Record, place: usize, is_at_hand: bool, corner: &mut [u8]) {
        let whole = self.boxes[place].clone();
        if !is_at_hand && self.is_large(&whole.rows) {
            corner.copy_from_slice(self.corner(place));
            self.count_parts(record, corner, whole.first, whole.rows.clone());
        }
        for first in whole.first..corner.len() {
            corner.copy_from_slice(self.corner(place));
            if let Some(level) = corner[first].checked_sub(1) {
                corner[first] = level;
                self.open(record, corner, OneBox { first, is_counted: false, ..whole.clone() });
            }
        }
    }

    /// The sensitivity that is best for the risk of anything in a box that has enough utility.
    fn sensitivity_at_best(&self, record: &Record, corner: &[u8], first: usize) -> u64 {
        match record.risk_model() {
            Risk::Identity => 0,
            Risk::Sensitivity => {
                let missing = self.needed.saturating_sub(record.utility(corner)).max(0);
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

    /// The same from how many of the people in a box each attribute leaves at each level: a crowd of n needs n of them in
    /// every attribute, which says how low each may go, and so how much utility a crowd of n can have. From the greatest
    /// crowd to the smallest, this is what they cost at least.
    fn bound_by_levels(&self, record: &Record, corner: &[u8], first: usize, n_fitting: u64) -> f64 {
        if let (Goal::Scalar { lambda }, Some(steps)) = (self.goal, &self.steps) {
            return self.bound_by_steps(record, corner, first, n_fitting, lambda, steps);
        }
        let model = record.risk_model();
        let (mut n, mut utility, mut sensitivity) = (n_fitting, record.utility(corner), record.sensitivity(corner));
        let needs = match model {
            Risk::Sensitivity => record.sensitivity_for(corner, first, self.needed.saturating_sub(utility).max(0)),
            Risk::Identity | Risk::Entropic => 0,
        };
        let of_corner = sensitivity + needs;
        let mut least = f64::INFINITY;
        let mut levels = self.levels_inside(corner, first);
        loop {
            if utility >= self.needed {
                if model != Risk::Entropic {
                    // Later crowds are smaller.
                    return model.of(of_corner, n);
                }
                let risk = model.of(sensitivity, n);
                let worth = match self.goal {
                    Goal::Scalar { lambda } => lambda * (utility as f64 / UTILITY_ONE as f64),
                    _ => 0.0,
                };
                least = least.min(risk - worth - (risk.abs() + worth.abs()) * ROUNDING);
            }
            let Some((n_left, level, attribute)) = levels.next() else { return least };
            n = n.min(n_left);
            utility += record.gained(attribute, level + 1);
            sensitivity += record.sensitivity_gained(attribute, level + 1);
        }
    }

    /// The levels of a box below its corner, with how many of the people at hand fit up to each, the most first.
    fn levels_inside<'a>(&'a self, corner: &'a [u8], first: usize) -> impl Iterator<Item = (u64, u8, usize)> + 'a {
        let levels = self.n_at_levels.in_order.iter().map(|&(n, level, attribute)| (n, level, usize::from(attribute)));
        levels.filter(move |(_, level, attribute)| *attribute >= first && *level < corner[*attribute])
    }

    /// The same for the scalar form, from the least utility in a box to the most: what has so much fits no more people
    /// than levels allow, and only people who fit something with so much.
    fn bound_by_steps(
        &self,
        record: &Record,
        corner: &[u8],
        first: usize,
        n_fitting: u64,
        lambda: f64,
        steps: &Steps,
    ) -> f64 {
        let (of_corner, most) = (record.utility(corner), record.utility_below(corner, first));
        let from = self.needed.max(of_corner);
        if from > most {
            return f64::INFINITY;
        }
        let is_sensitive = record.risk_model() == Risk::Sensitivity;
        let mut prices = if is_sensitive { record.prices(corner, first) } else { Vec::new() };
        prices.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let (mut prices, mut paid, mut bought) = (prices.into_iter().peekable(), 0.0, of_corner);
        let (mut n, mut utility) = (n_fitting, of_corner);
        let mut levels = self.levels_inside(corner, first);
        let mut least = f64::INFINITY;
        for part in steps.of(from)..=steps.of(most) {
            let (low, high) = steps.ends(part);
            let (low, high) = (low.max(from), high.min(most));
            if high < low {
                continue;
            }
            while utility < low {
                let Some((n_left, level, attribute)) = levels.next() else { return least };
                n = n.min(n_left);
                utility += record.gained(attribute, level + 1);
            }
            // The cheapest attributes give all that they have.
            while let Some((price, has)) = prices.next_if(|(_, has)| bought + has < low) {
                paid += price * has as f64;
                bought += has;
            }
            let rest = prices.peek().map_or(0.0, |(price, _)| price * (low - bought) as f64);
            let needs = ((paid + rest) * (1.0 - ROUNDING)).floor() as u64;
            let sensitivity = if is_sensitive { record.sensitivity(corner) + needs } else { 0 };
            let risk = record.risk_model().of(sensitivity, n.min(self.n_by_utility[part]).max(1));
            let worth = lambda * (high as f64 / UTILITY_ONE as f64);
            least = least.min(risk - worth - (risk.abs() + worth.abs()) * ROUNDING);
        }
        least
    }
}

/// The ways to search, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// [`best_first`].
    BestFirst,
    /// [`walk`].
    Walk,
    /// [`optimum`].
    Optimum,
}

impl Strategy {
    /// Every way there is.
    pub const ALL: [Strategy; 3] = [Strategy::BestFirst, Strategy::Walk, Strategy::Optimum];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::BestFirst => "best-first",
            Strategy::Walk => "walk",
            Strategy::Optimum => "optimum",
        }
    }

    /// The published search of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse_published(name: &str) -> Result<Strategy> {
        let published = [Strategy::BestFirst, Strategy::Walk];
        let named = published.into_iter().find(|strategy| strategy.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "search", name, &published.map(Strategy::name)))
    }

    /// Looks for the best generalization of a record.
    pub fn solve(self, record: &mut Record, goal: Goal) -> FoundLevels {
        match self {
            Strategy::BestFirst => best_first(record, goal),
            Strategy::Walk => walk(record, goal),
            Strategy::Optimum => optimum(record, goal),
        }
    }

    /// Whether it finds the best, provided that, for the walk, not everything will do.
    pub fn is_exact(self, risk: Risk, goal: Goal) -> bool {
        let is_monotone = risk != Risk::Entropic;
        match (self, goal) {
            (Strategy::Optimum, _) | (Strategy::BestFirst, Goal::MostUtility { .. }) => true,
            (Strategy::Walk, Goal::Scalar { .. }) => false,
            _ => is_monotone,
        }
    }
}
