//! The first reading: from a project to counts and checked hierarchies.

use std::collections::HashSet;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;

use crate::sentences::{counted_words, grouped, hint};
use incrowd::error::{Step, Wording, unknown};
use incrowd::hierarchy::absent_values;
use incrowd::search::partial::{Selection, annotate_partially};
use incrowd::search::request::{check_promise, check_promise_on, depends_on_table};
use incrowd::table::{Code, Kind};
use incrowd::task::Task;
use incrowd::verify::Labels;
use incrowd::{
    Counter, Criteria, Distance, Domain, Error, ErrorKind, GroupCounts, Hierarchy, Lattice, Measure, Missing, Plan,
    Result, Role, Rule, Yardstick,
};

use crate::input::database::Presence;
use crate::input::notation::{self, Notation};
use crate::input::project::{Attribute, Project};
use crate::input::repeats::{Repeating, Repeats};
use crate::input::source::{CellCheck, Replaced, Source, Unknown, what_to_say};
use crate::note::Note;
use crate::work::{Unit, Work};

/// Which attributes this run is about.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// All quasi-identifiers of the project where none are chosen.
    pub quasi_identifiers: Option<Vec<String>>,
    /// All sensitive attributes of the project where none are chosen.
    pub sensitive: Option<Vec<String>>,
    /// Whether the population is counted too.
    pub with_population: bool,
}

/// A project whose records have been counted and whose hierarchies fit them.
pub struct Counted {
    pub source: Source,
    pub material: Material,
    /// An identifier that repeats, where nobody says whether people are meant.
    pub repeating: Option<Repeating>,
    /// What was worth knowing about it.
    notes: Vec<Note>,
}

impl std::ops::Deref for Counted {
    type Target = Material;

    fn deref(&self) -> &Material {
        &self.material
    }
}

/// What lattices are made of: counts, wherever they come from, and what the project says about them.
pub struct Material {
    pub counts: GroupCounts,
    /// In the project's order of attributes.
    pub quasi_identifiers: Vec<Attribute>,
    pub sensitive: Vec<Attribute>,
    pub hierarchies: Vec<Hierarchy>,
    /// By sensitive attribute, how far apart its values are, with the hierarchy where that is needed.
    pub distances: Vec<(Distance, Option<Hierarchy>)>,
    /// By sensitive attribute, the level by whose labels its values are counted, with its name; none where they are counted
    /// as they are.
    pub count_at: Vec<Option<(usize, String)>>,
    /// The counts of values as the table has them, where some are counted by their labels.
    as_read: Option<GroupCounts>,
    /// Where people are counted, the same counts by person; made when first asked for.
    by_person: OnceLock<GroupCounts>,
}

impl Material {
    /// Applies the hierarchies of a project to counted values.
    pub fn new(quasi_identifiers: Vec<Attribute>, sensitive: Vec<Attribute>, counts: GroupCounts) -> Result<Material> {
        let hierarchies = quasi_identifiers
            .iter()
            .zip(counts.domains())
            .enumerate()
            .map(|(a, (attribute, domain))| {
                let resolved = attribute.rule.resolve_with(domain, &counts.strangers(a));
                let resolved = resolved.map_err(|error| with_what_to_say(error, &attribute.rule, domain))?;
                let resolved = match &attribute.from_level {
                    Some(first) => resolved.beginning_with(&first.name, &first.phrase),
                    None => resolved,
                };
                resolved.with_node_weights(&attribute.node_weights)
            })
            .collect::<Result<_>>()?;
        let (count_at, labelled) = counted_at(&sensitive, &counts)?;
        let (counts, as_read) = match labelled {
            Some(labelled) => (labelled, Some(counts)),
            None => (counts, None),
        };
        let distances = sensitive
            .iter()
            .zip(counts.sensitive())
            .map(|(attribute, domain)| match attribute.distance {
                Some(Distance::Hierarchical) => Ok((Distance::Hierarchical, Some(attribute.rule.resolve(domain)?))),
                Some(distance) => Ok((distance, None)),
                // Numbers and dates have an order that means something; for words it would be that of the alphabet.
                None if domain.kind() == Kind::Text => Ok((Distance::Equal, None)),
                None => Ok((Distance::Ordered, None)),
            })
            .collect::<Result<_>>()?;
        let by_person = OnceLock::new();
        Ok(Material { counts, quasi_identifiers, sensitive, hierarchies, distances, count_at, as_read, by_person })
    }

