//! All of the dealing: a stack, hands, and records for them.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::recode::deal::Arrange;
use crate::recode::deal::exchange::exchange;
use crate::recode::deal::halve::CardTable;
use crate::recode::deal::hands::Hands;
use crate::recode::deal::stack::{Card, in_turns, stack};
use crate::recode::partition::{Least, Partition};
use crate::recode::space::Space;
use crate::task::Task;

/// Puts all records into classes by dealing.
///
/// # Guarantee
/// There are ⌊records / k⌋ classes. Their sizes differ by at most one, and so do their counts of every value of the
/// first sensitive attribute, of the second, and of every pair of these (of the first alone, as published). The hands
/// depend on the counts and k alone, and the classes on these, the hierarchies, the weights, the arrangement and the seed. With one sensitive attribute, near records lose no more than what is dealt as
/// published with the same seed.
///
/// # Errors
/// Where no such partition of this table exists, there is no sensitive attribute, or the task was cancelled.
pub fn partition(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    k: u64,
    arrange: Arrange,
    seed: u64,
    task: &Task,
) -> Result<Partition> {
    Least::of(k, None).check(counts, hierarchies)?;
    if counts.sensitive().is_empty() {
        return Err(Error::new(ErrorKind::Request, "there is no sensitive attribute to deal by")
            .hint("give an attribute the role sensitive, or take another method"));
    }
    let space = Space::new(counts, hierarchies, weights)?;
    let (stack, kinds) = stack(counts);
    let n_classes = (counts.n_records() / k) as usize;
    let mut random = Random::new(seed);
    let hands = |stack: &[Card], kinds| Hands::deal(counts, stack, kinds, n_classes, task);
    let classes = match arrange {
        Arrange::Published => {
            (task.progress)(counts.n_records());
            printed(stack, &kinds, n_classes, &mut random)
        }
        Arrange::Plain => {
            (task.progress)(counts.n_records());
            hands(&stack, kinds)?.fill_by_chance(stack, &mut random)
        }
        Arrange::Near { n_tries } => {
            // With one attribute, what the paper prints has the same hands.
            let is_one = counts.sensitive().len() == 1;
            let printed = is_one.then(|| printed(stack.clone(), &kinds, n_classes, &mut Random::new(seed)));
            let hands = hands(&stack, kinds)?;
            let mut classes = CardTable { space: &space, hands: &hands, task }.fill(stack)?;
            exchange(&space, &mut classes, n_tries, &mut random, task)?;
            printed.filter(|printed| loss(&space, printed) < loss(&space, &classes)).unwrap_or(classes)
        }
    };
    let parts = |cards: &Vec<Card>| cards.iter().map(Card::part).collect();
    Ok(Partition::by_cell(classes.iter().map(parts).collect(), k))
}

/// The paper's own dealing: the records of a value in any order, one after the other to one class after the other.
fn printed(mut stack: Vec<Card>, kinds: &[Vec<u32>], n_classes: usize, random: &mut Random) -> Vec<Vec<Card>> {
    let first = |card: &Card| kinds[card.kind as usize][0];
    stack.chunk_by_mut(|a, b| first(a) == first(b)).for_each(|same| random.shuffle(same));
    in_turns(&stack, n_classes)
}

/// What the records of all classes lose together.
fn loss(space: &Space, classes: &[Vec<Card>]) -> u64 {
    let of = |cards: &Vec<Card>| cards.len() as u64 * space.cost(&space.around(cards.iter().map(|card| card.base)));
    classes.iter().map(of).sum()
}
