//! Every record of a counted project generalized on its own: what the flags ask for, and what came of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sentences::hint;
use crate::sentences::{counted_words, grouped as counted_number};
use incrowd::error::Wording;
use incrowd::judge::{Judgement, judge_with};
use incrowd::recode::Recoding;
use incrowd::recode::per_record::dictionary::{Match, n_bytes_at_most};
use incrowd::recode::per_record::{
    Goal, Problem, Risk, SENSITIVITY_MAX, Sensitivities, Strategy, UTILITY_ONE, Utility, Wish, grouped, recode,
};
use incrowd::search::request::check_promise;
use incrowd::task::Task;
use incrowd::wire::{Distribution, FileHash, GoalSaid, PerRecord, PerRecordOutcome, per_record_statement, rounded};
use incrowd::{Criteria, Error, ErrorKind, GroupCounts, Hierarchy, Result};

use super::known::Known;
use crate::input::count::{Choice, Counted, count};
use crate::input::digest::sha256;
use crate::input::project::Project;
use crate::work::Work;

/// What `publish` calls it.
pub const PER_RECORD: &str = "per-record";

/// What a certificate calls sensitivities that stand in a file.
const GIVEN: &str = "given";

/// What is wanted of every record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PerRecordWish {
    /// The least risk that leaves this utility: a number, or a share such as 60% of a record's as it is.
    pub utility_at_least: Option<String>,
    /// The most utility that leaves at most this risk.
    pub risk_at_most: Option<f64>,
    /// The least risk − λ · utility.
    pub lambda: Option<f64>,
    /// How utility is measured; depth where nobody says.
    pub utility: Option<Utility>,
    /// How risk is measured; sensitivity where nobody says.
    pub risk: Option<Risk>,
    /// Whom an attacker knows: a table with the same quasi-identifiers; the table itself where none is named.
    pub dictionary: Option<PathBuf>,
    /// Texts of the dictionary fit that are alike by at least this.
    pub similarity: Option<f64>,
    /// How sensitive values are: a CSV file with the columns attribute, value, weight; all 1 where none is named.
    pub weights: Option<PathBuf>,
    /// Random sensitivities from 0 to 1.
    pub weights_seed: Option<u64>,
    /// Afterwards, generalize further until every group has so many records.
    pub also_k: Option<u64>,
    /// One of the paper's own searches, for comparison; the best is looked for where none is named.
    pub as_published: Option<Strategy>,
}

