//! How alike two texts are: the similarity of Jaro (1989), from 0 to 1.

/// The mean of three shares: of the characters of one text that are found in the other not too far away, the same the
/// other way round, and of these the ones that stand in the same order.
pub fn jaro(a: &str, b: &str) -> f64 {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.is_empty() || b.is_empty() {
        return if a.len() == b.len() { 1.0 } else { 0.0 };
    }
    let reach = (a.len().max(b.len()) / 2).saturating_sub(1);
    let mut is_taken = vec![false; b.len()];
    let mut of_a = Vec::new();
    for (i, letter) in a.iter().enumerate() {
        let mut near = i.saturating_sub(reach)..b.len().min(i + reach + 1);
        if let Some(j) = near.find(|&j| !is_taken[j] && b[j] == *letter) {
            is_taken[j] = true;
            of_a.push(letter);
        }
    }
    if of_a.is_empty() {
        return 0.0;
    }
    let of_b = b.iter().zip(&is_taken).filter(|(_, is_taken)| **is_taken).map(|(letter, _)| letter);
    let n_moved = of_a.iter().zip(of_b).filter(|(a, b)| **a != *b).count() / 2;
    let n = of_a.len() as f64;
    (n / a.len() as f64 + n / b.len() as f64 + (n - n_moved as f64) / n) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_the_literature() {
        // Winkler's own examples, to three digits.
        let known = [("MARTHA", "MARHTA", 0.944), ("DWAYNE", "DUANE", 0.822), ("DIXON", "DICKSONX", 0.767)];
        for (a, b, expected) in known {
            assert!((jaro(a, b) - expected).abs() < 5e-4, "{a} {b}: {}", jaro(a, b));
            assert_eq!(jaro(a, b), jaro(b, a));
        }
        assert_eq!([jaro("", ""), jaro("a", ""), jaro("a", "a"), jaro("a", "b")], [1.0, 0.0, 1.0, 0.0]);
    }
}
