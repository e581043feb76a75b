//! Every scheme with its profile: the annotated lattice from which all requests are answered.
//!
//! The finest scheme's groups come from the counts, every other scheme's from a scheme one level finer, so that the
//! cost of a scheme is the number of groups of a neighbour, not of records.

use std::sync::OnceLock;

use crate::counts::{GroupCounts, number};
use crate::criterion::{Criteria, Criterion, Measure, Measured, Test, Yardstick};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::lattice::by_loss::{Floor, floors};
use crate::lattice::evaluate::{Evaluating, Seen};
use crate::lattice::fitting::with_roller;
use crate::lattice::grid::{Grid, GridColumns, N_IN_BLOCK};
use crate::lattice::profile::{Outcome, Profile};
use crate::lattice::profiles::Profiles;
use crate::lattice::roller::Annotation;
use crate::lattice::scope::{Scope, Selection};
use crate::lattice::size::check_size;
use crate::lattice::walk::all_profiles;
use crate::loss::{Entropies, Penalties};
use crate::scheme::{Scheme, Schemes, height_of, n_schemes};
use crate::task::Task;

/// The schemes over a table's quasi-identifiers, all or the most promising, each annotated with its profile.
#[derive(Clone, Debug)]
pub struct Lattice {
    pub(crate) scope: Scope,
    pub(crate) schemes: Schemes,
    /// How the schemes were selected, where these are not all.
    pub(crate) selection: Option<Selection>,
    /// Everything that criteria see of the groups of any scheme.
    pub(crate) signatures: Measured,
    /// By place of the scheme.
    pub(crate) profiles: Profiles,
    /// By measure of the signatures.
    pub(crate) grids: Vec<Grid>,
    pub(crate) entropies: Option<Entropies>,
    pub(crate) n_source_groups: u64,
    /// Made when first asked for.
    pub(crate) by_loss: OnceLock<Vec<Floor>>,
}

impl std::ops::Deref for Lattice {
    type Target = Scope;

    fn deref(&self) -> &Scope {
        &self.scope
    }
}

/// What annotation is to measure of every scheme's groups.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// How much the analyst cares about each quasi-identifier.
    pub weights: &'a [f64],
    /// What groups are measured with.
    pub yardstick: &'a Yardstick,
    /// Whether non-uniform entropy is wanted beside NCP.
    pub with_entropy: bool,
}

/// Annotates every scheme over the hierarchies, which belong to the quasi-identifiers of the counts in order.
///
/// # Guarantee
/// Every profile is that of the groups one would get by generalizing and counting all records again,
/// whatever the number of threads.
///
/// # Errors
/// Where hierarchies or weights do not fit the counts, the lattice does not fit into the memory allowed, or the task
/// was cancelled.
pub fn annotate(counts: &GroupCounts, hierarchies: &[Hierarchy], plan: &Plan, task: &Task) -> Result<Lattice> {
    check_size(hierarchies.len(), n_schemes(hierarchies).unwrap_or(u64::MAX), task)?;
    annotate_schemes(counts, hierarchies, plan, Schemes::new(hierarchies)?, None, task)
}

/// Annotates these schemes and no others.
pub(crate) fn annotate_schemes(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    plan: &Plan,
    schemes: Schemes,
    selection: Option<Selection>,
    task: &Task,
) -> Result<Lattice> {
    counts.check_hierarchies(hierarchies)?;
    let penalties = Penalties::new(hierarchies, plan.weights)?;
    let entropies = plan.with_entropy.then(|| Entropies::new(counts, hierarchies));
    let wanted = Annotation { yardstick: plan.yardstick, penalties: &penalties, entropies: entropies.as_ref() };
    let rolled_up = all_profiles(counts, hierarchies, &wanted, &schemes, task)?;
    let signatures = rolled_up.signatures;
    Ok(Lattice {
        grids: Grid::all(&signatures, &schemes, &rolled_up.profiles, task)?,
        scope: Scope::new(counts, hierarchies, plan.yardstick),
        schemes,
        selection,
        signatures,
        profiles: Profiles::InMemory(rolled_up.profiles),
        entropies,
        n_source_groups: rolled_up.n_source_groups,
        by_loss: OnceLock::new(),
    })
}

