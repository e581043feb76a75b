//! Every criterion from the command line to the verdict: asked for, published, certified, checked and broken.

use crate::support;
use serde_json::{Value, json};
use support::Folder;

/// Two regions with two sensitive attributes; the south has fewer diseases than the north.
const PATIENTS: &str = "\
city,age,disease,income
Oslo,31,flu,10
Oslo,33,gout,20
Oslo,38,flu,30
Oslo,39,cold,40
Umea,32,flu,20
Umea,34,gout,30
Umea,36,cold,40
Umea,37,gout,10
Rome,41,flu,10
Rome,43,flu,20
Rome,47,gout,20
Rome,49,cold,40
Bari,44,flu,30
Bari,45,gout,40
Bari,48,cold,10
Bari,46,cold,30
Pisa,70,flu,30
";

const PROJECT: &str = r#"
[data]
path = "patients.csv"
population = "people.csv"

[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea", "Bodo"], South = ["Rome", "Bari", "Pisa"] } }

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }

[attributes.disease]
role = "sensitive"
distance = "hierarchical"
hierarchy = { tree = { Infection = ["flu", "cold"], Other = ["gout"] } }

[attributes.income]
role = "sensitive"
"#;

const PEOPLE: &str = "\
city,age
Oslo,31
Oslo,33
Oslo,35
Umea,32
Umea,34
Umea,38
Bodo,36
Rome,41
Rome,43
Bari,44
Bari,49
";

