//! The words that `--json`, files, HTTP and Python share: the only types here that are written and read as JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::criterion::{Criteria, Criterion, Measure, NEVER, ONE};
use crate::judge::Judgement;
use crate::lattice::{Lattice, Scope};
use crate::negotiate::{Answer, Explanation, Offer, Offers, Request, decimal};
use crate::on_demand::{Found, Proof};
use crate::quality::Losses;
use crate::scheme::Scheme;
use crate::verify::{Finding, Ruling, Verdict, Verifier};

/// A scheme as `{"age": 1, "race": 0}`, in the project's order of attributes.
pub fn levels(attributes: &[&str], scheme: &Scheme) -> Value {
    let entries = attributes.iter().zip(scheme.levels());
    Value::Object(entries.map(|(name, level)| (name.to_string(), json!(level.0))).collect())
}

/// Criteria as `{"k": 10, "l": 3}`; `sensitive` names the sensitive attributes of the run, in order.
pub fn criteria(criteria: &Criteria, sensitive: &[String]) -> Map<String, Value> {
    let entry = |criterion: Criterion| (key(criterion.measure, sensitive), value(criterion));
    criteria.iter().map(entry).collect()
}

/// The name of a criterion, with its sensitive attribute in front where there are several: `t`, `income:t`.
pub fn key(measure: Measure, sensitive: &[String]) -> String {
    match measure.sensitive() {
        Some(s) if sensitive.len() > 1 => format!("{}:{}", sensitive[s], measure.name()),
        _ => measure.name().to_string(),
    }
}

/// What a criterion asks for: a number, or `{"c": 2, "l": 3}`.
pub fn value(criterion: Criterion) -> Value {
    match criterion.measure {
        Measure::Recursive { l, .. } => json!({ "c": number(criterion.measure, criterion.value), "l": l }),
        measure => number(measure, criterion.value),
    }
}

/// A value of a measure; null where no value is reached.
pub fn number(measure: Measure, value: u64) -> Value {
    match value {
        NEVER => Value::Null,
        value if measure.is_count() => json!(value),
        // Whole numbers as such: 2, not 2.0.
        value if value % ONE == 0 => json!(value / ONE),
        value => json!(value as f64 / ONE as f64),
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
        Measure::Share(_) => format!("no more than {} of one of the {distribution}", percent(value, ONE)),
        Measure::Entropy(_) => format!("{distribution} as uncertain as {number} equally frequent ones"),
        Measure::Recursive { l, .. } => format!("({number},{l})-diverse {distribution}"),
        Measure::Closeness(_) => format!("{distribution} within {number} of the table's"),
        Measure::Disclosure(_) => {
            format!("{distribution} less than e^{number} times as likely or unlikely as in the table")
        }
        Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
            format!("{distribution} more likely by at most {} of their share in the table", percent(value, ONE))
        }
    }
}

fn attributes(scope: &Scope) -> Vec<&str> {
    scope.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect()
}

/// A request as it was understood.
pub fn request(scope: &Scope, request: &Request) -> Value {
    let mut object = criteria(&request.criteria, &sensitive_names(scope));
    object.insert("max_suppressed".into(), json!(request.n_suppressed_max));
    object.insert("max_level".into(), levels(&attributes(scope), &request.level_max));
    if !request.best_by.is_height() {
        object.insert("best_by".into(), json!(request.best_by.name()));
    }
    Value::Object(object)
}

/// The sensitive attributes of a scope.
pub fn sensitive_names(scope: &Scope) -> Vec<String> {
    scope.sensitive().iter().map(|(name, _)| name.clone()).collect()
}

/// What a release has lost, by every quality function that was computed.
pub fn losses(losses: &Losses) -> Value {
    let mut object = Map::new();
    object.insert("ncp".into(), json!(rounded(losses.ncp)));
    object.insert("discernibility".into(), large(losses.discernibility));
    object.insert("group_size".into(), json!(rounded(losses.group_size)));
    object.insert("precision".into(), json!(rounded(losses.precision)));
    if let Some(entropy) = losses.entropy {
        object.insert("entropy".into(), json!(rounded(entropy)));
    }
    Value::Object(object)
}

