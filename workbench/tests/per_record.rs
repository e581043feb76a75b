//! Records generalized one by one, and risk, as a user asks for them.

use crate::support;

use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::record::Landscape;
use incrowd::recode::per_record::search::optimum_by;
use incrowd::recode::per_record::{Goal, Point, Problem, Risk, Sensitivities, Strategy, Utility, Wish, recode};
use incrowd::scheme::Schemes;
use incrowd::task::Task;
use rayon::prelude::*;
use serde_json::{Value, json};
use support::{Folder, Ran, Random};

const PROJECT: &str = r#"
[data]
path = "people.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20], origin = 0 }

[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }

# Age and disease come from one number below, so that one tells a third of the other.
[attributes.disease]
role = "sensitive"
tells = "accepted"
"#;

fn people(n_records: usize) -> Folder {
    let record = |i: usize| {
        let city = ["Oslo", "Umea", "Rome", "Pisa"][(i * 7 / 3) % 4];
        format!("{},{city},{}\n", 20 + (i * 13) % 60, ["flu", "ulcer", "gastritis"][(i * 5) % 3])
    };
    let csv = format!("age,city,disease\n{}", (0..n_records).map(record).collect::<String>());
    Folder::with(&[("people.csv", &csv), ("incrowd.toml", PROJECT)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn certificate(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("r.csv.certificate.json")).expect("a certificate is JSON")
}

#[test]
fn a_release_of_single_records_promises_no_k_and_says_so() {
    let folder = people(200);
    let line = "publish --method per-record --utility-at-least 50% --weights-seed 3 -o r.csv --json";
    let said = run(&folder, line).ends(0).json();
    assert_eq!((said["n_records_published"].as_u64(), said["n_records_suppressed"].as_u64()), (Some(200), Some(0)));
    let certificate = certificate(&folder);
    assert_eq!(certificate["criteria"], json!({}));
    assert_eq!(certificate["seed"], 3);
    assert!(certificate["per_record"].get("risk").is_none() && certificate["per_record"].get("utility").is_none());
    let per_record = &said["per_record"];
    assert!(per_record["statement"].as_str().expect("a text").contains("not k-anonymous"));
    // Three steps for each attribute but one for the tree: five in all; half of them is more than two.
    assert_eq!(per_record["greatest_utility"], 5.0);
    assert!(per_record["utility"]["least"].as_f64() >= Some(3.0), "{per_record}");
    assert!(folder.read("r.csv.report.html").contains("No k is promised."));
    assert!(folder.read("r.csv.report.html").contains("not k-anonymous"));
    let verdict = run(&folder, "verify r.csv --json").ends(0).json();
    assert_eq!(verdict["holds"], true);
    // Whoever asks the file for k gets an honest no.
    run(&folder, "verify r.csv --quasi-identifiers age,city --k 50 --json").ends(1);
}

#[test]
fn a_broken_claim_about_single_records_is_found() {
    let folder = people(200);
    run(&folder, "publish --method per-record --utility-at-least 3 -o r.csv").ends(0);
    let text = folder.read("r.csv.certificate.json");
    for (what, instead) in [
        ("\"also_k\": null", "\"also_k\": 5"),
        ("is not k-anonymous", "is k-anonymous"),
        ("\"n_records_published\": 200", "\"n_records_published\": 199"),
    ] {
        assert!(text.contains(what), "{what}");
        folder.write("r.csv.certificate.json", text.replace(what, instead));
        assert_eq!(run(&folder, "verify r.csv --json").ends(1).json()["holds"], false, "{what}");
    }
}

#[test]
fn also_k_keeps_k() {
    let folder = people(200);
    run(&folder, "publish --method per-record --utility-at-least 60% --also-k 7 -o r.csv").ends(0);
    let verdict = run(&folder, "verify r.csv --json").ends(0).json();
    assert!(verdict["smallest_group"].as_u64() >= Some(7), "{verdict}");
    assert_eq!(certificate(&folder)["criteria"]["k"]["promised"], 7);
}

#[test]
fn the_dual_and_the_scalar_form() {
    let folder = people(200);
    let line = "publish --method per-record --risk identity --risk-at-most 0.2 -o r.csv --json";
    let said = run(&folder, line).ends(0).json();
    let greatest = &said["per_record"]["risk"]["greatest"];
    assert!(greatest.as_f64() <= Some(0.2), "{greatest}");
    run(&folder, "publish --method per-record --utility log-leaves --risk entropic --lambda 0.1 -o r.csv --force")
        .ends(0);
    run(&folder, "publish --method per-record --risk identity --risk-at-most 0.0001 -o s.csv --json").ends(1);
    assert!(!folder.has("s.csv"));
}

// ---- What is published of each record, against a definition written naively ----

/// Records of three attributes, each of them twice, beside a number that says which they are.
struct Naive {
    /// By attribute: each value with its labels, from the value itself to the top.
    rows: [Vec<Vec<String>>; 3],
    /// The values of each record, as places in these.
    records: Vec<[usize; 3]>,
}

impl Naive {
    /// With `repeats`, the hierarchies repeat labels (`White;White;*`), so that not every level is a step.
    fn new(seed: u64, repeats: bool) -> Naive {
        let mut random = Random(seed);
        let rows = [0, 1, 2].map(|a: usize| {
            let mut of_value = |value: usize| {
                let exact = format!("v{a}{value}");
                let middle = if repeats && random.below(2) == 0 { exact.clone() } else { format!("m{a}{}", value / 2) };
                // Values of one upper label are those of one half; whoever keeps its own name keeps it alone.
                let upper =
                    if middle == exact && random.below(2) == 0 { exact.clone() } else { format!("u{a}{}", value / 4) };
                vec![exact, middle, upper, "*".to_string()]
            };
            (0..8).map(&mut of_value).collect::<Vec<_>>()
        });
        let records = (0..14).map(|_| [0, 1, 2].map(|_| random.below(8))).collect();
        Naive { rows, records }
    }

    fn folder(&self) -> Folder {
        let folder = Folder::new();
        let mut project = "[data]\npath = \"table.csv\"\nother = \"keep\"\n".to_string();
        for (a, rows) in self.rows.iter().enumerate() {
            let lines: String = rows.iter().map(|labels| format!("{}\n", labels.join(";"))).collect();
            folder.write(&format!("a{a}.csv"), lines);
            project.push_str(&format!("[attributes.a{a}]\nrole = \"quasi-identifier\"\nhierarchy = \"a{a}.csv\"\n"));
        }
        let line = |(i, record): (usize, &[usize; 3])| {
            let cells = self.cells(record, [0; 3]).join(",");
            format!("{cells},{i}\n{cells},{i}\n")
        };
        let lines: String = self.records.iter().enumerate().map(line).collect();
        folder.write("table.csv", format!("a0,a1,a2,who\n{lines}"));
        folder.write("incrowd.toml", project);
        folder
    }

    fn cells(&self, record: &[usize; 3], levels: [usize; 3]) -> [&str; 3] {
        [0, 1, 2].map(|a| self.rows[a][record[a]][levels[a]].as_str())
    }

    /// How many steps a record's cells are below the top; a level that repeats a label is none.
    fn utility(&self, record: &[usize; 3], cells: [&str; 3]) -> usize {
        let steps = |a: usize| {
            let labels = &self.rows[a][record[a]];
            let first = labels.iter().position(|label| label == cells[a]).expect("a label of the value");
            labels[first..].windows(2).filter(|pair| pair[0] != pair[1]).count()
        };
        (0..3).map(steps).sum()
    }

    /// How many records the cells fit: the risk is one over it.
    fn n_fitting(&self, cells: [&str; 3]) -> usize {
        let fits = |record: &&[usize; 3]| (0..3).all(|a| self.rows[a][record[a]].iter().any(|label| label == cells[a]));
        2 * self.records.iter().filter(fits).count()
    }

    /// Utility and number of records that fit, of every generalization of a record.
    fn all(&self, record: &[usize; 3]) -> Vec<(usize, usize)> {
        let all = (0..64).map(|i| self.cells(record, [i / 16, i / 4 % 4, i % 4]));
        all.map(|cells| (self.utility(record, cells), self.n_fitting(cells))).collect()
    }

    /// The same of what a release says of each record.
    fn published<'a>(&'a self, release: &str) -> Vec<(&'a [usize; 3], (usize, usize))> {
        let of_line = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            let record = &self.records[cells[3].parse::<usize>().expect("a number")];
            let cells = [cells[0], cells[1], cells[2]];
            (record, (self.utility(record, cells), self.n_fitting(cells)))
        };
        release.lines().skip(1).map(of_line).collect()
    }
}

