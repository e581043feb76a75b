//! `incrowd annotate`: the lattice, what each scheme looks like and what it would lose; kept in a file, and kept true.

use std::path::{Path, PathBuf};

use incrowd::search::negotiate::check_criteria;
use incrowd::search::partial::Selection;
use incrowd::wire;
use incrowd::{Criteria, Criterion, Error, ErrorKind, Lattice, Result};
use serde_json::{Map, Value, json};

use crate::count::{Choice, Counted, Material, check_values, chosen, count_source};
use crate::extent::{Extent, ExtentArgs, Otherwise};
use crate::project::{Project, check_not_among};
use crate::saved::{self, Origin, check_place, has_counts_only, save};
use crate::sentences::{self, grouped};
use crate::source::Source;
use crate::talk::{Exit, Talk, columns};
use crate::wishes::{CriteriaArgs, ProjectArgs};

/// Annotate the schemes of the lattice and show what each would lose
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  incrowd annotate --k 10                          least, mean and most records lost, by height
  incrowd annotate --k 3 --per-scheme --json       every scheme, for programs
  incrowd annotate --l 3 --per-scheme --csv        every scheme, for spreadsheets
  incrowd annotate --quasi-identifiers age,sex     a smaller lattice
  incrowd annotate --partial 5% --k 10             the most promising schemes only
  incrowd annotate --k 10 --t 0.2 -o adult.crowd   keep it: negotiate --lattice adult.crowd answers from it
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
    /// Print CSV instead of a table
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    /// Measure non-uniform entropy too, for --best-by entropy
    #[arg(long)]
    pub entropy: bool,
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

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    if args.append.is_some() || args.remove.is_some() {
        return update(args, talk);
    }
    let project = args.project.open()?;
    let privacy = args.criteria.resolve(&project, args.project.sensitive.as_deref())?;
    if let Some(path) = &args.output {
        check_place(path, &project, args.force)?;
    }
    args.extent.check(Otherwise::Partial)?;
    let choice = args.project.choice(&privacy);
    let origin = args.output.as_ref().map(|_| Origin::before(&project, &choice)).transpose()?;
    let counted = args.project.count(&project, &privacy, talk)?;
    let criteria = &privacy.criteria;
    if !criteria.is_empty() {
        check_criteria(criteria, counted.counts.n_records(), &counted.n_sensitive_values())?;
    }
    let Some(lattice) = lattice(args, &counted, criteria, talk)? else {
        say_counts(&counted, None, talk);
        return Ok(Exit::Done);
    };
    if let (Some(path), Some(origin)) = (&args.output, origin) {
        let n_bytes = save(path, &lattice, &counted.counts, &origin.finish(&project, &counted.source)?, args.force)?;
        talk.note(format!("{} written, {}", path.display(), size_in_words(n_bytes as usize)));
    }
    if let (Some(path), true) = (&args.output, has_counts_only(&lattice)) {
        say_counts(&counted, Some(path), talk);
        return Ok(Exit::Done);
    }
    say(args, &lattice, criteria, talk)
}

/// As much of the lattice as the flags or its size say; none where that is nothing, and no file is to be kept.
fn lattice(args: &Args, counted: &Counted, criteria: &Criteria, talk: &Talk) -> Result<Option<Lattice>> {
    let annotated = |selection: Option<Selection>| {
        let measures = criteria.iter().map(|criterion| criterion.measure).collect();
        args.project.annotate_some(counted, measures, args.entropy, selection, talk)
    };
    let is_forced = args.extent.forced()?.is_some();
    let (mut extent, mut reason) = args.extent.choice(&args.project, counted, Otherwise::Partial)?;
    // Said once it is known to be so.
    let say = |reason: Option<String>| reason.into_iter().for_each(|reason| talk.note(reason));
    loop {
        let selection = match extent {
            Extent::Full => None,
            Extent::Partial(selection) => Some(selection),
            // The file holds the counts, and what is asked later is evaluated from them.
            Extent::OnDemand if args.output.is_some() => Some(Selection { share: 0.0, ..Selection::default() }),
            Extent::OnDemand => {
                say(reason);
                return Ok(None);
            }
        };
        match annotated(selection) {
            // It turned out to be too large after all.
            Err(error) if error.kind() == ErrorKind::TooLarge && !is_forced && extent != Extent::OnDemand => {
                let otherwise = if extent == Extent::Full { Otherwise::Partial } else { Otherwise::OnDemand };
                let why = "does not fit into the memory that is allowed";
                (extent, reason) = args.extent.instead(why, &args.project, counted, otherwise)?;
            }
            lattice => {
                say(reason);
                return lattice.map(Some);
            }
        }
    }
}

