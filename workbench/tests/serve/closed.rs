//! Without preview: whoever knows the key but must not see the data gets verified releases and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::serve::server::{Answer, Server, table};
use crate::support::{Folder, Random};

const PROJECT: &str = r#"
[data]
path = "people.csv"
[attributes.name]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = 7 }
[attributes.city]
role = "quasi-identifier"
hierarchy = "hierarchies/city.csv"
[attributes.job]
role = "quasi-identifier"
hierarchy = { tree = { Hand = ["Xcook", "Xsmith"], Desk = ["Xclerk"] } }
[attributes.disease]
role = "sensitive"
# It goes with the city below, and this is not about that.
[attributes.income]
role = "sensitive"
tells = "accepted"
[request]
k = 3
l = { disease = 2 }
max_suppressed = "50%"
"#;

/// Every cell but ages and incomes begins with an X and is met nowhere else; `secret` is in no role.
fn people() -> Folder {
    let mut random = Random(11);
    let mut data = String::from("name,age,postcode,city,job,disease,income,secret\n");
    let mut record = |i: usize, postcode: &str, city: &str, disease: &str| {
        let (age, job) = (20 + random.below(50), *random.pick(&["Xcook", "Xsmith", "Xclerk"]));
        data.push_str(&format!("Xperson{i},{age},{postcode},{city},{job},{disease},{},Xsecret{i}\n", i % 4));
    };
    for i in 0..300 {
        let city = ["Xoslo", "Xumea", "Xrome", "Xpisa"][i % 4];
        record(i, &format!("XP{:04}", i % 40), city, ["Xflu", "Xcold", "Xgout"][(i / 3) % 3]);
    }
    // Nobody is like these.
    record(300, "XRARE1", "Xlonetown", "Xflu");
    record(301, "XRARE2", "Xoslo", "Xcold");
    let cities = "Xoslo;XNorth;*\nXumea;XNorth;*\nXrome;XSouth;*\nXpisa;XSouth;*\nXlonetown;XSouth;*\n";
    Folder::with(&[
        ("people.csv", &data),
        ("incrowd.toml", PROJECT),
        ("hierarchies/city.csv", cities),
        ("other.csv", "a,b\nXother1,1\nXother2,2\n"),
        (
            "sub/incrowd.toml",
            "[data]\npath = \"../people.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n[attributes.name]\nrole = \"other\"\n",
        ),
    ])
}

/// Every word of a text that could be a cell of the table.
fn markers(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let is_marker = |word: &&str| {
        [
            "Xperson", "Xsecret", "Xother", "XP0", "XRARE", "Xlone", "Xoslo", "Xumea", "Xrome", "Xpisa", "XNorth",
            "XSouth",
        ]
        .iter()
        .chain(&["Xcook", "Xsmith", "Xclerk", "Xflu", "Xcold", "Xgout"])
        .any(|start| word.starts_with(start))
    };
    words.filter(is_marker).map(str::to_string).collect()
}

/// What a client has been told, and which releases it has got.
struct Attacker<'a> {
    server: &'a Server,
    folder: &'a Folder,
    releases: Vec<String>,
    n_refused: usize,
}

