//! Verification by definition.

use super::*;

/// What [`verify`] compares a release with.
#[derive(Clone, Debug, Default)]
pub struct NaiveOutside {
    /// By sensitive attribute; none where nothing is known.
    pub references: Option<Vec<NaiveReference>>,
    /// How many people share each group's published values.
    pub population: Option<BTreeMap<Vec<Cell>, u64>>,
}

impl NaiveOutside {
    /// The same, as the engine takes it.
    pub fn outside(&self, sensitive: &[Sensitive]) -> Outside {
        let original = |(reference, sensitive): (&NaiveReference, &Sensitive)| {
            let text = |cell: &Cell| cell.clone().unwrap_or_default();
            // All labels but the last, which is `*` for all.
            let labels = |labels: &Vec<Cell>| labels.iter().rev().skip(1).rev().map(text).collect::<Vec<_>>();
            let of_values = reference.counts.iter().zip(&reference.labels);
            Some(Original::new(
                &sensitive.attribute.name,
                reference.counts.iter().cloned().collect(),
                reference.distance,
                &of_values.map(|((value, _), of_value)| (value.clone(), labels(of_value))).collect(),
            ))
        };
        let references = self.references.iter().flatten();
        Outside {
            originals: references.zip(sensitive).map(original).collect(),
            population: self.population.clone().map(|people| people.into_iter().collect()),
        }
    }
}

/// Judges rows of which the first `n_attributes` cells are quasi-identifiers and the next ones are sensitive.
pub fn verify(
    rows: &[Vec<Cell>],
    n_attributes: usize,
    n_sensitive: usize,
    criteria: &Criteria,
    suppressed_as: SuppressedAs,
    outside: &NaiveOutside,
) -> Verdict {
    let is_marked = |row: &&Vec<Cell>| {
        let is_any = |cell: &Cell| cell.as_deref() == Some("*");
        suppressed_as == SuppressedAs::Absent && n_attributes > 0 && row[..n_attributes].iter().all(is_any)
    };
    let present: Vec<&Vec<Cell>> = rows.iter().filter(|row| !is_marked(row)).collect();
    let mut groups: BTreeMap<&[Cell], Seen> = BTreeMap::new();
    for row in &present {
        let labels = &row[..n_attributes];
        let n_people = || outside.population.as_ref().and_then(|people| people.get(labels)).copied().unwrap_or(0);
        let empty = || Seen { size: 0, population: n_people(), values: vec![Counts::new(); n_sensitive] };
        let seen = groups.entry(labels).or_insert_with(empty);
        seen.size += 1;
        let cells = seen.values.iter_mut().zip(&row[n_attributes..]);
        cells.for_each(|(counts, value)| *counts.entry(value.clone()).or_default() += 1);
    }
    let finding = |criterion: Criterion| {
        let is_judged = match criterion.measure {
            Measure::Population => outside.population.is_some(),
            Measure::Closeness(_) | Measure::Disclosure(_) | Measure::Likeness(_) | Measure::EnhancedLikeness(_) => {
                outside.references.is_some()
            }
            _ => true,
        };
        let references = outside.references.as_deref().unwrap_or(&[]);
        let reached: Vec<(u64, u64)> = groups
            .values()
            .filter(|_| is_judged)
            .map(|seen| (seen.size, measured(seen, criterion.measure, references)))
            .collect();
        let failing = || reached.iter().filter(|(_, value)| !is_met(criterion, *value));
        let values = reached.iter().map(|(_, value)| *value);
        Finding {
            criterion,
            is_judged,
            reached: if is_at_least(criterion.measure) { values.min() } else { values.max() },
            n_groups_failing: failing().count() as u64,
            n_records_failing: failing().map(|(size, _)| size).sum(),
            holds_for_records: None,
        }
    };
    Verdict {
        n_records: present.len() as u64,
        n_absent: (rows.len() - present.len()) as u64,
        n_groups: groups.len() as u64,
        smallest_group: groups.values().map(|seen| seen.size).min(),
        n_squares: groups.values().map(|seen| u128::from(seen.size) * u128::from(seen.size)).sum(),
        fewest_distinct: groups.values().filter_map(|seen| Some(seen.values.first()?.len() as u64)).min(),
        findings: criteria.iter().map(finding).collect(),
    }
}
