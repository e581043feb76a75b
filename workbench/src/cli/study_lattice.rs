//! `incrowd study lattice`: how good the answers of a partial lattice are, beside those of the whole one.

use incrowd::Result;
use incrowd::search::partial::{Estimator, Selection};

use super::arguments::{PageArgs, ProjectArgs, parse_share};
use super::terminal::{Exit, Terminal, columns};
use crate::orders::histogram::GivenScheme;
use crate::orders::known::Known;
use crate::orders::request::{Suppression, criterion_text};
use crate::orders::study_lattice::{Accuracy, ComparedRequest, StudiedLattice, StudyLattice, Summary, summaries};
use crate::sentences::{self, grouped};
use crate::words::{self, figures, studies};

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
  incrowd study lattice --l 3,6 --levels 2,1,1 --levels 1,0,1 -o lattice.html
  incrowd study lattice --k 3,10,50 --lost 0.1%,1%,10% --json")]
pub struct Args {
    #[command(flatten)]
    pub project: ProjectArgs,
    /// The k of the requests [default: 3,10,50, as far as there are records, where no criterion is given]
    #[arg(long, value_name = "K,K,…", value_delimiter = ',')]
    pub k: Vec<String>,
    /// The k of requests for k-map
    #[arg(long, value_name = "K,K,…", value_delimiter = ',')]
    pub k_map: Vec<String>,
    /// The l of requests; NAME:L where there are several sensitive attributes
    #[arg(long, value_name = "L,L,…", value_delimiter = ',')]
    pub l: Vec<String>,
    /// The t of requests
    #[arg(long, value_name = "T,T,…", value_delimiter = ',')]
    pub t: Vec<String>,
    /// The α of requests
    #[arg(long, value_name = "SHARE,…", value_delimiter = ',')]
    pub alpha: Vec<String>,
    /// The entropy l of requests
    #[arg(long, value_name = "L,L,…", value_delimiter = ',')]
    pub entropy_l: Vec<String>,
    /// The recursive (c,l)-diversity of requests; may be given several times
    #[arg(long, value_name = "C,L")]
    pub recursive: Vec<String>,
    /// The δ of requests
    #[arg(long, value_name = "DELTA,…", value_delimiter = ',')]
    pub delta: Vec<String>,
    /// The β of requests
    #[arg(long, value_name = "BETA,…", value_delimiter = ',')]
    pub beta: Vec<String>,
    /// The enhanced β of requests
    #[arg(long, value_name = "BETA,…", value_delimiter = ',')]
    pub enhanced_beta: Vec<String>,
    /// The coarsest acceptable scheme of requests, as 2,1,1 or age=2,race=1; may be given several times [default: a
    /// quarter, three eighths and half of each hierarchy]
    #[arg(long, value_name = "SCHEME")]
    pub levels: Vec<String>,
    /// The shares of records that requests allow to lose
    #[arg(long, value_name = "P%,P%,…", value_delimiter = ',', default_value = "0.1%,1%,10%")]
    pub lost: Vec<String>,
    /// The share of the schemes of every height that are made, and at least two
    #[arg(long, value_name = "P%", default_value = "5%")]
    pub partial: String,
    /// What makes schemes promising: gamma, mu, gamma-mu or lambda
    #[arg(long, value_name = "NAME", default_value = "lambda")]
    pub estimator: String,
    #[command(flatten)]
    pub page: PageArgs,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let order = StudyLattice {
        about: args.project.about(),
        criteria: [
            ("k", &args.k),
            ("k_map", &args.k_map),
            ("l", &args.l),
            ("t", &args.t),
            ("alpha", &args.alpha),
            ("entropy_l", &args.entropy_l),
            ("recursive", &args.recursive),
            ("delta", &args.delta),
            ("beta", &args.beta),
            ("enhanced_beta", &args.enhanced_beta),
        ]
        .into_iter()
        .flat_map(|(name, values)| values.iter().map(move |value| criterion_text(name, value)))
        .collect(),
        levels: args.levels.iter().map(|text| GivenScheme::parse(text)).collect::<Result<_>>()?,
        lost: args.lost.iter().map(|text| Suppression::parse(text)).collect::<Result<_>>()?,
        selection: Selection { share: parse_share(&args.partial)?, estimator: Estimator::parse(&args.estimator)? },
    };
    let project = args.project.open()?;
    let work = args.project.work(terminal)?;
    args.page.check(Some(&project))?;
    let study = order.run(&project, &Known::default(), &work)?;
    args.page.write(|| page(&study))?;
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
    args.page.say(terminal);
    Ok(Exit::Done)
}

/// The page: what estimators select, and what requests get.
fn page(study: &StudiedLattice) -> String {
    let about = format!(
        "{}, {}",
        sentences::counted_words(study.whole.n_records(), "record"),
        sentences::schemes_in_words(&study.partial)
    );
    let tables = [
        ("How well each level groups records".to_string(), POWERS.map(String::from).to_vec(), power_rows(study)),
        ("What requests get".to_string(), COMPARED.map(String::from).to_vec(), compared_rows(&study.requests)),
    ];
    figures::page("A part of the lattice beside the whole", &about, &words::study_lattice::figures(study), &tables)
}

const POWERS: [&str; 5] = ["attribute", "level", "groups", "average size γ", "relative μ"];

fn power_rows(study: &StudiedLattice) -> Vec<Vec<String>> {
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
    rows
}

fn say_powers(study: &StudiedLattice, terminal: &Terminal) {
    terminal.say("How well each level groups records, all other attributes as they are:\n");
    terminal.say(columns(&POWERS, &power_rows(study), &[0]));
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
        let asked = sentences::criterion_in_words(of_k[0].criterion, &study.sensitive);
        std::iter::once(asked).chain(of_k.iter().map(cell)).collect::<Vec<String>>()
    };
    let header: Vec<&str> = std::iter::once("").chain(Estimator::ALL.map(Estimator::name)).collect();
    terminal.say(columns(&header, &study.accuracies.chunks(Estimator::ALL.len()).map(row).collect::<Vec<_>>(), &[0]));
}

const COMPARED: [&str; 8] = ["lattice", "answer", "both", "missed", "equal", "mean Δ records lost", "Δ height", "Δ k"];

fn compared_rows(compared: &[ComparedRequest]) -> Vec<Vec<String>> {
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
    summaries(compared).iter().map(row).collect()
}

fn say_compared(compared: &[ComparedRequest], terminal: &Terminal) {
    terminal.say(format!("\n{} requests, beside the whole lattice's answers:\n", compared.len()));
    terminal.say(columns(&COMPARED, &compared_rows(compared), &[0, 1]));
}
