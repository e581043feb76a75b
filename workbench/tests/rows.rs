//! Counting elsewhere: the statement that counts a project's combinations, and releases as distinct rows with how many
//! records each is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::support::{Folder, Random};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

const PROJECT: &str = r#"
[data]
path = "people.csv"
missing = ["?", ""]
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
"#;

fn people(random: &mut Random, more: &str) -> Folder {
    let mut data = String::from("patient,age,city,disease,note\n");
    for i in 0..60 + random.below(200) {
        let (age, city) = (20 + random.below(40), *random.pick(&["Oslo", "Rome", "?", "Pi\"sa,"]));
        let disease = *random.pick(&["flu", "flu", "cold", "gout"]);
        let city = if city.contains('"') { "\"Pi\"\"sa,\"" } else { city };
        data.push_str(&format!("p{},{age},{city},{disease},n{}\n", i % 50, i % 3));
    }
    Folder::with(&[("people.csv", &data), ("incrowd.toml", &format!("{PROJECT}{more}"))])
}

/// The rows of a CSV file, each as often as its last cell says, with the header without that cell.
fn expanded(text: &str) -> String {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for (i, record) in reader.records().enumerate() {
        let record = record.expect("a record");
        let n: usize = if i == 0 { 1 } else { record[record.len() - 1].parse().expect("a number") };
        let cells: Vec<&str> = record.iter().take(record.len() - 1).collect();
        (0..n).for_each(|_| writer.write_record(&cells).expect("written"));
    }
    String::from_utf8(writer.into_inner().expect("bytes")).expect("text")
}

/// Rows are distinct, expand to the release to the byte, and are judged as the release is; a number that is not so is not.
#[test]
fn rows_are_the_release_with_numbers() {
    let mut random = Random(3);
    let kinds = [
        "",
        "[attributes.patient]\nrole = \"person\"\n",
        "[attributes.note]\nrole = \"other\"\n",
        "[attributes.patient]\nrole = \"person\"\n[attributes.note]\nrole = \"other\"\n",
    ];
    for round in 0..12 {
        let folder = people(&mut random, kinds[round % kinds.len()]);
        let wish = ["--k", "3", "--max-suppressed", "30%", "--key", KEY, "--json"];
        let method: &[&str] = if round % 3 == 0 { &["--method", "mondrian"] } else { &[] };
        let publish = |more: &[&str]| folder.run(&[&["publish"], &wish[..], method, more].concat()).ends(0).json();
        let plain = publish(&["-o", "release.csv"]);
        let rows = publish(&["-o", "rows.csv", "--rows"]);
        assert_eq!(rows["counted"], "n");
        let text = folder.read("rows.csv");
        assert_eq!(expanded(&text), folder.read("release.csv"));
        let lines: Vec<&str> = text.lines().map(|line| line.rsplit_once(',').expect("a number").0).collect();
        let mut distinct = lines.clone();
        distinct.dedup();
        assert_eq!(lines, distinct);
        assert_eq!(plain["n_records_published"], rows["n_records_published"]);
        // The certificates differ in what is said of the file, and in nothing else.
        let certificate = |name: &str| -> BTreeMap<String, Value> {
            let text = folder.read(&format!("{name}.certificate.json"));
            let mut all: BTreeMap<String, Value> = serde_json::from_str(&text).expect("a certificate");
            ["output", "counted", "format_version"].iter().for_each(|key| drop(all.remove(*key)));
            all
        };
        assert_eq!(certificate("release.csv"), certificate("rows.csv"));
        let code = if kinds[round % kinds.len()].contains("person") { 2 } else { 0 };
        folder.run(&["verify", "rows.csv"]).ends(code);
        folder.run(&["verify", "rows.csv", "--project", "."]).ends(0);
        folder.run(&["verify", "rows.csv", "--counted", "n", "--quasi-identifiers", "age,city", "--k", "3"]).ends(0);
        // Parquet says the same.
        publish(&["-o", "rows.parquet", "--rows"]);
        folder.run(&["verify", "rows.parquet", "--project", "."]).ends(0);
        // One record more.
        let (before, last) = text.trim_end().rsplit_once(',').expect("a number");
        folder.write("rows.csv", format!("{before},{}\n", last.parse::<u64>().expect("a number") + 1));
        folder.run(&["verify", "rows.csv"]).ends(1);
    }
}

