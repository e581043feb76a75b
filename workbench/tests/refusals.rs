//! What is never published, whoever asks and by whatever method: a release that promises nothing, or that finds people by
//! a column that nobody thought of.

use crate::support;

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

/// How far a record that stands alone is from its table: where `c` of `n` records have its value, by t (any two values
/// differ alike) and by β, in millionths, rounded up.
fn alone(c: usize, n: usize) -> (usize, usize) {
    (((n - c) * 1_000_000).div_ceil(n), ((n - c) * 1_000_000).div_ceil(c))
}

fn decimal(millionths: usize) -> String {
    format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000)
}

/// Every front that makes a promise, with these criteria.
fn all_fronts(criteria: &str) -> Vec<String> {
    // Local methods need k, if only to say that there is none.
    let is_possible =
        |method: &String| !method.contains("--method") || criteria.is_empty() || criteria.contains("--k ");
    let methods = all_methods().into_iter().filter(is_possible);
    let publish = methods.map(|method| format!("publish {method} {criteria} --force"));
    let others = [
        format!("publish {criteria} --on-demand --force"),
        format!("publish {criteria} --partial 50% --force"),
        format!("negotiate {criteria}"),
        format!("negotiate {criteria} --on-demand"),
        format!("verify table.csv --quasi-identifiers age,postcode --sensitive disease {criteria}"),
    ];
    publish.chain(others).collect()
}

/// Records whose rarest disease occurs this often, of so many.
fn table_with_rarest(c: usize, n: usize) -> Folder {
    let line = |i: usize| {
        let disease = if i < c { "gout" } else { ["flu", "cold"][i % 2] };
        format!("{},{},{disease}\n", 20 + i % 40, 1000 + i % 7)
    };
    let data = format!("age,postcode,disease\n{}", (0..n).map(line).collect::<String>());
    Folder::with(&[("table.csv", &data), ("incrowd.toml", PROJECT)])
}

/// What every single record would keep on its own hides nobody, whatever it is called.
#[test]
fn what_everybody_keeps_alone_is_refused() {
    let folder = table(200, "");
    for nothing in ["--k 1 --beta 1000000", "--k 1 --t 0.999999", "--t 0.999999", "--k 1 --l 1 --t 0.999999 --beta 999"]
    {
        for line in all_fronts(nothing) {
            check_nothing_promised(&folder, &line);
        }
        check_nothing_promised(&folder, &format!("frontier --over t {nothing} --t 0.999999"));
    }
    let standing = table(200, "[request]\nk = 1\nt = 0.999999\n");
    for line in all_fronts("") {
        if !line.starts_with("verify") {
            check_nothing_promised(&standing, &line);
        }
    }
}

/// The border is exact: a millionth less is a promise to those who have the rarest value.
#[test]
fn a_promise_to_one_record_is_a_promise() {
    for (c, n) in [(3, 91), (1, 60), (20, 61), (7, 49)] {
        let folder = table_with_rarest(c, n);
        let (t, beta) = alone(c, n);
        for (nothing, something) in [
            (format!("--k 1 --t {}", decimal(t)), format!("--k 1 --t {}", decimal(t - 1))),
            (format!("--k 1 --beta {}", decimal(beta)), format!("--k 1 --beta {}", decimal(beta - 1))),
            (
                format!("--t {} --beta {}", decimal(t), decimal(beta)),
                format!("--t {} --beta {}", decimal(t), decimal(beta - 1)),
            ),
        ] {
            for (line, other) in all_fronts(&nothing).into_iter().zip(all_fronts(&something)) {
                check_nothing_promised(&folder, &line);
                let ran = run(&folder, &other);
                assert!(ran.code != Some(2) && !ran.stderr.contains("promises nothing"), "{c} of {n}: {ran}");
            }
        }
        // Every group has every value, however much: whoever stands alone has one.
        run(&folder, "negotiate --k 1 --delta 999 --max-suppressed 50%").ends(0);
        run(&folder, "negotiate --k 1 --enhanced-beta 999 --max-suppressed 50%").ends(0);
    }
}

#[test]
fn where_all_have_one_value_nothing_is_promised_about_it() {
    let folder = table(200, "");
    folder.write(
        "table.csv",
        folder.read("table.csv").replace("cold", "flu").replace("gout", "flu").replace("ulcer", "flu"),
    );
    for criterion in ["--t 0.1", "--delta 0.5", "--beta 0.1", "--enhanced-beta 0.1"] {
        for line in all_fronts(criterion) {
            check_nothing_promised(&folder, &line);
        }
        run(&folder, &format!("publish --k 2 {criterion} --max-suppressed 50% --force")).ends(0);
        run(&folder, "verify release.csv --project .").ends(0);
    }
}

