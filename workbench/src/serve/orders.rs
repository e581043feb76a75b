//! What somebody wants published, decided as the command line decides it, and the release that comes of it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Arc, PoisonError};

use axum::extract::State;
use incrowd::error::unknown;
use incrowd::lattice::Scope;
use incrowd::negotiate::check_criteria;
use incrowd::wire;
use incrowd::{Error, ErrorKind, Level, Method, Offer, Result, Scheme, negotiate};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::ask::{Body, Levels, Question, flags, privacy, with_levels};
use super::explore;
use super::jobs::Job;
use super::problem::Problem;
use super::server::{Answered, Asked, Found, Server, Shared, accepted, aside, find, ok, start_counting};
use super::tables::{Opened, QUIET};
use crate::account::Key;
use crate::commands::publish::{self, Agreed, Choice, Files, Published, offer_of_levels, privacy_of};
use crate::count::Counted;
use crate::local::Local;
use crate::wishes::Privacy;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publish {
    project: String,
    request: Map<String, Value>,
    /// `exact`, `suppression`, `height`, `privacy`, `levels` for those that are named, or `method` for a local method.
    choice: String,
    #[serde(default)]
    levels: Option<Levels>,
    #[serde(default)]
    method: Option<String>,
    /// Where to write the release, within the served folder.
    #[serde(default)]
    output: Option<String>,
    #[serde(default)]
    replace: bool,
    /// The signer's key; a new one where none is given.
    #[serde(default)]
    key: Option<String>,
}

/// What is to be published, with everything that it takes to decide on it.
enum Order {
    /// The answer to a request, or one of the offers.
    Answer(Choice, Asked),
    /// Levels of one's own choice.
    Levels(Levels, Material),
    /// What a local method makes.
    Method(Local, Material),
}

/// What needs no lattice.
struct Material {
    opened: Arc<Opened>,
    request: Map<String, Value>,
    privacy: Privacy,
    counted: Arc<Counted>,
}

/// An order that can be decided, or the job that has to end first.
enum Taken {
    Order(Order),
    Job(Arc<Job>),
}

fn wrong(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Request, message)
}

fn take(server: &Arc<Server>, asked: &Publish) -> std::result::Result<Taken, Problem> {
    let problem = |error| server.problem(error);
    if asked.method.is_some() && asked.choice != "method" {
        let error = wrong("a method is named, and another choice made").hint("choose \"method\"");
        return Err(problem(error));
    }
    if let Some(choice) = choice(&asked.choice) {
        return Ok(match find(server, &asked.question())? {
            Found::Job(job) => Taken::Job(job),
            Found::Ready(found) => Taken::Order(Order::Answer(choice, found)),
        });
    }
    let opened = server.opened(&asked.project)?;
    let (privacy, _) = privacy(&opened, &asked.request).map_err(problem)?;
    let local = asked.local().map_err(problem)?;
    let privacy = match &local {
        Some(local) => privacy_of(local, privacy, false, &opened.project).map_err(problem)?,
        None => privacy,
    };
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
    let Some(counted) = server.tables.counted(&opened, &privacy) else {
        return start_counting(server, opened, privacy).map(Taken::Job);
    };
    let material = Material { opened, request: asked.request.clone(), privacy, counted };
    Ok(Taken::Order(match local {
        Some(local) => Order::Method(local, material),
        None => Order::Levels(asked.levels.clone().unwrap_or_default(), material),
    }))
}

fn choice(name: &str) -> Option<Choice> {
    [Choice::Exact, Choice::Suppression, Choice::Height, Choice::Privacy]
        .into_iter()
        .find(|choice| choice.name() == name)
}

impl Publish {
    fn question(&self) -> Question {
        let levels = self.levels.clone();
        Question { project: self.project.clone(), request: self.request.clone(), levels, place: None, explain: false }
    }

