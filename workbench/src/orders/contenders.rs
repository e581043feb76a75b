//! What each method makes of the same table: what it loses, how wrong queries get, how private it is, what it costs.

use std::time::{Duration, Instant};

use incrowd::judge::{Judgement, judge_with};
use incrowd::quality::Losses;
use incrowd::query::{Draw, Query, Workload, draw_queries, median_and_90};
use incrowd::recode::method::Method;
use incrowd::recode::per_record::Strategy;
use incrowd::recode::{Recoding, global};
use incrowd::search::negotiate::negotiate_with;
use incrowd::search::request::Request;
use incrowd::task::Task;
use incrowd::utility::preview::{Preview, Utility};
use incrowd::{Answer, Criteria, Criterion, Error, ErrorKind, Lattice, Measure, Quality, Ranking, Result, Scheme};

use crate::input::count::Counted;
use crate::orders::local::Local;
use crate::orders::per_record::{self, PER_RECORD, PerRecordWish};

/// A way to make a release that can be compared with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// The best scheme by an idea of what is good.
    Global(Quality),
    Local(Method),
    /// Every record on its own, with the least risk that leaves this share of its utility, in percent. It keeps no k.
    PerRecord(u8, Option<Strategy>),
}

/// What follows the name of a contender that is as its paper prints it.
const PUBLISHED: &str = "published";

/// What every record keeps of its utility where nobody says how much, in percent.
const UTILITY_KEPT: u8 = 60;

impl Contender {
    /// All that promise k. Whoever adds a quality function or a local method adds a contender.
    pub fn all() -> Vec<Contender> {
        let global = [
            Quality::Height,
            Quality::Ncp,
            Quality::Precision,
            Quality::Entropy,
            Quality::GroupSize,
            Quality::Discernibility,
        ];
        global.map(Contender::Global).into_iter().chain(Method::ALL.map(Contender::Local)).collect()
    }

    pub fn name(self) -> String {
        match self {
            Contender::Global(quality) => format!("global:{}", quality.name()),
            Contender::Local(method) => method.name().to_string(),
            Contender::PerRecord(percent, None) => format!("{PER_RECORD}:{percent}%"),
            Contender::PerRecord(percent, Some(strategy)) => {
                let search = if strategy == Strategy::BestFirst { PUBLISHED } else { strategy.name() };
                format!("{PER_RECORD}:{percent}%:{search}")
            }
        }
    }

    pub fn parse(name: &str) -> Result<Contender> {
        if let Some(share) = name.strip_prefix(PER_RECORD) {
            let searches = [(PUBLISHED, Strategy::BestFirst), (Strategy::Walk.name(), Strategy::Walk)];
            let found = searches
                .into_iter()
                .find_map(|(name, strategy)| Some((share.strip_suffix(name)?.strip_suffix(':')?, Some(strategy))));
            let (share, strategy) = found.unwrap_or((share, None));
            let percent = share.strip_prefix(':').and_then(|share| share.strip_suffix('%')?.parse().ok());
            return match (share, percent) {
                ("", _) => Ok(Contender::PerRecord(UTILITY_KEPT, strategy)),
                (_, Some(percent @ 0..=100)) => Ok(Contender::PerRecord(percent, strategy)),
                _ => Err(Error::new(ErrorKind::Request, format!("'{name}' does not say what records keep"))
                    .hint(format!("for example {PER_RECORD}:{UTILITY_KEPT}%"))),
            };
        }
        let all: Vec<Contender> =
            Contender::all().into_iter().chain(Method::AS_PUBLISHED.map(Contender::Local)).collect();
        let names: Vec<String> = all.iter().map(|contender| contender.name()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).chain([PER_RECORD]).collect();
        let found = names.iter().position(|known| known == name).map(|i| all[i]);
        found.ok_or_else(|| incrowd::error::unknown(ErrorKind::Request, "method", name, &known))
    }

    /// Whether it can be tried: what is dealt are sensitive values.
    pub fn is_possible(self, has_sensitive: bool) -> bool {
        !matches!(self, Contender::Local(method) if method.is_dealing()) || has_sensitive
    }

