//! A table with the roles of its columns: counted and annotated when first asked, and then kept.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use incrowd::error::unknown;
use incrowd::hierarchy::LabelTable;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::per_record::{Risk, Utility};
use incrowd::search::negotiate::offer_of;
use incrowd::search::request::{check_criteria, check_promise};
use incrowd::wire;
use incrowd::{Criteria, Error, ErrorKind, Level, Ranking, Result, Rule, Scheme};
use incrowd_workbench::input::count::Counted;
use incrowd_workbench::input::from_level::from_level;
use incrowd_workbench::input::project::{Project, SeenElsewhere, parse};
use incrowd_workbench::input::source::{Source, Unknown};
use incrowd_workbench::memory::parse_memory;
use incrowd_workbench::orders::Rules;
use incrowd_workbench::orders::annotate::Annotate;
use incrowd_workbench::orders::compare::Compare;
use incrowd_workbench::orders::contenders::Contender;
use incrowd_workbench::orders::extent::{Extent, ExtentWish, Otherwise, TIME};
use incrowd_workbench::orders::frontier::{Frontier, max_suppressed};
use incrowd_workbench::orders::hierarchy::{ExportHierarchy, absent, domain_of};
use incrowd_workbench::orders::known::{Known, Limits};
use incrowd_workbench::orders::local::{Local, method_named};
use incrowd_workbench::orders::negotiate::Negotiate;
use incrowd_workbench::orders::per_record::{PerRecordWish, published_search};
use incrowd_workbench::orders::profile::of_project;
use incrowd_workbench::orders::publish::agree::{agree_on_levels, offer_of_levels};
use incrowd_workbench::orders::publish::{Agreed, Agreement, Decided, NewTable, Ordered, Publish, PublishBy};
use incrowd_workbench::orders::request::levels;
use incrowd_workbench::orders::request::{GivenRequest, Privacy, with_levels};
use incrowd_workbench::sentences;
use incrowd_workbench::words::order::Reader;
use incrowd_workbench::words::{documents, hierarchies, profiles, verbs};
use incrowd_workbench::work::Work;
use pyo3::prelude::*;
use serde_json::{Map, Value, json};

use crate::frame::Frame;
use crate::release::{self, Release};
use crate::wish::Wish;
use crate::words::{from_json, raised, to_python};
use crate::work::{work, work_with};

/// Lattices that are kept, the last used first.
const N_KEPT: usize = 4;

/// A table and everything that was found out about it.
pub struct KnownTable {
    pub project: Project,
    pub known: Known,
}

impl KnownTable {
    fn new(project: Project) -> Arc<KnownTable> {
        let limits = Limits { n_counted: N_KEPT, n_lattices: N_KEPT, n_bytes: u64::MAX, tells_again: false };
        Arc::new(KnownTable { project, known: Known::keeping(limits) })
    }
}

/// What Python calls a table.
#[pyclass(frozen, weakref, module = "incrowd._native")]
pub struct Table {
    known: Arc<KnownTable>,
}

/// Labels of a hierarchy that was written out value by value, from the value upwards.
type Rows = Vec<Vec<String>>;

