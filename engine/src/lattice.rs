//! Every scheme with its profile: the annotated lattice from which all requests are answered.
//!
//! The finest scheme's groups come from the counts. Every other scheme's groups are rolled up from the smallest
//! scheme one step finer, so that the cost of a scheme is the number of groups of a neighbour, not of records.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::criterion::{Criteria, Group};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::{Hierarchy, Values};
use crate::loss::Penalties;
use crate::profile::{Profile, Scratch};
use crate::scheme::{Scheme, Schemes};
use crate::table::Code;

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

/// What [`annotate`] is allowed and whom it tells how far it is.
pub struct Effort<'a> {
    /// The most bytes that the lattice and the work on it may take.
    pub n_bytes_max: u64,
    /// Called with the number of schemes that were just finished.
    pub progress: &'a (dyn Fn(usize) + Sync),
}

impl Default for Effort<'_> {
    fn default() -> Self {
        Effort { n_bytes_max: u64::MAX, progress: &|_| {} }
    }
}

/// Annotates every scheme over the hierarchies, which belong to the quasi-identifiers of the counts in order.
///
/// # Guarantee
/// Every profile is that of the groups one would get by generalizing and counting all records again,
/// whatever the number of threads.
pub fn annotate(counts: &GroupCounts, hierarchies: &[Hierarchy], weights: &[f64], effort: &Effort) -> Result<Lattice> {
    if counts.n_records() > SIZE_MASK {
        return Err(Error::new(ErrorKind::TooLarge, format!("more than {SIZE_MASK} records")));
    }
    let schemes = Schemes::new(hierarchies)?;
    let penalties = Penalties::new(hierarchies, weights)?;
    check_size(&schemes, effort)?;
    let rolled_up = match RollUp::new(counts, hierarchies, &penalties) {
        Width::One(roll_up) => roll_up.all::<u64>(&schemes, effort)?,
        Width::Two(roll_up) => roll_up.all::<u128>(&schemes, effort)?,
        Width::TooWide => {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!(
                    "{} quasi-identifiers with this many distinct values do not fit into one key",
                    hierarchies.len()
                ),
            )
            .hint("choose fewer with --quasi-identifiers"));
        }
    };
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

/// The groups of one scheme, rolled up straight from the counts: what [`annotate`] does, for a single scheme.
///
/// Returns for every group of the counts the number of the scheme's group that it falls into,
/// and for every group of the scheme what criteria see of it.
pub fn groups_of(counts: &GroupCounts, hierarchies: &[Hierarchy], scheme: &Scheme) -> (Vec<u32>, Vec<Group>) {
    let mut group_of_codes = std::collections::HashMap::new();
    let mut values: Vec<std::collections::BTreeSet<u32>> = Vec::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut of_base = Vec::with_capacity(counts.n_groups());
    for base in 0..counts.n_groups() {
        let codes: Vec<u32> = counts
            .codes(base)
            .iter()
            .zip(hierarchies)
            .enumerate()
            .map(|(a, (code, hierarchy))| hierarchy.level(scheme.level(a)).of_base()[code.index()].0)
            .collect();
        let next = groups.len() as u32;
        let group = *group_of_codes.entry(codes).or_insert(next);
        if group == next {
            groups.push(Group { size: 0, n_distinct: 0 });
            values.push(Default::default());
        }
        groups[group as usize].size += counts.size(base);
        values[group as usize].extend(counts.cells(base).iter().map(|(code, _)| code.0));
        of_base.push(group);
    }
    for (group, values) in groups.iter_mut().zip(&values) {
        group.n_distinct = values.len() as u32;
    }
    (of_base, groups)
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

fn check_size(schemes: &Schemes, effort: &Effort) -> Result<()> {
    // A profile has at least one entry, and the grids about two dozen columns.
    let n_bytes_least = schemes.len() as u64 * 256;
    match n_bytes_least > effort.n_bytes_max {
        true => Err(too_large(schemes, n_bytes_least, effort)),
        false => Ok(()),
    }
}

fn too_large(schemes: &Schemes, n_bytes: u64, effort: &Effort) -> Error {
    let megabytes = |n_bytes: u64| n_bytes.div_ceil(1_000_000);
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "the lattice of {} quasi-identifiers has {} schemes and needs more than {} MB, where {} MB are allowed",
            schemes.n_attributes(),
            schemes.len(),
            megabytes(n_bytes),
            megabytes(effort.n_bytes_max)
        ),
    )
    .hint("choose fewer with --quasi-identifiers, give the hierarchies fewer levels, or allow more with --memory")
}

