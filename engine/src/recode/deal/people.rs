//! Dealt records and whose they are.

use std::collections::VecDeque;

use crate::counts::GroupCounts;
use crate::recode::partition::{Part, Partition};
use crate::table::Code;

/// The same classes of the counts by person: which of the equal records of a hand are whose.
///
/// Of the equal records of several people every class gets those of as many as can be: they are handed out in turns, one
/// of each person after the other.
pub fn by_person(counts: &GroupCounts, by_person: &GroupCounts, partition: &Partition) -> Partition {
    // By group and place of a cell, the places of its people's own cells, one for every record.
    let mut records: Vec<Vec<VecDeque<u32>>> = Vec::with_capacity(counts.n_groups());
    for base in 0..counts.n_groups() {
        let n = counts.sensitive().len();
        let mut of_cells = Vec::new();
        let mut own = (0u32..).zip(by_person.cells(base)).peekable();
        for (codes, _) in counts.cells(base) {
            let mut people: Vec<(u32, u64)> = Vec::new();
            while let Some((place, (_, n_records))) = own.next_if(|(_, (of_person, _))| of_person[..n] == *codes) {
                people.push((place, n_records));
            }
            let mut in_turns = VecDeque::new();
            for turn in 0..people.iter().map(|(_, n)| *n).max().unwrap_or(0) {
                in_turns.extend(people.iter().filter(|(_, n)| *n > turn).map(|(place, _)| *place));
            }
            of_cells.push(in_turns);
        }
        records.push(of_cells);
    }
    let mut part = |part: &Part| {
        let waiting = &mut records[part.base as usize][part.value.map_or(0, |cell| cell.index())];
        let places = waiting.drain(..part.n_records as usize).collect::<Vec<u32>>();
        places.into_iter().map(|place| Part { value: Some(Code(place)), n_records: 1, ..*part }).collect::<Vec<Part>>()
    };
    let classes: Vec<Vec<Part>> = partition.classes().map(|parts| parts.iter().flat_map(&mut part).collect()).collect();
    Partition::by_cell(classes, 1)
}

/// The fewest people that a class of a partition by person has.
pub fn fewest_people(by_person: &GroupCounts, partition: &Partition) -> u64 {
    let of_class = |parts: &[Part]| {
        let person = |part: &Part| {
            let place = part.value.map_or(0, |cell| cell.index());
            by_person.cell(part.base as usize, place).and_then(|(codes, _)| codes.last().copied())
        };
        parts.iter().map(person).collect::<std::collections::BTreeSet<_>>().len() as u64
    };
    partition.classes().map(of_class).min().unwrap_or(0)
}
