//! Saving: the project file and the hierarchies that go with it, all of them or none, and nothing replaced unasked.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use incrowd::{Error, ErrorKind, Result};

use super::document::{HIERARCHIES, to_files};
use super::safety::Folder;
use crate::input::project::{FILE_NAME, Project};
use crate::output::staged::{Staged, write_whole};

/// A file to write, by its name within the served folder.
struct File {
    name: String,
    path: PathBuf,
    content: String,
    /// What it says now, if it is there.
    before: Option<Vec<u8>>,
}

/// Writes a project and what was imported for it.
pub fn save_project(project: &Project, document: &serde_json::Value, folder: &Folder, replace: bool) -> Result<()> {
    let file = folder.to_write(FILE_NAME)?;
    // The comments to keep are those of the file that is there, whoever wrote them meanwhile.
    let known = std::fs::read_to_string(&file).unwrap_or_else(|_| project.text.clone());
    let (text, imported) = to_files(document, &known)?;
    let made = match imported.is_empty() {
        true => None,
        false => make_folder(folder)?,
    };
    let saved = (|| {
        // Two attributes may share a file. The project file comes last: what it names is there by then.
        let imported: BTreeMap<String, String> = imported.into_iter().map(|one| (one.path, one.text)).collect();
        let contents = imported.into_iter().chain([(FILE_NAME.to_string(), text)]);
        let files = contents.map(|(name, content)| File::new(name, content, folder));
        write_all(files.collect::<Result<Vec<_>>>()?, replace)
    })();
    if let (Err(_), Some(made)) = (&saved, made) {
        // Only where it is empty, as it was made.
        let _ = std::fs::remove_dir(made);
    }
    saved
}

/// The folder of imported hierarchies, where it was not there.
fn make_folder(folder: &Folder) -> Result<Option<PathBuf>> {
    let path = folder.root().join(HIERARCHIES);
    match std::fs::create_dir(&path) {
        Ok(()) => Ok(Some(path)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(crate::io_error(&path, error)),
    }
}

impl File {
    fn new(name: String, content: String, folder: &Folder) -> Result<File> {
        let path = folder.to_write(&name)?;
        let before = match std::fs::read(&path) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(crate::io_error(Path::new(&name), error)),
        };
        Ok(File { name, path, content, before })
    }

    /// Puts back what was there.
    fn take_back(&self) {
        let _ = match &self.before {
            Some(before) => write_whole(&self.path, before, true),
            None => std::fs::remove_file(&self.path).map_err(|error| crate::io_error(&self.path, error)),
        };
    }
}

/// Writes all files or none; one that says the same already is left alone.
fn write_all(files: Vec<File>, replace: bool) -> Result<()> {
    let new = files.into_iter().filter(|file| file.before.as_deref() != Some(file.content.as_bytes()));
    let new: Vec<File> = new.collect();
    let there: Vec<&str> = new.iter().filter(|file| file.before.is_some()).map(|file| file.name.as_str()).collect();
    if !replace && !there.is_empty() {
        let verb = if there.len() == 1 { "is" } else { "are" };
        return Err(Error::new(ErrorKind::Io, format!("{} {verb} there already", there.join(" and ")))
            .at(there.join(", "))
            .hint("save it again with replace: true"));
    }
    let stage = |file: &File| {
        let staged = Staged::create(&file.path)?;
        staged.file().write_all(file.content.as_bytes()).map_err(|error| crate::io_error(&file.path, error))?;
        staged.sync()?;
        Ok(staged)
    };
    let staged = new.iter().map(stage).collect::<Result<Vec<Staged>>>()?;
    for (i, staged) in staged.into_iter().enumerate() {
        if let Err(error) = staged.commit(replace) {
            new[..i].iter().for_each(File::take_back);
            return Err(error);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_files_are_written_or_none() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(root.path(), Vec::new()).expect("it is there");
        let at = |name: &str| root.path().join(name);
        std::fs::write(at("a.csv"), "old").expect("writable");
        std::fs::create_dir(at("c.csv")).expect("writable");
        let file = |name: &str| File {
            before: std::fs::read(at(name)).ok(),
            name: name.to_string(),
            path: folder.to_write(name).expect("within the folder"),
            content: "new".to_string(),
        };
        // The last cannot be written: it is a folder.
        for replace in [true, false] {
            assert!(write_all(vec![file("a.csv"), file("b.csv"), file("c.csv")], replace).is_err());
            assert_eq!(std::fs::read_to_string(at("a.csv")).expect("there"), "old");
            assert!(!at("b.csv").exists());
        }
        let refused = write_all(vec![file("b.csv"), file("a.csv")], false).expect_err("a.csv is there");
        assert_eq!(refused.to_string().lines().next(), Some("a.csv: a.csv is there already"));
        assert!(!at("b.csv").exists());
        write_all(vec![file("b.csv"), file("a.csv")], true).expect("it may be replaced");
        write_all(vec![file("b.csv"), file("a.csv")], false).expect("it is the same");
        assert_eq!(std::fs::read_to_string(at("a.csv")).expect("there"), "new");
    }
}
