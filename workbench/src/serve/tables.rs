//! What the server keeps between requests: projects, counts and annotated lattices, each by a hash of its content.
//!
//! Nothing here changes once it is made. A request names its project by hash and carries the rest of its question, so
//! that two people at two screens never see each other's wishes.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use incrowd::search::partial::Selection;
use incrowd::{Error, ErrorKind, Hierarchy, Lattice, Measure, Ranking, Result, Role};
use serde_json::{Value, json};

use super::columns::{CountedColumns, look};
use super::document;
use super::safety::Folder;
use crate::input::count::{Choice, Counted};
use crate::input::digest::{sha256, sha256_of};
use crate::input::project::{Attribute, FILE_NAME, Project};
use crate::input::source::{ReadOptions, Source};
use crate::input::survey::{self, Suggestion, Survey, Uniqueness};
use crate::orders::extent::{Extent, ExtentWish, Otherwise};
use crate::orders::init::suggest;
use crate::orders::known::{Known, Limits};
use crate::orders::profile::surveyed;
use crate::orders::request::{About, Privacy};
use crate::orders::saved;
use crate::work::{Watch, Work};

/// Projects that are kept; a page that names an older one opens it again.
const N_PROJECTS_MAX: usize = 64;

/// What kept projects may say together, imported hierarchies included; older ones are forgotten beyond it.
const N_TEXT_BYTES_MAX: usize = 32 << 20;

/// Files with lattices that are looked into.
const N_SAVED_MAX: usize = 20;

/// Counted tables that are kept.
const N_COUNTED_MAX: usize = 8;

/// A project as someone sees it on the page, saved or not.
pub struct Opened {
    /// The hash of everything below.
    pub id: String,
    pub project: Project,
    pub document: Value,
    pub table: Arc<ServedTable>,
    n_text_bytes: usize,
    /// How large the data are.
    pub n_bytes: u64,
    /// The hash of what counts and lattices depend on: the data, and each attribute's role, hierarchy and weight.
    pub key: String,
}

/// A data file under one reading of its missing values.
pub struct ServedTable {
    pub key: String,
    survey: OnceLock<(Survey, Vec<Suggestion>)>,
    columns: OnceLock<CountedColumns>,
    uniqueness: Mutex<HashMap<(Vec<String>, Vec<String>), Uniqueness>>,
}

/// A lattice with what it was made from.
pub struct Ready {
    pub counted: Arc<Counted>,
    pub lattice: Arc<Lattice>,
}

/// Everything that is kept.
pub struct Tables {
    pub folder: Folder,
    pub n_bytes_max: u64,
    projects: RwLock<Vec<Arc<Opened>>>,
    tables: Arc<Mutex<Vec<Arc<ServedTable>>>>,
    /// Counts and lattices.
    pub known: Arc<Known>,
    /// By file, its hash when it had this size and time.
    hashes: Arc<Mutex<HashMap<PathBuf, (u64, SystemTime, String)>>>,
}

impl Tables {
    pub fn new(folder: Folder, n_bytes_max: u64) -> Tables {
        Tables {
            folder,
            n_bytes_max,
            projects: RwLock::default(),
            tables: Arc::default(),
            known: Arc::new(Known::keeping(Limits {
                n_counted: N_COUNTED_MAX,
                n_lattices: usize::MAX,
                n_bytes: n_bytes_max,
                tells_again: true,
            })),
            hashes: Arc::default(),
        }
    }

    /// The same data, counts and lattices for somebody else, who knows one project and those that they make of it.
    pub fn beside(&self, project: Arc<Opened>) -> Tables {
        Tables {
            folder: self.folder.clone(),
            n_bytes_max: self.n_bytes_max,
            projects: RwLock::new(vec![project]),
            tables: self.tables.clone(),
            known: self.known.clone(),
            hashes: self.hashes.clone(),
        }
    }