impl Attacker<'_> {
    #[track_caller]
    fn hear(&mut self, sent: &str, answer: &Answer) {
        assert!(answer.status < 500, "{sent}: {} {}", answer.status, answer.body);
        self.n_refused += usize::from(answer.status == 403);
        // What the client itself has sent is not news.
        let (told, known) = (markers(&format!("{}\n{}", answer.head, answer.body)), markers(sent));
        let news: Vec<&String> = told.difference(&known).collect();
        assert!(news.is_empty(), "{sent} is told {news:?}: {}", answer.body);
    }

    /// Asks whatever it takes; jobs are followed to their end, and what was published is looked at.
    #[track_caller]
    fn post(&mut self, path: &str, body: &Value) -> Value {
        let found = self.post_once(path, body);
        assert_eq!(measured_with_the_source(&found), Vec::<String>::new(), "{path} {body}");
        found
    }

    #[track_caller]
    fn post_once(&mut self, path: &str, body: &Value) -> Value {
        for _ in 0..20 {
            let answer = self.server.post(path, body);
            self.hear(&format!("{path} {body}"), &answer);
            if answer.status != 202 {
                return serde_json::from_str(&answer.body).unwrap_or_default();
            }
            let id = answer.json()["job"]["id"].as_str().expect("a job").to_string();
            let job = self.server.wait(&id);
            if job["kind"] == "publish" && job["state"] == "done" {
                self.take(&id, &job, body);
                return job;
            }
            self.hear(path, &Answer { status: 0, head: String::new(), body: job.to_string() });
            if job["state"] != "done" || ["compare", "publish", "open"].contains(&job["kind"].as_str().expect("a kind"))
            {
                return job;
            }
        }
        panic!("{path} never answers");
    }

    /// A release: verified, as private as the project wants it, and all that stands beside it says no more.
    #[track_caller]
    fn take(&mut self, id: &str, job: &Value, body: &Value) {
        let file = |which: &str| self.server.get(&format!("/jobs/{id}/files/{which}")).is(200).body;
        let (release, certificate) = (file("release"), file("certificate"));
        // It has the key, and numbers of the source.
        self.server.get(&format!("/jobs/{id}/files/report")).is(403);
        let path = job["result"]["files"]["release"].as_str().expect("a path");
        let verdict = self.folder.run(&["verify", path, "--json"]).ends(0).json();
        assert!(verdict["criteria"]["k"]["reached"].as_u64().is_some_and(|k| k >= 3), "{body}: {verdict}");
        let told = markers(&release);
        for never in ["Xperson", "Xsecret", "Xother", "XRARE", "Xlone"] {
            assert!(told.iter().all(|word| !word.starts_with(never)), "{never} in the release of {body}");
        }
        for (what, text) in [("certificate", certificate), ("job", job.to_string())] {
            // A tree that the project file spells out stands in the certificate, values and all.
            let own = ["Xcook", "Xsmith", "Xclerk"].map(String::from);
            let more: Vec<String> =
                markers(&text).into_iter().filter(|word| !told.contains(word) && !own.contains(word)).collect();
            assert!(more.is_empty(), "the {what} of {body} tells {more:?}");
        }
        self.releases.push(release);
    }
}

/// Documents that would show more than the served one.
fn hostile_documents(document: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let mut with = |edit: &dyn Fn(&mut Value)| {
        let mut edited = document.clone();
        edit(&mut edited);
        all.push(edited);
    };
    let names = ["name", "age", "postcode", "city", "job", "disease", "income", "secret"];
    for role in ["other", "sensitive", "quasi-identifier", "identifier"] {
        with(&|all| names.iter().for_each(|name| all["attributes"][name] = json!({ "role": role })));
        for name in names {
            with(&|all| all["attributes"][name] = json!({ "role": role, "hierarchy": { "flat": true } }));
        }
    }
    for name in names {
        with(&|all| drop(all["attributes"].as_object_mut().expect("a section").shift_remove(name)));
        for hierarchy in [
            json!({ "text": "Xperson1;yes;*\n", "name": "x.csv" }),
            json!({ "tree": { "yes": ["Xperson1"], "no": ["Xflu"] } }),
            json!({ "mask": [0] }),
            json!({ "cuts": [[30]] }),
            json!({ "file": "people.csv" }),
            json!("people.csv"),
            json!({ "kept": true, "text": "Xflu;a;*\n" }),
        ] {
            with(&|all| {
                all["attributes"][name]["role"] = json!("quasi-identifier");
                all["attributes"][name]["hierarchy"] = hierarchy.clone();
            });
        }
    }
    with(&|all| all["data"]["other"] = json!("keep"));
    with(&|all| all["data"]["missing"] = json!(["Xflu", "Xperson1"]));
    with(&|all| all["data"]["missing_records"] = json!("drop"));
    with(&|all| all["data"]["path"] = json!("other.csv"));
    with(&|all| all["data"]["path"] = json!("./people.csv"));
    with(&|all| all["data"]["delimiter"] = json!(";"));
    with(&|all| all["data"]["population"] = json!("people.csv"));
    with(&|all| all["attributes"]["disease"]["distance"] = json!("ordered"));
    with(&|all| all["attributes"] = json!({}));
    with(&|all| all["attributes"] = json!(3));
    with(&|all| *all = json!([]));
    with(&|all| all["more"] = json!({ "attributes": {} }));
    all
}

