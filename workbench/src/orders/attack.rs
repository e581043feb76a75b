//! `attack`: what somebody with a release in hand learns about the people in it.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use incrowd::attack::{self, Group, Hit, Linkable, Linkage, Meaning, Skewness};
use incrowd::error::unknown;
use incrowd::hierarchy::{ANY, KnownValues, LabelTable, OTHER, range_text};
use incrowd::recode::partition::CellStyle;
use incrowd::risk::people::Members;
use incrowd::table::{Code, Kind};
use incrowd::task::Task;
use incrowd::verify::{PeopleVerifier, SuppressedAs, Text};
use incrowd::wire::Certificate;
use incrowd::{Domain, Error, ErrorKind, Hierarchy, Missing, Result, Role, Rule};

use super::verify::{beside, check_roles, delimiter_of, open_release, people_of_release, read, read_certificate};
use crate::input::count::{Choice, count};
use crate::input::notation::{Notation, as_number};
use crate::input::project::{Project, rule_of_text};
use crate::input::source::{Frame, ReadOptions, Source};
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// Which releases are attacked, and with what knowledge.
#[derive(Clone, Debug)]
pub struct Attack {
    /// One release, or two of the same people.
    pub files: Vec<PathBuf>,
    pub quasi_identifiers: Option<Vec<String>>,
    pub sensitive: Option<Vec<String>>,
    /// The project that the release was made from.
    pub project: Option<PathBuf>,
    /// The data that are read instead of the project's.
    pub data: Option<PathBuf>,
    /// A table of people with some of the quasi-identifiers, by the same names.
    pub outside: Option<PathBuf>,
    /// Labels of attributes, as ARX writes them.
    pub hierarchies: Vec<(String, PathBuf)>,
    pub suppressed_as: SuppressedAs,
}

/// What was found.
pub struct Attacked {
    pub releases: Vec<Release>,
    pub sensitive: Vec<String>,
    /// By release and sensitive attribute.
    pub found: Vec<Vec<FoundInRelease>>,
    /// None where there was nobody to look for.
    pub linked: Option<Linked>,
}

impl Attack {
    /// Attacks; `people` are in memory instead of in a file.
    pub fn run(&self, people: Option<&Frame>, work: &Work) -> Result<Attacked> {
        if !(1..=2).contains(&self.files.len()) {
            return Err(Error::new(ErrorKind::Request, "one release is attacked, or two together"));
        }
        for path in &self.files {
            std::fs::metadata(path).map_err(|error| crate::io_error(path, error))?;
        }
        let project = self.project.as_deref().map(Project::open).transpose()?;
        let project = project.map(|project| project.with_data(self.data.as_deref())).transpose()?;
        let sensitive = sensitive_of(self)?;
        let mut releases: Vec<Release> = self
            .files
            .iter()
            .map(|path| open(path, self, project.as_ref(), &sensitive, work))
            .collect::<Result<_>>()?;
        let labels = Labels::new(self, project.as_ref(), &releases, &sensitive)?;
        releases.iter_mut().for_each(|release| labels.write_numbers(release, &sensitive));
        let found = releases
            .iter()
            .map(|release| (0..sensitive.len()).map(|s| look(release, s, &sensitive[s], &labels)).collect())
            .collect::<Result<_>>()?;
        let linked = whom_to_look_for(self, people, project.as_ref(), &releases, &labels, work)?
            .map(|outside| outside.link(&releases, &labels, sensitive.len(), work))
            .transpose()?;
        Ok(Attacked { releases, sensitive, found, linked })
    }
}

impl Attacked {
    /// Whether somebody's sensitive value is; none where that hangs on a linkage that is not known.
    pub fn is_certain(&self) -> Option<bool> {
        let linkages = self.linked.as_ref().map(|linked| linked.linkages.as_deref());
        let by_linkage = |linkages: &[Linkage]| linkages.iter().any(|linkage| linkage.n_certain > 0);
        match self.found.iter().flatten().any(|found| found.homogeneity.n_groups > 0) {
            true => Some(true),
            false => linkages.map_or(Some(false), |known| known.map(by_linkage)),
        }
    }
}

