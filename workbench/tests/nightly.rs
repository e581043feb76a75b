//! The same project on one delivery of the data after another: other data, comparable levels, and a guard against nonsense.

use crate::support;
use support::{Folder, Ran};

const PROJECT: &str = r#"
[data]
path = "monday.csv"
missing_records = "drop"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
[attributes.illness]
role = "sensitive"
[request]
k = 3
max_suppressed = "50%"
"#;

/// `n` people of ages from `youngest` on; every `lacking`-th lacks a city.
fn delivery(n: usize, youngest: usize, lacking: usize) -> String {
    let mut text = String::from("age,city,illness\n");
    for i in 0..n {
        let city = if lacking > 0 && i % lacking == 0 { "" } else { ["Oslo", "Bergen"][i % 2] };
        text.push_str(&format!("{},{city},{}\n", youngest + i % 17, ["flu", "asthma", "rash"][i % 3]));
    }
    text
}

fn folder() -> Folder {
    let (monday, tuesday) = (delivery(120, 20, 0), delivery(150, 33, 0));
    Folder::with(&[("project/incrowd.toml", PROJECT), ("project/monday.csv", &monday), ("in/tuesday.csv", &tuesday)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

#[test]
fn another_delivery_is_read_in_place_of_the_projects_data() {
    let folder = folder();
    for (line, key) in [
        ("count project", "n_records"),
        ("negotiate project", "n_records"),
        ("annotate project", "n_records"),
        ("frontier project", "n_records"),
    ] {
        assert_eq!(run(&folder, &format!("{line} --json")).ends(0).json()[key], 120, "{line}");
        assert_eq!(run(&folder, &format!("{line} --data in/tuesday.csv --json")).ends(0).json()[key], 150, "{line}");
    }
    let said = run(&folder, "count project --data in/wednesday.csv").ends(2);
    // By the name that was given: where this folder is on the machine is nobody's business.
    assert!(said.stderr.contains("error: in/wednesday.csv"), "{said}");
    folder.write("in/bad.csv", "age,city\n31,Graz\n");
    let said = run(&folder, "count project --data in/bad.csv").ends(2);
    assert!(said.stderr.contains("error: in/bad.csv: unknown column"), "{said}");
    let profiled = run(&folder, "profile project --data in/tuesday.csv --json").ends(0).json();
    assert_eq!(profiled["data"], "in/tuesday.csv");
    // What it is made of is not replaced, whichever file that is.
    let said = run(&folder, "publish project --data in/tuesday.csv -o in/tuesday.csv --force").ends(2);
    assert!(said.stderr.contains("would replace"), "{said}");
}

#[test]
fn levels_mean_the_same_on_every_delivery() {
    let folder = folder();
    let levels = ["--levels", "age=width 10,city=0"];
    for (data, release) in [("project/monday.csv", "monday.csv"), ("in/tuesday.csv", "tuesday.csv")] {
        folder.run(&["publish", "project", levels[0], levels[1], "--data", data, "-o", release]).ends(0);
    }
    let labels = |name: &str| {
        let text = folder.read(name);
        text.lines().skip(1).map(|line| line.split(',').next().expect("an age").to_string()).collect::<Vec<_>>()
    };
    let (monday, tuesday) = (labels("monday.csv"), labels("tuesday.csv"));
    assert!(monday.iter().chain(&tuesday).all(|label| ["20-29", "30-39", "40-49"].contains(&label.as_str())));
    assert!(monday.contains(&"30-39".to_string()) && tuesday.contains(&"30-39".to_string()));
    let names = |name: &str| {
        let certificate: serde_json::Value = serde_json::from_str(&folder.read(name)).expect("a certificate");
        certificate["levels"].clone()
    };
    assert_eq!(names("monday.csv.certificate.json"), names("tuesday.csv.certificate.json"));
}

#[test]
fn the_guard_ends_a_run_that_would_publish_nonsense() {
    let folder = folder();
    folder.write("in/short.csv", delivery(40, 20, 0));
    folder.write("in/holes.csv", delivery(120, 20, 4));
    let guarded = |guard: &str| folder.write("project/incrowd.toml", format!("{PROJECT}[guard]\n{guard}\n"));
    let refused = |line: &str, said: &[&str]| {
        let ran = run(&folder, line).ends(2);
        said.iter().for_each(|word| assert!(ran.stderr.contains(word), "{word}: {ran}"));
        assert!(!folder.has("out.csv") && !folder.has("out.csv.certificate.json"), "{ran}");
    };
    guarded("min_records = 100\nmax_dropped = \"10%\"\nmax_suppressed = \"20%\"");
    run(&folder, "publish project -o fine.csv").ends(0);
    refused("publish project --data in/short.csv -o out.csv", &["guard.min_records", "40 records", "at least 100"]);
    guarded("max_dropped = \"10%\"");
    refused(
        "publish project --data in/holes.csv -o out.csv",
        &["guard.max_dropped", "30 of 120 records (25.0 %)", "10%"],
    );
    guarded("max_dropped = 30");
    run(&folder, "publish project --data in/holes.csv -o holes.csv").ends(0);
    guarded("max_suppressed = \"20%\"");
    folder.write("project/monday.csv", delivery(90, 20, 0));
    refused("publish project --levels age=0,city=0 -o out.csv", &["guard.max_suppressed", "24 of 90 records", "20%"]);
    for (wrong, said) in
        [("min_record = 3", "min_records"), ("min_records = -1", "at least 0"), ("max_dropped = 0.1", "max_dropped")]
    {
        guarded(wrong);
        let ran = run(&folder, "publish project -o out.csv").ends(2);
        assert!(ran.stderr.contains(said), "{ran}");
    }
    guarded("max_suppressed = \"lots\"");
    let ran = run(&folder, "publish project -o out.csv").ends(2);
    assert!(ran.stderr.contains("guard.max_suppressed") && ran.stderr.contains("'lots'"), "{ran}");
}

#[test]
fn the_script_of_the_examples_publishes_a_delivery() {
    let folder = folder();
    let script = include_str!("../../examples/nightly/nightly.sh");
    folder.write("nightly.sh", script);
    let line = "INCROWD=$incrowd sh nightly.sh project in/tuesday.csv out";
    folder.shell(line).ends(0);
    assert!(folder.has("out/tuesday.release.csv") && folder.has("out/tuesday.release.csv.certificate.json"));
    // A release that is there stays.
    folder.shell(line).ends(2);
}
