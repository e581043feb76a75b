//! What a column tells about a generalized attribute, against the definition written naively.

use std::collections::{BTreeMap, BTreeSet};

use incrowd::random::Random;
use incrowd::task::Task;
use incrowd::tells::{Hidden, Kept, Told, relation, told};

/// Records, group after group: the cell of the group, label, value.
#[derive(Clone, Debug)]
struct World {
    starts: Vec<usize>,
    cells: Vec<u32>,
    labels: Vec<u32>,
    /// How many records each is: one, but where equal ones are one row.
    n_alike: Vec<u64>,
    values: Vec<u32>,
    /// Whose record each is, where people are counted.
    people: Option<Vec<u32>>,
}

impl World {
    fn empty() -> World {
        World { starts: vec![0], cells: vec![], labels: vec![], n_alike: vec![], values: vec![], people: None }
    }

    fn push(&mut self, label: u32, value: u32) {
        self.labels.push(label);
        self.values.push(value);
        self.n_alike.push(1);
    }

    /// The records since the last group are one, with this cell.
    fn end_group(&mut self, cell: u32) {
        self.cells.push(cell);
        self.starts.push(self.labels.len());
    }

    fn group_of(&self, i: usize) -> usize {
        self.starts.iter().filter(|start| **start <= i).count() - 1
    }

    /// The same with equal records of a group as one row.
    fn in_rows(&self) -> World {
        assert!(self.people.is_none(), "records of people are moved one by one");
        let mut rows = World::empty();
        for (&cell, ends) in self.cells.iter().zip(self.starts.windows(2)) {
            let mut n_of: BTreeMap<(u32, u32), u64> = BTreeMap::new();
            (ends[0]..ends[1]).for_each(|i| *n_of.entry((self.values[i], self.labels[i])).or_default() += 1);
            for ((value, label), n) in n_of {
                rows.push(label, value);
                *rows.n_alike.last_mut().expect("just pushed") = n;
            }
            rows.end_group(cell);
        }
        rows
    }

    /// How many records these are, or of how many people.
    fn n_of(&self, records: impl Iterator<Item = usize>) -> u64 {
        match &self.people {
            Some(people) => records.map(|i| people[i]).collect::<BTreeSet<u32>>().len() as u64,
            None => records.map(|i| self.n_alike[i]).sum(),
        }
    }

    fn hidden(&self, k: u64) -> Hidden<'_> {
        let hidden = Hidden::new(&self.starts, &self.cells, &self.labels, &self.n_alike, k);
        match &self.people {
            Some(people) => hidden.of_people(people),
            None => hidden,
        }
    }

    fn is_shared(&self, k: u64) -> Vec<bool> {
        let n_values = self.values.iter().max().map_or(0, |value| value + 1);
        let n_having = |value: u32| self.n_of((0..self.values.len()).filter(|&i| self.values[i] == value));
        (0..n_values).map(|value| n_having(value) >= k).collect()
    }

    fn told(&self, k: u64) -> Told {
        let hidden = self.hidden(k);
        told(&hidden, &Kept { values: &self.values, is_shared: &self.is_shared(k) })
    }

    fn relation(&self, k: u64) -> Option<incrowd::tells::Relation> {
        let hidden = self.hidden(k);
        let kept = Kept { values: &self.values, is_shared: &self.is_shared(k) };
        relation(&hidden, &kept, &Task::default()).expect("nobody cancels")
    }

    /// Record by record, as the definition says it.
    fn told_naively(&self, k: u64) -> Told {
        let n = self.values.len();
        let is_shared = self.is_shared(k);
        let group_of = |i: usize| self.group_of(i);
        let cell = |i: usize| self.cells[group_of(i)];
        let says = |i: usize| {
            if !is_shared[self.values[i] as usize] {
                return None;
            }
            let behind: BTreeSet<u32> = (0..n).filter(|&j| cell(j) == cell(i)).map(|j| self.labels[j]).collect();
            let n_having =
                |label: u32| (0..n).filter(move |&j| (self.values[j], self.labels[j]) == (self.values[i], label));
            behind.into_iter().rev().max_by_key(|&label| n_having(label).count())
        };
        let mut all = Told { n_shared: 0, n_told: 0, n_below: 0, fewest: None };
        for i in 0..n {
            let Some(label) = says(i) else { continue };
            all.n_shared += 1;
            if label != self.labels[i] {
                continue;
            }
            let is_left = |j: &usize| group_of(*j) == group_of(i) && says(*j).is_none_or(|other| other == label);
            let n_left = self.n_of((0..n).filter(is_left));
            all.n_told += 1;
            all.n_below += u64::from(n_left < k);
            all.fewest = Some(all.fewest.unwrap_or(n_left).min(n_left));
        }
        all
    }
}

