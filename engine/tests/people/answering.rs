//! Answers about people, beside those of trying everything; lattices that are saved and followed.

use super::*;

fn requests(counts: &GroupCounts) -> Vec<Criteria> {
    let criterion = |measure, value| Criterion { measure, value };
    let n = counts.n_people();
    let mut all = vec![
        Criteria::of(Some(2.min(n)), None),
        Criteria::of(Some(3.min(n)), Some(2)),
        Criteria::new([criterion(Measure::Share(0), 600_000)]),
        Criteria::new([criterion(Measure::Entropy(0), 1_500_000), Criterion::k(2)]),
        Criteria::new([criterion(Measure::Closeness(0), 300_000)]),
        Criteria::new([criterion(Measure::Likeness(0), 900_000), Criterion::k(2)]),
        Criteria::new([criterion(Measure::Recursive { sensitive: 0, l: 2 }, 2_000_000)]),
        Criteria::new([Criterion::l(3)]),
    ];
    let n_values = counts.sensitive()[0].len();
    all.retain(|criteria| incrowd::search::request::check_criteria(criteria, counts.crowd(), &[n_values]).is_ok());
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    /// Whole, on demand, in part and from bytes: every answer is that of all schemes tried one after the other.
    #[test]
    fn answers_are_those_of_trying_everything(
        records in tables(),
        n_max in 0..6u64,
        bound in (0..4u8, 0..4u8),
        has_all in any::<bool>(),
    ) {
        let counts = counts(&records);
        let hierarchies = hierarchies(&counts);
        // k and l alone are counted in a way of their own.
        let yardstick = match has_all {
            true => yardstick(&counts, Distance::Ordered),
            false => Yardstick::new(&counts, &[], []).expect("a sensitive attribute"),
        };
        let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
        let lattice = annotate(&counts, &hierarchies, &plan, &Task::default()).expect("small");
        let every = Selection { share: 1.0, estimator: Estimator::ALL[0] };
        let partial = annotate_partially(&counts, &hierarchies, &plan, every, &Task::default()).expect("small");
        let opened = reopened(&lattice, &counts);
        let level_max = Scheme::new(vec![Level(bound.0), Level(bound.1)]);
        let is_measured = |criteria: &Criteria| criteria.iter().all(|c| yardstick.measures().contains(&c.measure));
        for criteria in requests(&counts).into_iter().filter(is_measured) {
            let n_suppressed_max = n_max.min(counts.n_records());
            let request = Request { criteria, level_max: level_max.clone(), n_suppressed_max, best_by: Ranking::from(Quality::Height) };
            let mut best: Option<(u32, u64, Vec<u8>)> = None;
            for place in 0..lattice.schemes().len() {
                let scheme = lattice.schemes().scheme(place);
                let (_, outcome) = outcome_of(&counts, &hierarchies, &plan, &scheme, &request.criteria).expect("a scheme");
                prop_assert_eq!(&outcome, &lattice.outcome(place, &request.criteria));
                let vector = lattice.schemes().vector(place).to_vec();
                let is_within = vector[0] <= bound.0 && vector[1] <= bound.1;
                if is_within && outcome.n_suppressed <= n_suppressed_max {
                    let candidate = (vector.iter().map(|level| u32::from(*level)).sum(), outcome.n_suppressed, vector);
                    best = Some(best.map_or(candidate.clone(), |best| best.min(candidate)));
                }
            }
            let exact = |answer: Answer| match answer {
                Answer::Exact(offer) => Some(offer.scheme.levels().iter().map(|level| level.0).collect::<Vec<u8>>()),
                Answer::Offers(_) => None,
            };
            let best = best.map(|(_, _, vector)| vector);
            for lattice in [&lattice, &partial, &opened] {
                prop_assert_eq!(exact(negotiate(lattice, &request).expect("a request")), best.clone());
            }
            let found = negotiate_on_demand(&counts, &hierarchies, &plan, &request, &Task::default()).expect("a request");
            prop_assert_eq!(exact(found.answer), best);
        }
    }

    /// Records come and go, with their people: counts and lattice are those of the table that results.
    #[test]
    fn a_lattice_follows_its_people(records in tables(), n_gone in 1..4usize) {
        let n_gone = n_gone.min(records.len() - 1);
        let (gone, kept) = records.split_at(n_gone);
        let (before, less, after) = (counts(&records), counts(gone), counts(kept));
        prop_assert_eq!(&before.without_records(&less).expect("they are there"), &after);
        prop_assert_eq!(&after.with_records(&less).expect("the same attributes"), &before);
        let hierarchies = hierarchies(&before);
        if before.domains() != after.domains() || before.people().is_some() != after.people().is_some() {
            return Ok(());
        }
        fn plan(yardstick: &Yardstick) -> Plan<'_> {
            Plan { weights: &[1.0, 1.0], yardstick, with_entropy: false }
        }
        for measures in [&[][..], &[Measure::Distinct(0), Measure::Entropy(0), Measure::Share(0)]] {
        let yardstick = |counts: &GroupCounts| Yardstick::new(counts, &[], measures.iter().copied()).expect("a sensitive attribute");
        let (old, new) = (yardstick(&before), yardstick(&after));
        let lattice = annotate(&before, &hierarchies, &plan(&old), &Task::default()).expect("small");
        let followed = updated(&lattice, &before, &after, &plan(&new), &Task::default()).expect("small");
        let fresh = annotate(&after, &hierarchies, &plan(&new), &Task::default()).expect("small");
        if let Some(followed) = followed {
            prop_assert_eq!(followed.signatures(), fresh.signatures());
            for place in 0..fresh.schemes().len() {
                prop_assert_eq!(followed.profile(place), fresh.profile(place));
            }
        }
        }
    }

    /// What is published has for every group what was promised, for people.
    #[test]
    fn published_groups_keep_what_is_promised_to_people(records in tables(), levels in (0..4u8, 0..4u8)) {
        let counts = counts(&records);
        let (hierarchies, yardstick) = (hierarchies(&counts), yardstick(&counts, Distance::Ordered));
        let scheme = Scheme::new(vec![Level(levels.0), Level(levels.1)]);
        let table = group(&records);
        for criteria in requests(&counts) {
            let recoding = global::recode(&counts, &hierarchies, &scheme, &yardstick, &criteria).expect("a scheme");
            let published: u64 = recoding.sizes().iter().sum();
            let kept = groups(&records, &scheme).into_values().filter(|here| {
                criteria.iter().all(|criterion| {
                    let value = defined(criterion.measure, &group(here), &table, Distance::Ordered);
                    let value = value.map_or(f64::INFINITY, |v| if criterion.measure.is_count() { v } else { v * 1e6 });
                    let asked = criterion.value as f64;
                    match criterion.measure {
                        Measure::Recursive { .. } => value < asked - 1e-6,
                        measure if measure.is_at_least() => value >= asked - 1e-6,
                        _ => value <= asked + 1e-6,
                    }
                })
            });
            prop_assert_eq!(kept.map(|here| here.len() as u64).sum::<u64>(), published);
        }
    }
}

struct InMemory(Mutex<Vec<u8>>);

impl ReadAt for InMemory {
    fn read(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>> {
        Ok(self.0.lock().expect("one reader")[start as usize..][..n_bytes].to_vec())
    }
}

/// The same lattice, written and read back.
fn reopened(lattice: &Lattice, counts: &GroupCounts) -> Lattice {
    let mut bytes = Vec::new();
    let sections = saved::save(lattice, counts, 0, &mut |more| {
        bytes.extend_from_slice(more);
        Ok(())
    });
    let (sections, storage) = (sections.expect("written"), Arc::new(InMemory(Mutex::new(bytes))));
    assert_eq!(&saved::open_counts(&sections, &*storage, &Task::default()).expect("read"), counts);
    saved::open(&sections, storage, &Task::default()).expect("read")
}
