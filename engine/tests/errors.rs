//! What is wrong is said with its place and its size, and never with a value of the data.

use crate::common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{ArrayRef, BinaryArray, RecordBatch};
use common::random::all_measures;
use common::*;
use incrowd::hierarchy::{DateUnit, LabelTable, Side, absent_values};
use incrowd::judge::judge;
use incrowd::lattice::{groups_of, outcome_of};
use incrowd::query::{Draw, Workload, draw_queries};
use incrowd::recode::global;
use incrowd::recode::method::{Assignment, Method};
use incrowd::recode::partition::Least;
use incrowd::recode::per_record::dictionary::Match;
use incrowd::recode::per_record::{Problem, Risk, Sensitivities, Utility};
use incrowd::release::{Column, Publisher};
use incrowd::search::frontier::frontier;
use incrowd::search::negotiate::offer_of;
use incrowd::search::on_demand::negotiate_on_demand;
use incrowd::search::partial::{Estimator, Selection, annotate_partially};
use incrowd::task::Task;
use incrowd::verify::{Outside, SuppressedAs};
use incrowd::{
    Counter, Criteria, Domain, Error, ErrorKind, Hierarchy, Lattice, Measure, Missing, Plan, Quality, Ranking, Request,
    Result, Rule, Verifier, Yardstick, annotate,
};

/// The values of the column that all of this is about; no message may hold one.
const VALUES: [&str; 3] = ["SECRET17", "SECRET18", "SECRET19"];

fn domain() -> Domain {
    Domain::new("city", VALUES.map(String::from).to_vec(), None)
}

/// The error is of a kind, at a place, says some words, and gives a hint.
#[track_caller]
fn check<T>(result: Result<T>, kind: ErrorKind, position: Option<&str>, words: &[&str]) {
    let Err(error) = result else { panic!("this must be refused: {words:?}") };
    assert_eq!(error.kind(), kind, "{error}");
    assert_eq!(error.position().map(ToString::to_string).as_deref(), position, "{error}");
    for word in words {
        assert!(error.message().to_string().contains(word), "'{word}' is not in: {error}");
    }
    check_words(&error);
}

/// Every message reads alike, and holds no value.
#[track_caller]
fn check_words(error: &Error) {
    let text = format!("{error} {error:?}");
    assert!(!text.to_lowercase().contains("secret"), "a value is in: {text}");
    assert!(!error.message().to_string().ends_with('.') && !error.message().to_string().is_empty(), "{error}");
    let first = error.message().to_string().chars().next().expect("not empty");
    assert!(!first.is_uppercase(), "messages begin in lower case: {error}");
    if let Some(position) = error.position() {
        assert!(error.to_string().starts_with(&format!("{position}: ")), "the place comes first: {error}");
    }
}

#[track_caller]
fn check_hint<T>(result: Result<T>, words: &str) {
    let Err(error) = result else { panic!("this must be refused") };
    let hint = error.hint_given().unwrap_or_else(|| panic!("no hint: {error}")).to_string();
    assert!(hint.contains(words), "'{words}' is not in: {error}");
}

// ---- Hierarchies ----

/// Reads a file of labels and applies it to the values.
fn labels(text: &str) -> Result<()> {
    let table = LabelTable::parse("city.csv", text)?;
    Rule::Table(table).resolve(&domain()).map(|_| ())
}

#[test]
fn a_file_of_labels_that_is_wrong_is_refused_with_its_line() {
    use ErrorKind::Hierarchy;
    let complete = "SECRET17;a\nSECRET18;a\nSECRET19;b\n";
    assert!(labels(complete).is_ok());
    assert!(labels(&format!("\u{feff}{complete}")).is_ok());

    check(labels("SECRET17;a\n"), Hierarchy, Some("city.csv"), &["attribute 'city'", "misses 2 values"]);
    check(
        labels("SECRET17;a\nSECRET18;a\n"),
        Hierarchy,
        Some("city.csv"),
        &["attribute 'city'", "misses 1 value that"],
    );
    check_hint(labels("SECRET17;a\n"), "the values of 'city' that its hierarchy does not know");

    let twice = format!("{complete}SECRET18;a\n");
    check(labels(&twice), Hierarchy, Some("city.csv:4"), &["attribute 'city'", "1 value is mapped twice", "line 2"]);
    let thrice = format!("{twice}SECRET18;a\nSECRET17;a\n");
    check(labels(&thrice), Hierarchy, Some("city.csv:4"), &["3 values are mapped twice", "line 2"]);

    let no_tree = "SECRET17;SECRETS;x\nSECRET18;SECRETS;y\nSECRET19;SECRETS;z\n";
    check(
        labels(no_tree),
        Hierarchy,
        Some("city.csv:2"),
        &["attribute 'city'", "not a tree", "2 values have", "line 1", "level 1", "level 2"],
    );
    let one_off = "SECRET17;a;x\nSECRET18;a;x\nSECRET19;a;z\n";
    check(labels(one_off), Hierarchy, Some("city.csv:3"), &["not a tree: 1 value has", "line 1"]);

    check(labels(""), Hierarchy, Some("city.csv"), &["is empty"]);
    check(labels("\n\n"), Hierarchy, Some("city.csv"), &["is empty"]);
    check_hint(labels(""), "one line per value");

    let ragged = "SECRET17;a;x\nSECRET18;a\nSECRET19;b;x\n";
    check(labels(ragged), Hierarchy, Some("city.csv:2"), &["has 2 labels", "have 3"]);
}

