//! `incrowd man`: the manual pages, of every command and every topic, from what `help` says.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use incrowd::Result;
use serde_json::json;

use super::Cli;
use super::help::TOPICS;
use super::plain::plain;
use super::terminal::{Exit, Terminal};
use crate::io_error;
use crate::output::staged::write_whole;

/// Write the manual pages: of commands into man1, of topics into man7
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd man ~/.local/share/man           where man finds them
  incrowd man man                          into a folder of this one
  incrowd man /usr/local/share/man --quiet")]
pub struct Args {
    /// Folder to write into; pages that are there are replaced
    pub folder: PathBuf,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let pages = pages();
    for (path, page) in &pages {
        let path = args.folder.join(path);
        let folder = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| io_error(folder, error))?;
        write_whole(&path, page, true)?;
    }
    terminal.say(format!("Wrote {} manual pages; see them with man -M {} incrowd", pages.len(), args.folder.display()));
    terminal.json(&json!({ "pages": pages.iter().map(|(path, _)| path).collect::<Vec<_>>() }));
    Ok(Exit::Done)
}

/// Every page, by its path.
fn pages() -> Vec<(PathBuf, Vec<u8>)> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    let mut open = vec![program];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().cloned());
        let man = Man::new(command);
        let mut page = Vec::new();
        man.render(&mut page).expect("memory takes what is written");
        pages.push((Path::new("man1").join(man.get_filename()), page));
    }
    for topic in TOPICS {
        let mut roff = Roff::new();
        let name = format!("incrowd-{}", topic.name);
        roff.control("TH", [name.as_str(), "7", "", concat!("incrowd ", env!("CARGO_PKG_VERSION"))]);
        roff.control("SH", ["NAME"]);
        roff.text([roman(format!("{name} - {}", topic.title()))]);
        roff.control("SH", ["DESCRIPTION"]);
        // Lines stay as they were set.
        roff.control("nf", []);
        for line in plain(topic.document, 78).lines().skip(1) {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
        pages.push((Path::new("man7").join(format!("{name}.7")), roff.render().into_bytes()));
    }
    pages.sort();
    pages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_page_for_every_command_and_every_topic() {
        let pages = pages();
        let names: Vec<String> = pages.iter().map(|(path, _)| path.display().to_string()).collect();
        for name in ["incrowd.1", "incrowd-publish.1", "incrowd-hierarchy-show.1", "incrowd-criteria.7"] {
            assert!(names.iter().any(|known| known.ends_with(&format!("/{name}"))), "{name} in {names:?}");
        }
        for (path, page) in &pages {
            let page = std::str::from_utf8(page).expect("a text");
            assert!(page.contains(".TH") && page.contains("NAME"), "{}", path.display());
        }
    }
}
