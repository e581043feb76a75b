//! What analysts are shown of releases: everything that is counted, and a target that may be any column that is published.

use incrowd::error::Step;
use incrowd::recode::Recoding;
use incrowd::task::Task;
use incrowd::utility::Target;
use incrowd::utility::preview::{Preview, Utility, hierarchies_of};
use incrowd::{Error, ErrorKind, GroupCounts, Hierarchy, Result, Role};

use crate::input::count::{Choice, Counted, count};
use crate::input::project::{Attribute, Project};
use crate::work::Work;

/// Combinations of values up to which releases are looked at though nobody has named a target: well under a second.
const N_ROWS_UNASKED: usize = 300_000;

/// What is looked at, with a target where one is named.
pub struct Analysis {
    /// The same records with the target counted too, where the release is not about it.
    with_target: Option<Counted>,
    hierarchies: Vec<Hierarchy>,
    target: Option<Target>,
    /// Which records a classifier does not learn from.
    seed: u64,
}

impl Analysis {
    /// None where nobody has asked and it would take long. The table is read once more where the target is a column that
    /// was not counted.
    pub fn new(
        project: &Project,
        counted: &Counted,
        target: Option<&str>,
        seed: u64,
        work: &Work,
    ) -> Result<Option<Analysis>> {
        let n_rows = counted.counts.n_cells().max(counted.counts.n_groups());
        let Some(name) = target else {
            let of_counts = || hierarchies_of(&counted.counts, &counted.hierarchies);
            let analysis = |hierarchies| Analysis { with_target: None, hierarchies, target: None, seed };
            return (n_rows <= N_ROWS_UNASKED).then(of_counts).transpose().map(|all| all.map(analysis));
        };
        let place = |attributes: &[Attribute]| attributes.iter().position(|attribute| attribute.name == name);
        let known = place(&counted.quasi_identifiers).map(Target::QuasiIdentifier);
        let known = known.or_else(|| place(&counted.sensitive).map(Target::Sensitive));
        if known.is_some() {
            let hierarchies = hierarchies_of(&counted.counts, &counted.hierarchies)?;
            return Ok(Some(Analysis { with_target: None, hierarchies, target: known, seed }));
        }
        let with = count_with(project, counted, name, work)?;
        let target = place(&with.sensitive).map(Target::Sensitive);
        let hierarchies = hierarchies_of(&with.counts, &counted.hierarchies)?;
        Ok(Some(Analysis { with_target: Some(with), hierarchies, target, seed }))
    }

    /// Looks at the source.
    pub fn preview<'a>(&'a self, counted: &'a Counted, task: &Task) -> Result<Preview<'a>> {
        let counts = self.with_target.as_ref().map_or(&counted.counts, |with| &with.counts);
        Preview::new(counts, &self.hierarchies, self.target, self.seed, task)
    }

    /// What a release does to all of it, where it is the only one that is looked at.
    pub fn utility(
        &self,
        counted: &Counted,
        made_of: &GroupCounts,
        recoding: &Recoding,
        work: &Work,
    ) -> Result<Utility> {
        work.quietly(|task| work.on_threads(|| self.preview(counted, task)?.utility(made_of, recoding, task)))?
    }
}

/// Counts the same records with one more column, which has to be one that is published as it is.
fn count_with(project: &Project, counted: &Counted, name: &str, work: &Work) -> Result<Counted> {
    counted.source.check_column(name)?;
    let attribute = project.attributes.iter().find(|attribute| attribute.name == name);
    let is_published = match attribute.map(|attribute| attribute.role) {
        Some(role) => matches!(role, Role::Sensitive | Role::Other),
        None => project.keep_other,
    };
    if !is_published {
        let message = format!("'{name}' is not published, so that nobody can say anything about it from a release");
        return Err(Error::new(ErrorKind::Request, message).hint(Step::ChangeRole));
    }
    let mut with = project.clone();
    match with.attributes.iter_mut().find(|attribute| attribute.name == name) {
        Some(attribute) => attribute.role = Role::Sensitive,
        None => with.attributes.push(Attribute::plain(name, Role::Sensitive)),
    }
    let names = |attributes: &[Attribute]| -> Vec<String> {
        attributes.iter().map(|attribute| attribute.name.clone()).collect()
    };
    let choice = Choice {
        quasi_identifiers: Some(names(&counted.quasi_identifiers)),
        sensitive: Some([names(&counted.sensitive), vec![name.to_string()]].concat()),
        with_population: counted.counts.population().is_some(),
    };
    let with = count(&with, &choice, work)?;
    let is_same = with.counts.n_groups() == counted.counts.n_groups()
        && (0..with.counts.n_groups()).all(|group| with.counts.size(group) == counted.counts.size(group));
    match is_same {
        true => Ok(with),
        false => Err(Error::new(ErrorKind::Data, "changed while it was read")
            .at(counted.source.files()[0].display().to_string())
            .hint("run the command again when nobody writes to the data")),
    }
}
