//! What stands beside a release must tell nothing about records that are not in it: here somebody tries to get it out.

use crate::support;

use incrowd::wire::Certificate;
use incrowd_workbench::input::count::{Choice, count};
use incrowd_workbench::input::digest::sha256_of;
use incrowd_workbench::input::project::Project;
use incrowd_workbench::orders::publish::agree::offer_of_levels;
use incrowd_workbench::orders::publish::draft::Publication;
use incrowd_workbench::orders::publish::{Agreed, draft, prepare};
use incrowd_workbench::orders::request::Privacy;
use incrowd_workbench::output::account::Key;
use incrowd_workbench::work::Work;
use serde_json::Value;
use support::{Folder, Random};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// One record: age, city, income and illness; nothing stands for "no value".
type Record = [&'static str; 4];

const AGES: [&str; 8] = ["20", "21", "22", "23", "24", "25", "26", "27"];
const ODD_AGES: [&str; 6] = ["58", "61", "77", "83", "95", "104"];
const CITIES: [&str; 4] = ["Aachen", "Bonn", "Celle", "Dachau"];
const INCOMES: [&str; 5] = ["1000", "1500", "2000", "2500", "9000"];
const ILLNESSES: [&str; 4] = ["flu", "cold", "gout", "ulcer"];

const PROJECT: &str = r#"
[data]
path = "table.csv"
missing = ["?"]
missing_records = "drop"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 50], origin = 0 }

[attributes.city]
role = "quasi-identifier"
hierarchy = "city.csv"

[attributes.income]
role = "sensitive"
distance = "ordered"

[attributes.illness]
role = "sensitive"
distance = "hierarchical"
hierarchy = { tree = { chest = ["flu", "cold"], belly = ["gout", "ulcer"] } }
"#;

const CITY: &str = "Aachen;west;*\nBonn;west;*\nCelle;north;*\nDachau;south;*\n";

/// A crowd of young people, and at the end those who stand out: `n_odd` older ones, and one whose age is missing.
fn table(seed: u64, n_odd: usize) -> Vec<Record> {
    let mut random = Random(seed);
    let mut record = |ages: &[&'static str]| {
        [*random.pick(ages), *random.pick(&CITIES), *random.pick(&INCOMES), *random.pick(&ILLNESSES)]
    };
    let mut records: Vec<Record> = (0..60).map(|_| record(&AGES)).collect();
    records.extend((0..n_odd).map(|_| record(&ODD_AGES)));
    records.push(record(&["?"]));
    records
}

fn folder_of(records: &[Record]) -> Folder {
    let lines: String = records.iter().map(|record| format!("{}\n", record.join(","))).collect();
    let table = format!("age,city,income,illness\n{lines}");
    Folder::with(&[("incrowd.toml", PROJECT), ("city.csv", CITY), ("table.csv", &table)])
}

/// A population that everybody knows: eight of each young person. Whoever stands out is not even there.
fn population() -> String {
    let line = |age: &str, city: &str| format!("{age},{city}\n").repeat(8);
    let lines = AGES.iter().flat_map(|age| CITIES.iter().map(move |city| line(age, city)));
    format!("age,city\n{}", lines.collect::<String>())
}

/// What is published of incomes and cities, where that is not what was read.
const TREATED: [(&str, &str, &str); 5] = [
    ("rounded", "distance = \"ordered\"", "publish_as = { round = 1000 }"),
    ("topped", "distance = \"ordered\"", "publish_as = { top = 0.8 }"),
    ("labelled", "distance = \"ordered\"", "hierarchy = { intervals = [1000, 5000] }\npublish_as = { level = 1 }"),
    (
        "unknown",
        "hierarchy = \"city.csv\"",
        "hierarchy = { tree = { west = [\"Aachen\"], north = [\"Celle\"] } }\nunknown = \"other\"",
    ),
    ("coded", "origin = 0 }", "origin = 0, above = 60, exact = \"between\" }"),
];

