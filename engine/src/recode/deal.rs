//! Stack & Deal: classes of equal size, in which every sensitive value is as frequent as in the table, to one record.
//!
//! Gowda, "Stack and Deal" (2021): records are stacked by sensitive value, the most frequent first, and dealt to
//! ⌊records / k⌋ classes like cards to players. The dealing says how many records of each value a class gets, its *hand*,
//! and not which. That choice is ours: near ones.
//!
//! First the table is halved again and again. A half of the classes gets, for every value in its hands, the records
//! that come first along one attribute: of the attributes, the one that leaves the nearest records together. Then
//! classes exchange records that have the same sensitive values, where both together lose less by it. Neither touches
//! the hands, so that all that the dealing guarantees stays, and the distance of every class to the table with it.
//!
//! What it costs: for every halving a pass over the attributes, so records · attributes · log₂(records / k); and for
//! every attempt at an exchange all pairs of records of two classes with the same sensitive values, at most k² ·
//! attributes.

use std::collections::VecDeque;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::counts::{GroupCounts, number};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::random::Random;
use crate::recode::partition::{Least, Part, Partition};
use crate::recode::space::{Side, Space, widen};
use crate::table::Code;
use crate::task::Task;

/// Which records of a sensitive value go to which class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrange {
    /// Any, by chance: the paper's own dealing.
    Plain,
    /// Near ones, with so many attempts at an exchange per class.
    Near {
        /// How many attempts.
        n_tries: u32,
    },
}

/// Attempts at an exchange per class where nobody says how many.
pub const N_TRIES: u32 = 300;

/// Puts all records into classes by dealing.
///
/// # Guarantee
/// There are ⌊records / k⌋ classes. Their sizes differ by at most one, and so do their counts of every value of the
/// first sensitive attribute. The hands depend on the counts and k alone, and the classes on these, the hierarchies, the
/// weights, the arrangement and the seed.
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
    let mut hands = Hands::deal(&stack, n_classes);
    if counts.sensitive().len() > 1 {
        hands.even_out(&Bounds::new(counts, kinds, n_classes as u64), task)?;
    }
    let mut random = Random::new(seed);
    let classes = match arrange {
        Arrange::Plain => {
            (task.progress)(counts.n_records());
            hands.fill_by_chance(stack, &mut random)
        }
        Arrange::Near { n_tries } => {
            let mut classes = CardTable { space: &space, hands: &hands, task }.fill_by_halving(stack)?;
            exchange(&space, &mut classes, n_tries, &mut random, task)?;
            classes
        }
    };
    let parts = |cards: &Vec<Card>| cards.iter().map(Card::part).collect();
    Ok(Partition::by_cell(classes.iter().map(parts).collect(), k))
}

/// The same classes of the counts by person: which of the equal records of a hand are whose.
///
/// Of the equal records of several people every class gets those of as many as can be: they are handed out in turns, one
/// of each person after the other.
pub fn by_person(counts: &GroupCounts, by_person: &GroupCounts, partition: &Partition) -> Partition {
    // By group and place of a cell, the places of its people's own cells, one for every record.
    let mut records: Vec<Vec<VecDeque<u32>>> = Vec::with_capacity(counts.n_groups());
    for base in 0..counts.n_groups() {
        let n = counts.sensitive().len();
        let mut of_cells = Vec::new();
        let mut own = (0u32..).zip(by_person.cells(base)).peekable();
        for (codes, _) in counts.cells(base) {
            let mut people: Vec<(u32, u64)> = Vec::new();
            while let Some((place, (_, n_records))) = own.next_if(|(_, (of_person, _))| of_person[..n] == *codes) {
                people.push((place, n_records));
            }
            let mut in_turns = VecDeque::new();
            for turn in 0..people.iter().map(|(_, n)| *n).max().unwrap_or(0) {
                in_turns.extend(people.iter().filter(|(_, n)| *n > turn).map(|(place, _)| *place));
            }
            of_cells.push(in_turns);
        }
        records.push(of_cells);
    }
    let mut part = |part: &Part| {
        let waiting = &mut records[part.base as usize][part.value.map_or(0, |cell| cell.index())];
        let places = waiting.drain(..part.n_records as usize).collect::<Vec<u32>>();
        places.into_iter().map(|place| Part { value: Some(Code(place)), n_records: 1, ..*part }).collect::<Vec<Part>>()
    };
    let classes: Vec<Vec<Part>> = partition.classes().map(|parts| parts.iter().flat_map(&mut part).collect()).collect();
    Partition::by_cell(classes, 1)
}

