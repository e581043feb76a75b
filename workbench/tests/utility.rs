//! What analysts find in a release, as a user asks for it: any published column as a target, on every form of output.

use serde_json::Value;

use crate::support::{Folder, QUASI_IDENTIFIERS, Ran, Random, adult_folder};

const PROJECT: &str = "[data]\npath = \"people.csv\"\n\n[attributes.name]\nrole = \"identifier\"\n\n\
                       [attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [5, 10, 20] }\n\n\
                       [attributes.job]\nrole = \"quasi-identifier\"\n\n[attributes.sex]\nrole = \"quasi-identifier\"\n\n\
                       [attributes.disease]\nrole = \"sensitive\"\n\n[attributes.pay]\nrole = \"other\"\n";

/// Pay depends on age and job; a record of an age that nobody else has would be suppressed first.
fn people(n_records: usize) -> Folder {
    let mut random = Random(5);
    let mut csv = "name,age,job,sex,disease,pay,secret\n".to_string();
    for i in 0..n_records {
        let (age, job) = (20 + random.below(40), random.below(3));
        let is_high = age + 12 * job + random.below(20) > 58;
        let (job, sex) = (["cook", "nurse", "smith"][job], ["f", "m"][random.below(2)]);
        let disease = ["flu", "gout", "angina"][random.below(3)];
        let pay = if is_high { "high" } else { "low" };
        csv.push_str(&format!("n{i},{age},{job},{sex},{disease},{pay},s{i}\n"));
    }
    Folder::with(&[("people.csv", &csv), ("incrowd.toml", PROJECT)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} {value}"))
}

#[test]
fn any_published_column_is_a_target_and_no_other() {
    let folder = people(400);
    for (target, model) in [("age", "least squares"), ("job", "logistic"), ("disease", "logistic"), ("pay", "logistic")]
    {
        let line = format!("compare --k 5 --methods global:ncp,top-down --n-queries 5 --target {target} --json");
        let document = run(&folder, &line).ends(0).json();
        for row in document["rows"].as_array().expect("rows") {
            let analyses = &row["analyses"];
            assert_eq!(analyses["target"]["attribute"], target);
            assert_eq!(analyses["target"]["regression"]["model"], model);
            for pointer in
                ["/target/accuracy/after", "/target/accuracy/before", "/target/regression/overlap", "/mean_distance"]
            {
                assert!((0.0..=1.0).contains(&number(analyses, pointer)), "{pointer} {analyses}");
            }
            assert!(number(analyses, "/target/accuracy/before") >= number(analyses, "/target/accuracy/baseline") - 0.1);
            let names: Vec<&Value> = analyses["distributions"]
                .as_array()
                .expect("distributions")
                .iter()
                .map(|one| &one["attribute"])
                .collect();
            assert!(names.contains(&&Value::from(target)), "{names:?}");
            assert_eq!(names.contains(&&Value::from("pay")), target == "pay", "counted only where it is looked at");
        }
        let again = run(&folder, &format!("{line} --threads 1")).ends(0).json();
        let analyses = |document: &Value| -> Vec<Value> {
            document["rows"].as_array().expect("rows").iter().map(|row| row["analyses"].clone()).collect()
        };
        assert_eq!(analyses(&document), analyses(&again));
    }
    for target in ["name", "secret", "nobody"] {
        let ran = run(&folder, &format!("compare --k 5 --methods top-down --target {target}")).ends(2);
        assert!(ran.stderr.contains(target) && ran.stderr.contains("hint: "), "{ran}");
        run(&folder, &format!("publish --k 5 --method top-down --target {target} -o no.csv")).ends(2);
        assert!(!folder.has("no.csv"));
    }
}

#[test]
fn pay_is_told_better_from_what_loses_less() {
    let folder = people(600);
    let line = "compare --k 5,40 --methods bottom-up --n-queries 5 --target pay --json";
    let document = run(&folder, line).ends(0).json();
    let accuracy = |row: usize| number(&document["rows"][row], "/analyses/target/accuracy/after");
    let (before, baseline) = (
        number(&document["rows"][0], "/analyses/target/accuracy/before"),
        number(&document["rows"][0], "/analyses/target/accuracy/baseline"),
    );
    assert!(before > baseline + 0.1 && accuracy(0) > baseline + 0.05, "{before} {baseline} {}", accuracy(0));
    let overlap = |row: usize| number(&document["rows"][row], "/analyses/target/regression/overlap");
    assert!(overlap(0) > overlap(1), "{} {}", overlap(0), overlap(1));
}

#[test]
fn every_form_of_output_has_it() {
    let folder = people(300);
    let text = run(&folder, "compare --k 5 --methods top-down,mondrian --n-queries 5 --target pay").ends(0).stdout;
    for words in ["changes of", "tells pay", "the source itself", "always the most frequent"] {
        assert!(text.contains(words), "{words}\n{text}");
    }
    let csv = run(&folder, "compare --k 5 --methods top-down --n-queries 5 --target pay --csv").ends(0).stdout;
    assert!(
        csv.contains("distribution_distance,association_change,interval_overlap,accuracy,accuracy_of_source"),
        "{csv}"
    );
    let n_columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(n_columns[0], n_columns[1]);
    run(&folder, "compare -o methods.html --k 3,5,9 --methods top-down --n-queries 5 --target pay").ends(0);
    let page = folder.read("methods.html");
    // Loss, queries, distributions, associations, regression, classifier, sizes, time.
    assert_eq!(page.matches("<svg").count(), 8);
    assert!(page.contains("Overlap of intervals by k") && page.contains("Accuracy by k") && !page.contains("<script"));
}

#[test]
fn the_report_has_it_and_the_certificate_does_not_change() {
    let folder = people(400);
    let key = "00112233445566778899aabbccddeeff".repeat(2);
    let publish = |flags: &str| {
        run(&folder, &format!("publish {flags} --key {key} -o release.csv --force")).ends(0);
        ["release.csv", "release.csv.certificate.json", "release.csv.report.html"].map(|name| folder.read(name))
    };
    for method in [
        "--method top-down --k 6",
        "--method deal --k 6",
        "--k 6 --max-suppressed 20%",
        "--method mondrian --k 6 --max-suppressed 5%",
    ] {
        let [release, certificate, report] = publish(method);
        let [same_release, same_certificate, with_target] = publish(&format!("{method} --target pay"));
        assert_eq!(release, same_release, "{method}");
        assert_eq!(certificate, same_certificate, "{method}");
        assert!(report.contains("What analysts will find") && !report.contains("A classifier"));
        for words in ["A regression", "A classifier", "learnt from the file", "<em>pay</em>"] {
            assert!(with_target.contains(words), "{method}: {words}");
        }
    }
}

/// The data-mining preview on Adult: what local methods publish says more than the best scheme does.
#[test]
fn on_adult_local_methods_are_nearer_to_the_source_than_the_best_scheme() {
    let Some(folder) = adult_folder(&QUASI_IDENTIFIERS) else { return };
    let project = folder.read("incrowd.toml") + "[attributes.income-per-year]\nrole = \"other\"\n";
    folder.write("incrowd.toml", project);
    for target in ["hours-per-week", "income-per-year"] {
        let line = format!(
            "compare --k 10 --methods global:ncp,top-down,bottom-up --max-suppressed 100% --n-queries 5 --target {target} --json"
        );
        let document = run(&folder, &line).ends(0).json();
        let of = |pointer: &str| -> Vec<f64> {
            document["rows"].as_array().expect("rows").iter().map(|row| number(row, pointer)).collect()
        };
        let accuracy = of("/analyses/target/accuracy/after");
        let (overlap, distance) = (of("/analyses/target/regression/overlap"), of("/analyses/mean_distance"));
        let before = of("/analyses/target/accuracy/before")[0];
        eprintln!("{target}: accuracy {accuracy:?} of {before}, overlap {overlap:?}, distance {distance:?}");
        for local in [1, 2] {
            assert!(
                (accuracy[local] - before).abs() <= (accuracy[0] - before).abs() + 0.002,
                "{target} {accuracy:?} {before}"
            );
            assert!(overlap[local] > overlap[0], "{target} {overlap:?}");
            assert!(distance[local] < distance[0], "{target} {distance:?}");
        }
    }
}
