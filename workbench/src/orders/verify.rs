//! `verify`: the third reading; judges a published table from itself and its certificate, with what else is known.

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use incrowd::number::Crowd;
use incrowd::recode::Recoding;
use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::search::negotiate::{check_criteria, check_promise, promises_nothing};
use incrowd::table::Code;
use incrowd::verify::{
    Labels, Original, Outside, PeopleVerifier, Ruling, SuppressedAs, Text, Texts, Verdict, Verifier,
};
use incrowd::wire::{self, Certificate, Claim, CountAt, Dealt};
use incrowd::{Criteria, Distance, Error, ErrorKind, Hierarchy, Level, Measure, Result, Role, Scheme};
use serde_json::Value;

use super::local::Local;
use super::per_record::{self, Outcome, PER_RECORD, PerRecordWish};
use super::request::resolve;
use crate::input::count::{Choice, Counted, count};
use crate::input::level::LevelSaid;
use crate::input::project::{Attribute, CriterionText, Project};
use crate::input::reference;
use crate::input::source::{DELIMITERS, Frame, PublishAs, ReadOptions, Source, Unknown, Unreadable};
use crate::output::account::{Key, SourceFiles};
use crate::sentences::{counted_words, hint};
use crate::work::{Unit, Work};

/// Which table is judged, by what, and with what else is known.
#[derive(Clone, Debug)]
pub struct Verify {
    pub file: PathBuf,
    /// The one beside the file where none is named, and no quasi-identifiers are.
    pub certificate: Option<PathBuf>,
    pub quasi_identifiers: Option<Vec<String>>,
    pub sensitive: Option<Vec<String>>,
    /// The project that the release was made from.
    pub project: Option<PathBuf>,
    /// The data that are read instead of the project's.
    pub data: Option<PathBuf>,
    /// Opens the certificate's marks of the project's files.
    pub key: Option<Key>,
    pub criteria: Vec<CriterionText>,
    pub suppressed_as: SuppressedAs,
    pub delimiter: Option<u8>,
    /// The column that says how many records a row of the file stands for; rows are records where there is none.
    pub counted: Option<String>,
}

/// What a file turned out to be.
pub struct Judged {
    pub verdict: Verdict,
    pub columns: Vec<String>,
    pub sha256: String,
    /// The groups of the file.
    pub file: Verifier,
    /// Why a promise to people is not judged, although the project is there.
    pub why_not_judged: Option<&'static str>,
}

const ONE_BY_ONE: &str = "records were generalized one by one, by weights or a dictionary that the certificate does not \
                          hold, so that it cannot be done again: publish judged it while it knew whose record became \
                          which";
const OTHER_GROUPS: &str = "the groups of the file are not those of the project's table at these levels: it is another \
                            table by now, or another project";
const OTHER_CLASSES: &str = "the method, run again on the project, does not give the groups of the file: the table, its \
                             hierarchies or weights are others by now";

impl Verify {
    /// Judges a file by its certificate, or by what the order says.
    pub fn run(&self, work: &Work) -> Result<Checked> {
        if let Err(error) = std::fs::metadata(&self.file) {
            let error = crate::io_error(&self.file, error);
            return Err(match beside(&self.file) {
                Some(_) => error.hint("its certificate is there and speaks of a file that is gone: publish it again"),
                None => error,
            });
        }
        let certificate = certificate_of(self)?;
        if certificate.is_none() && self.quasi_identifiers.is_none() {
            return Err(Error::new(
                ErrorKind::Request,
                "there is no certificate beside it: nothing says what is promised",
            )
            .at(self.file.display().to_string())
            .hint(hint(
                "where its publishing was interrupted, publish it again with {force}; any other file is judged with \
                 {quasi_identifiers=A,B,…} and {k}, or {certificate=FILE}",
            )));
        }
        check(self, certificate, None, work)
    }
}

/// A table that has been judged, and how it compares with its certificate.
pub struct Checked {
    pub judged: Judged,
    pub sensitive: Vec<String>,
    pub claims: Vec<Claim>,
    /// Whether criteria that compare with the original table were judged by the file's own distribution.
    pub is_own: bool,
    /// What the certificate says about dealing.
    pub dealt: Option<Dealt>,
    /// The sensitive attributes that are counted by their labels on a level, and what the level is called.
    pub count_at: Vec<(String, String)>,
}

/// Which sensitive attributes a certificate counts by their labels, and on which levels.
pub fn counted_at(certificate: &Certificate) -> Vec<(String, String)> {
    certificate.count_at.iter().map(|(name, at)| (name.clone(), at.level_name.clone())).collect()
}

impl Checked {
    pub fn ruling(&self) -> Ruling {
        wire::ruling(&self.judged.verdict, &self.claims)
    }
}

