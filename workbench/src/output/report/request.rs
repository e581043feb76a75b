//! What was asked, which offer was taken, and which wishes that meets.

use incrowd::criterion::{Criterion, Measure};
use incrowd::recode::method::Method;
use incrowd::wire;
use incrowd::wire::{CertifiedWish, Dealt, DealtAttribute, Distances, Distribution, PerRecord, PerRecordOutcome};

use super::facts::Facts;
use super::text::{counted, name};
use super::verdict::promised;
use crate::output::page::escape;
use crate::sentences::{grouped, number_in_words};

/// What was asked and which answer was taken, as a sentence.
pub(super) fn taken(facts: &Facts) -> String {
    let is_cut = facts.certificate.method == Method::Negotiated.name();
    match facts.certificate.choice.as_str() {
        "exact" if is_cut => {
            "Everything asked for could be met; of all cuts of the tree of groups that do it, one that loses least was taken."
                .to_string()
        }
        "exact" if facts.account.search.as_ref().is_some_and(|search| !search.is_optimal) => {
            "Everything asked for could be met; the best scheme that was found was taken.".to_string()
        }
        "exact" => "Everything asked for could be met; the best scheme that does it was taken.".to_string(),
        "suppression" => not_all_met("suppresses more records than asked"),
        "height" => not_all_met("generalizes further than asked"),
        "loss" => not_all_met("loses more of the values than asked"),
        "privacy" => not_all_met("promises less privacy than asked"),
        "levels" => "The levels were chosen by hand.".to_string(),
        "method" if facts.certificate.per_record.is_some() => {
            "Every record was generalized on its own, and no record was suppressed.".to_string()
        }
        "method" => format!(
            "Every group was generalized on its own, with the method “{}”, and {}.",
            escape(&facts.certificate.method),
            match facts.certificate.n_records_suppressed {
                0 => "no record was suppressed".to_string(),
                n => format!("{} suppressed", were(n)),
            }
        ),
        other => format!("The answer taken was “{}”.", escape(other)),
    }
}

pub(super) fn request(facts: &Facts) -> String {
    let taken = taken(facts);
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
             <thead><tr><th scope=\"col\">Term</th><th scope=\"col\">Asked</th><th scope=\"col\">Given</th>\
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
        let Distances { equal, ordered } = attribute.emd;
        format!(
            "<li>{}: counts of a value differ by at most {} between any two of the {}. Every group has at least {} \
             different values; {} were within reach. Distance of a group to the release: {:.3} on average and at most \
             {:.3} with all values equally far apart, {:.3} and {:.3} in order.</li>\n",
            name(&attribute.attribute),
            attribute.most_differ,
            counted(dealt.n_classes, "class", "classes"),
            grouped(attribute.fewest_distinct),
            grouped(attribute.diversity_within_reach),
            equal.mean,
            equal.greatest,
            ordered.mean,
            ordered.greatest,
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

fn were(n: u64) -> String {
    let verb = if n == 1 { "was" } else { "were" };
    format!("{} {verb}", counted(n, "record", "records"))
}

fn not_all_met(concession: &str) -> String {
    format!("Not everything asked for could be met together. Of the offers, the one that {concession} was taken.")
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
    let wish = |wish: CertifiedWish| match wish {
        CertifiedWish::Criterion(Criterion { measure: Measure::Size, value }) => {
            let wish = if certificate.person.is_empty() { "Records alike (k)" } else { "People alike (k)" };
            at_least(wish, value, promised.value(Measure::Size))
        }
        CertifiedWish::Criterion(Criterion { measure: Measure::Distinct(0), value })
            if certificate.sensitive.len() == 1 =>
        {
            at_least("Different sensitive values (l)", value, promised.value(Measure::Distinct(0)))
        }
        CertifiedWish::Criterion(asked) => criterion_wish(facts, asked),
        CertifiedWish::Suppressed(n) => {
            at_most("Records suppressed".to_string(), n, Some(certificate.n_records_suppressed))
        }
        CertifiedWish::Level { attribute, level } => {
            at_most(format!("Level of {}", name(&attribute)), level, certificate.level(&attribute))
        }
        CertifiedWish::Loss { attribute, share } => loss_wish(facts, attribute.as_deref(), share),
        CertifiedWish::Other { name, asked } => {
            Wish { wish: escape(&name), asked: escape(&asked), given: String::new(), is_met: None }
        }
        _ => Wish { wish: String::new(), asked: String::new(), given: String::new(), is_met: None },
    };
    certificate.wishes().into_iter().map(wish).collect()
}

/// What records may lose on average, in all or of one attribute; a suppressed one loses everything.
fn loss_wish(facts: &Facts, of: Option<&str>, asked: f64) -> Wish {
    let certificate = facts.certificate;
    let of_attribute = |name: &str| {
        let published = facts.attributes.iter().find(|known| known.name == name)?.ncp;
        let (n, n_lost) = (certificate.n_records_published as f64, certificate.n_records_suppressed as f64);
        Some((published * n + n_lost) / (n + n_lost))
    };
    let given = of.map_or(Some(facts.account.loss.ncp()), of_attribute);
    let share = |share: f64| format!("{:.2}\u{202f}%", share * 100.0);
    Wish {
        wish: of.map_or("Detail lost, in all".to_string(), |of| format!("Detail lost of {}", name(of))),
        asked: format!("at most {}", share(asked)),
        given: given.map_or("unknown".to_string(), share),
        // Losses are counted in steps, and told with as many digits as are certain.
        is_met: given.map(|given| given <= asked + 1e-6),
    }
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

fn at_least(wish: &str, asked: u64, given: Option<u64>) -> Wish {
    Wish {
        wish: wish.to_string(),
        asked: format!("at least {}", grouped(asked)),
        given: given.map_or("no promise".to_string(), grouped),
        is_met: Some(given.is_some_and(|given| given >= asked)),
    }
}

fn at_most(wish: String, asked: u64, given: Option<u64>) -> Wish {
    Wish {
        wish,
        asked: format!("at most {}", grouped(asked)),
        given: given.map_or("unknown".to_string(), grouped),
        is_met: given.map(|given| given <= asked),
    }
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
