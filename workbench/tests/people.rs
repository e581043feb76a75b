//! Promises are about people where the project says whose record it is: from the command line to the file, and back.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use incrowd_workbench::input::digest::{sha256, sha256_of};
use serde_json::{Value, json};
use support::{Folder, Ran, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.patient]
role = "person"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20], origin = 0 }
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }
[attributes.disease]
role = "sensitive"
[attributes.ward]
role = "other"
"#;

/// The same without the column.
fn without_person() -> String {
    PROJECT.replace("[attributes.patient]\nrole = \"person\"\n", "")
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

/// People with one to four records each, a year older in some, whose ids can be recognized in a text.
fn drifting(n_people: usize) -> String {
    let mut random = Random(11);
    let mut data = String::from("patient,age,city,disease,ward\n");
    for person in 0..n_people {
        let (age, city) = (20 + random.below(50), *random.pick(&["Oslo", "Umea", "Rome", "Pisa"]));
        for i in 0..1 + random.below(4) {
            let disease = random.pick(&["flu", "cold", "gout", "mumps"]);
            data.push_str(&format!("Xp{person:03},{},{city},{disease},w{}\n", age + i / 2, random.below(3)));
        }
    }
    data
}

fn patients() -> Folder {
    Folder::with(&[("table.csv", &drifting(120)), ("incrowd.toml", PROJECT)])
}

/// A table of one group for each entry: the age, and whose records there are.
fn of_groups(groups: &[(u32, &[&str])]) -> String {
    let records = groups.iter().flat_map(|(age, people)| people.iter().map(move |person| (age, person)));
    let line = |(i, (age, person)): (usize, (&u32, &&str))| {
        format!("{person},{age},Oslo,{},w0\n", ["flu", "cold", "gout"][i % 3])
    };
    format!("patient,age,city,disease,ward\n{}", records.enumerate().map(line).collect::<String>())
}

const LOCAL: [&str; 5] = ["top-down", "bottom-up", "mondrian", "mondrian-relaxed", "negotiated"];

// ---- k counts people ----

/// Who is in each group of a scheme, by its label, counted from the table as plainly as can be.
fn people_of_groups(data: &str, years: u32, is_by_region: bool) -> BTreeMap<(u32, String), (usize, BTreeSet<String>)> {
    let mut groups: BTreeMap<(u32, String), (usize, BTreeSet<String>)> = BTreeMap::new();
    for line in data.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let age: u32 = cells[1].parse().expect("an age");
        let region = if ["Oslo", "Umea"].contains(&cells[2]) { "North" } else { "South" };
        let place = if is_by_region { region } else { cells[2] };
        let (n_records, people) = groups.entry((age / years, place.to_string())).or_default();
        *n_records += 1;
        people.insert(cells[0].to_string());
    }
    groups
}

#[test]
fn what_is_published_and_lost_is_decided_by_people() {
    let folder = patients();
    let data = folder.read("table.csv");
    for (levels, years, is_by_region) in
        [("age=1,city=0", 5, false), ("age=1,city=1", 5, true), ("age=2,city=1", 10, true), ("age=3,city=0", 20, false)]
    {
        for k in [2, 3, 5, 8] {
            let groups = people_of_groups(&data, years, is_by_region);
            let kept: Vec<_> = groups.values().filter(|(_, people)| people.len() >= k).collect();
            let flags = format!("publish --json --force -o r.csv --k {k} --max-suppressed 100% --levels {levels}");
            let n_published: usize = kept.iter().map(|(n_records, _)| n_records).sum();
            let told = run(&folder, &flags);
            if kept.is_empty() {
                continue;
            }
            let told = told.ends(0).json();
            assert_eq!(told["n_records_published"], n_published, "{levels} {k}");
            assert_eq!(told["n_groups"], kept.len(), "{levels} {k}");
            let smallest = kept.iter().map(|(_, people)| people.len()).min();
            assert_eq!(told["criteria"]["k"]["reached"].as_u64(), smallest.map(|n| n as u64), "{levels} {k}");
            run(&folder, "verify r.csv").ends(2);
            run(&folder, "verify r.csv --project .").ends(0);
        }
    }
}

