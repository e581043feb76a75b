//! Ranges of their own for every group over HTTP: answers, pictures, and releases to the byte of the command line's.

use serde_json::{Value, json};

use super::server::{Server, table};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[test]
fn answers_are_those_of_the_command_line() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    for (flags, request) in [
        (vec!["--k", "4", "--max-suppressed", "0"], json!({ "k": 4, "max_suppressed": 0 })),
        (
            vec!["--k", "6", "--max-suppressed", "3", "--max-loss", "30%", "--max-loss", "age=25%"],
            json!({ "k": 6, "max_suppressed": 3, "max_loss": { "*": 0.3, "age": "25%" } }),
        ),
        (vec!["--k", "30", "--max-suppressed", "0", "--max-loss", "1%"], json!({ "k": 30, "max_loss": "1%" })),
    ] {
        let mut answer =
            server.answer("/negotiate-local", &json!({ "project": project, "request": request })).is(200).json();
        answer.as_object_mut().expect("an answer").remove("notes");
        let said = folder.run(&[&["negotiate", "--local", "--json"][..], &flags].concat());
        assert_eq!(answer, said.json(), "{flags:?}");
    }
    for wrong in [
        json!({ "k": 4, "max_level": { "age": 1 } }),
        json!({ "k": 4, "max_loss": 2 }),
        json!({ "k": 4, "max_loss": { "size": 0.1 } }),
        json!({ "k": 4, "lattice": "x.crowd" }),
        json!({}),
    ] {
        let refused = server.answer("/negotiate-local", &json!({ "project": project, "request": wrong }));
        assert!((400..500).contains(&refused.status), "{wrong}: {}", refused.body);
    }
}

/// Every row of the picture has all records, from the first to the last, and the last has the groups.
#[test]
fn pictures_have_every_record_once() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    for request in [json!({ "k": 3 }), json!({ "k": 4, "max_suppressed": 12 }), json!({ "k": 9, "max_loss": "5%" })] {
        let question = json!({ "project": project, "request": request });
        let answer = server.answer("/negotiate-local", &question).is(200).json();
        let offer = if answer["exact"].is_object() { &answer["exact"] } else { &answer["offers"]["loss"] };
        let around = server.answer("/explore-local", &question).is(200).json();
        check_rows(&around["groups"], Some(offer));
        let sample = &around["sample"];
        assert!(sample["records"].as_array().is_some_and(|records| !records.is_empty()));
        // A part of it, and what it is.
        let rows = around["groups"]["rows"].as_array().expect("rows");
        let mut states = Vec::new();
        for piece in rows.iter().flat_map(|row| row.as_array().expect("pieces")).step_by(3) {
            let Some(node) = piece[0].as_u64() else { continue };
            let of_node = json!({ "project": project, "request": request, "node": node });
            let group = server.answer("/group", &of_node).is(200).json();
            assert_eq!(group["n_records"], piece[2], "{group}");
            assert_eq!(group["n_groups"], piece[3]);
            assert_eq!(group["loss"], piece[5]);
            assert!(group["ranges"]["age"].is_string() && group["ranges"]["city"].is_string());
            states.push(group["state"].as_str().expect("a state").to_string());
            if group["state"] == "divided" {
                let part = server.answer("/explore-local", &of_node).is(200).json();
                assert_eq!(part["groups"]["n_records"], piece[2]);
                check_rows(&part["groups"], None);
            }
        }
        assert!(states.iter().any(|state| state == "published") && states.iter().any(|state| state == "divided"));
    }
    let beyond = json!({ "project": project, "request": { "k": 3 }, "node": 1_000_000 });
    server.answer("/group", &beyond).is(422);
}

fn check_rows(groups: &Value, offer: Option<&Value>) {
    let rows = groups["rows"].as_array().expect("rows");
    for row in rows {
        let mut next = 0;
        for piece in row.as_array().expect("pieces") {
            assert_eq!(piece[1].as_u64(), Some(next), "{piece}");
            next += piece[2].as_u64().expect("records");
        }
        assert_eq!(Some(next), groups["n_records"].as_u64());
        let sum =
            |i: usize| row.as_array().expect("pieces").iter().map(|piece| piece[i].as_u64().expect("n")).sum::<u64>();
        if let Some(offer) = offer {
            assert_eq!(Some(sum(3)), offer["n_groups"].as_u64());
            assert_eq!(Some(sum(4)), offer["n_suppressed"].as_u64());
        }
    }
}

/// What is agreed on is reviewed and published, to the byte of the command line's.
#[test]
fn releases_are_those_of_the_command_line() {
    let folder = table();
    let server = Server::start(&folder, &["."]);
    let project = server.project();
    for (flags, request, choice, options) in [
        (vec!["--k", "4", "--max-suppressed", "2"], json!({ "k": 4, "max_suppressed": 2 }), "exact", json!({})),
        (
            vec!["--k", "4", "--max-suppressed", "0", "--max-loss", "0%", "--offer", "loss", "--steps", "30"],
            json!({ "k": 4, "max_suppressed": 0, "max_loss": 0 }),
            "loss",
            json!({ "steps": 30 }),
        ),
    ] {
        let order = json!({
            "project": project, "request": request, "choice": choice, "local": true, "options": options,
            "output": "over-http.csv", "replace": true, "key": KEY,
        });
        let review = server.answer("/review", &order).is(200).json();
        assert_eq!(review["method"]["name"], "negotiated");
        let done = server.work("/publish", &order);
        assert_eq!(done["result"]["published"], true, "{done}");
        let words = ["publish", "--local", "-o", "by-hand.csv", "--force", "--key", KEY];
        folder.run(&[&words[..], &flags].concat()).ends(0);
        assert_eq!(folder.read("over-http.csv"), folder.read("by-hand.csv"));
        let certificate: Value = serde_json::from_str(&folder.read("by-hand.csv.certificate.json")).expect("JSON");
        assert_eq!(done["result"]["choice"], certificate["choice"]);
        let n_published = review["n_published"].as_u64().expect("a number") as usize;
        assert_eq!(folder.read("over-http.csv").lines().count(), n_published + 1);
    }
    for wrong in [
        json!({ "choice": "height", "local": true }),
        json!({ "choice": "levels", "local": true, "levels": { "age": 1 } }),
        json!({ "choice": "loss" }),
    ] {
        let mut order = json!({ "project": project, "request": { "k": 4 } });
        order.as_object_mut().expect("an order").extend(wrong.as_object().expect("more").clone());
        server.answer("/review", &order).is(422);
    }
}
