//! Bad input: a clear error with a position and a hint, exit 2, nothing written, and no cell of the data in the message.

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use std::sync::Arc;

use crate::support;
use support::{Folder, Ran};

/// Every cell is a word of its own, to be recognized wherever it turns up.
const PEOPLE: &str = "\
age,sex,postcode,disease
8371,xfem,zz101,xflu
8372,xmal,zz102,xcold
8372,xmal,zz102,xflu
8393,xfem,zz203,xgout
";

const POSTCODES: &str = "zz101;zzone\nzz102;zzone\nzz203;zztwo\n";

const PROJECT: &str = r#"
[data]
path = "people.csv"

[attributes.age]
role = "quasi-identifier"
hierarchy = { intervals = [10] }

[attributes.sex]
role = "quasi-identifier"

[attributes.postcode]
role = "quasi-identifier"
hierarchy = "postcode.csv"

[attributes.disease]
role = "sensitive"
"#;

/// A good project in which one file is replaced.
fn people_with(name: &str, content: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::with(&[("people.csv", PEOPLE), ("postcode.csv", POSTCODES), ("incrowd.toml", PROJECT)]);
    folder.write(name, content);
    folder
}

fn people() -> Folder {
    people_with("people.csv", PEOPLE)
}

fn project_with(from: &str, to: &str) -> Folder {
    assert!(PROJECT.contains(from), "{from}");
    people_with("incrowd.toml", PROJECT.replacen(from, to, 1))
}

/// Runs a command that must fail: exit 2, these parts and a hint on stderr, nothing written, no cell shown.
#[track_caller]
fn check(folder: &Folder, line: &str, parts: &[&str]) {
    let ran = check_message(folder, line, parts);
    assert!(ran.stderr.contains("\nhint: "), "there is no hint\n{ran}");
}

/// The same where the message itself says what to do.
#[track_caller]
fn check_message(folder: &Folder, line: &str, parts: &[&str]) -> Ran {
    let args: Vec<&str> = line.split_whitespace().collect();
    let before = folder.content();
    let ran = folder.run(&args).ends(2);
    assert!(folder.content() == before, "something was written: {:?}\n{ran}", folder.names());
    assert!(ran.stdout.is_empty() && ran.stderr.starts_with("error: "), "{ran}");
    for part in parts {
        assert!(ran.stderr.contains(part), "'{part}' is missing from\n{ran}");
    }
    for cell in cells(&before) {
        assert!(!ran.stderr.contains(&cell), "the cell '{cell}' is in\n{ran}");
    }
    let as_json = folder.run(&[&args[..], &["--json"]].concat()).ends(2).json();
    let message = as_json["error"]["message"].as_str().expect("a message");
    assert!(ran.stderr.contains(message), "{message} is not in\n{ran}");
    ran
}

/// Every cell and label of the data that could be recognized.
fn cells(files: &std::collections::BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let data = files.iter().filter(|(name, _)| name.ends_with(".csv"));
    let text: String = data.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned() + "\n").collect();
    let is_cell = |word: &&str| word.len() >= 4 && ["83", "xf", "xm", "xc", "xg", "zz"].contains(&&word[..2]);
    text.split([',', ';', '\n', '"'])
        .filter(|word| word.is_char_boundary(2.min(word.len())))
        .filter(is_cell)
        .map(str::to_string)
        .collect()
}

const NEGOTIATE: &str = "negotiate --k 2";
const PUBLISH: &str = "publish --k 2";

// ── Files ──

#[test]
fn there_is_no_project() {
    check(&Folder::new(), NEGOTIATE, &["incrowd.toml: there is no project file", "incrowd init"]);
    check(&people(), "negotiate elsewhere --k 2", &["elsewhere: there is no project file"]);
}

#[test]
fn the_data_file_is_missing() {
    let folder = project_with("people.csv", "nowhere.csv");
    for line in [NEGOTIATE, PUBLISH, "count", "annotate", "profile", "hierarchy show age"] {
        check(&folder, line, &["nowhere.csv: there is no such file"]);
    }
    check(&people(), "init nowhere.csv --output other", &["nowhere.csv: there is no such file"]);
}

#[test]
fn the_file_to_verify_is_missing() {
    check(&people(), "verify nowhere.csv", &["nowhere.csv: there is no such file"]);
    check(&people(), "verify nowhere.csv --quasi-identifiers age --k 2", &["nowhere.csv: there is no such file"]);
}

