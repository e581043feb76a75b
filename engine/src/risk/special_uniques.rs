//! Special uniques: the smallest sets of quasi-identifiers on which a record stands alone, and what that says of it.
//!
//! A record that stands alone already on age and occupation is a greater risk than one that needs all eight attributes
//! for it: it stands alone in the population too, more likely, and less has to be known. (Elliot, Manning and Ford, "A
//! computational algorithm for handling the special uniques problem", 2002; Manning, Haglin and Keane, "A recursive
//! search algorithm for statistical disclosure assessment", 2008: SUDA2.)

use crate::error::{Error, ErrorKind, Result, Wording};
use crate::task::Task;

/// What a group of a table shows, and how many records it has: a number per attribute that equal cells share.
pub type ShownGroup = (Vec<u32>, u64);

/// The records of a table that stand alone, and on what.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpecialUniques {
    /// The largest sets that were looked for.
    pub size_max: usize,
    /// The share of the population that is in the table, as the scores of [`Unique::dis_score`] take it.
    pub fraction: f64,
    /// How likely a match with a record that stands alone is right, all of them taken together: Skinner and Elliot's
    /// DIS, from the records that stand alone and those that come in pairs.
    pub dis: f64,
    /// By row; none where several records look the same, or where the sets would be larger than was looked for.
    pub uniques: Vec<Option<Unique>>,
    /// How many minimal sets there are of one attribute, of two, and so on.
    pub n_sets_of_size: Vec<u64>,
    /// By attribute.
    pub shares: Vec<AttributeShare>,
}

/// One record that stands alone.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Unique {
    /// The sets on which it stands alone while it does not on any part of them; bit a is attribute a.
    pub minimal_sets: Vec<u64>,
    /// The sum over the sets of Π_{j=i}^{M−1} (A − j), with i the size of the set, M the largest size and A all attributes.
    pub score: f64,
    /// The score as a probability: scaled so that together they say what [`SpecialUniques::dis`] does.
    pub dis_score: f64,
}

/// What one attribute has to do with it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AttributeShare {
    /// The percentage of all scores that comes from sets with this attribute; a set counts for each of its attributes, so
    /// that percentages add up to more than 100.
    pub percent: f64,
    /// By value of the attribute, the percentage of that; the greatest first. Values without any are left out.
    pub of_values: Vec<(u32, f64)>,
}

impl SpecialUniques {
    /// How many records stand alone on less than all attributes.
    pub fn n_special(&self) -> u64 {
        let n_attributes = self.shares.len() as u32;
        let is_special =
            |unique: &&Unique| unique.minimal_sets.iter().any(|attributes| attributes.count_ones() < n_attributes);
        self.uniques.iter().flatten().filter(is_special).count() as u64
    }
}

/// As many attributes as a set of them has bits.
pub const N_ATTRIBUTES_MAX: usize = 64;

/// Finds, for every record that stands alone, the minimal sets of attributes on which it does, up to `size_max` large.
///
/// # Guarantee
/// All of them, and no others: on each set the record stands alone, on each part of it another record looks the same.
///
/// # Errors
/// Where there are more than 64 attributes, or nobody wants it any more.
pub fn special_uniques(
    rows: &[ShownGroup],
    n_attributes: usize,
    size_max: Option<usize>,
    fraction: f64,
    task: &Task,
) -> Result<SpecialUniques> {
    if n_attributes > N_ATTRIBUTES_MAX {
        let message = format!("special uniques are looked for among at most {N_ATTRIBUTES_MAX} quasi-identifiers");
        return Err(Error::new(ErrorKind::TooLarge, message)
            .hint(Wording::text("choose some of them with ").setting("quasi_identifiers")));
    }
    let size_max = size_max.unwrap_or(n_attributes).clamp(1, n_attributes.max(1));
    let sets = SetSearch::new(rows, n_attributes, size_max).run(task)?;
    Ok(judged(rows, n_attributes, size_max, fraction, sets))
}

/// Rows that look the same on the attributes of a set, class after class; only classes that have at least two rows and a
/// record that stands alone on all attributes.
#[derive(Default)]
struct Classes {
    rows: Vec<u32>,
    ends: Vec<u32>,
}

/// Walks through all sets, in the order of their numbers: so every part of a set comes before the set, and a set on
/// which a record is found alone is minimal if none of those that were found for it is a part of it.
///
/// Below a set are those with one more attribute of a smaller bit. Each refines the classes of the one above; whoever
/// stands alone leaves, and classes of which nobody can stand alone are not looked at any more.
struct SetSearch<'a> {
    rows: &'a [ShownGroup],
    /// By bit, the attribute: those that tell most records apart come first, so that they find small sets early.
    attributes: Vec<usize>,
    size_max: usize,
    /// By row, the sets that were found, as bits of `attributes`.
    found: Vec<Vec<u64>>,
    /// By value of one attribute, how many rows of one class have it; all zero in between.
    n_of_value: Vec<u32>,
}

