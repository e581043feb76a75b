//! `compare`: what each method would make of the table, side by side.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use incrowd::query::{Query, parse_queries};
use incrowd::recode::method::Method;
use incrowd::recode::per_record::dictionary::Match;
use incrowd::search::request::check_criteria;
use incrowd::utility::preview::Preview;
use incrowd::{Criteria, Criterion, Error, ErrorKind, Lattice, Measure, Quality, Ranking, Request, Result};

use super::contenders::{
    Ask, Contender, ContenderResult, Cost, Questions, WEIGHTS, Weighed, improving, measured, one, run as run_all, weigh,
};
use super::known::Known;
use super::local::{Local, guaranteed, note_flat};
use super::per_record::check_memory;
use super::request::{About, GivenRequest, Privacy, attribute_index};
use super::utility::Analysis;
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::note::Note;
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// Who is compared, at which promises, by which queries.
#[derive(Clone, Debug, PartialEq)]
pub struct Compare {
    pub about: About,
    /// The criteria beside k, and how many records a scheme may lose.
    pub request: GivenRequest,
    /// Where none is given: the project's, or those of a chart.
    pub ks: Vec<u64>,
    /// Whether values of k that nobody has asked for are those of a chart.
    pub is_chart: bool,
    /// All that are possible where none are named.
    pub contenders: Option<Vec<Contender>>,
    /// Queries of the analyst's own, one per line.
    pub queries: Option<PathBuf>,
    pub n_queries: usize,
    pub seed: u64,
    /// The attribute whose weight is raised.
    pub vary_weight: Option<String>,
    /// By how many steps the groups of local methods are improved, and for how long at most.
    pub n_steps: Option<u64>,
    pub time: Option<Duration>,
    /// The attribute that analysts want to say something about: any column that is published.
    pub target: Option<String>,
}

/// The rows, and what they are about.
pub struct Compared {
    pub counted: Arc<Counted>,
    pub privacy: Privacy,
    pub n_suppressed_max: u64,
    pub rows: Vec<ContenderResult>,
    pub weighed: Option<Weighing>,
    pub has_own_queries: bool,
    pub seed: u64,
}

/// What raising one attribute's weight did.
pub struct Weighing {
    pub attribute: usize,
    pub method: Method,
    pub k: u64,
    pub steps: Vec<Weighed>,
}

/// The values of k that charts show.
const KS: [u64; 6] = [2, 5, 10, 25, 50, 100];

impl Compare {
    /// Lets all contenders try.
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<Compared> {
        let (privacy, _) = self.privacy(project)?;
        let counted = known.count(project, &self.about.choice(&privacy), work)?;
        self.run_on(project, counted, known, work)
    }

