//! The schemes of every height with the greatest sums over their levels, without a look at the others.
//!
//! The schemes over the attributes from one on that have a given height are a *class*. The best of a class, then the next,
//! and so on, are merged from the classes over one attribute less: for every level of the first attribute, the next that
//! this level goes with. Each is found when somebody asks for it, so that the work is in proportion to what is selected.

use crate::counts::number;
use crate::error::Result;
use crate::task::Task;

/// What a level adds to the score of a scheme, in whole steps: so that equal scores are equal, however they are added up.
type Score = i128;

fn steps(score: f64) -> Score {
    // Beyond this, a sum of a few hundred could overflow.
    const MOST: Score = 1 << 112;
    ((score * (1u64 << 40) as f64).round() as Score).clamp(-MOST, MOST)
}

/// By height, how many schemes there are.
pub(crate) fn n_by_height(tops: &[u8]) -> Vec<u64> {
    tops.iter().fold(vec![1], |n_before, &top| {
        let mut n = vec![0u64; n_before.len() + top as usize];
        for (height, before) in n_before.iter().enumerate() {
            (0..=top as usize).for_each(|level| n[height + level] = n[height + level].saturating_add(*before));
        }
        n
    })
}

/// Of every height, as many schemes as are wanted and there are: those with the greatest scores, of equal ones the first in
/// the order of level vectors. `scores` are by attribute and level.
///
/// # Errors
/// Where somebody stops it.
pub(crate) fn most_promising(scores: &[Vec<f64>], n_wanted: &[usize], task: &Task) -> Result<Vec<Box<[u8]>>> {
    let scores: Vec<Vec<Score>> = scores.iter().map(|of_level| of_level.iter().copied().map(steps).collect()).collect();
    let mut classes = Classes::new(&scores);
    let mut vectors = Vec::with_capacity(n_wanted.iter().sum());
    for (height, &n) in n_wanted.iter().enumerate() {
        for rank in 0..n {
            task.go_on_now_and_then(vectors.len(), N_BETWEEN)?;
            if classes.find(0, height, rank).is_none() {
                break;
            }
            vectors.push(classes.vector(height, rank));
        }
    }
    Ok(vectors)
}

/// Schemes between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1 << 10;

/// What is known of the classes, by the first attribute and the height that is left from there.
struct Classes<'a> {
    scores: &'a [Vec<Score>],
    of_attribute: Vec<Vec<Class>>,
}

#[derive(Default)]
struct Class {
    /// The best of the class, in order.
    best: Vec<Member>,
    /// By level of the first attribute, how many of the class that it goes with are among them.
    n_taken: Vec<u32>,
    /// Whether these are all: whoever asks for more is not to look through all smaller classes again, and they through
    /// theirs.
    is_whole: bool,
}

/// A level, and the rank of what it goes with in its class.
#[derive(Clone, Copy)]
struct Member {
    score: Score,
    rank: u32,
    level: u8,
}

