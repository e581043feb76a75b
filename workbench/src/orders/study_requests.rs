//! `study requests`: what requests get from all of the lattice, from parts of it, on demand and by the published
//! algorithms, and what each way costs.
//!
//! The experiments of the thesis' chapters 4 and 5 (Figures 4.9 to 4.11, 5.16 to 5.29, Table 5.2) on any project, with
//! requests of one's own, with a grid of them, or with chapter 4's.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use incrowd::search::as_published::{Book, negotiate_by_the_book};
use incrowd::search::negotiate::negotiate_with;
use incrowd::search::partial::{Estimator, Selection, powers, score, select};
use incrowd::search::request::check_criteria;
use incrowd::task::Task;
use incrowd::{Answer, Criterion, Error, ErrorKind, Lattice, Plan, Quality, Request, Result, Scheme};

use super::extent::search;
use super::histogram::GivenScheme;
use super::known::Known;
use super::lattice::annotate_some;
use super::request::{About, GivenRequest, Suppression, criterion_text};
use super::study_lattice::{Difference, LOST, differences, grid, usual_levels};
use crate::input::count::Counted;
use crate::input::project::{CRITERIA, CriterionText, Project};
use crate::io_error;
use crate::work::Work;

/// Which requests are asked of which parts of the lattice.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRequests {
    pub about: About,
    pub asked: RequestSource,
    /// The shares of the schemes that parts have.
    pub shares: Vec<f64>,
    pub estimators: Vec<Estimator>,
    /// How long one search on demand may take.
    pub time: Duration,
}

/// Where requests come from.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestSource {
    /// Every k with every number of records lost and every set of highest levels.
    Grid,
    /// The 56 requests of chapter 4, over the nested sets of its six attributes of Adult.
    Chapter4,
    /// A CSV file with a request per line.
    File(PathBuf),
}

/// The shares that the thesis studies.
pub const SHARES: [f64; 3] = [0.01, 0.05, 0.1];

/// A way to an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    /// The best of the whole lattice.
    Whole,
    /// The whole lattice by the thesis' algorithms (Figures 4.3 to 4.8).
    Published,
    /// A part of the lattice by the thesis' algorithms (Figure 5.15).
    Partial(Selection),
    /// The same with the coarsest acceptable scheme evaluated when the request arrives (Figure 5.23).
    Extended(Selection),
    OnDemand,
}

impl Way {
    pub fn name(self) -> String {
        let part = |of: Selection| format!("{}% {}", (of.share * 1e4).round() / 100.0, of.estimator.name());
        match self {
            Way::Whole => "whole".into(),
            Way::Published => "as published".into(),
            Way::Partial(of) => format!("partial {}", part(of)),
            Way::Extended(of) => format!("partial {} + coarsest", part(of)),
            Way::OnDemand => "on demand".into(),
        }
    }
}

/// What came of it, by set of quasi-identifiers.
pub struct StudiedRequests {
    pub sets: Vec<AskedSet>,
}

/// The requests over one set of quasi-identifiers.
pub struct AskedSet {
    pub attributes: Vec<String>,
    pub whole: Arc<Lattice>,
    pub ways: Vec<Prepared>,
    pub requests: Vec<AskedRequest>,
}

/// A way, and what has to be there before the first request.
pub struct Prepared {
    pub way: Way,
    /// Schemes that are annotated, and what their annotations take.
    pub n_annotated: usize,
    pub n_bytes: usize,
    /// To find out how well levels group, to select schemes by that, and to annotate them (Table 5.2).
    pub seconds: [f64; 3],
}

/// A request and what every way answers.
pub struct AskedRequest {
    pub request: Request,
    /// In the order of the ways.
    pub answers: Vec<WayAnswer>,
}

/// What one way answers.
pub struct WayAnswer {
    pub answer: Answer,
    pub n_looked_at: u64,
    pub seconds: f64,
    /// Beside the whole lattice by the same algorithm: exact, and the offers for suppression, height and privacy.
    pub differences: [Difference; 4],
}

