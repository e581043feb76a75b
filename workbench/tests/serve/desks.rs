//! One negotiation at several desks: who may move what, word of it to all, and the agreement in the report.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use crate::serve::server::{Answer, PROJECT, Server, VALUES, table};
use crate::support::Folder;

struct Desks {
    folder: Folder,
    server: Server,
    project: String,
}

impl Desks {
    /// Begun over the table with a policy.
    fn begin(policy: &str, request: Value) -> Desks {
        let folder = table();
        folder.write("incrowd.toml", format!("{PROJECT}{policy}"));
        let server = Server::start(&folder, &["."]);
        let project = server.project();
        server.answer("/desks/begin", &json!({ "project": project, "request": request })).is(200);
        Desks { folder, server, project }
    }

    fn moves(&self, desk: &str, change: Value) -> Answer {
        self.server.answer("/desks/move", &json!({ "project": self.project, "desk": desk, "change": change }))
    }

    /// The same with the guests' key; jobs that have to end first are waited for.
    fn guest_moves(&self, desk: &str, change: Value) -> Answer {
        let body = json!({ "project": self.project, "desk": desk, "change": change }).to_string();
        loop {
            let answer = self.server.ask_as_guest("POST", "/desks/move", &body);
            if answer.status != 202 {
                return answer;
            }
            let id = answer.json()["job"]["id"].as_str().expect("a job").to_string();
            self.server.ask_as_guest("GET", &format!("/jobs/{id}/events"), "").is(200);
        }
    }

    fn seen(&self) -> Value {
        self.server.get("/desks").is(200).json()["desks"].clone()
    }

    fn agree(&self, desk: &str, version: u64) -> Answer {
        self.server.post("/desks/agree", &json!({ "project": self.project, "desk": desk, "version": version }))
    }
}

const REQUEST: &str = r#"{ "k": 3, "max_suppressed": 20, "max_level": { "age": 2, "city": 1 } }"#;

fn request() -> Value {
    serde_json::from_str(REQUEST).expect("JSON")
}

#[test]
fn each_desk_moves_its_own_wish_and_all_see_it() {
    let desks = Desks::begin("", request());
    desks.guest_moves("officer", json!({ "k": 6 })).is(200);
    desks.moves("officer", json!({ "max_suppressed": 0 })).is(422);
    desks.moves("analyst", json!({ "k": 2 })).is(422);
    desks.guest_moves("analyst", json!({ "max_level": { "age": 1 } })).is(200);
    desks.moves("curator", json!({ "max_suppressed": 5 })).is(200);
    desks.guest_moves("curator", json!({ "max_suppressed": 9 })).is(403);
    // What cannot be asked is not wished for.
    desks.moves("analyst", json!({ "max_level": { "age": 77 } })).is(422);
    let seen = desks.seen();
    assert_eq!(seen["request"], json!({ "k": 6, "max_suppressed": 5, "max_level": { "age": 1, "city": 1 } }));
    let who: Vec<&Value> = seen["moves"].as_array().expect("moves").iter().map(|one| &one["desk"]).collect();
    assert_eq!(who, ["officer", "analyst", "curator"]);
    // Guests see the same, and no value.
    let guest = desks.server.ask_as_guest("GET", "/desks", "").is(200);
    assert_eq!(guest.json()["desks"], seen);
    assert!(VALUES.iter().all(|value| !guest.body.contains(value)));
}

#[test]
fn a_guest_at_a_desk_stays_above_the_floor_and_moves_nothing_locked() {
    let desks = Desks::begin(
        "[policy]\nmin_k = 4\nlocked = [\"city\"]\n",
        json!({
            "k": 5, "max_suppressed": 20, "max_level": { "age": 2, "city": 2 },
        }),
    );
    desks.guest_moves("officer", json!({ "k": 3 })).is(403);
    desks.guest_moves("officer", json!({ "k": 4 })).is(200);
    desks.guest_moves("analyst", json!({ "max_level": { "city": 1 } })).is(403);
    desks.guest_moves("analyst", json!({ "max_level": { "age": 1 } })).is(200);
    assert_eq!(desks.seen()["request"]["k"], 4);
    // The curator's key does everything.
    desks.moves("officer", json!({ "k": 2 })).is(200);
}

