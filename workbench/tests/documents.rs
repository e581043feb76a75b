//! What is written down is true: links lead somewhere, and commands on the examples print what the documents show.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind::{
    DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion, MissingRequiredArgument, MissingSubcommand,
};
use clap::{CommandFactory, Parser};
use incrowd_workbench::cli::Cli;
use incrowd_workbench::demo_data;
use incrowd_workbench::input::project::Project;

use crate::serve::server::Server;
use crate::support::Folder;

/// Every document that a reader of the repository meets.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let folders = [
        "",
        "docs",
        "docs/tutorials",
        "examples",
        "examples/nightly",
        "examples/elsewhere",
        "python",
        "bench",
        "engine",
        "workbench",
    ];
    let mut found: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    found.sort();
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workbench is in the repository").to_path_buf()
}

/// The lines of a document that are not in a block of code.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    text.lines()
        .filter(|line| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        })
        .collect()
}

/// Where the links of a document lead.
fn links(text: &str) -> Vec<&str> {
    prose(text)
        .into_iter()
        .flat_map(|line| line.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target)
        .filter(|target| !target.contains("://") && !target.starts_with("mailto:"))
        .collect()
}

/// The anchors of a document's headings, as forges make them.
fn anchors(text: &str) -> Vec<String> {
    prose(text)
        .into_iter()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#')))
        .map(anchor)
        .collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_every_anchor_to_a_heading() {
    let mut broken = Vec::new();
    let mut n_links = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a readable document");
        for link in links(&text) {
            n_links += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if file.is_empty() { document.clone() } else { document.parent().expect("a folder").join(file) };
            let is_there = match std::fs::read_to_string(&target) {
                Ok(text) if !heading.is_empty() => anchors(&text).contains(&heading.to_owned()),
                Ok(_) => true,
                Err(_) => heading.is_empty() && target.exists(),
            };
            if !is_there {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
    assert!(n_links > 100, "only {n_links} links were found");
}

/// A command of a document and what it is said to print.
struct Shown {
    place: String,
    command: String,
    printed: Vec<String>,
}

/// The commands of a document: whatever stands behind a prompt in a block of the kind `console`.
fn shown(document: &Path, text: &str) -> Vec<Shown> {
    let mut found: Vec<Shown> = Vec::new();
    let (mut is_console, mut goes_on, mut before) = (false, false, "");
    for (n, line) in text.lines().enumerate() {
        let last = found.last_mut();
        if line.trim_start().starts_with("```") {
            // What wants a database is run by `checks/documents.py`.
            is_console = line.trim_start() == "```console" && !before.starts_with("<!-- run by make test-");
        } else if is_console && goes_on {
            last.expect("it began somewhere").command.push_str(line.trim_end_matches('\\'));
            goes_on = line.ends_with('\\');
        } else if is_console && let Some(command) = line.trim_start().strip_prefix("$ ") {
            let place = format!("{}:{}", document.display(), n + 1);
            goes_on = command.ends_with('\\');
            found.push(Shown { place, command: command.trim_end_matches('\\').to_owned(), printed: Vec::new() });
        } else if is_console && let Some(last) = last {
            last.printed.push(line.to_owned());
        }
        before = line;
    }
    found
}

/// Whether a command printed what a document shows: a line of `…` stands for any lines, and `…` within a line for any text.
fn agree(shown: &[&str], printed: &[&str]) -> bool {
    let Some((first, rest)) = shown.split_first() else { return printed.is_empty() };
    match first.trim() {
        "…" => (0..=printed.len()).any(|n_skipped| agree(rest, &printed[n_skipped..])),
        _ => {
            printed.first().is_some_and(|line| agrees(first.trim_end(), line.trim_end())) && agree(rest, &printed[1..])
        }
    }
}

fn agrees(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = printed.strip_prefix(parts.next().expect("there is always one")) else { return false };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        match (part.is_empty(), parts.peek()) {
            (true, None) => return true,
            (false, None) => return rest.ends_with(part),
            _ => match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => return false,
            },
        }
    }
    rest.is_empty()
}

#[test]
fn what_is_left_out_of_a_document_is_left_open_and_nothing_else() {
    assert!(agree(&["a", "…", "z"], &["a", "b", "c", "z"]) && agree(&["a …s", "b"], &["a 12 s", "b"]));
    assert!(!agree(&["a", "…", "z"], &["a", "b"]) && !agree(&["a"], &["a", "b"]) && !agree(&["a …s"], &["a 12 t"]));
}

/// A folder with what documents speak of: the examples, a small hospital, two workbooks, the made-up trial. A document
/// that does not begin with a table of its own has the hospital's project in front of it.
fn world(text: &str) -> Folder {
    let folder = Folder::new();
    copy(&root().join("examples"), &folder.join("examples"));
    let adult = root().join("../shared/adult/adult.csv");
    for project in ["incrowd.toml", "eight.toml"].map(|name| folder.join("examples/adult").join(name)) {
        let said = std::fs::read_to_string(&project).expect("a project");
        let said = said.replace("../../../shared/adult/adult.csv", &adult.display().to_string());
        std::fs::write(&project, said).expect("a writable folder");
    }
    for book in ["patients.xlsx", "patients-2025.xlsx"] {
        std::fs::copy(root().join("examples/patients").join(book), folder.join(book)).expect("a workbook");
    }
    for name in ["target", "elsewhere"] {
        std::fs::create_dir_all(folder.join(name)).expect("a writable folder");
    }
    if !text.contains("$ incrowd demo") && !text.contains("$ incrowd --quiet demo") {
        demo_data::write(&folder.join("hospital"), 3_000, 1).expect("a writable folder");
    }
    if !text.contains("$ incrowd init ") && folder.join("hospital").exists() {
        copy(&folder.join("hospital"), folder.path());
        // Whose record it is matters to documents that say so; a release of records can be judged from its file alone.
        let project = folder.read("incrowd.toml").replace("role = \"person\"", "role = \"identifier\"");
        folder.write("incrowd.toml", project.replace("\n[data]\n", "\n[data]\nrecords = \"independent\"\n"));
    }
    if text.contains("--append new.csv") {
        let records = folder.read("discharges.csv");
        let lines: Vec<&str> = records.lines().collect();
        folder.write("gone.csv", lines[..101].join("\n") + "\n");
        // The same values, put together otherwise: records of others.
        demo_data::write(&folder.join("later"), 500, 2).expect("a writable folder");
        folder.write("new.csv", folder.read("later/discharges.csv"));
    }
    if text.contains("target/philosophers.csv") && !text.contains("-o target/philosophers.csv") {
        let words =
            ["publish", "examples/ten_records", "--k", "4", "--offer", "privacy", "-o", "target/philosophers.csv"];
        folder.run(&words).ends(0);
    }
    if text.contains("$ incrowd negotiate trial") {
        assert!(in_shell("sh examples/adverse_events.sh trial", folder.path()).status.success());
    }
    folder
}

/// Runs a line as a shell would, with `incrowd` where it looks for programs.
fn in_shell(line: &str, folder: &Path) -> std::process::Output {
    let program = Path::new(env!("CARGO_BIN_EXE_incrowd"));
    let paths = std::env::var("PATH").expect("a path");
    let path = format!("{}:{paths}", program.parent().expect("a folder").display());
    std::process::Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .env("PATH", path)
        .env("INCROWD", program)
        .output()
        .expect("a shell")
}

/// Runs the commands of a document one after the other; how many there were.
fn run_document(document: &Path) -> usize {
    let text = std::fs::read_to_string(document).expect("a readable document");
    let commands = shown(document, &text);
    if commands.is_empty() {
        return 0;
    }
    let has_adult = root().join("../shared/adult/adult.csv").exists();
    let world = world(&text);
    let mut folder = world.path().to_path_buf();
    let mut n_run = 0;
    for shown in &commands {
        let command = shown.command.split(" #").next().expect("a first part").trim();
        if command.contains("examples/adult") && !has_adult {
            eprintln!("{}: not run, the Adult data are absent", shown.place);
            continue;
        }
        if let Some(to) = command.strip_prefix("cd ") {
            folder.push(to);
            continue;
        }
        let output = in_shell(&command.replace("target/release/incrowd", "incrowd"), &folder);
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("a text"));
        // 1 is an answer as good as 0; what fails is shown with its error.
        let is_error = !shown.printed.iter().any(|line| line.contains("NOT JUDGED") || line.starts_with("error"));
        let status = output.status.code();
        assert!(
            !is_error || matches!(status, Some(0 | 1)),
            "{}: {command} ends with {status:?}:\n{out}{err}",
            shown.place
        );
        n_run += 1;
        let wanted: Vec<&str> = trimmed(shown.printed.iter().map(String::as_str).collect());
        let agrees = [format!("{out}{err}"), format!("{err}{out}")]
            .iter()
            .any(|printed| agree(&wanted, &trimmed(printed.lines().collect())));
        assert!(wanted.is_empty() || agrees, "{}: {command} prints\n{out}{err}", shown.place);
    }
    n_run
}