    /// What it is about, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Contender::Global(Quality::Height) => "fewest steps of generalization",
            Contender::Global(Quality::Ncp) => "least uncertainty per value",
            Contender::Global(Quality::Precision) => "lowest in the hierarchies",
            Contender::Global(Quality::Entropy) => "fewest bits lost",
            Contender::Global(Quality::GroupSize) => "smallest groups",
            Contender::Global(Quality::Discernibility) => "fewest records alike",
            Contender::Local(method) => method.words(),
            Contender::PerRecord(_, None) => "every record on its own; no k",
            Contender::PerRecord(_, Some(_)) => "every record on its own, by the paper's search; no k",
        }
    }

    /// Whether it is meant to keep the criteria.
    pub fn promises_k(self) -> bool {
        !matches!(self, Contender::PerRecord(..))
    }

    /// Whether the lattice must be annotated with entropies for it.
    pub fn needs_entropy(self) -> bool {
        self == Contender::Global(Quality::Entropy)
    }

    /// Whether it takes clearly longer than the others on a large table.
    pub fn is_slow(self) -> bool {
        let slow =
            [Method::BottomUp, Method::Cells, Method::Negotiated, Method::BottomUpPublished, Method::TopDownPublished];
        self.needs_entropy() || matches!(self, Contender::Local(method) if slow.contains(&method))
    }
}

/// The selectivities and numbers of attributes of random queries; each pair is asked [`N_QUERIES`] times or more.
const SELECTIVITIES: [f64; 3] = [0.01, 0.05, 0.1];
const N_ATTRIBUTES: [usize; 3] = [1, 2, 3];

/// Random queries of each kind.
pub const N_QUERIES: usize = 1_000;

/// Queries to be answered from a release instead of from the table.
pub struct Questions {
    pub drawn: Vec<(Draw, Workload)>,
    /// The analyst's own.
    pub own: Option<Workload>,
}

impl Questions {
    pub fn new(
        counted: &Counted,
        n_queries: usize,
        seed: u64,
        own: Option<Vec<Query>>,
        task: &Task,
    ) -> Result<Questions> {
        let (counts, hierarchies) = (&counted.counts, &counted.hierarchies);
        let mut drawn = Vec::new();
        for n_attributes in N_ATTRIBUTES.into_iter().filter(|&n| n <= hierarchies.len()) {
            for selectivity in SELECTIVITIES {
                let draw = Draw { n_queries, n_attributes, selectivity, seed };
                let queries = draw_queries(counts, hierarchies, &draw, task)?;
                drawn.push((draw, Workload::new(counts, hierarchies, queries, task)?));
            }
        }
        let own = own.map(|queries| Workload::new(counts, hierarchies, queries, task)).transpose()?;
        Ok(Questions { drawn, own })
    }
}

/// What all contenders are given.
pub struct Ask<'a> {
    pub counted: &'a Counted,
    /// By quasi-identifier.
    pub weights: &'a [f64],
    /// Of schemes.
    pub level_max: &'a Scheme,
    /// Of schemes and of local methods; dealing suppresses nothing.
    pub n_suppressed_max: u64,
    pub seed: u64,
    /// By how many steps groups of local methods are improved, and for how long at most.
    pub n_steps: Option<u64>,
    pub time: Option<Duration>,
    pub questions: &'a Questions,
    /// What analysts look at; none where nobody has asked and it would take long.
    pub preview: Option<&'a Preview<'a>>,
    /// What schemes are looked up in, and what it took to make; needed for global contenders.
    pub lattice: Option<(&'a Lattice, Cost)>,
}

/// What one contender made of the table.
pub struct ContenderResult {
    pub contender: Contender,
    pub criteria: Criteria,
    /// `exact`, or `suppression` where no scheme meets the request and one is taken that loses more records.
    pub choice: &'static str,
    /// Of global contenders, with what it loses by every quality function.
    pub scheme: Option<(Scheme, Losses)>,
    pub judgement: Judgement,
    /// Whether every group satisfies all criteria.
    pub holds: bool,
    /// Median and 90th percentile of the relative error over all random queries, and by kind.
    pub error: (f64, f64),
    pub error_by_kind: Vec<(Draw, f64, f64)>,
    /// The same for the analyst's own queries, with the exact and the estimated answer to each.
    pub own_error: Option<(f64, f64, Vec<(u64, f64)>)>,
    /// What becomes of what analysts look at.
    pub utility: Option<Utility>,
    pub cost: Cost,
}

/// What something took, of the whole process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub seconds: f64,
    /// Of all threads, where the system tells.
    pub cpu_seconds: Option<f64>,
    /// The most memory that was held at once, where the system tells.
    pub peak_bytes: Option<u64>,
}

