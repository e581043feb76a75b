//! From counts, or from a second reading: the rows of the release, in order, in a file that has no name yet.

use std::collections::HashMap;
use std::path::Path;

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use incrowd::recode::Recoding;
use incrowd::release::{Alike, Column, Publisher, Row, are_counted};
use incrowd::table::{Cells, Code, Domain, Kind};
use incrowd::verify::{Labels, PeopleVerifier};
use incrowd::{Error, ErrorKind, GroupCounts, Missing, Result, Role};

use super::beside::Bystanders;
use super::draft::Draft;
use crate::input::count::{Counted, needed_columns};
use crate::input::notation::{Notation, as_number, is_number};
use crate::input::project::Project;
use crate::input::source::{Replaced, Said, Top};
use crate::input::tally::hash_bytes;
use crate::note::Beside;
use crate::output::columns::{TypedColumn, kept_type, type_of_kind};
use crate::output::sink::{Format, Sink};
use crate::output::sorted::Sorter;
use crate::output::staged::Staged;
use crate::output::uniques::Uniques;
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// A release that is written but has no name yet.
pub struct Written {
    pub staged: Staged,
    pub columns: Vec<Column>,
    /// How it says what the table says.
    pub notation: Notation,
    /// The column that says how many records a row of the file is, where rows are not records.
    pub number: Option<String>,
    pub n_suppressed: u64,
    pub n_published: u64,
    /// Whose records went by, where the project says whose they are.
    pub people: Option<PeopleVerifier>,
    /// What the columns that are published as they are tell beside the promise.
    pub beside: Vec<Beside>,
    /// What was replaced while the table was read.
    pub replaced: Vec<Replaced>,
    pub tops: Vec<Top>,
}

/// How much is sorted in memory before it goes to disk: of published records, and of those that wait for their group.
const N_SORT_BYTES: usize = 384 << 20;
const N_WAITING_BYTES: usize = 128 << 20;

