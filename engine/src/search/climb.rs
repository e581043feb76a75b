//! A good scheme soon, and better ones with time: steps down, exchanges between attributes, and random walks.
//!
//! From the coarsest scheme, the step down that leaves the least loss is taken until none helps. Then one attribute is
//! raised and another lowered, and the way down begins again; where no exchange helps, random walks also take steps that
//! do not help. Nothing is proved here: whoever searches has bounds of their own.

use crate::random::Random;

/// A scheme that is acceptable, with what decides which of two is better.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spot {
    pub(crate) loss: f64,
    pub(crate) height: u32,
    pub(crate) n_suppressed: u64,
    pub(crate) levels: Vec<u8>,
}

impl Spot {
    pub(crate) fn new(levels: &[u8], loss: f64, n_suppressed: u64) -> Spot {
        let height = levels.iter().map(|&level| u32::from(level)).sum();
        Spot { loss, height, n_suppressed, levels: levels.to_vec() }
    }

    /// Less loss, then a lower height, then fewer records lost, then the smaller level vector.
    pub(crate) fn is_better(&self, other: &Spot) -> bool {
        let rest = |spot: &Spot| (spot.height, spot.n_suppressed);
        let order = self.loss.total_cmp(&other.loss).then_with(|| rest(self).cmp(&rest(other)));
        order.then_with(|| self.levels.cmp(&other.levels)).is_lt()
    }
}

/// Where one climbs.
pub(crate) trait Ground {
    /// What some schemes are worth; none where one is not acceptable, or the search has been ended.
    fn look(&mut self, many: &[Vec<u8>]) -> Vec<Option<Spot>>;

    /// Whether the search has been ended.
    fn is_over(&self) -> bool;
}

/// Which step down is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The one that leaves the least loss.
    LeastLoss,
    /// The one that saves most loss for each record that it loses.
    MostPerRecord,
}

/// How many steps one walk has.
const N_STEPS: usize = 4_000;
/// How many are looked at at once.
const N_AT_ONCE: usize = 8;
/// By how much worse a step may be, about, at the beginning of a walk and at its end.
const HOT: f64 = 0.01;
const COLD: f64 = 0.001;

/// A search by steps.
///
/// # Guarantee
/// The same seed and ground give the same schemes in the same order, so that who looks at more of them finds nothing worse.
#[derive(Clone, Debug)]
pub(crate) struct Climb {
    bound: Vec<u8>,
    random: Random,
    best: Option<Spot>,
}

impl Climb {
    /// Among the schemes below a bound.
    pub(crate) fn new(bound: &[u8], seed: u64) -> Climb {
        Climb { bound: bound.to_vec(), random: Random::new(seed), best: None }
    }

    /// The steps down from the coarsest scheme.
    pub(crate) fn begin(&mut self, ground: &mut dyn Ground) {
        let Some(coarsest) = ground.look(std::slice::from_ref(&self.bound)).pop().flatten() else { return };
        for rule in [Rule::LeastLoss, Rule::MostPerRecord] {
            let spot = self.descend(coarsest.clone(), rule, ground);
            self.take(&spot);
        }
    }

    /// Exchanges between attributes, as long as one helps.
    pub(crate) fn improve(&mut self, ground: &mut dyn Ground) {
        if let Some(best) = self.best.clone() {
            let spot = self.exchange(best, ground);
            self.take(&spot);
        }
    }

    /// A walk from the best on that also takes steps to worse schemes, fewer and fewer of them (simulated annealing,
    /// Kirkpatrick et al. 1983), and the way down from the best that it has met.
    pub(crate) fn wander(&mut self, ground: &mut dyn Ground) {
        let Some(mut here) = self.best.clone() else { return };
        let mut best = here.clone();
        let mut n_steps = 0;
        while n_steps < N_STEPS && !ground.is_over() {
            // Several steps are looked at at once, on all threads; those behind one that is taken are not taken.
            let tries: Vec<(Vec<u8>, f64)> =
                (0..N_AT_ONCE).filter_map(|_| Some((self.step(&here.levels)?, self.chance()))).collect();
            let levels: Vec<Vec<u8>> = tries.iter().map(|(levels, _)| levels.clone()).collect();
            for (spot, (_, chance)) in ground.look(&levels).into_iter().zip(tries) {
                n_steps += 1;
                let heat = HOT * (COLD / HOT).powf(n_steps as f64 / N_STEPS as f64);
                let Some(spot) = spot else { continue };
                if spot.loss <= here.loss || chance < (-(spot.loss - here.loss) / heat).exp() {
                    here = spot;
                    break;
                }
            }
            n_steps += usize::from(levels.is_empty());
            if here.is_better(&best) {
                best = here.clone();
            }
        }
        let spot = self.descend(best, Rule::LeastLoss, ground);
        self.take(&spot);
    }

    /// One attribute up, another down, or both; none where that is not possible.
    fn step(&mut self, levels: &[u8]) -> Option<Vec<u8>> {
        let mut levels = levels.to_vec();
        let (kind, n) = (self.random.below(3), levels.len() as u64);
        let (up, down) = (self.random.below(n) as usize, self.random.below(n) as usize);
        if kind != 0 {
            (levels[up] < self.bound[up]).then(|| levels[up] += 1)?;
        }
        if kind != 2 {
            (levels[down] > 0).then(|| levels[down] -= 1)?;
        }
        (kind != 1 || up != down).then_some(levels)
    }

