//! Negative space: a valid release and its certificate, broken in every way; each break must be seen.

mod common;

use common::*;
use incrowd::verify::SuppressedAs;
use incrowd::wire::{Certificate, FileHash, check_claims};
use incrowd::{Criteria, Missing, Verdict, Verifier};
use serde_json::{Map, Value, json};

const PROMISE: Criteria = Criteria { k: Some(3), l: Some(2) };
const COLUMNS: [&str; 3] = ["age", "city", SENSITIVE];

/// A release of 12 records in four groups of 3, 3, 3 and 3 records; the fewest diseases are 2.
fn release() -> Vec<Vec<Cell>> {
    let ages: Vec<Vec<String>> =
        (20..60).map(|age: u32| vec![age.to_string(), format!("{}s", age / 10 * 10)]).collect();
    let city = Attribute::new("city", &[&["Bonn", "west"], &["Köln", "west"], &["Jena", "east"], &["Gera", "east"]]);
    let record =
        |age: &str, city: &str, disease: &str| [age, city, disease].map(|text| Some(text.to_string())).to_vec();
    let table = Table {
        quasi_identifiers: vec![Attribute { name: "age".into(), rows: ages, weight: 1.0 }, city],
        has_sensitive: true,
        has_note: false,
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
    let (rows, n_suppressed, _) = publish(&table, &table.make(), &[1, 1], PROMISE);
    assert_eq!((rows.len(), n_suppressed), (12, 1));
    rows
}

fn judge(rows: &[Vec<Cell>], criteria: Criteria, suppressed_as: SuppressedAs) -> Verdict {
    let names = [COLUMNS[0].to_string(), COLUMNS[1].to_string()];
    let mut verifier = Verifier::new(&names, Some(SENSITIVE), suppressed_as);
    verifier.push(&batch(&COLUMNS, rows)).expect("columns of texts");
    verifier.verdict(criteria)
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
    let verdict = judge(&release(), PROMISE, SuppressedAs::Group);
    assert!(verdict.holds());
    assert_eq!((verdict.n_records, verdict.n_groups), (12, 4));
    assert_eq!((verdict.smallest_group, verdict.fewest_distinct), (Some(3), Some(2)));
}

/// Which of k and l still hold after a change.
#[track_caller]
fn check(what: &str, change: impl Fn(&mut Vec<Vec<Cell>>), suppressed_as: SuppressedAs, k_and_l_hold: (bool, bool)) {
    let mut rows = release();
    change(&mut rows);
    let verdict = judge(&rows, PROMISE, suppressed_as);
    let found = (verdict.findings[0].holds(), verdict.findings[1].holds());
    assert_eq!(found, k_and_l_hold, "{what}: {verdict:?}");
    assert_eq!(verdict.holds(), k_and_l_hold == (true, true), "{what}");
    assert_eq!(verdict, verify(&rows, 2, true, PROMISE, suppressed_as), "{what}");
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
    let verdict = judge(&[release(), vec![row(["*", "*", "flu"])]].concat(), PROMISE, Absent);
    assert_eq!((verdict.n_records, verdict.n_absent, verdict.n_groups), (12, 1, 4));
}

/// Every record removed, and every cell replaced by every text of its column and by some others.
#[test]
fn every_single_change_is_judged_by_the_definition() {
    let (rows, mut n_broken, mut n_kept) = (release(), 0, 0);
    let mut judge_both = |changed: &[Vec<Cell>]| {
        let verdict = judge(changed, PROMISE, SuppressedAs::Group);
        assert_eq!(verdict, verify(changed, 2, true, PROMISE, SuppressedAs::Group));
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
    let mut verifier = Verifier::new(&names, Some(SENSITIVE), SuppressedAs::Group);
    verifier.push(&batch(&["name", "age", "city", SENSITIVE], &rows)).expect("columns of texts");
    let verdict = verifier.verdict(PROMISE);
    assert!(!verdict.holds());
    assert_eq!((verdict.n_groups, verdict.findings[0].n_records_failing), (12, 12));
}

#[test]
fn a_release_in_many_batches_is_judged_as_one() {
    let (rows, names) = (release(), [COLUMNS[0].to_string(), COLUMNS[1].to_string()]);
    let mut verifier = Verifier::new(&names, Some(SENSITIVE), SuppressedAs::Group);
    for row in &rows {
        verifier.push(&batch(&COLUMNS, std::slice::from_ref(row))).expect("columns of texts");
    }
    assert_eq!(verifier.verdict(PROMISE), judge(&rows, PROMISE, SuppressedAs::Group));
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
        let verdict = judge(&release(), criteria, SuppressedAs::Group);
        assert_eq!(verdict.holds(), holds, "{criteria:?}");
        for finding in verdict.findings {
            assert_eq!(finding.reached, Some(if finding.criterion.name() == "k" { 3 } else { 2 }));
        }
    }
}

#[test]
fn a_release_of_which_nothing_is_asked_has_kept_no_promise() {
    assert!(!judge(&release(), Criteria::default(), SuppressedAs::Group).holds());
    assert!(!judge(&[], Criteria::default(), SuppressedAs::Group).holds());
}

#[test]
fn an_empty_release_breaks_nothing_and_reaches_nothing() {
    let verdict = judge(&[], PROMISE, SuppressedAs::Group);
    assert!(verdict.holds());
    assert_eq!((verdict.n_records, verdict.n_groups, verdict.smallest_group), (0, 0, None));
    assert!(verdict.findings.iter().all(|finding| finding.reached.is_none()));
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
        sensitive: Some(SENSITIVE.to_string()),
        columns: names(&COLUMNS),
        levels: json!({ "age": 1, "city": 1 }),
        level_names: json!({ "age": "level 1", "city": "level 1" }),
        height: 2,
        n_records_read: 15,
        n_records_dropped: 2,
        n_records_suppressed: 1,
        n_records_published: 12,
        n_groups: 4,
        smallest_group: Some(3),
        fewest_distinct: Some(2),
        loss: json!({ "ncp": 0.3 }),
        order: "sorted".to_string(),
        seed: None,
        input: vec![],
        hierarchies: vec![],
        output: FileHash { name: "release.csv".to_string(), sha256: HASH.to_string() },
    }
}