/// Writes the rows of a release: from the counts where all that is published was counted, else from the records, which are
/// read a second time.
///
/// # Guarantee
/// Both ways give the same bytes, refusals and notes, where both can be gone.
pub fn write_release(
    project: &Project,
    counted: &Counted,
    draft: &Draft,
    format: Format,
    columns: Vec<Column>,
    number: Option<String>,
    output: &Path,
    work: &Work,
) -> Result<Written> {
    let recoding = draft.recoding;
    // Whose record it is stands behind what is published, until it is written.
    let person: Vec<String> = project.person().into_iter().map(str::to_string).collect();
    let mut watched = (!person.is_empty()).then(|| Watched::new(counted, project, &columns, &person));
    let columns_and_person: Vec<Column> =
        columns.iter().cloned().chain(watched.is_some().then(|| Column::Person(person.clone()))).collect();
    let staged = Staged::create(output)?;
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut sorter = Sorter::new(folder, N_SORT_BYTES);
    let counts = draft.way.counts(counted);
    let is_from_counts = are_counted(&columns_and_person, counted.counts_as_read()) && !work.reads_again();
    let mut publisher = Publisher::new(counts, recoding, &project.missing, columns_and_person);
    if format.writes_missing_as_text() {
        publisher = publisher.writing_missing_as(project.missing.label());
    }
    // Texts from CSV get their types from all that is published.
    let is_counted: Vec<bool> =
        columns.iter().map(|column| is_counted(counted, source_name(counted, column))).collect();
    let mut kinds = (format == Format::Parquet && counted.source.is_text()).then(|| Kinds::new(&is_counted));
    let mut uniques = Uniques::new(project, &columns);
    let mut bystanders = Bystanders::new(counted, recoding, draft.criteria, &uniques);
    let mut n_published = 0;
    let take = |Alike { row, origin, n_records }: Alike| {
        if let Some(kinds) = &mut kinds {
            kinds.see(&row.cells()[..is_counted.len()]);
        }
        let person = || row.encoded().last().flatten().map(hash_bytes);
        bystanders.see(origin, uniques.see(&row, n_records), n_records, person);
        n_published += n_records;
        sorter.push(row, n_records)
    };
    match is_from_counts {
        true => from_counts(counted, &mut publisher, watched.as_mut(), take, work)?,
        false => {
            let names = columns.iter().map(|column| source_name(counted, column));
            let names = names.chain(person.iter().map(String::as_str));
            let needed = needed_columns(&counted.source, names, &project.missing);
            from_records(counted, &needed, folder, &mut publisher, watched.as_mut(), take, work)?;
        }
    }
    publisher.finish()?;
    counted.tell_more(work);
    uniques.check()?;
    let beside = bystanders.check(project, &uniques, work)?;
    let typed = typed_columns(counted, recoding, &columns, kinds.as_ref());
    let missing = format.writes_missing_as_text().then(|| project.missing.label().to_string());
    let types = typed.iter().map(|column| (column.name.as_str(), &column.data_type));
    let notation = Notation::of_columns(missing, types);
    if let Some(kinds) = kinds.filter(|kinds| !kinds.are_said_as_written(&typed)) {
        sorter = sorted_as_said(sorter, &typed, &notation, folder)?;
        if let Some(watched) = &mut watched {
            watched.reading_back(&typed, kinds);
        }
    }
    let numbered = number.iter().map(|name| TypedColumn::number(name));
    let in_file: Vec<TypedColumn> = typed.into_iter().chain(numbered).collect();
    let mut sink = Sink::new(staged.file(), output, format, &in_file)?;
    work.stage("writing", n_published, Unit::Records, |task| {
        // Rows of different people may say the same.
        let mut open: Option<(Row, u64)> = None;
        let as_numbered =
            |(row, n_records): (Row, u64)| Row::new(row.cells().into_iter().chain([Some(n_records.to_string())]));
        sorter.for_each(|row, n_records| {
            let row = match &mut watched {
                Some(watched) => watched.see_published(&row, n_records),
                None => row,
            };
            if number.is_some() {
                task.go_on()?;
                (task.progress)(n_records);
                return match &mut open {
                    Some((known, n)) if *known == row => Ok(*n += n_records),
                    _ => open.replace((row, n_records)).map_or(Ok(()), |done| sink.write(&as_numbered(done), 1)),
                };
            }
            let mut n_left = n_records;
            while n_left > 0 {
                task.go_on()?;
                let n = n_left.min(N_AT_ONCE);
                sink.write(&row, n)?;
                (task.progress)(n);
                n_left -= n;
            }
            Ok(())
        })?;
        open.map_or(Ok(()), |done| sink.write(&as_numbered(done), 1))
    })?;
    sink.finish()?;
    let n_suppressed = publisher.n_suppressed();
    let people = watched.map(|watched| watched.verifier);
    let replaced = counted.source.replaced().into_iter().cloned().collect();
    let tops = counted.source.tops();
    Ok(Written { staged, columns, notation, number, n_suppressed, n_published, people, beside, replaced, tops })
}

/// So many equal records are written before somebody is asked whether they are still wanted.
const N_AT_ONCE: u64 = 100_000;

/// The published records of the counts.
fn from_counts(
    counted: &Counted,
    publisher: &mut Publisher,
    watched: Option<&mut Watched>,
    mut take: impl FnMut(Alike) -> Result<()>,
    work: &Work,
) -> Result<()> {
    counted.source.check_same()?;
    let as_read = counted.counts_as_read();
    if let Some(watched) = watched {
        watched.see_counts(as_read);
    }
    work.stage("publishing", as_read.n_records(), Unit::Records, |task| {
        publisher.recode_counts(as_read, |alike| {
            task.go_on()?;
            (task.progress)(alike.n_records);
            take(alike)
        })
    })
}

