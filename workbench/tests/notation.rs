//! Numbers of a CSV table have no end zeros in Parquet: whatever compares a release with the table says the same of both.

use crate::support;

use serde_json::Value;
use support::{Folder, Ran, Random};

const QUASI_IDENTIFIERS: &str = r#"
[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [5, 10] }
[attributes.sex]
role = "quasi-identifier"
hierarchy = { flat = true }
"#;

/// What is sensitive, what is promised, and who is counted.
const PROJECTS: [&str; 7] = [
    "[attributes.dose]\nrole = \"sensitive\"\n[request]\nk = 5\nt = 0.4\n",
    "[attributes.dose]\nrole = \"sensitive\"\ndistance = \"equal\"\n[request]\nk = 5\nt = 0.4\n",
    "[attributes.dose]\nrole = \"sensitive\"\nhierarchy = \"doses.csv\"\ndistance = \"hierarchical\"\n[request]\nk = 5\nt = 0.4\n",
    "[attributes.dose]\nrole = \"sensitive\"\nhierarchy = \"doses.csv\"\ncount_at = 1\n[request]\nk = 5\nl = 2\n",
    "[attributes.dose]\nrole = \"sensitive\"\n[request]\nk_map = 6\n",
    "[attributes.who]\nrole = \"person\"\n[attributes.dose]\nrole = \"sensitive\"\n[request]\nk = 5\nt = 0.4\nalpha = 0.9\n",
    "[attributes.who]\nrole = \"person\"\n[attributes.dose]\nrole = \"sensitive\"\nhierarchy = \"doses.csv\"\ncount_at = 1\n[request]\nk = 5\nalpha = 0.9\n",
];

const METHODS: [&str; 5] = ["global", "bottom-up", "mondrian", "top-down", "deal"];

const AGES: &str = "18.0;young;*\n19.0;young;*\n20.0;old;*\n";

const DOSES: &str = "1.50;low;*\n2.0;low;*\n2.25;high;*\n3.10;high;*\n";

/// Ages such as `18.0` and doses such as `1.50`, none of them written in two ways.
fn folder(quasi_identifiers: &str, project: &str) -> Folder {
    let mut random = Random(11);
    let (mut table, mut population) = (String::from("who,age,sex,dose\n"), String::from("who,age,sex\n"));
    for n in 0..240 {
        let age = format!("{}.0", 18 + random.below(3));
        let sex = *random.pick(&["f", "m"]);
        let dose = *random.pick(&["1.50", "2.0", "2.25", "3.10"]);
        table.push_str(&format!("p{},{age},{sex},{dose}\n", n % 90));
        population.push_str(&format!("p{n},{age},{sex}\nq{n},{age},{sex}\n"));
    }
    let data = "[data]\npath = \"table.csv\"\npopulation = \"population.csv\"\n";
    let data = if project.contains("who") { "[data]\npath = \"table.csv\"\n" } else { data };
    Folder::with(&[
        ("table.csv", &table),
        ("population.csv", &population),
        ("doses.csv", DOSES),
        ("ages.csv", AGES),
        ("incrowd.toml", &format!("{data}{quasi_identifiers}{project}")),
    ])
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(&line.split_whitespace().collect::<Vec<_>>())
}

fn is_the_same(project: &str, method: &str, more: &str) {
    is_the_same_with(QUASI_IDENTIFIERS, project, method, more);
}

fn is_the_same_with(quasi_identifiers: &str, project: &str, method: &str, more: &str) {
    let folder = folder(quasi_identifiers, project);
    let all = ["csv", "parquet", "sav", "dta"].map(|ending| {
        let name = format!("release.{ending}");
        let published = run(&folder, &format!("publish -o {name} --method {method} {more} --json")).ends(0).json();
        let verified = run(&folder, &format!("verify {name} --project . --json")).ends(0).json();
        let attacked = run(&folder, &format!("attack {name} --project . --json")).ends(0).json();
        assert!(attacked["linkage"].is_array(), "{attacked}");
        let of_publish = ["criteria", "n_groups", "smallest_group"].map(|key| published[key].clone());
        (
            of_publish,
            verified["criteria"].clone(),
            attacked["linkage"].clone(),
            attacked["releases"][0]["sensitive"].clone(),
        )
    });
    for other in &all[1..] {
        assert_eq!(*other, all[0], "{project} {method} {more}");
    }
    // Whoever is looked for by all of their records is counted as one, of whatever method.
    let is_of_people = project.contains("person");
    assert_eq!(all[0].2[0]["n_one_person"] != Value::Null, is_of_people, "{project} {method}");
}

#[test]
fn every_format_is_judged_alike_with_one_level_per_attribute() {
    for project in PROJECTS {
        is_the_same(project, "global", "");
        is_the_same(project, "global", "--two-columns");
    }
    let by_file = QUASI_IDENTIFIERS.replace("{ intervals = [5, 10] }", "\"ages.csv\"");
    is_the_same_with(&by_file, PROJECTS[3], "global", "");
    is_the_same_with(&by_file, PROJECTS[4], "global", "");
}

#[test]
fn every_format_is_judged_alike_by_every_local_method() {
    for project in PROJECTS.into_iter().filter(|project| !project.contains("k_map")) {
        for method in METHODS {
            is_the_same(project, method, "");
        }
    }
}

/// The population's ages are 18 in a column of numbers, and those of the table 18.0; and the other way round.
#[test]
fn a_population_of_another_format_is_the_same_people() {
    let flat = QUASI_IDENTIFIERS.replace("{ intervals = [5, 10] }", "{ flat = true }");
    let folder = folder(&flat, PROJECTS[4]);
    // Every combination of the population is there at least twice, so that it can be published as it is.
    folder.write("parquet/incrowd.toml", format!("[data]\npath = \"../population.csv\"\n{flat}[request]\nk = 2\n"));
    folder.write(
        "both/incrowd.toml",
        format!("[data]\npath = \"../table.csv\"\n{flat}[attributes.dose]\nrole = \"other\"\n[request]\nk = 2\n"),
    );
    run(&folder, "publish parquet --levels age=0,sex=0 -o population.parquet").ends(0);
    run(&folder, "publish both --levels age=0,sex=0 -o table.parquet").ends(0);
    let schemes = |table: &str, population: &str| {
        let data = format!("[data]\npath = \"{table}\"\npopulation = \"{population}\"\n");
        folder.write("incrowd.toml", format!("{data}{flat}{}", "[request]\nk_map = 40\n"));
        run(&folder, "annotate --per-scheme --k-map 40 --json").ends(0).json()["schemes"].clone()
    };
    let texts = schemes("table.csv", "population.csv");
    let n_suppressed = texts[0]["n_suppressed"].as_u64().expect("a number");
    assert!(n_suppressed < 240, "somebody is hidden as they are: {texts}");
    assert_eq!(schemes("table.csv", "population.parquet"), texts);
    assert_eq!(schemes("table.parquet", "population.csv"), texts);
    assert_eq!(schemes("table.parquet", "population.parquet"), texts);
}
