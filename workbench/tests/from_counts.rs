//! A release from the counts beside the same one made record by record: bytes, refusals and notes, for random tables,
//! methods, styles and criteria.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::orders::Rules;
use incrowd_workbench::orders::known::{Known, Limits};
use incrowd_workbench::words::verbs::{Desk, run};
use incrowd_workbench::work::{Watch, Work};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};

use crate::support;
use support::{Folder, Random};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// A table of made-up records: their cells as texts, "?" for no value.
fn records(random: &mut Random) -> Vec<[String; 7]> {
    let n_records = 1 + random.below(90);
    let n_people = 1 + random.below(n_records);
    // Few different values, so that records repeat; some numbers are written in two ways.
    let n_ages = 1 + random.below(9);
    (0..n_records)
        .map(|_| {
            let texts = [
                format!("p{}", random.below(n_people)),
                (20 + 7 * random.below(n_ages)).to_string(),
                random.pick(&["Oslo", "Umea", "Rome", "Pisa"]).to_string(),
                random.pick(&["1.50", "1.5", "2", "70.25"]).to_string(),
                random.pick(&["flu", "flu", "flu", "ulcer", "gastritis", "a,\"b\""]).to_string(),
                (1000 * random.below(4)).to_string(),
                random.below(1000).to_string(),
            ];
            let mut place = 0;
            texts.map(|text| {
                place += 1;
                let may_lack = (2..7).contains(&place);
                if may_lack && random.below(25) == 0 { "?".to_string() } else { text }
            })
        })
        .collect()
}

const NAMES: [&str; 7] = ["person", "age", "city", "weight", "disease", "income", "note"];

fn csv(records: &[[String; 7]]) -> String {
    let quoted = |cell: &String| match cell.contains('"') {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.clone(),
    };
    let line = |record: &[String; 7]| record.iter().map(quoted).collect::<Vec<_>>().join(",") + "\n";
    format!("{}\n{}", NAMES.join(","), records.iter().map(line).collect::<String>())
}

