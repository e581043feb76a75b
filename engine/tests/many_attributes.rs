//! However many attributes there are, and however many values they have: records are counted, and schemes rolled up.

use crate::common;

use std::collections::BTreeMap;

use common::random::Dice;
use common::*;
use incrowd::lattice::outcome_of;
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::task::Task;
use incrowd::{Answer, Counter, Hierarchy, Measure, Missing, Offer, Plan, Rule, Yardstick, annotate};

fn names(n_attributes: usize) -> Vec<String> {
    (0..n_attributes).map(|a| format!("q{a}")).collect()
}

/// Records whose attributes have so many values, one of which may be "no value"; some records come several times.
fn records_of(n_attributes: usize, n_values: usize, n_records: usize, dice: &mut Dice) -> Vec<Vec<Cell>> {
    let mut records: Vec<Vec<Cell>> = Vec::new();
    for i in 0..n_records {
        let record = match i % 3 == 2 {
            true => records[dice.roll(records.len())].clone(),
            false => (0..n_attributes).map(|_| dice.roll(n_values + 1).checked_sub(1).map(|v| v.to_string())).collect(),
        };
        records.push(record);
    }
    records
}

/// The counts as texts, in any order.
fn counted(counts: &incrowd::GroupCounts) -> BTreeMap<Vec<String>, u64> {
    let text = |(a, code): (usize, &incrowd::table::Code)| counts.domains()[a].values()[code.index()].clone();
    let of_group =
        |group: usize| (counts.codes(group).iter().enumerate().map(text).collect::<Vec<_>>(), counts.size(group));
    (0..counts.n_groups()).map(of_group).collect()
}

fn plainly(records: &[Vec<Cell>]) -> BTreeMap<Vec<String>, u64> {
    let mut counted = BTreeMap::new();
    for record in records {
        *counted.entry(record.iter().map(|cell| cell.clone().unwrap_or_default()).collect()).or_insert(0) += 1;
    }
    counted
}

#[test]
fn any_number_of_attributes_is_counted() {
    let mut dice = Dice(8);
    let missing = Missing { drop_records: false, ..Missing::default() };
    let widths = [1, 63, 64, 65, 72, 73, 74, 75, 128, 200, 256, 257, 300, 700];
    let cases = widths.map(|n| (n, 2)).into_iter().chain([(24, 3_000), (50, 2_000), (74, 40), (200, 300)]);
    for (n_attributes, n_values) in cases {
        let records = records_of(n_attributes, n_values, 300, &mut dice);
        let names = names(n_attributes);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let counter = |records: &[Vec<Cell>]| {
            let mut counter = Counter::new(&names, &[], &missing);
            // In several batches, so that keys have to be widened on the way.
            records.chunks(40).for_each(|some| counter.push(&batch(&names, some)).expect("any number will do"));
            counter
        };
        let counts = counter(&records).finish();
        assert_eq!(counted(&counts), plainly(&records), "{n_attributes} attributes of {n_values} values");
        // Parts give the whole.
        let (some, others) = records.split_at(100);
        let mut parts = counter(some);
        parts.merge(counter(others)).expect("the same attributes");
        assert_eq!(parts.finish(), counts);
    }
}

struct Wide {
    counts: incrowd::GroupCounts,
    hierarchies: Vec<Hierarchy>,
    weights: Vec<f64>,
}

fn wide(n_attributes: usize, n_values: usize, n_records: usize, dice: &mut Dice) -> Wide {
    let names = names(n_attributes);
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut records = records_of(n_attributes, n_values, n_records, dice);
    records.iter_mut().for_each(|record| record.push(Some(dice.roll(5).to_string())));
    names.push("illness");
    let missing = Missing { drop_records: false, ..Missing::default() };
    let counts = counts_of(&names[..n_attributes], &["illness"], &missing, &records);
    let hierarchies: Vec<Hierarchy> =
        counts.domains().iter().map(|domain| Rule::Flat.resolve(domain).expect("any value")).collect();
    Wide { counts, hierarchies, weights: (0..n_attributes).map(|a| 1.0 + (a % 3) as f64).collect() }
}

const QUICK: [Measure; 2] = [Measure::Size, Measure::Distinct(0)];
const BY_HISTOGRAM: [Measure; 3] = [Measure::Size, Measure::Distinct(0), Measure::Entropy(0)];

/// Keys of more than two words: every scheme is what it is when it is made on its own, without any key.
#[test]
fn schemes_with_wide_keys_are_those_of_the_slow_twin() {
    let Wide { counts, hierarchies, weights } = wide(11, 5_000, 2_100, &mut Dice(3));
    let n_bits: u32 = counts.domains().iter().map(|domain| usize::BITS - domain.len().leading_zeros()).sum();
    assert!(n_bits > 120, "{n_bits}");
    for measures in [&QUICK[..], &BY_HISTOGRAM[..]] {
        let yardstick = Yardstick::new(&counts, &[(incrowd::Distance::Equal, None)], measures.iter().copied());
        let yardstick = yardstick.expect("there is what it needs");
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
        let lattice = annotate(&counts, &hierarchies, &plan, &Task::default()).expect("2,048 schemes");
        let criteria = k_and_l(3, 2);
        for place in (0..lattice.schemes().len()).step_by(37) {
            let scheme = lattice.schemes().scheme(place);
            let (_, outcome) = outcome_of(&counts, &hierarchies, &plan, &scheme, &criteria).expect("a scheme");
            assert_eq!(lattice.outcome(place, &criteria), outcome, "{scheme}");
        }
    }
}

