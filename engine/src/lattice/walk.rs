//! All schemes, one after the other: a walk through the lattice that changes one level of one attribute at a time.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::counts::GroupCounts;
use crate::criterion::Measured;
use crate::error::Result;
use crate::hierarchy::Hierarchy;
use crate::lattice::fitting::{WithRoller, with_roller};
use crate::lattice::profile::Profile;
use crate::lattice::roll_up::Key;
use crate::lattice::roller::{Annotation, Ground, Groups, Roller};
use crate::lattice::rows::Rows;
use crate::lattice::size::too_large;
use crate::scheme::Schemes;
use crate::table::Code;
use crate::task::Task;

/// The profile of every scheme, by its place, the signatures that they are made of, and how many groups were read.
pub(crate) struct RolledUp {
    pub(crate) signatures: Measured,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) n_source_groups: u64,
}

/// Makes the profiles of all schemes.
pub(crate) fn all_profiles(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Annotation,
    schemes: &Schemes,
    task: &Task,
) -> Result<RolledUp> {
    with_roller(counts, hierarchies, wanted, None, AllProfiles { schemes, task, changed: None })
}

/// Makes the profiles of all schemes, leaving out groups that no changed combination is near.
///
/// A group is left out of a scheme only where it holds none of them, and whether it is depends on `changed`, on the scheme
/// and on `order` alone: so that the profiles of two tables that differ in nothing else have the same groups too many.
pub(crate) fn changed_profiles(
    counts: &GroupCounts,
    hierarchies: &[Hierarchy],
    wanted: &Annotation,
    schemes: &Schemes,
    changed: &Changed,
    order: &[usize],
    task: &Task,
) -> Result<RolledUp> {
    with_roller(counts, hierarchies, wanted, Some(order), AllProfiles { schemes, task, changed: Some(changed) })
}

struct AllProfiles<'a> {
    schemes: &'a Schemes,
    task: &'a Task<'a>,
    changed: Option<&'a Changed<'a>>,
}

/// What changed in a table.
pub(crate) struct Changed<'a> {
    /// Combinations of the finest scheme, by the codes of the counts.
    pub(crate) combinations: Vec<&'a [Code]>,
    /// By place, about how many groups a scheme has: where they are few, nothing is left out.
    pub(crate) n_groups: Vec<u32>,
}

/// A scheme with fewer groups than this for each change is rolled up as it is: looking for groups that may be left out
/// would take longer.
const N_GROUPS_PER_CHANGE: usize = 4;

impl WithRoller for AllProfiles<'_> {
    type Done = RolledUp;

    fn work<'a, K: Key, R: Roller<'a>>(self, ground: Ground<'a>) -> Result<RolledUp> {
        let AllProfiles { schemes, task, changed } = self;
        let order = &ground.roll_up.order[..];
        let chosen = (!schemes.is_complete()).then(|| Chosen::new(schemes, order));
        Walk { ground, schemes, chosen, changed, order, task, n_bytes: AtomicU64::new(0) }.all::<K, R>()
    }
}

/// The schemes that a walk is for, where that is not all of them; it leaves out the ways that lead to none.
struct Chosen {
    n_attributes: usize,
    /// The level vectors with the attributes in the order of the walk, in order, one after the other.
    vectors: Vec<u8>,
}

impl Chosen {
    fn new(schemes: &Schemes, order: &[usize]) -> Chosen {
        let vector = |place: usize| order.iter().map(|&a| schemes.vector(place)[a]).collect::<Vec<u8>>();
        let mut vectors: Vec<Vec<u8>> = (0..schemes.len()).map(vector).collect();
        vectors.sort_unstable();
        Chosen { n_attributes: order.len(), vectors: vectors.concat() }
    }

