//! The sentences that every front says to people: what is asked, offered, given up and promised.

use incrowd::criterion::{MILLION, NEVER};
use incrowd::error::{Piece, Step, Wording};
use incrowd::lattice::Scope;
use incrowd::number::Crowd;
pub use incrowd::number::{counted_words, grouped, people_in_words, percent};
use incrowd::search::request::decimal;
use incrowd::wire::{Dealt, DealtAttribute, HowFound, key, sensitive_names};
use incrowd::{Criterion, Error, Lattice, Measure, Offer, Request};

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
    let lost = match offer.n_people_lost {
        None | Some(0) => lost,
        Some(n) => format!("{lost}, among them all records of {} of {} people", grouped(n), grouped(scope.crowd().n())),
    };
    let lost = match scope.n_dropped() {
        0 => lost,
        n => format!("{lost}, besides {} dropped for missing values", grouped(n)),
    };
    let names = sensitive_names(scope);
    let promise: Vec<String> =
        offer.criteria.iter().map(|criterion| promise_in_words(criterion, &names, scope.crowd())).collect();
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
pub fn promise_in_words(criterion: Criterion, sensitive: &[String], crowd: Crowd) -> String {
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
        Measure::Size if matches!(crowd, Crowd::People(_)) => match value {
            1 => "at least 1 person".to_string(),
            n => format!("at least {} people alike", grouped(n)),
        },
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

/// A text of an error whose settings stand in braces, to be worded by the front: `give {k}, or {certificate=FILE}`.
///
/// Settings of the project file have their section before them: `{data.missing}`, `{data.other=drop}`, `{role=sensitive}`;
/// those of an attribute `{attribute.unknown=missing}`. What is said by one entry of its own is `{:round=100}`.
pub fn hint(template: &'static str) -> Wording {
    let mut made = Wording::text("");
    for (i, part) in template.split(['{', '}']).enumerate() {
        made = match (i % 2, part.split_once('=')) {
            (0, _) => made.and(part),
            (_, Some((key, value))) if key.starts_with(':') => made.step(Step::Entry { key: &key[1..], value }),
            (_, Some((name, value))) => made.example(name, value),
            (_, None) => made.setting(part),
        };
    }
    made
}

/// A value as JSON and Python write it.
pub fn quoted_unless_number(value: &str) -> String {
    if value.parse::<f64>().is_ok() { value.to_string() } else { format!("\"{value}\"") }
}

/// A text of an error as it is typed on the command line, and written into the project file.
pub fn for_command_line(wording: &Wording) -> String {
    let step = |step: &Step| match step {
        Step::NameSensitive => "give one attribute role = \"sensitive\" in incrowd.toml".to_string(),
        Step::NameQuasiIdentifier => "give at least one attribute role = \"quasi-identifier\"".to_string(),
        Step::ChangeRole => "change its role in incrowd.toml".to_string(),
        Step::PublishUnique => "say unique = \"publish\" of the attribute".to_string(),
        Step::PublishTelling => "say tells = \"accepted\" of the attribute".to_string(),
        Step::DropColumn => {
            "drop the column: give it role = \"identifier\", or leave it unnamed with other = \"drop\"".to_string()
        }
        Step::NamePopulation => "name a table of the population under [data] population in incrowd.toml".to_string(),
        Step::AddPopulation => "add population = \"population.csv\" under [data]".to_string(),
        Step::AskAbout { criterion, attribute, value } => format!("{} {attribute}:{value}", flag(criterion)),
        Step::NameMissing => "name what means \"no value\" in [data] missing".to_string(),
        Step::RaiseWeight => "raise a weight in incrowd.toml".to_string(),
        Step::SetForAll => ", or set them under [request]".to_string(),
        Step::ShowLevels(name) => format!("see them with: incrowd hierarchy show {name}"),
        Step::ShowAbsent(name) => {
            format!("see them with: incrowd hierarchy show {name} PROJECT --absent --show-values")
        }
        Step::Annotate { over: false } => "incrowd annotate -o FILE".to_string(),
        Step::Annotate { over: true } => "incrowd annotate -o FILE --force".to_string(),
        Step::Append => "incrowd annotate --append new.csv adult.crowd".to_string(),
        Step::MakeProject => "incrowd init DATA.csv".to_string(),
        Step::Entry { key, value } => format!("{{ {key} = {} }}", quoted_unless_number(value)),
        Step::Intervals => "{ intervals = [5, 10, 20], origin = 0 }".to_string(),
        Step::Cuts => "{ cuts = [[18, 30, 45, 65], [18, 65]] }".to_string(),
        Step::Mask => "{ mask = 5 } or { mask = [1, 3] }".to_string(),
        Step::Dates => "{ dates = [\"month\", \"quarter\", \"year\", \"decade\"] }".to_string(),
        step => step.to_string(),
    };
    wording.worded(|piece| match piece {
        Piece::Setting(name) => match name.split_once('.') {
            Some(("attribute", key)) => key.to_string(),
            Some((section, key)) => format!("[{section}] {key}"),
            None if *name == "data" => "[data]".to_string(),
            None => flag(name),
        },
        Piece::Example(name, value) => match key_in_file(name) {
            Some(key) => format!("{key} = \"{value}\""),
            None => format!("{} {value}", flag(name)),
        },
        Piece::Step(said) => step(said),
        piece => unworded(piece),
    })
}

fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// What a setting of the project file is called there; none where it is a setting of an order.
fn key_in_file(name: &str) -> Option<&str> {
    match name.split_once('.') {
        Some((_, key)) => Some(key),
        None => (name == "role").then_some(name),
    }
}

/// A text of an error as fields of a request over HTTP, or what the page calls them.
pub fn for_http(wording: &Wording) -> String {
    let step = |step: &Step| match step {
        Step::NameSensitive => "give one attribute the role \"sensitive\"".to_string(),
        Step::NameQuasiIdentifier => "give at least one attribute the role \"quasi-identifier\"".to_string(),
        Step::PublishUnique => "give the attribute \"unique\": \"publish\"".to_string(),
        Step::PublishTelling => "give the attribute \"tells\": \"accepted\"".to_string(),
        Step::DropColumn => "drop the column: give it the role \"identifier\"".to_string(),
        Step::AddPopulation => "give the data a \"population\"".to_string(),
        Step::AskAbout { criterion, attribute, value } => match value.split_once(',') {
            Some((c, l)) => format!("\"{attribute}:{criterion}\": {{\"c\": {c}, \"l\": {l}}}"),
            None => format!("\"{attribute}:{criterion}\": {value}"),
        },
        Step::ShowLevels(name) | Step::ShowAbsent(name) => format!("see the hierarchy of {name}"),
        Step::Annotate { over: false } => "the order annotate and an \"output\"".to_string(),
        Step::Annotate { over: true } => "the order annotate, its \"output\" and \"force\": true".to_string(),
        Step::Append => "the order update with \"lattice\" and \"append\"".to_string(),
        Step::MakeProject => "/api/v1/open and the path of a table".to_string(),
        Step::Entry { key, value } => format!("{{\"{key}\": {}}}", quoted_unless_number(value)),
        step @ (Step::Intervals | Step::Cuts | Step::Mask | Step::Dates) => for_command_line(&step.clone().into()),
        step => step.to_string(),
    };
    wording.worded(|piece| match piece {
        Piece::Setting(name) => name.strip_prefix("attribute.").unwrap_or(name).to_string(),
        Piece::Example("role", value) => format!("the role \"{value}\""),
        Piece::Example("recursive", value) => {
            let (c, l) = value.split_once(',').unwrap_or((value, value));
            format!("\"recursive\": {{\"c\": {c}, \"l\": {l}}}")
        }
        Piece::Example(name, value) => {
            format!("\"{}\": {}", key_in_file(name).unwrap_or(name), quoted_unless_number(value))
        }
        Piece::Step(said) => step(said),
        piece => unworded(piece),
    })
}

/// A text of an error as Python's keywords and functions.
pub fn for_python(wording: &Wording) -> String {
    let step = |step: &Step| match step {
        Step::NameSensitive => "name it with Table(…, sensitive=…)".to_string(),
        Step::NameQuasiIdentifier => "name at least one with Table(…, quasi_identifiers=…)".to_string(),
        Step::ChangeRole => "change its role in Table(…)".to_string(),
        Step::PublishUnique => "name it with Table(…, publish_unique=…)".to_string(),
        Step::PublishTelling => "name it with Table(…, publish_telling=…)".to_string(),
        Step::DropColumn => "drop the column: name it with Table(…, identifiers=…), or do not name it".to_string(),
        Step::NamePopulation | Step::AddPopulation => "give it with Table(…, population=…)".to_string(),
        Step::AskAbout { criterion, attribute, value } => match value.contains(',') {
            true => format!("{criterion}={{\"{attribute}\": ({value})}}"),
            false => format!("{criterion}={{\"{attribute}\": {value}}}"),
        },
        Step::NameMissing => "name what means \"no value\" in missing".to_string(),
        Step::ShowLevels(name) => format!("see them with: table.hierarchy(\"{name}\")"),
        Step::ShowAbsent(name) => format!("see them with: table.hierarchy(\"{name}\").absent"),
        Step::Annotate { over: false } => "table.order(\"annotate\", output=…)".to_string(),
        Step::Annotate { over: true } => "table.order(\"annotate\", output=…, force=True)".to_string(),
        Step::Append => "table.order(\"update\", lattice=\"adult.crowd\", append=\"new.csv\")".to_string(),
        Step::MakeProject => "incrowd.init(\"DATA.csv\")".to_string(),
        Step::Entry { key, value } => format!("{{\"{key}\": {}}}", quoted_unless_number(value)),
        Step::Intervals => "intervals(5, 10, 20, origin=0)".to_string(),
        Step::Cuts => "cuts([18, 30, 45, 65], [18, 65])".to_string(),
        Step::Mask => "mask(5) or mask([1, 3])".to_string(),
        Step::Dates => "dates(\"month\", \"quarter\", \"year\", \"decade\")".to_string(),
        step => step.to_string(),
    };
    wording.worded(|piece| match piece {
        Piece::Setting("data") => "how the data are read".to_string(),
        Piece::Setting("force") => "force=True".to_string(),
        Piece::Setting("lambda") => "lambda_=".to_string(),
        Piece::Setting(name) => match name.split_once('.') {
            Some(("request", key)) => format!("{key} of the standing request"),
            _ => format!("{}=", key_in_file(name).unwrap_or(name)),
        },
        Piece::Example("role", value) => match value.as_str() {
            "sensitive" | "person" | "other" => format!("the role of Table(…, {value}=…)"),
            role => format!("the role of Table(…, {}s=…)", role.replace('-', "_")),
        },
        Piece::Example("recursive", value) => format!("recursive=({value})"),
        Piece::Example(name, value) => match key_in_file(name) {
            Some(key) => format!("{key}=\"{value}\""),
            None => format!("{name}={value}"),
        },
        Piece::Step(said) => step(said),
        piece => unworded(piece),
    })
}

/// What an engine says that is newer than these words.
fn unworded(piece: &Piece) -> String {
    Wording::text("").with(piece.clone()).to_string()
}

/// An error as the command line prints it: position, message, and the hint on a line of its own.
pub fn error_for_command_line(error: &Error) -> String {
    let position = error.position().map_or(String::new(), |position| format!("{}: ", for_command_line(position)));
    let hint = error.hint_given().map_or(String::new(), |hint| format!("\nhint: {}", for_command_line(hint)));
    format!("{position}{}{hint}", for_command_line(error.message()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_named_as_each_front_names_them() {
        let hint = hint("give {max_suppressed=1%}, or leave out {two_columns}");
        assert_eq!(for_command_line(&hint), "give --max-suppressed 1%, or leave out --two-columns");
        assert_eq!(for_python(&hint), "give max_suppressed=1%, or leave out two_columns=");
        assert_eq!(for_http(&hint), "give \"max_suppressed\": \"1%\", or leave out two_columns");
    }

    #[test]
    fn the_project_file_is_the_command_line_s() {
        let hint = hint("check {data.missing}, give one {role=sensitive}, keep it with {data.other=keep}, take {k=10}");
        let typed = "check [data] missing, give one role = \"sensitive\", keep it with other = \"keep\", take --k 10";
        assert_eq!(for_command_line(&hint), typed);
        let called =
            "check missing=, give one the role of Table(…, sensitive=…), keep it with other=\"keep\", take k=10";
        assert_eq!(for_python(&hint), called);
        let sent =
            "check data.missing, give one the role \"sensitive\", keep it with \"other\": \"keep\", take \"k\": 10";
        assert_eq!(for_http(&hint), sent);
    }

    #[test]
    fn what_an_attribute_says_is_written_as_each_front_writes_it() {
        let hint = hint("one of {:round=100} and {:level=month}; what is not known is {attribute.unknown=missing}");
        let typed = "one of { round = 100 } and { level = \"month\" }; what is not known is unknown = \"missing\"";
        assert_eq!(for_command_line(&hint), typed);
        let called = "one of {\"round\": 100} and {\"level\": \"month\"}; what is not known is unknown=\"missing\"";
        assert_eq!(for_python(&hint), called);
        let sent = "one of {\"round\": 100} and {\"level\": \"month\"}; what is not known is \"unknown\": \"missing\"";
        assert_eq!(for_http(&hint), sent);
    }

    /// One hint with a piece of every sort.
    fn hints() -> Vec<Wording> {
        let steps = [
            Step::NameSensitive,
            Step::NamePopulation,
            Step::NameMissing,
            Step::RaiseWeight,
            Step::SetForAll,
            Step::ShowLevels("age".into()),
            Step::ShowAbsent("age".into()),
            Step::Annotate { over: true },
            Step::Annotate { over: false },
            Step::Append,
            Step::MakeProject,
            Step::NameQuasiIdentifier,
            Step::ChangeRole,
            Step::PublishUnique,
            Step::PublishTelling,
            Step::DropColumn,
            Step::AddPopulation,
            Step::AskAbout { criterion: "l", attribute: "ill".into(), value: "2".into() },
            Step::Entry { key: "round", value: "100" },
            Step::Intervals,
            Step::Cuts,
            Step::Mask,
            Step::Dates,
        ];
        let settings = Wording::text("give ").setting("max_suppressed").and(", for example ").example("best_by", "ncp");
        steps.into_iter().map(Wording::from).chain([settings]).collect()
    }

    #[test]
    fn every_front_has_words_of_its_own_for_a_hint() {
        for hint in hints() {
            let [typed, called, sent] = [for_command_line, for_python, for_http].map(|word| word(&hint));
            assert!(!typed.contains('_') && !typed.contains("Table("), "{typed}");
            assert!(!called.contains("--") && !called.contains("incrowd ") && !called.contains("[data]"), "{called}");
            assert!(!sent.contains("incrowd") && !sent.contains("--") && !sent.contains("[data]"), "{sent}");
        }
        let hint = hints().pop().expect("there are some");
        assert_eq!(for_command_line(&hint), "give --max-suppressed, for example --best-by ncp");
        assert_eq!(for_python(&hint), "give max_suppressed=, for example best_by=ncp");
        assert_eq!(for_http(&hint), "give max_suppressed, for example \"best_by\": \"ncp\"");
        let message = Wording::text("").setting("two_columns").and(" is too much");
        let error = Error::new(incrowd::ErrorKind::Request, message).at("a.csv:1").hint(hint);
        let printed = "a.csv:1: --two-columns is too much\nhint: give --max-suppressed, for example --best-by ncp";
        assert_eq!(error_for_command_line(&error), printed);
    }
}
