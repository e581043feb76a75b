//! Lattices in files: what was annotated once answers later runs in milliseconds, as long as it is still true.
//!
//! The file is a Parquet table with a row per scheme, which other tools can query, and between its rows and its footer
//! the sections of [`incrowd::saved`], which are what incrowd itself reads. See `docs/lattice-format.md`.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow_array::{ArrayRef, RecordBatch, UInt8Array, UInt32Array, UInt64Array};
use incrowd::error::{Step, Wording};
use incrowd::lattice::saved::{ReadAt, Section};
use incrowd::recode::tree::Shape;
use incrowd::search::request::decimal;
use incrowd::wire;
use incrowd::{Distance, Error, ErrorKind, GroupCounts, Lattice, Measure, Ranking, Result, Role};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use crate::input::count::{Choice, Counted, Material, chosen};
use crate::input::digest::{changed, sha256, sha256_of};
use crate::input::project::{Attribute, Project};
use crate::input::source::{ReadOptions, Source, guarded};
use crate::note::Note;
use crate::orders::request::{About, Privacy};
use crate::output::lattice_header::{Header, Mark, NoHeader, Origin, Settings, VERSION};
use crate::output::row_groups::parquet_error;
use crate::output::staged::{Staged, exists};
use crate::sentences::hint;
use crate::work::Work;

/// The keys of the Parquet footer that hold the header, and the SHA-256 of its text.
const HEADER: &str = "incrowd.lattice";
const HEADER_HASH: &str = "incrowd.lattice.sha256";

/// What the project says about how the data are read.
const DATA_SETTINGS: &str = "[data]";

/// Which columns say whose record it is; nothing where none does.
const PERSON_SETTINGS: &str = "the column that says whose record it is";

/// What a file is that somebody wants to look at.
const NO_LATTICE: [&str; 9] = ["html", "htm", "svg", "png", "pdf", "csv", "tsv", "json", "xlsx"];

/// What is judged by: counts that were kept with a lattice, or those at hand.
pub enum Tables {
    Own(Material),
    Counted(Arc<Counted>),
}

impl std::ops::Deref for Tables {
    type Target = Material;

    fn deref(&self) -> &Material {
        match self {
            Tables::Own(material) => material,
            Tables::Counted(counted) => counted,
        }
    }
}

/// Refuses a place for a lattice before any work is done.
pub fn check_place(path: &Path, project: &Project, replace: bool) -> Result<()> {
    project.check_output(path)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
    if NO_LATTICE.contains(&ending.as_str()) {
        return Err(Error::new(
            ErrorKind::Request,
            format!("a lattice is kept here, and .{ending} is no name for one"),
        )
        .at(path.display().to_string())
        .hint("for example adult.crowd; study suppression draws charts, as .html"));
    }
    if !replace && path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    Staged::create(path).map(|_| ())
}

/// Whether no scheme was annotated, and the file holds counts to search in on demand.
pub fn has_counts_only(lattice: &Lattice) -> bool {
    lattice.selection().is_some_and(|selection| selection.share == 0.0)
}

impl Origin {
    /// Looks at the data before they are read; what the files contain is hashed by [`Origin::finish`].
    pub fn before(project: &Project, choice: &Choice) -> Result<Origin> {
        let (quasi_identifiers, sensitive) = chosen(project, choice)?;
        let marks = |source: &Source| -> Result<Vec<Mark>> {
            // A table of a database has no times or sizes to be known by.
            let files = source.files().into_iter().filter(|_| !source.is_database());
            files.map(Mark::without_hash).collect()
        };
        let population = project.population_source()?;
        Ok(Origin {
            data: marks(&project.source()?)?,
            appended: Vec::new(),
            removed: Vec::new(),
            population: population.as_ref().map(marks).transpose()?.unwrap_or_default(),
            settings: settings(project, &quasi_identifiers, &sensitive),
        })
    }

