//! Growing the tree from below, stage by stage.
//!
//! A stage is bottom-up local recoding whose records are the groups of the stage before: those below k records join the
//! ones with which least is lost, what has 2k records is divided between them, and neighbours share them anew. So the groups
//! of every stage are unions of those of the stage before, and all stages together are one tree.

use crate::counts::{GroupCounts, number};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::recode::partition::Part;
use crate::recode::settle::{Choose, N_NEAR, settle, share_anew};
use crate::recode::space::Space;
use crate::recode::tree::atoms::Atoms;
use crate::recode::tree::shape::{Shape, Sprout, unite};
use crate::task::Task;

/// Each stage asks for so many times the records of the stage before, or for one more.
const RATIO: f64 = std::f64::consts::SQRT_2;

/// The sizes that groups have at the end of each stage: 2, 3, 4, 5, 7, 10, 14, 20, 28, …, and last all records.
fn stages(n_records: u64) -> impl Iterator<Item = u64> {
    let sizes = (1..).map(|i| (5.0 * RATIO.powi(i - 4)).round() as u64).skip_while(|k| *k < 2);
    let mut before = 1;
    let sizes = std::iter::once(2).chain([3, 4]).chain(sizes.skip_while(|k| *k < 5));
    let mut increasing = sizes.filter(move |k| std::mem::replace(&mut before, *k) < *k);
    std::iter::from_fn(move || increasing.next()).take_while(move |k| *k < n_records).chain([n_records])
}

impl Shape {
    /// Makes a tree of all records.
    pub(crate) fn grow(counts: &GroupCounts, hierarchies: &[Hierarchy], weights: &[f64], task: &Task) -> Result<Shape> {
        counts.check_hierarchies(hierarchies)?;
        if hierarchies.is_empty() || counts.n_groups() == 0 {
            let message = "there is nothing to make a tree of groups from";
            return Err(Error::new(ErrorKind::Request, message).hint("name a quasi-identifier, and give records"));
        }
        let space = Space::new(counts, hierarchies, weights)?;
        let n_groups = counts.n_groups();
        let mut sprouts: Vec<Sprout> = (0..number(n_groups)).map(Sprout::Leaf).collect();
        // The groups of the last stage, with how many records they have and one box after the other.
        let mut groups: Vec<(u32, u64)> = (0..n_groups).map(|base| (number(base), counts.size(base))).collect();
        let mut sides: Vec<_> = (0..number(n_groups)).flat_map(|base| space.point(base)).collect();
        // Every record is told of when its group is large enough for the next stage: the last has all of them.
        let silent = Task { progress: &|_| (), ..*task };
        for k in stages(counts.n_records()) {
            if groups.len() == 1 {
                break;
            }
            if groups.iter().all(|(_, n_records)| *n_records >= k) {
                continue;
            }
            task.go_on()?;
            let mut atoms = Atoms { space: &space, sides, k };
            let part =
                |(atom, (_, n_records)): (u32, &(u32, u64))| Part { base: atom, value: None, n_records: *n_records };
            let singles = (0..).zip(&groups).map(|of_atom| vec![part(of_atom)]).collect();
            let mut classes = settle::<N_NEAR, _>(&mut atoms, singles, Choose::Nearest, &silent)?;
            share_anew(&mut classes, &mut atoms, &silent)?;
            let mut next_sides = Vec::new();
            let mut next: Vec<(u32, u64)> = Vec::new();
            for mut parts in classes.into_parts() {
                parts.sort_unstable();
                let n_records = parts.iter().map(|part| part.n_records).sum();
                let node = joined(&mut sprouts, &atoms, &parts, &groups);
                let mut around = atoms.box_of(parts[0].base).to_vec();
                parts[1..].iter().for_each(|part| unite(&mut around, atoms.box_of(part.base)));
                next_sides.extend(around);
                next.push((node, n_records));
            }
            (groups, sides) = (next, next_sides);
        }
        (task.progress)(counts.n_records());
        Ok(Shape::new(&sprouts, groups[0].0, counts, &space))
    }
}

/// Groups of more atoms than this become one node; in smaller ones the two that are nearest become one first.
const N_BY_TWO: usize = 24;

/// Makes one node of the atoms of a group, with nodes for some of them together on the way.
fn joined(sprouts: &mut Vec<Sprout>, atoms: &Atoms, parts: &[Part], groups: &[(u32, u64)]) -> u32 {
    let mut union = |children: Vec<u32>| {
        sprouts.push(Sprout::Union(children));
        number(sprouts.len() - 1)
    };
    let node = |part: &Part| groups[part.base as usize].0;
    match parts {
        [one] => return node(one),
        _ if parts.len() > N_BY_TWO => return union(parts.iter().map(node).collect()),
        _ => {}
    }
    let space = atoms.space;
    let of_part = |part: &Part| (node(part), part.n_records, atoms.box_of(part.base).to_vec());
    let mut open: Vec<_> = parts.iter().map(of_part).collect();
    while open.len() > 1 {
        let mut nearest = (u64::MAX, 0, 0);
        for j in 1..open.len() {
            for i in 0..j {
                let ((_, n_one, one), (_, n_other, other)) = (&open[i], &open[j]);
                let together = (n_one + n_other) * space.cost_of_union(one, other);
                let added = together - n_one * space.cost(one) - n_other * space.cost(other);
                nearest = nearest.min((added, i, j));
            }
        }
        let (_, i, j) = nearest;
        let (other, n_other, more) = open.remove(j);
        let (one, n_one, sides) = &mut open[i];
        *one = union(vec![*one, other]);
        *n_one += n_other;
        unite(sides, &more);
    }
    open[0].0
}

#[cfg(test)]
mod tests {
    use super::stages;

    #[test]
    fn stages_grow_by_half_or_so() {
        let sizes: Vec<u64> = stages(1_000).collect();
        assert_eq!(sizes, [2, 3, 4, 5, 7, 10, 14, 20, 28, 40, 57, 80, 113, 160, 226, 320, 453, 640, 905, 1_000]);
        assert_eq!(stages(2).collect::<Vec<_>>(), [2]);
        assert_eq!(stages(1).collect::<Vec<_>>(), [1]);
    }
}
