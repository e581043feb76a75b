//! The ways to an answer: from the whole lattice, from none, from a part of it; and all bargains at once.

pub mod request;
pub mod explain;
pub mod negotiate;
pub mod as_published;
pub mod frontier;
pub(crate) mod bounds;
pub(crate) mod climb;
pub mod on_demand;
pub(crate) mod promising;
pub mod partial;
