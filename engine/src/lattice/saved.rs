//! A lattice as bytes, and back: what a file of annotations holds.
//!
//! The bytes are a few sections, one after the other: numbers are little-endian, a text is its length and its UTF-8.
//! Whoever writes them keeps the list of [`Section`]s; `docs/lattice-format.md` describes each.

use std::sync::Arc;

use crate::counts::people::People;
use crate::counts::{GroupCounts, N_CELLS_MAX, Population};
use crate::criterion::{Measure, Measured};
use crate::error::Result;
use crate::hierarchy::{Hierarchy, Values};
use crate::lattice::annotate::Lattice;
use crate::lattice::grid::Grid;
pub use crate::lattice::profiles::ReadAt;
use crate::lattice::profiles::{LazyProfiles, Profiles, Slot, damaged, encode};
use crate::lattice::scope::{Estimator, Scope, Selection};
use crate::loss::Entropies;
use crate::scheme::{Schemes, n_schemes, tops_of};
use crate::table::{Code, Domain, Kind};
use crate::task::Task;

/// One part of a saved lattice: where it is, and the checksum (CRC-32) of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds.
    pub name: String,
    /// Where its first byte is.
    pub start: u64,
    /// How many bytes it has.
    pub n_bytes: u64,
    /// Profiles have none as a whole: the index has one for each.
    pub checksum: Option<u32>,
}

/// Writes a lattice and the counts that it was made from as bytes that begin at `start`, and says where its sections are.
///
/// # Errors
/// Those of `write`.
pub fn save(
    lattice: &Lattice,
    counts: &GroupCounts,
    start: u64,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    let has_entropies = lattice.entropies.is_some();
    let mut next = start;
    let mut profiles = Section { name: "profiles".into(), start, n_bytes: 0, checksum: None };
    let mut index = Bytes::default();
    let mut bytes = Vec::new();
    for place in 0..lattice.profiles.len() {
        let profile = lattice.profile(place);
        lattice.intact()?;
        bytes.clear();
        encode(profile, has_entropies, &mut bytes);
        index.wide(profiles.n_bytes);
        index.narrow(profile.entries().len() as u32);
        index.narrow(crc32fast::hash(&bytes));
        profiles.n_bytes += bytes.len() as u64;
        write(&bytes)?;
    }
    next += profiles.n_bytes;
    sections.push(profiles);
    let signatures = Bytes::of(|bytes| bytes.all_wide(lattice.signatures.values()));
    let parts = [
        ("index", index),
        ("about", about(lattice)),
        ("hierarchies", hierarchies(&lattice.hierarchies)),
        ("entropies", lattice.entropies.as_ref().map(entropies).unwrap_or_default()),
        // The name that files have for signatures.
        ("looks", signatures),
        ("grids", grids(&lattice.grids)),
        ("schemes", Bytes(if lattice.schemes.is_complete() { Vec::new() } else { vectors(&lattice.schemes) })),
        ("counts", counts_of(counts)),
        (NODE_WEIGHTS, node_weights(&lattice.hierarchies)),
    ];
    for (name, Bytes(bytes)) in parts {
        // Files without such weights are as they always were.
        if name == NODE_WEIGHTS && bytes.is_empty() {
            continue;
        }
        write(&bytes)?;
        let n_bytes = bytes.len() as u64;
        sections.push(Section { name: name.into(), start: next, n_bytes, checksum: Some(crc32fast::hash(&bytes)) });
        next += n_bytes;
    }
    Ok(sections)
}

/// What else is kept beside a lattice: bytes that begin at `start`.
pub fn beside(name: &str, bytes: &[u8], start: u64) -> Section {
    let checksum = Some(crc32fast::hash(bytes));
    Section { name: name.into(), start, n_bytes: bytes.len() as u64, checksum }
}

/// What was kept so; none where there is nothing of that name.
///
/// # Errors
/// Where bytes cannot be read or are not those that were written.
pub fn open_beside(sections: &[Section], storage: &dyn ReadAt, name: &'static str) -> Result<Option<Vec<u8>>> {
    match sections.iter().any(|section| section.name == name) {
        true => read_section(sections, storage, name).map(Some),
        false => Ok(None),
    }
}

