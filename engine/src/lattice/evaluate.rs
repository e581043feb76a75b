//! One scheme more than were annotated: its groups, rolled up from the finest scheme.

use crate::criterion::Measured;
use crate::error::Result;
use crate::lattice::fitting::WithRoller;
use crate::lattice::profile::Profile;
use crate::lattice::roll_up::Key;
use crate::lattice::roller::{Ground, Roller};
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

    fn work<'a, K: Key, R: Roller<'a>>(self, ground: Ground<'a>) -> Result<Seen> {
        let (mut work, mut rows, mut groups) = R::begin::<K>(ground);
        let mut now = vec![0; self.0.len()];
        for &attribute in &ground.roll_up.order {
            while now[attribute] < self.0[attribute] {
                now[attribute] += 1;
                let mut next = Rows::default();
                groups = work.step::<K>(ground, &rows, &now, attribute, &mut next);
                rows = next;
            }
        }
        let (signatures, profile) = work.seen(ground, groups);
        Ok(Seen { signatures, profile })
    }
}