fn hostile_requests() -> Vec<Value> {
    vec![
        json!({}),
        json!({ "k": 1 }),
        json!({ "k": 2 }),
        json!({ "k": 3 }),
        json!({ "k": 1, "disease:l": 1 }),
        json!({ "k": 3, "disease:l": 1 }),
        json!({ "k": 2, "disease:l": 2 }),
        json!({ "k": 3, "income:l": 2 }),
        json!({ "disease:l": 3 }),
        json!({ "disease:alpha": 1.0 }),
        json!({ "disease:t": 1.0 }),
        json!({ "disease:beta": 1000000 }),
        json!({ "disease:delta": 1000 }),
        json!({ "disease:entropy_l": 1 }),
        json!({ "disease:recursive": { "c": 1000000, "l": 2 } }),
        json!({ "k_map": 1 }),
        json!({ "k": 3, "disease:l": 2, "max_level": { "age": 0, "postcode": 0, "city": 0, "job": 0 }, "max_suppressed": "100%" }),
        json!({ "k": 40, "disease:l": 2, "max_level": { "age": 0 }, "max_suppressed": 0 }),
        json!({ "k": 3, "disease:l": 2, "max_suppressed": "100%", "best_by": "ncp" }),
        json!({ "k": -1 }),
        json!({ "k": "Xflu" }),
        json!({ "Xflu:l": 2 }),
    ]
}

