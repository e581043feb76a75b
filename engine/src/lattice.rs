//! Every scheme with its profile: the annotated lattice from which all requests are answered.
//!
//! The finest scheme's groups come from the counts, every other scheme's from a scheme one level finer, so that the
//! cost of a scheme is the number of groups of a neighbour, not of records.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::counts::{GroupCounts, hash_codes};
use crate::criterion::{Criteria, Criterion, Measure, Measured, NEVER, Test, Yardstick};
use crate::error::{Error, ErrorKind, Result, unknown};
use crate::evaluate::{Evaluate, Evaluating, Seen};
use crate::hierarchy::Hierarchy;
use crate::kept::Profiles;
use crate::loss::{Entropies, Penalties};
use crate::profile::{Entry, Outcome, Profile};
use crate::scheme::{Scheme, Schemes, height_of, n_schemes};
use crate::table::Code;
use crate::task::Task;
pub use crate::walk::N_BYTES_OF_ANY_MACHINE;
use crate::walk::{Wanted, all_profiles, check_size, with_roller};

/// The schemes over a table's quasi-identifiers, all or the most promising, each annotated with its profile.
#[derive(Clone, Debug)]
pub struct Lattice {
    pub(crate) scope: Scope,
    pub(crate) schemes: Schemes,
    /// How the schemes were selected, where these are not all.
    pub(crate) selection: Option<Selection>,
    /// Everything that criteria see of the groups of any scheme.
    pub(crate) looks: Measured,
    /// By place of the scheme.
    pub(crate) profiles: Profiles,
    /// By measure of the looks.
    pub(crate) grids: Vec<Grid>,
    pub(crate) entropies: Option<Entropies>,
    pub(crate) n_source_groups: u64,
}

/// How the schemes of a partial lattice are selected (thesis, chapter 5).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// Of the schemes of every height, this share is annotated, and two at least. None but the finest and the coarsest
    /// where it is 0: then all else is evaluated on demand.
    pub share: f64,
    pub estimator: Estimator,
}

/// What tells promising schemes from others: a sum over the levels of a scheme, of how well each groups records.
///
/// γ is the average size of the groups when one attribute alone is generalized, to this level; μ is how many times that
/// of the level below it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// Γ = Σ γ.
    Gamma,
    /// M = Σ μ.
    Mu,
    /// ΓM = Σ γ·μ.
    GammaMu,
    /// Λ = Σ log₂(γ)·μ: the thesis finds it the best.
    Lambda,
}

impl Estimator {
    pub const ALL: [Estimator; 4] = [Estimator::Gamma, Estimator::Mu, Estimator::GammaMu, Estimator::Lambda];

    pub fn name(self) -> &'static str {
        match self {
            Estimator::Gamma => "gamma",
            Estimator::Mu => "mu",
            Estimator::GammaMu => "gamma-mu",
            Estimator::Lambda => "lambda",
        }
    }

    pub fn parse(name: &str) -> Result<Estimator> {
        let known = Estimator::ALL.map(Estimator::name);
        let named = Estimator::ALL.into_iter().find(|estimator| estimator.name() == name);
        named.ok_or_else(|| unknown(ErrorKind::Request, "estimator", name, &known))
    }
}

/// What answers are about: the table, its quasi-identifiers and what is measured of its groups.
///
/// A lattice is about one, and can be given wherever one is asked for; answers on demand have it without a lattice.
#[derive(Clone, Debug)]
pub struct Scope {
    pub(crate) hierarchies: Vec<Hierarchy>,
    pub(crate) measures: Vec<Measure>,
    pub(crate) n_records: u64,
    pub(crate) n_dropped: u64,
    /// By sensitive attribute, its name and how many different values the table has.
    pub(crate) sensitive: Vec<(String, usize)>,
}