    /// The local method; none where levels are chosen.
    fn local(&self) -> Result<Option<Local>> {
        match (self.choice.as_str(), &self.method, &self.levels) {
            ("method", Some(name), _) => Ok(Some(Local::new(Method::parse(name)?))),
            ("method", None, _) => Err(wrong("no method is named").hint("for example \"top-down\"")),
            ("levels", _, Some(_)) => Ok(None),
            ("levels", _, None) => Err(wrong("no levels are named").hint("for example {\"age\": 1}")),
            (other, ..) => {
                let known = ["exact", "suppression", "height", "privacy", "levels", "method"];
                Err(unknown(ErrorKind::Request, "choice", other, &known))
            }
        }
    }
}

impl Order {
    fn opened(&self) -> &Arc<Opened> {
        match self {
            Order::Answer(_, asked) => &asked.opened,
            Order::Levels(_, material) | Order::Method(_, material) => &material.opened,
        }
    }

    fn counted(&self) -> &Counted {
        match self {
            Order::Answer(_, asked) => &asked.ready.counted,
            Order::Levels(_, material) | Order::Method(_, material) => &material.counted,
        }
    }

    /// What was agreed on; nothing where a method decides. An error where there is no such answer.
    fn agree(&self, server: &Server) -> Result<Option<Agreed<'_>>> {
        match self {
            Order::Answer(choice, asked) => {
                let lattice = &asked.ready.lattice;
                let answer = server.allowed(negotiate(lattice, &asked.request)?, &asked.privacy.sensitive);
                let chosen = publish::chosen(&answer, *choice);
                let (offer, choice) = chosen.ok_or_else(|| wrong("there is no such answer to these wishes"))?;
                let request = wire::request(lattice, &asked.request);
                let search = lattice.n_schemes().map(wire::Search::whole);
                let lattice = Some(Cow::Borrowed(lattice));
                Ok(Some(Agreed { offer, choice: choice.name(), request, lattice, search }))
            }
            Order::Levels(levels, material) => {
                let offer = material.offer(levels)?;
                Ok(Some(Agreed { offer, choice: "levels", request: Value::Null, lattice: None, search: None }))
            }
            Order::Method(_, material) => material.check().map(|()| None),
        }
    }

    /// What would be promised, in words.
    fn review(&self, server: &Server) -> Result<Value> {
        let (opened, counted, agreed) = (self.opened(), self.counted(), self.agree(server)?);
        Ok(match (self, agreed) {
            (Order::Method(local, material), _) => {
                explore::review_method(opened, counted, local, &material.privacy.criteria)
            }
            (_, Some(agreed)) => {
                let yardstick = counted.yardstick(agreed.offer.criteria.iter().map(|criterion| criterion.measure))?;
                let scope = Scope::new(&counted.counts, &counted.hierarchies, &yardstick);
                let mut document = explore::review(opened, counted, &scope, &agreed.offer);
                document["choice"] = json!(agreed.choice);
                document
            }
            (_, None) => unreachable!("only a method decides for itself"),
        })
    }

    fn publish(&self, server: &Server, files: &Files, replace: bool) -> Result<Published> {
        let (project, counted) = (&self.opened().project, self.counted());
        match (self, self.agree(server)?) {
            (_, Some(agreed)) => publish::publish(project, counted, &agreed, files, replace, &QUIET),
            (Order::Method(local, material), None) => {
                let bar = QUIET.things(local.method.name(), counted.counts.n_records(), "records");
                let made = local.make(counted, &material.privacy.criteria, &bar)?;
                bar.finish_and_clear();
                made.check(&counted.sensitive_names()).map_err(|error| match server.allows_preview() {
                    true => error,
                    // What is reached instead may compare with the source.
                    false => Error::new(ErrorKind::Request, "the method does not keep all of these criteria")
                        .hint("ask for a greater k, for less, or take another method"),
                })?;
                publish::publish_made(project, counted, made, files, replace, &QUIET)
            }
            (_, None) => unreachable!("only a method decides for itself"),
        }
    }
}

impl Material {
    fn check(&self) -> Result<()> {
        let counted = &self.counted;
        check_criteria(&self.privacy.criteria, counted.counts.n_records(), &counted.n_sensitive_values())?;
        counted.check_promise(&self.privacy.criteria)
    }

