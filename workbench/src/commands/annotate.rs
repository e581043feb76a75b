//! `incrowd annotate`: the whole lattice, what each scheme looks like and what it would lose.

use std::path::PathBuf;

use incrowd::negotiate::check_criteria;
use incrowd::wire::{self, grouped};
use incrowd::{Criteria, Lattice, Quality, Ranking, Result};
use serde_json::{Map, Value, json};

use crate::saved::{Origin, check_place, save};
use crate::talk::{Exit, Talk, columns};
use crate::wishes::{CriteriaArgs, ProjectArgs};

/// Annotate every scheme of the lattice and show what each would lose
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd annotate --k 10                          least, mean and most records lost, by height
  incrowd annotate --k 3 --per-scheme --json       every scheme, for programs
  incrowd annotate --l 3 --per-scheme --csv        every scheme, for spreadsheets
  incrowd annotate --quasi-identifiers age,sex     a smaller lattice
  incrowd annotate --k 10 --t 0.2 -o adult.crowd   keep it: negotiate --lattice adult.crowd answers from it")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    #[command(flatten)]
    pub criteria: CriteriaArgs,
    /// Show every scheme instead of a line per height
    #[arg(long)]
    pub per_scheme: bool,
    /// Print CSV instead of a table
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Measure non-uniform entropy too, for --best-by entropy
    #[arg(long)]
    pub entropy: bool,
    /// Keep the lattice in a file, for negotiate --lattice and frontier --lattice
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    let project = args.project.open()?;
    let privacy = args.criteria.resolve(&project, args.project.sensitive.as_deref(), talk)?;
    if let Some(path) = &args.output {
        check_place(path, args.force)?;
    }
    let choice = args.project.choice(&privacy);
    let origin = args.output.as_ref().map(|_| Origin::before(&project, &choice)).transpose()?;
    let counted = args.project.count(&project, &privacy, talk)?;
    let criteria = &privacy.criteria;
    if !criteria.is_empty() {
        check_criteria(criteria, counted.counts.n_records(), &counted.n_sensitive_values())?;
    }
    let ranking = if args.entropy { Quality::Entropy.into() } else { Ranking::default() };
    let lattice = args.project.annotate(&counted, criteria, &ranking, talk)?;
    if let (Some(path), Some(origin)) = (&args.output, origin) {
        let n_bytes = save(path, &lattice, &origin.finish(&project)?, args.force)?;
        talk.note(format!("{} written, {}", path.display(), size_in_words(n_bytes as usize)));
    }
    if talk.is_json {
        talk.json(&document(&lattice, criteria, args.per_scheme));
        return Ok(Exit::Done);
    }
    let (header, rows) =
        if args.per_scheme { scheme_rows(&lattice, criteria) } else { height_rows(&lattice, criteria) };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    if args.csv {
        talk.say(csv(&header, &rows).trim_end());
        return Ok(Exit::Done);
    }
    talk.say(format!(
        "{} records, {} quasi-identifiers, {} schemes, {} of annotations ({} bytes per scheme)\n",
        grouped(lattice.n_records()),
        lattice.hierarchies().len(),
        grouped(lattice.schemes().len() as u64),
        size_in_words(lattice.n_bytes()),
        grouped((lattice.n_bytes() / lattice.schemes().len().max(1)) as u64),
    ));
    talk.say(columns(&header, &rows, &[]));
    if criteria.is_empty() {
        talk.note("give --k, --l, --t or another criterion to see how many records each scheme would lose");
    }
    Ok(Exit::Done)
}

fn size_in_words(n_bytes: usize) -> String {
    match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{:.1} MB", n_bytes as f64 / 1e6),
    }
}

/// Least, mean and most records suppressed over the schemes of a height.
pub struct HeightSummary {
    pub height: usize,
    pub n_schemes: usize,
    pub n_groups: (u64, f64, u64),
    pub n_suppressed: (u64, f64, u64),
}

/// The papers' tables: a line per height.
pub fn by_height(lattice: &Lattice, criteria: &Criteria) -> Vec<HeightSummary> {
    let schemes = lattice.schemes();
    let of_height = |height| {
        let places = schemes.at_height(height);
        let suppressed: Vec<u64> = places.clone().map(|place| lattice.n_suppressed(place, criteria)).collect();
        let groups: Vec<u64> = places.map(|place| lattice.profile(place).n_groups()).collect();
        HeightSummary {
            height,
            n_schemes: suppressed.len(),
            n_groups: spread(&groups),
            n_suppressed: spread(&suppressed),
        }
    };
    (0..schemes.n_heights()).map(of_height).collect()
}

