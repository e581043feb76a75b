//! What stands beside the promise where people are counted, and where there are very many records.

use crate::support;

use support::{Folder, Ran, Random};

const PROJECT: &str = r#"
[data]
path = "visits.csv"
[attributes.who]
role = "person"
[attributes.region]
role = "quasi-identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 40] }
"#;

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

/// Visits of people, so many each, with one more column.
fn visits(n_people: usize, n_visits: usize, says: &str, cell: impl Fn(usize, usize, &mut Random) -> String) -> Folder {
    let mut random = Random(7);
    let mut data = String::from("who,region,age,more\n");
    for who in 0..n_people {
        let (region, age) = (random.below(7), 20 + random.below(40));
        for _ in 0..n_visits {
            let cell = cell(who, region, &mut random);
            data.push_str(&format!("p{who},R{region},{age},{cell}\n"));
        }
    }
    let project = format!("{PROJECT}[attributes.more]\nrole = \"other\"\n{says}");
    Folder::with(&[("visits.csv", &data), ("incrowd.toml", &project)])
}

const HIDE_REGION: &str = "publish --k 5 --levels region=1,age=1 --force --json";

/// The code of a region tells the region: among records there are always five left, among people there are not.
#[test]
fn records_of_the_same_person_are_no_crowd() {
    let folder = visits(160, 5, "tells = \"accepted\"\n", |_, region, _| format!("code{region}"));
    let ran = run(&folder, HIDE_REGION).ends(0);
    let beside = ran.json()["beside"].as_array().expect("a list").clone();
    let told = beside.iter().find(|told| told["code"] == "tells").unwrap_or_else(|| panic!("nothing is told: {ran}"));
    assert_eq!(told["of"], "people", "{ran}");
    // Every group has 40 people or so of seven regions.
    let fewest = told["effective_k"].as_u64().expect("a number");
    assert!(fewest < 5 && told["n_below"].as_u64() >= Some(5), "{ran}");
    assert!(ran.stderr.contains("among fewer than k = 5 people"), "{ran}");
    // Of records at least five are always left, so that nothing would be said.
    folder.write("incrowd.toml", folder.read("incrowd.toml").replace("[attributes.who]\nrole = \"person\"\n", ""));
    let ran = run(&folder, HIDE_REGION).ends(0);
    assert!(ran.json()["beside"].as_array().expect("a list").iter().all(|told| told["code"] != "tells"), "{ran}");
}

/// A second number of the same person is had by all of their records.
#[test]
fn a_second_number_of_a_person_is_refused() {
    let folder = visits(200, 4, "", |who, _, _| format!("n{}", who * 7919 % 1000));
    let ran = run(&folder, HIDE_REGION).ends(2);
    assert!(ran.stderr.contains("column 'more' (800 of 800) would find people"), "{ran}");
    assert!(ran.stderr.contains("that nobody else has"), "{ran}");
}

/// Of more than 100,000 records some groups are looked at, and a rule is found all the same.
#[test]
fn very_many_records_are_looked_at_in_part() {
    let mut random = Random(3);
    let mut data = String::from("region,age,weight\n");
    for _ in 0..150_000 {
        let (region, age) = (random.below(300), 20 + random.below(60));
        data.push_str(&format!("R{region},{age},{}\n", 1000 + region));
    }
    let project = PROJECT.replace("[attributes.who]\nrole = \"person\"\n", "").replace("[10, 40]", "[1, 40]");
    let project = format!("{project}[attributes.weight]\nrole = \"other\"\n");
    let folder = Folder::with(&[("visits.csv", &data), ("incrowd.toml", &project)]);
    let ran = run(&folder, "publish --k 50 --levels region=1,age=0 --force").ends(2);
    assert!(ran.stderr.contains("column 'weight' tells the hidden 'region' of"), "{ran}");
    let n_looked_at =
        ran.stderr.split(" of ").nth(2).and_then(|rest| rest.split(' ').next()).map(|n| n.replace(',', ""));
    let n_looked_at: u64 = n_looked_at.and_then(|n| n.parse().ok()).expect("a number of records");
    assert!((50_000..=100_000).contains(&n_looked_at), "{n_looked_at}: {ran}");
}

/// Many relations are a handful of notes, and all are in the answer.
#[test]
fn many_relations_are_a_handful_of_notes() {
    let mut random = Random(4);
    let names: Vec<String> = (0..9).map(|i| format!("c{i}")).collect();
    let mut data = format!("region,age,{}\n", names.join(","));
    for _ in 0..700 {
        let (region, age) = (random.below(7), 20 + random.below(40));
        let cells: Vec<String> = names.iter().map(|_| format!("x{region}")).collect();
        data.push_str(&format!("R{region},{age},{}\n", cells.join(",")));
    }
    let project = PROJECT.replace("[attributes.who]\nrole = \"person\"\n", "");
    let says = |name: &String| format!("[attributes.{name}]\nrole = \"other\"\ntells = \"accepted\"\n");
    let project = format!("{project}{}", names.iter().map(says).collect::<String>());
    let folder = Folder::with(&[("visits.csv", &data), ("incrowd.toml", &project)]);
    let ran = run(&folder, "publish --k 5 --levels region=1,age=0 --max-suppressed 50% --force --json").ends(0);
    assert_eq!(ran.json()["beside"].as_array().expect("a list").len(), 9, "{ran}");
    assert_eq!(ran.stderr.matches("tells the hidden 'region'").count(), 5, "{ran}");
    assert!(ran.stderr.contains("4 relations more of columns"), "{ran}");
}
