//! Whether a lattice fits into the memory that it may take, and what is said where it does not.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result, Wording};
use crate::hierarchy::Hierarchy;
use crate::lattice::profile::SIZE_MASK;
use crate::task::Task;

/// Beyond this, a number of bytes tells nobody anything.
pub const N_BYTES_OF_ANY_MACHINE: u64 = 1_000_000_000_000_000;

/// Refuses tables that no scheme can be looked at of.
pub(crate) fn check_table(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Result<()> {
    if counts.n_records() > SIZE_MASK {
        return Err(Error::new(ErrorKind::TooLarge, format!("more than {SIZE_MASK} records")));
    }
    if hierarchies.is_empty() {
        return Err(Error::new(ErrorKind::Request, "there is no quasi-identifier to generalize"));
    }
    Ok(())
}

/// Refuses a lattice of so many schemes that it cannot fit, before anything is made.
pub(crate) fn check_size(n_attributes: usize, n_schemes: u64, task: &Task) -> Result<()> {
    // A profile has at least one entry, the grids have a few dozen columns, and places are 32-bit numbers.
    let n_bytes_least = n_schemes.saturating_mul(256);
    match n_bytes_least > task.n_bytes_max || n_schemes > u64::from(u32::MAX) {
        true => Err(too_large(n_attributes, n_schemes, n_bytes_least, task)),
        false => Ok(()),
    }
}

pub(crate) fn too_large(n_attributes: usize, n_schemes: u64, n_bytes: u64, task: &Task) -> Error {
    let size = |n_bytes: u64| match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{} MB", n_bytes.div_ceil(1_000_000)),
    };
    let needed = match n_bytes < N_BYTES_OF_ANY_MACHINE {
        true => format!("more than {}", size(n_bytes)),
        false => "more memory than any machine has".to_string(),
    };
    let how_many = if n_schemes == u64::MAX { "over 10^19".to_string() } else { n_schemes.to_string() };
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "the lattice of {n_attributes} quasi-identifiers has {how_many} schemes and needs {needed}, \
             where {} are allowed",
            size(task.n_bytes_max)
        ),
    )
    .hint(
        Wording::text("choose fewer with ")
            .setting("quasi_identifiers")
            .and(", give the hierarchies fewer levels, or allow more with ")
            .setting("memory"),
    )
}
