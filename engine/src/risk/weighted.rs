//! What a sample says of the risk of single records and of households: Benedetti and Franconi's individual risk.

use crate::risk::Alike;

/// The risk of all records together, each by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Expected {
    /// That of the record that is easiest to find.
    pub highest: f64,
    /// The mean over all records: the share of them that is expected to be found.
    pub average: f64,
    /// Records whose risk is above the threshold.
    pub n_at_risk: u64,
    /// The sum over all records: how many are expected to be found.
    pub n_found: f64,
}

/// The risk of a record of a sample in which `size` records look the same, and in the population about `people` do.
///
/// With p = f/F, the share of those people who are in the sample, F given f is taken to be negative binomial, and the
/// risk is the mean of 1/F:
///
/// r = Σ_{h ≥ f} 1/h · C(h−1, f−1) · p^f · (1−p)^(h−f) = p · ∫₀¹ u^(f−1) / (p + (1−p)·u) du.
///
/// For f = 1 that is p/(1−p) · ln(1/p), for f = 2 it is p/(1−p) − (p/(1−p))² · ln(1/p). (Benedetti and Franconi,
/// "Statistical and technological solutions for controlled data dissemination", NTTS 1998; Franconi and Polettini,
/// "Individual risk estimation in μ-Argus: a review", PSD 2004.) It is exact for every f, where sdcMicro takes
/// p/(f − (1−p)) from three records on, which is up to 3.5 % more.
pub fn individual_risk(size: u64, people: f64) -> f64 {
    let f = size as f64;
    let p = f / people.max(f);
    let q = 1.0 - p;
    // The integral I_f by I_1 = ln(1/p)/q and I_(f+1) = (1/f − p·I_f)/q: errors shrink with every step while p < q.
    const N_STEPS_MAX: u64 = 40;
    if p < 0.5 && size <= N_STEPS_MAX {
        let mut integral = -p.ln() / q;
        (1..size).for_each(|step| integral = (1.0 / step as f64 - p * integral) / q);
        return p * integral;
    }
    // Else as p/f · ₂F₁(1, 1; f+1; q), of which each term is at most half of the one before, or f is large.
    let (mut sum, mut term, mut n) = (1.0, 1.0, 1.0);
    while term > f64::EPSILON * sum {
        term *= n * q / (f + n);
        sum += term;
        n += 1.0;
    }
    p / f * sum
}

/// The risk of each record of a group, by what is known of the population.
pub fn risk_of(size: u64, people: Alike) -> f64 {
    match people {
        Alike::Estimated(people) => individual_risk(size, people),
        // How many there are is known, or they are all in the table.
        Alike::Unknown | Alike::Counted(_) => 1.0 / people.at_least(size),
    }
}

/// The risk of all records, from their groups: how many of them are alike, and the risk of each.
pub fn expected(groups: impl Iterator<Item = (u64, f64)>, threshold: f64) -> Expected {
    let mut found = Expected { highest: 0.0, average: 0.0, n_at_risk: 0, n_found: 0.0 };
    let mut n_records = 0;
    for (size, risk) in groups {
        found.highest = found.highest.max(risk);
        found.n_at_risk += if risk > threshold { size } else { 0 };
        found.n_found += size as f64 * risk;
        n_records += size;
    }
    found.average = found.n_found / n_records.max(1) as f64;
    found
}

