//! `incrowd attack`: what somebody with a release in hand learns about the people in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::sentences::{counted_words, grouped, percent};
use incrowd::attack::{self, Gain, Group, Hit, Linkable, Linkage, Meaning, Skewness};
use incrowd::error::unknown;
use incrowd::hierarchy::{ANY, LabelTable};
use incrowd::recode::partition::CellStyle;
use incrowd::table::{Code, Kind};
use incrowd::verify::{SuppressedAs, Text};
use incrowd::wire::{Certificate, rounded};
use incrowd::{Domain, Error, ErrorKind, Hierarchy, Missing, Result, Role, Rule};
use serde_json::{Value, json};

use super::terminal::{Exit, Terminal};
use super::verify::{SuppressedRecords, left_out_in_words};
use crate::input::count::{Choice, count};
use crate::input::project::{Project, rule_of_text};
use crate::input::source::{CsvOptions, Frame, Source};
use crate::orders::verify::{beside, check_roles, delimiter_of, read, read_certificate};
use crate::work::Work;

/// See what an attacker learns from a release, or from two of them together
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Without flags, quasi-identifiers and sensitive attributes are those of FILE.certificate.json. Four attacks are tried:

  homogeneity  groups in which all have the same sensitive value: it is certain
  similarity   groups whose values all belong to one branch of the sensitive attribute's hierarchy
  skewness     groups in which a value is much more frequent than in the table
  linkage      people of an outside table whose quasi-identifiers fit one group only, or one record

Linkage needs whom to look for: --outside names a table, --project takes the project's own records, the worst case. Labels \
and the branches of sensitive values are read from the project's hierarchies, from --hierarchy NAME=FILE, or from the \
certificate where it has them. Where a cell cannot be read, nobody can say whom it fits: linkage is not known then, and no \
number of it is printed. No value of the data is printed unless --show-values asks for it.

Exit status: 0 when nobody's value can be told for certain, 1 when somebody's can, 2 on error and where linkage is not known.

Examples:
  incrowd attack release.csv
  incrowd attack release.csv --project .
  incrowd attack last_year.csv this_year.csv --outside voters.csv
  incrowd attack other.csv --quasi-identifiers zip,age --sensitive ill --hierarchy ill=ill.csv")]
pub struct Args {
    /// A published file, CSV or Parquet; a second release of the same people to combine it with
    #[arg(required = true, num_args = 1..=2, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The quasi-identifiers of the files
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// The sensitive attributes of the files
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub sensitive: Option<Vec<String>>,
    /// The project that the release was made from
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// A table of people with some of the quasi-identifiers, by the same names
    #[arg(long, value_name = "FILE")]
    pub outside: Option<PathBuf>,
    /// Labels of an attribute, as ARX writes them
    #[arg(long, value_name = "NAME=FILE")]
    pub hierarchy: Vec<String>,
    /// What records are that have * in every quasi-identifier
    #[arg(long, value_enum, default_value_t = SuppressedRecords::Group)]
    pub suppressed_as: SuppressedRecords,
    /// How many of the worst groups are shown
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub worst: usize,
    /// Print values of the data: what groups look like, and which sensitive values stand out
    #[arg(long)]
    pub show_values: bool,
}

/// A release that was read.
struct Release {
    path: PathBuf,
    certificate: Option<Certificate>,
    quasi_identifiers: Vec<String>,
    groups: Vec<Group>,
    /// Records that were taken for suppressed.
    n_absent: u64,
}

/// What was found about one sensitive attribute of one release.
struct Found {
    homogeneity: Hit,
    /// By level of the hierarchy, from 1; none where there is no hierarchy.
    similarity: Option<Vec<Hit>>,
    skewness: Skewness,
}

pub fn run(args: &Args, terminal: &Terminal) -> Result<Exit> {
    with_report(args, None, &terminal.work(0, None), |report| {
        terminal.json(&report.document());
        if !terminal.is_json {
            report.say(terminal);
        }
        match report.is_certain() {
            Some(true) => Exit::No,
            Some(false) => Exit::Done,
            None => Exit::NotKnown,
        }
    })
}