fn patients() -> Folder {
    Folder::with(&[("patients.csv", PATIENTS), ("people.csv", PEOPLE), ("incrowd.toml", PROJECT)])
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn certificate(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("a certificate is JSON")
}

/// Publishes, and expects the promise that is given; then the release must pass `verify`. What is reached is always said to
/// the signer, and in the certificate where the release alone shows it.
#[track_caller]
fn check(flags: &str, criterion: &str, promised: Value) {
    let folder = patients();
    let said = folder.run(&words(&format!("publish {flags} --max-suppressed 60% --json"))).ends(0).json();
    let certificate = certificate(&folder);
    let entry = &certificate["criteria"][criterion];
    assert_eq!(entry["promised"], promised, "{flags}: {certificate:#}");
    assert!(!said["criteria"][criterion]["reached"].is_null(), "{flags}: {said:#}");
    let is_relative = ["t", "delta", "beta"].iter().any(|name| criterion.ends_with(name));
    let is_shown = criterion != "k_map" && (!is_relative || certificate["n_records_suppressed"] == 0);
    assert_eq!(entry["reached"].is_null(), !is_shown, "{flags}: {certificate:#}");
    folder.run(&["verify", "release.csv", "--project", "."]).ends(0);
    let report = folder.read("release.csv.report.html");
    assert!(report.contains("✓ kept") && !report.contains("not checked"), "{flags}");
}

#[test]
fn every_criterion_is_published_certified_and_verified() {
    check("--k 4", "k", json!(4));
    check("--k-map 3", "k_map", json!(3));
    check("--l disease:3", "l", json!(3));
    check("--sensitive income --l 3", "l", json!(3));
    check("--alpha disease:0.5 --k 4", "alpha", json!(0.5));
    check("--entropy-l income:2.5", "entropy_l", json!(2.5));
    check("--recursive disease:2,2", "recursive", json!({"c": 2, "l": 2}));
    check("--t disease:0.3 --k 2", "t", json!(0.3));
    check("--t income:0.3 --l disease:2", "income:t", json!(0.3));
    check("--delta disease:1.5", "delta", json!(1.5));
    check("--beta income:2", "beta", json!(2));
    check("--enhanced-beta disease:1", "enhanced_beta", json!(1));
}

#[test]
fn a_standing_wish_may_be_for_each_sensitive_attribute() {
    let folder = patients();
    let standing = "\n[request]\nl = { disease = 3, income = 2 }\nt = { income = 0.5 }\nrecursive = { disease = [3, 2] }\n\
                    k = 2\nbest_by = \"ncp\"\nmax_suppressed = \"60%\"\n";
    folder.write("incrowd.toml", format!("{PROJECT}{standing}"));
    let document = folder.run(&["negotiate", "--json"]).ends(0).json();
    let request = &document["request"];
    assert_eq!((&request["disease:l"], &request["income:l"]), (&json!(3), &json!(2)));
    assert_eq!((&request["income:t"], &request["best_by"]), (&json!(0.5), &json!("ncp")));
    assert_eq!(request["disease:recursive"], json!({"c": 3, "l": 2}));
    // A flag replaces all that stands for its criterion, and leaves the others.
    let document = folder.run(&words("negotiate --json --l income:4")).json();
    assert_eq!((&document["request"]["income:l"], &document["request"]["disease:l"]), (&json!(4), &Value::Null));
    assert_eq!(document["request"]["disease:recursive"], json!({"c": 3, "l": 2}));
}

#[test]
fn the_privacy_offer_lists_what_each_criterion_could_be_relaxed_to() {
    let flags = "negotiate --k 8 --alpha disease:0.4 --l income:4 --max-suppressed 1 --max-level city=1,age=1 --json";
    let document = patients().run(&words(flags)).ends(1).json();
    let offers = &document["offers"];
    let alternatives = offers["privacy_alternatives"].as_array().cloned().unwrap_or_default();
    let privacy = [&offers["privacy"]].into_iter().chain(&alternatives).filter(|offer| !offer.is_null());
    for offer in privacy {
        let asked = [("k", json!(8)), ("disease:alpha", json!(0.4)), ("income:l", json!(4))];
        let n_changed = asked.iter().filter(|(name, value)| offer[*name] != *value).count();
        assert_eq!(n_changed, 1, "one criterion is relaxed: {offer:#}");
    }
}

/// One record of a valid release changed by hand: the verdict must not survive it.
#[test]
fn a_release_that_was_changed_breaks_its_promise() {
    for (flags, from, to) in [
        ("--alpha disease:0.5 --k 8 --max-suppressed 1", "gout", "flu"),
        ("--t disease:0.2 --k 8 --max-suppressed 1", "gout", "flu"),
        ("--entropy-l disease:2 --k 8 --max-suppressed 1", "gout", "flu"),
        ("--recursive disease:2,2 --k 8 --max-suppressed 1", "gout", "flu"),
        ("--beta disease:1 --k 8 --max-suppressed 1", "cold", "gout"),
    ] {
        let folder = patients();
        folder.run(&words(&format!("publish {flags}"))).ends(0);
        let broken = folder.read("release.csv").replace(from, to);
        folder.write("release.csv", &broken);
        let document = folder.run(&["verify", "release.csv", "--project", ".", "--json"]).ends(1).json();
        let criteria = document["criteria"].as_object().expect("criteria").clone();
        let failing = criteria.values().filter(|finding| finding["holds"] == json!(false)).count();
        assert!(failing > 0, "{flags}: not only the hash must tell: {document:#}");
    }
}

#[test]
fn the_original_distribution_is_told_only_by_a_release_that_has_everybody() {
    // Nobody is suppressed: the release shows it anyway.
    let folder = patients();
    folder.run(&words("publish --t income:0.5 --k 2 --levels city=2,age=4")).ends(0);
    let told = &certificate(&folder)["original"]["income"];
    assert_eq!(*told, json!({"distance": "ordered", "values": ["10", "20", "30", "40"]}));
    folder.run(&["verify", "release.csv"]).ends(0);

    // One record is suppressed: the difference would be that person's income.
    let folder = patients();
    folder.run(&words("publish --t income:0.5 --k 2 --max-suppressed 1 --max-level city=1,age=2")).ends(0);
    let certificate = certificate(&folder);
    assert_eq!(certificate["n_records_suppressed"], 1);
    assert_eq!(certificate["original"]["income"], json!({}));
    let document = folder.run(&["verify", "release.csv", "--json"]).ends(2).json();
    assert_eq!((&document["answer"], &document["holds"]), (&json!("not judged"), &json!(false)));
    assert_eq!(document["criteria"]["t"]["judged"], json!(false));
    assert_eq!(document["criteria"]["t"]["needs"], json!("the original table"));
    assert_eq!(document["criteria"]["k"]["judged"], json!(true));
    let said = folder.run(&["verify", "release.csv"]).ends(2).stdout;
    assert!(
        said.contains("NOT JUDGED")
            && said.contains("k: kept; t: not judged, that needs the original table")
            && said.contains("--project"),
        "{said}"
    );
    let document = folder.run(&["verify", "release.csv", "--json", "--project", "."]).ends(0).json();
    assert_eq!((&document["answer"], &document["holds"]), (&json!("kept"), &json!(true)));
    assert_eq!(
        (&document["criteria"]["t"]["judged"], &document["criteria"]["t"]["holds"]),
        (&json!(true), &json!(true))
    );
}

#[test]
fn k_map_counts_people_whom_the_table_lacks() {
    let folder = patients();
    // In the north there are 7 people of the population, one of them in a city that the table lacks.
    let flags = "publish --k-map 7 --max-suppressed 100% --levels city=1,age=4";
    let said = folder.run(&words(&format!("{flags} --json"))).ends(0).json();
    assert_eq!(said["criteria"]["k_map"], json!({"promised": 7, "reached": 7}));
    let certificate = certificate(&folder);
    assert_eq!(certificate["criteria"]["k_map"], json!({"promised": 7, "reached": null}));
    assert_eq!(certificate["n_records_suppressed"], 9);
    let said = folder.run(&["verify", "release.csv"]).ends(2);
    assert!(said.stdout.contains("k_map: not judged, that needs the population"), "{}", said.stdout);
    assert!(said.stdout.contains("--project PROJECT"), "{}", said.stdout);
    folder.run(&["verify", "release.csv", "--project", "."]).ends(0);
    // Nothing says what levels the cells are of: whom of the population they fit is not known, and not nobody.
    let flags = "verify release.csv --quasi-identifiers age,city --k-map 7 --project . --json";
    assert_eq!(folder.run(&words(flags)).ends(2).json()["answer"], "not judged");
    // The order in which attributes are named changes nothing.
    for (names, code) in [("age,city", 0), ("city,age", 0)] {
        let certificate = "--certificate release.csv.certificate.json";
        let flags = format!("verify release.csv {certificate} --quasi-identifiers {names} --k-map 7 --project .");
        folder.run(&words(&flags)).ends(code);
    }
    folder.write("incrowd.toml", PROJECT.replace("population = \"people.csv\"\n", ""));
    let said = folder.run(&words("negotiate --k-map 7")).ends(2);
    assert!(said.stderr.contains("k_map needs a population") && said.stderr.contains("[data]"), "{}", said.stderr);
}

#[test]
fn wishes_that_have_no_meaning_are_refused() {
    for (flags, said) in [
        ("--t income:1.5", "t must be from 0 to 1"),
        ("--t income:0.1234567", "at most six decimals"),
        ("--alpha disease:0", "alpha must be above 0"),
        ("--alpha disease:0.2", "less than an even share of 3 values"),
        ("--entropy-l disease:4", "larger than the 3 distinct values"),
        ("--entropy-l disease:0.5", "entropy_l must be at least 1"),
        ("--recursive disease:2", "not a ratio and a number"),
        ("--recursive disease:2,9", "larger than the 3 distinct values"),
        ("--recursive disease:2,2 --recursive disease:3,3", "recursive is asked for twice"),
        ("--delta disease:0", "delta must be above 0"),
        ("--beta disease:-1", "not a number"),
        ("--l 3", "which one is l about?"),
        ("--l city:3", "city"),
        ("--k 3 --best-by nice", "quality function"),
        ("--k 3 --best-by ncp=0", "weight of ncp"),
    ] {
        let ran = patients().run(&[&["negotiate"], &words(flags)[..]].concat()).ends(2);
        assert!(ran.stderr.contains(said), "{flags}: {}", ran.stderr);
        assert!(ran.stderr.contains("hint") || said.contains("delta"), "{flags}: {}", ran.stderr);
    }
}

#[test]
fn the_frontier_is_shown_in_every_form() {
    let folder = patients();
    let document = folder.run(&words("frontier --json --max-suppressed 100%")).ends(0).json();
    let bargains = document["bargains"].as_array().expect("a list");
    assert!(bargains.len() > 3);
    let of = |bargain: &Value| (bargain["k"].as_u64(), bargain["n_suppressed"].as_u64(), bargain["loss"].as_f64());
    for (i, one) in bargains.iter().enumerate() {
        let is_beaten =
            |other: &Value| of(other).0 >= of(one).0 && of(other).1 <= of(one).1 && of(other).2 <= of(one).2;
        assert!(!bargains.iter().enumerate().any(|(j, other)| j != i && is_beaten(other)), "{one:#}");
    }
    let csv = folder.run(&words("frontier --csv --max-suppressed 100%")).ends(0).stdout;
    assert_eq!(csv.lines().count(), bargains.len() + 1);
    let said = folder.run(&words("frontier --over t --sensitive income --k 2 --list")).ends(0).stdout;
    assert!(said.contains("that no other beats on t"), "{said}");
    folder.run(&words("frontier -o frontier.html")).ends(0);
    folder.run(&words("frontier -o frontier.svg")).ends(0);
    assert!(folder.read("frontier.html").contains("<svg") && folder.read("frontier.svg").starts_with("<svg"));
    folder.run(&words("frontier -o frontier.svg")).ends(2);
    folder.run(&words("frontier -o frontier.png")).ends(2);
    folder.run(&words("frontier --over x")).ends(2);
}
