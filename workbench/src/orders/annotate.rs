//! `annotate`: the lattice, and what each height of it would lose.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incrowd::error::{Step, Wording};
use incrowd::loss::LOSS_ONE;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::tree::{Shape, Tree};
use incrowd::search::partial::Selection;
use incrowd::search::request::check_criteria;
use incrowd::wire;
use incrowd::{Criteria, Criterion, Error, ErrorKind, GroupCounts, Lattice, Measure, Result};

use super::extent::{Extent, ExtentWish, Otherwise};
use super::known::Known;
use super::lattice::{annotate_some, follow};
use super::request::{About, GivenRequest};
use super::saved::{self, SavedContent, check_place, has_counts_only, save_with_tree};
use crate::input::count::{Choice, Counted, Material, check_values, chosen, count_source};
use crate::input::project::{Attribute, Project, check_not_among};
use crate::input::source::{PublishAs, Source};
use crate::note::{Note, TooMuch};
use crate::output::lattice_header::Origin;
use crate::work::Work;

/// Which lattice is annotated, and whether it is kept in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotate {
    pub about: About,
    pub request: GivenRequest,
    /// More k to show beside the request's, each with its other criteria.
    pub more_ks: Vec<u64>,
    /// Whether non-uniform entropy is measured too.
    pub with_entropy: bool,
    pub extent: ExtentWish,
    /// Whether the tree of groups is made instead, over which local recoding is negotiated.
    pub local: bool,
    pub output: Option<PathBuf>,
    /// Whether a file that is there is replaced.
    pub replace: bool,
}

/// What is shown of it beside the sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownLattice {
    /// Every scheme of the lattice.
    pub per_scheme: bool,
    /// Every group of the tree.
    pub per_group: bool,
}

impl ShownLattice {
    /// Schemes are of lattices, and groups with ranges of their own are of trees.
    pub fn check(self, local: bool) -> Result<()> {
        let wrong = |name: &'static str, why: &str, hint: Wording| {
            Err(Error::new(ErrorKind::Request, Wording::text("").setting(name).and(why)).hint(hint))
        };
        match (local, self) {
            (true, ShownLattice { per_scheme: true, .. }) => {
                let hint = Wording::text("take ").setting("per_group").and(" instead");
                wrong("per_scheme", " is about schemes, and a tree of groups has none", hint)
            }
            (false, ShownLattice { per_group: true, .. }) => {
                wrong("per_group", " is about the tree of groups", Wording::text("add ").setting("local"))
            }
            _ => Ok(()),
        }
    }
}

/// What came of it.
pub struct Annotated {
    pub counted: Arc<Counted>,
    /// None where nothing is annotated: schemes are evaluated on demand.
    pub lattice: Option<Arc<Lattice>>,
    /// The tree of groups, where it was asked for.
    pub tree: Option<Arc<Tree>>,
    pub criteria: Criteria,
    /// The same with other k.
    pub more: Vec<Criteria>,
    /// How large the file is, where one was written.
    pub n_bytes: Option<u64>,
}

/// One group of the tree: what it would be if it were published.
pub struct TreeGroup {
    pub parent: Option<usize>,
    pub n_records: u64,
    /// What a record of it would lose on average, from 0 to 1; and of each attribute.
    pub loss: f64,
    pub loss_of: Vec<f64>,
    pub reached: Vec<(Measure, u64)>,
    /// What would be printed.
    pub cells: Vec<String>,
}

impl Annotated {
    /// The lattice, where schemes of it are annotated.
    pub fn shown(&self) -> Option<&Lattice> {
        self.lattice.as_deref().filter(|lattice| !has_counts_only(lattice))
    }

    /// Every group of the tree, children before their parents; the last has all records.
    pub fn groups(&self) -> Vec<TreeGroup> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let (shape, signatures) = (tree.shape(), tree.signatures());
        let (counts, hierarchies) = (&self.counted.counts, &self.counted.hierarchies);
        let nodes: Vec<usize> = (0..shape.n_nodes()).collect();
        let cells = tree.cells(&nodes, counts, hierarchies, CellStyle::Ranges);
        let share = |(&cost, &whole): (&u32, &u32)| if whole == 0 { 0.0 } else { f64::from(cost) / f64::from(whole) };
        let group = |(node, cells): (usize, Vec<String>)| {
            let n_records = shape.n_records(node);
            let values = signatures.of(tree.signature(node)).iter().copied();
            TreeGroup {
                parent: shape.parent(node),
                n_records,
                loss: shape.loss(node) as f64 / (n_records * LOSS_ONE) as f64,
                loss_of: shape.costs(node).iter().zip(shape.whole()).map(share).collect(),
                reached: signatures.measures().iter().copied().zip(values).collect(),
                cells,
            }
        };
        nodes.iter().copied().zip(cells).map(group).collect()
    }
}

