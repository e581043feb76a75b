//! Every scheme with its profile: the annotated lattice from which all requests are answered.
//!
//! The finest scheme's groups come from the counts, every other scheme's from a scheme one level finer, so that the
//! cost of a scheme is the number of groups of a neighbour, not of records.

use hashbrown::HashTable;
use rayon::prelude::*;

use crate::counts::{GroupCounts, hash_codes};
use crate::criterion::{Criteria, Group};
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::loss::Penalties;
use crate::profile::Profile;
use crate::scheme::{Scheme, Schemes};
use crate::table::Code;
pub use crate::walk::Effort;
use crate::walk::{all_profiles, check_size};

/// All schemes over a table's quasi-identifiers, each annotated with its profile.
#[derive(Clone, Debug)]
pub struct Lattice {
    hierarchies: Vec<Hierarchy>,
    schemes: Schemes,
    /// By place of the scheme.
    profiles: Vec<Profile>,
    by_k: Grid,
    by_l: Grid,
    n_records: u64,
    n_dropped: u64,
    /// How many different sensitive values the table has; 0 without a sensitive attribute.
    n_sensitive: usize,
    n_source_groups: u64,
}
/// Annotates every scheme over the hierarchies, which belong to the quasi-identifiers of the counts in order.
///
/// # Guarantee
/// Every profile is that of the groups one would get by generalizing and counting all records again,
/// whatever the number of threads.
pub fn annotate(counts: &GroupCounts, hierarchies: &[Hierarchy], weights: &[f64], effort: &Effort) -> Result<Lattice> {
    check_size(hierarchies, effort)?;
    let schemes = Schemes::new(hierarchies)?;
    let penalties = Penalties::new(hierarchies, weights)?;
    let rolled_up = all_profiles(counts, hierarchies, &penalties, &schemes, effort)?;
    let n_sensitive = counts.sensitive().map_or(0, |domain| domain.len());
    let k_values = Grid::values(counts.n_records(), schemes.len());
    let l_values = Grid::values(n_sensitive as u64, schemes.len());
    Ok(Lattice {
        by_k: Grid::new(k_values, &schemes, &rolled_up.profiles, |group| group.size),
        by_l: Grid::new(l_values, &schemes, &rolled_up.profiles, |group| u64::from(group.n_distinct)),
        hierarchies: hierarchies.to_vec(),
        schemes,
        profiles: rolled_up.profiles,
        n_records: counts.n_records(),
        n_dropped: counts.n_dropped(),
        n_sensitive,
        n_source_groups: rolled_up.n_source_groups,
    })
}

/// The groups of one scheme, straight from the counts.
///
/// Returns for every group of the counts the number of the scheme's group that it falls into,
/// and for every group of the scheme what criteria see of it.
pub fn groups_of(counts: &GroupCounts, hierarchies: &[Hierarchy], scheme: &Scheme) -> (Vec<u32>, Vec<Group>) {
    let of_base: Vec<&[Code]> =
        hierarchies.iter().enumerate().map(|(a, hierarchy)| hierarchy.level(scheme.level(a)).of_base()).collect();
    let generalized = |base: usize| counts.codes(base).iter().zip(&of_base).map(|(code, to)| to[code.index()]);
    // By number, each found again through the first of the counts' groups that it is made of.
    let mut table: HashTable<u32> = HashTable::new();
    let mut first: Vec<u32> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of_base = Vec::with_capacity(counts.n_groups());
    for base in 0..counts.n_groups() {
        let is_same = |&group: &u32| generalized(first[group as usize] as usize).eq(generalized(base));
        let group = match table.find(hash_codes(generalized(base)), is_same) {
            Some(&group) => group,
            None => {
                let group = groups.len() as u32;
                first.push(base as u32);
                groups.push(Group { size: 0, n_distinct: 0 });
                let hash_again = |&group: &u32| hash_codes(generalized(first[group as usize] as usize));
                table.insert_unique(hash_codes(generalized(base)), group, hash_again);
                group
            }
        };
        groups[group as usize].size += counts.size(base);
        group_of_base.push(group);
    }
    let cells = |base: usize| counts.cells(base).iter().map(move |(value, _)| *value);
    let mut values: Vec<(u32, Code)> = group_of_base
        .iter()
        .enumerate()
        .flat_map(|(base, &group)| cells(base).map(move |value| (group, value)))
        .collect();
    values.sort_unstable();
    values.dedup();
    for (group, _) in values {
        groups[group as usize].n_distinct += 1;
    }
    (group_of_base, groups)
}

/// The profile of one scheme, straight from the counts.
pub fn profile_of(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    weights: &[f64],
    scheme: &Scheme,
) -> Result<Profile> {
    let penalties = Penalties::new(hierarchies, weights)?;
    let (of_base, groups) = groups_of(counts, hierarchies, scheme);
    let mut losses = vec![0; groups.len()];
    for (base, &group) in of_base.iter().enumerate() {
        let penalty = |(a, code): (usize, &Code)| {
            let level = scheme.level(a);
            u64::from(penalties.of(a, level)[hierarchies[a].level(level).of_base()[code.index()].index()])
        };
        losses[group as usize] = counts.codes(base).iter().enumerate().map(penalty).sum();
    }
    Ok(Profile::of_groups(groups.into_iter().zip(losses)))
}

