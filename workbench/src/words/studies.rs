//! The papers' studies as JSON documents, the same words for `--json`, HTTP and Python.

use incrowd::search::partial::Power;
use incrowd::{Answer, Criteria, Criterion, wire};
use serde_json::{Map, Value, json};

use crate::orders::histogram::{Bar, Histogrammed};
use crate::orders::study_deal::{DealRow, StudiedDeal};
use crate::orders::study_lattice::{
    Accuracy, ComparedRequest, Difference, KINDS, StudiedLattice, Summary, differences, summaries,
};
use crate::orders::study_suppression::{LossRange, StudiedSuppression, ratio};
use crate::words::figures::value_of;

/// Whose values were dealt.
pub fn whose(studied: &StudiedDeal) -> &str {
    studied.attribute.as_deref().unwrap_or("the given frequencies")
}

/// How diverse dealt classes are.
pub fn deal(studied: &StudiedDeal) -> Value {
    let rounded =
        |(greatest, mean): (f64, f64)| json!({ "greatest": wire::rounded(greatest), "mean": wire::rounded(mean) });
    let row = |row: &DealRow| {
        json!({
            "k": row.k,
            "n_classes": row.n_classes,
            "made": row.making.name(),
            "fewest_distinct": row.diversity,
            "most_differ": row.most_differ,
            "emd": { "equal": rounded(row.equal), "ordered": rounded(row.ordered) },
        })
    };
    json!({
        "attribute": whose(studied),
        "frequencies": studied.frequencies,
        "n_records": studied.n_records(),
        "seed": studied.seed,
        "rows": studied.rows.iter().map(row).collect::<Vec<Value>>(),
    })
}

/// What an answer has more than the whole lattice's.
pub fn difference(difference: &Difference) -> Value {
    match difference {
        Difference::Neither => Value::Null,
        Difference::Lost => json!("missed"),
        Difference::By { n_suppressed, height, k } => {
            json!({ "n_suppressed": n_suppressed, "height": height, "k": k })
        }
    }
}

/// How good a partial lattice is.
pub fn lattice(study: &StudiedLattice) -> Value {
    let names: Vec<&str> = study.whole.hierarchies().iter().map(|hierarchy| hierarchy.attribute()).collect();
    let mut levels = Vec::new();
    for (name, of_level) in names.iter().zip(&study.powers) {
        for (level, power) in of_level.iter().enumerate() {
            let Power { n_groups, gamma, mu } = power;
            levels.push(json!({
                "attribute": name, "level": level, "n_groups": n_groups,
                "gamma": wire::rounded(*gamma), "mu": wire::rounded(*mu),
            }));
        }
    }
    let accuracy = |accuracy: &Accuracy| {
        let height = |(height, (least, found)): (usize, &(u64, u64))| json!({ "height": height, "n_suppressed_least": least, "n_suppressed_selected": found });
        json!({
            "criteria": wire::criteria(&Criteria::new([accuracy.criterion]), &study.sensitive),
            "estimator": accuracy.estimator.name(),
            "n_missed": accuracy.n_missed(),
            "mean_error": wire::rounded(accuracy.mean_error()),
            "heights": accuracy.by_height.iter().enumerate().map(height).collect::<Vec<_>>(),
        })
    };
    let of = |whole: &Answer, answer: &Answer| -> Value {
        let kinds = KINDS.iter().zip(differences(whole, answer)).map(|(kind, by)| (kind.to_string(), difference(&by)));
        Value::Object(kinds.collect::<Map<String, Value>>())
    };
    let request = |compared: &ComparedRequest| {
        json!({
            "request": wire::request(&study.whole, &compared.request),
            "partial": of(&compared.whole, &compared.partial),
            "extended": of(&compared.whole, &compared.extended),
        })
    };
    let summary = |(name, kind, summary): &(&str, &str, Summary)| {
        json!({
            "lattice": name, "answer": kind, "n_both": summary.n_both, "n_missed": summary.n_lost,
            "n_equal": summary.n_equal, "mean_n_suppressed": wire::rounded(summary.n_suppressed),
            "mean_height": wire::rounded(summary.height), "mean_k": wire::rounded(summary.k),
        })
    };
    json!({
        "n_records": study.whole.n_records(),
        "n_schemes": study.whole.schemes().len(),
        "n_annotated": study.partial.schemes().len(),
        "share": study.selection.share,
        "estimator": study.selection.estimator.name(),
        "levels": levels,
        "accuracy": study.accuracies.iter().map(accuracy).collect::<Vec<_>>(),
        "requests": study.requests.iter().map(request).collect::<Vec<_>>(),
        "summary": summaries(&study.requests).iter().map(summary).collect::<Vec<_>>(),
    })
}

