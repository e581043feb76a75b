//! Files as people have them: what they are by their bytes, how they are written, and that all of them count the same.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray, Time32SecondArray};
use incrowd::table::Cells;
use incrowd_workbench::input::source::{Encoding, Labels, ReadOptions, Source};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::support;
use support::{Folder, Ran, sas};

const TABLE: &str = "name;born;pay;ill\n\
    Zoé;31/12/1980;1.200,50;flu\n\
    Åsa;01/02/1981;900,25;flu\n\
    Ann;15/12/1980;1.100,00;cold\n\
    Bob;28/02/1981;950,75;cold\n";

const PROJECT: &str = r#"
[data]
path = "people.csv"
decimal = ","
thousands = "."

[attributes.born]
role = "quasi-identifier"
hierarchy = { dates = ["month", "year"], format = "31/12/2019" }

[attributes.pay]
role = "quasi-identifier"
hierarchy = { intervals = [500, 1000] }

[attributes.name]
role = "identifier"

[attributes.ill]
role = "sensitive"
"#;

const PUBLISH: [&str; 10] =
    ["publish", "--k", "2", "--levels", "born=1,pay=1", "--max-suppressed", "0", "-o", "out.csv", "--quiet"];

fn project(data: &[u8], project: &str) -> Folder {
    let folder = Folder::with(&[("incrowd.toml", project)]);
    folder.write("people.csv", data);
    folder
}

