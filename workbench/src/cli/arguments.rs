//! What the flags of commands mean: from texts as typed to typed orders.

use std::path::PathBuf;
use std::time::Duration;

use incrowd::recode::per_record::{Risk, Utility};
use incrowd::search::partial::{Estimator, Selection};
use incrowd::{Error, ErrorKind, Ranking, Result};

use super::terminal::Terminal;
use crate::input::from_level::from_level;
use crate::input::project::{CriterionText, Project};
pub use crate::memory::parse_memory;
use crate::orders::extent::{Extent, ExtentWish, Otherwise};
use crate::orders::per_record::PerRecordWish;
pub use crate::orders::request::levels;
use crate::orders::request::{About, GivenRequest, Suppression, criterion_text, fraction, share_of};
use crate::output::staged::{check_picture, write_whole};
use crate::work::{Watch, Work};

/// Flags of every command that works on a project.
#[derive(Clone, Debug, clap::Args)]
pub struct ProjectArgs {
    /// Folder of the project, or its incrowd.toml
    #[arg(default_value = ".")]
    pub project: PathBuf,
    /// Read this file instead of the one that the project names, such as the next delivery of the data
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Let the database count labels of these levels in place of values; levels are then numbered from there
    #[arg(long, value_name = "A=LEVEL,…", value_delimiter = ',')]
    pub from_level: Option<Vec<String>>,
    /// Use only these quasi-identifiers in this run, in this order; the others are left out of a release
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub quasi_identifiers: Option<Vec<String>>,
    /// The sensitive attribute that criteria are about, where the project has several and they do not say
    #[arg(long, value_name = "NAME")]
    pub sensitive: Option<String>,
    /// Threads to work with [default: one per core]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, value_parser = clap::value_parser!(u16).range(0..=256))]
    pub threads: u16,
    /// Memory that the lattice, or the people to look up, may take, such as 500MB or 4GB [default: three quarters of
    /// what is free]
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
}

/// Flags that say how much privacy is wanted.
///
/// Where there are several sensitive attributes, NAME: before a value says which one it is about: --l disease:3.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(
    next_help_heading = "Privacy, in every published group (NAME:VALUE where there are several sensitive attributes)"
)]
pub struct CriteriaArgs {
    /// k-anonymity: at least K records alike
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub k: Option<String>,
    /// k-map: at least K people of the population alike
    #[arg(long, value_name = "K", allow_hyphen_values = true)]
    pub k_map: Option<String>,
    #[command(flatten)]
    pub beside: BesideK,
}

/// Those that are about sensitive attributes.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(
    next_help_heading = "Privacy, in every published group (NAME:VALUE where there are several sensitive attributes)"
)]
pub struct BesideK {
    /// Distinct l-diversity: at least L different sensitive values
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub l: Vec<String>,
    /// (α,k)-anonymity: no sensitive value in more than this share of the records
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub alpha: Vec<String>,
    /// Entropy l-diversity: sensitive values as uncertain as L equally frequent ones
    #[arg(long, value_name = "L", allow_hyphen_values = true)]
    pub entropy_l: Vec<String>,
    /// Recursive (c,l)-diversity: the most frequent value less than C times the L-th and all rarer ones
    #[arg(long, value_name = "C,L", allow_hyphen_values = true)]
    pub recursive: Vec<String>,
    /// t-closeness: sensitive values distributed as in the table, up to T in the attribute's distance
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub t: Vec<String>,
    /// δ-disclosure: no value e^DELTA times as likely or unlikely as in the table
    #[arg(long, value_name = "DELTA", allow_hyphen_values = true)]
    pub delta: Vec<String>,
    /// β-likeness: no value more likely than in the table by more than BETA times its share there
    #[arg(long, value_name = "BETA", allow_hyphen_values = true)]
    pub beta: Vec<String>,
    /// Enhanced β-likeness: as β-likeness, and frequent values bounded more tightly
    #[arg(long, value_name = "BETA", allow_hyphen_values = true)]
    pub enhanced_beta: Vec<String>,
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
    /// Which of several satisfying schemes is best: ncp, height (the papers' order), discernibility, group-size,
    /// precision, entropy, or a mix such as ncp=2,precision=1 [default: ncp]
    #[arg(long, value_name = "QUALITY")]
    pub best_by: Option<String>,
}

