//! Stack & Deal: classes of equal size, in which every sensitive value is as frequent as in the table, to one record.
//!
//! Gowda, "Stack and Deal" (2021): records are stacked by sensitive value, the most frequent first, and dealt to
//! ⌊records / k⌋ classes like cards to players (`stack`, `hands`). The dealing says how many records of each value a class
//! gets, its *hand*, and not which. That choice is ours: near ones. With two sensitive attributes, hands are even in both
//! and in their combination (`even`).
//!
//! A large table is halved again and again (`halve`). A half of the classes gets, for every value in its hands, the records
//! that come first along one attribute: of the attributes, the one that leaves the nearest records together. What is left
//! of some thousand records fills one hand after the other (`fill`). Then classes exchange records that have the same
//! sensitive values, where both together lose less by it (`exchange`). None of these touches the hands, so that all that
//! the dealing guarantees stays, and the distance of every class to the table with it.
//!
//! What it costs: for every halving a pass over the attributes, so records · attributes · log₂(records / k); for every
//! record that fills a hand a look at those that could; and for every attempt at an exchange all pairs of records of two
//! classes with the same sensitive values, at most k² · attributes.

/// Which records of a sensitive value go to which class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrange {
    /// Any, by chance.
    Plain,
    /// Any, and hands are even in the first sensitive attribute alone: the paper's own dealing, which knows one. With one,
    /// it is [`Arrange::Plain`] with other chances.
    Published,
    /// Near ones, with so many attempts at an exchange per class.
    Near {
        /// How many attempts.
        n_tries: u32,
    },
}

/// Attempts at an exchange per class where nobody says how many.
pub const N_TRIES: u32 = 300;

mod differences;
mod people;
mod even;
mod stack;
mod hands;
mod fill;
mod halve;
mod exchange;
mod partition;

pub use differences::differences;
pub use partition::partition;
pub use people::{by_person, fewest_people};