    /// From 0 to below 1.
    fn chance(&mut self) -> f64 {
        (self.random.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn take(&mut self, spot: &Spot) {
        if self.best.as_ref().is_none_or(|best| spot.is_better(best)) {
            self.best = Some(spot.clone());
        }
    }

    /// Down as long as a step helps.
    fn descend(&self, mut here: Spot, rule: Rule, ground: &mut dyn Ground) -> Spot {
        loop {
            let spots = ground.look(&steps_down(&here.levels, None));
            let better = spots.into_iter().flatten().filter(|spot| spot.is_better(&here));
            let price = |spot: &Spot| {
                let n_lost = spot.n_suppressed.saturating_sub(here.n_suppressed);
                (here.loss - spot.loss) / (n_lost as f64 + 1.0)
            };
            let choose = |a: Spot, b: Spot| {
                let is_first = match rule {
                    Rule::LeastLoss => !b.is_better(&a),
                    Rule::MostPerRecord => price(&a) >= price(&b),
                };
                if is_first { a } else { b }
            };
            match better.reduce(choose) {
                Some(next) => here = next,
                None => return here,
            }
        }
    }

    /// One attribute up and another down, and down again; first where that helps at once, then where it helps later.
    fn exchange(&self, mut here: Spot, ground: &mut dyn Ground) -> Spot {
        let n = self.bound.len();
        let mut first = 0;
        'again: loop {
            let mut later = Vec::new();
            for a in (0..n).map(|i| (first + i) % n).filter(|&a| here.levels[a] < self.bound[a]).collect::<Vec<_>>() {
                if ground.is_over() {
                    return here;
                }
                let mut up = here.levels.clone();
                up[a] += 1;
                // Everything below it is then quickly made.
                ground.look(&[up.clone()]);
                let spots = ground.look(&steps_down(&up, Some(a)));
                let Some(best) = spots.into_iter().flatten().reduce(|a, b| if b.is_better(&a) { b } else { a }) else {
                    continue;
                };
                if best.is_better(&here) {
                    here = self.descend(best, Rule::LeastLoss, ground);
                    first = (a + 1) % n;
                    continue 'again;
                }
                later.push(best);
            }
            later.sort_by(|a, b| a.loss.total_cmp(&b.loss));
            for spot in later {
                let there = self.descend(spot, Rule::LeastLoss, ground);
                if there.is_better(&here) {
                    here = there;
                    continue 'again;
                }
            }
            return here;
        }
    }
}

/// All schemes one level finer in one attribute, but for one that stays.
fn steps_down(levels: &[u8], but: Option<usize>) -> Vec<Vec<u8>> {
    let step = |a: usize| {
        let mut levels = levels.to_vec();
        levels[a] -= 1;
        levels
    };
    (0..levels.len()).filter(|&a| levels[a] > 0 && Some(a) != but).map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up loss, of which the least is not at the end of the first way down.
    struct Valley {
        n_left: usize,
        looked: Vec<Vec<u8>>,
    }

    impl Ground for Valley {
        fn look(&mut self, many: &[Vec<u8>]) -> Vec<Option<Spot>> {
            let one = |levels: &Vec<u8>| {
                self.n_left = self.n_left.saturating_sub(1);
                self.looked.push(levels.clone());
                let [a, b, c] = levels[..] else { unreachable!("three attributes") };
                // Whoever is fine in the first attribute cannot be in both others.
                let is_acceptable = a + b + c >= 4 && (a > 0 || b + c >= 6);
                let loss = 0.5 * f64::from(a) + 0.1 * f64::from(b) + 0.09 * f64::from(c);
                (is_acceptable && self.n_left > 0).then(|| Spot::new(levels, loss, 0))
            };
            many.iter().map(one).collect()
        }

        fn is_over(&self) -> bool {
            self.n_left == 0
        }
    }

    fn climbed(n: usize) -> (Option<f64>, Vec<Vec<u8>>) {
        let mut valley = Valley { n_left: n, looked: Vec::new() };
        let mut climb = Climb::new(&[3, 3, 3], 7);
        climb.begin(&mut valley);
        climb.improve(&mut valley);
        (0..20).for_each(|_| climb.wander(&mut valley));
        (climb.best.map(|best| best.loss), valley.looked)
    }

    #[test]
    fn the_best_of_a_small_world_is_found_and_nothing_gets_worse() {
        let (best, all) = climbed(usize::MAX);
        // All vectors of levels up to 3: the least acceptable loss is that of (0, 3, 3).
        assert!((best.expect("one is acceptable") - 0.57).abs() < 1e-12);
        let mut before = f64::INFINITY;
        for n in 2..200 {
            let (best, looked) = climbed(n);
            assert_eq!(looked[..n.min(looked.len())], all[..n.min(looked.len())], "the same ground gives the same way");
            let best = best.unwrap_or(f64::INFINITY);
            assert!(best <= before);
            before = best;
        }
    }
}
