//! What is never published, whoever asks and by whatever method: a release that promises nothing, or that finds people by
//! a column that nobody thought of.

mod support;

use incrowd::recode::method::Method;
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
[attributes.disease]
role = "sensitive"
"#;

/// A project with this many made-up records; `request` is what its file wishes for.
fn table(n_records: usize, request: &str) -> Folder {
    let mut random = Random(3);
    let mut data = String::from("age,postcode,disease\n");
    for _ in 0..n_records {
        let disease = ["flu", "cold", "gout", "ulcer"][random.below(4)];
        data.push_str(&format!("{},{},{disease}\n", 20 + random.below(40), 1000 + random.below(20)));
    }
    Folder::with(&[("table.csv", &data), ("incrowd.toml", &format!("{PROJECT}{request}"))])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn all_methods() -> Vec<String> {
    let local = Method::ALL.map(|method| format!("--method {}", method.name()));
    ["".to_string(), "--levels age=1".into()].into_iter().chain(local).collect()
}

#[track_caller]
fn check_nothing_promised(folder: &Folder, line: &str) {
    let before = folder.content();
    let ran = run(folder, line).ends(2);
    assert!(ran.stderr.contains("promises nothing: every record may stand alone"), "{ran}");
    assert!(ran.stderr.contains("hint: k = 2 is the least that hides anyone"), "{ran}");
    assert!(folder.content() == before, "{line}: {:?}", folder.names());
}

#[test]
fn a_release_that_promises_nothing_is_refused_by_every_method() {
    let folder = table(200, "");
    for method in all_methods() {
        check_nothing_promised(&folder, &format!("publish {method} --k 1"));
    }
    for nothing in ["--l 1", "--k 1 --l 1", "--alpha 1", "--entropy-l 1 --k 1", "--t 1"] {
        check_nothing_promised(&folder, &format!("publish {nothing}"));
    }
    check_nothing_promised(&folder, "publish --method per-record --utility-at-least 60% --also-k 1");
    check_nothing_promised(&folder, "negotiate --k 1");
    check_nothing_promised(&folder, "frontier --k 1");
    check_nothing_promised(&folder, "verify table.csv --quasi-identifiers age --k 1");
}

#[test]
fn a_standing_wish_that_promises_nothing_is_refused() {
    let folder = table(200, "[request]\nk = 1\n");
    for method in all_methods() {
        check_nothing_promised(&folder, &format!("publish {method}"));
    }
    check_nothing_promised(&folder, "negotiate");
    // Beside another one it promises something.
    run(&folder, "negotiate --l 2 --max-suppressed 50%").ends(0);
}

#[test]
fn what_schemes_lose_at_k_of_1_may_be_asked() {
    let folder = table(200, "");
    let ran = run(&folder, "annotate --k 1 --per-scheme --csv").ends(0);
    assert!(ran.stdout.lines().skip(1).all(|line| line.ends_with(",0")), "{ran}");
    run(&folder, "map --ks 1,5").ends(0);
    run(&folder, "compare --k 1,5").ends(0);
}

#[test]
fn k_of_1_beside_another_criterion_takes_back_the_standing_k() {
    let folder = table(200, "[request]\nk = 150\n");
    // With the standing k nothing of the kind is possible.
    let flags = "--l 2 --levels age=2,postcode=2 --max-suppressed 20%";
    run(&folder, &format!("publish {flags}")).ends(1);
    run(&folder, &format!("publish --k 1 {flags}")).ends(0);
    let certificate = folder.read("release.csv.certificate.json");
    assert!(certificate.contains("\"l\"") && !certificate.contains(": 150"), "{certificate}");
    run(&folder, "verify release.csv").ends(0);
    run(&folder, "publish --method mondrian --k 1 --l 3 --force").ends(0);
    run(&folder, "verify release.csv").ends(0);
}
