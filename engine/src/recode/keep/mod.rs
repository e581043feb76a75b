//! Local recoding that keeps every criterion, by whichever method.
//!
//! What the method makes for k and one l is the beginning; where all of its classes keep what else is asked for, it is
//! the end too. Otherwise
//!
//! - from above and from below, classes that miss something join one of their nearest with which they do not (`unite`);
//!   what keeps everything is divided again where both sides do (`cuts`), and in the end neighbours share their records
//!   anew;
//! - Mondrian cuts anew, and only where both halves keep everything (`mondrian`);
//! - what is negotiated is the best cut of its tree, which keeps everything anyway ([`crate::recode::tree`]).
//!
//! Where records may be lost, those are left out that cost the others more than everything they have (`suppress`).
//!
//! (To divide all records from above, as long as both sides keep everything, was tried and loses more: on Adult with
//! k = 10, a fifth more for t = 0.2, a third more for t = 0.2 in the equal distance, a quarter more for entropy l = 5. Cuts
//! that are good for large sets leave small ones that miss something on either side of every further cut.)
//!
//! Whatever came out can be improved (`better`), step by step.
//!
//! That this ends is no wonder: two classes of records that keep a criterion keep it together (`# Joining` at every
//! formula of [`crate::criterion::formulas`]), so that at worst all records are one class. People may be in several
//! classes, and no criterion but k is kept by joining them; so whatever is united is measured again, also where classes
//! come to the same cells.

pub(crate) mod cuts;
pub(crate) mod unite;
pub(crate) mod mondrian;
pub(crate) mod suppress;
mod partition;
mod better;

pub use crate::recode::enough::Demand;
pub use better::{improved, improved_within, loss, loss_of_attributes};
pub use partition::{Wanted, partition, published};