/// How many bits of a row's second word hold the size; the loss has the rest.
const SIZE_BITS: u32 = 38;
const SIZE_MASK: u64 = (1 << SIZE_BITS) - 1;

/// What rolling up needs to know about the table.
struct RollUp<'a> {
    counts: &'a GroupCounts,
    penalties: &'a Penalties,
    n_set_words: usize,
    /// The attributes from the highest bits of a key to the lowest.
    order: Vec<usize>,
    trees: Vec<TreeCodes>,
    #[cfg(target_arch = "x86_64")]
    has_fast_bits: bool,
}

enum Width<'a> {
    One(RollUp<'a>),
    Two(RollUp<'a>),
    TooWide,
}

/// One attribute's codes renumbered along its tree, so that the values below one label follow each other.
struct TreeCodes {
    /// From the code of the domain to the code along the tree.
    of_base: Vec<u32>,
    /// By level, for every code: the code of the label above, and what that step adds to the loss, as it stands in a row.
    steps: Vec<Vec<(u64, u64)>>,
    /// By level, for every code of level 0: the code of the label above it, and what going there adds to the loss.
    above: Vec<Vec<u32>>,
    loss_above: Vec<Vec<u64>>,
    /// By level, how many bits the codes take.
    widths: Vec<u32>,
}

impl TreeCodes {
    fn new(hierarchy: &Hierarchy, attribute: usize, penalties: &Penalties) -> TreeCodes {
        let codes_at = |level: usize| hierarchy.level(level).of_base();
        let mut along: Vec<usize> = (0..hierarchy.level(0).len()).collect();
        along.sort_by_cached_key(|&base| {
            (0..hierarchy.n_levels()).rev().map(|level| codes_at(level)[base]).collect::<Vec<Code>>()
        });
        // By level: the new code of each old one, in order of appearance along the tree.
        let renumbered: Vec<Vec<u32>> = (0..hierarchy.n_levels())
            .map(|level| {
                let mut new = vec![u32::MAX; hierarchy.level(level).len()];
                let mut next = 0;
                for &base in &along {
                    let code = &mut new[codes_at(level)[base].index()];
                    if *code == u32::MAX {
                        *code = next;
                        next += 1;
                    }
                }
                new
            })
            .collect();
        let steps_of = |level: usize| {
            let (here, above) = (penalties.of(attribute, level), penalties.of(attribute, level + 1));
            let mut steps = vec![(0, 0); hierarchy.level(level).len()];
            for (code, parent) in hierarchy.level(level).parents().iter().enumerate() {
                let loss = u64::from(above[parent.index()]).wrapping_sub(u64::from(here[code]));
                let parent = renumbered[level + 1][parent.index()];
                steps[renumbered[level][code] as usize] = (u64::from(parent), loss << SIZE_BITS);
            }
            steps
        };
        let above_of = |level: usize| {
            let codes = along.iter().map(|&base| renumbered[level][codes_at(level)[base].index()]);
            codes.collect()
        };
        let loss_of = |level: usize| {
            let penalty =
                |level: usize, base: usize| u64::from(penalties.of(attribute, level)[codes_at(level)[base].index()]);
            along.iter().map(|&base| penalty(level, base).wrapping_sub(penalty(0, base))).collect()
        };
        let width = |values: &Values| usize::BITS - values.len().saturating_sub(1).leading_zeros();
        TreeCodes {
            above: (0..hierarchy.n_levels()).map(above_of).collect(),
            loss_above: (0..hierarchy.n_levels()).map(loss_of).collect(),
            steps: (0..hierarchy.top()).map(steps_of).collect(),
            widths: hierarchy.levels().iter().map(width).collect(),
            of_base: renumbered.into_iter().next().expect("level 0 is there"),
        }
    }
}

/// The attributes by how many groups are left when one of them alone is hidden, fewest first.
fn most_merging_first(counts: &GroupCounts) -> Vec<usize> {
    let n_groups_without = |&attribute: &usize| {
        let rest = |group: usize| {
            let codes = counts.codes(group).iter().enumerate().filter(|(a, _)| *a != attribute);
            codes.fold(0u64, |hash, (_, code)| {
                (hash.rotate_left(5) ^ u64::from(code.0)).wrapping_mul(0x517C_C1B7_2722_0A95)
            })
        };
        // By hash: a rare collision costs nothing but a little speed.
        (0..counts.n_groups()).map(rest).collect::<rustc_hash::FxHashSet<u64>>().len()
    };
    let mut order: Vec<usize> = (0..counts.domains().len()).collect();
    order.sort_by_cached_key(n_groups_without);
    order
}

struct RolledUp {
    profiles: Vec<Profile>,
    n_source_groups: u64,
}

/// A key that holds one code per attribute, side by side.
trait Key: Copy + Ord {
    const N_WORDS: usize;
    fn read(words: &[u64]) -> Self;
    fn write(self, words: &mut [u64]);
    fn low(self) -> u64;
    fn shifted_right(self, n: u32) -> Self;
    fn shifted_left(self, n: u32) -> Self;
    fn below(self, n: u32) -> Self;
    fn or(self, other: Self) -> Self;
    fn of_code(code: u64) -> Self;
}

macro_rules! key {
    ($type:ty, $n_words:literal, $read:expr, $write:expr) => {
        impl Key for $type {
            const N_WORDS: usize = $n_words;
            #[inline(always)]
            fn read(words: &[u64]) -> Self {
                $read(words)
            }
            #[inline(always)]
            fn write(self, words: &mut [u64]) {
                $write(self, words)
            }
            #[inline(always)]
            fn low(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn shifted_right(self, n: u32) -> Self {
                self >> n
            }
            #[inline(always)]
            fn shifted_left(self, n: u32) -> Self {
                self << n
            }
            #[inline(always)]
            fn below(self, n: u32) -> Self {
                self & (((1 as $type) << n) - 1)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn of_code(code: u64) -> Self {
                code as $type
            }
        }
    };
}

key!(u64, 1, |words: &[u64]| words[0], |key: u64, words: &mut [u64]| words[0] = key);
key!(u128, 2, |words: &[u64]| u128::from(words[0]) | u128::from(words[1]) << 64, |key: u128, words: &mut [u64]| {
    words[0] = key as u64;
    words[1] = (key >> 64) as u64;
});

/// From a finer scheme's rows to a scheme that differs from it by one level of one attribute.
#[derive(Clone, Copy)]
struct Step<'a> {
    source: &'a [u64],
    levels: &'a [u8],
    attribute: usize,
}

/// Reused from scheme to scheme by one thread.
struct Workspace {
    scratch: Scratch,
    /// Per depth of the walk, the rows of the scheme that it is at and of the one before.
    buffers: Vec<(Vec<u64>, Vec<u64>)>,
    /// For the last attribute: what is being gathered, per level.
    of_level: Vec<Scratch>,
}

/// A scheme's profile, and how many groups were read to make it.
struct Made {
    place: usize,
    profile: Profile,
    n_source_groups: u64,
}

/// A walk through all schemes that changes one level of one attribute at a time.
struct Walk<'a> {
    roll_up: &'a RollUp<'a>,
    schemes: &'a Schemes,
    /// The attributes from the outermost loop to the innermost.
    order: &'a [usize],
    effort: &'a Effort<'a>,
    /// What the profiles made so far take.
    n_bytes: AtomicU64,
}

impl Walk<'_> {
    /// Makes all schemes that generalize further from here by attributes from `depth` on.
    fn descend<K: Key>(
        &self,
        depth: usize,
        levels: &mut [u8],
        rows: &[u64],
        workspace: &mut Workspace,
        made: &mut Vec<Made>,
    ) -> Result<()> {
        let last = self.order.len() - 1;
        for deeper in depth..last {
            let mut outcome = Ok(());
            self.along::<K>(deeper, levels, rows, workspace, made, &mut |levels, rows, workspace, made| {
                if outcome.is_ok() {
                    outcome = self.descend::<K>(deeper + 1, levels, rows, workspace, made);
                }
            })?;
            outcome?;
        }
        self.innermost::<K>(levels, rows, workspace, made)
    }

    /// Makes all levels of the last attribute in one pass: nothing is generalized further from there, so that no
    /// rows need to be kept.
    fn innermost<K: Key>(
        &self,
        levels: &mut [u8],
        rows: &[u64],
        workspace: &mut Workspace,
        made: &mut Vec<Made>,
    ) -> Result<()> {
        let attribute = *self.order.last().expect("there is at least one attribute");
        let stride = K::N_WORDS + 1 + self.roll_up.n_set_words;
        self.roll_up.all_levels::<K>(rows, attribute, workspace);
        for level in 1..=self.schemes.tops()[attribute] {
            levels[attribute] = level;
            let profile = workspace.of_level[level as usize].profile();
            self.check_memory(&profile)?;
            made.push(Made {
                place: self.schemes.place_of(levels.iter().copied()),
                profile,
                // The rows are read once for all levels.
                n_source_groups: if level == 1 { (rows.len() / stride) as u64 } else { 0 },
            });
            (self.effort.progress)(1);
        }
        levels[attribute] = 0;
        Ok(())
    }

    /// Generalizes one attribute level by level, and calls `visit` with the groups of each scheme on the way.
    fn along<K: Key>(
        &self,
        depth: usize,
        levels: &mut [u8],
        rows: &[u64],
        workspace: &mut Workspace,
        made: &mut Vec<Made>,
        visit: &mut dyn FnMut(&mut [u8], &[u64], &mut Workspace, &mut Vec<Made>),
    ) -> Result<()> {
        let attribute = self.order[depth];
        let stride = K::N_WORDS + 1 + self.roll_up.n_set_words;
        let (mut now, mut next) = std::mem::take(&mut workspace.buffers[depth]);
        for level in 1..=self.schemes.tops()[attribute] {
            levels[attribute] = level;
            let source = if level == 1 { rows } else { &now };
            let step = Step { source, levels, attribute };
            let profile = self.roll_up.make::<K>(step, workspace, &mut next);
            self.check_memory(&profile)?;
            made.push(Made {
                place: self.schemes.place_of(levels.iter().copied()),
                profile,
                n_source_groups: (source.len() / stride) as u64,
            });
            (self.effort.progress)(1);
            std::mem::swap(&mut now, &mut next);
            visit(levels, &now, workspace, made);
        }
        levels[attribute] = 0;
        workspace.buffers[depth] = (now, next);
        Ok(())
    }

    fn check_memory(&self, profile: &Profile) -> Result<()> {
        let n_new = profile.n_bytes() as u64;
        let n_bytes = self.n_bytes.fetch_add(n_new, Ordering::Relaxed) + n_new;
        match n_bytes > self.effort.n_bytes_max {
            true => Err(too_large(self.schemes, n_bytes, self.effort)),
            false => Ok(()),
        }
    }
}