/// A release that was read.
pub struct Release {
    pub path: PathBuf,
    pub certificate: Option<Certificate>,
    pub quasi_identifiers: Vec<String>,
    pub groups: Vec<Group>,
    /// How it says what the table says.
    notation: Notation,
    /// By group, whose records it has, as numbers; none where that is not known.
    people: Option<Vec<Vec<u32>>>,
    /// Records that were taken for suppressed.
    pub n_absent: u64,
}

/// What was found about one sensitive attribute of one release.
pub struct FoundInRelease {
    pub homogeneity: Hit,
    /// By level of the hierarchy, from 1; none where there is no hierarchy.
    pub similarity: Option<Vec<Hit>>,
    pub skewness: Skewness,
}

fn sensitive_of(order: &Attack) -> Result<Vec<String>> {
    if let Some(names) = &order.sensitive {
        return Ok(names.clone());
    }
    let certificate =
        order.files.iter().find_map(|file| beside(file)).map(|path| read_certificate(&path)).transpose()?;
    match certificate.map(|certificate| certificate.sensitive).filter(|names| !names.is_empty()) {
        Some(names) => Ok(names),
        None => Err(Error::new(ErrorKind::Request, "nothing says which attribute is sensitive")
            .hint(hint("give {sensitive=NAME}"))),
    }
}

fn open(path: &Path, order: &Attack, project: Option<&Project>, sensitive: &[String], work: &Work) -> Result<Release> {
    let certificate = beside(path).map(|path| read_certificate(&path)).transpose()?;
    let named = order.quasi_identifiers.clone().or(certificate.as_ref().map(|known| known.quasi_identifiers.clone()));
    let quasi_identifiers = named.ok_or_else(|| {
        Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
            .at(path.display().to_string())
            .hint(hint("give {quasi_identifiers=A,B,…}"))
    })?;
    check_roles(&quasi_identifiers, sensitive)?;
    let delimiter = certificate.as_ref().and_then(|certificate| delimiter_of(path, certificate));
    let counted = certificate.as_ref().and_then(|certificate| certificate.counted.as_deref());
    let source = open_release(path, delimiter, counted)?;
    let verifier = read(&source, &quasi_identifiers, sensitive, order.suppressed_as, work)?;
    let groups = attack::groups(&verifier);
    if groups.is_empty() {
        return Err(Error::new(ErrorKind::Data, "has no records to attack").at(path.display().to_string()));
    }
    let n_absent = verifier.n_absent();
    let people = match project {
        Some(project) => {
            people_of_release(&source, certificate.as_ref(), &quasi_identifiers, &verifier, project, work)?
        }
        None => None,
    };
    let people = people.and_then(|people| people_of_groups(&people, &groups));
    let notation = Notation::of_schema(None, source.schema());
    Ok(Release { path: path.to_path_buf(), certificate, quasi_identifiers, groups, notation, people, n_absent })
}

/// By group, who has records in it; the same number for the same person.
fn people_of_groups(people: &PeopleVerifier, groups: &[Group]) -> Option<Vec<Vec<u32>>> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut of_cells: HashMap<&[Text], Vec<u32>> = HashMap::new();
    for (cells, who) in people.groups() {
        let mut number = |person| {
            let next = numbers.len() as u32;
            *numbers.entry(person).or_insert(next)
        };
        of_cells.insert(cells, who.into_iter().map(|(person, _)| number(person)).collect());
    }
    groups.iter().map(|group| of_cells.remove(&group.cells[..])).collect()
}

impl Release {
    /// Whether the certificate says that numbers and dates are the middle of a range.
    fn has_midpoints(&self) -> bool {
        let style = self.certificate.as_ref().and_then(|certificate| certificate.cells.as_deref());
        style == Some(CellStyle::Midpoints.name())
    }

    /// What is published of values that the hierarchy of an attribute does not know, where it is not an error.
    fn says_of_unknown(&self, name: &str) -> Option<&str> {
        self.certificate.as_ref()?.unknown.get(name)?.as_str()
    }

    /// Whether it was made when commas within the values of a set looked like those between them.
    fn has_plain_sets(&self) -> bool {
        self.certificate.as_ref().is_some_and(|certificate| certificate.format_version == 1)
    }

