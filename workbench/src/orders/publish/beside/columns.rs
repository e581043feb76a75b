//! The columns that are published as they are, with their values numbered.

use rustc_hash::FxHashMap;

/// Columns with more values than this are not looked at in pairs.
const N_VALUES_OF_PAIRS: usize = 100;

/// A column that is published as it is, or two.
pub struct KeptColumn {
    pub names: Vec<String>,
    /// By row, the number of its value.
    pub values: Vec<u32>,
    pub is_shared: Vec<bool>,
    /// The number of "no value" among the values.
    pub missing: Option<u32>,
}

impl KeptColumn {
    pub fn has_few_values(&self) -> bool {
        (2..=N_VALUES_OF_PAIRS).contains(&self.is_shared.len())
    }

    /// How many records have a value.
    pub fn n_present(&self, whose: &Whose) -> u64 {
        self.n_records(whose, |value| Some(value) != self.missing)
    }

    /// How many records have a value that fewer than k share.
    pub fn n_rare(&self, whose: &Whose) -> u64 {
        self.n_records(whose, |value| Some(value) != self.missing && !self.is_shared[value as usize])
    }

    /// How many records have a value that nobody else has.
    pub fn n_of_one_person(&self, whose: &Whose) -> u64 {
        let n_having = whose.n_having(&self.values, self.is_shared.len());
        self.n_records(whose, |value| Some(value) != self.missing && n_having[value as usize] == 1)
    }

    fn n_records(&self, whose: &Whose, is_meant: impl Fn(u32) -> bool) -> u64 {
        self.values.iter().zip(whose.n_alike).filter(|(value, _)| is_meant(**value)).map(|(_, n)| n).sum()
    }

    /// Two columns as one.
    pub fn with(&self, other: &KeptColumn, k: u64, whose: &Whose) -> KeptColumn {
        let n_other = other.is_shared.len() as u32;
        let values: Vec<u32> = self.values.iter().zip(&other.values).map(|(a, b)| a * n_other + b).collect();
        let n_values = self.is_shared.len() * other.is_shared.len();
        let is_shared = whose.n_having(&values, n_values).into_iter().map(|n| n >= k).collect();
        let names = self.names.iter().chain(&other.names).cloned().collect();
        KeptColumn { names, values, is_shared, missing: None }
    }
}

/// Numbers values by their size, and the values by number.
pub fn numbered(values: &[u64]) -> (Vec<u32>, Vec<u64>) {
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let numbers: FxHashMap<u64, u32> = distinct.iter().copied().zip(0..).collect();
    (values.iter().map(|value| numbers[value]).collect(), distinct)
}

/// How many records each row is, or whose.
pub struct Whose<'a> {
    /// By row, how many records.
    pub n_alike: &'a [u64],
    /// By row, the number of the person whose it is, where people are counted.
    pub people: Option<&'a [u32]>,
}

impl Whose<'_> {
    /// By value, how many records have it; or how many people, where it is known whose each record is.
    pub fn n_having(&self, values: &[u32], n_values: usize) -> Vec<u64> {
        let mut n_having = vec![0; n_values];
        match self.people {
            None => values.iter().zip(self.n_alike).for_each(|(&value, n)| n_having[value as usize] += n),
            Some(people) => {
                let mut pairs: Vec<(u32, u32)> = values.iter().copied().zip(people.iter().copied()).collect();
                pairs.sort_unstable();
                pairs.dedup();
                pairs.iter().for_each(|(value, _)| n_having[*value as usize] += 1);
            }
        }
        n_having
    }
}
