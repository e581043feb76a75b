//! Criteria that count the labels of sensitive values: somebody with nothing but the release and a ruler counts again.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use support::{Folder, Ran, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 20], origin = 0 }
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }
[attributes.pay]
role = "sensitive"
unique = "publish"
hierarchy = { intervals = [1000, 5000] }
count_at = "width 1000"
"#;

const METHODS: [&str; 5] = ["top-down", "bottom-up", "mondrian", "mondrian-relaxed", "deal"];

/// Nearly everybody has a pay of their own, and of one city nearly all are paid alike.
fn table() -> String {
    let mut random = Random(5);
    let mut data = String::from("age,city,pay\n");
    for _ in 0..400 {
        let city = *random.pick(&["Oslo", "Umea", "Rome", "Pisa"]);
        let step = if city == "Oslo" && random.below(8) > 0 { 3 } else { random.below(9) };
        data.push_str(&format!("{},{city},{}\n", 20 + random.below(40), 1000 * step + random.below(1000)));
    }
    data
}

fn folder() -> Folder {
    Folder::with(&[("table.csv", &table()), ("incrowd.toml", PROJECT)])
}

/// The same project, counting values as they are.
fn plain() -> String {
    PROJECT.replace("count_at = \"width 1000\"\n", "")
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

/// The fewest thousands that a group of the release has, and the fewest values.
fn fewest(release: &str) -> (usize, usize) {
    let mut groups: BTreeMap<String, (BTreeSet<u64>, BTreeSet<u64>)> = BTreeMap::new();
    for line in release.lines().skip(1) {
        let (group, pay) = line.rsplit_once(',').expect("three columns");
        let pay: u64 = pay.parse().expect("pay is published as it is");
        let (thousands, values) = groups.entry(group.to_string()).or_default();
        thousands.insert(pay / 1000);
        values.insert(pay);
    }
    let least = |n: &dyn Fn(&(BTreeSet<u64>, BTreeSet<u64>)) -> usize| groups.values().map(n).min().expect("a group");
    (least(&|group| group.0.len()), least(&|group| group.1.len()))
}

fn certificate(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON")
}

/// What verify says of a release whose certificate somebody has changed.
fn with_certificate(folder: &Folder, change: impl FnOnce(&mut Value), line: &str) -> Ran {
    let mut changed = certificate(folder);
    change(&mut changed);
    folder.write("changed.json", changed.to_string());
    run(folder, &format!("verify release.csv --certificate changed.json {line}"))
}

#[test]
fn every_group_has_so_many_labels_by_every_method() {
    let levels = "--levels age=1,city=0".to_string();
    for how in METHODS.map(|method| format!("--method {method}")).into_iter().chain([levels, String::new()]) {
        let suppressed = if how.starts_with("--") { "" } else { "--max-suppressed 20%" };
        let (labelled, raw) = (folder(), folder());
        raw.write("incrowd.toml", plain());
        let line = format!("publish --k 4 --l 3 {how} {suppressed} -o release.csv");
        let ran = run(&labelled, &line).ends(0);
        let (thousands, values) = fewest(&labelled.read("release.csv"));
        assert!(thousands >= 3 && values >= thousands, "{how}: {thousands} labels\n{ran}");
        let said = certificate(&labelled);
        assert_eq!((&said["format_version"], &said["count_at"]["pay"]["level"]), (&json!(4), &json!(1)));
        assert_eq!(said["fewest_distinct"], json!(thousands), "{how}");
        run(&labelled, "verify release.csv").ends(0);
        run(&labelled, "verify release.csv --project .").ends(0);
        // Without it l is kept and says little; dealing spreads values over groups of itself.
        run(&raw, &line).ends(0);
        let (thousands, _) = fewest(&raw.read("release.csv"));
        assert!(thousands < 3 || how.contains("deal") || !suppressed.is_empty(), "{how}: {thousands}");
        assert!(certificate(&raw).get("count_at").is_none());
    }
}

#[test]
fn the_level_may_be_a_number_and_other_criteria_count_labels_too() {
    let folder = folder();
    let named = run(&folder, "negotiate --k 4 --l 3 --max-suppressed 20% --json").ends(0).json();
    folder.write("incrowd.toml", PROJECT.replace("\"width 1000\"", "1"));
    assert_eq!(run(&folder, "negotiate --k 4 --l 3 --max-suppressed 20% --json").ends(0).json(), named);
    for criterion in ["--alpha 0.6", "--entropy-l 2", "--recursive 3,2", "--t 0.5", "--beta 4"] {
        let line = format!("publish --k 4 {criterion} --levels age=2,city=1 -o release.csv --force");
        run(&folder, &line).ends(0);
        run(&folder, "verify release.csv --project .").ends(0);
    }
}

/// Somebody whose records say three pays of one thousand has one of it.
#[test]
fn people_are_counted_by_their_labels() {
    let mut random = Random(9);
    let mut data = String::from("who,age,city,pay\n");
    for who in 0..150 {
        let (age, city) = (20 + random.below(40), *random.pick(&["Oslo", "Umea", "Rome", "Pisa"]));
        for _ in 0..1 + random.below(4) {
            data.push_str(&format!("p{who},{age},{city},{}\n", 1000 * random.below(6) + random.below(1000)));
        }
    }
    let project = format!("{PROJECT}[attributes.who]\nrole = \"person\"\n");
    for how in ["--max-suppressed 30%", "--method mondrian"] {
        let folder = Folder::with(&[("table.csv", &data), ("incrowd.toml", &project)]);
        run(&folder, &format!("publish --k 4 --l 2 {how} -o release.csv")).ends(0);
        assert!(fewest(&folder.read("release.csv")).0 >= 2, "{how}");
        run(&folder, "verify release.csv").ends(2);
        run(&folder, "verify release.csv --project .").ends(0);
    }
}

#[test]
fn a_certificate_with_other_labels_is_found_out() {
    let folder = folder();
    run(&folder, "publish --k 4 --l 3 --max-suppressed 20% -o release.csv").ends(0);
    let says = run(&folder, "verify release.csv").ends(0).stderr;
    let says = if says.is_empty() { run(&folder, "verify release.csv").stdout } else { says };
    assert!(says.contains("pay is counted at width 1000, by the labels of the certificate"), "{says}");
    // Only values of the release are named.
    let release = folder.read("release.csv");
    let published: BTreeSet<&str> =
        release.lines().skip(1).map(|line| line.rsplit_once(',').expect("columns").1).collect();
    let told = certificate(&folder);
    let labels = told["count_at"]["pay"]["labels"].as_array().expect("a list").clone();
    let named: BTreeSet<&str> = labels
        .iter()
        .flat_map(|pair| pair[1].as_array().expect("values").iter().map(|value| value.as_str().expect("a text")))
        .collect();
    assert_eq!(named, published);
    // All are one label: then no group has three.
    let all: Vec<Value> = labels.iter().flat_map(|pair| pair[1].as_array().expect("values").clone()).collect();
    let one = with_certificate(&folder, |said| said["count_at"]["pay"]["labels"] = json!([["x", all]]), "").ends(1);
    assert!(one.stdout.contains("the promise is broken"), "{one}");
    // Every value is its own label: the file alone cannot tell, the project can.
    let own: Vec<Value> = all.iter().map(|value| json!([value, [value]])).collect();
    let own = |said: &mut Value| said["count_at"]["pay"]["labels"] = json!(own);
    let ran = with_certificate(&folder, own, "--project .").ends(1);
    assert!(ran.stdout.contains("labels of pay: claimed those of the project"), "{ran}");
    // A value without a label.
    let less = |said: &mut Value| {
        said["count_at"]["pay"]["labels"].as_array_mut().expect("a list").pop();
    };
    let ran = with_certificate(&folder, less, "").ends(1);
    assert!(ran.stdout.contains("without a label"), "{ran}");
    // A value with two labels, and a version that does not count labels.
    let twice = |said: &mut Value| said["count_at"]["pay"]["labels"] = json!([["x", [all[0]]], ["y", [all[0]]]]);
    with_certificate(&folder, twice, "").ends(2);
    with_certificate(&folder, |said| said["format_version"] = json!(2), "").ends(2);
}

#[test]
fn a_saved_lattice_remembers_what_it_counts() {
    let folder = folder();
    let asked = "negotiate --k 4 --l 3 --max-suppressed 20% --json";
    let fresh = run(&folder, asked).ends(0).json();
    run(&folder, "annotate --k 4 --l 3 -o saved.lattice").ends(0);
    let saved = run(&folder, &format!("{asked} --lattice saved.lattice")).ends(0).json();
    assert_eq!(saved["exact"]["levels"], fresh["exact"]["levels"]);
    assert_eq!(saved["exact"]["n_suppressed"], fresh["exact"]["n_suppressed"]);
    // Records that come are counted by their labels too.
    folder.write("more.csv", "age,city,pay\n33,Rome,5003\n34,Rome,5004\n");
    run(&folder, "annotate --append more.csv saved.lattice -o more.lattice").ends(0);
    let whole = Folder::with(&[("incrowd.toml", PROJECT)]);
    whole.write("table.csv", format!("{}33,Rome,5003\n34,Rome,5004\n", table()));
    let more = run(&folder, &format!("{asked} --lattice more.lattice")).ends(0).json();
    assert_eq!(more["exact"]["n_suppressed"], run(&whole, asked).ends(0).json()["exact"]["n_suppressed"]);
    folder.write("incrowd.toml", plain());
    let ran = run(&folder, &format!("{asked} --lattice saved.lattice")).ends(2);
    assert!(ran.stderr.contains("does not fit any more"), "{ran}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        ("count_at = \"width 1000\"", "count_at = \"width 7\"", "its hierarchy has 1 ('width 1000'), 2 ('width 5000')"),
        ("count_at = \"width 1000\"", "count_at = 3", "attributes.pay.count_at is 3"),
        ("count_at = \"width 1000\"", "count_at = 0", "must be a level, by its number from 1 on"),
        ("count_at = \"width 1000\"", "count_at = true", "must be a level"),
        ("count_at = \"width 1000\"", "count_at = 1\ndistance = \"ordered\"", "counts labels, and distance"),
        ("hierarchy = { intervals = [1000, 5000] }\n", "", "the attribute has none"),
        ("[attributes.city]", "[attributes.city]\ncount_at = 1", "is about sensitive attributes"),
    ];
    for (from, to, said) in cases {
        let folder = folder();
        folder.write("incrowd.toml", PROJECT.replace(from, to));
        let ran = run(&folder, "negotiate --k 4 --l 3").ends(2);
        assert!(ran.stderr.contains(said), "{to}\n{ran}");
    }
}
