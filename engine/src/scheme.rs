//! A scheme says how coarse every quasi-identifier is; all schemes together form the lattice.

use std::fmt;

use crate::error::{Error, ErrorKind, Result, Step};
use crate::hierarchy::Hierarchy;

/// How far one attribute is generalized: 0 is the value itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(pub u8);

/// One level per quasi-identifier, in the project's order of attributes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scheme(Vec<Level>);

impl Scheme {
    /// A scheme of one level per quasi-identifier, in order.
    pub fn new(levels: Vec<Level>) -> Scheme {
        Scheme(levels)
    }

    /// One level per quasi-identifier, in order.
    pub fn levels(&self) -> &[Level] {
        &self.0
    }

    /// The level of one quasi-identifier.
    pub fn level(&self, attribute: usize) -> usize {
        self.0[attribute].0 as usize
    }

    /// Refuses what is no scheme over these hierarchies.
    ///
    /// # Errors
    /// Where there are more or fewer levels than hierarchies, or where a level is beyond the top.
    pub fn check(&self, hierarchies: &[Hierarchy]) -> Result<()> {
        let wrong = |message: String| Err(Error::new(ErrorKind::Request, message));
        if self.0.len() != hierarchies.len() {
            return wrong(format!("{} levels are given for {} quasi-identifiers", self.0.len(), hierarchies.len()));
        }
        match hierarchies.iter().zip(&self.0).find(|(hierarchy, level)| usize::from(level.0) > hierarchy.top()) {
            None => Ok(()),
            Some((hierarchy, level)) => {
                let (name, top) = (hierarchy.attribute(), hierarchy.top());
                let error = wrong(format!("attribute '{name}' has levels 0 to {top}, not {}", level.0));
                error.map_err(|error| error.hint(Step::ShowLevels(name.to_string())))
            }
        }
    }

    /// The sum of the levels.
    pub fn height(&self) -> u32 {
        self.0.iter().map(|level| u32::from(level.0)).sum()
    }

    /// Whether no attribute is coarser here than there.
    pub fn is_below(&self, other: &Scheme) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a <= b)
    }

    /// The same scheme with one attribute at another level.
    pub fn with(&self, attribute: usize, level: Level) -> Scheme {
        let mut scheme = self.clone();
        scheme.0[attribute] = level;
        scheme
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits: Vec<String> = self.0.iter().map(|level| level.0.to_string()).collect();
        let separator = if digits.iter().all(|digit| digit.len() == 1) { "" } else { "." };
        f.write_str(&digits.join(separator))
    }
}

/// Schemes over some hierarchies, all or some, numbered by height and, within a height, by their level vectors.
#[derive(Clone, Debug)]
pub struct Schemes {
    tops: Vec<u8>,
    /// The level vectors, one after the other, in order.
    levels: Vec<u8>,
    /// Where each height begins; one more entry than there are heights.
    starts: Vec<u32>,
    /// From the number that the level vector spells in mixed radix to the place in the order; empty where only some
    /// schemes are there.
    places: Vec<u32>,
}

/// How many schemes there are over some hierarchies; none where the number is beyond counting.
pub fn n_schemes(hierarchies: &[Hierarchy]) -> Option<u64> {
    hierarchies.iter().try_fold(1u64, |n, hierarchy| n.checked_mul(hierarchy.n_levels() as u64))
}

impl Schemes {
    /// Enumerates all schemes, of which there are few enough for memory.
    ///
    /// # Errors
    /// Where there are more schemes, or levels, than can be numbered.
    pub fn new(hierarchies: &[Hierarchy]) -> Result<Schemes> {
        let tops = tops_of(hierarchies)?;
        let n_schemes = n_schemes(hierarchies).and_then(|n| usize::try_from(n).ok());
        Ok(Schemes::of_tops(tops, n_schemes.expect("the caller has seen to the size")))
    }

