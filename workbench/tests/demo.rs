//! `incrowd demo`: the whole path on a made-up table, which ends in a release that anyone can verify.

use incrowd_workbench::demo_data;

use crate::support;
use support::{Folder, Ran};

/// Runs the demo and checks what holds for every table that it makes up.
#[track_caller]
fn check(folder: &Folder, n_records: usize) -> Ran {
    let ran = folder.run(&["demo", "here", "--records", &n_records.to_string()]).ends(0);
    // Three requests: two for k, and one for l as well.
    let is_request = |line: &&str| line.starts_with("$ ") && line.contains("incrowd negotiate here");
    let asked: Vec<&str> = ran.stdout.lines().filter(is_request).collect();
    let with_l: Vec<bool> = asked.iter().map(|line| line.contains(" --l ")).collect();
    assert_eq!(with_l, [false, false, true], "{ran}");
    assert_eq!(ran.stdout.matches("Answer: ").count(), 3, "{ran}");
    for offer in ["lose more records", "generalize otherwise", "settle for less"] {
        assert!(ran.stdout.contains(offer), "{offer} in\n{ran}");
    }
    for step in ["incrowd profile here", "incrowd annotate here", "incrowd publish here", "incrowd verify here"] {
        assert!(ran.stdout.contains(step), "{step} in\n{ran}");
    }
    assert!(ran.stdout.contains("yes, the promise is kept"), "{ran}");

    assert!(folder.names().iter().all(|name| name.starts_with("here/")), "{:?}", folder.names());
    assert!(folder.has("here/release.csv.report.html"), "{:?}", folder.names());
    let verdict = folder.run(&["verify", "here/release.csv", "--project", "here", "--json"]).ends(0).json();
    assert_eq!(verdict["holds"], true);
    // Nobody sees patients in the release.
    folder.run(&["verify", "here/release.csv"]).ends(2);
    let certificate: serde_json::Value =
        serde_json::from_str(&folder.read("here/release.csv.certificate.json")).expect("a certificate");
    assert_eq!(certificate["n_records_read"], n_records);
    ran
}

#[test]
fn the_demo_negotiates_publishes_verifies_and_suggests_commands_that_work() {
    let folder = Folder::new();
    let ran = check(&folder, 50_000);
    let next = ran.stdout.split("Try next").nth(1).expect("suggestions");
    let mut n_tried = 0;
    for line in next.lines().filter(|line| line.contains(" here")) {
        // A purpose may stand to the right of its command.
        let Some(command) = line.split_once("incrowd ").and_then(|(_, line)| line.split("   ").next()) else {
            continue;
        };
        let ran = folder.run(&command.split_whitespace().collect::<Vec<_>>());
        assert!(matches!(ran.code, Some(0 | 1)), "{ran}");
        n_tried += 1;
    }
    assert!(n_tried >= 4, "{next}");
}

#[test]
fn the_demo_runs_on_few_records_too() {
    check(&Folder::new(), 2_000);
}

#[test]
fn the_table_of_the_demo_comes_from_the_seed() {
    let folder = Folder::new();
    let made = |name: &str, seed: u64| {
        demo_data::write(&folder.join(name), 2_000, seed).expect("a writable folder");
        folder.read(&format!("{name}/discharges.csv"))
    };
    let (first, again, other) = (made("a", 1), made("b", 1), made("a", 2));
    assert_eq!((first.lines().count(), first == again, first == other), (2_001, true, false));
}
