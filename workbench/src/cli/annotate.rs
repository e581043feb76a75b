//! `incrowd annotate`: the lattice, what each scheme looks like and what it would lose; kept in a file, and updated.

use std::path::{Path, PathBuf};

use crate::sentences;
use crate::sentences::grouped;
use incrowd::recode::tree::Tree;
use incrowd::wire;
use incrowd::{Criteria, Criterion, Error, ErrorKind, Lattice, Measure, Result};

use serde_json::Value;

use super::arguments::{CriteriaArgs, ExtentArgs, ProjectArgs};
use super::terminal::{Exit, Terminal, columns};
use crate::input::count::Material;
use crate::input::project::Project;
use crate::orders::annotate::{
    Annotate, Annotated, HeightSummary, ShownLattice, TreeGroup, Update, by_height, folder_of_project,
};
use crate::orders::extent::Otherwise;
use crate::orders::known::Known;
use crate::orders::saved::has_counts_only;
use crate::words::documents;

/// Annotate the schemes of the lattice and show what each would lose
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd annotate --k 10                          least, mean and most records lost, by height
  incrowd annotate --k 3,10,25                     the same for several k
  incrowd annotate --k 3 --per-scheme --json       every scheme, for programs
  incrowd annotate --l 3 --per-scheme --csv        every scheme, for spreadsheets
  incrowd annotate --quasi-identifiers age,sex     a smaller lattice
  incrowd annotate --partial 5% --k 10             the most promising schemes only
  incrowd annotate --k 10 --t 0.2 -o adult.crowd   keep it: negotiate --lattice adult.crowd answers from it
  incrowd annotate --local -o adult.crowd          the tree of groups, for negotiate --local --lattice adult.crowd
  incrowd annotate --local --per-group --csv       every group of it, for spreadsheets
  incrowd annotate --append new.csv adult.crowd    new records have come: count them, and annotate what changed
  incrowd annotate --remove gone.csv adult.crowd   people have withdrawn")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub criteria: CriteriaArgs,
    /// Show every scheme instead of a line per height
    #[arg(long)]
    pub per_scheme: bool,
    /// With --local, show every group of the tree: what it would be if it were published
    #[arg(long)]
    pub per_group: bool,
    /// Print CSV instead of a table
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Measure non-uniform entropy too, for --best-by entropy
    #[arg(long)]
    pub entropy: bool,
    /// Make the tree of groups over which local recoding is negotiated, instead of the lattice
    #[arg(long, conflicts_with_all = ["full", "partial", "on_demand", "entropy"])]
    pub local: bool,
    /// Keep the lattice in a file, for negotiate --lattice and frontier --lattice
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already; append records that were appended before
    #[arg(long)]
    pub force: bool,
    /// Add the records of a file to a lattice that was kept, which is named instead of the project
    #[arg(long, value_name = "DATA", conflicts_with_all = UPDATES_KEEP)]
    pub append: Option<PathBuf>,
    /// Take the records of a file out of a lattice that was kept
    #[arg(long, value_name = "DATA", conflicts_with_all = UPDATES_KEEP)]
    pub remove: Option<PathBuf>,
    #[command(flatten)]
    pub extent: ExtentArgs,
}

/// What a lattice is about does not change with its records.
const UPDATES_KEEP: [&str; 7] =
    ["full", "partial", "on_demand", "estimator", "entropy", "quasi_identifiers", "sensitive"];

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if args.append.is_some() || args.remove.is_some() {
        return update(args, terminal);
    }
    args.extent.check(Otherwise::Partial)?;
    let shown = ShownLattice { per_scheme: args.per_scheme, per_group: args.per_group };
    shown.check(args.local)?;
    let (criteria, more_ks) = several_ks(&args.criteria)?;
    let order = Annotate {
        about: args.project.about(),
        request: criteria.given(),
        more_ks,
        with_entropy: args.entropy,
        extent: args.extent.wish()?,
        local: args.local,
        output: args.output.clone(),
        replace: args.force,
    };
    let project = args.project.open()?;
    let annotated = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    if let (Some(path), Some(n_bytes)) = (&args.output, annotated.n_bytes) {
        terminal.note(format!("{} written, {}", path.display(), size_in_words(n_bytes as usize)));
    }
    if let Some(tree) = &annotated.tree {
        say_tree(args, tree, &annotated, terminal);
        return Ok(Exit::Done);
    }
    match annotated.shown() {
        Some(lattice) => say(args, lattice, &annotated.criteria, &annotated.more, terminal),
        None => {
            say_counts(&annotated.counted, args.output.as_deref(), terminal);
            Ok(Exit::Done)
        }
    }
}