/// Without empty lines at the end.
fn trimmed(mut lines: Vec<&str>) -> Vec<&str> {
    while lines.last().is_some_and(|line| line.trim().is_empty()) {
        lines.pop();
    }
    lines
}

#[cfg(unix)]
#[test]
fn every_command_of_the_documents_runs_and_prints_what_they_show() {
    let documents = documents();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let problems = std::sync::Mutex::new(Vec::new());
    let n_run: usize = std::thread::scope(|scope| {
        let work = || {
            let mut n_run = 0;
            while let Some(document) = documents.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
                match std::panic::catch_unwind(|| run_document(document)) {
                    Ok(n) => n_run += n,
                    Err(said) => {
                        let said = said.downcast_ref::<String>().cloned().unwrap_or_default();
                        problems.lock().expect("nobody panics here").push(said);
                    }
                }
            }
            n_run
        };
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().map(|thread| thread.join().expect("problems are collected")).sum()
    });
    let problems = problems.into_inner().expect("nobody panics here");
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
    assert!(n_run >= 60, "only {n_run} commands were found");
}

/// Every attacker of the threat model has a test that tries, by its name.
#[test]
fn every_attacker_of_the_threat_model_has_a_test_that_is_there() {
    let text = std::fs::read_to_string(root().join("docs/threat-model.md")).expect("a document");
    let (attackers, tests) = text.split_once("\n## The tests that try\n").expect("a section of tests");
    let named = |text: &str| -> Vec<String> {
        let rows = text.lines().filter_map(|line| line.strip_prefix("| **")?.split_once("**"));
        rows.map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(named(attackers), named(tests), "attackers, and those who have tests");
    for row in tests.lines().filter(|line| line.starts_with("| **")) {
        let cell = row.rsplit_once("** | ").expect("two cells").1;
        let cited: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!cited.is_empty(), "no test: {row}");
        for cited in cited {
            let (file, test) = cited.split_once(": ").unwrap_or((cited, ""));
            let source = std::fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            let is_there = test.is_empty() || source.contains(&format!("fn {test}("));
            assert!(is_there, "{file} has no test {test}");
            assert!(!test.is_empty() || file.ends_with(".py") || cell.contains(" ("), "which test of {file}?");
        }
    }
    assert!(named(attackers).len() > 12, "only {:?}", named(attackers));
}

