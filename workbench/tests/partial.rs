//! Partial lattices on the command line, and lattices that follow their records.

use std::path::Path;

use incrowd::Lattice;
use incrowd_workbench::orders::saved;
use incrowd_workbench::work::Work;

use crate::support;
use support::{Folder, Ran, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = 4 }
[attributes.ward]
role = "quasi-identifier"
hierarchy = "wards.csv"
[attributes.sex]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
"#;

const WARDS: &str = "N;north;*\nM;north;*\nS;south;*\n";
const HEADER: &str = "age,postcode,ward,sex,disease\n";

fn records(n_records: usize, seed: u64) -> String {
    let mut random = Random(seed);
    let mut data = String::new();
    for _ in 0..n_records {
        let (disease, ward) = (["flu", "cold", "gout"][random.below(3)], ["N", "M", "S"][random.below(3)]);
        let (age, postcode) = (20 + random.below(70), 1000 + random.below(200));
        data.push_str(&format!("{age},{postcode},{ward},{},{disease}\n", ["f", "m"][random.below(2)]));
    }
    data
}

fn project(records: &str) -> Folder {
    Folder::with(&[("table.csv", &format!("{HEADER}{records}")), ("incrowd.toml", PROJECT), ("wards.csv", WARDS)])
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&words(line))
}

#[test]
fn a_partial_lattice_answers_and_says_what_it_proves() {
    let folder = project(&records(500, 3));
    let shown = run(&folder, "annotate --partial 10% --k 5").ends(0);
    assert!(shown.stdout.contains(" of 150 schemes (a partial lattice, the most promising by lambda)"), "{shown}");
    let document = run(&folder, "annotate --partial 10% --estimator gamma --k 5 --json --per-scheme").ends(0).json();
    assert_eq!((&document["extent"], &document["estimator"]), (&"partial".into(), &"gamma".into()));
    assert_eq!(document["schemes"].as_array().map(Vec::len), document["n_annotated"].as_u64().map(|n| n as usize));
    assert_eq!(document["n_schemes"], 150);
    for wish in ["--k 5 --max-suppressed 10%", "--k 20 --max-suppressed 0 --max-level age=1,postcode=2"] {
        let whole = run(&folder, &format!("negotiate {wish} --json"));
        let partial = run(&folder, &format!("negotiate {wish} --json --partial"));
        let (whole, partial) = (whole.json(), partial.json());
        assert_eq!(partial["outcome"], whole["outcome"], "{wish}: v_max is evaluated, so nothing is missed");
        let proved = &partial["partial"];
        assert_eq!((&proved["share"], &proved["estimator"]), (&0.05.into(), &"lambda".into()), "{partial}");
        let kind = if partial["outcome"] == "exact" { "exact" } else { "height" };
        let height = |answer: &serde_json::Value| match kind {
            "exact" => answer["exact"]["height"].as_f64(),
            _ => answer["offers"]["height"]["height"].as_f64(),
        };
        let bound = proved["proofs"][kind]["loss_at_least"].as_f64().expect("a bound") * 11.0;
        let (height, true_height) = (height(&partial).expect("a height"), height(&whole).expect("a height"));
        assert!(bound <= true_height + 1e-3 && true_height <= height, "{bound} {true_height} {height}");
        let words = run(&folder, &format!("negotiate {wish} --partial"));
        assert!(words.stdout.contains("From a partial lattice: "), "{words}");
        // All of it, by another name.
        let all = run(&folder, &format!("negotiate {wish} --json --partial 100%")).json();
        assert_eq!(all["partial"]["is_proved"], true, "{all}");
        assert_eq!((&all["exact"], &all["offers"]), (&whole["exact"], &whole["offers"]));
    }
    let alone = run(&folder, "negotiate --k 20 --max-level age=1,postcode=2 --partial 1% --not-extended --json").json();
    assert_eq!(alone["outcome"], "offers");
    let bargains = run(&folder, "frontier --partial 10% --json").ends(0).json();
    assert!(bargains["n_annotated"].as_u64() < bargains["n_schemes"].as_u64(), "{bargains}");
    run(&folder, "publish --k 5 --max-suppressed 20% --partial 10% -o release.csv").ends(0);
    run(&folder, "verify release.csv").ends(0);
}