/// Depth counts steps, and `White;White;*` is one: whoever asks for so many gets so many, with the least risk there is.
#[test]
fn every_record_keeps_the_steps_that_were_asked_for() {
    for seed in 0..12 {
        let naive = Naive::new(seed, true);
        let folder = naive.folder();
        for least in 1..=4 {
            let line =
                format!("publish --method per-record --risk identity --utility-at-least {least} -o r.csv --force");
            let can_be_had =
                naive.records.iter().all(|record| naive.utility(record, naive.cells(record, [0; 3])) >= least);
            if !can_be_had {
                run(&folder, &line).ends(1);
                continue;
            }
            run(&folder, &line).ends(0);
            for (record, (utility, n_fitting)) in naive.published(&folder.read("r.csv")) {
                assert!(utility >= least, "seed {seed}: {utility} steps where {least} were asked for");
                let most = naive.all(record).into_iter().filter(|(utility, _)| *utility >= least).map(|(_, n)| n).max();
                assert_eq!(Some(n_fitting), most, "seed {seed}, {least} steps: the least risk");
            }
        }
    }
}

/// Whatever is published of a record, nothing else of it has less risk and as much utility, or more utility at the same
/// risk.
#[track_caller]
fn check_nothing_is_better(goals: &[&str]) {
    let is_better =
        |other: (usize, usize), than: (usize, usize)| other.0 >= than.0 && other.1 >= than.1 && other != than;
    let mut n_checked = 0;
    for seed in 0..16 {
        let naive = Naive::new(seed, seed >= 8);
        let folder = naive.folder();
        for goal in goals {
            let ran = run(&folder, &format!("publish --method per-record --risk identity {goal} -o r.csv --force"));
            if ran.code == Some(1) {
                continue;
            }
            ran.ends(0);
            for (record, found) in naive.published(&folder.read("r.csv")) {
                let better = naive.all(record).into_iter().find(|other| is_better(*other, found));
                assert_eq!(better, None, "seed {seed}, {goal}: (steps, people) where {found:?} is published");
                n_checked += 1;
            }
        }
    }
    assert!(n_checked > 500, "{n_checked} records are too few");
}