/// A line is counted as an editor counts it, whatever ends it and however many are empty.
#[test]
fn the_line_of_an_error_is_that_of_the_file() {
    let lines = ["SECRET17;a", "SECRET18;a", "SECRET19;b", "SECRET18;a"];
    check(labels(&lines.join("\n")), ErrorKind::Hierarchy, Some("city.csv:4"), &["line 2"]);
    check(labels(&lines.join("\r\n")), ErrorKind::Hierarchy, Some("city.csv:4"), &["line 2"]);
    check(labels(&lines.join("\n\n")), ErrorKind::Hierarchy, Some("city.csv:7"), &["line 3"]);
    let quoted = ["SECRET17;\"two\nlines\"", "SECRET18;a", "SECRET19;b", "SECRET18;a"];
    check(labels(&quoted.join("\n")), ErrorKind::Hierarchy, Some("city.csv:5"), &["line 3"]);
}

#[test]
fn a_rule_that_does_not_nest_is_refused() {
    use ErrorKind::Hierarchy;
    for (widths, origin, words) in [
        (vec![], 0.0, "at least one width"),
        (vec![0.0], 0.0, "positive"),
        (vec![-5.0], 0.0, "positive"),
        (vec![f64::NAN], 0.0, "positive"),
        (vec![f64::INFINITY], 0.0, "positive"),
        (vec![5.0], f64::NAN, "positive"),
        (vec![5.0, 12.0], 0.0, "width 12 is not a multiple of width 5"),
        (vec![5.0, 5.0], 0.0, "width 5 is not a multiple of width 5"),
        (vec![10.0, 5.0], 0.0, "width 5 is not a multiple of width 10"),
        (vec![5.0, 10.0, 25.0], 0.0, "width 25 is not a multiple of width 10"),
    ] {
        check(Rule::intervals(widths.clone(), origin), Hierarchy, None, &[words]);
        check_hint(Rule::intervals(widths, origin), "5, 10, 20 from 0 on");
    }
    for (levels, words) in [
        (vec![], "at least one list"),
        (vec![vec![]], "level 1 must be increasing"),
        (vec![vec![3.0, 1.0]], "level 1 must be increasing"),
        (vec![vec![1.0, 1.0]], "level 1 must be increasing"),
        (vec![vec![1.0, f64::NAN]], "level 1 must be increasing"),
        (vec![vec![1.0, 2.0], vec![2.0, 1.0]], "level 2 must be increasing"),
        (vec![vec![1.0, 2.0], vec![1.5]], "level 2 cuts where level 1 does not"),
        (vec![vec![1.0, 2.0], vec![1.0], vec![2.0]], "level 3 cuts where level 2 does not"),
    ] {
        check(Rule::cuts(levels.clone()), Hierarchy, None, &[words]);
        check_hint(Rule::cuts(levels), "18, 30, 45, 65 and then 18, 65");
    }
    for hidden in [vec![], vec![0], vec![2, 2], vec![3, 1], vec![0, 1]] {
        check(Rule::mask(hidden, Side::Left), Hierarchy, None, &["increasing number of characters"]);
    }
    for units in [vec![], vec![DateUnit::Year, DateUnit::Month], vec![DateUnit::Year, DateUnit::Year]] {
        check(Rule::dates(units), Hierarchy, None, &["from fine to coarse"]);
    }
}

