//! What `publish` wrote, `verify` believes: every time, however it was written, and in one order only.

use crate::support;

use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use serde_json::Value;
use support::{Folder, Ran, Random};

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn certificate(folder: &Folder, release: &str) -> Value {
    serde_json::from_str(&folder.read(&format!("{release}.certificate.json"))).expect("a certificate is JSON")
}

/// A field as CSV writes it.
fn field(text: &str, delimiter: char) -> String {
    let is_plain = !text.contains([delimiter, '"', '\n', '\r']) && !text.is_empty();
    if is_plain { text.to_string() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

fn csv(delimiter: char, names: &[&str], records: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| {
        let fields: Vec<String> = cells.iter().map(|cell| field(cell, delimiter)).collect();
        format!("{}\n", fields.join(&delimiter.to_string()))
    };
    let header = line(names.to_vec());
    records.iter().fold(header, |text, record| text + &line(record.iter().map(String::as_str).collect()))
}

/// Every way to generalize, as flags.
fn methods() -> Vec<String> {
    let local = Method::ALL.map(|method| format!("--method {} --k 3", method.name()));
    let others = [
        "--k 3 --max-suppressed 10%",
        "--method per-record --utility-at-least 60%",
        "--method per-record --utility-at-least 60% --also-k 3",
    ];
    local.into_iter().chain(others.map(str::to_string)).collect()
}

// ---- The same answer every time ----

const DEALT: &str = r#"
[data]
path = "people.csv"
missing = ["?"]
missing_records = "keep"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20], origin = 0 }

[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }

[attributes.disease]
role = "sensitive"
hierarchy = { tree = { stomach = ["gastritis", "ulcer"], lungs = ["flu", "bronchitis"] } }
distance = "hierarchical"
"#;

/// Sums over groups must not depend on the order in which a map gives them, which is another one in every run. Of eight
/// groups, a mean is often half a millionth, where the last bit of a sum decides the last digit.
#[test]
fn a_dealt_release_is_verified_the_same_every_time() {
    for seed in 0..10 {
        let mut random = Random(seed);
        let record = |_| {
            let city = random.pick(&["Oslo", "Umea", "Rome", "Pisa", "?"]).to_string();
            let disease = random.pick(&["flu", "flu", "ulcer", "gastritis", "bronchitis", "?"]).to_string();
            vec![(20 + random.below(50)).to_string(), city, disease]
        };
        let records: Vec<Vec<String>> = (0..59).map(record).collect();
        let table = csv(',', &["age", "city", "disease"], &records);
        let folder = Folder::with(&[("people.csv", &table), ("incrowd.toml", DEALT)]);
        let line = format!("publish --method deal --k 7 --t 0.9 -o dealt.parquet --key {}", "5f".repeat(32));
        run(&folder, &line).ends(0);
        let (certificate, release) = (folder.bytes("dealt.parquet.certificate.json"), folder.bytes("dealt.parquet"));
        for _ in 0..10 {
            run(&folder, "verify dealt.parquet").ends(0);
        }
        run(&folder, "verify dealt.parquet --project .").ends(0);
        for _ in 0..3 {
            run(&folder, &format!("{line} --force")).ends(0);
            assert_eq!(folder.bytes("dealt.parquet.certificate.json"), certificate, "the same certificate");
            assert_eq!(folder.bytes("dealt.parquet"), release, "the same release");
        }
    }
}

// ---- Two columns ----