/// Opens a saved lattice: all but its profiles is read and checked, and they are when they are first asked for.
///
/// # Guarantee
/// Every answer is that of the lattice that was saved, bit for bit. A byte that is not what was written gives an error
/// as soon as an answer depends on it, never another answer.
///
/// # Errors
/// Where bytes cannot be read or are not those that were written, or the task was cancelled.
pub fn open(sections: &[Section], storage: Arc<dyn ReadAt>, task: &Task) -> Result<Lattice> {
    let read = |name: &'static str| {
        task.go_on()?;
        read_section(sections, &*storage, name)
    };
    // Each is taken apart to its last byte, and nothing is believed of which the rest depends.
    let bytes = read("about")?;
    let about = whole(&bytes, About::read).ok_or_else(|| damaged("about"))?;
    let bytes = read("hierarchies")?;
    let hierarchies = whole(&bytes, |bytes| {
        let n = bytes.count()?;
        (0..n).map(|_| read_hierarchy(bytes)).collect::<Option<Vec<Hierarchy>>>()
    });
    let hierarchies = hierarchies.filter(|all| !all.is_empty()).ok_or_else(|| damaged("hierarchies"))?;
    let hierarchies = match sections.iter().any(|section| section.name == NODE_WEIGHTS) {
        true => {
            let bytes = read(NODE_WEIGHTS)?;
            whole(&bytes, |bytes| read_node_weights(bytes, hierarchies)).ok_or_else(|| damaged("hierarchies"))?
        }
        false => hierarchies,
    };
    let bytes = read("entropies")?;
    let entropies = match bytes.is_empty() {
        true => None,
        false => Some(whole(&bytes, |bytes| read_entropies(bytes, &hierarchies)).ok_or_else(|| damaged("entropies"))?),
    };
    let index = read("index")?;
    const N_BYTES_OF_SLOT: usize = 16;
    let vectors = read("schemes")?;
    let schemes = match about.selection {
        Some(_) => read_vectors(&hierarchies, &vectors).ok_or_else(|| damaged("schemes"))?,
        None => {
            let n = n_schemes(&hierarchies).filter(|n| *n <= u64::from(u32::MAX) && *n <= index.len() as u64);
            if n.is_none() || !vectors.is_empty() {
                return Err(damaged("schemes"));
            }
            Schemes::new(&hierarchies)?
        }
    };
    if schemes.len().checked_mul(N_BYTES_OF_SLOT) != Some(index.len()) {
        return Err(damaged("index"));
    }
    let slot = |row: &[u8]| Slot { start: wide(row), n_entries: narrow(&row[8..]), checksum: narrow(&row[12..]) };
    let index: Vec<Slot> = index.chunks_exact(N_BYTES_OF_SLOT).map(slot).collect();
    let signatures = read("looks")?;
    let is_over_people = about.n_people.is_some();
    if signatures.len() % (8 * (about.measures.len() + usize::from(is_over_people))) != 0 {
        return Err(damaged("looks"));
    }
    let signatures = Measured::new(&about.measures, is_over_people, signatures.chunks_exact(8).map(wide).collect());
    let bytes = read("grids")?;
    let read_grids = |bytes: &mut Unread| {
        let grid = |_| if task.go_on().is_ok() { read_grid(bytes, &schemes) } else { None };
        about.measures.iter().map(grid).collect::<Option<Vec<Grid>>>()
    };
    let grids = whole(&bytes, read_grids);
    task.go_on()?;
    let grids = grids.ok_or_else(|| damaged("grids"))?;
    let lazy = LazyProfiles::new(
        storage.clone(),
        section(sections, "profiles")?.start,
        index,
        signatures.len(),
        entropies.is_some(),
    );
    Ok(Lattice {
        scope: Scope {
            hierarchies,
            measures: about.measures,
            n_records: about.n_records,
            n_dropped: about.n_dropped,
            sensitive: about.sensitive,
            n_people: about.n_people,
        },
        schemes,
        selection: about.selection,
        signatures,
        profiles: Profiles::Lazy(Arc::new(lazy)),
        grids,
        entropies,
        // Nothing was read to make it now.
        n_source_groups: 0,
        by_loss: Default::default(),
    })
}

/// The counts that a saved lattice was made from; they are read when they are asked for.
///
/// # Errors
/// Where bytes cannot be read or are not those that were written, or the task was cancelled.
pub fn open_counts(sections: &[Section], storage: &dyn ReadAt, task: &Task) -> Result<GroupCounts> {
    task.go_on()?;
    let bytes = read_section(sections, storage, "counts")?;
    whole(&bytes, read_counts).ok_or_else(|| damaged("counts"))
}

