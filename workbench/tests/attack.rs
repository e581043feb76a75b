//! Attacking as a user does: cells are read as what they stand for, and what cannot be read is never taken for safety.

use crate::support;

use serde_json::Value;
use support::{Folder, Ran};

const PROJECT: &str = r#"
[data]
path = "people.csv"
population = "town.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = { cuts = [18, 40, 65] }

[attributes.admitted]
role = "quasi-identifier"
hierarchy = { dates = ["month", "quarter", "year", "decade"] }

[attributes.bmi]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10] }

[attributes.city]
role = "quasi-identifier"
hierarchy = { tree = { North = ["Oslo", "Umea"], South = ["Rome", "Pisa"] } }

[attributes.ill]
role = "sensitive"
"#;

const CITIES: &str = "Oslo;North\nUmea;North\nRome;South\nPisa;South\n";

/// Sixty people of all ages, admitted within two years, with halves among their decimals.
fn records() -> Vec<[String; 5]> {
    let record = |i: usize| {
        [
            (10 + (i * 17) % 71).to_string(),
            format!("202{}-{:02}-{:02}", 3 + i % 2, 1 + (i * 5) % 12, 1 + (i * 11) % 28),
            format!("{}{}", 15 + (i * 7) % 20, if i % 3 == 0 { ".5" } else { "" }),
            ["Oslo", "Umea", "Rome", "Pisa"][(i * 7 / 3) % 4].to_string(),
            ["flu", "ulcer", "cold", "flu"][(i * 5 / 2) % 4].to_string(),
        ]
    };
    (0..60).map(record).collect()
}

fn table(records: &[[String; 5]]) -> String {
    let lines: String = records.iter().map(|record| format!("{}\n", record.join(","))).collect();
    format!("age,admitted,bmi,city,ill\n{lines}")
}

fn people() -> Folder {
    let folder = Folder::with(&[("incrowd.toml", PROJECT)]);
    write_people(&folder, &records());
    folder
}