/// Judges the file that the flags name, or a table in memory in its stead, which has no hash to be claimed.
pub fn check(order: &Verify, certificate: Option<Certificate>, frame: Option<&Frame>, work: &Work) -> Result<Checked> {
    let quasi_identifiers = match (&order.quasi_identifiers, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.quasi_identifiers.clone(),
        (None, None) => {
            return Err(Error::new(ErrorKind::Request, "nothing says what the quasi-identifiers are")
                .hint(hint("give {quasi_identifiers=A,B,…} and {k}, or {certificate=FILE}")));
        }
    };
    let sensitive = match (&order.sensitive, &certificate) {
        (Some(names), _) => names.clone(),
        (None, Some(certificate)) => certificate.sensitive.clone(),
        (None, None) => Vec::new(),
    };
    check_roles(&quasi_identifiers, &sensitive)?;
    let criteria = criteria_of(order, certificate.as_ref(), &sensitive)?;
    let suppressed_as = order.suppressed_as;
    let source = match frame {
        Some(frame) => Source::of_frame(frame)?,
        None => {
            let of_certificate = || delimiter_of(&order.file, certificate.as_ref()?);
            Source::open(&order.file, &ReadOptions::of_release(order.delimiter.or_else(of_certificate)))?
        }
    };
    let source = match &order.counted {
        Some(column) => source.counted_by(column)?,
        None => source,
    };
    // A table with other columns is not the certificate's in any order.
    let claims_order = |certificate: &Certificate| certificate.sorted && certificate.columns == source.column_names();
    let with_order = certificate.as_ref().is_some_and(claims_order);
    let labels = certificate.as_ref().map_or(Vec::new(), |certificate| labels_for(certificate, &sensitive));
    let mut question = Question {
        quasi_identifiers: &quasi_identifiers,
        sensitive: &sensitive,
        criteria: &criteria,
        with_order,
        labels,
    };
    let mut origin = Vec::new();
    let is_of_people = certificate.as_ref().is_some_and(|certificate| !certificate.person.is_empty());
    let mut of_project = None;
    let known = match &order.project {
        Some(project) => {
            let mut project = Project::open(project)?.with_data(order.data.as_deref())?;
            if let Some(certificate) = &certificate {
                count_as_promised(&mut project, certificate, &sensitive);
                read_as_published(&mut project, certificate)?;
            }
            let release = Release { source: &source, certificate: certificate.as_ref() };
            let counted = release.count(&project, &question, work)?;
            let known = release.labels_of_project(&project, &counted, &question);
            origin.extend(certificate.iter().flat_map(|certificate| label_claims(certificate, &sensitive, &known)));
            question.labels = known;
            if let Some(key) = &order.key {
                origin.extend(origin_claims(&project, &counted, certificate.as_ref(), key)?);
            }
            let outside = release.outside_of_project(&project, &counted, &question);
            if is_of_people {
                of_project = Some((project, counted, outside.clone()));
            }
            Some(outside)
        }
        None => None,
    };
    let mut is_kept_alone = false;
    let outside = |verifier: &Verifier| {
        let outside = known.unwrap_or_else(|| outside_of_file(verifier, &sensitive, certificate.as_ref()));
        is_kept_alone = outside.is_kept_alone(&criteria);
        outside
    };
    let mut judged = judge_source(&source, &question, outside, suppressed_as, work)?;
    if is_kept_alone {
        return Err(promises_nothing(&criteria));
    }
    if let Some(certificate) = &certificate {
        let known = of_project.as_ref().map(|(project, counted, outside)| (project, counted, outside));
        judged = judged.over_people(&source, certificate, &question, known, work)?;
    }
    if frame.is_none() {
        judged.sha256 = sha256_of_file(&order.file, &source)?;
    }
    let sha256 = frame.is_none().then(|| judged.sha256.clone());
    let is_own = certificate.is_none()
        && order.project.is_none()
        && criteria.iter().any(|criterion| criterion.measure.is_relative());
    let dealt = certificate.as_ref().and_then(|certificate| certificate.dealt.clone());
    let count_at = certificate.as_ref().map_or(Vec::new(), counted_at);
    let claims = certificate.map_or(Vec::new(), |certificate| {
        let claims =
            wire::check_release(&certificate, &judged.verdict, &judged.file, &judged.columns, sha256.as_deref());
        claims.into_iter().chain(origin).collect()
    });
    Ok(Checked { judged, sensitive, claims, is_own, dealt, count_at })
}

impl Judged {
    /// The same over people where the certificate says that they are counted: by the table that the release was made
    /// from, and not judged where that is not known, or does not tell whom cells fit.
    pub fn over_people(
        mut self,
        source: &Source,
        certificate: &Certificate,
        question: &Question,
        known: Option<(&Project, &Counted, &Outside)>,
        work: &Work,
    ) -> Result<Judged> {
        if certificate.person.is_empty() {
            return Ok(self);
        }
        let release = Release { source, certificate: Some(certificate) };
        let mut findings = None;
        if let Some((project, counted, outside)) = known {
            let people = match release.scheme(counted) {
                Some(scheme) => release.people(&self.file, &scheme, project, counted, question),
                None if counted.counts.people().is_none() => None,
                None => release.people_of_method(&self.file, project, counted, question, work)?,
            };
            self.why_not_judged = people.is_none().then(|| match (release.scheme(counted), &certificate.per_record) {
                (_, Some(ordered)) if PerRecordWish::again(ordered, certificate.seed).is_none() => ONE_BY_ONE,
                (Some(_), None) => OTHER_GROUPS,
                _ => OTHER_CLASSES,
            });
            findings = people.map(|people| people.findings(question.criteria, outside));
            if counted.counts.people().is_none() && release.scheme(counted).is_none() {
                // Where everybody has one record, records are people.
                findings = Some(self.verdict.findings.clone());
                self.why_not_judged = None;
            }
        }
        self.verdict = self.verdict.over_people(findings);
        Ok(self)
    }
}

