//! `risk`: how likely the people of a table, a release or a project's data are to be found.

mod file;
mod records;

use std::path::{Path, PathBuf};

use incrowd::risk::people::{self, Members};
use incrowd::risk::special_uniques::{ShownGroup, SpecialUniques, special_uniques};
use incrowd::risk::weighted::{Expected, expected, household_risks, risk_of};
use incrowd::risk::{Alike, Contribution, Risks, contributions, crowds, estimated_unique_in_population, risks};
use incrowd::{Error, ErrorKind, GroupCounts, Missing, Result};

use self::records::{Records, ToRead};
use super::verify::{beside, delimiter_of, open_release, read_certificate};
use crate::input::count::{Choice, count, count_source};
use crate::input::project::{Project, check_not_among};
use crate::input::source::Source;
use crate::output::staged::exists;
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// Above this probability somebody is at risk, where nothing else is said: fewer than five are alike.
pub const THRESHOLD: f64 = 0.2;

/// The share of the population that special uniques take a table for, where nothing says it.
const DIS_FRACTION: f64 = 0.1;

/// A share as somebody writes it: `0.1`, `10%` or `1/10`.
pub fn share(text: &str) -> std::result::Result<f64, std::num::ParseFloatError> {
    super::request::share_of(text).map_or_else(|| text.trim().parse(), Ok)
}

/// Whose risk, and above which probability somebody is at risk.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// A file, or a project; the project at hand where nothing is named.
    pub target: Option<PathBuf>,
    /// The data that are read instead of the project's.
    pub data: Option<PathBuf>,
    pub quasi_identifiers: Option<Vec<String>>,
    pub threshold: f64,
    /// The share of the population that is in the table.
    pub sampled: Option<f64>,
    /// The column of sampling weights; that of the project where none is named.
    pub weight_of: Option<String>,
    /// The columns that together name a household; those of the project where none are named.
    pub household: Option<Vec<String>>,
    /// Whether special uniques are looked for, and up to which size of sets: any where none is named.
    pub special_uniques: Option<Option<u64>>,
    /// Whether values of the data are told where they matter.
    pub show_values: bool,
    /// Whether every record is judged; in which file that goes.
    pub per_record: bool,
    pub output: Option<PathBuf>,
    pub replace: bool,
}

impl Default for Risk {
    fn default() -> Risk {
        Risk {
            target: None,
            data: None,
            quasi_identifiers: None,
            threshold: THRESHOLD,
            sampled: None,
            weight_of: None,
            household: None,
            special_uniques: None,
            show_values: false,
            per_record: false,
            output: None,
            replace: false,
        }
    }
}

/// What is told of a table.
pub struct Told {
    pub found: Risks,
    /// Where people are counted, how many of them nobody else has as many records like in the same groups.
    pub n_alone_by_all_records: Option<u64>,
    pub estimate: Option<f64>,
    pub contributions: Vec<Contribution>,
    pub threshold: f64,
    pub n_dropped: u64,
    pub population: Population,
    /// How many people the population has, where that is estimated.
    pub n_people: Option<f64>,
    /// The risk of every record by itself.
    pub individual: Expected,
    /// That any member of the household is found, where there are households.
    pub households: Option<Households>,
    pub special_uniques: Option<NamedUniques>,
    /// Whether values of the data may be told.
    pub show_values: bool,
    /// Where the risk of each record is.
    pub written: Option<PathBuf>,
}

/// What is known of the population.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Population {
    Counted,
    /// Estimated from sampling weights.
    Weighted,
    /// Estimated from the share that is in the table.
    Sampled,
    /// Nothing: the table counts as one.
    Unknown,
}

impl Population {
    pub fn in_words(self) -> &'static str {
        match self {
            Population::Counted => "counted",
            Population::Weighted => "estimated from sampling weights",
            Population::Sampled => "estimated from the share sampled",
            Population::Unknown => "the table itself",
        }
    }
}

/// The risk of households, record by record.
pub struct Households {
    pub n_households: u64,
    pub found: Expected,
}

/// Special uniques with the names of what they are about.
pub struct NamedUniques {
    pub found: SpecialUniques,
    pub attributes: Vec<String>,
    /// By attribute, the value behind each code.
    pub values: Vec<Vec<String>>,
}

impl NamedUniques {
    /// Those of a table as it was counted.
    pub fn of_counts(counts: &GroupCounts, size_max: Option<u64>, fraction: f64, work: &Work) -> Result<NamedUniques> {
        // Equal records of one person are as much alone as one.
        let sizes = counts.crowds();
        let row = |group: usize| (counts.codes(group).iter().map(|code| code.0).collect(), sizes[group]);
        let rows: Vec<ShownGroup> = (0..counts.n_groups()).map(row).collect();
        let size_max = size_max.map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        let found = work.stage("looking for special uniques", 0, Unit::Records, |task| {
            special_uniques(&rows, counts.domains().len(), size_max, fraction, task)
        });
        Ok(NamedUniques {
            found: found?,
            attributes: counts.domains().iter().map(|domain| domain.name().to_string()).collect(),
            values: counts.domains().iter().map(|domain| domain.values().to_vec()).collect(),
        })
    }
}

