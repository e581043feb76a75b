//! What each method makes of one request, side by side, and what other bargains there are.

use axum::extract::State;
use incrowd::Criteria;
use serde_json::{Value, json};

use super::ask::{Document, Readable, Wish, privacy, request};
use super::closed::Over;
use super::explore;
use super::server::{Answered, Shared, accepted, check_locked};
use super::tables::Ready;
use crate::orders::compare::Field;
use crate::orders::contenders::{Contender, ContenderResult, N_QUERIES};
use crate::words::documents;
use crate::words::order::Reader;

pub(super) struct CompareQuestion {
    project: String,
    request: Wish,
    /// All that there are where none is named.
    contenders: Option<Vec<Contender>>,
    target: Option<String>,
}

impl Readable for CompareQuestion {
    fn read(reader: &Reader) -> incrowd::Result<CompareQuestion> {
        Ok(CompareQuestion {
            project: reader.needed("project", Reader::text)?.to_string(),
            request: reader.needed("request", Reader::object)?.clone(),
            contenders: reader.contenders()?,
            target: reader.text("target")?.map(str::to_string),
        })
    }
}

pub(super) async fn compare_methods(State(server): Shared, Document(asked): Document<CompareQuestion>) -> Answered {
    let opened = server.opened(&asked.project)?;
    let (privacy, _) = privacy(&opened, &asked.request).map_err(|error| server.problem(error))?;
    server.check_promise(&privacy.criteria, &privacy.sensitive)?;
    let field = Field { contenders: asked.contenders, seed: 0, n_queries: N_QUERIES, target: asked.target };
    let worker = server.clone();
    let key =
        format!("{} {} {:?} {:?}", opened.id, Value::Object(asked.request.clone()), field.contenders, field.target);
    let job = server.jobs.start("compare", key, move |job| {
        job.takes_long()?;
        let wrong = |error| worker.problem(error);
        let work = job.work(worker.tables.n_bytes_max);
        let ready = worker.tables.annotate(&opened, &privacy, &field.ranking(), &work).map_err(wrong)?;
        let request = request(&opened, &ready, &privacy, &asked.request).map_err(wrong)?;
        check_locked(&worker, &ready.counted, &privacy, &request, Over::Levels)?;
        let rows = field.run(&opened.project, &ready.counted, &ready.lattice, &request, &work).map_err(wrong)?;
        let rows: Vec<Value> = rows.iter().map(|row| row_json(row, &ready)).collect();
        job.go_on()?;
        let may_promise = |criteria: &Criteria| {
            worker.check_promise(criteria, &privacy.sensitive).is_ok() && ready.counted.check_promise(criteria).is_ok()
        };
        let frontier = explore::bargains(&ready, &request, &may_promise, &work).map_err(wrong)?;
        let (n_records, notes) = (ready.lattice.n_records(), worker.notes(&work));
        Ok(json!({ "n_records": n_records, "rows": rows, "frontier": frontier, "notes": notes }))
    })?;
    accepted(&server, &job)
}

/// A row without what is of the whole server, whatever else it does meanwhile.
fn row_json(row: &ContenderResult, ready: &Ready) -> Value {
    let mut row = documents::contender(row, &ready.counted);
    if let Some(row) = row.as_object_mut() {
        row.remove("cpu_seconds");
        row.remove("peak_bytes");
    }
    row
}
