//! Why a scheme suppresses what it does: by the size of groups, and by attribute.

use super::request::wrong;
use crate::criterion::Criteria;
use crate::error::Result;
use crate::lattice::Lattice;
use crate::scheme::{Level, Scheme};

/// Where a scheme stands in a lattice.
pub(crate) fn place_of(lattice: &Lattice, scheme: &Scheme) -> Result<usize> {
    scheme.check(lattice.hierarchies())?;
    lattice.schemes().find(scheme).ok_or_else(|| wrong("this part of the lattice has no such scheme"))
}

/// Why a scheme suppresses what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The scheme that is explained.
    pub scheme: Scheme,
    /// How many records it suppresses.
    pub n_suppressed: u64,
    /// Records in groups of each size, smallest first, with whether they are published.
    pub by_size: Vec<SizeShare>,
    /// What each attribute contributes, in the order of attributes.
    pub by_attribute: Vec<Contribution>,
}

/// The records in groups of one size, and how many of them are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeShare {
    /// Records per group.
    pub size: u64,
    /// How many records are in such groups.
    pub n_records: u64,
    /// How many of them are suppressed.
    pub n_suppressed: u64,
}

/// What one attribute has to do with what is lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The number of the quasi-identifier.
    pub attribute: usize,
    /// The level that it has.
    pub level: Level,
    /// Records that would not be suppressed if this attribute were `*`: how much of the loss it causes.
    pub n_caused: u64,
    /// Records that one more level would save; none at the top.
    pub n_saved_by_next: Option<u64>,
}

/// Explains a scheme's suppression, from annotations.
///
/// # Errors
/// Where the lattice lacks the scheme or one beside it, or was annotated without one of the criteria.
pub fn explain(lattice: &Lattice, scheme: &Scheme, criteria: &Criteria) -> Result<Explanation> {
    lattice.check_measured(criteria)?;
    place_of(lattice, scheme)?;
    let schemes = lattice.schemes();
    let profile = lattice.profile(schemes.place(scheme));
    let n_suppressed = lattice.n_suppressed(schemes.place(scheme), criteria);
    let test = lattice.signatures().test(criteria);
    let at = |scheme: &Scheme| Ok(lattice.n_suppressed(place_of(lattice, scheme)?, criteria));
    let mut by_size: Vec<SizeShare> = Vec::new();
    for entry in profile.entries() {
        let size = lattice.signatures().size(entry.signature as usize);
        let n_records = lattice.signatures().n_records(entry.signature as usize) * u64::from(entry.n_groups);
        let lost = if test.holds(entry.signature as usize) { 0 } else { n_records };
        match by_size.last_mut() {
            Some(last) if last.size == size => {
                last.n_records += n_records;
                last.n_suppressed += lost;
            }
            _ => by_size.push(SizeShare { size, n_records, n_suppressed: lost }),
        }
    }
    let by_attribute = scheme
        .levels()
        .iter()
        .enumerate()
        .map(|(attribute, &level)| {
            let top = Level(schemes.tops()[attribute]);
            let next = (level < top).then(|| scheme.with(attribute, Level(level.0 + 1)));
            let saved = |there: Result<u64>| there.map(|there| n_suppressed.saturating_sub(there));
            Ok(Contribution {
                attribute,
                level,
                n_caused: saved(at(&scheme.with(attribute, top)))?,
                n_saved_by_next: next.map(|next| saved(at(&next))).transpose()?,
            })
        })
        .collect::<Result<_>>()?;
    Ok(Explanation { scheme: scheme.clone(), n_suppressed, by_size, by_attribute })
}