#[test]
fn a_client_without_preview_gets_no_value_that_is_not_in_a_verified_release() {
    let folder = people();
    let server = Server::start(&folder, &[".", "--allow-preview=false"]);
    let mut attacker = Attacker { server: &server, folder: &folder, releases: Vec::new(), n_refused: 0 };
    let before = folder.content();
    let about = server.get("/about").is(200);
    attacker.hear("/about", &about);
    let (project, document) = (about.json()["project"]["id"].clone(), about.json()["project"]["document"].clone());

    // Other data and other files.
    for path in
        ["people.csv", "other.csv", "incrowd.toml", ".", "sub", "sub/incrowd.toml", "../x", "hierarchies/city.csv"]
    {
        attacker.post("/open", &json!({ "path": path }));
        let uploaded = server.ask("PUT", &format!("/files?path={path}&replace=true"), "a,b\nXother1,1\n");
        attacker.hear(&format!("PUT {path}"), &uploaded);
        attacker.hear("GET", &server.get(&format!("/files?path={path}")));
        attacker.hear("GET", &server.get(&format!("/projects/{path}")));
        attacker.hear("GET", &server.get(&format!("/jobs/{path}/files/release")));
    }

    // Other roles, hierarchies and data: none of them is opened, and none that the served one would be asked with.
    let mut projects = vec![project.clone()];
    for hostile in hostile_documents(&document) {
        for base in [json!(null), project.clone()] {
            let answer = server.post("/projects", &json!({ "document": hostile, "base": base }));
            attacker.hear(&format!("/projects {hostile}"), &answer);
            if answer.status == 200 {
                projects.push(answer.json()["id"].clone());
            }
        }
    }
    for id in &projects {
        let opened = server.get(&format!("/projects/{}", id.as_str().expect("an id"))).is(200).json();
        assert_eq!(opened["document"], document, "what was opened is what is served");
    }

    // The request is the client's.
    let mut edited = document.clone();
    edited["request"] = json!({ "k": 1 });
    edited["attributes"]["age"]["weight"] = json!(5);
    let own = attacker.post("/projects", &json!({ "document": edited, "base": project }))["id"].clone();
    assert!(own.is_string());
    attacker.post("/save", &json!({ "project": own, "replace": true }));
    attacker.post("/save", &json!({ "project": project, "replace": true }));
    assert_eq!(folder.content(), before, "nothing was written");

    for project in [&project, &own] {
        attacker.post("/profile", &json!({ "project": project }));
        attacker.post("/annotate", &json!({ "project": project }));
        for attribute in ["name", "age", "postcode", "city", "job", "disease", "secret", "Xflu"] {
            for hierarchy in [
                json!(null),
                json!({ "kept": true }),
                json!({ "flat": true }),
                json!({ "mask": 1 }),
                json!({ "text": "Xperson1;a;*\n" }),
                json!({ "tree": { "a": ["Xflu"] } }),
                json!("people.csv"),
                json!({ "file": "other.csv" }),
            ] {
                attacker
                    .post("/hierarchy", &json!({ "project": project, "attribute": attribute, "hierarchy": hierarchy }));
            }
        }
        for (i, request) in hostile_requests().into_iter().enumerate() {
            let question = json!({ "project": project, "request": request });
            for path in ["/annotate", "/negotiate", "/explore", "/scheme", "/sample"] {
                attacker.post(path, &question);
                let mut exact = question.clone();
                (exact["levels"], exact["explain"]) = (json!({ "age": 0 }), json!(true));
                attacker.post(path, &exact);
            }
            attacker.post(
                "/compare",
                &json!({ "project": project, "request": request, "methods": ["global:ncp", "mondrian"], "target": "age" }),
            );
            for choice in ["exact", "suppression", "height", "privacy"] {
                let order = json!({ "project": project, "request": request, "choice": choice, "output": format!("a{i}{choice}.csv") });
                attacker.post("/review", &order);
                attacker.post("/publish", &order);
            }
            for levels in [json!({}), json!({ "age": 3, "postcode": 4 })] {
                let order = json!({ "project": project, "request": request, "choice": "levels", "levels": levels, "output": "b.csv", "replace": true });
                attacker.post("/review", &order);
                attacker.post("/publish", &order);
            }
        }
    }
    // A method loses nobody: who is like no one else appears with others, in ranges and labels of all of them.
    let n_before = attacker.releases.len();
    for method in incrowd::Method::ALL.map(incrowd::Method::name) {
        for request in
            [json!({ "k": 1 }), json!({ "k": 2, "disease:l": 2 }), json!({ "k": 9 }), json!({ "disease:l": 2 })]
        {
            let order = json!({ "project": project, "request": request, "choice": "method", "method": method });
            let status = attacker.post("/publish", &order)["status"].clone();
            assert!(status == 403 || status == 422, "{order}: {status}");
        }
        let request = json!({ "k": 9, "disease:l": 2 });
        attacker.post(
            "/publish",
            &json!({ "project": project, "request": request, "choice": "method", "method": method,
            "output": format!("{method}.csv") }),
        );
    }
    assert!(attacker.releases.len() >= n_before + 4);
    // Files that were there are still what they were.
    for path in ["people.csv", "other.csv", "hierarchies/city.csv", "incrowd.toml"] {
        let order = json!({ "project": project, "request": { "k": 3, "disease:l": 2 }, "choice": "suppression", "output": path, "replace": true });
        attacker.post("/publish", &order);
    }
    before.iter().for_each(|(name, content)| assert!(folder.bytes(name) == *content, "{name} was replaced"));
    assert!(
        attacker.releases.len() > 5 && attacker.n_refused > 100,
        "{} {}",
        attacker.releases.len(),
        attacker.n_refused
    );
}

