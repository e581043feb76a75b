//! Labels that cost more than their share of the values.

use std::collections::BTreeMap;

use crate::common;

use common::{Cell, batch};
use incrowd::hierarchy::LabelTable;
use incrowd::loss::ncp_of_level;
use incrowd::recode::method::Assignment;
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::task::Task;
use incrowd::{Counter, GroupCounts, Hierarchy, Method, Missing, Rule};

const TREE: &str = "a;A;*\nb;A;*\nc;B;*\nd;B;*\n";

fn counts() -> GroupCounts {
    let mut counter = Counter::new(&["x"], &[], &Missing::default());
    let rows: Vec<Vec<Cell>> = ["a", "b", "c", "d"].iter().map(|value| vec![Some(value.to_string())]).collect();
    counter.push(&batch(&["x"], &rows)).expect("texts");
    counter.finish()
}

fn hierarchy(counts: &GroupCounts, weights: &[(&str, f64)]) -> incrowd::Result<Hierarchy> {
    let rule = Rule::Table(LabelTable::parse("tree", TREE).expect("a tree"));
    let weights: BTreeMap<String, f64> = weights.iter().map(|(label, weight)| (label.to_string(), *weight)).collect();
    rule.resolve(&counts.domains()[0]).expect("all values are known").with_node_weights(&weights)
}

#[test]
fn a_label_costs_so_many_times_its_share() {
    let counts = counts();
    let of = |weights: &[(&str, f64)]| {
        let hierarchy = hierarchy(&counts, weights).expect("known labels");
        (0..3).map(|level| ncp_of_level(&hierarchy, level)).collect::<Vec<_>>()
    };
    assert_eq!(of(&[]), [vec![0.0; 4], vec![0.5, 0.5], vec![1.0]]);
    assert_eq!(of(&[("A", 1.5)]), [vec![0.0; 4], vec![0.75, 0.5], vec![1.0]]);
    // Never more than everything; and what stands above costs at least as much.
    assert_eq!(of(&[("A", 3.0), ("*", 0.8)]), [vec![0.0; 4], vec![1.0, 0.5], vec![1.0]]);
    assert_eq!(of(&[("*", 0.2)]), [vec![0.0; 4], vec![0.5, 0.5], vec![0.5]]);
    for wrong in [("C", 1.0), ("a", 2.0), ("A", -1.0), ("A", f64::INFINITY)] {
        let error = hierarchy(&counts, &[wrong]).expect_err("no such label or weight");
        assert!(error.to_string().contains("node_weights"), "{error}");
    }
}

/// Groups avoid what is dear: two attributes, of which one can be generalized for the same price as the other.
#[test]
fn methods_avoid_what_is_dear() {
    let mut counter = Counter::new(&["x", "y"], &[], &Missing::default());
    let rows: Vec<Vec<Cell>> = [("a", "a"), ("b", "a"), ("a", "b"), ("b", "b")]
        .iter()
        .map(|(x, y)| vec![Some(x.to_string()), Some(y.to_string())])
        .chain(
            [("c", "c"), ("d", "d"), ("c", "c"), ("d", "d")]
                .iter()
                .map(|(x, y)| vec![Some(x.to_string()), Some(y.to_string())]),
        )
        .collect();
    counter.push(&batch(&["x", "y"], &rows)).expect("texts");
    let counts = counter.finish();
    for dear in 0..2 {
        let rule = Rule::Table(LabelTable::parse("tree", TREE).expect("a tree"));
        let hierarchies: Vec<Hierarchy> = counts
            .domains()
            .iter()
            .enumerate()
            .map(|(a, domain)| {
                let weights = if a == dear { BTreeMap::from([("A".to_string(), 1.8)]) } else { BTreeMap::new() };
                rule.resolve(domain).expect("known values").with_node_weights(&weights).expect("a known label")
            })
            .collect();
        for method in Method::KEEPING_L {
            let assignment = Assignment {
                counts: &counts,
                hierarchies: &hierarchies,
                weights: &[1.0, 1.0],
                least: Least::of(2, None),
                seed: 0,
                n_exchanges: 0,
            };
            let recoding = method.recode(&assignment, CellStyle::Ranges, &Task::default()).expect("k records");
            let is_generalized = |a: usize| (0..recoding.n_groups()).any(|group| recoding.cell(group, a).text == "A");
            assert!(is_generalized(1 - dear) && !is_generalized(dear), "{method:?} {dear}");
        }
    }
}
