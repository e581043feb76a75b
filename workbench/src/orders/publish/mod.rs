//! `publish`: from an order to a release with its certificate and report, or to the reason why there is none.

pub mod agree;
pub mod cut;
pub mod files;
pub mod rows;
pub mod beside;
pub mod write;
pub mod certify;
pub mod facts;
pub mod draft;
pub mod guard;

use std::sync::Arc;
use std::time::Duration;

use incrowd::lattice::Scope;
use incrowd::recode::partition::CellStyle;
use incrowd::search::request::{check_criteria, check_promise};
use incrowd::{Answer, Criteria, Error, ErrorKind, Measure, Request, Result, Role};

pub use agree::{Agreed, Agreement, AnswerChoice};
pub use cut::CutWish;
use draft::Publication;
pub use draft::Published;
pub use files::{Files, NewTable, prepare, prepare_table};
pub use rows::{Expansion, Form};

use super::Rules;
use super::extent::ExtentWish;
use super::known::Known;
use super::local::{Local, LocallyMade, guaranteed, note_flat, note_much_lost, note_without_steps};
use super::negotiate_local::{CutChoice, LocallyNegotiated, check_no_levels};
use super::per_record::{self, Outcome, PER_RECORD, PerRecordWish};
use super::request::{About, GivenRequest, Privacy};
use super::utility::Analysis;
use crate::input::count::Counted;
use crate::input::project::Project;
use crate::note::Note;
use crate::output::account::{Key, Minutes};
use crate::sentences::hint;
use crate::work::{Unit, Work};

/// The method that looks for one level per attribute.
pub const GLOBAL: &str = "global";

/// What somebody wants published.
#[derive(Clone, Debug, PartialEq)]
pub struct Publish {
    pub about: About,
    pub request: GivenRequest,
    pub way: PublishBy,
    /// Whether labels of one level per attribute that are ranges become two columns; a local method says it itself.
    pub two_columns: bool,
    /// The attribute that analysts want to say something about, for the report: any column that is published.
    pub target: Option<String>,
}

/// How the release is found.
#[derive(Clone, Debug, PartialEq)]
pub enum PublishBy {
    /// The answer to the wishes, or one of the offers.
    Answer { choice: AnswerChoice, extent: ExtentWish, time: Duration },
    /// Levels of one's own choice; an attribute not named stays exact.
    Levels(Vec<(String, String)>),
    /// Ranges of its own for every group.
    Local(Local),
    /// The same, as an answer or an offer of the tree of groups.
    Cut(CutWish),
    /// Levels of its own for every record.
    PerRecord(Box<PerRecordWish>),
}

/// Why nothing was published.
pub enum No {
    /// The wishes cannot all be met, or there is no such offer: what they are about, what was asked with the least that
    /// will do, what the answer is, and what was chosen.
    NoSuchAnswer(Box<(Scope, Request, Criteria, Answer, AnswerChoice)>),
    /// The same where every group would have ranges of its own.
    NoSuchCut(Box<(LocallyNegotiated, CutChoice)>),
    /// The chosen levels lose more records than may be lost.
    TooManyLost { n_suppressed: u64, n_records: u64 },
    /// Criteria do not hold that records dealt, or all records as one group, do not keep.
    Missed(Box<LocallyMade>),
    /// Records cannot have what is wanted of each.
    NotPossible(Outcome),
    /// The finished file does not keep the promise: a bug of ours.
    Broken(Box<Published>),
}

/// What came of an order to publish.
pub enum Ordered {
    Published(Box<Published>),
    No(No),
}

/// What is agreed on, before anything is written.
pub enum Decided {
    Agreed(Agreed),
    Made(Box<LocallyMade>),
    OneByOne(Box<per_record::MadeOneByOne>),
    No(No),
}

impl Publish {
    /// The privacy that the release is about; what promises nothing is refused.
    pub fn privacy(&self, project: &Project) -> Result<Privacy> {
        if let PublishBy::PerRecord(_) = &self.way {
            return self.about.no_privacy(project);
        }
        let privacy = match &self.way {
            PublishBy::Answer { .. } => self.request.negotiable(project, &self.about)?,
            _ => self.request.privacy(project, &self.about)?,
        };
        check_promise(&privacy.criteria)?;
        self.request.best_by(project)?;
        match &self.way {
            PublishBy::Local(local) => privacy_of(local, privacy, self.about.sensitive.is_some(), project),
            PublishBy::Cut(wish) => {
                check_no_levels(&self.request)?;
                privacy_of(&wish.local, privacy, self.about.sensitive.is_some(), project)
            }
            _ => Ok(privacy),
        }
    }