impl<'a> RollUp<'a> {
    fn new(counts: &'a GroupCounts, hierarchies: &'a [Hierarchy], penalties: &'a Penalties) -> Width<'a> {
        let tree = |(attribute, hierarchy)| TreeCodes::new(hierarchy, attribute, penalties);
        let trees: Vec<TreeCodes> = hierarchies.iter().enumerate().map(tree).collect();
        // Coarser levels have fewer values, so the finest scheme has the widest keys.
        let n_bits: u32 = trees.iter().map(|tree| tree.widths[0]).sum();
        let roll_up = RollUp {
            counts,
            penalties,
            n_set_words: counts.sensitive().map_or(0, |domain| domain.len()).div_ceil(64),
            order: most_merging_first(counts),
            trees,
            #[cfg(target_arch = "x86_64")]
            has_fast_bits: is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("lzcnt")
                && is_x86_feature_detected!("popcnt"),
        };
        match n_bits {
            // One bit less than there is, so that every shift is smaller than the width.
            0..=63 => Width::One(roll_up),
            64..=127 => Width::Two(roll_up),
            _ => Width::TooWide,
        }
    }

    /// All profiles, depth first: every scheme from the one whose last generalized attribute is one level finer.
    ///
    /// That is nearly always among the smallest finer schemes, because the attributes that merge least come last;
    /// and only the groups of one path are in memory, most of them in the processor's cache.
    fn all<K: Key>(&self, schemes: &Schemes, effort: &Effort) -> Result<RolledUp> {
        let order = &self.order;
        let workspace = || Workspace {
            scratch: Scratch::default(),
            buffers: order.iter().map(|_| Default::default()).collect(),
            of_level: order
                .last()
                .map_or(Vec::new(), |&last| (0..=schemes.tops()[last]).map(|_| Scratch::default()).collect()),
        };
        let walk = Walk { roll_up: self, schemes, order, effort, n_bytes: AtomicU64::new(0) };

        // The first attributes are walked alone, until there is enough to do for every thread.
        let n_threads = rayon::current_num_threads();
        let n_tasks_of =
            |depth: usize| order[..depth].iter().map(|&a| schemes.tops()[a] as usize + 1).product::<usize>();
        let n_tasks_wanted = if n_threads == 1 { 1 } else { 4 * n_threads };
        let depth = (0..order.len()).find(|&depth| n_tasks_of(depth) >= n_tasks_wanted).unwrap_or(0);
        let mut first = workspace();
        let mut made = Vec::new();
        let base = self.base::<K>();
        let stride = K::N_WORDS + 1 + self.n_set_words;
        base.chunks_exact(stride).for_each(|row| first.scratch.add_row::<K>(row));
        let profile = first.scratch.profile();
        let start = Made { place: 0, profile, n_source_groups: 0 };
        (effort.progress)(1);
        let mut tasks: Vec<(Vec<u8>, Vec<u64>)> = vec![(vec![0; order.len()], base)];
        for done in 0..depth {
            for (mut levels, rows) in std::mem::take(&mut tasks) {
                walk.along::<K>(done, &mut levels, &rows, &mut first, &mut made, &mut |levels, rows, _, _| {
                    tasks.push((levels.to_vec(), rows.to_vec()));
                })?;
                tasks.push((levels, rows));
            }
        }
        let of_tasks: Vec<Vec<Made>> = tasks
            .into_par_iter()
            .map_init(workspace, |workspace, (mut levels, rows)| {
                let mut made = Vec::new();
                walk.descend::<K>(depth, &mut levels, &rows, workspace, &mut made)?;
                Ok(made)
            })
            .collect::<Result<_>>()?;

        let mut profiles = vec![Profile::default(); schemes.len()];
        let mut n_source_groups = 0;
        for made in std::iter::once(start).chain(made).chain(of_tasks.into_iter().flatten()) {
            profiles[made.place] = made.profile;
            n_source_groups += made.n_source_groups;
        }
        Ok(RolledUp { profiles, n_source_groups })
    }

    /// The groups of the finest scheme, in the order of their keys.
    fn base<K: Key>(&self) -> Vec<u64> {
        let stride = K::N_WORDS + 1 + self.n_set_words;
        let key_of = |group: usize| {
            let codes = self.counts.codes(group);
            self.order.iter().fold(K::of_code(0), |key, &a| {
                let code = self.trees[a].of_base[codes[a].index()];
                key.shifted_left(self.trees[a].widths[0]).or(K::of_code(u64::from(code)))
            })
        };
        let mut groups: Vec<(K, usize)> = (0..self.counts.n_groups()).map(|group| (key_of(group), group)).collect();
        groups.sort_unstable();
        let mut words = vec![0; groups.len() * stride];
        for (row, &(key, group)) in words.chunks_exact_mut(stride).zip(&groups) {
            let codes = self.counts.codes(group).iter().enumerate();
            let loss: u64 = codes.map(|(a, code)| u64::from(self.penalties.of(a, 0)[code.index()])).sum();
            key.write(row);
            row[K::N_WORDS] = self.counts.size(group) | loss << SIZE_BITS;
            for (code, _) in self.counts.cells(group) {
                row[K::N_WORDS + 1 + code.index() / 64] |= 1 << (code.index() % 64);
            }
        }
        words
    }

    /// Gathers the profiles of all levels of the attribute with the lowest bits.
    fn all_levels<K: Key>(&self, source: &[u64], attribute: usize, workspace: &mut Workspace) {
        #[cfg(target_arch = "x86_64")]
        if self.has_fast_bits {
            // SAFETY: the features were found on this machine.
            return unsafe { self.all_levels_with_fast_bits::<K>(source, attribute, workspace) };
        }
        self.all_levels_plain::<K>(source, attribute, workspace);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn all_levels_with_fast_bits<K: Key>(&self, source: &[u64], attribute: usize, workspace: &mut Workspace) {
        self.all_levels_plain::<K>(source, attribute, workspace);
    }

    #[inline(always)]
    fn all_levels_plain<K: Key>(&self, source: &[u64], attribute: usize, workspace: &mut Workspace) {
        match self.n_set_words {
            0 => self.all_levels_sized::<K>(source, attribute, workspace, 0),
            1 => self.all_levels_sized::<K>(source, attribute, workspace, 1),
            2 => self.all_levels_sized::<K>(source, attribute, workspace, 2),
            n => self.all_levels_sized::<K>(source, attribute, workspace, n),
        }
    }

    /// Rows that agree in all higher bits stand side by side, and so do the values under one label.
    #[inline(always)]
    fn all_levels_sized<K: Key>(
        &self,
        source: &[u64],
        attribute: usize,
        workspace: &mut Workspace,
        n_set_words: usize,
    ) {
        let stride = K::N_WORDS + 1 + n_set_words;
        let tree = &self.trees[attribute];
        let code_mask = (1u64 << tree.widths[0]) - 1;
        let code_at = |at: usize| (K::read(&source[at..]).low() & code_mask) as usize;
        let rest_at = |at: usize| K::read(&source[at..]).shifted_right(tree.widths[0]);
        let levels = 1..tree.above.len();
        let mut start = 0;
        while start < source.len() {
            let rest = rest_at(start);
            let mut end = start + stride;
            while end < source.len() && rest_at(end) == rest {
                end += stride;
            }
            if end == start + stride {
                // Alone at every level.
                let (group, loss) = united::<K>(&source[start..end], stride);
                let code = code_at(start);
                for level in levels.clone() {
                    workspace.of_level[level].add(group, loss.wrapping_add(tree.loss_above[level][code]));
                }
            } else {
                for level in levels.clone() {
                    let (scratch, above) = (&mut workspace.of_level[level], &tree.above[level][..]);
                    let mut first = start;
                    while first < end {
                        let code = code_at(first);
                        let mut next = first + stride;
                        while next < end && above[code_at(next)] == above[code] {
                            next += stride;
                        }
                        let (group, loss) = united::<K>(&source[first..next], stride);
                        scratch.add(group, loss.wrapping_add(tree.loss_above[level][code]));
                        first = next;
                    }
                }
            }
            start = end;
        }
    }

    /// Replaces `words` by the groups of a scheme, made from those of the scheme whose attribute is one level finer.
    fn make<K: Key>(&self, step: Step, workspace: &mut Workspace, words: &mut Vec<u64>) -> Profile {
        #[cfg(target_arch = "x86_64")]
        if self.has_fast_bits {
            // SAFETY: the features were found on this machine.
            return unsafe { self.make_with_fast_bits::<K>(step, workspace, words) };
        }
        self.make_plain::<K>(step, workspace, words)
    }

    /// The same code compiled for machines that count bits and move 256 of them at once: most of the last decade's.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn make_with_fast_bits<K: Key>(&self, step: Step, workspace: &mut Workspace, words: &mut Vec<u64>) -> Profile {
        self.make_plain::<K>(step, workspace, words)
    }

    #[inline(always)]
    fn make_plain<K: Key>(&self, step: Step, workspace: &mut Workspace, words: &mut Vec<u64>) -> Profile {
        // The number of words decides the shape of the inner loop: let the compiler see the common ones.
        match self.n_set_words {
            0 => self.make_sized::<K>(step, workspace, words, 0),
            1 => self.make_sized::<K>(step, workspace, words, 1),
            2 => self.make_sized::<K>(step, workspace, words, 2),
            n => self.make_sized::<K>(step, workspace, words, n),
        }
    }

    #[inline(always)]
    fn make_sized<K: Key>(
        &self,
        step: Step,
        workspace: &mut Workspace,
        words: &mut Vec<u64>,
        n_set_words: usize,
    ) -> Profile {
        self.roll_up_with::<K>(step, &mut workspace.scratch, words, n_set_words);
        workspace.scratch.profile()
    }

    /// Rows are in the order of their keys, and stay so: groups that become one are found beside each other.
    ///
    /// Values under one label follow each other, so rows that agree in all higher bits and in the new label form a
    /// block. A row of a block differs from the others in lower bits only; most come in order, the rest are put in place.
    #[inline(always)]
    fn roll_up_with<K: Key>(&self, step: Step, scratch: &mut Scratch, words: &mut Vec<u64>, n_set_words: usize) {
        let Step { source, levels, attribute } = step;
        let stride = K::N_WORDS + 1 + n_set_words;
        let level = levels[attribute] as usize;
        let tree = &self.trees[attribute];
        let steps = &tree.steps[level - 1][..];
        let (width_before, width_after) = (tree.widths[level - 1], tree.widths[level]);
        let lower = self.order.iter().rev().take_while(|&&a| a != attribute);
        let shift: u32 = lower.map(|&a| self.trees[a].widths[levels[a] as usize]).sum();
        let code_mask = (1u64 << width_before) - 1;
        words.clear();
        words.reserve(source.len());
        let mut block = Block { start: 0, is_sorted: true };
        let mut high_of_block = None;
        for row in source.chunks_exact(stride) {
            let key = K::read(row);
            let upper = key.shifted_right(shift);
            let (parent, loss) = steps[(upper.low() & code_mask) as usize];
            let high = upper.shifted_right(width_before).shifted_left(width_after).or(K::of_code(parent));
            let key = high.shifted_left(shift).or(key.below(shift));
            if high_of_block != Some(high) {
                block.finish::<K>(words, stride, scratch);
                block = Block { start: words.len(), is_sorted: true };
                high_of_block = Some(high);
                append::<K>(words, row, key, loss);
            } else {
                block.add::<K>(words, stride, row, key, loss);
            }
        }
        block.finish::<K>(words, stride, scratch);
    }
}

/// The rows at the end of the new ones that agree in all bits but the lowest.
#[derive(Clone, Copy)]
struct Block {
    start: usize,
    is_sorted: bool,
}

/// Up to this many rows, a row that comes out of order is put in place at once.
const N_ROWS_SHIFTED: usize = 16;

impl Block {
    #[inline(always)]
    fn add<K: Key>(&mut self, words: &mut Vec<u64>, stride: usize, row: &[u64], key: K, loss: u64) {
        let last = words.len() - stride;
        match key.cmp(&K::read(&words[last..])) {
            std::cmp::Ordering::Equal => unite::<K>(&mut words[last..][..stride], row),
            std::cmp::Ordering::Greater => append::<K>(words, row, key, loss),
            std::cmp::Ordering::Less if words.len() - self.start <= N_ROWS_SHIFTED * stride => {
                self.insert::<K>(words, stride, row, key, loss);
            }
            std::cmp::Ordering::Less => {
                append::<K>(words, row, key, loss);
                self.is_sorted = false;
            }
        }
    }