/// What was found, as `--json` says it; `people` are in memory instead of in a file.
pub fn document(args: &Args, people: Option<&Frame>, work: &Work) -> Result<Value> {
    with_report(args, people, work, |report| report.document())
}

fn with_report<T>(args: &Args, people: Option<&Frame>, work: &Work, show: impl FnOnce(&Report) -> T) -> Result<T> {
    for path in &args.files {
        std::fs::metadata(path).map_err(|error| crate::io_error(path, error))?;
    }
    let project = args.project.as_deref().map(Project::open).transpose()?;
    let sensitive = sensitive_of(args)?;
    let releases: Vec<Release> =
        args.files.iter().map(|path| open(path, args, &sensitive, work)).collect::<Result<_>>()?;
    let labels = Labels::new(args, project.as_ref(), &releases, &sensitive)?;
    let found: Vec<Vec<Found>> = releases
        .iter()
        .map(|release| (0..sensitive.len()).map(|s| look(release, s, &sensitive[s], &labels)).collect())
        .collect::<Result<_>>()?;
    let linked = whom_to_look_for(args, people, project.as_ref(), &releases, &labels, work)?
        .map(|outside| outside.link(&releases, &labels, sensitive.len()))
        .transpose()?;
    Ok(show(&Report { args, releases: &releases, sensitive: &sensitive, found: &found, linked: linked.as_ref() }))
}

fn sensitive_of(args: &Args) -> Result<Vec<String>> {
    if let Some(names) = &args.sensitive {
        return Ok(names.clone());
    }
    let certificate =
        args.files.iter().find_map(|file| beside(file)).map(|path| read_certificate(&path)).transpose()?;
    match certificate.map(|certificate| certificate.sensitive).filter(|names| !names.is_empty()) {
        Some(names) => Ok(names),
        None => {
            Err(Error::new(ErrorKind::Request, "nothing says which attribute is sensitive")
                .hint("give --sensitive NAME"))
        }
    }
}

fn open(path: &Path, args: &Args, sensitive: &[String], work: &Work) -> Result<Release> {
    let certificate = beside(path).map(|path| read_certificate(&path)).transpose()?;
    let named = args.quasi_identifiers.clone().or(certificate.as_ref().map(|known| known.quasi_identifiers.clone()));
    let quasi_identifiers = named.ok_or_else(|| {
        Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
            .at(path.display().to_string())
            .hint("give --quasi-identifiers A,B,…")
    })?;
    check_roles(&quasi_identifiers, sensitive)?;
    let delimiter = certificate.as_ref().and_then(|certificate| delimiter_of(path, certificate));
    let source = Source::open(path, &CsvOptions { delimiter })?;
    let suppressed_as = match args.suppressed_as {
        SuppressedRecords::Group => SuppressedAs::Group,
        SuppressedRecords::Absent => SuppressedAs::Absent,
    };
    let verifier = read(&source, &quasi_identifiers, sensitive, suppressed_as, work)?;
    let groups = attack::groups(&verifier);
    if groups.is_empty() {
        return Err(Error::new(ErrorKind::Data, "has no records to attack").at(path.display().to_string()));
    }
    let n_absent = verifier.n_absent();
    Ok(Release { path: path.to_path_buf(), certificate, quasi_identifiers, groups, n_absent })
}

