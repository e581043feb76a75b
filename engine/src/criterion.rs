//! What makes one group of records safe to publish.
//!
//! A criterion looks at one group's statistics, and where it compares, at the distribution of the original table (as it
//! was counted, before anything is suppressed); at nothing else. A group that fails any criterion of a request is
//! suppressed: none of its records is published.
//!
//! Every criterion boils a group down to one whole number, a count or millionths, rounded towards less privacy, and
//! compares it with the number asked for. Values are asked for with six decimals at most, so that this comparison is
//! the exact one: no verdict hangs on how a computer rounds.

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;

/// One in the unit of shares, distances and ratios: millionths.
pub const ONE: u64 = 1_000_000;

/// What a group that cannot reach any value measures, where less is better.
pub const NEVER: u64 = u64::MAX;

/// What a criterion looks at. Those about a sensitive attribute name it by its number.
///
/// With `n` records in the group, `c` of them with a value of the sensitive attribute, `N` and `C` the same for the
/// original table: `p = c / n`, `q = C / N`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// k-anonymity (Samarati 2001; Sweeney 2002): `n ≥ k`.
    ///
    /// # Guarantee
    /// Whoever knows a person's quasi-identifiers, and that the person is in the release,
    /// finds at least k records that could be that person's.
    Size,
    /// k-map (Sweeney 2002): at least k people of the population share the group's quasi-identifier values.
    ///
    /// # Guarantee
    /// Whoever knows a person's quasi-identifiers, but not that the person is in the release, finds at least k people
    /// of the population, as given, to whom a record may belong.
    Population,
    /// Distinct l-diversity (Machanavajjhala et al. 2006): number of different sensitive values ≥ l.
    ///
    /// # Guarantee
    /// The records that could be a given person's hold at least l different sensitive values.
    /// How often each occurs is not promised.
    Distinct(usize),
    /// (α,k)-anonymity (Wong et al. 2006), for every sensitive value: `max p ≤ α`.
    ///
    /// # Guarantee
    /// No sensitive value is that of more than the share α of the records that could be a given person's.
    Share(usize),
    /// Entropy l-diversity (Machanavajjhala et al. 2006): `−Σ p ln p ≥ ln l`. It is measured as `exp(−Σ p ln p)`.
    ///
    /// # Guarantee
    /// The sensitive values of the records that could be a given person's are as uncertain as at least l equally
    /// frequent ones.
    Entropy(usize),
    /// Recursive (c,l)-diversity (Machanavajjhala et al. 2006): with counts `r₁ ≥ r₂ ≥ …`, `r₁ < c (r_l + r_{l+1} + …)`.
    /// It is measured as the c that would just not do.
    ///
    /// # Guarantee
    /// After ruling out any l − 2 sensitive values, the most frequent one is still less than c times as frequent as
    /// the least frequent others together.
    Recursive { sensitive: usize, l: u32 },
    /// t-closeness (Li, Li, Venkatasubramanian 2007): the earth mover's distance of p to q is ≤ t.
    ///
    /// # Guarantee
    /// What the release says about a given person's sensitive value is within t, in the chosen distance, of what the
    /// distribution over the original table says about anyone.
    Closeness(usize),
    /// δ-disclosure privacy (Brickell, Shmatikov 2008): `|ln (p / q)| < δ` for every value of the table.
    ///
    /// # Guarantee
    /// No sensitive value becomes more or less likely by a factor of e^δ or beyond; every value of the table occurs in
    /// every group.
    Disclosure(usize),
    /// Basic β-likeness (Cao, Karras 2012): `(p − q) / q ≤ β` for every value.
    ///
    /// # Guarantee
    /// No sensitive value becomes more likely by more than the share β of its likelihood in the original table.
    Likeness(usize),
    /// Enhanced β-likeness (Cao, Karras 2012): `(p − q) / q ≤ min(β, −ln q)` for every value.
    ///
    /// # Guarantee
    /// As for basic β-likeness, and frequent values are bounded more tightly: by −ln q.
    EnhancedLikeness(usize),
}