impl StudyRequests {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<StudiedRequests> {
        if let Some(share) = self.shares.iter().find(|&&share| !(share > 0.0 && share <= 1.0)) {
            let message = format!("{} % of the schemes cannot be annotated", share * 100.0);
            return Err(Error::new(ErrorKind::Request, message).hint("give shares above 0% and up to 100%"));
        }
        let mut sets = Vec::new();
        for (about, given) in self.asked(project)? {
            sets.push(self.of_set(&about, &given, project, known, work)?);
        }
        Ok(StudiedRequests { sets })
    }

    /// The requests that are asked, by the attributes that they are about; none where the grid depends on the table.
    fn asked(&self, project: &Project) -> Result<Vec<(About, Vec<Given>)>> {
        match &self.asked {
            RequestSource::Grid => Ok(vec![(self.about.clone(), Vec::new())]),
            RequestSource::Chapter4 => chapter_4(project, &self.about),
            RequestSource::File(path) => {
                read(path, &self.about).map_err(|error| error.or_at(path.display().to_string()))
            }
        }
    }

    fn of_set(
        &self,
        about: &About,
        given: &[Given],
        project: &Project,
        known: &Known,
        work: &Work,
    ) -> Result<AskedSet> {
        let texts: Vec<CriterionText> = given.iter().flat_map(|given| given.request.criteria.clone()).collect();
        let names: Vec<&CriterionText> = texts
            .iter()
            .enumerate()
            .filter(|(i, text)| {
                texts[..*i].iter().all(|before| (before.name, &before.attribute) != (text.name, &text.attribute))
            })
            .map(|(_, text)| text)
            .collect();
        let all =
            GivenRequest { with_standing: false, ..GivenRequest::of_criteria(names.into_iter().cloned().collect()) };
        let privacy = all.privacy(project, about)?;
        let counted = known.count(project, &about.choice(&privacy), work)?;
        let n_records = counted.counts.n_records();
        let requests = match given.is_empty() {
            true => {
                let ks = super::compare::leave_out_too_large(vec![3, 10, 50], n_records, work);
                let lost =
                    LOST.iter().map(|text| Suppression::parse(text)?.of(n_records)).collect::<Result<Vec<_>>>()?;
                let criteria: Vec<Criterion> = ks.into_iter().map(Criterion::k).collect();
                grid(&criteria, &lost, &usual_levels(&counted.hierarchies))
            }
            false => {
                let checked = |given: &Given| given.checked(project, about, &privacy.sensitive, &counted);
                given.iter().map(checked).collect::<Result<Vec<_>>>()?
            }
        };
        let measures = requests.iter().flat_map(|request| request.criteria.iter().map(|criterion| criterion.measure));
        let mut measures: Vec<_> = measures.collect();
        measures.sort_unstable();
        measures.dedup();
        let start = Instant::now();
        let whole = known.annotate(&counted, measures.iter().copied(), false, work)?;
        let seconds = start.elapsed().as_secs_f64();
        let (lattices, ways) = self.prepared(&counted, &whole, seconds, work)?;
        let mut asked = Vec::new();
        for request in requests {
            work.check()?;
            let answers = self.answers(&counted, &request, &whole, &ways, &lattices, work)?;
            asked.push(AskedRequest { request, answers });
        }
        let attributes = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
        Ok(AskedSet { attributes, whole, ways, requests: asked })
    }

