//! Whose records the groups of a release are made of, by the project that it was made from.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use incrowd::recode::Recoding;
use incrowd::recode::method::Method;
use incrowd::recode::partition::CellStyle;
use incrowd::recode::tree::negotiate::Request;
use incrowd::table::Code;
use incrowd::verify::{Labels, Outside, PeopleVerifier, Text, Verifier};
use incrowd::wire::{Certificate, CertifiedWish};
use incrowd::{Criteria, Result, Role, Scheme};

use super::certificate::{count_as_promised, read_as_published};
use super::columns::{attributes_of, columns_of, in_two_columns};
use super::judged::{Judged, Question};
use super::release::Release;
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::input::reference;
use crate::input::source::Source;
use crate::orders::cutting::made_again;
use crate::orders::local::Local;
use crate::orders::negotiate_local::CutChoice;
use crate::orders::per_record::{self, Outcome, PER_RECORD, PerRecordWish};
use crate::work::{Unit, Work};

const ONE_BY_ONE: &str = "records were generalized one by one, by weights or a dictionary that the certificate does not \
                          hold, so that it cannot be done again: publish judged it while it knew whose record became \
                          which";
const OTHER_GROUPS: &str = "the groups of the file are not those of the project's table at these levels: it is another \
                            table by now, or another project";
const OTHER_CLASSES: &str = "the method, run again on the project, does not give the groups of the file: the table, its \
                             hierarchies or weights are others by now";

const OTHER_PEOPLE: &str = "the certificate says by other columns whose record it is than the project does: it is another \
                            project, or another one by now";
const OF_RECORDS: &str = "it was published for records, and the project says whose record it is: publish it again for people, \
                          or ask without the project what it promises of records";
const NO_CERTIFICATE: &str = "without a certificate nobody knows whose records the groups of the file are, and the project \
                              counts people";