#[test]
fn a_release_with_two_columns_per_number_is_compared_with_its_project() {
    let record = |i: usize| {
        let sex = if i % 3 == 0 { "f" } else { "m" };
        // A column that happens to end like the one of two.
        vec![(20 + i * 7 % 40).to_string(), sex.to_string(), (i % 4).to_string(), format!("d{}", i % 5)]
    };
    let records: Vec<Vec<String>> = (0..60).map(record).collect();
    let table = csv(',', &["age", "sex", "tide_low", "ill"], &records);
    let project = "[data]\npath = \"a.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
        [attributes.sex]\nrole = \"quasi-identifier\"\n[attributes.tide_low]\nrole = \"quasi-identifier\"\n\
        [attributes.ill]\nrole = \"sensitive\"\n";
    let folder = Folder::with(&[("a.csv", &table), ("incrowd.toml", project)]);
    // Cells that are exact or hidden have no ends.
    for method in Method::ALL.into_iter().filter(|method| *method != Method::Cells) {
        for release in ["r.csv", "r.parquet"] {
            let flags = format!("--method {} --k 6 --t 0.9 --two-columns --force -o {release}", method.name());
            run(&folder, &format!("publish {flags}")).ends(0);
            let columns = &certificate(&folder, release)["quasi_identifiers"];
            assert_eq!(columns.to_string(), r#"["age_low","age_high","sex","tide_low_low","tide_low_high"]"#);
            let verdict = run(&folder, &format!("verify {release} --project . --json")).ends(0).json();
            assert_eq!((&verdict["answer"], &verdict["criteria"]["t"]["judged"]), (&"kept".into(), &true.into()));
        }
    }
    let said = run(&folder, "verify r.csv --project . --quasi-identifiers age_low --sensitive ill --t 0.9").ends(2);
    assert!(said.stderr.contains("age_low"), "half of a pair is no attribute: {said}");
}

/// The two ends of a label, as docs/cells.md has them.
fn ends(label: &str, is_whole: bool) -> [String; 2] {
    let pair = |low: &str, high: &str| [low.to_string(), high.to_string()];
    let days_of = |month: u32| [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize - 1];
    match label {
        "*" | "" => pair("", ""),
        _ if label.starts_with(">=") => pair(&label[2..], ""),
        _ if label.starts_with('<') && is_whole => {
            pair("", &(label[1..].parse::<i32>().expect("a number") - 1).to_string())
        }
        _ if label.starts_with('<') => pair("", &label[1..]),
        _ if label.starts_with('[') => {
            let (low, high) = label[1..label.len() - 1].split_once(", ").expect("two ends");
            pair(low, high)
        }
        _ if label.len() == 7 && label.starts_with("2024-") => {
            pair(&format!("{label}-01"), &format!("{label}-{}", days_of(label[5..].parse().expect("a month"))))
        }
        "2024" => pair("2024-01-01", "2024-12-31"),
        _ if label.len() == 10 => pair(label, label),
        _ => match label.split_once(" to ").or_else(|| label.split_once('-').filter(|(low, _)| !low.is_empty())) {
            Some((low, high)) => pair(low, high),
            None => pair(label, label),
        },
    }
}

const TWO_ENDS: &str = r#"
[data]
path = "a.csv"
population = "town.csv"
[attributes.who]
role = "person"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10], below = 18, above = 60 }
[attributes.balance]
role = "quasi-identifier"
hierarchy = { cuts = [[-10, -5, 0, 5], [-5]] }
[attributes.bmi]
role = "quasi-identifier"
hierarchy = { intervals = [2.5, 5] }
[attributes.seen]
role = "quasi-identifier"
hierarchy = { dates = ["month", "year"] }
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome"] } }
[attributes.ill]
role = "sensitive"
"#;

/// One level per attribute: what stands in one column, two say as well, with the same groups and the same promise.
#[test]
fn one_level_is_written_as_two_columns() {
    let record = |i: usize| -> Vec<String> {
        let age = if i % 16 == 5 { String::new() } else { (10 + i * 7 % 60).to_string() };
        let balance = (i as i32 * 5 % 23 - 12).to_string();
        let bmi = format!("{}.{}", 18 + i % 9, 1 + i % 4);
        let seen = format!("2024-{:02}-{:02}", 1 + i % 12, 1 + i * 3 % 28);
        let city = ["Oslo", "Umea", "Rome"][i % 3].to_string();
        vec![format!("p{}", i % 60), age, balance, bmi, seen, city, format!("d{}", i % 4)]
    };
    let records: Vec<Vec<String>> = (0..96).map(record).collect();
    let names = ["who", "age", "balance", "bmi", "seen", "city", "ill"];
    let table = csv(',', &names, &records);
    let town = csv(
        ',',
        &names[1..],
        &[&records[..], &records[..]].concat().iter().map(|r| r[1..].to_vec()).collect::<Vec<_>>(),
    );
    let folder = Folder::with(&[("a.csv", &table), ("town.csv", &town), ("incrowd.toml", TWO_ENDS)]);
    for levels in [
        "age=0,balance=0,bmi=0,seen=0,city=0",
        "age=1,balance=1,bmi=1,seen=1,city=1",
        "age=2,balance=2,bmi=2,seen=2,city=0",
        "age=3,balance=1,bmi=3,seen=3,city=2",
    ] {
        let line = format!("publish --levels {levels} --k-map 2 --max-suppressed 100% --force");
        run(&folder, &format!("{line} -o one.csv")).ends(0);
        let one = certificate(&folder, "one.csv");
        let rows = |release: &str| -> Vec<Vec<String>> {
            let text = folder.read(release);
            let cells = |line: &str| {
                let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
                let record = reader.records().next().expect("a line").expect("CSV");
                record.iter().map(str::to_string).collect()
            };
            text.lines().skip(1).map(cells).collect()
        };
        let two_of = |row: &Vec<String>| -> Vec<String> {
            let [age, balance, bmi, seen, city, ill] = &row[..] else { panic!("six columns: {row:?}") };
            let numbers = [ends(age, true), ends(balance, true), ends(bmi, false), ends(seen, false)];
            numbers.into_iter().flatten().chain([city.clone(), ill.clone()]).collect()
        };
        let mut expected: Vec<Vec<String>> = rows("one.csv").iter().map(two_of).collect();
        expected.sort();
        for release in ["two.csv", "two.parquet"] {
            run(&folder, &format!("{line} --two-columns -o {release}")).ends(0);
            let two = certificate(&folder, release);
            let columns = [
                "age_low",
                "age_high",
                "balance_low",
                "balance_high",
                "bmi_low",
                "bmi_high",
                "seen_low",
                "seen_high",
                "city",
            ];
            assert_eq!(two["quasi_identifiers"], serde_json::json!(columns));
            for same in ["levels", "level_names", "n_groups", "n_records_published", "criteria", "smallest_group"] {
                assert_eq!(one[same], two[same], "{levels} {same}");
            }
            run(&folder, &format!("verify {release}"));
            let verdict = run(&folder, &format!("verify {release} --project . --json")).ends(0).json();
            assert_eq!(verdict["answer"], "kept", "{levels} {release}: {verdict}");
            assert_eq!(verdict["criteria"]["k_map"]["judged"], true, "{levels} {release}: {verdict}");
        }
        let mut found = rows("two.csv");
        found.sort();
        assert_eq!(found, expected, "{levels}");
    }
    run(&folder, "publish --k 2 --max-suppressed 50% --two-columns --force -o two.csv").ends(0);
    run(&folder, "verify two.csv --project .").ends(0);
}