#[test]
fn a_rule_that_does_not_suit_the_values_is_refused_with_their_number() {
    use ErrorKind::Hierarchy;
    let with_one_good = |good: &str| {
        let values = VALUES.into_iter().chain([good]).map(String::from).collect();
        Domain::new("city", values, Some("?"))
    };
    let intervals = Rule::intervals(vec![5.0], 0.0).expect("one width");
    let cuts = Rule::cuts(vec![vec![5.0]]).expect("one cut");
    let dates = Rule::dates(vec![DateUnit::Year]).expect("one unit");
    let numbers = with_one_good("12");
    check(intervals.resolve(&numbers), Hierarchy, None, &["attribute 'city'", "intervals need numbers", "3 of"]);
    check(cuts.resolve(&numbers), Hierarchy, None, &["attribute 'city'", "cut points need numbers", "3 of"]);
    check(
        dates.resolve(&with_one_good("2024-03-31")),
        Hierarchy,
        None,
        &["attribute 'city'", "3 of", "are not dates like 2024-03-31"],
    );
    for wrong in ["2024-02-30", "2024-13-01", "24-01-01", "2024/01/01", "2024-1-1", "2024-03-31x"] {
        let domain = Domain::new("born", vec![wrong.to_string()], None);
        check(dates.resolve(&domain), Hierarchy, None, &["attribute 'born'", "1 of 1"]);
    }
    for wrong in ["inf", "nan", "1,5", "0x10", ""] {
        let domain = Domain::new("size", vec![wrong.to_string()], None);
        check(intervals.resolve(&domain), Hierarchy, None, &["attribute 'size'", "1 of 1"]);
    }
    check_hint(intervals.resolve(&numbers), "name what means \"no value\"");
}

#[test]
fn the_values_that_a_hierarchy_misses_are_told_only_when_asked_for() {
    let rule = Rule::Table(LabelTable::parse("city.csv", "SECRET18;a\n").expect("one line"));
    assert_eq!(absent_values(&rule, &domain()), ["SECRET17", "SECRET19"]);
    assert_eq!(absent_values(&Rule::Flat, &domain()), Vec::<&str>::new());
}

// ---- Data ----

#[test]
fn data_that_cannot_be_read_are_refused_by_column() {
    let rows = records(&[&[Some("SECRET17"), Some("x")]]);
    let texts = batch(&["city", "sex"], &rows);
    let mut counter = Counter::new(&["town"], &[], &Missing::default());
    check(counter.push(&texts), ErrorKind::Data, None, &["unknown column 'town'"]);
    let mut counter = Counter::new(&["citi"], &[], &Missing::default());
    check_hint(counter.push(&texts), "did you mean 'city'?");
    let mut verifier = Verifier::new(&["town".to_string()], &[], SuppressedAs::Group);
    check(verifier.push(&texts), ErrorKind::Data, None, &["unknown column 'town'"]);
    let mut verifier = Verifier::new(&["city".to_string()], &["disease".to_string()], SuppressedAs::Group);
    check(verifier.push(&texts), ErrorKind::Data, None, &["unknown column 'disease'"]);

    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"SECRET17"]));
    let binary = RecordBatch::try_from_iter([("city", bytes)]).expect("one column");
    let mut counter = Counter::new(&["city"], &[], &Missing::default());
    check(counter.push(&binary), ErrorKind::Data, None, &["column 'city' has type Binary"]);
    let mut verifier = Verifier::new(&["city".to_string()], &[], SuppressedAs::Group);
    check(verifier.push(&binary), ErrorKind::Data, None, &["column 'city' has type Binary"]);
}

#[test]
fn data_that_changed_since_they_were_counted_are_not_published() {
    let table = Table {
        quasi_identifiers: vec![Attribute::flat("city", &VALUES)],
        sensitive: vec![],
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: records(&[&[Some("SECRET17")], &[Some("SECRET17")], &[Some("SECRET18")]]),
    };
    let made = table.make();
    let recoding = global::recode(&made.counts, &made.hierarchies, &scheme(&[0]), &made.yardstick, &k(2))
        .expect("one of the schemes");
    let columns = || vec![Column::Recoded(0, "city".to_string())];
    let mut publisher = Publisher::new(&made.counts, &recoding, &table.missing, columns());
    let changed = batch(&["city"], &records(&[&[Some("SECRET19")]]));
    check(publisher.recode(&changed), ErrorKind::Data, None, &["column 'city'", "when the records were counted"]);
    let mut publisher = Publisher::new(&made.counts, &recoding, &table.missing, columns());
    let renamed = batch(&["town"], &table.records);
    check(publisher.recode(&renamed), ErrorKind::Data, None, &["unknown column 'city'"]);
}

// ---- Requests ----

/// Four records, three diseases; levels go up to 1 and 2.
fn small() -> Made {
    small_table().make()
}

fn small_table() -> Table {
    Table {
        quasi_identifiers: vec![
            Attribute::flat("sex", &["f", "m"]),
            Attribute::new("city", &[&["SECRET17", "SECRETS"], &["SECRET18", "SECRETS"], &["SECRET19", "others"]]),
        ],
        sensitive: one_sensitive(),
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: records(&[
            &[Some("f"), Some("SECRET17"), Some("SECRET flu")],
            &[Some("f"), Some("SECRET18"), Some("SECRET flu")],
            &[Some("m"), Some("SECRET19"), Some("SECRET gout")],
            &[Some("m"), Some("SECRET17"), Some("SECRET mumps")],
        ]),
    }
}