    /// The counts that it is decided on.
    pub fn count(&self, project: &Project, privacy: &Privacy, known: &Known, work: &Work) -> Result<Arc<Counted>> {
        let choice = self.about.choice(privacy);
        match &self.way {
            PublishBy::PerRecord(wish) => {
                let counted = wish.count(project, choice, known, work)?;
                per_record::check_memory(&counted, wish.fit(), work.n_bytes_max())?;
                Ok(counted)
            }
            _ => known.count(project, &choice, work),
        }
    }

    /// Finds what is to be published, or why nothing is.
    pub fn decide(
        &self,
        project: &Project,
        privacy: &Privacy,
        counted: &Arc<Counted>,
        known: &Known,
        rules: &Rules,
        work: &Work,
    ) -> Result<Decided> {
        guard::check_counted(project, &counted.counts)?;
        let decided = self.choose(project, privacy, counted, known, rules, work)?;
        guard::check_decided(project, &counted.counts, &decided)?;
        Ok(decided)
    }

    fn choose(
        &self,
        project: &Project,
        privacy: &Privacy,
        counted: &Arc<Counted>,
        known: &Known,
        rules: &Rules,
        work: &Work,
    ) -> Result<Decided> {
        (rules.promise)(&privacy.criteria, &privacy.sensitive)?;
        counted.check_people()?;
        if !privacy.criteria.is_empty() {
            check_criteria(&privacy.criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
            counted.check_promise(&privacy.criteria)?;
            privacy.note_trivial(counted, work);
        }
        let agreement = match &self.way {
            PublishBy::Levels(levels) => agree::agree_on_levels(levels, &self.request, project, privacy, counted)?,
            PublishBy::Answer { choice, extent, time } => {
                let (hierarchies, n_records) = (&counted.hierarchies, counted.counts.n_records());
                let request = self.request.checked(project, privacy, hierarchies, n_records)?;
                agree::agree_on_answer(*choice, &request, extent, *time, privacy, counted, known, rules, work)?
            }
            PublishBy::Local(local) => {
                let n_suppressed_max = self.request.n_suppressed_max(project, counted.counts.n_records())?;
                return make(&Local { n_suppressed_max, ..*local }, project, privacy, counted, work);
            }
            PublishBy::Cut(wish) => {
                note_of_method(&wish.local, project, counted, work);
                let (about, given) = (&self.about, &self.request);
                let ground = cut::Ground { about, given, project, privacy, counted, known, rules };
                return cut::agree(wish, &ground, work);
            }
            PublishBy::PerRecord(wish) => return make_one_by_one(wish, project, counted, work),
        };
        Ok(match agreement {
            Agreement::Agreed(agreed) => {
                note_much_lost(agreed.offer.losses.ncp, &agreed.offer.criteria, Some(counted), work);
                Decided::Agreed(Agreed { two_columns: self.two_columns, ..agreed })
            }
            Agreement::No(no) => Decided::No(no),
        })
    }

    /// Publishes a table in one transaction, or says why not; with the files that stand beside the project. Where the table
    /// that it is made of is in the same database, all of it is counted and written in that transaction.
    ///
    /// # Guarantee
    /// The table is there where it was verified as it lies in the database, and its certificate and report are only where
    /// the table is. Whatever ends the work before that leaves the database as it was.
    pub fn run_into(
        &self,
        project: &Project,
        rules: &Rules,
        table: &NewTable,
        key: Option<Key>,
        minutes: Option<Minutes>,
        replace: bool,
        work: &Work,
    ) -> Result<(Files, Ordered)> {
        let (project, files) = prepare_table(project, table, replace)?;
        let files = Files { key: key.unwrap_or_else(|| files.key.clone()), minutes, ..files };
        // What was counted before is of another state of the table.
        let ordered = self.run(&project, &Known::default(), rules, &files, replace, work)?;
        Ok((files, ordered))
    }

    /// Publishes, or says why not.
    pub fn run(
        &self,
        project: &Project,
        known: &Known,
        rules: &Rules,
        files: &Files,
        replace: bool,
        work: &Work,
    ) -> Result<Ordered> {
        let privacy = self.privacy(project)?;
        let counted = self.count(project, &privacy, known, work)?;
        let decided = self.decide(project, &privacy, &counted, known, rules, work)?;
        decided.publish(project, &counted, self.target.as_deref(), files, replace, work)
    }
}

impl Decided {
    /// Writes the release with its certificate and report, or nothing.
    pub fn publish(
        self,
        project: &Project,
        counted: &Counted,
        target: Option<&str>,
        files: &Files,
        replace: bool,
        work: &Work,
    ) -> Result<Ordered> {
        let published = match self {
            Decided::No(no) => return Ok(Ordered::No(no)),
            decided => decided.write(project, counted, target, files, replace, work)?,
        };
        Ok(match published.holds {
            true => Ordered::Published(Box::new(published)),
            false => Ordered::No(No::Broken(Box::new(published))),
        })
    }