/// What a recoding loses, by the quality functions that need no levels.
pub fn losses_of_judgement(judgement: &Judgement) -> Value {
    json!({
        "ncp": rounded(judgement.ncp),
        "discernibility": large(judgement.discernibility),
        "group_size": rounded(judgement.mean_group_size),
    })
}

/// What a release itself shows of what was lost: how large the groups are in which records cannot be told apart.
pub fn losses_of_release(verdict: &Verdict) -> Value {
    json!({
        "discernibility": large(verdict.n_squares),
        "group_size": rounded(verdict.n_records as f64 / verdict.n_groups.max(1) as f64),
    })
}

/// A whole number, as exactly as JSON can say it.
fn large(n: u128) -> Value {
    u64::try_from(n).map_or_else(|_| json!(n as f64), |n| json!(n))
}

/// What published groups reach, of everything that was measured.
fn reached(scope: &Scope, offer: &Offer) -> Value {
    let names = sensitive_names(scope);
    let entry = |&(measure, value): &(Measure, u64)| (key(measure, &names), number(measure, value));
    Value::Object(offer.reached.iter().map(entry).collect())
}

/// An offer, with its one sentence in words.
pub fn offer(scope: &Scope, offer: &Offer) -> Value {
    let names = attributes(scope);
    let mut object = Map::new();
    object.insert("levels".into(), levels(&names, &offer.scheme));
    object.insert("level_names".into(), level_names(scope, &offer.scheme));
    object.insert("height".into(), json!(offer.scheme.height()));
    object.insert("n_suppressed".into(), json!(offer.n_suppressed));
    object.insert("share_suppressed".into(), json!(share(offer.n_suppressed, scope.n_records())));
    object.extend(criteria(&offer.criteria, &sensitive_names(scope)));
    object.insert("n_groups".into(), json!(offer.n_groups));
    object.insert("smallest_group".into(), json!(offer.smallest_group()));
    if !scope.sensitive().is_empty() {
        object.insert("fewest_distinct".into(), json!(offer.fewest_distinct()));
    }
    object.insert("reached".into(), reached(scope, offer));
    object.insert("loss".into(), losses(&offer.losses));
    object.insert("in_words".into(), json!(in_words(scope, offer)));
    Value::Object(object)
}

fn level_names(scope: &Scope, scheme: &Scheme) -> Value {
    let entries = scope.hierarchies().iter().enumerate();
    let name = |(a, hierarchy): (usize, &crate::hierarchy::Hierarchy)| {
        let name = hierarchy.level(scheme.level(a)).name();
        (hierarchy.attribute().to_string(), json!(name))
    };
    Value::Object(entries.map(name).collect())
}

