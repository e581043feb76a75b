//! Cells that do not fit, and cells that are published coarser: where they are, what becomes of them, and who is told.

use crate::support;
use std::collections::BTreeSet;
use support::{Folder, Ran};

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

const PROJECT: &str = r#"
[data]
path = "people.csv"

[attributes.born]
role = "quasi-identifier"
hierarchy = { dates = ["month", "year"] }

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10] }

[attributes.city]
role = "quasi-identifier"
hierarchy = "city.csv"

[attributes.income]
role = "sensitive"
tells = "accepted"

[request]
k = 2
max_suppressed = "50%"
"#;

const CITIES: &str = "Oslo;North;*\nUmea;North;*\nRome;South;*\n";

/// Ninety people, some of whom have something that does not fit; the third has a name over two lines.
fn people() -> String {
    let mut text = String::from("name,born,age,city,income\n");
    for i in 0..90 {
        let name = if i == 2 { "\"two\nlines\"".to_string() } else { format!("n{i}") };
        let born = if i == 40 { "31.12.1980" } else { ["1980-01-05", "1980-01-09", "1981-02-03"][i % 3] };
        let age = if i == 50 || i == 60 { "unknown" } else { ["31", "33", "38"][i % 3] };
        let city = if i % 30 == 7 { "Xanadu" } else { ["Oslo", "Umea", "Rome"][i % 3] };
        text.push_str(&format!("{name},{born},{age},{city},{}\n", 1003 + 10 * (i % 20)));
    }
    text
}

fn folder(changes: &[(&str, &str)]) -> Folder {
    let project = changes.iter().fold(PROJECT.to_string(), |project, (before, after)| {
        assert!(project.contains(before), "{before}");
        project.replacen(before, after, 1)
    });
    Folder::with(&[("incrowd.toml", &project), ("people.csv", &people()), ("city.csv", CITIES)])
}

const MISSING: (&str, &str) = ("path = \"people.csv\"", "path = \"people.csv\"\nunreadable = \"missing\"");
const OTHER: (&str, &str) = ("hierarchy = \"city.csv\"", "hierarchy = \"city.csv\"\nunknown = \"other\"");

/// The different cells of a column of a CSV.
fn cells(folder: &Folder, column: &str) -> BTreeSet<String> {
    let text = folder.read("release.csv");
    let mut lines = text.lines().map(|line| line.split(',').map(str::to_string).collect::<Vec<_>>());
    let header = lines.next().expect("a header");
    let place = header.iter().position(|name| name == column).expect("the column");
    lines.map(|line| line[place].clone()).collect()
}

fn certificate(folder: &Folder) -> serde_json::Value {
    serde_json::from_str(&folder.read("release.csv.certificate.json")).expect("JSON")
}

#[test]
fn one_bad_cell_is_found_by_file_line_and_column() {
    let folder = folder(&[]);
    let said = run(&folder, "count").ends(2);
    // Forty records before it, of which one has two lines, and the header.
    assert!(said.stderr.contains("people.csv:43: attribute 'born': 1 of 4 values"), "{said}");
    assert!(said.stderr.contains("in 1 cell of column 'born', here"), "{said}");
    assert!(said.stderr.contains("unreadable = \"missing\"") && said.stderr.contains("--show-values"), "{said}");
    assert!(!said.stderr.contains("31.12"), "{said}");
    // Several: the first, and where others are.
    let folder = self::folder(&[("{ dates = [\"month\", \"year\"] }", "{ flat = true }")]);
    let said = run(&folder, "count").ends(2);
    assert!(said.stderr.contains("people.csv:53: attribute 'age'"), "{said}");
    assert!(said.stderr.contains("in 2 cells of column 'age', the first here, others on line 63"), "{said}");
    assert!(!said.stderr.contains("unknown,") && !said.stderr.contains("'unknown'"), "{said}");
}

