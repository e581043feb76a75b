//! Results as JSON documents, the same words for `--json`, HTTP and Python.

use incrowd::attack::{Gain, Hit, Linkage};
use incrowd::recode::per_record::Risk;
use incrowd::risk::people::Members;
use incrowd::risk::special_uniques::AttributeShare;
use incrowd::risk::weighted::Expected;
use incrowd::risk::{AttackerView, Contribution};
use incrowd::scheme::n_schemes;
use incrowd::search::frontier::Bargain;
use incrowd::utility::association::Association;
use incrowd::utility::distribution::Distribution;
use incrowd::utility::preview::Utility;
use incrowd::utility::regression::{Coefficient, Estimate, Model};
use incrowd::wire::{self, rounded};
use incrowd::{Criteria, GroupCounts, Lattice, Measure, Offer};
use serde_json::{Map, Value, json};

use crate::input::count::{Counted, Material};
use crate::note::{Note, TooMuch};
use crate::orders::annotate::{Annotated, HeightSummary, TreeGroup, by_height};
use crate::orders::attack::{Attacked, FoundInRelease, Release, UnknownValues, Unread};
use crate::orders::compare::Compared;
use crate::orders::contenders::{Contender, ContenderResult, Weighed};
use crate::orders::count::{Combined, Statement};
use crate::orders::frontier::Bargains;
use crate::orders::frontier_local::LocalBargains;
use crate::orders::map::{self, MapPoint, Mapped, shown};
use crate::orders::negotiate::{Negotiated, Where};
use crate::orders::risk::{NamedUniques, Told};
use crate::words::answers;
use crate::words::notes::{Front, in_words};
use crate::words::releases::beside;

/// An answer, with what is proved of it.
pub fn negotiated(negotiated: &Negotiated) -> Value {
    let Negotiated { request, answer, found, explanation, without, n_looked_at, time, floors: _ } = negotiated;
    let scope = negotiated.scope();
    let mut document = answers::answer(scope, request, answer);
    if !without.is_empty() {
        let written = |(attribute, offer): &(usize, Offer)| {
            let mut written = answers::offer(scope, offer);
            written["attribute"] = json!(scope.hierarchies()[*attribute].attribute());
            written
        };
        document["offers"]["without"] = without.iter().map(written).collect();
    }
    // The same question gets the same document, so that what a search took is told where somebody asks for it.
    if explanation.is_some() {
        document["search"] = json!({ "n_looked_at": n_looked_at, "seconds": wire::rounded(time.as_secs_f64()) });
    }
    match found {
        Where::Whole(_) => {}
        Where::Partial(lattice, found) => document["partial"] = wire::partial(lattice, found),
        Where::OnDemand(searched) => document["on_demand"] = wire::on_demand(&searched.found),
    }
    if let Some((lattice, explanation)) = explanation {
        document["explanation"] = wire::explanation(lattice, explanation);
    }
    document
}

/// A tree of groups that was made; whoever asks for one gets it, and with `per_group` every group of it.
pub fn grown(annotated: &Annotated, per_group: bool) -> Value {
    let counts = &annotated.counted.counts;
    let mut document = json!({
        "local": true,
        "n_records": counts.n_records(),
        "n_dropped": counts.n_dropped(),
        "n_combinations": counts.n_groups(),
        "n_nodes": annotated.tree.as_ref().map(|tree| tree.shape().n_nodes()),
    });
    if per_group {
        document["groups"] = tree_groups(annotated);
    }
    document
}

/// Every group of a tree: what it would be if it were published.
fn tree_groups(annotated: &Annotated) -> Value {
    let names: Vec<&str> = annotated.counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let sensitive = annotated.counted.sensitive_names();
    let of_attributes =
        |values: Vec<Value>| -> Map<String, Value> { names.iter().map(|name| name.to_string()).zip(values).collect() };
    let group = |group: TreeGroup| {
        let measures: Vec<Measure> = group.reached.iter().map(|(measure, _)| *measure).collect();
        let reached: Map<String, Value> = group
            .reached
            .iter()
            .map(|&(measure, value)| (wire::key_among(measure, &measures, &sensitive), wire::number(measure, value)))
            .collect();
        json!({
            "parent": group.parent,
            "n_records": group.n_records,
            "loss": rounded(group.loss),
            "loss_of": of_attributes(group.loss_of.iter().map(|&share| json!(rounded(share))).collect()),
            "reached": reached,
            "cells": of_attributes(group.cells.into_iter().map(Value::from).collect()),
        })
    };
    annotated.groups().into_iter().map(group).collect()
}