/// The answer to a request.
pub fn answer(scope: &Scope, asked: &Request, answer: &Answer) -> Value {
    let mut object = Map::new();
    let outcome = match answer {
        Answer::Exact(_) => "exact",
        Answer::Offers(_) => "offers",
    };
    object.insert("outcome".into(), json!(outcome));
    object.insert("request".into(), request(scope, asked));
    object.insert("n_records".into(), json!(scope.n_records()));
    object.insert("n_dropped".into(), json!(scope.n_dropped()));
    object.insert("n_schemes".into(), json!(scope.n_schemes()));
    match answer {
        Answer::Exact(exact) => {
            object.insert("exact".into(), offer(scope, exact));
        }
        Answer::Offers(offers) => {
            object.insert("offers".into(), offers_object(scope, asked, offers));
        }
    }
    Value::Object(object)
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

/// Which part of the lattice an answer comes from, and what is proved about it among all schemes.
pub fn partial(lattice: &Lattice, found: &Found) -> Value {
    let mut object = on_demand(found);
    if let (Value::Object(object), Some(selection)) = (&mut object, lattice.selection()) {
        object.remove("n_evaluated");
        object.insert("n_annotated".into(), json!(lattice.schemes().len()));
        object.insert("share".into(), json!(selection.share));
        object.insert("estimator".into(), json!(selection.estimator.name()));
    }
    object
}

/// How an answer on demand was found, and what is proved about it.
pub fn on_demand(found: &Found) -> Value {
    // Nothing does better than a loss that is beyond all losses.
    let bound = |proof: &Proof| match proof.loss_at_least.is_finite() {
        true => json!({ "is_optimal": proof.is_optimal, "loss_at_least": proof.loss_at_least }),
        false => json!({ "is_optimal": proof.is_optimal, "loss_at_least": null }),
    };
    let names: &[&str] = match &found.answer {
        Answer::Exact(_) => &["exact"],
        Answer::Offers(_) => &["suppression", "height", "privacy"],
    };
    let proofs: Map<String, Value> =
        names.iter().zip(&found.proofs).map(|(name, proof)| (name.to_string(), bound(proof))).collect();
    json!({
        "n_evaluated": found.n_evaluated,
        "is_proved": found.is_proved(),
        "is_decided": found.is_decided,
        "proofs": proofs,
    })
}

fn offers_object(scope: &Scope, asked: &Request, offers: &Offers) -> Value {
    let made = |made: &Offer| {
        let mut object = offer(scope, made);
        object["concession"] = json!(concession(scope, asked, made));
        object
    };
    let mut object = Map::new();
    object.insert("suppression".into(), made(&offers.suppression));
    object.insert("height".into(), offers.height.as_ref().map_or(Value::Null, made));
    object.insert("privacy".into(), offers.privacy.as_ref().map_or(Value::Null, made));
    if offers.privacy_alternatives.len() > 1 {
        object.insert("privacy_alternatives".into(), offers.privacy_alternatives.iter().map(made).collect());
    }
    Value::Object(object)
}

/// Why a scheme suppresses what it does.
pub fn explanation(scope: &Scope, explanation: &Explanation) -> Value {
    let names = attributes(scope);
    let by_attribute = explanation.by_attribute.iter().map(|contribution| {
        let hierarchy = &scope.hierarchies()[contribution.attribute];
        json!({
            "attribute": names[contribution.attribute],
            "level": contribution.level.0,
            "level_name": hierarchy.level(contribution.level.0 as usize).name(),
            "n_caused": contribution.n_caused,
            "n_saved_by_next": contribution.n_saved_by_next,
        })
    });
    let by_size = explanation
        .by_size
        .iter()
        .map(|share| json!({ "size": share.size, "n_records": share.n_records, "n_suppressed": share.n_suppressed }));
    json!({
        "levels": levels(&names, &explanation.scheme),
        "n_suppressed": explanation.n_suppressed,
        "by_attribute": by_attribute.collect::<Vec<_>>(),
        "by_size": by_size.collect::<Vec<_>>(),
    })
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

/// A share from 0 to 1, rounded to what is worth reading.
pub fn share(n: u64, of: u64) -> f64 {
    if of == 0 { 0.0 } else { rounded(n as f64 / of as f64) }
}

/// Six decimals are enough for anything that is measured.
pub fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// `1234567` as `1,234,567`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 record`, `12,000 records`.
pub fn counted_words(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// A share as a percentage; never rounds something to nothing.
pub fn percent(n: u64, of: u64) -> String {
    let percent = if of == 0 { 0.0 } else { n as f64 / of as f64 * 100.0 };
    match percent {
        p if n > 0 && p < 0.01 => "under 0.01 %".to_string(),
        p if p < 1.0 && n > 0 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

/// What a certificate says about a release; [`crate::verify`] can check most of it from the release alone.
///
/// # Guarantee
/// Beyond what was ordered (the request, the method, the seed) it holds only what the release and the hierarchies that it
/// names show, how many records there were, and marks of files that say nothing without the signer's key. So two tables
/// of as many records, dropped and suppressed ones too, that give the same release under the same order give the same certificate, but for these marks:
/// whatever suppressed and dropped records hold, nobody learns it here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// `incrowd certificate`, to recognize the file by.
    pub format: String,
    pub format_version: u32,
    /// The version of incrowd that made the release.
    pub version: String,
    pub method: String,
    /// What was asked for; null where a scheme was chosen by hand.
    pub request: Value,
    /// Which answer was published: `exact`, `suppression`, `height`, `privacy` or `levels`; `method` where every group was
    /// generalized on its own.
    pub choice: String,
    /// How the cells of a local method are written: `ranges`, `labels`, `sets`, `midpoints` or `rounded`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cells: Option<String>,
    /// How the scheme was found, as certificates of version 1 told it; it depends on the source, so that later ones do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Search>,
    /// The promise: criteria by name, with the value promised and the value reached; null where the release alone does not
    /// show what is reached.
    pub criteria: Map<String, Value>,
    pub quasi_identifiers: Vec<String>,
    /// The sensitive attributes that the promise is about.
    pub sensitive: Vec<String>,
    /// How far apart values are, by sensitive attribute of relative criteria. Version 1 told distributions too.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub original: Map<String, Value>,
    /// What dealing guarantees, where the release was dealt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dealt: Option<Dealt>,
    /// What was wanted of each record and what it came to, where every record was generalized on its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_record: Option<PerRecord>,
    /// The columns of the release, in order.
    pub columns: Vec<String>,
    /// What separates the fields of a CSV file; nothing where the release is none, or where a version before this made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delimiter: Option<char>,
    /// Null where every group was generalized on its own.
    pub levels: Value,
    pub level_names: Value,
    pub height: Option<u32>,
    pub n_records_read: u64,
    /// Left out before anything else, because a value was missing.
    pub n_records_dropped: u64,
    pub n_records_suppressed: u64,
    pub n_records_published: u64,
    pub n_groups: u64,
    pub smallest_group: Option<u64>,
    pub fewest_distinct: Option<u64>,
    /// What the release itself shows of what was lost; losses over the source are for the signer.
    pub loss: Value,
    /// How published records are ordered, and why that says nothing about the input.
    pub order: String,
    /// Whether the records are in the order of their cells: column by column, "no value" first, texts by their bytes.
    /// Certificates of version 1 do not claim it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sorted: bool,
    /// The seed of random choices; null where none was made.
    pub seed: Option<u64>,
    pub input: Vec<FileHash>,
    pub hierarchies: Vec<FileHash>,
    pub output: FileHash,
}

/// How a scheme was found, and what is proved about it among all schemes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// `full`, `partial` or `on-demand`.
    pub extent: String,
    /// Null where there are over 10^19.
    pub n_schemes: Option<u64>,
    pub n_looked_at: u64,
    /// Whether no scheme that gives up as little is better.
    pub is_optimal: bool,
    /// No scheme that gives up as little loses less than this, by what the request calls best; null where that is the
    /// scheme itself, or where nothing is known.
    pub loss_at_least: Option<f64>,
    /// All of this in a sentence.
    pub statement: String,
}

impl Search {
    /// The best of all schemes, found in the whole lattice.
    pub fn whole(n_schemes: u64) -> Search {
        Search {
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
}

/// A dealt release: as many classes, and by how much they differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Dealt {
    pub n_classes: u64,
    pub attributes: Vec<DealtAttribute>,
    /// By how much counts of a combination of all sensitive values differ, where there are several attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_differ_together: Option<u64>,
}

/// How the values of one sensitive attribute were dealt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DealtAttribute {
    pub attribute: String,
    /// Counts of a value differ by at most so many records between any two classes.
    pub most_differ: u64,
    /// The fewest different values in a group.
    pub fewest_distinct: u64,
    /// The most different values that every class could have, dealt in whatever way.
    pub diversity_within_reach: u64,
    /// The distance of groups to the release.
    pub emd: Value,
    /// Every value and how many records have it; null stands for "no value".
    pub frequencies: Vec<(Option<String>, u64)>,
}

impl Dealt {
    /// What the file itself shows, beside how many classes were dealt and by how much they differ.
    pub fn of_file(file: &Verifier, sensitive: &[String], n_classes: u64, most_differ: &[u64], together: u64) -> Dealt {
        let attribute = |(s, name): (usize, &String)| {
            let spread = file.spread(s);
            let millionths = |n: u64| n as f64 / ONE as f64;
            let distance =
                |(greatest, mean): (u64, u64)| json!({ "greatest": millionths(greatest), "mean": millionths(mean) });
            let n_records: u64 = spread.frequencies.iter().map(|(_, n)| n).sum();
            // A value fills at most one place in every class.
            let n_places: u64 = spread.frequencies.iter().map(|(_, n)| *n.min(&n_classes)).sum();
            DealtAttribute {
                attribute: name.clone(),
                most_differ: most_differ[s],
                fewest_distinct: spread.fewest_distinct,
                diversity_within_reach: (n_places / n_classes.max(1)).min(n_records / n_classes.max(1)),
                emd: json!({ "equal": distance(spread.equal), "ordered": distance(spread.ordered) }),
                frequencies: spread.frequencies,
            }
        };
        let several = sensitive.len() > 1;
        Dealt {
            n_classes,
            attributes: sensitive.iter().enumerate().map(attribute).collect(),
            most_differ_together: several.then_some(together),
        }
    }
}

impl Dealt {
    /// How evenly values were dealt: for each sensitive attribute, and for all of them together.
    pub fn in_words(&self) -> String {
        let of_attribute = |of: &DealtAttribute| format!("{} for {}", of.most_differ, of.attribute);
        let each: Vec<String> = self.attributes.iter().map(of_attribute).collect();
        let together = self.most_differ_together.map_or(String::new(), |n| format!(", {n} for their combination"));
        format!(
            "dealt to {} {}: between any two of them, counts of a value differ by at most {}{together}",
            grouped(self.n_classes),
            if self.n_classes == 1 { "class" } else { "classes" },
            each.join(", ")
        )
    }

    /// The same for programs, without the values that the certificate has.
    pub fn summary(&self) -> Value {
        let of_attribute = |of: &DealtAttribute| json!({ "attribute": of.attribute, "most_differ": of.most_differ });
        json!({
            "n_classes": self.n_classes,
            "attributes": self.attributes.iter().map(of_attribute).collect::<Vec<Value>>(),
            "most_differ_together": self.most_differ_together,
        })
    }
}

/// Sets what a certificate says about dealing beside what the file shows. No value of the data is named.
pub fn check_dealt(certificate: &Certificate, file: &Verifier) -> Vec<Claim> {
    let Some(dealt) = &certificate.dealt else { return Vec::new() };
    let most_differ: Vec<u64> = dealt.attributes.iter().map(|attribute| attribute.most_differ).collect();
    let names: Vec<String> = dealt.attributes.iter().map(|attribute| attribute.attribute.clone()).collect();
    let claim =
        |name: String, claimed: String, found: String| Claim { claim: name, holds: claimed == found, claimed, found };
    if names != certificate.sensitive {
        return vec![claim("dealt attributes".into(), names.join(","), certificate.sensitive.join(","))];
    }
    let together = dealt.most_differ_together.unwrap_or(0);
    let found = Dealt::of_file(file, &names, dealt.n_classes, &most_differ, together);
    let mut claims = Vec::new();
    for (s, (said, found)) in dealt.attributes.iter().zip(&found.attributes).enumerate() {
        let name = &said.attribute;
        let differ = |n: u64| format!("at most {n}");
        let n_wrong = file.n_not_dealt(s, dealt.n_classes, said.most_differ);
        let shown = match n_wrong {
            0 => differ(said.most_differ),
            n => format!("more in {}", counted_words(n, "group")),
        };
        claims.push(claim(format!("counts of {name} differ by"), differ(said.most_differ), shown));
        let same = |is_same: bool| if is_same { "those of the file" } else { "others" }.to_string();
        claims.push(claim(format!("frequencies of {name}"), same(true), same(said.frequencies == found.frequencies)));
        let mut distances = claim(format!("distances of {name}"), said.emd.to_string(), found.emd.to_string());
        distances.holds |= certificate.format_version == 1 && is_near(&said.emd, &found.emd);
        claims.push(distances);
        let diversity = |of: &DealtAttribute| format!("{} of {}", of.fewest_distinct, of.diversity_within_reach);
        claims.push(claim(format!("diversity of {name}"), diversity(said), diversity(found)));
    }
    claims
}

/// Whether numbers agree but for their last digit, which version 1 rounded from a sum that was not quite the same in
/// every run.
fn is_near(said: &Value, found: &Value) -> bool {
    match (said, found) {
        (Value::Object(said), Value::Object(found)) => {
            said.len() == found.len()
                && said.iter().all(|(key, said)| found.get(key).is_some_and(|found| is_near(said, found)))
        }
        (said, found) => match (said.as_f64(), found.as_f64()) {
            (Some(said), Some(found)) => (said - found).abs() * (ONE as f64) < 1.5,
            _ => said == found,
        },
    }
}

/// A release whose records were generalized one by one: what was wanted of each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PerRecord {
    /// Whether the release is k-anonymous: in plain words.
    pub statement: String,
    /// The k that records were grouped for afterwards; null where none is promised.
    pub also_k: Option<u64>,
    pub utility_model: String,
    pub risk_model: String,
    /// `utility_at_least`, `share_of_utility` (of the utility that each record has as it is), `risk_at_most` or `lambda`.
    pub goal: Value,
    /// Where the sensitivities of values come from.
    pub sensitivities: String,
    /// Whom the attacker knows; null where that is the table itself.
    pub dictionary: Option<FileHash>,
    pub similarity: Option<f64>,
}

/// What records that were generalized one by one came to. That is of the source, and for the signer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PerRecordOutcome {
    /// The utility of a record as it is.
    pub greatest_utility: f64,
    pub risk: Distribution,
    pub utility: Distribution,
    /// Records that fell below the utility wanted when they were grouped.
    pub n_records_below: u64,
}

/// How a number is distributed over the records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    pub least: f64,
    pub quarter: f64,
    pub median: f64,
    pub three_quarters: f64,
    pub greatest: f64,
    pub mean: f64,
}