/// Refuses an attribute that is to be two things.
pub fn check_roles(quasi_identifiers: &[String], sensitive: &[String]) -> Result<()> {
    match sensitive.iter().find(|name| quasi_identifiers.contains(name)) {
        None => Ok(()),
        Some(name) => Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' cannot be a quasi-identifier and sensitive at once"),
        )
        .hint(hint("name it in {quasi_identifiers} or in {sensitive}"))),
    }
}

/// A published table and what came with it.
struct Release<'a> {
    source: &'a Source,
    certificate: Option<&'a Certificate>,
}

impl Release<'_> {
    /// Counts the project as it was counted for the release.
    fn count(&self, project: &Project, question: &Question, work: &Work) -> Result<Counted> {
        let attributes = attributes_of(question.quasi_identifiers, project);
        let choice = Choice {
            quasi_identifiers: Some(attributes.clone()),
            sensitive: Some(question.sensitive.to_vec()),
            with_population: question.criteria.value(Measure::Population).is_some(),
        };
        count(project, &choice, work)
    }

    /// The levels that all cells of an attribute are of, where there are such: then it is known whom a cell fits.
    fn scheme(&self, counted: &Counted) -> Option<Scheme> {
        let levels = self.certificate.map(|certificate| &certificate.levels).filter(|levels| levels.is_object())?;
        let level = |hierarchy: &incrowd::Hierarchy| {
            let level = levels.get(hierarchy.attribute()).and_then(Value::as_u64).unwrap_or(0);
            Level(level.min(hierarchy.top() as u64) as u8)
        };
        Some(Scheme::new(counted.hierarchies.iter().map(level).collect()))
    }

    /// Whose records the groups of a file are made of: those of the project that look like them at these levels. None
    /// where these are not as many as the file has, so that it is not the project's.
    fn people(
        &self,
        file: &Verifier,
        scheme: &Scheme,
        project: &Project,
        counted: &Counted,
        question: &Question,
    ) -> Option<PeopleVerifier> {
        let missing = self.writes_missing_as_text().then(|| project.missing.label().to_string());
        let place = |name: &String| counted.sensitive.iter().position(|attribute| attribute.name == *name);
        let attributes: Vec<usize> = question.sensitive.iter().map(place).collect::<Option<_>>()?;
        let columns = columns_of(question.quasi_identifiers, &counted.hierarchies)?;
        let in_two_columns = in_two_columns(question.quasi_identifiers, &counted.hierarchies);
        let shown_of = |(a, hierarchy)| reference::shown_at(hierarchy, scheme.level(a), in_two_columns[a], &missing);
        let shown: Vec<Vec<Vec<Text>>> = counted.hierarchies.iter().enumerate().map(shown_of).collect();
        let sizes: HashMap<&[Text], u64> = file.groups().into_iter().map(|(cells, n, _)| (cells, n)).collect();
        let mut found: HashMap<Vec<Text>, u64> = HashMap::new();
        let mut people = PeopleVerifier::new(attributes.len());
        for (codes, values, person, n_records) in counted.counts.records_of_people()? {
            let cells: Vec<Text> = columns.iter().map(|&(a, end)| shown[a][codes[a].index()][end].clone()).collect();
            let value = |s: &usize| {
                let domain = &counted.counts.sensitive()[*s];
                match domain.missing() == Some(values[*s]) {
                    true => missing.clone(),
                    false => Some(domain.values()[values[*s].index()].clone()),
                }
            };
            let values: Vec<Text> = attributes.iter().map(value).collect();
            people.see_original(person, values.iter().cloned());
            if sizes.contains_key(&cells[..]) {
                *found.entry(cells.clone()).or_default() += n_records;
                people.see_published_times(cells, person, values.into_iter(), n_records);
            }
        }
        let is_same = sizes.len() == found.len() && found.iter().all(|(cells, n)| sizes.get(&cells[..]) == Some(n));
        is_same.then_some(people)
    }

    /// What a local method, or generalizing records one by one, gives when it is done again as the certificate says. None
    /// where that does not say all of it, or nothing comes of it.
    fn made_again(&self, counted: &Counted, question: &Question, work: &Work) -> Result<Option<Recoding>> {
        let Some(certificate) = self.certificate else { return Ok(None) };
        let n_records = counted.counts.n_records();
        if let Some(ordered) = &certificate.per_record {
            let Some(wish) = PerRecordWish::again(ordered, certificate.seed) else { return Ok(None) };
            per_record::check_memory(counted, wish.fit(), work.n_bytes_max())?;
            let made = work.stage(PER_RECORD, n_records, Unit::Records, |task| {
                work.on_threads(|| per_record::make(&wish, counted, task))?
            })?;
            return Ok(match made {
                Outcome::Made(made) => Some(made.recoding),
                _ => None,
            });
        }
        let Some((local, criteria)) = certificate.cells.as_deref().and_then(CellStyle::parse).and_then(|style| {
            let is_own = |name: &String| counted.hierarchies.iter().any(|known| known.attribute() == name);
            let two_columns = !question.quasi_identifiers.iter().all(is_own);
            let local = Local::new(Method::parse(&certificate.method).ok()?);
            let (seed, n_exchanges) =
                (certificate.seed.unwrap_or(local.seed), certificate.exchanges.unwrap_or(local.n_exchanges));
            let n_suppressed_max = certificate.request["max_suppressed"].as_u64().unwrap_or(0);
            let n_steps = certificate.steps.unwrap_or(0);
            let local = Local { style, two_columns, seed, n_exchanges, n_suppressed_max, n_steps, ..local };
            Some((local, certificate.promised()?))
        }) else {
            return Ok(None);
        };
        let made = work.stage(local.method.name(), n_records, Unit::Records, |task| {
            work.on_threads(|| local.make(counted, &criteria, task))?
        })?;
        Ok(Some(made.recoding))
    }

    /// The same of a local method, and of records that were generalized one by one, which is done again: a record may fit
    /// several groups, and only the method knows which it joined. None where that does not give the groups of the file,
    /// with as many of each sensitive value.
    fn people_of_method(
        &self,
        file: &Verifier,
        project: &Project,
        counted: &Counted,
        question: &Question,
        work: &Work,
    ) -> Result<Option<PeopleVerifier>> {
        let Some(recoding) = &self.made_again(counted, question, work)? else { return Ok(None) };
        let missing = self.writes_missing_as_text().then(|| project.missing.label().to_string());
        let counts = counted.told_apart();
        let cell = |group: usize, column: &String| {
            let own = counted.hierarchies.iter().position(|known| known.attribute() == column);
            let ended = |end: &str| {
                let name = column.strip_suffix(end)?;
                counted.hierarchies.iter().position(|known| known.attribute() == name)
            };
            match (own, ended("_low"), ended("_high")) {
                (Some(a), ..) => {
                    let cell = recoding.cell(group, a);
                    if cell.is_missing { missing.clone() } else { Some(cell.text.clone()) }
                }
                (_, Some(a), _) => recoding.cell(group, a).ends.0.clone().or(missing.clone()),
                (_, _, Some(a)) => recoding.cell(group, a).ends.1.clone().or(missing.clone()),
                _ => None,
            }
        };
        let cells_of: Vec<Vec<Text>> = (0..recoding.n_groups())
            .map(|group| question.quasi_identifiers.iter().map(|column| cell(group, column)).collect())
            .collect();
        let attribute = |name: &String| counted.sensitive.iter().position(|known| known.name == *name);
        let Some(attributes) = question.sensitive.iter().map(attribute).collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        let mut people = PeopleVerifier::new(attributes.len());
        let mut found: HashMap<&[Text], (u64, Vec<HashMap<Text, u64>>)> = HashMap::new();
        for base in 0..counts.n_groups() {
            for share in recoding.shares(base) {
                // Where nobody looks at values, all records of the group go the same way.
                let cells: Vec<(&[Code], u64)> = match share.cell {
                    Some(cell) => counts
                        .cell(base, cell as usize)
                        .map(|(codes, _)| (codes, share.n_records))
                        .into_iter()
                        .collect(),
                    None => counts.cells(base).collect(),
                };
                if cells.iter().map(|(_, n)| n).sum::<u64>() != share.n_records {
                    return Ok(None);
                }
                for (codes, n_records) in cells {
                    let (values, whose) = codes.split_at(codes.len() - 1);
                    let who = &counts.sensitive()[values.len()].values()[whose[0].index()];
                    let value = |s: &usize| {
                        let domain = &counts.sensitive()[*s];
                        match domain.missing() == Some(values[*s]) {
                            true => missing.clone(),
                            false => Some(domain.values()[values[*s].index()].clone()),
                        }
                    };
                    let values: Vec<Text> = attributes.iter().map(value).collect();
                    people.see_original(who, values.iter().cloned());
                    let Some(group) = share.group else { continue };
                    let (n, of_values) = found.entry(&cells_of[group as usize]).or_default();
                    *n += n_records;
                    of_values.resize_with(values.len(), HashMap::new);
                    of_values.iter_mut().zip(&values).for_each(|(counts, value)| {
                        *counts.entry(value.clone()).or_default() += n_records;
                    });
                    let cells = &cells_of[group as usize];
                    (0..n_records).for_each(|_| people.see_published(cells.clone(), who, values.iter().cloned()));
                }
            }
        }
        let groups = file.groups();
        let is_there = |(cells, n, values): &(&[Text], u64, &[HashMap<Text, u64>])| {
            // Whoever asks about other attributes compares sizes alone.
            let is_same = |of_values: &[_]| of_values.len() != values.len() || *of_values == **values;
            found.get(cells).is_some_and(|(known, of_values)| known == n && is_same(of_values))
        };
        Ok((groups.len() == found.len() && groups.iter().all(is_there)).then_some(people))
    }

    /// What the project counts the values of sensitive attributes as, by those of the question.
    fn labels_of_project(&self, project: &Project, counted: &Counted, question: &Question) -> Vec<Option<Labels>> {
        let missing = self.writes_missing_as_text().then(|| project.missing.label().to_string());
        let mut labels = counted.labels(&missing);
        let place = |name: &String| counted.sensitive.iter().position(|attribute| attribute.name == *name);
        question.sensitive.iter().map(|name| labels[place(name)?].take()).collect()
    }

    /// What the project knows about the original table and the population.
    fn outside_of_project(&self, project: &Project, counted: &Counted, question: &Question) -> Outside {
        let scheme = self.scheme(counted);
        let missing = self.writes_missing_as_text().then(|| project.missing.label().to_string());
        let Outside { mut originals, population } = {
            let in_two_columns = in_two_columns(question.quasi_identifiers, &counted.hierarchies);
            reference::outside(counted, scheme.as_ref(), &in_two_columns, &missing)
        };
        // The project has its own order of attributes.
        let place = |names: Vec<&str>, name: &String| names.iter().position(|known| *known == name.as_str());
        let sensitive = || counted.sensitive.iter().map(|attribute| attribute.name.as_str()).collect();
        let originals = question.sensitive.iter().map(|name| originals[place(sensitive(), name)?].take()).collect();
        let places = places_of(question.quasi_identifiers, &counted.hierarchies);
        let in_order = |cells: Vec<Text>, places: &[usize]| places.iter().map(|&a| cells[a].clone()).collect();
        let population = population
            .zip(places)
            .map(|(people, places)| people.into_iter().map(|(cells, n)| (in_order(cells, &places), n)).collect());
        Outside { originals, population }
    }

    /// Whether "no value" is a text of the table. Of one in memory, the file that it was says it.
    fn writes_missing_as_text(&self) -> bool {
        let is_typed = |name: &str| [".parquet", ".sav", ".dta"].iter().any(|ending| name.ends_with(ending));
        let is_named_typed = || self.certificate.is_some_and(|certificate| is_typed(&certificate.output.name));
        self.source.is_csv() || (self.source.is_frame() && !is_named_typed())
    }
}