/// Incomes counted in steps of 1,000.
const COUNTED_AT: &str = "hierarchy = { intervals = [1000, 5000] }\ncount_at = 1";

/// Release and certificate, without the marks of the input, which nobody can read who lacks the key.
fn published(records: &[Record], order: &[&str]) -> Option<(Vec<u8>, Value)> {
    let folder = folder_of(records);
    if order.contains(&"--k-map") {
        folder.write("population.csv", population());
        let named = "path = \"table.csv\"\npopulation = \"population.csv\"";
        folder.write("incrowd.toml", PROJECT.replace("path = \"table.csv\"", named));
    }
    let (counts_labels, order) = match order {
        ["count_at", order @ ..] => (true, order),
        order => (false, order),
    };
    let treated = TREATED.iter().find(|(name, ..)| order.first() == Some(name));
    let order = if treated.is_some() { &order[1..] } else { order };
    if let Some((_, before, after)) = treated {
        assert!(PROJECT.contains(before));
        folder.write("incrowd.toml", PROJECT.replace(before, after));
    }
    if counts_labels {
        folder.write("incrowd.toml", PROJECT.replace("distance = \"ordered\"", COUNTED_AT));
    }
    let args = [&["publish", "-o", "release.csv", "--key", KEY], order].concat();
    let ran = folder.run(&args);
    match ran.code {
        Some(0) => {}
        Some(1) => return None,
        _ => panic!("{}: {}", ran.command, ran.stderr),
    }
    let mut certificate: Value = serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON");
    for file in certificate["input"].as_array_mut().expect("the input") {
        file["hmac_sha256"] = Value::Null;
    }
    Some((folder.bytes("release.csv"), certificate))
}

/// Somebody knows the project, the order and all records but one, and tries for this one whatever it may be.
///
/// Of what he tries, he keeps what gives the release that he sees; the certificate must not let him strike out any of it.
#[track_caller]
fn check_attacker(order: &[&str], least_tried: usize) {
    let mut n_kept = 0;
    for seed in 0..6 {
        let n_odd = 1 + seed as usize % 3;
        let records = table(seed, n_odd);
        let Some((release, certificate)) = published(&records, order) else { continue };
        // He looks for the first who stands out, and for the one who lacks a value.
        for victim in [60, 60 + n_odd] {
            let mut random = Random(seed ^ 99);
            for _ in 0..5 {
                let mut guessed = records.clone();
                let ages = if victim == 60 { &ODD_AGES[..] } else { &["?"][..] };
                guessed[victim] =
                    [*random.pick(ages), *random.pick(&CITIES), *random.pick(&INCOMES), *random.pick(&ILLNESSES)];
                if guessed[victim] == records[victim] {
                    continue;
                }
                if let Some((same, told)) = published(&guessed, order).filter(|(other, _)| *other == release) {
                    assert_eq!(told, certificate, "{order:?}: {} bytes tell the guess from the truth", same.len());
                    n_kept += 1;
                }
            }
        }
    }
    assert!(n_kept >= least_tried, "{order:?}: only {n_kept} guesses fit the release, this tries too little");
}