impl Lattice {
    /// The schemes that are annotated.
    pub fn schemes(&self) -> &Schemes {
        &self.schemes
    }

    /// How the annotated schemes were selected; none where they are all that there are.
    pub fn selection(&self) -> Option<Selection> {
        self.selection
    }

    /// Annotates one scheme more, at the time of a request; does nothing where it is annotated already.
    ///
    /// The counts, hierarchies and plan are those of the lattice.
    ///
    /// # Errors
    /// Where there is no such scheme, or the counts and the plan are those of another lattice.
    pub fn extend(&mut self, counts: &GroupCounts, plan: &Plan, scheme: &Scheme) -> Result<()> {
        scheme.check(&self.scope.hierarchies)?;
        counts.check_hierarchies(&self.scope.hierarchies)?;
        let levels: Vec<u8> = scheme.levels().iter().map(|level| level.0).collect();
        if self.schemes.find_levels(&levels).is_some() {
            return Ok(());
        }
        let penalties = Penalties::new(&self.scope.hierarchies, plan.weights)?;
        let wanted =
            Annotation { yardstick: plan.yardstick, penalties: &penalties, entropies: self.entropies.as_ref() };
        let looking = Evaluating(&levels);
        let Seen { signatures, profile } = with_roller(counts, &self.scope.hierarchies, &wanted, None, looking)?;
        let place = self.schemes.insert(&levels);
        for (column, grid) in self.grids.iter_mut().enumerate() {
            grid.insert(place, height_of(&levels), self.scope.n_records, &signatures, column, &profile);
        }
        // Signatures of its own, which are in the order of size among themselves, as every profile needs them.
        let first = number(self.signatures.len());
        self.signatures.extend(&signatures);
        self.profiles.insert(place, profile.renumbered(|signature| first + signature));
        self.by_loss = OnceLock::new();
        Ok(())
    }

    /// Everything that criteria see of the groups of any scheme, by signature.
    pub fn signatures(&self) -> &Measured {
        &self.signatures
    }

    /// What the groups of the scheme at a place are like.
    pub fn profile(&self, place: usize) -> &Profile {
        self.profiles.get(place)
    }

    /// Refuses a lattice of which something could not be read: what was answered from it until now means nothing.
    ///
    /// Only lattices that were saved and opened can fail, and only [`negotiate`](crate::negotiate()) and
    /// [`frontier`](crate::search::frontier::frontier()) look by themselves.
    ///
    /// # Errors
    /// Where something could not be read.
    pub fn intact(&self) -> Result<()> {
        self.profiles.intact()
    }

    /// How much is forgotten with every label, where that was asked for.
    pub fn entropies(&self) -> Option<&Entropies> {
        self.entropies.as_ref()
    }

    /// How many groups were read to make all schemes: the work that annotation did. None where it comes from a file.
    pub fn n_source_groups(&self) -> u64 {
        self.n_source_groups
    }

    /// The bytes that the annotations take.
    pub fn n_bytes(&self) -> usize {
        self.profiles.n_bytes() + self.signatures.n_bytes() + self.grids.iter().map(Grid::n_bytes).sum::<usize>()
    }

    /// Refuses criteria that were not measured when the lattice was annotated.
    ///
    /// # Errors
    /// Where one of them was not measured.
    pub fn check_measured(&self, criteria: &Criteria) -> Result<()> {
        match criteria.iter().find(|criterion| self.signatures.column(criterion.measure).is_none()) {
            Some(criterion) => Err(Error::new(
                ErrorKind::Request,
                format!("the lattice was annotated without {}", criterion.measure.name()),
            )
            .hint("annotate it again with this criterion")),
            None => Ok(()),
        }
    }

    /// How many records a scheme suppresses.
    pub fn n_suppressed(&self, place: usize, criteria: &Criteria) -> u64 {
        self.profile(place).n_suppressed(&self.signatures, &self.signatures.test(criteria))
    }

    /// What publishing a scheme would give.
    pub fn outcome(&self, place: usize, criteria: &Criteria) -> Outcome {
        self.profile(place).outcome(&self.signatures, &self.signatures.test(criteria))
    }

