//! How well and how fast the local methods are, on Adult and on made-up records.
//!
//! `cargo run --release -p incrowd --example local -- ../shared/adult` for Adult over k = 2 … 100, or with
//! `--generated 1000000` for top-down and Mondrian on that many made-up records.

use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use incrowd::hierarchy::LabelTable;
use incrowd::random::Random;
use incrowd::recode::partition::{CellStyle, Least, Partition, Watch};
use incrowd::recode::{bottom_up, mondrian, top_down};
use incrowd::{Counter, GroupCounts, Hierarchy, Missing, Rule};

const ADULT: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (counts, hierarchies) = match arguments.first().map(String::as_str) {
        Some("--generated") => generated(arguments[1].parse().expect("a number of records")),
        Some(folder) => adult(folder),
        None => panic!("the folder of the Adult data, or --generated N"),
    };
    let is_adult = arguments[0] != "--generated";
    println!("{} records, {} groups, {} threads", counts.n_records(), counts.n_groups(), rayon::current_num_threads());
    println!("{:>4} {:<18} {:>8} {:>8} {:>8}", "k", "method", "NCP", "classes", "seconds");
    let ks: Vec<u64> = std::env::var("KS")
        .map_or(vec![2, 5, 10, 25, 50, 100], |ks| ks.split(',').map(|k| k.parse().expect("a number")).collect());
    for k in ks {
        let least = Least { k, l: std::env::var("L").ok().map(|l| l.parse().expect("a number")) };
        let watch = Watch::default();
        let weights = vec![1.0; hierarchies.len()];
        let (counts, hierarchies, weights, watch) = (&counts, &hierarchies[..], &weights[..], &watch);
        type Method<'a> = (&'a str, Box<dyn Fn() -> incrowd::Result<Partition> + 'a>);
        let mut methods: Vec<Method> = vec![
            (
                "mondrian strict",
                Box::new(move || {
                    mondrian::partition(counts, hierarchies, weights, least, mondrian::Cut::Strict, watch)
                }),
            ),
            (
                "mondrian relaxed",
                Box::new(move || {
                    mondrian::partition(counts, hierarchies, weights, least, mondrian::Cut::Relaxed, watch)
                }),
            ),
        ];
        methods
            .push(("top-down", Box::new(move || top_down::partition(counts, hierarchies, weights, least, 1, watch))));
        if is_adult || std::env::var("SLOW").is_ok() {
            methods.push((
                "bottom-up",
                Box::new(move || bottom_up::partition(counts, hierarchies, weights, least, watch)),
            ));
        }
        for (name, method) in methods {
            let start = Instant::now();
            let partition = method().expect("a partition");
            let seconds = start.elapsed().as_secs_f64();
            let recoding = partition.recode(counts, hierarchies, CellStyle::Ranges);
            println!(
                "{k:>4} {name:<18} {:>8.4} {:>8} {seconds:>8.3}",
                ncp(counts, hierarchies, &partition),
                partition.n_classes()
            );
            let _ = recoding;
        }
    }
}

fn ncp(counts: &GroupCounts, hierarchies: &[Hierarchy], partition: &Partition) -> f64 {
    let mut total = 0.0;
    for (a, h) in hierarchies.iter().enumerate() {
        let positions = h.positions();
        let range = positions.as_ref().map(|p| {
            let v: Vec<f64> = p.iter().flatten().copied().collect();
            v.iter().copied().fold(f64::MIN, f64::max) - v.iter().copied().fold(f64::MAX, f64::min)
        });
        let leaves: Vec<Vec<u32>> = (0..h.n_levels()).map(|l| h.n_leaves(l)).collect();
        for class in partition.classes() {
            let n: u64 = class.iter().map(|p| p.n_records).sum();
            let codes: Vec<_> = class.iter().map(|p| counts.codes(p.base as usize)[a]).collect();
            let x = match &positions {
                Some(p) => {
                    let v: Vec<f64> = codes.iter().filter_map(|c| p[c.index()]).collect();
                    (v.iter().copied().fold(f64::MIN, f64::max) - v.iter().copied().fold(f64::MAX, f64::min))
                        / range.unwrap()
                }
                None => {
                    let l = (0..h.n_levels())
                        .find(|&l| {
                            codes
                                .iter()
                                .all(|c| h.level(l).of_base()[c.index()] == h.level(l).of_base()[codes[0].index()])
                        })
                        .unwrap();
                    let s = leaves[l][h.level(l).of_base()[codes[0].index()].index()];
                    if s == 1 { 0.0 } else { s as f64 / h.level(0).len() as f64 }
                }
            };
            total += x * n as f64;
        }
    }
    total / counts.n_records() as f64 / hierarchies.len() as f64
}

