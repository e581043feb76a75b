//! A release of Adult for the tests of the report.

use incrowd::criterion::Criterion;
use incrowd::verify::{Finding, Verdict};
use incrowd::wire::{Certificate, Claim, FileHash};
use serde_json::json;

use super::facts::{AttributeFacts, Facts, HeightFacts, PublishedAs};
use super::html;
use crate::output::account::{Account, Key, Loss};

pub(super) fn account() -> Account {
    let file =
        |name: &str, digit: &str| FileHash { name: name.to_string(), sha256: digit.repeat(32), ..FileHash::default() };
    Account {
        key: Key::parse(&"5c".repeat(32)).expect("a key"),
        files: vec![file("adult.csv", "3b"), file("hierarchies/age.csv", "a1")],
        loss: Loss::OfCells { ncp: 0.6213, discernibility: 0, group_size: 0.0 },
        search: None,
        criteria: Default::default(),
        per_record: None,
        beside: Vec::new(),
        people: None,
        replaced: Vec::new(),
        tops: Vec::new(),
    }
}

/// Adult with five quasi-identifiers, published with one wish given up.
pub(super) fn certificate() -> Certificate {
    let file =
        |name: &str, digit: &str| FileHash { name: name.to_string(), sha256: digit.repeat(32), ..FileHash::default() };
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let criteria = json!({"k": {"promised": 10, "reached": 10}, "l": {"promised": 3, "reached": 4}});
    Certificate {
        format: Certificate::FORMAT.to_string(),
        format_version: Certificate::FORMAT_VERSION,
        version: "0.1.0".to_string(),
        method: "global recoding".to_string(),
        request: json!({"k": 10, "l": 3, "max_suppressed": 321,
            "max_level": {"age": 2, "workclass": 2, "race": 1, "occupation": 2, "education": 0}}),
        cells: None,
        search: None,
        choice: "height".to_string(),
        criteria: criteria.as_object().expect("written as an object").clone(),
        quasi_identifiers: names(&["age", "workclass", "race", "occupation", "education"]),
        person: Vec::new(),
        count_at: Default::default(),
        unreadable: Default::default(),
        unknown: Default::default(),
        published_as: Default::default(),
        from_level: Default::default(),
        sensitive: names(&["hours-per-week"]),
        original: Default::default(),
        dealt: None,
        per_record: None,
        columns: names(&["age", "workclass", "race", "occupation", "education", "hours-per-week", "income"]),
        delimiter: Some(','),
        counted: None,
        levels: json!({"age": 1, "workclass": 2, "race": 2, "occupation": 2, "education": 0}),
        level_names: json!({}),
        height: Some(7),
        n_records_read: 32561,
        n_records_dropped: 2399,
        n_records_left_out: 0,
        n_records_suppressed: 238,
        n_records_published: 29924,
        n_groups: 172,
        smallest_group: Some(10),
        fewest_distinct: Some(4),
        loss: json!({"discernibility": 5_000_000, "group_size": 173.976744}),
        order: "by the published values, so that nothing is left of the source’s order".to_string(),
        sorted: true,
        seed: None,
        exchanges: None,
        steps: None,
        input: vec![file("adult.csv", "3b")],
        hierarchies: vec![file("hierarchies/age.csv", "a1"), file("hierarchies/education.csv", "0f")],
        output: file("adult-k10.csv", "9c"),
    }
}

pub(super) fn verdict(n_groups_failing: u64) -> Verdict {
    let finding = |criterion, reached, n_groups_failing| Finding {
        criterion,
        is_judged: true,
        holds_for_records: None,
        reached: Some(reached),
        n_groups_failing,
        n_records_failing: n_groups_failing * 7,
    };
    Verdict {
        n_records: 29924,
        n_absent: 0,
        n_groups: 172,
        n_squares: 5_000_000,
        smallest_group: Some(if n_groups_failing > 0 { 7 } else { 10 }),
        fewest_distinct: Some(4),
        findings: vec![finding(Criterion::k(10), 10, n_groups_failing), finding(Criterion::l(3), 4, 0)],
    }
}

pub(super) fn attribute(name: &str, level: usize, n_levels: usize, samples: &[&str], ncp: f64) -> AttributeFacts {
    AttributeFacts {
        name: name.to_string(),
        published_as: PublishedAs::Level { level, n_levels, name: format!("level {level} of its hierarchy") },
        n_labels: if level + 1 == n_levels { 1 } else { 15 },
        samples: samples.iter().map(|sample| sample.to_string()).collect(),
        ncp,
    }
}

pub(super) fn facts<'a>(certificate: &'a Certificate, verdict: &'a Verdict, claims: &'a [Claim]) -> Facts<'a> {
    let of_height = [(5, 1184, 4461.7, 12634), (6, 578, 2596.7, 10619), (7, 238, 1316.9, 7332), (8, 60, 566.9, 2755)];
    let height = |(height, n_suppressed_min, n_suppressed_mean, n_suppressed_max)| HeightFacts {
        height,
        n_suppressed_min,
        n_suppressed_mean,
        n_suppressed_max,
    };
    Facts {
        release: "adult-k10.csv",
        certificate_name: "release.csv.certificate.json",
        certificate,
        said: Box::leak(Box::default()),
        account: Box::leak(Box::new(account())),
        verdict,
        claims,
        attributes: vec![
            attribute("age", 1, 5, &["17–21", "22–26", "27–31"], 0.055),
            attribute("race", 2, 3, &["*"], 1.0),
            attribute("education", 0, 5, &["Bachelors", "HS-grad", "Masters"], 0.0),
        ],
        group_sizes: vec![(10, 30), (25, 40), (80, 50), (300, 40), (1052, 12)],
        risk: None,
        by_height: of_height.map(height).into(),
        utility: None,
        minutes: None,
    }
}

pub(super) fn claim(holds: bool) -> Claim {
    Claim {
        claim: "groups".to_string(),
        holds,
        claimed: "172".to_string(),
        found: if holds { "172" } else { "171" }.to_string(),
    }
}

pub(super) fn page(certificate: &Certificate, verdict: &Verdict, claims: &[Claim]) -> String {
    html(&facts(certificate, verdict, claims))
}
