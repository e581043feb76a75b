//! Measures incrowd in one process per measurement, for `bench/run.py` to put beside its peers.

mod http;
mod local_tree;
mod order;
mod people;
mod per_record;
mod search;

use std::path::Path;
use std::time::{Duration, Instant};

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch};
use incrowd::judge::judge;
use incrowd::lattice::update::updated;
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::per_record::Risk;
use incrowd::search::frontier::frontier;
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::table::Encoder;
use incrowd::task::{SearchProgress, Task};
use incrowd::{
    Answer, Counter, Criteria, Criterion, GroupCounts, Lattice, Level, Measure, Missing, Plan, Quality, Ranking,
    Request, Result, Scheme, negotiate,
};
use incrowd_workbench::input::count::{Choice, Counted, count, count_only, count_source};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::input::source::Source;
use incrowd_workbench::orders::saved;
use incrowd_workbench::output::lattice_header::Origin;
use incrowd_workbench::work::{Watch, Work};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    let number = |name: &str, otherwise: usize| option(name).map_or(otherwise, |text| text.parse().expect("a number"));
    let project = option("--project").unwrap_or(".");
    let n_threads = number("--threads", 1);
    let criteria = option("--criteria").unwrap_or("k+l");
    rayon::ThreadPoolBuilder::new().num_threads(n_threads).build_global().expect("the first pool");
    let risk = || Risk::parse(option("--risk").unwrap_or("sensitivity")).expect("one of the risk models");
    let measured = match arguments.first().map(String::as_str) {
        Some("annotate") => measure_annotate(project, n_threads, number("--repeat", 5), &measures(criteria)),
        Some("negotiate") => measure_negotiate(project, number("--requests", 20_000), criteria),
        Some("http") => measure_http(project, number("--requests", 20_000), number("--in-flight", 50)),
        Some("frontier") => measure_frontier(project, n_threads, number("--repeat", 5)),
        Some("count") => measure_count(project, n_threads),
        Some("local") => {
            let method = Method::parse(option("--method").expect("--method NAME")).expect("one of the methods");
            measure_local(project, n_threads, method, number("--k", 10) as u64)
        }
        Some("local-tree") => {
            let refined = Duration::from_millis(number("--refined-ms", 0) as u64);
            let n = number("--requests", 1_000);
            match number("--attributes", 0) {
                0 => counted(project, n_threads).and_then(|counted| {
                    local_tree::measure(&counted.counts, &counted.hierarchies, &counted.weights(), refined, true, n)
                }),
                n_attributes => {
                    search::generated(n_attributes, number("--records", 1_000_000)).and_then(|(counts, hierarchies)| {
                        local_tree::measure(&counts, &hierarchies, &vec![1.0; hierarchies.len()], refined, false, n)
                    })
                }
            }
        }
        Some("per-record") => counted(project, n_threads)
            .and_then(|counted| per_record::measure(&counted.counts, &counted.hierarchies, risk(), SHARES, usize::MAX)),
        Some("per-record-generated") => {
            let (n_attributes, n_records) = (number("--attributes", 8), number("--records", 20_000));
            per_record::measure_generated(n_attributes, n_records, risk(), number("--solved", 50))
        }
        Some("people") => {
            let is_drifting = arguments.iter().any(|argument| argument == "--drifting");
            people::measure(number("--people", 60_000), is_drifting, number("--repeat", 3))
        }
        Some("order") => {
            let (verb, document) = (option("--verb").expect("--verb NAME"), option("--document").unwrap_or("{}"));
            order::measure(project, n_threads, verb, document, number("--repeat", 1))
        }
        Some("saved") => measure_saved(project, n_threads, number("--requests", 2_000)),
        Some("kept") => measure_kept(&Path::new(project).join("bench.crowd"), number("--requests", 2_000)),
        Some("on-demand") => measure_on_demand(project, n_threads, number("--seconds", 60)),
        Some("search") => {
            let seconds = option("--seconds").unwrap_or("1,2,10").split(',');
            let seconds: Vec<u64> = seconds.map(|text| text.parse().expect("seconds, increasing")).collect();
            match number("--attributes", 0) {
                0 => counted(project, n_threads)
                    .and_then(|counted| search::measure(&counted.counts, &counted.hierarchies, &seconds, false)),
                n => search::generated(n, number("--records", 30_000))
                    .and_then(|(counts, hierarchies)| search::measure(&counts, &hierarchies, &seconds, n <= 10)),
            }
        }
        _ => panic!(
            "one of: annotate, negotiate, http, frontier, count, local, local-tree, per-record, per-record-generated, people, order, saved, kept, on-demand, search"
        ),
    };
    println!("{}", measured.expect("the project works"));
}