#[test]
fn of_the_least_risk_the_most_useful_is_published() {
    check_nothing_is_better(&["--utility-at-least 1", "--utility-at-least 2", "--utility-at-least 60%"]);
}

#[test]
fn of_the_most_utility_the_least_risky_is_published() {
    check_nothing_is_better(&["--risk-at-most 0.5", "--risk-at-most 0.2", "--risk-at-most 0.05"]);
}

#[test]
fn dictionaries_and_weights_from_files() {
    let folder = people(60);
    let known =
        |city: &str| folder.write("known.csv", format!("city,age,x\nOslo,20,1\n{city},31,2\nOslo,33,2\nRome,40,3\n"));
    known("Osla");
    let line =
        "publish --method per-record --utility-at-least 4 --dictionary known.csv --similarity 0.7 -o r.csv --json";
    let risk = |ran: support::Ran| ran.json()["per_record"]["risk"].clone();
    // A value that only the dictionary has needs no place in the hierarchy: it fits what it is like, and else only *.
    let ran = run(&folder, line).ends(0);
    assert!(ran.stderr.contains("attribute 'city': the hierarchy does not know 1 value"), "{}", ran.stderr);
    let alike = risk(ran);
    known("Oslo");
    let line = format!("{line} --force");
    let ran = run(&folder, &line).ends(0);
    assert!(!ran.stderr.contains("does not know"));
    assert_eq!(risk(ran), alike);
    known("Qaanaaq");
    assert_ne!(risk(run(&folder, &line).ends(0)), alike);
    known("Oslo");
    run(&folder, &line).ends(0);
    assert_eq!(certificate(&folder)["per_record"]["dictionary"]["name"], "known.csv");
    let ages: String = (0..60).map(|i| format!("age,{},1\n", 20 + (i * 13) % 60)).collect();
    let cities = "city,Oslo,5\ncity,Umea,1\ncity,Rome,1\ncity,Pisa,1\n";
    let line = "publish --method per-record --utility-at-least 2 --weights w.csv -o r.csv --force";
    folder.write("w.csv", format!("attribute,value,weight\n{ages}{cities}"));
    run(&folder, line).ends(0);
    for wrong in [
        format!("attribute,value,weight\n{cities}"),
        format!("attribute,value,weight\n{ages}{}", cities.replace(",5", ",-5")),
        format!("attribute,value\n{ages}"),
        format!("attribute,value,weight\n{ages}{cities}town,Oslo,1\n"),
        format!("attribute,value,weight\n{ages}{cities}city,Oslo,1\n"),
    ] {
        folder.write("w.csv", &wrong);
        let ran = run(&folder, line).ends(2);
        assert!(!ran.stderr.contains("Oslo"), "no value is named: {}", ran.stderr);
    }
    folder.write("known.csv", "town,age\nOslo,20\n");
    run(&folder, "publish --method per-record --utility-at-least 2 --dictionary known.csv -o t.csv").ends(2);
}

