//! One reading of a source: what is to be read, handed out in the order of the table to whichever thread asks for it.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::RecordBatch;
use incrowd::{Error, Result};
use rayon::prelude::*;

use super::chunks::{Chunk, Chunks};
use super::counted::expanded;
use super::csv::CsvFile;
use super::lines::{Different, Lines};
use super::records::{self, Layout};
use super::replace::{self, Coarse, ReplacedCells};
use super::stream::Stream;
use super::{Filter, Part, Source, n_bytes_of, names};
use crate::input::database::Presence;

/// A result whose error has its place in the table.
type Placed<T> = std::result::Result<T, (usize, Error)>;

/// What is left to be read.
pub(super) struct Feed<'a> {
    source: &'a Source,
    columns: &'a [String],
    /// What is published of columns that are published coarser.
    coarse: Arc<Vec<Option<Coarse>>>,
    /// Whether a database gives combinations with how many records each is, and of which columns values do not matter.
    grouped: Option<Presence<'a>>,
    tally: ReplacedCells,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    part: usize,
    /// The next row group or piece of a part that has such.
    piece: usize,
    /// The CSV file that is being read.
    chunks: Option<(Chunks<Stream>, Arc<Layout>)>,
    n_bytes_read: u64,
    /// How much was handed out, to know which of several errors comes first in the table.
    n_given: usize,
    is_over: bool,
}

/// Something to read.
pub(super) struct Job {
    order: usize,
    pub part: usize,
    what: What,
}

impl Job {
    /// The piece of CSV that it is, if it is one.
    pub fn chunk(&self) -> Option<&Chunk> {
        match &self.what {
            What::Chunk { chunk, .. } => Some(chunk),
            What::Piece(_) => None,
        }
    }
}

enum What {
    Chunk { chunk: Chunk, layout: Arc<Layout>, n_bytes: u64 },
    Piece(usize),
}