/// The tree of groups in a sentence, or all of its groups.
fn say_tree(args: &Args, tree: &Tree, annotated: &Annotated, terminal: &Terminal) {
    terminal.json(&documents::grown(annotated, args.per_group));
    if args.per_group && !terminal.is_json {
        let (header, rows) = group_rows(annotated);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        terminal.say(match args.csv {
            true => csv(&header, &rows).trim_end().to_string(),
            false => columns(&header, &rows, &[]),
        });
        return;
    }
    let counts = &annotated.counted.counts;
    terminal.say(format!(
        "{} in {}; a tree of {}, {}.",
        sentences::counted_words(counts.n_records(), "record"),
        sentences::counted_words(counts.n_groups() as u64, "combination"),
        sentences::counted_words(tree.shape().n_nodes() as u64, "group"),
        size_in_words(tree.n_bytes())
    ));
}

fn group_rows(annotated: &Annotated) -> (Vec<String>, Vec<Vec<String>>) {
    let groups = annotated.groups();
    let names = || annotated.counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute());
    let measures: Vec<Measure> =
        groups.first().map_or(Vec::new(), |group| group.reached.iter().map(|(measure, _)| *measure).collect());
    let sensitive = annotated.counted.sensitive_names();
    let mut header: Vec<String> = ["group", "parent", "records"].map(String::from).to_vec();
    header.extend(measures.iter().map(|&measure| wire::key_among(measure, &measures, &sensitive)));
    header.push("loss".into());
    header.extend(names().map(|name| format!("{name} loses")));
    header.extend(names().map(String::from));
    let share = |share: f64| wire::rounded(share).to_string();
    let row = |(i, group): (usize, TreeGroup)| {
        let parent = group.parent.map_or(String::new(), |parent| parent.to_string());
        let mut row = vec![i.to_string(), parent, group.n_records.to_string()];
        let value = |&(measure, value): &(Measure, u64)| match wire::number(measure, value) {
            Value::Null => String::new(),
            value => value.to_string(),
        };
        row.extend(group.reached.iter().map(value));
        row.push(share(group.loss));
        row.extend(group.loss_of.iter().map(|&of| share(of)));
        row.extend(group.cells);
        row
    };
    (header, groups.into_iter().enumerate().map(row).collect())
}

/// What there is to say where nothing is annotated, and the counts are kept in a file or not at all.
fn say_counts(counted: &Material, kept: Option<&Path>, terminal: &Terminal) {
    let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies);
    let (n_records, n_groups) = (counted.counts.n_records(), counted.counts.n_groups());
    terminal.json(&documents::only_counted(counted));
    terminal.say(format!(
        "{} in {}; {} schemes, none of them annotated.",
        sentences::counted_words(n_records, "record"),
        sentences::counted_words(n_groups as u64, "group"),
        n_schemes.map_or("over 10^19".to_string(), grouped)
    ));
    terminal.say(match kept {
        Some(path) => format!(
            "The counts of {} are kept in {}; incrowd negotiate --lattice searches them on demand.",
            sentences::counted_words(n_groups as u64, "combination"),
            path.display()
        ),
        None => "incrowd negotiate and incrowd publish evaluate schemes as they need them.".to_string(),
    });
}

/// Prints a lattice in the form that the flags ask for.
fn say(args: &Args, lattice: &Lattice, criteria: &Criteria, more: &[Criteria], terminal: &Terminal) -> Result<Exit> {
    if terminal.is_json {
        terminal.json(&documents::annotated_for(lattice, criteria, more, args.per_scheme));
        return Ok(Exit::Done);
    }
    let all: Vec<&Criteria> = std::iter::once(criteria).chain(more).filter(|criteria| !criteria.is_empty()).collect();
    let (header, rows) = if args.per_scheme { scheme_rows(lattice, &all) } else { height_rows(lattice, &all) };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    if args.csv {
        terminal.say(csv(&header, &rows).trim_end());
        return Ok(Exit::Done);
    }
    terminal.say(format!(
        "{}, {}, {}, {} of annotations ({} bytes per scheme)\n",
        sentences::counted_words(lattice.n_records(), "record"),
        sentences::counted_words(lattice.hierarchies().len() as u64, "quasi-identifier"),
        sentences::schemes_in_words(lattice),
        size_in_words(lattice.n_bytes()),
        grouped((lattice.n_bytes() / lattice.schemes().len().max(1)) as u64),
    ));
    if !criteria.is_empty() {
        terminal.say(format!("suppressed: records in groups without {}\n", suppressed_by(args, lattice, &all)));
    }
    terminal.say(columns(&header, &rows, &[]));
    if criteria.is_empty() {
        terminal.note("give --k, --l, --t or another criterion to see how many records each scheme would lose");
    }
    Ok(Exit::Done)
}

/// Records have come or gone: says what became of the lattice.
fn update(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = Update {
        lattice: args.project.project.clone(),
        append: args.append.clone(),
        remove: args.remove.clone(),
        output: args.output.clone(),
        replace: args.force,
        about: args.project.about(),
        request: args.criteria.given(),
    };
    order.check()?;
    let project = Project::open(&folder_of_project(&order.lattice))?;
    let updated = order.run(&project, &args.project.work(terminal)?)?;
    terminal.note(format!(
        "{} written, {}: {} where there were {}",
        updated.output.display(),
        size_in_words(updated.n_bytes as usize),
        sentences::counted_words(updated.material.counts.n_records(), "record"),
        grouped(updated.n_records_before)
    ));
    if has_counts_only(&updated.lattice) {
        say_counts(&updated.material, Some(&updated.output), terminal);
        return Ok(Exit::Done);
    }
    say(args, &updated.lattice, &updated.criteria, &[], terminal)
}

