//! What stands beside the promise: somebody who knows how a column hangs together with what is hidden looks for people in
//! releases, and what he finds must have been refused or told.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use incrowd::number::grouped;
use incrowd::recode::method::Method;
use serde_json::Value;
use support::{Folder, Ran, Random};

const K: usize = 5;
const N_REGIONS: usize = 7;
const N: usize = 1200;

/// A survey: everybody has a region, an age, a sex and a household, and other columns that a test adds.
const PROJECT: &str = r#"
[data]
path = "survey.csv"
[attributes.region]
role = "quasi-identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 40] }
[attributes.sex]
role = "quasi-identifier"
[attributes.person]
role = "other"
unique = "publish"
"#;

struct Person {
    region: usize,
    age: usize,
    sex: usize,
    household: usize,
}

/// A survey of so many people with further columns, and what the project says of these.
fn survey(n: usize, columns: &str, says: &str, cells: impl Fn(&Person, &mut Random) -> String) -> Folder {
    let mut random = Random(17);
    let mut lines = vec![];
    for id in 0..n {
        let person = Person {
            region: random.below(N_REGIONS),
            age: 20 + random.below(40),
            sex: random.below(2),
            household: 1 + random.below(5),
        };
        let cells = cells(&person, &mut random);
        lines.push(format!("p{id},R{},{},{},{cells}\n", person.region, person.age, ["f", "m"][person.sex]));
    }
    // Nothing hangs on the order of records.
    random.shuffle(&mut lines);
    let data = format!("person,region,age,sex,{columns}\n{}", lines.concat());
    Folder::with(&[("survey.csv", &data), ("incrowd.toml", &format!("{PROJECT}{says}"))])
}

/// The weight of everybody depends on region and household: a number of each pair's own.
fn weight(person: &Person) -> String {
    format!("{}.{}", 100 + 7 * person.region + 50 * person.household, person.region * 3)
}

/// 1,200 people whose region is hidden, and told by their weight.
fn weighted(says: &str) -> Folder {
    survey(N, "weight", says, |person, _| weight(person))
}

const HIDE_REGION: &str = "publish --k 5 --levels region=1 --json";

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

/// What is told about the region, from `--json`.
fn told(ran: &Ran) -> Option<Value> {
    let document = ran.json();
    let beside = document["beside"].as_array().expect("a list").clone();
    beside.into_iter().find(|told| told["code"] == "tells" && told["attribute"] == "region")
}

fn cells_of(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<_>>());
    let names = lines.next().expect("names");
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

/// Somebody who knows which region goes with which weight, and everybody's region, age and sex, looks for people in a
/// release. Whom he finds among fewer than k, and how many the fewest are.
fn attack(folder: &Folder, columns: &[&str]) -> (usize, Option<usize>) {
    let table = cells_of(&folder.read("survey.csv"));
    let region_of: BTreeMap<&String, &String> = table.iter().map(|line| (&line["person"], &line["region"])).collect();
    let release = cells_of(&folder.read("release.csv"));
    let key = |line: &BTreeMap<String, String>| columns.iter().map(|name| line[*name].clone()).collect::<Vec<_>>();
    let region = |line: &BTreeMap<String, String>| region_of[&line["person"]].clone();
    let mut having: BTreeMap<Vec<String>, BTreeMap<String, usize>> = BTreeMap::new();
    let mut behind: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in &release {
        *having.entry(key(line)).or_default().entry(region(line)).or_default() += 1;
        behind.entry(line["region"].clone()).or_default().insert(region(line));
    }
    let says = |line: &BTreeMap<String, String>| {
        let regions = &having[&key(line)];
        let possible = behind[&line["region"]].iter().rev();
        let most = possible.max_by_key(|region| regions.get(*region)).cloned();
        most.filter(|_| regions.values().sum::<usize>() >= K)
    };
    let mut groups: BTreeMap<[String; 3], Vec<(Option<String>, String)>> = BTreeMap::new();
    for line in &release {
        let group = ["region", "age", "sex"].map(|name| line[name].clone());
        groups.entry(group).or_default().push((says(line), region(line)));
    }
    let left = groups.values().flat_map(|group| {
        let told = group.iter().filter(|(says, region)| says.as_ref() == Some(region));
        told.map(|(_, region)| group.iter().filter(|(says, _)| says.as_ref().is_none_or(|says| says == region)).count())
    });
    let left: Vec<usize> = left.collect();
    (left.iter().filter(|n| **n < K).count(), left.iter().min().copied())
}

