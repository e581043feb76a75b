//! Dealing and attacking as a user does: what is promised, what breaks the promise, and the papers' numbers on Adult.

use crate::support;

use incrowd::judge::judge;
use incrowd::recode::deal::{self, Arrange, N_TRIES};
use incrowd::recode::partition::CellStyle;
use incrowd::task::Task;
use incrowd::{Measure, Yardstick};
use serde_json::Value;
use support::{Folder, Ran, adult};

const PROJECT: &str = r#"
[data]
path = "people.csv"

[attributes.name]
role = "identifier"

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

[attributes.income]
role = "sensitive"
"#;

fn people(n_records: usize) -> Folder {
    let record = |i: usize| {
        let city = ["Oslo", "Umea", "Rome", "Pisa"][(i * 7 / 3) % 4];
        let disease = ["flu", "flu", "flu", "ulcer", "gastritis", "bronchitis", "flu"][(i * 5) % 7];
        format!("n{i},{},{city},{disease},{}\n", 20 + (i * 13) % 60, ["low", "middle", "high"][(i / 4) % 3])
    };
    let csv = format!("name,age,city,disease,income\n{}", (0..n_records).map(record).collect::<String>());
    Folder::with(&[("people.csv", &csv), ("incrowd.toml", PROJECT)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn certificate(folder: &Folder, release: &str) -> Value {
    serde_json::from_str(&folder.read(&format!("{release}.certificate.json"))).expect("a certificate is JSON")
}

#[test]
fn a_dealt_release_says_what_it_guarantees_and_verify_checks_it() {
    let folder = people(400);
    for (line, method) in
        [("--method deal", "deal"), ("--method deal --plain", "deal-plain"), ("--method deal-plain", "deal-plain")]
    {
        run(&folder, &format!("publish {line} --k 8 --seed 3 --force -o dealt.csv")).ends(0);
        let verdict = run(&folder, "verify dealt.csv --json").ends(0).json();
        assert_eq!(verdict["holds"], true);
        let claims = verdict["claims"].as_array().expect("claims");
        assert!(claims.iter().any(|claim| claim["claim"] == "counts of disease differ by" && claim["holds"] == true));
        let certificate = certificate(&folder, "dealt.csv");
        assert_eq!((certificate["method"].as_str(), certificate["seed"].as_u64()), (Some(method), Some(3)));
        let dealt = &certificate["dealt"];
        assert_eq!(dealt["n_classes"], 50);
        let disease = &dealt["attributes"][0];
        assert_eq!((disease["attribute"].as_str(), disease["most_differ"].as_u64()), (Some("disease"), Some(1)));
        assert_eq!(disease["frequencies"].as_array().map(Vec::len), Some(4));
        // The second attribute as far as possible; the certificate says how far, and for both together.
        assert_eq!(dealt["attributes"][1]["attribute"], "income");
        assert!(dealt["attributes"][1]["most_differ"].as_u64() <= Some(2));
        assert!(dealt["most_differ_together"].as_u64() >= Some(1));
        let report = folder.read("dealt.csv.report.html");
        assert!(report.contains("Sensitive values were dealt evenly") && report.contains("differ by at most 1"));
    }
}

/// A hand that is not even any more is found out, though k still holds.
#[test]
fn an_uneven_hand_breaks_the_promise() {
    let folder = people(400);
    run(&folder, "publish --method deal --k 8 -o dealt.csv").ends(0);
    let release = folder.read("dealt.csv");
    let mut lines: Vec<String> = release.lines().map(str::to_string).collect();
    let group = |line: &str| line.rsplitn(3, ',').nth(2).map(str::to_string);
    let disease = |line: &str| line.split(',').rev().nth(1).expect("a disease").to_string();
    // Two groups exchange what they have until one has one flu more than any class may.
    let (first, last) = (group(&lines[1]), group(lines.last().expect("a record")));
    let gives: Vec<usize> =
        (1..lines.len()).filter(|&i| group(&lines[i]) == first && disease(&lines[i]) == "flu").collect();
    let takes: Vec<usize> =
        (1..lines.len()).filter(|&i| group(&lines[i]) == last && disease(&lines[i]) != "flu").collect();
    for (&i, &j) in gives.iter().zip(&takes) {
        let (flu, other) = (disease(&lines[i]), disease(&lines[j]));
        lines[i] = lines[i].replace(&format!(",{flu},"), &format!(",{other},"));
        lines[j] = lines[j].replace(&format!(",{other},"), &format!(",{flu},"));
    }
    folder.write("dealt.csv", format!("{}\n", lines.join("\n")));
    let verdict = run(&folder, "verify dealt.csv --json").ends(1).json();
    assert_eq!(verdict["criteria"]["k"]["holds"], true, "k is not what was broken");
    let claims = verdict["claims"].as_array().expect("claims");
    let uneven = claims.iter().find(|claim| claim["claim"] == "counts of disease differ by").expect("a claim");
    assert_eq!(uneven["holds"], false);
    assert!(!uneven.to_string().contains("flu"), "no value is named");
}

#[test]
fn what_cannot_be_dealt_is_refused_with_a_hint() {
    let folder = people(60);
    for (line, words) in [
        ("publish --method deal --k 61 -o x.csv", "60"),
        ("publish --method deal --k 5 --plain --exchanges 9 -o x.csv", "--exchanges"),
        ("publish --method top-down --k 5 --plain -o x.csv", "--plain"),
        ("publish --method deal --l disease:2 -o x.csv", "dealing needs k"),
        ("attack people.csv", "sensitive"),
        ("attack people.csv --sensitive disease", "quasi-identifiers"),
        ("attack people.csv --sensitive disease --quasi-identifiers age --outside incrowd.toml", "error"),
        ("study deal --frequencies 5,5 --k 9..99", "9..99"),
    ] {
        let ran = run(&folder, line).ends(2);
        assert!(ran.stderr.contains(words), "{line}: {}", ran.stderr);
    }
    assert!(!folder.has("x.csv"));
    let project =
        PROJECT.replace("role = \"sensitive\"", "role = \"other\"").replace("distance = \"hierarchical\"\n", "");
    folder.write("incrowd.toml", project);
    let ran = run(&folder, "publish --method deal --k 5 -o x.csv").ends(2);
    assert!(ran.stderr.contains("no sensitive attribute to deal by"), "{}", ran.stderr);
    // Where there is none, what can be compared is compared.
    run(&folder, "compare --k 5").ends(0);
}

#[test]
fn more_than_half_of_one_value_is_dealt_and_the_certificate_says_what_is_out_of_reach() {
    let rows: String = (0..100).map(|i| format!("{},{}\n", i, if i < 70 { "flu" } else { "ulcer" })).collect();
    let project = "[data]\npath = \"p.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n[attributes.disease]\nrole = \"sensitive\"\n";
    let folder = Folder::with(&[("p.csv", &format!("age,disease\n{rows}")), ("incrowd.toml", project)]);
    run(&folder, "publish --method deal --k 2 -o dealt.csv").ends(0);
    run(&folder, "verify dealt.csv").ends(0);
    let dealt = &certificate(&folder, "dealt.csv")["dealt"]["attributes"][0];
    assert_eq!((dealt["fewest_distinct"].as_u64(), dealt["diversity_within_reach"].as_u64()), (Some(1), Some(1)));
    // And an attacker finds them.
    let found = run(&folder, "attack dealt.csv --json").ends(1).json();
    assert!(found["releases"][0]["sensitive"][0]["homogeneity"]["n_groups"].as_u64() > Some(0));
}

const TABLE_2: &str = "zip,age,disease\n476**,2*,Flu\n476**,2*,Flu\n476**,2*,Flu\n479**,4*,Cancer\n479**,4*,Ulcer\n\
    479**,4*,Cold\n477**,3*,Cancer\n477**,3*,Pneumonia\n477**,3*,Bronchitis\n";
const TABLE_4: &str = "zip,age,disease\n672**,3*,Gastric ulcer\n672**,3*,Gastritis\n672**,3*,Stomach cancer\n\
    674**,5*,Gastritis\n674**,5*,Flu\n674**,5*,Bronchitis\n673**,4*,Bronchitis\n673**,4*,Pneumonia\n673**,4*,Stomach cancer\n";
const DISEASES: &str =
    "Gastric ulcer;stomach\nGastritis;stomach\nStomach cancer;stomach\nFlu;lungs\nBronchitis;lungs\nPneumonia;lungs\n";

#[test]
fn the_papers_attacks_are_found_and_nothing_is_named_unless_asked() {
    let folder = Folder::with(&[
        ("table_2.csv", TABLE_2),
        ("table_4.csv", TABLE_4),
        ("diseases.csv", DISEASES),
        ("neighbours.csv", "name,zip,age\nBob,47677,29\nAnn,47905,43\n"),
    ]);
    let flags = "--quasi-identifiers zip,age --sensitive disease";
    let ran = run(&folder, &format!("attack table_2.csv {flags} --outside neighbours.csv")).ends(1);
    assert!(ran.stdout.contains("Homogeneity: in 1 group, all records have the same disease."), "{}", ran.stdout);
    assert!(ran.stdout.contains("Of 1 (50.0 %) the disease is certain."), "{}", ran.stdout);
    assert!(!ran.stdout.contains("Flu") && !ran.stdout.contains("476**"), "{}", ran.stdout);
    let shown = run(&folder, &format!("attack table_2.csv {flags} --show-values")).ends(1);
    assert!(shown.stdout.contains("zip 476**, age 2*: Flu 3"), "{}", shown.stdout);
    let ran = run(&folder, &format!("attack table_4.csv {flags} --hierarchy disease=diseases.csv")).ends(0);
    assert!(ran.stdout.contains("Homogeneity: no group has a single disease."), "{}", ran.stdout);
    assert!(ran.stdout.contains("Similarity: in 1 group, every disease belongs to one branch"), "{}", ran.stdout);
}

/// The project's own records are the worst case: everybody is known by all quasi-identifiers.
#[test]
fn the_project_says_whom_to_look_for_and_what_labels_mean() {
    let folder = people(400);
    run(&folder, "publish --k 4 --max-suppressed 100% --levels age=1,city=1 --sensitive disease -o global.csv").ends(0);
    let found = run(&folder, "attack global.csv --project . --json").json();
    let linkage = &found["linkage"][0];
    let n_published = found["releases"][0]["n_records"].as_u64();
    // With one scheme for all, everybody who is published fits exactly one group.
    assert_eq!(linkage["n_one_group"].as_u64(), n_published);
    assert_eq!(linkage["n_outside"].as_u64(), Some(400));
    assert!(found["releases"][0]["sensitive"][0]["similarity"].is_array(), "the project has a hierarchy of diseases");
    // Dealt groups overlap, and all of them have every value.
    run(&folder, "publish --method deal --k 8 --sensitive disease -o dealt.csv").ends(0);
    let found = run(&folder, "attack dealt.csv --project . --json").ends(0).json();
    assert_eq!(found["linkage"][0]["n_without"], 0);
    assert_eq!(found["linkage"][0]["n_certain"], 0);
}

#[test]
fn near_records_lose_at_least_40_percent_less_than_any_on_adult() {
    let Some(adult) = adult() else { return };
    let weights = adult.weights();
    let yardstick: Yardstick = adult.yardstick([Measure::Closeness(0)]).expect("a distance");
    let [plain, near] = [Arrange::Plain, Arrange::Near { n_tries: N_TRIES }].map(|arrange| {
        let dealt = deal::partition(&adult.counts, &adult.hierarchies, &weights, 10, arrange, 1, &Task::default());
        let recoding = dealt.expect("enough records").recode(&adult.counts, &adult.hierarchies, CellStyle::Ranges);
        judge(&adult.counts, &adult.hierarchies, &weights, &yardstick, &recoding).expect("good weights")
    });
    println!(
        "NCP {:.4} by chance, {:.4} near: {:.1} % less",
        plain.ncp,
        near.ncp,
        100.0 * (1.0 - near.ncp / plain.ncp)
    );
    assert!(near.ncp <= 0.6 * plain.ncp);
}

/// How even the hands are is said where a user looks, for every attribute and for all together.
#[test]
fn publish_and_verify_say_how_evenly_values_were_dealt() {
    let folder = people(400);
    let published = run(&folder, "publish --method deal --k 8 -o dealt.csv").ends(0);
    let dealt = &certificate(&folder, "dealt.csv")["dealt"];
    let [disease, income] = [0, 1].map(|s| dealt["attributes"][s]["most_differ"].to_string());
    let together = dealt["most_differ_together"].to_string();
    let each = format!("counts of a value differ by at most {disease} for disease, {income} for income");
    let all = format!("{together} for their combination");
    let verified = run(&folder, "verify dealt.csv").ends(0);
    for said in [&published.stdout, &verified.stdout] {
        assert!(said.contains("ealt to 50 classes") && said.contains(&each) && said.contains(&all), "{said}");
    }
    assert!(verified.stdout.contains("their combination (which is the certificate's word)"), "{verified}");
    let said = run(&folder, "publish --method deal --k 8 --force -o dealt.csv --json").ends(0).json();
    assert_eq!(said["dealt"]["n_classes"], 50);
    assert_eq!(said["dealt"]["attributes"][1]["most_differ"], dealt["attributes"][1]["most_differ"]);
    assert!(said["dealt"]["attributes"][0]["frequencies"].is_null(), "no value of the data is printed");
    // One attribute has no combination.
    let ran = run(&folder, "publish --method deal --k 8 --sensitive disease --force -o dealt.csv").ends(0);
    assert!(ran.stdout.contains("differ by at most 1 for disease.") && !ran.stdout.contains("combination"), "{ran}");
}

#[test]
fn a_dealt_release_that_misses_l_is_not_said_to_keep_it_by_construction() {
    let folder = people(60);
    let ran = run(&folder, "publish --method deal --k 3 --l disease:4 -o dealt.csv");
    assert_ne!(ran.code, Some(0), "{ran}");
    let said = format!("{}{}", ran.stdout, ran.stderr).to_lowercase();
    assert!(said.contains("dealing keeps k by construction"), "{ran}");
    assert!(!said.contains("one l by construction"), "{ran}");
    assert!(!folder.has("dealt.csv"));
    // The others do keep it.
    run(&folder, "publish --method top-down --k 3 --l disease:3 -o local.csv").ends(0);
}