fn section<'a>(sections: &'a [Section], name: &str) -> Result<&'a Section> {
    sections.iter().find(|section| section.name == name).ok_or_else(|| damaged("content"))
}

fn read_section(sections: &[Section], storage: &dyn ReadAt, name: &'static str) -> Result<Vec<u8>> {
    let section = section(sections, name)?;
    let n_bytes = usize::try_from(section.n_bytes).map_err(|_| damaged(name))?;
    let bytes = storage.read(section.start, n_bytes)?;
    if Some(crc32fast::hash(&bytes)) == section.checksum { Ok(bytes) } else { Err(damaged(name)) }
}

/// What is known of the table and of what was measured.
struct About {
    n_records: u64,
    n_dropped: u64,
    sensitive: Vec<(String, usize)>,
    measures: Vec<Measure>,
    selection: Option<Selection>,
    n_people: Option<u64>,
}

fn about(lattice: &Lattice) -> Bytes {
    Bytes::of(|bytes| {
        bytes.all_wide(&[lattice.n_records, lattice.n_dropped]);
        bytes.wide(lattice.sensitive.len() as u64);
        for (name, n_values) in &lattice.sensitive {
            bytes.text(name);
            bytes.wide(*n_values as u64);
        }
        bytes.wide(lattice.signatures.measures().len() as u64);
        for measure in lattice.signatures.measures() {
            bytes.text(measure.name());
            bytes.wide(measure.sensitive().unwrap_or(0) as u64);
            bytes.wide(if let Measure::Recursive { l, .. } = measure { u64::from(*l) } else { 0 });
        }
        bytes.text(lattice.selection.map_or("all", |selection| selection.estimator.name()));
        bytes.wide(lattice.selection.map_or(1.0, |selection| selection.share).to_bits());
        // Files of tables that do not say whose records they are end here.
        if let Some(n_people) = lattice.n_people {
            bytes.wide(n_people);
        }
    })
}

impl About {
    fn read(bytes: &mut Unread) -> Option<About> {
        let (n_records, n_dropped) = (bytes.wide()?, bytes.wide()?);
        let n_sensitive = bytes.count()?;
        let sensitive = (0..n_sensitive).map(|_| Some((bytes.text()?, usize::try_from(bytes.wide()?).ok()?)));
        let sensitive: Vec<(String, usize)> = sensitive.collect::<Option<_>>()?;
        let n_measures = bytes.count()?;
        let measures: Option<Vec<Measure>> = (0..n_measures).map(|_| read_measure(bytes, sensitive.len())).collect();
        let measures = measures.filter(|all| all.first() == Some(&Measure::Size) && all.is_sorted_by(|a, b| a < b))?;
        let (estimator, share) = (bytes.text()?, f64::from_bits(bytes.wide()?));
        let selection = match estimator.as_str() {
            "all" => None,
            name => Some(Selection { share, estimator: Estimator::parse(name).ok()? }),
        };
        let n_people = if bytes.0.is_empty() { None } else { Some(bytes.wide()?) };
        Some(About { n_records, n_dropped, sensitive, measures, selection, n_people })
    }
}

fn read_measure(bytes: &mut Unread, n_sensitive: usize) -> Option<Measure> {
    let (name, s, l) = (bytes.text()?, usize::try_from(bytes.wide()?).ok()?, u32::try_from(bytes.wide()?).ok()?);
    let measure = match Measure::parse(&name)?.about(s) {
        Measure::Recursive { sensitive, .. } => Measure::Recursive { sensitive, l },
        measure => measure,
    };
    measure.sensitive().is_none_or(|s| s < n_sensitive).then_some(measure)
}

fn hierarchies(hierarchies: &[Hierarchy]) -> Bytes {
    Bytes::of(|bytes| {
        bytes.wide(hierarchies.len() as u64);
        for hierarchy in hierarchies {
            bytes.text(hierarchy.attribute());
            bytes.text(hierarchy.kind().name());
            bytes.wide(hierarchy.missing().map_or(u64::MAX, |code| u64::from(code.0)));
            bytes.wide(hierarchy.n_levels() as u64);
            for level in hierarchy.levels() {
                bytes.text(level.name());
                bytes.text(level.phrase());
                bytes.wide(level.len() as u64);
                level.labels().iter().for_each(|label| bytes.text(label));
                bytes.codes(level.of_base());
                bytes.codes(level.parents());
            }
        }
    })
}

