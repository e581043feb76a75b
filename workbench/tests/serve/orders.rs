//! What is published over HTTP is what the command line publishes for the same wish, to the byte; and so is what is not.

use serde_json::{Value, json};

use crate::serve::server::Server;
use crate::support::{Folder, Random};

const PROJECT: &str = r#"
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }
[attributes.job]
role = "quasi-identifier"
[attributes.disease]
role = "sensitive"
[attributes.income]
role = "sensitive"
[attributes.note]
role = "other"
"#;

fn people(n_records: usize) -> Folder {
    let mut random = Random(7);
    let mut data = String::from("age,city,job,disease,income,note\n");
    for i in 0..n_records {
        let (age, city) = (20 + random.below(55), *random.pick(&["Oslo", "Umea", "Rome", "Pisa"]));
        let (job, disease) = (*random.pick(&["cook", "smith", "clerk"]), *random.pick(&["flu", "cold", "gout", "flu"]));
        data.push_str(&format!("{age},{city},{job},{disease},{},n{}\n", random.below(4), i % 3));
    }
    Folder::with(&[("people.csv", &data), ("incrowd.toml", PROJECT)])
}

/// The same with people who have several records each, most of them a year older in some.
fn patients(n_people: usize) -> Folder {
    let mut random = Random(7);
    let mut data = String::from("patient,age,city,job,disease,income,note\n");
    for person in 0..n_people {
        let (age, city) = (20 + random.below(55), *random.pick(&["Oslo", "Umea", "Rome", "Pisa"]));
        let job = *random.pick(&["cook", "smith", "clerk"]);
        for i in 0..1 + random.below(4) {
            let (age, disease) = (age + i / 2, *random.pick(&["flu", "cold", "gout", "flu"]));
            data.push_str(&format!("Xp{person},{age},{city},{job},{disease},{},n{}\n", random.below(4), i % 3));
        }
    }
    let project = format!("{PROJECT}[attributes.patient]\nrole = \"person\"\n");
    Folder::with(&[("people.csv", &data), ("incrowd.toml", &project)])
}

/// Data with cells that cannot be read or are not known, written as in another country; and the next delivery.
fn delivery() -> Folder {
    let mut random = Random(11);
    let mut written = |n_records: usize, cities: &[&str]| {
        let mut data = b"age;city;code;disease;income;score;ward;note\n".to_vec();
        for i in 0..n_records {
            let age = if i % 40 == 3 { "unknown".to_string() } else { (18 + random.below(57)).to_string() };
            let (city, code) = (*random.pick(cities), *random.pick(&["250,1", "250,8", "428", "V45,2"]));
            let disease = *random.pick(&["flu", "cold", "gout", "flu"]);
            let (income, score) = (900 + random.below(500), random.below(41));
            let note = if i % 20 == 5 { "?" } else { "n" };
            let line = format!("{age};{city};{code};{disease};{income};{score},5;w{};{note}\n", i % 4);
            data.extend(line.chars().map(|c| c as u8));
        }
        data
    };
    let cities = ["Oslo", "Umea", "Rome", "Århus", "Oslo", "Rome", "Pisa"];
    let project = std::fs::read_to_string("tests/delivery.toml").expect("the project");
    let folder = Folder::with(&[("incrowd.toml", &project)]);
    folder.write("people.csv", written(150, &cities));
    folder.write("next.csv", written(130, &[&cities[..], &["Bari"]].concat()));
    folder.write("few.csv", written(12, &cities));
    folder
}