#[track_caller]
fn check_told_as_attacked(folder: &Folder, ran: &Ran, columns: &[&str]) -> Value {
    let told = told(ran).unwrap_or_else(|| panic!("nothing is told: {ran}"));
    let (n_below, fewest) = attack(folder, columns);
    assert!(n_below > 0, "this attacks too little");
    assert_eq!(told["columns"], serde_json::json!(columns), "{told}");
    assert_eq!(
        (told["n_below"].as_u64(), told["effective_k"].as_u64()),
        (Some(n_below as u64), fewest.map(|n| n as u64))
    );
    told
}

const OTHER: &str = "[attributes.weight]\nrole = \"other\"\n";

#[test]
fn a_weight_that_tells_the_hidden_region_is_refused() {
    let accepted = weighted(&format!("{OTHER}tells = \"accepted\"\n"));
    let ran = run(&accepted, HIDE_REGION).ends(0);
    let told = check_told_as_attacked(&accepted, &ran, &["weight"]);
    assert_eq!((&told["n_told"], &told["nearly_certain"]), (&1200.into(), &true.into()), "{told}");
    assert!(ran.stderr.contains("column 'weight' tells the hidden 'region' of 1,200 of 1,200 records"), "{ran}");
    let report = accepted.read("release.csv.report.html");
    assert!(
        report.contains("What stands beside the promise") && report.contains("weight&#39; tells the hidden"),
        "{report}"
    );
    let certificate = accepted.read("release.csv.certificate.json");
    assert!(!certificate.contains("beside") && !certificate.contains("n_below"), "it is for the signer alone");

    let n_below = grouped(told["n_below"].as_u64().expect("a number"));
    let says = format!("finds {n_below} of them among fewer than k = 5, the fewest {}", told["effective_k"]);
    for columns in [OTHER, "[attributes.weight]\nrole = \"sensitive\"\n"] {
        let folder = weighted(columns);
        let before = folder.content();
        let ran = run(&folder, HIDE_REGION).ends(2);
        assert!(ran.stderr.contains("column 'weight' tells the hidden 'region'"), "{ran}");
        assert!(ran.stderr.contains(&says), "{ran}");
        assert!(ran.stderr.contains("say tells = \"accepted\" of the attribute"), "{ran}");
        assert!(folder.content() == before, "{:?}", folder.names());
    }
    let kept = weighted("");
    kept.write("incrowd.toml", PROJECT.replace("path = \"survey.csv\"", "path = \"survey.csv\"\nother = \"keep\""));
    run(&kept, HIDE_REGION).ends(2);
    let unique = weighted(&format!("{OTHER}unique = \"publish\"\n"));
    run(&unique, HIDE_REGION).ends(0);
    // A region that is published hides nothing.
    run(&weighted(OTHER), "publish --k 2 --levels age=2 --max-suppressed 50%").ends(0);
}

/// The document shows this survey.
#[test]
fn the_document_says_what_is_told() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/beside-the-promise.md");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let document = words(&std::fs::read_to_string(path).expect("a document"));
    let refused = run(&weighted(OTHER), HIDE_REGION.trim_end_matches(" --json")).ends(2);
    let (error, _) = refused.stderr.split_once("\nhint:").expect("an error with a hint");
    assert!(document.contains(&words(error)), "{refused}");
    let accepted = run(&weighted(&format!("{OTHER}tells = \"accepted\"\n")), HIDE_REGION).ends(0);
    let told = told(&accepted).expect("it is told");
    let shown = document.split("```json").nth(1).and_then(|text| text.split("```").next()).expect("a document in JSON");
    assert_eq!(serde_json::from_str::<Value>(shown).expect("JSON"), told);
}

