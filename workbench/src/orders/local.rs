//! Local recoding of a counted project: what a method can promise, and what came of it.

use std::time::{Duration, Instant};

use incrowd::error::Wording;
use incrowd::judge::{Judgement, judge_with};
use incrowd::loss::{LOSS_ONE, Steps};
use incrowd::recode::Recoding;
use incrowd::recode::deal;
use incrowd::recode::keep::{self, Demand, Wanted};
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least, Partition};
use incrowd::recode::tree::negotiate::Request;
use incrowd::recode::tree::{Cut, Tree};
use incrowd::task::{SearchProgress, Task};
use incrowd::{Criteria, Criterion, Error, ErrorKind, GroupCounts, Measure, Result, Rule};

use crate::input::count::Counted;
use crate::note::Note;
use crate::sentences;
use crate::sentences::hint;
use crate::work::Work;

/// By how many steps groups are improved where single cells are hidden, if nobody says otherwise.
pub const N_STEPS_OF_CELLS: u64 = 20_000;

/// By how many steps groups that were negotiated are improved for each of them, if nobody says otherwise.
pub const N_STEPS_PER_GROUP: u64 = 4;

/// How to recode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Local {
    pub method: Method,
    pub style: CellStyle,
    /// Whether numbers and dates get two columns, the lowest and the highest.
    pub two_columns: bool,
    pub seed: u64,
    /// Of dealing, attempts at an exchange per group.
    pub n_exchanges: u32,
    /// How many records may be left out, where that loses less; dealing leaves none out.
    pub n_suppressed_max: u64,
    /// How many steps groups are improved by; where a time ended it, so many as it took.
    pub n_steps: u64,
    /// For how long they are improved at most.
    pub time: Option<Duration>,
}

/// A cut of the tree of groups that was agreed on, to be published.
#[derive(Clone, Copy)]
pub struct Cutting<'a> {
    pub tree: &'a Tree,
    pub cut: &'a Cut,
    /// What all groups together may lose on single attributes, in steps of the loss.
    pub limits: &'a [(usize, Steps)],
}

/// What a method made of a table, for some criteria.
pub struct LocallyMade {
    pub local: Local,
    /// Which offer was taken and what was asked for, where it was negotiated.
    pub agreed: Option<(&'static str, Request)>,
    pub criteria: Criteria,
    pub recoding: Recoding,
    pub judgement: Judgement,
    pub dealt: Option<Dealing>,
    /// The names of the sensitive attributes that the criteria are about.
    pub sensitive: Vec<String>,
    /// Whether people are counted, and not records.
    pub of_people: bool,
}

/// What dealing came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dealing {
    pub n_classes: u64,
    /// By how much the classes differ in how often they have a value: for each sensitive attribute, and for their
    /// combination.
    pub most_differ: Vec<u64>,
    pub together: u64,
}

/// What a local method begins with, of what is asked for: k and one l. What else is asked for is kept too ([`keep`]), but
/// where records are dealt: these keep k, and the rest is looked at when they are.
pub fn guaranteed(criteria: &Criteria) -> Result<Least> {
    if criteria.value(Measure::Population).is_some() {
        return Err(Error::new(
            ErrorKind::Request,
            "k_map cannot be promised by a local method: whom of the population a group's ranges fit is not counted",
        )
        .hint(hint("leave out {k_map}, or take {method=global}")));
    }
    let distinct = criteria.iter().find_map(|criterion| match criterion.measure {
        Measure::Distinct(sensitive) => Some((sensitive, criterion.value)),
        _ => None,
    });
    let k = criteria.value(Measure::Size);
    if criteria.is_empty() {
        let message = "a local method needs k or l, or another criterion that groups are to keep";
        return Err(Error::new(ErrorKind::Request, message).hint(hint("for example {k=10}")));
    }
    // Different values are in different records, so that l alone is a size too.
    Ok(Least {
        k: k.unwrap_or(1),
        l: distinct.map(|(_, l)| l),
        sensitive: distinct.map_or(0, |(sensitive, _)| sensitive),
    })
}

