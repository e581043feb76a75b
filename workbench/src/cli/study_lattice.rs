//! `incrowd study lattice`: how good the answers of a partial lattice are, beside those of the whole one.
//!
//! The experiments of the thesis' chapter 5, on any project: how well levels group records (Table 5.1), which estimator
//! selects the schemes that suppress least (Figures 5.2 to 5.13), and what requests lose when only part of the lattice is
//! annotated (Figures 5.16 to 5.22), or that part and the coarsest acceptable scheme (Figures 5.27 to 5.29).

use crate::sentences;
use crate::sentences::grouped;
use incrowd::search::negotiate::negotiate_as_published;
use incrowd::search::partial::{Estimator, Power, Selection, powers, select};
use incrowd::wire;
use incrowd::{
    Answer, Criteria, Error, ErrorKind, Lattice, Level, Measure, Offer, Plan, Ranking, Request, Result, Scheme,
};
use serde_json::{Map, Value, json};

use super::arguments::{ProjectArgs, parse_share};
use super::terminal::{Exit, Terminal, columns};
use crate::input::count::Material;
use crate::input::count::count;
use crate::orders::compare::leave_out_too_large;
use crate::orders::lattice::{annotate, annotate_some};
use crate::orders::wishes::Suppression;

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

/// The k of the requests where nobody says.
const KS: [u64; 3] = [3, 10, 50];

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    let selection = Selection { share: parse_share(&args.partial)?, estimator: Estimator::parse(&args.estimator)? };
    let project = args.project.open()?;
    let (about, work) = (args.project.about(), args.project.work(terminal)?);
    let privacy = about.no_privacy(&project)?;
    let counted = count(&project, &about.choice(&privacy), &work)?;
    let n_records = counted.counts.n_records();
    let ks = if args.k.is_empty() { leave_out_too_large(KS.to_vec(), n_records, &work) } else { args.k.clone() };
    if let Some(k) = ks.iter().find(|&&k| k == 0 || k > n_records) {
        return Err(Error::new(
            ErrorKind::Request,
            format!("k = {k} is not among 1 to {n_records}, the records that there are"),
        ));
    }
    let shares = args.lost.iter().map(|text| Suppression::parse(text)?.of(n_records)).collect::<Result<Vec<u64>>>()?;
    let whole = annotate(&counted, &Criteria::default(), &Ranking::default(), &work)?;
    let measures = whole.measures().to_vec();
    let partial = annotate_some(&counted, measures, false, Some(selection), &work)?;
    let study = Study::new(&counted, whole, partial);
    let accuracies: Vec<Accuracy> = ks.iter().flat_map(|&k| study.accuracies(k)).collect();
    let requests = requests(&study.whole, &ks, &shares);
    let compared = requests.into_iter().map(|request| study.compared(request)).collect::<Result<Vec<Compared>>>()?;
    if terminal.is_json {
        terminal.json(&document(&study, &accuracies, &compared));
        return Ok(Exit::Done);
    }
    terminal.say(format!(
        "{}, {}\n",
        sentences::counted_words(n_records, "record"),
        sentences::schemes_in_words(&study.partial)
    ));
    say_powers(&study, terminal);
    say_accuracies(&study, &accuracies, terminal);
    say_compared(&compared, terminal);
    Ok(Exit::Done)
}

/// A whole lattice and a part of it.
pub struct Study<'a> {
    material: &'a Material,
    pub whole: Lattice,
    pub partial: Lattice,
    pub powers: Vec<Vec<Power>>,
}

impl<'a> Study<'a> {
    /// Both are lattices of the material, with the same measures.
    pub fn new(material: &'a Material, whole: Lattice, partial: Lattice) -> Study<'a> {
        Study { powers: powers(&material.counts, &material.hierarchies), material, whole, partial }
    }

    /// How near each estimator's selection comes to the least suppression, height by height.
    pub fn accuracies(&self, k: u64) -> Vec<Accuracy> {
        let criteria = Criteria::of(Some(k), None);
        let share = self.partial.selection().expect("it is partial").share;
        let schemes = self.whole.schemes();
        let lost = |place: usize| self.whole.n_suppressed(place, &criteria);
        let least = |places: &mut dyn Iterator<Item = usize>| places.map(lost).min().unwrap_or(0);
        let of = |estimator: Estimator| {
            let selected = select(&self.powers, Selection { share, estimator });
            let by_height = (0..schemes.n_heights()).map(|height| {
                let found = least(&mut selected.at_height(height).map(|at| schemes.place(&selected.scheme(at))));
                (least(&mut schemes.at_height(height)), found)
            });
            Accuracy { k, estimator, n_records: self.whole.n_records(), by_height: by_height.collect() }
        };
        Estimator::ALL.map(of).into()
    }

    /// What a request gets from the whole lattice, from the part, and from the part with the coarsest acceptable scheme.
    pub fn compared(&self, request: Request) -> Result<Compared> {
        let weights = self.material.weights();
        let yardstick = self.material.yardstick(self.partial.measures().iter().copied())?;
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
        let mut extended = self.partial.clone();
        extended.extend(&self.material.counts, &plan, &request.level_max)?;
        Ok(Compared {
            whole: negotiate_as_published(&self.whole, &request)?,
            partial: negotiate_as_published(&self.partial, &request)?,
            extended: negotiate_as_published(&extended, &request)?,
            request,
        })
    }
}

/// How near an estimator's selection comes to the least suppression.
pub struct Accuracy {
    pub k: u64,
    pub estimator: Estimator,
    n_records: u64,
    /// The fewest records that any scheme suppresses, and that a selected one does.
    pub by_height: Vec<(u64, u64)>,
}

impl Accuracy {
    /// At how many heights the best scheme is not selected.
    pub fn n_missed(&self) -> usize {
        self.by_height.iter().filter(|(least, found)| least != found).count()
    }

