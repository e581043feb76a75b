//! Work that takes longer than an answer should: started, watched while it runs, and stopped when nobody wants it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use incrowd::wire;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::problem::Problem;
use super::safety::random_text;
use crate::note::Note;
use crate::orders::publish::Files;
use crate::work::{Watch, Work};

/// Jobs that run at once, of those that are over soon and of those that take long.
const N_QUICK_MAX: usize = 4;
const N_LONG_MAX: usize = 2;

/// Jobs that wait for their turn.
const N_WAITING_MAX: usize = 8;

/// Jobs whose result is kept after they have ended.
const N_ENDED_MAX: usize = 64;

/// Who followed a job and left has this long to come back.
const LEFT: Duration = Duration::from_secs(10);
/// Who has asked for a job without following it has this long to look again.
const UNASKED: Duration = Duration::from_secs(300);

/// A piece of work, and what has become of it.
pub struct Job {
    pub id: String,
    pub kind: &'static str,
    /// What it makes, so that two requests for the same thing wait for the same job.
    key: String,
    watch: Arc<Watch>,
    state: watch::Sender<State>,
    lanes: Arc<Lanes>,
    lane: Mutex<Option<Lane>>,
    started: Instant,
    interest: Mutex<Interest>,
    /// What it has published.
    pub files: Mutex<Option<Files>>,
}

/// Who waits for a job.
struct Interest {
    n_following: usize,
    /// Until when somebody may come who is not following.
    until: Instant,
}

/// Somebody who waits for a job, as long as this is there.
pub struct Following(Arc<Job>);

impl Drop for Following {
    fn drop(&mut self) {
        let mut interest = lock(&self.0.interest);
        interest.n_following -= 1;
        if interest.n_following == 0 {
            interest.until = Instant::now() + LEFT;
        }
    }
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

    /// The job as it was in a state that it may have left meanwhile.
    pub fn to_json_as(&self, state: State) -> Value {
        let progress = self.watch.progress().filter(|_| !state.is_over()).map(|progress| {
            let mut document = json!({ "what": progress.what, "n_done": progress.n_done, "n_all": progress.n_all });
            if let Some(detail) = self.watch.detail() {
                let best =
                    detail.best.map(|(quality, value)| json!({ "quality": quality, "value": wire::rounded(value) }));
                let at_least = wire::rounded(detail.loss_at_least);
                document["search"] =
                    json!({ "n_looked_at": detail.n_evaluated, "best": best, "loss_at_least": at_least });
            }
            document
        });
        let mut document = json!({ "id": self.id, "kind": self.kind, "state": state.name(), "progress": progress });
        match state {
            State::Done(result) => document["result"] = result,
            State::Failed(problem) => document["problem"] = problem.to_json(),
            _ => {}
        }
        document
    }

    /// What was worth knowing up to now.
    pub fn notes(&self) -> Vec<Note> {
        self.watch.notes()
    }

    /// Asks the job to end; what it has not finished by then is as if it had never begun.
    pub fn cancel(&self) {
        self.watch.cancel();
    }

    /// Asks a search to end with the best so far.
    pub fn enough(&self) {
        self.watch.enough();
    }

    /// Somebody has asked for it, or looked how far it is.
    pub fn asked(&self) {
        lock(&self.interest).until = Instant::now() + UNASKED;
    }

    /// Somebody waits for it, until what is returned is dropped.
    pub fn follow(self: &Arc<Job>) -> Following {
        lock(&self.interest).n_following += 1;
        Following(self.clone())
    }

    /// Cancels the job once nobody waits for it any more.
    fn end_when_forgotten(&self) {
        const STEP: Duration = Duration::from_millis(500);
        let is_forgotten = || {
            let interest = lock(&self.interest);
            interest.n_following == 0 && Instant::now() > interest.until
        };
        while !self.state.borrow().is_over() {
            if is_forgotten() {
                return self.cancel();
            }
            std::thread::sleep(STEP);
        }
    }

    /// How long ago it was asked for.
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// What the job works with: its own threads, and at most so much memory.
    pub fn work(&self, n_bytes_max: u64) -> Work {
        Work::new(None, Some(n_bytes_max), self.watch.clone())
    }

    /// Ends the work if somebody has cancelled it.
    pub fn go_on(&self) -> Result<(), Problem> {
        match self.watch.is_cancelled() {
            true => Err(Problem::new(StatusCode::CONFLICT, "request", "the job was cancelled")),
            false => Ok(()),
        }
    }
}

/// Every job begins as one that is over soon; one that takes long makes room for the next small question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Quick,
    Long,
}

/// How many places are taken: of quick jobs, of long ones.
#[derive(Default)]
struct Lanes {
    n_taken: Mutex<[usize; 2]>,
    freed: Condvar,
}

