//! Every scheme with its profile: the annotated lattice from which all requests are answered.
//!
//! The finest scheme's groups come from the counts. Every other scheme's groups are rolled up from the smallest
//! scheme one step finer, so that the cost of a scheme is the number of groups of a neighbour, not of records.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::criterion::{Criteria, Group};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
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
    let mut scratch = Scratch::new(counts.sensitive().map_or(0, |domain| domain.len()));
    Ok(Profile::of_groups(groups.into_iter().zip(losses), &mut scratch))
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
        let rows: Vec<Vec<u64>> = profiles
            .par_iter()
            .map(|profile| {
                // Records by the first grid value that is greater than the group's, then summed up.
                let mut row = vec![0; values.len() + 1];
                for entry in profile.entries() {
                    let measured = measure(entry.group());
                    row[values.partition_point(|&value| value <= measured)] += entry.n_records();
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
    hierarchies: &'a [Hierarchy],
    penalties: &'a Penalties,
    n_set_words: usize,
    /// By attribute and level, how many bits its codes take in a key.
    widths: Vec<Vec<u32>>,
    #[cfg(target_arch = "x86_64")]
    has_fast_bits: bool,
}

enum Width<'a> {
    One(RollUp<'a>),
    Two(RollUp<'a>),
    TooWide,
}

struct RolledUp {
    profiles: Vec<Profile>,
    n_source_groups: u64,
}

/// A key that holds one code per attribute, side by side.
trait Key: Copy + Eq {
    const N_WORDS: usize;
    fn read(words: &[u64]) -> Self;
    fn write(self, words: &mut [u64]);
    fn low(self) -> u64;
    fn shifted_right(self, n: u32) -> Self;
    fn shifted_left(self, n: u32) -> Self;
    fn below(self, n: u32) -> Self;
    fn or(self, other: Self) -> Self;
    fn of_code(code: u64) -> Self;
    fn hash(self) -> u64;
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
            #[inline(always)]
            fn hash(self) -> u64 {
                let folded = (self as u64) ^ ((self as u128 >> 64) as u64).wrapping_mul(0xA24B_AED4_963E_E407);
                let product = u128::from(folded ^ 0x9E37_79B9_7F4A_7C15) * 0xD1B5_4A32_D192_ED03;
                (product as u64) ^ (product >> 64) as u64
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

/// Reused from scheme to scheme by one thread: where in the new rows each key went.
struct Workspace {
    slots: Vec<u32>,
    scratch: Scratch,
    /// Per depth of the walk, the rows of the scheme that it is at and of the one before.
    buffers: Vec<(Vec<u64>, Vec<u64>)>,
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
        for deeper in depth..self.order.len() {
            let mut outcome = Ok(());
            self.along::<K>(deeper, levels, rows, workspace, made, &mut |levels, rows, workspace, made| {
                if outcome.is_ok() {
                    outcome = self.descend::<K>(deeper + 1, levels, rows, workspace, made);
                }
            })?;
            outcome?;
        }
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
            let profile = self.roll_up.make::<K>(Step { source, levels, attribute }, workspace, &mut next);
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
        let width = |n_codes: usize| usize::BITS - n_codes.saturating_sub(1).leading_zeros();
        let widths: Vec<Vec<u32>> = hierarchies
            .iter()
            .map(|hierarchy| hierarchy.levels().iter().map(|values| width(values.len())).collect())
            .collect();
        // Coarser levels have fewer values, so the finest scheme has the widest keys.
        let n_bits: u32 = widths.iter().map(|levels| levels[0]).sum();
        let roll_up = RollUp {
            counts,
            hierarchies,
            penalties,
            n_set_words: counts.sensitive().map_or(0, |domain| domain.len()).div_ceil(64),
            widths,
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
        let order = self.most_merging_first::<K>();
        let n_distinct_max = self.counts.sensitive().map_or(0, |domain| domain.len());
        let workspace = || Workspace {
            slots: Vec::new(),
            scratch: Scratch::new(n_distinct_max),
            buffers: order.iter().map(|_| Default::default()).collect(),
        };
        let walk = Walk { roll_up: self, schemes, order: &order, effort, n_bytes: AtomicU64::new(0) };

        // The first attributes are walked alone, until there is enough to do for every thread.
        let n_threads = rayon::current_num_threads();
        let n_tasks_of = |depth: usize| order[..depth].iter().map(|&a| schemes.tops()[a] as usize + 1).product::<usize>();
        let n_tasks_wanted = if n_threads == 1 { 1 } else { 4 * n_threads };
        let depth = (0..order.len()).find(|&depth| n_tasks_of(depth) >= n_tasks_wanted).unwrap_or(0);
        let mut first = workspace();
        let mut made = Vec::new();
        let base = self.base::<K>();
        let profile = self.profile_with::<K>(&base, &mut first.scratch, self.n_set_words);
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

    /// The attributes by how many groups are left when one of them alone is hidden, fewest first.
    fn most_merging_first<K: Key>(&self) -> Vec<usize> {
        let base = self.base::<K>();
        let stride = K::N_WORDS + 1 + self.n_set_words;
        let n_groups_without = |&attribute: &usize| {
            let shift: u32 = (attribute + 1..self.widths.len()).map(|a| self.widths[a][0]).sum();
            let width = self.widths[attribute][0];
            let mut keys: Vec<(u64, u64)> = base
                .chunks_exact(stride)
                .map(|row| {
                    let key = K::read(row);
                    let rest = key.shifted_right(shift + width).shifted_left(shift).or(key.below(shift));
                    (rest.low(), rest.hash())
                })
                .collect();
            keys.sort_unstable();
            keys.dedup();
            keys.len()
        };
        let mut order: Vec<usize> = (0..self.widths.len()).collect();
        order.sort_by_cached_key(n_groups_without);
        order
    }

    /// The groups of the finest scheme.
    fn base<K: Key>(&self) -> Vec<u64> {
        let stride = K::N_WORDS + 1 + self.n_set_words;
        let n_groups = self.counts.n_groups();
        let mut words = vec![0; n_groups * stride];
        for (group, row) in words.chunks_exact_mut(stride).enumerate() {
            let (mut key, mut loss) = (K::of_code(0), 0);
            for (a, code) in self.counts.codes(group).iter().enumerate() {
                key = key.shifted_left(self.widths[a][0]).or(K::of_code(u64::from(code.0)));
                loss += u64::from(self.penalties.of(a, 0)[code.index()]);
            }
            key.write(row);
            row[K::N_WORDS] = self.counts.size(group) | loss << SIZE_BITS;
            for (code, _) in self.counts.cells(group) {
                row[K::N_WORDS + 1 + code.index() / 64] |= 1 << (code.index() % 64);
            }
        }
        words
    }

    #[inline(always)]
    fn profile_with<K: Key>(&self, rows: &[u64], scratch: &mut Scratch, n_set_words: usize) -> Profile {
        let groups = rows.chunks_exact(K::N_WORDS + 1 + n_set_words).map(|row| {
            let n_distinct = row[K::N_WORDS + 1..].iter().map(|word| word.count_ones()).sum();
            let size_and_loss = row[K::N_WORDS];
            (Group { size: size_and_loss & SIZE_MASK, n_distinct }, size_and_loss >> SIZE_BITS)
        });
        Profile::of_groups(groups, scratch)
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
    fn make_with_fast_bits<K: Key>(
        &self,
        step: Step,
        workspace: &mut Workspace,
        words: &mut Vec<u64>,
    ) -> Profile {
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
        self.roll_up_with::<K>(step, &mut workspace.slots, words, n_set_words);
        self.profile_with::<K>(words, &mut workspace.scratch, n_set_words)
    }

    #[inline(always)]
    fn roll_up_with<K: Key>(&self, step: Step, slots: &mut Vec<u32>, words: &mut Vec<u64>, n_set_words: usize) {
        let Step { source, levels, attribute } = step;
        let stride = K::N_WORDS + 1 + n_set_words;
        let n_source = source.len() / stride;
        let level = levels[attribute] as usize;
        let finer = self.hierarchies[attribute].level(level - 1);
        let penalties = (self.penalties.of(attribute, level - 1), self.penalties.of(attribute, level));
        // Per code of the finer level: the code above it, and what the step adds to the loss.
        let steps: Vec<(u64, u64)> = finer
            .parents()
            .iter()
            .enumerate()
            .map(|(code, parent)| {
                let loss = u64::from(penalties.1[parent.index()]).wrapping_sub(u64::from(penalties.0[code]));
                (u64::from(parent.0), loss << SIZE_BITS)
            })
            .collect();
        let width_of = |a: usize| self.widths[a][levels[a] as usize];
        let shift: u32 = (attribute + 1..levels.len()).map(width_of).sum();
        let (width_before, width_after) = (self.widths[attribute][level - 1], width_of(attribute));
        let n_bits: u32 = (0..levels.len()).map(width_of).sum();

        // A key is its own slot where the table of all keys is not much larger than what we roll up;
        // elsewhere a hash table with open addressing.
        let n_slots_hashed = (n_source * 2).next_power_of_two().max(16);
        let dense = n_bits <= 40 && (1usize << n_bits.min(40)) <= n_slots_hashed * DENSE_FACTOR;
        let n_slots = if dense { 1usize << n_bits } else { n_slots_hashed };
        let mask = n_slots - 1;
        if slots.len() < n_slots {
            slots.resize(n_slots, 0);
        }
        let slots = &mut slots[..n_slots];

        words.clear();
        words.reserve(source.len());
        let mut n_groups = 0;
        for row in source.chunks_exact(stride) {
            let key = K::read(row);
            let code = key.shifted_right(shift).low() & ((1u64 << width_before) - 1);
            let (parent, loss) = steps[code as usize];
            let high = key.shifted_right(shift + width_before).shifted_left(shift + width_after);
            let key = high.or(K::of_code(parent).shifted_left(shift)).or(key.below(shift));
            let mut at = if dense { key.low() as usize & mask } else { key.hash() as usize & mask };
            loop {
                let slot = slots[at] as usize;
                if slot == 0 {
                    let end = words.len();
                    words.extend_from_slice(row);
                    let new = &mut words[end..][..stride];
                    key.write(new);
                    new[K::N_WORDS] = row[K::N_WORDS].wrapping_add(loss);
                    n_groups += 1;
                    slots[at] = n_groups as u32;
                    break;
                }
                let known = &mut words[(slot - 1) * stride..][..stride];
                if dense || K::read(known) == key {
                    known[K::N_WORDS] += row[K::N_WORDS] & SIZE_MASK;
                    for word in K::N_WORDS + 1..stride {
                        known[word] |= row[word];
                    }
                    break;
                }
                at = (at + 1) & mask;
            }
        }
        // Leave the slots empty for the next scheme, at the cost of what was used.
        if dense && n_groups < n_slots / 8 {
            for row in words.chunks_exact(stride) {
                slots[K::read(row).low() as usize & mask] = 0;
            }
        } else {
            slots.fill(0);
        }
    }
}

/// How many times larger than the hash table a table of all keys may be to be preferred.
const DENSE_FACTOR: usize = 8;
