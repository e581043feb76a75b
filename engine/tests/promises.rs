//! Negative space: a valid release and its certificate, broken in every way; each break must be seen.

use crate::common;

use std::collections::BTreeSet;

use common::measures::{Counts, NaiveReference};
use common::random::all_measures;
use common::*;
use incrowd::criterion::NEVER;
use incrowd::verify::{Finding, Original, Outside, Ruling, SuppressedAs, Texts};
use incrowd::wire::{Certificate, Claim, Dealt, FileHash, check_claims, check_release, finding_reached, ruling};
use incrowd::{Criteria, Criterion, Distance, Measure, Missing, Verdict, Verifier};
use serde_json::{Map, Value, json};

const COLUMNS: [&str; 3] = ["age", "city", SENSITIVE];

fn promise() -> Criteria {
    k_and_l(3, 2)
}

/// A release of 12 records in four groups of 3, 3, 3 and 3 records; the fewest diseases are 2.
fn release() -> Vec<Vec<Cell>> {
    let ages: Vec<Vec<String>> =
        (20..60).map(|age: u32| vec![age.to_string(), format!("{}s", age / 10 * 10)]).collect();
    let city = Attribute::new("city", &[&["Bonn", "west"], &["Köln", "west"], &["Jena", "east"], &["Gera", "east"]]);
    let record =
        |age: &str, city: &str, disease: &str| [age, city, disease].map(|text| Some(text.to_string())).to_vec();
    let table = Table {
        quasi_identifiers: vec![Attribute { name: "age".into(), rows: ages, weight: 1.0 }, city],
        sensitive: one_sensitive(),
        has_note: false,
        wanted: Wanted::default(),
        missing: Missing::default(),
        records: vec![
            record("21", "Bonn", "flu"),
            record("22", "Köln", "gout"),
            record("29", "Köln", "flu"),
            record("34", "Bonn", "flu"),
            record("34", "Bonn", "mumps"),
            record("31", "Köln", "gout"),
            record("38", "Jena", "flu"),
            record("39", "Gera", "gout"),
            record("30", "Gera", "gout"),
            record("51", "Jena", "flu"),
            record("52", "Jena", "flu"),
            record("53", "Gera", "gout"),
            record("54", "Bonn", "flu"),
        ],
    };
    let (rows, n_suppressed, _) = publish(&table, &table.make(), &[1, 1], &promise());
    assert_eq!((rows.len(), n_suppressed), (12, 1));
    rows
}

fn judge(rows: &[Vec<Cell>], criteria: &Criteria, suppressed_as: SuppressedAs) -> Verdict {
    let names = [COLUMNS[0].to_string(), COLUMNS[1].to_string()];
    let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], suppressed_as);
    verifier.push(&batch(&COLUMNS, rows)).expect("columns of texts");
    verifier.verdict(criteria, &Outside::default())
}

fn set(rows: &mut [Vec<Cell>], record: usize, column: usize, text: &str) {
    rows[record][column] = Some(text.to_string());
}

fn row(cells: [&str; 3]) -> Vec<Cell> {
    cells.map(|text| Some(text.to_string())).to_vec()
}

/// The records that share both quasi-identifiers with the first.
fn first_group(rows: &[Vec<Cell>]) -> Vec<usize> {
    (0..rows.len()).filter(|&i| rows[i][..2] == rows[0][..2]).collect()
}

// ---- The promise ----

#[test]
fn the_release_keeps_its_promise() {
    let verdict = judge(&release(), &promise(), SuppressedAs::Group);
    assert!(verdict.holds());
    assert_eq!((verdict.n_records, verdict.n_groups), (12, 4));
    assert_eq!((verdict.smallest_group, verdict.fewest_distinct), (Some(3), Some(2)));
}

/// Which of k and l still hold after a change.
#[track_caller]
fn check(what: &str, change: impl Fn(&mut Vec<Vec<Cell>>), suppressed_as: SuppressedAs, k_and_l_hold: (bool, bool)) {
    let mut rows = release();
    change(&mut rows);
    let verdict = judge(&rows, &promise(), suppressed_as);
    let found = (verdict.findings[0].holds(), verdict.findings[1].holds());
    assert_eq!(found, k_and_l_hold, "{what}: {verdict:?}");
    assert_eq!(verdict.holds(), k_and_l_hold == (true, true), "{what}");
    assert_eq!(verdict, verify(&rows, 2, 1, &promise(), suppressed_as, &NaiveOutside::default()), "{what}");
}

