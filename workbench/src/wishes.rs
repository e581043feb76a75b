//! What the flags of a command mean on a project: from texts as typed to a checked request.

use std::path::PathBuf;

use incrowd::criterion::MILLION;
use incrowd::error::unknown;
use incrowd::lattice::update::{is_worthwhile, updated};
use incrowd::scheme::n_schemes;
use incrowd::search::partial::{Selection, n_selected};
use incrowd::task::Task;
use incrowd::wire;
use incrowd::{
    Criteria, Criterion, Error, ErrorKind, GroupCounts, Hierarchy, Lattice, Level, Measure, Offer, Plan, Ranking,
    Request, Result, Role, Scheme,
};

use crate::count::{Choice, Counted, Material, check_sensitive, count};
use crate::project::{CRITERIA, CriterionText, Project};
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
    #[arg(long, value_name = "K")]
    pub k: Option<u64>,
    /// k-map: at least K people of the population alike
    #[arg(long, value_name = "K")]
    pub k_map: Option<u64>,
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

/// The privacy that is wanted, and the sensitive attributes it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Privacy {
    pub criteria: Criteria,
    /// In the project's order; criteria name them by their number here.
    pub sensitive: Vec<String>,
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
    /// Which of several satisfying schemes is best: height, ncp, discernibility, group-size, precision, entropy, or a
    /// mix such as ncp=2,precision=1 [default: height]
    #[arg(long, value_name = "QUALITY")]
    pub best_by: Option<String>,
}

impl ProjectArgs {
    pub fn choice(&self, privacy: &Privacy) -> Choice {
        Choice {
            quasi_identifiers: self.quasi_identifiers.clone(),
            sensitive: Some(privacy.sensitive.clone()),
            with_population: privacy.criteria.value(Measure::Population).is_some(),
            n_threads: usize::from(self.threads),
        }
    }

    /// No privacy yet, and the sensitive attribute that the project or the flags name.
    pub fn no_privacy(&self, project: &Project) -> Result<Privacy> {
        let none = Project { request: Default::default(), ..project.clone() };
        CriteriaArgs::default().resolve(&none, self.sensitive.as_deref())
    }

    pub fn open(&self) -> Result<Project> {
        Project::open(&self.project)
    }

    pub fn count(&self, project: &Project, privacy: &Privacy, talk: &Talk) -> Result<Counted> {
        count(project, &self.choice(privacy), talk)
    }

    /// Annotates the lattice of a counted project with what the criteria and the ranking look at.
    pub fn annotate(&self, counted: &Material, criteria: &Criteria, best_by: &Ranking, talk: &Talk) -> Result<Lattice> {
        let measures = criteria.iter().map(|criterion| criterion.measure).collect();
        self.annotate_some(counted, measures, best_by.needs_entropy(), None, talk)
    }

    /// Annotates all schemes, or those that a selection finds promising, with some measures.
    pub fn annotate_some(
        &self,
        counted: &Material,
        measures: Vec<Measure>,
        with_entropy: bool,
        selection: Option<Selection>,
        talk: &Talk,
    ) -> Result<Lattice> {
        let n_schemes = match selection {
            Some(selection) => n_selected(&counted.hierarchies, selection)?,
            None => n_schemes(&counted.hierarchies).unwrap_or(u64::MAX),
        };
        let bar = talk.things("annotating", n_schemes, "schemes");
        let task = Task {
            n_bytes_max: self.n_bytes_max()?,
            progress: &|n| bar.inc(n),
            is_cancelled: &|| bar.is_finished(),
            ..Task::default()
        };
        let lattice = self.on_threads(|| counted.annotate_some(measures, with_entropy, selection, &task))?;
        bar.finish_and_clear();
        lattice
    }