/// The bargains over local recoding, the least private first.
pub fn local_frontier(found: &LocalBargains) -> Value {
    let LocalBargains { counted, tree, request, measure, bargains } = found;
    let name = wire::key(*measure, &counted.sensitive_names());
    let bargain = |bargain: &incrowd::recode::tree::frontier::Bargain| {
        json!({
            &name: wire::number(*measure, bargain.value),
            "n_suppressed": bargain.n_suppressed,
            "loss": wire::rounded(bargain.ncp),
            "loss_at_least": wire::rounded(bargain.ncp_at_least),
            "n_groups": bargain.n_groups,
        })
    };
    json!({
        "over": &name,
        "local": true,
        "request": answers::local_request(counted, request),
        "n_records": counted.counts.n_records(),
        "n_dropped": counted.counts.n_dropped(),
        "n_nodes": tree.shape().n_nodes(),
        "bargains": bargains.iter().map(bargain).collect::<Vec<_>>(),
    })
}

/// Notes with their facts, and in the words of a front.
pub fn notes(notes: &[Note], front: Front) -> Value {
    notes
        .iter()
        .map(|note| {
            let mut document = facts(note);
            document.insert("code".into(), json!(note.code()));
            document.insert("text".into(), json!(in_words(note, front)));
            Value::Object(document)
        })
        .collect()
}

fn facts(note: &Note) -> Map<String, Value> {
    let facts = match note {
        Note::Encoding { encoding } => json!({ "encoding": encoding }),
        Note::Sheet { sheet, n_sheets } => json!({ "sheet": sheet, "n_sheets": n_sheets }),
        Note::UnreadableColumns { columns } => json!({ "columns": columns }),
        Note::Unreadable { attribute, n_cells } => json!({ "attribute": attribute, "n_cells": n_cells }),
        Note::UnknownValues { attribute, n_cells, is_other } => json!({
            "attribute": attribute,
            "n_cells": n_cells,
            "read_as": if *is_other { "other" } else { "missing" },
        }),
        Note::Dropped { n_records, n_all } => json!({ "n_records": n_records, "n_all": n_all }),
        Note::Repeating { column, n_records, n_different, is_exact } => json!({
            "column": column,
            "n_records": n_records,
            "n_different": n_different,
            "is_exact": is_exact,
        }),
        Note::BeyondPerPerson { n_records, n_max } => json!({ "n_records": n_records, "n_max": n_max }),
        Note::Strangers { attribute, n_values } => json!({ "attribute": attribute, "n_values": n_values }),
        Note::NoHierarchy { attribute, n_values, n_not_numbers } => {
            json!({ "attribute": attribute, "n_values": n_values, "n_not_numbers": n_not_numbers })
        }
        Note::NoSteps { attribute } => json!({ "attribute": attribute }),
        Note::NotWhole { part, n_schemes, why } => json!({
            "extent": if part.is_some() { "partial" } else { "on-demand" },
            "share": part.map(|(share, _)| share),
            "estimator": part.map(|(_, estimator)| estimator),
            "n_schemes": n_schemes,
            "why": match why {
                TooMuch::Memory { .. } => "memory",
                TooMuch::Minutes { .. } => "time",
                TooMuch::Refused(_) => "refused",
            },
        }),
        Note::OnDemandAfterAll { .. } | Note::DataNotHere => json!({}),
        Note::Updated { n_appended, n_removed } => json!({ "n_appended": n_appended, "n_removed": n_removed }),
        Note::NotPromised { method } | Note::LevelsIgnored { method } => json!({ "method": method }),
        Note::KsLeftOut { ks, n_records } => json!({ "ks": ks, "n_records": n_records }),
        Note::KsBeyond { ks } => json!({ "ks": ks }),
        Note::SchemesNotDrawn { n_max } => json!({ "n_max": n_max }),
        Note::Beside(told) => beside(told),
        Note::MuchLost { ncp, instead } => json!({
            "ncp": rounded(*ncp),
            "instead": instead.map(|(method, ncp)| json!({ "method": method, "ncp": rounded(ncp) })),
        }),
        Note::MoreBeside { n } => json!({ "n": n }),
        Note::TriviallyDiverse { attribute, n_values, n_records, levels } => json!({
            "attribute": attribute,
            "n_values": n_values,
            "n_records": n_records,
            "levels": levels.iter().map(|(name, n)| (name.clone(), json!(n))).collect::<Map<String, Value>>(),
        }),
    };
    match facts {
        Value::Object(facts) => facts,
        _ => Map::new(),
    }
}