    /// Opens a project file, a folder with one, or a data file, for which a project is suggested.
    pub fn open(&self, path: &str, work: &Work) -> Result<Arc<Opened>> {
        let full = self.folder.to_read(path)?;
        let file = if full.is_dir() { full.join(FILE_NAME) } else { full.clone() };
        let is_project = file.extension().is_some_and(|extension| extension == "toml");
        if is_project && (full.is_file() || file.exists()) {
            return self.open_project(&Project::open(&file)?);
        }
        self.open_data(path, &full, work)
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
                continue;
            }
            for kind in ["file", "parents"] {
                if attribute.get("hierarchy").is_some_and(|hierarchy| hierarchy.get(kind).is_some()) {
                    moved(&mut attribute["hierarchy"][kind]);
                }
            }
        }
        if below.as_os_str().is_empty() {
            return self.keep(project.clone(), document);
        }
        self.open_document(document, Some(&project.text))
    }

    /// Suggests a project for a data file.
    fn open_data(&self, path: &str, full: &Path, work: &Work) -> Result<Arc<Opened>> {
        let suggested = suggest(Source::open(full, &ReadOptions::default())?, None, work)?;
        let text = suggested.text(path, &ReadOptions::default());
        self.open_document(document::of_text(&text)?, Some(&text))
    }

    /// Opens what somebody has edited; `known` is the text that it was before.
    pub fn open_document(&self, document: Value, known: Option<&str>) -> Result<Arc<Opened>> {
        let project = document::to_project(&document, known, &self.folder)?;
        self.keep(project, document)
    }

    fn keep(&self, mut project: Project, document: Value) -> Result<Arc<Opened>> {
        let source = project.source()?;
        let hashes = match &project.database {
            // As long as it is served, it is what it was when it was first counted.
            Some(place) => vec![format!("{place:?}")],
            None => source.files().into_iter().map(|path| self.hash(path)).collect::<Result<Vec<_>>>()?,
        };
        let missing = &project.missing;
        let dropping = missing.drop_records.then(|| format!("{:?}", missing.needed));
        let per_person = project.per_person().map(|limit| (limit.person, limit.n_max, limit.seed));
        // What becomes of cells that do not fit depends on what a hierarchy knows.
        let treated = project.attributes.iter().filter(|known| known.treatment().is_some() || known.rule.codes_ends());
        let treated: Vec<Value> = treated
            .map(|known| json!([known.name, known.treatment(), known.hierarchy_text, known.hierarchy_file]))
            .collect();
        let table_key = sha256_of(
            json!([
                hashes,
                format!("{:?} {:?}", project.reading, project.dates()),
                missing.tokens,
                dropping,
                per_person,
                treated
            ])
            .to_string()
            .as_bytes(),
        );
        let population = project.population.as_ref().map(|path| self.hash(&project.folder.join(path))).transpose()?;
        let attributes = project.attributes.iter().map(|attribute| {
            let file = attribute.hierarchy_file.as_ref().map(|(_, text)| text.as_str());
            let distance = attribute.distance.map(|distance| distance.name());
            let count_at = attribute.count_at.as_ref().map(|level| format!("{level:?}"));
            let Attribute { name, role, hierarchy_text, weight, .. } = attribute;
            json!([name, role.name(), hierarchy_text, file, weight, distance, count_at])
        });
        let (attributes, asked) = (attributes.collect::<Vec<_>>(), project.records_are_independent);
        let key = sha256_of(json!([table_key, population, attributes, asked]).to_string().as_bytes());
        project.content.clone_from(&key);
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

    fn table(&self, key: String) -> Arc<ServedTable> {
        let mut tables = lock(&self.tables);
        if let Some(known) = tables.iter().find(|known| known.key == key) {
            return known.clone();
        }
        let table = Arc::new(ServedTable {
            key,
            survey: OnceLock::new(),
            columns: OnceLock::new(),
            uniqueness: Mutex::default(),
        });
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
        let counted = self.counted(opened, privacy)?;
        let selection = selection(self.extent(&counted, &self.unwatched()).ok()?);
        let lattice = self.known.lattice(&counted, privacy, ranking, selection?)?;
        Some(Arc::new(Ready { counted, lattice }))
    }

    /// Work that is over before anybody could look at it.
    pub fn unwatched(&self) -> Work {
        Work::new(None, Some(self.n_bytes_max), Watch::default())
    }

    /// Work that has told again what is worth knowing about the counts and the lattice that answer.
    pub fn told_again(&self, counted: &Counted) -> Result<Work> {
        let work = self.unwatched();
        counted.tell_again(&work);
        self.extent(counted, &work)?;
        Ok(work)
    }

    /// How much of the lattice the page works with: all of it, or the most promising part where that would be too much.
    pub fn extent(&self, counted: &Counted, work: &Work) -> Result<Extent> {
        ExtentWish::default().choose(counted, Otherwise::Partial, work)
    }

    /// Counts and annotates; what is kept already is not made again.
    pub fn annotate(&self, opened: &Opened, privacy: &Privacy, ranking: &Ranking, work: &Work) -> Result<Arc<Ready>> {
        let counted = self.count(opened, privacy, work)?;
        let measures = || privacy.criteria.iter().map(|criterion| criterion.measure);
        let too_large = || {
            Error::new(ErrorKind::TooLarge, "not even a part of the lattice fits")
                .hint("choose fewer quasi-identifiers, or start the server with more --memory")
        };
        let selection = selection(self.extent(&counted, work)?).ok_or_else(too_large)?;
        let with_entropy = ranking.needs_entropy();
        if self.known.lattice(&counted, privacy, ranking, selection).is_none()
            && let Some(lattice) = self.saved(opened, &counted, privacy, ranking, selection)
        {
            self.known.keep(&counted, privacy, ranking, selection, Arc::new(lattice));
        }
        let lattice = self.known.annotate_some(&counted, measures(), with_entropy, selection, work)?;
        Ok(Arc::new(Ready { counted, lattice }))
    }

    /// A lattice in a file of the served folder that was annotated for this project and measures all that is asked for: what
    /// was annotated once is opened, not made again. Files that do not fit are left alone.
    fn saved(
        &self,
        opened: &Opened,
        counted: &Counted,
        privacy: &Privacy,
        ranking: &Ranking,
        selection: Option<Selection>,
    ) -> Option<Lattice> {
        let entries = std::fs::read_dir(self.folder.root()).ok()?;
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let is_lattice = |path: &&PathBuf| {
            let metadata = path.symlink_metadata();
            path.extension().is_some_and(|ending| ending == "crowd")
                && metadata.is_ok_and(|file| file.is_file() && file.len() <= self.n_bytes_max)
        };
        let work = self.unwatched();
        let names = |hierarchies: &[Hierarchy]| -> Vec<String> {
            hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect()
        };
        let open = |path: &PathBuf| -> Option<Lattice> {
            let saved::OpenedLattice { lattice, privacy: of_file, .. } =
                saved::open(path, &opened.project, &About::default(), privacy, ranking, &work).ok()?;
            let measures = |measure: Measure| lattice.measures().contains(&measure);
            let fits = of_file.sensitive == privacy.sensitive
                && lattice.selection() == selection
                && lattice.n_records() == counted.counts.n_records()
                && names(lattice.hierarchies()) == names(&counted.hierarchies)
                && measures(Measure::Size)
                && (counted.sensitive.is_empty() || measures(Measure::Distinct(0)));
            fits.then_some(lattice)
        };
        paths.iter().filter(is_lattice).take(N_SAVED_MAX).find_map(open)
    }

    /// The counts for some criteria, if they are at hand.
    pub fn counted(&self, opened: &Opened, privacy: &Privacy) -> Option<Arc<Counted>> {
        self.known.counted(&opened.project, &choice(privacy))
    }

    pub fn count(&self, opened: &Opened, privacy: &Privacy, work: &Work) -> Result<Arc<Counted>> {
        self.known.count(&opened.project, &choice(privacy), work)
    }
}

