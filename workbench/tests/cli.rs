//! The contract of the command line: what is printed where, how it ends, and what a release looks like.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float32Array, Int16Array, RecordBatch, StringArray,
    TimestampMillisecondArray,
};
use arrow_schema::{DataType, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;
use serde_json::{Value, json};

use crate::support;
use support::{Folder, Ran, Random};

const PATIENTS: &str = "\
ward,age,name,sex,disease,postcode,admitted,weight
N,34,Ann,f,flu,01067,2024-01-05,61.5
N,36,Bob,m,cold,01067,2024-01-17,80
S,34,Cid,m,flu,01069,2024-02-11,75.25
S,51,Dee,f,asthma,04109,2024-02-28,58
N,52,Eve,f,flu,04109,2024-03-03,63
N,53,Fay,f,cold,04103,2024-03-21,70.5
S,38,Gus,m,asthma,01069,2024-01-30,90
S,?,Hal,m,flu,01067,2024-02-02,77
N,67,Ida,f,flu,09111,2024-04-09,55
N,66,Jon,m,cold,09111,2024-05-18,82.25
S,61,Kim,f,asthma,09113,2024-06-30,66
S,57,Leo,m,flu,04103,2024-03-12,91
";

const POSTCODES: &str = "\
01067;Dresden;East
01069;Dresden;East
04103;Leipzig;West
04109;Leipzig;West
09111;Chemnitz;West
09113;Chemnitz;West
";

const PROJECT: &str = r#"
[data]
path = "patients.csv"
missing = ["?"]
missing_records = "drop"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }

[attributes.sex]
role = "quasi-identifier"

[attributes.postcode]
role = "quasi-identifier"
hierarchy = "postcode.csv"

[attributes.disease]
role = "sensitive"

[attributes.weight]
role = "other"
"#;

/// Twelve patients, of whom one lacks an age, and their project.
fn patients() -> Folder {
    Folder::with(&[("patients.csv", PATIENTS), ("postcode.csv", POSTCODES), ("incrowd.toml", PROJECT)])
}

/// A request that the patients meet.
const MET: &str = "--k 3 --max-suppressed 1";
/// A request that they do not meet: there are offers, but none that lowers k or l.
const UNMET: &str = "--k 3 --l 3 --max-suppressed 10% --max-level age=2,sex=0";
/// A request for which there is every kind of offer.
const LOWERABLE: &str = "--k 4 --max-suppressed 2 --max-level age=2,sex=1,postcode=1";

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// A made-up table that is large enough to hide something, as lines without the header.
fn many(n_records: usize, seed: u64) -> Vec<String> {
    let mut random = Random(seed);
    let record = |i: usize| {
        let (age, sex) = (20 + random.below(60), ["f", "m"][random.below(2)]);
        let (postcode, disease) = (1000 + random.below(40), ["flu", "cold", "asthma", "gout"][random.below(4)]);
        format!("P{i},{age},{sex},{postcode},{disease},{}.5", 40 + random.below(60))
    };
    (0..n_records).map(record).collect()
}

const MANY_HEADER: &str = "name,age,sex,postcode,disease,weight";

const MANY_PROJECT: &str = r#"
[data]
path = "many.csv"
[attributes.name]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.sex]
role = "quasi-identifier"
[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = 4 }
[attributes.disease]
role = "sensitive"
[attributes.weight]
role = "other"
[request]
k = 5
l = 2
max_suppressed = "5%"
"#;

fn many_folder(lines: &[String]) -> Folder {
    let data = format!("{MANY_HEADER}\n{}\n", lines.join("\n"));
    Folder::with(&[("many.csv", &data), ("incrowd.toml", MANY_PROJECT)])
}

// ── What is printed ──

/// Compares everything that a command prints with the snapshot of this name.
#[track_caller]
fn check_snapshot(name: &str, ran: &Ran) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, without_times(&ran.to_string())));
}

