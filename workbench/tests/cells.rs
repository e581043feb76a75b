//! What cells say: kept characters, coded ends, ranges with signs, levels by name and lists of parents, from the project file
//! to the verified release and back.

use crate::support;
use support::{Folder, Ran};

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

const PROJECT: &str = r#"
[data]
path = "visits.csv"
records = "independent"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [1, 5, 10], below = 18, above = 80, names = ["coded", "fives", "decade"] }

[attributes.code]
role = "quasi-identifier"
hierarchy = { mask = { keep = 3 } }

[attributes.place]
role = "quasi-identifier"
hierarchy = "places.csv"

[attributes.change]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10] }

[attributes.ill]
role = "sensitive"
tells = "accepted"

[request]
k = 2
max_level = { place = "region" }
"#;

const PLACES: &str = "place;region\nOslo;North\nUmea;North\nRome;South\n";

fn visits() -> Folder {
    let line = |i: usize| {
        let age = 5 + (i * 17) % 90;
        let code = ["250.83", "250.1", "428", "V45.2"][i % 4];
        let place = ["Oslo", "Umea", "Rome"][i % 3];
        format!("{age},{code},{place},{},{}\n", (i % 21) as i64 - 12, ["flu", "cold", "ulcer"][i / 2 % 3])
    };
    let csv: String = (0..600).map(|i| line(i / 2)).collect();
    Folder::with(&[
        ("visits.csv", &format!("age,code,place,change,ill\n{csv}")),
        ("places.csv", PLACES),
        ("incrowd.toml", PROJECT),
    ])
}

/// The different cells of a column of a CSV.
fn cells(folder: &Folder, release: &str, column: &str) -> std::collections::BTreeSet<String> {
    let text = folder.read(release);
    let mut lines = text.lines();
    let place = lines.next().expect("a header").split(',').position(|name| name == column).expect("a column");
    lines.map(|line| line.split(',').nth(place).expect("a cell").to_string()).collect()
}

#[test]
fn levels_are_asked_for_by_name_and_cells_are_as_documented() {
    let folder = visits();
    let by_name = "publish --k 2 --levels age=decade,code=1,place=region,change=width\u{a0}5 -o named.csv";
    // A name with a blank is one argument.
    let by_name: Vec<String> = by_name.split(' ').map(|word| word.replace('\u{a0}', " ")).collect();
    folder.run(&by_name.iter().map(String::as_str).collect::<Vec<_>>()).ends(0);
    run(&folder, "publish --k 2 --levels age=3,code=1,place=1,change=1 -o numbered.csv").ends(0);
    assert_eq!(folder.read("named.csv"), folder.read("numbered.csv"));
    run(&folder, "verify named.csv").ends(0);
    run(&folder, "verify named.csv --project .").ends(0);
    let ages = cells(&folder, "named.csv", "age");
    assert!(ages.contains("<18") && ages.contains(">=80") && ages.contains("20-29"), "{ages:?}");
    assert!(cells(&folder, "named.csv", "code").iter().all(|code| ["250", "428", "V45"].contains(&code.as_str())));
    let changes = cells(&folder, "named.csv", "change");
    assert!(changes.contains("-5 to -1") && changes.contains("5-9"), "{changes:?}");
    // Everybody of the table is allowed by some cell: what is written can be read back.
    // With so few records in each group, some are found out: that is what attack says.
    let found = run(&folder, "attack named.csv --project . --outside visits.csv --json").ends(1).json();
    assert_eq!((&found["linkage"][0]["n_outside"], &found["linkage"][0]["n_without"]), (&600.into(), &0.into()));
}

#[test]
fn the_standing_wish_may_name_a_level() {
    let folder = visits();
    let answer = run(&folder, "negotiate --max-suppressed 50% --json").json();
    assert_eq!(answer["request"]["max_level"]["place"], 1, "{answer}");
    folder.write("incrowd.toml", PROJECT.replace("\"region\"", "\"county\""));
    let refused = run(&folder, "negotiate --json").ends(2);
    assert!(refused.stderr.contains("its levels are: 0 exact, 1 region, 2 *"), "{}", refused.stderr);
}

#[test]
fn local_ranges_with_signs_are_read_back() {
    let folder = visits();
    run(&folder, "publish --method mondrian --k 4 -o local.csv").ends(0);
    run(&folder, "verify local.csv").ends(0);
    let changes = cells(&folder, "local.csv", "change");
    assert!(changes.iter().any(|cell| cell.starts_with("[-") && cell.contains(" to ")), "{changes:?}");
    assert!(changes.iter().all(|cell| !cell.contains("--")), "{changes:?}");
    let found = run(&folder, "attack local.csv --project . --outside visits.csv --json").ends(1).json();
    assert_eq!((&found["linkage"][0]["n_outside"], &found["linkage"][0]["n_without"]), (&600.into(), &0.into()));
}

#[test]
fn parents_make_a_hierarchy_and_wrong_ones_are_refused_with_their_line() {
    let folder = visits();
    let parents = "child,parent\nOslo,Norway\nUmea,Sweden\nNorway,North\nSweden,North\nRome,South\n";
    folder.write("places.csv", parents);
    folder.write("incrowd.toml", PROJECT.replace("max_level = { place = \"region\" }", ""));
    let shown = run(&folder, "hierarchy show place --json").ends(0).json();
    assert!(shown.to_string().contains("Norway"), "{shown}");
    run(&folder, "publish --k 2 --levels age=3,code=1,place=2,change=2 -o up.csv").ends(0);
    assert_eq!(cells(&folder, "up.csv", "place").len(), 2);
    for (text, what) in
        [("child,parent\nOslo,A\nA,Oslo\n", "above itself"), ("child,parent\nOslo,A\nOslo,B\n", "another parent")]
    {
        folder.write("places.csv", text);
        let refused = run(&folder, "publish --k 2 -o no.csv").ends(2);
        assert!(refused.stderr.contains(what) && refused.stderr.contains("places.csv:"), "{}", refused.stderr);
        assert!(!folder.has("no.csv"));
    }
}