impl Measure {
    /// The sensitive attribute that is looked at, if any.
    pub fn sensitive(self) -> Option<usize> {
        use Measure::*;
        match self {
            Size | Population => None,
            Distinct(s) | Share(s) | Entropy(s) | Closeness(s) | Disclosure(s) | Likeness(s) | EnhancedLikeness(s) => {
                Some(s)
            }
            Recursive { sensitive, .. } => Some(sensitive),
        }
    }

    /// Whether a greater value means more privacy.
    pub fn is_at_least(self) -> bool {
        matches!(self, Measure::Size | Measure::Population | Measure::Distinct(_) | Measure::Entropy(_))
    }

    /// Whether merging groups can only help, so that the records suppressed never grow on the way up.
    ///
    /// Sizes add up and sets of sensitive values unite (thesis, theorem 2). For all others a group that holds can be
    /// dragged down by one that fails, and is suppressed with it.
    pub fn is_monotone(self) -> bool {
        matches!(self, Measure::Size | Measure::Population | Measure::Distinct(_))
    }

    /// Whether the value counts something; otherwise it is in millionths.
    pub fn is_count(self) -> bool {
        self.is_monotone()
    }

    /// Whether groups are compared with the distribution over the original table.
    pub fn is_relative(self) -> bool {
        use Measure::*;
        matches!(self, Closeness(_) | Disclosure(_) | Likeness(_) | EnhancedLikeness(_))
    }

    /// The name that flags, project files and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Size => "k",
            Measure::Population => "k_map",
            Measure::Distinct(_) => "l",
            Measure::Share(_) => "alpha",
            Measure::Entropy(_) => "entropy_l",
            Measure::Recursive { .. } => "recursive",
            Measure::Closeness(_) => "t",
            Measure::Disclosure(_) => "delta",
            Measure::Likeness(_) => "beta",
            Measure::EnhancedLikeness(_) => "enhanced_beta",
        }
    }

    /// The least privacy that is still some, which is as far as an offer goes.
    pub fn weakest(self) -> u64 {
        match self {
            Measure::Size | Measure::Population | Measure::Distinct(_) => 2,
            Measure::Entropy(_) => ONE + 1,
            Measure::Share(_) | Measure::Closeness(_) => ONE - 1,
            // Far beyond what anyone would call privacy, and far from what a group that never holds measures.
            Measure::Recursive { .. }
            | Measure::Disclosure(_)
            | Measure::Likeness(_)
            | Measure::EnhancedLikeness(_) => 1_000 * ONE,
        }
    }
}

/// One promise about every published group: at least, or at most, this value of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    pub measure: Measure,
    pub value: u64,
}

impl Criterion {
    pub fn k(k: u64) -> Criterion {
        Criterion { measure: Measure::Size, value: k }
    }

    /// Whether it asks for nothing: a record that stands alone keeps it too.
    pub fn is_void(self) -> bool {
        match self.measure {
            Measure::Size | Measure::Population | Measure::Distinct(_) => self.value == 1,
            Measure::Entropy(_) | Measure::Share(_) | Measure::Closeness(_) => self.value == ONE,
            // All values together are always less than c times themselves.
            Measure::Recursive { l, .. } => l == 1 && self.value > ONE,
            Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => false,
        }
    }

    /// Distinct diversity of the first sensitive attribute.
    pub fn l(l: u64) -> Criterion {
        Criterion { measure: Measure::Distinct(0), value: l }
    }

    pub fn holds(self, measured: u64) -> bool {
        if self.measure.is_at_least() { measured >= self.value } else { measured <= self.value }
    }

    /// The same criterion asking for another value.
    pub fn with_value(self, value: u64) -> Criterion {
        Criterion { value, ..self }
    }

