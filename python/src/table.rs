//! A table with the roles of its columns: counted and annotated when first asked, and then kept.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use incrowd::hierarchy::{LabelTable, absent_values};
use incrowd::search::frontier::frontier;
use incrowd::search::negotiate::{check_criteria, check_promise, negotiate_as_published, offer_of};
use incrowd::wire;
use incrowd::{
    Answer, Criteria, Criterion, Error, ErrorKind, Lattice, Level, Measure, Ranking, Result, Rule, Scheme, explain,
    negotiate,
};
use incrowd_workbench::commands::frontier::{View, varied};
use incrowd_workbench::commands::publish::{Agreed, offer_of_levels};
use incrowd_workbench::commands::{annotate, compare, count, hierarchy, profile, publish, risk};
use incrowd_workbench::count::{Choice, Counted, count as count_records};
use incrowd_workbench::local::Local;
use incrowd_workbench::per_record::{PER_RECORD, PerRecordArgs, check_memory};
use incrowd_workbench::project::{Project, parse};
use incrowd_workbench::source::Source;
use incrowd_workbench::wishes::{Privacy, RequestArgs, with_levels};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::frame::Frame;
use crate::release::{self, Release};
use crate::wish::Wish;
use crate::words::{from_json, raised, to_python};
use crate::work::{QUIET, work};
use incrowd::task::Task;
use incrowd_workbench::sentences;
use incrowd_workbench::talk::watched;

/// Lattices that are kept, the last used first.
const N_KEPT: usize = 4;

/// Counts, and the lattice over them.
pub struct Ready {
    quasi_identifiers: Option<Vec<String>>,
    sensitive: Vec<String>,
    has_population: bool,
    pub counted: Arc<Counted>,
    pub lattice: Option<Arc<Lattice>>,
}

/// A table and everything that was found out about it.
pub struct Known {
    pub project: Project,
    kept: Mutex<Vec<Arc<Ready>>>,
}

/// What Python calls a table.
#[pyclass(frozen, weakref, module = "incrowd._native")]
pub struct Table {
    known: Arc<Known>,
}

/// Labels of a hierarchy that was written out value by value, from the value upwards.
type Rows = Vec<Vec<String>>;

#[pymethods]
impl Table {
    /// A table whose project is written in JSON with the words of `incrowd.toml`; hierarchies in `rows` are by
    /// attribute, and take the place of what the document says.
    #[new]
    #[pyo3(signature = (document, rows, frame = None, population = None))]
    fn new(
        document: &str,
        rows: Vec<(String, Rows)>,
        frame: Option<&Frame>,
        population: Option<&Frame>,
    ) -> PyResult<Table> {
        let wrong = |error: String| raised(&Error::new(ErrorKind::Project, error));
        let table = toml::Table::try_from(from_json(document)?).map_err(|error| wrong(error.to_string()))?;
        let text = toml::to_string(&table).map_err(|error| wrong(error.to_string()))?;
        let mut project = parse(&text, Path::new(""), Path::new("Table")).map_err(|error| raised(&error))?;
        for (name, rows) in rows {
            let source = format!("hierarchy of '{name}'");
            let text: String = rows.iter().map(|row| format!("{}\n", row.join(";"))).collect();
            let rows = (1..).zip(rows).collect();
            let table = LabelTable::new(&source, rows).map_err(|error| raised(&error))?;
            let attribute = project.attributes.iter_mut().find(|attribute| attribute.name == name);
            let attribute = attribute.expect("rows belong to attributes of the document");
            attribute.rule = Rule::Table(table);
            attribute.hierarchy_text = source.clone();
            attribute.hierarchy_file = Some((source, text));
        }
        if let Some(frame) = frame {
            let source = Source::of_frame(&frame.inner).map_err(|error| raised(&error))?;
            let names = project.attributes.iter().map(|attribute| &attribute.name);
            names.into_iter().try_for_each(|name| source.check_column(name)).map_err(|error| raised(&error))?;
        }
        project.frame = frame.map(|frame| frame.inner.clone());
        project.population_frame = population.map(|frame| frame.inner.clone());
        Ok(Table { known: Arc::new(Known { project, kept: Mutex::default() }) })
    }

