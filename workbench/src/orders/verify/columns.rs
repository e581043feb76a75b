//! The columns of a release, and the attributes that they were made of.

use incrowd::Hierarchy;

use crate::input::project::Project;

/// By column of a release, the attribute that it was made of, and which of its columns it is; none where it is of no
/// attribute.
pub(super) fn columns_of(columns: &[String], hierarchies: &[Hierarchy]) -> Option<Vec<(usize, usize)>> {
    let place = |name: &str| hierarchies.iter().position(|known| known.attribute() == name);
    let ends = [("_low", 0), ("_high", 1)];
    let of_end = |column: &str| ends.iter().find_map(|(end, n)| Some((place(column.strip_suffix(end)?)?, *n)));
    columns.iter().map(|column| place(column).map(|a| (a, 0)).or_else(|| of_end(column))).collect()
}

/// By attribute, whether a release has the lowest and the highest value of it instead.
pub fn in_two_columns(columns: &[String], hierarchies: &[Hierarchy]) -> Vec<bool> {
    hierarchies.iter().map(|known| !columns.iter().any(|column| column == known.attribute())).collect()
}

/// By column of a release, its place among those of all attributes in their order.
pub(super) fn places_of(columns: &[String], hierarchies: &[Hierarchy]) -> Option<Vec<usize>> {
    let in_two_columns = in_two_columns(columns, hierarchies);
    let n_before = |a: usize| in_two_columns[..a].iter().map(|two| 1 + usize::from(*two)).sum::<usize>();
    let columns = columns_of(columns, hierarchies)?;
    Some(columns.into_iter().map(|(a, end)| n_before(a) + end).collect())
}

/// The attributes of a project that columns of a release were made of: `age` of `age_low` and `age_high` too.
pub(super) fn attributes_of(columns: &[String], project: &Project) -> Vec<String> {
    let is_known = |name: &str| project.attributes.iter().any(|attribute| attribute.name == name);
    let of_pair = |column: &String| {
        let name = ["_low", "_high"].into_iter().find_map(|end| column.strip_suffix(end))?;
        let has_both = ["_low", "_high"].into_iter().all(|end| columns.contains(&format!("{name}{end}")));
        (has_both && is_known(name) && !is_known(column)).then(|| name.to_string())
    };
    let mut attributes: Vec<String> =
        columns.iter().map(|column| of_pair(column).unwrap_or_else(|| column.clone())).collect();
    // Two columns of an attribute follow each other.
    attributes.dedup();
    attributes
}