#[test]
fn what_cannot_be_had_is_said_before_anything_is_written() {
    let folder = people(60);
    let said = run(&folder, "publish --method per-record --utility-at-least 5.5 -o r.csv --json").ends(1).json();
    assert_eq!((said["published"].as_bool(), said["greatest_utility"].as_f64()), (Some(false), Some(5.0)));
    for line in [
        "--method per-record",
        "--method per-record --utility-at-least 2 --lambda 1",
        "--method per-record --utility-at-least much",
        "--method per-record --utility-at-least 150%",
        "--method per-record --utility-at-least -1",
        "--method per-record --utility-at-least 2 --k 5",
        "--method per-record --utility-at-least 2 --also-k 61",
        "--method per-record --utility-at-least 2 --similarity 1.5",
        "--method per-record --lambda -1",
        "--method top-down --k 2 --utility-at-least 2",
        "--k 2 --also-k 2",
    ] {
        run(&folder, &format!("publish {line} -o r.csv")).ends(2);
    }
    assert!(!folder.has("r.csv"));
}

#[test]
fn risk_of_projects_files_and_releases() {
    let folder = people(200);
    let whole = run(&folder, "risk . --json --threshold 0.3").ends(0).json();
    assert_eq!(whole["n_records"], 200);
    assert_eq!(whole["attributes"].as_array().map(Vec::len), Some(2));
    let same = run(&folder, "risk people.csv --quasi-identifiers age,city --json --threshold 0.3 --sampled 0.1");
    let same = same.ends(0).json();
    assert_eq!(whole["prosecutor"], same["prosecutor"]);
    assert!(same["n_unique_in_population_estimated"].is_number());
    run(&folder, "publish --method mondrian --k 5 -o r.csv").ends(0);
    let release = run(&folder, "risk r.csv --json").ends(0).json();
    assert!(release["prosecutor"]["highest"].as_f64() <= Some(0.2));
    let report = folder.read("r.csv.report.html");
    for words in ["How likely someone is to be found", "prosecutor", "journalist", "marketer", "alone without it"] {
        assert!(report.contains(words), "{words}");
    }
    let highest = release["prosecutor"]["highest"].as_f64().expect("a number");
    assert!(report.contains(&format!("at most {highest:.4}")) && report.contains("No record stands alone"));
    for line in ["risk people.csv", "risk none.csv", "risk . --threshold 2", "risk . --sampled 0"] {
        run(&folder, line).ends(2);
    }
    assert!(run(&folder, "risk .").ends(0).stdout.contains("prosecutor"));
}