    /// The lattice after records came or went, where it need not be annotated anew.
    pub fn follow(
        &self,
        lattice: &Lattice,
        before: &GroupCounts,
        after: &Material,
        talk: &Talk,
    ) -> Result<Option<Lattice>> {
        if !is_worthwhile(before, &after.counts) {
            return Ok(None);
        }
        let (weights, yardstick) = (after.weights(), after.yardstick(lattice.measures().iter().copied())?);
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: lattice.entropies().is_some() };
        // Once as it was, once as it is.
        let bar = talk.things("annotating what changed", 2 * lattice.schemes().len() as u64, "schemes");
        let task = Task {
            n_bytes_max: self.n_bytes_max()?,
            progress: &|n| bar.inc(n),
            is_cancelled: &|| bar.is_finished(),
            ..Task::default()
        };
        let updated = self.on_threads(|| updated(lattice, before, &after.counts, &plan, &task))?;
        bar.finish_and_clear();
        updated
    }

    /// The memory that the lattice, or what is known of it, may take.
    pub fn n_bytes_max(&self) -> Result<u64> {
        match &self.memory {
            Some(text) => parse_memory(text),
            None => Ok(free_memory() / 4 * 3),
        }
    }

    /// Refuses a limit on a lattice where `who` makes none.
    pub fn check_no_lattice(&self, who: &str) -> Result<()> {
        match self.memory {
            Some(_) => Err(Error::new(
                ErrorKind::Request,
                format!("--memory is about the lattice of schemes, and {who} makes none"),
            )
            .hint("leave it out")),
            None => Ok(()),
        }
    }

    /// Works with as many threads as the flags say.
    pub fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T> {
        let n_threads = Choice { n_threads: usize::from(self.threads), ..Choice::default() }.n_threads();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .build()
            .map_err(|error| Error::new(ErrorKind::Io, format!("could not start threads: {error}")))?;
        Ok(pool.install(work))
    }
}

impl CriteriaArgs {
    /// The criteria as they were typed.
    pub fn texts(&self) -> Vec<CriterionText> {
        let whole = |name, value: Option<u64>| {
            value.map(|value| CriterionText { name, attribute: None, value: value.to_string() })
        };
        let mut texts: Vec<CriterionText> = whole("k", self.k).into_iter().chain(whole("k_map", self.k_map)).collect();
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
            texts.extend(values.iter().map(|value| match value.rsplit_once(':') {
                Some((attribute, value)) => {
                    CriterionText { name, attribute: Some(attribute.trim().to_string()), value: value.to_string() }
                }
                None => CriterionText { name, attribute: None, value: value.clone() },
            }));
        }
        texts
    }

    /// The flags, and where one is not given the project's standing wish for it.
    ///
    /// `sensitive` is the attribute of criteria that name none, where the project has several.
    pub fn resolve(&self, project: &Project, sensitive: Option<&str>) -> Result<Privacy> {
        let given = self.texts();
        let standing = project.request.criteria.iter();
        let standing = standing.filter(|text| given.iter().all(|given| given.name != text.name));
        let texts: Vec<CriterionText> = CRITERIA
            .iter()
            .flat_map(|name| given.iter().chain(standing.clone()).filter(move |text| text.name == *name))
            .cloned()
            .collect();
        if let Some(name) = sensitive {
            check_sensitive(project, name)?;
        }
        let known: Vec<&str> = project.with_role(Role::Sensitive).map(|attribute| attribute.name.as_str()).collect();
        let privacy = resolve(&texts, &known, sensitive).map_err(|error| match known.is_empty() {
            true => error.hint("give one attribute role = \"sensitive\" in incrowd.toml"),
            false => error,
        })?;
        Ok(privacy)
    }
}

impl Privacy {
    /// The same criteria, with attributes numbered as in `all`, which holds at least those that are named.
    pub fn about(&self, all: &[String]) -> Privacy {
        let named = &self.sensitive;
        let criterion = |criterion: Criterion| {
            let key = wire::key(criterion.measure, named);
            let key = match (criterion.measure.sensitive(), named.len()) {
                (Some(s), 1) => format!("{}:{key}", named[s]),
                _ => key,
            };
            wire::criterion_of(&key, &wire::value(criterion), all).expect("named attributes are among all")
        };
        Privacy { criteria: Criteria::new(self.criteria.iter().map(criterion)), sensitive: all.to_vec() }
    }
}

