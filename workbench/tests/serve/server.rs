//! A server for a test: started, asked over plain sockets, and ended with the test.
#![allow(dead_code, reason = "every test file uses a part of this")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::Folder;

/// A table whose every value can be recognized in a text.
pub const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.name]
role = "identifier"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Xoslo", "Xumea"], South = ["Xrome"] } }
[attributes.disease]
role = "sensitive"
[request]
k = 3
max_suppressed = "5%"
"#;

pub const VALUES: [&str; 5] = ["Xoslo", "Xumea", "Xrome", "Xflu", "Xgout"];

pub fn table() -> Folder {
    let mut data = String::from("name,age,city,disease\n");
    for i in 0..400 {
        let (age, city) = (20 + (i * 7) % 60, ["Xoslo", "Xumea", "Xrome"][i % 3]);
        data.push_str(&format!("Xperson{i},{age},{city},{}\n", ["Xflu", "Xgout", "Xcold"][(i / 5) % 3]));
    }
    Folder::with(&[("table.csv", &data), ("incrowd.toml", PROJECT)])
}

/// A server that ends with the test.
pub struct Server {
    pub child: Child,
    pub host: String,
    pub token: String,
    /// The key of guests, where there is something for them.
    pub guest: Option<String>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    /// Passes the answer on if it has this status.
    #[track_caller]
    pub fn is(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }
}

impl Server {
    pub fn start(folder: &Folder, args: &[&str]) -> Server {
        Server::start_telling(folder, args, Stdio::inherit())
    }

    pub fn start_telling(folder: &Folder, args: &[&str], stderr: Stdio) -> Server {
        let mut command = folder.command(&["serve", "--json", "--quiet"]);
        let mut child = command.args(args).stdout(Stdio::piped()).stderr(stderr).spawn().expect("incrowd starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut text = String::new();
        let document: Value = loop {
            assert!(lines.read_line(&mut text).expect("a line") > 0, "it ended before it said where it is: {text}");
            if let Ok(document) = serde_json::from_str(&text) {
                break document;
            }
        };
        let url = document["url"].as_str().expect("a URL");
        let (host, _) =
            url.strip_prefix("http://").and_then(|rest| rest.split_once("/#key=")).expect("a URL with a key");
        let token = document["token"].as_str().expect("a token").to_string();
        let guest = document["guest_token"].as_str().map(str::to_string);
        Server { child, host: host.to_string(), token, guest }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        stream
    }

    /// Sends a request as it stands; the connection is closed after it.
    pub fn send(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // It may be refused before all of it was sent.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = match head.to_lowercase().contains("transfer-encoding: chunked") {
            true => unchunked(body),
            false => body.to_string(),
        };
        Answer { status, head: head.to_string(), body }
    }

    pub fn ask_with(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        self.send(format!("{head}\r\n{body}").as_bytes())
    }

    pub fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {}", self.token);
        let headers = [("Host", self.host.as_str()), ("Authorization", &bearer), ("Content-Type", "application/json")];
        self.ask_with(method, &format!("/api/v1{path}"), &headers, body)
    }

    /// The same with the guests' key.
    pub fn ask_as_guest(&self, method: &str, path: &str, body: &str) -> Answer {
        let bearer = format!("Bearer {}", self.guest.as_ref().expect("there is something for guests"));
        let headers = [("Host", self.host.as_str()), ("Authorization", &bearer), ("Content-Type", "application/json")];
        self.ask_with(method, &format!("/api/v1{path}"), &headers, body)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask("POST", path, &body.to_string())
    }

    pub fn project(&self) -> String {
        self.get("/about").is(200).json()["project"]["id"].as_str().expect("a project is open").to_string()
    }

    /// Asks, waits for jobs that have to end first, and asks again.
    #[track_caller]
    pub fn answer(&self, path: &str, body: &Value) -> Answer {
        for _ in 0..50 {
            let answer = self.post(path, body);
            if answer.status != 202 {
                return answer;
            }
            let job = self.wait(answer.json()["job"]["id"].as_str().expect("a job"));
            if job["state"] != "done" {
                return Answer { status: 0, head: String::new(), body: job.to_string() };
            }
        }
        panic!("{path} never answers");
    }

    /// Starts work and returns its job when it is over.
    #[track_caller]
    pub fn work(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body).is(202);
        self.wait(answer.json()["job"]["id"].as_str().expect("a job"))
    }

    #[track_caller]
    pub fn wait(&self, id: &str) -> Value {
        let events = self.get(&format!("/jobs/{id}/events")).is(200);
        assert!(events.head.contains("text/event-stream"), "{}", events.head);
        let last = events.body.lines().rev().find_map(|line| line.strip_prefix("data: ")).expect("an event");
        serde_json::from_str(last).expect("events are JSON")
    }
}

fn unchunked(body: &str) -> String {
    let (mut text, mut rest) = (String::new(), body);
    while let Some((size, more)) = rest.split_once("\r\n") {
        let n = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if n == 0 || more.len() < n {
            break;
        }
        text.push_str(&more[..n]);
        rest = more[n..].strip_prefix("\r\n").unwrap_or("");
    }
    text
}

/// A project whose lattice takes long to annotate: eight attributes with a few levels each, and hardly two records alike.
pub fn large(folder: &Folder) {
    large_of(folder, 20_000);
}

/// A table like [`large`] with so many records.
pub fn large_of(folder: &Folder, n_records: usize) {
    let names: Vec<String> = (0..8).map(|a| format!("q{a}")).collect();
    let mut data = format!("{}\n", names.join(","));
    let mut random = crate::support::Random(1);
    for _ in 0..n_records {
        let record: Vec<String> = (0..8).map(|_| random.below(8).to_string()).collect();
        data.push_str(&format!("{}\n", record.join(",")));
    }
    folder.write("large.csv", data);
}

/// The document of [`large`].
pub fn large_document(weight: u64) -> Value {
    let attribute = |a: usize| {
        let weight = if a == 0 { weight } else { 1 };
        (format!("q{a}"), json!({ "role": "quasi-identifier", "hierarchy": { "intervals": [2, 4] }, "weight": weight }))
    };
    json!({ "data": { "path": "large.csv" }, "attributes": (0..8).map(attribute).collect::<serde_json::Map<_, _>>() })
}