#[test]
fn a_report_says_who_stands_alone() {
    let folder = people(75);
    run(&folder, "publish --method per-record --utility-at-least 5 -o alone.csv").ends(0);
    let alone = run(&folder, "risk alone.csv --sampled 0.1 --json").ends(0).json();
    let report = folder.read("alone.csv.report.html");
    assert!(report.contains("alone on fewer than all quasi-identifiers (special uniques)"), "{report}");
    assert!(report.contains("share of the scores in the source"));
    let n_unique = alone["n_unique"].as_u64().expect("a number");
    assert!(n_unique > 0 && report.contains(&format!("{n_unique} records stand alone in the file")));
    let estimated = alone["n_unique_in_population_estimated"].as_f64().expect("a number").round();
    assert!(report.contains(&format!("{estimated} if the file is 10 % of it")), "{estimated}");
    let everybody = folder.read("people.csv");
    let (header, rows) = everybody.split_once('\n').expect("a header");
    folder.write("all.csv", format!("{header}\n{rows}{rows}"));
    run(&folder, "publish --method per-record --utility-at-least 5 --dictionary all.csv -o known.csv").ends(0);
    let report = folder.read("known.csv.report.html");
    assert!(report.contains("0 of them are also alone in the population"), "everybody is there twice");
}

#[test]
fn compared_with_methods_that_keep_k() {
    let folder = people(75);
    let said = run(&folder, "compare --k 3 --methods mondrian,per-record:100% --json").ends(0).json();
    let rows = said["rows"].as_array().expect("rows");
    let [mondrian, single] = &rows[..] else { panic!("{said}") };
    assert_eq!((&mondrian["promises_k"], &mondrian["holds"]), (&Value::Bool(true), &Value::Bool(true)));
    assert_eq!(single["method"], "per-record:100%");
    assert_eq!((&single["promises_k"], &single["holds"]), (&Value::Bool(false), &Value::Bool(false)));
    assert_eq!(single["reached"]["k"], 1);
    let text = run(&folder, "compare --k 3 --methods per-record,global:ncp").ends(0).stdout;
    assert!(text.contains("per-record:60%") && text.contains("keep no k"), "{text}");
    for method in ["per-record:160%", "per-record:much", "per-records"] {
        run(&folder, &format!("compare --k 3 --methods {method}")).ends(2);
    }
}

#[test]
fn the_map_has_schemes_methods_and_single_records() {
    let folder = people(120);
    let map =
        run(&folder, "map --ks 2,5 --methods mondrian --utility-at-least 50% --risk-at-most 0.2 -o map.html --json");
    let map = map.ends(0).json();
    let points = map["points"].as_array().expect("points");
    let n_of = |series: &str| points.iter().filter(|point| point["series"] == series).count();
    // Four levels of age, three of the tree.
    assert_eq!((n_of("scheme"), n_of("per-record"), n_of("mondrian"), n_of("global")), (12, 27, 2, 2));
    let number = |point: &Value, key: &str| point[key].as_f64().expect("a number");
    for model in ["sensitivity", "identity", "entropic"] {
        let of_model = points.iter().filter(|point| point["made_for"] == model);
        for (place, share) in of_model.clone().zip(1..) {
            assert!(number(place, "utility") >= f64::from(share) / 2.0, "{place}");
        }
        // Whoever keeps more has no less risk, and on its own chart nobody who was made for another model has less.
        let risks: Vec<f64> = of_model.map(|place| number(&place["risk"], model)).collect();
        assert!(risks.len() == 9 && risks.is_sorted(), "{risks:?}");
        let others = points.iter().filter(|point| point["series"] == "per-record");
        for (other, share) in others.zip((0..9).cycle()) {
            assert!(number(&other["risk"], model) >= risks[share] - 1e-6, "{other}");
        }
    }
    // On the frontier, more utility costs more risk.
    let frontier = map["frontier"]["sensitivity"].as_array().expect("points");
    assert!(frontier.windows(2).all(|pair| number(&pair[0], "utility") < number(&pair[1], "utility")));
    let page = folder.read("map.html");
    assert!(page.matches("<svg").count() == 3 && page.contains("not k-anonymous"));
    run(&folder, "map -o map.html").ends(2);
    let schemes: Vec<&Value> = points.iter().filter(|point| point["series"] == "scheme").collect();
    assert_eq!((&schemes[0]["levels"], &schemes[11]["levels"]), (&json!([0, 0]), &json!([3, 2])));
    for wrong in ["--methods nothing", "--lambda 1", "--also-k 2", "--risk identity", "-o map.pdf", "-o map"] {
        run(&folder, &format!("map {wrong}")).ends(2);
    }
    let ran = run(&folder, "map --ks 2,500 --methods mondrian").ends(0);
    assert!(ran.stderr.contains("no release with k = 500"), "{}", ran.stderr);
}

