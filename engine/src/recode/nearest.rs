//! Which class is nearest: the one whose union with a given class adds least loss, found without looking at all of them.
//!
//! Classes are laid out as k-d trees: halves of halves, each time along the axis on which they differ most. Of every
//! half we keep the highest lower sides, the lowest higher sides, the smallest size and the greatest cost. The union of
//! a class with *any* class of the half is at least as wide as its union with those sides, so that a half whose bound
//! is beyond what has been found is passed over. What is found is what looking at all classes would find, ties
//! included.
//!
//! Classes come and go. Those that are gone stay in their tree and are passed over; those that come are laid out as
//! trees of their own, and trees of about the same size are laid out again as one.

use rayon::prelude::*;

use crate::counts::number;
use crate::error::Result;
use crate::loss::Steps;
use crate::recode::partition::Part;
use crate::recode::space::{Side, Space};
use crate::task::Task;

/// A class that could be united with, and the loss that this would add: less is nearer, the lower number among equals.
pub(crate) type Near = (Steps, u32);

/// Nothing was found: farther than everything.
pub(crate) const NOTHING: Near = (Steps::MAX, u32::MAX);

/// Classes by number, in the order in which they came to be; those that have become part of others are empty.
pub(crate) struct Classes<'a> {
    space: &'a Space,
    parts: Vec<Vec<Part>>,
    sizes: Vec<u64>,
    /// Of one record of each.
    costs: Vec<Steps>,
    /// One box after the other.
    sides: Vec<Side>,
    /// Together they hold all classes that are there, but for the newest; the larger come first.
    trees: Vec<Tree>,
    /// The number of the first class that is in no tree.
    first_loose: u32,
    /// The number of the first class that came after the first tree, and how many of that tree are gone.
    first_later: u32,
    n_gone: usize,
}