/// Lets every contender try every k.
///
/// `criteria` are those beside k. The task moves on by the number of records for every row.
pub fn run(
    ask: &Ask,
    contenders: &[Contender],
    criteria: &Criteria,
    ks: &[u64],
    task: &Task,
) -> Result<Vec<ContenderResult>> {
    let mut rows = Vec::new();
    for &k in ks {
        let criteria = criteria.with(Criterion::k(k));
        for &contender in contenders {
            rows.push(one(ask, contender, &criteria, task)?);
        }
    }
    Ok(rows)
}

/// A method that improves its groups, where it can.
pub fn improving(local: Local, n_steps: Option<u64>, time: Option<Duration>) -> Result<Local> {
    if local.method.is_dealing() || local.method.is_published() { Ok(local) } else { local.improved_by(n_steps, time) }
}

/// Lets one contender try.
pub fn one(ask: &Ask, contender: Contender, criteria: &Criteria, task: &Task) -> Result<ContenderResult> {
    task.go_on()?;
    let counted = ask.counted;
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let sensitive = || 0..counts.sensitive().len();
    let measures = criteria.iter().map(|criterion| criterion.measure);
    let more = sensitive().flat_map(|s| [Measure::Distinct(s), Measure::Closeness(s)]);
    let yardstick = counted.yardstick(measures.chain(more))?;
    let (found, mut cost) = measured(|| match contender {
        Contender::Global(quality) => {
            let (lattice, _) = ask.lattice.ok_or_else(|| Error::new(ErrorKind::Request, "a lattice is needed"))?;
            let request = Request {
                criteria: criteria.clone(),
                n_suppressed_max: ask.n_suppressed_max,
                level_max: ask.level_max.clone(),
                best_by: Ranking::from(quality),
            };
            let (choice, offer) = match negotiate_with(lattice, &request, task)? {
                Answer::Exact(offer) => ("exact", offer),
                Answer::Offers(offers) => ("suppression", offers.suppression),
            };
            let recoding = global::recode(counts, hierarchies, &offer.scheme, &yardstick, criteria)?;
            (task.progress)(counts.n_records());
            Ok((choice, Some((offer.scheme, offer.losses)), recoding))
        }
        Contender::Local(method) => {
            let local = Local { seed: ask.seed, n_suppressed_max: ask.n_suppressed_max, ..Local::new(method) };
            let local = improving(local, ask.n_steps, ask.time)?;
            Ok(("exact", None, local.recode(counted, ask.weights, criteria, task)?))
        }
        Contender::PerRecord(percent, as_published) => {
            let utility_at_least = Some(format!("{percent}%"));
            let asked = PerRecordWish { utility_at_least, as_published, ..PerRecordWish::default() };
            Ok(("exact", None, per_record::recoded(&asked, counted, task)?))
        }
    });
    let (choice, scheme, recoding): (&'static str, Option<(Scheme, Losses)>, Recoding) = found?;
    if let (Some(_), Some((_, of_lattice))) = (&scheme, ask.lattice) {
        cost = cost.after(of_lattice);
    }
    let made_of = if matches!(contender, Contender::Local(_)) { counted.told_apart() } else { counts };
    let judgement = judge_with(made_of, hierarchies, ask.weights, &yardstick, &recoding, task)?;
    let mut all_errors = Vec::new();
    let error_by_kind = ask.questions.drawn.iter().map(|(draw, workload)| {
        let error = workload.error(hierarchies, &recoding, task)?;
        all_errors.extend(error.relative);
        Ok((*draw, error.median, error.percentile_90))
    });
    let error_by_kind = error_by_kind.collect::<Result<_>>()?;
    let own_error = ask.questions.own.as_ref().map(|workload| {
        let error = workload.error(hierarchies, &recoding, task)?;
        let answers = workload.exact.iter().copied().zip(error.estimated).collect();
        Ok((error.median, error.percentile_90, answers))
    });
    let own_error = own_error.transpose()?;
    let utility = ask.preview.map(|preview| preview.utility(made_of, &recoding, task)).transpose()?;
    Ok(ContenderResult {
        contender,
        holds: judgement.holds(criteria),
        criteria: criteria.clone(),
        choice,
        scheme,
        judgement,
        error: median_and_90(all_errors),
        error_by_kind,
        own_error,
        utility,
        cost,
    })
}

impl Cost {
    /// What it took together with what had to be done before.
    fn after(self, before: Cost) -> Cost {
        Cost {
            seconds: before.seconds + self.seconds,
            cpu_seconds: before.cpu_seconds.zip(self.cpu_seconds).map(|(before, after)| before + after),
            peak_bytes: before.peak_bytes.max(self.peak_bytes),
        }
    }
}

/// Does some work and says what it took.
///
/// Memory that this process has taken for something else and not given back is part of the peak.
pub fn measured<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    // Linux begins to look for a new peak when asked so.
    let is_reset = std::fs::write("/proc/self/clear_refs", "5").is_ok();
    let (start, cpu_start) = (Instant::now(), cpu_seconds());
    let done = work();
    let cost = Cost {
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds().zip(cpu_start).map(|(end, start)| end - start),
        peak_bytes: is_reset.then(peak_bytes).flatten(),
    };
    (done, cost)
}

