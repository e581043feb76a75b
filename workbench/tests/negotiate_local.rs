//! Negotiating over local recoding on the command line: answers, offers, frontiers, files, and releases that keep them.

use serde_json::Value;

use crate::support;
use support::{Folder, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.age]
role = "quasi-identifier"
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }
[attributes.disease]
role = "sensitive"
"#;

fn records(n: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::from("age,city,disease\n");
    for _ in 0..n {
        let city = ["Oslo", "Umea", "Rome", "Pisa"][random.below(4)];
        text.push_str(&format!("{},{city},{}\n", 20 + random.below(60), ["flu", "cold", "gout"][random.below(3)]));
    }
    text
}

fn folder() -> Folder {
    Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &records(300, 5))])
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn what_is_answered_is_published_and_keeps_its_promise() {
    let folder = folder();
    let wishes = ["--k", "5", "--l", "2", "--max-suppressed", "2%"];
    let asked = [&["negotiate", "--local", "--json"][..], &wishes].concat();
    let answer = folder.run(&asked).ends(0).json();
    assert_eq!(answer["outcome"], "exact");
    let offer = &answer["exact"];
    assert!(number(&offer["reached"]["k"]) >= 5.0 && number(&offer["reached"]["l"]) >= 2.0);
    assert_eq!(offer["loss"], offer["loss_at_least"], "with one limit the best cut is found");
    let publish = |more: &[&str]| {
        let words = ["publish", "--method", "negotiated", "-o", "release.csv", "--force", "--json"];
        folder.run(&[&words[..], &wishes, more].concat()).ends(0);
        folder.run(&["verify", "release.csv"]).ends(0);
        let certificate: Value = serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON");
        certificate
    };
    let plain = publish(&[]);
    assert_eq!(plain["method"]["name"].as_str().or(plain["method"].as_str()), Some("negotiated"));
    publish(&["--steps", "200"]);
}

/// What every group of the tree would be, counted again from what its leaves say.
#[test]
fn every_group_of_the_tree_can_be_seen() {
    let folder = folder();
    let document = folder.run(&["annotate", "--local", "--per-group", "--l", "2", "--json"]).ends(0).json();
    let groups = document["groups"].as_array().expect("a list");
    assert_eq!(groups.len() as u64, document["n_nodes"].as_u64().expect("a number"));
    let is_leaf = |i: usize| groups.iter().all(|group| group["parent"] != i);
    for (i, group) in groups.iter().enumerate() {
        // The ages below it, from leaves up.
        let below = |node: usize| {
            let parent = |node: &usize| groups[*node]["parent"].as_u64().map(|parent| parent as usize);
            std::iter::successors(Some(node), parent).any(|above| above == i)
        };
        let leaves: Vec<&Value> = (0..groups.len()).filter(|&n| is_leaf(n) && below(n)).map(|n| &groups[n]).collect();
        let n_records: u64 = leaves.iter().map(|leaf| leaf["n_records"].as_u64().expect("a number")).sum();
        assert_eq!(group["n_records"], n_records);
        assert_eq!(group["reached"]["k"], n_records);
        let ages =
            leaves.iter().map(|leaf| leaf["cells"]["age"].as_str().expect("a text").parse::<u64>().expect("one age"));
        let (low, high) = (ages.clone().min().expect("a leaf"), ages.max().expect("a leaf"));
        let text = if low == high { low.to_string() } else { format!("[{low}-{high}]") };
        assert_eq!(group["cells"]["age"], text);
        assert!((number(&group["loss_of"]["age"]) - (high - low) as f64 / 59.0).abs() < 1e-5);
        let mean = (number(&group["loss_of"]["age"]) + number(&group["loss_of"]["city"])) / 2.0;
        assert!((number(&group["loss"]) - mean).abs() < 2e-6);
    }
    assert!(groups[groups.len() - 1]["parent"].is_null() && groups[groups.len() - 1]["n_records"] == 300);
    let table = folder.run(&["annotate", "--local", "--per-group", "--csv"]).ends(0).stdout;
    assert_eq!(table.lines().count(), groups.len() + 1);
    assert!(table.starts_with("group,parent,records,k,"), "{table}");
    folder.run(&["annotate", "--local", "--per-scheme"]).ends(2);
    folder.run(&["annotate", "--k", "3", "--per-group"]).ends(2);
}

