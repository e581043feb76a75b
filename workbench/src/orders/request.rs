//! What is wanted of a release, from texts as given to a request that is checked on a counted project.

use incrowd::criterion::MILLION;
use incrowd::error::{Step, Wording, unknown};
use incrowd::wire;
use incrowd::{
    Criteria, Criterion, Error, ErrorKind, Hierarchy, Level, Measure, Offer, Ranking, Request, Result, Role, Scheme,
};

use crate::input::count::{Choice, Material, check_sensitive};
use crate::input::project::{CRITERIA, CriterionText, Project};
use crate::note::Note;
use crate::sentences::hint;
use crate::work::Work;

/// Which attributes of a project an order is about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// All of the project where none are chosen; the others are left out of a release.
    pub quasi_identifiers: Option<Vec<String>>,
    /// The sensitive attribute of criteria that name none, where the project has several.
    pub sensitive: Option<String>,
}

/// The privacy that is wanted, and the sensitive attributes it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Privacy {
    pub criteria: Criteria,
    /// In the project's order; criteria name them by their number here.
    pub sensitive: Vec<String>,
}

/// A request as it was given, before it is checked on a counted project: what is wanted beside the method.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenRequest {
    pub criteria: Vec<CriterionText>,
    pub max_suppressed: Option<Suppression>,
    /// The coarsest level of each attribute, by number or name; an attribute not named may go to its top.
    pub max_level: Option<Vec<(String, String)>>,
    pub best_by: Option<Ranking>,
    /// Whether the project's [request] speaks where nothing is said here.
    pub with_standing: bool,
}

/// How many records may be lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Suppression {
    Records(u64),
    /// In percent, and as it was written.
    Share(f64, String),
}

impl Default for GivenRequest {
    /// Nothing but what the project says.
    fn default() -> Self {
        GivenRequest { criteria: Vec::new(), max_suppressed: None, max_level: None, best_by: None, with_standing: true }
    }
}

impl About {
    pub fn choice(&self, privacy: &Privacy) -> Choice {
        Choice {
            quasi_identifiers: self.quasi_identifiers.clone(),
            sensitive: Some(privacy.sensitive.clone()),
            with_population: privacy.criteria.value(Measure::Population).is_some(),
        }
    }

    /// No privacy yet, and the sensitive attribute that the project or the order names.
    pub fn no_privacy(&self, project: &Project) -> Result<Privacy> {
        GivenRequest { with_standing: false, ..GivenRequest::default() }.privacy(project, self)
    }
}

impl GivenRequest {
    /// Those criteria and nothing else.
    pub fn of_criteria(criteria: Vec<CriterionText>) -> GivenRequest {
        GivenRequest { criteria, ..GivenRequest::default() }
    }

    /// The criteria, and where one is not given the project's standing wish for it.
    pub fn privacy(&self, project: &Project, about: &About) -> Result<Privacy> {
        let given = &self.criteria;
        let standing = project.request.criteria.iter().filter(|_| self.with_standing);
        let standing = standing.filter(|text| given.iter().all(|given| given.name != text.name));
        let texts: Vec<CriterionText> = CRITERIA
            .iter()
            .flat_map(|name| given.iter().chain(standing.clone()).filter(move |text| text.name == *name))
            .cloned()
            .collect();
        if let Some(name) = &about.sensitive {
            check_sensitive(project, name)?;
        }
        let known: Vec<&str> = project.with_role(Role::Sensitive).map(|attribute| attribute.name.as_str()).collect();
        resolve(&texts, &known, about.sensitive.as_deref()).map_err(|error| match known.is_empty() {
            true => error.hint(Step::NameSensitive),
            false => error,
        })
    }

    /// Which of several satisfying schemes is best.
    pub fn best_by(&self, project: &Project) -> Result<Ranking> {
        match (&self.best_by, project.request.best_by.as_ref().filter(|_| self.with_standing)) {
            (Some(ranking), _) => Ok(ranking.clone()),
            (None, Some(text)) => Ranking::parse(text),
            (None, None) => Ok(Ranking::default()),
        }
    }

