//! `incrowd study requests`: what requests get from all of the lattice, from parts of it, on demand and as published.

use std::path::PathBuf;

use incrowd::Result;
use incrowd::search::partial::Estimator;

use super::arguments::{ProjectArgs, ShownArgs, TIME, parse_share, parse_time};
use super::terminal::{Exit, Terminal, columns, csv};
use crate::orders::known::Known;
use crate::orders::study_requests::{RequestSource, StudyRequests};
use crate::sentences::{counted_words, grouped};
use crate::words::{figures, study_requests};

/// What requests get from the whole lattice, from parts of it, on demand and as published, and what that costs
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Every request is answered from the whole lattice, by the published algorithms, from the most promising part of it by \
each estimator, from that part with the coarsest acceptable scheme evaluated when the request arrives, and on demand. \
Parts are compared with the published algorithms on the whole lattice, the others with the best of the whole lattice. \
Best is the lowest scheme, as in the thesis.

Requests come from a grid (k = 3, 10, 50; 0.1, 1 and 10 % of the records lost; levels up to a quarter, three eighths and \
half of each hierarchy), from --chapter-4, or from a CSV file with a request per line:

  k,l,max_suppressed,max_level,quasi_identifiers
  10,,321,\"age=2,race=1\",age race workclass
  ,3,1%,211,age race workclass

Examples:
  incrowd study requests                                  the project in this folder
  incrowd study requests adult --chapter-4 -o requests.html
  incrowd study requests --requests mine.csv --partial 5% --estimator lambda --csv")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// A CSV file of requests, instead of the grid
    #[arg(long, value_name = "FILE", conflicts_with = "chapter_4")]
    pub requests: Option<PathBuf>,
    /// The 56 requests of the thesis' chapter 4, over its six attributes of Adult
    #[arg(long, conflicts_with = "quasi_identifiers")]
    pub chapter_4: bool,
    /// The shares of the schemes of every height that parts have, and at least two
    #[arg(long, value_name = "P%,P%,…", value_delimiter = ',', default_value = "1%,5%,10%")]
    pub partial: Vec<String>,
    /// What makes schemes promising: gamma, mu, gamma-mu, lambda
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', default_value = "gamma,mu,gamma-mu,lambda")]
    pub estimator: Vec<String>,
    /// How long one search on demand may take
    #[arg(long, value_name = "TIME", default_value = TIME)]
    pub time: String,
    #[command(flatten)]
    pub shown: ShownArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = StudyRequests {
        about: args.project.about(),
        asked: match (&args.requests, args.chapter_4) {
            (Some(path), _) => RequestSource::File(path.clone()),
            (None, true) => RequestSource::Chapter4,
            (None, false) => RequestSource::Grid,
        },
        shares: args.partial.iter().map(|text| parse_share(text)).collect::<Result<_>>()?,
        estimators: args.estimator.iter().map(|name| Estimator::parse(name)).collect::<Result<_>>()?,
        time: parse_time(&args.time)?,
    };
    let project = args.project.open()?;
    args.shown.page.check(Some(&project))?;
    let study = order.run(&project, &Known::default(), &args.project.work(terminal)?)?;
    let header = || study_requests::SUMMARY_HEADER.map(String::from).to_vec();
    let n_requests: usize = study.sets.iter().map(|set| set.requests.len()).sum();
    let about = format!(
        "{} of {} quasi-identifiers, each answered in {} ways",
        counted_words(n_requests as u64, "request"),
        study.sets.iter().map(|set| set.attributes.len().to_string()).collect::<Vec<_>>().join(", "),
        study.sets.first().map_or(0, |set| set.ways.len()),
    );
    args.shown.page.write(|| {
        let tables = [
            ("Every way".to_string(), header(), study_requests::summary_rows(&study)),
            (
                "Every answer".to_string(),
                study_requests::HEADER.map(String::from).to_vec(),
                study_requests::rows(&study),
            ),
        ];
        figures::page("Requests, and ways to answer them", &about, &study_requests::figures(&study), &tables)
    })?;
    if terminal.is_json {
        terminal.json(&study_requests::document(&study));
        return Ok(Exit::Done);
    }
    if args.shown.csv {
        terminal.say(csv(&study_requests::HEADER.map(String::from), &study_requests::rows(&study)).trim_end());
        return Ok(Exit::Done);
    }
    terminal.say(format!("{about}; {} records\n", grouped(study.sets.first().map_or(0, |set| set.whole.n_records()))));
    let header = header();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    terminal.say(columns(&header, &study_requests::summary_rows(&study), &[1]));
    terminal.say(
        "\n  (making: before the first request; missed: answers that the whole lattice has; equal: requests answered the \
         same;\n  Δ: records and height more than the whole lattice's exact answers and height offers; looked at and ms: per request)",
    );
    args.shown.page.say(terminal);
    Ok(Exit::Done)
}
