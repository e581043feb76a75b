//! Questions about one project and one request: its lattice, the answer, the schemes around it.

use axum::extract::State;
use incrowd::wire::{self, WrittenAnswer};
use incrowd::{Criteria, Offer, Ranking, negotiate};
use serde_json::{Value, json};

use super::ask::{Document, Question, privacy, scheme};
use super::server::{
    Answered, Readiness, ReadyQuestion, Server, Shared, accepted, aside, find, look_first, ok, ok_text,
    start_annotation, with_lattice,
};
use super::{explore, trees};
use crate::orders::negotiate::{Negotiate, Where};
use crate::words::answers;
use crate::words::documents;
use crate::words::notes::Front;
use crate::words::search::partial_in_words;
use crate::work::Work;

/// The lattice as a whole: which levels each attribute has, and how many schemes that makes.
pub(super) async fn annotate(State(server): Shared, Document(question): Document<Question>) -> Answered {
    let opened = server.opened(&question.project)?;
    let (privacy, ranking) = privacy(&opened, &question.request).map_err(|error| server.problem(error))?;
    if !opened.is_seen() {
        return accepted(&server, &*look_first(&server, &opened)?);
    }
    let Some(ready) = server.tables.lattice(&opened, &privacy, &ranking) else {
        return accepted(&server, &*start_annotation(&server, opened, privacy, ranking)?);
    };
    let lattice = &ready.lattice;
    let attributes =
        lattice.hierarchies().iter().zip(&ready.counted.quasi_identifiers).map(|(hierarchy, attribute)| {
            let example = server.allows_preview().then(|| trees::example(&opened, hierarchy)).flatten();
            let level = |(i, level): (usize, &incrowd::hierarchy::Values)| {
                let mut document =
                    json!({ "level": i, "name": level.name(), "phrase": level.phrase(), "n_values": level.len() });
                if let Some(labels) = &example {
                    document["example"] = json!(labels[i]);
                }
                document
            };
            let levels: Vec<Value> = hierarchy.levels().iter().enumerate().map(level).collect();
            json!({ "attribute": hierarchy.attribute(), "weight": attribute.weight, "levels": levels })
        });
    let sensitive = lattice.sensitive().iter().map(|(name, n)| json!({ "attribute": name, "n_values": n }));
    let names = wire::sensitive_names(lattice);
    let measures = lattice.signatures().measures().iter().map(|measure| wire::key(*measure, &names));
    let about = server.tables.told_again(&ready.counted).map_err(|error| server.problem(error))?;
    ok(json!({
        "notes": server.notes(&about),
        "n_records": lattice.n_records(),
        "n_dropped": lattice.n_dropped(),
        "n_schemes": lattice.schemes().len(),
        "n_heights": lattice.schemes().n_heights(),
        "n_bytes": lattice.n_bytes(),
        "measured": measures.collect::<Vec<_>>(),
        "attributes": attributes.collect::<Vec<_>>(),
        "sensitive": sensitive.collect::<Vec<_>>(),
    }))
}

pub(super) async fn answer(State(server): Shared, Document(question): Document<Question>) -> Answered {
    let asked = match find(&server, &question)? {
        Readiness::Job(job) => return accepted(&server, &job),
        Readiness::Ready(asked) => asked,
    };
    // Who is lost is looked up among all people.
    let is_quick = asked.ready.lattice.n_people().is_none()
        && asked.request.criteria.is_monotone(false)
        && (asked.request.best_by.is_height() || asked.request.best_by == Ranking::default())
        && asked.ready.lattice.schemes().len() <= 20_000;
    let answer = move |server: &Server, asked: &ReadyQuestion| -> incrowd::Result<String> {
        let (lattice, request) = (&asked.ready.lattice, &asked.request);
        let (counted, work) = (&asked.ready.counted, server.tables.told_again(&asked.ready.counted)?);
        let order = Negotiate { explain: question.explain, ..Negotiate::default() };
        let mut negotiated = order.on_lattice(lattice.clone(), Some(counted), request.clone(), &work)?;
        // What a method would lose takes longer than an answer; the advice does not.
        negotiated.note_much_lost(None, &work);
        negotiated.answer = server.allowed(negotiated.answer, &asked.privacy.sensitive);
        let partial = match &negotiated.found {
            Where::Partial(lattice, found) => Some(partial_in_words(lattice, request, found, Front::Http)),
            _ => None,
        };
        if partial.is_some() || !negotiated.without.is_empty() {
            let mut document = documents::negotiated(&negotiated);
            if let Some(in_words) = partial {
                document["partial"]["in_words"] = json!(in_words);
            }
            document["notes"] = server.notes(&work);
            return Ok(document.to_string());
        }
        let explained = negotiated.explanation.iter();
        let mut more: Vec<(&str, Value)> =
            explained.map(|(lattice, explanation)| ("explanation", wire::explanation(lattice, explanation))).collect();
        more.push(("notes", server.notes(&work)));
        let answer = &negotiated.answer;
        let said = |offer: &Offer| answers::said_of(lattice, request, answer, offer);
        let written = WrittenAnswer { scope: lattice, asked: request, answer, said: &said, more };
        Ok(serde_json::to_string(&written).expect("every key is a text"))
    };
    // Microseconds are not worth a change of threads.
    match is_quick {
        true => ok_text(answer(&server, &asked).map_err(|error| server.problem(error))?),
        false => {
            ok_text(aside(&server, move |server| answer(server, &asked).map_err(|error| server.problem(error))).await?)
        }
    }
}

pub(super) async fn explore_answer(State(server): Shared, Document(question): Document<Question>) -> Answered {
    with_lattice(&server, question, |server, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?;
        let answer = match &asked.answer {
            Some(answer) => answer.clone(),
            None => negotiate(lattice, &asked.request)?,
        };
        let answer = server.allowed(answer, &asked.privacy.sensitive);
        let may_promise = |criteria: &Criteria| server.check_promise(criteria, &asked.privacy.sensitive).is_ok();
        explore::explore(lattice, &asked.request, &answer, scheme, &may_promise)
    })
    .await
}

pub(super) async fn one_scheme(State(server): Shared, Document(question): Document<Question>) -> Answered {
    with_lattice(&server, question, |_, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        explore::scheme(lattice, &asked.request, &scheme, question.explain)
    })
    .await
}

pub(super) async fn sample(State(server): Shared, Document(question): Document<Question>) -> Answered {
    server.previews("this server shows no values of the data")?;
    let opened = server.opened(&question.project)?;
    privacy(&opened, &question.request).map_err(|error| server.problem(error))?;
    if !opened.is_seen() {
        return accepted(&server, &*look_first(&server, &opened)?);
    }
    with_lattice(&server, question, |_, question, asked| {
        let lattice = &asked.ready.lattice;
        let scheme = scheme(lattice, question)?.unwrap_or_else(|| asked.request.level_max.clone());
        explore::sample(&asked.opened, &asked.ready, &asked.privacy, &scheme, asked.opened.columns(&Work::default())?)
    })
    .await
}