impl Distribution {
    /// Of values, each with how many records have it.
    pub fn of(mut values: Vec<(f64, u64)>) -> Distribution {
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let n: u64 = values.iter().map(|(_, n)| n).sum();
        let at = |share: f64| {
            let wanted = (share * n as f64).ceil().max(1.0) as u64;
            let mut below = 0;
            let found = values.iter().find(|(_, n)| {
                below += n;
                below >= wanted
            });
            rounded(found.map_or(0.0, |(value, _)| *value))
        };
        let sum: f64 = values.iter().map(|(value, n)| value * *n as f64).sum();
        Distribution {
            least: at(0.0),
            quarter: at(0.25),
            median: at(0.5),
            three_quarters: at(0.75),
            greatest: at(1.0),
            mean: rounded(sum / n.max(1) as f64),
        }
    }
}

/// Sets what a certificate says about records that were generalized one by one beside what it promises.
pub fn check_per_record(certificate: &Certificate) -> Vec<Claim> {
    let Some(per_record) = &certificate.per_record else { return Vec::new() };
    let words = |k: Option<u64>| k.map_or(NO_K.to_string(), |k| format!("k = {k}"));
    let promised = certificate.promised().and_then(|criteria| criteria.value(Measure::Size));
    let (claimed, found) = (words(per_record.also_k), words(promised));
    let statement = per_record_statement(per_record.also_k);
    let same = |is_same: bool| if is_same { "as it is" } else { "otherwise" }.to_string();
    vec![
        Claim { claim: K_OF_SINGLE_RECORDS.into(), holds: claimed == found, claimed, found },
        Claim {
            claim: "statement about k".into(),
            holds: statement == per_record.statement,
            claimed: same(statement == per_record.statement),
            found: same(true),
        },
    ]
}

