//! Local recoding as a user meets it: on Adult, what the utility paper says must come out; on made-up records, every
//! method and flag, whatever goes wrong, and an interruption.

use std::process::Stdio;
use std::time::{Duration, Instant};

use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::task::Task;
use incrowd::{Criteria, Criterion, Measure, Quality, Scheme};
use incrowd_workbench::input::count::{Choice, count};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::orders::contenders::{self, Ask, Contender, ContenderResult, Cost, Questions, weigh};
use incrowd_workbench::orders::local::Local;
use incrowd_workbench::work::Work;
use serde_json::Value;

use crate::support;
use support::{Folder, QUASI_IDENTIFIERS, Ran, Random, adult};

// ---- Adult ----

#[test]
fn local_recoding_loses_less_than_mondrian_and_the_best_scheme() {
    let Some(adult) = adult() else { return };
    let lattice = adult.annotate([], false, &Default::default()).expect("it is small");
    let weights = adult.weights();
    let questions = Questions::new(&adult, contenders::N_QUERIES, 1, None, &Task::default()).expect("queries");
    let level_max = Scheme::new(lattice.schemes().tops().iter().map(|&top| incrowd::Level(top)).collect());
    let ask = Ask {
        counted: &adult,
        weights: &weights,
        level_max: &level_max,
        n_suppressed_max: adult.counts.n_records(),
        seed: 1,
        n_steps: None,
        time: None,
        questions: &questions,
        preview: None,
        lattice: Some((&lattice, Cost::default())),
    };
    let contenders = [
        Contender::Global(Quality::Ncp),
        Contender::Local(Method::Mondrian),
        Contender::Local(Method::TopDown),
        Contender::Local(Method::BottomUp),
    ];
    let ks = [2, 5, 10, 25, 50, 100];
    // Schemes may suppress any number of records, local methods none.
    let local_ask = Ask { n_suppressed_max: 0, ..ask };
    for k in ks {
        let criteria = Criteria::of(Some(k), None);
        let of = |contender: &Contender| {
            let is_global = matches!(contender, Contender::Global(_));
            let ask = if is_global { &ask } else { &local_ask };
            contenders::one(ask, *contender, &criteria, &Task::default()).expect("there are enough records")
        };
        let rows: Vec<ContenderResult> = contenders.iter().map(of).collect();
        let [global, strict, above, below] = &rows[..] else { panic!("a row per method") };
        let ncp = |row: &ContenderResult| row.judgement.ncp;
        let ncps = format!("k = {k}: NCP {:.4} {:.4} {:.4} {:.4}", ncp(below), ncp(above), ncp(strict), ncp(global));
        println!("{ncps}");
        // From below less is lost where k is small, from above where it is large; neither is far from the other.
        assert!(ncp(below) <= 1.15 * ncp(above) && ncp(above) <= 1.2 * ncp(below), "{ncps}");
        assert!(ncp(below).max(ncp(above)) < 0.85 * ncp(strict).min(ncp(global)), "{ncps}");
        let errors = rows.iter().map(|row| row.error.0).collect::<Vec<_>>();
        assert!(below.error.0.max(above.error.0) < strict.error.0.min(global.error.0), "k = {k}: {errors:?}");
        for row in [strict, above, below] {
            assert!(row.holds && row.judgement.n_suppressed == 0 && row.judgement.reached(Measure::Size) >= Some(k));
        }
        // What is judged from the recoding is what the lattice says of the scheme.
        let (scheme, losses) = global.scheme.as_ref().expect("a scheme");
        assert!((losses.ncp - ncp(global)).abs() < 1e-6);
        let outcome = lattice.outcome(lattice.schemes().place(scheme), &Criteria::of(Some(k), None));
        assert!((outcome.ncp - ncp(global)).abs() < 1e-6 && outcome.n_suppressed == global.judgement.n_suppressed);
        assert!(outcome.n_groups == global.judgement.n_groups as u64);
        // No scheme is better than the one that is compared with.
        let criteria = Criteria::of(Some(k), None);
        let best = (0..lattice.schemes().len()).map(|place| lattice.outcome(place, &criteria).ncp).fold(1.0, f64::min);
        assert!((best - ncp(global)).abs() < 1e-6);
    }
}