/// Whose records the groups of a release are made of, by the project that it was made from. None where that is not known:
/// the project does not say whose records it has, the release is not its own, or cannot be made again.
pub fn people_of_release(
    source: &Source,
    certificate: Option<&Certificate>,
    quasi_identifiers: &[String],
    file: &Verifier,
    project: &Project,
    work: &Work,
) -> Result<Option<PeopleVerifier>> {
    let is_of_project = |name: &String| {
        project.attributes.iter().any(|known| known.name == *name && known.role == Role::QuasiIdentifier)
    };
    let Some(certificate) = certificate.filter(|_| !project.person().is_empty()) else { return Ok(None) };
    if !attributes_of(quasi_identifiers, project).iter().all(is_of_project) {
        return Ok(None);
    }
    let mut project = project.clone();
    count_as_promised(&mut project, certificate, &certificate.sensitive);
    read_as_published(&mut project, certificate)?;
    let release = Release { source, certificate: Some(certificate) };
    let (criteria, has_levels) = (Criteria::default(), certificate.levels.is_object());
    // Local methods look at sensitive values too.
    let sensitive: &[String] = if has_levels { &[] } else { &certificate.sensitive };
    let question =
        Question { quasi_identifiers, sensitive, criteria: &criteria, with_order: false, labels: Vec::new() };
    let counted = release.count(&project, &question, work)?;
    match release.scheme(&counted) {
        Some(scheme) => Ok(release.people(file, &scheme, &project, &counted, &question)),
        None if counted.counts.people().is_none() => Ok(None),
        None => release.people_of_method(file, &project, &counted, &question, work),
    }
}