/// By household, how many members it has and the risk that any of them is found: 1 − Π (1 − r). Who finds one of them
/// has found the household.
///
/// A member is the number of a household below `n_households` and the risk of the record.
pub fn household_risks(mut members: Vec<(u32, f64)>, n_households: usize) -> Vec<(u64, f64)> {
    // In one order, so that sums are the same whatever came first.
    members.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut households = vec![(0, 0.0); n_households];
    for (household, risk) in members {
        let (n_members, log_unfound): &mut (u64, f64) = &mut households[household as usize];
        *n_members += 1;
        *log_unfound += (-risk).ln_1p();
    }
    households.iter_mut().for_each(|(_, log)| *log = -log.exp_m1());
    households
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, term by term.
    fn by_definition(size: u64, people: f64) -> f64 {
        let (f, p) = (size as f64, size as f64 / people);
        let (mut probability, mut sum, mut h) = (p.powf(f), 0.0, f);
        while probability > 1e-300 && (h < 10.0 * people || probability / h > 1e-18) {
            sum += probability / h;
            probability *= h / (h + 1.0 - f) * (1.0 - p);
            h += 1.0;
        }
        sum
    }

    /// Simpson's rule over the integral.
    fn by_quadrature(size: u64, people: f64) -> f64 {
        let p = size as f64 / people;
        let of = |u: f64| u.powf(size as f64 - 1.0) / (p + (1.0 - p) * u);
        // Near 0 the integrand is steep where p is small: u = v⁴ gives that part its room.
        let of = |v: f64| of(v.powi(4)) * 4.0 * v.powi(3);
        const N: usize = 200_000;
        let weight = |i: usize| if i == 0 || i == N { 1.0 } else { [2.0, 4.0][i % 2] };
        p * (0..=N).map(|i| weight(i) * of(i as f64 / N as f64)).sum::<f64>() / (3.0 * N as f64)
    }

    #[test]
    fn as_sdcmicro_and_mu_argus_have_it() {
        let known = [(1, 215.0, 0.02509644), (2, 360.0, 0.00542452), (2, 152.0, 0.01256342), (1, 186.0, 0.02824728)];
        for (size, people, risk) in known {
            // The published digits are cut off or rounded.
            assert!((individual_risk(size, people) - risk).abs() < 1e-8, "{size} of {people}");
        }
    }

    #[test]
    fn every_size_is_the_mean_of_one_over_the_people() {
        for size in [1, 2, 3, 4, 5, 8, 13, 39, 40, 41, 42, 60, 200] {
            for share in [0.001, 0.02, 0.3, 0.49, 0.499_999, 0.5, 0.51, 0.8, 0.99, 0.999_999] {
                let people = size as f64 / share;
                let risk = individual_risk(size, people);
                let (defined, integrated) = (by_definition(size, people), by_quadrature(size, people));
                // What starts as p^f in the definition is nothing where both are extreme.
                if share.powf(size as f64) > 1e-290 {
                    assert!((risk / defined - 1.0).abs() < 1e-10, "{size}, {share}: {risk} {defined}");
                }
                assert!((risk / integrated - 1.0).abs() < 1e-8, "{size}, {share}: {risk} {integrated}");
            }
        }
    }

    #[test]
    fn who_is_all_there_is_found_as_in_the_table() {
        for size in [1, 2, 3, 50] {
            for people in [0.0, 0.5, size as f64] {
                assert_eq!(individual_risk(size, people), 1.0 / size as f64);
            }
            assert_eq!(risk_of(size, Alike::Unknown), 1.0 / size as f64);
            assert_eq!(risk_of(size, Alike::Counted(size + 3)), 1.0 / (size + 3) as f64);
            assert_eq!(risk_of(size, Alike::Estimated(90.0)), individual_risk(size, 90.0));
        }
        // More people never make more risk, nor do more records that look the same among as many people.
        for size in 1..60 {
            for people in [60.0, 90.0, 1e4, 1e9] {
                assert!(individual_risk(size, people * 1.1) < individual_risk(size, people));
                assert!(individual_risk(size, people) > 1.0 / people);
            }
        }
    }

    #[test]
    fn households_by_hand() {
        let members = vec![(0, 0.5), (2, 0.25), (0, 0.5), (1, 1.0), (1, 0.1)];
        let households = household_risks(members, 3);
        let near = |found: (u64, f64), wanted: (u64, f64)| {
            assert!(found.0 == wanted.0 && (found.1 - wanted.1).abs() < 1e-15, "{found:?} {wanted:?}");
        };
        near(households[0], (2, 0.75));
        near(households[1], (2, 1.0));
        near(households[2], (1, 0.25));
        let found = expected(households.into_iter(), 0.5);
        assert!((found.n_found - (2.0 * 0.75 + 2.0 + 0.25)).abs() < 1e-14);
        assert_eq!((found.n_at_risk, found.highest), (4, 1.0));
        assert_eq!(expected(std::iter::empty(), 0.5).average, 0.0);
    }
}
