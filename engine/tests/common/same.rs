//! What the engine gives beside what the definitions give.

use super::*;

/// Losses are whole numbers of steps, so that each penalty is off by half of one at most.
const NCP_TOLERANCE: f64 = 1e-6;
/// Of entropies too; where there are few bits to lose, that is more of them.
pub const LOSS_TOLERANCE: f64 = 2e-5;

pub fn are_same_losses(losses: &Losses, naive: &Losses) -> bool {
    let is_near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance;
    is_near(losses.ncp, naive.ncp, NCP_TOLERANCE)
        && losses.discernibility == naive.discernibility
        && is_near(losses.group_size, naive.group_size, 1e-9)
        && is_near(losses.precision, naive.precision, 1e-9)
        && losses.entropy.is_none_or(|entropy| is_near(entropy, naive.entropy.expect("computed"), LOSS_TOLERANCE))
}

pub(super) fn is_same_offer(offer: &Offer, naive: &NaiveOffer) -> bool {
    let is_same = offer.scheme.levels().iter().map(|level| level.0).eq(naive.levels.iter().copied())
        && offer.criteria == naive.criteria
        && offer.n_suppressed == naive.n_suppressed
        && offer.n_groups == naive.n_groups
        && offer.reached == naive.reached
        && are_same_losses(&offer.losses, &naive.losses);
    is_same || naive.or.iter().any(|other| is_same_offer(offer, other))
}

pub(super) fn is_same_answer(answer: &Answer, naive: &NaiveAnswer) -> bool {
    let is_same = |offer: Option<&Offer>, naive: Option<&NaiveOffer>| match (offer, naive) {
        (Some(offer), Some(naive)) => is_same_offer(offer, naive),
        (offer, naive) => offer.is_none() && naive.is_none(),
    };
    match (answer, naive) {
        (Answer::Exact(offer), NaiveAnswer::Exact(naive)) => is_same_offer(offer, naive),
        (Answer::Offers(offers), NaiveAnswer::Offers { suppression, height, privacy }) => {
            is_same_offer(&offers.suppression, suppression)
                && is_same(offers.height.as_ref(), height.as_ref())
                && is_same(offers.privacy.as_ref(), privacy.first())
                && offers.privacy_alternatives.len() == privacy.len()
                && offers.privacy_alternatives.iter().zip(privacy).all(|(a, b)| is_same_offer(a, b))
        }
        _ => false,
    }
}

#[track_caller]
pub fn assert_same_offer(offer: &Offer, naive: &NaiveOffer) {
    assert!(is_same_offer(offer, naive), "offered {offer:#?}\nwhere the definition gives {naive:#?}");
}

/// Asks both for the answer to a request, the product's and the paper's.
#[track_caller]
pub fn assert_same_negotiation(lattice: &Lattice, naive: &Naive, request: &Request, context: &dyn std::fmt::Debug) {
    let answer = incrowd::negotiate(lattice, request).expect("a request with a meaning");
    let expected = negotiate(naive, request);
    assert!(
        is_same_answer(&answer, &expected),
        "{request:?} of {context:#?}\ngives {answer:#?}\nwhere the definition gives {expected:#?}"
    );
    if !request.best_by.is_height() {
        return;
    }
    let answer =
        incrowd::search::as_published::negotiate_as_published(lattice, request).expect("a request with a meaning");
    let expected = negotiate_as_published(naive, request);
    assert!(
        is_same_answer(&answer, &expected),
        "{request:?} of {context:#?}\ngives, as published, {answer:#?}\nwhere Figures 4.3 to 4.8 give {expected:#?}"
    );
}

/// The profile of a scheme is that of the groups that the definition finds.
#[track_caller]
pub fn assert_same_profile(lattice: &Lattice, naive: &NaiveScheme, context: &dyn std::fmt::Debug) {
    let entries = lattice.profile(lattice.schemes().place(&scheme(&naive.levels))).entries();
    let expected = naive.profile();
    let found: BTreeMap<Vec<u64>, (u64, f64)> = entries
        .iter()
        .map(|entry| {
            let loss = entry.loss as f64 / incrowd::loss::LOSS_ONE as f64;
            (lattice.signatures().of(entry.signature as usize).to_vec(), (u64::from(entry.n_groups), loss))
        })
        .collect();
    assert_eq!(found.len(), entries.len(), "every signature stands there once, at {:?} of {context:#?}", naive.levels);
    assert!(entries.is_sorted_by_key(|entry| entry.signature), "at {:?} of {context:#?}", naive.levels);
    let n_groups = |profile: &BTreeMap<Vec<u64>, (u64, f64)>| -> Vec<(Vec<u64>, u64)> {
        profile.iter().map(|(signature, (n_groups, _))| (signature.clone(), *n_groups)).collect()
    };
    let measures = lattice.signatures().measures();
    assert_eq!(n_groups(&found), n_groups(&expected), "{measures:?} at {:?} of {context:#?}", naive.levels);
    for ((n_groups, found), (_, loss)) in found.values().zip(expected.values()) {
        let is_near = (found - loss).abs() <= NCP_TOLERANCE * *n_groups as f64;
        assert!(is_near, "loss {found} instead of {loss} at {:?} of {context:#?}", naive.levels);
    }
}