    /// The same of what is to be published, as often as somebody wants it, in as many formats: nothing is decided again.
    ///
    /// # Panics
    /// Where nothing is to be published.
    pub fn write(
        &self,
        project: &Project,
        counted: &Counted,
        target: Option<&str>,
        files: &Files,
        replace: bool,
        work: &Work,
    ) -> Result<Published> {
        // A target that is not published is refused before anything is written.
        let analysis = Analysis::new(project, counted, target, 0, work)?;
        let place = Publication { project, counted, analysis: analysis.as_ref(), files, replace, work };
        match self {
            Decided::Agreed(agreed) => draft::publish(&place, agreed),
            Decided::Made(made) => draft::publish_made(&place, made),
            Decided::OneByOne(made) => draft::publish_one_by_one(&place, made),
            Decided::No(_) => panic!("there is nothing to write"),
        }
    }
}

/// Recodes locally; where a criterion does not hold, nothing is published.
fn make(local: &Local, project: &Project, privacy: &Privacy, counted: &Counted, work: &Work) -> Result<Decided> {
    let criteria = &privacy.criteria;
    let n_records = counted.counts.n_records();
    check_criteria(criteria, counted.counts.crowd(), &counted.n_sensitive_values())?;
    note_of_method(local, project, counted, work);
    let made = work.stage(local.method.name(), n_records, Unit::Records, |task| {
        work.on_threads(|| local.make(counted, criteria, task))?
    })?;
    Ok(match made.missed().is_empty() {
        true => Decided::Made(Box::new(made)),
        false => Decided::No(No::Missed(Box::new(made))),
    })
}

/// Says what of the project does nothing for ranges of their own, and what has none.
fn note_of_method(local: &Local, project: &Project, counted: &Counted, work: &Work) {
    if !project.request.max_level.is_empty() {
        work.note(Note::LevelsIgnored { method: local.method.name() });
    }
    if !matches!(local.style, CellStyle::Sets | CellStyle::Stars) {
        note_flat(counted, work);
    }
    if local.style == CellStyle::Rounded {
        note_without_steps(counted, work);
    }
}

/// Solves every record.
fn make_one_by_one(wish: &PerRecordWish, project: &Project, counted: &Counted, work: &Work) -> Result<Decided> {
    if !project.request.criteria.is_empty() {
        work.note(Note::NotPromised { method: PER_RECORD });
    }
    let outcome = work.stage(PER_RECORD, counted.counts.n_records(), Unit::Records, |task| {
        work.on_threads(|| per_record::make(wish, counted, task))?
    })?;
    Ok(match outcome {
        Outcome::Made(made) => Decided::OneByOne(made),
        no => Decided::No(No::NotPossible(no)),
    })
}

/// The privacy of a local release. A dealt one is about all sensitive attributes unless one was chosen.
pub fn privacy_of(local: &Local, privacy: Privacy, is_chosen: bool, project: &Project) -> Result<Privacy> {
    guaranteed(&privacy.criteria)?;
    if !local.method.is_dealing() {
        return Ok(privacy);
    }
    if privacy.criteria.value(Measure::Size).is_none() {
        return Err(Error::new(ErrorKind::Request, "dealing needs k: how large groups are to be")
            .hint(hint("for example {k=10}")));
    }
    let all: Vec<String> = project.with_role(Role::Sensitive).map(|known| known.name.clone()).collect();
    match (all.is_empty(), is_chosen) {
        (true, _) => Err(Error::new(ErrorKind::Project, "there is no sensitive attribute to deal by")
            .at(project.file.display().to_string())
            .hint(hint("give one attribute {role=sensitive}, or take another method"))),
        (false, true) => Ok(privacy),
        (false, false) => Ok(privacy.about(&all)),
    }
}
