//! A regression on the quasi-identifiers, and how far its confidence intervals agree before and after.
//!
//! A cell counts as the mean of the numbers that may be behind it, and as the share of each category: whoever has only the
//! release would do no better.

use crate::utility::attribute::Attribute;
use crate::utility::distribution::shares;
use crate::utility::solve::inverse;
use crate::utility::view::View;

/// What is fitted.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Ordinary least squares, of a number.
    LeastSquares,
    /// Logistic regression, of whether the target is in this class.
    Logistic(String),
}

/// A coefficient with its confidence interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The coefficient.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// A coefficient in the source and in the release.
#[derive(Clone, Debug, PartialEq)]
pub struct Coefficient {
    /// The attribute.
    pub attribute: String,
    /// The category whose records differ by so much from those of the frequent and the rare ones; none for a number.
    pub category: Option<String>,
    /// From the source.
    pub before: Estimate,
    /// From the release; none where it does not vary there.
    pub after: Option<Estimate>,
    /// From 0 to 1, see [`overlap`].
    pub overlap: f64,
}

/// What a regression says before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Regression {
    /// What is fitted.
    pub model: Model,
    /// The intercept is left out.
    pub coefficients: Vec<Coefficient>,
    /// The mean of the coefficients' overlaps; 1 where there are none.
    pub overlap: f64,
}

/// The overlap of two confidence intervals: with L and U the ends of what both have in common,
/// ½ ((U − L) / (U₁ − L₁) + (U − L) / (U₂ − L₂)), and 0 where they have nothing in common (Karr, Kohnen, Oganian, Reiter,
/// Sanil: A framework for evaluating the utility of data altered to protect confidentiality. The American Statistician
/// 60, 2006).
pub fn overlap(before: &Estimate, after: &Estimate) -> f64 {
    let common = before.high.min(after.high) - before.low.max(after.low);
    let share = |of: &Estimate| if of.high > of.low { common / (of.high - of.low) } else { f64::from(common >= 0.0) };
    if common < 0.0 { 0.0 } else { (share(before) + share(after)) / 2.0 }
}

/// One column of what a target is explained by.
#[derive(Clone, Debug)]
struct Term {
    attribute: usize,
    /// The class whose share it is; the number itself where there is none.
    class: Option<u32>,
    /// Numbers are counted from the source's mean, in standard deviations: sums keep their digits.
    mean: f64,
    deviation: f64,
}

/// What is fitted to both views.
#[derive(Clone, Debug)]
pub struct Design {
    target: usize,
    /// The class of the target that is explained, where it is not its number.
    class: Option<u32>,
    terms: Vec<Term>,
}

/// A category is a term of its own from this share of the source's records on; the rarer ones and the most frequent one
/// are what it is compared with.
const SHARE_LEAST: f64 = 0.05;

/// Half of a confidence interval of 95 %, in standard errors.
const Z: f64 = 1.959_963_984_540_054;

/// Rounds of Newton's method at most.
const N_ROUNDS: usize = 25;

impl Design {
    /// Explains a target by the first `n_quasi` attributes but itself.
    ///
    /// A number with more than two values is explained by least squares; a target of two values by the rarer one, and
    /// one of more categories by the most frequent.
    pub fn new(source: &View, attributes: &[Attribute], n_quasi: usize, target: usize) -> Design {
        let shares = |a: usize| shares(source, a, attributes[a].classes().len());
        let of_target = shares(target);
        let used: Vec<u32> = (0..of_target.len() as u32).filter(|&class| of_target[class as usize] > 0.0).collect();
        let share = |class: &&u32| of_target[**class as usize];
        let class = match (used.len(), attributes[target].is_number()) {
            (0..=2, _) => used.iter().min_by(|a, b| share(a).total_cmp(&share(b)).then(b.cmp(a))),
            (_, true) => None,
            (_, false) => used.iter().max_by(|a, b| share(a).total_cmp(&share(b)).then(b.cmp(a))),
        };
        let terms = (0..n_quasi).filter(|&a| a != target).flat_map(|a| terms_of(source, attributes, a, &shares(a)));
        Design { target, class: class.copied(), terms: terms.collect() }
    }