fn read_hierarchy(bytes: &mut Unread) -> Option<Hierarchy> {
    let (attribute, kind) = (bytes.text()?, bytes.text()?);
    let kind = [Kind::Integer, Kind::Number, Kind::Date, Kind::Boolean, Kind::Text]
        .into_iter()
        .find(|known| known.name() == kind)?;
    let missing = match bytes.wide()? {
        u64::MAX => None,
        code => Some(Code(u32::try_from(code).ok()?)),
    };
    let n_levels = bytes.count()?;
    let levels = (0..n_levels).map(|_| {
        let (name, phrase) = (bytes.text()?, bytes.text()?);
        let n_labels = bytes.count()?;
        let labels = (0..n_labels).map(|_| bytes.text()).collect::<Option<_>>()?;
        Some(Values::of_parts(name, phrase, labels, bytes.codes()?, bytes.codes()?))
    });
    Hierarchy::of_parts(attribute, kind, missing, levels.collect::<Option<_>>()?)
}

/// The section of labels that have weights of their own.
const NODE_WEIGHTS: &str = "node weights";

/// By hierarchy, the weights of labels; nothing where there are none.
fn node_weights(hierarchies: &[Hierarchy]) -> Bytes {
    if hierarchies.iter().all(|hierarchy| hierarchy.node_weights().is_empty()) {
        return Bytes::default();
    }
    Bytes::of(|bytes| {
        for hierarchy in hierarchies {
            bytes.wide(hierarchy.node_weights().len() as u64);
            for &(level, code, weight) in hierarchy.node_weights() {
                bytes.narrow(level.into());
                bytes.narrow(code.0);
                bytes.wide(weight.to_bits());
            }
        }
    })
}

fn read_node_weights(bytes: &mut Unread, hierarchies: Vec<Hierarchy>) -> Option<Vec<Hierarchy>> {
    let weighted = |hierarchy: Hierarchy| {
        let n = bytes.count()?;
        let one = |_| Some((u8::try_from(bytes.narrow()?).ok()?, Code(bytes.narrow()?), f64::from_bits(bytes.wide()?)));
        hierarchy.reweighted((0..n).map(one).collect::<Option<_>>()?)
    };
    hierarchies.into_iter().map(weighted).collect()
}

/// The level vectors, one after the other.
fn vectors(schemes: &Schemes) -> Vec<u8> {
    (0..schemes.len()).flat_map(|place| schemes.vector(place)).copied().collect()
}

fn read_vectors(hierarchies: &[Hierarchy], bytes: &[u8]) -> Option<Schemes> {
    let tops = tops_of(hierarchies).ok()?;
    let rows = || bytes.chunks_exact(tops.len());
    let is_known = |row: &[u8]| row.iter().zip(&tops).all(|(level, top)| level <= top);
    let is_sound = bytes.len() % tops.len() == 0 && rows().all(is_known);
    let schemes = is_sound.then(|| Schemes::some(tops.clone(), rows().map(Box::from).collect()))?;
    // In order, each of them once, with the finest and the coarsest, which answers rely on.
    let is_whole = vectors(&schemes) == bytes && bytes.starts_with(&vec![0; tops.len()]) && bytes.ends_with(&tops);
    is_whole.then_some(schemes)
}

