//! `risk`: how likely the people of a table, a release or a project's data are to be found.

use std::path::{Path, PathBuf};

use incrowd::risk::{Contribution, Risks, contributions, crowds, estimated_unique_in_population, risks};
use incrowd::{Error, ErrorKind, GroupCounts, Missing, Result};

use super::verify::{beside, delimiter_of, read_certificate};
use crate::input::count::{Choice, count, count_source};
use crate::input::project::Project;
use crate::input::source::{CsvOptions, Source};
use crate::sentences::hint;
use crate::work::Work;

/// Whose risk, and above which probability somebody is at risk.
#[derive(Clone, Debug, PartialEq)]
pub struct Risk {
    /// A file, or a project; the project at hand where nothing is named.
    pub target: Option<PathBuf>,
    pub quasi_identifiers: Option<Vec<String>>,
    pub threshold: f64,
    /// The share of the population that is in the table.
    pub sampled: Option<f64>,
}

/// What is told of a table.
pub struct Told {
    pub found: Risks,
    pub estimate: Option<f64>,
    pub contributions: Vec<Contribution>,
    pub threshold: f64,
    pub n_dropped: u64,
    pub has_population: bool,
}

impl Risk {
    /// How likely people are to be found, in a file or a project that is named, or in `project`.
    pub fn run(&self, project: Option<&Project>, work: &Work) -> Result<Told> {
        check(self.threshold, self.sampled)?;
        let counts = match (&self.target, project) {
            (Some(target), _) => self.counts_of(target, work)?,
            (None, Some(project)) => self.counts_of_project(project, work)?,
            (None, None) => {
                return Err(Error::new(ErrorKind::Request, "nothing says whose risk is asked for")
                    .hint("name a table, a release or a project"));
            }
        };
        let crowds = crowds(&counts);
        let sizes: Vec<u64> = crowds.iter().map(|(size, _)| *size).collect();
        Ok(Told {
            found: risks(crowds.iter().copied(), self.threshold),
            estimate: self.sampled.map(|sampled| estimated_unique_in_population(&sizes, sampled)),
            contributions: contributions(&counts),
            threshold: self.threshold,
            n_dropped: counts.n_dropped(),
            has_population: counts.population().is_some(),
        })
    }

    fn counts_of_project(&self, project: &Project, work: &Work) -> Result<GroupCounts> {
        let with_population = project.population.is_some() || project.population_frame.is_some();
        let choice = Choice { quasi_identifiers: self.quasi_identifiers.clone(), with_population, ..Choice::default() };
        Ok(count(project, &choice, work)?.material.counts)
    }

    /// The records of a file or of a project's data, counted.
    fn counts_of(&self, target: &Path, work: &Work) -> Result<GroupCounts> {
        let is_project = target.is_dir() && target.join("incrowd.toml").exists()
            || target.extension().is_some_and(|extension| extension == "toml");
        if is_project {
            return self.counts_of_project(&Project::open(target)?, work);
        }
        std::fs::metadata(target).map_err(|error| crate::io_error(target, error))?;
        let certificate = beside(target).map(|path| read_certificate(&path)).transpose()?;
        let names = match (&self.quasi_identifiers, &certificate) {
            (Some(names), _) => names.clone(),
            (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
            (None, None) => {
                return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                    .hint(hint("give {quasi_identifiers=A,B,…}, or a project")));
            }
        };
        let delimiter = certificate.as_ref().and_then(|certificate| delimiter_of(target, certificate));
        count_file(target, &names, delimiter, work)
    }
}

fn check(threshold: f64, sampled: Option<f64>) -> Result<()> {
    let wrong = |message: String, what: &'static str| Err(Error::new(ErrorKind::Request, message).hint(hint(what)));
    if !(0.0..=1.0).contains(&threshold) {
        return wrong(format!("a threshold of {threshold} is no probability"), "for example {threshold=0.05}");
    }
    if sampled.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        return wrong("a share of the population is above 0 and at most 1".into(), "for example {sampled=0.1}");
    }
    Ok(())
}

fn count_file(path: &Path, names: &[String], delimiter: Option<u8>, work: &Work) -> Result<GroupCounts> {
    let source = Source::open(path, &CsvOptions { delimiter })?;
    names.iter().try_for_each(|name| source.check_column(name))?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    count_source(&source, &names, &[], &Missing::default(), work)
}