    /// By how much the selected schemes suppress more, on average over heights: relative to the least, or to the table
    /// where that is 0.
    pub fn mean_error(&self) -> f64 {
        let error = |&(least, found): &(u64, u64)| {
            (found - least) as f64 / if least == 0 { self.n_records } else { least } as f64
        };
        self.by_height.iter().map(error).sum::<f64>() / self.by_height.len() as f64
    }
}

/// A request, and what it gets.
pub struct Compared {
    pub request: Request,
    pub whole: Answer,
    pub partial: Answer,
    pub extended: Answer,
}

/// What a partial lattice's answer has more than the whole one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The answer is of another kind, or neither lattice has one.
    Neither,
    /// The whole lattice answers, the partial one does not.
    Lost,
    By {
        n_suppressed: i64,
        height: i64,
        k: i64,
    },
}

/// The differences of the exact answers, and of the offers for suppression, height and privacy.
///
/// Offers are compared with the whole lattice's exact answer where only the partial one has none.
pub fn differences(whole: &Answer, partial: &Answer) -> [Difference; 4] {
    let (whole_exact, whole_offers) = parts(whole);
    let (partial_exact, partial_offers) = parts(partial);
    let exact = match (whole_exact, partial_exact) {
        (Some(whole), Some(partial)) => difference(whole, partial),
        (Some(_), None) => Difference::Lost,
        _ => Difference::Neither,
    };
    let of_offer = |i: usize| match (whole_exact.or(whole_offers[i]), partial_offers[i], partial_exact) {
        (_, _, Some(_)) | (None, _, _) => Difference::Neither,
        (Some(whole), Some(partial), None) => difference(whole, partial),
        (Some(_), None, None) => Difference::Lost,
    };
    [exact, of_offer(0), of_offer(1), of_offer(2)]
}

fn parts(answer: &Answer) -> (Option<&Offer>, [Option<&Offer>; 3]) {
    match answer {
        Answer::Exact(offer) => (Some(offer), [None; 3]),
        Answer::Offers(offers) => (None, [Some(&offers.suppression), offers.height.as_ref(), offers.privacy.as_ref()]),
    }
}

fn difference(whole: &Offer, partial: &Offer) -> Difference {
    let k = |offer: &Offer| offer.criteria.value(Measure::Size).unwrap_or(0) as i64;
    Difference::By {
        n_suppressed: partial.n_suppressed as i64 - whole.n_suppressed as i64,
        height: i64::from(partial.scheme.height()) - i64::from(whole.scheme.height()),
        k: k(partial) - k(whole),
    }
}

/// Every k with every number of records lost and every set of highest levels.
fn requests(whole: &Lattice, ks: &[u64], lost: &[u64]) -> Vec<Request> {
    let levels = |share: f64| {
        let level = |&top: &u8| Level((f64::from(top) * share).round() as u8);
        Scheme::new(whole.schemes().tops().iter().map(level).collect())
    };
    let mut requests = Vec::new();
    for &k in ks {
        for &n_suppressed_max in lost {
            for level_max in [levels(0.25), levels(0.375), levels(0.5)] {
                let criteria = Criteria::of(Some(k), None);
                requests.push(Request { criteria, n_suppressed_max, level_max, best_by: Ranking::default() });
            }
        }
    }
    requests
}