    /// The table of a project, by its folder or its file.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Table> {
        let project = work(py, None, || Project::open(&path))?;
        Ok(Table { known: Arc::new(Known { project, kept: Mutex::default() }) })
    }

    /// The attributes in order, each with its role.
    fn roles(&self) -> Vec<(String, &'static str)> {
        self.known.project.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.role.name())).collect()
    }

    /// The kind of a column's values, and the values in order.
    fn values(&self, py: Python<'_>, name: &str) -> PyResult<(&'static str, Vec<String>)> {
        work(py, None, || {
            let domain = hierarchy::domain_of(&self.known.project, name, &QUIET)?;
            let values = domain.present().map(|(_, value)| value.to_string()).collect();
            Ok((domain.kind().name(), values))
        })
    }

    #[pyo3(signature = (with_values, progress = None))]
    fn profile<'py>(
        &self,
        py: Python<'py>,
        with_values: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let project = &self.known.project;
        let document = work(py, progress.as_ref(), || {
            let source = project.source()?;
            project.attributes.iter().try_for_each(|attribute| source.check_column(&attribute.name))?;
            let missing = Some(project.missing.clone());
            let found = profile::of_source(Some(project.clone()), project.data.clone(), &source, missing, &QUIET)?;
            Ok(profile::to_json(&found, with_values))
        })?;
        to_python(py, &document)
    }

    /// One attribute's hierarchy, as `hierarchy show --json` says it, with its rows.
    fn hierarchy<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let document = work(py, None, || {
            let resolved = hierarchy::resolve(&self.known.project, name, &QUIET)?;
            let mut document = hierarchy::document(&resolved);
            document["rows"] = resolved.rows().map(|row| json!(row)).collect();
            document["arx"] = json!(hierarchy::arx(&resolved));
            Ok(document)
        })?;
        to_python(py, &document)
    }

    /// The values of the data that an attribute's hierarchy does not know.
    fn absent(&self, py: Python<'_>, name: &str) -> PyResult<Vec<String>> {
        work(py, None, || {
            let attribute = self.known.project.attribute(name)?;
            let domain = hierarchy::domain_of(&self.known.project, name, &QUIET)?;
            Ok(absent_values(&attribute.rule, &domain).into_iter().map(str::to_string).collect())
        })
    }

    #[pyo3(signature = (wish, progress = None))]
    fn count<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = &self.known;
        let document = work(py, progress.as_ref(), || {
            let privacy = wish.project_args().no_privacy(&known.project)?;
            Ok(count::document(&known.ready(&wish, &privacy, None)?.counted))
        })?;
        to_python(py, &document)
    }

    #[pyo3(signature = (wish, per_scheme, progress = None))]
    fn annotate<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        per_scheme: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = &self.known;
        let document = work(py, progress.as_ref(), || {
            let privacy = wish.privacy(&known.project)?;
            let ready = known.ready(&wish, &privacy, Some(&Ranking::default()))?;
            if !privacy.criteria.is_empty() {
                let n_values = ready.counted.n_sensitive_values();
                check_criteria(&privacy.criteria, ready.counted.counts.n_records(), &n_values)?;
            }
            Ok(annotate::document(ready.lattice(), &privacy.criteria, per_scheme))
        })?;
        to_python(py, &document)
    }

    #[pyo3(signature = (wish, with_explanation, as_published, progress = None))]
    fn negotiate<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        with_explanation: bool,
        as_published: bool,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = &self.known;
        let document = work(py, progress.as_ref(), || {
            let privacy = wish.privacy(&known.project)?;
            let best_by = wish.best_by(&known.project)?;
            let ready = known.checked(&wish, &privacy, &best_by)?;
            let (lattice, counted) = (ready.lattice(), &ready.counted);
            let n_records = counted.counts.n_records();
            let request = wish.request_args()?.resolve(&known.project, &privacy, &counted.hierarchies, n_records)?;
            let answer = match as_published {
                true => negotiate_as_published(lattice, &request)?,
                false => negotiate(lattice, &request)?,
            };
            let mut document = sentences::answer(lattice, &request, &answer);
            if with_explanation {
                let scheme = match &answer {
                    Answer::Exact(offer) => &offer.scheme,
                    Answer::Offers(_) => &request.level_max,
                };
                let explanation = explain(lattice, scheme, &request.criteria)?;
                document["explanation"] = wire::explanation(lattice, &explanation);
            }
            Ok(document)
        })?;
        to_python(py, &document)
    }

    #[pyo3(signature = (wish, over, progress = None))]
    fn frontier<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        over: &str,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = &self.known;
        let document = work(py, progress.as_ref(), || {
            let args = wish.request_args()?;
            let ranking = Ranking::parse(wish.best_by.as_deref().unwrap_or("ncp"))?;
            let (measure, privacy) = varied(over, &args.criteria, wish.privacy(&known.project)?)?;
            let measured = privacy.criteria.with(Criterion { measure, value: measure.weakest() });
            let measured = Privacy { criteria: measured, ..privacy.clone() };
            let ready = known.ready(&wish, &measured, Some(&ranking))?;
            let (lattice, counted) = (ready.lattice(), &ready.counted);
            let n_records = counted.counts.n_records();
            if !privacy.criteria.is_empty() {
                check_criteria(&privacy.criteria, n_records, &counted.n_sensitive_values())?;
            }
            let wider = RequestArgs {
                max_suppressed: args.max_suppressed.or(Some("10%".into())),
                max_level: Some(args.max_level.unwrap_or_default()),
                ..RequestArgs::default()
            };
            let request = wider.resolve(&known.project, &privacy, &counted.hierarchies, n_records)?;
            let is_stopped = watched();
            let task = Task { is_cancelled: &is_stopped, ..Task::default() };
            let bargains = frontier(lattice, &request, measure, &ranking, &task)?;
            let view = View { lattice, measure, ranking: &ranking, bargains: &bargains };
            Ok(view.document(&privacy, request.n_suppressed_max))
        })?;
        to_python(py, &document)
    }

    /// Publishes a scheme of an answer: `promised` are the criteria in the words of the answer, `choice` is which
    /// answer it was, `request` what was asked for.
    #[pyo3(signature = (wish, levels, promised, choice, request, progress = None))]
    fn publish(
        &self,
        py: Python<'_>,
        wish: Wish,
        levels: Vec<String>,
        promised: Option<&str>,
        choice: &str,
        request: &str,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        let promised = promised.map(from_json).transpose()?;
        let request = from_json(request)?;
        work(py, progress.as_ref(), || {
            let bargain = self.known.bargain(&wish, &levels, promised.as_ref(), choice, request)?;
            release::publish(&self.known, bargain)
        })
    }

    /// Publishes what a local method makes.
    #[pyo3(signature = (wish, options, progress = None))]
    fn publish_locally(
        &self,
        py: Python<'_>,
        wish: Wish,
        options: LocalOptions,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        let project = &self.known.project;
        work(py, progress.as_ref(), || {
            let args = publish::Args {
                project: wish.project_args(),
                request: wish.request_args()?,
                offer: publish::Choice::Exact,
                levels: None,
                method: options.method,
                cells: options.cells,
                two_columns: options.two_columns,
                seed: options.seed,
                plain: false,
                exchanges: options.exchanges,
                per_record: Default::default(),
                extent: Default::default(),
                time: incrowd_workbench::extent::TIME.into(),
                output: None,
                force: false,
                key: None,
            };
            let unknown = || Error::new(ErrorKind::Request, "is no local method").at(args.method.clone());
            let local = publish::local(&args, project, &QUIET)?.ok_or_else(unknown)?;
            let privacy = publish::privacy_of(&local, wish.privacy(project)?, wish.sensitive.is_some(), project)?;
            let ready = self.known.ready(&wish, &privacy, None)?;
            let n_records = ready.counted.counts.n_records();
            check_criteria(&privacy.criteria, n_records, &ready.counted.n_sensitive_values())?;
            let way = Way::Local { local, criteria: privacy.criteria };
            release::publish(&self.known, Bargain { ready, way })
        })
    }

    /// Publishes every record generalized on its own; what is asked for, by the names of the flags.
    #[pyo3(signature = (wish, options, progress = None))]
    fn publish_one_by_one(
        &self,
        py: Python<'_>,
        wish: Wish,
        options: PerRecordOptions,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        let project = &self.known.project;
        work(py, progress.as_ref(), || {
            let args = options.args();
            let flags = wish.project_args();
            let privacy = flags.no_privacy(project)?;
            if !project.request.criteria.is_empty() {
                QUIET.note(format!("the criteria in [request] of the project are not promised by {PER_RECORD}"));
            }
            let counted = Arc::new(args.count(project, flags.choice(&privacy), &QUIET)?);
            check_memory(&counted, flags.n_bytes_max()?)?;
            let ready = Ready {
                quasi_identifiers: wish.quasi_identifiers.clone(),
                sensitive: privacy.sensitive,
                has_population: args.dictionary.is_some(),
                counted,
                lattice: None,
            };
            release::publish(&self.known, Bargain { ready: Arc::new(ready), way: Way::PerRecord(Box::new(args)) })
        })
    }

    /// How likely people are to be found in the table, as `risk --json` says it.
    #[pyo3(signature = (wish, threshold, sampled, progress = None))]
    fn risk<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        threshold: f64,
        sampled: Option<f64>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let project = &self.known.project;
        let document = work(py, progress.as_ref(), || {
            let privacy = wish.project_args().no_privacy(project)?;
            let choice = wish.project_args().choice(&privacy);
            let with_population = project.population.is_some() || project.population_frame.is_some();
            let counted = count_records(project, &Choice { with_population, ..choice }, &QUIET)?;
            risk::document(&counted.counts, threshold, sampled)
        })?;
        to_python(py, &document)
    }

    /// What each method makes of the table, as `compare --json` says it.
    #[pyo3(signature = (wish, ks, methods, n_queries, seed, progress = None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        ks: Vec<u64>,
        methods: Option<Vec<String>>,
        n_queries: u32,
        seed: u64,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let document = work(py, progress.as_ref(), || {
            let request = wish.request_args()?;
            let args = compare::Args {
                project: wish.project_args(),
                k: ks,
                l: request.criteria.l,
                max_suppressed: request.max_suppressed,
                methods,
                queries: None,
                n_queries,
                seed,
                vary_weight: None,
                csv: false,
                output: None,
                force: false,
            };
            compare::document(&args, &self.known.project, &QUIET)
        })?;
        to_python(py, &document)
    }
}