impl Lane {
    fn n_max(self) -> usize {
        match self {
            Lane::Quick => N_QUICK_MAX,
            Lane::Long => N_LONG_MAX,
        }
    }
}

impl Job {
    /// Says that what comes now takes long: waits for a place among such jobs, and lets small questions go first.
    pub fn takes_long(&self) -> Result<(), Problem> {
        if *lock(&self.lane) != Some(Lane::Long) {
            self.free();
            self.enter(Lane::Long);
            // The threads are this job's own.
            rayon::broadcast(|_| step_back());
        }
        self.go_on()
    }

    /// Waits for a place, or until nobody wants the job.
    fn enter(&self, lane: Lane) {
        let mut n_taken = lock(&self.lanes.n_taken);
        while n_taken[lane as usize] >= lane.n_max() && !self.watch.is_cancelled() {
            if !matches!(*self.state.borrow(), State::Waiting) {
                self.state.send_replace(State::Waiting);
            }
            // Woken now and then to see whether it was cancelled while it waited.
            let step = Duration::from_millis(100);
            n_taken = self.lanes.freed.wait_timeout(n_taken, step).unwrap_or_else(PoisonError::into_inner).0;
        }
        n_taken[lane as usize] += 1;
        drop(n_taken);
        *lock(&self.lane) = Some(lane);
        self.state.send_replace(State::Running);
    }

    fn free(&self) {
        if let Some(lane) = lock(&self.lane).take() {
            lock(&self.lanes.n_taken)[lane as usize] -= 1;
            self.lanes.freed.notify_all();
        }
    }
}

/// On Linux a thread can be told to let others go first; elsewhere it would be the whole server.
fn step_back() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::nice(10);
}

/// All jobs, the oldest first.
#[derive(Default)]
pub struct Jobs {
    all: Mutex<Vec<Arc<Job>>>,
    lanes: Arc<Lanes>,
}

impl Jobs {
    /// Starts some work on a thread of its own, unless the same work is under way. Work that nobody waits for any more ends,
    /// except where something is published: whoever wanted that has it when they come back.
    pub fn start(
        &self,
        kind: &'static str,
        key: String,
        work: impl FnOnce(&Job) -> Result<Value, Problem> + Send + 'static,
    ) -> Result<Arc<Job>, Problem> {
        let mut all = lock(&self.all);
        if let Some(job) = all.iter().find(|job| job.key == key && job.kind == kind && !job.state.borrow().is_over()) {
            job.asked();
            return Ok(job.clone());
        }
        let n_open = all.iter().filter(|job| !job.state.borrow().is_over()).count();
        if n_open >= N_QUICK_MAX + N_LONG_MAX + N_WAITING_MAX {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "request", "too many jobs are waiting")
                .hint("wait for one of them to end, or cancel it"));
        }
        let (state, _) = watch::channel(State::Waiting);
        let id = random_text()?;
        let (lanes, watch) = (self.lanes.clone(), Arc::default());
        let (lane, files, started) = (Mutex::default(), Mutex::default(), Instant::now());
        let interest = Mutex::new(Interest { n_following: 0, until: started + UNASKED });
        let job = Arc::new(Job { id, kind, key, watch, state, lanes, lane, started, interest, files });
        let n_ended = all.len() - n_open;
        if n_ended >= N_ENDED_MAX
            && let Some(oldest) = all.iter().position(|job| job.state.borrow().is_over())
        {
            all.remove(oldest);
        }
        all.push(job.clone());
        let worker = job.clone();
        std::thread::spawn(move || {
            worker.enter(Lane::Quick);
            let end = run(&worker, work);
            worker.free();
            worker.state.send_replace(end);
        });
        if kind != "publish" {
            let forgotten = job.clone();
            std::thread::spawn(move || forgotten.end_when_forgotten());
        }
        Ok(job)
    }

    /// All of them, the newest first.
    pub fn list(&self) -> Vec<Arc<Job>> {
        lock(&self.all).iter().rev().cloned().collect()
    }

    pub fn get(&self, id: &str) -> Result<Arc<Job>, Problem> {
        let all = lock(&self.all);
        all.iter().find(|job| job.id == id).cloned().ok_or_else(|| Problem::not_found("job"))
    }
}

/// Works on threads of its own: on shared ones a small question would stand behind all that a large one has begun.
fn run(job: &Job, work: impl FnOnce(&Job) -> Result<Value, Problem> + Send) -> State {
    if job.watch.is_cancelled() {
        return State::Cancelled;
    }
    let Ok(pool) = rayon::ThreadPoolBuilder::new().build() else { return State::Failed(Problem::bug()) };
    // A panic ends the job and nothing else.
    let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(|| work(job))));
    match done {
        Ok(Ok(result)) => State::Done(result),
        _ if job.watch.is_cancelled() => State::Cancelled,
        Ok(Err(problem)) => State::Failed(problem),
        Err(_) => State::Failed(Problem::bug()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