    /// The quasi-identifiers with the groups, as linkage compares them: the lowest and the highest value of an attribute
    /// that has a column for each are one range of it, unless those who are looked for have such columns too.
    fn with_ranges(&self, is_known: impl Fn(&str) -> bool) -> (Vec<String>, Vec<Group>) {
        let place_of = |name: &str| self.quasi_identifiers.iter().position(|known| known == name);
        let range = |low: usize| {
            let name = self.quasi_identifiers[low].strip_suffix("_low")?;
            let high = place_of(&format!("{name}_high"))?;
            let is_meant = place_of(name).is_none() && is_known(name) && !is_known(&self.quasi_identifiers[low]);
            is_meant.then_some((name, low, high))
        };
        let ranges: Vec<(&str, usize, usize)> = (0..self.quasi_identifiers.len()).filter_map(range).collect();
        let is_high = |place: &usize| ranges.iter().any(|(_, _, high)| high == place);
        let places: Vec<usize> = (0..self.quasi_identifiers.len()).filter(|place| !is_high(place)).collect();
        let range_at = |place: usize| ranges.iter().find(|(_, low, _)| *low == place);
        let name = |&place: &usize| match range_at(place) {
            Some((name, ..)) => name.to_string(),
            None => self.quasi_identifiers[place].clone(),
        };
        let pairs: Vec<Pairs> = ranges.iter().map(|&(_, low, high)| self.pairs(low, high)).collect();
        let pairs_at = |place: usize| pairs.iter().find(|pairs| pairs.low == place);
        let cell = |group: &Group, place: usize| match pairs_at(place) {
            Some(pairs) => pairs.cell(&group.cells[pairs.low], &group.cells[pairs.high]),
            None => group.cells[place].clone(),
        };
        let group = |group: &Group| Group {
            cells: places.iter().map(|&place| cell(group, place)).collect(),
            size: group.size,
            values: group.values.clone(),
        };
        (places.iter().map(name).collect(), self.groups.iter().map(group).collect())
    }
}

/// Two columns of a release that are the lowest and the highest value of an attribute.
struct Pairs {
    low: usize,
    high: usize,
    /// Whether two empty columns leave open whether there is a value; elsewhere they say that there is none.
    empty_is_any: bool,
    /// Where one level was given to all records, what ends where another begins does not contain its end.
    begins: HashSet<String>,
}

impl Release {
    fn pairs(&self, low: usize, high: usize) -> Pairs {
        let is_global = self.certificate.as_ref().is_some_and(|certificate| certificate.has_levels());
        let cells = self.groups.iter().map(|group| (&group.cells[low], &group.cells[high]));
        let all: HashSet<_> = cells.map(|(low, high)| (known_end(low), known_end(high))).collect();
        // A level has labels for the values, or `*` for all of them.
        let empty_is_any = !is_global || all.iter().all(|ends| *ends == (None, None));
        let begins = all.iter().filter_map(|(low, _)| low.filter(|_| is_global).map(str::to_string)).collect();
        Pairs { low, high, empty_is_any, begins }
    }
}

/// A number or a date; whatever else stands there means that there is no such end.
fn known_end(cell: &Text) -> Option<&str> {
    cell.as_deref().filter(|text| matches!(Kind::of(text), Kind::Integer | Kind::Number | Kind::Date))
}

impl Pairs {
    /// Two columns as one cell.
    fn cell(&self, low: &Text, high: &Text) -> Text {
        Some(match (known_end(low), known_end(high)) {
            (None, None) if self.empty_is_any => ANY.to_string(),
            (None, None) => return low.clone(),
            (Some(low), None) => format!(">={low}"),
            (None, Some(high)) if self.begins.contains(high) => format!("<{high}"),
            (None, Some(high)) => format!("<={high}"),
            (Some(low), Some(high)) if low == high => low.to_string(),
            (Some(low), Some(high)) if self.begins.contains(high) && Kind::of(high) != Kind::Date => {
                format!("[{low}, {high})")
            }
            (Some(low), Some(high)) => format!("[{}]", range_text(low, high)),
        })
    }
}