#[test]
fn a_value_that_no_line_of_a_hierarchy_has_is_found_in_the_data() {
    let folder = folder(&[MISSING]);
    let said = run(&folder, "count").ends(2);
    assert!(said.stderr.contains("city.csv: attribute 'city': the hierarchy misses 1 value"), "{said}");
    assert!(said.stderr.contains("in 3 cells, the first at "), "{said}");
    assert!(said.stderr.contains("people.csv:10, others on lines 40, 70"), "{said}");
    assert!(said.stderr.contains("unknown = \"other\""), "{said}");
    assert!(!said.stderr.contains("Xanadu"), "{said}");
}

#[test]
fn what_blocks_is_listed_and_shown_only_to_those_who_ask() {
    let folder = folder(&[]);
    let said = run(&folder, "hierarchy show --absent").ends(1);
    for part in ["born: 1 cell of 1 value", "age: 2 cells of 1 value", "city: 3 cells of 1 value", "people.csv:43"] {
        assert!(said.stdout.contains(part), "{part}\n{said}");
    }
    for value in ["Xanadu", "31.12.1980"] {
        assert!(!said.stdout.contains(value) && !said.stderr.contains(value), "{said}");
    }
    let said = run(&folder, "hierarchy show city --absent --show-values").ends(1);
    assert!(said.stdout.contains("Xanadu") && said.stdout.contains("people.csv:10"), "{said}");
    let document = run(&folder, "hierarchy show city . --absent --show-values --json").ends(1).json();
    assert_eq!((&document["n_cells"], &document["absent"][0]), (&3.into(), &"Xanadu".into()));
    assert_eq!(document["values"][0]["first"][1]["line"], 40);
    let document = run(&folder, "hierarchy show city --absent --json").ends(1).json();
    assert!(document["absent"].is_null() && document.get("values").is_none(), "{document}");
    // It says the same whatever becomes of them, and of a project that is named alone.
    let folder = self::folder(&[MISSING, OTHER]);
    let document = run(&folder, "hierarchy show . --absent --json").ends(1).json();
    assert_eq!(document["attributes"].as_array().map(Vec::len), Some(3));
    assert_eq!(document["attributes"][2]["n_cells"], 3);
    // The tree has a place for them now.
    assert!(run(&folder, "hierarchy show city").ends(0).stdout.contains("other"));
}

#[test]
fn what_cannot_be_read_counts_as_no_value_and_is_told() {
    let folder = folder(&[MISSING, OTHER]);
    let said = run(&folder, "publish -o release.csv").ends(0);
    assert!(said.stderr.contains("attribute 'born': 1 cell cannot be read and counts as no value"), "{said}");
    assert!(said.stderr.contains("attribute 'age': 2 cells cannot be read and count as no value"), "{said}");
    assert!(
        said.stderr.contains("attribute 'city': the hierarchy does not know 3 cells, which count as 'other'"),
        "{said}"
    );
    let told = certificate(&folder);
    assert_eq!(told["unreadable"], serde_json::json!({ "born": "missing", "age": "missing" }));
    assert_eq!(told["unknown"], serde_json::json!({ "city": "other" }));
    run(&folder, "verify release.csv").ends(0);
    run(&folder, "verify release.csv --project .").ends(0);
    let report = folder.read("release.csv.report.html");
    assert!(report.contains("3 cells have values that its hierarchy does not know"), "{report}");
    // The attribute's own word goes before that of all data.
    let strict = ("hierarchy = { intervals = [5, 10] }", "hierarchy = { intervals = [5, 10] }\nunreadable = \"error\"");
    let said = run(&self::folder(&[MISSING, OTHER, strict]), "count").ends(2);
    assert!(said.stderr.contains("attribute 'age'"), "{said}");
    // Where records that lack a value are left out, these are.
    let drop = ("path = \"people.csv\"", "path = \"people.csv\"\nmissing_records = \"drop\"\nunreadable = \"missing\"");
    let document = run(&self::folder(&[drop, OTHER]), "count --json").ends(0).json();
    assert_eq!((&document["n_records"], &document["n_dropped"]), (&87.into(), &3.into()));
}

