//! The server: what it answers, and whom it does not answer.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod closed;
mod cancelling;
mod crowd;
mod desks;
mod guest;
mod looking;
mod orders;
mod ranges;
mod saving;
pub mod server;
use crate::support;
use server::{Server, VALUES, table};
use support::Folder;

#[test]
fn an_answer_is_that_of_the_command_line() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    for (flags, request) in [
        (vec!["--k", "3"], json!({ "k": 3, "max_suppressed": "5%" })),
        (vec!["--k", "9", "--max-suppressed", "7"], json!({ "k": 9, "max_suppressed": 7 })),
        (
            vec!["--k", "20", "--l", "3", "--max-suppressed", "0", "--max-level", "age=1,city=0"],
            json!({ "k": 20, "l": 3, "max_suppressed": 0, "max_level": { "age": 1, "city": 0 } }),
        ),
        (
            vec!["--k", "5", "--t", "0.2", "--best-by", "ncp", "--explain"],
            json!({ "k": 5, "t": 0.2, "max_suppressed": "5%", "best_by": "ncp" }),
        ),
    ] {
        let explain = flags.contains(&"--explain");
        let answer =
            server.answer("/negotiate", &json!({ "project": project, "request": request, "explain": explain }));
        let told = folder.run(&[&["negotiate", "--json"], &flags[..]].concat());
        let mut answer = answer.is(200).json();
        // The command line tells them on stderr.
        let notes = answer.as_object_mut().and_then(|answer| answer.remove("notes"));
        // What the search took is told to whoever orders an answer, not to the page.
        let mut expected = told.json();
        expected.as_object_mut().and_then(|expected| expected.remove("search"));
        assert_eq!(answer, expected, "{flags:?}");
        assert_eq!(notes, Some(json!([])), "{}", told.stderr);
    }
}

#[test]
fn what_was_annotated_once_is_answered_at_once_and_the_rest_is_a_job() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    let question = |request: Value| json!({ "project": project, "request": request });
    server.post("/negotiate", &question(json!({ "k": 3 }))).is(202);
    server.answer("/negotiate", &question(json!({ "k": 3 }))).is(200);
    // Other values, other limits, l: the same lattice.
    for k in 2..30 {
        let request = json!({ "k": k, "l": 2, "max_suppressed": k, "max_level": { "age": k % 4 } });
        server.post("/negotiate", &question(request)).is(200);
    }
    server.post("/negotiate", &question(json!({ "t": 0.3 }))).is(202);
    server.answer("/negotiate", &question(json!({ "t": 0.3 }))).is(200);
    server.post("/negotiate", &question(json!({ "t": 0.1, "k": 4 }))).is(200);
}

