//! What the flags of a command mean on a project: from texts as typed to a checked request.

use std::path::PathBuf;

use incrowd::error::unknown;
use incrowd::lattice::Effort;
use incrowd::scheme::n_schemes;
use incrowd::{Criteria, Error, ErrorKind, Hierarchy, Lattice, Level, Offer, Request, Result, Scheme};

use crate::count::{Choice, Counted, count};
use crate::project::{Project, StandingRequest};
use crate::talk::Talk;

/// Flags of every command that works on a project.
#[derive(Clone, Debug, clap::Args)]
pub struct ProjectArgs {
    /// Folder of the project, or its incrowd.toml
    #[arg(default_value = ".")]
    pub project: PathBuf,
    /// Use only these quasi-identifiers in this run; the others are left out of a release
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// The sensitive attribute, where the project has several
    #[arg(long, value_name = "NAME")]
    pub sensitive: Option<String>,
    /// Threads to work with [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u16).range(0..=256))]
    pub threads: u16,
    /// Memory that the lattice may take, such as 500MB or 4GB [default: three quarters of what is free]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
}

/// Flags that say how much privacy is wanted.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CriteriaArgs {
    /// k-anonymity: at least K records alike in every published group
    #[arg(long, value_name = "K")]
    pub k: Option<u64>,
    /// Distinct l-diversity: at least L different sensitive values in every published group
    #[arg(long, value_name = "L")]
    pub l: Option<u64>,
}

/// Flags that make up a request; what is not given is taken from [request] in the project file.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct RequestArgs {
    #[command(flatten)]
    pub criteria: CriteriaArgs,
    /// Most records that may be lost: a number, or a share such as 1% [default: 0]
    #[arg(long, value_name = "N|P%", allow_hyphen_values = true)]
    pub max_suppressed: Option<String>,
    /// Coarsest level of each attribute, by number or name; an attribute not named may go to its top
    #[arg(long, value_name = "A=LEVEL,…", value_delimiter = ',', allow_hyphen_values = true)]
    pub max_level: Option<Vec<String>>,
}

impl ProjectArgs {
    pub fn choice(&self) -> Choice {
        Choice {
            quasi_identifiers: self.quasi_identifiers.clone(),
            sensitive: self.sensitive.clone(),
            n_threads: usize::from(self.threads),
        }
    }

    pub fn open(&self) -> Result<Project> {
        Project::open(&self.project)
    }

    pub fn count(&self, project: &Project, talk: &Talk) -> Result<Counted> {
        count(project, &self.choice(), talk)
    }

    /// Annotates the lattice of a counted project, with a progress bar.
    pub fn annotate(&self, counted: &Counted, talk: &Talk) -> Result<Lattice> {
        let n_bytes_max = match &self.memory {
            Some(text) => parse_memory(text)?,
            None => free_memory() / 4 * 3,
        };
        let n_schemes = n_schemes(&counted.hierarchies).unwrap_or(u64::MAX);
        let bar = talk.things("annotating", n_schemes, "schemes");
        let effort = Effort { n_bytes_max, progress: &|n| bar.inc(n as u64) };
        let weights = counted.weights();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.choice().n_threads())
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, format!("could not start threads: {error}")))?;
        let lattice = pool.install(|| incrowd::annotate(&counted.counts, &counted.hierarchies, &weights, &effort));
        bar.finish_and_clear();
        lattice
    }
}

impl CriteriaArgs {
    /// The flags, and where one is not given the project's standing wish for it.
    pub fn resolve(&self, standing: &StandingRequest, talk: &Talk) -> Criteria {
        let criteria = Criteria { k: self.k.or(standing.k), l: self.l.or(standing.l) };
        if criteria.k == Some(1) {
            talk.note("k = 1 hides no one: every record may stand alone");
        }
        criteria
    }
}

impl RequestArgs {
    /// Whether an offer loses more records than the flags or the project allow; nothing is exceeded where neither says.
    pub fn exceeds_suppression(&self, project: &Project, offer: &Offer, n_records: u64) -> Result<bool> {
        match self.max_suppressed.as_ref().or(project.request.max_suppressed.as_ref()) {
            Some(text) => Ok(offer.n_suppressed > parse_suppressed(text, n_records)?),
            None => Ok(false),
        }
    }

    pub fn resolve(
        &self,
        project: &Project,
        hierarchies: &[Hierarchy],
        n_records: u64,
        talk: &Talk,
    ) -> Result<Request> {
        let standing = &project.request;
        let n_suppressed_max = match self.max_suppressed.as_ref().or(standing.max_suppressed.as_ref()) {
            Some(text) => parse_suppressed(text, n_records)?,
            None => 0,
        };
        let tops = Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect());
        let level_max = match &self.max_level {
            Some(list) => with_levels(&tops, list, hierarchies)?,
            None => standing_levels(&tops, project, hierarchies)?,
        };
        Ok(Request { criteria: self.criteria.resolve(standing, talk), n_suppressed_max, level_max })
    }
}