/// A table that was counted, with what is said of it beside.
struct Subject {
    source: Source,
    counts: GroupCounts,
    missing: Missing,
    weight_of: Option<String>,
    household: Vec<String>,
}

impl Risk {
    /// How likely people are to be found, in a file or a project that is named, or in `project`.
    pub fn run(&self, project: Option<&Project>, work: &Work) -> Result<Told> {
        self.check()?;
        let opened = self.target.as_deref().filter(|target| is_project(target)).map(Project::open).transpose()?;
        let opened = opened.or_else(|| project.filter(|_| self.target.is_none()).cloned());
        let opened = match opened {
            Some(project) => Some(project.with_data(self.data.as_deref())?),
            None if self.data.is_some() => {
                return Err(Error::new(
                    ErrorKind::Request,
                    "other data are read instead of a project's, and this is a table",
                )
                .hint("name the table itself"));
            }
            None => None,
        };
        let subject = match (&opened, &self.target, project) {
            (Some(project), _, _) | (None, None, Some(project)) => self.subject_of_project(project, work)?,
            (None, Some(target), _) => self.subject_of_file(target, work)?,
            (None, None, None) => {
                return Err(Error::new(ErrorKind::Request, "nothing says whose risk is asked for")
                    .hint("name a table, a release or a project"));
            }
        };
        if subject.weight_of.is_some() && self.sampled.is_some() {
            return Err(Error::new(ErrorKind::Request, "sampling weights say already which share of people is there")
                .hint(hint("leave {sampled} out, or the weights")));
        }
        if self.per_record && subject.source.n_left_out() > 0 {
            return Err(Error::new(
                ErrorKind::Request,
                "the records of a file of risks are those of the table, and only some of each person are kept",
            )
            .hint(hint("leave {per_record} out, or {data.max_records_per_person}")));
        }
        self.told(&subject, work)
    }

    fn told(&self, subject: &Subject, work: &Work) -> Result<Told> {
        let Subject { source, counts, missing, weight_of, household } = subject;
        let members = Members::of_counts(counts);
        let records = match weight_of.is_some() || !household.is_empty() || self.per_record {
            false => Records::default(),
            true => {
                let person = counts.people().map_or(&[][..], |people| people.columns());
                let wanted = ToRead { weight_of: weight_of.as_deref(), household, person, each: self.per_record };
                records::read(source, counts, missing, &wanted, work)?
            }
        };
        let (population, crowds) = self.crowds(counts, members.as_ref(), records.weights.as_deref());
        let risk_of_group: Vec<f64> = crowds.iter().map(|(size, people)| risk_of(*size, *people)).collect();
        let sizes: Vec<u64> = crowds.iter().map(|(size, _)| *size).collect();
        let by_household = (!household.is_empty())
            .then(|| household_risks(records.in_households(&risk_of_group, members.is_some()), records.n_households));
        let n_people = matches!(population, Population::Weighted | Population::Sampled).then(|| match members {
            // Who is in several groups is one of the population all the same.
            Some(_) => records.weight_of_people.or(self.sampled.map(|sampled| counts.n_people() as f64 / sampled)),
            None => Some(crowds.iter().map(|(size, people)| people.at_least(*size)).sum::<f64>()),
        });
        let n_people = n_people.flatten().map(|n_people| n_people.max(counts.n_people() as f64));
        let fraction = n_people.map_or(DIS_FRACTION, |n_people| counts.n_people() as f64 / n_people);
        let uniques = self.special_uniques.map(|size_max| NamedUniques::of_counts(counts, size_max, fraction, work));
        let uniques = uniques.transpose()?;
        let columns = file::RiskColumns {
            places: &records.places,
            crowds: &crowds,
            risk_of_group: &risk_of_group,
            of_person: members.is_some().then(|| records.highest_of_people(&risk_of_group)),
            n_records: members.is_some().then_some(counts),
            of_household: by_household.as_deref(),
            uniques: uniques.as_ref().map(|uniques| &uniques.found),
        };
        self.output.iter().try_for_each(|path| file::write(path, &columns, self.replace, work))?;
        let households = by_household.map(|households| Households {
            n_households: households.len() as u64,
            found: expected(in_order(households).into_iter(), self.threshold),
        });
        let alike: Vec<Alike> = crowds.iter().map(|(_, alike)| *alike).collect();
        let found = match &members {
            Some(members) => people::risks(members, &alike, self.threshold),
            None => risks(crowds.iter().copied(), self.threshold),
        };
        let individual = match &members {
            Some(members) => members.expected(&risk_of_group, self.threshold),
            None => expected(sizes.iter().copied().zip(risk_of_group.iter().copied()), self.threshold),
        };
        Ok(Told {
            // Of groups of one person there may be more than people who are in one.
            estimate: self
                .sampled
                .map(|sampled| estimated_unique_in_population(&sizes, sampled).min(found.n_unique as f64)),
            found,
            n_alone_by_all_records: members.as_ref().map(Members::n_alone_by_all_records),
            contributions: work.quietly(|task| match &members {
                Some(members) => people::contributions(counts, members, task),
                None => contributions(counts, task),
            })?,
            threshold: self.threshold,
            n_dropped: counts.n_dropped(),
            population,
            n_people,
            individual,
            households,
            special_uniques: uniques,
            show_values: self.show_values,
            written: self.output.clone(),
        })
    }

