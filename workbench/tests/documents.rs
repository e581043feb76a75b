//! What is written down is true: links lead somewhere, and commands on the examples print what the documents show.

use std::path::{Path, PathBuf};

use crate::support::Folder;

/// Every document that a reader of the repository meets.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let folders = ["", "docs", "examples", "examples/nightly", "examples/elsewhere", "python", "bench"];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    found.sort();
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workbench is in the repository").to_path_buf()
}

/// The lines of a document that are not in a block of code.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    text.lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
        .collect()
}

/// Where the links of a document lead.
fn links(text: &str) -> Vec<&str> {
    prose(text)
        .into_iter()
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

/// The anchors of a document's headings, as forges make them.
fn anchors(text: &str) -> Vec<String> {
    prose(text)
        .into_iter()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')))
        .map(anchor)
        .collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let mut broken = Vec::new();
    let mut n_links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a readable document");
        for link in links(&text) {
            n_links += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { document.clone() } else { document.parent().expect("a folder").join(file) };
            let is_there = match std::fs::read_to_string(&target) {
                Ok(text) if !heading.is_empty() => anchors(&text).contains(&heading.to_owned()),
                Ok(_) => true,
                Err(_) => heading.is_empty() && target.exists(),
            };
            if !is_there {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
    assert!(n_links > 100, "only {n_links} links were found");
}

/// A command of a document and what it is said to print.
struct Shown {
    place: String,
    command: String,
    printed: Vec<String>,
}

/// The commands of a document on the examples that are shipped, or on what such a command has published.
fn shown(document: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(document).expect("a readable document");
    let mut found: Vec<Shown> = Vec::new();
    let mut is_console = false;
    for (n, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if is_console && let Some(command) = line.strip_prefix("$ ") {
            let place = format!("{}:{}", document.display(), n + 1);
            found.push(Shown { place, command: command.to_owned(), printed: Vec::new() });
        } else if is_console && let Some(last) = found.last_mut() {
            last.printed.push(line.to_owned());
        }
    }
    let is_ours = |command: &str| {
        command.starts_with("incrowd ")
            && ["ten_records", "not_monotone", "philosophers"].iter().any(|name| command.contains(name))
    };
    found.retain(|shown| is_ours(&shown.command) && shown.printed.iter().any(|line| !line.is_empty()));
    found
}

/// Whether a command printed what a document shows, where a line of `…` stands for any lines.
fn agree(shown: &[String], printed: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    match first.trim() {
        "…" => (0..=printed.len()).any(|n_skipped| agree(rest, &printed[n_skipped..])),
        _ => printed.first().is_some_and(|line| line.trim_end() == first.trim_end()) && agree(rest, &printed[1..]),
    }
}

#[test]
fn commands_on_the_examples_print_what_the_documents_show() {
    let folder = Folder::new();
    for example in ["ten_records", "not_monotone"] {
        copy(&root().join("examples").join(example), &folder.join("examples").join(example));
    }
    std::fs::create_dir_all(folder.join("target")).expect("a writable folder");
    let documents = documents();
    // The README publishes what others look at.
    let (first, others): (Vec<_>, Vec<_>) =
        documents.iter().partition(|document| **document == root().join("README.md"));
    let mut n_run = 0;
    for shown in first.into_iter().chain(others).flat_map(|document| shown(document)) {
        let words: Vec<&str> = shown.command.split_whitespace().skip(1).take_while(|word| *word != "#").collect();
        let output = folder.command(&words).output().expect("incrowd starts");
        let printed = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("a text")).concat();
        let lines: Vec<&str> = printed.lines().collect();
        let end = shown.printed.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        let last = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
        assert!(agree(&shown.printed[..end], &lines[..last]), "{}: {} prints\n{printed}", shown.place, shown.command);
        n_run += 1;
    }
    assert!(n_run >= 8, "only {n_run} commands were found");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a writable folder");
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a readable file");
        }
    }
}

#[test]
fn whatever_is_told_to_be_made_can_be_made() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    let is_target =
        |name: &str| makefile.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
    let mut texts =
        vec![("a workflow", std::fs::read_to_string(root().join(".github/workflows/ci.yml")).expect("a workflow"))];
    texts.push(("the README", std::fs::read_to_string(root().join("README.md")).expect("a README")));
    texts.push(("CONTRIBUTING", std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("a document")));
    for (place, text) in texts {
        // Commands stand behind a prompt, between back quotes or behind `run:`.
        let told: Vec<&str> =
            ["$ make ", "`make ", "run: make "].iter().flat_map(|start| text.split(start).skip(1)).collect();
        assert!(!told.is_empty(), "{place} names no target");
        for rest in told {
            let name = rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().expect("a first part");
            assert!(is_target(name), "{place} says make {name}, which the Makefile does not know");
        }
    }
}