const K_OF_SINGLE_RECORDS: &str = "k of single records";
const NO_K: &str = "no k";

/// Whether a file keeps all that its certificate says: the one answer of the command line, of HTTP and of Python.
///
/// Where nothing is promised nothing is kept, but for a certificate that says in so many words that it promises no k.
///
/// # Guarantee
/// A claim that is false is never outweighed, and what could not be judged is never called kept.
pub fn ruling(verdict: &Verdict, claims: &[Claim]) -> Ruling {
    let is_open = |claim: &Claim| claim.claim == K_OF_SINGLE_RECORDS && claim.claimed == NO_K;
    let promises_no_k = verdict.findings.is_empty() && claims.iter().any(is_open);
    match claims.iter().all(|claim| claim.holds) {
        false => Ruling::Broken,
        true if promises_no_k => Ruling::Kept,
        true => verdict.ruling(),
    }
}

/// Whether a release of single records is k-anonymous, in plain words.
pub fn per_record_statement(also_k: Option<u64>) -> String {
    match also_k {
        None => {
            "This release is not k-anonymous: every record was generalized on its own, and may be the only one with \
                 its cells."
                .to_string()
        }
        Some(k) => format!(
            "Every record was generalized on its own, which promises no k; then records were grouped so that every group has \
             at least {k}."
        ),
    }
}

