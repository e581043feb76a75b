//! What was asked, which offer was taken, and which wishes that meets.

use incrowd::criterion::{Criterion, Measure};
use incrowd::wire;
use incrowd::wire::{Dealt, DealtAttribute, Distribution, PerRecord, PerRecordOutcome, criterion_of};
use serde_json::Value;

use super::facts::Facts;
use super::text::{counted, name};
use super::verdict::promised;
use crate::output::page::escape;
use crate::sentences::{grouped, number_in_words};

pub(super) fn request(facts: &Facts) -> String {
    let taken = match facts.certificate.choice.as_str() {
        "exact" if facts.account.search.as_ref().is_some_and(|search| !search.is_optimal) => {
            "All wishes could be met; the best scheme that was found was taken.".to_string()
        }
        "exact" => "All wishes could be met; the best scheme that meets them was taken.".to_string(),
        "suppression" => not_all_met("suppresses more records than wished"),
        "height" => not_all_met("generalizes further than wished"),
        "privacy" => not_all_met("promises less privacy than wished"),
        "levels" => "The levels were chosen by hand.".to_string(),
        "method" if facts.certificate.per_record.is_some() => {
            "Every record was generalized on its own, and no record was suppressed.".to_string()
        }
        "method" => format!(
            "Every group was generalized on its own, with the method “{}”, and no record was suppressed.",
            escape(&facts.certificate.method)
        ),
        other => format!("The answer taken was “{}”.", escape(other)),
    };
    let search = match &facts.account.search {
        Some(search) => format!("<p>How the scheme was found: {}.</p>\n", escape(&search.statement)),
        None => String::new(),
    };
    let dealt = facts.certificate.dealt.as_ref().map_or(String::new(), dealt_in_words);
    let per_record = facts.certificate.per_record.as_ref().zip(facts.account.per_record.as_ref());
    let per_record = per_record.map_or(String::new(), |(wanted, outcome)| per_record_in_words(wanted, outcome));
    let rows: String = wishes(facts).iter().map(wish_row).collect();
    let table = match rows.is_empty() {
        true => "<p>No request was recorded.</p>\n".to_string(),
        false => format!(
            "<table class=\"wishes\">\n<caption>The request as understood, beside what the release gives</caption>\n\
             <thead><tr><th scope=\"col\">Wish</th><th scope=\"col\">Asked</th><th scope=\"col\">Given</th>\
             <th scope=\"col\"><span class=\"unseen\">Met</span></th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
        ),
    };
    format!(
        "<section>\n<h2>What was asked, and which offer was taken</h2>\n<p>{taken}</p>\n{search}{dealt}{per_record}{table}</section>\n"
    )
}

/// What dealing guarantees, for each sensitive attribute.
fn dealt_in_words(dealt: &Dealt) -> String {
    let of_attribute = |attribute: &DealtAttribute| {
        let distance = |kind: &str, what: &str| attribute.emd[kind][what].as_f64().unwrap_or(0.0);
        format!(
            "<li>{}: counts of a value differ by at most {} between any two of the {}. Every group has at least {} \
             different values; {} were within reach. Distance of a group to the release: {:.3} on average and at most \
             {:.3} with all values equally far apart, {:.3} and {:.3} in order.</li>\n",
            name(&attribute.attribute),
            attribute.most_differ,
            counted(dealt.n_classes, "class", "classes"),
            grouped(attribute.fewest_distinct),
            grouped(attribute.diversity_within_reach),
            distance("equal", "mean"),
            distance("equal", "greatest"),
            distance("ordered", "mean"),
            distance("ordered", "greatest"),
        )
    };
    let together = dealt
        .most_differ_together
        .map_or(String::new(), |n| format!("<li>Counts of a combination of all of them differ by at most {n}.</li>\n"));
    let items: String = dealt.attributes.iter().map(of_attribute).collect();
    format!("<p>Sensitive values were dealt evenly:</p>\n<ul>\n{items}{together}</ul>\n")
}