    /// All ways, with the lattices of those that have a part.
    fn prepared(
        &self,
        counted: &Counted,
        whole: &Arc<Lattice>,
        seconds: f64,
        work: &Work,
    ) -> Result<(Vec<Option<Lattice>>, Vec<Prepared>)> {
        let of_whole = |way| Prepared {
            way,
            n_annotated: whole.schemes().len(),
            n_bytes: whole.n_bytes(),
            seconds: [0.0, 0.0, seconds],
        };
        let mut ways = vec![of_whole(Way::Whole), of_whole(Way::Published)];
        let mut lattices = vec![None, None];
        for &share in &self.shares {
            for &estimator in &self.estimators {
                let selection = Selection { share, estimator };
                let start = Instant::now();
                let powers = powers(&counted.counts, &counted.hierarchies);
                let of_powers = start.elapsed().as_secs_f64();
                let start = Instant::now();
                select(&powers, selection);
                let of_selecting = start.elapsed().as_secs_f64();
                let start = Instant::now();
                let part = annotate_some(counted, whole.measures().to_vec(), false, Some(selection), work)?;
                // Annotating does the two others once more.
                let of_annotating = (start.elapsed().as_secs_f64() - of_powers - of_selecting).max(0.0);
                let (n_annotated, n_bytes) = (part.schemes().len(), part.n_bytes());
                for way in [Way::Partial(selection), Way::Extended(selection)] {
                    let seconds = [of_powers, of_selecting, of_annotating];
                    ways.push(Prepared { way, n_annotated, n_bytes, seconds });
                    lattices.push(Some(part.clone()));
                }
            }
        }
        ways.push(Prepared { way: Way::OnDemand, n_annotated: 0, n_bytes: 0, seconds: [0.0; 3] });
        lattices.push(None);
        Ok((lattices, ways))
    }

    fn answers(
        &self,
        counted: &Counted,
        request: &Request,
        whole: &Lattice,
        ways: &[Prepared],
        lattices: &[Option<Lattice>],
        work: &Work,
    ) -> Result<Vec<WayAnswer>> {
        let weights = counted.weights();
        let yardstick = counted.yardstick(whole.measures().iter().copied())?;
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
        let powers = powers(&counted.counts, &counted.hierarchies);
        let mut answers: Vec<WayAnswer> = Vec::new();
        for (prepared, part) in ways.iter().zip(lattices) {
            let (start, looks) = (Instant::now(), AtomicU64::new(0));
            let progress = |n: u64| {
                looks.fetch_add(n, Ordering::Relaxed);
            };
            let rank = |scheme: &Scheme| match prepared.way {
                Way::Partial(of) | Way::Extended(of) => score(&powers, of.estimator, scheme),
                _ => 0.0,
            };
            let book = Book { rank: &rank, has_coarsest: matches!(prepared.way, Way::Extended(_)) };
            let by_the_book = |lattice: &Lattice| {
                let counting = |task: &Task| {
                    negotiate_by_the_book(lattice, request, &book, &Task { progress: &progress, ..*task })
                };
                work.quietly(counting)
            };
            let mut n_evaluated = 0;
            let answer = match (prepared.way, part) {
                (Way::Partial(_), Some(part)) => by_the_book(part)?,
                (Way::Extended(_), Some(part)) => {
                    let mut extended = part.clone();
                    let start_again = Instant::now();
                    extended.extend(&counted.counts, &plan, &request.level_max)?;
                    let answer = by_the_book(&extended)?;
                    // Copying the part is the study's business, not the request's.
                    let seconds = start_again.elapsed().as_secs_f64();
                    let differences = differences(&answers[1].answer, &answer);
                    let n_looked_at = looks.into_inner();
                    answers.push(WayAnswer { answer, n_looked_at, seconds, differences });
                    continue;
                }
                (Way::OnDemand, _) => {
                    let searched = search(counted, request, self.time, &|| false, work)?;
                    n_evaluated = searched.found.n_evaluated;
                    searched.found.answer
                }
                (Way::Whole, _) => {
                    work.quietly(|task| negotiate_with(whole, request, &Task { progress: &progress, ..*task }))?
                }
                _ => by_the_book(whole)?,
            };
            let seconds = start.elapsed().as_secs_f64();
            let beside = match prepared.way {
                Way::Partial(_) | Way::Extended(_) => answers.get(1),
                _ => answers.first(),
            };
            let differences = differences(beside.map_or(&answer, |beside| &beside.answer), &answer);
            let n_looked_at = looks.into_inner() + n_evaluated;
            answers.push(WayAnswer { answer, n_looked_at, seconds, differences });
        }
        Ok(answers)
    }
}

/// A request as it is given: what is wanted, and the coarsest acceptable scheme.
#[derive(Clone, Debug)]
struct Given {
    request: GivenRequest,
    level_max: Option<GivenScheme>,
}

