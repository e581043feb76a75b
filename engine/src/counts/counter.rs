//! Counts the records of a table as they stream by.

use arrow_array::RecordBatch;

use crate::counts::collect::{Collected, check_numbers};
use crate::counts::groups::GroupCounts;
use crate::counts::keys::{Cells, Layout};
use crate::counts::people::{check_known, person_column, person_name};
use crate::counts::{N_CELLS_MAX, N_RECORDS_MAX};
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::table::{Domain, Encoder, Missing};
use crate::task::Task;

/// Counts records as they stream by, in memory that grows with the distinct combinations only.
pub struct Counter {
    missing: Missing,
    n_sensitive: usize,
    /// The columns that say whose record it is; none where nobody does.
    person: Vec<String>,
    /// One per quasi-identifier, then one per sensitive attribute, then one for the person.
    encoders: Vec<Encoder>,
    /// Per attribute, whether a counted record lacks its value.
    has_missing: Vec<bool>,
    layout: Layout,
    cells: Cells,
    n_records: u64,
    n_dropped: u64,
    codes: Vec<Vec<u32>>,
}

impl Counter {
    /// A counter for these attributes, by name, which has seen no record yet.
    pub fn new(quasi_identifiers: &[&str], sensitive: &[&str], missing: &Missing) -> Counter {
        Counter::of_people(quasi_identifiers, sensitive, &[], missing)
    }

    /// The same, for a table with columns that say together whose record it is.
    pub fn of_people(quasi_identifiers: &[&str], sensitive: &[&str], person: &[&str], missing: &Missing) -> Counter {
        let person: Vec<String> = person.iter().map(|name| name.to_string()).collect();
        let together = (!person.is_empty()).then(|| person_name(&person));
        let names = quasi_identifiers.iter().chain(sensitive).copied().chain(together.as_deref());
        let encoders: Vec<Encoder> = names.map(|name| Encoder::new(name, missing)).collect();
        // A byte each to begin with; enough for "no value", yes and no where there are very many.
        let with_width = |width: u32| Layout::new(vec![width; encoders.len()]);
        let layout = Some(with_width(8)).filter(Layout::is_fast).unwrap_or_else(|| with_width(2));
        Counter {
            missing: missing.clone(),
            n_sensitive: sensitive.len(),
            person,
            codes: vec![Vec::new(); encoders.len()],
            cells: Cells::new(&layout),
            has_missing: vec![false; encoders.len()],
            layout,
            encoders,
            n_records: 0,
            n_dropped: 0,
        }
    }

    /// Counts the records of one batch.
    ///
    /// The batch holds the attributes of this counter by name. Its other columns matter only
    /// where records that lack a value of theirs are dropped: then they are looked at too.
    ///
    /// # Errors
    /// Where a column is missing or cannot be read, or there are more combinations than can be numbered.
    pub fn push(&mut self, batch: &RecordBatch) -> Result<()> {
        self.push_times(batch, None)
    }

    /// Counts combinations that were counted elsewhere: by row of the batch, how many records say this. A combination may
    /// come more than once, and its records add up; where it is known whose records they are, all of a row are the same
    /// person's.
    ///
    /// # Guarantee
    /// The counts are those of a batch that has every row so many times.
    ///
    /// # Errors
    /// Those of [`Counter::push`]; and where a row stands for no record, or there are 2³⁸ records or more.
    ///
    /// # Panics
    /// Where there is not a number for every row.
    pub fn push_counted(&mut self, batch: &RecordBatch, n_times: &[u64]) -> Result<()> {
        assert_eq!(n_times.len(), batch.num_rows(), "a number for every row");
        if let Some(row) = n_times.iter().position(|n| *n == 0) {
            let message = format!("row {} of a batch stands for no record", row + 1);
            return Err(Error::new(ErrorKind::Data, message).hint("leave it out"));
        }
        self.push_times(batch, Some(n_times))
    }

    fn push_times(&mut self, batch: &RecordBatch, n_times: Option<&[u64]>) -> Result<()> {
        let schema = batch.schema();
        let n_people = usize::from(!self.person.is_empty());
        let n_others = self.encoders.len() - n_people;
        for (encoder, codes) in self.encoders.iter_mut().zip(&mut self.codes).take(n_others) {
            let column = batch.column_by_name(encoder.name()).ok_or_else(|| {
                let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
                unknown(ErrorKind::Data, "column", encoder.name(), &names)
            })?;
            encoder.encode(column, codes)?;
        }
        if n_people > 0 {
            let column = person_column(batch, &self.person, &self.missing)?;
            self.encoders[n_others].encode(&column, &mut self.codes[n_others])?;
        }
        let mut n_times = n_times.map(<[u64]>::to_vec);
        if self.missing.drop_records {
            self.drop_incomplete(batch, n_times.as_mut())?;
        }
        if n_people > 0 {
            check_known(&self.person, self.codes[n_others].iter().filter(|code| **code == 0).count())?;
        }
        for (has_missing, codes) in self.has_missing.iter_mut().zip(&self.codes) {
            *has_missing |= codes.contains(&0);
        }
        self.widen();
        match &n_times {
            None => {
                self.n_records += self.codes.first().map_or(0, |codes| codes.len() as u64);
                self.cells.add(&self.layout, &self.codes);
            }
            Some(n_times) => {
                // Before they are added: sums of no more than these fit everywhere.
                self.n_records = n_times.iter().try_fold(self.n_records, |sum, n| sum_of(sum, *n))?;
                self.cells.add_times(&self.layout, &self.codes, n_times);
            }
        }
        check_numbers(self.cells.n_keys(), N_CELLS_MAX)
    }

