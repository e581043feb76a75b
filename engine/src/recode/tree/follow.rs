//! A tree after records came or went: who is known stays where they are, and who is new finds a leaf.

use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::recode::space::{Side, Space};
use crate::recode::tree::shape::{Shape, Sprout, unite};

/// A tree that still changes; children are numbers of nodes.
struct Growing<'a> {
    space: &'a Space,
    sprouts: Vec<Sprout>,
    sides: Vec<Vec<Side>>,
    n_records: Vec<u64>,
}

impl Shape {
    /// The tree of a table that had other records before. Combinations of values that it had stay where they are; those
    /// that are gone are left out; every new one goes down from the root to the child with which the loss grows least, and
    /// becomes the neighbour of the leaf that it finds.
    ///
    /// The more is new, the less the tree is what a new one would be.
    ///
    /// # Errors
    /// Where it is not the tree of the table before, hierarchies do not fit the table after, or no combination is left.
    pub fn followed(
        &self,
        before: &GroupCounts,
        after: &GroupCounts,
        hierarchies: &[Hierarchy],
        weights: &[f64],
    ) -> Result<Shape> {
        self.check(before)?;
        after.check_hierarchies(hierarchies)?;
        let space = Space::new(after, hierarchies, weights)?;
        let mut place_after: FxHashMap<Vec<&str>, u32> =
            (0..after.n_groups()).map(|base| (texts(after, base), number(base))).collect();
        let mut growing = Growing { space: &space, sprouts: Vec::new(), sides: Vec::new(), n_records: Vec::new() };
        // By node of the tree before, what is left of it.
        let mut left: Vec<Option<u32>> = Vec::with_capacity(self.n_nodes());
        for node in 0..self.n_nodes() {
            left.push(match self.base(node) {
                Some(base) => place_after.remove(&texts(before, base as usize)).map(|base| growing.leaf(base, after)),
                None => {
                    let mut children: Vec<u32> = self.children(node).filter_map(|child| left[child]).collect();
                    children.reverse();
                    growing.union(children)
                }
            });
        }
        let mut arrived: Vec<u32> = place_after.into_values().collect();
        arrived.sort_unstable();
        let mut root = left[self.root()];
        for base in arrived {
            let leaf = growing.leaf(base, after);
            root = match root {
                None => Some(leaf),
                Some(root) => Some(growing.add(root, leaf)),
            };
        }
        let none = || Error::new(ErrorKind::Request, "there is nothing to make a tree of groups from");
        Ok(Shape::new(&growing.sprouts, root.ok_or_else(none)?, after, &space))
    }
}

/// What a group of the counts has of each quasi-identifier; a missing value differs from every text.
fn texts(counts: &GroupCounts, base: usize) -> Vec<&str> {
    let codes = counts.codes(base).iter().zip(counts.domains());
    codes
        .map(|(code, domain)| match domain.missing() == Some(*code) {
            true => "\0",
            false => domain.values()[code.index()].as_str(),
        })
        .collect()
}

impl Growing<'_> {
    fn push(&mut self, sprout: Sprout, sides: Vec<Side>, n_records: u64) -> u32 {
        self.sprouts.push(sprout);
        self.sides.push(sides);
        self.n_records.push(n_records);
        number(self.sprouts.len() - 1)
    }

    fn leaf(&mut self, base: u32, counts: &GroupCounts) -> u32 {
        self.push(Sprout::Leaf(base), self.space.point(base), counts.size(base as usize))
    }

    /// One node of several; none of none.
    fn union(&mut self, children: Vec<u32>) -> Option<u32> {
        let (&first, others) = children.split_first()?;
        if others.is_empty() {
            return Some(first);
        }
        let mut sides = self.sides[first as usize].clone();
        others.iter().for_each(|&child| unite(&mut sides, &self.sides[child as usize]));
        let n_records = children.iter().map(|&child| self.n_records[child as usize]).sum();
        Some(self.push(Sprout::Union(children), sides, n_records))
    }

    /// Puts a leaf below a node; returns what stands in the node's place then.
    fn add(&mut self, root: u32, leaf: u32) -> u32 {
        let (sides, n_records) = (self.sides[leaf as usize].clone(), self.n_records[leaf as usize]);
        let (mut node, mut above) = (root, None);
        while let Sprout::Union(children) = &self.sprouts[node as usize] {
            let added = |child: u32| {
                let (there, n_there) = (&self.sides[child as usize], self.n_records[child as usize]);
                let together = (n_there + n_records) * self.space.cost_of_union(there, &sides);
                together - n_there * self.space.cost(there)
            };
            let at = (0..children.len()).min_by_key(|&i| (added(children[i]), i)).expect("a union has children");
            let next = children[at];
            unite(&mut self.sides[node as usize], &sides);
            self.n_records[node as usize] += n_records;
            above = Some((node, at));
            node = next;
        }
        let both = self.union(vec![node, leaf]).expect("two are some");
        match above {
            None => both,
            Some((parent, at)) => {
                if let Sprout::Union(children) = &mut self.sprouts[parent as usize] {
                    children[at] = both;
                }
                root
            }
        }
    }
}
