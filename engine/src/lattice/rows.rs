//! The groups of one scheme, in the form that coarser schemes are made from.

/// The groups of a scheme, and where people are counted, who is in several of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// As many words for each group, in the order of their keys, which come first.
    pub(crate) words: Vec<u64>,
    /// What is too long for a row; the row says where it is.
    pub(crate) cells: Vec<u64>,
    /// Everybody who is in several groups, see [`crate::lattice::drifters`].
    pub(crate) drifters: Vec<u64>,
}

impl Rows {
    pub(crate) fn of_words(words: Vec<u64>) -> Rows {
        Rows { words, ..Rows::default() }
    }

    /// The same with these groups only, which increase; whoever is in others is no longer there.
    pub(crate) fn only(&self, stride: usize, groups: &[u32]) -> Rows {
        let mut words = Vec::with_capacity(groups.len() * stride);
        groups.iter().for_each(|group| words.extend_from_slice(&self.words[*group as usize * stride..][..stride]));
        let mut drifters = Vec::new();
        let mut rest = &self.drifters[..];
        while let [n, others @ ..] = rest {
            let (places, others) = others.split_at(2 * *n as usize);
            rest = others;
            let first = drifters.len();
            drifters.push(0);
            for place in places.chunks_exact(2) {
                if let Ok(new) = groups.binary_search(&(place[0] as u32)) {
                    drifters.extend([new as u64, place[1]]);
                }
            }
            match (drifters.len() - first) / 2 {
                0 | 1 => drifters.truncate(first),
                n => drifters[first] = n as u64,
            }
        }
        Rows { words, cells: self.cells.clone(), drifters }
    }

    pub(crate) fn n_bytes(&self) -> u64 {
        (size_of_val(&self.words[..]) + size_of_val(&self.cells[..]) + size_of_val(&self.drifters[..])) as u64
    }
}
