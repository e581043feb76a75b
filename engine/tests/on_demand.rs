//! Answers on demand are those of the whole lattice; and where the search was ended, no claim is too strong.

mod common;

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
