//! The nodes of the tree: who is below whom, how many records there are, and what they lose.

use crate::counts::{GroupCounts, number};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::loss::Steps;
use crate::recode::space::{Side, Space};

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// The nodes of a tree, children before their parents; the last is the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// By node; [`NONE`] for the root.
    parents: Vec<u32>,
    /// By node, the first node of those below it, which follow each other up to itself.
    firsts: Vec<u32>,
    /// By node, the group of the counts that a leaf is; [`NONE`] of others.
    bases: Vec<u32>,
    n_records: Vec<u64>,
    /// By node and attribute, what its box costs one record.
    costs: Vec<u32>,
    /// By node, what its box costs one record on all attributes together.
    cost_of_all: Vec<u32>,
    /// By attribute, what it costs one record to be suppressed.
    whole: Vec<u32>,
}

/// A node that is not in its final place yet.
#[derive(Clone, Debug)]
pub(crate) enum Sprout {
    /// A group of the counts.
    Leaf(u32),
    /// The union of others, by their numbers.
    Union(Vec<u32>),
}

impl Shape {
    /// Puts nodes in order, from a root down.
    pub(crate) fn new(sprouts: &[Sprout], root: u32, counts: &GroupCounts, space: &Space) -> Shape {
        let n = sprouts.len();
        let mut shape = Shape {
            parents: Vec::with_capacity(n),
            firsts: Vec::with_capacity(n),
            bases: Vec::with_capacity(n),
            n_records: Vec::with_capacity(n),
            costs: Vec::with_capacity(n * space.n_axes()),
            cost_of_all: Vec::with_capacity(n),
            whole: space.axes.iter().map(|axis| axis.whole()).collect(),
        };
        // What is visited next: on the way down, or with its children done and where the first of them is.
        let mut to_visit: Vec<(u32, Option<u32>)> = vec![(root, None)];
        // Nodes that wait for their parent, with their boxes.
        let mut done: Vec<(u32, Vec<Side>)> = Vec::new();
        while let Some((sprout, first)) = to_visit.pop() {
            let place = number(shape.parents.len());
            match (&sprouts[sprout as usize], first) {
                (Sprout::Leaf(base), _) => {
                    let sides = space.point(*base);
                    shape.push(place, *base, counts.size(*base as usize), space, &sides);
                    done.push((place, sides));
                }
                (Sprout::Union(children), None) => {
                    to_visit.push((sprout, Some(place)));
                    to_visit.extend(children.iter().rev().map(|&child| (child, None)));
                }
                (Sprout::Union(children), Some(first)) => {
                    let children = done.split_off(done.len() - children.len());
                    let mut sides = children[0].1.clone();
                    children[1..].iter().for_each(|(_, more)| unite(&mut sides, more));
                    let n_records = children.iter().map(|(child, _)| shape.n_records[*child as usize]).sum();
                    children.iter().for_each(|(child, _)| shape.parents[*child as usize] = place);
                    shape.push(first, NONE, n_records, space, &sides);
                    done.push((place, sides));
                }
            }
        }
        shape
    }

    fn push(&mut self, first: u32, base: u32, n_records: u64, space: &Space, sides: &[Side]) {
        self.parents.push(NONE);
        self.firsts.push(first);
        self.bases.push(base);
        self.n_records.push(n_records);
        let costs = space.axes.iter().zip(sides).map(|(axis, side)| axis.cost(side.0, side.1));
        self.costs.extend(costs.clone());
        self.cost_of_all.push(costs.sum());
    }

    /// How many nodes there are.
    pub fn n_nodes(&self) -> usize {
        self.parents.len()
    }

    /// The node that has all records.
    pub fn root(&self) -> usize {
        self.n_nodes() - 1
    }

    /// How many quasi-identifiers there are.
    pub fn n_attributes(&self) -> usize {
        self.whole.len()
    }

    /// The node above.
    pub fn parent(&self, node: usize) -> Option<usize> {
        (self.parents[node] != NONE).then(|| self.parents[node] as usize)
    }