impl Release<'_> {
    /// Whose records the groups of a file are made of: those of the project that look like them at these levels. None
    /// where these are not as many as the file has, or have other sensitive values, so that it is not the project's.
    pub(super) fn people(
        &self,
        file: &Verifier,
        scheme: &Scheme,
        project: &Project,
        counted: &Counted,
        question: &Question,
    ) -> Option<PeopleVerifier> {
        let notation = self.notation(project);
        let place = |name: &String| counted.sensitive.iter().position(|attribute| attribute.name == *name);
        let attributes: Vec<usize> = question.sensitive.iter().map(place).collect::<Option<_>>()?;
        let columns = columns_of(question.quasi_identifiers, &counted.hierarchies)?;
        let in_two_columns = in_two_columns(question.quasi_identifiers, &counted.hierarchies);
        let shown_of = |(a, hierarchy)| reference::shown_at(hierarchy, scheme.level(a), in_two_columns[a], &notation);
        let shown: Vec<Vec<Vec<Text>>> = counted.hierarchies.iter().enumerate().map(shown_of).collect();
        let of_file: HashSet<&[Text]> = file.groups().into_iter().map(|(cells, ..)| cells).collect();
        let mut found: Groups<Vec<Text>> = HashMap::new();
        let mut people = PeopleVerifier::new(attributes.len());
        for (codes, values, person, n_records) in counted.counts.records_of_people()? {
            let cells: Vec<Text> = columns.iter().map(|&(a, end)| shown[a][codes[a].index()][end].clone()).collect();
            let value = |s: &usize| reference::counted_value(counted, *s, values[*s], &notation);
            let values: Vec<Text> = attributes.iter().map(value).collect();
            people.see_original(person, values.iter().cloned());
            if of_file.contains(&cells[..]) {
                note(&mut found, cells.clone(), &values, n_records);
                people.see_published_times(cells, person, values.into_iter(), n_records);
            }
        }
        self.are_of_file(&found, file, project, counted, question).then_some(people)
    }

    /// What a local method, or generalizing records one by one, gives when it is done again as the certificate says. None
    /// where that does not say all of it, or nothing comes of it.
    pub(super) fn made_again(&self, counted: &Counted, question: &Question, work: &Work) -> Result<Option<Recoding>> {
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
            let n_suppressed_max = certificate.n_suppressed_asked().unwrap_or(0);
            let n_steps = certificate.steps.unwrap_or(0);
            let local = Local { style, two_columns, seed, n_exchanges, n_suppressed_max, n_steps, ..local };
            Some((local, certificate.promised()?))
        }) else {
            return Ok(None);
        };
        // What was negotiated is the answer to what was agreed on.
        if let Ok(choice) = CutChoice::parse(&certificate.choice)
            && local.method == Method::Negotiated
        {
            let mut asked = Request { n_suppressed_max: local.n_suppressed_max, ..Request::default() };
            for wish in certificate.wishes() {
                let CertifiedWish::Loss { attribute, share } = wish else { continue };
                let of = |name: &String| counted.hierarchies.iter().position(|known| known.attribute() == name);
                match attribute {
                    None => asked.loss_max = Some(share),
                    Some(name) => match of(&name) {
                        Some(a) => asked.loss_max_of.push((a, share)),
                        None => return Ok(None),
                    },
                }
            }
            let agreed = choice.agreed(&asked, &criteria, certificate.n_records_suppressed);
            return Ok(made_again(&local, &agreed, counted, work)?.map(|made| made.recoding));
        }
        let made = work.stage(local.method.name(), n_records, Unit::Records, |task| {
            work.on_threads(|| local.make(counted, &criteria, task))?
        })?;
        Ok(Some(made.recoding))
    }

    /// The same of a local method, and of records that were generalized one by one, which is done again: a record may fit
    /// several groups, and only the method knows which it joined. None where that does not give the groups of the file,
    /// with as many of each sensitive value.
    pub(super) fn people_of_method(
        &self,
        file: &Verifier,
        project: &Project,
        counted: &Counted,
        question: &Question,
        work: &Work,
    ) -> Result<Option<PeopleVerifier>> {
        let Some(recoding) = &self.made_again(counted, question, work)? else { return Ok(None) };
        let notation = self.notation(project);
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
                    notation.cell(column, (!cell.is_missing).then_some(&cell.text))
                }
                (_, Some(a), _) => notation.cell(column, recoding.cell(group, a).ends.0.as_deref()),
                (_, _, Some(a)) => notation.cell(column, recoding.cell(group, a).ends.1.as_deref()),
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
        let mut found: Groups<&[Text]> = HashMap::new();
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
                    let value = |s: &usize| reference::counted_value(counted, *s, values[*s], &notation);
                    let values: Vec<Text> = attributes.iter().map(value).collect();
                    people.see_original(who, values.iter().cloned());
                    let Some(group) = share.group else { continue };
                    let cells = &cells_of[group as usize];
                    note(&mut found, &cells[..], &values, n_records);
                    (0..n_records).for_each(|_| people.see_published(cells.clone(), who, values.iter().cloned()));
                }
            }
        }
        Ok(self.are_of_file(&found, file, project, counted, question).then_some(people))
    }

    /// Whether groups are those of a file, with as many of each sensitive value.
    fn are_of_file<C: Borrow<[Text]> + Eq + Hash>(
        &self,
        found: &Groups<C>,
        file: &Verifier,
        project: &Project,
        counted: &Counted,
        question: &Question,
    ) -> bool {
        let groups = file.groups();
        // A file that is read for another question has its values as they are.
        let labels = match question.labels.is_empty() {
            true => self.labels_of_project(project, counted, question),
            false => Vec::new(),
        };
        let is_there = |(cells, n, values): &(&[Text], u64, &[HashMap<Text, u64>])| {
            // Whoever asks about other attributes compares sizes alone.
            let is_same = |of_values: &[_]| of_values.len() != values.len() || *of_values == labelled(values, &labels);
            found.get(*cells).is_some_and(|(known, of_values)| known == n && is_same(of_values))
        };
        groups.len() == found.len() && groups.iter().all(is_there)
    }
}

/// By cells, how many records a group has, and by sensitive attribute how many of these have each value.
type Groups<C> = HashMap<C, (u64, Vec<HashMap<Text, u64>>)>;

