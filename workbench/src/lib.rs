//! The workbench around the engine: files, projects and the command line.
//!
//! Modules stand in reading order; each uses only those above it.

use std::path::Path;

use incrowd::{Error, ErrorKind};

pub mod sentences;
pub mod memory;
pub mod note;
pub mod work;
pub mod input;
pub mod output;
pub mod orders;
pub mod words;
pub mod demo_data;
pub mod serve;
pub mod cli;

/// What the operating system refused, and for which file.
pub fn io_error(path: &Path, error: std::io::Error) -> Error {
    let message = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        std::io::ErrorKind::StorageFull => "the disk is full".to_string(),
        std::io::ErrorKind::IsADirectory => "is a folder, not a file".to_string(),
        _ => error.to_string(),
    };
    let hint = match error.kind() {
        std::io::ErrorKind::NotFound => {
            "check the path; it is relative to the project file, or to where the command runs"
        }
        std::io::ErrorKind::PermissionDenied => "ask for the right to read or write it",
        std::io::ErrorKind::StorageFull => "free some space, or write elsewhere",
        _ => return Error::new(ErrorKind::Io, message).at(path.display().to_string()).because(error),
    };
    Error::new(ErrorKind::Io, message).at(path.display().to_string()).hint(hint).because(error)
}
