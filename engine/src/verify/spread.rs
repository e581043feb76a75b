//! How evenly the values of a sensitive attribute are spread over the groups of a file: what dealing promises.

use std::collections::HashMap;

use crate::criterion::{Distance, Measure};
use crate::verify::reference::{KnownOriginal, Original, Text};
use crate::verify::verifier::{FoundGroup, Verifier, measure_plainly};

/// How the values of a sensitive attribute are spread over the groups of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spread {
    /// How many records have each value, in the order of values.
    pub frequencies: Vec<(Text, u64)>,
    /// The fewest different values in a group.
    pub fewest_distinct: u64,
    /// The distance of a group to the whole file in millionths, greatest and mean: with all values equally far apart, and
    /// in order. Whole numbers, so that they do not depend on which group is looked at first.
    pub equal: (u64, u64),
    /// The same with values in order.
    pub ordered: (u64, u64),
}

impl Verifier {
    /// How evenly the values of one sensitive attribute are spread.
    pub fn spread(&self, sensitive: usize) -> Spread {
        let order = |distance| Original::new("", self.distribution(sensitive), distance, &HashMap::new());
        let greatest_and_mean = |distance: Distance| {
            let original = order(distance);
            let known = KnownOriginal::new(&original);
            let of_group = |found: &FoundGroup| measure_plainly(Measure::Closeness(sensitive), found, Some(&known));
            let distances: Vec<u64> = self.groups.values().map(of_group).collect();
            let n_groups = distances.len().max(1) as u128;
            let sum: u128 = distances.iter().map(|&distance| u128::from(distance)).sum();
            // Half a millionth is rounded up.
            (distances.iter().copied().max().unwrap_or(0), ((2 * sum + n_groups) / (2 * n_groups)) as u64)
        };
        Spread {
            frequencies: order(Distance::Equal).counts,
            fewest_distinct: self.groups.values().map(|found| found.values[sensitive].len() as u64).min().unwrap_or(0),
            equal: greatest_and_mean(Distance::Equal),
            ordered: greatest_and_mean(Distance::Ordered),
        }
    }

    /// How many groups cannot be made of dealt classes: so many of them over all groups, of sizes that differ by one at
    /// most, with counts of every value that differ by at most `most_differ`. All, where the classes do not add up.
    ///
    /// Classes that look alike are one group here, so that how many a group is made of is not known but bounded: by its
    /// size, and by how often it has each value.
    pub fn n_not_dealt(&self, sensitive: usize, n_classes: u64, most_differ: u64) -> u64 {
        if n_classes == 0 || n_classes > self.n_records {
            return self.groups.len() as u64;
        }
        let shares = |n: u64| (n / n_classes, n.div_ceil(n_classes));
        let sizes = shares(self.n_records);
        let bounds: HashMap<Text, (u64, u64)> = self
            .distribution(sensitive)
            .into_iter()
            .map(|(value, n)| {
                let (down, up) = shares(n);
                // Some class has at most the mean, and some at least.
                (
                    value,
                    match most_differ {
                        // So many classes of the same number each; where that cannot be, no group can be made of them.
                        0 if down < up => (u64::MAX, 0),
                        0 | 1 => (down, up),
                        _ => (up.saturating_sub(most_differ), down + most_differ),
                    },
                )
            })
            .collect();
        let (mut n_wrong, mut least, mut most) = (0, 0, 0);
        let n_needed = bounds.values().filter(|(lower, _)| *lower > 0).count();
        for found in self.groups.values() {
            let of_value = found.values[sensitive].iter().map(|(value, &n)| (n, bounds[value]));
            let n_there = of_value.clone().filter(|(_, (lower, _))| *lower > 0).count();
            let all = of_value.chain([(found.size, sizes)]);
            // With m classes, a count is from m times the lower bound to m times the upper; of a value that every class
            // has and the group lacks, that is no class.
            let (mut low, mut high) = (1, if n_there < n_needed { 0 } else { u64::MAX });
            for (n, (lower, upper)) in all {
                low = low.max(n.div_ceil(upper.max(1)));
                high = high.min(n.checked_div(lower).unwrap_or(u64::MAX));
            }
            match low <= high {
                true => (least, most) = (least + low, high.saturating_add(most)),
                false => n_wrong += 1,
            }
        }
        let adds_up = least <= n_classes && n_classes <= most;
        if n_wrong == 0 && !adds_up { self.groups.len() as u64 } else { n_wrong }
    }
}
