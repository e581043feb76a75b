//! A release, its report and its certificate get their names one after the other, and at no moment is a certificate
//! beside a release that it is not about.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use incrowd::{Error, ErrorKind, Result};

use crate::output::signals;
use crate::output::staged::{Staged, exists, fault_point, folder_of, sync_folder_of, write_whole};
use crate::sentences::hint;

/// What gets its names together; in the order in which it does.
pub struct Trio {
    pub release: Staged,
    pub report: Staged,
    pub certificate: Staged,
}

/// Gives all three their names, undisturbed by signals that can be held back.
///
/// # Guarantee
/// Whenever the program or the machine stops: where a certificate is, its release and its report are; where a report
/// is, its release is; and where a release was, one is. What can be left is a release without a certificate, of which
/// nothing is claimed.
pub fn give_names(trio: Trio, replace: bool) -> Result<()> {
    // The slow part first: between the first name and the last there is next to no time.
    [&trio.certificate, &trio.report, &trio.release].into_iter().try_for_each(Staged::sync)?;
    let name = trio.release.path().display().to_string();
    let (named, status) = signals::held(|| {
        let _at_work = at_rest();
        one_after_the_other(trio, replace)
    });
    match status {
        Some(status) => signals::end(&name, &named, status),
        None => named,
    }
}

/// Waits until no thread of this process gives names; as long as what is returned lives, none begins.
pub fn at_rest() -> MutexGuard<'static, ()> {
    static AT_WORK: Mutex<()> = Mutex::new(());
    AT_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error for a place where something of a release is already.
pub fn is_taken(release: &Path, certificate: &Path, path: &Path) -> Error {
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    match path == release && !is_there(certificate) {
        true => Error::new(ErrorKind::Io, "is there already, without a certificate")
            .at(path.display().to_string())
            .hint(hint("where its publishing was interrupted, or nobody needs it, replace it with {force}")),
        false => exists(path),
    }
}

/// Every step is durable before the next one, so that a power cut leaves what a kill does.
fn one_after_the_other(trio: Trio, replace: bool) -> Result<()> {
    let Trio { release, report, certificate } = trio;
    let paths = [&release, &report, &certificate].map(|staged| staged.path().to_path_buf());
    let [release_path, report_path, certificate_path] = &paths;
    let _lock = lock(folder_of(release_path), WAIT_MAX)?;
    let passing = passing_name(release_path);
    // Left by a kill; under the lock nobody else uses it.
    let _ = std::fs::remove_file(&passing);
    if !replace && let Some(path) = paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        return Err(is_taken(release_path, certificate_path, path));
    }
    let mut removed = Vec::new();
    let make_way = |removed: &mut Vec<Removed>| match replace {
        // What is claimed about the old release goes before it does.
        true => [certificate_path, report_path].into_iter().try_for_each(|path| remove(path, removed)),
        false => Ok(()),
    };
    if let Err(error) = make_way(&mut removed).and_then(|()| release.give_name_through(&passing, replace)) {
        put_back(removed);
        return Err(error);
    }
    let mut named = vec![release_path.clone()];
    let rest = sync_folder_of(release_path)
        .and_then(|()| name_durably(report, &mut named))
        // Last: it says that all else is there.
        .and_then(|()| name_durably(certificate, &mut named));
    rest.map_err(|error| {
        // Backwards, so that here too no certificate stands alone; what has taken another's place stays.
        named.iter().skip(usize::from(replace)).rev().for_each(|path| drop(std::fs::remove_file(path)));
        let _ = sync_folder_of(release_path);
        match replace {
            true => error.hint(hint(
                "the new release is in its place, without a certificate: put this right and publish again with {force}",
            )),
            false => error,
        }
    })
}

fn name_durably(staged: Staged, named: &mut Vec<PathBuf>) -> Result<()> {
    let path = staged.path().to_path_buf();
    staged.give_name(false)?;
    named.push(path.clone());
    sync_folder_of(&path)
}

/// Through which a release takes the place of another one.
fn passing_name(release: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(release.file_name().unwrap_or_default());
    name.push(".incrowd-partial");
    folder_of(release).join(name)
}

/// A file that made way, and its content; none where it could not be read.
type Removed = (PathBuf, Option<Vec<u8>>);

