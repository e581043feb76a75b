//! Which of several safe releases is the better one: the quality functions of the thesis (Table 4.1), and mixes of them.
//!
//! All are computed from annotations, and all as losses: less is better. A suppressed record counts as fully
//! generalized: it is `*` everywhere, alike only to the other suppressed ones.

use crate::error::{Error, ErrorKind, Result, Wording, unknown};
use crate::lattice::Lattice;
use crate::lattice::profile::Outcome;
use crate::loss::Entropies;

/// A way to say how much a release has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quality {
    /// The sum of levels (Samarati 2001); suppression does not enter.
    Height,
    /// Normalized certainty penalty, weighted by the attributes' weights (Xu et al. 2006).
    Ncp,
    /// C_DM (Bayardo, Agrawal 2005): every record counts the records it cannot be told from; a suppressed one, all.
    Discernibility,
    /// C_AVG: records per group; the suppressed records are one group more.
    GroupSize,
    /// 1 − Prec (Sweeney 2002): how far up the cells are in their hierarchies, on average; a suppressed cell is at the top.
    Precision,
    /// Non-uniform entropy (Gionis, Tassa 2009): what is lost of all bits that there are to lose.
    Entropy,
}

impl Quality {
    /// Every quality function there is.
    pub const ALL: [Quality; 6] = [
        Quality::Height,
        Quality::Ncp,
        Quality::Discernibility,
        Quality::GroupSize,
        Quality::Precision,
        Quality::Entropy,
    ];

    /// The word that flags and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Quality::Height => "height",
            Quality::Ncp => "ncp",
            Quality::Discernibility => "discernibility",
            Quality::GroupSize => "group-size",
            Quality::Precision => "precision",
            Quality::Entropy => "entropy",
        }
    }

    /// The quality function of a name.
    ///
    /// # Errors
    /// Where there is none of that name.
    pub fn parse(name: &str) -> Result<Quality> {
        let known = Quality::ALL.map(Quality::name);
        let named = Quality::ALL.into_iter().find(|quality| quality.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "quality function", name, &known))
    }
}

/// What a release has lost, by every quality function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Losses {
    /// Mean penalty of a record, from 0 to 1.
    pub ncp: f64,
    /// Σ size² over groups, and for each suppressed record the number of all records.
    pub discernibility: u128,
    /// Records per group.
    pub group_size: f64,
    /// Sweeney's Prec, from 0 to 1: more is better.
    pub precision: f64,
    /// The share of all bits that is lost, where the lattice was annotated with it.
    pub entropy: Option<f64>,
}

impl Losses {
    /// `levels` and `tops` are by attribute.
    pub fn new(outcome: &Outcome, levels: &[u8], tops: &[u8], n_records: u64, entropies: Option<&Entropies>) -> Losses {
        let n_groups = outcome.n_groups + u64::from(outcome.n_suppressed > 0);
        // An attribute that cannot be generalized has lost nothing.
        let of_cell = |(&level, &top): (&u8, &u8)| if top == 0 { 0.0 } else { f64::from(level) / f64::from(top) };
        let generalized = levels.iter().zip(tops).map(of_cell).sum::<f64>() / levels.len().max(1) as f64;
        let n_published = n_records - outcome.n_suppressed;
        let up = generalized * n_published as f64 + outcome.n_suppressed as f64;
        Losses {
            ncp: outcome.ncp,
            discernibility: outcome.n_squares + u128::from(outcome.n_suppressed) * u128::from(n_records),
            group_size: n_records as f64 / n_groups.max(1) as f64,
            precision: 1.0 - up / n_records.max(1) as f64,
            entropy: entropies.map(|entropies| entropies.loss(outcome.entropy, outcome.n_suppressed)),
        }
    }
}

/// What "best" means: the least of one quality function, or of a weighted mix of several.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking(Vec<(Quality, f64)>);

impl Default for Ranking {
    /// The least that is lost of the values. The papers' order is [`Quality::Height`]: it saves a level by hiding a whole
    /// attribute.
    fn default() -> Ranking {
        Ranking::from(Quality::Ncp)
    }
}

impl From<Quality> for Ranking {
    fn from(quality: Quality) -> Ranking {
        Ranking(vec![(quality, 1.0)])
    }
}

