//! The tree with what criteria see of every node: what requests are answered from.

use crate::counts::GroupCounts;
use crate::criterion::{Measured, Yardstick};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::recode::tree::measure::measure;
use crate::recode::tree::shape::Shape;
use crate::task::Task;

/// The tree of a table, and what criteria see of every node.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    shape: Shape,
    /// By signature.
    signatures: Measured,
    /// By node, which signature it has.
    signature_of: Vec<u32>,
}

impl Tree {
    /// Makes the tree of a table and measures every node.
    ///
    /// Where people are counted, `counts` tell equal records of different people apart by their last sensitive attribute,
    /// and the yardstick is that of the counts of people.
    ///
    /// # Guarantee
    /// The tree depends on the table, the hierarchies and the weights alone: not on the order of records or the number of
    /// threads.
    ///
    /// # Errors
    /// Where arguments do not fit the counts, or the task was cancelled.
    pub fn grow(
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        weights: &[f64],
        yardstick: &Yardstick,
        task: &Task,
    ) -> Result<Tree> {
        let shape = Shape::grow(counts, hierarchies, weights, task)?;
        Tree::of(shape, counts, yardstick, task)
    }

    /// Measures the nodes of a shape that was made of these counts.
    ///
    /// # Errors
    /// Where the shape is that of another table, or the task was cancelled.
    pub fn of(shape: Shape, counts: &GroupCounts, yardstick: &Yardstick, task: &Task) -> Result<Tree> {
        shape.check(counts)?;
        let (signatures, signature_of) = measure(&shape, counts, yardstick, task)?;
        Ok(Tree { shape, signatures, signature_of })
    }

    /// Its nodes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// What criteria see of groups: a node has one of these signatures.
    pub fn signatures(&self) -> &Measured {
        &self.signatures
    }

    /// Which signature a node has.
    pub fn signature(&self, node: usize) -> usize {
        self.signature_of[node] as usize
    }

    /// How many bytes it takes.
    pub fn n_bytes(&self) -> usize {
        self.shape.n_bytes() + self.signatures.n_bytes() + size_of_val(&self.signature_of[..])
    }
}
