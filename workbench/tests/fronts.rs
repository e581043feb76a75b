//! The table of verbs and fronts in the documentation says what there is.

use std::collections::BTreeSet;

use clap::CommandFactory;
use incrowd_workbench::cli::Cli;
use incrowd_workbench::words::verbs::VERBS;

/// The cells of the table: the verb, and what the command line, HTTP and Python call it.
fn rows() -> Vec<[String; 4]> {
    let text = std::fs::read_to_string("../docs/fronts.md").expect("the documentation");
    let lines = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| verb"));
    lines
        .map(|line| {
            let cells: Vec<String> = line.trim_matches('|').split('|').map(|cell| cell.trim().to_string()).collect();
            cells.try_into().expect("four cells")
        })
        .collect()
}

fn between_ticks(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn the_command_line_has_what_the_table_says() {
    let command = Cli::command();
    let mut named = BTreeSet::new();
    for [_, cell, ..] in rows() {
        let words: Vec<&str> = between_ticks(&cell)[0].split(' ').collect();
        let found = command.find_subcommand(words[1]).unwrap_or_else(|| panic!("there is no {cell}"));
        named.insert(words[1].to_string());
        if let Some(flag) = words.get(2) {
            let has = found.get_arguments().any(|argument| argument.get_long() == Some(flag.trim_start_matches('-')));
            assert!(has, "{cell}");
        }
    }
    // What makes no order: the page, the demo, and the shell's own.
    let others = ["serve", "demo", "completions", "help", "man"];
    let all = command.get_subcommands().map(|known| known.get_name().to_string());
    let missing: Vec<String> = all.filter(|name| !named.contains(name) && !others.contains(&name.as_str())).collect();
    assert!(missing.is_empty(), "the table lacks {missing:?}");
}

#[test]
fn http_has_what_the_table_says() {
    let document: serde_json::Value = serde_json::from_str(include_str!("../src/serve/openapi.json")).expect("JSON");
    let mut named = BTreeSet::new();
    for [_, _, cell, _] in rows().into_iter().filter(|row| row[2] != "–") {
        let path = between_ticks(&cell)[0].strip_prefix("POST ").expect("a question").to_string();
        match path.strip_prefix("/api/v1/orders/") {
            Some(verb) => {
                assert!(VERBS.contains(&verb), "{cell}");
                named.insert(verb.to_string());
            }
            None => assert!(document["paths"][&path]["post"].is_object(), "{cell}"),
        }
    }
    assert_eq!(named, VERBS.into_iter().map(String::from).collect(), "every verb is in the table");
    let described = &document["paths"]["/api/v1/orders/{verb}"]["post"]["parameters"][0]["schema"]["enum"];
    assert_eq!(described, &serde_json::json!(VERBS));
}