impl Certificate {
    pub const FORMAT: &'static str = "incrowd certificate";
    /// Since 2, nothing in it comes from records that are not in the release.
    pub const FORMAT_VERSION: u32 = 2;

    /// Whether the release alone shows what groups reach by a measure.
    ///
    /// The original distribution is that of the release where nobody was suppressed; the population is never there.
    pub fn shows(&self, measure: Measure) -> bool {
        is_shown(measure, self.n_records_suppressed)
    }

    /// The criteria that are promised; none where one of them is unknown to this version.
    pub fn promised(&self) -> Option<Criteria> {
        let criterion = |(key, entry): (&String, &Value)| criterion_of(key, entry.get("promised")?, &self.sensitive);
        self.criteria.iter().map(criterion).collect::<Option<Vec<_>>>().map(Criteria::new)
    }
}

/// Whether a release from which so many records were suppressed shows what groups reach by a measure.
pub fn is_shown(measure: Measure, n_suppressed: u64) -> bool {
    match measure {
        Measure::Population => false,
        measure => !measure.is_relative() || n_suppressed == 0,
    }
}

/// Reads a criterion back from its name and value, as [`criteria`] writes them.
pub fn criterion_of(key: &str, value: &Value, sensitive: &[String]) -> Option<Criterion> {
    let (s, name) = match key.rsplit_once(':') {
        Some((attribute, name)) => (sensitive.iter().position(|known| known == attribute)?, name),
        None => (0, key),
    };
    let millionths =
        |value: &Value| Some((value.as_f64().filter(|v| *v >= 0.0 && *v < 1e12)? * ONE as f64).round() as u64);
    let (measure, value) = match name {
        "k" => (Measure::Size, value.as_u64()?),
        "k_map" => (Measure::Population, value.as_u64()?),
        "l" => (Measure::Distinct(s), value.as_u64()?),
        "recursive" => {
            let l = u32::try_from(value.get("l")?.as_u64()?).ok().filter(|l| *l > 0)?;
            (Measure::Recursive { sensitive: s, l }, millionths(value.get("c")?)?)
        }
        _ => {
            let measure = match name {
                "alpha" => Measure::Share(s),
                "entropy_l" => Measure::Entropy(s),
                "t" => Measure::Closeness(s),
                "delta" => Measure::Disclosure(s),
                "beta" => Measure::Likeness(s),
                "enhanced_beta" => Measure::EnhancedLikeness(s),
                _ => return None,
            };
            (measure, millionths(value)?)
        }
    };
    let is_about_nothing = measure.sensitive().is_some_and(|s| s >= sensitive.len());
    (!is_about_nothing).then_some(Criterion { measure, value })
}