#[test]
fn negotiation_agrees_with_what_is_published() {
    let folder = patients();
    for flags in ["--k 4 --max-suppressed 10%", "--k 3 --l 2 --max-suppressed 20%", "--k 6 --alpha 0.9"] {
        let answer = run(&folder, &format!("negotiate --json {flags}")).json();
        let on_demand = run(&folder, &format!("negotiate --json --on-demand {flags}")).json();
        assert_eq!(answer["exact"]["levels"], on_demand["exact"]["levels"], "{flags}");
        assert_eq!(answer["exact"]["n_suppressed"], on_demand["exact"]["n_suppressed"], "{flags}");
        if answer["exact"].is_null() {
            continue;
        }
        let told = run(&folder, &format!("publish --json --force -o r.csv {flags}")).ends(0).json();
        assert_eq!(told["levels"], answer["exact"]["levels"], "{flags}");
        assert_eq!(answer["exact"]["n_suppressed"], told["n_records_suppressed"], "{flags}");
        run(&folder, "verify r.csv --project .").ends(0);
    }
}

// ---- Nothing passes that has too few people ----

/// Four people with three records each are four, whatever publishes them.
#[test]
fn more_records_of_the_same_people_are_no_crowd() {
    let few = ["a", "a", "a", "b", "b", "b", "c", "c", "c", "d", "d", "d"];
    let five = ["v", "w", "x", "y", "z"];
    let folder = Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &of_groups(&[(30, &few), (50, &five)]))]);
    let told = run(&folder, "publish --json -o r.csv --k 5 --levels age=0 --max-suppressed 100%").ends(0).json();
    assert_eq!(told["n_records_published"], 5, "{told}");
    assert!(folder.read("r.csv").lines().skip(1).all(|line| line.starts_with("50,")), "{}", folder.read("r.csv"));

    folder.write("table.csv", of_groups(&[(30, &few)]));
    for k in [5, 12] {
        run(&folder, &format!("publish -o n.csv --k {k} --levels age=4,city=2 --max-suppressed 100%")).ends(2);
        for method in LOCAL {
            let ran = run(&folder, &format!("publish -o n.csv --k {k} --method {method}"));
            assert!(matches!(ran.code, Some(1 | 2)), "{ran}");
        }
    }
    assert!(!folder.has("n.csv"));
    // Four they are.
    for method in LOCAL {
        run(&folder, &format!("publish -o n.csv --force --k 4 --method {method}")).ends(0);
    }
    // And records that nobody owns are twelve.
    folder.write("incrowd.toml", without_person());
    run(&folder, "publish -o twelve.csv --k 12 --levels age=0").ends(0);
}

/// One of five people turns out to be another of them: the same file, and the promise is broken.
#[test]
fn one_more_record_of_the_same_person_breaks_the_promise() {
    let folder = Folder::with(&[
        ("incrowd.toml", PROJECT),
        ("table.csv", &of_groups(&[(30, &["a", "b", "c", "d", "e"]), (50, &["v", "w", "x", "y", "z", "z"])])),
    ]);
    run(&folder, "publish -o r.csv --k 5 --levels age=0").ends(0);
    run(&folder, "verify r.csv --project .").ends(0);
    folder.write("table.csv", of_groups(&[(30, &["a", "b", "c", "d", "d"]), (50, &["v", "w", "x", "y", "z", "z"])]));
    let told = run(&folder, "verify r.csv --project . --json").ends(1).json();
    assert_eq!((&told["holds"], &told["answer"]), (&json!(false), &json!("broken")), "{told}");
    // The table again, and a record of the same person more in the file: it is not what the certificate says.
    folder.write("table.csv", of_groups(&[(30, &["a", "b", "c", "d", "e"]), (50, &["v", "w", "x", "y", "z", "z"])]));
    let release = folder.read("r.csv");
    let line = release.lines().nth(1).expect("a record").to_string();
    folder.write("r.csv", release.replacen(&line, &format!("{line}\n{line}"), 1));
    run(&folder, "verify r.csv --project .").ends(1);
    run(&folder, "verify r.csv").ends(1);
}

