//! How much two attributes have to do with each other.

use rustc_hash::FxHashMap;

use crate::utility::view::View;

/// What is measured of two attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of two numbers, Pearson's r, from −1 to 1: cov(x, y) / √(var x · var y).
    Correlation,
    /// Of two categories, Cramér's V, from 0 to 1: √(χ² / (n · (min(rows, columns) − 1))), over the rows and columns that
    /// are not empty (Cramér: Mathematical Methods of Statistics, 1946, chapter 21).
    CramersV,
    /// Of a category and a number, the correlation ratio η, from 0 to 1: √(Σ n_c (x̄_c − x̄)² / (n · var x)) over categories c
    /// (Pearson 1905).
    CorrelationRatio,
}

impl Kind {
    /// The word that JSON uses.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Correlation => "correlation",
            Kind::CramersV => "cramers_v",
            Kind::CorrelationRatio => "correlation_ratio",
        }
    }
}

/// An association in the source and in the release.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// The two attributes.
    pub attributes: (String, String),
    /// What is measured.
    pub kind: Kind,
    /// In the source.
    pub before: f64,
    /// In the release.
    pub after: f64,
}

impl Association {
    /// By how much it differs.
    pub fn change(&self) -> f64 {
        (self.after - self.before).abs()
    }
}

/// What is measured of two attributes of which it is known whether they are numbers.
pub fn kind(is_number: (bool, bool)) -> Kind {
    match is_number {
        (true, true) => Kind::Correlation,
        (false, false) => Kind::CramersV,
        _ => Kind::CorrelationRatio,
    }
}

/// The association of two attributes; 0 where one of them does not vary.
///
/// Records without a number are left out where a number is asked for.
pub fn association(view: &View, attributes: (usize, usize), n_classes: (usize, usize), kind: Kind) -> f64 {
    let pairs = pairs(view, attributes);
    let beliefs = (view.beliefs(attributes.0), view.beliefs(attributes.1));
    let known = pairs.iter().map(|&((a, b), n)| (&beliefs.0[a as usize], &beliefs.1[b as usize], n));
    match kind {
        Kind::Correlation => {
            let known = known.filter(|(a, b, _)| a.is_number && b.is_number);
            let mut sums = [0.0; 6];
            for (a, b, n) in known {
                let of_pair = [1.0, a.mean, b.mean, a.square, b.square, a.mean * b.mean];
                sums.iter_mut().zip(of_pair).for_each(|(sum, value)| *sum += n * value);
            }
            let [n, x, y, xx, yy, xy] = sums;
            // Independent within a row, so that E[xy] there is the product of the means.
            let (variance_x, variance_y) = (xx / n - (x / n) * (x / n), yy / n - (y / n) * (y / n));
            let tiny = |variance: f64, square: f64| variance <= 1e-12 * (square / n).max(f64::MIN_POSITIVE);
            if n == 0.0 || tiny(variance_x, xx) || tiny(variance_y, yy) {
                return 0.0;
            }
            ((xy / n - x / n * y / n) / (variance_x * variance_y).sqrt()).clamp(-1.0, 1.0)
        }
        Kind::CramersV => {
            let mut table = vec![0.0; n_classes.0 * n_classes.1];
            for (a, b, n) in known {
                for (row, share) in &a.shares {
                    for (column, other) in &b.shares {
                        table[*row as usize * n_classes.1 + *column as usize] += n * share * other;
                    }
                }
            }
            cramers_v(&table, n_classes)
        }
        Kind::CorrelationRatio => {
            let is_first = beliefs.0.iter().any(|belief| belief.is_number);
            let (mut sizes, mut sums) =
                (vec![0.0; n_classes.0.max(n_classes.1)], vec![0.0; n_classes.0.max(n_classes.1)]);
            let mut squares = 0.0;
            for (a, b, n) in known {
                let (number, category) = if is_first { (a, b) } else { (b, a) };
                if !number.is_number {
                    continue;
                }
                squares += n * number.square;
                for (class, share) in &category.shares {
                    sizes[*class as usize] += n * share;
                    sums[*class as usize] += n * share * number.mean;
                }
            }
            let (n, sum): (f64, f64) = (sizes.iter().sum(), sums.iter().sum());
            let all = squares - sum * sum / n;
            if n == 0.0 || all <= 1e-12 * squares {
                return 0.0;
            }
            let of_class = |(size, sum): (&f64, &f64)| if *size > 0.0 { sum * sum / size } else { 0.0 };
            let between = sizes.iter().zip(&sums).map(of_class).sum::<f64>() - sum * sum / n;
            (between.max(0.0) / all).sqrt().min(1.0)
        }
    }
}

fn cramers_v(table: &[f64], n_classes: (usize, usize)) -> f64 {
    let (mut rows, mut columns) = (vec![0.0; n_classes.0], vec![0.0; n_classes.1]);
    for (place, n) in table.iter().enumerate() {
        rows[place / n_classes.1] += n;
        columns[place % n_classes.1] += n;
    }
    let n_used = |sums: &[f64]| sums.iter().filter(|sum| **sum > 0.0).count();
    let n_least = n_used(&rows).min(n_used(&columns));
    if n_least < 2 {
        return 0.0;
    }
    // χ² = n · (Σ o² / (row · column) − 1)
    let of_place = |(place, observed): (usize, &f64)| match rows[place / n_classes.1] * columns[place % n_classes.1] {
        expected if expected > 0.0 => observed * observed / expected,
        _ => 0.0,
    };
    let chi_square_over_n = table.iter().enumerate().map(of_place).sum::<f64>() - 1.0;
    (chi_square_over_n.max(0.0) / (n_least - 1) as f64).sqrt().min(1.0)
}

/// How many records have each pair of beliefs, in the order of their places.
fn pairs(view: &View, attributes: (usize, usize)) -> Vec<((u32, u32), f64)> {
    let mut pairs: FxHashMap<(u32, u32), f64> = FxHashMap::default();
    for row in 0..view.len() {
        *pairs.entry((view.place(row, attributes.0), view.place(row, attributes.1))).or_default() += view.weight(row);
    }
    let mut pairs: Vec<((u32, u32), f64)> = pairs.into_iter().collect();
    pairs.sort_unstable_by_key(|(pair, _)| *pair);
    pairs
}
