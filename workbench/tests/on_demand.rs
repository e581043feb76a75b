//! Answers without a lattice, on the command line: the same as with one, and some answer however large it would be.

use std::process::Stdio;
use std::time::{Duration, Instant};

mod support;
use support::{Folder, Random};

/// A table with this many quasi-identifiers of three levels each, some of which follow from others.
fn table(n_quasi_identifiers: usize, n_records: usize) -> Folder {
    let mut random = Random(5);
    let name = |a: usize| format!("q{a}");
    let mut project = String::from("[data]\npath = \"table.csv\"\n");
    for a in 0..n_quasi_identifiers {
        let hierarchy = "hierarchy = { intervals = [4] }";
        project.push_str(&format!("[attributes.{}]\nrole = \"quasi-identifier\"\n{hierarchy}\n", name(a)));
    }
    project.push_str("[attributes.disease]\nrole = \"sensitive\"\n");
    let names: Vec<String> = (0..n_quasi_identifiers).map(name).collect();
    let mut data = format!("{},disease\n", names.join(","));
    for _ in 0..n_records {
        let mut before = random.below(8);
        for a in 0..n_quasi_identifiers {
            // Mostly like the one before, so that there are crowds to hide in.
            before = if a % 3 == 0 || random.below(10) == 0 { random.below(8) } else { before };
            data.push_str(&format!("{before},"));
        }
        data.push_str(["flu\n", "cold\n", "gout\n"][random.below(3)]);
    }
    Folder::with(&[("table.csv", &data), ("incrowd.toml", &project)])
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

#[test]
fn on_demand_says_what_the_lattice_says() {
    let folder = table(5, 300);
    for wish in [
        "--k 5 --max-suppressed 10%",
        "--k 5 --l 2 --max-suppressed 10% --best-by ncp",
        "--k 20 --max-suppressed 0 --max-level q0=1,q1=1,q3=0",
        "--t 0.1 --max-suppressed 5% --max-level q0=1,q1=0,q4=1",
        "--k 3 --entropy-l 2.5 --max-suppressed 0 --best-by precision=1,entropy=1",
    ] {
        let whole = folder.run(&[&["negotiate", "--json"], &words(wish)[..]].concat());
        let on_demand = folder.run(&[&["negotiate", "--json", "--on-demand"], &words(wish)[..]].concat());
        assert_eq!(on_demand.code, whole.code, "{on_demand}{whole}");
        let mut document = on_demand.json();
        let how = document.as_object_mut().expect("a document").remove("on_demand").expect("how it was found");
        assert_eq!(document, whole.json(), "{wish}");
        assert_eq!(how["is_proved"], true, "{how}");
        let words = folder.run(&[&["negotiate", "--on-demand"], &words(wish)[..]].concat());
        assert!(words.stdout.contains("Proved optimal; ") && words.stdout.contains(" of 243 schemes"), "{words}");
    }
}

#[test]
fn what_would_not_fit_is_answered_on_demand_and_says_why() {
    let folder = table(6, 300);
    let on_demand = folder.run(&words("negotiate --k 5 --max-suppressed 10% --memory 400kB")).ends(0);
    assert!(on_demand.stderr.contains("on demand: the whole lattice of 729 schemes would take about"), "{on_demand}");
    let whole = folder.run(&words("negotiate --k 5 --max-suppressed 10%")).ends(0);
    assert!(on_demand.stdout.starts_with(whole.stdout.trim_end()), "{on_demand}{whole}");
    assert_eq!(whole.stderr, "");
    let refused = folder.run(&words("negotiate --k 5 --memory 100kB --full")).ends(2);
    assert!(refused.stderr.contains("the lattice of 6 quasi-identifiers has 729 schemes"), "{refused}");
    let refused = folder.run(&words("negotiate --k 5 --on-demand --as-published")).ends(2);
    assert!(refused.stderr.contains("--as-published needs a lattice"), "{refused}");
    for wish in ["--k 5 --max-suppressed 10%", "--k 50 --max-level q0=1,q3=1"] {
        let why = |extent: &str| {
            let document = folder.run(&words(&format!("negotiate --explain --json {wish} {extent}"))).json();
            (document["outcome"].clone(), document["explanation"].clone())
        };
        assert_ne!(why("--full").1, serde_json::Value::Null);
        assert_eq!(why("--on-demand"), why("--full"));
        assert_eq!(why("--partial 100%"), why("--full"));
    }
    let published = folder.run(&words("publish --k 5 --max-suppressed 10% --memory 400kB -o a.csv")).ends(0);
    assert!(published.stderr.contains("Proved optimal"), "{published}");
    folder.run(&words("publish --k 5 --max-suppressed 10% -o b.csv")).ends(0);
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    let refused = folder.run(&words("negotiate --k 5 --on-demand --time soon")).ends(2);
    assert!(refused.stderr.contains("'soon' is not a time"), "{refused}");
}

/// Over 14 million schemes.
#[test]
fn fifteen_quasi_identifiers_get_an_answer_in_the_time_there_is() {
    let folder = table(15, 3000);
    let start = Instant::now();
    let ran = folder.run(&words("negotiate --k 5 --max-suppressed 5% --time 2s --memory 2GB --json")).ends(0);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(ran.stderr.contains("on demand"), "{ran}");
    let document = ran.json();
    assert_eq!(document["n_schemes"], 14_348_907);
    let bound = document["on_demand"]["proofs"]["exact"]["loss_at_least"].as_f64().expect("a bound");
    let height = document["exact"]["height"].as_f64().expect("a height");
    assert!(bound * 30.0 <= height + 1e-6, "{document}");
    // What is said of the scheme is so.
    let levels = document["exact"]["levels"].as_object().expect("levels");
    let levels: Vec<String> = levels.iter().map(|(name, level)| format!("{name}={level}")).collect();
    let again = folder.run(&[
        "negotiate",
        "--k",
        "5",
        "--max-suppressed",
        "5%",
        "--max-level",
        &levels.join(","),
        "--time",
        "0",
        "--on-demand",
        "--json",
    ]);
    let again = again.ends(0).json();
    assert_eq!(again["exact"]["n_suppressed"], document["exact"]["n_suppressed"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_returns_the_best_so_far() {
    let folder = table(15, 3000);
    let mut command = folder.command(&words("negotiate --k 5 --max-suppressed 5% --time 10m --on-demand"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("incrowd starts");
    std::thread::sleep(Duration::from_secs(3));
    let start = Instant::now();
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("it ends");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let text = String::from_utf8(output.stdout).expect("a text");
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("Answer:  yes, all of it") && text.contains("schemes were looked at"), "{text}");
}
