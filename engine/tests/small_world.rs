//! Small worlds, all of them: every tiny table and every request, against the definition.

use crate::common;

use common::{
    Attribute, Cell, Made, Naive, Table, Wanted, all_level_vectors, assert_same_negotiation, assert_same_profile,
    one_sensitive, request,
};
use incrowd::{Answer, Criteria, Measure, Missing, Request};

/// Tables that are made of these cells, in every combination.
struct World {
    quasi_identifiers: Vec<Attribute>,
    cells: Vec<Vec<Cell>>,
    sensitive: Option<Vec<Cell>>,
    missing: Missing,
}

impl World {
    /// Every record that there can be.
    fn kinds_of_records(&self) -> Vec<Vec<Cell>> {
        let mut kinds = vec![vec![]];
        for cells in self.cells.iter().chain(&self.sensitive) {
            let longer =
                |record: Vec<Cell>| cells.iter().map(move |cell| [record.clone(), vec![cell.clone()]].concat());
            kinds = kinds.into_iter().flat_map(longer).collect();
        }
        kinds
    }

    /// Every table of so many records, whatever their order: that it does not matter is a law of its own.
    fn tables(&self, n_records: usize) -> impl Iterator<Item = Table> + '_ {
        let kinds = self.kinds_of_records();
        multisets(kinds.len(), n_records).into_iter().map(move |chosen| Table {
            quasi_identifiers: self.quasi_identifiers.clone(),
            sensitive: if self.sensitive.is_some() { one_sensitive() } else { vec![] },
            has_note: false,
            wanted: Wanted::default(),
            missing: self.missing.clone(),
            records: chosen.into_iter().map(|kind| kinds[kind].clone()).collect(),
        })
    }
}

/// Every non-decreasing list of so many of the numbers below `n`.
fn multisets(n: usize, n_chosen: usize) -> Vec<Vec<usize>> {
    match n_chosen {
        0 => vec![vec![]],
        _ => multisets(n, n_chosen - 1)
            .into_iter()
            .flat_map(|chosen| {
                let least = chosen.last().copied().unwrap_or(0);
                (least..n).map(move |next| [chosen.clone(), vec![next]].concat())
            })
            .collect(),
    }
}

/// Every request that has a meaning on the table: each k, each l, both, any suppression, any levels.
fn requests(naive: &Naive) -> Vec<Request> {
    let each = |greatest: u64| std::iter::once(None).chain((1..=greatest).map(Some));
    let mut requests = Vec::new();
    for k in each(naive.n_records()) {
        for l in each(naive.n_sensitive() as u64) {
            let criteria = Criteria::of(k, l);
            if criteria.is_empty() {
                continue;
            }
            for n_suppressed_max in 0..=naive.n_records() {
                for levels in all_level_vectors(&naive.tops) {
                    requests.push(request(criteria.clone(), n_suppressed_max, &levels));
                }
            }
        }
    }
    requests
}

/// Compares every `step`-th table of each size with the definition; returns how many requests were made.
#[track_caller]
fn check(world: &World, sizes_and_steps: &[(usize, usize)]) -> usize {
    let mut n_requests = 0;
    for &(n_records, step) in sizes_and_steps {
        for table in world.tables(n_records).step_by(step) {
            let (Made { lattice, .. }, naive) = (table.make(), Naive::new(&table));
            assert_eq!(lattice.n_records(), naive.n_records());
            assert_eq!(lattice.n_dropped(), naive.n_dropped);
            assert!(lattice.sensitive().iter().map(|(_, n)| *n).eq(naive.n_values()));
            for naive_scheme in &naive.schemes {
                assert_same_profile(&lattice, naive_scheme, &table);
            }
            for request in requests(&naive) {
                assert_same_negotiation(&lattice, &naive, &request, &table);
                n_requests += 1;
            }
        }
    }
    n_requests
}

fn cells(texts: &[&str]) -> Vec<Cell> {
    texts.iter().map(|text| Some(text.to_string())).collect()
}

fn with_missing(texts: &[&str]) -> Vec<Cell> {
    [cells(texts), vec![None]].concat()
}

/// All 1,819 tables of up to 4 records, and every 4th of the 4,368 of 5 records: 1,270,896 requests.
#[test]
fn two_quasi_identifiers_and_a_sensitive_attribute() {
    let world = World {
        quasi_identifiers: vec![
            Attribute::new("city", &[&["a", "north"], &["b", "north"], &["c", "south"]]),
            Attribute::flat("sex", &["f", "m"]),
        ],
        cells: vec![cells(&["a", "b", "c"]), cells(&["f", "m"])],
        sensitive: Some(cells(&["flu", "gout"])),
        missing: Missing::default(),
    };
    assert_eq!(check(&world, &[(1, 1), (2, 1), (3, 1), (4, 1), (5, 4)]), 1_270_896);
}