#[test]
fn the_hierarchy_file_is_missing() {
    check(&project_with("postcode.csv", "nowhere.csv"), NEGOTIATE, &["nowhere.csv: there is no such file"]);
}

#[test]
fn the_certificate_is_missing_or_something_else() {
    let folder = people_with("a.csv.certificate.json", "{\"format\": 1}");
    check_message(&folder, "verify people.csv --certificate nowhere.json", &["nowhere.json: there is no such file"]);
    let other = "verify people.csv --certificate a.csv.certificate.json";
    check_message(&folder, other, &["a.csv.certificate.json: is not a certificate"]);
}

#[test]
fn the_data_file_is_empty() {
    for content in ["", "\n", "\r\n", "\n\n\n"] {
        let folder = people_with("people.csv", content);
        for line in [NEGOTIATE, PUBLISH, "profile people.csv", "init people.csv --output other"] {
            check(&folder, line, &["people.csv: is empty"]);
        }
    }
}

#[test]
fn the_data_file_holds_a_byte_order_mark_and_nothing_else() {
    for content in ["\u{feff}", "\u{feff}\n"] {
        let folder = people_with("people.csv", content);
        for line in [NEGOTIATE, "profile people.csv", "init people.csv --output other"] {
            check(&folder, line, &["people.csv: is empty"]);
        }
    }
}

#[test]
fn the_data_file_has_a_header_and_nothing_else() {
    for content in ["age,sex,postcode,disease\n", "age,sex,postcode,disease"] {
        let folder = people_with("people.csv", content);
        for line in [NEGOTIATE, PUBLISH, "profile people.csv"] {
            check(&folder, line, &["people.csv: has column names and no records"]);
        }
    }
}

#[test]
fn every_record_lacks_a_value() {
    let folder =
        project_with("[data]", "[data]\nmissing_records = \"drop\"\nmissing = [\"xflu\", \"xcold\", \"xgout\"]");
    check(&folder, NEGOTIATE, &["people.csv: all 4 records lack a value", "missing_records"]);
}

#[test]
fn a_row_has_too_many_or_too_few_fields() {
    let many = PEOPLE.replacen("8372,", "8372,8372,", 1);
    check(&people_with("people.csv", many), PUBLISH, &["people.csv:3: has 5 fields where the header has 4"]);
    let few = PEOPLE.replace(",zz203,xgout", "");
    check(&people_with("people.csv", few), PUBLISH, &["people.csv:5: has 2 fields where the header has 4"]);
    // Lines are those of the file, also after a cell with a line break.
    let later = PEOPLE.replacen("xfem", "\"xf\nem\"", 1).replacen("8372,", "8372,8372,", 1);
    check(&people_with("people.csv", later), "profile people.csv", &["people.csv:4: has 5 fields"]);
}

#[test]
fn a_quote_is_never_closed() {
    let folder = people_with("people.csv", PEOPLE.replacen("8372,xmal", "8372,\"xmal", 1));
    check(&folder, PUBLISH, &["people.csv:3: "]);
}

#[test]
fn the_data_are_not_utf_8() {
    // A letter of UTF-8 comes first, so that the file is not taken for another encoding.
    let mixed = PEOPLE.replace("xfem", "x\u{e9}m");
    let mut cell = mixed.clone().into_bytes();
    let at = mixed.find("xgout").expect("it is there");
    cell[at + 1] = 0xE9;
    let said = ["people.csv:5: column 'disease' is not UTF-8", "encoding = \"windows-1252\""];
    check(&people_with("people.csv", cell), PUBLISH, &said);
    let mut header = mixed.into_bytes();
    header[8] = 0xE9;
    let text = PROJECT.replace("path = \"people.csv\"", "path = \"people.csv\"\nencoding = \"utf-8\"");
    let folder = people_with("people.csv", header);
    folder.write("incrowd.toml", text);
    check(&folder, PUBLISH, &["people.csv:1: column 3 is not UTF-8", "encoding"]);
}

#[test]
fn the_project_file_is_not_utf_8() {
    check(&people_with("incrowd.toml", b"[data]\npath = \"p\xE9ople.csv\"\n"), PUBLISH, &["incrowd.toml:2: ", "UTF-8"]);
}

#[test]
fn the_hierarchy_file_is_not_utf_8() {
    let folder = people_with("postcode.csv", b"zz101;zzone\nzz102;z\xE9ro\n");
    check(&folder, PUBLISH, &["postcode.csv:2: is not UTF-8"]);
}