/// By column of a release, the attribute that it was made of, and which of its columns it is; none where it is of no
/// attribute.
fn columns_of(columns: &[String], hierarchies: &[Hierarchy]) -> Option<Vec<(usize, usize)>> {
    let place = |name: &str| hierarchies.iter().position(|known| known.attribute() == name);
    let ends = [("_low", 0), ("_high", 1)];
    let of_end = |column: &str| ends.iter().find_map(|(end, n)| Some((place(column.strip_suffix(end)?)?, *n)));
    columns.iter().map(|column| place(column).map(|a| (a, 0)).or_else(|| of_end(column))).collect()
}

/// By attribute, whether a release has the lowest and the highest value of it instead.
pub fn in_two_columns(columns: &[String], hierarchies: &[Hierarchy]) -> Vec<bool> {
    hierarchies.iter().map(|known| !columns.iter().any(|column| column == known.attribute())).collect()
}

/// By column of a release, its place among those of all attributes in their order.
fn places_of(columns: &[String], hierarchies: &[Hierarchy]) -> Option<Vec<usize>> {
    let in_two_columns = in_two_columns(columns, hierarchies);
    let n_before = |a: usize| in_two_columns[..a].iter().map(|two| 1 + usize::from(*two)).sum::<usize>();
    let columns = columns_of(columns, hierarchies)?;
    Some(columns.into_iter().map(|(a, end)| n_before(a) + end).collect())
}