    /// Hashes the files that were read, and refuses data that were changed meanwhile.
    pub fn finish(mut self, project: &Project, data: &Source) -> Result<Origin> {
        let hash = |marks: &mut Vec<Mark>, source: &Source| -> Result<()> {
            for ((mark, path), sha256) in marks.iter_mut().zip(source.files()).zip(source.sha256()?) {
                if Mark::without_hash(path)? != *mark {
                    return Err(changed(path));
                }
                mark.sha256 = sha256;
            }
            Ok(())
        };
        hash(&mut self.data, data)?;
        if let Some(source) = project.population_source()? {
            hash(&mut self.population, &source)?;
        }
        Ok(self)
    }

    /// Whether the data are those that were counted at first, or those with everything that was appended since.
    fn is_about(&self, source: &Source) -> Result<bool> {
        let with_appended: Vec<Mark> = self.data.iter().chain(&self.appended).cloned().collect();
        Ok(are_same(&self.data, source)? || self.removed.is_empty() && are_same(&with_appended, source)?)
    }

    /// The origin of the same lattice after records came and went, under the project as it is now.
    ///
    /// Refused where the data that it was made from are not what they were: then their counts are not known; and where
    /// the same file was counted before, unless records are to count `again`. Says too whether the project's hierarchies,
    /// weights and distances are still the same.
    pub fn updated(
        mut self,
        project: &Project,
        choice: &Choice,
        appended: Option<&Source>,
        removed: Option<&Source>,
        again: bool,
    ) -> Result<(Origin, bool)> {
        let (quasi_identifiers, sensitive) = chosen(project, choice)?;
        let now = settings(project, &quasi_identifiers, &sensitive);
        let is_same = [DATA_SETTINGS, PERSON_SETTINGS].iter().all(|what| self.settings.agree(&now, what));
        let is_there = project.data_path().exists();
        if !is_same || is_there && !self.is_about(&project.source()?)? {
            return Err(Error::new(ErrorKind::Data, "does not fit any more: the data changed since it was annotated")
                .hint(Wording::text("annotate again with: ").step(Step::Annotate { over: true })));
        }
        let marks = |source: Option<&Source>| -> Result<Vec<Mark>> {
            let hashed = |path: &Path| Ok(Mark { sha256: sha256(path)?, ..Mark::without_hash(path)? });
            source.into_iter().flat_map(Source::files).map(hashed).collect()
        };
        let arrived = marks(appended)?;
        let known = arrived.iter().position(|mark| self.counts(mark));
        if let (Some(at), Some(source), false) = (known, appended, again) {
            return Err(Error::new(ErrorKind::Data, "was counted before: its records would count twice")
                .at(source.files()[at].display().to_string())
                .hint(hint("append it once more with {force}")));
        }
        self.appended.extend(arrived);
        self.removed.extend(marks(removed)?);
        let is_same_project = self.settings == now;
        self.settings = now;
        Ok((self, is_same_project))
    }

    /// Whether a file of the same content was counted, and not taken out again.
    fn counts(&self, mark: &Mark) -> bool {
        let n_in = |marks: &[Mark]| marks.iter().filter(|known| known.sha256 == mark.sha256).count();
        n_in(&self.data) + n_in(&self.appended) > n_in(&self.removed)
    }

