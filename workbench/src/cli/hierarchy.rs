//! `incrowd hierarchy`: shows an attribute's tree, and writes it as ARX does.

use std::path::{Path, PathBuf};

use incrowd::{Hierarchy, Result};

use super::terminal::{Exit, Terminal, columns};
use crate::input::project::{FILE_NAME, Project};
use crate::input::source::CellPlace;
use crate::orders::hierarchy::{ExportHierarchy, FindAbsent, ShowHierarchy};
use crate::sentences::{counted_words, grouped};
use crate::words::hierarchies::{all_absent, children, exported, shown};

/// Look at an attribute's hierarchy, or write it as an ARX file
#[derive(Clone, Debug, clap::Subcommand)]
#[command(after_help = "\
Examples:
  incrowd hierarchy show age
  incrowd hierarchy show --absent               what no hierarchy has a place for, and where it stands
  incrowd hierarchy export age -o age.csv")]
pub enum Args {
    /// Print the tree, with the number of values per level
    #[command(after_help = "\
Examples:
  incrowd hierarchy show age
  incrowd hierarchy show occupation --depth 2
  incrowd hierarchy show --absent                        what no hierarchy has a place for, and where it stands
  incrowd hierarchy show age --absent --show-values      the same of one attribute, with the values")]
    Show {
        /// The attribute; with --absent, all where none is named
        #[arg(required_unless_present = "absent")]
        attribute: Option<String>,
        /// Folder of the project, or its incrowd.toml [default: .]
        project: Option<PathBuf>,
        /// Read this file instead of the one that the project names, such as the next delivery of the data
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
        /// Levels to print, counted from the top
        #[arg(long, value_name = "N")]
        depth: Option<usize>,
        /// Most values to print below each label
        #[arg(long, value_name = "N", default_value_t = 20)]
        most: usize,
        /// Count the cells of the data that the hierarchy does not fit: values that its file or tree misses, cells that are no
        /// numbers or no dates where it needs them; with their lines
        #[arg(long)]
        absent: bool,
        /// With --absent, print these values
        #[arg(long, requires = "absent")]
        show_values: bool,
    },
    /// Write the hierarchy as a `;`-separated file that ARX reads
    #[command(after_help = "\
Examples:
  incrowd hierarchy export age                       to stdout
  incrowd hierarchy export age hospital -o age.csv   of the project in another folder
  incrowd hierarchy export age --data 2025.csv       as the next delivery of the data has it")]
    Export {
        attribute: String,
        /// Folder of the project, or its incrowd.toml
        #[arg(default_value = ".")]
        project: PathBuf,
        /// Read this file instead of the one that the project names, such as the next delivery of the data
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
        /// File to write
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Replace the file if it is there
        #[arg(long)]
        force: bool,
    },
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    match args {
        Args::Show { attribute, project, data, depth, most, absent, show_values } => {
            let (attribute, project) = named(attribute.as_deref(), project.as_deref());
            let project = Project::open(project)?.with_data(data.as_deref())?;
            match attribute {
                _ if *absent => show_absent(&project, attribute, *show_values, terminal),
                Some(attribute) => show(&project, attribute, *depth, *most, terminal),
                None => unreachable!("an attribute is required without --absent"),
            }
        }
        Args::Export { attribute, project, data, output, force } => {
            let project = Project::open(project)?.with_data(data.as_deref())?;
            let order = ExportHierarchy { attribute: attribute.clone(), output: output.clone(), replace: *force };
            let made = order.run(&project, &terminal.work(0, None))?;
            if output.is_none() {
                terminal.say(made.text.trim_end());
            }
            terminal.json(&exported(&made));
            Ok(Exit::Done)
        }
    }
}

/// The attribute and the project that are meant: where one thing is named, and a project lies there, it is the project.
fn named<'a>(attribute: Option<&'a str>, project: Option<&'a Path>) -> (Option<&'a str>, &'a Path) {
    match (attribute, project) {
        (Some(path), None) if Path::new(path).join(FILE_NAME).exists() || Path::new(path).ends_with(FILE_NAME) => {
            (None, Path::new(path))
        }
        (attribute, project) => (attribute, project.unwrap_or(Path::new("."))),
    }
}