#[test]
fn three_offers_where_not_all_can_be_met() {
    let folder = folder();
    let asked = |more: &[&str]| folder.run(&[&["negotiate", "--local", "--json", "--k", "10"][..], more].concat());
    let answer = asked(&["--max-suppressed", "3", "--max-loss", "4%"]).ends(1).json();
    let offers = &answer["offers"];
    assert!(offers["suppression"].is_null() || number(&offers["suppression"]["loss"]) <= 0.04);
    assert!(number(&offers["loss"]["n_suppressed"]) <= 3.0 && number(&offers["loss"]["loss"]) > 0.04);
    let privacy = &offers["privacy"];
    assert!(number(&privacy["criteria"]["k"]) < 10.0 && number(&privacy["loss"]) <= 0.04);
    // What was offered is had for the asking.
    let loss = format!("{}%", number(&offers["loss"]["loss"]) * 100.0 + 1e-4);
    asked(&["--max-suppressed", "3", "--max-loss", &loss]).ends(0);
    let k = privacy["criteria"]["k"].to_string();
    folder.run(&["negotiate", "--local", "--k", &k, "--max-suppressed", "3", "--max-loss", "4%"]).ends(0);
    // Limits on single attributes hold.
    let limited = asked(&["--max-loss", "age=5%"]).json();
    if limited["outcome"] == "exact" {
        assert!(number(&limited["exact"]["loss_of"]["age"]) <= 0.05 + 1e-9);
        assert!(number(&limited["exact"]["loss_at_least"]) <= number(&limited["exact"]["loss"]));
    }
    for wrong in
        [&["--max-loss", "200%"][..], &["--max-loss", "size=5%"], &["--max-loss", "5"], &["--max-level", "age=1"]]
    {
        asked(wrong).ends(2);
    }
}

#[test]
fn frontiers_agree_with_answers() {
    let folder = folder();
    let found = folder.run(&["frontier", "--local", "--json"]).ends(0).json();
    let bargains = found["bargains"].as_array().expect("bargains");
    assert!(bargains.len() > 5);
    for bargain in bargains.iter().step_by(4) {
        let k = bargain["k"].to_string();
        let answer = folder.run(&["negotiate", "--local", "--json", "--k", &k]).ends(0).json();
        assert_eq!(answer["exact"]["loss"], bargain["loss"], "k = {k}");
    }
    assert!(folder.run(&["frontier", "--local", "--csv"]).ends(0).stdout.starts_with("k,n_suppressed,loss,n_groups\n"));
}

/// A file answers as the table does, follows records that come, and one without a tree is refused.
#[test]
fn trees_are_kept_in_files() {
    let folder = folder();
    folder.run(&["annotate", "--local", "-o", "kept.crowd"]).ends(0);
    let wishes = ["--json", "--k", "7", "--l", "2", "--max-suppressed", "1%"];
    let ask = |more: &[&str]| folder.run(&[&["negotiate", "--local"][..], &wishes, more].concat()).ends(0).json();
    assert_eq!(ask(&["--lattice", "kept.crowd"]), ask(&[]));
    let frontier = |more: &[&str]| folder.run(&[&["frontier", "--local", "--json"][..], more].concat()).ends(0).json();
    assert_eq!(frontier(&["--lattice", "kept.crowd"]), frontier(&[]));
    folder.write("more.csv", records(40, 6));
    folder.run(&["annotate", "--append", "more.csv", "kept.crowd"]).ends(0);
    let after = ask(&["--lattice", "kept.crowd"]);
    assert_eq!(after["n_records"], 340);
    assert!(number(&after["exact"]["reached"]["k"]) >= 7.0);
    folder.run(&["annotate", "--k", "2", "-o", "lattice.crowd"]).ends(0);
    let refused = folder.run(&["negotiate", "--local", "--k", "5", "--lattice", "lattice.crowd"]).ends(2);
    assert!(refused.stderr.contains("holds no tree of groups"), "{}", refused.stderr);
}

