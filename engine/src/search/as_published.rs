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
use crate::scheme::Scheme;
use crate::search::negotiate::{
    Answer, N_BETWEEN, Offer, Offers, Relaxed, decisive, negotiate_with, offer, smallest_concession_first,
    strictest_of, weakest_of, within_levels,
};
use crate::search::request::Request;
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
                Answer::Offers(Offers { height: relax_height(lattice, request, &in_order(lattice), task)?, ..offers })
            }
            exact => exact,
        },
    };
    lattice.intact()?;
    Ok(answer)
}

/// In what order the thesis looks at the schemes of one height, and what it knows of the coarsest acceptable one.
pub struct Book<'a> {
    /// Schemes of one height are looked at from the highest rank on, equal ones by their level vectors: in a whole lattice
    /// all are equal, a part has them as they were selected.
    pub rank: &'a dyn Fn(&Scheme) -> f64,
    /// Whether the coarsest acceptable scheme was evaluated for this request (Figure 5.23), so that a part is not searched
    /// for more suppression or less privacy.
    pub has_coarsest: bool,
}

/// The same, step by step as it is printed, under monotone criteria too, in a whole lattice (Figures 4.3 to 4.8) or in a
/// part (Figures 5.15 and 5.23): the schemes that it looks at, as many times as it does, are those that the thesis counts
/// (Figures 4.9 to 4.11 and 5.24 to 5.26).
///
/// # Errors
/// As for [`negotiate_with`].
pub fn negotiate_by_the_book(lattice: &Lattice, request: &Request, book: &Book, task: &Task) -> Result<Answer> {
    request.check(lattice)?;
    let coarsest = lattice.schemes().find(&request.level_max);
    let answer = match coarsest.filter(|_| lattice.schemes().is_complete() && request.best_by.is_height()) {
        Some(coarsest) => Descent { lattice, request, coarsest, task }.answer()?,
        None => in_a_part(lattice, request, coarsest, book, task)?,
    };
    lattice.intact()?;
    Ok(answer)
}

/// All schemes within the levels are looked at, as a part lacks those that a way downwards would need.
fn in_a_part(
    lattice: &Lattice,
    request: &Request,
    coarsest: Option<usize>,
    book: &Book,
    task: &Task,
) -> Result<Answer> {
    let answer = negotiate_as_published_with(lattice, request, &Task { progress: &|_| {}, ..*task })?;
    let is_within = within_levels(lattice, Some(&request.level_max));
    let n_within = (0..lattice.schemes().len()).filter(is_within).count() as u64;
    (task.progress)(match (&answer, coarsest) {
        (Answer::Exact(_), _) => n_within,
        (Answer::Offers(_), Some(_)) if book.has_coarsest => 1,
        (Answer::Offers(_), Some(_)) => 1 + n_within,
        // Once for an exact answer, once for the two offers within the levels.
        (Answer::Offers(_), None) => 1 + 2 * n_within,
    });
    if matches!(answer, Answer::Offers(_)) {
        let schemes = lattice.schemes();
        let at_height = |height: usize| {
            // What was evaluated for this request is not among those of its height.
            let selected = schemes.at_height(height).filter(|place| !book.has_coarsest || Some(*place) != coarsest);
            let mut ranked: Vec<(f64, usize)> =
                selected.map(|place| ((book.rank)(&schemes.scheme(place)), place)).collect();
            // Equal ones stay in their order.
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
            ranked.into_iter().map(|(_, place)| place).collect()
        };
        relax_height(lattice, request, &at_height, task)?;
    }
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
        let n_least = self.lattice.n_suppressed(self.coarsest, criteria);
        let place = self.height_by_height(criteria, n_least)?.unwrap_or(self.coarsest);
        let privacy_alternatives = smallest_concession_first(self.request, |criterion| self.relax(criterion))?;
        Ok(Answer::Offers(Offers {
            suppression: offer(self.lattice, place, criteria),
            height: relax_height(self.lattice, self.request, &in_order(self.lattice), self.task)?,
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
        (self.task.progress)(1);
        while let Some(place) = to_visit.pop() {
            self.task.go_on_now_and_then(seen.len(), N_BETWEEN)?;
            let Some(n) = suppression.exact_up_to(place, self.request.n_suppressed_max) else { continue };
            candidates.push((schemes.scheme(place).height(), n, place));
            for (_, place) in schemes.finer(place) {
                // A scheme that several ways lead to is looked at on each of them, and gone on from once.
                (self.task.progress)(1);
                if seen.insert(place) {
                    to_visit.push(place);
                }
            }
        }
        let Some(&(lowest, _, place)) = candidates.iter().min() else { return Ok(None) };
        if place != self.coarsest {
            let n_lowest = candidates.iter().filter(|(height, ..)| *height == lowest).count();
            (self.task.progress)(n_lowest as u64);
        }
        Ok(Some(place))
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
        let Some(value) = strictest_of(&mut relaxed, self.coarsest, weakest, criterion.value) else {
            // The thesis counts these looks also where there is nothing to find.
            (self.task.progress)(1 + self.lattice.schemes().finer(self.coarsest).count() as u64);
            return Ok(None);
        };
        let criteria = self.request.criteria.with(criterion.with_value(value));
        let place = self.height_by_height(&criteria, self.request.n_suppressed_max)?.unwrap_or(self.coarsest);
        Ok(Some((value, offer(self.lattice, place, &criteria))))
    }
}

/// The places of the schemes of a height.
fn in_order(lattice: &Lattice) -> impl Fn(usize) -> Vec<usize> {
    |height| lattice.schemes().at_height(height).collect()
}

/// The lowest scheme of all, by halving the heights from that of the coarsest acceptable scheme on (Figure 4.8).
fn relax_height(
    lattice: &Lattice,
    request: &Request,
    at_height: &dyn Fn(usize) -> Vec<usize>,
    task: &Task,
) -> Result<Option<Offer>> {
    let suppression = lattice.suppression(&request.criteria);
    let satisfies = |&place: &usize| {
        (task.progress)(1);
        suppression.exact(place) <= request.n_suppressed_max
    };
    let (mut low, mut high) = (request.level_max.height() as usize, lattice.schemes().n_heights() - 1);
    let mut lowest_height = None;
    while low <= high {
        let middle = (low + high) / 2;
        let mut is_found = false;
        for (i, place) in at_height(middle).into_iter().enumerate() {
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
    let place = at_height(height).into_iter().filter(satisfies).min_by_key(|&place| (suppression.exact(place), place));
    Ok(place.map(|place| offer(lattice, place, &request.criteria)))
}