#[test]
fn a_request_without_a_meaning_is_refused() {
    let made = small();
    let ask = |criteria: Criteria, n_suppressed_max: u64, levels: &[u8]| {
        let request = request(criteria, n_suppressed_max, levels);
        let published = incrowd::search::as_published::negotiate_as_published(&made.lattice, &request);
        let answer = incrowd::negotiate(&made.lattice, &request);
        assert_eq!(published.as_ref().err(), answer.as_ref().err());
        answer
    };
    let refused = |criteria: Criteria, n_suppressed_max, levels: &[u8], words: &[&str]| {
        check(ask(criteria.clone(), n_suppressed_max, levels), ErrorKind::Request, None, words);
        check_hint(ask(criteria, n_suppressed_max, levels), "");
    };
    assert!(ask(k_and_l(4, 3), 4, &[1, 2]).is_ok());
    refused(Criteria::default(), 0, &[1, 2], &["no privacy is asked for"]);
    refused(k(0), 0, &[1, 2], &["k must be at least 1"]);
    refused(k(5), 0, &[1, 2], &["k = 5", "4 records"]);
    refused(k(u64::MAX), 0, &[1, 2], &["4 records"]);
    refused(l(0), 0, &[1, 2], &["l must be at least 1"]);
    refused(l(4), 0, &[1, 2], &["l = 4", "3 distinct values"]);
    refused(k_and_l(2, 4), 0, &[1, 2], &["l = 4"]);
    refused(k_and_l(5, 2), 0, &[1, 2], &["k = 5"]);
    refused(k(2), 5, &[1, 2], &["at most 4 records"]);
    refused(k(2), u64::MAX, &[1, 2], &["at most 4 records"]);
    refused(k(2), 0, &[2, 2], &["attribute 'sex'", "levels 0 to 1, not 2"]);
    refused(k(2), 0, &[1, 3], &["attribute 'city'", "levels 0 to 2, not 3"]);
    refused(k(2), 0, &[1, 255], &["attribute 'city'", "not 255"]);
}

#[test]
fn diversity_needs_a_sensitive_attribute() {
    let table = Table {
        quasi_identifiers: vec![Attribute::flat("sex", &["f"])],
        sensitive: vec![],
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: records(&[&[Some("f")], &[Some("f")]]),
    };
    let ask = |criteria| incrowd::negotiate(&table.make().lattice, &request(criteria, 0, &[1]));
    assert!(ask(k(2)).is_ok());
    check(ask(l(1)), ErrorKind::Request, None, &["l needs a sensitive attribute"]);
    check(ask(k_and_l(2, 2)), ErrorKind::Request, None, &["l needs a sensitive attribute"]);
    check_hint(ask(l(1)), "the role of a sensitive one");
}

/// Four records, three diseases, of which everything is measured.
#[test]
fn a_value_that_a_criterion_cannot_have_is_refused() {
    let mut table = small_table();
    table.wanted.measures = all_measures(1, false);
    let lattice = table.make().lattice;
    let ask = |measure: Measure, value: u64| {
        let request = request(Criteria::new([criterion(measure, value)]), 0, &[1, 2]);
        incrowd::negotiate(&lattice, &request)
    };
    let recursive = |l: u32| Measure::Recursive { sensitive: 0, l };
    let million = 1_000_000;
    for (measure, value) in [
        (Measure::Share(0), million),
        (Measure::Share(0), 333_334),
        (Measure::Entropy(0), million),
        (Measure::Entropy(0), 3 * million),
        (recursive(3), 1),
        (Measure::Closeness(0), 0),
        (Measure::Closeness(0), million),
        (Measure::Disclosure(0), 1),
        (Measure::Likeness(0), 0),
        (Measure::EnhancedLikeness(0), 0),
        (Measure::EnhancedLikeness(0), u64::MAX - 1),
    ] {
        assert!(ask(measure, value).is_ok(), "{measure:?} {value}");
    }
    for (measure, value, words) in [
        (Measure::Share(0), 0, "alpha must be above 0 and at most 1"),
        (Measure::Share(0), million + 1, "alpha must be above 0 and at most 1"),
        (Measure::Share(0), 333_333, "alpha = 0.333333 is less than an even share of 3 values"),
        (Measure::Entropy(0), million - 1, "entropy_l must be at least 1"),
        (Measure::Entropy(0), 3 * million + 1, "entropy_l = 3.000001 is larger than the 3 distinct values"),
        (recursive(2), 0, "c of (c,l)-diversity must be above 0"),
        (recursive(4), million, "4 is larger than the 3 distinct values"),
        (recursive(0), million, "l of (c,l)-diversity must be at least 1"),
        (Measure::Closeness(0), million + 1, "t must be from 0 to 1"),
        (Measure::Disclosure(0), 0, "delta must be above 0"),
        (Measure::Closeness(1), 0, "t needs a sensitive attribute"),
    ] {
        check(ask(measure, value), ErrorKind::Request, None, &[words]);
        check_hint(ask(measure, value), "");
    }
}

