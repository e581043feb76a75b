//! Cuts of the tree of groups beside all cuts there are, on small trees: every criterion and mix, people, limits and offers.

use std::collections::BTreeSet;

use incrowd::loss::LOSS_ONE;
use incrowd::recode::keep;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::tree::negotiate::{Answer, Offer, Request};
use incrowd::recode::tree::{Shape, Tree};
use incrowd::task::Task;
use incrowd::{Criteria, Criterion, Measure};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::keep::{Given, Record, criteria, tables};

const WEIGHTS: [f64; 2] = [1.0, 1.0];

fn grown(given: &Given) -> Tree {
    Tree::grow(&given.made_of, &given.hierarchies, &WEIGHTS, &given.yardstick, &Task::default()).expect("some records")
}

/// What a cut loses: in all, in records, and on each attribute; and the nodes that it publishes.
#[derive(Clone, Debug, Default)]
struct Way {
    loss: u64,
    n_lost: u64,
    of_attribute: [u64; 2],
    published: Vec<u32>,
}

impl Way {
    fn with(&self, other: &Way) -> Way {
        Way {
            loss: self.loss + other.loss,
            n_lost: self.n_lost + other.n_lost,
            of_attribute: [0, 1].map(|a| self.of_attribute[a] + other.of_attribute[a]),
            published: [&self.published[..], &other.published[..]].concat(),
        }
    }
}

/// Every cut of the records of a node, by the definition.
fn all_ways(tree: &Tree, holds: &dyn Fn(usize) -> bool, node: usize, may_lose: bool) -> Vec<Way> {
    let shape = tree.shape();
    let n = shape.n_records(node);
    let mut ways = Vec::new();
    if holds(node) {
        let of_attribute = [0, 1].map(|a| n * u64::from(shape.costs(node)[a]));
        ways.push(Way { loss: shape.loss(node), n_lost: 0, of_attribute, published: vec![node as u32] });
    }
    if may_lose {
        let of_attribute = [0, 1].map(|a| n * u64::from(shape.whole()[a]));
        ways.push(Way { loss: n * LOSS_ONE, n_lost: n, of_attribute, published: Vec::new() });
    }
    if shape.base(node).is_none() {
        let mut divided = vec![Way::default()];
        for child in shape.children(node) {
            let of_child = all_ways(tree, holds, child, may_lose);
            divided = divided.iter().flat_map(|way| of_child.iter().map(|more| way.with(more))).collect();
        }
        ways.extend(divided);
    }
    ways
}

/// What every criterion sees of a node, measured plainly.
fn holds_plainly(given: &Given, tree: &Tree, criteria: &Criteria, records: &[Record], node: usize) -> bool {
    let codes: BTreeSet<Vec<String>> = tree
        .shape()
        .bases(node)
        .map(|base| {
            let codes = given.made_of.codes(base as usize).iter().zip(given.made_of.domains());
            codes.map(|(code, domain)| domain.values()[code.index()].clone()).collect()
        })
        .collect();
    let own: Vec<Record> = records
        .iter()
        .filter(|record| codes.contains(&vec![record[0].to_string(), record[1].to_string()]))
        .copied()
        .collect();
    assert_eq!(own.len() as u64, tree.shape().n_records(node), "a node has the records of its leaves");
    let given = Given::new(records, criteria, false);
    given.keeps(&own)
}

fn ways_of(tree: &Tree, criteria: &Criteria, may_lose: bool) -> Vec<Way> {
    let test = tree.signatures().test(criteria);
    let holds = |node: usize| test.holds(tree.signature(node));
    all_ways(tree, &holds, tree.shape().root(), may_lose)
}

/// What a limit as a share is in steps.
fn steps(tree: &Tree, share: f64, whole: u64) -> u64 {
    (share * (1.0 + 1e-12) * tree.n_records() as f64 * whole as f64).floor() as u64
}

