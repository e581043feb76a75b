//! Answers on demand are those of the whole lattice; and where the search was ended, no claim is too strong.

use crate::common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::random::{Dice, all_measures, any_mixed_tables, chance, larger_tables, mixes, wide_tables};
use common::*;
use incrowd::search::negotiate::offer_of;
use incrowd::search::on_demand::{FoundAnswer, Proof, negotiate_on_demand};
use incrowd::task::{SearchProgress, Task};
use incrowd::{Answer, Measure, Offer, Quality, Ranking, Request, negotiate};
use proptest::prelude::*;

fn found(made: &Made, request: &Request, task: &Task) -> FoundAnswer {
    negotiate_on_demand(&made.counts, &made.hierarchies, &made.plan(), request, task).expect("a request with a meaning")
}

fn requests(table: &Table, made: &Made, dice: &mut Dice) -> Vec<Request> {
    let naive = Naive::new(table);
    let measures = all_measures(table.sensitive.len(), table.wanted.population.is_some());
    let measured = made.yardstick.measures();
    let measures: Vec<Measure> = measures.into_iter().filter(|measure| measured.contains(measure)).collect();
    let rankings: Vec<Ranking> = ["height", "height", "ncp", "discernibility", "group-size", "precision"]
        .into_iter()
        .chain(made.with_entropy.then_some("entropy=2,ncp=1"))
        .chain(["ncp=1,height=1", "precision=1,group-size=3"])
        .map(|text| Ranking::parse(text).expect("a ranking"))
        .collect();
    let request = |mix: Vec<Measure>| {
        Some(Request { best_by: rankings[dice.roll(rankings.len())].clone(), ..dice.request(&naive, &mix)? })
    };
    mixes(&measures, 6).into_iter().filter_map(request).collect()
}

#[track_caller]
fn check_table(table: &Table, seed: u64) {
    let made = table.make();
    for request in requests(table, &made, &mut Dice(seed)) {
        let whole = negotiate(&made.lattice, &request).expect("a request with a meaning");
        let found = found(&made, &request, &Task::default());
        assert!(found.is_proved(), "{found:?}");
        assert_eq!(found.answer, whole, "{request:?} of {table:#?}");
    }
}

proptest! {
    #![proptest_config(chance(150))]
    #[test]
    fn on_demand_answers_as_the_whole_lattice(table in any_mixed_tables(), seed in any::<u64>()) {
        check_table(&table, seed);
    }
}

proptest! {
    #![proptest_config(chance(40))]
    #[test]
    fn on_demand_answers_as_the_whole_lattice_also_with_large_groups(table in larger_tables(), seed in any::<u64>()) {
        check_table(&table, seed);
    }
}

proptest! {
    #![proptest_config(chance(2))]
    #[test]
    fn on_demand_answers_as_the_whole_lattice_also_with_wide_keys(table in wide_tables(), seed in any::<u64>()) {
        check_table(&table, seed);
    }
}

/// An offer is true, and what is proved about it too. `best` is what the whole lattice offers in its place.
#[track_caller]
fn check_claims(made: &Made, request: &Request, offer: &Offer, proof: &Proof, best: Option<&Offer>) {
    assert_eq!(
        *offer,
        offer_of(&made.lattice, &offer.scheme, &offer.criteria).expect("one of the schemes"),
        "{request:?}"
    );
    let loss = |offer: &Offer| {
        let place = made.lattice.schemes().place(&offer.scheme);
        request.best_by.loss(&made.lattice, place, &made.lattice.outcome(place, &offer.criteria))
    };
    let Some(best) = best else { return };
    if proof.is_optimal {
        assert_eq!(offer, best, "{request:?}");
    }
    // The bound is about schemes that give up no more than this offer does.
    if offer.criteria == best.criteria && offer.n_suppressed.max(request.n_suppressed_max) >= best.n_suppressed {
        assert!(proof.loss_at_least <= loss(best) + 1e-9, "{proof:?} {} {request:?}", loss(best));
    }
}