#[test]
fn a_broken_promise_is_seen_and_a_kept_one_is_not_called_broken() {
    use SuppressedAs::Group;
    let is_kept = (true, true);
    check("nothing changes", |_| (), Group, is_kept);
    check("another order", |rows| rows.reverse(), Group, is_kept);

    check("one record less", |rows| drop(rows.remove(0)), Group, (false, true));
    check("two records less", |rows| drop(rows.drain(..2)), Group, (false, false));
    check("a whole group less", |rows| drop(rows.drain(..3)), Group, is_kept);
    check("one record twice", |rows| rows.push(rows[0].clone()), Group, is_kept);
    check("a record of its own", |rows| rows.push(row(["90s", "west", "flu"])), Group, (false, false));
    check("one finer value", |rows| set(rows, 0, 0, "21"), Group, (false, false));
    check("one value of another group", |rows| set(rows, 0, 1, "east"), Group, (false, false));
    check("one value hidden", |rows| set(rows, 0, 0, "*"), Group, (false, false));
    check("one value gone", |rows| rows[0][0] = None, Group, (false, false));
    check("one value emptied", |rows| set(rows, 0, 0, ""), Group, (false, false));
    check("one value with a space", |rows| set(rows, 0, 0, "20s "), Group, (false, false));
    check("one value in capitals", |rows| set(rows, 0, 0, "20S"), Group, (false, false));
    check(
        "a group of one disease",
        |rows| first_group(rows).into_iter().for_each(|i| set(rows, i, 2, "flu")),
        Group,
        (true, false),
    );
    check(
        "a group of no disease",
        |rows| first_group(rows).into_iter().for_each(|i| rows[i][2] = None),
        Group,
        (true, false),
    );
    check("a disease unknown", |rows| rows[0][2] = None, Group, is_kept);
    check("all groups one", |rows| rows.iter_mut().for_each(|r| r[..2].fill(Some("*".into()))), Group, is_kept);
    check("one attribute hidden", |rows| rows.iter_mut().for_each(|r| r[0] = Some("*".into())), Group, is_kept);
}

#[test]
fn records_that_say_nothing_are_a_group_or_absent_as_told() {
    use SuppressedAs::{Absent, Group};
    let hidden = |n: usize, diseases: [&'static str; 3]| {
        move |rows: &mut Vec<Vec<Cell>>| rows.extend((0..n).map(|i| row(["*", "*", diseases[i]])))
    };
    check("one as a group", hidden(1, ["flu", "", ""]), Group, (false, false));
    check("one as absent", hidden(1, ["flu", "", ""]), Absent, (true, true));
    check("three as a group", hidden(3, ["flu", "gout", "flu"]), Group, (true, true));
    check("three with one disease as a group", hidden(3, ["flu", "flu", "flu"]), Group, (true, false));
    check("three with one disease as absent", hidden(3, ["flu", "flu", "flu"]), Absent, (true, true));
    check("half hidden is not hidden", |rows| rows.push(row(["*", "west", "flu"])), Absent, (false, false));
    check("missing is not hidden", |rows| rows.push(vec![None, None, Some("flu".into())]), Absent, (false, false));
    let verdict = judge(&[release(), vec![row(["*", "*", "flu"])]].concat(), &promise(), Absent);
    assert_eq!((verdict.n_records, verdict.n_absent, verdict.n_groups), (12, 1, 4));
}

/// Every record removed, and every cell replaced by every text of its column and by some others.
#[test]
fn every_single_change_is_judged_by_the_definition() {
    let (rows, mut n_broken, mut n_kept) = (release(), 0, 0);
    let mut judge_both = |changed: &[Vec<Cell>]| {
        let verdict = judge(changed, &promise(), SuppressedAs::Group);
        assert_eq!(verdict, verify(changed, 2, 1, &promise(), SuppressedAs::Group, &NaiveOutside::default()));
        let n = if verdict.holds() { &mut n_kept } else { &mut n_broken };
        *n += 1;
    };
    for i in 0..rows.len() {
        let mut without = rows.clone();
        without.remove(i);
        judge_both(&without);
        for column in 0..3 {
            let texts = rows.iter().map(|row| row[column].clone());
            for text in texts.chain([None, Some("*".into()), Some("other".into())]) {
                let mut changed = rows.clone();
                changed[i][column] = text;
                judge_both(&changed);
            }
        }
    }
    assert!(n_broken > 200 && n_kept > 100, "{n_broken} broken, {n_kept} kept");
}

/// A column that names people, taken for a quasi-identifier, leaves every record alone.
#[test]
fn an_identifier_left_in_the_release_breaks_the_promise() {
    let rows: Vec<Vec<Cell>> =
        release().into_iter().zip(0..).map(|(row, i)| [vec![Some(format!("person {i}"))], row].concat()).collect();
    let names = ["name", "age", "city"].map(String::from);
    let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], SuppressedAs::Group);
    verifier.push(&batch(&["name", "age", "city", SENSITIVE], &rows)).expect("columns of texts");
    let verdict = verifier.verdict(&promise(), &Outside::default());
    assert!(!verdict.holds());
    assert_eq!((verdict.n_groups, verdict.findings[0].n_records_failing), (12, 12));
}