    /// What the levels give, where they lose no more records than may be lost.
    fn offer(&self, levels: &Levels) -> Result<Offer> {
        self.check()?;
        let counted = &self.counted;
        let exact = Scheme::new(vec![Level(0); counted.hierarchies.len()]);
        let scheme = with_levels(&exact, levels, &counted.hierarchies)?;
        let yardstick = counted.yardstick(self.privacy.criteria.iter().map(|criterion| criterion.measure))?;
        let offer = offer_of_levels(counted, &yardstick, scheme, &self.privacy)?;
        let n_records = counted.counts.n_records();
        match flags(&self.request)?.exceeds_suppression(&self.opened.project, &offer, n_records)? {
            false => Ok(offer),
            true => {
                let n_lost = offer.n_suppressed;
                Err(wrong(format!("at these levels {n_lost} of {n_records} records would be lost, more than may be"))
                    .hint("choose coarser levels, or allow it with max_suppressed"))
            }
        }
    }
}

pub async fn review(State(server): Shared, Body(asked): Body<Publish>) -> Answered {
    match take(&server, &asked)? {
        Taken::Job(job) => accepted(&job),
        Taken::Order(order) => {
            let document = aside(&server, move |server| order.review(server).map_err(|error| server.problem(error)));
            ok(document.await?)
        }
    }
}

pub async fn publish_release(State(server): Shared, Body(asked): Body<Publish>) -> Answered {
    let order = match take(&server, &asked)? {
        Taken::Job(job) => return accepted(&job),
        Taken::Order(order) => order,
    };
    let wrong = |error| server.problem(error);
    let key = asked.key.as_deref().map(Key::parse).transpose().map_err(wrong)?;
    if key.is_some() {
        server.previews("whoever chooses the key could try what the data are")?;
    }
    let name = asked.output.clone().unwrap_or_else(|| "release.csv".to_string());
    let output = server.tables.folder.to_write(&name).map_err(wrong)?;
    let replace = asked.replace && server.may_replace(&output);
    publish::prepare(&order.opened().project, &output, replace).map_err(|error| {
        let is_there = error.message().starts_with("is there already");
        wrong(if is_there { error.hint("choose another name, or replace it") } else { error })
    })?;
    // What cannot be had is refused before a job begins.
    let order = aside(&server, move |server| {
        order.agree(server).map(drop).map_err(|error| server.problem(error))?;
        Ok(order)
    })
    .await?;
    let worker = server.clone();
    let what = json!([order.opened().id, asked.request, asked.choice, asked.levels, asked.method, replace]);
    let job = server.jobs.start("publish", format!("{name} {what}"), move |job| {
        if takes_long(&order) {
            job.takes_long()?;
        }
        let published = publish::prepare(&order.opened().project, &output, replace)
            .map(|files| Files { key: key.unwrap_or_else(|| files.key.clone()), ..files })
            .and_then(|files| order.publish(&worker, &files, replace).map(|published| (files, published)));
        let (files, published) = published.map_err(|error| worker.problem(error))?;
        let document = published_json(&worker, &files, &published);
        if published.holds {
            worker.has_published(&output);
            *job.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
        }
        Ok(document)
    })?;
    accepted(&job)
}

/// Local methods need more than linear time; the others read and sort the table.
fn takes_long(order: &Order) -> bool {
    const N_RECORDS_LONG: u64 = 200_000;
    const N_GROUPS_LONG: usize = 5_000;
    let counts = &order.counted().counts;
    counts.n_records() > N_RECORDS_LONG || matches!(order, Order::Method(..)) && counts.n_groups() > N_GROUPS_LONG
}

fn published_json(server: &Server, files: &Files, published: &Published) -> Value {
    let short = |path: &Path| server.tables.folder.relative(&path.display().to_string());
    json!({
        "published": published.holds,
        "choice": published.certificate.choice,
        "files": {
            "release": short(&files.release),
            "certificate": short(&files.certificate),
            "report": short(&files.report),
        },
        "certificate": published.certificate,
        "verdict": published.verdict,
    })
}
