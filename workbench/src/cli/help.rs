//! `incrowd help`: what a command takes, and what a topic is about, from the documents that lie in `docs/`.

use clap::{Command, CommandFactory};
use incrowd::error::unknown;
use incrowd::{ErrorKind, Result};

use super::Cli;
use super::plain::plain;
use super::terminal::{Exit, Terminal, to_stdout};

/// What can be read about, beside commands.
pub struct Topic {
    pub name: &'static str,
    /// In Markdown, as it lies in `docs/`.
    pub document: &'static str,
}

impl Topic {
    /// The document's first heading.
    pub fn title(&self) -> &'static str {
        self.document.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

macro_rules! topics {
    ($($name:literal),* $(,)?) => {
        [$(Topic { name: $name, document: include_str!(concat!(env!("INCROWD_DOCS"), "/", $name, ".md")) }),*]
    };
}

/// Every topic, in the order in which somebody may need them.
pub static TOPICS: &[Topic] = &topics![
    "choosing",
    "criteria",
    "glossary",
    "project-file",
    "hierarchies",
    "missing-values",
    "files",
    "cells",
    "people",
    "repeating-identifiers",
    "databases",
    "scale",
    "lattices",
    "lattice-format",
    "local-recoding",
    "negotiating-local-recoding",
    "dealing",
    "risk-and-utility",
    "comparing",
    "analyses",
    "beside-the-promise",
    "certificate",
    "reading-the-report",
    "verifying",
    "guarantees",
    "threat-model",
    "page",
    "fronts",
    "json",
    "json-schemes",
    "faq",
    "other-tools",
];

/// Explain a command or a topic; `incrowd help topics` lists these
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd help publish          what a command takes
  incrowd help topics           what there is to read about
  incrowd help criteria         k, l, t and the others: what each promises, with its formula")]
pub struct Args {
    /// A command, with its own after it, or a topic
    pub words: Vec<String>,
}

/// How wide a topic is set.
const WIDTH: usize = 100;

pub fn run(args: &Args, _: &Terminal) -> Result<Exit> {
    to_stdout(&help_on(&args.words)?);
    Ok(Exit::Done)
}

fn help_on(words: &[String]) -> Result<String> {
    let mut program = Cli::command();
    program.build();
    let Some(first) = words.first() else {
        return Ok(format!("{}\n\n{}", program.render_long_help(), topics()));
    };
    if first == "topics" {
        return Ok(topics());
    }
    if let Some(command) = words.iter().try_fold(&program, |command, word| command.find_subcommand(word)) {
        return Ok(format!("{}\n", command.clone().render_long_help()));
    }
    match TOPICS.iter().find(|topic| topic.name == first) {
        Some(topic) => Ok(plain(topic.document, WIDTH)),
        None => {
            let commands = program.get_subcommands().map(Command::get_name);
            let known: Vec<&str> = commands.chain(TOPICS.iter().map(|topic| topic.name)).collect();
            Err(unknown(ErrorKind::Request, "command or topic", &words.join(" "), &known))
        }
    }
}

fn topics() -> String {
    let width = TOPICS.iter().map(|topic| topic.name.len()).max().unwrap_or(0);
    let line = |topic: &Topic| format!("  {:width$}  {}\n", topic.name, topic.title());
    format!("Topics (incrowd help TOPIC):\n{}", TOPICS.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn every_topic_and_every_command_has_its_help() {
        for topic in TOPICS {
            let text = help_on(&[topic.name.to_string()]).expect("a topic");
            assert!(text.starts_with(&topic.title().to_uppercase()) && text.len() > 300, "{}", topic.name);
            assert!(!text.contains("]("), "{} shows where a link leads", topic.name);
        }
        for command in Cli::command().get_subcommands() {
            assert!(!TOPICS.iter().any(|topic| topic.name == command.get_name()), "{}", command.get_name());
            assert!(help_on(&[command.get_name().to_string()]).expect("a command").contains("Usage:"));
        }
        assert!(help_on(&["study".into(), "deal".into()]).expect("a command").contains("--frequencies"));
        let text = help_on(&["criterai".into()]).expect_err("neither").to_string();
        assert!(text.contains("criteria"), "{text}");
    }

    /// The words of a command line up to what a shell would take for something else, or to two blanks, behind which a
    /// line says what its example does.
    fn words_of(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote, mut before) = (Vec::new(), None::<String>, None, ' ');
        for c in line.trim().chars() {
            match (c, quote) {
                (c, Some(open)) if c == open => quote = None,
                ('\'' | '"', None) => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (';' | '|' | '>' | '#', None) => break,
                (' ', None) if before == ' ' => break,
                (' ', None) => words.extend(word.take()),
                (c, _) => word.get_or_insert_default().push(c),
            }
            before = c;
        }
        words.extend(word);
        words
    }

    #[test]
    fn every_command_has_three_examples_that_it_would_take() {
        let mut n_commands = 0;
        let mut open = vec![Cli::command()];
        while let Some(command) = open.pop() {
            let text = command.get_after_help().map(|help| help.to_string()).unwrap_or_default();
            let examples: Vec<&str> = text.lines().filter(|line| line.starts_with("  incrowd ")).collect();
            assert!(examples.len() >= 3, "{} has {} examples", command.get_name(), examples.len());
            for example in examples {
                if let Err(error) = Cli::try_parse_from(words_of(example)) {
                    panic!("{example}: {error}");
                }
            }
            n_commands += 1;
            open.extend(command.get_subcommands().cloned());
        }
        assert!(n_commands > 20);
        assert_eq!(words_of("a --b 'c. D' ''  what it does"), ["a", "--b", "c. D", ""]);
    }
}