/// What was found; values of the data only where `show_values` allows it.
pub fn attacked(attacked: &Attacked, worst: usize, show_values: bool) -> Value {
    let shown = |release: &Release, place: usize| {
        let group = &release.groups[place];
        let mut value = json!({ "n_records": group.size });
        if show_values {
            let cells = release.quasi_identifiers.iter().cloned().zip(group.cells.iter().map(|cell| json!(cell)));
            value["cells"] = Value::Object(cells.collect());
            value["values"] = group
                .values
                .iter()
                .map(|values| {
                    let named = values.iter().map(|(value, n)| (value.clone().unwrap_or_default(), json!(n)));
                    Value::Object(named.collect())
                })
                .collect();
        }
        value
    };
    let hit = |release: &Release, hit: &Hit| {
        let groups: Vec<Value> = hit.groups.iter().take(worst).map(|&place| shown(release, place)).collect();
        json!({ "n_groups": hit.n_groups, "n_records": hit.n_records, "worst": groups })
    };
    let gain = |release: &Release, gain: &Option<Gain>| match gain {
        None => Value::Null,
        Some(gain) => {
            let mut value = json!({
                "prior": rounded(gain.prior), "posterior": rounded(gain.posterior),
                "times": rounded(gain.posterior / gain.prior), "group": shown(release, gain.group),
            });
            if show_values {
                value["value"] = json!(gain.value);
            }
            value
        }
    };
    let of_attribute = |release: &Release, name: &String, found: &FoundInRelease| {
        json!({
            "attribute": name,
            "homogeneity": hit(release, &found.homogeneity),
            "similarity": found.similarity.as_ref().map(|levels| {
                levels.iter().map(|level| hit(release, level)).collect::<Vec<Value>>()
            }),
            "skewness": {
                "most": gain(release, &found.skewness.most),
                "steepest": gain(release, &found.skewness.steepest),
                "best_guess": rounded(found.skewness.best_guess),
                "best_guess_before": rounded(found.skewness.best_guess_before),
            },
        })
    };
    let release = |(release, found): (&Release, &Vec<FoundInRelease>)| {
        let of = attacked.sensitive.iter().zip(found).map(|(name, found)| of_attribute(release, name, found));
        json!({
            "file": release.path.display().to_string(),
            "n_records": release.groups.iter().map(|group| group.size).sum::<u64>(),
            "n_groups": release.groups.len(),
            "n_absent": release.n_absent,
            "sensitive": of.collect::<Vec<Value>>(),
        })
    };
    let of_linkage = |(name, found): (&String, &Linkage)| {
        json!({
            "attribute": name,
            "n_outside": found.n_outside,
            "n_without": found.n_without,
            "n_one_group": found.n_one_group,
            "n_several_groups": found.n_several_groups,
            "n_one_record": found.n_one_record,
            "n_one_person": found.n_one_person,
            "n_certain": found.n_certain,
            "n_certain_together": found.n_certain_together,
        })
    };
    let linkages = attacked.linked.as_ref().and_then(|linked| linked.linkages.as_ref());
    let linkages =
        linkages.map(|linkages| attacked.sensitive.iter().zip(linkages).map(of_linkage).collect::<Vec<Value>>());
    let unread = |unread: &Unread| {
        json!({
            "attribute": unread.attribute, "n_cells": unread.n_cells, "n_cells_read": unread.n_cells_read,
            "has_midpoints": unread.has_midpoints,
        })
    };
    let unknown = |unknown: &UnknownValues| {
        json!({
            "attribute": unknown.attribute, "n_values": unknown.n_values, "n_people": unknown.n_people,
            "n_people_without": unknown.n_people_without,
        })
    };
    let (not_known, unknown): (Vec<Value>, Vec<Value>) =
        attacked.linked.as_ref().map_or_else(Default::default, |linked| {
            (linked.unread.iter().map(unread).collect(), linked.unknown.iter().map(unknown).collect())
        });
    json!({
        "releases": attacked.releases.iter().zip(&attacked.found).map(release).collect::<Vec<Value>>(),
        "is_certain": attacked.is_certain(),
        "linkage": linkages,
        "linkage_not_known": not_known,
        "unknown_outside": unknown,
    })
}

