//! Labels in files: large numbers, times of zones, and values that are missing, from the table to the verified release.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, TimestampSecondArray};
use arrow_schema::{DataType, TimeUnit};
use incrowd::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::table::Cells;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::support;
use support::{Folder, Ran};

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn write_parquet(folder: &Folder, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("memory takes a file");
    writer.write(&batch).expect("memory takes a batch");
    writer.close().expect("memory takes a file");
    folder.write(name, bytes);
}

fn read_parquet(folder: &Folder, name: &str) -> RecordBatch {
    let file = std::fs::File::open(folder.join(name)).expect("it was written");
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("readable");
    reader.next().expect("one batch").expect("readable")
}

/// How many records of a Parquet file have each cell of a column; none where there is no value.
fn cells(batch: &RecordBatch, name: &str) -> BTreeMap<Option<String>, usize> {
    let column = batch.column_by_name(name).expect("it is there");
    let cells = Cells::new(name, column).expect("readable");
    let mut counts = BTreeMap::new();
    let mut text = String::new();
    for i in 0..cells.len() {
        *counts.entry(cells.read(i, &mut text).then(|| text.clone())).or_default() += 1;
    }
    counts
}

/// Everybody is there twice, so that k = 2 holds at every level.
const TWICE: &str = "publish --k 2 --max-suppressed 0";

/// The cases of the program as it was, and all around them: of every record, the published interval contains the number.
#[test]
fn every_published_interval_contains_its_number() {
    let starts = [
        5_551_234_560i128,
        9_007_199_254_740_980,
        -9_007_199_254_741_010,
        999_999_999_999_990,
        12_345_678_901_234_567_890_123,
        -20,
    ];
    for start in starts {
        for width in [2, 10, 25] {
            let line = |i: i128| format!("{0},{0}\n{0},{0}\n", start + i);
            let table = format!("phone,same\n{}", (0..40).map(line).collect::<String>());
            let project = format!(
                "[data]\npath = \"a.csv\"\nother = \"keep\"\n[attributes.phone]\nrole = \"quasi-identifier\"\n\
                 hierarchy = {{ intervals = [{width}] }}\n"
            );
            let folder = Folder::with(&[("a.csv", &table), ("incrowd.toml", &project)]);
            run(&folder, &format!("{TWICE} --levels phone=1 -o r.csv")).ends(0);
            let release = folder.read("r.csv");
            assert_eq!(release.lines().count(), 81);
            for line in release.lines().skip(1) {
                let (label, number) = line.rsplit_once(',').expect("two columns");
                // Some are written [20, 30), which leaves out its end; where a number has a sign, "to" stands between them.
                let (from, to, is_open) = match label.trim_matches('"').strip_prefix('[') {
                    Some(rest) => rest.trim_end_matches(')').split_once(", ").map(|(from, to)| (from, to, 1)),
                    None => {
                        let ends = label.split_once(" to ").or_else(|| label.split_once('-'));
                        ends.map(|(from, to)| (from, to, 0))
                    }
                }
                .expect("an interval");
                let [from, to] = [from, to].map(|end| end.parse::<i128>().expect("an end"));
                let to = to - is_open;
                let number: i128 = number.parse().expect("a number");
                assert!((from..=to).contains(&number) && to - from == width - 1, "{number} in {label}");
            }
        }
    }
}

#[test]
fn large_numbers_are_published_within_their_interval() {
    let phones: String = (0..80).map(|i| format!("{},x\n", 5_551_234_560u64 + i / 2)).collect();
    let project = "[data]\npath = \"a.csv\"\n[attributes.phone]\nrole = \"quasi-identifier\"\n\
        hierarchy = { intervals = [10, 20], origin = 9007199254740993 }\n[attributes.ill]\nrole = \"sensitive\"\n";
    let folder = Folder::with(&[("a.csv", &format!("phone,ill\n{phones}")), ("incrowd.toml", project)]);
    run(&folder, &format!("{TWICE} --levels phone=1 -o r.csv")).ends(0);
    let release = folder.read("r.csv");
    for (label, n) in [("5551234553-5551234562", 6), ("5551234563-5551234572", 20), ("5551234593-5551234602", 14)] {
        assert_eq!(release.matches(label).count(), n, "{release}");
    }
    // What cannot be exact is refused, and not shown.
    let long = "7".repeat(45);
    folder.write("a.csv", format!("phone,ill\n{long},x\n{phones}"));
    let ran = run(&folder, &format!("{TWICE} --force -o r.csv")).ends(2);
    assert!(ran.stderr.contains("attribute 'phone': 1 of 41 values have too many digits"), "{ran}");
    assert!(ran.stderr.contains("hint: 38 digits are exact") && !ran.stderr.contains("777"), "{ran}");
}