impl Classes<'_> {
    fn new(scores: &[Vec<Score>]) -> Classes<'_> {
        let mut height = 0;
        let mut of_attribute: Vec<Vec<Class>> = Vec::new();
        for of_level in scores.iter().rev() {
            height += of_level.len() - 1;
            of_attribute.push((0..=height).map(|_| Class::default()).collect());
        }
        of_attribute.reverse();
        Classes { scores, of_attribute }
    }

    /// The score of the `rank`-th best over the attributes from `attribute` on that have this height; none where there are
    /// fewer.
    fn find(&mut self, attribute: usize, height: usize, rank: usize) -> Option<Score> {
        let Some(of_level) = self.scores.get(attribute) else {
            return (height == 0 && rank == 0).then_some(0);
        };
        // No attributes are left that could make up for so much.
        if height >= self.of_attribute[attribute].len() {
            return None;
        }
        while self.of_attribute[attribute][height].best.len() <= rank {
            if self.of_attribute[attribute][height].is_whole {
                return None;
            }
            self.of_attribute[attribute][height].n_taken.resize(of_level.len(), 0);
            let mut next: Option<Member> = None;
            for (level, &score) in (0u8..).zip(of_level).take(height + 1) {
                let rank = self.of_attribute[attribute][height].n_taken[level as usize];
                let rest = self.find(attribute + 1, height - level as usize, rank as usize);
                if let Some(score) = rest.map(|rest| rest + score)
                    && next.is_none_or(|next| score > next.score)
                {
                    next = Some(Member { score, rank, level });
                }
            }
            let class = &mut self.of_attribute[attribute][height];
            let Some(next) = next else {
                class.is_whole = true;
                return None;
            };
            class.best.push(next);
            class.n_taken[next.level as usize] = number(next.rank as usize + 1);
        }
        Some(self.of_attribute[attribute][height].best[rank].score)
    }

    /// The level vector of the `rank`-th best of a height, which has been found.
    fn vector(&self, mut height: usize, mut rank: usize) -> Box<[u8]> {
        let level = |classes: &Vec<Class>| {
            let member = classes[height].best[rank];
            (height, rank) = (height - member.level as usize, member.rank as usize);
            member.level
        };
        self.of_attribute.iter().map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::scheme::{advance, height_of};

    /// Every scheme is scored, and those of a height are put in order.
    fn looked_through(scores: &[Vec<f64>], n_wanted: &[usize]) -> Vec<Vec<u8>> {
        let tops: Vec<u8> = scores.iter().map(|of_level| of_level.len() as u8 - 1).collect();
        let mut by_height: Vec<Vec<(Score, Vec<u8>)>> = n_wanted.iter().map(|_| Vec::new()).collect();
        let mut vector = vec![0; tops.len()];
        loop {
            let score = scores.iter().zip(&vector).map(|(of_level, &level)| steps(of_level[level as usize])).sum();
            by_height[height_of(&vector)].push((score, vector.clone()));
            advance(&mut vector, &tops);
            if height_of(&vector) == 0 {
                break;
            }
        }
        let best = |(mut of_height, n): (Vec<(Score, Vec<u8>)>, &usize)| {
            of_height.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
            of_height.into_iter().take(*n).map(|(_, vector)| vector)
        };
        by_height.into_iter().zip(n_wanted).flat_map(best).collect()
    }

    #[test]
    fn the_same_are_selected_as_by_looking_through_all() {
        let mut random = Random::new(5);
        for _ in 0..300 {
            let n_attributes = 1 + random.below(5) as usize;
            // Few different scores, so that many schemes are equally promising; and below zero, as logarithms are.
            let n_scores = [2, 5, 1_000_000][random.below(3) as usize];
            let mut score = || random.below(n_scores) as f64 / 7.0 - 1.0;
            let tops: Vec<u8> = (0..n_attributes).map(|a| [0, 1, 2, 4, 3][a]).collect();
            let scores: Vec<Vec<f64>> = tops.iter().map(|&top| (0..=top).map(|_| score()).collect()).collect();
            let n_all = n_by_height(&tops);
            let n_wanted: Vec<usize> = n_all.iter().map(|&n| random.below(n + 3) as usize).collect();
            let found = most_promising(&scores, &n_wanted, &Task::default()).expect("nobody stops it");
            let found: Vec<Vec<u8>> = found.into_iter().map(|vector| vector.to_vec()).collect();
            assert_eq!(found, looked_through(&scores, &n_wanted), "{scores:?}");
        }
    }

    /// With two levels each, nearly all smaller classes are used up: what asked them again and again took hours.
    #[test]
    fn classes_that_are_used_up_cost_nothing() {
        let scores: Vec<Vec<f64>> = (0..24).map(|a| vec![1.0, f64::from(a % 3)]).collect();
        let n_wanted: Vec<usize> = n_by_height(&[1; 24]).iter().map(|&n| (n as usize).div_ceil(100)).collect();
        let found = most_promising(&scores, &n_wanted, &Task::default()).expect("nobody stops it");
        assert_eq!(found.len(), n_wanted.iter().sum::<usize>());
    }

    /// 10³¹ schemes: whoever looks through them is not here to see it.
    #[test]
    fn what_is_selected_is_the_work_and_not_what_there_is() {
        let mut random = Random::new(5);
        let scores: Vec<Vec<f64>> = (0..40).map(|_| (0..6).map(|_| random.below(1_000) as f64).collect()).collect();
        let n_wanted = vec![50; 40 * 5 + 1];
        let found = most_promising(&scores, &n_wanted, &Task::default()).expect("nobody stops it");
        assert_eq!(found.len(), 50 * 201 - 2 * 49 - 2 * 10, "one, forty, many, …, many, forty, one");
        let sum = |vector: &[u8]| scores.iter().zip(vector).map(|(of_level, &l)| of_level[l as usize]).sum::<f64>();
        for of_height in found.chunk_by(|a, b| height_of(a) == height_of(b)) {
            assert!(of_height.windows(2).all(|pair| sum(&pair[0]) >= sum(&pair[1]) && pair[0] != pair[1]));
        }
    }
}
