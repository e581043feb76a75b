//! Two keys, two roles: a guest negotiates and compares, and gets to nothing else.

use serde_json::{Value, json};

use crate::serve::server::{Answer, PROJECT, Server, VALUES, table};
use crate::support::Folder;

/// The table with a policy; without it where the text is empty.
fn with_policy(policy: &str) -> Folder {
    let folder = table();
    folder.write("incrowd.toml", format!("{PROJECT}{policy}"));
    folder
}

struct Guest<'a>(&'a Server);

impl Guest<'_> {
    /// Asks until there is an answer; jobs are the guest's own.
    #[track_caller]
    fn post(&self, path: &str, body: &Value) -> Answer {
        for _ in 0..300 {
            let answer = self.0.ask_as_guest("POST", path, &body.to_string());
            if answer.status != 202 {
                return answer;
            }
            let id = answer.json()["job"]["id"].as_str().expect("a job").to_string();
            let events = self.0.ask_as_guest("GET", &format!("/jobs/{id}/events"), "").is(200);
            let last = events.body.lines().rev().find_map(|line| line.strip_prefix("data: ")).expect("an event");
            let job: Value = serde_json::from_str(last).expect("JSON");
            if job["state"] != "done" || job["kind"] == "compare" {
                return Answer { status: 0, head: String::new(), body: last.to_string() };
            }
        }
        panic!("{path} never answers");
    }
}

