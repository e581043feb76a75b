//! Modules stand in reading order: each uses only those declared above it.

use std::path::{Path, PathBuf};

/// The names after `before` in a text, up to what cannot be part of a name.
fn names_after<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    let name = |rest: &'a str| rest.split(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    text.split(before).skip(1).map(name).filter(|name| !name.is_empty()).collect()
}

/// Code without comments and tests, without what is handed on (`pub use`) and without spaces where they say nothing.
fn code_of(source: &str) -> String {
    let code = source.split("#[cfg(test)]").next().unwrap_or("");
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let code: String = lines.collect::<Vec<_>>().join("\n");
    assert!(!code.contains("crate::{"), "name the modules one by one, so that this test can read them");
    assert!(!code.contains("super::super"), "say crate:: instead");
    let statements = code.split_inclusive(';');
    statements.filter(|statement| !statement.trim_start().starts_with("pub use ")).collect()
}

/// What a source uses of this crate or of one of its modules: the names after `crate::`, or `crate::lattice::`.
fn used_names(source: &str, of: &str) -> Vec<String> {
    names_after(&code_of(source), of).into_iter().map(String::from).collect()
}

/// The name in `pub mod name;`, `pub(crate) mod name;` or `mod name;`.
fn declared_module(line: &str) -> Option<&str> {
    let (before, name) = line.strip_suffix(';')?.split_once("mod ")?;
    matches!(before, "" | "pub " | "pub(crate) ").then_some(name)
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.expect("readable").path()) {
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The module that a file belongs to: `recode/global.rs` is part of `recode`.
fn module_of(file: &Path, folder: &Path) -> String {
    let relative = file.strip_prefix(folder).expect("found there");
    let first = relative.components().next().expect("a file").as_os_str();
    first.to_str().expect("an ASCII name").trim_end_matches(".rs").to_string()
}

/// What is wrong with the order: a line per use of a module that does not stand above.
fn violations(order: &[&str], module: &str, source: &str) -> Vec<String> {
    let place = |name: &str| order.iter().position(|known| *known == name);
    let Some(here) = place(module) else {
        return vec![format!("{module} is not declared in lib.rs")];
    };
    // The parts of a module have an order of their own.
    let is_allowed = |used: &String| used == module || place(used).is_some_and(|there| there < here);
    let wrong = used_names(source, "crate::").into_iter().filter(|used| !is_allowed(used));
    wrong.map(|used| format!("{module} uses {used}, which does not stand above it")).collect()
}

/// The same among the parts of a module: `path` is `crate::lattice::`, `order` its parts. What the module itself says
/// stands above all parts, so that it uses none, but for handing on what they have.
fn violations_among_parts(order: &[&str], path: &str, part: Option<&str>, source: &str) -> Vec<String> {
    let place = |name: &str| order.iter().position(|known| *known == name);
    let here = match part {
        None => 0,
        Some(part) => match place(part) {
            Some(here) => here,
            None => return vec![format!("{path}{part} is not declared")],
        },
    };
    let name = part.unwrap_or("itself");
    let used = used_names(source, path).into_iter().filter(|used| Some(used.as_str()) != part);
    let wrong = used.filter(|used| place(used).is_some_and(|there| there >= here));
    let mut wrong: Vec<String> =
        wrong.map(|used| format!("{path}{name} uses {used}, which does not stand above it")).collect();
    if part.is_none() {
        let code = code_of(source);
        let uses = |name: &&&str| code.contains(&format!(" {name}::"));
        wrong.extend(order.iter().filter(uses).map(|used| format!("{path}{name} uses {used}, which is a part of it")));
    }
    wrong
}

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).expect("a text")
}

/// The parts that a file declares.
fn parts_of(source: &str) -> Vec<&str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or("");
    code.lines().filter_map(declared_module).collect()
}

