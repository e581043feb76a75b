//! Nothing is written until somebody saves, nothing is replaced without a question, and comments stay.

use serde_json::{Value, json};

use crate::serve::server::{Server, table};
use crate::support::Folder;

const CITIES: &str = "Xoslo;Nordic;*\nXumea;Nordic;*\nXrome;Italian;*\n";
const OTHER_CITIES: &str = "Xoslo;Cold;*\nXumea;Cold;*\nXrome;Warm;*\n";

fn ages() -> String {
    (20..80).map(|age| format!("{age};{};*\n", if age < 50 { "young" } else { "old" })).collect()
}

/// A project in which two hierarchies of the same name were imported.
fn import(server: &Server) -> Value {
    let about = server.get("/about").is(200).json()["project"].clone();
    let mut document = about["document"].clone();
    document["attributes"]["age"]["hierarchy"] = json!({ "text": ages(), "name": "levels.csv" });
    document["attributes"]["city"]["hierarchy"] = json!({ "text": CITIES, "name": "levels.csv" });
    server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(200).json()
}

fn publish(server: &Server, project: &Value, output: &str) -> Value {
    let order = json!({ "project": project["id"], "request": { "k": 5, "max_suppressed": 0 }, "choice": "suppression",
        "output": output });
    server.answer("/review", &order).is(200);
    server.work("/publish", &order)
}

#[test]
fn an_imported_hierarchy_is_negotiated_with_before_anything_is_written() {
    let folder = table();
    folder.write("hierarchies/levels.csv", "mine;*\n");
    let before = folder.content();
    let server = Server::start(&folder, &["."]);
    let edited = import(&server);
    assert_eq!(edited["is_saved"], false);
    let question = json!({ "project": edited["id"], "request": { "k": 5, "max_suppressed": 0 } });
    let answer = server.answer("/annotate", &question).is(200).json();
    let n_values = |a: usize| answer["attributes"][a]["levels"][1]["n_values"].clone();
    assert_eq!((n_values(0), n_values(1)), (json!(2), json!(2)), "{answer}");
    server.answer("/negotiate", &question).is(200);
    let tree = json!({ "project": edited["id"], "attribute": "city" });
    assert!(server.answer("/hierarchy", &tree).is(200).body.contains("Nordic"));
    // Another edit keeps what was imported.
    let mut document = edited["document"].clone();
    document["attributes"]["age"]["weight"] = json!(2);
    let again = server.post("/projects", &json!({ "document": document, "base": edited["id"] })).is(200).json();
    assert_eq!(again["document"]["attributes"]["city"]["hierarchy"]["text"], CITIES);
    assert_eq!(folder.content(), before, "nothing is written before it is saved");
}