fn show_absent(project: &Project, name: Option<&str>, with_values: bool, terminal: &Terminal) -> Result<Exit> {
    let found = FindAbsent { attribute: name.map(str::to_string) }.run(project)?;
    terminal.json(&all_absent(name.is_some(), &found, with_values));
    for (name, places) in &found {
        if with_values {
            let row = |(value, n_cells, first): &(String, u64, Vec<CellPlace>)| {
                vec![value.clone(), grouped(*n_cells), first[0].in_words()]
            };
            if !places.values.is_empty() {
                let rows: Vec<Vec<String>> = places.values.iter().map(row).collect();
                terminal.say(columns(&[name, "cells", "first at"], &rows, &[0, 2]));
            }
        } else if let Some(first) = places.first.first() {
            let first = format!("the first at {}{}", first.in_words(), places.others_in_words());
            let (n_cells, n_values) =
                (counted_words(places.n_cells, "cell"), counted_words(places.values.len() as u64, "value"));
            terminal.say(format!("{name}: {n_cells} of {n_values}, {first}"));
        }
    }
    let n_values: usize = found.iter().map(|(_, places)| places.values.len()).sum();
    let n_cells: u64 = found.iter().map(|(_, places)| places.n_cells).sum();
    if n_values == 0 {
        terminal.note("every value has a place in its hierarchy");
        return Ok(Exit::Done);
    }
    let shown = if with_values { "" } else { " (--show-values prints them)" };
    let (n_values, n_cells) = (counted_words(n_values as u64, "value"), counted_words(n_cells, "cell"));
    terminal.note(format!("{n_values} in {n_cells} have no place in their hierarchy{shown}"));
    Ok(Exit::No)
}

fn show(project: &Project, name: &str, depth: Option<usize>, most: usize, terminal: &Terminal) -> Result<Exit> {
    let order = ShowHierarchy { attribute: name.to_string() };
    let hierarchy = order.run(project, &terminal.work(0, None))?;
    terminal.json(&shown(&hierarchy));
    let rows: Vec<Vec<String>> = hierarchy
        .levels()
        .iter()
        .enumerate()
        .map(|(i, level)| vec![i.to_string(), level.name().to_string(), grouped(level.len() as u64)])
        .collect();
    terminal.say(columns(&["level", "name", "values"], &rows, &[1]));
    terminal.say("");
    let lowest = depth.map_or(0, |depth| (hierarchy.top() + 1).saturating_sub(depth.max(1)));
    let mut lines = Vec::new();
    draw(&hierarchy, hierarchy.top(), 0, "", lowest, most, &mut lines);
    terminal.say(lines.join("\n"));
    Ok(Exit::Done)
}

fn draw(
    hierarchy: &Hierarchy,
    level: usize,
    code: usize,
    indent: &str,
    lowest: usize,
    most: usize,
    lines: &mut Vec<String>,
) {
    let n_leaves = hierarchy.n_leaves(level)[code];
    let label = &hierarchy.level(level).labels()[code];
    if lines.is_empty() {
        lines.push(format!("{label}  ({n_leaves})"));
    }
    if level <= lowest {
        return;
    }
    let below = children(hierarchy, level, code);
    let n_shown = below.len().min(most);
    for (i, &child) in below.iter().take(n_shown).enumerate() {
        let is_last = i + 1 == below.len();
        let (branch, deeper) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let label = &hierarchy.level(level - 1).labels()[child];
        let count = if level > 1 { format!("  ({})", hierarchy.n_leaves(level - 1)[child]) } else { String::new() };
        let label = if label.is_empty() { "(no value)" } else { label };
        lines.push(format!("{indent}{branch}{label}{count}"));
        draw(hierarchy, level - 1, child, &format!("{indent}{deeper}"), lowest, most, lines);
    }
    if below.len() > n_shown {
        lines.push(format!("{indent}└─ … {} more (--most {})", below.len() - n_shown, below.len()));
    }
}
