//! Our way to look for the best generalization of one record, box by box: right everywhere.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::error::Result;
use crate::recode::per_record::boxes::{Boxes, Candidate, OneBox, ROUNDING, Steps};
use crate::recode::per_record::models::{Goal, Risk, UTILITY_ONE};
use crate::recode::per_record::near::NAtLevels;
use crate::recode::per_record::published::{FoundLevels, Ordered};
use crate::recode::per_record::record::{Landscape, Record};
use crate::task::Task;

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

/// Boxes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 64;

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
}
