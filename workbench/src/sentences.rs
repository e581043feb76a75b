//! The sentences that every front says to people: what is asked, offered, given up and promised.

use incrowd::criterion::{MILLION, NEVER};
use incrowd::lattice::Scope;
pub use incrowd::number::{counted_words, grouped, percent};
use incrowd::search::negotiate::decimal;
use incrowd::wire::{self, Dealt, DealtAttribute, HowFound, key, sensitive_names};
use incrowd::{Answer, Criterion, Lattice, Measure, Offer, Request};
use serde_json::{Value, json};

/// An offer as JSON, with its one sentence in words.
pub fn offer(scope: &Scope, offer: &Offer) -> Value {
    let mut object = wire::offer(scope, offer);
    object["in_words"] = json!(in_words(scope, offer));
    object
}

/// The answer to a request as JSON, with a sentence for every offer that says what it means, and what it gives up.
pub fn answer(scope: &Scope, asked: &Request, answer: &Answer) -> Value {
    let mut object = wire::answer(scope, asked, answer);
    match answer {
        Answer::Exact(exact) => object["exact"]["in_words"] = json!(in_words(scope, exact)),
        Answer::Offers(offers) => {
            let say = |object: &mut Value, offer: &Offer| {
                object["in_words"] = json!(in_words(scope, offer));
                object["concession"] = json!(concession(scope, asked, offer));
            };
            let said = &mut object["offers"];
            say(&mut said["suppression"], &offers.suppression);
            offers.height.iter().for_each(|offer| say(&mut said["height"], offer));
            offers.privacy.iter().for_each(|offer| say(&mut said["privacy"], offer));
            let alternatives = said.get_mut("privacy_alternatives").and_then(Value::as_array_mut);
            for (object, offer) in alternatives.into_iter().flatten().zip(&offers.privacy_alternatives) {
                say(object, offer);
            }
        }
    }
    object
}

/// One sentence that says what an offer means.
pub fn in_words(scope: &Scope, offer: &Offer) -> String {
    let changed: Vec<String> = scope
        .hierarchies()
        .iter()
        .enumerate()
        .filter(|(a, _)| offer.scheme.level(*a) > 0)
        .map(|(a, hierarchy)| format!("{} {}", hierarchy.attribute(), hierarchy.level(offer.scheme.level(a)).phrase()))
        .collect();
    let what = match changed.is_empty() {
        true => "publish every value as it is".to_string(),
        false => format!("publish with {}", changed.join(", ")),
    };
    let lost = match offer.n_suppressed {
        0 => "lose no record".to_string(),
        n => {
            format!("lose {} of {} records ({})", grouped(n), grouped(scope.n_records()), percent(n, scope.n_records()))
        }
    };
    let names = sensitive_names(scope);
    let promise: Vec<String> = offer.criteria.iter().map(|criterion| promise_in_words(criterion, &names)).collect();
    match offer.n_groups {
        0 => format!("{what}: no group keeps the promise, so nothing would be left to publish"),
        1 => format!("{what}, {lost}; a single group, with {}", promise.join(" and ")),
        n => format!("{what}, {lost}; {} groups, each with {}", grouped(n), promise.join(" and ")),
    }
}

/// One sentence that says what an offer gives up of a request.
pub fn concession(scope: &Scope, asked: &Request, offer: &Offer) -> String {
    let mut given_up = Vec::new();
    if offer.n_suppressed > asked.n_suppressed_max {
        let (lost, most) = (counted_words(offer.n_suppressed, "record"), grouped(asked.n_suppressed_max));
        given_up.push(format!("lose {lost} instead of at most {most}"));
    }
    for (a, hierarchy) in scope.hierarchies().iter().enumerate() {
        let (level, most) = (offer.scheme.level(a), asked.level_max.level(a));
        if level > most {
            let phrase = |level: usize| hierarchy.level(level).phrase();
            given_up.push(format!("{} {} instead of {}", hierarchy.attribute(), phrase(level), phrase(most)));
        }
    }
    let names = sensitive_names(scope);
    for (wanted, given) in asked.criteria.iter().zip(offer.criteria.iter()) {
        if given != wanted {
            let (given, instead) = (criterion_in_words(given, &names), number_in_words(wanted.measure, wanted.value));
            given_up.push(format!("{given} instead of {instead}"));
        }
    }
    match given_up.is_empty() {
        true => "nothing is given up".to_string(),
        false => given_up.join(", "),
    }
}

