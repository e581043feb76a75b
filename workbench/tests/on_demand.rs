//! Answers without a lattice, on the command line: the same as with one, and some answer however large it would be.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support;
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
        let (mut document, mut whole) = (on_demand.json(), whole.json());
        let how = document.as_object_mut().expect("a document").remove("on_demand").expect("how it was found");
        // What could be left out is only told where there is a lattice.
        for document in [&mut document, &mut whole] {
            document.get_mut("offers").and_then(|offers| offers.as_object_mut()).map(|offers| offers.remove("without"));
        }
        assert_eq!(document, whole, "{wish}");
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
    assert!(!whole.stderr.contains("on demand"), "{whole}");
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
    assert!(published.stdout.contains("Proved optimal"), "{published}");
    folder.run(&words("publish --k 5 --max-suppressed 10% -o b.csv")).ends(0);
    assert_eq!(folder.read("a.csv"), folder.read("b.csv"));
    let refused = folder.run(&words("negotiate --k 5 --on-demand --time soon")).ends(2);
    assert!(refused.stderr.contains("'soon' is not a time"), "{refused}");
}

/// What a lattice takes is known when it is made: where that is too much, the answer is found on demand, and is the same.
#[test]
fn memory_that_ends_while_annotating_changes_no_answer() {
    let mut random = Random(5);
    let names: Vec<String> = (0..5).map(|a| format!("q{a}")).collect();
    let attribute = |name: &String| {
        format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ intervals = [3, 6] }}\n")
    };
    let project = format!("[data]\npath = \"table.csv\"\n{}", names.iter().map(attribute).collect::<String>());
    let mut data = format!("{}\n", names.join(","));
    for _ in 0..5000 {
        let record: Vec<String> = names.iter().map(|_| random.below(13).to_string()).collect();
        data.push_str(&format!("{}\n", record.join(",")));
    }
    let folder = Folder::with(&[("table.csv", &data), ("incrowd.toml", &project)]);
    let wish = "negotiate --k 5 --max-suppressed 10%";
    let whole = folder.run(&words(wish)).ends(0);
    assert_eq!(whole.stderr, "");
    let mut n_given_up = 0;
    for memory in ["300kB", "620kB", "650kB", "700kB", "750kB", "900kB", "2MB", "20MB"] {
        for threads in ["1", "2"] {
            let line = format!("{wish} --memory {memory} --threads {threads}");
            let ran = folder.run(&words(&line)).ends(0);
            assert!(ran.stdout.starts_with(whole.stdout.trim_end()), "{ran}{whole}");
            n_given_up += usize::from(ran.stderr.contains("on demand, since the lattice of 5 quasi-identifiers"));
        }
    }
    assert!(n_given_up > 4, "{n_given_up}");
}

/// Whoever signs a release learns whether its scheme is the best, or by how much a better one might be. That depends on all
/// records, so that whoever gets the release does not.
#[test]
fn publish_says_how_its_scheme_was_found() {
    let folder = table(6, 300);
    let wish = "publish --k 5 --max-suppressed 10% --json";
    let publish = |name: &str, flags: &str| {
        let ran = folder.run(&words(&format!("{wish} -o {name} {flags}"))).ends(0);
        let certificate: serde_json::Value =
            serde_json::from_str(&folder.read(&format!("{name}.certificate.json"))).expect("a certificate");
        let search = ran.json()["search"].clone();
        assert!(certificate.get("search").is_none());
        let statement = search["statement"].as_str().expect("a sentence").to_string();
        assert!(folder.read(&format!("{name}.report.html")).contains(&statement), "{statement}");
        folder.run(&words(&format!("verify {name}"))).ends(0);
        let words = folder.run(&words(&format!("publish --k 5 --max-suppressed 10% -o words.csv --force {flags}")));
        assert!(words.stdout.contains(&format!("  scheme       {statement}\n")), "{words}");
        search
    };
    let whole = publish("whole.csv", "");
    assert_eq!((&whole["extent"], &whole["is_optimal"]), (&"full".into(), &true.into()), "{whole}");
    assert_eq!(whole["statement"], "Optimal: the best of all 729 schemes");
    let proved = publish("proved.csv", "--on-demand");
    assert_eq!((&proved["extent"], &proved["is_optimal"]), (&"on-demand".into(), &true.into()), "{proved}");
    assert!(proved["statement"].as_str().is_some_and(|text| text.starts_with("Proved optimal; ")), "{proved}");
    let ended = publish("ended.csv", "--on-demand --time 0s");
    assert_eq!(ended["is_optimal"], false, "{ended}");
    assert!(
        ended["statement"].as_str().is_some_and(|text| text.starts_with("The best that was found before the search")),
        "{ended}"
    );
    let partial = publish("partial.csv", "--partial 1% --estimator gamma");
    assert_eq!((&partial["extent"], &partial["n_schemes"]), (&"partial".into(), &729.into()), "{partial}");
    let text = partial["statement"].as_str().expect("a sentence");
    match partial["is_optimal"].as_bool() {
        Some(true) => assert!(text.starts_with("Proved optimal; "), "{text}"),
        _ => {
            assert!(
                text.starts_with("The best of the most promising schemes by gamma: nothing has a loss below"),
                "{text}"
            )
        }
    }
    // Levels of one's own choice were not searched for.
    folder.run(&words("publish --k 2 --levels q0=2,q1=2,q2=2,q3=2,q4=2,q5=2 -o levels.csv")).ends(0);
    assert!(!folder.read("levels.csv.certificate.json").contains("\"search\""));
    // A certificate from before all this is as good.
    let mut old: serde_json::Value =
        serde_json::from_str(&folder.read("whole.csv.certificate.json")).expect("a certificate");
    old.as_object_mut().expect("an object").remove("search");
    folder.write("whole.csv.certificate.json", old.to_string());
    folder.run(&words("verify whole.csv")).ends(0);
}

#[test]
fn a_search_that_has_proved_nothing_says_so_and_what_would_help() {
    let folder = table(6, 300);
    let wish = "negotiate --k 5 --max-suppressed 10% --on-demand";
    let ran = folder.run(&words(&format!("{wish} --time 0s"))).ends(0);
    assert!(ran.stdout.contains("The best so far: no scheme is ruled out yet; "), "{ran}");
    assert!(ran.stdout.contains("; more --time may find better."), "{ran}");
    let ran = folder.run(&words(&format!("{wish} --memory 1"))).ends(0);
    assert!(ran.stdout.contains("; more --memory may find better.") && !ran.stdout.contains("--time"), "{ran}");
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

/// Only the time ends the search of a release with the best so far; who interrupts it wants none.
#[cfg(unix)]
#[test]
fn ctrl_c_publishes_nothing() {
    let folder = table(15, 3000);
    let before = folder.names();
    let mut command = folder.command(&words("publish --k 5 --max-suppressed 5% --time 10m --on-demand -o a.csv"));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("incrowd starts");
    std::thread::sleep(Duration::from_secs(3));
    let pid = rustix::process::Pid::from_raw(child.id() as i32).expect("a process");
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("a signal");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), None, "it ends by the signal");
    assert_eq!(folder.names(), before);
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
