//! The thesis's own search (Figures 4.3 to 4.8), for comparison.
//!
//! It looks at the coarsest acceptable scheme first. Where that one does not do, nothing is looked for below it; where it
//! does, the search goes down from it as long as schemes do. The relaxations of suppression and privacy start from it too,
//! and end at the first height at which no scheme does; that of the levels begins at its height.
//!
//! Under criteria that are monotone the first three lose nothing by that (thesis, theorem 2), and the last can miss a lower
//! scheme. Under others all four can: where a satisfying group joins a violating one, the coarser scheme is the worse one.

use std::collections::BTreeSet;

use crate::criterion::{Criteria, Criterion};
use crate::error::Result;
use crate::lattice::Lattice;
use crate::scheme::{Level, Scheme};
use crate::search::negotiate::{
    Answer, N_BETWEEN, Offer, Offers, Relaxed, Request, decisive, negotiate_with, offer, smallest_concession_first,
    strictest_of, weakest_of, within_levels,
};
use crate::task::Task;

/// The answer that the published algorithm gives.
///
/// The papers rank by height alone: by another ranking, and in a part of a lattice that lacks the coarsest acceptable
/// scheme, it is [`crate::negotiate`] with the published search for the height offer.
///
/// # Errors
/// As for [`crate::negotiate`].
pub fn negotiate_as_published(lattice: &Lattice, request: &Request) -> Result<Answer> {
    negotiate_as_published_with(lattice, request, &Task::default())
}

/// The same as work that somebody may stop.
///
/// # Errors
/// As for [`negotiate_with`].
pub fn negotiate_as_published_with(lattice: &Lattice, request: &Request, task: &Task) -> Result<Answer> {
    request.check(lattice)?;
    let coarsest = lattice.schemes().find(&request.level_max);
    // Under monotone criteria, the two searches find the same.
    let is_other = request.best_by.is_height() && decisive(lattice, request).is_none();
    let answer = match coarsest.filter(|_| is_other) {
        Some(coarsest) => Descent { lattice, request, coarsest, task }.answer()?,
        None => match negotiate_with(lattice, request, task)? {
            Answer::Offers(offers) => {
                Answer::Offers(Offers { height: relax_height(lattice, request, task)?, ..offers })
            }
            exact => exact,
        },
    };
    lattice.intact()?;
    Ok(answer)
}

/// The same, step by step as it is printed, under monotone criteria too: whoever counts the schemes that it looks at counts
/// those of the thesis. In a part of a lattice that lacks the coarsest acceptable scheme it is
/// [`negotiate_as_published_with`].
///
/// # Errors
/// As for [`negotiate_with`].
pub fn negotiate_by_the_book(lattice: &Lattice, request: &Request, task: &Task) -> Result<Answer> {
    request.check(lattice)?;
    let answer = match lattice.schemes().find(&request.level_max).filter(|_| request.best_by.is_height()) {
        Some(coarsest) => Descent { lattice, request, coarsest, task }.answer()?,
        None => return negotiate_as_published_with(lattice, request, task),
    };
    lattice.intact()?;
    Ok(answer)
}

/// A search from the coarsest acceptable scheme downwards.
struct Descent<'a> {
    lattice: &'a Lattice,
    request: &'a Request,
    coarsest: usize,
    task: &'a Task<'a>,
}