#[test]
fn what_was_not_measured_cannot_be_asked_for() {
    let made = small();
    let ask = |measure, value| {
        incrowd::negotiate(&made.lattice, &request(Criteria::new([criterion(measure, value)]), 0, &[1, 2]))
    };
    check(ask(Measure::Closeness(0), 1), ErrorKind::Request, None, &["annotated without t"]);
    check(ask(Measure::Population, 2), ErrorKind::Request, None, &["annotated without k_map"]);
    check_hint(ask(Measure::Closeness(0), 1), "annotate it again");
    let by_entropy = Request { best_by: Ranking::from(Quality::Entropy), ..request(k(2), 0, &[1, 2]) };
    check(incrowd::negotiate(&made.lattice, &by_entropy), ErrorKind::Request, None, &["without entropy"]);
    let yardstick = |measure| Yardstick::new(&made.counts, &[], [measure]);
    check(yardstick(Measure::Population), ErrorKind::Request, None, &["k_map needs a population"]);
    check(yardstick(Measure::Entropy(1)), ErrorKind::Request, None, &["entropy_l needs a sensitive attribute"]);
    check_hint(yardstick(Measure::Population), "population");
}

// ---- Work that is too large ----

#[test]
fn weights_that_mean_nothing_are_refused() {
    let made = small();
    let annotate =
        |weights: &[f64]| annotate(&made.counts, &made.hierarchies, &Plan { weights, ..made.plan() }, &Task::default());
    assert!(annotate(&[0.0, 1.0]).is_ok());
    for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for (place, hierarchy) in made.hierarchies.iter().enumerate() {
            let mut weights = [1.0, 1.0];
            weights[place] = wrong;
            let position = format!("attributes.{}.weight", hierarchy.attribute());
            check(annotate(&weights), ErrorKind::Project, Some(&position), &["at least 0"]);
        }
    }
    check(annotate(&[0.0, 0.0]), ErrorKind::Project, None, &["above 0"]);
}

#[test]
fn what_is_beyond_any_machine_is_said_in_words() {
    let made = small();
    let wide: Vec<Hierarchy> = (0..70).map(|_| made.hierarchies[0].clone()).collect();
    let plan = Plan { weights: &[1.0; 70], ..made.plan() };
    let result = annotate(&made.counts, &wide, &plan, &Task { n_bytes_max: 1 << 30, ..Task::default() });
    check(result, ErrorKind::TooLarge, None, &["more memory than any machine has"]);
}

#[test]
fn losses_depend_on_the_proportions_of_weights_alone() {
    let made = small();
    let ncp = |weights: &[f64]| {
        let plan = Plan { weights, ..made.plan() };
        let lattice = annotate(&made.counts, &made.hierarchies, &plan, &Task::default()).expect("good weights");
        (0..lattice.schemes().len()).map(|place| lattice.outcome(place, &k(1)).ncp).collect::<Vec<_>>()
    };
    for (one, other) in [(1.0, 1.0), (2.0, 1.0), (3.0, 5.0), (1.0, 0.0)] {
        let expected = ncp(&[one, other]);
        // Those whose sum is infinite, and those that are the least numbers that there are.
        for scale in [2f64.powi(1020), 2f64.powi(-1060), 2f64.powi(-500)] {
            assert_eq!(ncp(&[one * scale, other * scale]), expected, "{one} and {other} times {scale}");
        }
    }
    assert_eq!(ncp(&[1e308, 1e308]), ncp(&[1.0, 1.0]));
    assert_eq!(ncp(&[5e-324, 5e-324]), ncp(&[1.0, 1.0]));
    assert_eq!(ncp(&[1e308, 5e-324]), ncp(&[1.0, 0.0]));
}

#[test]
fn a_lattice_beyond_the_memory_allowed_is_refused() {
    let made = small();
    let annotate = |n_bytes_max| {
        let task = Task { n_bytes_max, ..Task::default() };
        annotate(&made.counts, &made.hierarchies, &made.plan(), &task)
    };
    let words = ["2 quasi-identifiers", "6 schemes"];
    assert!(annotate(1 << 20).is_ok());
    check(annotate(0), ErrorKind::TooLarge, None, &words);
    check(annotate(1_500), ErrorKind::TooLarge, None, &words);
    check_hint(annotate(0), "quasi_identifiers");
}