#[test]
fn a_guest_knows_no_negotiation_over_a_project_of_the_curator() {
    let desks = Desks::begin("", request());
    let opened = desks.server.get("/about").json()["project"].clone();
    let mut document = opened["document"].clone();
    document["attributes"]["age"]["hierarchy"] = json!({ "intervals": [10, 20] });
    let edited = desks.server.post("/projects", &json!({ "document": document, "base": opened["id"] })).is(200).json();
    let begun = json!({ "project": edited["id"], "request": { "k": 3 } });
    desks.server.answer("/desks/begin", &begun).is(200);
    assert_eq!(desks.server.ask_as_guest("GET", "/desks", "").is(200).json()["desks"], Value::Null);
    let events = desks.server.ask_as_guest("GET", "/desks/events", "").is(200);
    assert!(events.body.contains("data: null"), "{}", events.body);
    desks.guest_moves("officer", json!({ "k": 6 })).is(409);
    let other = json!({ "project": edited["id"], "desk": "officer", "change": { "k": 6 } });
    desks.server.ask_as_guest("POST", "/desks/move", &other.to_string()).is(404);
}

#[test]
fn every_move_is_told_as_it_is_made() {
    let desks = Desks::begin("", request());
    let mut stream = desks.server.connect();
    let head = format!(
        "GET /api/v1/desks/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\n\r\n",
        desks.server.host, desks.server.token
    );
    stream.write_all(head.as_bytes()).expect("it listens");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || -> Value {
        let line = lines.by_ref().map(|line| line.expect("a line")).find(|line| line.starts_with("data: "));
        serde_json::from_str(&line.expect("an event")["data: ".len()..]).expect("JSON")
    };
    assert_eq!(next()["version"], 0);
    desks.guest_moves("officer", json!({ "k": 7 })).is(200);
    let told = next();
    assert_eq!((&told["version"], &told["request"]["k"]), (&json!(1), &json!(7)));
    desks.agree("officer", 1).is(200);
    assert_eq!(next()["agreed"], json!(["officer"]));
}

#[test]
fn what_all_agree_to_is_published_and_the_report_says_how() {
    let desks = Desks::begin("", request());
    desks.moves("officer", json!({ "k": 6 })).is(200);
    let mut order = json!({
        "project": desks.project, "request": desks.seen()["request"], "choice": "exact", "shared": true,
    });
    desks.agree("officer", 0).is(409);
    desks.agree("officer", 1).is(200);
    desks.agree("analyst", 1).is(200);
    desks.server.post("/publish", &order).is(409);
    desks.agree("curator", 1).is(200);
    assert_eq!(desks.seen()["is_agreed"], true);
    let agreed = order["request"].clone();
    order["request"]["k"] = json!(5);
    desks.server.post("/publish", &order).is(409);
    order["request"] = agreed;
    let outcome = desks.server.answer("/negotiate", &json!({ "project": desks.project, "request": order["request"] }));
    if outcome.json()["outcome"] != "exact" {
        order["choice"] = json!("suppression");
    }
    let job = desks.server.work("/publish", &order);
    assert_eq!(job["state"], "done", "{job}");
    let report = desks.folder.read("release.csv.report.html");
    assert!(report.contains("How it was agreed on"), "the report says nothing of it");
    let row = "<tr><th scope=\"row\">officer</th><td>k</td><td class=\"n\">3</td><td class=\"n\">6</td></tr>";
    assert!(report.contains(row), "{report}");
    // It is nobody's business who reads the release.
    assert!(!desks.folder.read("release.csv.certificate.json").contains("officer"));
    (order["shared"], order["output"]) = (json!(false), json!("other.csv"));
    assert_eq!(desks.server.work("/publish", &order)["state"], "done");
    assert!(!desks.folder.read("other.csv.report.html").contains("How it was agreed on"));
}
