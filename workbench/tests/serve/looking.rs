//! Looking closer: groups, before and after, steps from a scheme, and jobs.

use serde_json::{Value, json};

use crate::serve::server::{Server, VALUES, table};

fn sum(values: &Value, of: impl Fn(&Value) -> u64) -> u64 {
    values.as_array().expect("a list").iter().map(of).sum()
}

#[test]
fn groups_and_spreads_add_up_to_the_scheme() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    for levels in [json!({ "age": 0, "city": 0 }), json!({ "age": 2, "city": 1 }), json!({ "age": 1, "city": 2 })] {
        for wish in [json!({ "k": 9 }), json!({ "k": 3, "l": 3 }), json!({ "k": 40, "max_suppressed": 400 })] {
            let question = json!({ "project": server.project(), "request": wish, "levels": levels });
            let scheme = server.answer("/scheme", &question).is(200).json();
            let groups = server.answer("/groups", &question).is(200).json();
            let n_lost = sum(&groups["by_size"], |one| one["n_records_lost"].as_u64().expect("a number"));
            assert_eq!(json!(n_lost), scheme["n_suppressed"], "{levels} {wish}");
            let n_kept = sum(&groups["by_size"], |one| one["n_kept"].as_u64().expect("a number"));
            assert_eq!(json!(n_kept), scheme["n_groups"], "{levels} {wish}");
            let average = scheme["n_groups"].as_f64().expect("a number") / (400 - n_lost).max(1) as f64;
            let told = groups["risk"]["average"].as_f64().unwrap_or(0.0);
            assert!((told - average).abs() < 1e-6, "{told} for {average}");
            for group in groups["groups"].as_array().expect("groups") {
                let is_small = group["size"].as_u64() < wish["k"].as_u64();
                let missed: Vec<&str> =
                    group["missed"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
                assert_eq!(missed.contains(&"k"), is_small, "{group}");
            }
            let mut pair = question.clone();
            (pair["down"], pair["across"]) = (json!("city"), json!("age"));
            let spread = server.answer("/spread", &pair).is(200).json();
            let n_published = 400 - scheme["n_suppressed"].as_u64().expect("a number");
            assert_eq!(spread["n_published"], n_published);
            for one in spread["spreads"].as_array().expect("spreads") {
                assert_eq!(sum(&one["labels"], |label| label[1].as_u64().expect("a number")), 400);
                assert_eq!(sum(&one["labels"], |label| label[2].as_u64().expect("a number")), n_published);
            }
            let cells = |i: usize| sum(&spread["pair"], |row| sum(row, |cell| cell[i].as_u64().expect("a number")));
            assert_eq!((cells(0), cells(1)), (400, n_published));
        }
    }
}

#[test]
fn groups_are_found_by_label_and_size_and_what_would_save_them_is_true() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let mut question = json!({ "project": server.project(), "request": { "k": 9 }, "levels": { "age": 0, "city": 0 }, "find": "xoslo" });
    let found = server.answer("/groups", &question).is(200).json();
    let all = found["groups"].as_array().expect("groups");
    assert!(!all.is_empty() && all.iter().all(|group| group["labels"][1] == "Xoslo"), "{found}");
    // What it contains is what its records have.
    assert_eq!(found["sensitive"], json!(["disease"]));
    for group in all {
        let values = group["contains"][0]["values"].as_array().expect("values");
        let n: u64 = values.iter().map(|value| value[1].as_u64().expect("a number")).sum();
        let of = |name: &str| format!(",{},Xoslo,{name}\n", group["labels"][0].as_str().expect("an age"));
        let data = folder.read("table.csv");
        assert!(
            values
                .iter()
                .all(|value| data.matches(&of(value[0].as_str().expect("a value"))).count() as u64 == value[1])
        );
        assert_eq!((json!(n), &group["contains"][0]["n_others"]), (group["size"].clone(), &json!(0)));
    }
    // With age one level coarser the group is as large as that group is there.
    let group = &all[0];
    question["levels"]["age"] = json!(1);
    let coarser = server.answer("/groups", &question).is(200).json();
    let sizes: Vec<&Value> = coarser["groups"].as_array().expect("groups").iter().map(|group| &group["size"]).collect();
    assert!(sizes.contains(&&group["size_by_next"][0]), "{group} {sizes:?}");
    question["size"] = json!(3);
    let of_size = server.answer("/groups", &question).is(200).json();
    assert!(of_size["groups"].as_array().expect("groups").iter().all(|group| group["size"] == 3));
}

#[test]
fn a_step_from_a_scheme_is_the_scheme_that_it_leads_to() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let mut question = json!({ "project": server.project(), "request": { "k": 9 }, "levels": { "age": 1, "city": 0 } });
    assert!(server.answer("/scheme", &question).is(200).json().get("steps").is_none());
    question["explain"] = json!(true);
    let scheme = server.answer("/scheme", &question).is(200).json();
    let steps = scheme["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 3, "{scheme}");
    for step in steps {
        let there = json!({ "project": question["project"], "request": question["request"], "place": step["place"] });
        let there = server.answer("/scheme", &there).is(200).json();
        assert_eq!((&there["n_suppressed"], &there["loss"]["ncp"]), (&step["n_suppressed"], &step["loss"]["ncp"]));
        let attribute = step["attribute"].as_str().expect("a name");
        let by = |document: &Value| document["levels"][attribute].as_i64().expect("a level");
        assert_eq!(by(&there) - by(&scheme), if step["is_coarser"] == true { 1 } else { -1 });
    }
}