/// t-closeness where a few groups of young people would spoil it: hardly more is lost than for k alone.
#[test]
fn closeness_costs_little_on_adult() {
    let Some(adult) = adult() else { return };
    for (t, at_most) in [(200_000, 0.08), (150_000, 0.08)] {
        let criteria = Criteria::new([Criterion::k(10), Criterion { measure: Measure::Closeness(0), value: t }]);
        for method in Method::KEEPING_L {
            let made = Local::new(method).make(&adult, &criteria, &Task::default()).expect("enough records");
            println!("t = {t}, {}: NCP {:.4}", method.name(), made.judgement.ncp);
            assert!(made.missed().is_empty() && made.judgement.n_suppressed == 0);
            let is_near = matches!(method, Method::TopDown | Method::BottomUp);
            assert!(!is_near || made.judgement.ncp < at_most, "{}", made.judgement.ncp);
        }
    }
}

/// One record in a hundred may go: what is lost falls, those that went included.
#[test]
fn leaving_records_out_loses_less_on_adult() {
    let Some(adult) = adult() else { return };
    let close = Criterion { measure: Measure::Closeness(0), value: 200_000 };
    for criteria in [Criteria::new([Criterion::k(10)]), Criteria::new([Criterion::k(10), close])] {
        for method in Method::KEEPING_L {
            let made = |n_suppressed_max: u64| {
                let local = Local { n_suppressed_max, ..Local::new(method) };
                local.make(&adult, &criteria, &Task::default()).expect("enough records")
            };
            let (all, less) = (made(0), made(301));
            let (ncp, n) = (less.judgement.ncp, less.judgement.n_suppressed);
            println!("{}: NCP {:.4}, {ncp:.4} without {n} records", method.name(), all.judgement.ncp);
            assert!(less.missed().is_empty() && all.missed().is_empty());
            assert!(n <= 301 && all.judgement.n_suppressed == 0 && ncp <= all.judgement.ncp);
            // A cut of the tree leaves out whole nodes, of which none may pay.
            assert!(method == Method::Negotiated || (n > 0 && ncp < all.judgement.ncp));
        }
    }
}

/// Where labels are published, groups are made for labels.
#[test]
fn labels_lose_less_where_groups_are_made_for_them() {
    let Some(adult) = adult() else { return };
    let (counts, hierarchies, weights) = (&adult.counts, &adult.hierarchies[..], &adult.weights()[..]);
    let criteria = Criteria::new([Criterion::k(10)]);
    for method in Method::KEEPING_L {
        let least = incrowd::recode::partition::Least::of(10, None);
        let assignment =
            incrowd::recode::method::Assignment { counts, hierarchies, weights, least, seed: 0, n_exchanges: 0 };
        let recoding = method.recode(&assignment, CellStyle::Labels, &Task::default()).expect("enough records");
        let yardstick = adult.yardstick([]).expect("sizes");
        let of_ranges =
            incrowd::judge::judge(counts, hierarchies, weights, &yardstick, &recoding).expect("it fits").ncp;
        let local = Local { style: CellStyle::Labels, ..Local::new(method) };
        let of_labels = local.make(&adult, &criteria, &Task::default()).expect("enough records").judgement.ncp;
        println!("{}: NCP {of_ranges:.4} made for ranges and labelled, {of_labels:.4} made for labels", method.name());
        match method {
            Method::MondrianRelaxed => assert_eq!(of_labels, of_ranges, "its groups are those of ranges"),
            _ => assert!(of_labels < 0.9 * of_ranges),
        }
    }
}

#[test]
fn groups_from_below_have_between_k_and_2k_minus_1_records() {
    let Some(adult) = adult() else { return };
    for k in [2, 5, 10, 25, 50, 100] {
        let least = incrowd::recode::partition::Least::of(k, None);
        let (counts, hierarchies, weights) = (&adult.counts, &adult.hierarchies[..], &adult.weights()[..]);
        let assignment =
            incrowd::recode::method::Assignment { counts, hierarchies, weights, least, seed: 0, n_exchanges: 0 };
        let found = Method::BottomUp.partition(&assignment, &Default::default()).expect("there are enough records");
        assert!(found.sizes().all(|size| (k..2 * k).contains(&size)), "k = {k}");
    }
    // Diversity is kept too, by every method.
    for method in Method::KEEPING_L {
        let criteria = Criteria::of(Some(5), Some(4));
        let made = Local::new(method).make(&adult, &criteria, &Task::default()).expect("there are enough values");
        assert!(made.missed().is_empty() && made.judgement.reached(Measure::Distinct(0)) >= Some(4));
    }
}