/// The same where hierarchies have steps, so that keys are cut in their middle; of records, and of people who have up to
/// three of them in different groups.
#[test]
fn schemes_with_wide_keys_and_deep_hierarchies_are_those_of_the_slow_twin() {
    const N: usize = 11;
    let mut dice = Dice(11);
    let mut records = records_of(N, 9_000, 4_500, &mut dice);
    for (i, record) in records.iter_mut().enumerate() {
        record.extend([
            Some(dice.roll(5).to_string()),
            Some(format!("p{}", if i % 2 == 0 { i } else { dice.roll(900) })),
        ]);
    }
    let names = names(N);
    let quasi_identifiers: Vec<&str> = names.iter().map(String::as_str).collect();
    let columns: Vec<&str> = quasi_identifiers.iter().copied().chain(["illness", "who"]).collect();
    let missing = Missing { drop_records: false, ..Missing::default() };
    for person in [&[][..], &["who"]] {
        let mut counter = match person {
            [] => Counter::new(&quasi_identifiers, &["illness"], &missing),
            person => Counter::of_people(&quasi_identifiers, &["illness"], person, &missing),
        };
        counter.push(&batch(&columns, &records)).expect("columns of texts");
        let counts = counter.finish();
        assert_eq!(counts.people().is_some(), !person.is_empty());
        let rule = |a: usize| match a {
            2 => Rule::intervals(vec![40.0, 1_000.0], 0.0).expect("steps"),
            8 => Rule::intervals(vec![600.0], 0.0).expect("steps"),
            _ => Rule::Flat,
        };
        let hierarchies: Vec<Hierarchy> =
            counts.domains().iter().enumerate().map(|(a, domain)| rule(a).resolve(domain).expect("numbers")).collect();
        let n_bits: u32 = counts.domains().iter().map(|domain| usize::BITS - (domain.len() - 1).leading_zeros()).sum();
        assert!(n_bits > 127, "{n_bits}");
        let weights = [1.0; N];
        let ways = if person.is_empty() { &[&BY_HISTOGRAM[..]][..] } else { &[&QUICK[..], &BY_HISTOGRAM[..]] };
        for measures in ways {
            let yardstick = Yardstick::new(&counts, &[(incrowd::Distance::Equal, None)], measures.iter().copied());
            let yardstick = yardstick.expect("there is what it needs");
            let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
            let lattice = annotate(&counts, &hierarchies, &plan, &Task::default()).expect("6,144 schemes");
            assert_eq!(lattice.schemes().len(), (1 << (N - 2)) * 4 * 3);
            let criteria = k_and_l(3, 2);
            let mut n_between = 0;
            for place in (0..lattice.schemes().len()).rev().step_by(97) {
                let scheme = lattice.schemes().scheme(place);
                let (_, outcome) = outcome_of(&counts, &hierarchies, &plan, &scheme, &criteria).expect("a scheme");
                assert_eq!(lattice.outcome(place, &criteria), outcome, "{scheme}");
                n_between += u32::from(outcome.n_suppressed > 0 && outcome.n_suppressed < counts.n_records());
            }
            assert!(n_between > 5, "{n_between} schemes lose some records: this tries too little");
        }
    }
}

fn offers(answer: &Answer) -> Vec<&Offer> {
    match answer {
        Answer::Exact(offer) => vec![offer],
        Answer::Offers(offers) => {
            [&offers.suppression].into_iter().chain(&offers.height).chain(&offers.privacy_alternatives).collect()
        }
    }
}

/// The same on demand, where there may be hundreds of attributes: what is offered is what the slow twin says.
#[test]
fn offers_over_any_number_of_attributes_are_true() {
    let mut dice = Dice(5);
    for (n_attributes, n_values) in [(200, 2), (24, 400), (120, 200), (130, 300)] {
        let Wide { counts, hierarchies, weights } = wide(n_attributes, n_values, 120, &mut dice);
        for measures in [&QUICK[..], &BY_HISTOGRAM[..]] {
            let yardstick = Yardstick::new(&counts, &[(incrowd::Distance::Equal, None)], measures.iter().copied());
            let yardstick = yardstick.expect("there is what it needs");
            let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
            let task = Task { is_enough: &|progress| progress.n_evaluated >= 8, ..Task::default() };
            let mut levels = vec![1; n_attributes];
            levels[..3].fill(0);
            let request = request(k_and_l(2, 1), 40, &levels);
            let found = negotiate_on_demand(&counts, &hierarchies, &plan, &request, &task).expect("no key is too wide");
            for offer in offers(&found.answer) {
                let (_, outcome) =
                    outcome_of(&counts, &hierarchies, &plan, &offer.scheme, &offer.criteria).expect("a scheme");
                assert_eq!(offer.n_suppressed, outcome.n_suppressed, "{n_attributes} of {n_values}: {}", offer.scheme);
            }
        }
    }
}