impl Lattice {
    pub fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }

    pub fn schemes(&self) -> &Schemes {
        &self.schemes
    }

    pub fn profile(&self, place: usize) -> &Profile {
        &self.profiles[place]
    }

    pub fn n_records(&self) -> u64 {
        self.n_records
    }

    pub fn n_dropped(&self) -> u64 {
        self.n_dropped
    }

    pub fn n_sensitive(&self) -> usize {
        self.n_sensitive
    }

    /// How many groups were read to make all schemes: the work that annotation did.
    pub fn n_source_groups(&self) -> u64 {
        self.n_source_groups
    }

    /// The bytes that the annotations take.
    pub fn n_bytes(&self) -> usize {
        let profiles: usize = self.profiles.iter().map(|p| p.n_bytes() + size_of::<Profile>()).sum();
        profiles + self.by_k.n_bytes() + self.by_l.n_bytes()
    }

    /// How many records a scheme suppresses.
    pub fn n_suppressed(&self, place: usize, criteria: Criteria) -> u64 {
        self.profiles[place].n_suppressed(criteria)
    }

    /// Prepares to ask many schemes about the same criteria.
    pub fn suppression(&self, criteria: Criteria) -> Suppression<'_> {
        Suppression {
            lattice: self,
            criteria,
            k: criteria.k.map(|k| self.by_k.around(k)),
            l: criteria.l.map(|l| self.by_l.around(l)),
        }
    }
}

/// Suppressed records of any scheme under fixed criteria, by a lookup where bounds decide.
pub struct Suppression<'a> {
    lattice: &'a Lattice,
    criteria: Criteria,
    k: Option<Columns<'a>>,
    l: Option<Columns<'a>>,
}

impl Suppression<'_> {
    /// The least and the most that a scheme can suppress, by lookup.
    #[inline]
    pub fn bounds(&self, place: usize) -> (u64, u64) {
        let bounds = |columns: &Option<Columns>| match columns {
            Some(columns) => (columns.below[place], columns.above[place]),
            None => (0, 0),
        };
        let (k, l) = (bounds(&self.k), bounds(&self.l));
        // A record that fails either criterion is suppressed once: at least the greater, at most the sum.
        (k.0.max(l.0), k.1.saturating_add(l.1))
    }

    /// No scheme of this height suppresses less.
    pub fn floor(&self, height: usize) -> u64 {
        let floor = |columns: &Option<Columns>| columns.as_ref().map_or(0, |columns| columns.floors[height]);
        floor(&self.k).max(floor(&self.l))
    }

    pub fn exact(&self, place: usize) -> u64 {
        self.lattice.n_suppressed(place, self.criteria)
    }
}

/// Records suppressed at some values of one criterion, for all schemes, one column per value.
#[derive(Clone, Debug)]
struct Grid {
    values: Vec<u64>,
    columns: Vec<Vec<u64>>,
    /// By value, the least of the column over the schemes of each height.
    floors: Vec<Vec<u64>>,
}

/// The columns just below and just above a value; the same one where the grid has the value.
#[derive(Clone, Copy)]
struct Columns<'a> {
    below: &'a [u64],
    above: &'a [u64],
    floors: &'a [u64],
}

impl Grid {
    /// Every small value, then steps of a quarter; large lattices get powers of two only.
    fn values(greatest: u64, n_schemes: usize) -> Vec<u64> {
        let (n_dense, step) = if n_schemes <= 20_000 { (32, 4) } else { (2, 1) };
        let next = |&value: &u64| Some(value + if value < n_dense { 1 } else { (value / step).max(1) });
        // One past the greatest, where every group fails, closes the grid.
        let last = greatest.saturating_add(1);
        let mut values: Vec<u64> = std::iter::successors(Some(1), next).take_while(|&v| v < last).collect();
        values.push(last);
        values
    }

    fn new(values: Vec<u64>, schemes: &Schemes, profiles: &[Profile], measure: impl Fn(Group) -> u64 + Sync) -> Grid {
        let first_greater = |measured: u64| values.partition_point(|&value| value <= measured);
        let of_small: Vec<usize> = (0..1024).map(first_greater).collect();
        let rows: Vec<Vec<u64>> = profiles
            .par_iter()
            .map(|profile| {
                // Records by the first grid value that is greater than the group's, then summed up.
                let mut row = vec![0; values.len() + 1];
                for entry in profile.entries() {
                    let measured = measure(entry.group());
                    let small = of_small.get(measured as usize).copied();
                    row[small.unwrap_or_else(|| first_greater(measured))] += entry.n_records();
                }
                for i in 1..row.len() {
                    row[i] += row[i - 1];
                }
                row
            })
            .collect();
        let columns: Vec<Vec<u64>> = (0..values.len()).map(|i| rows.iter().map(|row| row[i]).collect()).collect();
        let floor = |column: &[u64], height| column[schemes.at_height(height)].iter().copied().min().unwrap_or(0);
        let floors_of = |column: &Vec<u64>| (0..schemes.n_heights()).map(|height| floor(column, height)).collect();
        let floors = columns.iter().map(floors_of).collect();
        Grid { values, columns, floors }
    }

    fn around(&self, value: u64) -> Columns<'_> {
        let last = self.values.len() - 1;
        let above = self.values.partition_point(|&known| known < value).min(last);
        let below = if self.values[above] <= value { above } else { above.saturating_sub(1) };
        Columns { below: &self.columns[below], above: &self.columns[above], floors: &self.floors[below] }
    }

    fn n_bytes(&self) -> usize {
        self.columns.iter().map(|column| column.len() * size_of::<u64>()).sum()
    }
}