/// Groups of up to seven records; cells may hide some labels, all or none, and the same cell may stand in several groups.
fn random_world(seed: u64) -> World {
    let mut random = Random::new(seed);
    let (n_labels, n_values) = (1 + random.below(6), 1 + random.below(8));
    let mut world = World::empty();
    for _ in 0..random.below(6) {
        let (cell, width) = (random.below(3) as u32, 1 + random.below(n_labels));
        let first = random.below(n_labels - width + 1);
        for _ in 0..1 + random.below(7) {
            let label = first + random.below(width);
            let is_related = random.below(3) > 0;
            let value = if is_related { label % n_values } else { random.below(n_values) };
            world.push(label as u32, value as u32);
        }
        world.end_group(cell);
    }
    // In every other world some people have several records, in one group or in two.
    if seed % 2 == 1 {
        world.people = Some(world.labels.iter().map(|_| random.below(9) as u32).collect());
    }
    world
}

#[test]
fn it_is_what_the_definition_says() {
    let (mut n_below, mut n_left) = (0, 0);
    for seed in 0..4_000 {
        let world = random_world(seed);
        for k in 1..5 {
            let found = world.told(k);
            assert_eq!(found, world.told_naively(k), "seed {seed}, k = {k}");
            if world.people.is_none() {
                assert_eq!(world.in_rows().told(k), found, "seed {seed}, k = {k}: equal records as one row");
            }
            n_below += found.n_below;
            n_left += u64::from(found.n_below == 0 && found.n_told > 0);
        }
    }
    assert!(n_below > 1_000 && n_left > 1_000, "{n_below} and {n_left}: this tries too little");
}

/// Groups of twelve of which a cell hides nine labels; `value` makes the column from label and chance.
fn crowd(n_groups: usize, value: impl Fn(u32, &mut Random) -> u32) -> World {
    let mut random = Random::new(5);
    let mut world = World::empty();
    for _ in 0..n_groups {
        for _ in 0..12 {
            let label = random.below(9) as u32;
            let value = value(label, &mut random);
            world.push(label, value);
        }
        world.end_group(0);
    }
    world
}

#[test]
fn a_rule_is_found_and_chance_is_not() {
    let rule = crowd(100, |label, random| label * 5 + random.below(5) as u32);
    let found = rule.relation(5).expect("every value has its label");
    assert!(found.is_nearly_certain() && found.told.n_told == 1_200 && found.told.fewest == Some(1), "{found:?}");
    assert!(found.told.n_below > 1_000 && found.n_below_by_chance < 0.7 * found.told.n_below as f64, "{found:?}");
    // With exceptions it is still nearly certain, or no longer.
    let told = |n_exceptions: u64| {
        let other = move |label: u32, random: &mut Random| match random.below(100) < n_exceptions {
            true => random.below(9) as u32,
            false => label,
        };
        crowd(100, other).relation(5)
    };
    assert!(told(5).is_some_and(|found| found.is_nearly_certain()));
    assert!(told(50).is_some_and(|found| !found.is_nearly_certain()));
    // Many values of few records each look like a rule: by chance each tells the label of two or three.
    for n_values in [2, 9, 45, 200] {
        let chance = crowd(100, |_, random| random.below(n_values) as u32);
        assert_eq!(chance.relation(5), None, "{n_values} values");
    }
    assert!(crowd(100, |_, random| random.below(200) as u32).told(5).n_below > 100, "it looks like one");
}

/// What 39 shuffles tell, each of which deals the values of every group anew to its labels.
fn by_chance(world: &World, k: u64, mut deal: impl FnMut(&mut [u32], &[(u32, usize)])) -> Vec<Told> {
    let mut hats: Vec<Vec<u32>> = Vec::new();
    let mut labels: Vec<Vec<(u32, usize)>> = Vec::new();
    for ends in world.starts.windows(2) {
        let rows = ends[0]..ends[1];
        hats.push(rows.clone().flat_map(|i| vec![world.values[i]; world.n_alike[i] as usize]).collect());
        let mut n_of: BTreeMap<u32, usize> = BTreeMap::new();
        rows.for_each(|i| *n_of.entry(world.labels[i]).or_default() += world.n_alike[i] as usize);
        let mut n_of: Vec<(u32, usize)> = n_of.into_iter().collect();
        n_of.sort_by_key(|(label, n)| (*n, *label));
        labels.push(n_of);
    }
    let shuffled = (0..39).map(|_| {
        let mut dealt = World::empty();
        for ((hat, labels), cell) in hats.iter_mut().zip(&labels).zip(&world.cells) {
            deal(hat, labels);
            let to = labels.iter().flat_map(|(label, n)| vec![*label; *n]);
            to.zip(&*hat).for_each(|(label, value)| dealt.push(label, *value));
            dealt.end_group(*cell);
        }
        dealt.told(k)
    });
    shuffled.collect()
}

