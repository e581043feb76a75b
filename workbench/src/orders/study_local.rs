//! `study local`: what local recoding loses beside other methods, against k, the number of attributes and of
//! records, and weights.
//!
//! What the Utility paper sets out to show (its section 5 is not part of the text that we have): NCP, the two metrics of
//! group sizes and the error of queries, for the published algorithms, ours, Mondrian and the best scheme.

use incrowd::recode::method::Method;
use incrowd::{Error, ErrorKind, Quality, Result};

use super::compare::{Compare, Compared};
use super::contenders::{Contender, ContenderResult};
use super::known::Known;
use super::request::{About, GivenRequest, Suppression};
use crate::input::project::Project;
use crate::work::Work;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyLocal {
    pub about: About,
    /// Those of the charts of `compare` where none are given.
    pub ks: Vec<u64>,
    /// The k at which attributes, records and weights vary; the middle one of all where it is not given.
    pub k: Option<u64>,
    /// Who takes part; the papers' methods, as published and ours, where nobody is named.
    pub contenders: Option<Vec<Contender>>,
    /// How many of the quasi-identifiers each set has, from the first on; from two to all where none are given.
    pub sets: Vec<usize>,
    /// How many records samples of the table have: numbers or shares; an eighth, a quarter and half of them where none are
    /// given.
    pub records: Vec<Suppression>,
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
    /// Every number of records, from few to many, at one k; all of them are in `by_k` or `by_set`.
    pub by_records: Vec<Compared>,
}

/// The shares of the records where nobody says.
const RECORDS: [&str; 3] = ["12.5%", "25%", "50%"];

impl StudyLocal {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<StudiedLocal> {
        let order = |about: About, ks: Vec<u64>, vary_weight: Option<String>, with_chart: bool| Compare {
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
        let by_k = order(self.about.clone(), self.ks.clone(), None, true).run(project, known, work)?;
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
            let varied = (size == names.len() && size > 1).then(|| weight.clone());
            order(about, vec![k], varied, false).run(project, known, work)
        };
        let by_set = sets.iter().map(of_set).collect::<Result<Vec<_>>>()?;
        let by_records = (self.numbers(by_k.counted.counts.n_records(), k)?.into_iter())
            .map(|n| {
                let sample = by_k.counted.sampled(project, n, self.seed)?;
                let order = order(self.about.clone(), vec![k], None, false);
                order.run_on(project, sample.into(), &Known::default(), work)
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(StudiedLocal { k, by_k, by_set, by_records })
    }
}

/// How many records a sample has: `1000`, or `25%` of them.
pub fn sample_size(text: &str) -> Result<Suppression> {
    let wrong = |_| {
        Error::new(ErrorKind::Request, format!("'{text}' is no size of a sample"))
            .hint("a number of records or a share, as 1000 or 25%")
    };
    Suppression::parse(text).map_err(wrong)
}

impl StudyLocal {
    /// How many records samples have, from few to many; fewer than all.
    fn numbers(&self, n_records: u64, k: u64) -> Result<Vec<u64>> {
        let (given, is_given) = match self.records.is_empty() {
            true => (RECORDS.map(sample_size).into_iter().collect::<Result<Vec<_>>>()?, false),
            false => (self.records.clone(), true),
        };
        let of = |given: &Suppression| match given {
            Suppression::Records(n) => Ok(*n),
            share => share.of(n_records),
        };
        let mut numbers = given.iter().map(of).collect::<Result<Vec<u64>>>()?;
        numbers.retain(|&n| n < n_records && (is_given || n >= k));
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}

/// The methods of the paper, as printed and ours, and what it compares them with.
fn usual() -> Vec<Contender> {
    let local =
        [Method::Mondrian, Method::TopDown, Method::TopDownPublished, Method::BottomUp, Method::BottomUpPublished];
    std::iter::once(Contender::Global(Quality::Ncp)).chain(local.map(Contender::Local)).collect()
}