/// The same with types: ages and incomes are numbers.
fn write_parquet(records: &[[String; 7]], path: &Path) {
    let column = |i: usize| -> ArrayRef {
        let cells = || records.iter().map(move |record| Some(record[i].as_str()).filter(|cell| *cell != "?"));
        match NAMES[i] {
            "age" | "income" => Arc::new(cells().map(|cell| cell?.parse().ok()).collect::<Int64Array>()),
            _ => Arc::new(cells().collect::<StringArray>()),
        }
    };
    let columns = NAMES.iter().enumerate().map(|(i, name)| (*name, column(i), true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).expect("columns of equal length");
    let file = std::fs::File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
}

fn project(random: &mut Random, data: &str) -> String {
    let mut text = format!("[data]\npath = \"{data}\"\nmissing = [\"?\"]\n");
    let is_of_people = random.below(3) == 0;
    if random.below(3) == 0 {
        text.push_str("missing_records = \"drop\"\n");
    }
    if is_of_people && random.below(3) == 0 {
        text.push_str("max_records_per_person = 2\n");
    }
    let mut attribute = |name: &str, lines: &str| text.push_str(&format!("[attributes.{name}]\n{lines}\n"));
    if is_of_people {
        attribute("person", "role = \"person\"");
    }
    attribute("age", "role = \"quasi-identifier\"\nhierarchy = { intervals = [10, 20], origin = 0 }");
    attribute(
        "city",
        "role = \"quasi-identifier\"\nhierarchy = { tree = { North = [\"Oslo\", \"Umea\"], South = [\"Rome\", \"Pisa\"] } }",
    );
    if random.below(2) == 0 {
        attribute("weight", "role = \"quasi-identifier\"");
    }
    if random.below(5) > 0 {
        let at = if random.below(3) == 0 { "count_at = 1\n" } else { "" };
        let tree = "{ tree = { stomach = [\"gastritis\", \"ulcer\"], other = [\"flu\", \"a,\\\"b\\\"\"] } }";
        attribute("disease", &format!("role = \"sensitive\"\n{at}hierarchy = {tree}"));
        if random.below(2) == 0 {
            let unique = if random.below(2) == 0 { "\nunique = \"publish\"" } else { "" };
            attribute("income", &format!("role = \"sensitive\"{unique}"));
        }
        if random.below(4) == 0 {
            attribute("note", "role = \"sensitive\"");
        }
    }
    text
}

fn order(random: &mut Random, project: &str) -> Value {
    let k = 2 + random.below(3);
    let has_sensitive = project.contains("attributes.disease");
    let mut order = match random.below(8) {
        0 => json!({ "k": k, "max_suppressed": "100%" }),
        1 => json!({ "k": k, "max_suppressed": "100%", "best_by": "height" }),
        2 => json!({ "k": k, "levels": { "age": 1, "city": 1 }, "max_suppressed": "100%" }),
        3 => json!({ "method": "per-record", "utility_at_least": "30%" }),
        4 if has_sensitive => json!({ "method": "deal", "k": k, "seed": 3 }),
        5 => json!({ "method": "bottom-up", "k": k }),
        6 => json!({ "method": "mondrian", "k": k }),
        _ => json!({ "method": "top-down", "k": k, "seed": 5 }),
    };
    let is_local = order.get("method").is_some_and(|method| method != "per-record");
    if is_local {
        if random.below(2) == 0 {
            order["cells"] = json!(random.pick(&["ranges", "midpoints", "rounded", "sets", "labels"]));
        }
        if random.below(3) == 0 {
            order["two_columns"] = json!(true);
        }
    }
    if has_sensitive && order.get("method").is_none_or(|method| method != "per-record") {
        match random.below(5) {
            0 => order["disease:l"] = json!(2),
            1 => order["disease:t"] = json!(0.5),
            2 if !is_local => order["disease:entropy"] = json!(1.5),
            _ => {}
        }
    }
    let endings = ["csv", "parquet"];
    order["output"] = json!(format!("release.{}", random.pick(&endings)));
    order["key"] = json!(KEY);
    order
}

/// What came of an order: the document or the error, the notes, and the files with what is in them.
fn publish(folder: &Folder, order: &Value, work: Work) -> (String, Vec<String>, Vec<(String, Vec<u8>)>) {
    let project = Project::open(folder.path()).expect("a project");
    let path = |text: &str, _| Ok(folder.join(text));
    let (known, rules) = (Known::default(), Rules::default());
    let desk = Desk { project: &project, known: &known, rules: &rules, with_standing: true, path: &path };
    let said = match run("publish", order.as_object().expect("an object"), &desk, &work) {
        Ok(document) => document.to_string(),
        Err(error) => format!("{error:?}"),
    };
    let notes = work.watch().notes().iter().map(|note| format!("{note:?}")).collect();
    let files: Vec<(String, Vec<u8>)> =
        folder.content().into_iter().filter(|(name, _)| name.starts_with("release")).collect();
    for (name, _) in &files {
        std::fs::remove_file(folder.join(name)).expect("it is there");
    }
    (said, notes, files)
}

fn work() -> Work {
    Work::new(None, None, Watch::default())
}

#[test]
fn a_release_from_counts_is_the_one_made_record_by_record() {
    let (mut n_published, mut n_of_people, mut n_shared_out) = (0, 0, 0);
    for seed in 0..130 {
        let random = &mut Random(seed);
        let records = records(random);
        let is_typed = random.below(3) == 0;
        let text = project(random, if is_typed { "people.parquet" } else { "people.csv" });
        let folder = Folder::with(&[("incrowd.toml", &text)]);
        match is_typed {
            true => write_parquet(&records, &folder.join("people.parquet")),
            false => folder.write("people.csv", csv(&records)),
        }
        let order = order(random, &text);
        let fast = publish(&folder, &order, work());
        let slow = publish(&folder, &order, work().reading_again());
        assert_eq!((&fast.0, &fast.1), (&slow.0, &slow.1), "seed {seed}: {order}\n{text}");
        let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&fast.2), names(&slow.2), "seed {seed}");
        for ((name, fast), (_, slow)) in fast.2.iter().zip(&slow.2) {
            assert!(fast == slow, "seed {seed}: {name} differs\n{order}\n{text}");
        }
        if !fast.2.is_empty() {
            n_published += 1;
            n_of_people += usize::from(text.contains("\"person\""));
            n_shared_out += usize::from(order.get("method").is_some());
        }
    }
    println!("{n_published} published, {n_of_people} of people, {n_shared_out} by a method of their own");
    assert!(n_published > 45 && n_of_people > 7 && n_shared_out > 20);
}

