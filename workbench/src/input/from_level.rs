//! Attributes that a database counts by labels instead of values, because their values make more combinations than there
//! is memory for.
//!
//! The values of each such attribute are asked for on their own, their labels are made here, and a small table of them is
//! joined where the database counts. All that follows begins at that level: for every scheme from there on, groups and
//! sizes are those of the values.

use std::collections::HashMap;
use std::sync::Arc;

use incrowd::hierarchy::{ANY, LabelTable};
use incrowd::table::Domain;
use incrowd::wire::FromLevel;
use incrowd::{Error, ErrorKind, Hierarchy, Result, Role, Rule};

use crate::input::count::count_source;
use crate::input::database::place::ColumnLabels;
use crate::input::level::LevelSaid;
use crate::input::project::{FirstLevel, Project};
use crate::sentences::hint;
use crate::work::Work;

/// The same project where the database counts these attributes by the labels of a level, named by its number or name.
///
/// # Errors
/// Where that cannot be, or would not give the same groups as values do.
pub fn from_level(project: Project, levels: &[(String, String)], work: &Work) -> Result<Project> {
    levels.iter().try_fold(project, |project, (name, level)| from_level_of(project, name, level, work))
}

/// The same as a certificate says that it was done.
pub fn as_certified<'a>(
    project: Project,
    levels: impl IntoIterator<Item = (&'a String, &'a FromLevel)>,
    work: &Work,
) -> Result<Project> {
    let said = levels.into_iter().map(|(name, from)| (name.clone(), from.level.to_string()));
    from_level(project, &said.collect::<Vec<_>>(), work)
}

fn from_level_of(mut project: Project, name: &str, level: &str, work: &Work) -> Result<Project> {
    let refuse = |what: &str, advice| Err(Error::new(ErrorKind::Request, what.to_string()).hint(advice));
    let leave_out = || hint("leave out {from_level}");
    if project.database.is_none() || project.frame.is_some() || project.counted.is_some() {
        return refuse("only a database counts labels in place of values, and the data are in none", leave_out());
    }
    if project.max_records_per_person.is_some() {
        return refuse("which records of a person are kept depends on values, and labels are asked for", leave_out());
    }
    let attribute = project.attribute(name)?;
    if attribute.role != Role::QuasiIdentifier || attribute.from_level.is_some() {
        return refuse(&format!("attribute '{name}' is no quasi-identifier, or is named twice"), leave_out());
    }
    let source = project.source()?;
    if source.is_treated(name) {
        return refuse(&format!("cells of '{name}' are replaced or rewritten before they are counted"), leave_out());
    }
    let counts = count_source(&source, &[name], &[], &[], &project.missing, work)?;
    let domain = &counts.domains()[0];
    let hierarchy = attribute.rule.resolve(domain).map_err(|error| error.or_at(project.data.clone()))?;
    let said = level.parse().map_or_else(|_| LevelSaid::Name(level.to_string()), LevelSaid::Number);
    let level = said.of(&hierarchy, "from_level")?;
    if let Some(missing) = domain.missing() {
        let label = hierarchy.level(level).of_base()[missing.index()];
        if !hierarchy.is_missing(level, label) {
            return refuse(&format!("the hierarchy of '{name}' has a label for no value at that level"), leave_out());
        }
    }
    let values = hierarchy.level(level);
    let first = FirstLevel { level, name: values.name().to_string(), phrase: values.phrase().to_string() };
    let labels = domain.present().map(|(code, value)| (value.to_string(), values.label_of(code.index()).to_string()));
    let labels = ColumnLabels { column: name.to_string(), labels: Arc::new(labels.collect()) };
    let rule = rule_from(&hierarchy, level, domain)?;

    let said = format!(" from level {level} of {name}");
    project.content.push_str(&said);
    for (_, most) in project.request.max_level.iter_mut().filter(|(known, _)| known == name) {
        // A level by its number is one of the whole hierarchy; names stay what they are.
        if let Ok(number) = most.parse::<usize>() {
            *most = number.checked_sub(level).map(|number| number.to_string()).ok_or_else(|| {
                Error::new(ErrorKind::Request, format!("the project wants '{name}' at level {number} or below"))
                    .hint(hint("leave out {from_level}, or give it that level"))
            })?;
        }
    }
    let attribute = project.attributes.iter_mut().find(|known| known.name == name).expect("it was just found");
    attribute.hierarchy_text.push_str(&said);
    (attribute.rule, attribute.from_level) = (rule, Some(first));
    project.database.as_mut().expect("it has one").labels.push(labels);
    Ok(project)
}

/// The levels from one on, over its labels.
fn rule_from(hierarchy: &Hierarchy, level: usize, domain: &Domain) -> Result<Rule> {
    let mut rows: HashMap<&str, Vec<String>> = HashMap::new();
    for base in 0..domain.len() {
        let row = || (level..hierarchy.top()).map(|level| hierarchy.level(level).label_of(base).to_string());
        rows.entry(hierarchy.level(level).label_of(base)).or_insert_with(|| row().chain([ANY.to_string()]).collect());
    }
    let mut rows: Vec<(u64, Vec<String>)> = rows.into_values().map(|row| (0, row)).collect();
    rows.sort_unstable();
    let names = (level + 1..hierarchy.top()).map(|level| hierarchy.level(level).name().to_string()).collect();
    Rule::Table(LabelTable::new(&format!("the levels of '{}'", hierarchy.attribute()), rows)?).named(names)
}