/// How likely people are to be found.
pub fn risk(told: &Told) -> Value {
    let Told { found, estimate, contributions, threshold, n_dropped, population, .. } = told;
    let view = |view: &AttackerView| -> Value {
        json!({ "highest": rounded(view.highest), "average": rounded(view.average), "n_at_risk": view.n_at_risk })
    };
    let of_attribute = |c: &Contribution| {
        json!({
            "attribute": c.attribute,
            "n_unique_alone": c.n_unique_alone,
            "average_alone": rounded(c.average_alone),
            "n_unique_without": c.n_unique_without,
            "average_without": rounded(c.average_without),
        })
    };
    json!({
        "n_records": found.n_records,
        "n_people": found.n_people,
        "n_dropped": n_dropped,
        "n_groups": found.n_groups,
        "threshold": threshold,
        "prosecutor": view(&found.prosecutor),
        "journalist": view(&found.journalist),
        "marketer": rounded(found.marketer),
        "population": population.in_words(),
        "n_people_estimated": told.n_people.map(rounded),
        "individual": expected(&told.individual),
        "household": told.households.as_ref().map(|households| {
            let mut value = expected(&households.found);
            value["n_households"] = json!(households.n_households);
            value
        }),
        "n_unique": found.n_unique,
        "n_unique_in_population": found.n_unique_in_population,
        "n_unique_in_population_estimated": estimate.map(rounded),
        "n_alone_by_all_records": told.n_alone_by_all_records,
        "attributes": contributions.iter().map(of_attribute).collect::<Vec<_>>(),
        "special_uniques": told.special_uniques.as_ref().map(|uniques| special_uniques(uniques, told.show_values)),
        // Its name alone: a path tells about the machine.
        "per_record": told.written.as_ref().and_then(|path| path.file_name()).map(|name| name.to_string_lossy()),
    })
}

/// Records together, each by itself.
fn expected(found: &Expected) -> Value {
    json!({
        "highest": rounded(found.highest),
        "average": rounded(found.average),
        "n_at_risk": found.n_at_risk,
        "expected_reidentifications": rounded(found.n_found),
    })
}

/// On what records stand alone; values of the data only where `show_values` allows it.
fn special_uniques(uniques: &NamedUniques, show_values: bool) -> Value {
    let found = &uniques.found;
    let all = || found.uniques.iter().flatten();
    let of_attribute = |(a, share): (usize, &AttributeShare)| {
        let mut value = json!({
            "attribute": uniques.attributes[a],
            "percent": rounded(share.percent),
            "n_values": share.of_values.len(),
        });
        if show_values {
            let of_value = |(code, percent): &(u32, f64)| json!({ "value": uniques.values[a][*code as usize], "percent": rounded(*percent) });
            value["values"] = share.of_values.iter().map(of_value).collect();
        }
        value
    };
    json!({
        "size_max": found.size_max,
        "n_special": found.n_special(),
        "n_sets_of_size": found.n_sets_of_size,
        "highest_score": all().map(|unique| unique.score).fold(0.0, f64::max),
        "fraction": rounded(found.fraction),
        "dis": rounded(found.dis),
        "highest_dis_score": rounded(all().map(|unique| unique.dis_score).fold(0.0, f64::max)),
        "n_of_dis_score": in_tenths(all().map(|unique| unique.dis_score)),
        "attributes": found.shares.iter().enumerate().map(of_attribute).collect::<Vec<_>>(),
    })
}

/// How many probabilities are above 0 and at most 0.1, above that and at most 0.2, and so on.
fn in_tenths(probabilities: impl Iterator<Item = f64>) -> [u64; 10] {
    let mut n_of = [0; 10];
    probabilities.for_each(|p| n_of[((p * 10.0).ceil() as usize).clamp(1, 10) - 1] += 1);
    n_of
}