/// How a local method works and writes its cells.
#[derive(FromPyObject, Clone, Debug)]
#[pyo3(from_item_all)]
pub struct LocalOptions {
    method: String,
    cells: Option<String>,
    two_columns: bool,
    seed: Option<u64>,
    exchanges: Option<u32>,
}

/// What is wanted of every record.
#[derive(FromPyObject, Clone, Debug)]
#[pyo3(from_item_all)]
pub struct PerRecordOptions {
    utility_at_least: Option<String>,
    risk_at_most: Option<f64>,
    lambda_: Option<f64>,
    utility: Option<String>,
    risk: Option<String>,
    dictionary: Option<PathBuf>,
    similarity: Option<f64>,
    weights: Option<PathBuf>,
    weights_seed: Option<u64>,
    also_k: Option<u64>,
}

impl PerRecordOptions {
    fn args(self) -> PerRecordArgs {
        PerRecordArgs {
            utility_at_least: self.utility_at_least,
            risk_at_most: self.risk_at_most,
            lambda: self.lambda_,
            utility: self.utility,
            risk: self.risk,
            dictionary: self.dictionary,
            similarity: self.similarity,
            weights: self.weights,
            weights_seed: self.weights_seed,
            also_k: self.also_k,
        }
    }
}

impl Ready {
    pub fn lattice(&self) -> &Arc<Lattice> {
        self.lattice.as_ref().expect("a ranking was given, so the lattice was annotated")
    }
}