/// The attributes of a project that columns of a release were made of: `age` of `age_low` and `age_high` too.
fn attributes_of(columns: &[String], project: &Project) -> Vec<String> {
    let is_known = |name: &str| project.attributes.iter().any(|attribute| attribute.name == name);
    let of_pair = |column: &String| {
        let name = ["_low", "_high"].into_iter().find_map(|end| column.strip_suffix(end))?;
        let has_both = ["_low", "_high"].into_iter().all(|end| columns.contains(&format!("{name}{end}")));
        (has_both && is_known(name) && !is_known(column)).then(|| name.to_string())
    };
    let mut attributes: Vec<String> =
        columns.iter().map(|column| of_pair(column).unwrap_or_else(|| column.clone())).collect();
    // Two columns of an attribute follow each other.
    attributes.dedup();
    attributes
}

/// By sensitive attribute of the question, the labels of a certificate.
fn labels_for(certificate: &Certificate, sensitive: &[String]) -> Vec<Option<Labels>> {
    let known = certificate.labels();
    let place = |name: &String| certificate.sensitive.iter().position(|known| known == name);
    sensitive.iter().map(|name| known[place(name)?].clone()).collect()
}

/// Lets a project count sensitive values as a certificate says, whatever it says itself by now.
fn count_as_promised(project: &mut Project, certificate: &Certificate, sensitive: &[String]) {
    for attribute in project.attributes.iter_mut().filter(|attribute| sensitive.contains(&attribute.name)) {
        let level = certificate.count_at.get(&attribute.name).map(|at| at.level);
        attribute.count_at = level.map(|level| LevelSaid::Number(usize::try_from(level).unwrap_or(usize::MAX)));
    }
}

/// Lets a project replace cells as a certificate says that they were, whatever it says itself by now: the release is what the
/// certificate describes.
fn read_as_published(project: &mut Project, certificate: &Certificate) -> Result<()> {
    let wrong = |what: &str, name: &str| {
        Error::new(ErrorKind::Data, format!("the certificate says something of '{name}' ({what}) that is not known"))
            .hint("it may be of a later version, or damaged")
    };
    let text = |said: &serde_json::Map<String, Value>, name: &str| -> Option<String> {
        said.get(name).map(|said| said.as_str().unwrap_or_default().to_string())
    };
    let is_published = |attribute: &&mut Attribute| !matches!(attribute.role, Role::Identifier | Role::Person);
    for attribute in project.attributes.iter_mut().filter(is_published) {
        let name = attribute.name.clone();
        attribute.unreadable = match text(&certificate.unreadable, &name) {
            Some(said) => Unreadable::parse(&said).ok_or_else(|| wrong("unreadable", &name))?,
            None => Unreadable::Error,
        };
        attribute.unknown = match text(&certificate.unknown, &name) {
            Some(said) => Unknown::parse(&said).ok_or_else(|| wrong("unknown", &name))?,
            None => Unknown::Error,
        };
        attribute.publish_as = match certificate.published_as.get(&name) {
            Some(said) => Some(PublishAs::of_document(said).ok_or_else(|| wrong("published_as", &name))?),
            None => None,
        };
        // A row for what is not known is added where it was there, and does no harm where it was not.
        *attribute = attribute.clone().with_rule(attribute.rule.clone());
    }
    Ok(())
}

/// Whether the labels of a certificate are those that the project's hierarchies give. No value of the data is named.
fn label_claims(certificate: &Certificate, sensitive: &[String], known: &[Option<Labels>]) -> Vec<Claim> {
    let said = labels_for(certificate, sensitive);
    let claim = |((name, said), known): ((&String, &Option<Labels>), &Option<Labels>)| {
        let (said, known) = (said.as_ref()?, known.as_ref()?);
        let n_other = said.iter().filter(|(value, label)| known.get(*value) != Some(*label)).count() as u64;
        let claimed = "those of the project".to_string();
        let found = match n_other {
            0 => claimed.clone(),
            n => format!("others of {}", counted_words(n, "value")),
        };
        Some(Claim { claim: format!("labels of {name}"), holds: n_other == 0, claimed, found })
    };
    sensitive.iter().zip(&said).zip(known).filter_map(claim).collect()
}

