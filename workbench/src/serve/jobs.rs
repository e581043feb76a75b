//! Work that takes longer than an answer should: started, watched while it runs, and stopped when nobody wants it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::problem::Problem;
use super::safety::random_text;
use crate::commands::publish::Files;
use crate::talk::Watch;

/// Jobs that run at once; each uses all cores.
const N_RUNNING_MAX: usize = 2;

/// Jobs that wait for their turn.
const N_WAITING_MAX: usize = 8;

/// Jobs whose result is kept after they have ended.
const N_ENDED_MAX: usize = 64;

/// A piece of work, and what has become of it.
pub struct Job {
    pub id: String,
    pub kind: &'static str,
    /// What it makes, so that two requests for the same thing wait for the same job.
    key: String,
    watch: Arc<Watch>,
    state: watch::Sender<State>,
    /// What it has published.
    pub files: Mutex<Option<Files>>,
}

#[derive(Clone, Debug)]
pub enum State {
    Waiting,
    Running,
    Done(Value),
    Failed(Problem),
    Cancelled,
}

impl State {
    pub fn name(&self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done(_) => "done",
            State::Failed(_) => "failed",
            State::Cancelled => "cancelled",
        }
    }

    pub fn is_over(&self) -> bool {
        !matches!(self, State::Waiting | State::Running)
    }
}

impl Job {
    pub fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Tells when the state changes.
    pub fn changes(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub fn to_json(&self) -> Value {
        self.to_json_as(self.state())
    }

    /// The job as it was in a state that it may have left meanwhile.
    pub fn to_json_as(&self, state: State) -> Value {
        let progress = self
            .watch
            .progress()
            .filter(|_| !state.is_over())
            .map(|progress| json!({ "what": progress.what, "n_done": progress.n_done, "n_all": progress.n_all }));
        let mut document = json!({ "id": self.id, "kind": self.kind, "state": state.name(), "progress": progress });
        match state {
            State::Done(result) => document["result"] = result,
            State::Failed(problem) => document["problem"] = problem.to_json(),
            _ => {}
        }
        document
    }

    /// Asks the job to end; what it has not finished by then is as if it had never begun.
    pub fn cancel(&self) {
        self.watch.stop();
    }

    /// Ends the work if somebody has cancelled it.
    pub fn go_on(&self) -> Result<(), Problem> {
        match self.watch.is_stopped() {
            true => Err(Problem::new(StatusCode::CONFLICT, "request", "the job was cancelled")),
            false => Ok(()),
        }
    }
}

/// All jobs, the oldest first.
#[derive(Default)]
pub struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    n_running: Arc<(Mutex<usize>, Condvar)>,
}

impl Jobs {
    /// Starts some work on a thread of its own, unless the same work is under way.
    pub fn start(
        &self,
        kind: &'static str,
        key: String,
        work: impl FnOnce(&Job) -> Result<Value, Problem> + Send + 'static,
    ) -> Result<Arc<Job>, Problem> {
        let mut all = lock(&self.all);
        if let Some(job) = all.iter().find(|job| job.key == key && job.kind == kind && !job.state.borrow().is_over()) {
            return Ok(job.clone());
        }
        let n_open = all.iter().filter(|job| !job.state.borrow().is_over()).count();
        if n_open >= N_RUNNING_MAX + N_WAITING_MAX {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "request", "too many jobs are waiting")
                .hint("wait for one of them to end, or cancel it"));
        }
        let (state, _) = watch::channel(State::Waiting);
        let id = random_text()?;
        let job = Arc::new(Job { id, kind, key, watch: Arc::default(), state, files: Mutex::default() });
        let n_ended = all.len() - n_open;
        if n_ended >= N_ENDED_MAX
            && let Some(oldest) = all.iter().position(|job| job.state.borrow().is_over())
        {
            all.remove(oldest);
        }
        all.push(job.clone());
        let (running, worker) = (self.n_running.clone(), job.clone());
        std::thread::spawn(move || {
            let mut n_running = lock(&running.0);
            while *n_running >= N_RUNNING_MAX && !worker.watch.is_stopped() {
                // Woken now and then to see whether it was cancelled while it waited.
                let step = std::time::Duration::from_millis(100);
                n_running = running.1.wait_timeout(n_running, step).unwrap_or_else(PoisonError::into_inner).0;
            }
            *n_running += 1;
            drop(n_running);
            let end = run(&worker, work);
            *lock(&running.0) -= 1;
            running.1.notify_all();
            worker.state.send_replace(end);
        });
        Ok(job)
    }

    pub fn get(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let all = lock(&self.all);
        all.iter().find(|job| job.id == id).cloned().ok_or_else(|| Problem::not_found("job"))
    }
}

fn run(job: &Job, work: impl FnOnce(&Job) -> Result<Value, Problem>) -> State {
    if job.watch.is_stopped() {
        return State::Cancelled;
    }
    job.state.send_replace(State::Running);
    // A panic ends the job and nothing else.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| job.watch.over(|| work(job))));
    match done {
        Ok(Ok(result)) => State::Done(result),
        _ if job.watch.is_stopped() => State::Cancelled,
        Ok(Err(problem)) => State::Failed(problem),
        Err(_) => State::Failed(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "bug",
            "this should not have happened: please report it",
        )),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