/// The published records of a second reading, for columns that were not counted.
fn from_records(
    counted: &Counted,
    needed: &[String],
    folder: &Path,
    publisher: &mut Publisher,
    mut watched: Option<&mut Watched>,
    mut take: impl FnMut(Alike) -> Result<()>,
    work: &Work,
) -> Result<()> {
    let mut waiting = Sorter::new(folder, N_WAITING_BYTES);
    work.stage("publishing", counted.source.n_bytes(), Unit::Bytes, |task| {
        let mut visit = |batch: RecordBatch, numbers: Option<Vec<u64>>, n_bytes: u64| {
            task.go_on()?;
            if let Some(watched) = &mut watched {
                watched.see_table(&batch)?;
            }
            let recoded = match numbers {
                Some(numbers) => publisher.recode_counted(&batch, &numbers)?,
                None => publisher.recode(&batch)?,
            };
            let rows = recoded.rows.into_iter().zip(recoded.origins).zip(recoded.n_records);
            rows.map(|((row, origin), n_records)| Alike { row, origin, n_records }).try_for_each(&mut take)?;
            let mut all_waiting = recoded.waiting.into_iter().zip(recoded.n_waiting);
            all_waiting.try_for_each(|(row, n_records)| waiting.push(row, n_records))?;
            (task.progress)(n_bytes);
            Ok(())
        };
        match work.reads_again() {
            true => counted.source.for_each(needed, |batch, n_bytes| visit(batch, None, n_bytes))?,
            // Rows that stand for several records stay what they are.
            false => counted.source.for_each_numbered(needed, visit)?,
        }
        waiting.for_each(|row, n_records| {
            task.go_on()?;
            match work.reads_again() {
                true => (0..n_records).try_for_each(|_| {
                    let settled = publisher.settle(&row)?;
                    settled.map_or(Ok(()), |(row, origin)| take(Alike { row, origin, n_records: 1 }))
                }),
                false => publisher.settle_many(&row, n_records, &mut take),
            }
        })
    })
}

/// Whose records go by: what is promised to people is judged by this, and not by what the release was made of.
struct Watched {
    verifier: PeopleVerifier,
    missing: Missing,
    person: Vec<String>,
    /// The names of the sensitive attributes, and their places among the published columns.
    sensitive: Vec<(String, usize)>,
    /// By sensitive attribute, what its values are counted as, where that is not themselves.
    labels: Vec<Option<Labels>>,
    /// By sensitive attribute, how the table writes what rows say, where they say it otherwise.
    as_written: Vec<HashMap<String, String>>,
    /// The places of the columns that someone could be found by, and how many columns there are.
    identifying: Vec<usize>,
    n_columns: usize,
}

impl Watched {
    fn new(counted: &Counted, project: &Project, columns: &[Column], person: &[String]) -> Watched {
        let names = identifying_columns(counted, columns);
        let place = |name: &str| columns.iter().position(|column| column.name() == name).expect("it is published");
        Watched {
            verifier: PeopleVerifier::new(counted.sensitive.len()),
            missing: project.missing.clone(),
            person: person.to_vec(),
            sensitive: counted.sensitive_names().into_iter().map(|name| (name.clone(), place(&name))).collect(),
            labels: counted.labels(&Notation::default()),
            as_written: vec![HashMap::new(); counted.sensitive.len()],
            identifying: names.iter().map(|name| place(name)).collect(),
            n_columns: columns.len(),
        }
    }

    /// Looks at the records of the table, but for those that are dropped.
    fn see_table(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut keep = vec![true; batch.num_rows()];
        if self.missing.drop_records {
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                self.missing.mark_dropped(field.name(), column, &mut keep)?;
            }
        }
        let cells = |name: &str| {
            let column = batch.column_by_name(name).expect("the columns were read by name");
            Cells::new(name, column)
        };
        let person = self.person.iter().map(|name| cells(name)).collect::<Result<Vec<Cells>>>()?;
        let sensitive = self.sensitive.iter().map(|(name, _)| cells(name)).collect::<Result<Vec<Cells>>>()?;
        let (mut who, mut text) = (String::new(), String::new());
        for i in (0..batch.num_rows()).filter(|i| keep[*i]) {
            who.clear();
            for cells in &person {
                cells.read(i, &mut text);
                match person.len() {
                    1 => who.push_str(&text),
                    // As the engine writes several as one.
                    _ => who.push_str(&format!("{}:{text} ", text.len())),
                }
            }
            let (missing, labels) = (&self.missing, &self.labels);
            let values = sensitive.iter().zip(labels).map(|(cells, labels)| {
                let is_there = cells.read(i, &mut text) && !missing.is_token(&text);
                labelled(is_there.then(|| text.clone()), labels)
            });
            self.verifier.see_original(&who, values);
        }
        Ok(())
    }

    /// The same of the records that were counted; equal ones of the same person are one to it.
    fn see_counts(&mut self, as_read: &GroupCounts) {
        let text = |domain: &Domain, code: Code| {
            (domain.missing() != Some(code)).then(|| domain.values()[code.index()].clone())
        };
        for (_, codes, who, _) in as_read.records_of_people().expect("it was counted whose they are") {
            let values = as_read.sensitive().iter().zip(codes).map(|(domain, code)| text(domain, *code));
            let values = values.zip(&self.labels).map(|(value, labels)| labelled(value, labels));
            self.verifier.see_original(who, values);
        }
    }

    /// Takes sensitive values that rows say as a file with these types does for those of the table, which it has seen.
    fn reading_back(&mut self, typed: &[TypedColumn], kinds: Kinds) {
        for ((_, place), as_written) in self.sensitive.iter().zip(&mut self.as_written) {
            if let Some(written) = kinds.written[*place].as_ref().filter(|_| is_number(&typed[*place].data_type)) {
                *as_written = written.values().map(|text| (as_number(text), text.clone())).collect();
            }
        }
    }

    /// Looks at so many equal published records with whose they are, and leaves that out.
    fn see_published(&mut self, row: &Row, n_records: u64) -> Row {
        let mut cells = row.cells();
        let who = cells.pop().flatten().expect("every record is somebody's");
        assert_eq!(cells.len(), self.n_columns, "whose record it is stands behind all columns");
        let values: Vec<Option<String>> = self
            .sensitive
            .iter()
            .zip(self.labels.iter().zip(&self.as_written))
            .map(|((_, place), (labels, as_written))| {
                let said = cells[*place].clone().filter(|text| !self.missing.is_token(text));
                labelled(said.map(|text| as_written.get(&text).cloned().unwrap_or(text)), labels)
            })
            .collect();
        let identifying = self.identifying.iter().map(|place| cells[*place].clone()).collect();
        self.verifier.see_published_times(identifying, &who, values.into_iter(), n_records);
        Row::new(cells)
    }
}

