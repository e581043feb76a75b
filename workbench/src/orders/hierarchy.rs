//! What a hierarchy does to the values that the data have, which cells it does not fit, and its file for ARX.

use std::path::PathBuf;

use incrowd::{Error, ErrorKind, Hierarchy, Missing, Result, Role};

use crate::input::count::{count_source, located};
use crate::input::project::{Attribute, Project};
use crate::input::source::{CellCheck, Places};
use crate::output::staged::write_whole;
use crate::work::Work;

/// Shows the hierarchy of an attribute, over the values that the data have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShowHierarchy {
    pub attribute: String,
}

/// Finds the cells that hierarchies do not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindAbsent {
    /// All attributes that have a hierarchy where none is named.
    pub attribute: Option<String>,
}

/// Writes the hierarchy of an attribute as ARX does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportHierarchy {
    pub attribute: String,
    /// Written nowhere where nothing is said.
    pub output: Option<PathBuf>,
    pub replace: bool,
}

/// A hierarchy, and the same as ARX writes it.
pub struct Exported {
    pub hierarchy: Hierarchy,
    pub text: String,
}

impl ShowHierarchy {
    pub fn run(&self, project: &Project, work: &Work) -> Result<Hierarchy> {
        resolve(project, &self.attribute, work)
    }
}

impl FindAbsent {
    /// By attribute, the cells that its hierarchy does not fit.
    pub fn run(&self, project: &Project) -> Result<Vec<(String, Places)>> {
        let names: Vec<&str> = match &self.attribute {
            Some(name) => vec![name],
            None => with_hierarchies(project).map(|attribute| attribute.name.as_str()).collect(),
        };
        names.into_iter().map(|name| Ok((name.to_string(), absent(project, name)?))).collect()
    }
}

impl ExportHierarchy {
    pub fn run(&self, project: &Project, work: &Work) -> Result<Exported> {
        self.output.iter().try_for_each(|path| project.check_output(path))?;
        let hierarchy = resolve(project, &self.attribute, work)?;
        let text = arx(&hierarchy);
        self.output.iter().try_for_each(|path| write_whole(path, text.as_bytes(), self.replace))?;
        Ok(Exported { hierarchy, text })
    }
}

/// The hierarchy of an attribute, over the values that the data have.
pub fn resolve(project: &Project, name: &str, work: &Work) -> Result<Hierarchy> {
    let attribute = project.attribute(name)?;
    if attribute.role != Role::QuasiIdentifier && attribute.hierarchy_text == "flat" {
        return Err(Error::new(
            ErrorKind::Request,
            format!("attribute '{name}' is {}, and has no hierarchy", attribute.role.name()),
        ));
    }
    let domain = domain_of(project, name, work)?;
    attribute.rule.resolve(&domain).map_err(|error| match project.source_as_counted() {
        Ok(source) => located(error, std::slice::from_ref(attribute), &source, &project.missing),
        Err(_) => error,
    })
}

/// Counts the one attribute to know which values there are.
pub fn domain_of(project: &Project, attribute: &str, work: &Work) -> Result<incrowd::Domain> {
    let source = project.source_as_counted()?;
    source.check_column(attribute)?;
    let missing: &Missing = &project.missing;
    let counts = count_source(&source, &[attribute], &[], &[], missing, work)?;
    Ok(counts.domains()[0].clone())
}

/// The cells of an attribute that its hierarchy does not fit, whatever becomes of them.
pub fn absent(project: &Project, name: &str) -> Result<Places> {
    let attribute = project.attribute(name)?;
    let source = project.source_as_written()?;
    source.check_column(name)?;
    source.unfit(name, &CellCheck::of(&attribute.rule, attribute.rule.needs(), &project.missing.tokens))
}

/// The attributes whose hierarchies may not fit.
fn with_hierarchies(project: &Project) -> impl Iterator<Item = &Attribute> {
    project.attributes.iter().filter(|known| !known.role.tells_who() && known.hierarchy_text != "flat")
}

/// ARX's format: a line per value, labels from fine to coarse, separated by `;`.
pub fn arx(hierarchy: &Hierarchy) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    for row in hierarchy.rows() {
        writer.write_record(row).expect("memory takes any record");
    }
    String::from_utf8(writer.into_inner().expect("memory takes any record")).expect("made of texts")
}
