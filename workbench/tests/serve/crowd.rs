//! Many clients at once: nobody waits for those who ask for much, take nothing or never end.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::serve::server::{Server, large, large_document, large_of, table};

/// Starts to annotate a lattice that takes long, and says which job does it.
fn start_long(server: &Server, weight: u64) -> (String, Value) {
    let opened = server.post("/projects", &json!({ "document": large_document(weight) })).is(200).json();
    let question = json!({ "project": opened["id"], "request": { "k": 5 } });
    let job = server.post("/negotiate", &question).is(202).json()["job"]["id"].as_str().expect("a job").to_string();
    let start = Instant::now();
    let state = |job: &Value| (job["progress"]["what"] == "annotating", job["state"] == "waiting");
    loop {
        let (is_annotating, is_waiting) = state(&server.get(&format!("/jobs/{job}")).json());
        if is_annotating || is_waiting {
            return (job, question);
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it never came to annotating");
    }
}

#[track_caller]
fn is_under_way(server: &Server, job: &str) {
    let state = server.get(&format!("/jobs/{job}")).json();
    assert!(["running", "waiting"].contains(&state["state"].as_str().expect("a state")), "too quick for this: {state}");
}

#[test]
fn small_questions_do_not_wait_for_large_ones() {
    let folder = table();
    large(&folder);
    let server = Server::start(&folder, &["."]);
    let question = json!({ "project": server.project(), "request": { "k": 3 } });
    server.answer("/explore", &question).is(200);
    // As many as ever run at once, and one more that waits.
    let long: Vec<String> = (1..4).map(|weight| start_long(&server, weight).0).collect();
    let document = json!({ "data": { "path": "table.csv" }, "attributes": {
        "age": { "role": "quasi-identifier", "hierarchy": { "intervals": [10, 30] } },
        "disease": { "role": "sensitive" } } });
    let mut waits = Vec::new();
    let mut timed = |what: &str, ask: &dyn Fn()| {
        let started = Instant::now();
        ask();
        waits.push((what.to_string(), started.elapsed()));
    };
    timed("a lattice that is ready", &|| drop(server.answer("/negotiate", &question).is(200)));
    timed("pictures", &|| drop(server.answer("/explore", &question).is(200)));
    timed("another small project", &|| {
        let other = server.post("/projects", &json!({ "document": document })).is(200).json();
        server.answer("/profile", &json!({ "project": other["id"] })).is(200);
        let wish = json!({ "project": other["id"], "request": { "k": 4, "t": 0.4 } });
        server.answer("/negotiate", &wish).is(200);
    });
    timed("a release", &|| {
        let order = json!({ "project": server.project(), "request": { "k": 3 }, "choice": "suppression" });
        assert_eq!(server.work("/publish", &order)["state"], "done");
    });
    long.iter().for_each(|job| is_under_way(&server, job));
    for (what, wait) in waits {
        assert!(wait < Duration::from_secs(5), "{what} took {wait:?}");
    }
    long.iter().for_each(|job| drop(server.ask("DELETE", &format!("/jobs/{job}"), "").is(200)));
    long.iter().for_each(|job| assert_eq!(server.wait(job)["state"], "cancelled"));
}

#[test]
fn who_keeps_a_place_and_does_nothing_makes_room() {
    let folder = table();
    large(&folder);
    let server = Server::start(&folder, &["."]);
    let question = json!({ "project": server.project(), "request": { "k": 3 } });
    server.answer("/negotiate", &question).is(200);
    let (job, _) = start_long(&server, 1);
    let head = |line: &str, more: &str| {
        let (host, token) = (&server.host, &server.token);
        format!("{line} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{more}\r\n")
    };
    let endless = "Content-Type: application/json\r\nContent-Length: 500\r\n";
    let texts = [
        head(&format!("GET /api/v1/jobs/{job}/events"), ""),
        head("POST /api/v1/negotiate", endless) + "{",
        head("PUT /api/v1/files?path=new.csv", endless) + "a",
        head("GET /api/v1/about", "")[..30].to_string(),
        head("GET /", ""),
    ];
    let mut silent: Vec<TcpStream> = Vec::new();
    for i in 0..400 {
        let mut stream = server.connect();
        // It may be closed at once, by a server that makes no room.
        let _ = stream.write_all(texts[i % texts.len()].as_bytes());
        silent.push(stream);
    }
    let started = Instant::now();
    for _ in 0..20 {
        server.post("/negotiate", &question).is(200);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    is_under_way(&server, &job);
    drop(silent);
    assert!(!folder.has("new.csv"));
    server.ask("DELETE", &format!("/jobs/{job}"), "").is(200);
}

/// An address that is not loopback, of a network that nobody else is in.
const OWN: &str = "192.0.2.1";

/// Runs a test of this program once more where nothing but loopback and one address of its own can be reached; false where
/// the system has no such networks.
fn runs_in_a_network_of_its_own(test: &str) -> bool {
    let up = format!("ip link set lo up && ip address add {OWN}/32 dev lo");
    let inside = |script: String| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--net", "sh", "-c", &script]);
        command
    };
    if !inside(up.clone()).output().is_ok_and(|tried| tried.status.success()) {
        return false;
    }
    let this = std::env::current_exe().expect("a program");
    let again =
        inside(format!("{up} && exec \"$0\" --exact {test}")).arg(this).env(INSIDE, "1").output().expect("a shell");
    let said = String::from_utf8_lossy(&again.stdout).into_owned() + &String::from_utf8_lossy(&again.stderr);
    assert!(again.status.success() && said.contains("1 passed"), "{said}");
    true
}

/// Set where a test runs in a network of its own.
const INSIDE: &str = "INCROWD_TEST_IN_A_NETWORK_OF_ITS_OWN";

#[test]
fn one_address_has_a_share_of_the_places_and_its_page_still_works() {
    if std::env::var_os(INSIDE).is_none() {
        let name = "serve::crowd::one_address_has_a_share_of_the_places_and_its_page_still_works";
        if !runs_in_a_network_of_its_own(name) {
            eprintln!("skipped: no network of its own can be made here (unshare and ip of Linux make one)");
        }
        return;
    }
    let folder = table();
    let server = Server::start(&folder, &[".", "--host", "0.0.0.0", "--token", "0123456789abcdef"]);
    let port = server.host.rsplit_once(':').expect("a port").1;
    let place = format!("{OWN}:{port}");
    let (host, token) = (&server.host, &server.token);
    let head = format!("GET /api/v1/about HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n");
    // Three times its share, and more than there are places in all; none of them says all that it has to say.
    let started = Instant::now();
    let mut silent: Vec<TcpStream> = (0..300)
        .map(|_| {
            let mut stream = TcpStream::connect(&place).expect("it listens");
            let _ = stream.write_all(head.as_bytes());
            stream
        })
        .collect();
    let about = |place: &str| {
        let mut stream = TcpStream::connect(place).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        stream.write_all(format!("{head}Connection: close\r\n\r\n").as_bytes()).expect("it listens");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    // The page of that address is still served, and so is everybody else.
    (0..20).for_each(|_| about(&place));
    (0..20).for_each(|_| drop(server.get("/about").is(200)));
    let is_open = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).expect("it can wait for nothing");
        matches!(stream.read(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    let n_open = silent.iter_mut().filter_map(|stream| is_open(stream).then_some(())).count();
    assert!(started.elapsed() < Duration::from_secs(20), "too slow for this: they end by themselves after a while");
    assert!((1..=64).contains(&n_open), "{n_open} connections of one address are kept");
    // Those that were kept are the last that came, and are answered once they ask.
    let last = silent.last_mut().expect("there are some");
    last.set_nonblocking(false).expect("it can wait");
    last.write_all(b"Connection: close\r\n\r\n").expect("it listens");
    let mut answer = String::new();
    last.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

/// Follows a job, until the connection is dropped.
fn follow(server: &Server, job: &str) -> TcpStream {
    let (host, token) = (&server.host, &server.token);
    let mut stream = server.connect();
    let ask =
        format!("GET /api/v1/jobs/{job}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
    stream.write_all(ask.as_bytes()).expect("it listens");
    stream.read_exact(&mut [0; 64]).expect("it tells");
    stream
}

#[test]
fn work_that_nobody_waits_for_any_more_ends() {
    let folder = table();
    // It has to go on for longer than somebody who left may stay away.
    large_of(&folder, 200_000);
    let server = Server::start(&folder, &["."]);
    let (left, _) = start_long(&server, 1);
    let (wanted, _) = start_long(&server, 2);
    let waits = follow(&server, &wanted);
    drop(follow(&server, &left));
    // Whoever asks for a job wants it; a list of all does not.
    let state = |id: &str| {
        let jobs = server.get("/jobs").json()["jobs"].clone();
        let job = jobs.as_array().expect("jobs").iter().find(|job| job["id"] == id).expect("it is listed").clone();
        job["state"].as_str().expect("a state").to_string()
    };
    let started = Instant::now();
    while state(&left) != "cancelled" {
        assert!(["running", "waiting"].contains(&state(&left).as_str()), "{}", state(&left));
        assert!(started.elapsed() < Duration::from_secs(60), "it goes on for nobody");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert!(started.elapsed() > Duration::from_secs(5), "whoever loads the page again finds it");
    is_under_way(&server, &wanted);
    drop(waits);
    server.ask("DELETE", &format!("/jobs/{wanted}"), "").is(200);
}

#[test]
fn a_lattice_that_was_saved_is_opened_and_not_made_again() {
    let folder = table();
    folder.run(&["annotate", "--k", "3", "--t", "0.4", "-o", "table.crowd"]).ends(0);
    let server = Server::start(&folder, &["."]);
    let measured = |project: &Value| {
        server.answer("/annotate", &json!({ "project": project })).is(200).json()["measured"].to_string()
    };
    // It measures what nobody has asked for here, and answers as the command line does.
    assert!(measured(&json!(server.project())).contains("\"t\""), "{}", measured(&json!(server.project())));
    let wish = json!({ "project": server.project(), "request": { "k": 3, "t": 0.4, "max_suppressed": 2 } });
    let answer = server.answer("/negotiate", &wish).is(200).json();
    let expected = folder.run(&["negotiate", "--k", "3", "--t", "0.4", "--max-suppressed", "2", "--json"]).json();
    let levels =
        |answer: &Value| [answer["exact"]["levels"].clone(), answer["offers"]["suppression"]["levels"].clone()];
    assert_eq!(levels(&answer), levels(&expected));
    // For another hierarchy it does not fit, and is left alone.
    let document = json!({ "data": { "path": "table.csv" }, "attributes": {
        "age": { "role": "quasi-identifier", "hierarchy": { "intervals": [10, 30] } },
        "disease": { "role": "sensitive" } } });
    let other = server.post("/projects", &json!({ "document": document })).is(200).json();
    assert!(!measured(&other["id"]).contains("\"t\""));
}

/// Whether the other side has closed; nothing is read, because that would be taking the answer.
fn is_closed(stream: &mut TcpStream) -> bool {
    match stream.write_all(b"\n") {
        Ok(()) => false,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut),
    }
}

#[test]
fn an_answer_that_nobody_takes_ends_the_connection() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let ask = format!("GET /negotiate.js HTTP/1.1\r\nHost: {}\r\n\r\n", server.host).repeat(600);
    let mut streams: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.set_write_timeout(Some(Duration::from_millis(500))).expect("a timeout");
        let _ = stream.write(ask.as_bytes());
    }
    let started = Instant::now();
    std::thread::sleep(Duration::from_secs(3));
    assert!(!is_closed(&mut streams[0]), "a short pause is no reason");
    while !streams.iter_mut().all(is_closed) {
        assert!(started.elapsed() < Duration::from_secs(60), "they are kept for ever");
        std::thread::sleep(Duration::from_secs(1));
    }
    assert!(started.elapsed() > Duration::from_secs(10), "{:?}", started.elapsed());
    server.get("/about").is(200);
}

#[test]
fn a_body_that_does_not_come_and_a_connection_without_questions_end() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let (host, token) = (&server.host, &server.token);
    let post = format!(
        "POST /api/v1/negotiate HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{{"
    );
    let mut waiting: Vec<TcpStream> = vec![server.connect(), server.connect(), server.connect()];
    waiting[0].write_all(post.as_bytes()).expect("it listens");
    waiting[1].write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).expect("it listens");
    let started = Instant::now();
    for stream in &mut waiting {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    }
    assert!(started.elapsed() < Duration::from_secs(45), "{:?}", started.elapsed());
}