fn counts_of(counts: &GroupCounts) -> Bytes {
    let domains = |bytes: &mut Bytes, domains: &[Domain]| {
        bytes.wide(domains.len() as u64);
        for domain in domains {
            bytes.text(domain.name());
            bytes.wide(domain.missing().is_some().into());
            bytes.wide(domain.len() as u64);
            domain.values().iter().for_each(|value| bytes.text(value));
        }
    };
    Bytes::of(|bytes| {
        domains(bytes, &counts.domains);
        domains(bytes, &counts.sensitive);
        bytes.all_wide(&[counts.n_records, counts.n_dropped]);
        bytes.wide(counts.sizes.len() as u64);
        bytes.all_wide(&counts.sizes);
        bytes.codes(&counts.codes);
        bytes.wide(counts.cell_sizes.len() as u64);
        bytes.all_wide(&counts.cell_sizes);
        bytes.codes(&counts.cell_codes);
        counts.starts.iter().for_each(|start| bytes.wide(*start as u64));
        bytes.wide(counts.population.is_some().into());
        if let Some(population) = &counts.population {
            bytes.wide(population.sizes.len() as u64);
            bytes.all_wide(&population.sizes);
            bytes.codes(&population.codes);
        }
        // Files of tables that do not say whose records they are end here.
        if let Some(people) = &counts.people {
            bytes.wide(people.columns.len() as u64);
            people.columns.iter().for_each(|name| bytes.text(name));
            domains(bytes, std::slice::from_ref(&people.names));
            people.starts.iter().for_each(|start| bytes.wide(*start as u64));
            people.cells.iter().for_each(|(cell, n)| bytes.all_wide(&[u64::from(*cell), *n]));
        }
    })
}

fn read_counts(bytes: &mut Unread) -> Option<GroupCounts> {
    let (domains, sensitive) = (read_domains(bytes)?, read_domains(bytes)?);
    let (n_records, n_dropped) = (bytes.wide()?, bytes.wide()?);
    let n_groups = bytes.count()?;
    let sizes = bytes.all_wide(n_groups)?;
    let codes = read_codes(bytes, n_groups, &domains)?;
    let n_cells = bytes.count()?;
    let cell_sizes = bytes.all_wide(n_cells)?;
    let cell_codes = read_codes(bytes, n_cells, &sensitive)?;
    let starts: Vec<usize> = bytes.all_wide(n_groups + 1)?.into_iter().map(|start| start as usize).collect();
    let is_sound =
        starts.is_sorted() && starts.last() == Some(&n_cells) && !domains.is_empty() && n_cells <= N_CELLS_MAX;
    let population = match bytes.wide()? {
        0 => None,
        _ => {
            let n = bytes.count()?;
            let sizes = bytes.all_wide(n)?;
            Some(Population { n_attributes: domains.len(), codes: read_codes(bytes, n, &domains)?, sizes })
        }
    };
    let n_kept = if sensitive.is_empty() { n_groups } else { n_cells };
    let people = if bytes.0.is_empty() { None } else { Some(read_people(bytes, n_kept)?) };
    is_sound.then_some(GroupCounts {
        domains,
        sensitive,
        n_records,
        n_dropped,
        codes,
        sizes,
        starts,
        cell_codes,
        cell_sizes,
        population,
        people,
        counted_as: Vec::new(),
    })
}

fn read_people(bytes: &mut Unread, n_cells: usize) -> Option<People> {
    let n_columns = bytes.count()?;
    let columns = (0..n_columns).map(|_| bytes.text()).collect::<Option<Vec<String>>>()?;
    let [names] = <[Domain; 1]>::try_from(read_domains(bytes)?).ok()?;
    let starts: Vec<usize> = bytes.all_wide(names.len() + 1)?.into_iter().map(|start| start as usize).collect();
    let n = starts.last().copied()?;
    let cells = bytes.all_wide(n.checked_mul(2)?)?;
    let cells: Vec<(u32, u64)> =
        cells.chunks_exact(2).map(|both| Some((u32::try_from(both[0]).ok()?, both[1]))).collect::<Option<_>>()?;
    let is_sound = starts.is_sorted() && starts[0] == 0 && cells.iter().all(|(cell, _)| (*cell as usize) < n_cells);
    is_sound.then_some(People { columns, names, starts, cells })
}

fn read_domains(bytes: &mut Unread) -> Option<Vec<Domain>> {
    let n = bytes.count()?;
    let domain = |_| {
        let (name, has_missing) = (bytes.text()?, bytes.wide()? != 0);
        let n_values = bytes.count()?;
        let mut values = (0..n_values).map(|_| bytes.text()).collect::<Option<Vec<String>>>()?;
        let missing = if has_missing { Some(values.pop()?) } else { None };
        Some(Domain::new(&name, values, missing.as_deref())).filter(|domain| domain.len() == n_values)
    };
    (0..n).map(domain).collect()
}

/// Codes of so many rows, each of which is one of its domain's.
fn read_codes(bytes: &mut Unread, n_rows: usize, domains: &[Domain]) -> Option<Vec<Code>> {
    let codes = bytes.codes().filter(|codes| codes.len() == n_rows * domains.len())?;
    let is_known = |(i, code): (usize, &Code)| code.index() < domains[i % domains.len()].len();
    codes.iter().enumerate().all(is_known).then_some(codes)
}