/// The same is found whatever makes the release, and whatever the order of records.
#[test]
fn every_method_is_looked_at() {
    let folder = weighted(&format!("{OTHER}tells = \"accepted\"\n"));
    let refused = weighted(OTHER);
    // Methods rather keep the age than the region.
    for folder in [&folder, &refused] {
        let project = folder.read("incrowd.toml").replace("[attributes.region]", "[attributes.region]\nweight = 0.001");
        folder.write("incrowd.toml", project);
    }
    let mut n_told = 0;
    for method in Method::ALL.iter().map(|method| method.name()).filter(|name| !name.starts_with("deal")) {
        let line = format!("publish --k 5 --method {method} --json --force");
        let ran = run(&folder, &line).ends(0);
        let (n_below, _) = attack(&folder, &["weight"]);
        match told(&ran) {
            Some(_) => {
                check_told_as_attacked(&folder, &ran, &["weight"]);
                run(&refused, &line).ends(2);
                n_told += 1;
            }
            None => assert_eq!(n_below, 0, "{method}: {n_below} are found"),
        }
    }
    assert!(n_told >= 2, "{n_told}: this tries too little");
    let ran = run(&folder, &format!("{HIDE_REGION} --force")).ends(0);
    let data = folder.read("survey.csv");
    let (names, lines) = data.split_once('\n').expect("lines");
    let mut lines: Vec<&str> = lines.lines().collect();
    Random(3).shuffle(&mut lines);
    folder.write("survey.csv", format!("{names}\n{}\n", lines.join("\n")));
    let again = run(&folder, &format!("{HIDE_REGION} --force --threads 1")).ends(0);
    assert_eq!(ran.json()["beside"], again.json()["beside"]);
}

#[test]
fn what_has_nothing_to_do_with_it_is_published_without_a_word() {
    for n_values in [2, 10, 60, 150] {
        let folder = survey(N, "weight", OTHER, |_, random| random.below(n_values).to_string());
        let ran = run(&folder, HIDE_REGION).ends(0);
        assert!(ran.json()["beside"].as_array().expect("a list").iter().all(|told| told["code"] != "tells"), "{ran}");
    }
    // By chance alone, many values that few share would tell the region of many.
    let folder = survey(N, "weight", OTHER, |_, random| random.below(150).to_string());
    run(&folder, HIDE_REGION).ends(0);
    assert!(attack(&folder, &["weight"]).0 > 50);
}

#[test]
fn what_is_told_of_some_is_a_note() {
    let folder = survey(N, "weight", OTHER, |person, random| match random.below(2) {
        0 => weight(person),
        _ => weight(&Person { region: random.below(N_REGIONS), ..*person }),
    });
    let ran = run(&folder, HIDE_REGION).ends(0);
    let told = check_told_as_attacked(&folder, &ran, &["weight"]);
    assert!(told["nearly_certain"] == false && ran.stderr.contains("tells the hidden 'region'"), "{ran}");
    assert!(folder.read("release.csv.report.html").contains("What stands beside the promise"));
}

/// Neither column alone has to do with the region.
#[test]
fn two_columns_can_tell_it_together() {
    let of_pair = |says: &str| {
        survey(N, "stratum,shift", says, |person, random| {
            let shift = random.below(N_REGIONS);
            format!("{},{shift}", (person.region + shift) % N_REGIONS)
        })
    };
    let both = |first: &str, second: &str| {
        format!("[attributes.stratum]\nrole = \"other\"\n{first}[attributes.shift]\nrole = \"other\"\n{second}")
    };
    let accepted = "tells = \"accepted\"\n";
    for (first, second) in [("", ""), (accepted, ""), ("", accepted)] {
        let ran = run(&of_pair(&both(first, second)), HIDE_REGION).ends(2);
        assert!(ran.stderr.contains("' together tell the hidden 'region' of 1,200 of 1,200 records"), "{ran}");
    }
    let folder = of_pair(&both(accepted, accepted));
    let ran = run(&folder, HIDE_REGION).ends(0);
    let told = told(&ran).expect("a pair");
    assert_eq!(told["n_below"], attack(&folder, &["stratum", "shift"]).0, "{told}");
    // Either of them alone is harmless.
    run(&of_pair("[attributes.stratum]\nrole = \"other\"\n"), HIDE_REGION).ends(0);
}

/// Sex is published beside it.
#[test]
fn a_column_can_tell_it_together_with_a_published_attribute() {
    let folder =
        |says: &str| survey(N, "stratum", says, |person, _| ((person.region + 3 * person.sex) % N_REGIONS).to_string());
    let ran = run(&folder("[attributes.stratum]\nrole = \"other\"\n"), HIDE_REGION).ends(2);
    assert!(ran.stderr.contains("columns 'stratum' and 'sex' together tell the hidden 'region'"), "{ran}");
    let accepted = folder("[attributes.stratum]\nrole = \"other\"\ntells = \"accepted\"\n");
    let ran = run(&accepted, HIDE_REGION).ends(0);
    check_told_as_attacked(&accepted, &ran, &["stratum", "sex"]);
}