/// Refuses what says nothing to a method that looks at one record at a time; `is_given` is asked by the name of a setting,
/// and of `k` for any criterion.
pub fn check_one_by_one(is_given: impl Fn(&str) -> bool) -> Result<()> {
    let of_groups: [(&[&'static str], &str); 14] = [
        (&["k"], " and other criteria"),
        (&["max_suppressed"], ""),
        (&["max_level"], ""),
        (&["best_by"], ""),
        (&["offer"], ""),
        (&["levels"], ""),
        (&["local"], ""),
        (&["cells"], ""),
        (&["two_columns"], ""),
        (&["seed"], ""),
        (&["plain"], ""),
        (&["exchanges"], ""),
        (&["steps"], ""),
        (&["full", "partial", "on_demand"], ""),
    ];
    let Some((names, more)) = of_groups.into_iter().find(|(names, _)| names.iter().any(|name| is_given(name))) else {
        return Ok(());
    };
    let mut said = Wording::text("");
    for (i, name) in names.iter().enumerate() {
        let between = if i == 0 {
            ""
        } else if i + 1 < names.len() {
            ", "
        } else {
            " and "
        };
        said = said.and(between).setting(name);
    }
    let said = said.and(more).and(" cannot be had with ").example("method", PER_RECORD);
    Err(Error::new(ErrorKind::Request, said)
        .hint(hint("it looks at one record at a time; {also_k} groups them afterwards, {weights_seed} draws weights")))
}

/// Which of the paper's searches is ordered, if any: best-first where nobody says which.
pub fn published_search(as_published: bool, search: Option<&str>) -> Result<Option<Strategy>> {
    let named = search.map(Strategy::parse_published).transpose()?;
    match (as_published, named) {
        (true, named) => Ok(Some(named.unwrap_or(Strategy::BestFirst))),
        (false, None) => Ok(None),
        (false, Some(_)) => {
            let message = hint("{search} names one of the paper's own searches");
            Err(Error::new(ErrorKind::Request, message).hint(hint("leave it out, or give {as_published} too")))
        }
    }
}

impl PerRecordWish {
    /// Counts the project, and the dictionary with it.
    pub fn count(&self, project: &Project, choice: Choice, known: &Known, work: &Work) -> Result<Arc<Counted>> {
        let Some(path) = &self.dictionary else { return known.count(project, &choice, work) };
        let absolute = std::path::absolute(path).map_err(|error| crate::io_error(path, error))?;
        let with = Project { population: Some(absolute.display().to_string()), ..project.clone() };
        // Whoever keeps counts keeps them by their project, which knows nothing of the dictionary.
        Ok(Arc::new(count(&with, &Choice { with_population: true, ..choice }, work)?))
    }

    pub fn models(&self) -> (Utility, Risk) {
        (self.utility.unwrap_or(Utility::Depth), self.risk.unwrap_or(Risk::Sensitivity))
    }

    /// The problem that the flags pose, with other models where they are given.
    pub fn problem<'a>(&self, counted: &'a Counted, utility: Utility, risk: Risk) -> Result<Problem<'a>> {
        let hierarchies = &counted.hierarchies[..];
        let sensitivities = match (&self.weights, self.weights_seed) {
            (Some(path), _) => given_sensitivities(path, counted)?,
            (None, Some(seed)) => Sensitivities::random(hierarchies, seed),
            (None, None) => Sensitivities::equal(hierarchies),
        };
        Problem::new(&counted.counts, hierarchies, utility, risk, sensitivities, self.fit())
    }

    /// Which values of a dictionary fit those of the table.
    pub fn fit(&self) -> Match {
        self.similarity.map_or(Match::Exact, Match::Similar)
    }

    /// What the flags want of every record.
    pub fn wish(&self, problem: &Problem) -> Result<Wish> {
        let wrong =
            |message: Wording, what: &'static str| Err(Error::new(ErrorKind::Request, message).hint(hint(what)));
        match (&self.utility_at_least, self.risk_at_most, self.lambda) {
            (Some(text), None, None) => {
                let share = text.strip_suffix('%').map(|share| share.trim().parse::<f64>().map(|p| p / 100.0));
                match share {
                    Some(Ok(share)) if (0.0..=1.0).contains(&share) => Ok(Wish::Share(share)),
                    None => match text.trim().parse::<f64>() {
                        Ok(utility) if (0.0..1e6).contains(&utility) => {
                            Ok(Goal::LeastRisk { utility_at_least: problem.steps(utility) }.into())
                        }
                        _ => wrong(format!("'{text}' is not a utility").into(), "for example {utility_at_least=60%}"),
                    },
                    _ => wrong(format!("'{text}' is not a share").into(), "for example {utility_at_least=60%}"),
                }
            }
            (None, Some(risk_at_most), None) if risk_at_most.is_finite() => {
                Ok(Goal::MostUtility { risk_at_most }.into())
            }
            (None, None, Some(lambda)) if lambda.is_finite() && lambda >= 0.0 => Ok(Goal::Scalar { lambda }.into()),
            (None, None, None) => wrong(
                "nothing says what is wanted of each record".into(),
                "give {utility_at_least}, {risk_at_most} or {lambda}",
            ),
            (None, Some(_), None) | (None, None, Some(_)) => wrong(
                hint("{risk_at_most} and {lambda} are numbers; {lambda} is at least 0"),
                "for example {risk_at_most=0.05}",
            ),
            _ => wrong(
                "several things are wanted at once".into(),
                "give one of {utility_at_least}, {risk_at_most}, {lambda}",
            ),
        }
    }

    /// What was wanted of a release, by its certificate. None where it does not say all of it: the weights of values and the
    /// people of a dictionary stand in files of their own.
    pub fn again(ordered: &PerRecord, seed: Option<u64>) -> Option<PerRecordWish> {
        if ordered.dictionary.is_some() || ordered.sensitivities == GIVEN {
            return None;
        }
        let wanted = match &ordered.goal {
            GoalSaid::UtilityAtLeast(text) => {
                PerRecordWish { utility_at_least: Some(text.clone()), ..PerRecordWish::default() }
            }
            GoalSaid::ShareOfUtility(share) => PerRecordWish {
                utility_at_least: Some(format!("{}%", rounded(share * 100.0))),
                ..PerRecordWish::default()
            },
            GoalSaid::RiskAtMost(risk) => PerRecordWish { risk_at_most: Some(*risk), ..PerRecordWish::default() },
            GoalSaid::Lambda(lambda) => PerRecordWish { lambda: Some(*lambda), ..PerRecordWish::default() },
            _ => return None,
        };
        Some(PerRecordWish {
            utility: Some(Utility::parse(&ordered.utility_model).ok()?),
            risk: Some(Risk::parse(&ordered.risk_model).ok()?),
            dictionary: None,
            similarity: ordered.similarity,
            weights: None,
            weights_seed: seed,
            also_k: ordered.also_k,
            as_published: match &ordered.as_published {
                Some(name) => Some(Strategy::parse_published(name).ok()?),
                None => None,
            },
            ..wanted
        })
    }

    /// What is wanted, as it was asked for: what a share of the utility comes to depends on the source.
    fn goal_said(&self, wish: Wish) -> GoalSaid {
        match wish {
            // Records that have less utility as they are, keep less.
            Wish::Share(share) => GoalSaid::ShareOfUtility(rounded(share)),
            Wish::Same(Goal::LeastRisk { .. }) => {
                GoalSaid::UtilityAtLeast(self.utility_at_least.clone().unwrap_or_default())
            }
            Wish::Same(Goal::MostUtility { risk_at_most }) => GoalSaid::RiskAtMost(risk_at_most),
            Wish::Same(Goal::Scalar { lambda }) => GoalSaid::Lambda(lambda),
        }
    }
}