impl Scope {
    pub fn new(counts: &GroupCounts, hierarchies: &[Hierarchy], yardstick: &Yardstick) -> Scope {
        Scope {
            hierarchies: hierarchies.to_vec(),
            measures: yardstick.measures().to_vec(),
            n_records: counts.n_records(),
            n_dropped: counts.n_dropped(),
            sensitive: counts.sensitive().iter().map(|domain| (domain.name().to_string(), domain.len())).collect(),
        }
    }

    pub fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }

    /// What is measured of groups; the first is the size.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    pub fn n_records(&self) -> u64 {
        self.n_records
    }

    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    /// The sensitive attributes, and how many different values each has.
    pub fn sensitive(&self) -> &[(String, usize)] {
        &self.sensitive
    }

    /// How many schemes there are; none where the number is beyond counting.
    pub fn n_schemes(&self) -> Option<u64> {
        n_schemes(&self.hierarchies)
    }
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
    pub yardstick: &'a Yardstick,
    /// Whether non-uniform entropy is wanted beside NCP.
    pub with_entropy: bool,
}

/// Annotates every scheme over the hierarchies, which belong to the quasi-identifiers of the counts in order.
///
/// # Guarantee
/// Every profile is that of the groups one would get by generalizing and counting all records again,
/// whatever the number of threads.
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
    let penalties = Penalties::new(hierarchies, plan.weights)?;
    let entropies = plan.with_entropy.then(|| Entropies::new(counts, hierarchies));
    let wanted = Wanted { yardstick: plan.yardstick, penalties: &penalties, entropies: entropies.as_ref() };
    let rolled_up = all_profiles(counts, hierarchies, &wanted, &schemes, task)?;
    let looks = rolled_up.looks;
    Ok(Lattice {
        grids: Grid::all(&looks, &schemes, &rolled_up.profiles),
        scope: Scope::new(counts, hierarchies, plan.yardstick),
        schemes,
        selection,
        looks,
        profiles: Profiles::Made(rolled_up.profiles),
        entropies,
        n_source_groups: rolled_up.n_source_groups,
    })
}

/// The groups of one scheme, straight from the counts.
///
/// Returns for every group of the counts the number of the scheme's group that it falls into,
/// and for every group of the scheme what criteria see of it.
pub fn groups_of(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    scheme: &Scheme,
    yardstick: &Yardstick,
) -> (Vec<u32>, Measured) {
    let of_base: Vec<&[Code]> =
        hierarchies.iter().enumerate().map(|(a, hierarchy)| hierarchy.level(scheme.level(a)).of_base()).collect();
    let generalized =
        |codes: &[Code]| -> Vec<Code> { codes.iter().zip(&of_base).map(|(code, to)| to[code.index()]).collect() };
    // By number, with the codes that they share.
    let mut table: HashTable<u32> = HashTable::new();
    let mut codes_of: Vec<Vec<Code>> = Vec::new();
    let mut group_of_base = Vec::with_capacity(counts.n_groups());
    for base in 0..counts.n_groups() {
        let codes = generalized(counts.codes(base));
        let hash = hash_codes(codes.iter().copied());
        let group = match table.find(hash, |&group| codes_of[group as usize] == codes) {
            Some(&group) => group,
            None => {
                let group = codes_of.len() as u32;
                codes_of.push(codes);
                let hash_again = |&group: &u32| hash_codes(codes_of[group as usize].iter().copied());
                table.insert_unique(hash, group, hash_again);
                group
            }
        };
        group_of_base.push(group);
    }
    let mut sizes = vec![0; codes_of.len()];
    let mut cells: Vec<(u32, u32, u64)> = Vec::new();
    for (base, &group) in group_of_base.iter().enumerate() {
        sizes[group as usize] += counts.size(base);
        for (codes, n) in counts.cells(base) {
            cells.extend(codes.iter().enumerate().map(|(s, code)| (group, yardstick.value(s, code.0), n)));
        }
    }
    cells.sort_unstable();
    cells.dedup_by(|next, cell| {
        let is_same = (next.0, next.1) == (cell.0, cell.1);
        if is_same {
            cell.2 += next.2;
        }
        is_same
    });
    let mut populations = vec![0; codes_of.len()];
    for (codes, n) in counts.population().into_iter().flat_map(|population| population.groups()) {
        let codes = generalized(codes);
        let hash = hash_codes(codes.iter().copied());
        if let Some(&group) = table.find(hash, |&group| codes_of[group as usize] == codes) {
            populations[group as usize] += n;
        }
    }
    let mut values = Vec::new();
    let mut next = 0;
    for group in 0..codes_of.len() {
        let n_cells = cells[next..].iter().take_while(|cell| cell.0 as usize == group).count();
        let histogram: Vec<(u32, u64)> = cells[next..next + n_cells].iter().map(|cell| (cell.1, cell.2)).collect();
        yardstick.measure(sizes[group], populations[group], &histogram, &mut values);
        next += n_cells;
    }
    (group_of_base, Measured::new(yardstick.measures(), values))
}

