//! Orders for the papers' studies as JSON documents, and for the histograms of one scheme.

use incrowd::error::unknown;
use incrowd::search::partial::{Estimator, Selection};
use incrowd::{ErrorKind, Result};
use serde_json::Value;

use super::order::{PathUse, Reader, value_of_criterion, wrong};
use crate::input::project::{CRITERIA, CriterionText};
use crate::orders::contenders::N_QUERIES;
use crate::orders::histogram::{GivenScheme, Histogram};
use crate::orders::request::{Suppression, share_of};
use crate::orders::study_deal::StudyDeal;
use crate::orders::study_lattice::{LOST, StudyLattice};
use crate::orders::study_local::{StudyLocal, sample_size};
use crate::orders::study_records::{self, N_SAMPLED, StudyRecords, THRESHOLDS};
use crate::orders::study_requests::{RequestSource, SHARES, StudyRequests};
use crate::orders::study_suppression::{MaxLevel, StudySuppression};

/// The papers' studies.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyStudy {
    Deal(StudyDeal),
    Lattice(StudyLattice),
    /// With whether every scheme is told.
    Suppression(StudySuppression, bool),
    Requests(StudyRequests),
    Local(StudyLocal),
    Records(StudyRecords),
}

/// The names of the studies.
pub const STUDIES: [&str; 6] = ["deal", "lattice", "suppression", "requests", "local", "records"];