/// The hierarchies that are known, by attribute, and what means "no value".
struct Labels<'a> {
    project: Option<&'a Project>,
    tables: HashMap<String, LabelTable>,
    missing: Missing,
}

impl<'a> Labels<'a> {
    fn new(
        order: &Attack,
        project: Option<&'a Project>,
        releases: &[Release],
        sensitive: &[String],
    ) -> Result<Labels<'a>> {
        let as_ranges = releases.iter().flat_map(|release| release.with_ranges(|name| !name.ends_with("_low")).0);
        let as_columns = releases.iter().flat_map(|release| release.quasi_identifiers.clone());
        let known: BTreeSet<String> = as_columns.chain(as_ranges).chain(sensitive.iter().cloned()).collect();
        let mut tables = HashMap::new();
        for (name, path) in &order.hierarchies {
            if !known.contains(name) {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(unknown(ErrorKind::Request, "attribute", name, &known).at(hint("{hierarchy}")));
            }
            let labels = std::fs::read_to_string(path).map_err(|error| crate::io_error(path, error))?;
            tables.insert(
                name.to_string(),
                LabelTable::parse(&path.display().to_string(), &labels)?.with_header_of(name)?,
            );
        }
        let unless_said = Missing { tokens: vec![String::new()], drop_records: true, ..Missing::default() };
        Ok(Labels { project, tables, missing: project.map_or(unless_said, |project| project.missing.clone()) })
    }

    /// How the values of an attribute get coarser: as a flag or the project says.
    fn rule(&self, name: &str) -> Option<Rule> {
        let of_project = || self.project?.attributes.iter().find(|attribute| attribute.name == name);
        let of_table = self.tables.get(name).map(|table| Rule::Table(table.clone()));
        of_table.or_else(|| of_project().map(|attribute| attribute.rule.clone()))
    }

    /// Gives numbers of a release back how the hierarchies write them: `1.5` is `1.50` where they know that alone.
    fn write_numbers(&self, release: &mut Release, sensitive: &[String]) {
        let written = |name: &String| -> HashMap<String, String> {
            let rule = self.rule(name).filter(|_| release.notation.is_of_numbers(name));
            let values = rule.as_ref().and_then(Rule::table).map(LabelTable::values).unwrap_or_default();
            let known: HashSet<&String> = values.iter().collect();
            let pairs = values.iter().map(|value| (as_number(value), value.clone()));
            pairs.filter(|(number, _)| !known.contains(number)).collect()
        };
        let of_cells: Vec<HashMap<String, String>> = release.quasi_identifiers.iter().map(written).collect();
        let of_values: Vec<HashMap<String, String>> = sensitive.iter().map(written).collect();
        let as_written =
            |text: &Text, of: &HashMap<String, String>| text.as_ref().map(|text| of.get(text).unwrap_or(text).clone());
        for group in &mut release.groups {
            group.cells.iter_mut().zip(&of_cells).for_each(|(cell, of)| *cell = as_written(cell, of));
            for (values, of) in group.values.iter_mut().zip(&of_values).filter(|(_, of)| !of.is_empty()) {
                *values = values.iter().map(|(value, n)| (as_written(value, of), *n)).collect();
            }
        }
    }

    /// The hierarchy of a sensitive attribute over these values; none where nothing is known, or nothing but `*`.
    fn hierarchy(&self, name: &str, values: impl Iterator<Item = String>) -> Result<Option<Hierarchy>> {
        let Some(rule) = self.rule(name) else { return Ok(None) };
        let values = values.filter(|value| !self.missing.is_token(value));
        let more = match rule.table() {
            Some(table) if self.tables.contains_key(name) => table.values(),
            _ => Vec::new(),
        };
        let values: BTreeSet<String> = values.chain(more).collect();
        let hierarchy = rule.resolve(&Domain::new(name, values.into_iter().collect(), None))?;
        Ok(Some(hierarchy).filter(|hierarchy| hierarchy.top() > 1 || rule != Rule::Flat))
    }

    /// How the values of a quasi-identifier of a release got coarser: as a flag, the project or the certificate says.
    fn rule_for(&self, name: &str, release: &Release) -> Option<Rule> {
        let in_certificate = || {
            let texts = release.certificate.as_ref()?.hierarchies.iter();
            let texts = texts.filter_map(|file| file.name.strip_prefix(name));
            texts.filter_map(|rest| rest.strip_prefix(": ")).find_map(rule_of_text)
        };
        let rule = self.rule(name).or_else(in_certificate)?;
        Some(if release.says_of_unknown(name) == Some(OTHER) { rule.with_other() } else { rule })
    }

    /// The values that a hierarchy knows, and what releases say of all others, where they say something.
    fn of_unknown(&self, name: &str, releases: &[Release]) -> Option<(KnownValues, String)> {
        let (release, said) = releases.iter().find_map(|release| Some((release, release.says_of_unknown(name)?)))?;
        let known = self.rule_for(name, release)?.table()?.known();
        let said = if said == OTHER { OTHER } else { self.missing.label() };
        Some((known, said.to_string()))
    }

    /// What the cells of a quasi-identifier of a release stand for. A certificate knows hierarchies that are written in
    /// the project file, and of which attributes all values are published as they are, or none.
    fn meaning(&self, name: &str, release: &Release) -> Result<Meaning> {
        let certificate = release.certificate.as_ref();
        let level = certificate.and_then(|certificate| certificate.level(name));
        let rule = self.rule_for(name, release);
        let meaning = match (&rule, level) {
            (Some(rule), _) if rule.table().is_some() => {
                let values = rule.table().map(LabelTable::values).unwrap_or_default();
                Meaning::new(&rule.resolve(&Domain::new(name, values, None))?)
            }
            (Some(rule), _) if rule.cut().is_some() => Meaning::plain().with_cut(rule.cut()),
            (Some(_), _) | (None, Some(0)) => Meaning::plain(),
            (None, Some(_)) => Meaning::labels(),
            (None, None) => Meaning::default(),
        };
        Ok(meaning.with_midpoints(release.has_midpoints()).with_plain_sets(release.has_plain_sets()))
    }

    /// A text of the data; one and the same text for all that means "no value".
    fn text(&self, text: &Text) -> Text {
        let is_missing = text.as_ref().is_none_or(|text| self.missing.is_token(text));
        if is_missing { Some(self.missing.label().to_string()) } else { text.clone() }
    }

    fn is_missing(&self, text: &Text) -> bool {
        text.as_deref() == Some(self.missing.label())
    }
}

