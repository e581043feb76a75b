//! The records that every scheme would suppress at some values of a criterion, looked up instead of counted.

use rayon::prelude::*;

use crate::criterion::{Criteria, Criterion, Measured, NEVER};
use crate::error::Result;
use crate::lattice::profile::Profile;
use crate::scheme::Schemes;
use crate::task::Task;

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
pub(super) const N_IN_BLOCK: usize = 64;

/// Below this, where a count stands among the values of a grid is looked up.
const N_SMALL: u64 = 1_024;

fn blocks_of(column: &[u64]) -> Vec<u64> {
    column.chunks(N_IN_BLOCK).map(|block| block.iter().copied().min().unwrap_or(0)).collect()
}

/// The columns just below and just above a value; the same one where the grid has the value.
#[derive(Clone, Copy)]
pub(super) struct GridColumns<'a> {
    pub(super) below: &'a [u64],
    pub(super) above: &'a [u64],
    pub(super) floors: &'a [u64],
    pub(super) blocks: &'a [u64],
}

impl Grid {
    pub(crate) fn new(values: Vec<u64>, floors: Vec<Vec<u64>>, columns: Vec<Vec<u64>>, greatest: u64) -> Grid {
        Grid { blocks: columns.iter().map(|column| blocks_of(column)).collect(), values, columns, floors, greatest }
    }

    /// The values at which columns are kept, increasing.
    fn values(signatures: &Measured, column: usize, greatest: u64, n_schemes: usize) -> Vec<u64> {
        let measure = signatures.measures()[column];
        let mut values = if measure.is_count() {
            // Every small value, then steps of a quarter; of a half in large lattices.
            let (n_dense, step) = if n_schemes <= 20_000 { (32, 4) } else { (8, 2) };
            let next = |&value: &u64| Some(value + if value < n_dense { 1 } else { (value / step).max(1) });
            std::iter::successors(Some(1), next).take_while(|&value| value <= greatest).collect::<Vec<u64>>()
        } else {
            // Values that part the signatures evenly; a sample of them is enough.
            let stride = (signatures.len() / 4096).max(1);
            let mut sample: Vec<u64> =
                (0..signatures.len()).step_by(stride).map(|signature| signatures.of(signature)[column]).collect();
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
    pub(crate) fn all(
        signatures: &Measured,
        schemes: &Schemes,
        profiles: &[Profile],
        task: &Task,
    ) -> Result<Vec<Grid>> {
        let n_measures = signatures.measures().len();
        let greatest = |column: usize| {
            let finite =
                (0..signatures.len()).map(|signature| signatures.of(signature)[column]).filter(|&value| value < NEVER);
            finite.max().unwrap_or(0)
        };
        let greatest: Vec<u64> = (0..n_measures).map(greatest).collect();
        let values: Vec<Vec<u64>> =
            (0..n_measures).map(|column| Grid::values(signatures, column, greatest[column], schemes.len())).collect();
        // For every signature and measure the first value that it fails, or for "at most" the first that it satisfies.
        let place = |column: usize, measured: u64| {
            let is_at_least = signatures.measures()[column].is_at_least();
            let passes = |&value: &u64| if is_at_least { value <= measured } else { value < measured };
            values[column].partition_point(passes) as u16
        };
        // Small counts are most of what there is.
        let n_small = |column: usize| if signatures.measures()[column].is_count() { N_SMALL } else { 0 };
        let small: Vec<Vec<u16>> =
            (0..n_measures).map(|column| (0..n_small(column)).map(|n| place(column, n)).collect()).collect();
        task.go_on()?;
        let mut places: Vec<u16> = Vec::with_capacity(signatures.len() * n_measures);
        for signature in 0..signatures.len() {
            for (column, &measured) in signatures.of(signature).iter().enumerate() {
                let known = usize::try_from(measured).ok().and_then(|n| small[column].get(n));
                places.push(known.copied().unwrap_or_else(|| place(column, measured)));
            }
        }
        task.go_on()?;
        let starts: Vec<usize> = values
            .iter()
            .scan(0, |start, values| {
                *start += values.len() + 1;
                Some(*start - values.len() - 1)
            })
            .collect();
        let n_values: usize = values.iter().map(|values| values.len() + 1).sum();
        // Side by side, since that is what is read most.
        let sizes: Vec<u64> = (0..signatures.len()).map(|signature| signatures.n_records(signature)).collect();
        let rows: Vec<Vec<u64>> = profiles
            .par_iter()
            .enumerate()
            .map(|(place, profile)| {
                task.go_on_now_and_then(place, N_IN_BLOCK)?;
                let mut row = vec![0; n_values];
                for entry in profile.entries() {
                    let n_records = sizes[entry.signature as usize] * u64::from(entry.n_groups);
                    let places = &places[entry.signature as usize * n_measures..][..n_measures];
                    starts.iter().zip(places).for_each(|(start, place)| row[start + usize::from(*place)] += n_records);
                }
                for ((start, values), measure) in starts.iter().zip(&values).zip(signatures.measures()) {
                    let row = &mut row[*start..][..values.len() + 1];
                    if measure.is_at_least() {
                        (1..row.len()).for_each(|i| row[i] += row[i - 1]);
                    } else {
                        // Suppressed at a value is what satisfies only greater ones.
                        let mut n_failing = 0;
                        row.iter_mut().rev().for_each(|n| n_failing += std::mem::replace(n, n_failing));
                    }
                }
                Ok(row)
            })
            .collect::<Result<_>>()?;
        let grid = |((values, start), greatest): ((Vec<u64>, usize), u64)| {
            let column = |i: usize| -> Vec<u64> { rows.iter().map(|row| row[start + i]).collect() };
            let columns: Vec<Vec<u64>> = (0..values.len()).map(column).collect();
            let floor = |column: &[u64], height| column[schemes.at_height(height)].iter().copied().min().unwrap_or(0);
            let floors_of = |column: &Vec<u64>| (0..schemes.n_heights()).map(|height| floor(column, height)).collect();
            task.go_on()?;
            Ok(Grid::new(values, columns.iter().map(floors_of).collect(), columns, greatest))
        };
        values.clone().into_iter().zip(starts.clone()).zip(greatest).map(grid).collect()
    }

    /// Takes in one scheme more.
    pub(super) fn insert(
        &mut self,
        place: usize,
        height: usize,
        n_records: u64,
        signatures: &Measured,
        column: usize,
        profile: &Profile,
    ) {
        let measure = signatures.measures()[column];
        let finite =
            (0..signatures.len()).map(|signature| signatures.of(signature)[column]).filter(|&value| value < NEVER);
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
            let n_suppressed = profile.n_suppressed(signatures, &signatures.test(&criteria));
            known.insert(place, n_suppressed);
            floors[height] = floors[height].min(n_suppressed);
        }
        self.blocks = self.columns.iter().map(|column| blocks_of(column)).collect();
    }

    /// The column where no more fail than at the criterion, and the one where no fewer do.
    pub(super) fn around(&self, criterion: Criterion) -> GridColumns<'_> {
        let last = self.values.len() - 1;
        let next = self.values.partition_point(|&known| known < criterion.value).min(last);
        let previous = if self.values[next] <= criterion.value { next } else { next.saturating_sub(1) };
        let (below, above) = if criterion.measure.is_at_least() { (previous, next) } else { (next, previous) };
        GridColumns {
            below: &self.columns[below],
            above: &self.columns[above],
            floors: &self.floors[below],
            blocks: &self.blocks[below],
        }
    }

    pub(super) fn n_bytes(&self) -> usize {
        self.columns.iter().map(|column| column.len() * size_of::<u64>()).sum()
    }
}
