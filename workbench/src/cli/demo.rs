//! `incrowd demo`: the whole path on a table that it makes up, in the commands a user would type.

use std::path::{Path, PathBuf};

use crate::sentences::grouped;
use clap::Parser;
use incrowd::{Error, ErrorKind, Result};

use crate::cli::terminal::{Exit, Terminal};
use crate::cli::{Cli, Command, dispatch};
use crate::demo_data;

/// See it work: make up a table of hospital discharges, negotiate, publish and verify it
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd demo                     into the folder demo
  incrowd demo try                 into another one
  incrowd demo try --records 200000 --seed 7")]
pub struct Args {
    /// Folder to work in
    #[arg(default_value = "demo")]
    pub folder: PathBuf,
    /// How many discharges to make up
    #[arg(long, value_name = "N", default_value_t = demo_data::N_RECORDS)]
    pub records: usize,
    /// Which table to make up: the same seed gives the same table
    #[arg(long, value_name = "N", default_value_t = demo_data::SEED)]
    pub seed: u64,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if terminal.is_json {
        return Err(
            Error::new(ErrorKind::Request, "the demo talks to people, not to programs").hint("leave --json away")
        );
    }
    let folder = args.folder.as_path();
    title(terminal, "1. A table nobody may publish as it is");
    demo_data::write(folder, args.records, args.seed)?;
    terminal.say(format!(
        "Made up {} hospital discharges (seed {}), of patients some of whom came back, with hierarchies and a project \
         file:\n  {}",
        grouped(args.records as u64),
        args.seed,
        folder.join("incrowd.toml").display()
    ));
    let name = folder.display().to_string();
    step(terminal, &["profile", &name])?;

    title(terminal, "2. Every way to generalize it, annotated");
    step(terminal, &["annotate", &name, "--k", "5"])?;

    // What was noted once need not be said again.
    let terminal = &Terminal { is_quiet: true, ..*terminal };
    for (i, (what, flags)) in demo_data::REQUESTS.iter().enumerate() {
        title(terminal, &format!("{}. {}", i + 3, capitalized(what)));
        let mut words = vec!["negotiate", &name];
        words.extend(flags.split_whitespace());
        if i == 1 {
            words.push("--explain");
        }
        step(terminal, &words)?;
    }

    title(terminal, "6. Take an offer: publish it, with certificate and report");
    let release = folder.join("release.csv").display().to_string();
    let mut words = vec!["publish", &name];
    words.extend(demo_data::REQUESTS[1].1.split_whitespace());
    words.extend(["--offer", "height", "--output", &release, "--force"]);
    step(terminal, &words)?;
    before_and_after(folder, terminal)?;

    title(terminal, "7. The promise is about patients: whoever has the table can check it, with code of its own");
    let verdict = step(terminal, &["verify", &release, "--project", &name])?;

    title(terminal, "Try next");
    // As it was called here, so that the line can be copied.
    let program = std::env::args().next().unwrap_or_else(|| "incrowd".to_string());
    for (what, words) in next_commands(&name) {
        terminal.say(format!("  {what}:\n    {program} {words}"));
    }
    terminal.say(format!("  read the report for the privacy officer:\n    {release}.report.html"));
    Ok(verdict)
}

fn title(terminal: &Terminal, text: &str) {
    terminal.say(format!("\n━━ {text} {}\n", "━".repeat(92usize.saturating_sub(text.chars().count()))));
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Shows a command as it would be typed, and runs it.
fn step(terminal: &Terminal, words: &[&str]) -> Result<Exit> {
    terminal.say(format!("$ incrowd {}\n", words.join(" ")));
    let cli = Cli::try_parse_from(std::iter::once("incrowd").chain(words.iter().copied()))
        .expect("the demo's own commands are well-formed");
    match &cli.command {
        Command::Demo(_) => unreachable!("the demo does not run itself"),
        command => dispatch(command, terminal),
    }
}

/// The first lines of the table and of the release.
fn before_and_after(folder: &Path, terminal: &Terminal) -> Result<()> {
    for (title, name) in [("Before", "discharges.csv"), ("After", "release.csv")] {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).map_err(|error| crate::io_error(&path, error))?;
        terminal.say(format!("\n{title} ({name}):"));
        text.lines().take(5).for_each(|line| terminal.say(format!("  {line}")));
    }
    Ok(())
}

fn next_commands(name: &str) -> [(&'static str, String); 6] {
    [
        ("negotiate yourself", format!("negotiate {name} --k 20 --max-suppressed 1% --explain")),
        ("look at a hierarchy", format!("hierarchy show occupation {name}")),
        ("every scheme, for a spreadsheet", format!("annotate {name} --k 5 --l 3 --per-scheme --csv")),
        (
            "publish levels of your choice",
            format!(
                "publish {name} --levels age=2,postcode=4,occupation=1,admission_date=3 --k 3 -o {name}/mine.parquet"
            ),
        ),
        ("start with your own table", "init YOUR.csv".to_string()),
        ("everything else", "--help".to_string()),
    ]
}