fn look(release: &Release, sensitive: usize, name: &str, labels: &Labels) -> Result<FoundInRelease> {
    let groups = &release.groups;
    let values = groups.iter().flat_map(|group| group.values[sensitive].keys()).flatten().cloned();
    let hierarchy = labels.hierarchy(name, values)?;
    let similarity = hierarchy.map(|hierarchy| {
        let paths = (0..hierarchy.level(0).len()).map(|base| hierarchy.path(base));
        let labels: HashMap<Text, Vec<String>> = paths.map(|path| (path.first().cloned(), path)).collect();
        attack::similarity(groups, sensitive, &labels)
    });
    Ok(FoundInRelease {
        homogeneity: attack::homogeneity(groups, sensitive),
        similarity,
        skewness: attack::skewness(groups, sensitive),
    })
}

/// People, by attributes that releases have too.
struct Outside {
    attributes: Vec<String>,
    /// Equal ones together, with their number.
    people: Vec<(Vec<Text>, u64)>,
    /// Where somebody has several of them, the places of each person's.
    whom: Option<Vec<Vec<usize>>>,
}

/// What came of looking for people.
pub struct Linked {
    /// By sensitive attribute; none where cells of a quasi-identifier could not be read.
    pub linkages: Option<Vec<Linkage>>,
    pub unread: Vec<Unread>,
    /// By attribute that somebody has an unknown value of.
    pub unknown: Vec<UnknownValues>,
    /// Whether people were looked for by all the records that each of them has, and not by one record each.
    pub of_people: bool,
}

/// A quasi-identifier with cells that could not be read.
pub struct Unread {
    pub attribute: String,
    pub n_cells: u64,
    pub n_cells_read: u64,
    /// Whether cells are the middle of a range.
    pub has_midpoints: bool,
}