impl<'a> Feed<'a> {
    /// A reading that shows what is known of columns that are published coarser: everything, once that was looked at.
    pub fn new(source: &'a Source, columns: &'a [String]) -> Feed<'a> {
        let (coarse, tally) = (source.coarse(), ReplacedCells::new(&source.replacements));
        Feed { source, columns, coarse, grouped: None, tally, state: Mutex::default() }
    }

    /// The same with what a database has counted.
    fn grouped(source: &'a Source, columns: &'a [String], presence: Presence<'a>) -> Feed<'a> {
        Feed { grouped: source.is_grouped().then_some(presence), ..Feed::new(source, columns) }
    }

    /// A batch as it is to be seen.
    fn made(&self, batch: RecordBatch) -> Result<RecordBatch> {
        self.made_of(batch, None)
    }

    /// The same of rows with how many records each is.
    fn made_of(&self, batch: RecordBatch, n_times: Option<&[u64]>) -> Result<RecordBatch> {
        let batch = self.source.rewriting.apply(batch)?;
        let is_numbered = |name: &String| batch.schema_ref().column_with_name(name).is_some();
        let numbers = match self.source.number().filter(|name| is_numbered(name)) {
            // A number that is none is told by whoever asks for the numbers.
            Some(_) if !self.source.replacements.is_empty() => self.source.split_numbers(&batch, 0).ok(),
            _ => None,
        };
        let numbers = n_times.or(numbers.as_ref().map(|(_, numbers)| numbers.as_slice()));
        replace::apply(&self.source.replacements, &self.coarse, batch.clone(), numbers, &self.tally)
    }

    /// Everything was read: how many cells were replaced is known now.
    fn finish(&self) {
        let replaced = self.tally.finish(&self.source.replacements, self.columns);
        for (known, replaced) in self.source.replaced.iter().zip(replaced) {
            if let Some(replaced) = replaced {
                known.get_or_init(|| replaced);
            }
        }
    }

    /// The next thing to read; with an error, where in the table it is.
    pub fn next(&self) -> Placed<Option<Job>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let what = if state.is_over { Ok(None) } else { self.advance(&mut state) };
        let order = state.n_given;
        state.n_given += 1;
        match what {
            Ok(Some((part, what))) => Ok(Some(Job { order, part, what })),
            Ok(None) => Ok(None),
            Err(error) => {
                state.is_over = true;
                Err((order, error))
            }
        }
    }

    /// Nobody needs the rest.
    fn stop(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
    }

    fn advance(&self, state: &mut State) -> Result<Option<(usize, What)>> {
        while let Some(part) = self.source.parts.get(state.part) {
            let n_pieces = match part {
                Part::Csv(file) => match self.next_chunk(file, state)? {
                    Some(what) => return Ok(Some((state.part, what))),
                    None => 0,
                },
                Part::Parquet(file) => file.n_row_groups(),
                Part::Held { pieces, .. } => pieces.len(),
                Part::Database(_) => 1,
            };
            if state.piece < n_pieces {
                state.piece += 1;
                return Ok(Some((state.part, What::Piece(state.piece - 1))));
            }
            (state.part, state.piece) = (state.part + 1, 0);
        }
        Ok(None)
    }

    fn next_chunk(&self, file: &CsvFile, state: &mut State) -> Result<Option<What>> {
        if state.chunks.is_none() {
            let layout = Arc::new(file.layout(&self.source.stored, self.columns));
            (state.chunks, state.n_bytes_read) = (Some((file.chunks(self.source.is_hashed)?, layout)), 0);
        }
        let (chunks, layout) = state.chunks.as_mut().expect("it was just opened");
        match chunks.next().map_err(|broken| file.broken(broken))? {
            Some(chunk) => {
                let n_read = chunks.inner().n_read();
                let n_bytes = n_read - std::mem::replace(&mut state.n_bytes_read, n_read);
                Ok(Some(What::Chunk { chunk, layout: layout.clone(), n_bytes }))
            }
            None => {
                let hash = chunks.inner().sha256().map_err(|error| crate::io_error(&file.place.path, error))?;
                state.chunks = None;
                match hash {
                    Some(hash) => self.source.remember(state.part, hash)?,
                    // Whatever was read is of the file that was opened, as far as its times and size tell.
                    None => file.place.check()?,
                }
                Ok(None)
            }
        }
    }

    /// The batches of a piece of CSV.
    fn parse(&self, part: usize, chunk: &Chunk, layout: &Layout) -> Result<Vec<RecordBatch>> {
        let Part::Csv(file) = &self.source.parts[part] else { unreachable!("only CSV is cut into pieces") };
        let read = records::read(&chunk.bytes, chunk.n_lines, chunk.index == 0, layout);
        read.map_err(|bad| file.bad(chunk, &bad, &names(&self.source.stored)))
    }

    /// Reads what is to be read.
    pub fn read(&self, job: &Job, visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>) -> Result<()> {
        let mut visit = |batch, n_bytes| visit(self.made(batch)?, n_bytes);
        match (&job.what, &self.source.parts[job.part]) {
            (What::Chunk { chunk, layout, n_bytes }, _) => {
                visit_all(self.parse(job.part, chunk, layout)?, *n_bytes, &mut visit)
            }
            (What::Piece(row_group), Part::Parquet(file)) => {
                // Before and after: whatever was read in between is of the file that was opened.
                file.place.check()?;
                let read = file.read(*row_group, self.columns, &mut visit);
                file.place.check()?;
                read
            }
            (What::Piece(piece), Part::Held { pieces, .. }) => {
                let batch = &pieces[*piece];
                let wanted = |index: &usize| self.columns.contains(batch.schema_ref().field(*index).name());
                let indices: Vec<usize> = (0..batch.num_columns()).filter(wanted).collect();
                let projected = batch.project(&indices).expect("the indices are those of its columns");
                visit(projected, n_bytes_of(batch, batch.num_rows()))
            }
            (What::Piece(_), Part::Database(table)) => match self.grouped {
                Some(presence) => table.groups(self.columns, presence, |batch| visit(batch, 0)),
                None => table.rows(self.columns, |batch| visit(batch, 0)),
            },
            (What::Piece(_), Part::Csv(_)) => unreachable!("CSV is cut into pieces"),
        }
    }
}

/// Lines of CSV that one thread knows, while it counts.
struct Counting<'a> {
    feed: &'a Feed<'a>,
    lines: Lines,
    /// The file that they are of, and where its columns are.
    of: Option<(usize, Arc<Layout>)>,
}