/// A promise about records does not become one about people because the certificate is made to say so.
#[test]
fn a_certificate_of_records_cannot_be_turned_into_one_of_people() {
    let few = ["a", "a", "b", "b", "c"];
    let folder = Folder::with(&[("incrowd.toml", &without_person()), ("table.csv", &of_groups(&[(30, &few)]))]);
    run(&folder, "publish -o r.csv --k 5 --levels age=0").ends(0);
    run(&folder, "verify r.csv").ends(0);
    let mut certificate: Value = serde_json::from_str(&folder.read("r.csv.certificate.json")).expect("JSON");
    (certificate["person"], certificate["format_version"]) = (json!(["patient"]), json!(3));
    folder.write("r.csv.certificate.json", certificate.to_string());
    folder.write("incrowd.toml", PROJECT);
    run(&folder, "verify r.csv --project .").ends(1);
    assert_ne!(run(&folder, "verify r.csv").code, Some(0));
}

/// Whose records a file has is told by the table that it was made from, and by no other: with more people in a group than
/// the file has records there, a crowd would be promised that nobody published.
#[test]
fn people_of_another_table_are_not_those_of_the_file() {
    let (few, more) = (["a", "a", "b", "c", "c"], ["a", "a", "b", "c", "c", "d", "e"]);
    let folder = Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &of_groups(&[(30, &few)]))]);
    run(&folder, "publish -o r.csv --k 3 --levels age=0").ends(0);
    run(&folder, "verify r.csv --project .").ends(0);
    folder.write("table.csv", of_groups(&[(30, &more)]));
    let judged = run(&folder, "verify r.csv --project .").ends(2);
    assert!(judged.stdout.contains("the groups of the file are not those of the project's table"), "{judged}");
}

/// What is kept for people is kept for those whom certificate and project both name: by another column, or by none, every
/// record is somebody's own, and the promise would always be kept.
#[test]
fn a_project_that_names_others_does_not_judge_people() {
    let visits = |data: &str| {
        let line = |(i, line): (usize, &str)| format!("v{i},{line}\n");
        let lines: String = data.lines().skip(1).enumerate().map(line).collect();
        format!("visit,patient,age,city,disease,ward\n{lines}")
    };
    let folder = Folder::with(&[("table.csv", &visits(&drifting(120))), ("incrowd.toml", PROJECT)]);
    let others = [
        without_person(),
        PROJECT.replace("[attributes.patient]", "[attributes.visit]"),
        PROJECT.replace("[attributes.patient]", "[attributes.visit]\nrole = \"person\"\n[attributes.patient]"),
    ];
    let local = LOCAL.map(|method| format!("--method {method} --k 4"));
    for flags in local.into_iter().chain(["--k 4 --levels age=2,city=1 --max-suppressed 100%".to_string()]) {
        folder.write("incrowd.toml", PROJECT);
        run(&folder, &format!("publish -o r.csv --force {flags}")).ends(0);
        run(&folder, "verify r.csv --project .").ends(0);
        for other in &others {
            folder.write("incrowd.toml", other);
            let judged = run(&folder, "verify r.csv --project .").ends(2);
            assert!(judged.stdout.contains("by other columns whose record it is"), "{flags}: {judged}");
        }
    }
}

/// The table has every value that is promised, and the file not: what somebody changed in it and signed anew is no release
/// of the table. A plain check is never stricter than one with the project.
#[test]
fn values_that_the_file_does_not_have_keep_no_promise() {
    let people = ["a", "a", "b", "c", "c", "d"];
    let folder = Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &of_groups(&[(30, &people), (50, &people)]))]);
    run(&folder, "publish -o r.csv --k 3 --l 2 --levels age=0").ends(0);
    run(&folder, "verify r.csv --project .").ends(0);
    let release = folder.read("r.csv");
    let forge = |old: &[&str], new: &str, fewest: u64, code: i32| {
        let forged =
            old.iter().fold(release.clone(), |text, old| text.replace(&format!(",{old},"), &format!(",{new},")));
        let mut lines: Vec<&str> = forged.lines().skip(1).collect();
        lines.sort_unstable();
        let forged = format!("{}\n{}\n", release.lines().next().expect("a header"), lines.join("\n"));
        let mut certificate: Value = serde_json::from_str(&folder.read("r.csv.certificate.json")).expect("JSON");
        certificate["output"]["sha256"] = json!(sha256_of(forged.as_bytes()));
        certificate["fewest_distinct"] = json!(fewest);
        folder.write("r.csv", forged);
        folder.write("r.csv.certificate.json", certificate.to_string());
        run(&folder, "verify r.csv --project .").ends(code)
    };
    // One value for all, which the file shows; and two of three, which it does not show.
    let judged = forge(&["cold", "gout"], "flu", 1, 1);
    assert!(judged.stdout.contains("the promise is broken"), "{judged}");
    run(&folder, "verify r.csv").ends(1);
    let judged = forge(&["gout"], "flu", 2, 2);
    assert!(judged.stdout.contains("the groups of the file are not those of the project's table"), "{judged}");
}