/// Every bargain that no other beats.
pub fn frontier(found: &Bargains) -> Value {
    let Bargains { lattice, privacy, measure, ranking, n_suppressed_max, bargains } = found;
    let name = wire::key(*measure, &wire::sensitive_names(lattice));
    let names: Vec<&str> = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let bargain = |bargain: &Bargain| {
        let scheme = lattice.schemes().scheme(bargain.place);
        json!({
            &name: wire::number(*measure, bargain.value),
            "n_suppressed": bargain.n_suppressed,
            "loss": wire::rounded(bargain.loss),
            "n_groups": bargain.n_groups,
            "height": scheme.height(),
            "levels": wire::levels(&names, &scheme),
        })
    };
    json!({
        "over": &name,
        "best_by": ranking.name(),
        "criteria": wire::criteria(&privacy.criteria, &privacy.sensitive),
        "max_suppressed": n_suppressed_max,
        "n_records": lattice.n_records(),
        "n_dropped": lattice.n_dropped(),
        "n_schemes": lattice.n_schemes(),
        "n_annotated": lattice.schemes().len(),
        "bargains": bargains.iter().map(bargain).collect::<Vec<_>>(),
    })
}

/// What one method made of the table.
pub fn contender(row: &ContenderResult, counted: &Counted) -> Value {
    let names: Vec<&str> = counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute()).collect();
    let sensitive = counted.sensitive_names();
    let ncp = names.iter().zip(&row.judgement.ncp_of_attribute);
    let ncp: Map<String, Value> = ncp.map(|(name, ncp)| (name.to_string(), json!(wire::rounded(*ncp)))).collect();
    let reached = row.reached(counted).into_iter().map(|(measure, value)| {
        let value = value.map_or(Value::Null, |value| wire::number(measure, value));
        (wire::key(measure, &sensitive), value)
    });
    let error = |median: f64, percentile_90: f64| json!({ "median": wire::rounded(median), "p90": wire::rounded(percentile_90) });
    let mut of_queries = error(row.error.0, row.error.1);
    let by_kind = row.error_by_kind.iter().map(|(draw, median, percentile_90)| {
        let mut kind = error(*median, *percentile_90);
        kind["n_attributes"] = json!(draw.n_attributes);
        kind["selectivity"] = json!(draw.selectivity);
        kind["n_queries"] = json!(draw.n_queries);
        kind
    });
    of_queries["by_kind"] = by_kind.collect();
    let own = row.own_error.as_ref().map(|(median, percentile_90, answers)| {
        let mut own = error(*median, *percentile_90);
        let answer = |&(exact, estimated): &(u64, f64)| json!([exact, wire::rounded(estimated)]);
        own["answers"] = answers.iter().map(answer).collect();
        own
    });
    let risk = row.risk(counted).map(|(highest, average)| json!({ "highest": highest, "average": average }));
    json!({
        "method": row.contender.name(),
        "title": row.contender.title(),
        "k": row.k(),
        "choice": row.choice,
        "holds": row.holds,
        "promises_k": row.contender.promises_k(),
        "best_by": match row.contender {
            Contender::Global(quality) => Some(quality.name()),
            Contender::Local(_) | Contender::PerRecord(..) => None,
        },
        "levels": row.scheme.as_ref().map(|(scheme, _)| wire::levels(&names, scheme)),
        "loss": match &row.scheme {
            Some((_, losses)) => wire::losses(losses),
            None => wire::losses_of_judgement(&row.judgement),
        },
        "ncp_of_attribute": ncp,
        "n_groups": row.judgement.n_groups,
        "n_suppressed": row.judgement.n_suppressed,
        "reached": Value::Object(reached.collect()),
        "risk": risk,
        "query_error": of_queries,
        "own_query_error": own,
        "analyses": row.utility.as_ref().map(analyses),
        "seconds": row.cost.seconds,
        "cpu_seconds": row.cost.cpu_seconds,
        "peak_bytes": row.cost.peak_bytes,
    })
}

