//! What is published of records that were generalized one by one, and how they are grouped afterwards.

use rustc_hash::FxHashMap;

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::recode::per_record::problem::Problem;
use crate::recode::{Cell, Ends, Recoding, Share, Span, numbered};
use crate::table::Code;

/// Says what is published of each record, where every group of equal records has its own levels.
///
/// # Guarantee
/// Every record is published, with the labels of its own values at its own levels. How many share them is not looked at:
/// the release is not k-anonymous.
///
/// # Panics
/// Where there are not levels of every attribute for every group of the counts.
pub fn recode(counts: &GroupCounts, hierarchies: &[Hierarchy], levels: &[Vec<u8>]) -> Recoding {
    let labels = |a: usize, base: usize| {
        let level = levels[base][a];
        (level, hierarchies[a].level(usize::from(level)).of_base()[counts.codes(base)[a].index()])
    };
    let bases = 0..counts.n_groups();
    let mut columns = Vec::with_capacity(hierarchies.len());
    let mut cells = Vec::with_capacity(hierarchies.len());
    for (a, hierarchy) in hierarchies.iter().enumerate() {
        let ends = Ends::new(hierarchy);
        let (column, n_cells) = numbered(bases.clone().map(|base| labels(a, base)));
        let mut of_attribute = vec![None; n_cells];
        for (base, &number) in column.iter().enumerate() {
            of_attribute[number as usize].get_or_insert_with(|| {
                let (level, code) = labels(a, base);
                let text = hierarchy.level(usize::from(level)).labels()[code.index()].clone();
                let is_missing = hierarchy.is_missing(usize::from(level), code);
                Cell::new(text, is_missing, Span::Label(level, code), &ends)
            });
        }
        columns.push(column);
        cells.push(of_attribute.into_iter().map(|cell| cell.expect("every number has a cell")).collect());
    }
    let row = |base: usize| columns.iter().map(|column| column[base]).collect::<Vec<u32>>();
    let (groups, n_groups) = numbered(bases.clone().map(row));
    let mut rows = vec![Vec::new(); n_groups];
    for base in bases.clone().rev() {
        rows[groups[base] as usize] = row(base);
    }
    let share = |base: usize| vec![Share { cell: None, group: Some(groups[base]), n_records: counts.size(base) }];
    let is_exact = (0..hierarchies.len()).map(|a| levels.iter().all(|levels| levels[a] == 0)).collect();
    Recoding::new(bases.map(share), cells, rows, is_exact)
}

/// Generalizes records further until every group of a release has at least k of them; of people, where these are counted.
///
/// Groups that are too small climb: each raises the attribute whose next label loses the least utility, and those that
/// have become alike are one group, until all are large enough or `*` everywhere. If those are too few, the smallest of
/// the others join them.
///
/// # Guarantee
/// Every group of the release has k records, where the table has. No level is lower than before.
///
/// # Errors
/// Where the table has fewer than k records, or k is 0.
pub fn grouped(problem: &Problem, counts: &GroupCounts, mut levels: Vec<Vec<u8>>, k: u64) -> Result<Vec<Vec<u8>>> {
    let crowd = counts.crowd();
    if k == 0 || k > crowd.n() {
        let message = format!("groups of {k} {} cannot be made of {}", crowd.word(), crowd.n());
        let hint = format!("ask for a k from 2 to the number of {}", crowd.word());
        return Err(Error::new(ErrorKind::Request, message).hint(hint));
    }
    let people = counts.people_in_groups();
    let size_of = |bases: &[usize]| match &people {
        Some(people) => {
            let mut who: Vec<u32> = bases.iter().flat_map(|&base| people[base].iter().copied()).collect();
            who.sort_unstable();
            who.dedup();
            who.len() as u64
        }
        None => bases.iter().map(|&base| counts.size(base)).sum(),
    };
    let label = |a: usize, base: usize, level: u8| {
        problem.hierarchies[a].level(usize::from(level)).of_base()[counts.codes(base)[a].index()]
    };
    let tops: Vec<u8> = problem.hierarchies.iter().map(|hierarchy| hierarchy.top() as u8).collect();
    loop {
        let cells = |base: usize| -> Vec<(u8, Code)> {
            levels[base].iter().enumerate().map(|(a, &level)| (level, label(a, base, level))).collect()
        };
        let mut groups: FxHashMap<Vec<(u8, Code)>, (u64, Vec<usize>)> = FxHashMap::default();
        (0..counts.n_groups()).for_each(|base| groups.entry(cells(base)).or_default().1.push(base));
        groups.values_mut().for_each(|(size, bases)| *size = size_of(bases));
        let mut small: Vec<(u64, Vec<usize>)> = groups.values().filter(|(size, _)| *size < k).cloned().collect();
        if small.is_empty() {
            return Ok(levels);
        }
        let is_top = |bases: &Vec<usize>| levels[bases[0]] == tops;
        if small.iter().all(|(_, bases)| is_top(bases)) {
            // Too few are `*` everywhere, and nobody else is too few: the smallest of the others comes along.
            let others = groups.values().filter(|(_, bases)| !is_top(bases));
            let (_, bases) = others.min_by_key(|(size, bases)| (*size, bases[0])).expect("the table has k records");
            small = vec![(0, bases.clone())];
            small[0].1.iter().for_each(|&base| levels[base].clone_from(&tops));
            continue;
        }
        for (_, bases) in small {
            // All of a group have the same labels, and so does the next label above.
            let base = bases[0];
            let lost = |a: &usize| {
                let level = levels[base][*a];
                let utility = |level: u8| problem.utility[*a][usize::from(level)][label(*a, base, level).index()];
                utility(level) - utility(level + 1)
            };
            let can_climb = (0..tops.len()).filter(|&a| levels[base][a] < tops[a]);
            if let Some(a) = can_climb.min_by_key(|a| (lost(a), *a)) {
                bases.iter().for_each(|&base| levels[base][a] += 1);
            }
        }
    }
}