fn is_within(tree: &Tree, request: &Request, way: &Way) -> bool {
    way.n_lost <= request.n_suppressed_max
        && request.loss_max.is_none_or(|share| way.loss <= steps(tree, share, LOSS_ONE))
        && request
            .loss_max_of
            .iter()
            .all(|&(a, share)| way.of_attribute[a] <= steps(tree, share, u64::from(tree.shape().whole()[a])))
}

/// The least that any cut within a request loses.
fn least_loss(tree: &Tree, request: &Request) -> Option<u64> {
    let ways = ways_of(tree, &request.criteria, request.n_suppressed_max > 0);
    ways.iter().filter(|way| is_within(tree, request, way)).map(|way| way.loss).min()
}

/// An offer says of its cut what is so, and keeps all of its request.
fn check_offer(given: &Given, tree: &Tree, offer: &Offer, request: &Request) -> Result<(), TestCaseError> {
    let shape = tree.shape();
    let mut bases: Vec<u32> = Vec::new();
    let nodes = offer.cut.published.iter().chain(&offer.cut.suppressed);
    nodes.for_each(|&node| bases.extend(shape.bases(node as usize)));
    bases.sort_unstable();
    let all: Vec<u32> = (0..given.made_of.n_groups() as u32).collect();
    prop_assert_eq!(bases, all, "every group of the counts is in one node");
    let test = tree.signatures().test(&request.criteria);
    prop_assert!(offer.cut.published.iter().all(|&node| test.holds(tree.signature(node as usize))));
    let n_lost: u64 = offer.cut.suppressed.iter().map(|&node| shape.n_records(node as usize)).sum();
    let loss: u64 = offer.cut.published.iter().map(|&node| shape.loss(node as usize)).sum();
    prop_assert_eq!(offer.cut.n_suppressed, n_lost);
    prop_assert_eq!(offer.cut.loss, loss + n_lost * LOSS_ONE);
    let of = |a: usize| {
        let of_node = |&node: &u32| shape.n_records(node as usize) * u64::from(shape.costs(node as usize)[a]);
        offer.cut.published.iter().map(of_node).sum::<u64>() + n_lost * u64::from(shape.whole()[a])
    };
    let way = Way { loss: offer.cut.loss, n_lost, of_attribute: [of(0), of(1)], published: Vec::new() };
    prop_assert!(is_within(tree, request, &way), "{way:?} {request:?}");
    for a in 0..2 {
        let whole = f64::from(shape.whole()[a]) * tree.n_records() as f64;
        prop_assert!((offer.ncp_of_attribute[a] - way.of_attribute[a] as f64 / whole).abs() < 1e-9);
    }
    Ok(())
}

/// Small trees: at most nine groups of equal records.
fn small() -> impl Strategy<Value = Vec<Record>> {
    tables(14).prop_filter("few different", |records| {
        records.iter().map(|record| (record[0], record[1])).collect::<BTreeSet<_>>().len() <= 9
    })
}

