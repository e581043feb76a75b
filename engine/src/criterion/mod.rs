//! What makes one group of records safe to publish.
//!
//! A criterion looks at one group's statistics, and where it compares, at the distribution of the original table (as it
//! was counted, before anything is suppressed); at nothing else. A group that fails any criterion of a request is
//! suppressed: none of its records is published.
//!
//! Every criterion boils a group down to one whole number, a count or millionths, rounded towards less privacy, and
//! compares it with the number asked for. Values are asked for with six decimals at most, so that this comparison is
//! the exact one: no verdict hangs on how a computer rounds.
//!
//! Where the table says whose record each is, criteria are about people (Wang and Fung 2006: (X,Y)-anonymity, with the
//! person as Y), and [`Measure`] says of each what that means: see [`formulas::told_most`] and [`PARTS`].

pub mod formulas;
pub mod yardstick;

pub use formulas::{Histogram, Reference};
pub use yardstick::{Measured, Test, Yardstick};

/// One in the unit of shares, distances and ratios: millionths.
pub const MILLION: u64 = 1_000_000;

/// What a group that cannot reach any value measures, where less is better.
pub const NEVER: u64 = u64::MAX;

/// What everybody weighs in t-closeness over people: so many parts, shared out evenly among the person's different values
/// in the group; where that leaves a rest, the first of them in the attribute's order get one part more.
///
/// Exact for up to ten values, and beyond that to one part in so many.
pub const PARTS: u64 = 2_520;

/// What a criterion looks at. Those about a sensitive attribute name it by its number.
///
/// With `n` records in the group, `c` of them with a value of the sensitive attribute, `N` and `C` the same for the
/// original table: `p = c / n`, `q = C / N`.
///
/// Over people, `n` and `N` are different people, and `c` and `C` those of them who have the value in one record or more:
/// whoever has several values counts among those who have each, so that shares may add up to more than one. What is said
/// below of the records that could be a given person's then holds of the people who could be that person.
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
    ///
    /// Over people, everybody counts once, by the value that tells most ([`formulas::told_most`]): whatever l − 1 values
    /// somebody names, one of the people who could be the given person has none of them.
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
    ///
    /// Over people, that is so whichever one of their values everybody is counted with.
    Entropy(usize),
    /// Recursive (c,l)-diversity (Machanavajjhala et al. 2006): with counts `r₁ ≥ r₂ ≥ …`, `r₁ < c (r_l + r_{l+1} + …)`.
    /// It is measured as the c that would just not do.
    ///
    /// # Guarantee
    /// After ruling out any l − 2 sensitive values, the most frequent one is still less than c times as frequent as
    /// the least frequent others together.
    ///
    /// Over people, that is so whichever one of their values everybody is counted with.
    Recursive {
        /// The sensitive attribute.
        sensitive: usize,
        /// The l of (c,l).
        l: u32,
    },
    /// t-closeness (Li, Li, Venkatasubramanian 2007): the earth mover's distance of p to q is ≤ t.
    ///
    /// # Guarantee
    /// What the release says about a given person's sensitive value is within t, in the chosen distance, of what the
    /// distribution over the original table says about anyone.
    ///
    /// Over people, everybody weighs the same, however many records they have ([`PARTS`]): somebody drawn from the group,
    /// and one of their different values there, is within t of somebody drawn from the table and one of theirs.
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
    /// Every measure there is, in order, about the first sensitive attribute: the one list of them.
    pub const ALL: [Measure; 10] = [
        Measure::Size,
        Measure::Population,
        Measure::Distinct(0),
        Measure::Share(0),
        Measure::Entropy(0),
        Measure::Recursive { sensitive: 0, l: 1 },
        Measure::Closeness(0),
        Measure::Disclosure(0),
        Measure::Likeness(0),
        Measure::EnhancedLikeness(0),
    ];

    /// The measure of a name, about the first sensitive attribute; the l of [`Measure::Recursive`] is still to be said.
    pub fn parse(name: &str) -> Option<Measure> {
        Measure::ALL.into_iter().find(|measure| measure.name() == name)
    }

    /// The same measure of another sensitive attribute.
    pub fn about(self, sensitive: usize) -> Measure {
        match self {
            Measure::Size | Measure::Population => self,
            Measure::Distinct(_) => Measure::Distinct(sensitive),
            Measure::Share(_) => Measure::Share(sensitive),
            Measure::Entropy(_) => Measure::Entropy(sensitive),
            Measure::Recursive { l, .. } => Measure::Recursive { sensitive, l },
            Measure::Closeness(_) => Measure::Closeness(sensitive),
            Measure::Disclosure(_) => Measure::Disclosure(sensitive),
            Measure::Likeness(_) => Measure::Likeness(sensitive),
            Measure::EnhancedLikeness(_) => Measure::EnhancedLikeness(sensitive),
        }
    }

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
    ///
    /// Over people, sizes still only grow: the people of a united group are the union of those of its parts. Different
    /// values do not: three people with one of three values each are three, and ten more who all have the first and the
    /// second make that two, for of everybody the one or the other is true.
    pub fn is_monotone(self, over_people: bool) -> bool {
        match self {
            Measure::Size | Measure::Population => true,
            Measure::Distinct(_) => !over_people,
            _ => false,
        }
    }

    /// Whether the value counts something; otherwise it is in millionths.
    pub fn is_count(self) -> bool {
        matches!(self, Measure::Size | Measure::Population | Measure::Distinct(_))
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
            Measure::Entropy(_) => MILLION + 1,
            Measure::Share(_) | Measure::Closeness(_) => MILLION - 1,
            // Far beyond what anyone would call privacy, and far from what a group that never holds measures.
            Measure::Recursive { .. }
            | Measure::Disclosure(_)
            | Measure::Likeness(_)
            | Measure::EnhancedLikeness(_) => 1_000 * MILLION,
        }
    }
}

