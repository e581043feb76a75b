//! `incrowd hierarchy`: shows an attribute's tree, and writes it as ARX does.

use std::path::{Path, PathBuf};

use crate::sentences::{counted_words, grouped};
use incrowd::{Error, ErrorKind, Hierarchy, Missing, Result, Role};
use serde_json::{Value, json};

use super::terminal::{Exit, Terminal, columns};
use crate::input::count::{count_source, located};
use crate::input::project::{Attribute, FILE_NAME, Project};
use crate::input::source::{Asked, At, CellPlace, Places};
use crate::output::staged::write_whole;
use crate::work::Work;

/// Look at an attribute's hierarchy, or write it as an ARX file
#[derive(Clone, Debug, clap::Subcommand)]
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
  incrowd hierarchy export age . -o age.csv")]
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
            output.iter().try_for_each(|path| project.check_output(path))?;
            let hierarchy = resolve(&project, attribute, &terminal.work(0, None))?;
            let text = arx(&hierarchy);
            match output {
                Some(path) => write_whole(path, text.as_bytes(), *force)?,
                None => terminal.say(text.trim_end()),
            }
            let rows = hierarchy.rows().map(|row| json!(row)).collect::<Vec<_>>();
            terminal.json(&json!({ "attribute": attribute, "rows": rows }));
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

/// Counts the one attribute to know which values there are.
pub fn domain_of(project: &Project, attribute: &str, work: &Work) -> Result<incrowd::Domain> {
    let source = project.source_as_counted()?;
    source.check_column(attribute)?;
    let missing: &Missing = &project.missing;
    let counts = count_source(&source, &[attribute], &[], &[], missing, work)?;
    Ok(counts.domains()[0].clone())
}

/// The cells of an attribute that its hierarchy does not fit, whatever becomes of them.
pub fn absent(project: &Project, name: &str) -> Result<Places> {
    let attribute = project.attribute(name)?;
    let source = project.source_as_written()?;
    source.check_column(name)?;
    source.unfit(name, &Asked::of(&attribute.rule, attribute.rule.needs(), &project.missing.tokens))
}

/// The attributes whose hierarchies may not fit.
pub fn with_hierarchies(project: &Project) -> impl Iterator<Item = &Attribute> {
    project.attributes.iter().filter(|known| !known.role.tells_who() && known.hierarchy_text != "flat")
}

/// As `hierarchy show --absent --json` says it; values only where they may be shown.
pub fn absent_document(name: &str, places: &Places, with_values: bool) -> Value {
    let place = |place: &CellPlace| match place.at {
        At::Line(line) => json!({ "file": place.file, "line": line }),
        At::Record(record) => json!({ "file": place.file, "record": record }),
    };
    let all = |places: &[CellPlace]| places.iter().map(place).collect::<Value>();
    let mut document = json!({
        "attribute": name,
        "n_absent": places.values.len(),
        "n_cells": places.n_cells,
        "first": all(&places.first),
        "absent": if places.values.is_empty() { json!([]) } else { Value::Null },
    });
    if with_values {
        let value = |(value, n_cells, first): &(String, u64, Vec<CellPlace>)| json!({ "value": value, "n_cells": n_cells, "first": all(first) });
        document["absent"] = places.values.iter().map(|(value, ..)| json!(value)).collect();
        document["values"] = places.values.iter().map(value).collect();
    }
    document
}

fn show_absent(project: &Project, name: Option<&str>, with_values: bool, terminal: &Terminal) -> Result<Exit> {
    let names: Vec<&str> = match name {
        Some(name) => vec![name],
        None => with_hierarchies(project).map(|attribute| attribute.name.as_str()).collect(),
    };
    let found = names.iter().map(|name| Ok((*name, absent(project, name)?))).collect::<Result<Vec<_>>>()?;
    let documents: Vec<Value> = found.iter().map(|(name, places)| absent_document(name, places, with_values)).collect();
    match (name, &documents[..]) {
        (Some(_), [document]) => terminal.json(document),
        _ => terminal.json(&json!({ "attributes": documents })),
    }
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

/// The hierarchy of an attribute, over the values that the data have.
pub fn resolve(project: &Project, name: &str, work: &Work) -> Result<Hierarchy> {
    let attribute = project.attribute(name)?;
    if attribute.role != Role::QuasiIdentifier && attribute.hierarchy_text == "flat" {
        return Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' is {}, and has no hierarchy", attribute.role.name()),
        ));
    }
    let domain = domain_of(project, name, work)?;
    attribute.rule.resolve(&domain).map_err(|error| match project.source_as_counted() {
        Ok(source) => located(error, std::slice::from_ref(attribute), &source, &project.missing),
        Err(_) => error,
    })
}

fn show(project: &Project, name: &str, depth: Option<usize>, most: usize, terminal: &Terminal) -> Result<Exit> {
    let hierarchy = resolve(project, name, &terminal.work(0, None))?;
    terminal.json(&document(&hierarchy));
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

/// As `hierarchy show --json` says it.
pub fn document(hierarchy: &Hierarchy) -> Value {
    let levels = hierarchy.levels().iter().enumerate();
    let levels = levels.map(|(i, level)| json!({ "level": i, "name": level.name(), "n_values": level.len() }));
    json!({
        "attribute": hierarchy.attribute(),
        "levels": levels.collect::<Vec<_>>(),
        "tree": tree(hierarchy, hierarchy.top(), 0),
    })
}

/// The codes one level below a value.
pub fn children(hierarchy: &Hierarchy, level: usize, code: usize) -> Vec<usize> {
    let parents = hierarchy.level(level - 1).parents();
    (0..parents.len()).filter(|&child| parents[child].index() == code).collect()
}

fn tree(hierarchy: &Hierarchy, level: usize, code: usize) -> Value {
    let label = &hierarchy.level(level).labels()[code];
    if level == 0 {
        return json!(label);
    }
    let below: Vec<Value> =
        children(hierarchy, level, code).into_iter().map(|child| tree(hierarchy, level - 1, child)).collect();
    json!({ "label": label, "below": below })
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

/// ARX's format: a line per value, labels from fine to coarse, separated by `;`.
pub fn arx(hierarchy: &Hierarchy) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    for row in hierarchy.rows() {
        writer.write_record(row).expect("memory takes any record");
    }
    String::from_utf8(writer.into_inner().expect("memory takes any record")).expect("made of texts")
}