#[test]
fn a_kept_partial_lattice_needs_no_data() {
    let folder = project(&records(500, 3));
    run(&folder, "annotate --partial 10% --k 5 -o part.crowd").ends(0);
    run(&folder, "annotate --on-demand --k 5 -o counts.crowd").ends(0);
    let wish = "negotiate --k 5 --max-suppressed 10% --max-level age=2,postcode=3 --json";
    let whole = run(&folder, wish).json();
    let part = run(&folder, &format!("{wish} --partial 10%")).json();
    std::fs::remove_file(folder.join("table.csv")).expect("it is there");
    let kept = run(&folder, &format!("{wish} --lattice part.crowd")).json();
    assert_eq!(kept, part);
    // From its counts anything can be answered exactly.
    for file in ["counts.crowd", "part.crowd --on-demand"] {
        let mut exact = run(&folder, &format!("{wish} --lattice {file}")).json();
        let how = exact.as_object_mut().expect("a document").remove("on_demand").expect("how it was found");
        assert_eq!(how["is_proved"], true, "{how}");
        assert_eq!(exact, whole);
    }
}

#[test]
fn annotate_says_what_it_chose_and_why() {
    let folder = project(&records(120, 3));
    let partial = run(&folder, "annotate --k 5 --memory 80kB").ends(0);
    assert!(partial.stderr.contains("partial, the best 5 % of the schemes of every height by lambda"), "{partial}");
    assert!(partial.stderr.contains("the whole lattice of 150 schemes would take about 90 kB, and 80 kB"), "{partial}");
    let none = run(&folder, "annotate --k 5 --memory 1kB").ends(0);
    assert!(none.stderr.contains("on demand: ") && none.stdout.contains("none of them annotated"), "{none}");
    assert_eq!(run(&folder, "annotate --on-demand --json").ends(0).json()["extent"], "on-demand");
    for (line, message) in [
        ("annotate --partial 0%", "'0%' is not a share of the schemes"),
        ("annotate --partial 5", "'5' is not a share of the schemes"),
        ("annotate --partial 5% --estimator beta", "unknown estimator 'beta'"),
        ("annotate --partial 5% --full", "cannot be used with"),
        ("frontier --memory 1kB", "not even a part fits"),
        ("study lattice --full", "unexpected argument '--full'"),
        ("study lattice --on-demand", "unexpected argument '--on-demand'"),
        ("study lattice --k 121", "k = 121 is larger than the table"),
    ] {
        let refused = run(&folder, line).ends(2);
        assert!(refused.stderr.contains(message), "{refused}");
    }
}

#[test]
fn the_study_compares_part_and_whole() {
    let folder = project(&records(500, 3));
    let text = run(&folder, "study lattice --partial 5%").ends(0);
    for part in ["average size γ", "gamma-mu", "with the coarsest acceptable", "missed"] {
        assert!(text.stdout.contains(part), "{text}");
    }
    let all = run(&folder, "study lattice --partial 100% --json").ends(0).json();
    assert_eq!(all["requests"].as_array().map(Vec::len), Some(27));
    for summary in all["summary"].as_array().expect("summaries") {
        assert_eq!((&summary["n_missed"], &summary["n_equal"]), (&0.into(), &summary["n_both"]), "{summary}");
    }
}

/// The lattice of a file and the counts that it was made from, as bytes.
fn bytes(path: &Path) -> Vec<u8> {
    let (lattice, _, content): (Lattice, _, _) = saved::read(path, &Work::default()).expect("a lattice");
    let mut bytes = Vec::new();
    let mut write = |more: &[u8]| {
        bytes.extend_from_slice(more);
        Ok(())
    };
    incrowd::lattice::saved::save(&lattice, &content.counts(&Work::default()).expect("counts"), 0, &mut write)
        .expect("memory takes it");
    bytes
}

/// What a file holds after an update, beside what annotating the resulting table gives.
#[track_caller]
fn check_update(annotate: &str, before: &str, update: &[(&str, &str)], after: &str) {
    let folder = project(before);
    run(&folder, &format!("annotate {annotate} -o table.crowd")).ends(0);
    for (flag, records) in update {
        folder.write("change.csv", format!("{HEADER}{records}"));
        let ran = run(&folder, &format!("annotate {flag} change.csv table.crowd --force")).ends(0);
        assert!(ran.stderr.contains("table.crowd written"), "{ran}");
    }
    let fresh = project(after);
    run(&fresh, &format!("annotate {annotate} -o table.crowd")).ends(0);
    assert!(bytes(&folder.join("table.crowd")) == bytes(&fresh.join("table.crowd")), "{annotate}");
    let wish = "negotiate --k 5 --max-suppressed 10% --json --lattice table.crowd";
    assert_eq!(run(&folder, wish).json(), run(&fresh, wish).json());
}