#[test]
fn from_a_table_to_a_release_that_verify_accepts() {
    let folder = Folder::new();
    let source = table();
    let server = Server::start(&folder, &["."]);
    assert_eq!(server.get("/about").is(200).json()["project"], Value::Null);
    let data = source.read("table.csv");
    server.ask("PUT", "/files?path=people.csv", &data).is(201);
    server.ask("PUT", "/files?path=people.csv", "a\n1\n").is(409);
    assert_eq!(folder.read("people.csv"), data);
    let opened = server.work("/open", &json!({ "path": "people.csv" }))["result"].clone();
    let roles = &opened["document"]["attributes"];
    assert_eq!((&roles["age"]["role"], &roles["disease"]["role"]), (&json!("quasi-identifier"), &json!("sensitive")));

    // Someone knows better what others may know.
    let mut document = opened["document"].clone();
    document["attributes"]["city"] = json!({ "role": "quasi-identifier", "weight": 2 });
    let edited = server.post("/projects", &json!({ "document": document, "base": opened["id"] })).is(200).json();
    assert_ne!(edited["id"], opened["id"]);
    assert!(!folder.has("incrowd.toml"), "nothing is saved unless asked");

    let wish = json!({ "project": edited["id"], "request": { "k": 5, "l": 2, "max_suppressed": "2%" } });
    let answer = server.answer("/negotiate", &wish).is(200).json();
    assert_eq!(answer["outcome"], "exact", "{answer}");
    let mut order = wish.clone();
    order["choice"] = json!("exact");
    let review = server.answer("/review", &order).is(200).json();
    assert!(review["promises"][0].as_str().is_some_and(|text| text.contains("at least 5 records")), "{review}");
    let job = server.work("/publish", &order);
    assert_eq!((&job["state"], &job["result"]["published"]), (&json!("done"), &json!(true)), "{job}");
    assert_eq!(job["result"]["verdict"]["holds"], true);
    folder.run(&["verify", "release.csv"]).ends(0);

    let id = job["id"].as_str().expect("a job");
    for (which, ending) in [("release", ""), ("certificate", ".certificate.json"), ("report", ".report.html")] {
        let file = server.get(&format!("/jobs/{id}/files/{which}")).is(200);
        assert_eq!(file.body, folder.read(&format!("release.csv{ending}")), "{which}");
        assert!(file.head.to_lowercase().contains("content-disposition: attachment"), "{}", file.head);
    }
    server.get(&format!("/jobs/{id}/files/project")).is(404);
    // A second one does not take its place unknown.
    server.post("/publish", &order).is(409);
    order["replace"] = json!(true);
    assert_eq!(server.work("/publish", &order)["state"], "done");

    // A local method goes the same way, and says what it cannot promise.
    for method in ["top-down", "deal"] {
        let mut local = wish.clone();
        (local["choice"], local["method"], local["output"]) = (json!("method"), json!(method), json!("local.csv"));
        local["replace"] = json!(true);
        let review = server.answer("/review", &local).is(200).json();
        assert_eq!((&review["method"]["name"], &review["n_suppressed"]), (&json!(method), &json!(0)), "{review}");
        let job = server.work("/publish", &local);
        assert_eq!((&job["state"], &job["result"]["certificate"]["method"]), (&json!("done"), &json!(method)), "{job}");
        folder.run(&["verify", "local.csv"]).ends(0);
    }
    for (choice, method) in [("method", json!("magic")), ("method", json!(null)), ("exact", json!("top-down"))] {
        let mut wrong = wish.clone();
        (wrong["choice"], wrong["method"]) = (json!(choice), method);
        server.answer("/review", &wrong).is(422);
    }

    server.post("/save", &json!({ "project": edited["id"] })).is(200);
    folder.run(&["negotiate", "--k", "5", "--max-suppressed", "2%"]).ends(0);
    server.post("/save", &json!({ "project": opened["id"] })).is(409);
    server.post("/save", &json!({ "project": opened["id"], "replace": true })).is(200);
}

#[test]
fn only_who_knows_the_key_is_answered() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let host = server.host.clone();
    let good = format!("Bearer {}", server.token);
    let ask = |headers: &[(&str, &str)]| server.ask_with("GET", "/api/v1/about", headers, "").status;
    assert_eq!(ask(&[("Host", &host), ("Authorization", &good)]), 200);
    assert_eq!(ask(&[("Host", &host)]), 401);
    for wrong in
        ["", "Bearer ", "Bearer x", &good[..good.len() - 1], &format!("{good}0"), &good.replace("Bearer", "Basic")]
    {
        assert_eq!(ask(&[("Host", &host), ("Authorization", wrong)]), 401, "{wrong}");
    }
    // Every route, known or not, is behind the same door.
    for path in ["/api/v1/openapi.json", "/api/v1/files", "/api/v1/nothing", "/api/", "/api/v2/about"] {
        assert_eq!(server.ask_with("GET", path, &[("Host", &host)], "").status, 401, "{path}");
    }
    // The page itself holds no data.
    let page = server.ask_with("GET", "/", &[("Host", &host)], "").is(200);
    assert!(page.head.to_lowercase().contains("content-security-policy: default-src 'none'"), "{}", page.head);
    assert!(!page.body.contains(&server.token));
    for path in ["/incrowd.toml", "/table.csv", "/../incrowd.toml", "/%2e%2e/incrowd.toml"] {
        assert_eq!(server.ask_with("GET", path, &[("Host", &host)], "").status, 404, "{path}");
    }
}