fn limits() -> impl Strategy<Value = (u64, Option<f64>, Vec<(usize, f64)>)> {
    let share = || (0..11u32).prop_map(|tenths| f64::from(tenths) / 10.0);
    let of_attributes = prop_oneof![
        2 => Just(Vec::new()),
        1 => (0..2usize, share()).prop_map(|limit| vec![limit]),
        1 => (share(), share()).prop_map(|(x, y)| vec![(0, x), (1, y)]),
    ];
    (prop_oneof![Just(0), 0..14u64], prop::option::of(share()), of_attributes)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nodes_are_measured_as_their_records_are(records in small(), asked in vec(criteria(), 1..4)) {
        let criteria = Criteria::new(asked);
        let given = Given::new(&records, &criteria, false);
        let tree = grown(&given);
        let test = tree.signatures().test(&criteria);
        let extent = |a: usize, of: &[Record]| {
            let values = || of.iter().map(|record| f64::from(record[a]));
            values().fold(0.0, f64::max) - values().fold(f64::INFINITY, f64::min)
        };
        for node in 0..tree.shape().n_nodes() {
            prop_assert_eq!(test.holds(tree.signature(node)), holds_plainly(&given, &tree, &criteria, &records, node));
            let codes: BTreeSet<[u8; 2]> = tree.shape().bases(node).map(|base| {
                let codes = given.made_of.codes(base as usize);
                [0, 1].map(|a| given.made_of.domains()[a].values()[codes[a].index()].parse().expect("a number"))
            }).collect();
            let own: Vec<Record> =
                records.iter().filter(|record| codes.contains(&[record[0], record[1]])).copied().collect();
            let share = |a: usize| match extent(a, &records) {
                whole if whole > 0.0 => extent(a, &own) / whole,
                _ => 0.0,
            };
            let plain = own.len() as f64 * (share(0) + share(1)) / 2.0;
            prop_assert!((tree.shape().loss(node) as f64 / LOSS_ONE as f64 - plain).abs() < 1e-5);
        }
    }

    /// Whoever is in several children counts once.
    #[test]
    fn people_of_nodes_are_counted_not_summed(records in small()) {
        let given = Given::new(&records, &Criteria::of(Some(2), None), true);
        prop_assume!(given.counts.people().is_some());
        let tree = grown(&given);
        for node in 0..tree.shape().n_nodes() {
            let codes: BTreeSet<[u8; 2]> = tree.shape().bases(node).map(|base| {
                let codes = given.made_of.codes(base as usize);
                [0, 1].map(|a| given.made_of.domains()[a].values()[codes[a].index()].parse().expect("a number"))
            }).collect();
            let own = records.iter().filter(|record| codes.contains(&[record[0], record[1]]));
            let people: BTreeSet<u8> = own.map(|record| record[4]).collect();
            prop_assert_eq!(tree.signatures().size(tree.signature(node)), people.len() as u64);
        }
    }

    /// With and without suppression, over records and people.
    #[test]
    fn no_cut_loses_less(
        records in small(), asked in vec(criteria(), 1..4), n_out in prop_oneof![Just(0), 0..14u64], of_people: bool,
    ) {
        let criteria = Criteria::new(asked);
        let given = Given::new(&records, &criteria, of_people);
        let tree = grown(&given);
        let n_suppressed_max = n_out.min(tree.n_records());
        let request = Request { criteria: criteria.clone(), n_suppressed_max, ..Request::default() };
        let found = tree.cut(&criteria, n_suppressed_max, &Task::default()).expect("all was measured");
        prop_assert_eq!(found.as_ref().map(|cut| cut.loss), least_loss(&tree, &request));
        prop_assert!(found.is_none_or(|cut| cut.loss_at_least == cut.loss));
    }

    /// The answer is the best cut, and each offer gives up as little as any cut does.
    #[test]
    fn offers_are_the_nearest_bargains(
        records in small(), asked in vec(criteria(), 1..3), (n_out, loss_max, loss_max_of) in limits(), of_people: bool,
    ) {
        let criteria = Criteria::new(asked);
        let given = Given::new(&records, &criteria, of_people);
        let tree = grown(&given);
        let has_weight = |a: usize| tree.shape().whole()[a] > 0;
        prop_assume!(loss_max_of.iter().all(|(a, _)| has_weight(*a)));
        let n_suppressed_max = n_out.min(tree.n_records());
        let request = Request { criteria: criteria.clone(), n_suppressed_max, loss_max, loss_max_of };
        let least = least_loss(&tree, &request);
        match tree.negotiate(&request, &Task::default()).expect("it makes sense") {
            Answer::Exact(offer) => {
                check_offer(&given, &tree, &offer, &request)?;
                let least = least.expect("there is one");
                prop_assert_eq!((offer.cut.loss, offer.cut.loss_at_least), (least, least));
            }
            Answer::Offers(offers) => {
                prop_assert!(least.is_none());
                let ways = ways_of(&tree, &criteria, true);
                let unlimited = Request { n_suppressed_max: tree.n_records(), ..request.clone() };
                let fewest = ways.iter().filter(|way| is_within(&tree, &unlimited, way)).map(|way| way.n_lost).min();
                if let Some(offer) = &offers.suppression {
                    let relaxed = Request { n_suppressed_max: offer.cut.n_suppressed, ..request.clone() };
                    check_offer(&given, &tree, offer, &relaxed)?;
                }
                prop_assert_eq!(offers.suppression.as_ref().map(|offer| offer.cut.n_suppressed), fewest);
                let best = fewest.and_then(|n| {
                    least_loss(&tree, &Request { n_suppressed_max: n, ..request.clone() })
                });
                prop_assert_eq!(offers.suppression.map(|offer| offer.cut.loss), best);
                let free = Request { loss_max: None, loss_max_of: Vec::new(), ..request.clone() };
                if free != request {
                    prop_assert_eq!(offers.loss.map(|offer| offer.cut.loss), least_loss(&tree, &free));
                }
                for offer in &offers.privacy_alternatives {
                    check_offer(&given, &tree, offer, &Request { criteria: offer.criteria.clone(), ..request.clone() })?;
                }
                check_privacy(&tree, &request, &offers.privacy_alternatives)?;
            }
        }
    }

    /// Cut, improve, publish: the promise is kept and less is lost.
    #[test]
    fn cuts_are_improved_and_published(
        records in tables(40), asked in vec(criteria(), 0..3), k in 1..5u64, n_out in 0..4u64, of_people: bool,
    ) {
        let given = Given::new(&records, &Criteria::new(asked).with(Criterion::k(k)), of_people);
        let crowd = if of_people { given.counts.n_people() } else { given.counts.n_records() };
        prop_assume!(k <= crowd);
        let tree = grown(&given);
        let Some(cut) = tree.cut(&given.criteria, n_out.min(tree.n_records()), &Task::default()).expect("measured") else {
            return Ok(());
        };
        prop_assume!(!cut.published.is_empty());
        let wanted = given.wanted(CellStyle::Ranges, n_out);
        let found = keep::published(&tree, &cut, &given.assignment(), &wanted, &Task::default()).expect("it fits");
        let (better, _) =
            keep::improved(found.clone(), &given.assignment(), &wanted, 50, &Task::default()).expect("nobody stops it");
        let [before, after] = [&found, &better].map(|partition| given.judged(partition, CellStyle::Ranges));
        prop_assert!(before.holds(&given.criteria) || before.n_groups == 1);
        prop_assert!(after.holds(&given.criteria) || after.n_groups == 1);
        prop_assert!(after.ncp <= before.ncp + 1e-6);
        prop_assert_eq!(before.n_suppressed, cut.n_suppressed);
        if !of_people {
            let ncp = cut.loss as f64 / (LOSS_ONE * tree.n_records()) as f64;
            prop_assert!((before.ncp - ncp).abs() < 1e-5, "{} {ncp}", before.ncp);
        }
    }

    /// Whatever single attributes may lose, they lose no more after any number of steps, and neither do all together.
    #[test]
    fn cuts_are_improved_within_limits(
        records in tables(60), asked in vec(criteria(), 0..2), k in 2..5u64, n_out in 0..3u64, of_people: bool,
        shares in (99..106u32, 99..106u32), has_outliers: bool,
    ) {
        // Nearly all are near to each other, and who is not is left out.
        let near = |[x, y, rest @ ..]: Record| match x {
            6 => [40, 30 + y, rest[0], rest[1], rest[2]],
            _ => [x, y, rest[0], rest[1], rest[2]],
        };
        let records: Vec<Record> = if has_outliers { records.into_iter().map(near).collect() } else { records };
        let given = Given::new(&records, &Criteria::new(asked).with(Criterion::k(k)), of_people);
        let crowd = if of_people { given.counts.n_people() } else { given.counts.n_records() };
        prop_assume!(k <= crowd);
        let tree = grown(&given);
        prop_assume!((0..2).all(|a| tree.shape().whole()[a] > 0));
        let n_suppressed_max = n_out.min(tree.n_records());
        let free = Request { criteria: given.criteria.clone(), n_suppressed_max, ..Request::default() };
        let Answer::Exact(best) = tree.negotiate(&free, &Task::default()).expect("measured") else { return Ok(()) };
        let limit = |a: usize, percent: u32| (a, (best.ncp_of_attribute[a] * f64::from(percent) / 100.0).min(1.0));
        let limited = Request { loss_max_of: vec![limit(0, shares.0), limit(1, shares.1)], ..free };
        let Answer::Exact(offer) = tree.negotiate(&limited, &Task::default()).expect("measured") else { return Ok(()) };
        prop_assume!(!offer.cut.published.is_empty());
        let wanted = given.wanted(CellStyle::Ranges, n_out);
        let assignment = given.assignment();
        let limits = limited.limits_of_published(&tree, offer.cut.n_suppressed);
        // With everything that suppressed records lose, an attribute loses no more than was asked for.
        let is_as_asked = |lost: &[u64]| {
            limited.loss_max_of.iter().all(|&(a, share)| {
                let whole = u64::from(tree.shape().whole()[a]);
                lost[a] + offer.cut.n_suppressed * whole <= steps(&tree, share, whole)
            })
        };
        let found = keep::published(&tree, &offer.cut, &assignment, &wanted, &Task::default()).expect("it fits");
        let lost = |partition: &_| keep::loss_of_attributes(partition, &assignment).expect("it fits");
        let is_within = |lost: &[u64]| limits.iter().all(|&(a, most)| lost[a] <= most);
        let before = lost(&found);
        // Groups of people that look alike may have been united, and lose more.
        prop_assume!(is_within(&before));
        let mut sum: u64 = before.iter().sum();
        for n_steps in [1, 2, 5, 20, 60] {
            let (better, _) = keep::improved_within(found.clone(), &assignment, &wanted, &limits, n_steps, &Task::default())
                .expect("nobody stops it");
            let lost = lost(&better);
            prop_assert!(is_within(&lost) && is_as_asked(&lost), "{lost:?} {limits:?}");
            prop_assert!(of_people || lost.iter().sum::<u64>() <= sum);
            let judged = given.judged(&better, CellStyle::Ranges);
            prop_assert!(judged.holds(&given.criteria) || judged.n_groups == 1);
            sum = lost.iter().sum();
        }
    }

    #[test]
    fn frontiers_have_the_best_cut_at_every_value(
        records in small(), asked in criteria(), other in prop::option::of(criteria()), n_out in 0..4u64,
    ) {
        let criteria = Criteria::new(other.into_iter().filter(|other| other.measure != asked.measure));
        let all = criteria.with(asked);
        let given = Given::new(&records, &all, false);
        let tree = grown(&given);
        let n_suppressed_max = n_out.min(tree.n_records());
        let request = Request { criteria, n_suppressed_max, ..Request::default() };
        let measure = asked.measure;
        let bargains = tree.frontier(&request, measure, &Task::default()).expect("all was measured");
        let at_least = measure.is_at_least();
        let is_in_order =
            bargains.is_sorted_by(|a, b| if at_least { a.value < b.value } else { a.value > b.value });
        prop_assert!(is_in_order);
        let column = tree.signatures().column(measure).expect("measured");
        let values = (0..tree.signatures().len()).map(|signature| tree.signatures().of(signature)[column]);
        let weakest = Criterion { measure, value: measure.weakest() };
        for value in values.filter(|value| weakest.holds(*value)) {
            let criterion = Criterion { measure, value };
            let at = Request { criteria: request.criteria.with(criterion), ..request.clone() };
            let ways = ways_of(&tree, &at.criteria, n_suppressed_max > 0);
            let is_meant = |way: &&Way| is_within(&tree, &at, way) && !way.published.is_empty();
            let least = ways.iter().filter(is_meant).map(|way| way.loss).min();
            // The first that is at least as private.
            let bargain = bargains.iter().find(|bargain| criterion.holds(bargain.value));
            let all = (LOSS_ONE * tree.n_records()) as f64;
            if let Some(bargain) = bargain {
                let least = least.expect("there is one") as f64 / all;
                prop_assert!((bargain.ncp - least).abs() < 1e-9, "{} {least}", bargain.ncp);
            } else {
                // Nothing is published by what loses least, or by anything.
                let with_nothing = ways.iter().filter(|way| is_within(&tree, &at, way)).map(|way| way.loss).min();
                prop_assert!(least.is_none() || with_nothing <= least);
            }
        }
    }
}