fn note<C: Eq + Hash>(groups: &mut Groups<C>, cells: C, values: &[Text], n_records: u64) {
    let (n, of_values) = groups.entry(cells).or_default();
    *n += n_records;
    of_values.resize_with(values.len(), HashMap::new);
    of_values.iter_mut().zip(values).for_each(|(counts, value)| {
        *counts.entry(value.clone()).or_default() += n_records;
    });
}

impl Judged {
    /// The same over people where the certificate or the project says that they are counted: by the table that the release
    /// was made from, and not judged where that is not known, or does not tell whom cells fit.
    ///
    /// # Guarantee
    /// What is kept for people is kept for those whom both the certificate and the project name. Where the project says
    /// whose record it is and somebody has several, nothing is kept for records alone.
    pub fn over_people(
        mut self,
        source: &Source,
        certificate: Option<&Certificate>,
        question: &Question,
        known: Option<(&Project, &Counted, &Outside)>,
        work: &Work,
    ) -> Result<Judged> {
        let promised_to: BTreeSet<&str> =
            certificate.map_or(BTreeSet::new(), |known| known.person.iter().map(String::as_str).collect());
        let has_several = |(_, counted, _): &(&Project, &Counted, &Outside)| counted.counts.people().is_some();
        if promised_to.is_empty() && !known.as_ref().is_some_and(has_several) {
            return Ok(self);
        }
        let mut findings = None;
        if let Some((project, counted, outside)) = known {
            let of_project: BTreeSet<&str> = project.person().into_iter().collect();
            let found = match promised_to.is_empty() || promised_to == of_project {
                false => Err(OTHER_PEOPLE),
                true => self.found_people(&Release { source, certificate }, project, counted, question, work)?,
            };
            match found {
                Ok(Some(people)) => findings = Some(people.findings(question.criteria, outside)),
                // Where everybody has one record, records are people.
                Ok(None) => findings = Some(self.verdict.findings.clone()),
                Err(why) => self.why_not_judged = Some(why),
            }
        }
        self.verdict = self.verdict.over_people(findings);
        Ok(self)
    }

    /// Who is in the groups of a file; none where everybody has one record and is found nowhere else, and why where nobody
    /// can tell.
    fn found_people(
        &self,
        release: &Release,
        project: &Project,
        counted: &Counted,
        question: &Question,
        work: &Work,
    ) -> Result<std::result::Result<Option<PeopleVerifier>, &'static str>> {
        let (people, otherwise) = match release.scheme(counted) {
            Some(scheme) => (release.people(&self.file, &scheme, project, counted, question), OTHER_GROUPS),
            None if counted.counts.people().is_none() => return Ok(Ok(None)),
            None => (release.people_of_method(&self.file, project, counted, question, work)?, OTHER_CLASSES),
        };
        let why = || match release.certificate {
            None => NO_CERTIFICATE,
            Some(certificate) if certificate.person.is_empty() => OF_RECORDS,
            Some(Certificate { per_record: Some(ordered), seed, .. }) => match PerRecordWish::again(ordered, *seed) {
                None => ONE_BY_ONE,
                Some(_) => OTHER_CLASSES,
            },
            Some(_) => otherwise,
        };
        Ok(people.map(Some).ok_or_else(why))
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
    let (criteria, has_levels) = (Criteria::default(), certificate.has_levels());
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

/// By sensitive attribute, how often each of its values, or of the labels that it is counted by, occurs.
fn labelled(values: &[HashMap<Text, u64>], labels: &[Option<Labels>]) -> Vec<HashMap<Text, u64>> {
    let of_attribute = |(s, values): (usize, &HashMap<Text, u64>)| {
        let Some(labels) = labels.get(s).and_then(Option::as_ref) else { return values.clone() };
        let mut sums: HashMap<Text, u64> = HashMap::new();
        for (value, n) in values {
            *sums.entry(labels.get(value).unwrap_or(value).clone()).or_default() += n;
        }
        sums
    };
    values.iter().enumerate().map(of_attribute).collect()
}
