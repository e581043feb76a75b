//! What prices leave open, decided: all cuts that could still be better are looked at.
//!
//! For the prices that were found, every node has a cheapest cut. A better cut within the limits can cost more than that by no
//! more than the gap between what was found and what the prices prove. So of every node only those cuts are kept whose
//! extra cost is within the gap, that use no more than the limits, and that no other of the same node beats in everything.
//! With one limit the gap is small beside the tree, so that these are few; with several there may be too many.

use crate::recode::tree::fold::{Choice, Live, NEVER, Prices};

/// A cut of the records of a node.
#[derive(Clone, Copy, Debug)]
struct PartialSum<const N: usize> {
    /// Of what is to be as little as can be, and of everything that is limited.
    goal: u64,
    used: [u64; N],
    /// How much more it costs than the cheapest cut.
    extra: u128,
    /// Its place in the list of how ways came about.
    how: u32,
}

impl<const N: usize> PartialSum<N> {
    const NOTHING: PartialSum<N> = PartialSum { goal: 0, used: [0; N], extra: 0, how: 0 };

    /// Beyond every gap, with whatever else.
    const IMPOSSIBLE: PartialSum<N> = PartialSum { goal: 0, used: [u64::MAX / 2; N], extra: NEVER, how: 0 };

    /// Whether another is better in nothing.
    fn beats(&self, other: &PartialSum<N>) -> bool {
        self.goal <= other.goal && is_within(&self.used, &other.used)
    }
}

fn is_within<const N: usize>(used: &[u64; N], most: &[u64; N]) -> bool {
    used.iter().zip(most).all(|(used, most)| used <= most)
}

#[derive(Clone, Copy, Debug)]
enum How {
    Nothing,
    Chosen(u32, Choice),
    Both(u32, u32),
}

/// Where a node has more cuts than this within the gap, or all nodes together than that, it stays open. With several limits
/// each is compared with all others, so that there are fewer.
const fn n_ways_max(n_limits: usize) -> usize {
    if n_limits == 1 { 2_000 } else { 256 }
}

const fn n_how_max(n_limits: usize) -> usize {
    if n_limits == 1 { 2_000_000 } else { 100_000 }
}

/// What is asked: less of the goal than is known, using at most `used_max` of everything that is limited.
pub(crate) struct CutProblem<'a, const N: usize> {
    pub(crate) live: &'a Live<'a>,
    pub(crate) prices: &'a Prices,
    /// By place and choice, how much of the goal and of everything that is limited it uses.
    pub(crate) uses: &'a dyn Fn(usize, Choice) -> (u64, [u64; N]),
    pub(crate) used_max: [u64; N],
    /// How much more than the cheapest cut a better one may cost.
    pub(crate) gap: u128,
}

/// What came of it.
pub(crate) enum Decided {
    /// The best cut within the limits and the gap, if there is one.
    Best(Option<Vec<Choice>>),
    /// There are too many to look at.
    Open,
}

impl<const N: usize> CutProblem<'_, N> {
    pub(crate) fn decide(&self) -> Decided {
        let live = self.live;
        let (cheapest, divided) = live.cheapest(self.prices);
        // How much what is above a place costs more than the cheapest, where it is divided.
        let mut slack = vec![NEVER; live.len()];
        for place in 0..live.len() {
            let above = match live.parent(place) {
                None => 0,
                Some(parent) if slack[parent] < NEVER && live.is_inner(parent) && divided[parent] < NEVER => {
                    slack[parent] + (divided[parent] - cheapest[parent])
                }
                Some(_) => NEVER,
            };
            slack[place] = if above <= self.gap { above } else { NEVER };
        }
        let mut hows = vec![How::Nothing];
        // By place that may be divided, the ways of the children that are done.
        let mut partial: Vec<Vec<PartialSum<N>>> = vec![Vec::new(); live.len()];
        for place in (0..live.len()).rev().filter(|&place| slack[place] < NEVER) {
            let mut ways: Vec<PartialSum<N>> = Vec::new();
            let over = divided[place].saturating_sub(cheapest[place]);
            if live.is_inner(place) && divided[place] < NEVER && slack[place] + over <= self.gap {
                let of_children = std::mem::take(&mut partial[place]);
                ways.extend(
                    of_children.into_iter().map(|way| PartialSum { extra: way.extra.saturating_add(over), ..way }),
                );
            }
            for choice in [Choice::Publish, Choice::Lose] {
                let Some(price) = live.price_of_choice(place, choice, self.prices) else { continue };
                let (goal, used) = (self.uses)(place, choice);
                hows.push(How::Chosen(place as u32, choice));
                ways.push(PartialSum { goal, used, extra: price - cheapest[place], how: hows.len() as u32 - 1 });
            }
            self.keep_best(&mut ways, slack[place]);
            let Some(parent) = live.parent(place) else {
                let best = ways.into_iter().min_by_key(|way| (way.goal, way.used));
                return Decided::Best(best.map(|way| choices(live.len(), &hows, way.how)));
            };
            let before = match partial[parent].is_empty() {
                true => vec![PartialSum::NOTHING],
                false => std::mem::take(&mut partial[parent]),
            };
            let mut both = Vec::with_capacity(before.len() * ways.len());
            for one in &before {
                for other in &ways {
                    let extra = one.extra.saturating_add(other.extra);
                    let used: [u64; N] = std::array::from_fn(|i| one.used[i] + other.used[i]);
                    if slack[place].saturating_add(extra) <= self.gap && is_within(&used, &self.used_max) {
                        hows.push(How::Both(one.how, other.how));
                        let how = hows.len() as u32 - 1;
                        both.push(PartialSum { goal: one.goal + other.goal, used, extra, how });
                    }
                }
            }
            self.keep_best(&mut both, slack[place]);
            if both.len() > n_ways_max(N) || hows.len() > n_how_max(N) {
                return Decided::Open;
            }
            // Where nothing is left, what is above cannot be divided within the gap.
            partial[parent] = if both.is_empty() { vec![PartialSum::IMPOSSIBLE] } else { both };
        }
        Decided::Open
    }

    /// Drops ways that are beyond the gap or a limit, or beaten by another.
    fn keep_best(&self, ways: &mut Vec<PartialSum<N>>, slack: u128) {
        ways.retain(|way| slack.saturating_add(way.extra) <= self.gap && is_within(&way.used, &self.used_max));
        ways.sort_by_key(|way| (way.used, way.goal, way.how));
        // Whoever beats another comes before it.
        let mut kept: Vec<PartialSum<N>> = Vec::with_capacity(ways.len());
        for way in ways.iter() {
            let is_beaten = match N {
                1 => kept.last().is_some_and(|last| last.beats(way)),
                _ => kept.iter().any(|one| one.beats(way)),
            };
            if !is_beaten {
                kept.push(*way);
            }
        }
        *ways = kept;
    }
}

/// What becomes of every place in a way that came about like this.
fn choices(n: usize, hows: &[How], how: u32) -> Vec<Choice> {
    let mut choices = vec![Choice::Divide; n];
    let mut to_visit = vec![how];
    while let Some(how) = to_visit.pop() {
        match hows[how as usize] {
            How::Nothing => {}
            How::Chosen(place, choice) => choices[place as usize] = choice,
            How::Both(one, other) => to_visit.extend([one, other]),
        }
    }
    choices
}
