//! `incrowd attack`: what somebody with a release in hand learns about the people in it.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use incrowd::attack::{self, Gain, Group, Hit, Linkable, Linkage, Meaning, Skewness};
use incrowd::hierarchy::LabelTable;
use incrowd::table::Code;
use incrowd::verify::{SuppressedAs, Text};
use incrowd::wire::{counted_words, grouped, percent, rounded};
use incrowd::{Domain, Error, ErrorKind, Hierarchy, Result, Role, Rule};
use serde_json::{Value, json};

use crate::commands::verify::{beside, delimiter_of, read, read_certificate};
use crate::count::{Choice, count};
use crate::project::Project;
use crate::source::{CsvOptions, Frame, Source};
use crate::talk::{Exit, Talk};

/// See what an attacker learns from a release, or from two of them together
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Without flags, quasi-identifiers and sensitive attributes are those of FILE.certificate.json. Four attacks are tried:

  homogeneity  groups in which all have the same sensitive value: it is certain
  similarity   groups whose values all belong to one branch of the sensitive attribute's hierarchy
  skewness     groups in which a value is much more frequent than in the table
  linkage      people of an outside table whose quasi-identifiers fit one group only, or one record

Linkage needs whom to look for: --outside names a table, --project takes the project's own records, the worst case. Labels \
and the branches of sensitive values are read from the project's hierarchies, or from --hierarchy NAME=FILE. \
No value of the data is printed unless --show-values asks for it.

Exit status: 0 when somebody's value cannot be told for certain, 1 when it can, 2 on error.

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
    quasi_identifiers: Vec<String>,
    groups: Vec<Group>,
}

/// What was found about one sensitive attribute of one release.
struct Found {
    homogeneity: Hit,
    /// By level of the hierarchy, from 1; none where there is no hierarchy.
    similarity: Option<Vec<Hit>>,
    skewness: Skewness,
}

pub fn run(args: &Args, talk: &Talk) -> Result<Exit> {
    with_report(args, None, talk, |report| {
        talk.json(&report.document());
        if !talk.is_json {
            report.say(talk);
        }
        if report.is_certain() { Exit::No } else { Exit::Done }
    })
}

/// What was found, as `--json` says it; `people` are in memory instead of in a file.
pub fn document(args: &Args, people: Option<&Frame>, talk: &Talk) -> Result<Value> {
    with_report(args, people, talk, |report| report.document())
}

fn with_report<T>(args: &Args, people: Option<&Frame>, talk: &Talk, show: impl FnOnce(&Report) -> T) -> Result<T> {
    let project = args.project.as_deref().map(Project::open).transpose()?;
    let sensitive = sensitive_of(args)?;
    let releases: Vec<Release> =
        args.files.iter().map(|path| open(path, args, &sensitive, talk)).collect::<Result<_>>()?;
    let labels = Labels::new(args, project.as_ref())?;
    let found: Vec<Vec<Found>> = releases
        .iter()
        .map(|release| (0..sensitive.len()).map(|s| look(release, s, &sensitive[s], &labels)).collect())
        .collect::<Result<_>>()?;
    let linkage = linkage(args, people, project.as_ref(), &releases, &sensitive, &labels, talk)?;
    Ok(show(&Report { args, releases: &releases, sensitive: &sensitive, found: &found, linkage: &linkage }))
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

fn open(path: &Path, args: &Args, sensitive: &[String], talk: &Talk) -> Result<Release> {
    if let Err(error) = std::fs::metadata(path) {
        return Err(crate::io_error(path, error));
    }
    let certificate = beside(path).map(|path| read_certificate(&path)).transpose()?;
    let named = args.quasi_identifiers.clone().or(certificate.as_ref().map(|known| known.quasi_identifiers.clone()));
    let quasi_identifiers = named.ok_or_else(|| {
        Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
            .at(path.display().to_string())
            .hint("give --quasi-identifiers A,B,…")
    })?;
    let delimiter = certificate.as_ref().and_then(|certificate| delimiter_of(path, certificate));
    let source = Source::open(path, &CsvOptions { delimiter })?;
    // Our releases leave suppressed records out; others mark them with * in every quasi-identifier.
    let suppressed_as = if certificate.is_some() { SuppressedAs::Group } else { SuppressedAs::Absent };
    let verifier = read(&source, &quasi_identifiers, sensitive, suppressed_as, talk)?;
    let groups = attack::groups(&verifier);
    if groups.is_empty() {
        return Err(Error::new(ErrorKind::Data, "has no records to attack").at(path.display().to_string()));
    }
    Ok(Release { path: path.to_path_buf(), quasi_identifiers, groups })
}

/// The hierarchies that are known, by attribute.
struct Labels<'a> {
    project: Option<&'a Project>,
    tables: HashMap<String, LabelTable>,
}