impl Annotate {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<Annotated> {
        let privacy = self.request.privacy(project, &self.about)?;
        if let Some(path) = &self.output {
            check_place(path, project, self.replace)?;
        }
        let choice = self.about.choice(&privacy);
        let origin = self.output.as_ref().map(|_| Origin::before(project, &choice)).transpose()?;
        let counted = known.count(project, &choice, work)?;
        let criteria = privacy.criteria;
        let more: Vec<Criteria> = self.more_ks.iter().map(|&k| criteria.with(Criterion::k(k))).collect();
        for criteria in more.iter().chain([&criteria]).filter(|criteria| !criteria.is_empty()) {
            check_criteria(criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
        }
        let measures = || criteria.iter().map(|criterion| criterion.measure);
        let (lattice, tree) = match self.local {
            // The file holds the counts beside the tree, and no scheme.
            true => {
                let none = || Selection { share: 0.0, ..Selection::default() };
                let lattice = || known.annotate_some(&counted, measures(), false, Some(none()), work);
                (self.output.as_ref().map(|_| lattice()).transpose()?, Some(known.tree(&counted, measures(), work)?))
            }
            false => (self.lattice(&counted, &criteria, known, work)?, None),
        };
        let n_bytes = match (&self.output, origin, &lattice) {
            (Some(path), Some(origin), Some(lattice)) => {
                let origin = origin.finish(project, &counted.source)?;
                let shape = tree.as_ref().map(|tree| tree.shape());
                Some(save_with_tree(path, lattice, counted.counts_as_read(), shape, &origin, self.replace)?)
            }
            _ => None,
        };
        Ok(Annotated { counted, lattice, tree, criteria, more, n_bytes })
    }

    /// As much of the lattice as the order or its size say; none where that is nothing, and no file is to be kept.
    fn lattice(
        &self,
        counted: &Arc<Counted>,
        criteria: &Criteria,
        known: &Known,
        work: &Work,
    ) -> Result<Option<Arc<Lattice>>> {
        let measures = || criteria.iter().map(|criterion| criterion.measure);
        let annotated = |selection: Option<Selection>| match selection {
            None => known.annotate(counted, measures(), self.with_entropy, work),
            some => known.annotate_some(counted, measures(), self.with_entropy, some, work),
        };
        let is_forced = self.extent.forced.is_some();
        let (mut extent, mut note) = self.extent.choice(counted, Otherwise::Partial, work)?;
        // Said once it is known to be so.
        let say = |note: Option<Note>| note.into_iter().for_each(|note| work.note(note));
        loop {
            let selection = match extent {
                Extent::Full => None,
                Extent::Partial(selection) => Some(selection),
                // The file holds the counts, and what is asked later is evaluated from them.
                Extent::OnDemand if self.output.is_some() => Some(Selection { share: 0.0, ..Selection::default() }),
                Extent::OnDemand => {
                    say(note);
                    return Ok(None);
                }
            };
            match annotated(selection) {
                // It turned out to be too large after all.
                Err(error) if error.kind() == ErrorKind::TooLarge && !is_forced && extent != Extent::OnDemand => {
                    let otherwise = if extent == Extent::Full { Otherwise::Partial } else { Otherwise::OnDemand };
                    let why = TooMuch::Refused("does not fit into the memory that is allowed".into());
                    (extent, note) = self.extent.instead(why, counted, otherwise, work)?;
                }
                lattice => {
                    say(note);
                    return lattice.map(Some);
                }
            }
        }
    }
}

/// Records come or go: which lattice follows them.
#[derive(Clone, Debug, PartialEq)]
pub struct Update {
    /// The lattice that was kept.
    pub lattice: PathBuf,
    pub append: Option<PathBuf>,
    pub remove: Option<PathBuf>,
    /// Where the result goes; in the lattice's own place where nothing is said.
    pub output: Option<PathBuf>,
    /// Whether a file that is there is replaced, and a file's records count again.
    pub replace: bool,
    pub about: About,
    pub request: GivenRequest,
}

/// A lattice after records came or went.
pub struct Updated {
    pub material: Material,
    pub lattice: Lattice,
    pub criteria: Criteria,
    pub output: PathBuf,
    pub n_bytes: u64,
    pub n_records_before: u64,
}

/// Least, mean and most records suppressed over the schemes of a height.
pub struct HeightSummary {
    pub height: usize,
    pub n_schemes: usize,
    pub n_groups: (u64, f64, u64),
    pub n_suppressed: (u64, f64, u64),
}

/// The papers' tables: a line per height.
pub fn by_height(lattice: &Lattice, criteria: &Criteria) -> Vec<HeightSummary> {
    let schemes = lattice.schemes();
    let of_height = |height| {
        let places = schemes.at_height(height);
        let suppressed: Vec<u64> = places.clone().map(|place| lattice.n_suppressed(place, criteria)).collect();
        let groups: Vec<u64> = places.map(|place| lattice.profile(place).n_groups()).collect();
        HeightSummary {
            height,
            n_schemes: suppressed.len(),
            n_groups: spread(&groups),
            n_suppressed: spread(&suppressed),
        }
    };
    (0..schemes.n_heights()).map(of_height).collect()
}

fn spread(values: &[u64]) -> (u64, f64, u64) {
    let mean = values.iter().sum::<u64>() as f64 / values.len().max(1) as f64;
    (values.iter().copied().min().unwrap_or(0), mean, values.iter().copied().max().unwrap_or(0))
}

impl Update {
    /// Refuses what is no lattice.
    pub fn check(&self) -> Result<()> {
        let path = &self.lattice;
        if !path.exists() {
            return Err(Error::new(ErrorKind::Io, "there is no such file")
                .at(path.display().to_string())
                .hint(Wording::text("make a lattice with: ").step(Step::Annotate { over: false })));
        }
        if !path.is_file() {
            return Err(Error::new(ErrorKind::Request, "is not a lattice that was kept")
                .at(path.display().to_string())
                .hint(Wording::text("name the file: ").step(Step::Append)));
        }
        Ok(())
    }