/// Gives every criterion its sensitive attribute, and reads its value.
///
/// `known` are the sensitive attributes; `chosen` is that of criteria which name none, where there are several.
pub fn resolve(texts: &[CriterionText], known: &[&str], chosen: Option<&str>) -> Result<Privacy> {
    let wrong = |message: String| Error::new(ErrorKind::Request, message);
    let default = match (chosen, known) {
        (Some(name), _) => Some(name),
        (None, [only]) => Some(*only),
        (None, _) => None,
    };
    let mut named: Vec<&str> = Vec::new();
    for text in texts {
        let CriterionText { name, attribute, value } = text;
        let needs_attribute = !["k", "k_map"].contains(name);
        match (attribute.as_deref(), default) {
            (None, _) if !needs_attribute => {}
            (Some(attribute), _) if !needs_attribute => {
                return Err(wrong(format!("{name} is about groups, not about the attribute '{attribute}'")));
            }
            (Some(attribute), _) if known.contains(&attribute) => named.push(attribute),
            (Some(attribute), _) => return Err(unknown(ErrorKind::Request, "sensitive attribute", attribute, known)),
            (None, Some(default)) => named.push(default),
            (None, None) if known.is_empty() => {
                return Err(wrong(format!("{name} needs a sensitive attribute, and none is named")));
            }
            (None, None) => {
                let example = format!("--{} {}:{value}", name.replace('_', "-"), known[0]);
                return Err(wrong(format!("there are several sensitive attributes: which one is {name} about?"))
                    .hint(format!("for example {example}, or choose with --sensitive: {}", known.join(", "))));
            }
        }
    }
    // Where no criterion needs one, the sensitive attribute is still looked at, for the report.
    if named.is_empty() {
        named.extend(default);
    }
    let sensitive: Vec<String> =
        known.iter().filter(|name| named.contains(name)).map(|name| name.to_string()).collect();
    let criterion = |text: &CriterionText| {
        let name = text.attribute.as_deref().or(default);
        let s = name.and_then(|name| sensitive.iter().position(|known| known == name)).unwrap_or(0);
        parse_criterion(text, s)
    };
    let criteria = Criteria::new(texts.iter().map(criterion).collect::<Result<Vec<_>>>()?);
    let mut keys: Vec<String> = criteria.iter().map(|criterion| wire::key(criterion.measure, &sensitive)).collect();
    keys.sort_unstable();
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(wrong(format!("{} is asked for twice, with different l", pair[0])).hint("give one of them"));
    }
    Ok(Privacy { criteria, sensitive })
}

/// Reads a criterion's value; `sensitive` is the number of its attribute.
fn parse_criterion(text: &CriterionText, sensitive: usize) -> Result<Criterion> {
    let CriterionText { name, value, .. } = text;
    let wrong = |what: &str, example: &str| {
        let flag = name.replace('_', "-");
        Error::new(ErrorKind::Request, format!("'{value}' is not {what} for {name}"))
            .hint(format!("for example --{flag} {example}"))
    };
    let whole = |text: &str, example: &str| text.trim().parse::<u64>().map_err(|_| wrong("a whole number", example));
    let millionths = |text: &str, example: &str| {
        parse_millionths(text).ok_or_else(|| wrong("a number of at most six decimals", example))
    };
    let (measure, value) = match *name {
        "k" => (Measure::Size, whole(value, "10")?),
        "k_map" => (Measure::Population, whole(value, "10")?),
        "l" => (Measure::Distinct(sensitive), whole(value, "3")?),
        "recursive" => {
            let (c, l) = value.split_once(',').ok_or_else(|| wrong("a ratio and a number", "2,3"))?;
            let l = whole(l, "2,3")?.min(u64::from(u32::MAX)) as u32;
            (Measure::Recursive { sensitive, l }, millionths(c, "2,3")?)
        }
        "alpha" => (Measure::Share(sensitive), millionths(value, "0.5")?),
        "entropy_l" => (Measure::Entropy(sensitive), millionths(value, "2.5")?),
        "t" => (Measure::Closeness(sensitive), millionths(value, "0.2")?),
        "delta" => (Measure::Disclosure(sensitive), millionths(value, "1.5")?),
        "beta" => (Measure::Likeness(sensitive), millionths(value, "2")?),
        "enhanced_beta" => (Measure::EnhancedLikeness(sensitive), millionths(value, "2")?),
        name => unreachable!("{name} is none of the criteria"),
    };
    Ok(Criterion { measure, value })
}