/// How long something took differs from run to run.
fn without_times(text: &str) -> String {
    let line = |line: &str| match (line.split_once("\"seconds\": "), line.split_once(" looked at in ")) {
        (Some((before, _)), _) => format!("{before}\"seconds\": …"),
        (None, Some((before, after))) => {
            format!("{before} looked at in …{}", after.find(" ms").map_or("", |at| &after[at..]))
        }
        _ => line.to_string(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_the_commands_print() {
    for (name, line) in [
        ("negotiate-exact", &format!("negotiate {MET}")),
        ("negotiate-offers", &format!("negotiate {LOWERABLE}")),
        ("negotiate-offers-two-criteria", &format!("negotiate {UNMET}")),
        ("negotiate-explain", &format!("negotiate {UNMET} --explain")),
        ("negotiate-explain-exact", &"negotiate --k 2 --max-suppressed 4 --explain".to_string()),
        ("negotiate-exact-json", &format!("negotiate {MET} --json")),
        ("negotiate-offers-json", &format!("negotiate {LOWERABLE} --json")),
        ("negotiate-explain-json", &format!("negotiate {UNMET} --explain --json")),
        ("annotate", &"annotate --k 3".to_string()),
        ("annotate-without-criteria", &"annotate --quasi-identifiers age,sex".to_string()),
        ("annotate-csv", &"annotate --l 2 --csv".to_string()),
        ("annotate-per-scheme", &"annotate --k 2 --per-scheme --quasi-identifiers age,sex".to_string()),
        ("annotate-per-scheme-csv", &"annotate --k 2 --l 2 --per-scheme --csv --quiet".to_string()),
        ("hierarchy-show-file", &"hierarchy show postcode".to_string()),
        ("hierarchy-show-intervals", &"hierarchy show age --depth 3".to_string()),
        ("hierarchy-show-most", &"hierarchy show postcode --most 1".to_string()),
        ("hierarchy-export", &"hierarchy export postcode".to_string()),
        ("hierarchy-export-json", &"hierarchy export sex --json".to_string()),
        ("count", &"count".to_string()),
        ("count-json", &"count --json --quasi-identifiers postcode,sex".to_string()),
        ("profile-project", &"profile".to_string()),
        ("profile-file", &"profile patients.csv".to_string()),
        ("profile-values", &"profile patients.csv --values".to_string()),
        ("publish", &format!("publish {MET}")),
        ("publish-no", &format!("publish {UNMET}")),
        ("publish-no-such-offer", &format!("publish {UNMET} --offer privacy")),
        ("publish-offer-json", &format!("publish {LOWERABLE} --offer suppression --json")),
        ("init", &"init patients.csv --output other".to_string()),
        ("error-json", &"negotiate --k 0 --json".to_string()),
    ] {
        check_snapshot(name, &patients().run(&words(line)));
    }
}

#[test]
fn what_verify_prints() {
    let folder = patients();
    folder.run(&words("publish --k 3 --l 2 --max-suppressed 1")).ends(0);
    check_snapshot("verify-yes", &folder.run(&["verify", "release.csv"]));
    check_snapshot("verify-yes-json", &folder.run(&["verify", "release.csv", "--json"]));
    let asked = "verify release.csv --quasi-identifiers age,sex,postcode --sensitive disease --k 4 --l 3";
    check_snapshot("verify-no", &folder.run(&words(asked)));
    let release = folder.read("release.csv").replacen("30-39", "30-38", 1);
    folder.write("release.csv", release);
    check_snapshot("verify-changed", &folder.run(&["verify", "release.csv"]));
    check_snapshot("verify-changed-json", &folder.run(&["verify", "release.csv", "--json"]));
}

#[test]
fn what_is_published() {
    let folder = patients();
    folder.run(&words(&format!("publish {LOWERABLE} --offer suppression --key {KEY}"))).ends(0);
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.bind(|| {
        insta::assert_snapshot!("release.csv", folder.read("release.csv"));
        let certificate = folder.read("release.csv.certificate.json").replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!("release.csv.certificate.json", certificate);
        folder.run(&words("init patients.csv --output other")).ends(0);
        insta::assert_snapshot!("init-incrowd.toml", folder.read("other/incrowd.toml"));
    });
}

// ── The contract for programs ──

/// Runs a command with `--json` and checks how it ends and which fields the one document has.
#[track_caller]
fn check_json(line: &str, code: i32, fields: &[(&str, Value)]) -> Value {
    let ran = patients().run(&[&words(line)[..], &["--json"]].concat()).ends(code);
    let document = ran.json();
    for (pointer, expected) in fields {
        assert_eq!(document.pointer(pointer), Some(expected), "{pointer} in\n{ran}");
    }
    document
}

#[test]
fn negotiate_says_exact_with_the_fields_of_the_contract() {
    let document = check_json(
        &format!("negotiate {MET}"),
        0,
        &[
            ("/outcome", json!("exact")),
            (
                "/request",
                json!({"k": 3, "max_suppressed": 1, "max_level": {"age": 4, "sex": 1, "postcode": 3}, "best_by": "ncp"}),
            ),
            ("/n_records", json!(11)),
            ("/exact/levels", json!({"age": 2, "sex": 1, "postcode": 1})),
            ("/exact/height", json!(4)),
            ("/exact/n_suppressed", json!(0)),
            ("/exact/k", json!(3)),
            ("/exact/n_groups", json!(3)),
        ],
    );
    assert!(document["exact"]["loss"]["ncp"].as_f64().is_some_and(|ncp| (0.0..=1.0).contains(&ncp)));
    assert_eq!(document.get("offers"), None);
}

#[test]
fn negotiate_says_offers_with_the_fields_of_the_contract() {
    let document = check_json(&format!("negotiate {LOWERABLE}"), 1, &[("/outcome", json!("offers"))]);
    for offer in ["suppression", "height", "privacy"] {
        let offer = &document["offers"][offer];
        for field in ["levels", "height", "n_suppressed", "k", "n_groups", "loss"] {
            assert!(!offer[field].is_null(), "{field} in {offer}");
        }
    }
    assert_eq!(document.get("exact"), None);
    check_json(&format!("negotiate {UNMET}"), 1, &[("/offers/privacy", Value::Null), ("/offers/height/l", json!(3))]);
}

#[test]
fn annotate_lists_every_scheme() {
    let document =
        check_json("annotate --per-scheme --k 3", 0, &[("/n_schemes", json!(40)), ("/n_records", json!(11))]);
    let schemes = document["schemes"].as_array().expect("a list");
    assert_eq!(schemes.len(), 40);
    let first = json!({"levels": {"age": 0, "sex": 0, "postcode": 0}, "height": 0, "n_groups": 11, "smallest_group": 1, "n_suppressed": 11});
    assert_eq!(schemes[0], first);
    assert_eq!(schemes[39]["levels"], json!({"age": 4, "sex": 1, "postcode": 3}));
    let heights = document["heights"].as_array().expect("a list");
    let n_schemes: u64 = heights.iter().map(|height| height["n_schemes"].as_u64().expect("a number")).sum();
    assert_eq!((heights.len(), n_schemes), (9, 40));
}

#[test]
fn every_command_ends_with_its_code_and_prints_one_document() {
    for (line, code, field) in [
        ("init patients.csv --output other", 0, "columns"),
        ("profile", 0, "columns"),
        ("profile patients.csv", 0, "uniqueness"),
        ("hierarchy show postcode", 0, "tree"),
        ("hierarchy show postcode --absent", 0, "absent"),
        ("hierarchy export age", 0, "rows"),
        ("hierarchy export age --output exported.csv", 0, "rows"),
        ("count", 0, "n_groups"),
        ("annotate", 0, "heights"),
        ("negotiate --k 3 --max-suppressed 1", 0, "exact"),
        ("negotiate --k 11 --max-suppressed 0 --max-level age=0", 1, "offers"),
        ("negotiate --k 3 --max-suppressed 1 --as-published", 0, "exact"),
        ("publish --k 3 --max-suppressed 1", 0, "published"),
        ("publish --k 11 --max-suppressed 0 --max-level age=0", 1, "offers"),
        ("verify patients.csv --quasi-identifiers sex --k 2", 0, "criteria"),
        ("verify patients.csv --quasi-identifiers age --k 2", 1, "criteria"),
        ("verify patients.csv --quasi-identifiers oge --k 2", 2, "error"),
        ("negotiate elsewhere --k 3", 2, "error"),
        ("demo --records 10", 2, "error"),
    ] {
        let ran = patients().run(&[&words(line)[..], &["--json"]].concat()).ends(code);
        assert!(ran.json().get(field).is_some(), "{field} in\n{ran}");
        let ran = patients().run(&[&["--json"], &words(line)[..], &["--quiet"]].concat()).ends(code);
        assert!(ran.json().get(field).is_some(), "{field} in\n{ran}");
        assert_eq!(ran.stderr.is_empty(), code != 2, "quiet leaves errors only\n{ran}");
    }
}

#[test]
fn an_error_is_a_document_too() {
    let document = check_json("negotiate --k 3 --max-level oge=1", 2, &[("/error/kind", json!("request"))]);
    assert_eq!(document["error"]["hint"], "did you mean 'age'?");
    let ran = patients().run(&["count", "elsewhere", "--json"]).ends(2);
    assert_eq!(ran.json()["error"]["position"], "elsewhere");
    assert!(ran.stderr.starts_with("error: elsewhere: "), "{ran}");
}

#[test]
fn talk_goes_to_stderr_and_results_to_stdout() {
    let ran = patients().run(&["count"]).ends(0);
    assert!(ran.stderr.contains("lack a value") && !ran.stdout.contains("lack a value"), "{ran}");
    let ran = patients().run(&["count", "elsewhere"]).ends(2);
    assert!(ran.stdout.is_empty(), "{ran}");
}

#[test]
fn the_help_of_every_command_has_examples() {
    for command in [
        "init",
        "profile",
        "hierarchy show",
        "hierarchy export",
        "count",
        "annotate",
        "negotiate",
        "publish",
        "verify",
        "demo",
        "completions",
    ] {
        let ran = Folder::new().run(&[&words(command)[..], &["--help"]].concat()).ends(0);
        let examples = ran.stdout.split("Examples:").nth(1).unwrap_or_else(|| panic!("no examples\n{ran}"));
        assert!(examples.contains(&format!("incrowd {command}")), "{ran}");
    }
    let ran = Folder::new().run(&["--help"]).ends(0);
    for command in ["init", "profile", "hierarchy", "count", "annotate", "negotiate", "publish", "verify", "demo"] {
        assert!(ran.stdout.contains(&format!("\n  {command} ")), "{command} in\n{ran}");
    }
}

#[test]
fn completions_know_every_shell_and_command() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = Folder::new().run(&["completions", shell]).ends(0);
        assert!(["negotiate", "publish", "verify"].iter().all(|command| ran.stdout.contains(command)), "{ran}");
    }
}

// ── What the flags mean ──

/// Negotiates on the patients, with this written below the project file, and checks the request as understood.
#[track_caller]
fn check_request(standing: &str, flags: &str, expected: Value) {
    let folder = patients();
    folder.write("incrowd.toml", format!("{PROJECT}{standing}"));
    let ran = folder.run(&[&["negotiate", "--json"], &words(flags)[..]].concat());
    let mut expected = expected;
    expected["best_by"] = json!("ncp");
    assert_eq!(ran.json()["request"], expected, "{ran}");
}

#[test]
fn flags_override_the_standing_wish() {
    let standing = "[request]\nk = 2\nl = 2\nmax_suppressed = \"20%\"\nmax_level = { age = 1, weight = 0 }\n";
    let level = |age: u64, sex: u64, postcode: u64| json!({"age": age, "sex": sex, "postcode": postcode});
    check_request(standing, "", json!({"k": 2, "l": 2, "max_suppressed": 2, "max_level": level(1, 1, 3)}));
    // A promise must not vanish because another one was named.
    check_request(standing, "--k 5", json!({"k": 5, "l": 2, "max_suppressed": 2, "max_level": level(1, 1, 3)}));
    check_request(
        standing,
        "--max-suppressed 50%",
        json!({"k": 2, "l": 2, "max_suppressed": 5, "max_level": level(1, 1, 3)}),
    );
    check_request(
        standing,
        "--max-level postcode=2",
        json!({"k": 2, "l": 2, "max_suppressed": 2, "max_level": level(4, 1, 2)}),
    );
    check_request("", "--l 2", json!({"l": 2, "max_suppressed": 0, "max_level": level(4, 1, 3)}));
}

#[test]
fn levels_can_be_named() {
    let folder = patients();
    let args = ["negotiate", "--json", "--k", "2", "--max-level", "age=width 10,postcode=level 1,sex=exact"];
    assert_eq!(folder.run(&args).json()["request"]["max_level"], json!({"age": 2, "sex": 0, "postcode": 1}));
}

#[test]
fn a_project_is_its_folder_or_its_file() {
    let folder = patients();
    folder.write("deep/readme.txt", "");
    let here = folder.run(&["count", "--json"]).ends(0).stdout;
    for path in [".", "incrowd.toml", "deep/../incrowd.toml", folder.path().to_str().expect("a text")] {
        assert_eq!(folder.run(&["count", "--json", path]).ends(0).stdout, here, "{path}");
    }
}

#[test]
fn what_init_writes_is_a_project() {
    let folder = Folder::with(&[("patients.csv", PATIENTS)]);
    folder.run(&["init", "patients.csv"]).ends(0);
    folder.run(&["count"]).ends(0);
    folder.run(&["negotiate", "--k", "2", "--max-suppressed", "100%"]).ends(0);
    let ran = folder.run(&["init", "patients.csv"]).ends(2);
    assert!(ran.stderr.contains("already") && ran.stderr.contains("--force"), "{ran}");
    folder.run(&["init", "patients.csv", "--force"]).ends(0);
    assert_eq!(folder.names(), ["incrowd.toml", "patients.csv"]);
}

#[test]
fn an_exported_hierarchy_is_a_hierarchy_file() {
    let folder = patients();
    let before = folder.run(&["annotate", "--k", "3", "--per-scheme", "--csv"]).ends(0).stdout;
    folder.run(&["hierarchy", "export", "age", "--output", "exported/age.csv"]).ends(2);
    std::fs::create_dir_all(folder.join("exported")).expect("a writable folder");
    for name in ["age", "postcode"] {
        folder.run(&["hierarchy", "export", name, "--output", &format!("exported/{name}.csv")]).ends(0);
    }
    let project = PROJECT
        .replace("{ intervals = [5, 10, 20] }", "\"exported/age.csv\"")
        .replace("\"postcode.csv\"", "\"exported/postcode.csv\"");
    folder.write("incrowd.toml", project);
    assert_eq!(folder.run(&["annotate", "--k", "3", "--per-scheme", "--csv"]).ends(0).stdout, before);
    folder.run(&["hierarchy", "export", "age", "--output", "exported/age.csv"]).ends(2);
    // It is what the project is made of now; another file may be replaced.
    folder.run(&["hierarchy", "export", "age", "--output", "exported/age.csv", "--force"]).ends(2);
    folder.write("exported/other.csv", "");
    folder.run(&["hierarchy", "export", "age", "--output", "exported/other.csv", "--force"]).ends(0);
    assert_eq!(folder.read("exported/other.csv"), folder.read("exported/age.csv"));
}

// ── What a release looks like ──

const BESIDE: [&str; 3] = ["", ".certificate.json", ".report.html"];

#[track_caller]
fn certificate(folder: &Folder, release: &str) -> Value {
    serde_json::from_str(&folder.read(&format!("{release}.certificate.json"))).expect("a certificate")
}

fn header(text: &str) -> &str {
    text.lines().next().unwrap_or("")
}

#[test]
fn columns_keep_their_order_and_names_and_identifiers_are_dropped() {
    let folder = patients();
    folder.run(&words("publish --k 3")).ends(0);
    assert_eq!(header(&folder.read("release.csv")), "age,sex,disease,postcode,weight");
    assert_eq!(certificate(&folder, "release.csv")["columns"], json!(["age", "sex", "disease", "postcode", "weight"]));
}

#[test]
fn columns_that_are_not_named_are_kept_only_on_request() {
    let folder = patients();
    folder.write("incrowd.toml", PROJECT.replace("[data]", "[data]\nother = \"keep\""));
    folder.run(&words("publish --k 3")).ends(0);
    assert_eq!(header(&folder.read("release.csv")), "ward,age,sex,disease,postcode,admitted,weight");
}

#[test]
fn a_quasi_identifier_left_out_of_the_run_is_not_published() {
    let folder = patients();
    folder.write("incrowd.toml", PROJECT.replace("[data]", "[data]\nother = \"keep\""));
    folder.run(&words("publish --k 3 --quasi-identifiers age,sex")).ends(0);
    assert_eq!(header(&folder.read("release.csv")), "ward,age,sex,disease,admitted,weight");
    folder.run(&["verify", "release.csv"]).ends(0);
}

#[test]
fn every_record_is_published_suppressed_or_dropped() {
    let folder = patients();
    folder.run(&words(&format!("publish {LOWERABLE} --offer suppression"))).ends(0);
    let certificate = certificate(&folder, "release.csv");
    let n = |name: &str| certificate[name].as_u64().expect("a number");
    let n_lines = folder.read("release.csv").lines().count() as u64 - 1;
    assert_eq!((n("n_records_read"), n("n_records_dropped"), n("n_records_published")), (12, 1, n_lines));
    assert_eq!((n("n_records_published"), n("n_records_suppressed")), (8, 3));
    for name in ["Ann", "Bob", "Cid", "Leo"] {
        assert!(BESIDE.iter().all(|ending| !folder.read(&format!("release.csv{ending}")).contains(name)));
    }
}

/// Reads a Parquet file.
#[track_caller]
fn parquet(folder: &Folder, name: &str) -> RecordBatch {
    let file = std::fs::File::open(folder.join(name)).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("a Parquet file").with_batch_size(1 << 20);
    let mut batches = reader.build().expect("a Parquet file");
    batches.next().expect("a record").expect("a batch")
}

fn types(batch: &RecordBatch) -> Vec<(String, DataType)> {
    batch.schema().fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
}

fn typed(columns: &[(&str, DataType)]) -> Vec<(String, DataType)> {
    columns.iter().map(|(name, data_type)| (name.to_string(), data_type.clone())).collect()
}

#[test]
fn numbers_and_dates_from_csv_stay_what_they_are_in_parquet() {
    let folder = patients();
    // Everybody is there twice, so that k = 2 holds at every level.
    let data = folder.read("patients.csv");
    let (_, people) = data.split_once('\n').expect("a header");
    folder.write("patients.csv", format!("{data}{people}"));
    folder.write("incrowd.toml", PROJECT.replace("[data]", "[data]\nother = \"keep\"\nrecords = \"independent\""));
    folder.run(&words("publish --k 2 --levels age=0 --output exact.parquet")).ends(0);
    let exact = [
        ("ward", DataType::Utf8),
        ("age", DataType::Int64),
        ("sex", DataType::Utf8),
        ("disease", DataType::Utf8),
        // A code with a leading zero is no number.
        ("postcode", DataType::Utf8),
        ("admitted", DataType::Date32),
        ("weight", DataType::Float64),
    ];
    let batch = parquet(&folder, "exact.parquet");
    assert_eq!((types(&batch), batch.num_rows()), (typed(&exact), 22));
    folder.run(&words("publish --k 2 --levels age=1 --output coarse.parquet")).ends(0);
    let mut coarse = exact;
    coarse[1].1 = DataType::Utf8;
    assert_eq!(types(&parquet(&folder, "coarse.parquet")), typed(&coarse));
    for release in ["exact.parquet", "coarse.parquet"] {
        folder.run(&["verify", release]).ends(0);
    }
}

#[test]
fn numbers_that_are_written_in_two_ways_can_be_published_as_parquet() {
    let project = "[data]\npath = \"a.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
        [attributes.dose]\nrole = \"sensitive\"\n";
    let data = "age,dose\n1.0,40\n1,40.0\n1.0,41\n1,42\n2,40\n2,40\n";
    let folder = Folder::with(&[("a.csv", data), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2 --output release.parquet")).ends(0);
    folder.run(&["verify", "release.parquet"]).ends(0);
}

#[test]
fn numbers_too_large_for_their_type_are_published_as_they_are() {
    let project = "[data]\npath = \"a.csv\"\nother = \"keep\"\n[attributes.age]\nrole = \"quasi-identifier\"\n";
    let data = "age,account\n1,12345678901234567890\n1,12345678901234567891\n2,1\n2,2\n";
    let folder = Folder::with(&[("a.csv", data), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2 --output release.parquet")).ends(0);
    let batch = parquet(&folder, "release.parquet");
    let text = format!("{:?}", batch.column_by_name("account").expect("it is kept"));
    assert!(text.contains("12345678901234567890") && text.contains("12345678901234567891"), "{text}");
}

fn write_parquet(folder: &Folder, name: &str, batch: &RecordBatch, n_per_group: usize) {
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(n_per_group)).build();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).expect("a writer");
    writer.write(batch).expect("memory takes a batch");
    writer.close().expect("memory takes a file");
    folder.write(name, bytes);
}

#[test]
fn the_types_of_a_parquet_file_are_kept() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("person", Arc::new(StringArray::from(vec!["Ann", "Bob", "Cid", "Dee"]))),
        ("age", Arc::new(Int16Array::from(vec![Some(34), Some(34), None, Some(51)]))),
        ("seen", Arc::new(Date32Array::from(vec![19_000, 19_000, 19_000, 19_001]))),
        ("weight", Arc::new(Float32Array::from(vec![Some(61.5), None, Some(0.1), Some(58.0)]))),
        ("paid", Arc::new(Decimal128Array::from(vec![150, -5, 0, 1]).with_precision_and_scale(9, 2).expect("it fits"))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![0, 1_500, -1, 86_400_000]))),
        ("insured", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let folder = Folder::new();
    write_parquet(&folder, "table.parquet", &batch, 2);
    let role = |name: &str, role: &str| format!("[attributes.{name}]\nrole = \"{role}\"\n");
    let project = [
        "[data]\npath = \"table.parquet\"\nother = \"keep\"\nmissing_records = \"keep\"\n".to_string(),
        role("person", "identifier"),
        role("age", "quasi-identifier"),
        role("seen", "quasi-identifier"),
        role("insured", "sensitive"),
    ];
    folder.write("incrowd.toml", project.concat());
    folder.run(&words("publish --method per-record --utility-at-least 100% --output release.parquet")).ends(0);
    let release = parquet(&folder, "release.parquet");
    let timestamp = DataType::Timestamp(TimeUnit::Millisecond, None);
    assert_eq!(
        types(&release),
        typed(&[
            ("age", DataType::Int16),
            ("seen", DataType::Date32),
            ("weight", DataType::Float32),
            ("paid", DataType::Decimal128(9, 2)),
            ("at", timestamp),
            ("insured", DataType::Boolean),
        ])
    );
    // Sorted by what is published, no value first; otherwise the very same columns.
    let order = arrow_array::UInt32Array::from(vec![2, 1, 0, 3]);
    for (name, _) in types(&release) {
        let (before, after) = (batch.column_by_name(&name).expect("it"), release.column_by_name(&name).expect("it"));
        let moved: Vec<_> = order.values().iter().map(|&i| before.slice(i as usize, 1)).collect();
        let same = (0..4).all(|i| after.slice(i, 1).to_data() == moved[i].to_data());
        assert!(same, "{name}: {before:?} became {after:?}");
    }
    // And back to CSV, with nothing where there is no value.
    folder.run(&words("publish --method per-record --utility-at-least 100% --output release.csv")).ends(0);
    let csv = folder.read("release.csv");
    assert_eq!(csv.lines().nth(1), Some(",2022-01-08,0.1,0.00,1969-12-31T23:59:59.999,"));
}

#[test]
fn missing_values_are_dropped_with_their_records_or_kept_as_values() {
    let data = "age,disease\n34,flu\n?,NA\n34,cold\n?,flu\nNA,gout\n25,flu\n25,cold\n";
    let project = r#"
[data]
path = "a.csv"
missing = ["?", "NA"]
missing_records = "keep"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10] }
[attributes.disease]
role = "sensitive"
"#;
    let folder = Folder::with(&[("a.csv", data), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2")).ends(0);
    assert_eq!(folder.read("release.csv"), "age,disease\n25,cold\n25,flu\n34,cold\n34,flu\n?,?\n?,flu\n?,gout\n");
    folder.run(&words("publish --k 2 --levels age=1 --output coarse.csv")).ends(0);
    assert_eq!(
        folder.read("coarse.csv"),
        "age,disease\n20-29,cold\n20-29,flu\n30-39,cold\n30-39,flu\n?,?\n?,flu\n?,gout\n"
    );
    folder.run(&words("publish --k 2 --output release.parquet")).ends(0);
    let batch = parquet(&folder, "release.parquet");
    assert_eq!(types(&batch)[0].1, DataType::Int64);
    assert_eq!((batch.column(0).null_count(), batch.column(1).null_count()), (3, 1));
    folder.run(&["verify", "release.parquet"]).ends(0);

    folder.write("incrowd.toml", project.replace("\"keep\"", "\"drop\""));
    folder.run(&words("publish --k 2 --force")).ends(0);
    assert_eq!(folder.read("release.csv"), "age,disease\n25,cold\n25,flu\n34,cold\n34,flu\n");
    assert_eq!(certificate(&folder, "release.csv")["n_records_dropped"], 3);
}

#[test]
fn a_record_that_is_dropped_may_hold_a_value_that_no_other_record_has() {
    let project = "[data]\npath = \"a.csv\"\nmissing = [\"?\"]\nmissing_records = \"drop\"\n\
        [attributes.age]\nrole = \"quasi-identifier\"\n\
        [attributes.disease]\nrole = \"sensitive\"\n";
    let data = "age,disease\n34,flu\n34,cold\n35,flu\n35,flu\n99,?\n";
    let folder = Folder::with(&[("a.csv", data), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2")).ends(0);
    assert_eq!(folder.read("release.csv"), "age,disease\n34,cold\n34,flu\n35,flu\n35,flu\n");
}

#[test]
fn a_quasi_identifier_with_a_single_value_is_published_like_any_other() {
    let project = "[data]\npath = \"a.csv\"\n[attributes.sex]\nrole = \"quasi-identifier\"\n";
    let folder = Folder::with(&[("a.csv", "sex\nf\nf\n"), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2")).ends(0);
    assert_eq!(folder.read("release.csv"), "sex\nf\nf\n");
}

#[test]
fn cells_with_separators_quotes_and_line_breaks_survive() {
    let data = "age;remark\n34;\"say \"\"hi\"\"\"\n35;\"two\nlines\"\n35;é, ü\n34;\"a;b\"\n";
    let project = "[data]\npath = \"a.csv\"\nother = \"keep\"\n[attributes.age]\nrole = \"quasi-identifier\"\n";
    let folder = Folder::with(&[("a.csv", data), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2")).ends(0);
    let expected = "age;remark\n34;\"a;b\"\n34;\"say \"\"hi\"\"\"\n35;\"two\nlines\"\n35;é, ü\n";
    assert_eq!(folder.read("release.csv"), expected);
    folder.run(&["verify", "release.csv"]).ends(0);
}

#[test]
fn a_column_name_may_contain_what_separates_columns_elsewhere() {
    let project = "[data]\npath = \"a.csv\"\n[attributes.\"a;b;c\"]\nrole = \"quasi-identifier\"\n\
        [attributes.d]\nrole = \"sensitive\"\n";
    let folder = Folder::with(&[("a.csv", "\"a;b;c\",d\n1,x\n1,y\n2,x\n2,x\n"), ("incrowd.toml", project)]);
    folder.run(&words("publish --k 2")).ends(0);
    folder.run(&["verify", "release.csv"]).ends(0);
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_are_no_part_of_the_data() {
    let folder = patients();
    folder.run(&words("publish --k 3")).ends(0);
    let release = folder.read("release.csv");
    folder.write("patients.csv", format!("\u{feff}{}", PATIENTS.replace('\n', "\r\n")));
    folder.write("postcode.csv", format!("\u{feff}{}", POSTCODES.replace('\n', "\r\n")));
    folder.run(&words("publish --k 3 --force")).ends(0);
    assert_eq!(folder.read("release.csv"), release);
}

/// The signer's key, without which two certificates differ.
const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[test]
fn the_order_of_the_input_leaves_no_trace() {
    let mut lines = many(2_000, 1);
    let releases: Vec<(Vec<u8>, Vec<u8>, Value)> = (0..3)
        .map(|seed| {
            let folder = many_folder(&lines);
            folder.run(&words(&format!("publish --output release.csv --key {KEY}"))).ends(0);
            folder.run(&words("publish --output release.parquet")).ends(0);
            let mut certificate = certificate(&folder, "release.csv");
            assert_eq!(certificate["input"][0]["name"], "many.csv");
            certificate["input"][0]["hmac_sha256"] = Value::Null;
            Random(seed).shuffle(&mut lines);
            (folder.bytes("release.csv"), folder.bytes("release.parquet"), certificate)
        })
        .collect();
    assert!(releases[0].0.len() > 10_000);
    assert!(releases[0] == releases[1] && releases[0] == releases[2], "releases differ");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let lines = many(3_000, 2);
    let folder = many_folder(&lines);
    let cells: Vec<Vec<&str>> = lines.iter().map(|line| line.split(',').collect()).collect();
    let column = |i: usize| Arc::new(StringArray::from_iter_values(cells.iter().map(|row| row[i]))) as ArrayRef;
    let batch = RecordBatch::try_from_iter(MANY_HEADER.split(',').enumerate().map(|(i, name)| (name, column(i))));
    let batch = batch.expect("a batch");
    for part in 0..3 {
        let name = format!("parts/{part}.parquet");
        write_parquet(&folder, &name, &batch.slice(part * 1_000, 1_000), 300);
    }
    folder.write("parts.toml", MANY_PROJECT.replace("many.csv", "parts"));
    for (project, release) in [("incrowd.toml", "a.csv"), ("parts.toml", "a.parquet"), ("parts.toml", "b.csv")] {
        let [first, second] = ["1", "2"].map(|n_threads| {
            let to = ["--output", release, "--force", "--key", KEY];
            folder.run(&[&["publish", project, "--threads", n_threads], &to[..]].concat()).ends(0);
            BESIDE.map(|ending| folder.bytes(&format!("{release}{ending}")))
        });
        assert!(first == second, "{project} {release}");
    }
    // Nor does it matter which files the records came from.
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
}

#[test]
fn a_release_is_replaced_only_with_force() {
    for ending in BESIDE {
        let folder = patients();
        let name = format!("release.csv{ending}");
        folder.write(&name, "precious");
        let before = folder.content();
        let ran = folder.run(&words("publish --k 3")).ends(2);
        assert!(ran.stderr.contains(&name) && ran.stderr.contains("--force"), "{ran}");
        assert_eq!(folder.content(), before);
        folder.run(&words("publish --k 3 --force")).ends(0);
        assert_ne!(folder.read(&name), "precious");
        folder.run(&["verify", "release.csv"]).ends(0);
        assert_eq!(folder.names().len(), 6, "{:?}", folder.names());
    }
}

/// Tries to publish to a place where something lies that the release is made of.
#[track_caller]
fn check_input_is_safe(folder: &Folder, project: &str, output: &str) {
    let before = folder.content();
    let ran = folder.run(&["publish", project, "--k", "2", "--force", "--output", output]).ends(2);
    assert!(ran.stderr.contains("error: ") && ran.stderr.contains("hint: "), "{ran}");
    assert!(folder.content() == before, "{output}: {:?}", folder.names());
}

#[test]
fn a_release_never_replaces_the_data_it_is_made_of() {
    let folder = patients();
    check_input_is_safe(&folder, ".", "patients.csv");
    check_input_is_safe(&folder, ".", "./patients.csv");
    check_input_is_safe(&folder, ".", folder.join("patients.csv").to_str().expect("a text"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(folder.join("patients.csv"), folder.join("link.csv")).expect("a link");
        check_input_is_safe(&folder, ".", "link.csv");
    }
}

#[test]
fn a_release_never_replaces_a_part_of_the_data_it_is_made_of() {
    let folder = Folder::with(&[("incrowd.toml", &MANY_PROJECT.replace("many.csv", "parts"))]);
    let cells: ArrayRef = Arc::new(StringArray::from(vec!["1", "1", "2"]));
    let columns = MANY_HEADER.split(',').map(|name| (name, cells.clone()));
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    write_parquet(&folder, "parts/a.parquet", &batch, 100);
    write_parquet(&folder, "parts/b.parquet", &batch, 100);
    check_input_is_safe(&folder, ".", "parts/a.parquet");
}

#[test]
fn a_release_never_replaces_the_hierarchies_it_is_made_with() {
    check_input_is_safe(&patients(), ".", "postcode.csv");
}

#[test]
fn a_release_comes_with_a_certificate_and_a_report_that_needs_nothing_else() {
    let folder = patients();
    folder.run(&words("publish --k 3")).ends(0);
    assert_eq!(
        folder.names(),
        [
            "incrowd.toml",
            "patients.csv",
            "postcode.csv",
            "release.csv",
            "release.csv.certificate.json",
            "release.csv.report.html"
        ]
    );
    let report = folder.read("release.csv.report.html");
    assert!(report.starts_with("<!doctype html>") || report.starts_with("<!DOCTYPE html>"));
    assert!(report.trim_end().ends_with("</html>") && report.contains("<svg"));
    let lower = report.to_lowercase();
    for outside in ["http://", "https://", "src=", "<link", "@import", "url(", "<script", "<iframe", "file://"] {
        let harmless = lower.replace("http://www.w3.org/", "");
        assert!(!harmless.contains(outside), "the report refers to {outside}");
    }
    for cell in ["2024-01-05", "61.5", "01067"] {
        assert!(!report.contains(cell), "{cell} is in the report");
    }
}

#[test]
fn a_certificate_says_what_was_asked_and_what_was_done() {
    let folder = patients();
    folder.run(&words(&format!("publish {LOWERABLE} --offer height"))).ends(0);
    let certificate = certificate(&folder, "release.csv");
    assert_eq!(certificate["choice"], "height");
    let max_level = json!({"age": 2, "sex": 1, "postcode": 1});
    assert_eq!(certificate["request"], json!({"k": 4, "max_suppressed": 2, "max_level": max_level, "best_by": "ncp"}));
    assert_eq!(certificate["criteria"]["k"]["promised"], 4);
    assert_eq!(certificate["seed"], Value::Null);
    let hashes = ["input", "hierarchies"].map(|list| certificate[list].as_array().expect("a list").clone());
    let names: Vec<&str> = hashes.iter().flatten().map(|hash| hash["name"].as_str().expect("a name")).collect();
    assert_eq!(
        names,
        ["patients.csv", "age: { intervals = [5, 10, 20] }", "sex: flat", "postcode.csv", "incrowd.toml"]
    );
    let marks = hashes.iter().flatten().map(|file| &file["hmac_sha256"]);
    for hash in marks.chain([&certificate["output"]["sha256"]]) {
        let text = hash.as_str().expect("a text");
        assert!(text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
    }
}

#[test]
fn nothing_is_written_when_there_is_no_such_answer() {
    for offer in ["exact", "privacy"] {
        let folder = patients();
        let before = folder.content();
        folder.run(&[&words(&format!("publish {UNMET} --offer"))[..], &[offer]].concat()).ends(1);
        assert_eq!(folder.content(), before);
    }
    for offer in ["suppression", "height"] {
        let folder = patients();
        folder.run(&[&words(&format!("publish {UNMET} --offer"))[..], &[offer]].concat()).ends(0);
        folder.run(&["verify", "release.csv"]).ends(0);
    }
}

#[test]
fn nothing_is_written_when_nothing_would_be_left() {
    let folder = patients();
    let before = folder.content();
    let ran = folder.run(&words("publish --k 5 --levels age=0")).ends(2);
    assert!(ran.stderr.contains("nothing to publish") && ran.stderr.contains("hint: "), "{ran}");
    assert_eq!(folder.content(), before);
}

/// Publishes the patients, changes what was published, and expects `verify` to see it.
#[track_caller]
fn check_tampering(name: &str, change: impl Fn(&str) -> String) {
    let folder = patients();
    folder.run(&words("publish --k 3 --l 2 --max-suppressed 4")).ends(0);
    folder.run(&["verify", "release.csv"]).ends(0);
    let before = folder.read(name);
    let after = change(&before);
    assert_ne!(before, after, "nothing was changed");
    folder.write(name, after);
    folder.run(&["verify", "release.csv"]).ends(1);
}

#[test]
fn verify_sees_every_change() {
    let release = "release.csv";
    let drop_last = |text: &str| text.trim_end().rsplit_once('\n').expect("two lines").0.to_string() + "\n";
    check_tampering(release, |text| text.replacen("flu", "cold", 1));
    check_tampering(release, |text| text.replacen("flu", "gout", 1));
    check_tampering(release, drop_last);
    check_tampering(release, |text| format!("{text}{}\n", text.lines().last().expect("a line")));
    check_tampering(release, |text| text.replacen("weight", "mass", 1));
    let certificate = "release.csv.certificate.json";
    for (from, to) in [
        ("\"promised\": 3", "\"promised\": 30"),
        ("\"reached\": ", "\"reached\": 1"),
        ("\"smallest_group\": ", "\"smallest_group\": 1"),
        ("\"fewest_distinct\": ", "\"fewest_distinct\": 1"),
        ("\"n_groups\": ", "\"n_groups\": 1"),
        ("\"n_records_published\": ", "\"n_records_published\": 1"),
        ("\"n_records_suppressed\": ", "\"n_records_suppressed\": 1"),
        ("\"n_records_dropped\": ", "\"n_records_dropped\": 1"),
        ("\"n_records_read\": ", "\"n_records_read\": 1"),
    ] {
        check_tampering(certificate, |text| text.replacen(from, to, 1));
    }
}

#[test]
fn verify_works_on_files_that_others_made() {
    let data = "zip;sex;disease\n1**;*;flu\n1**;*;gout\n*;*;flu\n2**;f;flu\n2**;f;flu\n";
    let folder = Folder::with(&[("other.csv", data)]);
    let check = |flags: &str, code: i32| {
        let line = format!("verify other.csv --quasi-identifiers zip,sex {flags}");
        folder.run(&words(&line)).ends(code);
    };
    check("--k 1", 2);
    check("--k 2", 1);
    check("--k 2 --suppressed-as absent", 0);
    check("--k 3 --suppressed-as absent", 1);
    check("--k 2 --suppressed-as absent --sensitive disease --l 2", 1);
    check("--l 1 --sensitive disease", 2);
    check("--l 2 --k 1 --sensitive disease", 1);
    folder.run(&["verify", "other.csv"]).ends(2);
}
