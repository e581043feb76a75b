//! Negotiation by definition: every scheme is looked at.

use super::*;

/// The best of all schemes that are allowed and suppress at most so many records.
pub fn best(naive: &Naive, request: &Request, n_max: u64, allowed: impl Fn(&[u8]) -> bool) -> Option<NaiveOffer> {
    let Request { criteria, best_by, .. } = request;
    let satisfying =
        naive.schemes.iter().filter(|scheme| allowed(&scheme.levels) && scheme.n_suppressed(criteria) <= n_max);
    fn rank<'a>(scheme: &'a NaiveScheme, criteria: &Criteria) -> (u32, u64, &'a [u8]) {
        (scheme.height(), scheme.n_suppressed(criteria), &scheme.levels)
    }
    if best_by.is_height() {
        let lowest = satisfying.min_by_key(|scheme| rank(scheme, criteria));
        return lowest.map(|scheme| naive.offer(scheme, criteria));
    }
    let mut ranked: Vec<(f64, &NaiveScheme)> =
        satisfying.map(|scheme| (naive.loss(scheme, criteria, best_by), scheme)).collect();
    ranked.sort_by(|(a, x), (b, y)| a.total_cmp(b).then_with(|| rank(x, criteria).cmp(&rank(y, criteria))));
    let least = ranked.first()?.0;
    let as_good = ranked.iter().take_while(|(loss, _)| *loss <= least + LOSS_TOLERANCE);
    let mut as_good = as_good.map(|(_, scheme)| naive.offer(scheme, criteria));
    as_good.next().map(|first| NaiveOffer { or: as_good.collect(), ..first })
}

/// The values that a criterion could be relaxed to, the strictest first.
pub(super) fn weaker_values(naive: &Naive, criterion: Criterion, within: impl Fn(&[u8]) -> bool) -> Vec<u64> {
    let Criterion { measure, value: asked } = criterion;
    let million = measures::MILLION;
    let is_some_privacy = |value: u64| match measure {
        Measure::Size | Measure::Population | Measure::Distinct(_) => value >= 2,
        Measure::Entropy(_) => value > million,
        Measure::Share(_) | Measure::Closeness(_) => value < million,
        Measure::Recursive { .. } | Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
            value <= 1_000 * million
        }
    };
    // Between the values that groups have, nothing changes.
    let acceptable = naive.schemes.iter().filter(|scheme| within(&scheme.levels));
    let of_groups = acceptable.flat_map(|scheme| &scheme.groups).map(|group| group.value(measure));
    let mut values: Vec<u64> = match measure {
        Measure::Size | Measure::Distinct(_) => (0..asked).collect(),
        _ => of_groups.collect::<BTreeSet<u64>>().into_iter().collect(),
    };
    values.retain(|&value| !is_met(criterion, value) && is_some_privacy(value));
    if is_at_least(measure) {
        values.reverse();
    }
    values
}

pub fn negotiate(naive: &Naive, request: &Request) -> NaiveAnswer {
    let Request { criteria, n_suppressed_max, .. } = request;
    let within = |levels: &[u8]| levels.iter().zip(request.level_max.levels()).all(|(&level, most)| level <= most.0);
    if let Some(offer) = best(naive, request, *n_suppressed_max, within) {
        return NaiveAnswer::Exact(offer);
    }
    let acceptable = || naive.schemes.iter().filter(|scheme| within(&scheme.levels));
    let n_least = acceptable().map(|scheme| scheme.n_suppressed(criteria)).min().expect("the finest is acceptable");
    let is_possible =
        |criteria: &Criteria| acceptable().any(|scheme| scheme.n_suppressed(criteria) <= *n_suppressed_max);
    // How much of what was asked is left, as a fraction, and the offer.
    let relaxed = |criterion: Criterion| {
        let relaxed_to = |value: u64| criteria.with(Criterion { value, ..criterion });
        let values = weaker_values(naive, criterion, within);
        let value = values.into_iter().find(|&value| is_possible(&relaxed_to(value)))?;
        let request = Request { criteria: relaxed_to(value), ..request.clone() };
        let left = if is_at_least(criterion.measure) { (value, criterion.value) } else { (criterion.value, value) };
        Some((left, best(naive, &request, *n_suppressed_max, within).expect("it is possible")))
    };
    let mut privacy: Vec<((u64, u64), NaiveOffer)> = criteria.iter().filter_map(relaxed).collect();
    // The smallest concession first, the earlier criterion where they tie: k'/k against l'/l.
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    privacy.sort_by(|(a, _), (b, _)| product(b.0, a.1).cmp(&product(a.0, b.1)));
    NaiveAnswer::Offers {
        suppression: best(naive, request, n_least, within).expect("one scheme suppresses the least"),
        height: best(naive, request, *n_suppressed_max, |_| true),
        privacy: privacy.into_iter().map(|(_, offer)| offer).collect(),
    }
}

