//! An attribute as analysts read it: in how many classes it is counted, and what a cell makes one believe.

use crate::hierarchy::Hierarchy;
use crate::recode::Span;
use crate::table::{Code, Kind};

/// The most classes of categories; of more, the rarest are one.
pub const N_CATEGORIES_MAX: usize = 256;

/// The most classes of numbers, each with about as many records.
pub const N_INTERVALS_MAX: usize = 20;

/// An attribute, counted in classes: categories one by one, numbers and dates in intervals.
#[derive(Clone, Debug)]
pub struct Attribute<'a> {
    hierarchy: &'a Hierarchy,
    /// What each class is called.
    classes: Vec<String>,
    /// By code.
    class_of: Vec<u32>,
    /// By code, where it is a number or a date.
    numbers: Option<Vec<Option<f64>>>,
    /// Of numbers, the highest of each class, increasing; the lowest class has no lower end.
    ends: Vec<f64>,
    /// By level and label, the values below.
    below: Vec<Vec<Vec<Code>>>,
}

/// What is believed of a record with a certain cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// How likely each class is; classes that cannot be are left out, and the others add up to 1.
    pub shares: Vec<(u32, f64)>,
    /// The mean of its number, and of the number's square; 0 where there is none.
    pub mean: f64,
    /// The mean of the square of its number.
    pub square: f64,
    /// Whether there is a number.
    pub is_number: bool,
}