impl<'a> Classes<'a> {
    pub(crate) fn new(space: &'a Space) -> Classes<'a> {
        Classes {
            space,
            parts: Vec::new(),
            sizes: Vec::new(),
            costs: Vec::new(),
            sides: Vec::new(),
            trees: Vec::new(),
            first_loose: 0,
            first_later: 0,
            n_gone: 0,
        }
    }

    /// Classes of these parts.
    pub(crate) fn of(space: &'a Space, classes: Vec<Vec<Part>>) -> Classes<'a> {
        let mut all = Classes::new(space);
        for parts in classes {
            all.push(parts);
        }
        all
    }

    pub(crate) fn space(&self) -> &'a Space {
        self.space
    }

    pub(crate) fn push(&mut self, parts: Vec<Part>) -> u32 {
        let sides = self.space.around(parts.iter().map(|part| part.base));
        self.push_box(parts, sides)
    }

    /// The same where the box around the parts is known.
    pub(crate) fn push_box(&mut self, parts: Vec<Part>, sides: Vec<Side>) -> u32 {
        self.costs.push(self.space.cost(&sides));
        self.sides.extend(sides);
        self.sizes.push(parts.iter().map(|part| part.n_records).sum());
        self.parts.push(parts);
        number(self.parts.len() - 1)
    }

    /// Takes away a class.
    pub(crate) fn take(&mut self, id: u32) -> Vec<Part> {
        self.n_gone += usize::from(id < self.first_later);
        std::mem::take(&mut self.parts[id as usize])
    }

    #[inline]
    pub(crate) fn is_there(&self, id: u32) -> bool {
        !self.parts[id as usize].is_empty()
    }

    /// The numbers of all classes that are there.
    pub(crate) fn ids(&self) -> Vec<u32> {
        (0..number(self.sizes.len())).filter(|&id| self.is_there(id)).collect()
    }

    pub(crate) fn size(&self, id: u32) -> u64 {
        self.sizes[id as usize]
    }

    /// What its records lose together.
    pub(crate) fn loss(&self, id: u32) -> Steps {
        self.sizes[id as usize] * self.costs[id as usize]
    }

    /// What all records lose together.
    pub(crate) fn loss_of_all(&self) -> Steps {
        self.ids().into_iter().map(|id| self.loss(id)).sum()
    }

    pub(crate) fn parts(&self, id: u32) -> &[Part] {
        &self.parts[id as usize]
    }

    /// All classes that are there, in the order in which they came to be.
    pub(crate) fn into_parts(self) -> Vec<Vec<Part>> {
        self.parts.into_iter().filter(|parts| !parts.is_empty()).collect()
    }

    /// Lays out all classes in one tree.
    pub(crate) fn lay_out(&mut self) {
        self.trees = vec![Tree::new(self, self.ids())];
        self.first_loose = number(self.sizes.len());
        (self.first_later, self.n_gone) = (self.first_loose, 0);
    }

    /// Lays out the first tree again without the classes that are gone, where these are most: a search that finds nothing
    /// but them wanders far.
    fn lay_out_what_is_left(&mut self) {
        let Some(first) = self.trees.first() else { return };
        if 2 * self.n_gone > first.ids.len() {
            let ids = first.ids.iter().copied().filter(|&id| self.is_there(id)).collect();
            self.trees[0] = Tree::new(self, ids);
            self.n_gone = 0;
        }
    }

    /// Lays out the classes that are in no tree, together with trees that are not much larger.
    pub(crate) fn lay_out_loose(&mut self) {
        self.lay_out_what_is_left();
        let mut ids: Vec<u32> = (self.first_loose..number(self.sizes.len())).filter(|&id| self.is_there(id)).collect();
        self.first_loose = number(self.sizes.len());
        if ids.is_empty() {
            return;
        }
        // The first tree stays, so that what was found in it when the round began can be used again.
        while self.trees.len() > 1
            && let Some(tree) = self.trees.pop_if(|tree| tree.ids.len() <= 2 * ids.len())
        {
            ids.extend(tree.ids.iter().filter(|&&id| self.is_there(id)));
        }
        let tree = Tree::new(self, ids);
        self.trees.push(tree);
    }

    /// The nearest classes to one of them among those in trees, the nearest first.
    pub(crate) fn nearest<const N: usize>(&self, id: u32) -> [Near; N] {
        let mut found = [NOTHING; N];
        // The smallest trees first: what they have bounds the search in the largest.
        self.trees.iter().rev().for_each(|tree| tree.nearest(self, id, &mut found));
        found
    }

    /// The same, where it is known what was nearest when all classes were laid out: only trees that came later are
    /// searched, unless all of that is gone. As many as are known to be nearest are returned.
    fn nearest_again<const N: usize>(&self, id: u32, before: &[Near; N]) -> Vec<Near> {
        let is_left = |near: &&Near| **near == NOTHING || self.is_there(near.1);
        let Some(&last_left) = before.iter().rfind(is_left) else { return self.nearest::<N>(id).to_vec() };
        let mut found = [NOTHING; N];
        found.iter_mut().zip(before.iter().filter(is_left)).for_each(|(found, near)| *found = *near);
        self.trees[1..].iter().for_each(|tree| tree.nearest(self, id, &mut found));
        // Beyond what is left, the first tree may hold others.
        found.into_iter().take_while(|&near| near <= last_left).collect()
    }

    /// The nearest class to one of them among those in no tree, by looking at all.
    pub(crate) fn nearest_loose(&self, id: u32) -> Near {
        let others = (self.first_loose..number(self.sizes.len())).filter(|&other| other != id && self.is_there(other));
        others.map(|other| (self.added(id, other), other)).min().unwrap_or(NOTHING)
    }

    /// The loss that uniting two classes adds, summed over their records.
    fn added(&self, id: u32, other: u32) -> Steps {
        let cost = self.space.cost_of_union(self.sides(id), self.sides(other));
        let more = |id: u32| self.sizes[id as usize] * (cost - self.costs[id as usize]);
        more(id) + more(other)
    }

    #[inline]
    fn sides(&self, id: u32) -> &[Side] {
        let n = self.space.n_axes();
        &self.sides[id as usize * n..(id as usize + 1) * n]
    }
}

/// Some classes, in the order of the tree.
struct Tree {
    ids: Vec<u32>,
    /// One box after the other, and what goes with it.
    sides: Vec<Side>,
    sizes: Vec<u64>,
    costs: Vec<Steps>,
    /// The root is the first.
    nodes: Vec<Node>,
    /// By node, a side on every axis that every box in it covers at least.
    bounds: Vec<Side>,
}

struct Node {
    start: u32,
    end: u32,
    /// The second of its halves; the first follows at once. 0 where it is not halved.
    second: u32,
    size_least: u64,
    cost_most: Steps,
    id_least: u32,
}

const N_LEAF: usize = 8;

impl Tree {
    fn new(classes: &Classes, mut ids: Vec<u32>) -> Tree {
        let (nodes, bounds) = match ids.is_empty() {
            true => Default::default(),
            false => halves(classes, &mut ids, 0),
        };
        Tree {
            sides: ids.iter().flat_map(|&id| classes.sides(id)).copied().collect(),
            sizes: ids.iter().map(|&id| classes.sizes[id as usize]).collect(),
            costs: ids.iter().map(|&id| classes.costs[id as usize]).collect(),
            ids,
            nodes,
            bounds,
        }
    }