/// What publishing one scheme would give, straight from the counts.
pub fn outcome_of(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    plan: &Plan,
    scheme: &Scheme,
    criteria: &Criteria,
) -> Result<(Measured, Outcome)> {
    let penalties = Penalties::new(hierarchies, plan.weights)?;
    let entropies = plan.with_entropy.then(|| Entropies::new(counts, hierarchies));
    let (of_base, groups) = groups_of(counts, hierarchies, scheme, plan.yardstick);
    let mut costs = vec![(0, 0); groups.len()];
    for (base, &group) in of_base.iter().enumerate() {
        let codes = || {
            counts.codes(base).iter().enumerate().map(|(a, code)| {
                let level = scheme.level(a);
                (a, level, hierarchies[a].level(level).of_base()[code.index()].index())
            })
        };
        let loss = codes().map(|(a, level, code)| u64::from(penalties.of(a, level)[code])).sum();
        let entropy = |entropies: &Entropies| codes().map(|(a, l, code)| u64::from(entropies.of(a, l)[code])).sum();
        costs[group as usize] = (loss, entropies.as_ref().map_or(0, entropy));
    }
    let entries = (0..).zip(&costs).map(|(look, (loss, _))| Entry { look, n_groups: 1, loss: *loss }).collect();
    let entropies = if plan.with_entropy { costs.iter().map(|(_, entropy)| *entropy).collect() } else { Vec::new() };
    let profile = Profile::provisional(entries, entropies);
    let outcome = profile.outcome(&groups, &groups.test(criteria));
    Ok((groups, outcome))
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
    pub fn extend(&mut self, counts: &GroupCounts, plan: &Plan, scheme: &Scheme) -> Result<()> {
        let levels: Vec<u8> = scheme.levels().iter().map(|level| level.0).collect();
        if self.schemes.find_levels(&levels).is_some() {
            return Ok(());
        }
        let penalties = Penalties::new(&self.scope.hierarchies, plan.weights)?;
        let wanted = Wanted { yardstick: plan.yardstick, penalties: &penalties, entropies: self.entropies.as_ref() };
        let evaluating =
            Evaluating { n_bytes_max: 0, work: |evaluator: &mut dyn Evaluate| Ok(evaluator.seen(&levels)) };
        let Seen { looks, profile } = with_roller(counts, &self.scope.hierarchies, &wanted, None, evaluating)?;
        let place = self.schemes.insert(&levels);
        for (column, grid) in self.grids.iter_mut().enumerate() {
            grid.insert(place, height_of(&levels), self.scope.n_records, &looks, column, &profile);
        }
        // Looks of its own, which are in the order of size among themselves, as every profile needs them.
        let first = self.looks.len() as u32;
        self.looks.extend(&looks);
        self.profiles.insert(place, profile.renumbered(|look| first + look));
        Ok(())
    }

    /// Everything that criteria see of the groups of any scheme, by look.
    pub fn looks(&self) -> &Measured {
        &self.looks
    }

    pub fn profile(&self, place: usize) -> &Profile {
        self.profiles.get(place)
    }

    /// Refuses a lattice of which something could not be read: what was answered from it until now means nothing.
    ///
    /// Only lattices that were saved and opened can fail, and only [`negotiate`](crate::negotiate()) and
    /// [`frontier`](crate::frontier::frontier()) look by themselves.
    pub fn intact(&self) -> Result<()> {
        self.profiles.intact()
    }

    pub fn entropies(&self) -> Option<&Entropies> {
        self.entropies.as_ref()
    }

    /// How many groups were read to make all schemes: the work that annotation did. None where it comes from a file.
    pub fn n_source_groups(&self) -> u64 {
        self.n_source_groups
    }

    /// The bytes that the annotations take.
    pub fn n_bytes(&self) -> usize {
        self.profiles.n_bytes() + self.looks.n_bytes() + self.grids.iter().map(Grid::n_bytes).sum::<usize>()
    }

    /// Refuses criteria that were not measured when the lattice was annotated.
    pub fn check_measured(&self, criteria: &Criteria) -> Result<()> {
        match criteria.iter().find(|criterion| self.looks.column(criterion.measure).is_none()) {
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
        self.profile(place).n_suppressed(&self.looks, &self.looks.test(criteria))
    }

    /// What publishing a scheme would give.
    pub fn outcome(&self, place: usize, criteria: &Criteria) -> Outcome {
        self.profile(place).outcome(&self.looks, &self.looks.test(criteria))
    }

    /// The size of a scheme's smallest group.
    pub fn smallest_group(&self, place: usize) -> Option<u64> {
        self.profile(place).entries().first().map(|entry| self.looks.size(entry.look as usize))
    }

    /// The greatest value of a measure that any group has, without those that never hold.
    pub fn greatest(&self, measure: Measure) -> u64 {
        let Some(column) = self.looks.column(measure) else { return 0 };
        self.grids[column].greatest
    }

    /// The values of a measure at which the records lost are known for all schemes, with those numbers by place.
    pub fn known_suppression(&self, measure: Measure) -> impl Iterator<Item = (u64, &[u64])> {
        let grids = self.looks.column(measure).map(|column| &self.grids[column]);
        grids.into_iter().flat_map(|grid| grid.values.iter().copied().zip(grid.columns.iter().map(Vec::as_slice)))
    }

    /// Prepares to ask many schemes about the same criteria.
    pub fn suppression(&self, criteria: &Criteria) -> Suppression<'_> {
        let columns = |criterion: Criterion| {
            let column = self.looks.column(criterion.measure).expect("the criterion was measured");
            self.grids[column].around(criterion)
        };
        Suppression { lattice: self, test: self.looks.test(criteria), columns: criteria.iter().map(columns).collect() }
    }
}

