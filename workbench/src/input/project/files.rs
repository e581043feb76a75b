//! The files that a project names: read, told to others, and never written over.

use std::path::{Component, Path, PathBuf};

use incrowd::{Error, ErrorKind, Result};

use crate::input::project::Project;
use crate::sentences::hint;

impl Project {
    /// Refuses to write over what the project is made of: its data, its population, its hierarchies and its own file.
    ///
    /// Nobody means that, so that no flag allows it.
    pub fn check_output(&self, path: &Path) -> Result<()> {
        let files = self.attributes.iter().filter_map(|attribute| attribute.hierarchy_file.as_ref());
        let named = files.map(|(name, _)| name).chain([&self.data]).chain(&self.population);
        let database = self.database.as_ref().and_then(|place| place.file(&self.folder));
        let sources: Vec<PathBuf> =
            named.map(|name| self.folder.join(name)).chain([self.file.clone()]).chain(database).collect();
        check_not_among(path, &sources)
    }
}

/// Refuses a file that would replace one of these, or join one that is a folder.
pub fn check_not_among(path: &Path, sources: &[PathBuf]) -> Result<()> {
    let is_same = |a: &Path, b: &Path| a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_touched = |source: &PathBuf| is_same(path, source) || source.is_dir() && is_same(folder, source);
    match sources.iter().any(is_touched) {
        true => Err(Error::new(ErrorKind::Request, "would replace or join what it is made of")
            .at(path.display().to_string())
            .hint(hint("give {output} another name, in another folder than the data's"))),
        false => Ok(()),
    }
}

/// What others are told of a file that a project names: where it is within the project's folder, or its bare name, for a
/// path tells about the machine.
pub fn shown_name(folder: &Path, name: &str) -> String {
    let path = Path::new(name);
    let within = if path.is_absolute() { path.strip_prefix(folder).unwrap_or(path) } else { path };
    match within.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        true => within.display().to_string(),
        false => path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    }
}

pub(super) fn read_text(path: &Path, kind: ErrorKind) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|error| crate::io_error(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
        Error::new(kind, "is not UTF-8").at(format!("{}:{line}", path.display())).hint("save the file as UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_told_no_path_that_leads_to_the_project() {
        let cases = [
            ("age.csv", "age.csv"),
            ("hierarchies/age.csv", "hierarchies/age.csv"),
            ("./hierarchies/age.csv", "./hierarchies/age.csv"),
            ("../age.csv", "age.csv"),
            ("hierarchies/../../secret/age.csv", "age.csv"),
            ("/home/me/study/age.csv", "age.csv"),
            ("/home/me/study/hierarchies/age.csv", "hierarchies/age.csv"),
            ("/home/me/study/../other/age.csv", "age.csv"),
            ("/elsewhere/age.csv", "age.csv"),
            ("hierarchy of 'age'", "hierarchy of 'age'"),
        ];
        for (name, shown) in cases {
            assert_eq!(shown_name(Path::new("/home/me/study"), name), shown);
        }
        for folder in ["", ".", "/"] {
            assert!(!shown_name(Path::new(folder), "/home/me/age.csv").starts_with('/'), "{folder}");
        }
        assert_eq!(shown_name(Path::new(""), "/home/me/age.csv"), "age.csv");
    }
}