/// What cuts of the records of a node lose, each once: in all, in records, and on each attribute.
fn all_totals(
    tree: &Tree,
    holds: &dyn Fn(usize) -> bool,
    node: usize,
    may_lose: bool,
) -> BTreeSet<(u64, u64, [u64; 2])> {
    let shape = tree.shape();
    let n = shape.n_records(node);
    let mut totals = BTreeSet::new();
    if holds(node) {
        totals.insert((shape.loss(node), 0, [0, 1].map(|a| n * u64::from(shape.costs(node)[a]))));
    }
    if may_lose {
        totals.insert((n * LOSS_ONE, n, [0, 1].map(|a| n * u64::from(shape.whole()[a]))));
    }
    if shape.base(node).is_none() {
        let mut divided = BTreeSet::from([(0, 0, [0, 0])]);
        for child in shape.children(node) {
            let of_child = all_totals(tree, holds, child, may_lose);
            let with = |(loss, lost, of): &(u64, u64, [u64; 2])| {
                let (loss, lost, of) = (*loss, *lost, *of);
                of_child.iter().map(move |more| (loss + more.0, lost + more.1, [of[0] + more.2[0], of[1] + more.2[1]]))
            };
            divided = divided.iter().flat_map(with).collect();
        }
        totals.extend(divided);
    }
    totals
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Where many cuts lose nearly the same and limits cut between them, only looking at all of them decides.
    #[test]
    fn limits_are_decided_on_larger_trees(
        places in vec((0..60u8, 0..60u8), 8..20), k in 2..4u64, n_out in 0..9u64,
        limited in vec((0..2usize, 94..104u32), 0..3), of_loss in prop::option::of(94..104u32),
    ) {
        let records: Vec<Record> = places.into_iter().map(|(x, y)| [x, y, 0, 0, 0]).collect();
        let given = Given::new(&records, &Criteria::of(Some(k), None), false);
        let tree = grown(&given);
        let (n, whole) = (tree.n_records(), tree.shape().whole().to_vec());
        prop_assume!(whole.iter().all(|&whole| whole > 0));
        let ways = |k: u64, may_lose: bool| -> Vec<Way> {
            let test = tree.signatures().test(&Criteria::of(Some(k), None));
            let holds = |node: usize| test.holds(tree.signature(node));
            let totals = all_totals(&tree, &holds, tree.shape().root(), may_lose).into_iter();
            totals.map(|(loss, n_lost, of_attribute)| Way { loss, n_lost, of_attribute, published: Vec::new() }).collect()
        };
        // The limits lie near to what the best cut without them loses.
        let (all, kept) = (ways(k, true), ways(k, n_out > 0));
        let free = kept.iter().filter(|way| way.n_lost <= n_out).min_by_key(|way| way.loss).expect("all records together");
        let share = |lost: u64, whole: u64, percent: u32| (lost as f64 / (n * whole) as f64 * f64::from(percent) / 100.0).min(1.0);
        let mut loss_max_of: Vec<(usize, f64)> = Vec::new();
        for (a, percent) in limited {
            if loss_max_of.iter().all(|(known, _)| *known != a) {
                loss_max_of.push((a, share(free.of_attribute[a], u64::from(whole[a]), percent)));
            }
        }
        let request = Request {
            criteria: given.criteria.clone(),
            n_suppressed_max: n_out.min(n),
            loss_max: of_loss.map(|percent| share(free.loss, LOSS_ONE, percent)),
            loss_max_of,
        };
        let least = |ways: &[Way], request: &Request| {
            ways.iter().filter(|way| is_within(&tree, request, way)).map(|way| way.loss).min()
        };
        match tree.negotiate(&request, &Task::default()).expect("it makes sense") {
            Answer::Exact(offer) => {
                check_offer(&given, &tree, &offer, &request)?;
                prop_assert_eq!((Some(offer.cut.loss), offer.cut.loss_at_least), (least(&kept, &request), offer.cut.loss));
            }
            Answer::Offers(offers) => {
                prop_assert_eq!(least(&kept, &request), None);
                let unlimited = Request { n_suppressed_max: n, ..request.clone() };
                let fewest = all.iter().filter(|way| is_within(&tree, &unlimited, way)).map(|way| way.n_lost).min();
                prop_assert_eq!(offers.suppression.as_ref().map(|offer| offer.cut.n_suppressed), fewest);
                let best = fewest.and_then(|fewest| least(&all, &Request { n_suppressed_max: fewest, ..request.clone() }));
                prop_assert_eq!(offers.suppression.map(|offer| offer.cut.loss), best);
                let free = Request { loss_max: None, loss_max_of: Vec::new(), ..request.clone() };
                prop_assert_eq!(offers.loss.map(|offer| offer.cut.loss), least(&kept, &free));
                let strictest = (2..k).rev().find(|&k| least(&ways(k, n_out > 0), &request).is_some());
                let offered = offers.privacy.and_then(|offer| offer.criteria.value(Measure::Size));
                prop_assert_eq!(offered, strictest);
            }
        }
    }
}