    /// The greatest level of the walk's attribute `depth` among chosen schemes that have these levels in those before;
    /// none where there is no such scheme.
    fn greatest(&self, order: &[usize], depth: usize, levels: &[u8]) -> Option<u8> {
        let is_beyond = |vector: &[u8]| {
            let before = order[..depth].iter().map(|&a| levels[a]);
            vector[..depth].iter().copied().cmp(before).is_gt()
        };
        let vector = |i: usize| &self.vectors[i * self.n_attributes..][..self.n_attributes];
        let (mut low, mut high) = (0, self.vectors.len() / self.n_attributes);
        while low < high {
            let middle = low.midpoint(high);
            if is_beyond(vector(middle)) { high = middle } else { low = middle + 1 }
        }
        let last = vector(low.checked_sub(1)?);
        let is_same = order[..depth].iter().zip(last).all(|(&a, level)| levels[a] == *level);
        is_same.then_some(last[depth])
    }
}

/// Reused from scheme to scheme by one thread.
struct Workspace<R> {
    work: R,
    /// The number of the thread.
    thread: usize,
    n_bytes: usize,
    /// Per depth of the walk, the rows of the scheme that it is at and of the one before.
    buffers: Vec<(Rows, Rows)>,
}

impl<R> Workspace<R> {
    fn new(work: R, thread: usize, depth: usize) -> Workspace<R> {
        Workspace { work, thread, n_bytes: 0, buffers: (0..depth).map(|_| Default::default()).collect() }
    }
}

/// A scheme's groups, who made them, and how many groups were read for it.
struct MadeScheme<G> {
    place: usize,
    thread: usize,
    groups: G,
    n_source_groups: u64,
}

/// A walk through all schemes that changes one level of one attribute at a time.
struct Walk<'a, 'g> {
    ground: Ground<'g>,
    schemes: &'a Schemes,
    /// None where all schemes are wanted.
    chosen: Option<Chosen>,
    /// None where all groups are wanted; otherwise those that may meet one of these combinations.
    changed: Option<&'a Changed<'a>>,
    /// The attributes from the outermost loop to the innermost.
    order: &'a [usize],
    task: &'a Task<'a>,
    /// What rows and the profiles made so far take.
    n_bytes: AtomicU64,
}

/// What is done at a scheme on the way: its levels and its rows are given. An error ends the walk at once.
type Visit<'v, R, G> = dyn FnMut(&mut [u8], &Rows, &mut Workspace<R>, &mut Vec<MadeScheme<G>>) -> Result<()> + 'v;