/// What is to be published, and how it came about.
pub struct Bargain {
    pub ready: Arc<Ready>,
    pub way: Way,
}

/// How a release is made.
pub enum Way {
    /// One level per attribute for all records.
    Global { offer: Box<incrowd::Offer>, choice: &'static str, request: Value },
    /// Ranges of its own for every group.
    Local { local: Local, criteria: Criteria },
    /// Levels of its own for every record.
    PerRecord(Box<PerRecordArgs>),
}

impl Bargain {
    fn global(ready: Arc<Ready>, offer: incrowd::Offer, choice: &'static str, request: Value) -> Bargain {
        Bargain { ready, way: Way::Global { offer: Box::new(offer), choice, request } }
    }

    /// What was agreed on, where one level per attribute was.
    pub fn agreed(&self) -> Option<Agreed<'_>> {
        let Way::Global { offer, choice, request } = &self.way else { return None };
        // Levels of one's own choice come without a lattice, as on the command line.
        let lattice = self.ready.lattice.as_deref().filter(|_| *choice != "levels");
        let (offer, request) = (offer.as_ref().clone(), request.clone());
        let search = lattice.and_then(|lattice| lattice.n_schemes()).map(sentences::found_in_whole_lattice);
        Some(Agreed { offer, choice, request, lattice: lattice.map(Cow::Borrowed), search })
    }
}

