//! `incrowd study lattice`: how good the answers of a partial lattice are, beside those of the whole one.

use incrowd::Result;
use incrowd::search::partial::{Estimator, Selection};

use super::arguments::{ProjectArgs, parse_share};
use super::terminal::{Exit, Terminal, columns};
use crate::orders::known::Known;
use crate::orders::request::Suppression;
use crate::orders::study_lattice::{Accuracy, ComparedRequest, StudiedLattice, StudyLattice, Summary, summaries};
use crate::sentences::{self, grouped};
use crate::words::studies;

/// How good the answers of a partial lattice are, beside those of the whole one
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
For every k, share of records that may be lost and set of highest levels (a quarter, three eighths and half of each \
hierarchy) a request is answered from the whole lattice, from the partial one alone, and from the partial one with the \
coarsest acceptable scheme evaluated when the request arrives, all by the thesis' algorithms. Missed means that the \
whole lattice has such an answer and the partial one does not; the differences are of the others.

Examples:
  incrowd study lattice                               the project in this folder
  incrowd study lattice --partial 1% --estimator gamma
  incrowd study lattice --k 3,10,50 --lost 0.1%,1%,10% --json")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The k of the requests [default: 3,10,50, as far as there are records]
    #[arg(long, value_name = "K,K,…", value_delimiter = ',')]
    pub k: Vec<u64>,
    /// The shares of records that requests allow to lose
    #[arg(long, value_name = "P%,P%,…", value_delimiter = ',', default_value = "0.1%,1%,10%")]
    pub lost: Vec<String>,
    /// The share of the schemes of every height that are made, and at least two
    #[arg(long, value_name = "P%", default_value = "5%")]
    pub partial: String,
    /// What makes schemes promising: gamma, mu, gamma-mu or lambda
    #[arg(long, value_name = "NAME", default_value = "lambda")]
    pub estimator: String,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = StudyLattice {
        about: args.project.about(),
        ks: args.k.clone(),
        lost: args.lost.iter().map(|text| Suppression::parse(text)).collect::<Result<_>>()?,
        selection: Selection { share: parse_share(&args.partial)?, estimator: Estimator::parse(&args.estimator)? },
    };
    let project = args.project.open()?;
    let work = args.project.work(terminal)?;
    let study = order.run(&project, &Known::default(), &work)?;
    if terminal.is_json {
        terminal.json(&studies::lattice(&study));
        return Ok(Exit::Done);
    }
    terminal.say(format!(
        "{}, {}\n",
        sentences::counted_words(study.whole.n_records(), "record"),
        sentences::schemes_in_words(&study.partial)
    ));
    say_powers(&study, terminal);
    say_accuracies(&study, terminal);
    say_compared(&study.requests, terminal);
    Ok(Exit::Done)
}

fn say_powers(study: &StudiedLattice, terminal: &Terminal) {
    let mut rows = Vec::new();
    for (hierarchy, of_level) in study.whole.hierarchies().iter().zip(&study.powers) {
        for (level, power) in of_level.iter().enumerate() {
            rows.push(vec![
                hierarchy.attribute().to_string(),
                level.to_string(),
                grouped(power.n_groups),
                format!("{:.2}", power.gamma),
                format!("{:.2}", power.mu),
            ]);
        }
    }
    terminal.say("How well each level groups records, all other attributes as they are:\n");
    terminal.say(columns(&["attribute", "level", "groups", "average size γ", "relative μ"], &rows, &[0]));
}

fn say_accuracies(study: &StudiedLattice, terminal: &Terminal) {
    let share = study.selection.share * 100.0;
    terminal.say(format!(
        "\nThe best {share} % of every height by each estimator: heights at which the scheme that suppresses least is \
         missed, of {}, and by how much more is suppressed on average:\n",
        study.whole.schemes().n_heights()
    ));
    let row = |of_k: &[Accuracy]| {
        let cell = |accuracy: &Accuracy| format!("{}, {:.2} %", accuracy.n_missed(), accuracy.mean_error() * 100.0);
        std::iter::once(of_k[0].k.to_string()).chain(of_k.iter().map(cell)).collect::<Vec<String>>()
    };
    let header: Vec<&str> = std::iter::once("k").chain(Estimator::ALL.map(Estimator::name)).collect();
    terminal.say(columns(&header, &study.accuracies.chunks(Estimator::ALL.len()).map(row).collect::<Vec<_>>(), &[]));
}

fn say_compared(compared: &[ComparedRequest], terminal: &Terminal) {
    let row = |(name, kind, summary): &(&str, &str, Summary)| {
        let mean = |value: f64| if summary.n_both == 0 { "–".to_string() } else { format!("{value:+.2}") };
        vec![
            name.to_string(),
            kind.to_string(),
            summary.n_both.to_string(),
            summary.n_lost.to_string(),
            summary.n_equal.to_string(),
            mean(summary.n_suppressed),
            mean(summary.height),
            mean(summary.k),
        ]
    };
    terminal.say(format!("\n{} requests, beside the whole lattice's answers:\n", compared.len()));
    let header = ["lattice", "answer", "both", "missed", "equal", "mean Δ records lost", "Δ height", "Δ k"];
    terminal.say(columns(&header, &summaries(compared).iter().map(row).collect::<Vec<_>>(), &[0, 1]));
}