/// Bodies of every kind to every route.
#[test]
fn no_body_makes_a_closed_server_talk() {
    let folder = people();
    let server = Server::start(&folder, &[".", "--allow-preview=false"]);
    let mut attacker = Attacker { server: &server, folder: &folder, releases: Vec::new(), n_refused: 0 };
    let project = server.project();
    let openapi: Value = serde_json::from_str(incrowd_workbench::serve::OPENAPI).expect("it is JSON");
    let mut random = Random(5);
    let paths: Vec<&str> =
        openapi["paths"].as_object().expect("paths").keys().map(|path| path.trim_start_matches("/api/v1")).collect();
    for _ in 0..400 {
        let path = random.pick(&paths).replace("{id}", &project).replace("{which}", "release");
        let mut body = json!({});
        for key in [
            "project",
            "request",
            "levels",
            "place",
            "explain",
            "attribute",
            "hierarchy",
            "document",
            "base",
            "path",
            "choice",
            "method",
            "methods",
            "output",
            "replace",
            "local",
            "offer",
            "node",
        ] {
            if random.below(3) > 0 {
                continue;
            }
            body[key] = match (key, random.below(4)) {
                ("project" | "base", 0..3) => json!(project),
                ("request", 0..3) => random.pick(&hostile_requests()).clone(),
                ("attribute", 0..3) => json!(random.pick(&["name", "age", "city", "secret"])),
                ("choice", 0..3) => json!(random.pick(&["exact", "levels", "method", "privacy"])),
                _ => random
                    .pick(&[json!(null), json!(0), json!("Xflu"), json!([]), json!({ "age": 0 }), json!(true)])
                    .clone(),
            };
        }
        body["project"] = json!(project);
        let method = *random.pick(&["POST", "POST", "GET", "PUT", "DELETE"]);
        let answer = server.ask(method, &path, &body.to_string());
        attacker.hear(&format!("{method} {path} {body}"), &answer);
    }
}

