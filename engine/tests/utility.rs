//! What analysts see of a release, beside plain sums over all that may be behind its cells.

use crate::common;

use std::collections::BTreeMap;

use common::{Cell, counts_of};
use incrowd::random::Random;
use incrowd::recode::method::Assignment;
use incrowd::recode::partition::{CellStyle, Least};
use incrowd::recode::{Recoding, Span};
use incrowd::table::{Code, Kind as ValueKind};
use incrowd::task::Task;
use incrowd::utility::Target;
use incrowd::utility::association::Kind;
use incrowd::utility::attribute::Attribute;
use incrowd::utility::preview::{Preview, Utility, hierarchies_of};
use incrowd::utility::regression::{Estimate, Model, overlap};
use incrowd::utility::view::{N_FOLDS, Source};
use incrowd::{GroupCounts, Hierarchy, Method, Missing, Rule};
use proptest::prelude::*;

const QUASI: [&str; 3] = ["age", "job", "sex"];

/// Records with two sensitive columns, income and ill.
fn random_rows(n: usize, seed: u64) -> Vec<Vec<Cell>> {
    let mut random = Random::new(seed);
    let row = |_| {
        let age = 20 + random.below(17) + random.below(9);
        let job = ["cook", "nurse", "smith"][random.below(3) as usize];
        let sex = ["f", "m"][usize::from(random.below(10) < if job == "smith" { 8 } else { 4 })];
        let income = if random.below(45) + 10 < age { "high" } else { "low" };
        let ill = ["flu", "gout", "cold"][(random.below(3) * random.below(2)) as usize];
        [age.to_string().as_str(), job, sex, income, ill].map(|text| Some(text.to_string())).to_vec()
    };
    (0..n).map(row).collect()
}