/// Suppressed records of any scheme under fixed criteria, by a lookup where bounds decide.
pub struct Suppression<'a> {
    lattice: &'a Lattice,
    test: Test<'a>,
    /// By criterion.
    columns: Vec<Columns<'a>>,
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

    /// No scheme of this height suppresses less.
    pub fn floor(&self, height: usize) -> u64 {
        self.columns.iter().map(|columns| columns.floors[height]).max().unwrap_or(0)
    }

    pub fn exact(&self, place: usize) -> u64 {
        self.lattice.profile(place).n_suppressed(&self.lattice.looks, &self.test)
    }
}

/// Records suppressed at some values of one criterion, for all schemes, one column per value.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// From what every group satisfies to what none does.
    pub(crate) values: Vec<u64>,
    pub(crate) columns: Vec<Vec<u64>>,
    /// By value, the least of the column over the schemes of each height.
    pub(crate) floors: Vec<Vec<u64>>,
    /// The greatest value of any group, without those that never hold.
    pub(crate) greatest: u64,
    /// By value, the least of the column over every [`N_IN_BLOCK`] places: most of a large lattice is passed over so.
    blocks: Vec<Vec<u64>>,
}

/// How many places have their least value looked up together.
const N_IN_BLOCK: usize = 64;

fn blocks_of(column: &[u64]) -> Vec<u64> {
    column.chunks(N_IN_BLOCK).map(|block| block.iter().copied().min().unwrap_or(0)).collect()
}