#[test]
fn the_architecture_names_what_is_there_and_every_test() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("a document");
    let folders = ["engine/", "workbench/", "python/", "web/", "checks/", "bench/", "docs/", "examples/"];
    let named: Vec<&str> =
        text.split('`').filter(|name| folders.iter().any(|folder| name.starts_with(folder))).collect();
    let is_path = |name: &&&str| !name.contains([' ', '…', '*']);
    let absent: Vec<&&str> = named.iter().filter(is_path).filter(|name| !root().join(name).exists()).collect();
    assert!(absent.is_empty() && named.len() > 40, "ARCHITECTURE names what is not there: {absent:?}");
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    for folder in ["engine/tests", "workbench/tests"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a readable folder") {
            let path = entry.expect("a readable folder").path();
            let name = path.file_stem().expect("a name").to_str().expect("a text").to_owned();
            let is_test = path.extension().is_some_and(|ending| ending == "rs") && name != "all";
            assert!(!is_test || words.contains(&name.as_str()), "ARCHITECTURE does not name {}", path.display());
        }
    }
}

#[test]
fn every_flag_stands_in_a_document() {
    let told: String = documents().iter().map(|path| std::fs::read_to_string(path).expect("readable")).collect();
    let mut absent = Vec::new();
    let mut open = vec![Cli::command()];
    while let Some(command) = open.pop() {
        open.extend(command.get_subcommands().cloned());
        for flag in command.get_arguments().filter_map(|argument| argument.get_long()) {
            let flag = format!("--{flag}");
            let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
            if !told.split(&flag).skip(1).any(is_whole) {
                absent.push(format!("{flag} of {}", command.get_name()));
            }
        }
    }
    assert!(absent.is_empty(), "flags that no document has: {}", absent.join(", "));
}