/// What a lattice takes is not known beforehand: the work stops where it becomes too much.
#[test]
fn a_lattice_that_outgrows_the_memory_allowed_is_given_up() {
    let made = much_to_remember().make();
    let annotate = |n_bytes_max: usize| {
        let task = Task { n_bytes_max: n_bytes_max as u64, ..Task::default() };
        annotate(&made.counts, &made.hierarchies, &made.plan(), &task)
    };
    let n_bytes: usize = (0..made.lattice.schemes().len()).map(|place| made.lattice.profile(place).n_bytes()).sum();
    assert!(n_bytes > 2 * 256 * made.lattice.schemes().len(), "not refused for the number of schemes alone");
    check(annotate(n_bytes / 2), ErrorKind::TooLarge, None, &["4 quasi-identifiers", "625 schemes"]);
    assert!(annotate(10 * n_bytes).is_ok());
}

/// Wherever the memory ends, there is an error or the whole lattice, and nothing else.
#[test]
fn memory_may_end_at_any_scheme() {
    let made = much_to_remember().make();
    let n_bytes: usize = (0..made.lattice.schemes().len()).map(|place| made.lattice.profile(place).n_bytes()).sum();
    for n_threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        let mut n_refused = 0;
        for step in 0..60 {
            let task = Task { n_bytes_max: (n_bytes * step / 30) as u64, ..Task::default() };
            match pool.install(|| annotate(&made.counts, &made.hierarchies, &made.plan(), &task)) {
                Ok(lattice) => assert!(same(&lattice, &made.lattice), "{n_threads} threads, step {step}"),
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::TooLarge, "{error}");
                    n_refused += 1;
                }
            }
        }
        assert!((15..60).contains(&n_refused), "{n_refused} refused on {n_threads} threads");
    }
}

/// Whoever cancels gets an error, whichever scheme it was at, and nothing panics.
#[test]
fn work_on_a_lattice_may_be_cancelled_at_any_scheme() {
    let made = much_to_remember().make();
    for n_threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
        for n_last in (1..=620).step_by(7) {
            let n_done = AtomicUsize::new(0);
            let task = Task {
                progress: &|n| {
                    n_done.fetch_add(n as usize, Ordering::SeqCst);
                },
                is_cancelled: &|| n_done.load(Ordering::SeqCst) >= n_last,
                ..Task::default()
            };
            let stopped = pool.install(|| annotate(&made.counts, &made.hierarchies, &made.plan(), &task));
            assert_eq!(stopped.map(|_| ()).map_err(|error| error.kind()), Err(ErrorKind::Cancelled));
            // Each thread may be at one more scheme when it hears of it.
            assert!(n_done.into_inner() < n_last + n_threads, "{n_threads} threads went on after {n_last} schemes");
        }
        let lattice = pool.install(|| annotate(&made.counts, &made.hierarchies, &made.plan(), &Task::default()));
        assert!(same(&lattice.expect("nobody has cancelled it"), &made.lattice));
    }
}

fn same(a: &Lattice, b: &Lattice) -> bool {
    let profile = |lattice: &Lattice, place: usize| lattice.profile(place).entries().to_vec();
    a.schemes().len() == b.schemes().len() && (0..a.schemes().len()).all(|place| profile(a, place) == profile(b, place))
}

/// 625 schemes over 150 groups, no two of the same size, so that there is much to remember of few groups.
fn much_to_remember() -> Table {
    let names: Vec<String> = (0..4).map(|a| format!("q{a}")).collect();
    let row = |i: usize| (0..4).map(|level| format!("{}", i >> level)).collect();
    let attribute = |name: &String| Attribute { name: name.clone(), rows: (0..13).map(row).collect(), weight: 1.0 };
    let group = |g: usize| (0..4).map(|a| Some((g * (2 * a + 1) / (a + 1) % 13).to_string())).collect::<Vec<Cell>>();
    Table {
        quasi_identifiers: names.iter().map(attribute).collect(),
        sensitive: vec![],
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: (1..=150).flat_map(|g| vec![group(g); g]).collect(),
    }
}

