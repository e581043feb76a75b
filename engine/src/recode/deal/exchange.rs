//! Classes exchange records with the same sensitive values, where both together lose less by it.

use rayon::prelude::*;

use crate::counts::number;
use crate::error::Result;
use crate::random::Random;
use crate::recode::deal::stack::Card;
use crate::recode::space::{Side, Space, widen};
use crate::task::Task;

/// Lets pairs of classes exchange records with the same sensitive values, as long as both together lose less by it.
/// Neighbours in the order of the classes are tried most often.
///
/// Which pairs are tried does not depend on what they exchange, so that all threads work on those that have no class in
/// common; what two pairs have in common is exchanged in the order in which they were drawn.
pub(super) fn exchange(
    space: &Space,
    classes: &mut [Vec<Card>],
    n_tries: u32,
    random: &mut Random,
    task: &Task,
) -> Result<()> {
    let n = classes.len();
    // The first step is that of the halving.
    let n_records: u64 = classes.iter().map(|class| class.len() as u64).sum();
    let n_steps = u64::from(n_tries) + 1;
    let done = |step: u64| (task.progress)(n_records * (step + 1) / n_steps - n_records * step / n_steps);
    done(0);
    let mut exhausted = Exhausted::new(n);
    let mut rounds = Rounds::default();
    for step in 1..n_steps {
        task.go_on()?;
        done(step);
        if n < 2 {
            continue;
        }
        rounds.draw(n, random);
        for round in &rounds.pairs {
            for pairs in round.chunks(N_BETWEEN * rayon::current_num_threads()) {
                task.go_on()?;
                exchange_apart(space, classes, pairs, &mut exhausted);
            }
        }
    }
    Ok(())
}

/// Pairs that are tried at the same time, for every thread, between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1_024;

/// Pairs of classes of one step. Those of one round have no class in common, and whoever shares a class with a pair that was
/// drawn before comes in a later round.
#[derive(Default)]
struct Rounds {
    pairs: Vec<Vec<(u32, u32)>>,
    /// By class, how many rounds have it so far.
    n_rounds: Vec<u32>,
}

impl Rounds {
    /// For every class a partner, mostly a near one.
    fn draw(&mut self, n: usize, random: &mut Random) {
        self.pairs.iter_mut().for_each(Vec::clear);
        self.n_rounds.clear();
        self.n_rounds.resize(n, 0);
        for first in 0..n {
            let reach = 1u64 << random.below(u64::from(n.ilog2()) + 1);
            let second = (first + 1 + random.below(reach) as usize) % n;
            if first == second {
                continue;
            }
            let round = self.n_rounds[first].max(self.n_rounds[second]) as usize;
            self.n_rounds[first] = number(round + 1);
            self.n_rounds[second] = number(round + 1);
            if self.pairs.len() == round {
                self.pairs.push(Vec::new());
            }
            self.pairs[round].push((number(first), number(second)));
        }
    }
}

/// Pairs of near classes that have nothing to exchange, since both are as they were when that was found out.
struct Exhausted {
    now: u32,
    /// By class, when it got another record, and when it was tried with each of the classes that follow.
    changed: Vec<u32>,
    tried: Vec<[u32; N_FOLLOWING]>,
}

/// These are tried again and again.
const N_FOLLOWING: usize = 16;

impl Exhausted {
    fn new(n_classes: usize) -> Exhausted {
        Exhausted { now: 1, changed: vec![1; n_classes], tried: vec![[0; N_FOLLOWING]; n_classes] }
    }

    fn has(&self, (first, second): (u32, u32)) -> bool {
        let changed = self.changed[first as usize].max(self.changed[second as usize]);
        place_of_following(first, second).is_some_and(|at| self.tried[first as usize][at] >= changed)
    }

    fn add(&mut self, (first, second): (u32, u32), has_changed: bool) {
        if has_changed {
            self.changed[first as usize] = self.now;
            self.changed[second as usize] = self.now;
        }
        if let Some(at) = place_of_following(first, second) {
            self.tried[first as usize][at] = self.now;
        }
    }
}

fn place_of_following(first: u32, second: u32) -> Option<usize> {
    second.checked_sub(first + 1).map(|at| at as usize).filter(|at| *at < N_FOLLOWING)
}

/// Lets pairs that have no class in common exchange what they can.
fn exchange_apart(space: &Space, classes: &mut [Vec<Card>], pairs: &[(u32, u32)], exhausted: &mut Exhausted) {
    let mut open: Vec<_> = pairs
        .iter()
        .filter(|pair| !exhausted.has(**pair))
        .map(|&(first, second)| {
            let cards = [first, second].map(|class| std::mem::take(&mut classes[class as usize]));
            ((first, second), cards, false)
        })
        .collect();
    open.par_iter_mut().with_min_len(N_PAIRS_LEAST).for_each_init(
        || [Open::default(), Open::default()],
        |[ours, theirs], (_, [first, second], has_changed)| {
            ours.look(space, first);
            theirs.look(space, second);
            while let Some((i, j)) = best_exchange(space, first, second, ours, theirs) {
                std::mem::swap(&mut first[i], &mut second[j]);
                ours.look(space, first);
                theirs.look(space, second);
                *has_changed = true;
            }
        },
    );
    exhausted.now += 1;
    for (pair, [first, second], has_changed) in open {
        classes[pair.0 as usize] = first;
        classes[pair.1 as usize] = second;
        exhausted.add(pair, has_changed);
    }
}

