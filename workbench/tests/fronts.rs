//! The table of verbs and fronts in the documentation says what there is.

use std::collections::BTreeSet;

use clap::CommandFactory;
use incrowd::{Measure, Method};
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

/// The orders that all fronts are held to meet everything that there is: every verb and every method on every table, and every
/// method with every criterion.
#[test]
fn the_shared_orders_leave_nothing_out() {
    let read = |name: &str| -> serde_json::Value {
        let text = std::fs::read_to_string(format!("tests/{name}")).expect("a table of orders");
        serde_json::from_str(&text).expect("JSON")
    };
    let (orders, odd) = (read("orders.json"), read("odd_tables.json"));
    let mut met = BTreeSet::new();
    for order in orders.as_array().expect("a list") {
        let table = order["table"].as_str().unwrap_or("people");
        met.insert(format!("{} on {table}", order["verb"].as_str().expect("a verb")));
        if order["verb"] == "publish" {
            let method = order["order"]["method"].as_str().unwrap_or("global");
            met.insert(format!("{method} on {table}"));
            // Of these two nothing is made for k = 3, so that nothing else is looked at.
            let keys = order["order"].as_object().expect("an order").keys().filter(|_| !table.ends_with(" record"));
            met.extend(keys.map(|key| format!("{method} with {}", key.rsplit(':').next().unwrap_or(key))));
        }
    }
    let tables: Vec<&str> = odd.as_object().expect("tables by name").keys().map(String::as_str).collect();
    let methods: Vec<&str> = Method::ALL.map(Method::name).into_iter().chain(["global", "per-record"]).collect();
    let mut missing = Vec::new();
    for table in tables.into_iter().chain(["people", "patients", "delivery"]) {
        missing.extend(VERBS.iter().chain(&methods).map(|what| format!("{what} on {table}")));
    }
    for method in methods {
        missing.extend(Measure::ALL.map(|measure| format!("{method} with {}", measure.name())));
    }
    missing.retain(|what| !met.contains(what));
    assert!(missing.is_empty(), "no shared order has {missing:?}");
}