/// What other verbs say of rows is what they say of records.
#[test]
fn rows_are_looked_at_as_records() {
    let folder = people(&mut Random(5), "");
    for (name, more) in [("release.csv", None), ("rows.csv", Some("--rows"))] {
        let flags = ["publish", "--k", "4", "--max-suppressed", "30%", "-o", name];
        folder.run(&flags.into_iter().chain(more).collect::<Vec<_>>()).ends(0);
    }
    for flags in [&["risk"][..], &["attack"]] {
        // What an attacker finds is no reason to pass, but the same.
        let told = |name: &str| {
            let ran = folder.run(&[flags, &[name, "--json"]].concat());
            assert!(ran.stdout.contains("n_groups"), "{ran}");
            ran.stdout.replace(name, "NAME")
        };
        assert_eq!(told("release.csv"), told("rows.csv"));
    }
}

/// A certificate of rows is of a version of its own, and does not pass as one of records.
#[test]
fn a_certificate_of_rows_is_no_other() {
    let folder = people(&mut Random(5), "");
    folder.run(&["publish", "--k", "4", "--max-suppressed", "30%", "-o", "rows.csv", "--rows"]).ends(0);
    let certificate = folder.read("rows.csv.certificate.json");
    assert!(certificate.contains("\"format_version\": 5"));
    folder.write("rows.csv.certificate.json", certificate.replace("  \"counted\": \"n\",\n", ""));
    folder.run(&["verify", "rows.csv"]).ends(2);
    folder.write("rows.csv.certificate.json", certificate.replace("_version\": 5", "_version\": 2"));
    folder.run(&["verify", "rows.csv"]).ends(2);
}

/// Whatever is not an identifier is counted, in the project's order; what means "no value" becomes none, by its bytes.
#[test]
fn a_statement_counts_what_the_project_names() {
    let more = "[attributes.patient]\nrole = \"identifier\"\n[attributes.note]\nrole = \"other\"\n";
    let folder = people(&mut Random(5), more);
    std::fs::remove_file(folder.join("people.csv")).expect("nothing is read");
    let told = |dialect: &str| {
        let flags = ["count", "--sql", "--dialect", dialect, "--table", "clinic.discharges", "--json"];
        folder.run(&flags).ends(0).json()
    };
    let said = told("postgresql");
    let column = |name: &str| json!({ "name": name, "only_presence": false });
    assert_eq!(said["columns"], json!([column("age"), column("city"), column("disease"), column("note")]));
    assert_eq!((&said["counted"], &said["missing"]), (&json!("n"), &json!(["?", ""])));
    assert_eq!(
        said["sql"],
        "-- note: published as it is, so that it is a part of every combination\nSELECT\n  \
         NULLIF(NULLIF(CAST(\"age\" AS text) COLLATE \"C\", '?'), '') AS \"age\",\n  \
         NULLIF(NULLIF(CAST(\"city\" AS text) COLLATE \"C\", '?'), '') AS \"city\",\n  \
         NULLIF(NULLIF(CAST(\"disease\" AS text) COLLATE \"C\", '?'), '') AS \"disease\",\n  \
         NULLIF(NULLIF(CAST(\"note\" AS text) COLLATE \"C\", '?'), '') AS \"note\",\n  \
         COUNT(*) AS \"n\"\nFROM \"clinic\".\"discharges\"\nGROUP BY 1, 2, 3, 4"
    );
    let printed = folder.run(&["count", "--sql", "--table", "clinic.discharges"]).ends(0);
    assert_eq!(printed.stdout, format!("{};\n", said["sql"].as_str().expect("a statement")));
    for (dialect, words) in [
        ("duckdb", "COLLATE \"binary\""),
        ("sqlite", "COLLATE BINARY"),
        ("spark", "FROM `clinic`.`discharges`"),
        ("bigquery", "COLLATE(CAST(`age` AS STRING), '')"),
        ("snowflake", "COLLATE(CAST(age AS VARCHAR), '')"),
    ] {
        let said = told(dialect);
        assert!(said["sql"].as_str().is_some_and(|sql| sql.contains(words)), "{said}");
    }
}