    /// How much of what was asked is left when another value is taken, from 0 to 1.
    pub fn share_left(self, value: u64) -> f64 {
        let (asked, left) = (self.value as f64, value as f64);
        if self.measure.is_at_least() { left / asked } else { asked / left }
    }
}

/// The criteria of one request: a group is published if it satisfies all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criteria(Vec<Criterion>);

impl Criteria {
    /// One criterion per measure; of two about the same measure the stricter stays.
    pub fn new(criteria: impl IntoIterator<Item = Criterion>) -> Criteria {
        let mut all: Vec<Criterion> = Vec::new();
        for criterion in criteria {
            match all.iter_mut().find(|known| known.measure == criterion.measure) {
                Some(known) if known.holds(criterion.value) => known.value = criterion.value,
                Some(_) => {}
                None => all.push(criterion),
            }
        }
        all.sort_by_key(|criterion| criterion.measure);
        Criteria(all)
    }

    /// k-anonymity and distinct l-diversity of the first sensitive attribute, where given.
    pub fn of(k: Option<u64>, l: Option<u64>) -> Criteria {
        Criteria::new(k.map(Criterion::k).into_iter().chain(l.map(Criterion::l)))
    }

    pub fn iter(&self) -> impl Iterator<Item = Criterion> {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn is_monotone(&self) -> bool {
        self.iter().all(|criterion| criterion.measure.is_monotone())
    }

    /// The value asked of a measure.
    pub fn value(&self, measure: Measure) -> Option<u64> {
        self.iter().find(|criterion| criterion.measure == measure).map(|criterion| criterion.value)
    }

    /// The same criteria with one of them asking for another value, or with one more.
    pub fn with(&self, criterion: Criterion) -> Criteria {
        let others = self.iter().filter(|known| known.measure != criterion.measure);
        Criteria::new(others.chain([criterion]))
    }

    pub fn without(&self, measure: Measure) -> Criteria {
        Criteria(self.iter().filter(|criterion| criterion.measure != measure).collect())
    }
}

/// How far apart two values of a sensitive attribute are, for t-closeness; from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// Any two different values are at distance 1.
    #[default]
    Equal,
    /// By how many places apart they are in the order of the attribute's values; the ends are at distance 1.
    Ordered,
    /// By the level of the hierarchy on which they meet; values that meet only at the top are at distance 1.
    Hierarchical,
}

impl Distance {
    pub const ALL: [Distance; 3] = [Distance::Equal, Distance::Ordered, Distance::Hierarchical];

    pub fn name(self) -> &'static str {
        match self {
            Distance::Equal => "equal",
            Distance::Ordered => "ordered",
            Distance::Hierarchical => "hierarchical",
        }
    }

    pub fn parse(name: &str) -> Option<Distance> {
        Distance::ALL.into_iter().find(|distance| distance.name() == name)
    }
}

/// A sensitive attribute over the whole original table: what groups are compared with.
#[derive(Clone, Debug)]
pub struct Reference {
    n_records: u64,
    /// By value, how many records have it.
    counts: Vec<u64>,
    distance: Distance,
    /// By value, how many records have it or one before it, and the sum of these.
    cumulative: Vec<u64>,
    cumulative_sums: Vec<i128>,
    /// By level below the top: the label above each value, and how many records have each label.
    levels: Vec<(Vec<u32>, Vec<u64>)>,
}