    fn of_tops(tops: Vec<u8>, n_schemes: usize) -> Schemes {
        let n_heights = tops.iter().map(|&top| top as usize).sum::<usize>() + 1;
        // Counting sort by height of the numbers 0..n, which are in the order of the level vectors.
        let mut starts = vec![0u32; n_heights + 1];
        let mut vector = vec![0u8; tops.len()];
        for _ in 0..n_schemes {
            starts[height_of(&vector) + 1] += 1;
            advance(&mut vector, &tops);
        }
        for height in 0..n_heights {
            starts[height + 1] += starts[height];
        }
        let mut next = starts.clone();
        let mut places = vec![0u32; n_schemes];
        let mut levels = vec![0u8; n_schemes * tops.len()];
        // Past the last one, the vector is all zeros again.
        for place in &mut places {
            let slot = &mut next[height_of(&vector)];
            *place = *slot;
            *slot += 1;
            let start = *place as usize * tops.len();
            levels[start..start + tops.len()].copy_from_slice(&vector);
            advance(&mut vector, &tops);
        }
        Schemes { tops, levels, starts, places }
    }

    /// Some of the schemes that these level vectors are among, in any order.
    pub(crate) fn some(tops: Vec<u8>, mut vectors: Vec<Box<[u8]>>) -> Schemes {
        vectors.sort_unstable_by(|a, b| (height_of(a), a).cmp(&(height_of(b), b)));
        vectors.dedup();
        let n_heights = tops.iter().map(|&top| top as usize).sum::<usize>() + 1;
        let starts = (0..=n_heights).map(|height| vectors.partition_point(|vector| height_of(vector) < height) as u32);
        Schemes { starts: starts.collect(), levels: vectors.concat(), tops, places: Vec::new() }
    }

    /// Adds a scheme that is not there, and says where.
    pub(crate) fn insert(&mut self, levels: &[u8]) -> usize {
        let place = self.search(levels).expect_err("it is not there");
        let start = place * self.tops.len();
        self.levels.splice(start..start, levels.iter().copied());
        self.starts[height_of(levels) + 1..].iter_mut().for_each(|start| *start += 1);
        place
    }

    /// Whether these are all schemes that there are.
    pub fn is_complete(&self) -> bool {
        !self.places.is_empty()
    }

    /// How many schemes there are.
    pub fn len(&self) -> usize {
        self.levels.len() / self.tops.len().max(1)
    }

    /// Whether there is no scheme.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many levels a scheme has.
    pub fn n_attributes(&self) -> usize {
        self.tops.len()
    }

    /// The greatest level of each attribute.
    pub fn tops(&self) -> &[u8] {
        &self.tops
    }

    /// How many different heights there are, from 0 on.
    pub fn n_heights(&self) -> usize {
        self.starts.len() - 1
    }

    /// The places of the schemes of one height.
    pub fn at_height(&self, height: usize) -> std::ops::Range<usize> {
        self.starts[height] as usize..self.starts[height + 1] as usize
    }

    /// The level vector at a place.
    pub fn vector(&self, place: usize) -> &[u8] {
        let n = self.tops.len();
        &self.levels[place * n..(place + 1) * n]
    }

    /// The scheme at a place.
    pub fn scheme(&self, place: usize) -> Scheme {
        Scheme(self.vector(place).iter().map(|&level| Level(level)).collect())
    }

    /// Where a scheme stands in the order; it is one of these.
    ///
    /// # Panics
    /// Where it is not: [`Schemes::find`] says so.
    pub fn place(&self, scheme: &Scheme) -> usize {
        self.find(scheme).expect("one of the schemes")
    }

    /// Where a scheme stands in the order, if it is one of these.
    pub fn find(&self, scheme: &Scheme) -> Option<usize> {
        let levels: Vec<u8> = scheme.0.iter().map(|level| level.0).collect();
        self.find_levels(&levels)
    }

