//! k-map hides people among people: where the population says whose records it has, nobody counts twice there.

use crate::support;

use support::{Folder, Random};

const PROJECT: &str = r#"
[data]
path = "table.csv"
population = "population.csv"
[attributes.who]
role = "person"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10, 40] }
"#;

#[test]
fn many_records_of_one_person_are_no_population() {
    let table = "who,age\na,21\nb,22\nc,31\nd,32\n";
    // In their twenties five records of one person, in their thirties five people.
    let twenties = "x,24\n".repeat(5);
    let thirties: String = (0..5).map(|i| format!("y{i},3{i}\n")).collect();
    let folder = Folder::with(&[("table.csv", table), ("incrowd.toml", PROJECT)]);
    folder.write("population.csv", format!("who,age\n{twenties}{thirties}"));
    // At decades, those in their twenties hide among one person.
    folder
        .run(&["publish", "--k-map", "5", "--k", "2", "--levels", "age=1", "--max-suppressed", "50%", "-o", "r.csv"])
        .ends(0);
    assert_eq!(folder.read("r.csv").lines().count(), 3, "{}", folder.read("r.csv"));
    folder.run(&["verify", "r.csv", "--project", "."]).ends(0);
    // Without the column, records are taken for people.
    let ages = format!("{twenties}{thirties}");
    let ages: String = ages.lines().map(|line| format!("{}\n", line.split_once(',').expect("two cells").1)).collect();
    folder.write("population.csv", format!("age\n{ages}"));
    folder.run(&["publish", "--k-map", "5", "--k", "2", "--levels", "age=1", "-o", "r2.csv"]).ends(0);
    assert_eq!(folder.read("r2.csv").lines().count(), 5);
}

/// A population with one record per person gives what one without the column gives, to the byte; and splitting a
/// person's record into two changes nothing.
#[test]
fn one_record_each_changes_nothing_and_neither_does_splitting_one() {
    let mut random = Random(3);
    let mut draw = |n: usize, first: &str| -> Vec<(String, usize)> {
        (0..n).map(|i| (format!("{first}{i}"), 20 + random.below(40))).collect()
    };
    let (table, population) = (draw(60, "t"), draw(300, "p"));
    let text = |records: &[(String, usize)]| -> String {
        let lines: String = records.iter().map(|(who, age)| format!("{who},{age}\n")).collect();
        format!("who,age\n{lines}")
    };
    let release = |population: String| {
        let folder =
            Folder::with(&[("table.csv", &text(&table)), ("incrowd.toml", PROJECT), ("population.csv", &population)]);
        folder.run(&["publish", "--k-map", "7", "--k", "2", "--max-suppressed", "50%", "-o", "r.csv"]).ends(0);
        folder.bytes("r.csv")
    };
    let whole = release(text(&population));
    let ages: String = population.iter().map(|(_, age)| format!("{age}\n")).collect();
    assert_eq!(release(format!("age\n{ages}")), whole);
    let split: Vec<(String, usize)> = population.iter().flat_map(|one| vec![one.clone(); 1 + one.1 % 3]).collect();
    assert_eq!(release(text(&split)), whole);
}