/// Refuses groups that lose more on an attribute than was agreed on. Only where people are counted can that be: there,
/// groups that a reader takes for one are united further where they miss something together.
fn check_limits(partition: &Partition, assignment: &Assignment, limits: &[(usize, Steps)]) -> Result<()> {
    if limits.is_empty() {
        return Ok(());
    }
    let lost = keep::loss_of_attributes(partition, assignment)?;
    match limits.iter().find(|&&(a, most)| lost[a] > most) {
        None => Ok(()),
        Some(&(a, _)) => {
            let name = assignment.hierarchies[a].attribute();
            let message = format!("groups that look alike had to be united, and now '{name}' loses more than asked");
            Err(Error::new(ErrorKind::Request, message).hint(hint("allow it more with {max_loss}")))
        }
    }
}

fn dealing(counts: &GroupCounts, partition: &Partition) -> Dealing {
    let (most_differ, together) = deal::differences(counts, partition);
    Dealing { n_classes: partition.n_classes() as u64, most_differ, together }
}

/// Says of which quasi-identifiers a local method cannot say more than everything or nothing.
pub fn note_flat(counted: &Counted, work: &Work) {
    for (a, attribute) in counted.quasi_identifiers.iter().enumerate() {
        if attribute.rule != Rule::Flat || counted.is_numeric(a) {
            continue;
        }
        let domain = &counted.counts.domains()[a];
        let n_numbers = domain.present().filter(|(_, value)| value.parse::<f64>().is_ok()).count();
        let n_values = domain.present().count();
        work.note(Note::NoHierarchy {
            attribute: attribute.name.clone(),
            n_values: n_values as u64,
            n_not_numbers: (n_numbers > 0).then_some((n_values - n_numbers) as u64),
        });
    }
}

/// How many values all different combinations may have together for a method to be tried only to tell what it would lose:
/// that is to take well under a second, and whoever has given an answer two seconds does not wait for ten.
const N_VALUES_TRIED: usize = 240_000;

/// Says where one level per attribute loses more than half of the detail, and what ranges of its own for every group would
/// lose, where that is quickly known.
pub fn note_much_lost(ncp: f64, criteria: &Criteria, counted: Option<&Counted>, work: &Work) {
    if ncp <= 0.5 {
        return;
    }
    let n_values = |counted: &Counted| counted.counts.n_groups() * counted.hierarchies.len();
    let is_quick = |counted: &&Counted| n_values(counted) <= N_VALUES_TRIED && guaranteed(criteria).is_ok();
    let instead = counted.filter(is_quick).and_then(|counted| {
        let local = Local::new(Method::TopDown);
        let made = work.quietly(|task| work.on_threads(|| local.make(counted, criteria, task))).ok()?.ok()?;
        let is_better = made.missed().is_empty() && made.judgement.ncp < ncp;
        is_better.then(|| (local.method.name(), made.judgement.ncp))
    });
    work.note(Note::MuchLost { ncp, instead });
}

/// Says which numbers and dates have no steps to be rounded to.
pub fn note_without_steps(counted: &Counted, work: &Work) {
    for (a, attribute) in counted.quasi_identifiers.iter().enumerate() {
        if attribute.rule == Rule::Flat && counted.is_numeric(a) {
            work.note(Note::NoSteps { attribute: attribute.name.clone() });
        }
    }
}

/// The method of a name, or what its paper prints.
pub fn method_named(name: &str, as_published: bool) -> Result<Method> {
    let method = Method::parse(name)?;
    match method.published().filter(|_| as_published) {
        None if as_published => Err(Error::new(
            ErrorKind::Request,
            Wording::text("")
                .setting("as_published")
                .and(format!(" is about methods of the papers, and {name} is none")),
        )
        .hint(Wording::text("leave it out, or take ").example("method", Method::TopDown.name()))),
        published => Ok(published.unwrap_or(method)),
    }
}