#[test]
fn a_guest_negotiates_and_compares_and_sees_no_value() {
    let folder = with_policy("");
    let server = Server::start(&folder, &["."]);
    let guest = Guest(&server);
    let about = server.ask_as_guest("GET", "/about", "").is(200);
    assert_eq!(about.json()["role"], "guest");
    assert_eq!(about.json()["allows_preview"], false);
    assert_eq!(server.get("/about").json()["role"], "curator");
    let project = server.project();
    let question = json!({ "project": project, "request": { "k": 4, "max_suppressed": 20 } });
    let mut told = vec![about];
    for path in ["/annotate", "/negotiate", "/explore", "/negotiate-local", "/explore-local", "/profile", "/compare"] {
        let body = if path == "/profile" { json!({ "project": project }) } else { question.clone() };
        let answer = guest.post(path, &body);
        assert!([0, 200].contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
        told.push(answer);
    }
    assert_eq!(told[7].json()["state"], "done", "{}", told[7].body);
    for answer in &told {
        let seen: Vec<&&str> = VALUES.iter().filter(|value| answer.body.contains(**value)).collect();
        assert!(seen.is_empty(), "{seen:?} in {}", answer.body);
    }
    // Of the same question the curator hears what is lost of the values.
    let loss = |answer: &Answer| answer.json()["exact"]["loss"]["ncp"].clone();
    assert!(loss(&told[2]).is_null(), "{}", told[2].body);
    assert!(loss(&server.answer("/negotiate", &question).is(200)).is_number());
}

#[test]
fn a_guest_gets_to_nothing_that_is_not_named_for_guests() {
    let folder = with_policy("");
    let server = Server::start(&folder, &["."]);
    let open = [
        "get /openapi.json",
        "get /about",
        "post /projects",
        "get /projects/{id}",
        "post /profile",
        "post /hierarchy",
        "post /annotate",
        "post /negotiate",
        "post /explore",
        "post /scheme",
        "post /negotiate-local",
        "post /explore-local",
        "post /compare",
        "get /jobs/{id}",
        "delete /jobs/{id}",
        "get /jobs/{id}/events",
        "get /desks",
        "get /desks/events",
        "post /desks/move",
        "post /desks/agree",
    ];
    let document: Value = serde_json::from_str(incrowd_workbench::serve::OPENAPI).expect("JSON");
    let mut n_refused = 0;
    for (path, ways) in document["paths"].as_object().expect("paths") {
        for method in ways
            .as_object()
            .expect("ways")
            .keys()
            .filter(|way| ["get", "post", "put", "delete"].contains(&way.as_str()))
        {
            let path = path.strip_prefix("/api/v1").expect("below the API");
            let asked = path.replace("{id}", "0").replace("{verb}", "publish").replace("{which}", "release");
            let body =
                json!({ "project": server.project(), "request": { "k": 3 }, "choice": "exact", "path": "table.csv" });
            let answer = server.ask_as_guest(&method.to_uppercase(), &asked, &body.to_string());
            let is_open = open.contains(&format!("{method} {path}").as_str());
            let is_refused = answer.status == 403 && answer.body.contains("curator's key");
            assert_eq!(is_refused, !is_open, "{method} {path}: {} {}", answer.status, answer.body);
            n_refused += usize::from(is_refused);
        }
    }
    assert!(n_refused >= 9, "{n_refused}");
    // Other ways to ask, and other addresses.
    for (method, path) in [("PUT", "/negotiate"), ("POST", "/nothing"), ("PATCH", "/files"), ("DELETE", "/about")] {
        server.ask_as_guest(method, path, "").is(403);
    }
    assert_eq!(folder.names().into_iter().filter(|name| name.contains("release")).count(), 0);
}

#[test]
fn a_guest_changes_no_role_and_knows_no_project_or_job_of_the_curator() {
    let folder = with_policy("");
    let server = Server::start(&folder, &["."]);
    let guest = Guest(&server);
    let opened = server.get("/about").json()["project"].clone();
    let mut document = opened["document"].clone();
    document["attributes"]["name"]["role"] = json!("other");
    let edit = json!({ "document": document, "base": opened["id"] });
    guest.post("/projects", &edit).is(403);
    let edited = server.post("/projects", &edit).is(200).json();
    // Whoever is given the number of what the curator made of it gets no further.
    let question = json!({ "project": edited["id"], "request": { "k": 3 } });
    server.answer("/negotiate", &question).is(200);
    guest.post("/negotiate", &question).is(404);
    server.ask_as_guest("GET", &format!("/projects/{}", edited["id"].as_str().expect("an id")), "").is(404);
    let job = server.post("/compare", &json!({ "project": opened["id"], "request": { "k": 3 } })).is(202).json();
    let id = job["job"]["id"].as_str().expect("a job");
    server.ask_as_guest("GET", &format!("/jobs/{id}"), "").is(404);
    server.ask_as_guest("DELETE", &format!("/jobs/{id}"), "").is(404);
    // Weights and wishes may be changed, as on a server without preview; many of them push out nothing of the curator's.
    for weight in 1..80 {
        let shown = server.ask_as_guest("GET", "/about", "").json()["project"].clone();
        let mut document = shown["document"].clone();
        document["attributes"]["age"]["weight"] = json!(weight);
        guest.post("/projects", &json!({ "document": document, "base": shown["id"] })).is(200);
    }
    server.get(&format!("/projects/{}", edited["id"].as_str().expect("an id"))).is(200);
}

#[test]
fn a_guest_asks_for_nothing_below_the_floor_and_moves_nothing_that_is_locked() {
    let policy = "[policy]\nmin_k = 2\nmin_l = 2\nlocked = [\"max_suppressed\", \"age\"]\n";
    let folder = with_policy(policy);
    let server = Server::start(&folder, &["."]);
    let guest = Guest(&server);
    let project = server.project();
    let ask = |path: &str, request: Value| guest.post(path, &json!({ "project": project, "request": request }));
    let fine = json!({ "k": 2, "l": 2, "max_suppressed": "5%" });
    // 5 % of 400 records.
    let same = json!({ "k": 3, "l": 3, "max_suppressed": 20, "max_level": { "age": 4 } });
    for path in ["/negotiate", "/explore", "/scheme"] {
        ask(path, fine.clone()).is(200);
        ask(path, same.clone()).is(200);
        for (request, word) in [
            (json!({ "k": 1, "l": 2, "max_suppressed": "5%" }), "less"),
            (json!({ "k": 2, "max_suppressed": "5%" }), "less"),
            (json!({ "l": 2, "max_suppressed": "5%" }), "less"),
            (json!({ "k": 2, "l": 1, "max_suppressed": "5%" }), "less"),
            (json!({ "k": 2, "l": 2, "max_suppressed": 21 }), "max_suppressed is locked"),
            (json!({ "k": 2, "l": 2 }), "max_suppressed is locked"),
            (json!({ "k": 2, "l": 2, "max_suppressed": "5%", "max_level": { "age": 1 } }), "age is locked"),
        ] {
            let answer = ask(path, request.clone()).is(403);
            assert!(answer.body.contains(word), "{request}: {}", answer.body);
        }
    }
    for path in ["/negotiate-local", "/explore-local"] {
        ask(path, fine.clone()).is(200);
        ask(path, json!({ "k": 2, "l": 2, "max_suppressed": 0 })).is(403);
        ask(path, json!({ "k": 1, "l": 2, "max_suppressed": "5%" })).is(403);
    }
    let compared = ask("/compare", json!({ "k": 2, "l": 2, "max_suppressed": 0 })).json();
    assert_eq!(compared["state"], "failed", "{compared}");
    assert_eq!(ask("/compare", fine).json()["state"], "done");
    // The curator's key does everything.
    server.answer("/negotiate", &json!({ "project": project, "request": { "k": 2, "max_suppressed": 400 } })).is(200);
    // A policy is no wish that could be edited away.
    let shown = server.ask_as_guest("GET", "/about", "").json()["project"].clone();
    let mut document = shown["document"].clone();
    assert_eq!(document["policy"]["min_k"], 2);
    document["policy"]["min_k"] = json!(1);
    guest.post("/projects", &json!({ "document": document, "base": shown["id"] })).is(403);
    let mut document = shown["document"].clone();
    document["request"]["max_suppressed"] = json!("90%");
    let other = guest.post("/projects", &json!({ "document": document, "base": shown["id"] })).is(200).json();
    let moved = json!({ "project": other["id"], "request": { "k": 2, "l": 2, "max_suppressed": "90%" } });
    guest.post("/negotiate", &moved).is(403);
}

#[test]
fn what_a_policy_cannot_mean_is_refused() {
    for (policy, word) in [
        ("[policy]\nmin_k = 0\n", "min_k"),
        ("[policy]\nmin_k = \"5\"\n", "min_k"),
        ("[policy]\nmin_l = { city = 2 }\n", "city"),
        ("[policy]\nlocked = [\"agee\"]\n", "did you mean 'age'"),
        ("[policy]\nmax_k = 3\n", "max_k"),
    ] {
        let folder = with_policy(policy);
        let told = folder.run(&["negotiate"]).ends(2);
        assert!(told.stderr.contains(word), "{policy}: {}", told.stderr);
    }
}

#[test]
fn both_addresses_are_printed_and_no_key_is_the_other() {
    let folder = with_policy("");
    let server = Server::start(&folder, &["."]);
    assert_ne!(server.guest.as_ref(), Some(&server.token));
    let token = "0123456789abcdef";
    folder.run(&["serve", ".", "--token", token, "--guest-token", token]).ends(2);
    folder.run(&["serve", ".", "--guest-token", "short"]).ends(2);
    let empty = Folder::with(&[("note.md", "nothing")]);
    let server = Server::start(&empty, &["."]);
    assert_eq!(server.guest, None);
}
