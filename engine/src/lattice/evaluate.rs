//! One scheme at a time: its groups are made when they are asked for, from the nearest finer scheme at hand.

use std::marker::PhantomData;

use crate::criterion::Measured;
use crate::error::Result;
use crate::lattice::profile::Profile;
use crate::lattice::roll_up::Key;
use crate::lattice::rows::Rows;
use crate::lattice::walk::{Roller, WithRoller};

/// What a scheme's groups look like: what criteria see of them, and how many look how.
pub(crate) struct Seen {
    pub(crate) signatures: Measured,
    pub(crate) profile: Profile,
}

/// Makes the groups of any scheme.
pub(crate) trait Evaluate {
    fn seen(&mut self, levels: &[u8]) -> Seen;

    /// Those of several schemes.
    fn all_seen(&mut self, many: &[Vec<u8>]) -> Vec<Seen> {
        many.iter().map(|levels| self.seen(levels)).collect()
    }
}

/// Something to do with an evaluator; the rows that it keeps take at most so many bytes, beside those of the finest
/// scheme.
pub(crate) struct Evaluating<F> {
    pub(crate) n_bytes_max: u64,
    pub(crate) work: F,
}

impl<T, F: FnOnce(&mut dyn Evaluate) -> Result<T>> WithRoller for Evaluating<F> {
    type Done = T;

    fn work<K: Key, R: Roller>(self, roller: &R, order: &[usize]) -> Result<T> {
        let (work, base, _) = roller.begin::<K>();
        let base = AtHand { levels: vec![0; order.len()].into(), rows: base, last_used: 0 };
        let mut evaluator = Evaluator::<R, K> {
            roller,
            order,
            work,
            at_hand: vec![base],
            n_bytes: 0,
            n_bytes_max: self.n_bytes_max,
            n_asked: 0,
            key: PhantomData,
        };
        (self.work)(&mut evaluator)
    }
}

/// The rows of a scheme.
struct AtHand {
    levels: Box<[u8]>,
    rows: Rows,
    last_used: u64,
}

/// More schemes at hand take longer to look through than they save.
const N_AT_HAND: usize = 400;

struct Evaluator<'a, R: Roller, K> {
    roller: &'a R,
    /// The attributes, those that merge most first.
    order: &'a [usize],
    work: R::Work,
    /// The finest scheme first.
    at_hand: Vec<AtHand>,
    /// What the rows at hand take, without those of the finest scheme.
    n_bytes: u64,
    n_bytes_max: u64,
    n_asked: u64,
    key: PhantomData<K>,
}

impl<R: Roller, K: Key> Evaluate for Evaluator<'_, R, K> {
    fn seen(&mut self, levels: &[u8]) -> Seen {
        self.n_asked += 1;
        if self.roller.n_bytes_of_work(&self.work) as u64 > self.n_bytes_max {
            self.begin();
        }
        if levels.iter().all(|&level| level == 0) {
            let groups = self.begin();
            let (signatures, profile) = self.roller.seen(&self.work, groups);
            return Seen { signatures, profile };
        }
        let is_finer =
            |known: &AtHand| known.levels.iter().zip(levels).all(|(a, b)| a <= b) && *known.levels != *levels;
        let (source, _) = self
            .at_hand
            .iter()
            .enumerate()
            .filter(|(_, known)| is_finer(known))
            .min_by_key(|(_, known)| known.rows.words.len() + known.rows.drifters.len())
            .expect("the finest scheme is at hand");
        self.at_hand[source].last_used = self.n_asked;
        let mut now = self.at_hand[source].levels.to_vec();
        let mut rows: Option<Rows> = None;
        let mut groups = None;
        for &attribute in self.order {
            while now[attribute] < levels[attribute] {
                now[attribute] += 1;
                let from = rows.as_ref().unwrap_or(&self.at_hand[source].rows);
                let mut next = Rows::default();
                groups = Some(self.roller.step::<K>(&mut self.work, from, &now, attribute, &mut next));
                rows = Some(next);
            }
        }
        let (groups, rows) = (groups.expect("at least one step"), rows.expect("at least one step"));
        let (signatures, profile) = self.roller.seen(&self.work, groups);
        self.keep(AtHand { levels: levels.into(), rows, last_used: self.n_asked });
        Seen { signatures, profile }
    }
}

impl<R: Roller, K: Key> Evaluator<'_, R, K> {
    /// Begins anew, with the finest scheme alone: rows name signatures by the number that the work gave them.
    fn begin(&mut self) -> R::Groups {
        let (work, base, groups) = self.roller.begin::<K>();
        self.work = work;
        self.at_hand.truncate(1);
        self.at_hand[0].rows = base;
        self.n_bytes = 0;
        groups
    }

    /// Keeps rows at hand, in place of those that were of no use for the longest time.
    fn keep(&mut self, mut new: AtHand) {
        let n_bytes = new.rows.n_bytes();
        if n_bytes > self.n_bytes_max || self.at_hand.iter().any(|known| known.levels == new.levels) {
            return;
        }
        new.rows.shrink_to_fit();
        self.n_bytes += n_bytes;
        self.at_hand.push(new);
        while self.n_bytes > self.n_bytes_max || self.at_hand.len() > N_AT_HAND {
            let others = self.at_hand.iter().enumerate().skip(1);
            let (oldest, _) = others.min_by_key(|(_, known)| known.last_used).expect("something is too much");
            self.n_bytes -= self.at_hand.swap_remove(oldest).rows.n_bytes();
        }
    }
}