#[test]
fn times_of_a_zone_are_published_by_its_clock() {
    // Half past midnight on February 1st in a zone that is an hour ahead, and half past ten in the evening before.
    let instants = vec![1_706_743_800, 1_706_743_800, 1_706_736_600, 1_706_736_600];
    for (zone, months) in [
        (Some("+01:00"), ["2024-02", "2024-01"]),
        (Some("UTC"), ["2024-01", "2024-01"]),
        (Some("+05:30"), ["2024-02", "2024-02"]),
        (None, ["2024-01", "2024-01"]),
    ] {
        let folder = Folder::new();
        let at = || Arc::new(TimestampSecondArray::from(instants.clone()).with_timezone_opt(zone));
        let note = StringArray::from(vec!["late", "late", "early", "early"]);
        write_parquet(&folder, "t.parquet", vec![("at", at()), ("seen", at()), ("note", Arc::new(note))]);
        let project = "[data]\npath = \"t.parquet\"\nother = \"keep\"\n[attributes.at]\nrole = \"quasi-identifier\"\n\
            hierarchy = { dates = [\"month\"] }\n";
        folder.write("incrowd.toml", project);
        run(&folder, &format!("{TWICE} --levels at=1 -o r.parquet")).ends(0);
        let release = read_parquet(&folder, "r.parquet");
        let label_of = |note: &str| {
            let notes = release.column_by_name("note").expect("kept").to_data();
            let notes = StringArray::from(notes);
            let column = release.column_by_name("at").expect("published");
            let labels = Cells::new("at", column).expect("readable");
            let label = |row: usize| {
                let mut text = String::new();
                labels.read(row, &mut text);
                text
            };
            let mut labels: Vec<String> = (0..4).filter(|&i| notes.value(i) == note).map(label).collect();
            labels.dedup();
            assert_eq!(labels.len(), 1, "{zone:?}: equal records have one label");
            labels.remove(0)
        };
        assert_eq!([label_of("late"), label_of("early")], months, "{zone:?}");
        // What is kept comes back as it was.
        let seen = release.column_by_name("seen").expect("kept");
        assert_eq!(seen.data_type(), &DataType::Timestamp(TimeUnit::Second, zone.map(Into::into)));
        let mut kept =
            arrow_array::cast::AsArray::as_primitive::<arrow_array::types::TimestampSecondType>(seen).values().to_vec();
        kept.sort_unstable_by(|a, b| b.cmp(a));
        assert_eq!(kept, instants, "{zone:?}");
        // And exact values keep their type and their time.
        run(&folder, &format!("{TWICE} --levels at=0 --force -o r.parquet")).ends(0);
        let release = read_parquet(&folder, "r.parquet");
        assert_eq!(release.column_by_name("at").expect("published").data_type(), seen.data_type());
        run(&folder, "verify r.parquet --project .").ends(0);
    }
}