/// The release of the table above, which is the same however the table is written.
#[track_caller]
fn published(folder: &Folder) -> String {
    folder.run(&PUBLISH).ends(0);
    folder.read("out.csv")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn numbers_and_dates_of_other_countries_are_generalized_as_such() {
    let release = published(&project(TABLE.as_bytes(), PROJECT));
    for part in ["1980-12;", "1981-02;", "1000", "1500", ";cold"] {
        assert!(release.contains(part), "{part}\n{release}");
    }
    assert!(!release.contains("31/12") && !release.contains(",50"), "{release}");
}

#[test]
fn however_a_text_is_written_the_release_is_the_same() {
    let expected = published(&project(TABLE.as_bytes(), PROJECT));
    let utf_16 = |bytes: fn(u16) -> [u8; 2], mark: &[u8]| -> Vec<u8> {
        [mark, &TABLE.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()].concat()
    };
    let latin_1: Vec<u8> = TABLE.chars().map(|c| u8::try_from(u32::from(c)).expect("Latin-1")).collect();
    let zstd = |bytes: &[u8]| zstd::stream::encode_all(bytes, 3).expect("memory");
    let cases = [
        ("mark", [b"\xef\xbb\xbf", TABLE.as_bytes()].concat(), None),
        ("UTF-16 LE with mark", utf_16(u16::to_le_bytes, b"\xff\xfe"), Some("utf-16le")),
        ("UTF-16 BE with mark", utf_16(u16::to_be_bytes, b"\xfe\xff"), Some("utf-16be")),
        ("UTF-16 LE", utf_16(u16::to_le_bytes, b""), Some("utf-16le")),
        ("Latin-1", latin_1.clone(), Some("windows-1252")),
        ("gzip", gzip(TABLE.as_bytes()), None),
        ("gzip in two members", [gzip(&TABLE.as_bytes()[..40]), gzip(&TABLE.as_bytes()[40..])].concat(), None),
        ("zstd", zstd(TABLE.as_bytes()), None),
        ("gzip of Latin-1", gzip(&latin_1), Some("windows-1252")),
        ("CRLF", TABLE.replace('\n', "\r\n").into_bytes(), None),
    ];
    for (case, bytes, encoding) in cases {
        let folder = project(&bytes, PROJECT);
        assert_eq!(published(&folder), expected, "{case}");
        let ran = folder.run(&["count"]).ends(0);
        let said = encoding.is_none_or(|encoding| ran.stderr.contains(&format!("read as {encoding}")));
        assert!(said && encoding.is_some() == ran.stderr.contains("not UTF-8"), "{case}: {ran}");
    }
    let told = PROJECT.replace("decimal", "encoding = \"latin1\"\ndecimal");
    let folder = project(&latin_1, &told);
    assert_eq!(published(&folder), expected);
    assert!(!folder.run(&["count"]).ends(0).stderr.contains("UTF-8"), "nothing was found out");
}

#[test]
fn standard_input_and_pipes_are_read_as_often_as_needed() {
    let expected = published(&project(TABLE.as_bytes(), PROJECT));
    let folder = project(TABLE.as_bytes(), &PROJECT.replace("people.csv", "-"));
    let mut command = folder.command(&PUBLISH);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(&gzip(TABLE.as_bytes())).expect("it reads");
    assert!(child.wait().expect("it ends").success());
    assert_eq!(folder.read("out.csv"), expected);
    if cfg!(unix) {
        folder.write("incrowd.toml", PROJECT.replace("people.csv", "pipe"));
        let line = "mkfifo pipe && (cat people.csv > pipe &) && $incrowd count --json";
        let counted = folder.shell(line).ends(0).json();
        assert_eq!(counted["n_records"], 4, "{counted}");
    }
}

#[track_caller]
fn refused(bytes: &[u8], parts: &[&str]) {
    let ran: Ran = project(bytes, PROJECT).run(&["count"]).ends(2);
    assert!(parts.iter().all(|part| ran.stderr.contains(part)) && ran.stderr.contains("\nhint: "), "{ran}");
}

#[test]
fn what_cannot_be_read_is_called_by_its_name() {
    refused(b"%PDF-1.7\n\x00\x01", &["people.csv: is a PDF"]);
    refused(
        b"\xc1@@ASCII SPSS PORT FILE     \n00000-0000",
        &["people.csv: is a portable file of SPSS", "save it as .sav"],
    );
    refused(b"PK\x03\x04 word/document.xml PK\x05\x06", &["is a zip archive", "unpack it"]);
    refused(b"PK\x03\x04\x14\x00 docProps/app.xml", &["a workbook or a zip archive that is cut off", "get it again"]);
    refused(b"<!DOCTYPE html><html>", &["is a web page"]);
    refused(b"SQLite format 3\0\x10\x00", &["is an SQLite database"]);
    refused(b"\x7fELF\x02\x01\x00\x00\x00", &["is no table"]);
    refused(&gzip(TABLE.as_bytes())[..60], &["cannot be unpacked", "damaged or cut off"]);
    refused(&gzip(&gzip(b"a")), &["is compressed twice"]);
    refused(&sas::data_set(false, false, None)[..100], &["cannot be read as a data set of SAS"]);
    refused(b"<stata_dta><header> and nothing", &["cannot be read as Stata"]);
    refused(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and nothing", &["cannot be read as a workbook"]);
    refused(b"$FL2@(#) SPSS and nothing", &["cannot be read as SPSS"]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for (from, to, message) in [
        ("decimal = \",\"", "decimal = \";\"", "data.decimal is no mark"),
        ("thousands = \".\"", "thousands = \",\"", "the same mark"),
        ("decimal", "encoding = \"klingon\"\ndecimal", "data.encoding is none that is known"),
        ("31/12/2019", "01/02/2019", "more than one way"),
        ("31/12/2019", "%d/%m", "the day, the month and the year"),
        ("intervals = [500, 1000]", "intervals = [500, 1000], format = \"%d\"", "belongs to dates"),
    ] {
        let ran = project(TABLE.as_bytes(), &PROJECT.replacen(from, to, 1)).run(&["count"]).ends(2);
        assert!(ran.stderr.contains(message), "{message}\n{ran}");
    }
}

#[test]
fn what_nobody_said_is_found_out_and_said_or_asked_for() {
    // Nothing is guessed of numbers and dates while data are read, but the error says what to write.
    let untold = PROJECT.replace("decimal = \",\"\nthousands = \".\"\n", "");
    let ran = project(TABLE.as_bytes(), &untold).run(&["count"]).ends(2);
    assert!(ran.stderr.contains("hint: say how numbers are written: decimal = \",\" and thousands = \".\""), "{ran}");
    let untold = PROJECT.replace(", format = \"31/12/2019\"", "");
    let ran = project(TABLE.as_bytes(), &untold).run(&["count"]).ends(2);
    assert!(ran.stderr.contains("hint: say how its dates are written: format = \"%d/%m/%Y\""), "{ran}");
    // What may be meant in two ways is left to whoever knows.
    let ambiguous = TABLE.replace("31/12", "01/12").replace("15/12", "02/12").replace("28/02", "03/02");
    let ran = project(ambiguous.as_bytes(), &untold).run(&["count"]).ends(2);
    assert!(!ran.stderr.contains("format ="), "{ran}");
    // The first sheet of several is read, and the note names it; of one, there is nothing to say.
    let folder = Folder::new();
    folder.write("incrowd.toml", AGES.replace("\"data\"", "\"people.xlsx\""));
    folder.write("people.xlsx", include_bytes!("fixtures/people.xlsx"));
    let ran = folder.run(&["count"]).ends(0);
    assert!(ran.stderr.contains("of 2 sheets, 'people' is read ([data] sheet names another)"), "{ran}");
    // Another sheet has other columns, and nothing that separates them.
    let of_another = "[data]\npath = \"people.xlsx\"\n[attributes.alter]\nrole = \"quasi-identifier\"\n[attributes.stadt]\nrole = \"quasi-identifier\"\n";
    folder.write("incrowd.toml", of_another);
    let ran = folder.run(&["count"]).ends(2);
    assert!(ran.stderr.contains("none of the project's columns") && ran.stderr.contains("[data] sheet"), "{ran}");
    assert!(!ran.stderr.contains("delimiter"), "{ran}");
    folder.write("incrowd.toml", AGES.replace("\"data\"", "\"people.xlsx\""));
    folder.write("people.xlsx", include_bytes!("fixtures/people.xls"));
    assert!(!folder.run(&["count"]).ends(0).stderr.contains("sheet"));
}

#[test]
fn init_takes_the_sheet_and_the_encoding_that_it_is_told() {
    let folder = Folder::new();
    folder.write("titled.xlsx", include_bytes!("fixtures/titled.xlsx"));
    let ran = folder.run(&["init", "titled.xlsx"]).ends(2);
    assert!(ran.stderr.contains("sheet 'about', row 1: column C has no name"), "{ran}");
    assert!(
        ran.stderr.contains("--sheet of init and [data] sheet of a project: 'about', 'visits', 'numbered'"),
        "{ran}"
    );
    folder.run(&["init", "titled.xlsx", "--sheet", "visits"]).ends(0);
    assert!(folder.read("incrowd.toml").contains("sheet = \"visits\"\n"));
    let counted = folder.run(&["count", "--json"]).ends(0).json();
    assert_eq!(counted["n_records"], 3);
    // Numbers of records have no name, as programs write them.
    let columns = folder.run(&["init", "titled.xlsx", "--sheet", "numbered", "--force", "--json"]).ends(0).json();
    assert_eq!([&columns["columns"][0]["name"], &columns["columns"][1]["name"]], ["column 1", "age"]);
    // Of these bytes Windows-1252 makes letters too, and other ones.
    folder.write("wiek.csv", b"wiek,p\xb3e\xe6\n31,k\n32,m\n");
    folder.run(&["init", "wiek.csv", "--encoding", "iso-8859-2", "--force"]).ends(0);
    let text = folder.read("incrowd.toml");
    assert!(text.contains("encoding = \"iso-8859-2\"\n") && text.contains("[attributes.\"płeć\"]"), "{text}");
    assert_eq!(folder.run(&["count", "--json"]).ends(0).json()["n_records"], 2);
    let ran = folder.run(&["init", "wiek.csv", "--encoding", "latin-99", "--force"]).ends(2);
    assert!(ran.stderr.contains("is none that is known; for example windows-1252"), "{ran}");
}

#[test]
fn init_reads_the_labels_of_columns_whose_names_say_nothing() {
    let mut bytes = include_bytes!("fixtures/people_5.xpt").to_vec();
    let name = bytes.windows(8).position(|bytes| bytes == b"age     ").expect("a column");
    bytes[name..name + 3].copy_from_slice(b"V01");
    let folder = Folder::new();
    folder.write("people.xpt", &bytes);
    let ran = folder.run(&["init", "people.xpt"]).ends(0);
    assert!(ran.stdout.contains("V01: age in years    quasi-identifier"), "{ran}");
    let text = folder.read("incrowd.toml");
    assert!(text.contains("[attributes.V01]\n# label: age in years\n# why: label says age\n"), "{text}");
}

#[test]
fn init_finds_out_how_numbers_and_dates_are_written() {
    let folder = Folder::new();
    folder.write("people.csv", TABLE);
    let ran = folder.run(&["init", "people.csv"]).ends(0);
    assert!(ran.stdout.contains("dates in born are read as %d/%m/%Y"), "{ran}");
    let text = folder.read("incrowd.toml");
    assert!(text.contains("decimal = \",\"\nthousands = \".\"\n"), "{text}");
    assert!(text.contains("format = \"%d/%m/%Y\" }"), "{text}");
    folder.run(&["count"]).ends(0);
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    parquet_packed(Compression::UNCOMPRESSED, columns)
}

fn parquet_packed(compression: Compression, columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).expect("a file");
    writer.write(&batch).expect("memory");
    writer.into_inner().expect("memory")
}

fn ages(ages: [i64; 2]) -> (&'static str, ArrayRef) {
    ("age", Arc::new(Int64Array::from(ages.to_vec())))
}

const AGES: &str =
    "[data]\npath = \"data\"\nmissing_records = \"keep\"\n\n[attributes.age]\nrole = \"quasi-identifier\"\n";

#[test]
fn however_a_parquet_file_is_compressed_it_counts_the_same() {
    let folder = Folder::with(&[("incrowd.toml", AGES)]);
    let ages: ArrayRef = Arc::new((0..10_000).map(|i| i % 90).collect::<Int64Array>());
    let notes: ArrayRef = Arc::new((0..10_000).map(|i| Some(format!("note {}", i % 77))).collect::<StringArray>());
    let mut counted = Vec::new();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(GzipLevel::default()),
        Compression::BROTLI(BrotliLevel::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
    ] {
        folder.write("data", parquet_packed(compression, vec![("age", ages.clone()), ("note", notes.clone())]));
        counted.push(folder.run(&["count", "--json"]).ends(0).stdout);
        assert_eq!(counted.last(), counted.first(), "{compression:?}");
    }
    assert!(counted[0].contains("\"n_records\": 10000"), "{}", counted[0]);
}

#[test]
fn columns_that_nobody_can_read_stop_only_those_who_name_them() {
    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.append_value([Some(1)]);
    lists.append_value([Some(2)]);
    let bytes = parquet(vec![
        ages([3, 4]),
        ("visits", Arc::new(lists.finish())),
        ("photo", Arc::new(BinaryArray::from(vec![&b"x"[..], b"y"]))),
        ("at", Arc::new(Time32SecondArray::from(vec![1, 2]))),
    ]);
    let folder = Folder::with(&[("incrowd.toml", AGES)]);
    folder.write("data", &bytes);
    let ran = folder.run(&["count"]).ends(0);
    assert!(ran.stderr.contains("visits, photo, at"), "{ran}");
    folder.run(&["init", "data", "-o", "new.toml"]).ends(0);
    let both = "\n[attributes.photo]\nrole = \"sensitive\"\n[attributes.visits]\nrole = \"identifier\"\n";
    folder.write("incrowd.toml", format!("{AGES}{both}"));
    let ran = folder.run(&["count"]).ends(2);
    assert!(ran.stderr.contains("columns 'photo' (Binary), 'visits' (List"), "{ran}");
}

#[test]
fn folders_that_are_named_by_a_value_make_a_column() {
    let text =
        format!("{AGES}\n[attributes.year]\nrole = \"quasi-identifier\"\n\n[attributes.site]\nrole = \"sensitive\"\n");
    let folder = Folder::with(&[("incrowd.toml", text.as_str())]);
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    for (path, pair) in [("year=2023/site=a%3Ab", [1, 1]), ("year=2024/site=__HIVE_DEFAULT_PARTITION__", [4, 4])] {
        folder.write(&format!("data/{path}/part-0.parquet"), parquet(vec![ages(pair), ("name", names.clone())]));
    }
    folder.write("data/_metadata/other.parquet", "no table");
    let ran =
        folder.run(&["publish", "--k", "2", "--levels", "age=0,year=0", "--max-suppressed", "0", "-o", "out.csv"]);
    let ran = ran.ends(0);
    let release = folder.read("out.csv");
    let mut lines: Vec<&str> = release.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["1,2023,a:b", "1,2023,a:b", "4,2024,", "4,2024,", "age,year,site"], "{ran}");
}

#[test]
fn a_table_of_many_pieces_is_counted_alike_on_every_number_of_threads() {
    let mut text = String::from("age,note\n");
    for i in 0..400_000 {
        text.push_str(&format!("{},\"line {}\nand more, of it\"\n", i % 90, i % 7));
    }
    let folder = Folder::with(&[("incrowd.toml", AGES)]);
    folder.write("data", &text);
    let counted = |n: &str| folder.run(&["count", "--threads", n, "--json"]).ends(0).stdout;
    let one = counted("1");
    assert!(one.contains("\"n_records\": 400000") && one == counted("3"), "{one}");
    // The error is the first of the table, whichever thread meets it.
    for bad in [300_000, 20_000] {
        text.insert_str(text.match_indices('\n').nth(2 * bad + 2).expect("a line").0 + 1, "1,2,3\n");
    }
    folder.write("data", &text);
    for n in ["1", "3"] {
        let ran = folder.run(&["count", "--threads", n]).ends(2);
        assert!(ran.stderr.contains("data:40004: has 3 fields where the header has 2"), "{ran}");
    }
}

/// Every cell of a file by column; none where there is no value.
fn cells(name: &str, options: &ReadOptions) -> Vec<(String, Vec<Option<String>>)> {
    cells_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name), options)
}