fn say_powers(study: &Study, terminal: &Terminal) {
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

fn say_accuracies(study: &Study, accuracies: &[Accuracy], terminal: &Terminal) {
    let share = study.partial.selection().expect("it is partial").share * 100.0;
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
    terminal.say(columns(&header, &accuracies.chunks(Estimator::ALL.len()).map(row).collect::<Vec<_>>(), &[]));
}

/// What is said of the differences of one kind of answer.
struct Summary {
    n_both: usize,
    n_lost: usize,
    n_equal: usize,
    /// Means over the requests that both answer.
    n_suppressed: f64,
    height: f64,
    k: f64,
}

impl Summary {
    fn of(differences: &[Difference]) -> Summary {
        let by = differences.iter().filter_map(|difference| match difference {
            Difference::By { n_suppressed, height, k } => Some((*n_suppressed, *height, *k)),
            _ => None,
        });
        let both: Vec<(i64, i64, i64)> = by.collect();
        let mean =
            |part: fn(&(i64, i64, i64)) -> i64| both.iter().map(part).sum::<i64>() as f64 / both.len().max(1) as f64;
        Summary {
            n_both: both.len(),
            n_lost: differences.iter().filter(|difference| **difference == Difference::Lost).count(),
            n_equal: both.iter().filter(|by| **by == (0, 0, 0)).count(),
            n_suppressed: mean(|by| by.0),
            height: mean(|by| by.1),
            k: mean(|by| by.2),
        }
    }
}

const KINDS: [&str; 4] = ["exact", "suppression", "height", "privacy"];

/// By lattice and kind of answer.
fn summaries(compared: &[Compared]) -> Vec<(&'static str, &'static str, Summary)> {
    let mut summaries = Vec::new();
    for (name, of) in [("partial", false), ("with the coarsest acceptable", true)] {
        let all: Vec<[Difference; 4]> = compared
            .iter()
            .map(|compared| differences(&compared.whole, if of { &compared.extended } else { &compared.partial }))
            .collect();
        for (i, kind) in KINDS.into_iter().enumerate() {
            let of_kind: Vec<Difference> = all.iter().map(|all| all[i]).collect();
            summaries.push((name, kind, Summary::of(&of_kind)));
        }
    }
    summaries
}

fn say_compared(compared: &[Compared], terminal: &Terminal) {
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

fn document(study: &Study, accuracies: &[Accuracy], compared: &[Compared]) -> Value {
    let selection = study.partial.selection().expect("it is partial");
    let names: Vec<&str> = study.whole.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let mut levels = Vec::new();
    for (name, of_level) in names.iter().zip(&study.powers) {
        for (level, power) in of_level.iter().enumerate() {
            let Power { n_groups, gamma, mu } = power;
            levels.push(json!({
                "attribute": name, "level": level, "n_groups": n_groups,
                "gamma": wire::rounded(*gamma), "mu": wire::rounded(*mu),
            }));
        }
    }
    let accuracy = |accuracy: &Accuracy| {
        let height = |(height, (least, found)): (usize, &(u64, u64))| json!({ "height": height, "n_suppressed_least": least, "n_suppressed_selected": found });
        json!({
            "k": accuracy.k,
            "estimator": accuracy.estimator.name(),
            "n_missed": accuracy.n_missed(),
            "mean_error": wire::rounded(accuracy.mean_error()),
            "heights": accuracy.by_height.iter().enumerate().map(height).collect::<Vec<_>>(),
        })
    };
    let difference = |difference: &Difference| match difference {
        Difference::Neither => Value::Null,
        Difference::Lost => json!("missed"),
        Difference::By { n_suppressed, height, k } => {
            json!({ "n_suppressed": n_suppressed, "height": height, "k": k })
        }
    };
    let of = |whole: &Answer, answer: &Answer| -> Value {
        let kinds = KINDS.iter().zip(differences(whole, answer)).map(|(kind, by)| (kind.to_string(), difference(&by)));
        Value::Object(kinds.collect::<Map<String, Value>>())
    };
    let request = |compared: &Compared| {
        json!({
            "request": wire::request(&study.whole, &compared.request),
            "partial": of(&compared.whole, &compared.partial),
            "extended": of(&compared.whole, &compared.extended),
        })
    };
    let summary = |(name, kind, summary): &(&str, &str, Summary)| {
        json!({
            "lattice": name, "answer": kind, "n_both": summary.n_both, "n_missed": summary.n_lost,
            "n_equal": summary.n_equal, "mean_n_suppressed": wire::rounded(summary.n_suppressed),
            "mean_height": wire::rounded(summary.height), "mean_k": wire::rounded(summary.k),
        })
    };
    json!({
        "n_records": study.whole.n_records(),
        "n_schemes": study.whole.schemes().len(),
        "n_annotated": study.partial.schemes().len(),
        "share": selection.share,
        "estimator": selection.estimator.name(),
        "levels": levels,
        "accuracy": accuracies.iter().map(accuracy).collect::<Vec<_>>(),
        "requests": compared.iter().map(request).collect::<Vec<_>>(),
        "summary": summaries(compared).iter().map(summary).collect::<Vec<_>>(),
    })
}
