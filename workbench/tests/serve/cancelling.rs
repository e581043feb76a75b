//! Whoever cancels waits no longer than a moment, whatever the work is at.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::server::Server;
use crate::support::Folder;

/// What is promised is 0.2 s; the tests are built for speed of building, and machines have other work.
const WAIT_MAX: Duration = Duration::from_millis(600);

/// So many combinations that a method for them is at work for many seconds; attributes have steps of these widths.
fn combinations(widths: &str) -> Folder {
    let folder = Folder::new();
    let names = ["a", "b", "c", "d"];
    let mut data = format!("{},ill\n", names.join(","));
    for i in 0..60_000u64 {
        let mixed = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let cells: Vec<String> = (0..4).map(|a| (mixed >> (a * 13 + 8) & 1023).to_string()).collect();
        data.push_str(&format!("{},{}\n", cells.join(","), i % 7));
    }
    folder.write("table.csv", data);
    let attribute = |name: &str| {
        format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ intervals = [{widths}] }}\n")
    };
    let attributes: String = names.map(attribute).concat();
    let project = format!("[data]\npath = \"table.csv\"\n{attributes}[attributes.ill]\nrole = \"sensitive\"\n");
    folder.write("incrowd.toml", project);
    folder
}

/// Starts a job, cancels it while it is `at` work, and says how long it took to end.
fn time_to_end(server: &Server, path: &str, body: &Value, at: &str) -> Duration {
    let job = server.post(path, body).is(202).json()["job"]["id"].as_str().expect("a job").to_string();
    let address = format!("/jobs/{job}");
    let start = Instant::now();
    loop {
        let state = server.get(&address).json();
        if state["progress"]["what"] == at {
            break;
        }
        assert!(["running", "waiting"].contains(&state["state"].as_str().expect("a state")), "too quick: {state}");
        assert!(start.elapsed() < Duration::from_secs(120), "{path} never came to {at}: {state}");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    server.ask("DELETE", &address, "").is(200);
    loop {
        let state = server.get(&address).json();
        match state["state"].as_str() {
            Some("cancelled") => return asked.elapsed(),
            Some("running" | "waiting") => std::thread::sleep(Duration::from_millis(5)),
            _ => panic!("{path} is over before anybody cancels: {state}"),
        }
        assert!(asked.elapsed() < Duration::from_secs(60), "{path} goes on: {state}");
    }
}

#[test]
fn methods_and_comparisons_end_soon_after_they_are_cancelled() {
    let folder = combinations("256, 512");
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    let order = |order: Value| json!({ "project": project, "order": order });
    let bottom_up = json!({ "k": 10, "method": "bottom-up", "output": "release.csv" });
    let asked = json!({ "project": project, "request": { "k": 10 }, "methods": ["bottom-up"] });
    for (path, body, at) in [
        ("/orders/publish", order(bottom_up), "bottom-up"),
        ("/orders/compare", order(json!({ "k": 10, "methods": "bottom-up" })), "comparing"),
        ("/compare", asked, "comparing"),
    ] {
        ends_soon(&server, path, &body, at);
    }
    assert!(!folder.has("release.csv") && !folder.has("release.csv.certificate.json"));
}

/// The machine has other work too: one of three has to be in time.
fn ends_soon(server: &Server, path: &str, body: &Value, at: &str) {
    let mut waits = Vec::new();
    while waits.last().is_none_or(|wait| *wait > WAIT_MAX) {
        assert!(waits.len() < 3, "{path} took {waits:?}");
        waits.push(time_to_end(server, path, body, at));
    }
}

/// A lattice of ten thousand schemes over as many combinations: by plain criteria, and with whole histograms.
#[test]
fn annotating_ends_soon_after_it_is_cancelled() {
    let folder = combinations("2, 4, 8, 16, 32, 64, 128, 256, 512");
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    let order = |order: Value| json!({ "project": project, "order": order });
    let wish = json!({ "k": 10, "full": true });
    let histograms = json!({ "k": 10, "ill:t": 0.3, "full": true, "output": "release.csv" });
    for (path, body) in [
        ("/orders/annotate", order(wish.clone())),
        ("/orders/negotiate", order(wish)),
        ("/orders/publish", order(histograms)),
    ] {
        ends_soon(&server, path, &body, "annotating");
    }
    assert!(!folder.has("release.csv") && !folder.has("release.csv.certificate.json"));
}
