//! Every scheme with its profile: the annotated lattice from which all requests are answered.
//!
//! The finest scheme's groups come from the counts. Every other scheme's groups are rolled up from the smallest
//! scheme one step finer, so that the cost of a scheme is the number of groups of a neighbour, not of records.

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::criterion::{Criteria, Group};
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::loss::Penalties;
use crate::profile::{Profile, Scratch};
use crate::scheme::{Scheme, Schemes};

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
        Effort {
            n_bytes_max: u64::MAX,
            progress: &|_| {},
        }
    }
}

/// Annotates every scheme over the hierarchies, which belong to the quasi-identifiers of the counts in order.
///
/// # Guarantee
/// Every profile is that of the groups one would get by generalizing and counting all records again,
/// whatever the number of threads.
pub fn annotate(counts: &GroupCounts, hierarchies: &[Hierarchy], weights: &[f64], effort: &Effort) -> Result<Lattice> {
    let schemes = Schemes::new(hierarchies)?;
    let penalties = Penalties::new(hierarchies, weights)?;
    check_size(&schemes, effort)?;
    let rolled_up = match RollUp::new(counts, hierarchies, &penalties) {
        Width::One(roll_up) => roll_up.all::<u64>(&schemes, effort)?,
        Width::Two(roll_up) => roll_up.all::<u128>(&schemes, effort)?,
        Width::TooWide => {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("{} quasi-identifiers with this many distinct values do not fit into one key", hierarchies.len()),
            )
            .hint("choose fewer with --quasi-identifiers"));
        }
    };
    let n_sensitive = counts.sensitive().map_or(0, |domain| domain.len());
    let k_values = Grid::values(counts.n_records(), schemes.len());
    let l_values = Grid::values(n_sensitive as u64, schemes.len());
    Ok(Lattice {
        by_k: Grid::new(k_values, &rolled_up.profiles, |group| group.size),
        by_l: Grid::new(l_values, &rolled_up.profiles, |group| u64::from(group.n_distinct)),
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
    /// The exact number, if it is at most `n_max`.
    #[inline]
    pub fn at_most(&self, place: usize, n_max: u64) -> Option<u64> {
        let bounds = |columns: &Option<Columns>| match columns {
            Some(columns) => (columns.below[place], columns.above[place]),
            None => (0, 0),
        };
        let (k, l) = (bounds(&self.k), bounds(&self.l));
        // A record that fails either criterion is suppressed once: at least the greater, at most the sum.
        let (least, most) = (k.0.max(l.0), k.1.saturating_add(l.1));
        if least > n_max {
            None
        } else if least == most {
            Some(least)
        } else {
            Some(self.exact(place)).filter(|&n| n <= n_max)
        }
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
}

/// The columns just below and just above a value; the same one where the grid has the value.
#[derive(Clone, Copy)]
struct Columns<'a> {
    below: &'a [u64],
    above: &'a [u64],
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

    fn new(values: Vec<u64>, profiles: &[Profile], measure: impl Fn(Group) -> u64 + Sync) -> Grid {
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
        let columns = (0..values.len()).map(|i| rows.iter().map(|row| row[i]).collect()).collect();
        Grid { values, columns }
    }

    fn around(&self, value: u64) -> Columns<'_> {
        let last = self.values.len() - 1;
        let above = self.values.partition_point(|&known| known < value).min(last);
        let below = if self.values[above] <= value { above } else { above.saturating_sub(1) };
        Columns {
            below: &self.columns[below],
            above: &self.columns[above],
        }
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

/// Groups as rows of 64-bit words: the key, the size, the loss of one record, the set of sensitive values.
///
/// One row per group, so that a group is one visit to memory.
#[derive(Default)]
struct Rows {
    words: Vec<u64>,
    n_groups: usize,
}

/// What rolling up needs to know about the table.
struct RollUp<'a> {
    counts: &'a GroupCounts,
    hierarchies: &'a [Hierarchy],
    penalties: &'a Penalties,
    n_set_words: usize,
    /// By attribute and level, how many bits its codes take in a key.
    widths: Vec<Vec<u32>>,
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
                self.checked_shr(n).unwrap_or(0)
            }
            #[inline(always)]
            fn shifted_left(self, n: u32) -> Self {
                self.checked_shl(n).unwrap_or(0)
            }
            #[inline(always)]
            fn below(self, n: u32) -> Self {
                self & ((1 as $type).checked_shl(n).unwrap_or(0).wrapping_sub(1))
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
key!(
    u128,
    2,
    |words: &[u64]| u128::from(words[0]) | u128::from(words[1]) << 64,
    |key: u128, words: &mut [u64]| {
        words[0] = key as u64;
        words[1] = (key >> 64) as u64;
    }
);

/// Reused from scheme to scheme by one thread: where in the new rows each key went.
struct Workspace {
    slots: Vec<u32>,
    scratch: Scratch,
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
        };
        match n_bits {
            0..=64 => Width::One(roll_up),
            65..=128 => Width::Two(roll_up),
            _ => Width::TooWide,
        }
    }

    /// All profiles, height by height; only the groups of one height and the one below are in memory.
    fn all<K: Key>(&self, schemes: &Schemes, effort: &Effort) -> Result<RolledUp> {
        let workspace = || Workspace {
            slots: Vec::new(),
            scratch: Scratch::new(self.counts.sensitive().map_or(0, |domain| domain.len())),
        };
        let mut profiles = Vec::with_capacity(schemes.len());
        let mut n_source_groups = 0;
        let mut n_profile_bytes = 0u64;
        let mut below = vec![self.base::<K>()];
        profiles.push(self.profile::<K>(&below[0], &mut workspace().scratch));
        (effort.progress)(1);
        for height in 1..schemes.n_heights() {
            let start_below = schemes.at_height(height - 1).start;
            let made: Vec<(Rows, Profile, usize)> = schemes
                .at_height(height)
                .into_par_iter()
                .map_init(workspace, |workspace, place| {
                    let (attribute, source) = schemes
                        .finer(place)
                        .min_by_key(|&(_, source)| below[source - start_below].n_groups)
                        .expect("only the finest scheme has no finer one");
                    let source = &below[source - start_below];
                    let rows = self.roll_up::<K>(source, schemes.vector(place), attribute, workspace);
                    let profile = self.profile::<K>(&rows, &mut workspace.scratch);
                    (effort.progress)(1);
                    (rows, profile, source.n_groups)
                })
                .collect();
            below.clear();
            let mut n_row_bytes = 0u64;
            for (rows, profile, n_groups) in made {
                n_row_bytes += (rows.words.len() * size_of::<u64>()) as u64;
                n_profile_bytes += profile.n_bytes() as u64;
                n_source_groups += n_groups as u64;
                below.push(rows);
                profiles.push(profile);
            }
            if n_profile_bytes + 2 * n_row_bytes > effort.n_bytes_max {
                return Err(too_large(schemes, n_profile_bytes + 2 * n_row_bytes, effort));
            }
        }
        Ok(RolledUp {
            profiles,
            n_source_groups,
        })
    }

    /// The groups of the finest scheme.
    fn base<K: Key>(&self) -> Rows {
        let stride = K::N_WORDS + 2 + self.n_set_words;
        let n_groups = self.counts.n_groups();
        let mut words = vec![0; n_groups * stride];
        for (group, row) in words.chunks_exact_mut(stride).enumerate() {
            let mut key = K::of_code(0);
            for (a, code) in self.counts.codes(group).iter().enumerate() {
                key = key.shifted_left(self.widths[a][0]).or(K::of_code(u64::from(code.0)));
                row[K::N_WORDS + 1] += u64::from(self.penalties.of(a, 0)[code.index()]);
            }
            key.write(row);
            row[K::N_WORDS] = self.counts.size(group);
            for (code, _) in self.counts.cells(group) {
                row[K::N_WORDS + 2 + code.index() / 64] |= 1 << (code.index() % 64);
            }
        }
        Rows { words, n_groups }
    }

    fn profile<K: Key>(&self, rows: &Rows, scratch: &mut Scratch) -> Profile {
        let stride = K::N_WORDS + 2 + self.n_set_words;
        let groups = rows.words.chunks_exact(stride).map(|row| {
            let n_distinct = row[K::N_WORDS + 2..].iter().map(|word| word.count_ones()).sum();
            let group = Group {
                size: row[K::N_WORDS],
                n_distinct,
            };
            (group, row[K::N_WORDS + 1])
        });
        Profile::of_groups(groups, scratch)
    }

    /// The groups of a scheme from those of the scheme whose `attribute` is one level finer.
    fn roll_up<K: Key>(&self, source: &Rows, levels: &[u8], attribute: usize, workspace: &mut Workspace) -> Rows {
        // The number of words decides the shape of the inner loop: let the compiler see the common ones.
        match self.n_set_words {
            0 => self.roll_up_with::<K>(source, levels, attribute, workspace, 0),
            1 => self.roll_up_with::<K>(source, levels, attribute, workspace, 1),
            2 => self.roll_up_with::<K>(source, levels, attribute, workspace, 2),
            n => self.roll_up_with::<K>(source, levels, attribute, workspace, n),
        }
    }

    #[inline(always)]
    fn roll_up_with<K: Key>(
        &self,
        source: &Rows,
        levels: &[u8],
        attribute: usize,
        workspace: &mut Workspace,
        n_set_words: usize,
    ) -> Rows {
        let stride = K::N_WORDS + 2 + n_set_words;
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
                (u64::from(parent.0), loss)
            })
            .collect();
        let width_of = |a: usize| self.widths[a][levels[a] as usize];
        let shift: u32 = (attribute + 1..levels.len()).map(width_of).sum();
        let (width_before, width_after) = (self.widths[attribute][level - 1], width_of(attribute));
        let n_bits: u32 = (0..levels.len()).map(width_of).sum();

        // A key is its own slot where the table of all keys is not much larger than what we roll up;
        // elsewhere a hash table with open addressing.
        let n_slots_hashed = (source.n_groups * 2).next_power_of_two().max(16);
        let dense = n_bits <= 62 && (1usize << n_bits.min(62)) <= (n_slots_hashed * 8).max(1 << 12);
        let n_slots = if dense { 1usize << n_bits } else { n_slots_hashed };
        let mask = n_slots - 1;
        if workspace.slots.len() < n_slots {
            workspace.slots.resize(n_slots, 0);
        }
        let slots = &mut workspace.slots[..n_slots];

        let mut words: Vec<u64> = Vec::with_capacity(source.words.len().min(n_slots.saturating_mul(stride)));
        let mut n_groups = 0u32;
        for row in source.words.chunks_exact(stride) {
            let key = K::read(row);
            let code = key.shifted_right(shift).low() & ((1u64 << width_before) - 1);
            let (parent, loss) = steps[code as usize];
            let high = key.shifted_right(shift + width_before).shifted_left(shift + width_after);
            let key = high.or(K::of_code(parent).shifted_left(shift)).or(key.below(shift));
            let mut at = if dense { key.low() as usize } else { key.hash() as usize & mask };
            let group = loop {
                let slot = slots[at];
                if slot == 0 {
                    n_groups += 1;
                    slots[at] = n_groups;
                    words.extend_from_slice(&row[..stride]);
                    let start = words.len() - stride;
                    key.write(&mut words[start..]);
                    words[start + K::N_WORDS + 1] = row[K::N_WORDS + 1].wrapping_add(loss);
                    break None;
                }
                let start = (slot - 1) as usize * stride;
                if dense || K::read(&words[start..]) == key {
                    break Some(start);
                }
                at = (at + 1) & mask;
            };
            if let Some(start) = group {
                let into = &mut words[start..start + stride];
                into[K::N_WORDS] += row[K::N_WORDS];
                for word in K::N_WORDS + 2..stride {
                    into[word] |= row[word];
                }
            }
        }
        // Leave the slots empty for the next scheme, at the cost of what was used.
        if dense && (n_groups as usize) < n_slots / 8 {
            for row in words.chunks_exact(stride) {
                slots[K::read(row).low() as usize] = 0;
            }
        } else {
            slots.fill(0);
        }
        words.shrink_to_fit();
        Rows {
            words,
            n_groups: n_groups as usize,
        }
    }
}
