//! What people read, as each front says it.

pub mod notes;
pub mod search;
pub mod documents;
pub mod studies;
pub mod profiles;
pub mod hierarchies;
pub mod order;
pub mod verbs;