/// The processor time of this process up to now.
#[cfg(unix)]
fn cpu_seconds() -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

#[cfg(not(unix))]
fn cpu_seconds() -> Option<f64> {
    None
}

fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.trim().trim_end_matches(" kB").parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

impl ContenderResult {
    pub fn k(&self) -> u64 {
        self.criteria.value(Measure::Size).unwrap_or(1)
    }

    pub fn n_published(&self, counted: &Counted) -> u64 {
        counted.counts.n_records() - self.judgement.n_suppressed
    }

    /// One over the size of the smallest group, and groups over records: how likely a guess is right, at worst and on
    /// average, of whoever knows that somebody is in the release.
    pub fn risk(&self, counted: &Counted) -> Option<(f64, f64)> {
        let smallest = self.judgement.reached(Measure::Size)?;
        Some((1.0 / smallest as f64, self.judgement.n_groups as f64 / self.n_published(counted) as f64))
    }

    /// What is reached of k, and of l and t for every sensitive attribute.
    pub fn reached(&self, counted: &Counted) -> Vec<(Measure, Option<u64>)> {
        let of_sensitive = (0..counted.sensitive.len()).flat_map(|s| [Measure::Distinct(s), Measure::Closeness(s)]);
        let measures = std::iter::once(Measure::Size).chain(of_sensitive);
        measures.map(|measure| (measure, self.judgement.reached(measure))).collect()
    }
}

/// What becomes of the loss when one attribute weighs more.
pub struct Weighed {
    pub weight: f64,
    /// Of the attribute.
    pub ncp: f64,
    /// The mean of the others.
    pub ncp_of_others: f64,
    /// Median error of queries about the attribute alone, and about one of the others.
    pub error: f64,
    pub error_of_others: f64,
}

/// The weights that are tried.
pub const WEIGHTS: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// Raises the weight of one attribute while the others weigh 1, with a local method.
///
/// The task moves on by the number of records for every weight.
pub fn weigh(
    counted: &Counted,
    local: &Local,
    criteria: &Criteria,
    attribute: usize,
    task: &Task,
) -> Result<Vec<Weighed>> {
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let yardstick = counted.yardstick([])?;
    // About a thousand queries for every attribute.
    let draw = Draw { n_queries: N_QUERIES * hierarchies.len(), n_attributes: 1, selectivity: 0.05, seed: local.seed };
    let queries = draw_queries(counts, hierarchies, &draw, task)?;
    let (own, others): (Vec<Query>, Vec<Query>) =
        queries.into_iter().partition(|query| query.conditions[0].attribute == attribute);
    let [own, others] = [own, others].map(|queries| Workload::new(counts, hierarchies, queries, task));
    let (own, others) = (own?, others?);
    let weigh = |weight: f64| {
        let mut weights = vec![1.0; hierarchies.len()];
        weights[attribute] = weight;
        let recoding = local.recode(counted, &weights, criteria, task)?;
        let judgement = judge_with(counted.told_apart(), hierarchies, &weights, &yardstick, &recoding, task)?;
        let ncp = judgement.ncp_of_attribute;
        let of_others: f64 = ncp.iter().enumerate().filter(|(a, _)| *a != attribute).map(|(_, ncp)| ncp).sum();
        Ok(Weighed {
            weight,
            ncp: ncp[attribute],
            ncp_of_others: of_others / (ncp.len() - 1).max(1) as f64,
            error: own.error(hierarchies, &recoding, task)?.median,
            error_of_others: others.error(hierarchies, &recoding, task)?.median,
        })
    };
    WEIGHTS.into_iter().map(weigh).collect()
}