fn remove(path: &Path, removed: &mut Vec<Removed>) -> Result<()> {
    let content = std::fs::read(path).ok();
    match fault_point().and_then(|()| std::fs::remove_file(path)) {
        Ok(()) => removed.push((path.to_path_buf(), content)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(crate::io_error(path, error)),
    }
    sync_folder_of(path)
}

/// The old release stays: what is claimed about it comes back, the certificate last.
fn put_back(removed: Vec<Removed>) {
    for (path, content) in removed.into_iter().rev() {
        // Without one there cannot be the next; what went wrong before is what is told.
        let Some(content) = content else { return };
        if write_whole(&path, &content, false).is_err() {
            return;
        }
    }
}

/// As long as others give names in a folder, which takes them moments.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Keeps others from giving names in this folder; nothing where the file system knows no locks.
#[cfg(unix)]
fn lock(folder: &Path, wait_max: Duration) -> Result<Option<File>> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;
    let Ok(opened) = File::open(folder) else { return Ok(None) };
    let try_lock = || match flock(&opened, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Tried::Locked,
        Err(Errno::WOULDBLOCK | Errno::INTR) => Tried::Held,
        Err(_) => Tried::NoLocks,
    };
    Ok(locked_in_time(folder, wait_max, try_lock)?.then_some(opened))
}

/// A folder cannot be locked itself: a file in it is, that nobody else can open and that is gone when it is closed, even
/// by a kill.
#[cfg(windows)]
fn lock(folder: &Path, wait_max: Duration) -> Result<Option<File>> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const ERROR_SHARING_VIOLATION: i32 = 32;
    let mut options = File::options();
    options.write(true).create(true).share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
    let mut opened = None;
    let try_lock = || match options.open(folder.join(".incrowd-names.lock")) {
        Ok(file) => {
            opened = Some(file);
            Tried::Locked
        }
        Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => Tried::Held,
        Err(_) => Tried::NoLocks,
    };
    locked_in_time(folder, wait_max, try_lock)?;
    Ok(opened)
}

#[cfg(not(any(unix, windows)))]
fn lock(folder: &Path, wait_max: Duration) -> Result<Option<File>> {
    locked_in_time(folder, wait_max, || Tried::NoLocks).map(|_| None)
}

/// What came of trying to lock a folder.
#[cfg_attr(not(any(unix, windows)), allow(dead_code))]
enum Tried {
    Locked,
    Held,
    NoLocks,
}