/// What Figure 9 of the paper shows of a table: its smallest group, and the mean utility and risks of its records.
struct Table {
    smallest: u64,
    utility: f64,
    risks: [f64; 3],
}

impl Table {
    fn of(points: &[Point]) -> Table {
        let n_records = points.iter().map(|point| point.n_records).sum::<u64>() as f64;
        let mean = |of: &dyn Fn(&Point) -> f64| {
            points.iter().map(|point| of(point) * point.n_records as f64).sum::<f64>() / n_records
        };
        Table {
            smallest: points.iter().map(|point| point.n_records).min().expect("a record"),
            utility: mean(&|point| point.utility as f64),
            risks: Risk::ALL.map(|risk| mean(&|point| risk.of(point.sensitivity, point.n_fitting))),
        }
    }
}

/// Figure 9: k-anonymous tables, ten for each k, and records one by one that each keep the average utility of these. By
/// every model these have less risk.
#[test]
fn figure_9_on_adult() {
    let Some(counted) = support::adult_of(&support::SIX_QUASI_IDENTIFIERS) else { return };
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let problem = |risk: Risk| {
        let weights = Sensitivities::random(hierarchies, 1);
        Problem::new(counts, hierarchies, Utility::Depth, risk, weights, Match::Exact).expect("a good problem")
    };
    let any = problem(Risk::Identity);
    let schemes = Schemes::new(hierarchies).expect("a lattice");
    let table = |place: usize| Table::of(&any.points_of_scheme(counts, &schemes.scheme(place)));
    let tables: Vec<Table> = (0..schemes.len()).into_par_iter().map(table).collect();
    let of_k = |k: u64| {
        let anonymous: Vec<&Table> = tables.iter().filter(|table| table.smallest >= k).collect();
        let ten: Vec<&Table> = anonymous.iter().step_by(anonymous.len() / 10).take(10).copied().collect();
        let average = |of: &dyn Fn(&Table) -> f64| ten.iter().map(|table| of(table)).sum::<f64>() / 10.0;
        assert_eq!(ten.len(), 10, "k = {k}");
        let risks = [0, 1, 2].map(|r| average(&|table| table.risks[r]));
        Table { smallest: k, utility: average(&|table| table.utility), risks }
    };
    let mut averages = [1, 2, 10, 50, 100].map(of_k);
    averages.sort_by(|a, b| a.utility.total_cmp(&b.utility));
    for (r, risk) in Risk::ALL.into_iter().enumerate() {
        let (problem, mut solved) = (problem(risk), Vec::new());
        for theirs in &averages {
            let goal = Goal::LeastRisk { utility_at_least: theirs.utility.floor() as i64 };
            solved = problem.solve_after(counts, goal, &solved, &Task::default()).expect("nobody stops it");
            let levels: Vec<Vec<u8>> = solved.iter().map(|levels| levels.clone().expect("within reach")).collect();
            let ours = Table::of(&problem.points(&recode(counts, hierarchies, &levels)));
            assert!(ours.utility >= theirs.utility.floor());
            let (k, ours, theirs) = (theirs.smallest, ours.risks[r], theirs.risks[r]);
            assert!(ours < theirs, "{}, k = {k}: {ours} and {theirs}", risk.name());
        }
    }
}