/// Whether the marks of files in a certificate are those of the project's files.
fn origin_claims(
    project: &Project,
    counted: &Counted,
    certificate: Option<&Certificate>,
    key: &Key,
) -> Result<Vec<Claim>> {
    match certificate {
        Some(certificate) if certificate.format_version >= 2 => {
            Ok(SourceFiles::of(project, counted)?.check(certificate, key))
        }
        Some(_) => Err(Error::new(ErrorKind::Request, "the certificate is of an older version and needs no key")
            .hint("it has the SHA-256 of each file: compare them with sha256sum")),
        None => Err(Error::new(ErrorKind::Request, "a key opens the marks of a certificate, and there is none")
            .hint(hint("name it with {certificate=FILE}"))),
    }
}

/// What a file alone can be compared with: what its certificate tells, or itself where that is the same.
fn outside_of_file(verifier: &Verifier, sensitive: &[String], certificate: Option<&Certificate>) -> Outside {
    let itself = |s: usize, distance: Option<Distance>| {
        let counts = verifier.distribution(s);
        let is_text = |value: &String| incrowd::table::Kind::of(value) == incrowd::table::Kind::Text;
        let by_kind = match counts.keys().flatten().any(is_text) {
            true => Distance::Equal,
            false => Distance::Ordered,
        };
        Original::new(&sensitive[s], counts, distance.unwrap_or(by_kind), &HashMap::new())
    };
    let original = |s: usize| {
        let Some(certificate) = certificate else { return Some(itself(s, None)) };
        reference::from_certificate(certificate, &sensitive[s], verifier.distribution(s))
    };
    Outside { originals: (0..sensitive.len()).map(original).collect(), population: None }
}

/// The certificate that was named, or the one that stands beside the file where nothing else is said.
pub fn certificate_of(order: &Verify) -> Result<Option<Certificate>> {
    let beside = || beside(&order.file).filter(|_| order.quasi_identifiers.is_none());
    order.certificate.clone().or_else(beside).map(|path| read_certificate(&path)).transpose()
}

/// The certificate that stands beside a release, if one does.
pub fn beside(file: &Path) -> Option<PathBuf> {
    let mut name = file.as_os_str().to_owned();
    name.push(".certificate.json");
    Some(PathBuf::from(name)).filter(|path| path.exists())
}

pub fn read_certificate(path: &Path) -> Result<Certificate> {
    let text = std::fs::read_to_string(path).map_err(|error| crate::io_error(path, error))?;
    parse_certificate(&text, &path.display().to_string())
}

/// Reads a certificate, which stands at a position that errors name.
pub fn parse_certificate(text: &str, position: &str) -> Result<Certificate> {
    let wrong = |message: String| Error::new(ErrorKind::Data, message).at(position);
    let certificate: Certificate =
        serde_json::from_str(text).map_err(|error| wrong(format!("is not a certificate: {error}")))?;
    if certificate.format != Certificate::FORMAT {
        return Err(wrong("is not a certificate of incrowd".into()));
    }
    let version = Certificate::version_of(!certificate.person.is_empty(), !certificate.count_at.is_empty());
    let is_newer = certificate.format_version > Certificate::FORMAT_VERSION_OF_LABELS;
    let has_version = certificate.format_version == version || (certificate.format_version, version) == (1, 2);
    let has_labels = |(name, at): (&String, &CountAt)| certificate.sensitive.contains(name) && at.is_sound();
    if certificate.format_version >= 2 && !certificate.sorted
        || !is_newer && !has_version
        || !certificate.count_at.iter().all(has_labels)
    {
        return Err(wrong("is not a certificate of incrowd: its version and what it says do not go together".into()));
    }
    if is_newer {
        return Err(wrong(format!("is of version {}, newer than this incrowd", certificate.format_version))
            .hint("check it with a newer version of incrowd"));
    }
    if certificate.quasi_identifiers.is_empty() || certificate.criteria.values().any(|c| c.get("promised").is_none()) {
        return Err(wrong("does not say what is promised about which quasi-identifiers".into()));
    }
    if certificate.promised().is_none() {
        let names: Vec<&str> = certificate.criteria.keys().map(String::as_str).collect();
        return Err(wrong(format!("promises something that this incrowd cannot check: {}", names.join(", "))));
    }
    Ok(certificate)
}

/// What separates the fields of a CSV file, by its certificate: as that says, or where it is of version 1, the separator
/// with which the file has the columns of the certificate.
pub fn delimiter_of(file: &Path, certificate: &Certificate) -> Option<u8> {
    if let Some(delimiter) = certificate.delimiter {
        return u8::try_from(delimiter).ok().filter(u8::is_ascii);
    }
    let fits = |delimiter: &u8| {
        let source = Source::open(file, &ReadOptions::of_release(Some(*delimiter)));
        source.is_ok_and(|source| source.column_names() == certificate.columns)
    };
    // Whatever stands behind the first name is likely to be it.
    let name = certificate.columns.first()?;
    let mut start = vec![0; name.len() + 1];
    let is_read = std::fs::File::open(file).and_then(|mut file| file.read_exact(&mut start)).is_ok();
    let behind = start.last().copied().filter(|_| is_read);
    DELIMITERS.into_iter().chain(behind).find(fits)
}