#[test]
fn weight_moves_loss_and_error_from_an_attribute_to_the_others() {
    let Some(adult) = adult() else { return };
    let attribute = QUASI_IDENTIFIERS.iter().position(|name| *name == "age").expect("it is one");
    for method in [Method::TopDown, Method::BottomUp] {
        let criteria = Criteria::of(Some(10), None);
        let steps = weigh(&adult, &Local::new(method), &criteria, attribute, &Task::default()).expect("good weights");
        for (less, more) in steps.iter().zip(&steps[1..]) {
            let words = format!("{} weight {} → {}", method.name(), less.weight, more.weight);
            assert!(more.ncp < less.ncp && more.ncp_of_others > less.ncp_of_others, "{words}");
        }
        let [first, .., last] = &steps[..] else { panic!("several weights") };
        assert!(last.ncp < 0.2 * first.ncp && last.error < 0.5 * first.error, "{}", method.name());
        assert!(last.error_of_others > first.error_of_others, "{}", method.name());
    }
}

// ---- Made-up records ----

const PROJECT: &str = r#"
[data]
path = "people.csv"
missing = [""]
missing_records = "keep"

[attributes.name]
role = "identifier"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20] }
weight = 2.0

[attributes.born]
role = "quasi-identifier"
hierarchy = { dates = ["year"] }

[attributes.job]
role = "quasi-identifier"
hierarchy = "jobs.csv"

[attributes.sex]
role = "quasi-identifier"

[attributes.disease]
role = "sensitive"
"#;

const JOBS: &str = "nurse;health;*\nsurgeon;health;*\nteacher;school;*\nporter;other;*\n";

/// People with missing values here and there.
fn records(n_records: usize) -> Vec<String> {
    let mut random = Random(5);
    let record = |i: usize| {
        let age = if random.below(30) == 0 { String::new() } else { (18 + random.below(60)).to_string() };
        let born = format!("19{:02}-0{}-1{}", 20 + random.below(60), 1 + random.below(9), random.below(9));
        let job = ["nurse", "surgeon", "teacher", "porter"][random.below(4)];
        let sex = ["f", "m"][random.below(2)];
        let disease = ["flu", "gout", "asthma", "cold", "angina"][random.below(5)];
        format!("p{i},{age},{born},{job},{sex},{disease}\n")
    };
    (0..n_records).map(record).collect()
}