/// `--k 3,10,25`: the first, and the others.
fn several_ks(criteria: &CriteriaArgs) -> Result<(CriteriaArgs, Vec<u64>)> {
    let Some((first, others)) = criteria.k.as_ref().and_then(|k| k.split_once(',')) else {
        return Ok((criteria.clone(), Vec::new()));
    };
    let whole = |text: &str| {
        text.trim().parse::<u64>().map_err(|_| {
            Error::new(ErrorKind::Request, format!("'{text}' is not a whole number for k"))
                .hint("for example --k 3,10,25")
        })
    };
    let others = others.split(',').map(whole).collect::<Result<_>>()?;
    Ok((CriteriaArgs { k: Some(first.to_string()), ..criteria.clone() }, others))
}

fn size_in_words(n_bytes: usize) -> String {
    match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{:.1} MB", n_bytes as f64 / 1e6),
    }
}

/// Which criteria the column is about, and which of them nobody has typed.
fn suppressed_by(args: &Args, lattice: &Lattice, all: &[&Criteria]) -> String {
    let names = wire::sensitive_names(lattice);
    let typed: Vec<&str> = args.criteria.texts().iter().map(|text| text.name).collect();
    let in_words = |criterion: Criterion| {
        let values: Vec<String> = match criterion.measure {
            Measure::Size if all.len() > 1 => {
                all.iter().filter_map(|criteria| criteria.value(Measure::Size)).map(|k| k.to_string()).collect()
            }
            _ => Vec::new(),
        };
        let words = match values.is_empty() {
            true => sentences::criterion_in_words(criterion, &names),
            false => format!("k = {}", values.join(", ")),
        };
        match typed.contains(&criterion.measure.name()) {
            true => words,
            false => format!("{words} (of [request])"),
        }
    };
    all[0].iter().map(in_words).collect::<Vec<_>>().join(" or ")
}

fn height_rows(lattice: &Lattice, all: &[&Criteria]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> = ["height", "schemes", "groups min", "avg", "max"].map(String::from).to_vec();
    all.iter().for_each(|criteria| header.extend([lost_of(criteria, all, " min"), "avg".into(), "max".into()]));
    let none = Criteria::default();
    let of: Vec<Vec<HeightSummary>> = match all {
        [] => vec![by_height(lattice, &none)],
        all => all.iter().map(|criteria| by_height(lattice, criteria)).collect(),
    };
    let row = |height: usize| {
        let first = &of[0][height];
        let mut row = vec![first.height.to_string(), first.n_schemes.to_string()];
        let mut push = |(min, mean, max): (u64, f64, u64)| {
            row.extend([min.to_string(), format!("{mean:.2}"), max.to_string()]);
        };
        push(first.n_groups);
        of.iter().filter(|_| !all.is_empty()).for_each(|summaries| push(summaries[height].n_suppressed));
        row
    };
    (header, (0..of[0].len()).map(row).collect())
}

/// What a column is called: by its k, where there are several.
fn lost_of(criteria: &Criteria, all: &[&Criteria], what: &str) -> String {
    match (all.len(), criteria.value(Measure::Size)) {
        (2.., Some(k)) => format!("suppressed k={k}{what}"),
        _ => format!("suppressed{what}"),
    }
}

fn scheme_rows(lattice: &Lattice, all: &[&Criteria]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> =
        lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
    header.extend(["height", "groups", "smallest"].map(String::from));
    header.extend(all.iter().map(|criteria| lost_of(criteria, all, "")));
    let row = |place: usize| {
        let scheme = lattice.schemes().scheme(place);
        let profile = lattice.profile(place);
        let mut row: Vec<String> = scheme.levels().iter().map(|level| level.0.to_string()).collect();
        row.push(scheme.height().to_string());
        row.push(profile.n_groups().to_string());
        row.push(lattice.smallest_group(place).unwrap_or(0).to_string());
        row.extend(all.iter().map(|criteria| lattice.n_suppressed(place, criteria).to_string()));
        row
    };
    (header, (0..lattice.schemes().len()).map(row).collect())
}

fn csv(header: &[&str], rows: &[Vec<String>]) -> String {
    // Averages have the same heading in the table; a program needs names of their own.
    let mut of = String::new();
    let name = |text: &&str| match *text {
        "avg" | "max" => format!("{of}_{text}"),
        text => {
            let name = text.replace(' ', "_");
            of = name.trim_end_matches("_min").to_string();
            name
        }
    };
    let header: Vec<String> = header.iter().map(name).collect();
    super::terminal::csv(&header, rows)
}