impl Reader<'_> {
    /// `charts`: whether pictures are wanted beside the numbers.
    pub fn charts(&self) -> Result<bool> {
        self.flag("charts")
    }

    /// A scheme: `[1, 0, 2]` in the order of the attributes, `{"age": 1}`, or as a text.
    fn scheme(&self, key: &str) -> Result<GivenScheme> {
        match self.get(key) {
            None => Ok(GivenScheme::Finest),
            Some(Value::String(text)) => GivenScheme::parse(text),
            Some(Value::Array(list)) => {
                let levels: Option<Vec<String>> =
                    list.iter().map(|level| level.as_u64().map(|level| level.to_string())).collect();
                levels
                    .map(GivenScheme::InOrder)
                    .ok_or_else(|| wrong(format!("{key} is a list of levels, such as [1, 0, 2]")))
            }
            Some(_) => Ok(GivenScheme::Named(self.levels(key)?.unwrap_or_default())),
        }
    }

    /// The histograms of one scheme.
    pub fn histogram(&self) -> Result<Histogram> {
        Ok(Histogram { about: self.about()?, scheme: self.scheme("scheme")? })
    }

    /// Criteria of which each may have several values: `{"k": [3, 10], "disease:l": 2}`.
    fn many_criteria(&self) -> Result<Vec<CriterionText>> {
        let mut criteria = Vec::new();
        for name in CRITERIA {
            self.taken.borrow_mut().push(name.to_string());
            let is_meant = |key: &&String| key.rsplit_once(':').map_or(key.as_str(), |(_, name)| name) == name;
            for key in self.document.keys().filter(is_meant) {
                let attribute = key.rsplit_once(':').map(|(attribute, _)| attribute.to_string());
                let values = match self.get(key) {
                    None => continue,
                    Some(Value::Array(list)) => list.iter().collect(),
                    Some(value) => vec![value],
                };
                for value in values {
                    let value = value_of_criterion(name, value)?;
                    criteria.push(CriterionText { name, attribute: attribute.clone(), value });
                }
            }
        }
        Ok(criteria)
    }

    fn study_suppression(&self) -> Result<StudySuppression> {
        let max_level = match self.document.get("max_level") {
            Some(Value::Number(_)) => {
                let level = self.whole("max_level")?.unwrap_or(0);
                Some(MaxLevel::All(u8::try_from(level).unwrap_or(u8::MAX)))
            }
            _ => self.levels("max_level")?.map(MaxLevel::Named),
        };
        Ok(StudySuppression {
            about: self.about()?,
            criteria: self.many_criteria()?,
            sets: self.sizes("sets")?,
            by_power: self.flag("by_power")?,
            max_level,
            scheme: self.scheme("scheme")?,
            mark: self.document.get("mark").filter(|mark| !mark.is_null()).map(|_| self.scheme("mark")).transpose()?,
        })
    }

    /// One of the papers' studies, by the name under `study`.
    pub fn study(&self) -> Result<AnyStudy> {
        let study = match self.text("study")? {
            Some("deal") => AnyStudy::Deal(self.study_deal()?),
            Some("lattice") => AnyStudy::Lattice(self.study_lattice()?),
            Some("suppression") => AnyStudy::Suppression(self.study_suppression()?, self.flag("per_scheme")?),
            Some("requests") => AnyStudy::Requests(self.study_requests()?),
            Some("local") => AnyStudy::Local(self.study_local()?),
            Some("records") => AnyStudy::Records(self.study_records()?),
            Some(other) => return Err(unknown(ErrorKind::Request, "study", other, &STUDIES)),
            None => return Err(wrong("no study is named").hint(format!("study is one of {}", STUDIES.join(", ")))),
        };
        self.finish()?;
        Ok(study)
    }

    /// Shares, each a text such as "5%".
    fn shares(&self, key: &str) -> Result<Option<Vec<f64>>> {
        let wrong = || wrong(format!("{key} is a list of shares such as \"5%\""));
        let all = self.texts(key)?;
        all.map(|all| all.iter().map(|text| share_of(text).ok_or_else(wrong)).collect()).transpose()
    }

    fn sizes(&self, key: &str) -> Result<Vec<usize>> {
        Ok(self.wholes(key)?.unwrap_or_default().into_iter().map(|n| n as usize).collect())
    }

    fn study_requests(&self) -> Result<StudyRequests> {
        let asked = match (self.path("requests", PathUse::Read)?, self.flag("chapter_4")?) {
            (Some(_), true) => return Err(wrong("requests and chapter_4 exclude each other").hint("give one of them")),
            (Some(path), false) => RequestSource::File(path),
            (None, true) => RequestSource::Chapter4,
            (None, false) => RequestSource::Grid,
        };
        let estimators =
            self.texts("estimator")?.map(|names| names.iter().map(|name| Estimator::parse(name)).collect());
        Ok(StudyRequests {
            about: self.about()?,
            asked,
            shares: self.shares("partial")?.unwrap_or_else(|| SHARES.to_vec()),
            estimators: estimators.transpose()?.unwrap_or_else(|| Estimator::ALL.to_vec()),
            time: self.time()?,
        })
    }

    fn study_local(&self) -> Result<StudyLocal> {
        Ok(StudyLocal {
            about: self.about()?,
            ks: self.wholes("k")?.unwrap_or_default(),
            k: self.whole("at_k")?,
            contenders: self.contenders()?,
            sets: self.sizes("sets")?,
            records: self.sample_sizes()?,
            weight: self.text("weight")?.map(str::to_string),
            n_queries: self.whole("n_queries")?.map_or(N_QUERIES, |n| n.clamp(1, 100_000) as usize),
            seed: self.whole("seed")?.unwrap_or(0),
        })
    }

    /// Numbers of records, or shares such as "5%"; one alone may stand for itself.
    fn sample_sizes(&self) -> Result<Vec<Suppression>> {
        fn written(value: &Value) -> Option<String> {
            match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(number) if number.is_u64() => Some(number.to_string()),
                _ => None,
            }
        }
        let sizes =
            self.read("records", "a list of numbers of records or shares such as \"5%\"", |value| match value {
                Value::Array(list) => list.iter().map(written).collect(),
                one => Some(vec![written(one)?]),
            })?;
        sizes.unwrap_or_default().iter().map(|text| sample_size(text)).collect()
    }

    fn study_records(&self) -> Result<StudyRecords> {
        let thresholds = self.wholes("thresholds")?.map(|all| all.into_iter().map(|n| n.min(255) as u8).collect());
        Ok(StudyRecords {
            about: self.about()?,
            n_sampled: self.whole("sample")?.map_or(N_SAMPLED, |n| n.max(1) as usize),
            thresholds: thresholds.unwrap_or_else(|| THRESHOLDS.to_vec()),
            sets: self.sizes("sets")?,
            ks: self.wholes("k")?.unwrap_or_else(|| study_records::KS.to_vec()),
            seed: self.whole("seed")?.unwrap_or(1),
        })
    }

    fn study_deal(&self) -> Result<StudyDeal> {
        Ok(StudyDeal {
            about: self.about()?,
            frequencies: self.wholes("frequencies")?,
            ks: self.written("k")?,
            seed: self.whole("seed")?.unwrap_or(1),
        })
    }

    fn study_lattice(&self) -> Result<StudyLattice> {
        let lost = self.texts("lost")?.unwrap_or_else(|| LOST.map(String::from).to_vec());
        let standard = Selection::default();
        Ok(StudyLattice {
            about: self.about()?,
            criteria: self.many_criteria()?,
            levels: self
                .texts("levels")?
                .unwrap_or_default()
                .iter()
                .map(|text| GivenScheme::parse(text))
                .collect::<Result<_>>()?,
            lost: lost.iter().map(|text| Suppression::parse(text)).collect::<Result<_>>()?,
            selection: Selection {
                share: self.partial()?.unwrap_or(standard.share),
                estimator: self.text("estimator")?.map_or(Ok(standard.estimator), Estimator::parse)?,
            },
        })
    }
}