fn people(n_records: usize) -> Folder {
    let csv = format!("name,age,born,job,sex,disease\n{}", records(n_records).concat());
    Folder::with(&[("people.csv", &csv), ("jobs.csv", JOBS), ("incrowd.toml", PROJECT)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn certificate(folder: &Folder, release: &str) -> Value {
    serde_json::from_str(&folder.read(&format!("{release}.certificate.json"))).expect("a certificate is JSON")
}

#[test]
fn every_method_and_style_is_published_and_verified() {
    let folder = people(600);
    for method in Method::KEEPING_L.map(Method::name) {
        for style in CellStyle::ALL.map(CellStyle::name) {
            for ending in ["csv", "parquet"] {
                let release = format!("{method}-{style}.{ending}");
                let seed = if method == "top-down" { "--seed 9" } else { "" };
                let line = format!("publish --method {method} --k 5 --l 2 --cells {style} {seed} -o {release}");
                run(&folder, &line).ends(0);
                let ran = run(&folder, &format!("verify {release} --json")).ends(0);
                let verdict = ran.json();
                assert_eq!(verdict["holds"], true, "{release}");
                assert!(
                    verdict["smallest_group"].as_u64() >= Some(5) && verdict["fewest_distinct"].as_u64() >= Some(2)
                );
                let certificate = certificate(&folder, &release);
                assert_eq!(certificate["method"], method);
                assert_eq!(certificate["cells"], style);
                assert_eq!(certificate["choice"], "method");
                // Only top-down makes random choices.
                assert_eq!(certificate["seed"].as_u64(), (method == "top-down").then_some(9));
                assert_eq!((&certificate["levels"], &certificate["height"]), (&Value::Null, &Value::Null));
                assert_eq!(certificate["n_records_suppressed"], 0);
                assert_eq!(certificate["request"], serde_json::json!({ "k": 5, "l": 2 }));
            }
        }
        let report = folder.read(&format!("{method}-ranges.csv.report.html"));
        assert!(report.contains("The promise holds.") && report.contains(method) && report.contains("ranges"));
        let cells = |style: &str| folder.read(&format!("{method}-{style}.csv"));
        assert!(cells("ranges").contains("[") && !cells("midpoints").contains("["));
        assert!(cells("sets").contains("\"{") && cells("labels").contains(",*,"));
    }
}

#[test]
fn numbers_can_have_two_columns() {
    let folder = people(600);
    run(&folder, "publish --method bottom-up --k 5 --two-columns -o two.csv").ends(0);
    run(&folder, "verify two.csv").ends(0);
    let release = folder.read("two.csv");
    assert!(release.starts_with("age_low,age_high,born_low,born_high,job,sex,disease\n"), "{release}");
    let names = ["age_low", "age_high", "born_low", "born_high", "job", "sex"];
    assert_eq!(certificate(&folder, "two.csv")["quasi_identifiers"], serde_json::json!(names));
    for line in release.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        assert!(cells[0].is_empty() == cells[1].is_empty() && cells[2] <= cells[3], "{line}");
        let numbers = [cells[0], cells[1]].map(|cell| cell.parse::<u32>().ok());
        assert!(numbers[0] <= numbers[1], "{line}");
    }
    run(&folder, "publish --method bottom-up --k 5 --two-columns -o two.parquet").ends(0);
    run(&folder, "verify two.parquet").ends(0);
}

#[test]
fn a_release_depends_on_table_and_seed_alone() {
    let folder = people(600);
    let publish = |flags: &str| {
        run(&folder, &format!("publish --method top-down --k 4 --force {flags}")).ends(0);
        folder.bytes("release.csv")
    };
    let first = publish("--seed 1 --threads 1");
    assert!(first == publish("--seed 1 --threads 2"));
    assert!(first != publish("--seed 2"), "another seed makes other choices");
    let mut shuffled = records(600);
    Random(3).shuffle(&mut shuffled);
    folder.write("people.csv", format!("name,age,born,job,sex,disease\n{}", shuffled.concat()));
    assert!(first == publish("--seed 1"), "the order of the table decides nothing");
}

#[test]
fn every_method_keeps_every_criterion() {
    let folder = people(300);
    let wishes = [
        "--k 3 --t 0.05",
        "--k 3 --entropy-l 3 --alpha 0.5",
        "--l 2 --recursive 2,3",
        "--k 2 --delta 1.2",
        "--k 4 --beta 0.8 --enhanced-beta 0.9",
        "--t 0.1",
    ];
    for method in Method::KEEPING_L.map(Method::name) {
        for (i, wish) in wishes.iter().enumerate() {
            let release = format!("{method}-{i}.csv");
            run(&folder, &format!("publish --method {method} {wish} -o {release}")).ends(0);
            assert_eq!(certificate(&folder, &release)["n_records_published"], 300);
            let verdict = run(&folder, &format!("verify {release} --json")).ends(0).json();
            assert!(verdict["holds"] == true && verdict["n_groups"].as_u64() > Some(1), "{release} {verdict}");
        }
        // The order of the table and the number of threads decide nothing.
        let again = format!("publish --method {method} {} --threads 1 -o again.csv --force", wishes[0]);
        let mut shuffled = records(300);
        Random(3).shuffle(&mut shuffled);
        let table = folder.read("people.csv");
        folder.write("people.csv", format!("name,age,born,job,sex,disease\n{}", shuffled.concat()));
        run(&folder, &again).ends(0);
        folder.write("people.csv", table);
        assert!(folder.bytes("again.csv") == folder.bytes(&format!("{method}-0.csv")), "{method}");
    }
}

#[test]
fn records_may_be_left_out_where_that_loses_less() {
    let folder = people(300);
    // Some who stand out.
    let odd: String = (0..4).map(|i| format!("odd{i},{},1901-01-0{},porter,f,flu\n", 99 + i, i + 1)).collect();
    let with_odd = format!("{}{odd}", folder.read("people.csv"));
    for method in Method::KEEPING_L.map(Method::name) {
        folder.write("people.csv", &with_odd);
        let publish = |name: &str, flags: &str| {
            let line = format!("publish --method {method} --k 5 --t 0.5 --force -o {name} {flags} --json");
            let document = run(&folder, &line).ends(0).json();
            document["loss"]["ncp"].as_f64().unwrap_or_else(|| panic!("{document}"))
        };
        let (all, less) = (publish("all.csv", ""), publish("less.csv", "--max-suppressed 3%"));
        let n = certificate(&folder, "less.csv")["n_records_suppressed"].as_u64().expect("a number");
        assert!(less <= all && n <= 9, "{method}: {less} {all} {n}");
        assert!(method == Method::Negotiated.name() || (less < all && n > 0), "{method}: {less} {all} {n}");
        assert_eq!(certificate(&folder, "less.csv")["request"]["max_suppressed"], 9);
        assert_eq!(certificate(&folder, "all.csv")["request"]["max_suppressed"], Value::Null);
        run(&folder, "verify less.csv --project .").ends(0);
        assert_eq!(folder.read("less.csv").lines().count() as u64, 1 + 304 - n);
        // The order of the table and the number of threads decide nothing.
        let mut lines: Vec<String> = with_odd.lines().skip(1).map(|line| format!("{line}\n")).collect();
        Random(5).shuffle(&mut lines);
        folder.write("people.csv", format!("name,age,born,job,sex,disease\n{}", lines.concat()));
        publish("again.csv", "--max-suppressed 3% --threads 1");
        assert!(folder.bytes("again.csv") == folder.bytes("less.csv"), "{method}");
    }
}

#[test]
fn what_not_even_the_table_keeps_is_said() {
    let folder = people(300);
    let before = folder.content();
    for method in Method::KEEPING_L.map(Method::name) {
        let line = format!("publish --method {method} --k 3 --alpha 0.201");
        let ran = run(&folder, &line).ends(1);
        assert!(ran.stdout.contains("1 of 1 group of") && ran.stdout.contains("miss alpha = 0.201"), "{ran}");
        assert!(ran.stderr.contains("Nothing was published: not even all records as one group"), "{ran}");
        let document = run(&folder, &format!("{line} --json")).ends(1).json();
        assert!(document["published"] == false && document["missed"]["alpha"].as_f64() > Some(0.201), "{document}");
    }
    assert!(folder.content() == before, "{:?}", folder.names());
    // Dealing keeps k, and looks at the rest.
    let ran = run(&folder, "publish --method deal --k 3 --alpha 0.201").ends(1);
    assert!(ran.stderr.contains("dealing keeps k by construction"), "{ran}");
}

/// Runs a command that must fail: exit 2, these words and a hint on stderr, nothing written, no cell shown.
#[track_caller]
fn check_refused(folder: &Folder, line: &str, words: &str) {
    let before = folder.content();
    let ran = run(folder, line).ends(2);
    assert!(ran.stderr.contains(words) && ran.stderr.contains("hint: "), "{ran}");
    assert!(!["surgeon", "angina", "p17"].iter().any(|cell| ran.stderr.contains(cell)), "{ran}");
    assert!(folder.content() == before, "{:?}", folder.names());
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let folder = people(60);
    for method in Method::KEEPING_L.map(Method::name) {
        let check =
            |flags: &str, words: &str| check_refused(&folder, &format!("publish --method {method} {flags}"), words);
        check("--k 61", "k = 61 is larger than the table, which has 60 records");
        check("", "needs k or l");
        check("--k 0", "k must be at least 1");
        check("--l 9 --k 2", "l = 9");
        check("--k 3 --k-map 3", "k_map cannot be promised");
        check("--k 3 --levels age=1", "--levels is about levels");
        check("--k 3 --offer height", "--offer is about levels");
        check("--k 3 --max-level age=1", "--max-level is about levels");
        check("--k 3 --best-by ncp", "--best-by is about levels");
        check("--k 3 --two-columns --cells midpoints", "--two-columns would say more");
    }
    check_refused(&folder, "publish --k 3 --seed 1", "--seed is about local methods");
    check_refused(&folder, "publish --k 3 --cells sets", "--cells is about local methods");
    check_refused(&folder, "compare", "k is missing");
    check_refused(&folder, "compare --k 61", "k = 61 is larger");
    check_refused(&folder, "compare --k 3 --methods topdown", "did you mean 'top-down'?");
    check_refused(&folder, "compare --k 3 --vary-weight agee", "did you mean 'age'?");
    check_refused(&folder, "compare --k 3 --queries none.txt", "there is no such file");
    check_refused(&folder, "compare --k 3 -o methods.png", "a chart is written as .html");
    folder.write("queries.txt", "age in 20..30\nage in many\n");
    check_refused(&folder, "compare --k 3 --queries queries.txt", "queries.txt:2:8");
    folder.write("queries.txt", "# nothing yet\n");
    check_refused(&folder, "compare --k 3 --queries queries.txt", "holds no query");

    let weights = |from: &str, to: &str| folder.write("incrowd.toml", PROJECT.replace(from, to));
    weights("weight = 2.0", "weight = -1");
    check_refused(&folder, "publish --method top-down --k 3", "weight must be a number of at least 0");
    let all_zero = PROJECT
        .replace("weight = 2.0\n", "")
        .replace("role = \"quasi-identifier\"", "role = \"quasi-identifier\"\nweight = 0");
    folder.write("incrowd.toml", all_zero);
    check_refused(&folder, "publish --method top-down --k 3", "needs a weight above 0");
    check_refused(&folder, "compare --k 3", "needs a weight above 0");
    // A value that is no number where intervals are asked for.
    folder.write("incrowd.toml", PROJECT);
    folder.write("people.csv", folder.read("people.csv").replacen("p17,", "p17,about ", 1));
    check_refused(&folder, "publish --method top-down --k 3", "attribute 'age'");
}

#[test]
fn an_attribute_without_hierarchy_is_allowed_and_said() {
    let folder = people(60);
    let words = "attribute 'sex' has no hierarchy: a group with several of its values says *";
    let ran = run(&folder, "publish --method top-down --k 30").ends(0);
    assert!(ran.stderr.contains(words), "{ran}");
    let ran = run(&folder, "publish --method top-down --k 30 --cells sets --force").ends(0);
    assert!(!ran.stderr.contains(words) && folder.read("release.csv").contains("\"{f,m}\""), "{ran}");
    // Numbers with something else among them are words, and that is said too.
    let project = PROJECT.replace("hierarchy = { intervals = [10, 20] }\n", "");
    folder.write("incrowd.toml", project);
    folder.write("people.csv", folder.read("people.csv").replacen("p17,", "p17,about ", 1));
    let ran = run(&folder, "publish --method top-down --k 30 --force").ends(0);
    assert!(ran.stderr.contains("attribute 'age' has no hierarchy, and 1 of its"), "{ran}");
}

#[test]
fn methods_are_compared() {
    let folder = people(400);
    folder.write("own.txt", "age in 30..39 and sex = f\njob in health | porter  # two kinds\nage >= 200\n");
    let document = run(&folder, "compare --k 4,20 --l 2 --queries own.txt --seed 3 --json").ends(0).json();
    let rows = document["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 2 * 10);
    let names: Vec<&str> = rows[..10].iter().map(|row| row["method"].as_str().expect("a name")).collect();
    let local = ["top-down", "bottom-up", "mondrian", "mondrian-relaxed", "negotiated", "cells", "deal", "deal-plain"];
    assert_eq!(names, [&["global:height", "global:ncp"], &local[..]].concat());
    for row in rows {
        let number =
            |pointer: &str| row.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer} {row}"));
        assert_eq!(row["holds"], true, "{row}");
        assert!(number("/reached/k") >= number("/k") && number("/reached/l") >= 2.0 && number("/reached/t") > 0.0);
        assert!((0.0..=1.0).contains(&number("/loss/ncp")) && number("/loss/discernibility") >= 400.0);
        assert!(number("/query_error/median") <= number("/query_error/p90"));
        let kinds = row["query_error"]["by_kind"].as_array().expect("kinds");
        assert_eq!(kinds.len(), 9);
        assert!(kinds.iter().all(|kind| kind["n_queries"] == 1_000));
        assert!(number("/risk/highest") <= 1.0 / number("/k") && number("/risk/average") > 0.0);
        assert_eq!(row["own_query_error"]["answers"].as_array().map(Vec::len), Some(3));
        assert_eq!(row["own_query_error"]["answers"][2], serde_json::json!([0, 0.0]));
        // Weighted: age counts twice.
        let of = |name: &str| number(&format!("/ncp_of_attribute/{name}"));
        let mean = (2.0 * of("age") + of("born") + of("job") + of("sex")) / 5.0;
        assert!((mean - number("/loss/ncp")).abs() < 1e-5, "{row}");
        assert!(number("/cpu_seconds") >= 0.0);
    }
    // The same seed, the same numbers; whatever it takes.
    let again = run(&folder, "compare --k 4,20 --l 2 --queries own.txt --seed 3 --threads 1 --json").ends(0).json();
    let without_cost = |document: &Value| {
        let mut document = document.clone();
        for row in document["rows"].as_array_mut().expect("rows") {
            for key in ["seconds", "cpu_seconds", "peak_bytes"] {
                row[key] = Value::Null;
            }
        }
        document
    };
    assert_eq!(without_cost(&document), without_cost(&again));

    let csv = run(&folder, "compare --k 4,20 --methods top-down,global:entropy --csv").ends(0).stdout;
    assert!(csv.starts_with("k,method,holds,ncp,ncp:age,ncp:born,ncp:job,ncp:sex,query_error_median,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 * 2);
    let text = run(&folder, "compare --k 4 --vary-weight age").ends(0).stdout;
    assert!(text.contains("NCP of") && text.contains("weight of age"), "{text}");
    run(&folder, "compare -o methods.html --vary-weight job --n-queries 20").ends(0);
    let page = folder.read("methods.html");
    // Four charts over k, two of what analysts look at, and the weight.
    assert_eq!(page.matches("<svg").count(), 7);
    assert!(page.contains("k = 100") && page.contains("More weight for job") && !page.contains("<script"));
    check_refused(&folder, "compare --k 4 -o methods.html", "is there already");
}

/// The estimate that the command prints for an analyst's query, by hand.
#[test]
fn own_queries_are_answered_evenly_within_boxes() {
    let csv = "age,sex\n20,f\n21,f\n28,m\n29,m\n";
    let project = "[data]\npath = \"t.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n[attributes.sex]\nrole = \"quasi-identifier\"\n";
    let folder = Folder::with(&[
        ("t.csv", csv),
        ("incrowd.toml", project),
        ("q.txt", "age in 20..24\nsex = f\nage <= 20 and sex = m\n"),
    ]);
    let document = run(&folder, "compare --k 4 --methods bottom-up --queries q.txt --json").ends(0).json();
    // One group: ages 20 to 29, both sexes. Five of ten years; one of two; one of ten years and one of two.
    let expected = serde_json::json!([[2, 2.0], [2, 2.0], [0, 0.2]]);
    assert_eq!(document["rows"][0]["own_query_error"]["answers"], expected);
}

/// Ctrl-C at any moment: the release is there whole, or nothing is.
#[test]
fn an_interrupted_publish_leaves_nothing_behind() {
    let folder = people(6_000);
    let before = folder.content();
    let remove_release = || {
        for ending in ["", ".certificate.json", ".report.html"] {
            let _ = std::fs::remove_file(folder.join(&format!("release.csv{ending}")));
        }
    };
    for method in ["bottom-up", "top-down"] {
        let publish = ["publish", "--method", method, "--k", "5", "-o", "release.csv"];
        let started = Instant::now();
        folder.run(&publish).ends(0);
        let duration = started.elapsed();
        let mut n_interrupted = 0;
        for i in 0..6 {
            remove_release();
            let mut child =
                folder.command(&publish).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
            std::thread::sleep(duration.mul_f64(f64::from(i) / 6.0).max(Duration::from_millis(2)));
            let pid = rustix::process::Pid::from_child(&child);
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
            let status = child.wait().expect("it ends");
            n_interrupted += usize::from(!status.success());
            match folder.has("release.csv") {
                true => drop(folder.run(&["verify", "release.csv"]).ends(0)),
                false => assert!(folder.content() == before && !status.success(), "{method} {i}: {:?}", folder.names()),
            }
        }
        assert!(n_interrupted >= 2, "only {n_interrupted} were interrupted in time");
        remove_release();
    }
}

#[test]
fn work_that_is_stopped_says_so() {
    let folder = people(600);
    let project = Project::open(folder.path()).expect("a project");
    let counted = count(&project, &Choice::default(), &Work::default()).expect("it can be counted");
    for method in Method::KEEPING_L {
        let stopped = Task { is_cancelled: &|| true, ..Task::default() };
        let criteria = Criteria::new([Criterion::k(5)]);
        let error = Local::new(method).make(&counted, &criteria, &stopped).err().expect("it was stopped");
        assert_eq!(error.kind(), incrowd::ErrorKind::Cancelled);
    }
}
