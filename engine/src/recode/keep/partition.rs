//! The classes that a method makes where every one of them is to keep every criterion.

use rayon::prelude::*;

use crate::error::Result;
use crate::recode::keep::cuts::{self, Cutter};
use crate::recode::keep::enough::{Demand, Scale, is_enough};
use crate::recode::keep::mondrian;
use crate::recode::keep::unite::Judged;
use crate::recode::method::{Assignment, Method};
use crate::recode::mondrian::Cut;
use crate::recode::partition::{CellStyle, Part, Partition};
use crate::recode::space::Space;
use crate::task::Task;

/// Puts all records into classes that keep every criterion, also those that a reader takes for one because their cells
/// are the same.
///
/// The criteria of dealt classes are not looked at.
///
/// # Guarantee
/// Every class keeps every criterion, and so does every published group; unless there is one class only, of which
/// whoever asks has to look whether it does. Where records are counted, no classes at all keep the criteria then; where
/// people are counted, none were found.
/// The classes depend on the assignment, the demand and the style alone.
///
/// # Errors
/// As for [`Method::partition`], and where the yardstick does not measure a criterion.
pub fn partition(
    method: Method,
    assignment: &Assignment,
    demand: &Demand,
    style: CellStyle,
    task: &Task,
) -> Result<Partition> {
    let &Assignment { counts, hierarchies, weights, least, .. } = assignment;
    let plain = method.partition(assignment, task)?;
    if method.is_dealing() || counts.sensitive().is_empty() {
        return Ok(plain);
    }
    let is_enough = |parts: &[Part]| is_enough(counts, demand, parts);
    let scale = Scale::new(counts, demand)?;
    let space = Space::new(counts, hierarchies, weights)?;
    let cutter = Cutter { space: &space, scale: &scale, k: least.k };
    let parts = plain.by_cells(counts);
    let mut found = match parts.par_iter().all(|parts| is_enough(parts)) {
        true => plain,
        false => {
            let all = || cuts::put_together(parts.concat());
            let classes = match method {
                _ if !demand.yardstick.is_over_people() && !is_enough(&all()) => vec![all()],
                Method::Mondrian => mondrian::classes(&cutter, all(), Cut::Strict, task)?,
                Method::MondrianRelaxed => mondrian::classes(&cutter, all(), Cut::Relaxed, task)?,
                _ => Judged::new(&cutter, parts).settled(true, task)?.shared(task)?.into_parts(),
            };
            Partition::keeping(classes, is_enough)
        }
    };
    // Until no two classes that look alike miss something together.
    loop {
        let alike = found.alike(counts, hierarchies, style, task)?;
        if alike.len() == found.n_classes() {
            return Ok(found);
        }
        let parts = found.by_cells(counts);
        let together =
            |classes: &Vec<usize>| cuts::put_together(classes.iter().flat_map(|&i| parts[i].clone()).collect());
        let united: Vec<Vec<Part>> = alike.iter().map(together).collect();
        if united.par_iter().all(|parts| is_enough(parts)) {
            return Ok(found);
        }
        let classes = Judged::new(&cutter, united).settled(false, task)?.into_parts();
        found = Partition::keeping(classes, is_enough);
    }
}