impl Known {
    /// Counts what a wish is about, and annotates the lattice where a ranking is given; what is kept is not made again.
    ///
    /// A lattice measures what is asked for and nothing else, so that an answer does not depend on what was asked before.
    fn ready(&self, wish: &Wish, privacy: &Privacy, ranking: Option<&Ranking>) -> Result<Arc<Ready>> {
        let args = wish.project_args();
        let has_population = privacy.criteria.value(Measure::Population).is_some();
        let is_about = |ready: &Arc<Ready>| {
            ready.quasi_identifiers == wish.quasi_identifiers
                && ready.sensitive == privacy.sensitive
                && ready.has_population == has_population
        };
        let known = self.kept().iter().find(|ready| is_about(ready)).map(|ready| ready.counted.clone());
        let counted = match known {
            Some(counted) => counted,
            None => Arc::new(args.count(&self.project, privacy, &QUIET)?),
        };
        // What a yardstick measures for these criteria; making one would look at all counts.
        let always = [Measure::Size].into_iter().chain((!privacy.sensitive.is_empty()).then_some(Measure::Distinct(0)));
        let mut measures: Vec<Measure> =
            privacy.criteria.iter().map(|criterion| criterion.measure).chain(always).collect();
        measures.sort_unstable();
        measures.dedup();
        let fits = |ready: &Arc<Ready>| match (ranking, &ready.lattice) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(ranking), Some(lattice)) => {
                lattice.signatures().measures() == measures && lattice.entropies().is_some() == ranking.needs_entropy()
            }
        };
        let mut kept = self.kept();
        if let Some(place) = kept.iter().position(|ready| is_about(ready) && fits(ready)) {
            let ready = kept.remove(place);
            kept.insert(0, ready.clone());
            return Ok(ready);
        }
        drop(kept);
        let lattice = match ranking {
            None => None,
            Some(ranking) => Some(Arc::new(args.annotate(&counted, &privacy.criteria, ranking, &QUIET)?)),
        };
        let ready = Arc::new(Ready {
            quasi_identifiers: wish.quasi_identifiers.clone(),
            sensitive: privacy.sensitive.clone(),
            has_population,
            counted,
            lattice,
        });
        let mut kept = self.kept();
        // Counts alone are of no use beside a lattice over them.
        kept.retain(|other| !is_about(other) || other.lattice.is_some());
        kept.insert(0, ready.clone());
        kept.truncate(N_KEPT);
        Ok(ready)
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Arc<Ready>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same, after criteria that make no sense on this table have been refused.
    fn checked(&self, wish: &Wish, privacy: &Privacy, ranking: &Ranking) -> Result<Arc<Ready>> {
        check_promise(&privacy.criteria)?;
        let ready = self.ready(wish, privacy, None)?;
        check_criteria(&privacy.criteria, ready.counted.counts.n_records(), &ready.counted.n_sensitive_values())?;
        self.ready(wish, privacy, Some(ranking))
    }

    /// Finds again what an answer offered, or what levels of one's own choice give.
    fn bargain(
        &self,
        wish: &Wish,
        levels: &[String],
        promised: Option<&Value>,
        choice: &str,
        request: Value,
    ) -> Result<Bargain> {
        let choices = ["exact", "suppression", "height", "privacy", "levels"];
        let choice = choices.into_iter().find(|known| *known == choice).expect("the Python side knows the choices");
        let asked = wish.privacy(&self.project)?;
        let criteria = match promised {
            None => asked.criteria.clone(),
            Some(words) => promised_criteria(words, &asked.sensitive)?,
        };
        let privacy = Privacy { criteria, sensitive: asked.sensitive };
        let exact = |counted: &Counted| Scheme::new(vec![Level(0); counted.hierarchies.len()]);
        if choice == "levels" {
            let ready = self.ready(wish, &privacy, None)?;
            let counted = &ready.counted;
            let n_records = counted.counts.n_records();
            check_criteria(&privacy.criteria, n_records, &counted.n_sensitive_values())?;
            let scheme = with_levels(&exact(counted), levels, &counted.hierarchies)?;
            let yardstick = counted.yardstick(privacy.criteria.iter().map(|criterion| criterion.measure))?;
            let offer = offer_of_levels(counted, &yardstick, scheme, &privacy)?;
            if wish.request_args()?.exceeds_suppression(&self.project, &offer, n_records)? {
                let message = format!("at these levels {} of {n_records} records would be lost", offer.n_suppressed);
                return Err(Error::new(ErrorKind::Request, format!("{message}, more than may be"))
                    .hint("choose coarser levels, or allow it with --max-suppressed"));
            }
            return Ok(Bargain::global(ready, offer, choice, Value::Null));
        }
        let ready = self.checked(wish, &privacy, &wish.best_by(&self.project)?)?;
        let scheme = with_levels(&exact(&ready.counted), levels, &ready.counted.hierarchies)?;
        let offer = offer_of(ready.lattice(), &scheme, &privacy.criteria)?;
        Ok(Bargain::global(ready, offer, choice, request))
    }
}

/// Criteria as an answer writes them: `{"k": 10, "income:t": 0.2}`.
fn promised_criteria(words: &Value, sensitive: &[String]) -> Result<Criteria> {
    let none = Map::new();
    let entries = words.as_object().unwrap_or(&none).iter();
    let criterion = |(key, value): (&String, &Value)| {
        wire::criterion_of(key, value, sensitive)
            .ok_or_else(|| Error::new(ErrorKind::Request, format!("'{key}' is no criterion of this table")))
    };
    Ok(Criteria::new(entries.map(criterion).collect::<Result<Vec<_>>>()?))
}