    /// The counts as the table has its values, whatever criteria count them as.
    pub fn counts_as_read(&self) -> &GroupCounts {
        self.as_read.as_ref().unwrap_or(&self.counts)
    }

    /// By sensitive attribute, what its values, as a release says them, are counted as, where that is not themselves.
    pub fn labels(&self, notation: &Notation) -> Vec<Option<Labels>> {
        let text = |domain: &Domain, code: Code| match domain.missing() == Some(code) {
            true => notation.missing(),
            false => Some(domain.values()[code.index()].clone()),
        };
        let of_attribute = |s: usize| {
            let (at, labels) = (self.counts.counted_as(s)?, &self.counts.sensitive()[s]);
            let codes = (0..at.values().len() as u32).map(Code);
            let said = |code: Code| notation.value(&self.sensitive[s].name, at.values(), code);
            let pair = |code: Code| Some((said(code), text(labels, at.label(code)?)));
            codes.map(pair).collect::<Option<Labels>>()
        };
        (0..self.sensitive.len()).map(of_attribute).collect()
    }

    /// The counts that local methods work with: equal records of different people are told apart where people are counted.
    pub fn told_apart(&self) -> &GroupCounts {
        match self.counts.people() {
            Some(_) => self.by_person.get_or_init(|| self.counts.by_person()),
            None => &self.counts,
        }
    }

    pub fn weights(&self) -> Vec<f64> {
        self.quasi_identifiers.iter().map(|attribute| attribute.weight).collect()
    }

    pub fn sensitive_names(&self) -> Vec<String> {
        self.sensitive.iter().map(|attribute| attribute.name.clone()).collect()
    }

    /// Whether a quasi-identifier has numbers or dates.
    pub fn is_numeric(&self, attribute: usize) -> bool {
        self.hierarchies[attribute].positions().is_some()
    }

    /// By quasi-identifier, whether a release that gives every attribute one level can have a column for the lowest and one
    /// for the highest value of it.
    pub fn with_ranges(&self) -> Vec<bool> {
        let has_ranges = |a: usize| self.quasi_identifiers[a].rule.makes_ranges() && self.is_numeric(a);
        (0..self.hierarchies.len()).map(has_ranges).collect()
    }

    /// By sensitive attribute, how many different values it has.
    pub fn n_sensitive_values(&self) -> Vec<usize> {
        self.counts.sensitive().iter().map(|domain| domain.len()).collect()
    }

    /// Refuses criteria that promise nothing on this table, because every record keeps them on its own.
    pub fn check_promise(&self, criteria: &Criteria) -> Result<()> {
        match depends_on_table(criteria) {
            true => check_promise_on(criteria, &self.yardstick(criteria.iter().map(|criterion| criterion.measure))?),
            false => check_promise(criteria),
        }
    }

    /// What groups are measured with, for some criteria.
    pub fn yardstick(&self, measures: impl IntoIterator<Item = Measure>) -> Result<Yardstick> {
        Yardstick::new(&self.counts, &self.distances, measures)
    }

    /// Annotates the lattice with some measures, and with entropy where a ranking needs it.
    pub fn annotate(
        &self,
        measures: impl IntoIterator<Item = Measure>,
        with_entropy: bool,
        task: &Task,
    ) -> Result<Lattice> {
        self.annotate_some(measures, with_entropy, None, task)
    }