    /// Records have come or gone: the counts change by theirs, and the lattice is that of the table that results.
    pub fn run(&self, project: &Project, work: &Work) -> Result<Updated> {
        let path = &self.lattice;
        let output = self.output.as_deref().unwrap_or(path);
        let replaces = self.replace || output == path;
        let at = |error: Error| error.or_at(path.display().to_string());
        if project.max_records_per_person.is_some() {
            return Err(Error::new(
                ErrorKind::Request,
                "records cannot come or go where only some of each person are kept: which ones depends on all of them",
            )
            .hint(Wording::text("annotate all data again with: ").step(Step::Annotate { over: true })));
        }
        let of_all = |known: &&Attribute| matches!(known.publish_as, Some(PublishAs::Top(_) | PublishAs::Level(_)));
        if let Some(attribute) = project.attributes.iter().find(of_all) {
            let message = format!(
                "records cannot come or go where '{}' is published coarser: how depends on all of them",
                attribute.name
            );
            return Err(Error::new(ErrorKind::Request, message)
                .hint(Wording::text("annotate all data again with: ").step(Step::Annotate { over: true })));
        }
        let (lattice, origin, content) = saved::read(path, work)?;
        check_place(output, project, replaces)?;
        let others: Vec<PathBuf> = self.append.iter().chain(&self.remove).cloned().collect();
        check_not_among(output, &others)?;
        let names = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
        // Whatever can be wrong is wrong before anything is written.
        let criteria = criteria_to_show(self, project, &lattice)?;
        let choice = Choice {
            quasi_identifiers: Some(names),
            sensitive: Some(wire::sensitive_names(&lattice)),
            with_population: false,
        };
        let open_one = |path: &PathBuf| {
            let source = project.source_beside(Source::open(path, &project.reading)?);
            match &project.counted {
                Some(column) => source.counted_by(column),
                None => Ok(source),
            }
        };
        let open = |path: &Option<PathBuf>| path.as_ref().map(open_one).transpose();
        let (appended, removed) = (open(&self.append)?, open(&self.remove)?);
        let (origin, is_same_project) =
            origin.updated(project, &choice, appended.as_ref(), removed.as_ref(), self.replace).map_err(at)?;
        let before = content.counts(work)?;
        let mut counts = before.clone();
        if let Some(source) = &appended {
            counts = counts.with_records(&counted(source, project, &choice, work)?)?;
        }
        if let Some(source) = &removed {
            let position = source.files()[0].display().to_string();
            let gone = counted(source, project, &choice, work)?;
            counts = counts.without_records(&gone).map_err(|error| error.at(position))?;
        }
        let (quasi_identifiers, sensitive) = chosen(project, &choice)?;
        let material = Material::new(quasi_identifiers, sensitive, counts)?;
        if !criteria.is_empty() {
            check_criteria(&criteria, material.counts.crowd(), &material.n_sensitive_values())?;
        }
        let followed = match is_same_project {
            // The labels of values that are gone are not known any more.
            true if material.count_at.iter().all(Option::is_none) => {
                follow(&lattice, &before, &material, work).map_err(at)?
            }
            _ => None,
        };
        let tree = match content.has_tree() {
            true => content_tree(&content, project, &lattice, &material, work).map_err(at)?,
            false => None,
        };
        let updated = match followed {
            Some(updated) => updated,
            None => {
                let with_entropy = lattice.entropies().is_some();
                let measures = lattice.measures().to_vec();
                annotate_some(&material, measures, with_entropy, lattice.selection(), work)?
            }
        };
        // The old file is read no more.
        drop((lattice, content));
        let n_bytes = save_with_tree(output, &updated, material.counts_as_read(), tree.as_ref(), &origin, replaces)?;
        let (output, n_records_before) = (output.to_path_buf(), before.n_records());
        Ok(Updated { material, lattice: updated, criteria, output, n_bytes, n_records_before })
    }
}

/// The tree of groups that was kept, with the records that came or went: they find their leaf.
fn content_tree(
    content: &SavedContent,
    project: &Project,
    lattice: &Lattice,
    after: &Material,
    work: &Work,
) -> Result<Option<Shape>> {
    let before = content.material(project, lattice, work)?;
    let Some(shape) = content.tree(&before)? else { return Ok(None) };
    let (was, is) = (before.told_apart(), after.told_apart());
    shape.followed(was, is, &after.hierarchies, &after.weights()).map(Some)
}

/// The criteria that a lattice is shown with: those of the flags, which it has measured; or of the project's standing ones
/// those that it has.
fn criteria_to_show(order: &Update, project: &Project, lattice: &Lattice) -> Result<Criteria> {
    let at = |error: Error| error.at(order.lattice.display().to_string());
    let known = wire::sensitive_names(lattice);
    let privacy = order.request.privacy(project, &order.about)?;
    let is_asked = !order.request.criteria.is_empty();
    if let Some(name) = privacy.sensitive.iter().find(|name| !known.contains(name)) {
        return match is_asked {
            true => {
                let message = format!("was annotated without the sensitive attribute '{name}'");
                Err(at(Error::new(ErrorKind::Request, message).hint("annotate again with a criterion about it")))
            }
            false => Ok(Criteria::default()),
        };
    }
    let criteria = privacy.about(&known).criteria;
    match is_asked {
        true => lattice.check_measured(&criteria).map(|()| criteria).map_err(at),
        false => {
            let is_measured = |criterion: &Criterion| lattice.measures().contains(&criterion.measure);
            Ok(Criteria::new(criteria.iter().filter(is_measured)))
        }
    }
}

/// The project that a kept lattice belongs to: that of this folder, or else that of the file's.
pub fn folder_of_project(lattice: &Path) -> PathBuf {
    let beside = lattice.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match Path::new("incrowd.toml").exists() {
        true => PathBuf::from("."),
        false => beside.to_path_buf(),
    }
}

/// Counts records that come or go; they have the columns that were counted before.
fn counted(source: &Source, project: &Project, choice: &Choice, work: &Work) -> Result<GroupCounts> {
    let (quasi_identifiers, sensitive) = chosen(project, choice)?;
    let quasi_identifiers: Vec<&str> = quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect();
    let sensitive: Vec<&str> = sensitive.iter().map(|attribute| attribute.name.as_str()).collect();
    quasi_identifiers.iter().chain(&sensitive).try_for_each(|name| source.check_column(name))?;
    let counts = count_source(source, &quasi_identifiers, &sensitive, &project.person(), &project.missing, work)?;
    check_values(&chosen(project, choice)?.0, &counts, source)?;
    Ok(counts)
}
