//! A release beside the project that it was made from: what that knows of it.

use incrowd::verify::{Labels, Outside, Text};
use incrowd::wire::Certificate;
use incrowd::{Level, Measure, Result, Scheme};

use super::columns::{attributes_of, in_two_columns, places_of};
use super::judged::Question;
use crate::input::count::{Choice, Counted, count};
use crate::input::notation::Notation;
use crate::input::project::Project;
use crate::input::reference;
use crate::input::source::Source;
use crate::work::Work;

/// A published table and what came with it.
pub(super) struct Release<'a> {
    pub(super) source: &'a Source,
    pub(super) certificate: Option<&'a Certificate>,
}

impl Release<'_> {
    /// Counts the project as it was counted for the release.
    pub(super) fn count(&self, project: &Project, question: &Question, work: &Work) -> Result<Counted> {
        let attributes = attributes_of(question.quasi_identifiers, project);
        let choice = Choice {
            quasi_identifiers: Some(attributes.clone()),
            sensitive: Some(question.sensitive.to_vec()),
            with_population: question.criteria.value(Measure::Population).is_some(),
        };
        count(project, &choice, work)
    }

    /// The levels that all cells of an attribute are of, where there are such: then it is known whom a cell fits.
    pub(super) fn scheme(&self, counted: &Counted) -> Option<Scheme> {
        let certificate = self.certificate.filter(|certificate| certificate.has_levels())?;
        let level = |hierarchy: &incrowd::Hierarchy| {
            let level = certificate.level(hierarchy.attribute()).unwrap_or(0);
            Level(level.min(hierarchy.top() as u64) as u8)
        };
        Some(Scheme::new(counted.hierarchies.iter().map(level).collect()))
    }

    /// What the project counts the values of sensitive attributes as, by those of the question.
    pub(super) fn labels_of_project(
        &self,
        project: &Project,
        counted: &Counted,
        question: &Question,
    ) -> Vec<Option<Labels>> {
        let mut labels = counted.labels(&self.notation(project));
        let place = |name: &String| counted.sensitive.iter().position(|attribute| attribute.name == *name);
        question.sensitive.iter().map(|name| labels[place(name)?].take()).collect()
    }

    /// What the project knows about the original table and the population.
    pub(super) fn outside_of_project(&self, project: &Project, counted: &Counted, question: &Question) -> Outside {
        let scheme = self.scheme(counted);
        let notation = self.notation(project);
        let Outside { mut originals, population } = {
            let in_two_columns = in_two_columns(question.quasi_identifiers, &counted.hierarchies);
            reference::outside(counted, scheme.as_ref(), &in_two_columns, &notation)
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

    /// How the file says what the table of the project says.
    pub(super) fn notation(&self, project: &Project) -> Notation {
        let missing = self.writes_missing_as_text().then(|| project.missing.label().to_string());
        Notation::of_schema(missing, self.source.schema())
    }

    /// Whether "no value" is a text of the table. Of one in memory, the file that it was says it.
    pub(super) fn writes_missing_as_text(&self) -> bool {
        let is_typed = |name: &str| [".parquet", ".sav", ".dta"].iter().any(|ending| name.ends_with(ending));
        let is_named_typed = || self.certificate.is_some_and(|certificate| is_typed(&certificate.output.name));
        self.source.is_csv() || (self.source.is_frame() && !is_named_typed())
    }
}