impl Reference {
    /// `counts` are by value in the attribute's order; only hierarchical distance needs the hierarchy.
    pub fn new(counts: Vec<u64>, distance: Distance, hierarchy: Option<&Hierarchy>) -> Reference {
        let cumulative: Vec<u64> = counts.iter().scan(0, |sum, n| Some(add(sum, *n))).collect();
        let sums = cumulative.iter().scan(0i128, |sum, n| Some(add(sum, i128::from(*n))));
        let cumulative_sums = std::iter::once(0).chain(sums).collect();
        let itself = || (0..counts.len() as u32).collect();
        let levels: Vec<Vec<u32>> = match (distance, hierarchy) {
            (Distance::Ordered, _) => Vec::new(),
            (Distance::Hierarchical, Some(hierarchy)) => {
                let labels = |level: usize| hierarchy.level(level).of_base().iter().map(|code| code.0).collect();
                (0..hierarchy.top()).map(labels).collect()
            }
            (Distance::Equal, _) | (Distance::Hierarchical, None) => vec![itself()],
        };
        let with_counts = |labels: Vec<u32>| {
            let mut of_label = vec![0; labels.iter().max().map_or(0, |label| *label as usize + 1)];
            labels.iter().zip(&counts).for_each(|(label, n)| of_label[*label as usize] += n);
            (labels, of_label)
        };
        Reference {
            n_records: counts.iter().sum(),
            levels: levels.into_iter().map(with_counts).collect(),
            counts,
            distance,
            cumulative,
            cumulative_sums,
        }
    }

    pub fn distance(&self) -> Distance {
        self.distance
    }

    /// By value, how many records of the table have it.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }
}

fn add<T: Copy + std::ops::AddAssign>(sum: &mut T, n: T) -> T {
    *sum += n;
    *sum
}

/// One group as criteria about one sensitive attribute see it: its values in order, and how many records have each.
pub type Histogram<'a> = &'a [(u32, u64)];

/// Distinct values.
pub fn n_distinct(histogram: Histogram) -> u64 {
    histogram.len() as u64
}

/// The share of the most frequent value.
pub fn greatest_share(histogram: Histogram) -> u64 {
    let (n, most) = histogram.iter().fold((0, 0), |(n, most), (_, c)| (n + c, most.max(*c)));
    // A group of the population's people only has no shares.
    if n == 0 { 0 } else { ratio_up(u128::from(most), u128::from(n)) }
}

/// `exp` of the entropy: how many equally frequent values would be as uncertain.
pub fn effective_values(histogram: Histogram) -> u64 {
    let n: u64 = histogram.iter().map(|(_, c)| c).sum();
    if n == 0 {
        return 0;
    }
    let first = histogram[0].1;
    if histogram.iter().all(|(_, c)| *c == first) {
        return histogram.len() as u64 * ONE;
    }
    let c_ln_c: f64 = histogram.iter().map(|(_, c)| *c as f64 * ln(*c)).sum();
    let exact = ONE as f64 * (ln(n) - c_ln_c / n as f64).exp();
    let nearest = exact.round();
    // Next to a whole number of millionths the computer's rounding could decide: there, ask whole numbers.
    match (exact - nearest).abs() < 1e-3 && is_effective_number(histogram, n, nearest as u64) {
        true => nearest as u64,
        false => exact as u64,
    }
}

/// The natural logarithm of a count, by lookup where it is small.
fn ln(n: u64) -> f64 {
    static SMALL: std::sync::LazyLock<Vec<f64>> =
        std::sync::LazyLock::new(|| (0..1024u32).map(|n| f64::from(n.max(1)).ln()).collect());
    SMALL.get(n as usize).copied().unwrap_or_else(|| (n as f64).ln())
}

/// Whether exp(entropy) is exactly so many millionths: `n^n · 10^(6n) = m^n · Π c^c`, prime by prime.
fn is_effective_number(histogram: Histogram, n: u64, millionths: u64) -> bool {
    let mut exponents: std::collections::BTreeMap<u64, i128> = std::collections::BTreeMap::new();
    let mut multiply = |base: u64, power: i128| {
        for (prime, exponent) in factors(base) {
            *exponents.entry(prime).or_default() += i128::from(exponent) * power;
        }
    };
    multiply(n, i128::from(n));
    multiply(ONE, i128::from(n));
    multiply(millionths, -i128::from(n));
    histogram.iter().for_each(|(_, c)| multiply(*c, -i128::from(*c)));
    exponents.values().all(|exponent| *exponent == 0)
}