#[test]
fn what_is_not_known_is_other_at_every_level_and_never_shown() {
    for (levels, expected) in [
        ("city=0", BTreeSet::from(["Oslo", "Rome", "Umea", "other"])),
        ("city=1", BTreeSet::from(["North", "South", "other"])),
        ("city=2", BTreeSet::from(["*"])),
    ] {
        let folder = folder(&[MISSING, OTHER]);
        let line = format!("publish --k 2 --quasi-identifiers city --levels {levels} -o release.csv");
        run(&folder, &line).ends(0);
        assert_eq!(cells(&folder, "city"), expected.into_iter().map(String::from).collect(), "{levels}");
        run(&folder, "verify release.csv --project .").ends(0);
        for (name, content) in folder.content() {
            let is_source = ["people.csv", "city.csv"].contains(&name.as_str());
            assert!(is_source || !String::from_utf8_lossy(&content).contains("Xanadu"), "{name}");
        }
        // Whoever looks for the people of the table finds them in the groups that they are in.
        run(&folder, "attack release.csv --project . --sensitive income").ends(0);
    }
    // A tree that has a label of this name takes them in there.
    let tree = "hierarchy = { tree = { big = { N = [\"Oslo\", \"Umea\"] }, small = { other = [\"Rome\"] } } }\nunknown = \"other\"";
    let folder = folder(&[MISSING, ("hierarchy = \"city.csv\"", tree)]);
    for (level, expected) in [(1, ["N", "other"]), (2, ["big", "small"])] {
        run(&folder, &format!("publish --k 2 --quasi-identifiers city --levels city={level} --force -o release.csv"))
            .ends(0);
        assert_eq!(cells(&folder, "city"), expected.map(String::from).into_iter().collect(), "{level}");
    }
    let missing = ("hierarchy = \"city.csv\"", "hierarchy = \"city.csv\"\nunknown = \"missing\"");
    let folder = self::folder(&[MISSING, missing]);
    run(&folder, "publish --k 2 --quasi-identifiers city --levels city=0 -o release.csv").ends(0);
    assert_eq!(cells(&folder, "city"), ["", "Oslo", "Rome", "Umea"].map(String::from).into_iter().collect());
}

#[test]
fn a_later_delivery_may_have_what_a_suggested_tree_does_not_know() {
    let line = |i: usize, cities: &[&str]| format!("{},{}\n", 20 + i % 50, cities[i % cities.len()]);
    let delivery = |cities: &[&str]| {
        let lines: String = (0..300).map(|i| line(i, cities)).collect();
        format!("age,country\n{lines}")
    };
    let first = delivery(&["Norway", "Sweden", "Italy", "Spain", "Chile", "Peru"]);
    let second = delivery(&["Norway", "Sweden", "Italy", "Spain", "Chile", "Peru", "Kenya", "Ghana"]);
    let folder = Folder::with(&[("first.csv", &first), ("second.csv", &second)]);
    run(&folder, "init first.csv").ends(0);
    let project = folder.read("incrowd.toml");
    assert!(project.contains("tree") && project.contains("unknown = \"other\""), "{project}");
    run(&folder, "publish --k 3 --max-suppressed 30% -o first.out.csv").ends(0);
    let said = run(&folder, "publish --k 3 --max-suppressed 30% --data second.csv -o second.out.csv").ends(0);
    assert!(said.stderr.contains("the hierarchy does not know"), "{said}");
    assert!(!folder.read("second.out.csv").contains("Kenya"));
    run(&folder, "verify second.out.csv --project . --data second.csv").ends(0);
}