#[test]
fn other_names_and_other_pages_are_refused() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let (host, bearer) = (server.host.clone(), format!("Bearer {}", server.token));
    let port = host.rsplit_once(':').expect("a port").1;
    let ask = |host: &str, more: &[(&str, &str)]| {
        let headers = [&[("Host", host), ("Authorization", bearer.as_str())], more].concat();
        server.ask_with("GET", "/api/v1/about", &headers, "").status
    };
    for good in [host.clone(), format!("localhost:{port}"), format!("LOCALHOST:{port}")] {
        assert_eq!(ask(&good, &[]), 200, "{good}");
    }
    // A page whose name was made to point here (DNS rebinding) knows nothing, not even the page.
    for bad in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1.evil.example", "", "0.0.0.0"] {
        assert_eq!(ask(bad, &[]), 421, "{bad}");
        assert_eq!(server.ask_with("GET", "/", &[("Host", bad)], "").status, 421, "{bad}");
    }
    let origin = format!("http://{host}");
    assert_eq!(ask(&host, &[("Origin", &origin)]), 200);
    assert_eq!(ask(&host, &[("Origin", &origin), ("Sec-Fetch-Site", "same-origin")]), 200);
    for bad in
        ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost", &format!("{origin}.evil.example")]
    {
        assert_eq!(ask(&host, &[("Origin", bad)]), 403, "{bad}");
    }
    assert_eq!(ask(&host, &[("Sec-Fetch-Site", "cross-site")]), 403);
    // What a form of another page could send is not JSON.
    let headers = [("Host", host.as_str()), ("Authorization", &bearer), ("Content-Type", "text/plain")];
    server.ask_with("POST", "/api/v1/save", &headers, "{}").is(415);
}

#[test]
fn others_are_let_in_only_with_a_token_and_see_no_values() {
    let folder = table();
    let refused = folder.run(&["serve", ".", "--host", "0.0.0.0"]).ends(2);
    assert!(refused.stderr.contains("--token"), "{refused}");
    folder.run(&["serve", ".", "--token", "short"]).ends(2);
    let server = Server::start(&folder, &[".", "--host", "0.0.0.0", "--token", "0123456789abcdef"]);
    assert_eq!(server.get("/about").is(200).json()["allows_preview"], false);
    let shown = Server::start(&folder, &[".", "--host", "0.0.0.0", "--token", "0123456789abcdef", "--allow-preview"]);
    assert_eq!(shown.get("/about").is(200).json()["allows_preview"], true);
}

#[test]
fn without_preview_no_answer_contains_a_value() {
    let folder = table();
    let server = Server::start(&folder, &[".", "--allow-preview=false"]);
    let project = server.project();
    let question = json!({ "project": project, "request": { "k": 5, "max_suppressed": "5%" } });
    let order = json!({ "project": project, "request": { "k": 5, "max_suppressed": "5%" }, "choice": "suppression" });
    let mut said = vec![server.get("/about").body, server.get("/files").body];
    for path in ["/annotate", "/negotiate", "/explore", "/scheme"] {
        said.push(server.answer(path, &question).is(200).body);
    }
    said.push(server.answer("/profile", &json!({ "project": project })).is(200).body);
    said.push(server.answer("/review", &order).is(200).body);
    for attribute in ["age", "city", "disease"] {
        said.push(server.answer("/hierarchy", &json!({ "project": project, "attribute": attribute })).is(200).body);
    }
    // Mistakes must not tell either.
    for hierarchy in
        [json!({ "text": "Xoslo;North\n" }), json!({ "intervals": [5] }), json!({ "tree": { "a": ["b"] } })]
    {
        let wrong = json!({ "project": project, "attribute": "city", "hierarchy": hierarchy });
        said.push(server.answer("/hierarchy", &wrong).is(403).body);
    }
    server.answer("/sample", &question).is(403);
    said.push(server.work("/compare", &question).to_string());
    for text in &said {
        for value in VALUES.iter().chain(&["Xperson", "Xcold"]) {
            assert!(!text.contains(value), "{value} in {text}");
        }
    }
    // What was taken out of the document is put back when it is edited.
    let document = server.get("/about").json()["project"]["document"].clone();
    let mut edited = document.clone();
    edited["attributes"]["age"]["weight"] = json!(3);
    let edited = server.post("/projects", &json!({ "document": edited, "base": project })).is(200).json();
    let other = json!({ "project": edited["id"], "request": { "k": 5 } });
    assert_eq!(server.answer("/annotate", &other).is(200).json()["attributes"][1]["levels"][1]["n_values"], 2);

    let shown = Server::start(&folder, &["."]);
    let question = json!({ "project": shown.project(), "request": { "k": 5 }, "levels": { "age": 1 } });
    let sample = shown.answer("/sample", &question).is(200).body;
    assert!(sample.contains("Xoslo") && sample.contains("Xflu"), "{sample}");
    assert!(!sample.contains("Xperson"), "identifiers are never shown: {sample}");
    assert!(!shown.answer("/profile", &json!({ "project": shown.project() })).is(200).body.contains("Xperson"));
}