/// A value of a measure, for people.
pub fn number_in_words(measure: Measure, value: u64) -> String {
    match value {
        NEVER => "none".to_string(),
        value if measure.is_count() => grouped(value),
        value => decimal(value),
    }
}

/// `k = 10`, `income:t = 0.2`, `(2,3)-diversity`: a criterion as it is asked for.
pub fn criterion_in_words(criterion: Criterion, sensitive: &[String]) -> String {
    let name = key(criterion.measure, sensitive);
    let value = number_in_words(criterion.measure, criterion.value);
    match criterion.measure {
        Measure::Recursive { l, .. } => format!("{name} = {value},{l}"),
        _ => format!("{name} = {value}"),
    }
}

/// What a criterion promises about every published group, to follow the words "each with".
pub fn promise_in_words(criterion: Criterion, sensitive: &[String]) -> String {
    let Criterion { measure, value } = criterion;
    let of = match measure.sensitive() {
        Some(s) if sensitive.len() > 1 => sensitive[s].as_str(),
        _ => "sensitive",
    };
    let values = |n: u64| match of {
        "sensitive" => counted_words(n, "sensitive value"),
        name => format!("{} of {name}", counted_words(n, "value")),
    };
    let distribution = match of {
        "sensitive" => "sensitive values".to_string(),
        name => format!("values of {name}"),
    };
    let number = number_in_words(measure, value);
    match measure {
        Measure::Size => format!("at least {} alike", counted_words(value, "record")),
        Measure::Population => format!("at least {} people of the population alike", grouped(value)),
        Measure::Distinct(_) => format!("at least {}", values(value)),
        Measure::Share(_) => format!("no more than {} of one of the {distribution}", percent(value, MILLION)),
        Measure::Entropy(_) => format!("{distribution} as uncertain as {number} equally frequent ones"),
        Measure::Recursive { l, .. } => format!("({number},{l})-diverse {distribution}"),
        Measure::Closeness(_) => format!("{distribution} within {number} of the table's"),
        Measure::Disclosure(_) => {
            format!("{distribution} less than e^{number} times as likely or unlikely as in the table")
        }
        Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
            format!("{distribution} more likely by at most {} of their share in the table", percent(value, MILLION))
        }
    }
}

/// How many schemes a lattice has, and where it is partial, of how many and which.
pub fn schemes_in_words(lattice: &Lattice) -> String {
    let n = grouped(lattice.schemes().len() as u64);
    match lattice.selection() {
        None => format!("{n} schemes"),
        Some(selection) => {
            let n_all = lattice.n_schemes().map_or("over 10^19".to_string(), grouped);
            format!("{n} of {n_all} schemes (a partial lattice, the most promising by {})", selection.estimator.name())
        }
    }
}

/// The best of all schemes, found in the whole lattice.
pub fn found_in_whole_lattice(n_schemes: u64) -> HowFound {
    HowFound {
        extent: "full".to_string(),
        n_schemes: Some(n_schemes),
        n_looked_at: n_schemes,
        is_optimal: true,
        loss_at_least: None,
        statement: match n_schemes {
            1 => "Optimal: there is one scheme only".to_string(),
            n => format!("Optimal: the best of all {} schemes", grouped(n)),
        },
    }
}

/// How evenly values were dealt: for each sensitive attribute, and for all of them together.
pub fn dealt_in_words(dealt: &Dealt) -> String {
    let of_attribute = |of: &DealtAttribute| format!("{} for {}", of.most_differ, of.attribute);
    let each: Vec<String> = dealt.attributes.iter().map(of_attribute).collect();
    let together = dealt.most_differ_together.map_or(String::new(), |n| format!(", {n} for their combination"));
    format!(
        "dealt to {} {}: between any two of them, counts of a value differ by at most {}{together}",
        grouped(dealt.n_classes),
        if dealt.n_classes == 1 { "class" } else { "classes" },
        each.join(", ")
    )
}
