//! What people read, as each front says it.

pub mod notes;
pub mod answers;
pub mod search;
pub mod releases;
pub mod documents;
pub mod figures;
pub mod studies;
pub mod study_lattice;
pub mod study_requests;
pub mod study_local;
pub mod study_records;
pub mod profiles;
pub mod hierarchies;
pub mod order;
pub mod study_orders;
pub mod verbs;