/// What becomes of values that the hierarchy of an attribute does not know, as the attribute says it, or else the data. It
/// is taken out of the document, which does not have that hierarchy.
fn take_unknown(document: &mut toml::Table, name: &str) -> PyResult<Unknown> {
    let of_attribute = document
        .get_mut("attributes")
        .and_then(|attributes| attributes.get_mut(name)?.as_table_mut()?.remove("unknown"));
    let said = of_attribute.or_else(|| document.get("data")?.get("unknown").cloned());
    let Some(said) = said else { return Ok(Unknown::Error) };
    let text = said.as_str().unwrap_or_default();
    Unknown::parse(text).ok_or_else(|| {
        let what = format!("value of attributes.{name}.unknown");
        raised(&unknown(ErrorKind::Project, &what, text, &Unknown::NAMES))
    })
}

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
        let mut table = toml::Table::try_from(from_json(document)?).map_err(|error| wrong(error.to_string()))?;
        let unknown: Vec<Unknown> =
            rows.iter().map(|(name, _)| take_unknown(&mut table, name)).collect::<PyResult<_>>()?;
        let text = toml::to_string(&table).map_err(|error| wrong(error.to_string()))?;
        let mut project = parse(&text, Path::new(""), Path::new("Table")).map_err(|error| raised(&error))?;
        for ((name, rows), unknown) in rows.into_iter().zip(unknown) {
            let source = format!("hierarchy of '{name}'");
            let text: String = rows.iter().map(|row| format!("{}\n", row.join(";"))).collect();
            let rows = (1..).zip(rows).collect();
            let table = LabelTable::new(&source, rows).map_err(|error| raised(&error))?;
            let attribute = project.attributes.iter_mut().find(|attribute| attribute.name == name);
            let attribute = attribute.expect("rows belong to attributes of the document");
            attribute.unknown = unknown;
            *attribute = attribute.clone().with_rule(Rule::Table(table));
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
        Ok(Table { known: KnownTable::new(project) })
    }

    /// The table of a project, by its folder or its file; of combinations where a column of their numbers is named.
    #[staticmethod]
    #[pyo3(signature = (path, data = None, counted = None, from_level = Vec::new(), identifiers = Vec::new()))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        data: Option<PathBuf>,
        counted: Option<String>,
        from_level: Vec<(String, String)>,
        identifiers: Vec<(String, u64, u64, u64)>,
    ) -> PyResult<Table> {
        let seen =
            |(column, n_records, n_different, n_several)| SeenElsewhere { column, n_records, n_different, n_several };
        let identifiers: Vec<SeenElsewhere> = identifiers.into_iter().map(seen).collect();
        let project = work(py, None, |work| {
            let mut project = Project::open(&path)?.with_data(data.as_deref())?;
            project.counted = counted.or(project.counted);
            project.identifiers_elsewhere = identifiers;
            self::from_level(project, &from_level, work)
        })?;
        Ok(Table { known: KnownTable::new(project) })
    }

    /// The attributes in order, each with its role.
    fn roles(&self) -> Vec<(String, &'static str)> {
        self.known.project.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.role.name())).collect()
    }

    /// The identifiers of which somebody should know whether they repeat.
    fn unasked_identifiers(&self) -> Vec<String> {
        self.known.project.unasked_identifiers().into_iter().map(str::to_string).collect()
    }

    /// Whether columns that nobody names are published.
    fn keeps_other(&self) -> bool {
        self.known.project.keep_other
    }

    /// The kind of a column's values, and the values in order.
    fn values(&self, py: Python<'_>, name: &str) -> PyResult<(&'static str, Vec<String>)> {
        work(py, None, |work| {
            let domain = domain_of(&self.known.project, name, work)?;
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
        let document =
            work(py, progress.as_ref(), |work| Ok(profiles::profiled(&of_project(project, work)?, with_values)))?;
        to_python(py, &document)
    }

    /// One attribute's hierarchy, as `hierarchy show --json` says it, with its rows.
    fn hierarchy<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let document = work(py, None, |work| {
            let order = ExportHierarchy { attribute: name.to_string(), output: None, replace: false };
            let exported = order.run(&self.known.project, work)?;
            let mut document = hierarchies::shown(&exported.hierarchy);
            document["rows"] = hierarchies::exported(&exported)["rows"].take();
            document["arx"] = json!(exported.text);
            Ok(document)
        })?;
        to_python(py, &document)
    }

    /// The cells that an attribute's hierarchy does not fit, as `hierarchy show --absent --show-values --json` says it.
    fn absent<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let document = work(py, None, |_| Ok(hierarchies::absent(name, &absent(&self.known.project, name)?, true)))?;
        to_python(py, &document)
    }

    #[pyo3(signature = (wish, progress = None))]
    fn count<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = &self.known;
        let document = work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let privacy = wish.about().no_privacy(&known.project)?;
                let counted = known.known.count(&known.project, &wish.about().choice(&privacy), work)?;
                Ok(documents::counted(&counted))
            },
        )?;
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
        let document = work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let order = Annotate {
                    about: wish.about(),
                    request: wish.given_request()?,
                    more_ks: Vec::new(),
                    with_entropy: false,
                    extent: ExtentWish { forced: Some(Extent::Full), estimator: None },
                    local: false,
                    output: None,
                    replace: false,
                };
                let annotated = order.run(&known.project, &known.known, work)?;
                let lattice = annotated.shown().expect("the whole lattice was asked for");
                Ok(documents::annotated(lattice, &annotated.criteria, per_scheme))
            },
        )?;
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
        let document = work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let order = Negotiate {
                    about: wish.about(),
                    request: wish.given_request()?,
                    explain: with_explanation,
                    as_published,
                    lattice: None,
                    extent: ExtentWish::default(),
                    time: TIME,
                    not_extended: false,
                };
                let negotiated = order.run(&known.project, &known.known, &Rules::default(), work)?;
                Ok(documents::negotiated(&negotiated))
            },
        )?;
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
        let document = work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let given = wish.given_request()?;
                let order = Frontier {
                    about: wish.about(),
                    criteria: given.criteria,
                    over: over.to_string(),
                    ranking: given.best_by.map_or_else(|| Ranking::parse("ncp"), Ok)?,
                    max_suppressed: given.max_suppressed.unwrap_or_else(max_suppressed),
                    max_level: given.max_level.unwrap_or_default(),
                    lattice: None,
                    extent: ExtentWish { forced: Some(Extent::Full), estimator: None },
                };
                Ok(documents::frontier(&order.run(&known.project, &known.known, work)?))
            },
        )?;
        to_python(py, &document)
    }

    /// Publishes a scheme of an answer: `promised` are the criteria in the words of the answer, `choice` is which
    /// answer it was.
    #[pyo3(signature = (wish, levels, promised, choice, two_columns, target, progress = None))]
    fn publish(
        &self,
        py: Python<'_>,
        wish: Wish,
        levels: Vec<String>,
        promised: Option<&str>,
        choice: &str,
        two_columns: bool,
        target: Option<String>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        let promised = promised.map(from_json).transpose()?;
        work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let mut bargain = self.known.bargain(&wish, &levels, promised.as_ref(), choice, two_columns, work)?;
                bargain.order.target = target;
                release::publish(&self.known, bargain, None, work)
            },
        )
    }

    /// Publishes what a local method makes.
    #[pyo3(signature = (wish, options, target, progress = None))]
    fn publish_locally(
        &self,
        py: Python<'_>,
        wish: Wish,
        options: LocalOptions,
        target: Option<String>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let style = match &options.cells {
                    Some(text) => {
                        let known = CellStyle::ALL.map(CellStyle::name);
                        Some(CellStyle::parse(text).ok_or_else(|| unknown(ErrorKind::Request, "style", text, &known))?)
                    }
                    None => None,
                };
                let method = method_named(&options.method, options.as_published)?;
                let LocalOptions { two_columns, seed, exchanges, steps, time, .. } = options;
                let local = Local::with_options(method, style, two_columns, seed, false, exchanges)?;
                let local = local.improved_by(steps, seconds(time)?)?;
                let order = Publish {
                    about: wish.about(),
                    request: wish.given_request()?,
                    way: PublishBy::Local(local),
                    two_columns: false,
                    target,
                };
                let bargain = self.known.ordered(order, work)?;
                release::publish(&self.known, bargain, None, work)
            },
        )
    }

    /// Publishes every record generalized on its own; what is asked for, by the names of the flags.
    #[pyo3(signature = (wish, options, target, progress = None))]
    fn publish_one_by_one(
        &self,
        py: Python<'_>,
        wish: Wish,
        options: PerRecordOptions,
        target: Option<String>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let way = PublishBy::PerRecord(Box::new(options.wish()?));
                let (about, request) = (wish.about(), wish.given_request()?);
                let order = Publish { about, request, way, two_columns: false, target };
                let bargain = self.known.ordered(order, work)?;
                release::publish(&self.known, bargain, None, work)
            },
        )
    }

    /// Publishes what a document in the words of the flags orders.
    #[pyo3(signature = (order, threads = 0, memory = None, progress = None))]
    fn publish_order(
        &self,
        py: Python<'_>,
        order: &str,
        threads: u16,
        memory: Option<String>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Release> {
        let order = from_json(order)?;
        let order = order.as_object().expect("the Python side writes an object");
        let means = || Ok((usize::from(threads), memory.as_deref().map(parse_memory).transpose()?));
        work_with(py, progress.as_ref(), means, |work| {
            let path = |path: &str, _| Ok(PathBuf::from(path));
            let reader = Reader::new(order, &path, true);
            let ordered = reader.publish()?;
            let key = reader.key()?;
            reader.finish()?;
            let mut bargain = self.known.ordered(ordered, work)?;
            let (project, known) = (&self.known.project, &self.known.known);
            let Bargain { order, privacy, counted, agreed } = &mut bargain;
            if matches!(order.way, PublishBy::Levels(_) | PublishBy::Answer { .. }) {
                match order.decide(project, privacy, counted, known, &Rules::default(), work)? {
                    Decided::Agreed(found) => *agreed = Some(found),
                    Decided::No(no) => return Err(release::why_not(no)),
                    Decided::Made(_) | Decided::OneByOne(_) => unreachable!("a scheme was asked for"),
                }
            }
            release::publish(&self.known, bargain, key, work)
        })
    }

    /// Publishes the same as a table of the project's database, or of another, in one transaction; the certificate that
    /// stands beside the project.
    #[pyo3(signature = (order, table, database = None, replace = false, threads = 0, memory = None, progress = None))]
    #[allow(clippy::too_many_arguments)]
    fn publish_into<'py>(
        &self,
        py: Python<'py>,
        order: &str,
        table: &str,
        database: Option<&str>,
        replace: bool,
        threads: u16,
        memory: Option<String>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let order = from_json(order)?;
        let order = order.as_object().expect("the Python side writes an object");
        let means = || Ok((usize::from(threads), memory.as_deref().map(parse_memory).transpose()?));
        let certificate = work_with(py, progress.as_ref(), means, |work| {
            let path = |path: &str, _| Ok(PathBuf::from(path));
            let reader = Reader::new(order, &path, true);
            let (ordered, key) = (reader.publish()?, reader.key()?);
            reader.finish()?;
            let new = NewTable::new(table, database)?;
            match ordered.run_into(&self.known.project, &Rules::default(), &new, key, None, replace, work)?.1 {
                Ordered::Published(published) => Ok(published.certificate),
                Ordered::No(no) => Err(release::why_not(no)),
            }
        })?;
        to_python(py, &serde_json::to_value(&certificate).expect("a certificate is JSON"))
    }

    /// Any verb by its name: a document in the words of the flags, and the one of `--json` back.
    #[pyo3(signature = (verb, order, threads = 0, memory = None, progress = None))]
    fn order<'py>(
        &self,
        py: Python<'py>,
        verb: &str,
        order: &str,
        threads: u16,
        memory: Option<String>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let order = from_json(order)?;
        let order = order.as_object().expect("the Python side writes an object");
        let means = || Ok((usize::from(threads), memory.as_deref().map(parse_memory).transpose()?));
        let document = work_with(py, progress.as_ref(), means, |work| {
            let path = |path: &str, _| Ok(PathBuf::from(path));
            let KnownTable { project, known } = &*self.known;
            let desk = verbs::Desk { project, known, rules: &Rules::default(), with_standing: true, path: &path };
            verbs::run(verb, order, &desk, work)
        })?;
        to_python(py, &document)
    }

    /// What each method makes of the table, as `compare --json` says it.
    #[pyo3(signature = (wish, ks, methods, n_queries, seed, steps, time, target, progress = None))]
    fn compare<'py>(
        &self,
        py: Python<'py>,
        wish: Wish,
        ks: Vec<u64>,
        methods: Option<Vec<String>>,
        n_queries: u32,
        seed: u64,
        steps: Option<u64>,
        time: Option<f64>,
        target: Option<String>,
        progress: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let document = work_with(
            py,
            progress.as_ref(),
            || wish.means(),
            |work| {
                let contenders = methods.map(|names| {
                    names.iter().map(|name| Contender::parse(name.trim())).collect::<Result<Vec<Contender>>>()
                });
                let order = Compare {
                    about: wish.about(),
                    request: GivenRequest { best_by: None, max_level: None, ..wish.given_request()? },
                    ks,
                    is_chart: false,
                    contenders: contenders.transpose()?,
                    queries: None,
                    n_queries: n_queries as usize,
                    seed,
                    vary_weight: None,
                    n_steps: steps,
                    time: seconds(time)?,
                    target,
                };
                Ok(documents::compared(&order.run(&self.known.project, &self.known.known, work)?))
            },
        )?;
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
    steps: Option<u64>,
    time: Option<f64>,
    as_published: bool,
}