/// The columns of what a study of suppression found, a row per set, criterion and height.
pub const SUPPRESSION_HEADER: [&str; 14] = [
    "n_quasi_identifiers",
    "quasi_identifiers",
    "criterion",
    "value",
    "height",
    "n_schemes",
    "suppressed_min",
    "suppressed_avg",
    "suppressed_max",
    "share_avg",
    "change",
    "avg_over_min",
    "ratio_to_weaker",
    "ratio_to_smaller",
];

/// The rows of a study of suppression, as texts.
pub fn suppression_rows(study: &StudiedSuppression) -> Vec<Vec<String>> {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| wire::rounded(value).to_string());
    let n_records = study.lattice.n_records() as f64;
    let mut rows = Vec::new();
    for (s, set) in study.sets.iter().enumerate() {
        for (c, criterion) in study.criteria.iter().enumerate() {
            for (height, spread) in set.suppressed[c].iter().enumerate() {
                rows.push(vec![
                    set.attributes.len().to_string(),
                    set.attributes.join(" "),
                    wire::key(criterion.measure, &study.sensitive),
                    value_of(*criterion),
                    height.to_string(),
                    spread.n_schemes.to_string(),
                    spread.least.to_string(),
                    number(Some(spread.mean())),
                    spread.most.to_string(),
                    number(ratio(spread.mean(), n_records)),
                    number(set.change(c, height)),
                    number(spread.mean_over_least()),
                    number(study.ratio_to_weaker(s, c, height)),
                    number(study.ratio_to_smaller(s, c, height)),
                ]);
            }
        }
    }
    rows
}

/// How suppression, generalization and privacy interact.
pub fn suppression(study: &StudiedSuppression, per_scheme: bool) -> Value {
    let round = |value: Option<f64>| value.map(wire::rounded);
    let n_records = study.lattice.n_records();
    let of_criterion = |s: usize, c: usize, criterion: &Criterion| {
        let set = &study.sets[s];
        let height = |(height, spread): (usize, &LossRange)| {
            json!({
                "height": height,
                "n_schemes": spread.n_schemes,
                "n_suppressed": { "min": spread.least, "avg": wire::rounded(spread.mean()), "max": spread.most },
                "share": round(ratio(spread.mean(), n_records as f64)),
                "change": round(set.change(c, height)),
                "avg_over_min": round(spread.mean_over_least()),
                "ratio_to_weaker": round(study.ratio_to_weaker(s, c, height)),
                "ratio_to_smaller": round(study.ratio_to_smaller(s, c, height)),
            })
        };
        json!({
            "criteria": wire::criteria(&Criteria::new([*criterion]), &study.sensitive),
            "heights": set.suppressed[c].iter().enumerate().map(height).collect::<Vec<Value>>(),
        })
    };
    let set = |s: usize| {
        let set = &study.sets[s];
        let mut document = json!({
            "quasi_identifiers": set.attributes,
            "n_schemes": set.n_schemes(),
            "criteria": study.criteria.iter().enumerate().map(|(c, of)| of_criterion(s, c, of)).collect::<Vec<Value>>(),
        });
        if per_scheme {
            let scheme = |&place: &usize| {
                let lost = (0..study.criteria.len()).map(|c| study.n_suppressed(place, c));
                json!({ "levels": study.levels(s, place), "n_suppressed": lost.collect::<Vec<u64>>() })
            };
            document["schemes"] = set.places.iter().flatten().map(scheme).collect();
        }
        document
    };
    json!({
        "n_records": n_records,
        "n_dropped": study.lattice.n_dropped(),
        "extent": if study.is_part { "part" } else { "full" },
        "sets": (0..study.sets.len()).map(set).collect::<Vec<Value>>(),
        "histogram": histogram(&study.histograms),
    })
}

/// The histograms of one scheme.
pub fn histogram(of: &Histogrammed) -> Value {
    let bars = |bars: &[Bar]| {
        let bar = |bar: &Bar| {
            let Bar { value, n_groups, n_records, n_records_below } = bar;
            json!({ "value": value, "n_groups": n_groups, "n_records": n_records, "n_records_below": n_records_below })
        };
        bars.iter().map(bar).collect::<Vec<Value>>()
    };
    let names: Vec<&str> = of.attributes.iter().map(String::as_str).collect();
    let distinct = of.distinct.iter().map(|(name, of)| json!({ "attribute": name, "bars": bars(of) }));
    json!({
        "levels": wire::levels(&names, &of.scheme),
        "n_records": of.n_records,
        "n_groups": of.n_groups,
        "counts": if of.is_over_people { "people" } else { "records" },
        "sizes": bars(&of.sizes),
        "distinct": distinct.collect::<Vec<Value>>(),
    })
}
