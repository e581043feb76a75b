//! Which way to roll up fits a table and what is wanted of it.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::hierarchy::Hierarchy;
use crate::lattice::by_histogram::{Histograms, HistogramsOfPeople};
use crate::lattice::by_set::{Sets, SetsOfPeople};
use crate::lattice::histograms::N_VALUES_MAX;
use crate::lattice::people::{fits_tallies, people_of_one_group};
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::roller::{Roller, Wanted};
use crate::lattice::size::check_table;
use crate::lattice::wide::Wide;

/// Work that is the same for every way to roll up.
pub(crate) trait WithRoller {
    type Done;
    fn work<K: Key, R: Roller>(self, roller: &R, order: &[usize]) -> Result<Self::Done>;
}

/// Does some work with the way to roll up that fits the table and what is wanted; in an order of attributes, if one is
/// given.
pub(crate) fn with_roller<W: WithRoller>(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Wanted,
    order: Option<&[usize]>,
    work: W,
) -> Result<W::Done> {
    check_table(counts, hierarchies)?;
    let is_over_people = wanted.yardstick.is_over_people();
    let only_distinct = wanted.only_distinct().filter(|_| fits_tallies(counts));
    // People who are in one group with one value add up as records do.
    let people = only_distinct.filter(|_| is_over_people).and_then(|s| people_of_one_group(counts, s));
    let are_added_up = !is_over_people || people.is_some();
    let sensitive = only_distinct.flatten();
    let of_sets = sensitive.filter(|_| are_added_up);
    let mut roll_up = RollUp::new(counts, hierarchies, wanted.penalties, wanted.entropies, of_sets, people);
    roll_up.order = order.map_or(roll_up.order, <[usize]>::to_vec);
    let roll_up = &roll_up;
    let yardstick = wanted.yardstick;
    match (only_distinct.is_some(), are_added_up) {
        (true, true) => with_key(roll_up, &Sets { roll_up, yardstick }, work),
        // Wide keys take so long that nothing else matters.
        (true, false) if roll_up.n_bits() <= N_BITS_NARROW => {
            with_narrow_key(roll_up, &SetsOfPeople { roll_up, yardstick, sensitive }, work)
        }
        _ if yardstick.n_slots() > N_VALUES_MAX => {
            Err(Error::new(ErrorKind::TooLarge, format!("more than {N_VALUES_MAX} sensitive values")))
        }
        _ if is_over_people => with_key(roll_up, &HistogramsOfPeople { roll_up, wanted }, work),
        _ => with_key(roll_up, &Histograms { roll_up, wanted }, work),
    }
}

/// Does some work with keys as wide as they have to be.
fn with_key<W: WithRoller, R: Roller>(roll_up: &RollUp, roller: &R, work: W) -> Result<W::Done> {
    let order = &roll_up.order[..];
    match roll_up.n_bits() {
        0..=N_BITS_NARROW => with_narrow_key(roll_up, roller, work),
        128..=255 => work.work::<Wide<4>, R>(roller, order),
        256..=1_023 => work.work::<Wide<16>, R>(roller, order),
        1_024..=N_BITS_MAX => work.work::<Wide<256>, R>(roller, order),
        n_bits => Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "the values of {} quasi-identifiers take {n_bits} bits, and at most {N_BITS_MAX} can be told apart",
                order.len()
            ),
        )
        .hint(Wording::text("choose fewer with ").setting("quasi_identifiers"))),
    }
}

/// The same with keys of one word or two.
fn with_narrow_key<W: WithRoller, R: Roller>(roll_up: &RollUp, roller: &R, work: W) -> Result<W::Done> {
    // One bit less than there is, so that every shift is smaller than the width.
    match roll_up.n_bits() {
        0..=63 => work.work::<u64, R>(roller, &roll_up.order),
        _ => work.work::<u128, R>(roller, &roll_up.order),
    }
}

const N_BITS_NARROW: u32 = 127;
/// The widest keys: thousands of attributes.
const N_BITS_MAX: u32 = 256 * 64 - 1;