#[test]
fn two_columns_have_one_name() {
    let folder = people_with("people.csv", PEOPLE.replacen("postcode", "sex", 1));
    check(&folder, PUBLISH, &["people.csv", "columns 2 and 3 have the same name 'sex'"]);
    // A line in which most columns have no name is a title.
    let (header, records) = PEOPLE.split_once('\n').expect("a header");
    let title = ",".repeat(header.matches(',').count());
    let folder = people_with("people.csv", format!("report{title}\n{records}"));
    check(&folder, PUBLISH, &["people.csv:1: column 2 has no name"]);
}

#[test]
fn the_separator_is_another_one() {
    // Perhaps the first line is a record, so it is not shown.
    let parts = ["people.csv: none of the project's columns", "delimiter"];
    check(&project_with("[data]", "[data]\ndelimiter = \";\""), PUBLISH, &parts);
    let folder = people_with("people.csv", PEOPLE.replace(',', ":"));
    check(&folder, PUBLISH, &parts);
    let folder = people_with("people.csv", PEOPLE.replacen("sex,postcode", "\"sex;half;y\",postcode", 1));
    check(&folder, PUBLISH, &["people.csv"]);
}

#[test]
fn the_separator_is_no_character() {
    for (delimiter, part) in [("", "one character"), (",,", "one character"), ("é", "one character")] {
        let folder = project_with("[data]", &format!("[data]\ndelimiter = \"{delimiter}\""));
        check(&folder, PUBLISH, &["incrowd.toml: data.delimiter", part]);
    }
}