/// Whose record it is, is nobody's business: neither before nor after, nor in charts; with preview and without.
#[test]
fn person_columns_are_never_shown() {
    let folder = table();
    let of_people = server::PROJECT.replace("role = \"identifier\"", "role = \"person\"").replace("k = 3", "k = 5");
    folder.write("incrowd.toml", of_people);
    // Everybody has two records, of other ages.
    let mut data = String::from("name,age,city,disease\n");
    for i in 0..400 {
        let (age, city) = (20 + (i / 2 * 7) % 60 + i % 2, ["Xoslo", "Xumea", "Xrome"][i / 2 % 3]);
        data.push_str(&format!("Xperson{},{age},{city},{}\n", i / 2, ["Xflu", "Xgout", "Xcold"][(i / 5) % 3]));
    }
    folder.write("table.csv", data);
    for flags in [&["."][..], &[".", "--allow-preview=false"]] {
        let server = Server::start(&folder, flags);
        let project = server.project();
        let question = json!({ "project": project, "request": { "k": 5 }, "levels": { "age": 2 } });
        let sample = server.answer("/sample", &question);
        if flags.len() == 1 {
            let record = &sample.is(200).json()["records"][0];
            assert_eq!(record["before"]["name"], "(removed)", "{record}");
            assert!(record["after"].get("name").is_none(), "{record}");
        }
        let order = json!({ "project": project, "request": { "k": 5, "max_suppressed": "50%" }, "choice": "exact" });
        let review = server.answer("/review", &order).is(200).json();
        assert_eq!((&review["removed"], &review["person"]), (&json!(["name"]), &json!(["name"])), "{review}");
        let said = [
            server.answer("/sample", &question).body,
            server.answer("/profile", &json!({ "project": project })).is(200).body,
            server.answer("/negotiate", &question).is(200).body,
            server.answer("/explore", &question).is(200).body,
            server.work("/publish", &order).to_string(),
            server.get("/about").body,
        ];
        for text in said {
            assert!(!text.contains("Xperson"), "{text}");
        }
        assert!(!folder.read("release.csv").contains("Xperson"));
        folder.run(&["verify", "release.csv"]).ends(2);
        folder.run(&["verify", "release.csv", "--project", "."]).ends(0);
        ["release.csv", "release.csv.certificate.json", "release.csv.report.html"]
            .iter()
            .for_each(|name| std::fs::remove_file(folder.join(name)).expect("it was published"));
    }
}

#[test]
fn methods_are_compared_as_on_the_command_line() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    let question = json!({ "project": project, "request": { "k": 5 }, "methods": ["global:ncp", "top-down"] });
    let result = server.work("/compare", &question)["result"].clone();
    let ours = folder.run(&["compare", "--k", "5", "--methods", "global:ncp,top-down", "--json"]).ends(0).json();
    for (row, expected) in result["rows"].as_array().expect("rows").iter().zip(ours["rows"].as_array().expect("rows")) {
        for key in ["method", "loss", "n_groups", "n_suppressed", "reached", "risk", "query_error", "holds", "levels"] {
            assert_eq!(row[key], expected[key], "{key}");
        }
    }
    // All that there are, whatever is asked: every method keeps k and other criteria, or its row says that it does not.
    let methods = |request: Value| -> Vec<String> {
        let job = server.work("/compare", &json!({ "project": project, "request": request }));
        let rows = job["result"]["rows"].as_array().expect("rows").iter();
        rows.map(|row| row["method"].as_str().expect("a name").to_string()).collect()
    };
    let all: Vec<Value> = server.get("/about").json()["methods"].as_array().expect("methods").clone();
    let names: Vec<&str> = all.iter().map(|method| method["name"].as_str().expect("a name")).collect();
    assert_eq!(methods(json!({ "k": 5 })), names);
    assert_eq!(methods(json!({ "alpha": 0.9 })), names);
    let unknown = json!({ "project": project, "request": { "k": 5 }, "methods": ["topdown"] });
    assert!(server.answer("/compare", &unknown).is(422).body.contains("did you mean 'top-down'?"));
}