/// A release that was made before anybody said whose record it is, or that has no certificate: beside a project that counts
/// people it is judged for people, or not judged.
#[test]
fn a_promise_to_records_is_none_to_the_people_of_the_project() {
    let folder = Folder::with(&[
        ("incrowd.toml", &without_person()),
        ("table.csv", &of_groups(&[(30, &["a", "a", "b", "b", "c"]), (50, &["v", "w", "x", "y", "z"])])),
    ]);
    let alone = "verify r.csv --quasi-identifiers age,city --k 5";
    run(&folder, "publish -o r.csv --k 5 --levels age=0").ends(0);
    for judged in ["verify r.csv", "verify r.csv --project .", alone, &format!("{alone} --project .")] {
        run(&folder, judged).ends(0);
    }
    folder.write("incrowd.toml", PROJECT);
    run(&folder, "verify r.csv").ends(0);
    let judged = run(&folder, "verify r.csv --project . --json").ends(1).json();
    let k = &judged["criteria"]["k"];
    assert_eq!((&k["of"], &k["reached"], &k["n_groups_failing"]), (&json!("people"), &json!(3), &json!(1)), "{judged}");
    assert!(judged["claims"].as_array().expect("claims").iter().all(|claim| claim["holds"] == true), "{judged}");
    let judged = run(&folder, &format!("{alone} --project .")).ends(2);
    assert!(judged.stdout.contains("without a certificate nobody knows whose records"), "{judged}");
    // Groups with ranges of their own would be others for people.
    let folder = patients();
    folder.write("incrowd.toml", without_person());
    run(&folder, "publish -o r.csv --method top-down --k 4").ends(0);
    folder.write("incrowd.toml", PROJECT);
    let judged = run(&folder, "verify r.csv --project .").ends(2);
    assert!(judged.stdout.contains("it was published for records"), "{judged}");
}

// ---- Laws ----

#[test]
fn people_with_one_record_each_give_what_no_person_column_gives() {
    let mut n = 0;
    let line = |line: &str| {
        n += 1;
        format!("Xq{n},{}\n", line.split_once(',').expect("columns").1)
    };
    let data = drifting(60);
    let (header, records) = data.split_once('\n').expect("a header");
    let all_different = records.lines().map(line).fold(format!("{header}\n"), |text, line| text + &line);
    let named = Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &all_different)]);
    let plain = Folder::with(&[("incrowd.toml", &without_person()), ("table.csv", &all_different)]);
    let global = [
        "--k 3 --max-suppressed 20%",
        "--k 3 --l 2 --t 0.5 --max-suppressed 50%",
        "--k 2 --levels age=2 --max-suppressed 50%",
    ];
    let local = LOCAL.into_iter().chain(["deal", "deal-plain"]).map(|method| format!("--method {method} --k 4"));
    for flags in global.map(str::to_string).into_iter().chain(local) {
        let flags = format!("publish -o r.csv --force {flags}");
        let [told, expected] = [&named, &plain].map(|folder| run(folder, &flags).code);
        assert_eq!((told, expected), (Some(0), Some(0)), "{flags}: {}", run(&named, &flags));
        assert_eq!(named.bytes("r.csv"), plain.bytes("r.csv"), "{flags}");
    }
}

