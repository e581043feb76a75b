//! Files as people have them: what they are by their bytes, how they are written, and that all of them count the same.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray, Time32SecondArray};
use incrowd::table::Cells;
use incrowd_workbench::input::source::{Labels, ReadOptions, Source};
use parquet::arrow::ArrowWriter;
use parquet::basic::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::support;
use support::{Folder, Ran};

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
    refused(b"PK\x03\x04 word/document.xml", &["is a zip archive", "unpack it"]);
    refused(b"<!DOCTYPE html><html>", &["is a web page"]);
    refused(b"SQLite format 3\0\x10\x00", &["is an SQLite database"]);
    refused(b"\x7fELF\x02\x01\x00\x00\x00", &["is no table"]);
    refused(&gzip(TABLE.as_bytes())[..60], &["cannot be unpacked", "damaged or cut off"]);
    refused(&gzip(&gzip(b"a")), &["is compressed twice"]);
    let sas =
        [&[0; 12][..], b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00\x09\xc7\x31\x8c\x18\x1f\x10\x11"].concat();
    refused(&sas, &["is a data set of SAS"]);
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    let source = Source::open(&path, options).unwrap_or_else(|error| panic!("{name}: {error}"));
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

#[test]
fn damaged_files_of_programs_are_errors() {
    for name in ["people.xlsx", "people.ods", "people.xls", "people.sav", "people.zsav"] {
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
