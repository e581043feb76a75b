//! Risk of samples, households and special uniques, as a user asks for it.

use crate::support;

use std::os::unix::fs::PermissionsExt;

use support::{Folder, Ran};

const PROJECT: &str = r#"
[data]
path = "people.csv"
weight_of = "weight"
household = "home"
[attributes.age]
role = "quasi-identifier"
[attributes.city]
role = "quasi-identifier"
[attributes.ill]
role = "sensitive"
"#;

/// Four groups: 1 record for 215 people, 2 for 360, 2 for 152 and 1 for 186.
const PEOPLE: &str = "age,city,ill,weight,home\n\
    31,Oslo,flu,215,a\n\
    42,Oslo,flu,100.5,a\n\
    42,Oslo,gout,259.5,b\n\
    53,Rome,flu,76,b\n\
    53,Rome,cold,76,c\n\
    64,Pisa,cold,186,c\n";

fn people() -> Folder {
    Folder::with(&[("people.csv", PEOPLE), ("incrowd.toml", PROJECT)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

/// The risks of single records that sdcMicro and μ-Argus have for these sizes.
const RISKS: [f64; 6] = [0.02509644, 0.00542452, 0.00542452, 0.01256342, 0.01256342, 0.02824728];

/// That any member of the household is found.
fn household_risks() -> [f64; 6] {
    let pair = |a: usize, b: usize| 1.0 - (1.0 - RISKS[a]) * (1.0 - RISKS[b]);
    [pair(0, 1), pair(0, 1), pair(2, 3), pair(2, 3), pair(4, 5), pair(4, 5)]
}

#[track_caller]
fn near(found: &serde_json::Value, wanted: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found - wanted).abs() < 1e-6, "{found} instead of {wanted}");
}

#[test]
fn weights_and_households_by_the_literature() {
    let folder = people();
    let told = run(&folder, "risk --json --threshold 0.026 --per-record -o risk.csv").ends(0).json();
    let rows = folder.read("risk.csv");
    let mut lines = rows.lines();
    assert_eq!(lines.next(), Some("record,group_size,population,individual_risk,household_risk"));
    let mut n_lines = 0;
    for (i, line) in lines.enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let (size, people) = [(1, 215), (2, 360), (2, 360), (2, 152), (2, 152), (1, 186)][i];
        assert_eq!(cells[..3], [(i + 1) as f64, size as f64, people as f64]);
        assert!((cells[3] - RISKS[i]).abs() < 1e-8 && (cells[4] - household_risks()[i]).abs() < 2e-8, "{line}");
        n_lines += 1;
    }
    assert_eq!(n_lines, 6);
    near(&told["individual"]["expected_reidentifications"], RISKS.iter().sum());
    near(&told["individual"]["average"], RISKS.iter().sum::<f64>() / 6.0);
    near(&told["household"]["expected_reidentifications"], household_risks().iter().sum());
    assert_eq!((&told["individual"]["n_at_risk"], &told["household"]["n_at_risk"]), (&1.into(), &4.into()));
    assert_eq!(told["household"]["n_households"], 3);
    // A journalist has one over the people who look the same.
    near(&told["journalist"]["highest"], 1.0 / 152.0);
    near(&told["prosecutor"]["highest"], 1.0);
    assert_eq!(told["population"], "estimated from sampling weights");
    near(&told["n_people_estimated"], 215.0 + 360.0 + 152.0 + 186.0);
    let words = run(&folder, "risk .").ends(0).stdout;
    for said in ["0.09 records expected to be found (1.49 %)", "their 3 households", "about 913 people", "estimates"] {
        assert!(words.contains(said), "{said}: {words}");
    }
    // Flags say the same of a file, and the order of records says nothing.
    let mut turned: Vec<&str> = PEOPLE.lines().skip(1).collect();
    turned.reverse();
    folder.write("turned.csv", format!("age,city,ill,weight,home\n{}\n", turned.join("\n")));
    let line =
        "risk turned.csv --quasi-identifiers age,city --weight-of weight --household home --threshold 0.026 --json";
    let same = run(&folder, line).ends(0).json();
    for part in ["individual", "household", "journalist", "prosecutor", "n_people_estimated"] {
        assert_eq!(same[part], told[part], "{part}");
    }
}