    /// Leaves out records that lack a value, and the numbers of rows that are left out.
    fn drop_incomplete(&mut self, batch: &RecordBatch, n_times: Option<&mut Vec<u64>>) -> Result<()> {
        let mut keep = vec![true; batch.num_rows()];
        let n_others = self.encoders.len() - usize::from(!self.person.is_empty());
        for (place, (encoder, codes)) in self.encoders.iter().zip(&self.codes).enumerate() {
            // Whose record it is has to be known in any case.
            if place == n_others || self.missing.drops(encoder.name()) {
                keep.iter_mut().zip(codes).for_each(|(keep, &code)| *keep &= code != 0);
            }
        }
        let schema = batch.schema();
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            if self.encoders.iter().all(|encoder| encoder.name() != field.name()) {
                self.missing.mark_dropped(field.name(), column, &mut keep)?;
            }
        }
        let n_kept = keep.iter().filter(|&&keep| keep).count();
        if n_kept < keep.len() {
            for codes in &mut self.codes {
                let mut kept = keep.iter();
                codes.retain(|_| *kept.next().expect("one flag per record"));
            }
            match n_times {
                None => self.n_dropped += (keep.len() - n_kept) as u64,
                Some(n_times) => {
                    let dropped = keep.iter().zip(&*n_times).filter(|(keep, _)| !**keep).map(|(_, n)| *n);
                    self.n_dropped = dropped.clone().try_fold(self.n_dropped, sum_of)?;
                    let mut kept = keep.iter();
                    n_times.retain(|_| *kept.next().expect("one flag per row"));
                }
            }
        }
        Ok(())
    }

    /// Makes room in the keys for codes that have outgrown it.
    fn widen(&mut self) {
        let needed = |encoder: &Encoder| usize::BITS - (encoder.n_codes() - 1).leading_zeros();
        let fits = |(encoder, &width): (&Encoder, &u32)| needed(encoder) <= width;
        if self.encoders.iter().zip(&self.layout.widths).all(fits) {
            return;
        }
        // Two bits to spare, so that this happens rarely; none where they would make the keys long.
        let widths = self.encoders.iter().zip(&self.layout.widths);
        let roomy = |(encoder, &width): (&Encoder, &u32)| match needed(encoder) <= width {
            true => width,
            false => needed(encoder) + 2,
        };
        let roomy = Layout::new(widths.map(roomy).collect());
        let tight = Layout::new(self.encoders.iter().map(needed).collect());
        let layout = if !roomy.is_fast() && tight.is_fast() { tight } else { roomy };
        self.cells = self.cells.repacked(&self.layout, &layout);
        self.layout = layout;
    }

    /// Adds what another counter of the same attributes has counted: parts of a table give the whole.
    ///
    /// # Errors
    /// Where there are more values or combinations than can be numbered, or 2³⁸ records or more.
    pub fn merge(&mut self, other: Counter) -> Result<()> {
        self.merge_unless(other, &Task::default())
    }

    /// The same, as long as it is wanted.
    ///
    /// # Errors
    /// As [`Counter::merge`], and where somebody has stopped it: what was counted is of no use then.
    pub fn merge_unless(&mut self, other: Counter, task: &Task) -> Result<()> {
        self.n_records = sum_of(self.n_records, other.n_records)?;
        self.n_dropped = sum_of(self.n_dropped, other.n_dropped)?;
        self.has_missing.iter_mut().zip(&other.has_missing).for_each(|(ours, theirs)| *ours |= theirs);
        let translations: Vec<Vec<u32>> = self
            .encoders
            .iter_mut()
            .zip(&other.encoders)
            .map(|(ours, theirs)| ours.adopt(theirs))
            .collect::<Result<_>>()?;
        self.widen();
        let mut codes = vec![0; self.encoders.len()];
        let mut wanted = StillWanted::by(task);
        other.cells.for_each(&other.layout, |theirs, count| {
            if !wanted.still() {
                return;
            }
            for (code, (translation, &their)) in codes.iter_mut().zip(translations.iter().zip(theirs)) {
                *code = translation[their as usize];
            }
            self.cells.add_one(&self.layout, &codes, count);
        });
        task.go_on()?;
        check_numbers(self.cells.n_keys(), N_CELLS_MAX)
    }

    /// Which codes occur in counted records: values of dropped records are none of the table's.
    fn used_codes(&self) -> Vec<Vec<bool>> {
        let mut used: Vec<Vec<bool>> = self.encoders.iter().map(|encoder| vec![false; encoder.n_codes()]).collect();
        if self.n_dropped == 0 {
            for (used, &has_missing) in used.iter_mut().zip(&self.has_missing) {
                used.fill(true);
                used[0] = has_missing;
            }
        } else {
            self.cells.for_each(&self.layout, |codes, _| {
                used.iter_mut().zip(codes).for_each(|(used, &code)| used[code as usize] = true);
            });
        }
        used
    }

    /// The counts in canonical form: equal tables give equal counts, whatever the order of their records.
    pub fn finish(self) -> GroupCounts {
        self.finish_unless(&Task::default()).expect("nobody stops it")
    }

    /// The same, as long as it is wanted.
    ///
    /// # Errors
    /// Where somebody has stopped it.
    pub fn finish_unless(mut self, task: &Task) -> Result<GroupCounts> {
        let n_attributes = self.encoders.len();
        let used = self.used_codes();
        let mut domains = Vec::with_capacity(n_attributes);
        let mut canonical: Vec<Vec<u32>> = Vec::with_capacity(n_attributes);
        for (encoder, used) in self.encoders.iter().zip(&used) {
            let (domain, of_provisional) = canonical_domain(encoder, used, self.missing.label());
            domains.push(domain);
            canonical.push(of_provisional);
            task.go_on()?;
        }

        // Sorted by a key whose order is the order of the code vectors.
        let widths = domains.iter().map(|domain| bits_for(domain.len()));
        let layout = Layout::new(widths.collect());
        self.cells.translate(&self.layout, &layout, &canonical);
        self.layout = layout;
        task.go_on()?;
        self.collect(domains, task)
    }
}