/// Refuses what would take more memory than is allowed to look people up.
pub fn check_memory(counted: &Counted, fit: Match, n_bytes_max: u64) -> Result<()> {
    let n_bytes = n_bytes_at_most(&counted.counts, &counted.hierarchies, fit);
    let size = |n_bytes: u64| match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{} MB", counted_number(n_bytes.div_ceil(1_000_000))),
    };
    match n_bytes > n_bytes_max {
        true => Err(Error::new(
            ErrorKind::TooLarge,
            format!("looking people up would take {}, where {} are allowed", size(n_bytes), size(n_bytes_max)),
        )
        .hint(hint(
            "choose fewer with {quasi_identifiers}, give their values as wider intervals, or allow more with {memory}",
        ))),
        false => Ok(()),
    }
}

pub fn as_number(utility: i64) -> f64 {
    utility as f64 / UTILITY_ONE as f64
}

/// Reads a weight for every value of every quasi-identifier. No value is named in an error.
fn given_sensitivities(path: &Path, counted: &Counted) -> Result<Sensitivities> {
    let hierarchies = &counted.hierarchies[..];
    let wrong = |message: String| Error::new(ErrorKind::Project, message).at(path.display().to_string());
    let hint = "the first line is attribute,value,weight; every value of the table needs a number of at least 0";
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(path).map_err(|error| {
        let message = error.to_string();
        match error.into_kind() {
            csv::ErrorKind::Io(error) => crate::io_error(path, error),
            _ => wrong(format!("cannot be read: {message}")),
        }
    })?;
    let header = reader.headers().map_err(|_| wrong("has a first line that is no text".into()).hint(hint))?;
    if header.iter().map(str::trim).ne(["attribute", "value", "weight"]) {
        return Err(wrong("does not have the columns attribute, value, weight".into()).hint(hint));
    }
    let mut weights: Vec<Vec<f64>> =
        hierarchies.iter().map(|hierarchy| vec![f64::NAN; hierarchy.level(0).len()]).collect();
    let mut lines: HashMap<(usize, usize), u64> = HashMap::new();
    for (line, row) in (2..).zip(reader.records()) {
        let row = row.map_err(|_| wrong(format!("line {line} is no text")).hint(hint))?;
        let (Some(name), Some(value), Some(weight), 3) = (row.get(0), row.get(1), row.get(2), row.len()) else {
            return Err(wrong(format!("line {line} does not have three cells")).hint(hint));
        };
        let weight: f64 = weight.trim().parse().unwrap_or(f64::NAN);
        if !(weight.is_finite() && weight >= 0.0) {
            return Err(wrong(format!("the weight in line {line} is not a number of at least 0")).hint(hint));
        }
        let Some(a) = hierarchies.iter().position(|hierarchy| hierarchy.attribute() == name) else {
            let names: Vec<&str> = hierarchies.iter().map(Hierarchy::attribute).collect();
            return Err(wrong(format!("line {line} is about an attribute that is no quasi-identifier"))
                .hint(format!("the quasi-identifiers are {}", names.join(", "))));
        };
        // Values that this table does not have are nobody's concern.
        let Some(code) = hierarchies[a].level(0).labels().iter().position(|label| label == value) else { continue };
        if let Some(first) = lines.insert((a, code), line) {
            return Err(wrong(format!("line {line} repeats the value of line {first}")).hint("keep one line per value"));
        }
        weights[a][code] = weight;
    }
    for (a, (hierarchy, weights)) in hierarchies.iter().zip(&mut weights).enumerate() {
        // Values that nobody of the table has need no weight: they do not make a label less sensitive.
        for value in counted.counts.strangers(a) {
            let code = hierarchy.level(0).labels().iter().position(|label| label == value);
            if let Some(weight) = code.map(|code| &mut weights[code]).filter(|weight| weight.is_nan()) {
                *weight = SENSITIVITY_MAX;
            }
        }
        let n_missing = weights.iter().filter(|weight| weight.is_nan()).count();
        if n_missing > 0 {
            let (name, n) = (hierarchy.attribute(), weights.len());
            return Err(wrong(format!("{n_missing} of {n} values of attribute '{name}' have no weight")).hint(hint));
        }
    }
    Sensitivities::given(hierarchies, weights).map_err(|error| error.at(path.display().to_string()))
}

