//! Recodes a made-up table locally, with a bar of dots and a time limit: `cargo run -p incrowd --example stop`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Int64Array, RecordBatch};
use incrowd::judge::judge;
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::task::Task;
use incrowd::{Counter, ErrorKind, Missing, Rule, Yardstick};

fn main() -> Result<(), Box<dyn Error>> {
    let column = |step: i64, range: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..20_000).map(|i| i * step % 104_729 % range)))
    };
    let table = RecordBatch::try_from_iter([("age", column(7_919, 90)), ("income", column(6_007, 5_000))])?;
    let mut counter = Counter::new(&["age", "income"], &[], &Missing::default());
    counter.push(&table)?;
    let counts = counter.finish();
    let rules = [Rule::intervals(vec![10.0], 0.0)?, Rule::intervals(vec![500.0], 0.0)?];
    let domains = rules.iter().zip(counts.domains());
    let hierarchies = domains.map(|(rule, domain)| rule.resolve(domain)).collect::<incrowd::Result<Vec<_>>>()?;

    // The engine reads no clock: it asks whether it is still wanted.
    let (start, n_done) = (Instant::now(), AtomicU64::new(0));
    let progress = |n: u64| {
        let before = n_done.fetch_add(n, Ordering::Relaxed);
        (before / 2_000..(before + n) / 2_000).for_each(|_| print!("."));
    };
    let is_cancelled = || start.elapsed() > Duration::from_secs(10);
    let task = Task { progress: &progress, is_cancelled: &is_cancelled, ..Task::default() };

    let assignment = Assignment {
        counts: &counts,
        hierarchies: &hierarchies,
        weights: &[1.0, 1.0],
        least: Least::of(10, None),
        seed: 0,
        n_exchanges: 0,
    };
    match Method::Mondrian.recode(&assignment, CellStyle::Ranges, &task) {
        Ok(recoding) => {
            let yardstick = Yardstick::new(&counts, &[], [])?;
            let judgement = judge(&counts, &hierarchies, &[1.0, 1.0], &yardstick, &recoding)?;
            println!("\n{} groups, loss {:.3}", judgement.n_groups, judgement.ncp);
            Ok(())
        }
        Err(error) if error.kind() == ErrorKind::Cancelled => Ok(println!("\nthat took too long")),
        Err(error) => Err(error.into()),
    }
}
