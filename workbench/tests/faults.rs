//! Faults where the program meets the world: full disks, kills, closed pipes, files that may not be touched.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support;
use support::{Folder, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10, 20] }
[attributes.postcode]
role = "quasi-identifier"
hierarchy = { mask = 4 }
[attributes.disease]
role = "sensitive"
[request]
k = 5
max_suppressed = "5%"
"#;

/// A project with this many made-up records.
fn table(n_records: usize) -> Folder {
    let mut random = Random(7);
    let mut data = String::from("age,postcode,disease\n");
    for _ in 0..n_records {
        let disease = ["flu", "cold", "gout"][random.below(3)];
        data.push_str(&format!("{},{},{disease}\n", 20 + random.below(70), 1000 + random.below(200)));
    }
    Folder::with(&[("table.csv", &data), ("incrowd.toml", PROJECT)])
}

const BESIDE: [&str; 3] = ["", ".certificate.json", ".report.html"];

/// A folder's files without those of a release.
fn without_release(folder: &Folder, release: &str) -> BTreeMap<String, Vec<u8>> {
    let mut files = folder.content();
    files.retain(|name, _| BESIDE.iter().all(|ending| *name != format!("{release}{ending}")));
    files
}

/// All of a release is there and in order, or nothing of it; and nothing else has appeared.
#[track_caller]
fn check_whole_or_nothing(folder: &Folder, before: &BTreeMap<String, Vec<u8>>, release: &str) -> bool {
    let n_there = BESIDE.iter().filter(|ending| folder.has(&format!("{release}{ending}"))).count();
    assert!(without_release(folder, release) == *before, "something else is there: {:?}", folder.names());
    match n_there {
        0 => false,
        3 => {
            folder.run(&["verify", release]).ends(0);
            true
        }
        _ => panic!("a part of a release is there: {:?}", folder.names()),
    }
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    for release in ["release.csv", "release.parquet"] {
        let folder = table(400);
        let before = folder.content();
        let mut n_failed = 0;
        // Files may grow to ever more blocks, until all that belongs to a release fits.
        for n_blocks in (0..).map(|i| i * 7) {
            let line = format!("trap '' XFSZ; ulimit -f {n_blocks}; exec \"$incrowd\" publish --output {release}");
            let ran = folder.shell(&line);
            match check_whole_or_nothing(&folder, &before, release) {
                true => {
                    ran.ends(0);
                    break;
                }
                false => {
                    let ran = ran.ends(2);
                    assert!(ran.stderr.contains(&format!("error: {release}")), "{ran}");
                    assert!(!ran.stdout.contains("Published"), "{ran}");
                }
            }
            n_failed += 1;
        }
        assert!(n_failed >= 3, "the limit is what made it fail");
    }
}

#[test]
fn a_full_disk_leaves_the_release_that_is_there() {
    let folder = table(400);
    folder.run(&["publish"]).ends(0);
    let before = folder.content();
    for n_blocks in [0, 2, 8, 20] {
        let line = format!("trap '' XFSZ; ulimit -f {n_blocks}; exec \"$incrowd\" publish --k 9 --force");
        folder.shell(&line).ends(2);
        assert!(folder.content() == before, "{:?}", folder.names());
    }
}

#[test]
fn a_full_disk_under_stdout_is_an_error() {
    let folder = table(50);
    for command in ["count", "annotate --json", "negotiate", "hierarchy export age"] {
        let ran = folder.shell(&format!("\"$incrowd\" {command} > /dev/full"));
        assert!(ran.code != Some(0) && ran.code != Some(101), "{ran}");
    }
}

