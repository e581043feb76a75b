//! Asks for more than a small table can give, and prints the three offers: `cargo run -p incrowd --example haggle`.

use std::error::Error;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use incrowd::task::Task;
use incrowd::{
    Answer, Counter, Criteria, Level, Missing, Plan, Ranking, Request, Rule, Scheme, Yardstick, annotate, negotiate,
};

fn main() -> Result<(), Box<dyn Error>> {
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![23, 24, 27, 31, 34, 36, 38, 52, 57, 71]));
    let towns = vec!["Ulm", "Ulm", "Bonn", "Ulm", "Bonn", "Bonn", "Ulm", "Ulm", "Bonn", "Kiel"];
    let table = RecordBatch::try_from_iter([("age", ages), ("town", Arc::new(StringArray::from(towns)) as ArrayRef)])?;

    let mut counter = Counter::new(&["age", "town"], &[], &Missing::default());
    counter.push(&table)?;
    let counts = counter.finish();

    let rules = [Rule::intervals(vec![5.0, 10.0, 20.0], 0.0)?, Rule::Flat];
    let domains = rules.iter().zip(counts.domains());
    let hierarchies = domains.map(|(rule, domain)| rule.resolve(domain)).collect::<incrowd::Result<Vec<_>>>()?;
    let yardstick = Yardstick::new(&counts, &[], [])?;
    let plan = Plan { weights: &[1.0, 1.0], yardstick: &yardstick, with_entropy: false };
    let lattice = annotate(&counts, &hierarchies, &plan, &Task::default())?;

    // Two alike, ages by tens at most, and nobody lost: that is too much to ask.
    let request = Request {
        criteria: Criteria::of(Some(2), None),
        level_max: Scheme::new(vec![Level(2), Level(0)]),
        n_suppressed_max: 0,
        best_by: Ranking::default(),
    };
    match negotiate(&lattice, &request)? {
        Answer::Exact(offer) => println!("publish at levels {}", offer.scheme),
        Answer::Offers(offers) => {
            let suppression = &offers.suppression;
            println!("lose more records: {} at levels {}", suppression.n_suppressed, suppression.scheme);
            if let Some(offer) = offers.height {
                println!("generalize further: to levels {}", offer.scheme);
            }
            if let Some(offer) = offers.privacy {
                println!("take less privacy: {} alike at levels {}", offer.smallest_group().unwrap_or(0), offer.scheme);
            }
        }
    }
    Ok(())
}
