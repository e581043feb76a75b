//! What the server keeps between requests: projects, counts and annotated lattices, each by a hash of its content.
//!
//! Nothing here changes once it is made. A request names its project by hash and carries the rest of its question, so
//! that two people at two screens never see each other's wishes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use incrowd::scheme::n_schemes;
use incrowd::task::Task;
use incrowd::{Error, ErrorKind, Lattice, Measure, Ranking, Result, Role};
use serde_json::{Value, json};

use super::columns::{Columns, look};
use super::document;
use super::safety::Folder;
use crate::commands::init::project_text;
use crate::count::{Choice, Counted, count};
use crate::digest::{sha256, sha256_of};
use crate::project::{FILE_NAME, Project};
use crate::source::{CsvOptions, Source};
use crate::survey::{self, Suggestion, Survey, Uniqueness};
use crate::talk::Talk;
use crate::wishes::Privacy;

pub const QUIET: Talk = Talk { is_json: false, is_quiet: true };

/// Projects that are kept; a page that names an older one opens it again.
const N_PROJECTS_MAX: usize = 64;

/// What kept projects may say together, imported hierarchies included; older ones are forgotten beyond it.
const N_TEXT_BYTES_MAX: usize = 32 << 20;

/// Counted tables that are kept.
const N_COUNTED_MAX: usize = 8;

/// A project as someone sees it on the page, saved or not.
pub struct Opened {
    /// The hash of everything below.
    pub id: String,
    pub project: Project,
    pub document: Value,
    pub table: Arc<Table>,
    n_text_bytes: usize,
    /// How large the data are.
    pub n_bytes: u64,
    /// The hash of what counts and lattices depend on: the data, and each attribute's role, hierarchy and weight.
    pub key: String,
}

/// A data file under one reading of its missing values.
pub struct Table {
    pub key: String,
    survey: OnceLock<(Survey, Vec<Suggestion>)>,
    columns: OnceLock<Columns>,
    uniqueness: Mutex<HashMap<Vec<String>, Uniqueness>>,
}

/// A lattice with what it was made from.
pub struct Ready {
    pub counted: Arc<Counted>,
    pub lattice: Lattice,
}

/// Everything that is kept.
pub struct Tables {
    pub folder: Folder,
    n_bytes_max: u64,
    projects: RwLock<Vec<Arc<Opened>>>,
    tables: Mutex<Vec<Arc<Table>>>,
    counted: Mutex<Vec<(String, Arc<Counted>)>>,
    lattices: RwLock<Vec<Kept>>,
    clock: AtomicU64,
    /// By file, its hash when it had this size and time.
    hashes: Mutex<HashMap<PathBuf, (u64, SystemTime, String)>>,
}

struct Kept {
    key: String,
    ready: Arc<Ready>,
    last_used: AtomicU64,
}

impl Tables {
    pub fn new(folder: Folder, n_bytes_max: u64) -> Tables {
        Tables {
            folder,
            n_bytes_max,
            projects: RwLock::default(),
            tables: Mutex::default(),
            counted: Mutex::default(),
            lattices: RwLock::default(),
            clock: AtomicU64::new(0),
            hashes: Mutex::default(),
        }
    }

    /// Opens a project file, a folder with one, or a data file, for which a project is suggested.
    pub fn open(&self, path: &str) -> Result<Arc<Opened>> {
        let full = self.folder.to_read(path)?;
        let file = if full.is_dir() { full.join(FILE_NAME) } else { full.clone() };
        let is_project = file.extension().is_some_and(|extension| extension == "toml");
        if is_project && (full.is_file() || file.exists()) {
            return self.open_project(&Project::open(&file)?);
        }
        self.open_data(path, &full)
    }

    /// Opens a project as its file says it, which may name data outside of the served folder if that was trusted.
    pub fn open_project(&self, project: &Project) -> Result<Arc<Opened>> {
        let mut document = document::of_text(&project.text)?;
        // Paths are relative to the project file; here they are relative to the served folder.
        let folder = if project.folder.as_os_str().is_empty() { Path::new(".") } else { &project.folder };
        let folder = folder.canonicalize().map_err(|error| crate::io_error(folder, error))?;
        let below = folder.strip_prefix(self.folder.root()).unwrap_or(Path::new("")).to_path_buf();
        let moved = |value: &mut Value| {
            if let Some(path) = value.as_str().filter(|_| !below.as_os_str().is_empty()) {
                *value = json!(below.join(path).display().to_string());
            }
        };
        moved(&mut document["data"]["path"]);
        if document["data"].get("population").is_some() {
            moved(&mut document["data"]["population"]);
        }
        for attribute in document["attributes"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            if attribute.get("hierarchy").is_some_and(Value::is_string) {
                moved(&mut attribute["hierarchy"]);
            } else if attribute.get("hierarchy").is_some_and(|hierarchy| hierarchy.get("file").is_some()) {
                moved(&mut attribute["hierarchy"]["file"]);
            }
        }
        if below.as_os_str().is_empty() {
            return self.keep(project.clone(), document);
        }
        self.open_document(document, Some(&project.text))
    }