/// What becomes of what analysts look at.
pub fn analyses(utility: &Utility) -> Value {
    let all = |values: &[f64]| values.iter().map(|value| rounded(*value)).collect::<Vec<_>>();
    let distribution = |one: &Distribution| {
        json!({ "attribute": one.attribute, "distance": rounded(one.distance), "classes": one.classes,
                "before": all(&one.before), "after": all(&one.after) })
    };
    let association = |one: &Association| {
        json!({ "attributes": [one.attributes.0, one.attributes.1], "measure": one.kind.name(),
                "before": rounded(one.before), "after": rounded(one.after) })
    };
    let estimate =
        |one: &Estimate| json!({ "value": rounded(one.value), "low": rounded(one.low), "high": rounded(one.high) });
    let coefficient = |one: &Coefficient| {
        json!({ "attribute": one.attribute, "category": one.category, "before": estimate(&one.before),
                "after": one.after.as_ref().map(estimate), "overlap": rounded(one.overlap) })
    };
    let target = utility.target.as_ref().map(|target| {
        let (model, category) = match &target.regression.model {
            Model::LeastSquares => ("least squares", None),
            Model::Logistic(category) => ("logistic", Some(category)),
        };
        json!({
            "attribute": target.attribute,
            "accuracy": {
                "after": rounded(target.accuracy.after),
                "before": rounded(target.accuracy.before),
                "baseline": rounded(target.accuracy.baseline),
                "n_classes": target.accuracy.n_classes,
            },
            "regression": {
                "model": model,
                "category": category,
                "overlap": rounded(target.regression.overlap),
                "coefficients": target.regression.coefficients.iter().map(coefficient).collect::<Vec<_>>(),
            },
        })
    });
    json!({
        "mean_distance": rounded(utility.mean_distance()),
        "most_changed": utility.most_changed().map(association),
        "distributions": utility.distributions.iter().map(distribution).collect::<Vec<_>>(),
        "associations": utility.associations.iter().map(association).collect::<Vec<_>>(),
        "target": target,
    })
}

/// What each method would make of the table.
pub fn compared(compared: &Compared) -> Value {
    let names: Vec<String> =
        compared.counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
    let weighed = compared.weighed.as_ref().map(|weighing| {
        let step = |step: &Weighed| {
            json!({
                "weight": step.weight,
                "ncp": wire::rounded(step.ncp),
                "ncp_of_others": wire::rounded(step.ncp_of_others),
                "query_error": wire::rounded(step.error),
                "query_error_of_others": wire::rounded(step.error_of_others),
            })
        };
        json!({
            "attribute": names[weighing.attribute],
            "method": weighing.method.name(),
            "k": weighing.k,
            "steps": weighing.steps.iter().map(step).collect::<Vec<_>>(),
        })
    });
    json!({
        "n_records": compared.counted.counts.n_records(),
        "criteria": wire::criteria(&compared.privacy.criteria, &compared.privacy.sensitive),
        "max_suppressed": compared.n_suppressed_max,
        "weights": Value::Object(
            names.iter().cloned().zip(compared.counted.weights()).map(|(name, w)| (name, json!(w))).collect()
        ),
        "seed": compared.seed,
        "rows": compared.rows.iter().map(|row| contender(row, &compared.counted)).collect::<Vec<_>>(),
        "varied_weight": weighed,
    })
}

/// Every release as a point of risk and utility.
pub fn mapped(mapped: &Mapped) -> Value {
    let Mapped { places, lines, utility } = mapped;
    let of_place = |place: &MapPoint| -> Value {
        let risks = Risk::ALL.iter().zip(place.risks).map(|(risk, of)| (risk.name().to_string(), json!(rounded(of))));
        json!({ "series": place.series, "name": place.name, "levels": place.levels,
                "made_for": place.made_for.map(Risk::name),
                "utility": rounded(place.utility), "risk": Value::Object(risks.collect()) })
    };
    json!({
        "utility_model": utility.name(),
        "utility_at_least": lines.0.map(rounded),
        "risk_at_most": lines.1,
        "points": places.iter().map(of_place).collect::<Vec<_>>(),
        "frontier": Risk::ALL.iter().enumerate().map(|(r, risk)| {
            let frontier: Vec<Value> = map::frontier(shown(places, *risk), r).into_iter().map(of_place).collect();
            (risk.name().to_string(), json!(frontier))
        }).collect::<Map<_, _>>(),
    })
}

/// What was counted.
pub fn counted(counted: &Counted) -> Value {
    let counts = &counted.counts;
    let attributes = counted.hierarchies.iter().map(|hierarchy| {
        let n_values: Vec<usize> = hierarchy.levels().iter().map(|level| level.len()).collect();
        json!({ "attribute": hierarchy.attribute(), "kind": hierarchy.kind().name(), "n_values_per_level": n_values })
    });
    json!({
        "n_records": counts.n_records(),
        "n_dropped": counts.n_dropped(),
        "n_groups": counts.n_groups(),
        "n_cells": counts.n_cells(),
        "n_people": counted.counts.people().map(|people| people.len()),
        "n_unique": n_unique(&counted.counts),
        "n_schemes": n_schemes(&counted.hierarchies),
        "sensitive": counted.sensitive.first().map(|attribute| &attribute.name),
        "n_sensitive": counts.sensitive().first().map(|domain| domain.len()),
        "attributes": attributes.collect::<Vec<_>>(),
    })
}