/// The part that an extent is, none for all of it; nothing where no lattice is made.
fn selection(extent: Extent) -> Option<Option<Selection>> {
    match extent {
        Extent::Full => Some(None),
        Extent::Partial(selection) => Some(Some(selection)),
        Extent::OnDemand => None,
    }
}

fn choice(privacy: &Privacy) -> Choice {
    About::default().choice(privacy)
}

impl Opened {
    /// What each column looks like, and which role that suggests.
    pub fn survey(&self, work: &Work) -> Result<&(Survey, Vec<Suggestion>)> {
        made(&self.table.survey, || {
            let source = self.project.source_as_written()?;
            surveyed(&source, Some(&self.project.missing), work)
        })
    }

    /// How often each value occurs.
    pub fn columns(&self, work: &Work) -> Result<&CountedColumns> {
        made(&self.table.columns, || look(&self.project.source_as_counted()?, &self.project.missing, work))
    }

    /// How many records, or people, stand alone on the quasi-identifiers.
    pub fn uniqueness(&self, work: &Work) -> Result<Option<Uniqueness>> {
        let names: Vec<String> =
            self.project.with_role(Role::QuasiIdentifier).map(|attribute| attribute.name.clone()).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let person = self.project.person();
        let of = (names.clone(), person.iter().map(|name| name.to_string()).collect());
        if let Some(known) = lock(&self.table.uniqueness).get(&of) {
            return Ok(Some(known.clone()));
        }
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let source = self.project.source()?;
        refs.iter().chain(&person).try_for_each(|name| source.check_column(name))?;
        let found = survey::uniqueness(&source, &self.project.missing, &refs, &person, work)?;
        let mut all = lock(&self.table.uniqueness);
        if all.len() >= 256 {
            all.clear();
        }
        all.insert(of, found.clone());
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