#[test]
fn every_module_uses_only_modules_declared_above_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = text(&folder.join("lib.rs"));
    // Whether the outside may see a module or not, it has its place.
    let order = parts_of(&lib);
    assert!(order.len() >= 10 && order[0] == "error", "{order:?}");
    let mut wrong = Vec::new();
    for file in source_files(&folder).into_iter().filter(|file| !file.ends_with("lib.rs")) {
        wrong.extend(violations(&order, &module_of(&file, &folder), &text(&file)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_part_of_a_module_uses_only_parts_declared_above_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut wrong, mut n_parts) = (Vec::new(), 0);
    for file in source_files(&folder).into_iter().filter(|file| file.ends_with("mod.rs")) {
        let home = file.parent().expect("a folder");
        let names = home.strip_prefix(&folder).expect("found there").iter();
        let path: String = names.map(|name| format!("{}::", name.to_str().expect("an ASCII name"))).collect();
        let path = format!("crate::{path}");
        let source = text(&file);
        let order = parts_of(&source);
        wrong.extend(violations_among_parts(&order, &path, None, &source));
        for part in source_files(home).into_iter().filter(|part| *part != file) {
            wrong.extend(violations_among_parts(&order, &path, Some(&module_of(&part, home)), &text(&part)));
            n_parts += 1;
        }
    }
    assert!(n_parts >= 30, "{n_parts} parts were found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_use_of_a_module_further_down_is_found() {
    let order = ["error", "table", "recode"];
    let check =
        |module: &str, source: &str, n: usize| assert_eq!(violations(&order, module, source).len(), n, "{source}");
    check("table", "use crate::error::{Error, Result};", 0);
    check("table", "use crate::recode::Recoding;", 1);
    check("error", "fn f() { let x: crate::table::Code = crate::recode::g(); }", 2);
    check("recode", "use crate::recode::Recoding;\nuse crate::table::Code;", 0);
    check("table", "use crate::unheard_of::Thing;", 1);
    check("table", "/// See [`crate::recode`].\nfn f() {}", 0);
    check("table", "#[cfg(test)]\nmod tests { use crate::recode::Recoding; }", 0);
    check("ledger", "", 1);
    let declared = ["pub mod table;", "mod table;", "pub(crate) mod table;"].map(declared_module);
    assert_eq!(declared, [Some("table"); 3]);
    assert_eq!(["pub use table::Code;", "// mod table", "mod tests {"].map(declared_module), [None; 3]);
}

#[test]
fn a_use_of_a_part_further_down_is_found() {
    let order = ["profile", "walk", "saved"];
    let check = |part: Option<&str>, source: &str, n: usize| {
        assert_eq!(violations_among_parts(&order, "crate::lattice::", part, source).len(), n, "{source}");
    };
    check(Some("walk"), "use crate::lattice::profile::Profile;", 0);
    check(Some("walk"), "use crate::lattice::saved::save;", 1);
    check(Some("walk"), "use crate::lattice::walk::Changed;", 0);
    check(Some("walk"), "use crate::lattice::Lattice;\nuse crate::table::Code;", 0);
    check(Some("hidden"), "", 1);
    check(None, "mod walk;\npub use walk::Walk;", 0);
    check(None, "use crate::lattice::profile::Profile;", 1);
    check(None, "mod walk;\nfn f() { walk::walk() }", 1);
}

/// The heart has no way to the outside: no files, no sockets, no clock, no environment, no printing.
#[test]
fn the_engine_touches_nothing_but_its_arguments() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in source_files(&folder) {
        let source = std::fs::read_to_string(&file).expect("a text");
        let code = source.split("#[cfg(test)]").next().unwrap_or("");
        for outside in ["std::fs", "std::net", "std::env", "std::time", "std::process", "println!", "print!(", "dbg!"] {
            assert!(!code.contains(outside), "{} mentions {outside}", file.display());
        }
    }
}

/// How a setting is given is the business of whoever asks: no flag, no key of the project file and no command is named.
#[test]
fn the_engine_names_no_flag_and_no_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let is_flag = |text: &str| text.starts_with(|c: char| c.is_ascii_lowercase());
    for file in source_files(&folder).into_iter().filter(|file| !file.ends_with("lib.rs")) {
        let code = code_of(&text(&file));
        assert!(!code.split("--").skip(1).any(is_flag), "{} names a flag", file.display());
        for outside in ["incrowd.toml", "[data]", "[request]", "incrowd annotate", "incrowd hierarchy", "incrowd init"]
        {
            assert!(!code.contains(outside), "{} names {outside}", file.display());
        }
    }
}
