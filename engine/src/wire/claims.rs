//! What a certificate says set beside what its release shows, claim by claim; and the one answer to both.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::criterion::{Criteria, MILLION, Measure};
use crate::number::counted_words;
use crate::verify::{Finding, Ruling, Verdict, Verifier};
use crate::wire::certificate::{Certificate, Dealt, DealtAttribute, Distances, per_record_statement};
use crate::wire::json::{criteria as criteria_in_json, key_among, losses_of_release, number, value};

/// A verdict, with the claims of a certificate where one was given.
pub fn verdict(verdict: &Verdict, sensitive: &[String], claims: &[Claim]) -> Value {
    let measures = measures_of(&verdict.findings);
    let findings = verdict.findings.iter().map(|finding| {
        let mut finding_object = json!({
            "asked": value(finding.criterion),
            "reached": finding_reached(finding),
            "judged": finding.is_judged,
            "holds": finding.holds() && finding.is_judged,
            "n_groups_failing": finding.n_groups_failing,
            "n_records_failing": finding.n_records_failing,
        });
        if let Some(holds) = finding.holds_for_records {
            finding_object["of"] = json!("people");
            finding_object["holds_for_records"] = json!(holds);
        }
        if !finding.is_judged {
            let of_people = finding.holds_for_records.is_some();
            finding_object["needs"] =
                json!(if of_people { NEEDS_PEOPLE } else { needed_to_judge(finding.criterion.measure) });
        }
        (key_among(finding.criterion.measure, &measures, sensitive), finding_object)
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

/// What a promise to people cannot be judged without.
pub const NEEDS_PEOPLE: &str = "the original table, which says whose record is whose";

/// What lies outside a release and a measure cannot be judged without.
pub fn needed_to_judge(measure: Measure) -> &'static str {
    match measure {
        Measure::Population => "the population, and a certificate that says the levels",
        _ => "the original table",
    }
}

/// Criteria with what is promised, as [`Certificate::criteria`] has them before a file is judged.
pub fn promised(criteria: &Criteria, sensitive: &[String]) -> Map<String, Value> {
    let promised = criteria_in_json(criteria, sensitive).into_iter();
    promised.map(|(name, value)| (name, json!({ "promised": value }))).collect()
}

/// The same with what is reached; null where that may not be told.
pub fn promised_and_reached(
    findings: &[Finding],
    sensitive: &[String],
    is_told: impl Fn(Measure) -> bool,
) -> Map<String, Value> {
    let measures = measures_of(findings);
    let entry = |finding: &Finding| {
        let measure = finding.criterion.measure;
        let reached = if is_told(measure) { finding_reached(finding) } else { Value::Null };
        (key_among(measure, &measures, sensitive), json!({ "promised": value(finding.criterion), "reached": reached }))
    };
    findings.iter().map(entry).collect()
}

fn measures_of(findings: &[Finding]) -> Vec<Measure> {
    findings.iter().map(|finding| finding.criterion.measure).collect()
}

/// What a finding reaches, as a certificate states it.
pub fn finding_reached(finding: &Finding) -> Value {
    finding.reached.map_or(Value::Null, |reached| number(finding.criterion.measure, reached))
}

/// One sentence of a certificate, checked against the release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Claim {
    /// What it is about.
    pub claim: String,
    /// Whether it is so.
    pub holds: bool,
    /// What the certificate says.
    pub claimed: String,
    /// What the release shows.
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
    claims.extend(check_labels(certificate, file));
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

/// Sets how many values a certificate has labels for beside how many values of the file are counted by a label.
fn check_labels(certificate: &Certificate, file: &Verifier) -> Vec<Claim> {
    let claim = |(s, name): (usize, &String)| {
        let said = certificate.count_at.get(name)?;
        let n_said: usize = said.labels.iter().map(|(_, values)| values.len()).sum();
        let words = |n: usize| format!("{}, {}", counted_words(n as u64, "value"), said.level_name);
        let found = match file.labelled(s) {
            Some((labels, 0)) => words(labels.values().map(Vec::len).sum()),
            Some((_, n_without)) => format!("{} without a label", counted_words(n_without, "value")),
            None => "counted as they are".to_string(),
        };
        let claimed = words(n_said);
        Some(Claim { claim: format!("{name} counted at"), holds: claimed == found, claimed, found })
    };
    certificate.sensitive.iter().enumerate().filter_map(claim).collect()
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
    let Certificate { n_records_dropped, n_records_left_out, n_records_suppressed, .. } = *certificate;
    let accounted = [n_records_dropped, n_records_left_out, n_records_suppressed, verdict.n_records]
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
    let measures = measures_of(&verdict.findings);
    for finding in verdict.findings.iter().filter(|f| f.is_judged && is_told(f.criterion.measure)) {
        let name = key_among(finding.criterion.measure, &measures, &certificate.sensitive);
        let entry = certificate.criteria.get(&name);
        let reached = entry.and_then(|entry| entry.get("reached")).unwrap_or(&Value::Null);
        claims.push(claim(&format!("{name} reached"), reached.to_string(), finding_reached(finding).to_string()));
    }
    claims
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
        let written = |emd: &Distances| json!(emd).to_string();
        let mut distances = claim(format!("distances of {name}"), written(&said.emd), written(&found.emd));
        distances.holds |= certificate.format_version == 1 && is_near(&said.emd, &found.emd);
        claims.push(distances);
        let diversity = |of: &DealtAttribute| format!("{} of {}", of.fewest_distinct, of.diversity_within_reach);
        claims.push(claim(format!("diversity of {name}"), diversity(said), diversity(found)));
    }
    claims
}

/// Whether numbers agree but for their last digit, which version 1 rounded from a sum that was not quite the same in
/// every run.
fn is_near(said: &Distances, found: &Distances) -> bool {
    let numbers = |of: &Distances| [of.equal.greatest, of.equal.mean, of.ordered.greatest, of.ordered.mean];
    let is_near = |(said, found): (f64, f64)| (said - found).abs() * (MILLION as f64) < 1.5;
    numbers(said).into_iter().zip(numbers(found)).all(is_near)
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
