//! What the Python side asks for, as the flags of the command line would have said it.

use std::collections::HashMap;

use incrowd::{Ranking, Result};
use incrowd_workbench::project::Project;
use incrowd_workbench::wishes::{CriteriaArgs, Privacy, ProjectArgs, RequestArgs};
use pyo3::prelude::*;

/// Keyword arguments as texts, with the names of the flags.
#[derive(FromPyObject, Clone, Debug, PartialEq)]
#[pyo3(from_item_all)]
pub struct Wish {
    pub quasi_identifiers: Option<Vec<String>>,
    pub sensitive: Option<String>,
    pub threads: u16,
    pub memory: Option<String>,
    /// Criteria by name; a value may begin with the sensitive attribute that it is about: `income:0.2`.
    pub criteria: HashMap<String, Vec<String>>,
    pub max_suppressed: Option<String>,
    /// `age=2`.
    pub max_level: Option<Vec<String>>,
    pub best_by: Option<String>,
}

impl Wish {
    pub fn project_args(&self) -> ProjectArgs {
        ProjectArgs {
            project: Default::default(),
            quasi_identifiers: self.quasi_identifiers.clone(),
            sensitive: self.sensitive.clone(),
            threads: self.threads,
            memory: self.memory.clone(),
        }
    }

    pub fn request_args(&self) -> Result<RequestArgs> {
        Ok(RequestArgs {
            criteria: criteria_args(&self.criteria)?,
            max_suppressed: self.max_suppressed.clone(),
            max_level: self.max_level.clone(),
            best_by: self.best_by.clone(),
        })
    }

    /// The privacy that is asked for, here or by the project's standing wish.
    pub fn privacy(&self, project: &Project) -> Result<Privacy> {
        criteria_args(&self.criteria)?.resolve(project, self.sensitive.as_deref())
    }

    pub fn best_by(&self, project: &Project) -> Result<Ranking> {
        self.request_args()?.best_by(project)
    }
}

/// Criteria by name as flags.
pub fn criteria_args(criteria: &HashMap<String, Vec<String>>) -> Result<CriteriaArgs> {
    use incrowd::{Error, ErrorKind};
    let all = |name: &str| criteria.get(name).cloned().unwrap_or_default();
    let whole = |name: &str| match all(name).first() {
        None => Ok(None),
        Some(text) => text.parse::<u64>().map(Some).map_err(|_| {
            Error::new(ErrorKind::Request, format!("'{text}' is not a whole number for {name}"))
                .hint(format!("for example --{} 10", name.replace('_', "-")))
        }),
    };
    Ok(CriteriaArgs {
        k: whole("k")?,
        k_map: whole("k_map")?,
        l: all("l"),
        alpha: all("alpha"),
        entropy_l: all("entropy_l"),
        recursive: all("recursive"),
        t: all("t"),
        delta: all("delta"),
        beta: all("beta"),
        enhanced_beta: all("enhanced_beta"),
    })
}