/// Of the greatest utility, what every record is to keep.
const SHARES: &[f64] = &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

fn counted(project: &str, n_threads: usize) -> Result<Counted> {
    let work = Work::new(Some(n_threads), None, Watch::default());
    count(&Project::open(Path::new(project))?, &Choice::default(), &work)
}

fn lattice_of(counted: &Counted, measures: &[Measure]) -> Result<Lattice> {
    counted.annotate(measures.iter().copied(), false, &Task::default())
}

/// What is measured beside sizes and distinct values.
fn measures(text: &str) -> Vec<Measure> {
    match text {
        "k+l" => Vec::new(),
        "k+l+entropy+t" => vec![Measure::Entropy(0), Measure::Closeness(0)],
        "all" => vec![
            Measure::Share(0),
            Measure::Entropy(0),
            Measure::Recursive { sensitive: 0, l: 3 },
            Measure::Closeness(0),
            Measure::Disclosure(0),
            Measure::Likeness(0),
            Measure::EnhancedLikeness(0),
        ],
        _ => panic!("one of: k+l, k+l+entropy+t, all"),
    }
}

/// Groups the records and annotates the lattice, several times, and reports the median; the first time, which finds no memory at hand, is reported beside it.
fn measure_annotate(project: &str, n_threads: usize, n_times: usize, measures: &[Measure]) -> Result<Value> {
    let counted = counted(project, n_threads)?;
    let records = coded_records(&counted)?;
    let mut times = Vec::new();
    let mut lattice = None;
    for _ in 0..n_times.max(1) {
        drop(lattice.take());
        let clock = Clock::start();
        std::hint::black_box(grouped(&counted, &records)?);
        lattice = Some(lattice_of(&counted, measures)?);
        times.push(clock.stop());
    }
    let lattice = lattice.expect("annotated at least once");
    let first_cpu_s = times[0].0;
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (cpu_s, wall_s) = times[times.len() / 2];
    let sum = |measure: &dyn Fn(usize) -> u64| (0..lattice.schemes().len()).map(measure).sum::<u64>();
    let k10 = Criteria::of(Some(10), None);
    let l3 = Criteria::of(None, Some(3));
    Ok(json!({
        "name": "incrowd",
        "threads": n_threads,
        "cpu_s": cpu_s,
        "first_cpu_s": first_cpu_s,
        "wall_s": wall_s,
        "peak_mb": peak_mb(),
        "n_schemes": lattice.schemes().len(),
        "n_source_groups": lattice.n_source_groups(),
        "ns_per_source_group": cpu_s * 1e9 / lattice.n_source_groups() as f64,
        "n_bytes": lattice.n_bytes(),
        "n_groups_sum": sum(&|place| lattice.profile(place).n_groups()),
        "n_suppressed_sum_k10": sum(&|place| lattice.n_suppressed(place, &k10)),
        "n_suppressed_sum_l3": sum(&|place| lattice.n_suppressed(place, &l3)),
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

/// The records as integer codes, which is where the peers start from too.
fn coded_records(counted: &Counted) -> Result<RecordBatch> {
    let names = column_names(counted);
    let missing =
        Missing { tokens: vec!["?".into()], drop_records: counted.counts.n_dropped() > 0, ..Missing::default() };
    let mut encoders: Vec<Encoder> = names.iter().map(|name| Encoder::new(name, &missing)).collect();
    let mut columns: Vec<Vec<i32>> = vec![Vec::new(); names.len()];
    let mut codes = Vec::new();
    counted.source.for_each(&counted.source.column_names(), |batch, _| {
        let mut keep = vec![true; batch.num_rows()];
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            missing.mark(field.name(), column, &mut keep)?;
        }
        for ((name, encoder), column) in names.iter().zip(&mut encoders).zip(&mut columns) {
            encoder.encode(batch.column_by_name(name).expect("a column of the project"), &mut codes)?;
            column.extend(codes.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(&code, _)| code as i32));
        }
        Ok(())
    })?;
    let arrays = columns.into_iter().map(|column| Arc::new(Int32Array::from(column)) as ArrayRef);
    Ok(RecordBatch::try_from_iter(names.iter().zip(arrays)).expect("columns of one length"))
}

fn column_names(counted: &Counted) -> Vec<String> {
    let names = counted.quasi_identifiers.iter().map(|attribute| attribute.name.clone());
    names.chain(counted.sensitive_names()).collect()
}

/// Groups the coded records at the finest level.
fn grouped(counted: &Counted, records: &RecordBatch) -> Result<GroupCounts> {
    let names: Vec<&str> = counted.quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect();
    let sensitive: Vec<&str> = counted.sensitive.iter().map(|attribute| attribute.name.as_str()).collect();
    let mut counter = Counter::new(&names, &sensitive, &Missing::default());
    counter.push(records)?;
    Ok(counter.finish())
}

/// Groups the records, puts them into classes and says what is published of each.
fn measure_local(project: &str, n_threads: usize, method: Method, k: u64) -> Result<Value> {
    let counted = counted(project, n_threads)?;
    let records = coded_records(&counted)?;
    let weights = counted.weights();
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let assignment =
        Assignment { counts, hierarchies, weights: &weights, least: Least::of(k, None), seed: 1, n_exchanges: 0 };
    let clock = Clock::start();
    std::hint::black_box(grouped(&counted, &records)?);
    let recoding = method.recode(&assignment, CellStyle::Ranges, &Task::default())?;
    let (cpu_s, wall_s) = clock.stop();
    let peak_mb = peak_mb();
    let judgement = judge(counts, hierarchies, &weights, &counted.yardstick([])?, &recoding)?;
    Ok(json!({
        "name": method.name(),
        "version": env!("CARGO_PKG_VERSION"),
        "threads": n_threads,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "peak_mb": peak_mb,
        "n_records": counts.n_records(),
        "n_base_groups": counts.n_groups(),
        "n_groups": judgement.n_groups,
        "smallest_group": judgement.reached(Measure::Size),
        "ncp": judgement.ncp,
    }))
}

/// Random requests of every sort: small and large k, with and without l, tight and loose limits.
fn measure_negotiate(project: &str, n_requests: usize, criteria: &str) -> Result<Value> {
    let lattice = lattice_of(&counted(project, 1)?, &measures(criteria))?;
    let mut random = Random(7);
    let mut times: Vec<Duration> = Vec::with_capacity(n_requests);
    let mut n_exact = 0;
    for _ in 0..n_requests {
        let mut request = random_request(&lattice, &mut random);
        if lattice.signatures().column(Measure::Closeness(0)).is_some() {
            // A distance from 0.05 to 0.5, and sometimes an entropy too.
            let t = Criterion { measure: Measure::Closeness(0), value: 50_000 + 10_000 * random.below(46) };
            let entropy = Criterion { measure: Measure::Entropy(0), value: 1_500_000 + 500_000 * random.below(10) };
            request.criteria = request.criteria.with(t);
            if random.below(2) == 0 {
                request.criteria = request.criteria.with(entropy);
            }
        }
        let start = Instant::now();
        let answer = negotiate(&lattice, &request)?;
        times.push(start.elapsed());
        n_exact += usize::from(matches!(answer, incrowd::Answer::Exact(_)));
    }
    times.sort();
    let micros = |duration: Duration| duration.as_nanos() as f64 / 1e3;
    let percentile = |share: f64| micros(times[((times.len() - 1) as f64 * share) as usize]);
    Ok(json!({
        "n_requests": n_requests,
        "share_exact": n_exact as f64 / n_requests as f64,
        "n_schemes": lattice.schemes().len(),
        "p50_us": percentile(0.5),
        "p99_us": percentile(0.99),
        "max_us": percentile(1.0),
        "mean_us": times.iter().map(|&time| micros(time)).sum::<f64>() / n_requests as f64,
        "peak_mb": peak_mb(),
    }))
}

fn random_request(lattice: &Lattice, random: &mut Random) -> Request {
    let n_records = lattice.n_records();
    // Log-uniform, so that small values are as likely as large ones.
    let k = 2 + random.log_uniform(n_records / 20);
    let l = 2 + random.log_uniform((lattice.sensitive()[0].1 as u64 / 2).max(2));
    let criteria = match random.below(3) {
        0 => Criteria::of(Some(k), None),
        1 => Criteria::of(None, Some(l)),
        _ => Criteria::of(Some(k), Some(l)),
    };
    let levels = lattice.schemes().tops().iter().map(|&top| Level(random.below(u64::from(top) + 1) as u8));
    Request {
        criteria,
        level_max: Scheme::new(levels.collect()),
        n_suppressed_max: random.log_uniform(n_records / 5),
        best_by: Ranking::from(Quality::Height),
    }
}

/// The requests of `negotiate`, over HTTP.
fn measure_http(project: &str, n_requests: usize, n_in_flight: usize) -> Result<Value> {
    let lattice = lattice_of(&counted(project, 1)?, &[])?;
    let mut random = Random(7);
    let request = |_| incrowd::wire::request(&lattice, &random_request(&lattice, &mut random));
    http::measure(project, (0..n_requests).map(request).collect(), n_in_flight)
}

/// All bargains over k by NCP, from a lattice that is there.
fn measure_frontier(project: &str, n_threads: usize, n_times: usize) -> Result<Value> {
    let lattice = lattice_of(&counted(project, n_threads)?, &[])?;
    let request = Request {
        criteria: Criteria::default(),
        level_max: Scheme::new(lattice.schemes().tops().iter().map(|&top| Level(top)).collect()),
        n_suppressed_max: lattice.n_records(),
        best_by: Ranking::from(Quality::Height),
    };
    let mut times: Vec<f64> = Vec::new();
    let mut n_bargains = 0;
    for _ in 0..n_times.max(1) {
        let clock = Clock::start();
        n_bargains = frontier(&lattice, &request, Measure::Size, &Ranking::from(Quality::Ncp), &Task::default())?.len();
        times.push(clock.stop().1);
    }
    times.sort_by(f64::total_cmp);
    Ok(json!({
        "threads": n_threads,
        "n_schemes": lattice.schemes().len(),
        "n_bargains": n_bargains,
        "peak_mb": peak_mb(),
        "wall_ms": times[times.len() / 2] * 1e3,
        "first_wall_ms": times[times.len() - 1] * 1e3,
    }))
}

/// A whole lattice: annotated, written, opened, asked.
fn measure_saved(project: &str, n_threads: usize, n_requests: usize) -> Result<Value> {
    let opened = Project::open(Path::new(project))?;
    let origin = Origin::before(&opened, &Choice::default())?;
    let counted = counted(project, n_threads)?;
    let clock = Clock::start();
    let lattice = lattice_of(&counted, &[])?;
    let (cpu_s, wall_s) = clock.stop();
    let path = Path::new(project).join("bench.crowd");
    let n_bytes = saved::save(&path, &lattice, &counted.counts, &origin.finish(&opened, &counted.source)?, true)?;
    let (n_schemes, n_groups) = (lattice.schemes().len(), counted.counts.n_groups());
    drop(lattice);
    let update = match n_schemes <= N_SCHEMES_UPDATED {
        true => measure_update(&path, &opened, &counted)?,
        false => Value::Null,
    };
    let asked = measure_kept(&path, n_requests)?;
    Ok(json!({
        "n_schemes": n_schemes,
        "n_base_groups": n_groups,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "peak_mb": peak_mb(),
        "file_mb": n_bytes as f64 / 1e6,
        "open_ms": asked["open_ms"],
        "p50_ms": asked["p50_ms"],
        "p99_ms": asked["p99_ms"],
        "update": update,
    }))
}

/// A lattice in a file: opened, asked.
fn measure_kept(path: &Path, n_requests: usize) -> Result<Value> {
    let mut open_ms: Vec<f64> = Vec::new();
    for _ in 0..5 {
        let clock = Clock::start();
        saved::read(path, &Work::default())?;
        open_ms.push(clock.stop().1 * 1e3);
    }
    open_ms.sort_by(f64::total_cmp);
    let (lattice, _, _) = saved::read(path, &Work::default())?;
    let mut random = Random(7);
    let mut times: Vec<Duration> = Vec::with_capacity(n_requests);
    for _ in 0..n_requests {
        let request = random_request(&lattice, &mut random);
        let start = Instant::now();
        negotiate(&lattice, &request)?;
        times.push(start.elapsed());
    }
    times.sort();
    let percentile = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    Ok(json!({
        "open_ms": open_ms[open_ms.len() / 2],
        "p50_ms": percentile(0.5),
        "p99_ms": percentile(0.99),
        "slowest_ms": percentile(1.0),
    }))
}

/// Larger lattices would be in memory twice.
const N_SCHEMES_UPDATED: usize = 300_000;

/// Records are appended to a lattice that was kept: `more.csv` of the project's folder.
fn measure_update(path: &Path, project: &Project, counted: &Counted) -> Result<Value> {
    let (lattice, _, content) = saved::read(path, &Work::default())?;
    let source = Source::open(&project.folder.join("more.csv"), &project.reading)?;
    let names: Vec<&str> = counted.counts.domains().iter().map(|domain| domain.name()).collect();
    let sensitive: Vec<&str> = counted.counts.sensitive().iter().map(|domain| domain.name()).collect();
    let more = count_source(&source, &names, &sensitive, &[], &project.missing, &Work::default())?;
    let weights = counted.weights();
    let clock = Clock::start();
    let before = content.counts(&Work::default())?;
    let after = before.with_records(&more)?;
    let yardstick = counted.yardstick([])?;
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let followed = updated(&lattice, &before, &after, &plan, &Task::default())?;
    let (cpu_s, wall_s) = clock.stop();
    assert!(followed.is_some(), "the appended records have values that the table has");
    Ok(json!({ "n_records": more.n_records(), "cpu_s": cpu_s, "wall_s": wall_s }))
}

/// One request without a lattice: k = 5, 5 % lost at most, any levels.
fn measure_on_demand(project: &str, n_threads: usize, n_seconds: usize) -> Result<Value> {
    let counted = counted(project, n_threads)?;
    let weights = counted.weights();
    let yardstick = counted.yardstick([])?;
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    let tops = counted.hierarchies.iter().map(|hierarchy| Level(hierarchy.top() as u8)).collect();
    let request = Request {
        criteria: Criteria::of(Some(5), None),
        level_max: Scheme::new(tops),
        n_suppressed_max: counted.counts.n_records() / 20,
        best_by: Ranking::from(Quality::Height),
    };
    let start = Instant::now();
    let is_enough = |_: &SearchProgress| start.elapsed() >= Duration::from_secs(n_seconds as u64);
    let task = Task { n_bytes_max: 1 << 30, is_enough: &is_enough, ..Task::default() };
    let clock = Clock::start();
    let found = negotiate_on_demand(&counted.counts, &counted.hierarchies, &plan, &request, &task)?;
    let (cpu_s, wall_s) = clock.stop();
    let height = match &found.answer {
        Answer::Exact(offer) => Some(offer.scheme.height()),
        Answer::Offers(_) => None,
    };
    let height_max: usize = counted.hierarchies.iter().map(|hierarchy| hierarchy.top()).sum();
    Ok(json!({
        "n_schemes": incrowd::scheme::n_schemes(&counted.hierarchies),
        "n_base_groups": counted.counts.n_groups(),
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "peak_mb": peak_mb(),
        "n_evaluated": found.n_evaluated,
        "is_proved": found.is_proved(),
        "height": height,
        "height_at_least": (found.proofs[0].loss_at_least * height_max as f64 - 0.25).ceil().max(0.0),
    }))
}

fn measure_count(project: &str, n_threads: usize) -> Result<Value> {
    let clock = Clock::start();
    let work = Work::new(Some(n_threads), None, Watch::default());
    let counted = count_only(&Project::open(Path::new(project))?, &Choice::default(), &work)?;
    let (cpu_s, wall_s) = clock.stop();
    Ok(json!({
        "name": "incrowd",
        "threads": n_threads,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "peak_mb": peak_mb(),
        "n_records": counted.counts.n_records(),
        "n_groups": counted.counts.n_groups(),
        "n_cells": counted.counts.n_cells(),
    }))
}

struct Clock {
    cpu: f64,
    wall: Instant,
}

impl Clock {
    fn start() -> Clock {
        Clock { cpu: cpu_seconds(), wall: Instant::now() }
    }

    fn stop(self) -> (f64, f64) {
        (cpu_seconds() - self.cpu, self.wall.elapsed().as_secs_f64())
    }
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The most memory that this process had at once.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

/// A small generator of random numbers (SplitMix64): the same requests on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    fn log_uniform(&mut self, most: u64) -> u64 {
        let share = self.next() as f64 / u64::MAX as f64;
        ((most as f64 + 1.0).powf(share) - 1.0) as u64
    }
}
