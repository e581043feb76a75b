//! Every record generalized on its own: the least risk that still leaves enough utility.
//!
//! Fouad, Lebanon, Bertino, "ARUBA: a risk-utility-based algorithm for data disclosure" (CERIAS 2008-27): of all
//! generalizations of a record, the one of least risk whose utility is at least c; or the one of most utility whose risk
//! is at most c; or the one of least risk − λ · utility. Equal records are solved once.
//!
//! A release that is made so is *not* k-anonymous: a record may be the only one with its cells. [`grouped`] generalizes
//! further until every group has k records.

pub mod dictionary;
pub mod models;
pub(crate) mod near;
pub mod record;
mod published;
mod boxes;
mod optimum;
pub mod search;
pub mod problem;
pub mod group;

pub use group::{grouped, recode};
pub use models::{Goal, Risk, SENSITIVITY_MAX, SENSITIVITY_ONE, Sensitivities, UTILITY_ONE, Utility, Wish};
pub use problem::{Point, Problem};
pub use record::Record;
pub use search::Strategy;