/// What combinations cannot say is refused.
#[test]
fn a_statement_is_refused_where_combinations_do_not_do() {
    let folder = people(&mut Random(5), "[attributes.patient]\nrole = \"person\"\n");
    let sql = ["count", "--sql", "--table", "t"];
    let patients = folder.run(&sql).ends(0);
    assert!(patients.stdout.starts_with("-- patient: whose records they are"), "{patients}");
    let project = folder.read("incrowd.toml");
    for (key, words) in [
        ("other = \"keep\"", "publishes columns that it does not name"),
        ("max_records_per_person = 2", "depends on every record"),
        ("counted = \"weight\"\nweight_of = \"weight\"", "the name of another column"),
    ] {
        folder.write("incrowd.toml", project.replace("[data]", &format!("[data]\n{key}")));
        let refused = folder.run(&sql).ends(2);
        assert!(refused.stderr.contains(words), "{refused}");
    }
    // What the project does not name, somebody else may.
    folder.write(
        "incrowd.toml",
        project.replace("[data]", "[data]\nother = \"keep\"\nmissing_records = \"drop\"\ncomplete = [\"ward\"]"),
    );
    let all = folder.run(&["count", "--sql", "--table", "t", "--columns", "ward,age,patient", "--json"]).ends(0).json();
    let counted = all["columns"].as_array().expect("columns");
    let of = |name: &str| counted.iter().filter(|column| column["name"] == name).collect::<Vec<_>>();
    assert_eq!(of("ward"), [&json!({ "name": "ward", "only_presence": false })], "it is published as it is");
    assert_eq!((of("age").len(), of("patient").len()), (1, 1), "{all}");
    folder.write("incrowd.toml", &project);
    let named = folder.run(&["count", "--sql", "--table", "t", "--columns", "ward"]).ends(2);
    assert!(named.stderr.contains("the project says which ones"), "{named}");
    assert!(folder.run(&["count", "--sql"]).ends(2).stderr.contains("which table"));
    let chosen = folder.run(&["count", "--sql", "--table", "t", "--quasi-identifiers", "age"]).ends(2);
    assert!(chosen.stderr.contains("counts what the project names"), "{chosen}");
}

/// Counts of combinations lack identifiers, and what else they have is all that a project needs.
#[test]
fn combinations_need_no_identifiers() {
    let more = "[attributes.patient]\nrole = \"identifier\"\n";
    let folder = people(&mut Random(5), more);
    let mut counts: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    let mut reader = csv::Reader::from_path(folder.join("people.csv")).expect("a table");
    for record in reader.records() {
        let record = record.expect("a record");
        *counts.entry(record.iter().skip(1).take(3).map(str::to_string).collect()).or_default() += 1;
    }
    let mut writer = csv::Writer::from_path(folder.join("counts.csv")).expect("a file");
    writer.write_record(["age", "city", "disease", "n"]).expect("written");
    for (cells, n) in &counts {
        writer.write_record(cells.iter().chain([&n.to_string()])).expect("written");
    }
    drop(writer);
    let project = format!("{PROJECT}{more}").replace("[data]", "[data]\nrecords = \"independent\"");
    folder.write("incrowd.toml", &project);
    folder.run(&["publish", "--k", "3", "--max-suppressed", "30%", "-o", "release.csv"]).ends(0);
    let of_counts = project.replace("\"people.csv\"", "\"counts.csv\"\ncounted = \"n\"");
    folder.write("incrowd.toml", of_counts);
    folder.run(&["publish", "--k", "3", "--max-suppressed", "30%", "-o", "again.csv"]).ends(0);
    assert_eq!(folder.read("release.csv"), folder.read("again.csv"));
}