/// A project with each criterion in its request: what is weaker is refused, what is as strict or stricter is not.
#[test]
fn nothing_below_the_standing_request_is_negotiated_or_published() {
    let cases = [
        ("k = 4", json!({ "k": 4 }), json!({ "k": 5 }), json!({ "k": 3 })),
        ("l = 2", json!({ "l": 2 }), json!({ "l": 3 }), json!({ "l": 1 })),
        ("alpha = 0.8", json!({ "alpha": 0.8 }), json!({ "alpha": 0.7 }), json!({ "alpha": 0.9 })),
        ("entropy_l = 1.5", json!({ "entropy_l": 1.5 }), json!({ "entropy_l": 1.6 }), json!({ "entropy_l": 1.4 })),
        ("t = 0.5", json!({ "t": 0.5 }), json!({ "t": 0.4 }), json!({ "t": 0.6 })),
        ("delta = 3", json!({ "delta": 3 }), json!({ "delta": 2.5 }), json!({ "delta": 4 })),
        ("beta = 3", json!({ "beta": 3 }), json!({ "beta": 2.5 }), json!({ "beta": 4 })),
        (
            "enhanced_beta = 3",
            json!({ "enhanced_beta": 3 }),
            json!({ "enhanced_beta": 2.5 }),
            json!({ "enhanced_beta": 4 }),
        ),
        (
            "recursive = [3, 2]",
            json!({ "recursive": { "c": 3, "l": 2 } }),
            json!({ "recursive": { "c": 2, "l": 2 } }),
            json!({ "recursive": { "c": 4, "l": 2 } }),
        ),
        ("k = 3\nl = 2", json!({ "k": 3, "l": 2 }), json!({ "k": 30, "l": 3 }), json!({ "k": 30 })),
        ("k = 3\nt = 0.5", json!({ "t": 0.5, "k": 3 }), json!({ "t": 0.5, "k": 4, "l": 2 }), json!({ "t": 0.1 })),
        // What promises nothing is no promise.
        ("max_suppressed = 0", json!({ "k": 2 }), json!({ "l": 2 }), json!({ "k": 1 })),
        ("k = 1", json!({ "k": 2 }), json!({ "k": 1, "l": 2 }), json!({ "k": 1 })),
        ("best_by = \"ncp\"", json!({ "k": 2, "t": 0.9 }), json!({ "l": 3 }), json!({ "t": 1.0, "k": 1 })),
    ];
    for (standing, same, stricter, weaker) in cases {
        let folder = table();
        let text = folder.read("incrowd.toml");
        let start = text.find("[request]").expect("a section");
        folder.write("incrowd.toml", format!("{}[request]\n{standing}\n", &text[..start]));
        let server = Server::start(&folder, &[".", "--allow-preview=false"]);
        let project = server.project();
        let questions = |request: &Value| {
            let question = json!({ "project": project, "request": request });
            let with = |choice: &str, more: Value| {
                let mut order = json!({ "project": project, "request": request, "choice": choice });
                order.as_object_mut().expect("an order").extend(more.as_object().expect("more").clone());
                order
            };
            vec![
                ("/negotiate", question.clone()),
                ("/explore", question.clone()),
                ("/scheme", question.clone()),
                ("/negotiate-local", question.clone()),
                ("/explore-local", question.clone()),
                ("/compare", question),
                ("/review", with("suppression", json!({ "local": true }))),
                ("/publish", with("suppression", json!({ "local": true }))),
                ("/review", with("suppression", json!({}))),
                ("/review", with("levels", json!({ "levels": { "age": 4 } }))),
                ("/publish", with("suppression", json!({}))),
                ("/publish", with("levels", json!({ "levels": { "age": 4, "city": 2 } }))),
            ]
        };
        for (path, body) in questions(&weaker) {
            let refused = server.answer(path, &body).is(403);
            assert!(refused.json()["hint"].is_string(), "{}", refused.body);
        }
        assert!(!folder.has("release.csv"), "{standing}");
        for request in [same, stricter] {
            for (path, body) in
                questions(&request).into_iter().filter(|(path, _)| !["/compare", "/publish"].contains(path))
            {
                let status = server.answer(path, &body).status;
                assert!(status == 200 || status == 422, "{standing}: {path} {body} {status}");
            }
        }
    }
}

/// An offer that gives up privacy is made as far as the project goes.
#[test]
fn no_offer_goes_below_the_standing_request() {
    let folder = table();
    let text = folder.read("incrowd.toml").replace("k = 3", "k = 8");
    folder.write("incrowd.toml", text);
    let hard = json!({ "k": 30, "max_suppressed": 0, "max_level": { "age": 1, "city": 1 } });
    let shown = Server::start(&folder, &["."]);
    let offered = shown.answer("/negotiate", &json!({ "project": shown.project(), "request": hard })).is(200).json();
    let k = offered["offers"]["privacy"]["k"].as_u64().expect("less privacy is offered");
    assert!((1..30).contains(&k), "{offered}");
    for least in [k, k + 1] {
        let text = folder.read("incrowd.toml");
        let line = text.lines().find(|line| line.starts_with("k = ")).expect("a standing k").to_string();
        folder.write("incrowd.toml", text.replace(&line, &format!("k = {least}")));
        let server = Server::start(&folder, &[".", "--allow-preview=false"]);
        let project = server.project();
        let question = json!({ "project": project, "request": hard });
        let answer = server.answer("/negotiate", &question).is(200).json();
        assert_eq!(answer["offers"]["privacy"].is_null(), least > k, "{answer}");
        let around = server.answer("/explore", &question).is(200).json();
        assert_eq!(around["marks"]["privacy"].is_null(), least > k, "{around}");
        let points = around["against_privacy"]["points"].as_array().expect("points").clone();
        assert!(points.iter().all(|point| point["value"].as_u64().is_some_and(|k| k >= least)), "{points:?}");
        let frontier = server.work("/compare", &question)["result"]["frontier"]["bargains"].clone();
        let bargains = frontier.as_array().expect("bargains");
        assert!(bargains.iter().all(|one| one["value"].as_u64().is_some_and(|k| k >= least)), "{frontier}");
        let order = json!({ "project": project, "request": hard, "choice": "privacy", "replace": true });
        assert_eq!(server.answer("/review", &order).status == 200, least <= k);
    }
}

