//! Whether what a column tells is a relation or chance: the column is shuffled within every group, again and again.

use crate::error::Result;
use crate::task::Task;
use crate::tells::shuffle::Shuffler;
use crate::tells::teller::{Teller, told};
use crate::tells::{Hidden, Kept, NEARLY_ALL, Told};

/// How often the column is shuffled to see what chance does.
const N_SHUFFLES: u64 = 39;

/// How many standard deviations beyond chance a relation is.
const N_DEVIATIONS: f64 = 4.0;

/// After so many shuffles it ends where it is clear what comes of it.
const N_SHUFFLES_LEAST: u64 = 8;

/// Hopeless is what is within half as many standard deviations as it takes.
const N_DEVIATIONS_HOPELESS: f64 = 2.0;

/// Sure is what is beyond three times as many: of eight numbers, the deviation is hardly ever taken for a third of what it
/// is. Records fall below k in crowds of nearly k at once, which eight shuffles may not have shown: it is beyond six of
/// these too.
const N_DEVIATIONS_SURE: f64 = 12.0;
const N_CROWDS_SURE: f64 = 6.0;

/// A relation that is no chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relation {
    /// What it tells.
    pub told: Told,
    /// What a column with the same values in every group would tell that has nothing to do with the attribute, on average.
    pub n_told_by_chance: f64,
    /// How many records would fall below k with such a column, on average.
    pub n_below_by_chance: f64,
}

impl Relation {
    /// Whether it tells nearly all that can be told: nine of ten records with a shared value that chance does not tell.
    pub fn is_nearly_certain(&self) -> bool {
        let (told, shared) = (self.told.n_told as f64, self.told.n_shared as f64);
        told - self.n_told_by_chance >= NEARLY_ALL * (shared - self.n_told_by_chance)
    }
}

/// The relation between a column and an attribute, where it leaves records among fewer than k and is no chance: when the
/// column's values are shuffled within every group, which changes nothing else that is published, fewer records fall
/// below k, every one of 39 times and by four standard deviations. Where people are counted, what somebody's records say
/// is moved together: five records of a person with the same value are one coincidence and not five.
///
/// After eight times it ends where it is within two standard deviations of chance, or beyond twelve and six crowds of k.
///
/// # Errors
/// Where the task is cancelled.
pub fn relation(hidden: &Hidden, kept: &Kept, task: &Task) -> Result<Option<Relation>> {
    beyond_chance(hidden, kept, told(hidden, kept), task)
}

/// The same where it is known what the column tells.
///
/// # Errors
/// Where the task is cancelled.
pub fn beyond_chance(hidden: &Hidden, kept: &Kept, told: Told, task: &Task) -> Result<Option<Relation>> {
    if told.n_below == 0 {
        return Ok(None);
    }
    let mut teller = Teller::new(hidden);
    let mut shuffler = Shuffler::new(hidden, kept.values);
    let (mut n_told, mut n_below, mut squares) = (0.0, 0.0, 0.0);
    for n in 1..=N_SHUFFLES {
        task.go_on()?;
        let by_chance = teller.tell(shuffler.shuffle(), kept.is_shared);
        if by_chance.n_below >= told.n_below {
            return Ok(None);
        }
        n_told += by_chance.n_told as f64;
        n_below += by_chance.n_below as f64;
        squares += (by_chance.n_below as f64).powi(2);
        let n_shuffles = n as f64;
        let mean = n_below / n_shuffles;
        let deviation = (squares / n_shuffles - mean.powi(2)).max(0.0).sqrt();
        let beyond = told.n_below as f64 - mean;
        let is_hopeless = n >= N_SHUFFLES_LEAST && beyond <= N_DEVIATIONS_HOPELESS * deviation;
        if is_hopeless || n == N_SHUFFLES && beyond <= N_DEVIATIONS * deviation {
            return Ok(None);
        }
        let is_sure = beyond > (N_DEVIATIONS_SURE * deviation).max(N_CROWDS_SURE * hidden.k as f64);
        if n == N_SHUFFLES || n >= N_SHUFFLES_LEAST && is_sure {
            return Ok(Some(Relation { told, n_told_by_chance: n_told / n_shuffles, n_below_by_chance: mean }));
        }
    }
    unreachable!("the last shuffle decides")
}