/// So many quasi-identifiers, each with so many values that occur.
fn wide(n_attributes: usize, n_values: usize) -> Table {
    let names: Vec<String> = (0..n_attributes).map(|a| format!("q{a}")).collect();
    let values: Vec<String> = (0..n_values).map(|i| format!("SECRET{i}")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    Table {
        quasi_identifiers: names.iter().map(|name| Attribute::flat(name, &values)).collect(),
        sensitive: vec![],
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: values.iter().map(|value| vec![Some(value.to_string()); n_attributes]).collect(),
    }
}

#[test]
fn more_quasi_identifiers_than_can_be_annotated_are_refused() {
    let annotate = |table: &Table, n_bytes_max: u64| {
        let counts = table.counts();
        let rules = table.quasi_identifiers.iter().map(Attribute::rule).zip(counts.domains());
        let hierarchies: Vec<_> = rules.map(|(rule, domain)| rule.resolve(domain).expect("complete")).collect();
        let task = Task { n_bytes_max, ..Task::default() };
        let (weights, yardstick) = (vec![1.0; hierarchies.len()], table.yardstick(&counts));
        annotate(&counts, &hierarchies, &Plan { weights: &weights, yardstick: &yardstick, with_entropy: false }, &task)
    };
    let gigabyte = 1_000_000_000;
    check(annotate(&wide(26, 2), gigabyte), ErrorKind::TooLarge, None, &["26 quasi-identifiers", "67108864 schemes"]);
    // More than can be numbered, however much memory there is.
    check(annotate(&wide(40, 2), u64::MAX), ErrorKind::TooLarge, None, &["40 quasi-identifiers", "schemes"]);
    check(annotate(&wide(64, 2), u64::MAX), ErrorKind::TooLarge, None, &["64 quasi-identifiers", "schemes"]);
    // The widest keys have 16,383 bits, and each of these attributes takes eight.
    assert!(annotate(&wide(15, 200), gigabyte).is_ok());
    let result = annotate(&wide(2_048, 200), u64::MAX);
    check(result, ErrorKind::TooLarge, None, &["2048 quasi-identifiers", "schemes"]);
}

#[test]
fn a_hierarchy_of_more_levels_than_can_be_numbered_is_refused() {
    let row = |value: &str, label: &str| [vec![value.to_string()], vec![label.to_string(); 300]].concat();
    let table = Table {
        quasi_identifiers: vec![Attribute {
            name: "deep".to_string(),
            rows: vec![row("SECRET17", "a"), row("SECRET18", "b")],
            weight: 1.0,
        }],
        sensitive: vec![],
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: records(&[&[Some("SECRET17")]]),
    };
    let counts = table.counts();
    let result = table.quasi_identifiers[0].rule().resolve(&counts.domains()[0]);
    check(result, ErrorKind::Hierarchy, None, &["attribute 'deep'", "more than 255 levels"]);
}

#[test]
fn annotating_without_quasi_identifiers_is_refused() {
    let counts = counts_of(&[], &["disease"], &Missing::default(), &records(&[&[Some("SECRET flu")]]));
    let yardstick = Yardstick::new(&counts, &[], []).expect("nothing is asked for");
    let plan = Plan { weights: &[], yardstick: &yardstick, with_entropy: false };
    check(annotate(&counts, &[], &plan, &Task::default()), ErrorKind::Request, None, &["quasi-identifier"]);
}

/// What a caller can get wrong is an error, whatever the call: lengths, attributes, schemes, criteria.
#[test]
fn what_a_caller_gets_wrong_is_an_error_and_no_panic() {
    let made = small();
    let (counts, hierarchies, plan) = (&made.counts, &made.hierarchies[..], made.plan());
    let task = Task::default();
    let n = hierarchies.len();
    assert!(n >= 2, "there is something to leave out");
    let fewer = &hierarchies[1..];
    let mut mixed_up = hierarchies.to_vec();
    mixed_up.reverse();
    let top: Vec<u8> = made.lattice.schemes().tops().to_vec();
    let criteria = k(2);
    let asked = request(criteria.clone(), 0, &top);
    let refused = |what: &str, result: Result<()>| {
        let error = result.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Request, "{what}: {error}");
        check_words(&error);
    };
    for wrong in [fewer, &mixed_up[..]] {
        let partial = Selection { share: 0.5, estimator: Estimator::Lambda };
        refused("annotate", incrowd::annotate(counts, wrong, &plan, &task).map(drop));
        refused("annotate_partially", annotate_partially(counts, wrong, &plan, partial, &task).map(drop));
        refused("on demand", negotiate_on_demand(counts, wrong, &plan, &asked, &task).map(drop));
        refused("groups_of", groups_of(counts, wrong, &scheme(&top), &made.yardstick).map(drop));
        refused("outcome_of", outcome_of(counts, wrong, &plan, &scheme(&top), &criteria).map(drop));
        refused("recode", global::recode(counts, wrong, &scheme(&top), &made.yardstick, &criteria).map(drop));
        let recoding = global::recode(counts, hierarchies, &scheme(&top), &made.yardstick, &criteria).expect("right");
        refused("judge", judge(counts, wrong, &made.weights, &made.yardstick, &recoding).map(drop));
        for method in Method::ALL {
            let least = Least::of(2, None);
            let assignment =
                Assignment { counts, hierarchies: wrong, weights: &made.weights, least, seed: 0, n_exchanges: 1 };
            refused(method.name(), method.partition(&assignment, &task).map(drop));
        }
        let draw = Draw { n_queries: 3, n_attributes: 1, selectivity: 0.5, seed: 0 };
        refused("queries", draw_queries(counts, wrong, &draw, &task).map(drop));
        refused("workload", Workload::new(counts, wrong, Vec::new(), &task).map(drop));
        let sensitivities = Sensitivities::equal(wrong);
        let problem = Problem::new(counts, wrong, Utility::Depth, Risk::Identity, sensitivities, Match::Exact);
        refused("single records", problem.map(drop));
    }
    refused(
        "weights",
        incrowd::annotate(counts, hierarchies, &Plan { weights: &[1.0], ..plan.clone() }, &task).map(drop),
    );
    refused("sensitivities", Sensitivities::given(hierarchies, vec![]).map(drop));
    let beyond: Vec<u8> = top.iter().map(|level| level + 1).collect();
    for wrong in [&beyond[..], &top[1..], &[]] {
        let wrong_scheme = scheme(wrong);
        refused("negotiate", incrowd::negotiate(&made.lattice, &request(criteria.clone(), 0, wrong)).map(drop));
        let asked = request(criteria.clone(), 0, wrong);
        refused("on demand", negotiate_on_demand(counts, hierarchies, &plan, &asked, &task).map(drop));
        let ranking = Ranking::from(Quality::Ncp);
        refused("frontier", frontier(&made.lattice, &asked, Measure::Size, &ranking, &task).map(drop));
        refused("offer_of", offer_of(&made.lattice, &wrong_scheme, &criteria).map(drop));
        refused("explain", incrowd::explain(&made.lattice, &wrong_scheme, &criteria).map(drop));
        refused("extend", made.lattice.clone().extend(counts, &plan, &wrong_scheme));
        refused("groups_of", groups_of(counts, hierarchies, &wrong_scheme, &made.yardstick).map(drop));
        assert_eq!(made.lattice.schemes().find(&wrong_scheme), None);
    }
    let unmeasured = Criteria::new([criterion(Measure::Closeness(0), 200_000)]);
    refused("offer_of", offer_of(&made.lattice, &scheme(&top), &unmeasured).map(drop));
    refused("explain", incrowd::explain(&made.lattice, &scheme(&top), &unmeasured).map(drop));
    refused("outcome_of", outcome_of(counts, hierarchies, &plan, &scheme(&top), &unmeasured).map(drop));
    refused("recode", global::recode(counts, hierarchies, &scheme(&top), &made.yardstick, &unmeasured).map(drop));
}