macro_rules! attackers {
    ($($name:ident: $order:expr, $least:expr;)*) => {
        $(#[test] fn $name() { check_attacker(&$order, $least); })*
    };
}

attackers! {
    nobody_learns_from_k: ["--k", "4", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_labels: ["count_at", "--k", "4", "--l", "income:2", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_labels_of_a_method: ["count_at", "--k", "4", "--l", "income:2", "--method", "top-down"], 10;
    nobody_learns_from_rounding: ["rounded", "--k", "4", "--l", "income:2", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_the_highest: ["topped", "--k", "4", "--l", "income:2", "--levels", "age=1,city=1"], 10;
    nobody_learns_from_t_of_the_highest: ["topped", "--k", "4", "--t", "income:0.6", "--levels", "age=1,city=2"], 10;
    nobody_learns_from_published_labels: ["labelled", "--k", "4", "--l", "income:2", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_what_no_tree_knows: ["unknown", "--k", "4", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_coded_ends: ["coded", "--k", "4", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_a_negotiated_scheme: ["--k", "4", "--max-suppressed", "10%"], 20;
    nobody_learns_from_a_scheme_on_demand: ["--k", "4", "--max-suppressed", "10%", "--on-demand"], 20;
    nobody_learns_from_an_offer: ["--k", "4", "--max-suppressed", "0", "--max-level", "age=1", "--offer", "suppression"], 20;
    nobody_learns_from_a_part_of_the_lattice: ["--k", "4", "--max-suppressed", "10%", "--partial", "50%"], 20;
    nobody_learns_from_a_small_part_of_the_lattice: ["--k", "4", "--max-suppressed", "10%", "--partial", "10%"], 20;
    nobody_learns_from_an_offer_of_a_part: ["--k", "4", "--max-suppressed", "0", "--max-level", "age=1", "--offer", "suppression", "--partial", "50%"], 20;
    nobody_learns_from_k_map: ["--k-map", "4", "--levels", "age=1,city=1"], 20;
    nobody_learns_from_k_map_and_k: ["--k", "2", "--k-map", "4", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_a_scheme_for_k_map: ["--k-map", "40", "--max-suppressed", "10%", "--max-level", "age=1"], 20;
    nobody_learns_from_the_best_by_ncp: ["--k", "4", "--max-suppressed", "10%", "--best-by", "ncp"], 20;
    nobody_learns_from_l: ["--k", "4", "--l", "income:2", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_entropy: ["--k", "4", "--entropy-l", "income:1.5", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_recursive: ["--k", "4", "--recursive", "income:4,2", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_alpha: ["--k", "4", "--alpha", "illness:0.9", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_t_in_order: ["--k", "4", "--t", "income:0.5", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_t_in_a_tree: ["--k", "4", "--t", "illness:0.5", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_two_t: ["--k", "4", "--t", "illness:0.6", "--t", "income:0.6", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_delta: ["--k", "4", "--delta", "income:2.5", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_beta: ["--k", "4", "--beta", "income:3", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_enhanced_beta: ["--k", "4", "--enhanced-beta", "income:3", "--levels", "age=1,city=2"], 20;
    nobody_learns_from_top_down: ["--method", "top-down", "--k", "4"], 20;
    nobody_learns_from_bottom_up: ["--method", "bottom-up", "--k", "4"], 20;
    nobody_learns_from_mondrian: ["--method", "mondrian", "--k", "4"], 20;
    nobody_learns_from_mondrian_relaxed: ["--method", "mondrian-relaxed", "--k", "4"], 20;
    nobody_learns_from_top_down_without_some: ["--method", "top-down", "--k", "4", "--max-suppressed", "10%"], 20;
    nobody_learns_from_bottom_up_without_some: ["--method", "bottom-up", "--k", "4", "--max-suppressed", "10%"], 20;
    nobody_learns_from_mondrian_without_some: ["--method", "mondrian", "--k", "4", "--max-suppressed", "10%"], 20;
    nobody_learns_from_relaxed_cuts_without_some: ["--method", "mondrian-relaxed", "--k", "4", "--max-suppressed", "10%"], 20;
    nobody_learns_from_closeness_of_a_method: ["--method", "bottom-up", "--k", "4", "--t", "income:0.3", "--max-suppressed", "10%"], 20;
    nobody_learns_from_delta_of_a_method: ["--method", "top-down", "--k", "4", "--delta", "illness:1.5", "--max-suppressed", "5%"], 20;
    nobody_learns_from_dealing: ["--method", "deal", "--k", "4"], 20;
    nobody_learns_from_dealing_any_records: ["--method", "deal-plain", "--k", "4"], 20;
    nobody_learns_from_plain_dealing: ["--method", "deal", "--plain", "--k", "4"], 20;
    nobody_learns_from_single_records: ["--method", "per-record", "--utility-at-least", "60%"], 20;
}

/// The same where the project says whose record it is: everybody but the first twenty has one, and a record that is not
/// published may be anybody's.
fn published_of_people(records: &[Record], whose: &[usize], order: &[&str]) -> Option<(Vec<u8>, Value)> {
    let folder = folder_of(records);
    let lines = records.iter().zip(whose).map(|(record, who)| format!("{},p{who}\n", record.join(",")));
    folder.write("table.csv", format!("age,city,income,illness,who\n{}", lines.collect::<String>()));
    folder.write("incrowd.toml", format!("{PROJECT}\n[attributes.who]\nrole = \"person\"\n"));
    let ran = folder.run(&[&["publish", "-o", "release.csv", "--key", KEY], order].concat());
    match ran.code {
        Some(0) => {}
        Some(1) => return None,
        _ => panic!("{}: {}", ran.command, ran.stderr),
    }
    let mut certificate: Value = serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON");
    assert_eq!(certificate["person"], serde_json::json!(["who"]));
    for file in certificate["input"].as_array_mut().expect("the input") {
        file["hmac_sha256"] = Value::Null;
    }
    Some((folder.bytes("release.csv"), certificate))
}

/// Somebody knows all but what is not published, and tries whose that may be: the certificate must not tell.
#[test]
fn nobody_learns_whose_records_were_suppressed() {
    for (order, least_tried) in [
        (&["--k", "4", "--levels", "age=1,city=1"][..], 10),
        (&["--k", "4", "--max-suppressed", "10%"], 10),
        (&["--k", "4", "--l", "income:2", "--levels", "age=1,city=2"], 10),
        (&["--k", "4", "--t", "income:0.6", "--levels", "age=1,city=2"], 10),
        (&["--method", "mondrian", "--k", "4"], 5),
        (&["--method", "bottom-up", "--k", "4", "--max-suppressed", "10%"], 5),
    ] {
        let mut n_kept = 0;
        for seed in 0..4 {
            let records = table(seed, 2);
            let mut whose: Vec<usize> = (0..60).map(|record| record % 40).collect();
            whose.extend([100, 101, 102]);
            let Some((release, certificate)) = published_of_people(&records, &whose, order) else { continue };
            let mut random = Random(seed ^ 77);
            for victim in [60, 62] {
                for _ in 0..3 {
                    let (mut guessed, mut of) = (records.clone(), whose.clone());
                    // One of the others, one of those who stand out, or somebody new.
                    of[victim] = *random.pick(&[3, 17, 39, 101, 500]);
                    let ages = if victim == 60 { &ODD_AGES[..] } else { &["?"][..] };
                    guessed[victim] = [*random.pick(ages), *random.pick(&CITIES), *random.pick(&INCOMES), "flu"];
                    let same = published_of_people(&guessed, &of, order).filter(|(other, _)| *other == release);
                    if let Some((_, told)) = same {
                        assert_eq!(told, certificate, "{order:?}: whose record it was can be told");
                        n_kept += 1;
                    }
                }
            }
        }
        assert!(n_kept >= least_tried, "{order:?}: only {n_kept} guesses fit the release, this tries too little");
    }
}

/// What an offer relaxes t, δ, β or k-map to is what is just reached: a promise that nobody ordered and that would tell.
#[test]
fn a_value_that_nobody_ordered_is_not_promised_where_it_tells() {
    for wish in [
        "--t income:0.001",
        "--t illness:0.001",
        "--delta income:0.01",
        "--beta income:0.01",
        "--enhanced-beta income:0.01",
    ] {
        let mut n_refused = 0;
        for seed in 0..6 {
            let folder = folder_of(&table(seed, 2));
            let line =
                format!("publish --k 4 {wish} --max-level age=1 --max-suppressed 6 --offer privacy -o release.csv");
            let ran = folder.run(&line.split(' ').collect::<Vec<_>>());
            if ran.code == Some(0) {
                let certificate: Certificate =
                    serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("a certificate");
                let is_ordered =
                    certificate.criteria.iter().all(|(name, entry)| entry["promised"] == certificate.request[name]);
                assert!(is_ordered || certificate.n_records_suppressed == 0, "{ran}");
            }
            n_refused += usize::from(ran.stderr.contains("order a round value of your own"));
            assert!(folder.has("release.csv") == (ran.code == Some(0)));
        }
        assert!(n_refused > 0, "{wish}: nothing was tried");
    }
}

/// Whether values are ordered by default depends on all of them, so that it is not told where some are not published.
#[test]
fn nobody_learns_from_the_default_distance() {
    let project = PROJECT.replace("distance = \"ordered\"\n", "");
    let told = |odd: &str| {
        let mut records = table(3, 1);
        records[60] = ["95", "Bonn", Box::leak(odd.to_string().into_boxed_str()), "flu"];
        let folder = folder_of(&records);
        folder.write("incrowd.toml", &project);
        let flags = ["publish", "--k", "4", "--t", "income:0.9", "--levels", "age=1,city=2", "-o", "release.csv"];
        folder.run(&[&flags[..], &["--key", KEY]].concat()).ends(0);
        let mut certificate: Value = serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON");
        assert_eq!(certificate["n_records_suppressed"], 1);
        certificate["input"] = Value::Null;
        (folder.read("release.csv"), certificate)
    };
    assert_eq!(told("7000"), told("plenty"));
}

/// "No value" is a text in CSV, and stands where the table has it.
#[test]
fn an_honest_release_with_missing_values_is_kept() {
    let project = "[data]\npath = \"table.csv\"\nmissing = [\"?\", \"\"]\nmissing_records = \"keep\"\n\
        [attributes.q]\nrole = \"quasi-identifier\"\n[attributes.s]\nrole = \"sensitive\"\ndistance = \"ordered\"\n";
    for table in ["q,s\na,x\na,x\na,y\nb,z\nb,y\nb,\n", "q,s\na,1\na,10\na,2\nb,30\nb,?\nb,2\n"] {
        let folder = Folder::with(&[("incrowd.toml", project), ("table.csv", table)]);
        for release in ["r.csv", "r.parquet"] {
            folder.run(&["publish", "--k", "2", "--t", "0.9", "-o", release]).ends(0);
            folder.run(&["verify", release]).ends(0);
            folder.run(&["verify", release, "--project", "."]).ends(0);
        }
    }
}

#[cfg(unix)]
#[test]
fn the_report_is_for_the_signer_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_of(&table(1, 2));
    folder.run(&OF_LEVELS).ends(0);
    let mode = |name: &str| std::fs::metadata(folder.join(name)).expect("there").permissions().mode() & 0o077;
    assert_eq!(mode("release.csv.report.html"), 0);
}

const OF_LEVELS: [&str; 7] = ["publish", "--k", "4", "--levels", "age=1,city=1", "-o", "release.csv"];

#[test]
fn no_hash_of_what_is_not_published_is_told() {
    let folder = folder_of(&table(1, 2));
    assert_eq!(folder.run(&OF_LEVELS).code, Some(0));
    let certificate = folder.read("release.csv.certificate.json");
    for name in ["table.csv", "city.csv", "incrowd.toml"] {
        let hash = sha256_of(&folder.bytes(name));
        assert!(!certificate.contains(&hash), "{name} can be guessed");
        assert!(folder.read("release.csv.report.html").contains(&hash), "the signer knows {name}");
    }
    assert!(certificate.contains(&sha256_of(&folder.bytes("release.csv"))));
    // Another key each time, so that nobody finds it by trying twice.
    let again = [&OF_LEVELS[..6], &["again.csv"]].concat();
    assert_eq!(folder.run(&again).code, Some(0));
    let mark = |name: &str| {
        let certificate: Certificate = serde_json::from_str(&folder.read(name)).expect("a certificate");
        assert!(certificate.input[0].sha256.is_empty());
        certificate.input[0].hmac_sha256.clone()
    };
    assert_ne!(mark("release.csv.certificate.json"), mark("again.csv.certificate.json"));
}

#[test]
fn the_signer_proves_what_a_release_was_made_from() {
    let folder = folder_of(&table(1, 2));
    assert_eq!(folder.run(&[&OF_LEVELS[..], &["--key", KEY]].concat()).code, Some(0));
    let certificate: Certificate =
        serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("a certificate");
    let key = Key::parse(KEY).expect("a key");
    assert_eq!(certificate.input[0].hmac_sha256, key.mark(&sha256_of(&folder.bytes("table.csv"))));
    let prove = |key: &str| folder.run(&["verify", "release.csv", "--project", ".", "--key", key]);
    let ran = prove(KEY);
    assert_eq!(ran.code, Some(0), "{}", ran.stdout);
    let ran = prove(&KEY.replace('0', "1"));
    assert!(ran.code == Some(1) && ran.stdout.contains("made from table.csv"), "{}", ran.stdout);
    folder.write("city.csv", CITY.replace("Celle;north", "Celle;east"));
    let ran = prove(KEY);
    assert!(ran.code == Some(1) && ran.stdout.contains("made from city.csv"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("made from table.csv"), "{}", ran.stdout);
    assert_eq!(folder.run(&["verify", "release.csv", "--key", KEY]).code, Some(2), "a key needs the project");
    assert_eq!(prove("123").code, Some(2));
}

/// Whether it was the table or something else in the same place that was read must not depend on luck.
#[test]
fn a_table_that_changes_between_two_readings_is_not_published() {
    let records = table(1, 2);
    let mut swapped = records.clone();
    // The same combinations of quasi-identifiers as often as before, so that no count of them differs.
    swapped[0][2] = if records[0][2] == "1000" { "2000" } else { "1000" };
    for (is_parquet, other) in [(false, swapped.clone()), (true, swapped)] {
        let [folder, changed] = [&records, &other].map(|records| folder_of(records));
        let mut table = "table.csv";
        if is_parquet {
            table = "table.parquet";
            for folder in [&folder, &changed] {
                to_parquet(folder);
                folder.write("incrowd.toml", PROJECT.replace("table.csv", "table.parquet"));
            }
        }
        let project = Project::open(folder.path()).expect("a project");
        let counted = count(&project, &Choice::default(), &Work::default()).expect("a table");
        let criteria = incrowd::Criteria::of(Some(4), None);
        let privacy =
            Privacy { criteria: criteria.clone(), floors: Default::default(), sensitive: counted.sensitive_names() };
        let yardstick = counted.yardstick(criteria.iter().map(|criterion| criterion.measure)).expect("a yardstick");
        let scheme = incrowd::Scheme::new(vec![incrowd::Level(1), incrowd::Level(2)]);
        let offer = offer_of_levels(&counted, &yardstick, scheme, &privacy).expect("levels");
        let agreed = Agreed { offer, choice: "levels", request: None, lattice: None, search: None, two_columns: false };
        let publish = |name: &str| {
            let files = prepare(&project, &folder.join(name), false)?;
            let (work, counted) = (Work::default(), &counted);
            let place =
                Publication { project: &project, counted, analysis: None, files: &files, replace: false, work: &work };
            draft::publish(&place, &agreed)
        };
        let published = publish("before.csv").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(published.account.files[0].sha256, sha256_of(&folder.bytes(table)));
        folder.write(table, changed.bytes(table));
        let error = publish("after.csv").err().expect("the table is another one");
        assert!(error.to_string().contains("changed"), "{error}");
        assert!(!folder.has("after.csv") && !folder.has("after.csv.certificate.json"));
    }
}

/// Makes a Parquet file of `table.csv`.
fn to_parquet(folder: &Folder) {
    use arrow_array::{ArrayRef, RecordBatch, StringArray};
    use std::sync::Arc;
    let text = folder.read("table.csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let names = lines.next().expect("a header");
    let rows: Vec<Vec<&str>> = lines.collect();
    let column = |i: usize| Arc::new(rows.iter().map(|row| Some(row[i])).collect::<StringArray>()) as ArrayRef;
    let batch =
        RecordBatch::try_from_iter(names.iter().enumerate().map(|(i, name)| (*name, column(i)))).expect("columns");
    let file = std::fs::File::create(folder.join("table.parquet")).expect("a file");
    let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("written");
}

#[test]
fn no_path_of_the_machine_is_told() {
    let folder = folder_of(&table(1, 2));
    let elsewhere = Folder::with(&[("secret-place/city.csv", CITY)]);
    let place = folder.path().file_name().expect("a name").to_string_lossy().into_owned();
    for path in [folder.join("city.csv"), elsewhere.join("secret-place/city.csv"), "./../".into()] {
        let named = match path.is_absolute() {
            true => path.display().to_string(),
            false => format!("../{place}/city.csv"),
        };
        folder.write("incrowd.toml", PROJECT.replace("\"city.csv\"", &format!("{named:?}")));
        assert_eq!(folder.run(&[&OF_LEVELS[..], &["--force"]].concat()).code, Some(0));
        for name in ["release.csv.certificate.json", "release.csv.report.html"] {
            let text = folder.read(name);
            assert!(text.contains("city.csv"), "{name} names the hierarchy");
            assert!(!text.contains(&place) && !text.contains("secret-place"), "{name} names a folder of the machine");
        }
    }
}

/// Certificates that an earlier version made are still read, and their claims checked.
#[test]
fn certificates_of_the_first_version_are_still_read() {
    let folder = folder_of(&table(1, 2));
    assert_eq!(folder.run(&OF_LEVELS).code, Some(0));
    let mut certificate: Value = serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON");
    let fields = certificate.as_object_mut().expect("an object");
    fields.insert("format_version".into(), 1.into());
    fields.insert("loss".into(), serde_json::json!({ "ncp": 0.25, "discernibility": 400, "group_size": 20.0 }));
    fields.insert("input".into(), serde_json::json!([{ "name": "table.csv", "sha256": "ab" }]));
    fields.insert(
        "original".into(),
        serde_json::json!({ "income": { "distance": "ordered", "counts": [["1000", 60]] } }),
    );
    folder.write("release.csv.certificate.json", certificate.to_string());
    let ran = folder.run(&["verify", "release.csv"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.stdout, ran.stderr);
    certificate["n_groups"] = 77.into();
    folder.write("release.csv.certificate.json", certificate.to_string());
    assert_eq!(folder.run(&["verify", "release.csv"]).code, Some(1));
}

/// A certificate cannot leave out a check by naming another version, nor claim that values were dealt more evenly.
#[test]
fn a_certificate_that_says_less_than_its_version_is_refused() {
    let folder = folder_of(&table(1, 2));
    folder.run(&["publish", "--method", "deal", "--k", "4", "-o", "release.csv"]).ends(0);
    let name = "release.csv.certificate.json";
    let certificate: Value = serde_json::from_str(&folder.read(name)).expect("JSON");
    let verified = |change: &dyn Fn(&mut Value)| {
        let mut changed = certificate.clone();
        change(&mut changed);
        folder.write(name, changed.to_string());
        folder.run(&["verify", "release.csv"]).code
    };
    assert_eq!(verified(&|_| {}), Some(0));
    assert_eq!(verified(&|c| c["format_version"] = 0.into()), Some(2));
    assert_eq!(verified(&|c| c["sorted"] = false.into()), Some(2));
    assert_eq!(verified(&|c| c["dealt"]["attributes"][0]["most_differ"] = 0.into()), Some(1));
}