#[test]
fn files_stay_within_the_served_folder() {
    let outer = Folder::new();
    outer.write("secret.csv", "a,b\n1,2\n");
    for (name, content) in table().content() {
        outer.write(&format!("inner/{name}"), content);
    }
    std::os::unix::fs::symlink(outer.path(), outer.join("inner/up")).expect("a link");
    std::os::unix::fs::symlink(outer.join("secret.csv"), outer.join("inner/link.csv")).expect("a link");
    let server = Server::start(&outer, &["inner"]);
    let secret = outer.join("secret.csv").display().to_string();
    let outside = ["../secret.csv", "up/secret.csv", "link.csv", &secret, "..", "up", "inner/../../secret.csv"];
    for path in outside {
        assert!([404, 422].contains(&server.post("/open", &json!({ "path": path })).status), "{path}");
        let document = json!({ "data": { "path": path }, "attributes": { "a": { "role": "quasi-identifier" } } });
        assert!([404, 422].contains(&server.post("/projects", &json!({ "document": document })).status), "{path}");
        let document = json!({ "data": { "path": "table.csv" },
            "attributes": { "age": { "role": "quasi-identifier", "hierarchy": path } } });
        assert!([404, 422].contains(&server.post("/projects", &json!({ "document": document })).status), "{path}");
    }
    let before = outer.names();
    for path in
        ["../new.csv", "up/new.csv", "link.csv", "/tmp/new.csv", ".hidden.csv", "incrowd.toml", "a/b/c.csv", "x.sh", ""]
    {
        let status = server.ask("PUT", &format!("/files?path={path}&replace=true"), "a\n1\n").status;
        assert!((400..500).contains(&status), "{path}: {status}");
    }
    let project = server.project();
    for output in ["../r.csv", "up/r.csv", "/tmp/r.csv", "table.csv", "incrowd.toml", "r.exe", ""] {
        let order = json!({ "project": project, "request": { "k": 3 }, "choice": "suppression", "output": output, "replace": true });
        let answer = server.answer("/publish", &order);
        assert!((400..500).contains(&answer.status), "{output}: {} {}", answer.status, answer.body);
    }
    assert_eq!(outer.names(), before, "nothing was written anywhere");
    let listed = server.get("/files").is(200).body;
    assert!(listed.contains("table.csv") && !listed.contains("secret") && !listed.contains("link.csv"), "{listed}");
}

