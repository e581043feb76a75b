//! Fronts stand on one floor: none uses another, and what decides knows none of them.

use std::path::{Path, PathBuf};

/// The sources below a folder, or one file.
fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_path_buf()];
    }
    let entries = std::fs::read_dir(path).unwrap_or_else(|_| panic!("there is no {}", path.display()));
    let mut files: Vec<PathBuf> = entries.flat_map(|entry| sources(&entry.expect("readable").path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    files
}

/// Code without comments and tests.
fn code_of(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or("");
    code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every line of the code below a path that has one of these words.
fn uses(path: &str, words: &[&str]) -> Vec<String> {
    uses_but(path, words, &[])
}

/// The same, but for some files.
fn uses_but(path: &str, words: &[&str], allowed: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut files = sources(Path::new(path));
    assert!(!files.is_empty(), "{path}");
    for allowed in allowed {
        let n_files = files.len();
        files.retain(|file| file != Path::new(allowed));
        assert_eq!(files.len() + 1, n_files, "{allowed} is not there, or needs no leave");
    }
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        for line in code_of(&text).lines().filter(|line| words.iter().any(|word| line.contains(word))) {
            found.push(format!("{}: {}", file.display(), line.trim()));
        }
    }
    found
}

#[track_caller]
fn assert_none(found: Vec<String>) {
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_front_uses_another() {
    assert_none(uses("src/serve", &["cli::"]));
    assert_none(uses("../python/src", &["cli::", "clap"]));
    assert_none(uses("src/cli", &["pyo3"]));
}

#[test]
fn what_stands_below_the_fronts_uses_none_of_them() {
    for folder in ["src/input", "src/output", "src/orders", "src/words"] {
        assert_none(uses(folder, &["cli::", "serve::"]));
    }
}

#[test]
fn orders_know_no_flags_no_http_and_no_terminal() {
    for folder in ["src/input", "src/output", "src/orders"] {
        assert_none(uses(
            folder,
            &["clap::", "axum::", "indicatif::", "println!", "std::io::stdout", "std::io::stderr"],
        ));
    }
}

/// Results are values; what they look like as JSON is the business of `words`, and of the engine's `wire` for the
/// certificate, which orders fill in and read by typed calls.
#[test]
fn orders_know_no_json() {
    let words = ["serde_json", "json!", ".as_object()", ".as_u64()"];
    for path in ["src/orders", "src/note.rs", "src/sentences.rs", "src/work.rs"] {
        assert_none(uses(path, &words));
    }
    // The footer of a saved lattice is JSON by its format; the sample is of the report's tests.
    let allowed = ["src/output/lattice_header.rs", "src/output/report/sample.rs"];
    assert_none(uses_but("src/output", &words, &allowed));
    // What pandas writes into a Parquet file is JSON, and so are the codes that a column's metadata hold.
    assert_none(uses_but("src/input", &words, &["src/input/source/mod.rs", "src/input/source/said.rs"]));
}