    /// The same; where there is a selection, only the most promising schemes.
    pub fn annotate_some(
        &self,
        measures: impl IntoIterator<Item = Measure>,
        with_entropy: bool,
        selection: Option<Selection>,
        task: &Task,
    ) -> Result<Lattice> {
        let (weights, yardstick) = (self.weights(), self.yardstick(measures)?);
        let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy };
        match selection {
            Some(selection) => annotate_partially(&self.counts, &self.hierarchies, &plan, selection, task),
            None => incrowd::annotate(&self.counts, &self.hierarchies, &plan, task),
        }
    }
}

type LevelAndName = Option<(usize, String)>;

/// By sensitive attribute, the level by whose labels it is counted, and the counts of these labels where there are any.
fn counted_at(sensitive: &[Attribute], counts: &GroupCounts) -> Result<(Vec<LevelAndName>, Option<GroupCounts>)> {
    let hierarchy = |(attribute, domain): (&Attribute, &Domain)| {
        let Some(said) = &attribute.count_at else { return Ok(None) };
        let hierarchy = attribute.rule.resolve(domain)?;
        let level = said.of(&hierarchy, "count_at")?;
        Ok(Some((hierarchy, level)))
    };
    let all = sensitive.iter().zip(counts.sensitive()).map(hierarchy).collect::<Result<Vec<_>>>()?;
    let name = |(hierarchy, level): &(Hierarchy, usize)| (*level, hierarchy.level(*level).name().to_string());
    let levels = all.iter().map(|at| at.as_ref().map(name)).collect();
    let at: Vec<_> = all.iter().map(|at| at.as_ref().map(|(hierarchy, level)| (hierarchy, *level))).collect();
    let labelled = at.iter().any(Option::is_some).then(|| counts.with_labels(&at));
    Ok((levels, labelled))
}

/// Counts the records of a project and applies its hierarchies to the values they have.
pub fn count(project: &Project, choice: &Choice, work: &Work) -> Result<Counted> {
    count_from(project, project.source()?, choice, work)
}

/// The same for somebody who wants the counts and nothing else, so that no file has to be hashed.
pub fn count_only(project: &Project, choice: &Choice, work: &Work) -> Result<Counted> {
    count_from(project, project.source()?.unhashed(), choice, work)
}

fn count_from(project: &Project, source: Source, choice: &Choice, work: &Work) -> Result<Counted> {
    let (quasi_identifiers, sensitive) = chosen(project, choice)?;
    source.pin();
    check_columns(project, &source)?;
    if source.publishes_coarser() {
        work.stage("looking at what is published coarser", source.n_bytes(), Unit::Bytes, |task| {
            source.look_at_coarse(|n_bytes| {
                task.go_on()?;
                (task.progress)(n_bytes);
                Ok(())
            })
        })?;
    }
    if project.max_records_per_person.is_some() {
        work.stage("choosing records", source.n_bytes(), Unit::Bytes, |task| {
            source.choose(|n_bytes| {
                task.go_on()?;
                (task.progress)(n_bytes);
                Ok(())
            })
        })?;
    }
    let names: Vec<&str> = quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect();
    let sensitive_names: Vec<&str> = sensitive.iter().map(|attribute| attribute.name.as_str()).collect();
    let identifiers = project.unasked_identifiers().into_iter();
    let identifiers: Vec<&str> = identifiers.filter(|name| source.check_column(name).is_ok()).collect();
    let repeats = || Repeats::new(&identifiers);
    let (mut counts, repeats) =
        count_and_look(&source, &names, &sensitive_names, &project.person(), &project.missing, repeats, work)?;
    let repeating = repeats.finish().or_else(|| Repeating::elsewhere(&project.identifiers_elsewhere));
    let mut notes = Vec::new();
    let mut tell = |note: Note| {
        work.note(note.clone());
        notes.push(note);
    };
    source.notes().into_iter().for_each(&mut tell);
    replaced_notes(&source).into_iter().for_each(&mut tell);
    if counts.n_dropped() > 0 {
        let n_all = counts.n_dropped() + counts.n_records();
        tell(Note::Dropped { n_records: counts.n_dropped(), n_all });
    }
    if let (Some(n_max), n_records @ 1..) = (project.max_records_per_person, source.n_left_out()) {
        tell(Note::BeyondPerPerson { n_records, n_max });
    }
    if let Some(Repeating { column, n_records, n_different, .. }) = repeating.clone() {
        tell(Note::Repeating { column, n_records, n_different: n_different.n, is_exact: n_different.is_exact });
    }
    if choice.with_population {
        if let Some(attribute) = quasi_identifiers.iter().find(|attribute| attribute.from_level.is_some()) {
            let message =
                format!("k_map compares values with the population's, and '{}' is counted by labels", attribute.name);
            return Err(Error::new(ErrorKind::Request, message).hint(hint("leave out {from_level}, or ask for {k=10}")));
        }
        let (population, beside) = count_population(project, &quasi_identifiers, work)?;
        let written_here = notation::writings(&source, &beside, counts.domains());
        counts = counts.with_population_as(&population, |attribute, value| written_here[attribute].of(value));
        strangers(&quasi_identifiers, &counts).for_each(tell);
    }
    let material = Material::new(quasi_identifiers, sensitive, counts)
        .map_err(|error| located(error, &project.attributes, &source, &project.missing))?;
    Ok(Counted { source, material, repeating, notes })
}