/// Ranges are values of the data, and what they lose is measured with it: neither is told, and no limit tells it.
#[test]
fn a_closed_server_tells_no_range_and_no_loss_of_groups() {
    let folder = table();
    let server = Server::start(&folder, &[".", "--allow-preview=false"]);
    let project = server.project();
    let request = json!({ "k": 5, "max_suppressed": 3 });
    let question = json!({ "project": project, "request": request });
    let answer = server.answer("/negotiate-local", &question).is(200).json();
    let offer = &answer["exact"];
    assert!(offer["loss"].is_null() && offer["loss_at_least"].is_null(), "{offer}");
    assert!(offer["loss_of"].as_object().expect("by attribute").values().all(Value::is_null), "{offer}");
    assert!(offer["n_groups"].as_u64().is_some_and(|n| n > 1));
    let around = server.answer("/explore-local", &question).is(200).json();
    assert!(around.get("groups").is_none() && around.get("sample").is_none(), "{around}");
    let points = around["against_privacy"]["points"].as_array().expect("points").clone();
    assert!(!points.is_empty() && points.iter().all(|point| point["best"]["loss"].is_null()), "{points:?}");
    server.answer("/group", &json!({ "project": project, "request": request, "node": 0 })).is(403);
    let limited = json!({ "k": 5, "max_loss": 0.5 });
    for (path, body) in [
        ("/negotiate-local", json!({ "project": project, "request": limited })),
        ("/explore-local", json!({ "project": project, "request": limited })),
        ("/review", json!({ "project": project, "request": limited, "choice": "exact", "local": true })),
    ] {
        let refused = server.answer(path, &body);
        assert!((400..500).contains(&refused.status), "{path} {}", refused.body);
    }
    let review = json!({ "project": project, "request": request, "choice": "exact", "local": true });
    assert!(server.answer("/review", &review).is(200).json()["cut"]["loss"].is_null());
}

#[test]
fn a_closed_server_needs_a_project() {
    let folder = Folder::with(&[("other.csv", "a,b\n1,2\n")]);
    let refused = folder.run(&["serve", ".", "--allow-preview=false"]).ends(2);
    assert!(refused.stderr.contains("--allow-preview"), "{refused}");
    // Which l is meant must be known before anybody asks.
    let text = PROJECT.replace("l = { disease = 2 }", "l = 2");
    folder.write("incrowd.toml", &text);
    folder.write("people.csv", people().read("people.csv"));
    folder.write("hierarchies/city.csv", people().read("hierarchies/city.csv"));
    let refused = folder.run(&["serve", ".", "--allow-preview=false"]).ends(2);
    assert!(refused.stderr.contains("[request]"), "{refused}");
}

/// Numbers from which what suppressed records have could be computed: losses over the range of the source, and what is
/// reached of criteria that compare with its distribution.
fn measured_with_the_source(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    match value {
        Value::Array(values) => found.extend(values.iter().flat_map(measured_with_the_source)),
        Value::Object(entries) => {
            for (key, value) in entries {
                let is_loss = ["ncp", "entropy", "loss"].contains(&key.as_str()) && value.is_number();
                if is_loss {
                    found.push(key.clone());
                }
                if let (true, Some(reached)) = (key == "reached", value.as_object()) {
                    let is_told = |(key, value): &(&String, &Value)| key.ends_with('t') && value.is_number();
                    found.extend(reached.iter().filter(is_told).map(|(key, _)| key.clone()));
                }
                found.extend(measured_with_the_source(value));
            }
        }
        _ => {}
    }
    found
}
