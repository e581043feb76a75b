//! `histogram`: how large the groups of one scheme are, and how many different sensitive values they have.
//!
//! The thesis' KA- and SLD-histograms with their cumulative forms (Figures 2.6 to 2.9, 3.6, 3.7 and 3.24), of any scheme.

use std::collections::BTreeMap;
use std::sync::Arc;

use incrowd::search::partial::Selection;
use incrowd::{Error, ErrorKind, Hierarchy, Lattice, Level, Measure, Plan, Result, Role, Scheme};

use super::known::Known;
use super::lattice::annotate_some;
use super::request::{About, Privacy, parse_level, with_levels};
use crate::input::count::Material;
use crate::input::project::Project;
use crate::sentences::hint;
use crate::work::Work;

/// Which scheme is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    pub about: About,
    pub scheme: GivenScheme,
}

/// A scheme as somebody writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum GivenScheme {
    /// Every attribute as it is.
    #[default]
    Finest,
    /// A level for every attribute, in their order.
    InOrder(Vec<String>),
    /// Attributes that are not named stay as they are.
    Named(Vec<(String, String)>),
}

/// What the groups of a scheme look like.
pub struct Histogrammed {
    pub attributes: Vec<String>,
    pub scheme: Scheme,
    pub n_records: u64,
    pub n_groups: u64,
    /// Whether sizes are numbers of people.
    pub is_over_people: bool,
    pub sizes: Vec<Bar>,
    /// By sensitive attribute, of how many different values groups have.
    pub distinct: Vec<(String, Vec<Bar>)>,
}

/// The groups that have one size, or one number of different values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    pub value: u64,
    pub n_groups: u64,
    pub n_records: u64,
    /// Records of groups with less than that: as many are lost where it is asked for.
    pub n_records_below: u64,
}

impl GivenScheme {
    /// `101`, `1,0,1` or `age=1,race=1`.
    pub fn parse(text: &str) -> Result<GivenScheme> {
        let text = text.trim();
        if text.contains('=') {
            let entries: Vec<String> = text.split(',').map(str::to_string).collect();
            return Ok(GivenScheme::Named(super::request::levels(&entries)?));
        }
        let parts: Vec<String> = match text.contains(',') {
            true => text.split(',').map(|part| part.trim().to_string()).collect(),
            false => text.chars().map(String::from).collect(),
        };
        match !parts.is_empty() && parts.iter().all(|part| part.parse::<u8>().is_ok()) {
            true => Ok(GivenScheme::InOrder(parts)),
            false => Err(Error::new(ErrorKind::Request, format!("'{text}' is not a scheme"))
                .hint("a level per quasi-identifier, in their order, such as 1,0,2; or by name: age=1,sex=0")),
        }
    }

    /// The scheme, once the hierarchies are known.
    pub fn on(&self, hierarchies: &[Hierarchy]) -> Result<Scheme> {
        let finest = Scheme::new(vec![Level(0); hierarchies.len()]);
        match self {
            GivenScheme::Finest => Ok(finest),
            GivenScheme::Named(levels) => with_levels(&finest, levels, hierarchies),
            GivenScheme::InOrder(levels) if levels.len() == hierarchies.len() => {
                let level = |(text, hierarchy): (&String, &Hierarchy)| parse_level(text, hierarchy);
                Ok(Scheme::new(levels.iter().zip(hierarchies).map(level).collect::<Result<_>>()?))
            }
            GivenScheme::InOrder(levels) => {
                let names: Vec<&str> = hierarchies.iter().map(Hierarchy::attribute).collect();
                let given = if levels.len() == 1 { "level is" } else { "levels are" };
                let message = format!("{} {given} given for {} quasi-identifiers", levels.len(), names.len());
                Err(Error::new(ErrorKind::Request, message)
                    .hint(format!("they are {}", names.join(", ")))
                    .hint(hint("{quasi_identifiers} chooses some, and their order")))
            }
        }
    }
}

impl Histogram {
    pub fn run(&self, project: &Project, known: &Known, work: &Work) -> Result<Histogrammed> {
        // Every sensitive attribute is looked at, or the one that is named.
        let all = project.with_role(Role::Sensitive).map(|attribute| attribute.name.clone());
        let named = |name: &String| self.about.sensitive.as_ref().is_none_or(|chosen| chosen == name);
        self.about.no_privacy(project).map(drop).or_else(|error| match self.about.sensitive {
            Some(_) => Err(error),
            None => Ok(()),
        })?;
        let privacy = Privacy {
            criteria: Default::default(),
            floors: Default::default(),
            sensitive: all.filter(named).collect(),
        };
        let counted = known.count(project, &self.about.choice(&privacy), work)?;
        let scheme = self.scheme.on(&counted.hierarchies)?;
        histograms(&counted, &scheme, work)
    }
}

/// The histograms of one scheme, from the counts.
pub fn histograms(counted: &Material, scheme: &Scheme, work: &Work) -> Result<Histogrammed> {
    let measures: Vec<Measure> = (0..counted.sensitive.len()).map(Measure::Distinct).collect();
    let none = Selection { share: 0.0, ..Selection::default() };
    let mut lattice = annotate_some(counted, measures, false, Some(none), work)?;
    let (weights, yardstick) = (counted.weights(), counted.yardstick(lattice.measures().iter().copied())?);
    let plan = Plan { weights: &weights, yardstick: &yardstick, with_entropy: false };
    lattice.extend(&counted.counts, &plan, scheme)?;
    Ok(of_lattice(&Arc::new(lattice), scheme))
}

/// The histograms of a scheme that is annotated.
fn of_lattice(lattice: &Lattice, scheme: &Scheme) -> Histogrammed {
    let place = lattice.schemes().place(scheme);
    let (profile, signatures) = (lattice.profile(place), lattice.signatures());
    let bars = |measure: Measure| {
        let column = signatures.column(measure)?;
        let mut by_value: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for entry in profile.entries() {
            let (signature, n_groups) = (entry.signature as usize, u64::from(entry.n_groups));
            let bar = by_value.entry(signatures.of(signature)[column]).or_default();
            *bar = (bar.0 + n_groups, bar.1 + n_groups * signatures.n_records(signature));
        }
        let mut n_records_below = 0;
        let bar = |(value, (n_groups, n_records)): (u64, (u64, u64))| {
            let bar = Bar { value, n_groups, n_records, n_records_below };
            n_records_below += n_records;
            bar
        };
        Some(by_value.into_iter().map(bar).collect::<Vec<Bar>>())
    };
    let distinct = |(s, (name, _)): (usize, &(String, usize))| Some((name.clone(), bars(Measure::Distinct(s))?));
    Histogrammed {
        attributes: lattice.hierarchies().iter().map(|hierarchy| hierarchy.attribute().to_string()).collect(),
        scheme: scheme.clone(),
        n_records: lattice.n_records(),
        n_groups: profile.n_groups(),
        is_over_people: signatures.is_over_people(),
        sizes: bars(Measure::Size).unwrap_or_default(),
        distinct: lattice.sensitive().iter().enumerate().filter_map(distinct).collect(),
    }
}