/// What came of it.
pub struct MadeOneByOne {
    pub criteria: Criteria,
    pub recoding: Recoding,
    pub judgement: Judgement,
    pub facts: PerRecord,
    pub outcome: PerRecordOutcome,
    pub seed: Option<u64>,
}

/// Why nothing came of it.
pub enum Outcome {
    Made(Box<MadeOneByOne>),
    /// More utility is wanted than so many records have as they are: of these, one has this much.
    OutOfReach {
        greatest_utility: f64,
        n_records: u64,
    },
    /// So many records cannot have as little risk.
    TooRisky {
        n_records: u64,
    },
}

impl Outcome {
    /// Why nothing came of it, as a sentence without its full stop.
    pub fn words(&self) -> String {
        match self {
            Outcome::Made(_) => String::new(),
            Outcome::OutOfReach { greatest_utility, n_records } => format!(
                "{} cannot have as much utility: as it is, one of them has {greatest_utility}",
                counted_words(*n_records, "record")
            ),
            Outcome::TooRisky { n_records } => {
                format!("{} cannot have as little risk", counted_words(*n_records, "record"))
            }
        }
    }

    /// What was made; why nothing was, as an error.
    pub fn made(self) -> Result<Box<MadeOneByOne>> {
        let no = |message: String, what: &'static str| Err(Error::new(ErrorKind::Request, message).hint(what));
        match self {
            Outcome::Made(made) => Ok(made),
            out_of_reach @ Outcome::OutOfReach { .. } => no(out_of_reach.words(), "ask for less, or for a share of it"),
            too_risky @ Outcome::TooRisky { .. } => no(too_risky.words(), "allow more risk"),
        }
    }
}

/// Whether some records do not have as much utility as is wanted.
fn out_of_reach(problem: &Problem, counts: &GroupCounts, wish: Wish) -> Option<Outcome> {
    let Wish::Same(Goal::LeastRisk { utility_at_least }) = wish else { return None };
    let as_it_is = |group: usize| (problem.utility_as_it_is(counts.codes(group)), counts.size(group));
    let below: Vec<(i64, u64)> =
        (0..counts.n_groups()).map(as_it_is).filter(|(utility, _)| *utility < utility_at_least).collect();
    let least = below.iter().map(|(utility, _)| *utility).min()?;
    let n_records = below.iter().map(|(_, n_records)| n_records).sum();
    Some(Outcome::OutOfReach { greatest_utility: rounded(as_number(least)), n_records })
}

