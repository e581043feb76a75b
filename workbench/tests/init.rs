//! What `init` suggests for small made-up tables: one for each situation that real tables have.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support;
use support::Folder;

const N: usize = 400;

/// A table of columns, each with a name and a value for every record.
fn table(columns: &[(&str, &dyn Fn(usize) -> String)]) -> String {
    let line = |cells: Vec<String>| {
        let quoted: Vec<String> = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        quoted.join(",") + "\n"
    };
    let header = line(columns.iter().map(|(name, _)| name.to_string()).collect());
    (0..N).map(|i| line(columns.iter().map(|(_, value)| value(i)).collect())).fold(header, |text, line| text + &line)
}

/// A number below `n` that looks chosen by chance, the same for the same record and column.
fn chance(i: usize, column: usize, n: usize) -> usize {
    let mut mixed =
        (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (column as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    ((mixed ^ (mixed >> 33)) % n as u64) as usize
}

fn pick(i: usize, column: usize, values: &[&str]) -> String {
    values[chance(i, column, values.len())].to_string()
}

struct Suggested {
    folder: Folder,
    columns: BTreeMap<String, Value>,
}

fn init(text: &str) -> Suggested {
    let folder = Folder::with(&[("t.csv", text)]);
    let document = folder.run(&["init", "t.csv", "--json"]).ends(0).json();
    let columns = document["columns"].as_array().expect("columns");
    let by_name = columns.iter().map(|column| (column["name"].as_str().expect("a name").to_string(), column.clone()));
    Suggested { columns: by_name.collect(), folder }
}

impl Suggested {
    fn role(&self, name: &str) -> &str {
        self.columns[name]["suggested_role"].as_str().expect("a role")
    }

    fn why(&self, name: &str) -> &str {
        self.columns[name]["why"].as_str().expect("a reason")
    }

    fn project(&self) -> String {
        self.folder.read("incrowd.toml")
    }

    /// The first answer of somebody who changes nothing.
    fn first_answer(&self) -> Value {
        self.folder.run(&["negotiate", "--json"]).ends(0).json()["exact"].clone()
    }
}

#[test]
fn the_same_table_gets_the_same_roles_in_every_language() {
    let roles = ["quasi-identifier", "quasi-identifier", "identifier", "quasi-identifier", "sensitive"];
    for names in [
        ["sex", "age", "surname", "education", "diagnosis"],
        ["Geschlecht", "Alter", "Nachname", "Schulabschluss", "Hauptdiagnose"],
        ["sexe", "âge", "Patronyme", "Diplôme", "diagnostic"],
        ["Sexo", "Edad", "Apellidos", "Escolaridad", "Diagnóstico"],
        ["sesso", "età", "Cognome", "Istruzione", "diagnosi"],
        ["CS_SEXO", "NU_IDADE_N", "sobrenome", "escolaridade", "diagnóstico"],
        ["płeć", "wiek", "nazwisko", "wykształcenie", "rozpoznanie"],
        ["geslacht", "leeftijd", "achternaam", "opleiding", "diagnose"],
        ["gen", "vârstă", "nume de familie", "studii", "diagnostic"],
        ["пол", "возраст", "фамилия", "образование", "диагноз"],
        ["стать", "вік", "прізвище", "освіта", "діагноз"],
        ["kön", "ålder", "efternamn", "utbildning", "diagnos"],
        ["cinsiyet", "yaş", "soyadı", "eğitim", "tanı"],
    ] {
        let text = table(&[
            (names[0], &|i| (1 + chance(i, 0, 2)).to_string()),
            (names[1], &|i| (18 + chance(i, 1, 60)).to_string()),
            (names[2], &|i| format!("N{}", chance(i, 2, 90))),
            (names[3], &|i| (1 + chance(i, 3, 5)).to_string()),
            (names[4], &|i| format!("d{}", chance(i, 4, 12))),
        ]);
        let suggested = init(&text);
        let found: Vec<&str> = names.iter().map(|name| suggested.role(name)).collect();
        assert_eq!(found, roles, "{names:?}: {:?}", names.map(|name| suggested.why(name).to_string()));
    }
}

#[test]
fn values_speak_where_names_say_nothing() {
    let text = table(&[
        ("v1", &|i| pick(i, 1, &["M", "F"])),
        ("v2", &|i| pick(i, 2, &["[0-20)", "[20-40)", "[40-60)", "[60-80)"])),
        ("v3", &|i| (18 + chance(i, 3, 60)).to_string()),
        ("v4", &|i| format!("{:02}.{:02}.20{:02}", 1 + chance(i, 4, 28), 1 + chance(i, 5, 12), chance(i, 6, 3))),
        ("v5", &|i| format!("{:05}", chance(i, 7, 99) * 100)),
        ("v6", &|i| pick(i, 8, &["Germany", "France", "Brazil", "Japan", "Kenya"])),
        ("v7", &|i| pick(i, 9, &["AT11", "AT12", "DE21", "FR10"])),
        ("v8", &|i| pick(i, 10, &["I10", "E11.9", "J45.0", "C50", "F32.1"])),
        ("v9", &|i| pick(i, 11, &["yes", "no"])),
        ("v10", &|i| chance(i, 12, 9).to_string()),
    ]);
    let suggested = init(&text);
    for (name, role) in [
        ("v1", "quasi-identifier"),
        ("v2", "quasi-identifier"),
        ("v3", "quasi-identifier"),
        ("v4", "quasi-identifier"),
        ("v5", "quasi-identifier"),
        ("v6", "quasi-identifier"),
        ("v7", "quasi-identifier"),
        ("v8", "sensitive"),
        ("v9", "other"),
        ("v10", "other"),
    ] {
        assert_eq!(suggested.role(name), role, "{name}: {}", suggested.why(name));
    }
}

#[test]
fn what_names_people_is_never_published_whatever_it_is_called() {
    let spanish = |number: usize| format!("{number:08}{}", b"TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] as char);
    let text = table(&[
        ("c1", &|i| format!("user{}@example.org", i / 2)),
        ("c2", &|i| format!("+49 30 {:07}", chance(i / 2, 1, 9_000_000))),
        ("c3", &|i| format!("10.{}.{}.7", chance(i, 2, 200), chance(i, 3, 200))),
        ("c4", &|i| spanish(10_000_000 + chance(i / 2, 4, 80_000_000))),
        ("c5", &|i| format!("{} High Street", 1 + chance(i, 5, 90))),
        ("c6", &|i| {
            format!("{}.{:04}, {}.{:04}", chance(i, 6, 80), chance(i, 7, 9999), chance(i, 8, 80), chance(i, 9, 9999))
        }),
        ("c7", &|i| format!("https://example.org/{}", i / 3)),
        ("c8", &|i| format!("the patient said that {} was the matter since day {i}", pick(i, 10, &["this", "that"]))),
        ("c9", &|i| (100_000 + i * 7).to_string()),
        ("last", &|i| format!("Name{}", chance(i, 11, 60))),
        ("nameGiven", &|i| format!("Given{}", chance(i, 12, 200))),
        ("c10", &|i| format!("{}{:06}", (b'A' + (i / 4 % 20) as u8) as char, chance(i / 4, 15, 900_000))),
        ("c11", &|i| format!("{:02}-{:03}", i / 4 % 90 + 1, i / 4)),
        ("open_accounts", &|i| chance(i, 16, 30).to_string()),
        ("has_phone", &|i| pick(i, 13, &["yes", "no"])),
        ("age", &|i| (18 + chance(i, 14, 60)).to_string()),
    ]);
    let suggested = init(&text);
    for name in ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "last", "nameGiven"] {
        let role = suggested.role(name);
        assert!(["identifier", "person"].contains(&role), "{name} is {role}: {}", suggested.why(name));
    }
    for name in ["c10", "c11"] {
        let role = suggested.role(name);
        assert!(!["quasi-identifier", "sensitive"].contains(&role), "{name} is {role}: {}", suggested.why(name));
    }
    assert_eq!(suggested.role("has_phone"), "other", "yes and no name nobody");
    assert_eq!(suggested.role("open_accounts"), "other", "what is counted names nobody");
}

#[test]
fn names_are_not_believed_where_values_say_otherwise() {
    let spellings = ["Male", "male", "M", "m", "Female", "female", "F", "f", "woman", "Man", "MALE", "FEMALE"];
    let towns = ["Salvador", "Recife", "Natal", "Belém", "Manaus", "Olinda", "Ilhéus", "Palmas", "Sobral", "Crato"];
    let wide = |i: usize, column: usize| chance(i, column, 60) * chance(i, column + 1, 60) * chance(i, column + 2, 12);
    let text = table(&[
        ("Gender", &|i| pick(i, 1, &spellings)),
        ("GenderID", &|i| chance(i, 2, 2).to_string()),
        ("mobile_likes", &|i| wide(i, 3).to_string()),
        ("months_as_customer", &|i| chance(i, 6, 250).to_string()),
        ("ID_MN_RESI", &|i| format!("{} {}", pick(i, 7, &towns), pick(i, 8, &towns))),
        ("agency_ids", &|i| chance(i, 9, 150).to_string()),
        ("incident_location", &|i| format!("{} {} {i}", pick(i, 10, &towns), pick(i, 11, &towns))),
        ("family_history", &|i| pick(i, 12, &["yes", "no"])),
        ("FromJobFairID", &|i| chance(i, 13, 2).to_string()),
        ("total_lines", &|i| (3 + chance(i, 14, 80)).to_string()),
        ("state", &|i| pick(i, 15, &["NY", "TX", "CA", "OH", "NA"])),
        ("comments", &|i| if i % 3 > 0 { "NA".into() } else { format!("that is how it was on day {i} of all") }),
        ("eow", &|i| format!("Monday, {} {}, 19{:02}", pick(i, 16, &["May", "June"]), 1 + i % 28, i % 90)),
        ("married", &|i| chance(i, 17, 2).to_string()),
        ("Bairro", &|i| towns[i % towns.len()].to_string()),
    ]);
    let suggested = init(&text);
    for (name, role) in [
        ("Gender", "quasi-identifier"),
        ("GenderID", "other"),
        ("mobile_likes", "other"),
        ("months_as_customer", "other"),
        ("ID_MN_RESI", "other"),
        ("agency_ids", "other"),
        ("incident_location", "identifier"),
        ("family_history", "other"),
        ("FromJobFairID", "other"),
        ("total_lines", "other"),
        ("state", "quasi-identifier"),
        ("comments", "identifier"),
        ("eow", "quasi-identifier"),
        ("married", "quasi-identifier"),
        ("Bairro", "quasi-identifier"),
    ] {
        assert_eq!(suggested.role(name), role, "{name}: {}", suggested.why(name));
    }
    let project: toml::Table = suggested.project().parse().expect("well-formed TOML");
    assert_eq!(project["data"]["missing"], toml::Value::Array(vec!["NA".into()]), "no state is called NA");
    let tree = |name: &str| project["attributes"][name]["hierarchy"]["tree"].clone();
    assert_eq!(tree("Gender")["female"].as_array().map(Vec::len), Some(6));
    assert!(tree("eow")["1950s"]["1957"].get("1957-Q2").is_some(), "dates in words have months and decades");
    // Ten towns, none of them rare: all but five, then all but two.
    let why = "all but the 5, then 2 most frequent values are put together";
    assert!(suggested.project().contains(why), "{}", suggested.project());
}

#[test]
fn records_of_nobody_are_left_out_where_they_are_few() {
    let with = |every: usize| {
        let number = move |i: usize| if i.is_multiple_of(every) { String::new() } else { format!("P{:04}", i / 3) };
        init(&table(&[("patient_id", &number), ("age", &|i| (20 + chance(i, 1, 50)).to_string())]))
    };
    let few = with(50);
    assert_eq!(few.role("patient_id"), "person");
    assert!(
        few.project()
            .contains("# why: 8 records have no patient_id, and nobody knows whose they are: they are left out")
    );
    assert_eq!(few.first_answer()["n_dropped"], 8);
    // Where many records lack something, somebody has to decide.
    let many = with(10);
    assert!(
        many.project().contains("missing_records = \"keep\"") && many.project().contains("give them one, or leave out")
    );
    let refused = many.folder.run(&["negotiate"]).ends(2);
    assert!(refused.stderr.contains("nobody knows whose they are"), "{}", refused.stderr);
}

#[test]
fn a_number_that_goes_one_to_one_with_an_identifier_is_one() {
    let text = table(&[
        ("USUBJID", &|i| format!("01-701-{:04}", i / 4)),
        ("x", &|i| (5_000 - i / 4 * 3).to_string()),
        ("site", &|i| (i / 40).to_string()),
        ("age", &|i| (20 + i / 4 % 50).to_string()),
    ]);
    let suggested = init(&text);
    assert_eq!((suggested.role("USUBJID"), suggested.role("x")), ("person", "identifier"));
    assert_eq!(suggested.why("x"), "goes one to one with USUBJID");
}

#[test]
fn groups_are_those_that_values_have() {
    let text = table(&[
        ("age", &|i| pick(i, 1, &["[0-20)", "[20-40)", "[40-60)", "[60-80)"])),
        ("country", &|i| pick(i, 2, &["DE", "FR", "BR", "JP", "KE", "XX"])),
        ("education", &|i| pick(i, 3, &["low", "medium", "high"])),
        ("occupation", &|i| {
            if chance(i, 4, 100) < 90 { pick(i, 5, &["clerk", "cook"]) } else { format!("o{}", i % 20) }
        }),
        ("region", &|i| pick(i, 6, &["AT11", "AT12", "DE21", "FR10"])),
        ("job", &|i| (1 + chance(i, 7, 3)).to_string()),
        ("disease", &|i| pick(i, 8, &["a", "b", "c"])),
    ]);
    let suggested = init(&text);
    let project: toml::Table = suggested.project().parse().expect("well-formed TOML");
    let tree = |name: &str| project["attributes"][name]["hierarchy"]["tree"].clone();
    assert_eq!(tree("age")["[0-20) to [20-40)"].as_array().map(Vec::len), Some(2));
    assert_eq!(tree("country")["Europe"].as_array().map(Vec::len), Some(2));
    assert_eq!(tree("country")["elsewhere"][0].as_str(), Some("XX"));
    assert!(tree("education").get("low").is_some() || tree("education").get("high").is_some());
    assert_eq!(tree("occupation")["clerk"][0].as_str(), Some("clerk"));
    assert!(tree("occupation")["other values"].as_array().is_some_and(|values| values.len() > 10));
    assert!(tree("region")["AT"].get("AT1").is_some());
    assert!(project["attributes"]["job"].get("hierarchy").is_none(), "codes are no numbers");
    // Nothing that is suggested stops a table.
    assert!(suggested.first_answer()["loss"]["ncp"].is_f64());
}

#[test]
fn a_skewed_number_is_cut_where_records_are() {
    let text = table(&[
        ("age", &|i| (20 + chance(i, 1, 50)).to_string()),
        ("household", &|i| if i == 0 { "90000".into() } else { (chance(i, 2, 30) * chance(i, 3, 30)).to_string() }),
    ]);
    let project: toml::Table = init(&text).project().parse().expect("well-formed TOML");
    let cuts = project["attributes"]["household"]["hierarchy"]["cuts"].as_array().expect("cuts").clone();
    assert!(cuts[0].as_array().is_some_and(|cuts| cuts.len() >= 4), "{cuts:?}");
}

#[test]
fn hardly_anything_is_said_twice() {
    let date =
        |i: usize, column: usize| format!("2020-{:02}-{:02}", 1 + chance(i, column, 12), 1 + chance(i, column + 1, 28));
    let text = table(&[
        ("age", &|i| (20 + chance(i, 1, 50)).to_string()),
        ("birth_date", &|i| format!("19{:02}-05-11", 30 + chance(i, 1, 50))),
        ("age_group", &|i| pick(i, 2, &["20-39", "40-59", "60-79"])),
        ("admission_date", &|i| date(i, 3)),
        ("discharge_date", &|i| date(i, 5)),
        ("third_date", &|i| date(i, 7)),
        ("sampling_weight", &|i| format!("{}.5", chance(i, 9, 30))),
    ]);
    let suggested = init(&text);
    for name in ["birth_date", "age_group", "discharge_date", "third_date", "sampling_weight"] {
        assert_eq!(suggested.role(name), "other", "{name}: {}", suggested.why(name));
    }
    for name in ["age", "admission_date"] {
        assert_eq!(suggested.role(name), "quasi-identifier", "{name}: {}", suggested.why(name));
    }
}

#[test]
fn neither_reasons_nor_documents_have_values_though_trees_do() {
    let secret = |i: usize, column: usize, n: usize| format!("secret{}", chance(i, column, n));
    let text = table(&[
        ("city", &|i| if i % 9 == 0 { secret(i, 1, 30) } else { "secrettown".into() }),
        ("country", &|i| pick(i, 2, &["secretland", "DE", "FR", "BR"])),
        ("notes", &|i| format!("the {} of a {} is {} and {i}", secret(i, 3, 9), secret(i, 4, 9), secret(i, 5, 9))),
    ]);
    let folder = Folder::with(&[("t.csv", &text)]);
    for line in
        [&["init", "t.csv", "--json"][..], &["init", "t.csv", "--force"], &["profile", "t.csv", "--json"], &["profile"]]
    {
        let ran = folder.run(line).ends(0);
        assert!(!ran.stdout.contains("secret") && !ran.stderr.contains("secret"), "{line:?}\n{}", ran.stdout);
    }
    assert!(folder.read("incrowd.toml").contains("secrettown"), "the tree is spelled out for the owner of the table");
}

/// Editors take the first `# ` of marked lines away: what was left out is then published as it is, and nothing is broken.
#[test]
fn a_column_that_was_left_out_is_taken_in_by_an_editor_that_uncomments_its_lines() {
    let text = table(&[
        ("age", &|i| (18 + chance(i, 1, 70)).to_string()),
        ("points", &|i| chance(i, 2, 90).to_string()),
        ("remark", &|i| format!("r{i}")),
        ("colour", &|i| pick(i, 3, &["red", "green", "blue"])),
    ]);
    let suggested = init(&text);
    let left_out = |name: &str| suggested.project().contains(&format!("# [attributes.{name}]\n"));
    assert!(left_out("points") && left_out("colour"), "{}", suggested.project());
    let mut is_left_out = false;
    let mut project = String::new();
    for line in suggested.project().lines() {
        is_left_out = line.starts_with("# [attributes.") || (is_left_out && line.starts_with('#'));
        project.push_str(if is_left_out { line.strip_prefix("# ").expect("a comment") } else { line });
        project.push('\n');
    }
    suggested.folder.write("incrowd.toml", &project);
    let profile = suggested.folder.run(&["profile", "--json"]).ends(0).json();
    let role = |name: &str| {
        let columns = profile["columns"].as_array().expect("columns");
        columns.iter().find(|column| column["name"] == name).expect("the column")["role"].clone()
    };
    assert_eq!((role("points"), role("colour")), ("other".into(), "other".into()), "{project}");
}