/// Tries until the folder is locked, or somebody else has held it for too long; false where there are no locks.
fn locked_in_time(folder: &Path, wait_max: Duration, mut try_lock: impl FnMut() -> Tried) -> Result<bool> {
    let start = Instant::now();
    loop {
        match try_lock() {
            Tried::Locked => return Ok(true),
            Tried::NoLocks => return Ok(false),
            Tried::Held if start.elapsed() > wait_max => {
                return Err(Error::new(ErrorKind::Io, "another program holds this folder locked")
                    .at(folder.display().to_string())
                    .hint("nothing was written; try again when it has ended"));
            }
            Tried::Held => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::{Cell, RefCell};
    use std::io::Write;
    use std::rc::Rc;

    use super::*;
    use crate::output::staged::tests::with_faults;

    const NAMES: [&str; 3] = ["release.csv", "release.csv.report.html", "release.csv.certificate.json"];

    /// What is in a folder: of the release, the report and the certificate, whose they are.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct State {
        whose: [Option<String>; 3],
        others: Vec<String>,
    }

    fn state(folder: &Path) -> State {
        let whose = NAMES.map(|name| std::fs::read_to_string(folder.join(name)).ok());
        let entries = std::fs::read_dir(folder).expect("a folder");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        State { whose, others: names.filter(|name| !NAMES.contains(&name.as_str())).collect() }
    }

    impl State {
        /// The guarantee of `give_names`.
        #[track_caller]
        fn check(&self, was_there: bool) {
            let [release, report, certificate] = &self.whose;
            assert!(certificate.is_none() || certificate == release && certificate == report, "{self:?}");
            assert!(report.is_none() || report == release, "{self:?}");
            assert!(!was_there || release.is_some(), "{self:?}");
        }

        fn is_all(&self, whose: &str) -> bool {
            self.whose.iter().all(|of| of.as_deref() == Some(whose)) && self.others.is_empty()
        }
    }

    fn trio(folder: &Path, whose: &str) -> Trio {
        let [release, report, certificate] = NAMES.map(|name| {
            let staged = Staged::create(&folder.join(name)).expect("staged");
            staged.file().write_all(whose.as_bytes()).expect("written");
            staged
        });
        Trio { release, report, certificate }
    }

    /// What is there before: nothing, a whole release, or what a kill or an older version may have left of one.
    const BEFORE: [[bool; 3]; 8] = [
        [false, false, false],
        [true, true, true],
        [true, false, false],
        [true, true, false],
        [true, false, true],
        [false, false, true],
        [false, true, true],
        [false, true, false],
    ];

    fn folder_with(before: [bool; 3]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        let there = NAMES.iter().zip(before).filter(|(_, is_there)| *is_there);
        there.for_each(|(name, _)| std::fs::write(folder.path().join(name), "old").expect("written"));
        folder
    }

    /// Whether nothing is there that breaks the guarantee before anything is done.
    fn is_sound([release, report, certificate]: [bool; 3]) -> bool {
        (!certificate || report) && (!report || release)
    }

    #[test]
    fn between_any_two_steps_no_certificate_is_beside_another_release() {
        for before in BEFORE {
            let folder = folder_with(before);
            let path = folder.path().to_path_buf();
            let seen = Rc::new(RefCell::new(Vec::new()));
            let look = {
                let seen = seen.clone();
                move || {
                    seen.borrow_mut().push(state(&path));
                    Ok(())
                }
            };
            let replace = before.contains(&true);
            with_faults(look, || give_names(trio(folder.path(), "new"), replace)).expect("named");
            let seen = seen.take();
            // Each name and each of what makes way, with the folder made durable after each.
            let n_removed = usize::from(before[1]) + usize::from(before[2]);
            assert!(seen.len() >= 6 + 2 * n_removed, "{seen:?}");
            seen.iter().filter(|_| is_sound(before)).for_each(|state| state.check(before[0]));
            // What was unsound before is put right before the new release is there, and stays so.
            let is_new = |state: &&State| state.whose[0].as_deref() == Some("new");
            seen.iter().filter(is_new).for_each(|state| state.check(true));
            assert!(state(folder.path()).is_all("new"), "{:?}", state(folder.path()));
        }
    }

    #[test]
    fn what_fails_at_any_step_leaves_what_was_there_or_claims_nothing() {
        for before in BEFORE.into_iter().filter(|before| is_sound(*before)) {
            for nth in 0.. {
                let folder = folder_with(before);
                let was = state(folder.path());
                let n_left = Cell::new(nth);
                let fail = move || match n_left.replace(n_left.get() - 1) {
                    0 => Err(std::io::Error::other("a fault")),
                    _ => Ok(()),
                };
                let replace = before[0];
                let named = with_faults(fail, || give_names(trio(folder.path(), "new"), replace));
                let is = state(folder.path());
                let Err(error) = named else {
                    assert!(is.is_all("new") && nth >= 6, "{is:?} after {nth}");
                    break;
                };
                is.check(before[0]);
                assert!(is.others.is_empty(), "{is:?} after {nth}");
                let only_release_is_new = is.whose == [Some("new".to_string()), None, None];
                match is == was {
                    true => {}
                    false => {
                        assert!(replace && only_release_is_new, "{is:?} after {nth} of {before:?}");
                        assert!(
                            error.hint_given().is_some_and(|hint| hint.to_string().contains("without a certificate")),
                            "{error}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn nothing_is_replaced_that_has_come_meanwhile() {
        for before in BEFORE.into_iter().filter(|before| before.contains(&true)) {
            let folder = folder_with(before);
            let was = state(folder.path());
            let error = give_names(trio(folder.path(), "new"), false).expect_err("something is there");
            assert!(error.message().to_string().starts_with("is there already"), "{error}");
            assert_eq!(
                error.message().to_string().contains("without a certificate"),
                before[0] && !before[2],
                "{error}"
            );
            assert_eq!(state(folder.path()), was);
        }
    }

    #[test]
    fn what_a_kill_left_on_the_way_is_cleared() {
        let folder = folder_with([true, false, false]);
        std::fs::write(passing_name(&folder.path().join(NAMES[0])), "left").expect("written");
        give_names(trio(folder.path(), "new"), true).expect("named");
        assert!(state(folder.path()).is_all("new"), "{:?}", state(folder.path()));
    }

    #[cfg(unix)]
    #[test]
    fn two_do_not_give_names_in_one_folder_at_once() {
        let folder = folder_with([false; 3]);
        let held = lock(folder.path(), Duration::ZERO).expect("free").expect("a file system with locks");
        let error = lock(folder.path(), Duration::from_millis(20)).expect_err("it is locked");
        assert!(error.message().to_string().contains("locked"), "{error}");
        drop(held);
        assert!(lock(folder.path(), Duration::ZERO).is_ok());
    }
}