impl<'a> SetSearch<'a> {
    fn new(rows: &'a [ShownGroup], n_attributes: usize, size_max: usize) -> SetSearch<'a> {
        let n_values = |attribute: usize| {
            let mut values: Vec<u32> = rows.iter().map(|(cells, _)| cells[attribute]).collect();
            values.sort_unstable();
            values.dedup();
            values.len()
        };
        let mut attributes: Vec<usize> = (0..n_attributes).collect();
        attributes.sort_by_cached_key(|&attribute| (std::cmp::Reverse(n_values(attribute)), attribute));
        let n_values_max = rows.iter().flat_map(|(cells, _)| cells).max().map_or(0, |&value| value as usize + 1);
        let (found, n_of_value) = (vec![Vec::new(); rows.len()], vec![0; n_values_max]);
        SetSearch { rows, attributes, size_max, found, n_of_value }
    }

    /// By row, its minimal sets as bits of the attributes.
    fn run(mut self, task: &Task) -> Result<Vec<Vec<u64>>> {
        if self.rows.len() > 1 {
            let all = Classes { rows: (0..self.rows.len() as u32).collect(), ends: vec![self.rows.len() as u32] };
            self.descend(0, self.attributes.len(), 1, &all, task)?;
        } else if self.rows.first().is_some_and(|(_, size)| *size == 1) {
            // Nobody else is there: whatever is known finds the record.
            self.found[0] = (0..self.attributes.len()).map(|bit| 1 << bit).collect();
        }
        let attributes = &self.attributes;
        let by_attribute = |set: u64| {
            let bits = (0..attributes.len()).filter(|bit| set >> bit & 1 == 1);
            bits.fold(0, |named, bit| named | 1 << attributes[bit])
        };
        let mut found = self.found;
        for sets in &mut found {
            sets.iter_mut().for_each(|set| *set = by_attribute(*set));
            // The small ones first, and of one size those of the first attributes.
            sets.sort_unstable_by_key(|set| (set.count_ones(), std::cmp::Reverse(set.reverse_bits())));
        }
        Ok(found)
    }

    /// All sets that add one of the first `n_bits` attributes to `set`, and what is below them.
    fn descend(&mut self, set: u64, n_bits: usize, size: usize, classes: &Classes, task: &Task) -> Result<()> {
        for bit in 0..n_bits {
            task.go_on()?;
            let refined = self.refined(classes, set | 1 << bit, bit);
            if bit > 0 && size < self.size_max && !refined.rows.is_empty() {
                self.descend(set | 1 << bit, bit, size + 1, &refined, task)?;
            }
        }
        Ok(())
    }

    /// The classes by one attribute more.
    fn refined(&mut self, classes: &Classes, set: u64, bit: usize) -> Classes {
        let attribute = self.attributes[bit];
        let mut refined = Classes::default();
        let mut start = 0;
        let mut values: Vec<u32> = Vec::new();
        let mut sorted: Vec<u32> = Vec::new();
        for &end in &classes.ends {
            let class = &classes.rows[start as usize..end as usize];
            start = end;
            values.clear();
            for &row in class {
                let value = self.rows[row as usize].0[attribute];
                if self.n_of_value[value as usize] == 0 {
                    values.push(value);
                }
                self.n_of_value[value as usize] += 1;
            }
            // From how many have a value to where the next of them goes.
            let mut place = 0;
            for &value in &values {
                place += std::mem::replace(&mut self.n_of_value[value as usize], place);
            }
            sorted.resize(class.len(), 0);
            for &row in class {
                let next = &mut self.n_of_value[self.rows[row as usize].0[attribute] as usize];
                sorted[*next as usize] = row;
                *next += 1;
            }
            let mut from = 0;
            for &value in &values {
                let to = std::mem::take(&mut self.n_of_value[value as usize]) as usize;
                self.settle(&sorted[from..to], set, &mut refined);
                from = to;
            }
        }
        refined
    }

    /// Remembers who stands alone, and keeps those of whom somebody still may.
    fn settle(&mut self, class: &[u32], set: u64, refined: &mut Classes) {
        let is_one = |row: &u32| self.rows[*row as usize].1 == 1;
        match class {
            [row] if is_one(row) => {
                let found = &mut self.found[*row as usize];
                if found.iter().all(|known| known & set != *known) {
                    found.push(set);
                }
            }
            [_] => {}
            _ if class.iter().any(is_one) => {
                refined.rows.extend_from_slice(class);
                refined.ends.push(refined.rows.len() as u32);
            }
            _ => {}
        }
    }
}

/// Scores and shares, from the minimal sets of each row.
fn judged(
    rows: &[ShownGroup],
    n_attributes: usize,
    size_max: usize,
    fraction: f64,
    sets: Vec<Vec<u64>>,
) -> SpecialUniques {
    let weight_of_size: Vec<f64> =
        (0..=size_max).map(|size| (size..size_max).map(|j| (n_attributes - j) as f64).product()).collect();
    let weight = |set: &u64| weight_of_size[set.count_ones() as usize];
    let mut n_sets_of_size = vec![0; size_max];
    sets.iter().flatten().for_each(|set| n_sets_of_size[set.count_ones() as usize - 1] += 1);
    let scores: Vec<f64> = sets.iter().map(|sets| sets.iter().map(weight).sum()).collect();
    let (dis, dis_scores) = dis_scores(rows, n_attributes, fraction, &scores);
    let shares =
        (0..n_attributes).map(|attribute| share(attribute, rows, &sets, weight, scores.iter().sum())).collect();
    let unique = |((minimal_sets, score), dis_score): ((Vec<u64>, f64), f64)| {
        (!minimal_sets.is_empty()).then_some(Unique { minimal_sets, score, dis_score })
    };
    let uniques = sets.into_iter().zip(scores).zip(dis_scores).map(unique).collect();
    SpecialUniques { size_max, fraction, dis, uniques, n_sets_of_size, shares }
}

/// DIS, and every score as a probability (Elliot, "Using DIS to modify the classification of special uniques", 2002).
///
/// DIS = U·π / (U·π + P·(1−π)) with U the records that stand alone, P those that come in pairs and π the share of the
/// population that is in the table. A score s becomes 1 / (1 + (U/DIS − U) / (s^q · Σ s^(−q))), q = 1 + (8 − A)/20.
fn dis_scores(rows: &[ShownGroup], n_attributes: usize, fraction: f64, scores: &[f64]) -> (f64, Vec<f64>) {
    let n_of = |n: u64| rows.iter().filter(|(_, size)| *size == n).count() as f64;
    let (n_unique, n_in_pairs) = (n_of(1), 2.0 * n_of(2));
    if n_unique == 0.0 {
        return (0.0, vec![0.0; scores.len()]);
    }
    let dis = n_unique * fraction / (n_unique * fraction + n_in_pairs * (1.0 - fraction));
    let power = 1.0 + (8.0 - n_attributes as f64) / 20.0;
    let scale: f64 = scores.iter().filter(|score| **score > 0.0).map(|score| score.powf(-power)).sum();
    let probability = |&score: &f64| match score > 0.0 {
        true => 1.0 / (1.0 + (n_unique / dis - n_unique) / (score.powf(power) * scale)),
        false => 0.0,
    };
    (dis, scores.iter().map(probability).collect())
}

fn share(
    attribute: usize,
    rows: &[ShownGroup],
    sets: &[Vec<u64>],
    weight: impl Fn(&u64) -> f64,
    all: f64,
) -> AttributeShare {
    let mut of_values = std::collections::BTreeMap::new();
    for ((cells, _), sets) in rows.iter().zip(sets) {
        let with_it: f64 = sets.iter().filter(|set| *set >> attribute & 1 == 1).map(&weight).sum();
        if with_it > 0.0 {
            *of_values.entry(cells[attribute]).or_insert(0.0) += with_it;
        }
    }
    // The sum of nothing is −0, and a percentage has no sign.
    let total: f64 = of_values.values().sum::<f64>() + 0.0;
    let mut of_values: Vec<(u32, f64)> =
        of_values.into_iter().map(|(value, sum)| (value, 100.0 * sum / total)).collect();
    of_values.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    AttributeShare { percent: if all > 0.0 { 100.0 * total / all } else { 0.0 }, of_values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(table: &[&[u32]], fraction: f64) -> SpecialUniques {
        special_uniques(&grouped(table), table[0].len(), None, fraction, &Task::default()).expect("found")
    }

    fn grouped(table: &[&[u32]]) -> Vec<ShownGroup> {
        let mut rows: Vec<ShownGroup> = Vec::new();
        for record in table {
            match rows.iter_mut().find(|(cells, _)| cells == record) {
                Some((_, size)) => *size += 1,
                None => rows.push((record.to_vec(), 1)),
            }
        }
        rows
    }

    fn scores(table: &[&[u32]]) -> Vec<f64> {
        let (rows, found) = (grouped(table), found(table, 0.01));
        let score = |record: &&[u32]| {
            let row = rows.iter().position(|(cells, _)| cells == record).expect("there");
            found.uniques[row].as_ref().map_or(0.0, |unique| unique.score)
        };
        table.iter().map(score).collect()
    }

    /// The examples that sdcMicro holds its `suda2` to.
    #[test]
    fn as_sdcmicro_has_it() {
        let small: [&[u32]; 3] = [&[2, 0, 0], &[1, 3, 6], &[1, 0, 0]];
        let percents: Vec<f64> = found(&small, 0.01).shares.iter().map(|share| share.percent).collect();
        assert_eq!(percents, [50.0, 37.5, 37.5]);
        // Age, gender, income, education: 20s and 60s, male and female, 50k+ and 50k-, high, university and middle.
        let book: [&[u32]; 8] = [
            &[0, 0, 0, 0],
            &[0, 0, 0, 0],
            &[0, 0, 1, 0],
            &[0, 0, 1, 0],
            &[0, 1, 1, 1],
            &[0, 1, 1, 0],
            &[0, 1, 1, 2],
            &[1, 0, 1, 1],
        ];
        assert_eq!(scores(&book)[4..], [4.0, 2.0, 6.0, 8.0]);
        // Residence, gender, education and labour of the SDC guideline's ten people.
        let guideline: [&[u32]; 10] = [
            &[0, 0, 0, 0],
            &[0, 0, 0, 0],
            &[0, 0, 1, 1],
            &[0, 1, 2, 0],
            &[1, 0, 2, 2],
            &[0, 1, 2, 0],
            &[0, 0, 3, 1],
            &[0, 1, 4, 2],
            &[0, 0, 0, 1],
            &[0, 0, 0, 1],
        ];
        assert_eq!(scores(&guideline), [0.0, 0.0, 6.0, 0.0, 12.0, 0.0, 6.0, 10.0, 0.0, 0.0]);
    }

    #[test]
    fn what_each_value_does_by_hand() {
        let found = found(&[&[2, 0, 0], &[1, 3, 6], &[1, 0, 0]], 0.5);
        // Of the 4 of the first attribute, 2 are the first record's and 1 + 1 the third's.
        assert_eq!(found.shares[0].of_values, [(1, 50.0), (2, 50.0)]);
        assert_eq!(found.shares[1].of_values[0].0, 3);
        assert!((found.shares[1].of_values[0].1 - 200.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.n_sets_of_size, [3, 2, 0]);
        assert_eq!((found.n_special(), found.dis), (3, 1.0));
        assert!(found.uniques.iter().flatten().all(|unique| unique.dis_score == 1.0));
    }

    #[test]
    fn nobody_nothing_and_too_much() {
        let none = special_uniques(&[(vec![0], 2), (vec![1], 5)], 1, None, 0.1, &Task::default()).expect("found");
        assert!(none.uniques.iter().all(Option::is_none) && none.shares[0].percent == 0.0 && none.dis == 0.0);
        let one = special_uniques(&[(vec![0, 0], 1), (vec![1, 0], 3)], 2, None, 0.1, &Task::default()).expect("found");
        let percents: Vec<String> = one.shares.iter().map(|share| format!("{}", share.percent)).collect();
        assert_eq!(percents, ["100", "0"]);
        let alone = special_uniques(&[(vec![4, 4], 1)], 2, None, 0.1, &Task::default()).expect("found");
        assert_eq!(alone.uniques[0].as_ref().expect("alone").minimal_sets, [1, 2]);
        let empty = special_uniques(&[], 3, None, 0.1, &Task::default()).expect("found");
        assert_eq!(empty.n_special(), 0);
        assert!(special_uniques(&[], 65, None, 0.1, &Task::default()).is_err());
    }

    #[test]
    fn dis_by_hand() {
        // Two records alone, one pair, one in five sampled: 2·0.2 / (2·0.2 + 2·0.8).
        let found = found(&[&[0, 0], &[1, 1], &[2, 1], &[2, 1]], 0.2);
        assert!((found.dis - 0.2).abs() < 1e-15);
        // {0} and {1}: 1 + 1; {0} alone: 1.
        let scores: Vec<f64> = found.uniques.iter().flatten().map(|unique| unique.score).collect();
        assert_eq!(scores, [2.0, 1.0]);
        let power = 1.3_f64;
        let scale = 2.0_f64.powf(-power) + 1.0;
        let of = |score: f64| 1.0 / (1.0 + 8.0 / (score.powf(power) * scale));
        let dis: Vec<f64> = found.uniques.iter().flatten().map(|unique| unique.dis_score).collect();
        assert!((dis[0] - of(2.0)).abs() < 1e-15 && (dis[1] - of(1.0)).abs() < 1e-15);
    }
}