#[test]
fn too_much_is_refused() {
    let folder = table();
    let server = Server::start(&folder, &[".", "--max-upload", "10kB"]);
    server.ask("PUT", "/files?path=large.csv", &"a\n".repeat(20_000)).is(413);
    assert!(!folder.has("large.csv"));
    assert_eq!(folder.names().len(), 2, "nothing is left behind: {:?}", folder.names());
    let long = format!("{{\"project\": \"{}\"}}", "x".repeat(5 << 20));
    assert!([413, 0].contains(&server.ask("POST", "/negotiate", &long).status));
    let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n\r\n", server.host, "y".repeat(1 << 20));
    assert!([431, 400, 0].contains(&server.send(head.as_bytes()).status));
    for nonsense in ["\0\0\0\0\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "{}\r\n\r\n"] {
        assert!(server.send(nonsense.as_bytes()).status < 500, "{nonsense}");
    }
    // Deep nesting is not JSON that anyone means.
    let deep = format!("{{\"project\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!((400..500).contains(&server.ask("POST", "/negotiate", &deep).status));
    server.get("/about").is(200);
}

#[test]
fn slow_and_dying_clients_harm_nobody() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    let question = json!({ "project": project, "request": { "k": 3 } });
    server.answer("/negotiate", &question).is(200);
    // Some never finish what they ask, some never listen, some leave at once.
    let mut slow: Vec<TcpStream> = (0..60).map(|_| server.connect()).collect();
    let head = format!(
        "POST /api/v1/negotiate HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{{",
        server.host, server.token
    );
    for (i, stream) in slow.iter_mut().enumerate() {
        let part = if i % 2 == 0 { &head[..20] } else { &head[..] };
        stream.write_all(part.as_bytes()).expect("it listens");
    }
    for _ in 0..50 {
        drop(server.connect());
    }
    let started = Instant::now();
    for _ in 0..20 {
        server.post("/negotiate", &question).is(200);
    }
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    // More connections than there are places are closed, and there is room again when they are gone.
    let many: Vec<TcpStream> = (0..400).filter_map(|_| TcpStream::connect(&server.host).ok()).collect();
    drop(many);
    drop(slow);
    let until = Instant::now() + Duration::from_secs(10);
    while server.get("/about").status != 200 {
        assert!(Instant::now() < until, "the server does not recover");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_head_that_does_not_come_ends_the_connection() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let mut stream = server.connect();
    stream.write_all(b"GET / HT").expect("it listens");
    let started = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    let waited = started.elapsed();
    assert!(waited > Duration::from_secs(5) && waited < Duration::from_secs(40), "{waited:?}");
}

#[test]
fn a_cancelled_job_leaves_nothing() {
    let folder = Folder::new();
    let mut data = String::from("id,age,code,day\n");
    for i in 0..60_000u64 {
        let day = format!("20{:02}-{:02}-{:02}", i % 30, i % 12 + 1, i % 28 + 1);
        data.push_str(&format!("{i},{},{:05},{day}\n", i * 7919 % 90, i * 104_729 % 99_999));
    }
    folder.write("table.csv", data);
    folder.write(
        "incrowd.toml",
        "[data]\npath = \"table.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [2, 4, 8, 16, 32, 64] }\n\
         [attributes.code]\nrole = \"quasi-identifier\"\nhierarchy = { mask = 5 }\n\
         [attributes.day]\nrole = \"quasi-identifier\"\nhierarchy = { dates = true }\n",
    );
    let server = Server::start(&folder, &["."]);
    let question = json!({ "project": server.project(), "request": { "k": 5 } });
    let job = server.post("/negotiate", &question).is(202).json();
    let id = job["job"]["id"].as_str().expect("a job").to_string();
    server.ask("DELETE", &format!("/jobs/{id}"), "").is(200);
    let over = server.wait(&id);
    assert_eq!(over["state"], "cancelled", "{over}");
    server.get("/jobs/nothing").is(404);
    // It can be asked again, and whoever else asks at the same time waits for the same job.
    let first = server.post("/negotiate", &question).is(202).json();
    let second = server.post("/negotiate", &question);
    if second.status == 202 {
        assert_eq!(first["job"]["id"], second.json()["job"]["id"]);
    }
    server.answer("/negotiate", &question).is(200);
}

/// Nothing is wrong when somebody cancels, so that nothing is said about it.
#[test]
fn an_annotation_is_cancelled_without_a_word() {
    let folder = Folder::new();
    let names: Vec<String> = (0..8).map(|a| format!("q{a}")).collect();
    let mut data = format!("{}\n", names.join(","));
    for i in 0..4000u64 {
        let record: Vec<String> = (0..8).map(|a| (i * (7919 + 104_729 * a) / (a + 3) % 8).to_string()).collect();
        data.push_str(&format!("{}\n", record.join(",")));
    }
    folder.write("table.csv", data);
    let attribute = |name: &String| {
        format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ intervals = [2, 4] }}\n")
    };
    let attributes: String = names.iter().map(attribute).collect();
    folder.write("incrowd.toml", format!("[data]\npath = \"table.csv\"\n{attributes}"));
    let said = std::fs::File::create(folder.join("said.txt")).expect("a file");
    let server = Server::start_telling(&folder, &["."], Stdio::from(said));
    let question = json!({ "project": server.project(), "request": { "k": 5 } });
    let job = server.post("/negotiate", &question).is(202).json();
    let id = job["job"]["id"].as_str().expect("a job").to_string();
    let start = Instant::now();
    while server.get(&format!("/jobs/{id}")).json()["progress"]["what"] != "annotating" {
        assert!(start.elapsed() < Duration::from_secs(60), "it never came to annotating");
    }
    std::thread::sleep(Duration::from_millis(200));
    server.ask("DELETE", &format!("/jobs/{id}"), "").is(200);
    assert_eq!(server.wait(&id)["state"], "cancelled");
    assert_eq!(folder.read("said.txt"), "");
}