/// In the town there are two of everyone, so that k-map holds at every level and nobody is suppressed.
fn write_people(folder: &Folder, records: &[[String; 5]]) {
    folder.write("people.csv", table(records));
    folder.write("town.csv", table(&[records, records].concat()));
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn linkage(folder: &Folder, line: &str) -> Value {
    run(folder, &format!("attack {line} --json")).json()["linkage"][0].clone()
}

/// The counts that must not depend on where labels are known from.
fn counts(linkage: &Value) -> Vec<u64> {
    let names = ["n_outside", "n_without", "n_one_group", "n_several_groups", "n_one_record", "n_certain"];
    names.iter().map(|name| linkage[name].as_u64().unwrap_or_else(|| panic!("no {name} in {linkage}"))).collect()
}

#[test]
fn cells_are_read_without_the_project_too() {
    let folder = people();
    for levels in [
        "age=1,admitted=2,bmi=2,city=1",
        "age=1,admitted=1,bmi=1,city=0",
        "age=0,admitted=3,bmi=0,city=1",
        "age=1,admitted=4,bmi=1,city=2",
    ] {
        run(&folder, &format!("publish --k-map 2 --levels {levels} --force -o rel.csv")).ends(0);
        let with = counts(&linkage(&folder, "rel.csv --outside people.csv --project ."));
        // Every record is of the table and none was suppressed: one scheme puts each of them into one group.
        assert_eq!(with[..4], [60, 0, 60, 0], "{levels}");
        assert_eq!(with, counts(&linkage(&folder, "rel.csv --outside people.csv")), "{levels}");
        assert_eq!(with, counts(&linkage(&folder, "rel.csv --project .")), "{levels}");
    }
    for cells in ["ranges", "labels", "sets", "rounded", "ranges --two-columns", "rounded --two-columns"] {
        run(&folder, &format!("publish --method top-down --k 4 --cells {cells} --force -o local.csv")).ends(0);
        let with = counts(&linkage(&folder, "local.csv --outside people.csv --project ."));
        assert_eq!((with[0], with[1]), (60, 0), "{cells}");
        assert_eq!(with, counts(&linkage(&folder, "local.csv --outside people.csv")), "{cells}");
    }
}

/// An outside table may write 29.0 where the release has 29.
#[test]
fn numbers_are_compared_as_numbers() {
    let folder = people();
    run(&folder, "publish --k-map 2 --levels age=1,admitted=2,bmi=2,city=1 -o labels.csv").ends(0);
    run(&folder, "publish --k-map 2 --levels age=0,admitted=0,bmi=0,city=0 -o exact.csv").ends(0);
    let mut decimals = records();
    decimals.iter_mut().for_each(|record| record[0].push_str(".0"));
    folder.write("decimals.csv", table(&decimals));
    for release in ["labels.csv", "exact.csv"] {
        assert_eq!(linkage(&folder, &format!("{release} --outside decimals.csv"))["n_without"], 0, "{release}");
    }
}

#[test]
fn where_cells_cannot_be_read_linkage_is_not_known_and_nothing_is_counted() {
    let folder = people();
    folder.write("cities.csv", CITIES);
    let project =
        PROJECT.replace("{ tree = { North = [\"Oslo\", \"Umea\"], South = [\"Rome\", \"Pisa\"] } }", "\"cities.csv\"");
    folder.write("incrowd.toml", project);
    run(&folder, "publish --k 3 --l 2 --max-suppressed 100% --levels age=2,admitted=5,bmi=3,city=1 -o rel.csv").ends(0);
    let ran = run(&folder, "attack rel.csv --outside people.csv").ends(2);
    assert!(ran.stdout.contains("Linkage is not known: cells could not be read.\n  2 of 2 cells of city\n"), "{ran}");
    assert!(ran.stdout.contains("--hierarchy city=FILE") && ran.stdout.contains("--project"), "{ran}");
    assert!(!ran.stdout.contains("fit no group") && !ran.stdout.contains("North"), "{ran}");
    assert!(ran.stdout.contains("Homogeneity"), "the other attacks are told: {ran}");
    let found = run(&folder, "attack rel.csv --outside people.csv --json").ends(2).json();
    assert_eq!(found["linkage"], Value::Null);
    assert_eq!(found["is_certain"], Value::Null);
    assert_eq!(found["linkage_not_known"][0]["attribute"], "city");
    assert_eq!(found["linkage_not_known"][0]["n_cells"], 2);
    // With what was missing they can.
    let with = counts(&linkage(&folder, "rel.csv --outside people.csv --project ."));
    assert_eq!(with[..2], [60, 0]);
    assert_eq!(with, counts(&linkage(&folder, "rel.csv --outside people.csv --hierarchy city=cities.csv")));
    // The project is known and still does not say it: nobody is sent back to it.
    folder.write("cities.csv", "Oslo;Up\nUmea;Up\nRome;Down\nPisa;Down\n");
    let ran = run(&folder, "attack rel.csv --outside people.csv --project .").ends(2);
    assert!(ran.stdout.contains("Give labels: --hierarchy city=FILE"), "{ran}");
    // A label that is called as a value is.
    folder.write("cities.csv", "Oslo;Oslo\nUmea;Oslo\nRome;Rome\nPisa;Rome\n");
    run(&folder, "publish --k-map 2 --levels age=2,admitted=5,bmi=3,city=1 --force -o rel.csv").ends(0);
    assert_eq!(linkage(&folder, "rel.csv --outside people.csv"), Value::Null);
    assert_eq!(linkage(&folder, "rel.csv --outside people.csv --project .")["n_one_group"], 60);
    // A table without that attribute needs nothing.
    folder.write("ages.csv", "age\n30\n50\n");
    assert_eq!(linkage(&folder, "rel.csv --outside ages.csv")["n_without"], 0);
}

/// A middle does not say which range it is the middle of.
#[test]
fn midpoints_cannot_be_linked_and_that_is_said() {
    let folder = people();
    run(&folder, "publish --method top-down --k 4 --l 2 --cells midpoints -o middle.csv").ends(0);
    for line in ["attack middle.csv --project .", "attack middle.csv --outside people.csv"] {
        let ran = run(&folder, line).ends(2);
        assert!(ran.stdout.contains("Linkage is not known") && ran.stdout.contains("middle"), "{ran}");
        assert!(!ran.stdout.contains("fit no group"), "{ran}");
    }
    folder.write("cities.csv", "city\nOslo\n");
    assert_eq!(linkage(&folder, "middle.csv --outside cities.csv")["n_outside"], 1, "labels are read");
}

#[test]
fn values_of_the_outside_table_that_nothing_knows_are_counted_and_no_error() {
    let folder = people();
    let mut strangers = records();
    strangers[0][3] = "Bonn".into();
    strangers[1][3] = "Bonn".into();
    strangers[2][3] = "?".into();
    strangers[3][0] = "forty".into();
    folder.write("outside.csv", table(&strangers));
    folder.write("incrowd.toml", PROJECT.replace("path = \"people.csv\"", "path = \"people.csv\"\nmissing = [\"?\"]"));
    run(&folder, "publish --k-map 2 --levels age=1,admitted=2,bmi=2,city=1 -o rel.csv").ends(0);
    for project in ["", "--project ."] {
        let ran = run(&folder, &format!("attack rel.csv --outside outside.csv {project}"));
        assert!(ran.code != Some(2), "{ran}");
        assert!(ran.stdout.contains("1 value of age, of 1 person, is unknown"), "{ran}");
        let n_unknown =
            if project.is_empty() { "2 values of city, of 3 people, are" } else { "1 value of city, of 2 people, is" };
        assert!(ran.stdout.contains(n_unknown), "{ran}");
        assert_eq!(ran.stdout.contains("1 person has no city"), !project.is_empty(), "{ran}");
        assert!(!ran.stdout.contains("Bonn"), "no value is named: {ran}");
        let found = run(&folder, &format!("attack rel.csv --outside outside.csv {project} --json")).json();
        assert_eq!(found["linkage"][0]["n_without"], 4);
        assert_eq!(found["unknown_outside"][0]["attribute"], "age");
    }
    // Nobody has a city as the release writes them.
    let mut shouted = records();
    shouted.iter_mut().for_each(|record| record[3] = record[3].to_uppercase());
    folder.write("shouted.csv", table(&shouted));
    run(&folder, "publish --k-map 2 --levels age=2,admitted=5,bmi=3,city=0 -o exact.csv").ends(0);
    let ran = run(&folder, "attack exact.csv --outside shouted.csv");
    assert!(ran.stdout.contains("4 values of city, of 60 people, are unknown"), "{ran}");
    // What is hidden may be anything.
    run(&folder, "publish --k-map 2 --levels age=2,admitted=2,bmi=2,city=2 --force -o rel.csv").ends(0);
    assert_eq!(linkage(&folder, "rel.csv --outside outside.csv --project .")["n_without"], 0);
}

#[test]
fn records_without_a_value_are_found_where_they_were_kept() {
    let folder = people();
    let mut some = records();
    some[1][0].clear();
    some[7][3].clear();
    write_people(&folder, &some);
    folder.write(
        "incrowd.toml",
        PROJECT.replace("path = \"people.csv\"", "path = \"people.csv\"\nmissing_records = \"keep\""),
    );
    for (line, release) in [
        ("--method top-down --k 3", "local.csv"),
        ("--method top-down --k 3 --two-columns", "two.csv"),
        ("--k-map 2 --levels age=1,admitted=2,bmi=2,city=1", "global.csv"),
        ("--k-map 2 --levels age=1,admitted=2,bmi=2,city=1", "global.parquet"),
        ("--k-map 2 --levels age=1,admitted=2,bmi=2,city=1 --two-columns", "two-ends.csv"),
        ("--k-map 2 --levels age=1,admitted=2,bmi=2,city=1 --two-columns", "two-ends.parquet"),
    ] {
        run(&folder, &format!("publish {line} -o {release}")).ends(0);
        for whom in ["--project .", "--outside people.csv --project .", "--outside people.csv"] {
            let found = linkage(&folder, &format!("{release} {whom}"));
            assert_eq!((&found["n_outside"], &found["n_without"]), (&60.into(), &0.into()), "{release} {whom}");
        }
    }
}

#[test]
fn two_columns_are_read_as_one_range() {
    let folder = people();
    run(&folder, "publish --method top-down --k 4 -o one.csv").ends(0);
    run(&folder, "publish --method top-down --k 4 --two-columns -o two.csv").ends(0);
    run(&folder, "publish --method top-down --k 4 --two-columns -o two.parquet").ends(0);
    let one = counts(&linkage(&folder, "one.csv --project ."));
    assert_eq!(one[..2], [60, 0]);
    for release in ["two.csv", "two.parquet"] {
        for whom in ["--project .", "--outside people.csv", "--outside people.csv --project ."] {
            assert_eq!(one, counts(&linkage(&folder, &format!("{release} {whom}"))), "{release} {whom}");
        }
    }
    for levels in ["age=1,admitted=2,bmi=2,city=1", "age=2,admitted=4,bmi=1,city=0", "age=0,admitted=5,bmi=3,city=1"] {
        run(&folder, &format!("publish --k-map 2 --levels {levels} --force -o one.csv")).ends(0);
        let one = counts(&linkage(&folder, "one.csv --project ."));
        for release in ["two.csv", "two.parquet"] {
            run(&folder, &format!("publish --k-map 2 --levels {levels} --two-columns --force -o {release}")).ends(0);
            for whom in ["--project .", "--outside people.csv", "--outside people.csv --project ."] {
                assert_eq!(one, counts(&linkage(&folder, &format!("{release} {whom}"))), "{levels} {release} {whom}");
            }
        }
    }
    folder.write("names.csv", "name\nBob\n");
    let ran = run(&folder, "attack two.csv --outside names.csv").ends(2);
    assert!(ran.stderr.contains("age, admitted, bmi, city"), "{ran}");
}

#[test]
fn records_that_are_hidden_in_everything_are_counted_unless_asked() {
    let csv = "zip,age,ill\n47*,2*,flu\n47*,2*,flu\n48*,2*,flu\n48*,2*,cold\n*,*,ulcer\n*,*,ulcer\n*,*,ulcer\n";
    let folder = Folder::with(&[("rel.csv", csv)]);
    let flags = "--quasi-identifiers zip,age --sensitive ill";
    let ran = run(&folder, &format!("attack rel.csv {flags}")).ends(1);
    assert!(ran.stdout.contains("rel.csv: 7 records in 3 groups"), "{ran}");
    assert!(ran.stdout.contains("3 records are * in every quasi-identifier: a group that everybody fits"), "{ran}");
    assert!(ran.stdout.contains("in 2 groups, all records have the same ill"), "{ran}");
    let ran = run(&folder, &format!("attack rel.csv {flags} --suppressed-as absent")).ends(1);
    assert!(ran.stdout.contains("rel.csv: 4 records in 2 groups"), "{ran}");
    assert!(ran.stdout.contains("3 records marked as suppressed were left out"), "{ran}");
    assert!(!ran.stdout.contains("everybody fits"), "{ran}");
    let found = run(&folder, &format!("attack rel.csv {flags} --suppressed-as absent --json")).json();
    assert_eq!(found["releases"][0]["n_absent"], 3);
}

#[test]
fn linkage_adds_up_and_counts_one_as_one() {
    let csv = "zip,age,ill\n476**,2*,flu\n476**,*,flu\n476**,*,cold\n479**,4*,cold\n";
    let folder = Folder::with(&[
        ("rel.csv", csv),
        ("one.csv", "zip,age\n47677,29\n"),
        ("two.csv", "zip,age\n47677,29\n47905,43\n"),
    ]);
    let flags = "--quasi-identifiers zip,age --sensitive ill";
    let ran = run(&folder, &format!("attack rel.csv {flags} --outside one.csv"));
    assert!(ran.stdout.contains("Linkage, for 1 person of one.csv:"), "{ran}");
    let ran = run(&folder, &format!("attack rel.csv {flags} --outside two.csv"));
    assert!(ran.stdout.contains("Linkage, for 2 people of two.csv:"), "{ran}");
    assert!(ran.stdout.contains("  1 (50.0 %) fit several groups."), "{ran}");
    assert_eq!(counts(&linkage(&folder, &format!("rel.csv {flags} --outside two.csv"))), [2, 0, 1, 1, 1, 1]);
}

/// Two ways to publish the same four people, each with two alike and two values in every group.
#[test]
fn two_releases_tell_together_what_neither_tells_alone() {
    let folder = Folder::with(&[
        ("first.csv", "zip,age,ill\n*,2*,flu\n*,2*,cold\n*,4*,gout\n*,4*,asthma\n"),
        ("second.csv", "zip,age,ill\n476**,*,flu\n476**,*,gout\n479**,*,cold\n479**,*,asthma\n"),
        ("ann.csv", "zip,age\n47677,29\n"),
    ]);
    let attack = |files: &str| {
        let line = format!("attack {files} --quasi-identifiers zip,age --sensitive ill --outside ann.csv --json");
        run(&folder, &line)
    };
    for one in ["first.csv", "second.csv"] {
        let found = attack(one).ends(0).json();
        assert_eq!((&found["is_certain"], &found["linkage"][0]["n_certain"]), (&false.into(), &0.into()), "{one}");
    }
    let found = attack("first.csv second.csv").ends(1).json();
    assert_eq!((&found["linkage"][0]["n_certain"], &found["linkage"][0]["n_certain_together"]), (&1.into(), &1.into()));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let folder = people();
    folder.write("cities.csv", CITIES);
    run(&folder, "publish --k-map 2 --levels age=1,admitted=2,bmi=2,city=1 -o rel.csv").ends(0);
    for (line, words) in [
        ("attack nope.csv", "nope.csv: "),
        ("attack nope.csv", "no such file"),
        ("attack rel.csv --hierarchy foo=cities.csv", "unknown attribute 'foo'"),
        ("attack rel.csv --sensitive city", "cannot be a quasi-identifier and sensitive at once"),
        ("attack people.csv --quasi-identifiers age,ill --sensitive ill", "cannot be a quasi-identifier and sensitive"),
    ] {
        let ran = run(&folder, line).ends(2);
        assert!(ran.stderr.to_lowercase().contains(words), "{line}: {ran}");
        assert!(!ran.stderr.contains("nothing says"), "{ran}");
    }
    folder.write("nobody.csv", "age,city\n");
    let ran = run(&folder, "attack rel.csv --outside nobody.csv").ends(2);
    assert!(ran.stderr.contains("nobody.csv: has nobody to look for"), "{ran}");
    folder.write("other.toml", "[data]\npath = \"people.csv\"\n[attributes.ill]\nrole = \"sensitive\"\n");
    let ran = run(&folder, "attack rel.csv --project other.toml").ends(2);
    assert!(ran.stderr.contains("has none of the quasi-identifiers of the release"), "{ran}");
}

/// Visits of five people: alone in Oslo is ann, with three records; ben and cid are in Rome, cid and dot in Pisa.
const VISITS: &str = "who,age,city,ill\nann,31,Oslo,flu\nann,31,Oslo,cold\nann,31,Oslo,gout\n\
    ben,42,Rome,flu\nben,42,Rome,cold\ncid,42,Rome,gout\ncid,53,Pisa,flu\ndot,53,Pisa,cold\ndot,53,Pisa,gout\n";

fn visits() -> Folder {
    let project = "[data]\npath = \"visits.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
        [attributes.city]\nrole = \"quasi-identifier\"\n[attributes.ill]\nrole = \"sensitive\"\n";
    let folder = Folder::with(&[("visits.csv", VISITS), ("incrowd.toml", project)]);
    folder.write("people.toml", format!("{project}[attributes.who]\nrole = \"person\"\n"));
    folder
}

/// A group of three records of one person hides nobody: three records fit, and all are ann's.
#[test]
fn whoever_fits_records_of_one_person_only_is_found() {
    let folder = visits();
    run(&folder, "publish --k 3 --levels age=0 -o rel.csv").ends(0);
    let by_record = linkage(&folder, "rel.csv --project incrowd.toml");
    assert_eq!((&by_record["n_outside"], &by_record["n_one_person"]), (&9.into(), &Value::Null));
    let by_person = linkage(&folder, "rel.csv --project people.toml");
    assert_eq!(counts(&by_person), [4, 0, 4, 0, 0, 0]);
    assert_eq!(by_person["n_one_person"], 1);
    let words = run(&folder, "attack rel.csv --project people.toml").stdout;
    for said in ["Linkage, for 4 people of the table", "1 (25.0 %) fit records of one person only.", "easiest to find"]
    {
        assert!(words.contains(said), "{said}: {words}");
    }
    // Whoever is found by an outside table is found by person too; who is only there is not in the release.
    folder.write("outside.csv", "age,city\n31,Oslo\n53,Pisa\n99,Oslo\n");
    let outside = linkage(&folder, "rel.csv --outside outside.csv --project people.toml");
    assert_eq!((counts(&outside)[..4].to_vec(), &outside["n_one_person"]), (vec![3, 1, 2, 0], &1.into()));
    // Of ranges of its own for every group nobody knows here whose records are in which.
    run(&folder, "publish --method mondrian --k 3 -o local.csv").ends(0);
    assert_eq!(linkage(&folder, "local.csv --project people.toml")["n_one_person"], Value::Null);
    // Nor where the data are not those that the release was made from.
    folder.write("visits.csv", format!("{VISITS}eve,31,Oslo,flu\n"));
    assert_eq!(linkage(&folder, "rel.csv --project people.toml")["n_one_person"], Value::Null);
}
