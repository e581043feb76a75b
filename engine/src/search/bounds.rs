//! What is known of schemes without a look at them: the least that they can lose, and that they lose too many records.

use crate::counts::GroupCounts;
use crate::hierarchy::Hierarchy;
use crate::loss::{Entropies, LOSS_ONE, Penalties};
use crate::quality::{Quality, Ranking};

/// By attribute and level, what the ranking counts at least: losses of schemes are no less than the sum.
pub(crate) struct Floors {
    pub(crate) of_level: Vec<Vec<f64>>,
    /// What rounding could take away from the sum.
    pub(crate) slack: f64,
    /// The attributes, those with the most values last: what a few of them lose at least is then soon known to be much.
    pub(crate) order: Vec<usize>,
}

impl Floors {
    /// NCP, precision, entropy and height are sums over attributes, and a suppressed record counts as the coarsest.
    /// The other quality functions are not: they count as nothing here.
    pub(crate) fn new(
        counts: &GroupCounts,
        hierarchies: &[Hierarchy],
        penalties: &Penalties,
        entropies: Option<&Entropies>,
        ranking: &Ranking,
    ) -> Floors {
        let height_max: usize = hierarchies.iter().map(Hierarchy::top).sum();
        let n = counts.n_records();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let mean = |a: usize, level: usize, steps: &[u32]| {
            let values = hierarchies[a].level(level).of_base();
            let of_group = |group: usize| {
                u128::from(steps[values[counts.codes(group)[a].index()].index()]) * u128::from(counts.size(group))
            };
            (0..counts.n_groups()).map(of_group).sum::<u128>()
        };
        let of = |a: usize, level: usize| {
            ranking.mixed(|quality| match quality {
                Quality::Height => share(level as f64, height_max as f64),
                Quality::Precision => share(level as f64, hierarchies[a].top() as f64) / hierarchies.len() as f64,
                Quality::Ncp => share(mean(a, level, penalties.of(a, level)) as f64, n as f64 * LOSS_ONE as f64),
                Quality::Entropy => {
                    let entropies = entropies.expect("it is made where the ranking needs it");
                    let gained = mean(a, level, entropies.of(a, level)) - mean(a, 0, entropies.of(a, 0));
                    let all = u128::from(entropies.suppressed) * u128::from(n);
                    share(gained as f64, all.saturating_sub(entropies.of_table) as f64)
                }
                Quality::Discernibility | Quality::GroupSize => 0.0,
            })
        };
        let of_attribute =
            |(a, hierarchy): (usize, &Hierarchy)| (0..hierarchy.n_levels()).map(|level| of(a, level)).collect();
        let mut order: Vec<usize> = (0..hierarchies.len()).collect();
        order.sort_by_key(|&a| hierarchies[a].level(0).len());
        Floors {
            order,
            of_level: hierarchies.iter().enumerate().map(of_attribute).collect(),
            // A record that is `*` everywhere may cost a few steps more than a suppressed one.
            slack: 1e-9 + hierarchies.len() as f64 / LOSS_ONE as f64,
        }
    }

    /// No scheme with these levels loses less.
    pub(crate) fn of(&self, levels: &[u8]) -> f64 {
        let sum: f64 = self.of_level.iter().zip(levels).map(|(of_level, &level)| of_level[level as usize]).sum();
        sum - self.slack
    }
}

/// Schemes that are known to suppress too much, and so does everything finer.
pub(crate) struct Failing {
    /// By attribute and level, a set of those that are at this level or coarser.
    at_least: Vec<Vec<Vec<u64>>>,
    n: usize,
}

impl Failing {
    pub(crate) fn new(tops: &[u8]) -> Failing {
        Failing { at_least: tops.iter().map(|&top| vec![Vec::new(); top as usize + 1]).collect(), n: 0 }
    }

    pub(crate) fn add(&mut self, levels: &[u8]) {
        let (word, bit) = (self.n / 64, self.n % 64);
        for (of_level, &level) in self.at_least.iter_mut().zip(levels) {
            for (i, set) in of_level.iter_mut().enumerate() {
                set.resize(word + 1, 0);
                set[word] |= u64::from(i <= level as usize) << bit;
            }
        }
        self.n += 1;
    }

    /// Whether a scheme is as fine as one of these, or finer.
    pub(crate) fn has(&self, levels: &[u8]) -> bool {
        let sets: Vec<&[u64]> =
            self.at_least.iter().zip(levels).map(|(of_level, &level)| &of_level[level as usize][..]).collect();
        (0..self.n.div_ceil(64)).any(|word| sets.iter().fold(u64::MAX, |all, set| all & set[word]) != 0)
    }
}

/// Schemes that are known not to suppress too much, and nor does anything coarser: failing ones upside down.
pub(crate) struct Working<'a> {
    tops: &'a [u8],
    turned: Failing,
}

impl<'a> Working<'a> {
    pub(crate) fn new(tops: &'a [u8]) -> Working<'a> {
        Working { tops, turned: Failing::new(tops) }
    }

    fn turn(&self, levels: &[u8]) -> Vec<u8> {
        self.tops.iter().zip(levels).map(|(top, level)| top - level).collect()
    }

    pub(crate) fn add(&mut self, levels: &[u8]) {
        let turned = self.turn(levels);
        if !self.turned.has(&turned) {
            self.turned.add(&turned);
        }
    }

    pub(crate) fn has(&self, levels: &[u8]) -> bool {
        self.turned.has(&self.turn(levels))
    }
}