fn spread(values: &[u64]) -> (u64, f64, u64) {
    let mean = values.iter().sum::<u64>() as f64 / values.len().max(1) as f64;
    (values.iter().copied().min().unwrap_or(0), mean, values.iter().copied().max().unwrap_or(0))
}

fn height_rows(lattice: &Lattice, criteria: &Criteria) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> = ["height", "schemes", "groups min", "avg", "max"].map(String::from).to_vec();
    if !criteria.is_empty() {
        header.extend(["suppressed min", "avg", "max"].map(String::from));
    }
    let row = |summary: &HeightSummary| {
        let mut row = vec![summary.height.to_string(), summary.n_schemes.to_string()];
        let mut push = |(min, mean, max): (u64, f64, u64)| {
            row.extend([min.to_string(), format!("{mean:.2}"), max.to_string()]);
        };
        push(summary.n_groups);
        if !criteria.is_empty() {
            push(summary.n_suppressed);
        }
        row
    };
    (header, by_height(lattice, criteria).iter().map(row).collect())
}

fn scheme_rows(lattice: &Lattice, criteria: &Criteria) -> (Vec<String>, Vec<Vec<String>>) {
    let mut header: Vec<String> =
        lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
    header.extend(["height", "groups", "smallest"].map(String::from));
    if !criteria.is_empty() {
        header.push("suppressed".into());
    }
    let row = |place: usize| {
        let scheme = lattice.schemes().scheme(place);
        let profile = lattice.profile(place);
        let mut row: Vec<String> = scheme.levels().iter().map(|level| level.0.to_string()).collect();
        row.push(scheme.height().to_string());
        row.push(profile.n_groups().to_string());
        row.push(lattice.smallest_group(place).unwrap_or(0).to_string());
        if !criteria.is_empty() {
            row.push(lattice.n_suppressed(place, criteria).to_string());
        }
        row
    };
    (header, (0..lattice.schemes().len()).map(row).collect())
}

fn csv(header: &[&str], rows: &[Vec<String>]) -> String {
    // The two averages have the same heading in the table; a program needs names of their own.
    let names = ["groups_avg", "groups_max", "suppressed_avg", "suppressed_max"];
    let mut next = names.iter();
    let name = |text: &&str| match *text {
        "avg" | "max" => next.next().expect("two pairs at most").to_string(),
        text => text.replace(' ', "_"),
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer
        .write_record(header.iter().map(name))
        .and_then(|()| rows.iter().try_for_each(|row| writer.write_record(row)));
    written.expect("memory takes any record");
    String::from_utf8(writer.into_inner().expect("memory takes any record")).expect("made of texts")
}

/// As `--json` says it.
pub fn document(lattice: &Lattice, criteria: &Criteria, per_scheme: bool) -> Value {
    let names: Vec<&str> = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let spread = |(min, avg, max): (u64, f64, u64)| json!({ "min": min, "avg": avg, "max": max });
    let height = |summary: &HeightSummary| {
        let mut object = Map::new();
        object.insert("height".into(), json!(summary.height));
        object.insert("n_schemes".into(), json!(summary.n_schemes));
        object.insert("n_groups".into(), spread(summary.n_groups));
        if !criteria.is_empty() {
            object.insert("n_suppressed".into(), spread(summary.n_suppressed));
        }
        Value::Object(object)
    };
    let scheme = |place: usize| {
        let scheme = lattice.schemes().scheme(place);
        let profile = lattice.profile(place);
        let mut object = Map::new();
        object.insert("levels".into(), wire::levels(&names, &scheme));
        object.insert("height".into(), json!(scheme.height()));
        object.insert("n_groups".into(), json!(profile.n_groups()));
        object.insert("smallest_group".into(), json!(lattice.smallest_group(place)));
        if !criteria.is_empty() {
            object.insert("n_suppressed".into(), json!(lattice.n_suppressed(place, criteria)));
        }
        Value::Object(object)
    };
    let mut object = Map::new();
    object.insert("n_records".into(), json!(lattice.n_records()));
    object.insert("n_dropped".into(), json!(lattice.n_dropped()));
    object.insert("n_schemes".into(), json!(lattice.schemes().len()));
    object.insert("n_bytes".into(), json!(lattice.n_bytes()));
    object.insert("n_looks".into(), json!(lattice.looks().len()));
    object.insert("criteria".into(), Value::Object(wire::criteria(criteria, &wire::sensitive_names(lattice))));
    object.insert("heights".into(), by_height(lattice, criteria).iter().map(height).collect());
    if per_scheme {
        object.insert("schemes".into(), (0..lattice.schemes().len()).map(scheme).collect());
    }
    Value::Object(object)
}
