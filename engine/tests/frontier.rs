//! Every bargain that makes sense, and no other: against all schemes and all values, one by one.

use crate::common;

use common::random::{any_mixed_tables, chance};
use common::*;
use incrowd::search::frontier::{Bargain, frontier};
use incrowd::task::Task;
use incrowd::{Criteria, Criterion, Measure, Quality, Ranking, Request};
use proptest::prelude::*;

/// Everything that could be published: each scheme at each value that one of its groups has.
fn all_bargains(made: &Made, request: &Request, measure: Measure, ranking: &Ranking) -> Vec<Bargain> {
    let lattice = &made.lattice;
    let column = lattice.signatures().column(measure).expect("it is measured");
    let least = request.criteria.value(measure).unwrap_or(measure.weakest());
    let mut all = Vec::new();
    for place in (0..lattice.schemes().len()).filter(|&p| lattice.schemes().scheme(p).is_below(&request.level_max)) {
        for entry in lattice.profile(place).entries() {
            let value = lattice.signatures().of(entry.signature as usize)[column];
            let criterion = Criterion { measure, value };
            if !(Criterion { measure, value: least }).holds(value) {
                continue;
            }
            let outcome = lattice.outcome(place, &request.criteria.with(criterion));
            if outcome.n_groups > 0 && outcome.n_suppressed <= request.n_suppressed_max {
                let loss = ranking.loss(lattice, place, &outcome);
                let (n_suppressed, n_groups) = (outcome.n_suppressed, outcome.n_groups);
                all.push(Bargain { place, value, n_suppressed, n_groups, loss });
            }
        }
    }
    all
}

/// Whether one bargain is at least as good as another in everything.
fn is_as_good(one: &Bargain, other: &Bargain, measure: Measure) -> bool {
    Criterion { measure, value: other.value }.holds(one.value)
        && one.n_suppressed <= other.n_suppressed
        && one.loss <= other.loss
}

proptest! {
    #![proptest_config(chance(300))]
    #[test]
    fn the_frontier_beats_everything_and_is_beaten_by_nothing(
        mut table in any_mixed_tables(),
        seed in any::<u64>(),
    ) {
        table.wanted.with_entropy = true;
        let (made, naive) = (table.make(), Naive::new(&table));
        if naive.n_records() == 0 {
            return Ok(());
        }
        let lattice = &made.lattice;
        let mut dice = common::random::Dice(seed);
        let measures = lattice.signatures().measures();
        let measure = measures[dice.roll(measures.len())];
        let other = measures[dice.roll(measures.len())];
        let criteria = match dice.request(&naive, &[other]) {
            Some(request) if dice.roll(2) == 0 => request.criteria,
            _ => Criteria::default(),
        };
        let top = lattice.schemes().scheme(lattice.schemes().len() - 1);
        let request = Request {
            criteria,
            n_suppressed_max: [0, naive.n_records() / 3, naive.n_records()][dice.roll(3)],
            level_max: top,
            best_by: Ranking::from(Quality::Height),
        };
        let ranking = Ranking::parse(["ncp", "height", "entropy", "group-size=1,precision=2"][dice.roll(4)])
            .expect("a ranking");
        // A table may be too small for the least value; that is said, and not looked at further.
        let Ok(found) = frontier(lattice, &request, measure, &ranking, &Task::default()) else { return Ok(()) };
        let all = all_bargains(&made, &request, measure, &ranking);
        for bargain in &all {
            prop_assert!(found.iter().any(|one| is_as_good(one, bargain, measure)), "{bargain:?} is missing");
        }
        for bargain in &found {
            prop_assert!(all.contains(bargain), "{bargain:?} cannot be had");
            let equal = |one: &&Bargain| is_as_good(one, bargain, measure) && !is_as_good(bargain, one, measure);
            prop_assert!(all.iter().find(equal).is_none(), "{bargain:?} is beaten");
        }
        for (i, one) in found.iter().enumerate() {
            prop_assert!(found[i + 1..].iter().all(|other| !is_as_good(one, other, measure)), "{one:?} comes twice");
        }
    }
}