impl Counting<'_> {
    /// Counts the lines of a piece that are known, and reads the others; false where it is to be read in another way.
    fn counts(&mut self, job: &Job, visit: &mut impl FnMut(RecordBatch, Vec<u64>, u64) -> Result<()>) -> Placed<bool> {
        let What::Chunk { chunk, layout, n_bytes } = &job.what else { return Ok(false) };
        if self.of.as_ref().is_some_and(|(part, _)| *part != job.part) {
            self.finish(visit)?;
        }
        let Some(remembered) = self.lines.push(chunk, job.order) else { return Ok(false) };
        self.of.get_or_insert_with(|| (job.part, layout.clone()));
        let placed = |error| (job.order, error);
        // Whoever counts is asked for every piece whether to go on.
        let nothing = RecordBatch::new_empty(layout.schema.clone());
        visit(self.feed.made_of(nothing, Some(&[])).map_err(placed)?, Vec::new(), *n_bytes).map_err(placed)?;
        for (range, line) in remembered.others {
            let Part::Csv(file) = &self.feed.source.parts[job.part] else { unreachable!("only CSV has lines") };
            let read = records::read(&chunk.bytes[range], 0, false, layout);
            let names = || names(&self.feed.source.stored);
            for batch in read.map_err(|bad| placed(file.bad_line(line, &bad.what, &names())))? {
                let n_times = vec![1; batch.num_rows()];
                visit(self.feed.made(batch).map_err(placed)?, n_times, 0).map_err(placed)?;
            }
        }
        if remembered.is_full {
            self.finish(visit)?;
        }
        Ok(true)
    }

    /// Takes apart what is known.
    fn finish(&mut self, visit: &mut impl FnMut(RecordBatch, Vec<u64>, u64) -> Result<()>) -> Placed<()> {
        let (Some(different), Some((part, layout))) = (self.lines.take(), self.of.take()) else { return Ok(()) };
        self.read(&different, part, &layout, visit)
    }

    fn read(
        &self,
        different: &Different,
        part: usize,
        layout: &Layout,
        visit: &mut impl FnMut(RecordBatch, Vec<u64>, u64) -> Result<()>,
    ) -> Placed<()> {
        let Part::Csv(file) = &self.feed.source.parts[part] else { unreachable!("only CSV has lines") };
        let read = records::read(&different.bytes, different.n_lines(), false, layout);
        let batches = read.map_err(|bad| {
            let (line, order) = different.place(bad.at);
            (order, file.bad_line(line, &bad.what, &names(&self.feed.source.stored)))
        })?;
        let (_, first) = different.place(0);
        let mut n_times = different.n_times();
        for batch in batches {
            let n_times: Vec<u64> = n_times.by_ref().take(batch.num_rows()).collect();
            let batch = self.feed.made_of(batch, Some(&n_times)).map_err(|error| (first, error))?;
            visit(batch, n_times, 0).map_err(|error| (first, error))?;
        }
        Ok(())
    }
}

fn visit_all(
    batches: Vec<RecordBatch>,
    mut n_bytes: u64,
    visit: &mut impl FnMut(RecordBatch, u64) -> Result<()>,
) -> Result<()> {
    batches.into_iter().try_for_each(|batch| visit(batch, std::mem::take(&mut n_bytes)))
}

impl Source {
    /// Reads the named columns, batch after batch, in the order of the table.
    ///
    /// `visit` gets each batch and the bytes of the files that it took to get there.
    pub fn for_each(&self, columns: &[String], mut visit: impl FnMut(RecordBatch, u64) -> Result<()>) -> Result<()> {
        self.look_at_coarse(|_| Ok(()))?;
        match self.filter()? {
            None => self.for_each_unfiltered(columns, visit),
            // Which records are left in all columns say.
            Some(Filter { kept, left }) => self.for_each_unfiltered(&self.column_names(), |batch, n_bytes| {
                visit(kept.of(&batch, &left, columns)?, n_bytes)
            }),
        }
    }

