//! `study lattice`: how good the answers of a partial lattice are, beside those of the whole one.
//!
//! The experiments of the thesis' chapter 5, on any project: how well levels group records (Table 5.1), which estimator
//! selects the schemes that suppress least (Figures 5.2 to 5.13), and what requests lose when only part of the lattice is
//! annotated (Figures 5.16 to 5.22), or that part and the coarsest acceptable scheme (Figures 5.27 to 5.29).

use std::sync::Arc;

use incrowd::search::as_published::negotiate_as_published_with;
use incrowd::search::partial::{Estimator, Power, Selection, powers, select};
use incrowd::search::request::check_criteria;
use incrowd::{Answer, Criteria, Criterion, Hierarchy, Lattice, Level, Offer, Plan, Quality, Request, Result, Scheme};

use super::compare::leave_out_too_large;
use super::histogram::GivenScheme;
use super::known::Known;
use super::request::{About, Suppression, each_alone};
use crate::input::count::Material;
use crate::input::project::{CriterionText, Project};
use crate::work::Work;

/// Which requests are asked of which part of the lattice.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyLattice {
    pub about: About,
    /// Each is asked for alone; the thesis' k, as far as there are records, where none is given.
    pub criteria: Vec<CriterionText>,
    /// The coarsest acceptable schemes of the requests: a quarter, three eighths and half of each hierarchy where none are
    /// given.
    pub levels: Vec<GivenScheme>,
    /// How many records requests allow to lose.
    pub lost: Vec<Suppression>,
    pub selection: Selection,
}

/// What came of it.
pub struct StudiedLattice {
    pub whole: Arc<Lattice>,
    pub partial: Arc<Lattice>,
    pub selection: Selection,
    /// By attribute and level, how well it groups records.
    pub powers: Vec<Vec<Power>>,
    /// The sensitive attributes that criteria are about.
    pub sensitive: Vec<String>,
    /// For every criterion, every estimator.
    pub accuracies: Vec<Accuracy>,
    pub requests: Vec<ComparedRequest>,
}

/// The k of the requests where nobody says.
const KS: [u64; 3] = [3, 10, 50];

/// How many records requests allow to lose where nobody says.
pub const LOST: [&str; 3] = ["0.1%", "1%", "10%"];

impl StudyLattice {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<StudiedLattice> {
        let (criteria, privacy) = each_alone(&self.criteria, project, &self.about)?;
        let counted = known.count(project, &self.about.choice(&privacy), work)?;
        let n_records = counted.counts.n_records();
        let criteria = match criteria.is_empty() {
            true => leave_out_too_large(KS.to_vec(), n_records, work).into_iter().map(Criterion::k).collect(),
            false => criteria,
        };
        for &criterion in &criteria {
            check_criteria(&Criteria::new([criterion]), counted.counts.crowd(), &counted.n_sensitive_values())?;
        }
        let levels = match self.levels.is_empty() {
            true => usual_levels(&counted.hierarchies).to_vec(),
            false => self.levels.iter().map(|levels| levels.on(&counted.hierarchies)).collect::<Result<Vec<_>>>()?,
        };
        let lost = self.lost.iter().map(|most| most.of(n_records)).collect::<Result<Vec<u64>>>()?;
        let whole = known.annotate(&counted, criteria.iter().map(|criterion| criterion.measure), false, work)?;
        let measures = whole.measures().to_vec();
        let partial = known.annotate_some(&counted, measures, false, Some(self.selection), work)?;
        let study = Study::new(&counted, whole, partial);
        let accuracies = criteria.iter().map(|&criterion| work.check().map(|()| study.accuracies_of(criterion)));
        let accuracies = accuracies.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        let requests = grid(&criteria, &lost, &levels).into_iter();
        let requests = requests.map(|request| work.check().and_then(|()| study.compared(request, work)));
        let requests = requests.collect::<Result<Vec<_>>>()?;
        let Study { whole, partial, powers, .. } = study;
        let sensitive = privacy.sensitive;
        Ok(StudiedLattice { whole, partial, selection: self.selection, powers, sensitive, accuracies, requests })
    }
}

