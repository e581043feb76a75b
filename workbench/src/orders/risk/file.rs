//! The risk of every record as a table, for the curator alone.

use std::io::{BufWriter, Write};
use std::path::Path;

use incrowd::risk::Alike;
use incrowd::risk::special_uniques::SpecialUniques;
use incrowd::{GroupCounts, Result};

use super::records::PlaceOfRecord;
use crate::output::staged::Staged;
use crate::work::Work;

/// What is known of the records.
pub struct RiskColumns<'a> {
    pub places: &'a [Option<PlaceOfRecord>],
    /// By group.
    pub crowds: &'a [(u64, Alike)],
    pub risk_of_group: &'a [f64],
    /// Where people are counted: the risk of each, and what has the number of records in each group.
    pub of_person: Option<Vec<f64>>,
    pub n_records: Option<&'a GroupCounts>,
    pub of_household: Option<&'a [(u64, f64)]>,
    pub uniques: Option<&'a SpecialUniques>,
}

/// Writes a line per record of the table, in its order; a record that lacks a value and was left out has its number alone.
///
/// # Guarantee
/// The file is there whole or not at all, and nobody but its owner can read it: it says who is easiest to find.
pub fn write(path: &Path, columns: &RiskColumns, replace: bool, work: &Work) -> Result<()> {
    let staged = Staged::create(path)?;
    staged.keep_private()?;
    let mut out = BufWriter::new(staged.file());
    let written = lines(columns, work, |line| writeln!(out, "{line}").map_err(|error| crate::io_error(path, error)));
    written.and_then(|()| out.flush().map_err(|error| crate::io_error(path, error)))?;
    drop(out);
    staged.commit(replace)
}

fn lines(columns: &RiskColumns, work: &Work, mut write: impl FnMut(String) -> Result<()>) -> Result<()> {
    let person = if columns.of_person.is_some() { ",group_records,person_risk" } else { "" };
    let household = if columns.of_household.is_some() { ",household_risk" } else { "" };
    let uniques = if columns.uniques.is_some() { ",n_minimal_sets,suda_score,dis_suda_score" } else { "" };
    write(format!("record,group_size,population,individual_risk{person}{household}{uniques}"))?;
    let nothing = person.matches(',').count() + household.matches(',').count() + uniques.matches(',').count() + 3;
    for (record, place) in columns.places.iter().enumerate() {
        if record % 4096 == 0 {
            work.check()?;
        }
        let cells = place.map_or_else(|| ",".repeat(nothing), |place| format!(",{}", columns.cells(place)));
        write(format!("{}{cells}", record + 1))?;
    }
    Ok(())
}

impl RiskColumns<'_> {
    fn cells(&self, place: PlaceOfRecord) -> String {
        let group = place.group as usize;
        let (size, people) = self.crowds[group];
        let mut cells = format!("{size},{},{}", number(people.at_least(size)), number(self.risk_of_group[group]));
        if let (Some(people), Some(counts)) = (&self.of_person, self.n_records) {
            cells.push_str(&format!(",{},{}", counts.size(group), number(people[place.person as usize])));
        }
        if let Some(households) = self.of_household {
            cells.push_str(&format!(",{}", number(households[place.household as usize].1)));
        }
        if let Some(uniques) = self.uniques {
            let (n_sets, score, dis_score) = match &uniques.uniques[group] {
                Some(unique) => (unique.minimal_sets.len(), unique.score, unique.dis_score),
                None => (0, 0.0, 0.0),
            };
            cells.push_str(&format!(",{n_sets},{},{}", number(score), number(dis_score)));
        }
        cells
    }
}

/// With ten decimals, and none that say nothing.
fn number(value: f64) -> String {
    let text = format!("{value:.10}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}