    /// The same of all records, whosever they are.
    pub(super) fn for_each_unfiltered(
        &self,
        columns: &[String],
        mut visit: impl FnMut(RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        match self.is_counted() {
            false => self.for_each_row(columns, visit),
            true => {
                let mut n_before = 0;
                self.for_each_row(&self.with_numbers(columns), |batch, n_bytes| {
                    let (batch, n_times) = self.split_numbers(&batch, n_before)?;
                    n_before += batch.num_rows() as u64;
                    expanded(&batch, &n_times, n_bytes, &mut visit)
                })
            }
        }
    }

    /// The same of the rows as they are stored.
    pub(super) fn for_each_row(
        &self,
        columns: &[String],
        mut visit: impl FnMut(RecordBatch, u64) -> Result<()>,
    ) -> Result<()> {
        let feed = Feed::new(self, columns);
        let n_at_once = rayon::current_num_threads();
        loop {
            // CSV is taken apart on all threads, and looked at in its order.
            let mut jobs = Vec::new();
            let mut failed = None;
            while jobs.len() < n_at_once {
                match feed.next() {
                    Ok(Some(job)) => jobs.push(job),
                    Ok(None) => break,
                    Err((_, error)) => {
                        failed = Some(error);
                        break;
                    }
                }
            }
            if jobs.is_empty() {
                if failed.is_none() {
                    feed.finish();
                }
                return failed.map_or(Ok(()), Err);
            }
            let parse = |job: Job| match job.what {
                What::Chunk { chunk, layout, n_bytes } => {
                    feed.parse(job.part, &chunk, &layout).map(|batches| Ok((batches, n_bytes)))
                }
                What::Piece(_) => Ok(Err(job)),
            };
            let parsed: Vec<Result<_>> = jobs.into_par_iter().map(parse).collect();
            for parsed in parsed {
                match parsed? {
                    Ok((batches, n_bytes)) => {
                        visit_all(batches, n_bytes, &mut |batch, n_bytes| visit(feed.made(batch)?, n_bytes))?
                    }
                    Err(job) => feed.read(&job, &mut visit)?,
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
        }
    }

    /// Reads the named columns on several threads, each with a state of its own; returns the states.
    ///
    /// Where something is wrong, the error is the first one of the table, whichever thread met it.
    pub fn for_each_parallel<S: Send>(
        &self,
        columns: &[String],
        n_threads: usize,
        start: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, RecordBatch, u64) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        let presence = Presence::default();
        self.for_each_numbered_in_parallel(
            columns,
            presence,
            n_threads,
            false,
            start,
            |state, batch, n_times, n_bytes| match n_times {
                None => visit(state, batch, n_bytes),
                Some(n_times) => {
                    expanded(&batch, &n_times, n_bytes, &mut |batch, n_bytes| visit(state, batch, n_bytes))
                }
            },
        )
    }

    /// The same with how many records each row is: where a column says so, a database counts them, or lines of CSV come again.
    pub fn for_each_counted<S: Send>(
        &self,
        columns: &[String],
        presence: Presence,
        n_threads: usize,
        start: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, RecordBatch, Option<Vec<u64>>, u64) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.for_each_numbered_in_parallel(columns, presence, n_threads, true, start, visit)
    }

    fn for_each_numbered_in_parallel<S: Send>(
        &self,
        columns: &[String],
        presence: Presence,
        n_threads: usize,
        knows_lines: bool,
        start: impl Fn() -> S + Sync,
        visit: impl Fn(&mut S, RecordBatch, Option<Vec<u64>>, u64) -> Result<()> + Sync,
    ) -> Result<Vec<S>> {
        self.look_at_coarse(|_| Ok(()))?;
        let filter = self.filter()?;
        let all = self.column_names();
        let read_columns = self.with_numbers(if filter.is_some() { &all } else { columns });
        // Which records of a person are left in is said of records.
        let feed = match &filter {
            None => Feed::grouped(self, &read_columns, presence),
            Some(_) => Feed::new(self, &read_columns),
        };
        let is_numbered = self.is_counted() || feed.grouped.is_some();
        let knows_lines = knows_lines && !is_numbered && filter.is_none();
        let read = |state: &mut S, job: &Job| {
            feed.read(job, &mut |batch, n_bytes| {
                let (batch, n_times) = match is_numbered {
                    true => self.numbered_rows(&batch).map(|(batch, n_times)| (batch, Some(n_times)))?,
                    false => (batch, None),
                };
                match (&filter, n_times) {
                    (None, n_times) => visit(state, batch, n_times, n_bytes),
                    (Some(Filter { kept, left }), None) => visit(state, kept.of(&batch, left, columns)?, None, n_bytes),
                    // Of which person a record is kept, one by one.
                    (Some(Filter { kept, left }), Some(n_times)) => {
                        expanded(&batch, &n_times, n_bytes, &mut |batch, n_bytes| {
                            visit(state, kept.of(&batch, left, columns)?, None, n_bytes)
                        })
                    }
                }
            })
        };
        let work = || -> Placed<S> {
            let mut state = start();
            let mut lines = Counting { feed: &feed, lines: Lines::default(), of: None };
            let mut failed = None;
            while failed.is_none() {
                let job = match feed.next() {
                    Ok(Some(job)) => job,
                    Ok(None) => break,
                    Err(error) => {
                        failed = Some(error);
                        break;
                    }
                };
                let mut count = |batch, n_times, n_bytes| visit(&mut state, batch, Some(n_times), n_bytes);
                let is_counted = if knows_lines { lines.counts(&job, &mut count) } else { Ok(false) };
                let done = is_counted.and_then(|is_counted| match is_counted {
                    true => Ok(()),
                    false => read(&mut state, &job).map_err(|error| (job.order, error)),
                });
                failed = done.err();
            }
            // What is known is older than what went wrong, and may be wrong itself.
            let finished =
                lines.finish(&mut |batch, n_times, n_bytes| visit(&mut state, batch, Some(n_times), n_bytes));
            let failed = [failed, finished.err()].into_iter().flatten().min_by_key(|(order, _)| *order);
            match failed {
                None => Ok(state),
                Some(failed) => {
                    feed.stop();
                    Err(failed)
                }
            }
        };
        let n_threads = n_threads.max(1);
        let states: Vec<Placed<S>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (1..n_threads).map(|_| scope.spawn(work)).collect();
            let first = work();
            let others = threads.into_iter().map(|thread| thread.join().expect("a reading thread does not panic"));
            std::iter::once(first).chain(others.collect::<Vec<_>>()).collect()
        });
        let mut read = Vec::new();
        let mut failed: Option<(usize, Error)> = None;
        for state in states {
            match state {
                Ok(state) => read.push(state),
                Err(error) if failed.as_ref().is_none_or(|first| error.0 < first.0) => failed = Some(error),
                Err(_) => {}
            }
        }
        if failed.is_none() {
            feed.finish();
        }
        failed.map_or(Ok(read), |(_, error)| Err(error))
    }

    /// The first records, as many as are read at once: to look at how they are written.
    pub(super) fn first_records(&self) -> Result<Option<RecordBatch>> {
        let columns = self.column_names();
        let feed = Feed::new(self, &columns);
        let mut first = None;
        while first.is_none() {
            let Some(job) = feed.next().map_err(|(_, error)| error)? else { break };
            feed.read(&job, &mut |batch, _| {
                first.get_or_insert(batch);
                Ok(())
            })?;
        }
        Ok(first)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use incrowd::table::Cells;

    use super::*;
    use crate::input::source::ReadOptions;

    type Rows = BTreeMap<Vec<String>, u64>;

    fn add(rows: &mut Rows, batch: &RecordBatch, n_times: Option<&[u64]>) {
        let cells: Vec<Cells> = batch.columns().iter().map(|column| Cells::new("x", column).expect("texts")).collect();
        let mut text = String::new();
        for record in 0..batch.num_rows() {
            let of = |cells: &Cells| {
                cells.read(record, &mut text);
                text.clone()
            };
            let row: Vec<String> = cells.iter().map(of).collect();
            *rows.entry(row).or_default() += n_times.map_or(1, |n_times| n_times[record]);
        }
    }

    /// A table of three pieces and some, most of whose lines come again, with some lines of one's own.
    fn table(others: &[(usize, &str)]) -> String {
        let pad = "a text that makes lines long ".repeat(12);
        let line = |i: usize| match others.iter().find(|(line, _)| *line == i + 2) {
            Some((_, other)) => format!("{other}\n"),
            None => format!("{},{pad}{},\"{}, or more\"\n", i % 90, i % 7, i * i % 13),
        };
        "age,text,other\n".to_string() + &(0..40_000).map(line).collect::<String>()
    }

    #[test]
    fn records_are_as_many_and_errors_the_first_where_lines_come_again() {
        let cases: [&[(usize, &str)]; 6] = [
            &[],
            &[(30_000, "1,\"in\ntwo lines\",3"), (39_000, "\u{e9},,\"\"")],
            &[(31_000, "too,few"), (31_005, "too,few"), (39_999, "far,too,many,fields")],
            &[(20_000, "1,2,3\r4,5,6"), (38_000, "too,few")],
            &[(25_000, "too,few"), (39_000, "1,\"not closed,3")],
            &[(15_000, ""), (28_000, "too,few\r1,2,3")],
        ];
        for others in cases {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("table.csv");
            std::fs::write(&path, table(others)).expect("written");
            let source = Source::open(&path, &ReadOptions::default()).expect("a table");
            let columns = ["age".to_string(), "other".to_string()];
            let mut plainly = Rows::new();
            let one_by_one = source.for_each(&columns, |batch, _| Ok(add(&mut plainly, &batch, None)));
            let counted = source.for_each_counted(&columns, Presence::default(), 2, Rows::new, |rows, batch, n, _| {
                Ok(add(rows, &batch, n.as_deref()))
            });
            match (one_by_one, counted) {
                (Ok(()), Ok(parts)) => {
                    let mut all = Rows::new();
                    parts.into_iter().flatten().for_each(|(row, n)| *all.entry(row).or_default() += n);
                    assert_eq!(all, plainly, "{others:?}");
                }
                (Err(first), Err(counted)) => assert_eq!(first.to_string(), counted.to_string(), "{others:?}"),
                (first, counted) => panic!("{others:?}: {:?}, {:?}", first.err(), counted.err()),
            }
        }
    }
}