    /// Refuses a project that is no longer what the lattice was made from.
    fn check(&self, project: &Project, needs_population: bool, work: &Work) -> Result<()> {
        let changed = |what: &str| {
            let message = Wording::text("does not fit any more: ");
            let message = if what == DATA_SETTINGS { message.setting("data") } else { message.and(what) };
            Error::new(ErrorKind::Data, message.and(" changed since it was annotated"))
                .hint(Wording::text("annotate again with: ").step(Step::Annotate { over: true }))
        };
        let of_role = |role| project.with_role(role).cloned().collect::<Vec<Attribute>>();
        let now = settings(project, &of_role(Role::QuasiIdentifier), &of_role(Role::Sensitive));
        if let Some(what) = self.settings.all().find(|what| !self.settings.agree(&now, what)) {
            return Err(changed(what));
        }
        // A lattice of records says nothing about people.
        if now.contains(PERSON_SETTINGS) && !self.settings.contains(PERSON_SETTINGS) {
            return Err(changed(PERSON_SETTINGS));
        }
        if !project.data_path().exists() {
            work.note(Note::DataNotHere);
            return Ok(());
        }
        if !self.is_about(&project.source()?)? {
            return Err(changed("the data"));
        }
        if let (n_appended, n_removed) = (self.appended.len(), self.removed.len())
            && n_appended + n_removed > 0
        {
            work.note(Note::Updated { n_appended: n_appended as u64, n_removed: n_removed as u64 });
        }
        match project.population_source()? {
            Some(source) if needs_population && !are_same(&self.population, &source)? => Err(changed("the population")),
            _ => Ok(()),
        }
    }
}

impl Mark {
    fn without_hash(path: &Path) -> Result<Mark> {
        let metadata = path.metadata().map_err(|error| crate::io_error(path, error))?;
        let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = since.and_then(|since| u64::try_from(since.as_nanos()).ok());
        Ok(Mark { n_bytes: metadata.len(), modified, sha256: String::new() })
    }
}