// ---- How a release is written ----

/// All separators, styles and numbers of columns, with names and values that contain every separator.
#[test]
fn whatever_publish_writes_verify_reads() {
    let delimiters = [(",", ','), (";", ';'), ("tab", '\t'), ("|", '|'), (":", ':'), (" ", ' '), ("a", 'a')];
    for (written, delimiter) in delimiters {
        for n_columns in 1..=3 {
            for plain_names in [true, false] {
                let names = match plain_names {
                    true => ["city", "job", "kept"],
                    false => ["ci,t;y:| x", "a:b\tj", "k|,|;"],
                };
                let value = |i: usize| ["{a,b}", "a,b", "a", "b;c", "d|e:f", "x\ty z", "\\{,", ""][i % 8].to_string();
                let record = |i: usize| (0..n_columns).map(|column| value(i * (column + 1) + i / 8)).collect();
                let records: Vec<Vec<String>> = (0..48).map(record).collect();
                let text = |text: &str| toml::Value::from(text.to_string()).to_string();
                let mut project = format!(
                    "[data]\npath = \"a.csv\"\nmissing = [\"none\"]\nother = \"keep\"\ndelimiter = {}\n",
                    text(written)
                );
                // One quasi-identifier, or two and a column that is kept.
                for name in &names[..n_columns.min(2)] {
                    project += &format!("[attributes.{}]\nrole = \"quasi-identifier\"\n", text(name));
                }
                let table = csv(delimiter, &names[..n_columns], &records);
                let folder = Folder::with(&[("a.csv", &table), ("incrowd.toml", &project)]);
                for style in CellStyle::ALL {
                    let flags = ["--method", "mondrian", "--k", "3", "--force", "--cells", style.name(), "-o", "r.csv"];
                    folder.run(&[&["publish"], &flags[..]].concat()).ends(0);
                    let verdict = folder.run(&["verify", "r.csv", "--json"]).ends(0).json();
                    assert_eq!(verdict["answer"], "kept", "{written:?} {n_columns} {}", style.name());
                    let said = certificate(&folder, "r.csv")["delimiter"].as_str().expect("one").to_string();
                    // Who has the file alone finds out how it is separated, or says it.
                    let mut flags = vec!["verify", "r.csv", "--quasi-identifiers", "kept", "--k", "2"];
                    if ": a".contains(&said) {
                        flags.extend(["--delimiter", &said]);
                    }
                    if plain_names && n_columns == 3 {
                        let ran = folder.run(&flags);
                        assert!(ran.stdout.contains("records in"), "{ran}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_delimiter_is_named_alike_everywhere() {
    let project = "[data]\npath = \"a.csv\"\ndelimiter = \"tab\"\n[attributes.x]\nrole = \"quasi-identifier\"\n";
    let folder = Folder::with(&[("a.csv", "x\ty\n1\t2\n1\t3\n"), ("incrowd.toml", project)]);
    run(&folder, "publish --k 2 -o r.csv").ends(0);
    for command in ["verify a.csv --quasi-identifiers x --k 2", "profile a.csv", "init a.csv --force -o other"] {
        for name in ["tab", "\\t", "\t"] {
            let args: Vec<&str> = command.split_whitespace().chain(["--delimiter", name]).collect();
            folder.run(&args).ends(0);
        }
        for name in ["", "tabs", "é", "\"", "\n"] {
            let args: Vec<&str> = command.split_whitespace().chain(["--delimiter", name]).collect();
            assert!(folder.run(&args).ends(2).stderr.contains("must be one character, or \"tab\""), "{command}");
            let written = toml::Value::from(name.to_string()).to_string();
            folder.write("wrong.toml", project.replace("\"tab\"", &written));
            let said = run(&folder, "negotiate wrong.toml --k 2").ends(2).stderr;
            assert!(said.contains("data.delimiter must be one character, or \"tab\""), "{said}");
        }
    }
}

// ---- The order of records ----

/// A table of which columns are kept that hold all that is hard to order, in the project that publishes it.
struct Odd {
    names: Vec<&'static str>,
    records: Vec<Vec<String>>,
    n_sensitive: usize,
}

/// The kinds of columns that are kept, each with values of which some are written in several ways.
const ODD: [&[&str]; 7] = [
    &["1.50", "1.5", "1e3", "-0.25", "10", "9", "?", "1.", ".5", "-0", "1E0", "5e-1"],
    &["2024-02-29", "1999-12-31", "2001-01-01", "?"],
    &["b", "a", "", "é", "z\"q", "x,y", "two\nlines", "?", " a", "A", "\u{1}"],
    &["10", "9", "-3", "100", "?"],
    &["true", "false", "?"],
    &["2024-02-29T10:00:00", "2024-02-29", "?"],
    &["007", "10", "9.0", "?", "NA"],
];

impl Odd {
    /// Of a certain kind first of all.
    fn new(kind: usize, random: &mut Random) -> Odd {
        let n_sensitive = random.below(3);
        let n_kept = 1 + random.below(3);
        let mut names = vec!["age", "city"];
        names.extend(&["ill", "income"][..n_sensitive]);
        names.extend(&["k1", "k2", "k3"][..n_kept]);
        let mut kinds: Vec<&[&str]> = (0..n_kept).map(|_| *random.pick(&ODD)).collect();
        kinds[0] = ODD[kind % ODD.len()];
        let n_records = 12 + random.below(40);
        let record = |_| {
            let mut cells = vec![
                random.pick(&["21", "22", "23", "30", "41", "?"]).to_string(),
                random.pick(&["Oslo", "Rome", "Pisa"]).to_string(),
            ];
            cells.extend((0..n_sensitive).map(|_| random.pick(&["flu", "gout", "mumps", "?"]).to_string()));
            cells.extend(kinds.iter().map(|kind| random.pick(kind).to_string()));
            cells
        };
        Odd { records: (0..n_records).map(record).collect(), names, n_sensitive }
    }

    fn project(&self, data: &str) -> String {
        let mut text = format!(
            "[data]\npath = \"{data}\"\nmissing = [\"?\", \"NA\"]\nmissing_records = \"keep\"\nother = \"keep\"\n\
             [attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = {{ intervals = [10, 20], origin = 0 }}\n\
             [attributes.city]\nrole = \"quasi-identifier\"\n"
        );
        for name in &self.names[2..2 + self.n_sensitive] {
            text += &format!("[attributes.{name}]\nrole = \"sensitive\"\n");
        }
        text
    }

    fn table(&self) -> String {
        csv(',', &self.names, &self.records)
    }

    /// Dealing needs something to deal by.
    fn methods(&self) -> impl Iterator<Item = String> {
        let can_deal = self.n_sensitive > 0;
        methods().into_iter().filter(move |flags| can_deal || !flags.contains("deal"))
    }
}

/// Whatever is kept and however it is written, a release is in the order that it claims; and in another order it is
/// rejected, by whoever adjusted its hash too.
#[test]
fn an_honest_release_is_in_order_and_a_shuffled_one_is_rejected() {
    let mut n_shuffled = 0;
    for seed in 0..14 {
        let mut random = Random(seed);
        let odd = Odd::new(seed as usize, &mut random);
        let mut methods: Vec<String> = odd.methods().collect();
        random.shuffle(&mut methods);
        let folder = Folder::with(&[("a.csv", &odd.table()), ("incrowd.toml", &odd.project("a.csv"))]);
        // A typed table of the same records.
        run(&folder, "publish --method per-record --utility-at-least 100% -o typed.parquet").ends(0);
        folder.write("typed/incrowd.toml", odd.project("../typed.parquet"));
        for (place, release) in
            [(".", "r.csv"), (".", "r.parquet"), ("typed", "typed/r.csv"), ("typed", "typed/r.parquet")]
        {
            for flags in &methods[..2] {
                let said = run(&folder, &format!("publish {place} {flags} --force -o {release} --json"));
                assert_eq!(said.code, Some(0), "seed {seed}: {said}");
                assert_eq!(certificate(&folder, release)["sorted"], true);
                let said = run(&folder, &format!("verify {release} --json"));
                assert_eq!(said.code, Some(0), "seed {seed}, {flags}: {said}");
                let claims = said.json()["claims"].to_string();
                assert!(claims.contains("order of records"), "{claims}");
                if release.ends_with(".csv") {
                    n_shuffled += usize::from(is_rejected_in_another_order(&folder, release, &mut random));
                }
            }
        }
    }
    assert!(n_shuffled > 40, "{n_shuffled} were put in another order");
}

/// Puts the records of a CSV file in another order and its new hash into the certificate; false where all orders of it are
/// the same.
fn is_rejected_in_another_order(folder: &Folder, release: &str, random: &mut Random) -> bool {
    let text = folder.read(release);
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let mut records: Vec<csv::StringRecord> = reader.records().map(|record| record.expect("CSV")).collect();
    let before = records.clone();
    random.shuffle(&mut records);
    if records == before {
        return false;
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(reader.headers().expect("a header")).expect("memory");
    records.iter().for_each(|record| writer.write_record(record).expect("memory"));
    let shuffled = writer.into_inner().expect("memory");
    folder.write("shuffled.csv", &shuffled);
    let mut certificate = certificate(folder, release);
    certificate["output"]["sha256"] = incrowd_workbench::input::digest::sha256_of(&shuffled).into();
    folder.write("shuffled.csv.certificate.json", certificate.to_string());
    let verdict = run(folder, "verify shuffled.csv --json").ends(1).json();
    let claims = verdict["claims"].as_array().expect("claims");
    let wrong: Vec<&Value> =
        claims.iter().filter(|claim| claim["holds"] == false).map(|claim| &claim["claim"]).collect();
    assert_eq!((verdict["answer"].as_str(), wrong), (Some("broken"), vec![&Value::from("order of records")]));
    // A certificate of version 1 does not claim an order.
    certificate.as_object_mut().expect("an object").remove("sorted");
    certificate["format_version"] = 1.into();
    folder.write("shuffled.csv.certificate.json", certificate.to_string());
    run(folder, "verify shuffled.csv").ends(0);
    true
}

/// However the records of a table come, the release is the same to the byte: whatever is kept, with every method.
#[test]
fn the_order_of_the_table_changes_no_byte_of_a_release() {
    for seed in 0..6 {
        let mut random = Random(seed + 100);
        let mut odd = Odd::new(seed as usize, &mut random);
        if seed == 0 {
            // Nothing is kept beside the sensitive attributes.
            (odd.n_sensitive, odd.names) = (2, vec!["age", "city", "ill", "income"]);
            let cell = |random: &mut Random| random.pick(&["flu", "gout", "mumps"]).to_string();
            odd.records.iter_mut().for_each(|record| {
                record.truncate(2);
                record.extend([cell(&mut random), cell(&mut random)]);
            });
        }
        let folder = Folder::with(&[("a.csv", &odd.table()), ("incrowd.toml", &odd.project("a.csv"))]);
        random.shuffle(&mut odd.records);
        let shuffled = Folder::with(&[("a.csv", &odd.table()), ("incrowd.toml", &odd.project("a.csv"))]);
        let about = ["", "--sensitive ill", "--sensitive income"];
        for flags in odd.methods() {
            for about in &about[..=odd.n_sensitive] {
                for release in ["r.csv", "r.parquet"] {
                    let line = format!("publish {flags} {about} --force -o {release}");
                    run(&folder, &line).ends(0);
                    run(&shuffled, &line).ends(0);
                    assert_eq!(folder.bytes(release), shuffled.bytes(release), "seed {seed}: {line}");
                }
            }
        }
    }
}
