//! Which way to roll up fits a table and what is wanted of it.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::hierarchy::Hierarchy;
use crate::lattice::by_set::SetWork;
use crate::lattice::histograms::{HistogramWork, N_VALUES_MAX};
use crate::lattice::people::{PeopleCount, fits_tallies, people_of_one_group};
use crate::lattice::people_histograms::PeopleHistograms;
use crate::lattice::roll_up::{Key, RollUp};
use crate::lattice::roller::{Annotation, Ground, Roller};
use crate::lattice::size::check_table;
use crate::lattice::wide::Wide;

/// Work that is the same for every way to roll up.
pub(crate) trait WithRoller {
    type Done;
    fn work<'a, K: Key, R: Roller<'a>>(self, ground: Ground<'a>) -> Result<Self::Done>;
}

/// Does some work with the way to roll up that fits the table and what is wanted; in an order of attributes, if one is
/// given.
pub(crate) fn with_roller<W: WithRoller>(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Annotation,
    order: Option<&[usize]>,
    work: W,
) -> Result<W::Done> {
    check_table(counts, hierarchies)?;
    let is_over_people = wanted.yardstick.is_over_people();
    let fits =
        |s: &Option<usize>| fits_tallies(counts) && (is_over_people || s.is_none_or(|s| are_sets_small(counts, s)));
    let only_distinct = wanted.only_distinct().filter(fits);
    // People who are in one group with one value add up as records do.
    let people = only_distinct.filter(|_| is_over_people).and_then(|s| people_of_one_group(counts, s));
    let are_added_up = !is_over_people || people.is_some();
    let of_sets = only_distinct.flatten().filter(|_| are_added_up);
    let mut roll_up = RollUp::new(counts, hierarchies, wanted.penalties, wanted.entropies, of_sets, people);
    roll_up.order = order.map_or(roll_up.order, <[usize]>::to_vec);
    let ground = Ground { roll_up: &roll_up, wanted };
    match (only_distinct.is_some(), are_added_up) {
        (true, true) => with_key::<W, SetWork>(ground, work),
        // Wide keys take so long that nothing else matters.
        (true, false) if roll_up.n_bits() <= N_BITS_NARROW => with_narrow_key::<W, PeopleCount>(ground, work),
        _ if wanted.yardstick.n_slots() > N_VALUES_MAX => {
            Err(Error::new(ErrorKind::TooLarge, format!("more than {N_VALUES_MAX} sensitive values")))
        }
        _ if is_over_people => with_key::<W, PeopleHistograms>(ground, work),
        _ => with_key::<W, HistogramWork>(ground, work),
    }
}

/// Whether sets of sensitive values take little: a group's has a bit for every value of the table. Where groups are many
/// and nearly every record has a value of its own, histograms, which name the values that a group has, take far less.
fn are_sets_small(counts: &GroupCounts, s: usize) -> bool {
    const N_WORDS_PER_RECORD: u64 = 16;
    let n_values = counts.sensitive()[s].len();
    let n_words = n_values.div_ceil(64) as u64 * counts.n_groups() as u64;
    n_values > N_VALUES_MAX || n_words <= N_WORDS_PER_RECORD.saturating_mul(counts.n_records())
}

/// Does some work with keys as wide as they have to be.
fn with_key<'a, W: WithRoller, R: Roller<'a>>(ground: Ground<'a>, work: W) -> Result<W::Done> {
    match ground.roll_up.n_bits() {
        0..=N_BITS_NARROW => with_narrow_key::<W, R>(ground, work),
        128..=255 => work.work::<Wide<4>, R>(ground),
        256..=1_023 => work.work::<Wide<16>, R>(ground),
        1_024..=N_BITS_MAX => work.work::<Wide<256>, R>(ground),
        n_bits => Err(Error::new(
            ErrorKind::TooLarge,
            format!(
                "the values of {} quasi-identifiers take {n_bits} bits, and at most {N_BITS_MAX} can be told apart",
                ground.roll_up.order.len()
            ),
        )
        .hint(Wording::text("choose fewer with ").setting("quasi_identifiers"))),
    }
}

/// The same with keys of one word or two.
fn with_narrow_key<'a, W: WithRoller, R: Roller<'a>>(ground: Ground<'a>, work: W) -> Result<W::Done> {
    // One bit less than there is, so that every shift is smaller than the width.
    match ground.roll_up.n_bits() {
        0..=63 => work.work::<u64, R>(ground),
        _ => work.work::<u128, R>(ground),
    }
}

const N_BITS_NARROW: u32 = 127;
/// The widest keys: thousands of attributes.
const N_BITS_MAX: u32 = 256 * 64 - 1;
