//! A classifier that learns from a release and is tested on the source: naive Bayes.

use rayon::prelude::*;

use crate::error::Result;
use crate::task::Task;
use crate::utility::view::{N_FOLDS, View, Weight};

/// How often a classifier is right about records that it has not learnt from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// When it has learnt from the release.
    pub after: f64,
    /// When it has learnt from the source.
    pub before: f64,
    /// When it always says what is most frequent.
    pub baseline: f64,
    /// Among how many classes it chooses.
    pub n_classes: usize,
}

/// What tells which class: attributes with their numbers of classes, and the target.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Attributes that are looked at, with how many classes each has.
    pub features: Vec<(usize, usize)>,
    /// By place of a belief about the target, in the source or the release.
    pub n_classes: usize,
}

/// By part and feature, class of the feature and class of the target: how many records.
struct Learnt {
    /// By part, and class.
    sizes: Vec<Vec<f64>>,
    /// By feature, part, class of the feature and class of the target.
    counts: Vec<Vec<Vec<f64>>>,
}

/// The share of the source's records whose class is told right, where for each part (of [`N_FOLDS`]) it is learnt from the
/// other parts: the class c with the greatest P(c) Π P(v | c) over the features' classes v, shares being
/// (n + 1) / (n of all + number of classes) (naive Bayes with Laplace's rule: Mitchell, Machine Learning, 1997, 6.9).
///
/// `learnt_target` and `target` say what is believed of the target's class in every row of the view that is learnt from,
/// and of the source. Of classes that are equally likely the first is said.
///
/// # Errors
/// Where somebody has stopped it.
pub fn accuracy(
    problem: &Problem,
    learnt_from: &View,
    learnt_target: &(dyn Fn(usize) -> Vec<(u32, f64)> + Sync),
    source: &View,
    target: &(dyn Fn(usize) -> Vec<(u32, f64)> + Sync),
    task: &Task,
) -> Result<f64> {
    let learnt = learn(problem, learnt_from, learnt_target);
    let logarithms: Vec<Logarithms> = (0..N_FOLDS).map(|part| Logarithms::new(problem, &learnt, part)).collect();
    let right = |row: usize| {
        task.go_on_now_and_then(row, N_BETWEEN)?;
        let truth = target(row);
        let n_right = |(logarithms, n): (&Logarithms, &f64)| {
            let said = if *n > 0.0 { logarithms.most_likely(problem, source, row) } else { 0 };
            truth.iter().find(|(class, _)| *class == said).map_or(0.0, |(_, share)| share * n)
        };
        Ok(logarithms.iter().zip(source.parts(row)).map(n_right).sum::<f64>())
    };
    let right: Vec<f64> = (0..source.len()).into_par_iter().map(right).collect::<Result<_>>()?;
    let n: f64 = (0..source.len()).map(|row| source.weight(row)).sum();
    Ok(right.iter().sum::<f64>() / n.max(1.0))
}

/// Rows between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1_024;

fn learn(problem: &Problem, view: &View, target: &(dyn Fn(usize) -> Vec<(u32, f64)> + Sync)) -> Learnt {
    let n_classes = problem.n_classes;
    let targets: Vec<Vec<(u32, f64)>> = (0..view.len()).map(target).collect();
    let mut sizes = vec![vec![0.0; n_classes]; N_FOLDS];
    for (row, of_target) in targets.iter().enumerate() {
        for (class, share) in of_target {
            let of_part = sizes.iter_mut().zip(view.parts(row));
            of_part.for_each(|(sizes, n)| sizes[*class as usize] += n * share);
        }
    }
    let counts = problem.features.par_iter().map(|&(attribute, n_values)| {
        // By belief and class of the target first: rows are many, beliefs few.
        let mut of_belief: Vec<Weight> = vec![[0.0; N_FOLDS]; view.beliefs(attribute).len() * n_classes];
        for (row, of_target) in targets.iter().enumerate() {
            let place = view.place(row, attribute) as usize;
            for (class, share) in of_target {
                let sums = of_belief[place * n_classes + *class as usize].iter_mut();
                sums.zip(view.parts(row)).for_each(|(sum, n)| *sum += n * share);
            }
        }
        let mut counts = vec![vec![0.0; n_values * n_classes]; N_FOLDS];
        for (place, belief) in view.beliefs(attribute).iter().enumerate() {
            for (value, likely) in &belief.shares {
                for class in 0..n_classes {
                    let n = &of_belief[place * n_classes + class];
                    let at = *value as usize * n_classes + class;
                    counts.iter_mut().zip(n).for_each(|(counts, n)| counts[at] += likely * n);
                }
            }
        }
        counts
    });
    Learnt { sizes, counts: counts.collect() }
}

/// What is learnt from all parts but one.
struct Logarithms {
    of_class: Vec<f64>,
    /// By feature, class of the feature and class of the target.
    of_value: Vec<Vec<f64>>,
}

impl Logarithms {
    fn new(problem: &Problem, learnt: &Learnt, left_out: usize) -> Logarithms {
        let others = |of_part: &[Vec<f64>], place: usize| -> f64 {
            (0..N_FOLDS).filter(|part| *part != left_out).map(|part| of_part[part][place]).sum()
        };
        let n_classes = problem.n_classes;
        let sizes: Vec<f64> = (0..n_classes).map(|class| others(&learnt.sizes, class)).collect();
        let n: f64 = sizes.iter().sum();
        let of_feature = |(&(_, n_values), counts): (&(usize, usize), &Vec<Vec<f64>>)| {
            let share = |place: usize| (others(counts, place) + 1.0) / (sizes[place % n_classes] + n_values as f64);
            (0..n_values * n_classes).map(|place| share(place).ln()).collect()
        };
        Logarithms {
            of_class: sizes.iter().map(|size| ((size + 1.0) / (n + n_classes as f64)).ln()).collect(),
            of_value: problem.features.iter().zip(&learnt.counts).map(of_feature).collect(),
        }
    }

    fn most_likely(&self, problem: &Problem, source: &View, row: usize) -> u32 {
        let mut sums = self.of_class.clone();
        for (&(attribute, _), of_value) in problem.features.iter().zip(&self.of_value) {
            for (value, share) in &source.belief(row, attribute).shares {
                let of_value = &of_value[*value as usize * sums.len()..];
                sums.iter_mut().zip(of_value).for_each(|(sum, logarithm)| *sum += share * logarithm);
            }
        }
        // Sums of logarithms that differ by rounding alone are equal.
        let best = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        sums.iter().position(|sum| *sum >= best - 1e-9).unwrap_or(0) as u32
    }
}