/// Fewer pairs are not worth another thread.
const N_PAIRS_LEAST: usize = 16;

/// A class that may give a record away.
#[derive(Default)]
struct Open {
    /// For each record, the box of the others.
    others: Vec<Side>,
    /// What all lose together.
    loss: u64,
}

/// An empty box: wider than nothing, so that it costs nothing to be widened.
const NOTHING: Side = (u32::MAX, 0);

impl Open {
    fn look(&mut self, space: &Space, cards: &[Card]) {
        let (n, n_axes) = (cards.len(), space.n_axes());
        self.others.clear();
        self.others.resize(n * n_axes, NOTHING);
        let mut sides = vec![NOTHING; n_axes];
        for (others, card) in self.others.chunks_exact_mut(n_axes).zip(cards) {
            others.copy_from_slice(&sides);
            widen(&mut sides, space.places(card.base));
        }
        self.loss = n as u64 * space.cost(&sides);
        sides.fill(NOTHING);
        for (others, card) in self.others.chunks_exact_mut(n_axes).zip(cards).rev() {
            others.iter_mut().zip(&sides).for_each(|(side, after)| {
                *side = (side.0.min(after.0), side.1.max(after.1));
            });
            widen(&mut sides, space.places(card.base));
        }
    }

    fn loss_with(&self, space: &Space, n: usize, i: usize, places: &[u32]) -> u64 {
        let n_axes = space.n_axes();
        n as u64 * space.cost_with(&self.others[i * n_axes..(i + 1) * n_axes], places)
    }
}

/// The exchange after which two classes lose least together, if they lose less than now.
fn best_exchange(space: &Space, first: &[Card], second: &[Card], ours: &Open, theirs: &Open) -> Option<(usize, usize)> {
    let mut best = (ours.loss + theirs.loss, None);
    // Both are sorted by kind.
    let mut start = 0;
    for (i, card) in first.iter().enumerate() {
        while start < second.len() && second[start].kind < card.kind {
            start += 1;
        }
        let same = second[start..].iter().take_while(|other| other.kind == card.kind);
        for (j, other) in (start..).zip(same).filter(|(_, other)| other.base != card.base) {
            let loss = ours.loss_with(space, first.len(), i, space.places(other.base));
            if loss < best.0 {
                let loss = loss + theirs.loss_with(space, second.len(), j, space.places(card.base));
                if loss < best.0 {
                    best = (loss, Some((i, j)));
                }
            }
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counts::Counter;
    use crate::hierarchy::{Hierarchy, Rule};
    use crate::recode::deal::hands::Hands;
    use crate::recode::deal::stack::stack;
    use crate::table::Missing;

    /// One pair after the other, every one of them tried: the definition.
    fn exchange_one_by_one(space: &Space, classes: &mut [Vec<Card>], n_tries: u32, random: &mut Random) {
        let n = classes.len();
        let [mut ours, mut theirs] = [Open::default(), Open::default()];
        for first in (0..n_tries).flat_map(|_| 0..n) {
            let reach = 1u64 << random.below(u64::from(n.ilog2()) + 1);
            let second = (first + 1 + random.below(reach) as usize) % n;
            if first == second {
                continue;
            }
            loop {
                ours.look(space, &classes[first]);
                theirs.look(space, &classes[second]);
                let Some((i, j)) = best_exchange(space, &classes[first], &classes[second], &ours, &theirs) else {
                    break;
                };
                let card = classes[first][i];
                classes[first][i] = classes[second][j];
                classes[second][j] = card;
            }
        }
    }

    #[test]
    fn all_threads_exchange_what_one_pair_after_the_other_does() {
        use arrow_array::{ArrayRef, Int64Array, RecordBatch};
        let mut random = Random::new(4);
        for (n_records, k) in [(40, 2), (300, 2), (600, 5), (900, 10)] {
            let mut column = |n: u64| (0..n_records).map(|_| random.below(n) as i64).collect::<Int64Array>();
            let columns = [("a", column(40)), ("b", column(9)), ("c", column(5)), ("s", column(3))];
            let arrays = columns.map(|(name, column)| (name, std::sync::Arc::new(column) as ArrayRef));
            let batch = RecordBatch::try_from_iter(arrays).expect("columns of one length");
            let mut counter = Counter::new(&["a", "b", "c"], &["s"], &Missing::default());
            counter.push(&batch).expect("numbers");
            let counts = counter.finish();
            let rule = |domain| Rule::intervals(vec![3.0], 0.0).expect("a width").resolve(domain).expect("numbers");
            let hierarchies: Vec<Hierarchy> = counts.domains().iter().map(rule).collect();
            let space = Space::new(&counts, &hierarchies, &[1.0; 3]).expect("weights");
            let (stack, kinds) = stack(&counts);
            let hands = Hands::deal(&counts, &stack, kinds, n_records / k, &Task::default()).expect("nobody stops it");
            let dealt = hands.fill_by_chance(stack, &mut Random::new(1));
            let mut expected = dealt.clone();
            exchange_one_by_one(&space, &mut expected, 40, &mut Random::new(9));
            assert_ne!(expected, dealt, "some exchange helps");
            for n_threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
                let mut classes = dealt.clone();
                pool.install(|| exchange(&space, &mut classes, 40, &mut Random::new(9), &Task::default()))
                    .expect("nobody stops it");
                assert_eq!(classes, expected, "{n_records} records, k = {k}, {n_threads} threads");
            }
        }
    }
}