#[test]
fn households_without_weights_and_of_several_columns() {
    let folder = people();
    let line = "risk people.csv --quasi-identifiers age,city --household home --json";
    let told = run(&folder, line).ends(0).json();
    // 1, ½ | ½, ½ | ½, 1: who stands alone takes the household along.
    near(&told["household"]["expected_reidentifications"], 2.0 + 2.0 * 0.75 + 2.0);
    near(&told["individual"]["expected_reidentifications"], 4.0);
    assert_eq!((&told["population"], &told["n_people_estimated"]), (&"the table itself".into(), &().into()));
    let told = run(&folder, &line.replace("home", "home,ill")).ends(0).json();
    // Of b's two, one has gout and one the flu.
    assert_eq!(told["household"]["n_households"], 4);
    // Who has no household is one alone, and is in none with the others who have none.
    folder.write("few.csv", "age,home\n1,\n1,\n2,x\n2,x\n");
    let kept = "[data]\npath = \"few.csv\"\nmissing_records = \"keep\"\nhousehold = [\"home\"]\n\
        [attributes.age]\nrole = \"quasi-identifier\"\n";
    folder.write("few.toml", kept);
    let told = run(&folder, "risk few.toml --json").ends(0).json();
    assert_eq!(told["household"]["n_households"], 3);
    near(&told["household"]["expected_reidentifications"], 0.5 + 0.5 + 2.0 * 0.75);
}

#[test]
fn a_share_sampled_changes_what_a_journalist_finds() {
    let folder = people();
    let alone = run(&folder, "risk people.csv --quasi-identifiers age,city --json").ends(0).json();
    let sampled = run(&folder, "risk people.csv --quasi-identifiers age,city --sampled 1% --json").ends(0).json();
    assert_eq!(alone["prosecutor"], sampled["prosecutor"]);
    near(&alone["journalist"]["highest"], 1.0);
    near(&sampled["journalist"]["highest"], 0.01);
    near(&sampled["journalist"]["average"], 0.01 * alone["journalist"]["average"].as_f64().expect("a number"));
    near(&sampled["individual"]["highest"], 0.01 / 0.99 * 100_f64.ln());
    assert_eq!(
        (&sampled["population"], &sampled["n_people_estimated"]),
        (&"estimated from the share sampled".into(), &600.0.into())
    );
    // A population that is counted is not estimated.
    folder.write("all.csv", "age,city\n31,Oslo\n31,Oslo\n42,Oslo\n42,Oslo\n53,Rome\n53,Rome\n64,Pisa\n64,Pisa\n");
    let counted = PROJECT.replace("weight_of = \"weight\"", "population = \"all.csv\"");
    folder.write("incrowd.toml", counted);
    let counted = run(&folder, "risk --sampled 1% --json").ends(0).json();
    near(&counted["journalist"]["highest"], 0.5);
    near(&counted["individual"]["highest"], 0.5);
    assert_eq!(counted["population"], "counted");
}

#[test]
fn a_weight_that_is_none_is_refused_where_it_stands() {
    for (weight, what) in [
        ("", "has no weight"),
        ("?", "has no weight"),
        ("secret", "is no number above 0"),
        ("0", "is no number above 0"),
        ("-3.5", "is no number above 0"),
        ("NaN", "is no number above 0"),
        ("inf", "is no number above 0"),
    ] {
        let folder = people();
        folder.write("people.csv", PEOPLE.replace("259.5", weight));
        folder.write("incrowd.toml", PROJECT.replace("[data]", "[data]\nmissing = [\"\", \"?\"]"));
        let told = run(&folder, "risk --per-record -o risk.csv").ends(2);
        assert!(told.stderr.contains(&format!("people.csv: record 3, column 'weight': {what}")), "{told}");
        assert!(!told.stderr.contains("secret") && !told.stderr.contains("3.5"), "{told}");
        assert!(!folder.has("risk.csv") && folder.names().len() == 2);
    }
}

#[test]
fn columns_that_cannot_be_meant_are_refused() {
    let folder = people();
    for (from, to, what) in [
        ("\"weight\"", "\"weigth\"", "weight"),
        ("\"weight\"", "\"age\"", "quasi-identifier"),
        ("\"weight\"", "\"ill\"", "sensitive"),
        ("\"weight\"", "7", "data.weight_of must be a text"),
        ("\"home\"", "\"hame\"", "home"),
        ("\"home\"", "7", "data.household"),
        ("weight_of", "weights_of", "data.weight_of"),
    ] {
        folder.write("incrowd.toml", PROJECT.replace(from, to));
        let told = run(&folder, "risk .").ends(2);
        assert!(told.stderr.contains(what), "{told}");
    }
    folder.write("incrowd.toml", format!("{PROJECT}[attributes.weight]\nrole = \"identifier\"\n"));
    run(&folder, "risk .").ends(0);
    let told = run(&folder, "risk --sampled 0.1").ends(2);
    assert!(told.stderr.contains("sampling weights say already"), "{told}");
    for line in ["risk --per-record", "risk -o risk.csv", "risk --special-uniques=0", "risk --special-uniques=x"] {
        run(&folder, line).ends(2);
    }
}