#[test]
fn several_columns_name_a_person_together() {
    let project =
        PROJECT.replace("[attributes.patient]", "[attributes.hospital]\nrole = \"person\"\n[attributes.patient]");
    let data = |people: &[(&str, &str)]| {
        let line = |(hospital, patient): &(&str, &str)| format!("{hospital},{patient},30,Oslo,flu,w0\n");
        format!("hospital,patient,age,city,disease,ward\n{}", people.iter().map(line).collect::<String>())
    };
    // The last two would be one if their ids were written one after the other.
    let five = [("A", "1"), ("A", "2"), ("B", "1"), ("1", "23"), ("12", "3")];
    let folder = Folder::with(&[("incrowd.toml", &project), ("table.csv", &data(&five))]);
    run(&folder, "publish -o r.csv --k 5 --levels age=0").ends(0);
    let certificate: Value = serde_json::from_str(&folder.read("r.csv.certificate.json")).expect("JSON");
    assert_eq!(certificate["person"], json!(["hospital", "patient"]));
    assert_eq!(folder.read("r.csv").lines().next(), Some("age,city,disease,ward"));
    run(&folder, "verify r.csv --project .").ends(0);
    // By the second alone they are four, and so are they where one of them is there twice.
    folder.write("incrowd.toml", PROJECT);
    run(&folder, "publish -o n.csv --k 5 --levels age=0").ends(2);
    folder.write("incrowd.toml", project);
    folder.write("table.csv", data(&[("A", "1"), ("A", "2"), ("B", "1"), ("1", "23"), ("1", "23")]));
    run(&folder, "publish -o n.csv --k 5 --levels age=0").ends(2);
    run(&folder, "verify r.csv --project .").ends(1);
    assert!(!folder.has("n.csv"));
}

// ---- Whose records they are is nobody's business ----

#[test]
fn no_id_is_in_what_is_written_or_said() {
    let folder = patients();
    let local = LOCAL.map(|method| format!("--method {method} --k 4"));
    let global = ["--k 4 --max-suppressed 20%", "--k 3 --l 2 --max-suppressed 60%"].map(str::to_string);
    for (i, flags) in global.into_iter().chain(local).enumerate() {
        for kind in ["csv", "parquet"] {
            let ran = run(&folder, &format!("publish --json -o r{i}.{kind} {flags}")).ends(0);
            assert!(!format!("{ran}").contains("Xp"), "{ran}");
            for name in ["", ".certificate.json", ".report.html"].map(|end| format!("r{i}.{kind}{end}")) {
                let bytes = folder.bytes(&name);
                assert!(!bytes.windows(2).any(|two| two == b"Xp"), "{name} of {flags}");
                // The column is named by the certificate, which says whom k counts, and is not in the release.
                let is_named = bytes.windows(7).any(|seven| seven == b"patient");
                assert!(!is_named || !name.ends_with(kind), "{name} of {flags}");
            }
        }
    }
    for line in ["negotiate --k 4 --explain", "frontier", "risk .", "count", "profile", "compare --k 4 --n-queries 5"] {
        let ran = run(&folder, line);
        assert!(!format!("{ran}").contains("Xp"), "{ran}");
    }
}

#[test]
fn records_of_nobody_are_left_out_or_refused() {
    let data = drifting(40).replacen("Xp001,", ",", 1);
    let dropping = PROJECT.replace("\"table.csv\"", "\"table.csv\"\nmissing_records = \"drop\"");
    let folder = Folder::with(&[("incrowd.toml", &dropping), ("table.csv", &data)]);
    let ran = run(&folder, "publish --json -o r.csv --k 3 --levels age=3,city=1 --max-suppressed 50%").ends(0);
    assert!(ran.stderr.contains("1 of"), "{ran}");
    folder.write("incrowd.toml", PROJECT);
    for line in ["count", "negotiate --k 3", "publish -o n.csv --k 3", "annotate --k 3 -o n.crowd"] {
        let ran = run(&folder, line).ends(2);
        assert!(ran.stderr.contains("no value of 'patient'") && ran.stderr.contains("hint"), "{ran}");
    }
    assert!(!folder.has("n.csv") && !folder.has("n.crowd"));
}

// ---- Lattices that are kept ----

#[test]
fn a_kept_lattice_answers_about_people_and_follows_records() {
    let folder = patients();
    let asked = "negotiate --json --k 4 --max-suppressed 10%";
    run(&folder, "annotate --k 2 -o kept.crowd").ends(0);
    assert_eq!(run(&folder, &format!("{asked} --lattice kept.crowd")).json(), run(&folder, asked).json());
    // More records of people who are there, and of some who are not.
    let data = folder.read("table.csv");
    let more: String =
        (0..40).map(|i| format!("Xp{:03},{},{},flu,w1\n", i * 5, 25 + i, ["Oslo", "Rome"][i % 2])).collect();
    folder.write("more.csv", format!("{}\n{more}", data.lines().next().expect("a header")));
    run(&folder, "annotate --append more.csv kept.crowd").ends(0);
    folder.write("table.csv", format!("{data}{more}"));
    let anew = run(&folder, asked).json();
    folder.write("table.csv", &data);
    let followed = run(&folder, &format!("{asked} --lattice kept.crowd")).json();
    assert_eq!(followed["exact"], anew["exact"]);
    assert_eq!(followed["n_records"], anew["n_records"]);
    run(&folder, "annotate --remove more.csv kept.crowd").ends(0);
    assert_eq!(
        run(&folder, &format!("{asked} --lattice kept.crowd")).json()["exact"],
        run(&folder, asked).json()["exact"]
    );
}