#[test]
fn a_release_in_many_batches_is_judged_as_one() {
    let (rows, names) = (release(), [COLUMNS[0].to_string(), COLUMNS[1].to_string()]);
    let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], SuppressedAs::Group);
    for row in &rows {
        verifier.push(&batch(&COLUMNS, std::slice::from_ref(row))).expect("columns of texts");
    }
    assert_eq!(verifier.verdict(&promise(), &Outside::default()), judge(&rows, &promise(), SuppressedAs::Group));
}

/// Only the asked value decides: what is reached is reported beside it.
#[test]
fn a_promise_is_kept_up_to_what_is_reached_and_no_further() {
    for (criteria, holds) in [
        (k(1), true),
        (k(3), true),
        (k(4), false),
        (l(2), true),
        (l(3), false),
        (k_and_l(3, 2), true),
        (k_and_l(3, 3), false),
        (k_and_l(4, 2), false),
        (k_and_l(u64::MAX, u64::MAX), false),
    ] {
        let verdict = judge(&release(), &criteria, SuppressedAs::Group);
        assert_eq!(verdict.holds(), holds, "{criteria:?}");
        for finding in verdict.findings {
            assert_eq!(finding.reached, Some(if finding.criterion.measure == Measure::Size { 3 } else { 2 }));
        }
    }
}

#[test]
fn a_release_of_which_nothing_is_asked_has_kept_no_promise() {
    assert!(!judge(&release(), &Criteria::default(), SuppressedAs::Group).holds());
    assert!(!judge(&[], &Criteria::default(), SuppressedAs::Group).holds());
}

#[test]
fn an_empty_release_breaks_nothing_and_reaches_nothing() {
    let verdict = judge(&[], &promise(), SuppressedAs::Group);
    assert!(verdict.holds());
    assert_eq!((verdict.n_records, verdict.n_groups, verdict.smallest_group), (0, 0, None));
    assert!(verdict.findings.iter().all(|finding| finding.reached.is_none()));
}

// ---- Every promise ----

/// A release of 18 records in three groups, all of which have all three diseases, and how it came about: the table had
/// two records more.
fn diverse_release() -> (Vec<Vec<Cell>>, Counts) {
    let group = |age: &str, city: &str, n_each: [usize; 3]| -> Vec<Vec<Cell>> {
        let diseases = ["flu", "gout", "mumps"].into_iter().zip(n_each);
        diseases.flat_map(|(disease, n)| vec![row([age, city, disease]); n]).collect()
    };
    let rows =
        [group("20s", "west", [3, 2, 1]), group("30s", "west", [2, 2, 2]), group("30s", "east", [2, 3, 1])].concat();
    let counts = [("flu", 8), ("gout", 7), ("mumps", 5)].map(|(disease, n)| (Some(disease.to_string()), n));
    (rows, counts.into_iter().collect())
}

/// The original table, with the diseases in a tree, and how many people live there.
fn known(distance: Distance) -> (NaiveOutside, Sensitive) {
    let attribute = Attribute::new(SENSITIVE, &[&["flu", "viral"], &["gout", "other"], &["mumps", "viral"]]);
    let sensitive = Sensitive::with(attribute, distance);
    let labels = |value: &Cell| sensitive.attribute.labels(value, &Missing::default());
    let reference = NaiveReference::new(&diverse_release().1, distance, labels);
    let people = [("20s", "west", 8), ("30s", "west", 9), ("30s", "east", 7)];
    let people = people.map(|(age, city, n)| (row([age, city, ""])[..2].to_vec(), n));
    let outside = NaiveOutside { references: Some(vec![reference]), population: Some(people.into_iter().collect()) };
    (outside, sensitive)
}

fn judge_with(rows: &[Vec<Cell>], criteria: &Criteria, known: &NaiveOutside, sensitive: &Sensitive) -> Verdict {
    let names = [COLUMNS[0].to_string(), COLUMNS[1].to_string()];
    let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], SuppressedAs::Group);
    verifier.push(&batch(&COLUMNS, rows)).expect("columns of texts");
    verifier.verdict(criteria, &known.outside(std::slice::from_ref(sensitive)))
}

