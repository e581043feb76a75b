//! The command line: which commands there are, and what they have in common.

use clap::{CommandFactory, Parser, Subcommand};
use incrowd::Result;

use crate::commands;
use crate::talk::{Exit, Talk, to_stdout};

/// Hide every record in a crowd, and haggle over what that costs.
///
/// incrowd answers whether a table can be published with at least this much privacy, at most this much
/// generalization and at most this many records lost; offers the nearest three bargains where it cannot;
/// publishes what was agreed; and proves from the published file alone that it keeps the promise.
#[derive(Debug, Parser)]
#[command(name = "incrowd", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
Exit status: 0 done, 1 the answer is no, 2 error, or not judged.

A first session:
  incrowd init patients.csv           suggest roles and hierarchies, to be edited
  incrowd profile                     which columns could identify someone?
  incrowd negotiate --k 10 --max-suppressed 1%
  incrowd publish --k 10 --max-suppressed 1% -o release.csv
  incrowd verify release.csv

See it on made-up data first: incrowd demo, or incrowd serve for the page")]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Print one JSON document on stdout and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// Print no notes and no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Suggest a project file for a table, with the reason for every guess
    Init(commands::init::Args),
    /// See what each column looks like and how many records are unique
    Profile(commands::profile::Args),
    #[command(subcommand)]
    Hierarchy(commands::hierarchy::Args),
    Count(commands::count::Args),
    Annotate(commands::annotate::Args),
    Negotiate(commands::negotiate::Args),
    Frontier(commands::frontier::Args),
    Compare(commands::compare::Args),
    Publish(commands::publish::Args),
    Verify(commands::verify::Args),
    Attack(commands::attack::Args),
    Risk(commands::risk::Args),
    Map(commands::map::Args),
    #[command(subcommand)]
    Study(commands::study::Args),
    Serve(commands::serve::Args),
    Demo(commands::demo::Args),
    /// Print a completion script for your shell
    #[command(after_help = "\
Examples:
  incrowd completions bash > ~/.local/share/bash-completion/completions/incrowd
  incrowd completions zsh > ~/.zfunc/_incrowd
  incrowd completions fish > ~/.config/fish/completions/incrowd.fish")]
    Completions {
        shell: clap_complete::Shell,
    },
}

/// Runs one command.
pub fn dispatch(command: &Command, talk: &Talk) -> Result<Exit> {
    match command {
        Command::Init(args) => commands::init::run(args, talk),
        Command::Profile(args) => commands::profile::run(args, talk),
        Command::Hierarchy(args) => commands::hierarchy::run(args, talk),
        Command::Count(args) => commands::count::run(args, talk),
        Command::Annotate(args) => commands::annotate::run(args, talk),
        Command::Negotiate(args) => commands::negotiate::run(args, talk),
        Command::Frontier(args) => commands::frontier::run(args, talk),
        Command::Compare(args) => commands::compare::run(args, talk),
        Command::Publish(args) => commands::publish::run(args, talk),
        Command::Verify(args) => commands::verify::run(args, talk),
        Command::Attack(args) => commands::attack::run(args, talk),
        Command::Risk(args) => commands::risk::run(args, talk),
        Command::Map(args) => commands::map::run(args, talk),
        Command::Study(args) => commands::study::run(args, talk),
        Command::Serve(args) => commands::serve::run(args, talk),
        Command::Demo(args) => commands::demo::run(args, talk),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "incrowd", &mut script);
            to_stdout(&String::from_utf8(script).expect("a script is text"));
            Ok(Exit::Done)
        }
    }
}