fn criteria_of(order: &Verify, certificate: Option<&Certificate>, sensitive: &[String]) -> Result<Criteria> {
    let known: Vec<&str> = sensitive.iter().map(String::as_str).collect();
    let texts = &order.criteria;
    let criteria = match (texts.is_empty(), certificate) {
        (true, Some(certificate)) => certificate.promised().unwrap_or_default(),
        _ => {
            let needs = |error: Error| if known.is_empty() { error.hint(hint("give {sensitive=NAME}")) } else { error };
            // By the numbers of all sensitive attributes of the file, not only of those that are named.
            resolve(texts, &known, None).map_err(needs)?.about(sensitive).criteria
        }
    };
    let promises_no_k = texts.is_empty() && certificate.is_some_and(|certificate| certificate.per_record.is_some());
    if criteria.is_empty() && promises_no_k {
        return Ok(criteria);
    }
    if criteria.is_empty() {
        return Err(Error::new(ErrorKind::Request, "nothing says what is promised")
            .hint(hint("give {k}, {l}, {t} or another criterion, or {certificate=FILE}")));
    }
    check_criteria(&criteria, Crowd::Records(u64::MAX), &vec![usize::MAX; sensitive.len()])?;
    check_promise(&criteria)?;
    Ok(criteria)
}

/// What a file is asked.
pub struct Question<'a> {
    pub quasi_identifiers: &'a [String],
    pub sensitive: &'a [String],
    pub criteria: &'a Criteria,
    /// Whether its records are in the order of what they say.
    pub with_order: bool,
    /// By sensitive attribute, the labels that its values are counted as; none, or fewer, where they are counted as they
    /// are.
    pub labels: Vec<Option<Labels>>,
}

/// Reads the groups of a published file.
pub fn read(
    source: &Source,
    quasi_identifiers: &[String],
    sensitive: &[String],
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Verifier> {
    let needed: Vec<String> = quasi_identifiers.iter().chain(sensitive).cloned().collect();
    needed.iter().try_for_each(|name| source.check_column(name))?;
    read_with(Verifier::new(quasi_identifiers, sensitive, suppressed_as), source, &needed, work)
}

/// Reads the groups of a published file, and the order of its records.
fn read_in_order(source: &Source, question: &Question, suppressed_as: SuppressedAs, work: &Work) -> Result<Verifier> {
    let columns = source.column_names();
    let needed = question.quasi_identifiers.iter().chain(question.sensitive);
    needed.into_iter().try_for_each(|name| source.check_column(name))?;
    let texts = if source.is_frame() { Texts::AsRemembered } else { Texts::AsWritten };
    let verifier = Verifier::new(question.quasi_identifiers, question.sensitive, suppressed_as);
    let verifier = verifier.with_labels(question.labels.clone());
    read_with(verifier.with_order(&columns, texts), source, &columns, work)
}

fn read_with(mut verifier: Verifier, source: &Source, needed: &[String], work: &Work) -> Result<Verifier> {
    work.stage("reading", source.n_bytes(), Unit::Bytes, |task| {
        source.for_each_numbered(needed, |batch, n_times, n_bytes| {
            task.go_on()?;
            (task.progress)(n_bytes);
            match n_times {
                Some(n_times) => verifier.push_counted(&batch, &n_times),
                None => verifier.push(&batch),
            }
        })
    })?;
    Ok(verifier)
}

/// Reads a published file and judges it, with what lies outside of it.
pub fn judge(
    path: &Path,
    delimiter: Option<u8>,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Judged> {
    let source = Source::open(path, &ReadOptions::of_release(delimiter))?;
    let mut judged = judge_source(&source, question, outside, suppressed_as, work)?;
    judged.sha256 = sha256_of_file(path, &source)?;
    Ok(judged)
}

/// Of a file that was read; a folder has none.
fn sha256_of_file(path: &Path, source: &Source) -> Result<String> {
    if path.is_dir() { Ok(String::new()) } else { Ok(source.sha256()?.concat()) }
}

/// Reads a published table, which has no hash, and judges it, with what lies outside of it.
pub fn judge_source(
    source: &Source,
    question: &Question,
    outside: impl FnOnce(&Verifier) -> Outside,
    suppressed_as: SuppressedAs,
    work: &Work,
) -> Result<Judged> {
    let verifier = match question.with_order {
        true => read_in_order(source, question, suppressed_as, work)?,
        false => {
            let Question { quasi_identifiers, sensitive, labels, .. } = question;
            let needed: Vec<String> = quasi_identifiers.iter().chain(*sensitive).cloned().collect();
            needed.iter().try_for_each(|name| source.check_column(name))?;
            let verifier = Verifier::new(quasi_identifiers, sensitive, suppressed_as).with_labels(labels.clone());
            read_with(verifier, source, &needed, work)?
        }
    };
    let verdict = verifier.verdict(question.criteria, &outside(&verifier));
    if verdict.n_records + verdict.n_absent == 0 {
        return Err(Error::new(ErrorKind::Data, "has column names and no records")
            .at(source.files()[0].display().to_string())
            .hint("there is nothing to judge"));
    }
    let columns = source.column_names();
    Ok(Judged { verdict, columns, sha256: String::new(), file: verifier, why_not_judged: None })
}