    #[inline]
    pub(crate) fn find_levels(&self, levels: &[u8]) -> Option<usize> {
        if !self.is_complete() {
            let is_possible = levels.len() == self.tops.len() && height_of(levels) < self.n_heights();
            return if is_possible { self.search(levels).ok() } else { None };
        }
        if levels.len() != self.tops.len() || levels.iter().zip(&self.tops).any(|(level, top)| level > top) {
            return None;
        }
        let digits = levels.iter().zip(&self.tops);
        let number = digits.fold(0, |number, (&level, &top)| number * (top as usize + 1) + level as usize);
        Some(self.places[number] as usize)
    }

    /// Where a level vector is, or where it would be.
    fn search(&self, levels: &[u8]) -> std::result::Result<usize, usize> {
        let std::ops::Range { start: mut low, end: mut high } = self.at_height(height_of(levels));
        while low < high {
            let middle = low.midpoint(high);
            match self.vector(middle).cmp(levels) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// The schemes just below a place that are there: one attribute one level finer.
    pub fn finer(&self, place: usize) -> impl Iterator<Item = (usize, usize)> {
        let vector = self.vector(place);
        (0..vector.len()).filter(|&a| vector[a] > 0).filter_map(move |attribute| {
            let mut levels = vector.to_vec();
            levels[attribute] -= 1;
            Some((attribute, self.find_levels(&levels)?))
        })
    }
}

/// The greatest level of each attribute.
pub(crate) fn tops_of(hierarchies: &[Hierarchy]) -> Result<Vec<u8>> {
    let top_of = |hierarchy: &Hierarchy| {
        u8::try_from(hierarchy.top()).map_err(|_| {
            Error::new(ErrorKind::Hierarchy, format!("attribute '{}' has more than 255 levels", hierarchy.attribute()))
        })
    };
    hierarchies.iter().map(top_of).collect()
}

/// The next level vector in order; all zeros after the last.
pub(crate) fn advance(vector: &mut [u8], tops: &[u8]) {
    for (level, &top) in vector.iter_mut().zip(tops).rev() {
        if *level < top {
            *level += 1;
            return;
        }
        *level = 0;
    }
}

pub(crate) fn height_of(vector: &[u8]) -> usize {
    vector.iter().map(|&level| level as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_in_order_of_height_then_vector() {
        let schemes = Schemes::of_tops(vec![2, 0, 1], 6);
        let all: Vec<String> = (0..schemes.len()).map(|place| schemes.scheme(place).to_string()).collect();
        assert_eq!(all, ["000", "001", "100", "101", "200", "201"]);
        for place in 0..schemes.len() {
            assert_eq!(schemes.place(&schemes.scheme(place)), place);
            let height = schemes.scheme(place).height() as usize;
            assert!(schemes.at_height(height).contains(&place));
            for (attribute, finer) in schemes.finer(place) {
                let (finer, coarser) = (schemes.scheme(finer), schemes.scheme(place));
                assert!(finer.is_below(&coarser) && !coarser.is_below(&finer));
                assert_eq!(finer.level(attribute) + 1, coarser.level(attribute));
            }
        }
    }

    #[test]
    fn some_schemes_are_in_the_same_order() {
        let vectors = [[2, 0, 1], [0, 0, 0], [1, 0, 1], [2, 0, 0]].map(Box::<[u8]>::from).to_vec();
        let mut some = Schemes::some(vec![2, 0, 1], vectors);
        let place = some.insert(&[1, 0, 0]);
        let all: Vec<String> = (0..some.len()).map(|place| some.scheme(place).to_string()).collect();
        assert_eq!((all, place), (["000", "100", "101", "200", "201"].map(String::from).to_vec(), 1));
        assert!(!some.is_complete());
        for place in 0..some.len() {
            assert_eq!(some.find(&some.scheme(place)), Some(place));
            assert!(some.at_height(some.scheme(place).height() as usize).contains(&place));
        }
        assert_eq!(some.find_levels(&[0, 0, 1]), None);
        assert_eq!(some.finer(4).collect::<Vec<_>>(), [(0, 2), (2, 3)]);
    }
}
