//! Missing values: kept as values of their own unless the project says otherwise, and dropped only for columns that matter.

use crate::support;
use support::{Folder, Ran};

/// Twelve people: one lacks a city, three an income that nobody publishes, one a name.
const PEOPLE: &str = "name,age,city,income,illness,region\n\
    a,31,Oslo,,flu,N\nb,32,Oslo,,flu,N\nc,33,Oslo,,asthma,N\nd,34,Oslo,5,flu,N\n\
    ,31,Bergen,5,flu,N\nf,32,Bergen,5,asthma,N\ng,33,Bergen,5,flu,N\nh,34,Bergen,5,flu,\n\
    i,31,,5,flu,N\nj,32,Bergen,5,asthma,N\nk,33,Oslo,5,flu,N\nl,34,Oslo,5,asthma,N\n";

const ATTRIBUTES: &str = "[attributes.name]\nrole = \"identifier\"\n\
    [attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [5, 10] }\n\
    [attributes.city]\nrole = \"quasi-identifier\"\n[attributes.illness]\nrole = \"sensitive\"\n";

fn folder(data: &str) -> Folder {
    let project = format!("[data]\npath = \"people.csv\"\n{data}{ATTRIBUTES}");
    Folder::with(&[("people.csv", PEOPLE), ("incrowd.toml", &project)])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split(' ').collect::<Vec<_>>())
}

#[test]
fn a_missing_value_is_a_value_of_its_own_where_nobody_says_otherwise() {
    let folder = folder("");
    let answer = run(&folder, "negotiate --k 2 --max-suppressed 1 --max-level city=0 --json").ends(0).json();
    assert_eq!((&answer["n_records"], &answer["n_dropped"]), (&12.into(), &0.into()));
    assert_eq!(answer["exact"]["n_suppressed"], 1, "nobody else is without a city: {answer:#}");
    let said = run(&folder, "negotiate --k 2 --max-suppressed 1").ends(0);
    assert!(!said.to_string().contains("dropped"), "{said}");
    run(&folder, "publish --k 2 --max-suppressed 0 -o out.csv").ends(0);
    assert_eq!(folder.read("out.csv").lines().count(), 13);
}

#[test]
fn only_columns_that_are_counted_or_published_drop_a_record() {
    for (data, n_dropped) in [
        ("missing_records = \"drop\"\n", 1),
        ("missing_records = \"drop\"\ncomplete = [\"region\"]\n", 2),
        ("missing_records = \"drop\"\ncomplete = [\"income\", \"name\"]\n", 5),
        // All but the identifier are published then.
        ("missing_records = \"drop\"\nother = \"keep\"\n", 5),
        ("missing_records = \"drop\"\nother = \"keep\"\ncomplete = [\"name\"]\n", 6),
    ] {
        let folder = folder(data);
        let answer = run(&folder, "negotiate --k 2 --json").ends(0).json();
        assert_eq!(
            (&answer["n_records"], &answer["n_dropped"]),
            (&(12 - n_dropped).into(), &n_dropped.into()),
            "{data}"
        );
        assert_eq!(answer["exact"]["n_dropped"], n_dropped, "{data}");
        let words = answer["exact"]["in_words"].as_str().expect("a sentence");
        assert!(words.contains(&format!("besides {n_dropped} dropped for missing values")), "{words}");
        let said = run(&folder, "negotiate --k 2").ends(0);
        assert!(said.stdout.contains(&format!("{n_dropped} for missing values")), "{said}");
        // Whichever attributes a run is about, the records are the same.
        let of_age = run(&folder, "negotiate --k 2 --quasi-identifiers age --json").ends(0).json();
        assert_eq!(of_age["n_dropped"], n_dropped, "{data}");
        let published = run(&folder, "publish --k 2 -o out.csv").ends(0);
        assert!(
            published.stdout.contains(&format!("0 suppressed, {n_dropped} dropped for missing values")),
            "{published}"
        );
        assert_eq!(folder.read("out.csv").lines().count() as u64, 13 - n_dropped, "{data}");
        assert_eq!(run(&folder, "verify out.csv --project . --json").ends(0).json()["answer"], "kept");
        let risk = run(&folder, "risk . --json").ends(0).json();
        assert_eq!((&risk["n_records"], &risk["n_dropped"]), (&(12 - n_dropped).into(), &n_dropped.into()), "{data}");
        assert_eq!(run(&folder, "profile . --json").ends(0).json()["n_incomplete"], n_dropped, "{data}");
    }
}

#[test]
fn every_offer_says_what_was_dropped() {
    let folder = folder("missing_records = \"drop\"\n");
    let answer = run(&folder, "negotiate --k 7 --max-level age=0,city=0 --json").ends(1).json();
    for offer in ["suppression", "height"] {
        assert_eq!(answer["offers"][offer]["n_dropped"], 1, "{answer:#}");
    }
    let said = run(&folder, "negotiate --k 7 --max-level age=0,city=0").ends(1);
    assert!(said.stdout.contains("dropped") && said.stdout.contains("1 for missing values"), "{said}");
}

#[test]
fn columns_to_be_complete_must_be_there_and_matter() {
    let said = run(&folder("complete = [\"region\"]\n"), "count").ends(2);
    assert!(said.stderr.contains("data.complete") && said.stderr.contains("missing_records"), "{said}");
    let said = run(&folder("missing_records = \"drop\"\ncomplete = [\"regoin\"]\n"), "count").ends(2);
    assert!(said.stderr.contains("'region'"), "{said}");
}