fn parquet_bytes() -> Vec<u8> {
    let cells = |cells: &[&str]| Arc::new(StringArray::from(cells.to_vec())) as ArrayRef;
    let columns = [
        ("age", cells(&["8371", "8372"])),
        ("sex", cells(&["xfem", "xmal"])),
        ("postcode", cells(&["zz101", "zz102"])),
        ("disease", cells(&["xflu", "xcold"])),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("memory takes a batch");
    writer.close().expect("memory takes a file");
    bytes
}

#[test]
fn a_parquet_file_is_cut_off() {
    let whole = parquet_bytes();
    assert_eq!(people_with("people.csv", &whole).run(&["count", "--quiet"]).code, Some(0), "it is good when whole");
    for n in [4, 5, 12, whole.len() / 2, whole.len() - 1] {
        let folder = people_with("people.csv", &whole[..n]);
        for line in ["count", "profile people.csv", "verify people.csv --quasi-identifiers age --k 2"] {
            check(&folder, line, &["people.csv: cannot be read as Parquet", "damaged or cut off"]);
        }
    }
}

#[test]
fn a_parquet_file_is_damaged_in_the_middle() {
    let mut damaged = parquet_bytes();
    damaged[20..60].fill(0xFF);
    check(&people_with("people.csv", damaged), "count", &["people.csv: cannot be read as Parquet"]);
}

#[test]
fn a_folder_holds_no_parquet_file() {
    let folder = project_with("people.csv", "parts");
    folder.write("parts/people.txt", PEOPLE);
    check(&folder, PUBLISH, &["parts: the folder holds no .parquet file"]);
}

#[test]
fn the_files_of_a_folder_differ() {
    let folder = project_with("people.csv", "parts");
    folder.write("parts/a.parquet", parquet_bytes());
    folder.write("parts/b.parquet", "age,sex\n8371,xfem\n");
    check(&folder, PUBLISH, &["b.parquet: has other columns, or columns of other types"]);
}

// ── Names ──

#[test]
fn an_attribute_is_unknown() {
    let folder = people();
    for (line, name) in [
        ("negotiate --k 2 --max-level postcod=1", "postcod"),
        ("publish --k 2 --levels postcod=1", "postcod"),
        ("negotiate --k 2 --quasi-identifiers age,postcod", "postcod"),
        ("hierarchy show postcod", "postcod"),
        ("hierarchy export Postcode", "Postcode"),
        ("verify people.csv --quasi-identifiers post-code --k 2", "post-code"),
    ] {
        check(&folder, line, &[&format!("'{name}'"), "did you mean 'postcode'?"]);
    }
    check(&folder, "negotiate --k 2 --sensitive diseas", &["'diseas'", "did you mean 'disease'?"]);
    check(&folder, "hierarchy show weight", &["unknown attribute 'weight'", "there are: age, sex, postcode, disease"]);
}

#[test]
fn the_project_names_a_column_that_is_not_there() {
    let folder = project_with("[attributes.postcode]", "[attributes.post-code]");
    for line in [PUBLISH, "count", "profile"] {
        check(&folder, line, &["people.csv: unknown column 'post-code'", "did you mean 'postcode'?"]);
    }
}

#[test]
fn an_attribute_is_not_what_the_request_takes_it_for() {
    check(
        &people(),
        "negotiate --k 2 --quasi-identifiers age,disease",
        &["'disease' is sensitive", "not a quasi-identifier"],
    );
    check(&people(), "negotiate --k 2 --max-level disease=1", &["'disease'"]);
    check_message(&people(), "hierarchy show disease", &["'disease' is sensitive, and has no hierarchy"]);
}

#[test]
fn a_quasi_identifier_is_also_sensitive() {
    check(&people(), "negotiate --k 2 --sensitive age", &["'age' cannot be a quasi-identifier and sensitive at once"]);
    let verify = "verify people.csv --quasi-identifiers age,sex --sensitive age --k 2";
    check(&people(), verify, &["'age' cannot be a quasi-identifier and sensitive at once"]);
    let twice = "[attributes.disease]\nrole = \"quasi-identifier\"\n\n[attributes.disease]";
    check(&project_with("[attributes.disease]", twice), PUBLISH, &["incrowd.toml:", "duplicate key", "disease"]);
}

#[test]
fn there_are_several_sensitive_attributes() {
    let folder = project_with(
        "role = \"quasi-identifier\"\n\n[attributes.postcode]",
        "role = \"sensitive\"\n\n[attributes.postcode]",
    );
    let which = ["several sensitive attributes", "which one is l about?", "--l sex:2", "--sensitive: sex, disease"];
    check(&folder, "publish --k 2 --l 2", &which);
    folder.run(&["publish", "--k", "2"]).ends(0);
}

#[test]
fn there_is_no_quasi_identifier() {
    let folder = people_with("incrowd.toml", PROJECT.replace("\"quasi-identifier\"", "\"other\""));
    check(&folder, PUBLISH, &["incrowd.toml: there is no quasi-identifier"]);
}

// ── The project file ──

/// Replaces a line of the project file by a bad one.
#[track_caller]
fn check_project(from: &str, to: &str, parts: &[&str]) {
    check(&project_with(from, to), PUBLISH, parts);
}

#[test]
fn a_key_is_unknown() {
    check_project(
        "[data]",
        "[data]\nmising = [\"\"]",
        &["incrowd.toml: unknown key 'data.mising'", "did you mean 'data.missing'?"],
    );
    check_project("[data]", "[dta]", &["incrowd.toml: unknown key 'dta'", "did you mean 'data'?"]);
    check_project("intervals = [10]", "interval = [10]", &["incrowd.toml: unknown key", "intervals"]);
    check_project(
        "[data]",
        "[request]\nmax_supressed = 1\n[data]",
        &["unknown key", "did you mean 'request.max_suppressed'?"],
    );
    check_project("role = \"sensitive\"", "roles = \"sensitive\"", &["'attributes.disease.roles'", "role"]);
}

#[test]
fn a_value_of_the_project_file_is_wrong() {
    check_project("\"sensitive\"", "\"sensitiv\"", &["incrowd.toml: ", "unknown role", "did you mean 'sensitive'?"]);
    check_project("[data]", "[data]\nmissing_records = \"dorp\"", &["data.missing_records", "there are: keep, drop"]);
    check_project("\"postcode.csv\"", "{ dates = [\"moth\"] }", &["unknown unit", "did you mean 'month'?"]);
    check_project("[data]\npath = \"people.csv\"", "", &["incrowd.toml: there is no [data] section"]);
    check_project("path = \"people.csv\"", "", &["incrowd.toml: [data] has no path"]);
    check_project("\"postcode.csv\"", "{ mask = 1, flat = true }", &["exactly one way to generalize"]);
    check_project("intervals = [10]", "intervals = []", &["at least one width"]);
    check_project("intervals = [10]", "intervals = [10, 15]", &["not a multiple"]);
    check_project("intervals = [10]", "cuts = [5, 1]", &["increasing"]);
    check_project("intervals = [10]", "mask = [2, 1]", &["increasing number of characters"]);
}

#[test]
fn a_value_of_the_project_file_has_the_wrong_type() {
    for (from, to, part) in [
        ("path = \"people.csv\"", "path = 1", "data.path must be a text"),
        ("intervals = [10]", "intervals = [\"10\"]", "intervals must be a list of numbers"),
        ("role = \"sensitive\"", "role = \"sensitive\"\nweight = -1", "weight must be a number of at least 0"),
        ("[data]", "[request]\nk = -1\n[data]", "request.k must be a whole number"),
        ("[data]", "[request]\nmax_level = { age = -1 }\n[data]", "request.max_level.age must be a level"),
        ("[data]\npath", "data", "data must be a section"),
        ("intervals = [10]", "mask = 0", "mask must be a number of characters"),
    ] {
        check_message(&project_with(from, to), PUBLISH, &["incrowd.toml", part]);
    }
}

#[test]
fn the_project_file_is_not_toml() {
    check_message(&project_with("path = ", "path "), PUBLISH, &["incrowd.toml:3: "]);
    check_message(&project_with("role = \"sensitive\"", "role = \"sensitive"), PUBLISH, &["incrowd.toml:17: "]);
}

#[test]
fn the_standing_wish_is_impossible() {
    check_project("[data]", "[request]\nmax_level = { age = 9 }\n[data]", &["'age' has levels 0 to 2, not 9"]);
    check_project(
        "[data]",
        "[request]\nmax_level = { oge = 1 }\n[data]",
        &["[request] max_level", "did you mean 'age'?"],
    );
    check_project("[data]", "[request]\nmax_suppressed = \"101%\"\n[data]", &["101%"]);
}

// ── Requests ──

#[test]
fn a_request_has_no_meaning() {
    let folder = people();
    for (flags, part) in [
        ("", "no privacy is asked for"),
        ("--k 0", "k must be at least 1"),
        ("--k 5", "k = 5 is larger than the table, which has 4 records"),
        ("--k 18446744073709551615", "is larger than the table"),
        ("--l 0", "l must be at least 1"),
        ("--l 4", "l = 4 is larger than the 3 distinct values"),
        ("--k 2 --max-suppressed -1", "-1 records cannot be suppressed"),
        ("--k 2 --max-suppressed 5", "5 records cannot be suppressed, there are 4"),
        ("--k 2 --max-suppressed 99999999999999999999999", "records cannot be suppressed"),
        ("--k 2 --max-suppressed -1%", "-1% of the records cannot be suppressed"),
        ("--k 2 --max-suppressed 100.5%", "100.5% of the records cannot be suppressed"),
        ("--k 2 --max-suppressed nan%", "nan% of the records cannot be suppressed"),
        ("--k 2 --max-suppressed many", "'many' is not a number of records"),
        ("--k 2 --max-level age=3", "'age' has levels 0 to 2, not 3"),
        ("--k 2 --max-level age=-1", "'age' has levels 0 to 2, not -1"),
        ("--k 2 --max-level age=coarse", "'age' has levels 0 to 2, not coarse"),
        ("--k 2 --max-level age=300", "'age' has levels 0 to 2, not 300"),
        ("--k 2 --max-level age", "'age' is not an attribute and its level"),
        ("--k 2 --memory much", "'much' is not a size"),
    ] {
        for command in ["negotiate", "publish"] {
            check(&folder, &format!("{command} {flags}"), &[part]);
        }
    }
    check(&folder, "publish --k 2 --levels age=3", &["'age' has levels 0 to 2, not 3"]);
    check(&folder, "publish --k 5 --levels age=1", &["k = 5 is larger than the table"]);
    check(&folder, "annotate --k 5", &["k = 5 is larger than the table"]);
}

#[test]
fn an_attribute_is_given_two_levels() {
    check_message(&people(), "negotiate --k 2 --max-level age=1,age=2", &["'age' is given two levels"]);
}

#[test]
fn l_needs_a_sensitive_attribute() {
    let folder = project_with("\"sensitive\"", "\"other\"");
    check(&folder, "negotiate --l 2", &["l needs a sensitive attribute"]);
    check(&people(), "verify people.csv --quasi-identifiers age --l 2", &["l needs a sensitive attribute"]);
}

#[test]
fn verify_is_not_told_what_to_look_for() {
    check(&people(), "verify people.csv", &["no certificate beside it: nothing says what is promised"]);
    check(&people(), "verify people.csv --quasi-identifiers age", &["nothing says what is promised"]);
    check(&people(), "verify people.csv --quasi-identifiers age --k 0", &["k must be at least 1"]);
}

#[test]
fn a_release_has_no_place_to_go() {
    check(&people(), "publish --k 2 --output release.xlsx", &["release.xlsx: ", ".csv, .parquet, .sav or .dta"]);
    check_message(&people(), "publish --k 2 --output nowhere/release.csv", &["nowhere: there is no such folder"]);
}

/// A table with this many quasi-identifiers of five levels each.
fn wide(n_attributes: usize) -> Folder {
    let names: Vec<String> = (0..n_attributes).map(|i| format!("a{i}")).collect();
    let role = "role = \"quasi-identifier\"\nhierarchy = { mask = [1, 2, 3] }";
    let attributes: String = names.iter().map(|name| format!("[attributes.{name}]\n{role}\n")).collect();
    let row = |value: &str| vec![value; n_attributes].join(",");
    let data = format!("{}\n{}\n{}\n", names.join(","), row("zz101"), row("zz202"));
    Folder::with(&[("a.csv", &data), ("incrowd.toml", &format!("[data]\npath = \"a.csv\"\n{attributes}"))])
}

#[test]
fn a_lattice_does_not_fit_into_memory() {
    for line in
        ["negotiate --k 2 --memory 1MB --full", "publish --k 2 --memory 1MB --full", "annotate --memory 1MB --full"]
    {
        let parts =
            ["8 quasi-identifiers", "390625 schemes", "1 MB", "--quasi-identifiers", "fewer levels", "--memory"];
        check(&wide(8), line, &parts);
    }
    people().run(&["negotiate", "--k", "2", "--memory", "1MB"]).ends(0);
}

#[test]
fn every_command_that_makes_a_lattice_respects_memory() {
    for line in ["map --memory 1MB", "compare --k 2 --memory 1MB", "study lattice --k 2 --memory 1MB"] {
        let parts = ["8 quasi-identifiers", "390625 schemes", "1 MB", "--quasi-identifiers", "--memory"];
        check(&wide(8), line, &parts);
    }
    // More than any machine has, and no limit is given.
    let ran = wide(14).run(&["map"]).ends(2);
    assert!(ran.stderr.contains("6103515625 schemes") && ran.stderr.contains("--memory"), "{ran}");
    for line in [
        "publish --method per-record --utility-at-least 60% --memory 1",
        "map --memory 1",
        "compare --quiet --k 2 --methods per-record:60% --memory 1",
    ] {
        check(&people(), line, &["looking people up would take", "1 kB are allowed", "--memory"]);
    }
    people().run(&["map", "--ks", "2", "--memory", "1MB"]).ends(0);
}

#[test]
fn memory_for_a_lattice_that_nobody_makes_is_refused() {
    for line in [
        "count --memory 1MB",
        "publish --k 2 --levels age=1 --memory 1MB",
        "publish --k 2 --method mondrian --memory 1MB",
    ] {
        check(&people(), line, &["--memory is about the lattice of schemes", "makes none"]);
    }
}

#[test]
fn what_is_promising_among_more_schemes_than_anyone_could_look_through_is_found() {
    let folder = wide(18);
    for line in [
        "annotate --partial 0.0000001%",
        "negotiate --k 2 --partial 0.0000001%",
        "publish --k 2 --partial 0.0000001% -o out.csv",
        "frontier --partial 0.0000001%",
    ] {
        folder.run(&line.split(' ').collect::<Vec<_>>()).ends(0);
    }
    // A larger share of them is more than a machine holds, and the study looks at all.
    check(&folder, "annotate --partial 1% --memory 1GB", &["schemes", "--memory"]);
    check(&folder, "study lattice --k 2 --partial 0.0000001% --memory 1GB", &["3814697265625 schemes", "--memory"]);
    // Where nobody has asked for a part, there is another way.
    folder.run(&["annotate"]).ends(0);
}

#[test]
fn a_lattice_fits_into_no_memory() {
    let (some, many) = (wide(14), wide(30));
    // What is free changes from one run to the next, and is part of the message.
    let line = "negotiate --k 2 --memory 4GB --full";
    check(&some, line, &["14 quasi-identifiers", "6103515625 schemes", "--quasi-identifiers"]);
    check(&many, line, &["30 quasi-identifiers", "over 10^19 schemes", "--quasi-identifiers"]);
    // Counting alone needs no lattice, and answers on demand need none either.
    many.run(&["count"]).ends(0);
    some.run(&["negotiate", "--k", "2", "--memory", "4GB"]).ends(0);
}

// ── Hierarchies ──

/// Replaces the file of the postcodes' hierarchy by a bad one.
#[track_caller]
fn check_hierarchy(content: &str, parts: &[&str]) {
    check(&people_with("postcode.csv", content), PUBLISH, parts);
}

#[test]
fn a_hierarchy_misses_values() {
    check_hierarchy(
        "zz101;zzone\n",
        &[
            "postcode.csv: attribute 'postcode': the hierarchy misses 2 values that the data hold",
            "hierarchy show postcode",
            "--absent",
        ],
    );
    check_hierarchy("zz101;zzone\nzz102;zzone\n", &["misses 1 value that"]);
    let shown = people_with("postcode.csv", "zz101;zzone\n").run(&["hierarchy", "show", "postcode", "--absent"]);
    let said = shown.ends(1);
    assert!(said.stdout.contains("postcode: 3 cells of 2 values, the first at ./people.csv:3"), "{said}");
    let shown =
        people_with("postcode.csv", "zz101;zzone\n").run(&words("hierarchy show postcode --absent --show-values"));
    let said = shown.ends(1);
    assert!(said.stdout.contains("zz102") && said.stdout.contains("zz203"), "{said}");
}

#[test]
fn a_hierarchy_maps_a_value_twice() {
    let parts = ["postcode.csv:3: attribute 'postcode': 1 value is mapped twice", "line 1"];
    check_hierarchy("zz101;zzone\nzz102;zzone\nzz101;zztwo\nzz203;zztwo\n", &parts);
}

#[test]
fn a_hierarchy_is_not_a_tree() {
    let parts = ["postcode.csv:2: attribute 'postcode': is not a tree: 1 value has", "line 1 at level 1"];
    check_hierarchy("zz101;zzone;zzall\nzz102;zzone;zzother\nzz203;zztwo;zzall\n", &parts);
}

#[test]
fn a_hierarchy_is_ragged_or_empty() {
    check_hierarchy(
        "zz101;zzone\nzz102\nzz203;zztwo\n",
        &["postcode.csv:2: has 1 labels where the lines above have 2"],
    );
    check_hierarchy("", &["postcode.csv: is empty"]);
}

#[test]
fn a_hierarchy_does_not_fit_the_values() {
    check_project(
        "\"postcode.csv\"",
        "{ intervals = [10] }",
        &["people.csv:2: attribute 'postcode': intervals need numbers, and 3 of 3 values are not, in 4 cells"],
    );
    check_project("\"postcode.csv\"", "{ cuts = [10] }", &["'postcode': cut points need numbers"]);
    check_project(
        "\"postcode.csv\"",
        "{ dates = [\"year\"] }",
        &["people.csv:2: attribute 'postcode': 3 of 3 values are not dates"],
    );
}

/// Values come from several files, and it matters in which one they are.
#[test]
fn a_hierarchy_does_not_fit_the_population() {
    let folder = project_with("path = \"people.csv\"", "path = \"people.csv\"\npopulation = \"all.csv\"");
    // Labels need not know everybody.
    folder.write("all.csv", format!("{PEOPLE}8371,xfem,zz999,xflu\n"));
    let line = "negotiate --k-map 2";
    let told = folder.run(&words(line)).stderr;
    assert!(told.contains("attribute 'postcode': the hierarchy does not know 1 value"), "{told}");
    folder.write("all.csv", format!("{PEOPLE}xold,xfem,zz101,xflu\n"));
    check(&folder, line, &["all.csv: attribute 'age': intervals need numbers"]);
}

// ── Outputs ──

/// What something is made of is never replaced by it, with --force neither.
#[test]
fn no_output_replaces_what_it_is_made_of() {
    let folder = people();
    let before = folder.content();
    for command in ["annotate", "annotate --on-demand", "map", "hierarchy export age .", "publish --k 2"] {
        for file in ["people.csv", "postcode.csv", "incrowd.toml", "../people.csv"] {
            let file =
                if file.starts_with("..") { format!("{}/people.csv", folder.path().display()) } else { file.into() };
            let ran = folder.run(&words(&format!("{command} -o {file} --force"))).ends(2);
            // A release and a chart have endings of their own.
            let is_named = ran.stderr.contains("would replace or join what it is made of");
            assert!(is_named || command.starts_with("publish"), "{ran}");
            assert!(folder.content() == before, "{ran}");
        }
    }
    folder.write("page.html", PEOPLE);
    folder.write("incrowd.toml", PROJECT.replace("people.csv", "page.html"));
    let before = folder.content();
    for command in ["compare --k 2", "frontier", "study deal", "map"] {
        let ran = folder.run(&words(&format!("{command} -o page.html --force"))).ends(2);
        assert!(ran.stderr.contains("would replace or join what it is made of"), "{ran}");
        assert!(folder.content() == before, "{ran}");
    }
    folder.write("data.toml", PEOPLE);
    let ran = folder.run(&words("init data.toml -o data.toml --force")).ends(2);
    assert!(ran.stderr.contains("would replace or join what it is made of"), "{ran}");
    assert_eq!(folder.read("data.toml"), PEOPLE);
    // Nor what is appended.
    let folder = people();
    folder.run(&words("annotate -o people.crowd")).ends(0);
    folder.write("new.txt", "age,sex,postcode,disease\n8371,xfem,zz101,xflu\n");
    let before = folder.content();
    let ran = folder.run(&words("annotate --append new.txt people.crowd -o new.txt --force")).ends(2);
    assert!(ran.stderr.contains("new.txt: would replace or join what it is made of"), "{ran}");
    assert!(folder.content() == before, "{ran}");
}

// ── Flags ──

/// What a command does by itself fits any table; what somebody asks for is taken at its word.
#[test]
fn defaults_fit_small_tables() {
    let folder = people();
    let ran = folder.run(&words("study lattice")).ends(0);
    assert!(ran.stderr.contains("k = 10, 50 left out: the table has 4 records"), "{ran}");
    let ran = folder.run(&words("study deal")).ends(0);
    assert!(ran.stderr.contains(" left out: the table has 4 records"), "{ran}");
    let ran = folder.run(&words("compare -o methods.html")).ends(0);
    assert!(ran.stderr.contains("k = 5, 10, 25, 50, 100 left out: the table has 4 records"), "{ran}");
    for (line, message) in [
        ("study lattice --k 5", "k = 5 is larger than the table"),
        ("study deal --k 2..5", "for example --k 2..4"),
        ("compare --k 5 -o other.html", "k = 5 is larger than the table"),
    ] {
        let ran = folder.run(&words(line)).ends(2);
        assert!(ran.stderr.contains(message), "{ran}");
    }
    let help = folder.run(&words("study lattice --help")).ends(0);
    assert!(!help.stdout.contains("--full") && !help.stdout.contains("--on-demand"), "{help}");
}

#[test]
fn flags_without_effect_are_refused() {
    for (line, message) in [
        ("negotiate --k 2 --estimator mu", "--estimator is about partial lattices"),
        ("negotiate --k 2 --on-demand --estimator mu", "--estimator is about partial lattices"),
        ("negotiate --k 2 --not-extended", "--not-extended is about partial lattices"),
        ("annotate --full --estimator mu", "--estimator is about partial lattices"),
        ("frontier --on-demand", "a frontier needs a lattice, whole or partial"),
        ("publish --k 2 --estimator mu -o a.csv", "--estimator is about partial lattices"),
        ("publish --k 2 --levels age=1 --on-demand -o a.csv", "--on-demand is about the search for a scheme"),
        ("publish --k 2 --method top-down --partial 5% -o a.csv", "--partial is about the lattice of schemes"),
        ("publish --k 2 --method mondrian --on-demand -o a.csv", "--on-demand is about the lattice of schemes"),
        ("publish --method per-record --on-demand -o a.csv", "cannot be had with --method per-record"),
        (
            "publish --k 2 --method mondrian --seed 3 -o a.csv",
            "--seed is about random choices, and mondrian makes none",
        ),
        ("publish --k 2 --method bottom-up --seed 3 -o a.csv", "--seed is about random choices"),
    ] {
        check(&people(), line, &[message]);
    }
    let folder = people();
    folder.run(&words("annotate -o people.crowd")).ends(0);
    let ran = folder.run(&words("negotiate --k 2 --lattice people.crowd --not-extended")).ends(2);
    assert!(ran.stderr.contains("--not-extended is about partial lattices"), "{ran}");
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}