/// No stricter value than that of an alternative has a cut, and where there is none, no value has.
fn check_privacy(tree: &Tree, request: &Request, alternatives: &[Offer]) -> Result<(), TestCaseError> {
    for criterion in request.criteria.iter() {
        let measure = criterion.measure;
        let column = tree.signatures().column(measure).expect("measured");
        let weakest = Criterion { measure, value: measure.weakest() };
        let values = (0..tree.signatures().len()).map(|signature| tree.signatures().of(signature)[column]);
        let values = values.filter(|&value| !criterion.holds(value) && weakest.holds(value));
        let works = |value: &u64| {
            let criteria = request.criteria.with(Criterion { measure, value: *value });
            least_loss(tree, &Request { criteria, ..request.clone() }).is_some()
        };
        let working = values.filter(works);
        let strictest = if measure.is_at_least() { working.max() } else { working.min() };
        let mut offered = alternatives.iter().filter_map(|offer| {
            let value = offer.criteria.value(measure).expect("it stays");
            (value != criterion.value).then_some(value)
        });
        prop_assert_eq!(offered.next_back(), strictest, "{:?}", measure);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_number_of_threads_changes_nothing(records in tables(300), k in 2..9u64) {
        let given = Given::new(&records, &Criteria::of(Some(k), None), false);
        let on = |n_threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
            pool.install(|| grown(&given))
        };
        let one = on(1);
        prop_assert_eq!(&one, &on(3));
        let mut turned = records.clone();
        turned.reverse();
        prop_assert_eq!(&one, &grown(&Given::new(&turned, &Criteria::of(Some(k), None), false)));
    }

    /// As numbers and back, and what is no tree is refused.
    #[test]
    fn trees_come_back_from_their_numbers(records in tables(60), at in 0..1000usize, n in -3..80i64) {
        let given = Given::new(&records, &Criteria::of(Some(2), None), false);
        let tree = grown(&given);
        let mut numbers = tree.shape().to_numbers();
        let back = |numbers: &[i64]| Shape::from_numbers(numbers, &given.made_of, &given.hierarchies, &WEIGHTS);
        prop_assert_eq!(&back(&numbers).expect("a tree"), tree.shape());
        let at = at % numbers.len();
        if numbers[at] != n {
            numbers[at] = n;
            prop_assert!(back(&numbers).is_err());
        }
        prop_assert!(back(&[]).is_err());
    }
}