impl Counter {
    /// Cuts sorted cells into groups.
    fn collect(self, mut domains: Vec<Domain>, task: &Task) -> Result<GroupCounts> {
        let names = if self.person.is_empty() { None } else { domains.pop() };
        let people = names.map(|names| (self.person.clone(), names));
        let sensitive = domains.split_off(domains.len() - self.n_sensitive);
        let mut collected = Collected::new(domains, sensitive, people, self.n_records, self.n_dropped);
        let mut wanted = StillWanted::by(task);
        self.cells.for_each(&self.layout, |codes, count| {
            if wanted.still() {
                collected.add(codes, count);
            }
        });
        task.go_on()?;
        Ok(collected.finish())
    }
}

/// Whether a loop over very many combinations is still wanted, asked now and then.
struct StillWanted<'t, 'a> {
    task: &'t Task<'a>,
    n_seen: usize,
    is_wanted: bool,
}

impl<'t, 'a> StillWanted<'t, 'a> {
    fn by(task: &'t Task<'a>) -> StillWanted<'t, 'a> {
        StillWanted { task, n_seen: 0, is_wanted: true }
    }

    #[inline]
    fn still(&mut self) -> bool {
        self.n_seen += 1;
        if self.n_seen % N_BETWEEN == 0 {
            self.is_wanted = self.is_wanted && self.task.go_on().is_ok();
        }
        self.is_wanted
    }
}

/// Combinations between two questions whether the work is still wanted.
const N_BETWEEN: usize = 1 << 16;

/// The records of both, which are no more than can be counted.
fn sum_of(n_records: u64, more: u64) -> Result<u64> {
    n_records.checked_add(more).filter(|sum| *sum <= N_RECORDS_MAX).ok_or_else(|| {
        Error::new(ErrorKind::TooLarge, format!("the table has more than {N_RECORDS_MAX} records"))
            .hint("count a part of it")
    })
}

fn bits_for(n_codes: usize) -> u32 {
    usize::BITS - n_codes.saturating_sub(1).leading_zeros()
}

/// The domain of the values that occur, and the code that each provisional code becomes.
fn canonical_domain(encoder: &Encoder, used: &[bool], missing_label: &str) -> (Domain, Vec<u32>) {
    let occurring = || encoder.values().iter().zip(used).enumerate().skip(1).filter(|(_, (_, used))| **used);
    let values = occurring().map(|(_, (value, _))| value.clone()).collect();
    let domain = Domain::new(encoder.name(), values, used[0].then_some(missing_label));
    let mut of_provisional = vec![0; encoder.n_codes()];
    if let Some(missing) = domain.missing() {
        of_provisional[0] = missing.0;
    }
    for (provisional, (value, _)) in occurring() {
        of_provisional[provisional] = domain.code(value).expect("the domain was made of these values").0;
    }
    (domain, of_provisional)
}

impl Encoder {
    /// The code here of each of another encoder's codes; values that are new here are added.
    fn adopt(&mut self, other: &Encoder) -> Result<Vec<u32>> {
        let texts = other.values()[1..].iter().map(|value| self.code_of_text(value));
        std::iter::once(Ok(0)).chain(texts).collect()
    }
}
