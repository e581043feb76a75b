//! What the Python side asks for.

use std::collections::HashMap;

use incrowd::{Ranking, Result};
use incrowd_workbench::input::project::{CRITERIA, CriterionText};
use incrowd_workbench::memory::parse_memory;
use incrowd_workbench::orders::request::{About, GivenRequest, Suppression, criterion_text, levels};
use pyo3::prelude::*;

/// Keyword arguments as texts.
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
            criteria: criteria_texts(&self.criteria),
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

/// Criteria by name, in the order of all criteria.
pub fn criteria_texts(criteria: &HashMap<String, Vec<String>>) -> Vec<CriterionText> {
    let texts = |name: &'static str| {
        let given = criteria.get(name).into_iter().flatten();
        given.map(move |text| criterion_text(name, text))
    };
    CRITERIA.into_iter().flat_map(texts).collect()
}
