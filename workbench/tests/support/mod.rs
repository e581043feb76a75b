//! What these tests share: a folder to work in, and a way to run `incrowd` there.
#![allow(dead_code, reason = "every test file uses a part of this")]

pub mod sas;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use incrowd_workbench::input::count::{Choice, Counted, count};
use incrowd_workbench::input::project::Project;
use incrowd_workbench::work::Work;

/// A folder that is gone when the test is over.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with these files.
    pub fn with(files: &[(&str, &str)]) -> Folder {
        let folder = Folder::new();
        files.iter().for_each(|(name, content)| folder.write(name, content));
        folder
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.join(name);
        std::fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a writable folder");
        std::fs::write(path, content).expect("a writable folder");
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("a text")
    }

    #[track_caller]
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.join(name).exists()
    }

    /// Every file below the folder, hidden ones too, with its content.
    pub fn content(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(self.path(), self.path(), &mut files);
        files
    }

    /// The names of all files below the folder.
    pub fn names(&self) -> Vec<String> {
        self.content().into_keys().collect()
    }

    pub fn run(&self, args: &[&str]) -> Ran {
        let output = self.command(args).output().expect("incrowd starts");
        Ran::new(args, output, self.path())
    }

    /// `incrowd` in this folder, with nothing to read.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_incrowd"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// Runs a line of shell in this folder, in which `$incrowd` is the program.
    pub fn shell(&self, line: &str) -> Ran {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(self.path()).stdin(Stdio::null());
        let output = command.env("incrowd", env!("CARGO_BIN_EXE_incrowd")).output().expect("a shell");
        Ran::new(&["(sh)", line], output, self.path())
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable entry").path();
        match path.is_dir() {
            true => collect(root, &path, files),
            false => {
                let name = path.strip_prefix(root).expect("it is below the root").display().to_string();
                files.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
}

/// How a command ended and what it said.
pub struct Ran {
    pub command: String,
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    fn new(args: &[&str], output: Output, folder: &Path) -> Ran {
        // The folder's name is another one each time.
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).expect("incrowd speaks UTF-8");
            text.replace(&folder.display().to_string(), "FOLDER")
        };
        Ran {
            command: format!("incrowd {}", args.join(" ")),
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    /// Passes the result on if the command ended as expected.
    #[track_caller]
    pub fn ends(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("stdout is not one document: {error}\n{self}"))
    }
}

/// Everything that a snapshot holds.
impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self.code.map_or("by a signal".to_string(), |code| code.to_string());
        writeln!(f, "$ {}\nexit {code}", self.command)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                write!(f, "──── {name}\n{text}")?;
            }
        }
        Ok(())
    }
}

/// A small generator of random numbers (splitmix64), so that a failure can be repeated from its seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for i in (1..things.len()).rev() {
            things.swap(i, self.below(i + 1));
        }
    }
}

pub const QUASI_IDENTIFIERS: [&str; 8] =
    ["age", "workclass", "education", "marital-status", "occupation", "race", "sex", "native-country"];

/// The six quasi-identifiers of Adult that records are generalized one by one with.
pub const SIX_QUASI_IDENTIFIERS: [&str; 6] = ["age", "workclass", "race", "occupation", "education", "marital-status"];

/// A project of Adult; none where the data are not there.
pub fn adult_folder(quasi_identifiers: &[&str]) -> Option<Folder> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/adult");
    if !data.join("adult.csv").exists() {
        eprintln!("skipped: the Adult data are not at {}", data.display());
        return None;
    }
    let text = |path: &Path| toml::Value::from(path.display().to_string());
    // The papers leave out every record that lacks a value anywhere.
    let mut project = format!("[data]\npath = {}\nmissing = [\"?\"]\n", text(&data.join("adult.csv")));
    project.push_str("missing_records = \"drop\"\ncomplete = [\"workclass\", \"occupation\", \"native-country\"]\n");
    for name in quasi_identifiers {
        let folders = ["hierarchies", "arx-hierarchies"].map(|folder| data.join(folder).join(format!("{name}.csv")));
        let hierarchy = folders.iter().find(|path| path.exists()).expect("a hierarchy for every attribute");
        let hierarchy = text(hierarchy);
        project.push_str(&format!("[attributes.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {hierarchy}\n"));
    }
    project.push_str("[attributes.hours-per-week]\nrole = \"sensitive\"\n");
    Some(Folder::with(&[("incrowd.toml", &project)]))
}

/// A project of Adult with these quasi-identifiers, in this order; none where the data are not there.
pub fn adult_project(quasi_identifiers: &[&str]) -> Option<Project> {
    adult_folder(quasi_identifiers).map(|folder| Project::open(folder.path()).expect("a project"))
}

/// Adult, counted over these quasi-identifiers; none where the data are not there.
pub fn adult_of(quasi_identifiers: &[&str]) -> Option<Counted> {
    let project = adult_project(quasi_identifiers)?;
    Some(count(&project, &Choice::default(), &Work::default()).expect("the records can be counted"))
}

/// Adult, counted over eight quasi-identifiers.
pub fn adult() -> Option<Counted> {
    adult_of(&QUASI_IDENTIFIERS)
}