#[test]
fn lattices_follow_their_records_bit_by_bit() {
    // Of so few that changed, only what they are in is rolled up again; of more, everything.
    let (old, new) = (records(300, 3), records(40, 4));
    let with_new_values = format!("{new}19,2000,S,x,plague\n103,1000,S,f,flu\n");
    let (few, many) = ("55,1100,S,f,flu\n".to_string(), records(300, 5));
    for annotate in ["--k 5", "--k 5 --l 2 --t 0.3 --entropy", "--k 5 --partial 10%", "--k 5 --on-demand"] {
        for new in [&new, &with_new_values, &few, &many] {
            let all = format!("{old}{new}");
            check_update(annotate, &old, &[("--append", new)], &all);
            check_update(annotate, &all, &[("--remove", new)], &old);
            check_update(
                annotate,
                &old,
                &[("--append", new), ("--append", &few), ("--remove", new)],
                &format!("{old}{few}"),
            );
        }
    }
}

#[test]
fn updates_that_cannot_be_leave_the_file_as_it_was() {
    let folder = project(&records(300, 3));
    run(&folder, "annotate --k 5 -o table.crowd").ends(0);
    let before = folder.bytes("table.crowd");
    folder.write("stranger.csv", format!("{HEADER}55,1100,S,f,plague\n"));
    folder.write("columns.csv", "age,postcode,ward,disease\n55,1100,S,flu\n");
    folder.write("ward.csv", format!("{HEADER}55,1100,W,f,flu\n"));
    folder.write("empty.csv", HEADER);
    folder.write("all.csv", folder.read("table.csv"));
    for (line, message) in [
        ("annotate --remove stranger.csv table.crowd", "stranger.csv: the record is not among those that were counted"),
        ("annotate --append columns.csv table.crowd", "unknown column 'sex'"),
        (
            "annotate --append ward.csv table.crowd",
            "wards.csv: attribute 'ward': the hierarchy misses 1 value that ward.csv holds",
        ),
        ("annotate --append empty.csv table.crowd", "has column names and no records"),
        ("annotate --append nowhere.csv table.crowd", "there is no such file"),
        ("annotate --append stranger.csv nowhere.crowd", "nowhere.crowd: there is no such file"),
        ("annotate --append stranger.csv table.csv", "is not a saved lattice"),
        ("annotate --remove all.csv table.crowd", "no record would be left"),
        ("annotate --append stranger.csv --partial 5% table.crowd", "cannot be used with"),
    ] {
        let refused = run(&folder, line).ends(2);
        assert!(refused.stderr.contains(message), "{refused}");
        assert!(folder.bytes("table.crowd") == before, "{line}");
    }
    // Elsewhere, and then the first stays too.
    run(&folder, "annotate --append stranger.csv table.crowd -o more.crowd").ends(0);
    assert!(folder.bytes("table.crowd") == before);
    let asked = run(&folder, "negotiate --k 5 --max-suppressed 10% --lattice more.crowd --json");
    assert_eq!(asked.json()["n_records"], 301);
    assert!(asked.stderr.contains("1 file appended and 0 removed"), "{asked}");
    // Data that are not those that were counted.
    folder.write("table.csv", format!("{HEADER}{}", records(301, 3)));
    let refused = run(&folder, "annotate --append stranger.csv table.crowd").ends(2);
    assert!(refused.stderr.contains("the data changed since it was annotated"), "{refused}");
    let damaged = &before[..before.len() - 200];
    folder.write("table.crowd", damaged);
    let refused = run(&folder, "annotate --append stranger.csv table.crowd").ends(2);
    assert!(refused.stderr.contains("damaged"), "{refused}");
    assert!(folder.bytes("table.crowd") == damaged);
}

/// Where anything is wrong with a command, the lattice is as it was.
#[test]
fn an_update_is_refused_before_anything_is_written() {
    let folder = project(&records(200, 3));
    folder.write("new.csv", format!("{HEADER}{}", records(3, 8)));
    run(&folder, "annotate --k 5 -o table.crowd").ends(0);
    let before = folder.bytes("table.crowd");
    for flag in ["--append", "--remove"] {
        for (wrong, message) in [
            ("--t 0.2", "table.crowd: the lattice was annotated without t"),
            ("--t abc", "error: 'abc' is not a number"),
            ("--k 100000", "k = 100000"),
            ("--estimator mu", "cannot be used with"),
        ] {
            let file = if flag == "--append" { "new.csv" } else { "gone.csv" };
            folder.write("gone.csv", format!("{HEADER}{}", records(3, 3)));
            let refused = run(&folder, &format!("annotate {flag} {file} {wrong} table.crowd")).ends(2);
            assert!(refused.stderr.contains(message), "{refused}");
            assert!(folder.bytes("table.crowd") == before, "{refused}");
        }
    }
    // A standing wish that was not measured keeps no records from coming.
    folder.write("incrowd.toml", format!("{PROJECT}[request]\nk = 5\nt = 0.2\n"));
    run(&folder, "annotate --append new.csv table.crowd").ends(0);
    assert!(folder.bytes("table.crowd") != before);
}

