//! `incrowd hierarchy`: shows an attribute's tree, and writes it as ARX does.

use std::path::PathBuf;

use crate::sentences::grouped;
use incrowd::hierarchy::absent_values;
use incrowd::{Error, ErrorKind, Hierarchy, Missing, Result, Role};
use serde_json::{Value, json};

use super::terminal::{Exit, Terminal, columns};
use crate::input::count::count_source;
use crate::input::project::Project;
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
  incrowd hierarchy show age --absent       values of the data that the file does not know")]
    Show {
        attribute: String,
        /// Folder of the project, or its incrowd.toml
        #[arg(default_value = ".")]
        project: PathBuf,
        /// Levels to print, counted from the top
        #[arg(long, value_name = "N")]
        depth: Option<usize>,
        /// Most values to print below each label
        #[arg(long, value_name = "N", default_value_t = 20)]
        most: usize,
        /// List the values of the data that the hierarchy's file misses
        #[arg(long)]
        absent: bool,
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
        Args::Show { attribute, project, depth, most, absent } => {
            show(&Project::open(project)?, attribute, *depth, *most, *absent, terminal)
        }
        Args::Export { attribute, project, output, force } => {
            let project = Project::open(project)?;
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

/// Counts the one attribute to know which values there are.
pub fn domain_of(project: &Project, attribute: &str, work: &Work) -> Result<incrowd::Domain> {
    let source = project.source()?;
    source.check_column(attribute)?;
    let missing: &Missing = &project.missing;
    let counts = count_source(&source, &[attribute], &[], &[], missing, work)?;
    Ok(counts.domains()[0].clone())
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
    let at = |error: Error| error.or_at(project.folder.join(&project.data).display().to_string());
    attribute.rule.resolve(&domain_of(project, name, work)?).map_err(at)
}

fn show(
    project: &Project,
    name: &str,
    depth: Option<usize>,
    most: usize,
    absent: bool,
    terminal: &Terminal,
) -> Result<Exit> {
    if absent {
        let attribute = project.attribute(name)?;
        let domain = domain_of(project, name, &terminal.work(0, None))?;
        let values = absent_values(&attribute.rule, &domain);
        terminal.json(&json!({ "attribute": name, "absent": values }));
        values.iter().for_each(|value| terminal.say(value));
        terminal.note(format!("{} of {} values are missing from the hierarchy", values.len(), domain.len()));
        return Ok(if values.is_empty() { Exit::Done } else { Exit::No });
    }
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