/// As the thesis does it, Figures 4.3 to 4.8; ties, which it leaves open, by suppression and level vector.
pub fn negotiate_as_published(naive: &Naive, request: &Request) -> NaiveAnswer {
    let Request { criteria, n_suppressed_max, .. } = request;
    let top: Vec<u8> = request.level_max.levels().iter().map(|level| level.0).collect();
    let v_max = naive.schemes.iter().find(|scheme| scheme.levels == top).expect("every scheme is there");
    if v_max.n_suppressed(criteria) <= *n_suppressed_max {
        let mut candidates: Vec<&NaiveScheme> = Vec::new();
        exact_sublattice_search(naive, v_max, request, &mut candidates);
        let winner = candidates.into_iter().min_by_key(|v| (v.height(), v.n_suppressed(criteria), v.levels.clone()));
        return NaiveAnswer::Exact(naive.offer(winner.expect("v_max is one"), criteria));
    }
    let suppression = descend(naive, &top, criteria, v_max.n_suppressed(criteria));
    let relaxed = |criterion: Criterion| {
        let relaxed_to = |value: u64| criteria.with(Criterion { value, ..criterion });
        let values = weaker_values(naive, criterion, |levels| levels == top);
        let is_possible = |value: &u64| v_max.n_suppressed(&relaxed_to(*value)) <= *n_suppressed_max;
        let value = values.into_iter().find(is_possible)?;
        let left = if is_at_least(criterion.measure) { (value, criterion.value) } else { (criterion.value, value) };
        Some((left, descend(naive, &top, &relaxed_to(value), *n_suppressed_max)))
    };
    let mut privacy: Vec<((u64, u64), NaiveOffer)> = criteria.iter().filter_map(relaxed).collect();
    let product = |a: u64, b: u64| u128::from(a) * u128::from(b);
    privacy.sort_by(|(a, _), (b, _)| product(b.0, a.1).cmp(&product(a.0, b.1)));
    NaiveAnswer::Offers {
        suppression,
        height: height_as_published(naive, request),
        privacy: privacy.into_iter().map(|(_, offer)| offer).collect(),
    }
}

/// Figure 4.4: down from a scheme as long as schemes satisfy.
fn exact_sublattice_search<'a>(
    naive: &'a Naive,
    v: &'a NaiveScheme,
    request: &Request,
    candidates: &mut Vec<&'a NaiveScheme>,
) {
    let is_visited = candidates.iter().any(|seen| seen.levels == v.levels);
    if is_visited || v.n_suppressed(&request.criteria) > request.n_suppressed_max {
        return;
    }
    candidates.push(v);
    for lower in naive.schemes.iter().filter(|lower| {
        let steps = lower.levels.iter().zip(&v.levels);
        lower.height() + 1 == v.height() && steps.clone().all(|(low, high)| low <= high)
    }) {
        exact_sublattice_search(naive, lower, request, candidates);
    }
}

/// Figures 4.6 and 4.7: the lowest scheme below the top, where every height from the top down to it has one that satisfies.
fn descend(naive: &Naive, top: &[u8], criteria: &Criteria, n_max: u64) -> NaiveOffer {
    let below = |scheme: &&NaiveScheme| scheme.levels.iter().zip(top).all(|(level, most)| level <= most);
    let highest: u32 = top.iter().map(|&level| u32::from(level)).sum();
    let best_at = |height: u32| {
        let at_height = naive.schemes.iter().filter(below).filter(move |scheme| scheme.height() == height);
        at_height
            .filter(|scheme| scheme.n_suppressed(criteria) <= n_max)
            .min_by_key(|scheme| (scheme.n_suppressed(criteria), scheme.levels.clone()))
    };
    let winner = (0..=highest).rev().map_while(best_at).last().expect("the top satisfies");
    naive.offer(winner, criteria)
}

pub(super) fn height_as_published(naive: &Naive, request: &Request) -> Option<NaiveOffer> {
    let satisfying_at = |height: i64| {
        let at_height = naive.schemes.iter().filter(move |scheme| i64::from(scheme.height()) == height);
        at_height.filter(|scheme| scheme.n_suppressed(&request.criteria) <= request.n_suppressed_max)
    };
    let mut h_low = i64::from(request.level_max.height());
    let mut h_high: i64 = naive.tops.iter().map(|&top| i64::from(top)).sum();
    let mut lowest = None;
    while h_low <= h_high {
        let h_current = (h_low + h_high) / 2;
        if satisfying_at(h_current).next().is_none() {
            h_low = h_current + 1;
        } else {
            lowest = Some(h_current);
            h_high = h_current - 1;
        }
    }
    let winner =
        satisfying_at(lowest?).min_by_key(|scheme| (scheme.n_suppressed(&request.criteria), &scheme.levels))?;
    Some(naive.offer(winner, &request.criteria))
}