impl Given {
    fn checked(&self, project: &Project, about: &About, sensitive: &[String], counted: &Counted) -> Result<Request> {
        let privacy = self.request.privacy(project, about)?.about(sensitive);
        let n_records = counted.counts.n_records();
        check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
        let request = self.request.checked(project, &privacy, &counted.hierarchies, n_records)?;
        let level_max: Scheme = match &self.level_max {
            // Attributes that are not named may go to their top.
            Some(GivenScheme::Named(levels)) => {
                super::request::with_levels(&request.level_max, levels, &counted.hierarchies)?
            }
            Some(scheme) => scheme.on(&counted.hierarchies)?,
            None => request.level_max.clone(),
        };
        Ok(Request { level_max, best_by: Quality::Height.into(), ..request })
    }
}

fn given(criteria: Vec<CriterionText>, lost: Suppression, level_max: Option<GivenScheme>) -> Given {
    let request = GivenRequest {
        max_suppressed: Some(lost),
        max_level: Some(Vec::new()),
        with_standing: false,
        ..GivenRequest::of_criteria(criteria)
    };
    Given { request, level_max }
}

/// Chapter 4's attributes, in the order of its level vectors, each with the size of the smallest set that it belongs to.
const CHAPTER_4: [(&str, usize); 6] =
    [("age", 3), ("education", 5), ("marital-status", 6), ("occupation", 4), ("race", 3), ("workclass", 3)];

/// The low, the usual and the middle constraint on levels, by the size of the set (Table 4.4).
const LEVELS: [[&str; 3]; 4] =
    [["101", "211", "212"], ["1001", "2011", "2112"], ["11001", "21012", "22112"], ["111001", "211012", "222112"]];

/// Sections 4.4 and 4.5: one of three parameters varies, the others stay in the middle.
fn chapter_4(project: &Project, about: &About) -> Result<Vec<(About, Vec<Given>)>> {
    for (name, _) in CHAPTER_4 {
        project
            .attribute(name)
            .map_err(|error| error.hint("chapter 4's requests are about six attributes of Adult"))?;
    }
    let of_size = |(size, levels): (usize, &[&str; 3])| {
        let names = CHAPTER_4.iter().filter(|(_, least)| *least <= size).map(|(name, _)| name.to_string()).collect();
        let mut all = Vec::new();
        for (name, values) in [("k", ["3", "10", "50"]), ("l", ["3", "6", "9"])] {
            let mut ask = |value: &str, lost: u64, levels: &str| -> Result<()> {
                let criteria = vec![criterion_text(name, value)];
                all.push(given(criteria, Suppression::Records(lost), Some(GivenScheme::parse(levels)?)));
                Ok(())
            };
            values.iter().try_for_each(|value| ask(value, 321, levels[1]))?;
            [levels[0], levels[2]].iter().try_for_each(|levels| ask(values[1], 321, levels))?;
            [32, 3216].iter().try_for_each(|&lost| ask(values[1], lost, levels[1]))?;
        }
        Ok((About { quasi_identifiers: Some(names), ..about.clone() }, all))
    };
    (3..).zip(&LEVELS).map(of_size).collect()
}

/// The columns of a file of requests beside the criteria.
const COLUMNS: [&str; 3] = ["max_suppressed", "max_level", "quasi_identifiers"];

