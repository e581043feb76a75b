//! How well and how fast the local methods are, on Adult and on made-up records.
//!
//! ```text
//! cargo run --release -p incrowd --example local -- ../shared/adult [k …]
//! cargo run --release -p incrowd --example local -- --generated 1000000 10
//! ```
//!
//! Seconds are those of the clock and, where the system tells, of the processors.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use incrowd::hierarchy::{LabelTable, Side};
use incrowd::quality::quality;
use incrowd::query::{Draw, draw_queries, query_error};
use incrowd::random::Random;
use incrowd::recode::mondrian::Cut;
use incrowd::recode::partition::{CellStyle, Least, Partition, Watch};
use incrowd::recode::{bottom_up, mondrian, top_down};
use incrowd::{Counter, GroupCounts, Hierarchy, Missing, Result, Rule};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |text: &String| -> u64 { text.parse().unwrap_or_else(|_| panic!("{text} is not a number")) };
    let (counts, hierarchies, ks) = match arguments.split_first() {
        Some((first, rest)) if first == "--generated" => {
            let (counts, hierarchies) = generated(number(&rest[0]) as usize);
            (counts, hierarchies, &rest[1..])
        }
        Some((folder, rest)) => {
            let (counts, hierarchies) = adult(folder);
            (counts, hierarchies, rest)
        }
        None => panic!("give the folder of the Adult data, or --generated and a number of records"),
    };
    let mut ks: Vec<u64> = ks.iter().map(number).collect();
    if ks.is_empty() {
        ks = vec![2, 5, 10, 25, 50, 100];
    }
    println!("{} records, {} groups, {} threads", counts.n_records(), counts.n_groups(), rayon::current_num_threads());
    println!("   k method               NCP  classes  median query error  seconds      CPU");
    let draw = Draw { n_queries: 1_000, n_attributes: 3, selectivity: 0.05, seed: 1 };
    let queries = draw_queries(&counts, &hierarchies, &draw).expect("queries");
    let weights = vec![1.0; hierarchies.len()];
    let (counts, hierarchies, weights, watch) = (&counts, &hierarchies[..], &weights[..], &Watch::default());
    for k in ks {
        let least = Least { k, l: None };
        let report = |name: &str, method: &dyn Fn() -> Result<Partition>| {
            let (start, cpu_start) = (Instant::now(), cpu_seconds());
            let partition = method().expect("there are enough records");
            let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - cpu_start);
            let recoding = partition.recode(counts, hierarchies, CellStyle::Ranges);
            let judged = quality(counts, hierarchies, weights, &recoding).expect("good weights");
            let error = query_error(counts, hierarchies, &recoding, &queries).median;
            let n_classes = partition.n_classes();
            println!("{k:>4} {name:<16} {:>7.4} {n_classes:>8} {error:>19.3} {seconds:>8.3} {cpu:>8.2}", judged.ncp);
        };
        let cut = |cut: Cut| mondrian::partition(counts, hierarchies, weights, least, cut, watch);
        report("Mondrian strict", &|| cut(Cut::Strict));
        report("Mondrian relaxed", &|| cut(Cut::Relaxed));
        report("top-down", &|| top_down::partition(counts, hierarchies, weights, least, 1, watch));
        if counts.n_groups() <= 100_000 {
            report("bottom-up", &|| bottom_up::partition(counts, hierarchies, weights, least, watch));
        }
    }
}

/// What this process has used of all processors, in hundredths; not a number where the system does not tell.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse().unwrap_or(f64::NAN));
    ticks.reduce(|a, b| a + b).map_or(f64::NAN, |ticks: f64| ticks / 100.0)
}

const ADULT: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];

fn adult(folder: &str) -> (GroupCounts, Vec<Hierarchy>) {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let csv = read(&format!("{folder}/adult.csv"));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = reader.headers().expect("a header").iter().map(String::from).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a record")).collect();
    let column =
        |i: usize| -> ArrayRef { Arc::new(records.iter().map(|record| Some(&record[i])).collect::<StringArray>()) };
    let columns = names.iter().enumerate().map(|(i, name)| (name, column(i)));
    let missing = Missing { tokens: vec!["?".into()], drop_records: true };
    let mut counter = Counter::new(&ADULT, Some("hours-per-week"), &missing);
    counter.push(&RecordBatch::try_from_iter(columns).expect("columns of one length")).expect("columns of texts");
    let counts = counter.finish();
    let hierarchy = |name: &str| {
        let paths = ["hierarchies", "arx-hierarchies"].map(|sub| format!("{folder}/{sub}/{name}.csv"));
        let path = paths.iter().find(|path| std::path::Path::new(path).exists()).expect("a hierarchy");
        Rule::Table(LabelTable::parse(path, &read(path)).expect("a table of labels"))
    };
    let resolved = ADULT.iter().zip(counts.domains()).map(|(name, domain)| hierarchy(name).resolve(domain));
    let hierarchies = resolved.collect::<Result<_>>().expect("trees over all values");
    (counts, hierarchies)
}

/// Records of four numbers and four categories, half of which depends on where a record belongs; nearly all differ.
fn generated(n_records: usize) -> (GroupCounts, Vec<Hierarchy>) {
    let mut random = Random::new(1);
    let names = ["age", "income", "day", "postcode", "job", "sex", "country", "school"];
    let sizes = [90, 200, 365, 1_000, 40, 2, 60, 16];
    let mut columns: Vec<Vec<i32>> = vec![Vec::with_capacity(n_records); names.len()];
    for _ in 0..n_records {
        let place = random.below(1_000);
        for (column, &size) in columns.iter_mut().zip(&sizes) {
            let own = random.below(size).min(random.below(size));
            column.push(((own + place * size / 1_000) / 2) as i32);
        }
    }
    let arrays = columns.into_iter().enumerate().map(|(i, column)| -> ArrayRef {
        match i < 4 {
            true => Arc::new(Int32Array::from(column)),
            false => Arc::new(column.into_iter().map(|value| Some(format!("v{value:02}"))).collect::<StringArray>()),
        }
    });
    let mut counter = Counter::new(&names, None, &Missing::default());
    counter.push(&RecordBatch::try_from_iter(names.iter().zip(arrays)).expect("columns")).expect("columns");
    let counts = counter.finish();
    let rule = |i: usize| match i < 4 {
        true => Rule::intervals(vec![10.0], 0.0),
        false => Rule::mask(vec![1], Side::Right),
    };
    let resolved = counts.domains().iter().enumerate().map(|(i, domain)| rule(i)?.resolve(domain));
    let hierarchies = resolved.collect::<Result<_>>().expect("trees over all values");
    (counts, hierarchies)
}
