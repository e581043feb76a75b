//! The annotated lattice: every scheme with what its groups are like, from which all requests are answered.
//!
//! The parts stand in reading order; each uses only those above it.

pub mod scope;
pub mod profile;
pub(crate) mod roll_up;
pub(crate) mod rows;
pub(crate) mod wide;
pub(crate) mod size;
pub(crate) mod roller;
pub(crate) mod by_set;
pub(crate) mod histograms;
pub(crate) mod signatures;
pub(crate) mod by_histogram;
pub(crate) mod drifters;
pub(crate) mod regroup;
pub(crate) mod people;
pub(crate) mod people_histograms;
pub(crate) mod fitting;
pub(crate) mod walk;
pub(crate) mod evaluate;
pub(crate) mod profiles;
pub(crate) mod grid;
pub(crate) mod by_loss;
pub mod annotate;
pub mod one_scheme;
pub(crate) mod divide;
pub mod saved;
pub mod update;

pub use annotate::{Lattice, Plan, Suppression, annotate};
pub use one_scheme::{groups_of, outcome_of};
pub use scope::{Estimator, Scope, Selection};
pub use size::N_BYTES_OF_ANY_MACHINE;