#[test]
fn what_is_wrong_is_told_with_place_and_hint() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    server.answer("/annotate", &json!({ "project": project })).is(200);
    let check = |path: &str, body: Value, status: u16, detail: &str| {
        let answer = server.answer(path, &body);
        assert!(answer.head.contains("application/problem+json") || answer.status == 0, "{}", answer.head);
        let problem = answer.json();
        let problem = if answer.status == 0 { problem["problem"].clone() } else { problem };
        assert_eq!(problem["status"], status, "{problem}");
        assert!(problem["detail"].as_str().is_some_and(|text| text.contains(detail)), "{problem}");
        problem
    };
    let ask = |request: Value| json!({ "project": project, "request": request });
    check("/negotiate", ask(json!({ "k": 0 })), 422, "k must be at least 1");
    check("/negotiate", ask(json!({ "k": 1 })), 422, "k = 1 promises nothing");
    check("/negotiate", ask(json!({ "k": 1, "l": 1 })), 422, "promises nothing");
    for (choice, method) in [("exact", Value::Null), ("levels", Value::Null), ("method", json!("mondrian"))] {
        let order = json!({ "project": project, "request": { "k": 1 }, "choice": choice, "method": method, "levels": { "age": 1 } });
        check("/publish", order, 422, "k = 1 promises nothing");
    }
    // Nor does what every record keeps on its own.
    for nothing in [json!({ "k": 1, "t": 0.999999 }), json!({ "beta": 1_000_000, "k": 1 })] {
        check("/negotiate", ask(nothing.clone()), 422, "promises nothing: every record may stand alone");
        for (choice, method) in [("exact", Value::Null), ("levels", Value::Null), ("method", json!("mondrian"))] {
            for path in ["/review", "/publish"] {
                let order = json!({ "project": project, "request": nothing, "choice": choice, "method": method, "levels": { "age": 1 } });
                check(path, order, 422, "promises nothing: every record may stand alone");
            }
        }
    }
    let document = json!({ "data": { "path": "table.csv" }, "attributes": {
        "age": { "role": "quasi-identifier" }, "name": { "role": "other" } } });
    let finding = server.post("/projects", &json!({ "document": document })).is(200).json()["id"].clone();
    let order = json!({ "project": finding, "request": { "k": 3, "max_suppressed": "50%" }, "choice": "exact" });
    let found = check("/publish", order, 422, "column 'name' (400 of 400) would find people");
    assert!(!found.to_string().contains("Xperson"), "{found}");
    check("/negotiate", ask(json!({ "k": 4000 })), 422, "larger than the table");
    check("/negotiate", ask(json!({ "kk": 3 })), 422, "kk");
    check("/negotiate", ask(json!({})), 422, "no privacy is asked for");
    check("/negotiate", ask(json!({ "k": 3, "max_level": { "agee": 1 } })), 422, "agee");
    check("/negotiate", ask(json!({ "k": 3, "max_suppressed": "150%" })), 422, "150%");
    check("/negotiate", json!({ "project": "nothing" }), 404, "no such project");
    check("/negotiate", json!({ "project": project, "more": 1 }), 422, "the body is not what is asked for");
    let hierarchy = |text: &str| json!({ "project": project, "attribute": "city", "hierarchy": { "text": text, "name": "city.csv" } });
    let absent = check("/hierarchy", hierarchy("Xoslo;North;*\nXumea;North;*\n"), 422, "misses 1 value");
    assert!(absent["hint"].as_str().is_some_and(|hint| hint.contains("Xrome")), "on this machine: {absent}");
    let line = check("/hierarchy", hierarchy("Xoslo;North;*\nXumea;North\n"), 422, "has 2 labels");
    assert_eq!(line["position"], "city.csv:2");
    let bad = json!({ "document": { "data": { "path": "table.csv" },
        "attributes": { "age": { "role": "quasi-identifier", "hierarchy": { "intervals": [5, 7] } } } } });
    let wrong = check("/projects", bad, 422, "not a multiple");
    assert_eq!(wrong["position"], "attributes.age.hierarchy");
    assert!(!wrong.to_string().contains(&folder.path().display().to_string()));
    assert_eq!(server.ask("POST", "/negotiate", "{").is(400).json()["detail"], "the body is not JSON");
    server.ask("GET", "/negotiate", "").is(405);
    server.get("/nothing").is(404);
}