/// What was counted by people says nothing about records, nor the other way round.
#[test]
fn a_kept_lattice_is_refused_where_others_are_counted() {
    let folder = patients();
    let check = |made_by: &str, asked_by: &str| {
        folder.write("incrowd.toml", made_by);
        run(&folder, "annotate --k 2 -o kept.crowd --force").ends(0);
        folder.write("incrowd.toml", asked_by);
        for line in ["negotiate --k 4 --lattice kept.crowd", "frontier --lattice kept.crowd"] {
            let ran = run(&folder, line).ends(2);
            assert!(ran.stderr.contains("whose record it is changed"), "{ran}");
        }
        folder.write("more.csv", "patient,age,city,disease,ward\nXp001,30,Oslo,flu,w0\n");
        run(&folder, "annotate --append more.csv kept.crowd").ends(2);
    };
    let other = PROJECT.replace("[attributes.ward]\nrole = \"other\"", "[attributes.ward]\nrole = \"person\"");
    let check_both = |one: &str, two: &str| [(one, two), (two, one)].iter().for_each(|(one, two)| check(one, two));
    check_both(PROJECT, &without_person());
    check_both(PROJECT, &other);
}

// ---- The example ----

/// What `examples/adverse_events.sh` shows: the same table on every machine, in which five records are not five people.
#[cfg(unix)]
#[test]
fn adverse_events_are_hidden_among_people() {
    let folder = Folder::new();
    let mut command = Command::new("sh");
    command.arg("examples/adverse_events.sh").arg(folder.join("trial")).current_dir("..");
    let output = command.env("INCROWD", env!("CARGO_BIN_EXE_incrowd")).output().expect("a shell");
    let said = String::from_utf8(output.stdout).expect("a text");
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    let hash = sha256(&folder.join("trial/events.csv")).expect("a table");
    assert_eq!(hash, "16050bd19292d2a1c50551a3d4ceffd7e2e5b3e8ee0f9032a401e8417c2bcd23");
    for line in [
        "1227 records of 225 subjects:",
        "Published 1,124 records in 87 groups; 103 suppressed (8.4 %). Verified: k = 5 (promised 5).",
        "1124 records are published; 33 subjects are alone in a group of their own records",
        "Published 1,185 records in 20 groups; 42 suppressed (3.4 %). Verified: k = 5 (promised 5).",
        "1185 records are published; 0 subjects are alone in a group of their own records",
        "exit status 2",
    ] {
        assert!(said.contains(line), "{line} in\n{said}");
    }
    assert!(said.contains("NOT JUDGED") && said.matches("yes, the promise is kept").count() == 2, "{said}");
    run(&folder, "verify trial/release.csv --project trial").ends(0);
}

/// Who stands alone is a person: what `profile`, `count` and `risk` say is what awk would count.
#[test]
fn who_stands_alone_is_told_of_people() {
    let folder = patients();
    let data = folder.read("table.csv");
    let mut groups: BTreeMap<Vec<&str>, BTreeSet<&str>> = BTreeMap::new();
    for line in data.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        groups.entry(cells[1..3].to_vec()).or_default().insert(cells[0]);
    }
    let alone: BTreeSet<&str> = groups.values().filter(|who| who.len() == 1).flatten().copied().collect();
    let (profile, count) = (run(&folder, "profile --json").json(), run(&folder, "count --json").json());
    let risk = run(&folder, "risk --json").json();
    let found = [&profile["uniqueness"], &count, &risk].map(|found| found["n_unique"].as_u64().expect("a number"));
    assert_eq!(found, [alone.len() as u64; 3]);
    assert!(found[0] > 0 && profile["uniqueness"]["n_people"] == count["n_people"], "{profile} {count}");
    let said = run(&folder, "count").ends(0);
    assert!(said.stdout.contains(&format!("{} people (", alone.len())), "{said}");
    assert!(run(&folder, "profile").stdout.contains(&format!("{} of ", alone.len())), "{said}");
}