impl<'a> Labels<'a> {
    fn new(args: &Args, project: Option<&'a Project>) -> Result<Labels<'a>> {
        let mut tables = HashMap::new();
        for text in &args.hierarchy {
            let (name, path) = text.split_once('=').ok_or_else(|| {
                Error::new(ErrorKind::Request, format!("'{text}' does not say whose hierarchy it is"))
                    .hint("for example --hierarchy disease=disease.csv")
            })?;
            let labels = std::fs::read_to_string(path).map_err(|error| crate::io_error(Path::new(path), error))?;
            tables.insert(name.to_string(), LabelTable::parse(path, &labels)?);
        }
        Ok(Labels { project, tables })
    }

    /// The hierarchy of an attribute over these values; none where nothing is known, or nothing but `*`.
    fn hierarchy(&self, name: &str, values: impl Iterator<Item = String>) -> Result<Option<Hierarchy>> {
        let (rule, more) = match (self.tables.get(name), self.project) {
            (Some(table), _) => (Rule::Table(table.clone()), table.values().map(str::to_string).collect()),
            (None, Some(project)) => match project.attributes.iter().find(|attribute| attribute.name == name) {
                Some(attribute) => (attribute.rule.clone(), Vec::new()),
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let values: std::collections::BTreeSet<String> = values.chain(more).collect();
        let hierarchy = rule.resolve(&Domain::new(name, values.into_iter().collect(), None))?;
        Ok(Some(hierarchy).filter(|hierarchy| hierarchy.top() > 1 || rule != Rule::Flat))
    }
}

fn look(release: &Release, sensitive: usize, name: &str, labels: &Labels) -> Result<Found> {
    let groups = &release.groups;
    let values = groups.iter().flat_map(|group| group.values[sensitive].keys()).flatten().cloned();
    let hierarchy = labels.hierarchy(name, values)?;
    let similarity = hierarchy.map(|hierarchy| {
        let labels_of = |code: usize| {
            let label = |level: usize| {
                let values = hierarchy.level(level);
                values.labels()[values.of_base()[code].index()].clone()
            };
            (Some(label(0)), (0..hierarchy.top()).map(label).collect::<Vec<String>>())
        };
        let labels: HashMap<Text, Vec<String>> = (0..hierarchy.level(0).len()).map(labels_of).collect();
        attack::similarity(groups, sensitive, &labels)
    });
    Ok(Found {
        homogeneity: attack::homogeneity(groups, sensitive),
        similarity,
        skewness: attack::skewness(groups, sensitive),
    })
}

/// By sensitive attribute; empty where there is nobody to look for.
fn linkage(
    args: &Args,
    people: Option<&Frame>,
    project: Option<&Project>,
    releases: &[Release],
    sensitive: &[String],
    labels: &Labels,
    talk: &Talk,
) -> Result<Vec<Linkage>> {
    let is_named = |name: &String| releases.iter().any(|release| release.quasi_identifiers.contains(name));
    let source = match (&args.outside, people) {
        (Some(path), _) => Some(Source::open(path, &CsvOptions { delimiter: None })?),
        (None, Some(people)) => Some(Source::of_frame(people)?),
        (None, None) => None,
    };
    let (known, outside) = match (source, project) {
        (Some(source), _) => {
            let known: Vec<String> = source.column_names().into_iter().filter(is_named).collect();
            if known.is_empty() {
                let names = releases[0].quasi_identifiers.join(", ");
                return Err(Error::new(ErrorKind::Data, "has none of the quasi-identifiers")
                    .at(source.files()[0].display().to_string())
                    .hint(format!("name its columns as the release does: {names}")));
            }
            let people = read(&source, &known, &[], SuppressedAs::Group, talk)?;
            let person = |(cells, n, _): (&[Text], u64, _)| (cells.to_vec(), n);
            (known, people.groups().into_iter().map(person).collect::<Vec<(Vec<Text>, u64)>>())
        }
        (None, Some(project)) => {
            let known = project.with_role(Role::QuasiIdentifier).map(|known| known.name.clone()).filter(is_named);
            let known: Vec<String> = known.collect();
            let choice =
                Choice { quasi_identifiers: Some(known.clone()), sensitive: Some(Vec::new()), ..Choice::default() };
            let counts = count(project, &choice, talk)?.material.counts;
            let text = |(code, domain): (&Code, &Domain)| match domain.missing() == Some(*code) {
                true => Some(project.missing.label().to_string()),
                false => Some(domain.values()[code.index()].clone()),
            };
            let person = |group: usize| {
                (counts.codes(group).iter().zip(counts.domains()).map(text).collect(), counts.size(group))
            };
            (known, (0..counts.n_groups()).map(person).collect())
        }
        (None, None) => return Ok(Vec::new()),
    };
    let values = |name: &str| {
        let place = known.iter().position(|known| known == name);
        place.map(|place| outside.iter().filter_map(move |(record, _)| record[place].clone()))
    };
    let meaning = |name: &String| -> Result<Meaning> {
        let hierarchy = values(name).map(|values| labels.hierarchy(name, values)).transpose()?.flatten();
        Ok(hierarchy.map_or_else(Meaning::default, |hierarchy| Meaning::new(&hierarchy)))
    };
    let meanings: Vec<Vec<Meaning>> = releases
        .iter()
        .map(|release| release.quasi_identifiers.iter().map(meaning).collect::<Result<_>>())
        .collect::<Result<_>>()?;
    let places: Vec<Vec<Option<usize>>> = releases
        .iter()
        .map(|release| {
            release.quasi_identifiers.iter().map(|name| known.iter().position(|known| known == name)).collect()
        })
        .collect();
    let linkables: Vec<Linkable> = releases
        .iter()
        .zip(meanings.iter().zip(&places))
        .map(|(release, (meanings, known))| Linkable { groups: &release.groups, meanings, known })
        .collect();
    Ok(attack::link(&linkables, &outside, sensitive.len()))
}

struct Report<'a> {
    args: &'a Args,
    releases: &'a [Release],
    sensitive: &'a [String],
    found: &'a [Vec<Found>],
    linkage: &'a [Linkage],
}

impl Report<'_> {
    /// Whether somebody's sensitive value is.
    fn is_certain(&self) -> bool {
        self.found.iter().flatten().any(|found| found.homogeneity.n_groups > 0)
            || self.linkage.iter().any(|linkage| linkage.n_certain > 0)
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
                "sensitive": of.collect::<Vec<Value>>(),
            })
        };
        let linkage = self.sensitive.iter().zip(self.linkage).map(|(name, found)| {
            json!({
                "attribute": name,
                "n_outside": found.n_outside,
                "n_without": found.n_without,
                "n_one_group": found.n_one_group,
                "n_one_record": found.n_one_record,
                "n_certain": found.n_certain,
                "n_certain_together": found.n_certain_together,
            })
        });
        json!({
            "releases": self.releases.iter().zip(self.found).map(release).collect::<Vec<Value>>(),
            "is_certain": self.is_certain(),
            "linkage": if self.linkage.is_empty() { Value::Null } else { linkage.collect() },
        })
    }

    fn say(&self, talk: &Talk) {
        for (release, found) in self.releases.iter().zip(self.found) {
            let n_records: u64 = release.groups.iter().map(|group| group.size).sum();
            talk.say(format!(
                "{}: {} in {}",
                release.path.display(),
                counted_words(n_records, "record"),
                counted_words(release.groups.len() as u64, "group")
            ));
            for (s, (name, found)) in self.sensitive.iter().zip(found).enumerate() {
                self.say_found(release, s, name, found, n_records, talk);
            }
        }
        for (name, linkage) in self.sensitive.iter().zip(self.linkage) {
            self.say_linkage(name, linkage, talk);
        }
        if self.linkage.is_empty() {
            talk.say("\nLinkage was not tried: give --outside FILE, or --project for the worst case.");
        }
    }

    fn say_found(&self, release: &Release, s: usize, name: &str, found: &Found, n_records: u64, talk: &Talk) {
        let share = |n: u64| format!("{} ({})", counted_words(n, "record"), percent(n, n_records));
        let hit = &found.homogeneity;
        talk.say(match hit.n_groups {
            0 => format!("\n  Homogeneity: no group has a single {name}."),
            n => format!(
                "\n  Homogeneity: in {}, all records have the same {name}. Whoever knows that somebody is among these {} \
                 knows that value for certain.",
                counted_words(n, "group"),
                share(hit.n_records)
            ),
        });
        self.say_worst(release, s, hit, talk);
        match &found.similarity {
            None => talk.say(format!("  Similarity: not tried, {name} has no hierarchy (--hierarchy {name}=FILE).")),
            Some(levels) if levels.iter().all(|level| level.n_groups == 0) => {
                talk.say(format!("  Similarity: in no group one branch of the hierarchy holds every {name}."));
            }
            Some(levels) => {
                for (level, hit) in (1..).zip(levels).filter(|(_, hit)| hit.n_groups > 0) {
                    talk.say(format!(
                        "  Similarity: in {}, every {name} belongs to one branch (level {level} of the hierarchy). Of {} \
                         that much is certain.",
                        counted_words(hit.n_groups, "group"),
                        share(hit.n_records)
                    ));
                    self.say_worst(release, s, hit, talk);
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
                talk.say(format!(
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
                talk.say(format!(
                    "  Guessing the most frequent {name} of the group is right for {} of the records; without the release \
                     for {}.",
                    share_in_words(skewness.best_guess),
                    share_in_words(skewness.best_guess_before)
                ));
            }
            _ => talk.say(format!("  Skewness: in every group {name} is distributed as in the table.")),
        }
    }

    fn say_worst(&self, release: &Release, s: usize, hit: &Hit, talk: &Talk) {
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
            talk.say(line);
        }
        let n_more = hit.groups.len().saturating_sub(self.args.worst);
        if n_more > 0 && self.args.worst > 0 {
            talk.say(format!("    and {} more", grouped(n_more as u64)));
        }
    }

    fn say_linkage(&self, name: &str, found: &Linkage, talk: &Talk) {
        let n = found.n_outside;
        let share = |part: u64| format!("{} ({})", grouped(part), percent(part, n));
        let who = match &self.args.outside {
            Some(path) => format!("people of {}", path.display()),
            None => "records of the table, known by all their quasi-identifiers".to_string(),
        };
        talk.say(format!("\nLinkage, for {} {who}:", grouped(n)));
        talk.say(format!("  {} fit no group: not in the table, or suppressed.", share(found.n_without)));
        talk.say(format!("  {} fit one group only.", share(found.n_one_group)));
        talk.say(format!("  {} fit one record only.", share(found.n_one_record)));
        talk.say(format!("  Of {} the {name} is certain.", share(found.n_certain)));
        if self.releases.len() > 1 {
            talk.say(format!(
                "  Of {} it is certain from the releases together, and from none of them alone.",
                share(found.n_certain_together)
            ));
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
