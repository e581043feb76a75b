use crate::common::batch;
use incrowd::hierarchy::LabelTable;
use incrowd::loss::LOSS_ONE;
use incrowd::recode::keep::{self, Demand, Wanted};
use incrowd::recode::method::Assignment;
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::tree::Tree;
use incrowd::recode::tree::negotiate::Request;
use incrowd::task::{SearchProgress, Task};
use incrowd::*;
use std::time::Instant;

#[test]
#[ignore]
fn adult() {
    let dir = "../../shared/adult";
    let names = ["age", "workclass", "race", "occupation", "education", "marital-status", "sex", "native-country"];
    let text = std::fs::read_to_string(format!("{dir}/adult.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let at = |name: &str| header.iter().position(|n| *n == name).unwrap();
    let all: Vec<&str> = names.iter().copied().chain(["hours-per-week"]).collect();
    let rows: Vec<Vec<Option<String>>> = lines
        .map(|l| l.split(',').collect::<Vec<_>>())
        .filter(|r| {
            r.len() == header.len()
                && ["workclass", "occupation", "native-country"].iter().all(|n| r[at(n)].trim() != "?")
        })
        .map(|r| all.iter().map(|n| Some(r[at(n)].trim().to_string())).collect())
        .collect();
    let mut counter = Counter::new(&names, &["hours-per-week"], &Missing::default());
    counter.push(&batch(&all, &rows)).unwrap();
    let counts = counter.finish();
    println!("{} records {} groups", counts.n_records(), counts.n_groups());
    let hierarchies: Vec<Hierarchy> = names
        .iter()
        .zip(counts.domains())
        .map(|(n, d)| {
            let path = [format!("{dir}/hierarchies/{n}.csv"), format!("{dir}/arx-hierarchies/{n}.csv")]
                .into_iter()
                .find(|p| std::path::Path::new(p).exists())
                .unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            let rows = (1..)
                .zip(text.lines())
                .map(|(i, l)| (i, l.split(';').map(|c| c.trim().to_string()).collect()))
                .collect();
            Rule::Table(LabelTable::new("x.csv", rows).unwrap()).resolve(d).unwrap()
        })
        .collect();
    let weights = vec![1.0; 8];
    let yardstick = Yardstick::new(&counts, &[], []).unwrap();
    let start = Instant::now();
    let tree = Tree::grow(&counts, &hierarchies, &weights, &yardstick, &Task::default()).unwrap();
    println!(
        "tree {:?} nodes {} signatures {} mb {}",
        start.elapsed(),
        tree.shape().n_nodes(),
        tree.signatures().len(),
        tree.n_bytes() as f64 / 1e6
    );
    let whole = (counts.n_records() * LOSS_ONE) as f64;
    let refine: u64 = std::env::var("REFINE").ok().map_or(0, |t| t.parse().unwrap());
    for k in [2u64, 3, 5, 7, 10, 20, 25, 50, 100] {
        let criteria = Criteria::of(Some(k), None);
        let start = Instant::now();
        let cut = tree.cut(&criteria, 0, &Task::default()).unwrap().unwrap();
        let t0 = start.elapsed();
        let start = Instant::now();
        let lost = tree.cut(&criteria, 301, &Task::default()).unwrap().unwrap();
        let t1 = start.elapsed();
        let assignment = Assignment {
            counts: &counts,
            hierarchies: &hierarchies,
            weights: &weights,
            least: Least::of(k, None),
            seed: 0,
            n_exchanges: 0,
        };
        let bottom = Method::BottomUp.partition(&assignment, &Task::default()).unwrap();
        let bottom = keep::loss(&bottom, &assignment).unwrap() as f64 / whole;
        let mondrian = Method::Mondrian.partition(&assignment, &Task::default()).unwrap();
        let mondrian = keep::loss(&mondrian, &assignment).unwrap() as f64 / whole;
        let ncp = cut.loss as f64 / whole;
        let mut refined = 0.0;
        if refine > 0 {
            let demand = Demand { yardstick: &yardstick, criteria: &criteria };
            let wanted = Wanted { demand, n_suppressed_max: 0, style: CellStyle::Ranges };
            let found = keep::published(&tree, &cut, &assignment, &wanted, &Task::default()).unwrap();
            let (better, _) = keep::improved(found, &assignment, &wanted, refine, &Task::default()).unwrap();
            refined = keep::loss(&better, &assignment).unwrap() as f64 / whole;
        }
        println!(
            "k {k:3} cut {ncp:.4} bottom-up {bottom:.4} ratio {:.3} mondrian {mondrian:.4} refined {refined:.4} {:.3} {t0:?}; 1%: {:.4} gap {} n {} {t1:?}",
            ncp / bottom,
            refined / bottom,
            lost.loss as f64 / whole,
            lost.loss - lost.loss_at_least,
            lost.n_suppressed
        );
    }
    let start = Instant::now();
    let request = Request {
        criteria: Criteria::of(Some(10), Some(3)),
        n_suppressed_max: 301,
        loss_max: Some(0.05),
        loss_max_of: vec![(0, 0.05)],
    };
    let answer = tree.negotiate(&request, &Task::default()).unwrap();
    println!("negotiate {:?}", start.elapsed());
    for offer in answer.offers() {
        println!(
            "  {:?} lost {} ncp {:.4} at least {:.4} {:?}",
            offer.criteria, offer.cut.n_suppressed, offer.ncp, offer.ncp_at_least, offer.ncp_of_attribute
        );
    }
    let start = Instant::now();
    let bargains = tree.frontier(&Request::default(), Measure::Size, &Task::default()).unwrap();
    println!("frontier {} in {:?}", bargains.len(), start.elapsed());
    let _ = |_: &SearchProgress| ();
}
