//! Garbage in, no crash out: thousands of random and damaged texts for everything that is parsed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use incrowd::hierarchy::LabelTable;
use incrowd::task::Task;
use incrowd::verify::SuppressedAs;
use incrowd::wire::{Certificate, check_claims};
use incrowd::{Criteria, Domain, Level, Request, Result, Rule, Scheme, Verifier, negotiate};
use incrowd_workbench::input::count::{Choice, count};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::input::source::{ReadOptions, Source};
use incrowd_workbench::input::survey;
use incrowd_workbench::work::{Watch, Work};
use parquet::arrow::ArrowWriter;

use crate::support;
use support::{Folder, Random};

const DATA: &str = "\
age,sex,postcode,seen,disease
34,f,01067,2024-01-05,flu
36,m,01067,2024-02-29,\"co;ld\"
34,f,01069,1999-12-31,flu
51,m,04109,2024-01-05,?
52.5,f,04109,0001-01-01,gout
";

const LABELS: &str = "01067;Dresden;Saxony\n01069;Dresden;Saxony\n04109;\"Leip;zig\";Saxony\n";

const PROJECT: &str = r#"
[data]
path = "data.csv"
delimiter = ","
missing = ["?", ""]
missing_records = "keep"
other = "keep"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20], origin = 0.5 }
weight = 2.5

[attributes.sex]
role = "quasi-identifier"
hierarchy = { tree = { any = ["f", "m"] } }

[attributes.postcode]
role = "quasi-identifier"
hierarchy = "labels.csv"

[attributes.seen]
role = "quasi-identifier"
hierarchy = { dates = ["month", "year"] }

[attributes.disease]
role = "sensitive"

[request]
k = 2
l = 2
max_suppressed = "10%"
max_level = { age = 2 }
"#;

/// Pieces that parsers stumble over.
const STONES: [&str; 48] = [
    "\"",
    "\"\"",
    "'",
    ",",
    ";",
    "\t",
    "|",
    "\n",
    "\r",
    "\r\n",
    "\0",
    "\u{feff}",
    "é",
    "\u{1F600}",
    "\u{202e}",
    "*",
    "=",
    "[",
    "]",
    "[[",
    "{",
    "}",
    "#",
    ".",
    "-",
    "-1",
    "0",
    "00",
    "1e999",
    "1e-300",
    "1e308",
    "nan",
    "-inf",
    "0.1",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "99999-99-99",
    "0000-00-00",
    "2024-02-30",
    "true",
    "[1, 1]",
    "[[1], [2]]",
    "{ mask = 200 }",
    "{ cuts = [1e308, 1e309] }",
    "null",
    "\\u0000",
    "\\",
];

/// A text of nothing but stones and letters.
fn random_text(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(60) {
        match random.below(4) {
            0 => text.extend_from_slice(random.pick(&STONES).as_bytes()),
            1 => text.push(random.next() as u8),
            2 => text.extend_from_slice(random.below(1_000).to_string().as_bytes()),
            _ => text.push(b'a' + random.below(26) as u8),
        }
    }
    text
}

/// A good text with a few things changed.
fn damaged(random: &mut Random, good: &[u8]) -> Vec<u8> {
    let mut text = good.to_vec();
    for _ in 0..1 + random.below(5) {
        let at = random.below(text.len() + 1);
        let end = (at + random.below(12)).min(text.len());
        match random.below(6) {
            0 => text.truncate(at),
            1 => drop(text.drain(at..end)),
            2 => text.extend_from_within(at..end),
            3 => drop(text.splice(at..at, random.pick(&STONES).bytes())),
            4 => drop(text.splice(at..end, random.pick(&STONES).bytes())),
            _ if at < text.len() => text[at] ^= 1 << random.below(8),
            _ => {}
        }
    }
    text
}

/// Feeds a parser with texts until one makes it panic; says which one did.
#[track_caller]
fn check(n_texts: u64, good: &[u8], parse: impl Fn(&[u8]) -> bool) {
    let mut n_parsed = 0;
    for seed in 0..n_texts {
        let mut random = Random(seed);
        let text = if seed % 4 == 0 { random_text(&mut random) } else { damaged(&mut random, good) };
        match catch_unwind(AssertUnwindSafe(|| parse(&text))) {
            Ok(is_good) => n_parsed += u64::from(is_good),
            Err(_) => panic!("seed {seed} makes it panic:\n{}", String::from_utf8_lossy(&text).escape_debug()),
        }
    }
    assert!(parse(good), "the good text is good");
    assert!(n_parsed > 0 && n_parsed < n_texts, "{n_parsed} of {n_texts} texts are good: this tests nothing");
}

fn folder() -> Folder {
    Folder::with(&[("data.csv", DATA), ("labels.csv", LABELS), ("incrowd.toml", PROJECT)])
}

