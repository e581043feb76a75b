//! Partial lattices: the same profiles as the whole lattice, answers among what is annotated, and proofs that hold among
//! all schemes.

use crate::common;

use common::random::{Dice, any_mixed_tables, chance, larger_tables, requests};
use common::*;
use incrowd::search::partial::{Estimator, Selection, annotate_partially, powers, prove, select};
use incrowd::task::Task;
use incrowd::{Answer, Lattice, Offer, Request, Scheme, negotiate};
use proptest::prelude::*;

fn partial(made: &Made, selection: Selection) -> Lattice {
    annotate_partially(&made.counts, &made.hierarchies, &made.plan(), selection, &Task::default()).expect("it fits")
}

fn selection(dice: &mut Dice) -> Selection {
    Selection { share: [0.01, 0.05, 0.3, 0.7, 1.0][dice.roll(5)], estimator: Estimator::ALL[dice.roll(4)] }
}

/// What a profile says, whatever the numbers of its signatures.
fn said(lattice: &Lattice, scheme: &Scheme) -> Vec<(Vec<u64>, u32, u64, u64)> {
    let profile = lattice.profile(lattice.schemes().place(scheme));
    let entry = |(i, entry): (usize, &incrowd::lattice::profile::Entry)| {
        (lattice.signatures().of(entry.signature as usize).to_vec(), entry.n_groups, entry.loss, profile.entropy(i))
    };
    let mut said: Vec<_> = profile.entries().iter().enumerate().map(entry).collect();
    said.sort_unstable();
    said
}

fn check_profiles(partial: &Lattice, whole: &Lattice) {
    for place in 0..partial.schemes().len() {
        let scheme = partial.schemes().scheme(place);
        assert_eq!(said(partial, &scheme), said(whole, &scheme), "{scheme}");
        // What bounds are looked up in must be right too.
        for &measure in whole.signatures().measures() {
            for (value, lost) in partial.known_suppression(measure) {
                let criteria = incrowd::Criteria::new([incrowd::Criterion { measure, value }]);
                let expected = whole.n_suppressed(whole.schemes().place(&scheme), &criteria);
                assert_eq!(lost[place], expected, "{scheme}, {measure:?} = {value}");
            }
        }
    }
}

