//! What the Python side asks for, as the flags of the command line would have said it.

use std::collections::HashMap;

use incrowd::{Ranking, Result};
use incrowd_workbench::cli::arguments::{BesideK, CriteriaArgs, levels, parse_memory};
use incrowd_workbench::orders::request::{About, GivenRequest, Suppression};
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
    pub fn about(&self) -> About {
        About { quasi_identifiers: self.quasi_identifiers.clone(), sensitive: self.sensitive.clone() }
    }

    pub fn given_request(&self) -> Result<GivenRequest> {
        Ok(GivenRequest {
            criteria: criteria_args(&self.criteria)?.texts(),
            max_suppressed: self.max_suppressed.as_deref().map(Suppression::parse).transpose()?,
            max_level: self.max_level.as_deref().map(levels).transpose()?,
            best_by: self.best_by.as_deref().map(Ranking::parse).transpose()?,
            with_standing: true,
        })
    }

    /// How many threads, and at most how many bytes.
    pub fn means(&self) -> Result<(usize, Option<u64>)> {
        Ok((usize::from(self.threads), self.memory.as_deref().map(parse_memory).transpose()?))
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
        beside: BesideK {
            l: all("l"),
            alpha: all("alpha"),
            entropy_l: all("entropy_l"),
            recursive: all("recursive"),
            t: all("t"),
            delta: all("delta"),
            beta: all("beta"),
            enhanced_beta: all("enhanced_beta"),
        },
    })
}
