//! Laws of people, by every method, on the command line and over HTTP: a record written twice is no second person, nothing
//! passes that has too few, and whoever has one record is a record. `python/tests/test_people_laws.py` is the third front.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

#[cfg(unix)]
use crate::serve::server::Server;
use support::{Folder, Random};

/// Every record has a tag of its own that is published, so that a test can tell whose record each row is.
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
[attributes.tag]
role = "other"
unique = "publish"
"#;

const K: usize = 4;

/// Every way to a release of groups of four people.
const WAYS: [&str; 11] = [
    "--k 4 --levels age=2,city=1 --max-suppressed 100%",
    "--k 4 --max-suppressed 60%",
    "--k 4 --method top-down",
    "--k 4 --method bottom-up",
    "--k 4 --method mondrian",
    "--k 4 --method mondrian-relaxed",
    "--k 4 --method deal",
    "--k 4 --method deal --exchanges 7 --seed 3",
    "--k 4 --method deal-plain",
    "--method per-record --lambda 0.2 --weights-seed 5 --also-k 4",
    "--method per-record --utility-at-least 30% --also-k 4",
];

type Record = (String, usize, &'static str, &'static str);

/// People with one to three records each, a year older in some.
fn table() -> Vec<Record> {
    let mut random = Random(23);
    let mut records = Vec::new();
    for who in 0..60 {
        let (age, city) = (20 + random.below(40), *random.pick(&["Oslo", "Umea", "Rome", "Pisa"]));
        for i in 0..1 + random.below(3) {
            records.push((format!("p{who}"), age + i / 2, city, *random.pick(&["flu", "cold", "gout", "mumps"])));
        }
    }
    records
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Front {
    CommandLine,
    #[cfg(unix)]
    Http,
}

/// Every front that is tried here.
const FRONTS: &[Front] = &[
    Front::CommandLine,
    #[cfg(unix)]
    Front::Http,
];

/// The words of an order as JSON has them.
#[cfg(unix)]
fn as_json(way: &str) -> Value {
    let words: Vec<&str> = way.split_whitespace().collect();
    let value = |text: &str| match text.split_once('=') {
        Some(_) => text.split(',').map(|level| level.split_once('=').expect("a level")).map(number_of).collect(),
        None => text.parse::<f64>().map_or(json!(text), |_| serde_json::from_str(text).expect("a number")),
    };
    let pair = |pair: &[&str]| (pair[0].trim_start_matches("--").replace('-', "_"), value(pair[1]));
    words.chunks(2).map(pair).collect()
}

#[cfg(unix)]
fn number_of((name, level): (&str, &str)) -> (String, Value) {
    (name.to_string(), json!(level.parse::<u8>().expect("a level")))
}

/// A folder with a project and a table, of which every record has a tag.
fn folder(records: &[Record], project: &str) -> Folder {
    let line = |(i, (who, age, city, disease)): (usize, &Record)| format!("{who},{age},{city},{disease},t{i}\n");
    let lines: String = records.iter().enumerate().map(line).collect();
    Folder::with(&[("incrowd.toml", project), ("table.csv", &format!("patient,age,city,disease,tag\n{lines}"))])
}

/// Publishes as `r.csv`, and says what a check with the project answers.
fn publish(folder: &Folder, way: &str, front: Front) -> String {
    match front {
        Front::CommandLine => {
            let order: Vec<&str> = ["publish", "-o", "r.csv"].into_iter().chain(way.split_whitespace()).collect();
            folder.run(&order).ends(0);
            let judged = folder.run(&["verify", "r.csv", "--project", ".", "--json"]);
            judged.json()["answer"].as_str().expect("an answer").to_string()
        }
        #[cfg(unix)]
        Front::Http => {
            let server = Server::start(folder, &["."]);
            let order = |mut order: Value, more: Value| {
                let known = order.as_object_mut().expect("an object");
                known.extend(more.as_object().expect("an object").clone());
                json!({ "project": server.project(), "order": order })
            };
            let made = server.work("/orders/publish", &order(as_json(way), json!({ "output": "r.csv" })));
            assert_eq!(made["result"]["result"]["published"], true, "{way}: {made}");
            let judged = server.work("/orders/verify", &order(json!({ "file": "r.csv" }), json!({ "project": "." })));
            judged["result"]["result"]["answer"].as_str().unwrap_or_else(|| panic!("{way}: {judged}")).to_string()
        }
    }
}

/// Publishes records, and says who is in each group of the release.
fn people(records: &[Record], way: &str, front: Front) -> BTreeMap<String, BTreeSet<String>> {
    let folder = folder(records, PROJECT);
    assert_eq!(publish(&folder, way, front), "kept", "{way}, {front:?}");
    let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in folder.read("r.csv").lines().skip(1) {
        let (rest, tag) = row.rsplit_once(",t").expect("a tag");
        let (cells, _) = rest.rsplit_once(',').expect("a disease");
        let who = &records[tag.parse::<usize>().expect("a number")].0;
        groups.entry(cells.to_string()).or_default().insert(who.clone());
    }
    groups
}

#[test]
fn every_group_has_so_many_people_by_every_method() {
    let records = table();
    for way in WAYS {
        for front in FRONTS {
            let groups = people(&records, way, *front);
            assert!(groups.len() > 1 && groups.values().all(|who| who.len() >= K), "{way}: {groups:?}");
        }
    }
}

/// A record that is written twice is no second person: groups that are told by levels have the same people, and nothing
/// that was kept is kept no more.
#[test]
fn splitting_a_record_changes_no_people_and_no_verdict() {
    let records = table();
    let split: Vec<Record> =
        records.iter().enumerate().flat_map(|(i, record)| vec![record.clone(); 1 + i % 3]).collect();
    for way in WAYS {
        for front in FRONTS {
            let (before, after) = (people(&records, way, *front), people(&split, way, *front));
            assert!(after.values().all(|who| who.len() >= K), "{way}: {after:?}");
            if way.contains("--levels") {
                assert_eq!(before, after, "{way}");
            }
        }
    }
}

/// Three people of an age and a city of their own, with more and more records: they are never a group.
#[test]
fn more_records_of_too_few_people_are_no_group() {
    for n_more in [1, 3, 9] {
        let mut records = table();
        let odd = |who: usize| (format!("q{who}"), 97, "Umea", ["flu", "cold", "gout"][who % 3]);
        records.extend((0..K - 1).map(odd));
        records.extend((0..n_more).map(|i| odd(i % (K - 1))));
        for way in WAYS {
            let groups = people(&records, way, FRONTS[n_more % FRONTS.len()]);
            assert!(groups.values().all(|who| who.len() >= K), "{way}, {n_more} more: {groups:?}");
        }
    }
}

/// A column of all-different values gives what no such column gives, to the byte, but that the promise is about people.
#[test]
fn people_with_one_record_each_are_records_by_every_method() {
    let mut records = table();
    (0..).zip(&mut records).for_each(|(i, record)| record.0 = format!("p{i}"));
    let without = PROJECT.replace("role = \"person\"", "role = \"identifier\"");
    for way in WAYS {
        for front in FRONTS {
            let [of_people, of_records] = [PROJECT, &without].map(|project| {
                let folder = folder(&records, project);
                assert_eq!(publish(&folder, way, *front), "kept", "{way}, {front:?}");
                folder.bytes("r.csv")
            });
            assert_eq!(of_people, of_records, "{way}, {front:?}");
        }
    }
}

/// A release of records that were generalized one by one is made again to see whose they are, unless what it takes stands
/// in files that the certificate does not hold.
#[test]
fn what_cannot_be_made_again_is_not_judged_and_says_why() {
    let records = table();
    let weights: String = ["age", "city"]
        .iter()
        .flat_map(|name| {
            let values: BTreeSet<String> = records
                .iter()
                .map(|(_, age, city, _)| if *name == "age" { age.to_string() } else { city.to_string() })
                .collect();
            values.into_iter().map(move |value| format!("{name},{value},0.5\n"))
        })
        .collect();
    for (flags, code, says) in [
        ("", 0, "the promise is kept"),
        ("--weights weights.csv", 2, "by weights or a dictionary that the certificate does not hold"),
        ("--dictionary known.csv --risk identity", 2, "by weights or a dictionary that the certificate does not hold"),
    ] {
        let folder = folder(&records, PROJECT);
        folder.write("weights.csv", format!("attribute,value,weight\n{weights}"));
        folder.write("known.csv", folder.read("table.csv"));
        let way = format!("publish -o r.csv --method per-record --utility-at-least 33.3333% --also-k 4 {flags}");
        folder.run(&way.split_whitespace().collect::<Vec<_>>()).ends(0);
        let judged = folder.run(&["verify", "r.csv", "--project", "."]).ends(code);
        assert!(judged.stdout.contains(says), "{flags}: {judged}");
    }
    // Another table by now: the groups of the file do not come out again.
    let folder = folder(&records, PROJECT);
    let way = "publish -o r.csv --method per-record --utility-at-least 30% --also-k 4";
    folder.run(&way.split_whitespace().collect::<Vec<_>>()).ends(0);
    let less: String = folder.read("table.csv").lines().take(60).map(|line| format!("{line}\n")).collect();
    folder.write("table.csv", less);
    let judged = folder.run(&["verify", "r.csv", "--project", "."]).ends(2);
    assert!(judged.stdout.contains("does not give the groups of the file"), "{judged}");
}

/// How many exchanges dealing tried is in the certificate where it is not what it always tries; a certificate that says
/// another number does not give the groups of the file.
#[test]
fn other_exchanges_are_other_groups() {
    let folder = folder(&table(), PROJECT);
    let deal = |more: &str| {
        let way = format!("publish -o r.csv --force --k 4 --method deal {more}");
        folder.run(&way.split_whitespace().collect::<Vec<_>>()).ends(0);
        serde_json::from_str::<Value>(&folder.read("r.csv.certificate.json")).expect("JSON")
    };
    assert_eq!(deal("").get("exchanges"), None);
    let usual = folder.bytes("r.csv");
    let mut certificate = deal("--exchanges 0");
    assert_eq!(certificate["exchanges"], 0);
    assert_ne!(folder.bytes("r.csv"), usual, "exchanges change nothing here: this tries nothing");
    folder.run(&["verify", "r.csv", "--project", "."]).ends(0);
    certificate.as_object_mut().expect("an object").remove("exchanges");
    folder.write("r.csv.certificate.json", certificate.to_string());
    let judged = folder.run(&["verify", "r.csv", "--project", "."]).ends(2);
    assert!(judged.stdout.contains("does not give the groups of the file"), "{judged}");
}

/// Whom an attacker finds is found among people: also where groups have ranges of their own, and a project says whose
/// record is whose.
#[test]
fn an_attack_on_any_method_counts_people() {
    let records = table();
    for way in WAYS {
        let folder = folder(&records, PROJECT);
        publish(&folder, way, Front::CommandLine);
        let attacked = folder.run(&["attack", "r.csv", "--project", ".", "--json"]).ends(0).json();
        // Nobody is found among fewer than four people, and that is known: groups were not counted by their records.
        assert_eq!(attacked["linkage"][0]["n_one_person"], 0, "{way}: {attacked}");
    }
}
