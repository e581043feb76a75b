//! `incrowd study suppression`: how suppression, generalization and privacy interact.

use incrowd::{Error, ErrorKind, Measure, Result, wire};

use super::arguments::{ProjectArgs, ShownArgs, levels};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::input::project::CriterionText;
use crate::orders::histogram::GivenScheme;
use crate::orders::known::Known;
use crate::orders::request::criterion_text;
use crate::orders::study_suppression::{MaxLevel, StudiedSet, StudiedSuppression, StudySuppression};
use crate::sentences::{self, criterion_in_words, grouped};
use crate::words::figures::{self, sets_in_words};
use crate::words::studies::{self, SUPPRESSION_HEADER, suppression_rows};

/// How many records are lost at every height, for several criteria and sets of quasi-identifiers
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Every value of every criterion is asked for alone, of all schemes over nested sets of quasi-identifiers: the first so \
many of those of the project, or of --quasi-identifiers, which also gives their order. For every height: the fewest \
records that a scheme suppresses, the mean and the most, the mean as a share of the table, by how much less that is than \
at the height below, and how it compares with the weaker criterion and the smaller set.

Examples:
  incrowd study suppression                                the project in this folder
  incrowd study suppression --k 3,10,25 --l 3,6,9 --sets 3,4,5,6 -o study.html
  incrowd study suppression --max-level 1 --k 3 --csv      the part between the finest scheme and level 1 of all
  incrowd study suppression --by-power --t 0.1,0.2,0.3
  incrowd study suppression --k 10 --scheme 1,0,2 -o study.html")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Values of k [default: 3,10,25, and l = 3,6,9, where no criterion is given]
    #[arg(long, value_name = "K,K,…", value_delimiter = ',')]
    pub k: Vec<String>,
    /// Values of k-map
    #[arg(long, value_name = "K,K,…", value_delimiter = ',')]
    pub k_map: Vec<String>,
    /// Values of l; NAME:L where there are several sensitive attributes
    #[arg(long, value_name = "L,L,…", value_delimiter = ',')]
    pub l: Vec<String>,
    /// Values of α
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',')]
    pub alpha: Vec<String>,
    /// Values of entropy l
    #[arg(long, value_name = "L,L,…", value_delimiter = ',')]
    pub entropy_l: Vec<String>,
    /// A value of recursive (c,l)-diversity; may be given several times
    #[arg(long, value_name = "C,L")]
    pub recursive: Vec<String>,
    /// Values of t
    #[arg(long, value_name = "T,T,…", value_delimiter = ',')]
    pub t: Vec<String>,
    /// Values of δ
    #[arg(long, value_name = "DELTA,…", value_delimiter = ',')]
    pub delta: Vec<String>,
    /// Values of β
    #[arg(long, value_name = "BETA,…", value_delimiter = ',')]
    pub beta: Vec<String>,
    /// Values of enhanced β
    #[arg(long, value_name = "BETA,…", value_delimiter = ',')]
    pub enhanced_beta: Vec<String>,
    /// How many quasi-identifiers each set has, from the first on [default: all, and up to three fewer]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub sets: Vec<usize>,
    /// Take quasi-identifiers in the order of their grouping power: first the one that makes the smallest group alone
    #[arg(long)]
    pub by_power: bool,
    /// Only the schemes up to this level of all attributes, or of those that are named
    #[arg(long, value_name = "LEVEL|A=LEVEL,…", value_delimiter = ',')]
    pub max_level: Vec<String>,
    /// The scheme whose histograms the page shows: 1,0,2 or age=1,sex=0 [default: the finest]
    #[arg(long, value_name = "SCHEME")]
    pub scheme: Option<String>,
    /// The scheme that is marked in lattices [default: the coarsest that the project's [request] accepts]
    #[arg(long, value_name = "SCHEME")]
    pub mark: Option<String>,
    /// With --json, every scheme too
    #[arg(long)]
    pub per_scheme: bool,
    #[command(flatten)]
    pub shown: ShownArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    if args.per_scheme && !terminal.is_json {
        return Err(Error::new(ErrorKind::Request, "--per-scheme is about --json").hint("add --json, or draw with -o"));
    }
    let order = order(args)?;
    let project = args.project.open()?;
    args.shown.page.check(Some(&project))?;
    let study = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    args.shown.page.write(|| page(&study))?;
    if terminal.is_json {
        terminal.json(&studies::suppression(&study, args.per_scheme));
        return Ok(Exit::Done);
    }
    if args.shown.csv {
        terminal.say(csv(&SUPPRESSION_HEADER.map(String::from), &suppression_rows(&study)).trim_end());
        return Ok(Exit::Done);
    }
    terminal.say(format!("{}\n", about(&study)));
    for (s, set) in study.sets.iter().enumerate() {
        say_set(&study, s, set, terminal);
    }
    args.shown.page.say(terminal);
    Ok(Exit::Done)
}