/// Everything that is done with a project, up to an answer.
fn answer(folder: &Path) -> Result<()> {
    let project = Project::open(folder)?;
    let counted = count(&project, &Choice::default(), &Work::new(Some(1), None, Watch::default()))?;
    let task = Task { n_bytes_max: 50_000_000, ..Task::default() };
    let lattice = counted.annotate([], false, &task)?;
    let top = lattice.schemes().tops().iter().map(|&top| Level(top)).collect();
    let criteria = Criteria::of(Some(2), None);
    negotiate(
        &lattice,
        &Request { criteria, n_suppressed_max: 0, level_max: Scheme::new(top), best_by: Default::default() },
    )?;
    Ok(())
}

#[test]
fn no_project_file_makes_it_panic() {
    let folder = folder();
    check(2_500, PROJECT.as_bytes(), |text| {
        folder.write("incrowd.toml", text);
        answer(folder.path()).is_ok()
    });
}

#[test]
fn no_hierarchy_of_a_project_makes_it_panic() {
    let folder = folder();
    let values = ["1", "5", "1e308", "1e-300", "-1", "0.1", "0.3", "nan", "inf", "200", "\"month\"", "\"year\"", "[1]"];
    let kinds = ["intervals", "cuts", "mask", "dates", "tree", "flat", "file"];
    for seed in 0..2_000 {
        let mut random = Random(seed);
        let list = |random: &mut Random| {
            let values: Vec<&str> = (0..random.below(4)).map(|_| *random.pick(&values)).collect();
            format!("[{}]", values.join(", "))
        };
        let value = match random.below(3) {
            0 => random.pick(&values).to_string(),
            1 => list(&mut random),
            _ => format!("[{}, {}]", list(&mut random), list(&mut random)),
        };
        let extra = *random.pick(&["", "", ", origin = 1e308", ", origin = -0.1", ", from = \"left\""]);
        let hierarchy = format!("{{ {} = {value}{extra} }}", random.pick(&kinds));
        let project = PROJECT.replace("{ intervals = [5, 10, 20], origin = 0.5 }", &hierarchy);
        folder.write("incrowd.toml", project);
        if catch_unwind(AssertUnwindSafe(|| answer(folder.path()))).is_err() {
            panic!("seed {seed}: hierarchy = {hierarchy}");
        }
    }
}

#[test]
fn no_data_make_it_panic() {
    let folder = folder();
    check(2_500, DATA.as_bytes(), |text| {
        folder.write("data.csv", text);
        answer(folder.path()).is_ok()
    });
}

#[test]
fn no_data_make_a_survey_panic() {
    let folder = folder();
    check(2_500, DATA.as_bytes(), |text| {
        folder.write("data.csv", text);
        let look = || {
            let source = Source::open(&folder.join("data.csv"), &ReadOptions::default())?;
            let survey = survey::survey(&source, None, &Work::default())?;
            survey::suggest(&survey);
            Ok::<(), incrowd::Error>(())
        };
        look().is_ok()
    });
}

#[test]
fn no_separator_makes_it_panic() {
    let folder = folder();
    for delimiter in 0..=255 {
        let read = || {
            let source = Source::open(&folder.join("data.csv"), &ReadOptions::of_delimiter(Some(delimiter)))?;
            source.for_each(&source.column_names(), |_, _| Ok(()))
        };
        assert!(catch_unwind(AssertUnwindSafe(read)).is_ok(), "separator {delimiter}");
    }
}

#[test]
fn no_hierarchy_file_makes_it_panic() {
    let values = ["01067", "01069", "04109"].map(str::to_string).to_vec();
    let domains = [Domain::new("postcode", values.clone(), None), Domain::new("postcode", values, Some("?"))];
    check(8_000, LABELS.as_bytes(), |text| {
        let text = String::from_utf8_lossy(text);
        let Ok(table) = LabelTable::parse("labels.csv", &text) else { return false };
        domains.iter().all(|domain| Rule::Table(table.clone()).resolve(domain).is_ok())
    });
}

#[test]
fn no_certificate_makes_it_panic() {
    let folder = Folder::with(&[("data.csv", DATA), ("labels.csv", LABELS), ("incrowd.toml", PROJECT)]);
    folder.run(&["publish", "--k", "2", "--max-suppressed", "0"]).ends(0);
    let good = folder.bytes("release.csv.certificate.json");
    let verdict =
        Verifier::new(&[], &[], SuppressedAs::Group).verdict(&Criteria::of(Some(2), None), &Default::default());
    check(8_000, &good, |text| {
        let Ok(certificate) = serde_json::from_slice::<Certificate>(text) else { return false };
        certificate.promised();
        check_claims(&certificate, &verdict, &[], "");
        true
    });
}

#[test]
fn no_damaged_parquet_file_makes_it_panic() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("flu"), None, Some("gout"), Some("flu")]));
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(2), None, Some(1)]));
    let batch = RecordBatch::try_from_iter([("disease", texts), ("age", numbers)]).expect("a batch");
    let mut good = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut good, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("memory takes a batch");
    writer.close().expect("memory takes a file");
    let folder = Folder::new();
    check(4_000, &good, |bytes| {
        folder.write("data.parquet", bytes);
        let read = || {
            let source = Source::open(&folder.join("data.parquet"), &ReadOptions::default())?;
            source.for_each(&source.column_names(), |_, _| Ok(()))
        };
        read().is_ok()
    });
}