fn entropies(entropies: &Entropies) -> Bytes {
    Bytes::of(|bytes| {
        bytes.all_wide(&[entropies.suppressed, entropies.of_table as u64, (entropies.of_table >> 64) as u64]);
        bytes.wide(entropies.n_records);
        entropies.steps.iter().flatten().for_each(|steps| steps.iter().for_each(|n| bytes.narrow(*n)));
    })
}

fn read_entropies(bytes: &mut Unread, hierarchies: &[Hierarchy]) -> Option<Entropies> {
    let suppressed = bytes.wide()?;
    let of_table = u128::from(bytes.wide()?) | u128::from(bytes.wide()?) << 64;
    let n_records = bytes.wide()?;
    let mut of_level = |values: &Values| (0..values.len()).map(|_| bytes.narrow()).collect::<Option<Vec<u32>>>();
    let mut of_attribute = |hierarchy: &Hierarchy| hierarchy.levels().iter().map(&mut of_level).collect();
    let steps = hierarchies.iter().map(&mut of_attribute).collect::<Option<_>>()?;
    Some(Entropies { steps, suppressed, of_table, n_records })
}

fn grids(grids: &[Grid]) -> Bytes {
    Bytes::of(|bytes| {
        for grid in grids {
            bytes.wide(grid.greatest);
            bytes.wide(grid.values.len() as u64);
            bytes.all_wide(&grid.values);
            grid.columns.iter().chain(&grid.floors).for_each(|column| bytes.all_wide(column));
        }
    })
}

fn read_grid(bytes: &mut Unread, schemes: &Schemes) -> Option<Grid> {
    let greatest = bytes.wide()?;
    let n_values = bytes.count()?;
    let values = bytes.all_wide(n_values).filter(|values| !values.is_empty() && values.is_sorted())?;
    let mut columns = |n: usize| (0..n_values).map(|_| bytes.all_wide(n)).collect::<Option<Vec<Vec<u64>>>>();
    let (columns, floors) = (columns(schemes.len())?, columns(schemes.n_heights())?);
    Some(Grid::new(values, floors, columns, greatest))
}

fn narrow(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"))
}

fn wide(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"))
}

/// Bytes being written.
#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn of(fill: impl FnOnce(&mut Bytes)) -> Bytes {
        let mut bytes = Bytes::default();
        fill(&mut bytes);
        bytes
    }

    fn narrow(&mut self, n: u32) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn wide(&mut self, n: u64) {
        self.0.extend_from_slice(&n.to_le_bytes());
    }

    fn all_wide(&mut self, all: &[u64]) {
        all.iter().for_each(|n| self.wide(*n));
    }

    fn text(&mut self, text: &str) {
        self.wide(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn codes(&mut self, codes: &[Code]) {
        self.wide(codes.len() as u64);
        codes.iter().for_each(|code| self.narrow(code.0));
    }
}

/// What is left of some bytes; every part is there, or nothing.
struct Unread<'a>(&'a [u8]);

/// Reads something that takes all of the bytes.
fn whole<T>(bytes: &[u8], read: impl FnOnce(&mut Unread) -> Option<T>) -> Option<T> {
    let mut unread = Unread(bytes);
    read(&mut unread).filter(|_| unread.0.is_empty())
}

impl<'a> Unread<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn narrow(&mut self) -> Option<u32> {
        self.take(4).map(narrow)
    }

    fn wide(&mut self) -> Option<u64> {
        self.take(8).map(wide)
    }

    /// How many things follow, which take at least a byte each.
    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.wide()?).ok().filter(|n| *n <= self.0.len())
    }

    fn all_wide(&mut self, n: usize) -> Option<Vec<u64>> {
        Some(self.take(n.checked_mul(8)?)?.chunks_exact(8).map(wide).collect())
    }

    fn text(&mut self) -> Option<String> {
        let n = self.count()?;
        String::from_utf8(self.take(n)?.to_vec()).ok()
    }

    fn codes(&mut self) -> Option<Vec<Code>> {
        let n = self.count()?;
        Some(self.take(n.checked_mul(4)?)?.chunks_exact(4).map(|code| Code(narrow(code))).collect())
    }
}