impl Release {
    /// Whether the certificate says that numbers and dates are the middle of a range.
    fn has_midpoints(&self) -> bool {
        let style = self.certificate.as_ref().and_then(|certificate| certificate.cells.as_deref());
        style == Some(CellStyle::Midpoints.name())
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
        let cell = |group: &Group, place: usize| match range_at(place) {
            Some(&(_, low, high)) => range_cell(&group.cells[low], &group.cells[high]),
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

/// Two columns as one cell. Where both are empty, not even whether there is a value is said.
fn range_cell(low: &Text, high: &Text) -> Text {
    let (low, high) = (low.as_deref().unwrap_or(""), high.as_deref().unwrap_or(""));
    Some(match (low, high) {
        ("", "") => ANY.to_string(),
        _ if low == high => low.to_string(),
        _ => format!("[{low}-{high}]"),
    })
}

/// The hierarchies that are known, by attribute, and what means "no value".
struct Labels<'a> {
    project: Option<&'a Project>,
    tables: HashMap<String, LabelTable>,
    missing: Missing,
}

impl<'a> Labels<'a> {
    fn new(
        args: &Args,
        project: Option<&'a Project>,
        releases: &[Release],
        sensitive: &[String],
    ) -> Result<Labels<'a>> {
        let as_ranges = releases.iter().flat_map(|release| release.with_ranges(|name| !name.ends_with("_low")).0);
        let as_columns = releases.iter().flat_map(|release| release.quasi_identifiers.clone());
        let known: BTreeSet<String> = as_columns.chain(as_ranges).chain(sensitive.iter().cloned()).collect();
        let mut tables = HashMap::new();
        for text in &args.hierarchy {
            let (name, path) = text.split_once('=').ok_or_else(|| {
                Error::new(ErrorKind::Request, format!("'{text}' does not say whose hierarchy it is"))
                    .hint("for example --hierarchy disease=disease.csv")
            })?;
            if !known.contains(name) {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(unknown(ErrorKind::Request, "attribute", name, &known).at("--hierarchy"));
            }
            let labels = std::fs::read_to_string(path).map_err(|error| crate::io_error(Path::new(path), error))?;
            tables.insert(name.to_string(), LabelTable::parse(path, &labels)?);
        }
        let unless_said = Missing { tokens: vec![String::new()], drop_records: true };
        Ok(Labels { project, tables, missing: project.map_or(unless_said, |project| project.missing.clone()) })
    }

    /// How the values of an attribute get coarser: as a flag or the project says.
    fn rule(&self, name: &str) -> Option<Rule> {
        let of_project = || self.project?.attributes.iter().find(|attribute| attribute.name == name);
        let of_table = self.tables.get(name).map(|table| Rule::Table(table.clone()));
        of_table.or_else(|| of_project().map(|attribute| attribute.rule.clone()))
    }

    /// The hierarchy of a sensitive attribute over these values; none where nothing is known, or nothing but `*`.
    fn hierarchy(&self, name: &str, values: impl Iterator<Item = String>) -> Result<Option<Hierarchy>> {
        let Some(rule) = self.rule(name) else { return Ok(None) };
        let values = values.filter(|value| !self.missing.is_token(value));
        let more = match &rule {
            Rule::Table(table) if self.tables.contains_key(name) => table.values().map(str::to_string).collect(),
            _ => Vec::new(),
        };
        let values: BTreeSet<String> = values.chain(more).collect();
        let hierarchy = rule.resolve(&Domain::new(name, values.into_iter().collect(), None))?;
        Ok(Some(hierarchy).filter(|hierarchy| hierarchy.top() > 1 || rule != Rule::Flat))
    }

    /// What the cells of a quasi-identifier of a release stand for. A certificate knows hierarchies that are written in
    /// the project file, and of which attributes all values are published as they are, or none.
    fn meaning(&self, name: &str, release: &Release) -> Result<Meaning> {
        let certificate = release.certificate.as_ref();
        let in_certificate = || {
            let texts = certificate?.hierarchies.iter().filter_map(|file| file.name.strip_prefix(name));
            texts.filter_map(|rest| rest.strip_prefix(": ")).find_map(rule_of_text)
        };
        let level = certificate.and_then(|certificate| certificate.levels.get(name)?.as_u64());
        let meaning = match (self.rule(name).or_else(in_certificate), level) {
            (Some(Rule::Table(table)), _) => {
                let values = table.values().map(str::to_string).collect();
                Meaning::new(&Rule::Table(table).resolve(&Domain::new(name, values, None))?)
            }
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

fn look(release: &Release, sensitive: usize, name: &str, labels: &Labels) -> Result<Found> {
    let groups = &release.groups;
    let values = groups.iter().flat_map(|group| group.values[sensitive].keys()).flatten().cloned();
    let hierarchy = labels.hierarchy(name, values)?;
    let similarity = hierarchy.map(|hierarchy| {
        let paths = (0..hierarchy.level(0).len()).map(|base| hierarchy.path(base));
        let labels: HashMap<Text, Vec<String>> = paths.map(|path| (path.first().cloned(), path)).collect();
        attack::similarity(groups, sensitive, &labels)
    });
    Ok(Found {
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
}

/// What came of looking for people.
struct Linked {
    /// By sensitive attribute; none where cells of a quasi-identifier could not be read.
    linkages: Option<Vec<Linkage>>,
    unread: Vec<Unread>,
    /// By attribute that somebody has an unknown value of.
    unknown: Vec<UnknownValues>,
}

/// A quasi-identifier with cells that could not be read.
struct Unread {
    attribute: String,
    n_cells: u64,
    n_cells_read: u64,
    /// Whether cells are the middle of a range.
    has_midpoints: bool,
}

/// Values of people that no cell but `*` can be compared with.
#[derive(PartialEq)]
struct UnknownValues {
    attribute: String,
    n_values: u64,
    n_people: u64,
    /// People without a value, who fit only cells that say so, or `*`.
    n_people_without: u64,
}

/// Reads the table of people, or the project's records; none where there is nobody to look for.
fn whom_to_look_for(
    args: &Args,
    people: Option<&Frame>,
    project: Option<&Project>,
    releases: &[Release],
    labels: &Labels,
    work: &Work,
) -> Result<Option<Outside>> {
    let source = match (&args.outside, people) {
        (Some(path), _) => Some(Source::open(path, &CsvOptions { delimiter: None })?),
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
    let said_alike = |(texts, n): (Vec<Text>, u64)| (texts.iter().map(|text| labels.text(text)).collect(), n);
    Ok(Some(Outside { attributes, people: people.into_iter().map(said_alike).collect() }))
}

impl Outside {
    fn link(&self, releases: &[Release], labels: &Labels, n_sensitive: usize) -> Result<Linked> {
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
        let linkables: Vec<Linkable> =
            parts.iter().map(|(groups, meanings, known)| Linkable { groups, meanings, known }).collect();
        let linkages = unread.is_empty().then(|| attack::link(&linkables, &self.people, n_sensitive));
        Ok(Linked { linkages, unread, unknown })
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
        let n_with = |is_meant: &dyn Fn(&Text) -> bool| -> u64 {
            self.people.iter().filter(|(texts, _)| is_meant(&texts[place])).map(|(_, n)| n).sum()
        };
        let found = UnknownValues {
            attribute: name.to_string(),
            n_values: strangers.len() as u64,
            n_people: n_with(&|text| strangers.contains(text)),
            n_people_without: n_with(&|text| labels.is_missing(text)),
        };
        (found.n_people + found.n_people_without > 0).then_some(found)
    }
}

struct Report<'a> {
    args: &'a Args,
    releases: &'a [Release],
    sensitive: &'a [String],
    found: &'a [Vec<Found>],
    /// None where there was nobody to look for.
    linked: Option<&'a Linked>,
}

impl Report<'_> {
    /// Whether somebody's sensitive value is; none where that hangs on a linkage that is not known.
    fn is_certain(&self) -> Option<bool> {
        let linkages = self.linked.map(|linked| linked.linkages.as_deref());
        let by_linkage = |linkages: &[Linkage]| linkages.iter().any(|linkage| linkage.n_certain > 0);
        match self.found.iter().flatten().any(|found| found.homogeneity.n_groups > 0) {
            true => Some(true),
            false => linkages.map_or(Some(false), |known| known.map(by_linkage)),
        }
    }

    fn document(&self) -> Value {
        let shown = |release: &Release, place: usize| {
            let group = &release.groups[place];
            let mut value = json!({ "n_records": group.size });
            if self.args.show_values {
                let cells = release.quasi_identifiers.iter().cloned().zip(group.cells.iter().map(|cell| json!(cell)));
                value["cells"] = Value::Object(cells.collect());
                value["values"] = group
                    .values
                    .iter()
                    .map(|values| {
                        let named = values.iter().map(|(value, n)| (value.clone().unwrap_or_default(), json!(n)));
                        Value::Object(named.collect())
                    })
                    .collect();
            }
            value
        };
        let hit = |release: &Release, hit: &Hit| {
            let worst: Vec<Value> =
                hit.groups.iter().take(self.args.worst).map(|&place| shown(release, place)).collect();
            json!({ "n_groups": hit.n_groups, "n_records": hit.n_records, "worst": worst })
        };
        let gain = |release: &Release, gain: &Option<Gain>| match gain {
            None => Value::Null,
            Some(gain) => {
                let mut value = json!({
                    "prior": rounded(gain.prior), "posterior": rounded(gain.posterior),
                    "times": rounded(gain.posterior / gain.prior), "group": shown(release, gain.group),
                });
                if self.args.show_values {
                    value["value"] = json!(gain.value);
                }
                value
            }
        };
        let of_attribute = |release: &Release, name: &String, found: &Found| {
            json!({
                "attribute": name,
                "homogeneity": hit(release, &found.homogeneity),
                "similarity": found.similarity.as_ref().map(|levels| {
                    levels.iter().map(|level| hit(release, level)).collect::<Vec<Value>>()
                }),
                "skewness": {
                    "most": gain(release, &found.skewness.most),
                    "steepest": gain(release, &found.skewness.steepest),
                    "best_guess": rounded(found.skewness.best_guess),
                    "best_guess_before": rounded(found.skewness.best_guess_before),
                },
            })
        };
        let release = |(release, found): (&Release, &Vec<Found>)| {
            let of = self.sensitive.iter().zip(found).map(|(name, found)| of_attribute(release, name, found));
            json!({
                "file": release.path.display().to_string(),
                "n_records": release.groups.iter().map(|group| group.size).sum::<u64>(),
                "n_groups": release.groups.len(),
                "n_absent": release.n_absent,
                "sensitive": of.collect::<Vec<Value>>(),
            })
        };
        let of_linkage = |(name, found): (&String, &Linkage)| {
            json!({
                "attribute": name,
                "n_outside": found.n_outside,
                "n_without": found.n_without,
                "n_one_group": found.n_one_group,
                "n_several_groups": found.n_several_groups,
                "n_one_record": found.n_one_record,
                "n_certain": found.n_certain,
                "n_certain_together": found.n_certain_together,
            })
        };
        let linkages = self.linked.and_then(|linked| linked.linkages.as_ref());
        let linkages =
            linkages.map(|linkages| self.sensitive.iter().zip(linkages).map(of_linkage).collect::<Vec<Value>>());
        let unread = |unread: &Unread| {
            json!({
                "attribute": unread.attribute, "n_cells": unread.n_cells, "n_cells_read": unread.n_cells_read,
                "has_midpoints": unread.has_midpoints,
            })
        };
        let unknown = |unknown: &UnknownValues| {
            json!({
                "attribute": unknown.attribute, "n_values": unknown.n_values, "n_people": unknown.n_people,
                "n_people_without": unknown.n_people_without,
            })
        };
        let (not_known, unknown): (Vec<Value>, Vec<Value>) = self.linked.map_or_else(Default::default, |linked| {
            (linked.unread.iter().map(unread).collect(), linked.unknown.iter().map(unknown).collect())
        });
        json!({
            "releases": self.releases.iter().zip(self.found).map(release).collect::<Vec<Value>>(),
            "is_certain": self.is_certain(),
            "linkage": linkages,
            "linkage_not_known": not_known,
            "unknown_outside": unknown,
        })
    }

    fn say(&self, terminal: &Terminal) {
        for (release, found) in self.releases.iter().zip(self.found) {
            let n_records: u64 = release.groups.iter().map(|group| group.size).sum();
            terminal.say(format!(
                "{}: {} in {}",
                release.path.display(),
                counted_words(n_records, "record"),
                counted_words(release.groups.len() as u64, "group")
            ));
            if release.n_absent > 0 {
                terminal.say(format!("  {}", left_out_in_words(release.n_absent)));
            }
            let is_hidden = |group: &&Group| group.cells.iter().all(|cell| cell.as_deref() == Some(ANY));
            if let Some(hidden) = release.groups.iter().find(is_hidden) {
                terminal.say(format!(
                    "  {} {} * in every quasi-identifier: a group that everybody fits (--suppressed-as absent leaves it out)",
                    counted_words(hidden.size, "record"),
                    if hidden.size == 1 { "is" } else { "are" }
                ));
            }
            for (s, (name, found)) in self.sensitive.iter().zip(found).enumerate() {
                self.say_found(release, s, name, found, n_records, terminal);
            }
        }
        let Some(linked) = self.linked else {
            terminal.say("\nLinkage was not tried: give --outside FILE, or --project for the worst case.");
            return;
        };
        match &linked.linkages {
            None => self.say_not_known(&linked.unread, terminal),
            Some(linkages) => {
                for (name, linkage) in self.sensitive.iter().zip(linkages) {
                    self.say_linkage(name, linkage, terminal);
                }
                linked.unknown.iter().for_each(|unknown| self.say_unknown(unknown, terminal));
            }
        }
    }

    fn say_found(&self, release: &Release, s: usize, name: &str, found: &Found, n_records: u64, terminal: &Terminal) {
        let share = |n: u64| format!("{} ({})", counted_words(n, "record"), percent(n, n_records));
        let hit = &found.homogeneity;
        terminal.say(match hit.n_groups {
            0 => format!("\n  Homogeneity: no group has a single {name}."),
            n => format!(
                "\n  Homogeneity: in {}, all records have the same {name}. Whoever knows that somebody is among these {} \
                 knows that value for certain.",
                counted_words(n, "group"),
                share(hit.n_records)
            ),
        });
        self.say_worst(release, s, hit, terminal);
        match &found.similarity {
            None => {
                terminal.say(format!("  Similarity: not tried, {name} has no hierarchy (--hierarchy {name}=FILE)."))
            }
            Some(levels) if levels.iter().all(|level| level.n_groups == 0) => {
                terminal.say(format!("  Similarity: in no group one branch of the hierarchy holds every {name}."));
            }
            Some(levels) => {
                for (level, hit) in (1..).zip(levels).filter(|(_, hit)| hit.n_groups > 0) {
                    terminal.say(format!(
                        "  Similarity: in {}, every {name} belongs to one branch (level {level} of the hierarchy). Of {} \
                         that much is certain.",
                        counted_words(hit.n_groups, "group"),
                        share(hit.n_records)
                    ));
                    self.say_worst(release, s, hit, terminal);
                }
            }
        }
        let skewness = &found.skewness;
        match (&skewness.most, &skewness.steepest) {
            (Some(most), Some(steepest)) => {
                let value = |gain: &Gain| match self.args.show_values {
                    true => format!("{name} {}", gain.value.as_deref().unwrap_or("(none)")),
                    false => format!("one {name}"),
                };
                let size = |gain: &Gain| counted_words(release.groups[gain.group].size, "record");
                terminal.say(format!(
                    "  Skewness: in a group of {}, {} of the records have {}; in the table {}. In a group of {}, {} is {} \
                     times as frequent as in the table.",
                    size(most),
                    share_in_words(most.posterior),
                    value(most),
                    share_in_words(most.prior),
                    size(steepest),
                    value(steepest),
                    times(steepest.posterior / steepest.prior)
                ));
                terminal.say(format!(
                    "  Guessing the most frequent {name} of the group is right for {} of the records; without the release \
                     for {}.",
                    share_in_words(skewness.best_guess),
                    share_in_words(skewness.best_guess_before)
                ));
            }
            _ => terminal.say(format!("  Skewness: in every group {name} is distributed as in the table.")),
        }
    }

    fn say_worst(&self, release: &Release, s: usize, hit: &Hit, terminal: &Terminal) {
        for &place in hit.groups.iter().take(self.args.worst) {
            let group = &release.groups[place];
            let line = match self.args.show_values {
                false => format!("    a group of {}", counted_words(group.size, "record")),
                true => {
                    let text = |text: &Text| text.clone().unwrap_or_else(|| "(none)".into());
                    let cells: Vec<String> = release
                        .quasi_identifiers
                        .iter()
                        .zip(&group.cells)
                        .map(|(name, cell)| format!("{name} {}", text(cell)))
                        .collect();
                    let values: BTreeMap<String, u64> =
                        group.values[s].iter().map(|(value, n)| (text(value), *n)).collect();
                    let values: Vec<String> =
                        values.iter().map(|(value, n)| format!("{value} {}", grouped(*n))).collect();
                    format!("    {}: {}", cells.join(", "), values.join(", "))
                }
            };
            terminal.say(line);
        }
        let n_more = hit.groups.len().saturating_sub(self.args.worst);
        if n_more > 0 && self.args.worst > 0 {
            terminal.say(format!("    and {} more", grouped(n_more as u64)));
        }
    }

    /// Whom a cell fits that cannot be read is not known: numbers would say less than an attacker can find out.
    fn say_not_known(&self, unread: &[Unread], terminal: &Terminal) {
        terminal.say("\nLinkage is not known: cells could not be read.");
        for Unread { attribute, n_cells, n_cells_read, has_midpoints } in unread {
            let why = match has_midpoints {
                true => ", which may be the middle of a range and do not say of which",
                false => "",
            };
            let n_all = counted_words(n_cells + n_cells_read, "cell");
            terminal.say(format!("  {} of {n_all} of {attribute}{why}", grouped(*n_cells)));
        }
        let files: Vec<String> = unread
            .iter()
            .filter(|unread| !unread.has_midpoints)
            .map(|unread| format!("--hierarchy {}=FILE", unread.attribute))
            .collect();
        let project = if self.args.project.is_none() { "--project, or " } else { "" };
        if !files.is_empty() {
            terminal.say(format!(
                "  Give {project}labels: {} (one column where values are published as they are).",
                files.join(" ")
            ));
        }
        if files.len() < unread.len() {
            terminal.say("  Publish with --cells ranges to see what linkage finds in the same groups.");
        }
    }

    fn say_linkage(&self, name: &str, found: &Linkage, terminal: &Terminal) {
        let n = found.n_outside;
        let share = |part: u64| format!("{} ({})", grouped(part), percent(part, n));
        let who = self.people_in_words(n);
        let whose = match (&self.args.outside, n) {
            (Some(path), _) => path.display().to_string(),
            (None, 1) => "the table, known by all its quasi-identifiers".to_string(),
            (None, _) => "the table, known by all their quasi-identifiers".to_string(),
        };
        terminal.say(format!("\nLinkage, for {who} of {whose}:"));
        terminal.say(format!("  {} fit no group: not in the table, or suppressed.", share(found.n_without)));
        terminal.say(format!("  {} fit one group only.", share(found.n_one_group)));
        terminal.say(format!("  {} fit several groups.", share(found.n_several_groups)));
        terminal.say(format!("  {} fit one record only.", share(found.n_one_record)));
        terminal.say(format!("  Of {} the {name} is certain.", share(found.n_certain)));
        if self.releases.len() > 1 {
            terminal.say(format!(
                "  Of {} it is certain from the releases together, and from none of them alone.",
                share(found.n_certain_together)
            ));
        }
    }

    fn say_unknown(&self, unknown: &UnknownValues, terminal: &Terminal) {
        let UnknownValues { attribute, n_values, n_people, n_people_without } = unknown;
        if *n_values > 0 {
            terminal.say(format!(
                "  {} of {attribute}, of {}, {} unknown to the hierarchy and the cells of the release: only * fits.",
                counted_words(*n_values, "value"),
                self.people_in_words(*n_people),
                if *n_values == 1 { "is" } else { "are" }
            ));
        }
        if *n_people_without > 0 {
            terminal.say(format!(
                "  {} {} no {attribute}: only cells without a value fit, and *.",
                self.people_in_words(*n_people_without),
                if *n_people_without == 1 { "has" } else { "have" }
            ));
        }
    }

    fn people_in_words(&self, n: u64) -> String {
        match (&self.args.outside, n) {
            (Some(_), 1) => "1 person".to_string(),
            (Some(_), n) => format!("{} people", grouped(n)),
            (None, n) => counted_words(n, "record"),
        }
    }
}

fn share_in_words(share: f64) -> String {
    match share * 100.0 {
        percent if share > 0.0 && percent < 0.1 => "under 0.1 %".to_string(),
        percent => format!("{percent:.1} %"),
    }
}

fn times(factor: f64) -> String {
    if factor < 10.0 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}