/// What a release reaches, and nothing stricter, is promised; then every record is removed, and every cell replaced by
/// every text of its column and by some others.
#[test]
fn every_promise_is_kept_up_to_a_change_that_breaks_it() {
    let (rows, _) = diverse_release();
    let mut changes: Vec<Vec<Vec<Cell>>> = Vec::new();
    for i in 0..rows.len() {
        changes.push([&rows[..i], &rows[i + 1..]].concat());
        for column in 0..3 {
            let texts = rows.iter().map(|row| row[column].clone()).collect::<BTreeSet<Cell>>().into_iter();
            for text in texts.chain([None, Some("*".into()), Some("other".into())]) {
                let mut changed = rows.clone();
                changed[i][column] = text;
                changes.push(changed);
            }
        }
    }
    for distance in Distance::ALL {
        let (known, sensitive) = known(distance);
        for measure in all_measures(1, true) {
            let of = |rows: &[Vec<Cell>], value: u64| {
                let criteria = Criteria::new([criterion(measure, value)]);
                let verdict = judge_with(rows, &criteria, &known, &sensitive);
                assert_eq!(verdict, verify(rows, 2, 1, &criteria, SuppressedAs::Group, &known), "{criteria:?}");
                verdict
            };
            let reached = of(&rows, 1).findings[0].reached.expect("there are groups");
            let stricter = if measures::is_at_least(measure) { reached + 1 } else { reached - 1 };
            assert!(of(&rows, reached).holds(), "{measure:?} reaches {reached}");
            assert!(!of(&rows, stricter).holds(), "{measure:?} reaches no more than {reached}");
            let n_broken = changes.iter().filter(|changed| !of(changed, reached).holds()).count();
            let n_kept = changes.len() - n_broken;
            assert!(n_broken > 20 && n_kept > 20, "{measure:?}: {n_broken} broken, {n_kept} kept");
        }
    }
}

/// A promise that compares with the original table is none where nobody says what that was like.
#[test]
fn what_cannot_be_judged_is_not_called_kept() {
    let (rows, _) = diverse_release();
    let (known, sensitive) = known(Distance::Ordered);
    let unknown = NaiveOutside::default();
    for measure in
        all_measures(1, true).into_iter().filter(|measure| measure.is_relative() || measure.name() == "k_map")
    {
        let value = if measures::is_at_least(measure) { 1 } else { NEVER - 1 };
        let criteria = Criteria::new([criterion(measure, value)]);
        assert!(judge_with(&rows, &criteria, &known, &sensitive).holds(), "{measure:?}");
        let verdict = judge_with(&rows, &criteria, &unknown, &sensitive);
        assert!(!verdict.findings[0].is_judged && verdict.findings[0].reached.is_none());
        assert_eq!((verdict.ruling(), verdict.holds()), (Ruling::NotJudged, false), "{measure:?}");
        // Beside one that is kept it stays open, and beside one that is broken it does not matter.
        let with_k = |k: u64| judge_with(&rows, &criteria.with(Criterion::k(k)), &unknown, &sensitive);
        assert!(with_k(2).findings.iter().any(|finding| finding.is_judged && finding.holds()));
        assert_eq!((with_k(2).ruling(), with_k(2).holds()), (Ruling::NotJudged, false), "{measure:?}");
        assert_eq!(with_k(7).ruling(), Ruling::Broken, "{measure:?}");
        let claim = |holds: bool| Claim { claim: "x".into(), holds, claimed: String::new(), found: String::new() };
        assert_eq!(ruling(&with_k(2), &[claim(true)]), Ruling::NotJudged);
        assert_eq!(ruling(&with_k(2), &[claim(true), claim(false)]), Ruling::Broken);
    }
}

/// A value that the original table does not have, or a value that it has and hides behind another name.
#[test]
fn a_value_that_the_table_never_had_breaks_every_comparison_with_it() {
    let (mut rows, _) = diverse_release();
    set(&mut rows, 0, 2, "plague");
    for distance in Distance::ALL {
        let (known, sensitive) = known(distance);
        for measure in all_measures(1, false).into_iter().filter(|measure| measure.is_relative()) {
            let criteria = Criteria::new([criterion(measure, NEVER - 1)]);
            let verdict = judge_with(&rows, &criteria, &known, &sensitive);
            assert!(!verdict.holds(), "{measure:?} in {distance:?} distance");
        }
    }
}

/// Whoever does not say where values stand in their tree has not shown that they are near each other.
#[test]
fn values_without_labels_are_as_far_apart_as_can_be() {
    let (rows, counts) = diverse_release();
    let distance_with = |labels: &[(&str, &[&str])]| {
        let texts = |labels: &[&str]| labels.iter().map(|label| label.to_string()).collect::<Vec<String>>();
        let labels = labels.iter().map(|(value, labels)| (Some(value.to_string()), texts(labels))).collect();
        let original = Original::new(SENSITIVE, counts.clone().into_iter().collect(), Distance::Hierarchical, &labels);
        let outside = Outside { originals: vec![Some(original)], population: None };
        let names = [COLUMNS[0].to_string(), COLUMNS[1].to_string()];
        let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], SuppressedAs::Group);
        verifier.push(&batch(&COLUMNS, &rows[..6])).expect("columns of texts");
        verifier.verdict(&Criteria::new([criterion(Measure::Closeness(0), 1)]), &outside).findings[0].reached
    };
    let all =
        distance_with(&[("flu", &["flu", "viral"]), ("gout", &["gout", "other"]), ("mumps", &["mumps", "viral"])]);
    let none = distance_with(&[]);
    let some = distance_with(&[("flu", &["flu", "viral"]), ("gout", &["gout", "other"])]);
    // In 60ths, the first group has 6 too many with flu, 5 of them for mumps, which are half as far, and one for gout.
    assert_eq!((all, some, none), (Some(58_334), Some(100_000), Some(100_000)));
}

