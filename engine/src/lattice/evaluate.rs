//! One scheme more than were annotated: its groups, rolled up from the finest scheme.

use crate::criterion::Measured;
use crate::error::Result;
use crate::lattice::fitting::WithRoller;
use crate::lattice::profile::Profile;
use crate::lattice::roll_up::Key;
use crate::lattice::roller::Roller;
use crate::lattice::rows::Rows;

/// What a scheme's groups look like: what criteria see of them, and how many look how.
pub(crate) struct Seen {
    pub(crate) signatures: Measured,
    pub(crate) profile: Profile,
}

/// A look at the scheme with these levels.
pub(crate) struct Evaluating<'a>(pub(crate) &'a [u8]);

impl WithRoller for Evaluating<'_> {
    type Done = Seen;

    fn work<K: Key, R: Roller>(self, roller: &R, order: &[usize]) -> Result<Seen> {
        let (mut work, mut rows, mut groups) = roller.begin::<K>();
        let mut now = vec![0; self.0.len()];
        for &attribute in order {
            while now[attribute] < self.0[attribute] {
                now[attribute] += 1;
                let mut next = Rows::default();
                groups = roller.step::<K>(&mut work, &rows, &now, attribute, &mut next);
                rows = next;
            }
        }
        let (signatures, profile) = roller.seen(&work, groups);
        Ok(Seen { signatures, profile })
    }
}