/// The error of a hierarchy that does not fit, with the places of the cells that it does not fit.
pub fn located(error: Error, attributes: &[Attribute], source: &Source, missing: &Missing) -> Error {
    let is_named =
        |attribute: &&Attribute| error.message().to_string().starts_with(&format!("attribute '{}':", attribute.name));
    let error = match attributes.iter().find(is_named) {
        Some(Attribute { name, rule, .. }) => {
            let asked = CellCheck::of(rule, rule.needs(), &missing.tokens);
            source.located(error, name, &asked)
        }
        None => error,
    };
    error.or_at(source.files()[0].display().to_string())
}

/// How many cells were replaced in the columns that have been read, where some were.
pub fn replaced_notes(source: &Source) -> Vec<Note> {
    let of_column = |replaced: &Replaced| {
        let Replaced { column, n_unreadable, n_unknown, unknown } = replaced.clone();
        let unreadable = Note::Unreadable { attribute: column.clone(), n_cells: n_unreadable };
        let is_other = unknown == Unknown::Other;
        let unknown = Note::UnknownValues { attribute: column, n_cells: n_unknown, is_other };
        [(n_unreadable, unreadable), (n_unknown, unknown)]
    };
    let all = source.replaced().into_iter().flat_map(of_column);
    all.filter(|(n_cells, _)| *n_cells > 0).map(|(_, note)| note).collect()
}

/// Of which attributes the hierarchy does not know everybody of the population.
fn strangers(quasi_identifiers: &[Attribute], counts: &GroupCounts) -> impl Iterator<Item = Note> {
    quasi_identifiers.iter().enumerate().filter_map(|(a, attribute)| {
        let strangers: HashSet<&str> = counts.strangers(a).into_iter().collect();
        let absent = absent_values(&attribute.rule, &counts.domains()[a]);
        let n_values = absent.iter().filter(|value| strangers.contains(**value)).count() as u64;
        (n_values > 0).then(|| Note::Strangers { attribute: attribute.name.clone(), n_values })
    })
}

impl Counted {
    /// Says again what was worth knowing when it was counted.
    pub fn tell_again(&self, work: &Work) {
        self.notes.iter().for_each(|note| work.note(note.clone()));
    }

    /// The same project with `n` of its records, which chance chooses.
    pub fn sampled(&self, project: &Project, n: u64, seed: u64) -> Result<Counted> {
        let counts = self.as_read.as_ref().unwrap_or(&self.counts).sampled(n, seed);
        let material = Material::new(self.quasi_identifiers.clone(), self.sensitive.clone(), counts)?;
        Ok(Counted { source: project.source()?, material, repeating: self.repeating.clone(), notes: Vec::new() })
    }

    /// Says what turned out since: of columns that are published and were not counted.
    pub fn tell_more(&self, work: &Work) {
        let new = replaced_notes(&self.source).into_iter().filter(|note| !self.notes.contains(note));
        new.for_each(|note| work.note(note));
    }

