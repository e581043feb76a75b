//! Mondrian's cuts, each of them only where both halves keep every criterion.

use crate::error::Result;
use crate::recode::keep::cuts::{Cutter, atoms};
use crate::recode::mondrian::Cut;
use crate::recode::partition::{Part, put_together};
use crate::task::Task;

/// Sets of fewer parts are cut by one thread.
const N_PARALLEL: usize = 2_048;

/// Cuts some records in two, at the middle of the widest attribute where that will do, again and again.
pub(crate) fn classes(cutter: &Cutter, parts: Vec<Part>, cut: Cut, task: &Task) -> Result<Vec<Vec<Part>>> {
    let space = cutter.space;
    let sides = space.around(parts.iter().map(|part| part.base));
    let width = |a: usize| space.axes[a].cost(sides[a].0, sides[a].1);
    let mut axes: Vec<usize> = (0..sides.len()).filter(|&a| sides[a].0 < sides[a].1).collect();
    axes.sort_by_key(|&a| (std::cmp::Reverse(width(a)), a));
    for axis in axes {
        task.go_on()?;
        let Some([first, second]) = halves(cutter, &parts, axis, cut == Cut::Relaxed)? else { continue };
        let is_large = parts.len() >= N_PARALLEL;
        let (first, second) = match is_large {
            true => rayon::join(|| classes(cutter, first, cut, task), || classes(cutter, second, cut, task)),
            false => (classes(cutter, first, cut, task), classes(cutter, second, cut, task)),
        };
        let mut found = first?;
        found.extend(second?);
        return Ok(found);
    }
    Ok(vec![parts])
}

/// Divides a class at the place of one axis that is nearest to its middle record and leaves two that keep everything, as
/// [`crate::recode::divide::Divider::halves`] does it for k and l.
fn halves(cutter: &Cutter, parts: &[Part], axis: usize, both_ways: bool) -> Result<Option<[Vec<Part>; 2]>> {
    let n_records: u64 = parts.iter().map(|part| part.n_records).sum();
    if n_records < 2 * cutter.k {
        return Ok(None);
    }
    let of_axis = &cutter.space.axes[axis];
    let atoms = atoms(parts, n_records);
    let line = cutter.in_order(&atoms, &|base| i64::from(cutter.space.places(base)[axis]));
    let place = |at: usize| cutter.space.places(atoms[line[at] as usize].0.base)[axis];
    let whole = of_axis.cost(place(0), place(line.len() - 1));
    // Whether it is a last resort, how far from halves, and where.
    let mut cuts: Vec<(bool, u64, usize)> = Vec::new();
    let (mut n_below, mut is_past_middle) = (0, false);
    for at in 1..line.len() {
        n_below += atoms[line[at - 1] as usize].0.n_records;
        let n_above = n_records - n_below;
        if n_below < cutter.k || n_above < cutter.k {
            continue;
        }
        let (low, high) = (place(at - 1), place(at));
        // A cut within a label changes nothing about what is published of either side.
        if low < high && (of_axis.is_numeric || of_axis.cost(low, high) == whole) {
            cuts.push((false, n_below.abs_diff(n_above), at));
        } else if both_ways && n_below >= n_above && !is_past_middle {
            cuts.push((!of_axis.is_numeric, n_below.abs_diff(n_above), at));
        }
        is_past_middle = is_past_middle || n_below >= n_above;
    }
    let places: Vec<usize> = cuts.iter().map(|cut| cut.2).collect();
    let keeps = cutter.keeping(&line, &atoms, &places)?;
    let kept = cuts.into_iter().zip(keeps).filter(|(_, keeps)| *keeps).map(|(cut, _)| cut);
    let Some((_, _, at)) = kept.min() else { return Ok(None) };
    let (low, high) = line.split_at(at);
    let parts_of = |line: &[u32]| put_together(line.iter().map(|&atom| atoms[atom as usize].0).collect());
    Ok(Some([parts_of(low), parts_of(high)]))
}