/// What was wanted of each record, and what it came to.
fn per_record_in_words(per_record: &PerRecord, outcome: &PerRecordOutcome) -> String {
    let row = |name: &str, of: &Distribution| {
        let numbers = [of.least, of.quarter, of.median, of.three_quarters, of.greatest, of.mean];
        let cells: String = numbers.iter().map(|number| format!("<td>{number}</td>")).collect();
        format!("<tr><th scope=\"row\">{}</th>{cells}</tr>\n", escape(name))
    };
    let below = match outcome.n_records_below {
        0 => String::new(),
        n => format!("<p>Grouping left {} below the utility asked for.</p>\n", counted(n, "record", "records")),
    };
    format!(
        "<p><strong>{}</strong></p>\n<table>\n<caption>Risk ({}) and utility ({}, {} at most) of the records, from the \
         source</caption>\n<thead><tr><th></th><th scope=\"col\">least</th><th scope=\"col\">quarter</th>\
         <th scope=\"col\">median</th><th scope=\"col\">three quarters</th><th scope=\"col\">greatest</th>\
         <th scope=\"col\">mean</th></tr></thead>\n<tbody>\n{}{}</tbody>\n</table>\n{below}",
        escape(&per_record.statement),
        escape(&per_record.risk_model),
        escape(&per_record.utility_model),
        outcome.greatest_utility,
        row("risk", &outcome.risk),
        row("utility", &outcome.utility),
    )
}

fn not_all_met(concession: &str) -> String {
    format!("Not all wishes could be met together. Of the offers, the one that {concession} was taken.")
}

/// One wish of a request; all texts are safe to print.
struct Wish {
    wish: String,
    asked: String,
    given: String,
    /// Unknown for wishes that this page cannot compare.
    is_met: Option<bool>,
}

fn wishes(facts: &Facts) -> Vec<Wish> {
    let certificate = facts.certificate;
    let promised = promised(facts);
    let Some(request) = certificate.request.as_object() else {
        return Vec::new();
    };
    let mut wishes = Vec::new();
    for (key, asked) in request {
        match (key.as_str(), asked) {
            ("k", _) => {
                let wish = if certificate.person.is_empty() { "Records alike (k)" } else { "People alike (k)" };
                wishes.push(at_least(wish, asked, promised.value(Measure::Size)));
            }
            ("l", _) => {
                wishes.push(at_least("Different sensitive values (l)", asked, promised.value(Measure::Distinct(0))));
            }
            ("best_by", _) => {}
            ("max_suppressed", _) => {
                wishes.push(at_most("Records suppressed".to_string(), asked, Some(certificate.n_records_suppressed)));
            }
            ("max_level", Value::Object(levels)) => wishes.extend(levels.iter().map(|(attribute, asked)| {
                let level = certificate.levels.get(attribute).and_then(Value::as_u64);
                at_most(format!("Level of {}", name(attribute)), asked, level)
            })),
            _ if criterion_of(key, asked, &certificate.sensitive).is_some() => {
                wishes
                    .extend(criterion_of(key, asked, &certificate.sensitive).map(|asked| criterion_wish(facts, asked)));
            }
            _ => wishes.push(Wish {
                wish: escape(key),
                asked: escape(&asked.to_string()),
                given: String::new(),
                is_met: None,
            }),
        }
    }
    wishes
}

fn criterion_wish(facts: &Facts, asked: Criterion) -> Wish {
    let given = promised(facts).value(asked.measure);
    let words = |value: u64| number_in_words(asked.measure, value);
    let bound = if asked.measure.is_at_least() { "at least" } else { "at most" };
    Wish {
        wish: escape(&wire::key(asked.measure, &facts.certificate.sensitive)),
        asked: format!("{bound} {}", words(asked.value)),
        given: given.map_or("no promise".to_string(), words),
        is_met: Some(given.is_some_and(|given| asked.holds(given))),
    }
}

fn at_least(wish: &str, asked: &Value, given: Option<u64>) -> Wish {
    Wish {
        wish: wish.to_string(),
        asked: format!("at least {}", number_of(asked)),
        given: given.map_or("no promise".to_string(), grouped),
        is_met: asked.as_u64().map(|asked| given.is_some_and(|given| given >= asked)),
    }
}

fn at_most(wish: String, asked: &Value, given: Option<u64>) -> Wish {
    Wish {
        wish,
        asked: format!("at most {}", number_of(asked)),
        given: given.map_or("unknown".to_string(), grouped),
        is_met: asked.as_u64().zip(given).map(|(asked, given)| given <= asked),
    }
}

fn number_of(value: &Value) -> String {
    value.as_u64().map_or_else(|| escape(&value.to_string()), grouped)
}

fn wish_row(wish: &Wish) -> String {
    let met = match wish.is_met {
        Some(true) => "<span class=\"chip good\">✓ met</span>",
        Some(false) => "<span class=\"chip warn\">given up</span>",
        None => "",
    };
    let Wish { wish, asked, given, .. } = wish;
    format!("<tr><th scope=\"row\">{wish}</th><td>{asked}</td><td>{given}</td><td class=\"end\">{met}</td></tr>\n")
}