    /// Refuses to promise anything to people whose records would be taken for those of many.
    ///
    /// # Guarantee
    /// No release promises k over records where an identifier of the project repeats, by the numbers of
    /// [`Repeating::is_of_people`],
    /// and nobody has said that records are meant.
    pub fn check_people(&self) -> Result<()> {
        let Some(repeating) = &self.repeating else { return Ok(()) };
        let message = format!("{repeating}: what is promised of records is not promised to people");
        Err(Error::new(ErrorKind::Project, message).hint(hint(
            "nothing was published; to count people, give the column {role=person}; to count records anyway, say \
             {data.records=independent}",
        )))
    }
}

/// Refuses values of a file beside the data that a hierarchy has no place for, and says which file it is.
pub fn check_values(quasi_identifiers: &[Attribute], counts: &GroupCounts, source: &Source) -> Result<()> {
    let file = source.files()[0].display().to_string();
    for (attribute, domain) in quasi_identifiers.iter().zip(counts.domains()) {
        let Err(error) = attribute.rule.resolve(domain) else { continue };
        let n_absent = absent_values(&attribute.rule, domain).len() as u64;
        if n_absent == 0 {
            return Err(with_what_to_say(error.or_at(file), &attribute.rule, domain));
        }
        let absent = counted_words(n_absent, "value");
        let message = format!("attribute '{}': the hierarchy misses {absent} that {file} holds", attribute.name);
        let position = error.position().cloned().unwrap_or_else(|| file.as_str().into());
        return Err(Error::new(ErrorKind::Hierarchy, message).at(position).hint("add a line for each of them"));
    }
    Ok(())
}