/// A file by name and content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    pub name: String,
    /// Of what is published, whoever has it may know the hash.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// Of what is not published, only the mark that the signer's key makes of the hash: the hash itself would tell anyone
    /// who guesses the content that the guess is right.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hmac_sha256: String,
}

/// A verdict, with the claims of a certificate where one was given.
pub fn verdict(verdict: &Verdict, sensitive: &[String], claims: &[Claim]) -> Value {
    let findings = verdict.findings.iter().map(|finding| {
        let mut finding_object = json!({
            "asked": value(finding.criterion),
            "reached": finding_reached(finding),
            "judged": finding.is_judged,
            "holds": finding.holds() && finding.is_judged,
            "n_groups_failing": finding.n_groups_failing,
            "n_records_failing": finding.n_records_failing,
        });
        if !finding.is_judged {
            finding_object["needs"] = json!(needed_to_judge(finding.criterion.measure));
        }
        (key(finding.criterion.measure, sensitive), finding_object)
    });
    let mut object = Map::new();
    let ruling = ruling(verdict, claims);
    object.insert("answer".into(), json!(ruling.name()));
    object.insert("holds".into(), json!(ruling == Ruling::Kept));
    object.insert("criteria".into(), Value::Object(findings.collect()));
    object.insert("n_records".into(), json!(verdict.n_records));
    object.insert("n_suppressed_marked".into(), json!(verdict.n_absent));
    object.insert("n_groups".into(), json!(verdict.n_groups));
    object.insert("smallest_group".into(), json!(verdict.smallest_group));
    object.insert("fewest_distinct".into(), json!(verdict.fewest_distinct));
    if !claims.is_empty() {
        object.insert("claims".into(), json!(claims));
    }
    Value::Object(object)
}

/// What lies outside a release and a measure cannot be judged without.
pub fn needed_to_judge(measure: Measure) -> &'static str {
    match measure {
        Measure::Population => "the population, and a certificate that says the levels",
        _ => "the original table",
    }
}