/// Every criterion of a certificate is read back, checked and compared with what the release reaches.
#[test]
fn every_criterion_of_a_certificate_is_checked() {
    // Version 1 told what is reached even where suppressed records have a part in it.
    for (format_version, n_records_suppressed) in [(1, 1), (2, 0), (2, 1)] {
        check_criteria_of_certificate(format_version, n_records_suppressed);
    }
}

fn check_criteria_of_certificate(format_version: u32, n_records_suppressed: u64) {
    let (rows, _) = diverse_release();
    let (known, sensitive) = known(Distance::Hierarchical);
    let names = [SENSITIVE.to_string()];
    // Recursive diversity with two l among them.
    let measures = all_measures(1, true).into_iter();
    let value = |measure| if measures::is_at_least(measure) { 1_100_000 } else { 1_900_000 };
    let value = |measure: Measure| match measure {
        Measure::Recursive { l: 3, .. } => 9_000_000,
        measure if measure.is_count() => 2,
        measure => value(measure),
    };
    let promised = Criteria::new(measures.map(|measure| criterion(measure, value(measure))));
    let verdict = judge_with(&rows, &promised, &known, &sensitive);
    assert!(verdict.holds(), "{verdict:#?}");
    let mut certificate = Certificate { format_version, n_records_suppressed, ..certificate() };
    let as_json = incrowd::wire::criteria(&promised, &names);
    let entry = |(finding, (key, promised)): (&Finding, (String, Value))| {
        (key, json!({ "promised": promised, "reached": finding_reached(finding) }))
    };
    certificate.criteria = verdict.findings.iter().zip(as_json).map(entry).collect();
    assert_eq!(certificate.promised(), Some(promised.clone()));
    let wrong = |certificate: &Certificate| -> Vec<String> {
        let claims = check_claims(certificate, &verdict, &COLUMNS.map(String::from), HASH);
        let about_criteria = claims.into_iter().filter(|claim| claim.claim.ends_with(" reached"));
        about_criteria.filter(|claim| !claim.holds).map(|claim| claim.claim).collect()
    };
    assert_eq!(wrong(&certificate), Vec::<String>::new());
    assert_eq!(certificate.criteria.len(), promised.iter().count());
    assert!(certificate.criteria.contains_key("recursive_l3"), "{:?}", certificate.criteria);
    let n_shown = promised.iter().filter(|criterion| certificate.shows(criterion.measure)).count();
    assert_eq!(n_shown, if n_records_suppressed == 0 { 10 } else { 6 }, "k-map, t, delta and beta are not shown");
    for (key, criterion) in certificate.criteria.keys().zip(promised.iter()) {
        let is_told = format_version == 1 || certificate.shows(criterion.measure);
        for reached in [json!(0), json!(null), json!(0.123456), json!("2")] {
            let mut falsified = certificate.clone();
            falsified.criteria[key]["reached"] = reached;
            let expected = if is_told { vec![format!("{key} reached")] } else { vec![] };
            assert_eq!(wrong(&falsified), expected);
        }
        let mut unreadable = certificate.clone();
        unreadable.criteria[key]["promised"] = json!("a lot");
        assert_eq!(unreadable.promised(), None, "a promise that is read in part would be another one");
    }
}

// ---- The certificate ----

const HASH: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