/// What is written of a row that a million records share is what they would write one by one, batch by batch.
#[test]
fn rows_that_very_many_records_share_are_written_as_they_were() {
    let lines = |n: usize, line: &str| format!("{line}\n").repeat(n);
    let table = format!("age,city\n{}{}{}", lines(70_000, "1,A"), lines(3, "2,B"), lines(65_536, "3,?"));
    let text = "[data]\npath = \"people.csv\"\nmissing = [\"?\"]\n[attributes.age]\nrole = \"quasi-identifier\"\n\
                [attributes.city]\nrole = \"quasi-identifier\"\n";
    let folder = Folder::with(&[("incrowd.toml", text), ("people.csv", &table)]);
    for name in ["release.csv", "release.parquet"] {
        let order = json!({ "k": 4, "levels": { "age": 0 }, "max_suppressed": "1%", "output": name, "key": KEY });
        let (said, _, files) = publish(&folder, &order, work());
        assert!(files.len() == 3, "{said}");
        assert!(files == publish(&folder, &order, work().reading_again()).2, "{name}");
    }
}

/// A table that is another one by now is not published, and one that only looks touched is.
#[test]
fn the_mark_of_the_input_is_the_hash_of_what_was_counted() {
    let table: String = (0..40).map(|i| format!("{},A\n", 20 + i % 4)).collect();
    let text = "[data]\npath = \"people.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n[attributes.city]\n\
                role = \"quasi-identifier\"\n";
    let folder = Folder::with(&[("incrowd.toml", text), ("people.csv", &format!("age,city\n{table}"))]);
    let order = json!({ "k": 5, "max_suppressed": "100%", "output": "release.csv", "key": KEY });
    let expected = publish(&folder, &order, work());
    let project = Project::open(folder.path()).expect("a project");
    let limits = Limits { n_counted: 4, n_lattices: 4, n_bytes: 1 << 30, tells_again: false };
    let known = Known::keeping(limits);
    let (rules, path) = (Rules::default(), |text: &str, _| Ok(folder.join(text)));
    let desk = Desk { project: &project, known: &known, rules: &rules, with_standing: true, path: &path };
    let order = order.as_object().expect("an object");
    let negotiate = json!({ "k": 5, "max_suppressed": "100%" });
    run("negotiate", negotiate.as_object().expect("an object"), &desk, &work()).expect("an answer");
    for reads_again in [false, true] {
        let work = || if reads_again { work().reading_again() } else { work() };
        folder.write("people.csv", format!("age,city\n{table}99,Z\n"));
        let changed = run("publish", order, &desk, &work());
        assert!(changed.is_err_and(|error| error.to_string().contains("changed")), "it is another table");
        assert!(!folder.has("release.csv"));
        folder.write("people.csv", format!("age,city\n{table}"));
        run("publish", order, &desk, &work()).expect("the same table, written once more");
        for (name, bytes) in &expected.2 {
            assert!(&folder.bytes(name) == bytes, "{name} is that of the table that was counted");
            std::fs::remove_file(folder.join(name)).expect("it is there");
        }
    }
}

