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
    for nothing in ["--l 1", "--k 1 --l 1", "--alpha 1", "--entropy-l 1 --k 1", "--t 1", "--k 1 --recursive 2,1"] {
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

/// What a column is like: its name, and the value of each record.
type Like = (&'static str, fn(usize) -> String);

/// Columns in which most records have a value of their own.
const FINDING: [Like; 7] = [
    ("ssn", |i| format!("{:03}-{:02}-{:04}", 100 + i % 7, i % 100, 1000 + i)),
    ("number", |i| (70_000 + i * 13).to_string()),
    ("mail", |i| format!("person{i}@example.org")),
    ("lab", |i| format!("{}.{:03}", 3 + i % 5, (i * 7919) % 1000)),
    ("note", |i| format!("seen by dr {} in room {i}", i % 3)),
    // Some have no value, and two in five share one.
    ("phone", |i| if i % 3 == 0 { String::new() } else { format!("0{}", 100_000 + i) }),
    ("partly", |i| if i % 5 < 2 { "none".into() } else { format!("x{i}") }),
];

/// Columns that find nobody, or too few for a rule.
const HARMLESS: [Like; 4] = [
    ("ward", |i| ["north", "south"][i % 2].to_string()),
    ("pay", |i| (1000 + i % 4 * 100).to_string()),
    // Two records each.
    ("couple", |i| format!("c{}", i / 2)),
    ("rare", |i| if i % 3 == 0 { format!("r{i}") } else { "common".into() }),
];

/// Four towns, and a column beside; `about` is what the project says of it, `other` what is done with unnamed columns.
fn with_column((name, value): Like, n_records: usize, about: &str, other: &str) -> Folder {
    let mut data = format!("town,ill,{name}\n");
    for i in 0..n_records {
        data.push_str(&format!("{},{},{}\n", ["A", "B"][i % 2], ["flu", "cold", "gout"][i / 2 % 3], value(i)));
    }
    let project = format!(
        "[data]\npath = \"table.csv\"\nmissing_records = \"keep\"\n{other}\n[attributes.town]\nrole = \"quasi-identifier\"\n\
         [attributes.ill]\nrole = \"sensitive\"\n{about}\n"
    );
    Folder::with(&[("table.csv", &data), ("incrowd.toml", &project)])
}

fn named(name: &str, role: &str, unique: &str) -> String {
    format!("[attributes.{name}]\nrole = \"{role}\"\n{unique}\n")
}

const PUBLISH: &str = "unique = \"publish\"";

#[track_caller]
fn check_found(folder: &Folder, line: &str, name: &str) {
    let before = folder.content();
    let ran = run(folder, line).ends(2);
    assert!(ran.stderr.contains(&format!("column '{name}'")) && ran.stderr.contains("would find people"), "{ran}");
    assert!(ran.stderr.contains("hint: ") && ran.stderr.contains("unique = \"publish\""), "{ran}");
    let shown = ["person", "700", "-1001", "room", "x1"];
    assert!(shown.iter().all(|value| !ran.stderr.contains(value)), "no values: {ran}");
    assert!(folder.content() == before, "{line}: {:?}", folder.names());
}

#[test]
fn a_column_that_finds_people_is_not_published_unless_someone_says_so() {
    for like in FINDING {
        let name = like.0;
        for (about, other) in
            [(String::new(), "other = \"keep\""), (named(name, "other", ""), ""), (named(name, "sensitive", ""), "")]
        {
            let folder = with_column(like, 120, &about, other);
            check_found(&folder, "publish --k 3 --sensitive ill", name);
            check_found(&folder, "publish --k 3 --sensitive ill --output release.parquet", name);
        }
        for role in ["other", "sensitive"] {
            let folder = with_column(like, 120, &named(name, role, PUBLISH), "other = \"keep\"");
            run(&folder, "publish --k 3 --sensitive ill").ends(0);
            run(&folder, "verify release.csv").ends(0);
            assert!(folder.read("release.csv").lines().next().is_some_and(|line| line.contains(name)));
        }
        // Left out, it needs nobody's word.
        for (about, other) in [(String::new(), ""), (named(name, "identifier", ""), "other = \"keep\"")] {
            run(&with_column(like, 120, &about, other), "publish --k 3").ends(0);
        }
    }
}

#[test]
fn it_is_found_by_every_method() {
    let folder = with_column(FINDING[0], 120, "", "other = \"keep\"");
    for method in Method::ALL {
        check_found(&folder, &format!("publish --k 3 --method {}", method.name()), "ssn");
    }
    check_found(&folder, "publish --k 3 --levels town=0", "ssn");
    check_found(&folder, "publish --method per-record --utility-at-least 60%", "ssn");
}

#[test]
fn ten_records_are_enough_for_names_and_numbers_of_people() {
    for like in [FINDING[0], FINDING[1], FINDING[2]] {
        check_found(&with_column(like, 10, "", "other = \"keep\""), "publish --k 2", like.0);
    }
    // Not quite all are different.
    let hours: Like = ("hours", |i| [30, 50, 60, 40, 50, 54, 35, 40, 12, 38][i % 10].to_string());
    run(&with_column(hours, 10, "", "other = \"keep\""), "publish --k 2").ends(0);
    // Ten measurements differ by nature, as do ten sensitive values.
    run(&with_column(FINDING[3], 10, "", "other = \"keep\""), "publish --k 2").ends(0);
    run(&with_column(FINDING[4], 10, &named("note", "sensitive", ""), ""), "publish --k 2 --sensitive ill").ends(0);
}

#[test]
fn columns_that_find_nobody_are_published() {
    for like in HARMLESS {
        for n_records in [10, 120] {
            for (about, other) in [(String::new(), "other = \"keep\""), (named(like.0, "sensitive", ""), "")] {
                run(&with_column(like, n_records, &about, other), "publish --k 2 --sensitive ill").ends(0);
            }
        }
    }
}

#[test]
fn unique_is_said_of_what_is_published_as_it_is() {
    for role in ["identifier", "quasi-identifier"] {
        let ran = run(&with_column(FINDING[0], 20, &named("ssn", role, PUBLISH), ""), "publish --k 2").ends(2);
        assert!(ran.stderr.contains("attributes.ssn.unique") && ran.stderr.contains(role), "{ran}");
    }
    let ran =
        run(&with_column(FINDING[0], 20, &named("ssn", "other", "unique = \"yes\""), ""), "publish --k 2").ends(2);
    assert!(ran.stderr.contains("attributes.ssn.unique"), "{ran}");
}

/// What `init` writes is published as it stands, whatever the columns are like.
#[test]
fn what_init_suggests_is_never_refused_for_it() {
    for (name, value) in FINDING.into_iter().chain(HARMLESS) {
        for named in [name, "salary", "diagnosis", "cost", "customer_id"] {
            let mut data = format!("age,sex,{named}\n");
            (0..300).for_each(|i| {
                data.push_str(&format!("{},{},{}\n", 20 + i % 30, ["f", "m"][i % 2], value(i)));
            });
            let folder = Folder::with(&[("table.csv", &data)]);
            run(&folder, "init table.csv").ends(0);
            let ran = run(&folder, "publish --max-suppressed 50%");
            assert!(!ran.stderr.contains("find people"), "{name} as {named}: {ran}\n{}", folder.read("incrowd.toml"));
            ran.ends(0);
        }
    }
}