/// Values of people that no cell but `*` can be compared with.
#[derive(PartialEq)]
pub struct UnknownValues {
    pub attribute: String,
    pub n_values: u64,
    pub n_people: u64,
    /// People without a value, who fit only cells that say so, or `*`.
    pub n_people_without: u64,
}

/// Reads the table of people, or the project's records; none where there is nobody to look for.
fn whom_to_look_for(
    order: &Attack,
    people: Option<&Frame>,
    project: Option<&Project>,
    releases: &[Release],
    labels: &Labels,
    work: &Work,
) -> Result<Option<Outside>> {
    let source = match (&order.outside, people) {
        (Some(path), _) => Some(Source::open(path, &ReadOptions::default())?),
        (None, Some(people)) => Some(Source::of_frame(people)?),
        (None, None) => None,
    };
    let (names, place): (Vec<String>, String) = match (&source, project) {
        (Some(source), _) => (source.column_names(), source.files()[0].display().to_string()),
        (None, Some(project)) => {
            let names = project.with_role(Role::QuasiIdentifier).map(|known| known.name.clone());
            (names.collect(), project.file.display().to_string())
        }
        (None, None) => return Ok(None),
    };
    let is_there = |name: &str| names.iter().any(|known| known == name);
    let named: Vec<String> = releases.iter().flat_map(|release| release.with_ranges(is_there).0).collect();
    let attributes: Vec<String> = names.iter().filter(|name| named.contains(name)).cloned().collect();
    if attributes.is_empty() {
        let (wanted, _) = releases[0].with_ranges(|name| !name.ends_with("_low"));
        return Err(Error::new(ErrorKind::Data, "has none of the quasi-identifiers of the release")
            .at(place)
            .hint(format!("name its columns as the release does: {}", wanted.join(", "))));
    }
    let mut whom = None;
    let people: Vec<(Vec<Text>, u64)> = match (source, project) {
        (Some(source), _) => {
            let people = read(&source, &attributes, &[], SuppressedAs::Group, work)?;
            people.groups().into_iter().map(|(cells, n, _)| (cells.to_vec(), n)).collect()
        }
        (None, project) => {
            let choice = Choice {
                quasi_identifiers: Some(attributes.clone()),
                sensitive: Some(Vec::new()),
                ..Choice::default()
            };
            let counts = count(project.expect("as above"), &choice, work)?.material.counts;
            whom = Members::of_counts(&counts)
                .map(|people| (0..people.len()).map(|person| people.groups(person).collect()).collect());
            let text = |(code, domain): (&Code, &Domain)| Some(domain.values()[code.index()].clone());
            let person = |group: usize| {
                (counts.codes(group).iter().zip(counts.domains()).map(text).collect(), counts.size(group))
            };
            (0..counts.n_groups()).map(person).collect()
        }
    };
    if people.is_empty() {
        return Err(Error::new(ErrorKind::Data, "has nobody to look for").at(place));
    }
    // Whoever has a value that the hierarchy does not know is among those of whom the release says that.
    let unknown: Vec<Option<(KnownValues, String)>> =
        attributes.iter().map(|name| labels.of_unknown(name, releases)).collect();
    let said = |(text, unknown): (&Text, &Option<(KnownValues, String)>)| {
        let text = labels.text(text);
        match (unknown, &text) {
            (Some((known, instead)), Some(value)) if !labels.is_missing(&text) && !known.contains(value) => {
                Some(instead.clone())
            }
            _ => text,
        }
    };
    let said_alike = |(texts, n): (Vec<Text>, u64)| (texts.iter().zip(&unknown).map(said).collect(), n);
    Ok(Some(Outside { attributes, people: people.into_iter().map(said_alike).collect(), whom }))
}