    /// Finds classes that are nearer to one of them than those found, as many as there is room for.
    fn nearest<const N: usize>(&self, classes: &Classes, id: u32, found: &mut [Near; N]) {
        if self.nodes.is_empty() {
            return;
        }
        let space = classes.space;
        let n_axes = space.n_axes();
        let (sides, size, cost) = (classes.sides(id), classes.sizes[id as usize], classes.costs[id as usize]);
        // A union that costs each of our own records more than this is beyond what has been found.
        let cost_most = |found: &[Near; N]| cost.saturating_add(found[N - 1].0 / size);
        let bound = |node: u32, most: Steps| {
            let at = &self.nodes[node as usize];
            // The side that all boxes cover may be empty; its union with another side is never.
            let bounds = &self.bounds[node as usize * n_axes..(node as usize + 1) * n_axes];
            let union = space.cost_of_union_up_to(most, sides, bounds);
            size * (union - cost) + at.size_least * union.saturating_sub(at.cost_most)
        };
        let mut to_visit = [(0, 0); 64];
        to_visit[0] = (bound(0, Steps::MAX), 0u32);
        let mut n_to_visit = 1;
        while n_to_visit > 0 {
            n_to_visit -= 1;
            let (least, node) = to_visit[n_to_visit];
            let at = &self.nodes[node as usize];
            if (least, at.id_least) > found[N - 1] {
                continue;
            }
            if at.second != 0 {
                // The nearer half is looked at first, so that there is less to find in the other.
                let most = cost_most(found);
                let [one, other] = [node + 1, at.second].map(|half| (bound(half, most), half));
                let in_order = if one.0 <= other.0 { [other, one] } else { [one, other] };
                to_visit[n_to_visit..n_to_visit + 2].copy_from_slice(&in_order);
                n_to_visit += 2;
                continue;
            }
            for i in at.start as usize..at.end as usize {
                let other = self.ids[i];
                let most = cost_most(found);
                let union = space.cost_of_union_up_to(most, sides, &self.sides[i * n_axes..(i + 1) * n_axes]);
                if union > most {
                    continue;
                }
                let near = (size * (union - cost) + self.sizes[i] * (union - self.costs[i]), other);
                if near < found[N - 1] && other != id && classes.is_there(other) {
                    insert(found, near);
                }
            }
        }
    }
}

/// Sets of fewer classes are laid out by one thread.
const N_PARALLEL: usize = 4_096;

/// Halves are at most so deep that a search has room for what it has yet to visit.
const N_DEEP_MAX: usize = 60;

/// Puts classes in the order of a tree, and returns its nodes with their bounds.
fn halves(classes: &Classes, ids: &mut [u32], depth: usize) -> (Vec<Node>, Vec<Side>) {
    let n_axes = classes.space.n_axes();
    // Twice the middle of a side, from the least to the greatest; and the side that all cover.
    let mut middles = vec![(u32::MAX, 0); n_axes];
    let mut bounds = vec![(0, u32::MAX); n_axes];
    let mut node =
        Node { start: 0, end: number(ids.len()), second: 0, size_least: u64::MAX, cost_most: 0, id_least: u32::MAX };
    for &id in ids.iter() {
        node.size_least = node.size_least.min(classes.sizes[id as usize]);
        node.cost_most = node.cost_most.max(classes.costs[id as usize]);
        node.id_least = node.id_least.min(id);
        for ((middle, bound), &(low, high)) in middles.iter_mut().zip(&mut bounds).zip(classes.sides(id)) {
            *middle = (middle.0.min(low + high), middle.1.max(low + high));
            *bound = (bound.0.max(low), bound.1.min(high));
        }
    }
    let spread = |a: usize| classes.space.axes[a].cost(middles[a].0 / 2, middles[a].1 / 2);
    let apart = (0..n_axes).filter(|&a| middles[a].0 < middles[a].1);
    let widest = apart.max_by_key(|&a| (spread(a), std::cmp::Reverse(a)));
    let mut nodes = vec![node];
    let Some(axis) = widest.filter(|_| ids.len() > N_LEAF && depth < N_DEEP_MAX) else { return (nodes, bounds) };

    // Halves that share no middle, as equal as that allows.
    let middle = |id: u32| {
        let (low, high) = classes.sides(id)[axis];
        low + high
    };
    let n_half = ids.len() / 2;
    let (_, &mut pivot, _) = ids.select_nth_unstable_by_key(n_half, |&id| middle(id));
    let n_below = ids.iter().filter(|&&id| middle(id) < middle(pivot)).count();
    let n_until = ids.iter().filter(|&&id| middle(id) <= middle(pivot)).count();
    let is_nearer_below = n_half - n_below <= n_until - n_half;
    let is_below = n_until == ids.len() || (is_nearer_below && n_below > 0);
    // Classes at the middle all go the same way.
    let (n_first, limit) = if is_below { (n_below, middle(pivot)) } else { (n_until, middle(pivot) + 1) };
    let mut second: Vec<u32> = Vec::with_capacity(ids.len() - n_first);
    let mut n_kept = 0;
    for i in 0..ids.len() {
        match middle(ids[i]) < limit {
            true => {
                ids[n_kept] = ids[i];
                n_kept += 1;
            }
            false => second.push(ids[i]),
        }
    }
    ids[n_first..].copy_from_slice(&second);
    let is_large = ids.len() >= N_PARALLEL;
    let (first, second) = ids.split_at_mut(n_first);
    let parts = match is_large {
        true => rayon::join(|| halves(classes, first, depth + 1), || halves(classes, second, depth + 1)),
        false => (halves(classes, first, depth + 1), halves(classes, second, depth + 1)),
    };
    nodes[0].second = 1 + number(parts.0.0.len());
    for ((more, more_bounds), start, offset) in [(parts.0, 0, 1), (parts.1, number(n_first), nodes[0].second)] {
        nodes.extend(more.into_iter().map(|node| Node {
            start: node.start + start,
            end: node.end + start,
            second: if node.second == 0 { 0 } else { node.second + offset },
            ..node
        }));
        bounds.extend(more_bounds);
    }
    (nodes, bounds)
}

/// Keeps the nearest of what was found and one more, in order.
fn insert<const N: usize>(found: &mut [Near; N], near: Near) {
    let mut i = N - 1;
    while i > 0 && found[i - 1] > near {
        found[i] = found[i - 1];
        i -= 1;
    }
    found[i] = near;
}

/// The nearest classes to each of some, on all threads.
pub(crate) fn nearest_of_each<const N: usize>(classes: &Classes, ids: &[u32], task: &Task) -> Result<Vec<[Near; N]>> {
    let nearest = |(i, id): (usize, &u32)| -> Result<[Near; N]> {
        task.go_on_now_and_then(i, N_BETWEEN)?;
        Ok(classes.nearest(*id))
    };
    // In the order of the tree, so that one search finds in the cache what the one before has visited.
    let mut places = vec![u32::MAX; classes.sizes.len()];
    let laid_out = classes.trees.iter().flat_map(|tree| &tree.ids);
    (0..).zip(laid_out).for_each(|(place, &id)| places[id as usize] = place);
    let mut order: Vec<u32> = (0..number(ids.len())).collect();
    order.par_sort_unstable_by_key(|&i| places[ids[i as usize] as usize]);
    let found = order.par_iter().enumerate().with_min_len(16).map(|(n, &i)| nearest((n, &ids[i as usize])));
    let mut in_order = vec![[NOTHING; N]; ids.len()];
    for (i, near) in order.iter().zip(found.collect::<Result<Vec<_>>>()?) {
        in_order[*i as usize] = near;
    }
    Ok(in_order)
}

/// Classes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 64;

/// The nearest classes to each of some, where it is known what was nearest when all classes were laid out.
pub(crate) fn nearest_of_each_again<const N: usize>(classes: &Classes, ids: &[(u32, &[Near; N])]) -> Vec<Vec<Near>> {
    ids.par_iter().with_min_len(16).map(|(id, before)| classes.nearest_again(*id, before)).collect()
}