fn certificate() -> Certificate {
    let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let criteria = [("k", json!({ "promised": 3, "reached": 3 })), ("l", json!({ "promised": 2, "reached": 2 }))];
    Certificate {
        format: Certificate::FORMAT.to_string(),
        format_version: Certificate::FORMAT_VERSION,
        version: "0.1.0".to_string(),
        method: "global".to_string(),
        request: Value::Null,
        choice: "exact".to_string(),
        criteria: criteria.into_iter().map(|(name, value)| (name.to_string(), value)).collect::<Map<_, _>>(),
        quasi_identifiers: names(&COLUMNS[..2]),
        person: Vec::new(),
        count_at: Default::default(),
        sensitive: names(&[SENSITIVE]),
        dealt: None,
        per_record: None,
        unreadable: Map::new(),
        unknown: Map::new(),
        published_as: Map::new(),
        from_level: Default::default(),
        original: Map::new(),
        columns: names(&COLUMNS),
        delimiter: Some(','),
        counted: None,
        levels: json!({ "age": 1, "city": 1 }),
        level_names: json!({ "age": "level 1", "city": "level 1" }),
        height: Some(2),
        cells: None,
        search: None,
        n_records_read: 15,
        n_records_dropped: 2,
        n_records_left_out: 0,
        n_records_suppressed: 1,
        n_records_published: 12,
        n_groups: 4,
        smallest_group: Some(3),
        fewest_distinct: Some(2),
        loss: json!({ "discernibility": 36, "group_size": 3.0 }),
        order: "sorted".to_string(),
        sorted: true,
        seed: None,
        exchanges: None,
        steps: None,
        input: vec![],
        hierarchies: vec![],
        output: FileHash { name: "release.csv".to_string(), sha256: HASH.to_string(), ..FileHash::default() },
    }
}

/// The claims of a certificate that a release, judged as the certificate says, does not bear out.
fn false_claims(certificate: &Certificate, rows: &[Vec<Cell>]) -> Vec<String> {
    let sensitive = &certificate.sensitive;
    let verifier = Verifier::new(&certificate.quasi_identifiers, sensitive, SuppressedAs::Group);
    let mut verifier = verifier.with_order(&COLUMNS.map(String::from), Texts::AsWritten);
    verifier.push(&batch(&COLUMNS, rows)).expect("columns of texts");
    // A promise that cannot be read is none.
    let promised = certificate.promised().unwrap_or_default();
    let verdict = verifier.verdict(&promised, &Outside::default());
    let claims = check_release(certificate, &verdict, &verifier, &COLUMNS.map(String::from), Some(HASH));
    let mut wrong: Vec<String> = claims.into_iter().filter(|claim| !claim.holds).map(|claim| claim.claim).collect();
    wrong.extend((!verdict.holds()).then(|| "promise".to_string()));
    wrong
}

#[test]
fn a_true_certificate_is_believed() {
    assert_eq!(false_claims(&certificate(), &release()), Vec::<String>::new());
}

/// A false certificate is told by these claims.
#[track_caller]
fn check_certificate(falsify: impl Fn(&mut Certificate), claims: &[&str]) {
    let mut certificate = certificate();
    falsify(&mut certificate);
    assert_eq!(false_claims(&certificate, &release()), claims);
}

#[test]
fn every_number_of_a_certificate_that_a_release_can_show_is_checked() {
    for wrong in [0, 1, 11, 13, 14, 16, u64::MAX] {
        check_certificate(|c| c.n_records_read = wrong, &["records accounted for"]);
        check_certificate(|c| c.n_records_published = wrong, &["records published"]);
    }
    for wrong in [0, 1, 3, u64::MAX] {
        check_certificate(|c| c.n_records_dropped = wrong, &["records accounted for"]);
    }
    for wrong in [0, 2, 12, u64::MAX] {
        check_certificate(|c| c.n_records_suppressed = wrong, &["records accounted for"]);
    }
    for wrong in [0, 3, 5, u64::MAX] {
        check_certificate(|c| c.n_groups = wrong, &["groups"]);
    }
    for wrong in [None, Some(0), Some(2), Some(4), Some(u64::MAX)] {
        check_certificate(|c| c.smallest_group = wrong, &["smallest group"]);
    }
    for wrong in [None, Some(0), Some(1), Some(3)] {
        check_certificate(|c| c.fewest_distinct = wrong, &["fewest distinct"]);
    }
    check_certificate(|c| c.loss["discernibility"] = json!(35), &["discernibility"]);
    check_certificate(|c| c.loss["group_size"] = json!(3), &["mean group size"]);
    check_certificate(|c| c.loss = Value::Null, &["discernibility", "mean group size"]);
    check_certificate(
        |c| {
            c.format_version = 1;
            c.loss = json!({ "ncp": 0.3 });
        },
        &[],
    );
    for (name, claim) in [("k", "k reached"), ("l", "l reached")] {
        for wrong in [json!(0), json!(1), json!(4), json!(null), json!("3"), json!(3.5)] {
            check_certificate(|c| c.criteria[name]["reached"] = wrong.clone(), &[claim]);
        }
        check_certificate(|c| c.criteria[name]["promised"] = json!(4), &["promise"]);
    }
    check_certificate(|c| c.output.sha256 = HASH.replace('9', "8"), &["file"]);
    check_certificate(|c| c.output.sha256 = String::new(), &["file"]);
}

