//! `study local`: what local recoding loses beside other methods, against k, the number of attributes and their weights.
//!
//! What the Utility paper sets out to show (its section 5 is not part of the text that we have): NCP, the two metrics of
//! group sizes and the error of queries, for the published algorithms, ours, Mondrian and the best scheme.

use incrowd::recode::method::Method;
use incrowd::{Error, ErrorKind, Quality, Result};

use super::compare::{Compare, Compared};
use super::contenders::{Contender, ContenderResult};
use super::known::Known;
use super::request::{About, GivenRequest};
use crate::input::project::Project;
use crate::work::Work;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyLocal {
    pub about: About,
    /// Those of the charts of `compare` where none are given.
    pub ks: Vec<u64>,
    /// The k at which attributes and weights vary; the middle one of all where it is not given.
    pub k: Option<u64>,
    /// Who takes part; the papers' methods, as published and ours, where nobody is named.
    pub contenders: Option<Vec<Contender>>,
    /// How many of the quasi-identifiers each set has, from the first on; from two to all where none are given.
    pub sets: Vec<usize>,
    /// The attribute whose weight is raised; the first where none is named.
    pub weight: Option<String>,
    pub n_queries: usize,
    pub seed: u64,
}

/// What came of it.
pub struct StudiedLocal {
    /// The k at which attributes and weights vary.
    pub k: u64,
    /// Every k.
    pub by_k: Compared,
    /// Every set of attributes, at one k.
    pub by_set: Vec<Compared>,
}

impl StudyLocal {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<StudiedLocal> {
        let compare = |about: About, ks: Vec<u64>, vary_weight: Option<String>, with_chart: bool| {
            let order = Compare {
                about,
                request: GivenRequest { with_standing: false, ..GivenRequest::default() },
                ks,
                is_chart: with_chart,
                contenders: Some(self.contenders.clone().unwrap_or_else(usual)),
                queries: None,
                n_queries: self.n_queries,
                seed: self.seed,
                vary_weight,
                n_steps: None,
                time: None,
                target: None,
            };
            order.run(project, known, work)
        };
        let by_k = compare(self.about.clone(), self.ks.clone(), None, true)?;
        let mut ks: Vec<u64> = by_k.rows.iter().map(ContenderResult::k).collect();
        ks.dedup();
        let k = self.k.unwrap_or(ks[ks.len() / 2]);
        let names: Vec<String> =
            by_k.counted.hierarchies.iter().map(|hierarchy| hierarchy.attribute().to_string()).collect();
        let weight = self.weight.clone().unwrap_or_else(|| names[0].clone());
        let sets = match self.sets.is_empty() {
            true => (2.min(names.len())..=names.len()).collect(),
            false => self.sets.clone(),
        };
        if let Some(size) = sets.iter().find(|&&size| size == 0 || size > names.len()) {
            let message = format!("there is no set of {size} quasi-identifiers, there are {}", names.len());
            return Err(Error::new(ErrorKind::Request, message).hint(format!("give numbers from 1 to {}", names.len())));
        }
        let of_set = |&size: &usize| {
            let about = About { quasi_identifiers: Some(names[..size].to_vec()), ..self.about.clone() };
            // The weight varies where all attributes take part.
            compare(about, vec![k], (size == names.len() && size > 1).then(|| weight.clone()), false)
        };
        let by_set = sets.iter().map(of_set).collect::<Result<Vec<_>>>()?;
        Ok(StudiedLocal { k, by_k, by_set })
    }
}

/// The methods of the paper, as printed and ours, and what it compares them with.
fn usual() -> Vec<Contender> {
    let local =
        [Method::Mondrian, Method::TopDown, Method::TopDownPublished, Method::BottomUp, Method::BottomUpPublished];
    std::iter::once(Contender::Global(Quality::Ncp)).chain(local.map(Contender::Local)).collect()
}