/// Requests of a file, together where they are about the same attributes.
fn read(path: &Path, about: &About) -> Result<Vec<(About, Vec<Given>)>> {
    let text = std::fs::read_to_string(path).map_err(|error| io_error(path, error))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(false).from_reader(text.as_bytes());
    let wrong = |message: String| Error::new(ErrorKind::Request, message);
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    for name in &header {
        let criterion = name.rsplit_once(':').map_or(name, |(_, name)| name);
        if !CRITERIA.contains(&criterion) && !COLUMNS.contains(&name) {
            let known: Vec<&str> = CRITERIA.into_iter().chain(COLUMNS).collect();
            return Err(incrowd::error::unknown(ErrorKind::Request, "column", name, &known));
        }
    }
    let mut sets: Vec<(About, Vec<Given>)> = Vec::new();
    for (i, record) in reader.records().enumerate() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let at = |error: Error| error.or_at(format!("{}: line {}", path.display(), i + 2));
        let cells = || header.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let cell = |wanted: &str| cells().find(|(name, _)| *name == wanted).map(|(_, cell)| cell);
        let criteria = cells().filter_map(|(name, cell)| {
            let (attribute, criterion) = match name.rsplit_once(':') {
                Some((attribute, criterion)) => (Some(attribute.to_string()), criterion),
                None => (None, name),
            };
            let name = CRITERIA.into_iter().find(|known| *known == criterion)?;
            Some(CriterionText { name, attribute, value: cell.to_string() })
        });
        let criteria: Vec<CriterionText> = criteria.collect();
        if criteria.is_empty() {
            return Err(at(wrong("no privacy is asked for".into()).hint("for example a column k")));
        }
        let lost = cell("max_suppressed").map_or(Ok(Suppression::Records(0)), Suppression::parse).map_err(at)?;
        let level_max = cell("max_level").map(GivenScheme::parse).transpose().map_err(at)?;
        let own = cell("quasi_identifiers").map(|names| names.split([' ', ';', ',']).filter(|name| !name.is_empty()));
        let own = own.map(|names| names.map(str::to_string).collect());
        let about = About { quasi_identifiers: own.or(about.quasi_identifiers.clone()), ..about.clone() };
        let given = given(criteria, lost, level_max);
        match sets.iter_mut().find(|(known, _)| *known == about) {
            Some((_, requests)) => requests.push(given),
            None => sets.push((about, vec![given])),
        }
    }
    match sets.is_empty() {
        true => {
            Err(wrong("there is no request in it".into())
                .hint("a header such as k,max_suppressed and a line per request"))
        }
        false => Ok(sets),
    }
}

/// What is said of one way over the requests of a set.
pub struct WaySummary {
    pub n_requests: usize,
    pub n_exact: usize,
    /// Answers of any kind that the whole lattice has and this way does not.
    pub n_missed: usize,
    /// Requests whose answers are all the same.
    pub n_equal: usize,
    pub mean_looked_at: f64,
    pub mean_seconds: f64,
    /// How many records more the exact answers and the height offers lose on average, and how much higher they are.
    pub mean_n_suppressed: f64,
    pub mean_height: f64,
}

impl AskedSet {
    pub fn summary(&self, way: usize) -> WaySummary {
        let answers: Vec<&WayAnswer> = self.requests.iter().map(|asked| &asked.answers[way]).collect();
        let n = answers.len().max(1) as f64;
        let by = |answer: &&WayAnswer| {
            let kinds = [answer.differences[0], answer.differences[2]];
            kinds.into_iter().find_map(|difference| match difference {
                Difference::By { n_suppressed, height, .. } => Some((n_suppressed as f64, height as f64)),
                _ => None,
            })
        };
        let both: Vec<(f64, f64)> = answers.iter().filter_map(by).collect();
        let mean = |part: fn(&(f64, f64)) -> f64| both.iter().map(part).sum::<f64>() / both.len().max(1) as f64;
        let is_same = |difference: &Difference| {
            matches!(difference, Difference::Neither | Difference::By { n_suppressed: 0, height: 0, k: 0 })
        };
        let missed = |answer: &&WayAnswer| answer.differences.iter().filter(|of| **of == Difference::Lost).count();
        WaySummary {
            n_requests: answers.len(),
            n_exact: answers.iter().filter(|answer| matches!(answer.answer, Answer::Exact(_))).count(),
            n_missed: answers.iter().map(missed).sum(),
            n_equal: answers.iter().filter(|answer| answer.differences.iter().all(is_same)).count(),
            mean_looked_at: answers.iter().map(|answer| answer.n_looked_at as f64).sum::<f64>() / n,
            mean_seconds: answers.iter().map(|answer| answer.seconds).sum::<f64>() / n,
            mean_n_suppressed: mean(|by| by.0),
            mean_height: mean(|by| by.1),
        }
    }
}