/// All 1,286 tables of up to 5 records, and every 4th of the 1,716 of 6 records: 400,400 requests.
#[test]
fn three_quasi_identifiers_and_nothing_sensitive() {
    let mut world = World {
        quasi_identifiers: ["x", "y", "z"].map(|name| Attribute::flat(name, &["0", "1"])).to_vec(),
        cells: vec![cells(&["0", "1"]); 3],
        sensitive: None,
        missing: Missing::default(),
    };
    world.quasi_identifiers[1].weight = 3.0;
    assert_eq!(check(&world, &[(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 4)]), 400_400);
}

/// All 1,819 tables of up to 4 records in which any value may be missing, under both policies:
/// 420,160 requests where such records are kept, 31,436 where they are dropped.
#[test]
fn missing_values_kept_or_dropped() {
    let n_requests = [false, true].map(|drop_records| {
        let world = World {
            quasi_identifiers: vec![
                Attribute::new("age", &[&["20", "young"], &["30", "young"]]),
                Attribute::flat("sex", &["f"]),
            ],
            cells: vec![with_missing(&["20", "30"]), with_missing(&["f"])],
            sensitive: Some(with_missing(&["flu"])),
            missing: Missing { tokens: vec![], drop_records, ..Missing::default() },
        };
        check(&world, &[(1, 1), (2, 1), (3, 1), (4, 1)])
    });
    assert_eq!(n_requests, [420_160, 31_436]);
}

/// All 1,819 tables of up to 4 records, every 10th of the 4,368 of 5 and every 100th of the 12,376 of 6:
/// 777,988 requests.
#[test]
fn one_quasi_identifier_with_many_levels() {
    let world = World {
        quasi_identifiers: vec![Attribute::new(
            "zip",
            &[
                &["10", "10", "1*", "even"],
                &["11", "11", "1*", "even"],
                &["20", "2x", "2*", "even"],
                &["21", "2x", "2*", "even"],
            ],
        )],
        cells: vec![cells(&["10", "11", "20", "21"])],
        sensitive: Some(cells(&["flu", "gout", "none"])),
        missing: Missing::default(),
    };
    assert_eq!(check(&world, &[(1, 1), (2, 1), (3, 1), (4, 1), (5, 10), (6, 100)]), 777_988);
}

/// All 84 tables of three groups out of seven shapes, asked for k and l at once: 198,968 requests.
///
/// In 350 of them either of the two could be lowered; the smaller concession is the offer, and k where they are equal.
#[test]
fn groups_of_every_shape_when_both_criteria_are_asked_for() {
    // Records, and different sensitive values among them.
    let shapes = [(2, 1), (3, 3), (4, 2), (5, 2), (6, 4), (8, 2), (8, 6)];
    let (mut n_requests, mut n_k_first, mut n_l_first) = (0, 0, 0);
    for chosen in multisets(shapes.len(), 3) {
        let records_of = |(group, shape): (usize, usize)| {
            let (size, n_distinct) = shapes[shape];
            (0..size).map(move |i| vec![Some(format!("g{group}")), Some(format!("s{}", i % n_distinct))])
        };
        let table = Table {
            quasi_identifiers: vec![Attribute::flat("city", &["g0", "g1", "g2"])],
            sensitive: one_sensitive(),
            has_note: false,
            wanted: Wanted::default(),
            missing: Missing::default(),
            records: chosen.into_iter().enumerate().flat_map(records_of).collect(),
        };
        let (Made { lattice, .. }, naive) = (table.make(), Naive::new(&table));
        for request in requests(&naive).into_iter().filter(|request| request.criteria.iter().count() == 2) {
            assert_same_negotiation(&lattice, &naive, &request, &table);
            n_requests += 1;
            let answer = incrowd::negotiate(&lattice, &request).expect("a request with a meaning");
            if let Answer::Offers(offers) = answer
                && let [first, second] = &offers.privacy_alternatives[..]
            {
                let is_l = |offer: &incrowd::Offer| {
                    offer.criteria.value(Measure::Size) == request.criteria.value(Measure::Size)
                };
                assert_ne!(is_l(first), is_l(second));
                *(if is_l(first) { &mut n_l_first } else { &mut n_k_first }) += 1;
            }
        }
    }
    assert_eq!((n_requests, n_k_first, n_l_first), (198_968, 236, 114));
}