/// The claims of a certificate that a release, judged as the certificate says, does not bear out.
fn false_claims(certificate: &Certificate, rows: &[Vec<Cell>]) -> Vec<String> {
    let sensitive = certificate.sensitive.as_deref();
    let mut verifier = Verifier::new(&certificate.quasi_identifiers, sensitive, SuppressedAs::Group);
    verifier.push(&batch(&COLUMNS, rows)).expect("columns of texts");
    let verdict = verifier.verdict(certificate.promised());
    let claims = check_claims(certificate, &verdict, &COLUMNS.map(String::from), HASH);
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
    for wrong in [0, 1, 3] {
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
    check_certificate(|c| drop(c.quasi_identifiers.pop()), &["groups"]);
    check_certificate(
        |c| c.quasi_identifiers.clear(),
        &["groups", "smallest group", "fewest distinct", "k reached", "l reached"],
    );
    check_certificate(|c| c.sensitive = None, &["fewest distinct", "l reached", "promise"]);
    check_certificate(|c| c.sensitive = Some("city".into()), &["fewest distinct", "l reached", "promise"]);
}

/// A certificate of another file, whose hash was adjusted to this one.
#[test]
fn a_release_that_was_changed_within_its_promise_is_told_by_its_numbers() {
    let check = |change: &dyn Fn(&mut Vec<Vec<Cell>>), claims: &[&str]| {
        let mut rows = release();
        change(&mut rows);
        assert_eq!(false_claims(&certificate(), &rows), claims);
    };
    check(&|rows| drop(rows.drain(..3)), &["records published", "records accounted for", "groups"]);
    check(&|rows| rows.push(rows[0].clone()), &["records published", "records accounted for"]);
    check(&|rows| set(rows, 0, 2, "mumps"), &[]);
    check(
        &|rows| rows.iter_mut().for_each(|row| row[0] = Some("*".into())),
        &["groups", "smallest group", "k reached"],
    );
    check(
        &|rows| rows.clear(),
        &[
            "records published",
            "records accounted for",
            "groups",
            "smallest group",
            "fewest distinct",
            "k reached",
            "l reached",
        ],
    );
}