/// Nobody appends the same records twice without knowing.
#[test]
fn a_file_that_was_counted_is_appended_again_only_with_force() {
    let folder = project(&records(200, 3));
    let new = format!("{HEADER}{}", records(3, 8));
    folder.write("new.csv", &new);
    folder.write("copy.csv", &new);
    run(&folder, "annotate --k 5 -o table.crowd").ends(0);
    run(&folder, "annotate --append new.csv table.crowd").ends(0);
    let before = folder.bytes("table.crowd");
    for file in ["new.csv", "copy.csv", "table.csv"] {
        let refused = run(&folder, &format!("annotate --append {file} table.crowd")).ends(2);
        assert!(
            refused.stderr.contains(&format!("{file}: was counted before: its records would count twice")),
            "{refused}"
        );
        assert!(refused.stderr.contains("with --force"), "{refused}");
        assert!(folder.bytes("table.crowd") == before, "{refused}");
    }
    let twice = run(&folder, "annotate --append copy.csv table.crowd --force").ends(0);
    assert!(twice.stderr.contains("206 records where there were 203"), "{twice}");
    // What was taken out again may come back.
    run(&folder, "annotate --remove new.csv table.crowd").ends(0);
    run(&folder, "annotate --remove new.csv table.crowd").ends(0);
    run(&folder, "annotate --append new.csv table.crowd").ends(0);
}

/// Counts are kept for searches on demand; they are no lattice, and do not pass as one.
#[test]
fn counts_do_not_pass_as_a_lattice() {
    let folder = project(&records(200, 3));
    let kept = run(&folder, "annotate --on-demand --k 5 -o counts.crowd").ends(0);
    assert!(kept.stdout.contains("150 schemes, none of them annotated"), "{kept}");
    assert!(kept.stdout.contains("combinations are kept in counts.crowd"), "{kept}");
    assert!(!kept.stdout.contains("partial") && !kept.stdout.contains("suppressed"), "{kept}");
    let document = run(&folder, "annotate --on-demand --k 5 -o other.crowd --json").ends(0).json();
    assert_eq!((&document["extent"], &document["n_annotated"]), (&"on-demand".into(), &0.into()));
    let refused = run(&folder, "frontier --lattice counts.crowd").ends(2);
    assert!(refused.stderr.contains("counts.crowd: holds counts and no lattice"), "{refused}");
    assert!(refused.stderr.contains("--partial 5%"), "{refused}");
    run(&folder, "negotiate --k 5 --lattice counts.crowd --max-suppressed 50%").ends(0);
    folder.write("new.csv", format!("{HEADER}{}", records(3, 8)));
    let appended = run(&folder, "annotate --append new.csv counts.crowd").ends(0);
    assert!(
        appended.stdout.contains("203 records") && appended.stdout.contains("none of them annotated"),
        "{appended}"
    );
}

/// One line says what is made, and in sizes that are what was typed.
#[test]
fn what_is_chosen_is_said_once() {
    let folder = project(&records(500, 3));
    let ran = run(&folder, "annotate --k 5 --memory 10KB").ends(0);
    assert!(ran.stderr.contains("and 10 kB are allowed"), "{ran}");
    for memory in ["10kB", "30kB", "60kB", "80kB", "120kB"] {
        let ran = run(&folder, &format!("annotate --k 5 --memory {memory}")).ends(0);
        assert!(ran.stderr.lines().count() <= 1, "{ran}");
    }
}

#[test]
fn a_damaged_lattice_is_named() {
    let folder = project(&records(200, 3));
    folder.write("new.csv", format!("{HEADER}{}", records(1, 8)));
    run(&folder, "annotate --k 5 -o table.crowd").ends(0);
    let bytes = folder.bytes("table.crowd");
    let mut n_refused = 0;
    for at in (0..bytes.len()).step_by(bytes.len() / 40) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        folder.write("flip.crowd", &damaged);
        let ran = run(&folder, "annotate --append new.csv flip.crowd");
        if ran.code == Some(2) {
            assert!(ran.stderr.starts_with("error: flip.crowd: "), "{ran}");
            assert!(folder.bytes("flip.crowd") == damaged, "{ran}");
            n_refused += 1;
        }
    }
    assert!(n_refused > 0);
}