/// `321`, or `1%` of the records.
fn parse_suppressed(text: &str, n_records: u64) -> Result<u64> {
    let wrong = |message: String| {
        Error::new(ErrorKind::Request, message).hint("give a number of records such as 321, or a share from 0% to 100%")
    };
    if let Some(percent) = text.trim().strip_suffix('%') {
        let percent: f64 = percent.trim().parse().map_err(|_| wrong(format!("'{text}' is not a percentage")))?;
        if !(0.0..=100.0).contains(&percent) {
            return Err(wrong(format!("{text} of the records cannot be suppressed")));
        }
        // A hair more, so that 30 % of 10 is 3 however the computer writes 0.3.
        return Ok((percent / 100.0 * n_records as f64 * (1.0 + 1e-12) + 1e-9).floor().min(n_records as f64) as u64);
    }
    let n: i128 = text.trim().parse().map_err(|_| wrong(format!("'{text}' is not a number of records")))?;
    match u64::try_from(n) {
        Ok(n) if n <= n_records => Ok(n),
        Ok(n) => Err(wrong(format!("{n} records cannot be suppressed, there are {n_records}"))),
        Err(_) => Err(wrong(format!("{n} records cannot be suppressed"))),
    }
}

/// `age=2` or `admission=month`, over a scheme that holds for the attributes not named.
pub fn with_levels(start: &Scheme, list: &[String], hierarchies: &[Hierarchy]) -> Result<Scheme> {
    let mut scheme = start.clone();
    let mut named: Vec<&str> = Vec::new();
    for entry in list.iter().filter(|entry| !entry.trim().is_empty()) {
        let (name, level) = entry.split_once('=').ok_or_else(|| {
            Error::new(ErrorKind::Request, format!("'{entry}' is not an attribute and its level"))
                .hint("for example --max-level age=2,sex=0")
        })?;
        let (name, level) = (name.trim(), level.trim());
        if named.contains(&name) {
            return Err(Error::new(ErrorKind::Request, format!("attribute '{name}' is given two levels")));
        }
        named.push(name);
        let attribute = attribute_index(name, hierarchies)?;
        scheme = scheme.with(attribute, parse_level(level, &hierarchies[attribute])?);
    }
    Ok(scheme)
}

fn standing_levels(tops: &Scheme, project: &Project, hierarchies: &[Hierarchy]) -> Result<Scheme> {
    let mut scheme = tops.clone();
    for (name, level) in &project.request.max_level {
        project
            .attribute(name)
            .map_err(|error| error.at(format!("{}: [request] max_level", project.file.display())))?;
        // An attribute that takes no part in this run limits nothing.
        if let Ok(attribute) = attribute_index(name, hierarchies) {
            scheme = scheme.with(attribute, parse_level(&level.to_string(), &hierarchies[attribute])?);
        }
    }
    Ok(scheme)
}

fn attribute_index(name: &str, hierarchies: &[Hierarchy]) -> Result<usize> {
    hierarchies.iter().position(|hierarchy| hierarchy.attribute() == name).ok_or_else(|| {
        let names: Vec<&str> = hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
        unknown(ErrorKind::Request, "quasi-identifier", name, &names)
    })
}

fn parse_level(text: &str, hierarchy: &Hierarchy) -> Result<Level> {
    let by_name = || (0..hierarchy.n_levels()).find(|&level| hierarchy.level(level).name() == text);
    let level = text.parse::<usize>().ok().or_else(by_name).filter(|&level| level <= hierarchy.top());
    level.map(|level| Level(level as u8)).ok_or_else(|| {
        let names: Vec<String> =
            hierarchy.levels().iter().enumerate().map(|(i, level)| format!("{i} {}", level.name())).collect();
        Error::new(
            ErrorKind::Request,
            format!("attribute '{}' has levels 0 to {}, not {text}", hierarchy.attribute(), hierarchy.top()),
        )
        .hint(format!("its levels are: {}", names.join(", ")))
    })
}

/// `4GB` as bytes.
fn parse_memory(text: &str) -> Result<u64> {
    let lower = text.trim().to_lowercase();
    let (digits, unit) = lower.split_at(lower.find(|c: char| c.is_alphabetic()).unwrap_or(lower.len()));
    let factor = match unit.trim_end_matches("ib").trim_end_matches('b') {
        "" => 1.0,
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "t" => 1e12,
        _ => f64::NAN,
    };
    match digits.trim().parse::<f64>().map(|number| number * factor) {
        Ok(bytes) if bytes.is_finite() && bytes > 0.0 => Ok(bytes as u64),
        _ => Err(Error::new(ErrorKind::Request, format!("'{text}' is not a size")).hint("for example --memory 4GB")),
    }
}

/// What the system could give us without swapping; everything where it does not say.
fn free_memory() -> u64 {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kilobytes = available.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.map_or(u64::MAX, |kilobytes| kilobytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppressed_records_as_number_or_share() {
        for (text, n) in
            [("0", Some(0)), ("321", Some(321)), ("1%", Some(301)), ("30 %", Some(9048)), ("100%", Some(30162))]
        {
            assert_eq!(parse_suppressed(text, 30162).ok(), n, "{text}");
        }
        for text in ["-1", "-1%", "101%", "30163", "x", "%", "nan%", ""] {
            assert!(parse_suppressed(text, 30162).is_err(), "{text}");
        }
        assert_eq!(parse_suppressed("30%", 10).ok(), Some(3));
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_memory("4GB").ok(), Some(4_000_000_000));
        assert_eq!(parse_memory("500 MiB").ok(), Some(500_000_000));
        assert!(parse_memory("much").is_err() && parse_memory("-1GB").is_err());
    }
}