/// A table of combinations beside the same records one by one: every verb, releases to the byte.
#[test]
fn a_table_of_combinations_is_the_table_of_its_records() {
    let (mut n_published, mut n_of_people) = (0, 0);
    for seed in 1000..1050 {
        let random = &mut Random(seed);
        let combinations = records(random);
        let numbers: Vec<usize> = combinations.iter().map(|_| 1 + random.below(4)).collect();
        let expanded: Vec<[String; 7]> =
            combinations.iter().zip(&numbers).flat_map(|(record, n)| std::iter::repeat_n(record.clone(), *n)).collect();
        let keeps_other = random.below(4) == 0;
        let mut text = project(random, "people.csv");
        if keeps_other {
            text = text.replacen("missing =", "other = \"keep\"\nmissing =", 1);
        }
        let order = order(random, &text);
        let folder = Folder::with(&[("incrowd.toml", &text), ("people.csv", &csv(&expanded))]);
        let lines: Vec<String> = csv(&combinations).lines().map(str::to_string).collect();
        let with_number = |(i, line): (usize, &String)| match i {
            0 => format!("n,{line}\n"),
            i => format!("{},{line}\n", numbers[i - 1]),
        };
        let table: String = lines.iter().enumerate().map(with_number).collect();
        let counted = text.replacen("missing =", "counted = \"n\"\nmissing =", 1);
        let of_counts = Folder::with(&[("incrowd.toml", &counted), ("people.csv", &table)]);
        let (one_by_one, at_once) = (publish(&folder, &order, work()), publish(&of_counts, &order, work()));
        assert_eq!(one_by_one.1, at_once.1, "seed {seed}: notes");
        assert!(
            at_once == publish(&of_counts, &order, work().reading_again()),
            "seed {seed}: record by record\n{order}\n{text}"
        );
        assert_eq!(one_by_one.2.len(), at_once.2.len(), "seed {seed}: {} and {}", one_by_one.0, at_once.0);
        for ((name, one), (_, other)) in one_by_one.2.iter().zip(&at_once.2) {
            if name.ends_with("certificate.json") {
                // The files that they were made from are others.
                let without_marks = |bytes: &[u8]| {
                    let mut certificate: Value = serde_json::from_slice(bytes).expect("a certificate");
                    ["input", "hierarchies"].iter().for_each(|key| certificate[*key] = Value::Null);
                    certificate
                };
                assert_eq!(without_marks(one), without_marks(other), "seed {seed}");
            } else if !name.ends_with("report.html") {
                assert!(one == other, "seed {seed}: {name} differs\n{order}\n{text}");
            }
        }
        n_published += usize::from(!at_once.2.is_empty());
        n_of_people += usize::from(!at_once.2.is_empty() && text.contains("\"person\""));
        for line in ["count --json", "negotiate --k 3 --json", "risk . --json", "profile . --json"] {
            let said = [&folder, &of_counts].map(|folder| {
                let ran = folder.run(&line.split(' ').collect::<Vec<_>>());
                (ran.code, ran.stdout, ran.stderr)
            });
            assert_eq!(said[0], said[1], "seed {seed}: {line}");
            if seed > 1005 {
                break;
            }
        }
    }
    assert!(n_published > 20 && n_of_people > 2, "{n_published} {n_of_people}");
}

