//! Sheets of Excel and OpenDocument: the first row names the columns.

use calamine::{Data, Range, Reader, Sheets, open_workbook_auto_from_rs};
use incrowd::error::unknown;
use incrowd::table::date_text;
use incrowd::{Error, ErrorKind};

use super::held::{Held, ReadTable, damaged, moment_text, number_text, time_text};
use super::options::ReadOptions;
use super::parquet::guarded_as;
use super::said::Said;
use super::stream::{Bytes, FilePlace};
use crate::note::Note;
use crate::sentences::hint;

const WORKBOOK: &str = "a workbook";

pub(super) fn open(place: &FilePlace, options: &ReadOptions) -> ReadTable {
    let path = &place.path;
    let bytes = place.bytes()?;
    guarded_as(WORKBOOK, path, || {
        let mut workbook: Sheets<Bytes> = open_workbook_auto_from_rs(bytes).map_err(|error| {
            match error.to_string().to_lowercase().contains("password") {
                true => Error::new(ErrorKind::Data, "is protected by a password")
                    .at(path.display().to_string())
                    .hint("open it and save it without one"),
                false => damaged(WORKBOOK, path),
            }
        })?;
        let names = workbook.sheet_names();
        let position = path.display().to_string();
        let mut read = |name: &str| workbook.worksheet_range(name).map_err(|_| damaged(WORKBOOK, path));
        if let Some(name) = &options.sheet {
            if !names.contains(name) {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                return Err(unknown(ErrorKind::Data, "sheet", name, &names).at(position));
            }
            return table(&read(name)?, &format!("{position}, sheet '{name}'"));
        }
        for name in &names {
            let range = read(name)?;
            if !range.is_empty() {
                let mut table = table(&range, &format!("{position}, sheet '{name}'"))
                    .map_err(|error| if names.len() > 1 { or_another(error, &names) } else { error })?;
                if names.len() > 1 {
                    table.notes.push(Note::Sheet { sheet: name.clone(), n_sheets: names.len() as u64 });
                }
                return Ok(table);
            }
        }
        Err(Error::new(ErrorKind::Data, "all sheets are empty")
            .at(position)
            .hint("a table begins with a row of column names"))
    })
}

fn table(range: &Range<Data>, position: &str) -> ReadTable {
    let mut rows = range.rows().enumerate().skip_while(|(_, row)| row.iter().all(is_blank));
    let Some((first, header)) = rows.next() else {
        return Err(Error::new(ErrorKind::Data, "is empty")
            .at(position)
            .hint("a table begins with a row of column names"));
    };
    // Columns without anything in them are what spreadsheets have beside a table.
    let is_used = |column: &usize| range.rows().any(|row| !is_blank(&row[*column]));
    let used: Vec<usize> = (0..header.len()).filter(is_used).collect();
    // Programs write a number for every record, and no name for it.
    let is_numbered = used.len() > 1 && used.iter().all(|&column| is_blank(&header[column]) == (column == used[0]));
    let line = |row: usize| row + 1 + range.start().map_or(0, |(row, _)| row as usize);
    let mut columns = Vec::new();
    for &column in &used {
        let name = match is_numbered && column == used[0] {
            true => "column 1".to_string(),
            false => text_of(&header[column]).unwrap_or_default().trim().to_string(),
        };
        if name.is_empty() {
            let letters = letters(column + range.start().map_or(0, |(_, column)| column as usize));
            return Err(Error::new(ErrorKind::Data, format!("column {letters} has no name"))
                .at(format!("{position}, row {}", line(first)))
                .hint("the first row must name every column; delete titles and notes above and beside the table"));
        }
        columns.push((name, Said::default()));
    }
    let mut held = Held::new(columns);
    for (_, row) in rows.filter(|(_, row)| !row.iter().all(is_blank)) {
        for (place, &column) in used.iter().enumerate() {
            held.push(place, text_of(&row[column]).as_deref());
        }
        held.end_record();
    }
    Ok(held.finish())
}

/// The error of a sheet that nobody asked for, with those that may have been meant.
fn or_another(error: Error, names: &[String]) -> Error {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    let sheets = format!(": {}", quoted.join(", "));
    error.hint(
        hint(
            "the first row must name every column: delete titles and notes above and beside the table, or name another \
             sheet with {sheet} of init and {data.sheet} of a project",
        )
        .and(sheets),
    )
}

fn is_blank(cell: &Data) -> bool {
    match cell {
        Data::Empty => true,
        Data::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A cell as people see it; none where it is empty, or an error such as #DIV/0!.
fn text_of(cell: &Data) -> Option<String> {
    Some(match cell {
        Data::Empty | Data::Error(_) => return None,
        // Some programs write an empty text where others write nothing.
        Data::String(text) if text.is_empty() => return None,
        Data::Int(number) => number.to_string(),
        Data::Float(number) => number_text(*number),
        Data::Bool(is_true) => is_true.to_string(),
        Data::String(text) => text.clone(),
        Data::DateTimeIso(text) => text.strip_suffix("T00:00:00").unwrap_or(text).to_string(),
        Data::DurationIso(text) => text.clone(),
        Data::DateTime(moment) if moment.is_duration() => time_text(moment.as_f64() * 86_400.0),
        Data::DateTime(moment) => {
            let (year, month, day, hour, minute, second, _) = moment.to_ymd_hms_milli();
            let days = incrowd::table::days_of_date(i32::from(year), u32::from(month), u32::from(day));
            let seconds = 3600 * u32::from(hour) + 60 * u32::from(minute) + u32::from(second);
            match (moment.as_f64() < 1.0, seconds) {
                // Before the first day there are only times.
                (true, seconds) => time_text(f64::from(seconds)),
                (_, 0) => date_text(days),
                (_, seconds) => moment_text(days, f64::from(seconds)),
            }
        }
    })
}

/// A column as spreadsheets call it: `A`, `Z`, `AA`.
fn letters(column: usize) -> String {
    let letter = char::from(b'A' + (column % 26) as u8);
    if column < 26 { letter.to_string() } else { format!("{}{letter}", letters(column / 26 - 1)) }
}