/// What a value is counted as.
fn labelled(value: Option<String>, labels: &Option<Labels>) -> Option<String> {
    match labels.as_ref().and_then(|labels| labels.get(&value)) {
        Some(label) => label.clone(),
        None => value,
    }
}

/// The same rows in the order of what the file says: a number `1.50` is read back as `1.5`.
fn sorted_as_said(sorter: Sorter, typed: &[TypedColumn], notation: &Notation, folder: &Path) -> Result<Sorter> {
    let mut again = Sorter::new(folder, N_SORT_BYTES);
    sorter.for_each(|row, n_records| {
        let said = |(i, cell): (usize, Option<String>)| match typed.get(i) {
            Some(column) => cell.map(|text| notation.text(&column.name, &text)),
            // Whose record it is.
            None => cell,
        };
        again.push(Row::new(row.cells().into_iter().enumerate().map(said)), n_records)
    })?;
    Ok(again)
}

/// The columns of the release, in the order of the table.
pub fn published_columns(project: &Project, counted: &Counted, in_two_columns: &[bool]) -> Result<Vec<Column>> {
    let column = |name: String| {
        let index = counted.quasi_identifiers.iter().position(|attribute| attribute.name == name);
        if let Some(index) = index {
            return match in_two_columns[index] {
                true => {
                    vec![Column::Low(index, format!("{name}_low")), Column::High(index, format!("{name}_high"))]
                }
                false => vec![Column::Recoded(index, name)],
            };
        }
        let attribute = project.attributes.iter().find(|attribute| attribute.name == name);
        match attribute.map(|attribute| attribute.role) {
            Some(Role::Identifier | Role::Person) => vec![],
            // Left out of this run with --quasi-identifiers: nobody vouches for it, so it is not published.
            Some(Role::QuasiIdentifier) => vec![],
            Some(Role::Sensitive | Role::Other) => vec![Column::Kept(name)],
            None if project.keep_other => vec![Column::Kept(name)],
            None => vec![],
        }
    };
    let columns: Vec<Column> = counted.source.column_names().into_iter().flat_map(column).collect();
    let mut names: Vec<&str> = columns.iter().map(Column::name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::new(ErrorKind::Request, format!("two columns would be called '{}'", pair[0]))
            .hint(hint("leave out {two_columns}, or rename the column in the data"))),
        None => Ok(columns),
    }
}

/// The column of the table that a column of the release is made of.
fn source_name<'a>(counted: &'a Counted, column: &'a Column) -> &'a str {
    match column {
        Column::Low(a, _) | Column::High(a, _) => &counted.quasi_identifiers[*a].name,
        Column::Recoded(_, name) | Column::Kept(name) => name,
        Column::Person(names) => &names[0],
    }
}