#[test]
fn times_of_a_named_zone_are_kept_but_are_no_dates() {
    let folder = Folder::new();
    let instants = vec![0, 0, 1_706_743_800, 1_706_743_800];
    let at = Arc::new(TimestampSecondArray::from(instants).with_timezone("Europe/Paris"));
    let age = Arc::new(StringArray::from(vec!["30", "30", "31", "31"]));
    write_parquet(&folder, "t.parquet", vec![("at", at), ("age", age)]);
    let project = |role: &str| {
        format!(
            "[data]\npath = \"t.parquet\"\nother = \"keep\"\n[attributes.at]\nrole = \"{role}\"\n\
             [attributes.age]\nrole = \"quasi-identifier\"\n"
        )
    };
    folder.write("incrowd.toml", project("other"));
    run(&folder, &format!("{TWICE} -o r.parquet")).ends(0);
    let release = read_parquet(&folder, "r.parquet");
    let column = release.column_by_name("at").expect("kept");
    assert_eq!(column.data_type(), &DataType::Timestamp(TimeUnit::Second, Some("Europe/Paris".into())));
    run(&folder, &format!("{TWICE} -o r.csv")).ends(0);
    assert!(folder.read("r.csv").contains("2024-01-31T23:30:00Z[Europe/Paris],31"), "{}", folder.read("r.csv"));
    let dates = project("quasi-identifier")
        .replace("[attributes.age]", "hierarchy = { dates = [\"month\"] }\n[attributes.age]");
    folder.write("incrowd.toml", dates);
    let ran = run(&folder, &format!("{TWICE} -o s.csv")).ends(2);
    assert!(ran.stderr.contains("attribute 'at': 2 of 2 values are times of a named zone"), "{ran}");
}

// ---- Values that are missing ----

const PROJECT: &str = r#"
[data]
path = "people.csv"
missing = ["?"]
missing_records = "keep"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10] }

[attributes.admitted]
role = "quasi-identifier"
hierarchy = { dates = ["month", "year"] }

[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = [1, 2] }

[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }

[attributes.ill]
role = "sensitive"
tells = "accepted"
"#;

const QUASI_IDENTIFIERS: [(&str, usize); 4] = [("age", 3), ("admitted", 3), ("postcode", 3), ("city", 2)];

fn people(tokens: &str) -> Folder {
    let cell = |i: usize, of: usize, text: String| if i % of == 0 { "?".to_string() } else { text };
    let line = |i: usize| {
        let age = cell(i, 7, (20 + (i * 13) % 40).to_string());
        let day = cell(i, 11, format!("202{}-{:02}-{:02}", i % 3, 1 + i % 12, 1 + i % 28));
        let postcode = cell(i, 13, format!("{:04}", 1000 + (i * 37) % 300));
        let city = cell(i, 5, ["Oslo", "Umea", "Rome", "Pisa"][i % 4].to_string());
        format!("{age},{day},{postcode},{city},{}\n", ["flu", "ulcer", "cold"][i % 3])
    };
    // Everybody is there twice.
    let csv: String = (0..240).map(|i| line(i / 2)).collect();
    let csv = format!("age,admitted,postcode,city,ill\n{csv}").replace('?', tokens);
    let project = match tokens {
        "" => PROJECT.replace("missing = [\"?\"]", "missing = [\"\"]"),
        token => PROJECT.replace("missing = [\"?\"]", &format!("missing = [\"{token}\"]")),
    };
    Folder::with(&[("people.csv", &csv), ("incrowd.toml", &project)])
}

/// That a column has no value for the records that have none, and a text for the others.
fn check_missing(folder: &Folder, release: &str, name: &str, n_missing: usize, token: &str) {
    let counts = cells(&read_parquet(folder, release), name);
    assert_eq!(counts.get(&None).copied().unwrap_or(0), n_missing, "{release} {name}: {counts:?}");
    assert!(!counts.contains_key(&Some(token.to_string())), "{release} {name}: {counts:?}");
}

#[test]
fn what_is_missing_is_missing_at_every_level() {
    for token in ["", "?"] {
        let folder = people(token);
        let every = |name: &str| match name {
            "age" => 2 * 120usize.div_ceil(7),
            "admitted" => 2 * 120usize.div_ceil(11),
            "postcode" => 2 * 120usize.div_ceil(13),
            _ => 2 * 120usize.div_ceil(5),
        };
        for (attribute, top) in QUASI_IDENTIFIERS {
            for level in 0..=top {
                for ending in ["csv", "parquet"] {
                    let release = format!("{attribute}-{level}.{ending}");
                    run(&folder, &format!("{TWICE} --levels {attribute}={level} -o {release}")).ends(0);
                    run(&folder, &format!("verify {release}")).ends(0);
                    run(&folder, &format!("verify {release} --project .")).ends(0);
                }
                let release = format!("{attribute}-{level}.parquet");
                let n_missing = if level < top { every(attribute) } else { 0 };
                check_missing(&folder, &release, attribute, n_missing, token);
                let csv = folder.read(&format!("{attribute}-{level}.csv"));
                let place = QUASI_IDENTIFIERS.iter().position(|(name, _)| *name == attribute).expect("one of them");
                let n_tokens = csv.lines().skip(1).filter(|line| line.split(',').nth(place) == Some(token)).count();
                assert_eq!(n_tokens, n_missing, "{attribute}={level}");
            }
        }
    }
}