impl ProjectArgs {
    pub fn open(&self) -> Result<Project> {
        let project = Project::open(&self.project)?.with_data(self.data.as_deref())?;
        match &self.from_level {
            None => Ok(project),
            Some(list) => {
                let n_bytes_max = self.memory.as_deref().map(parse_memory).transpose()?;
                let work = Work::new(Some(usize::from(self.threads)), n_bytes_max, Watch::default());
                from_level(project, &levels(list)?, &work)
            }
        }
    }

    pub fn about(&self) -> About {
        About { quasi_identifiers: self.quasi_identifiers.clone(), sensitive: self.sensitive.clone() }
    }

    /// Work with the threads and the memory that the flags allow, shown on the terminal.
    pub fn work(&self, terminal: &Terminal) -> Result<Work> {
        let n_bytes_max = self.memory.as_deref().map(parse_memory).transpose()?;
        Ok(terminal.work(usize::from(self.threads), n_bytes_max))
    }

    /// Refuses a limit on a lattice where `who` makes none, and no database is read.
    pub fn check_no_lattice(&self, who: &str) -> Result<()> {
        let counts_there = || Project::open(&self.project).is_ok_and(|project| project.database.is_some());
        match self.memory {
            Some(_) if !counts_there() => Err(Error::new(
                ErrorKind::Request,
                format!("--memory is about the lattice of schemes, and {who} makes none"),
            )
            .hint("leave it out")),
            _ => Ok(()),
        }
    }
}

impl CriteriaArgs {
    /// The criteria as they were typed.
    pub fn texts(&self) -> Vec<CriterionText> {
        let whole =
            |name, value: &Option<String>| value.clone().map(|value| CriterionText { name, attribute: None, value });
        let of_groups = whole("k", &self.k).into_iter().chain(whole("k_map", &self.k_map));
        of_groups.chain(self.beside.texts()).collect()
    }

    pub fn given(&self) -> GivenRequest {
        GivenRequest::of_criteria(self.texts())
    }
}

impl BesideK {
    /// The criteria as they were typed.
    pub fn texts(&self) -> Vec<CriterionText> {
        let mut texts = Vec::new();
        for (name, values) in [
            ("l", &self.l),
            ("alpha", &self.alpha),
            ("entropy_l", &self.entropy_l),
            ("recursive", &self.recursive),
            ("t", &self.t),
            ("delta", &self.delta),
            ("beta", &self.beta),
            ("enhanced_beta", &self.enhanced_beta),
        ] {
            texts.extend(values.iter().map(|value| criterion_text(name, value)));
        }
        texts
    }
}

impl RequestArgs {
    pub fn given(&self) -> Result<GivenRequest> {
        Ok(GivenRequest {
            criteria: self.criteria.texts(),
            max_suppressed: self.max_suppressed.as_deref().map(Suppression::parse).transpose()?,
            max_level: self.max_level.as_deref().map(levels).transpose()?,
            best_by: self.best_by.as_deref().map(Ranking::parse).transpose()?,
            with_standing: true,
        })
    }
}