/// A whole lattice and a part of it.
pub struct Study<'a> {
    material: &'a Material,
    pub whole: Arc<Lattice>,
    pub partial: Arc<Lattice>,
    pub powers: Vec<Vec<Power>>,
}

impl<'a> Study<'a> {
    /// Both are lattices of the material, with the same measures.
    pub fn new(material: &'a Material, whole: impl Into<Arc<Lattice>>, partial: impl Into<Arc<Lattice>>) -> Study<'a> {
        let (whole, partial) = (whole.into(), partial.into());
        Study { powers: powers(&material.counts, &material.hierarchies), material, whole, partial }
    }

    /// How near each estimator's selection comes to the least suppression, height by height.
    pub fn accuracies(&self, k: u64) -> Vec<Accuracy> {
        self.accuracies_of(Criterion::k(k))
    }

    /// The same for any criterion.
    fn accuracies_of(&self, criterion: Criterion) -> Vec<Accuracy> {
        let criteria = Criteria::new([criterion]);
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
            Accuracy { criterion, estimator, n_records: self.whole.n_records(), by_height: by_height.collect() }
        };
        Estimator::ALL.map(of).into()
    }

    /// What a request gets from the whole lattice, from the part, and from the part with the coarsest acceptable scheme.
    pub fn compared(&self, request: Request, work: &Work) -> Result<ComparedRequest> {
        let weights = self.material.weights();
        let yardstick = self.material.yardstick(self.partial.measures().iter().copied())?;
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
        let mut extended = Lattice::clone(&self.partial);
        extended.extend(&self.material.counts, &plan, &request.level_max)?;
        let answer = |lattice| work.quietly(|task| negotiate_as_published_with(lattice, &request, task));
        let (whole, partial, extended) = (answer(&self.whole)?, answer(&self.partial)?, answer(&extended)?);
        Ok(ComparedRequest { whole, partial, extended, request })
    }
}

/// How near an estimator's selection comes to the least suppression.
pub struct Accuracy {
    pub criterion: Criterion,
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
pub struct ComparedRequest {
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
        /// Of the criterion that is asked for, where that is not k; in millionths where it is no count.
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
    let k = |offer: &Offer| offer.criteria.iter().next().map_or(0, |criterion| criterion.value as i64);
    Difference::By {
        n_suppressed: partial.n_suppressed as i64 - whole.n_suppressed as i64,
        height: i64::from(partial.scheme.height()) - i64::from(whole.scheme.height()),
        k: k(partial) - k(whole),
    }
}

/// A quarter, three eighths and half of each hierarchy.
pub fn usual_levels(hierarchies: &[Hierarchy]) -> [Scheme; 3] {
    [0.25, 0.375, 0.5].map(|share| {
        let level = |hierarchy: &Hierarchy| Level((hierarchy.top() as f64 * share).round() as u8);
        Scheme::new(hierarchies.iter().map(level).collect())
    })
}

/// Every criterion with every number of records lost and every set of highest levels.
pub fn grid(all: &[Criterion], lost: &[u64], levels: &[Scheme]) -> Vec<Request> {
    let mut requests = Vec::new();
    for &criterion in all {
        for &n_suppressed_max in lost {
            for level_max in levels.iter().cloned() {
                let criteria = Criteria::new([criterion]);
                requests.push(Request { criteria, n_suppressed_max, level_max, best_by: Quality::Height.into() });
            }
        }
    }
    requests
}

/// What is said of the differences of one kind of answer.
pub struct Summary {
    pub n_both: usize,
    pub n_lost: usize,
    pub n_equal: usize,
    /// Means over the requests that both answer.
    pub n_suppressed: f64,
    pub height: f64,
    pub k: f64,
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

/// The kinds of answers that are compared.
pub const KINDS: [&str; 4] = ["exact", "suppression", "height", "privacy"];

/// By lattice and kind of answer.
pub fn summaries(compared: &[ComparedRequest]) -> Vec<(&'static str, &'static str, Summary)> {
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
