//! The tables that a project names, opened as they are counted: with what becomes of cells on the way.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use incrowd::{Error, ErrorKind, Missing, Result, Role, Rule};

use crate::input::database::place::DatabasePlace;
use crate::input::database::{Database, Purpose, Table};
use crate::input::per_person::PerPerson;
use crate::input::project::{Attribute, Project};
use crate::input::source::{DateFormat, Replacement, Source, Unknown, Unreadable};
use crate::sentences::hint;

impl Project {
    /// Opens the data that the project names, with as many records of a person as it says; an index of pandas takes part
    /// where it is one of the attributes. Cells are those that are counted and published.
    pub fn source(&self) -> Result<Source> {
        Ok(self.source_as_written()?.replacing(self.replacements()))
    }

    /// The same with the exact values of what is published coarser, to look at.
    pub fn source_as_counted(&self) -> Result<Source> {
        let as_it_is = self.replacements().into_iter().map(Replacement::as_it_is);
        Ok(self.source_as_written()?.replacing(as_it_is.collect()))
    }

    /// The same with cells as the data have them, whatever is to become of those that do not fit.
    pub fn source_as_written(&self) -> Result<Source> {
        let source = match (&self.frame, &self.database) {
            (Some(frame), _) => Source::of_frame(frame),
            (None, Some(place)) => self.opened(place).and_then(Source::of_table),
            (None, None) => Source::open(&self.data_path(), &self.reading),
        };
        let source = source?.without_index(|name| self.attributes.iter().any(|attribute| attribute.name == name));
        let mut source = source.with_dates(self.dates());
        if let Some(column) = &self.counted {
            source = source.counted_by(column)?;
        }
        Ok(match self.per_person() {
            Some(per_person) => source.with_at_most(per_person),
            None => source,
        })
    }

    /// The file of the data: what somebody gave for this run, or what the project names.
    pub fn data_path(&self) -> PathBuf {
        self.delivery.clone().unwrap_or_else(|| self.folder.join(&self.data))
    }

    /// What those who asked are told that the data are called: as they were named, from here or by the project.
    pub fn data_named(&self) -> String {
        let given = self.delivery.as_ref().filter(|path| path.is_relative());
        given.map_or_else(|| self.data.clone(), |path| path.display().to_string())
    }

    /// A table of the project's database, as the work at hand sees it where that is one transaction.
    pub fn opened(&self, place: &DatabasePlace) -> Result<Table> {
        let database = match &self.session {
            Some(session) => session.clone(),
            None => Arc::new(Database::open(place, &self.folder, Purpose::Read)?),
        };
        Table::open(database, &place.asked)?.labelled(&place.labels)
    }

    /// The same project with all that is read and written in one transaction; nothing is written before it is committed.
    pub fn in_one_transaction(&self) -> Result<(Project, Arc<Database>)> {
        let place = self.database.as_ref().ok_or_else(|| {
            Error::new(ErrorKind::Request, "the data are in no database, so that no table can be made beside them")
                .hint(hint("write a file with {output}, or name the database: with {database}, or as {data.database}"))
        })?;
        let session = self.transaction_in(place)?;
        Ok((Project { session: Some(session.clone()), ..self.clone() }, session))
    }

    /// A database in one transaction, for a table that is made there.
    pub fn transaction_in(&self, place: &DatabasePlace) -> Result<Arc<Database>> {
        let database = Database::open(place, &self.folder, Purpose::Write)?;
        if !database.has_transactions() {
            return Err(Error::new(
                ErrorKind::Request,
                "this engine has no transactions, and may lose the order of records",
            )
            .hint(hint("nothing was written; write a file with {output}, or the table by incrowd.spark in Python")));
        }
        database.begin().map(Arc::new)
    }

    /// What becomes of cells while they are read, by attribute.
    pub fn replacements(&self) -> Vec<Replacement> {
        let treated = self.attributes.iter().filter(|known| known.treatment().is_some() || known.rule.codes_ends());
        treated.map(|attribute| attribute.replacement(&self.missing)).collect()
    }

    /// Data beside the project's, with cells counted as the project's are: a population, records that come and go.
    pub fn source_beside(&self, source: Source) -> Source {
        source.with_dates(self.dates()).replacing(self.replacements())
    }

    /// How many records of a person are kept, and which; nothing where all are.
    pub fn per_person(&self) -> Option<PerPerson> {
        self.max_records_per_person.map(|n_max| PerPerson {
            person: self.person().into_iter().map(str::to_string).collect(),
            n_max,
            seed: self.records_seed,
            missing: self.missing.clone(),
        })
    }

    /// Opens the population that the data are a sample of, if there is one.
    pub fn population_source(&self) -> Result<Option<Source>> {
        match (&self.population_frame, &self.population) {
            (Some(frame), _) => Source::of_frame(frame).map(|source| Some(self.population_of(source))),
            (None, Some(path)) => {
                let source = Source::open(&self.folder.join(path), &self.reading)?;
                Ok(Some(self.population_of(source)))
            }
            (None, None) => Ok(None),
        }
    }

    /// Nothing of a population is published.
    fn population_of(&self, source: Source) -> Source {
        let as_it_is = self.replacements().into_iter().map(Replacement::as_it_is);
        source.with_dates(self.dates()).replacing(as_it_is.collect())
    }

    /// By column, how its dates are written, where that is said.
    pub fn dates(&self) -> Vec<(String, DateFormat)> {
        let format = |attribute: &Attribute| Some((attribute.name.clone(), attribute.date_format.clone()?));
        self.attributes.iter().filter_map(format).collect()
    }
}

impl Attribute {
    /// An attribute of which nothing is said but its role.
    pub fn plain(name: &str, role: Role) -> Attribute {
        Attribute {
            name: name.to_string(),
            role,
            rule: Rule::Flat,
            hierarchy_file: None,
            hierarchy_text: String::new(),
            from_level: None,
            date_format: None,
            weight: 1.0,
            node_weights: BTreeMap::new(),
            distance: None,
            count_at: None,
            unreadable: Unreadable::Error,
            unknown: Unknown::Error,
            publish_as: None,
            publishes_unique: false,
            accepts_telling: false,
        }
    }

    /// The same with another hierarchy.
    pub fn with_rule(mut self, rule: Rule) -> Attribute {
        self.rule = if self.unknown == Unknown::Other { rule.with_other() } else { rule };
        self
    }

    /// What becomes of its cells while they are read.
    pub fn replacement(&self, missing: &Missing) -> Replacement {
        let is_asked = self.unknown != Unknown::Error;
        let known = self.rule.table().filter(|_| is_asked).map(|table| Arc::new(table.known()));
        Replacement {
            column: self.name.clone(),
            tokens: missing.tokens.clone(),
            rule: self.rule.clone(),
            unreadable: self.unreadable,
            unknown: if known.is_some() { self.unknown } else { Unknown::Error },
            known,
            publish_as: self.publish_as.clone(),
        }
    }

    /// What of its treatment annotations depend on, where something is said.
    pub fn treatment(&self) -> Option<String> {
        let Attribute { unreadable, unknown, publish_as, .. } = self;
        let is_plain = *unreadable == Unreadable::Error && *unknown == Unknown::Error && publish_as.is_none();
        (!is_plain).then(|| format!("{unreadable:?} {unknown:?} {publish_as:?}"))
    }
}