#[test]
fn groups_of_every_stage_are_nodes() {
    let records: Vec<Record> = (0..200u32).map(|i| [(i * 7 % 50) as u8, (i * 13 % 31) as u8, 0, 0, 0]).collect();
    let given = Given::new(&records, &Criteria::of(Some(2), None), false);
    let tree = grown(&given);
    let shape = tree.shape();
    assert_eq!(shape.n_records(shape.root()), 200);
    for node in 0..shape.n_nodes() {
        let children: Vec<usize> = shape.children(node).collect();
        assert_ne!(children.len(), 1, "a union has several children");
        assert!(children.iter().all(|&child| shape.parent(child) == Some(node)));
        if !children.is_empty() {
            assert_eq!(children.iter().map(|&child| shape.n_records(child)).sum::<u64>(), shape.n_records(node));
        }
    }
    // The more is asked, the more is lost.
    let losses: Vec<u64> = (2..40)
        .map(|k| tree.cut(&Criteria::of(Some(k), None), 0, &Task::default()).expect("measured").expect("enough").loss)
        .collect();
    assert!(losses.is_sorted());
    assert!(losses[0] < losses[37]);
    assert!(tree.cut(&Criteria::of(Some(201), None), 0, &Task::default()).expect("measured").is_none());
    let refused =
        tree.cut(&Criteria::new([Criterion { measure: Measure::Entropy(0), value: 2_000_000 }]), 0, &Task::default());
    assert!(refused.is_err(), "what was not measured cannot be asked for");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Who is known stays, who is gone is left out, who is new finds a leaf; and the cuts of the tree are right.
    #[test]
    fn trees_follow_records_that_come_and_go(before in tables(30), come in tables(10), n_go in 0..10usize, k in 2..4u64) {
        let after: Vec<Record> = before[n_go.min(before.len() - 1)..].iter().chain(&come).copied().collect();
        let criteria = Criteria::of(Some(k), None);
        let [was, is] = [&before, &after].map(|records| Given::new(records, &criteria, false));
        let shape = grown(&was).shape().followed(&was.made_of, &is.made_of, &is.hierarchies, &WEIGHTS).expect("it fits");
        let mut bases: Vec<u32> = shape.bases(shape.root()).collect();
        bases.sort_unstable();
        let all: Vec<u32> = (0..is.made_of.n_groups() as u32).collect();
        prop_assert_eq!(bases, all);
        prop_assert!((0..shape.n_nodes()).all(|node| shape.children(node).count() != 1));
        let tree = Tree::of(shape, &is.made_of, &is.yardstick, &Task::default()).expect("it fits");
        let found = tree.cut(&criteria, 0, &Task::default()).expect("measured");
        prop_assert_eq!(found.is_some(), after.len() as u64 >= k);
        let back = tree.shape().to_numbers();
        let same = Shape::from_numbers(&back, &is.made_of, &is.hierarchies, &WEIGHTS).expect("a tree");
        prop_assert_eq!(&same, tree.shape());
        // Who came and went again leaves nothing behind.
        if n_go == 0 {
            let went = tree.shape().followed(&is.made_of, &was.made_of, &was.hierarchies, &WEIGHTS).expect("it fits");
            let at_first = grown(&was);
            prop_assert_eq!(&went, at_first.shape());
        }
        // Where nothing changed, nothing changes.
        let own = grown(&was);
        let same = own.shape().followed(&was.made_of, &was.made_of, &was.hierarchies, &WEIGHTS).expect("it fits");
        prop_assert_eq!(&same, own.shape());
    }
}