/// Half of the published level is told: not the age, but its decade.
#[test]
fn a_coarser_level_than_the_exact_one_can_be_told() {
    let says = "[attributes.cohort]\nrole = \"other\"\n";
    let folder = survey(N, "cohort", says, |person, _| format!("c{}", person.age / 10));
    let ran = run(&folder, "publish --k 30 --levels region=0,age=3 --max-suppressed 50%").ends(2);
    assert!(ran.stderr.contains("column 'cohort' tells the hidden 'age' (width 10) of"), "{ran}");
}

#[test]
fn nearly_unique_values_are_called_that() {
    let says = "[attributes.pay]\nrole = \"sensitive\"\n";
    let folder = survey(N, "pay", says, |_, random| (1000 + random.below(500)).to_string());
    let ran = run(&folder, HIDE_REGION).ends(0);
    let mut n_having: BTreeMap<String, u64> = BTreeMap::new();
    let release = cells_of(&folder.read("release.csv"));
    release.iter().for_each(|line| *n_having.entry(line["pay"].clone()).or_default() += 1);
    let n_rare: u64 = n_having.values().filter(|n| **n < K as u64).sum();
    let beside = ran.json()["beside"].clone();
    let expected = serde_json::json!([
        { "code": "rare_values", "column": "pay", "n_records": n_rare, "n_all": 1200, "k": 5 }
    ]);
    assert_eq!(beside, expected);
    assert!(ran.stderr.contains("column 'pay' has nearly unique values"), "{ran}");
}

#[test]
fn it_is_said_of_columns_that_are_published_as_they_are() {
    let folder = weighted(OTHER);
    let wrong = |from: &str, to: &str| {
        folder.write("incrowd.toml", format!("{PROJECT}{OTHER}").replace(from, to));
        run(&folder, HIDE_REGION).ends(2).stderr
    };
    let said = wrong("[attributes.age]", "[attributes.age]\ntells = \"accepted\"");
    assert!(said.contains("attributes.age.tells is about attributes that are published as they are"), "{said}");
    let said = wrong("[attributes.weight]", "[attributes.weight]\ntells = \"yes\"");
    assert!(said.contains("value of attributes.weight.tells") && said.contains("accepted"), "{said}");
}

/// Any three people have three incomes.
#[test]
fn l_of_a_nearly_unique_attribute_is_called_trivial() {
    let says =
        "[attributes.pay]\nrole = \"sensitive\"\nunique = \"publish\"\nhierarchy = { intervals = [1000, 5000] }\n";
    let folder = survey(N, "pay", says, |_, random| (1000 + random.below(9000)).to_string());
    let table = cells_of(&folder.read("survey.csv"));
    let n_values = table.iter().map(|line| &line["pay"]).collect::<BTreeSet<_>>().len() as u64;
    let said =
        format!("attribute 'pay' is nearly unique, with {} different values in 1,200 records", grouped(n_values));
    for line in
        ["negotiate --k 5 --l 3", "negotiate --k 5 --entropy-l 2", "negotiate --k 5 --recursive 3,2 --on-demand"]
    {
        let ran = run(&folder, line).ends(0);
        assert!(ran.stderr.contains(&said), "{ran}");
        assert!(ran.stderr.contains("its hierarchy has 9 at width 1000, 2 at width 5000"), "{ran}");
        assert!(ran.stderr.contains("count_at = \"width 1000\" on the attribute counts these"), "{ran}");
    }
    let ran = run(&folder, "publish --k 5 --l 3 --force").ends(0);
    assert!(ran.stderr.contains(&said), "{ran}");
    let ran = run(&folder, "publish --method mondrian --k 5 --l 3 --force").ends(0);
    assert!(ran.stderr.contains(&said), "{ran}");
    // t measures how far values are apart, and k has nothing to do with them.
    for line in ["negotiate --k 5 --t 0.3 --max-suppressed 90%", "negotiate --k 5"] {
        assert!(!run(&folder, line).stderr.contains("nearly unique, with"), "{line}");
    }
    let few = survey(N, "pay", says, |_, random| (1000 + random.below(100)).to_string());
    assert!(!run(&few, "negotiate --k 5 --l 3").ends(0).stderr.contains("nearly unique, with"));
}