/// Flags of releases whose records are generalized one by one.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "With --method per-record: every record on its own; the release is NOT k-anonymous")]
pub struct PerRecordArgs {
    /// The least risk that leaves every record this utility: a number, or a share such as 60% of a record's as it is
    #[arg(long, value_name = "U|P%", allow_hyphen_values = true)]
    pub utility_at_least: Option<String>,
    /// The most utility that leaves every record at most this risk
    #[arg(long, value_name = "R", allow_hyphen_values = true, value_parser = parse_number)]
    pub risk_at_most: Option<f64>,
    /// The least risk − LAMBDA · utility
    #[arg(long, value_name = "LAMBDA", allow_hyphen_values = true, value_parser = parse_number)]
    pub lambda: Option<f64>,
    /// How utility is measured [default: depth]
    #[arg(long, value_name = "MODEL", value_parser = Utility::ALL.map(Utility::name))]
    pub utility: Option<String>,
    /// How risk is measured [default: sensitivity]
    #[arg(long, value_name = "MODEL", value_parser = Risk::ALL.map(Risk::name))]
    pub risk: Option<String>,
    /// Whom an attacker knows: a table with the same quasi-identifiers [default: the table itself]
    #[arg(long, value_name = "FILE")]
    pub dictionary: Option<PathBuf>,
    /// Texts of the dictionary fit that are alike by at least this (Jaro, from 0 to 1) [default: the same text]
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = parse_number)]
    pub similarity: Option<f64>,
    /// How sensitive values are: a CSV file with the columns attribute, value, weight [default: all 1]
    #[arg(long, value_name = "FILE", conflicts_with = "weights_seed")]
    pub weights: Option<PathBuf>,
    /// Random sensitivities from 0 to 1, as in the paper
    #[arg(long, value_name = "N")]
    pub weights_seed: Option<u64>,
    /// Afterwards, generalize further until every group has K records
    #[arg(long, value_name = "K")]
    pub also_k: Option<u64>,
}

impl PerRecordArgs {
    /// The first flag that is given, if any.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--utility-at-least", self.utility_at_least.is_some()),
            ("--risk-at-most", self.risk_at_most.is_some()),
            ("--lambda", self.lambda.is_some()),
            ("--utility", self.utility.is_some()),
            ("--risk", self.risk.is_some()),
            ("--dictionary", self.dictionary.is_some()),
            ("--similarity", self.similarity.is_some()),
            ("--weights", self.weights.is_some()),
            ("--weights-seed", self.weights_seed.is_some()),
            ("--also-k", self.also_k.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    pub fn wish(&self) -> Result<PerRecordWish> {
        Ok(PerRecordWish {
            utility_at_least: self.utility_at_least.clone(),
            risk_at_most: self.risk_at_most,
            lambda: self.lambda,
            utility: self.utility.as_deref().map(Utility::parse).transpose()?,
            risk: self.risk.as_deref().map(Risk::parse).transpose()?,
            dictionary: self.dictionary.clone(),
            similarity: self.similarity,
            weights: self.weights.clone(),
            weights_seed: self.weights_seed,
            also_k: self.also_k,
            as_published: None,
        })
    }
}

/// How long to search on demand where nobody says, as a flag.
pub const TIME: &str = "1m";

/// Flags that say how much of the lattice is made.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(
    next_help_heading = "How much of the lattice is made [default: all of it, where it fits and takes less than about a minute]"
)]
pub struct ExtentArgs {
    /// Make the whole lattice, however long it takes
    #[arg(long, conflicts_with_all = ["on_demand", "partial"])]
    pub full: bool,
    /// Make the most promising schemes of every height only, this share of them and at least two
    #[arg(long, value_name = "P%", num_args = 0..=1, default_missing_value = "5%", conflicts_with = "on_demand")]
    pub partial: Option<String>,
    /// What makes schemes promising: gamma, mu, gamma-mu or lambda [default: lambda]
    #[arg(long, value_name = "NAME")]
    pub estimator: Option<String>,
    /// Make no lattice: evaluate schemes as the search needs them
    #[arg(long)]
    pub on_demand: bool,
}

impl ExtentArgs {
    /// What the flags say about the lattice.
    pub fn wish(&self) -> Result<ExtentWish> {
        let estimator = self.estimator.as_deref().map(Estimator::parse).transpose()?;
        Ok(ExtentWish { forced: self.forced(estimator)?, estimator })
    }

    fn forced(&self, estimator: Option<Estimator>) -> Result<Option<Extent>> {
        if let Some(text) = &self.partial {
            let selection = Selection { share: parse_share(text)?, ..Selection::default() };
            return Ok(Some(Extent::Partial(Selection {
                estimator: estimator.unwrap_or(selection.estimator),
                ..selection
            })));
        }
        match (self.full, self.on_demand) {
            (true, _) => Ok(Some(Extent::Full)),
            (_, true) => Ok(Some(Extent::OnDemand)),
            _ => Ok(None),
        }
    }