/// An error about values that are no numbers or dates, with what somebody has to say so that they are: those of other
/// countries are texts until then.
fn with_what_to_say(error: Error, rule: &Rule, domain: &Domain) -> Error {
    let needs_them = |rule: &Rule| {
        matches!(rule, Rule::Intervals { .. } | Rule::Cuts { .. } | Rule::Coded { .. } | Rule::Dates { .. })
    };
    let rule = match rule {
        Rule::Named { rule, .. } => rule.as_ref(),
        rule => rule,
    };
    match what_to_say(domain.present().map(|(_, value)| value)).filter(|_| needs_them(rule)) {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Counts the people whom those of the table hide among, and says where they were read.
fn count_population(project: &Project, quasi_identifiers: &[Attribute], work: &Work) -> Result<(GroupCounts, Source)> {
    let names: Vec<&str> = quasi_identifiers.iter().map(|attribute| attribute.name.as_str()).collect();
    let source = project.population_source()?.ok_or_else(|| {
        Error::new(ErrorKind::Request, "k_map needs a population to hide in, and the project names none")
            .hint(Wording::from(Step::AddPopulation).and("; it has the same quasi-identifiers"))
    })?;
    names.iter().try_for_each(|name| source.check_column(name))?;
    // What a person of the population lacks elsewhere matters to nobody.
    let missing = Missing { drop_records: false, ..project.missing.clone() };
    // Where it says whose record it is, in the words of the table, people are counted and not records.
    let columns = source.column_names();
    let person = project.person();
    let is_there = !person.is_empty() && person.iter().all(|name| columns.iter().any(|known| known == name));
    let counts = count_source(&source, &names, &[], if is_there { &person } else { &[] }, &missing, work)?;
    // Labels need not know everybody, but what is to be a number has to be one.
    for (attribute, domain) in quasi_identifiers.iter().zip(counts.domains()) {
        let values: Vec<&str> = domain.present().map(|(_, value)| value).collect();
        let at = |error: Error| error.or_at(source.files()[0].display().to_string());
        attribute.rule.resolve_with(domain, &values).map_err(at)?;
    }
    Ok((counts, source))
}

/// Refuses a project that names columns which the data do not have.
fn check_columns(project: &Project, source: &Source) -> Result<()> {
    let names = source.column_names();
    if project.attributes.len() > 1 && project.attributes.iter().all(|attribute| !names.contains(&attribute.name)) {
        // Perhaps the first line is a record: then its cells are nobody's business.
        let what = match source.is_csv() {
            true => "the first line must name the columns; if it does, name the separator with {data.delimiter}",
            false => {
                "name the columns as the table does; of a workbook with several sheets, name the sheet with {data.sheet}"
            }
        };
        return Err(Error::new(
            ErrorKind::Data,
            format!("none of the project's columns is among the {} of the table", names.len()),
        )
        .at(source.files()[0].display().to_string())
        .hint(hint(what)));
    }
    let names = project.attributes.iter().map(|attribute| attribute.name.as_str());
    source.check_readable(names.chain(project.beside_attributes()))?;
    // Who counts combinations leaves out what tells records apart.
    let may_lack = |attribute: &&Attribute| project.counted.is_some() && attribute.role == Role::Identifier;
    let needed = project.attributes.iter().filter(|attribute| !may_lack(attribute));
    needed.into_iter().try_for_each(|attribute| source.check_column(&attribute.name))?;
    project.beside_attributes().try_for_each(|name| source.check_column(name))
}

/// Counts the records of a source; `person` are the columns that say whose they are.
pub fn count_source(
    source: &Source,
    quasi_identifiers: &[&str],
    sensitive: &[&str],
    person: &[&str],
    missing: &Missing,
    work: &Work,
) -> Result<GroupCounts> {
    let counted = count_and_look(source, quasi_identifiers, sensitive, person, missing, Repeats::default, work);
    counted.map(|(counts, _)| counts)
}

/// Counts the records of a source, and looks on the way whether identifiers repeat.
fn count_and_look(
    source: &Source,
    quasi_identifiers: &[&str],
    sensitive: &[&str],
    person: &[&str],
    missing: &Missing,
    repeats: impl Fn() -> Repeats + Sync,
    work: &Work,
) -> Result<(GroupCounts, Repeats)> {
    let looked_at = repeats();
    let valued = || quasi_identifiers.iter().chain(sensitive).chain(person).copied();
    // With what tells records apart, a database would have nothing to add up: that is looked at on its own.
    let beside: Vec<String> = looked_at.names().map(str::to_string).collect();
    let (together, beside) = if source.is_database() { (Vec::new(), beside) } else { (beside, Vec::new()) };
    let columns = needed_columns(source, valued().chain(together.iter().map(String::as_str)), missing);
    let is_valued = |name: &String| valued().any(|known| known == name) || source.is_treated(name);
    let present: Vec<String> = columns.iter().filter(|name| !is_valued(name)).cloned().collect();
    let presence = Presence { columns: &present, tokens: &missing.tokens };
    let mut apart = Vec::new();
    for name in beside {
        let look = |repeats: &mut Repeats, batch: RecordBatch, n_times: Option<Vec<u64>>, _| {
            repeats.push(&batch, n_times.as_deref(), missing)
        };
        apart.extend(source.for_each_counted(&[name], Presence::default(), 1, &repeats, look)?);
    }
    let (n_rows, n_rows_max) = (AtomicU64::new(0), work.n_bytes_max() / (48 + 12 * columns.len() as u64));
    let counters = work.stage("counting", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each_counted(
            &columns,
            presence,
            work.n_threads(),
            || (Counter::of_people(quasi_identifiers, sensitive, person, missing), repeats()),
            |(counter, repeats), batch, n_times, n_bytes| {
                task.go_on()?;
                (task.progress)(n_bytes);
                repeats.push(&batch, n_times.as_deref(), missing)?;
                let n_now = n_rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed) + batch.num_rows() as u64;
                if source.is_database() && n_now > n_rows_max {
                    return Err(too_many(source, n_now));
                }
                match n_times {
                    Some(n_times) => counter.push_counted(&batch, &n_times),
                    None => counter.push(&batch),
                }
            },
        )
    });
    let mut counters = counters?.into_iter();
    let (mut whole, mut looked_at) = counters.next().expect("at least one thread reads");
    for (part, looked_at_part) in counters {
        work.quietly(|task| whole.merge_unless(part, task))?;
        looked_at.merge(looked_at_part);
    }
    apart.into_iter().for_each(|repeats| looked_at.merge(repeats));
    let counts = work.quietly(|task| whole.finish_unless(task))?;
    let position = || source.files()[0].display().to_string();
    match (counts.n_records(), counts.n_dropped()) {
        (0, 0) => Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(position())
            .hint("the first line names the columns; records follow it")),
        (0, n) => Err(Error::new(ErrorKind::Data, format!("all {n} records lack a value, none is left"))
            .at(position())
            .hint(hint("check {data.missing}, or keep such records with {data.missing_records=keep}"))),
        _ => Ok((counts, looked_at)),
    }
}

