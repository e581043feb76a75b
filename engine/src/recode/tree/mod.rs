//! One tree of groups for all k, over which local recoding is negotiated: an answer is a cut of the tree.
//!
//! The leaves are the groups of equal records. Every inner node is the union of its children, and all records are the
//! root. Every node is a group that could be published: its box, what it loses on each attribute, and what criteria see of
//! it are known once and for all. A release is a *cut*: some nodes are published, some are suppressed, and every leaf is
//! below exactly one of them.
//!
//! - `shape` has the nodes; `atoms` and `grow` make them: in stages, groups below 2 records, then below 3, 4, 5, 7, 10 and
//!   so on join those with which least is lost (as bottom-up does it for one k), and neighbours share their groups anew;
//! - `follow` keeps the tree where records came or went;
//! - `measure` says of every node what criteria see, and `annotated` has both;
//! - `fold` finds the cheapest cut for given prices, exactly; `best` finds the prices at which limits are kept, `exact` what
//!   prices leave open, and it is said how far from the best cut the answer can be;
//! - `negotiate` and `frontier` are the parties' questions, and `partition` makes records of a cut.

pub mod shape;
mod atoms;
mod grow;
mod follow;
mod measure;
mod annotated;
mod fold;
mod exact;
mod best;
pub mod negotiate;
pub mod frontier;
pub mod partition;

pub use annotated::Tree;
pub use best::Cut;
pub use shape::Shape;