fn factors(mut n: u64) -> Vec<(u64, u32)> {
    let mut factors = Vec::new();
    let mut prime = 2;
    while prime * prime <= n {
        let mut exponent = 0;
        while n % prime == 0 {
            n /= prime;
            exponent += 1;
        }
        if exponent > 0 {
            factors.push((prime, exponent));
        }
        prime += 1;
    }
    if n > 1 {
        factors.push((n, 1));
    }
    factors
}

/// The least c of (c,l)-diversity that holds: a millionth more than the ratio, where that is a whole number of them.
pub fn recursive_ratio(histogram: Histogram, l: u32) -> u64 {
    let mut counts: Vec<u64> = histogram.iter().map(|(_, c)| *c).collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let rest: u64 = counts.iter().skip(l.saturating_sub(1) as usize).sum();
    match (counts.first(), rest) {
        (None, _) => 0,
        (_, 0) => NEVER,
        (Some(&most), rest) => ratio_down(u128::from(most), u128::from(rest)) + 1,
    }
}

/// The earth mover's distance to the table, in the reference's distance between values.
pub fn distance_to_table(histogram: Histogram, reference: &Reference) -> u64 {
    let n: u64 = histogram.iter().map(|(_, c)| c).sum();
    if n == 0 || reference.counts.len() < 2 {
        return 0;
    }
    match reference.distance {
        Distance::Ordered => ordered_distance(histogram, n, reference),
        Distance::Equal | Distance::Hierarchical => tree_distance(histogram, n, reference),
    }
}

/// `1/(s−1) Σ_i |Σ_{j≤i} (p_j − q_j)|`.
///
/// Between two values of the group its sum stands still while the table's grows, so that a stretch of values is added
/// up at once on either side of the place where the table overtakes.
fn ordered_distance(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    let n_values = reference.cumulative.len();
    let whole = u128::from(n) * u128::from(reference.n_records) * (n_values - 1) as u128;
    // The common case fits into 64 bits, which are much faster.
    let moved = match i64::try_from(2 * whole) {
        Ok(_) => ordered_moves::<i64>(histogram, n as i64, reference, |sum| sum as i64) as u128,
        Err(_) => ordered_moves::<i128>(histogram, i128::from(n), reference, |sum| sum) as u128,
    };
    ratio_up(moved, whole)
}

/// The sum of the distances, over the common denominator n · N.
fn ordered_moves<T>(histogram: Histogram, n: T, reference: &Reference, sum_of: impl Fn(i128) -> T) -> T
where
    T: Copy
        + From<i32>
        + PartialOrd
        + std::ops::Add<Output = T>
        + std::ops::Sub<Output = T>
        + std::ops::Mul<Output = T>,
{
    let Reference { cumulative, cumulative_sums, .. } = reference;
    let number = |n: u64| sum_of(i128::from(n));
    let of_table = number(reference.n_records);
    let mut total = T::from(0);
    let mut stretch = |from: usize, to: usize, c: u64| {
        let ours = number(c) * of_table;
        let overtaken = from + cumulative[from..to].partition_point(|&known| number(known) * n <= ours);
        let sum = |from: usize, to: usize| n * sum_of(cumulative_sums[to] - cumulative_sums[from]);
        total = total + ours * number((overtaken - from) as u64) - sum(from, overtaken);
        total = total + sum(overtaken, to) - ours * number((to - overtaken) as u64);
    };
    let (mut from, mut c) = (0, 0);
    for (value, count) in histogram {
        stretch(from, *value as usize, c);
        from = *value as usize;
        c += count;
    }
    stretch(from, cumulative.len(), c);
    total
}