impl<'a> Attribute<'a> {
    /// `n_records` says how many records of the source have each value.
    pub fn new(hierarchy: &'a Hierarchy, n_records: &[u64], n_intervals: usize, n_categories: usize) -> Attribute<'a> {
        let numbers = hierarchy.positions();
        let below = hierarchy
            .levels()
            .iter()
            .map(|level| {
                let mut below = vec![Vec::new(); level.len()];
                (0..).zip(level.of_base()).for_each(|(code, label)| below[label.index()].push(Code(code)));
                below
            })
            .collect();
        let (class_of, classes, ends) = match &numbers {
            Some(numbers) => intervals(hierarchy, numbers, n_records, n_intervals),
            None => categories(hierarchy, n_records, n_categories),
        };
        Attribute { hierarchy, classes, class_of, numbers, ends, below }
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        self.hierarchy.attribute()
    }

    /// Whether it has numbers or dates.
    pub fn is_number(&self) -> bool {
        self.numbers.is_some()
    }

    /// What its classes are called.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// How many values there are.
    pub(crate) fn n_values(&self) -> usize {
        self.class_of.len()
    }

    /// What a record with this cell is believed to have.
    pub fn belief(&self, span: &Span) -> Belief {
        match (span, &self.numbers) {
            (Span::Value(code), _) => self.evenly(std::slice::from_ref(code)),
            (Span::Set(codes), _) => self.evenly(codes),
            (Span::Label(level, label), None) => self.evenly(&self.below[usize::from(*level)][label.index()]),
            (Span::Label(level, label), Some(numbers)) => {
                let below = &self.below[usize::from(*level)][label.index()];
                let known = || below.iter().filter_map(|code| numbers[code.index()]);
                match (known().next(), known().next_back()) {
                    (Some(low), Some(high)) => self.between(low, high),
                    _ => self.evenly(below),
                }
            }
            (Span::Range(low, high), Some(numbers)) => match (numbers[low.index()], numbers[high.index()]) {
                (Some(low), Some(high)) => self.between(low, high),
                _ => self.evenly(&codes_between(*low, *high)),
            },
            (Span::Middle(low, high), Some(numbers)) => match (numbers[low.index()], numbers[high.index()]) {
                (Some(low), Some(high)) => self.at((low + high) / 2.0),
                _ => self.evenly(&codes_between(*low, *high)),
            },
            (Span::Range(low, high) | Span::Middle(low, high), None) => self.evenly(&codes_between(*low, *high)),
        }
    }

    /// Values that are all equally likely.
    fn evenly(&self, codes: &[Code]) -> Belief {
        let share = 1.0 / codes.len().max(1) as f64;
        let mut shares: Vec<(u32, f64)> = Vec::new();
        let mut classes: Vec<u32> = codes.iter().map(|code| self.class_of[code.index()]).collect();
        classes.sort_unstable();
        for class in classes {
            match shares.last_mut() {
                Some((last, sum)) if *last == class => *sum += share,
                _ => shares.push((class, share)),
            }
        }
        let of_code = |code: &Code| self.numbers.as_ref().and_then(|numbers| numbers[code.index()]);
        let known: Vec<f64> = codes.iter().filter_map(of_code).collect();
        let n = known.len().max(1) as f64;
        Belief {
            shares,
            mean: known.iter().sum::<f64>() / n,
            square: known.iter().map(|number| number * number).sum::<f64>() / n,
            is_number: !known.is_empty(),
        }
    }

    fn at(&self, number: f64) -> Belief {
        let class = self.class_at(number);
        Belief { shares: vec![(class, 1.0)], mean: number, square: number * number, is_number: true }
    }

    fn class_at(&self, number: f64) -> u32 {
        self.ends.partition_point(|&end| end < number).min(self.ends.len().saturating_sub(1)) as u32
    }

    /// Numbers from one to another, all equally likely.
    fn between(&self, low: f64, high: f64) -> Belief {
        if low >= high {
            return self.at(low);
        }
        let is_whole = matches!(self.hierarchy.kind(), Kind::Integer | Kind::Date);
        let all = if is_whole { high - low + 1.0 } else { high - low };
        let (first, last) = (self.class_at(low), self.class_at(high));
        let share = |class: u32| {
            // Of whole numbers, those above the end of the class below, up to the end of this one.
            let from = if class == first { low } else { self.ends[class as usize - 1] };
            let to = if class == last { high } else { self.ends[class as usize] };
            let n = if is_whole && class == first { to - from + 1.0 } else { to - from };
            (class, n / all)
        };
        let mean = (low + high) / 2.0;
        // Var of n whole numbers in a row is (n² − 1) / 12, of an interval of length d it is d² / 12.
        let variance = if is_whole { (all * all - 1.0) / 12.0 } else { all * all / 12.0 };
        let shares = (first..=last).map(share).filter(|(_, share)| *share > 0.0).collect();
        Belief { shares, mean, square: mean * mean + variance, is_number: true }
    }
}

fn codes_between(low: Code, high: Code) -> Vec<Code> {
    (low.0..=high.0).map(Code).collect()
}

/// By code its class, the names of the classes, and the highest number of each.
type Classes = (Vec<u32>, Vec<String>, Vec<f64>);

/// Intervals with about as many records each; values that are missing have a class of their own, the last.
fn intervals(hierarchy: &Hierarchy, numbers: &[Option<f64>], n_records: &[u64], n_classes: usize) -> Classes {
    let labels = hierarchy.level(0).labels();
    let n_of = |code: usize| n_records.get(code).copied().unwrap_or(0);
    // Codes are in the order of numbers. What only a population has begins no class.
    let known: Vec<usize> = (0..numbers.len()).filter(|&code| numbers[code].is_some()).collect();
    let total: u64 = known.iter().map(|&code| n_of(code)).sum();
    let n_different = known.iter().filter(|&&code| n_of(code) > 0).count();
    let mut class_of = vec![0; numbers.len()];
    let (mut classes, mut ends) = (Vec::new(), Vec::new());
    let (mut first, mut n_done) = (None::<usize>, 0);
    for (i, &code) in known.iter().enumerate() {
        let low = *first.get_or_insert(code);
        class_of[code] = ends.len() as u32;
        n_done += n_of(code);
        let is_last = i + 1 == known.len();
        let wanted = (ends.len() as u64 + 1) * total;
        let is_full = n_different <= n_classes && n_of(code) > 0 || n_done * n_classes as u64 >= wanted;
        // Equal numbers that are written differently stay together.
        let is_tied = known.get(i + 1).is_some_and(|&next| numbers[next] == numbers[code]);
        let is_enough = ends.len() + 1 < n_classes && is_full && n_done < total && !is_tied;
        if is_last || is_enough {
            let name = if low == code { labels[code].clone() } else { format!("{} to {}", labels[low], labels[code]) };
            classes.push(name);
            ends.push(numbers[code].expect("it is known"));
            first = None;
        }
    }
    if known.len() < numbers.len() {
        let missing = (0..numbers.len()).filter(|&code| numbers[code].is_none());
        missing.for_each(|code| class_of[code] = classes.len() as u32);
        classes.push("no value".to_string());
    }
    (class_of, classes, ends)
}

/// Values one by one; of too many, the rarest together, as the last class.
fn categories(hierarchy: &Hierarchy, n_records: &[u64], n_classes: usize) -> Classes {
    let labels = hierarchy.level(0).labels();
    if labels.len() <= n_classes {
        return ((0..labels.len() as u32).collect(), labels.to_vec(), Vec::new());
    }
    let n_of = |code: usize| n_records.get(code).copied().unwrap_or(0);
    let mut by_number: Vec<usize> = (0..labels.len()).collect();
    by_number.sort_by_key(|&code| (std::cmp::Reverse(n_of(code)), code));
    let mut frequent = by_number[..n_classes - 1].to_vec();
    frequent.sort_unstable();
    let mut class_of = vec![(n_classes - 1) as u32; labels.len()];
    (0..).zip(&frequent).for_each(|(class, &code)| class_of[code] = class);
    let names = frequent.iter().map(|&code| labels[code].clone()).chain(["others".to_string()]);
    (class_of, names.collect(), Vec::new())
}