impl<'g> Walk<'_, 'g> {
    /// All profiles, depth first: every scheme from the one whose last generalized attribute is one level finer.
    ///
    /// That is nearly always among the smallest finer schemes, because the attributes that merge least come last;
    /// and only the groups of one path are in memory, most of them in the processor's cache.
    fn all<K: Key, R: Roller<'g>>(&self) -> Result<RolledUp> {
        let &Walk { ground, schemes, order, .. } = self;
        // The first attributes are walked alone, until there is enough to do for every thread.
        let n_threads = rayon::current_num_threads();
        let n_tasks_of =
            |depth: usize| order[..depth].iter().map(|&a| schemes.tops()[a] as usize + 1).product::<usize>();
        let n_tasks_wanted = if n_threads == 1 { 1 } else { 4 * n_threads };
        let depth = (0..order.len()).find(|&depth| n_tasks_of(depth) >= n_tasks_wanted).unwrap_or(0);
        let (work, base, groups) = R::begin::<K>(ground);
        let mut first = Workspace::new(work, 0, order.len());
        self.reserve(N_ROW_BUFFERS * base.n_bytes())?;
        let finest = vec![0; order.len()];
        let mut made = Vec::new();
        self.record(&finest, groups, 0, &mut first, &mut made)?;
        let mut tasks: Vec<(Vec<u8>, Rows)> = vec![(finest, base)];
        for done in 0..depth {
            for (mut levels, rows) in std::mem::take(&mut tasks) {
                let rows = self.near_changes::<K, R>(done, &levels, &rows).into_owned();
                self.along::<K, R>(done, &mut levels, &rows, &mut first, &mut made, &mut |levels, rows, _, _| {
                    tasks.push((levels.to_vec(), rows.clone()));
                    Ok(())
                })?;
                tasks.push((levels, rows));
            }
            self.reserve(tasks.iter().map(|(_, rows)| rows.n_bytes()).sum())?;
        }
        let works = first.work.share(ground, n_threads).into_iter().enumerate();
        let workspaces: Vec<Mutex<Workspace<R>>> =
            works.map(|(thread, work)| Mutex::new(Workspace::new(work, thread, order.len()))).collect();
        let of_tasks: Vec<Vec<MadeScheme<R::Groups>>> = tasks
            .into_par_iter()
            .map(|(mut levels, rows)| {
                // Each thread has a workspace of its own, and does one task at a time.
                let thread = rayon::current_thread_index().unwrap_or(0) % n_threads;
                let mut workspace = workspaces[thread].lock().unwrap_or_else(PoisonError::into_inner);
                let mut made = Vec::new();
                self.descend::<K, R>(depth, &mut levels, &rows, &mut workspace, &mut made)?;
                Ok(made)
            })
            .collect::<Result<_>>()?;

        let mut by_place: Vec<Option<(usize, R::Groups)>> = (0..schemes.len()).map(|_| None).collect();
        let mut n_source_groups = 0;
        for made in made.into_iter().chain(of_tasks.into_iter().flatten()) {
            by_place[made.place] = Some((made.thread, made.groups));
            n_source_groups += made.n_source_groups;
        }
        let by_place = by_place.into_iter().map(|made| made.expect("every scheme was visited")).collect();
        let work_of =
            |workspace: Mutex<Workspace<R>>| workspace.into_inner().unwrap_or_else(PoisonError::into_inner).work;
        let works = workspaces.into_iter().map(work_of);
        let (signatures, profiles) = R::finish(works.collect(), ground, by_place, self.task)?;
        Ok(RolledUp { signatures, profiles, n_source_groups })
    }

    /// Makes all schemes that generalize further from here by attributes from `depth` on.
    fn descend<K: Key, R: Roller<'g>>(
        &self,
        depth: usize,
        levels: &mut [u8],
        rows: &Rows,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R::Groups>>,
    ) -> Result<()> {
        let last = self.order.len() - 1;
        if self.greatest(depth, levels).is_none() {
            return Ok(());
        }
        let rows = &*self.near_changes::<K, R>(depth, levels, rows);
        for deeper in depth..last {
            self.along::<K, R>(deeper, levels, rows, workspace, made, &mut |levels, rows, workspace, made| {
                self.descend::<K, R>(deeper + 1, levels, rows, workspace, made)
            })?;
        }
        self.innermost::<K, R>(levels, rows, workspace, made)
    }

    /// Makes all levels of the last attribute in one pass.
    fn innermost<K: Key, R: Roller<'g>>(
        &self,
        levels: &mut [u8],
        rows: &Rows,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R::Groups>>,
    ) -> Result<()> {
        let attribute = *self.order.last().expect("there is at least one attribute");
        if self.greatest(self.order.len() - 1, levels).unwrap_or(0) == 0 {
            return Ok(());
        }
        let n_rows = (rows.words.len() / R::stride::<K>(self.ground)) as u64;
        let of_levels = workspace.work.all_levels::<K>(self.ground, rows, attribute);
        for (level, groups) in (1..).zip(of_levels) {
            levels[attribute] = level;
            // The rows are read once for all levels.
            self.record(levels, groups, if level == 1 { n_rows } else { 0 }, workspace, made)?;
        }
        levels[attribute] = 0;
        Ok(())
    }

    /// Generalizes one attribute level by level, and calls `visit` with the groups of each scheme on the way.
    ///
    /// After an error the levels are those of the scheme that it came from: nobody may go on from there.
    fn along<K: Key, R: Roller<'g>>(
        &self,
        depth: usize,
        levels: &mut [u8],
        rows: &Rows,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R::Groups>>,
        visit: &mut Visit<R, R::Groups>,
    ) -> Result<()> {
        let attribute = self.order[depth];
        let (mut now, mut next) = std::mem::take(&mut workspace.buffers[depth]);
        for level in 1..=self.greatest(depth, levels).unwrap_or(0) {
            levels[attribute] = level;
            let source = if level == 1 { rows } else { &now };
            let n_source_groups = (source.words.len() / R::stride::<K>(self.ground)) as u64;
            let groups = workspace.work.step::<K>(self.ground, source, levels, attribute, &mut next);
            self.record(levels, groups, n_source_groups, workspace, made)?;
            std::mem::swap(&mut now, &mut next);
            visit(levels, &now, workspace, made)?;
        }
        levels[attribute] = 0;
        workspace.buffers[depth] = (now, next);
        Ok(())
    }

    /// The rows that may still meet a changed combination when the walk's attributes from `depth` on are generalized: those
    /// that agree with one in all attributes before, whose levels are settled.
    fn near_changes<'r, K: Key, R: Roller<'g>>(&self, depth: usize, levels: &[u8], rows: &'r Rows) -> Cow<'r, Rows> {
        let has_many = |changed: &&Changed| {
            let n_groups = self.schemes.find_levels(levels).map_or(0, |place| changed.n_groups[place] as usize);
            n_groups > changed.combinations.len() * N_GROUPS_PER_CHANGE
        };
        let Some(changed) = self.changed.filter(|_| depth > 0).filter(has_many) else { return Cow::Borrowed(rows) };
        let trees = &self.ground.roll_up.trees;
        let (settled, open) = self.order.split_at(depth);
        let label = |a: usize, code: Code| {
            let tree = &trees[a];
            u64::from(tree.above[levels[a] as usize][tree.of_base[code.index()] as usize])
        };
        let prefix = |codes: &&[Code]| {
            settled.iter().fold(K::of_code(0), |key, &a| {
                key.shifted_left(trees[a].widths[levels[a] as usize]).or(K::of_code(label(a, codes[a])))
            })
        };
        let mut prefixes: Vec<K> = changed.combinations.iter().map(prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        let n_open_bits: u32 = open.iter().map(|&a| trees[a].widths[levels[a] as usize]).sum();
        let mut kept = Vec::new();
        let mut next = 0;
        for (row, group) in rows.words.chunks_exact(R::stride::<K>(self.ground)).zip(0..) {
            let prefix = K::read(row).shifted_right(n_open_bits);
            while next < prefixes.len() && prefixes[next] < prefix {
                next += 1;
            }
            match prefixes.get(next) {
                Some(found) if *found == prefix => kept.push(group),
                Some(_) => {}
                None => break,
            }
        }
        Cow::Owned(R::only::<K>(self.ground, rows, &kept))
    }

    /// The greatest level of an attribute that is wanted with the levels of those before.
    fn greatest(&self, depth: usize, levels: &[u8]) -> Option<u8> {
        match &self.chosen {
            Some(chosen) => chosen.greatest(self.order, depth, levels),
            None => Some(self.schemes.tops()[self.order[depth]]),
        }
    }

    /// Takes note of a scheme that is made; an error where the work is to end there.
    fn record<R: Roller<'g>>(
        &self,
        levels: &[u8],
        groups: R::Groups,
        n_source_groups: u64,
        workspace: &mut Workspace<R>,
        made: &mut Vec<MadeScheme<R::Groups>>,
    ) -> Result<()> {
        let Some(place) = self.schemes.find_levels(levels) else { return Ok(()) };
        let n_bytes_of_work = workspace.work.n_bytes();
        let n_new = groups.n_bytes() + n_bytes_of_work.saturating_sub(workspace.n_bytes);
        workspace.n_bytes = workspace.n_bytes.max(n_bytes_of_work);
        self.reserve(n_new as u64)?;
        made.push(MadeScheme { place, thread: workspace.thread, groups, n_source_groups });
        (self.task.progress)(1);
        self.task.go_on()
    }

    /// Takes note of memory that is needed from now on, and refuses what is too much.
    fn reserve(&self, n_new: u64) -> Result<()> {
        let n_bytes = self.n_bytes.fetch_add(n_new, Ordering::Relaxed) + n_new;
        match n_bytes > self.task.n_bytes_max {
            true => Err(too_large(self.order.len(), self.schemes.len() as u64, n_bytes, self.task)),
            false => Ok(()),
        }
    }
}

/// How many times the finest rows are in memory at once, in one form or another, beside what has shrunk already.
const N_ROW_BUFFERS: u64 = 4;
