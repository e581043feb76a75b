//! Questions about ranges of their own for every group: the answer, its groups, records before and after.

use std::sync::Arc;

use axum::extract::State;
use incrowd::recode::tree::Tree;
use incrowd::search::request::check_criteria;
use incrowd::{Criteria, Result};
use serde_json::{Value, json};

use super::ask::{Document, Readable, Wish, local_order};
use super::closed::Over;
use super::cuts::{Pieces, against_privacy, shown_offer};
use super::orders::with_rules;
use super::problem::Problem;
use super::server::{
    Answered, Readiness, Server, Shared, accepted, aside, check_locked, look_first, ok, start_counting, start_growing,
};
use super::tables::Opened;
use crate::input::count::Counted;
use crate::orders::negotiate_local::{LocallyNegotiated, NegotiateLocal};
use crate::orders::request::{About, Privacy};
use crate::words::answers;
use crate::words::order::Reader;

/// A question about a project.
pub struct LocalQuestion {
    project: String,
    request: Wish,
    /// Which offer is looked at, where not all can be had.
    offer: Option<String>,
    /// A node of the tree that is looked at.
    node: Option<u64>,
}

impl Readable for LocalQuestion {
    fn read(reader: &Reader) -> Result<LocalQuestion> {
        Ok(LocalQuestion {
            project: reader.needed("project", Reader::text)?.to_string(),
            request: reader.object("request")?.cloned().unwrap_or_default(),
            offer: reader.text("offer")?.map(str::to_string),
            node: reader.whole("node")?,
        })
    }
}

/// A question whose tree is at hand.
struct ReadyLocalQuestion {
    opened: Arc<Opened>,
    counted: Arc<Counted>,
    tree: Arc<Tree>,
    order: NegotiateLocal,
    privacy: Privacy,
}

fn find(server: &Arc<Server>, question: &LocalQuestion) -> std::result::Result<Readiness<ReadyLocalQuestion>, Problem> {
    let opened = server.opened(&question.project)?;
    let wrong = |error| server.problem(error);
    let order = local_order(&question.request).map_err(wrong)?;
    let privacy = order.request.privacy(&opened.project, &About::default()).map_err(wrong)?;
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
    let Some(counted) = server.tables.counted(&opened, &privacy) else {
        return start_counting(server, opened, privacy).map(Readiness::Job);
    };
    let n_values = counted.n_sensitive_values();
    check_criteria(&privacy.criteria, counted.counts.crowd(), &n_values).map_err(wrong)?;
    let n_records = counted.counts.n_records();
    let asked = order.request.checked(&opened.project, &privacy, &counted.hierarchies, n_records).map_err(wrong)?;
    check_locked(server, &counted, &privacy, &asked, Over::Ranges)?;
    let measures = || privacy.criteria.iter().map(|criterion| criterion.measure);
    match server.tables.known.known_tree(&counted, measures()) {
        Some(tree) => Ok(Readiness::Ready(ReadyLocalQuestion { opened, counted, tree, order, privacy })),
        None => start_growing(server, opened, privacy).map(Readiness::Job),
    }
}

impl ReadyLocalQuestion {
    fn negotiated(&self, server: &Server) -> Result<LocallyNegotiated> {
        let work = server.tables.unwatched();
        with_rules(server, |rules| self.order.run(&self.opened.project, &server.tables.known, rules, &work))
    }
}

/// Answers a question about a tree on a thread where waiting harms nobody.
async fn with_tree(
    server: &Arc<Server>,
    question: LocalQuestion,
    work: impl FnOnce(&Server, &LocalQuestion, &ReadyLocalQuestion) -> Result<Value> + Send + 'static,
) -> Answered {
    match find(server, &question)? {
        Readiness::Job(job) => accepted(server, &job),
        Readiness::Ready(asked) => {
            let value = aside(server, move |server| {
                let mut document = work(server, &question, &asked).map_err(|error| server.problem(error))?;
                let work = server.tables.unwatched();
                asked.counted.tell_again(&work);
                document["notes"] = server.notes(&work);
                Ok(document)
            });
            ok(value.await?)
        }
    }
}

pub(super) async fn answer(State(server): Shared, Document(question): Document<LocalQuestion>) -> Answered {
    with_tree(&server, question, |server, _, asked| Ok(answers::locally_negotiated(&asked.negotiated(server)?))).await
}

/// What other values would cost; and, for whoever may see the data, the groups and some records.
pub(super) async fn explore(State(server): Shared, Document(question): Document<LocalQuestion>) -> Answered {
    let opened = server.opened(&question.project)?;
    if server.allows_preview() && !opened.is_seen() {
        return accepted(&server, &*look_first(&server, &opened)?);
    }
    with_tree(&server, question, |server, question, asked| {
        let negotiated = asked.negotiated(server)?;
        let may_promise = |criteria: &Criteria| server.check_promise(criteria, &asked.privacy.sensitive).is_ok();
        let (tree, counted) = (&asked.tree, &asked.counted);
        let mut document = json!({
            "n_records": counted.counts.n_records(),
            "n_nodes": tree.shape().n_nodes(),
            "against_privacy": against_privacy(tree, counted, &negotiated.request, &may_promise)?,
        });
        let Some(offer) = shown_offer(&negotiated.answer, question.offer.as_deref()) else { return Ok(document) };
        if server.allows_preview() {
            let pieces = Pieces::new(tree, &offer.cut);
            let node = question.node.and_then(|node| usize::try_from(node).ok());
            let root = node.filter(|node| *node < tree.shape().n_nodes()).unwrap_or(tree.shape().root());
            document["groups"] = pieces.rows(root);
            let columns = asked.opened.columns(&server.tables.unwatched())?;
            document["sample"] = pieces.sample(&asked.opened, counted, columns)?;
        }
        Ok(document)
    })
    .await
}

/// One node of the tree: its ranges are values of the data.
pub(super) async fn group(State(server): Shared, Document(question): Document<LocalQuestion>) -> Answered {
    server.previews("the ranges of a group are values of the data")?;
    with_tree(&server, question, |server, question, asked| {
        let negotiated = asked.negotiated(server)?;
        let (tree, n_nodes) = (&asked.tree, asked.tree.shape().n_nodes());
        let node = question.node.and_then(|node| usize::try_from(node).ok()).unwrap_or(tree.shape().root());
        if node >= n_nodes {
            return Err(incrowd::Error::new(incrowd::ErrorKind::Request, format!("there are {n_nodes} nodes")));
        }
        let none = || incrowd::Error::new(incrowd::ErrorKind::Request, "there is no such answer to this request");
        let offer = shown_offer(&negotiated.answer, question.offer.as_deref()).ok_or_else(none)?;
        Ok(Pieces::new(tree, &offer.cut).group(node, &asked.counted))
    })
    .await
}