/// Figure 7: ours looks at no more than best-first, and finds as little risk, counting by label or by row.
#[test]
fn figure_7_on_adult() {
    let Some(counted) = support::adult_of(&support::SIX_QUASI_IDENTIFIERS) else { return };
    let (counts, hierarchies) = (&counted.counts, &counted.hierarchies[..]);
    let (mut n_visited, mut n_for_ties) = (0, 0);
    for risk in Risk::ALL {
        let weights = Sensitivities::random(hierarchies, 1);
        let mut problem =
            Problem::new(counts, hierarchies, Utility::Depth, risk, weights, Match::Exact).expect("a good problem");
        for group in (0..counts.n_groups()).step_by(counts.n_groups() / 30) {
            let as_it_is = problem.utility_as_it_is(counts.codes(group));
            let mut record = problem.record(counts.codes(group));
            for tenth in [1, 3, 5, 7, 9] {
                let goal = Wish::Share(f64::from(tenth) / 10.0).of(as_it_is);
                let by_label = optimum_by(&mut record, goal, None);
                let by_row = optimum_by(&mut record, goal, Some(0));
                let [(least, utility), of_row] = [&by_label, &by_row].map(|found| {
                    let levels = found.levels.as_ref().expect("within reach");
                    (record.risk(levels), record.utility(levels))
                });
                assert_eq!(of_row, (least, utility));
                // The other two goals, asked for about the same.
                let a_little_more = least + least.abs() * 1e-6;
                for goal in
                    [Goal::MostUtility { risk_at_most: a_little_more }, Goal::Scalar { lambda: least.abs() / 10.0 }]
                {
                    let [by_label, by_row] = [None, Some(0)].map(|by_rows| {
                        let levels = optimum_by(&mut record, goal, by_rows).levels.expect("within reach");
                        assert!(record.will_do(&levels, goal));
                        goal.rank(record.risk(&levels), record.utility(&levels))
                    });
                    assert_eq!(by_label, by_row);
                }
                if Strategy::BestFirst.is_exact(risk, goal) {
                    let theirs = Strategy::BestFirst.solve(&mut record, goal);
                    let levels = theirs.levels.expect("within reach");
                    assert_eq!(record.risk(&levels), least);
                    assert!(record.utility(&levels) <= utility, "of those with the least risk, none is more useful");
                    for ours in [&by_label, &by_row] {
                        assert!(ours.n_visited - ours.n_for_ties <= theirs.n_visited);
                    }
                    n_visited += by_label.n_visited;
                    n_for_ties += by_label.n_for_ties;
                }
            }
        }
    }
    // To choose between equals is a small part of the work.
    assert!(2 * n_for_ties < n_visited, "{n_for_ties} of {n_visited}");
}

#[test]
fn on_adult_a_release_of_single_records_is_verified() {
    let Some(folder) = support::adult_folder(&support::SIX_QUASI_IDENTIFIERS) else { return };
    let line = "publish --method per-record --utility-at-least 60% --weights-seed 1 -o r.csv --json";
    let said = run(&folder, line).ends(0).json();
    let verdict = run(&folder, "verify r.csv --json").ends(0).json();
    assert_eq!(verdict["holds"], true);
    let per_record = &said["per_record"];
    assert_eq!(per_record["greatest_utility"], 18.0);
    // Not all values are as deep: six steps and more, of which some have no more than twelve.
    assert_eq!((&per_record["goal"]["share_of_utility"], &per_record["n_records_below"]), (&json!(0.6), &json!(0)));
    assert!(per_record["utility"]["least"].as_f64() >= Some(0.6 * 12.0), "{per_record}");
    // One cell changed, and the file is not what the certificate is about.
    let text = folder.read("r.csv");
    let line = text.lines().nth(1).expect("a record").to_string();
    let cut = line.split_once(',').expect("several cells").1;
    folder.write("r.csv", text.replacen(&line, &format!("Nobody,{cut}"), 1));
    assert_eq!(run(&folder, "verify r.csv --json").ends(1).json()["holds"], false);
}
