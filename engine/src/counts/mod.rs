//! Which combinations of quasi-identifier values occur, how many records share each, and with which sensitive values.
//!
//! This is the only place where the records of a table are counted. Whatever is asked later is answered from
//! [`GroupCounts`], whose size depends on the number of distinct combinations, not on the number of records.

pub mod people;
pub mod counted_as;
mod groups;
mod collect;
mod update;
mod keys;
mod counter;

use crate::table::Code;

pub use counter::Counter;
pub use groups::{GroupCounts, Population};

/// The most combinations of values that a table may have: groups, classes and what unites them have numbers of 32 bits.
pub(crate) const N_CELLS_MAX: usize = (u32::MAX / 2) as usize;

/// The most records that a table may have: sizes of groups share their words with something else.
pub(crate) const N_RECORDS_MAX: u64 = (1 << 38) - 1;

/// The number of a group, a class or one of its values. Counts never have more of them than such numbers can tell
/// apart: [`Counter`] refuses them.
pub(crate) fn number(n: usize) -> u32 {
    u32::try_from(n).expect("counts have at most 2^31 combinations of values")
}

/// A hash of one code per attribute.
#[inline]
pub(crate) fn hash_codes(codes: impl Iterator<Item = Code>) -> u64 {
    codes.fold(0, |hash, code| hash_key(&[hash ^ u64::from(code.0)]))
}

#[inline]
fn hash_key(key: &[u64]) -> u64 {
    let mut hash = 0u64;
    for word in key {
        // Multiply and fold, so that the high bits, where small codes differ little, count too.
        let product = u128::from(hash ^ word ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03;
        hash = (product as u64) ^ (product >> 64) as u64;
    }
    hash
}
