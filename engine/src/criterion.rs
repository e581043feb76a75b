//! What makes one group of records safe to publish.
//!
//! A criterion looks at one group's statistics and at nothing else.
//! A group that fails any criterion of a request is suppressed: none of its records is published.

/// What criteria may know about a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// How many records share the group's quasi-identifier values.
    pub size: u64,
    /// How many different sensitive values they have.
    pub n_distinct: u32,
}

/// One promise about every published group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// k-anonymity (Samarati 2001; Sweeney 2002): size ≥ k.
    ///
    /// # Guarantee
    /// Whoever knows a person's quasi-identifiers, and that the person is in the release,
    /// finds at least k records that could be that person's.
    KAnonymity(u64),
    /// Distinct l-diversity (Machanavajjhala et al. 2006): number of different sensitive values ≥ l.
    ///
    /// # Guarantee
    /// The records that could be a given person's hold at least l different sensitive values.
    /// How often each occurs is not promised.
    DistinctDiversity(u64),
}

impl Criterion {
    pub fn holds(self, group: Group) -> bool {
        match self {
            Criterion::KAnonymity(k) => group.size >= k,
            Criterion::DistinctDiversity(l) => u64::from(group.n_distinct) >= l,
        }
    }

    /// Whether merging groups can only help, so that the records suppressed never grow on the way up.
    ///
    /// Sizes add up and sets of sensitive values unite, hence true for both (thesis, theorem 2).
    pub fn is_monotone(self) -> bool {
        match self {
            Criterion::KAnonymity(_) | Criterion::DistinctDiversity(_) => true,
        }
    }

    /// The letter that flags, project files and JSON use.
    pub fn name(self) -> &'static str {
        match self {
            Criterion::KAnonymity(_) => "k",
            Criterion::DistinctDiversity(_) => "l",
        }
    }

    pub fn value(self) -> u64 {
        match self {
            Criterion::KAnonymity(value) | Criterion::DistinctDiversity(value) => value,
        }
    }

    /// The same criterion asking for another value.
    pub fn with_value(self, value: u64) -> Criterion {
        match self {
            Criterion::KAnonymity(_) => Criterion::KAnonymity(value),
            Criterion::DistinctDiversity(_) => Criterion::DistinctDiversity(value),
        }
    }

    /// The value that a group reaches: the greatest that it satisfies.
    pub fn reached(self, group: Group) -> u64 {
        match self {
            Criterion::KAnonymity(_) => group.size,
            Criterion::DistinctDiversity(_) => u64::from(group.n_distinct),
        }
    }
}

/// The criteria of one request: a group is published if it satisfies all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Criteria {
    pub k: Option<u64>,
    pub l: Option<u64>,
}

impl Criteria {
    pub fn iter(self) -> impl Iterator<Item = Criterion> {
        let k = self.k.map(Criterion::KAnonymity);
        let l = self.l.map(Criterion::DistinctDiversity);
        k.into_iter().chain(l)
    }

    pub fn is_empty(self) -> bool {
        self.k.is_none() && self.l.is_none()
    }

    pub fn holds(self, group: Group) -> bool {
        self.iter().all(|criterion| criterion.holds(group))
    }

    /// The same criteria with one of them asking for another value.
    pub fn with(self, criterion: Criterion) -> Criteria {
        match criterion {
            Criterion::KAnonymity(k) => Criteria { k: Some(k), ..self },
            Criterion::DistinctDiversity(l) => Criteria { l: Some(l), ..self },
        }
    }
}