#[test]
fn saving_writes_what_was_imported_and_the_release_is_the_same() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let edited = import(&server);
    assert_eq!(publish(&server, &edited, "unsaved.csv")["state"], "done");
    let refused = server.post("/save", &json!({ "project": edited["id"] })).is(409).json();
    assert!(refused["detail"].as_str().is_some_and(|text| text.contains("incrowd.toml")), "{refused}");
    assert!(!folder.has("hierarchies"), "a refused save leaves nothing, not even a folder");
    let saved = server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200).json();
    assert_eq!(saved["is_saved"], true);
    // Two of one name are two files.
    let paths = ["age", "city"].map(|name| {
        let path = &saved["document"]["attributes"][name]["hierarchy"];
        path.as_str().unwrap_or_else(|| panic!("{path} is not a path")).to_string()
    });
    assert_ne!(paths[0], paths[1]);
    assert_eq!((folder.read(&paths[0]), folder.read(&paths[1])), (ages(), CITIES.to_string()));
    assert_eq!(publish(&server, &saved, "saved.csv")["state"], "done");
    let flags = ["publish", "--k", "5", "--max-suppressed", "0", "--offer", "suppression", "-o", "cli.csv"];
    folder.run(&flags).ends(0);
    assert_eq!(folder.bytes("saved.csv"), folder.bytes("unsaved.csv"));
    assert_eq!(folder.bytes("saved.csv"), folder.bytes("cli.csv"));
    // Saving what is saved asks nothing.
    server.post("/save", &json!({ "project": saved["id"] })).is(200);
    server.post("/save", &json!({ "project": edited["id"] })).is(200);
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_asked() {
    let folder = table();
    let project = folder.read("incrowd.toml");
    folder.write("hierarchies/levels.csv", "mine;*\n");
    folder.write("hierarchies/levels-2.csv", CITIES);
    let server = Server::start(&folder, &["."]);
    let edited = import(&server);
    let before = folder.content();
    let refused = server.post("/save", &json!({ "project": edited["id"] })).is(409).json();
    let text = refused["detail"].as_str().expect("a text");
    assert!(text.contains("incrowd.toml") && text.contains("hierarchies/levels.csv"), "{refused}");
    assert!(!text.contains("levels-2.csv"), "that one says the same already: {refused}");
    assert!(refused["hint"].as_str().is_some_and(|hint| hint.contains("replace: true")), "{refused}");
    assert_eq!(folder.content(), before, "a refused save writes nothing at all");
    // Without a project file there is still a hierarchy in the way.
    std::fs::remove_file(folder.join("incrowd.toml")).expect("it is there");
    let refused = server.post("/save", &json!({ "project": edited["id"] })).is(409).json();
    assert!(refused["position"] == "hierarchies/levels.csv", "{refused}");
    assert!(!folder.has("incrowd.toml"));
    folder.write("incrowd.toml", project);
    server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200);
    assert_eq!(folder.read("hierarchies/levels.csv"), ages());
}

#[test]
fn an_import_does_not_take_the_place_of_a_file_that_another_attribute_has() {
    let folder = table();
    folder.write("hierarchies/levels.csv", OTHER_CITIES);
    let text = folder.read("incrowd.toml").replace(
        "hierarchy = { tree = { North = [\"Xoslo\", \"Xumea\"], South = [\"Xrome\"] } }",
        "hierarchy = \"hierarchies/levels.csv\"",
    );
    folder.write("incrowd.toml", &text);
    let server = Server::start(&folder, &["."]);
    let about = server.get("/about").is(200).json()["project"].clone();
    let mut document = about["document"].clone();
    document["attributes"]["age"]["hierarchy"] = json!({ "text": ages(), "name": "levels.csv" });
    let edited = server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(200).json();
    let saved = server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200).json();
    assert_eq!(saved["document"]["attributes"]["age"]["hierarchy"], "hierarchies/levels-2.csv");
    assert_eq!(folder.read("hierarchies/levels.csv"), OTHER_CITIES);
    folder.run(&["count"]).ends(0);
}