/// The columns just below and just above a value; the same one where the grid has the value.
#[derive(Clone, Copy)]
struct Columns<'a> {
    below: &'a [u64],
    above: &'a [u64],
    floors: &'a [u64],
    blocks: &'a [u64],
}

impl Grid {
    pub(crate) fn new(values: Vec<u64>, floors: Vec<Vec<u64>>, columns: Vec<Vec<u64>>, greatest: u64) -> Grid {
        Grid { blocks: columns.iter().map(|column| blocks_of(column)).collect(), values, columns, floors, greatest }
    }

    /// The values at which columns are kept, increasing.
    fn values(looks: &Measured, column: usize, greatest: u64, n_schemes: usize) -> Vec<u64> {
        let measure = looks.measures()[column];
        let mut values = if measure.is_count() {
            // Every small value, then steps of a quarter; of a half in large lattices.
            let (n_dense, step) = if n_schemes <= 20_000 { (32, 4) } else { (8, 2) };
            let next = |&value: &u64| Some(value + if value < n_dense { 1 } else { (value / step).max(1) });
            std::iter::successors(Some(1), next).take_while(|&value| value <= greatest).collect::<Vec<u64>>()
        } else {
            // Values that part the looks evenly; a sample of them is enough.
            let stride = (looks.len() / 4096).max(1);
            let mut sample: Vec<u64> = (0..looks.len()).step_by(stride).map(|look| looks.of(look)[column]).collect();
            sample.sort_unstable();
            let n_values = if n_schemes <= 20_000 { 32 } else { 8 };
            let at = |i: usize| sample.get(i * sample.len() / n_values).copied();
            (0..n_values).filter_map(at).filter(|&value| value < NEVER).collect()
        };
        // The grid is closed where every group holds, and where every group fails.
        values.extend(if measure.is_at_least() { [0, greatest.saturating_add(1)] } else { [0, NEVER] });
        values.sort_unstable();
        values.dedup();
        values
    }