/// The columns of the release that someone could be found by.
pub fn identifying_columns(counted: &Counted, columns: &[Column]) -> Vec<String> {
    let of_attribute = |attribute: usize| {
        columns.iter().filter(move |column| match column {
            Column::Recoded(a, _) | Column::Low(a, _) | Column::High(a, _) => *a == attribute,
            Column::Kept(_) | Column::Person(_) => false,
        })
    };
    (0..counted.hierarchies.len()).flat_map(of_attribute).map(|column| column.name().to_string()).collect()
}

/// What the texts of each column have in common.
struct Kinds {
    kinds: Vec<Option<Kind>>,
    all_are_plain_dates: Vec<bool>,
    /// Whether every number fits a decimal of the computer without loss.
    all_are_short: Vec<bool>,
    /// Of columns that groups are made of, by number, how it is written.
    written: Vec<Option<HashMap<u64, String>>>,
    /// Whether a number of such a column is written in two ways.
    is_ambiguous: Vec<bool>,
    /// Whether every text would be the same if it were read as a number and written again.
    all_are_numbers_as_written: Vec<bool>,
}

impl Kinds {
    /// Says of each column whether groups are made of it.
    fn new(is_counted: &[bool]) -> Kinds {
        let n_columns = is_counted.len();
        Kinds {
            kinds: vec![None; n_columns],
            all_are_plain_dates: vec![true; n_columns],
            all_are_short: vec![true; n_columns],
            written: is_counted.iter().map(|is_counted| is_counted.then(HashMap::new)).collect(),
            is_ambiguous: vec![false; n_columns],
            all_are_numbers_as_written: vec![true; n_columns],
        }
    }

    fn see(&mut self, cells: &[Option<String>]) {
        for (i, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let kind = Kind::of(cell);
            self.kinds[i] = Some(self.kinds[i].map_or(kind, |known| known.join(kind)));
            self.all_are_plain_dates[i] &= cell.len() == 10;
            self.all_are_short[i] &= cell.bytes().filter(u8::is_ascii_digit).count() <= 15;
            self.all_are_numbers_as_written[i] &= !kind.is_numeric() || as_number(cell) == *cell;
            if !matches!(kind, Kind::Integer | Kind::Number) {
                continue;
            }
            let (Some(written), Ok(number)) = (&mut self.written[i], cell.parse::<f64>()) else { continue };
            // 0 and -0 are one number.
            let known = written.entry((number + 0.0).to_bits()).or_insert_with(|| cell.clone());
            self.is_ambiguous[i] |= known != cell;
        }
    }

    /// Whether a file with these types says all texts as they are.
    fn are_said_as_written(&self, typed: &[TypedColumn]) -> bool {
        let mut columns = typed.iter().zip(&self.all_are_numbers_as_written);
        columns.all(|(column, are_same)| *are_same || !is_number(&column.data_type))
    }
}

fn is_counted(counted: &Counted, name: &str) -> bool {
    counted.counts.domains().iter().chain(counted.counts.sensitive()).any(|domain| domain.name() == name)
}

fn typed_columns(
    counted: &Counted,
    recoding: &Recoding,
    columns: &[Column],
    kinds: Option<&Kinds>,
) -> Vec<TypedColumn> {
    let typed = |(i, column): (usize, &Column)| {
        let is_text = matches!(column, Column::Recoded(a, _) if !recoding.is_exact(*a));
        let name = source_name(counted, column);
        let field = counted.source.schema().field_with_name(name).expect("columns come from the schema");
        let data_type = match kinds {
            _ if is_text => DataType::Utf8,
            // Groups are told apart by what is written: 1 and 1.0 are two values, and one number.
            Some(kinds) if kinds.is_ambiguous[i] => DataType::Utf8,
            Some(kinds) if kinds.kinds[i] == Some(Kind::Number) && !kinds.all_are_short[i] => DataType::Utf8,
            Some(kinds) => type_of_kind(kinds.kinds[i].unwrap_or(Kind::Text), kinds.all_are_plain_dates[i]),
            None => kept_type(field.data_type()),
        };
        TypedColumn { name: column.name().to_string(), data_type, said: Said::of(field) }
    };
    columns.iter().enumerate().map(typed).collect()
}
