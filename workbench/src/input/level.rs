//! A level of a hierarchy, as a project names it: by its number or by its name.

use incrowd::{Error, ErrorKind, Hierarchy, Result};

/// A level of a hierarchy, as someone wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LevelSaid {
    Number(usize),
    Name(String),
}

impl LevelSaid {
    /// The level that is meant, which is neither the value itself nor the top, where all are alike; `key` is what it was said
    /// under.
    pub fn of(&self, hierarchy: &Hierarchy, key: &str) -> Result<usize> {
        let between = 1..hierarchy.top();
        let named = |name: &String| (0..hierarchy.n_levels()).find(|level| hierarchy.level(*level).name() == name);
        let level = match self {
            LevelSaid::Number(level) => Some(*level),
            LevelSaid::Name(name) => named(name),
        };
        level.filter(|level| between.contains(level)).ok_or_else(|| {
            let said = match self {
                LevelSaid::Number(level) => level.to_string(),
                LevelSaid::Name(name) => format!("'{name}'"),
            };
            let known: Vec<String> =
                between.map(|level| format!("{level} ('{}')", hierarchy.level(level).name())).collect();
            let known = match known.is_empty() {
                true => "its hierarchy has no level between the value and the top".to_string(),
                false => format!("its hierarchy has {}", known.join(", ")),
            };
            let attribute = hierarchy.attribute();
            Error::new(ErrorKind::Project, format!("attributes.{attribute}.{key} is {said}: {known}"))
                .hint(format!("name one of the levels, or leave {key} out"))
        })
    }
}
