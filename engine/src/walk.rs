//! All schemes, one after the other: a walk through the lattice that changes one level of one attribute at a time.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Hierarchy;
use crate::loss::Penalties;
use crate::profile::{Profile, Scratch};
use crate::roll_up::{Key, RollUp, SIZE_MASK, Work};
use crate::scheme::{Schemes, n_schemes};

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
/// The profile of every scheme, by its place, and how many groups were read to make them.
pub(crate) struct RolledUp {
    pub(crate) profiles: Vec<Profile>,
    pub(crate) n_source_groups: u64,
}

/// Makes the profiles of all schemes.
pub(crate) fn all_profiles(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    penalties: &Penalties,
    schemes: &Schemes,
    effort: &Effort,
) -> Result<RolledUp> {
    if counts.n_records() > SIZE_MASK {
        return Err(Error::new(ErrorKind::TooLarge, format!("more than {SIZE_MASK} records")));
    }
    if hierarchies.is_empty() {
        return Err(Error::new(ErrorKind::Request, "there is no quasi-identifier to generalize"));
    }
    let roll_up = RollUp::new(counts, hierarchies, penalties);
    let walk = Walk { roll_up: &roll_up, schemes, order: &roll_up.order, effort, n_bytes: AtomicU64::new(0) };
    match roll_up.n_bits() {
        // One bit less than there is, so that every shift is smaller than the width.
        0..=63 => walk.all::<u64>(),
        64..=127 => walk.all::<u128>(),
        _ => Err(Error::new(
            ErrorKind::TooLarge,
            format!("{} quasi-identifiers with this many distinct values do not fit into one key", hierarchies.len()),
        )
        .hint("choose fewer with --quasi-identifiers")),
    }
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
    /// What rows and the profiles made so far take.
    n_bytes: AtomicU64,
}

impl Walk<'_> {
    /// All profiles, depth first: every scheme from the one whose last generalized attribute is one level finer.
    ///
    /// That is nearly always among the smallest finer schemes, because the attributes that merge least come last;
    /// and only the groups of one path are in memory, most of them in the processor's cache.
    fn all<K: Key>(&self) -> Result<RolledUp> {
        let Walk { roll_up, schemes, order, effort, .. } = *self;
        let workspace = || Workspace {
            scratch: Scratch::default(),
            buffers: order.iter().map(|_| Default::default()).collect(),
            of_level: order
                .last()
                .map_or(Vec::new(), |&last| (0..=schemes.tops()[last]).map(|_| Scratch::default()).collect()),
        };

        // The first attributes are walked alone, until there is enough to do for every thread.
        let n_threads = rayon::current_num_threads();
        let n_tasks_of =
            |depth: usize| order[..depth].iter().map(|&a| schemes.tops()[a] as usize + 1).product::<usize>();
        let n_tasks_wanted = if n_threads == 1 { 1 } else { 4 * n_threads };
        let depth = (0..order.len()).find(|&depth| n_tasks_of(depth) >= n_tasks_wanted).unwrap_or(0);
        let mut first = workspace();
        let mut made = Vec::new();
        let base = roll_up.base::<K>();
        self.reserve(N_ROW_BUFFERS * size_of_val(&base[..]) as u64)?;
        base.chunks_exact(roll_up.stride::<K>()).for_each(|row| first.scratch.add_row::<K>(row));
        let profile = first.scratch.profile();
        let start = Made { place: 0, profile, n_source_groups: 0 };
        (effort.progress)(1);
        let mut tasks: Vec<(Vec<u8>, Vec<u64>)> = vec![(vec![0; order.len()], base)];
        for done in 0..depth {
            for (mut levels, rows) in std::mem::take(&mut tasks) {
                self.along::<K>(done, &mut levels, &rows, &mut first, &mut made, &mut |levels, rows, _, _| {
                    tasks.push((levels.to_vec(), rows.to_vec()));
                })?;
                tasks.push((levels, rows));
            }
            self.reserve(tasks.iter().map(|(_, rows)| size_of_val(&rows[..]) as u64).sum())?;
        }
        let of_tasks: Vec<Vec<Made>> = tasks
            .into_par_iter()
            .map_init(workspace, |workspace, (mut levels, rows)| {
                let mut made = Vec::new();
                self.descend::<K>(depth, &mut levels, &rows, workspace, &mut made)?;
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
        let stride = self.roll_up.stride::<K>();
        self.roll_up.run::<K>(Work::AllLevels { source: rows, attribute, of_level: &mut workspace.of_level });
        for level in 1..=self.schemes.tops()[attribute] {
            levels[attribute] = level;
            let profile = workspace.of_level[level as usize].profile();
            self.reserve(profile.n_bytes() as u64)?;
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
        let stride = self.roll_up.stride::<K>();
        let (mut now, mut next) = std::mem::take(&mut workspace.buffers[depth]);
        for level in 1..=self.schemes.tops()[attribute] {
            levels[attribute] = level;
            let source = if level == 1 { rows } else { &now };
            let scratch = &mut workspace.scratch;
            self.roll_up.run::<K>(Work::Step { source, levels, attribute, words: &mut next, scratch });
            let profile = workspace.scratch.profile();
            self.reserve(profile.n_bytes() as u64)?;
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

    /// Takes note of memory that is needed from now on, and refuses what is too much.
    fn reserve(&self, n_new: u64) -> Result<()> {
        let n_bytes = self.n_bytes.fetch_add(n_new, Ordering::Relaxed) + n_new;
        match n_bytes > self.effort.n_bytes_max {
            true => Err(too_large(self.order.len(), self.schemes.len() as u64, n_bytes, self.effort)),
            false => Ok(()),
        }
    }
}

/// How many times the finest rows are in memory at once, in one form or another, beside what has shrunk already.
const N_ROW_BUFFERS: u64 = 4;

/// Refuses a lattice that cannot fit, before anything is made.
pub(crate) fn check_size(hierarchies: &[Hierarchy], effort: &Effort) -> Result<()> {
    // A profile has at least one entry, the grids have a few dozen columns, and places are 32-bit numbers.
    let n_schemes = n_schemes(hierarchies).unwrap_or(u64::MAX);
    let n_bytes_least = n_schemes.saturating_mul(256);
    match n_bytes_least > effort.n_bytes_max || n_schemes > u64::from(u32::MAX) {
        true => Err(too_large(hierarchies.len(), n_schemes, n_bytes_least, effort)),
        false => Ok(()),
    }
}

fn too_large(n_attributes: usize, n_schemes: u64, n_bytes: u64, effort: &Effort) -> Error {
    let size = |n_bytes: u64| match n_bytes {
        0..1_000_000 => format!("{} kB", n_bytes.div_ceil(1_000)),
        _ => format!("{} MB", n_bytes.div_ceil(1_000_000)),
    };
    let how_many = if n_schemes == u64::MAX { "over 10^19".to_string() } else { n_schemes.to_string() };
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "the lattice of {n_attributes} quasi-identifiers has {how_many} schemes and needs more than {}, \
             where {} are allowed",
            size(n_bytes),
            size(effort.n_bytes_max)
        ),
    )
    .hint("choose fewer with --quasi-identifiers, give the hierarchies fewer levels, or allow more with --memory")
}