fn adult(folder: &str) -> (GroupCounts, Vec<Hierarchy>) {
    let text = |path: String| std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let csv = text(format!("{folder}/adult.csv"));
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    let names: Vec<String> = reader.headers().expect("a header").iter().map(String::from).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("a record")).collect();
    let column =
        |i: usize| -> ArrayRef { Arc::new(records.iter().map(|record| Some(&record[i])).collect::<StringArray>()) };
    let batch =
        RecordBatch::try_from_iter(names.iter().enumerate().map(|(i, name)| (name, column(i)))).expect("columns");
    let missing = Missing { tokens: vec!["?".into()], drop_records: true };
    let mut counter = Counter::new(&ADULT, Some("hours-per-week"), &missing);
    counter.push(&batch).expect("columns of texts");
    let counts = counter.finish();
    let hierarchy = |name: &str| {
        let own = format!("{folder}/hierarchies/{name}.csv");
        let path =
            if std::path::Path::new(&own).exists() { own } else { format!("{folder}/arx-hierarchies/{name}.csv") };
        Rule::Table(LabelTable::parse(&path, &text(path.clone())).expect("a table of labels"))
    };
    let hierarchies =
        ADULT.iter().zip(counts.domains()).map(|(name, domain)| hierarchy(name).resolve(domain).expect("a tree"));
    let hierarchies = hierarchies.collect();
    (counts, hierarchies)
}

/// Records of eight attributes, four of numbers and four of categories, with some dependence between them.
fn generated(n_records: usize) -> (GroupCounts, Vec<Hierarchy>) {
    let mut random = Random::new(1);
    let names = ["age", "income", "day", "postcode", "job", "sex", "country", "school"];
    let sizes = [90, 200, 365, 1_000, 40, 2, 60, 16];
    let mut columns: Vec<Vec<i32>> = vec![Vec::with_capacity(n_records); names.len()];
    for _ in 0..n_records {
        let place = random.below(1_000);
        for (column, &size) in columns.iter_mut().zip(&sizes) {
            // Half of what a value is depends on where its record belongs; small values are more frequent.
            let own = random.below(size).min(random.below(size));
            column.push(((own + place * size / 1_000) / 2) as i32);
        }
    }
    let mut counter = Counter::new(&names, None, &Missing::default());
    let arrays = columns.into_iter().enumerate().map(|(i, column)| -> ArrayRef {
        match i < 4 {
            true => Arc::new(Int32Array::from(column)),
            false => Arc::new(column.into_iter().map(|value| Some(format!("v{value:02}"))).collect::<StringArray>()),
        }
    });
    counter.push(&RecordBatch::try_from_iter(names.iter().zip(arrays)).expect("columns")).expect("columns");
    let counts = counter.finish();
    let rule = |i: usize| match i < 4 {
        true => Rule::intervals(vec![10.0], 0.0).expect("a width"),
        false => Rule::mask(vec![1], incrowd::hierarchy::Side::Right).expect("a mask"),
    };
    let hierarchies = counts.domains().iter().enumerate().map(|(i, domain)| rule(i).resolve(domain).expect("a tree"));
    let hierarchies = hierarchies.collect();
    (counts, hierarchies)
}