/// Rows stay rows where columns are kept that nobody counts: what they stand for could not be gone through one by one.
#[test]
fn kept_columns_of_a_table_of_combinations_are_not_expanded() {
    let text = "[data]\npath = \"rows.csv\"\ncounted = \"n\"\nmissing = [\"?\"]\nmissing_records = \"drop\"\n\
                [attributes.age]\nrole = \"quasi-identifier\"\n[attributes.note]\nrole = \"other\"\n\
                tells = \"accepted\"\nunique = \"publish\"\n";
    let table = "age,note,n\n20,a,60000000000\n20,b,60000000001\n21,a,70000000000\n22,b,3\n?,b,5\n20,a,7\n";
    let folder = Folder::with(&[("incrowd.toml", text), ("rows.csv", table)]);
    let words = "publish --k 1000 --max-suppressed 1% --levels age=0 --rows -o release.csv --json";
    let said = folder.run(&words.split(' ').collect::<Vec<_>>()).ends(0).json();
    assert_eq!(folder.read("release.csv"), "age,note,n\n20,a,60000000007\n20,b,60000000001\n21,a,70000000000\n");
    assert_eq!([&said["n_records_suppressed"], &said["n_records_dropped"]], [&json!(3), &json!(5)]);
}

#[test]
fn numbers_of_records_that_are_none_are_refused_with_their_place() {
    let text = "[data]\npath = \"people.csv\"\ncounted = \"n\"\n[attributes.age]\nrole = \"quasi-identifier\"\n";
    for (number, what) in [
        ("0", "column 'n' is 0 in row 3 of the table"),
        ("-2", "column 'n' is negative in row 3 of the table"),
        ("1.5", "column 'n' is no whole number in row 3 of the table"),
        ("+3", "column 'n' is no whole number in row 3 of the table"),
        ("", "column 'n' has no value in row 3 of the table"),
        ("99999999999999999999", "column 'n' is too large in row 3 of the table"),
        ("274877906943", "the table has more than 274877906943 records"),
    ] {
        let table = format!("age,n\n20,5\n21,6\n22,{number}\n");
        let folder = Folder::with(&[("incrowd.toml", text), ("people.csv", &table)]);
        let ran = folder.run(&["count"]).ends(2);
        assert!(ran.stderr.contains(what), "{number}: {ran}");
        if what.starts_with("column") {
            assert!(ran.stderr.contains("people.csv") && (number.len() < 2 || !ran.stderr.contains(number)), "{ran}");
        }
    }
    let folder = Folder::with(&[("incrowd.toml", text), ("people.csv", "age,n\n20,274877906937\n20,6\n")]);
    let counted = folder.run(&["count", "--json"]).ends(0).json();
    assert_eq!(counted["n_records"], 274_877_906_943_u64);
    let other = text.replace("counted = \"n\"", "counted = \"m\"");
    let folder = Folder::with(&[("incrowd.toml", &other), ("people.csv", "age,n\n20,5\n")]);
    assert!(folder.run(&["count"]).ends(2).stderr.contains("'m'"));
    let both = text.replace("attributes.age", "attributes.n");
    let folder = Folder::with(&[("incrowd.toml", &both), ("people.csv", "age,n\n20,5\n")]);
    assert!(folder.run(&["count"]).ends(2).stderr.contains("which is an attribute too"));
}

/// Rows with numbers are judged as the records that they stand for.
#[test]
fn verify_judges_rows_with_their_numbers() {
    let folder = Folder::with(&[("rows.csv", "n,age,ill\n3,20,a\n2,20,b\n4,30,a\n1,30,c\n")]);
    let ask = |k: &str, more: &[&str]| {
        let line = ["verify", "rows.csv", "--quasi-identifiers", "age", "--sensitive", "ill", "--k", k, "--json"];
        folder.run(&[&line, more].concat())
    };
    let kept = ask("5", &["--counted", "n"]).ends(0).json();
    assert_eq!((&kept["n_records"], &kept["n_groups"], &kept["smallest_group"]), (&json!(10), &json!(2), &json!(5)));
    ask("6", &["--counted", "n"]).ends(1);
    ask("5", &[]).ends(1);
    assert!(ask("5", &["--counted", "m"]).ends(2).stdout.contains("'m'"));
    folder.write("rows.csv", "n,age,ill\n3,20,a\n0,20,b\n");
    assert!(ask("2", &["--counted", "n"]).ends(2).stdout.contains("row 2"));
}