#[test]
fn a_height_that_is_not_the_sum_of_the_levels_is_rejected() {
    for wrong in [Some(0), Some(1), Some(3), None] {
        check_certificate(|c| c.height = wrong, &["height"]);
    }
}

#[test]
fn a_promise_of_less_than_is_reached_is_kept() {
    for (name, least) in [("k", 1), ("k", 2), ("l", 1)] {
        check_certificate(|c| c.criteria[name]["promised"] = json!(least), &[]);
    }
}

#[test]
fn a_certificate_that_promises_nothing_is_not_believed() {
    check_certificate(|c| c.criteria.clear(), &["promise"]);
    check_certificate(|c| c.criteria.values_mut().for_each(|entry| entry["promised"] = json!("many")), &["promise"]);
}

#[test]
fn the_columns_of_a_certificate_are_checked() {
    check_certificate(|c| drop(c.columns.pop()), &["columns"]);
    check_certificate(|c| c.columns.reverse(), &["columns"]);
    check_certificate(|c| c.columns.push("name".into()), &["columns"]);
    check_certificate(|c| c.columns[0] = "Age".into(), &["columns"]);
    check_certificate(|c| c.columns.clear(), &["columns"]);
}

#[test]
fn the_roles_of_a_certificate_are_checked_by_what_they_make_of_the_groups() {
    check_certificate(|c| drop(c.quasi_identifiers.pop()), &["groups", "discernibility", "mean group size"]);
    check_certificate(
        |c| c.quasi_identifiers.clear(),
        &["groups", "smallest group", "fewest distinct", "discernibility", "mean group size", "k reached", "l reached"],
    );
    check_certificate(|c| c.sensitive.clear(), &["fewest distinct", "promise"]);
    check_certificate(|c| c.sensitive = vec!["city".into()], &["fewest distinct", "l reached", "promise"]);
}

/// A certificate of another file, whose hash was adjusted to this one.
#[test]
fn a_release_that_was_changed_within_its_promise_is_told_by_its_numbers() {
    let check = |change: &dyn Fn(&mut Vec<Vec<Cell>>), claims: &[&str]| {
        let mut rows = release();
        change(&mut rows);
        assert_eq!(false_claims(&certificate(), &rows), claims);
    };
    let lost = ["records published", "records accounted for", "groups", "discernibility"];
    check(&|rows| drop(rows.drain(..3)), &lost);
    let more = ["records published", "records accounted for", "discernibility", "mean group size"];
    check(&|rows| rows.insert(0, rows[0].clone()), &more);
    check(&|rows| rows.reverse(), &["order of records"]);
    check(&|rows| set(rows, 2, 2, "mumps"), &[]);
    check(
        &|rows| rows.iter_mut().for_each(|row| row[0] = Some("*".into())),
        &["groups", "smallest group", "discernibility", "mean group size", "k reached", "order of records"],
    );
    check(
        &|rows| rows.clear(),
        &[
            "records published",
            "records accounted for",
            "groups",
            "smallest group",
            "fewest distinct",
            "discernibility",
            "mean group size",
            "k reached",
            "l reached",
        ],
    );
}

// ---- The order of records ----

/// The rows as they are ordered, judged a second time by whoever compares all pairs.
fn n_out_of_order(rows: &[Vec<Cell>], texts: Texts) -> u64 {
    let columns = COLUMNS.map(String::from);
    let mut verifier = Verifier::new(&columns[..1], &[], SuppressedAs::Group).with_order(&columns, texts);
    // One by one, so that the last record of a batch and the first of the next are compared too.
    rows.iter().for_each(|row| verifier.push(&batch(&COLUMNS, std::slice::from_ref(row))).expect("texts"));
    verifier.n_out_of_order().expect("it was looked at")
}

