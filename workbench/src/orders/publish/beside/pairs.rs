//! Two columns that tell something together.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use incrowd::Result;

use super::columns::KeptColumn;
use crate::note::Telling;

/// No more columns than this are looked at in pairs.
const N_COLUMNS_OF_PAIRS: usize = 8;

/// Pairs of columns with few values, and of such a column and a published quasi-identifier; without columns that tell
/// nearly everything by themselves.
pub fn pairs<'a>(
    columns: &'a [KeptColumn],
    singly: &[Option<Telling>],
    partners: impl Iterator<Item = &'a KeptColumn> + Clone,
) -> Vec<(&'a KeptColumn, &'a KeptColumn)> {
    let is_certain = |telling: &Option<Telling>| telling.as_ref().is_some_and(|telling| telling.is_nearly_certain);
    let few = columns.iter().zip(singly).filter(|(column, telling)| column.has_few_values() && !is_certain(telling));
    let mut few: Vec<&KeptColumn> = few.map(|(column, _)| column).collect();
    few.sort_by_key(|column| column.is_shared.len());
    few.truncate(N_COLUMNS_OF_PAIRS);
    let of = |(i, column): (usize, &&'a KeptColumn)| {
        let others = few[i + 1..].iter().copied().chain(partners.clone());
        others.map(|other| (*column, other)).collect::<Vec<_>>()
    };
    few.iter().enumerate().flat_map(of).collect()
}

/// How much something tells: whether nearly everything, and how many records it leaves among fewer than k.
pub type Bound = (bool, u64);

/// The pairs that tell nearly everything, or something where neither column alone does; each column in its worst pair.
///
/// By pair, `bounds` are what it tells at most, if anything; `tell` says what it tells, which takes the time, and is asked
/// only of pairs that may be worth it.
pub fn worth_telling(
    pairs: &[(&KeptColumn, &KeptColumn)],
    bounds: &[Option<Bound>],
    singly: &[Telling],
    mut tell: impl FnMut(usize) -> Result<Option<Telling>>,
) -> Result<Vec<Telling>> {
    let mut open: BinaryHeap<(Bound, Reverse<usize>, bool)> =
        bounds.iter().enumerate().filter_map(|(i, bound)| bound.map(|bound| (bound, Reverse(i), false))).collect();
    let mut known: Vec<Option<Telling>> = pairs.iter().map(|_| None).collect();
    let mut worth: Vec<Telling> = Vec::new();
    // The pair on top is the worst of all once it is known what it tells.
    while let Some((_, Reverse(i), is_known)) = open.pop() {
        let (one, other) = pairs[i];
        let names_one =
            |telling: &Telling| one.names.iter().chain(&other.names).any(|name| telling.columns.contains(name));
        if worth.iter().any(names_one) {
            continue;
        }
        if is_known {
            let telling = known[i].take().expect("it was told");
            if telling.is_nearly_certain || !singly.iter().any(names_one) {
                worth.push(telling);
            }
        } else if let Some(telling) = tell(i)? {
            open.push(((telling.is_nearly_certain, telling.n_below), Reverse(i), true));
            known[i] = Some(telling);
        }
    }
    Ok(worth)
}