#[test]
fn a_killed_publish_leaves_nothing_behind() {
    let folder = table(20_000);
    let before = folder.content();
    let started = Instant::now();
    folder.run(&["publish"]).ends(0);
    // Of the quickest that ended by itself: a busy machine makes the first one slow, and then nobody would be killed.
    let mut duration = started.elapsed();
    let mut random = Random(11);
    let (mut n_killed, mut n_rounds) = (0, 0);
    while n_rounds < 12 || n_killed < 4 && n_rounds < 60 {
        let i = n_rounds % 12;
        n_rounds += 1;
        remove_release(&folder);
        let started = Instant::now();
        let mut child =
            folder.command(&["publish"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        // Early and late, and somewhere between.
        let share = (f64::from(i) + random.below(1_000) as f64 / 1_000.0) / 12.0;
        std::thread::sleep(duration.mul_f64(share * 1.1));
        child.kill().expect("it can be killed");
        let status = child.wait().expect("it ends");
        if status.success() {
            duration = duration.min(started.elapsed());
        } else if !folder.has("release.csv.certificate.json") {
            // Names are given one after the other, the certificate's last: the moments between are looked at below.
            remove_release(&folder);
        }
        let is_there = check_whole_or_nothing(&folder, &before, "release.csv");
        assert!(is_there || !status.success(), "it ended well and nothing is there");
        n_killed += usize::from(!status.success());
    }
    assert!(n_killed >= 4, "only {n_killed} were killed in time");
}

/// Where a certificate is, its release is; and of a release without one, `verify` says that, and publishing can be
/// repeated.
#[track_caller]
fn check_nothing_is_claimed_of_another(folder: &Folder) {
    let has = |ending: &str| folder.has(&format!("release.csv{ending}"));
    if has(".certificate.json") {
        assert!(has(".report.html"), "{:?}", folder.names());
        folder.run(&["verify", "release.csv"]).ends(0);
        return;
    }
    if !has("") {
        assert!(!has(".report.html"), "{:?}", folder.names());
        return;
    }
    let ran = folder.run(&["verify", "release.csv"]).ends(2);
    assert!(ran.stderr.contains("release.csv: there is no certificate beside it"), "{ran}");
    assert!(ran.stderr.contains("publish it again with --force"), "{ran}");
    let ran = folder.run(&["publish"]).ends(2);
    assert!(ran.stderr.contains("is there already, without a certificate"), "{ran}");
    folder.run(&["publish", "--force"]).ends(0);
    folder.run(&["verify", "release.csv"]).ends(0);
}

/// A publish that is about to give names, and cannot before this folder is let go of.
#[cfg(target_os = "linux")]
fn publish_waiting(folder: &Folder, args: &[&str]) -> (std::process::Child, std::fs::File) {
    let opened = std::fs::File::open(folder.path()).expect("a folder");
    rustix::fs::flock(&opened, rustix::fs::FlockOperation::LockExclusive).expect("locks");
    let mut child = folder.command(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let open_files = format!("/proc/{}/fd", child.id());
    let has_opened_folder = || {
        let links = std::fs::read_dir(&open_files).into_iter().flatten().flatten();
        links.filter_map(|link| std::fs::read_link(link.path()).ok()).any(|file| file == folder.path())
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while !has_opened_folder() {
        assert!(child.try_wait().expect("it is ours").is_none(), "it did not wait for the folder");
        assert!(Instant::now() < deadline, "it did not come to giving names");
        std::thread::sleep(Duration::from_millis(1));
    }
    (child, opened)
}

#[cfg(target_os = "linux")]
#[test]
fn signals_wait_until_all_names_are_given() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = table(400);
    for (signal, status) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        remove_release(&folder);
        for args in [&["publish"][..], &["publish", "--k", "9", "--force"]] {
            let before = folder.content();
            let (mut child, waiting) = publish_waiting(&folder, args);
            let pid = Pid::from_child(&child);
            kill_process(pid, signal).expect("it is there");
            std::thread::sleep(Duration::from_millis(30));
            assert!(child.try_wait().expect("it is ours").is_none(), "{signal:?} did not wait");
            assert!(folder.content() == before, "{:?}", folder.names());
            drop(waiting);
            assert_eq!(child.wait().expect("it ends").code(), Some(status), "{args:?}");
            assert!(folder.content() != before, "{args:?}");
            folder.run(&["verify", "release.csv"]).ends(0);
            assert_eq!(folder.names().len(), 5, "{:?}", folder.names());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_was_told_to_be_ignored_stays_ignored() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = table(50);
    let line = "trap '' HUP; exec \"$incrowd\" publish";
    let opened = std::fs::File::open(folder.path()).expect("a folder");
    rustix::fs::flock(&opened, rustix::fs::FlockOperation::LockExclusive).expect("locks");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", line]).current_dir(folder.path()).env("incrowd", env!("CARGO_BIN_EXE_incrowd"));
    let mut child = shell.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a shell");
    std::thread::sleep(Duration::from_secs(1));
    kill_process(Pid::from_child(&child), Signal::HUP).expect("it is there");
    drop(opened);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    folder.run(&["verify", "release.csv"]).ends(0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_publish_killed_while_it_gives_names_leaves_no_certificate_of_another_release() {
    let folder = table(400);
    let mut random = Random(5);
    let mut n_between = 0;
    for round in 0..40 {
        let args = match round % 2 {
            0 => {
                remove_release(&folder);
                &["publish"][..]
            }
            // Over another release each time.
            _ => &["publish", "--k", if round % 4 == 1 { "9" } else { "5" }, "--force"],
        };
        let before = folder.content();
        let (mut child, waiting) = publish_waiting(&folder, args);
        drop(waiting);
        // It looks again every 5 ms, and then takes less.
        std::thread::sleep(Duration::from_micros(random.below(8_000) as u64));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        n_between += usize::from(folder.content() != before && !folder.has("release.csv.certificate.json"));
        check_nothing_is_claimed_of_another(&folder);
        let others = without_release(&folder, "release.csv");
        let is_passing = |name: &&String| name.as_str() == ".release.csv.incrowd-partial";
        assert_eq!(others.keys().filter(|name| !is_passing(name)).count(), 2, "{:?}", folder.names());
    }
    println!("{n_between} of 40 were killed between two names");
}

fn remove_release(folder: &Folder) {
    for ending in BESIDE {
        let _ = std::fs::remove_file(folder.join(&format!("release.csv{ending}")));
    }
}

/// Runs a command whose stdout or stderr nobody reads any more.
#[track_caller]
fn check_closed_pipe(folder: &Folder, command: &str) {
    // The pipe's reader is gone before anything is written.
    let ran = folder.shell(&format!("{{ sleep 0.1; {command}; echo $? > code; }} | true")).ends(0);
    let code = folder.read("code");
    std::fs::remove_file(folder.join("code")).expect("it is there");
    assert_ne!(code.trim(), "101", "{command} panicked\n{ran}");
    assert!(!ran.stderr.contains("panicked") && !ran.stderr.contains("roken pipe"), "{ran}");
}

#[test]
fn a_closed_pipe_ends_commands_quietly() {
    let folder = table(200);
    for command in [
        "count",
        "count --json",
        "annotate --k 2 --per-scheme --csv",
        "negotiate --explain",
        "hierarchy show postcode",
        "hierarchy export postcode",
        "profile",
        "publish --output other.csv --force",
        "verify table.csv --quasi-identifiers age --k 2",
        "--help",
    ] {
        check_closed_pipe(&folder, &format!("\"$incrowd\" {command}"));
    }
    let ran = folder.shell("\"$incrowd\" annotate --k 2 --per-scheme --csv | head -1").ends(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("age,postcode,height,groups,smallest,suppressed\n", ""));
}

#[test]
fn a_closed_pipe_ends_completions_quietly() {
    check_closed_pipe(&Folder::new(), "\"$incrowd\" completions bash");
}

#[test]
fn a_closed_pipe_under_stderr_is_no_reason_to_crash() {
    let folder = table(200);
    check_closed_pipe(&folder, "\"$incrowd\" annotate 2>&1 >/dev/null");
    check_closed_pipe(&folder, "\"$incrowd\" count elsewhere 2>&1 >/dev/null");
}

#[test]
fn a_closed_pipe_does_not_undo_a_release() {
    let folder = table(200);
    check_closed_pipe(&folder, "\"$incrowd\" publish");
    folder.run(&["verify", "release.csv"]).ends(0);
}

/// Runs a command as someone whom permissions concern; none where that cannot be done.
fn run_unprivileged(folder: &Folder, args: &[&str]) -> Option<(Option<i32>, String)> {
    let mut command = folder.command(args);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    match command.output() {
        Ok(output) => Some((output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => {
            eprintln!("skipped: incrowd cannot be run without privileges here: {error}");
            None
        }
    }
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    std::fs::set_permissions(folder.join(name), std::fs::Permissions::from_mode(mode)).expect("it is ours");
}

#[test]
fn a_file_that_may_not_be_read_is_an_error() {
    for name in ["table.csv", "incrowd.toml"] {
        let folder = table(50);
        set_mode(&folder, ".", 0o777);
        set_mode(&folder, name, 0o000);
        let Some((code, stderr)) = run_unprivileged(&folder, &["publish"]) else { return };
        set_mode(&folder, name, 0o644);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(&format!("{name}: permission denied")), "{stderr}");
        assert_eq!(folder.names(), ["incrowd.toml", "table.csv"]);
    }
}

#[test]
fn a_folder_that_may_not_be_written_is_an_error() {
    let folder = table(50);
    set_mode(&folder, ".", 0o555);
    let ran =
        [&["publish"][..], &["init", "table.csv", "--force"], &["hierarchy", "export", "age", "--output", "age.csv"]]
            .map(|args| run_unprivileged(&folder, args));
    set_mode(&folder, ".", 0o755);
    for (code, stderr) in ran.into_iter().flatten() {
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains("permission denied"), "{stderr}");
    }
    assert_eq!(folder.names(), ["incrowd.toml", "table.csv"]);
}
