//! The command line: which commands there are, and what they have in common.

pub mod terminal;
pub mod plain;
pub mod arguments;
pub mod init;
pub mod profile;
pub mod hierarchy;
pub mod count;
pub mod annotate;
pub mod negotiate;
pub mod frontier;
pub mod negotiate_local;
mod compare_utility;
pub mod compare;
pub mod verify;
pub mod attack;
pub mod risk;
pub mod map;
pub mod publish;
pub mod demo;
pub mod histogram;
pub mod study_lattice;
pub mod study_suppression;
pub mod study_requests;
pub mod study_local;
pub mod study_records;
pub mod study;
pub mod serve;
pub mod help;
pub mod man;

use clap::{CommandFactory, Parser, Subcommand};
use incrowd::Result;

use crate::cli::terminal::{Exit, Terminal, to_stdout};

/// Anonymizes tables: k-anonymity, l-diversity, t-closeness and more.
///
/// incrowd answers whether a table can be published with at least this much privacy, at most this much
/// generalization and at most this many records lost; makes the nearest three offers where it cannot;
/// publishes what was agreed; and proves from the published file alone that it keeps the promise.
#[derive(Debug, Parser)]
#[command(name = "incrowd", version, propagate_version = true, arg_required_else_help = true)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Exit status: 0 done, 1 the answer is no, 2 error, or not judged.

A first session:
  incrowd init patients.csv           suggest roles and hierarchies, to be edited
  incrowd profile                     which columns could identify someone?
  incrowd negotiate --k 10 --max-suppressed 1%
  incrowd publish --k 10 --max-suppressed 1% -o release.csv
  incrowd verify release.csv

See it on made-up data first: incrowd demo, or incrowd serve for the page.
Read about a topic: incrowd help topics")]
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
    Init(init::Args),
    /// See what each column looks like and how many records are unique
    Profile(profile::Args),
    #[command(subcommand)]
    Hierarchy(hierarchy::Args),
    Count(count::Args),
    Annotate(annotate::Args),
    Negotiate(negotiate::Args),
    Frontier(frontier::Args),
    Compare(compare::Args),
    Publish(publish::Args),
    Verify(verify::Args),
    Attack(attack::Args),
    Risk(risk::Args),
    Map(map::Args),
    Histogram(histogram::Args),
    #[command(subcommand)]
    Study(study::Args),
    Serve(serve::Args),
    Demo(demo::Args),
    /// Print a completion script for your shell
    #[command(after_help = "\
Examples:
  incrowd completions bash > ~/.local/share/bash-completion/completions/incrowd
  incrowd completions zsh > ~/.zfunc/_incrowd
  incrowd completions fish > ~/.config/fish/completions/incrowd.fish")]
    Completions {
        shell: clap_complete::Shell,
    },
    Man(man::Args),
    Help(help::Args),
}

/// Runs one command.
pub fn dispatch(command: &Command, terminal: &Terminal) -> Result<Exit> {
    match command {
        Command::Init(args) => init::run(args, terminal),
        Command::Profile(args) => profile::run(args, terminal),
        Command::Hierarchy(args) => hierarchy::run(args, terminal),
        Command::Count(args) => count::run(args, terminal),
        Command::Annotate(args) => annotate::run(args, terminal),
        Command::Negotiate(args) if args.local => negotiate_local::run(args, terminal),
        Command::Negotiate(args) => negotiate::run(args, terminal),
        Command::Frontier(args) if args.local => negotiate_local::run_frontier(args, terminal),
        Command::Frontier(args) => frontier::run(args, terminal),
        Command::Compare(args) => compare::run(args, terminal),
        Command::Publish(args) => publish::run(args, terminal),
        Command::Verify(args) => verify::run(args, terminal),
        Command::Attack(args) => attack::run(args, terminal),
        Command::Risk(args) => risk::run(args, terminal),
        Command::Map(args) => map::run(args, terminal),
        Command::Histogram(args) => histogram::run(args, terminal),
        Command::Study(args) => study::run(args, terminal),
        Command::Serve(args) => serve::run(args, terminal),
        Command::Demo(args) => demo::run(args, terminal),
        Command::Man(args) => man::run(args, terminal),
        Command::Help(args) => help::run(args, terminal),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "incrowd", &mut script);
            to_stdout(&String::from_utf8(script).expect("a script is text"));
            Ok(Exit::Done)
        }
    }
}