proptest! {
    #![proptest_config(chance(60))]
    #[test]
    fn profiles_are_those_of_the_whole_lattice(table in any_mixed_tables(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let made = table.make();
        let selection = selection(&mut dice);
        let mut some = partial(&made, selection);
        check_profiles(&some, &made.lattice);
        let schemes = made.lattice.schemes();
        for height in 0..schemes.n_heights() {
            let n = schemes.at_height(height).len();
            prop_assert_eq!(some.schemes().at_height(height).len() as u64, selection.n_of(n as u64));
        }
        // Whatever is added at run time.
        for _ in 0..3 {
            let scheme = schemes.scheme(dice.roll(schemes.len()));
            let n_before = some.schemes().len();
            let was_there = some.schemes().find(&scheme).is_some();
            some.extend(&made.counts, &made.plan(), &scheme).expect("a scheme of the table");
            prop_assert_eq!(some.schemes().len(), n_before + usize::from(!was_there));
            check_profiles(&some, &made.lattice);
        }
    }
}

proptest! {
    #![proptest_config(chance(10))]
    #[test]
    fn profiles_of_larger_tables_are_those_of_the_whole_lattice(table in larger_tables(), seed in any::<u64>()) {
        let made = table.make();
        check_profiles(&partial(&made, selection(&mut Dice(seed))), &made.lattice);
    }
}

/// The definitions, one group after the other.
#[test]
fn levels_group_as_counted_by_hand() {
    let rows: [&[&str]; 4] = [&["1", "low"], &["2", "low"], &["3", "high"], &["4", "high"]];
    let table = Table {
        quasi_identifiers: vec![Attribute::new("a", &rows), Attribute::flat("b", &["x", "y"])],
        records: records(&[
            &[Some("1"), Some("x"), Some("s")],
            &[Some("1"), Some("x"), Some("s")],
            &[Some("2"), Some("x"), Some("s")],
            &[Some("3"), Some("y"), Some("s")],
            &[Some("4"), Some("x"), Some("s")],
            &[Some("4"), Some("y"), Some("s")],
        ]),
        sensitive: one_sensitive(),
        has_note: false,
        missing: incrowd::Missing { tokens: vec![String::new()], drop_records: false, ..Default::default() },
        wanted: Wanted::default(),
    };
    let made = table.make();
    let powers = powers(&made.counts, &made.hierarchies);
    let n_groups: Vec<Vec<u64>> = powers.iter().map(|a| a.iter().map(|power| power.n_groups).collect()).collect();
    assert_eq!(n_groups, [vec![5, 3, 2], vec![5, 4]]);
    let a = &powers[0];
    assert_eq!(a.iter().map(|power| power.gamma).collect::<Vec<_>>(), [6.0 / 5.0, 2.0, 3.0]);
    assert_eq!([a[1].mu, a[2].mu].map(|mu| (mu * 1e9).round()), [1_666_666_667.0, 1.5e9]);
    assert!((a[0].mu * a[1].mu - 1.0).abs() < 1e-12);
    // Γ: height 1 has (1,0) = 2 + 1.2 and (0,1) = 1.2 + 1.5; both are there, since two are the least.
    let schemes = select(&powers, Selection { share: 0.01, estimator: Estimator::Gamma });
    let names: Vec<String> = (0..schemes.len()).map(|place| schemes.scheme(place).to_string()).collect();
    assert_eq!(names, ["00", "01", "10", "11", "20", "21"]);
}

/// The best annotated scheme within some levels that loses at most `n_max` records, by looking at each.
fn best(some: &Lattice, whole: &Lattice, request: &Request, n_max: u64, within: Option<&Scheme>) -> Option<Scheme> {
    let places = (0..some.schemes().len()).map(|place| some.schemes().scheme(place));
    let candidates = places.filter(|scheme| within.is_none_or(|most| scheme.is_below(most))).filter_map(|scheme| {
        let place = whole.schemes().place(&scheme);
        let outcome = whole.outcome(place, &request.criteria);
        let loss = request.best_by.loss(whole, place, &outcome);
        (outcome.n_suppressed <= n_max).then_some((loss, scheme.height(), outcome.n_suppressed, scheme))
    });
    let best = candidates.min_by(|a, b| a.0.total_cmp(&b.0).then_with(|| (a.1, a.2, &a.3).cmp(&(b.1, b.2, &b.3))));
    best.map(|best| best.3)
}

fn loss(whole: &Lattice, request: &Request, offer: &Offer) -> f64 {
    let place = whole.schemes().place(&offer.scheme);
    request.best_by.loss(whole, place, &whole.outcome(place, &offer.criteria))
}

proptest! {
    #![proptest_config(chance(60))]
    #[test]
    fn answers_are_the_best_of_what_is_annotated_and_proofs_hold(table in any_mixed_tables(), seed in any::<u64>()) {
        let mut dice = Dice(seed);
        let made = table.make();
        let whole = &made.lattice;
        for request in requests(&table, &mut dice) {
            let mut some = partial(&made, selection(&mut dice));
            if dice.roll(2) == 0 {
                some.extend(&made.counts, &made.plan(), &request.level_max).expect("a scheme of the table");
            }
            let answer = negotiate(&some, &request).expect("a sound request");
            let within = Some(&request.level_max);
            let exact = best(&some, whole, &request, request.n_suppressed_max, within);
            match (&answer, exact) {
                (Answer::Exact(offer), Some(scheme)) => prop_assert_eq!(&offer.scheme, &scheme),
                (Answer::Offers(offers), None) => {
                    let n_least = offers.suppression.n_suppressed;
                    prop_assert_eq!(best(&some, whole, &request, n_least - 1, within), None);
                    let expected = best(&some, whole, &request, n_least, within);
                    prop_assert_eq!(Some(&offers.suppression.scheme), expected.as_ref());
                    let expected = best(&some, whole, &request, request.n_suppressed_max, None);
                    prop_assert_eq!(offers.height.as_ref().map(|offer| &offer.scheme), expected.as_ref());
                }
                (answer, exact) => prop_assert!(false, "{:?} where {:?}", answer, exact),
            }
            let found = prove(&some, &made.counts, &made.plan(), &request, answer, &Task::default()).expect("a sound request");
            let truth = negotiate(whole, &request).expect("a sound request");
            let check = |offer: &Offer, proof: &incrowd::search::on_demand::Proof, truth: &Offer| {
                if proof.is_optimal {
                    assert_eq!(offer, truth, "{request:?}");
                }
                let true_loss = loss(whole, &request, truth);
                assert!(proof.loss_at_least <= true_loss + 1e-9, "{} > {true_loss}: {request:?}", proof.loss_at_least);
            };
            match (&found.answer, &truth) {
                (Answer::Exact(offer), Answer::Exact(truth)) => check(offer, &found.proofs[0], truth),
                (Answer::Offers(offers), Answer::Offers(truth)) => {
                    if found.proofs[0].is_optimal {
                        check(&offers.suppression, &found.proofs[0], &truth.suppression);
                    }
                    if let (Some(offer), Some(truth)) = (&offers.height, &truth.height) {
                        check(offer, &found.proofs[1], truth);
                    }
                    for (offer, proof) in offers.privacy_alternatives.iter().zip(&found.proofs[2..]) {
                        if proof.is_optimal {
                            prop_assert!(truth.privacy_alternatives.contains(offer), "{:?}", request);
                        }
                    }
                }
                (Answer::Offers(_), Answer::Exact(_)) => prop_assert!(!found.is_decided, "{:?}", request),
                (Answer::Exact(_), Answer::Offers(_)) => prop_assert!(false, "an exact answer is one"),
            }
            if some.schemes().len() == whole.schemes().len() {
                prop_assert!(found.is_decided && found.proofs.iter().all(|proof| proof.is_optimal));
            }
        }
    }
}
