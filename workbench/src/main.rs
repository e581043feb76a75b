//! The program `incrowd`.

use std::process::ExitCode;

use clap::Parser;
use incrowd_workbench::cli::terminal::{Exit, Terminal, to_stderr, to_stdout};
use incrowd_workbench::cli::{Cli, Command, dispatch};
use incrowd_workbench::input::source::quiet_guarded_panics;
use incrowd_workbench::output::signals;
use incrowd_workbench::sentences::{error_for_command_line, for_command_line};
use serde_json::json;

fn main() -> ExitCode {
    quiet_guarded_panics();
    let cli = Cli::try_parse().unwrap_or_else(|error| {
        if error.use_stderr() && std::env::args().any(|argument| argument == "--json") {
            let message = error.to_string();
            let message = message.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let hint = "see --help";
            to_stdout(&format!(
                "{:#}\n",
                json!({ "error": { "kind": "usage", "message": message, "position": null, "hint": hint } })
            ));
        }
        error.exit()
    });
    let terminal = Terminal { is_json: cli.json, is_quiet: cli.quiet };
    // The server has its own way to end, as has whoever uses the crate in a program of their own.
    if !matches!(cli.command, Command::Serve(_)) {
        signals::take_over(|name, named| match named {
            Ok(()) => to_stderr(format_args!("{name} was published before the program was told to end")),
            Err(error) => to_stderr(format_args!("error: {}", error_for_command_line(error))),
        });
    }
    match dispatch(&cli.command, &terminal) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(1),
        Ok(Exit::NotKnown) => ExitCode::from(2),
        Err(error) => {
            terminal.json(&json!({
                "error": {
                    "kind": error.kind().name(),
                    "message": for_command_line(error.message()),
                    "position": error.position().map(for_command_line),
                    "hint": error.hint_given().map(for_command_line),
                }
            }));
            to_stderr(format_args!("error: {}", error_for_command_line(&error)));
            ExitCode::from(2)
        }
    }
}