    /// By group, its records, or its people where they are counted, and the people who look the same: as they were counted, else by weights, else by the share
    /// that was sampled.
    fn crowds(
        &self,
        counts: &GroupCounts,
        members: Option<&Members>,
        weights: Option<&[f64]>,
    ) -> (Population, Vec<(u64, Alike)>) {
        let counted = members.map_or_else(|| crowds(counts), |members| people::crowds(counts, members));
        let estimated = |people: &dyn Fn(usize, u64) -> f64| {
            let of_group = |(group, (size, _)): (usize, &(u64, Alike))| (*size, Alike::Estimated(people(group, *size)));
            counted.iter().enumerate().map(of_group).collect()
        };
        match (counts.population(), weights, self.sampled) {
            (Some(_), _, _) => (Population::Counted, counted),
            (None, Some(weights), _) => (Population::Weighted, estimated(&|group, _| weights[group])),
            (None, None, Some(sampled)) => (Population::Sampled, estimated(&|_, size| size as f64 / sampled)),
            (None, None, None) => (Population::Unknown, counted),
        }
    }

    fn check(&self) -> Result<()> {
        let wrong = |message: String, what: &'static str| Err(Error::new(ErrorKind::Request, message).hint(hint(what)));
        if !(0.0..=1.0).contains(&self.threshold) {
            let message = format!("a threshold of {} is no probability", self.threshold);
            return wrong(message, "for example {threshold=0.05}");
        }
        if self.sampled.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
            return wrong("a share of the population is above 0 and at most 1".into(), "for example {sampled=0.1}");
        }
        if self.special_uniques == Some(Some(0)) {
            return wrong("a set of no attributes tells nobody apart".into(), "for example {special_uniques=3}");
        }
        match (self.per_record, &self.output) {
            (true, None) => wrong("nothing says where the risk of each record goes".into(), "give {output=risk.csv}"),
            (false, Some(_)) => wrong("nothing says what is to be written".into(), "add {per_record}"),
            _ => Ok(()),
        }
    }

    /// Refuses to write over something before any work is done.
    fn check_output(&self, made_of: impl Fn(&Path) -> Result<()>) -> Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        made_of(path)?;
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => {
                Err(Error::new(ErrorKind::Io, "is a folder, not a file").at(path.display().to_string()))
            }
            Ok(_) if !self.replace => Err(exists(path)),
            _ => Ok(()),
        }
    }

    fn subject_of_project(&self, project: &Project, work: &Work) -> Result<Subject> {
        self.check_output(|path| project.check_output(path))?;
        let with_population = project.population.is_some() || project.population_frame.is_some();
        let choice = Choice { quasi_identifiers: self.quasi_identifiers.clone(), with_population, ..Choice::default() };
        let counted = count(project, &choice, work)?;
        Ok(Subject {
            source: counted.source,
            counts: counted.material.counts,
            missing: project.missing.clone(),
            weight_of: self.weight_of.clone().or_else(|| project.weight_of.clone()),
            household: self.household.clone().unwrap_or_else(|| project.household.clone()),
        })
    }

    /// The records of a file, counted.
    fn subject_of_file(&self, target: &Path, work: &Work) -> Result<Subject> {
        std::fs::metadata(target).map_err(|error| crate::io_error(target, error))?;
        let certificate_file = beside(target);
        let made_of: Vec<PathBuf> = certificate_file.iter().cloned().chain([target.to_path_buf()]).collect();
        self.check_output(|path| check_not_among(path, &made_of))?;
        let certificate = certificate_file.map(|path| read_certificate(&path)).transpose()?;
        let names = match (&self.quasi_identifiers, &certificate) {
            (Some(names), _) => names.clone(),
            (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
            (None, None) => {
                return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                    .hint(hint("give {quasi_identifiers=A,B,…}, or a project")));
            }
        };
        let delimiter = certificate.as_ref().and_then(|certificate| delimiter_of(target, certificate));
        let counted = certificate.as_ref().and_then(|certificate| certificate.counted.as_deref());
        let source = open_release(target, delimiter, counted)?;
        names.iter().try_for_each(|name| source.check_column(name))?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let missing = Missing::default();
        let counts = count_source(&source, &names, &[], &[], &missing, work)?;
        let (weight_of, household) = (self.weight_of.clone(), self.household.clone().unwrap_or_default());
        Ok(Subject { source, counts, missing, weight_of, household })
    }
}

fn is_project(target: &Path) -> bool {
    target.is_dir() && target.join("incrowd.toml").exists()
        || target.extension().is_some_and(|extension| extension == "toml")
}

/// In one order, so that sums are the same whatever came first.
fn in_order(mut households: Vec<(u64, f64)>) -> Vec<(u64, f64)> {
    households.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    households
}