    fn suppression(&self, project: &Project, with_standing: bool) -> Result<Option<Suppression>> {
        match (&self.max_suppressed, project.request.max_suppressed.as_ref().filter(|_| with_standing)) {
            (Some(given), _) => Ok(Some(given.clone())),
            (None, Some(text)) => Suppression::parse(text).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// How many of so many records may be lost.
    pub fn n_suppressed_max(&self, project: &Project, n_records: u64) -> Result<u64> {
        self.suppression(project, self.with_standing)?.map_or(Ok(0), |most| most.of(n_records))
    }

    /// Whether levels of one's own choice lose more records than the order or the project allow; nothing is exceeded where
    /// neither says.
    pub fn exceeds_suppression(&self, project: &Project, offer: &Offer, n_records: u64) -> Result<bool> {
        match self.suppression(project, true)? {
            Some(most) => Ok(offer.n_suppressed > most.of(n_records)?),
            None => Ok(false),
        }
    }

    /// The request, once the levels and the number of records are known.
    pub fn checked(
        &self,
        project: &Project,
        privacy: &Privacy,
        hierarchies: &[Hierarchy],
        n_records: u64,
    ) -> Result<Request> {
        let n_suppressed_max = self.n_suppressed_max(project, n_records)?;
        let tops = Scheme::new(hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect());
        let level_max = match &self.max_level {
            Some(list) => with_levels(&tops, list, hierarchies)?,
            None if self.with_standing => standing_levels(&tops, project, hierarchies)?,
            None => tops,
        };
        let criteria = privacy.criteria.clone();
        Ok(Request { criteria, n_suppressed_max, level_max, best_by: self.best_by(project)? })
    }
}

impl Suppression {
    /// `321`, or `1%` of the records.
    pub fn parse(text: &str) -> Result<Suppression> {
        let wrong = |message: String| Error::new(ErrorKind::Request, message).hint(SUPPRESSION_HINT);
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| wrong(format!("'{text}' is not a percentage")))?;
            return match (0.0..=100.0).contains(&percent) {
                true => Ok(Suppression::Share(percent, text.to_string())),
                false => Err(wrong(format!("{text} of the records cannot be suppressed"))),
            };
        }
        let n: i128 = text.trim().parse().map_err(|_| wrong(format!("'{text}' is not a number of records")))?;
        match u64::try_from(n) {
            Ok(n) => Ok(Suppression::Records(n)),
            Err(_) => Err(wrong(format!("{n} records cannot be suppressed"))),
        }
    }

    /// How many of so many records.
    pub fn of(&self, n_records: u64) -> Result<u64> {
        match *self {
            Suppression::Records(n) if n > n_records => {
                Err(Error::new(ErrorKind::Request, format!("{n} records cannot be suppressed, there are {n_records}"))
                    .hint(SUPPRESSION_HINT))
            }
            Suppression::Records(n) => Ok(n),
            // A hair more, so that 30 % of 10 is 3 however the computer writes 0.3.
            Suppression::Share(percent, _) => {
                Ok((percent / 100.0 * n_records as f64 * (1.0 + 1e-12) + 1e-9).floor().min(n_records as f64) as u64)
            }
        }
    }
}

const SUPPRESSION_HINT: &str = "give a number of records such as 321, or a share from 0% to 100%";

/// From so many records on, a sensitive attribute with a value for every two of them is called nearly unique.
const N_MANY: u64 = 50;