/// `1/(2H) Σ |p − q|` over all labels of all H levels below the top: each unit that is moved goes up and down again.
fn tree_distance(histogram: Histogram, n: u64, reference: &Reference) -> u64 {
    let of_table = u128::from(reference.n_records);
    let n = u128::from(n);
    let mut total = 0u128;
    let mut of_label: Vec<(u32, u64)> = Vec::with_capacity(histogram.len());
    for (labels, counts) in &reference.levels {
        of_label.clear();
        for (value, c) in histogram {
            let label = labels[*value as usize];
            match of_label.iter_mut().rev().find(|(known, _)| *known == label) {
                Some((_, sum)) => *sum += c,
                None => of_label.push((label, *c)),
            }
        }
        // Labels that the group lacks are off by their own share: all of the table, less the shares of those it has.
        let mut absent = of_table;
        for (label, c) in &of_label {
            let of_label = u128::from(counts[*label as usize]);
            absent -= of_label;
            total += (u128::from(*c) * of_table).abs_diff(of_label * n);
        }
        total += absent * n;
    }
    ratio_up(total, 2 * reference.levels.len() as u128 * n * of_table)
}

/// The greatest `|ln (p / q)|`, and a millionth more, since less than δ is asked for.
pub fn greatest_disclosure(histogram: Histogram, reference: &Reference) -> u64 {
    let n: u64 = histogram.iter().map(|(_, c)| c).sum();
    if n == 0 {
        return 0;
    }
    let n_values = reference.counts.iter().filter(|count| **count > 0).count();
    if histogram.len() < n_values {
        return NEVER;
    }
    let scale = reference.n_records as f64 / n as f64;
    let of_value = |(value, c): &(u32, u64)| {
        let of_table = reference.counts[*value as usize];
        // Where the shares are equal, say so exactly.
        match u128::from(*c) * u128::from(reference.n_records) == u128::from(of_table) * u128::from(n) {
            true => 0.0,
            false => (*c as f64 / of_table as f64 * scale).ln().abs(),
        }
    };
    (histogram.iter().map(of_value).fold(0.0, f64::max) * ONE as f64) as u64 + 1
}

/// The greatest `(p − q) / q`.
pub fn greatest_gain(histogram: Histogram, reference: &Reference) -> u64 {
    let n: u64 = histogram.iter().map(|(_, c)| c).sum();
    let of_value = |(value, c): &(u32, u64)| {
        let ours = u128::from(*c) * u128::from(reference.n_records);
        let of_table = u128::from(reference.counts[*value as usize]) * u128::from(n);
        if ours > of_table { ratio_up(ours - of_table, of_table) } else { 0 }
    };
    histogram.iter().map(of_value).max().unwrap_or(0)
}

/// The greatest `(p − q) / q`, or never where it exceeds `−ln q` for some value.
pub fn greatest_bounded_gain(histogram: Histogram, reference: &Reference) -> u64 {
    let n: u64 = histogram.iter().map(|(_, c)| c).sum();
    let exceeds = |(value, c): &(u32, u64)| {
        let q = reference.counts[*value as usize] as f64 / reference.n_records as f64;
        let p = *c as f64 / n as f64;
        // A value that all records have cannot gain, however the computer divides.
        q < 1.0 && (p - q) / q > -q.ln()
    };
    match histogram.iter().any(exceeds) {
        true => NEVER,
        false => greatest_gain(histogram, reference),
    }
}

/// `a / b` in millionths, rounded up; never where that is beyond counting.
fn ratio_up(a: u128, b: u128) -> u64 {
    match (u64::try_from(a).ok().and_then(|a| a.checked_mul(ONE)), u64::try_from(b)) {
        (Some(a), Ok(b)) => a.div_ceil(b),
        _ => match a.checked_mul(u128::from(ONE)) {
            Some(a) => u64::try_from(a.div_ceil(b)).unwrap_or(NEVER),
            None => NEVER,
        },
    }
}

fn ratio_down(a: u128, b: u128) -> u64 {
    u64::try_from(a * u128::from(ONE) / b).unwrap_or(NEVER - 1)
}