/// A statement that counts elsewhere, and what it is about.
pub fn statement(statement: &Statement) -> Value {
    let Statement { combinations, dialect, table, sql } = statement;
    let column = |column: &Combined| json!({ "name": column.name, "only_presence": column.only_presence });
    json!({
        "sql": sql,
        "dialect": dialect.name(),
        "table": table,
        "columns": combinations.columns.iter().map(column).collect::<Vec<Value>>(),
        "missing": combinations.missing,
        "counted": combinations.number,
    })
}

/// Records that no other record is like; where people are counted, those who stand alone in one of their groups.
pub fn n_unique(counts: &GroupCounts) -> u64 {
    match Members::of_counts(counts) {
        Some(members) => members.n_alone(),
        None => (0..counts.n_groups()).filter(|&group| counts.size(group) == 1).count() as u64,
    }
}

/// A lattice: a line per height, and every scheme where that is asked for.
///
/// `more` are the same criteria with other k: what they lose stands under `more`, in the same form.
pub fn annotated_for(lattice: &Lattice, criteria: &Criteria, more: &[Criteria], per_scheme: bool) -> Value {
    let mut document = annotated(lattice, criteria, per_scheme);
    if !more.is_empty() {
        let of = |criteria: &Criteria| {
            let mut of = annotated(lattice, criteria, per_scheme);
            if let Value::Object(object) = &mut of {
                object.retain(|key, _| ["criteria", "heights", "schemes"].contains(&key.as_str()));
            }
            of
        };
        document["more"] = more.iter().map(of).collect();
    }
    document
}

/// A lattice and what each height of it, or each scheme, would lose.
pub fn annotated(lattice: &Lattice, criteria: &Criteria, per_scheme: bool) -> Value {
    let names: Vec<&str> = lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let spread = |(min, avg, max): (u64, f64, u64)| json!({ "min": min, "avg": avg, "max": max });
    let height = |summary: &HeightSummary| {
        let mut object = Map::new();
        object.insert("height".into(), json!(summary.height));
        object.insert("n_schemes".into(), json!(summary.n_schemes));
        object.insert("n_groups".into(), spread(summary.n_groups));
        if !criteria.is_empty() {
            object.insert("n_suppressed".into(), spread(summary.n_suppressed));
        }
        Value::Object(object)
    };
    let scheme = |place: usize| {
        let scheme = lattice.schemes().scheme(place);
        let profile = lattice.profile(place);
        let mut object = Map::new();
        object.insert("levels".into(), wire::levels(&names, &scheme));
        object.insert("height".into(), json!(scheme.height()));
        object.insert("n_groups".into(), json!(profile.n_groups()));
        object.insert("smallest_group".into(), json!(lattice.smallest_group(place)));
        if !criteria.is_empty() {
            object.insert("n_suppressed".into(), json!(lattice.n_suppressed(place, criteria)));
        }
        Value::Object(object)
    };
    let mut object = Map::new();
    object.insert("n_records".into(), json!(lattice.n_records()));
    object.insert("n_dropped".into(), json!(lattice.n_dropped()));
    object.insert("n_schemes".into(), json!(lattice.n_schemes()));
    object.insert("extent".into(), json!(if lattice.selection().is_some() { "partial" } else { "full" }));
    if let Some(selection) = lattice.selection() {
        object.insert("n_annotated".into(), json!(lattice.schemes().len()));
        object.insert("share".into(), json!(selection.share));
        object.insert("estimator".into(), json!(selection.estimator.name()));
    }
    object.insert("n_bytes".into(), json!(lattice.n_bytes()));
    object.insert("n_looks".into(), json!(lattice.signatures().len()));
    object.insert("criteria".into(), Value::Object(wire::criteria(criteria, &wire::sensitive_names(lattice))));
    object.insert("heights".into(), by_height(lattice, criteria).iter().map(height).collect());
    if per_scheme {
        object.insert("schemes".into(), (0..lattice.schemes().len()).map(scheme).collect());
    }
    Value::Object(object)
}

/// What there is to say where nothing is annotated.
pub fn only_counted(counted: &Material) -> Value {
    json!({
        "extent": "on-demand",
        "n_schemes": n_schemes(&counted.hierarchies),
        "n_annotated": 0,
        "n_records": counted.counts.n_records(),
        "n_groups": counted.counts.n_groups(),
    })
}