/// What the records of a release lose on each attribute, counted plainly: a suppressed one loses everything.
fn lost(release: &str, n_records: usize) -> [f64; 2] {
    let mut sums = [0.0, 0.0];
    let mut n = 0;
    for line in release.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let age = cells[0].trim_matches(['[', ']']);
        sums[0] += match age.split_once('-') {
            Some((low, high)) => {
                (high.parse::<f64>().expect("a number") - low.parse::<f64>().expect("a number")) / 59.0
            }
            None => 0.0,
        };
        sums[1] += match cells[1] {
            "*" => 1.0,
            "North" | "South" => 0.5,
            _ => 0.0,
        };
        n += 1;
    }
    sums.map(|sum| (sum + (n_records - n) as f64) / n_records as f64)
}

fn smallest_group(release: &str) -> usize {
    let mut sizes = std::collections::BTreeMap::new();
    for line in release.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        *sizes.entry((cells[0], cells[1])).or_insert(0) += 1;
    }
    sizes.into_values().min().unwrap_or(0)
}

/// The limits that were agreed on hold in the file, after however many steps, and more steps lose no more.
#[test]
fn releases_keep_what_was_agreed_on() {
    let folder = folder();
    let ages: Vec<f64> =
        folder.read("table.csv").lines().skip(1).map(|line| line[..2].parse().expect("an age")).collect();
    assert_eq!((ages.iter().copied().fold(99.0, f64::min), ages.iter().copied().fold(0.0, f64::max)), (20.0, 79.0));
    let free = folder.run(&["negotiate", "--local", "--json", "--k", "6", "--max-suppressed", "2%"]).ends(0).json();
    let of = |name: &str| number(&free["exact"]["loss_of"][name]);
    // Just what the best cut loses, so that the limits bind while groups are improved.
    for (wishes, most) in [
        (vec![format!("age={}%", of("age") * 100.0 + 1e-4)], [of("age"), 1.0]),
        (vec![format!("city={}%", of("city") * 100.0 + 1e-4)], [1.0, of("city")]),
        (vec![format!("age={}%", of("age") * 101.0), "city=100%".into(), "30%".into()], [of("age") * 1.01, 1.0]),
    ] {
        let mut words = vec!["--k", "6", "--max-suppressed", "2%"];
        wishes.iter().for_each(|wish| words.extend(["--max-loss", wish]));
        let answer = folder.run(&[&["negotiate", "--local", "--json"][..], &words].concat()).ends(0).json();
        let mut before = number(&answer["exact"]["loss"]) + 1e-6;
        for steps in ["1", "3", "10", "50", "400", "3000"] {
            let publish = ["publish", "--local", "-o", "release.csv", "--force", "--steps", steps];
            folder.run(&[&publish[..], &words].concat()).ends(0);
            folder.run(&["verify", "release.csv", "--project", "."]).ends(0);
            let release = folder.read("release.csv");
            let [age, city] = lost(&release, 300);
            assert!(age <= most[0] + 3e-6 && city <= most[1] + 3e-6, "{wishes:?} {steps}: {age} {city}");
            assert!(smallest_group(&release) >= 6);
            let all = (age + city) / 2.0;
            assert!(all <= before, "{wishes:?} {steps}: {all} after {before}");
            before = all + 1e-6;
        }
        let report = folder.read("release.csv.report.html");
        assert!(report.contains("Detail lost of") && !report.contains("given up"), "every wish is met");
    }
}

