//! `incrowd study local`: what local recoding loses beside other methods.

use incrowd::Result;

use super::arguments::{ProjectArgs, ShownArgs};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::orders::contenders::{Contender, N_QUERIES};
use crate::orders::known::Known;
use crate::orders::study_local::{StudyLocal, sample_size};
use crate::sentences::counted_words;
use crate::words::{figures, study_local};

/// What local recoding loses beside other methods, against k, the number of attributes and of records, and weights
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Loss (NCP), C_DM, C_AVG (also divided by k) and the median relative error of random range queries, for the algorithms of \
the Utility paper as printed and ours, Mondrian, and the best scheme of the lattice: for every k; at one k for the first \
2, 3, … quasi-identifiers, and for samples of an eighth, a quarter and half of the records; and what raising the weight of one attribute does to the others.

Examples:
  incrowd study local                                     the project in this folder
  incrowd study local --k 2,5,10,25,50,100 -o local.html
  incrowd study local --methods top-down,top-down:published,mondrian --weight age --csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// Values of k [default: 2,5,10,25,50,100, as far as there are records]
    #[arg(long, value_name = "K,K,…", value_delimiter = ',')]
    pub k: Vec<u64>,
    /// The k at which attributes, records and weights vary [default: the middle one]
    #[arg(long, value_name = "K")]
    pub at_k: Option<u64>,
    /// Who is compared, as for compare [default: the paper's methods as printed and ours, mondrian, global:ncp]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub methods: Option<Vec<String>>,
    /// How many quasi-identifiers each set has, from the first on [default: 2 to all]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub sets: Vec<usize>,
    /// How many records samples of the table have, numbers or shares [default: 12.5%,25%,50%]
    #[arg(long, value_name = "N,P%,…", value_delimiter = ',')]
    pub records: Vec<String>,
    /// The attribute whose weight is raised [default: the first]
    #[arg(long, value_name = "NAME")]
    pub weight: Option<String>,
    /// Random queries of each kind
    #[arg(long, value_name = "N", default_value_t = N_QUERIES)]
    pub n_queries: usize,
    /// Where chance comes from
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    #[command(flatten)]
    pub shown: ShownArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let parse = |names: &Vec<String>| names.iter().map(|name| Contender::parse(name.trim())).collect::<Result<_>>();
    let order = StudyLocal {
        about: args.project.about(),
        ks: args.k.clone(),
        k: args.at_k,
        contenders: args.methods.as_ref().map(parse).transpose()?,
        sets: args.sets.clone(),
        records: args.records.iter().map(|text| sample_size(text)).collect::<Result<_>>()?,
        weight: args.weight.clone(),
        n_queries: args.n_queries.clamp(1, 100_000),
        seed: args.seed,
    };
    let project = args.project.open()?;
    args.shown.page.check(Some(&project))?;
    let study = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    let rows = study_local::rows(&study);
    let about = format!(
        "{}; attributes, records and weights vary at k = {}",
        counted_words(study.by_k.counted.counts.n_records(), "record"),
        study.k
    );
    let header: Vec<String> = study_local::HEADER.map(|name| name.replace('_', " ")).to_vec();
    args.shown.page.write(|| {
        let tables = [("All numbers".to_string(), header.clone(), rows.clone())];
        figures::page("Local recoding beside other methods", &about, &study_local::figures(&study), &tables)
    })?;
    if terminal.is_json {
        terminal.json(&study_local::document(&study));
        return Ok(Exit::Done);
    }
    if args.shown.csv {
        terminal.say(csv(&study_local::HEADER.map(String::from), &rows).trim_end());
        return Ok(Exit::Done);
    }
    terminal.say(format!("{about}\n"));
    terminal.say(columns(&header.iter().map(String::as_str).collect::<Vec<_>>(), &rows, &[3]));
    args.shown.page.say(terminal);
    Ok(Exit::Done)
}