impl Ranking {
    /// `ncp`, or a mix such as `ncp=2,group-size=1`.
    ///
    /// # Errors
    /// Where there is no quality function of that name, or a weight is no number.
    pub fn parse(text: &str) -> Result<Ranking> {
        let wrong = |message: String| {
            Error::new(ErrorKind::Request, message).hint(
                Wording::text("for example ")
                    .example("best_by", "ncp")
                    .and(", or a mix: ")
                    .example("best_by", "ncp=2,precision=1"),
            )
        };
        let mut mix: Vec<(Quality, f64)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
            let quality = Quality::parse(name.trim())?;
            let weight: f64 = weight.trim().parse().unwrap_or(f64::NAN);
            if !(weight > 0.0 && weight.is_finite()) {
                return Err(wrong(format!("the weight of {} is not a number above 0", quality.name())));
            }
            if mix.iter().any(|(known, _)| *known == quality) {
                return Err(wrong(format!("{} is named twice", quality.name())));
            }
            mix.push((quality, weight));
        }
        if !mix.iter().map(|(_, weight)| weight).sum::<f64>().is_finite() {
            return Err(wrong("the weights of the mix are too large to be added up".into()));
        }
        Ok(Ranking(mix))
    }

    /// The quality functions that count.
    pub fn qualities(&self) -> impl Iterator<Item = Quality> {
        self.0.iter().map(|(quality, _)| *quality)
    }

    /// Whether the lowest height is best, as in the papers.
    pub fn is_height(&self) -> bool {
        matches!(self.0[..], [(Quality::Height, _)])
    }

    /// Whether the least loss of values is best, as where nobody says anything else.
    pub(crate) fn is_ncp(&self) -> bool {
        matches!(self.0[..], [(Quality::Ncp, _)])
    }

    /// Whether annotation must measure entropy for it.
    pub fn needs_entropy(&self) -> bool {
        self.0.iter().any(|(quality, _)| *quality == Quality::Entropy)
    }

    /// The words that flags and JSON use.
    pub fn name(&self) -> String {
        match &self.0[..] {
            [(quality, _)] => quality.name().to_string(),
            mix => {
                let parts: Vec<String> = mix.iter().map(|(quality, w)| format!("{}={w}", quality.name())).collect();
                parts.join(",")
            }
        }
    }

    /// How much a scheme loses, from 0 to 1: each quality function as a share of its range, in the mix of the ranking.
    ///
    /// Height is a share of the greatest height; discernibility runs from every record alone to all alike, and group
    /// size from 1 to all records.
    pub fn loss(&self, lattice: &Lattice, place: usize, outcome: &Outcome) -> f64 {
        self.loss_at(&lattice.at(place), outcome)
    }

    /// The same of any scheme, in a lattice or not.
    pub(crate) fn loss_at(&self, at: &At, outcome: &Outcome) -> f64 {
        let n = at.n_records as f64;
        self.mixed(|quality| match quality {
            Quality::Height => share(height(at.levels), height(at.tops)),
            Quality::Ncp => outcome.ncp,
            Quality::Discernibility => share(at.losses(outcome).discernibility as f64 - n, n * n - n),
            Quality::GroupSize => share(at.losses(outcome).group_size - 1.0, n - 1.0),
            Quality::Precision => 1.0 - at.losses(outcome).precision,
            Quality::Entropy => {
                let entropies = at.entropies.expect("the lattice was annotated with entropy");
                entropies.loss(outcome.entropy, outcome.n_suppressed)
            }
        })
    }

    /// The weighted mean of something that every quality function has.
    pub(crate) fn mixed(&self, of: impl Fn(Quality) -> f64) -> f64 {
        let total: f64 = self.0.iter().map(|(_, weight)| weight).sum();
        self.0.iter().map(|&(quality, weight)| weight / total * of(quality)).sum()
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn height(levels: &[u8]) -> f64 {
    f64::from(levels.iter().map(|&level| u32::from(level)).sum::<u32>())
}

/// One scheme of a table.
pub(crate) struct At<'a> {
    pub(crate) levels: &'a [u8],
    pub(crate) tops: &'a [u8],
    pub(crate) n_records: u64,
    pub(crate) entropies: Option<&'a Entropies>,
}

impl At<'_> {
    pub(crate) fn losses(&self, outcome: &Outcome) -> Losses {
        Losses::new(outcome, self.levels, self.tops, self.n_records, self.entropies)
    }
}

impl Lattice {
    /// What publishing a scheme loses, by every quality function.
    pub fn losses(&self, place: usize, outcome: &Outcome) -> Losses {
        self.at(place).losses(outcome)
    }

    fn at(&self, place: usize) -> At<'_> {
        let (levels, tops) = (self.schemes().vector(place), self.schemes().tops());
        At { levels, tops, n_records: self.n_records(), entropies: self.entropies() }
    }
}