    /// Puts a row where it belongs among the few that are there.
    fn insert<K: Key>(&self, words: &mut Vec<u64>, stride: usize, row: &[u64], key: K, loss: u64) {
        let mut at = words.len();
        while at > self.start && K::read(&words[at - stride..]) > key {
            at -= stride;
        }
        if at > self.start && K::read(&words[at - stride..]) == key {
            return unite::<K>(&mut words[at - stride..][..stride], row);
        }
        append::<K>(words, row, key, loss);
        words[at..].rotate_right(stride);
    }

    /// Puts the rows in order if they are not, and adds them to the profile.
    #[inline(always)]
    fn finish<K: Key>(self, words: &mut Vec<u64>, stride: usize, scratch: &mut Scratch) {
        if !self.is_sorted {
            self.sort::<K>(words, stride);
        }
        for row in words[self.start..].chunks_exact(stride) {
            scratch.add_row::<K>(row);
        }
    }

    fn sort<K: Key>(self, words: &mut Vec<u64>, stride: usize) {
        let unsorted = words.split_off(self.start);
        let mut keys: Vec<(K, usize)> = unsorted.chunks_exact(stride).map(K::read).zip((0..).step_by(stride)).collect();
        // Sorted runs side by side: the stable sort merges them.
        keys.sort_by_key(|(key, _)| *key);
        let mut last = None;
        for (key, at) in keys {
            let row = &unsorted[at..][..stride];
            if last == Some(key) {
                let start = words.len() - stride;
                unite::<K>(&mut words[start..], row);
            } else {
                words.extend_from_slice(row);
                last = Some(key);
            }
        }
    }
}

/// What criteria see of some rows taken together, and the loss of a record of the first.
#[inline(always)]
fn united<K: Key>(rows: &[u64], stride: usize) -> (Group, u64) {
    let size = rows.chunks_exact(stride).map(|row| row[K::N_WORDS] & SIZE_MASK).sum();
    let of_word = |word: usize| rows.chunks_exact(stride).fold(0, |set, row| set | row[word]).count_ones();
    let n_distinct = (K::N_WORDS + 1..stride).map(of_word).sum();
    (Group { size, n_distinct }, rows[K::N_WORDS] >> SIZE_BITS)
}

/// Adds a row with another key and a greater loss.
#[inline(always)]
fn append<K: Key>(words: &mut Vec<u64>, row: &[u64], key: K, loss: u64) {
    let start = words.len();
    words.extend_from_slice(row);
    let new = &mut words[start..][..row.len()];
    key.write(new);
    new[K::N_WORDS] = row[K::N_WORDS].wrapping_add(loss);
}

/// Adds the records of a row to another row of the same group.
#[inline(always)]
fn unite<K: Key>(into: &mut [u64], row: &[u64]) {
    into[K::N_WORDS] += row[K::N_WORDS] & SIZE_MASK;
    for (into, word) in into[K::N_WORDS + 1..].iter_mut().zip(&row[K::N_WORDS + 1..]) {
        *into |= word;
    }
}

impl Scratch {
    /// Adds a finished group.
    #[inline(always)]
    fn add_row<K: Key>(&mut self, row: &[u64]) {
        let (group, loss) = united::<K>(row, row.len());
        self.add(group, loss);
    }
}
