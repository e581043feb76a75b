//! The profiles of a lattice: in memory, or read when they are first asked for.
//!
//! A saved lattice is opened by reading what every request needs; its profiles, which are nearly all of it, are read
//! one by one, and few of them as a rule.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result, Step, Wording};
use crate::lattice::profile::{Entry, Profile};

/// A place that bytes can be read from: a file, or memory.
pub trait ReadAt: Send + Sync {
    /// The bytes from `start` on; fewer than asked for are an error.
    ///
    /// # Errors
    /// Where there are fewer bytes, or they cannot be read.
    fn read(&self, start: u64, n_bytes: usize) -> Result<Vec<u8>>;
}

/// The error for bytes that are not those that were written.
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(ErrorKind::Data, format!("is damaged: its {what} is not what was written"))
        .hint(Wording::text("write it again with: ").step(Step::Annotate { over: true }))
}

/// By place, the profiles of all schemes.
#[derive(Clone, Debug)]
pub(crate) enum Profiles {
    InMemory(Vec<Profile>),
    Lazy(Arc<LazyProfiles>),
}

/// Profiles that are read when they are first asked for.
#[derive(Clone)]
pub(crate) struct LazyProfiles {
    storage: Arc<dyn ReadAt>,
    start: u64,
    index: Vec<Slot>,
    n_signatures: usize,
    has_entropies: bool,
    read: Vec<OnceLock<Profile>>,
    /// The first thing that went wrong. From then on nothing that was read can be relied on.
    failure: OnceLock<Error>,
}

/// Where a profile is, from the first one on, how many entries it has, and the checksum of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) start: u64,
    pub(crate) n_entries: u32,
    pub(crate) checksum: u32,
}

impl LazyProfiles {
    pub(crate) fn new(
        storage: Arc<dyn ReadAt>,
        start: u64,
        index: Vec<Slot>,
        n_signatures: usize,
        has_entropies: bool,
    ) -> LazyProfiles {
        let read = index.iter().map(|_| OnceLock::new()).collect();
        LazyProfiles { storage, start, index, n_signatures, has_entropies, read, failure: OnceLock::new() }
    }

    fn fetch(&self, place: usize) -> Result<Profile> {
        let slot = self.index[place];
        let n_bytes = slot.n_entries as usize * n_bytes_of_entry(self.has_entropies);
        let bytes = self.storage.read(self.start + slot.start, n_bytes)?;
        let profile = (crc32fast::hash(&bytes) == slot.checksum).then(|| decoded(&bytes, self.has_entropies));
        let is_known = |entry: &Entry| (entry.signature as usize) < self.n_signatures;
        profile.filter(|profile| profile.entries().iter().all(is_known)).ok_or_else(|| damaged("profile of a scheme"))
    }
}

impl fmt::Debug for LazyProfiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} profiles that are read when asked for", self.index.len())
    }
}

impl Profiles {
    pub(crate) fn len(&self) -> usize {
        match self {
            Profiles::InMemory(profiles) => profiles.len(),
            Profiles::Lazy(lazy) => lazy.index.len(),
        }
    }

    /// A scheme's profile; an empty one where it could not be read, which [`Profiles::intact`] tells.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> &Profile {
        match self {
            Profiles::InMemory(profiles) => &profiles[place],
            Profiles::Lazy(lazy) => lazy.read[place].get_or_init(|| {
                lazy.fetch(place).unwrap_or_else(|error| {
                    let _ = lazy.failure.set(error);
                    Profile::default()
                })
            }),
        }
    }

    /// Makes room for the profile of one scheme more.
    pub(crate) fn insert(&mut self, place: usize, profile: Profile) {
        match self {
            Profiles::InMemory(profiles) => profiles.insert(place, profile),
            Profiles::Lazy(lazy) => {
                let lazy = Arc::make_mut(lazy);
                // It is there, so that nobody will look for it where the others are.
                lazy.index.insert(place, Slot { start: 0, n_entries: 0, checksum: 0 });
                lazy.read.insert(place, OnceLock::from(profile));
            }
        }
    }

    /// Refuses profiles of which one could not be read.
    pub(crate) fn intact(&self) -> Result<()> {
        match self {
            Profiles::Lazy(lazy) => lazy.failure.get().map_or(Ok(()), |error| Err(error.clone())),
            Profiles::InMemory(_) => Ok(()),
        }
    }

    /// The bytes that they take in memory.
    pub(crate) fn n_bytes(&self) -> usize {
        let at_hand = |profile: &Profile| profile.n_bytes() + size_of::<Profile>();
        match self {
            Profiles::InMemory(profiles) => profiles.iter().map(at_hand).sum(),
            Profiles::Lazy(lazy) => lazy.read.iter().filter_map(OnceLock::get).map(at_hand).sum(),
        }
    }
}

fn n_bytes_of_entry(has_entropies: bool) -> usize {
    if has_entropies { 24 } else { 16 }
}

/// A profile as bytes: signature, groups and loss of every entry, and its entropy where that was asked for.
pub(crate) fn encode(profile: &Profile, has_entropies: bool, into: &mut Vec<u8>) {
    for (i, entry) in profile.entries().iter().enumerate() {
        into.extend_from_slice(&entry.signature.to_le_bytes());
        into.extend_from_slice(&entry.n_groups.to_le_bytes());
        into.extend_from_slice(&entry.loss.to_le_bytes());
        if has_entropies {
            into.extend_from_slice(&profile.entropy(i).to_le_bytes());
        }
    }
}

fn decoded(bytes: &[u8], has_entropies: bool) -> Profile {
    let narrow = |bytes: &[u8]| u32::from_le_bytes(bytes[..4].try_into().expect("four bytes"));
    let wide = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    let rows = || bytes.chunks_exact(n_bytes_of_entry(has_entropies));
    let entry = |row: &[u8]| Entry { signature: narrow(row), n_groups: narrow(&row[4..]), loss: wide(&row[8..]) };
    let entropies = if has_entropies { rows().map(|row| wide(&row[16..])).collect() } else { Vec::new() };
    Profile::provisional(rows().map(entry).collect(), entropies)
}
