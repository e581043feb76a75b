//! Every verb by its name: a JSON document in, a JSON document and notes out. HTTP and Python speak so.

use std::path::PathBuf;

use incrowd::error::unknown;
use incrowd::{ErrorKind, Result};
use serde_json::{Map as Object, Value};

use super::figures::{self, Figure, Sheet};
use super::order::{AboutHierarchy, PathUse, Reader};
use super::study_orders::AnyStudy;
use super::{
    answers, documents, hierarchies, profiles, releases, studies, study_lattice, study_local, study_records,
    study_requests,
};
use crate::input::project::Project;
use crate::orders::Rules;
use crate::orders::count::Counts;
use crate::orders::known::Known;
use crate::orders::profile::of_project;
use crate::orders::publish::{Files, Form, Ordered, prepare};
use crate::work::Work;

/// The verbs that are answered so.
pub const VERBS: [&str; 16] = [
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
    "histogram",
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
        "count" => Ok(match reader.count()?.run(project, known, work)? {
            Counts::Counted(counted) => documents::counted(&counted),
            Counts::Statement(statement) => documents::statement(&statement),
        }),
        "annotate" => {
            let (order, shown) = reader.annotate()?;
            let annotated = order.run(project, known, work)?;
            Ok(match annotated.shown() {
                _ if annotated.tree.is_some() => documents::grown(&annotated, shown.per_group),
                Some(lattice) => {
                    documents::annotated_for(lattice, &annotated.criteria, &annotated.more, shown.per_scheme)
                }
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
            Ok(answers::locally_negotiated(&reader.negotiate_local()?.run(project, known, rules, work)?))
        }
        "negotiate" => Ok(documents::negotiated(&reader.negotiate()?.run(project, known, rules, work)?)),
        "frontier" if reader.is_local()? => {
            Ok(documents::local_frontier(&reader.frontier_local()?.run(project, known, rules, work)?))
        }
        "frontier" => Ok(documents::frontier(&reader.frontier()?.run(project, known, work)?)),
        "compare" => Ok(documents::compared(&reader.compare()?.run(project, known, work)?)),
        "map" => Ok(documents::mapped(&reader.map()?.run(project, known, work)?)),
        "publish" => {
            let order = reader.publish()?;
            let key = reader.key()?;
            let (output, replace) = reader.output()?;
            let Form { rows, expansion, table } = reader.form()?;
            reader.finish()?;
            if let Some(table) = table {
                return Ok(match order.run_into(project, rules, &table, key, None, replace, work)? {
                    (files, Ordered::Published(published)) => releases::published(&files, &published, None),
                    (_, Ordered::No(no)) => releases::not_published(&no),
                });
            }
            let output = output.unwrap_or_else(|| project.folder.join("release.csv"));
            let files = prepare(project, &output, replace)?;
            let files = Files { rows, key: key.unwrap_or_else(|| files.key.clone()), ..files };
            Ok(match order.run(project, known, rules, &files, replace, work)? {
                Ordered::Published(published) => releases::published(&files, &published, expansion.as_ref()),
                Ordered::No(no) => releases::not_published(&no),
            })
        }
        "verify" => Ok(releases::checked(&reader.verify()?.run(work)?)),
        "attack" => {
            let (order, worst, show_values) = reader.attack()?;
            Ok(documents::attacked(&order.run(None, work)?, worst, show_values))
        }
        "risk" => Ok(documents::risk(&reader.risk()?.run(Some(project), work)?)),
        "histogram" => {
            let (order, charts) = (reader.histogram()?, reader.charts()?);
            reader.finish()?;
            let of = order.run(project, known, work)?;
            Ok(with_charts(studies::histogram(&of), charts.then(|| (figures::histograms(&of), Vec::new()))))
        }
        "study" => {
            let charts = reader.charts()?;
            Ok(match reader.study()? {
                AnyStudy::Deal(order) => studies::deal(&order.run(Some(project), known, work)?),
                AnyStudy::Lattice(order) => {
                    let study = order.run(project, known, work)?;
                    with_charts(studies::lattice(&study), charts.then(|| (study_lattice::figures(&study), Vec::new())))
                }
                AnyStudy::Requests(order) => {
                    let study = order.run(project, known, work)?;
                    with_charts(
                        study_requests::document(&study),
                        charts.then(|| {
                            let ways = Sheet::new(
                                "ways",
                                "Every way",
                                &study_requests::SUMMARY_HEADER,
                                study_requests::summary_rows(&study),
                            );
                            let answers = Sheet::new(
                                "answers",
                                "Every answer",
                                &study_requests::HEADER,
                                study_requests::rows(&study),
                            );
                            (study_requests::figures(&study), vec![ways, answers])
                        }),
                    )
                }
                AnyStudy::Local(order) => {
                    let study = order.run(project, known, work)?;
                    with_charts(
                        study_local::document(&study),
                        charts.then(|| {
                            let table =
                                Sheet::new("local", "All numbers", &study_local::HEADER, study_local::rows(&study));
                            (study_local::figures(&study), vec![table])
                        }),
                    )
                }
                AnyStudy::Records(order) => {
                    let study = order.run(project, known, work)?;
                    with_charts(
                        study_records::document(&study),
                        charts.then(|| {
                            let searches = Sheet::new(
                                "searches",
                                "What the searches look at",
                                &study_records::HEADER,
                                study_records::rows(&study),
                            );
                            let beside = Sheet::new(
                                "beside",
                                "Beside schemes",
                                &study_records::BESIDE_HEADER,
                                study_records::beside_rows(&study),
                            );
                            (study_records::figures(&study), vec![searches, beside])
                        }),
                    )
                }
                AnyStudy::Suppression(order, per_scheme) => {
                    let study = order.run(project, known, work)?;
                    with_charts(
                        studies::suppression(&study, per_scheme),
                        charts.then(|| {
                            let table = Sheet::new(
                                "suppression",
                                "All numbers",
                                &studies::SUPPRESSION_HEADER,
                                studies::suppression_rows(&study),
                            );
                            (figures::suppression(&study), vec![table])
                        }),
                    )
                }
            })
        }
        other => Err(unknown(ErrorKind::Request, "verb", other, &VERBS)),
    }
}

/// A document with pictures beside its numbers, where they are wanted.
fn with_charts(mut document: Value, drawn: Option<(Vec<Figure>, Vec<Sheet>)>) -> Value {
    if let Some((figures, tables)) = drawn {
        document["charts"] = figures::document(&figures);
        document["tables"] = figures::tables(&tables);
    }
    document
}