#[test]
fn what_is_published_can_be_coarser_and_criteria_count_that() {
    let income = |how: &str| ("role = \"sensitive\"", format!("role = \"sensitive\"\n{how}"));
    let of = |how: &str| {
        let (before, after) = income(how);
        folder(&[MISSING, OTHER, (before, after.as_str())])
    };
    let folder = of("publish_as = { round = 100 }");
    run(&folder, "publish --l income:2 -o release.csv").ends(0);
    assert_eq!(cells(&folder, "income"), ["1000", "1100", "1200"].map(String::from).into_iter().collect());
    assert_eq!(certificate(&folder)["published_as"], serde_json::json!({ "income": { "round": 100 } }));
    run(&folder, "verify release.csv").ends(0);
    run(&folder, "verify release.csv --project .").ends(0);
    // Twenty incomes are three hundreds: nobody can promise four different ones.
    run(&of(""), "negotiate --k 4 --l income:4").ends(0);
    let said = run(&folder, "negotiate --k 4 --l income:4").ends(2);
    assert!(said.stderr.contains("3"), "{said}");

    let folder = of("publish_as = { top = 0.9 }");
    run(&folder, "publish --l income:2 -o release.csv").ends(0);
    let published = cells(&folder, "income");
    let (coded, exact): (Vec<_>, Vec<_>) = published.iter().partition(|cell| cell.starts_with(">="));
    assert_eq!(coded, [">=1100"], "a tenth of 1003 to 1193 begins at 1173, which is 1100 in two digits");
    assert!(exact.iter().all(|cell| cell.parse::<u64>().is_ok_and(|income| income < 1100)), "{exact:?}");
    run(&folder, "verify release.csv").ends(0);
    let told = certificate(&folder);
    assert_eq!(told["published_as"], serde_json::json!({ "income": { "top": 0.9 } }));
    assert!(folder.read("release.csv.report.html").contains("numbers from 1100 on"));

    let folder = of("hierarchy = { intervals = [50, 100] }\npublish_as = { level = \"width 100\" }");
    run(&folder, "publish --l income:2 -o release.csv").ends(0);
    assert_eq!(cells(&folder, "income"), ["1000-1099", "1100-1199"].map(String::from).into_iter().collect());
    run(&folder, "verify release.csv --project .").ends(0);
    // The hierarchy itself is that of the exact values.
    assert!(run(&folder, "hierarchy show income").ends(0).stdout.contains("1003"));
}

#[test]
fn what_is_rounded_has_to_be_a_number() {
    let coarse = ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { round = 100 }");
    let folder = folder(&[MISSING, OTHER, coarse]);
    folder.write("people.csv", people().replace(",1013\n", ",much\n"));
    // The data say so for all attributes.
    let said = run(&folder, "publish -o release.csv").ends(0);
    assert!(said.stderr.contains("attribute 'income'"), "{said}");
    assert!(cells(&folder, "income").contains("") && !cells(&folder, "income").contains("much"));
    let strict = ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { round = 100 }\nunreadable = \"error\"");
    let folder = self::folder(&[MISSING, OTHER, strict]);
    folder.write("people.csv", people().replace(",1013\n", ",much\n"));
    let said = run(&folder, "count").ends(2);
    assert!(said.stderr.contains("people.csv:3: attribute 'income': only numbers are rounded or coded"), "{said}");
    assert!(!said.stderr.contains("much"), "{said}");
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (before, after, expected) in [
        ("hierarchy = \"city.csv\"", "hierarchy = \"city.csv\"\nunreadable = \"missing\"", "says nothing here"),
        (
            "hierarchy = { intervals = [5, 10] }",
            "hierarchy = { intervals = [5, 10] }\nunknown = \"other\"",
            "says nothing",
        ),
        ("hierarchy = \"city.csv\"", "hierarchy = \"city.csv\"\nunknown = \"others\"", "unknown value"),
        ("hierarchy = \"city.csv\"", "hierarchy = \"city.csv\"\npublish_as = { level = 1 }", "published as they are"),
        ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { round = 0 }", "above 0"),
        ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { top = 1.5 }", "between 0 and 1"),
        ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { level = 1 }", "has none"),
        ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { round = 10, top = 0.9 }", "exactly one way"),
        (
            "role = \"sensitive\"",
            "role = \"sensitive\"\ndistance = \"ordered\"\npublish_as = { top = 0.9 }",
            "distance",
        ),
        ("{ intervals = [5, 10] }", "{ intervals = [5, 10], exact = \"between\" }", "between what"),
    ] {
        let folder = folder(&[(before, after)]);
        let said = run(&folder, "count").ends(2);
        assert!(said.stderr.contains(expected), "{after}\n{said}");
        assert!(said.stderr.contains("hint:"), "{said}");
    }
}