/// A time that was said in seconds.
fn seconds(time: Option<f64>) -> Result<Option<Duration>> {
    match time {
        Some(seconds) if !(0.0..1e9).contains(&seconds) => {
            Err(Error::new(ErrorKind::Request, "time is not a time").hint("for example 2, in seconds"))
        }
        time => Ok(time.map(Duration::from_secs_f64)),
    }
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
    as_published: bool,
    search: Option<String>,
}

impl PerRecordOptions {
    fn wish(self) -> Result<PerRecordWish> {
        Ok(PerRecordWish {
            utility_at_least: self.utility_at_least,
            risk_at_most: self.risk_at_most,
            lambda: self.lambda_,
            utility: self.utility.as_deref().map(Utility::parse).transpose()?,
            risk: self.risk.as_deref().map(Risk::parse).transpose()?,
            dictionary: self.dictionary,
            similarity: self.similarity,
            weights: self.weights,
            weights_seed: self.weights_seed,
            also_k: self.also_k,
            as_published: published_search(self.as_published, self.search.as_deref())?,
        })
    }
}

/// What is to be published, and how it came about.
pub struct Bargain {
    pub order: Publish,
    pub privacy: Privacy,
    pub counted: Arc<Counted>,
    /// What was agreed on, where one level per attribute was.
    pub agreed: Option<Agreed>,
}