    /// The same for records that are counted; lattices are remembered by their counts, so that `known` must live no longer
    /// than these where nobody else keeps them.
    pub(super) fn run_on(
        &self,
        project: &Project,
        counted: Arc<Counted>,
        known: &Known,
        work: &Work,
    ) -> Result<Compared> {
        let (privacy, mut ks) = self.privacy(project)?;
        let contenders = self.contenders(&privacy);
        let n_records = counted.counts.n_records();
        if self.ks.is_empty() && self.is_chart {
            ks = leave_out_too_large(ks, n_records, work);
        }
        for &k in &ks {
            check_criteria(
                &privacy.criteria.with(Criterion::k(k)),
                counted.counts.crowd(),
                &counted.n_sensitive_values(),
            )?;
        }
        note_flat(&counted, work);
        let attribute =
            self.vary_weight.as_ref().map(|name| attribute_index(name, &counted.hierarchies)).transpose()?;
        let own = self.own_queries(&counted)?;
        let has_own_queries = own.is_some();
        let analysis = Analysis::new(project, &counted, self.target.as_deref(), self.seed, work)?;
        let preview = look(analysis.as_ref(), &counted, work)?;
        let questions = work.quietly(|task| Questions::new(&counted, self.n_queries, self.seed, own, task))?;
        let wish = GivenRequest { criteria: Vec::new(), ..self.request.clone() };
        let request = wish.checked(project, &privacy, &counted.hierarchies, n_records)?;
        if contenders.iter().any(|contender| matches!(contender, Contender::PerRecord(..))) {
            check_memory(&counted, Match::Exact, work.n_bytes_max())?;
        }
        let lattice = lattice(&counted, &privacy.criteria, &contenders, known, work)?;
        let weights = counted.weights();
        let ask = Ask {
            counted: &counted,
            weights: &weights,
            level_max: &request.level_max,
            n_suppressed_max: request.n_suppressed_max,
            seed: self.seed,
            n_steps: self.n_steps,
            time: self.time,
            questions: &questions,
            preview: preview.as_ref(),
            lattice: lattice.as_ref().map(|(lattice, cost)| (&**lattice, *cost)),
        };
        let n_all = n_records * (contenders.len() * ks.len()) as u64;
        let rows = work.stage("comparing", n_all, Unit::Records, |task| {
            work.on_threads(|| run_all(&ask, &contenders, &privacy.criteria, &ks, task))?
        })?;
        let weighed = match attribute {
            Some(attribute) => Some(self.weighing(&counted, &privacy, &contenders, ks[0], attribute, work)?),
            None => None,
        };
        let n_suppressed_max = request.n_suppressed_max;
        Ok(Compared { counted, privacy, n_suppressed_max, rows, weighed, has_own_queries, seed: self.seed })
    }

    fn contenders(&self, privacy: &Privacy) -> Vec<Contender> {
        match &self.contenders {
            Some(named) => named.clone(),
            None => {
                let global = [Quality::Height, Quality::Ncp].map(Contender::Global);
                let all = global.into_iter().chain(Method::ALL.map(Contender::Local));
                all.filter(|contender| contender.is_possible(!privacy.sensitive.is_empty())).collect()
            }
        }
    }

    /// The criteria beside k, and the values of k.
    fn privacy(&self, project: &Project) -> Result<(Privacy, Vec<u64>)> {
        let privacy = self.request.privacy(project, &self.about)?;
        let mut ks = match (&self.ks[..], privacy.criteria.value(Measure::Size)) {
            ([], _) if self.is_chart => KS.to_vec(),
            ([], Some(k)) => vec![k],
            ([], None) => {
                return Err(Error::new(
                    ErrorKind::Request,
                    "k is missing, and the standing request of the project has none",
                )
                .hint(hint("for example {k=10}, or {k=2,5,10}")));
            }
            (ks, _) => ks.to_vec(),
        };
        ks.sort_unstable();
        ks.dedup();
        guaranteed(&privacy.criteria.with(Criterion::k(ks[0])))?;
        let criteria = privacy.criteria.without(Measure::Size);
        Ok((Privacy { criteria, ..privacy }, ks))
    }

    fn own_queries(&self, counted: &Counted) -> Result<Option<Vec<Query>>> {
        let Some(path) = &self.queries else { return Ok(None) };
        let text = std::fs::read_to_string(path).map_err(|error| crate::io_error(path, error))?;
        let queries = parse_queries(&path.display().to_string(), &text, &counted.hierarchies)?;
        if queries.is_empty() {
            return Err(Error::new(ErrorKind::Request, "holds no query")
                .at(path.display().to_string())
                .hint("one per line, for example: age in 30..39 and sex = Female"));
        }
        Ok(Some(queries))
    }

    fn weighing(
        &self,
        counted: &Counted,
        privacy: &Privacy,
        contenders: &[Contender],
        k: u64,
        attribute: usize,
        work: &Work,
    ) -> Result<Weighing> {
        let local = contenders.iter().find_map(|contender| match contender {
            Contender::Local(method) => Some(*method),
            Contender::Global(_) | Contender::PerRecord(..) => None,
        });
        let method = local.unwrap_or(Method::TopDown);
        let local = improving(Local { seed: self.seed, ..Local::new(method) }, self.n_steps, self.time)?;
        let n_all = counted.counts.n_records() * WEIGHTS.len() as u64;
        let criteria = privacy.criteria.with(Criterion::k(k));
        let steps = work.stage("weighing", n_all, Unit::Records, |task| {
            work.on_threads(|| weigh(counted, &local, &criteria, attribute, task))?
        })?;
        Ok(Weighing { attribute, method, k, steps })
    }
}

