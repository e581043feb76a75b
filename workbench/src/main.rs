//! The program `incrowd`.

use std::process::ExitCode;

use clap::Parser;
use incrowd_workbench::cli::{Cli, dispatch};
use incrowd_workbench::talk::{Exit, Talk};
use serde_json::json;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        if error.use_stderr() && std::env::args().any(|argument| argument == "--json") {
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let hint = "see --help";
            println!(
                "{:#}",
                json!({ "error": { "kind": "usage", "message": message, "position": null, "hint": hint } })
            );
        }
        error.exit()
    });
    let talk = Talk { is_json: cli.json, is_quiet: cli.quiet };
    match dispatch(&cli.command, &talk) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(1),
        Err(error) => {
            talk.json(&json!({
                "error": {
                    "kind": error.kind().name(),
                    "message": error.message(),
                    "position": error.position(),
                    "hint": error.hint_text(),
                }
            }));
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