/// The shuffles that are made: the values of a group lie in a hat, every label but the most frequent draws as many as it has
/// records, and that one gets what is left.
fn as_drawn(world: &World, k: u64) -> Vec<Told> {
    let mut random = Random::new(0);
    by_chance(world, k, |hat, labels| {
        let mut first = 0;
        for (_, n) in &labels[..labels.len() - 1] {
            for i in first..first + n {
                hat.swap(i, i + random.below((hat.len() - i) as u64) as usize);
            }
            first += n;
        }
    })
}

/// Any shuffles: record by record.
fn as_shuffled(world: &World, k: u64, seed: u64) -> Vec<Told> {
    let mut random = Random::new(seed);
    by_chance(world, k, |hat, _| random.shuffle(hat))
}

/// Mean and standard deviation of a number.
fn mean_and_deviation(shuffles: &[Told], of: impl Fn(&Told) -> u64) -> (f64, f64) {
    let n = shuffles.len() as f64;
    let mean = shuffles.iter().map(&of).sum::<u64>() as f64 / n;
    (mean, (shuffles.iter().map(|told| (of(told) as f64 - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// The relation after so many shuffles: it tells more than each of them, and by so many standard deviations.
fn relation_after(found: Told, shuffles: &[Told], n_deviations: f64, at_least: f64) -> Option<(bool, f64)> {
    let (mean, deviation) = mean_and_deviation(shuffles, |told| told.n_below);
    let (n_told, _) = mean_and_deviation(shuffles, |told| told.n_told);
    let is_more = shuffles.iter().all(|told| told.n_below < found.n_below);
    let is_nearly_certain = found.n_told as f64 - n_told >= 0.9 * (found.n_shared as f64 - n_told);
    let beyond = found.n_below as f64 - mean;
    (is_more && beyond > (n_deviations * deviation).max(at_least)).then_some((is_nearly_certain, mean))
}

/// The same with the end before all 39 where it is clear what comes of it.
fn relation_naively(found: Told, k: u64, shuffles: &[Told]) -> Option<(bool, f64)> {
    for n in 8..39 {
        let (mean, deviation) = mean_and_deviation(&shuffles[..n], |told| told.n_below);
        if found.n_below as f64 - mean <= 2.0 * deviation {
            return None;
        }
        if let Some(sure) = relation_after(found, &shuffles[..n], 12.0, 6.0 * k as f64) {
            return Some(sure);
        }
    }
    relation_after(found, shuffles, 4.0, 0.0)
}

/// Rows of equal records, and shuffles that draw only what they have to: none of this changes what is found, which is what the
/// same draws give when they are made one by one. Nor does an end before all 39. Relations of every strength, from none to a
/// rule, at every size of groups.
#[test]
fn what_is_found_is_what_39_plain_shuffles_find() {
    let (mut n_found, mut n_certain, mut n_none, mut n_near) = (0, 0, 0, 0);
    for seed in 0..60 {
        let mut random = Random::new(1_000 + seed);
        let (n_labels, n_values) = (2 + random.below(8), 2 + random.below(30));
        // Tenths of the records whose value goes with the label, from none to all.
        let n_related = [0, 0, 1, 2, 3, 4, 6, 9, 10, 10][seed as usize % 10];
        let mut world = World::empty();
        for group in 0..20 {
            for _ in 0..10 + random.below(if seed % 2 == 0 { 15 } else { 100 }) {
                let label = random.below(n_labels);
                let is_related = random.below(10) < n_related;
                let value = if is_related { label + n_labels * random.below(3) } else { random.below(n_values) };
                world.push(label as u32, value as u32);
            }
            world.end_group(group % 2);
        }
        for k in [3, 8] {
            let told = world.told(k);
            for world in [&world, &world.in_rows()] {
                let shuffles = as_drawn(world, k);
                let naive = relation_naively(told, k, &shuffles);
                let found = world.relation(k);
                let tried = format!("seed {seed}, k = {k}: {found:?} instead of {naive:?}, {told:?}");
                assert_eq!(found.map(|found| found.is_nearly_certain()), naive.map(|(certain, _)| certain), "{tried}");
                if let (Some(found), Some((_, mean))) = (found, naive) {
                    assert!((found.n_below_by_chance - mean).abs() < 1e-6, "{tried}");
                }
                // The end comes early where all 39 say the same.
                let in_the_end = relation_after(told, &shuffles, 4.0, 0.0).map(|(certain, _)| certain);
                assert_eq!(in_the_end, naive.map(|(certain, _)| certain), "{tried}");
                // What is drawn is as likely as what is shuffled.
                let (drawn, deviation) = mean_and_deviation(&shuffles, |told| told.n_below);
                let (shuffled, other) = mean_and_deviation(&as_shuffled(world, k, seed), |told| told.n_below);
                let error = ((deviation.powi(2) + other.powi(2)) / 39.0).sqrt();
                assert!((drawn - shuffled).abs() <= 5.0 * error + 0.5, "{tried}: {drawn}, {shuffled}, {error}");
                n_found += u64::from(in_the_end == Some(false));
                n_certain += u64::from(in_the_end == Some(true));
                n_none += u64::from(in_the_end.is_none());
                let beyond = (told.n_below as f64 - drawn) / deviation.max(0.5);
                n_near += u64::from((2.0..7.0).contains(&beyond));
            }
        }
    }
    let tried = (n_found, n_certain, n_none, n_near);
    assert!(n_found >= 20 && n_certain >= 20 && n_none >= 40 && n_near >= 20, "{tried:?}: this tries too little");
}

/// What the column says of a whole group is published anyway: only what differs within groups can tell.
#[test]
fn what_a_group_has_in_common_tells_nothing() {
    let mut world = crowd(60, |_, _| 0);
    for (group, ends) in world.starts.windows(2).enumerate() {
        world.values[ends[0]..ends[1]].fill(group as u32 % 7);
    }
    assert_eq!(world.relation(5), None);
}

#[test]
fn values_that_few_share_tell_nothing_and_stay_in_the_crowd() {
    let mut world = crowd(50, |label, _| label);
    (0u32..).zip(&mut world.values).for_each(|(i, value)| *value = i);
    assert_eq!(world.told(2), Told { n_shared: 0, n_told: 0, n_below: 0, fewest: None });
    let half = |i: usize, label: u32| if i.is_multiple_of(2) { label } else { 9 + i as u32 };
    world.values = world.labels.iter().enumerate().map(|(i, &label)| half(i, label)).collect();
    let found = world.told(5);
    assert_eq!(found.n_shared, 300);
    assert!(found.fewest >= Some(7), "six of twelve tell nothing: {found:?}");
}

/// Whoever has several records counts once.
#[test]
fn records_of_one_person_hide_nobody() {
    let mut world = crowd(100, |label, random| label * 5 + random.below(5) as u32);
    let of_records = world.told(5);
    // Everybody has a record of their own: nothing changes.
    world.people = Some((0..world.labels.len() as u32).collect());
    assert_eq!(world.told(5), of_records);
    // Two records each: of those left, some are the same person's.
    world.people = Some((0..world.labels.len() as u32).map(|i| i / 2).collect());
    let of_people = world.told(5);
    assert_eq!(of_people, world.told_naively(5));
    assert!(of_people.n_below > of_records.n_below, "{of_people:?}, {of_records:?}");
}

/// A value that somebody has in all of their records, as their blood group, goes with what else is said of them in all of
/// these: that is one coincidence per person, however many records they have.
#[test]
fn values_that_repeat_with_a_person_are_no_rule() {
    let worlds = |n_worlds: u64, value: &dyn Fn(u32, &mut Random) -> u32| -> Vec<World> {
        let world = |seed: u64| {
            let mut random = Random::new(seed);
            let mut world = World::empty();
            let mut people = Vec::new();
            for person in 0..40 * 12 {
                let label = random.below(9) as u32;
                let value = value(label, &mut random);
                for _ in 0..1 + random.below(8) {
                    world.push(label, value);
                    people.push(person);
                }
                if person % 12 == 11 {
                    world.end_group(0);
                }
            }
            world.people = Some(people);
            world
        };
        (0..n_worlds).map(world).collect()
    };
    let by_chance = worlds(30, &|_, random| random.below(40) as u32);
    assert!(by_chance.iter().all(|world| world.told(5).n_below > 100), "it looks like a rule");
    let n_taken_for_a_rule = by_chance.iter().filter(|world| world.relation(5).is_some()).count();
    assert_eq!(n_taken_for_a_rule, 0);
    // A rule is found all the same.
    let rule = worlds(10, &|label, random| label * 4 + random.below(4) as u32);
    assert!(rule.iter().all(|world| world.relation(5).is_some_and(|found| found.is_nearly_certain())));
    let weaker = |label: u32, random: &mut Random| if random.below(2) == 0 { label } else { random.below(9) as u32 };
    assert!(worlds(10, &weaker).iter().all(|world| world.relation(5).is_some_and(|found| !found.is_nearly_certain())));
}