/// One promise about every published group: at least, or at most, this value of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criterion {
    /// What is looked at.
    pub measure: Measure,
    /// The least, or the most, that every group is to have: a count, or millionths.
    pub value: u64,
}

impl Criterion {
    /// k-anonymity.
    pub fn k(k: u64) -> Criterion {
        Criterion { measure: Measure::Size, value: k }
    }

    /// Whether it asks for nothing: a record that stands alone keeps it too.
    pub fn is_void(self) -> bool {
        match self.measure {
            Measure::Size | Measure::Population | Measure::Distinct(_) => self.value == 1,
            Measure::Entropy(_) | Measure::Share(_) | Measure::Closeness(_) => self.value == MILLION,
            // All values together are always less than c times themselves.
            Measure::Recursive { l, .. } => l == 1 && self.value > MILLION,
            Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => false,
        }
    }

    /// Distinct diversity of the first sensitive attribute.
    pub fn l(l: u64) -> Criterion {
        Criterion { measure: Measure::Distinct(0), value: l }
    }

    /// Whether a group that measures so much keeps it.
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

    /// The criteria, in the order of their measures.
    pub fn iter(&self) -> impl Iterator<Item = Criterion> {
        self.0.iter().copied()
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether merging groups can only help: so for every one of them.
    pub fn is_monotone(&self, over_people: bool) -> bool {
        self.iter().all(|criterion| criterion.measure.is_monotone(over_people))
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

    /// The same without what is asked of one measure.
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
    /// Every distance there is.
    pub const ALL: [Distance; 3] = [Distance::Equal, Distance::Ordered, Distance::Hierarchical];

    /// The word that project files use.
    pub fn name(self) -> &'static str {
        match self {
            Distance::Equal => "equal",
            Distance::Ordered => "ordered",
            Distance::Hierarchical => "hierarchical",
        }
    }

    /// The distance of a name.
    pub fn parse(name: &str) -> Option<Distance> {
        Distance::ALL.into_iter().find(|distance| distance.name() == name)
    }
}