impl Local {
    pub fn new(method: Method) -> Local {
        Local {
            method,
            style: if method == Method::Cells { CellStyle::Stars } else { CellStyle::Ranges },
            two_columns: false,
            seed: 0,
            n_exchanges: deal::N_TRIES,
            n_suppressed_max: 0,
            n_steps: if method == Method::Cells { N_STEPS_OF_CELLS } else { 0 },
            time: None,
        }
    }

    /// How many exchanges dealing tries, where somebody ordered another number than it always tries.
    pub fn exchanges_ordered(&self) -> Option<u32> {
        (self.method == Method::Deal && self.n_exchanges != deal::N_TRIES).then_some(self.n_exchanges)
    }

    /// A method with what is said about it; what would do nothing is refused.
    pub fn with_options(
        named: Method,
        style: Option<CellStyle>,
        two_columns: bool,
        seed: Option<u64>,
        plain: bool,
        n_exchanges: Option<u32>,
    ) -> Result<Local> {
        let refuse = |name: &'static str, why: Wording, instead: &'static str, value: &str| {
            let message = Wording::text("").setting(name).and(" ").and(why);
            let hint = Wording::text("leave it out, or take ").example(instead, value);
            Err(Error::new(ErrorKind::Request, message).hint(hint))
        };
        let standard = Local::new(named).style;
        let style = style.unwrap_or(standard);
        if named == Method::Cells && style != standard {
            return refuse(
                "cells",
                "is about what groups print, and here cells are exact or hidden".into(),
                "method",
                "bottom-up",
            );
        }
        if two_columns && matches!(style, CellStyle::Labels | CellStyle::Midpoints | CellStyle::Stars) {
            let why = Wording::text("would say more than ").example("cells", style.name());
            return refuse("two_columns", why, "cells", CellStyle::Ranges.name());
        }
        let method = if named == Method::Deal && plain { Method::DealPlain } else { named };
        let given =
            [("plain", plain && !method.is_dealing()), ("exchanges", n_exchanges.is_some() && method != Method::Deal)];
        if let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            return refuse(name, "is about near records in dealt groups".into(), "method", Method::Deal.name());
        }
        if seed.is_some() && !method.is_random() {
            let why = format!("is about random choices, and {} makes none", method.name());
            return refuse("seed", why.into(), "method", Method::TopDown.name());
        }
        let local = Local::new(method);
        Ok(Local {
            style,
            two_columns,
            seed: seed.unwrap_or(local.seed),
            n_exchanges: n_exchanges.unwrap_or(local.n_exchanges),
            ..local
        })
    }

    /// The same, where groups are improved by so many steps, or for so long; where both are said, what is over first.
    pub fn improved_by(self, n_steps: Option<u64>, time: Option<Duration>) -> Result<Local> {
        let Some(given) = n_steps.map(|_| "steps").or(time.map(|_| "time")) else { return Ok(self) };
        if self.method.is_published() && !self.method.is_dealing() {
            let message = Wording::text("").setting(given).and(" would improve what is to be as published");
            let hint = Wording::text("leave it out, or take ").example("method", Method::TopDown.name());
            return Err(Error::new(ErrorKind::Request, message).hint(hint));
        }
        if self.method.is_dealing() {
            let message = Wording::text("").setting(given).and(" is about groups that may exchange any records");
            let hint = Wording::text("leave it out, or take ").example("exchanges", "300");
            return Err(Error::new(ErrorKind::Request, message).hint(hint));
        }
        Ok(Local { n_steps: n_steps.unwrap_or(u64::MAX), time, ..self })
    }

    /// How many steps groups were improved by, where they were.
    pub fn steps_taken(&self) -> Option<u64> {
        (self.n_steps > 0).then_some(self.n_steps)
    }

    /// The seed, where it decides something.
    pub fn seed_used(&self) -> Option<u64> {
        self.method.is_random().then_some(self.seed)
    }

    /// What every class is to have. Where people are counted, that is so many different people, which are the values of
    /// the last attribute of the counts.
    fn least(&self, counted: &Counted, criteria: &Criteria) -> Result<Least> {
        let least = guaranteed(criteria)?;
        if counted.counts.people().is_none() {
            return Ok(least);
        }
        Ok(Least { k: least.k, l: Some(least.k), sensitive: counted.told_apart().sensitive().len() - 1 })
    }

    /// Recodes; the task moves on by the number of records.
    pub fn recode(&self, counted: &Counted, weights: &[f64], criteria: &Criteria, task: &Task) -> Result<Recoding> {
        Ok(self.recode_and_look(counted, weights, criteria, None, task)?.0)
    }

    /// With what dealing came to, and with how many steps groups were improved by.
    fn recode_and_look(
        &self,
        counted: &Counted,
        weights: &[f64],
        criteria: &Criteria,
        cutting: Option<&Cutting>,
        task: &Task,
    ) -> Result<(Recoding, Option<Dealing>, u64)> {
        let counts = counted.told_apart();
        let meant = self.style.meant(&counted.hierarchies);
        let hierarchies = &meant[..];
        let least = self.least(counted, criteria)?;
        let assignment =
            Assignment { counts, hierarchies, weights, least, seed: self.seed, n_exchanges: self.n_exchanges };
        let is_dealt_to_people = self.method.is_dealing() && counted.counts.people().is_some();
        let mut n_steps = 0;
        let (partition, dealt) = match is_dealt_to_people {
            true => {
                let assignment = Assignment { counts: &counted.counts, ..assignment };
                let (partition, whose) = self.method.deal_to_people(&assignment, counts, task)?;
                (whose, Some(dealing(&counted.counts, &partition)))
            }
            false => {
                let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
                let demand = Demand { yardstick: &yardstick, criteria };
                let wanted = Wanted { demand, n_suppressed_max: self.n_suppressed_max, style: self.style };
                let mut partition = match cutting {
                    Some(Cutting { tree, cut, .. }) => keep::published(tree, cut, &assignment, &wanted, task)?,
                    None => keep::partition(self.method, &assignment, &wanted, task)?,
                };
                if self.method == Method::MondrianRelaxed && self.style == CellStyle::Labels {
                    // Relaxed cuts at the middle of a label often lose more than those at the middle of its numbers.
                    let for_ranges = Assignment { hierarchies: &counted.hierarchies, ..assignment };
                    let other = keep::partition(self.method, &for_ranges, &wanted, task)?;
                    let all_lost = |found: &Partition| {
                        let n_out: u64 = found.suppressed().iter().map(|part| part.n_records).sum();
                        Ok::<u64, Error>(keep::loss(found, &assignment)? + n_out * LOSS_ONE)
                    };
                    if all_lost(&other)? < all_lost(&partition)? {
                        partition = other;
                    }
                }
                if self.n_steps > 0 && !self.method.is_dealing() {
                    let limits = cutting.map_or(&[][..], |cutting| cutting.limits);
                    (partition, n_steps) = self.improve(partition, &assignment, &wanted, limits, task)?;
                }
                if let Some(Cutting { limits, .. }) = cutting {
                    check_limits(&partition, &assignment, limits)?;
                }
                let dealt = self.method.is_dealing().then(|| dealing(counts, &partition));
                (partition, dealt)
            }
        };
        let recoding = partition.recode_with(counts, &counted.hierarchies, self.style, task)?;
        let recoding = match self.two_columns {
            true => recoding.in_two_columns(|a| counted.is_numeric(a)),
            false => recoding,
        };
        Ok((recoding, dealt, n_steps))
    }

    /// Improves groups until the steps, the time or the hope is over.
    fn improve(
        &self,
        partition: Partition,
        assignment: &Assignment,
        wanted: &Wanted,
        limits: &[(usize, Steps)],
        task: &Task,
    ) -> Result<(Partition, u64)> {
        let start = Instant::now();
        let is_enough = |_: &SearchProgress| self.time.is_some_and(|time| start.elapsed() >= time);
        let task = Task { is_enough: &is_enough, ..*task };
        keep::improved_within(partition, assignment, wanted, limits, self.n_steps, &task)
    }

    /// Recodes, and judges by the criteria.
    pub fn make(&self, counted: &Counted, criteria: &Criteria, task: &Task) -> Result<LocallyMade> {
        self.make_of(counted, criteria, None, task)
    }

    /// The same from a cut that was agreed on.
    pub fn make_cut(
        &self,
        counted: &Counted,
        criteria: &Criteria,
        cutting: &Cutting,
        task: &Task,
    ) -> Result<LocallyMade> {
        self.make_of(counted, criteria, Some(cutting), task)
    }

    fn make_of(
        &self,
        counted: &Counted,
        criteria: &Criteria,
        cutting: Option<&Cutting>,
        task: &Task,
    ) -> Result<LocallyMade> {
        let weights = counted.weights();
        let (recoding, dealt, n_steps) = self.recode_and_look(counted, &weights, criteria, cutting, task)?;
        let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure))?;
        let hierarchies = &counted.hierarchies[..];
        let judgement = judge_with(counted.told_apart(), hierarchies, &weights, &yardstick, &recoding, task)?;
        let (sensitive, of_people) = (counted.sensitive_names(), counted.counts.people().is_some());
        let local = Local { n_steps, ..*self };
        let (agreed, criteria) = (None, criteria.clone());
        Ok(LocallyMade { local, agreed, criteria, recoding, judgement, dealt, sensitive, of_people })
    }
}

