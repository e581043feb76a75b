//! Laws of people, by every method: a record written twice is no second person, and nothing passes that has too few.

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

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
const WAYS: [&str; 9] = [
    "--k 4 --levels age=2,city=1 --max-suppressed 100%",
    "--k 4 --max-suppressed 60%",
    "--k 4 --method top-down",
    "--k 4 --method bottom-up",
    "--k 4 --method mondrian",
    "--k 4 --method mondrian-relaxed",
    "--k 4 --method deal",
    "--k 4 --method deal-plain",
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

/// Publishes records, and says who is in each group of the release.
fn people(records: &[Record], way: &str) -> BTreeMap<String, BTreeSet<String>> {
    let line = |(i, (who, age, city, disease)): (usize, &Record)| format!("{who},{age},{city},{disease},t{i}\n");
    let lines: String = records.iter().enumerate().map(line).collect();
    let data = format!("patient,age,city,disease,tag\n{lines}");
    let folder = Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &data)]);
    let order: Vec<&str> = ["publish", "-o", "r.csv"].into_iter().chain(way.split_whitespace()).collect();
    folder.run(&order).ends(0);
    let judged = folder.run(&["verify", "r.csv", "--project", "."]);
    // Of records that were generalized one by one nobody can say whose they were.
    let (code, says) = if way.contains("per-record") { (2, "one by one") } else { (0, "the promise is kept") };
    assert!(judged.code == Some(code) && judged.stdout.contains(says), "{way}: {judged}");
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
        let groups = people(&records, way);
        assert!(groups.len() > 1 && groups.values().all(|who| who.len() >= K), "{way}: {groups:?}");
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
        let (before, after) = (people(&records, way), people(&split, way));
        assert!(after.values().all(|who| who.len() >= K), "{way}: {after:?}");
        if way.contains("--levels") {
            assert_eq!(before, after, "{way}");
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
            let groups = people(&records, way);
            assert!(groups.values().all(|who| who.len() >= K), "{way}, {n_more} more: {groups:?}");
        }
    }
}
