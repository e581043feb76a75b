//! Releases as JSON documents: what was published and why nothing was, what only the signer knows, what was judged.

use incrowd::Criterion;
use incrowd::wire::{self, Certificate};
use serde_json::{Map, Value, json};

use crate::input::source::{Replaced, Top};
use crate::note::Beside;
use crate::orders::per_record::{Outcome, PER_RECORD};
use crate::orders::publish::{Expansion, Files, No, Published};
use crate::orders::verify::Checked;
use crate::output::account::{Account, Loss, PeopleAccount};
use crate::words::answers;

/// A release that has its name.
pub fn published(files: &Files, published: &Published, expansion: Option<&Expansion>) -> Value {
    let Published { certificate, account, .. } = published;
    let mut said = json!({
        "published": true,
        "release": files.release.display().to_string(),
        "certificate": files.certificate.display().to_string(),
        "report": files.report.display().to_string(),
        "method": certificate.method,
        "choice": certificate.choice,
        "levels": certificate.levels,
        "criteria": reached(account, certificate),
        "n_records_published": certificate.n_records_published,
        "n_records_suppressed": certificate.n_records_suppressed,
        "n_records_dropped": certificate.n_records_dropped,
        "n_records_left_out": certificate.n_records_left_out,
        "n_groups": certificate.n_groups,
        "smallest_group": certificate.smallest_group,
        "loss": loss(&account.loss),
        "order": certificate.order,
        "beside": account.beside.iter().map(beside).collect::<Vec<Value>>(),
    });
    if let Some(people) = &account.people {
        said["people"] = people_of(people);
    }
    if let Some(number) = &certificate.counted {
        said["counted"] = json!(number);
    }
    if let Some(expansion) = expansion {
        said["sql"] = json!(expansion.statement(files, certificate));
    }
    if let (Some(per_record), Some(outcome)) = (&certificate.per_record, &account.per_record) {
        let (mut all, outcome) = (json!(per_record), json!(outcome));
        all.as_object_mut().into_iter().for_each(|all| all.extend(outcome.as_object().cloned().unwrap_or_default()));
        said["per_record"] = all;
    }
    if let Some(dealt) = &certificate.dealt {
        said["dealt"] = dealt.summary();
    }
    if let Some(search) = &account.search {
        said["search"] = json!(search);
    }
    said
}

/// What only the signer of a release knows.
pub fn account(account: &Account, certificate: &Certificate) -> Value {
    json!({
        "key": account.key.to_text(),
        "files": account.files,
        "loss": loss(&account.loss),
        "search": account.search,
        "criteria": reached(account, certificate),
        "per_record": account.per_record,
        "beside": account.beside.iter().map(beside).collect::<Vec<Value>>(),
        "people": account.people.as_ref().map(people_of),
        "cells": replaced_cells(account),
    })
}

/// The criteria with what is promised and what is reached, those included that compare with the source.
pub fn reached(account: &Account, certificate: &Certificate) -> Map<String, Value> {
    wire::promised_and_reached(&account.criteria, &certificate.sensitive, |_| true)
}

fn loss(loss: &Loss) -> Value {
    match loss {
        Loss::OfScheme(losses) => wire::losses(losses),
        Loss::OfCells { ncp, discernibility, group_size } => wire::losses_of_cells(*ncp, *discernibility, *group_size),
    }
}

fn people_of(people: &PeopleAccount) -> Value {
    json!({
        "n": people.n,
        "n_lost": people.n_lost,
        "smallest_group": people.smallest_group,
        "n_alone_by_all_records": people.n_alone_by_all_records,
    })
}

/// What was replaced, by column.
fn replaced_cells(account: &Account) -> Value {
    let mut all = Map::new();
    for Replaced { column, n_unreadable, n_unknown, .. } in &account.replaced {
        if n_unreadable + n_unknown > 0 {
            all.insert(column.clone(), json!({ "n_unreadable": n_unreadable, "n_unknown": n_unknown }));
        }
    }
    for Top { column, from, n_cells } in &account.tops {
        let of_column = all.entry(column.clone()).or_insert_with(|| json!({}));
        of_column["top"] = json!({ "from": from.to_string(), "n_cells": n_cells });
    }
    Value::Object(all)
}

/// What columns tell beside the promise.
pub fn beside(beside: &Beside) -> Value {
    match beside {
        Beside::Tells(telling) => json!({
            "code": beside.code(),
            "columns": telling.columns,
            "attribute": telling.attribute,
            "level": telling.level,
            "level_name": telling.level_name,
            "k": telling.k,
            "effective_k": telling.effective_k,
            "n_below": telling.n_below,
            "n_below_by_chance": telling.n_below_by_chance,
            "n_told": telling.n_told,
            "n_shared": telling.n_shared,
            "n_records": telling.n_records,
            "nearly_certain": telling.is_nearly_certain,
            "of": if telling.counts_people { "people" } else { "records" },
        }),
        Beside::RareValues { column, n_records, n_all, k } => {
            json!({ "code": beside.code(), "column": column, "n_records": n_records, "n_all": n_all, "k": k })
        }
    }
}

/// What was found in the file of a release, beside what its certificate says.
pub fn verdict(published: &Published) -> Value {
    wire::verdict(&published.verdict, &published.certificate.sensitive, &published.claims)
}

/// A table that was judged.
pub fn checked(checked: &Checked) -> Value {
    let mut document = wire::verdict(&checked.judged.verdict, &checked.sensitive, &checked.claims);
    if let Some(why) = checked.judged.why_not_judged {
        document["why_not_judged"] = json!(why);
    }
    if !checked.count_at.is_empty() {
        document["count_at"] = checked.count_at.iter().map(|(name, level)| (name.clone(), json!(level))).collect();
    }
    document
}

/// Why nothing was published.
pub fn not_published(no: &No) -> Value {
    match no {
        No::NoSuchAnswer(answered) => {
            let (scope, request, _, answer, _) = &**answered;
            answers::answer(scope, request, answer)
        }
        No::NoSuchCut(answered) => answers::locally_negotiated(&answered.0),
        No::TooManyLost { n_suppressed, n_records } => {
            json!({ "published": false, "n_suppressed": n_suppressed, "n_records": n_records })
        }
        No::Missed(made) => {
            let reached = made.missed().into_iter().map(|(Criterion { measure, .. }, reached, _)| {
                (wire::key(measure, &made.sensitive), wire::number(measure, reached))
            });
            json!({
                "published": false,
                "method": made.local.method.name(),
                "criteria": wire::criteria(&made.criteria, &made.sensitive),
                "missed": Value::Object(reached.collect()),
            })
        }
        No::NotPossible(Outcome::OutOfReach { greatest_utility, n_records }) => json!({
            "published": false, "method": PER_RECORD, "greatest_utility": greatest_utility,
            "n_records_out_of_reach": n_records,
        }),
        No::NotPossible(Outcome::TooRisky { n_records }) => {
            json!({ "published": false, "method": PER_RECORD, "n_records_too_risky": n_records })
        }
        No::NotPossible(Outcome::Made(_)) => json!({ "published": false }),
        No::Broken(published) => verdict(published),
    }
}