impl LocallyMade {
    /// Why a criterion can be missed, and what to do about it.
    pub fn why_missed(&self) -> (&'static str, &'static str) {
        if self.local.method.is_published() && !self.local.method.is_dealing() {
            return (
                "as published, a method keeps k and one l and can only be checked for the rest",
                "ask for less, or leave out that it is to be as published",
            );
        }
        match (self.local.method.is_dealing(), self.of_people) {
            (true, _) => (
                "dealing keeps k by construction and can only be checked for the rest",
                "ask for a greater k, for less, or take another method",
            ),
            (false, false) => ("not even all records as one group keep it", "ask for less"),
            (false, true) => ("no groups of people were found that keep it", "ask for less"),
        }
    }

    /// What misses a criterion, as an error.
    pub fn error(&self) -> Error {
        let Some((criterion, reached, n_failing)) = self.missed().into_iter().next() else {
            return Error::new(ErrorKind::Request, "nothing is missed");
        };
        let message = format!(
            "{} of {} groups miss {}: {} is reached; nothing was published",
            n_failing,
            self.judgement.n_groups,
            sentences::criterion_in_words(criterion, &self.sensitive),
            sentences::number_in_words(criterion.measure, reached)
        );
        let (why, advice) = self.why_missed();
        Error::new(ErrorKind::Request, message).hint(format!("{why}: {advice}"))
    }

    /// The criteria that not all groups keep, with what is reached and how many groups fail.
    pub fn missed(&self) -> Vec<(Criterion, u64, usize)> {
        let missed = |criterion: Criterion| {
            let reached = self.judgement.reached(criterion.measure).filter(|&reached| !criterion.holds(reached))?;
            let test = self.judgement.measured.test(&Criteria::new([criterion]));
            let n_failing = (0..self.judgement.measured.len()).filter(|&group| !test.holds(group)).count();
            Some((criterion, reached, n_failing))
        };
        self.criteria.iter().filter_map(missed).collect()
    }
}