impl Descent<'_> {
    fn answer(&self) -> Result<Answer> {
        let criteria = &self.request.criteria;
        if let Some(place) = self.below_what_does()? {
            return Ok(Answer::Exact(offer(self.lattice, place, criteria)));
        }
        (self.task.progress)(1);
        let n_least = self.lattice.n_suppressed(self.coarsest, criteria);
        let place = self.height_by_height(criteria, n_least)?.unwrap_or(self.coarsest);
        let privacy_alternatives = smallest_concession_first(self.request, |criterion| self.relax(criterion))?;
        Ok(Answer::Offers(Offers {
            suppression: offer(self.lattice, place, criteria),
            height: relax_height(self.lattice, self.request, self.task)?,
            privacy: privacy_alternatives.first().cloned(),
            privacy_alternatives,
        }))
    }

    /// The lowest of the schemes that a way leads to on which all do (Figures 4.3 to 4.5).
    fn below_what_does(&self) -> Result<Option<usize>> {
        let schemes = self.lattice.schemes();
        let suppression = self.lattice.suppression(&self.request.criteria);
        let mut candidates = Vec::new();
        let mut seen = BTreeSet::from([self.coarsest]);
        let mut to_visit = vec![self.coarsest];
        while let Some(place) = to_visit.pop() {
            self.task.go_on_now_and_then(seen.len(), N_BETWEEN)?;
            (self.task.progress)(1);
            let Some(n) = suppression.exact_up_to(place, self.request.n_suppressed_max) else { continue };
            let scheme = schemes.scheme(place);
            candidates.push((scheme.height(), n, place));
            let lower = |a: usize| {
                let mut levels = scheme.levels().to_vec();
                levels[a] = Level(levels[a].0.checked_sub(1)?);
                schemes.find(&Scheme::new(levels))
            };
            to_visit.extend((0..scheme.levels().len()).filter_map(lower).filter(|&place| seen.insert(place)));
        }
        Ok(candidates.into_iter().min().map(|(_, _, place)| place))
    }

    /// The lowest of the schemes within the levels that do, height by height from the coarsest until none does (Figures 4.6
    /// and 4.7).
    fn height_by_height(&self, criteria: &Criteria, n_max: u64) -> Result<Option<usize>> {
        let schemes = self.lattice.schemes();
        let suppression = self.lattice.suppression(criteria);
        let is_within = within_levels(self.lattice, Some(&self.request.level_max));
        let mut lowest = None;
        for height in (0..=self.request.level_max.height() as usize).rev() {
            self.task.go_on()?;
            let within = schemes.at_height(height).filter(&is_within);
            let doing = within.filter_map(|place| {
                (self.task.progress)(1);
                Some((suppression.exact_up_to(place, n_max)?, place))
            });
            let Some((_, place)) = doing.min() else { break };
            lowest = Some(place);
        }
        Ok(lowest)
    }

    /// The strictest value of one criterion that the coarsest scheme keeps, and the lowest scheme that keeps it.
    fn relax(&self, criterion: Criterion) -> Result<Option<(u64, Offer)>> {
        let Some(weakest) = weakest_of(self.lattice, criterion) else { return Ok(None) };
        let mut relaxed = Relaxed::new(self.lattice, self.request, criterion.measure);
        let Some(value) = strictest_of(&mut relaxed, self.coarsest, weakest, criterion.value) else { return Ok(None) };
        let criteria = self.request.criteria.with(criterion.with_value(value));
        let place = self.height_by_height(&criteria, self.request.n_suppressed_max)?.unwrap_or(self.coarsest);
        Ok(Some((value, offer(self.lattice, place, &criteria))))
    }
}

/// The lowest scheme of all, by halving the heights from that of the coarsest acceptable scheme on (Figure 4.8).
fn relax_height(lattice: &Lattice, request: &Request, task: &Task) -> Result<Option<Offer>> {
    let schemes = lattice.schemes();
    let suppression = lattice.suppression(&request.criteria);
    let satisfies = |&place: &usize| {
        (task.progress)(1);
        suppression.exact(place) <= request.n_suppressed_max
    };
    let (mut low, mut high) = (request.level_max.height() as usize, schemes.n_heights() - 1);
    let mut lowest_height = None;
    while low <= high {
        let middle = (low + high) / 2;
        let mut is_found = false;
        for (i, place) in schemes.at_height(middle).enumerate() {
            task.go_on_now_and_then(i, N_BETWEEN)?;
            is_found |= satisfies(&place);
            if is_found {
                break;
            }
        }
        if is_found {
            lowest_height = Some(middle);
            if middle == 0 {
                break;
            }
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    let Some(height) = lowest_height else { return Ok(None) };
    let place = schemes.at_height(height).filter(satisfies).min_by_key(|&place| suppression.exact(place));
    Ok(place.map(|place| offer(lattice, place, &request.criteria)))
}