/// Whether files are what they were: of the same size and time, as version control looks at them; where only the time
/// differs, of the same content.
fn are_same(marks: &[Mark], source: &Source) -> Result<bool> {
    let files = source.files();
    if files.len() != marks.len() {
        return Ok(false);
    }
    for (mark, path) in marks.iter().zip(files) {
        let now = Mark::without_hash(path)?;
        let is_untouched = now.modified.is_some() && now.modified == mark.modified;
        if now.n_bytes != mark.n_bytes || !is_untouched && sha256(path)? != mark.sha256 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// What the project says that annotations depend on, by what it is about; as hashes, since hierarchies hold values.
fn settings(project: &Project, quasi_identifiers: &[Attribute], sensitive: &[Attribute]) -> Settings {
    let mut settings = Settings::default();
    let missing = (&project.missing.tokens, project.missing.drop_records);
    let mut data = format!("{missing:?} {:?}", project.reading.delimiter);
    if project.missing.drop_records {
        data.push_str(&format!(" {:?}", project.missing.needed));
    }
    // What is not said changes nothing of older files.
    let rest = ReadOptions { delimiter: None, ..project.reading.clone() };
    if rest != ReadOptions::default() {
        data.push_str(&format!(" {rest:?}"));
    }
    if let Some(limit) = project.per_person() {
        data.push_str(&format!(" {limit:?}"));
    }
    // What becomes of cells that do not fit depends on what a hierarchy knows.
    for attribute in quasi_identifiers.iter().chain(sensitive) {
        if attribute.treatment().is_some() || attribute.rule.codes_ends() {
            let content = attribute.hierarchy_file.as_ref().map(|(_, content)| content);
            let Attribute { name, hierarchy_text, .. } = attribute;
            data.push_str(&format!(" {name} {:?} {hierarchy_text} {content:?}", attribute.treatment()));
        }
    }
    settings.insert(DATA_SETTINGS.into(), sha256_of(data.as_bytes()));
    if let person = project.person()
        && !person.is_empty()
    {
        settings.insert(PERSON_SETTINGS.into(), sha256_of(format!("{person:?}").as_bytes()));
    }
    let hierarchy = |attribute: &Attribute| {
        let content = attribute.hierarchy_file.as_ref().map(|(_, content)| content);
        // A file may have another name, as long as it says the same.
        content.map_or_else(|| attribute.hierarchy_text.clone(), |content| format!("file {content}"))
    };
    for attribute in quasi_identifiers {
        let mut text = format!("{} {}", attribute.weight, hierarchy(attribute));
        if !attribute.node_weights.is_empty() {
            text.push_str(&format!(" {:?}", attribute.node_weights));
        }
        settings.insert(format!("the hierarchy or weight of '{}'", attribute.name), sha256_of(text.as_bytes()));
    }
    for attribute in sensitive {
        let text = match (attribute.distance, &attribute.count_at) {
            (distance, Some(level)) => format!("{distance:?} {} at {level:?}", hierarchy(attribute)),
            (Some(Distance::Hierarchical), None) => format!("{:?} {}", attribute.distance, hierarchy(attribute)),
            (distance, None) => format!("{distance:?} "),
        };
        settings.insert(format!("the distance of '{}'", attribute.name), sha256_of(text.as_bytes()));
    }
    settings
}

/// Writes a lattice, whole or not at all; returns how many bytes the file has.
pub fn save(path: &Path, lattice: &Lattice, counts: &GroupCounts, origin: &Origin, replace: bool) -> Result<u64> {
    save_with_tree(path, lattice, counts, None, origin, replace)
}

/// The section that holds a tree of groups, as whole numbers of 64 bits.
const TREE: &str = "tree";

/// The same with a tree of groups of the same counts.
pub fn save_with_tree(
    path: &Path,
    lattice: &Lattice,
    counts: &GroupCounts,
    tree: Option<&Shape>,
    origin: &Origin,
    replace: bool,
) -> Result<u64> {
    let staged = Staged::create(path)?;
    let wrong = |error| parquet_error(path, error);
    let batch = table(lattice);
    let zstd = ZstdLevel::try_new(1).expect("1 is a level");
    let properties = WriterProperties::builder().set_compression(Compression::ZSTD(zstd)).build();
    let buffered = BufWriter::with_capacity(1 << 20, staged.file());
    let mut writer = ArrowWriter::try_new(buffered, batch.schema(), Some(properties)).map_err(wrong)?;
    writer.write(&batch).map_err(wrong)?;
    writer.flush().map_err(wrong)?;
    let start = writer.bytes_written() as u64;
    let mut write = |bytes: &[u8]| writer.write_all(bytes).map_err(|error| crate::io_error(path, error));
    let mut sections = incrowd::lattice::saved::save(lattice, counts, start, &mut write)?;
    if let Some(tree) = tree {
        let bytes: Vec<u8> = tree.to_numbers().into_iter().flat_map(i64::to_le_bytes).collect();
        let end = sections.iter().map(|section| section.start + section.n_bytes).max().unwrap_or(start);
        write(&bytes)?;
        sections.push(incrowd::lattice::saved::beside(TREE, &bytes, end));
    }
    let header = Header { origin: origin.clone(), sections }.to_text();
    writer.append_key_value_metadata(KeyValue::new(HEADER_HASH.into(), sha256_of(header.as_bytes())));
    writer.append_key_value_metadata(KeyValue::new(HEADER.into(), header));
    writer.close().map_err(wrong)?;
    let n_bytes = staged.file().metadata().map_err(|error| crate::io_error(path, error))?.len();
    staged.commit(replace)?;
    Ok(n_bytes)
}

/// A row per scheme: its levels, its groups, and the records lost at some values of every measure.
fn table(lattice: &Lattice) -> RecordBatch {
    let schemes = lattice.schemes();
    let places = || 0..schemes.len();
    let mut columns: Vec<(String, ArrayRef)> = Vec::new();
    for (a, hierarchy) in lattice.hierarchies().iter().enumerate() {
        let levels = UInt8Array::from_iter_values(places().map(|place| schemes.vector(place)[a]));
        columns.push((format!("level of {}", hierarchy.attribute()), Arc::new(levels)));
    }
    let heights = UInt32Array::from_iter_values(places().map(|place| schemes.scheme(place).height()));
    columns.push(("height".into(), Arc::new(heights)));
    let n_groups = UInt64Array::from_iter_values(places().map(|place| lattice.profile(place).n_groups()));
    columns.push(("groups".into(), Arc::new(n_groups)));
    let smallest = UInt64Array::from_iter_values(places().map(|place| lattice.smallest_group(place).unwrap_or(0)));
    columns.push(("smallest group".into(), Arc::new(smallest)));
    let names = wire::sensitive_names(lattice);
    for &measure in lattice.signatures().measures() {
        for (value, lost) in lattice.known_suppression(measure).filter(|(value, _)| *value != u64::MAX) {
            let l = if let Measure::Recursive { l, .. } = measure { format!(",{l}") } else { String::new() };
            let value = if measure.is_count() { value.to_string() } else { decimal(value) };
            let name = format!("lost at {}={value}{l}", wire::key(measure, &names));
            columns.push((name, Arc::new(UInt64Array::from_iter_values(lost.iter().copied()))));
        }
    }
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

/// A file that sections are read from.
struct Open {
    file: File,
    path: String,
    n_bytes: u64,
}

impl ReadAt for Open {
    fn read(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>> {
        if start.checked_add(n_bytes as u64).is_none_or(|end| end > self.n_bytes) {
            return Err(cut_off().at(self.path.clone()));
        }
        let mut bytes = vec![0; n_bytes];
        read_exact_at(&self.file, &mut bytes, start).map_err(|error| match error.kind() {
            std::io::ErrorKind::UnexpectedEof => cut_off().at(self.path.clone()),
            _ => crate::io_error(Path::new(&self.path), error),
        })?;
        Ok(bytes)
    }
}

/// Reads from a place of a file; several threads may do so at once.
#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut start: u64) -> std::io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, start) {
            Ok(0) => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => (bytes, start) = (&mut bytes[n..], start + n as u64),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn cut_off() -> Error {
    Error::new(ErrorKind::Data, "is damaged: it ends too early")
        .hint(Wording::text("write it again with: ").step(Step::Annotate { over: true }))
}

/// A lattice from a file, and the wishes with sensitive attributes numbered as in it.
pub struct OpenedLattice {
    pub lattice: Lattice,
    pub privacy: Privacy,
    pub content: SavedContent,
}

/// What else a file holds, read when it is needed.
pub struct SavedContent {
    path: PathBuf,
    sections: Vec<Section>,
    storage: Arc<Open>,
}

impl SavedContent {
    /// The counts that the lattice was made from.
    pub fn counts(&self, work: &Work) -> Result<GroupCounts> {
        let counts = work.quietly(|task| incrowd::lattice::saved::open_counts(&self.sections, &*self.storage, task));
        counts.map_err(|error| error.or_at(self.path.display().to_string()))
    }

    /// Whether a tree of groups was kept too.
    pub fn has_tree(&self) -> bool {
        self.sections.iter().any(|section| section.name == TREE)
    }

    /// The tree of groups of the same counts, where one was kept.
    pub fn tree(&self, material: &Material) -> Result<Option<Shape>> {
        let at = |error: Error| error.or_at(self.path.display().to_string());
        let bytes = incrowd::lattice::saved::open_beside(&self.sections, &*self.storage, TREE).map_err(at)?;
        let Some(bytes) = bytes else { return Ok(None) };
        let number = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        let numbers: Vec<i64> = bytes.chunks_exact(8).map(number).collect();
        let shape = Shape::from_numbers(&numbers, material.told_apart(), &material.hierarchies, &material.weights());
        shape.map(Some).map_err(at)
    }

    /// What the lattice was made of, for a project that it was annotated for.
    pub fn material(&self, project: &Project, lattice: &Lattice, work: &Work) -> Result<Material> {
        let names = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
        let choice = Choice {
            quasi_identifiers: Some(names),
            sensitive: Some(wire::sensitive_names(lattice)),
            ..Choice::default()
        };
        let (quasi_identifiers, sensitive) = chosen(project, &choice)?;
        Material::new(quasi_identifiers, sensitive, self.counts(work)?)
    }
}

/// Opens a lattice that was annotated for this project, and refuses one that cannot answer.
pub fn open(
    path: &Path,
    project: &Project,
    about: &About,
    privacy: &Privacy,
    best_by: &Ranking,
    work: &Work,
) -> Result<OpenedLattice> {
    let (lattice, origin, content) = read(path, work)?;
    let at = |error: Error| error.or_at(path.display().to_string());
    let needs_population = privacy.criteria.value(Measure::Population).is_some();
    origin.check(project, needs_population, work).map_err(at)?;
    let wrong = |message: String| Error::new(ErrorKind::Request, message).at(path.display().to_string());
    let names: Vec<&str> = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let wanted: Vec<String> = match &about.quasi_identifiers {
        Some(names) => names.clone(),
        None => project.with_role(Role::QuasiIdentifier).map(|attribute| attribute.name.clone()).collect(),
    };
    let is_same = wanted.iter().all(|name| names.contains(&name.as_str()))
        && names.iter().all(|name| wanted.iter().any(|wanted| wanted == name));
    if !is_same {
        return Err(wrong(format!("is about the quasi-identifiers {}, and no others", names.join(", "))).hint(
            Wording::text("ask with ")
                .example("quasi_identifiers", names.join(","))
                .and(", or annotate again with all"),
        ));
    }
    let known = wire::sensitive_names(&lattice);
    if let Some(name) = privacy.sensitive.iter().find(|name| !known.contains(name)) {
        return Err(wrong(format!("was annotated without the sensitive attribute '{name}'"))
            .hint("annotate again with a criterion about it"));
    }
    let privacy = privacy.about(&known);
    lattice.check_measured(&privacy.criteria).map_err(at)?;
    if best_by.needs_entropy() && lattice.entropies().is_none() {
        return Err(wrong("was annotated without entropy".into()).hint(hint("annotate again with {entropy}")));
    }
    Ok(OpenedLattice { lattice, privacy, content })
}

/// Reads a file and checks that it is a lattice as this program writes them, whatever it was made from.
pub fn read(path: &Path, work: &Work) -> Result<(Lattice, Origin, SavedContent)> {
    let position = path.display().to_string();
    let wrong = |message: &str| Error::new(ErrorKind::Data, message).at(position.clone());
    let no_lattice =
        || wrong("is not a saved lattice").hint(Wording::text("make one with: ").step(Step::Annotate { over: false }));
    let file = File::open(path).map_err(|error| crate::io_error(path, error))?;
    let n_bytes = file.metadata().map_err(|error| crate::io_error(path, error))?.len();
    let mut magic = [0; 4];
    if read_exact_at(&file, &mut magic, 0).is_err() || magic != *b"PAR1" {
        return Err(no_lattice());
    }
    let unreadable = || {
        wrong("is damaged or cut off").hint(Wording::text("write it again with: ").step(Step::Annotate { over: true }))
    };
    let metadata =
        guarded(path, || ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).map_err(|_| unreadable()))
            .map_err(|_| unreadable())?;
    let pairs = metadata.metadata().file_metadata().key_value_metadata();
    let value = |key: &str| {
        let pair = pairs.into_iter().flatten().find(|pair| pair.key == key);
        pair.and_then(|pair| pair.value.clone())
    };
    let text = value(HEADER).ok_or_else(no_lattice)?;
    if value(HEADER_HASH) != Some(sha256_of(text.as_bytes())) {
        return Err(unreadable());
    }
    let Header { origin, sections } = Header::parse(&text).map_err(|no| match no {
        NoHeader::Newer { version, made_by } => {
            wrong(&format!("is in format {version}, written by {made_by}; this program reads format {VERSION}"))
                .hint("use a later incrowd, or annotate again")
        }
        NoHeader::Unreadable => unreadable(),
    })?;
    let storage = Arc::new(Open { file, path: position.clone(), n_bytes });
    let lattice = work
        .quietly(|task| incrowd::lattice::saved::open(&sections, storage.clone(), task))
        .map_err(|error| error.or_at(position.clone()))?;
    Ok((lattice, origin, SavedContent { path: path.to_path_buf(), sections, storage }))
}