fn cells_of(path: &Path, options: &ReadOptions) -> Vec<(String, Vec<Option<String>>)> {
    let name = path.display();
    let source = Source::open(path, options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let names = source.column_names();
    let mut columns: Vec<(String, Vec<Option<String>>)> = names.iter().map(|name| (name.clone(), Vec::new())).collect();
    let read = source.for_each(&names, |batch, _| {
        for (column, array) in columns.iter_mut().zip(batch.columns()) {
            let cells = Cells::new("x", array)?;
            let mut text = String::new();
            column.1.extend((0..batch.num_rows()).map(|i| cells.read(i, &mut text).then(|| text.clone())));
        }
        Ok(())
    });
    read.unwrap_or_else(|error| panic!("{name}: {error}"));
    columns
}

/// What pandas reads of the made-up people, as `fixtures/make.py` wrote it down.
fn expected(sex: Option<[&str; 6]>) -> Vec<(String, Vec<Option<String>>)> {
    let text = include_str!("fixtures/people.json");
    let document: serde_json::Value = serde_json::from_str(text).expect("a document");
    let column = |(name, values): (&String, &serde_json::Value)| {
        let values = values.as_array().expect("a list").iter();
        let values = values.map(|value| value.as_str().map(str::to_string)).collect::<Vec<_>>();
        match sex.filter(|_| name == "sex") {
            Some(codes) => (name.clone(), codes.map(|code| Some(code.to_string())).to_vec()),
            None => (name.clone(), values),
        }
    };
    document.as_object().expect("columns").iter().map(column).collect()
}

#[test]
fn sheets_of_excel_and_opendocument_are_read_as_pandas_reads_them() {
    let codes = Some(["2", "2", "2", "1", "1", "9"]);
    for name in ["people.xlsx", "people.ods", "people.xls"] {
        assert_eq!(cells(name, &ReadOptions::default()), expected(codes), "{name}");
    }
    let other = ReadOptions { sheet: Some("other".into()), ..ReadOptions::default() };
    let text = |text: &str| Some(text.to_string());
    let expected = [
        ("code".to_string(), vec![text("007"), text("008")]),
        ("when".to_string(), vec![text("2020-01-01T13:30:00"), text("2020-01-02")]),
    ];
    assert_eq!(cells("people.xlsx", &other), expected);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/people.xlsx");
    let none = ReadOptions { sheet: Some("peopel".into()), ..ReadOptions::default() };
    let error = Source::open(&path, &none).err().expect("there is no such sheet").to_string();
    assert!(error.contains("peopel") && error.contains("people"), "{error}");
}

#[test]
fn files_of_spss_are_read_with_their_labels_dates_and_missing_values() {
    for name in ["people.sav", "people.zsav"] {
        assert_eq!(cells(name, &ReadOptions::default()), expected(None), "{name}");
        let codes = ReadOptions { labels: Labels::Codes, ..ReadOptions::default() };
        let sex = &cells(name, &codes)[2].1;
        assert_eq!(sex[..5], ["2", "2", "2", "1", "1"].map(|code| Some(code.to_string())));
        assert_eq!(sex[5], None, "9 is declared to be missing");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/people.sav");
    let source = Source::open(&path, &ReadOptions::default()).expect("a table");
    let label = source.schema().field_with_name("age").expect("a column").metadata().get("label").cloned();
    assert_eq!(label.as_deref(), Some("age in years"));
}

/// The column of a label, as a file says it.
fn label_of_age(name: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let source = Source::open(&path, &ReadOptions::default()).expect("a table");
    source.schema().field_with_name("age").expect("a column").metadata().get("label").cloned()
}

#[test]
fn files_of_stata_are_read_with_their_labels_dates_and_missing_values() {
    assert_eq!(cells("people.dta", &ReadOptions::default()), expected(None));
    // Older versions do not know every letter, and the oldest no long texts.
    let mut western = expected(None);
    western[0].1[4] = Some("Lukasz".into());
    assert_eq!(cells("people_117.dta", &ReadOptions::default()), western);
    western.pop();
    assert_eq!(cells("people_114.dta", &ReadOptions::default()), western);
    for name in ["people.dta", "people_117.dta", "people_114.dta"] {
        let codes = ReadOptions { labels: Labels::Codes, ..ReadOptions::default() };
        let sex = [Some("2"), Some("2"), Some("2"), Some("1"), Some("1"), None];
        assert_eq!(cells(name, &codes)[2].1, sex.map(|code| code.map(str::to_string)), "{name}");
        assert_eq!(label_of_age(name).as_deref(), Some("age in years"), "{name}");
    }
    let greek = ReadOptions { encoding: Encoding::parse("windows-1253"), ..ReadOptions::default() };
    assert_eq!(cells("people_114.dta", &greek)[0].1[0].as_deref(), Some("Zoι"), "as somebody said");
    assert_eq!(cells("people.dta", &greek), expected(None), "the file says what it is");
    // What had to be guessed is said.
    let folder = Folder::new();
    folder.write("incrowd.toml", AGES.replace("\"data\"", "\"people.dta\""));
    folder.write("people.dta", include_bytes!("fixtures/people_114.dta"));
    assert!(folder.run(&["count"]).ends(0).stderr.contains("read as windows-1252"));
    folder.write("people.dta", include_bytes!("fixtures/people.dta"));
    assert!(!folder.run(&["count"]).ends(0).stderr.contains("read as"));
    folder.write("people.dta", b"\x69\x02\x01\x00\x01\x00");
    let ran = folder.run(&["count"]).ends(2);
    assert!(ran.stderr.contains("Stata before version 6 (format 105)"), "{ran}");
}

#[test]
fn transport_files_of_sas_are_read_with_their_dates_and_missing_values() {
    let mut expected = expected(Some(["2", "2", "2", "1", "1", "9"]));
    expected[5].1[0] = Some("a".repeat(100));
    for name in ["people_5.xpt", "people_8.xpt"] {
        assert_eq!(cells(name, &ReadOptions::default()), expected, "{name}");
        assert_eq!(label_of_age(name).as_deref(), Some("age in years"), "{name}");
    }
    let one = include_bytes!("fixtures/people_5.xpt");
    let member = one[240..].to_vec();
    refused(&[&one[..], &member].concat(), &["people.csv: holds 2 tables"]);
}

#[test]
fn data_sets_of_sas_are_read_in_either_order_of_bytes_and_however_they_are_compressed() {
    let text = |text: &str| Some(text.to_string());
    let expected = [
        ("name".to_string(), vec![text("Zoé"), None, text("Ann             B")]),
        ("age".to_string(), vec![text("31"), text("-0.5"), None]),
        ("born".to_string(), vec![text("1960-01-02"), None, text("2020-02-29")]),
        ("seen".to_string(), vec![text("1960-01-01T00:00:01.500"), text("2020-02-29T12:00:00"), None]),
    ];
    let folder = Folder::new();
    for (is_big, is_wide) in [(false, false), (false, true), (true, false), (true, true)] {
        for packing in [None, Some("SASYZCRL"), Some("SASYZCR2")] {
            folder.write("people.sas7bdat", sas::data_set(is_big, is_wide, packing));
            let read = cells_of(&folder.join("people.sas7bdat"), &ReadOptions::default());
            assert_eq!(read, expected, "{is_big} {is_wide} {packing:?}");
        }
    }
    let whole = sas::data_set(false, true, None);
    // The encoding, which file says by number.
    refused(&[&whole[..70], &[42], &whole[71..]].concat(), &["encoding of SAS that incrowd does not know (number 42)"]);
    let deleted = sas::with_page_kind(whole.clone(), 0x0180);
    refused(&deleted, &["has records that were deleted"]);
    for n in (100..whole.len()).step_by(97) {
        folder.write("cut", &whole[..n]);
        assert!(Source::open(&folder.join("cut"), &ReadOptions::default()).is_err(), "cut at {n}");
    }
}

#[test]
fn damaged_files_of_programs_are_errors() {
    let files =
        ["people.xlsx", "people.ods", "people.xls", "people.sav", "people.zsav", "people.dta", "people_117.dta"];
    for name in files {
        let whole =
            std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).expect("there");
        let folder = Folder::new();
        for n in (100..whole.len()).step_by(97) {
            folder.write("cut", &whole[..n]);
            // A workbook that lost only its end may still be whole where it matters.
            let read = Source::open(&folder.join("cut"), &ReadOptions::default());
            assert!(read.is_err() || name.contains("xls") || name.ends_with("ods"), "{name} cut at {n}");
        }
    }
}

#[test]
fn a_workbook_goes_from_init_to_a_release() {
    let folder = Folder::new();
    folder.write("people.xlsx", include_bytes!("fixtures/people.xlsx"));
    folder.run(&["init", "people.xlsx"]).ends(0);
    folder.write(
        "incrowd.toml",
        "[data]\npath = \"people.xlsx\"\nsheet = \"people\"\n\n[attributes.age]\nrole = \"quasi-identifier\"\n\
         hierarchy = { intervals = [10] }\n\n[attributes.sex]\nrole = \"sensitive\"\n",
    );
    folder.run(&["publish", "--k", "2", "--levels", "age=1", "--max-suppressed", "1", "-o", "out.csv"]).ends(0);
    assert!(folder.read("out.csv").contains("40-49,"), "{}", folder.read("out.csv"));
    folder.run(&["verify", "out.csv"]).ends(0);
}

#[test]
fn a_release_for_spss_or_stata_has_labels_and_keeps_its_promise() {
    let folder = Folder::new();
    let project = "[data]\npath = \"people.sav\"\n\n[attributes.sex]\nrole = \"quasi-identifier\"\n\n\
                   [attributes.age]\nrole = \"quasi-identifier\"\nhierarchy = { intervals = [100] }\n\n\
                   [attributes.born]\nrole = \"other\"\nunique = \"publish\"\ntells = \"accepted\"\n";
    let publish = |output: &str| {
        folder.run(&[
            "publish",
            "--k",
            "2",
            "--levels",
            "sex=0,age=1",
            "--max-suppressed",
            "2",
            "-o",
            output,
            "--force",
        ])
    };
    for source in ["people.sav", "people.dta"] {
        let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(source));
        folder.write(source, bytes.expect("there"));
        folder.write("incrowd.toml", project.replace("people.sav", source));
        publish("out.parquet").ends(0);
        let expected = cells_of(&folder.join("out.parquet"), &ReadOptions::default());
        assert_eq!(expected.len(), 3);
        for output in ["out.sav", "out.dta"] {
            publish(output).ends(0);
            assert_eq!(cells_of(&folder.join(output), &ReadOptions::default()), expected, "{source} to {output}");
            let codes = ReadOptions { labels: Labels::Codes, ..ReadOptions::default() };
            let sex = &cells_of(&folder.join(output), &codes)[1];
            assert_eq!((sex.0.as_str(), sex.1.len()), ("sex", 4));
            assert!(sex.1.iter().all(|code| matches!(code.as_deref(), Some("1" | "2"))), "{sex:?}");
            let release = Source::open(&folder.join(output), &ReadOptions::default()).expect("a release");
            let label = release.schema().field_with_name("born").expect("published").metadata()["label"].clone();
            assert_eq!(label, "date of birth");
            folder.run(&["verify", output]).ends(0);
            folder.run(&["verify", output, "--project", "."]).ends(0);
            let mut bytes = folder.bytes(output);
            publish(output).ends(0);
            assert!(folder.bytes(output) == bytes, "the same bytes again");
            // One record is somebody else.
            let end = memchr::memmem::find(&bytes, b"</data>");
            let at = end.map_or(bytes.len() - 24, |end| end - 4);
            bytes[at] ^= 1;
            folder.write(output, &bytes);
            folder.run(&["verify", output]).ends(1);
        }
    }
    folder.write("people.csv", "age,hours-per-week\n1,2\n1,2\n");
    folder.write(
        "incrowd.toml",
        "[data]\npath = \"people.csv\"\n[attributes.age]\nrole = \"quasi-identifier\"\n\
         [attributes.hours-per-week]\nrole = \"quasi-identifier\"\n",
    );
    for (output, program) in [("new.sav", "SPSS"), ("new.dta", "Stata")] {
        let ran = folder.run(&["publish", "--k", "2", "-o", output]).ends(2);
        assert!(ran.stderr.contains(&format!("'hours-per-week' cannot be the name of a column in {program}")), "{ran}");
        assert!(!folder.has(output));
    }
}

/// Programs that number their records give that column no name.
#[test]
fn a_column_without_a_name_is_called_by_its_place() {
    let rows: String = (0..40).map(|i| format!("{i},{},{}\n", 30 + i % 4, ["f", "m"][i % 2])).collect();
    let folder = Folder::with(&[("people.csv", &format!(",age,sex\n{rows}"))]);
    folder.run(&["init", "people.csv"]).ends(0);
    let project = folder.read("incrowd.toml");
    // Nobody can say what it is: it is named, and left out of a release.
    assert!(project.contains("\n# [attributes.\"column 1\"]"), "{project}");
    let counted = folder.run(&["count", "--json"]).ends(0).json();
    assert_eq!(counted["n_records"], 40);
}
