//! What is wanted of a release, from texts as given to a request that is checked on a counted project.

use incrowd::criterion::MILLION;
use incrowd::error::{Step, Wording, unknown};
use incrowd::wire;
use incrowd::{
    Answer, Criteria, Criterion, Error, ErrorKind, Hierarchy, Level, Measure, Offer, Ranking, Request, Result, Role,
    Scheme,
};

use crate::input::count::{Choice, Material, check_sensitive};
use crate::input::project::{CRITERIA, CriterionText, Project};
use crate::note::Note;
use crate::sentences::hint;
use crate::work::Work;

/// Which attributes of a project an order is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// Of criteria that were given as a range, `10..5`, the least that is acceptable instead.
    pub floors: Criteria,
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

    /// The criteria, and where one is not given the project's standing wish for it; none of them a range.
    pub fn privacy(&self, project: &Project, about: &About) -> Result<Privacy> {
        if let Some(range) = self.criteria.iter().find(|given| given.value.contains("..")) {
            let message = format!("{} = {} is a range, and one value is meant here", range.name, range.value);
            return Err(Error::new(ErrorKind::Request, message).hint("a range says how far a negotiation may go"));
        }
        // Of a standing range, what is wanted.
        Ok(Privacy { floors: Criteria::default(), ..self.negotiable(project, about)? })
    }

    /// The same where answers are negotiated, and a criterion may be a range.
    pub fn negotiable(&self, project: &Project, about: &About) -> Result<Privacy> {
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
        if let Some(share) = fraction(text) {
            return match (0.0..=1.0).contains(&share) {
                true => Ok(Suppression::Share(share * 100.0, text.to_string())),
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

/// `1/3`, where a number is written as a fraction.
pub fn fraction(text: &str) -> Option<f64> {
    let (numerator, denominator) = text.split_once('/')?;
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
    let (numerator, denominator) = (number(numerator)?, number(denominator)?);
    (denominator > 0.0).then(|| numerator / denominator)
}

/// `10%` or `1/10`: a share that says it is one.
pub fn share_of(text: &str) -> Option<f64> {
    let percent = || text.trim().strip_suffix('%')?.trim().parse::<f64>().ok();
    fraction(text).or_else(|| percent().map(|percent| percent / 100.0))
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
        let all_of = |criteria: &Criteria| Criteria::new(criteria.iter().map(criterion));
        Privacy { criteria: all_of(&self.criteria), floors: all_of(&self.floors), sensitive: all.to_vec() }
    }

    /// Leaves offers of less privacy out that are below the least that is acceptable.
    ///
    /// Such an offer is the strictest that works, so that nothing within the range does where it is below it.
    pub fn above_floors(&self, answer: Answer) -> Answer {
        let Answer::Offers(mut offers) = answer else { return answer };
        let is_acceptable = |offer: &Offer| {
            self.floors.iter().all(|floor| offer.criteria.value(floor.measure).is_none_or(|value| floor.holds(value)))
        };
        offers.privacy_alternatives.retain(is_acceptable);
        offers.privacy = offers.privacy_alternatives.first().cloned();
        Answer::Offers(offers)
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
        let wanted = parse_criterion(text, s)?;
        let Some((_, floor)) = text.value.split_once("..") else { return Ok((wanted, None)) };
        let floor = parse_criterion(&CriterionText { value: floor.to_string(), ..text.clone() }, s)?;
        match floor.measure == wanted.measure && floor.holds(wanted.value) {
            true => Ok((wanted, Some(floor))),
            false => Err(wrong(format!("'{}' is not a range for {}", text.value, text.name)).hint(
                Wording::text("first what is wanted, then the least that will do: ").example(text.name, "10..5"),
            )),
        }
    };
    let both = texts.iter().map(criterion).collect::<Result<Vec<_>>>()?;
    let criteria = Criteria::new(both.iter().map(|(wanted, _)| *wanted));
    let floors = Criteria::new(both.iter().filter_map(|(_, floor)| *floor));
    let mut keys: Vec<String> = criteria.iter().map(|criterion| wire::key(criterion.measure, &sensitive)).collect();
    keys.sort_unstable();
    if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(wrong(format!("{} is asked for twice, with different l", pair[0])).hint("give one of them"));
    }
    Ok(Privacy { criteria, floors, sensitive })
}

/// Every criterion by itself, the weakest of each measure first, with its sensitive attribute among those of all, and the
/// weakest of each measure together; no criteria and the project's sensitive attribute where none are given.
pub fn each_alone(texts: &[CriterionText], project: &Project, about: &About) -> Result<(Vec<Criterion>, Privacy)> {
    if texts.is_empty() {
        return Ok((Vec::new(), about.no_privacy(project)?));
    }
    let of = |text: &CriterionText| {
        GivenRequest { with_standing: false, ..GivenRequest::of_criteria(vec![text.clone()]) }.privacy(project, about)
    };
    let alone = texts.iter().map(of).collect::<Result<Vec<Privacy>>>()?;
    let names: Vec<&String> = alone.iter().flat_map(|privacy| &privacy.sensitive).collect();
    let in_order = project.attributes.iter().map(|attribute| &attribute.name);
    let all: Vec<String> = in_order.filter(|name| names.contains(name)).cloned().collect();
    let mut criteria: Vec<Criterion> =
        alone.iter().flat_map(|privacy| privacy.about(&all).criteria.iter().collect::<Vec<_>>()).collect();
    let strictness = |criterion: &Criterion| match criterion.measure.is_at_least() {
        true => (criterion.measure, i128::from(criterion.value)),
        false => (criterion.measure, -i128::from(criterion.value)),
    };
    criteria.sort_by_key(strictness);
    criteria.dedup();
    // One of each measure, so that what they need is counted: the population of k-map.
    let mut weakest = criteria.clone();
    weakest.dedup_by_key(|criterion| criterion.measure);
    Ok((criteria, Privacy { criteria: Criteria::new(weakest), floors: Criteria::default(), sensitive: all }))
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
    // Of a range, what is wanted.
    let value = value.split_once("..").map_or(value.as_str(), |(wanted, _)| wanted.trim());
    let wrong = |what: &str, example: &str| {
        Error::new(ErrorKind::Request, format!("'{value}' is not {what} for {name}"))
            .hint(Wording::text("for example ").example(name, example))
    };
    let whole = |text: &str, example: &str| text.trim().parse::<u64>().map_err(|_| wrong("a whole number", example));
    let millionths = |text: &str, measure: Measure, example: &str| {
        let parsed = parse_fraction(text, measure.is_at_least()).or_else(|| parse_millionths(text));
        parsed
            .map(|value| (measure, value))
            .ok_or_else(|| wrong("a number of at most six decimals or a fraction", example))
    };
    let (measure, value) = match *name {
        "k" => (Measure::Size, whole(value, "10")?),
        "k_map" => (Measure::Population, whole(value, "10")?),
        "l" => (Measure::Distinct(sensitive), whole(value, "3")?),
        "recursive" => {
            let (c, l) = value.split_once(',').ok_or_else(|| wrong("a ratio and a number", "2,3"))?;
            let l = whole(l, "2,3")?.min(u64::from(u32::MAX)) as u32;
            millionths(c, Measure::Recursive { sensitive, l }, "2,3")?
        }
        "alpha" => millionths(value, Measure::Share(sensitive), "0.5")?,
        "entropy_l" => millionths(value, Measure::Entropy(sensitive), "2.5")?,
        "t" => millionths(value, Measure::Closeness(sensitive), "0.2")?,
        "delta" => millionths(value, Measure::Disclosure(sensitive), "1.5")?,
        "beta" => millionths(value, Measure::Likeness(sensitive), "2")?,
        "enhanced_beta" => millionths(value, Measure::EnhancedLikeness(sensitive), "2")?,
        name => unreachable!("{name} is none of the criteria"),
    };
    Ok(Criterion { measure, value })
}

/// `1/3` as millionths, rounded so that a group which measures exactly that keeps it: up where at most so much is asked
/// for, down where at least. Measures are rounded the same way.
fn parse_fraction(text: &str, is_at_least: bool) -> Option<u64> {
    let (numerator, denominator) = text.split_once('/')?;
    let whole = |text: &str| text.trim().parse::<u64>().ok().filter(|n| *n < 1_000_000_000);
    let (numerator, denominator) = (whole(numerator)? * MILLION, whole(denominator)?);
    match is_at_least {
        _ if denominator == 0 => None,
        true => Some(numerator / denominator),
        false => Some(numerator.div_ceil(denominator)),
    }
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

    /// A third is kept by a group with a third, of whichever side it is asked for.
    #[test]
    fn fractions_are_kept_by_what_they_mean() {
        for (text, at_most, at_least) in [
            ("1/3", Some(333_334), Some(333_333)),
            ("1/2", Some(500_000), Some(500_000)),
            ("7 / 3", Some(2_333_334), Some(2_333_333)),
            ("1/0", None, None),
            ("/3", None, None),
            ("1/3/3", None, None),
            ("-1/3", None, None),
            ("0.5", None, None),
        ] {
            assert_eq!((parse_fraction(text, false), parse_fraction(text, true)), (at_most, at_least), "{text}");
        }
        assert_eq!(
            (suppressed("1/3", 30), suppressed("1/100", 30162), suppressed("4/3", 30)),
            (Some(10), Some(301), None)
        );
    }
}
