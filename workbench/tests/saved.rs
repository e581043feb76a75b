//! Lattices in files: they answer as counting would, and are refused when that is no longer so.

use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt8Array};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::KeyValue;

use crate::support;
use support::{Folder, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = 4 }
[attributes.ward]
role = "quasi-identifier"
hierarchy = "wards.csv"
[attributes.disease]
role = "sensitive"
[attributes.income]
role = "sensitive"
[request]
k = 5
max_suppressed = "5%"
"#;

const WARDS: &str = "N;north;*\nM;north;*\nS;south;*\n";

fn data(n_records: usize) -> String {
    let mut random = Random(11);
    let mut data = String::from("age,postcode,ward,disease,income\n");
    for _ in 0..n_records {
        let (disease, ward) = (["flu", "cold", "gout"][random.below(3)], ["N", "M", "S"][random.below(3)]);
        let (age, postcode) = (20 + random.below(70), 1000 + random.below(200));
        data.push_str(&format!("{age},{postcode},{ward},{disease},{}\n", 10 * random.below(4)));
    }
    data
}

fn project() -> Folder {
    Folder::with(&[("table.csv", &data(400)), ("incrowd.toml", PROJECT), ("wards.csv", WARDS)])
}

const MEASURED: &str = "--k 5 --l disease:2 --t disease:0.3 --entropy-l income:1.5";