    /// Suggests a project for a data file.
    fn open_data(&self, path: &str, full: &Path) -> Result<Arc<Opened>> {
        let source = Source::open(full, &CsvOptions::default())?;
        let survey = survey::survey(&source, None, &QUIET)?;
        let mut suggestions = survey::suggest(&survey);
        survey::take_back_twins(&source, &survey, &mut suggestions, &QUIET)?;
        let text = project_text(path, None, &survey, &suggestions);
        self.open_document(document::of_text(&text)?, Some(&text))
    }

    /// Opens what somebody has edited; `known` is the text that it was before.
    pub fn open_document(&self, document: Value, known: Option<&str>) -> Result<Arc<Opened>> {
        let project = document::to_project(&document, known, &self.folder)?;
        self.keep(project, document)
    }

    fn keep(&self, project: Project, document: Value) -> Result<Arc<Opened>> {
        let source = project.source()?;
        let hashes = source.files().into_iter().map(|path| self.hash(path)).collect::<Result<Vec<_>>>()?;
        let missing = &project.missing;
        let table_key = sha256_of(
            json!([hashes, project.csv.delimiter, missing.tokens, missing.drop_records]).to_string().as_bytes(),
        );
        let population = project.population.as_ref().map(|path| self.hash(&project.folder.join(path))).transpose()?;
        let attributes = project.attributes.iter().map(|attribute| {
            let file = attribute.hierarchy_file.as_ref().map(|(_, text)| text.as_str());
            let distance = attribute.distance.map(|distance| distance.name());
            json!([attribute.name, attribute.role.name(), attribute.hierarchy_text, file, attribute.weight, distance])
        });
        let key = sha256_of(json!([table_key, population, attributes.collect::<Vec<_>>()]).to_string().as_bytes());
        let id = sha256_of(json!([key, document, project.text]).to_string().as_bytes());
        let mut projects = self.projects.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = projects.iter().find(|known| known.id == id) {
            return Ok(known.clone());
        }
        let (table, n_bytes) = (self.table(table_key), source.n_bytes());
        let n_text_bytes = document.to_string().len() + project.text.len();
        let opened = Arc::new(Opened { id, project, document, table, n_text_bytes, n_bytes, key });
        projects.push(opened.clone());
        let n_bytes = |projects: &[Arc<Opened>]| projects.iter().map(|known| known.n_text_bytes).sum::<usize>();
        while projects.len() > N_PROJECTS_MAX || projects.len() > 2 && n_bytes(&projects) > N_TEXT_BYTES_MAX {
            // The first is the one that was served, to which every page can return.
            projects.remove(1);
        }
        Ok(opened)
    }

    fn table(&self, key: String) -> Arc<Table> {
        let mut tables = lock(&self.tables);
        if let Some(known) = tables.iter().find(|known| known.key == key) {
            return known.clone();
        }
        let table =
            Arc::new(Table { key, survey: OnceLock::new(), columns: OnceLock::new(), uniqueness: Mutex::default() });
        if tables.len() >= N_COUNTED_MAX {
            tables.remove(0);
        }
        tables.push(table.clone());
        table
    }