/// What a finding reaches, as a certificate states it.
pub fn finding_reached(finding: &Finding) -> Value {
    finding.reached.map_or(Value::Null, |reached| number(finding.criterion.measure, reached))
}

/// One sentence of a certificate, checked against the release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    pub claim: String,
    pub holds: bool,
    pub claimed: String,
    pub found: String,
}

/// Everything that a certificate says about a release, beside what the release shows: those of a method too, and its order.
///
/// `sha256` is none where the release is in memory: then which file it was cannot be compared.
pub fn check_release(
    certificate: &Certificate,
    verdict: &Verdict,
    file: &Verifier,
    columns: &[String],
    sha256: Option<&str>,
) -> Vec<Claim> {
    let mut claims = check_claims(certificate, verdict, columns, sha256.unwrap_or_default());
    claims.retain(|claim| sha256.is_some() || claim.claim != FILE);
    claims.extend(check_order(certificate, file));
    claims.extend(check_dealt(certificate, file));
    claims.extend(check_per_record(certificate));
    claims
}

const FILE: &str = "file";

/// Sets what a certificate says about the order of records beside the order that they are in.
fn check_order(certificate: &Certificate, file: &Verifier) -> Option<Claim> {
    if !certificate.sorted {
        return None;
    }
    let in_order = "sorted by the published values";
    let found = match file.n_out_of_order() {
        Some(0) => in_order.to_string(),
        Some(n) => format!("{} out of order", counted_words(n, "record")),
        None => "not looked at".to_string(),
    };
    Some(Claim { claim: "order of records".into(), holds: found == in_order, claimed: in_order.into(), found })
}

/// None where there are no levels.
fn sum_of_levels(levels: &Value) -> Option<u64> {
    let levels = levels.as_object()?.values();
    Some(levels.filter_map(Value::as_u64).fold(0, u64::saturating_add))
}

/// Compares everything that a certificate says about a release with what the release shows.
pub fn check_claims(certificate: &Certificate, verdict: &Verdict, columns: &[String], sha256: &str) -> Vec<Claim> {
    let claim = |name: &str, claimed: String, found: String| Claim {
        claim: name.to_string(),
        holds: claimed == found,
        claimed,
        found,
    };
    let number = |n: Option<u64>| n.map_or("none".to_string(), |n| n.to_string());
    // What is in the file, plus what is said to have been left out, must be what was read.
    let accounted = [certificate.n_records_dropped, certificate.n_records_suppressed, verdict.n_records]
        .into_iter()
        .fold(0u64, u64::saturating_add);
    let mut claims = vec![
        claim(FILE, certificate.output.sha256.clone(), sha256.to_string()),
        claim("columns", certificate.columns.join(","), columns.join(",")),
        claim("records published", certificate.n_records_published.to_string(), verdict.n_records.to_string()),
        claim("records accounted for", certificate.n_records_read.to_string(), accounted.to_string()),
        claim("height", number(certificate.height.map(u64::from)), number(sum_of_levels(&certificate.levels))),
        claim("groups", certificate.n_groups.to_string(), verdict.n_groups.to_string()),
        claim("smallest group", number(certificate.smallest_group), number(verdict.smallest_group)),
        claim("fewest distinct", number(certificate.fewest_distinct), number(verdict.fewest_distinct)),
    ];
    // Where every group was generalized on its own, there is no height to speak of.
    claims
        .retain(|claim| claim.claim != "height" || (claim.claimed.as_str(), claim.found.as_str()) != ("none", "none"));
    if certificate.format_version >= 2 {
        let found = losses_of_release(verdict);
        for (name, key) in [("discernibility", "discernibility"), ("mean group size", "group_size")] {
            let said = certificate.loss.get(key).unwrap_or(&Value::Null);
            claims.push(claim(name, said.to_string(), found[key].to_string()));
        }
    }
    let is_told = |measure: Measure| certificate.format_version < 2 || certificate.shows(measure);
    for finding in verdict.findings.iter().filter(|f| f.is_judged && is_told(f.criterion.measure)) {
        let name = key(finding.criterion.measure, &certificate.sensitive);
        let entry = certificate.criteria.get(&name);
        let reached = entry.and_then(|entry| entry.get("reached")).unwrap_or(&Value::Null);
        claims.push(claim(&format!("{name} reached"), reached.to_string(), finding_reached(finding).to_string()));
    }
    claims
}