/// A criterion about an attribute that a file has not is not judged, and so never kept.
#[test]
fn a_criterion_about_no_attribute_is_not_judged() {
    let names = ["city".to_string()];
    let mut verifier = Verifier::new(&names, &[], SuppressedAs::Group);
    verifier.push(&batch(&["city"], &records(&[&[Some("Ulm")], &[Some("Ulm")]]))).expect("a column of texts");
    for measure in Measure::ALL.into_iter().filter(|measure| measure.sensitive().is_some()) {
        let verdict = verifier.verdict(&Criteria::new([criterion(measure, 1)]), &Outside::default());
        assert!(!verdict.holds() && !verdict.findings[0].is_judged, "{measure:?}");
    }
}

/// A table without records is counted, and every call on it ends with an answer or an error.
#[test]
fn nothing_panics_on_an_empty_table() {
    let counts = counts_of(&["age", "town"], &["disease"], &Missing::default(), &[]);
    let resolved = counts.domains().iter().map(|domain| Rule::Flat.resolve(domain));
    let Ok(hierarchies) = resolved.collect::<Result<Vec<Hierarchy>>>() else { return };
    let yardstick = Yardstick::new(&counts, &[], []).expect("sizes");
    let plan = Plan { weights: &[1.0; 2], yardstick: &yardstick, with_entropy: true };
    let task = Task::default();
    if let Ok(lattice) = incrowd::annotate(&counts, &hierarchies, &plan, &task) {
        let _ = incrowd::negotiate(&lattice, &request(k(2), 0, &[1, 1]));
        let _ = offer_of(&lattice, &scheme(&[0, 0]), &k(2));
    }
    let _ = negotiate_on_demand(&counts, &hierarchies, &plan, &request(k(2), 0, &[1, 1]), &task);
    let _ = global::recode(&counts, &hierarchies, &scheme(&[0, 0]), &yardstick, &k(2));
    for method in Method::ALL {
        let least = Least::of(2, None);
        let weights = &[1.0; 2];
        let assignment =
            Assignment { counts: &counts, hierarchies: &hierarchies, weights, least, seed: 0, n_exchanges: 1 };
        assert!(method.partition(&assignment, &task).is_err(), "{}", method.name());
    }
    let draw = Draw { n_queries: 3, n_attributes: 1, selectivity: 0.5, seed: 0 };
    assert!(draw_queries(&counts, &hierarchies, &draw, &task).is_err());
}