/// `0.25` as 250,000; exactly, or not at all.
fn parse_millionths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && decimals.is_empty() || !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > 6 {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // Beyond a billion there is no criterion left.
    let whole = (whole < 1_000_000_000).then_some(whole)?;
    Some(whole * MILLION + format!("{decimals:0<6}").parse::<u64>().ok()?)
}

impl RequestArgs {
    /// Whether an offer loses more records than the flags or the project allow; nothing is exceeded where neither says.
    pub fn exceeds_suppression(&self, project: &Project, offer: &Offer, n_records: u64) -> Result<bool> {
        match self.max_suppressed.as_ref().or(project.request.max_suppressed.as_ref()) {
            Some(text) => Ok(offer.n_suppressed > parse_suppressed(text, n_records)?),
            None => Ok(false),
        }
    }

    /// Which of several satisfying schemes is best.
    pub fn best_by(&self, project: &Project) -> Result<Ranking> {
        match self.best_by.as_ref().or(project.request.best_by.as_ref()) {
            Some(text) => Ranking::parse(text),
            None => Ok(Ranking::default()),
        }
    }

    pub fn resolve(
        &self,
        project: &Project,
        privacy: &Privacy,
        hierarchies: &[Hierarchy],
        n_records: u64,
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
        let criteria = privacy.criteria.clone();
        Ok(Request { criteria, n_suppressed_max, level_max, best_by: self.best_by(project)? })
    }
}

/// `321`, or `1%` of the records.
pub fn parse_suppressed(text: &str, n_records: u64) -> Result<u64> {
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

/// The place of a quasi-identifier among the hierarchies.
pub fn attribute_index(name: &str, hierarchies: &[Hierarchy]) -> Result<usize> {
    hierarchies.iter().position(|hierarchy| hierarchy.attribute() == name).ok_or_else(|| {
        let names: Vec<&str> = hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
        unknown(ErrorKind::Request, "quasi-identifier", name, &names)
    })
}

/// A level by its number or its name.
pub fn parse_level(text: &str, hierarchy: &Hierarchy) -> Result<Level> {
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
pub fn parse_memory(text: &str) -> Result<u64> {
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
pub fn free_memory() -> u64 {
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
    fn numbers_are_read_exactly() {
        for (text, millionths) in [
            ("0.2", Some(200_000)),
            ("1", Some(1_000_000)),
            (".5", Some(500_000)),
            ("2.", Some(2_000_000)),
            ("0.1234560", Some(123_456)),
            ("0.1234567", None),
            ("1e-3", None),
            ("-1", None),
            ("", None),
            (".", None),
            ("0,2", None),
            ("9999999999999", None),
        ] {
            assert_eq!(parse_millionths(text), millionths, "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_memory("4GB").ok(), Some(4_000_000_000));
        assert_eq!(parse_memory("500 MiB").ok(), Some(500_000_000));
        assert!(parse_memory("much").is_err() && parse_memory("-1GB").is_err());
    }
}
