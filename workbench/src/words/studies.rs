//! The papers' studies as JSON documents, the same words for `--json`, HTTP and Python.

use incrowd::search::partial::Power;
use incrowd::{Answer, wire};
use serde_json::{Map, Value, json};

use crate::orders::study_deal::{DealRow, StudiedDeal};
use crate::orders::study_lattice::{
    Accuracy, ComparedRequest, Difference, KINDS, StudiedLattice, Summary, differences, summaries,
};

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
            "k": accuracy.k,
            "estimator": accuracy.estimator.name(),
            "n_missed": accuracy.n_missed(),
            "mean_error": wire::rounded(accuracy.mean_error()),
            "heights": accuracy.by_height.iter().enumerate().map(height).collect::<Vec<_>>(),
        })
    };
    let difference = |difference: &Difference| match difference {
        Difference::Neither => Value::Null,
        Difference::Lost => json!("missed"),
        Difference::By { n_suppressed, height, k } => {
            json!({ "n_suppressed": n_suppressed, "height": height, "k": k })
        }
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