#[test]
fn the_risk_of_records_is_written_whole_for_its_owner_alone() {
    let folder = people();
    folder.write("risk.csv", "mine");
    let told = run(&folder, "risk --per-record -o risk.csv").ends(2);
    assert!(told.stderr.contains("is there already") && folder.read("risk.csv") == "mine", "{told}");
    for made_of in ["people.csv", "incrowd.toml"] {
        let told = run(&folder, &format!("risk --per-record --force -o {made_of}")).ends(2);
        assert!(told.stderr.contains("made of"), "{told}");
    }
    let line = "risk people.csv --quasi-identifiers age --per-record --force -o people.csv";
    assert!(run(&folder, line).ends(2).stderr.contains("made of"));
    assert_eq!(folder.read("people.csv"), PEOPLE);
    let told = run(&folder, "risk --per-record --force -o risk.csv").ends(0);
    assert!(told.stderr.contains("wrote the risk of every record to risk.csv"), "{told}");
    let mode = std::fs::metadata(folder.join("risk.csv")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(folder.read("risk.csv").lines().count(), 7);
    assert!(run(&folder, "risk --per-record --force -o nowhere/risk.csv").ends(2).stderr.contains("no such folder"));
}

#[test]
fn records_that_are_left_out_keep_their_line() {
    let folder = people();
    folder.write("people.csv", PEOPLE.replace("42,Oslo,gout", "42,,gout"));
    folder.write("incrowd.toml", PROJECT.replace("[data]", "[data]\nmissing_records = \"drop\""));
    run(&folder, "risk --per-record --special-uniques -o risk.csv").ends(0);
    let rows = folder.read("risk.csv");
    let lines: Vec<&str> = rows.lines().collect();
    assert_eq!(lines[3], "3,,,,,,,");
    assert!(lines[2].starts_with("2,1,100.5,"), "{rows}");
    let n_cells: Vec<usize> = lines.iter().map(|line| line.split(',').count()).collect();
    assert_eq!(n_cells, [8; 7]);
}

#[test]
fn special_uniques_by_hand() {
    let data = "a,b,c\n2,x,p\n1,y,q\n1,x,p\n";
    let folder = Folder::with(&[("few.csv", data)]);
    let line = "risk few.csv --quasi-identifiers a,b,c --special-uniques";
    let told = run(&folder, &format!("{line} --json --per-record -o risk.csv")).ends(0);
    assert!(!told.stdout.contains("\"values\"") && !told.stdout.contains("\"p\""), "{told}");
    let told = told.json();
    let found = &told["special_uniques"];
    let percents: Vec<f64> =
        found["attributes"].as_array().expect("a list").iter().filter_map(|one| one["percent"].as_f64()).collect();
    assert_eq!(percents, [50.0, 37.5, 37.5]);
    assert_eq!((found["n_special"].as_u64(), found["highest_score"].as_f64()), (Some(3), Some(4.0)));
    assert_eq!(found["n_sets_of_size"], serde_json::json!([3, 2, 0]));
    assert_eq!(found["fraction"], 0.1);
    let rows = folder.read("risk.csv");
    let scores: Vec<&str> = rows.lines().skip(1).filter_map(|line| line.split(',').nth(5)).collect();
    assert_eq!(scores, ["2", "4", "2"]);
    let sets: Vec<&str> = rows.lines().skip(1).filter_map(|line| line.split(',').nth(4)).collect();
    assert_eq!(sets, ["1", "2", "2"]);
    // Values are told where somebody asks for them, and sets of one attribute alone are the third's loss.
    let shown = run(&folder, &format!("{line}=1 --show-values --json")).ends(0).json();
    let found = &shown["special_uniques"];
    assert_eq!(found["attributes"][1]["values"], serde_json::json!([{ "value": "y", "percent": 100.0 }]));
    assert_eq!((found["size_max"].as_u64(), found["n_special"].as_u64()), (Some(1), Some(2)));
    let words = run(&folder, line).ends(0).stdout;
    assert!(words.contains("3 of the records that stand alone") && words.contains("37.5 %"), "{words}");
    assert!(!words.contains("most by values"));
    assert!(run(&folder, &format!("{line} --show-values")).ends(0).stdout.contains("y 66.7 %"));
}

const VISITS: &str = "who,age,city,ill,weight,home\n\
    ann,31,Oslo,flu,10,a\n\
    ann,31,Oslo,flu,8,a\n\
    ben,31,Oslo,gout,20,a\n\
    ben,42,Rome,flu,20,a\n\
    cid,42,Rome,cold,30,b\n\
    cid,53,Rome,cold,30,b\n\
    cid,53,Rome,gout,30,b\n\
    dot,53,Rome,cold,40,b\n\
    eve,42,Rome,cold,50,b\n\
    fay,42,Rome,flu,60,b\n";

/// The project of visits, of which `who` says whose they are.
fn visits() -> Folder {
    let data = "[data]\npath = \"visits.csv\"\n";
    let attributes = PROJECT.split_once("[attributes.age]").expect("attributes").1;
    let project = format!("{data}[attributes.who]\nrole = \"person\"\n[attributes.age]{attributes}");
    Folder::with(&[("visits.csv", VISITS), ("incrowd.toml", &project)])
}

/// Of the groups, 31 Oslo has ann and ben; 42 Rome ben, cid, eve and fay; 53 Rome cid and dot.
#[test]
fn people_are_counted_where_somebody_has_several_records() {
    let folder = visits();
    let told = run(&folder, "risk --json --threshold 0.3 --per-record -o risk.csv").ends(0).json();
    assert_eq!((&told["n_records"], &told["n_people"], &told["n_groups"]), (&10.into(), &6.into(), &3.into()));
    // ½ for ann, ben, cid and dot, ¼ for eve and fay.
    near(&told["prosecutor"]["highest"], 0.5);
    near(&told["prosecutor"]["average"], 2.5 / 6.0);
    assert_eq!((&told["prosecutor"]["n_at_risk"], &told["n_unique"]), (&4.into(), &0.into()));
    near(&told["individual"]["expected_reidentifications"], 2.5);
    // Nobody has the records of ann, ben, cid or dot; eve and fay look the same.
    assert_eq!(told["n_alone_by_all_records"], 4);
    let city = &told["attributes"][1];
    assert_eq!((&city["attribute"], &city["n_unique_alone"]), (&"city".into(), &0.into()));
    // Oslo has ann and ben, Rome all but ann.
    near(&city["average_alone"], (0.5 + 0.5 + 4.0 * 0.2) / 6.0);
    let rows = folder.read("risk.csv");
    let rows: Vec<&str> = rows.lines().collect();
    assert_eq!(rows[0], "record,group_size,population,individual_risk,group_records,person_risk");
    assert_eq!(rows[1], "1,2,2,0.5,3,0.5");
    assert_eq!((rows[4], rows[9]), ("4,4,4,0.25,4,0.5", "9,4,4,0.25,4,0.25"));
    let words = run(&folder, "risk --threshold 0.3").ends(0).stdout;
    for said in
        ["10 records of 6 people in 3 groups", "people above 0.3", "0 people alone in the table (0.0 %)", "4 (66.7 %)"]
    {
        assert!(words.contains(said), "{said}: {words}");
    }
    assert!(words.contains("4 people alone by all their records together (66.7 %)"), "{words}");
    let sampled = run(&folder, "risk --sampled 10% --json").ends(0).json();
    near(&sampled["n_people_estimated"], 60.0);
    near(&sampled["journalist"]["highest"], 0.05);
}

/// Everybody's weight once, the least of their records in a group; a household has people, not records.
#[test]
fn weights_and_households_of_people() {
    let folder = visits();
    let told = run(&folder, "risk --weight-of weight --per-record -o risk.csv --json").ends(0).json();
    // 8 + 20, 20 + 30 + 50 + 60, 30 + 40; the least of the crowds that each is in.
    near(&told["journalist"]["highest"], 1.0 / 28.0);
    near(&told["journalist"]["average"], (2.0 / 28.0 + 2.0 / 70.0 + 2.0 / 160.0) / 6.0);
    near(&told["n_people_estimated"], 8.0 + 20.0 + 30.0 + 40.0 + 50.0 + 60.0);
    assert!(folder.read("risk.csv").lines().nth(1).is_some_and(|line| line.starts_with("1,2,28,")));
    let told = run(&folder, "risk --household home --json").ends(0).json();
    // a: ann and ben, ½ each; b: cid ½, dot ½, eve ¼, fay ¼.
    let b = 1.0 - 0.5 * 0.5 * 0.75 * 0.75;
    near(&told["household"]["expected_reidentifications"], 2.0 * 0.75 + 4.0 * b);
}

/// People with one record each are records: nothing says otherwise.
#[test]
fn a_person_for_every_record_changes_nothing() {
    let folder = visits();
    let mut lines: Vec<String> = VISITS.lines().map(str::to_string).collect();
    lines.iter_mut().enumerate().skip(1).for_each(|(i, line)| line.replace_range(..3, &format!("p{i:02}")));
    folder.write("visits.csv", format!("{}\n", lines.join("\n")));
    for flags in ["risk --sampled 10% --special-uniques", "risk --weight-of weight --household home"] {
        let files = ["people.csv", "records.csv"];
        let [people, records] = ["person", "identifier"].map(|role| {
            let project = folder.read("incrowd.toml");
            let known = ["\"person\"", "\"identifier\""].into_iter().find(|role| project.contains(role));
            folder.write("incrowd.toml", project.replace(known.expect("a role"), &format!("\"{role}\"")));
            let file = files[usize::from(role == "identifier")];
            let words = run(&folder, flags).ends(0).stdout;
            let json = run(&folder, &format!("{flags} --json --per-record --force -o {file}")).ends(0).stdout;
            (words, json.replace(file, ""), folder.read(file))
        });
        assert_eq!(people, records);
    }
}

/// What becomes of people stands in the answer and the report, and the certificate has none of it.
#[test]
fn a_release_tells_its_signer_of_people() {
    let folder = visits();
    let people = |k: &str| {
        let line = format!("publish --k {k} --levels age=0 --max-suppressed 100% --force --json -o release.csv");
        run(&folder, &line).ends(0).json()["people"].clone()
    };
    let of = |n_lost: u64, smallest: u64, n_alone: u64| serde_json::json!({"n": 6, "n_lost": n_lost, "smallest_group": smallest, "n_alone_by_all_records": n_alone});
    // Nobody has the records of ann, ben, cid or dot.
    assert_eq!(people("2"), of(0, 2, 4));
    let report = folder.read("release.csv.report.html");
    for words in [
        "finds at least 2 people whose records could be theirs",
        "4 people are alone by all their published records",
        "people above 0.2",
        "Nobody stands alone in the file",
        "finds the right record with a probability of at most 0.5000, and of 0.4167 on average",
    ] {
        assert!(report.contains(words), "{words}");
    }
    // Only 42 Rome is left, with a record of four people each; ann and dot are lost.
    assert_eq!(people("3"), of(2, 4, 0));
    let report = folder.read("release.csv.report.html");
    assert!(report.contains("<dt>People lost</dt><dd>2<small>33.3 %"), "{report}");
    assert!(report.contains("0 people are alone by all their published records"));
    let certificate = folder.read("release.csv.certificate.json");
    for name in ["n_lost", "n_alone", "people\"", "n_people"] {
        assert!(!certificate.contains(name), "{name}");
    }
    let words = run(&folder, "publish --k 2 --levels age=0 --force -o release.csv").ends(0).stdout;
    let said = "0 lost of 6; 2 people in the smallest group; 4 alone by all their records together";
    assert!(words.contains(said), "{words}");
}

/// A population that the project names counts for the people of the report too, and in two columns.
#[test]
fn the_report_counts_the_population_of_people() {
    let folder = visits();
    let all: String = [("31,Oslo\n", 4), ("42,Rome\n", 8), ("53,Rome\n", 5)].map(|(line, n)| line.repeat(n)).concat();
    folder.write("all.csv", format!("age,city\n{all}"));
    let project = folder.read("incrowd.toml");
    folder.write("incrowd.toml", project.replace("\"visits.csv\"", "\"visits.csv\"\npopulation = \"all.csv\""));
    for flags in ["--k 2 --k-map 3 --levels age=0", "--method mondrian --k 2"] {
        let line = format!("publish {flags} --force -o release.csv");
        run(&folder, &line).ends(0);
        let report = folder.read("release.csv.report.html");
        if flags.contains("k-map") {
            let journalist = report.split("journalist").nth(1).expect("a row");
            // ¼ for ann and ben, ⅕ for cid and dot, ⅛ for eve and fay.
            assert!(journalist.contains("0.2500") && journalist.contains("0.1917"), "{journalist}");
        }
        assert!(report.contains("people above 0.2"));
    }
}