/// The fewest people that a class of a partition by person has.
pub fn fewest_people(by_person: &GroupCounts, partition: &Partition) -> u64 {
    let of_class = |parts: &[Part]| {
        let person = |part: &Part| {
            let place = part.value.map_or(0, |cell| cell.index());
            by_person.cell(part.base as usize, place).and_then(|(codes, _)| codes.last().copied())
        };
        parts.iter().map(person).collect::<std::collections::BTreeSet<_>>().len() as u64
    };
    partition.classes().map(of_class).min().unwrap_or(0)
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Card {
    /// The number of its combination of sensitive values, in the order of the stack.
    kind: u32,
    /// Its group of the counts, and the place of its sensitive values among the cells of the group.
    base: u32,
    cell: u32,
}

impl Card {
    fn part(&self) -> Part {
        Part { base: self.base, value: Some(Code(self.cell)), n_records: 1 }
    }
}

/// By how much the classes of a partition differ at most in how many records they have of a value: for each sensitive
/// attribute, and for their combination.
pub fn differences(counts: &GroupCounts, partition: &Partition) -> (Vec<u64>, u64) {
    let n_attributes = counts.sensitive().len();
    let values = |part: &Part| counts.cell(part.base as usize, part.value.map_or(0, |cell| cell.index()));
    let mut least_most: FxHashMap<(usize, Vec<Code>), (u64, u64, u64)> = FxHashMap::default();
    for parts in partition.classes() {
        let mut found: FxHashMap<(usize, Vec<Code>), u64> = FxHashMap::default();
        for part in parts {
            let codes = values(part).expect("a part names a cell of its group").0;
            for (s, code) in codes.iter().enumerate() {
                *found.entry((s, vec![*code])).or_default() += part.n_records;
            }
            *found.entry((n_attributes, codes.to_vec())).or_default() += part.n_records;
        }
        for (value, n) in found {
            let (least, most, n_classes) = least_most.entry(value).or_insert((u64::MAX, 0, 0));
            (*least, *most, *n_classes) = (n.min(*least), n.max(*most), *n_classes + 1);
        }
    }
    let mut differ = vec![0; n_attributes + 1];
    for ((s, _), (least, most, n_classes)) in least_most {
        let least = if n_classes < partition.n_classes() as u64 { 0 } else { least };
        differ[s] = differ[s].max(most - least);
    }
    let of_all = differ.pop().expect("there is one more than attributes");
    (differ, of_all)
}

/// All records, by sensitive values: of the first attribute, then of the second …, the most frequent first. And for
/// every kind of record the ranks of its values.
fn stack(counts: &GroupCounts) -> (Vec<Card>, Vec<Vec<u32>>) {
    let rank: Vec<Vec<u32>> = (0..counts.sensitive().len())
        .map(|s| {
            let frequencies = counts.distribution(s);
            let mut by_frequency: Vec<usize> = (0..frequencies.len()).collect();
            by_frequency.sort_by_key(|&value| std::cmp::Reverse(frequencies[value]));
            let mut rank = vec![0; frequencies.len()];
            (0..).zip(by_frequency).for_each(|(i, value)| rank[value] = i);
            rank
        })
        .collect();
    let ranks = |codes: &[Code]| codes.iter().zip(&rank).map(|(code, rank)| rank[code.index()]).collect::<Vec<u32>>();
    let all = || (0..counts.n_groups()).flat_map(|base| (0u32..).zip(counts.cells(base)).map(move |cell| (base, cell)));
    let mut kinds: Vec<Vec<u32>> = all().map(|(_, (_, (codes, _)))| ranks(codes)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let kind_of: FxHashMap<&[u32], u32> = kinds.iter().map(Vec::as_slice).zip(0..).collect();
    let cards = all().flat_map(|(base, (cell, (codes, n_records)))| {
        let card = Card { kind: kind_of[ranks(codes).as_slice()], base: number(base), cell };
        std::iter::repeat_n(card, n_records as usize)
    });
    let mut cards: Vec<Card> = cards.collect();
    cards.sort_by_key(|card| card.kind);
    (cards, kinds)
}

/// How many records of each value a class should have.
struct Bounds {
    /// By kind, the rank of its value of each sensitive attribute.
    kinds: Vec<Vec<u32>>,
    /// By sensitive attribute and rank: records of the table, shared out to the classes and rounded down and up.
    of_value: Vec<Vec<(u64, u64)>>,
}

impl Bounds {
    fn new(counts: &GroupCounts, kinds: Vec<Vec<u32>>, n_classes: u64) -> Bounds {
        let of_attribute = |s: usize| {
            let mut frequencies = counts.distribution(s);
            frequencies.sort_unstable_by_key(|&n| std::cmp::Reverse(n));
            frequencies.into_iter().map(|n| (n / n_classes, n.div_ceil(n_classes))).collect()
        };
        Bounds { kinds, of_value: (0..counts.sensitive().len()).map(of_attribute).collect() }
    }

    /// How many records a hand has too many or too few.
    fn n_wrong(&self, hand: &[u32]) -> u64 {
        let mut n_wrong = 0;
        let mut values: Vec<u32> = Vec::with_capacity(hand.len());
        for (s, bounds) in self.of_value.iter().enumerate() {
            values.clear();
            values.extend(hand.iter().map(|&kind| self.kinds[kind as usize][s]));
            values.sort_unstable();
            let mut n_needed = 0;
            for same in values.chunk_by(|a, b| a == b) {
                let (n, (least, most)) = (same.len() as u64, bounds[same[0] as usize]);
                n_wrong += n.saturating_sub(most) + least.saturating_sub(n);
                n_needed += least;
            }
            // Values that the hand lacks: they are the most frequent, so that they come first.
            n_wrong +=
                bounds.iter().take_while(|(least, _)| *least > 0).map(|(least, _)| least).sum::<u64>() - n_needed;
        }
        n_wrong
    }
}

/// How many records of each value a hand has, by sensitive attribute and rank.
struct Tally(FxHashMap<(usize, u32), u64>);

impl Tally {
    fn new(bounds: &Bounds, hand: &[u32]) -> Tally {
        let mut n_of_value = FxHashMap::default();
        for &kind in hand {
            for (s, &value) in bounds.kinds[kind as usize].iter().enumerate() {
                *n_of_value.entry((s, value)).or_default() += 1;
            }
        }
        Tally(n_of_value)
    }

    /// By how much the hand gets worse when it gives one kind away and takes another.
    fn change(&self, bounds: &Bounds, given: u32, taken: u32) -> i64 {
        let values = bounds.kinds[given as usize].iter().zip(&bounds.kinds[taken as usize]);
        let of_attribute = |(s, (&given, &taken)): (usize, (&u32, &u32))| {
            let n_wrong = |value: u32, by: i64| {
                let n = self.0.get(&(s, value)).copied().unwrap_or(0) as i64 + by;
                let (least, most) = bounds.of_value[s][value as usize];
                (n - most as i64).max(0) + (least as i64 - n).max(0)
            };
            n_wrong(given, -1) - n_wrong(given, 0) + n_wrong(taken, 1) - n_wrong(taken, 0)
        };
        values.enumerate().filter(|(_, (given, taken))| given != taken).map(of_attribute).sum()
    }
}

/// The kinds of a hand, each with the first place where it is, in the order of places.
fn first_of_each(hand: &[u32]) -> Vec<(usize, u32)> {
    let mut places: Vec<(u32, usize)> = hand.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places.dedup_by_key(|(kind, _)| *kind);
    let mut places: Vec<(usize, u32)> = places.into_iter().map(|(kind, place)| (place, kind)).collect();
    places.sort_unstable();
    places
}

/// Rounds over all hands, and hands that each is tried with, to even them out.
const N_ROUNDS: u32 = 8;
const N_PARTNERS: u64 = 64;

/// For every class the kinds of its records, increasing.
struct Hands {
    n_kinds: usize,
    kinds: Vec<Vec<u32>>,
}

impl Hands {
    fn deal(stack: &[Card], n_classes: usize) -> Hands {
        let mut kinds = vec![Vec::with_capacity(stack.len() / n_classes + 1); n_classes];
        for (i, card) in stack.iter().enumerate() {
            kinds[i % n_classes].push(card.kind);
        }
        Hands { n_kinds: stack.last().map_or(0, |card| card.kind as usize + 1), kinds }
    }

    /// Exchanges kinds between hands until the values of every sensitive attribute are as even as those of the first, or
    /// no exchange helps. The first stays as it is.
    fn even_out(&mut self, bounds: &Bounds, task: &Task) -> Result<()> {
        let mut random = Random::new(0);
        let n = self.kinds.len() as u64;
        for _ in 0..N_ROUNDS {
            let mut n_wrong = 0;
            for first in 0..self.kinds.len() {
                task.go_on()?;
                for _ in 0..N_PARTNERS {
                    let wrong = bounds.n_wrong(&self.kinds[first]);
                    if wrong == 0 {
                        break;
                    }
                    let second = random.below(n) as usize;
                    self.exchange(bounds, first, second);
                }
                n_wrong += bounds.n_wrong(&self.kinds[first]);
            }
            if n_wrong == 0 {
                break;
            }
        }
        self.kinds.iter_mut().for_each(|hand| hand.sort_unstable());
        Ok(())
    }

    /// Makes the exchange between two hands, of records with the same value of the first attribute, that helps most.
    fn exchange(&mut self, bounds: &Bounds, first: usize, second: usize) {
        if first == second {
            return;
        }
        let (ours, theirs) = (Tally::new(bounds, &self.kinds[first]), Tally::new(bounds, &self.kinds[second]));
        // Kinds that both may exchange, by their value of the first attribute.
        let mut partners: FxHashMap<u32, Vec<(usize, u32)>> = FxHashMap::default();
        for (j, b) in first_of_each(&self.kinds[second]) {
            partners.entry(bounds.kinds[b as usize][0]).or_default().push((j, b));
        }
        let mut best = (0, None);
        for (i, a) in first_of_each(&self.kinds[first]) {
            let of_value = partners.get(&bounds.kinds[a as usize][0]);
            for &(j, b) in of_value.into_iter().flatten().filter(|(_, b)| *b != a) {
                let change = ours.change(bounds, a, b) + theirs.change(bounds, b, a);
                if change < best.0 {
                    best = (change, Some((i, j)));
                }
            }
        }
        if let (_, Some((i, j))) = best {
            let card = self.kinds[first][i];
            self.kinds[first][i] = std::mem::replace(&mut self.kinds[second][j], card);
        }
    }

    fn fill_by_chance(&self, mut stack: Vec<Card>, random: &mut Random) -> Vec<Vec<Card>> {
        for same in stack.chunk_by_mut(|a, b| a.kind == b.kind) {
            random.shuffle(same);
        }
        let mut next: Vec<usize> = vec![0; self.n_kinds];
        (0..stack.len()).rev().for_each(|i| next[stack[i].kind as usize] = i);
        let mut take = |kind: &u32| {
            let card = stack[next[*kind as usize]];
            next[*kind as usize] += 1;
            card
        };
        self.kinds.iter().map(|hand| hand.iter().map(&mut take).collect()).collect()
    }
}

/// Where hands are filled with near records.
struct CardTable<'a> {
    space: &'a Space,
    hands: &'a Hands,
    task: &'a Task<'a>,
}

/// Sets of fewer records are halved by one thread.
const N_PARALLEL: usize = 4_096;

/// So many records of a half are compared with each other to see how near they are.
const N_SAMPLE: usize = 40;

impl CardTable<'_> {
    /// The classes in an order in which neighbours are near.
    fn fill_by_halving(&self, mut stack: Vec<Card>) -> Result<Vec<Vec<Card>>> {
        let mut classes: Vec<u32> = (0..number(self.hands.kinds.len())).collect();
        self.halve(&mut classes, &mut stack)
    }

    /// `cards` are, by kind, what the hands of the classes ask for.
    fn halve(&self, classes: &mut [u32], cards: &mut [Card]) -> Result<Vec<Vec<Card>>> {
        self.task.go_on()?;
        if classes.len() == 1 {
            return Ok(vec![cards.to_vec()]);
        }
        let axis = self.best_axis(classes, cards)?;
        let n_first = self.split(axis, classes, cards);
        let (first_classes, second_classes) = classes.split_at_mut(n_classes_of_half(classes.len()));
        let is_large = cards.len() >= N_PARALLEL;
        let (first_cards, second_cards) = cards.split_at_mut(n_first);
        let mut first = || self.halve(first_classes, first_cards);
        let mut second = || self.halve(second_classes, second_cards);
        let (first, second) = if is_large { rayon::join(first, second) } else { (first(), second()) };
        let mut found = first?;
        found.extend(second?);
        Ok(found)
    }

    /// The axis along which halves have the nearest records.
    fn best_axis(&self, classes: &[u32], cards: &[Card]) -> Result<usize> {
        let sides = self.space.around(cards.iter().map(|card| card.base));
        let wide = (0..sides.len()).filter(|&a| sides[a].0 < sides[a].1);
        let (mut classes, mut sorted) = (classes.to_vec(), cards.to_vec());
        let mut spread = |axis: usize| {
            sorted.copy_from_slice(cards);
            let n_first = self.split(axis, &mut classes, &mut sorted);
            self.task.go_on()?;
            Ok((self.spread(&sorted[..n_first]) + self.spread(&sorted[n_first..]), axis))
        };
        let spreads = wide.map(&mut spread).collect::<Result<Vec<(u64, usize)>>>()?;
        // The first of several that are as good.
        Ok(spreads.into_iter().min().map_or(0, |(_, axis)| axis))
    }

    /// Halves the classes, and gives the first half those records of each kind that come first along an axis; how many
    /// these are. Cards stay sorted by kind within both halves.
    fn split(&self, axis: usize, classes: &mut [u32], cards: &mut [Card]) -> usize {
        let place = |card: &Card| self.space.places(card.base)[axis];
        // A class goes where the records that it may get are.
        let mut mean = FxHashMap::default();
        for same in cards.chunk_by(|a, b| a.kind == b.kind) {
            let sum: u64 = same.iter().map(|card| u64::from(place(card))).sum();
            mean.insert(same[0].kind, sum * 1_000 / same.len() as u64);
        }
        let hand = |class: u32| self.hands.kinds[class as usize].as_slice();
        let score = |class: u32| hand(class).iter().map(|kind| mean[kind]).sum::<u64>() / hand(class).len() as u64;
        classes.sort_by_cached_key(|&class| (score(class), class));
        let mut wanted: FxHashMap<u32, usize> = FxHashMap::default();
        for &class in &classes[..n_classes_of_half(classes.len())] {
            hand(class).iter().for_each(|&kind| *wanted.entry(kind).or_default() += 1);
        }
        let mut halves = (Vec::new(), Vec::new());
        for same in cards.chunk_by_mut(|a, b| a.kind == b.kind) {
            let n = wanted.get(&same[0].kind).copied().unwrap_or(0);
            if 0 < n && n < same.len() {
                same.select_nth_unstable_by_key(n, |card| (place(card), card.base, card.cell));
            }
            halves.0.extend_from_slice(&same[..n]);
            halves.1.extend_from_slice(&same[n..]);
        }
        cards[..halves.0.len()].copy_from_slice(&halves.0);
        cards[halves.0.len()..].copy_from_slice(&halves.1);
        halves.0.len()
    }

    /// How far apart records are: the mean distance of two of them, times how many there are.
    fn spread(&self, cards: &[Card]) -> u64 {
        let n = cards.len().min(N_SAMPLE);
        let sample: Vec<&[u32]> = (0..n).map(|i| self.space.places(cards[i * cards.len() / n].base)).collect();
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        let sum: u64 = pairs.map(|(i, j)| self.space.distance_between(sample[i], sample[j])).sum();
        sum / (n * (n - 1) / 2).max(1) as u64 * cards.len() as u64
    }
}

fn n_classes_of_half(n_classes: usize) -> usize {
    n_classes / 2
}

/// Lets pairs of classes exchange records with the same sensitive values, as long as both together lose less by it.
/// Neighbours in the order of the classes are tried most often.
///
/// Which pairs are tried does not depend on what they exchange, so that all threads work on those that have no class in
/// common; what two pairs have in common is exchanged in the order in which they were drawn.
fn exchange(space: &Space, classes: &mut [Vec<Card>], n_tries: u32, random: &mut Random, task: &Task) -> Result<()> {
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
    use crate::hierarchy::Rule;
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
            let (stack, _) = stack(&counts);
            let hands = Hands::deal(&stack, n_records / k);
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