#[track_caller]
fn check_ended(made: &Made, request: &Request, found: &FoundAnswer) {
    let whole = negotiate(&made.lattice, request).expect("a request with a meaning");
    if found.is_proved() {
        assert_eq!(found.answer, whole);
    }
    match (&found.answer, &whole) {
        (Answer::Exact(offer), Answer::Exact(best)) => {
            assert!(offer.n_suppressed <= request.n_suppressed_max && offer.scheme.is_below(&request.level_max));
            check_claims(made, request, offer, &found.proofs[0], Some(best));
        }
        (Answer::Exact(_), Answer::Offers(_)) => panic!("there is no exact answer to {request:?}"),
        (Answer::Offers(offers), whole) => {
            let best = match whole {
                Answer::Exact(_) => {
                    assert!(!found.is_decided, "there is an exact answer to {request:?}");
                    None
                }
                Answer::Offers(best) => Some(best),
            };
            let of_suppression = best.map(|best| &best.suppression);
            check_claims(made, request, &offers.suppression, &found.proofs[0], of_suppression);
            assert!(offers.suppression.scheme.is_below(&request.level_max));
            if let Some(offer) = &offers.height {
                assert!(offer.n_suppressed <= request.n_suppressed_max);
                check_claims(made, request, offer, &found.proofs[1], best.and_then(|best| best.height.as_ref()));
            }
            for offer in &offers.privacy_alternatives {
                assert!(offer.n_suppressed <= request.n_suppressed_max && offer.scheme.is_below(&request.level_max));
                assert_eq!(
                    *offer,
                    offer_of(&made.lattice, &offer.scheme, &offer.criteria).expect("one of the schemes")
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(chance(40))]
    #[test]
    fn a_search_that_is_ended_claims_nothing_that_is_not_so(table in any_mixed_tables(), seed in any::<u64>()) {
        let made = table.make();
        let mut dice = Dice(seed);
        for request in requests(&table, &made, &mut dice) {
            let n_all = found(&made, &request, &Task::default()).n_evaluated;
            for _ in 0..4 {
                let n_left = AtomicUsize::new(dice.roll(n_all as usize + 1));
                let is_enough = |_: &SearchProgress| {
                    let n = n_left.load(Ordering::SeqCst).saturating_sub(1);
                    n_left.store(n, Ordering::SeqCst);
                    n == 0
                };
                check_ended(&made, &request, &found(&made, &request, &Task { is_enough: &is_enough, ..Task::default() }));
            }
            // So little memory that hardly anything can be kept.
            for n_bytes_max in [0, 400, 3_000, 20_000] {
                check_ended(&made, &request, &found(&made, &request, &Task { n_bytes_max, ..Task::default() }));
            }
        }
    }
}

/// Many schemes are proved to fail without a look, even where attributes are independent and uniform: the hardest case.
#[test]
fn most_schemes_are_never_looked_at() {
    let values: Vec<String> = (0..8).map(|value| value.to_string()).collect();
    let rows: Vec<Vec<String>> =
        (0..8).map(|v: usize| vec![v.to_string(), format!("{}/2", v / 2), format!("{}/4", v / 4)]).collect();
    let row_texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    let row_slices: Vec<&[&str]> = row_texts.iter().map(Vec::as_slice).collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut dice = Dice(1);
    let record = |_| -> Vec<Option<String>> { names.iter().map(|_| Some(values[dice.roll(8)].clone())).collect() };
    let table = Table {
        quasi_identifiers: names.iter().map(|name| Attribute::new(name, &row_slices)).collect(),
        records: (0..400).map(record).collect(),
        sensitive: Vec::new(),
        has_note: false,
        missing: incrowd::Missing { tokens: vec![String::new()], drop_records: false, ..Default::default() },
        wanted: Wanted::default(),
    };
    let made = table.make();
    let n_schemes = made.lattice.schemes().len() as u64;
    for best_by in [Ranking::from(Quality::Height), Quality::Ncp.into()] {
        let tops: Vec<u8> = made.lattice.schemes().tops().to_vec();
        let request = Request { best_by, ..request(k(5), 4, &tops) };
        let found = found(&made, &request, &Task::default());
        assert_eq!(found.answer, negotiate(&made.lattice, &request).expect("a request with a meaning"));
        assert!(found.n_evaluated < n_schemes / 3, "{} of {n_schemes}", found.n_evaluated);
    }
}

/// Twenty-four attributes that partly follow from a few hidden ones, so that nearly every record is alone.
fn many_attributes() -> (incrowd::GroupCounts, Vec<incrowd::Hierarchy>) {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    let mut dice = Dice(3);
    let sizes: Vec<usize> = (0..24).map(|a| [24, 3, 12, 2][a % 4]).collect();
    let mut columns: Vec<Vec<i64>> = vec![Vec::new(); sizes.len()];
    for _ in 0..600 {
        let hidden: Vec<usize> = (0..3).map(|_| dice.roll(100)).collect();
        for (a, (column, &n)) in columns.iter_mut().zip(&sizes).enumerate() {
            let value = if dice.roll(3) > 0 { hidden[a % 3] * n / 100 } else { dice.roll(n) };
            column.push(value as i64);
        }
    }
    let names: Vec<String> = (0..sizes.len()).map(|a| format!("q{a}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let arrays = columns.into_iter().map(|column| std::sync::Arc::new(Int64Array::from(column)) as ArrayRef);
    let batch = RecordBatch::try_from_iter(names.iter().copied().zip(arrays)).expect("columns of one length");
    let mut counter = incrowd::Counter::new(&names, &[], &incrowd::Missing::default());
    counter.push(&batch).expect("numbers");
    let counts = counter.finish();
    let rule = |n: usize| match n {
        0..4 => incrowd::Rule::Flat,
        _ => incrowd::Rule::intervals(vec![4.0, 12.0], 0.0).expect("widths that are multiples"),
    };
    let domains = counts.domains().iter().zip(&sizes);
    let hierarchies = domains.map(|(domain, n)| rule(*n).resolve(domain).expect("numbers")).collect();
    (counts, hierarchies)
}

/// However many attributes there are: what is offered is what a look at that scheme alone gives, the same number of
/// schemes looked at gives the same answer, and more of them nothing worse.
#[test]
fn more_looks_find_nothing_worse_and_as_many_find_the_same() {
    let (counts, hierarchies) = many_attributes();
    let yardstick = incrowd::Yardstick::new(&counts, &[], []).expect("sizes");
    let weights = vec![1.0; hierarchies.len()];
    let plan = incrowd::Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let request = Request { best_by: Quality::Ncp.into(), ..request(k(4), 60, &tops) };
    let after = |n: u64, n_threads: usize| {
        let is_enough = |progress: &SearchProgress| progress.n_evaluated >= n;
        let task = Task { is_enough: &is_enough, ..Task::default() };
        let search =
            || negotiate_on_demand(&counts, &hierarchies, &plan, &request, &task).expect("a request with a meaning");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        let found = pool.install(search);
        let Answer::Exact(offer) = found.answer.clone() else { panic!("at worst, everything is *") };
        (found, offer)
    };
    let (mut before, mut bound) = (f64::INFINITY, 0.0);
    for n in [1, 50, 200, 500, 1_000, 3_000, 6_000] {
        let (found, offer) = after(n, 1);
        assert_eq!(found, after(n, 2).0, "{n} looks");
        let (_, outcome) = incrowd::lattice::outcome_of(&counts, &hierarchies, &plan, &offer.scheme, &offer.criteria)
            .expect("one of the schemes");
        assert_eq!((offer.n_suppressed, offer.losses.ncp), (outcome.n_suppressed, outcome.ncp));
        assert!(offer.n_suppressed <= 60 && offer.losses.ncp <= before, "{n} looks");
        assert!(found.proofs[0].loss_at_least >= bound && found.proofs[0].loss_at_least <= offer.losses.ncp);
        (before, bound) = (offer.losses.ncp, found.proofs[0].loss_at_least);
    }
    // Somebody who goes down from the top and takes what saves most is left behind.
    assert!(before < greedy(&counts, &hierarchies, &plan, &request), "{before}");
}

/// The same of offers, where the request cannot be met: they come from the same search.
#[test]
fn more_looks_offer_nothing_worse_and_as_many_offer_the_same() {
    let (counts, hierarchies) = many_attributes();
    let yardstick = incrowd::Yardstick::new(&counts, &[], []).expect("sizes");
    let weights = vec![1.0; hierarchies.len()];
    let plan = incrowd::Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    // Most attributes may be generalized to the top, a few not at all: with those nearly everybody is alone.
    let levels: Vec<u8> = hierarchies
        .iter()
        .enumerate()
        .map(|(a, hierarchy)| if a % 4 == 0 { 0 } else { hierarchy.top() as u8 })
        .collect();
    let request = Request { best_by: Quality::Ncp.into(), ..request(k(4), 60, &levels) };
    let after = |n: u64, n_threads: usize| {
        let is_enough = |progress: &SearchProgress| progress.n_evaluated >= n;
        let task = Task { is_enough: &is_enough, ..Task::default() };
        let search =
            || negotiate_on_demand(&counts, &hierarchies, &plan, &request, &task).expect("a request with a meaning");
        rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads").install(search)
    };
    let mut before: Option<[f64; 2]> = None;
    for n in [1, 100, 500, 2_000, 5_000] {
        let found = after(n, 1);
        assert_eq!(found, after(n, 2), "{n} looks");
        let Answer::Offers(offers) = &found.answer else { panic!("nearly everybody is alone") };
        let height = offers.height.as_ref().expect("at worst, everything is *");
        for offer in [&offers.suppression, height] {
            let (_, outcome) =
                incrowd::lattice::outcome_of(&counts, &hierarchies, &plan, &offer.scheme, &offer.criteria)
                    .expect("one of the schemes");
            assert_eq!((offer.n_suppressed, offer.losses.ncp), (outcome.n_suppressed, outcome.ncp));
        }
        let now = [offers.suppression.losses.ncp, height.losses.ncp];
        let is_no_worse = before.is_none_or(|before| before.iter().zip(&now).all(|(before, now)| now <= before));
        assert!(is_no_worse, "{n} looks: {now:?} after {before:?}");
        before = Some(now);
    }
    // No offer waits until another is proved to be the best: this one is as good as the way down from the top makes it.
    let tops: Vec<u8> = hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    let at_any_level = common::request(k(4), 60, &tops);
    let [_, height] = before.expect("offers");
    assert!(height <= greedy(&counts, &hierarchies, &plan, &at_any_level) + 1e-12, "{height}");
}

/// From the top, the step down that leaves the least loss, until none helps; every scheme from the counts alone.
fn greedy(
    counts: &incrowd::GroupCounts,
    hierarchies: &[incrowd::Hierarchy],
    plan: &incrowd::Plan,
    request: &Request,
) -> f64 {
    let loss = |levels: &[u8]| {
        let scheme = incrowd::Scheme::new(levels.iter().map(|&level| incrowd::Level(level)).collect());
        let (_, outcome) = incrowd::lattice::outcome_of(counts, hierarchies, plan, &scheme, &request.criteria)
            .expect("one of the schemes");
        (outcome.n_suppressed <= request.n_suppressed_max).then_some(outcome.ncp)
    };
    let mut levels: Vec<u8> = request.level_max.levels().iter().map(|level| level.0).collect();
    let mut now = loss(&levels).expect("everything is *");
    loop {
        let step = |a: usize| {
            let mut next = levels.clone();
            next[a] = next[a].checked_sub(1)?;
            Some((loss(&next)?, next))
        };
        let best = (0..levels.len()).filter_map(step).min_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((next, vector)) if next < now => (now, levels) = (next, vector),
            _ => return now,
        }
    }
}
