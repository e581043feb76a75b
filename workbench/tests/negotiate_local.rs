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