/// Each offer is published as it was made, and the certificate says which it is.
#[test]
fn offers_are_published() {
    // Two who are far from everybody cost the others more than they have themselves.
    let folder =
        Folder::with(&[("incrowd.toml", PROJECT), ("table.csv", &(records(298, 5) + "500,Oslo,flu\n505,Pisa,flu\n"))]);
    let loss = |most: &str| {
        let words = ["negotiate", "--local", "--json", "--k", "3", "--max-suppressed", most];
        number(&folder.run(&words).ends(0).json()["exact"]["loss"])
    };
    let most = (loss("0") + loss("20")) / 2.0;
    let limit = format!("{}%", most * 100.0);
    let wishes = ["--k", "3", "--max-suppressed", "0", "--max-loss", &limit];
    let answer = folder.run(&[&["negotiate", "--local", "--json"][..], &wishes].concat()).ends(1).json();
    let publish = |more: &[&str]| {
        let words = ["publish", "--local", "-o", "release.csv", "--force", "--json"];
        folder.run(&[&words[..], &wishes, more].concat())
    };
    let refused = publish(&[]).ends(1).json();
    assert_eq!(refused["offers"], answer["offers"], "nothing is published, and the offers are said");
    for offer in ["suppression", "loss", "privacy"] {
        let made = &answer["offers"][offer];
        assert!(!made.is_null(), "{offer}");
        let published = publish(&["--offer", offer]).ends(0).json();
        folder.run(&["verify", "release.csv"]).ends(0);
        let certificate: Value = serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON");
        assert_eq!(certificate["choice"], *offer);
        assert_eq!(certificate["method"], "negotiated");
        assert_eq!(certificate["n_records_suppressed"], made["n_suppressed"]);
        assert_eq!(certificate["criteria"]["k"]["promised"], made["criteria"]["k"]);
        assert!(number(&published["loss"]["ncp"]) <= number(&made["loss"]) + 1e-6, "never worse than the cut");
        let report = folder.read("release.csv.report.html");
        assert!(report.contains("Not everything asked for could be met together"), "{offer}");
        // What was improved after the cut may meet the limit after all.
        let is_given_up = offer != "loss" || number(&published["loss"]["ncp"]) > most + 1e-6;
        assert_eq!(report.contains("given up"), is_given_up, "{offer}");
    }
    publish(&["--offer", "height"]).ends(2);
    folder.run(&["publish", "--k", "5", "--offer", "loss"]).ends(2);
    folder.run(&["publish", "--k", "5", "--max-loss", "5%"]).ends(2);
}

/// The same bytes whoever asks for them, on however many threads.
#[test]
fn a_negotiated_method_is_an_answer_without_limits() {
    let folder = folder();
    let key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    let publish = |words: &[&str]| {
        let all = ["publish", "-o", "release.csv", "--force", "--key", key, "--k", "5", "--l", "2", "--steps", "60"];
        folder.run(&[&all[..], words].concat()).ends(0);
        (folder.read("release.csv"), folder.read("release.csv.certificate.json"))
    };
    let alone = publish(&["--local", "--max-suppressed", "2%", "--threads", "1"]);
    assert_eq!(publish(&["--local", "--max-suppressed", "2%", "--threads", "3"]), alone);
    assert_eq!(publish(&["--method", "negotiated", "--max-suppressed", "2%"]).0, alone.0);
    assert_eq!(publish(&["--method", "negotiated"]).0, publish(&["--local"]).0);
}

/// Where people are counted, groups have people, and whoever has the table can count them again.
#[test]
fn people_are_counted_in_what_was_negotiated() {
    let mut random = Random(9);
    let mut text = String::from("who,age,city,disease\n");
    for _ in 0..240 {
        let city = ["Oslo", "Umea", "Rome", "Pisa"][random.below(4)];
        let disease = ["flu", "cold", "gout"][random.below(3)];
        text.push_str(&format!("{},{},{city},{disease}\n", random.below(90), 20 + random.below(60)));
    }
    let project = format!("{PROJECT}[attributes.who]\nrole = \"person\"\n");
    let folder = Folder::with(&[("incrowd.toml", &project), ("table.csv", &text)]);
    for words in [
        &["--k", "4"][..],
        &["--k", "5", "--l", "2", "--max-suppressed", "5%"],
        &["--k", "4", "--t", "0.4", "--max-suppressed", "5%"],
        &["--k", "6", "--max-loss", "city=60%", "--max-suppressed", "20"],
        &["--k", "12", "--max-loss", "1%", "--offer", "loss"],
    ] {
        let publish = ["publish", "--local", "-o", "release.csv", "--force", "--steps", "80"];
        folder.run(&[&publish[..], words].concat()).ends(0);
        let verdict = folder.run(&["verify", "release.csv", "--project", ".", "--json"]).ends(0).json();
        assert_eq!(verdict["answer"], "kept", "{words:?} {verdict}");
    }
}