/// What groups are measured with: the measures that are asked for, and what they need to know about the table.
#[derive(Clone, Debug)]
pub struct Yardstick {
    measures: Vec<Measure>,
    /// By sensitive attribute.
    references: Vec<Reference>,
    /// Where each sensitive attribute's values begin among those of all; one more entry than there are attributes.
    offsets: Vec<u32>,
}

impl Yardstick {
    /// Measures sizes, the distinct values of the first sensitive attribute if there is one, and what else is asked for.
    ///
    /// `distances` are by sensitive attribute of the counts, with the hierarchy where the distance needs one.
    pub fn new(
        counts: &GroupCounts,
        distances: &[(Distance, Option<Hierarchy>)],
        measures: impl IntoIterator<Item = Measure>,
    ) -> Result<Yardstick> {
        let n_sensitive = counts.sensitive().len();
        let mut all: Vec<Measure> = measures.into_iter().chain([Measure::Size]).collect();
        if n_sensitive > 0 {
            all.push(Measure::Distinct(0));
        }
        all.sort_unstable();
        all.dedup();
        if let Some(measure) = all.iter().find(|measure| measure.sensitive().is_some_and(|s| s >= n_sensitive)) {
            return Err(Error::new(
                ErrorKind::Request,
                format!("{} needs a sensitive attribute, and the project names none", measure.name()),
            )
            .hint("give one attribute role = \"sensitive\" in incrowd.toml"));
        }
        if all.contains(&Measure::Population) && counts.population().is_none() {
            return Err(Error::new(ErrorKind::Request, "k_map needs a population to hide in, and none is given")
                .hint("name a table of the population under [data] population in incrowd.toml"));
        }
        let reference = |s: usize| {
            let (distance, hierarchy) = distances.get(s).cloned().unwrap_or_default();
            Reference::new(counts.distribution(s), distance, hierarchy.as_ref())
        };
        let lengths = counts.sensitive().iter().map(|domain| domain.len() as u32);
        Ok(Yardstick {
            measures: all,
            references: (0..n_sensitive).map(reference).collect(),
            offsets: std::iter::once(0).chain(lengths.scan(0, |sum, n| Some(add(sum, n)))).collect(),
        })
    }

    /// In increasing order; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    pub fn references(&self) -> &[Reference] {
        &self.references
    }

    /// How many values all sensitive attributes have together.
    pub fn n_values(&self) -> usize {
        self.offsets.last().map_or(0, |n| *n as usize)
    }

    /// The number that a value of a sensitive attribute has among those of all.
    pub fn value(&self, sensitive: usize, code: u32) -> u32 {
        self.offsets[sensitive] + code
    }

    /// Measures a group of `size` records, `population` people, and the sensitive values of all attributes in order.
    pub fn measure(&self, size: u64, population: u64, histogram: Histogram, into: &mut Vec<u64>) {
        let mut of_attribute: Vec<(u32, u64)> = Vec::new();
        let mut prepared = usize::MAX;
        for &measure in &self.measures {
            let histogram = match measure.sensitive() {
                None => &[][..],
                Some(_) if self.references.len() == 1 => histogram,
                Some(s) => {
                    if prepared != s {
                        let values = self.offsets[s]..self.offsets[s + 1];
                        let own = histogram.iter().filter(|(value, _)| values.contains(value));
                        of_attribute.clear();
                        of_attribute.extend(own.map(|(value, c)| (value - values.start, *c)));
                        prepared = s;
                    }
                    &of_attribute
                }
            };
            into.push(self.value_of(measure, size, population, histogram));
        }
    }

    /// Measures a group, of which the histogram is that of the measure's own sensitive attribute.
    fn value_of(&self, measure: Measure, size: u64, population: u64, histogram: Histogram) -> u64 {
        match measure {
            Measure::Size => size,
            Measure::Population => population,
            Measure::Distinct(_) => n_distinct(histogram),
            Measure::Share(_) => greatest_share(histogram),
            Measure::Entropy(_) => effective_values(histogram),
            Measure::Recursive { l, .. } => recursive_ratio(histogram, l),
            Measure::Closeness(s) => distance_to_table(histogram, &self.references[s]),
            Measure::Disclosure(s) => greatest_disclosure(histogram, &self.references[s]),
            Measure::Likeness(s) => greatest_gain(histogram, &self.references[s]),
            Measure::EnhancedLikeness(s) => greatest_bounded_gain(histogram, &self.references[s]),
        }
    }

    /// Whether every record of the table keeps a criterion on its own, as a group of one: then it hides nobody.
    ///
    /// Of the population nothing is taken for granted: whoever stands alone may stand alone there too.
    pub fn is_kept_alone(&self, criterion: Criterion) -> bool {
        let keeps = |histogram: Histogram| criterion.holds(self.value_of(criterion.measure, 1, 1, histogram));
        match criterion.measure.sensitive() {
            None => keeps(&[]),
            Some(s) => {
                let counts = (0..).zip(&self.references[s].counts);
                counts.filter(|(_, count)| **count > 0).all(|(value, _)| keeps(&[(value, 1)]))
            }
        }
    }
}