    /// What is fitted, in words.
    pub fn model(&self, attributes: &[Attribute]) -> Model {
        match self.class {
            Some(class) => Model::Logistic(attributes[self.target].classes()[class as usize].clone()),
            None => Model::LeastSquares,
        }
    }

    /// By term, what a view says about it; none where the view does not tell.
    pub fn fit(&self, view: &View) -> Vec<Option<Estimate>> {
        let rows = self.rows(view);
        let (coefficients, inverse, variance) = match self.class {
            Some(_) => logistic(&rows, self.terms.len() + 1),
            None => least_squares(&rows, self.terms.len() + 1),
        };
        let estimate = |(i, term): (usize, &Term)| {
            let of_term = inverse[i + 1].as_ref()?;
            let value = coefficients[i + 1] / term.deviation;
            let error = (of_term[i + 1] * variance).max(0.0).sqrt() / term.deviation;
            let is_finite = value.is_finite() && error.is_finite();
            is_finite.then_some(Estimate { value, low: value - Z * error, high: value + Z * error })
        };
        self.terms.iter().enumerate().map(estimate).collect()
    }

    /// The rows of a view: what explains, what is explained, and how many records. Those without a number are left out.
    fn rows(&self, view: &View) -> Vec<Row> {
        let row = |row: usize| {
            let target = view.belief(row, self.target);
            let y = match self.class {
                Some(class) => share_of(&target.shares, class),
                None if target.is_number => target.mean,
                None => return None,
            };
            let mut x = vec![(0, 1.0)];
            for (i, term) in (1..).zip(&self.terms) {
                let belief = view.belief(row, term.attribute);
                let value = match term.class {
                    Some(class) => share_of(&belief.shares, class),
                    None if belief.is_number => (belief.mean - term.mean) / term.deviation,
                    None => return None,
                };
                if value != 0.0 {
                    x.push((i, value));
                }
            }
            Some(Row { x, y, weight: view.weight(row) })
        };
        (0..view.len()).filter_map(row).collect()
    }

    /// Puts the two fits side by side; what the source itself does not tell is left out.
    pub fn compared(
        &self,
        attributes: &[Attribute],
        before: &[Option<Estimate>],
        after: &[Option<Estimate>],
    ) -> Regression {
        let coefficient = |((term, before), after): ((&Term, &Option<Estimate>), &Option<Estimate>)| {
            let (attribute, before) = (&attributes[term.attribute], (*before)?);
            Some(Coefficient {
                attribute: attribute.name().to_string(),
                category: term.class.map(|class| attribute.classes()[class as usize].clone()),
                before,
                after: *after,
                overlap: after.as_ref().map_or(0.0, |after| overlap(&before, after)),
            })
        };
        let coefficients: Vec<Coefficient> = self.terms.iter().zip(before).zip(after).filter_map(coefficient).collect();
        let overlap = match coefficients.len() {
            0 => 1.0,
            n => coefficients.iter().map(|coefficient| coefficient.overlap).sum::<f64>() / n as f64,
        };
        Regression { model: self.model(attributes), coefficients, overlap }
    }
}

fn share_of(shares: &[(u32, f64)], class: u32) -> f64 {
    shares.iter().find(|(known, _)| *known == class).map_or(0.0, |(_, share)| *share)
}

