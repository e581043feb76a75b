//! `incrowd study records`: what the searches for single records look at, and what they are worth.

use incrowd::Result;

use super::arguments::{ProjectArgs, ShownArgs};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::orders::known::Known;
use crate::orders::study_records::{N_SAMPLED, StudyRecords};
use crate::sentences::counted_words;
use crate::words::{figures, study_records};

/// What the searches for single records look at, and risk and utility beside k-anonymous schemes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
For some records, evenly taken from all: the generalization of least risk that keeps a share of the record's utility, by \
the ARUBA paper's best-first search (BTDA), its walk along the frontier, and ours; how many generalizations each looks \
at, and how long it takes, against that share and against the number of attributes (Figure 7). And for several k, ten \
k-anonymous schemes beside all records one by one that keep as much utility (Figure 9). Sensitivities are random, as in \
the paper. Figure 2 is incrowd map.

Examples:
  incrowd study records                                  the project in this folder
  incrowd study records --sample 100 -o records.html
  incrowd study records --thresholds 20,50,80 --sets 3,6 --csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// How many records are solved
    #[arg(long, value_name = "N", default_value_t = N_SAMPLED)]
    pub sample: usize,
    /// Shares of its utility that a record keeps at least, in percent
    #[arg(long, value_name = "P,P,…", value_delimiter = ',', default_value = "10,20,30,40,50,60,70,80,90")]
    pub thresholds: Vec<u8>,
    /// How many quasi-identifiers each set has, from the first on [default: 2 to all]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub sets: Vec<usize>,
    /// The k of the schemes to compare with
    #[arg(long, value_name = "K,K,…", value_delimiter = ',', default_value = "1,2,10,50,100")]
    pub k: Vec<u64>,
    /// Where random sensitivities come from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub shown: ShownArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = StudyRecords {
        about: args.project.about(),
        n_sampled: args.sample.max(1),
        thresholds: args.thresholds.clone(),
        sets: args.sets.clone(),
        ks: args.k.clone(),
        seed: args.seed,
    };
    let project = args.project.open()?;
    args.shown.page.check(Some(&project))?;
    let study = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    let about = format!(
        "{} with {}, {} of them solved",
        counted_words(study.n_records, "record"),
        counted_words(study.attributes.len() as u64, "quasi-identifier"),
        study.n_sampled
    );
    let header: Vec<String> = study_records::HEADER.map(|name| name.replace('_', " ")).to_vec();
    let beside_header: Vec<String> = study_records::BESIDE_HEADER.map(String::from).to_vec();
    let (rows, beside) = (study_records::rows(&study), study_records::beside_rows(&study));
    args.shown.page.write(|| {
        let tables = [
            ("What the searches look at".to_string(), header.clone(), rows.clone()),
            ("Beside k-anonymous schemes".to_string(), beside_header.clone(), beside.clone()),
        ];
        figures::page("Records one by one", &about, &study_records::figures(&study), &tables)
    })?;
    if terminal.is_json {
        terminal.json(&study_records::document(&study));
        return Ok(Exit::Done);
    }
    if args.shown.csv {
        terminal.say(csv(&study_records::HEADER.map(String::from), &rows).trim_end());
        return Ok(Exit::Done);
    }
    let table = |header: &[String], rows: &[Vec<String>], left: &[usize]| {
        columns(&header.iter().map(String::as_str).collect::<Vec<_>>(), rows, left)
    };
    terminal.say(format!("{about}\n"));
    terminal.say(table(&header, &rows, &[0, 1]));
    if !beside.is_empty() {
        terminal
            .say("\nUp to ten k-anonymous schemes for each k, and records one by one that keep their mean utility:\n");
        terminal.say(table(&beside_header, &beside, &[0]));
    }
    args.shown.page.say(terminal);
    Ok(Exit::Done)
}