#[test]
fn every_package_has_its_licences() {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let text = std::fs::read_to_string(root().join(name)).expect("a licence");
        for package in ["engine", "workbench", "python"] {
            let copy = std::fs::read_to_string(root().join(package).join(name));
            assert_eq!(copy.ok().as_ref(), Some(&text), "{package}/{name} is not the repository's");
        }
    }
}

#[test]
fn every_document_says_the_same_version() {
    let version = env!("CARGO_PKG_VERSION");
    let read = |name: &str| std::fs::read_to_string(root().join(name)).expect("readable");
    assert!(read("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    let changes = read("CHANGELOG.md");
    let first = changes.lines().find_map(|line| line.strip_prefix("## ")).expect("a version");
    assert!(first.starts_with(version), "the changelog begins with {first}");
}

/// What is not run is said to be so by the kind of its block, and there is little of it.
#[test]
fn every_block_has_a_kind_and_a_prompt_stands_in_those_that_are_run_alone() {
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a readable document");
        let mut kind: Option<&str> = None;
        for (n, line) in text.lines().enumerate() {
            if let Some(said) = line.trim_start().strip_prefix("```") {
                kind = if kind.is_some() { None } else { Some(said) };
                assert!(kind != Some(""), "{}:{}: a block of no kind", document.display(), n + 1);
            } else if line.starts_with("$ ") {
                let is_run = matches!(kind, Some("console" | "text"));
                assert!(is_run, "{}:{}: a prompt in a block of kind {kind:?}", document.display(), n + 1);
            }
        }
    }
}

/// The blocks of a document: the kind of each, and the lines with their numbers.
fn blocks(text: &str) -> Vec<(&str, Vec<(usize, &str)>)> {
    let mut found = Vec::new();
    let mut open = None;
    for (n, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(kind), None) => open = Some((kind, Vec::new())),
            (Some(_), Some(_)) => found.extend(open.take()),
            (None, Some((_, lines))) => lines.push((n + 1, line)),
            (None, None) => {}
        }
    }
    found
}