fn order(args: &Args) -> Result<StudySuppression> {
    let given = [
        ("k", &args.k),
        ("k_map", &args.k_map),
        ("l", &args.l),
        ("alpha", &args.alpha),
        ("entropy_l", &args.entropy_l),
        ("recursive", &args.recursive),
        ("t", &args.t),
        ("delta", &args.delta),
        ("beta", &args.beta),
        ("enhanced_beta", &args.enhanced_beta),
    ];
    let texts = |(name, values): (&'static str, &Vec<String>)| -> Vec<CriterionText> {
        values.iter().map(|value| criterion_text(name, value)).collect()
    };
    Ok(StudySuppression {
        about: args.project.about(),
        criteria: given.into_iter().flat_map(texts).collect(),
        sets: args.sets.clone(),
        by_power: args.by_power,
        max_level: max_level(&args.max_level)?,
        scheme: args.scheme.as_deref().map_or(Ok(GivenScheme::Finest), GivenScheme::parse)?,
        mark: args.mark.as_deref().map(GivenScheme::parse).transpose()?,
    })
}

fn max_level(given: &[String]) -> Result<Option<MaxLevel>> {
    match given {
        [] => Ok(None),
        [one] if !one.contains('=') => one.trim().parse().map(|level| Some(MaxLevel::All(level))).map_err(|_| {
            Error::new(ErrorKind::Request, format!("'{one}' is not a level")).hint("for example --max-level 1")
        }),
        named => levels(named).map(|levels| Some(MaxLevel::Named(levels))),
    }
}

fn about(study: &StudiedSuppression) -> String {
    let criteria: Vec<String> =
        study.criteria.iter().map(|criterion| criterion_in_words(*criterion, &study.sensitive)).collect();
    let part = if study.is_part { "; a part of each lattice" } else { "" };
    format!(
        "{}; {}; sets of quasi-identifiers: {}{part}",
        sentences::counted_words(study.lattice.n_records(), "record"),
        criteria.join(", "),
        sets_in_words(study)
    )
}

fn say_set(study: &StudiedSuppression, s: usize, set: &StudiedSet, terminal: &Terminal) {
    terminal.say(format!(
        "{}: {} ({})\n",
        sentences::counted_words(set.attributes.len() as u64, "quasi-identifier"),
        set.attributes.join(", "),
        sentences::counted_words(set.n_schemes() as u64, "scheme"),
    ));
    let mut measures: Vec<Measure> = study.criteria.iter().map(|criterion| criterion.measure).collect();
    measures.dedup();
    for measure in measures {
        let (header, rows) = set_table(study, s, set, measure);
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        terminal.say(columns(&header, &rows, &[]));
        terminal.say("");
    }
}

/// A line per height: for every criterion the least, the mean and the most, and the mean's share and change.
fn set_table(
    study: &StudiedSuppression,
    s: usize,
    set: &StudiedSet,
    measure: Measure,
) -> (Vec<String>, Vec<Vec<String>>) {
    let of_measure = || study.criteria.iter().enumerate().filter(|(_, criterion)| criterion.measure == measure);
    let mut header = vec!["height".to_string(), "schemes".to_string()];
    for (c, criterion) in of_measure() {
        let name = wire::key(criterion.measure, &study.sensitive);
        header.push(format!("{name}={} min", figures::value_of(*criterion)));
        header.extend(["avg", "max", "% avg", "change"].map(String::from));
        header.extend(study.weaker(c).map(|_| "× weaker".to_string()));
        header.extend((s > 0).then(|| "× smaller".to_string()));
    }
    let n_records = study.lattice.n_records().max(1) as f64;
    let percent = |value: Option<f64>| value.map_or("–".into(), |value| format!("{:.2}", value * 100.0));
    let times = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.2}"));
    let row = |height: usize| {
        let mut row = vec![height.to_string(), grouped(set.places[height].len() as u64)];
        for (c, _) in of_measure() {
            let spread = &set.suppressed[c][height];
            row.extend([spread.least.to_string(), format!("{:.2}", spread.mean()), spread.most.to_string()]);
            row.extend([percent(Some(spread.mean() / n_records)), percent(set.change(c, height))]);
            row.extend(study.weaker(c).map(|_| times(study.ratio_to_weaker(s, c, height))));
            row.extend((s > 0).then(|| times(study.ratio_to_smaller(s, c, height))));
        }
        row
    };
    (header, (0..set.places.len()).map(row).collect())
}

/// The page: all charts, and all numbers.
fn page(study: &StudiedSuppression) -> String {
    // The names of the attributes stand above.
    let short = |row: Vec<String>| row.into_iter().enumerate().filter(|(i, _)| *i != 1).map(|(_, cell)| cell).collect();
    let header = short(SUPPRESSION_HEADER.map(|name| name.replace('_', " ")).to_vec());
    let tables = [("All numbers".to_string(), header, suppression_rows(study).into_iter().map(short).collect())];
    figures::page("Suppression, generalization and privacy", &about(study), &figures::suppression(study), &tables)
}