/// What there is to say where nothing is annotated, and the counts are kept in a file or not at all.
fn say_counts(counted: &Material, kept: Option<&Path>, talk: &Talk) {
    let n_schemes = incrowd::scheme::n_schemes(&counted.hierarchies);
    let (n_records, n_groups) = (counted.counts.n_records(), counted.counts.n_groups());
    talk.json(&json!({
        "extent": "on-demand",
        "n_schemes": n_schemes,
        "n_annotated": 0,
        "n_records": n_records,
        "n_groups": n_groups,
    }));
    talk.say(format!(
        "{} in {}; {} schemes, none of them annotated.",
        sentences::counted_words(n_records, "record"),
        sentences::counted_words(n_groups as u64, "group"),
        n_schemes.map_or("over 10^19".to_string(), grouped)
    ));
    talk.say(match kept {
        Some(path) => format!(
            "The counts of {} are kept in {}; incrowd negotiate --lattice searches them on demand.",
            sentences::counted_words(n_groups as u64, "combination"),
            path.display()
        ),
        None => "incrowd negotiate and incrowd publish evaluate schemes as they need them.".to_string(),
    });
}

/// Prints a lattice in the form that the flags ask for.
fn say(args: &Args, lattice: &Lattice, criteria: &Criteria, talk: &Talk) -> Result<Exit> {
    if talk.is_json {
        talk.json(&document(lattice, criteria, args.per_scheme));
        return Ok(Exit::Done);
    }
    let (header, rows) = if args.per_scheme { scheme_rows(lattice, criteria) } else { height_rows(lattice, criteria) };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    if args.csv {
        talk.say(csv(&header, &rows).trim_end());
        return Ok(Exit::Done);
    }
    talk.say(format!(
        "{}, {}, {}, {} of annotations ({} bytes per scheme)\n",
        sentences::counted_words(lattice.n_records(), "record"),
        sentences::counted_words(lattice.hierarchies().len() as u64, "quasi-identifier"),
        sentences::schemes_in_words(lattice),
        size_in_words(lattice.n_bytes()),
        grouped((lattice.n_bytes() / lattice.schemes().len().max(1)) as u64),
    ));
    talk.say(columns(&header, &rows, &[]));
    if criteria.is_empty() {
        talk.note("give --k, --l, --t or another criterion to see how many records each scheme would lose");
    }
    Ok(Exit::Done)
}

/// Records have come or gone: the counts change by theirs, and the lattice is that of the table that results.
fn update(args: &Args, talk: &Talk) -> Result<Exit> {
    let path = &args.project.project;
    if !path.exists() {
        return Err(Error::new(ErrorKind::Io, "there is no such file")
            .at(path.display().to_string())
            .hint("make a lattice with: incrowd annotate -o FILE"));
    }
    if !path.is_file() {
        return Err(Error::new(ErrorKind::Request, "is not a lattice that was kept")
            .at(path.display().to_string())
            .hint("name the file: incrowd annotate --append new.csv adult.crowd"));
    }
    let output = args.output.as_deref().unwrap_or(path);
    let replaces = args.force || output == path;
    let project = Project::open(&folder_of_project(path))?;
    let at = |error: Error| error.or_at(path.display().to_string());
    let (lattice, origin, content) = saved::read(path)?;
    check_place(output, &project, replaces)?;
    let others: Vec<PathBuf> = args.append.iter().chain(&args.remove).cloned().collect();
    check_not_among(output, &others)?;
    let names = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
    // Whatever can be wrong is wrong before anything is written.
    let criteria = criteria_to_show(args, &project, &lattice)?;
    let choice = Choice {
        quasi_identifiers: Some(names),
        sensitive: Some(wire::sensitive_names(&lattice)),
        with_population: false,
        n_threads: usize::from(args.project.threads),
    };
    let open = |path: &Option<PathBuf>| path.as_ref().map(|path| Source::open(path, &project.csv)).transpose();
    let (appended, removed) = (open(&args.append)?, open(&args.remove)?);
    let (origin, is_same_project) =
        origin.updated(&project, &choice, appended.as_ref(), removed.as_ref(), args.force).map_err(at)?;
    let before = content.counts()?;
    let mut counts = before.clone();
    if let Some(source) = &appended {
        counts = counts.with_records(&counted(source, &project, &choice, talk)?)?;
    }
    if let Some(source) = &removed {
        let position = source.files()[0].display().to_string();
        let gone = counted(source, &project, &choice, talk)?;
        counts = counts.without_records(&gone).map_err(|error| error.at(position))?;
    }
    let (quasi_identifiers, sensitive) = chosen(&project, &choice)?;
    let material = Material::new(quasi_identifiers, sensitive, counts)?;
    if !criteria.is_empty() {
        check_criteria(&criteria, material.counts.n_records(), &material.n_sensitive_values())?;
    }
    let followed = match is_same_project {
        true => args.project.follow(&lattice, &before, &material, talk).map_err(at)?,
        false => None,
    };
    let updated = match followed {
        Some(updated) => updated,
        None => {
            let with_entropy = lattice.entropies().is_some();
            let measures = lattice.measures().to_vec();
            args.project.annotate_some(&material, measures, with_entropy, lattice.selection(), talk)?
        }
    };
    // The old file is read no more.
    drop((lattice, content));
    let n_bytes = save(output, &updated, &material.counts, &origin, replaces)?;
    talk.note(format!(
        "{} written, {}: {} where there were {}",
        output.display(),
        size_in_words(n_bytes as usize),
        sentences::counted_words(material.counts.n_records(), "record"),
        grouped(before.n_records())
    ));
    if has_counts_only(&updated) {
        say_counts(&material, Some(output), talk);
        return Ok(Exit::Done);
    }
    say(args, &updated, &criteria, talk)
}