/// What criteria see of some groups: for each, one value per measure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    measures: Vec<Measure>,
    /// By group, then by measure.
    values: Vec<u64>,
}

impl Measured {
    /// `measures` begin with the size; `values` are by group, then by measure.
    pub fn new(measures: &[Measure], values: Vec<u64>) -> Measured {
        assert_eq!(measures.first(), Some(&Measure::Size), "every group is counted");
        Measured { measures: measures.to_vec(), values }
    }

    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    pub fn len(&self) -> usize {
        self.values.len() / self.measures.len().max(1)
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What is known of a group, by measure.
    #[inline]
    pub fn of(&self, group: usize) -> &[u64] {
        let n = self.measures.len();
        &self.values[group * n..][..n]
    }

    #[inline]
    pub fn size(&self, group: usize) -> u64 {
        self.values[group * self.measures.len()]
    }

    /// Where a measure stands among those of a group.
    pub fn column(&self, measure: Measure) -> Option<usize> {
        self.measures.iter().position(|known| *known == measure)
    }

    /// Prepares to ask many groups about the same criteria, all of which were measured.
    pub fn test(&self, criteria: &Criteria) -> Test<'_> {
        let column = |criterion: Criterion| {
            let column = self.column(criterion.measure);
            (column.expect("the criterion was measured"), criterion)
        };
        Test { measured: self, criteria: criteria.iter().map(column).collect() }
    }

    /// Adds groups that the same was measured of.
    pub(crate) fn extend(&mut self, more: &Measured) {
        debug_assert_eq!(self.measures, more.measures);
        self.values.extend_from_slice(&more.values);
    }

    /// What is known of all groups, one after the other.
    pub(crate) fn values(&self) -> &[u64] {
        &self.values
    }

    pub(crate) fn n_bytes(&self) -> usize {
        size_of_val(&self.values[..])
    }
}

/// Which groups satisfy all criteria of a request.
#[derive(Clone, Debug)]
pub struct Test<'a> {
    measured: &'a Measured,
    criteria: Vec<(usize, Criterion)>,
}

impl Test<'_> {
    /// The size asked for, where nothing else is.
    #[inline]
    pub fn only_size(&self) -> Option<u64> {
        match self.criteria[..] {
            [(_, criterion)] if criterion.measure == Measure::Size => Some(criterion.value),
            _ => None,
        }
    }

    /// The same test asking for another value of one measure.
    pub(crate) fn set(&mut self, measure: Measure, value: u64) {
        let asked = self.criteria.iter_mut().find(|(_, criterion)| criterion.measure == measure);
        asked.expect("the measure is asked about").1.value = value;
    }

    #[inline]
    pub fn holds(&self, group: usize) -> bool {
        let values = self.measured.of(group);
        self.criteria.iter().all(|&(column, criterion)| criterion.holds(values[column]))
    }
}