/// The error of combinations that do not fit into memory, of which a database can have any number.
fn too_many(source: &Source, n_rows: u64) -> Error {
    let message = format!("has more than {} combinations, which is more than there is memory for", grouped(n_rows));
    Error::new(ErrorKind::Data, message).at(source.files()[0].display().to_string()).hint(hint(
        "allow more with {memory}, or count labels instead of values with {from_level=age=1,zip=2}; a {data.query} that gives \
         coarser values is a way too",
    ))
}

/// The columns to read: those asked for, and the others in which a missing value drops a record.
pub fn needed_columns<'a>(source: &Source, names: impl Iterator<Item = &'a str>, missing: &Missing) -> Vec<String> {
    let mut columns: Vec<String> = names.map(str::to_string).collect();
    let dropping = source.column_names().into_iter().filter(|name| missing.drops(name) && !columns.contains(name));
    let dropping: Vec<String> = dropping.collect();
    columns.extend(dropping);
    columns
}

/// The quasi-identifiers and the sensitive attributes of this run: in the order in which they were chosen, or the project's.
pub fn chosen(project: &Project, choice: &Choice) -> Result<(Vec<Attribute>, Vec<Attribute>)> {
    let mut quasi_identifiers: Vec<Attribute> = project.with_role(Role::QuasiIdentifier).cloned().collect();
    if let Some(names) = &choice.quasi_identifiers {
        for name in names {
            let role = project.attribute(name)?.role;
            if role != Role::QuasiIdentifier {
                return Err(Error::new(
                    ErrorKind::Request,
                    format!("attribute '{name}' is {} in the project, not a quasi-identifier", role.name()),
                )
                .hint(Step::ChangeRole));
            }
        }
        if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(Error::new(ErrorKind::Request, format!("attribute '{}' is chosen twice", twice.1)));
        }
        let place = |attribute: &Attribute| names.iter().position(|name| *name == attribute.name);
        quasi_identifiers.retain(|attribute| place(attribute).is_some());
        quasi_identifiers.sort_by_key(place);
    }
    if quasi_identifiers.is_empty() {
        return Err(Error::new(ErrorKind::Project, "there is no quasi-identifier")
            .at(project.file.display().to_string())
            .hint(Step::NameQuasiIdentifier));
    }
    let mut sensitive: Vec<Attribute> = project.with_role(Role::Sensitive).cloned().collect();
    if let Some(names) = &choice.sensitive {
        names.iter().try_for_each(|name| check_sensitive(project, name))?;
        sensitive.retain(|attribute| names.contains(&attribute.name));
    }
    Ok((quasi_identifiers, sensitive))
}

/// Refuses a name that is not that of a sensitive attribute.
pub fn check_sensitive(project: &Project, name: &str) -> Result<()> {
    match project.attribute(name).map(|attribute| attribute.role) {
        Ok(Role::Sensitive) => Ok(()),
        Ok(Role::QuasiIdentifier) => Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' cannot be a quasi-identifier and sensitive at once"),
        )
        .hint(Step::ChangeRole)),
        _ => {
            let known: Vec<&str> = project.with_role(Role::Sensitive).map(|known| known.name.as_str()).collect();
            Err(unknown(ErrorKind::Request, "sensitive attribute", name, &known))
        }
    }
}