#[test]
fn what_is_imported_is_checked_and_bounded() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let about = server.get("/about").is(200).json()["project"].clone();
    for hierarchy in [
        json!({ "text": 3 }),
        json!({ "text": "Xoslo;a;*\nXumea;a\n", "name": "c.csv" }),
        json!({ "text": CITIES, "name": 5 }),
        json!({ "text": "" }),
    ] {
        let mut document = about["document"].clone();
        document["attributes"]["city"]["hierarchy"] = hierarchy;
        server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(422);
    }
    for name in ["../../evil.csv", "/etc/evil.csv", ".bashrc", "a/b/c.csv", "incrowd.toml"] {
        let mut document = about["document"].clone();
        document["attributes"]["city"]["hierarchy"] = json!({ "text": CITIES, "name": name });
        let edited = server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(200).json();
        let saved = server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200).json();
        let path = saved["document"]["attributes"]["city"]["hierarchy"].as_str().expect("a path").to_string();
        assert!(path.starts_with("hierarchies/") && !path.contains(".."), "{path}");
        assert_eq!(folder.read(&path), CITIES);
    }
    let mut document = about["document"].clone();
    document["attributes"]["city"]["hierarchy"] = json!({ "text": format!("{CITIES}{}", "x;y;*\n".repeat(1_000_000)) });
    let large = server.post("/projects", &json!({ "document": document, "base": about["id"] }));
    assert!([413, 0].contains(&large.status), "{}", large.body);
    // Many imports, of which the server keeps the last ones, and the project that it serves.
    let import = |i: usize| {
        let mut document = about["document"].clone();
        let many: String = (0..3_500).map(|n| format!("x{i}-{n};{};*\n", "y".repeat(1_000))).collect();
        document["attributes"]["city"]["hierarchy"] = json!({ "text": format!("{}{many}", CITIES) });
        let edited = server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(200).json();
        edited["id"].as_str().expect("an id").to_string()
    };
    let ids: Vec<String> = (0..11).map(import).collect();
    server.get(&format!("/projects/{}", ids[0])).is(404);
    server.get(&format!("/projects/{}", ids[10])).is(200);
    server.get(&format!("/projects/{}", about["id"].as_str().expect("an id"))).is(200);
}

/// A project file in somebody's own hand.
const COMMENTED: &str = r#"# The table of 2026.   Ask Ann before changing anything.

[data]   # where it comes from
path = 'table.csv'      # single quotes, on purpose

# Who it is: never published.
[attributes.name]
role = "identifier"

[attributes.age]
role      = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }   # as in last year's release
weight    = 1.50

[attributes.city]
role = "quasi-identifier"
[attributes.city.hierarchy.tree]
North = [ "Xoslo",   # by the fjord
          "Xumea" ]
South = ["Xrome"]

# What must not be linked.
[attributes.disease]
role = "sensitive"

[request]
k = 3 # agreed on in May
max_suppressed = "5%"
# the end
"#;

#[test]
fn saving_keeps_comments_order_and_layout() {
    let folder = table();
    let check = |edit: &dyn Fn(&mut Value), expected: &[(&str, &str)]| {
        folder.write("incrowd.toml", COMMENTED);
        let server = Server::start(&folder, &["."]);
        let about = server.get("/about").is(200).json()["project"].clone();
        // As a browser sends it back: 1.50 is 1.5, and 2.0 would be 2.
        let mut document = about["document"].clone();
        edit(&mut document);
        let edited = server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(200).json();
        server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200);
        let mut text = COMMENTED.to_string();
        for (before, after) in expected {
            assert!(text.contains(before), "{before}");
            text = text.replace(before, after);
        }
        assert_eq!(folder.read("incrowd.toml"), text);
        folder.run(&["count"]).ends(0);
    };
    check(&|_| {}, &[]);
    check(&|all| all["request"]["k"] = json!(7), &[("k = 3 #", "k = 7 #")]);
    check(
        &|all| all["attributes"]["age"]["hierarchy"]["intervals"] = json!([5, 10]),
        &[("{ intervals = [5, 10, 20] }", "{ intervals = [5, 10] }")],
    );
    check(
        &|all| all["attributes"]["age"]["hierarchy"] = json!({ "text": ages(), "name": "age.csv" }),
        &[("{ intervals = [5, 10, 20] }", "\"hierarchies/age.csv\"")],
    );
    check(&|all| all["attributes"]["age"]["weight"] = json!(2), &[("1.50", "2")]);
    check(
        &|all| all["attributes"]["disease"]["distance"] = json!("equal"),
        &[("role = \"sensitive\"\n", "role = \"sensitive\"\ndistance = \"equal\"\n")],
    );
    // What somebody has written into the file meanwhile is kept too, where the page says nothing else.
    folder.write("incrowd.toml", COMMENTED);
    let server = Server::start(&folder, &["."]);
    let about = server.get("/about").is(200).json()["project"].clone();
    let mut document = about["document"].clone();
    document["request"]["k"] = json!(4);
    let edited = server.post("/projects", &json!({ "document": document, "base": about["id"] })).is(200).json();
    let newer = COMMENTED.replace("# the end", "# the end, as of today");
    folder.write("incrowd.toml", &newer);
    server.post("/save", &json!({ "project": edited["id"] })).is(409);
    assert_eq!(folder.read("incrowd.toml"), newer);
    server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200);
    assert_eq!(folder.read("incrowd.toml"), newer.replace("k = 3 #", "k = 4 #"));
}