/// The statement that makes records of rows names the columns, the number and both tables.
#[test]
fn a_statement_expands_rows() {
    let folder = people(&mut Random(5), "");
    let wish = ["publish", "--k", "4", "--max-suppressed", "30%", "--rows", "--force"];
    let sql = |more: &[&str]| {
        let ran = folder.run(&[&wish[..], &["-o", "k4.rows.csv", "--sql"], more].concat()).ends(0);
        assert!(ran.stderr.contains("Published"), "{ran}");
        ran.stdout
    };
    assert_eq!(
        sql(&["--into", "public.discharges_k4"]),
        "CREATE TABLE \"public\".\"discharges_k4\" AS\n\
         SELECT r.\"age\", r.\"city\", r.\"disease\" FROM \"public\".\"k4.rows\" AS r \
         CROSS JOIN LATERAL generate_series(1, CAST(r.\"n\" AS bigint))\n\
         ORDER BY COALESCE(CAST(r.\"age\" AS text), '') COLLATE \"C\", COALESCE(CAST(r.\"city\" AS text), '') COLLATE \
         \"C\", COALESCE(CAST(r.\"disease\" AS text), '') COLLATE \"C\";\n"
    );
    for (dialect, words) in [
        ("duckdb", "unnest(range(CAST(\"n\" AS BIGINT)))"),
        ("sqlite", "WITH RECURSIVE times(i)"),
        ("spark", "LATERAL VIEW explode(sequence(1, CAST(r.`n` AS BIGINT)))"),
        ("bigquery", "CROSS JOIN UNNEST(GENERATE_ARRAY(1, CAST(r.`n` AS INT64)))"),
        ("snowflake", "LATERAL FLATTEN(INPUT => ARRAY_GENERATE_RANGE(0, CAST(r.n AS INTEGER)))"),
    ] {
        let said = sql(&["--dialect", dialect]);
        assert!(said.contains(words), "{said}");
    }
    // A column of that name.
    folder.write("incrowd.toml", folder.read("incrowd.toml").replace("disease", "n"));
    folder.write("people.csv", folder.read("people.csv").replacen("disease", "n", 1));
    let refused = folder.run(&[&wish[..], &["-o", "rows.csv"]].concat()).ends(2);
    assert!(refused.stderr.contains("two columns would be called 'n'"), "{refused}");
}

/// The statements of examples/elsewhere are what the commands of its README print.
#[test]
fn the_example_s_statements_are_what_is_printed() {
    let example = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/elsewhere");
    let read = |name: &str| std::fs::read_to_string(example.join(name)).expect("a file of the example");
    let folder = Folder::with(&[("incrowd.toml", &read("incrowd.toml"))]);
    let mut counts = String::from("age,sex,postcode,diagnosis,n\n");
    for i in 0..40 {
        counts.push_str(&format!("{},{},1011{},flu,{}\n", 20 + i, ["f", "m"][i % 2], i % 4, 5 + i));
    }
    folder.write("counts.csv", counts);
    for dialect in ["bigquery", "snowflake"] {
        let count = folder.run(&["count", "--sql", "--dialect", dialect, "--table", "clinic.discharges"]).ends(0);
        assert_eq!(count.stdout, read(&format!("count.{dialect}.sql")));
        let into = ["--sql", "--dialect", dialect, "--into", "clinic.discharges_k5"];
        let publish = ["publish", "--rows", "--force", "-o", "discharges_k5_rows.csv"];
        let published = folder.run(&[&publish[..], &into].concat()).ends(0);
        assert_eq!(published.stdout, read(&format!("publish.{dialect}.sql")));
    }
}