/// The words of a command as a shell takes them, up to what ends a command.
fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (';' | '|' | '>' | '<' | '#' | ')', None) => break,
            (' ', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Of a line, what begins with the program's name, as a command does.
fn command_in(line: &str) -> Option<&str> {
    let starts = ["", "$ ", "target/release/"];
    let line = line.trim_start();
    let behind_a_pipe = line.split_once("| incrowd ").map(|(before, _)| &line[before.len() + 2..]);
    behind_a_pipe.or_else(|| {
        starts.iter().find_map(|start| line.strip_prefix(start).filter(|rest| rest.starts_with("incrowd ")))
    })
}

/// What is shown and cannot be run here (a database, a cluster, hours of work), and what stands between back quotes, is
/// at least what the program takes.
#[test]
fn every_command_that_is_shown_would_be_taken() {
    let mut refused = Vec::new();
    let mut n_shown = 0;
    for document in documents().into_iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = std::fs::read_to_string(&document).expect("a readable document");
        let in_prose = prose(&text).into_iter().flat_map(|line| line.split('`').skip(1).step_by(2));
        let mut shown: Vec<(String, bool)> = in_prose.map(|code| (code.to_owned(), false)).collect();
        for (_, lines) in blocks(&text).iter().filter(|(kind, _)| matches!(*kind, "sh" | "console" | "text")) {
            let joined = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n").replace("\\\n", "");
            shown.extend(joined.lines().map(|line| (line.to_owned(), true)));
        }
        for (line, is_whole) in shown {
            let Some(command) =
                command_in(&line).filter(|command| !command.contains(['…', '$']) && !command.contains("COMMAND"))
            else {
                continue;
            };
            n_shown += 1;
            match Cli::try_parse_from(words_of(command)).map_err(|error| error.kind()) {
                Ok(_) | Err(DisplayHelp | DisplayVersion) => {}
                // Prose names a command without all that it needs.
                Err(MissingRequiredArgument | MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand)
                    if !is_whole => {}
                Err(kind) => refused.push(format!("{}: {command}: {kind:?}", document.display())),
            }
        }
    }
    assert!(refused.is_empty(), "commands that incrowd would not take:\n{}", refused.join("\n"));
    assert!(n_shown > 200, "only {n_shown} commands were found");
}

/// Reads what a document shows of a project file, with a table where it names none.
fn read_settings(shown: &str, place: &str) {
    // What excludes one another stands side by side in the list of all keys.
    let excluded = ["database = ", "table = ", "driver = ", "records = "];
    let is_list = shown.lines().any(|line| line.starts_with("path = ")) && shown.contains("\ndatabase = ");
    let kept = shown
        .lines()
        .map(str::trim_start)
        .filter(|line| !(is_list && excluded.iter().any(|key| line.starts_with(key))));
    let mut text = kept.collect::<Vec<_>>().join("\n") + "\n";
    if !text.contains("path = ") && !text.contains("database = ") {
        text = match text.contains("[data]\n") {
            true => text.replace("[data]\n", "[data]\npath = \"data.csv\"\n"),
            false => format!("{text}[data]\npath = \"data.csv\"\n"),
        };
    }
    let folder = Folder::with(&[("incrowd.toml", &text)]);
    // The files that it names are not here.
    if let Err(error) = Project::open(folder.path())
        && !error.to_string().contains("there is no such file")
    {
        panic!("{place}: {error}\n{text}");
    }
}

/// A project file that a document shows is one that the program reads.
#[test]
fn every_project_file_that_is_shown_would_be_read() {
    let mut n_shown = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a readable document");
        for (_, lines) in blocks(&text).iter().filter(|(kind, _)| *kind == "toml") {
            let shown = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
            let place = format!("{}:{}", document.display(), lines[0].0);
            read_settings(&shown, &place);
            n_shown += 1;
        }
    }
    assert!(n_shown > 10, "only {n_shown} project files were found");
}