/// Edits at random, each saved over what is there: what is read back is what was sent, and no comment of what stays is lost.
#[test]
fn any_edit_is_saved_as_it_was_meant() {
    let folder = table();
    folder.write("incrowd.toml", COMMENTED);
    let server = Server::start(&folder, &["."]);
    let mut random = crate::support::Random(3);
    let mut project = server.get("/about").is(200).json()["project"].clone();
    for round in 0..60 {
        let mut document = project["document"].clone();
        for _ in 0..1 + random.below(3) {
            edit(&mut document, &mut random);
        }
        let body = json!({ "document": document, "base": project["id"] });
        let edited = server.post("/projects", &body).is(200).json();
        let saved = server.post("/save", &json!({ "project": edited["id"], "replace": true })).is(200).json();
        assert_eq!(saved["document"], document, "round {round}: {}", folder.read("incrowd.toml"));
        let names = |document: &Value| -> Vec<String> {
            document["attributes"].as_object().expect("a section").keys().cloned().collect()
        };
        assert_eq!(names(&saved["document"]), names(&document), "the order of attributes has a meaning");
        let text = folder.read("incrowd.toml");
        assert!(text.starts_with("# The table of 2026.   Ask Ann") && text.ends_with("# the end\n"), "{text}");
        project = saved;
    }
}

fn edit(document: &mut Value, random: &mut crate::support::Random) {
    let attributes = document["attributes"].as_object_mut().expect("a section");
    let name = *random.pick(&["age", "city", "disease", "name"]);
    let hierarchies = [
        json!({ "flat": true }),
        json!({ "tree": { "A": ["Xoslo", "Xumea", "Xrome"] } }),
        json!({ "tree": { "A": { "B": ["Xoslo", "Xumea"], "C": ["Xrome"] } } }),
        json!({ "mask": 3 }),
        json!({ "mask": [1, 2], "from": "left" }),
    ];
    match random.below(6) {
        0 => drop(attributes.shift_remove(name)),
        1 => {
            let role = *random.pick(&["identifier", "quasi-identifier", "sensitive", "other"]);
            attributes.insert(name.to_string(), json!({ "role": role, "hierarchy": random.pick(&hierarchies) }));
        }
        2 => {
            // To the end.
            if let Some(about) = attributes.shift_remove(name) {
                attributes.insert(name.to_string(), about);
            }
        }
        3 => {
            if let Some(about) = attributes.get_mut(name) {
                about["hierarchy"] = random.pick(&hierarchies).clone();
            }
        }
        4 => document["request"] = json!({ "k": 2 + random.below(5), "max_level": { "age": 1 } }),
        _ => document["data"]["missing"] = json!(["?", "\"quoted\"", "new\nline"]),
    }
}

#[test]
fn a_suggested_project_is_saved_with_its_reasons() {
    let folder = Folder::with(&[("table.csv", &table().read("table.csv"))]);
    let server = Server::start(&folder, &["table.csv"]);
    server.post("/save", &json!({ "project": server.project() })).is(200);
    folder.run(&["init", "table.csv", "--force"]).ends(0);
    let suggested = folder.read("incrowd.toml");
    std::fs::remove_file(folder.join("incrowd.toml")).expect("it is there");
    server.post("/save", &json!({ "project": server.project() })).is(200);
    assert_eq!(folder.read("incrowd.toml"), suggested);
}