    /// The first of these flags that was given.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            ("--full", self.full),
            ("--partial", self.partial.is_some()),
            ("--on-demand", self.on_demand),
            ("--estimator", self.estimator.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }

    /// Refuses flags that would do nothing; `otherwise` is what is done where the whole lattice is too much.
    pub fn check(&self, otherwise: Otherwise) -> Result<()> {
        let may_be_partial = otherwise == Otherwise::Partial && !self.full && !self.on_demand;
        match self.estimator.is_some() && self.partial.is_none() && !may_be_partial {
            true => Err(Error::new(ErrorKind::Request, "--estimator is about partial lattices")
                .hint("leave it out, or add --partial 5%")),
            false => Ok(()),
        }
    }
}

/// Where a page with charts goes.
#[derive(Clone, Debug, clap::Args)]
pub struct PageArgs {
    /// Write a page with charts, .html
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replace a file that is there already
    #[arg(long)]
    pub force: bool,
}

/// How the numbers of a study are shown: as a table, as CSV, as a page with charts.
#[derive(Clone, Debug, clap::Args)]
pub struct ShownArgs {
    /// Print as CSV
    #[arg(long, conflicts_with = "json")]
    pub csv: bool,
    #[command(flatten)]
    pub page: PageArgs,
}

impl PageArgs {
    /// Refuses a place for the page before any work is done; without a project, one that is no page.
    pub fn check(&self, project: Option<&Project>) -> Result<()> {
        let Some(path) = &self.output else { return Ok(()) };
        project.map_or(Ok(()), |project| project.check_output(path))?;
        check_picture(path, &["html"], self.force)
    }

    /// Writes the page, where one is wanted.
    pub fn write(&self, page: impl FnOnce() -> String) -> Result<()> {
        self.output.as_ref().map_or(Ok(()), |path| write_whole(path, page().as_bytes(), self.force))
    }

    /// Says where the page is.
    pub fn say(&self, terminal: &Terminal) {
        if let Some(path) = &self.output {
            terminal.say(format!("\n  charts  {}", path.display()));
        }
    }
}

/// `5%` or `1/20`, above 0 and at most 100.
pub fn parse_share(text: &str) -> Result<f64> {
    match share_of(text) {
        Some(share) if share > 0.0 && share <= 1.0 => Ok(share),
        _ => Err(Error::new(ErrorKind::Request, format!("'{text}' is not a share of the schemes"))
            .hint("for example --partial 5%")),
    }
}

/// `0.25` or `1/4`.
pub fn parse_number(text: &str) -> std::result::Result<f64, String> {
    fraction(text).map_or_else(|| text.trim().parse().map_err(|_| "it is not a number".to_string()), Ok)
}

/// `30s`, `5m` or `2h`.
pub fn parse_time(text: &str) -> Result<Duration> {
    let text = text.trim();
    let (digits, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let factor = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => f64::NAN,
    };
    match digits.trim().parse::<f64>().map(|number| number * factor) {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(Error::new(ErrorKind::Request, format!("'{text}' is not a time")).hint("for example --time 30s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds) in
            [("30", Some(30)), ("30s", Some(30)), ("5m", Some(300)), ("2 h", Some(7200)), ("0", Some(0))]
        {
            assert_eq!(parse_time(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
        for text in ["", "-1s", "soon", "5d", "nan"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares() {
        for (text, share) in [("5%", Some(0.05)), ("100 %", Some(1.0)), ("0.5%", Some(0.005))] {
            assert_eq!(parse_share(text).ok(), share, "{text}");
        }
        for text in ["", "0%", "101%", "5", "-5%", "nan%", "%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_memory("4GB").ok(), Some(4_000_000_000));
        assert_eq!(parse_memory("500 MiB").ok(), Some(500_000_000));
        assert!(parse_memory("much").is_err() && parse_memory("-1GB").is_err());
    }
}