/// Flags of `publish`, and the same order over HTTP.
type Order = (Vec<&'static str>, Value);

fn global_orders() -> Vec<Order> {
    let mut orders = Vec::new();
    let wishes: [(&[&str], Value); 7] = [
        (&["--k", "3", "--max-suppressed", "0"], json!({ "k": 3, "max_suppressed": 0 })),
        (
            &["--k", "5", "--max-suppressed", "5%", "--best-by", "height"],
            json!({ "k": 5, "max_suppressed": "5%", "best_by": "height" }),
        ),
        (
            &["--k", "8", "--max-suppressed", "3", "--max-level", "age=1,city=1"],
            json!({ "k": 8, "max_suppressed": 3, "max_level": { "age": 1, "city": 1 } }),
        ),
        (
            &["--k", "2", "--l", "disease:2", "--max-suppressed", "10"],
            json!({ "k": 2, "disease:l": 2, "max_suppressed": 10 }),
        ),
        (
            &["--k", "4", "--l", "disease:2", "--l", "income:3", "--max-suppressed", "10%", "--best-by", "ncp"],
            json!({ "k": 4, "disease:l": 2, "income:l": 3, "max_suppressed": "10%", "best_by": "ncp" }),
        ),
        (
            &["--k", "3", "--t", "income:0.3", "--max-suppressed", "0"],
            json!({ "k": 3, "income:t": 0.3, "max_suppressed": 0 }),
        ),
        (
            &["--alpha", "disease:0.7", "--entropy-l", "income:1.8", "--max-suppressed", "20%", "--best-by", "entropy"],
            json!({ "disease:alpha": 0.7, "income:entropy_l": 1.8, "max_suppressed": "20%", "best_by": "entropy" }),
        ),
    ];
    for (flags, request) in wishes {
        for choice in ["exact", "suppression", "height", "privacy"] {
            orders.push(([flags, &["--offer", choice]].concat(), json!({ "request": request, "choice": choice })));
        }
    }
    orders
}

fn level_orders() -> Vec<Order> {
    let mut orders = Vec::new();
    for (text, levels) in [
        ("age=0,city=0,job=0", json!({ "age": 0, "city": 0, "job": 0 })),
        ("age=1", json!({ "age": 1 })),
        ("age=2,city=1,job=1", json!({ "age": 2, "city": 1, "job": 1 })),
        ("age=4,city=2,job=1", json!({ "age": 4, "city": 2, "job": 1 })),
    ] {
        for limit in [None, Some("0"), Some("25%"), Some("100%")] {
            let mut flags = vec!["--k", "4", "--l", "disease:2", "--levels", text];
            let mut request = json!({ "k": 4, "disease:l": 2 });
            if let Some(limit) = limit {
                flags.extend(["--max-suppressed", limit]);
                request["max_suppressed"] = json!(limit);
            }
            orders.push((flags, json!({ "request": request, "choice": "levels", "levels": levels })));
        }
    }
    orders
}

fn method_orders() -> Vec<Order> {
    let mut orders = Vec::new();
    for method in incrowd::Method::ALL.map(incrowd::Method::name) {
        let wishes: [(&[&str], Value); 6] = [
            (&["--k", "5"], json!({ "k": 5 })),
            (&["--k", "9", "--l", "disease:2"], json!({ "k": 9, "disease:l": 2 })),
            (&["--l", "income:3"], json!({ "income:l": 3 })),
            (&["--k", "12", "--l", "disease:2", "--l", "income:2"], json!({ "k": 12, "disease:l": 2, "income:l": 2 })),
            (&["--k", "30", "--t", "disease:0.3"], json!({ "k": 30, "disease:t": 0.3 })),
            (&["--k", "4", "--t", "disease:0.01"], json!({ "k": 4, "disease:t": 0.01 })),
        ];
        for (flags, request) in wishes {
            let flags = [&["--method", method], flags].concat();
            orders.push((flags, json!({ "request": request, "choice": "method", "method": method })));
        }
    }
    orders
}

/// The signer's key, without which two certificates differ.
const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Both publish the same, or neither publishes; says how many did.
fn same(folder: &Folder, server: &Server, orders: &[Order]) -> usize {
    let mut n_published = 0;
    for (flags, order) in orders {
        let told =
            folder.run(&[&["publish", "--json", "-o", "release.csv", "--force", "--key", KEY], &flags[..]].concat());
        assert!(told.code == Some(0) || told.code == Some(1) || told.code == Some(2), "{told}");
        let expected =
            (told.code == Some(0)).then(|| (folder.bytes("release.csv"), folder.read("release.csv.certificate.json")));
        let mut order = order.clone();
        (order["project"], order["replace"], order["key"]) = (json!(server.project()), json!(true), json!(KEY));
        let id = loop {
            let answer = server.post("/publish", &order);
            if answer.status != 202 {
                assert!(expected.is_none(), "{flags:?} is published by the command line: {}", answer.body);
                assert_eq!(answer.status, 422, "{}", answer.body);
                break None;
            }
            let job = server.wait(answer.json()["job"]["id"].as_str().expect("a job"));
            match (job["kind"].as_str(), job["state"].as_str()) {
                (Some("publish"), Some("done")) => break job["id"].as_str().map(str::to_string),
                (_, Some("done")) => {}
                _ => break None,
            }
        };
        match (&expected, id) {
            (None, None) => {}
            (Some((release, certificate)), Some(id)) => {
                n_published += 1;
                assert!(folder.bytes("release.csv") == *release, "{flags:?} gives another release");
                assert_eq!(server.get(&format!("/jobs/{id}/files/release")).is(200).body.as_bytes(), *release);
                assert_eq!(folder.read("release.csv.certificate.json"), *certificate, "{flags:?}");
                folder.run(&["verify", "release.csv"]).ends(0);
            }
            (expected, id) => panic!("{flags:?}: {} on the command line, {id:?} over HTTP\n{told}", expected.is_some()),
        }
    }
    n_published
}

#[test]
fn answers_and_offers_are_published_as_by_the_command_line() {
    let folder = people(400);
    let server = Server::start(&folder, &["."]);
    assert!(same(&folder, &server, &global_orders()) >= 15);
}

#[test]
fn chosen_levels_are_published_as_by_the_command_line() {
    let folder = people(400);
    let server = Server::start(&folder, &["."]);
    let n_published = same(&folder, &server, &level_orders());
    assert!((5..16).contains(&n_published), "{n_published}");
    // What the project says holds where nothing is asked for.
    folder.write("incrowd.toml", format!("{PROJECT}[request]\nmax_suppressed = 2\n"));
    let server = Server::start(&folder, &["."]);
    let order: Order = (
        vec!["--k", "4", "--levels", "age=1"],
        json!({ "request": { "k": 4 }, "choice": "levels", "levels": { "age": 1 } }),
    );
    assert_eq!(same(&folder, &server, &[order]), 0);
}

#[test]
fn local_methods_publish_as_on_the_command_line() {
    let folder = people(400);
    let server = Server::start(&folder, &["."]);
    assert!(same(&folder, &server, &method_orders()) >= 20);
}

#[test]
fn a_deal_is_about_all_sensitive_attributes() {
    let folder = people(400);
    let server = Server::start(&folder, &["."]);
    let order = json!({ "project": server.project(), "request": { "k": 8 }, "choice": "method", "method": "deal" });
    let review = server.answer("/review", &order).is(200).json();
    assert_eq!(review["sensitive"], json!(["disease", "income"]), "{review}");
    let job = server.work("/publish", &order);
    assert_eq!(job["result"]["certificate"]["sensitive"], json!(["disease", "income"]), "{job}");
}

/// Four hundred records of which 103 stand in groups that are too small were published in spite of `max_suppressed: 0`.
#[test]
fn levels_that_lose_more_than_may_be_lost_are_not_published() {
    let folder = people(400);
    let server = Server::start(&folder, &["."]);
    let order = json!({ "project": server.project(), "request": { "k": 3, "max_suppressed": 0 },
        "choice": "levels", "levels": { "age": 0 } });
    for path in ["/review", "/publish"] {
        let problem = server.answer(path, &order).is(422).json();
        assert!(
            problem["detail"].as_str().is_some_and(|text| text.contains("would be lost, more than may be")),
            "{problem}"
        );
    }
    assert!(!folder.has("release.csv"));
}

/// An order of the table that all fronts share (`tests/orders.json`).
struct SharedOrder {
    verb: String,
    /// What the command line calls the verb, and its flags.
    typed: Vec<String>,
    /// The same as JSON.
    sent: Value,
}

/// All of them about some data.
fn shared_orders(table: &str) -> Vec<SharedOrder> {
    let text = std::fs::read_to_string("tests/orders.json").expect("the table of orders");
    let orders: Vec<Value> = serde_json::from_str(&text).expect("a list");
    let text = |value: &Value| value.as_str().expect("a text").to_string();
    let shared = |order: &Value| {
        let verb = text(&order["verb"]);
        let command = order["command"].as_str().unwrap_or(&verb).to_string();
        let flags = order["flags"].as_array().expect("flags").iter().map(text);
        SharedOrder { typed: std::iter::once(command).chain(flags).collect(), verb, sent: order["order"].clone() }
    };
    let about = |order: &&Value| order["table"].as_str().unwrap_or("people") == table;
    orders.iter().filter(about).map(shared).collect()
}

/// What differs from run to run, or from process to process.
fn without_measurements(document: &mut Value) {
    match document {
        Value::Object(object) => {
            ["cpu_seconds", "seconds", "peak_bytes"].iter().for_each(|key| drop(object.remove(*key)));
            // The server names files as its folder does, the command line as they were given or by their whole path.
            for key in ["project", "data", "file"] {
                if let Some(Value::String(file)) = object.get_mut(key) {
                    *file = file.trim_start_matches("./").trim_start_matches("FOLDER/").to_string();
                }
            }
            object.values_mut().for_each(without_measurements);
        }
        Value::Array(list) => list.iter_mut().for_each(without_measurements),
        _ => {}
    }
}

/// A message as far as it is the same on every front: settings are called otherwise.
fn without_names(message: &Value) -> String {
    let message = message.as_str().expect("a text").replace("--", "").replace('-', "_");
    message.replace(['"', ':'], "")
}

/// What is wrong is said in the words of HTTP: no flag, no line of a project file, no command.
#[track_caller]
fn check_words(problem: &Value) {
    for said in [&problem["detail"], &problem["hint"]].into_iter().filter_map(Value::as_str) {
        let foreign = ["--", "[data]", "[request]", "incrowd.toml", " = \"", "incrowd annotate", "incrowd init"];
        assert!(!foreign.iter().any(|words| said.contains(words)), "{said}");
    }
}

/// Any order gives the same document over HTTP as on the command line, and is refused by both with the same message.
#[test]
fn any_order_is_answered_as_by_the_command_line() {
    let (n_answered, n_refused) = check_orders(&people(150), &shared_orders("people"));
    assert!(n_answered > 30 && n_refused > 10, "{n_answered} answered, {n_refused} refused");
}

#[test]
fn orders_about_people_are_answered_as_by_the_command_line() {
    let folder = patients(80);
    let (n_answered, n_refused) = check_orders(&folder, &shared_orders("patients"));
    assert!(n_answered > 20 && n_refused > 1, "{n_answered} answered, {n_refused} refused");
    // Plainly, nobody can say; with the project, they can.
    folder.run(&["verify", "given.csv"]).ends(2);
    folder.run(&["verify", "given.csv", "--project", "."]).ends(0);
}

/// Tables that are small, full of gaps, oddly named, counted by label or hidden in a population.
#[test]
fn orders_about_odd_tables_are_answered_as_by_the_command_line() {
    let text = std::fs::read_to_string("tests/odd_tables.json").expect("the odd tables");
    let tables: serde_json::Map<String, Value> = serde_json::from_str(&text).expect("tables by name");
    let (mut n_answered, mut n_refused) = (0, 0);
    for (name, files) in &tables {
        let folder = Folder::new();
        for (file, content) in files.as_object().expect("files") {
            folder.write(file, content.as_str().expect("a text"));
        }
        let orders = shared_orders(name);
        assert!(orders.len() > 6, "{name}");
        let (answered, refused) = check_orders(&folder, &orders);
        n_answered += answered;
        n_refused += refused;
    }
    assert!(n_answered > 50 && n_refused > 20, "{n_answered} answered, {n_refused} refused");
}

#[test]
fn orders_about_a_delivery_are_answered_as_by_the_command_line() {
    let folder = delivery();
    let (n_answered, n_refused) = check_orders(&folder, &shared_orders("delivery"));
    assert!(n_answered > 14 && n_refused > 2, "{n_answered} answered, {n_refused} refused");
    folder.run(&["verify", "given.csv", "--project", "."]).ends(0);
}

/// The files that orders write, by name, which are gone afterwards.
fn take_files(folder: &Folder) -> Vec<(&'static str, Vec<u8>)> {
    let names = ["made.csv", "made.csv.certificate.json", "made.sav", "made.dta", "made.dta.certificate.json"];
    let written = names.into_iter().chain(["risks.csv", "next.crowd", "new.toml"]).filter(|name| folder.has(name));
    let taken = written.map(|name| {
        let bytes = folder.bytes(name);
        std::fs::remove_file(folder.path().join(name)).expect("it is there");
        (name, bytes)
    });
    taken.collect()
}

/// How many of the orders are answered, and how many refused: by both fronts, and in the same words.
fn check_orders(folder: &Folder, orders: &[SharedOrder]) -> (usize, usize) {
    folder.write("questions.txt", "age in 30..39 and city = Oslo\njob = cook\n");
    // Of some tables nothing can be made.
    folder.run(&["annotate", "--k", "2", "-o", "kept.crowd", "--quiet"]);
    folder.run(&["publish", "--k", "3", "--max-suppressed", "20%", "-o", "given.csv", "--quiet"]);
    let server = Server::start(folder, &["."]);
    let (mut n_answered, mut n_refused) = (0, 0);
    for SharedOrder { verb, typed, sent } in orders {
        let flags: Vec<&str> = typed.iter().map(String::as_str).collect();
        let told = folder.run(&[&flags[..1], &["--json"], &flags[1..]].concat());
        let expected: Value = serde_json::from_str(&told.stdout).unwrap_or_else(|_| panic!("{told}"));
        // What one front wrote is away before the other writes it.
        let made = take_files(folder);
        let body = json!({ "project": server.project(), "order": sent });
        let answer = server.post(&format!("/orders/{verb}"), &body).is(202);
        let job = server.wait(answer.json()["job"]["id"].as_str().expect("a job"));
        match expected.get("error") {
            None => {
                let (mut expected, mut given) = (expected, job["result"]["result"].clone());
                [&mut expected, &mut given].into_iter().for_each(without_measurements);
                assert_eq!(given, expected, "{verb} {flags:?}\n{}", job["problem"]);
                assert!(take_files(folder) == made, "{verb} {flags:?}: other files, or other bytes");
                n_answered += 1;
            }
            Some(error) => {
                assert_eq!(job["state"], "failed", "{verb} {flags:?} is refused by the command line: {error}");
                // What clap refuses before any order is made, the floor refuses in its own words.
                if error["kind"] != "usage" {
                    assert_eq!(job["problem"]["kind"], error["kind"], "{verb} {flags:?}");
                    let [sent, typed] = [&job["problem"]["detail"], &error["message"]].map(without_names);
                    assert_eq!(sent, typed, "{verb} {flags:?}");
                }
                check_words(&job["problem"]);
                assert!(take_files(folder) == made, "{verb} {flags:?} is refused, and leaves files");
                n_refused += 1;
            }
        }
    }
    (n_answered, n_refused)
}

/// What the command line prints as notes comes with the result, with its facts.
#[test]
fn notes_come_with_results() {
    let folder = people(60);
    let lacking = folder.read("people.csv").replacen("Oslo", "", 2);
    folder.write("people.csv", lacking);
    folder.write("incrowd.toml", PROJECT.replace("[data]", "[data]\nmissing_records = \"drop\""));
    let server = Server::start(&folder, &["."]);
    let body = json!({ "project": server.project(), "order": { "k": 2, "max_suppressed": "50%" } });
    for _ in 0..2 {
        let answer = server.post("/orders/negotiate", &body).is(202);
        let job = server.wait(answer.json()["job"]["id"].as_str().expect("a job"));
        let notes = &job["result"]["notes"];
        assert_eq!(notes[0]["code"], "dropped", "{job}");
        assert_eq!((&notes[0]["n_records"], &notes[0]["n_all"]), (&json!(2), &json!(60)), "{job}");
        let text = folder.run(&["negotiate", "--k", "2", "--max-suppressed", "50%"]).stderr;
        assert!(text.contains(notes[0]["text"].as_str().expect("words")), "{text}");
    }
}

/// The page's own routes bring the notes too, every time they are asked; without preview, none that counts values.
#[test]
fn the_page_gets_notes() {
    let folder = people(60);
    let lacking = folder.read("people.csv").replacen("Oslo", "", 2);
    folder.write("people.csv", lacking);
    let dropping = PROJECT.replace("[data]", "[data]\nmissing_records = \"drop\"");
    folder.write("incrowd.toml", format!("{dropping}\n[request]\nk = 2\n"));
    let codes = |notes: &Value| -> Vec<String> {
        let notes = notes.as_array().expect("notes").iter();
        notes.map(|note| note["code"].as_str().expect("a code").to_string()).collect()
    };
    for (flags, told) in [(&["."][..], true), (&[".", "--allow-preview=false"], false)] {
        let server = Server::start(&folder, flags);
        let wish = json!({ "k": 2, "max_suppressed": "50%" });
        let question = json!({ "project": server.project(), "request": wish });
        for _ in 0..2 {
            let answer = server.answer("/negotiate", &question).is(200).json();
            let notes = &answer["notes"];
            assert_eq!(codes(notes), ["dropped"], "{answer}");
            assert_eq!((&notes[0]["n_records"], &notes[0]["n_all"]), (&json!(2), &json!(60)), "{answer}");
            assert!(notes[0]["text"].as_str().is_some_and(|text| text.starts_with("2 of 60 records lack")), "{answer}");
        }
        let review = json!({ "project": server.project(), "request": wish, "choice": "exact" });
        for (path, question) in [
            ("/annotate", &question),
            ("/explore", &question),
            ("/scheme", &question),
            ("/sample", &question),
            ("/review", &review),
        ] {
            if told || path != "/sample" {
                let answer = server.answer(path, question).is(200).json();
                assert_eq!(codes(&answer["notes"]), ["dropped"], "{path} {answer}");
            }
        }
        let done = |path: &str, more: Value| {
            let mut question = question.clone();
            more.as_object().expect("fields").iter().for_each(|(key, value)| question[key] = value.clone());
            loop {
                let answer = server.post(path, &question).is(202);
                let job = server.wait(answer.json()["job"]["id"].as_str().expect("a job"));
                if job["kind"] != "count" && job["kind"] != "annotate" {
                    assert_eq!(job["state"], "done", "{job}");
                    assert_eq!(job["notes"], job["result"]["notes"], "{job}");
                    return job["result"]["notes"].clone();
                }
            }
        };
        let of_values: &[&str] = if told { &["dropped", "no_hierarchy"] } else { &["dropped"] };
        let methods = json!(["global:height", "top-down"]);
        assert_eq!(codes(&done("/compare", json!({ "methods": methods }))), of_values);
        let global = json!({ "choice": "exact", "output": "a.csv", "replace": true });
        assert_eq!(codes(&done("/publish", global)), ["dropped"]);
        let local = json!({ "choice": "method", "method": "top-down", "output": "b.csv", "replace": true });
        assert_eq!(codes(&done("/publish", local)), of_values);
        for name in ["a", "b"] {
            for end in [".csv", ".csv.certificate.json", ".csv.report.html"] {
                let _ = std::fs::remove_file(folder.path().join(format!("{name}{end}")));
            }
        }
    }
}

/// The page compares as the order does, where both are asked the same.
#[test]
fn the_page_compares_as_the_order_does() {
    let folder = people(120);
    let server = Server::start(&folder, &["."]);
    let methods = json!(["global:height", "global:entropy", "mondrian", "deal", "per-record"]);
    let wish = json!({ "k": 4, "disease:l": 2, "max_suppressed": "10%" });
    let page = json!({ "project": server.project(), "request": wish, "methods": methods });
    let mut order = wish.clone();
    order["methods"] = methods;
    let order = json!({ "project": server.project(), "order": order });
    let [page, order] = [("/compare", page), ("/orders/compare", order)].map(|(path, body)| {
        let answer = server.post(path, &body).is(202);
        let job = server.wait(answer.json()["job"]["id"].as_str().expect("a job"));
        assert_eq!(job["state"], "done", "{job}");
        job["result"].clone()
    });
    let [mut page, mut order] = [page["rows"].clone(), order["result"]["rows"].clone()];
    [&mut page, &mut order].into_iter().for_each(without_measurements);
    assert_eq!(page.as_array().map(Vec::len), Some(5), "{page}");
    assert_eq!(page, order);
    let unknown = json!({ "project": server.project(), "request": wish, "methods": ["mondrain"] });
    let refused = server.post("/compare", &unknown).is(422);
    assert!(refused.body.contains("did you mean 'mondrian'?"), "{}", refused.body);
}

/// Orders name files of the served folder only, and none is taken where the data are not to be seen.
#[test]
fn orders_stay_in_their_folder() {
    let folder = people(60);
    let server = Server::start(&folder, &["."]);
    for order in [json!({ "file": "/etc/passwd" }), json!({ "file": "../people.csv" })] {
        let answer = server.post("/orders/verify", &json!({ "project": server.project(), "order": order })).is(202);
        let job = server.wait(answer.json()["job"]["id"].as_str().expect("a job"));
        assert_eq!(job["state"], "failed", "{job}");
        assert!(!job.to_string().contains("root:"), "{job}");
    }
    let order = json!({ "k": 2, "output": "../kept.crowd" });
    let answer = server.post("/orders/annotate", &json!({ "project": server.project(), "order": order })).is(202);
    assert_eq!(server.wait(answer.json()["job"]["id"].as_str().expect("a job"))["state"], "failed");
    server.post("/orders/dance", &json!({ "project": server.project() })).is(404);
    let closed = Server::start(&folder, &[".", "--allow-preview=false"]);
    for verb in ["count", "negotiate", "attack", "compare"] {
        closed.post(&format!("/orders/{verb}"), &json!({ "project": closed.project() })).is(403);
    }
}

/// Where the whole lattice would not fit, the page works with its most promising part: it answers, shows and publishes
/// the same scheme, and says what that proves.
#[test]
fn a_large_lattice_is_answered_in_part() {
    let mut random = Random(3);
    let names = ["a", "b", "c", "d", "e"];
    let mut data = format!("{},ill\n", names.join(","));
    for _ in 0..200 {
        let cells: Vec<String> = names.iter().map(|_| (random.below(90)).to_string()).collect();
        data.push_str(&format!("{},{}\n", cells.join(","), random.pick(&["flu", "cold", "gout"])));
    }
    let mut project = String::from("[data]\npath = \"people.csv\"\n");
    for name in names {
        let rule = "{ intervals = [5, 10, 20, 40] }";
        project.push_str(&format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {rule}\n"));
    }
    project.push_str("[attributes.ill]\nrole = \"sensitive\"\n");
    let folder = Folder::with(&[("people.csv", &data), ("incrowd.toml", &project)]);
    let server = Server::start(&folder, &[".", "--memory", "3MB"]);
    for request in [json!({ "k": 3, "max_suppressed": "10%" }), json!({ "k": 60, "max_level": { "a": 1 } })] {
        let question = json!({ "project": server.project(), "request": request });
        let lattice = server.answer("/annotate", &question).is(200).json();
        let n_schemes = lattice["n_schemes"].as_u64().expect("a number");
        assert!(n_schemes > 100 && n_schemes < 7_776, "a part of 6^5 schemes: {n_schemes}");
        let answer = server.answer("/negotiate", &question).is(200).json();
        let words = answer["partial"]["in_words"].as_str().expect("what is proved");
        assert!(words.contains("of 7,776 schemes") && !words.contains("on_demand"), "{words}");
        server.answer("/explore", &question).is(200);
        server.answer("/scheme", &question).is(200);
        let choice = if answer["outcome"] == "exact" { "exact" } else { "height" };
        let offer = if choice == "exact" { &answer["exact"] } else { &answer["offers"]["height"] };
        let order = json!({ "project": server.project(), "request": request, "choice": choice, "replace": true });
        let review = server.answer("/review", &order).is(200).json();
        assert_eq!(review["offer"]["levels"], offer["levels"], "{review}");
        let job = server.work("/publish", &order);
        assert_eq!(job["result"]["certificate"]["levels"], offer["levels"], "{job}");
        folder.run(&["verify", "release.csv"]).ends(0);
    }
}