/// Contenders at one request, on a lattice that is at hand.
pub struct Field {
    /// All that promise k where none are named.
    pub contenders: Option<Vec<Contender>>,
    pub n_queries: usize,
    pub seed: u64,
    /// As in [`Compare`].
    pub target: Option<String>,
}

impl Field {
    /// What the lattice has to be annotated for.
    pub fn ranking(&self) -> Ranking {
        let needs_entropy = self.named().iter().any(|contender| contender.needs_entropy());
        if needs_entropy { Ranking::from(Quality::Entropy) } else { Ranking::default() }
    }

    fn named(&self) -> Vec<Contender> {
        self.contenders.clone().unwrap_or_else(Contender::all)
    }

    /// What each makes of the request; those take part that can promise what is asked.
    pub fn run(
        &self,
        project: &Project,
        counted: &Counted,
        lattice: &Lattice,
        request: &Request,
        work: &Work,
    ) -> Result<Vec<ContenderResult>> {
        note_flat(counted, work);
        let can_promise = guaranteed(&request.criteria).is_ok();
        let mut contenders = self.named();
        contenders.retain(|contender| {
            contender.is_possible(!counted.sensitive.is_empty())
                && (can_promise || matches!(contender, Contender::Global(_)))
        });
        let analysis = Analysis::new(project, counted, self.target.as_deref(), self.seed, work)?;
        let preview = look(analysis.as_ref(), counted, work)?;
        let weights = counted.weights();
        let ask = Ask {
            counted,
            weights: &weights,
            level_max: &request.level_max,
            n_suppressed_max: request.n_suppressed_max,
            seed: self.seed,
            n_steps: None,
            time: None,
            questions: &work.quietly(|task| Questions::new(counted, self.n_queries, self.seed, None, task))?,
            preview: preview.as_ref(),
            lattice: Some((lattice, Cost::default())),
        };
        let n_all = counted.counts.n_records() * contenders.len() as u64;
        work.stage("comparing", n_all, Unit::Records, |task| {
            contenders.into_iter().map(|contender| one(&ask, contender, &request.criteria, task)).collect()
        })
    }
}

/// Looks at the source as analysts do.
fn look<'a>(analysis: Option<&'a Analysis>, counted: &'a Counted, work: &Work) -> Result<Option<Preview<'a>>> {
    let look = |analysis: &'a Analysis| work.quietly(|task| work.on_threads(|| analysis.preview(counted, task)))?;
    analysis.map(look).transpose()
}

/// Of values of k that nobody has asked for, those that the table is large enough for; says which are left out. The first
/// always stays.
pub fn leave_out_too_large(ks: Vec<u64>, n_records: u64, work: &Work) -> Vec<u64> {
    let (mut fitting, too_large): (Vec<u64>, Vec<u64>) = ks.iter().partition(|&&k| k <= n_records);
    if !too_large.is_empty() {
        work.note(Note::KsLeftOut { ks: too_large, n_records });
    }
    if fitting.is_empty() {
        fitting.extend(ks.first());
    }
    fitting
}

/// The lattice, where a contender needs it, and what it took.
fn lattice(
    counted: &Arc<Counted>,
    criteria: &Criteria,
    contenders: &[Contender],
    known: &Known,
    work: &Work,
) -> Result<Option<(Arc<Lattice>, Cost)>> {
    if !contenders.iter().any(|contender| matches!(contender, Contender::Global(_))) {
        return Ok(None);
    }
    let needs_entropy = contenders.iter().any(|contender| contender.needs_entropy());
    let measures = criteria.iter().map(|criterion| criterion.measure);
    let (lattice, cost) = measured(|| known.annotate(counted, measures, needs_entropy, work));
    Ok(Some((lattice?, cost)))
}