    /// All places, those that lose least by NCP first; nothing where schemes are missing that would tell.
    pub(crate) fn by_loss(&self) -> Option<&[Floor]> {
        let is_known = self.schemes.is_complete() && u32::try_from(self.schemes.len()).is_ok();
        let of_place = |place: usize| self.outcome(place, &Criteria::default()).ncp;
        is_known.then(|| self.by_loss.get_or_init(|| floors(&self.schemes, of_place)).as_slice())
    }

    /// The size of a scheme's smallest group.
    pub fn smallest_group(&self, place: usize) -> Option<u64> {
        self.profile(place).entries().first().map(|entry| self.signatures.size(entry.signature as usize))
    }

    /// The greatest value of a measure that any group has, without those that never hold.
    pub fn greatest(&self, measure: Measure) -> u64 {
        let Some(column) = self.signatures.column(measure) else { return 0 };
        self.grids[column].greatest
    }

    /// The values of a measure at which the records lost are known for all schemes, with those numbers by place.
    pub fn known_suppression(&self, measure: Measure) -> impl Iterator<Item = (u64, &[u64])> {
        let grids = self.signatures.column(measure).map(|column| &self.grids[column]);
        grids.into_iter().flat_map(|grid| grid.values.iter().copied().zip(grid.columns.iter().map(Vec::as_slice)))
    }

    /// Prepares to ask many schemes about the same criteria.
    ///
    /// # Panics
    /// Where one of them was not measured: [`Lattice::check_measured`] says so.
    pub fn suppression(&self, criteria: &Criteria) -> Suppression<'_> {
        let columns = |criterion: Criterion| {
            let column = self.signatures.column(criterion.measure).expect("the criterion was measured");
            self.grids[column].around(criterion)
        };
        Suppression {
            lattice: self,
            test: self.signatures.test(criteria),
            columns: criteria.iter().map(columns).collect(),
        }
    }
}

/// Suppressed records of any scheme under fixed criteria, by a lookup where bounds decide.
pub struct Suppression<'a> {
    lattice: &'a Lattice,
    test: Test<'a>,
    /// By criterion.
    columns: Vec<GridColumns<'a>>,
}

impl Suppression<'_> {
    /// The least and the most that a scheme can suppress, by lookup.
    #[inline]
    pub fn bounds(&self, place: usize) -> (u64, u64) {
        // A record that fails any criterion is suppressed once: at least the greatest, at most the sum.
        self.columns.iter().fold((0, 0), |(least, most): (u64, u64), columns| {
            (least.max(columns.below[place]), most.saturating_add(columns.above[place]))
        })
    }

    /// Of some places those at which at most `n_max` records may be suppressed, by lookup, in order.
    pub fn promising(&self, places: std::ops::Range<usize>, n_max: u64) -> impl Iterator<Item = usize> {
        let blocks = places.start / N_IN_BLOCK..places.end.div_ceil(N_IN_BLOCK);
        blocks.filter(move |&block| self.columns.iter().all(|columns| columns.blocks[block] <= n_max)).flat_map(
            move |block| {
                let start = (block * N_IN_BLOCK).max(places.start);
                let end = ((block + 1) * N_IN_BLOCK).min(places.end);
                (start..end).filter(move |&place| self.columns.iter().all(|columns| columns.below[place] <= n_max))
            },
        )
    }

    /// Whether at most `n_max` records may be suppressed at a place, by lookup.
    pub(crate) fn is_promising(&self, place: usize, n_max: u64) -> bool {
        self.columns.iter().all(|columns| columns.below[place] <= n_max)
    }

    /// No scheme of this height suppresses less.
    pub fn floor(&self, height: usize) -> u64 {
        self.columns.iter().map(|columns| columns.floors[height]).max().unwrap_or(0)
    }

    /// What a scheme suppresses, counted; none where it is more than `n_max`, which is found out sooner.
    pub(crate) fn exact_up_to(&self, place: usize, n_max: u64) -> Option<u64> {
        self.lattice.profile(place).n_suppressed_up_to(&self.lattice.signatures, &self.test, n_max)
    }

    /// What a scheme suppresses, counted.
    pub fn exact(&self, place: usize) -> u64 {
        self.lattice.profile(place).n_suppressed(&self.lattice.signatures, &self.test)
    }
}