#[test]
fn ends_can_be_coded_at_level_0_where_numbers_between_are_exact() {
    let project = "[data]\npath = \"people.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
        hierarchy = { intervals = [5, 10], below = 18, above = 80, exact = \"between\" }\n\
        [attributes.ill]\nrole = \"sensitive\"\ntells = \"accepted\"\n";
    let lines: String = (0..400).map(|i| format!("{},{}\n", 5 + i % 100, ["a", "b", "c"][i % 3])).collect();
    let folder = Folder::with(&[("incrowd.toml", project), ("people.csv", &format!("age,ill\n{lines}"))]);
    run(&folder, "publish --k 4 --levels age=0 -o release.csv").ends(0);
    let published = cells(&folder, "age");
    assert_eq!(published.len(), 62 + 2);
    let expected = (18..80).map(|age: u32| age.to_string()).chain(["<18", ">=80"].map(String::from));
    assert_eq!(published, expected.collect());
    run(&folder, "verify release.csv").ends(0);
    run(&folder, "verify release.csv --project .").ends(0);
    run(&folder, "publish --k 4 --levels age=1 --force -o release.csv").ends(0);
    assert!(cells(&folder, "age").contains("18-19") && cells(&folder, "age").contains(">=80"));
    // No method shows what is beyond the ends.
    for method in ["top-down", "bottom-up", "mondrian", "deal"] {
        run(&folder, &format!("publish --k 4 --method {method} --force -o release.csv")).ends(0);
        let beyond = |cell: &&String| cell.parse::<u32>().is_ok_and(|age| !(18..80).contains(&age));
        assert_eq!(cells(&folder, "age").iter().find(beyond), None, "{method}");
        run(&folder, "verify release.csv --project .").ends(0);
    }
    // Cells that were coded are no cells that cannot be read: an error is about the one that cannot.
    folder.write("bad.csv", format!("age,ill\n{lines}abc,a\n"));
    let said = run(&folder, "count --data bad.csv").ends(2);
    assert!(said.stderr.contains("bad.csv:402: ") && said.stderr.contains("in 1 cell of column 'age', here"), "{said}");
    // Somebody of eighty-five is found among those whose cells are >=80.
    folder.write("outside.csv", "age\n85\n50\n");
    run(&folder, "publish --k 4 --levels age=0 --force -o release.csv").ends(0);
    let said = run(&folder, "attack release.csv --outside outside.csv --sensitive ill --json");
    assert!(said.code != Some(2), "{said}");
}

#[test]
fn other_data_are_read_wherever_a_project_is() {
    let folder = folder(&[MISSING, OTHER]);
    let more: String = people()
        .lines()
        .skip(1)
        .filter(|line| !line.contains('"') && line.contains(','))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("next.csv", format!("{}{more}", people()));
    run(&folder, "publish --data next.csv -o release.csv").ends(0);
    run(&folder, "verify release.csv --project . --data next.csv").ends(0);
    let said = run(&folder, "attack release.csv --project . --data next.csv --sensitive income").ends(1);
    assert!(said.stdout.contains("for 179 records of the table"), "{said}");
    let n = |line: &str, key: &str| run(&folder, line).ends(0).json()[key].clone();
    assert_eq!(n("profile --json", "n_records"), 90);
    assert!(n("profile --data next.csv --json", "n_records").as_u64() > Some(170));
    assert!(n("risk --data next.csv --json", "n_records").as_u64() > Some(170));
    let levels = run(&folder, "hierarchy show age --data next.csv --json").ends(0).json();
    assert_eq!(levels["attribute"], "age");
    for line in [
        "verify release.csv --data next.csv",
        "profile people.csv --data next.csv",
        "risk people.csv --data next.csv --quasi-identifiers age",
    ] {
        run(&folder, line).ends(2);
    }
}

#[test]
fn formats_without_lines_tell_the_record() {
    let folder = folder(&[MISSING, OTHER]);
    // A release with exact dates is a Parquet table with texts of which some are no dates.
    folder.write("people.csv", people().replace("1980-01-09", "31.12.1980"));
    let flat = folder.read("incrowd.toml").replace("{ dates = [\"month\", \"year\"] }", "{ flat = true }");
    folder.write(
        "flat.toml",
        flat.replace("[request]", "[attributes.name]\nrole = \"other\"\nunique = \"publish\"\n[request]"),
    );
    run(&folder, "publish flat.toml --k 2 --levels born=0,age=*,city=* -o table.parquet").ends(0);
    folder.write("incrowd.toml", PROJECT.replace("people.csv", "table.parquet"));
    let said = run(&folder, "count").ends(2);
    assert!(said.stderr.contains("table.parquet, record ") && said.stderr.contains("cells of column 'born'"), "{said}");
}

/// A table of combinations gives what its records give: release, counts, and how many cells were replaced.
#[test]
fn combinations_are_replaced_as_their_records_are() {
    let lines: Vec<String> = people().replace("\"two\nlines\"", "n2").lines().map(str::to_string).collect();
    let number = |i: usize| 1 + i % 4;
    let rows = |repeat: bool| {
        let mut text = format!("{}{}\n", lines[0], if repeat { "" } else { ",n" });
        for (i, line) in lines[1..].iter().enumerate() {
            match repeat {
                true => text.push_str(&format!("{line}\n").repeat(number(i))),
                false => text.push_str(&format!("{line},{}\n", number(i))),
            }
        }
        text
    };
    let income = ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { top = 0.9 }");
    let made = |repeat: bool| {
        let counted = if repeat { "" } else { "\ncounted = \"n\"" };
        let data = format!("path = \"people.csv\"\nunreadable = \"missing\"{counted}");
        let folder = folder(&[("path = \"people.csv\"", &data), OTHER, income]);
        folder.write("people.csv", rows(repeat));
        let counts = run(&folder, "count --json").ends(0);
        let notes: Vec<String> = counts.stderr.lines().map(str::to_string).collect();
        run(&folder, "publish -o release.csv").ends(0);
        run(&folder, "verify release.csv --project .").ends(0);
        (counts.json(), notes, folder.read("release.csv"))
    };
    let (records, combinations) = (made(true), made(false));
    assert_eq!(records.1, combinations.1);
    assert!(!records.1.is_empty(), "notes say what was replaced");
    assert_eq!(records.0, combinations.0);
    assert_eq!(records.2, combinations.2);
}

/// A release is compared with its project as the certificate says that cells were replaced, whatever the project says by now.
#[test]
fn verify_replaces_cells_as_the_certificate_says() {
    let before = [MISSING, OTHER, ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { round = 100 }")];
    let folder = folder(&before);
    run(&folder, "publish --k 2 --t 0.9 -o release.csv").ends(0);
    let judged = |folder: &Folder| {
        let verdict = run(folder, "verify release.csv --project . --json").ends(0).json();
        (verdict["answer"].clone(), verdict["criteria"].clone())
    };
    let same = judged(&folder);
    assert_eq!(same.0, "kept");
    let (certificate, release) = (folder.read("release.csv.certificate.json"), folder.read("release.csv"));
    for after in [
        vec![],
        vec![MISSING, ("hierarchy = \"city.csv\"", "hierarchy = \"city.csv\"\nunknown = \"missing\"")],
        vec![MISSING, OTHER, ("role = \"sensitive\"", "role = \"sensitive\"\npublish_as = { top = 0.5 }")],
    ] {
        let later = self::folder(&after);
        later.write("release.csv", &release);
        later.write("release.csv.certificate.json", &certificate);
        assert_eq!(judged(&later), same, "{after:?}");
    }
}