/// The criteria that a lattice is shown with: those of the flags, which it has measured; or of the project's standing ones
/// those that it has.
fn criteria_to_show(args: &Args, project: &Project, lattice: &Lattice) -> Result<Criteria> {
    let at = |error: Error| error.at(args.project.project.display().to_string());
    let known = wire::sensitive_names(lattice);
    let privacy = args.criteria.resolve(project, args.project.sensitive.as_deref())?;
    let is_asked = !args.criteria.texts().is_empty();
    if let Some(name) = privacy.sensitive.iter().find(|name| !known.contains(name)) {
        return match is_asked {
            true => {
                let message = format!("was annotated without the sensitive attribute '{name}'");
                Err(at(Error::new(ErrorKind::Request, message).hint("annotate again with a criterion about it")))
            }
            false => Ok(Criteria::default()),
        };
    }
    let criteria = privacy.about(&known).criteria;
    match is_asked {
        true => lattice.check_measured(&criteria).map(|()| criteria).map_err(at),
        false => {
            let is_measured = |criterion: &Criterion| lattice.measures().contains(&criterion.measure);
            Ok(Criteria::new(criteria.iter().filter(is_measured)))
        }
    }
}

/// The project that a kept lattice belongs to: that of this folder, or else that of the file's.
fn folder_of_project(lattice: &Path) -> PathBuf {
    let beside = lattice.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match Path::new("incrowd.toml").exists() {
        true => PathBuf::from("."),
        false => beside.to_path_buf(),
    }
}

/// Counts records that come or go; they have the columns that were counted before.
fn counted(source: &Source, project: &Project, choice: &Choice, talk: &Talk) -> Result<incrowd::GroupCounts> {
    let (quasi_identifiers, sensitive) = chosen(project, choice)?;
    let quasi_identifiers: Vec<&str> = quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect();
    let sensitive: Vec<&str> = sensitive.iter().map(|attribute| attribute.name.as_str()).collect();
    quasi_identifiers.iter().chain(&sensitive).try_for_each(|name| source.check_column(name))?;
    let counts = count_source(source, &quasi_identifiers, &sensitive, &project.missing, choice.n_threads(), talk)?;
    check_values(&chosen(project, choice)?.0, &counts, source)?;
    Ok(counts)
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
    object.insert("n_schemes".into(), json!(lattice.n_schemes()));
    object.insert("extent".into(), json!(if lattice.selection().is_some() { "partial" } else { "full" }));
    if let Some(selection) = lattice.selection() {
        object.insert("n_annotated".into(), json!(lattice.schemes().len()));
        object.insert("share".into(), json!(selection.share));
        object.insert("estimator".into(), json!(selection.estimator.name()));
    }
    object.insert("n_bytes".into(), json!(lattice.n_bytes()));
    object.insert("n_looks".into(), json!(lattice.signatures().len()));
    object.insert("criteria".into(), Value::Object(wire::criteria(criteria, &wire::sensitive_names(lattice))));
    object.insert("heights".into(), by_height(lattice, criteria).iter().map(height).collect());
    if per_scheme {
        object.insert("schemes".into(), (0..lattice.schemes().len()).map(scheme).collect());
    }
    Value::Object(object)
}