fn names(sensitive: &[&'static str]) -> Vec<&'static str> {
    QUASI.iter().chain(sensitive).copied().collect()
}

fn counts(rows: &[Vec<Cell>], sensitive: &[&'static str]) -> GroupCounts {
    let place = |name: &&str| ["age", "job", "sex", "income", "ill"].iter().position(|known| known == name);
    let places: Vec<usize> = names(sensitive).iter().filter_map(place).collect();
    let rows: Vec<Vec<Cell>> = rows.iter().map(|row| places.iter().map(|&i| row[i].clone()).collect()).collect();
    counts_of(&QUASI, sensitive, &Missing::default(), &rows)
}

fn flat(counts: &GroupCounts) -> Vec<Hierarchy> {
    counts.domains().iter().map(|domain| Rule::Flat.resolve(domain).expect("any values")).collect()
}

fn recoding(counts: &GroupCounts, k: u64, method: Method, style: CellStyle) -> Recoding {
    let hierarchies = flat(counts);
    let (weights, least) = ([1.0; 3], Least::of(k, None));
    let assignment =
        Assignment { counts, hierarchies: &hierarchies, weights: &weights, least, seed: 1, n_exchanges: 9 };
    method.recode(&assignment, style, &Task::default()).expect("enough records")
}

fn utility(rows: &[Vec<Cell>], target: Target, k: u64, method: Method, style: CellStyle) -> Utility {
    let counts = counts(rows, &["income", "ill"]);
    let hierarchies = hierarchies_of(&counts, &flat(&counts)).expect("they fit");
    let preview = Preview::new(&counts, &hierarchies, Some(target), 3, &Task::default()).expect("an attribute");
    preview.utility(&counts, &recoding(&counts, k, method, style), &Task::default()).expect("it fits")
}

// ---- The naive twin: everything that may be behind a cell, one by one ----

/// A record that may be: its texts, and how much of a record it is.
type Possible = (Vec<String>, f64);

fn texts_behind(hierarchy: &Hierarchy, span: &Span) -> Vec<String> {
    let text = |code: Code| hierarchy.level(0).labels()[code.index()].clone();
    let (low, high) = match span {
        Span::Value(code) => return vec![text(*code)],
        Span::Set(codes) => return codes.iter().map(|code| text(*code)).collect(),
        Span::Range(low, high) => (*low, *high),
        Span::Label(..) => (Code(0), Code(hierarchy.level(0).len() as u32 - 1)),
        other => panic!("{other:?} is not tried here"),
    };
    match hierarchy.kind() {
        ValueKind::Integer => {
            let number = |code| text(code).parse::<i64>().expect("a number");
            (number(low)..=number(high)).map(|number| number.to_string()).collect()
        }
        _ => (low.0..=high.0).map(|code| text(Code(code))).collect(),
    }
}

/// All that may be in a release.
fn possible(counts: &GroupCounts, recoding: &Recoding) -> Vec<Possible> {
    let hierarchies = flat(counts);
    let mut all = Vec::new();
    for base in 0..counts.n_groups() {
        let cells: Vec<_> = counts.cells(base).collect();
        for share in recoding.shares(base) {
            let Some(group) = share.group else { continue };
            let of_share = match share.cell {
                Some(cell) => vec![(cells[cell as usize].0, share.n_records)],
                None => cells.clone(),
            };
            for (codes, n) in of_share {
                let mut records: Vec<Possible> = vec![(Vec::new(), n as f64)];
                let sensitive = codes.iter().zip(counts.sensitive());
                let sensitive: Vec<String> = sensitive.map(|(code, of)| of.values()[code.index()].clone()).collect();
                let behind = (0..3).map(|a| texts_behind(&hierarchies[a], &recoding.cell(group as usize, a).span));
                for values in behind.chain(sensitive.into_iter().map(|value| vec![value])) {
                    let longer = |(record, n): Possible| {
                        let part = n / values.len() as f64;
                        let record = move |value: &String| ([&record[..], std::slice::from_ref(value)].concat(), part);
                        values.iter().map(record).collect::<Vec<_>>()
                    };
                    records = records.into_iter().flat_map(longer).collect();
                }
                all.extend(records);
            }
        }
    }
    all
}

fn number(text: &str) -> f64 {
    text.parse().expect("a number")
}

/// The associations by their definitions: means first, then deviations from them.
fn naive_association(all: &[Possible], a: usize, b: usize, kind: Kind) -> f64 {
    let n: f64 = all.iter().map(|(_, n)| n).sum();
    let mean = |value: &dyn Fn(&[String]) -> f64| all.iter().map(|(record, n)| n * value(record)).sum::<f64>() / n;
    let variance = |a: usize| {
        let middle = mean(&|record| number(&record[a]));
        mean(&|record| (number(&record[a]) - middle).powi(2))
    };
    match kind {
        Kind::Correlation => {
            let (x, y) = (mean(&|record| number(&record[a])), mean(&|record| number(&record[b])));
            mean(&|record| (number(&record[a]) - x) * (number(&record[b]) - y)) / (variance(a) * variance(b)).sqrt()
        }
        Kind::CramersV => {
            let (mut rows, mut columns, mut cells) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
            for (record, n) in all {
                *rows.entry(&record[a]).or_insert(0.0) += n;
                *columns.entry(&record[b]).or_insert(0.0) += n;
                *cells.entry((&record[a], &record[b])).or_insert(0.0) += n;
            }
            let mut chi_square = 0.0;
            for (row, of_row) in &rows {
                for (column, of_column) in &columns {
                    let expected: f64 = of_row * of_column / n;
                    let observed: f64 = cells.get(&(*row, *column)).copied().unwrap_or(0.0);
                    chi_square += (observed - expected).powi(2) / expected;
                }
            }
            match rows.len().min(columns.len()) {
                0 | 1 => 0.0,
                least => (chi_square / n / (least - 1) as f64).sqrt(),
            }
        }
        Kind::CorrelationRatio => {
            let (x, class) = if all[0].0[a].parse::<f64>().is_ok() { (a, b) } else { (b, a) };
            let mut sums: BTreeMap<&String, (f64, f64)> = BTreeMap::new();
            for (record, n) in all {
                let (size, sum) = sums.entry(&record[class]).or_default();
                (*size, *sum) = (*size + n, *sum + n * number(&record[x]));
            }
            let within = mean(&|record| {
                let (size, sum) = sums[&record[class]];
                (number(&record[x]) - sum / size).powi(2)
            });
            (1.0 - within / variance(x)).max(0.0).sqrt()
        }
    }
}

fn check_twin(rows: &[Vec<Cell>], k: u64, method: Method, style: CellStyle) {
    let found = utility(rows, Target::Sensitive(0), k, method, style);
    let counts = counts(rows, &["income", "ill"]);
    let released = possible(&counts, &recoding(&counts, k, method, style));
    let source: Vec<Possible> = rows.iter().map(|row| (row.iter().flatten().cloned().collect(), 1.0)).collect();
    let n: f64 = released.iter().map(|(_, n)| n).sum();
    assert!((n - rows.len() as f64).abs() < 1e-6);
    for (a, distribution) in found.distributions.iter().enumerate() {
        let share = |all: &[Possible], class: &str| {
            let is_in = |text: &str| match class.split_once(" to ") {
                Some((low, high)) => number(low) <= number(text) && number(text) <= number(high),
                None => text == class,
            };
            all.iter().filter(|(record, _)| is_in(&record[a])).map(|(_, n)| n).sum::<f64>() / n
        };
        // A whole number that nobody has is in no class by its name, but in the next one.
        let is_plain = distribution.attribute != "age";
        let mut distance = 0.0;
        for (i, class) in distribution.classes.iter().enumerate() {
            let (before, after) = (share(&source, class), share(&released, class));
            assert!((distribution.before[i] - before).abs() < 1e-9, "{class}");
            assert!(!is_plain || (distribution.after[i] - after).abs() < 1e-9, "{class}");
            distance += (distribution.before[i] - distribution.after[i]).abs() / 2.0;
        }
        assert!((distribution.after.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((distribution.distance - distance).abs() < 1e-9);
    }
    let all = ["age", "job", "sex", "income", "ill"];
    let place = |name: &str| all.iter().position(|known| *known == name).expect("an attribute");
    assert_eq!(found.associations.len(), 10);
    for pair in &found.associations {
        let (a, b) = (place(&pair.attributes.0), place(&pair.attributes.1));
        let (before, after) =
            (naive_association(&source, a, b, pair.kind), naive_association(&released, a, b, pair.kind));
        assert!((pair.before - before).abs() < 1e-6, "{pair:?} {before}");
        assert!((pair.after - after).abs() < 1e-6, "{pair:?} {after}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn distributions_and_associations_are_plain_sums(n in 12..60usize, seed: u64, k in 1..6u64, style in 0..3usize) {
        let style = [CellStyle::Ranges, CellStyle::Sets, CellStyle::Stars][style];
        for method in [Method::TopDown, Method::Mondrian, Method::Deal] {
            check_twin(&random_rows(n, seed), k, method, style);
        }
    }

    /// Where every record is published as it is, nothing changes.
    #[test]
    fn an_exact_release_says_what_the_source_says(n in 40..90usize, seed: u64, target in 0..5usize) {
        let target = if target < 3 { Target::QuasiIdentifier(target) } else { Target::Sensitive(target - 3) };
        let found = utility(&random_rows(n, seed), target, 1, Method::Mondrian, CellStyle::Ranges);
        prop_assert!(found.distributions.iter().all(|one| one.distance < 1e-12));
        prop_assert!(found.associations.iter().all(|one| one.change() < 1e-9));
        let target = found.target.expect("it was named");
        prop_assert!((target.accuracy.after - target.accuracy.before).abs() < 1e-12);
        for coefficient in &target.regression.coefficients {
            prop_assert!(coefficient.overlap > 1.0 - 1e-6, "{coefficient:?}");
        }
    }
}

/// The classifier record by record: probabilities multiplied, parts told by the source's own rows.
#[test]
fn the_classifier_is_plain_counting() {
    for seed in 0..20 {
        let rows = random_rows(150, seed);
        let counts = counts(&rows, &["income", "ill"]);
        let hierarchies = hierarchies_of(&counts, &flat(&counts)).expect("they fit");
        let preview =
            Preview::new(&counts, &hierarchies, Some(Target::Sensitive(0)), 3, &Task::default()).expect("known");
        let recoding = recoding(&counts, 5, Method::TopDown, CellStyle::Ranges);
        let accuracy =
            preview.utility(&counts, &recoding, &Task::default()).expect("it fits").target.expect("named").accuracy;

        let n_of = |domain: usize| -> Vec<u64> {
            let mut n = vec![0; hierarchies[domain].level(0).len()];
            (0..counts.n_groups()).for_each(|base| n[counts.codes(base)[domain.min(2)].index()] += counts.size(base));
            n
        };
        let attributes: Vec<Attribute> = (0..5)
            .map(|a| match a {
                0..=2 => Attribute::new(&hierarchies[a], &n_of(a), 20, 256),
                _ => Attribute::new(&hierarchies[a], &counts.distribution(a - 3), 20, 256),
            })
            .collect();
        let source = Source::new(&counts, &attributes, 3);
        let released = source.released(&attributes, &counts, &recoding, &Task::default()).expect("it fits");
        let plain = |view: &incrowd::utility::view::View| {
            let mut n_right = 0.0;
            for part in 0..N_FOLDS {
                // By class of the target: how many, and how many with each class of each attribute.
                let mut sizes = [0.0; 2];
                let mut with: BTreeMap<(usize, u32, usize), f64> = BTreeMap::new();
                for row in 0..view.len() {
                    let n: f64 = (0..N_FOLDS).filter(|other| *other != part).map(|other| view.parts(row)[other]).sum();
                    let class = view.belief(row, 3).shares[0].0 as usize;
                    sizes[class] += n;
                    for a in 0..3 {
                        for (value, share) in &view.belief(row, a).shares {
                            *with.entry((a, *value, class)).or_default() += n * share;
                        }
                    }
                }
                for row in 0..source.view.len() {
                    let likely = |class: usize| {
                        let mut p = (sizes[class] + 1.0) / (sizes[0] + sizes[1] + 2.0);
                        for (a, attribute) in attributes[..3].iter().enumerate() {
                            let value = source.view.belief(row, a).shares[0].0;
                            let n = with.get(&(a, value, class)).copied().unwrap_or(0.0);
                            p *= (n + 1.0) / (sizes[class] + attribute.classes().len() as f64);
                        }
                        p
                    };
                    let said = usize::from(likely(1) > likely(0) * (1.0 + 1e-9));
                    if source.view.belief(row, 3).shares[0].0 as usize == said {
                        n_right += source.view.parts(row)[part];
                    }
                }
            }
            n_right / 150.0
        };
        assert!((accuracy.before - plain(&source.view)).abs() < 1e-12, "{accuracy:?}");
        assert!((accuracy.after - plain(&released)).abs() < 1e-12, "{accuracy:?}");
        let n_high = rows.iter().filter(|row| row[3].as_deref() == Some("high")).count();
        assert_eq!(accuracy.baseline, n_high.max(150 - n_high) as f64 / 150.0);
    }
}

fn table(rows: &[(&str, &str, u32)]) -> (GroupCounts, Vec<Hierarchy>) {
    let repeated = rows.iter().flat_map(|(x, y, n)| std::iter::repeat_n((x, y), *n as usize));
    let rows: Vec<Vec<Cell>> = repeated.map(|(x, y)| vec![Some(x.to_string()), Some(y.to_string())]).collect();
    let counts = counts_of(&["x"], &["y"], &Missing::default(), &rows);
    let hierarchies = vec![Rule::Flat.resolve(&counts.domains()[0]).expect("any values")];
    (counts, hierarchies)
}

fn exact(counts: &GroupCounts, hierarchies: &[Hierarchy]) -> Utility {
    let all = hierarchies_of(counts, hierarchies).expect("they fit");
    let preview = Preview::new(counts, &all, Some(Target::Sensitive(0)), 0, &Task::default()).expect("known");
    let least = Least::of(1, None);
    let assignment = Assignment { counts, hierarchies, weights: &[1.0], least, seed: 0, n_exchanges: 0 };
    let recoding = Method::Mondrian.recode(&assignment, CellStyle::Ranges, &Task::default()).expect("a record");
    preview.utility(counts, &recoding, &Task::default()).expect("it fits")
}

fn assert_near(found: Estimate, value: f64, error: f64) {
    assert!((found.value - value).abs() < 1e-7, "{found:?} {value}");
    assert!(((found.high - found.low) / 2.0 - 1.959_963_984_540_054 * error).abs() < 1e-7, "{found:?} {error}");
}

/// One number explains another: slope = Sxy / Sxx, its squared error s² / Sxx.
#[test]
fn least_squares_by_hand() {
    let points: [(f64, f64); 5] = [(1.0, 2.0), (2.0, 2.0), (3.0, 5.0), (4.0, 4.0), (6.0, 9.0)];
    let texts: Vec<(String, String)> = points.iter().map(|(x, y)| (x.to_string(), y.to_string())).collect();
    let rows: Vec<(&str, &str, u32)> = texts.iter().map(|(x, y)| (x.as_str(), y.as_str(), 1)).collect();
    let (counts, hierarchies) = table(&rows);
    let found = exact(&counts, &hierarchies).target.expect("named").regression;
    assert_eq!(found.model, Model::LeastSquares);
    let (x, y) = (3.2, 4.4);
    let sxx: f64 = points.iter().map(|(a, _)| (a - x).powi(2)).sum();
    let sxy: f64 = points.iter().map(|(a, b)| (a - x) * (b - y)).sum();
    let slope = sxy / sxx;
    let squares: f64 = points.iter().map(|(a, b)| (b - y - slope * (a - x)).powi(2)).sum();
    assert_near(found.coefficients[0].before, slope, (squares / 3.0 / sxx).sqrt());
}

/// Two categories explain two values: the logarithm of the odds' ratio, its squared error the sum of 1 / n.
#[test]
fn logistic_regression_by_hand() {
    let (counts, hierarchies) = table(&[("a", "no", 40), ("a", "yes", 10), ("b", "no", 15), ("b", "yes", 20)]);
    let found = exact(&counts, &hierarchies).target.expect("named").regression;
    assert_eq!(found.model, Model::Logistic("yes".to_string()));
    assert_eq!(found.coefficients[0].category.as_deref(), Some("b"));
    let error = (1.0 / 40.0 + 1.0 / 10.0 + 1.0 / 15.0 + 1.0 / 20.0f64).sqrt();
    assert_near(found.coefficients[0].before, (20.0 * 40.0 / (15.0 * 10.0f64)).ln(), error);
}

#[test]
fn the_overlap_of_karr_and_others() {
    let interval = |low: f64, high: f64| Estimate { value: (low + high) / 2.0, low, high };
    for (one, other, expected) in [
        (interval(0.0, 2.0), interval(0.0, 2.0), 1.0),
        (interval(0.0, 2.0), interval(1.0, 5.0), (0.5 + 0.25) / 2.0),
        (interval(0.0, 4.0), interval(1.0, 2.0), (0.25 + 1.0) / 2.0),
        (interval(0.0, 1.0), interval(2.0, 3.0), 0.0),
        (interval(1.0, 1.0), interval(1.0, 1.0), 1.0),
    ] {
        assert!((overlap(&one, &other) - expected).abs() < 1e-12, "{one:?} {other:?}");
        assert!((overlap(&other, &one) - expected).abs() < 1e-12);
    }
}

/// A column that was counted as a target alone is shared out in proportion to what is published.
#[test]
fn a_target_that_the_release_was_not_made_with() {
    let rows = random_rows(120, 8);
    let (with, without) = (counts(&rows, &["income", "ill"]), counts(&rows, &["ill"]));
    let hierarchies = hierarchies_of(&with, &flat(&with)).expect("they fit");
    let preview = Preview::new(&with, &hierarchies, Some(Target::Sensitive(0)), 3, &Task::default()).expect("known");
    let made = |counts: &GroupCounts| {
        let recoding = recoding(counts, 4, Method::Mondrian, CellStyle::Ranges);
        preview.utility(counts, &recoding, &Task::default()).expect("it fits")
    };
    // Strict cuts leave equal records together, so that it is known who is where.
    let (one, other) = (made(&with), made(&without));
    for (one, other) in one.associations.iter().zip(&other.associations) {
        assert!((one.after - other.after).abs() < 1e-9, "{one:?} {other:?}");
    }
    assert_eq!(one.target.expect("named").accuracy, other.target.expect("named").accuracy);
}

#[test]
fn threads_change_nothing() {
    let rows = random_rows(400, 5);
    let with = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        pool.install(|| utility(&rows, Target::QuasiIdentifier(0), 6, Method::TopDown, CellStyle::Ranges))
    };
    let one = with(1);
    assert_eq!(one, with(2));
    assert_eq!(one, with(5));
}

/// Everything hidden: the coefficients cannot be told, and a classifier tells no more than what is most frequent.
#[test]
fn a_release_that_says_nothing() {
    let rows = random_rows(100, 2);
    let found = utility(&rows, Target::Sensitive(0), 100, Method::Mondrian, CellStyle::Stars);
    let target = found.target.as_ref().expect("named");
    assert!(target.regression.coefficients.iter().all(|one| one.after.is_none() && one.overlap == 0.0));
    // Laplace's rule alone tells classes of different sizes apart.
    assert!(target.accuracy.after <= target.accuracy.baseline + 0.05, "{:?}", target.accuracy);
    assert!(found.most_changed().is_some_and(|pair| pair.after.abs() < 1e-9));
}