/// Every order of a few records: one and only one is the release's.
#[test]
fn one_order_of_records_is_the_right_one() {
    let cell = |text: &str| Some(text.to_string());
    let rows = vec![
        vec![None, cell("b"), cell("x")],
        vec![cell(""), cell("b"), None],
        vec![cell("10"), None, cell("z")],
        vec![cell("10"), cell("\u{1}"), cell("z")],
        vec![cell("9"), cell("a"), cell("z")],
        vec![cell("9"), cell("é"), cell("a")],
    ];
    let mut orders = vec![Vec::new()];
    for _ in &rows {
        let longer = |order: &Vec<usize>| {
            let rest = (0..rows.len()).filter(|i| !order.contains(i));
            rest.map(|i| [&order[..], &[i]].concat()).collect::<Vec<_>>()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 720);
    for order in orders {
        let ordered: Vec<Vec<Cell>> = order.iter().map(|&i| rows[i].clone()).collect();
        assert_eq!(n_out_of_order(&ordered, Texts::AsWritten) == 0, order.is_sorted(), "{order:?}");
    }
    let twice: Vec<Vec<Cell>> = rows.iter().flat_map(|row| [row.clone(), row.clone()]).collect();
    assert_eq!(n_out_of_order(&twice, Texts::AsWritten), 0, "equal records follow each other");
}

/// A table in memory may have forgotten how its numbers and missing values were written; the rest is judged as ever.
#[test]
fn the_order_of_a_table_in_memory_is_judged_as_far_as_it_can_be() {
    let check = |first: [Option<&str>; 3], then: [Option<&str>; 3], n_expected: u64| {
        let rows = [first, then].map(|cells| cells.map(|cell| cell.map(str::to_string)).to_vec());
        assert_eq!(n_out_of_order(&rows, Texts::AsRemembered), n_expected, "{first:?} {then:?}");
    };
    let [a, b, nine, ten, none] = [Some("a"), Some("b"), Some("9"), Some("10"), None];
    check([a, a, a], [a, b, a], 0);
    check([b, a, a], [a, b, a], 1);
    check([nine, a, a], [ten, a, a], 0);
    check([ten, a, a], [nine, a, a], 0);
    check([ten, b, a], [ten, a, a], 1);
    check([Some("20"), a, a], [ten, a, a], 1);
    check([a, none, a], [a, b, a], 0);
    check([a, b, a], [a, none, a], 0);
    check([b, none, a], [a, b, a], 1);
}

#[test]
fn a_certificate_that_does_not_claim_an_order_is_not_held_to_one() {
    let mut rows = release();
    rows.reverse();
    let mut certificate = certificate();
    assert_eq!(false_claims(&certificate, &rows), ["order of records"]);
    certificate.sorted = false;
    assert_eq!(false_claims(&certificate, &rows), Vec::<String>::new());
    // And who forgets to look has not seen it.
    certificate.sorted = true;
    let verifier = Verifier::new(&certificate.quasi_identifiers, &certificate.sensitive, SuppressedAs::Group);
    let verdict = verifier.verdict(&promise(), &Outside::default());
    let claims = check_release(&certificate, &verdict, &verifier, &COLUMNS.map(String::from), None);
    assert!(claims.iter().any(|claim| claim.claim == "order of records" && !claim.holds));
    assert!(claims.iter().all(|claim| claim.claim != "file"), "in memory there is no file");
}

// ---- The same numbers in every run ----

/// Maps of the standard library have another order each time: nothing that is said of a release may depend on it.
#[test]
fn everything_that_is_said_of_a_release_is_the_same_in_every_run() {
    let mut random = incrowd::random::Random::new(5);
    let record = |i: usize| -> Vec<Cell> {
        let disease = (random.below(9) > 0).then(|| format!("d{}", random.below(7)));
        vec![Some(format!("{}", i % 23)), Some("x".into()), disease]
    };
    let rows: Vec<Vec<Cell>> = (0..500).map(record).collect();
    let names = [COLUMNS[0].to_string(), COLUMNS[1].to_string()];
    let said = |_| {
        let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], SuppressedAs::Group);
        verifier.push(&batch(&COLUMNS, &rows)).expect("texts");
        let dealt = Dealt::of_file(&verifier, &[SENSITIVE.to_string()], 23, &[1], 0);
        (verifier.spread(0), serde_json::to_string(&dealt).expect("JSON"), verifier.n_not_dealt(0, 23, 1))
    };
    let all: Vec<_> = (0..200).map(said).collect();
    assert!(all.iter().all(|one| *one == all[0]), "{:?}", all[0].0);
}

/// The last digit of version 1 came from a sum in any order; a release must not be rejected for that.
#[test]
fn the_last_digit_of_an_old_certificate_is_not_held_against_it() {
    let mut certificate = certificate();
    let names = [COLUMNS[0].to_string(), COLUMNS[1].to_string()];
    let mut verifier = Verifier::new(&names, &[SENSITIVE.to_string()], SuppressedAs::Group);
    verifier.push(&batch(&COLUMNS, &release())).expect("texts");
    let mut dealt = Dealt::of_file(&verifier, &[SENSITIVE.to_string()], 4, &[3], 0);
    let mean = dealt.attributes[0].emd.equal.mean;
    for (version, by, holds) in [(1, 1e-6, true), (1, -1e-6, true), (1, 2e-6, false), (2, 0.0, true), (2, 1e-6, false)]
    {
        dealt.attributes[0].emd.equal.mean = incrowd::wire::rounded(mean + by);
        certificate.format_version = version;
        certificate.dealt = Some(dealt.clone());
        let claims = incrowd::wire::check_dealt(&certificate, &verifier);
        let distances = claims.iter().find(|claim| claim.claim.starts_with("distances")).expect("a claim");
        assert_eq!(distances.holds, holds, "version {version}, off by {by}");
    }
}