impl Outside {
    fn link(&self, releases: &[Release], labels: &Labels, n_sensitive: usize, work: &Work) -> Result<Linked> {
        let is_there = |name: &str| self.attributes.iter().any(|known| known == name);
        let mut parts: Vec<(Vec<Group>, Vec<Meaning>, Vec<Option<usize>>)> = Vec::new();
        let (mut unread, mut unknown) = (Vec::new(), Vec::new());
        for release in releases {
            let (names, mut groups) = release.with_ranges(is_there);
            for cell in groups.iter_mut().flat_map(|group| &mut group.cells) {
                *cell = labels.text(cell);
            }
            let places: Vec<Option<usize>> =
                names.iter().map(|name| self.attributes.iter().position(|known| known == name)).collect();
            let meanings: Vec<Meaning> =
                names.iter().map(|name| labels.meaning(name, release)).collect::<Result<_>>()?;
            for (a, (name, meaning)) in names.iter().zip(&meanings).enumerate() {
                let Some(place) = places[a] else { continue };
                let cells: BTreeSet<&Text> = groups.iter().map(|group| &group.cells[a]).collect();
                let cells: Vec<&Text> = cells.into_iter().filter(|cell| !labels.is_missing(cell)).collect();
                unread.extend(self.unread(name, place, &cells, meaning, release));
                // Of two releases it is said once.
                unknown.extend(self.unknown(name, place, &cells, meaning, labels).filter(|new| !unknown.contains(new)));
            }
            parts.push((groups, meanings, places));
        }
        let linkables: Vec<Linkable> = parts
            .iter()
            .zip(releases)
            .map(|((groups, meanings, known), release)| Linkable {
                groups,
                meanings,
                known,
                people: release.people.as_deref(),
            })
            .collect();
        let n_all = self.people.iter().map(|(_, n)| n).sum();
        let link = |task: &Task| match &self.whom {
            Some(whom) => attack::link_people(&linkables, &self.people, whom, n_sensitive, task),
            None => attack::link(&linkables, &self.people, n_sensitive, task),
        };
        let linkages = unread.is_empty().then(|| work.stage("linking", n_all, Unit::Records, link)).transpose()?;
        Ok(Linked { linkages, unread, unknown, of_people: self.whom.is_some() })
    }

    /// How many have something, by one of their records at least.
    fn n_with(&self, is_meant: impl Fn(&[Text]) -> bool) -> u64 {
        match &self.whom {
            Some(whom) => {
                let is_meant = |places: &&Vec<usize>| places.iter().any(|place| is_meant(&self.people[*place].0));
                whom.iter().filter(is_meant).count() as u64
            }
            None => self.people.iter().filter(|(texts, _)| is_meant(texts)).map(|(_, n)| n).sum(),
        }
    }

    fn values(&self, place: usize) -> BTreeSet<&Text> {
        self.people.iter().map(|(texts, _)| &texts[place]).collect()
    }

    fn unread(
        &self,
        name: &str,
        place: usize,
        cells: &[&Text],
        meaning: &Meaning,
        release: &Release,
    ) -> Option<Unread> {
        let values = self.values(place);
        let is_unread = |cell: &&&Text| !meaning.can_read(cell, values.contains(**cell));
        let unread: Vec<&Text> = cells.iter().filter(is_unread).copied().collect();
        let has_position = |text: &String| !matches!(Kind::of(text), Kind::Text | Kind::Boolean);
        (!unread.is_empty()).then(|| Unread {
            attribute: name.to_string(),
            n_cells: unread.len() as u64,
            n_cells_read: (cells.len() - unread.len()) as u64,
            has_midpoints: release.has_midpoints() && unread.iter().copied().flatten().any(has_position),
        })
    }

    fn unknown(
        &self,
        name: &str,
        place: usize,
        cells: &[&Text],
        meaning: &Meaning,
        labels: &Labels,
    ) -> Option<UnknownValues> {
        let present: BTreeSet<&Text> =
            self.values(place).into_iter().filter(|value| !labels.is_missing(value)).collect();
        let is_found = |value: &&&Text| cells.iter().any(|cell| meaning.allows(cell, value));
        // Where no value at all fits, they are likely to be written in another way.
        let strangers: BTreeSet<&Text> = match present.iter().any(|value| is_found(&value)) {
            true => meaning.strangers(cells, present.into_iter()).into_iter().collect(),
            false => present,
        };
        let found = UnknownValues {
            attribute: name.to_string(),
            n_values: strangers.len() as u64,
            n_people: self.n_with(|texts| strangers.contains(&texts[place])),
            n_people_without: self.n_with(|texts| labels.is_missing(&texts[place])),
        };
        (found.n_people + found.n_people_without > 0).then_some(found)
    }
}