    /// The hash of a file's content, looked up where size and time have not changed.
    fn hash(&self, path: &Path) -> Result<String> {
        let metadata = path.metadata().map_err(|error| crate::io_error(path, error))?;
        let (size, time) = (metadata.len(), metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH));
        let known = lock(&self.hashes).get(path).cloned();
        if let Some((known_size, known_time, hash)) = known
            && (known_size, known_time) == (size, time)
        {
            return Ok(hash);
        }
        let hash = sha256(path)?;
        let mut hashes = lock(&self.hashes);
        if hashes.len() >= 1_000 {
            hashes.clear();
        }
        hashes.insert(path.to_path_buf(), (size, time, hash.clone()));
        Ok(hash)
    }

    pub fn get(&self, id: &str) -> Option<Arc<Opened>> {
        let projects = self.projects.read().unwrap_or_else(PoisonError::into_inner);
        projects.iter().rev().find(|known| known.id == id).cloned()
    }

    /// The project that the server was started with, if any.
    pub fn first(&self) -> Option<Arc<Opened>> {
        self.projects.read().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    /// A lattice that can answer for some criteria and a ranking, if there is one.
    pub fn lattice(&self, opened: &Opened, privacy: &Privacy, ranking: &Ranking) -> Option<Arc<Ready>> {
        let kept = self.lattices.read().unwrap_or_else(PoisonError::into_inner);
        let with_entropy = ranking.needs_entropy();
        let key = counted_key(opened, privacy);
        let fits = |kept: &&Kept| {
            let lattice = &kept.ready.lattice;
            kept.key == key
                && (lattice.entropies().is_some() || !with_entropy)
                && lattice.check_measured(&privacy.criteria).is_ok()
        };
        let found = kept.iter().find(fits)?;
        found.last_used.store(self.clock.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        Some(found.ready.clone())
    }

    /// Counts and annotates; what is kept already is not made again.
    pub fn annotate(&self, opened: &Opened, privacy: &Privacy, ranking: &Ranking) -> Result<Arc<Ready>> {
        if let Some(ready) = self.lattice(opened, privacy, ranking) {
            return Ok(ready);
        }
        let counted = self.count(opened, privacy)?;
        // Beside what is asked for, k and l are always measured: the next request is likely to ask for them.
        let measures: Vec<Measure> = privacy.criteria.iter().map(|criterion| criterion.measure).collect();
        let n_schemes = n_schemes(&counted.hierarchies).unwrap_or(u64::MAX);
        let bar = QUIET.things("annotating", n_schemes, "schemes");
        let task = Task {
            n_bytes_max: self.n_bytes_max,
            progress: &|n| bar.inc(n),
            is_cancelled: &|| bar.is_finished(),
            ..Task::default()
        };
        let lattice = counted.annotate(measures, ranking.needs_entropy(), &task)?;
        bar.finish_and_clear();
        let ready = Arc::new(Ready { counted, lattice });
        self.keep_lattice(counted_key(opened, privacy), &ready);
        Ok(ready)
    }

    fn keep_lattice(&self, key: String, ready: &Arc<Ready>) {
        let mut kept = self.lattices.write().unwrap_or_else(PoisonError::into_inner);
        let last_used = AtomicU64::new(self.clock.fetch_add(1, Ordering::Relaxed));
        kept.push(Kept { key, ready: ready.clone(), last_used });
        let n_bytes = |kept: &[Kept]| kept.iter().map(|kept| kept.ready.lattice.n_bytes() as u64).sum::<u64>();
        while kept.len() > 1 && n_bytes(&kept) > self.n_bytes_max {
            let oldest = (0..kept.len()).min_by_key(|&i| kept[i].last_used.load(Ordering::Relaxed));
            kept.remove(oldest.expect("there is more than one"));
        }
    }

    /// The counts for some criteria, if they are at hand.
    pub fn counted(&self, opened: &Opened, privacy: &Privacy) -> Option<Arc<Counted>> {
        let key = counted_key(opened, privacy);
        lock(&self.counted).iter().find(|(known, _)| *known == key).map(|(_, counted)| counted.clone())
    }

    pub fn count(&self, opened: &Opened, privacy: &Privacy) -> Result<Arc<Counted>> {
        let key = counted_key(opened, privacy);
        if let Some(counted) = self.counted(opened, privacy) {
            return Ok(counted);
        }
        let choice = Choice {
            quasi_identifiers: None,
            sensitive: Some(privacy.sensitive.clone()),
            with_population: needs_population(privacy),
            n_threads: 0,
        };
        let counted = Arc::new(count(&opened.project, &choice, &QUIET)?);
        let mut all = lock(&self.counted);
        if all.len() >= N_COUNTED_MAX {
            all.remove(0);
        }
        all.push((key, counted.clone()));
        Ok(counted)
    }
}

impl Opened {
    /// What each column looks like, and which role that suggests.
    pub fn survey(&self) -> Result<&(Survey, Vec<Suggestion>)> {
        made(&self.table.survey, || {
            let source = self.project.source()?;
            let survey = survey::survey(&source, Some(&self.project.missing), &QUIET)?;
            let mut suggestions = survey::suggest(&survey);
            survey::take_back_twins(&source, &survey, &mut suggestions, &QUIET)?;
            Ok((survey, suggestions))
        })
    }

    /// How often each value occurs.
    pub fn columns(&self) -> Result<&Columns> {
        made(&self.table.columns, || look(&self.project.source()?, &self.project.missing, &QUIET))
    }

    /// How many records stand alone on the quasi-identifiers.
    pub fn uniqueness(&self) -> Result<Option<Uniqueness>> {
        let names: Vec<String> =
            self.project.with_role(Role::QuasiIdentifier).map(|attribute| attribute.name.clone()).collect();
        if names.is_empty() {
            return Ok(None);
        }
        if let Some(known) = lock(&self.table.uniqueness).get(&names) {
            return Ok(Some(known.clone()));
        }
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let source = self.project.source()?;
        refs.iter().try_for_each(|name| source.check_column(name))?;
        let found = survey::uniqueness(&source, &self.project.missing, &refs, &QUIET)?;
        let mut all = lock(&self.table.uniqueness);
        if all.len() >= 256 {
            all.clear();
        }
        all.insert(names, found.clone());
        Ok(Some(found))
    }

    /// Whether the columns have been looked at, so that an answer takes no time.
    pub fn is_seen(&self) -> bool {
        self.table.columns.get().is_some() && self.table.survey.get().is_some()
    }
}

/// Makes a thing once; where two make it at the same time, the first stays.
fn made<T>(cell: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if cell.get().is_none() {
        let _ = cell.set(make()?);
    }
    cell.get().ok_or_else(|| Error::new(ErrorKind::Data, "could not be looked at"))
}

fn needs_population(privacy: &Privacy) -> bool {
    privacy.criteria.value(Measure::Population).is_some()
}

fn counted_key(opened: &Opened, privacy: &Privacy) -> String {
    format!("{} {} {}", opened.key, needs_population(privacy), privacy.sensitive.join("\0"))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