/// How far apart values are is the attribute's distance; with several sensitive attributes, one that hides is enough.
#[test]
fn it_is_measured_with_the_distance_of_each_attribute() {
    let mut data = String::from("age,pay,disease\n");
    for i in 0..60 {
        data.push_str(&format!("{},{},{}\n", 20 + i % 30, 1000 + 100 * (i % 5), ["flu", "cold", "gout"][i % 3]));
    }
    let project = |distance: &str| {
        format!(
            "[data]\npath = \"table.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
             hierarchy = {{ intervals = [5, 10] }}\n[attributes.pay]\nrole = \"sensitive\"\n\
             [attributes.disease]\nrole = \"sensitive\"\n{distance}"
        )
    };
    let folder = Folder::with(&[("table.csv", &data), ("incrowd.toml", &project(""))]);
    // Five values in order, equally frequent: the ends are (0 + 1 + 2 + 3 + 4) / 5 / 4 away from the table.
    check_nothing_promised(&folder, "negotiate --t pay:0.5");
    run(&folder, "negotiate --t pay:0.499999 --max-suppressed 90%").ends(0);
    // Three that are equally far apart: 2/3.
    check_nothing_promised(&folder, "negotiate --t disease:0.666667");
    run(&folder, "negotiate --t disease:0.666666 --max-suppressed 90%").ends(0);
    check_nothing_promised(&folder, "negotiate --t disease:0.666667 --t pay:0.5");
    run(&folder, "negotiate --t disease:0.666667 --t pay:0.499999 --max-suppressed 90%").ends(0);
    // In a tree, flu and cold are half as far: half of 1/3, and 1/3.
    let tree =
        "distance = \"hierarchical\"\nhierarchy = { tree = { chest = [\"flu\", \"cold\"], joints = [\"gout\"] } }\n";
    folder.write("incrowd.toml", project(tree));
    check_nothing_promised(&folder, "negotiate --t disease:0.666667");
    run(&folder, "negotiate --t disease:0.666666 --max-suppressed 90%").ends(0);
    // A record of gout is further off than the others, and 0.6 is a promise to it alone.
    run(&folder, "negotiate --t disease:0.6 --max-suppressed 90%").ends(0);
}

/// Of what a frontier shows, everything promises something.
#[test]
fn a_frontier_ends_where_nothing_is_promised() {
    let folder = table_with_rarest(5, 100);
    for (over, least) in [("t", 0.95), ("beta", 19.0)] {
        let said = run(&folder, &format!("frontier --over {over} --json --max-suppressed 100%")).ends(0).json();
        let values: Vec<f64> =
            said["bargains"].as_array().expect("bargains").iter().filter_map(|b| b[over].as_f64()).collect();
        assert!(!values.is_empty() && values.iter().all(|value| *value < least), "{over}: {values:?}");
    }
    // Beside k they all do.
    run(&folder, "frontier --over t --k 2 --json").ends(0);
}

/// An offer that settles for less than was asked for is no release where that is nothing.
#[test]
fn an_offer_that_promises_nothing_is_not_published() {
    let folder = table(200, "");
    for extent in ["", "--on-demand", "--partial 50%"] {
        let wish = "--k 1 --t 0.3 --max-suppressed 0 --max-level age=0,postcode=0";
        check_nothing_promised(&folder, &format!("publish {wish} --offer privacy {extent}"));
    }
}

/// A lattice in a file promises no more than the table does.
#[test]
fn a_saved_lattice_promises_no_more() {
    let folder = table_with_rarest(5, 100);
    run(&folder, "annotate --k 2 --t 0.5 -o saved.parquet").ends(0);
    check_nothing_promised(&folder, "negotiate --lattice saved.parquet --k 1 --t 0.95");
    run(&folder, "negotiate --lattice saved.parquet --k 1 --t 0.949999 --max-suppressed 50%").ends(0);
    check_nothing_promised(&folder, "frontier --lattice saved.parquet --over t --t 0.95");
    let said = run(&folder, "frontier --lattice saved.parquet --over t --json --max-suppressed 100%").ends(0).json();
    let bargains = said["bargains"].as_array().expect("bargains");
    assert!(bargains.iter().all(|bargain| bargain["t"].as_f64() < Some(0.95)), "{said}");
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
