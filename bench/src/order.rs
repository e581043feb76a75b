//! What a whole order costs, as somebody gives it: reading the table, all that is decided, writing and verifying.

use std::path::{Path, PathBuf};

use incrowd::Result;
use incrowd_workbench::input::project::Project;
use incrowd_workbench::orders::Rules;
use incrowd_workbench::orders::known::Known;
use incrowd_workbench::words::verbs::{self, Desk};
use incrowd_workbench::work::{Watch, Work};
use serde_json::{Value, json};

use crate::{Clock, peak_mb};

/// Runs a verb with a document, several times from the beginning; the least of what it took.
pub fn measure(project: &str, n_threads: usize, verb: &str, document: &str, n_times: usize) -> Result<Value> {
    let document: Value = serde_json::from_str(document).expect("a JSON document");
    let document = document.as_object().expect("an object");
    let mut times = Vec::new();
    let mut said = Value::Null;
    for _ in 0..n_times.max(1) {
        let project = Project::open(Path::new(project))?;
        let work = Work::new(Some(n_threads), None, Watch::default());
        let path = |path: &str, _| Ok(PathBuf::from(path));
        let (known, rules) = (Known::default(), Rules::default());
        let desk = Desk { project: &project, known: &known, rules: &rules, with_standing: true, path: &path };
        let clock = Clock::start();
        said = verbs::run(verb, document, &desk, &work)?;
        times.push(clock.stop());
    }
    let (cpu_s, wall_s) = times.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)).expect("it ran");
    Ok(json!({ "cpu_s": cpu_s, "wall_s": wall_s, "threads": n_threads, "peak_mb": peak_mb(), "said": said }))
}
