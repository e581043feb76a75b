//! Symmetric systems of equations, with columns left out that say nothing new.

/// The inverse of a symmetric matrix that is nowhere negative, row by row. Columns that depend on those before them are
/// left out: they have no row.
pub(crate) fn inverse(matrix: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
    let used = independent(matrix);
    let n = used.len();
    // Gauss and Jordan, without exchanges: the matrix of what is left is positive.
    let mut left: Vec<Vec<f64>> = used.iter().map(|&i| used.iter().map(|&j| matrix[i][j]).collect()).collect();
    let mut right: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    for pivot in 0..n {
        let by = left[pivot][pivot];
        left[pivot].iter_mut().chain(&mut right[pivot]).for_each(|value| *value /= by);
        let (left_pivot, right_pivot) = (left[pivot].clone(), right[pivot].clone());
        for row in (0..n).filter(|&row| row != pivot) {
            let factor = left[row][pivot];
            left[row].iter_mut().zip(&left_pivot).for_each(|(value, other)| *value -= factor * other);
            right[row].iter_mut().zip(&right_pivot).for_each(|(value, other)| *value -= factor * other);
        }
    }
    let mut rows = vec![None; matrix.len()];
    for (row, &i) in right.into_iter().zip(&used) {
        let mut whole = vec![0.0; matrix.len()];
        row.into_iter().zip(&used).for_each(|(value, &j)| whole[j] = value);
        rows[i] = Some(whole);
    }
    rows
}

/// The columns that do not depend on those before them: what is left of their square is more than rounding.
fn independent(matrix: &[Vec<f64>]) -> Vec<usize> {
    const TINY: f64 = 1e-9;
    let mut left = matrix.to_vec();
    let mut used = Vec::new();
    for column in 0..matrix.len() {
        let square = left[column][column];
        if square.is_nan() || square <= TINY * matrix[column][column].max(f64::MIN_POSITIVE) {
            continue;
        }
        used.push(column);
        let pivot = left[column].clone();
        for row in &mut left[column + 1..] {
            let factor = row[column] / square;
            row.iter_mut().zip(&pivot).for_each(|(value, other)| *value -= factor * other);
        }
    }
    used
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_depends_on_others_is_left_out_and_the_rest_is_inverted() {
        // The third column is the sum of the first two.
        let matrix = vec![vec![4.0, 1.0, 5.0], vec![1.0, 3.0, 4.0], vec![5.0, 4.0, 9.0]];
        let inverse = inverse(&matrix);
        assert!(inverse[2].is_none());
        let expected = [[3.0 / 11.0, -1.0 / 11.0, 0.0], [-1.0 / 11.0, 4.0 / 11.0, 0.0]];
        for (row, expected) in inverse.iter().zip(expected) {
            let row = row.as_ref().expect("it is independent");
            assert!(row.iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-12), "{row:?}");
        }
    }
}