impl KnownTable {
    /// Counts what an order is about.
    fn ordered(&self, order: Publish, work: &Work) -> Result<Bargain> {
        let privacy = order.privacy(&self.project)?;
        let counted = order.count(&self.project, &privacy, &self.known, work)?;
        Ok(Bargain { order, privacy, counted, agreed: None })
    }

    /// Finds again what an answer offered, or what levels of one's own choice give.
    fn bargain(
        &self,
        wish: &Wish,
        list: &[String],
        promised: Option<&Value>,
        choice: &str,
        two_columns: bool,
        work: &Work,
    ) -> Result<Bargain> {
        let choices = ["exact", "suppression", "height", "privacy", "levels"];
        let choice = choices.into_iter().find(|known| *known == choice).expect("the Python side knows the choices");
        let (about, given, project) = (wish.about(), wish.given_request()?, &self.project);
        let asked = given.privacy(project, &about)?;
        let criteria = match promised {
            None => asked.criteria.clone(),
            Some(words) => promised_criteria(words, &asked.sensitive)?,
        };
        let privacy = Privacy { criteria, floors: Default::default(), sensitive: asked.sensitive.clone() };
        let counted = self.known.count(project, &about.choice(&privacy), work)?;
        let list = levels(list)?;
        let agreed = match choice {
            "levels" => match agree_on_levels(&list, &given, project, &privacy, &counted)? {
                Agreement::Agreed(agreed) => agreed,
                Agreement::No(no) => return Err(release::why_not(no)),
            },
            choice => {
                check_promise(&privacy.criteria)?;
                check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
                counted.check_promise(&privacy.criteria)?;
                let measures = || privacy.criteria.iter().map(|criterion| criterion.measure);
                let with_entropy = given.best_by(project)?.needs_entropy();
                let (extent, _) = ExtentWish::default().choice(&counted, Otherwise::OnDemand, work)?;
                let lattice = match extent {
                    Extent::Full => Some(self.known.annotate(&counted, measures(), with_entropy, work)?),
                    _ => None,
                };
                let exact = Scheme::new(vec![Level(0); counted.hierarchies.len()]);
                let scheme = with_levels(&exact, &list, &counted.hierarchies)?;
                let offer = match &lattice {
                    Some(lattice) => offer_of(lattice, &scheme, &privacy.criteria)?,
                    None => offer_of_levels(&counted, &counted.yardstick(measures())?, scheme, &privacy)?,
                };
                let n_schemes = lattice.as_ref().and_then(|lattice| lattice.n_schemes());
                let search = n_schemes.map(sentences::found_in_whole_lattice);
                let n_records = counted.counts.n_records();
                let request = given.checked(project, &asked, &counted.hierarchies, n_records)?;
                Agreed { offer, choice, request: Some(request), lattice, search, two_columns }
            }
        };
        let agreed = Agreed { two_columns, ..agreed };
        let order = Publish { about, request: given, way: PublishBy::Levels(list), two_columns, target: None };
        Ok(Bargain { order, privacy, counted, agreed: Some(agreed) })
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