    /// The nodes from which a node is united; none of a leaf. The last comes first.
    pub fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let first = self.firsts[node] as usize;
        let last = (first < node).then(|| node - 1);
        std::iter::successors(last, move |&child| {
            (self.firsts[child] as usize).checked_sub(1).filter(|next| *next >= first)
        })
    }

    /// The group of the counts that a leaf is.
    pub fn base(&self, node: usize) -> Option<u32> {
        (self.bases[node] != NONE).then(|| self.bases[node])
    }

    /// The groups of the counts below a node, or that it is.
    pub fn bases(&self, node: usize) -> impl Iterator<Item = u32> {
        self.bases[self.firsts[node] as usize..=node].iter().copied().filter(|base| *base != NONE)
    }

    /// How many nodes are below a node, and it.
    pub(crate) fn first(&self, node: usize) -> usize {
        self.firsts[node] as usize
    }

    /// How many records a node has.
    #[inline]
    pub fn n_records(&self, node: usize) -> u64 {
        self.n_records[node]
    }

    /// By attribute, what the box of a node costs one record, in steps of the loss, weight included.
    #[inline]
    pub fn costs(&self, node: usize) -> &[u32] {
        &self.costs[node * self.whole.len()..(node + 1) * self.whole.len()]
    }

    /// By attribute, what a record costs of which nothing is said.
    pub fn whole(&self) -> &[u32] {
        &self.whole
    }

    /// What the records of a node lose together.
    #[inline]
    pub fn loss(&self, node: usize) -> Steps {
        self.n_records[node] * u64::from(self.cost_of_all[node])
    }

    /// Refuses counts that it was not made of.
    pub(crate) fn check(&self, counts: &GroupCounts) -> Result<()> {
        let is_leaf = |node: &usize| self.bases[*node] != NONE;
        let fits = |node: usize| {
            let base = self.bases[node] as usize;
            base < counts.n_groups() && counts.size(base) == self.n_records[node]
        };
        let leaves = || (0..self.n_nodes()).filter(is_leaf);
        match leaves().count() == counts.n_groups() && leaves().all(fits) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Data, "the tree is that of another table").hint("make it again")),
        }
    }

    pub(crate) fn n_bytes(&self) -> usize {
        self.n_nodes() * (4 * 4 + 8) + size_of_val(&self.costs[..])
    }

    /// The same tree as numbers that a file can keep: for every node the group of the counts that it is, or how many
    /// of the trees before it become one, as a number below zero.
    pub fn to_numbers(&self) -> Vec<i64> {
        let number = |node: usize| match self.base(node) {
            Some(base) => i64::from(base),
            None => -(self.children(node).count() as i64),
        };
        (0..self.n_nodes()).map(number).collect()
    }

    /// The tree of such numbers, over the counts that it was made of.
    ///
    /// # Errors
    /// Where the numbers are no tree over all groups of these counts.
    pub fn from_numbers(
        numbers: &[i64],
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        weights: &[f64],
    ) -> Result<Shape> {
        let wrong = || Error::new(ErrorKind::Data, "the tree of groups is damaged").hint("make it again");
        let mut sprouts = Vec::with_capacity(numbers.len());
        let mut open: Vec<u32> = Vec::new();
        let mut is_known = vec![false; counts.n_groups()];
        for &n in numbers {
            match usize::try_from(n) {
                Ok(base) => {
                    let is_known = is_known.get_mut(base).filter(|is_known| !**is_known).ok_or_else(wrong)?;
                    *is_known = true;
                    sprouts.push(Sprout::Leaf(number(base)));
                }
                Err(_) => {
                    let n_children = n.unsigned_abs() as usize;
                    let at = open.len().checked_sub(n_children).filter(|_| n_children > 1).ok_or_else(wrong)?;
                    sprouts.push(Sprout::Union(open.split_off(at)));
                }
            }
            open.push(number(sprouts.len() - 1));
        }
        if open.len() != 1 || !is_known.iter().all(|is_known| *is_known) {
            return Err(wrong());
        }
        Ok(Shape::new(&sprouts, open[0], counts, &Space::new(counts, hierarchies, weights)?))
    }
}

/// Widens a box to hold another.
pub(crate) fn unite(sides: &mut [Side], more: &[Side]) {
    for (side, more) in sides.iter_mut().zip(more) {
        *side = (side.0.min(more.0), side.1.max(more.1));
    }
}
