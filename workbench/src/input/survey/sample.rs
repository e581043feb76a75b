//! Small tables for the tests of the survey, and a naive reader's counts of them.

use std::collections::HashMap;

use incrowd::Missing;

use super::look::{Survey, survey};
use crate::input::source::{ReadOptions, Source};
use crate::input::tally::mixed;
use crate::work::Work;

pub(super) fn table(text: &str) -> (tempfile::TempDir, Source) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("table.csv");
    std::fs::write(&path, text).expect("a writable folder");
    let source = Source::open(&path, &ReadOptions::default()).expect("a readable table");
    (folder, source)
}

pub(super) fn look(text: &str, missing: Option<&Missing>) -> Survey {
    let (_folder, source) = table(text);
    survey(&source, missing, &Work::default()).expect("a table that can be surveyed")
}

pub(super) fn tokens(tokens: &[&str], drop_records: bool) -> Missing {
    Missing { tokens: tokens.iter().map(|token| token.to_string()).collect(), drop_records, ..Missing::default() }
}

/// A table of `n` records with few, many and missing values, from a seed.
pub(super) fn random_table(seed: u64, n: usize) -> String {
    let mut state = seed;
    let mut below = |n: u64| {
        state = mixed(state.wrapping_add(0x9e37_79b9_7f4a_7c15));
        state % n
    };
    let mut text = String::from("a,b,c\n");
    for _ in 0..n {
        let a = ["x", "y", "?", ""][below(4) as usize];
        let b = match below(5) {
            0 => "?".to_string(),
            _ => below(n as u64 + 1).to_string(),
        };
        text.push_str(&format!("{a},{b},{}\n", below(3)));
    }
    text
}

pub(super) fn records(text: &str) -> Vec<Vec<String>> {
    text.lines().skip(1).map(|line| line.split(',').map(String::from).collect()).collect()
}

pub(super) fn counts<K: std::hash::Hash + Eq>(keys: impl Iterator<Item = K>) -> HashMap<K, u64> {
    keys.fold(HashMap::new(), |mut counts, key| {
        *counts.entry(key).or_default() += 1;
        counts
    })
}

pub(super) fn n_once<K>(counts: &HashMap<K, u64>) -> u64 {
    counts.values().filter(|n| **n == 1).count() as u64
}