    /// One grid per measure.
    pub(crate) fn all(looks: &Measured, schemes: &Schemes, profiles: &[Profile]) -> Vec<Grid> {
        let n_measures = looks.measures().len();
        let greatest = |column: usize| {
            let finite = (0..looks.len()).map(|look| looks.of(look)[column]).filter(|&value| value < NEVER);
            finite.max().unwrap_or(0)
        };
        let greatest: Vec<u64> = (0..n_measures).map(greatest).collect();
        let values: Vec<Vec<u64>> =
            (0..n_measures).map(|column| Grid::values(looks, column, greatest[column], schemes.len())).collect();
        // For every look and measure the first value that it fails, or for "at most" the first that it satisfies.
        let place = |column: usize, measured: u64| {
            let is_at_least = looks.measures()[column].is_at_least();
            let passes = |&value: &u64| if is_at_least { value <= measured } else { value < measured };
            values[column].partition_point(passes) as u16
        };
        let of_look =
            |look: usize| looks.of(look).iter().enumerate().map(|(column, measured)| place(column, *measured));
        let places: Vec<u16> = (0..looks.len()).flat_map(of_look).collect();
        let starts: Vec<usize> = values
            .iter()
            .scan(0, |start, values| {
                *start += values.len() + 1;
                Some(*start - values.len() - 1)
            })
            .collect();
        let n_values: usize = values.iter().map(|values| values.len() + 1).sum();
        // Side by side, since that is what is read most.
        let sizes: Vec<u64> = (0..looks.len()).map(|look| looks.size(look)).collect();
        let rows: Vec<Vec<u64>> = profiles
            .par_iter()
            .map(|profile| {
                let mut row = vec![0; n_values];
                for entry in profile.entries() {
                    let n_records = sizes[entry.look as usize] * u64::from(entry.n_groups);
                    let places = &places[entry.look as usize * n_measures..][..n_measures];
                    starts.iter().zip(places).for_each(|(start, place)| row[start + usize::from(*place)] += n_records);
                }
                for ((start, values), measure) in starts.iter().zip(&values).zip(looks.measures()) {
                    let row = &mut row[*start..][..values.len() + 1];
                    if measure.is_at_least() {
                        (1..row.len()).for_each(|i| row[i] += row[i - 1]);
                    } else {
                        // Suppressed at a value is what satisfies only greater ones.
                        let mut n_failing = 0;
                        row.iter_mut().rev().for_each(|n| n_failing += std::mem::replace(n, n_failing));
                    }
                }
                row
            })
            .collect();
        let grid = |((values, start), greatest): ((Vec<u64>, usize), u64)| {
            let column = |i: usize| -> Vec<u64> { rows.iter().map(|row| row[start + i]).collect() };
            let columns: Vec<Vec<u64>> = (0..values.len()).map(column).collect();
            let floor = |column: &[u64], height| column[schemes.at_height(height)].iter().copied().min().unwrap_or(0);
            let floors_of = |column: &Vec<u64>| (0..schemes.n_heights()).map(|height| floor(column, height)).collect();
            Grid::new(values, columns.iter().map(floors_of).collect(), columns, greatest)
        };
        values.clone().into_iter().zip(starts.clone()).zip(greatest).map(grid).collect()
    }

    /// Takes in one scheme more.
    fn insert(
        &mut self,
        place: usize,
        height: usize,
        n_records: u64,
        looks: &Measured,
        column: usize,
        profile: &Profile,
    ) {
        let measure = looks.measures()[column];
        let finite = (0..looks.len()).map(|look| looks.of(look)[column]).filter(|&value| value < NEVER);
        let greatest = finite.max().unwrap_or(0);
        if greatest > self.greatest {
            self.greatest = greatest;
            if measure.is_at_least() {
                // Closed anew, where every group of every scheme fails.
                self.values.push(greatest.saturating_add(1));
                self.columns.push(vec![n_records; self.columns[0].len()]);
                self.floors.push(vec![n_records; self.floors[0].len()]);
            }
        }
        for ((value, known), floors) in self.values.iter().zip(&mut self.columns).zip(&mut self.floors) {
            let criteria = Criteria::new([Criterion { measure, value: *value }]);
            let n_suppressed = profile.n_suppressed(looks, &looks.test(&criteria));
            known.insert(place, n_suppressed);
            floors[height] = floors[height].min(n_suppressed);
        }
        self.blocks = self.columns.iter().map(|column| blocks_of(column)).collect();
    }

    /// The column where no more fail than at the criterion, and the one where no fewer do.
    fn around(&self, criterion: Criterion) -> Columns<'_> {
        let last = self.values.len() - 1;
        let next = self.values.partition_point(|&known| known < criterion.value).min(last);
        let previous = if self.values[next] <= criterion.value { next } else { next.saturating_sub(1) };
        let (below, above) = if criterion.measure.is_at_least() { (previous, next) } else { (next, previous) };
        Columns {
            below: &self.columns[below],
            above: &self.columns[above],
            floors: &self.floors[below],
            blocks: &self.blocks[below],
        }
    }

    fn n_bytes(&self) -> usize {
        self.columns.iter().map(|column| column.len() * size_of::<u64>()).sum()
    }
}