fn saved() -> Folder {
    let folder = project();
    folder.run(&[&["annotate", "--entropy", "-o", "table.crowd"], &words(MEASURED)[..]].concat()).ends(0);
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

const WISHES: [&str; 7] = [
    "negotiate --k 5 --sensitive disease",
    "negotiate --k 20 --max-suppressed 0 --max-level age=1,postcode=2 --sensitive disease",
    "negotiate --l disease:3 --max-suppressed 10% --best-by ncp",
    "negotiate --t disease:0.1 --max-suppressed 2% --best-by entropy --explain",
    "negotiate --k 3 --t disease:0.05 --entropy-l income:3.9 --max-level postcode=1 --max-suppressed 0",
    "frontier --list --over t --sensitive disease",
    "frontier --over disease:l --k 3 --l disease:2 --entropy-l income:1.5 --csv",
];

#[test]
fn a_saved_lattice_answers_like_the_data() {
    let folder = saved();
    for wish in WISHES {
        for json in [&[][..], &["--json"]] {
            if wish.ends_with("--csv") && !json.is_empty() {
                continue;
            }
            let counted = folder.run(&[&words(wish)[..], json].concat());
            let from_file = folder.run(&[&words(wish)[..], json, &["--lattice", "table.crowd"]].concat());
            assert_eq!(from_file.code, counted.code, "{from_file}{counted}");
            // The file has measured more, and says more of what an offer reaches; everything else is the same.
            if wish.starts_with("frontier") {
                // Names of criteria are longer where there are more sensitive attributes.
                let content = |text: &str| text.replace("disease:", "").replace([' ', '─'], "");
                assert_eq!(content(&from_file.stdout), content(&counted.stdout));
            } else if !json.is_empty() {
                let offers = |ran: &support::Ran| {
                    let document = ran.json();
                    let all = [&document["exact"], &document["offers"]["suppression"], &document["offers"]["height"]];
                    let kept = ["levels", "height", "n_suppressed", "n_groups", "smallest_group"];
                    let of_offer = |offer: &serde_json::Value| kept.map(|key| offer[key].clone());
                    let ncp = |offer: &serde_json::Value| offer["loss"]["ncp"].clone();
                    (document["outcome"].clone(), all.map(of_offer), all.map(ncp))
                };
                assert_eq!(offers(&from_file), offers(&counted), "{from_file}{counted}");
            }
        }
    }
}

#[test]
fn what_was_measured_alike_is_answered_alike_to_the_last_byte() {
    let folder = project();
    folder.run(&words("annotate --sensitive disease -o table.crowd")).ends(0);
    for wish in &WISHES[..2] {
        for json in [&[][..], &["--json"]] {
            let counted = folder.run(&[&words(wish)[..], json].concat());
            let from_file = folder.run(&[&words(wish)[..], json, &["--lattice", "table.crowd"]].concat());
            assert_eq!((from_file.code, from_file.stdout), (counted.code, counted.stdout));
        }
    }
}

#[test]
fn the_data_are_not_needed_but_must_not_be_others() {
    let folder = saved();
    let ask = || folder.run(&words("negotiate --sensitive disease --lattice table.crowd"));
    let answer = ask().ends(0);
    // The same content at another time.
    folder.write("table.csv", data(400));
    assert_eq!(ask().ends(0).stdout, answer.stdout);
    let mut changed = data(400);
    changed.replace_range(changed.len() - 2..changed.len() - 1, "1");
    assert_eq!(changed.len(), data(400).len());
    for other in [changed, data(401), data(399)] {
        folder.write("table.csv", other);
        let refused = ask().ends(2);
        assert!(refused.stderr.contains("table.crowd: does not fit any more: the data changed"), "{refused}");
        assert!(refused.stderr.contains("hint: annotate again"), "{refused}");
    }
    std::fs::remove_file(folder.join("table.csv")).expect("it was there");
    let without = ask().ends(0);
    assert_eq!(without.stdout, answer.stdout);
    assert!(without.stderr.contains("the data are not here"), "{without}");
}

#[test]
fn another_hierarchy_weight_or_meaning_of_missing_is_refused() {
    let folder = saved();
    let ask = || folder.run(&words("negotiate --sensitive disease --lattice table.crowd"));
    let check = |name: &str, from: &str, to: &str, what: &str| {
        let before = folder.read(name);
        assert!(before.contains(from));
        folder.write(name, before.replacen(from, to, 1));
        let refused = ask().ends(2);
        assert!(refused.stderr.contains(what) && refused.stderr.contains("changed since"), "{refused}");
        folder.write(name, before);
        ask().ends(0);
    };
    check("wards.csv", "M;north", "M;south", "the hierarchy or weight of 'ward'");
    check("incrowd.toml", "[5, 10, 20]", "[5, 10]", "the hierarchy or weight of 'age'");
    check("incrowd.toml", "mask = 4 }", "mask = 4 }\nweight = 2", "the hierarchy or weight of 'postcode'");
    check("incrowd.toml", "path =", "missing = [\"N\"]\npath =", "[data]");
    check("incrowd.toml", "[request]", "distance = \"equal\"\n[request]", "the distance of 'income'");
}

#[test]
fn what_was_not_annotated_is_not_answered() {
    let folder = project();
    folder.run(&words("annotate --sensitive disease --quasi-identifiers age,ward -o part.crowd")).ends(0);
    for (wish, message) in [
        ("--lattice part.crowd", "is about the quasi-identifiers age, ward, and no others"),
        ("--lattice part.crowd --quasi-identifiers age", "is about the quasi-identifiers age, ward, and no others"),
        ("--lattice part.crowd --quasi-identifiers age,ward --l income:2", "without the sensitive attribute 'income'"),
        ("--lattice part.crowd --quasi-identifiers age,ward --t disease:0.2", "annotated without t"),
        ("--lattice part.crowd --quasi-identifiers age,ward --best-by entropy", "annotated without entropy"),
        ("--lattice none.crowd", "none.crowd: there is no such file"),
        ("--lattice wards.csv", "wards.csv: is not a saved lattice"),
        ("--lattice .", ".: is"),
    ] {
        let refused = folder.run(&[&["negotiate", "--sensitive", "disease"], &words(wish)[..]].concat());
        let refused = if wish.contains("income") {
            folder.run(&[&["negotiate"], &words(wish)[..]].concat()).ends(2)
        } else {
            refused.ends(2)
        };
        assert!(refused.stderr.contains(message), "{wish}: {refused}");
    }
    let before = folder.bytes("part.crowd");
    let refused = folder.run(&words("annotate --sensitive disease -o part.crowd")).ends(2);
    assert!(refused.stderr.contains("is there already") && folder.bytes("part.crowd") == before, "{refused}");
    folder.run(&words("annotate --sensitive disease -o part.crowd --force")).ends(0);
    assert!(folder.bytes("part.crowd") != before);
}

#[test]
fn a_damaged_file_gives_an_error_or_the_same_answer() {
    let folder = saved();
    let ask = || {
        folder.run(&words("negotiate --k 20 --max-suppressed 0 --max-level age=1,postcode=1 --sensitive disease --lattice table.crowd"))
    };
    let (answer, whole) = (ask().ends(1), folder.bytes("table.crowd"));
    let mut random = Random(3);
    let mut n_refused = 0;
    for i in 0..60 {
        let mut damaged = whole.clone();
        match i % 3 {
            0 => damaged.truncate(random.below(whole.len())),
            // The footer is where everything else is found from.
            1 => damaged[whole.len() - 1 - random.below(4000)] ^= 1 << random.below(8),
            _ => damaged[random.below(whole.len())] ^= 1 << random.below(8),
        }
        folder.write("table.crowd", damaged);
        let ran = ask();
        match ran.code {
            Some(2) => {
                assert!(ran.stderr.starts_with("error: table.crowd: is ") && ran.stderr.contains("hint:"), "{ran}");
                n_refused += 1;
            }
            _ => assert_eq!((ran.code, &ran.stdout), (answer.code, &answer.stdout), "{ran}"),
        }
    }
    assert!(n_refused >= 20, "{n_refused} were refused");
    folder.write("table.crowd", b"");
    assert!(ask().ends(2).stderr.contains("is not a saved lattice"));
}

#[test]
fn a_file_from_the_future_is_refused() {
    use sha2::Digest;
    let folder = project();
    let header = r#"{"version":2,"made_by":"incrowd 9.0.0"}"#;
    let hash: String = sha2::Sha256::digest(header).iter().map(|byte| format!("{byte:02x}")).collect();
    let column: ArrayRef = Arc::new(UInt8Array::from(vec![0]));
    let batch = RecordBatch::try_from_iter([("a", column)]).expect("a column");
    let file = File::create(folder.join("new.crowd")).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.append_key_value_metadata(KeyValue::new("incrowd.lattice".into(), header.to_string()));
    writer.append_key_value_metadata(KeyValue::new("incrowd.lattice.sha256".into(), hash));
    writer.close().expect("written");
    let refused = folder.run(&words("negotiate --sensitive disease --lattice new.crowd")).ends(2);
    let message = "new.crowd: is in format 2, written by incrowd 9.0.0; this program reads format 1";
    assert!(refused.stderr.contains(message) && refused.stderr.contains("hint: use a later incrowd"), "{refused}");
}

#[test]
fn other_tools_see_a_table_with_a_row_per_scheme() {
    let folder = saved();
    let file = File::open(folder.join("table.crowd")).expect("a file");
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).expect("Parquet").build().expect("Parquet");
    let batches: Vec<RecordBatch> = reader.map(|batch| batch.expect("readable")).collect();
    let schema = batches[0].schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    for name in ["level of age", "level of ward", "height", "groups", "smallest group", "lost at k=5"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let csv = folder.run(&words("annotate --k 5 --sensitive disease --per-scheme --csv")).ends(0).stdout;
    let rows: Vec<Vec<u64>> =
        csv.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), rows.len());
    let column = |name: &str| -> Vec<u64> {
        let of_batch = |batch: &RecordBatch| {
            let column = batch.column_by_name(name).expect("it was there").clone();
            let column = column.as_any().downcast_ref::<arrow_array::UInt64Array>().expect("numbers").clone();
            column.values().to_vec()
        };
        batches.iter().flat_map(of_batch).collect()
    };
    for (name, place) in [("groups", 4), ("smallest group", 5), ("lost at k=5", 6)] {
        assert_eq!(column(name), rows.iter().map(|row| row[place]).collect::<Vec<u64>>(), "{name}");
    }
}