/// Solves every record, by a published search where one is ordered.
fn solved(
    args: &PerRecordWish,
    problem: &Problem,
    counts: &GroupCounts,
    wish: Wish,
    task: &Task,
) -> Result<Vec<Option<Vec<u8>>>> {
    match args.as_published {
        Some(strategy) => problem.solve_all_as_published(counts, wish, strategy, task),
        None => problem.solve_all(counts, wish, task),
    }
}

/// Solves every record for a share of its utility, which can always be had.
pub fn recoded(args: &PerRecordWish, counted: &Counted, task: &Task) -> Result<Recoding> {
    let (utility_model, risk_model) = args.models();
    let problem = args.problem(counted, utility_model, risk_model)?;
    let wish = args.wish(&problem)?;
    let solved = solved(args, &problem, &counted.counts, wish, task)?;
    let levels: Vec<Vec<u8>> = solved.into_iter().map(|levels| levels.expect("within reach")).collect();
    Ok(recode(&counted.counts, &counted.hierarchies, &levels))
}

/// Solves every record, and groups them where that is asked for.
pub fn make(args: &PerRecordWish, counted: &Counted, task: &Task) -> Result<Outcome> {
    check_promise(&Criteria::of(args.also_k, None))?;
    let (utility_model, risk_model) = args.models();
    let problem = args.problem(counted, utility_model, risk_model)?;
    let wish = args.wish(&problem)?;
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let greatest = problem.greatest_utility();
    if let Some(out_of_reach) = out_of_reach(&problem, counts, wish) {
        return Ok(out_of_reach);
    }
    let solved = solved(args, &problem, counts, wish, task)?;
    let unsolved = solved.iter().enumerate().filter(|(_, levels)| levels.is_none());
    let n_records: u64 = unsolved.map(|(group, _)| counts.size(group)).sum();
    if n_records > 0 {
        return Ok(Outcome::TooRisky { n_records });
    }
    let mut levels: Vec<Vec<u8>> = solved.into_iter().flatten().collect();
    if let Some(k) = args.also_k {
        levels = grouped(&problem, counts, levels, k)?;
    }
    let recoding = recode(counts, hierarchies, &levels);
    let criteria = Criteria::of(args.also_k, None);
    let (weights, yardstick) = (counted.weights(), counted.yardstick([])?);
    let judgement = judge_with(counts, hierarchies, &weights, &yardstick, &recoding, task)?;
    let points = problem.points(&recoding);
    let is_below = |group: &usize| {
        let codes = counts.codes(*group);
        match wish.of(problem.utility_as_it_is(codes)) {
            Goal::LeastRisk { utility_at_least } => problem.utility(codes, &levels[*group]) < utility_at_least,
            _ => false,
        }
    };
    let dictionary = match &args.dictionary {
        Some(path) => Some(FileHash {
            name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            sha256: sha256(path)?,
            ..FileHash::default()
        }),
        None => None,
    };
    let sensitivities = match (&args.weights, args.weights_seed) {
        (Some(_), _) => GIVEN,
        (None, Some(_)) => "random from the seed",
        (None, None) => "1 for every value",
    };
    let facts = PerRecord {
        statement: per_record_statement(args.also_k),
        also_k: args.also_k,
        utility_model: utility_model.name().to_string(),
        risk_model: risk_model.name().to_string(),
        goal: args.goal_said(wish),
        sensitivities: sensitivities.to_string(),
        dictionary,
        similarity: args.similarity,
        as_published: args.as_published.map(|strategy| strategy.name().to_string()),
    };
    let outcome = PerRecordOutcome {
        greatest_utility: rounded(as_number(greatest)),
        risk: Distribution::of(points.iter().map(|point| (point.risk, point.n_records)).collect()),
        utility: Distribution::of(points.iter().map(|point| (as_number(point.utility), point.n_records)).collect()),
        n_records_below: (0..counts.n_groups()).filter(is_below).map(|group| counts.size(group)).sum(),
    };
    Ok(Outcome::Made(Box::new(MadeOneByOne { criteria, recoding, judgement, facts, outcome, seed: args.weights_seed })))
}