#[test]
fn the_openapi_document_names_every_route_and_nothing_else() {
    let document: Value = serde_json::from_str(incrowd_workbench::serve::OPENAPI).expect("it is JSON");
    let source = include_str!("../src/serve/api.rs");
    let mut routes: Vec<String> = Vec::new();
    for line in source.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")) {
        let (path, methods) = line.split_once('"').expect("a path in quotes");
        for method in ["get", "put", "post", "delete"].iter().filter(|method| methods.contains(&format!("{method}("))) {
            routes.push(format!("{method} /api/v1{path}"));
        }
    }
    let paths = document["paths"].as_object().expect("paths");
    let methods = |(path, item): (&String, &Value)| {
        item.as_object().expect("methods").keys().map(|method| format!("{method} {path}")).collect::<Vec<_>>()
    };
    let mut described: Vec<String> = paths.iter().flat_map(methods).collect();
    routes.sort();
    described.sort();
    assert!(routes.len() > 20);
    assert_eq!(routes, described);
    // Every reference leads somewhere.
    let text = document.to_string();
    for name in text.split("#/components/schemas/").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(document["components"]["schemas"].get(name).is_some(), "{name}");
    }
    let folder = table();
    let server = Server::start(&folder, &["."]);
    assert_eq!(server.get("/openapi.json").is(200).json(), document);
}

#[test]
fn the_page_is_small_and_loads_nothing_from_elsewhere() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web");
    let mut n_bytes = 0;
    let mut n_files = 0;
    for entry in std::fs::read_dir(web).expect("the page is there") {
        let path = entry.expect("readable").path();
        let name = path.file_name().expect("a name").to_str().expect("ASCII").to_string();
        if !["html", "css", "js", "svg"].iter().any(|ending| name.ends_with(&format!(".{ending}"))) {
            continue;
        }
        let request = format!(
            "GET /{name} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n",
            server.host
        );
        let mut stream = server.connect();
        stream.write_all(request.as_bytes()).expect("it listens");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer");
        assert!(bytes.starts_with(b"HTTP/1.1 200"), "{name} is not served: add it to assets.rs");
        n_bytes += bytes.len();
        n_files += 1;
        let text = std::fs::read_to_string(&path).expect("a text");
        for (before, _) in text.match_indices("://") {
            let start = &text[before.saturating_sub(5)..before];
            let end = &text[before..text.len().min(before + 30)];
            assert!(end.starts_with("://www.w3.org/2000/svg"), "{name}: {start}{end}");
        }
    }
    assert!(n_files > 10 && n_bytes < 300_000, "{n_files} files, {n_bytes} bytes");
}

/// Whoever names the file of a project means the project, as for every other command; its folder is the one that is served.
#[test]
fn a_project_is_served_by_its_file_too() {
    let folder = table();
    let document =
        |server: &Server| server.get(&format!("/projects/{}", server.project())).is(200).json()["document"].clone();
    let whole = folder.join("incrowd.toml").display().to_string();
    folder.write("renamed.toml", folder.read("incrowd.toml"));
    for path in ["incrowd.toml", "./incrowd.toml", &whole, "renamed.toml"] {
        for preview in ["--allow-preview=true", "--allow-preview=false"] {
            let server = Server::start(&folder, &[path, preview]);
            assert_eq!(document(&server), document(&Server::start(&folder, &[".", preview])), "{path} {preview}");
            let order = json!({
                "project": server.project(), "request": { "k": 5, "max_suppressed": "50%" }, "choice": "exact",
                "output": "release.csv",
            });
            server.answer("/negotiate", &json!({ "project": order["project"], "request": order["request"] })).is(200);
            assert_eq!(server.work("/publish", &order)["state"], "done", "{path} {preview}");
            assert!(folder.has("release.csv") && folder.has("release.csv.certificate.json"), "{path} {preview}");
            folder.run(&["verify", "release.csv"]).ends(0);
            for name in ["release.csv", "release.csv.certificate.json", "release.csv.report.html"] {
                std::fs::remove_file(folder.join(name)).expect("it was written");
            }
        }
    }
    let ran = folder.run(&["serve", "nothing.toml"]).ends(2);
    assert!(ran.stderr.contains("nothing.toml"), "{ran}");
}

#[test]
fn without_a_project_the_demo_is_served_and_its_folder_is_gone_afterwards() {
    let folder = Folder::new();
    let mut server = Server::start(&folder, &[]);
    let about = server.get("/about").is(200).json();
    assert_eq!(about["is_demo"], true);
    let name = about["folder"].as_str().expect("a folder").to_string();
    let path = std::env::temp_dir().join(&name);
    assert!(path.join("discharges.csv").exists());
    let pid = rustix::process::Pid::from_raw(server.child.id() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is ours");
    assert!(server.child.wait().expect("it ends").success());
    assert!(!path.exists(), "{} is left behind", path.display());
    assert!(folder.names().is_empty());
}
