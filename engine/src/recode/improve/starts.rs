//! Ways to put the records of a few classes into classes anew.

use std::cmp::Reverse;

use crate::random::Random;
use crate::recode::improve::Rules;
use crate::recode::partition::{Part, put_together};
use crate::recode::space::{Side, Space};

/// Classes that are grown one after the other around records that are far apart: from each of these, what adds least
/// comes next, until the class may be published. What is left over joins where it adds least. None where not even the
/// first class comes about.
pub(crate) fn grown(space: &Space, rules: &dyn Rules, parts: &[Part], random: &mut Random) -> Option<Vec<Vec<Part>>> {
    let mut left = parts.to_vec();
    let any = left[random.below(left.len() as u64) as usize].base;
    let mut from = farthest(space, &left, &space.point(any));
    let mut classes: Vec<(Vec<Part>, Vec<Side>)> = Vec::new();
    while !left.is_empty() {
        let mut class = vec![take(&mut left, from, rules.k())];
        let mut sides = space.point(class[0].base);
        let mut n_records = class[0].n_records;
        while n_records < rules.k() || !rules.keeps(&class) {
            let cost = |part: &Part| space.cost_with(&sides, space.places(part.base));
            let Some(next) = (0..left.len()).min_by_key(|&i| (cost(&left[i]), i)) else { break };
            let part = take(&mut left, next, rules.k().saturating_sub(n_records).max(1));
            space.widen(&mut sides, part.base);
            n_records += part.n_records;
            class.push(part);
        }
        if n_records < rules.k() || !rules.keeps(&class) {
            // Left over.
            left = class;
            break;
        }
        if !left.is_empty() {
            from = farthest(space, &left, &sides);
        }
        classes.push((class, sides));
    }
    if classes.is_empty() {
        return None;
    }
    joined(space, &mut classes, left);
    Some(classes.into_iter().map(|(class, _)| put_together(class)).collect())
}

/// The first of some classes dissolved: each of its parts joins the class where it adds least.
pub(crate) fn dissolved(space: &Space, classes: &[&[Part]]) -> Vec<Vec<Part>> {
    let with_sides = |parts: &&[Part]| (parts.to_vec(), space.around(parts.iter().map(|part| part.base)));
    let mut others: Vec<(Vec<Part>, Vec<Side>)> = classes[1..].iter().map(with_sides).collect();
    joined(space, &mut others, classes[0].to_vec());
    others.into_iter().map(|(class, _)| put_together(class)).collect()
}

/// Adds parts to the classes where they add least.
fn joined(space: &Space, classes: &mut [(Vec<Part>, Vec<Side>)], left: Vec<Part>) {
    for part in left {
        let added = |(class, sides): &(Vec<Part>, Vec<Side>)| {
            let n_records: u64 = class.iter().map(|part| part.n_records).sum();
            let cost = space.cost_with(sides, space.places(part.base));
            (n_records + part.n_records) * cost - n_records * space.cost(sides)
        };
        let (class, sides) = classes.iter_mut().min_by_key(|class| added(class)).expect("there is a class");
        space.widen(sides, part.base);
        class.push(part);
    }
}

/// The place of the part that is farthest from a box.
fn farthest(space: &Space, parts: &[Part], sides: &[Side]) -> usize {
    let far = |&i: &usize| (space.cost_with(sides, space.places(parts[i].base)), Reverse(i));
    (0..parts.len()).max_by_key(far).expect("there is a part")
}

/// Takes at most so many records of a part.
fn take(parts: &mut Vec<Part>, at: usize, n_at_most: u64) -> Part {
    match parts[at].n_records <= n_at_most {
        true => parts.remove(at),
        false => {
            parts[at].n_records -= n_at_most;
            Part { n_records: n_at_most, ..parts[at] }
        }
    }
}
