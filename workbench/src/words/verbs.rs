//! Every verb by its name: a JSON document in, a JSON document and notes out. HTTP and Python speak so.

use std::path::PathBuf;

use incrowd::error::unknown;
use incrowd::{ErrorKind, Result};
use serde_json::{Map as Object, Value};

use super::order::{AboutHierarchy, AnyStudy, PathUse, Reader};
use super::{documents, hierarchies, profiles, studies};
use crate::input::project::Project;
use crate::orders::Rules;
use crate::orders::known::Known;
use crate::orders::profile::of_project;
use crate::orders::publish::{Files, Ordered, prepare};
use crate::work::Work;

/// The verbs that are answered so.
pub const VERBS: [&str; 15] = [
    "init",
    "profile",
    "hierarchy",
    "count",
    "annotate",
    "update",
    "negotiate",
    "frontier",
    "compare",
    "map",
    "publish",
    "verify",
    "attack",
    "risk",
    "study",
];

/// What a document is read and run with.
pub struct Desk<'a> {
    pub project: &'a Project,
    pub known: &'a Known,
    pub rules: &'a Rules<'a>,
    /// Whether the project's [request] speaks where the document says nothing.
    pub with_standing: bool,
    /// Makes a path that was written into one that may be used.
    pub path: &'a dyn Fn(&str, PathUse) -> Result<PathBuf>,
}

/// Runs an order by the name of its verb.
pub fn run(verb: &str, document: &Object<String, Value>, desk: &Desk, work: &Work) -> Result<Value> {
    let Desk { project, known, rules, .. } = *desk;
    let reader = Reader::new(document, desk.path, desk.with_standing);
    // Whoever names other projects or releases says of these which data they are about.
    let other = match ["init", "verify", "attack", "risk"].contains(&verb) {
        true => None,
        false => reader.data()?,
    };
    let other = other.map(|data| project.clone().with_data(Some(&data))).transpose()?;
    let project = other.as_ref().unwrap_or(project);
    match verb {
        "init" => Ok(profiles::started(&reader.init()?.run(work)?)),
        "profile" => {
            let with_values = reader.flag("values")?;
            reader.finish()?;
            Ok(profiles::profiled(&of_project(project, work)?, with_values))
        }
        "hierarchy" => Ok(match reader.hierarchy()? {
            AboutHierarchy::Show(order) => hierarchies::shown(&order.run(project, work)?),
            AboutHierarchy::Absent(order, with_values) => {
                hierarchies::all_absent(order.attribute.is_some(), &order.run(project)?, with_values)
            }
            AboutHierarchy::Export(order) => hierarchies::exported(&order.run(project, work)?),
        }),
        "count" => {
            let about = reader.about()?;
            reader.finish()?;
            let choice = about.choice(&about.no_privacy(project)?);
            Ok(documents::counted(&*known.count(project, &choice, work)?))
        }
        "annotate" => {
            let (order, per_scheme) = reader.annotate()?;
            let annotated = order.run(project, known, work)?;
            Ok(match annotated.shown() {
                _ if annotated.tree.is_some() => documents::grown(&annotated),
                Some(lattice) => documents::annotated(lattice, &annotated.criteria, per_scheme),
                None => documents::only_counted(&annotated.counted),
            })
        }
        "update" => {
            let (order, per_scheme) = reader.update()?;
            let updated = order.run(project, work)?;
            Ok(match crate::orders::saved::has_counts_only(&updated.lattice) {
                false => documents::annotated(&updated.lattice, &updated.criteria, per_scheme),
                true => documents::only_counted(&updated.material),
            })
        }
        "negotiate" if reader.is_local()? => {
            Ok(documents::locally_negotiated(&reader.negotiate_local()?.run(project, known, rules, work)?))
        }
        "negotiate" => Ok(documents::negotiated(&reader.negotiate()?.run(project, known, rules, work)?)),
        "frontier" if reader.is_local()? => {
            Ok(documents::local_frontier(&reader.frontier_local()?.run(project, known, work)?))
        }
        "frontier" => Ok(documents::frontier(&reader.frontier()?.run(project, known, work)?)),
        "compare" => Ok(documents::compared(&reader.compare()?.run(project, known, work)?)),
        "map" => Ok(documents::mapped(&reader.map()?.run(project, known, work)?)),
        "publish" => {
            let order = reader.publish()?;
            let key = reader.key()?;
            let (output, replace) = reader.output()?;
            reader.finish()?;
            let output = output.unwrap_or_else(|| project.folder.join("release.csv"));
            let files = prepare(project, &output, replace)?;
            let files = Files { key: key.unwrap_or_else(|| files.key.clone()), ..files };
            Ok(match order.run(project, known, rules, &files, replace, work)? {
                Ordered::Published(published) => documents::published(&files, &published),
                Ordered::No(no) => documents::not_published(&no),
            })
        }
        "verify" => Ok(documents::checked(&reader.verify()?.run(work)?)),
        "attack" => {
            let (order, worst, show_values) = reader.attack()?;
            Ok(documents::attacked(&order.run(None, work)?, worst, show_values))
        }
        "risk" => Ok(documents::risk(&reader.risk()?.run(Some(project), work)?)),
        "study" => Ok(match reader.study()? {
            AnyStudy::Deal(order) => studies::deal(&order.run(Some(project), known, work)?),
            AnyStudy::Lattice(order) => studies::lattice(&order.run(project, known, work)?),
        }),
        other => Err(unknown(ErrorKind::Request, "verb", other, &VERBS)),
    }
}