#[test]
fn values_are_for_those_who_may_see_them() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let closed = Server::start(&folder, &[".", "--allow-preview=false"]);
    for path in ["/groups", "/spread"] {
        let question = json!({ "project": server.project(), "request": { "k": 3 }, "levels": { "age": 0, "city": 0 } });
        let seen = server.answer(path, &question).is(200).body;
        assert!(VALUES.iter().any(|value| seen.contains(value)), "{path} shows something to see");
        server.ask_as_guest("POST", path, &question.to_string()).is(403);
        let question = json!({ "project": closed.project(), "request": { "k": 3 } });
        let refused = closed.answer(path, &question).is(403);
        assert!(VALUES.iter().all(|value| !refused.body.contains(value)));
    }
}

#[test]
fn jobs_are_listed_and_a_search_ends_with_its_best() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let order = json!({ "on_demand": true, "k": 3, "max_suppressed": 400, "time": "30s" });
    let answer =
        server.post("/orders/negotiate", &json!({ "project": server.project(), "order": order })).is(202).json();
    let id = answer["job"]["id"].as_str().expect("a job").to_string();
    let listed = server.get("/jobs").is(200).json();
    assert_eq!((&listed["jobs"][0]["id"], &listed["jobs"][0]["kind"]), (&json!(id), &json!("order")), "{listed}");
    server.post(&format!("/jobs/{id}/enough"), &json!({})).is(200);
    let job = server.wait(&id);
    assert_eq!(job["state"], "done", "{job}");
    assert!(job["result"]["result"]["on_demand"]["n_evaluated"].is_number(), "{job}");
    // Results are not listed: whoever wants one asks for it.
    assert!(server.get("/jobs").json()["jobs"][0].get("result").is_none());
    server.post("/jobs/0/enough", &json!({})).is(404);
    server.ask_as_guest("GET", "/jobs", "").is(403);
}

#[test]
fn a_certificate_is_taken_with_its_release_and_nothing_that_is_none() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let order = json!({ "project": server.project(), "request": { "k": 3, "max_suppressed": 40 }, "choice": "exact" });
    assert_eq!(server.answer("/review", &order).status, 200);
    assert_eq!(server.work("/publish", &order)["state"], "done");
    let certificate = folder.read("release.csv.certificate.json");
    server.ask("PUT", "/files?path=dropped.csv.certificate.json", &certificate).is(201);
    server.ask("PUT", "/files?path=dropped.csv", &folder.read("release.csv")).is(201);
    let judged = |order: Value| server.work("/orders/verify", &json!({ "project": server.project(), "order": order }));
    let kept = judged(json!({ "file": "dropped.csv", "certificate": "dropped.csv.certificate.json" }));
    assert_eq!(kept["result"]["result"]["answer"], "kept", "{kept}");
    for text in ["{}", "not JSON", "a,b\n1,2\n"] {
        server.ask("PUT", "/files?path=evil.certificate.json", text).is(422);
    }
    assert!(!folder.has("evil.certificate.json"));
    server.ask("PUT", "/files?path=evil.json", "{}").is(422);
}

#[test]
fn what_is_published_coarser_is_shown_so_before_it_is() {
    let folder = table();
    let lines: Vec<String> = folder
        .read("table.csv")
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            0 => format!("{line},pay,town"),
            _ => format!("{line},{},{}", 1000 + i * 37, ["Xa1", "Xa2", "Xb1"][i % 3]),
        })
        .collect();
    folder.write("table.csv", &(lines.join("\n") + "\n"));
    let more = "[attributes.pay]\nrole = \"other\"\nunique = \"publish\"\npublish_as = { round = 1000 }\n\
        [attributes.town]\nrole = \"other\"\nhierarchy = { mask = 2 }\npublish_as = { level = 1 }\n[request]";
    folder.write("incrowd.toml", folder.read("incrowd.toml").replace("[request]", more));
    let server = Server::start(&folder, &["."]);
    let question = json!({ "project": server.project(), "request": { "k": 3, "max_suppressed": 40 } });
    let sample = server.answer("/sample", &question).is(200).json();
    let records = sample["records"].as_array().expect("records");
    assert!(records.len() > 5);
    for record in records {
        let (before, after) = (&record["before"], &record["after"]);
        let pay: u64 = before["pay"].as_str().expect("a number").parse().expect("a number");
        let rounded = (pay + 500) / 1000 * 1000;
        assert_eq!(after["pay"], json!(rounded.to_string()), "{record}");
        assert_eq!(after["town"], json!(format!("{}*", &before["town"].as_str().expect("a town")[..2])), "{record}");
    }
    let order = json!({ "project": server.project(), "request": { "k": 3, "max_suppressed": 40 }, "choice": "exact" });
    let review = server.answer("/review", &order).is(200).json();
    let coarser = json!([
        { "attribute": "pay", "in_words": "rounded to multiples of 1000" },
        { "attribute": "town", "in_words": "by level 1 of its hierarchy" },
    ]);
    assert_eq!(review["coarser"], coarser);
    // And so they are published.
    assert_eq!(server.work("/publish", &order)["state"], "done");
    let release = folder.read("release.csv");
    let places: Vec<&str> = release.lines().next().expect("a header").split(',').collect();
    let cell = |line: &str, name: &str| {
        line.split(',').nth(places.iter().position(|p| *p == name).expect("it is there")).expect("a cell").to_string()
    };
    assert!(
        release.lines().skip(1).all(|line| cell(line, "pay").ends_with("000") && cell(line, "town").ends_with('*'))
    );
    // With ranges per group, too.
    let local = json!({ "project": server.project(), "request": { "k": 3 } });
    let sample = server.answer("/explore-local", &local).is(200).json()["sample"].clone();
    assert!(
        sample["records"]
            .as_array()
            .expect("records")
            .iter()
            .all(|record| { record["after"]["pay"].as_str().expect("a number").ends_with("000") })
    );
}