#[test]
fn what_is_missing_is_missing_in_rounded_cells() {
    let line = |method: &Method| format!("--method {} --k 3 --cells rounded", method.name());
    let mut lines: Vec<String> = Method::KEEPING_L.iter().map(line).collect();
    lines.push("--method mondrian --k 3 --cells rounded --two-columns".into());
    check_missing_in(&lines);
}

#[test]
fn what_is_missing_is_missing_in_local_releases_and_record_by_record() {
    let styles = || CellStyle::ALL.into_iter().filter(|style| *style != CellStyle::Rounded);
    let line = |method: &Method| {
        let name = method.name();
        styles().map(move |style| format!("--method {name} --k 3 --cells {}", style.name()))
    };
    let mut lines: Vec<String> = Method::KEEPING_L.iter().flat_map(line).collect();
    lines.extend(["40%", "70%", "100%"].map(|share| format!("--method per-record --utility-at-least {share}")));
    lines.push("--method deal --k 4".into());
    check_missing_in(&lines);
}

/// Publishes in each of these ways, and looks for a text in the place of "no value".
fn check_missing_in(lines: &[String]) {
    let folder = people("?");
    for (i, line) in lines.iter().enumerate() {
        for ending in ["csv", "parquet"] {
            let release = format!("r{i}.{ending}");
            run(&folder, &format!("publish {line} -o {release}")).ends(0);
            run(&folder, &format!("verify {release}")).ends(0);
            if !line.contains("--two-columns") {
                run(&folder, &format!("verify {release} --project .")).ends(0);
            }
        }
        let batch = read_parquet(&folder, &format!("r{i}.parquet"));
        for column in batch.schema().fields() {
            let counts = cells(&batch, column.name());
            assert!(!counts.contains_key(&Some("?".into())) && !counts.contains_key(&Some(String::new())), "{line}");
        }
    }
}

/// Whom of the population a group may be is looked up by what is published, no value included.
#[test]
fn the_population_of_a_missing_value_is_found() {
    let folder = people("?");
    folder.write("population.csv", folder.read("people.csv"));
    let project = PROJECT.replace("path = \"people.csv\"", "path = \"people.csv\"\npopulation = \"population.csv\"");
    folder.write("incrowd.toml", project);
    for ending in ["csv", "parquet"] {
        let line = format!("publish --k-map 2 --levels age=2,admitted=2,postcode=2,city=1 -o r.{ending}");
        run(&folder, &line).ends(0);
        run(&folder, &format!("verify r.{ending} --project .")).ends(0);
    }
}

// ---- Weights, risks and estimates ----