/// The terms of one attribute: a number, or the categories that are neither rare nor the most frequent.
fn terms_of(source: &View, attributes: &[Attribute], attribute: usize, shares: &[f64]) -> Vec<Term> {
    if !attributes[attribute].is_number() {
        let most = (0..shares.len()).max_by(|&a, &b| shares[a].total_cmp(&shares[b]).then(b.cmp(&a)));
        let is_term = |class: &usize| shares[*class] >= SHARE_LEAST && Some(*class) != most;
        let term = |class: usize| Term { attribute, class: Some(class as u32), mean: 0.0, deviation: 1.0 };
        return (0..shares.len()).filter(is_term).map(term).collect();
    }
    let known = || (0..source.len()).filter(|&row| source.belief(row, attribute).is_number);
    let n: f64 = known().map(|row| source.weight(row)).sum();
    if n == 0.0 {
        return Vec::new();
    }
    let mean = known().map(|row| source.weight(row) * source.belief(row, attribute).mean).sum::<f64>() / n;
    let square = |row: usize| source.weight(row) * (source.belief(row, attribute).mean - mean).powi(2);
    let deviation = (known().map(square).sum::<f64>() / n).sqrt();
    if deviation > 0.0 { vec![Term { attribute, class: None, mean, deviation }] } else { Vec::new() }
}

struct Row {
    /// The columns that are not 0, increasing.
    x: Vec<(usize, f64)>,
    y: f64,
    weight: f64,
}

/// Coefficients, the inverse that their errors come from, and what its diagonal is multiplied by.
type Fit = (Vec<f64>, Vec<Option<Vec<f64>>>, f64);

/// b = (X'WX)⁻¹ X'Wy, with variance s² (X'WX)⁻¹ and s² the squared residuals over records less coefficients.
fn least_squares(rows: &[Row], n_columns: usize) -> Fit {
    let (mut squares, mut products) = (vec![vec![0.0; n_columns]; n_columns], vec![0.0; n_columns]);
    for row in rows {
        add(&mut squares, row, row.weight);
        row.x.iter().for_each(|(i, x)| products[*i] += row.weight * x * row.y);
    }
    let inverse = inverse(&squares);
    let coefficients = times(&inverse, &products);
    let residual = |row: &Row| row.weight * (row.y - predicted(row, &coefficients)).powi(2);
    let n: f64 = rows.iter().map(|row| row.weight).sum();
    let n_free = n - inverse.iter().flatten().count() as f64;
    let variance = rows.iter().map(residual).sum::<f64>() / n_free.max(1.0);
    (coefficients, inverse, variance)
}

/// Newton's method on the likelihood; the inverse of the information is the variance.
fn logistic(rows: &[Row], n_columns: usize) -> Fit {
    let mut coefficients = vec![0.0; n_columns];
    let mut inverted = vec![None; n_columns];
    for _ in 0..N_ROUNDS {
        let (mut information, mut score) = (vec![vec![0.0; n_columns]; n_columns], vec![0.0; n_columns]);
        for row in rows {
            let p = 1.0 / (1.0 + (-predicted(row, &coefficients).clamp(-30.0, 30.0)).exp());
            add(&mut information, row, row.weight * p * (1.0 - p));
            row.x.iter().for_each(|(i, x)| score[*i] += row.weight * x * (row.y - p));
        }
        inverted = inverse(&information);
        let step = times(&inverted, &score);
        coefficients.iter_mut().zip(&step).for_each(|(coefficient, step)| *coefficient += step);
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    (coefficients, inverted, 1.0)
}

fn add(squares: &mut [Vec<f64>], row: &Row, weight: f64) {
    for (i, x) in &row.x {
        row.x.iter().for_each(|(j, other)| squares[*i][*j] += weight * x * other);
    }
}

fn times(inverse: &[Option<Vec<f64>>], vector: &[f64]) -> Vec<f64> {
    let product = |row: &Vec<f64>| row.iter().zip(vector).map(|(a, b)| a * b).sum();
    inverse.iter().map(|row| row.as_ref().map_or(0.0, product)).collect()
}

fn predicted(row: &Row, coefficients: &[f64]) -> f64 {
    row.x.iter().map(|(i, x)| x * coefficients[*i]).sum()
}