impl Privacy {
    /// Says of which sensitive attributes l promises next to nothing, because nearly all records have a value of their own.
    pub fn note_trivial(&self, material: &Material, work: &Work) {
        let counts = |measure: Measure| {
            matches!(measure, Measure::Distinct(_) | Measure::Entropy(_) | Measure::Recursive { .. })
        };
        let n_records = material.counts.n_records();
        for (s, (attribute, domain)) in material.sensitive.iter().zip(material.counts.sensitive()).enumerate() {
            let of_attribute = |criterion: Criterion| criterion.measure.sensitive() == Some(s);
            let is_asked = self.criteria.iter().any(|criterion| of_attribute(criterion) && counts(criterion.measure));
            let n_values = domain.len() as u64;
            if !is_asked || n_records < N_MANY || n_values * 2 <= n_records {
                continue;
            }
            // A hierarchy that does not fit is no reason to fail: nobody has asked for it.
            let hierarchy = attribute.rule.resolve(&material.counts_as_read().sensitive()[s]).ok();
            let counted = material.count_at[s].as_ref().map_or(0, |(level, _)| *level);
            let between = hierarchy.iter().flat_map(|hierarchy| &hierarchy.levels()[counted + 1..hierarchy.top()]);
            let levels = between.map(|level| (level.name().to_string(), level.len() as u64)).collect();
            work.note(Note::TriviallyDiverse { attribute: attribute.name.clone(), n_values, n_records, levels });
        }
    }

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
                let (attribute, value) = (known[0].to_string(), value.clone());
                let hint = Wording::text("for example ").step(Step::AskAbout { criterion: name, attribute, value });
                let hint = hint.and(", or choose with ").setting("sensitive").and(format!(": {}", known.join(", ")));
                return Err(
                    wrong(format!("there are several sensitive attributes: which one is {name} about?")).hint(hint)
                );
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

/// `0.2`, or `income:0.2` with the sensitive attribute that it is about.
pub fn criterion_text(name: &'static str, text: &str) -> CriterionText {
    match text.rsplit_once(':') {
        Some((attribute, value)) => {
            CriterionText { name, attribute: Some(attribute.trim().to_string()), value: value.to_string() }
        }
        None => CriterionText { name, attribute: None, value: text.to_string() },
    }
}

/// `age=2` or `admission=month`.
pub fn levels(list: &[String]) -> Result<Vec<(String, String)>> {
    let level = |entry: &String| {
        let (name, level) = entry.split_once('=').ok_or_else(|| {
            Error::new(ErrorKind::Request, format!("'{entry}' is not an attribute and its level"))
                .hint(hint("for example {max_level=age=2,sex=0}"))
        })?;
        Ok((name.trim().to_string(), level.trim().to_string()))
    };
    list.iter().filter(|entry| !entry.trim().is_empty()).map(level).collect()
}

/// Reads a criterion's value; `sensitive` is the number of its attribute.
fn parse_criterion(text: &CriterionText, sensitive: usize) -> Result<Criterion> {
    let CriterionText { name, value, .. } = text;
    let wrong = |what: &str, example: &str| {
        Error::new(ErrorKind::Request, format!("'{value}' is not {what} for {name}"))
            .hint(Wording::text("for example ").example(name, example))
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

/// Levels by number or name, over a scheme that holds for the attributes not named.
pub fn with_levels(start: &Scheme, list: &[(String, String)], hierarchies: &[Hierarchy]) -> Result<Scheme> {
    let mut scheme = start.clone();
    for (at, (name, level)) in list.iter().enumerate() {
        if list[..at].iter().any(|(before, _)| before == name) {
            return Err(Error::new(ErrorKind::Request, format!("attribute '{name}' is given two levels")));
        }
        let attribute = attribute_index(name, hierarchies)?;
        scheme = scheme.with(attribute, parse_level(level, &hierarchies[attribute])?);
    }
    Ok(scheme)
}

fn standing_levels(tops: &Scheme, project: &Project, hierarchies: &[Hierarchy]) -> Result<Scheme> {
    let mut scheme = tops.clone();
    for (name, level) in &project.request.max_level {
        project.attribute(name).map_err(|error| {
            error.at(Wording::text(format!("{}: ", project.file.display())).setting("request.max_level"))
        })?;
        // An attribute that takes no part in this run limits nothing.
        if let Ok(attribute) = attribute_index(name, hierarchies) {
            scheme = scheme.with(attribute, parse_level(level, &hierarchies[attribute])?);
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

/// A level by its number, its name (`width 5`, `month`) or how sentences say it (`in steps of 5`, `hidden`).
pub fn parse_level(text: &str, hierarchy: &Hierarchy) -> Result<Level> {
    let named = |is_it: &dyn Fn(usize) -> bool| (0..hierarchy.n_levels()).find(|&level| is_it(level));
    let by_name = || {
        let is_named = |level: usize| hierarchy.level(level).name() == text;
        named(&is_named).or_else(|| named(&|level| hierarchy.level(level).phrase() == text))
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    fn suppressed(text: &str, n_records: u64) -> Option<u64> {
        Suppression::parse(text).and_then(|most| most.of(n_records)).ok()
    }

    #[test]
    fn suppressed_records_as_number_or_share() {
        for (text, n) in
            [("0", Some(0)), ("321", Some(321)), ("1%", Some(301)), ("30 %", Some(9048)), ("100%", Some(30162))]
        {
            assert_eq!(suppressed(text, 30162), n, "{text}");
        }
        for text in ["-1", "-1%", "101%", "30163", "x", "%", "nan%", ""] {
            assert!(suppressed(text, 30162).is_none(), "{text}");
        }
        assert_eq!(suppressed("30%", 10), Some(3));
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
}
