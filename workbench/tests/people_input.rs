//! Whose record it is: what is noticed without being told, and how many records of a person are kept.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::sync::Mutex;

use arrow_array::RecordBatch;
use incrowd::table::Cells;
use incrowd_workbench::input::project::Project;
use incrowd_workbench::input::source::{Frame, Source};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::serve::server;
use crate::support;
use server::Server;
use support::{Folder, Ran, Random};

const PROJECT: &str = r#"
[data]
path = "events.csv"
[attributes.USUBJID]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 20] }
[attributes.sex]
role = "quasi-identifier"
[attributes.term]
role = "sensitive"
"#;

/// Adverse events: 60 subjects with one to eight records each, 262 in all.
fn events() -> String {
    let mut text = String::from("USUBJID,age,sex,term\n");
    for subject in 0..60 {
        for event in 0..1 + subject % 8 {
            let (age, sex) = (20 + subject % 40, ["F", "M"][subject % 2]);
            text.push_str(&format!("01-{subject:04},{age},{sex},{}\n", ["rash", "pain", "flu"][(subject + event) % 3]));
        }
    }
    text
}

fn folder() -> Folder {
    Folder::with(&[("events.csv", &events()), ("incrowd.toml", PROJECT)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

const ASKED: &str = "262 records of 60 different USUBJID";

#[test]
fn init_and_profile_notice_an_identifier_that_repeats() {
    let folder = folder();
    run(&folder, "init events.csv -o new.toml").ends(0);
    let made = folder.read("new.toml");
    let section = format!("[attributes.USUBJID]\n# why: {ASKED}: people are counted by it\nrole = \"person\"\n");
    assert!(made.contains(&section), "{made}");
    let said = run(&folder, "profile").ends(0);
    assert!(said.stdout.contains(&format!("{ASKED}: count people?")), "{}", said.stdout);
    let told = run(&folder, "profile --json").ends(0).json()["repeating"].clone();
    assert_eq!(
        (&told["column"], &told["n_records"], &told["n_different"]),
        (&json!("USUBJID"), &json!(262), &json!(60))
    );
    for said in [PROJECT.replace("identifier\"\n[attributes.age", "person\"\n[attributes.age"), independent()] {
        folder.write("incrowd.toml", said);
        assert_eq!(run(&folder, "profile --json").ends(0).json()["repeating"], Value::Null);
    }
}

fn independent() -> String {
    PROJECT.replace("[data]\n", "[data]\nrecords = \"independent\"\n")
}

#[test]
fn nothing_is_published_until_somebody_says_what_is_counted() {
    let folder = folder();
    let answered = run(&folder, "negotiate --k 3 --max-suppressed 50%").ends(0);
    assert!(answered.stderr.contains(&format!("{ASKED}: count people? (role = \"person\"")), "{}", answered.stderr);
    let some_lost = " --max-suppressed 50%";
    for way in [some_lost, " --levels age=3,sex=1", " --method top-down", " --method mondrian"] {
        let refused = run(&folder, &format!("publish --k 3{way}")).ends(2);
        assert!(refused.stderr.contains(&format!("{ASKED}: what is promised of records")), "{}", refused.stderr);
        assert!(refused.stderr.contains("records = \"independent\"") && refused.stderr.contains("role = \"person\""));
        assert!(!folder.has("release.csv") && !refused.stderr.contains("01-00"), "{way}");
    }
    let refused = run(&folder, "publish --method per-record --utility-at-least 60%").ends(2);
    assert!(refused.stderr.contains(ASKED), "{}", refused.stderr);
    folder.write("incrowd.toml", independent());
    let published = run(&folder, "publish --k 3 --max-suppressed 50%").ends(0);
    assert!(!published.stderr.contains("count people"), "{}", published.stderr);
    folder.write("incrowd.toml", PROJECT.replace("\"identifier\"", "\"person\""));
    run(&folder, "publish --k 3 --max-suppressed 50% --force").ends(0);
    folder.write("incrowd.toml", independent().replace("\"identifier\"", "\"person\""));
    let refused = run(&folder, "publish --k 3").ends(2);
    assert!(refused.stderr.contains("records = \"independent\", and 'USUBJID' says whose"), "{}", refused.stderr);
    folder.write("incrowd.toml", independent().replace("independent", "dependent"));
    let refused = run(&folder, "publish --k 3").ends(2);
    assert!(refused.stderr.contains("data.records") && !refused.stderr.contains("panicked"), "{}", refused.stderr);
}

#[test]
fn what_names_places_or_several_people_is_not_asked_about() {
    let folder = folder();
    // Without the first digits of the subject's number there are ten of them, a twenty-sixth of the records.
    let short = |line: &str| if line.starts_with("01-") { format!("{}\n", &line[6..]) } else { format!("{line}\n") };
    for (name, text) in [
        ("USUBJID", events().lines().map(short).collect::<String>()),
        ("country_code", events().replace("USUBJID", "country_code")),
        ("surname", events().replace("USUBJID", "surname")),
    ] {
        folder.write("events.csv", text);
        folder.write("incrowd.toml", PROJECT.replace("USUBJID", name));
        run(&folder, "publish --k 3 --max-suppressed 50% --force").ends(0);
    }
}

#[test]
fn the_page_asks_too_and_a_program_answers() {
    let folder = folder();
    let server = Server::start(&folder, &[".", "--allow-preview"]);
    let project = server.project();
    let profile = server.answer("/profile", &json!({ "project": project })).is(200).json();
    assert_eq!(profile["repeating"]["in_words"], format!("{ASKED}: count people?"));
    let order = |project: &Value, output: &str| {
        let request = json!({ "k": 3, "max_suppressed": "50%" });
        json!({ "project": project, "request": request, "choice": "exact", "output": output })
    };
    let wish = json!({ "project": project, "request": { "k": 3, "max_suppressed": "50%" } });
    let answer = server.answer("/negotiate", &wish);
    let notes = answer.is(200).json()["notes"].clone();
    let note = notes.as_array().into_iter().flatten().find(|note| note["code"] == "repeating").cloned();
    let note = note.unwrap_or_else(|| panic!("{notes}"));
    assert_eq!((&note["n_records"], &note["n_different"]), (&json!(262), &json!(60)));
    assert!(note["text"].as_str().is_some_and(|text| text.contains("\"records\": \"independent\"")), "{note}");
    let refused = server.answer("/publish", &order(&json!(project), "a.csv"));
    assert!(refused.body.contains(ASKED) && !folder.has("a.csv"), "{}", refused.body);

    let document = server.get(&format!("/projects/{project}")).is(200).json()["document"].clone();
    for (i, edit) in [("/data/records", "independent"), ("/attributes/USUBJID/role", "person")].into_iter().enumerate()
    {
        let mut edited = document.clone();
        let (section, key) = edit.0.rsplit_once('/').expect("a path");
        edited.pointer_mut(section).expect("a section")[key] = json!(edit.1);
        let opened = server.post("/projects", &json!({ "document": edited, "base": project })).is(200).json();
        let profile = server.answer("/profile", &json!({ "project": opened["id"] })).is(200).json();
        assert_eq!(profile["repeating"], Value::Null, "{edit:?}");
        let job = server.work("/publish", &order(&opened["id"], &format!("release{i}.csv")));
        assert_eq!(job["state"], "done", "{job}");
    }
}

/// The project with people, and with what else is said of the data.
fn of_people(more: &str) -> String {
    PROJECT.replace("[data]\n", &format!("[data]\n{more}\n")).replace("\"identifier\"", "\"person\"")
}

fn at_most(n: usize, seed: usize) -> String {
    of_people(&format!("max_records_per_person = {n}\nrecords_seed = {seed}"))
}

/// The same events, many of them twice or thrice, in an order of a seed's.
fn shuffled(seed: u64) -> String {
    let text = events();
    let (header, lines) = text.split_once('\n').expect("a header");
    let mut lines: Vec<&str> = lines.lines().flat_map(|line| vec![line; 1 + line.len() % 3]).collect();
    Random(seed).shuffle(&mut lines);
    format!("{header}\n{}\n", lines.join("\n"))
}

/// The records of a batch as lines.
fn lines_of(batch: &RecordBatch) -> Vec<String> {
    let schema = batch.schema();
    let cells = schema.fields().iter().zip(batch.columns()).map(|(field, column)| Cells::new(field.name(), column));
    let cells: Vec<Cells> = cells.collect::<Result<_, _>>().expect("texts");
    let mut text = String::new();
    let mut line = |i: usize| {
        let read = |cells: &Cells, text: &mut String| if cells.read(i, text) { text.clone() } else { "null".into() };
        cells.iter().map(|cells| read(cells, &mut text)).collect::<Vec<_>>().join(",")
    };
    (0..batch.num_rows()).map(&mut line).collect()
}

/// What is read of a source, sorted: twice, and once on several threads.
fn read(source: &Source) -> Vec<String> {
    let names = source.column_names();
    let once = || {
        let mut lines = Vec::new();
        source.for_each(&names, |batch, _| Ok(lines.extend(lines_of(&batch)))).expect("readable");
        lines.sort();
        lines
    };
    let all = once();
    assert_eq!(once(), all, "every reading is the same");
    let shared = Mutex::new(Vec::new());
    let visit = |_: &mut (), batch: RecordBatch, _| Ok(shared.lock().expect("unpoisoned").extend(lines_of(&batch)));
    source.for_each_parallel(&names, 4, || (), visit).expect("readable");
    let mut parallel = shared.into_inner().expect("unpoisoned");
    parallel.sort();
    assert_eq!(parallel, all);
    all
}

/// The naive twin: all records of everybody side by side, sorted by their ranks.
fn chosen(text: &str, n: usize, seed: u64) -> Vec<String> {
    let mut people: BTreeMap<&str, Vec<(u64, String)>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let mut hasher = Sha256::new();
        hasher.update(seed.to_le_bytes());
        // The person, and then all columns in the order of their names: USUBJID, age, sex, term.
        for cell in std::iter::once(&cells[0]).chain(&cells) {
            hasher.update((cell.len() as u64 + 1).to_le_bytes());
            hasher.update(cell.as_bytes());
        }
        let rank = u64::from_le_bytes(hasher.finalize()[..8].try_into().expect("8 bytes"));
        people.entry(cells[0]).or_default().push((rank, line.to_string()));
    }
    people.values_mut().for_each(|records| records.sort());
    let mut kept: Vec<String> =
        people.into_values().flat_map(|records| records.into_iter().take(n)).map(|(_, line)| line).collect();
    kept.sort();
    kept
}

#[test]
fn the_lowest_records_of_everybody_are_kept_whatever_their_order() {
    let folder = folder();
    let mut choices = Vec::new();
    for (n, seed) in [(1, 0), (2, 0), (2, 1), (3, 7), (100, 0)] {
        folder.write("incrowd.toml", at_most(n, seed));
        let mut project = Project::open(folder.path()).expect("a project");
        let expected = chosen(&shuffled(1), n, seed as u64);
        choices.push(expected.clone());
        for order in 1..4 {
            let text = shuffled(order);
            folder.write("events.csv", &text);
            project.frame = None;
            let source = project.source().expect("a table");
            assert_eq!(read(&source), expected, "{n} {seed} {order}");
            assert_eq!(source.n_left_out(), (text.lines().count() - 1 - expected.len()) as u64);
            // In memory, in many pieces: records that say the same meet on several threads.
            let mut batches = Vec::new();
            let all = Source::open(&folder.join("events.csv"), &project.reading).expect("a table");
            all.for_each(&all.column_names(), |batch, _| {
                let starts = (0..batch.num_rows()).step_by(5);
                batches.extend(starts.map(|start| batch.slice(start, 5.min(batch.num_rows() - start))));
                Ok(())
            })
            .expect("readable");
            project.frame = Some(Frame { name: "frame".into(), schema: all.schema().clone(), batches: batches.into() });
            let frame = project.source().expect("a frame");
            assert_eq!(frame.sha256().expect("hashed").len(), 1);
            assert_eq!(read(&frame), expected, "{n} {seed} {order} in memory");
        }
    }
    assert_ne!(choices[1], choices[2], "another seed, another choice");
    let all: Vec<String> = shuffled(1).lines().skip(1).map(String::from).collect();
    assert_eq!(choices[4].len(), all.len());
}

#[test]
fn the_order_of_records_changes_no_byte_and_a_limit_that_nobody_meets_changes_nothing() {
    let folder = folder();
    folder.write("events.csv", shuffled(1));
    let publish = |project: &str, name: &str| {
        folder.write("incrowd.toml", project);
        run(&folder, &format!("publish --k 3 --max-suppressed 50% --force --json -o {name}")).ends(0)
    };
    publish(&of_people(""), "all.csv");
    publish(&at_most(1_000, 5), "many.csv");
    assert_eq!(folder.read("many.csv"), folder.read("all.csv"));
    let all: Value = serde_json::from_str(&folder.read("many.csv.certificate.json")).expect("JSON");
    assert_eq!(all["n_records_left_out"], Value::Null, "nothing to say");

    let told = publish(&at_most(2, 5), "two.csv");
    assert!(told.stderr.contains(" records beyond max_records_per_person = 2 are left out"), "{}", told.stderr);
    let n_left_out = shuffled(1).lines().count() - 1 - chosen(&shuffled(1), 2, 5).len();
    assert_eq!(told.json()["n_records_left_out"], n_left_out);
    let certificate: Value = serde_json::from_str(&folder.read("two.csv.certificate.json")).expect("JSON");
    assert_eq!(certificate["n_records_left_out"], n_left_out);
    assert_eq!(certificate["n_records_read"], shuffled(1).lines().count() - 1);
    assert!(folder.read("two.csv.report.html").contains("more than are kept of a person"));
    let n_published = certificate["n_records_published"].as_u64().expect("a number");
    let n_suppressed = certificate["n_records_suppressed"].as_u64().expect("a number");
    assert_eq!((n_published + n_suppressed) as usize, chosen(&shuffled(1), 2, 5).len());
    run(&folder, "verify two.csv --project .").ends(0);
    let two = folder.read("two.csv");
    for order in 2..4 {
        folder.write("events.csv", shuffled(order));
        publish(&at_most(2, 5), "two.csv");
        assert_eq!(folder.read("two.csv"), two, "{order}");
    }
    publish(&at_most(2, 6), "two.csv");
    assert_ne!(folder.read("two.csv"), two, "another seed");
    // A lattice that was kept is about the records that were chosen.
    run(&folder, "annotate -o events.crowd").ends(0);
    run(&folder, "negotiate --lattice events.crowd --k 3 --max-suppressed 50%").ends(0);
    folder.write("incrowd.toml", at_most(3, 6));
    let old = run(&folder, "negotiate --lattice events.crowd --k 3 --max-suppressed 50%").ends(2);
    assert!(old.stderr.contains("[data] changed since"), "{}", old.stderr);
}

#[test]
fn records_that_are_dropped_anyway_are_nobody_s_choice() {
    let folder = Folder::with(&[
        ("events.csv", "USUBJID,age,sex,term\na,20,F,rash\na,20,,pain\na,,F,flu\nb,21,F,flu\nb,21,F,flu\nb,21,F,flu\n"),
        ("incrowd.toml", &at_most(1, 0).replace("[data]", "[data]\nmissing_records = \"drop\"")),
    ]);
    let ran = run(&folder, "count --json").ends(0);
    assert!(
        ran.stderr.contains("2 of 4 records lack a value") && ran.stderr.contains("2 records beyond"),
        "{}",
        ran.stderr
    );
    let source = Project::open(folder.path()).expect("a project").source().expect("a table");
    let kept = read(&source);
    assert_eq!(kept.iter().filter(|line| line.starts_with("a,20,F")).count(), 1, "{kept:?}");
    assert_eq!(kept.iter().filter(|line| line.starts_with('b')).count(), 1, "{kept:?}");
}

#[test]
fn a_limit_that_means_nothing_is_refused() {
    let folder = folder();
    let check = |project: String, line: &str, said: &str| {
        folder.write("incrowd.toml", project);
        let ran = run(&folder, line).ends(2);
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    };
    let with = |more: &str| of_people(more);
    check(
        PROJECT.replace("[data]\n", "[data]\nmax_records_per_person = 2\n"),
        "count",
        "needs to know whose record it is",
    );
    check(with("max_records_per_person = 0"), "count", "max_records_per_person must be a whole number of at least 1");
    check(with("max_records_per_person = \"2\""), "count", "must be a whole number");
    check(with("max_records_per_person = 2\nrecords_seed = -1"), "count", "records_seed must be a whole number");
    check(with("records_seed = 2"), "count", "and all are");
    check(at_most(2, 0), "risk --per-record -o risk.csv", "only some of each person are kept");
    run(&folder, "annotate -o events.crowd").ends(0);
    folder.write("more.csv", events());
    check(at_most(2, 0), "annotate --append more.csv events.crowd", "records cannot come or go");
}