/// What `curl` sends in the documents, a server answers.
#[test]
fn every_question_of_the_documents_is_answered() {
    let mut data = String::from("age,rb090,hsize,rb050,db030\n");
    (0..400).for_each(|i| data.push_str(&format!("{},{},{},250.5,{}\n", 20 + i * 7 % 60, i % 2, 1 + i % 4, i / 2)));
    let project = "[data]\npath = \"survey.csv\"\nweight_of = \"rb050\"\n\
                   [attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [5, 10, 20] }\n\
                   [attributes.rb090]\nrole = \"quasi-identifier\"\n";
    let folder = Folder::with(&[("survey.csv", &data), ("incrowd.toml", project)]);
    let server = Server::start(&folder, &[]);
    let id = server.project();
    let mut n_asked = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).expect("a readable document");
        for (_, lines) in blocks(&text).iter().filter(|(kind, _)| *kind == "sh") {
            let joined = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n").replace("\\\n", " ");
            for line in joined.lines().filter(|line| line.starts_with("curl ")) {
                let place = format!("{}: {line}", document.display());
                let path = line.split_once("/api/v1").expect(&place).1.split(' ').next().expect(&place);
                let Some(body) = line.split_once("-d '") else {
                    server.get(path).is(200);
                    continue;
                };
                let body = body.1.split_once('\'').expect(&place).0.replace('…', &id);
                let body: serde_json::Value =
                    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{place}: {error}"));
                match path.starts_with("/orders/") {
                    true => assert_eq!(server.work(path, &body)["state"], "done", "{place}"),
                    false => drop(server.answer(path, &body).is(200)),
                }
                n_asked += 1;
            }
        }
    }
    assert!(n_asked >= 3, "only {n_asked} questions were found");
}

/// Somebody without a Python runs what can be run, and is told what was left out; where nothing may be, that is an error.
#[cfg(unix)]
#[test]
fn what_cannot_be_installed_is_skipped_with_a_sentence() {
    let folder = Folder::new();
    let files = ["Makefile", "checks/skipped.sh", "checks/requirements.txt", "web/tests/requirements.txt"];
    for name in files {
        folder.write(name, std::fs::read(root().join(name)).expect("readable"));
    }
    let make = |target: &str, settings: &str| {
        let line = format!("make {target} CARGO=true PROGRAM=/bin/sh PYTHON=there-is-no-python {settings}");
        in_shell(&format!("unset NOTHING_SKIPPED MAKEFLAGS; {line}"), folder.path())
    };
    for (target, tests) in
        [("test-contract", "the tests of the HTTP API"), ("test-pycanon", "the comparison with pycanon")]
    {
        let skipped = make(target, "");
        let said = String::from_utf8_lossy(&skipped.stdout).into_owned();
        assert!(skipped.status.success(), "{target}: {said}");
        assert!(said.contains(&format!("SKIPPED: {tests}. Needed, and not to be had here: Python 3.10")), "{said}");
        assert!(!make(target, "NOTHING_SKIPPED=1").status.success(), "{target}");
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a writable folder");
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::copy(&path, &target).expect("a readable file");
        }
    }
}

#[test]
fn whatever_is_told_to_be_made_can_be_made() {
    let makefile = std::fs::read_to_string(root().join("Makefile")).expect("a Makefile");
    let is_target =
        |name: &str| makefile.lines().any(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':')));
    let mut places: Vec<PathBuf> = documents();
    places.extend([".github/workflows/ci.yml", ".ci/run"].map(|name| root().join(name)));
    let mut n_told = 0;
    for place in places {
        let text = std::fs::read_to_string(&place).expect("readable");
        let is_document = place.extension().is_some_and(|ending| ending == "md");
        // Commands begin a line of a block, stand between back quotes or behind `run:`.
        let prose = if is_document { prose(&text) } else { Vec::new() };
        let lines = text.lines().filter(|line| !prose.contains(line));
        let lines = lines.filter_map(|line| line.trim_start().trim_start_matches("run: ").strip_prefix("make "));
        let told: Vec<&str> = text.split("`make ").skip(1).chain(lines).collect();
        assert!(is_document || !told.is_empty(), "{} names no target", place.display());
        for rest in told {
            let name = rest.split(|c: char| !c.is_ascii_lowercase() && c != '-').next().expect("a first part");
            assert!(is_target(name), "{} says make {name}, which the Makefile does not know", place.display());
            n_told += 1;
        }
    }
    assert!(n_told > 30, "only {n_told} targets were found");
}