#[test]
fn weights_count_in_proportion_however_large() {
    let folder = people("?");
    let ncp = |weights: [&str; 2]| {
        let project = PROJECT
            .replace("[attributes.admitted]", &format!("weight = {}\n[attributes.admitted]", weights[0]))
            .replace("[attributes.postcode]", &format!("weight = {}\n[attributes.postcode]", weights[1]));
        folder.write("incrowd.toml", project);
        let line = "negotiate --k 5 --max-suppressed 10% --json --quasi-identifiers age,admitted";
        let said = run(&folder, line).json();
        let global = said["exact"]["loss"]["ncp"].as_f64().expect("a loss");
        let said = run(&folder, "publish --method mondrian --k 5 --force -o r.csv --json").ends(0).json();
        (global, said["loss"]["ncp"].as_f64().or(said["ncp"].as_f64()))
    };
    let expected = ncp(["1.0", "1.0"]);
    assert!(expected.0 > 0.0);
    for weights in [["1e308", "1e308"], ["5e-324", "5e-324"], ["1e-300", "1e-300"]] {
        let found = ncp(weights);
        assert!((found.0 - expected.0).abs() < 1e-9, "{weights:?}: {found:?} and {expected:?}");
    }
    assert_eq!(ncp(["1.7e308", "1.7e308"]).0, expected.0);
    for wrong in ["nan", "inf", "-1"] {
        let project = PROJECT.replace("[attributes.admitted]", &format!("weight = {wrong}\n[attributes.admitted]"));
        folder.write("incrowd.toml", project);
        let ran = run(&folder, "negotiate --k 5").ends(2);
        assert!(ran.stderr.contains("attributes.age.weight must be a number of at least 0"), "{ran}");
    }
}

#[test]
fn a_risk_of_one_twentieth_is_at_most_0_05() {
    let lines: String = (0..20).chain(100..120).map(|i| format!("{i},x\n")).collect();
    let project = "[data]\npath = \"a.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
        hierarchy = { cuts = [100] }\n[attributes.ill]\nrole = \"sensitive\"\n";
    let folder = Folder::with(&[("a.csv", &format!("age,ill\n{lines}")), ("incrowd.toml", project)]);
    for (risk, at_most) in [("identity", "0.05"), ("sensitivity", "0.0025")] {
        let line = format!("publish --method per-record --risk {risk} --risk-at-most {at_most} --force -o r.csv");
        run(&folder, &line).ends(0);
        assert_eq!(folder.read("r.csv").matches("<100").count(), 20, "{risk}");
    }
}

/// Of `n` people with `x` values of one attribute and `y` of another, a label over all of them has the risk
/// (1/x + 1/y) / n, which is this decimal exactly.
#[test]
fn a_risk_that_is_exactly_the_limit_is_allowed() {
    for (x, y, n, limit, less) in [
        (2, 10, 12, "0.05", "0.049999"),
        (5, 10, 10, "0.03", "0.029999"),
        (5, 10, 20, "0.015", "0.014999"),
        (10, 10, 10, "0.02", "0.019999"),
        (10, 10, 40, "0.005", "0.004999"),
        (5, 20, 20, "0.0125", "0.012499"),
    ] {
        let lines: String = (0..n).map(|i| format!("{},{}\n1000,1000\n", i % x, i % y)).collect();
        let attribute =
            |name| format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ cuts = [100] }}\n");
        let project = format!("[data]\npath = \"a.csv\"\n{}{}", attribute("x"), attribute("y"));
        let folder = Folder::with(&[("a.csv", &format!("x,y\n{lines}")), ("incrowd.toml", &project)]);
        let n_labelled = |limit: &str| {
            let line = format!("publish --method per-record --risk-at-most {limit} --force -o r.csv");
            run(&folder, &line).ends(0);
            folder.read("r.csv").matches("<100,<100").count()
        };
        assert_eq!((n_labelled(limit), n_labelled(less)), (n, 0), "{x} and {y} values, {n} people: {limit}");
    }
}

#[test]
fn an_estimate_beyond_any_machine_is_said_in_words() {
    let names: Vec<String> = (0..40).map(|i| format!("a{i}")).collect();
    let rows: String = (0..30)
        .map(|i| (0..40).map(|a| ((i * (a + 3)) % 50).to_string()).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let attributes: String = names
        .iter()
        .map(|name| {
            format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ intervals = [2, 4, 8] }}\n")
        })
        .collect();
    let folder = Folder::with(&[
        ("a.csv", &format!("{}\n{rows}", names.join(","))),
        ("incrowd.toml", &format!("[data]\npath = \"a.csv\"\n{attributes}")),
    ]);
    for line in ["negotiate --k 2 --time 1s", "annotate --full", "negotiate --k 2 --full"] {
        let ran = run(&folder, line);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains("18,446") && !said.contains("18446"), "{ran}");
        assert!(said.contains("more memory than any machine has"), "{ran}");
    }
}
